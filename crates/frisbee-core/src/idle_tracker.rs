//! Whether a connection is in use: a function of the bytes that it has carried, and of time.
//!
//! # Decisions
//!
//! A connection is idle when it carries only PINGs and PONGs. Silence is no criterion, since each interval has a sign of life. An
//! idle connection frees the memory left by bursts: outbox, mailbox, jobs, and, by `Protocol::idle`, call slots. Counters of ids
//! continue, since they distinguish a call or job from its successors.

use std::time::{Duration, Instant};

/// The most bytes of signs that wait to be written: a PING or two, and one PONG.
const SIGNS_MAX: u32 = 64;

/// Tracks since when a connection has carried nothing.
///
/// Signs of life do not count: each interval has some, from either end. The connection is looked at
/// now and then, and has been unused since the first look that found it so.
#[derive(Debug)]
pub(crate) struct IdleTracker {
    /// The bytes in both directions, from any number on. A sign that waits to be written is subtracted already.
    carried: u32,
    /// Its value at the last look.
    seen: u32,
    /// The first look at which it was as much.
    since: Instant,
}

impl IdleTracker {
    pub(crate) fn new(now: Instant) -> Self {
        Self { carried: 0, seen: 0, since: now }
    }

    /// Notes that so many bytes have been read or written.
    #[inline]
    pub(crate) fn carry(&mut self, count: usize) {
        self.carried = self.carried.wrapping_add(count as u32); // Any number will do.
    }

    /// Notes that so many of the bytes, or of those to be written, are a PING or PONG.
    pub(crate) fn carry_sign(&mut self, count: usize) {
        self.carried = self.carried.wrapping_sub(count as u32);
    }

    /// Whether nothing has been carried for so long.
    pub(crate) fn check(&mut self, interval: Duration, now: Instant) -> bool {
        // A little less is no use: a sign waits to be written.
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
