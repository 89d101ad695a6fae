//! Enforcement of a minimum rate at which partially received packets must arrive.

use crate::keepalive::millis;
use std::time::{Duration, Instant};

/// Detector of partially received packets that arrive too slowly.
///
/// The bytes received in each window must reach the minimum rate. Otherwise the sender could occupy a connection and a
/// packet's buffer without making progress.
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
/// assert!(progress.is_too_slow(4_999, start + window), "5000 bytes should be required per window");
/// progress.complete();
/// assert_eq!(progress.deadline(), None);
/// ```
#[derive(Clone, Debug)]
pub struct ReadProgress {
    /// Interval in milliseconds over which the receive rate is measured.
    window: u32,
    /// Minimum number of bytes that must arrive within each window.
    least: u64,
    /// End of the current window, and the total number of bytes received before it. `None` while no packet is partially
    /// received.
    running: Option<(Instant, u64)>,
}

impl ReadProgress {
    /// Creates a check that requires `least_per_second` bytes per second, measured over each `window`.
    pub fn new(window: Duration, least_per_second: u32) -> Self {
        let window = millis(window);
        let least = u64::from(least_per_second).saturating_mul(window.into()) / 1000;
        Self { window, least, running: None }
    }

    /// Returns how long `bytes` take at the minimum rate, rounded to whole windows.
    pub fn time_for(&self, bytes: u64) -> Duration {
        let windows = bytes.checked_div(self.least).unwrap_or(u64::MAX);
        Duration::from_millis(u64::from(self.window).saturating_mul(windows))
    }

    /// Records that a packet has been received only partially. `total` is the number of all bytes received on the
    /// connection so far.
    pub fn waiting(&mut self, total: u64, now: Instant) {
        if self.running.is_none() {
            self.running = now.checked_add(Duration::from_millis(self.window.into())).map(|end| (end, total));
        }
    }

    /// Records that no packet is partially received. The next partial packet starts a new window.
    pub fn complete(&mut self) {
        self.running = None;
    }

    /// Returns the end of the current window, when [`is_too_slow`](Self::is_too_slow) must be called. Returns `None`
    /// while no packet is partially received.
    pub fn deadline(&self) -> Option<Instant> {
        self.running.map(|(end, _)| end)
    }

    /// Returns whether the window has ended with too few bytes received. If enough bytes were received, starts the next
    /// window.
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
    fn subsecond_window_requires_proportional_bytes() {
        let start = Instant::now();
        let mut progress = ReadProgress::new(SECOND / 2, 1000);
        progress.waiting(0, start);
        assert!(progress.is_too_slow(10, start + SECOND / 2));
    }

    #[test]
    fn only_trickling_packet_is_too_slow() {
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
