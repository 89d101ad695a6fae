//! Python functions that complete later: coroutines and asynchronous generators in an event loop, and functions in
//! other processes. `handler.rs` calls those that complete on their thread.

use super::{Call, CallerEncoding, Function, attached, ending};
use crate::buffer::introduce_thread;
use crate::inbox::Sender;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::status;
use frpc::{Response, Status};
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// Maximum number of messages, besides the next one, that a generator may queue before the call requests them. A
/// generator that handles a cancellation of its task, for example by a timeout, may send another message immediately.
/// Without a limit, these messages could exhaust the memory while the caller does not read.
const EARLY_MESSAGES: usize = 16;

/// The outcome of a function, or the next message of an asynchronous generator, where `None` is its end.
type Outcome = Result<Option<Payload>, Status>;

/// State that a call shares with the Python code that runs for it.
#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    /// Outcomes that the call has not taken yet: more than one if a generator went on after its task was cancelled.
    outcomes: VecDeque<Outcome>,
    /// Waker of the call, which waits for an outcome.
    waker: Option<Waker>,
    /// Future that a generator awaits after each message, until the call requests the next one.
    wanted: Option<Py<Reply>>,
    /// Python object that can cancel the function: an asyncio task or a future.
    task: Option<Py<PyAny>>,
    /// Whether the last outcome has been set.
    is_complete: bool,
    /// Whether the call has ended. Further outcomes are dropped.
    is_over: bool,
}

impl Shared {
    /// Sets an outcome and wakes the call. The outcome is the last one unless it comes with the future of a generator.
    /// Returns false if the last outcome has been set before or the call has ended.
    fn set(&self, outcome: Outcome, wanted: Option<Py<Reply>>) -> bool {
        let mut state = self.0.lock();
        if state.is_complete || state.is_over {
            return false;
        }
        state.is_complete = wanted.is_none();
        state.outcomes.push_back(outcome);
        state.wanted = wanted;
        let task = if state.is_complete { state.task.take() } else { None };
        let waker = state.waker.take();
        // Release the lock first, because dropping the task may run Python code.
        drop(state);
        drop(task);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Polls for an outcome. `sender` resumes a generator that waits until its next message is requested.
    fn poll(self: &Arc<Self>, sender: Option<&Sender>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut state = self.0.lock();
        if let Some(outcome) = state.outcomes.pop_front() {
            return Poll::Ready(outcome);
        }
        state.waker = Some(context.waker().clone());
        let wanted = state.wanted.take();
        drop(state);
        if let Some((sender, wanted)) = sender.zip(wanted) {
            self.leave(sender, move |py, _| Reply::settle(wanted.bind(py), Ok(py.None().into_bound(py))));
        }
        Poll::Pending
    }

    /// Queues a callback for the event loop. The call fails if the loop is closed.
    fn leave(
        self: &Arc<Self>,
        sender: &Sender,
        callback: impl FnOnce(Python<'_>, Arc<Self>) -> PyResult<()> + Send + 'static,
    ) {
        let mut guard = FailIfDropped(Some(self.clone()));
        sender.leave(Box::new(move |py| guard.0.take().map_or(Ok(()), |shared| callback(py, shared))));
    }

    /// Ends the call. Returns whether the Python code may still be running.
    fn end(&self) -> bool {
        let mut state = self.0.lock();
        state.is_over = true;
        !state.is_complete
    }

    fn is_over(&self) -> bool {
        self.0.lock().is_over
    }

    /// Cancels the Python code, which may have ended.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        // Call Python code without holding the lock.
        let task = self.0.lock().task.take();
        task.map_or(Ok(()), |task| task.call_method0(py, "cancel").map(drop))
    }
}

/// Fails a call if the callback that owns this guard is dropped, because the event loop is closed.
struct FailIfDropped(Option<Arc<Shared>>);

impl Drop for FailIfDropped {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.set(Err(Status::unavailable("the event loop of the handler is closed")), None);
            // The task refers to the call, so that neither would be freed.
            let task = shared.0.lock().task.take();
            drop(task);
        }
    }
}

/// Python object that receives the outcome of a function. If it is dropped without an outcome, the call fails.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Completion {
    function: Arc<Function>,
    spoken: CallerEncoding,
    /// Whether the function produces messages with [`send`](Self::send), so that its result is only their end.
    is_generator: bool,
    shared: Arc<Shared>,
}

#[pymethods]
impl Completion {
    /// Sets the asyncio task of the function, which is cancelled together with the call.
    fn set_task(&self, task: Py<PyAny>) {
        let before = self.shared.0.lock().task.replace(task);
        // Drop the previous task without the lock, because that may run Python code.
        drop(before);
    }

    /// Sends a message of a generator. Completes `wanted` when the call requests the next one. Raises an exception if
    /// the call has ended, which may be due to the message.
    fn send(&self, py: Python<'_>, value: &Bound<'_, PyAny>, wanted: Py<Reply>) -> PyResult<()> {
        let waiting = self.shared.0.lock().outcomes.len();
        let status = match self.function.reply(value, self.spoken.get().copied()) {
            Ok(_) if waiting > EARLY_MESSAGES => Status::resource_exhausted(format!(
                "the caller has not requested {waiting} messages: a generator may handle at most {EARLY_MESSAGES} \
                 cancellations in a row"
            )),
            Ok(payload) => {
                if self.shared.set(Ok(Some(payload)), Some(wanted)) {
                    return Ok(());
                }
                Status::cancelled("the call has ended")
            }
            Err(status) => status,
        };
        let error = status::raised(py, &status);
        self.shared.set(Err(status), None);
        Err(error)
    }

    /// Completes the call with the value that the function returned.
    fn finish(&self, value: &Bound<'_, PyAny>) {
        let outcome = match self.is_generator {
            true => Ok(None),
            false => self.function.reply(value, self.spoken.get().copied()).map(Some),
        };
        self.shared.set(outcome, None);
    }

    /// Completes the call with the exception that the function raised.
    fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        if !self.shared.0.lock().is_complete {
            self.shared.set(Err(self.function.raised(py, &PyErr::from_value(error.clone()))), None);
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        let state = self.shared.0.lock();
        if state.is_complete || state.is_over {
            return;
        }
        drop(state);
        introduce_thread();
        let error = PyRuntimeError::new_err("the handler ended without a reply");
        // Without an interpreter, the exception cannot be logged.
        let status = Python::try_attach(|py| self.function.raised(py, &error));
        self.shared.set(Err(status.unwrap_or_else(ending)), None);
    }
}

/// A call of a function that runs in an event loop. Dropping it cancels the function.
struct LoopCall {
    shared: Arc<Shared>,
    sender: Sender,
}

impl LoopCall {
    /// Calls a function in an event loop. The Python callable `begin` creates a task for its result.
    fn start(function: Arc<Function>, sender: Sender, begin: Arc<Py<PyAny>>, call: Call, is_generator: bool) -> Self {
        let shared = Arc::new(Shared::default());
        shared.leave(&sender, move |py, shared| {
            if shared.is_over() {
                return Ok(()); // The call was cancelled before the function was called.
            }
            let spoken = call.spoken.clone();
            let made = function.variables(py).and_then(|variables| {
                let started = function.start(py, &variables, call)?;
                Ok((started, variables.0.clone_ref(py)))
            });
            let method = function.endpoint.method;
            match made {
                Ok((started, variables)) => {
                    let completion = Py::new(py, Completion { function, spoken, is_generator, shared })?;
                    let generator_of = is_generator.then(|| method.to_string());
                    begin.call1(py, (started, completion, variables, generator_of)).map(drop)
                }
                Err(status) => {
                    shared.set(Err(status), None);
                    Ok(())
                }
            }
        });
        Self { shared, sender }
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Outcome> {
        self.shared.poll(Some(&self.sender), context)
    }
}

impl Drop for LoopCall {
    fn drop(&mut self) {
        if self.shared.end() {
            self.shared.leave(&self.sender, |py, shared| shared.cancel(py));
        }
    }
}

/// Calls a coroutine function in an event loop.
pub(crate) async fn run_in_loop(
    function: Arc<Function>,
    sender: Sender,
    begin: Arc<Py<PyAny>>,
    call: Call,
) -> Result<Response<Payload>, Status> {
    let call = LoopCall::start(function, sender, begin, call, false);
    single(poll_fn(|context| call.poll(context)).await)
}

/// Returns the response of a method that has a single reply.
fn single(outcome: Outcome) -> Result<Response<Payload>, Status> {
    outcome?.map(Response::new).ok_or_else(|| Status::internal("the handler ended without a reply"))
}

/// Guard that cancels a function in another process when dropped.
struct CancelOnDrop(Arc<Shared>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if !self.0.end() {
            return;
        }
        introduce_thread();
        // Without an interpreter, there is nothing to cancel.
        Python::try_attach(|py| {
            if let Err(error) = self.0.cancel(py) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Calls a function that completes outside of this thread. Its first argument is a completion object, and it returns an
/// object by which it can be cancelled.
pub(crate) async fn run_elsewhere(function: Arc<Function>, call: Call) -> Result<Response<Payload>, Status> {
    // Create the guard before calling the function, so that dropping this future always cancels the function.
    let guard = CancelOnDrop(Arc::default());
    let shared = &guard.0;
    attached(&function, |py| {
        let spoken = call.spoken.clone();
        let arguments = function.arguments_of(py, call.input)?;
        let completion = Completion { function: function.clone(), spoken, is_generator: false, shared: shared.clone() };
        let handler_arguments = Py::new(py, completion).and_then(|completion| {
            let first = completion.into_bound(py).into_any();
            PyTuple::new(py, std::iter::once(first).chain(arguments.iter()).collect::<Vec<_>>())
        });
        let handler_arguments = handler_arguments.map_err(|error| function.raised(py, &error))?;
        let started = function.invoke(&function.variables(py)?, &handler_arguments, None)?;
        shared.0.lock().task = Some(started.unbind());
        Ok(())
    })?;
    single(poll_fn(|context| shared.poll(None, context)).await)
}

/// Messages of an asynchronous Python generator, each of which is requested when the caller has space for it.
/// `None` after the last one.
pub(crate) struct AsyncGenerated(Option<LoopCall>);

impl AsyncGenerated {
    /// Calls a function in an event loop, which returns its generator.
    pub(crate) fn new(function: Arc<Function>, sender: Sender, begin: Arc<Py<PyAny>>, call: Call) -> Self {
        Self(Some(LoopCall::start(function, sender, begin, call, true)))
    }
}

impl futures_core::Stream for AsyncGenerated {
    type Item = Result<Payload, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(call) = &self.0 else { return Poll::Ready(None) };
        let message = ready!(call.poll(context)).transpose();
        if !matches!(message, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(message)
    }
}
