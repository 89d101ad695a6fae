//! Shared state of a stream: its state machine, credit and unread messages.

#[cfg(all(test, frisbee_loom))]
mod model_tests;

use super::inbox::{COPY_BELOW, Inbox};
use crate::account::{Account, Traffic, body_memory};
use crate::clock;
use crate::sync::{AtomicBool, Mutex, MutexGuard, wake_all};
use crate::{Outbox, PacketId, PacketWriter, PeerKind, SendError};
use bytes::Bytes;
use frisbee_core::flow::{Credit, Window, cost};
use frisbee_core::{Batch, BatchSize, StreamSignal, StreamState, tlv};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// Maximum length in bytes of the reset reason that a stream keeps for its handles. Otherwise, 256 streams with reasons
/// as long as a packet would use a gigabyte of uncharged memory.
const RESET_TEXT_MAX: usize = 4 * 1024;

/// Memory in bytes that is charged for a stream opened by the peer: its state, its table entry, and the task that
/// serves it. The charge lasts until the last handle of the stream is dropped.
const STREAM_COST: usize = 2 * 1024;

/// Granularity in bytes of the memory charge for unread messages. Steps avoid an update for each small message. Less
/// than one step is part of the fixed charge of a stream.
const MESSAGES_STEP: usize = 1024;

/// Maximum flow-control [cost] of the messages that a reader takes before it must yield, because its thread may drive
/// other connections. A window may contain 60 000 messages. The limit permits at most a thousand short messages, which
/// take a twentieth of a millisecond at 50 ns each.
const READ_AT_ONCE: u64 = 64 * 1024;

/// Returns the memory in bytes that is charged for an unread message of `length` bytes.
#[inline]
fn memory_of(length: usize) -> usize {
    usize::try_from(cost(body_memory(length))).unwrap_or(usize::MAX)
}

fn whole_steps(memory: usize) -> usize {
    memory - memory % MESSAGES_STEP
}

/// State of a stream, shared by its handles and the driver of the connection.
#[derive(Debug)]
pub(crate) struct StreamShared {
    pub(crate) id: PacketId,
    pub(crate) opened_here: bool,
    pub(crate) is_native: bool,
    /// Whether the peer accepts packets that contain several messages.
    pub(crate) joins: bool,
    /// Flow-control window in bytes: the amount that the peer may send before this end has read anything.
    pub(crate) window: u64,
    pub(crate) account: Arc<Account>,
    pub(crate) inner: Mutex<Messages>,
}

/// Total bytes of the messages that one end of a stream has sent and received so far. For messages that share a packet,
/// the total includes the packet header and the length prefixes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct StreamBytes {
    /// Number of bytes of messages that were sent, including pending ones.
    pub sent: u64,
    /// Number of bytes of messages that were received, including unread ones.
    pub received: u64,
}

/// Reason why no more messages will be received on a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StreamEnd {
    /// The peer has ended its sending direction. Go peers signal this by a message of the application protocol.
    Ended,
    /// The stream was closed, or the connection has ended.
    Closed,
    /// The peer has reset the stream with a status code and a reason.
    Reset {
        /// A gRPC status code.
        code: u32,
        /// The peer's explanation of the reset.
        message: String,
    },
    /// The peer has reset the stream, and states that no handler has seen any part of it.
    Refused {
        /// A gRPC status code.
        code: u32,
        /// The peer's explanation of the reset.
        message: String,
    },
    /// Messages of the stream were discarded, because there was not enough memory for them.
    Overflowed,
}

/// Snapshot of a stream's state, as shown by [`inspect::view`](crate::inspect::view).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StreamView {
    /// Id of the stream, which is unique among the open streams of its connection.
    pub id: PacketId,
    /// Whether this end opened the stream.
    pub is_opened_here: bool,
    /// Remaining credit for sending in bytes. Negative if the last message exceeded the credit. `None` if the peer does
    /// not support flow control.
    pub credit: Option<i64>,
    /// Flow-control window in bytes: the amount that the peer may send before this end has read any of it.
    pub window: u64,
    /// Memory in bytes of messages that were received but not read.
    pub unread: usize,
}

/// Messages that the reader has taken from the stream, with the credit that this end must grant to the peer for them.
#[derive(Debug, Default)]
pub(crate) struct ReadBatch {
    pub(crate) inbox: Inbox,
    /// Flow-control cost of the messages that were read since credit was last granted. Each message costs its length
    /// and a fixed amount.
    pub(crate) cost: u64,
    /// Memory charge of the messages counted in `cost`, minus their flow-control cost, in bytes.
    surplus: usize,
    /// Value of `cost` at which the reader grants credit for the messages it has read. A reader that has then read
    /// [`READ_AT_ONCE`] also yields to other tasks.
    look_at: u64,
    /// Flow-control cost of the messages that were read since the reader last yielded to other tasks, excluding `cost`.
    in_a_row: u64,
}

impl ReadBatch {
    /// Returns whether the reader must yield to other tasks before it reads more messages.
    pub(crate) fn is_enough(&mut self) -> bool {
        let is_enough = self.in_a_row >= READ_AT_ONCE;
        if is_enough {
            self.rest();
            self.inbox.resume();
        }
        is_enough
    }

    /// Records that the reader has consumed all messages and waits for more.
    pub(crate) fn rest(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a read message of `length` bytes. Returns whether the reader must now release the memory of the messages
    /// it has read, which also grants credit to the sender.
    #[inline(always)] // Called for every message.
    pub(crate) fn count(&mut self, length: usize) -> bool {
        self.cost += cost(length);
        self.cost >= self.look_at
    }

    /// Like [`count`](Self::count), but also for a long message, whose memory charge exceeds its flow-control cost.
    pub(crate) fn count_any(&mut self, length: usize) -> bool {
        if length >= COPY_BELOW {
            self.surplus += body_memory(length) - length;
        }
        self.count(length)
    }

    /// Takes and resets the counts of the messages read, so that the caller can release their memory and grant credit.
    /// `window` is the flow-control window of the stream. Returns the flow-control cost of the messages, and their
    /// memory charge minus this cost.
    fn take(&mut self, window: u64) -> (u64, usize) {
        let (cost, surplus) = (std::mem::take(&mut self.cost), std::mem::take(&mut self.surplus));
        self.in_a_row = self.in_a_row.saturating_add(cost);
        self.look_at = Window::due(window).min(READ_AT_ONCE.saturating_sub(self.in_a_row));
        // Pause the inbox so that `peek_short` returns `None`. The slow path then checks whether the reader must yield.
        if self.in_a_row >= READ_AT_ONCE {
            self.inbox.pause();
        }
        (cost, surplus)
    }
}

#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) state: StreamState,
    pub(crate) credit: Credit,
    pub(crate) window: Window,
    pub(crate) inbox: Inbox,
    /// Number of bytes of messages sent and received on the stream.
    pub(crate) bytes: StreamBytes,
    /// Difference between the rank of the stream's next turn to send and the number of bytes it has sent. Computed with
    /// wrapping arithmetic.
    turn_offset: u64,
    /// Whether a message or HEADERS have been received on the stream.
    has_begun: bool,
    /// Metadata items of HEADERS that have not been taken by a handle.
    headers: Option<Bytes>,
    trailers: Option<Bytes>,
    /// Memory in bytes of received messages that has not been released. Includes the messages in the reader's
    /// [`ReadBatch`].
    held: usize,
    /// Part of `held` that is charged to the connection's memory account. The charge changes in steps, so that the
    /// account is updated less often.
    charged: usize,
    pub(crate) overflowed: bool,
    pub(crate) reset: Option<(u32, String)>,
    /// Whether the peer has refused the stream, that is, no handler has seen any part of it.
    pub(crate) is_refused: bool,
    pub(crate) reader: Option<Waker>,
    /// Senders that are waiting until the peer grants credit.
    pub(crate) senders: EventWaiters,
    /// Tasks that are waiting until the stream has ended.
    pub(crate) watchers: EventWaiters,
}

/// Tasks that are waiting for one kind of event of a stream.
#[derive(Debug, Default)]
pub(crate) struct EventWaiters {
    /// Wakers of the waiting tasks, with their numbers. A task with a number must [leave](Self::leave) the queue when
    /// it stops waiting.
    wakers: Vec<(u64, Waker)>,
    /// Number of the task that was added last. Tasks use their numbers to update or remove their wakers.
    last: u64,
}

impl EventWaiters {
    /// Registers the waker of a task. `number` identifies the task and must be 0 at first. Returns the previous waker,
    /// which must be dropped without holding the lock.
    #[must_use]
    pub(crate) fn enter(&mut self, context: &Context<'_>, number: &mut u64) -> Option<Waker> {
        let waker = context.waker();
        if *number == 0 {
            self.last += 1;
            *number = self.last;
        }
        if let Some((_, entered)) = self.wakers.iter_mut().find(|(entered, _)| entered == number) {
            return (!entered.will_wake(waker)).then(|| std::mem::replace(entered, waker.clone()));
        }
        self.wakers.push((*number, waker.clone()));
        None
    }

    /// Removes a task that no longer waits. Returns its waker, which must be dropped without holding the lock.
    #[must_use]
    pub(crate) fn leave(&mut self, number: u64) -> Option<Waker> {
        let index = self.wakers.iter().position(|(entered, _)| *entered == number)?;
        // The order is irrelevant, because all tasks in the list are woken together.
        Some(self.wakers.swap_remove(index).1)
    }

    /// Removes all waiting tasks. The caller must wake them.
    pub(crate) fn take(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers).into_iter().map(|(_, waker)| waker).collect()
    }
}

impl Messages {
    /// Returns an error if the sending direction of the stream has ended.
    pub(crate) fn check_open(&self) -> Result<(), SendError> {
        if self.state.sends() { Ok(()) } else { Err(SendError::StreamClosed) }
    }

    /// Calls `write` with the outbox to send one message, and deducts the message's flow-control cost from the credit.
    pub(crate) fn sending<T>(
        &mut self,
        outbox: &mut Outbox,
        stream: &StreamShared,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> T {
        let (written, length) = outbox.message(stream.id, stream.joins, write);
        if let Some(length) = length {
            self.credit.spend(length);
            self.bytes.sent += length as u64;
        }
        written
    }

    /// Deducts flow-control credit for the message that `write` appends to the outbox, if it appends one.
    pub(crate) fn spending<T>(&mut self, outbox: &mut Outbox, write: impl FnOnce(&mut Outbox) -> T) -> T {
        let before = outbox.len();
        let written = write(outbox);
        if let Some(length) = outbox.len().checked_sub(before + outbox.header_size()) {
            self.credit.spend(length);
            self.bytes.sent += length as u64;
        }
        written
    }

    /// Returns the rank of the stream's next turn to send. Streams with lower ranks send first. The rank is that of the
    /// previous turn plus the bytes sent since, but at least `latest`, the rank of the connection's latest turn, so
    /// that an idle stream cannot save up turns. It is at most `latest` plus `queued`, the backlog of the connection in
    /// bytes, so that bytes that have already left the backlog do not count.
    pub(crate) fn start_of_turn(&mut self, latest: u64, queued: u64) -> u64 {
        let start = self.turn_offset.wrapping_add(self.bytes.sent).clamp(latest, latest.saturating_add(queued));
        self.turn_offset = start.wrapping_sub(self.bytes.sent);
        start
    }

    /// Accounts for the messages in `batch` that the reader has consumed. Returns the number of bytes to release from
    /// the memory account, and the credit to grant to the sender.
    fn account(&mut self, batch: &mut ReadBatch, window: u64) -> (usize, Option<u64>) {
        let (cost, surplus) = batch.take(window);
        if cost == 0 {
            return (0, None);
        }
        let freed = self.release(usize::try_from(cost).unwrap_or(usize::MAX).saturating_add(surplus));
        // A peer without flow control ignores credit, and one that has ended its direction needs none.
        let credit = self.window.consume(cost).filter(|_| self.state.is_native() && self.state.receives());
        let credit = credit.map(|credit| self.window.adapt(credit, clock::now()));
        (freed, credit.filter(|credit| *credit > 0))
    }

    /// Records that the reader has consumed messages that held `memory` bytes. Returns the number of bytes to release
    /// from the memory account.
    fn release(&mut self, memory: usize) -> usize {
        self.held = self.held.saturating_sub(memory);
        let freed = self.charged.saturating_sub(whole_steps(self.held));
        self.charged -= freed;
        freed
    }

    /// Charges the memory of a received message. Returns `false` if not enough memory is available.
    #[inline]
    fn charge_message(&mut self, memory: usize, account: &Account) -> bool {
        let held = self.held.saturating_add(memory);
        let is_charged = held - self.charged < MESSAGES_STEP || self.charge(whole_steps(held), account);
        if is_charged {
            self.held = held;
        }
        is_charged
    }

    fn charge(&mut self, charged: usize, account: &Account) -> bool {
        let is_charged = account.take(charged - self.charged);
        if is_charged {
            self.charged = charged;
        }
        is_charged
    }

    /// Returns the unused credit of a batch to the stream. Returns the wakers of the senders that may proceed.
    pub(crate) fn put_credit(&mut self, rest: Option<i64>) -> Vec<Waker> {
        let Some(rest) = rest else { return Vec::new() };
        self.credit.settle(rest);
        if self.credit.is_open() { self.senders.take() } else { Vec::new() }
    }

    /// Removes the wakers of all waiting tasks because the stream has ended.
    pub(crate) fn take_wakers(&mut self) -> Vec<Waker> {
        let mut wakers = self.senders.take();
        wakers.extend(self.reader.take());
        wakers.append(&mut self.watchers.take());
        wakers
    }
}

impl StreamShared {
    /// Creates the state of a stream. The peer starts with a credit of `stream_credit` bytes.
    pub(crate) fn new(
        id: PacketId,
        account: Arc<Account>,
        stream_credit: u32,
        peer: &PeerKind,
        opened_here: bool,
    ) -> Self {
        let (credit, window) = match peer {
            PeerKind::Native(hello) => (Credit::new(hello.stream_credit), u64::from(stream_credit)),
            PeerKind::Compat | PeerKind::Unknown => (Credit::unlimited(), account.budget().per_stream()),
        };
        let inner = Mutex::new(Messages {
            state: StreamState::new(peer.hello().is_some()),
            credit,
            window: Window::new(window),
            inbox: Inbox::default(),
            bytes: StreamBytes::default(),
            turn_offset: 0,
            has_begun: false,
            headers: None,
            trailers: None,
            held: 0,
            charged: 0,
            overflowed: false,
            reset: None,
            is_refused: false,
            reader: None,
            senders: EventWaiters::default(),
            watchers: EventWaiters::default(),
        });
        let is_native = peer.hello().is_some();
        let joins = peer.hello().is_some_and(|hello| hello.batches);
        if !opened_here {
            account.charge(STREAM_COST);
        }
        account.count(Traffic::StreamsOpened, 1);
        Self { id, opened_here, is_native, joins, window, account, inner }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.inner.lock().state.is_over()
    }

    /// Returns the total size of the messages sent and received so far.
    pub(crate) fn bytes(&self) -> StreamBytes {
        self.inner.lock().bytes
    }

    /// Returns the state of the stream for introspection.
    pub(crate) fn view(&self) -> StreamView {
        let inner = self.inner.lock();
        StreamView {
            id: self.id,
            is_opened_here: self.opened_here,
            credit: inner.credit.remaining(),
            window: inner.window.size(),
            unread: inner.held,
        }
    }

    /// Waits until the stream has credit for a message, then calls `take` and returns its result.
    pub(crate) fn poll_credit<T>(
        &self,
        context: &Context<'_>,
        number: &mut u64,
        take: impl FnOnce(&mut Credit) -> T,
    ) -> Poll<Result<T, SendError>> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        if inner.credit.is_open() {
            return Poll::Ready(Ok(take(&mut inner.credit)));
        }
        let earlier = inner.senders.enter(context, number);
        drop(inner);
        drop(earlier);
        Poll::Pending
    }

    /// Waits until the stream has ended. `number` identifies the waiting task.
    pub(crate) fn poll_closed(&self, context: &Context<'_>, number: &mut u64) -> Poll<()> {
        let mut inner = self.inner.lock();
        if inner.state.is_over() {
            return Poll::Ready(());
        }
        let earlier = inner.watchers.enter(context, number);
        drop(inner);
        drop(earlier);
        Poll::Pending
    }

    /// Removes the wakers of the tasks that wait for the end of the stream. The caller must wake them.
    pub(crate) fn take_watchers(&self) -> Vec<Waker> {
        self.inner.lock().watchers.take()
    }

    /// Removes the wakers of a task that waits for credit under the number `credit`, or for the end of the stream under
    /// the number `end`.
    pub(crate) fn leave(&self, credit: u64, end: u64) {
        if credit == 0 && end == 0 {
            return;
        }
        let mut inner = self.inner.lock();
        let wakers = (inner.senders.leave(credit), inner.watchers.leave(end));
        drop(inner);
        drop(wakers);
    }

    /// Handles a received message. If memory or credit is exhausted, the stream ends, and the caller must send the
    /// returned signal to the peer.
    ///
    /// # Errors
    /// Returns the message if receiving has already ended.
    pub(crate) fn handle_packet(&self, message: Bytes) -> Result<StreamSignal, Bytes> {
        let mut inner = self.inner.lock();
        if !inner.state.receives() {
            return Err(message);
        }
        // Check the window first, so that a message that exceeds it charges no memory.
        if !inner.window.receive(message.len()) || !inner.charge_message(memory_of(message.len()), &self.account) {
            self.account.budget().counts.count_rejected();
            return Ok(Self::overflow(inner));
        }
        inner.has_begun = true;
        inner.bytes.received += message.len() as u64;
        inner.inbox.push(message);
        let reader = inner.reader.take();
        drop(inner);
        wake_all(reader);
        Ok(StreamSignal::Nothing)
    }

    /// Handles the messages of a batch, each like [`handle_packet`](Self::handle_packet). Returns `None` if receiving
    /// has already ended.
    pub(crate) fn handle_batch(&self, body: &Bytes, size: &BatchSize) -> Option<StreamSignal> {
        let mut inner = self.inner.lock();
        if !inner.state.receives() {
            return None;
        }
        // Fast path: the charge of short messages is equal to their cost.
        let is_short = size.longest < COPY_BELOW;
        if is_short && inner.window.receive_all(size.cost(), size.last_cost()) {
            let memory = usize::try_from(size.cost()).unwrap_or(usize::MAX);
            if !inner.charge_message(memory, &self.account) {
                self.account.budget().counts.count_rejected();
                return Some(Self::overflow(inner));
            }
            inner.inbox.push_batch(body);
        } else {
            for message in Batch::new(body).flatten() {
                if !inner.window.receive(message.len())
                    || !inner.charge_message(memory_of(message.len()), &self.account)
                {
                    self.account.budget().counts.count_rejected();
                    return Some(Self::overflow(inner));
                }
                inner.inbox.push(Bytes::copy_from_slice(message)); // A slice would keep the whole batch alive.
            }
        }
        inner.has_begun = true;
        inner.bytes.received += body.len() as u64;
        let reader = inner.reader.take();
        drop(inner);
        wake_all(reader);
        Some(StreamSignal::Nothing)
    }

    /// Handles the metadata items of HEADERS or TRAILERS. TRAILERS also end the peer's direction. The items require
    /// memory but no credit. Returns `None` if HEADERS arrive after other packets of the peer's direction.
    pub(crate) fn handle_items(&self, items: &[u8], is_last: bool) -> Option<StreamSignal> {
        let mut inner = self.inner.lock();
        if !inner.state.receives() {
            return Some(StreamSignal::Nothing);
        }
        if std::mem::replace(&mut inner.has_begun, true) && !is_last {
            return None;
        }
        if !inner.charge_message(memory_of(items.len()), &self.account) {
            self.account.budget().counts.count_rejected();
            return Some(Self::overflow(inner));
        }
        let items = Some(Bytes::copy_from_slice(items)); // Copied because a slice would keep the read buffer alive.
        let wakers = if is_last {
            inner.trailers = items;
            inner.state.handle_end();
            inner.take_wakers()
        } else {
            inner.headers = items;
            Vec::from_iter(inner.reader.take())
        };
        drop(inner);
        wake_all(wakers);
        Some(StreamSignal::Nothing)
    }

    /// Takes the metadata items of HEADERS or TRAILERS, if they have been received.
    pub(crate) fn take_items(&self, of_trailers: bool) -> Option<Bytes> {
        let mut inner = self.inner.lock();
        let items = if of_trailers { inner.trailers.take() } else { inner.headers.take() }?;
        let freed = inner.release(memory_of(items.len()));
        drop(inner);
        self.account.release(freed);
        Some(items)
    }

    /// Ends the stream because a received message was discarded for lack of memory. The caller must send the returned
    /// signal to the peer.
    pub(crate) fn handle_rejected_body(&self) -> StreamSignal {
        let inner = self.inner.lock();
        if inner.state.receives() { Self::overflow(inner) } else { StreamSignal::Nothing }
    }

    pub(crate) fn overflow(mut inner: MutexGuard<'_, Messages>) -> StreamSignal {
        inner.overflowed = true;
        let signal = inner.state.close();
        let wakers = inner.take_wakers();
        drop(inner);
        wake_all(wakers);
        signal
    }

    /// Handles a CREDIT packet. Returns `false` if its body is malformed.
    pub(crate) fn handle_credit(&self, body: &[u8]) -> bool {
        let Some(credit) = tlv::whole_varint(body) else { return false };
        let mut inner = self.inner.lock();
        inner.credit.receive(credit);
        inner.is_refused |= credit == 0;
        let senders = if inner.credit.is_open() { inner.senders.take() } else { Vec::new() };
        drop(inner);
        wake_all(senders);
        true
    }

    /// Handles an END packet, which ends the direction of the peer or resets the stream. Returns `false` if its body is
    /// malformed.
    pub(crate) fn handle_end(&self, body: &[u8]) -> bool {
        let mut reset = None;
        if !body.is_empty() {
            let mut rest = body;
            let code = tlv::take_varint(&mut rest).and_then(|code| u32::try_from(code).ok());
            let Some(code) = code else { return false };
            let text = rest.get(..RESET_TEXT_MAX).unwrap_or(rest);
            reset = Some((code, String::from_utf8_lossy(text).into_owned()));
        }
        let mut inner = self.inner.lock();
        match reset {
            Some(reset) if !inner.state.is_over() => {
                inner.state.handle_close();
                inner.reset = Some(reset);
            }
            // Keep the outcome of a stream that has already ended.
            Some(_) => {}
            None => inner.state.handle_end(),
        }
        let wakers = inner.take_wakers();
        drop(inner);
        wake_all(wakers);
        true
    }

    /// Ends the stream, because the peer closed it or the connection ended.
    pub(crate) fn handle_close(&self) {
        let mut inner = self.inner.lock();
        inner.state.handle_close();
        let wakers = inner.take_wakers();
        drop(inner);
        wake_all(wakers);
    }

    /// Wakes the reader, because the peer has closed its half of the connection and no more messages will arrive.
    pub(crate) fn handle_eof(&self) {
        let reader = self.inner.lock().reader.take();
        wake_all(reader);
    }

    pub(crate) fn close_reason(&self) -> StreamEnd {
        let inner = self.inner.lock();
        match &inner.reset {
            _ if inner.overflowed => StreamEnd::Overflowed,
            // All messages of the peer have arrived, whatever the state of the other direction.
            _ if inner.state.has_ended() => StreamEnd::Ended,
            Some((code, message)) if inner.is_refused => StreamEnd::Refused { code: *code, message: message.clone() },
            Some((code, message)) => StreamEnd::Reset { code: *code, message: message.clone() },
            None => StreamEnd::Closed,
        }
    }

    /// Moves the received messages to `batch`. The previous messages of `batch` must have been consumed. Returns the
    /// credit to grant for the consumed messages. Completes without messages if no more will arrive.
    pub(crate) fn poll_refill(
        &self,
        batch: &mut ReadBatch,
        context: &mut Context<'_>,
        eof: &AtomicBool,
    ) -> (Poll<()>, Option<u64>) {
        let mut inner = self.inner.lock();
        let (freed, credit) = inner.account(batch, self.window);
        batch.inbox.take_over(&mut inner.inbox);
        // Check for messages first, because messages that arrived before the end must still be read.
        let mut earlier = None;
        let refilled = if !batch.inbox.is_empty() || !inner.state.receives() || eof.load(Ordering::Relaxed) {
            Poll::Ready(())
        } else {
            if !inner.reader.as_ref().is_some_and(|reader| reader.will_wake(context.waker())) {
                earlier = inner.reader.replace(context.waker().clone());
            }
            inner.window.wait();
            inner.inbox.shrink();
            batch.inbox.shrink();
            Poll::Pending
        };
        drop(inner);
        drop(earlier); // Without the lock: it may be the last reference to a task.
        self.account.release(freed);
        (refilled, credit)
    }

    /// Accounts for the messages in `batch` that the reader has consumed, and releases their memory. Returns the credit
    /// to grant to the sender.
    pub(crate) fn account(&self, batch: &mut ReadBatch) -> Option<u64> {
        let (freed, credit) = self.inner.lock().account(batch, self.window);
        self.account.release(freed);
        credit
    }

    /// Drops the unread messages, because no handle will read them.
    pub(crate) fn discard(&self) {
        let mut inner = self.inner.lock();
        let inbox = std::mem::take(&mut inner.inbox);
        let charged = std::mem::take(&mut inner.charged);
        inner.held = 0;
        drop(inner);
        drop(inbox);
        self.account.release(charged);
    }
}

impl Drop for StreamShared {
    fn drop(&mut self) {
        if !self.opened_here {
            self.account.release(STREAM_COST);
        }
        self.account.count(Traffic::StreamsEnded, 1);
    }
}
