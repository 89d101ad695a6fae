//! Detection of removed messages from the metadata of deliveries.
//!
//! Each delivery contains two numbers: the stream sequence of its message, and the delivery sequence of the
//! subscription, which counts deliveries to all readers. From one first delivery of a message to the next, both numbers
//! grow by the same amount unless messages were removed. Deliveries to other readers are counted as first deliveries,
//! so a gap is never overstated.

/// Position of a durable subscription in the stream of its topic, as reported by NATS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StreamPosition {
    /// Number of messages that were delivered to all readers of the subscription. A message counts once for each
    /// delivery.
    pub(super) delivery: u64,
    /// Sequence number of the latest message in the stream that was delivered for the first time.
    pub(super) sequence: u64,
}

/// Detects messages that were removed before they could be delivered. Compares the successive stream positions that a
/// reader receives.
#[derive(Debug)]
pub(super) struct GapTracker {
    last: StreamPosition,
    /// Number of messages that were delivered again since the position `last`.
    again: u64,
}

impl GapTracker {
    pub(super) fn new(from: StreamPosition) -> Self {
        Self { last: from, again: 0 }
    }

    /// Records the position of a first delivery, or a position that NATS has reported. Returns the number of messages
    /// removed since the last position.
    pub(super) fn reach(&mut self, place: StreamPosition) -> u64 {
        let Self { last, again } = *self;
        // The sequence must not decrease. If it does, a NATS server was killed and has forgotten deliveries that this
        // reader has received.
        *self = Self::new(StreamPosition { sequence: place.sequence.max(last.sequence), ..place });
        let Some(deliveries) = place.delivery.checked_sub(last.delivery) else { return 0 };
        let sequences = place.sequence.saturating_sub(last.sequence);
        sequences.saturating_sub(deliveries.saturating_sub(again))
    }

    /// Records that a message was delivered to the reader again.
    pub(super) fn again(&mut self) {
        self.again = self.again.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(delivery: u64, sequence: u64) -> StreamPosition {
        StreamPosition { delivery, sequence }
    }

    #[test]
    fn messages_removed_between_deliveries_are_counted_once() {
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(1, 1)), 0);
        assert_eq!(gaps.reach(place(2, 12)), 10);
        assert_eq!(gaps.reach(place(3, 13)), 0);
    }

    #[test]
    fn messages_that_come_again_are_no_progress() {
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(1, 1)), 0);
        gaps.again();
        gaps.again();
        assert_eq!(gaps.reach(place(4, 5)), 3);
        assert_eq!(gaps.reach(place(5, 7)), 1);
    }

    #[test]
    fn deliveries_to_others_are_not_gaps() {
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(10, 10)), 0);
        // Before this message, there were five deliveries to other readers and four removed messages.
        assert_eq!(gaps.reach(place(16, 20)), 4);
    }

    #[test]
    fn redelivered_messages_are_no_gap() {
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(100, 100)), 0);
        assert_eq!(gaps.reach(place(90, 90)), 0);
        // Some of the previously delivered messages 91 to 100 have been removed.
        assert_eq!(gaps.reach(place(91, 91)), 0);
        assert_eq!(gaps.reach(place(92, 95)), 0);
        assert_eq!(gaps.reach(place(93, 105)), 4);
    }

    #[test]
    fn extreme_sequence_numbers_never_overflow() {
        let mut gaps = GapTracker::new(place(u64::MAX, 0));
        assert_eq!(gaps.reach(place(0, u64::MAX)), 0);
        assert_eq!(gaps.reach(place(1, 0)), 0);
        assert_eq!(gaps.reach(place(2, u64::MAX)), 0);
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(1, u64::MAX)), u64::MAX - 1);
    }
}
