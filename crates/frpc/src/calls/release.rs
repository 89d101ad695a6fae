//! Release of the call table's memory while its connection is idle. A burst of calls leaves a slot and a buffer per
//! call.

use super::{Calls, Reply, Slot, State};
use frisbee::PacketId;

/// Values removed from the call table under its lock and dropped after the lock is released, because their drop may run
/// arbitrary code.
#[derive(Debug, Default)]
pub(crate) struct DeferredDrops {
    _slots: Vec<Slot>,
    _replies: Vec<Reply>,
}

impl Calls {
    /// Frees the slots after the last one in use, and the buffers of the free slots before it.
    ///
    /// Keeps the next id of each freed slot, which takes two bytes. If slots restarted with their first id, a duplicate
    /// reply could be mistaken for the reply to a later call.
    pub(crate) fn release(&mut self) -> DeferredDrops {
        // Free nothing while calls are paused, because the list of free slots is empty then.
        if self.paused.is_some() || self.slots.is_empty() {
            return DeferredDrops::default();
        }
        if self.ids.len() < self.slots.len() {
            self.ids.resize(self.slots.len(), PacketId(0));
        }
        // Remember the ids of removed slots, so that replies to their earlier calls are still recognized as late.
        self.ids.iter_mut().zip(&self.slots).for_each(|(id, slot)| *id = slot.id);
        let is_free = |slot: &Slot| matches!(slot.state, State::Free);
        let used = self.slots.iter().rposition(|slot| !is_free(slot)).map_or(0, |last| last + 1);
        let slots = self.slots.split_off(used);
        self.slots.shrink_to_fit();
        self.release_observed(used);
        self.deadlines.truncate(used);
        self.deadlines.shrink_to_fit();
        self.free.retain(|slot| usize::from(*slot) < used);
        self.free.shrink_to_fit();
        let free = self.slots.iter_mut().filter(|slot| is_free(slot));
        let replies = free.map(|slot| std::mem::replace(&mut slot.reply, Reply::none())).collect();
        DeferredDrops { _slots: slots, _replies: replies }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Body, CALLS_MAX, CallOutcome, CallTicket};
    use super::*;
    use bytes::Bytes;
    use frisbee::{Operation, Packet};
    use std::task::{Context, Poll, Waker};

    const ADD: Operation = Operation::FIRST_USER;

    /// Returns the memory used by the call table in bytes.
    fn held_bytes(calls: &Calls) -> usize {
        let replies = calls.slots.iter().map(|slot| match &slot.reply {
            Reply::Copied(buffer) => buffer.capacity(),
            Reply::Shared(body) => body.len(),
        });
        calls.slots.capacity() * size_of::<Slot>()
            + calls.deadlines.capacity() * size_of::<Option<std::time::Instant>>()
            + (calls.free.capacity() + calls.ids.capacity()) * 2
            + replies.sum::<usize>()
    }

    fn begin(calls: &mut Calls) -> CallTicket {
        calls.begin(ADD, None, Waker::noop()).expect("call table should have a free slot")
    }

    /// Takes a reply out of the call table and returns its length.
    fn take(calls: &mut Calls, ticket: CallTicket) -> usize {
        let length = |body: Body<'_>| match body {
            Body::Copied(body) => body.len(),
            Body::Shared(body) => body.len(),
        };
        match calls.take_reply(ticket, &Context::from_waker(Waker::noop()), length) {
            Poll::Ready(CallOutcome::Reply(length)) => length,
            _ => panic!("reply should have arrived"),
        }
    }

    fn answer(calls: &mut Calls, ticket: CallTicket, length: usize) {
        let unmatched = calls.unmatched();
        calls.handle_reply(Packet { id: ticket.id, operation: ADD, body: vec![1; length].into() });
        assert_eq!(calls.unmatched(), unmatched);
    }

    #[test]
    fn release_keeps_two_bytes_per_slot() {
        let mut calls = Calls::default();
        for burst in [CALLS_MAX, 10] {
            let tickets: Vec<_> = (0..burst).map(|_| begin(&mut calls)).collect();
            for ticket in tickets {
                answer(&mut calls, ticket, 3000);
                assert_eq!(take(&mut calls, ticket), 3000);
            }
            assert!(held_bytes(&calls) > burst * 3000);
            drop(calls.release());
            assert_eq!(held_bytes(&calls), CALLS_MAX * 2);
        }
    }

    #[test]
    fn release_keeps_only_active_slots_and_buffers() {
        let mut calls = Calls::default();
        let tickets: Vec<_> = (0..100).map(|_| begin(&mut calls)).collect();
        let (waits, replied, abandoned) = (tickets[10], tickets[20], tickets[30]);
        for ticket in tickets.iter().filter(|ticket| ![waits, abandoned].contains(ticket)) {
            answer(&mut calls, *ticket, 3000);
            if *ticket != replied {
                take(&mut calls, *ticket);
            }
        }
        calls.abandon(abandoned, |_, _| {});
        drop(calls.release());
        assert_eq!((calls.slots.len(), calls.deadlines.len(), calls.free.len()), (31, 31, 28));
        assert!(held_bytes(&calls) < 3000 + 31 * 80 + 300, "calls hold {} bytes", held_bytes(&calls));
        assert_eq!(take(&mut calls, replied), 3000);
        answer(&mut calls, waits, 5);
        assert_eq!(take(&mut calls, waits), 5);
        answer(&mut calls, abandoned, 5);
        let again: Vec<_> = (0..100).map(|_| begin(&mut calls)).collect();
        let mut slots: Vec<_> = again.iter().map(|ticket| ticket.slot).collect();
        slots.sort_unstable();
        assert!(slots.into_iter().eq(0..100), "each slot should be given once");
    }

    #[test]
    fn duplicate_reply_skips_call_in_released_slot() {
        let mut calls = Calls::default();
        for _ in 0..3 {
            let ticket = begin(&mut calls);
            answer(&mut calls, ticket, 1);
            take(&mut calls, ticket);
            drop(calls.release());
            let next = begin(&mut calls);
            assert_eq!(next.slot, ticket.slot);
            let unmatched = calls.unmatched();
            calls.handle_reply(Packet { id: ticket.id, operation: ADD, body: Bytes::new() });
            assert_eq!(calls.unmatched(), unmatched + 1);
            answer(&mut calls, next, 1);
            take(&mut calls, next);
        }
    }

    #[test]
    fn paused_calls_resume_after_release() {
        for is_released_afterwards in [true, false] {
            let mut calls = Calls::default();
            let ticket = begin(&mut calls);
            answer(&mut calls, ticket, 1);
            take(&mut calls, ticket);
            assert!(calls.pause());
            drop(calls.release());
            calls.resume();
            if is_released_afterwards {
                drop(calls.release());
            }
            let ticket = begin(&mut calls);
            answer(&mut calls, ticket, 1);
            take(&mut calls, ticket);
        }
    }
}
