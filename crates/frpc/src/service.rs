//! The server side of calls: the methods of services, and the handling of requests.

pub(crate) mod admission;
pub(crate) mod caller;
pub(crate) mod erased;
pub(crate) mod failures;
pub(crate) mod formats;
pub(crate) mod hand_off;
pub(crate) mod handle;
pub(crate) mod in_flight;
pub(crate) mod invoke;
#[cfg(feature = "json")]
pub(crate) mod json;
pub(crate) mod layered;
pub(crate) mod layouts;
pub(crate) mod lifecycle;
pub(crate) mod load;
pub(crate) mod methods;
pub(crate) mod proto;
pub(crate) mod stream_method;
pub(crate) mod streams;
pub(crate) mod unary;
