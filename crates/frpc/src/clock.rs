//! The clock of a runtime, and timers that tasks of other runtimes may poll.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::{Sleep, Timeout};

/// Returns the current time of the runtime's clock, which tests may pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Creates a timer of `runtime`, even if another runtime creates or polls it. The timer must not be polled after
/// `runtime` has shut down.
pub(crate) fn sleep_until(runtime: &Handle, at: Instant) -> Sleep {
    let _entered = runtime.enter();
    tokio::time::sleep_until(at.into())
}

/// Waits with a [timer](sleep_until) of `runtime`, for tasks that may outlive it. Returns false if `runtime` has shut
/// down.
pub(crate) async fn wait_until(runtime: &Handle, at: Instant) -> bool {
    // A task that has used up its cooperative budget must still notice its deadline.
    let mut timer = pin!(tokio::task::unconstrained(sleep_until(runtime, at)));
    poll_fn(|context| {
        // Polling a timer panics after its runtime has shut down, which cannot be detected otherwise.
        let polled = catch_unwind(AssertUnwindSafe(|| timer.as_mut().poll(context)));
        polled.map_or(Poll::Ready(false), |polled| polled.map(|()| true))
    })
    .await
}

/// Limits `work` by a [timer](sleep_until) of `runtime`.
pub(crate) fn timeout_at<F: Future>(runtime: &Handle, at: Instant, work: F) -> Timeout<F> {
    let _entered = runtime.enter();
    tokio::time::timeout_at(at.into(), work)
}

/// Limits `work` by a [timer](sleep_until) of `runtime`.
pub(crate) fn timeout<F: Future>(runtime: &Handle, time: Duration, work: F) -> Timeout<F> {
    let _entered = runtime.enter();
    tokio::time::timeout(time, work)
}
