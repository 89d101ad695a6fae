//! Messages with what goes along with them.

use crate::Channel;
use crate::api::hand_off::HandOff;
use crate::api::metadata::Metadata;
use crate::wire::prefix::Prefix;
use frisbee::Connection;
use futures_core::Stream;
use http::Extensions;
use std::fmt;
use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;

/// What a message without metadata has.
static NONE: Metadata = Metadata::new();

static NO_EXTENSIONS: LazyLock<Extensions> = LazyLock::new(Extensions::new);

/// A request: a message, or a stream of them, and how the call is to be made or came in.
#[derive(Clone)]
pub struct Request<T> {
    message: T,
    timeout: Option<Duration>,
    origin: Origin,
    along: Option<Box<Along>>,
}

/// What goes along with a request or a reply.
#[derive(Clone, Debug, Default)]
pub(crate) struct Along {
    metadata: Metadata,
    extensions: Extensions,
}

#[cfg(test)]
impl PartialEq for Along {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata && self.extensions.is_empty() && other.extensions.is_empty()
    }
}

impl Along {
    /// What is to be sent of it.
    pub(crate) fn sent(along: Option<&Self>) -> Option<&Metadata> {
        along.map(|along| &along.metadata)
    }

    pub(crate) fn metadata(along: Option<&Self>) -> &Metadata {
        along.map_or(&NONE, |along| &along.metadata)
    }

    pub(crate) fn metadata_mut(along: &mut Option<Box<Self>>) -> &mut Metadata {
        &mut along.get_or_insert_default().metadata
    }

    pub(crate) fn extensions(along: Option<&Self>) -> &Extensions {
        along.map_or(&NO_EXTENSIONS, |along| &along.extensions)
    }

    /// Adds to what is shown for debugging what there is.
    fn show(along: Option<&Self>, shown: &mut fmt::DebugStruct<'_, '_>) {
        let Some(Self { metadata, extensions }) = along else { return };
        if !metadata.is_empty() {
            shown.field("metadata", metadata);
        }
        if !extensions.is_empty() {
            shown.field("extensions", extensions);
        }
    }

    pub(crate) fn into_metadata(self) -> Metadata {
        self.metadata
    }

    pub(crate) fn extensions_mut(along: &mut Option<Box<Self>>) -> &mut Extensions {
        &mut along.get_or_insert_default().extensions
    }
}

/// Where a request came from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// It was made here.
    Here,
    Connection(Connection),
    /// A connection that is asked for.
    Asked(Box<(Connection, HandOff)>),
    /// Another protocol.
    #[cfg(feature = "tonic")]
    Elsewhere(Box<SocketAddr>),
}

impl Origin {
    pub(crate) fn connection(&self) -> Option<&Connection> {
        match self {
            Self::Connection(connection) => Some(connection),
            Self::Asked(asked) => Some(&asked.0),
            _ => None,
        }
    }
}

impl<T> Request<T> {
    /// A request with nothing but its message.
    #[inline]
    pub fn new(message: T) -> Self {
        Self { message, timeout: None, origin: Origin::Here, along: None }
    }

    #[inline]
    pub(crate) fn received(message: T, origin: Origin, prefix: Option<Box<Prefix>>) -> Self {
        match prefix {
            None => Self { message, timeout: None, origin, along: None },
            Some(prefix) => Self { message, timeout: prefix.timeout, origin, along: prefix.along },
        }
    }

    /// All that it consists of.
    pub(crate) fn apart(self) -> (T, Option<Duration>, Origin, Option<Box<Along>>) {
        (self.message, self.timeout, self.origin, self.along)
    }

    pub(crate) fn together(message: T, timeout: Option<Duration>, origin: Origin, along: Option<Box<Along>>) -> Self {
        Self { message, timeout, origin, along }
    }

    /// The message, and what goes along with it.
    pub(crate) fn into_parts(self) -> (T, Option<Box<Along>>) {
        (self.message, self.along)
    }

    /// The message, shared.
    #[inline]
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// The message, to be changed.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// The message.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.message
    }

    /// The same request with another message.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Request<U> {
        Request { message: map(self.message), timeout: self.timeout, origin: self.origin, along: self.along }
    }

    /// Sets how long the call may take, instead of the channel's default, with all that
    /// [runs around it](crate::Channel::with_middleware) here.
    ///
    /// It is enforced here, whatever the peer does: the call fails with
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded). A server of ours is told, gives up in time, and the calls
    /// that its handler makes in turn take no longer.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    /// How long the call may take, if that has been set; in a handler, how long its caller waited when the request
    /// was read.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// What goes along with the request. Empty in a handler if the peer is Go.
    pub fn metadata(&self) -> &Metadata {
        Along::metadata(self.along.as_deref())
    }

    /// What goes along with the request, to be changed. It is not sent to a Go peer, whose wire has no room for it.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        Along::metadata_mut(&mut self.along)
    }

    /// Values that belong to the request at this end, one of each type: what [middleware](crate::Middleware) has found
    /// out and a handler wants to know, such as who calls, or what a caller tells its middleware. They are never sent.
    /// What a connection's requests have in common belongs to [its own](Connection::extensions).
    pub fn extensions(&self) -> &Extensions {
        Along::extensions(self.along.as_deref())
    }

    /// As [`extensions`](Self::extensions), to be changed.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        Along::extensions_mut(&mut self.along)
    }

    /// In a handler: the address of the peer, if its transport has one.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        match &self.origin {
            Origin::Here => None,
            Origin::Connection(connection) => connection.peer_addr(),
            Origin::Asked(asked) => asked.0.peer_addr(),
            #[cfg(feature = "tonic")]
            Origin::Elsewhere(address) => Some(**address),
        }
    }

    /// In a handler: that the caller asks for the connection itself; see [`hand_off`](crate::hand_off). `None` for an
    /// ordinary call.
    pub fn hand_off(&self) -> Option<&HandOff> {
        match &self.origin {
            Origin::Asked(asked) => Some(&asked.1),
            _ => None,
        }
    }

    /// In a handler: the connection that the request came by, unless that was another protocol. Its
    /// [attachments](Connection::attachments) are what handlers, streams and mounted routers know in common of it.
    pub fn connection(&self) -> Option<&Connection> {
        self.origin.connection()
    }
}

impl<T> Request<T> {
    /// In a handler: calls to whoever called, by the same connection; see [`Channel::from_connection`].
    pub fn channel(&self) -> Option<Channel> {
        self.connection().map(Channel::from_connection)
    }
}

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
        Along::show(self.along.as_deref(), &mut shown);
        shown.finish()
    }
}

/// A reply: a message, or a stream of them.
#[derive(Clone)]
pub struct Response<T> {
    message: T,
    along: Option<Box<Along>>,
}

impl<T> Response<T> {
    /// A reply with nothing but its message.
    #[inline]
    pub fn new(message: T) -> Self {
        Self { message, along: None }
    }

    #[inline]
    pub(crate) fn received(message: T, prefix: Option<Prefix>) -> Self {
        Self { message, along: prefix.and_then(|prefix| prefix.along) }
    }

    /// All that it consists of.
    pub(crate) fn apart(self) -> (T, Option<Box<Along>>) {
        (self.message, self.along)
    }

    pub(crate) fn together(message: T, along: Option<Box<Along>>) -> Self {
        Self { message, along }
    }

    #[inline]
    pub(crate) fn metadata_if_any(&self) -> Option<&Metadata> {
        Along::sent(self.along.as_deref())
    }

    /// What goes along with the reply. Empty if the peer is Go.
    pub fn metadata(&self) -> &Metadata {
        Along::metadata(self.along.as_deref())
    }

    /// What goes along with the reply, to be changed. It is not sent to a Go peer, whose wire has no room for it.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        Along::metadata_mut(&mut self.along)
    }

    /// Values that belong to the reply at this end, one of each type: what a handler tells the
    /// [middleware](crate::Middleware) around it, and that of a client its caller. They are never sent.
    pub fn extensions(&self) -> &Extensions {
        Along::extensions(self.along.as_deref())
    }

    /// As [`extensions`](Self::extensions), to be changed.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        Along::extensions_mut(&mut self.along)
    }

    /// The message, shared.
    #[inline]
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// The message, to be changed.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// The message.
    #[inline]
    pub fn into_inner(self) -> T {
        self.message
    }

    /// The same reply with another message.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Response<U> {
        Response { message: map(self.message), along: self.along }
    }
}

impl<T: fmt::Debug> fmt::Debug for Response<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Response");
        shown.field("message", &self.message);
        Along::show(self.along.as_deref(), &mut shown);
        shown.finish()
    }
}

impl<T> From<T> for Response<T> {
    fn from(message: T) -> Self {
        Self::new(message)
    }
}

/// What client methods take: a message, or a [`Request`] with one.
pub trait IntoRequest<T> {
    /// The request.
    fn into_request(self) -> Request<T>;
}

impl<T> IntoRequest<T> for T {
    #[inline]
    fn into_request(self) -> Request<T> {
        Request::new(self)
    }
}

impl<T> IntoRequest<T> for Request<T> {
    #[inline]
    fn into_request(self) -> Request<T> {
        self
    }
}

/// What client methods that stream requests take: a stream of messages, or a [`Request`] with one.
///
/// [`iter`](crate::iter) makes a stream of anything that can be iterated over, and
/// [`RequestStream::channel`](crate::RequestStream::channel) one that is fed from elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream of requests",
    label = "not a `Stream` that is `Send` and `'static`, nor a `Request` with one",
    note = "a `Vec`, or any other iterator, becomes a stream by `frpc::iter(…)`"
)]
pub trait IntoStreamingRequest {
    /// The stream.
    type Stream: Stream<Item = Self::Message> + Send + 'static;
    /// Its messages.
    type Message;

    /// The request.
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

    #[test]
    fn what_is_shown_of_requests_and_replies_is_what_there_is_without_secrets() {
        assert_eq!(format!("{:?}", Response::new(7)), "Response { message: 7 }");
        let mut request = Request::new("hello");
        assert_eq!(format!("{request:?}"), "Request { message: \"hello\" }");
        request.set_timeout(Duration::from_secs(1));
        request.metadata_mut().insert("authorization", "Bearer abc").unwrap();
        let shown = "Request { message: \"hello\", timeout: 1s, metadata: {\"authorization\": <sensitive>} }";
        assert_eq!(format!("{request:?}"), shown);
    }
}
