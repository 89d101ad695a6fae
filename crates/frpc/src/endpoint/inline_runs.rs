//! Whether the driver polls the handlers of a connection in place, or gives them tasks of their own since they take
//! long. Pure state; time is an argument.

use frisbee::tasks::Penalty;
use std::time::{Duration, Instant};

/// The length of a long turn of handlers, unless turns may take more by
/// [`Config::turn_max`](frisbee::Config::turn_max). Usually they are bounded to some twenty microseconds and, at worst,
/// thirty-two further handlers.
const LONG: Duration = Duration::from_millis(1);

/// After so many successive long turns handlers get tasks of their own. A single one may be due to the operating
/// system, which gave the processor to another process.
const LONG_BATCHES_MAX: u32 = 3;

/// The record of the handlers of one connection.
#[derive(Debug)]
pub(crate) struct InlineRuns {
    /// Handlers have been polled in place in this turn.
    polled: bool,
    /// Handlers have tasks of their own.
    is_apart: bool,
    /// The number of successive long turns.
    long_batches: u32,
    /// The periods with tasks.
    apart: Penalty,
}

/// A turn that has ended.
pub(crate) struct EndedBatch {
    /// When it ended, if handlers were polled.
    pub(crate) at: Option<Instant>,
    /// Handlers get tasks from now on.
    pub(crate) is_slow: bool,
}

impl InlineRuns {
    pub(crate) fn new() -> Self {
        Self { polled: false, is_apart: false, long_batches: 0, apart: Penalty::default() }
    }

    /// Whether to poll a handler in place. If so, it counts as polled.
    pub(crate) fn begin(&mut self) -> bool {
        self.polled |= !self.is_apart;
        !self.is_apart
    }

    /// Whether handlers have tasks of their own.
    pub(crate) fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// Ends a turn that began at `began` and was allowed to take `allowed`, which is called only for a long turn;
    /// `clock` is read if handlers were polled.
    pub(crate) fn end_batch(
        &mut self,
        began: Instant,
        clock: impl FnOnce() -> Instant,
        allowed: impl FnOnce() -> Duration,
    ) -> EndedBatch {
        if std::mem::take(&mut self.polled) {
            let now = clock();
            // Compared and not subtracted: the difference of two instants costs several times as much.
            let is_long = began.checked_add(LONG).is_some_and(|long| now >= long);
            if !is_long {
                self.long_batches = 0;
            }
            return EndedBatch { at: Some(now), is_slow: is_long && self.handle_long_batch(began, now, allowed()) };
        }
        if self.is_apart && self.apart.is_over(began) {
            // Another trial, where a single long turn suffices.
            self.is_apart = false;
            self.long_batches = LONG_BATCHES_MAX - 1;
        }
        EndedBatch { at: None, is_slow: false }
    }

    fn handle_long_batch(&mut self, began: Instant, now: Instant, allowed: Duration) -> bool {
        if now.saturating_duration_since(began) < allowed {
            self.long_batches = 0;
            return false;
        }
        self.long_batches += 1;
        if self.long_batches < LONG_BATCHES_MAX {
            return false;
        }
        self.apart.begin(now);
        self.is_apart = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisbee::tasks::{APART_MAX, APART_MIN};

    const QUICK: Duration = Duration::from_micros(50);

    /// A connection's turns, in immediate succession.
    struct BatchSequence {
        inline_runs: InlineRuns,
        now: Instant,
        /// The time that each may take by the settings.
        allowed: Duration,
    }

    impl BatchSequence {
        fn new() -> Self {
            Self { inline_runs: InlineRuns::new(), now: Instant::now(), allowed: QUICK }
        }

        /// A turn with a call that takes so long where it is polled; whether that was in place.
        fn call(&mut self, took: Duration) -> bool {
            let began = self.now;
            let inline = self.inline_runs.begin();
            self.now += if inline { took } else { QUICK };
            self.inline_runs.end_batch(began, || self.now, || self.allowed);
            inline
        }

        /// Lets handlers take long until they are sent away; how many were polled in place before.
        fn detach(&mut self) -> usize {
            (0..).take_while(|_| self.call(LONG)).count()
        }

        /// Lets time pass, with a turn at its end that brings no call.
        fn pause(&mut self, time: Duration) {
            self.now += time;
            let began = self.now;
            self.inline_runs.end_batch(began, || panic!("nothing was polled"), || panic!("the turn was not long"));
        }
    }

    #[test]
    fn handlers_long_in_three_successive_batches_get_tasks() {
        let mut batches = BatchSequence::new();
        for _ in 0..100 {
            assert!(batches.call(LONG) && batches.call(LONG) && batches.call(QUICK), "two long turns are no proof");
        }
        assert_eq!(batches.detach(), 3);
        assert!(!batches.call(QUICK));
    }

    #[test]
    fn batches_within_configured_limit_are_not_long() {
        let mut batches = BatchSequence { allowed: 3 * LONG, ..BatchSequence::new() };
        for _ in 0..100 {
            assert!(batches.call(2 * LONG));
        }
        let polled = (0..).take_while(|_| batches.call(3 * LONG)).count();
        assert_eq!(polled, 3);
    }

    #[test]
    fn handlers_that_were_sent_away_are_tried_again() {
        let mut batches = BatchSequence::new();
        batches.detach();
        batches.pause(APART_MIN / 2);
        assert!(!batches.call(QUICK));
        batches.pause(APART_MIN);
        assert!(batches.call(QUICK));
        assert_eq!(batches.detach(), 3, "they have been quick in between");
    }

    #[test]
    fn long_handlers_are_retried_once_at_growing_intervals() {
        let mut batches = BatchSequence::new();
        assert_eq!(batches.detach(), 3);
        let mut pause = APART_MIN;
        while pause < APART_MAX {
            batches.pause(pause - LONG);
            assert_eq!(batches.detach(), 0, "it is early");
            batches.pause(LONG);
            assert_eq!(batches.detach(), 1);
            pause *= 2;
        }
        batches.pause(APART_MAX);
        assert_eq!(batches.detach(), 1, "it does not grow without end");
        batches.pause(APART_MAX);
        assert!(batches.call(QUICK));
    }

    #[test]
    fn handlers_quick_for_their_whole_absence_are_reset() {
        let mut batches = BatchSequence::new();
        batches.detach();
        batches.pause(APART_MIN);
        batches.detach();
        batches.pause(2 * APART_MIN);
        assert!(batches.call(QUICK));
        batches.pause(2 * APART_MIN);
        assert_eq!(batches.detach(), 3);
        batches.pause(APART_MIN);
        assert!(batches.call(QUICK), "the pause is as short as the first");
    }
}
