//! Wakers for tests, which count their wake-ups.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// A waker that counts wake-ups.
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

pub(crate) fn task() -> (Arc<WakeCounter>, Waker) {
    let woken = Arc::<WakeCounter>::default();
    (woken.clone(), woken.into())
}

/// A waker that calls a function when it is woken and when its last clone is dropped, because dropping a task may run
/// arbitrary code.
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

/// Returns a waker that calls `call` when it is woken and when its last clone is dropped.
pub(crate) fn calling_waker(call: impl Fn() + Send + Sync + 'static) -> Waker {
    Arc::new(CallingWaker(call)).into()
}
