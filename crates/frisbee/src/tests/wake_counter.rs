//! Tasks of tests, which count how often they are woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// Counts how often a task is woken.
#[derive(Default)]
pub(crate) struct WakeCounter(AtomicUsize);

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl WakeCounter {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A task, and what wakes it.
pub(crate) fn task() -> (Arc<WakeCounter>, Waker) {
    let woken = Arc::<WakeCounter>::default();
    (woken.clone(), woken.into())
}

/// A task whose waker runs a function whenever it is woken, and when its last clone is dropped: a task's drop may run
/// anything.
struct CallingWaker<F: Fn() + Send + Sync + 'static>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for CallingWaker<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

impl<F: Fn() + Send + Sync + 'static> Drop for CallingWaker<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A waker that runs `call` whenever it is woken, and when its last clone is dropped.
pub(crate) fn calling_waker(call: impl Fn() + Send + Sync + 'static) -> Waker {
    Arc::new(CallingWaker(call)).into()
}
