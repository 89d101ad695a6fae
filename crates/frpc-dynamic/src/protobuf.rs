//! Messages from protobuf's encoding. prost-reflect decodes them without a limit of memory, so their parts are counted
//! before.

use crate::{Codec, DecodeError};
use bytes::{Buf, Bytes};
use prost_reflect::prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, Value};

/// The memory of a message without its values: the first node of its tree.
const MESSAGE: usize = 12 * (size_of::<Value>() + 16);

/// The memory of a value in a list, a map or a field, with the half of a container that may be empty.
const VALUE: usize = 4 * size_of::<Value>();

/// The depth at which prost itself refuses messages.
const LEVELS_MAX: u32 = 100;

impl Codec {
    /// Decodes a message in protobuf's encoding, such as the one of a caller of gRPC.
    ///
    /// # Errors
    ///
    /// If the bytes are not that message, or it would take more memory than [`with_memory_max`](Self::with_memory_max)
    /// allows or nest deeper than 100 levels.
    ///
    /// ```
    /// use frpc_dynamic::{Codec, DescriptorPool, to_json};
    ///
    /// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
    /// let message = Codec::new().decode_protobuf(&context, &b"\x0a\x01a"[..].into())?;
    /// assert_eq!(to_json(&message)?, r#"{"fileName":"a"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_protobuf(
        &self,
        descriptor: &MessageDescriptor,
        bytes: &Bytes,
    ) -> Result<DynamicMessage, DecodeError> {
        let named = |reason: String| DecodeError::new(reason, 0).of_message(descriptor.full_name());
        let mut memory = self.memory_max;
        if !charge(descriptor, bytes, &mut memory, LEVELS_MAX) {
            return Err(named(format!("the message takes more memory than {} bytes", self.memory_max)));
        }
        DynamicMessage::decode(descriptor.clone(), bytes.clone()).map_err(|error| named(error.to_string()))
    }
}

/// Charges the parts of a message; whether there was enough memory. Decoding refuses malformed and too deep messages.
fn charge(descriptor: &MessageDescriptor, mut bytes: &[u8], memory: &mut usize, levels: u32) -> bool {
    let mut is_enough = take(memory, MESSAGE);
    while is_enough && bytes.has_remaining() && levels > 0 {
        let Ok((tag, wire_type)) = decode_key(&mut bytes) else { return true };
        if wire_type != WireType::LengthDelimited {
            is_enough = take(memory, VALUE);
            if skip_field(wire_type, tag, &mut bytes, DecodeContext::default()).is_err() {
                return is_enough;
            }
            continue;
        }
        let length = decode_varint(&mut bytes).ok().and_then(|length| usize::try_from(length).ok());
        let Some((value, rest)) = length.and_then(|length| bytes.split_at_checked(length)) else { return true };
        bytes = rest;
        is_enough = match descriptor.get_field(tag).map(|field| field.kind()) {
            Some(Kind::Message(inner)) => {
                take(memory, VALUE) && charge(&inner, value, memory, levels.saturating_sub(1))
            }
            Some(Kind::String | Kind::Bytes) | None => take(memory, VALUE.saturating_add(value.len())),
            // Packed numbers, of one byte or more each.
            Some(_) => take(memory, VALUE.saturating_mul(value.len())),
        };
    }
    is_enough
}

fn take(memory: &mut usize, size: usize) -> bool {
    let left = memory.checked_sub(size);
    *memory = left.unwrap_or(0);
    left.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::DescriptorPool;
    use prost_reflect::prost::Message as _;

    fn message(name: &str) -> MessageDescriptor {
        let schema = "syntax = \"proto3\"; message Tree { repeated Tree trees = 1; repeated bool marks = 2; }";
        let file = protox::file::File::from_source("tree.proto", schema).unwrap();
        let set = prost_reflect::prost_types::FileDescriptorSet { file: vec![file.into()] };
        DescriptorPool::from_file_descriptor_set(set).unwrap().get_message_by_name(name).unwrap()
    }

    #[test]
    fn protobuf_message_beyond_its_memory_is_refused() {
        let tree = message("Tree");
        let codec = Codec::new().with_memory_max(1 << 20);
        // 20 000 packed bools, and 20 000 empty messages.
        let marks: Bytes = [&[0x12, 0xa0, 0x9c, 0x01][..], &[1; 20_000]].concat().into();
        let trees: Bytes = [0x0a, 0].repeat(20_000).into();
        for bytes in [&marks, &trees] {
            let error = codec.decode_protobuf(&tree, bytes).unwrap_err();
            assert_eq!(error.to_string(), "in `Tree` at byte 0: the message takes more memory than 1048576 bytes");
            assert!(Codec::new().decode_protobuf(&tree, bytes).is_ok());
        }
    }

    #[test]
    fn protobuf_message_is_read_and_a_malformed_one_refused() {
        let tree = message("Tree");
        let read = Codec::new().decode_protobuf(&tree, &Bytes::from_static(b"\x0a\x03\x12\x01\x01")).unwrap();
        assert_eq!(read.encode_to_vec(), b"\x0a\x03\x12\x01\x01");
        assert!(Codec::new().decode_protobuf(&tree, &Bytes::from_static(b"\x0a\x05")).is_err());
    }
}
