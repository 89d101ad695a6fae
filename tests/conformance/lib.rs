//! Generated code of many schemas, compiled as one crate without a warning, and a way to carry values of each message.

#![deny(warnings)]

use std::fmt::Debug;

use frpc::polyglot::{Decoder, Encoder, Form, Message, Root, decode_root, encode_root};
use frpc::prost;

/// The generated code.
pub mod all {
    include!(concat!(env!("OUT_DIR"), "/all.rs"));
}

/// The parsed schemas, as an encoded `FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/all.bin"));

/// Takes a value of a message as protobuf, and returns it in the flat form of Polyglot after it has been there and
/// back.
pub type Carry = fn(&[u8]) -> Result<Vec<u8>, String>;

/// Every message by its full name, with what carries a value of it.
pub const MESSAGES: &[(&str, Carry)] = include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// Reads a value as protobuf, carries it through Polyglot and back in both forms, and returns its flat form.
///
/// The rich form has to bring back exactly the same value, the flat form one with the same flat form.
fn carry<M: Message + prost::Message + Default + Debug>(protobuf: &[u8]) -> Result<Vec<u8>, String> {
    let value = M::decode(protobuf).map_err(|error| error.to_string())?;
    let rich = encode(&value, Form::Extended)?;
    let again: M = decode(&rich)?;
    if again.encode_to_vec() != value.encode_to_vec() {
        return Err(format!("{value:?} became {again:?} in the rich form"));
    }
    let flat = encode(&value, Form::Flat)?;
    let again: M = decode(&flat)?;
    if encode(&again, Form::Flat)? != flat {
        return Err(format!("{value:?} became {again:?} in the flat form"));
    }
    Ok(flat)
}

fn encode<M: Message>(value: &M, form: Form) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    encode_root(value, &mut Encoder::new(&mut out).with_form(form)).map_err(|error| error.to_string())?;
    Ok(out)
}

fn decode<M: Message>(bytes: &[u8]) -> Result<M, String> {
    let mut decoder = Decoder::new(bytes);
    match decode_root(&mut decoder).map_err(|error| error.to_string())? {
        Root::Message(value) if decoder.remaining() == 0 => Ok(value),
        Root::Message(_) => Err(format!("{} bytes were left unread", decoder.remaining())),
        Root::Error(text) => Err(format!("an error came back: {text}")),
    }
}
