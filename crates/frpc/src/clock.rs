//! The clock of the runtime, and timers that can be polled by tasks of other runtimes.

use std::cell::Cell;
use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{self, EnterGuard, Handle, RuntimeFlavor};
use tokio::task;
use tokio::time::Sleep;

/// Returns the current time of the runtime's clock, which tests can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns the deadline of a timeout that starts now. Returns `None` if there is no timeout, or if the clock cannot
/// represent the deadline.
pub(crate) fn after(timeout: Option<Duration>) -> Option<Instant> {
    now().checked_add(timeout?)
}

/// Returns the time left until a deadline, if there is one.
pub(crate) fn left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(now()))
}

/// Number of entries of [`RUNTIMES_OF_TASKS`].
const REMEMBERED_TASKS: usize = 16;

thread_local! {
    /// Tasks that recently made calls on this thread, with their runtimes, indexed by the low bits of their ids. A
    /// lookup takes fewer instructions than [`Handle::try_current`], which clones an `Arc`.
    ///
    /// A task that makes a call within [`Handle::enter`] is recorded with the entered runtime. Tokio also considers
    /// this the current runtime, and would create the timers of the task there.
    static RUNTIMES_OF_TASKS: [Cell<Option<(task::Id, runtime::Id)>>; REMEMBERED_TASKS] =
        const { [const { Cell::new(None) }; REMEMBERED_TASKS] };
}

/// Returns whether the current thread is in a runtime other than `runtime`, and `runtime` is single-threaded. The
/// connections and timers of such a runtime make progress only during its `block_on`.
#[inline]
pub(crate) fn may_be_idle(runtime: &Handle) -> bool {
    if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
        return false;
    }
    let (task, runtime) = (task::try_id(), runtime.id());
    let is_known = |task| RUNTIMES_OF_TASKS.with(|tasks| tasks[index(task)].get() == Some((task, runtime)));
    !task.is_some_and(is_known) && is_elsewhere(task, runtime)
}

/// Returns whether the current thread is in a runtime other than `runtime`. If the caller is a task, caches its
/// runtime.
#[cold]
fn is_elsewhere(task: Option<task::Id>, runtime: runtime::Id) -> bool {
    let Ok(current) = Handle::try_current() else { return false };
    if let Some(task) = task {
        RUNTIMES_OF_TASKS.with(|tasks| tasks[index(task)].set(Some((task, current.id()))));
    }
    current.id() != runtime
}

/// Returns the index of a task in [`RUNTIMES_OF_TASKS`]. Hashing is the only way to get the number of a task id.
fn index(task: task::Id) -> usize {
    struct Number(u64);

    impl Hasher for Number {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            self.0 = bytes.first().copied().map_or(0, u64::from);
        }

        fn write_u64(&mut self, number: u64) {
            self.0 = number;
        }
    }

    let mut number = Number(0);
    task.hash(&mut number);
    number.0 as usize % REMEMBERED_TASKS
}

/// Enters the runtime that a timer should run on. This is `runtime`, unless it [may be idle](may_be_idle) and the
/// caller's runtime has timers. In that case, returns `None`.
fn enter(runtime: &Handle) -> Option<EnterGuard<'_>> {
    (!may_be_idle(runtime) || !has_timers()).then(|| runtime.enter())
}

/// Returns whether the current runtime has timers. The only way to detect this is to create a timer, which panics if it
/// has none.
#[cold]
fn has_timers() -> bool {
    catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok()
}

/// Creates a timer on `runtime`, which may be polled within another runtime, but not after `runtime` has shut down. If
/// `runtime` [may be idle](may_be_idle), the timer runs on the caller's runtime instead.
pub(crate) fn sleep_until(runtime: &Handle, at: Instant) -> Sleep {
    let _entered = enter(runtime);
    tokio::time::sleep_until(at.into())
}

/// Waits until `at` with a [timer](sleep_until) on `runtime`. Returns `false` if `runtime` shuts down first, which a
/// task of another runtime may outlive.
pub(crate) async fn wait_until(runtime: &Handle, at: Instant) -> bool {
    // Unconstrained, so that a task that has used up its cooperative budget still notices its deadline.
    let mut timer = pin!(task::unconstrained(sleep_until(runtime, at)));
    poll_fn(|context| {
        // Catch the panic of a timer after its runtime has shut down. There is no other way to detect the shutdown.
        let polled = catch_unwind(AssertUnwindSafe(|| timer.as_mut().poll(context)));
        polled.map_or(Poll::Ready(false), |polled| polled.map(|()| true))
    })
    .await
}

/// Error of [`within`]: the work did not complete in time.
#[derive(Debug)]
pub(crate) struct Unfinished {
    /// Whether the runtime of the timer has shut down, possibly before the deadline.
    pub(crate) has_runtime_ended: bool,
}

/// Awaits `work` until a deadline, if there is one. The [timer](wait_until) runs on `runtime`. Also fails if `runtime`
/// shuts down while there is a deadline.
pub(crate) async fn within<F: Future>(
    runtime: &Handle,
    until: Option<Instant>,
    work: F,
) -> Result<F::Output, Unfinished> {
    let Some(until) = until else { return Ok(work.await) };
    let (mut work, mut timer) = (pin!(work), pin!(wait_until(runtime, until)));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => timer.as_mut().poll(context).map(|is_due| Err(Unfinished { has_runtime_ended: !is_due })),
    })
    .await
}

/// Returns the processor time that the current thread has used. Unlike elapsed time, it does not depend on other
/// threads and processes.
#[cfg(all(test, unix))]
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("CPU time should be non-negative")
}
