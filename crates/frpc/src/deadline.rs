//! Deadlines, and how calls that a handler makes inherit them.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

thread_local! {
    /// The deadline of the call whose handler is being polled on this thread.
    static CURRENT: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The runtime's clock, which tests may stop.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The timeout of a call: its own, bounded by the deadline of the handler that makes it.
#[inline]
pub(crate) fn allowed(own: Option<Duration>) -> Option<Duration> {
    match CURRENT.get() {
        None => own,
        Some(deadline) => {
            let left = deadline.saturating_duration_since(now());
            Some(own.map_or(left, |own| own.min(left)))
        }
    }
}

/// Whether the call is made in a handler that has a deadline.
#[inline]
pub(crate) fn is_inherited() -> bool {
    CURRENT.get().is_some()
}

/// Runs a closure as part of a call with this deadline.
pub(crate) fn within<T>(deadline: Option<Instant>, run: impl FnOnce() -> T) -> T {
    /// Restores the previous deadline, also if `run` panics.
    struct Restore(Option<Instant>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(deadline));
    run()
}

/// A handler's future, polled as part of its call.
pub(crate) struct Within<F> {
    pub(crate) deadline: Option<Instant>,
    pub(crate) future: F,
}

impl<F: Future + Unpin> Future for Within<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let deadline = self.deadline;
        if deadline.is_none() {
            return Pin::new(&mut self.future).poll(context);
        }
        within(deadline, || Pin::new(&mut self.future).poll(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_no_longer_than_the_one_it_is_made_in() {
        const SECOND: Duration = Duration::from_secs(1);
        assert_eq!(allowed(Some(SECOND)), Some(SECOND));
        within(now().checked_add(SECOND), || {
            assert!(allowed(None).is_some_and(|left| left <= SECOND));
            assert!(allowed(Some(100 * SECOND)).is_some_and(|left| left <= SECOND));
            assert!(allowed(Some(SECOND / 100)).is_some_and(|left| left <= SECOND / 100));
        });
        assert_eq!(allowed(None), None);
    }
}
