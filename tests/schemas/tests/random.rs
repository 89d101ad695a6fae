//! Creates random messages of any type from its descriptor. The result is in protobuf's encoding, from which every
//! tested codec starts.

use protox::prost_reflect::prost::Message as _;
use protox::prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value,
};
use std::collections::HashMap;

/// A deterministic random number generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns small numbers, large numbers, and numbers at the limits of ranges.
    fn number(&mut self) -> u64 {
        match self.below(5) {
            0 => 0,
            1 => self.below(200),
            2 => self.below(200).wrapping_neg(),
            3 => self.next(),
            _ => [u64::MAX, i64::MAX as u64, i64::MIN as u64, i32::MIN as u64, i32::MAX as u64][self.below(5) as usize],
        }
    }

    fn text(&mut self) -> String {
        (0..self.below(6)).map(|_| ['a', 'Z', '\0', 'ß', '名', '🦀'][self.below(6) as usize]).collect()
    }
}

/// Returns the schemas in `proto/`.
pub(crate) fn pool(files: &[&str], folder: &str) -> DescriptorPool {
    let root = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
    let set = protox::compile(files.iter().map(|file| format!("{root}/{file}.proto")), [root.clone()]).unwrap();
    DescriptorPool::from_file_descriptor_set(set).unwrap()
}

/// Returns a random message in protobuf's encoding.
pub(crate) fn protobuf(of: &MessageDescriptor, random: &mut Random) -> Vec<u8> {
    message(of, random, 0).encode_to_vec()
}

fn message(of: &MessageDescriptor, random: &mut Random, depth: u32) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    for field in of.fields() {
        let is_message = matches!(field.kind(), Kind::Message(ref kind) if !kind.is_map_entry());
        if random.below(4) == 0 || (depth > 3 && (is_message || field.is_map())) {
            continue;
        }
        // Members of a oneof overwrite each other. Each of them is sometimes the last one.
        if field.containing_oneof().is_some() && field.cardinality() != Cardinality::Repeated && random.below(3) > 0 {
            continue;
        }
        message.set_field(&field, field_value(&field, random, depth));
    }
    message
}

fn field_value(field: &FieldDescriptor, random: &mut Random, depth: u32) -> Value {
    if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
        let pairs = (0..random.below(4)).map(|_| {
            let key = match single(&entry.map_entry_key_field().kind(), random, depth) {
                Value::Bool(key) => MapKey::Bool(key),
                Value::I32(key) => MapKey::I32(key),
                Value::I64(key) => MapKey::I64(key),
                Value::U32(key) => MapKey::U32(key),
                Value::U64(key) => MapKey::U64(key),
                Value::String(key) => MapKey::String(key),
                other => panic!("{other} should not be the type of a key"),
            };
            (key, single(&entry.map_entry_value_field().kind(), random, depth + 1))
        });
        return Value::Map(pairs.collect::<HashMap<_, _>>());
    }
    if field.is_list() {
        return Value::List((0..random.below(4)).map(|_| single(&field.kind(), random, depth + 1)).collect());
    }
    single(&field.kind(), random, depth)
}

fn single(kind: &Kind, random: &mut Random, depth: u32) -> Value {
    match kind {
        Kind::Double => Value::F64(random.number() as i64 as f64 / 3.0),
        Kind::Float => Value::F32(random.number() as i64 as f32 / 3.0),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(random.number() as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(random.number() as i64),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(random.number() as u32),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(random.number()),
        Kind::Bool => Value::Bool(random.below(2) == 1),
        Kind::String => Value::String(random.text()),
        Kind::Bytes => Value::Bytes(random.text().into_bytes().into()),
        Kind::Enum(kind) => {
            let values: Vec<_> = kind.values().collect();
            Value::EnumNumber(values[random.below(values.len() as u64) as usize].number())
        }
        Kind::Message(kind) => Value::Message(message(kind, random, depth + 1)),
    }
}
