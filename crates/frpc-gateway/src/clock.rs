//! The runtime's clock, which tests can pause.

#[cfg(feature = "http")]
use std::time::Duration;
use std::time::Instant;

/// A duration longer than any connection lasts, but representable by the clock.
#[cfg(feature = "http")]
pub(crate) const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Returns the current time of the runtime.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns `start` plus `time`, or an instant decades in the future if the sum overflows.
#[cfg(feature = "http")]
pub(crate) fn after(start: Instant, time: Duration) -> Instant {
    start.checked_add(time).unwrap_or_else(|| start + FAR)
}

/// Returns the processor time that the current thread has used. Unlike elapsed time, it does not depend on other
/// threads and processes.
#[cfg(all(test, unix, feature = "http"))]
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("CPU time should be non-negative")
}
