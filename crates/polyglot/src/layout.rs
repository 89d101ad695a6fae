//! Layouts of services and messages, and translation of bodies between two of them. No I/O.
//!
//! A [`Description`] states numbers, types and wire order, which is all that an end needs to read a body of another
//! version of its schema. Two ends with the same [`Fingerprint`] need nothing of this. Otherwise a [`Plan`] translates
//! bodies from one layout to the other in one pass, without decoding them: fields and enum values are matched by number,
//! unknown fields are skipped, missing ones get their defaults, and numbers change their type as in protobuf.

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
