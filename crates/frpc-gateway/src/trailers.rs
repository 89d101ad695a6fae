//! Metadata sent after the messages of a response.

use frpc::Metadata;
use std::sync::{Arc, OnceLock};

/// Trailing metadata, for protocols that support it: gRPC trailers, the end of a Connect stream, and `trailer-…` fields
/// of unary Connect responses.
///
/// A handler adds it to the [extensions](frpc::Response::extensions) of its response. Native callers do not receive it.
/// For them use the metadata of the response.
///
/// ```
/// use frpc::{Metadata, Response};
/// use frpc_gateway::Trailers;
///
/// let mut trailers = Metadata::new();
/// trailers.insert("rows", "1200")?;
/// let mut response = Response::new("the rows");
/// response.extensions_mut().insert(Trailers(trailers));
/// # Ok::<(), frpc::MetadataError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trailers(pub Metadata);

/// Trailing metadata of a response stream, set by the handler when the stream ends.
#[cfg_attr(not(feature = "grpc-backend"), allow(dead_code, reason = "only backends by gRPC make it"))]
#[derive(Clone, Default, Debug)]
pub(crate) struct LateTrailers(pub(crate) Arc<OnceLock<Metadata>>);
