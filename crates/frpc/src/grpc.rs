//! One implementation of a service for frpc and gRPC: the adapter between tonic and frpc.
//!
//! `frpc_build::configure().grpc(true)` generates tonic's client and server beside frpc's, on the same message types.
//! An implementation of frpc's trait is served by both. Calls that tonic brings come in by a [`Door`], which
//! [`ServerBuilder::grpc_door`](crate::ServerBuilder::grpc_door) makes: tonic's trait is implemented for
//! [`Behind`] that door alone, so that no call gets around [middleware](crate::ServerBuilder::middleware) and policies.
//! The example `two_protocols` is a whole program.
//!
//! Methods that are written by hand are converted by this module's functions. Middleware does not run around these:
//!
//! ```
//! use frpc::{Request, Response, Status, grpc, tonic};
//!
//! async fn shout(request: Request<String>) -> Result<Response<String>, Status> {
//!     Ok(Response::new(request.into_inner().to_uppercase()))
//! }
//!
//! async fn shout_for_grpc(request: tonic::Request<String>) -> Result<tonic::Response<String>, tonic::Status> {
//!     grpc::reply(grpc::request(request), shout).await
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tonic::Status> {
//! let response = shout_for_grpc(tonic::Request::new("hello".to_owned())).await?;
//! assert_eq!(response.get_ref(), "HELLO");
//! # Ok(())
//! # }
//! ```
//!
//! [`Status`] and [`Code`] convert both ways, with details and metadata. Requests and replies keep their
//! [extensions](Request::extensions), where tonic's interceptors leave values for handlers, and their metadata, except
//! entries that are invalid on the other side. tonic's server enforces the caller's deadline, [`Request::timeout`]
//! returns the timeout, and calls that the handler makes inherit the deadline.

mod door;

pub use door::{Behind, Door};

use crate::access::visitor::expired;
use crate::api::request::Origin;
use crate::deadline::{self, Inherited, Within};
use crate::observe::watching::Watched;
use crate::{Code, Metadata, Request, Response, ResponseStream, Status, Streaming};
use bytes::Bytes;
use futures_core::Stream;
use polyglot::Message;
use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tonic::metadata::{AsciiMetadataKey, BinaryMetadataKey, KeyAndValueRef, MetadataMap, MetadataValue};

/// Converts a request from tonic.
pub fn request<A>(request: tonic::Request<A>) -> Request<A> {
    let origin = request.remote_addr().map_or(Origin::Here, |address| Origin::Elsewhere(Box::new(address)));
    let (theirs, extensions, message) = request.into_parts();
    let metadata = ours(&theirs);
    let timeout = theirs.get("grpc-timeout").and_then(|value| timeout(value.to_str().ok()?));
    let mut request = Request::received(message, origin, None);
    if let Some(timeout) = timeout {
        request.set_timeout(timeout);
    }
    if !metadata.is_empty() {
        *request.metadata_mut() = metadata;
    }
    if !extensions.is_empty() {
        *request.extensions_mut() = extensions;
    }
    request
}

/// The timeout in a `grpc-timeout`: up to eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

/// Converts tonic's metadata to frpc's.
fn ours(theirs: &MetadataMap) -> Metadata {
    let mut metadata = Metadata::new();
    for entry in theirs.iter() {
        // Entries that are invalid in frpc, such as a text in Latin-1, are left out.
        let _ = match entry {
            KeyAndValueRef::Ascii(key, value) => value.to_str().map(|text| metadata.insert(key.as_str(), text)).ok(),
            KeyAndValueRef::Binary(key, value) => {
                value.to_bytes().map(|bytes| metadata.insert_bin(key.as_str(), bytes)).ok()
            }
        };
    }
    metadata
}

/// Converts frpc's metadata to tonic's.
fn theirs(ours: &Metadata) -> MetadataMap {
    let mut map = MetadataMap::new();
    for (key, value) in ours.iter() {
        if key.ends_with("-bin") {
            if let Ok(key) = BinaryMetadataKey::from_bytes(key.as_bytes()) {
                map.insert_bin(key, MetadataValue::from_bytes(value));
            }
        } else if let (Ok(key), Ok(value)) =
            (AsciiMetadataKey::from_bytes(key.as_bytes()), MetadataValue::try_from(value))
        {
            map.insert(key, value);
        }
    }
    map
}

/// Converts a streaming request from tonic.
pub fn requests<A: Message + Send + 'static>(request: tonic::Request<tonic::Streaming<A>>) -> Request<Streaming<A>> {
    self::request(request).map(|messages| Streaming::from_stream(Requests(messages)))
}

/// Calls a handler for a request from tonic.
///
/// # Errors
/// The status of the handler.
///
/// # Cancel safety
/// Dropping the future drops the handler.
pub async fn reply<A, B, F>(
    request: Request<A>,
    handler: impl FnOnce(Request<A>) -> F,
) -> Result<tonic::Response<B>, tonic::Status>
where
    F: Future<Output = Result<Response<B>, Status>>,
{
    let inherited = inherited(&request);
    reply_within(inherited, request, handler).await
}

async fn reply_within<A, B, F>(
    inherited: Inherited,
    request: Request<A>,
    handler: impl FnOnce(Request<A>) -> F,
) -> Result<tonic::Response<B>, tonic::Status>
where
    F: Future<Output = Result<Response<B>, Status>>,
{
    let handling = deadline::within(inherited, || handler(request));
    let reply = Within { inherited, future: pin!(handling) }.await?;
    let (metadata, extensions) = (theirs(reply.metadata()), reply.extensions().clone());
    Ok(tonic::Response::from_parts(metadata, reply.into_inner(), extensions))
}

/// Calls a handler that replies with a stream, for a request from tonic.
///
/// # Errors
/// The status of the handler.
///
/// # Cancel safety
/// Dropping the future drops the handler.
pub async fn replies<A, B, F>(
    request: Request<A>,
    handler: impl FnOnce(Request<A>) -> F,
) -> Result<tonic::Response<Replies<B>>, tonic::Status>
where
    F: Future<Output = Result<Response<ResponseStream<B>>, Status>>,
{
    let inherited = inherited(&request);
    replies_within(inherited, request, handler).await
}

async fn replies_within<A, B, F>(
    inherited: Inherited,
    request: Request<A>,
    handler: impl FnOnce(Request<A>) -> F,
) -> Result<tonic::Response<Replies<B>>, tonic::Status>
where
    F: Future<Output = Result<Response<ResponseStream<B>>, Status>>,
{
    let reply = reply_within(inherited, request, handler).await?;
    Ok(reply.map(|messages| Replies { inherited, messages, watched: None, over: None }))
}

/// What calls of the handler inherit: the caller's deadline and place in a trace.
fn inherited<A>(request: &Request<A>) -> Inherited {
    let deadline = request.timeout().and_then(|timeout| deadline::now().checked_add(timeout));
    Inherited { deadline, trace: request.traceparent() }
}

/// The messages with which a handler of frpc answers a call from tonic.
pub struct Replies<B> {
    /// Making the messages is part of the call.
    inherited: Inherited,
    messages: ResponseStream<B>,
    /// The call as its observer knows it, until it has ended.
    watched: Option<Watched>,
    /// Ready when the caller is no longer let in.
    over: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<B> Stream for Replies<B> {
    type Item = Result<B, tonic::Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let inherited = self.inherited;
        let is_over = self.over.as_mut().is_some_and(|over| over.as_mut().poll(context).is_ready());
        let next = match is_over {
            true => Some(Err(expired())),
            false => ready!(deadline::within(inherited, || Pin::new(&mut self.messages).poll_next(context))),
        };
        let ended = match &next {
            Some(Ok(_)) => None,
            Some(Err(status)) => Some(status.code()),
            None => Some(Code::Ok),
        };
        if let Some(code) = ended
            && let Some(watched) = self.watched.take()
        {
            watched.end(code, 0);
        }
        Poll::Ready(next.map(|next| next.map_err(Into::into)))
    }
}

impl<B> fmt::Debug for Replies<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.fmt(f)
    }
}

/// The messages that a client streams through tonic.
struct Requests<A>(tonic::Streaming<A>);

impl<A> Stream for Requests<A> {
    type Item = Result<A, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.get_mut().0).poll_next(context).map_err(Into::into)
    }
}

/// The numbers are the same.
impl From<Code> for tonic::Code {
    fn from(code: Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// The numbers are the same.
impl From<tonic::Code> for Code {
    fn from(code: tonic::Code) -> Self {
        Self::from_i32(code as i32)
    }
}

impl From<Status> for tonic::Status {
    fn from(status: Status) -> Self {
        let metadata = status.metadata().map_or_else(MetadataMap::new, theirs);
        let details = Bytes::copy_from_slice(status.details());
        Self::with_details_and_metadata(status.code().into(), status.message(), details, metadata)
    }
}

impl From<tonic::Status> for Status {
    fn from(status: tonic::Status) -> Self {
        let mut converted = Self::new(status.code().into(), status.message());
        if !status.details().is_empty() {
            converted = converted.with_details(status.details().to_vec());
        }
        let metadata = ours(status.metadata());
        if metadata.is_empty() { converted } else { converted.with_metadata(metadata) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_keeps_its_parts_through_both_conversions() {
        for number in 0..=16 {
            let mut metadata = Metadata::new();
            metadata.insert("text", "a text").expect("it is a text");
            metadata.insert_bin("raw-bin", vec![0, 255]).expect("it is a key of bytes");
            let status = Status::new(Code::from_i32(number), format!("number {number}"))
                .with_details(vec![1, 2, 3])
                .with_metadata(metadata);
            let theirs = tonic::Status::from(status.clone());
            assert_eq!((theirs.code() as i32, theirs.message()), (number, status.message()));
            assert_eq!(Status::from(theirs), status);
        }
    }

    #[test]
    fn requests_and_replies_keep_metadata_and_extensions() {
        let mut theirs = tonic::Request::new(());
        theirs.extensions_mut().insert("who calls");
        assert_eq!(request(theirs).extensions().get(), Some(&"who calls"));
        let answered = reply(Request::new(()), |_| async {
            let mut ours = Response::new(());
            ours.extensions_mut().insert("who answers");
            Ok(ours)
        });
        let theirs = pin!(answered).poll(&mut Context::from_waker(std::task::Waker::noop()));
        assert!(matches!(theirs, Poll::Ready(Ok(theirs)) if theirs.extensions().get() == Some(&"who answers")));
    }

    #[test]
    fn a_handler_is_told_how_long_its_caller_waits() {
        let mut theirs = tonic::Request::new(());
        assert_eq!(request(theirs).timeout(), None);
        theirs = tonic::Request::new(());
        theirs.set_timeout(Duration::from_millis(3000));
        assert_eq!(request(theirs).timeout(), Some(Duration::from_secs(3)));
        for (text, expected) in [
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("0S", Some(Duration::ZERO)),
            ("5u", Some(Duration::from_micros(5))),
            ("7n", Some(Duration::from_nanos(7))),
            ("123456789S", None),
            ("S", None),
            ("+1S", None),
            ("1", None),
            ("1ü", None),
            ("", None),
        ] {
            assert_eq!(timeout(text), expected, "{text}");
        }
    }
}
