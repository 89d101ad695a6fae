//! The bytes of calls: what stands in bodies, and in front of them between native peers.

pub(crate) mod body;
pub(crate) mod envelope;
pub(crate) mod layouts;
pub(crate) mod packed;
pub(crate) mod prefix;
pub(crate) mod received;
pub(crate) mod report;
