//! The calling end: channels, the connections that they make, and the calls on these.

pub(crate) mod attempt;
pub mod blocking;
pub(crate) mod builder;
pub(crate) mod channel;
pub(crate) mod dial;
pub(crate) mod link;
pub(crate) mod making;
pub(crate) mod servers;
pub(crate) mod streams;
pub(crate) mod unary;
