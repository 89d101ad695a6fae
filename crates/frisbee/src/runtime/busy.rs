//! Busy polling: after an event, a driver keeps polling for some time instead of waiting for a wake-up.

use crate::clock::NEVER;
use std::time::{Duration, Instant};

/// Policy that decides whether a driver busy-polls after an event instead of waiting to be woken.
#[derive(Debug)]
pub(crate) struct BusyPoll(Option<Box<PollWindow>>);

#[derive(Debug)]
struct PollWindow {
    /// How long the driver keeps polling after an event.
    time: Duration,
    /// Time at which busy polling ends unless another event occurs.
    until: Option<Instant>,
}

impl BusyPoll {
    /// Creates a policy of polling for `time` after an event. Zero disables busy polling.
    pub(crate) fn new(time: Duration) -> Self {
        Self((!time.is_zero()).then(|| Box::new(PollWindow { time: time.min(NEVER), until: None })))
    }

    /// Returns whether the driver should poll again immediately. Set `happened` if an event has just occurred.
    #[inline]
    pub(crate) fn again(&mut self, happened: bool, now: Instant) -> bool {
        let Some(awake) = &mut self.0 else { return false };
        if happened {
            awake.until = now.checked_add(awake.time);
        }
        awake.until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_busy_polls_for_configured_time() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut busy = BusyPoll::new(Duration::from_millis(10));
        assert!(!busy.again(false, start), "busy polling should not continue before any event");
        assert!(busy.again(true, start));
        assert!(busy.again(false, after(9)));
        assert!(!busy.again(false, after(10)));
        assert!(busy.again(true, after(20)));
        assert!(busy.again(false, after(29)));
        assert!(!BusyPoll::new(Duration::ZERO).again(true, start));
        assert!(BusyPoll::new(Duration::MAX).again(true, start), "unlimited busy polling should continue");
    }
}
