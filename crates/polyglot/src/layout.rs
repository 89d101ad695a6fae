//! Layouts of services and messages, and translation of bodies between two of them. No I/O.
//!
//! A [`Description`] contains the field numbers, types and wire order that a peer needs to read bodies of another
//! version of its schema. Peers with the same [`Fingerprint`] need no translation. Otherwise a [`Plan`] translates
//! bodies from one layout to the other in one pass, without decoding them.
//!
//! # Compatibility
//!
//! Fields and enum values are identified by number, types by their use. The rules follow protobuf. The WIRE category of
//! `buf breaking` allows all changes but those marked with an asterisk:
//!
//! | change | translation |
//! |---|---|
//! | field added, removed (its number reserved), renamed or moved | unknown fields are skipped and [counted](Translated::skipped), missing ones are absent or default |
//! | among `int32`, `uint32`, `int64`, `uint64`, `bool` | a cast of C++: truncated, or extended by the sign; `bool` is not zero |
//! | `sint32` and `sint64` | the varint is truncated |
//! | `fixed32` and `sfixed32`, `fixed64` and `sfixed64` | the same bits |
//! | `string` to `bytes`; `bytes` to `string` * | unchanged; fails unless it is UTF-8 |
//! | `optional` added or removed | absent becomes the default, and the default becomes absent |
//! | map to list of messages with fields 1 and 2, and the reverse | of two entries with one key the reader keeps the last |
//! | member added to a oneof | an older reader finds no member set |
//! | field moved into or out of a oneof * | of several set ones the one with the highest number counts |
//! | enum value added, removed or moved | by number; a number that the reader lacks stays a number |
//! | enum to integer, and the reverse * | the number |
//! | other types of one kind here, such as `int32` to `sint32` * | unchanged |
//! | single to list, message to bytes, other types * | a [`Refusal`], which names the field |
//!
//! Unknown fields are lost, like in prost. The flat form conveys neither presence nor enum numbers that the reader
//! lacks.
//!
//! # Limits
//!
//! Descriptions and bodies come from peers. A description has at most [`DESCRIPTION_MAX`] bytes, [`TYPES_MAX`] types
//! and [`PARTS_MAX`] fields and values. A plan has at most as many pairs of types as both peers have types, and 65 536
//! fields. A translation takes time in proportion to its input and output; its output and nesting have [`Limits`].

mod conversion;
mod description;
mod emit;
mod fingerprint;
mod parse;
mod plan;
#[cfg(feature = "prost-types")]
mod schema;
mod side;
mod translate;
mod walk;

pub use conversion::Refusal;
pub use description::{Description, Field, Method, Shape, Type, TypeLayout};
pub use fingerprint::Fingerprint;
pub use parse::{DESCRIPTION_MAX, DescriptionError, PARTS_MAX, TYPES_MAX};
pub use plan::{Plan, PlanError, Root};
#[cfg(feature = "prost-types")]
pub use schema::{Described, Schema, SchemaError};
pub use translate::{Limits, Translated};

#[cfg(test)]
mod tests;
