//! Rate limiting of peers that send useless packets.
//!
//! # Decisions
//!
//! Bounding the duration of each poll does not stop a flood: skipping or rejecting thousands of packets keeps a CPU
//! core busy in every poll. Therefore each useless packet is charged to its sender. The core charges packets that the
//! protocol skips; routers report others by returning `Routed::Discarded`. Reading from a peer that exceeds its
//! allowance is paused, and a peer that keeps exceeding it is disconnected. [`cost`] lists the charges of all
//! protocols.

use std::time::{Duration, Instant};

/// Cost of useless input in bytes, in addition to its length. Short input must not be free, because handling it takes
/// longer than sending it.
pub mod cost {
    /// A useless packet or request of any protocol, such as one that is skipped, rejected or cancelled, or a second
    /// request on a stream. Equal to the cost of stream messages.
    pub const PACKET: u64 = 64;

    /// Padding of HTTP/2, or a useless frame: PRIORITY, unknown frames, frames of closed streams, and more
    /// WINDOW_UPDATE frames than [`UPDATES_PER_DATA`]. A peer can send such frames faster than this end can parse them.
    pub const FRAME: u64 = 256;

    /// Number of WINDOW_UPDATE frames that a peer may send free of charge for each DATA frame that it has received.
    /// Equal to the default of Envoy.
    pub const UPDATES_PER_DATA: u32 = 10;

    /// Minimum charge for a DATA frame of HTTP/2 that completes no message.
    pub const FRAGMENT: u64 = 256;

    /// An HTTP/2 stream that is refused because too many streams are open.
    pub const REFUSED: u64 = 256;

    /// An HTTP/2 stream that the client resets before it has received the response ("rapid reset", CVE-2023-44487). The
    /// request has been parsed and routed, and its handler may have started.
    pub const RESET: u64 = 1024;

    /// A PING of HTTP/2, if this end has sent no HEADERS or DATA since the previous PING (CVE-2019-9512). The native
    /// protocol disconnects a peer that sends more than 20 PINGs per second.
    pub const PING: u64 = 1024;

    /// An empty DATA frame of HTTP/2 that does not end its stream (CVE-2019-9518).
    pub const EMPTY_DATA: u64 = 1024;

    /// Each SETTINGS frame of HTTP/2 except the first (CVE-2019-9515).
    pub const SETTINGS: u64 = 4096;

    /// Additional cost of a SETTINGS frame per open stream, because the window of each stream must be updated.
    pub const SETTINGS_STREAM: u64 = 64;

    /// An HTTP/2 frame that causes a stream error, such as a malformed request.
    pub const STREAM_ERROR: u64 = 4096;

    /// Cost of an `rpc.discover` request. Its reply is about a thousand times as long.
    pub const DISCOVER: u64 = 4096;
}

/// Maximum burst, as a fraction of the bytes permitted per second (1/8). Even bursts of several peers at the same time
/// occupy a core for only a few milliseconds.
const AHEAD: u64 = 8;

/// Minimum pause of reading, as a fraction of a second (1/16). Short enough for a well-behaved peer, and long enough to
/// stop an abusive peer from slowing down others.
const REST: u64 = 16;

/// A peer is disconnected if its recent pauses exceed `PAUSED_MAX` microseconds. The total decays by 1/`PAUSED_PART` of
/// the elapsed time, so a peer may be paused for about 5 s of every 30 s. A single pause is shorter than 2 s, so
/// cancelling a large number of calls at once does not disconnect a peer.
const PAUSED_MAX: u32 = 5_000_000;
const PAUSED_PART: u64 = 6;

/// Limiter that pauses reading from a peer that sends useless bytes faster than permitted.
///
/// The debt of useless bytes decreases at a constant rate, and by one byte for each useful byte. Useful bytes are also
/// credited in advance, up to one second's allowance, because a peer that cancels thousands of calls at once has sent
/// these calls before.
#[derive(Clone, Debug)]
pub struct AbuseLimiter {
    /// Number of useless bytes per second that the peer may send.
    rate: u32,
    /// Number of useless bytes received since the last call of [`end_batch`](Self::end_batch).
    batch: u32,
    /// Debt at the time `counted`: the number of useless bytes in excess of the permitted rate. Reading is paused if it
    /// is too large.
    total: u64,
    /// Part of `total` that was inherited from earlier connections of the same caller.
    inherited: u32,
    /// Total of recent pauses in microseconds.
    paused: u32,
    counted: Instant,
    /// Number of received useful bytes that can still offset useless ones.
    useful: u64,
    rests_until: Option<Instant>,
}

impl AbuseLimiter {
    /// Creates a limiter that permits `rate` useless bytes per second, at least one.
    pub fn new(rate: u32, now: Instant) -> Self {
        Self {
            rate: rate.max(1),
            batch: 0,
            total: 0,
            inherited: 0,
            paused: 0,
            counted: now,
            useful: 0,
            rests_until: None,
        }
    }

    /// Inherits the unpaid [debt](Self::debt) of earlier connections from the same caller, up to an eighth of a second.
    /// This limit ensures that a peer is not paused before it sends useless bytes itself, because another peer at the
    /// same address may have caused the debt.
    ///
    /// ```
    /// use frisbee_core::AbuseLimiter;
    /// use std::time::Instant;
    ///
    /// let now = Instant::now();
    /// let mut closed = AbuseLimiter::new(1000, now);
    /// closed.charge(10_000);
    /// closed.end_batch(10_000, now);
    /// let mut next = AbuseLimiter::new(1000, now);
    /// next.inherit(closed.debt(now));
    /// next.charge(1);
    /// next.end_batch(1, now);
    /// assert!(next.deadline().is_some(), "first useless packet should pause the peer");
    /// ```
    pub fn inherit(&mut self, debt: Duration) {
        let bytes = micros(debt).saturating_mul(self.rate()) / 1_000_000;
        self.inherited = saturated(bytes.min(self.rate() / AHEAD));
        self.total = self.total.saturating_add(self.inherited.into());
    }

    /// Returns the debt of useless bytes, excluding the [inherited](Self::inherit) part, as the time until it is paid
    /// off. At most two seconds.
    pub fn debt(&self, now: Instant) -> Duration {
        let forgotten = self.forgotten(now);
        let useful = self.useful.min(self.rate());
        let total = self.total.saturating_sub(forgotten).saturating_sub(useful);
        let inherited = u64::from(self.inherited).saturating_sub(forgotten);
        let own = total.saturating_sub(inherited).min(self.rate().saturating_mul(2));
        Duration::from_micros(own.saturating_mul(1_000_000).div_ceil(self.rate()))
    }

    fn rate(&self) -> u64 {
        self.rate.into()
    }

    /// Returns how many bytes of debt have decayed since `counted`.
    fn forgotten(&self, now: Instant) -> u64 {
        micros(now.saturating_duration_since(self.counted)).saturating_mul(self.rate()) / 1_000_000
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
        // Count at least a byte, because `end_batch` ignores batches without useless bytes.
        self.batch = self.batch.saturating_add(saturated(length as u64).max(1));
        self.total = self.total.saturating_add(length as u64).saturating_add(cost::PACKET);
    }

    /// Ends a batch of `count` received bytes, including the useless ones, and pauses reading if the debt is too large.
    #[inline]
    pub fn end_batch(&mut self, count: usize, now: Instant) {
        self.useful = self.useful.saturating_add(count as u64);
        if self.batch > 0 {
            self.settle(now);
        }
    }

    #[cold]
    fn settle(&mut self, now: Instant) {
        let (elapsed, forgotten) = (micros(now.saturating_duration_since(self.counted)), self.forgotten(now));
        if forgotten > 0 {
            self.paused = self.paused.saturating_sub(saturated(elapsed / PAUSED_PART));
            self.counted = now; // Not updated otherwise, to keep the fraction of a byte for the next call.
        }
        self.total = self.total.saturating_sub(forgotten);
        let rate = self.rate();
        let useful = self.useful.saturating_sub(std::mem::take(&mut self.batch).into()).min(rate);
        let paid = useful.min(self.total);
        self.useful = useful.saturating_sub(paid);
        // Limit the debt to the allowance of two seconds. Otherwise, a single long packet could pause its sender for
        // longer.
        self.total = self.total.saturating_sub(paid).min(rate.saturating_mul(2));
        self.inherited = self.inherited.saturating_sub(saturated(forgotten.saturating_add(paid)));
        let ahead = rate / AHEAD;
        if self.total > ahead {
            let excess = self.total.saturating_sub(ahead).saturating_add(rate / REST);
            let rest = excess.saturating_mul(1_000_000).div_ceil(rate);
            let before = self.rests_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
            let more = rest.saturating_sub(micros(before));
            self.paused = self.paused.saturating_add(saturated(more));
            self.rests_until = now.checked_add(Duration::from_micros(rest));
        }
    }

    /// Returns the time at which reading resumes, or `None` if reading is not paused.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        self.rests_until
    }

    /// Returns whether the peer should be disconnected, because reading from it was recently paused for too long.
    pub fn is_exhausted(&self) -> bool {
        self.paused >= PAUSED_MAX
    }

    /// Resumes reading if the pause is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.rests_until = self.rests_until.filter(|until| now < *until);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
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
    fn waste_is_limited_to_allowance_plus_eighth() {
        for (packets, length) in [(1, 10), (100, 10), (500, 100)] {
            let sum = waste_for_ten_seconds(1_000_000, packets, length, 0);
            assert!((10_000_000..10_300_000).contains(&sum), "peer sent {sum} bytes in batches of {packets}");
        }
    }

    #[test]
    fn one_eighth_of_allowance_is_free() {
        let now = Instant::now();
        let mut abuse = AbuseLimiter::new(8 * 72, now);
        abuse.charge(8);
        abuse.end_batch(8, now);
        assert_eq!(abuse.deadline(), None, "72 wasted bytes should cause no pause");
        abuse.charge(8);
        abuse.end_batch(8, now);
        assert!(abuse.deadline().is_some());
    }

    /// Regression test: packets without a body were charged only with a later one that had a body.
    #[test]
    fn empty_packets_cause_pauses() {
        let now = Instant::now();
        let mut abuse = AbuseLimiter::new(8 * 72, now);
        (0..2).for_each(|_| abuse.charge(0));
        abuse.end_batch(0, now);
        assert!(abuse.deadline().is_some());
    }

    #[test]
    fn useful_bytes_offset_waste_in_batch() {
        let sum = waste_for_ten_seconds(1_000_000, 1, 10, 74);
        assert_eq!(sum, 200_000 * 74, "peer should send again after the pause");
    }

    #[test]
    fn useful_bytes_offset_one_second_of_waste() {
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
    fn oversized_packet_pause_is_bounded() {
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

    #[test]
    fn endless_waste_exhausts_limiter_bursts_do_not() {
        let pauses = |every: Duration| {
            let (start, mut seconds) = (Instant::now(), 0);
            let (mut abuse, mut now) = (AbuseLimiter::new(1000, start), start);
            while !abuse.is_exhausted() && now < start + 600 * SECOND {
                abuse.charge(20_000);
                abuse.end_batch(20_000, now);
                now = abuse.deadline().expect("peer should be paused").max(now + every);
                abuse.handle_timeout(now);
                seconds = now.duration_since(start).as_secs();
            }
            seconds
        };
        let endless = pauses(Duration::ZERO);
        assert!((5..9).contains(&endless), "endless useless packets are accepted for {endless} s");
        assert_eq!(pauses(15 * SECOND), 600, "peer with few bursts should stay connected");
    }

    #[test]
    fn inherited_debt_is_not_left_twice() {
        let second = Duration::from_secs(1);
        let start = Instant::now();
        let limiter = |debt| {
            let mut abuse = AbuseLimiter::new(8000, start);
            abuse.inherit(debt);
            abuse
        };
        let (mut none, mut much) = (limiter(Duration::ZERO), limiter(2 * second));
        assert_eq!((much.total, much.debt(start), much.deadline()), (1000, Duration::ZERO, None));
        for abuse in [&mut none, &mut much] {
            abuse.charge(500 - cost::PACKET as usize);
            abuse.end_batch(0, start);
            assert_eq!(abuse.debt(start), second / 16);
        }
        // The inherited debt decays first, as it does in the state of the caller.
        assert_eq!([&none, &much].map(|abuse| abuse.debt(start + second / 32)), [second / 32, second / 16]);
        assert_eq!((none.deadline().is_some(), much.deadline().is_some()), (false, true));
        let later = start + second / 4;
        for debt in [Duration::ZERO, second / 16] {
            much.charge(500 - cost::PACKET as usize);
            much.end_batch(0, later);
            assert_eq!((much.inherited, much.debt(later)), (0, debt), "all debts should have been paid before");
        }
    }

    #[test]
    fn useful_bytes_pay_debt_of_closed_peer() {
        let now = Instant::now();
        let mut abuse = AbuseLimiter::new(1000, now);
        abuse.end_batch(300, now);
        abuse.charge(400 - cost::PACKET as usize);
        assert_eq!(abuse.debt(now), Duration::from_millis(100));
        abuse.end_batch(400 - cost::PACKET as usize, now);
        assert_eq!(abuse.debt(now), Duration::from_millis(100), "end of the batch should not change the debt");
    }
}
