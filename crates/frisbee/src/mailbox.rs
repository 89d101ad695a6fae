//! The mailbox passes packets and close orders from the handles of a connection to its driver. It also contains the
//! state that they share.

pub(crate) mod deferred;
pub(crate) mod hand_off;
pub(crate) mod inbox;
#[cfg(all(test, frisbee_loom))]
mod model_tests;
mod order;
pub(crate) mod permits;
pub(crate) mod stream;
mod streams;
#[cfg(all(test, not(frisbee_loom)))]
mod tests;
mod waiter_queue;

use self::hand_off::HandOffStep;
pub(crate) use self::order::Order;
use self::permits::{PermitPlace, PermitQueue};
use self::stream::StreamShared;
use self::streams::StreamTable;
pub(crate) use self::waiter_queue::Place;
use self::waiter_queue::WaitList;
pub use self::waiter_queue::Waiter;
use crate::account::{Account, Output};
use crate::clock;
use crate::sync::{AtomicBool, Mutex, MutexGuard, wake, wake_all};
use crate::{CloseReason, Outbox, PeerKind, SendError};
use frisbee_core::earlier;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Minimum backlog of a connection in bytes at which stream senders take turns. Calls do not wait for turns, so on a
/// slow link a small call waits only for this backlog and for the unsent bytes in the system's buffer
/// ([`UNSENT_MAX`](crate::transport::UNSENT_MAX)). The limit is half of a write of short packets, so it does not slow
/// down a single stream on a fast link.
const STREAM_BACKLOG_MAX: usize = 64 * 1024;

/// Maximum number of bytes that a stream sends in a turn that it had to wait for. The last message may exceed the
/// limit. The turns of 40 streams take 0.8 s at 200 kB/s; `streams_share_link_evenly_behind_calls` measures their
/// shares after 20 s. Fast links rarely make streams wait.
pub(crate) const TURN: usize = 4 * 1024;

/// Mailbox of a connection: packets and requests from handles to the driver, and other shared state.
#[derive(Debug)]
pub(crate) struct Mailbox {
    inner: Mutex<MailboxState>,
    /// Whether the driver was woken and has not checked the mailbox since. Written under the lock, read without it.
    notified: AtomicBool,
    /// Whether senders must wait although the backlog is below its normal limit, because the server is short of memory
    /// or streams take turns. If so, the driver reports its backlog after each write. Written under the lock, read
    /// without it.
    is_starved: AtomicBool,
    /// Maximum backlog in bytes, at most 4 GiB; see [`frisbee_core::Config::backlog_max`].
    backlog_max: u32,
    /// Memory account that this connection's output is charged to.
    pub(crate) account: Arc<Account>,
}

/// State that the driver keeps about its mailbox between polls.
#[derive(Debug)]
pub(crate) struct MailboxReader {
    /// Backlog in bytes that the driver last reported to handles, or [`NEVER_NOTIFIED`] before its first report, which
    /// also gives handles the driver's waker.
    notified: usize,
}

/// Initial value of [`MailboxReader::notified`]. It is larger than any backlog.
const NEVER_NOTIFIED: usize = usize::MAX;

impl Default for MailboxReader {
    fn default() -> Self {
        Self { notified: NEVER_NOTIFIED }
    }
}

/// Outcome of checking the mailbox for packets and requests.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum TakeOutcome {
    /// The mailbox was empty.
    Nothing,
    /// The driver has taken packets or requests of handles.
    Messages,
    /// The messages remain in the mailbox, so that other handles can add packets to the same write. The driver must
    /// wake itself and poll again.
    Yield,
}

#[derive(Debug, Default)]
pub(crate) struct MailboxState {
    /// Packets that handles have sent since the driver last took packets.
    pub(crate) outbox: Outbox,
    output: Output,
    /// Backlog in bytes that the driver last reported.
    backlog: u32,
    /// Waker of the connection's driver.
    pub(crate) task: Option<Waker>,
    /// Pending request of a handle to close the connection.
    pub(crate) order: Option<Box<Order>>,
    /// Pending request of a handle for the next step of a hand-off.
    pub(crate) hand_off: Option<Box<HandOffStep>>,
    /// State of a hand-off of the transport to another owner, including which end requested it.
    pub(crate) hand_off_state: HandOffState,
    /// Open streams of the connection, by id.
    pub(crate) streams: StreamTable,
    /// Tasks that are waiting to open a stream, because the maximum number of streams is open.
    pub(crate) openers: PermitQueue,
    /// Whether the peer supports the protocol extension, or [`PeerKind::Unknown`] until its first packet.
    pub(crate) peer: PeerKind,
    /// Whether the peer has announced that it accepts no more calls and streams.
    pub(crate) going_away: bool,
    /// Whether a handle has requested that the timeout for the client's first header expire early.
    pub(crate) expired: bool,
    /// Reason why the connection was closed. Once set, sending and opening streams fail with it.
    pub(crate) closed: Option<Box<CloseReason>>,
    /// Whether the connection has ended and its remaining output has been written or discarded.
    over: bool,
    /// Tasks that wait for space in the outbox or for another change of state.
    pub(crate) waiters: WaitList,
}

/// State of a hand-off of the connection's transport to another owner.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum HandOffState {
    #[default]
    No,
    /// This end has requested a hand-off. Senders must wait for the reply, because afterwards the connection may belong
    /// to another owner.
    Requested,
    /// The peer has requested a hand-off, and this end has not replied.
    Undecided,
    /// The peer has cancelled its hand-off request, and this end has not replied.
    Abandoned,
}

impl Mailbox {
    /// Returns the maximum backlog in bytes, beyond which senders must wait.
    #[inline]
    pub(crate) fn backlog_max(&self) -> usize {
        self.backlog_max as usize
    }

    pub(crate) fn new(body_max: u32, backlog_max: usize, account: Arc<Account>) -> Self {
        let mut inner = MailboxState::default();
        inner.outbox.set_limit(body_max);
        let backlog_max = u32::try_from(backlog_max.max(1)).unwrap_or(u32::MAX);
        let (notified, is_starved) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { inner: Mutex::new(inner), notified, is_starved, backlog_max, account }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, MailboxState> {
        self.inner.lock()
    }

    #[cfg(all(test, not(frisbee_loom)))]
    pub(crate) fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }

    /// Calls `fill` to append packets to the outbox regardless of the backlog, and wakes the driver.
    pub(crate) fn write<T>(&self, fill: impl FnOnce(&mut Outbox) -> T) -> Result<T, SendError> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        // Update the charge before `fill`, so that the size limit of the outbox reflects the memory that is available
        // now.
        inner.update_charge(&self.account);
        let filled = fill(&mut inner.outbox);
        inner.charge(&self.account);
        let task = self.to_wake(&inner);
        // Release the lock before waking, because the woken driver needs it immediately, and a waker may run arbitrary
        // code.
        drop(inner);
        wake(task);
        Ok(filled)
    }

    /// Like [`write`](Self::write), but calls `fill` only if there is space and no other task is waiting for it.
    /// Otherwise registers the task of `context`, if given, to be woken when there is space.
    pub(crate) fn poll_write<T>(
        &self,
        context: Option<&Context<'_>>,
        place: &mut Place,
        fill: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        inner.update_charge(&self.account);
        // Even if there is space, wait while tasks that were woken earlier have not sent their packets. Otherwise, new
        // senders could starve them.
        if inner.is_full(self.backlog_max()) || inner.waiters.is_early(place) {
            self.wait_for_room(inner, context, place);
            return Poll::Pending;
        }
        let filled = fill(&mut inner.outbox);
        inner.charge(&self.account);
        // Leave the queue only after appending the packet. Leaving earlier would let a later sender use the space
        // first.
        let entered = place.has_waited().then(|| inner.waiters.leave(place));
        let task = self.to_wake(&inner);
        drop(inner);
        drop(entered);
        wake(task);
        Poll::Ready(Ok(filled))
    }

    /// Waits for a stream's turn to send, and then calls `fill` with the outbox. If `context` is `None`, the caller
    /// cannot wait, so no waker is registered.
    pub(crate) fn poll_turn<T>(
        &self,
        context: Option<&Context<'_>>,
        stream: &StreamShared,
        place: &mut PermitPlace,
        fill: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        inner.update_charge(&self.account);
        let free = inner.free_turns(self.backlog_max());
        if !inner.waiters.take_turn(place, free) {
            self.wait_for_turn(inner, context, stream, place);
            return Poll::Pending;
        }
        let filled = fill(&mut inner.outbox);
        inner.charge(&self.account);
        // A stream may send nothing in its turn. The driver then grants the turn to another stream.
        let is_settled = inner.outbox.is_empty() && inner.waiters.turns().is_none();
        let task = if is_settled { None } else { self.to_wake(&inner) };
        drop(inner);
        wake(task);
        Poll::Ready(Ok(filled))
    }

    /// Registers the task of `context`, if given, to be woken when it is the stream's turn to send. Releases the lock.
    #[cold]
    fn wait_for_turn(
        &self,
        mut inner: MutexGuard<'_, MailboxState>,
        context: Option<&Context<'_>>,
        stream: &StreamShared,
        place: &mut PermitPlace,
    ) {
        let queued = inner.queued() as u64;
        // Lock order: the mailbox, then the stream. Code that holds a stream's lock must not lock the mailbox.
        let start = |latest| stream.inner.lock().start_of_turn(latest, queued);
        let earlier = context.and_then(|context| inner.waiters.enter_turn(context, place, start));
        // Wake the driver, because it may have written its backlog without reporting this.
        let task = if self.is_starved.load(Ordering::Relaxed) { None } else { self.to_wake(&inner) };
        self.is_starved.store(true, Ordering::Relaxed);
        drop(inner);
        drop(earlier);
        wake(task);
    }

    /// Requests that the driver close the connection. Replaces an earlier, less urgent request.
    pub(crate) fn order(&self, order: Order) {
        self.change(|inner| Order::put(order, &mut inner.order));
    }

    /// Expires the timeout for the client's first header immediately.
    pub(crate) fn expire(&self) {
        self.change(|inner| inner.expired = true);
    }

    /// Wakes the driver of the connection, so that it checks the mailbox for changes.
    pub(crate) fn notify(&self) {
        self.change(|_| ());
    }

    #[inline]
    fn change(&self, change: impl FnOnce(&mut MailboxState)) {
        let mut inner = self.inner.lock();
        change(&mut inner);
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
    }

    /// Returns whether the driver has been notified. Takes no lock, so a concurrent notification may be missed.
    #[inline]
    pub(crate) fn is_notified(&self) -> bool {
        self.notified.load(Ordering::Relaxed)
    }

    /// Takes the messages for the driver. `accept` runs under the lock. It must empty the mailbox and return the
    /// driver's new backlog in bytes. `backlog` is the driver's backlog before the call.
    ///
    /// If `yielded` is false and there are messages, the driver should poll once more before flushing. Other handles,
    /// such as callers woken by the last batch of replies, can then add packets to the same write.
    #[inline]
    pub(crate) fn take(
        &self,
        reader: &mut MailboxReader,
        waker: &Waker,
        yielded: bool,
        backlog: usize,
        accept: impl FnOnce(&mut MailboxState) -> usize,
    ) -> TakeOutcome {
        // This load may miss a concurrent notification. In that case, `to_wake` has returned the driver's waker, so the
        // driver is polled again.
        if !self.is_notified() {
            // Fast path: a server's connection usually has no messages, and this check reads no memory that handles
            // write.
            if reader.notified == backlog {
                return TakeOutcome::Nothing;
            }
        } else if !yielded {
            return TakeOutcome::Yield;
        }
        let mut inner = self.lock_by_task();
        let mut earlier = None;
        // Keep an equivalent waker, because cloning one changes a reference count that is shared with other threads.
        if !inner.task.as_ref().is_some_and(|task| task.will_wake(waker)) {
            earlier = inner.task.replace(waker.clone());
        }
        let backlog = accept(&mut inner);
        inner.report(backlog);
        reader.notified = backlog;
        let surplus = inner.settle(&self.account);
        if inner.waiters.is_empty() {
            drop(inner);
        } else {
            self.wake_producers(inner);
        }
        drop(earlier); // Outside of the lock, because this may drop a task.
        self.account.release(surplus);
        TakeOutcome::Messages
    }

    /// Wakes tasks that wait for space in the outbox, as far as the space suffices.
    #[cold]
    fn wake_producers(&self, mut inner: MutexGuard<'_, MailboxState>) {
        inner.update_charge(&self.account);
        if inner.is_full(self.backlog_max()) {
            // Wake no sender while the outbox is full. The driver calls this function again when it reports a smaller
            // backlog. Have it report after each write if memory has become short since the senders began to wait,
            // because the backlog may be shorter than usual.
            if inner.output.is_narrow(self.backlog_max()) {
                self.is_starved.store(true, Ordering::Relaxed);
            }
            return;
        }
        let (mut producers, others_wait) = inner.waiters.call_producers();
        let turns = inner.grant_turns(self.backlog_max());
        // While streams wait for turns, the driver must report after each write, whatever the length of its backlog.
        self.is_starved.store(inner.waiters.turns().is_some(), Ordering::Relaxed);
        // The woken tasks may never send. Have the driver poll again, to wake the remaining tasks and to revoke expired
        // grants.
        let task = if others_wait || !turns.is_empty() { self.to_wake(&inner) } else { None };
        producers.extend(turns);
        drop(inner);
        wake_all(producers);
        wake(task);
    }

    /// Reports a smaller backlog after the outbox was [full](Self::is_full), so that waiting senders are woken when
    /// space is available.
    #[cold]
    pub(crate) fn handle_drained(&self, reader: &mut MailboxReader, left: usize) {
        if left >= self.backlog_max() {
            return;
        }
        let mut inner = self.inner.lock();
        inner.report(left);
        reader.notified = left;
        self.wake_producers(inner);
    }

    /// Returns whether senders must wait while the driver's backlog is `backlog` bytes.
    #[inline]
    pub(crate) fn is_full(&self, backlog: usize) -> bool {
        backlog >= self.backlog_max() || self.is_starved.load(Ordering::Relaxed)
    }

    /// Registers the task of `context`, if given, to be woken when there is space in the outbox. Releases the lock.
    #[cold]
    pub(crate) fn wait_for_room(
        &self,
        mut inner: MutexGuard<'_, MailboxState>,
        context: Option<&Context<'_>>,
        place: &mut Place,
    ) {
        let earlier = context.and_then(|context| inner.waiters.enter_producer(context.waker(), place));
        let task = self.request_report(&inner);
        drop(inner);
        drop(earlier);
        wake(task);
    }

    /// Returns the driver's waker if senders wait for a backlog report. Without a wake-up, the driver would not report,
    /// because no packet was sent.
    #[cold]
    fn request_report(&self, inner: &MailboxState) -> Option<Waker> {
        if inner.output.is_narrow(self.backlog_max()) {
            // The driver reports only a long backlog, and may have written it since the last report.
            self.is_starved.store(true, Ordering::Relaxed);
            return self.to_wake(inner);
        }
        // The space is reserved for woken tasks, which may never use it. Have the driver check again.
        if inner.is_full(self.backlog_max()) { None } else { self.to_wake(inner) }
    }

    /// Moves the packets that handles have sent to `outbox`.
    pub(crate) fn collect(&self, outbox: &mut Outbox) {
        let mut inner = self.inner.lock();
        outbox.append(&mut inner.outbox);
        let surplus = inner.settle(&self.account);
        drop(inner);
        self.account.release(surplus);
    }

    /// Frees the memory of the outbox. Called when the connection is idle, so the outbox is empty.
    pub(crate) fn release(&self) {
        let mut inner = self.inner.lock();
        inner.outbox.release();
        let surplus = inner.settle(&self.account);
        drop(inner);
        self.account.release(surplus);
    }

    /// Locks the mailbox for the driver and clears its notification.
    pub(crate) fn lock_by_task(&self) -> MutexGuard<'_, MailboxState> {
        let inner = self.inner.lock();
        // Clear the flag under the lock and before taking the messages, so that messages added later notify the driver
        // again.
        self.notified.store(false, Ordering::Relaxed);
        inner
    }

    /// Returns the driver's waker, or `None` if the driver has already been woken.
    fn to_wake(&self, inner: &MailboxState) -> Option<Waker> {
        // A load and a store suffice, because only the holder of the lock writes.
        if self.notified.load(Ordering::Relaxed) {
            return None;
        }
        self.notified.store(true, Ordering::Relaxed);
        // Before its first poll, the driver has no waker. This is fine, because the first poll checks the mailbox in
        // any case.
        inner.task.clone()
    }

    /// Returns the close reason, or registers the caller to be woken when the connection closes.
    pub(crate) fn poll_closed(&self, context: &mut Context<'_>, watch: &mut Waiter<'_>) -> Poll<CloseReason> {
        // The close reason is set while output is still pending, so it alone does not mean that the connection has
        // ended.
        self.poll_until(context, watch, |inner| inner.closed.as_deref().filter(|_| inner.over).cloned())
    }

    /// Returns the value of `check`, or registers the caller to be woken when the state of the connection changes.
    fn poll_until<T>(
        &self,
        context: &Context<'_>,
        watch: &mut Waiter<'_>,
        check: impl FnOnce(&MailboxState) -> Option<T>,
    ) -> Poll<T> {
        let mut inner = self.inner.lock();
        if let Some(value) = check(&inner) {
            return Poll::Ready(value);
        }
        let earlier = inner.waiters.register_observer(context.waker(), &mut watch.place);
        drop(inner);
        drop(earlier);
        Poll::Pending
    }

    /// Waits until it is known whether the peer supports the protocol extension.
    pub(crate) fn poll_peer(
        &self,
        context: &mut Context<'_>,
        watch: &mut Waiter<'_>,
    ) -> Poll<Result<PeerKind, SendError>> {
        self.poll_until(context, watch, |inner| match &inner.peer {
            PeerKind::Unknown => inner.check_open().err().map(Err),
            // Return a known kind even if the connection has closed.
            peer => Some(Ok(peer.clone())),
        })
    }

    /// Records whether the peer supports the protocol extension, and wakes the tasks that are waiting for it.
    pub(crate) fn handle_peer_known(&self, peer: PeerKind) {
        let mut inner = self.inner.lock();
        inner.peer = peer;
        let watchers = inner.waiters.take_watchers();
        drop(inner);
        wake_all(watchers);
    }

    /// Waits until the peer has cancelled its hand-off request or the connection has ended.
    pub(crate) fn poll_abandoned(&self, context: &mut Context<'_>, watch: &mut Waiter<'_>) -> Poll<()> {
        self.poll_until(context, watch, |inner| {
            (inner.hand_off_state == HandOffState::Abandoned || inner.closed.is_some()).then_some(())
        })
    }

    /// Records the state of a hand-off of the connection.
    pub(crate) fn set_hand_off_state(&self, hand_off_state: HandOffState) {
        let mut inner = self.inner.lock();
        inner.hand_off_state = hand_off_state;
        let watchers = inner.waiters.take_watchers();
        // The outbox counts as full during a hand-off request, so senders may be able to proceed now.
        self.wake_producers(inner);
        wake_all(watchers);
    }

    /// Removes a stream that has ended from the table, unless its id already belongs to another stream.
    pub(crate) fn leave_stream(&self, stream: &Arc<StreamShared>) {
        self.grant_slots(|inner| inner.streams.leave(stream));
    }

    /// Removes a task that no longer waits for permission to open a stream.
    #[cold]
    pub(crate) fn leave_slot(&self, place: &mut PermitPlace) {
        // Drop the waker without the lock, because it may be the last reference to a task.
        drop(self.grant_slots(|inner| inner.openers.leave(place)));
    }

    /// Removes a task that no longer waits for its stream's turn to send.
    #[cold]
    pub(crate) fn leave_turn(&self, place: &mut PermitPlace) {
        // Drop the waker without the lock, because it may be the last reference to a task.
        drop(self.grant_slots(|inner| inner.waiters.leave_turn(place)));
    }

    /// Revokes grants that tasks have not used in time: turns to send on a stream, and permits to open a stream.
    /// Returns the time at which the next grant expires.
    #[cold]
    pub(crate) fn expire_slots(&self, now: Instant) -> Option<Instant> {
        self.grant_slots(|inner| {
            inner.openers.expire(now);
            if let Some(turns) = inner.waiters.turns() {
                turns.expire(now);
            }
            inner.grants_due()
        })
    }

    /// Applies `change` to the mailbox. Then grants turns to waiting senders of streams, and permits to tasks that wait
    /// to open a stream. Notifies the driver, which revokes grants when they expire. Returns the result of `change`.
    fn grant_slots<T>(&self, change: impl FnOnce(&mut MailboxState) -> T) -> T {
        let mut inner = self.inner.lock();
        let changed = change(&mut inner);
        let mut openers = inner.grant_slots();
        openers.extend(inner.grant_turns(self.backlog_max()));
        let task = if openers.is_empty() { None } else { self.to_wake(&inner) };
        drop(inner);
        wake_all(openers);
        wake(task);
        changed
    }

    /// Records that the connection has ended and its last bytes have been written.
    pub(crate) fn finish(&self) {
        let mut inner = self.inner.lock();
        inner.over = true;
        // The waker refers to the driver's task. Otherwise, the task's memory would be kept until the last handle is
        // dropped.
        let task = inner.task.take();
        let watchers = inner.waiters.take_watchers();
        drop(inner);
        drop(task);
        wake_all(watchers);
    }

    /// Closes the mailbox. Later packets are rejected, all streams are closed, and all waiting tasks are woken.
    pub(crate) fn close(&self, reason: &CloseReason) {
        let mut inner = self.inner.lock();
        // Keep the first reason, because later ones are usually consequences of it.
        if inner.closed.is_some() {
            return;
        }
        inner.closed = Some(Box::new(reason.clone()));
        // Drop shared values outside of the lock, because that may run arbitrary code.
        let (unsent, step) = (std::mem::take(&mut inner.outbox), inner.hand_off.take());
        let surplus = inner.settle(&self.account);
        let (streams, waiters) = (inner.streams.take_all(), inner.waiters.take_all().chain(inner.openers.take_all()));
        drop(inner);
        self.account.release(surplus);
        streams.for_each(|stream| stream.handle_close());
        wake_all(waiters);
        drop((unsent, step));
    }
}

impl MailboxState {
    #[inline]
    pub(crate) fn check_open(&self) -> Result<(), SendError> {
        match &self.closed {
            Some(reason) => Err(SendError::Closed(CloseReason::clone(reason))),
            None => Ok(()),
        }
    }

    /// Returns the backlog in bytes: the bytes that the driver last reported, and the packets still in the mailbox.
    pub(crate) fn queued(&self) -> usize {
        self.outbox.len().saturating_add(self.backlog as usize)
    }

    /// Returns whether senders must wait: the backlog has reached the configured limit `usual`, or a lower limit while
    /// memory is scarce, or a hand-off request of this end is pending.
    pub(crate) fn is_full(&self, usual: usize) -> bool {
        let is_full = self.queued() >= self.output.limit(usual);
        is_full || self.hand_off_state == HandOffState::Requested
    }

    /// Returns how many turns to send fit into the remaining backlog. `usual` is the configured backlog limit in bytes.
    #[inline]
    fn free_turns(&self, usual: usize) -> usize {
        if self.hand_off_state == HandOffState::Requested {
            return 0;
        }
        self.output.limit(usual.min(STREAM_BACKLOG_MAX)).saturating_sub(self.queued()).div_ceil(TURN)
    }

    /// Grants free turns to streams that wait to send. Returns the wakers of their tasks. The caller must then notify
    /// the driver, which revokes unused turns when they expire.
    #[must_use]
    fn grant_turns(&mut self, usual: usize) -> Vec<Waker> {
        let free = self.free_turns(usual);
        self.waiters.turns().map_or_else(Vec::new, |turns| turns.grant(free, clock::now))
    }

    /// Returns the earliest expiry of an unused grant: a turn to send, or a permit to open a stream.
    pub(crate) fn grants_due(&mut self) -> Option<Instant> {
        earlier(self.openers.due(), self.waiters.turns().and_then(|turns| turns.due()))
    }

    /// Records the backlog in bytes that the driver reports.
    fn report(&mut self, backlog: usize) {
        self.backlog = u32::try_from(backlog).unwrap_or(u32::MAX);
    }

    /// Updates the size limit of the outbox from the available memory of the server.
    #[inline]
    pub(crate) fn update_charge(&mut self, account: &Account) {
        self.output.update_charge(&mut self.outbox, account);
    }

    /// Charges the memory of packets that were appended to the outbox.
    #[inline]
    pub(crate) fn charge(&mut self, account: &Account) {
        self.output.charge(&self.outbox, account);
    }

    /// Adjusts the memory charge to the current size of the outbox. The caller must release the returned bytes after it
    /// has unlocked the mailbox.
    #[inline]
    #[must_use]
    fn settle(&mut self, account: &Account) -> usize {
        self.output.settle(&self.outbox, account)
    }

    /// Removes a stream from the table, unless its id already belongs to another stream. Returns the wakers of the
    /// tasks that may proceed.
    #[must_use]
    pub(crate) fn leave_stream(&mut self, stream: &Arc<StreamShared>) -> Vec<Waker> {
        self.streams.leave(stream);
        self.grant_slots()
    }

    /// Grants permits to tasks that wait to open streams. Returns their wakers. The caller must then notify the driver,
    /// which revokes unused permits when they expire.
    #[must_use]
    fn grant_slots(&mut self) -> Vec<Waker> {
        if self.openers.is_empty() {
            return Vec::new();
        }
        self.openers.grant(self.streams.free(&self.peer), clock::now)
    }
}
