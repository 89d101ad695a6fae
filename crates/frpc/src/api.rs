//! What users of either end hold: requests and replies, metadata, statuses, streams that they feed, and middleware.

pub(crate) mod authorize;
pub(crate) mod code;
mod conversions;
pub(crate) mod error;
pub(crate) mod extras;
pub mod hand_off;
pub(crate) mod metadata;
pub(crate) mod middleware;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod status;
pub(crate) mod streams;
pub(crate) mod try_send;

use crate::{Response, Status};
use std::pin::Pin;

/// A future in a box, as methods of traits for trait objects return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The future of a call, of a type that is compiled once.
pub(crate) type BoxedCall<'a, B> = BoxFuture<'a, Result<Response<B>, Status>>;
