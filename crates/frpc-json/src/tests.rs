//! Encoding and decoding of a message as the generator writes it.

mod decoding;
mod encoding;
mod limits;
mod properties;
mod schema;
#[cfg(feature = "prost-types")]
mod wellknown;
