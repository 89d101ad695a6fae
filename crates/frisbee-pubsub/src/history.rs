//! Message history of topics at a broker: a ring of messages per topic, and the lock that orders them.
//!
//! # Decisions
//!
//! A single lock covers both recording a message and delivering it to the queues of subscribers. The lock also covers
//! both taking the snapshot for a new subscriber and registering the subscriber. Offsets of a topic therefore have the
//! same order in every queue, and a new subscriber receives each message exactly once: from the snapshot if it was
//! recorded before, and otherwise from its queue. Topics without a history never take the lock.

use crate::fanout::{SHARED_MIN, Source};
use crate::follow::StartPosition;
use crate::queue::QueueSegment;
use bytes::Bytes;
use frisbee::{MemoryBudget, MemoryCharge};
use parking_lot::{Mutex, MutexGuard};
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of messages that a history keeps per topic. A larger number is not useful, because a history bridges
/// lost connections and is not a message store.
const LAST_MAX: usize = 64 * 1024;

/// Default maximum memory of a broker's topic histories in bytes: 64 KiB for each of a thousand topics.
pub(crate) const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Default maximum number of topics with a history. A topic takes about 300 bytes, excluding its messages.
pub(crate) const TOPICS_MAX: usize = 16 * 1024;

/// Memory of a topic's history in bytes, excluding the topic's name and the messages. Includes the entries in the table
/// of topics and in the eviction queue.
const TOPIC_COST: usize = 288;

/// Memory in bytes of the history of a topic with a long name, excluding the messages.
const LONG_TOPIC_COST: usize = TOPIC_COST + 256;

/// Memory of a message in a topic's history in bytes, excluding its payload. Includes its entry in the history and the
/// allocation.
const MESSAGE_COST: usize = 80;

/// Step size in bytes of changes to the memory charge of the histories.
const STEP: usize = 16 * 1024;

/// Limits of the messages that a broker keeps per topic for later subscribers. Passed to
/// [`BrokerBuilder::history`](crate::BrokerBuilder::history).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct History {
    last: usize,
    time: Option<Duration>,
}

impl History {
    /// Creates a history that keeps the last `count` messages of each topic. With a count of 1, it contains the current
    /// value of a topic.
    ///
    /// # Panics
    /// If `count` is 0 or more than 65 536.
    pub fn last(count: usize) -> Self {
        assert!((1..=LAST_MAX).contains(&count), "a history of {count} messages; it must have 1 to {LAST_MAX}");
        Self { last: count, time: None }
    }

    /// Sets the maximum age of the messages that are kept. Older messages are never replayed, but their memory is only
    /// released when the topic receives its next message.
    ///
    /// # Panics
    /// If the age is zero.
    pub fn for_time(self, time: Duration) -> Self {
        assert!(!time.is_zero(), "a history for {time:?}; it must be greater than zero");
        Self { time: Some(time), ..self }
    }

    fn expired(&self, message: &RecordedMessage, now: Option<Instant>) -> bool {
        let age = now.zip(message.at).map(|(now, at)| now.saturating_duration_since(at));
        age.zip(self.time).is_some_and(|(age, most)| age > most)
    }
}

/// Histories of all topics of a broker, with their limits and total memory.
pub(crate) struct Histories {
    /// Limits by topic pattern. The first pattern that matches a topic determines its limits.
    rules: Vec<(Box<str>, History)>,
    bytes_max: usize,
    pub(crate) topics_max: usize,
    records: Mutex<Records>,
}

/// State of all topic histories of a broker, which is protected by a lock.
#[derive(Default)]
pub(crate) struct Records {
    /// Number of the current epoch, which is assigned to new histories. A message position is valid only in a history
    /// with the same epoch. A new epoch starts when a topic is evicted, or when messages of other brokers may be
    /// missing.
    pub(crate) epoch: u64,
    /// Whether the current epoch is unused: no message was recorded and no subscription was started in it.
    pub(crate) is_fresh: bool,
    /// History of each topic. Sorted by topic, so that simulation runs are deterministic.
    pub(crate) topics: BTreeMap<Arc<str>, Arc<Ring>>,
    /// Histories by the address of the publisher that created them. The first history of a queue is the next candidate
    /// for eviction. If it was used since it was last considered, it moves to the end of its queue instead.
    candidates: BTreeMap<Option<IpAddr>, VecDeque<Arc<Ring>>>,
    bytes: usize,
    /// Part of `bytes` that consists of long message bodies. These are shared with the queues of subscribers and
    /// charged separately, so they are not charged to the histories.
    shared: usize,
    charge: Option<MemoryCharge>,
}

/// History of one topic. Its lock may only be acquired while the lock of all histories is held.
pub(crate) struct Ring {
    pub(crate) topic: Arc<str>,
    pub(crate) epoch: u64,
    limits: History,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    /// Offset of the last message that was recorded for the topic, or 0 if there was none.
    last: u64,
    messages: VecDeque<RecordedMessage>,
    was_used: bool,
    is_removed: bool,
}

impl Contents {
    /// Frees the entries of removed messages, because only the entries of present messages are charged. Half of the new
    /// capacity remains free, so that a history whose length varies seldom reallocates.
    fn free_unused_entries(&mut self) {
        if self.messages.capacity() > 4 * self.messages.len().max(4) {
            self.messages.shrink_to(2 * self.messages.len());
        }
    }
}

struct RecordedMessage {
    /// Time at which the message was recorded. Set only if the topic's history has a time limit.
    at: Option<Instant>,
    body: Bytes,
}

/// Consecutive messages of one topic that were recorded in its history.
#[derive(Clone)]
pub(crate) struct Recording {
    pub(crate) ring: Arc<Ring>,
    /// Offset of the first recorded message.
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Recording {
    /// Returns the offset that follows the last of the messages.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

/// Point in a topic's history at which a subscriber starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartPoint {
    Opening(StartPosition),
    /// The subscriber starts with the message at this offset.
    At(u64),
}

impl Histories {
    pub(crate) fn new(rules: Vec<(Box<str>, History)>, bytes_max: usize, topics_max: usize) -> Self {
        let records = Records {
            // Make the number odd, because 0 is not a valid epoch in positions.
            epoch: RandomState::new().hash_one(()) | 1,
            is_fresh: true,
            ..Records::default()
        };
        // Limit the topics so that, without their messages, they use at most half of the memory.
        let topics_max = topics_max.min(bytes_max / (2 * LONG_TOPIC_COST)).max(1);
        Self { rules, bytes_max, topics_max, records: Mutex::new(records) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the limits of a topic's history, or `None` if the topic has no history.
    pub(crate) fn of(&self, topic: &str) -> Option<History> {
        self.rules.iter().find(|(pattern, _)| crate::covers(pattern, topic)).map(|(_, history)| *history)
    }

    /// Returns the index of the history rule for a topic, or `None` if the topic has no history.
    pub(crate) fn rule_of(&self, topic: &str) -> Option<usize> {
        self.rules.iter().position(|(pattern, _)| crate::covers(pattern, topic))
    }

    /// Returns the topic patterns that the broker keeps a history for.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|(pattern, _)| &**pattern)
    }

    /// Returns whether every topic that can match `pattern` has a history.
    pub(crate) fn covers(&self, pattern: &str) -> bool {
        self.rules.iter().any(|(rule, _)| crate::covers(rule, pattern))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock()
    }

    /// Returns the memory of all topic histories in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.records.lock().bytes
    }

    /// Records consecutive messages in the history of their topic. `known` caches this history from one call to the
    /// next. Returns the history, the offset of the first message and the number of messages.
    pub(crate) fn record(
        &self,
        records: &mut Records,
        known: &mut Option<Arc<Ring>>,
        topic: &str,
        limits: History,
        packets: &mut QueueSegment,
        from: &impl Source,
    ) -> Recording {
        let budget = from.budget();
        // Look up the history again if it was evicted after the last call cached it.
        if known.as_ref().is_none_or(|ring| ring.contents.lock().is_removed) {
            *known = Some(self.ring(records, topic, limits, from));
        }
        let ring = known.clone().expect("history of the topic should be known after recording");
        // Lock order: first the records of all topics, then the contents of one history.
        let mut contents = ring.contents.lock();
        let first = contents.last.saturating_add(1);
        let count = packets.messages;
        contents.last = contents.last.saturating_add(count);
        contents.was_used = true;
        let before = records.own();
        let at = limits.time.map(|_| Instant::now());
        let kept = usize::try_from(count).unwrap_or(usize::MAX).min(limits.last);
        let stays = limits.last - kept;
        while contents.messages.len() > stays
            || contents.messages.front().is_some_and(|oldest| limits.expired(oldest, at))
        {
            records.remove(contents.messages.pop_front());
        }
        packets.for_each_last(kept, |body| {
            let message = RecordedMessage { at, body };
            records.bytes += message.cost();
            records.shared += message.shared();
            contents.messages.push_back(message);
        });
        // A topic that exceeds the memory limit loses its earlier messages. It keeps the last one if that fits, and
        // otherwise none. Other topics are not affected.
        if records.bytes > self.bytes_max || budget.is_short() {
            while contents.messages.len() > usize::from(records.bytes <= self.bytes_max) {
                records.remove(contents.messages.pop_front());
            }
        }
        contents.free_unused_entries();
        drop(contents);
        records.charge(before, budget);
        Recording { ring, first, count }
    }

    /// Skips the offsets of `missed` messages in a topic's history. Removes all earlier messages from the history,
    /// because a replay must not have gaps. Returns the history and the offset of the first missing message.
    pub(crate) fn skip(
        &self,
        records: &mut Records,
        topic: &str,
        limits: History,
        missed: u64,
        from: &impl Source,
    ) -> (Arc<Ring>, u64) {
        let ring = self.ring(records, topic, limits, from);
        let before = records.own();
        let mut contents = ring.contents.lock();
        let first = contents.last.saturating_add(1);
        contents.last = contents.last.saturating_add(missed);
        records.remove(contents.messages.drain(..));
        contents.free_unused_entries();
        drop(contents);
        records.charge(before, from.budget());
        (ring, first)
    }

    /// Returns the history of a topic, and creates it if the topic has none.
    #[cold]
    fn ring(&self, records: &mut Records, topic: &str, limits: History, from: &impl Source) -> Arc<Ring> {
        if let Some(ring) = records.topics.get(topic) {
            return ring.clone();
        }
        let (before, publisher) = (records.own(), from.publisher());
        if records.topics.len() >= self.topics_max {
            records.remove_one(publisher);
        }
        // Reserve space for at most `limits.last` messages. A `VecDeque` that grows by itself starts with four entries,
        // which would take half of the memory of a history with one message.
        let messages = VecDeque::with_capacity(limits.last.min(4));
        let contents = Mutex::new(Contents { messages, ..Contents::default() });
        let ring = Ring { topic: topic.into(), epoch: records.epoch, limits, contents };
        let ring = Arc::new(ring);
        records.topics.insert(ring.topic.clone(), ring.clone());
        records.is_fresh = false;
        records.candidates.entry(publisher).or_default().push_back(ring.clone());
        records.bytes += TOPIC_COST + topic.len();
        records.charge(before, from.budget());
        ring
    }
}

impl Records {
    /// Returns the histories of the topics that match a valid pattern, in the order of their topics, and the number of
    /// topics that were compared with the pattern without a match.
    pub(crate) fn matching(&self, pattern: &str) -> (Vec<&Arc<Ring>>, usize) {
        let Some(wildcard) = pattern.find(['*', '>']) else {
            return (self.topics.get(pattern).into_iter().collect(), 0);
        };
        // Compare only topics that start with the tokens before the first wildcard. They are adjacent in the table.
        let prefix = &pattern[..wildcard];
        let (mut rings, mut mismatches) = (Vec::new(), 0);
        for (topic, ring) in self.topics.range::<str, _>((Bound::Included(prefix), Bound::Unbounded)) {
            if !topic.starts_with(prefix) {
                break;
            }
            if crate::covers(pattern, topic) {
                rings.push(ring);
            } else {
                mismatches += 1;
            }
        }
        (rings, mismatches)
    }

    /// Removes the histories of all topics and starts a new epoch, so that earlier positions become invalid. Returns
    /// `false` if nothing has been recorded or subscribed in the current epoch.
    pub(crate) fn begin_epoch(&mut self) -> bool {
        if std::mem::replace(&mut self.is_fresh, true) {
            return false;
        }
        for ring in std::mem::take(&mut self.topics).into_values() {
            let mut contents = ring.contents.lock();
            // Mark the history as removed, so that publishers that have cached it look it up again.
            contents.is_removed = true;
            contents.messages = VecDeque::new();
        }
        self.candidates = BTreeMap::new();
        (self.bytes, self.shared) = (0, 0);
        self.epoch = self.epoch.wrapping_add(2);
        if let Some(charge) = &mut self.charge {
            charge.resize(0);
        }
        true
    }

    /// Evicts the history of a topic that has not been used recently, in approximate LRU order. Considers only topics
    /// of the address that has created the most topics. Otherwise, a publisher with many topics would evict the topics
    /// of all others. If several addresses have created equally many topics, `own` is preferred.
    fn remove_one(&mut self, own: Option<IpAddr>) {
        let share = |(of, queue): &(&Option<IpAddr>, &mut VecDeque<_>)| (queue.len(), **of == own);
        let Some((&publisher, queue)) = self.candidates.iter_mut().max_by_key(share) else { return };
        while let Some(ring) = queue.pop_front() {
            let mut contents = ring.contents.lock();
            if std::mem::take(&mut contents.was_used) {
                drop(contents);
                queue.push_back(ring);
                continue;
            }
            if queue.is_empty() {
                self.candidates.remove(&publisher);
            }
            contents.is_removed = true;
            self.remove(std::mem::take(&mut contents.messages));
            self.bytes -= TOPIC_COST + ring.topic.len();
            self.topics.remove(&ring.topic);
            // Begin another epoch, because a later history of the same topic starts at offset 1 again.
            self.epoch = self.epoch.wrapping_add(2);
            return;
        }
    }

    /// Returns the number of messages that all histories have allocated entries for.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.topics.values().map(|ring| ring.contents.lock().messages.capacity()).sum()
    }

    fn remove(&mut self, messages: impl IntoIterator<Item = RecordedMessage>) {
        for message in messages {
            self.bytes -= message.cost();
            self.shared -= message.shared();
        }
    }

    /// Returns the number of bytes charged to the histories. Excludes message bodies that are shared with subscribers,
    /// because these are charged separately.
    fn own(&self) -> usize {
        self.bytes - self.shared
    }

    fn charge(&mut self, before: usize, budget: &MemoryBudget) {
        let own = self.own();
        if before / STEP == own / STEP && self.charge.is_some() {
            return;
        }
        let charge = self.charge.get_or_insert_with(|| budget.charge(0));
        charge.resize(own / STEP * STEP);
    }
}

impl Ring {
    /// Returns the messages to replay to a new subscriber, up to a total size of `room` bytes, and the offset of the
    /// first message.
    pub(crate) fn replay(&self, begin: StartPoint, room: usize) -> (u64, Vec<Bytes>) {
        let contents = self.contents.lock();
        let now = self.limits.time.map(|_| Instant::now());
        let end = contents.last.saturating_add(1);
        let wanted = match begin {
            StartPoint::Opening(StartPosition::Now) => 0,
            StartPoint::Opening(StartPosition::Last) => 1,
            StartPoint::Opening(StartPosition::Oldest) => u64::MAX,
            // A position beyond the end is not a position in this history. Replay all messages in this case.
            StartPoint::At(next) => end.checked_sub(next).unwrap_or(u64::MAX),
        };
        let mut bytes = 0_usize;
        let fits = |message: &&RecordedMessage| {
            bytes = bytes.saturating_add(message.cost());
            bytes <= room && !self.limits.expired(message, now)
        };
        let newest = contents.messages.iter().rev().take(usize::try_from(wanted).unwrap_or(usize::MAX));
        let mut replayed: Vec<_> = newest.take_while(fits).map(|message| message.body.clone()).collect();
        replayed.reverse();
        (end - replayed.len() as u64, replayed)
    }
}

impl RecordedMessage {
    fn cost(&self) -> usize {
        self.body.len() + MESSAGE_COST
    }

    /// Returns the length of the message's body if several subscribers share it, because it is then charged separately.
    /// Otherwise returns 0.
    fn shared(&self) -> usize {
        if self.body.len() >= SHARED_MIN { self.body.len() } else { 0 }
    }
}
