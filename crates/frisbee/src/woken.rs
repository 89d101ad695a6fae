//! Tasks of tests, which count how often they are woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// Counts how often a task is woken.
#[derive(Default)]
pub(crate) struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A task, and what wakes it.
pub(crate) fn task() -> (Arc<Woken>, Waker) {
    let woken = Arc::<Woken>::default();
    (woken.clone(), woken.into())
}
