//! [`Inbox`]: queue of callbacks from other threads for an event loop. Senders wake the loop at most once before it
//! runs all queued callbacks, and never wait for Python.

use crate::fork::Forkable;
use crate::loop_runtime::LoopRuntime;
use crate::reply::called_by_loop;
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

/// A callback to be run on the thread of an event loop.
pub(crate) type LoopCallbackFn = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// Queue of callbacks for an event loop, which watches the inbox's file descriptor and runs the callbacks when it is
/// readable. Owned by the loop, so it is dropped when the loop is closed.
#[pyclass(frozen, weakref, module = "frisbee_rpc._native")]
pub(crate) struct Inbox {
    shared: Arc<Shared>,
    /// Weak reference to the event loop.
    event_loop: Py<PyAny>,
    /// Runtime that the event loop drives. Created with the first connection that the loop watches.
    loop_runtime: Mutex<Option<Arc<LoopRuntime>>>,
}

/// Sending end of an event loop's inbox.
#[derive(Clone)]
pub(crate) struct Sender(Arc<Shared>);

struct Shared {
    callbacks: Mutex<CallbackQueue>,
    is_rung: AtomicBool,
    bell: UnixStream,
    ear: UnixStream,
    /// Has no permits, and is closed with the event loop. A forked child process must not wake the waiting tasks.
    closed: Forkable<Semaphore>,
}

#[derive(Default)]
struct CallbackQueue {
    left: Vec<LoopCallbackFn>,
    /// Whether the event loop will check the queue without being woken.
    is_quiet: bool,
    /// Whether the event loop is closed. Callbacks are then dropped, so that their calls fail.
    is_closed: bool,
}

#[pymethods]
impl Inbox {
    /// Creates the inbox of an event loop, given by a weak reference to the loop.
    #[new]
    fn new(event_loop: Py<PyAny>) -> PyResult<Self> {
        let (bell, ear) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ear.set_nonblocking(true)?;
        let (callbacks, closed) = (Mutex::default(), Forkable::new(Semaphore::new(0)));
        let shared = Arc::new(Shared { callbacks, is_rung: AtomicBool::new(false), bell, ear, closed });
        Ok(Self { shared, event_loop, loop_runtime: Mutex::new(None) })
    }

    /// Returns the file descriptor that the event loop watches for reading.
    fn fileno(&self) -> i32 {
        self.shared.ear.as_raw_fd()
    }

    /// Runs the queued callbacks. The event loop calls it when the descriptor is readable.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        // One byte announces all callbacks. The read fails only if there is no byte.
        let _ = (&self.shared.ear).read(&mut [0; 16]);
        // Clear the flag after reading the byte and before taking the callbacks. Any other order could lose a wake-up.
        self.shared.is_rung.store(false, Ordering::SeqCst);
        let loop_runtime = self.loop_runtime.lock().clone();
        match loop_runtime {
            Some(loop_runtime) => loop_runtime.run_from_loop(py),
            None => called_by_loop(true, || self.sender().deliver(py)),
        }
    }
}

impl Inbox {
    pub(crate) fn sender(&self) -> Sender {
        Sender(self.shared.clone())
    }

    /// Returns the runtime that the event loop drives. Must be called on the thread of the loop.
    pub(crate) fn loop_runtime(&self, py: Python<'_>) -> PyResult<Arc<LoopRuntime>> {
        let mut loop_runtime = self.loop_runtime.lock();
        if let Some(loop_runtime) = &*loop_runtime {
            return Ok(loop_runtime.clone());
        }
        let made = LoopRuntime::new(self.sender(), self.event_loop.clone_ref(py))?;
        *loop_runtime = Some(made.clone());
        Ok(made)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut callbacks = self.shared.callbacks.lock();
        callbacks.is_closed = true;
        let left = callbacks.take();
        drop(callbacks);
        // Drop the remaining callbacks without the lock, because that may queue further ones.
        drop(left);
        if let Ok(closed) = self.shared.closed.get() {
            closed.close();
        }
        if let Some(loop_runtime) = self.loop_runtime.get_mut() {
            loop_runtime.close();
        }
    }
}

impl CallbackQueue {
    fn take(&mut self) -> Vec<LoopCallbackFn> {
        // Clear the flag, so that callbacks queued later wake the event loop again.
        self.is_quiet = false;
        std::mem::take(&mut self.left)
    }
}

impl Sender {
    /// Queues a callback for the event loop, and wakes the loop if necessary. If the loop is closed, drops the
    /// callback.
    pub(crate) fn leave(&self, callback: LoopCallbackFn) {
        let mut callbacks = self.0.callbacks.lock();
        if callbacks.is_closed {
            // Release the lock first, because dropping the callback may run Python code that takes it again.
            drop(callbacks);
            drop(callback);
            return;
        }
        callbacks.left.push(callback);
        let is_quiet = callbacks.is_quiet;
        drop(callbacks);
        if !is_quiet {
            self.ring();
        }
    }

    /// Wakes the event loop, so that it runs the queued callbacks.
    pub(crate) fn ring(&self) {
        if !self.0.is_rung.swap(true, Ordering::SeqCst) {
            // Ignore errors, because a full pipe has already woken the loop and a closed loop must not be woken.
            let _ = (&self.0.bell).write(&[1]);
        }
    }

    /// Runs work until it has ended or the event loop is closed.
    pub(crate) async fn until_closed(self, work: impl Future<Output = ()>) {
        tokio::select! {
            () = work => {}
            // Fails when the loop is closed.
            _ = self.0.closed.inherited().acquire() => {}
        }
    }

    /// Suppresses wake-ups of the event loop until the queued callbacks have run.
    pub(crate) fn suppress_wakeups(&self) {
        self.0.callbacks.lock().is_quiet = true;
    }

    /// Returns the number of queued callbacks.
    pub(crate) fn waiting(&self) -> usize {
        self.0.callbacks.lock().left.len()
    }

    /// Runs the queued callbacks on the thread of the event loop. Returns an exception that must exit the program, if
    /// one was raised.
    pub(crate) fn deliver(&self, py: Python<'_>) -> PyResult<()> {
        // Take the callbacks out of the lock, because a callback may queue another one.
        let left = self.0.callbacks.lock().take();
        let mut ending = Ok(());
        for callback in left {
            let Err(error) = callback(py) else { continue };
            if error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PySystemExit>(py) {
                // Run the remaining callbacks before raising, because asyncio tasks wait for them.
                ending = Err(error);
            } else {
                error.write_unraisable(py, None);
            }
        }
        ending
    }
}
