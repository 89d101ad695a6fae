//! Token bucket for rate limiting.

use std::time::Instant;

/// A token bucket with a capacity of `BURST` tokens, refilled at `PER_SECOND` tokens per second.
#[derive(Clone, Debug)]
pub struct Bucket<const BURST: u32, const PER_SECOND: u32> {
    level: u32,
    refilled: Instant,
}

impl<const BURST: u32, const PER_SECOND: u32> Bucket<BURST, PER_SECOND> {
    /// Creates a full bucket.
    pub fn new(now: Instant) -> Self {
        Self { level: BURST, refilled: now }
    }

    /// Takes one token. Returns `false` if the bucket is empty.
    ///
    /// ```
    /// use frisbee_core::Bucket;
    /// use std::time::{Duration, Instant};
    ///
    /// let now = Instant::now();
    /// let mut bucket = Bucket::<1, 10>::new(now);
    /// assert!(bucket.take(now));
    /// assert!(!bucket.take(now), "bucket should hold a single token");
    /// assert!(bucket.take(now + Duration::from_secs(1)));
    /// ```
    pub fn take(&mut self, now: Instant) -> bool {
        if self.level == 0 {
            self.refill(now);
        }
        match self.level.checked_sub(1) {
            Some(left) => {
                self.level = left;
                true
            }
            None => false,
        }
    }

    fn refill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.refilled);
        let tokens = elapsed.as_millis().saturating_mul(PER_SECOND.into()) / 1000;
        if tokens > 0 {
            self.level = BURST.min(u32::try_from(tokens).unwrap_or(u32::MAX));
            self.refilled = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn bucket_grants_burst_then_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::<40, 20>::new(start);
        assert!((0..40).all(|_| bucket.take(start)));
        assert!(!bucket.take(start));
        let granted = (0..100).filter(|_| bucket.take(start + SECOND)).count();
        assert_eq!(granted, 20);
    }

    #[test]
    fn bucket_refills_despite_frequent_takes() {
        let start = Instant::now();
        let mut bucket = Bucket::<40, 20>::new(start);
        assert!((0..40).all(|_| bucket.take(start)));
        let granted = (1..=100).filter(|step| bucket.take(start + SECOND / 100 * *step)).count();
        assert_eq!(granted, 20);
    }
}
