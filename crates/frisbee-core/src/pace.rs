//! How fast things may or must go: a token bucket for what a peer may ask, and a least rate for what it sends.

use std::time::{Duration, Instant};

/// Grants a burst and refills at a steady rate.
#[derive(Clone, Debug)]
pub struct Bucket {
    level: u32,
    burst: u32,
    refill_every: Duration,
    refilled: Instant,
}

impl Bucket {
    /// A full bucket of `burst` tokens that regains `per_second` of them each second.
    pub fn new(burst: u32, per_second: u32, now: Instant) -> Self {
        let refill_every = Duration::from_secs(1).checked_div(per_second).unwrap_or(Duration::MAX);
        Self { level: burst, burst, refill_every, refilled: now }
    }

    /// Takes one token; `false` if there is none.
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
        let tokens = elapsed.as_nanos().checked_div(self.refill_every.as_nanos()).unwrap_or(0);
        if tokens > 0 {
            self.level = self.burst.min(u32::try_from(tokens).unwrap_or(u32::MAX));
            self.refilled = now;
        }
    }
}

/// Watches that a packet which has begun to arrive keeps arriving.
///
/// In every window the bytes received must reach the least rate, otherwise the sender holds the connection, and what
/// has been buffered of the packet, without using it.
#[derive(Clone, Debug)]
pub struct Pace {
    window: Duration,
    /// Bytes that must arrive in each window.
    least: u64,
    /// The running window: when it ends, and what the total was when it began. `None` between packets.
    running: Option<(Instant, u64)>,
}

impl Pace {
    /// Requires `least_per_second` bytes per second, judged over each `window`.
    pub fn new(window: Duration, least_per_second: u32) -> Self {
        let least = u64::from(least_per_second).saturating_mul(window.as_secs());
        Self { window, least, running: None }
    }

    /// Tells that part of a packet is waiting for the rest, `total` being all bytes received so far on the connection.
    pub fn waiting(&mut self, total: u64, now: Instant) {
        if self.running.is_none() {
            self.running = now.checked_add(self.window).map(|end| (end, total));
        }
    }

    /// Tells that no packet is incomplete.
    pub fn complete(&mut self) {
        self.running = None;
    }

    /// When [`too_slow`](Self::too_slow) should be asked next.
    pub fn deadline(&self) -> Option<Instant> {
        self.running.map(|(end, _)| end)
    }

    /// Whether a window has ended in which fewer bytes came than must; begins the next one otherwise.
    pub fn too_slow(&mut self, total: u64, now: Instant) -> bool {
        let Some((end, at_start)) = self.running else { return false };
        if now < end {
            return false;
        }
        if total.saturating_sub(at_start) < self.least {
            return true;
        }
        self.running = None;
        self.waiting(total, now);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(40, 20, start);
        assert!((0..40).all(|_| bucket.take(start)));
        assert!(!bucket.take(start));
        let granted = (0..100).filter(|_| bucket.take(start + SECOND)).count();
        assert_eq!(granted, 20);
    }

    #[test]
    fn a_packet_that_trickles_is_too_slow_and_one_that_flows_is_not() {
        let start = Instant::now();
        let mut pace = Pace::new(5 * SECOND, 16 * 1024);
        pace.waiting(0, start);
        assert!(!pace.too_slow(10, start + 4 * SECOND));
        assert!(!pace.too_slow(80 * 1024, start + 5 * SECOND));
        assert!(pace.too_slow(80 * 1024 + 10, start + 10 * SECOND));
    }

    #[test]
    fn nothing_is_too_slow_between_packets() {
        let start = Instant::now();
        let mut pace = Pace::new(5 * SECOND, 16 * 1024);
        pace.waiting(0, start);
        pace.complete();
        assert_eq!(pace.deadline(), None);
        assert!(!pace.too_slow(1, start + 60 * SECOND));
    }
}
