//! Layouts: the fields of a message type in wire order, computed once for each type. Also used by codecs for types
//! other than [`DynamicMessage`](crate::DynamicMessage).

use polyglot::layout::{Description, Schema, SchemaError, split_mark};
use polyglot::{Decoder, Encoder, Form, KEPT_INDEXES, Kind};
use prost_reflect::prost_types::EnumValueDescriptorProto;
use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind as Declared, MessageDescriptor};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Cache of the field layouts of message types, by full name.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Mutex<HashMap<String, Arc<Layout>>>);

impl Layouts {
    pub(crate) fn of(&self, message: &MessageDescriptor) -> Arc<Layout> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match cache.get(message.full_name()) {
            // Compare the types, because another descriptor pool may have a different message with this name.
            Some(layout) if layout.message == *message => layout.clone(),
            _ => {
                let layout = Arc::new(Layout::new(message));
                cache.insert(message.full_name().to_owned(), layout.clone());
                layout
            }
        }
    }
}

/// Layout of a message type: its fields in encoding order.
#[derive(Debug)]
pub struct Layout {
    message: MessageDescriptor,
    pub fields: Vec<Field>,
    /// For each oneof of the message, the indexes of its members in `fields`, in the order of their declaration.
    pub oneofs: Vec<Vec<usize>>,
}

/// A field of a message, with its encoding.
#[derive(Debug)]
pub struct Field {
    pub descriptor: FieldDescriptor,
    pub shape: Shape,
}

/// Encoding of a field: as a single value, list, map or oneof member.
#[derive(Debug)]
pub enum Shape {
    /// A single value with implicit presence: whether it is present is not encoded.
    Plain(Element),
    /// A single value that may be absent, as in an `optional` field or a message field.
    Optional(Element),
    /// A oneof member.
    Member {
        of: Element,
        /// The index of the oneof in [`Layout::oneofs`].
        oneof: usize,
        /// Whether this is the first member of the oneof. The extended encoding places the whole oneof here.
        is_first: bool,
    },
    List(Element),
    Map(Element, Element),
}

/// Type of a single value, list element or map value.
#[derive(Clone, Debug)]
pub enum Element {
    Bool,
    I32,
    I64,
    U32,
    U64,
    F32,
    F64,
    String,
    Bytes,
    Enum(Arc<Indexes>),
    Message(MessageDescriptor),
}

/// Tables that convert the numbers of an enum to the indexes of their declarations, and back.
#[derive(Debug)]
pub struct Indexes {
    pub name: String,
    numbers: Vec<i32>,
    /// Index of each declared number, which is its place in `numbers`. If several values of the enum have the same
    /// number, this is the index of the first one.
    indices: HashMap<i32, u32>,
}

impl Layout {
    pub fn new(message: &MessageDescriptor) -> Self {
        let mut declared: Vec<FieldDescriptor> = declared(message).collect();
        // Field numbers of each oneof's members, in the order of declaration.
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut by_oneof = HashMap::new();
        for field in &declared {
            let Some(oneof) = oneof_of(field) else { continue };
            let at = *by_oneof.entry(oneof).or_insert(members.len());
            match members.get_mut(at) {
                Some(members) => members.push(field.number()),
                None => members.push(vec![field.number()]),
            }
        }
        // The sort is stable, so each group keeps the order of declaration.
        declared.sort_by_key(group);
        let mut seen = vec![false; members.len()];
        let fields: Vec<Field> = declared
            .into_iter()
            .map(|descriptor| {
                let oneof = oneof_of(&descriptor).and_then(|oneof| by_oneof.get(&oneof).copied());
                let shape = match (oneof, descriptor.kind()) {
                    (_, Declared::Message(entry)) if descriptor.is_map() => Shape::Map(
                        Element::of(&entry.map_entry_key_field()),
                        Element::of(&entry.map_entry_value_field()),
                    ),
                    _ if descriptor.is_list() => Shape::List(Element::of(&descriptor)),
                    (Some(oneof), _) => {
                        let is_first = seen.get_mut(oneof).is_some_and(|seen| !std::mem::replace(seen, true));
                        Shape::Member { of: Element::of(&descriptor), oneof, is_first }
                    }
                    _ if descriptor.supports_presence() => Shape::Optional(Element::of(&descriptor)),
                    _ => Shape::Plain(Element::of(&descriptor)),
                };
                Field { descriptor, shape }
            })
            .collect();
        let indices: HashMap<u32, usize> = fields.iter().map(|field| field.descriptor.number()).zip(0..).collect();
        let index_of = |number: &u32| indices.get(number).copied();
        let oneofs = members.iter().map(|members| members.iter().filter_map(index_of).collect()).collect();
        Self { message: message.clone(), fields, oneofs }
    }
}

/// Returns the fields of a message in the order of declaration. `MessageDescriptor::fields` would order them by number.
pub fn declared(message: &MessageDescriptor) -> impl Iterator<Item = FieldDescriptor> + '_ {
    let fields = message.descriptor_proto().field.iter();
    fields.filter_map(|field| message.get_field(u32::try_from(field.number()).ok()?))
}

/// Returns the JSON names of a message's fields in the order of declaration, escaped for use in a JSON string, because
/// `json_name` may contain any character.
pub fn json_names(message: &MessageDescriptor) -> Vec<String> {
    declared(message).map(|field| crate::json::escaped(field.json_name())).collect()
}

/// Returns the index of the oneof that contains a field. Returns `None` for a field outside of oneofs, including an
/// `optional` field, although protobuf creates a synthetic oneof for it.
fn oneof_of(field: &FieldDescriptor) -> Option<i32> {
    let declared = field.field_descriptor_proto();
    declared.oneof_index.filter(|_| !declared.proto3_optional())
}

/// Returns the group of a field. Fields are ordered on the wire by group: first single values, then lists, then
/// messages and maps.
fn group(field: &FieldDescriptor) -> u8 {
    match field.kind() {
        _ if field.is_map() => 2,
        _ if field.is_list() => 1,
        Declared::Message(_) => 2,
        _ => 0,
    }
}

impl Element {
    fn of(field: &FieldDescriptor) -> Self {
        match field.kind() {
            Declared::Bool => Self::Bool,
            Declared::Int32 | Declared::Sint32 | Declared::Sfixed32 => Self::I32,
            Declared::Int64 | Declared::Sint64 | Declared::Sfixed64 => Self::I64,
            Declared::Uint32 | Declared::Fixed32 => Self::U32,
            Declared::Uint64 | Declared::Fixed64 => Self::U64,
            Declared::Float => Self::F32,
            Declared::Double => Self::F64,
            Declared::String => Self::String,
            Declared::Bytes => Self::Bytes,
            Declared::Enum(descriptor) => Self::Enum(Arc::new(Indexes::new(&descriptor))),
            Declared::Message(descriptor) => Self::Message(descriptor),
        }
    }

    /// Returns the kind byte that marks the values on the wire, for the header of a list or map.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bool => Kind::Bool,
            Self::I32 => Kind::I32,
            Self::I64 => Kind::I64,
            Self::U32 | Self::Enum(_) => Kind::U32,
            Self::U64 => Kind::U64,
            Self::F32 => Kind::F32,
            Self::F64 => Kind::F64,
            Self::String => Kind::String,
            Self::Bytes => Kind::Bytes,
            Self::Message(_) => Kind::Any,
        }
    }

    /// Encodes an absent value in the flat encoding, which has no special form for it. A message is encoded as nil, and
    /// any other value as the default of its type.
    pub fn encode_default(&self, to: &mut Encoder<'_>) {
        match self {
            Self::Bool => to.bool(false),
            Self::I32 => to.i32(0),
            Self::I64 => to.i64(0),
            Self::U32 => to.u32(0),
            Self::U64 => to.u64(0),
            Self::F32 => to.f32(0.0),
            Self::F64 => to.f64(0.0),
            // Encoding cannot fail, because the values are empty.
            Self::String => to.string("").unwrap_or_default(),
            Self::Bytes => to.bytes(&[]).unwrap_or_default(),
            // Encode the index of the number 0, the default of every proto3 enum.
            Self::Enum(indexes) => to.u32(indexes.index_of(0).unwrap_or(0)),
            Self::Message(_) => to.nil(),
        }
    }
}

impl Indexes {
    fn new(descriptor: &EnumDescriptor) -> Self {
        let numbers: Vec<i32> =
            descriptor.enum_descriptor_proto().value.iter().map(EnumValueDescriptorProto::number).collect();
        let mut indices = HashMap::with_capacity(numbers.len());
        for (index, number) in (0..).zip(&numbers) {
            indices.entry(*number).or_insert(index);
        }
        Self { name: descriptor.full_name().to_owned(), numbers, indices }
    }

    /// Returns the number of the enum value at this index. An index that the enum does not declare becomes the
    /// placeholder -2^31 + `index`, so that the value can be encoded again. Returns `None` if no placeholder is
    /// possible, because the index is too large or the enum declares the placeholder as a number.
    pub fn number(&self, index: u32) -> Option<i32> {
        if let Some(number) = usize::try_from(index).ok().and_then(|index| self.numbers.get(index)) {
            return Some(*number);
        }
        let number = i32::MIN.wrapping_add_unsigned(index);
        (number < 0 && !self.indices.contains_key(&number)).then_some(number)
    }

    /// Encodes an enum number as the index of its declaration. In the extended encoding, a number that is not declared
    /// is encoded unchanged. Returns `false` and writes nothing if the flat encoding cannot represent the number.
    #[must_use]
    pub fn encode(&self, number: i32, to: &mut Encoder<'_>) -> bool {
        let is_declared = self.indices.contains_key(&number);
        let index = self.index_of(number);
        match index {
            Some(index) if is_declared || to.form() == Form::Flat || index < KEPT_INDEXES => to.u32(index),
            _ if to.form() == Form::Extended => to.i32(number),
            _ => return false,
        }
        true
    }

    /// Decodes an enum number from the flat or the extended encoding. The inner `Err` contains an index that no number
    /// can represent.
    ///
    /// # Errors
    ///
    /// If the next value is neither an index nor a number.
    pub fn decode(&self, from: &mut Decoder<'_>) -> Result<Result<i32, u32>, polyglot::DecodeError> {
        if from.peek() == Some(Kind::I32) {
            return from.i32().map(Ok);
        }
        let index = from.u32()?;
        Ok(self.number(index).ok_or(index))
    }

    /// Returns the index at which an enum declares this number, or the unknown index that it represents. This is the
    /// inverse of [`number`](Self::number).
    pub fn index_of(&self, number: i32) -> Option<u32> {
        if let Some(index) = self.indices.get(&number) {
            return Some(*index);
        }
        let index = number.wrapping_sub(i32::MIN).cast_unsigned();
        let is_declared = usize::try_from(index).is_ok_and(|index| index < self.numbers.len());
        (number < 0 && !is_declared).then_some(index)
    }
}

/// Describes the wire layout of a message.
///
/// # Errors
/// If the message contains a group.
pub fn describe(message: &MessageDescriptor) -> Result<Description, SchemaError> {
    let files: Vec<_> = message.parent_pool().file_descriptor_protos().collect();
    Ok(Schema::new(files).message(message.full_name())?.description)
}

/// Strips the layout fingerprint, if any, from the start of a topic's message and returns the body.
///
/// # Errors
/// If the fingerprint is incomplete or is not that of `message`.
pub fn unmarked<'a>(message: &MessageDescriptor, body: &'a [u8]) -> Result<&'a [u8], String> {
    let (mark, rest) = split_mark(body).ok_or("its fingerprint is incomplete")?;
    let Some(theirs) = mark else { return Ok(rest) };
    let own = describe(message).map_err(|error| error.to_string())?.fingerprint();
    if own == theirs { Ok(rest) } else { Err(format!("its layout is {theirs}, and that of this schema {own}")) }
}
