//! The public types of clients and servers: requests and responses, metadata, statuses, message streams and middleware.

pub(crate) mod authorize;
pub(crate) mod code;
mod conversions;
pub(crate) mod error;
pub(crate) mod extras;
pub mod hand_off;
pub(crate) mod hints;
pub(crate) mod metadata;
pub(crate) mod middleware;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod status;
pub(crate) mod streams;
pub(crate) mod trailers;
pub(crate) mod try_send;

use crate::{Response, Status};
use std::pin::Pin;

/// A boxed `Send` future. Methods of dyn-compatible traits return it, because they cannot be `async`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Boxed future of a call's response. The box erases the type of the future, so code that wraps calls is compiled only
/// once for all methods.
pub(crate) type BoxedCall<'a, B> = BoxFuture<'a, Result<Response<B>, Status>>;
