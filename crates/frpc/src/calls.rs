//! The table of a connection's calls in flight, which matches replies to calls. It performs no I/O.
//!
//! # Decisions
//!
//! * **Deadlines are not sorted.** When the earliest known deadline is reached, all calls in flight are examined. If
//!   all calls have the same timeout, this happens only once per timeout, and the deadline of a call costs a single
//!   store.
//! * **Sending a call takes two locks**: the lock of the mailbox and, nested in it, that of the call table. Receiving a
//!   reply takes only the latter. The request is registered and queued under the lock of the mailbox, so the connection
//!   cannot close in between. This way, frisbee needs no concept of calls.
//! * **Every request gets exactly one reply, even a cancelled one**, and only the reply releases the id.

pub(crate) mod attachments;
pub(crate) mod events;
pub(crate) mod failures;
#[cfg(all(test, frisbee_loom))]
mod model_tests;
pub(crate) mod observed;
pub(crate) mod offers;
mod release;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod tests;
mod timing;

use crate::Status;
use crate::calls::events::MeasuredEnd;
use crate::calls::observed::ObservedCalls;
use crate::calls::offers::CalledServices;
use crate::calls::timing::Timing;
use crate::clock;
use bytes::Bytes;
use frisbee::{Connection, Operation, Packet, PacketId, PermitPlace, PermitQueue};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Maximum number of calls in flight on a connection, including cancelled calls without a reply. The highest of the 16
/// bits of an id identifies the side that makes the call. The next bit alternates between successive calls in a slot,
/// so that a duplicate reply is not mistaken for the reply to the next call. The remaining bits are the slot.
pub(crate) const CALLS_MAX: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 14;

/// First id of calls made by the accepting side of a connection. Calls made by the side that dialled have lower ids.
const ACCEPTING_IDS: u16 = 0x8000;

/// Maximum number of concurrent calls before the server has announced its own limit. If the announced limit is lower,
/// the server rejects excess calls without running them, and the client sends them again.
const EARLY_CALLS_MAX: usize = 32;

/// Returns whether `id` belongs to a call made by the accepting side of the connection. Only native frpc peers assign
/// ids this way.
#[inline]
pub(crate) fn is_of_accepting_end(id: PacketId) -> bool {
    id.0 >= ACCEPTING_IDS
}

/// Maximum length in bytes of replies that are copied into a reusable buffer. A longer reply shares the read buffer
/// instead, because copying it would cost more than replacing that buffer.
const COPY_MAX: usize = 4 * 1024;

/// The call table of a connection: calls in flight, with the slots and packet ids that they occupy.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    /// Deadline of the call in each slot, if it has one.
    deadlines: Vec<Option<Instant>>,
    free: Vec<u16>,
    /// Next packet id of each slot that [`release`](Self::release) has removed from the table.
    ids: Vec<PacketId>,
    /// Queue of callers waiting for a free slot, because the maximum number of calls is in flight.
    pub(crate) queue: PermitQueue,
    /// The connection, while callers wait for slots. Its driver revokes granted slots that are not used in time.
    driver: Option<Connection>,
    /// Cached time of the current poll of the driver, so that a batch of calls reads the clock only once.
    now: Option<Instant>,
    /// Lower bound of all deadlines in the table. May be earlier than the next deadline, because the call with the
    /// earliest deadline may have ended.
    next_deadline: Option<Instant>,
    /// Status that every call fails with after the connection has closed.
    ended: Option<Status>,
    /// Wakers to drop after the lock is released: a waker may hold the last reference to a task whose destructor
    /// accesses this table.
    pub(crate) stale: Vec<Waker>,
    /// Number of received packets that matched no call in flight.
    unmatched: u64,
    /// Number of cancelled calls without a reply so far. Their packet ids must not be reused until then.
    abandoned: usize,
    /// Maximum number of concurrent calls that the server has announced, once known.
    allowed: Option<usize>,
    /// Whether the local peer dialled the connection rather than accepted it.
    is_dialler: bool,
    /// Kind of the server, which determines how calls are encoded. Unknown until the server's first packet.
    pub(crate) server: ServerKind,
    /// Free slots and call limit saved while new calls are paused. `None` if they are not paused.
    paused: Option<(Vec<u16>, Option<usize>)>,
    /// Services that this peer calls, with their wire layouts on this connection.
    pub(crate) offers: CalledServices,
    /// State for reporting calls to observers. `None` if the calls are not observed.
    observed: Option<Box<ObservedCalls>>,
    /// Whether to measure the duration of the next call.
    pub(crate) times_next: bool,
    /// Measurement of call durations, used to choose among the servers of a load-balanced channel.
    timing: Option<Box<Timing>>,
}

/// Kind of the server on a connection. Determines how calls are encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ServerKind {
    #[default]
    Unknown,
    Compat,
    Native,
    /// A native frpc server that accepts compressed messages.
    Decompressing,
}

impl ServerKind {
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Self::Native | Self::Decompressing)
    }
}

/// Identifies an in-flight call in the call table. The caller uses it to take the reply or to cancel the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallTicket {
    slot: u16,
    /// Packet id of the call, which the reply repeats.
    pub(crate) id: PacketId,
    /// Whether the call was sent before the server announced its limit of concurrent calls.
    pub(crate) is_early: bool,
}

/// A slot of the call table. It fits into one cache line, because with 10 000 calls in flight, handling a reply mostly
/// waits for memory.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    id: PacketId,
    state: State,
    operation: Operation,
    caller: Option<Waker>,
    reply: Reply,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// State of a slot.
///
/// ```text
///         begin                      handle_reply             take_reply, abandon
///   Free -------> Pending or Timed --------------> Replied -------------------------> Free
///                  |           |
///      handle_time |           | abandon
///                  v           v
///               Expired ----> Abandoned -------------------------------------------> Free
///                  |  abandon             handle_reply
///     handle_reply |
///                  v
///                 Late ------------------------------------------------------------> Free
///                                         abandon
/// ```
///
/// `revoke` frees the slot of a request that was not sent. After the connection has ended, `take_reply` and `abandon`
/// free the slots.
#[derive(Clone, Copy, Debug)]
enum State {
    Free,
    Pending,
    /// Like `Pending`, but the duration of the call is being measured.
    Timed,
    /// The reply has been received, but the caller has not taken it yet.
    Replied,
    /// The deadline has passed. The caller has been woken but has not polled the call yet.
    Expired,
    /// Like `Expired`, but a reply was received after the deadline.
    Late,
    /// The caller has cancelled the call. Its packet id stays reserved until the peer replies.
    Abandoned,
}

/// Body of a received reply that the caller has not taken yet.
#[derive(Debug)]
enum Reply {
    /// A body of up to [`COPY_MAX`] bytes, copied into a buffer that later calls reuse.
    Copied(Vec<u8>),
    Shared(Bytes),
}

/// Outcome of a call, as reported to its caller.
pub(crate) enum CallOutcome<T> {
    Reply(T),
    /// The deadline has passed. The caller must still [cancel](Calls::abandon) the call to free its slot.
    Expired,
    /// The connection closed before a reply arrived.
    Disconnected(Status),
}

impl Calls {
    /// Registers a call like [`begin_in_turn`](Self::begin_in_turn), for a caller that has not queued for a slot.
    #[cfg(test)]
    pub(crate) fn begin(
        &mut self,
        operation: Operation,
        deadline: Option<Instant>,
        caller: &Waker,
    ) -> Result<CallTicket, NotSent> {
        self.begin_in_turn(operation, deadline, caller, &mut PermitPlace::default())
    }

    /// Registers a call in a free slot and returns its ticket. `place` is the caller's place in the queue for slots.
    /// Fails if no slot is free, or if the free slots are reserved for callers that queued earlier. `caller` is woken
    /// when the call ends.
    #[inline]
    pub(crate) fn begin_in_turn(
        &mut self,
        operation: Operation,
        deadline: Option<Instant>,
        caller: &Waker,
        place: &mut PermitPlace,
    ) -> Result<CallTicket, NotSent> {
        if let Some(status) = &self.ended {
            return Err(NotSent::Over(status.clone().not_run()));
        }
        if !self.queue.take(place, self.free_slots()) {
            return Err(NotSent::Full);
        }
        let slot = self.free.pop().unwrap_or_else(|| self.add_slot(operation));
        let entry = &mut self.slots[usize::from(slot)];
        entry.state = State::Pending;
        entry.operation = operation;
        self.deadlines[usize::from(slot)] = deadline;
        entry.caller = Some(caller.clone());
        if let Some(deadline) = deadline
            && self.next_deadline.is_none_or(|next| deadline < next)
        {
            self.next_deadline = Some(deadline);
        }
        Ok(CallTicket { slot, id: entry.id, is_early: self.server == ServerKind::Unknown })
    }

    /// Appends a slot for a call of `operation` to the table and returns the index of the slot.
    #[cold]
    fn add_slot(&mut self, operation: Operation) -> u16 {
        let slot = self.slots.len() as u16; // The number of slots is below CALLS_MAX.
        let first = if self.is_dialler { 0 } else { ACCEPTING_IDS };
        let id = self.ids.get(usize::from(slot)).copied().unwrap_or(PacketId(first + slot));
        self.slots.push(Slot::new(id, operation));
        self.deadlines.push(None);
        slot
    }

    /// Returns the current time, reading the clock at most once per poll of the connection's driver.
    pub(crate) fn now(&mut self, clock: impl FnOnce() -> Instant) -> Instant {
        *self.now.get_or_insert_with(clock)
    }

    /// Queues a caller for a free slot, or updates its waker if it is queued already. Returns the replaced waker, which
    /// must be dropped after the lock is released.
    #[must_use]
    pub(crate) fn wait(
        &mut self,
        place: &mut PermitPlace,
        context: &Context<'_>,
        connection: &Connection,
    ) -> Option<Waker> {
        self.driver.get_or_insert_with(|| connection.clone());
        self.queue.enter(place, context)
    }

    /// Grants free slots to queued callers. Returns the callers to wake, and the connection if its driver must be woken
    /// because of them. If no caller is queued, returns the connection that the table no longer needs.
    #[must_use]
    pub(crate) fn grant_slots(&mut self) -> (Vec<Waker>, Option<Connection>) {
        if self.queue.is_empty() {
            return (Vec::new(), self.driver.take());
        }
        let callers = self.queue.grant(self.free_slots(), clock::now);
        let driver = if callers.is_empty() { None } else { self.driver.clone() };
        (callers, driver)
    }

    /// Returns the number of slots that new calls may use. Saturates at 0, because calls that began before the server
    /// announced its limit may exceed it.
    fn free_slots(&self) -> usize {
        self.capacity().saturating_sub(self.slots.len() - self.free.len())
    }

    /// Returns the maximum number of concurrent calls.
    fn capacity(&self) -> usize {
        self.allowed.unwrap_or(CALLS_MAX)
    }

    /// Configures the table for the side that dialled. Until the server has announced its limit of concurrent calls,
    /// the limit is [`EARLY_CALLS_MAX`].
    pub(crate) fn set_dialler(&mut self) {
        self.is_dialler = true;
        self.allowed = Some(EARLY_CALLS_MAX);
    }

    /// Returns whether the local peer may have made a call with this id.
    pub(crate) fn has_made(&self, id: PacketId) -> bool {
        Self::slot_of(id) < self.slots.len().max(self.ids.len())
    }

    /// Records the kind of the server once it is known. `calls_max` is the limit of concurrent calls that a native
    /// server has announced, and `None` for a compat server.
    pub(crate) fn handle_peer_known(&mut self, calls_max: Option<u32>) {
        self.server = if calls_max.is_some() { ServerKind::Native } else { ServerKind::Compat };
        let allowed = calls_max.and_then(|max| usize::try_from(max).ok());
        let allowed = allowed.map(|allowed| allowed.clamp(1, CALLS_MAX));
        match &mut self.paused {
            // Store the limit until `resume`, because setting it now would end the pause.
            Some((_, later)) => *later = allowed,
            None => self.allowed = allowed,
        }
    }

    /// Blocks new calls if none are in flight, and returns whether it did. Cancelled calls without a reply count as in
    /// flight.
    pub(crate) fn pause(&mut self) -> bool {
        if !self.is_idle() || self.paused.is_some() {
            return false;
        }
        // Make the table appear full by removing its free slots and setting the limit to zero.
        self.paused = Some((std::mem::take(&mut self.free), self.allowed));
        self.allowed = Some(0);
        true
    }

    /// Returns whether no call is in flight. Cancelled calls without a reply count as in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Allows new calls again after a [pause](Self::pause).
    pub(crate) fn resume(&mut self) {
        if let Some((free, allowed)) = self.paused.take() {
            self.free = free;
            self.allowed = allowed;
        }
    }

    /// Returns the deadline of the latest call in the ticket's slot. This is the ticket's call even if it has just
    /// ended, because its slot is not reused before the table's lock is released.
    pub(crate) fn deadline(&self, ticket: CallTicket) -> Option<Instant> {
        self.deadlines.get(usize::from(ticket.slot)).copied().flatten()
    }

    /// Returns the number of calls in flight, excluding cancelled ones.
    pub(crate) fn at_work(&self) -> usize {
        let free = self.paused.as_ref().map_or(&self.free, |(free, _)| free);
        (self.slots.len() - free.len()).saturating_sub(self.abandoned)
    }

    /// Returns the number of cancelled calls that the server has not answered yet.
    pub(crate) fn abandoned(&self) -> usize {
        self.abandoned
    }

    /// Returns whether every slot is occupied by a cancelled call that the server has not answered yet.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.server != ServerKind::Unknown && self.abandoned >= self.capacity().max(1)
    }

    /// Returns the index of the slot that a packet id belongs to.
    fn slot_of(id: PacketId) -> usize {
        usize::from(id.0) & (CALLS_MAX - 1)
    }

    /// Stores a reply in the slot of its call. Returns the caller's waker if the call is waiting for this reply.
    #[inline(always)]
    pub(crate) fn handle_reply(&mut self, packet: Packet) -> Option<Waker> {
        let slot = Self::slot_of(packet.id);
        let Some(entry) = self.slots.get_mut(slot) else { return self.count_unmatched() };
        // Compare the whole id: its alternating bit rejects a duplicate reply to the previous call in the slot.
        if entry.id != packet.id || entry.operation != packet.operation {
            return self.count_unmatched();
        }
        match entry.state {
            State::Pending => entry.answer(packet.body),
            State::Timed => {
                let caller = entry.answer(packet.body);
                self.end_timed(MeasuredEnd::Answered, true);
                caller
            }
            State::Expired => {
                // Discard the late reply, but keep the slot until the caller has polled the call and received the
                // expiry.
                entry.state = State::Late;
                self.note_late();
                None
            }
            State::Abandoned => {
                // Free the slot of a cancelled call only when its reply arrives. Otherwise, the reply could be taken
                // for that of a later call.
                entry.vacate(slot, &mut self.free);
                self.note_late();
                self.abandoned -= 1;
                None
            }
            State::Free | State::Replied | State::Late => self.count_unmatched(),
        }
    }

    /// Polls the outcome of a call. If the reply has arrived, passes its body to `read`. Otherwise, stores the waker of
    /// `context`. An outcome other than [`Expired`](CallOutcome::Expired) frees the slot, and `ticket` is then invalid.
    #[inline(always)]
    pub(crate) fn take_reply<T>(
        &mut self,
        ticket: CallTicket,
        context: &Context<'_>,
        read: impl FnOnce(Body<'_>) -> T,
    ) -> Poll<CallOutcome<T>> {
        let slot = usize::from(ticket.slot);
        let entry = &mut self.slots[slot];
        debug_assert_eq!(entry.id, ticket.id, "caller should not poll a call that has ended");
        match entry.state {
            State::Replied => {
                let ended = CallOutcome::Reply(read(match &entry.reply {
                    Reply::Copied(body) => Body::Copied(body),
                    Reply::Shared(body) => Body::Shared(body),
                }));
                // Release the read buffer now. The buffer of a copied body is kept for the next call in the slot.
                if let Reply::Shared(_) = entry.reply {
                    entry.reply = Reply::none();
                }
                entry.vacate(slot, &mut self.free);
                Poll::Ready(ended)
            }
            State::Pending | State::Timed => {
                // Check this last, because a reply that arrived before the connection ended is still valid.
                if let Some(status) = &self.ended {
                    let outcome = CallOutcome::Disconnected(status.clone());
                    entry.vacate(slot, &mut self.free);
                    return Poll::Ready(outcome);
                }
                if !entry.caller.as_ref().is_some_and(|caller| caller.will_wake(context.waker())) {
                    self.stale.extend(entry.caller.replace(context.waker().clone()));
                }
                Poll::Pending
            }
            State::Expired | State::Late | State::Free | State::Abandoned => Poll::Ready(CallOutcome::Expired),
        }
    }

    /// Stops storing the reply of this call in the reusable buffer, because it must be translated from the peer's
    /// layout.
    pub(crate) fn share_reply(&mut self, ticket: CallTicket) {
        if let Some(slot) = self.slots.get_mut(usize::from(ticket.slot)) {
            slot.reply = Reply::Shared(Bytes::new());
        }
    }

    /// Removes a call and frees its slot, because its request was not sent.
    pub(crate) fn revoke(&mut self, ticket: CallTicket) {
        let slot = usize::from(ticket.slot);
        if matches!(self.slots[slot].state, State::Timed) {
            self.forget_timed();
        }
        self.forget_observed(slot);
        self.stale.extend(self.slots[slot].caller.take());
        self.slots[slot].reply = Reply::none();
        self.slots[slot].vacate(slot, &mut self.free);
    }

    /// Cancels a call. If a native server may still be processing it, calls `cancel`, which must send a CANCEL with
    /// this id and operation.
    ///
    /// Invariant: the caller holds the lock of the connection's mailbox, as for [`begin_in_turn`](Self::begin_in_turn).
    /// Otherwise, a reply could release the id, and the CANCEL could be sent after the request of a later call with the
    /// same id.
    pub(crate) fn abandon(&mut self, ticket: CallTicket, cancel: impl FnOnce(PacketId, Operation)) {
        let slot = usize::from(ticket.slot);
        let entry = &mut self.slots[slot];
        debug_assert_eq!(entry.id, ticket.id, "caller should not cancel a call that has ended");
        let (id, operation) = (entry.id, entry.operation);
        self.stale.extend(entry.caller.take());
        let is_at_work = match entry.state {
            State::Pending => self.leave(slot, false),
            State::Timed => {
                self.end_timed(MeasuredEnd::Abandoned, false);
                self.leave(slot, false)
            }
            State::Expired => self.leave(slot, false),
            State::Late => self.leave(slot, true),
            State::Replied => {
                entry.reply = Reply::none();
                entry.vacate(slot, &mut self.free);
                false
            }
            State::Free | State::Abandoned => false,
        };
        // Compat servers do not support CANCEL.
        if is_at_work && self.server.is_native() {
            cancel(id, operation);
        }
    }

    /// Expires calls that have passed their deadline, adding their callers to `wake`. Returns the time of the next
    /// check. Called at the end of each poll of the driver.
    #[inline(always)]
    pub(crate) fn handle_time(&mut self, now: Instant, wake: &mut Vec<Waker>) -> Option<Instant> {
        // Clear the cached time, which is valid only within one poll of the driver.
        self.now = None;
        if self.next_deadline.is_some_and(|next| next <= now) {
            self.handle_due(now, wake);
        }
        self.next_deadline
    }

    /// Ends calls that have passed their deadline, adding their callers to `wake`. Also reports the duration of the
    /// measured call if that call has ended.
    #[cold]
    fn handle_due(&mut self, now: Instant, wake: &mut Vec<Waker>) {
        if !self.measure_timed(now) {
            return;
        }
        self.next_deadline = None;
        let mut is_timed_late = false;
        for (entry, deadline) in self.slots.iter_mut().zip(&self.deadlines) {
            let is_timed = matches!(entry.state, State::Timed);
            let Some(deadline) = deadline.filter(|_| is_timed || matches!(entry.state, State::Pending)) else {
                continue;
            };
            if deadline <= now {
                entry.state = State::Expired;
                wake.extend(entry.caller.take());
                is_timed_late |= is_timed;
            } else {
                self.next_deadline = Some(self.next_deadline.map_or(deadline, |next| next.min(deadline)));
            }
        }
        if is_timed_late {
            self.measure_late(now);
        }
    }

    /// Fails all current and future calls with `status`, because the connection has closed. Returns the callers to
    /// wake.
    pub(crate) fn end(&mut self, status: Status) -> Vec<Waker> {
        self.ended = Some(status);
        self.forget_timed();
        self.times_next = false;
        self.driver = None;
        self.slots.iter_mut().filter_map(|entry| entry.caller.take()).chain(self.queue.take_all()).collect()
    }

    /// Returns the number of received packets that matched no call: they had an unknown id or another operation number,
    /// or were duplicate replies.
    pub(crate) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Returns whether a packet with this id and operation number may be a reply to a call that is in flight, has
    /// expired or was cancelled.
    pub(crate) fn is_pending(&self, id: PacketId, operation: Operation) -> bool {
        let entry = self.slots.get(usize::from(id.0) & (CALLS_MAX - 1));
        entry.is_some_and(|entry| {
            entry.id == id && entry.operation == operation && !matches!(entry.state, State::Free | State::Replied)
        })
    }

    #[cold]
    fn count_unmatched(&mut self) -> Option<Waker> {
        self.unmatched += 1;
        None
    }

    /// Releases the slot of a call that its caller no longer awaits. If the server has `answered` or the connection has
    /// ended, frees the slot and returns `false`. Otherwise, the slot and its packet id stay reserved until the server
    /// replies.
    fn leave(&mut self, slot: usize, answered: bool) -> bool {
        let entry = &mut self.slots[slot];
        // If the connection has ended, free the slot too, because no late reply can arrive.
        if answered || self.ended.is_some() {
            entry.vacate(slot, &mut self.free);
            return false;
        }
        self.abandoned += 1;
        debug_assert!(entry.caller.is_none(), "waker should be dropped without the lock");
        entry.state = State::Abandoned;
        entry.reply = Reply::none();
        true
    }
}

impl Slot {
    fn new(id: PacketId, operation: Operation) -> Self {
        Self { id, state: State::Free, operation, caller: None, reply: Reply::none() }
    }

    /// Marks this slot, whose index is `slot`, as free. Flips the alternating bit of its packet id, so that a duplicate
    /// reply to the ended call is recognized.
    fn vacate(&mut self, slot: usize, free: &mut Vec<u16>) {
        debug_assert!(self.caller.is_none(), "waker should be dropped without the lock");
        self.state = State::Free;
        self.id = PacketId(self.id.0 ^ CALLS_MAX as u16);
        free.push(slot as u16); // The number of slots is below CALLS_MAX.
    }

    /// Stores the body of a reply in the slot. Returns the waker of the caller.
    #[inline(always)]
    fn answer(&mut self, body: Bytes) -> Option<Waker> {
        self.state = State::Replied;
        match &mut self.reply {
            Reply::Copied(buffer) if body.len() <= COPY_MAX => {
                buffer.clear();
                buffer.extend_from_slice(&body);
            }
            reply => *reply = Reply::Shared(body),
        }
        self.caller.take()
    }
}

impl Reply {
    fn none() -> Self {
        Self::Copied(Vec::new())
    }
}

/// Body of a reply that the caller has yet to decode.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    Copied(&'a [u8]),
    Shared(&'a Bytes),
}

impl Body<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Copied(body) => body.len(),
            Self::Shared(body) => body.len(),
        }
    }
}

/// Reason why the request of a call was not queued for sending.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// The maximum number of concurrent calls is in flight.
    Full,
    /// The send buffer of the connection is full.
    Blocked,
    /// The server has not shown yet whether it is native or compat, which determines the encoding of the request.
    Unclear,
    /// The connection has closed.
    Over(Status),
    Failed(Status),
}
