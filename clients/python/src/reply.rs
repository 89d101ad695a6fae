//! [`Reply`]: the future that a task of an event loop awaits, instead of an asyncio future. If the loop itself
//! completes it, the task continues immediately instead of in the next iteration of the loop.

use parking_lot::Mutex;
use pyo3::exceptions::PyStopIteration;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

pyo3::import_exception!(asyncio, CancelledError);
pyo3::import_exception!(asyncio, InvalidStateError);

thread_local! {
    /// Whether the current code was called by the event loop itself rather than by a task.
    static IS_CALLED_BY_LOOP: Cell<bool> = const { Cell::new(false) };
}

/// Calls `run`, recording whether the event loop itself or a task is the caller.
pub(crate) fn called_by_loop<T>(is_called_by_loop: bool, run: impl FnOnce() -> T) -> T {
    let before = IS_CALLED_BY_LOOP.replace(is_called_by_loop);
    let outcome = run();
    IS_CALLED_BY_LOOP.set(before);
    outcome
}

/// The outcome of an operation that a task awaits. Implements asyncio's future protocol for a single waiting task.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Reply {
    event_loop: Py<PyAny>,
    state: Mutex<State>,
    /// Value of `_asyncio_future_blocking`, an attribute by which asyncio recognizes a future that a task awaits.
    is_blocking: AtomicBool,
}

#[derive(Default)]
struct State {
    outcome: Option<Outcome>,
    /// Callbacks to call with the outcome, each with its context.
    callbacks: Vec<Callback>,
}

type Callback = (Py<PyAny>, Option<Py<PyAny>>);

enum Outcome {
    Value(Py<PyAny>),
    /// The exception of a failed operation. `None` after it was raised, because its traceback refers to the task's
    /// frame, which refers to this reply, and would form a reference cycle.
    Failed(Option<PyErr>),
    /// The operation was cancelled, with an optional message.
    Cancelled(Option<Py<PyAny>>),
}

impl Outcome {
    fn result(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Self::Value(value) => Ok(value.clone_ref(py)),
            Self::Failed(error) => {
                Err(error.take().unwrap_or_else(|| InvalidStateError::new_err("the exception was raised before")))
            }
            Self::Cancelled(None) => Err(CancelledError::new_err(())),
            Self::Cancelled(Some(message)) => Err(CancelledError::new_err((message.clone_ref(py),))),
        }
    }
}

#[pymethods]
impl Reply {
    #[new]
    fn new(event_loop: Py<PyAny>) -> Self {
        Self { event_loop, state: Mutex::default(), is_blocking: AtomicBool::new(false) }
    }

    fn __await__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Yields the reply itself until there is an outcome, so that the task waits.
    fn __next__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let py = slf.py();
        let outcome = slf.get().state.lock().outcome.as_mut().map(|outcome| outcome.result(py));
        match outcome {
            Some(result) => Err(PyStopIteration::new_err((result?,))),
            None => {
                // asyncio requires this attribute to be true on the object that a future yields.
                slf.get().is_blocking.store(true, Ordering::Relaxed);
                Ok(slf)
            }
        }
    }

    #[getter(_asyncio_future_blocking)]
    fn is_blocking(&self) -> bool {
        self.is_blocking.load(Ordering::Relaxed)
    }

    #[setter(_asyncio_future_blocking)]
    fn set_is_blocking(&self, is_blocking: bool) {
        self.is_blocking.store(is_blocking, Ordering::Relaxed);
    }

    fn get_loop(&self, py: Python<'_>) -> Py<PyAny> {
        self.event_loop.clone_ref(py)
    }

    fn done(&self) -> bool {
        self.state.lock().outcome.is_some()
    }

    fn cancelled(&self) -> bool {
        matches!(self.state.lock().outcome, Some(Outcome::Cancelled(_)))
    }

    fn result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let result = self.state.lock().outcome.as_mut().map(|outcome| outcome.result(py));
        result.unwrap_or_else(|| Err(InvalidStateError::new_err("there is no result yet")))
    }

    #[pyo3(signature = (callback, *, context = None))]
    fn add_done_callback(slf: Bound<'_, Self>, callback: Py<PyAny>, context: Option<Py<PyAny>>) -> PyResult<()> {
        let mut state = slf.get().state.lock();
        if state.outcome.is_none() {
            state.callbacks.push((callback, context));
            return Ok(());
        }
        // Release the lock first, because `call_soon` may run Python code that uses this object.
        drop(state);
        Self::call_soon(&slf, (callback, context))
    }

    /// Cancels the operation. Returns `False` if it has ended. Called by asyncio when the waiting task is cancelled.
    #[pyo3(signature = (msg = None))]
    fn cancel(slf: Bound<'_, Self>, msg: Option<Py<PyAny>>) -> PyResult<bool> {
        let Some(callbacks) = slf.get().end(Outcome::Cancelled(msg)) else { return Ok(false) };
        // Schedule the callbacks, because another task is running.
        callbacks.into_iter().try_for_each(|callback| Self::call_soon(&slf, callback))?;
        Ok(true)
    }

    /// Fails the operation, unless it has ended.
    fn set_exception(slf: Bound<'_, Self>, error: Bound<'_, PyAny>) -> PyResult<()> {
        Self::settle(&slf, Err(PyErr::from_value(error)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
        // Do not block on the lock: the garbage collector may run on the thread that holds it, which would deadlock.
        let Some(state) = self.state.try_lock() else { return Ok(()) };
        for (callback, context) in &state.callbacks {
            visit.call(callback)?;
            visit.call(context)?;
        }
        match &state.outcome {
            Some(Outcome::Value(value) | Outcome::Cancelled(Some(value))) => visit.call(value),
            _ => Ok(()),
        }
    }

    fn __clear__(&self) {
        let state = std::mem::take(&mut *self.state.lock());
        // Drop the state without the lock, because its destructors may run Python code that uses this object.
        drop(state);
    }
}

impl Reply {
    /// Sets the outcome of the operation and wakes the waiting task.
    pub(crate) fn settle(slf: &Bound<'_, Self>, outcome: PyResult<Bound<'_, PyAny>>) -> PyResult<()> {
        let outcome = match outcome {
            Ok(value) => Outcome::Value(value.unbind()),
            Err(error) => Outcome::Failed(Some(error)),
        };
        let Some(callbacks) = slf.get().end(outcome) else { return Ok(()) };
        for callback in callbacks {
            if slf.get().may_go_on(slf.py())? {
                Self::call(slf, callback)?;
            } else {
                Self::call_soon(slf, callback)?;
            }
        }
        Ok(())
    }

    /// Sets the outcome unless there already is one. Returns the callbacks to call.
    fn end(&self, outcome: Outcome) -> Option<Vec<Callback>> {
        let mut state = self.state.lock();
        if state.outcome.is_some() {
            // Release the lock first, because dropping the outcome may run Python code.
            drop(state);
            return None;
        }
        state.outcome = Some(outcome);
        Some(std::mem::take(&mut state.callbacks))
    }

    /// Returns whether the waiting task may be resumed immediately, which requires that the event loop is the caller
    /// and no other task is being resumed.
    fn may_go_on(&self, py: Python<'_>) -> PyResult<bool> {
        static CURRENT_TASK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if !IS_CALLED_BY_LOOP.get() {
            return Ok(false);
        }
        Ok(CURRENT_TASK.import(py, "asyncio", "current_task")?.call1((&self.event_loop,))?.is_none())
    }

    fn call(slf: &Bound<'_, Self>, (callback, context): Callback) -> PyResult<()> {
        let py = slf.py();
        called_by_loop(false, || match context {
            Some(context) => context.call_method1(py, "run", (callback, slf)),
            None => callback.call1(py, (slf,)),
        })
        .map(drop)
    }

    fn call_soon(slf: &Bound<'_, Self>, (callback, context): Callback) -> PyResult<()> {
        let py = slf.py();
        let options = PyDict::new(py);
        options.set_item("context", context)?;
        let event_loop = slf.get().event_loop.bind(py);
        event_loop.call_method("call_soon", (callback, slf), Some(&options)).map(drop)
    }
}
