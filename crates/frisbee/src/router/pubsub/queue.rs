//! The messages that wait for one subscriber: bounded, added by publishers on any thread, removed by the subscriber's
//! own task.

use super::fanout::Source;
use super::{Kind, Operations, Slow, put};
use crate::budget::{Account, Budget};
use crate::mailbox::Order;
use crate::{CloseReason, Connection, HeaderForm, Outbox, PacketId, Turn};
use bytes::Bytes;
use frisbee_core::{Decoder, tlv};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// How much of the queue is put into the outbox at one time, in bytes: some writes' worth. Messages in the outbox can
/// no longer be dropped and delay replies.
const WINDOW: usize = 256 * 1024;

/// Packets that come one by one are joined up to this many bytes, so that a queue of small messages is not one of small
/// allocations. Longer ones are shared by all subscribers.
const TOGETHER_MAX: usize = 4 * 1024;

/// The charge for a segment beside its packets: its place in the queue and its allocations.
const SEGMENT_CHARGE: usize = 256;

/// When the bytes that wait for all subscribers of a broker reach their bound, each has this part of its own bound
/// left: enough for subscribers that keep up. While the server is short of memory each has this part of what is left.
const LEFT_WHEN_FULL: usize = 16;

/// What may wait for a subscriber however short of memory the server is, in bytes.
const QUEUE_LEAST: usize = 16 * 1024;

/// Which part of what is left is put into the outbox at one time while the server is short of memory, if that is less
/// than usual.
const WINDOW_WHEN_SHORT: usize = 256;

/// What waits is charged to the server's memory in steps of so many bytes.
const STEP: usize = 16 * 1024;

/// The bound of a queue, and the bytes in it.
#[derive(Debug)]
pub(super) struct Bounds {
    /// For one subscriber, in bytes.
    pub(super) queue_max: usize,
    /// For all of them, in bytes, before each has less.
    pub(super) memory_max: usize,
    pub(super) slow: Slow,
    /// The bytes that wait for all subscribers.
    pub(super) waiting: AtomicUsize,
    /// The messages that subscribers have lost.
    pub(super) lost: AtomicU64,
}

impl Bounds {
    /// The bytes that may wait for a subscriber at present.
    fn queue_max(&self, account: &Account) -> usize {
        let full = self.waiting.load(Ordering::Relaxed) > self.memory_max;
        let most = if full { self.queue_max / LEFT_WHEN_FULL } else { self.queue_max };
        if account.is_short() { most.min(part_of(account, LEFT_WHEN_FULL, QUEUE_LEAST)) } else { most }
    }
}

/// A part of what is left of a server's memory that is short, in bytes.
#[cold]
fn part_of(account: &Account, part: usize, least: usize) -> usize {
    (usize::try_from(account.budget().left()).unwrap_or(0) / part).max(least)
}

/// One connection, as publishers see it.
#[derive(Debug)]
pub(super) struct Subscriber {
    /// Which connection it is, among all that the broker has had.
    pub(super) number: u64,
    connection: Connection,
    operations: Operations,
    bounds: Arc<Bounds>,
    /// The task knows that something waits: it has been woken, or waits for the socket to take more. Written with the
    /// lock held.
    scheduled: AtomicBool,
    /// The queue is more than half full, or the connection has ended. Written with the lock held.
    behind: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    segments: VecDeque<Segment>,
    /// The charges for the segments.
    bytes: usize,
    /// As much of it as is not shared with other subscribers.
    own: usize,
    /// As much of that as the server's memory is charged with, a multiple of the step.
    charged: usize,
    /// Messages lost since the subscriber was last told.
    lost: u64,
    closed: bool,
}

/// Packets that were published together.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) packets: Outbox,
    pub(super) messages: u64,
    /// The length of the longest body.
    pub(super) longest: u32,
}

impl Segment {
    pub(super) fn new() -> Self {
        let mut packets = Outbox::new(HeaderForm::Current);
        // The operations of a subscriber are known when something is sent to it.
        packets.set_limit(u32::MAX);
        Self { packets, messages: 0, longest: 0 }
    }

    /// Adds a message.
    pub(super) fn push(&mut self, id: PacketId, operations: Operations, body: &Bytes) {
        if self.packets.push(id, operations.of(Kind::Message), body).is_ok() {
            self.messages = self.messages.saturating_add(1);
            self.longest = self.longest.max(u32::try_from(body.len()).unwrap_or(u32::MAX));
        }
    }

    /// Makes it as new, with its memory.
    pub(super) fn clear(&mut self) {
        self.packets.advance(self.packets.len());
        self.messages = 0;
        self.longest = 0;
    }

    fn charge(&self) -> usize {
        self.packets.len() + SEGMENT_CHARGE
    }

    /// The same without what is shared.
    fn own(&self) -> usize {
        self.charge() - self.packets.shared_len()
    }
}

impl Subscriber {
    pub(super) fn new(number: u64, connection: Connection, operations: Operations, bounds: Arc<Bounds>) -> Self {
        Self {
            number,
            connection,
            operations,
            bounds,
            scheduled: AtomicBool::new(false),
            behind: AtomicBool::new(false),
            queue: Mutex::default(),
        }
    }

    /// The memory that what it publishes is charged to.
    pub(super) fn budget(&self) -> &Arc<Budget> {
        self.connection.0.mailbox.account.budget()
    }

    pub(super) fn operations(&self) -> Operations {
        self.operations
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The account of its connection.
    pub(super) fn memory(&self) -> &Account {
        &self.connection.0.mailbox.account
    }

    /// Whether another member of its group should rather get the next message.
    pub(super) fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Adds a publisher's packets for this subscriber, and wakes its task unless that is the caller.
    pub(super) fn deliver(&self, fill: impl FnOnce(&mut Delivery<'_>), from: &impl Source) {
        let mut queue = self.queue.lock();
        if queue.closed {
            return;
        }
        let before = queue.bytes;
        fill(&mut Delivery(&mut queue));
        let queue_max = self.bounds.queue_max(&self.connection.0.mailbox.account);
        let overflows = queue.bytes > queue_max && queue.segments.len() > 1;
        if overflows && self.bounds.slow == Slow::Disconnect {
            let text =
                format!("slow subscriber: {} bytes are queued, which exceeds queue_max of {queue_max}", queue.bytes);
            self.close_queue(&mut queue, before);
            self.connection.0.mailbox.order(Order::Now(CloseReason::Router(text.into())));
            return;
        }
        // The newest segment stays, however long: a message may be longer than the bound.
        while queue.bytes > queue_max && queue.segments.len() > 1 {
            let lost = queue.drop_oldest();
            self.bounds.lost.fetch_add(lost, Ordering::Relaxed);
        }
        self.account(before, &mut queue);
        let scheduled = self.scheduled.swap(true, Ordering::AcqRel);
        drop(queue);
        if !scheduled && self.number != from.number() {
            self.connection.wake();
        }
    }

    /// Moves packets that wait into the outbox of the subscriber's own task, as many as are useful there. `body_max` is
    /// the limit of the peer.
    pub(super) fn pull(&self, turn: &mut Turn<'_>, body_max: u32) {
        if !self.scheduled.load(Ordering::Acquire) {
            return;
        }
        let mut queue = self.queue.lock();
        let before = queue.bytes;
        let account = &self.connection.0.mailbox.account;
        let window = if account.is_short() { part_of(account, WINDOW_WHEN_SHORT, 1).min(WINDOW) } else { WINDOW };
        while turn.outbox.len() < window {
            if queue.lost > 0 {
                let mut body = Vec::new();
                tlv::put_varint(&mut body, std::mem::take(&mut queue.lost));
                put(turn.outbox, PacketId(0), self.operations.of(Kind::Lagged), &body);
            }
            let Some(mut segment) = queue.segments.pop_front() else {
                self.scheduled.store(false, Ordering::Release);
                queue.segments = VecDeque::new();
                break;
            };
            queue.bytes -= segment.charge();
            queue.own -= segment.own();
            let limit = body_max.min(turn.outbox.limit());
            if segment.longest <= limit && segment.packets.header_size() == turn.outbox.header_size() {
                turn.outbox.append(&mut segment.packets);
            } else {
                let lost = frame_anew(segment, turn.outbox, limit);
                self.bounds.lost.fetch_add(lost, Ordering::Relaxed);
                queue.lost += lost;
            }
        }
        if self.scheduled.load(Ordering::Relaxed) {
            turn.again_when_written();
        }
        self.account(before, &mut queue);
    }

    /// The connection has ended: nothing is accepted from now on, and packets that wait are freed.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        let before = queue.bytes;
        self.close_queue(&mut queue, before);
    }

    /// Frees what waits, of which so many bytes are accounted for.
    fn close_queue(&self, queue: &mut Queue, before: usize) {
        *queue = Queue { closed: true, charged: queue.charged, ..Queue::default() };
        self.account(before, queue);
        self.behind.store(true, Ordering::Relaxed);
    }

    /// Updates the count of bytes that wait, and the charge for them.
    fn account(&self, before: usize, queue: &mut Queue) {
        let charged = queue.own / STEP * STEP;
        if charged != queue.charged {
            self.connection.0.mailbox.account.adjust(queue.charged, charged);
            queue.charged = charged;
        }
        self.behind.store(queue.bytes > self.bounds.queue_max / 2, Ordering::Relaxed);
        // Wraps when it has become less.
        self.bounds.waiting.fetch_add(queue.bytes.wrapping_sub(before), Ordering::Relaxed);
    }
}

/// The queue of a subscriber, locked.
pub(super) struct Delivery<'a>(&'a mut Queue);

impl Delivery<'_> {
    /// Adds packets that go to many.
    pub(super) fn share(&mut self, packets: &Segment) {
        let segment = self.segment(packets.packets.len());
        segment.packets.extend_from(&packets.packets);
        segment.messages = segment.messages.saturating_add(packets.messages);
        segment.longest = segment.longest.max(packets.longest);
        self.0.bytes += packets.packets.len();
        self.0.own += packets.packets.len() - packets.packets.shared_len();
    }

    /// Adds a message for this subscriber alone.
    pub(super) fn push(&mut self, id: PacketId, operations: Operations, body: &Bytes) {
        let segment = self.segment(body.len());
        let before = (segment.charge(), segment.own());
        segment.push(id, operations, body);
        let added = (segment.charge() - before.0, segment.own() - before.1);
        self.0.bytes += added.0;
        self.0.own += added.1;
    }

    /// Says that so many messages are missing here for one subscription. If this is dropped, they count as lost.
    pub(super) fn lag(&mut self, id: PacketId, operations: Operations, count: u64) {
        let mut body = Vec::new();
        tlv::put_varint(&mut body, count);
        let segment = self.segment(body.len());
        let before = (segment.charge(), segment.own());
        if segment.packets.push(id, operations.of(Kind::Lagged), Bytes::from(body)).is_ok() {
            segment.messages = segment.messages.saturating_add(count);
        }
        let added = (segment.charge() - before.0, segment.own() - before.1);
        self.0.bytes += added.0;
        self.0.own += added.1;
    }

    /// A segment to which so many bytes are to be added.
    fn segment(&mut self, more: usize) -> &mut Segment {
        let queue = &mut *self.0;
        let fits = queue.segments.back().is_some_and(|last| last.packets.len() + more <= TOGETHER_MAX);
        if !fits {
            queue.segments.push_back(Segment::new());
            queue.bytes += SEGMENT_CHARGE;
            queue.own += SEGMENT_CHARGE;
        }
        queue.segments.back_mut().expect("one has been pushed unless there was one")
    }
}

impl Queue {
    /// Drops the oldest portion, and says how many messages it had.
    fn drop_oldest(&mut self) -> u64 {
        let Some(oldest) = self.segments.pop_front() else { return 0 };
        self.bytes -= oldest.charge();
        self.own -= oldest.own();
        let lost = oldest.messages;
        self.lost = self.lost.saturating_add(lost);
        lost
    }
}

/// Frames packets in the outbox's own form, for subscribers with short headers or a limit of their own. Says how many
/// were too long.
#[cold]
fn frame_anew(mut segment: Segment, outbox: &mut Outbox, limit: u32) -> u64 {
    let mut packets = segment.packets.take_bytes();
    let mut decoder = Decoder::new(HeaderForm::Current, u32::MAX);
    let mut lost = 0;
    while let Ok(Some(packet)) = decoder.next(&mut packets) {
        let fits = u32::try_from(packet.body.len()).is_ok_and(|length| length <= limit);
        if !fits || outbox.forward(&packet).is_err() {
            lost += 1;
        }
    }
    lost
}
