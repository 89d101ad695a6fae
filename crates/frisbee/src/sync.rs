//! Locks, atomics and wake-ups. With `--cfg frisbee_loom`, the locks and atomics come from the model checker.

#[cfg(not(frisbee_loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
#[cfg(not(frisbee_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, fence};
use std::task::{Context, Wake, Waker};

#[cfg(frisbee_loom)]
pub(crate) use loom::sync::{
    MutexGuard,
    atomic::{AtomicBool, AtomicIsize, AtomicUsize, fence},
};

/// A mutex that cannot be poisoned, like parking_lot's.
#[cfg(frisbee_loom)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(frisbee_loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("lock should not be poisoned by the model checker")
    }
}

#[cfg(frisbee_loom)]
impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Wakes a task. Must be called without holding a lock, because a waker may run arbitrary code.
pub(crate) fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}

/// Wakes tasks. If a waker panics, the others are still woken. Must be called without holding a lock, because a waker
/// may run arbitrary code.
///
/// ```
/// use std::task::Waker;
///
/// frisbee::rpc::wake_all([Waker::noop().clone()]);
/// ```
pub fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    let mut wakers = wakers.into_iter();
    while catch_unwind(AssertUnwindSafe(|| wakers.by_ref().for_each(Waker::wake))).is_err() {
        tracing::error!(target: "frisbee::connection", "a waker panicked; the others are woken");
    }
}

/// Waits for an event that wakes several tasks, and catches panics of this task's waker. Otherwise, a panic would end
/// the task that triggers the event, and the other waiting tasks would not be woken.
///
/// # Cancel safety
/// As that of `work`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let changed = tokio::sync::Notify::new();
/// changed.notify_one();
/// frisbee::rpc::with_guarded_waker(changed.notified()).await;
/// # }
/// ```
pub async fn with_guarded_waker<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let waker = Arc::new(GuardedWaker(context.waker().clone())).into();
        work.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}

/// A waker that catches panics of the wrapped waker.
struct GuardedWaker(Waker);

impl Wake for GuardedWaker {
    fn wake(self: Arc<Self>) {
        wake_all([self.0.clone()]);
    }
}
