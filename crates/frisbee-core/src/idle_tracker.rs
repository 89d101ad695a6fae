//! Detection of unused connections by the bytes they carry, as a function of counts and time.
//!
//! # Decisions
//!
//! A connection is unused when it carries only PINGs and PONGs. Silence is not a criterion, because each interval has
//! keepalive packets. An unused connection frees the memory left over from bursts: outbox, mailbox, jobs and, by
//! `Protocol::idle`, call slots. Id counters are kept, because they distinguish a call or job from its successors.

use std::time::{Duration, Instant};

/// Maximum number of pending keepalive bytes: a PING or two, and one PONG.
const SIGNS_MAX: u32 = 64;

/// Tracks since when a connection has carried no data.
///
/// Keepalive packets do not count, because each interval has some from either end. The connection is checked
/// periodically, and counts as unused since the first check without new data.
#[derive(Debug)]
pub(crate) struct IdleTracker {
    /// Number of bytes carried in both directions, modulo 2³². A pending keepalive packet is already subtracted.
    carried: u32,
    /// Value of `carried` at the last check.
    seen: u32,
    /// Time of the first check with this value.
    since: Instant,
}

impl IdleTracker {
    pub(crate) fn new(now: Instant) -> Self {
        Self { carried: 0, seen: 0, since: now }
    }

    /// Adds bytes that were read or written.
    #[inline]
    pub(crate) fn carry(&mut self, count: usize) {
        self.carried = self.carried.wrapping_add(count as u32); // Only differences matter.
    }

    /// Subtracts a PING or PONG from the bytes carried, or to be carried.
    pub(crate) fn carry_sign(&mut self, count: usize) {
        self.carried = self.carried.wrapping_sub(count as u32);
    }

    /// Returns whether nothing has been carried for `interval`.
    pub(crate) fn check(&mut self, interval: Duration, now: Instant) -> bool {
        // A slightly smaller value means that a keepalive packet is pending.
        if self.seen.wrapping_sub(self.carried) > SIGNS_MAX {
            self.seen = self.carried;
            self.since = now;
        }
        now.saturating_duration_since(self.since) >= interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_with_only_signs_of_life_is_unused() {
        let start = Instant::now();
        let mut usage = IdleTracker::new(start);
        let look = |usage: &mut IdleTracker, seconds| {
            usage.check(Duration::from_secs(2), start + Duration::from_secs(seconds))
        };
        usage.carry(u32::MAX as usize - 100);
        assert!(!look(&mut usage, 10));
        usage.carry_sign(10);
        assert!(!look(&mut usage, 11), "a PING waits to be written");
        usage.carry(10);
        assert!(look(&mut usage, 12) && look(&mut usage, 100));
        for (seconds, count) in [(200, 1), (300, 1 << 30), (400, 3 << 30)] {
            usage.carry(count);
            assert!(!look(&mut usage, seconds), "{count} bytes more");
            assert!(look(&mut usage, seconds + 2));
        }
    }
}
