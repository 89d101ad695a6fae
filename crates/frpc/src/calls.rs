//! In-flight calls of a connection, and matching of replies to calls. Performs no I/O; the time is passed as an
//! argument.
//!
//! # Decisions
//!
//! * **Deadlines are not sorted.** When the earliest known deadline is reached, all calls in flight are examined. If
//!   all calls have the same timeout, this happens only once per timeout, and the deadline costs each call a single
//!   store.
//! * **Sending a call takes two locks**: that of the mailbox and, nested in it, that of the call table. Receiving a
//!   reply takes only the latter. The request is registered and queued under the lock of the mailbox, so the connection
//!   cannot close in between. This way frisbee needs no concept of calls.
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
mod tests;
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

/// Maximum number of calls in flight on a connection, including cancelled calls without a reply. Of the 16 bits of an
/// id, the highest identifies the end that makes the call. The next one alternates between successive calls in a slot,
/// so that a duplicate reply is not mistaken for the reply to the next call.
pub(crate) const CALLS_MAX: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 14;

/// First id of calls made by the accepting end. Calls made by the dialling end have lower ids.
const ACCEPTING_IDS: u16 = 0x8000;

/// Maximum number of calls in flight before the server has announced its limit. If the limit is lower, the server
/// rejects the excess calls before they run, and they are sent again.
const EARLY_CALLS_MAX: usize = 32;

/// Returns whether a call with this id was made by the accepting end. Only valid between native peers.
#[inline]
pub(crate) fn is_of_accepting_end(id: PacketId) -> bool {
    id.0 >= ACCEPTING_IDS
}

/// Maximum length in bytes of replies that are copied to a buffer of the slot. Longer replies are shared, which
/// prevents reuse of the read buffer. At this length, copying costs as much.
const COPY_MAX: usize = 4 * 1024;

/// Calls in flight on a connection, and the slots and ids that they occupy.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    /// The deadline of the call in each slot.
    deadlines: Vec<Option<Instant>>,
    free: Vec<u16>,
    /// Ids for the next calls in slots that were removed from the end of the table; see [`release`](Self::release).
    ids: Vec<PacketId>,
    /// Callers waiting until a call ends, because the maximum number is in flight.
    pub(crate) queue: PermitQueue,
    /// The connection, set while callers wait for a slot. Its driver revokes slots that were granted but not used in
    /// time.
    driver: Option<Connection>,
    /// Time at which the current poll of the driver began to handle calls, once read. A batch of calls thus reads the
    /// clock only once.
    now: Option<Instant>,
    /// Time before which no deadline passes. May be too early, because the call that it belonged to has ended.
    next_deadline: Option<Instant>,
    /// Status with which calls fail since the connection has ended.
    ended: Option<Status>,
    /// Wakers to drop after the lock is released. A waker may be the last reference to a task whose drop uses this
    /// table.
    pub(crate) stale: Vec<Waker>,
    /// Number of received packets that matched no call.
    unmatched: u64,
    /// Number of cancelled calls whose reply is still outstanding. Their ids must not be reused yet.
    abandoned: usize,
    /// Maximum number of calls in flight, as announced by the server.
    allowed: Option<usize>,
    /// Whether this end has dialled the connection.
    is_dialler: bool,
    /// Kind of the server, which determines how calls are encoded. Unknown until its first packet.
    pub(crate) server: ServerKind,
    /// Free slots and the limit of calls, saved when calls were paused. `None` while they are not.
    paused: Option<(Vec<u16>, Option<usize>)>,
    /// Services that this end calls, with their layouts at the peer.
    pub(crate) offers: CalledServices,
    /// State for reporting calls to observers. `None` if calls are not observed.
    observed: Option<Box<ObservedCalls>>,
    /// Whether to measure the duration of the next call.
    pub(crate) times_next: bool,
    /// Measurement of call durations, for choosing among the servers of a fleet.
    timing: Option<Box<Timing>>,
}

/// Kind of a server, which determines how calls to it are encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ServerKind {
    #[default]
    Unknown,
    Compat,
    Native,
    /// A native server that accepts compressed messages.
    Unpacking,
}

impl ServerKind {
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Self::Native | Self::Unpacking)
    }
}

/// Identifies an in-flight call in the table. Its caller uses it to take the reply or cancel the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallTicket {
    slot: u16,
    /// Packet id of the call.
    pub(crate) id: PacketId,
    /// Whether the call was sent before the server had announced its limits.
    pub(crate) is_early: bool,
}

/// A slot of the call table. Occupies one cache line: with 10 000 calls in flight, handling a reply mostly waits for
/// memory.
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
/// `revoke` frees the slot of a request that was not sent. After the connection has ended,
/// `take_reply` and `abandon` free each slot.
#[derive(Clone, Copy, Debug)]
enum State {
    Free,
    Pending,
    /// Like `Pending`, but the duration of the call is measured.
    Timed,
    /// The reply has been received, and its caller has not taken it yet.
    Replied,
    /// The deadline has passed. The caller has been woken and has not been polled yet.
    Expired,
    /// Like `Expired`, and a reply has been received afterwards.
    Late,
    /// The caller has cancelled the call. The id stays reserved until the peer has replied.
    Abandoned,
}

/// Body of a received reply that its caller has not taken yet.
#[derive(Debug)]
enum Reply {
    /// A copied body of up to [`COPY_MAX`] bytes, in a buffer that is reused.
    Copied(Vec<u8>),
    Shared(Bytes),
}

/// How a call has ended, as reported to its caller.
pub(crate) enum CallOutcome<T> {
    Reply(T),
    /// The deadline has passed. The caller must still [cancel](Calls::abandon) the call.
    Expired,
    /// The connection has ended without a reply.
    Disconnected {
        status: Status,
        /// Deadline of the call.
        until: Option<Instant>,
    },
}

impl Calls {
    /// Like [`begin_in_turn`](Self::begin_in_turn), for a caller that has not waited for a slot.
    #[cfg(test)]
    pub(crate) fn begin(
        &mut self,
        operation: Operation,
        deadline: Option<Instant>,
        caller: &Waker,
    ) -> Result<CallTicket, NotSent> {
        self.begin_in_turn(operation, deadline, caller, &mut PermitPlace::default())
    }

    /// Registers a call. Fails if no slot is free, or if the free slots are reserved for earlier callers. `caller` is
    /// woken when the call ends.
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

    /// Adds a slot to the table.
    #[cold]
    fn add_slot(&mut self, operation: Operation) -> u16 {
        let slot = self.slots.len() as u16; // Below CALLS_MAX.
        let first = if self.is_dialler { 0 } else { ACCEPTING_IDS };
        let id = self.ids.get(usize::from(slot)).copied().unwrap_or(PacketId(first + slot));
        self.slots.push(Slot::new(id, operation));
        self.deadlines.push(None);
        slot
    }

    /// Returns the time, reading the clock at most once per poll of the driver.
    pub(crate) fn now(&mut self, clock: impl FnOnce() -> Instant) -> Instant {
        *self.now.get_or_insert_with(clock)
    }

    /// Adds a caller to the queue for slots. Returns a waker that must be dropped after the lock is released.
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

    /// Grants free slots to callers in the queue. Returns the callers to wake and, if there are any, the connection,
    /// which must also be woken.
    #[must_use]
    pub(crate) fn grant_slots(&mut self) -> (Vec<Waker>, Option<Connection>) {
        if self.queue.is_empty() {
            return (Vec::new(), self.driver.take());
        }
        let callers = self.queue.grant(self.free_slots(), clock::now);
        let driver = if callers.is_empty() { None } else { self.driver.clone() };
        (callers, driver)
    }

    /// Returns the number of free slots. Saturates at 0, because calls that began before the server announced its limit
    /// may exceed it.
    fn free_slots(&self) -> usize {
        self.capacity().saturating_sub(self.slots.len() - self.free.len())
    }

    /// Returns the maximum number of calls in flight.
    fn capacity(&self) -> usize {
        self.allowed.unwrap_or(CALLS_MAX)
    }

    /// Makes this the call table of a dialling end, whose server has not announced its limit yet.
    // Limited until the server announces its limit.
    pub(crate) fn set_dialler(&mut self) {
        self.is_dialler = true;
        self.allowed = Some(EARLY_CALLS_MAX);
    }

    /// Returns whether this end may have made a call with this id.
    pub(crate) fn has_made(&self, id: PacketId) -> bool {
        Self::slot_of(id) < self.slots.len().max(self.ids.len())
    }

    /// Records the kind of the server. `calls_max` is the limit that a native server has announced.
    pub(crate) fn handle_peer_known(&mut self, calls_max: Option<u32>) {
        self.server = if calls_max.is_some() { ServerKind::Native } else { ServerKind::Compat };
        let allowed = calls_max.and_then(|max| usize::try_from(max).ok());
        let allowed = allowed.map(|allowed| allowed.clamp(1, CALLS_MAX));
        match &mut self.paused {
            Some((_, later)) => *later = allowed,
            None => self.allowed = allowed,
        }
    }

    /// Prevents new calls, unless calls are in flight. Returns whether it did. Cancelled calls without a reply count as
    /// in flight.
    pub(crate) fn pause(&mut self) -> bool {
        if !self.is_idle() || self.paused.is_some() {
            return false;
        }
        // The table appears full if it has no free slot and a limit of zero.
        self.paused = Some((std::mem::take(&mut self.free), self.allowed));
        self.allowed = Some(0);
        true
    }

    /// Returns whether no call is in flight. Cancelled calls without a reply count as in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Permits new calls after a [pause](Self::pause).
    pub(crate) fn resume(&mut self) {
        if let Some((free, allowed)) = self.paused.take() {
            self.free = free;
            self.allowed = allowed;
        }
    }

    /// Returns the deadline of the last call in a ticket's slot. This is the ticket's own call until the lock is
    /// released, even if the call has ended.
    pub(crate) fn deadline(&self, ticket: CallTicket) -> Option<Instant> {
        self.deadlines.get(usize::from(ticket.slot)).copied().flatten()
    }

    /// Returns the number of calls in flight, not counting cancelled ones.
    pub(crate) fn at_work(&self) -> usize {
        (self.slots.len() - self.free.len()).saturating_sub(self.abandoned)
    }

    /// Returns the number of cancelled calls without a reply.
    pub(crate) fn abandoned(&self) -> usize {
        self.abandoned
    }

    /// Returns whether cancelled calls without a reply occupy all slots.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.server != ServerKind::Unknown && self.abandoned >= self.capacity().max(1)
    }

    /// Returns the index of the slot for calls with this id.
    fn slot_of(id: PacketId) -> usize {
        usize::from(id.0) & (CALLS_MAX - 1)
    }

    /// Handles a reply from the peer. Returns the caller to wake, if the packet matches a call.
    #[inline(always)]
    pub(crate) fn handle_reply(&mut self, packet: Packet) -> Option<Waker> {
        let slot = Self::slot_of(packet.id);
        let Some(entry) = self.slots.get_mut(slot) else { return self.count_unmatched() };
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
                entry.state = State::Late;
                self.note_late();
                None
            }
            State::Abandoned => {
                entry.vacate(slot, &mut self.free);
                self.note_late();
                self.abandoned -= 1;
                None
            }
            State::Free | State::Replied | State::Late => self.count_unmatched(),
        }
    }

    /// Polls the outcome of a call. Passes the body of a reply to `read`. The ticket becomes invalid once an outcome
    /// other than [`Expired`](CallOutcome::Expired) is returned.
    #[inline(always)]
    pub(crate) fn take_reply<T>(
        &mut self,
        ticket: CallTicket,
        context: &Context<'_>,
        read: impl FnOnce(Body<'_>) -> T,
    ) -> Poll<CallOutcome<T>> {
        let slot = usize::from(ticket.slot);
        let entry = &mut self.slots[slot];
        debug_assert_eq!(entry.id, ticket.id, "a caller polls no more once its call has ended");
        match entry.state {
            State::Replied => {
                let ended = CallOutcome::Reply(read(match &entry.reply {
                    Reply::Copied(body) => Body::Copied(body),
                    Reply::Shared(body) => Body::Shared(body),
                }));
                if let Reply::Shared(_) = entry.reply {
                    entry.reply = Reply::none();
                }
                entry.vacate(slot, &mut self.free);
                Poll::Ready(ended)
            }
            State::Pending | State::Timed => {
                if let Some(status) = &self.ended {
                    let outcome = CallOutcome::Disconnected { status: status.clone(), until: self.deadlines[slot] };
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

    /// Requests that the reply be kept undecoded, because it must be translated first.
    pub(crate) fn share_reply(&mut self, ticket: CallTicket) {
        if let Some(slot) = self.slots.get_mut(usize::from(ticket.slot)) {
            slot.reply = Reply::Shared(Bytes::new());
        }
    }

    /// Removes a call whose request was not sent.
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

    /// Cancels a call. If a native server may still be processing it, `cancel` must send a CANCEL with this id and
    /// operation.
    ///
    /// Invariant: the caller holds the lock of the connection's mailbox, like for
    /// [`begin_in_turn`](Self::begin_in_turn). A reply may release the id at any time, and the CANCEL must be sent before
    /// the request of a later call with the same id.
    pub(crate) fn abandon(&mut self, ticket: CallTicket, cancel: impl FnOnce(PacketId, Operation)) {
        let slot = usize::from(ticket.slot);
        let entry = &mut self.slots[slot];
        debug_assert_eq!(entry.id, ticket.id, "a caller that has its reply has nothing to cancel");
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
        if is_at_work && self.server.is_native() {
            cancel(id, operation);
        }
    }

    /// Expires calls whose deadline has passed, adding their callers to `wake`. Returns the time of the next check.
    /// Called at the end of each poll of the driver.
    ///
    /// Deadlines are not sorted, because most calls end long before theirs. When the earliest known deadline is
    /// reached, all calls are examined. If all calls have the same timeout, this happens once per timeout.
    #[inline(always)]
    pub(crate) fn handle_time(&mut self, now: Instant, wake: &mut Vec<Waker>) -> Option<Instant> {
        self.now = None;
        if self.next_deadline.is_some_and(|next| next <= now) {
            self.handle_due(now, wake);
        }
        self.next_deadline
    }

    /// Expires calls, and reports the measured call if it has ended.
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

    /// Fails all current and later calls, because the connection has ended. Returns the callers to wake.
    pub(crate) fn end(&mut self, status: Status) -> Vec<Waker> {
        self.ended = Some(status);
        self.forget_timed();
        self.times_next = false;
        self.driver = None;
        self.slots.iter_mut().filter_map(|entry| entry.caller.take()).chain(self.queue.take_all()).collect()
    }

    /// Returns the number of received packets that matched no call, because of an unknown id, another operation or a
    /// duplicate reply.
    pub(crate) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Returns whether a call with this id and operation is waiting for its reply.
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

    /// Frees the slot of a call that its caller no longer awaits. Returns whether the id stays reserved until the
    /// server has replied.
    fn leave(&mut self, slot: usize, answered: bool) -> bool {
        let entry = &mut self.slots[slot];
        if answered || self.ended.is_some() {
            entry.vacate(slot, &mut self.free);
            return false;
        }
        self.abandoned += 1;
        debug_assert!(entry.caller.is_none(), "wakers are dropped without the lock");
        entry.state = State::Abandoned;
        entry.reply = Reply::none();
        true
    }
}

impl Slot {
    fn new(id: PacketId, operation: Operation) -> Self {
        Self { id, state: State::Free, operation, caller: None, reply: Reply::none() }
    }

    /// Frees the slot, which has the index `slot`, and advances its id.
    fn vacate(&mut self, slot: usize, free: &mut Vec<u16>) {
        debug_assert!(self.caller.is_none(), "wakers are dropped without the lock");
        self.state = State::Free;
        self.id = PacketId(self.id.0 ^ CALLS_MAX as u16);
        free.push(slot as u16); // Below CALLS_MAX.
    }

    /// Stores the body of the reply. Returns the caller to wake.
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

/// Body of a reply, on which the caller runs its decoder.
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

/// Reason why a call was not put into the outbox.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// The maximum number of calls is in flight.
    Full,
    /// The outbox of the connection is full.
    Blocked,
    /// How the call must be encoded depends on whether the server supports the protocol extension, which is unknown.
    Unclear,
    /// The connection has ended.
    Over(Status),
    Failed(Status),
}
