//! Tests of information about a server: its schema, natively and by grpcurl, its health in every protocol, and its
//! activity.

mod grpcurl;
mod health;
mod introspection;
mod schema;
mod support;
