//! [`RunningFunctions`]: the functions of a server that run. Their `user` pointers may be freed once the server has
//! stopped, so its end waits for them, and none begins after it.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// How many functions run, and whether none may begin.
#[derive(Default)]
pub(crate) struct RunningFunctions {
    /// `ENDED | count`.
    state: AtomicUsize,
    /// The last one has returned, after the end.
    are_over: Notify,
}

const ENDED: usize = 1 << (usize::BITS - 1);

/// A function that runs.
pub(crate) struct RunningGuard<'a>(&'a RunningFunctions);

impl RunningFunctions {
    /// Counts a function; `None` after the end.
    pub(crate) fn begin(&self) -> Option<RunningGuard<'_>> {
        let before = self.state.fetch_add(1, Ordering::Acquire);
        let guard = RunningGuard(self);
        (before & ENDED == 0).then_some(guard)
    }

    /// Lets none begin, and waits for those that run.
    pub(crate) async fn end(&self) {
        let mut are_over = pin!(self.are_over.notified());
        are_over.as_mut().enable();
        if self.state.fetch_or(ENDED, Ordering::AcqRel) & !ENDED > 0 {
            are_over.await;
        }
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
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
    fn end_waits_for_running_functions_and_admits_none() {
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
