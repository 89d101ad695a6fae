//! Calls in every protocol, forwarded by a gateway to a native or gRPC server.

mod calls;
#[cfg(feature = "grpc-backend")]
mod grpc;
mod streams;
mod support;
