//! Rate limit for useless packets of a peer.
//!
//! # Decisions
//!
//! A limit on the duration of a driver's poll does not stop a flood, because thousands of skipped or rejected packets
//! can keep a CPU core busy in every poll. The core charges packets that the protocol skips, and routers charge others
//! by `Routed::Discarded`. Reading from a peer that exceeds its allowance is suspended.

use std::time::{Duration, Instant};

/// Cost in bytes of a useless packet in addition to its length, equal to that of stream messages. Handling a packet
/// takes longer than sending it, so short packets must not be free.
const PACKET_COST: u64 = 64;

/// Burst that a peer may send at once, as a divisor of its rate: an eighth of a second's allowance. Even if several
/// peers do so at the same time, they occupy a core for only a few milliseconds.
const AHEAD: u64 = 8;

/// Minimum pause of reading, as a divisor of a second: a sixteenth of a second. This is short for a well-behaved peer,
/// and long enough that an abusive peer does not affect others.
const REST: u64 = 16;

/// Suspends reading from a peer that sends useless bytes faster than permitted.
///
/// The debt of useless bytes decreases at a constant rate, and by one byte for each useful byte. Up to a second's
/// allowance of useful bytes can be saved, because a peer that cancels thousands of calls at once has made these calls
/// before.
#[derive(Clone, Debug)]
pub struct AbuseLimiter {
    /// Number of useless bytes per second that the peer may send.
    rate: u64,
    /// Number of useless bytes received since the last call of [`end_batch`](Self::end_batch).
    batch: u64,
    /// Excess over the permitted rate in bytes, at the time `counted`. Reading is paused if the excess is too large.
    total: u64,
    counted: Instant,
    /// Number of received useful bytes that can still offset useless ones.
    useful: u64,
    rests_until: Option<Instant>,
}

impl AbuseLimiter {
    /// Creates a limiter that permits `rate` useless bytes per second, at least one.
    pub fn new(rate: u32, now: Instant) -> Self {
        Self { rate: u64::from(rate).max(1), batch: 0, total: 0, counted: now, useful: 0, rests_until: None }
    }

    /// Charges a useless packet with a body of `length` bytes.
    ///
    /// ```
    /// use frisbee_core::AbuseLimiter;
    /// use std::time::Instant;
    ///
    /// let now = Instant::now();
    /// let mut abuse = AbuseLimiter::new(1000, now);
    /// abuse.charge(10_000);
    /// abuse.end_batch(10_000, now);
    /// assert!(abuse.deadline().is_some(), "peer should be paused");
    /// ```
    pub fn charge(&mut self, length: usize) {
        self.batch = self.batch.saturating_add(length as u64);
        self.total = self.total.saturating_add(length as u64).saturating_add(PACKET_COST);
    }

    /// Ends a batch of `count` received bytes, useless ones included, and updates the excess over the permitted rate.
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
            self.counted = now; // Not updated otherwise, to keep the fraction of a byte for the next call.
        }
        self.total = self.total.saturating_sub(forgotten);
        let useful = self.useful.saturating_sub(std::mem::take(&mut self.batch)).min(self.rate);
        let paid = useful.min(self.total);
        self.useful = useful.saturating_sub(paid);
        // Limit the debt to the allowance of two seconds. Otherwise, a single long packet could pause its sender for
        // longer.
        self.total = self.total.saturating_sub(paid).min(self.rate.saturating_mul(2));
        let ahead = self.rate / AHEAD;
        if self.total > ahead {
            let excess = self.total.saturating_sub(ahead).saturating_add(self.rate / REST);
            let rest = Duration::from_micros(excess.saturating_mul(1_000_000).div_ceil(self.rate));
            self.rests_until = now.checked_add(rest);
        }
    }

    /// Returns the time at which reading resumes, or `None` if reading is not paused.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        self.rests_until
    }

    /// Resumes reading if the pause is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.rests_until = self.rests_until.filter(|until| now < *until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Simulates a peer that sends batches of useless packets for ten seconds, as fast as the limiter permits. Returns
    /// the number of bytes sent.
    fn waste_for_ten_seconds(rate: u32, packets: usize, length: usize, useful: usize) -> u64 {
        let start = Instant::now();
        let mut abuse = AbuseLimiter::new(rate, start);
        let (mut now, mut sum) = (start, 0);
        while now < start + 10 * SECOND {
            (0..packets).for_each(|_| abuse.charge(length));
            sum += (packets * (length + 64)) as u64;
            abuse.end_batch(packets * length + useful, now);
            now = abuse.deadline().unwrap_or(now + Duration::from_micros(50));
            abuse.handle_timeout(now);
            assert_eq!(abuse.deadline(), None, "pause should be over at its deadline");
        }
        sum
    }

    #[test]
    fn a_peer_wastes_its_allowance_and_an_eighth_of_it_ahead() {
        for (packets, length) in [(1, 10), (100, 10), (500, 100)] {
            let sum = waste_for_ten_seconds(1_000_000, packets, length, 0);
            assert!((10_000_000..10_300_000).contains(&sum), "peer sent {sum} bytes in batches of {packets}");
        }
    }

    #[test]
    fn waste_of_an_eighth_of_the_allowance_is_free() {
        let now = Instant::now();
        let mut abuse = AbuseLimiter::new(8 * 72, now);
        abuse.charge(8);
        abuse.end_batch(8, now);
        assert_eq!(abuse.deadline(), None, "72 wasted bytes should cause no pause");
        abuse.charge(8);
        abuse.end_batch(8, now);
        assert!(abuse.deadline().is_some());
    }

    #[test]
    fn useful_packets_pay_for_waste_in_the_same_batch() {
        let sum = waste_for_ten_seconds(1_000_000, 1, 10, 74);
        assert_eq!(sum, 200_000 * 74, "peer should send again after the pause");
    }

    #[test]
    fn useful_packets_pay_for_the_waste_of_one_second() {
        let now = Instant::now();
        let mut abuse = AbuseLimiter::new(1_000_000, now);
        abuse.end_batch(5_000_000, now);
        (0..10_000).for_each(|_| abuse.charge(11));
        abuse.end_batch(110_000, now);
        assert_eq!(abuse.deadline(), None, "credit should cover 750 000 bytes");
        (0..10_000).for_each(|_| abuse.charge(11));
        abuse.end_batch(110_000, now);
        assert!(abuse.deadline().is_some(), "spent credit should cause a pause");
    }

    #[test]
    fn a_long_packet_pauses_its_peer_for_little_more_than_a_second() {
        let now = Instant::now();
        for rate in [0, 1, 1_000_000, u32::MAX] {
            let mut abuse = AbuseLimiter::new(rate, now);
            let length = u32::MAX as usize;
            (0..4).for_each(|_| abuse.charge(length));
            abuse.end_batch(4 * length, now);
            let rest = abuse.deadline().map(|until| until - now);
            assert!(rest.is_some_and(|rest| rest >= SECOND && rest <= 2 * SECOND), "pause lasted {rest:?} at {rate}");
        }
    }
}
