//! Streams of outgoing messages: the responses of a handler and the requests of a client.

use super::try_send::TrySendError;
use crate::Status;
use crate::debug::opaque_debug;
use frisbee::{CloseReason, Connection};
use futures_core::Stream;
use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::sync::{Semaphore, mpsc};

/// The stream of responses that a handler returns.
///
/// ```
/// use frpc::{ResponseStream, Status};
///
/// // From any stream:
/// let numbers: ResponseStream<u64> = ResponseStream::new(frpc::iter((1..=3).map(Ok)));
/// // Or with a sender:
/// let (sender, numbers) = ResponseStream::<u64>::channel(16);
/// ```
pub struct ResponseStream<M>(Source<Result<M, Status>>);

/// Sender of a [`ResponseStream`] or [`RequestStream`]. The stream ends when all its senders are dropped.
pub struct MessageSender<T>(mpsc::Sender<T>, Arc<SenderConnection>);

/// Sender of a [`ResponseStream`]. Sends response messages, or an error that fails the call.
pub type ResponseSender<M> = MessageSender<Result<M, Status>>;

/// A stream of requests that are sent by a [`RequestSender`].
///
/// ```
/// use samples::greeter::{GreeterClient, Name};
/// use frpc::RequestStream;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = GreeterClient::connect(samples::started::greeter().await?).await?;
/// let (sender, names) = RequestStream::channel(16);
/// tokio::spawn(async move {
///     for name in ["Ada", "Grace"] {
///         // An error means that the call has ended.
///         if sender.send(Name { name: name.to_owned() }).await.is_err() {
///             return;
///         }
///     }
///     // Dropping the sender ends the request stream.
/// });
/// let mut greetings = client.greet_all(names).await?.into_inner();
/// assert_eq!(greetings.message().await?.expect("stream should yield a greeting").text, "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
pub struct RequestStream<M>(mpsc::Receiver<M>, Arc<SenderConnection>);

/// Sender of a [`RequestStream`], which sends request messages.
pub type RequestSender<M> = MessageSender<M>;

/// Argument of [`ResponseStream::new`]: a [`Stream`] whose items are response messages or errors that fail the call.
/// Implemented for every such stream.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream of responses",
    label = "not a `Stream` whose items are `Result<_, Status>` and that is `Send` and `'static`",
    note = "use `frpc::iter(…)` to convert a `Vec` or another iterator to a stream; each item is `Ok(message)`, or \
            `Err(status)` to fail the call"
)]
pub trait Responses<M>: Stream<Item = Result<M, Status>> + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<M, S: Stream<Item = Result<M, Status>> + Send + 'static> Responses<M> for S {}

enum Source<T> {
    Boxed(Pin<Box<dyn Stream<Item = T> + Send>>),
    Channel(mpsc::Receiver<T>, Arc<SenderConnection>),
}

/// Connection that carries the messages of a stream, once it is known. Used to report why the receiver was dropped.
struct SenderConnection {
    connection: OnceLock<Connection>,
    is_of_replies: bool,
}

impl SenderConnection {
    fn set(&self, connection: &Connection) {
        let _ = self.connection.set(connection.clone());
    }

    /// Returns a status with the reason why the receiver was dropped.
    fn over(&self) -> Status {
        match (self.connection.get().and_then(Connection::close_reason), self.is_of_replies) {
            (None | Some(CloseReason::ClosedByPeer | CloseReason::PeerClosed { .. }), true) => {
                Status::cancelled("the caller is gone")
            }
            (None, false) => Status::cancelled("the call has ended"),
            (Some(reason), _) => Status::unavailable(format!("the connection was lost: {reason}")),
        }
    }
}

impl<M> ResponseStream<M> {
    /// Creates a stream of responses from any stream of results. The first error fails the call.
    pub fn new(stream: impl Responses<M>) -> Self {
        Self(Source::Boxed(Box::pin(stream)))
    }

    /// Creates a stream and its sender, with a buffer for `capacity` messages. The minimum capacity is one.
    ///
    /// ```
    /// use frpc::{Response, ResponseStream, Status};
    ///
    /// async fn count() -> Result<Response<ResponseStream<u32>>, Status> {
    ///     let (sender, stream) = ResponseStream::channel(16);
    ///     tokio::spawn(async move {
    ///         for number in 1..=3 {
    ///             sender.send(Ok(number)).await?;
    ///         }
    ///         Ok::<(), Status>(())
    ///     });
    ///     Ok(Response::new(stream))
    /// }
    /// ```
    pub fn channel(capacity: usize) -> (ResponseSender<M>, Self) {
        let (sender, receiver, carrier) = MessageSender::channel(capacity, true);
        (sender, Self(Source::Channel(receiver, carrier)))
    }

    /// Records the connection that carries the messages of this stream.
    pub(crate) fn carried_by(&self, connection: &Connection) {
        if let Source::Channel(_, carrier) = &self.0 {
            carrier.set(connection);
        }
    }
}

impl<T> MessageSender<T> {
    fn channel(capacity: usize, is_of_replies: bool) -> (Self, mpsc::Receiver<T>, Arc<SenderConnection>) {
        let (sender, receiver) = mpsc::channel(capacity.clamp(1, Semaphore::MAX_PERMITS));
        let carrier = Arc::new(SenderConnection { connection: OnceLock::new(), is_of_replies });
        (Self(sender, carrier.clone()), receiver, carrier)
    }

    /// Sends an item, waiting for space in the buffer if necessary. If a handler sends an error, the call fails.
    ///
    /// # Errors
    /// [`Cancelled`](crate::Code::Cancelled) if the call has ended, was cancelled by its caller, or its caller has
    /// disconnected. [`Unavailable`](crate::Code::Unavailable) if the connection was lost.
    ///
    /// # Cancel safety
    /// Dropping the future before it completes sends nothing.
    pub async fn send(&self, item: T) -> Result<(), Status> {
        self.0.send(item).await.map_err(|_| self.1.over())
    }

    /// Attempts to send an item without waiting. Fails if the buffer is full.
    ///
    /// # Errors
    /// [`TrySendError::Full`] if the buffer is full, and [`TrySendError::Closed`] if the receiver was dropped. Both
    /// contain the item, and the latter also the status that [`send`](Self::send) would return.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(item).map_err(|error| TrySendError::new(error, || self.1.over()))
    }

    /// Waits until the receiver is dropped because the peer no longer reads or the call has ended.
    ///
    /// # Cancel safety
    /// Safe. If the future is dropped, the method can be called again.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

impl<M> RequestStream<M> {
    /// Creates a stream and its sender, with a buffer for `capacity` messages. The minimum capacity is one.
    ///
    /// ```
    /// use frpc::RequestStream;
    ///
    /// let (sender, numbers) = RequestStream::<u32>::channel(16);
    /// // `numbers` is the argument of a streaming call.
    /// ```
    pub fn channel(capacity: usize) -> (RequestSender<M>, Self) {
        let (sender, receiver, carrier) = MessageSender::channel(capacity, false);
        (sender, Self(receiver, carrier))
    }
}

/// Records the connection that carries the requests of a [`RequestStream`]. Does nothing for other types of streams.
pub(crate) fn carried_by<S: Stream + 'static>(messages: &S, connection: &Connection)
where
    S::Item: 'static,
{
    // Only a `RequestStream` has a sender that needs the connection.
    if let Some(RequestStream(_, carrier)) = (messages as &dyn Any).downcast_ref::<RequestStream<S::Item>>() {
        carrier.set(connection);
    }
}

/// Creates a stream from an iterator. All its items are ready immediately.
///
/// ```
/// use samples::greeter::{Greeting, Name};
/// use frpc::{Request, ResponseStream};
///
/// // The items of a request stream are messages.
/// let names = Request::new(frpc::iter(["Ada", "Grace"].map(|name| Name { name: name.to_owned() })));
/// // The items of a response stream are results, because an error fails the call.
/// let texts = (1..=3).map(|n| Ok(Greeting { text: format!("Hello {n}") }));
/// let greetings = ResponseStream::new(frpc::iter(texts));
/// ```
pub fn iter<I: IntoIterator>(items: I) -> Iter<I::IntoIter> {
    Iter(items.into_iter())
}

/// Stream over the items of an iterator, created by [`iter`].
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
            Source::Channel(receiver, _) => receiver.poll_recv(context),
        }
    }
}

impl<M> Stream for RequestStream<M> {
    type Item = M;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<M>> {
        self.0.poll_recv(context)
    }
}

impl<T> Clone for MessageSender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), self.1.clone())
    }
}

opaque_debug!([M] ResponseStream<M>, "ResponseStream");

opaque_debug!([T] MessageSender<T>, "MessageSender");

opaque_debug!([M] RequestStream<M>, "RequestStream");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_accepts_any_capacity() {
        for capacity in [0, usize::MAX] {
            let (_sender, _stream) = ResponseStream::<u32>::channel(capacity);
            let (_sender, _stream) = RequestStream::<u32>::channel(capacity);
        }
    }
}
