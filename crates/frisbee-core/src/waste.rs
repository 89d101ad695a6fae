//! Limit on the rate of useless packets from a peer.
//!
//! # Decisions
//!
//! Bounded turns do not stop a flood: thousands of skipped or rejected packets can occupy a core, turn after turn. The
//! core charges packets that the protocol skips, and routers charge others by `Routed::Useless`. A peer that exceeds
//! its allowance is not read for a while.

use std::time::{Duration, Instant};

/// Cost of a useless packet in addition to its bytes, equal to that of stream messages. Handling a packet takes longer
/// than sending it.
const WASTE_EACH: u64 = 64;

/// Divisor of a second's allowance by which a peer may exceed its allowance. A few such peers that start simultaneously
/// occupy a core for some milliseconds.
const AHEAD: u64 = 8;

/// Divisor of a second's allowance that must be free again before a suspended peer is read. Short enough for a
/// well-meaning peer, and rare enough that others do not notice.
const REST: u64 = 16;

/// Suspends a peer that sends more useless bytes than its allowance.
///
/// The debt decreases at a constant rate, and each useful byte pays for a useless one. Useful bytes of up to a second's
/// allowance can be saved for later, because a peer that cancels thousands of calls at once has made them before.
#[derive(Clone, Debug)]
pub struct WasteLimiter {
    /// Bytes per second.
    rate: u64,
    /// Useless bytes of this batch.
    batch: u64,
    /// The debt, and the time for which it was computed.
    total: u64,
    counted: Instant,
    /// Useful bytes that have not paid for useless ones yet.
    useful: u64,
    rests_until: Option<Instant>,
}

impl WasteLimiter {
    /// Creates a limiter that permits `rate` useless bytes per second, at least one.
    pub fn new(rate: u32, now: Instant) -> Self {
        Self { rate: u64::from(rate).max(1), batch: 0, total: 0, counted: now, useful: 0, rests_until: None }
    }

    /// Charges a useless packet of `length` bytes.
    ///
    /// ```
    /// use frisbee_core::WasteLimiter;
    /// use std::time::Instant;
    ///
    /// let now = Instant::now();
    /// let mut waste = WasteLimiter::new(1000, now);
    /// waste.charge(10_000);
    /// waste.end_batch(10_000, now);
    /// assert!(waste.deadline().is_some(), "the peer has to rest");
    /// ```
    pub fn charge(&mut self, length: usize) {
        self.batch = self.batch.saturating_add(length as u64);
        self.total = self.total.saturating_add(length as u64).saturating_add(WASTE_EACH);
    }

    /// Ends a batch of `count` bytes.
    #[inline]
    pub fn end_batch(&mut self, count: usize, now: Instant) {
        self.useful = self.useful.saturating_add(count as u64);
        if self.batch > 0 {
            self.settle(now);
        }
    }

    #[cold]
    fn settle(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.counted);
        let forgotten = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX).saturating_mul(self.rate) / 1_000_000;
        if forgotten > 0 {
            self.counted = now; // Keep the remainder of less than a byte.
        }
        self.total = self.total.saturating_sub(forgotten);
        let useful = self.useful.saturating_sub(std::mem::take(&mut self.batch)).min(self.rate);
        let paid = useful.min(self.total);
        self.useful = useful.saturating_sub(paid);
        // Cap the debt at two seconds' allowance, so that a single long packet does not silence its peer for longer.
        self.total = self.total.saturating_sub(paid).min(self.rate.saturating_mul(2));
        let ahead = self.rate / AHEAD;
        if self.total > ahead {
            let excess = self.total.saturating_sub(ahead).saturating_add(self.rate / REST);
            let rest = Duration::from_micros(excess.saturating_mul(1_000_000).div_ceil(self.rate));
            self.rests_until = now.checked_add(rest);
        }
    }

    /// Returns when the peer may be read again, if it is suspended.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        self.rests_until
    }

    /// Ends a suspension that is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.rests_until = self.rests_until.filter(|until| now < *until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Sends batches of useless packets for ten seconds, as fast as permitted. Returns the number of bytes charged.
    fn waste_for_ten_seconds(rate: u32, packets: usize, length: usize, useful: usize) -> u64 {
        let start = Instant::now();
        let mut waste = WasteLimiter::new(rate, start);
        let (mut now, mut sum) = (start, 0);
        while now < start + 10 * SECOND {
            (0..packets).for_each(|_| waste.charge(length));
            sum += (packets * (length + 64)) as u64;
            waste.end_batch(packets * length + useful, now);
            now = waste.deadline().unwrap_or(now + Duration::from_micros(50));
            waste.handle_timeout(now);
            assert_eq!(waste.deadline(), None, "the rest is over when it says so");
        }
        sum
    }

    #[test]
    fn a_peer_wastes_its_allowance_and_an_eighth_of_it_ahead() {
        for (packets, length) in [(1, 10), (100, 10), (500, 100)] {
            let sum = waste_for_ten_seconds(1_000_000, packets, length, 0);
            assert!((10_000_000..10_300_000).contains(&sum), "{sum} in batches of {packets}");
        }
    }

    #[test]
    fn waste_of_an_eighth_of_the_allowance_is_free() {
        let now = Instant::now();
        let mut waste = WasteLimiter::new(8 * 72, now);
        waste.charge(8);
        waste.end_batch(8, now);
        assert_eq!(waste.deadline(), None, "these are 72 bytes");
        waste.charge(8);
        waste.end_batch(8, now);
        assert!(waste.deadline().is_some());
    }

    #[test]
    fn useful_packets_pay_for_waste_in_the_same_batch() {
        let sum = waste_for_ten_seconds(1_000_000, 1, 10, 74);
        assert_eq!(sum, 200_000 * 74, "it has rested");
    }

    #[test]
    fn useful_packets_pay_for_the_waste_of_one_second() {
        let now = Instant::now();
        let mut waste = WasteLimiter::new(1_000_000, now);
        waste.end_batch(5_000_000, now);
        (0..10_000).for_each(|_| waste.charge(11));
        waste.end_batch(110_000, now);
        assert_eq!(waste.deadline(), None, "750 000 bytes are paid for");
        (0..10_000).for_each(|_| waste.charge(11));
        waste.end_batch(110_000, now);
        assert!(waste.deadline().is_some(), "they have been spent");
    }

    #[test]
    fn a_long_packet_pauses_its_peer_for_little_more_than_a_second() {
        let now = Instant::now();
        for rate in [0, 1, 1_000_000, u32::MAX] {
            let mut waste = WasteLimiter::new(rate, now);
            let length = u32::MAX as usize;
            (0..4).for_each(|_| waste.charge(length));
            waste.end_batch(4 * length, now);
            let rest = waste.deadline().map(|until| until - now);
            assert!(rest.is_some_and(|rest| rest >= SECOND && rest <= 2 * SECOND), "{rest:?} at {rate}");
        }
    }
}
