//! Streams: a sequence of messages each way beside everything else on the connection.

use crate::connection::Shared as ConnectionShared;
use crate::mailbox::Inner;
use crate::{Frame, Operation, Outbox, PacketId, SendError};
use bytes::Bytes;
use frisbee_core::StreamState;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

/// What a message that waits to be read is charged on top of its length, in bytes: what a place in a queue and a
/// reference-counted buffer take.
const MESSAGE_OVERHEAD: usize = 64;

/// Messages below this length are copied out of the read buffer before they wait, in bytes, lest a few bytes keep a
/// whole buffer of 64 KiB.
const COPY_BELOW: usize = 16 * 1024;

/// A stream of messages in both directions.
///
/// Messages arrive whole and in order. The first end to close it closes both directions; dropping the stream, or
/// both of its halves, closes it too. What has been received before can still be read.
pub struct Stream(Arc<Guard>);

/// The half of a stream that sends. Clones send on the same stream.
#[derive(Clone)]
pub struct StreamSender(Arc<Guard>);

/// The half of a stream that receives.
pub struct StreamReceiver(Arc<Guard>);

impl Stream {
    pub(crate) fn open(connection: &Arc<ConnectionShared>, first: &Bytes) -> Result<Self, SendError> {
        if first.is_empty() {
            return Err(SendError::Empty);
        }
        let mut opened = None;
        let mut inner = connection.mailbox.lock();
        inner.check_open()?;
        let id = inner.enter_stream(|id| {
            let shared = Arc::new(Shared::new(id, connection.budget.clone()));
            opened = Some(shared.clone());
            shared
        });
        let (Some(id), Some(shared)) = (id, opened) else { return Err(SendError::TooManyStreams) };
        let mut frame = inner.stream_frame(id);
        frame.put_shared(first);
        if let Err(error) = frame.finish() {
            inner.streams.remove(&id);
            return Err(error.into());
        }
        drop(inner);
        connection.mailbox.notify();
        Ok(Self::new(connection.clone(), shared))
    }

    pub(crate) fn new(connection: Arc<ConnectionShared>, shared: Arc<Shared>) -> Self {
        Self(Arc::new(Guard { connection, shared }))
    }

    /// The stream's id on its connection.
    pub fn id(&self) -> PacketId {
        self.0.shared.id
    }

    /// Sends a message once less than 1 MiB waits on the connection. An empty message would close the stream and is
    /// refused.
    ///
    /// # Errors
    /// If the stream or the connection has ended, or the message is empty or too long.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        self.0.send(message).await
    }

    /// Receives the next message; `None` when the stream has ended.
    ///
    /// # Cancel safety
    /// Dropping the future loses no message.
    pub async fn recv(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.0.shared.poll_recv(context)).await
    }

    /// Closes the stream in both directions. The peer can still read what was sent before.
    pub fn close(&self) {
        self.0.close();
    }

    /// Lets go of the stream without telling the peer, for packets that belong to a stream which is over.
    pub fn forget(self) {
        self.0.forget();
    }

    /// A sender for the stream.
    pub fn sender(&self) -> StreamSender {
        StreamSender(self.0.clone())
    }

    /// Parts the stream into two halves that can go separate ways.
    pub fn split(self) -> (StreamSender, StreamReceiver) {
        (StreamSender(self.0.clone()), StreamReceiver(self.0))
    }
}

impl StreamSender {
    /// As [`Stream::send`].
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        self.0.send(message).await
    }

    /// Lets `write` put one message in place, once less than 1 MiB waits on the connection.
    ///
    /// # Errors
    /// If the stream or the connection has ended. What `write` returns is handed on; it calls [`Frame::finish`].
    pub fn poll_send<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(Frame<'_>) -> T,
    ) -> Poll<Result<T, SendError>> {
        self.0.poll_send(context, write)
    }

    /// Lets `write` put messages in place, however much waits: packets of the given id and
    /// [`Operation::STREAM`]. For short messages that must not wait.
    ///
    /// # Errors
    /// If the stream or the connection has ended.
    pub fn send_now<T>(&self, write: impl FnOnce(&mut Outbox, PacketId) -> T) -> Result<T, SendError> {
        let shared = &self.0.shared;
        let written = self.0.connection.mailbox.write(|outbox| {
            shared.check_send()?;
            Ok(write(outbox, shared.id))
        });
        written.and_then(|written| written)
    }

    /// As [`Stream::close`].
    pub fn close(&self) {
        self.0.close();
    }

    /// Ready when the stream has been closed, by either end or with its connection.
    pub fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.0.shared.inner.lock();
        if inner.state != StreamState::Open {
            return Poll::Ready(());
        }
        if !inner.watcher.as_ref().is_some_and(|watcher| watcher.will_wake(context.waker())) {
            inner.watcher = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Whether the stream has ended.
    pub fn is_closed(&self) -> bool {
        self.0.shared.check_send().is_err()
    }
}

impl StreamReceiver {
    /// As [`Stream::recv`].
    pub async fn recv(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// As [`recv`](Self::recv), for hand-written futures.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.shared.poll_recv(context)
    }

    /// As [`Stream::close`].
    pub fn close(&self) {
        self.0.close();
    }

    /// Whether messages were lost because nobody read them and their memory was used up.
    pub fn overflowed(&self) -> bool {
        self.0.shared.inner.lock().overflowed
    }
}

/// Closes the stream when its last handle goes.
struct Guard {
    connection: Arc<ConnectionShared>,
    shared: Arc<Shared>,
}

impl Guard {
    async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        if message.is_empty() {
            return Err(SendError::Empty);
        }
        poll_fn(|context| {
            self.poll_send(context, |mut frame| {
                frame.put_shared(message);
                frame.finish()
            })
        })
        .await??;
        Ok(())
    }

    fn poll_send<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(Frame<'_>) -> T,
    ) -> Poll<Result<T, SendError>> {
        let sent = self.connection.mailbox.poll_write(context, |outbox| self.shared.write(outbox, write));
        sent.map(|sent| sent.and_then(|written| written))
    }

    fn forget(&self) {
        let mut inner = self.connection.mailbox.lock();
        self.shared.inner.lock().state.close();
        self.leave(&mut inner);
    }

    /// Frees the stream's id, unless a later stream has it already.
    fn leave(&self, connection: &mut Inner) {
        if connection.streams.get(&self.shared.id).is_some_and(|entered| Arc::ptr_eq(entered, &self.shared)) {
            connection.streams.remove(&self.shared.id);
        }
    }

    fn close(&self) {
        // The connection's lock is taken first, as in sending: nothing can be sent behind the closing packet.
        let mut inner = self.connection.mailbox.lock();
        let mut messages = self.shared.inner.lock();
        let tell = messages.state.close();
        let waiting = messages.take_waiting();
        drop(messages);
        if !tell {
            return;
        }
        self.leave(&mut inner);
        if inner.closed.is_some() {
            drop(inner);
            return wake(waiting);
        }
        let sent = inner.stream_frame(self.shared.id).finish();
        debug_assert!(sent.is_ok(), "a packet without content is within every limit");
        drop(inner);
        self.connection.mailbox.notify();
        wake(waiting);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.close();
        self.shared.discard();
    }
}

/// One stream, as its handles and the connection's task see it.
#[derive(Debug)]
pub(crate) struct Shared {
    id: PacketId,
    budget: Arc<Budget>,
    inner: Mutex<Messages>,
}

#[derive(Debug, Default)]
struct Messages {
    state: StreamState,
    queue: VecDeque<Bytes>,
    /// What `queue` is charged.
    charged: usize,
    overflowed: bool,
    /// The connection brings nothing more.
    eof: bool,
    reader: Option<Waker>,
    /// Waits for the end.
    watcher: Option<Waker>,
}

impl Messages {
    /// Those to wake when the stream has ended.
    fn take_waiting(&mut self) -> [Option<Waker>; 2] {
        [self.reader.take(), self.watcher.take()]
    }
}

impl Shared {
    pub(crate) fn new(id: PacketId, budget: Arc<Budget>) -> Self {
        Self { id, budget, inner: Mutex::default() }
    }

    /// Takes in a message. `false` if there was no memory for it: the stream has been closed then, and the peer is
    /// to be told.
    pub(crate) fn handle_packet(&self, message: Bytes) -> bool {
        let mut inner = self.inner.lock();
        if !inner.state.handle_packet() {
            return true;
        }
        let charge = message.len() + MESSAGE_OVERHEAD;
        if inner.charged > self.budget.per_stream || !self.budget.take(charge) {
            inner.overflowed = true;
            inner.state.handle_close();
            let waiting = inner.take_waiting();
            drop(inner);
            wake(waiting);
            return false;
        }
        inner.charged += charge;
        let message = if message.len() < COPY_BELOW { Bytes::copy_from_slice(&message) } else { message };
        inner.queue.push_back(message);
        let reader = inner.reader.take();
        drop(inner);
        wake([reader]);
        true
    }

    /// Takes in the peer's close, or the end of the connection.
    pub(crate) fn handle_close(&self) {
        let mut inner = self.inner.lock();
        inner.state.handle_close();
        let waiting = inner.take_waiting();
        drop(inner);
        wake(waiting);
    }

    /// Tells that the peer will send nothing more on the connection.
    pub(crate) fn handle_eof(&self) {
        let mut inner = self.inner.lock();
        inner.eof = true;
        let reader = inner.reader.take();
        drop(inner);
        wake([reader]);
    }

    /// Writes one message if the stream is open; called with the connection locked.
    fn write<T>(&self, outbox: &mut Outbox, write: impl FnOnce(Frame<'_>) -> T) -> Result<T, SendError> {
        self.check_send()?;
        Ok(write(outbox.frame(self.id, Operation::STREAM)))
    }

    fn check_send(&self) -> Result<(), SendError> {
        self.inner.lock().state.send().map_err(|_| SendError::StreamClosed)
    }

    fn poll_recv(&self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut inner = self.inner.lock();
        if let Some(message) = inner.queue.pop_front() {
            let charge = message.len() + MESSAGE_OVERHEAD;
            inner.charged -= charge;
            drop(inner);
            self.budget.give_back(charge);
            return Poll::Ready(Some(message));
        }
        if inner.state != StreamState::Open || inner.eof {
            return Poll::Ready(None);
        }
        if !inner.reader.as_ref().is_some_and(|reader| reader.will_wake(context.waker())) {
            inner.reader = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Drops what nobody will read.
    fn discard(&self) {
        let mut inner = self.inner.lock();
        let queue = std::mem::take(&mut inner.queue);
        let charged = std::mem::take(&mut inner.charged);
        drop(inner);
        drop(queue);
        self.budget.give_back(charged);
    }
}

/// Wakes without a lock held, since a waker may run anything.
fn wake(waiting: impl IntoIterator<Item = Option<Waker>>) {
    waiting.into_iter().flatten().for_each(Waker::wake);
}

/// Memory for messages that have been received and not been read, shared by the connections of a server.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicUsize,
    /// What one stream may hold; one message may overdraw it.
    per_stream: usize,
}

impl Budget {
    pub(crate) fn new(total: usize, per_stream: usize) -> Self {
        Self { left: AtomicUsize::new(total), per_stream }
    }

    fn take(&self, count: usize) -> bool {
        let take = |left: usize| left.checked_sub(count);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn give_back(&self, count: usize) {
        self.left.fetch_add(count, Ordering::Relaxed);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("id", &self.0.shared.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for StreamSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamSender").field("id", &self.0.shared.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for StreamReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReceiver").field("id", &self.0.shared.id).finish_non_exhaustive()
    }
}
