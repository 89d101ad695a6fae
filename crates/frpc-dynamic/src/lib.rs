//! Messages of a schema that is known at run time only: for programs that call any service, or display traffic of
//! others.
//!
//! Messages are [`DynamicMessage`]s of prost-reflect, with types of a `FileDescriptorSet`. A [`Codec`] reads and
//! writes them in the Polyglot encoding, in both of its [forms](polyglot::Form), and in protobuf's; [`to_json`] and
//! [`from_json`] in the JSON mapping of proto3. A [`Body`] is a message for frpc calls. frpc-build provides operations and layouts of
//! services.
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
//! * Messages nest [`polyglot::NESTING_MAX`] deep, unless [`Codec::with_nesting_max`] says otherwise.
//! * The length of a list or map is believed only as far as the bytes that are left can hold that many elements, and
//!   the length of strings and bytes only as far as there are bytes.
//! * The memory of one message is at most [`MEMORY_MAX`], unless [`Codec::with_memory_max`] says otherwise. A dynamic
//!   message takes more than a generated one, about a kilobyte, so the limit is another one as well.
//!
//! JSON is read with the [limits of generated code](frpc_json#limits). Where JSON is written, the contents of all `Any`
//! and the names of the schema take at most [`MEMORY_MAX`].

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

#[cfg(test)]
extern crate self as frpc_dynamic;

mod body;
mod decode;
mod encode;
mod error;
mod json;
#[doc(hidden)]
pub mod layout;
mod protobuf;
#[doc(hidden)]
pub mod schema;

pub use body::Body;
pub use decode::MEMORY_MAX;
pub use error::{DecodeError, EncodeError};
pub use json::{JsonError, from_json, from_json_positional, to_json, to_json_pretty};
pub use prost_reflect::{self, DescriptorPool, DynamicMessage, MessageDescriptor};
pub use protobuf::to_protobuf;

use layout::{Layout, Layouts};
use polyglot::{Decoder, Encoder, Form, NESTING_CEILING, NESTING_MAX, Root};
use std::sync::Arc;

/// Reads and writes messages by their descriptors, in the Polyglot encoding.
///
/// It remembers the order of the fields of each message that it has met, so keep it.
#[derive(Debug)]
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
    /// A codec with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self { layouts: Layouts::default(), nesting_max: NESTING_MAX, memory_max: MEMORY_MAX }
    }

    /// Sets how deep messages may nest when decoding, the root included: at least 1, and [`NESTING_CEILING`] at most.
    ///
    /// ```
    /// let codec = frpc_dynamic::Codec::new().with_nesting_max(16);
    /// ```
    #[must_use]
    pub fn with_nesting_max(self, levels: u32) -> Self {
        Self { nesting_max: levels.clamp(1, NESTING_CEILING), ..self }
    }

    /// Sets how many bytes a decoded message may take, in place of [`MEMORY_MAX`].
    ///
    /// ```
    /// let codec = frpc_dynamic::Codec::new().with_memory_max(64 << 20);
    /// ```
    #[must_use]
    pub fn with_memory_max(self, bytes: usize) -> Self {
        Self { memory_max: bytes, ..self }
    }

    /// Writes a message as a body.
    ///
    /// # Errors
    ///
    /// If an enum has a number that has no place on the wire, or messages nest deeper than [`NESTING_CEILING`]. Parts
    /// may have been written.
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

    /// Reads a body. Bytes after the message or error are left unread: newer peers may have added them.
    ///
    /// # Errors
    ///
    /// If there is neither a message nor an error, or it is bad.
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
        self.decode_appended(descriptor, from, 0)
    }

    /// Reads a body of a peer whose schema may be older: up to `appended` fields at the end of the root message may be
    /// missing and become defaults.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn decode_appended(
        &self,
        descriptor: &MessageDescriptor,
        from: &mut Decoder<'_>,
        appended: u32,
    ) -> Result<Root<DynamicMessage>, DecodeError> {
        decode::root(self, descriptor, from, appended)
    }

    /// Encodes a message for a call, in both forms: the peer decides which one is sent.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
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
