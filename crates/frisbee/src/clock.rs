//! A clock that can wake a driver: tokio's, or that of another executor.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// Maximum duration that the clock can add. Tokio's timers treat it as forever.
pub(crate) const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Wakes one task at a time that can be changed.
pub(crate) trait Timer {
    /// Returns the time at which the timer expires.
    fn deadline(&self) -> Instant;

    /// Changes the time at which the timer expires.
    fn reset(&mut self, deadline: Instant);

    /// Waits until the timer expires. Only the task that polls first after a reset needs to be woken.
    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// A tokio timer.
pub(crate) type TokioTimer = Pin<Box<Sleep>>;

/// Creates a timer of the current tokio runtime that has already expired.
pub(crate) fn tokio_timer() -> TokioTimer {
    Box::pin(tokio::time::sleep(Duration::ZERO))
}

impl Timer for TokioTimer {
    fn deadline(&self) -> Instant {
        Sleep::deadline(self).into_std()
    }

    fn reset(&mut self, deadline: Instant) {
        self.as_mut().reset(deadline.into());
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.as_mut().poll(context)
    }
}

/// Returns the time of the runtime's clock, which tests may pause.
#[inline]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
