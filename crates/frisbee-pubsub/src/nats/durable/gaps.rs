//! How many messages were removed before anybody got them, by what NATS says of each delivery.
//!
//! A subscription has two rows of numbers: a message keeps its sequence in the stream, and each delivery, to whichever
//! reader, takes the next one of the subscription. Between two messages that were delivered for the first time there are
//! as many sequences as first deliveries, unless messages were removed in between. Deliveries that this reader has not
//! seen count as first ones, so a gap is never said too large.

/// The position of a subscription.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StreamPosition {
    /// The deliveries of the subscription.
    pub(super) delivery: u64,
    /// The sequence of the last message that was delivered for the first time.
    pub(super) sequence: u64,
}

/// A reader's view of its subscription.
#[derive(Debug)]
pub(super) struct GapTracker {
    last: StreamPosition,
    /// Since then, messages have come again.
    again: u64,
}

impl GapTracker {
    pub(super) fn new(from: StreamPosition) -> Self {
        Self { last: from, again: 0 }
    }

    /// A message has come for the first time, or NATS says that the subscription is at this place. Returns how many messages
    /// were removed since the last one.
    pub(super) fn reach(&mut self, place: StreamPosition) -> u64 {
        let Self { last, again } = *self;
        // What this reader has got it has got, though NATS may have forgotten its last deliveries when it was killed.
        *self = Self::new(StreamPosition { sequence: place.sequence.max(last.sequence), ..place });
        let Some(deliveries) = place.delivery.checked_sub(last.delivery) else { return 0 };
        let sequences = place.sequence.saturating_sub(last.sequence);
        sequences.saturating_sub(deliveries.saturating_sub(again))
    }

    /// A message has come again.
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
    fn deliveries_to_others_are_not_taken_for_a_gap() {
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(10, 10)), 0);
        // Five of others, and four undelivered.
        assert_eq!(gaps.reach(place(16, 20)), 4);
    }

    #[test]
    fn messages_from_before_a_subscription_was_set_back_are_no_gap() {
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(100, 100)), 0);
        assert_eq!(gaps.reach(place(90, 90)), 0);
        // Of 91 to 100, which have come before, some are there no more.
        assert_eq!(gaps.reach(place(91, 91)), 0);
        assert_eq!(gaps.reach(place(92, 95)), 0);
        assert_eq!(gaps.reach(place(93, 105)), 4);
    }

    #[test]
    fn numbers_that_no_server_counts_to_do_no_harm() {
        let mut gaps = GapTracker::new(place(u64::MAX, 0));
        assert_eq!(gaps.reach(place(0, u64::MAX)), 0);
        assert_eq!(gaps.reach(place(1, 0)), 0);
        assert_eq!(gaps.reach(place(2, u64::MAX)), 0);
        let mut gaps = GapTracker::new(place(0, 0));
        assert_eq!(gaps.reach(place(1, u64::MAX)), u64::MAX - 1);
    }
}
