//! Whether a peer accepts the bytes that are written to it: functions of counts and time alone.

use crate::keepalive::millis;
use std::time::{Duration, Instant};

/// How many bytes a socket may hold that the peer has not accepted: 4 MiB on Linux by default.
const SYSTEM_BUFFER_MAX: u32 = 4 << 20;

/// The unit of the bytes in a socket.
const UNIT: u32 = 64 * 1024;

/// The part of the timeout that a peer gets for each unit in the socket. A socket accepts more only when a third of its
/// bytes have gone. Four times the usual 5 s for each MiB are the time that this takes at 17 KiB/s, just above the
/// usual least rate.
const PART: u64 = 4;

/// Watches whether a peer accepts the bytes that wait for it.
///
/// It may take nothing for the timeout, and while more waits than it may take in that time at the least rate, it has to
/// take half of that rate at least. Both are longer when the system may hold megabytes for it: see
/// [`patience`](Self::patience).
///
/// An end that accepted reads no further while its own packets are not accepted. So at the end that dialled the bytes
/// that the peer *sends* count as well: it waits for this end to have read them.
#[derive(Clone, Debug)]
pub struct WriteProgress {
    /// In milliseconds, 49 days at most: it is kept for each idle connection.
    timeout: u32,
    least_rate: u32,
    /// The bytes that the transport has taken, as far as it may hold them.
    written: u32,
    /// Something waits.
    waits: bool,
    /// In a box, since most connections are idle; kept for the next time that something waits.
    pending: Option<Box<PendingWrite>>,
}

/// Something waits for the peer.
#[derive(Clone, Debug)]
struct PendingWrite {
    /// The transport has taken nothing since.
    stalled: Instant,
    /// All that the peer had given then.
    consumed: u64,
    /// The beginning of the counts.
    window: Instant,
    /// The bytes that the transport has accepted since then.
    moved: u64,
    /// All that the peer had given then.
    consumed_before: u64,
}

impl WriteProgress {
    /// Lets a peer take nothing for `timeout`, and otherwise half of `least_rate` bytes in a second at least.
    pub fn new(timeout: Duration, least_rate: u32) -> Self {
        Self { timeout: millis(timeout), least_rate, written: 0, waits: false, pending: None }
    }

    /// Records that the transport has taken `count` bytes, 0 if it takes none at the moment, and whether more
    /// wait. `consumed` are all bytes that the peer has given, as far as they count.
    ///
    /// `true` if the peer has taken some: the transport had no room before.
    #[inline]
    pub fn handle_written(&mut self, count: usize, waits: bool, consumed: u64, now: Instant) -> bool {
        if count > 0 {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            self.written = self.written.saturating_add(count).min(SYSTEM_BUFFER_MAX);
        }
        if !waits && !self.waits {
            return false;
        }
        self.handle_pending(count, waits, consumed, now)
    }

    /// As [`handle_written`](Self::handle_written), if something waits or did.
    #[cold]
    fn handle_pending(&mut self, count: usize, waits: bool, consumed: u64, now: Instant) -> bool {
        let went_on = count > 0 && self.waits;
        if waits && !self.waits {
            let started = PendingWrite { stalled: now, consumed, window: now, moved: 0, consumed_before: consumed };
            match &mut self.pending {
                Some(pending) => **pending = started,
                None => self.pending = Some(Box::new(started)),
            }
        } else if let Some(pending) = self.pending.as_mut().filter(|_| went_on) {
            (pending.stalled, pending.consumed) = (now, consumed);
            pending.moved = pending.moved.saturating_add(count as u64);
        }
        self.waits = waits;
        went_on
    }

    /// Whether something waits that the transport does not take.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        self.waits
    }

    /// Gives back memory that is not needed while nothing waits.
    pub fn release(&mut self) {
        if !self.waits {
            self.pending = None;
        }
    }

    fn pending(&self) -> Option<&PendingWrite> {
        self.pending.as_deref().filter(|_| self.waits)
    }

    /// How long the transport may take nothing: the timeout, and four times as long again for each MiB that may be
    /// under way in it.
    pub fn patience(&self) -> Duration {
        let units = self.written / UNIT;
        let millis = u64::from(self.timeout);
        let more = (millis / PART).saturating_mul(units.into());
        Duration::from_millis(millis.saturating_add(more))
    }

    /// When the transport will have taken nothing for as long as it may, if it takes nothing at the moment.
    pub fn stalled_by(&self) -> Option<Instant> {
        self.pending().and_then(|pending| pending.stalled.checked_add(self.patience()))
    }

    /// When [`is_too_slow`](Self::is_too_slow) should be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let twice = self.patience().saturating_mul(2);
        let window = self.pending().and_then(|pending| pending.window.checked_add(twice));
        crate::earlier(self.stalled_by(), window)
    }

    /// Whether the peer has accepted too few of the bytes that wait, now `pending`; `consumed` as in
    /// [`handle_written`](Self::handle_written).
    pub fn is_too_slow(&mut self, pending: usize, consumed: u64, now: Instant) -> bool {
        let patience = self.patience();
        // Half of the least rate over twice the patience.
        let least = self.at_least_rate(patience);
        let little = self.at_least_rate(Duration::from_millis(self.timeout.into()));
        let Some(state) = self.pending.as_mut().filter(|_| self.waits) else { return false };
        if now.saturating_duration_since(state.stalled) >= patience {
            if consumed.saturating_sub(state.consumed) < (least / 2).max(1) {
                return true;
            }
            (state.stalled, state.consumed) = (now, consumed);
        }
        if now.saturating_duration_since(state.window) >= patience.saturating_mul(2) {
            let moved = state.moved.saturating_add(consumed.saturating_sub(state.consumed_before));
            if moved < least && pending as u64 > little {
                return true;
            }
            (state.window, state.moved, state.consumed_before) = (now, 0, consumed);
        }
        false
    }

    /// The bytes that the least rate amounts to in so much time.
    fn at_least_rate(&self, time: Duration) -> u64 {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        u64::from(self.least_rate).saturating_mul(millis) / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LEAST_RATE: u32 = 16 * 1024;

    /// When a peer times out that takes so many bytes in a second, through a socket that holds `buffer` of them, and
    /// gives so many; `pending` bytes are pending, and some always are. Not within an hour if not at all.
    fn time_to_timeout(buffer: u64, rate: u64, gives: u64, pending: u64) -> Option<Duration> {
        let start = Instant::now();
        let mut write_progress = WriteProgress::new(5 * SECOND, LEAST_RATE);
        let mut buffered = 0;
        for millis in (0..3_600_000).step_by(100) {
            let now = start + Duration::from_millis(millis);
            buffered -= buffered.min(rate / 10);
            let consumed = gives * millis / 1000;
            // A socket takes more when a third of it is free.
            let room = if buffer - buffered >= buffer.div_ceil(3) { buffer - buffered } else { 0 };
            write_progress.handle_written(room as usize, true, consumed, now);
            buffered += room;
            let due = write_progress.deadline().is_some_and(|due| now >= due);
            assert!(due || !write_progress.clone().is_too_slow(pending as usize, consumed, now), "it is due earlier");
            if write_progress.is_too_slow(pending as usize, consumed, now) {
                return Some(now - start);
            }
        }
        None
    }

    const MUCH: u64 = 1 << 20;

    #[test]
    fn peer_at_20_kilobytes_a_second_never_times_out() {
        for buffer in [1 << 10, 64 << 10, 1 << 20, 5 << 19, 4 << 20] {
            assert_eq!(time_to_timeout(buffer, 20_000, 0, MUCH), None, "after {buffer} bytes");
        }
    }

    #[test]
    fn timeout_of_a_stalled_peer_grows_with_system_buffers() {
        for (buffer, seconds) in [(1 << 10, 5), (1 << 20, 25), (4 << 20, 85), (100 << 20, 85)] {
            assert_eq!(time_to_timeout(buffer, 0, 0, 1), Some(seconds * SECOND), "after {buffer} bytes");
        }
    }

    #[test]
    fn a_peer_that_takes_a_trickle_is_given_up_unless_little_waits() {
        let trickle = |buffer, rate| time_to_timeout(buffer, rate, 0, MUCH);
        assert_eq!(trickle(100, 1_000), Some(10 * SECOND));
        assert_eq!(trickle(100, u64::from(LEAST_RATE) / 2 - 100), Some(10 * SECOND));
        assert!(trickle(4 << 20, 10).is_some_and(|by| by <= 170 * SECOND));
        assert_eq!(time_to_timeout(100, 1_000, 0, 50_000), None, "little is held for it");
    }

    #[test]
    fn sending_peer_may_stall_only_while_it_sends_much() {
        assert_eq!(time_to_timeout(1 << 20, 0, LEAST_RATE.into(), MUCH), None);
        assert_eq!(time_to_timeout(1 << 20, 0, 100, MUCH), Some(25 * SECOND), "PINGs are not much");
    }

    #[test]
    fn peer_at_exactly_the_least_rate_does_not_time_out() {
        let now = Instant::now();
        for (consumed, too_slow) in [(5_000, false), (4_999, true)] {
            let mut write_progress = WriteProgress::new(5 * SECOND, 2_000);
            write_progress.handle_written(0, true, 0, now);
            assert_eq!(
                write_progress.is_too_slow(1 << 20, consumed, now + 5 * SECOND),
                too_slow,
                "{consumed} bytes given"
            );
        }
        for (written, pending, too_slow) in [(10_000, 10_001, false), (9_999, 10_001, true), (9_999, 10_000, false)] {
            let mut write_progress = WriteProgress::new(5 * SECOND, 2_000);
            write_progress.handle_written(0, true, 0, now);
            write_progress.handle_written(written, true, 0, now + 9 * SECOND);
            let judged = write_progress.is_too_slow(pending, 0, now + 10 * SECOND);
            assert_eq!(judged, too_slow, "{written} bytes taken, {pending} wait");
        }
    }

    #[test]
    fn memory_of_a_wait_is_freed_when_nothing_waits() {
        let now = Instant::now();
        let mut write_progress = WriteProgress::new(5 * SECOND, 0);
        write_progress.handle_written(1, true, 0, now);
        write_progress.release();
        assert!(write_progress.is_stalled());
        assert_eq!(write_progress.stalled_by(), Some(now + 5 * SECOND));
        write_progress.handle_written(1, false, 0, now);
        write_progress.release();
        assert!(!write_progress.is_stalled() && write_progress.pending.is_none());
    }

    #[test]
    fn idle_socket_has_no_deadline() {
        let now = Instant::now();
        let mut write_progress = WriteProgress::new(5 * SECOND, 0);
        assert!(!write_progress.handle_written(100, false, 0, now));
        assert_eq!(write_progress.deadline(), None);
        assert!(!write_progress.handle_written(100, true, 0, now), "it may be the system's");
        assert!(write_progress.handle_written(1, true, 0, now + 4 * SECOND));
        assert_eq!(write_progress.deadline(), Some(now + 9 * SECOND));
        assert!(!write_progress.is_too_slow(1 << 30, 0, now + 8 * SECOND));
        assert!(write_progress.is_too_slow(1 << 30, 0, now + 9 * SECOND));
        write_progress.handle_written(1, false, 0, now + 9 * SECOND);
        assert_eq!(write_progress.deadline(), None);
    }
}
