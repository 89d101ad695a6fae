//! Exponential backoff with jitter.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// Exponential backoff: each pause is twice as long as the previous one, up to a maximum. Half of each pause is random,
/// so that the clients of a lost server do not all reconnect at the same time.
///
/// ```
/// use frisbee_requests::Backoff;
/// use std::time::Duration;
///
/// let backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));
/// let pauses = [0, 1, 20].map(|attempt| backoff.pause(attempt));
/// assert!(pauses[0] <= Duration::from_millis(50) && pauses[1] <= Duration::from_millis(100));
/// assert!(pauses[2] >= Duration::from_millis(2500) && pauses[2] <= Duration::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    random: RandomState,
}

impl Backoff {
    /// Creates a backoff from `min` to `max`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let backoff = frisbee_requests::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert!(backoff.pause(0) <= Duration::from_millis(10));
    /// assert!(backoff.pause(20) >= Duration::from_millis(500));
    /// ```
    pub fn new(min: Duration, max: Duration) -> Self {
        Self { min, max, random: RandomState::new() }
    }

    /// Returns the pause before the next attempt, after attempt number `attempt`, counted from 0.
    pub fn pause(&self, attempt: u32) -> Duration {
        let longest = self.min.saturating_mul(1 << attempt.min(31)).min(self.max);
        let part = self.random.hash_one(attempt) as f64 / u64::MAX as f64;
        longest.mul_f64(0.5 + part / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_longest() {
        let (min, max) = (Duration::from_millis(50), Duration::from_secs(5));
        let backoff = Backoff::new(min, max);
        for attempt in 0..100 {
            let pause = backoff.pause(attempt);
            assert!((min / 2..=max).contains(&pause));
            assert!(attempt < 7 || pause >= max / 2);
        }
        let (min, max) = (Duration::from_millis(1), Duration::from_secs(3600));
        assert!(Backoff::new(min, max).pause(40) >= max / 2, "bounds that are far apart should be supported");
    }
}
