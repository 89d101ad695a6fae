//! Generated code of many schemas, which must compile as one crate without a warning, and functions that convert values
//! of each message.

#![deny(warnings)]

use std::fmt::Debug;
use std::sync::LazyLock;

use frpc::json::{EncodeError as JsonError, EncodeReason, Json, Options, Types};
use frpc::polyglot::{Decoder, Encoder, Form, Message, Root, decode_root, encode_root};
use frpc::prost;

/// The generated code.
pub mod all {
    include!(concat!(env!("OUT_DIR"), "/all.rs"));
}

/// The parsed schemas, as an encoded `FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/all.bin"));

/// The JSON of a value, or `None` if JSON cannot represent the value.
pub type InJson = Option<Vec<u8>>;

/// Functions that convert a message type to other encodings and back. Values are passed in protobuf's encoding.
pub struct Ways {
    /// Encodes a value in Polyglot and decodes it again. Returns the flat form.
    pub carry: fn(&[u8]) -> Result<Vec<u8>, String>,
    /// Decodes a body in either form of Polyglot and returns the extended form.
    pub read: fn(&[u8]) -> Result<Vec<u8>, String>,
    /// Returns the extended form of a value in Polyglot.
    pub rich: fn(&[u8]) -> Result<Vec<u8>, String>,
    /// Encodes a value as JSON, decodes it again, and returns the JSON.
    pub to_json: fn(&[u8]) -> Result<InJson, String>,
    /// Decodes JSON that another program wrote, and compares the result with the value in protobuf.
    pub from_json: fn(&[u8], &[u8]) -> Result<(), String>,
    /// Decodes JSON and encodes the message as JSON again.
    pub read_json: fn(&[u8]) -> Result<String, String>,
}

impl Ways {
    const fn of<M: Message + prost::Message + Json + Debug>() -> Self {
        Self {
            carry: carry::<M>,
            read: read::<M>,
            rich: rich::<M>,
            to_json: to_json::<M>,
            from_json: from_json::<M>,
            read_json: read_json::<M>,
        }
    }
}

/// The conversions of every message type, by its full name.
pub const MESSAGES: &[(&str, Ways)] = include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// Decodes a value from protobuf, encodes and decodes it in both forms of Polyglot, and returns its flat form.
///
/// The extended form must preserve the value exactly. Decoding and encoding the flat form must yield the same bytes.
fn carry<M: Message + prost::Message + Default + Debug>(protobuf: &[u8]) -> Result<Vec<u8>, String> {
    let value = M::decode(protobuf).map_err(|error| error.to_string())?;
    let rich = encode(&value, Form::Extended)?;
    let again: M = decode(&rich)?;
    if again.encode_to_vec() != value.encode_to_vec() {
        return Err(format!("{value:?} became {again:?} in the extended form"));
    }
    let flat = encode(&value, Form::Flat)?;
    let again: M = decode(&flat)?;
    if encode(&again, Form::Flat)? != flat {
        return Err(format!("{value:?} became {again:?} in the flat form"));
    }
    Ok(flat)
}

fn read<M: Message + Debug>(body: &[u8]) -> Result<Vec<u8>, String> {
    match decode_root::<M>(&mut Decoder::new(body)).map_err(|error| error.to_string())? {
        Root::Message(value) => encode(&value, Form::Extended),
        Root::Error(text) => Err(format!("the body is an error: {text}")),
    }
}

fn rich<M: Message + prost::Message + Default>(protobuf: &[u8]) -> Result<Vec<u8>, String> {
    encode(&M::decode(protobuf).map_err(|error| error.to_string())?, Form::Extended)
}

/// Types that an `Any` may contain.
static TYPES: LazyLock<Types> = LazyLock::new(Types::well_known);

fn to_json<M: prost::Message + Json + Debug>(protobuf: &[u8]) -> Result<InJson, String> {
    let value = M::decode(protobuf).map_err(|error| error.to_string())?;
    match text(&value) {
        Ok(json) => from_json::<M>(protobuf, &json).map(|()| Some(json)),
        // The values are not nested deeply, so this error is a bug.
        Err(error) if matches!(error.reason(), EncodeReason::NestingTooDeep) => Err(error.to_string()),
        Err(_) => Ok(None),
    }
}

fn from_json<M: prost::Message + Json + Debug>(protobuf: &[u8], json: &[u8]) -> Result<(), String> {
    let value = M::decode(protobuf).map_err(|error| error.to_string())?;
    let shown = || String::from_utf8_lossy(json);
    let read: M = Options::new().types(&TYPES).decode(json).map_err(|error| format!("{error}: {}", shown()))?;
    let same = text(&read).and_then(|read| Ok(read == text(&value)?));
    // Compared as JSON, because a NaN has several binary representations.
    if same.map_err(|error| error.to_string())? {
        return Ok(());
    }
    Err(format!("{value:?} became {read:?} by way of {}", shown()))
}

fn read_json<M: Json>(json: &[u8]) -> Result<String, String> {
    let read: M = Options::new().types(&TYPES).decode(json).map_err(|error| error.to_string())?;
    let json = text(&read).map_err(|error| error.to_string())?;
    String::from_utf8(json).map_err(|error| error.to_string())
}

fn text<M: Json>(value: &M) -> Result<Vec<u8>, JsonError> {
    let mut json = Vec::new();
    Options::new().types(&TYPES).encode(value, &mut json)?;
    Ok(json)
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
        Root::Error(text) => Err(format!("received an error: {text}")),
    }
}
