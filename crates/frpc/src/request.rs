//! Messages with what goes along with them.

use futures_core::Stream;
use std::net::SocketAddr;
use std::time::Duration;

/// A request: a message, or a stream of them, and how the call is to be made or came in.
#[derive(Clone, Debug)]
pub struct Request<T> {
    message: T,
    timeout: Option<Duration>,
    peer: Option<SocketAddr>,
}

impl<T> Request<T> {
    /// A request with nothing but its message.
    #[inline]
    pub fn new(message: T) -> Self {
        Self { message, timeout: None, peer: None }
    }

    #[inline]
    pub(crate) fn received(message: T, peer: Option<SocketAddr>) -> Self {
        Self { message, timeout: None, peer }
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
        Request { message: map(self.message), timeout: self.timeout, peer: self.peer }
    }

    /// Sets how long the call may take, instead of the channel's default.
    ///
    /// It is enforced here, whatever the peer does: the call fails with
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded).
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    /// How long the call may take, if that has been set.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// In a handler: the address of the peer, if its transport has one.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        self.peer
    }
}

/// A reply: a message, or a stream of them.
#[derive(Clone, Debug)]
pub struct Response<T> {
    message: T,
}

impl<T> Response<T> {
    /// A reply with nothing but its message.
    #[inline]
    pub fn new(message: T) -> Self {
        Self { message }
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
        Response { message: map(self.message) }
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
