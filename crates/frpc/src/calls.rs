//! The calls in flight on a connection: which reply belongs to whom. Pure state; time is an argument.

pub(crate) mod attached;
pub(crate) mod failures;
#[cfg(all(test, frisbee_loom))]
mod models;
pub(crate) mod offers;
mod release;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use crate::Status;
use crate::calls::offers::Offers;
use bytes::Bytes;
use frisbee::{Operation, Packet, PacketId};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Calls that may be in flight on a connection at one time, those included that were given up and may still be
/// answered. An id has 16 bits; the two that are left tell the uses of a slot apart, so that a reply that comes
/// twice does not answer the next call.
pub(crate) const CALLS_MAX: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 14;

/// Replies up to this length, in bytes, are copied into a buffer that the slot keeps; longer ones are shared. A copy
/// of this size costs as much as keeping the read buffer from being used again.
const COPY_MAX: usize = 4 * 1024;

/// The table of calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    /// When the call in each slot expires.
    deadlines: Vec<Option<Instant>>,
    free: Vec<u16>,
    /// With which id a slot begins that is not there any more; see [`release`](Self::release).
    ids: Vec<PacketId>,
    /// How many callers wait for a slot.
    waiting: usize,
    /// The time of the last registration since the last turn: one look at the clock serves a batch.
    now: Option<Instant>,
    /// No deadline is earlier; it may belong to a call that is over.
    next_deadline: Option<Instant>,
    /// Set when the connection has ended.
    ended: Option<Status>,
    /// Packets that answered nothing.
    strays: u64,
    /// Calls that were given up and not answered yet.
    given_up: usize,
    /// Calls that the server takes at one time, if it has said so.
    allowed: Option<usize>,
    /// What the server is, as far as it has shown.
    pub(crate) server: ServerKind,
    /// While calls are paused: what was free, and how many calls were allowed.
    paused: Option<(Vec<u16>, Option<usize>)>,
    /// Which services may be called.
    pub(crate) offers: Offers,
}

/// What a caller has to know of its server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ServerKind {
    #[default]
    Unknown,
    Plain,
    Extended,
}

/// Which call a caller holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticket {
    slot: u16,
    /// What the packets of the call carry.
    pub(crate) id: PacketId,
}

/// As much as the processor fetches at one time: with ten thousand calls in flight, waiting for memory is most of what
/// a reply costs.
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
///            begin              handle_reply             take_reply
///   Free ------------> Waiting --------------> Replied ------------> Free
///                        | |                                          ^
///                expire  | |  give_up                   handle_reply  |
///                        | +------------------------> GivenUp --------+
///                        v                              ^
///                     Expired --------------------------+
///                                   give_up
/// ```
#[derive(Clone, Copy, Debug)]
enum State {
    Free,
    Waiting,
    /// The reply is there.
    Replied,
    /// The deadline has passed and the caller has not looked yet. The flag says that the reply came afterwards.
    Expired(bool),
    /// The caller has gone; the id stays out of use until the peer has answered.
    GivenUp,
}

/// The body of a reply, if there is one.
#[derive(Debug)]
enum Reply {
    /// Up to [`COPY_MAX`], in a buffer that is kept from one call to the next.
    Copied(Vec<u8>),
    Shared(Bytes),
}

/// How a call ended for its caller.
pub(crate) enum Ended<T> {
    Reply(T),
    /// The deadline has passed. The call is still to be [given up](Calls::give_up).
    Expired,
    /// The connection has ended.
    Lost {
        status: Status,
        /// Until when the call may take.
        until: Option<Instant>,
    },
}

impl Calls {
    /// Enters a call, whose `caller` is woken when it has ended. One that is not given is asked for the first time that
    /// the reply is.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        operation: Operation,
        deadline: Option<Instant>,
        caller: Option<&Waker>,
    ) -> Result<Ticket, BeginError> {
        if let Some(status) = &self.ended {
            return Err(BeginError::Ended(status.clone()));
        }
        if !self.has_place() {
            return Err(BeginError::Full);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.len() as u16; // Below CALLS_MAX.
            let id = self.ids.get(usize::from(slot)).copied().unwrap_or(PacketId(slot));
            self.slots.push(Slot::new(id, operation));
            self.deadlines.push(None);
            slot
        });
        let entry = &mut self.slots[usize::from(slot)];
        entry.state = State::Waiting;
        entry.operation = operation;
        self.deadlines[usize::from(slot)] = deadline;
        entry.caller = caller.cloned();
        if let Some(deadline) = deadline {
            self.next_deadline = Some(self.next_deadline.map_or(deadline, |next| next.min(deadline)));
        }
        Ok(Ticket { slot, id: entry.id })
    }

    /// The time, looked up at most once between two turns.
    pub(crate) fn now(&mut self, clock: impl FnOnce() -> Instant) -> Instant {
        *self.now.get_or_insert_with(clock)
    }

    /// Counts a caller that waits for a slot, or that waits no more.
    pub(crate) fn count_waiting(&mut self, waits: bool) {
        self.waiting = if waits { self.waiting + 1 } else { self.waiting - 1 };
    }

    /// Whether a caller waits for a slot and there is one.
    #[inline]
    pub(crate) fn has_vacancy(&self) -> bool {
        self.waiting > 0 && self.has_place()
    }

    /// Whether a further call may be in flight. More slots than places may be free: calls may have begun before the
    /// server said how many it takes.
    #[inline]
    fn has_place(&self) -> bool {
        self.slots.len() - self.free.len() < self.places()
    }

    /// Calls that may be in flight.
    #[inline]
    fn places(&self) -> usize {
        self.allowed.unwrap_or(CALLS_MAX)
    }

    /// Takes in what the server is, and how many calls it takes if it is one of ours.
    pub(crate) fn handle_peer_known(&mut self, calls_max: Option<u32>) {
        self.server = if calls_max.is_some() { ServerKind::Extended } else { ServerKind::Plain };
        let allowed = calls_max.and_then(|max| usize::try_from(max).ok());
        let allowed = allowed.map(|allowed| allowed.clamp(1, CALLS_MAX));
        match &mut self.paused {
            Some((_, later)) => *later = allowed,
            None => self.allowed = allowed,
        }
    }

    /// Lets no call begin, if none is in flight, none that was given up included. `false` otherwise.
    pub(crate) fn pause(&mut self) -> bool {
        if !self.is_idle() || self.paused.is_some() {
            return false;
        }
        // Without a place that is free and with none allowed, a table looks full.
        self.paused = Some((std::mem::take(&mut self.free), self.allowed));
        self.allowed = Some(0);
        true
    }

    /// Whether no call is in flight, none that was given up included.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Lets calls begin again.
    pub(crate) fn resume(&mut self) {
        if let Some((free, allowed)) = self.paused.take() {
            self.free = free;
            self.allowed = allowed;
        }
    }

    /// How many ids are out of use because their calls were given up.
    pub(crate) fn given_up(&self) -> usize {
        self.given_up
    }

    /// Whether every call that the server takes has been given up, and it has answered none of them.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.given_up >= self.places().max(1)
    }

    /// Takes in a packet of the peer; the caller to wake, if it answers a call.
    pub(crate) fn handle_reply(&mut self, packet: Packet) -> Option<Waker> {
        let slot = usize::from(packet.id.0) & (CALLS_MAX - 1);
        let Some(entry) = self.slots.get_mut(slot) else { return self.stray() };
        if entry.id != packet.id || entry.operation != packet.operation {
            return self.stray();
        }
        match entry.state {
            State::Waiting => {
                entry.state = State::Replied;
                match &mut entry.reply {
                    Reply::Copied(buffer) if packet.body.len() <= COPY_MAX => {
                        buffer.clear();
                        buffer.extend_from_slice(&packet.body);
                    }
                    reply => *reply = Reply::Shared(packet.body),
                }
                entry.caller.take()
            }
            State::Expired(false) => {
                entry.state = State::Expired(true);
                None
            }
            State::GivenUp => {
                self.given_up -= 1;
                self.vacate(slot);
                None
            }
            State::Free | State::Replied | State::Expired(true) => self.stray(),
        }
    }

    /// How the call ended, if it has; `read` gets the body of the reply. The ticket is used up by `Ready`, unless the
    /// call has expired.
    #[inline(always)]
    pub(crate) fn take_reply<T>(
        &mut self,
        ticket: Ticket,
        context: &Context<'_>,
        read: impl FnOnce(Body<'_>) -> T,
    ) -> Poll<Ended<T>> {
        let slot = usize::from(ticket.slot);
        let entry = &mut self.slots[slot];
        debug_assert_eq!(entry.id, ticket.id, "a caller asks no more once its call has ended");
        match entry.state {
            State::Replied => {
                let ended = Ended::Reply(read(match &entry.reply {
                    Reply::Copied(body) => Body::Copied(body),
                    Reply::Shared(body) => Body::Shared(body),
                }));
                if let Reply::Shared(_) = entry.reply {
                    entry.reply = Reply::none();
                }
                self.vacate(slot);
                Poll::Ready(ended)
            }
            State::Expired(_) => Poll::Ready(Ended::Expired),
            State::Waiting => {
                if let Some(status) = &self.ended {
                    let lost = Ended::Lost { status: status.clone(), until: self.deadlines[slot] };
                    self.vacate(slot);
                    return Poll::Ready(lost);
                }
                if !entry.caller.as_ref().is_some_and(|caller| caller.will_wake(context.waker())) {
                    entry.caller = Some(context.waker().clone());
                }
                Poll::Pending
            }
            State::Free | State::GivenUp => Poll::Ready(Ended::Expired),
        }
    }

    /// Forgets a call whose request was never sent.
    pub(crate) fn revoke(&mut self, ticket: Ticket) {
        self.vacate(usize::from(ticket.slot));
    }

    /// The caller has lost interest. If a server of ours is still at work on the call, `cancel` is to send it a CANCEL
    /// with this id and operation.
    ///
    /// To be called with the lock of the connection's mailbox held, as is [`begin`](Self::begin): the reply may come at
    /// any moment and free the id, and the request of a later call that has it must not be sent before the CANCEL.
    pub(crate) fn give_up(&mut self, ticket: Ticket, cancel: impl FnOnce(PacketId, Operation)) {
        let slot = usize::from(ticket.slot);
        let entry = &mut self.slots[slot];
        debug_assert_eq!(entry.id, ticket.id, "a caller that has its reply has nothing to give up");
        let (id, operation) = (entry.id, entry.operation);
        let is_at_work = match entry.state {
            State::Waiting => self.leave(slot, false),
            State::Expired(answered) => self.leave(slot, answered),
            State::Replied => {
                entry.reply = Reply::none();
                self.vacate(slot);
                false
            }
            State::Free | State::GivenUp => false,
        };
        if is_at_work && self.server == ServerKind::Extended {
            cancel(id, operation);
        }
    }

    /// Marks calls whose deadline has passed, adds their callers to `wake`, and says when to look next. To be called
    /// at the end of each turn.
    ///
    /// Most calls are over long before their deadline, so nothing is kept in order for them: all are looked through
    /// when the earliest deadline seen has come, which with one timeout for all calls is once per timeout.
    pub(crate) fn handle_time(&mut self, now: Instant, wake: &mut Vec<Waker>) -> Option<Instant> {
        self.now = None;
        if self.next_deadline.is_some_and(|next| next <= now) {
            self.next_deadline = None;
            let waiting =
                self.slots.iter_mut().zip(&self.deadlines).filter(|(slot, _)| matches!(slot.state, State::Waiting));
            for (entry, deadline) in waiting {
                let Some(deadline) = *deadline else { continue };
                if deadline <= now {
                    entry.state = State::Expired(false);
                    wake.extend(entry.caller.take());
                } else {
                    self.next_deadline = Some(self.next_deadline.map_or(deadline, |next| next.min(deadline)));
                }
            }
        }
        self.next_deadline
    }

    /// The connection has ended: every call fails, and so does whatever is still to begin.
    pub(crate) fn end(&mut self, status: Status) -> Vec<Waker> {
        self.ended = Some(status);
        self.slots.iter_mut().filter_map(|entry| entry.caller.take()).collect()
    }

    /// Packets that answered no call: unknown ids, wrong operations, second replies.
    pub(crate) fn strays(&self) -> u64 {
        self.strays
    }

    /// Whether a call with this id and operation waits for its reply.
    pub(crate) fn is_waiting(&self, id: PacketId, operation: Operation) -> bool {
        let entry = self.slots.get(usize::from(id.0) & (CALLS_MAX - 1));
        entry.is_some_and(|entry| {
            entry.id == id && entry.operation == operation && !matches!(entry.state, State::Free | State::Replied)
        })
    }

    #[cold]
    fn stray(&mut self) -> Option<Waker> {
        self.strays += 1;
        None
    }

    /// The caller leaves; whether its id stays out of use until the server has answered.
    fn leave(&mut self, slot: usize, answered: bool) -> bool {
        if answered || self.ended.is_some() {
            self.vacate(slot);
            return false;
        }
        self.given_up += 1;
        let entry = &mut self.slots[slot];
        entry.state = State::GivenUp;
        entry.caller = None;
        entry.reply = Reply::none();
        true
    }

    /// Frees a slot, which gets its next id.
    fn vacate(&mut self, slot: usize) {
        let entry = &mut self.slots[slot];
        entry.state = State::Free;
        entry.caller = None;
        entry.id = PacketId(entry.id.0.wrapping_add(CALLS_MAX as u16));
        self.free.push(slot as u16); // Below CALLS_MAX.
    }
}

impl Slot {
    fn new(id: PacketId, operation: Operation) -> Self {
        Self { id, state: State::Free, operation, caller: None, reply: Reply::none() }
    }
}

impl Reply {
    fn none() -> Self {
        Self::Copied(Vec::new())
    }
}

/// The body of a reply.
pub(crate) enum Body<'a> {
    Copied(&'a [u8]),
    Shared(&'a Bytes),
}

/// Why a call cannot be entered.
#[derive(Debug)]
pub(crate) enum BeginError {
    /// As many as possible are in flight.
    Full,
    /// The connection has ended.
    Ended(Status),
}
