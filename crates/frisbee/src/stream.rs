//! Streams: a sequence of messages each way beside everything else on the connection.

pub(crate) mod io;

use crate::budget::Budget;
use crate::connection::Shared as ConnectionShared;
use crate::{Frame, Operation, Outbox, PacketId, Peer, SendError};
use bytes::Bytes;
use frisbee_core::flow::{Credit, Window, cost};
use frisbee_core::{StreamState, Tell, tlv};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// Messages below this length are copied out of the read buffer before they wait, in bytes, lest a few bytes keep a
/// whole buffer of 64 KiB.
const COPY_BELOW: usize = 16 * 1024;

/// The codes with which a stream is reset from here; gRPC's numbers.
pub(crate) const CANCELLED: u32 = 1;
pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;

/// A stream of messages in both directions.
///
/// Messages arrive whole and in order. With a Go peer the first end to close the stream closes both directions.
/// Between two of ours each direction can be [ended](Stream::end) for itself, the stream is over when both have, and
/// a sender waits when the receiver does not read: 256 KiB may be under way unless told otherwise.
///
/// Dropping the stream, or both of its halves, closes it. What has been received before can still be read.
pub struct Stream(Arc<Guard>);

/// The half of a stream that sends. Clones send on the same stream.
#[derive(Clone)]
pub struct StreamSender(Arc<Guard>);

/// The half of a stream that receives.
pub struct StreamReceiver(Arc<Guard>);

/// How receiving came to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StreamEnd {
    /// The peer has ended its direction. Go peers say so in a message of their own.
    Ended,
    /// The stream was closed, or the connection has ended.
    Closed,
    /// The peer has reset the stream.
    Reset {
        /// Why, as one of gRPC's status codes.
        code: u32,
        /// Why, in words.
        message: String,
    },
    /// More came than there was memory for, and some of it was lost.
    Overflowed,
}

impl Stream {
    /// Opens a stream, or waits for a place for it.
    pub(crate) fn poll_open(
        connection: &Arc<ConnectionShared>,
        first: &Bytes,
        context: &mut Context<'_>,
    ) -> Poll<Result<Self, SendError>> {
        if first.is_empty() {
            return Poll::Ready(Err(SendError::Empty));
        }
        let mut inner = connection.mailbox.lock();
        inner.check_open()?;
        let mut opened = None;
        let peer = inner.peer.clone();
        let id = inner.enter_stream(connection.role, |id| {
            let shared = Arc::new(Shared::new(id, connection, &peer, true));
            opened = Some(shared.clone());
            shared
        });
        let (Some(id), Some(shared)) = (id, opened) else {
            inner.watch(context);
            return Poll::Pending;
        };
        let mut frame = inner.outbox.frame(id, Operation::STREAM);
        frame.put_shared(first);
        if let Err(error) = frame.finish() {
            inner.leave_stream(&shared);
            return Poll::Ready(Err(error.into()));
        }
        drop(inner);
        connection.mailbox.notify();
        Poll::Ready(Ok(Self::new(connection.clone(), shared)))
    }

    pub(crate) fn new(connection: Arc<ConnectionShared>, shared: Arc<Shared>) -> Self {
        if !shared.opened_here {
            connection.guests.fetch_add(1, Ordering::Relaxed);
        }
        Self(Arc::new(Guard { connection, shared }))
    }

    /// The stream's id on its connection.
    pub fn id(&self) -> PacketId {
        self.0.shared.id
    }

    /// Whether directions end for themselves, which they do if the peer is one of ours.
    pub fn is_rich(&self) -> bool {
        self.0.shared.is_rich()
    }

    /// Sends a message, once less than 1 MiB waits on the connection and the receiver has room.
    ///
    /// # Errors
    /// If the stream or the connection has ended, the message is too long, or it is empty and the peer is Go, for
    /// which that would close the stream.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        self.0.send(message).await
    }

    /// Receives the next message; `None` when there will be none, of which [`how_ended`](Self::how_ended) says why.
    ///
    /// # Cancel safety
    /// Dropping the future loses no message.
    pub async fn recv(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.0.poll_recv(context)).await
    }

    /// How receiving came to its end, once [`recv`](Self::recv) has given `None`.
    pub fn how_ended(&self) -> StreamEnd {
        self.0.shared.how_ended()
    }

    /// Says that nothing more will be sent. Does nothing with a Go peer, which knows no such thing.
    pub fn end(&self) {
        self.0.end();
    }

    /// Closes the stream in both directions. The peer can still read what was sent before.
    pub fn close(&self) {
        self.0.close(CANCELLED, "the stream was left");
    }

    /// As [`close`](Self::close), telling a peer of ours why: one of gRPC's status codes, and words.
    pub fn reset(&self, code: u32, message: &str) {
        self.0.close(code, message);
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

    /// Lets `write` put one message in place, once less than 1 MiB waits on the connection and the receiver has room.
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

    /// Lets `write` put one message in place, however much waits: a packet of the given id and
    /// [`Operation::STREAM`]. For short messages that must not wait.
    ///
    /// # Errors
    /// If the stream or the connection has ended.
    pub fn send_now<T>(&self, write: impl FnOnce(&mut Outbox, PacketId) -> T) -> Result<T, SendError> {
        let shared = &self.0.shared;
        let written = self.0.connection.mailbox.write(|outbox| {
            let mut inner = shared.inner.lock();
            inner.state.send().map_err(|_| SendError::StreamClosed)?;
            Ok(inner.spending(outbox, |outbox| write(outbox, shared.id)))
        });
        written.and_then(|written| written)
    }

    /// Whether directions end for themselves, which they do if the peer is one of ours.
    pub fn is_rich(&self) -> bool {
        self.0.shared.is_rich()
    }

    /// As [`Stream::end`].
    pub fn end(&self) {
        self.0.end();
    }

    /// As [`Stream::close`].
    pub fn close(&self) {
        self.0.close(CANCELLED, "the stream was left");
    }

    /// As [`Stream::reset`].
    pub fn reset(&self, code: u32, message: &str) {
        self.0.close(code, message);
    }

    /// Ready when the stream is over, by either end or with its connection.
    pub fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.0.shared.inner.lock();
        if inner.state.is_over() {
            return Poll::Ready(());
        }
        if !inner.watcher.as_ref().is_some_and(|watcher| watcher.will_wake(context.waker())) {
            inner.watcher = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Whether nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.0.shared.inner.lock().state.send().is_err()
    }
}

impl StreamReceiver {
    /// As [`Stream::recv`].
    pub async fn recv(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// As [`recv`](Self::recv), for hand-written futures.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_recv(context)
    }

    /// As [`Stream::how_ended`].
    pub fn how_ended(&self) -> StreamEnd {
        self.0.shared.how_ended()
    }

    /// As [`Stream::is_rich`].
    pub fn is_rich(&self) -> bool {
        self.0.shared.is_rich()
    }

    /// As [`Stream::close`].
    pub fn close(&self) {
        self.0.close(CANCELLED, "the stream was left");
    }
}

/// Closes the stream when its last handle goes.
struct Guard {
    connection: Arc<ConnectionShared>,
    shared: Arc<Shared>,
}

impl Guard {
    async fn send(&self, message: &Bytes) -> Result<(), SendError> {
        if message.is_empty() && !self.shared.is_rich() {
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
        let shared = &self.shared;
        if shared.poll_credit(context)?.is_pending() {
            return Poll::Pending;
        }
        let sent = self.connection.mailbox.poll_write(context, |outbox| {
            let mut inner = shared.inner.lock();
            inner.state.send().map_err(|_| SendError::StreamClosed)?;
            Ok(inner.spending(outbox, |outbox| write(outbox.frame(shared.id, Operation::STREAM))))
        });
        sent.map(|sent| sent.and_then(|written| written))
    }

    fn poll_recv(&self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let (received, credit) = self.shared.poll_recv(context);
        if let Some(credit) = credit {
            let mut content = Vec::with_capacity(5);
            tlv::put_varint(&mut content, credit);
            // A connection that has ended needs no credit.
            let _ = self.connection.mailbox.write(|outbox| {
                let mut frame = outbox.frame(self.shared.id, Operation::CREDIT);
                frame.put_slice(&content);
                frame.finish()
            });
        }
        received
    }

    fn end(&self) {
        self.change(StreamState::end, &[]);
    }

    fn close(&self, code: u32, message: &str) {
        self.change(StreamState::close, &reset_content(code, message));
    }

    fn forget(&self) {
        self.shared.inner.lock().state.handle_close();
        self.connection.mailbox.leave_stream(&self.shared);
    }

    /// Changes the state from this end and tells the peer. The connection's lock is taken first, as in sending, so
    /// that nothing is sent behind the packet that closes.
    fn change(&self, change: impl FnOnce(&mut StreamState) -> Tell, reset: &[u8]) {
        let mut connection = self.connection.mailbox.lock();
        let mut inner = self.shared.inner.lock();
        let tell = change(&mut inner.state);
        let over = inner.state.is_over();
        if tell == Tell::Nothing {
            return;
        }
        let mut wake = inner.take_waiting();
        drop(inner);
        if over {
            wake.extend(connection.leave_stream(&self.shared));
        }
        let open = connection.closed.is_none();
        if open {
            connection.tell(tell, self.shared.id, reset);
        }
        drop(connection);
        if open {
            self.connection.mailbox.notify();
        }
        wake.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.close(CANCELLED, "the stream was left");
        self.shared.discard();
        if !self.shared.opened_here {
            self.connection.guests.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What an END packet that resets contains.
pub(crate) fn reset_content(code: u32, message: &str) -> Vec<u8> {
    let mut content = Vec::with_capacity(message.len() + 5);
    tlv::put_varint(&mut content, code.into());
    content.extend_from_slice(message.as_bytes());
    content
}

/// One stream, as its handles and the connection's task see it.
#[derive(Debug)]
pub(crate) struct Shared {
    id: PacketId,
    opened_here: bool,
    budget: Arc<Budget>,
    inner: Mutex<Messages>,
}

#[derive(Debug)]
struct Messages {
    state: StreamState,
    credit: Credit,
    window: Window,
    queue: VecDeque<Bytes>,
    /// What `queue` takes of the budget.
    charged: usize,
    overflowed: bool,
    reset: Option<(u32, String)>,
    /// The connection brings nothing more.
    eof: bool,
    reader: Option<Waker>,
    /// Senders that wait for credit.
    senders: Vec<Waker>,
    /// Waits for the end.
    watcher: Option<Waker>,
}

impl Messages {
    /// Accounts for the message that `write` puts into the outbox, if it does.
    fn spending<T>(&mut self, outbox: &mut Outbox, write: impl FnOnce(&mut Outbox) -> T) -> T {
        let before = outbox.len();
        let written = write(outbox);
        if let Some(length) = outbox.len().checked_sub(before + outbox.header_size()) {
            self.credit.spend(length);
        }
        written
    }

    /// Those to wake when the stream has ended.
    fn take_waiting(&mut self) -> Vec<Waker> {
        let mut waiting = std::mem::take(&mut self.senders);
        waiting.extend(self.reader.take());
        waiting.extend(self.watcher.take());
        waiting
    }
}

impl Shared {
    pub(crate) fn new(id: PacketId, connection: &ConnectionShared, peer: &Peer, opened_here: bool) -> Self {
        let budget = connection.budget.clone();
        let (credit, window) = match peer {
            Peer::Ours(hello) => (Credit::new(hello.stream_credit), u64::from(connection.stream_credit)),
            Peer::Go | Peer::Unknown => (Credit::unlimited(), budget.per_stream()),
        };
        let inner = Mutex::new(Messages {
            state: StreamState::new(peer.hello().is_some()),
            credit,
            window: Window::new(window),
            queue: VecDeque::new(),
            charged: 0,
            overflowed: false,
            reset: None,
            eof: false,
            reader: None,
            senders: Vec::new(),
            watcher: None,
        });
        Self { id, opened_here, budget, inner }
    }

    pub(crate) fn id(&self) -> PacketId {
        self.id
    }

    pub(crate) fn is_opened_here(&self) -> bool {
        self.opened_here
    }

    pub(crate) fn is_over(&self) -> bool {
        self.inner.lock().state.is_over()
    }

    fn is_rich(&self) -> bool {
        self.inner.lock().state.is_rich()
    }

    /// Takes in a message. If there was no memory or no credit for it, the stream is over and the peer is to be told.
    pub(crate) fn handle_packet(&self, message: Bytes) -> Tell {
        let mut inner = self.inner.lock();
        if !inner.state.receives() {
            return Tell::Nothing;
        }
        let charge = usize::try_from(cost(message.len())).unwrap_or(usize::MAX);
        if !inner.window.receive(message.len()) || !self.budget.take(charge) {
            self.budget.count_shed();
            return Self::overflow(inner);
        }
        inner.charged += charge;
        let message = if message.len() < COPY_BELOW { Bytes::copy_from_slice(&message) } else { message };
        inner.queue.push_back(message);
        let reader = inner.reader.take();
        drop(inner);
        if let Some(reader) = reader {
            reader.wake();
        }
        Tell::Nothing
    }

    /// A message has been thrown away for want of memory: the stream is over, and the peer is to be told.
    pub(crate) fn handle_shed(&self) -> Tell {
        let inner = self.inner.lock();
        if inner.state.receives() { Self::overflow(inner) } else { Tell::Nothing }
    }

    fn overflow(mut inner: MutexGuard<'_, Messages>) -> Tell {
        inner.overflowed = true;
        let tell = inner.state.close();
        let waiting = inner.take_waiting();
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
        tell
    }

    /// Takes in credit; `false` if that is not what was sent.
    pub(crate) fn handle_credit(&self, content: &[u8]) -> bool {
        let Some(credit) = tlv::whole_varint(content) else { return false };
        let mut inner = self.inner.lock();
        inner.credit.receive(credit);
        let senders = if inner.credit.is_open() { std::mem::take(&mut inner.senders) } else { Vec::new() };
        drop(inner);
        senders.into_iter().for_each(Waker::wake);
        true
    }

    /// Takes in the end of the peer's direction, or a reset; `false` if it is neither.
    pub(crate) fn handle_end(&self, content: &[u8]) -> bool {
        let mut reset = None;
        if !content.is_empty() {
            let mut rest = content;
            let code = tlv::take_varint(&mut rest).and_then(|code| u32::try_from(code).ok());
            let Some(code) = code else { return false };
            reset = Some((code, String::from_utf8_lossy(rest).into_owned()));
        }
        let mut inner = self.inner.lock();
        match reset {
            Some(reset) if !inner.state.is_over() => {
                inner.state.handle_close();
                inner.reset = Some(reset);
            }
            Some(_) => {}
            None => inner.state.handle_end(),
        }
        let waiting = inner.take_waiting();
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
        true
    }

    /// Takes in the peer's close, or the end of the connection.
    pub(crate) fn handle_close(&self) {
        let mut inner = self.inner.lock();
        inner.state.handle_close();
        let waiting = inner.take_waiting();
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Tells that the peer will send nothing more on the connection.
    pub(crate) fn handle_eof(&self) {
        let mut inner = self.inner.lock();
        inner.eof = true;
        let reader = inner.reader.take();
        drop(inner);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn how_ended(&self) -> StreamEnd {
        let inner = self.inner.lock();
        match &inner.reset {
            _ if inner.overflowed => StreamEnd::Overflowed,
            Some((code, message)) => StreamEnd::Reset { code: *code, message: message.clone() },
            None if inner.state.has_ended() => StreamEnd::Ended,
            None => StreamEnd::Closed,
        }
    }

    /// Ready when the receiver has room for a message.
    fn poll_credit(&self, context: &mut Context<'_>) -> Result<Poll<()>, SendError> {
        let mut inner = self.inner.lock();
        inner.state.send().map_err(|_| SendError::StreamClosed)?;
        if inner.credit.is_open() {
            return Ok(Poll::Ready(()));
        }
        if !inner.senders.iter().any(|sender| sender.will_wake(context.waker())) {
            inner.senders.push(context.waker().clone());
        }
        Ok(Poll::Pending)
    }

    /// The next message, and credit that is to be given for what has been read.
    fn poll_recv(&self, context: &mut Context<'_>) -> (Poll<Option<Bytes>>, Option<u64>) {
        let mut inner = self.inner.lock();
        if let Some(message) = inner.queue.pop_front() {
            let charge = usize::try_from(cost(message.len())).unwrap_or(usize::MAX);
            inner.charged -= charge;
            let credit = inner.window.consume(message.len());
            let wanted = inner.state.is_rich() && inner.state.receives();
            drop(inner);
            self.budget.give_back(charge);
            return (Poll::Ready(Some(message)), credit.filter(|_| wanted));
        }
        if !inner.state.receives() || inner.eof {
            return (Poll::Ready(None), None);
        }
        if !inner.reader.as_ref().is_some_and(|reader| reader.will_wake(context.waker())) {
            inner.reader = Some(context.waker().clone());
        }
        (Poll::Pending, None)
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
