//! The requests in flight on one connection, by id.

use super::RequestError;
use bytes::Bytes;
use frisbee::{CloseReason, Operation, Outbox, Packet, PacketId, TooLong};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use tokio::sync::{Semaphore, oneshot};

/// The most requests that may be in flight. With [`ABANDONED_MAX`] it leaves a quarter of the ids free, so that one is
/// always found.
pub(super) const IN_FLIGHT_MOST: usize = 32 * 1024;

/// Ids of cancelled requests that may still be answered. A peer need not answer, so the oldest is free again when there
/// is one more; ids ascend, so it is used again some ten thousand requests later at the earliest.
const ABANDONED_MAX: usize = 16 * 1024;

/// Replies of up to this length, in bytes, are copied, so that one that waits to be taken does not keep the whole
/// buffer that it was read into.
const COPY_MAX: usize = 4 * 1024;

/// The number of a request on its connection, whose low bits are its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number(u64);

impl Number {
    pub(super) fn id(self) -> PacketId {
        PacketId(self.0 as u16) // The low bits.
    }
}

/// The kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReplyKind {
    InTime,
    /// The reply to a cancelled request.
    Late,
    /// No reply.
    Stray,
}

/// The requests in flight on a connection.
#[derive(Debug)]
pub(super) struct Table {
    state: Mutex<State>,
    /// Requests that may still be sent. Closed when the connection has ended.
    pub(super) permits: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<PacketId, Entry>,
    /// Those that wait for their replies.
    pending: usize,
    /// The cancelled ones, the oldest first. Some may have been answered since.
    abandoned: VecDeque<Number>,
    last: u64,
    ended: Option<CloseReason>,
}

#[derive(Debug)]
struct Entry {
    number: Number,
    /// `None` if the request was cancelled.
    caller: Option<oneshot::Sender<Packet>>,
}

impl Table {
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self { state: Mutex::default(), permits: Semaphore::new(in_flight_max) }
    }

    /// Enters a request and puts its packet into the outbox, under the connection's lock: it cannot end in between.
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

    /// Takes in a packet of the peer.
    pub(super) fn handle_reply(&self, mut packet: Packet) -> ReplyKind {
        let mut state = self.state.lock();
        let Some(entry) = state.entries.remove(&packet.id) else { return ReplyKind::Stray };
        let Some(caller) = entry.caller else { return ReplyKind::Late };
        state.pending -= 1;
        drop(state);
        if packet.body.len() <= COPY_MAX {
            packet.body = Bytes::copy_from_slice(&packet.body);
        }
        match caller.send(packet) {
            Ok(()) => ReplyKind::InTime,
            Err(_) => ReplyKind::Late, // The caller goes at this moment.
        }
    }

    /// Whether a request has been neither answered nor cancelled.
    pub(super) fn is_pending(&self, number: Number) -> bool {
        let state = self.state.lock();
        state.entries.get(&number.id()).is_some_and(|entry| entry.number == number && entry.caller.is_some())
    }

    /// The caller of a request leaves. Returns its sender if the peer may still be at work on the request; its drop
    /// wakes the caller, so it is to be dropped without a lock.
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

    /// The connection has ended: every request fails, and so does every one that is still to begin.
    pub(super) fn end(&self, reason: &CloseReason) {
        let mut state = self.state.lock();
        state.ended = Some(reason.clone());
        state.pending = 0;
        state.abandoned = VecDeque::new();
        let entries = std::mem::take(&mut state.entries);
        drop(state);
        self.permits.close();
        drop(entries); // Which wakes the callers.
    }

    /// Requests that wait for their replies.
    pub(super) fn in_flight(&self) -> usize {
        self.state.lock().pending
    }

    /// The error of a request on a connection that has ended.
    pub(super) fn closed(&self) -> RequestError {
        let reason = self.state.lock().ended.clone();
        RequestError::Closed(reason.unwrap_or(CloseReason::Local))
    }
}

impl State {
    /// The next number whose id is free.
    fn next(&mut self) -> Number {
        loop {
            self.last = self.last.wrapping_add(1);
            let number = Number(self.last);
            if !self.entries.contains_key(&number.id()) {
                return number;
            }
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.abandoned.pop_front() else { return };
        // It may have been answered, and its id have a request again.
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
        table.send(&mut Outbox::new(frisbee::HeaderForm::Current), OPERATION, &Bytes::new()).expect("it is short")
    }

    fn reply(id: PacketId) -> Packet {
        Packet::new(id, OPERATION, "reply")
    }

    #[test]
    fn oversized_request_leaves_no_state() {
        let table = Table::new(1);
        let mut outbox = Outbox::new(frisbee::HeaderForm::Current);
        outbox.set_limit(3);
        table.send(&mut outbox, OPERATION, &Bytes::from_static(b"long")).expect_err("it is too long");
        assert!(outbox.is_empty());
        assert_eq!((table.in_flight(), table.state.lock().entries.len()), (0, 0));
    }

    #[test]
    fn an_id_that_waits_or_was_given_up_is_not_given_again() {
        let table = Table::new(IN_FLIGHT_MOST);
        let (waits, _reply) = send(&table);
        let (left, gone) = send(&table);
        drop(gone);
        assert!(table.cancel(left).is_some());
        for _ in 0..2 * 65_536 {
            let (number, _reply) = send(&table);
            assert!(number.id() != waits.id() && number.id() != left.id(), "{number:?}");
            assert_eq!(table.handle_reply(reply(number.id())), ReplyKind::InTime);
        }
        assert_eq!(table.handle_reply(reply(left.id())), ReplyKind::Late);
        assert_eq!(table.handle_reply(reply(left.id())), ReplyKind::Stray);
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
    async fn short_reply_is_copied_and_long_one_shares_read_buffer() {
        let table = Table::new(1);
        let buffer = Bytes::from(vec![0; 128 * 1024]);
        for (length, is_copied) in [(1, true), (4 * 1024, true), (4 * 1024 + 1, false)] {
            let (number, pending) = send(&table);
            let packet = Packet { body: buffer.slice(..length), ..reply(number.id()) };
            assert_eq!(table.handle_reply(packet), ReplyKind::InTime);
            let body = pending.await.expect("it has come").body;
            assert_eq!((body.len(), body.as_ptr() != buffer.as_ptr()), (length, is_copied));
        }
    }

    #[test]
    fn late_cancellation_does_not_end_next_request_with_same_id() {
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
    async fn the_end_of_a_connection_fails_all_and_lets_nobody_wait() {
        let table = Table::new(1);
        let (number, pending) = send(&table);
        table.end(&CloseReason::Local);
        pending.await.expect_err("there will be no reply");
        assert!(table.cancel(number).is_none());
        assert!(table.permits.acquire().await.is_err());
        assert!(matches!(table.closed(), RequestError::Closed(CloseReason::Local)));
        assert_eq!(table.in_flight(), 0);
    }
}
