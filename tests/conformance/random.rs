//! Creates random values of any message from its descriptor. The same seed yields the same values.

use prost_reflect::bytes::Bytes;
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage as _, Value};

/// Maximum depth to which recursive messages are filled.
const DEPTH_MAX: u32 = 5;

/// A SplitMix64 random number generator. It is small, and its quality is sufficient.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).expect("value should fit u64"))
            .expect("value should fit usize")
    }

    pub(crate) fn message(&mut self, descriptor: &MessageDescriptor) -> DynamicMessage {
        self.message_at(descriptor, 0)
    }

    fn message_at(&mut self, descriptor: &MessageDescriptor, depth: u32) -> DynamicMessage {
        let mut message = DynamicMessage::new(descriptor.clone());
        if self.below(8) != 0 && self.well_known(&mut message, depth) {
            return message;
        }
        for field in descriptor.fields() {
            // Each member of a oneof replaces the previous ones, so any of them may be the last.
            let is_present = self.below(3) != 0 && !(field.containing_oneof().is_some() && self.below(2) == 0);
            if is_present && !(depth >= DEPTH_MAX && contains_message(&field)) {
                message.set_field(&field, self.field(&field, depth));
            }
        }
        message
    }

    /// Fills a well-known type for which JSON could not represent random fields. Returns whether the message has such a
    /// type.
    fn well_known(&mut self, message: &mut DynamicMessage, depth: u32) -> bool {
        const NANOS: usize = 1_000_000_000;
        let descriptor = message.descriptor();
        match descriptor.full_name() {
            "google.protobuf.Timestamp" => {
                // Years 1 to 9999.
                let seconds = self.next() % 315_537_897_600;
                message.set_field_by_number(1, Value::I64(seconds.cast_signed() - 62_135_596_800));
                let nanos = [0, self.below(NANOS), self.below(1000) * 1_000_000][self.below(3)];
                message.set_field_by_number(2, Value::I32(i32::try_from(nanos).expect("value should fit i32")));
            }
            "google.protobuf.Duration" => {
                let (seconds, sign) = (self.next() % 315_576_000_001, [1, -1][self.below(2)]);
                let nanos = [0, self.below(NANOS), self.below(1000) * 1000][self.below(3)];
                let nanos = i32::try_from(nanos).expect("value should fit i32");
                message.set_field_by_number(1, Value::I64(seconds.cast_signed() * i64::from(sign)));
                message.set_field_by_number(2, Value::I32(nanos * sign));
            }
            "google.protobuf.FieldMask" => {
                let paths = ["a", "foo_bar", "a.b_c.d1", "_x", "x1_y2"];
                let paths = (0..self.below(4)).map(|_| Value::String(paths[self.below(paths.len())].to_owned()));
                message.set_field_by_number(1, Value::List(paths.collect()));
            }
            "google.protobuf.Value" => {
                let members: Vec<_> = descriptor.fields().collect();
                // Limits the depth of lists and structs.
                let members = &members[..if depth >= DEPTH_MAX { 4 } else { members.len() }];
                let member = &members[self.below(members.len())];
                let value = match self.value(&member.kind(), depth) {
                    Value::F64(number) if !number.is_finite() => Value::F64(0.5),
                    value => value,
                };
                message.set_field(member, value);
            }
            "google.protobuf.Any" if self.below(2) == 0 => {
                let pool = descriptor.parent_pool();
                let names = ["Duration", "Timestamp", "Int64Value", "Empty", "FieldMask", "Value"];
                let name = format!("google.protobuf.{}", names[self.below(names.len())]);
                // The pool may not contain this type.
                let Some(content) = pool.get_message_by_name(&name) else { return true };
                let content = self.message_at(&content, DEPTH_MAX).encode_to_vec();
                message.set_field_by_number(1, Value::String(format!("type.example/{name}")));
                message.set_field_by_number(2, Value::Bytes(content.into()));
            }
            "google.protobuf.Any" => {}
            _ => return false,
        }
        true
    }

    fn field(&mut self, field: &FieldDescriptor, depth: u32) -> Value {
        if field.is_map() {
            let kind = field.kind();
            let entry = kind.as_message().expect("map entry should be a message");
            let (key, value) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
            let len = self.len(depth);
            return Value::Map((0..len).map(|_| (self.key(&key), self.value(&value, depth))).collect());
        }
        if field.is_list() {
            let len = self.len(depth);
            return Value::List((0..len).map(|_| self.value(&field.kind(), depth)).collect());
        }
        self.value(&field.kind(), depth)
    }

    /// Returns a random number of elements. In some cases it is so large that its varint has two bytes, but not at
    /// every level of a tree.
    fn len(&mut self, depth: u32) -> usize {
        match self.below(40) {
            0 if depth == 0 => 130,
            0..20 => self.below(2),
            _ => self.below(4),
        }
    }

    fn key(&mut self, kind: &Kind) -> MapKey {
        self.value(kind, DEPTH_MAX).into_map_key().expect("kind should be valid as a key")
    }

    fn value(&mut self, kind: &Kind, depth: u32) -> Value {
        match kind {
            Kind::Bool => Value::Bool(self.below(2) == 1),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(self.integer() as i32),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(self.integer() as i64),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(self.integer() as u32),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(self.integer()),
            Kind::Float => Value::F32(match self.below(4) {
                0 => [0.0, -0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE, f32::MAX][self.below(6)],
                _ => quiet(f32::from_bits(self.next() as u32)),
            }),
            Kind::Double => Value::F64(match self.below(4) {
                0 => [0.0, -0.0, f64::NAN, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX][self.below(6)],
                _ => f64::from_bits(self.next()),
            }),
            Kind::String => Value::String(self.text()),
            Kind::Bytes => {
                let len = self.length();
                Value::Bytes(Bytes::from_iter((0..len).map(|_| self.next() as u8)))
            }
            Kind::Enum(found) => {
                let at = self.below(found.values().len());
                Value::EnumNumber(found.values().nth(at).expect("index should be below the number of values").number())
            }
            Kind::Message(found) => Value::Message(self.message_at(found, depth + 1)),
        }
    }

    /// Returns integers with varints of all lengths, and the limits of all ranges.
    fn integer(&mut self) -> u64 {
        match self.below(4) {
            0 => [0, 1, u64::MAX, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, (1 << 63) - 1][self.below(8)],
            1 => (1_u64 << self.below(64)).wrapping_sub(self.next() & 1),
            _ => self.next() >> self.below(64),
        }
    }

    fn length(&mut self) -> usize {
        match self.below(50) {
            0 => 127 + self.below(3),
            1 => 20_000,
            2..20 => 0,
            _ => self.below(12),
        }
    }

    fn text(&mut self) -> String {
        const LETTERS: [char; 10] = ['a', 'Z', '0', ' ', '\0', '\n', 'ß', '漢', '🦀', '\u{10ffff}'];
        let len = self.length().min(200);
        (0..len).map(|_| LETTERS[self.below(LETTERS.len())]).collect()
    }
}

/// Converts signaling NaNs to quiet ones. Go converts floats of unknown types to doubles, and this makes every NaN
/// quiet.
fn quiet(value: f32) -> f32 {
    const QUIET: u32 = 1 << 22;
    if value.is_nan() { f32::from_bits(value.to_bits() | QUIET) } else { value }
}

/// Returns whether values of this field contain messages.
fn contains_message(field: &FieldDescriptor) -> bool {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => matches!(entry.map_entry_value_field().kind(), Kind::Message(_)),
        Kind::Message(_) => true,
        _ => false,
    }
}
