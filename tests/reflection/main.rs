//! What a server says about itself: its schema, natively and to grpcurl, its health at every door, and what goes on in it.

mod grpcurl;
mod health;
mod introspection;
mod schema;
mod support;
