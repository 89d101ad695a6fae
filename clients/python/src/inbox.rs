//! [`Inbox`]: what other threads leave for an event loop. They ring once for all that has come since the loop looked last,
//! and never wait for Python.

use parking_lot::Mutex;
use pyo3::prelude::*;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Work for the thread of the loop.
pub(crate) type Letter = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// The inbox of an event loop, which watches its file descriptor and opens it when something has come.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Inbox(Arc<Shared>);

/// The end at which letters are left.
#[derive(Clone)]
pub(crate) struct Sender(Arc<Shared>);

struct Shared {
    letters: Mutex<Vec<Letter>>,
    is_rung: AtomicBool,
    bell: UnixStream,
    ear: UnixStream,
}

#[pymethods]
impl Inbox {
    #[new]
    fn new() -> PyResult<Self> {
        let (bell, ear) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ear.set_nonblocking(true)?;
        let letters = Mutex::default();
        Ok(Self(Arc::new(Shared { letters, is_rung: AtomicBool::new(false), bell, ear })))
    }

    /// What the loop watches for reading.
    fn fileno(&self) -> i32 {
        self.0.ear.as_raw_fd()
    }

    /// Does what has been left.
    fn open(&self, py: Python<'_>) {
        // One byte stands for all letters. An error here says that there is none.
        let _ = (&self.0.ear).read(&mut [0; 16]);
        self.0.is_rung.store(false, Ordering::SeqCst);
        let letters = std::mem::take(&mut *self.0.letters.lock());
        for letter in letters {
            if let Err(error) = letter(py) {
                error.write_unraisable(py, None);
            }
        }
    }
}

impl Inbox {
    pub(crate) fn sender(&self) -> Sender {
        Sender(self.0.clone())
    }
}

impl Sender {
    /// Leaves a letter.
    pub(crate) fn leave(&self, letter: Letter) {
        self.0.letters.lock().push(letter);
        if !self.0.is_rung.swap(true, Ordering::SeqCst) {
            // A full pipe has rung already, and a loop that is gone hears nothing.
            let _ = (&self.0.bell).write(&[1]);
        }
    }
}

/// Ends a future of asyncio, unless it has been cancelled.
pub(crate) fn settle(future: &Bound<'_, PyAny>, outcome: PyResult<Bound<'_, PyAny>>) -> PyResult<()> {
    if future.call_method0("done")?.is_truthy()? {
        return Ok(());
    }
    match outcome {
        Ok(value) => future.call_method1("set_result", (value,)),
        Err(error) => future.call_method1("set_exception", (error.into_value(future.py()),)),
    }
    .map(drop)
}
