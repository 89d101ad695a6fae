//! Messages in protobuf's encoding, for callers of gRPC: they pass through the messages of prost-reflect, to the encoding
//! that `decode.rs` and `encode.rs` know.

use crate::encode::refused;
use crate::payload::Payload;
use bytes::{Buf, Bytes};
use frpc::Status;
use frpc::polyglot::{CONTAINER_MEMORY_MAX, Decoder, Encoder, Form, Message as _, Root};
use frpc_dynamic::{Codec, DynamicMessage, MessageDescriptor};
use prost_reflect::Kind;
use prost_reflect::prost::Message as _;
use prost_reflect::prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use pyo3::prelude::*;

/// The memory that a message takes when it is decoded, without its bytes.
const MESSAGE: usize = 256;

/// The memory that a value takes when it is decoded.
const VALUE: usize = 64;

/// A request in the native encoding. The memory that it takes on the way is bounded before it is decoded.
pub(crate) fn to_native(descriptor: &MessageDescriptor, bytes: &Bytes) -> Result<Bytes, Status> {
    let name = descriptor.full_name();
    let invalid =
        |error: &dyn std::fmt::Display| Status::invalid_argument(format!("the request is not a valid {name}: {error}"));
    let mut memory = CONTAINER_MEMORY_MAX;
    if !charge(descriptor, bytes, &mut memory, frpc::polyglot::NESTING_MAX) {
        return Err(Status::resource_exhausted(format!("a {name} of so many parts takes too much memory")));
    }
    let message = DynamicMessage::decode(descriptor.clone(), bytes.clone()).map_err(|error| invalid(&error))?;
    let body = Codec::new().body(&message).map_err(|error| invalid(&error))?;
    Ok(body.as_bytes().clone())
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
            Some(Kind::Message(inner)) => take(memory, VALUE) && charge(&inner, value, memory, levels - 1),
            Some(Kind::String | Kind::Bytes) | None => take(memory, VALUE),
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

/// A reply in protobuf's encoding.
pub(crate) fn of_native(descriptor: &MessageDescriptor, payload: &Payload) -> PyResult<Bytes> {
    let mut native = Vec::new();
    payload.encode_root(&mut Encoder::new(&mut native).with_form(Form::Extended)).map_err(refused)?;
    let codec = Codec::new().with_memory_max(usize::MAX);
    match codec.decode(descriptor, &mut Decoder::new(&native)).map_err(refused)? {
        Root::Message(message) => Ok(message.encode_to_vec().into()),
        Root::Error(text) => Err(refused(text)),
    }
}
