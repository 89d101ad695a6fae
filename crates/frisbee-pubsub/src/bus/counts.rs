//! Message counts per topic. Publishing brokers and receivers both keep them, so that receivers detect lost messages.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of topics that a broker counts messages for. Beyond it, a new epoch starts, and all counts begin at
/// zero.
const SENT_MAX: usize = 16 * 1024;

/// Number of message counts that are sent before the lock is released and acquired again.
pub(super) const PORTION: usize = 256;

/// Maximum number of message counts that a broker remembers for one registered pattern. A count states how many
/// messages another broker had published to a topic when its last message was received. Beyond the limit, all counts of
/// the pattern are discarded, and messages that are lost at that moment are not detected.
const HEARD_MAX: usize = 16 * 1024;
/// Maximum number of message counts that a broker remembers for all registered patterns together.
const HEARD_BY_ALL_MAX: usize = 1024 * 1024;

/// Memory in bytes of a message count that the broker remembers, excluding its topic.
const ROW_COST: usize = 96;

/// Maximum plausible number of messages that are missed at once, and of epochs between two messages. No bus carries as
/// many messages in a year, so a frame with a larger difference is malformed.
const MISSED_MAX: u64 = 1 << 40;

/// Maximum amount that the message count or epoch of a received message may be below the remembered one. If it is
/// further below, the remembered value must be wrong, and the received one replaces it.
const LATE_MAX: u64 = 64 * 1024;

/// Position of a message among all messages that one broker has published to one topic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SequenceStamp {
    /// Id of the broker that published the message.
    pub(super) origin: u64,
    /// Number of the epoch of the broker's message counts. The counts restart at zero in each epoch.
    pub(super) epoch: u64,
    /// Number of messages that the broker has published to the topic in this epoch, including this one.
    pub(super) count: u64,
}

/// Number of messages that a broker has published to each topic.
#[derive(Debug, Default)]
pub(super) struct SentCounts {
    epoch: u64,
    topics: HashMap<Box<str>, u64>,
    /// Topics whose message counts have yet to be sent. Sorted, so that simulation runs are deterministic.
    unmarked: BTreeSet<Box<str>>,
}

impl SentCounts {
    /// Returns the current epoch and the number of messages that were published to a topic in it. The caller increments
    /// the number when it publishes a message.
    pub(super) fn row(&mut self, topic: &str) -> (u64, &mut u64) {
        if !self.topics.contains_key(topic) {
            if self.topics.len() >= SENT_MAX {
                // Discard all counts and begin a new epoch, so that receivers know that the counts start at zero again.
                self.topics = HashMap::new();
                self.unmarked.clear();
                self.epoch += 1;
            }
            self.topics.insert(topic.into(), 0);
        }
        let count = self.topics.get_mut(topic).expect("topic should be in the table after it was inserted");
        (self.epoch, count)
    }

    /// Returns the position of the last message that was published to a topic.
    pub(super) fn last(&self, topic: &str, origin: u64) -> Option<SequenceStamp> {
        self.topics.get(topic).map(|count| SequenceStamp { origin, epoch: self.epoch, count: *count })
    }

    /// Requires that the message count of a topic is sent.
    pub(super) fn unmark(&mut self, topic: &str) {
        self.unmarked.insert(topic.into());
    }

    /// Requires that the message counts of all topics are sent.
    pub(super) fn unmark_all(&mut self) {
        self.unmarked = self.topics.keys().cloned().collect();
    }

    /// Removes and returns a topic whose message count has yet to be sent.
    pub(super) fn pop_unmarked(&mut self) -> Option<Box<str>> {
        self.unmarked.pop_first()
    }
}

/// Last received epoch and message count for each broker and topic. Comparing them with a new message reveals missed
/// messages.
#[derive(Debug, Default)]
pub(super) struct ReceivedCounts {
    origins: HashMap<u64, HashMap<Box<str>, (u64, u64)>>,
    rows: usize,
    /// Memory in bytes of all counts in this table. The owner of the table charges it to the server.
    pub(super) memory: usize,
    /// Number of counts that the broker remembers over all registered patterns. All tables of the broker share this
    /// counter. [`HEARD_BY_ALL_MAX`] is its limit.
    remembered: Arc<AtomicUsize>,
}

/// Result of comparing the position of a received message with the last position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StampVerdict {
    /// The message is new. The contained number of messages before it are missing.
    New(u64),
    /// The message was received before, or it was already reported as missed.
    Old,
    /// The position is malformed, because no correct broker sends it.
    Malformed,
}

impl ReceivedCounts {
    pub(super) fn new(remembered: Arc<AtomicUsize>) -> Self {
        Self { origins: HashMap::new(), rows: 0, memory: 0, remembered }
    }

    /// Records a received message. Returns whether it is new, and if so, how many messages before it were missed.
    pub(super) fn message(&mut self, topic: &str, stamp: SequenceStamp) -> StampVerdict {
        let Some(before) = stamp.count.checked_sub(1) else { return StampVerdict::Malformed };
        self.assess(topic, stamp, before)
    }

    /// Records a message count that another broker has sent. Returns whether it is new, and if so, how many messages
    /// are missing.
    pub(super) fn mark(&mut self, topic: &str, stamp: SequenceStamp) -> StampVerdict {
        self.assess(topic, stamp, stamp.count)
    }

    /// Compares a received position with the last one. `before` is the number of messages that should have arrived
    /// before this position.
    fn assess(&mut self, topic: &str, stamp: SequenceStamp, before: u64) -> StampVerdict {
        let rows = self.origins.get_mut(&stamp.origin);
        let Some(row) = rows.and_then(|rows| rows.get_mut(topic)) else {
            // Record the first stamp as the baseline. Without a baseline, no message is known to be missing.
            self.insert(topic, stamp);
            return StampVerdict::New(0);
        };
        let (epoch, count) = *row;
        let heed = if stamp.epoch == epoch && stamp.count <= count {
            // A mark is also old if the last message that it counts was received.
            if count - stamp.count <= LATE_MAX { StampVerdict::Old } else { StampVerdict::New(0) }
        } else if stamp.epoch < epoch {
            if epoch - stamp.epoch <= LATE_MAX { StampVerdict::Old } else { StampVerdict::New(0) }
        } else {
            let missed = if stamp.epoch == epoch { before - count } else { before };
            // Reject an implausible gap, which indicates a forged stamp. Accepting it would report a false loss and
            // advance the count past genuine messages.
            let is_likely = missed <= MISSED_MAX && stamp.epoch - epoch <= MISSED_MAX;
            if is_likely { StampVerdict::New(missed) } else { StampVerdict::Malformed }
        };
        if let StampVerdict::New(_) = heed {
            *row = (stamp.epoch, stamp.count);
        }
        heed
    }

    fn insert(&mut self, topic: &str, stamp: SequenceStamp) {
        // Concurrent insertions may exceed the limit slightly, so a relaxed counter suffices.
        let all = self.remembered.fetch_add(1, Ordering::Relaxed);
        if self.rows >= HEARD_MAX || all >= HEARD_BY_ALL_MAX {
            self.forget();
        }
        self.rows += 1;
        self.memory += ROW_COST + topic.len();
        self.origins.entry(stamp.origin).or_default().insert(topic.into(), (stamp.epoch, stamp.count));
    }

    fn forget(&mut self) {
        self.remembered.fetch_sub(self.rows, Ordering::Relaxed);
        self.origins = HashMap::new();
        (self.rows, self.memory) = (0, 0);
    }
}

impl Drop for ReceivedCounts {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(epoch: u64, count: u64) -> SequenceStamp {
        SequenceStamp { origin: 1, epoch, count }
    }

    #[test]
    fn missed_messages_count_and_repeats_are_old() {
        let mut heard = ReceivedCounts::default();
        assert_eq!(heard.message("a", stamp(0, 5)), StampVerdict::New(0), "first message should have no predecessor");
        assert_eq!(heard.message("a", stamp(0, 6)), StampVerdict::New(0));
        assert_eq!(heard.message("a", stamp(0, 10)), StampVerdict::New(3));
        assert_eq!(heard.message("a", stamp(0, 10)), StampVerdict::Old);
        assert_eq!(
            heard.message("a", stamp(0, 8)),
            StampVerdict::Old,
            "message already reported as missed should be old"
        );
        assert_eq!(heard.mark("a", stamp(0, 10)), StampVerdict::Old);
        assert_eq!(heard.mark("a", stamp(0, 14)), StampVerdict::New(4));
        assert_eq!(heard.message("a", stamp(0, 15)), StampVerdict::New(0));
        assert_eq!(
            heard.message("a", SequenceStamp { origin: 2, ..stamp(0, 40) }),
            StampVerdict::New(0),
            "messages of another broker should be counted separately"
        );
        assert_eq!(
            heard.message("b", stamp(0, 40)),
            StampVerdict::New(0),
            "messages of another topic should be counted separately"
        );
        assert_eq!(
            heard.message("a", stamp(1, 3)),
            StampVerdict::New(2),
            "stamps of a new epoch should be counted from 0"
        );
        assert_eq!(heard.message("a", stamp(0, 16)), StampVerdict::Old);
    }

    #[test]
    fn counts_that_no_broker_reaches_change_nothing() {
        let mut heard = ReceivedCounts::default();
        assert_eq!(heard.message("a", stamp(0, 0)), StampVerdict::Malformed);
        heard.message("a", stamp(0, 1));
        assert_eq!(heard.message("a", stamp(0, u64::MAX)), StampVerdict::Malformed);
        assert_eq!(heard.message("a", stamp(u64::MAX, 1)), StampVerdict::Malformed);
        assert_eq!(heard.message("a", stamp(0, 2)), StampVerdict::New(0));
        // A forged first stamp must not suppress later messages.
        heard.message("b", stamp(u64::MAX, u64::MAX));
        assert_eq!(heard.message("b", stamp(0, 2)), StampVerdict::New(0));
        assert_eq!(heard.message("b", stamp(0, 3)), StampVerdict::New(0));
    }

    #[test]
    fn only_distant_old_sequence_restarts_row() {
        let heard = || {
            let mut heard = ReceivedCounts::new(Arc::default());
            assert_eq!(heard.message("a", stamp(1 << 41, 200_000)), StampVerdict::New(0));
            heard
        };
        for (stamp, heed) in [
            (stamp(1 << 41, 200_000 - LATE_MAX), StampVerdict::Old),
            (stamp(1 << 41, 200_000 - LATE_MAX - 1), StampVerdict::New(0)),
            (stamp((1 << 41) - LATE_MAX, 5), StampVerdict::Old),
            (stamp((1 << 41) - LATE_MAX - 1, 5), StampVerdict::New(0)),
            (stamp((1 << 41) + 1, 5), StampVerdict::New(4)),
            (stamp((1 << 41) + MISSED_MAX, 5), StampVerdict::New(4)),
            (stamp((1 << 41) + MISSED_MAX + 1, 5), StampVerdict::Malformed),
            (stamp(1 << 41, 200_001 + MISSED_MAX), StampVerdict::New(MISSED_MAX)),
            (stamp(1 << 41, 200_002 + MISSED_MAX), StampVerdict::Malformed),
        ] {
            assert_eq!(heard().message("a", stamp), heed, "{stamp:?}");
        }
    }

    #[test]
    fn remembered_sequence_rows_are_bounded() {
        let all = Arc::<AtomicUsize>::default();
        let mut heard = ReceivedCounts::new(all.clone());
        for number in 0..100_000_u64 {
            heard.message("a", SequenceStamp { origin: number, ..stamp(0, 1) });
            assert!(heard.rows <= HEARD_MAX && all.load(Ordering::Relaxed) == heard.rows);
        }
        drop(heard);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn publishing_too_many_topics_begins_epoch() {
        let mut sent = SentCounts::default();
        *sent.row("a").1 += 1;
        assert_eq!(sent.row("a"), (0, &mut 1));
        for number in 0..SENT_MAX {
            *sent.row(&number.to_string()).1 += 1;
        }
        assert_eq!(sent.row("a"), (1, &mut 0));
        assert!(sent.topics.len() <= SENT_MAX);
        sent.unmark_all();
        assert_eq!(sent.unmarked.len(), sent.topics.len());
    }
}
