//! The client: channels, connections, and outgoing calls.

pub(crate) mod attempt;
pub(crate) mod builder;
pub(crate) mod call;
pub(crate) mod channel;
pub(crate) mod connect_task;
pub(crate) mod current;
pub(crate) mod dial;
pub(crate) mod factory;
#[cfg(feature = "grpc")]
pub(crate) mod grpc;
pub(crate) mod hand_off;
pub(crate) mod hedging;
pub(crate) mod link;
pub(crate) mod links;
pub(crate) mod middleware_call;
pub mod picker;
pub(crate) mod retries;
pub(crate) mod retrying;
pub(crate) mod settings;
pub(crate) mod streams;
pub(crate) mod unary;
pub(crate) mod waiting;
