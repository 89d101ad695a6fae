//! Requests, with their metadata and extensions.

use crate::api::extras::{Extras, OptionalExtras, accessors};
use crate::api::hand_off::HandOff;
use frisbee::{Attachments, Connection};
use futures_core::Stream;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

/// A request: a message or a stream of messages, with metadata, extensions and a timeout.
///
/// Methods of generated clients accept a message or a `Request` that contains it. Handlers receive a `Request`.
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

/// Origin of a request: the connection that it was received on. Empty for a request created by this program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// Connection that the request was received on. It may use a protocol other than frpc's.
    pub(crate) transport: Option<Connection>,
    /// Whether the connection uses another protocol through an adapter. Such a connection cannot send packets or make
    /// calls.
    pub(crate) is_adapter: bool,
    /// The caller's request to hand off its connection, if it made one.
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

    /// Splits the request into its message, timeout, origin, and metadata with extensions.
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

    /// Splits the request into its message and its metadata with extensions.
    pub(crate) fn into_parts(self) -> (T, OptionalExtras) {
        (self.message, self.extras)
    }

    /// Returns a reference to the message.
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// Returns a mutable reference to the message.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// Consumes the request, returning its message.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.message
    }

    /// Replaces the message with the result of `map`, keeping metadata and extensions.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Request<U> {
        Request { message: map(self.message), timeout: self.timeout, origin: self.origin, extras: self.extras }
    }

    /// Sets the timeout of the call, replacing the default of the channel. The timeout includes the time spent in the
    /// client's [middleware](crate::Channel::with_middleware).
    ///
    /// The client enforces the timeout even if the server does not: the call fails with
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded). A native server receives the timeout, cancels the handler
    /// when it expires, and applies it to the calls that the handler makes.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    /// Returns the timeout of the call. In a handler, this is the time that remained when the request was received.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Returns the remote address of the caller, for use in a handler. Returns `None` if the transport has no
    /// addresses.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        self.origin.transport.as_ref()?.peer_addr()
    }

    /// Returns the network of the caller, such as its IPv4 address or IPv6 /64 network, for limits in a handler; see
    /// [`Connection::caller_network`].
    pub fn caller_network(&self) -> Option<IpAddr> {
        self.origin.transport.as_ref()?.caller_network()
    }

    /// Returns the verified certificate chain of the caller, for use in a handler, starting with the caller's own
    /// certificate. Returns `None` if the caller presented none. Also available for calls over other protocols on the
    /// same port.
    #[cfg(feature = "tls")]
    pub fn peer_certificates(&self) -> Option<&Arc<[frisbee::tls::CertificateDer<'static>]>> {
        self.origin.peer_certificates()
    }

    /// Returns the caller's hand-off request, for use in a handler; see [`hand_off`](crate::hand_off). Returns `None`
    /// for ordinary calls.
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

    /// Returns the connection that the request was received on, for use in a handler. Returns `None` if the request
    /// arrived over another protocol. All handlers, streams and mounted routers of a connection share its
    /// [attachments](Connection::attachments).
    pub fn connection(&self) -> Option<&Connection> {
        self.origin.connection()
    }

    /// Returns the attachments of the connection that the request was received on, for use in a handler. Also available
    /// for requests over other protocols.
    pub fn attachments(&self) -> Option<&Attachments> {
        self.origin.transport.as_ref().map(Connection::attachments)
    }
}

accessors!(
    [T] Request<T>,
    extras,
    "frpc::Request<()>",
    "Returns the metadata of the request. In a handler, it is empty if the caller is a compat peer.",
    "It is not sent to compat peers, because their wire format has no metadata.",
    "Returns the extensions of the request: local values, at most one of each type, which are never sent. At a server, \
     [middleware](crate::Middleware) uses them to pass values to the handler, such as the identity of the caller. At a \
     client, the caller uses them to pass values to its middleware. Values that all requests of a connection share \
     should be [attached to the connection](frisbee::Connection::attachments) instead."
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

/// Extension that marks a request to a gRPC server as made on behalf of a remote caller, whose address it contains, if
/// known. To prevent one caller from using all streams of the server, each may hold only a share of them. If no stream
/// is available, the call fails immediately instead of waiting.
///
/// ```
/// let mut request = frpc::Request::new(());
/// request.extensions_mut().insert(frpc::GrpcCaller(Some([192, 0, 2, 7].into())));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GrpcCaller(pub Option<IpAddr>);

/// Argument of generated client methods: a message, or a [`Request`] that contains it.
#[diagnostic::on_unimplemented(
    message = "the method expects `{T}` or `Request<{T}>`, found `{Self}`",
    label = "expected `{T}` or `Request<{T}>`"
)]
pub trait IntoRequest<T> {
    /// Wraps the message in a [`Request`], unless it already is one.
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

/// Argument of generated client methods that stream requests: a stream of messages, or a [`Request`] that contains it.
///
/// [`iter`](crate::iter) creates a stream from an iterator. [`RequestStream::channel`](crate::RequestStream::channel)
/// creates a stream with a sender.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream of requests",
    label = "not a `Stream` that is `Send` and `'static`, nor a `Request` with one",
    note = "use `frpc::iter(…)` to convert a `Vec` or another iterator to a stream"
)]
pub trait IntoStreamingRequest {
    /// Type of the stream.
    type Stream: Stream<Item = Self::Message> + Send + 'static;
    /// Type of the messages in the request stream.
    type Message;

    /// Wraps the stream in a [`Request`], unless it already is one.
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
    fn debug_text_hides_secrets() {
        assert_eq!(format!("{:?}", Response::new(7)), "Response { message: 7 }");
        let mut request = Request::new("hello");
        assert_eq!(format!("{request:?}"), "Request { message: \"hello\" }");
        request.set_timeout(Duration::from_secs(1));
        request.metadata_mut().insert("authorization", "Bearer abc").unwrap();
        let shown = "Request { message: \"hello\", timeout: 1s, metadata: {\"authorization\": <sensitive>} }";
        assert_eq!(format!("{request:?}"), shown);
    }
}
