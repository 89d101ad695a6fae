//! Encoding and decoding of a message as the generator writes it.

mod decoding;
mod encoding;
mod limits;
mod properties;
mod schema;
mod wellknown;
