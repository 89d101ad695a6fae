//! Metadata sent after the messages of a response.

use crate::Metadata;
use std::sync::{Arc, OnceLock};

/// Trailing metadata, for protocols that support it: gRPC trailers, the end of a Connect stream, and `trailer-…` fields
/// of unary Connect responses.
///
/// A handler adds it to the [extensions](crate::Response::extensions) of its response. Native callers do not receive
/// it; use the metadata of the response for them.
///
/// ```
/// use frpc::{Metadata, Response, Trailers};
///
/// let mut trailers = Metadata::new();
/// trailers.insert("rows", "1200")?;
/// let mut response = Response::new("the rows");
/// response.extensions_mut().insert(Trailers(trailers));
/// # Ok::<(), frpc::MetadataError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trailers(pub Metadata);

/// Trailing metadata of a response stream, set when the stream has ended. Found in the
/// [extensions](crate::Response::extensions) of a response from a gRPC server, and of a response for a caller that uses
/// gRPC.
#[derive(Clone, Default, Debug)]
pub struct LateTrailers(pub Arc<OnceLock<Metadata>>);
