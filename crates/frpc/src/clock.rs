//! The clock of the runtime, and timers that can be polled by tasks of other runtimes.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{EnterGuard, Handle, RuntimeFlavor};
use tokio::time::{Sleep, Timeout};

/// Returns the current time of the runtime's clock, which tests can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns whether `runtime` is a single-threaded runtime other than the current one. The connections and timers of
/// such a runtime make progress only during `block_on`.
pub(crate) fn may_be_idle(runtime: &Handle) -> bool {
    runtime.runtime_flavor() == RuntimeFlavor::CurrentThread
        && Handle::try_current().is_ok_and(|current| current.id() != runtime.id())
}

/// Enters the runtime of a timer: `runtime`, or the caller's if `runtime` [may be idle](may_be_idle).
fn enter(runtime: &Handle) -> Option<EnterGuard<'_>> {
    (!may_be_idle(runtime)).then(|| runtime.enter())
}

/// Creates a timer on `runtime`, even if it is created or polled within another runtime. It must not be polled after
/// `runtime` has shut down. If `runtime` [may be idle](may_be_idle), the timer runs on the caller's runtime.
pub(crate) fn sleep_until(runtime: &Handle, at: Instant) -> Sleep {
    let _entered = enter(runtime);
    tokio::time::sleep_until(at.into())
}

/// Waits until `at` with a [timer](sleep_until) on `runtime`. Returns `false` if the runtime has shut down, for tasks
/// that may outlive it.
pub(crate) async fn wait_until(runtime: &Handle, at: Instant) -> bool {
    // Exempt from the cooperative budget, so that a task that has used its budget still notices its deadline.
    let mut timer = pin!(tokio::task::unconstrained(sleep_until(runtime, at)));
    poll_fn(|context| {
        // Catch the panic of a timer whose runtime has shut down. There is no other way to detect the shutdown.
        let polled = catch_unwind(AssertUnwindSafe(|| timer.as_mut().poll(context)));
        polled.map_or(Poll::Ready(false), |polled| polled.map(|()| true))
    })
    .await
}

/// Requires `work` to complete before `at`, using a [timer](sleep_until) on `runtime`.
pub(crate) fn timeout_at<F: Future>(runtime: &Handle, at: Instant, work: F) -> Timeout<F> {
    let _entered = enter(runtime);
    tokio::time::timeout_at(at.into(), work)
}

/// Requires `work` to complete within `time`, using a [timer](sleep_until) on `runtime`.
pub(crate) fn timeout<F: Future>(runtime: &Handle, time: Duration, work: F) -> Timeout<F> {
    let _entered = enter(runtime);
    tokio::time::timeout(time, work)
}
