//! Tests of the information that a server provides: its schema, natively and to grpcurl, its health in every protocol,
//! and its activity.

mod grpcurl;
mod health;
mod introspection;
mod schema;
mod support;
