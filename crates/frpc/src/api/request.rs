//! Requests, with their metadata and extensions.

use crate::api::extras::{Extras, OptionalExtras, accessors};
use crate::api::hand_off::HandOff;
use frisbee::{Attachments, Connection};
use futures_core::Stream;
use std::fmt;
use std::net::SocketAddr;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

/// A request: a message or a stream of messages, with metadata, extensions and a timeout.
///
/// Methods of generated clients take either the message itself or a `Request` with it. Handlers always get a `Request`.
///
/// ```
/// use samples::greeter::{GreeterClient, Name};
/// use frpc::{Request, Status};
/// use std::time::Duration;
///
/// async fn greet(client: &GreeterClient, name: &str) -> Result<String, Status> {
///     let mut request = Request::new(Name { name: name.to_owned() });
///     request.set_timeout(Duration::from_secs(2));
///     request.metadata_mut().insert("tenant", "blue")?;
///     Ok(client.greet(request).await?.into_inner().text)
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = GreeterClient::connect(samples::started::greeter().await?).await?;
/// # assert_eq!(greet(&client, "Ada").await?, "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Request<T> {
    message: T,
    timeout: Option<Duration>,
    origin: Origin,
    extras: OptionalExtras,
}

/// The origin of a request. By default, this program made it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The connection of the request, if only as bytes of another protocol.
    pub(crate) transport: Option<Connection>,
    /// That is an adapter connection, which cannot send or call.
    pub(crate) is_adapter: bool,
    /// The peer requests a hand-off.
    pub(crate) hand_off: Option<HandOff>,
}

impl Origin {
    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.transport.as_ref().filter(|_| !self.is_adapter)
    }

    #[cfg(feature = "tls")]
    pub(crate) fn peer_certificates(&self) -> Option<&Arc<[frisbee::tls::CertificateDer<'static>]>> {
        self.transport.as_ref()?.peer_certificates()
    }
}

impl<T> Request<T> {
    /// Creates a request from a message.
    pub fn new(message: T) -> Self {
        Self { message, timeout: None, origin: Origin::default(), extras: OptionalExtras::default() }
    }

    /// All parts.
    pub(crate) fn into_parts_with_extras(self) -> (T, Option<Duration>, Origin, OptionalExtras) {
        (self.message, self.timeout, self.origin, self.extras)
    }

    pub(crate) fn from_parts_with_extras(
        message: T,
        timeout: Option<Duration>,
        origin: Origin,
        extras: OptionalExtras,
    ) -> Self {
        Self { message, timeout, origin, extras }
    }

    /// The message, and its metadata and extensions.
    pub(crate) fn into_parts(self) -> (T, OptionalExtras) {
        (self.message, self.extras)
    }

    /// A reference to the message.
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// A mutable reference to the message.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// The message, by value.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.message
    }

    /// Replaces the message.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Request<U> {
        Request { message: map(self.message), timeout: self.timeout, origin: self.origin, extras: self.extras }
    }

    /// Sets the timeout of the call, in place of the channel's default. The time of
    /// [middleware](crate::Channel::with_middleware) at this end counts.
    ///
    /// This end enforces it, even if the peer does not: the call fails with
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded). A native server gets the timeout, ends the handler in
    /// time, and limits the calls that the handler makes to the same deadline.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    /// The timeout of the call, if there is one. In a handler it is the time that the caller still waited when the
    /// request was read.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// In a handler: the address of the peer, if its transport has one.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        self.origin.transport.as_ref()?.peer_addr()
    }

    /// In a handler: the verified certificates of the peer, its own first, if it has presented some; also if the call
    /// came by another protocol on the port of the services.
    #[cfg(feature = "tls")]
    pub fn peer_certificates(&self) -> Option<&Arc<[frisbee::tls::CertificateDer<'static>]>> {
        self.origin.peer_certificates()
    }

    /// In a handler: the request for a hand-off of the connection; see [`hand_off`](crate::hand_off). `None` for an
    /// ordinary call.
    ///
    /// ```
    /// use frpc::{Request, Status};
    ///
    /// fn requests_connection<M>(request: &Request<M>) -> bool {
    ///     request.hand_off().is_some()
    /// }
    /// ```
    pub fn hand_off(&self) -> Option<&HandOff> {
        self.origin.hand_off.as_ref()
    }

    /// In a handler: the connection of the request; `None` if it came by another protocol. Handlers, streams and
    /// mounted routers of a connection share its [attachments](Connection::attachments).
    pub fn connection(&self) -> Option<&Connection> {
        self.origin.connection()
    }

    /// In a handler: the attachments of the connection of the request, also if it came by another protocol.
    pub fn attachments(&self) -> Option<&Attachments> {
        self.origin.transport.as_ref().map(Connection::attachments)
    }
}

accessors!(
    [T] Request<T>,
    extras,
    "frpc::Request<()>",
    "The metadata of the request. In a handler it is empty for a compat peer.",
    "It is not sent to a compat peer, whose wire has no place for it.",
    "Values that belong to the request at this end, one of each type: from [middleware](crate::Middleware) to the \
     handler, such as the identity of the caller, or from a caller to its middleware. They are never sent. Values that \
     all requests of a connection share belong to [the connection](frisbee::Connection::attachments)."
);

impl<T: fmt::Debug> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Request");
        shown.field("message", &self.message);
        if let Some(timeout) = &self.timeout {
            shown.field("timeout", timeout);
        }
        if let Some(address) = self.remote_addr() {
            shown.field("remote_addr", &address);
        }
        Extras::show(self.extras.as_deref(), &mut shown);
        shown.finish()
    }
}

/// The argument of client methods: a message, or a [`Request`] with one.
#[diagnostic::on_unimplemented(
    message = "the method expects `{T}` or `Request<{T}>`, found `{Self}`",
    label = "expected `{T}` or `Request<{T}>`"
)]
pub trait IntoRequest<T> {
    /// Makes the request.
    fn into_request(self) -> Request<T>;
}

impl<T> IntoRequest<T> for T {
    fn into_request(self) -> Request<T> {
        Request::new(self)
    }
}

impl<T> IntoRequest<T> for Request<T> {
    fn into_request(self) -> Request<T> {
        self
    }
}

/// The argument of client methods that stream requests: a stream of messages, or a [`Request`] with one.
///
/// [`iter`](crate::iter) makes a stream of an iterator, and [`RequestStream::channel`](crate::RequestStream::channel)
/// makes one with a sender.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream of requests",
    label = "not a `Stream` that is `Send` and `'static`, nor a `Request` with one",
    note = "a `Vec`, or any other iterator, becomes a stream by `frpc::iter(…)`"
)]
pub trait IntoStreamingRequest {
    /// The type of the stream.
    type Stream: Stream<Item = Self::Message> + Send + 'static;
    /// The type of its messages.
    type Message;

    /// Makes the request.
    fn into_streaming_request(self) -> Request<Self::Stream>;
}

impl<S: Stream + Send + 'static> IntoStreamingRequest for S {
    type Stream = S;
    type Message = S::Item;

    fn into_streaming_request(self) -> Request<S> {
        Request::new(self)
    }
}

impl<S: Stream + Send + 'static> IntoStreamingRequest for Request<S> {
    type Stream = S;
    type Message = S::Item;

    fn into_streaming_request(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Response;

    #[test]
    fn the_debug_text_of_requests_and_replies_has_no_secrets() {
        assert_eq!(format!("{:?}", Response::new(7)), "Response { message: 7 }");
        let mut request = Request::new("hello");
        assert_eq!(format!("{request:?}"), "Request { message: \"hello\" }");
        request.set_timeout(Duration::from_secs(1));
        request.metadata_mut().insert("authorization", "Bearer abc").unwrap();
        let shown = "Request { message: \"hello\", timeout: 1s, metadata: {\"authorization\": <sensitive>} }";
        assert_eq!(format!("{request:?}"), shown);
    }
}
