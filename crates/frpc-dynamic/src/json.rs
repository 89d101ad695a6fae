//! The JSON mapping of proto3, by prost-reflect and serde_json.

use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor, SerializeOptions};
use std::fmt;

/// Writes a message as JSON, without spaces. Fields without presence are left out if they have their default. A wrapper
/// of a float that is no finite number becomes `null`, unlike in generated code.
///
/// # Errors
///
/// If a value has no JSON: a timestamp out of range, for example, the content of an `Any` whose type the schema of the
/// message does not have, or an `Any` without a type.
pub fn to_json(message: &DynamicMessage) -> Result<String, JsonError> {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut out);
    message.serialize_with_options(&mut serializer, &SerializeOptions::new()).map_err(JsonError)?;
    text(out)
}

/// Writes a message as JSON for people: on several lines, with an indentation of two spaces.
///
/// # Errors
///
/// As [`to_json`].
pub fn to_json_pretty(message: &DynamicMessage) -> Result<String, JsonError> {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::pretty(&mut out);
    message.serialize_with_options(&mut serializer, &SerializeOptions::new()).map_err(JsonError)?;
    text(out)
}

/// Reads a message from JSON. Unknown fields are refused. Of a key that occurs twice, the last value counts. The shortest
/// digits of the greatest `float`, `3.4028235e38`, are refused: as a double they are a little above it.
///
/// # Errors
///
/// If the input is not the JSON of such a message, or something follows it.
pub fn from_json(descriptor: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let message = DynamicMessage::deserialize_with_options(descriptor.clone(), &mut deserializer, &options);
    let message = message.map_err(JsonError)?;
    deserializer.end().map_err(JsonError)?;
    Ok(message)
}

fn text(out: Vec<u8>) -> Result<String, JsonError> {
    use serde::ser::Error as _;
    String::from_utf8(out).map_err(|error| JsonError(serde_json::Error::custom(error)))
}

/// A message that cannot be written as JSON, or JSON that is not the message.
#[derive(Debug)]
pub struct JsonError(serde_json::Error);

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for JsonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}
