//! The requests in flight on one connection, by id.

use bytes::Bytes;
use frisbee::{CloseReason, Operation, Outbox, Packet, PacketId, TooLong};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use tokio::sync::{Semaphore, oneshot};

/// Maximum number of requests in flight per connection. Together with [`ABANDONED_MAX`] it leaves a quarter of the ids
/// unused, so the search for an unused id always succeeds.
pub(super) const IN_FLIGHT_MOST: usize = 32 * 1024;

/// Maximum number of ids reserved for cancelled requests that the peer may still answer. A peer need not answer, so the
/// oldest id is released when the limit is exceeded. Ids ascend, so it is reused after some ten thousand requests at
/// the earliest.
const ABANDONED_MAX: usize = 16 * 1024;

/// Maximum length in bytes of a reply that is copied, because otherwise an unread reply would keep the whole read
/// buffer alive.
const COPY_MAX: usize = 4 * 1024;

/// Sequence number of a request on its connection. The low 16 bits are the packet id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number(u64);

impl Number {
    pub(super) fn id(self) -> PacketId {
        PacketId(self.0 as u16) // Keeps the low bits.
    }
}

/// Result of matching a received packet to the requests that were sent on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReplyKind {
    InTime,
    /// The packet is a reply to a cancelled request.
    Late,
    /// The packet is not a reply to any request.
    Unmatched,
}

/// The requests in flight on one connection.
#[derive(Debug)]
pub(super) struct Table {
    state: Mutex<State>,
    /// Permits for requests in flight. Closed once the connection has closed.
    pub(super) permits: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<PacketId, Entry>,
    /// Number of requests that are waiting for a reply.
    pending: usize,
    /// Cancelled requests, oldest first. Late replies may have arrived for some of them.
    abandoned: VecDeque<Number>,
    last: u64,
    ended: Option<CloseReason>,
}

#[derive(Debug)]
struct Entry {
    number: Number,
    /// Sender of the reply to the caller, or `None` if the request was cancelled.
    caller: Option<oneshot::Sender<Packet>>,
}

impl Table {
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self { state: Mutex::default(), permits: Semaphore::new(in_flight_max) }
    }

    /// Registers a request and queues its packet. The caller must hold the connection's lock, so the connection cannot
    /// close in between.
    pub(super) fn send(
        &self,
        outbox: &mut Outbox,
        operation: Operation,
        body: &Bytes,
    ) -> Result<(Number, oneshot::Receiver<Packet>), TooLong> {
        let mut state = self.state.lock();
        let number = state.next();
        outbox.push(number.id(), operation, body)?;
        let (caller, reply) = oneshot::channel();
        state.entries.insert(number.id(), Entry { number, caller: Some(caller) });
        state.pending += 1;
        Ok((number, reply))
    }

    /// Matches a received packet to a pending request and passes it to the waiting caller. Returns the kind of match.
    pub(super) fn handle_reply(&self, mut packet: Packet) -> ReplyKind {
        let mut state = self.state.lock();
        let Some(entry) = state.entries.remove(&packet.id) else { return ReplyKind::Unmatched };
        let Some(caller) = entry.caller else { return ReplyKind::Late };
        state.pending -= 1;
        drop(state);
        if packet.body.len() <= COPY_MAX {
            packet.body = Bytes::copy_from_slice(&packet.body);
        }
        match caller.send(packet) {
            Ok(()) => ReplyKind::InTime,
            Err(_) => ReplyKind::Late, // The caller is dropping its future.
        }
    }

    /// Returns whether a request is still waiting for its reply.
    pub(super) fn is_pending(&self, number: Number) -> bool {
        let state = self.state.lock();
        state.entries.get(&number.id()).is_some_and(|entry| entry.number == number && entry.caller.is_some())
    }

    /// Cancels a request. Returns its reply sender if the peer may still be processing the request. The sender must be
    /// dropped without a lock, because that wakes the caller.
    #[must_use]
    pub(super) fn cancel(&self, number: Number) -> Option<oneshot::Sender<Packet>> {
        let mut state = self.state.lock();
        let entry = state.entries.get_mut(&number.id()).filter(|entry| entry.number == number)?;
        let caller = entry.caller.take()?;
        state.pending -= 1;
        state.abandoned.push_back(number);
        if state.abandoned.len() > ABANDONED_MAX {
            state.forget_oldest();
        }
        Some(caller)
    }

    /// Fails all pending and future requests because the connection has closed.
    pub(super) fn end(&self, reason: &CloseReason) {
        let mut state = self.state.lock();
        state.ended = Some(reason.clone());
        state.pending = 0;
        state.abandoned = VecDeque::new();
        let entries = std::mem::take(&mut state.entries);
        drop(state);
        self.permits.close();
        drop(entries); // Dropping the senders wakes the callers.
    }

    /// Returns the number of requests that are waiting for a reply.
    pub(super) fn in_flight(&self) -> usize {
        self.state.lock().pending
    }

    /// Returns why the connection has ended.
    pub(super) fn close_reason(&self) -> CloseReason {
        self.state.lock().ended.clone().unwrap_or(CloseReason::Local)
    }
}

impl State {
    /// Returns the next sequence number that has an unused packet id other than 0.
    fn next(&mut self) -> Number {
        loop {
            self.last = self.last.wrapping_add(1);
            let number = Number(self.last);
            if number.id() != PacketId(0) && !self.entries.contains_key(&number.id()) {
                return number;
            }
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.abandoned.pop_front() else { return };
        // Check the number, because the request may have been answered, and its id may belong to a later request.
        if self.entries.get(&oldest.id()).is_some_and(|entry| entry.number == oldest) {
            self.entries.remove(&oldest.id());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATION: Operation = Operation::FIRST_USER;

    fn send(table: &Table) -> (Number, oneshot::Receiver<Packet>) {
        table
            .send(&mut Outbox::new(frisbee::HeaderForm::Current), OPERATION, &Bytes::new())
            .expect("empty request should be within the maximum body size")
    }

    fn reply(id: PacketId) -> Packet {
        Packet::new(id, OPERATION, "reply")
    }

    #[test]
    fn oversized_request_leaves_no_state() {
        let table = Table::new(1);
        let mut outbox = Outbox::new(frisbee::HeaderForm::Current);
        outbox.set_limit(3);
        table
            .send(&mut outbox, OPERATION, &Bytes::from_static(b"long"))
            .expect_err("request beyond the limit of requests in flight should be rejected");
        assert!(outbox.is_empty());
        assert_eq!((table.in_flight(), table.state.lock().entries.len()), (0, 0));
    }

    #[test]
    fn id_in_use_is_not_reused() {
        let table = Table::new(IN_FLIGHT_MOST);
        let (waits, _reply) = send(&table);
        let (left, gone) = send(&table);
        drop(gone);
        assert!(table.cancel(left).is_some());
        for _ in 0..2 * 65_536 {
            let (number, _reply) = send(&table);
            assert!(![waits.id(), left.id(), PacketId(0)].contains(&number.id()), "{number:?}");
            assert_eq!(table.handle_reply(reply(number.id())), ReplyKind::InTime);
        }
        assert_eq!(table.handle_reply(reply(left.id())), ReplyKind::Late);
        assert_eq!(table.handle_reply(reply(left.id())), ReplyKind::Unmatched);
        assert_eq!(table.handle_reply(reply(waits.id())), ReplyKind::InTime);
    }

    #[test]
    fn unanswered_requests_take_bounded_ids() {
        let table = Table::new(1);
        for _ in 0..4 * 65_536 {
            let (number, _reply) = send(&table);
            assert!(table.cancel(number).is_some() && table.cancel(number).is_none());
        }
        let state = table.state.lock();
        assert_eq!((state.entries.len(), state.abandoned.len(), state.pending), (ABANDONED_MAX, ABANDONED_MAX, 0));
    }

    #[tokio::test]
    async fn only_long_reply_shares_read_buffer() {
        let table = Table::new(1);
        let buffer = Bytes::from(vec![0; 128 * 1024]);
        for (length, is_copied) in [(1, true), (4 * 1024, true), (4 * 1024 + 1, false)] {
            let (number, pending) = send(&table);
            let packet = Packet { body: buffer.slice(..length), ..reply(number.id()) };
            assert_eq!(table.handle_reply(packet), ReplyKind::InTime);
            let body = pending.await.expect("reply should have arrived").body;
            assert_eq!((body.len(), body.as_ptr() != buffer.as_ptr()), (length, is_copied));
        }
    }

    #[test]
    fn late_cancel_spares_request_with_reused_id() {
        let table = Table::new(1);
        let (first, _reply) = send(&table);
        assert_eq!(table.handle_reply(reply(first.id())), ReplyKind::InTime);
        table.state.lock().last = 65_536 + first.0 - 1;
        let (second, _reply) = send(&table);
        assert_eq!((second.id(), second == first), (first.id(), false));
        assert!(!table.is_pending(first) && table.cancel(first).is_none());
        assert!(table.is_pending(second));
    }

    #[tokio::test]
    async fn connection_end_fails_pending_and_queued_requests() {
        let table = Table::new(1);
        let (number, pending) = send(&table);
        table.end(&CloseReason::Local);
        pending.await.expect_err("request should get no reply");
        assert!(table.cancel(number).is_none());
        assert!(table.permits.acquire().await.is_err());
        assert!(matches!(table.close_reason(), CloseReason::Local));
        assert_eq!(table.in_flight(), 0);
    }
}
