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
