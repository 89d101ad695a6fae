//! Tests of decoding and encoding a message as frpc-build generates it.

mod decoding;
mod encoding;
mod limits;
mod properties;
mod schema;
mod wellknown;
