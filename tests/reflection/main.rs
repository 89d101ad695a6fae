//! What a server says about itself: its schema, natively and to grpcurl, and its health at every door.

mod grpcurl;
mod health;
mod schema;
mod support;
