//! Locks, atomics and wake-ups. With `--cfg frisbee_loom`, the locks and atomics come from the model checker.

#[cfg(not(frisbee_loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(not(frisbee_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, fence};
use std::task::Waker;

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

/// Like [`wake`], but for many tasks. If a waker panics, the remaining tasks are still woken.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
            tracing::error!(target: "frisbee::connection", "a waker panicked; the others are woken");
        }
    }
}
