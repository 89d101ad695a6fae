//! The Polyglot encoding, a binary format. Every value starts with a byte for its kind.
//!
//! This crate encodes and decodes Rust values and is wire-compatible with the Go implementation. Input is untrusted: it
//! never causes a panic, a stack overflow, or the allocation of more memory than the [limits](crate#limits) permit.
//! Framing, connections and calls are not part of this crate.
//!
//! The crate has three layers, and each can be used on its own:
//!
//! * [`Encoder`] and [`Decoder`] write and read single values: one method per [`Kind`].
//! * [`Codec`] is implemented by Rust types that can be fields, [`Fields`] by generated messages. [`Message`] is a
//!   whole body, for [`encode_root`] and [`decode_root`].
//! * [`View`] is the borrowed counterpart. A view of a message borrows from the input and does not allocate.
//!
//! ```
//! use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Fields, Root};
//!
//! #[derive(Debug, Default, PartialEq)]
//! struct Book {
//!     title: String,
//!     year: Option<i32>,
//!     authors: Vec<String>,
//! }
//!
//! impl Fields for Book {
//!     const NAME: &'static str = "library.Book";
//!
//!     fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
//!         to.field("title", &self.title)?;
//!         to.field("year", &self.year)?;
//!         to.field("authors", &self.authors)
//!     }
//!
//!     fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
//!         Ok(Self { title: from.field("title")?, year: from.field("year")?, authors: from.field("authors")? })
//!     }
//! }
//!
//! let book = Book { title: "Emma".into(), year: Some(1815), authors: vec!["Jane Austen".into()] };
//! let mut body = Vec::new();
//! polyglot::encode_root(&book, &mut Encoder::new(&mut body))?;
//! assert_eq!(body[..8], [0x08, 0x00, 0x05, 0x0a, 4, b'E', b'm', b'm']);
//!
//! let Root::Message(read) = polyglot::decode_root::<Book>(&mut Decoder::new(&body))? else { panic!("an error") };
//! assert_eq!(read, book);
//!
//! // Errors state the reason, the position and the field.
//! let error = polyglot::decode_root::<Book>(&mut Decoder::new(&body[..5])).unwrap_err();
//! assert_eq!(error.to_string(), "in field `title` of `library.Book` at byte 2: string of 4 bytes, but only 0 remain");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! * Decoded messages nest up to [`NESTING_MAX`] levels by default. [`Decoder::with_nesting`] changes the limit up to
//!   [`NESTING_CEILING`], which is also the limit of encoded messages.
//! * The length of a list or map is rejected if the remaining input cannot contain that many elements of minimum size.
//! * The lists, maps and boxes of a decoder take at most [`CONTAINER_MEMORY_MAX`] bytes by default.
//!   [`Decoder::with_container_memory`] changes the limit.
//! * The length of a string or bytes value is checked against the remaining input before memory is allocated.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

#[cfg(test)]
extern crate self as polyglot;

mod codec;
mod decode;
mod enclosed;
mod encode;
mod enumeration;
mod error;
mod kind;
pub mod layout;
mod limits;
mod message;
mod oneof;
mod path_error;
#[cfg(feature = "prost")]
pub mod protobuf;
mod utf8_bytes;
mod value;
mod varint;
mod view;
mod viewed;
pub mod wellknown;

pub use codec::{Codec, Key};
pub use decode::Decoder;
pub use enclosed::RawMessage;
pub use encode::{Bulk, Encoder, Form};
pub use enumeration::{Enumeration, Index, KEPT_INDEXES};
pub use error::{DecodeError, DecodeReason, EncodeError, EncodeReason};
pub use kind::Kind;
pub use limits::{BULK_MIN, CONTAINER_MEMORY_MAX, LONG_MIN, NESTING_CEILING, NESTING_MAX, Nesting};
pub use message::{Fields, Message, ProtobufCodec, Root, decode_root, encode_root, view_root};
pub use oneof::{Oneof, OneofDecoder};
pub use path_error::PathError;
pub use utf8_bytes::Utf8Bytes;
pub use view::{Items, List, Map, MessageView, Nested, View};
pub use viewed::{Number, OneofView, Undecoded, Viewed};

#[cfg(test)]
mod tests;
