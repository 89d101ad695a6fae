//! The history of topics at a broker: a ring of messages for each, and the lock that orders them.
//!
//! # Decisions
//!
//! One lock of the broker covers recording messages and delivering them to the queues of subscribers, and likewise the
//! snapshot for a new subscriber and its entry into the table of subscriptions. So the offsets of a topic have the
//! same order in each queue, and a subscriber that begins gets each message once: from the snapshot if it was recorded
//! before, otherwise by its queue. Topics without history never take the lock.

use crate::queue::QueueSegment;
use bytes::Bytes;
use frisbee::{MemoryBudget, MemoryCharge};
use parking_lot::{Mutex, MutexGuard};
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most messages of one topic. A history is a bridge over lost connections, not a store.
const LAST_MAX: usize = 64 * 1024;

/// The memory of all histories of a broker by default, in bytes: 64 KiB for each of a thousand topics.
pub(crate) const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The topics with a history by default. Each takes some 300 bytes without its messages.
pub(crate) const TOPICS_MAX: usize = 16 * 1024;

/// The memory of a topic without its name, which is kept once, and its messages, in bytes: the ring, and its places in
/// the table and the queue of candidates for removal.
const TOPIC_COST: usize = 288;

/// The memory of a message without its payload, in bytes: its place in the ring, and its allocation.
const MESSAGE_COST: usize = 80;

/// The memory is charged to the server in steps of so many bytes.
const STEP: usize = 16 * 1024;

/// The messages of a topic that a broker keeps for later subscribers; see
/// [`BrokerBuilder::history`](crate::BrokerBuilder::history).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct History {
    last: usize,
    time: Option<Duration>,
}

impl History {
    /// Keeps the last messages, of each topic so many. With 1 a topic has a current value.
    ///
    /// # Panics
    /// If `count` is 0 or more than 65 536.
    pub fn last(count: usize) -> Self {
        assert!((1..=LAST_MAX).contains(&count), "a history of {count} messages; it must have 1 to {LAST_MAX}");
        Self { last: count, time: None }
    }

    /// Keeps no message for longer than this. A subscriber never receives an older one; the memory of older ones is
    /// released with the next message of the topic.
    pub fn for_time(self, time: Duration) -> Self {
        Self { time: Some(time), ..self }
    }
}

/// The histories of a broker.
pub(crate) struct Histories {
    /// The first pattern that matches a topic decides.
    rules: Vec<(Box<str>, History)>,
    bytes_max: usize,
    topics_max: usize,
    records: Mutex<Records>,
}

/// The state under the lock.
pub(crate) struct Records {
    /// Changes when a topic is removed.
    pub(crate) epoch: u64,
    /// Nothing was recorded, and no subscription began, since `begin_epoch`.
    is_fresh: bool,
    /// In order, so that each run of a simulation is the same.
    pub(crate) topics: BTreeMap<Arc<str>, Arc<Ring>>,
    /// All rings. One that was used since it was last looked at goes to the end.
    candidates: VecDeque<Arc<Ring>>,
    bytes: usize,
    charge: Option<MemoryCharge>,
}

/// The history of one topic. Its own lock is only taken while that of the broker is held.
pub(crate) struct Ring {
    pub(crate) topic: Arc<str>,
    pub(crate) epoch: u64,
    limits: History,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    /// The offset of the last message, 0 before the first.
    last: u64,
    messages: VecDeque<RecordedMessage>,
    was_used: bool,
    is_removed: bool,
}

struct RecordedMessage {
    /// Set if the history is limited in time.
    at: Option<Instant>,
    body: Bytes,
}

/// Messages of one topic in a row.
#[derive(Clone)]
pub(crate) struct Recording {
    pub(crate) ring: Arc<Ring>,
    /// The offset of the first one.
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Recording {
    /// The offset of the message after them.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

/// Where a subscriber begins with a topic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartPoint {
    Now,
    Last,
    Oldest,
    /// With the message of this offset.
    At(u64),
}

impl fmt::Debug for Histories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histories").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}..+{}", self.ring.topic, self.first, self.count)
    }
}

impl Histories {
    pub(crate) fn new(rules: Vec<(Box<str>, History)>, bytes_max: usize, topics_max: usize) -> Self {
        let records = Records {
            // Not 0, which no position has.
            epoch: RandomState::new().hash_one(()) | 1,
            is_fresh: true,
            topics: BTreeMap::new(),
            candidates: VecDeque::new(),
            bytes: 0,
            charge: None,
        };
        Self { rules, bytes_max, topics_max: topics_max.max(1), records: Mutex::new(records) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The history of a topic, if it has one.
    pub(crate) fn of(&self, topic: &str) -> Option<History> {
        self.rules.iter().find(|(pattern, _)| crate::covers(pattern, topic)).map(|(_, history)| *history)
    }

    /// The place of the rule for a topic, if it has a history.
    pub(crate) fn rule_of(&self, topic: &str) -> Option<usize> {
        self.rules.iter().position(|(pattern, _)| crate::covers(pattern, topic))
    }

    /// The patterns of all rules.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|(pattern, _)| &**pattern)
    }

    /// Whether all topics that match a pattern have a history.
    pub(crate) fn covers(&self, pattern: &str) -> bool {
        self.rules.iter().any(|(rule, _)| crate::covers(rule, pattern))
    }

    pub(crate) fn topics_max(&self) -> usize {
        self.topics_max
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock()
    }

    /// The memory of all histories, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.records.lock().bytes
    }

    /// Records messages of a topic in a row. `known` is the ring of the topic when it was last used.
    pub(crate) fn record(
        &self,
        records: &mut Records,
        known: &mut Option<Arc<Ring>>,
        topic: &str,
        limits: History,
        packets: &mut QueueSegment,
        budget: &MemoryBudget,
    ) -> Recording {
        if known.as_ref().is_none_or(|ring| ring.contents.lock().is_removed) {
            *known = Some(self.ring(records, topic, limits, budget));
        }
        let ring = known.clone().expect("it has just been set");
        let mut contents = ring.contents.lock();
        let first = contents.last + 1;
        let count = packets.messages;
        contents.last += count;
        contents.was_used = true;
        let before = records.bytes;
        let at = limits.time.map(|_| Instant::now());
        let kept = usize::try_from(count).unwrap_or(usize::MAX).min(limits.last);
        let stays = limits.last - kept;
        while contents.messages.len() > stays
            || contents.messages.front().is_some_and(|oldest| limits.expired(oldest, at))
        {
            records.bytes -= contents.messages.pop_front().map_or(0, |oldest| oldest.cost());
        }
        packets.for_each_last(kept, |body| {
            let message = RecordedMessage { at, body };
            records.bytes += message.cost();
            contents.messages.push_back(message);
        });
        // One topic alone pays for exceeding the memory of all: it keeps its last message if that fits, or none.
        if records.bytes > self.bytes_max || budget.is_short() {
            while contents.messages.len() > usize::from(records.bytes <= self.bytes_max) {
                records.bytes -= contents.messages.pop_front().map_or(0, |oldest| oldest.cost());
            }
        }
        drop(contents);
        records.charge(before, budget);
        Recording { ring, first, count }
    }

    /// Skips the offsets of messages that never came. Earlier ones are removed, since a replay has no gaps. Returns the
    /// ring, and the offset before the gap.
    pub(crate) fn skip(
        &self,
        records: &mut Records,
        topic: &str,
        limits: History,
        missed: u64,
        budget: &MemoryBudget,
    ) -> (Arc<Ring>, u64) {
        let ring = self.ring(records, topic, limits, budget);
        let before = records.bytes;
        let mut contents = ring.contents.lock();
        let first = contents.last + 1;
        contents.last = contents.last.saturating_add(missed);
        records.bytes -= contents.messages.drain(..).map(|message| message.cost()).sum::<usize>();
        drop(contents);
        records.charge(before, budget);
        (ring, first)
    }

    /// The ring of a topic, which may be new.
    #[cold]
    fn ring(&self, records: &mut Records, topic: &str, limits: History, budget: &MemoryBudget) -> Arc<Ring> {
        if let Some(ring) = records.topics.get(topic) {
            return ring.clone();
        }
        let before = records.bytes;
        if records.topics.len() >= self.topics_max {
            records.remove_one();
        }
        // By default a table has four entries, which would be half of the memory of a current value.
        let messages = VecDeque::with_capacity(limits.last.min(4));
        let contents = Mutex::new(Contents { messages, ..Contents::default() });
        let ring = Ring { topic: topic.into(), epoch: records.epoch, limits, contents };
        let ring = Arc::new(ring);
        records.topics.insert(ring.topic.clone(), ring.clone());
        records.is_fresh = false;
        records.candidates.push_back(ring.clone());
        records.bytes += TOPIC_COST + topic.len();
        records.charge(before, budget);
        ring
    }
}

impl Records {
    /// Notes a subscription that begins in this epoch.
    pub(crate) fn begin_subscription(&mut self) {
        self.is_fresh = false;
    }

    /// Removes all topics, and begins an epoch: earlier positions mean nothing. `false` if the present one has just begun.
    pub(crate) fn begin_epoch(&mut self) -> bool {
        if std::mem::replace(&mut self.is_fresh, true) {
            return false;
        }
        for ring in std::mem::take(&mut self.topics).into_values() {
            let mut contents = ring.contents.lock();
            contents.is_removed = true;
            contents.messages = VecDeque::new();
        }
        self.candidates = VecDeque::new();
        self.bytes = 0;
        self.epoch = self.epoch.wrapping_add(2);
        if let Some(charge) = &mut self.charge {
            charge.resize(0);
        }
        true
    }

    /// Removes the topic that was not used for the longest time, about.
    fn remove_one(&mut self) {
        while let Some(ring) = self.candidates.pop_front() {
            let mut contents = ring.contents.lock();
            if std::mem::take(&mut contents.was_used) {
                drop(contents);
                self.candidates.push_back(ring);
                continue;
            }
            contents.is_removed = true;
            let messages = std::mem::take(&mut contents.messages);
            self.bytes -= messages.iter().map(RecordedMessage::cost).sum::<usize>() + TOPIC_COST + ring.topic.len();
            self.topics.remove(&ring.topic);
            self.epoch = self.epoch.wrapping_add(2);
            return;
        }
    }

    fn charge(&mut self, before: usize, budget: &MemoryBudget) {
        if before / STEP == self.bytes / STEP && self.charge.is_some() {
            return;
        }
        let charge = self.charge.get_or_insert_with(|| budget.charge(0));
        charge.resize(self.bytes / STEP * STEP);
    }
}

impl Ring {
    /// The messages of the ring with which a subscriber begins, at most so many bytes of them, and the offset of the
    /// first.
    pub(crate) fn replay(&self, begin: StartPoint, room: usize) -> (u64, Vec<Bytes>) {
        let contents = self.contents.lock();
        let now = self.limits.time.map(|_| Instant::now());
        let end = contents.last + 1;
        let wanted = match begin {
            StartPoint::Now => 0,
            StartPoint::Last => 1,
            StartPoint::Oldest => u64::MAX,
            // A position of the future is that of no message here.
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

impl History {
    fn expired(&self, message: &RecordedMessage, now: Option<Instant>) -> bool {
        let age = now.zip(message.at).map(|(now, at)| now.saturating_duration_since(at));
        age.zip(self.time).is_some_and(|(age, most)| age > most)
    }
}

impl RecordedMessage {
    fn cost(&self) -> usize {
        self.body.len() + MESSAGE_COST
    }
}
