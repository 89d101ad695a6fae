//! Tests of authentication and authorization, with the same rules for every protocol.

mod connections;
mod malformed;
mod protocols;
mod support;
mod tokens;
mod topics;
