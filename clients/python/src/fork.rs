//! Objects that were made before a fork and must not be used in the child: connections, pollers and threads.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many forks lie between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The process in which an object was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation(u64);

impl Generation {
    pub(crate) fn current() -> Self {
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Fails in a process that was forked afterwards.
    pub(crate) fn check(self) -> PyResult<()> {
        if self.0 == FORKS.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err("it was made before this process was forked: connect after the fork"))
    }
}

/// Says that this process has just been forked.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
