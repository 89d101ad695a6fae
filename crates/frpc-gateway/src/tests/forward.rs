//! Calls in every protocol, forwarded by a gateway to a native or gRPC server, and clients of gRPC servers.

mod calls;
mod clients;
mod discovery;
mod grpc;
mod streams;
mod support;
