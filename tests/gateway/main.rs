//! Tests of the protocols that the gateway adds to a server.

mod abuse;
#[path = "../access/main.rs"]
mod access;
mod ages;
mod any;
mod authority;
mod connect;
mod discovery;
mod greeter;
mod grpc;
mod hostile;
mod http;
mod json_rpc;
mod metrics;
mod proxied;
#[path = "../reflection/main.rs"]
mod reflection;
mod reports;
mod stop;
mod support;
mod tensors;
mod traces;
mod turns;
mod web_socket;
