//! The clock of a runtime, and timers of one runtime that another may poll.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::{Sleep, Timeout};

/// The runtime's clock, which tests may stop.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// A timer of this runtime, whichever runtime creates or polls it: a timer cannot be polled after its runtime.
pub(crate) fn sleep_until(runtime: &Handle, at: Instant) -> Sleep {
    let _entered = runtime.enter();
    tokio::time::sleep_until(at.into())
}

/// Waits by a [timer](sleep_until) of this runtime, for tasks of others, which may outlive it. Returns false if the runtime
/// has ended before.
pub(crate) async fn wait_until(runtime: &Handle, at: Instant) -> bool {
    // Work that has used up the budget of its task does not delay its deadline.
    let mut timer = pin!(tokio::task::unconstrained(sleep_until(runtime, at)));
    poll_fn(|context| {
        // A poll after the end of the runtime panics, and the end cannot be seen otherwise.
        let polled = catch_unwind(AssertUnwindSafe(|| timer.as_mut().poll(context)));
        polled.map_or(Poll::Ready(false), |polled| polled.map(|()| true))
    })
    .await
}

/// Bounds work by a [timer](sleep_until) of this runtime.
pub(crate) fn timeout_at<F: Future>(runtime: &Handle, at: Instant, work: F) -> Timeout<F> {
    let _entered = runtime.enter();
    tokio::time::timeout_at(at.into(), work)
}

/// Bounds work by a [timer](sleep_until) of this runtime.
pub(crate) fn timeout<F: Future>(runtime: &Handle, time: Duration, work: F) -> Timeout<F> {
    let _entered = runtime.enter();
    tokio::time::timeout(time, work)
}
