//! Authentication and authorization: the same rules for every protocol.

mod connections;
mod doors;
mod malformed;
mod support;
mod tokens;
mod topics;
