//! Drivers: what moves bytes between sockets and the protocol.

pub(crate) mod engine;
pub(crate) mod tokio;
