//! The runtime's clock, which tests can pause.

use frisbee::Config;
use std::time::{Duration, Instant};

/// A duration longer than any connection lasts, but representable by the clock.
pub(crate) const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Returns the current time of the runtime.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns `start` plus `time`, or an instant decades in the future if the sum overflows.
pub(crate) fn after(start: Instant, time: Duration) -> Instant {
    start.checked_add(time).unwrap_or_else(|| start + FAR)
}

/// Number of requests between two reads of the clock in a [`Turn`], as on native connections.
const REQUESTS_PER_LOOK: usize = 32;

/// Limits how long a busy connection may run before other connections of its thread; see [`Config::turn_max`].
pub(crate) struct Turn {
    end: Instant,
    requests: usize,
    /// Whether the time was used up when it was last checked.
    pub(crate) is_over: bool,
}

impl Turn {
    pub(crate) fn new(start: Instant, config: &Config) -> Self {
        Self { end: after(start, config.turn_max), requests: 0, is_over: false }
    }

    /// Counts a request. Returns whether other connections should run before it is handled.
    #[inline]
    pub(crate) fn ends_before_next(&mut self) -> bool {
        self.requests += 1;
        if self.requests.is_multiple_of(REQUESTS_PER_LOOK) {
            self.is_over = now() >= self.end;
        }
        self.is_over
    }
}

/// Returns the processor time that the current thread has used. Unlike elapsed time, it does not depend on other
/// threads and processes.
#[cfg(all(test, unix, feature = "http"))]
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("CPU time should be non-negative")
}
