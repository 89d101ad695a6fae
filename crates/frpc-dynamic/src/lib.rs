//! Messages of a schema that is only known at run time, for programs that call any service or display traffic.
//!
//! Messages are [`DynamicMessage`]s of prost-reflect, with types of a `FileDescriptorSet`. A [`Codec`] reads and writes
//! them in both [forms](polyglot::Form) of the Polyglot encoding and in protobuf's encoding. [`to_json`] and
//! [`from_json`] use the JSON mapping of proto3. A [`Body`] is a message for frpc calls. frpc-build provides operations
//! and layouts of services.
//!
//! ```
//! use frpc_dynamic::{Codec, from_json, to_json};
//! use polyglot::{Decoder, Encoder, Root};
//! use prost_reflect::DescriptorPool;
//!
//! # let file = protox::file::File::from_source("greet.proto", "syntax = \"proto3\"; message Name { string name = 1; }")?;
//! # let set = prost_reflect::prost_types::FileDescriptorSet { file: vec![file.into()] };
//! let pool = DescriptorPool::from_file_descriptor_set(set)?;
//! let name = pool.get_message_by_name("Name").ok_or("no such message")?;
//!
//! let codec = Codec::new();
//! let message = from_json(&name, br#"{"name": "Emma"}"#)?;
//! let mut body = Vec::new();
//! codec.encode(&message, &mut Encoder::new(&mut body))?;
//! assert_eq!(body, b"\x08\x00\x05\x0a\x04Emma");
//!
//! let Root::Message(read) = codec.decode(&name, &mut Decoder::new(&body))? else { return Err("an error".into()) };
//! assert_eq!(to_json(&read)?, r#"{"name":"Emma"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! No input makes a [`Codec`] panic, overflow the stack or allocate more than its limits allow:
//!
//! * Messages nest up to [`polyglot::NESTING_MAX`] levels, which [`Codec::with_nesting_max`] can change.
//! * The length of a list, map, string or bytes is rejected if the remaining input is too short for it.
//! * The memory of one message is at most [`MEMORY_MAX`], which [`Codec::with_memory_max`] can change. The limit
//!   differs from that of generated code, because a dynamic message takes more memory, about a kilobyte.
//!
//! JSON is read with the [limits of generated code](frpc_json#limits). In written JSON, the contents of all `Any` and
//! the names of the schema take at most [`MEMORY_MAX`].

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

#[cfg(test)]
extern crate self as frpc_dynamic;

mod body;
mod decode;
mod encode;
mod json;
#[doc(hidden)]
pub mod layout;
mod protobuf;
#[doc(hidden)]
pub mod schema;

pub use body::Body;
pub use decode::MEMORY_MAX;
pub use json::{JsonError, from_json, from_json_positional, to_json, to_json_pretty};
pub use prost_reflect::{self, DescriptorPool, DynamicMessage, MessageDescriptor};
pub use protobuf::to_protobuf;

use layout::{Layout, Layouts};
use polyglot::{Decoder, Encoder, Form, NESTING_CEILING, NESTING_MAX, PathError, Root};
use std::sync::Arc;

/// The error of a message that cannot be encoded.
///
/// ```
/// # use frpc_dynamic::{Codec, DynamicMessage};
/// # use prost_reflect::{DescriptorPool, Value};
/// # let schema = "syntax = \"proto3\"; message Paint { Color color = 1; } enum Color { RED = 0; }";
/// # let file = protox::file::File::from_source("paint.proto", schema)?;
/// # let set = prost_reflect::prost_types::FileDescriptorSet { file: vec![file.into()] };
/// # let pool = DescriptorPool::from_file_descriptor_set(set)?;
/// # let mut paint = DynamicMessage::new(pool.get_message_by_name("Paint").ok_or("no such message")?);
/// // enum Color { RED = 0; }
/// paint.set_field_by_name("color", Value::EnumNumber(7));
/// let error = Codec::new().body(&paint).unwrap_err();
/// assert_eq!(error.to_string(), "in field `color` of `Paint`: `Color` has no number 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type EncodeError = PathError<String, ()>;

/// Error returned when the input cannot be decoded, with the offset at which this was detected. Either the input is
/// malformed, or it was encoded with another schema.
pub type DecodeError = PathError<String, usize>;

/// Encodes and decodes messages in the Polyglot encoding, using descriptors that are only known at run time.
///
/// A codec caches the field layout of each message type. Create it once and reuse it.
#[derive(Debug)]
#[must_use]
pub struct Codec {
    layouts: Layouts,
    nesting_max: u32,
    memory_max: usize,
}

impl Default for Codec {
    fn default() -> Self {
        Self::new()
    }
}

impl Codec {
    /// Creates a codec with the default limits.
    pub fn new() -> Self {
        Self { layouts: Layouts::default(), nesting_max: NESTING_MAX, memory_max: MEMORY_MAX }
    }

    /// Sets the maximum nesting depth of decoded messages, including the root. Clamped to 1 to [`NESTING_CEILING`].
    ///
    /// ```
    /// let codec = frpc_dynamic::Codec::new().with_nesting_max(16);
    /// ```
    pub fn with_nesting_max(self, levels: u32) -> Self {
        Self { nesting_max: levels.clamp(1, NESTING_CEILING), ..self }
    }

    /// Sets the maximum memory of a decoded message in bytes. Defaults to [`MEMORY_MAX`].
    ///
    /// ```
    /// let codec = frpc_dynamic::Codec::new().with_memory_max(64 << 20);
    /// ```
    pub fn with_memory_max(self, bytes: usize) -> Self {
        Self { memory_max: bytes, ..self }
    }

    /// Encodes a message as the body of a call.
    ///
    /// # Errors
    ///
    /// If an enum has a number without an encoding, or messages nest deeper than [`NESTING_CEILING`]. The output may
    /// then be partial.
    ///
    /// ```
    /// use frpc_dynamic::{Codec, DescriptorPool, from_json};
    /// use polyglot::{Decoder, Encoder};
    ///
    /// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
    /// let message = from_json(&context, br#"{"fileName": "a"}"#)?;
    /// let mut body = Vec::new();
    /// Codec::new().encode(&message, &mut Encoder::new(&mut body))?;
    /// assert_eq!(Decoder::new(&body[body.len() - 4..]).str()?, "a");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode(&self, message: &DynamicMessage, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encode::message(self, message, to)
    }

    /// Decodes a body that contains a message or an error. Bytes that follow are left unread, because a peer with a
    /// newer schema may have added fields.
    ///
    /// # Errors
    ///
    /// If the input is neither a valid message nor an error.
    ///
    /// ```
    /// use frpc_dynamic::{Codec, DescriptorPool, from_json, to_json};
    /// use polyglot::{Decoder, Encoder, Root};
    ///
    /// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
    /// let (codec, mut body) = (Codec::new(), Vec::new());
    /// codec.encode(&from_json(&context, br#"{"fileName": "a"}"#)?, &mut Encoder::new(&mut body))?;
    /// let Root::Message(message) = codec.decode(&context, &mut Decoder::new(&body))? else { return Err("an error".into()) };
    /// assert_eq!(to_json(&message)?, r#"{"fileName":"a"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(
        &self,
        descriptor: &MessageDescriptor,
        from: &mut Decoder<'_>,
    ) -> Result<Root<DynamicMessage>, DecodeError> {
        decode::root(self, descriptor, from)
    }

    /// Encodes a message for a call in two ways, flat and extended. Which one is sent depends on what the peer
    /// supports.
    ///
    /// # Errors
    ///
    /// Like [`encode`](Self::encode).
    ///
    /// ```
    /// use frpc_dynamic::{Codec, DescriptorPool, from_json};
    ///
    /// let context = DescriptorPool::global().get_message_by_name("google.protobuf.SourceContext").ok_or("unknown message")?;
    /// let body = Codec::new().body(&from_json(&context, br#"{"fileName": "a"}"#)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn body(&self, message: &DynamicMessage) -> Result<Body, EncodeError> {
        let mut flat = Vec::new();
        let mut encoder = Encoder::new(&mut flat);
        self.encode(message, &mut encoder)?;
        let is_lossy = encoder.lost_presence();
        let mut extended = Vec::new();
        self.encode(message, &mut Encoder::new(&mut extended).with_form(Form::Extended))?;
        Ok(Body::encoded(flat, extended, is_lossy))
    }

    fn layout(&self, descriptor: &MessageDescriptor) -> Arc<Layout> {
        self.layouts.of(descriptor)
    }
}

#[cfg(test)]
mod tests;
