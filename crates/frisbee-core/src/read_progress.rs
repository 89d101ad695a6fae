//! The least rate at which a packet must arrive once it has begun.

use crate::keepalive::millis;
use std::time::{Duration, Instant};

/// Watches that a packet which has begun to arrive keeps arriving.
///
/// In every window the bytes received must reach the least rate, otherwise the sender holds the connection, and what
/// has been buffered of the packet, without using it.
///
/// ```
/// use frisbee_core::ReadProgress;
/// use std::time::{Duration, Instant};
///
/// let (start, window) = (Instant::now(), Duration::from_secs(5));
/// let mut progress = ReadProgress::new(window, 1000);
/// assert_eq!(progress.time_for(10_000), 2 * window);
/// progress.waiting(0, start);
/// assert_eq!(progress.deadline(), Some(start + window));
/// assert!(progress.is_too_slow(4_999, start + window), "5000 bytes are required");
/// progress.complete();
/// assert_eq!(progress.deadline(), None);
/// ```
#[derive(Clone, Debug)]
pub struct ReadProgress {
    /// In milliseconds.
    window: u32,
    /// Bytes that must arrive in each window.
    least: u64,
    /// The running window: its end, and the total at its beginning. `None` between packets.
    running: Option<(Instant, u64)>,
}

impl ReadProgress {
    /// Requires `least_per_second` bytes per second, judged over each `window`.
    pub fn new(window: Duration, least_per_second: u32) -> Self {
        let window = millis(window);
        let least = u64::from(least_per_second).saturating_mul(window.into()) / 1000;
        Self { window, least, running: None }
    }

    /// How long so many bytes may take, in whole windows.
    pub fn time_for(&self, bytes: u64) -> Duration {
        let windows = bytes.checked_div(self.least).unwrap_or(u64::MAX);
        Duration::from_millis(u64::from(self.window).saturating_mul(windows))
    }

    /// Records that a packet is incomplete, `total` being all bytes received so far on the connection.
    pub fn waiting(&mut self, total: u64, now: Instant) {
        if self.running.is_none() {
            self.running = now.checked_add(Duration::from_millis(self.window.into())).map(|end| (end, total));
        }
    }

    /// Records that no packet is incomplete.
    pub fn complete(&mut self) {
        self.running = None;
    }

    /// When [`is_too_slow`](Self::is_too_slow) should be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.running.map(|(end, _)| end)
    }

    /// Whether a window has ended with too few bytes; begins the next one otherwise.
    pub fn is_too_slow(&mut self, total: u64, now: Instant) -> bool {
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
    fn a_window_of_less_than_a_second_asks_for_its_part() {
        let start = Instant::now();
        let mut progress = ReadProgress::new(SECOND / 2, 1000);
        progress.waiting(0, start);
        assert!(progress.is_too_slow(10, start + SECOND / 2));
    }

    #[test]
    fn a_packet_that_trickles_is_too_slow_and_one_that_flows_is_not() {
        let start = Instant::now();
        let mut progress = ReadProgress::new(5 * SECOND, 16 * 1024);
        progress.waiting(0, start);
        assert!(!progress.is_too_slow(10, start + 4 * SECOND));
        assert!(!progress.is_too_slow(80 * 1024, start + 5 * SECOND));
        assert!(progress.is_too_slow(80 * 1024 + 10, start + 10 * SECOND));
    }

    #[test]
    fn nothing_is_too_slow_between_packets() {
        let start = Instant::now();
        let mut progress = ReadProgress::new(5 * SECOND, 16 * 1024);
        progress.waiting(0, start);
        progress.complete();
        assert_eq!(progress.deadline(), None);
        assert!(!progress.is_too_slow(1, start + 60 * SECOND));
    }
}
