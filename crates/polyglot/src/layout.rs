//! Layouts of services and messages, and the translation of bodies between two layouts. Performs no I/O.
//!
//! A [`Description`] contains the field numbers, types and wire order that a peer needs to read bodies of another
//! version of its schema. Peers with equal layouts, which have the same [`Fingerprint`], need no translation. For other
//! peers, a [`Plan`] translates encoded bodies from one layout to the other in a single pass, without decoding them.
//!
//! # Compatibility
//!
//! Fields and enum values are identified by their numbers, and types by the fields that use them. The rules are the
//! same as in protobuf. The WIRE category of `buf breaking` permits all of these changes except those marked with an
//! asterisk:
//!
//! | change | translation |
//! |---|---|
//! | field added, removed (its number reserved), renamed or moved | unknown fields are skipped and [counted](Translated::skipped); missing fields are absent or have their default |
//! | among `int32`, `uint32`, `int64`, `uint64`, `bool` | like a C++ cast: truncated or sign-extended; a `bool` is true unless the number is zero |
//! | `sint32` and `sint64` | the varint is truncated |
//! | `fixed32` and `sfixed32`, `fixed64` and `sfixed64` | the same bits |
//! | `string` to `bytes`; `bytes` to `string` * | unchanged; fails if the bytes are not UTF-8 |
//! | `optional` added or removed | absent becomes the default, and the default becomes absent |
//! | map to list of messages with fields 1 and 2, and the reverse | unchanged; of two entries with the same key, the reader keeps the last |
//! | member added to a oneof | for an older reader, no member is set |
//! | field moved into or out of a oneof * | if several are set, the one with the highest number is used |
//! | enum value added, removed or moved | by number; a number unknown to the reader is preserved as a number |
//! | enum to integer, and the reverse * | by number |
//! | other types with the same [kind](crate::Kind), such as `int32` to `sint32` * | unchanged |
//! | single to list, message to bytes, other types * | rejected with a [`Refusal`] that names the field |
//!
//! Unknown fields are lost, as in prost. The flat form can represent neither presence nor enum numbers that the
//! reader's schema lacks.
//!
//! # Limits
//!
//! Descriptions and bodies are untrusted. A description has at most [`DESCRIPTION_MAX`] bytes, [`TYPES_MAX`] types, and
//! [`PARTS_MAX`] fields and enum values. A plan has at most as many pairs of types as both descriptions have types, and
//! at most 65 536 fields. The duration of a translation is proportional to the sizes of its input and output.
//! [`Limits`] bound the size and nesting of the output.

mod conversion;
mod description;
mod emit;
#[cfg(feature = "prost-types")]
mod field_names;
mod fingerprint;
mod message;
mod parse;
mod plan;
#[cfg(feature = "prost-types")]
mod schema;
mod side;
mod translate;
mod walk;

pub use conversion::Refusal;
pub use description::{Description, Field, Method, Shape, Type, TypeLayout};
#[cfg(feature = "prost-types")]
pub use field_names::{distinguish_fields, json_name};
pub use fingerprint::Fingerprint;
pub use message::{MessageLayout, MessageReader, StoredError, split_mark};
pub use parse::{DESCRIPTION_MAX, DescriptionError, PARTS_MAX, TYPES_MAX};
pub use plan::{Plan, PlanError, Root};
#[cfg(feature = "prost-types")]
pub use schema::{Described, Schema, SchemaError};
pub use translate::{Limits, Translated};

#[cfg(test)]
mod tests;
