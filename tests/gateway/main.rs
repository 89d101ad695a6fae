//! The doors of a server to other protocols.

mod any;
mod connect;
mod discovery;
mod greeter;
mod grpc;
mod hostile;
mod http;
mod json_rpc;
mod metrics;
mod proxied;
mod stop;
mod support;
mod tensors;
mod traces;
mod web_socket;
