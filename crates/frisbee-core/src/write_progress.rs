//! Detection of peers that do not read, from byte counts and time.

use crate::keepalive::millis;
use std::time::{Duration, Instant};

/// Maximum number of unsent bytes that the system buffers for a socket, 4 MiB on Linux by default.
const SYSTEM_BUFFER_MAX: u32 = 4 << 20;

/// Granularity in bytes of the estimate of how much the operating system has buffered.
const UNIT: u32 = 64 * 1024;

/// Divisor of the write timeout: each [`UNIT`] of buffered bytes extends the timeout by a quarter. A socket becomes
/// writable only once a third of its buffer has been sent. With the default timeout of 5 s, a peer may thus read as
/// slowly as 17 KiB/s, slightly above the default minimum rate.
const PART: u64 = 4;

/// Tracker of whether a peer makes progress in accepting pending bytes.
///
/// A peer times out if it accepts no bytes for the write timeout. In addition, it must accept at least half of the
/// minimum rate while more bytes are pending than that rate transfers within the timeout. Both periods are longer if
/// the operating system may have buffered megabytes; see [`stall_timeout`](Self::stall_timeout).
///
/// A server stops reading while the client does not accept its packets. A client therefore also counts bytes *received*
/// from the server as progress, because the server resumes reading only after the client has read them.
#[derive(Clone, Debug)]
pub struct WriteProgress {
    /// Write timeout in milliseconds, at most 49 days. Stored compactly because every connection has one.
    timeout: u32,
    least_rate: u32,
    /// Number of bytes accepted by the transport, up to the maximum size of its send buffer.
    written: u32,
    /// Whether output is pending. The timeouts apply only then.
    waits: bool,
    /// Measurement of the write rate while output is pending. Boxed because most connections are idle. Kept allocated
    /// for reuse.
    pending: Option<Box<PendingWrite>>,
}

/// Measurement of how fast the peer accepts output while some is pending.
#[derive(Clone, Debug)]
struct PendingWrite {
    /// Time at which the transport last accepted bytes. The write timeout counts from it.
    stalled: Instant,
    /// Whether the transport has accepted no bytes in the last attempt.
    is_full: bool,
    /// Value of `consumed` at the time `stalled`. A larger value shows that the peer is still reading.
    consumed: u64,
    /// Start of the window over which the write rate is measured.
    window: Instant,
    /// Number of bytes that the transport has accepted in the current window.
    moved: u64,
    /// Value of `consumed` at the start of the current window.
    consumed_before: u64,
}

impl WriteProgress {
    /// Creates a progress check with a write timeout and a minimum rate in bytes per second.
    pub fn new(timeout: Duration, least_rate: u32) -> Self {
        Self { timeout: millis(timeout), least_rate, written: 0, waits: false, pending: None }
    }

    /// Records that the transport accepted `count` bytes, or 0 if it accepts none at present. `waits` states whether
    /// more bytes are pending. `consumed` is the total number of received bytes that count as progress.
    ///
    /// Returns whether the write proves that the peer reads. A write proves this only if the transport was full before
    /// it. Otherwise, the bytes may just fill the buffers of the transport.
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

    /// Slow path of [`handle_written`](Self::handle_written), taken if bytes are pending or were pending before.
    #[cold]
    fn handle_pending(&mut self, count: usize, waits: bool, consumed: u64, now: Instant) -> bool {
        let mut has_read = false;
        if waits && !self.waits {
            let is_full = count == 0;
            let started =
                PendingWrite { stalled: now, is_full, consumed, window: now, moved: 0, consumed_before: consumed };
            match &mut self.pending {
                Some(pending) => **pending = started,
                None => self.pending = Some(Box::new(started)),
            }
        } else if let Some(pending) = &mut self.pending {
            has_read = std::mem::replace(&mut pending.is_full, count == 0) && count > 0;
            if count > 0 {
                (pending.stalled, pending.consumed) = (now, consumed);
                pending.moved = pending.moved.saturating_add(count as u64);
            }
        }
        self.waits = waits;
        has_read
    }

    /// Returns whether bytes are pending because the transport does not accept them.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        self.waits
    }

    /// Frees the rate measurement if no bytes are pending.
    pub fn release(&mut self) {
        if !self.waits {
            self.pending = None;
        }
    }

    fn pending(&self) -> Option<&PendingWrite> {
        self.pending.as_deref().filter(|_| self.waits)
    }

    /// Returns how long the transport may accept no bytes: the write timeout, extended by four times its value for each
    /// MiB that the operating system may have buffered.
    pub fn stall_timeout(&self) -> Duration {
        let units = self.written / UNIT;
        let millis = u64::from(self.timeout);
        let more = (millis / PART).saturating_mul(units.into());
        Duration::from_millis(millis.saturating_add(more))
    }

    /// Returns when the write timeout expires if the transport accepts no more bytes. Returns `None` if no bytes are
    /// pending.
    pub fn stalled_by(&self) -> Option<Instant> {
        self.pending().and_then(|pending| pending.stalled.checked_add(self.stall_timeout()))
    }

    /// Returns when [`is_too_slow`](Self::is_too_slow) must be called. Returns `None` if no bytes are pending.
    pub fn deadline(&self) -> Option<Instant> {
        let twice = self.stall_timeout().saturating_mul(2);
        let window = self.pending().and_then(|pending| pending.window.checked_add(twice));
        crate::earlier(self.stalled_by(), window)
    }

    /// Returns whether the peer has accepted too few bytes while `pending` bytes remain. For `consumed`, see
    /// [`handle_written`](Self::handle_written).
    pub fn is_too_slow(&mut self, pending: usize, consumed: u64, now: Instant) -> bool {
        let stall_timeout = self.stall_timeout();
        // Half of the minimum rate over twice the timeout is the minimum rate over the timeout.
        let least = self.at_least_rate(stall_timeout);
        let little = self.at_least_rate(Duration::from_millis(self.timeout.into()));
        let Some(state) = self.pending.as_mut().filter(|_| self.waits) else { return false };
        // `stalled` is the time of the last accepted write. After the timeout, only received bytes show that the peer
        // still reads.
        if now.saturating_duration_since(state.stalled) >= stall_timeout {
            if consumed.saturating_sub(state.consumed) < (least / 2).max(1) {
                return true;
            }
            (state.stalled, state.consumed) = (now, consumed);
        }
        // Each accepted byte resets `stalled`, so a peer could stay connected by reading one byte at a time. Therefore
        // check the rate over a longer window too.
        if now.saturating_duration_since(state.window) >= stall_timeout.saturating_mul(2) {
            let moved = state.moved.saturating_add(consumed.saturating_sub(state.consumed_before));
            if moved < least && pending as u64 > little {
                return true;
            }
            (state.window, state.moved, state.consumed_before) = (now, 0, consumed);
        }
        false
    }

    /// Returns the number of bytes that the minimum rate transfers in `time`.
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

    /// Simulates a peer that reads `rate` bytes per second from a socket with a buffer of `buffer` bytes and sends
    /// `gives` bytes per second, while `pending` bytes always remain. Returns the time until the peer times out, or
    /// `None` if it does not within an hour.
    fn time_to_timeout(buffer: u64, rate: u64, gives: u64, pending: u64) -> Option<Duration> {
        let start = Instant::now();
        let mut write_progress = WriteProgress::new(5 * SECOND, LEAST_RATE);
        let mut buffered = 0;
        for millis in (0..3_600_000).step_by(100) {
            let now = start + Duration::from_millis(millis);
            buffered -= buffered.min(rate / 10);
            let consumed = gives * millis / 1000;
            // A socket becomes writable only when a third of its buffer is free.
            let room = if buffer - buffered >= buffer.div_ceil(3) { buffer - buffered } else { 0 };
            write_progress.handle_written(room as usize, true, consumed, now);
            buffered += room;
            let due = write_progress.deadline().is_some_and(|due| now >= due);
            assert!(
                due || !write_progress.clone().is_too_slow(pending as usize, consumed, now),
                "slow peer should not be reported before its check is due"
            );
            if write_progress.is_too_slow(pending as usize, consumed, now) {
                return Some(now - start);
            }
        }
        None
    }

    const MUCH: u64 = 1 << 20;

    #[test]
    fn peer_above_minimum_rate_never_times_out() {
        for buffer in [1 << 10, 64 << 10, 1 << 20, 5 << 19, 4 << 20] {
            assert_eq!(
                time_to_timeout(buffer, 20_000, 0, MUCH),
                None,
                "peer should not be too slow with a buffer of {buffer} bytes"
            );
        }
    }

    #[test]
    fn stall_timeout_grows_with_system_buffers() {
        for (buffer, seconds) in [(1 << 10, 5), (1 << 20, 25), (4 << 20, 85), (100 << 20, 85)] {
            assert_eq!(
                time_to_timeout(buffer, 0, 0, 1),
                Some(seconds * SECOND),
                "peer should be too slow with a buffer of {buffer} bytes"
            );
        }
    }

    #[test]
    fn trickling_peer_times_out_with_large_backlog() {
        let trickle = |buffer, rate| time_to_timeout(buffer, rate, 0, MUCH);
        assert_eq!(trickle(100, 1_000), Some(10 * SECOND));
        assert_eq!(trickle(100, u64::from(LEAST_RATE) / 2 - 100), Some(10 * SECOND));
        assert!(trickle(4 << 20, 10).is_some_and(|by| by <= 170 * SECOND));
        assert_eq!(
            time_to_timeout(100, 1_000, 0, 50_000),
            None,
            "peer should not be too slow, because few bytes are pending"
        );
    }

    #[test]
    fn stalled_peer_survives_only_while_sending() {
        assert_eq!(time_to_timeout(1 << 20, 0, LEAST_RATE.into(), MUCH), None);
        assert_eq!(time_to_timeout(1 << 20, 0, 100, MUCH), Some(25 * SECOND), "PINGs should not count as progress");
    }

    #[test]
    fn peer_at_exact_minimum_rate_survives() {
        let now = Instant::now();
        for (consumed, too_slow) in [(5_000, false), (4_999, true)] {
            let mut write_progress = WriteProgress::new(5 * SECOND, 2_000);
            write_progress.handle_written(0, true, 0, now);
            assert_eq!(
                write_progress.is_too_slow(1 << 20, consumed, now + 5 * SECOND),
                too_slow,
                "verdict differs after {consumed} consumed bytes"
            );
        }
        for (written, pending, too_slow) in [(10_000, 10_001, false), (9_999, 10_001, true), (9_999, 10_000, false)] {
            let mut write_progress = WriteProgress::new(5 * SECOND, 2_000);
            write_progress.handle_written(0, true, 0, now);
            write_progress.handle_written(written, true, 0, now + 9 * SECOND);
            let judged = write_progress.is_too_slow(pending, 0, now + 10 * SECOND);
            assert_eq!(judged, too_slow, "verdict differs after {written} written and {pending} pending bytes");
        }
    }

    /// Regression test: a vanished peer stayed connected while each PING was written in two parts.
    #[test]
    fn write_in_parts_does_not_prove_reading() {
        let now = Instant::now();
        let mut write_progress = WriteProgress::new(5 * SECOND, 0);
        for (count, waits, has_read) in
            [(5, true, false), (5, false, false), (0, true, false), (5, true, true), (5, false, false)]
        {
            assert_eq!(write_progress.handle_written(count, waits, 0, now), has_read, "{count}, {waits}");
        }
    }

    #[test]
    fn wait_memory_is_freed_when_flushed() {
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
        assert!(
            !write_progress.handle_written(100, true, 0, now),
            "bytes that the system may have buffered should not count as slow"
        );
        assert!(!write_progress.handle_written(0, true, 0, now));
        assert!(write_progress.handle_written(1, true, 0, now + 4 * SECOND));
        assert_eq!(write_progress.deadline(), Some(now + 9 * SECOND));
        assert!(!write_progress.is_too_slow(1 << 30, 0, now + 8 * SECOND));
        assert!(write_progress.is_too_slow(1 << 30, 0, now + 9 * SECOND));
        write_progress.handle_written(1, false, 0, now + 9 * SECOND);
        assert_eq!(write_progress.deadline(), None);
    }
}
