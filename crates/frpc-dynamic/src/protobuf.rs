//! The protobuf encoding of dynamic messages, for gateways between encodings.
//!
//! prost-reflect does not limit allocation: a packed list has one byte for each value, which takes at least 32 bytes in
//! memory. Therefore the memory of a message is estimated from its bytes before it is decoded.

use crate::decode::{DEFAULT, Memory, NODE};
use crate::{Codec, DecodeError};
use prost_reflect::prost::Message as _;
use prost_reflect::prost::encoding::{WireType, bytes, decode_key, decode_varint, double, float};
use prost_reflect::{
    Cardinality, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage as _, Value,
};

/// Maximum nesting depth of messages, which prost prescribes.
const NESTING: u32 = 100;

/// Memory in bytes of an element in a list that grows during decoding. While the list is reallocated, two copies of the
/// element exist.
const ELEMENT: usize = 2 * size_of::<Value>();

/// Memory in bytes of an entry in a map that grows during decoding.
const ENTRY: usize = 3 * size_of::<(MapKey, Value)>();

/// Minimum memory in bytes of an allocation on the heap, for example that of a short string.
const BLOCK: usize = 32;

/// Writes a message in protobuf's encoding.
///
/// ```
/// use frpc_dynamic::{DescriptorPool, from_json, to_protobuf};
///
/// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
/// assert_eq!(to_protobuf(&from_json(&context, br#"{"fileName": "a"}"#)?), b"\x0a\x01a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn to_protobuf(message: &DynamicMessage) -> Vec<u8> {
    if !has_negative_zero(message) {
        return message.encode_to_vec();
    }
    let mut out = Vec::new();
    for field in present(message) {
        let (number, value) = (field.number(), message.get_field(&field));
        let mut nested = |message: &DynamicMessage| bytes::encode(number, &to_protobuf(message), &mut out);
        match &*value {
            Value::Message(inner) if !field.is_group() => nested(inner),
            Value::List(items) if matches!(field.kind(), Kind::Message(_)) => {
                items.iter().filter_map(Value::as_message).for_each(nested);
            }
            Value::Map(entries) => {
                let Kind::Message(of) = field.kind() else { continue };
                for (key, value) in entries {
                    let mut entry = DynamicMessage::new(of.clone());
                    entry.set_field_by_number(1, key.clone().into());
                    entry.set_field_by_number(2, value.clone());
                    nested(&entry);
                }
            }
            Value::F32(value) if is_negative_zero(&Value::F32(*value)) => float::encode(number, value, &mut out),
            Value::F64(value) if is_negative_zero(&Value::F64(*value)) => double::encode(number, value, &mut out),
            _ => {
                let mut only = DynamicMessage::new(message.descriptor());
                only.set_field(&field, value.into_owned());
                out.extend(only.encode_to_vec());
            }
        }
    }
    message.unknown_fields().for_each(|field| field.encode(&mut out));
    out
}

/// Returns the fields of a message that may have a value other than their default. prost-reflect takes negative zero
/// for the default, and does not encode it.
fn present(message: &DynamicMessage) -> impl Iterator<Item = FieldDescriptor> {
    let fields = message.descriptor().fields().collect::<Vec<_>>().into_iter();
    fields.filter(|field| message.has_field(field) || !field.supports_presence())
}

fn has_negative_zero(message: &DynamicMessage) -> bool {
    present(message).any(|field| match &*message.get_field(&field) {
        Value::Message(inner) => has_negative_zero(inner),
        Value::List(items) => items.iter().filter_map(Value::as_message).any(has_negative_zero),
        Value::Map(entries) => entries.values().any(|value| match value {
            Value::Message(inner) => has_negative_zero(inner),
            value => is_negative_zero(value),
        }),
        value => is_negative_zero(value),
    })
}

/// Returns whether a value is the negative zero of a float or double, which is not the default value.
pub(crate) fn is_negative_zero(value: &Value) -> bool {
    match value {
        Value::F32(value) => *value == 0.0 && value.is_sign_negative(),
        Value::F64(value) => *value == 0.0 && value.is_sign_negative(),
        _ => false,
    }
}

impl Codec {
    /// Decodes a message in the protobuf format within the [memory](Self::with_memory_max) limit of this codec.
    /// Messages may be nested up to 100 levels deep, because prost permits no more. Groups are rejected.
    ///
    /// # Errors
    ///
    /// If the input is not such a message, or the message takes too much memory.
    ///
    /// ```
    /// use frpc_dynamic::{Codec, DescriptorPool, to_json};
    ///
    /// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
    /// let message = Codec::new().decode_protobuf(&context, b"\x0a\x01a")?;
    /// assert_eq!(to_json(&message)?, r#"{"fileName":"a"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_protobuf(&self, descriptor: &MessageDescriptor, bytes: &[u8]) -> Result<DynamicMessage, DecodeError> {
        let named = |error: DecodeError| error.in_message(descriptor.full_name().to_owned());
        let mut walk = Walk { input: bytes.len(), memory: Memory::new(self.memory_max) };
        walk.message(descriptor, bytes, NESTING).map_err(named)?;
        DynamicMessage::decode(descriptor.clone(), bytes).map_err(|error| named(DecodeError::new(error.to_string(), 0)))
    }
}

/// Estimates how much memory in bytes a message in the protobuf format will use after it has been decoded.
pub(crate) fn memory(descriptor: &MessageDescriptor, bytes: &[u8]) -> Result<usize, DecodeError> {
    let mut walk = Walk { input: bytes.len(), memory: Memory::new(usize::MAX) };
    walk.message(descriptor, bytes, NESTING)?;
    // Add the length of the input, because texts are copied.
    Ok(walk.memory.used().saturating_add(bytes.len()))
}

/// Visits all fields of an encoded message to estimate the memory that the decoded message will use.
struct Walk {
    /// Length of the whole input in bytes, including enclosing messages.
    input: usize,
    memory: Memory,
}

impl Walk {
    fn message(&mut self, descriptor: &MessageDescriptor, mut from: &[u8], levels: u32) -> Result<(), DecodeError> {
        // Ignore messages that are nested too deeply, because decoding rejects them.
        let Some(levels) = levels.checked_sub(1) else { return Ok(()) };
        while !from.is_empty() {
            let malformed = |_| DecodeError::new("malformed field".to_owned(), self.input);
            let (number, wire_type) = decode_key(&mut from).map_err(malformed)?;
            let length = match wire_type {
                WireType::Varint => from.iter().position(|byte| *byte < 0x80).map(|last| last.saturating_add(1)),
                WireType::SixtyFourBit => Some(8),
                WireType::ThirtyTwoBit => Some(4),
                WireType::LengthDelimited => usize::try_from(decode_varint(&mut from).map_err(malformed)?).ok(),
                WireType::StartGroup | WireType::EndGroup => {
                    return Err(DecodeError::new("groups are not supported".to_owned(), self.offset(from)));
                }
            };
            let Some((content, rest)) = length.and_then(|length| from.split_at_checked(length)) else {
                return Err(DecodeError::new("field ends beyond the message".to_owned(), self.offset(from)));
            };
            let is_delimited = wire_type == WireType::LengthDelimited;
            self.field(descriptor.get_field(number).as_ref(), content, is_delimited, levels)?;
            from = rest;
        }
        Ok(())
    }

    /// Deducts the memory of a field from the limit. A repeated field may occur several times in the input, and each
    /// occurrence is counted separately.
    fn field(
        &mut self,
        field: Option<&FieldDescriptor>,
        content: &[u8],
        is_delimited: bool,
        levels: u32,
    ) -> Result<(), DecodeError> {
        // Charge for unknown fields, because they are preserved.
        let Some(field) = field else { return self.charge(ELEMENT + BLOCK, content) };
        let is_list = field.cardinality() == Cardinality::Repeated;
        match field.kind() {
            Kind::Message(within) if is_delimited => {
                self.charge(if field.is_map() { ENTRY } else { ELEMENT }, content)?;
                // Charge for the B-tree nodes that store the fields of the message.
                self.charge(if content.is_empty() { 0 } else { NODE }, content)?;
                self.charge(within.fields().len().saturating_mul(DEFAULT), content)?;
                self.message(&within, content, levels)
            }
            Kind::String | Kind::Bytes | Kind::Message(_) => self.charge(ELEMENT + BLOCK, content),
            kind if is_list && is_delimited => {
                let count = match kind {
                    Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => content.len() / 8,
                    Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => content.len() / 4,
                    // Counts the last byte of each varint.
                    _ => content.iter().filter(|byte| **byte < 0x80).count(),
                };
                self.charge(count.saturating_mul(ELEMENT), content)
            }
            _ => self.charge(ELEMENT, content),
        }
    }

    fn charge(&mut self, bytes: usize, at: &[u8]) -> Result<(), DecodeError> {
        self.memory.charge(bytes, self.offset(at))
    }

    /// Returns the approximate offset of `rest` in the input, for error texts. `rest` is the unread part of the current
    /// message. The result is too large within a nested message, because `rest` does not include the bytes that follow
    /// the nested message in the input.
    fn offset(&self, rest: &[u8]) -> usize {
        self.input.saturating_sub(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescriptorPool, from_json, to_json};
    use prost_reflect::prost_types::FileDescriptorSet;

    const SCHEMA: &str = "syntax = \"proto3\"; message All { repeated bool flags = 1; repeated All within = 2; \
        map<string, sint64> map = 3; optional string text = 4; repeated double reals = 5; \
        double real = 6; map<string, float> rates = 7; map<string, All> named = 8; All inner = 9; }";

    fn all() -> MessageDescriptor {
        let file = protox::file::File::from_source("all.proto", SCHEMA).unwrap();
        let pool = DescriptorPool::from_file_descriptor_set(FileDescriptorSet { file: vec![file.into()] }).unwrap();
        pool.get_message_by_name("All").unwrap()
    }

    /// Regression test: prost-reflect omits negative zeros, as if they were the default value.
    #[test]
    fn protobuf_message_with_negative_zeros_round_trips() {
        let plain = r#"{"flags":[true,false],"within":[{},{"text":""}],"map":{"a":"-1"},"reals":[0.5]}"#;
        let zeros = r#"{"flags":[true],"within":[{},{"real":-0}],"text":"","real":-0,"rates":{"a":-0},"named":{"b":{"real":-0}},"inner":{"real":-0}}"#;
        for json in [plain, zeros] {
            let bytes = to_protobuf(&from_json(&all(), json.as_bytes()).unwrap());
            let read = Codec::new().decode_protobuf(&all(), &bytes).unwrap();
            assert_eq!(to_json(&read).unwrap(), json);
        }
    }

    #[test]
    fn protobuf_message_beyond_its_memory_is_refused() {
        let codec = Codec::new().with_memory_max(1 << 20);
        let flags = [&[0x0a, 0xa0, 0x8d, 0x06][..], &[1; 100_000]].concat();
        let within = [0x12, 0].repeat(50_000);
        let unknown = [0x78, 0].repeat(50_000);
        for bytes in [flags, within, unknown] {
            let error = codec.decode_protobuf(&all(), &bytes).unwrap_err().to_string();
            assert!(error.ends_with("the message takes more than 1048576 bytes of memory"), "{error}");
            assert!(Codec::new().decode_protobuf(&all(), &bytes).is_ok());
        }
    }

    #[test]
    fn malformed_protobuf_is_error() {
        let deep = (0..40_usize).fold(Vec::new(), |within, _| {
            let length = u8::try_from(within.len()).unwrap();
            [&[0x12, length][..], &within].concat()
        });
        assert!(Codec::new().decode_protobuf(&all(), &deep).is_ok());
        let group = [0x0b, 0x0c];
        let cut = [0x22, 5, b'a'];
        let text = [0x22, 1, 0xff];
        for bytes in [&group[..], &cut, &text, &[0xff; 12], &[0x80]] {
            assert!(Codec::new().decode_protobuf(&all(), bytes).is_err(), "{bytes:x?}");
        }
    }
}
