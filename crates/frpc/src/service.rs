//! The serving end: the methods of services, and how a call of one becomes a reply.

pub(crate) mod caller;
pub(crate) mod erased;
pub(crate) mod failures;
pub(crate) mod guarded;
pub(crate) mod hand_off;
pub(crate) mod handle;
mod health;
pub(crate) mod in_flight;
#[cfg(feature = "json")]
pub(crate) mod json;
pub(crate) mod layered;
pub(crate) mod lifecycle;
pub(crate) mod load;
pub(crate) mod methods;
pub(crate) mod places;
pub(crate) mod proto;
pub(crate) mod served;
pub(crate) mod streams;
pub(crate) mod unary;
