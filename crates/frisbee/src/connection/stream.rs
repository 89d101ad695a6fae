//! Streams: messages in both directions, multiplexed over a connection.

mod batch;
mod guard;
pub(crate) mod io;
#[cfg(all(test, not(frisbee_loom)))]
mod tests;

use crate::connection::ConnectionExt;
use crate::connection::{Connection, ConnectionShared};
use crate::debug::opaque_debug;
use crate::mailbox::Waiter;
use crate::mailbox::inbox::Message;
use crate::mailbox::permits::PermitPlace;
use crate::mailbox::stream::{ReadBatch, StreamBytes, StreamEnd, StreamShared};
use crate::sync::wake_all;
use crate::{Operation, Outbox, PacketId, PeerKind, SendError, TrySendError};
pub use batch::StreamBatch;
use bytes::Bytes;
use frisbee_core::{StreamSignal, StreamState, extension};
pub use guard::StreamWaiter;
use guard::{Guard, StreamPlaces};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// gRPC status codes that this end sends when it resets a stream.
pub(crate) const CANCELLED: u32 = 1;
pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;

/// A stream of messages in both directions.
///
/// Messages are received whole and in order. If both peers support the [protocol extension](PeerKind), each direction
/// [ends](Stream::end) separately, and the stream is over when both have ended. With a Go peer, either peer can close
/// the stream, which ends both directions. A sender must wait if the receiver does not read: by default, at most 256
/// KiB are in flight.
///
/// Dropping the stream, or both of its halves, closes it. The peer can still read messages that it has already
/// received.
///
/// ```
/// use bytes::Bytes;
/// use frisbee::{Client, Handlers, SendError, Server, Stream, StreamEnd, memory};
///
/// /// Sends back each message in capitals, and ends its direction after the peer has ended the other.
/// async fn shout(mut stream: Stream) -> Result<(), SendError> {
///     while let Some(message) = stream.recv().await {
///         stream.send(&message.to_ascii_uppercase().into()).await?;
///     }
///     stream.end();
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let router = Handlers::new().on_stream(|_first, stream| drop(tokio::spawn(shout(stream))));
/// let acceptor = Server::builder().build(router)?;
/// let (here, there) = memory();
/// tokio::spawn(async move { acceptor.serve_connection(there).await });
///
/// let connection = Client::builder().connect_io(here, Handlers::new()).await?;
/// // The first message opens the stream; the server's router gets it as `_first`.
/// let mut stream = connection.open_stream(&Bytes::from_static(b"shout")).await?;
/// stream.send(&Bytes::from_static(b"hello")).await?;
/// stream.end();
/// assert_eq!(stream.recv().await.as_deref(), Some(&b"HELLO"[..]));
/// assert_eq!(stream.recv().await, None);
/// assert_eq!(stream.close_reason(), StreamEnd::Ended);
/// # Ok(())
/// # }
/// ```
pub struct Stream(Arc<Guard>, ReadBatch);

/// The sending half of a stream. Clones send on the same stream.
#[derive(Clone)]
pub struct StreamSender(Arc<Guard>);

/// The receiving half of a stream.
pub struct StreamReceiver(Arc<Guard>, ReadBatch);

impl ConnectionShared {
    /// Creates the state of a new stream.
    pub(crate) fn stream(&self, id: PacketId, peer: &PeerKind, opened_here: bool) -> StreamShared {
        StreamShared::new(id, self.mailbox.account.clone(), self.stream_credit, peer, opened_here)
    }
}

/// A stream being opened. The opener waits for space in the outbox and for the peer's permission to open another
/// stream.
pub(crate) struct StreamOpening<'a> {
    room: Waiter<'a>,
    slot: PermitPlace,
}

impl<'a> StreamOpening<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { room: connection.waiter(), slot: PermitPlace::default() }
    }
}

impl Drop for StreamOpening<'_> {
    fn drop(&mut self) {
        if self.slot.has_waited() {
            self.room.mailbox().leave_slot(&mut self.slot);
        }
    }
}

impl Stream {
    /// Opens a stream once the peer permits another one and the outbox has space.
    pub(crate) fn poll_open(
        connection: &Arc<ConnectionShared>,
        first: &Bytes,
        context: &mut Context<'_>,
        opening: &mut StreamOpening<'_>,
    ) -> Poll<Result<Self, SendError>> {
        if first.is_empty() {
            return Poll::Ready(Err(SendError::Empty));
        }
        let mut inner = connection.mailbox.lock();
        inner.check_open()?;
        let StreamOpening { room, slot } = opening;
        let mailbox = &connection.mailbox;
        inner.update_charge(&mailbox.account);
        // Wait for space before taking a permit, because other tasks could use the permit in the meantime.
        if inner.is_full(mailbox.backlog_max()) || inner.waiters.is_early(&room.place) {
            mailbox.wait_for_room(inner, Some(context), &mut room.place);
            return Poll::Pending;
        }
        let peer = inner.peer.clone();
        let free = inner.streams.free(&peer);
        if !inner.openers.take(slot, free) {
            let earlier = inner.openers.enter(slot, context);
            drop(inner);
            drop(earlier);
            return Poll::Pending;
        }
        let mut opened = None;
        let id = inner.streams.enter(connection.role, &peer, |id| {
            let shared = Arc::new(connection.stream(id, &peer, true));
            opened = Some(shared.clone());
            shared
        });
        let (Some(id), Some(shared)) = (id, opened) else {
            // All ids are in use, although the peer does not limit its number of streams. Wait until a stream ends.
            let earlier = inner.openers.enter(slot, context);
            drop(inner);
            drop(earlier);
            return Poll::Pending;
        };
        let mut packet = inner.outbox.packet(id, Operation::STREAM);
        packet.put_shared(first);
        if let Err(error) = packet.finish() {
            // The peer does not know of the stream yet, so it is enough to remove it from the table.
            let openers = inner.leave_stream(&shared);
            drop(inner);
            mailbox.notify();
            wake_all(openers);
            return Poll::Ready(Err(error.into()));
        }
        inner.charge(&mailbox.account);
        let entered = room.place.has_waited().then(|| inner.waiters.leave(&mut room.place));
        drop(inner);
        drop(entered);
        mailbox.notify();
        Poll::Ready(Ok(Self::new(connection.clone(), shared)))
    }

    pub(crate) fn new(connection: Arc<ConnectionShared>, shared: Arc<StreamShared>) -> Self {
        if !shared.opened_here {
            connection.peer_streams.fetch_add(1, Ordering::Relaxed);
        }
        Self(Arc::new(Guard { connection, shared }), ReadBatch::default())
    }

    /// Returns the id of the stream on its connection.
    pub fn id(&self) -> PacketId {
        self.0.shared.id
    }

    /// Returns the connection of the stream.
    pub fn connection(&self) -> Connection {
        Connection(self.0.connection.clone())
    }

    /// Returns whether the peer supports the protocol extension. Without it, one direction of the stream cannot be
    /// ended separately.
    pub fn is_native(&self) -> bool {
        self.0.shared.is_native
    }

    /// Sends a message. Waits until the receiver has granted credit and the outbox has space.
    ///
    /// # Errors
    /// If the stream or the connection has ended, or the message is too long. With a Go peer, also if the message is
    /// empty, because this would close the stream.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, nothing is sent.
    pub async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        self.0.send(message).await
    }

    /// Sends a message without waiting. Fails if the receiver has granted no credit or the outbox is full.
    ///
    /// # Errors
    /// [`TrySendError::Full`] if there is no space. Otherwise like [`send`](Self::send).
    pub fn try_send(&self, message: &Bytes) -> Result<(), TrySendError> {
        self.0.try_send(message)
    }

    /// Receives the next message. Returns `None` when no more messages will arrive;
    /// [`close_reason`](Self::close_reason) then returns the reason.
    ///
    /// # Cancel safety
    /// Dropping the future loses no message.
    pub async fn recv(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// Polls for the next message, like [`recv`](Self::recv).
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_recv_with(&mut self.1, context, into_bytes)
    }

    /// Returns the reason why no more messages will arrive. Call after [`recv`](Self::recv) has returned `None`.
    pub fn close_reason(&self) -> StreamEnd {
        self.0.shared.close_reason()
    }

    /// Ends the sending direction of the stream. Has no effect with a Go peer, which does not support this.
    pub fn end(&self) {
        self.0.end();
    }

    /// Closes both directions of the stream. The peer can still read messages that were sent before.
    pub fn close(&self) {
        self.0.leave();
    }

    /// Like [`close`](Self::close), but sends a reason to peers that support it: a gRPC status code and a text.
    pub fn reset(&self, code: u32, message: &str) {
        self.0.close(code, message);
    }

    /// Removes the stream without notifying the peer, which considers the stream closed already.
    pub fn forget(self) {
        self.0.forget();
    }

    /// Creates an additional sending half of the stream.
    pub fn sender(&self) -> StreamSender {
        StreamSender(self.0.clone())
    }

    /// Splits the stream into halves that can be moved to different tasks.
    ///
    /// ```
    /// # async fn example(stream: frisbee::Stream) -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, mut receiver) = stream.split();
    /// while let Some(message) = receiver.recv().await {
    ///     sender.send(&message).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn split(self) -> (StreamSender, StreamReceiver) {
        (StreamSender(self.0.clone()), StreamReceiver(self.0, self.1))
    }
}

impl StreamSender {
    /// Sends a message, like [`Stream::send`].
    ///
    /// # Errors
    /// Same as [`Stream::send`].
    ///
    /// # Cancel safety
    /// Same as [`Stream::send`].
    pub async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        self.0.send(message).await
    }

    /// Sends a message without waiting, like [`Stream::try_send`].
    ///
    /// # Errors
    /// Same as [`Stream::try_send`].
    pub fn try_send(&self, message: &Bytes) -> Result<(), TrySendError> {
        self.0.try_send(message)
    }

    /// Creates a waiter for sending on the stream or for the stream's end. Dropping the waiter removes its wakers.
    ///
    /// ```
    /// use frisbee::{SendError, StreamSender};
    /// use std::future::poll_fn;
    ///
    /// /// Encodes a message in place.
    /// async fn send_number(sender: &StreamSender, number: u32) -> Result<(), SendError> {
    ///     let mut waiter = sender.waiter();
    ///     let sent = poll_fn(|context| {
    ///         waiter.poll_send(context, |mut packet| {
    ///             packet.put_slice(&number.to_be_bytes());
    ///             packet.finish()
    ///         })
    ///     });
    ///     Ok(sent.await??)
    /// }
    /// ```
    pub fn waiter(&self) -> StreamWaiter<'_> {
        self.0.waiter()
    }

    /// Sends HEADERS, a packet of metadata that precedes the first message. HEADERS require neither credit nor space in
    /// the outbox. May be called at most once. Has no effect with a Go peer, which does not support this.
    ///
    /// # Errors
    /// If the stream or the connection has ended, or the items exceed 64 KiB.
    pub fn send_headers(&self, items: &[u8]) -> Result<(), SendError> {
        let shared = &self.0.shared;
        if !shared.is_native {
            return Ok(());
        }
        let written = self.0.connection.mailbox.write(|outbox| {
            // Check the state under the mailbox lock, which `write` holds. Ending the stream takes it too, so HEADERS
            // cannot be queued after the end of the stream.
            shared.inner.lock().check_open()?;
            Ok(outbox.push_stream_items(extension::HEADERS, shared.id, |_| items.to_vec())?)
        });
        written.and_then(|written| written)
    }

    /// Ends the sending direction with TRAILERS, a packet of metadata and a status. TRAILERS require neither credit nor
    /// space in the outbox. `items` receives the maximum length of the metadata in bytes, which is 64 KiB, or less if
    /// memory is short, and returns the encoded metadata. Longer metadata is omitted.
    pub fn end_with(&self, items: impl FnOnce(usize) -> Vec<u8>) {
        self.0.change(StreamState::end, |id, _, outbox| {
            if outbox.push_stream_items(extension::TRAILERS, id, items).is_err() {
                // The peer must be notified of the end even if the items are too long.
                StreamSignal::End.put(outbox, id, 0, "");
            }
        });
    }

    /// Calls `write` with the outbox immediately, regardless of the backlog, for short messages that must not wait.
    /// `write` must write one message, as a packet with the given id and the operation [`Operation::STREAM`].
    ///
    /// # Errors
    /// If the stream or the connection has ended.
    pub fn send_now<T>(&self, write: impl FnOnce(&mut Outbox, PacketId) -> T) -> Result<T, SendError> {
        let shared = &self.0.shared;
        let written = self.0.connection.mailbox.write(|outbox| {
            // Hold both locks until the message is appended. Otherwise, the stream could end in between, and the
            // message would follow its end.
            let mut inner = shared.inner.lock();
            inner.check_open()?;
            Ok(inner.spending(outbox, |outbox| write(outbox, shared.id)))
        });
        written.and_then(|written| written)
    }

    /// Returns the total size in bytes of the messages sent and received so far.
    pub fn bytes(&self) -> StreamBytes {
        self.0.shared.bytes()
    }

    /// Returns whether the peer supports the protocol extension. Without it, one direction of the stream cannot be
    /// ended separately.
    pub fn is_native(&self) -> bool {
        self.0.shared.is_native
    }

    /// Ends the sending direction, like [`Stream::end`].
    pub fn end(&self) {
        self.0.end();
    }

    /// Closes the stream, like [`Stream::close`].
    pub fn close(&self) {
        self.0.leave();
    }

    /// Closes the stream with a reason, like [`Stream::reset`].
    pub fn reset(&self, code: u32, message: &str) {
        self.0.close(code, message);
    }

    /// Waits until the stream has ended, because either end closed it or its connection ended.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called any number of times.
    pub async fn closed(&self) {
        let mut waiter = self.waiter();
        poll_fn(|context| waiter.poll_closed(context)).await;
    }

    /// Returns whether both directions of the stream have ended, or its connection has ended.
    pub fn is_over(&self) -> bool {
        self.0.shared.is_over()
    }

    /// Returns whether messages can no longer be sent on the stream.
    pub fn is_closed(&self) -> bool {
        !self.0.shared.inner.lock().state.sends()
    }
}

impl StreamReceiver {
    /// Receives the next message, like [`Stream::recv`].
    ///
    /// # Cancel safety
    /// Same as [`Stream::recv`].
    pub async fn recv(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// Polls for the next message, like [`recv`](Self::recv).
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.poll_recv_with(context, into_bytes)
    }

    /// Like [`poll_recv`](Self::poll_recv), but passes the message to `read` without copying it.
    pub fn poll_recv_with<T>(
        &mut self,
        context: &mut Context<'_>,
        read: impl FnOnce(Message<'_>) -> T,
    ) -> Poll<Option<T>> {
        self.0.poll_recv_with(&mut self.1, context, read)
    }

    /// Returns the next message if it is shorter than 128 bytes and the task need not yield to others first. This is
    /// the fast path for streams of many short messages. Consume the message with [`skip_short`](Self::skip_short). If
    /// this returns `None`, use [`poll_recv_with`](Self::poll_recv_with).
    #[inline(always)]
    pub fn peek_short(&self) -> Option<&[u8]> {
        self.1.inbox.peek_short()
    }

    /// Consumes the message of `length` bytes that [`peek_short`](Self::peek_short) returned.
    #[inline(always)]
    pub fn skip_short(&mut self, length: usize) {
        self.1.inbox.skip_short(length);
        if self.1.count(length) {
            self.0.account(&mut self.1);
        }
    }

    /// Takes the metadata items of the peer's [HEADERS](StreamSender::send_headers), if they have arrived. When they
    /// arrive, a task that is waiting for a message is woken.
    pub fn take_headers(&self) -> Option<Bytes> {
        self.0.shared.take_items(false)
    }

    /// Takes the metadata items of the peer's [TRAILERS](StreamSender::end_with), if the peer ended the stream with
    /// them.
    pub fn take_trailers(&self) -> Option<Bytes> {
        self.0.shared.take_items(true)
    }

    /// Returns the reason why no more messages will arrive, like [`Stream::close_reason`].
    pub fn close_reason(&self) -> StreamEnd {
        self.0.shared.close_reason()
    }

    /// Returns the total size in bytes of the messages sent and received so far.
    pub fn bytes(&self) -> StreamBytes {
        self.0.shared.bytes()
    }

    /// Returns whether the peer supports the protocol extension, like [`Stream::is_native`].
    pub fn is_native(&self) -> bool {
        self.0.shared.is_native
    }

    /// Returns the connection of the stream, like [`Stream::connection`].
    pub fn connection(&self) -> Connection {
        Connection(self.0.connection.clone())
    }

    /// Closes the stream, like [`Stream::close`].
    pub fn close(&self) {
        self.0.leave();
    }

    /// Removes and returns the wakers of the tasks that wait for the end of the stream in
    /// [`StreamWaiter::poll_closed`]. The caller must wake them, for example after it has passed the receiver to one of
    /// these tasks.
    pub fn take_waiters(&self) -> Vec<Waker> {
        self.0.shared.take_watchers()
    }
}

// A function, because `Message::into_bytes` itself does not implement `FnOnce` for every lifetime.
fn into_bytes(message: Message<'_>) -> Bytes {
    message.into_bytes()
}

opaque_debug!([] Stream, "Stream", |this| id = this.0.shared.id);

opaque_debug!([] StreamSender, "StreamSender", |this| id = this.0.shared.id);

opaque_debug!([] StreamWaiter<'_>, "StreamWaiter", |this| id = this.guard.shared.id);

opaque_debug!([] StreamReceiver, "StreamReceiver", |this| id = this.0.shared.id);
