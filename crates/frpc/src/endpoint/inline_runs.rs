//! Decides whether the driver polls the handlers of a connection inline or spawns tasks for them, depending on how long
//! they take. Performs no I/O. Times are passed as arguments.

use frisbee::rpc::Penalty;
use std::time::{Duration, Instant};

/// Duration above which a poll of the driver counts as long, unless [`Config::turn_max`](frisbee::Config::turn_max)
/// allows more. By default, a poll ends after 20 us, which is checked every 32 packets.
const LONG: Duration = Duration::from_millis(1);

/// Number of consecutive long driver polls before handlers are spawned as tasks. More than one, because the operating
/// system may preempt the thread.
const LONG_BATCHES_MAX: u32 = 3;

/// Decides whether the handlers of a connection are polled inline by its driver or spawned as tasks, based on how long
/// recent driver polls took.
#[derive(Debug, Default)]
pub(crate) struct InlineRuns {
    /// Whether a handler was polled inline in the current driver poll.
    polled: bool,
    /// Whether handlers are currently spawned as tasks.
    is_apart: bool,
    /// Number of consecutive driver polls with inline handlers that took too long.
    long_batches: u32,
    /// Backoff that determines how long handlers are spawned as tasks before they are polled inline again.
    apart: Penalty,
}

/// Summary of a driver poll that may have polled handlers inline.
pub(crate) struct EndedBatch {
    /// End of the driver poll, measured only if handlers were polled inline.
    pub(crate) at: Option<Instant>,
    /// Whether inline handlers took too long, so that handlers are now spawned as tasks.
    pub(crate) is_slow: bool,
}

impl InlineRuns {
    /// Returns whether to poll a handler inline. If so, the current driver poll will be timed.
    pub(crate) fn begin(&mut self) -> bool {
        self.polled |= !self.is_apart;
        !self.is_apart
    }

    /// Returns whether handlers are currently spawned as tasks.
    pub(crate) fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// Ends a driver poll that began at `began`. `allowed` returns the permitted duration and is called only after a
    /// long poll. `clock` is called only if handlers were polled inline.
    pub(crate) fn end_batch(
        &mut self,
        began: Instant,
        clock: impl FnOnce() -> Instant,
        allowed: impl FnOnce() -> Duration,
    ) -> EndedBatch {
        if std::mem::take(&mut self.polled) {
            let now = clock();
            // Compare with a sum, because the difference of two instants costs several times as much.
            let is_long = began.checked_add(LONG).is_some_and(|long| now >= long);
            if !is_long {
                self.long_batches = 0;
            }
            return EndedBatch { at: Some(now), is_slow: is_long && self.handle_long_batch(began, now, allowed()) };
        }
        if self.is_apart && self.apart.is_over(began) {
            // Poll handlers inline again. A single long poll now suffices to stop inline polling again.
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
    use frisbee::rpc::{PENALTY_MAX, PENALTY_MIN};

    const QUICK: Duration = Duration::from_micros(50);

    /// Simulates a sequence of driver polls of a connection.
    struct BatchSequence {
        inline_runs: InlineRuns,
        now: Instant,
        /// Allowed duration of a driver poll.
        allowed: Duration,
    }

    impl BatchSequence {
        fn new() -> Self {
            Self { inline_runs: InlineRuns::default(), now: Instant::now(), allowed: QUICK }
        }

        /// Simulates a driver poll with a handler that takes `took` if it is polled inline. Returns whether the handler
        /// was polled inline.
        fn call(&mut self, took: Duration) -> bool {
            let began = self.now;
            let inline = self.inline_runs.begin();
            self.now += if inline { took } else { QUICK };
            self.inline_runs.end_batch(began, || self.now, || self.allowed);
            inline
        }

        /// Simulates long handlers until handlers are spawned as tasks. Returns the number of handlers that were polled
        /// inline.
        fn detach(&mut self) -> usize {
            (0..).take_while(|_| self.call(LONG)).count()
        }

        /// Advances the clock and ends a driver poll without calls.
        fn pause(&mut self, time: Duration) {
            self.now += time;
            let began = self.now;
            self.inline_runs.end_batch(began, || panic!("no handler was polled"), || panic!("driver poll was short"));
        }
    }

    #[test]
    fn three_successive_slow_batches_spawn_handlers() {
        let mut batches = BatchSequence::new();
        for _ in 0..100 {
            assert!(
                batches.call(LONG) && batches.call(LONG) && batches.call(QUICK),
                "two long driver polls should not suffice to spawn handlers as tasks"
            );
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
    fn spawned_handlers_are_retried_inline() {
        let mut batches = BatchSequence::new();
        batches.detach();
        batches.pause(PENALTY_MIN / 2);
        assert!(!batches.call(QUICK));
        batches.pause(PENALTY_MIN);
        assert!(batches.call(QUICK));
        assert_eq!(batches.detach(), 3, "three long driver polls should be needed again after quick handlers");
    }

    #[test]
    fn long_handlers_are_retried_at_growing_intervals() {
        let mut batches = BatchSequence::new();
        assert_eq!(batches.detach(), 3);
        let mut pause = PENALTY_MIN;
        while pause < PENALTY_MAX {
            batches.pause(pause - LONG);
            assert_eq!(batches.detach(), 0, "handlers should be spawned as tasks until the pause has ended");
            batches.pause(LONG);
            assert_eq!(batches.detach(), 1);
            pause *= 2;
        }
        batches.pause(PENALTY_MAX);
        assert_eq!(batches.detach(), 1, "pause should not grow without limit");
        batches.pause(PENALTY_MAX);
        assert!(batches.call(QUICK));
    }

    #[test]
    fn quick_handlers_during_pause_reset_backoff() {
        let mut batches = BatchSequence::new();
        batches.detach();
        batches.pause(PENALTY_MIN);
        batches.detach();
        batches.pause(2 * PENALTY_MIN);
        assert!(batches.call(QUICK));
        batches.pause(2 * PENALTY_MIN);
        assert_eq!(batches.detach(), 3);
        batches.pause(PENALTY_MIN);
        assert!(batches.call(QUICK), "pause should be as short as the first one");
    }
}
