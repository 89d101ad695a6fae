//! The calls in flight on a connection, and the matching of replies to calls. Pure state; time is an argument.
//!
//! # Decisions
//!
//! * **Deadlines are not sorted.** At the earliest known deadline, all calls in flight are examined. With one timeout for all
//!   calls this happens once per timeout, and a call costs only the store of its deadline.
//! * **A call takes two locks**: the mailbox's and, inside it, the calls' when sending; the calls' alone when answering. frisbee
//!   needs no notion of a call. The request is entered and sent under the lock of the mailbox, so the connection cannot end in between.
//! * **Every request gets one reply, also a cancelled one**, and only the reply frees the id.

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

/// Maximum number of calls in flight on a connection, including cancelled calls that may still be answered. An id has
/// 16 bits. The highest bit identifies the calling end. The next bit distinguishes successive calls in a slot, so that
/// a duplicate reply does not answer the next call.
pub(crate) const CALLS_MAX: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 14;

/// First id of the accepting end's calls. Calls of the dialling end have lower ids.
const ACCEPTING_IDS: u16 = 0x8000;

/// Maximum number of calls in flight before the server has announced its limit. A server with a lower limit rejects
/// some of them.
const EARLY_CALLS_MAX: usize = 32;

/// Returns whether the accepting end made the call with this id, between native peers.
#[inline]
pub(crate) fn is_of_accepting_end(id: PacketId) -> bool {
    id.0 >= ACCEPTING_IDS
}

/// Replies up to this length, in bytes, are copied into a buffer of the slot; longer replies are shared. A copy of this
/// size costs as much as preventing the reuse of the read buffer.
const COPY_MAX: usize = 4 * 1024;

/// The table of calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    /// The deadline of the call in each slot.
    deadlines: Vec<Option<Instant>>,
    free: Vec<u16>,
    /// First ids of released slots; see [`release`](Self::release).
    ids: Vec<PacketId>,
    /// The callers that wait for a slot.
    pub(crate) queue: PermitQueue,
    /// The connection, while callers wait. Its driver checks the time of their grants.
    driver: Option<Connection>,
    /// Time of the last call registered in this turn, so that a batch reads the clock once.
    now: Option<Instant>,
    /// Lower bound of all deadlines. The call that set it may have ended.
    next_deadline: Option<Instant>,
    /// Set when the connection has ended.
    ended: Option<Status>,
    /// Wakers to drop after the lock is released, because each may be the last reference to a task with calls of this
    /// table.
    pub(crate) stale: Vec<Waker>,
    /// Number of packets that matched no call.
    unmatched: u64,
    /// Number of cancelled calls without a reply.
    abandoned: usize,
    /// The server's limit of calls in flight, if it has announced one.
    allowed: Option<usize>,
    /// Whether this end dialled the connection.
    is_dialler: bool,
    /// The kind of the server, as far as known.
    pub(crate) server: ServerKind,
    /// While calls are paused, the free slots and the limit before the pause.
    paused: Option<(Vec<u16>, Option<usize>)>,
    /// The services that this end calls.
    pub(crate) offers: CalledServices,
    /// The records of observed calls, if there are any.
    observed: Option<Box<ObservedCalls>>,
    /// Whether the next call is timed.
    pub(crate) times_next: bool,
    /// Timing of calls on a connection of a fleet.
    timing: Option<Box<Timing>>,
}

/// The kind of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ServerKind {
    #[default]
    Unknown,
    Compat,
    Native,
    /// Like `Native`, and the server accepts the compressed messages that this end sends.
    Unpacking,
}

impl ServerKind {
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Self::Native | Self::Unpacking)
    }
}

/// A caller's handle for its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallTicket {
    slot: u16,
    /// The id in the packets of the call.
    pub(crate) id: PacketId,
}

/// One cache line: with ten thousand calls in flight, most of the cost of a reply is the wait for memory.
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
/// `revoke` frees the slot of a request that was not sent. After the end of the connection `take_reply` and `abandon` free
/// every slot.
#[derive(Clone, Copy, Debug)]
enum State {
    Free,
    Pending,
    /// Like `Pending`, and the call is timed.
    Timed,
    /// The reply has arrived.
    Replied,
    /// The deadline has passed, and the caller has not been polled since.
    Expired,
    /// Like `Expired`, and a reply arrived afterwards.
    Late,
    /// The caller cancelled the call. The id stays reserved until the peer has answered.
    Abandoned,
}

/// The body of a reply, if there is one.
#[derive(Debug)]
enum Reply {
    /// A reply of up to [`COPY_MAX`] bytes, in a buffer that the slot reuses.
    Copied(Vec<u8>),
    Shared(Bytes),
}

/// How a call ended for its caller.
pub(crate) enum CallOutcome<T> {
    Reply(T),
    /// The deadline has passed. The call must still be [cancelled](Calls::abandon).
    Expired,
    /// The connection has ended.
    Disconnected {
        status: Status,
        /// The deadline of the call.
        until: Option<Instant>,
    },
}

impl Calls {
    /// Like [`begin_in_turn`](Self::begin_in_turn), for a caller that has not waited.
    #[cfg(test)]
    pub(crate) fn begin(
        &mut self,
        operation: Operation,
        deadline: Option<Instant>,
        caller: &Waker,
    ) -> Result<CallTicket, NotSent> {
        self.begin_in_turn(operation, deadline, caller, &mut PermitPlace::default())
    }

    /// Registers a call, unless earlier callers wait for the free slots. Wakes `caller` when the call ends.
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
        Ok(CallTicket { slot, id: entry.id })
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

    /// Returns the time, reading the clock at most once per turn.
    pub(crate) fn now(&mut self, clock: impl FnOnce() -> Instant) -> Instant {
        *self.now.get_or_insert_with(clock)
    }

    /// Queues a caller that got no slot. Returns the waker to drop after the lock is released.
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

    /// Grants free slots to waiting callers. Returns the callers to wake, and the connection to wake with them.
    #[must_use]
    pub(crate) fn grant_slots(&mut self) -> (Vec<Waker>, Option<Connection>) {
        if self.queue.is_empty() {
            return (Vec::new(), self.driver.take());
        }
        let callers = self.queue.grant(self.free_slots(), clock::now);
        let driver = if callers.is_empty() { None } else { self.driver.clone() };
        (callers, driver)
    }

    /// Returns how many more calls may begin. The slots in use may exceed the capacity, because calls may have begun
    /// before the server announced its limit.
    fn free_slots(&self) -> usize {
        self.capacity().saturating_sub(self.slots.len() - self.free.len())
    }

    /// Returns the limit of calls in flight.
    fn capacity(&self) -> usize {
        self.allowed.unwrap_or(CALLS_MAX)
    }

    /// Marks this as the table of a dialling end, which does not know the server's limit yet.
    pub(crate) fn set_dialler(&mut self) {
        self.is_dialler = true;
        self.allowed = Some(EARLY_CALLS_MAX);
    }

    /// Returns whether this end may have made a call with this id.
    pub(crate) fn has_made(&self, id: PacketId) -> bool {
        Self::slot_of(id) < self.slots.len().max(self.ids.len())
    }

    /// Records the kind of the server. A native server has announced its limit of calls.
    pub(crate) fn handle_peer_known(&mut self, calls_max: Option<u32>) {
        self.server = if calls_max.is_some() { ServerKind::Native } else { ServerKind::Compat };
        let allowed = calls_max.and_then(|max| usize::try_from(max).ok());
        let allowed = allowed.map(|allowed| allowed.clamp(1, CALLS_MAX));
        match &mut self.paused {
            Some((_, later)) => *later = allowed,
            None => self.allowed = allowed,
        }
    }

    /// Prevents new calls. Returns `false` if a call is in flight, including cancelled calls without a reply.
    pub(crate) fn pause(&mut self) -> bool {
        if !self.is_idle() || self.paused.is_some() {
            return false;
        }
        // Without a free slot and with a limit of zero, the table looks full.
        self.paused = Some((std::mem::take(&mut self.free), self.allowed));
        self.allowed = Some(0);
        true
    }

    /// Returns whether no call is in flight, including cancelled calls without a reply.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Ends a pause.
    pub(crate) fn resume(&mut self) {
        if let Some((free, allowed)) = self.paused.take() {
            self.free = free;
            self.allowed = allowed;
        }
    }

    /// Returns the deadline of the last call registered in this ticket's slot. After a call has ended, this is its own
    /// deadline until the lock is released.
    pub(crate) fn deadline(&self, ticket: CallTicket) -> Option<Instant> {
        self.deadlines.get(usize::from(ticket.slot)).copied().flatten()
    }

    /// Returns the number of calls that the server is processing, as far as this end knows.
    pub(crate) fn at_work(&self) -> usize {
        (self.slots.len() - self.free.len()).saturating_sub(self.abandoned)
    }

    /// Returns the number of ids reserved by cancelled calls.
    pub(crate) fn abandoned(&self) -> usize {
        self.abandoned
    }

    /// Returns whether all slots are occupied by cancelled calls that the server has not answered.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.server != ServerKind::Unknown && self.abandoned >= self.capacity().max(1)
    }

    /// Returns the slot of the call with this id, if there is one.
    fn slot_of(id: PacketId) -> usize {
        usize::from(id.0) & (CALLS_MAX - 1)
    }

    /// Processes a packet of the peer. Returns the caller to wake if the packet answers a call.
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

    /// Returns the outcome of the call if it has ended. `read` receives the body of the reply. `Ready` invalidates the
    /// ticket, unless the call has expired.
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

    /// Has the reply of a call not be decoded in place, because it is in another layout.
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

    /// Cancels a call. If a native server is still processing it, `cancel` sends a CANCEL with this id and operation.
    ///
    /// Invariant: the lock of the connection's mailbox is held, as in [`begin`](Self::begin). A reply may free the id
    /// at any moment, and the request of a later call with that id must not be sent before the CANCEL.
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

    /// Marks calls whose deadline has passed, adds their callers to `wake`, and returns the time of the next check.
    /// Called at the end of each turn.
    ///
    /// Most calls end long before their deadline, so deadlines are not sorted. All calls are examined when the earliest
    /// known deadline has come: with one timeout for all calls, once per timeout.
    #[inline(always)]
    pub(crate) fn handle_time(&mut self, now: Instant, wake: &mut Vec<Waker>) -> Option<Instant> {
        self.now = None;
        if self.next_deadline.is_some_and(|next| next <= now) {
            self.handle_due(now, wake);
        }
        self.next_deadline
    }

    /// Checks the deadlines of all calls, and the call that is timed.
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

    /// Ends the table with its connection. All current and later calls fail.
    pub(crate) fn end(&mut self, status: Status) -> Vec<Waker> {
        self.ended = Some(status);
        self.forget_timed();
        self.times_next = false;
        self.driver = None;
        self.slots.iter_mut().filter_map(|entry| entry.caller.take()).chain(self.queue.take_all()).collect()
    }

    /// Returns the number of packets that matched no call: unknown ids, wrong operations, duplicate replies.
    pub(crate) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Returns whether a call with this id and operation waits for its reply.
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

    /// Removes the caller. Returns whether the id stays reserved until the server has answered.
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

    /// Frees `slot` and advances it to its next id.
    fn vacate(&mut self, slot: usize, free: &mut Vec<u16>) {
        debug_assert!(self.caller.is_none(), "wakers are dropped without the lock");
        self.state = State::Free;
        self.id = PacketId(self.id.0 ^ CALLS_MAX as u16);
        free.push(slot as u16); // Below CALLS_MAX.
    }

    /// Stores the reply. Returns the caller to wake.
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

/// The body of a reply.
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

/// Why a call was not sent.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// The limit of calls in flight is reached.
    Full,
    /// The outbox is full.
    Blocked,
    /// The call depends on the kind of the server, which is not yet known.
    Unclear,
    /// The connection has ended.
    Over(Status),
    Failed(Status),
}
