//! [`RunningFunctions`]: tracks the running C callbacks of a server or client. The `user` pointers of callbacks may be
//! freed once the server has stopped or the client was freed. Stopping and freeing therefore wait for running callbacks
//! and prevent new ones.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Number of running functions of a server or a client, and whether further ones may start.
#[derive(Default)]
pub(crate) struct RunningFunctions {
    /// Number of running functions, plus the bit [`ENDED`] once [`end`](Self::end) was called.
    state: AtomicUsize,
    /// Notified when the last running function returns after [`end`](Self::end) was called.
    are_over: Notify,
}

const ENDED: usize = 1 << (usize::BITS - 1);

/// Guard that counts a function as running until it is dropped.
pub(crate) struct RunningGuard<'a>(&'a RunningFunctions);

impl RunningFunctions {
    /// Counts a function as running. Returns `None` after [`end`](Self::end) was called.
    pub(crate) fn begin(&self) -> Option<RunningGuard<'_>> {
        // Increment the count first: either `end` sees this function, or this function sees `ENDED`.
        let before = self.state.fetch_add(1, Ordering::Acquire);
        // Create the guard even after `end`, because its drop reverts the increment.
        let guard = RunningGuard(self);
        (before & ENDED == 0).then_some(guard)
    }

    /// Prevents further functions from starting and waits for the running ones.
    pub(crate) async fn end(&self) {
        let mut are_over = pin!(self.are_over.notified());
        // Register before setting `ENDED`, so that the notification of the last function is not missed.
        are_over.as_mut().enable();
        if self.state.fetch_or(ENDED, Ordering::AcqRel) & !ENDED > 0 {
            are_over.await;
        }
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        // Notify only for the last function after `end`, because nothing waits before `end` is called.
        if self.0.state.fetch_sub(1, Ordering::AcqRel) == ENDED | 1 {
            self.0.are_over.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Waker};

    #[test]
    fn end_rejects_new_and_awaits_running_functions() {
        let functions = RunningFunctions::default();
        let (first, second) = (functions.begin().unwrap(), functions.begin().unwrap());
        let mut context = Context::from_waker(Waker::noop());
        let mut end = pin!(functions.end());
        assert!(end.as_mut().poll(&mut context).is_pending());
        assert!(functions.begin().is_none());
        drop(first);
        assert!(end.as_mut().poll(&mut context).is_pending());
        drop(second);
        assert!(end.as_mut().poll(&mut context).is_ready());
        assert!(functions.begin().is_none());
        assert!(pin!(functions.end()).poll(&mut context).is_ready());
    }
}
