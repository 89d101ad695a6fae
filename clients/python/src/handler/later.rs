//! Python functions that complete later: coroutines and asynchronous generators in an event loop, and functions in other
//! processes. `handler.rs` calls those that complete on their thread.

use super::{Call, CallerEncoding, Function, Variables, attached, ending};
use crate::buffer::introduce_thread;
use crate::inbox::Sender;
use crate::payload::{Encoding, Payload};
use frpc::{Response, Status};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

/// Returns the status of calls whose event loop has been closed.
fn loop_closed() -> Status {
    Status::unavailable("the event loop of the handler is closed")
}

/// Outcome of a coroutine, or of one step of an asynchronous generator, where `None` is the end of the generator.
type Outcome = Result<Option<Payload>, Status>;

/// The asyncio task of a call, once it has started. It is cancelled together with the call.
type TaskSlot = Arc<Mutex<Option<Py<PyAny>>>>;

/// Python object that receives the outcome of a coroutine. If it is dropped without an outcome, the call fails.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Completion {
    function: Arc<Function>,
    spoken: CallerEncoding,
    /// Whether the coroutine is one step of a generator, for which `StopAsyncIteration` means the end.
    is_step: bool,
    reply: Mutex<Option<oneshot::Sender<Outcome>>>,
    task: TaskSlot,
}

#[pymethods]
impl Completion {
    /// Sets the asyncio task of the coroutine, which is cancelled together with the call.
    fn set_task(&self, task: Py<PyAny>) {
        // Drop the previous task without the lock, because that may run Python code.
        let before = self.task.lock().replace(task);
        drop(before);
    }

    /// Completes the call with the value that the coroutine returned.
    fn finish(&self, value: &Bound<'_, PyAny>) {
        self.end(self.function.reply(value, self.spoken.get()).map(Some));
    }

    /// Completes the call with the exception that the coroutine raised.
    fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        if self.is_step && error.is_instance_of::<PyStopAsyncIteration>() {
            return self.end(Ok(None));
        }
        self.end(Err(self.function.raised(py, &PyErr::from_value(error.clone()))));
    }
}

impl Completion {
    fn end(&self, outcome: Outcome) {
        let task = self.task.lock().take();
        drop(task);
        if let Some(reply) = self.reply.lock().take() {
            // The send fails only if the call has been cancelled.
            let _ = reply.send(outcome);
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        // Return if the call was cancelled: nobody receives a reply, and the exception need not be logged.
        let Some(reply) = self.reply.lock().take().filter(|reply| !reply.is_closed()) else { return };
        introduce_thread();
        let error = PyRuntimeError::new_err("the handler ended without a reply");
        // Without an interpreter, the exception cannot be logged.
        let status = Python::try_attach(|py| self.function.raised(py, &error));
        let _ = reply.send(Err(status.unwrap_or_else(ending)));
    }
}

/// Guard that cancels the asyncio task of a call when the call is cancelled.
struct Guard {
    sender: Sender,
    task: TaskSlot,
    is_over: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let task = self.task.clone();
        self.sender.leave(Box::new(move |py| {
            // Call Python code without holding the lock.
            let task = task.lock().as_ref().map(|task| task.clone_ref(py));
            task.map_or(Ok(()), |task| task.call_method0(py, "cancel").map(drop))
        }));
    }
}

/// Runs an awaitable in an event loop and waits for its outcome. `make` creates the awaitable, and returns it with the
/// context variables in which it runs. The Python callable `begin` creates a task from both and the completion.
async fn run_awaitable(
    function: Arc<Function>,
    sender: &Sender,
    begin: Arc<Py<PyAny>>,
    spoken: CallerEncoding,
    is_step: bool,
    task: TaskSlot,
    make: impl for<'py> FnOnce(Python<'py>, &Function) -> Result<(Bound<'py, PyAny>, Py<PyAny>), Status> + Send + 'static,
) -> Outcome {
    let (reply, replied) = oneshot::channel();
    let mut guard = Guard { sender: sender.clone(), task: task.clone(), is_over: false };
    sender.leave(Box::new(move |py| {
        if reply.is_closed() {
            return Ok(()); // The call was cancelled before the awaitable was created.
        }
        let made = make(py, &function);
        let completion = Completion { function, spoken, is_step, reply: Mutex::new(Some(reply)), task };
        match made {
            Ok((awaitable, variables)) => begin.call1(py, (awaitable, Py::new(py, completion)?, variables)).map(drop),
            Err(status) => {
                completion.end(Err(status));
                Ok(())
            }
        }
    }));
    let outcome = replied.await;
    // Set the flag only after the reply, so that dropping this future earlier cancels the task.
    guard.is_over = true;
    outcome.unwrap_or_else(|_| Err(loop_closed()))
}

/// Calls a coroutine function in an event loop.
pub(crate) async fn run_in_loop(
    function: Arc<Function>,
    sender: Sender,
    begin: Arc<Py<PyAny>>,
    call: Call,
) -> Result<Response<Payload>, Status> {
    let spoken = call.spoken();
    let outcome = run_awaitable(function, &sender, begin, spoken, false, Arc::default(), |py, function| {
        let variables = function.variables(py)?;
        Ok((function.start(py, &variables, call)?, variables.of_task(py)))
    });
    single(outcome.await)
}

/// Returns the response of a method that has a single reply.
fn single(outcome: Outcome) -> Result<Response<Payload>, Status> {
    outcome?.map(Response::new).ok_or_else(|| Status::internal("the handler ended without a reply"))
}

/// Guard that cancels the Python task of a call when dropped.
struct CancelOnDrop {
    task: TaskSlot,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(task) = self.task.lock().take() else { return };
        introduce_thread();
        // Without an interpreter, there is nothing to cancel.
        Python::try_attach(|py| {
            if let Err(error) = task.call_method0(py, "cancel") {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Calls a function that completes outside of this thread. Its first argument is a completion object, and it returns an
/// object by which it can be cancelled.
pub(crate) async fn run_elsewhere(function: Arc<Function>, call: Call) -> Result<Response<Payload>, Status> {
    let (reply, replied) = oneshot::channel();
    let task = Arc::new(Mutex::new(None));
    // Create the guard before calling the function, so that dropping this future always cancels the task.
    let abandon = CancelOnDrop { task: task.clone() };
    attached(&function, |py| {
        let spoken = call.spoken();
        let arguments = function.handler_arguments(py, call.handler_arguments)?;
        let reply = Mutex::new(Some(reply));
        let completion = Completion { function: function.clone(), spoken, is_step: false, reply, task: task.clone() };
        let handler_arguments = Py::new(py, completion).and_then(|completion| {
            let first = completion.into_bound(py).into_any();
            PyTuple::new(py, std::iter::once(first).chain(arguments.iter()).collect::<Vec<_>>())
        });
        let handler_arguments = handler_arguments.map_err(|error| function.raised(py, &error))?;
        let started = function.invoke(&function.variables(py)?, &handler_arguments, None)?;
        *task.lock() = Some(started.unbind());
        Ok(())
    })?;
    let outcome = replied.await;
    // After a reply this does nothing, because the completion has taken the task out of the guard's slot.
    drop(abandon);
    single(outcome.unwrap_or_else(|_| Err(ending())))
}

/// Messages of an asynchronous Python generator, each of which is requested when the caller has space for it.
pub(crate) struct AsyncGenerated {
    pub(crate) function: Arc<Function>,
    pub(crate) sender: Sender,
    pub(crate) begin: Arc<Py<PyAny>>,
    /// Encoding that the caller uses. Set once the function has been called.
    spoken: Arc<OnceLock<Encoding>>,
    generator: Arc<Mutex<Option<Arc<OpenGenerator>>>>,
    /// The asyncio task of the generator's current step.
    task: TaskSlot,
}

/// An asynchronous generator with the context variables of its call.
struct OpenGenerator {
    generator: Py<PyAny>,
    variables: Variables,
}

impl AsyncGenerated {
    /// Calls the function and returns a stream of the messages of its generator.
    pub(crate) fn messages(
        function: Arc<Function>,
        sender: Sender,
        begin: Arc<Py<PyAny>>,
        call: Call,
    ) -> impl futures_core::Stream<Item = Result<Payload, Status>> + Send + 'static {
        let spoken = match call.spoken() {
            CallerEncoding::Known(encoding) => Arc::new(OnceLock::from(encoding)),
            CallerEncoding::Of(spoken) => spoken,
        };
        let this = Self { function, sender, begin, spoken, generator: Arc::default(), task: Arc::default() };
        GeneratorStream { state: Some((this, Some(call))), step: None }
    }

    /// Waits for the generator's next message. Returns `None` at the end.
    async fn next(&self, first: Option<Call>) -> Outcome {
        let (function, begin, generator) = (self.function.clone(), self.begin.clone(), self.generator.clone());
        let spoken = CallerEncoding::Of(self.spoken.clone());
        run_awaitable(function, &self.sender, begin, spoken, true, self.task.clone(), move |py, function| {
            if let Some(call) = first {
                let variables = function.variables(py)?;
                let made = function.start(py, &variables, call)?.unbind();
                *generator.lock() = Some(Arc::new(OpenGenerator { generator: made, variables }));
            }
            // Clone the reference, so that Python code runs without the lock.
            let open = generator.lock().clone();
            let open = open.ok_or_else(|| Status::cancelled("the generator is closed"))?;
            let step = open.generator.bind(py).getattr(intern!(py, "__anext__"));
            let next = step.and_then(|step| open.variables.run(py, [step], None));
            Ok((next.map_err(|error| function.raised(py, &error))?, open.variables.of_task(py)))
        })
        .await
    }
}

impl Drop for AsyncGenerated {
    fn drop(&mut self) {
        let (generator, begin, sender) = (self.generator.clone(), self.begin.clone(), self.sender.clone());
        let (method, task) = (self.function.endpoint.method, self.task.clone());
        sender.leave(Box::new(move |py| {
            let Some(open) = generator.lock().take() else { return Ok(()) };
            // Only generators have an `aclose` method.
            let Some(close) = open.generator.bind(py).getattr_opt("aclose")? else { return Ok(()) };
            // Wait for a cancelled step that may still be running, because a running generator cannot be closed.
            let running = task.lock().take();
            begin.call1(py, (close, method.to_string(), open.variables.of_task(py), running)).map(drop)
        }));
    }
}

type Step = Pin<Box<dyn Future<Output = (AsyncGenerated, Outcome)> + Send>>;

/// Stream of an asynchronous generator's messages.
struct GeneratorStream {
    state: Option<(AsyncGenerated, Option<Call>)>,
    step: Option<Step>,
}

impl futures_core::Stream for GeneratorStream {
    type Item = Result<Payload, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some((generated, first)) = self.state.take() {
            self.step = Some(Box::pin(async move {
                let next = generated.next(first).await;
                (generated, next)
            }));
        }
        let Some(step) = &mut self.step else { return Poll::Ready(None) };
        let (generated, next) = ready!(step.as_mut().poll(context));
        self.step = None;
        Poll::Ready(match next {
            Ok(Some(payload)) => {
                self.state = Some((generated, None));
                Some(Ok(payload))
            }
            Ok(None) => None,
            Err(status) => Some(Err(status)),
        })
    }
}
