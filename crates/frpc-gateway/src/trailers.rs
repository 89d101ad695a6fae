//! Metadata after the messages of a response.

use frpc::Metadata;
use std::sync::{Arc, OnceLock};

/// Metadata after the messages of a response, where HTTP has a place for it: in the trailers of gRPC, in the end of a
/// stream of Connect, and in fields `trailer-…` of its unary responses.
///
/// A handler puts it into the [extensions](frpc::Response::extensions) of its response. Native callers do not get it:
/// their responses have one place for metadata, which a handler should use.
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

/// Metadata after the messages of a stream, for a handler that gets it with their end.
#[cfg_attr(not(feature = "grpc-backend"), allow(dead_code, reason = "only backends by gRPC make it"))]
#[derive(Clone, Default, Debug)]
pub(crate) struct LateTrailers(pub(crate) Arc<OnceLock<Metadata>>);
