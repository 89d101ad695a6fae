//! The runtime's clock, which tests may stop.

#[cfg(feature = "http")]
use std::time::Duration;
use std::time::Instant;

/// Longer than any connection lives, and short enough for the clock.
#[cfg(feature = "http")]
pub(crate) const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The present time of the runtime.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The end of a time from `start`; years from now if the time is longer than the clock can state.
#[cfg(feature = "http")]
pub(crate) fn after(start: Instant, time: Duration) -> Instant {
    start.checked_add(time).unwrap_or_else(|| start + FAR)
}
