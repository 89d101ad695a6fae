//! The calling end: channels, the connections that they make, and the calls on these.

pub(crate) mod around;
pub(crate) mod attempt;
pub mod blocking;
pub(crate) mod builder;
pub(crate) mod channel;
pub(crate) mod dial;
pub(crate) mod fleet;
pub(crate) mod hand_off;
pub(crate) mod hedging;
pub(crate) mod link;
pub(crate) mod links;
pub(crate) mod making;
pub(crate) mod place;
pub(crate) mod retries;
pub(crate) mod retrying;
pub(crate) mod servers;
pub(crate) mod streams;
pub(crate) mod terms;
pub(crate) mod unary;
