//! Protects objects that were created before a fork and must not be used in the child: connections, pollers and
//! threads.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of forks that lie between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Identifies the process that created an object, to detect its use after a fork.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation(u64);

impl Generation {
    pub(crate) fn current() -> Self {
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Fails if this process was forked after the object had been created.
    pub(crate) fn check(self) -> PyResult<()> {
        // Relaxed, because the counter changes only in a fork, when the child has a single thread.
        if self.0 == FORKS.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err("it was made before this process was forked: connect after the fork"))
    }
}

/// A value that a forked child process must neither use nor drop, because its tasks do not exist there and may have
/// held its locks.
pub(crate) struct Forkable<T> {
    /// The wrapped value, which a child process must not drop. `None` only during drop.
    value: Option<T>,
    made: Generation,
}

impl<T> Forkable<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), made: Generation::current() }
    }

    pub(crate) fn get(&self) -> PyResult<&T> {
        self.made.check()?;
        Ok(self.inherited())
    }

    pub(crate) fn get_mut(&mut self) -> PyResult<&mut T> {
        self.made.check()?;
        Ok(self.value.as_mut().expect(EXISTS))
    }

    /// Returns the value even in a forked child process.
    pub(crate) fn inherited(&self) -> &T {
        self.value.as_ref().expect(EXISTS)
    }

    /// Takes the value out to end it in `drop` of its owner. In a forked child process, leaks it.
    pub(crate) fn take(&mut self) -> Option<T> {
        let value = self.value.take();
        if self.made.check().is_err() {
            std::mem::forget(value);
            return None;
        }
        value
    }
}

const EXISTS: &str = "value should exist until drop";

impl<T> Drop for Forkable<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Records that this process has just been forked. Called in the child.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
