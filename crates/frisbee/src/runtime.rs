//! Drivers, which move bytes between transports and the protocol engine.

pub(crate) mod blocked;
pub(crate) mod busy;
pub(crate) mod choose;
pub(crate) mod engine;
pub(crate) mod pending_handshakes;
pub(crate) mod pool;
pub(crate) mod tokio;
#[cfg(all(feature = "uring", target_os = "linux"))]
pub(crate) mod uring;
