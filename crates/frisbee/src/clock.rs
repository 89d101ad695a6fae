//! Timers for connection drivers, on tokio or another executor.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// Maximum duration that timers support, 30 years. Tokio's timers treat it as forever.
pub(crate) const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// A timer that wakes one task. The deadline can be changed.
pub(crate) trait Timer {
    fn deadline(&self) -> Instant;

    fn reset(&mut self, deadline: Instant);

    /// Completes at the deadline. If several tasks poll the timer, only the first task to poll after a reset is woken.
    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

pub(crate) type TokioTimer = Pin<Box<Sleep>>;

/// Creates an expired timer on the current tokio runtime.
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

/// Returns the current time of the runtime's clock, which tests can pause.
#[inline]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
