//! The wire format of calls: bodies, and the prefixes that native peers add.

pub(crate) mod body;
pub(crate) mod compressed;
pub(crate) mod envelope;
pub(crate) mod layouts;
pub(crate) mod prefix;
pub(crate) mod received;
pub(crate) mod report;
pub(crate) mod translation;
