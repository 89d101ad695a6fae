//! Streams that users make: replies of a handler, requests of a client.

use crate::Status;
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The messages with which a handler answers.
///
/// ```
/// use frpc::{ResponseStream, Status};
///
/// // From anything that is a stream:
/// let numbers: ResponseStream<u64> = ResponseStream::new(frpc::iter((1..=3).map(Ok)));
/// // Or fed by a task:
/// let (sender, numbers) = ResponseStream::<u64>::channel(16);
/// ```
pub struct ResponseStream<M>(Source<Result<M, Status>>);

/// Feeds a [`ResponseStream`].
pub struct ResponseSender<M>(mpsc::Sender<Result<M, Status>>);

/// The messages that a client streams, fed by a [`RequestSender`].
pub struct RequestStream<M>(mpsc::Receiver<M>);

/// Feeds a [`RequestStream`]. Dropping it ends the stream.
pub struct RequestSender<M>(mpsc::Sender<M>);

enum Source<T> {
    Boxed(Pin<Box<dyn Stream<Item = T> + Send>>),
    Channel(mpsc::Receiver<T>),
}

impl<M> ResponseStream<M> {
    /// Answers with the items of a stream. The first error fails the call.
    pub fn new(stream: impl Stream<Item = Result<M, Status>> + Send + 'static) -> Self {
        Self(Source::Boxed(Box::pin(stream)))
    }

    /// A stream that is fed from elsewhere and holds up to `capacity` messages, at least one.
    pub fn channel(capacity: usize) -> (ResponseSender<M>, Self) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        (ResponseSender(sender), Self(Source::Channel(receiver)))
    }
}

impl<M> ResponseSender<M> {
    /// Sends a message, or an error that fails the call, once there is room.
    ///
    /// # Errors
    /// If the caller is no longer there.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn send(&self, item: Result<M, Status>) -> Result<(), Status> {
        self.0.send(item).await.map_err(|_| Status::cancelled("the caller is gone"))
    }

    /// Waits until the caller is no longer there.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

impl<M> RequestStream<M> {
    /// A stream that is fed from elsewhere and holds up to `capacity` messages, at least one.
    pub fn channel(capacity: usize) -> (RequestSender<M>, Self) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        (RequestSender(sender), Self(receiver))
    }
}

impl<M> RequestSender<M> {
    /// Sends a message once there is room.
    ///
    /// # Errors
    /// If the call is over.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn send(&self, message: M) -> Result<(), Status> {
        self.0.send(message).await.map_err(|_| Status::cancelled("the call is over"))
    }

    /// Waits until the call is over, or wants to hear no more.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// A stream of what an iterator yields, all of it ready.
pub fn iter<I: IntoIterator>(items: I) -> Iter<I::IntoIter> {
    Iter(items.into_iter())
}

/// See [`iter`].
#[derive(Clone, Debug)]
pub struct Iter<I>(I);

impl<I> Unpin for Iter<I> {}

impl<I: Iterator> Stream for Iter<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<M> Stream for ResponseStream<M> {
    type Item = Result<M, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Source::Boxed(stream) => stream.as_mut().poll_next(context),
            Source::Channel(receiver) => receiver.poll_recv(context),
        }
    }
}

impl<M> Stream for RequestStream<M> {
    type Item = M;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        self.0.poll_recv(context)
    }
}

impl<M> Clone for ResponseSender<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Clone for RequestSender<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> fmt::Debug for ResponseStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseStream").finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for ResponseSender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseSender").finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for RequestStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestStream").finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for RequestSender<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSender").finish_non_exhaustive()
    }
}
