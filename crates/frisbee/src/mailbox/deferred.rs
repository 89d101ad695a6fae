//! Received packets that are routed only when the outbox has space for their replies.

use crate::account::{Account, READ_BUFFER};
use crate::{Operation, Packet, PacketId};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// Queue of deferred packets, in order of arrival. Requests of cancelled calls are removed from the queue.
#[derive(Default)]
pub(crate) struct Deferred(Mutex<Option<Box<Queue>>>);

/// A received packet that is routed only once the outbox has space for the reply.
pub(crate) struct DeferredPacket {
    pub(crate) packet: Packet,
    /// Whether this packet opens a stream.
    pub(crate) opens: bool,
    /// Whether all packets that arrive later must wait until this packet has been routed.
    pub(crate) stops: bool,
}

#[derive(Default)]
struct Queue {
    /// Deferred packets, oldest first, each with the memory charged for it in bytes.
    packets: VecDeque<(DeferredPacket, usize)>,
    /// Number of packets at the front that [`Deferred::find`] has examined without finding a request with a short
    /// reply.
    examined: usize,
    /// Total memory charged for the deferred packets in bytes.
    charged: usize,
    /// Streams that have deferred packets, sorted. Later packets of these streams must be deferred too, to keep their
    /// order. Entries remain until all deferred packets have been routed.
    streams: Vec<PacketId>,
    /// Whether all further packets must be deferred.
    stops: bool,
    /// Number of bytes added to the backlog by packets that were routed while others were deferred.
    added: usize,
}

impl Deferred {
    /// Adds a packet to the end of the queue and charges its memory.
    pub(crate) fn push(&self, mut entry: DeferredPacket, account: &Account) {
        let packet = &mut entry.packet;
        if packet.body.len() < READ_BUFFER / 2 {
            // Copy the body, because a slice would keep the whole read buffer in memory.
            packet.body = Bytes::copy_from_slice(&packet.body);
        }
        let charge = account.charge_request(packet.body.len());
        let mut queue = self.0.lock();
        let queue = queue.get_or_insert_default();
        if let Some(stream) = packet.stream()
            && let Err(at) = queue.streams.binary_search(&stream)
        {
            queue.streams.insert(at, stream);
        }
        queue.charged += charge;
        queue.stops = entry.stops;
        queue.packets.push_back((entry, charge));
    }

    /// Removes and returns the deferred packet at `index`. The oldest has index 0.
    pub(crate) fn remove(&self, index: usize, account: &Account) -> Option<DeferredPacket> {
        let removed = self.0.lock().as_mut().and_then(|queue| queue.remove(index));
        let (entry, charge) = removed?;
        // Release the memory without the lock, because this wakes tasks.
        account.release(charge);
        Some(entry)
    }

    /// Returns the index of the oldest request of an operation with short replies, as determined by `is_short`. Returns
    /// `None` if there is none or packets must not be reordered.
    ///
    /// Examines each request only once, so it misses requests of an operation whose replies have become short since.
    pub(crate) fn find(&self, is_short: impl Fn(Operation) -> bool) -> Option<usize> {
        let mut queue = self.0.lock();
        let queue = queue.as_mut().filter(|queue| !queue.stops)?;
        while let Some((DeferredPacket { packet, .. }, _)) = queue.packets.get(queue.examined) {
            if !packet.operation.is_reserved() && is_short(packet.operation) {
                return Some(queue.examined);
            }
            queue.examined += 1;
        }
        None
    }

    /// Removes the deferred request of a cancelled call. Returns whether the request was in the queue.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation, account: &Account) -> bool {
        let is_it = |(DeferredPacket { packet, .. }, _): &(DeferredPacket, usize)| {
            packet.id == id && packet.operation == operation
        };
        let removed = self.0.lock().as_mut().and_then(|queue| queue.remove(queue.packets.iter().position(is_it)?));
        removed.map(|(_, charge)| account.release(charge)).is_some()
    }

    /// Removes the deferred packets of a stream and returns whether there were any. Later packets of the stream are
    /// still deferred.
    pub(crate) fn leave_stream(&self, id: PacketId, account: &Account) -> bool {
        let mut guard = self.0.lock();
        let Some(queue) = guard.as_mut() else { return false };
        let mut freed = 0;
        let before = queue.packets.len();
        queue.packets.retain(|(DeferredPacket { packet, .. }, charge)| {
            let leaves = packet.stream() == Some(id);
            freed += if leaves { *charge } else { 0 };
            !leaves
        });
        queue.examined = 0;
        queue.charged -= freed;
        queue.stops &= !queue.packets.is_empty();
        let has_left = queue.packets.len() < before;
        drop(guard);
        account.release(freed);
        has_left
    }

    /// Returns whether later packets of a stream must be deferred because earlier ones are.
    pub(crate) fn has_stream(&self, id: PacketId) -> bool {
        self.0.lock().as_ref().is_some_and(|queue| queue.streams.binary_search(&id).is_ok())
    }

    /// Counts towards the limit `count` bytes of output that a packet has added while others were deferred.
    pub(crate) fn add(&self, count: usize) {
        self.0.lock().get_or_insert_default().added += count;
    }

    /// Returns whether no packets are deferred.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().as_ref().is_none_or(|queue| queue.packets.is_empty())
    }

    /// Returns whether the driver must stop reading, because the deferred packets and the bytes added to the backlog
    /// have reached `max` or the server's memory limit. A single packet may exceed `max`.
    pub(crate) fn is_full(&self, max: usize, account: &Account) -> bool {
        let is_full =
            |queue: &Queue| queue.stops || queue.charged.saturating_add(queue.added) >= max || account.is_over();
        self.0.lock().as_deref().is_some_and(is_full)
    }

    /// Removes all deferred packets and releases their memory charge.
    pub(crate) fn clear(&self, account: &Account) {
        let queue = self.0.lock().take();
        if let Some(queue) = queue {
            account.release(queue.charged);
        }
    }
}

impl Queue {
    /// Removes a packet and returns it with its memory charge, which the caller must release.
    fn remove(&mut self, index: usize) -> Option<(DeferredPacket, usize)> {
        let (entry, charge) = self.packets.remove(index)?;
        self.examined -= usize::from(index < self.examined);
        self.charged -= charge;
        self.stops &= !self.packets.is_empty();
        Some((entry, charge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Budget, MemoryWaiter};
    use crate::tests::wake_counter::calling_waker;
    use std::sync::Arc;
    use std::task::Context;

    const MIB: usize = 1 << 20;

    fn account(total: usize, per_stream: usize) -> Account {
        Account::alone(Arc::new(Budget::new(total, per_stream)))
    }

    fn request(id: u16, length: usize) -> DeferredPacket {
        let packet = Packet::new(PacketId(id), Operation::FIRST_USER, vec![0; length]);
        DeferredPacket { packet, opens: false, stops: false }
    }

    /// Regression test: tasks that wait for memory were woken under the lock of the queue.
    #[test]
    fn memory_waiters_are_woken_without_lock() {
        let (account, deferred) = (Arc::new(account(MIB, 0)), Arc::new(Deferred::default()));
        let changes: [fn(&Deferred, &Account); 3] = [
            |deferred, account| drop(deferred.remove(0, account)),
            |deferred, account| assert!(deferred.cancel(PacketId(1), Operation::FIRST_USER, account)),
            |deferred, account| assert!(deferred.leave_stream(PacketId(2), account)),
        ];
        for change in changes {
            let stream = Packet::new(PacketId(2), Operation::STREAM, vec![0; 1000]);
            deferred.push(request(1, 1000), &account);
            deferred.push(DeferredPacket { packet: stream, opens: true, stops: false }, &account);
            let rest = account.room();
            account.charge(rest);
            let (sender, woken) = std::sync::mpsc::channel();
            let queue = deferred.clone();
            let waker = calling_waker(move || sender.send(queue.0.is_locked()).expect("test should wait"));
            let mut waiter = MemoryWaiter::new(&account);
            assert!(waiter.poll_reserve(&mut Context::from_waker(&waker), 1000).is_pending());
            change(&deferred, &account);
            assert_eq!(woken.try_recv(), Ok(false));
            account.release(rest);
            deferred.clear(&account);
            drop((waiter, waker));
        }
    }

    #[test]
    fn deferred_packets_are_bounded_and_charged() {
        let account = account(100 * MIB, MIB);
        for (length, many) in [(0, 2_000..3_000), (100_000, 11..12), (5 * MIB, 1..2)] {
            let deferred = Deferred::default();
            let full = (0..).find(|id| {
                let is_full = deferred.is_full(MIB, &account);
                deferred.push(request(*id, length), &account);
                is_full
            });
            assert!(full.is_some_and(|count| many.contains(&count)), "{full:?} of {length} bytes");
            assert!(account.budget().charged() > MIB);
            if length > 0 {
                while deferred.remove(0, &account).is_some() {}
            } else {
                deferred.clear(&account);
            }
            assert!(deferred.is_empty());
            assert_eq!(account.budget().charged(), 0);
        }
    }

    #[test]
    fn added_packets_count_until_all_routed() {
        let account = account(MIB, MIB);
        let deferred = Deferred::default();
        deferred.add(MIB - 1);
        assert!(!deferred.is_full(MIB, &account));
        deferred.add(1);
        assert!(deferred.is_full(MIB, &account));
        deferred.clear(&account);
        assert!(!deferred.is_full(MIB, &account));
    }

    #[test]
    fn nothing_is_deferred_at_server_memory_limit() {
        let account = account(1000, 1000);
        let deferred = Deferred::default();
        deferred.push(request(1, 100), &account);
        assert!(!deferred.is_full(MIB, &account));
        deferred.push(request(2, 100), &account);
        assert!(deferred.is_full(MIB, &account));
    }

    #[test]
    fn cancelled_request_removal_keeps_order() {
        let account = account(MIB, MIB);
        let deferred = Deferred::default();
        (1..=4).for_each(|id| deferred.push(DeferredPacket { stops: id == 4, ..request(id, 10) }, &account));
        assert!(
            !deferred.cancel(PacketId(2), Operation::STREAM, &account),
            "packet of another operation should not be cancelled"
        );
        assert!(deferred.cancel(PacketId(2), Operation::FIRST_USER, &account));
        assert!(!deferred.cancel(PacketId(2), Operation::FIRST_USER, &account), "request should be removed only once");
        let order = std::iter::from_fn(|| deferred.remove(0, &account)).map(|entry| entry.packet.id.0);
        assert_eq!(order.collect::<Vec<_>>(), [1, 3, 4]);
        assert!(!deferred.is_full(MIB, &account), "stopped packets should have been routed");
        assert_eq!(account.budget().charged(), 0);
    }

    #[test]
    fn short_requests_are_found_in_one_pass() {
        let account = account(MIB, MIB);
        let deferred = Deferred::default();
        let push = |id: u16, number| {
            let operation = Operation::user(number).expect("operation number should be above the reserved range");
            let packet = Packet::new(PacketId(id), operation, Bytes::new());
            deferred.push(DeferredPacket { packet, opens: false, stops: false }, &account);
        };
        let calls = std::cell::Cell::new(0);
        let find = || {
            deferred.find(|operation| {
                calls.set(calls.get() + 1);
                operation.number() == 11
            })
        };
        (0..100).for_each(|id| push(id, 10 + u16::from(id % 50 == 49)));
        for (index, left) in [(49, 99), (98, 98)] {
            assert_eq!((find(), find()), (Some(index), Some(index)));
            assert!(deferred.remove(index, &account).is_some());
            assert_eq!(deferred.0.lock().as_ref().map(|queue| queue.packets.len()), Some(left));
        }
        assert_eq!((find(), calls.get()), (None, 102));
        // Remove examined requests from the front and by cancellation, then add a request with a short reply. Only the
        // new request is examined.
        assert_eq!(deferred.remove(0, &account).map(|entry| entry.packet.id.0), Some(0));
        assert!(deferred.cancel(PacketId(5), Operation::FIRST_USER, &account));
        push(200, 11);
        assert_eq!((find(), calls.get()), (Some(96), 103));
        assert!(!deferred.leave_stream(PacketId(1), &account));
        assert_eq!(find(), Some(96));
    }

    #[test]
    fn stream_packets_queue_after_deferred_ones() {
        let account = account(MIB, MIB);
        let deferred = Deferred::default();
        let packet = Packet { id: PacketId(7), operation: Operation::STREAM, body: Bytes::from_static(b"opens") };
        deferred.push(DeferredPacket { packet, opens: true, stops: false }, &account);
        deferred.push(request(8, 0), &account);
        assert!(deferred.has_stream(PacketId(7)) && !deferred.has_stream(PacketId(8)));
        deferred.remove(0, &account);
        assert!(deferred.has_stream(PacketId(7)));
        assert!(!deferred.leave_stream(PacketId(7), &account), "routed packet should not be removed");
        deferred.clear(&account);
        assert!(!deferred.has_stream(PacketId(7)));
    }

    #[test]
    fn left_stream_drops_only_own_packets() {
        let account = account(MIB, MIB);
        let deferred = Deferred::default();
        for operation in [Operation::STREAM, Operation::FIRST_USER, Operation::END] {
            for id in [7, 8] {
                let packet = Packet { id: PacketId(id), operation, body: Bytes::from_static(b"body") };
                deferred.push(DeferredPacket { packet, opens: false, stops: false }, &account);
            }
        }
        assert!(deferred.leave_stream(PacketId(7), &account) && !deferred.leave_stream(PacketId(7), &account));
        let left = std::iter::from_fn(|| deferred.remove(0, &account)).map(|entry| entry.packet.id.0);
        assert_eq!(left.collect::<Vec<_>>(), [8, 7, 8, 8], "call should not be removed as a stream");
        assert_eq!(account.budget().charged(), 0);
    }
}
