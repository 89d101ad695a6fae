//! Calls in every protocol of a gateway that forwards them to a server without one.

mod calls;
#[cfg(feature = "grpc-backend")]
mod grpc;
mod streams;
mod support;
