//! Messages with what goes along with them.

use crate::Channel;
use crate::hand_off::HandOff;
use crate::metadata::Metadata;
use crate::prefix::Prefix;
use frisbee::Connection;
use futures_core::Stream;
use std::net::SocketAddr;
use std::time::Duration;

/// What a message without metadata has.
pub(crate) static NONE: Metadata = Metadata::new();

/// A request: a message, or a stream of them, and how the call is to be made or came in.
#[derive(Clone, Debug)]
pub struct Request<T> {
    message: T,
    timeout: Option<Duration>,
    origin: Origin,
    metadata: Option<Box<Metadata>>,
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
        Self { message, timeout: None, origin: Origin::Here, metadata: None }
    }

    #[inline]
    pub(crate) fn received(message: T, origin: Origin, prefix: Option<Box<Prefix>>) -> Self {
        match prefix {
            None => Self { message, timeout: None, origin, metadata: None },
            Some(prefix) => Self { message, timeout: prefix.timeout, origin, metadata: prefix.metadata },
        }
    }

    /// All that it consists of.
    pub(crate) fn apart(self) -> (T, Option<Duration>, Origin, Option<Box<Metadata>>) {
        (self.message, self.timeout, self.origin, self.metadata)
    }

    pub(crate) fn together(
        message: T,
        timeout: Option<Duration>,
        origin: Origin,
        metadata: Option<Box<Metadata>>,
    ) -> Self {
        Self { message, timeout, origin, metadata }
    }

    /// The message, and the metadata that goes with it.
    pub(crate) fn into_parts(self) -> (T, Option<Box<Metadata>>) {
        (self.message, self.metadata)
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

    /// The same request with another message.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Request<U> {
        Request { message: map(self.message), timeout: self.timeout, origin: self.origin, metadata: self.metadata }
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
        self.metadata.as_deref().unwrap_or(&NONE)
    }

    /// What goes along with the request, to be changed. It is not sent to a Go peer, whose wire has no room for it.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        self.metadata.get_or_insert_default()
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
    /// [extensions](Connection::extensions) are what handlers, streams and mounted routers know in common of it.
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

/// A reply: a message, or a stream of them.
#[derive(Clone, Debug)]
pub struct Response<T> {
    message: T,
    metadata: Option<Box<Metadata>>,
}

impl<T> Response<T> {
    /// A reply with nothing but its message.
    #[inline]
    pub fn new(message: T) -> Self {
        Self { message, metadata: None }
    }

    #[inline]
    pub(crate) fn received(message: T, prefix: Option<Prefix>) -> Self {
        Self { message, metadata: prefix.and_then(|prefix| prefix.metadata) }
    }

    /// All that it consists of.
    pub(crate) fn apart(self) -> (T, Option<Box<Metadata>>) {
        (self.message, self.metadata)
    }

    pub(crate) fn together(message: T, metadata: Option<Box<Metadata>>) -> Self {
        Self { message, metadata }
    }

    #[inline]
    pub(crate) fn metadata_if_any(&self) -> Option<&Metadata> {
        self.metadata.as_deref()
    }

    /// What goes along with the reply. Empty if the peer is Go.
    pub fn metadata(&self) -> &Metadata {
        self.metadata.as_deref().unwrap_or(&NONE)
    }

    /// What goes along with the reply, to be changed. It is not sent to a Go peer, whose wire has no room for it.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        self.metadata.get_or_insert_default()
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
        Response { message: map(self.message), metadata: self.metadata }
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
