//! A clock that can wake a driver: tokio's, or that of another executor.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// The longest duration that the clock can add: for tokio's timers it is for ever.
pub(crate) const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Wakes one task at a time that can be changed.
pub(crate) trait Timer {
    /// When it is due.
    fn deadline(&self) -> Instant;

    /// Makes it due at another time.
    fn reset(&mut self, deadline: Instant);

    /// Ready once it is due. Only the task that polls first after a reset need be woken.
    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// A timer of tokio's.
pub(crate) type TokioTimer = Pin<Box<Sleep>>;

/// A timer of the current tokio runtime's, due at once.
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

/// The runtime's clock, which tests may stop.
#[inline]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
