//! Protobuf-encoded messages for gRPC callers, and JSON of well-known types. Both are converted through prost-reflect
//! messages to the encoding of `decode.rs` and `encode.rs`.

use crate::encode::refused;
use crate::payload::{Encoding, Payload};
use bytes::Bytes;
use frpc::Status;
use frpc::polyglot::{Decoder, Encoder, Form, Message as _, Root};
use frpc_dynamic::{Codec, DynamicMessage, MessageDescriptor, from_json, from_json_positional};
use pyo3::prelude::*;

/// Converts a request from another encoding to the native one. The memory that the conversion needs is limited before
/// decoding.
pub(crate) fn to_native(descriptor: &MessageDescriptor, encoding: Encoding, bytes: &Bytes) -> Result<Bytes, Status> {
    let (name, codec) = (descriptor.full_name(), Codec::new());
    let invalid =
        |error: &dyn std::fmt::Display| Status::invalid_argument(format!("the request is not a valid {name}: {error}"));
    let message = match encoding {
        Encoding::Native => return Ok(bytes.clone()),
        Encoding::Json => from_json(descriptor, bytes).map_err(|error| invalid(&error))?,
        Encoding::JsonPositional => from_json_positional(descriptor, bytes).map_err(|error| invalid(&error))?,
        Encoding::Protobuf => codec.decode_protobuf(descriptor, bytes).map_err(|error| invalid(&error))?,
    };
    let mut native = Vec::new();
    let encoded = codec.encode(&message, &mut Encoder::new(&mut native).with_form(Form::Extended));
    encoded.map_err(|error| invalid(&error))?;
    Ok(native.into())
}

/// Converts a reply from the native encoding to protobuf's.
pub(crate) fn to_protobuf(descriptor: &MessageDescriptor, payload: &Payload) -> PyResult<Bytes> {
    Ok(frpc_dynamic::to_protobuf(&message(descriptor, payload)?).into())
}

/// Converts a reply from the native encoding to JSON.
pub(crate) fn to_json(descriptor: &MessageDescriptor, payload: &Payload) -> PyResult<Bytes> {
    frpc_dynamic::to_json(&message(descriptor, payload)?).map(Bytes::from).map_err(refused)
}

fn message(descriptor: &MessageDescriptor, payload: &Payload) -> PyResult<DynamicMessage> {
    let mut native = Vec::new();
    payload.encode_root(&mut Encoder::new(&mut native).with_form(Form::Extended)).map_err(refused)?;
    let codec = Codec::new().with_memory_max(usize::MAX);
    match codec.decode(descriptor, &mut Decoder::new(&native)).map_err(refused)? {
        Root::Message(message) => Ok(message),
        Root::Error(text) => Err(refused(text)),
    }
}
