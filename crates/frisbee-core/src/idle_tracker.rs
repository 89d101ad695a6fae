//! Detection of unused connections from byte counts and time.
//!
//! # Decisions
//!
//! A connection is unused if it carries only PINGs and PONGs. Silence cannot be the criterion, because keepalive
//! packets are sent in every interval. An unused connection frees the memory of earlier bursts: outbox, mailbox and
//! jobs. It also notifies its router, which may free call slots. Id counters are kept, because they distinguish a call
//! or job from later ones in the same slot.

use std::time::{Duration, Instant};

/// Maximum number of pending keepalive bytes: up to two PINGs and one PONG.
const SIGNS_MAX: u32 = 64;

/// Tracker of how long a connection has transferred only keepalive packets.
///
/// The tracker is polled periodically. A connection counts as unused from the first poll that finds no new data.
#[derive(Debug)]
pub(crate) struct IdleTracker {
    /// Number of bytes transferred in both directions, modulo 2³², excluding keepalive packets.
    carried: u32,
    /// Value of `carried` at the last check. A different value shows that data was transferred since.
    seen: u32,
    /// Time at which the current period without data began.
    since: Instant,
}

impl IdleTracker {
    pub(crate) fn new(now: Instant) -> Self {
        Self { carried: 0, seen: 0, since: now }
    }

    /// Counts `count` bytes that were received or written.
    #[inline]
    pub(crate) fn carry(&mut self, count: usize) {
        self.carried = self.carried.wrapping_add(count as u32); // May wrap; only differences matter.
    }

    /// Subtracts the bytes of a PING or PONG from the count, so that keepalive packets do not count as traffic.
    pub(crate) fn carry_sign(&mut self, count: usize) {
        self.carried = self.carried.wrapping_sub(count as u32);
    }

    /// Returns whether no data has been transferred for at least `interval`.
    pub(crate) fn check(&mut self, interval: Duration, now: Instant) -> bool {
        // Pending keepalive packets make `carried` slightly smaller than `seen`. Any other difference is data.
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
    fn connection_with_only_keepalives_is_unused() {
        let start = Instant::now();
        let mut usage = IdleTracker::new(start);
        let look = |usage: &mut IdleTracker, seconds| {
            usage.check(Duration::from_secs(2), start + Duration::from_secs(seconds))
        };
        usage.carry(u32::MAX as usize - 100);
        assert!(!look(&mut usage, 10));
        usage.carry_sign(10);
        assert!(!look(&mut usage, 11), "connection with a PING to write should not count as unused");
        usage.carry(10);
        assert!(look(&mut usage, 12) && look(&mut usage, 100));
        for (seconds, count) in [(200, 1), (300, 1 << 30), (400, 3 << 30)] {
            usage.carry(count);
            assert!(!look(&mut usage, seconds), "connection that received {count} bytes should not count as unused");
            assert!(look(&mut usage, seconds + 2));
        }
    }
}
