//! Locks and atomics that are replaced by those of the model checker with `--cfg frisbee_loom`.

#[cfg(not(frisbee_loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};
#[cfg(not(frisbee_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize};

#[cfg(frisbee_loom)]
pub(crate) use loom::sync::{
    MutexGuard,
    atomic::{AtomicBool, AtomicUsize},
};

/// A mutex without poisoning, like that of parking_lot.
#[cfg(frisbee_loom)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(frisbee_loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("lock is not poisoned")
    }
}

#[cfg(frisbee_loom)]
impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
