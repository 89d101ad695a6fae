//! The Connect protocol: calls as plain HTTP requests with JSON or protobuf.

pub(crate) mod envelope;
pub(crate) mod error;
pub(crate) mod get;
pub(crate) mod unary;
