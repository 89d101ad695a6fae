//! The JSON mapping of proto3 for generated code. Reads and writes messages without an intermediate tree.
//!
//! `frpc-build` generates an implementation of [`Fields`] for each message and one of [`Enumeration`] for each enum.
//! [`to_json`] and [`from_json`] convert messages. [`Options`] sets limits for untrusted input and types for `Any`:
//!
//! ```
//! use frpc_json::{DecodeError, EncodeError, Fields, Reader, Writer, from_json, to_json};
//!
//! #[derive(Debug, Default, PartialEq)]
//! struct Book {
//!     title: String,
//!     first_year: Option<i32>,
//!     authors: Vec<String>,
//! }
//!
//! // This is what is generated.
//! impl Fields for Book {
//!     const NAME: &'static str = "library.Book";
//!     const FIELDS: &'static [&'static str] = &["title", "firstYear", "authors"];
//!
//!     fn field(name: &str) -> Option<usize> {
//!         Some(match name {
//!             "title" => 0,
//!             "firstYear" | "first_year" => 1,
//!             "authors" => 2,
//!             _ => return None,
//!         })
//!     }
//!
//!     fn encode_fields(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
//!         to.field("\"title\":", &self.title)?;
//!         to.field("\"firstYear\":", &self.first_year)?;
//!         to.field("\"authors\":", &self.authors)
//!     }
//!
//!     fn decode_field(&mut self, field: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
//!         match field {
//!             0 => from.field(&mut self.title),
//!             1 => from.field(&mut self.first_year),
//!             2 => from.field(&mut self.authors),
//!             _ => from.skip(),
//!         }
//!     }
//! }
//!
//! let book = Book { title: "Emma".into(), first_year: Some(1815), authors: vec!["Jane Austen".into()] };
//! let mut out = Vec::new();
//! to_json(&book, &mut out)?;
//! assert_eq!(out, br#"{"title":"Emma","firstYear":1815,"authors":["Jane Austen"]}"#);
//! assert_eq!(from_json::<Book>(&out)?, book);
//!
//! // Errors state the reason, the position and the field.
//! let error = from_json::<Book>(br#"{ "authors": ["Jane Austen", 7] }"#).unwrap_err();
//! assert_eq!(error.to_string(), "in field `authors[1]` of `library.Book` at byte 29: string expected, found a number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The mapping
//!
//! The mapping is the canonical one of proto3. The writer emits names in lowerCamelCase or by `json_name`, 64-bit
//! integers as strings, floats with their shortest digits or as `"NaN"`, `"Infinity"` and `"-Infinity"`, enums by name,
//! and bytes as base64 with padding. It omits fields without presence that have their default. The reader also accepts:
//!
//! * original names of fields
//! * integers as numbers or strings, including an exponent or fraction if the value is integral and in range
//! * enums by number, including unknown numbers
//! * base64 with either alphabet, with or without padding
//! * `null` as an absent field, but not as an element of a list or map
//!
//! The reader rejects malformed JSON, unknown fields and names (see [`Options::ignore_unknown`]), duplicate keys,
//! including both names of one field, two members of one oneof, unpaired surrogates, and numbers out of range.
//!
//! # Limits
//!
//! Input is untrusted. The reader never panics or overflows the stack, and its time is linear in the length of the
//! input.
//!
//! * Messages nest [`NESTING_MAX`] deep by default; [`Options::nesting_max`] changes it up to [`NESTING_CEILING`]. A
//!   `Struct` or `ListValue` within a `Value` is a separate level.
//! * The memory of all lists, maps and boxes of one reader is at most [`CONTAINER_MEMORY_MAX`] by default;
//!   [`Options::container_memory`] changes it.
//! * The text of a value is no longer than its JSON.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

#[cfg(test)]
extern crate self as frpc_json;

mod base64;
mod codec;
mod containers;
mod error;
mod json;
mod keys;
mod limits;
mod options;
mod reader;
mod values;
pub mod wellknown;
mod writer;

#[doc(hidden)]
pub use base64::decode as decode_base64;
pub use codec::{Boxed, Codec, Enum, Enumeration, Null};
#[doc(hidden)]
pub use error::quoted;
pub use error::{DecodeError, DecodeReason, EncodeError, EncodeReason};
pub use json::{Fields, Json, from_json, to_json};
pub use keys::Key;
pub use options::{AnyType, Options, Types};
pub use polyglot::{CONTAINER_MEMORY_MAX, NESTING_CEILING, NESTING_MAX};
pub use reader::Reader;
#[doc(hidden)]
pub use reader::plain_length;
pub use writer::Writer;

#[cfg(test)]
mod tests;
