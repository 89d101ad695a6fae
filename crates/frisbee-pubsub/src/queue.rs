//! Bounded queue of one subscriber. Publishers add messages from any thread, and the subscriber's own task removes
//! them.

use super::fanout::Source;
use super::follow::{ReplayMark, ReplayedPositions};
use super::{Kind, Operations, SlowSubscriberPolicy, put};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, HeaderForm, MemoryBudget, MemoryCharge, Operation, Outbox, PacketId, tlv};
use frisbee_core::{Decoder, Header};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Maximum number of bytes that are moved from a subscriber's queue to its outbox at once, enough for several writes.
/// The limit keeps the outbox short, because messages in the outbox can no longer be dropped, and replies are sent
/// after them.
const WINDOW: usize = 256 * 1024;

/// Maximum size in bytes of a queue segment that combines the packets of several deliveries. Combining avoids many
/// small allocations. Packets that do not fit get a new segment.
const TOGETHER_MAX: usize = 4 * 1024;

/// Memory charge in bytes for a queue segment without its packets. Covers its entry in the queue and its allocations.
const SEGMENT_CHARGE: usize = 256;

/// Memory charge in bytes for a [`ReplayMark`] in a queue segment.
const MARK_CHARGE: usize = 64;

/// Divisor of each queue's limit while the queues of all subscribers exceed their total limit. The reduced limit
/// suffices for subscribers that keep up. While the server is short of memory, each queue is also limited to the
/// available memory divided by this number.
const LEFT_WHEN_FULL: usize = 16;

/// Minimum queue size in bytes that every subscriber may use, even if the server is short of memory.
const QUEUE_LEAST: usize = 16 * 1024;

/// Divisor of the available memory that may be moved from a queue to an outbox at once while the server is short of
/// memory.
const WINDOW_WHEN_SHORT: usize = 256;

/// Granularity in bytes of the memory charge of a queue.
pub(super) const STEP: usize = 16 * 1024;

/// Limits of a broker's subscriber queues, with the totals over all queues.
#[derive(Debug)]
pub(super) struct QueueBounds {
    /// Maximum size of one subscriber's queue in bytes.
    pub(super) queue_max: usize,
    /// Maximum total size of all queues in bytes. While the total exceeds it, the limit of each queue is reduced.
    pub(super) memory_max: usize,
    pub(super) slow: SlowSubscriberPolicy,
    /// Number of bytes queued for all subscribers.
    pub(super) waiting: AtomicUsize,
    /// Number of messages that all subscribers together have lost.
    pub(super) lost: AtomicU64,
}

impl QueueBounds {
    /// Returns the current maximum queue size of a subscriber in bytes.
    fn queue_max(&self, budget: &MemoryBudget) -> usize {
        let full = self.waiting.load(Ordering::Relaxed) > self.memory_max;
        let most = if full { self.queue_max / LEFT_WHEN_FULL } else { self.queue_max };
        if budget.is_short() { most.min(part_of(budget, LEFT_WHEN_FULL, QUEUE_LEAST)) } else { most }
    }
}

/// Returns the server's available memory in bytes divided by `part`, but at least `least`.
#[cold]
fn part_of(budget: &MemoryBudget, part: usize, least: usize) -> usize {
    (budget.available() / part).max(least)
}

/// A connection with subscriptions, and the queue of messages to send on it.
pub(super) struct Subscriber {
    /// Number of the connection, which is unique within the broker.
    pub(super) number: u64,
    pub(super) connection: Connection,
    /// Memory budget of the server, which queued bytes are charged to.
    pub(super) budget: MemoryBudget,
    pub(super) operations: Operations,
    bounds: Arc<QueueBounds>,
    /// Whether the subscriber's task was woken to send queued packets or waits for the socket to become writable.
    /// Written only while the queue is locked.
    scheduled: AtomicBool,
    /// Whether the queue is more than half full, or the connection has closed. Written only while the queue is locked.
    behind: AtomicBool,
    queue: Mutex<Queue>,
}

struct Queue {
    segments: VecDeque<QueueSegment>,
    /// Size of the queue in bytes, including the overhead of its segments. Limited by [`QueueBounds`].
    bytes: usize,
    /// Part of `bytes` that no other subscriber shares. Only this part is charged to the queue.
    own: usize,
    /// Memory charge for `own`, rounded down to a multiple of [`STEP`].
    charge: MemoryCharge,
    /// Number of messages that were lost since the last report of lost messages to the subscriber.
    lost: u64,
    /// Whether any subscription of the connection uses a topic history, so that the subscriber must receive topic
    /// positions.
    follows: bool,
    /// Replies and topic positions that must be sent again, because the queue segments that contained them were
    /// dropped.
    restated: ReplayedPositions,
    closed: bool,
}

/// Packets that were appended to a queue together. A full queue also drops them together.
pub(super) struct QueueSegment {
    pub(super) packets: Outbox,
    pub(super) messages: u64,
    /// Length in bytes of the longest message body in the segment.
    pub(super) longest: u32,
    /// Topic positions of the messages in the segment. If the segment is dropped, subscribers that use topic histories
    /// receive the positions instead.
    marks: Vec<ReplayMark>,
}

impl QueueSegment {
    pub(super) fn new() -> Self {
        let mut packets = Outbox::new(HeaderForm::Current);
        // Set no limit here, because each subscriber's limit applies when the segment is sent.
        packets.set_limit(u32::MAX);
        Self { packets, messages: 0, longest: 0, marks: Vec::new() }
    }

    /// Appends a message packet to the segment. Ignores a message that is too long for any packet.
    pub(super) fn push(&mut self, id: PacketId, operations: Operations, body: &Bytes) {
        if self.packets.push(id, operations.of(Kind::Message), body).is_ok() {
            self.messages = self.messages.saturating_add(1);
            self.longest = self.longest.max(u32::try_from(body.len()).unwrap_or(u32::MAX));
        }
    }

    /// Calls `visit` with the bodies of the last `count` messages. Long bodies are shared. Short bodies are copied,
    /// because a slice would keep the whole buffer in memory. Call this before the packets are [shared](Outbox::share).
    pub(super) fn for_each_last(&mut self, count: usize, mut visit: impl FnMut(Bytes)) {
        let Some(mut packets) = self.packets.contiguous() else {
            // A message with a shared body is alone in its segment.
            return self.packets.map_shared(|body| {
                visit(body.clone());
                body
            });
        };
        let mut skipped = self.messages.saturating_sub(count as u64);
        while let Some((header, rest)) = packets.split_first_chunk()
            && let Ok(Header { length, .. }) = Header::decode(header)
            && let Some((body, rest)) = rest.split_at_checked(length as usize)
        {
            if skipped == 0 {
                visit(Bytes::copy_from_slice(body));
            }
            skipped = skipped.saturating_sub(1);
            packets = rest;
        }
    }

    /// Empties the segment but keeps its allocations for reuse.
    pub(super) fn clear(&mut self) {
        self.packets.advance(self.packets.len());
        self.messages = 0;
        self.longest = 0;
    }

    fn charge(&self) -> usize {
        self.packets.len() + SEGMENT_CHARGE + self.marks.len() * MARK_CHARGE
    }

    /// Returns the number of bytes in the segment that no other subscriber shares. Only these are charged to the queue.
    fn own(&self) -> usize {
        self.charge() - self.packets.shared_len()
    }
}

impl Subscriber {
    pub(super) fn new(number: u64, connection: Connection, operations: Operations, bounds: Arc<QueueBounds>) -> Self {
        Self {
            number,
            budget: connection.memory_budget(),
            queue: Mutex::new(Queue::new(&connection)),
            connection,
            operations,
            bounds,
            scheduled: AtomicBool::new(false),
            behind: AtomicBool::new(false),
        }
    }

    /// Returns whether the subscriber has a long backlog. If so, another member of its queue group should receive the
    /// next message.
    pub(super) fn has_backlog(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Returns the current maximum size of the queue in bytes.
    pub(super) fn queue_max(&self) -> usize {
        self.bounds.queue_max(&self.budget)
    }

    /// Locks the queue and calls `fill` to append packets. If the queue overflows, drops its oldest segments or
    /// disconnects the subscriber. Wakes the subscriber's task, unless the publisher `from` is this subscriber itself.
    pub(super) fn deliver(&self, fill: impl FnOnce(&mut QueueDelivery<'_>), from: &impl Source) {
        let mut queue = self.queue.lock();
        if queue.closed {
            return;
        }
        let before = queue.bytes;
        fill(&mut QueueDelivery(&mut queue));
        let queue_max = self.queue_max();
        let overflows = queue.bytes > queue_max && queue.segments.len() > 1;
        if overflows && self.bounds.slow == SlowSubscriberPolicy::Disconnect {
            let text =
                format!("slow subscriber: {} bytes are queued, which exceeds queue_max of {queue_max}", queue.bytes);
            // Close the queue first, so that no message is queued for a connection that is being closed.
            self.close_queue(&mut queue, before);
            self.connection.abort_for(text);
            return;
        }
        // Keep the newest segment whatever its size, because a single message may exceed the limit.
        while queue.bytes > queue_max && queue.segments.len() > 1 {
            let lost = queue.drop_oldest();
            self.bounds.lost.fetch_add(lost, Ordering::Relaxed);
        }
        if queue.restated.is_full() {
            self.close_queue(&mut queue, before);
            self.connection.abort_for("slow subscriber: too many replies and positions of topics were dropped");
            return;
        }
        self.account(before, &mut queue);
        // Set the flag under the lock, because `pull` also clears it under the lock. Otherwise a packet could remain
        // unscheduled.
        let scheduled = self.scheduled.swap(true, Ordering::AcqRel);
        drop(queue);
        if !scheduled && self.number != from.number() {
            self.connection.wake();
        }
    }

    /// Replies to a SYNC request. The reply follows all queued messages, because a client that has ended a subscription
    /// expects no messages of it after the reply.
    pub(super) fn answer_sync(&self, id: PacketId, outbox: &mut Outbox) {
        let operation = self.operations.of(Kind::Sync);
        // If the flag is clear, the queue is empty, and the reply cannot overtake a message.
        if !self.scheduled.load(Ordering::Acquire) {
            return put(outbox, id, operation, &[]);
        }
        let mark = Some(ReplayMark::Synced(id));
        self.deliver(|queue| queue.control(id, operation, Vec::new(), mark), self);
    }

    /// Moves up to [`WINDOW`] bytes of queued packets to the outbox. Called by the subscriber's own task. `body_max` is
    /// the maximum body size of the peer. Returns whether packets remain in the queue.
    pub(super) fn pull(&self, outbox: &mut Outbox, body_max: u32) -> bool {
        // Fast path without the lock. It cannot miss packets, because a publisher sets the flag after adding them and
        // then wakes this task.
        if !self.scheduled.load(Ordering::Acquire) {
            return false;
        }
        let mut queue = self.queue.lock();
        let before = queue.bytes;
        let budget = &self.budget;
        let window = if budget.is_short() { part_of(budget, WINDOW_WHEN_SHORT, 1).min(WINDOW) } else { WINDOW };
        while outbox.len() < window {
            // Report the loss before the messages that follow it.
            if queue.lost > 0 || !queue.restated.is_empty() {
                let lost = std::mem::take(&mut queue.lost);
                queue.restated.put(outbox, self.operations, lost);
            }
            let Some(mut segment) = queue.segments.pop_front() else {
                self.scheduled.store(false, Ordering::Release);
                queue.segments = VecDeque::new();
                break;
            };
            queue.bytes -= segment.charge();
            queue.own -= segment.own();
            let limit = body_max.min(outbox.limit());
            if segment.longest <= limit && segment.packets.header_size() == outbox.header_size() {
                outbox.append(&mut segment.packets);
            } else {
                // Encode the packets again, because some exceed the peer's limit or they have another header format.
                let marks = std::mem::take(&mut segment.marks);
                let lost = reframe(segment, outbox, limit);
                self.bounds.lost.fetch_add(lost, Ordering::Relaxed);
                queue.lost += lost;
                if lost > 0 {
                    marks.into_iter().for_each(|mark| queue.restated.add_sent(mark));
                }
            }
        }
        self.account(before, &mut queue);
        self.scheduled.load(Ordering::Relaxed)
    }

    /// Closes the queue because the connection has ended. Queued packets are freed, and later ones are ignored.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        let before = queue.bytes;
        self.close_queue(&mut queue, before);
    }

    /// Closes the queue and frees its packets. `before` is the queue's size in bytes that is included in the total of
    /// all queues.
    fn close_queue(&self, queue: &mut Queue, before: usize) {
        queue.closed = true;
        queue.segments = VecDeque::new();
        (queue.bytes, queue.own, queue.lost) = (0, 0, 0);
        queue.restated = ReplayedPositions::default();
        self.account(before, queue);
        self.behind.store(true, Ordering::Relaxed);
    }

    /// Updates the memory charge and the broker's number of queued bytes after a change of the queue. `before` is the
    /// queue's size in bytes before the change.
    fn account(&self, before: usize, queue: &mut Queue) {
        let charged = queue.own / STEP * STEP;
        if charged != queue.charge.bytes() {
            queue.charge.resize(charged);
        }
        self.behind.store(queue.bytes > self.bounds.queue_max / 2, Ordering::Relaxed);
        // If the queue has shrunk, the difference wraps around, so that adding it subtracts.
        self.bounds.waiting.fetch_add(queue.bytes.wrapping_sub(before), Ordering::Relaxed);
    }
}

/// A subscriber's queue, locked by a publisher that appends packets to it.
pub(super) struct QueueDelivery<'a>(&'a mut Queue);

impl QueueDelivery<'_> {
    /// Appends packets that several subscribers share.
    pub(super) fn share(&mut self, packets: &QueueSegment) {
        let segment = self.segment(packets.packets.len());
        segment.packets.extend_from(&packets.packets);
        segment.messages = segment.messages.saturating_add(packets.messages);
        segment.longest = segment.longest.max(packets.longest);
        self.0.bytes += packets.packets.len();
        self.0.own += packets.packets.len() - packets.packets.shared_len();
    }

    /// Appends a message for this subscriber only.
    pub(super) fn push(&mut self, id: PacketId, operations: Operations, body: &Bytes) {
        self.append(body.len(), |segment| segment.push(id, operations, body));
    }

    /// Appends a report that `count` messages of one subscription are missing at this point. If the report itself is
    /// dropped, these messages still count as lost.
    pub(super) fn lag(&mut self, id: PacketId, operations: Operations, count: u64) {
        let mut body = Vec::new();
        tlv::put_varint(&mut body, count);
        self.append(body.len(), |segment| {
            if segment.packets.push(id, operations.of(Kind::Lagged), Bytes::from(body)).is_ok() {
                segment.messages = segment.messages.saturating_add(count);
            }
        });
    }

    /// Returns whether any subscription of the connection uses a topic history.
    pub(super) fn follows(&self) -> bool {
        self.0.follows
    }

    /// Records that a subscription of the connection uses a topic history.
    pub(super) fn set_follows(&mut self) {
        self.0.follows = true;
    }

    /// Returns the size of the queue in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Appends a packet that is not a message. If the packet is dropped, an equal packet is created from `mark` later.
    pub(super) fn control(&mut self, id: PacketId, operation: Operation, body: Vec<u8>, mark: Option<ReplayMark>) {
        self.append(body.len(), |segment| {
            let _ = segment.packets.push(id, operation, Bytes::from(body));
            segment.marks.extend(mark);
        });
    }

    /// Appends packets with `fill` to a segment with space for `more` bytes, and updates the size of the queue.
    fn append(&mut self, more: usize, fill: impl FnOnce(&mut QueueSegment)) {
        let segment = self.segment(more);
        let before = (segment.charge(), segment.own());
        fill(segment);
        let added = (segment.charge() - before.0, segment.own() - before.1);
        self.0.bytes += added.0;
        self.0.own += added.1;
    }

    /// Records the topic positions of the messages that were just appended.
    pub(super) fn mark(&mut self, mark: ReplayMark) {
        let Some(last) = self.0.segments.back_mut() else { return };
        if !last.marks.last_mut().is_some_and(|earlier| earlier.extend(&mark)) {
            last.marks.push(mark);
            self.0.bytes += MARK_CHARGE;
            self.0.own += MARK_CHARGE;
        }
    }

    /// Returns a segment with space for `more` bytes, creating one if necessary.
    fn segment(&mut self, more: usize) -> &mut QueueSegment {
        let queue = &mut *self.0;
        let fits = queue.segments.back().is_some_and(|last| last.packets.len() + more <= TOGETHER_MAX);
        if !fits {
            queue.segments.push_back(QueueSegment::new());
            queue.bytes += SEGMENT_CHARGE;
            queue.own += SEGMENT_CHARGE;
        }
        queue.segments.back_mut().expect("queue should end with the segment that was just added")
    }
}

impl Queue {
    fn new(connection: &Connection) -> Self {
        let charge = connection.charge(0);
        Self {
            segments: VecDeque::new(),
            bytes: 0,
            own: 0,
            charge,
            lost: 0,
            follows: false,
            restated: ReplayedPositions::default(),
            closed: false,
        }
    }

    /// Drops the oldest segment of the queue and returns the number of its messages.
    fn drop_oldest(&mut self) -> u64 {
        let Some(oldest) = self.segments.pop_front() else { return 0 };
        self.bytes -= oldest.charge();
        self.own -= oldest.own();
        let lost = oldest.messages;
        self.lost = self.lost.saturating_add(lost);
        oldest.marks.into_iter().for_each(|mark| self.restated.add(mark));
        lost
    }
}

/// Encodes the packets of a segment again, with the header format and size limit of the outbox. Returns the number of
/// messages that were dropped because they exceed the limit.
#[cold]
fn reframe(mut segment: QueueSegment, outbox: &mut Outbox, limit: u32) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::super::FIRST_OPERATION;
    use super::*;
    use frisbee::testing::DetachedConnection;
    use tokio::runtime::Handle;

    const NUMBERS: Operations = Operations(FIRST_OPERATION);

    fn bounds(queue_max: usize, slow: SlowSubscriberPolicy) -> Arc<QueueBounds> {
        let (waiting, lost) = (AtomicUsize::new(0), AtomicU64::new(0));
        Arc::new(QueueBounds { queue_max, memory_max: usize::MAX, slow, waiting, lost })
    }

    fn subscriber(number: u64, bounds: &Arc<QueueBounds>) -> Subscriber {
        let connection = DetachedConnection::new(Handle::current(), usize::MAX).connection().clone();
        Subscriber::new(number, connection, NUMBERS, bounds.clone())
    }

    /// Delivers `count` messages to a subscriber. Each has a header of 10 bytes and a body of `length` bytes.
    fn deliver(to: &Subscriber, from: &Subscriber, count: usize, length: usize) {
        let body = Bytes::from(vec![1; length]);
        to.deliver(|queue| (0..count).for_each(|_| queue.push(PacketId(1), NUMBERS, &body)), from);
    }

    fn waiting(bounds: &QueueBounds) -> usize {
        bounds.waiting.load(Ordering::Relaxed)
    }

    #[tokio::test]
    async fn queue_counts_total_and_own_bytes() {
        let mut queue = Queue::new(DetachedConnection::new(Handle::current(), usize::MAX).connection());
        let [short, long] = [5, 100_000].map(|length| Bytes::from(vec![1; length]));
        let mut many = QueueSegment::new();
        [&long, &short, &long].into_iter().for_each(|body| many.push(PacketId(0), NUMBERS, body));
        let is_registered = |queue: &Queue| {
            let sum = |of: fn(&QueueSegment) -> usize| queue.segments.iter().map(of).sum::<usize>();
            assert_eq!((queue.bytes, queue.own), (sum(QueueSegment::charge), sum(QueueSegment::own)));
        };
        let steps: [&dyn Fn(&mut QueueDelivery<'_>); 5] = [
            &|queue| queue.push(PacketId(1), NUMBERS, &short),
            &|queue| queue.lag(PacketId(1), NUMBERS, 7),
            &|queue| queue.push(PacketId(1), NUMBERS, &long),
            &|queue| queue.share(&many),
            &|queue| queue.push(PacketId(1), NUMBERS, &short),
        ];
        for step in steps {
            step(&mut QueueDelivery(&mut queue));
            is_registered(&queue);
        }
        assert_eq!(queue.segments.iter().map(|segment| segment.messages).collect::<Vec<_>>(), [1 + 7, 1, 3, 1]);
        assert!(queue.own < 2_000 && queue.bytes > 300_000, "queue holds {} of {} bytes", queue.own, queue.bytes);
        for lost in [8, 1, 3, 1, 0] {
            assert_eq!(queue.drop_oldest(), lost);
            is_registered(&queue);
        }
        assert_eq!((queue.lost, queue.bytes, queue.own), (13, 0, 0));
    }

    #[tokio::test]
    async fn queued_bytes_stay_charged_until_sent() {
        let bounds = bounds(1 << 20, SlowSubscriberPolicy::DropOldest);
        let [to, from] = [1, 2].map(|number| subscriber(number, &bounds));
        for leaves in [false, true] {
            deliver(&to, &from, 40, 1000);
            let short = 40 * 1010 + 10 * SEGMENT_CHARGE;
            assert_eq!((waiting(&bounds), to.connection.memory_held()), (short, 2 * STEP));
            deliver(&to, &from, 1, 100_000);
            assert_eq!((waiting(&bounds), to.connection.memory_held()), (short + 100_010 + SEGMENT_CHARGE, 2 * STEP));
            if leaves {
                to.close();
            } else {
                let mut outbox = Outbox::new(HeaderForm::Current);
                assert_eq!((to.pull(&mut outbox, u32::MAX), outbox.len()), (false, 40 * 1010 + 100_010));
            }
            assert_eq!((waiting(&bounds), to.connection.memory_held()), (0, 0));
        }
        deliver(&to, &from, 40, 1000);
        assert_eq!(
            (waiting(&bounds), to.connection.memory_held(), to.has_backlog()),
            (0, 0, true),
            "closed queue should accept no packets"
        );
        let some = subscriber(3, &bounds);
        deliver(&some, &from, 400, 1000);
        let mut outbox = Outbox::new(HeaderForm::Current);
        assert!(some.pull(&mut outbox, u32::MAX) && (256 * 1024..270_000).contains(&outbox.len()), "{}", outbox.len());
        let rest = waiting(&bounds);
        assert!(rest > 100_000 && some.connection.memory_held() == rest / STEP * STEP, "{rest}");
    }

    #[tokio::test]
    async fn newest_message_is_kept_at_any_length() {
        for slow in [SlowSubscriberPolicy::DropOldest, SlowSubscriberPolicy::Disconnect] {
            let bounds = bounds(10_000, slow);
            let from = subscriber(1, &bounds);
            let is_closed = |to: &Subscriber| to.queue.lock().closed;
            let within = subscriber(2, &bounds);
            deliver(&within, &from, 1, 4000);
            deliver(&within, &from, 1, 10_000 - 4010 - 10 - 2 * SEGMENT_CHARGE);
            assert_eq!((waiting(&bounds), is_closed(&within)), (10_000, false), "{slow:?}");
            within.close();
            let long = subscriber(3, &bounds);
            deliver(&long, &from, 1, 50_000);
            let length = 50_010 + SEGMENT_CHARGE;
            assert_eq!((waiting(&bounds), is_closed(&long)), (length, false), "{slow:?}");
            deliver(&long, &from, 1, 100);
            let left = if slow == SlowSubscriberPolicy::DropOldest { 110 + SEGMENT_CHARGE } else { 0 };
            assert_eq!(
                (waiting(&bounds), is_closed(&long)),
                (left, slow == SlowSubscriberPolicy::Disconnect),
                "{slow:?}"
            );
            assert_eq!(bounds.lost.load(Ordering::Relaxed), u64::from(slow == SlowSubscriberPolicy::DropOldest));
        }
    }

    #[tokio::test]
    async fn queue_bound_shrinks_under_memory_pressure() {
        let (waiting, lost) = (AtomicUsize::new(0), AtomicU64::new(0));
        let bounds = QueueBounds {
            queue_max: 1_000_010,
            memory_max: 100,
            slow: SlowSubscriberPolicy::DropOldest,
            waiting,
            lost,
        };
        let budget = DetachedConnection::new(Handle::current(), 1_000_000).connection().memory_budget();
        for (waiting, bound) in [(0, 1_000_010), (100, 1_000_010), (101, 62_500)] {
            bounds.waiting.store(waiting, Ordering::Relaxed);
            assert_eq!(bounds.queue_max(&budget), bound, "{waiting} bytes wait");
        }
        let _most = budget.share(vec![0; 600_000].into());
        assert_eq!(bounds.queue_max(&budget), 25_000);
        let _more = budget.share(vec![0; 400_001].into());
        assert_eq!(bounds.queue_max(&budget), 16 * 1024, "each of many queues should have a small limit");
    }

    #[tokio::test]
    async fn subscriber_lags_beyond_half_full_queue() {
        let bounds = bounds(10_000, SlowSubscriberPolicy::DropOldest);
        let [to, from] = [1, 2].map(|number| subscriber(number, &bounds));
        deliver(&to, &from, 1, 5_000 - 10 - SEGMENT_CHARGE);
        assert_eq!((waiting(&bounds), to.has_backlog()), (5_000, false));
        deliver(&to, &from, 1, 1);
        assert!(to.has_backlog());
    }
}
