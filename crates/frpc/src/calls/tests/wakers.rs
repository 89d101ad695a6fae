//! Wakers for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Wake;

/// A waker that panics when it is woken.
pub(crate) struct Broken;

impl Wake for Broken {
    fn wake(self: Arc<Self>) {
        panic!("on purpose")
    }
}

/// A waker that counts its wake-ups.
#[derive(Default)]
pub(crate) struct Counted(pub(crate) AtomicU64);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
