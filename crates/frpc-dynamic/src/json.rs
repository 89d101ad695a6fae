//! The JSON mapping of proto3 for dynamic messages, using the reader and writer of frpc-json.
//!
//! Contains the public functions, their error, and the JSON forms of messages. Reading is in `json/read.rs`, writing in
//! `json/write.rs`, and pretty-printing in `json/pretty.rs`.

mod pretty;
mod read;
mod write;

use crate::MEMORY_MAX;
use frpc_json::{Options, Reader, Writer};
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _};
use std::fmt;
use std::sync::LazyLock;

/// Escapes a name for use in a JSON string.
pub(crate) fn escaped(name: &str) -> String {
    let (mut out, options) = (Vec::new(), Options::new());
    Writer::new(&mut out, &options).string(name);
    let quoted = String::from_utf8(out).expect("JSON writer should produce UTF-8");
    quoted.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Converts a message to JSON without spaces, with the same result as generated code. Fields without presence are
/// omitted if they have their default value. Map entries are sorted by key.
///
/// # Errors
///
/// If a value has no JSON form, such as a timestamp out of range or an `Any` with a type unknown to the schema of the
/// message. If the contents of all `Any` and the names take more than [`MEMORY_MAX`].
///
/// ```
/// use frpc_dynamic::{DescriptorPool, from_json, to_json};
///
/// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
/// let message = from_json(&context, br#"{ "file_name": "shop.proto" }"#)?;
/// assert_eq!(to_json(&message)?, r#"{"fileName":"shop.proto"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_json(message: &DynamicMessage) -> Result<String, JsonError> {
    let (mut out, options) = (Vec::new(), Options::new().container_memory(MEMORY_MAX));
    let written = write::message(message, &mut Writer::new(&mut out, &options));
    written.map_err(|error| JsonError::Write(error.in_message(message.descriptor().full_name().to_owned())))?;
    Ok(String::from_utf8(out).expect("JSON writer should produce UTF-8"))
}

/// Converts a message to JSON with line breaks and an indentation of two spaces.
///
/// # Errors
///
/// Like [`to_json`].
///
/// ```
/// use frpc_dynamic::{DescriptorPool, from_json, to_json_pretty};
///
/// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
/// let message = from_json(&context, br#"{"fileName": "shop.proto"}"#)?;
/// assert_eq!(to_json_pretty(&message)?, "{\n  \"fileName\": \"shop.proto\"\n}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_json_pretty(message: &DynamicMessage) -> Result<String, JsonError> {
    Ok(pretty::indented(&to_json(message)?))
}

/// Parses a message from JSON, as strictly as generated code and with the same [limits](frpc_json#limits). Unknown
/// fields and duplicate keys are rejected.
///
/// # Errors
///
/// If the input is not the JSON of such a message, exceeds a limit, or has trailing data.
///
/// ```
/// use frpc_dynamic::{DescriptorPool, from_json};
///
/// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
/// let message = from_json(&context, br#"{"fileName": "shop.proto"}"#)?;
/// assert_eq!(message.get_field_by_name("file_name").as_deref().and_then(|value| value.as_str()), Some("shop.proto"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_json(descriptor: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, JsonError> {
    read_all(descriptor, json, read::message)
}

/// Like [`from_json`], but parses an array that contains the values of the message's fields, in the order of their
/// declaration. Trailing fields may be missing, and `null` omits a field. A message with a special JSON mapping is
/// parsed without an array around it.
///
/// # Errors
///
/// Like [`from_json`], or if there are more values than fields.
///
/// ```
/// use frpc_dynamic::{DescriptorPool, from_json_positional, to_json};
///
/// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
/// let message = from_json_positional(&context, br#"["shop.proto"]"#)?;
/// assert_eq!(to_json(&message)?, r#"{"fileName":"shop.proto"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_json_positional(descriptor: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, JsonError> {
    read_all(descriptor, json, read::positional)
}

fn read_all(
    descriptor: &MessageDescriptor,
    json: &[u8],
    read: fn(&MessageDescriptor, &mut Reader<'_>) -> Result<DynamicMessage, frpc_json::DecodeError>,
) -> Result<DynamicMessage, JsonError> {
    let read = Reader::new(json, &Options::new()).and_then(|mut reader| {
        let message = read(descriptor, &mut reader)?;
        reader.end()?;
        Ok(message)
    });
    read.map_err(|error| JsonError::Read(error.in_message(descriptor.full_name().to_owned())))
}

/// Error returned when a message cannot be converted to or from JSON.
#[derive(Debug)]
#[non_exhaustive]
pub enum JsonError {
    /// The JSON text does not match the message type.
    Read(frpc_json::DecodeError),
    /// The message cannot be represented in JSON.
    Write(frpc_json::EncodeError),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for JsonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Self::Read(error) => error,
            Self::Write(error) => error,
        })
    }
}

/// JSON representation of a message type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// The message is an object with its fields as members.
    Object,
    Any,
    Duration,
    /// The message is an empty object. If it is inside an `Any`, it is the member `value` of that object.
    Empty,
    FieldMask,
    ListValue,
    Struct,
    Timestamp,
    Value,
    /// The message is a wrapper, such as `Int32Value`. It is represented by the value that it contains.
    Wrapper,
}

impl Form {
    /// Returns how messages of this type are represented in JSON. A well-known type has a special representation only
    /// if it also has the expected fields. An untrusted schema may declare other messages under the name of a
    /// well-known type.
    fn of(message: &MessageDescriptor) -> Self {
        let Some(name) = message.full_name().strip_prefix("google.protobuf.") else { return Self::Object };
        let form = match name {
            "Any" => Self::Any,
            "Duration" => Self::Duration,
            "Timestamp" => Self::Timestamp,
            "Empty" => Self::Empty,
            "FieldMask" => Self::FieldMask,
            "ListValue" => Self::ListValue,
            "Struct" => Self::Struct,
            "Value" => Self::Value,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => Self::Wrapper,
            _ => return Self::Object,
        };
        let known = WELL_KNOWN.get_message_by_name(message.full_name());
        if known.is_some_and(|known| have_same_fields(message, &known)) { form } else { Self::Object }
    }
}

/// The schema of the well-known types.
static WELL_KNOWN: LazyLock<DescriptorPool> = LazyLock::new(DescriptorPool::global);

/// Returns whether two messages have fields with the same numbers and types. Other messages and enums are compared by
/// name.
fn have_same_fields(one: &MessageDescriptor, other: &MessageDescriptor) -> bool {
    let shape = |field: &FieldDescriptor| (field.number(), field.is_list(), field.is_map());
    let has_same_type = |one: &FieldDescriptor, other: &FieldDescriptor| match (one.kind(), other.kind()) {
        (Kind::Message(entry), Kind::Message(other)) if one.is_map() => have_same_fields(&entry, &other),
        (Kind::Message(one), Kind::Message(other)) => one.full_name() == other.full_name(),
        (Kind::Enum(one), Kind::Enum(other)) => one.full_name() == other.full_name(),
        (one, other) => one == other,
    };
    let is_same =
        |(one, other): (FieldDescriptor, FieldDescriptor)| shape(&one) == shape(&other) && has_same_type(&one, &other);
    one.fields().len() == other.fields().len() && one.fields().zip(other.fields()).all(is_same)
}

/// Returns whether a type is `google.protobuf.NullValue`. Its only value is `null` in JSON.
fn is_null(kind: &Kind) -> bool {
    kind.as_enum().is_some_and(|descriptor| descriptor.full_name() == "google.protobuf.NullValue")
}

/// Returns the message type that the type URL of an `Any` refers to. Its full name follows the last slash of the URL. A
/// well-known type is found even if the schema does not contain it.
fn content(any: &MessageDescriptor, type_url: &str) -> Option<MessageDescriptor> {
    let (_, name) = type_url.rsplit_once('/')?;
    let well_known = || WELL_KNOWN.get_message_by_name(name);
    let found = any.parent_pool().get_message_by_name(name).or_else(well_known);
    // prost-reflect ignores a leading dot.
    found.filter(|found| found.full_name() == name)
}
