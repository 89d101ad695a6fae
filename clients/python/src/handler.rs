//! Python functions that serve methods: a request becomes the arguments of a function, and its result a reply.

mod later;

pub(crate) use later::{AsyncGenerated, Completion, run_elsewhere, run_in_loop};

use crate::buffer::introduce_thread;
use crate::client::Channel;
use crate::decode;
use crate::drive::in_handler;
use crate::encode;
use crate::inbox::Sender;
use crate::incoming::Incoming;
use crate::json;
use crate::payload::{Alternatives, Encoding, Payload};
use crate::proto;
use crate::reply::Reply;
use crate::schema::Endpoint;
use crate::status::{of_exception, shown};
use bytes::Bytes;
use frpc::{Metadata, Request, Response, Status, Streaming};
use frpc_dynamic::MessageDescriptor;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyIterator, PyTuple};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// A Python function that serves a method.
pub(crate) struct Function {
    pub(crate) endpoint: Endpoint,
    /// Message types of requests and replies.
    pub(crate) descriptors: (MessageDescriptor, MessageDescriptor),
    pub(crate) call: Py<PyAny>,
    /// Parameter that receives the context of the call, if the function has one.
    pub(crate) context: Option<ContextParameter>,
    /// Python callback that reports exceptions. Its arguments are the name of the method and the exception.
    pub(crate) report: Py<PyAny>,
    /// Whether callers see the texts of exceptions.
    pub(crate) shows_errors: bool,
    /// Permits for the threads in the server's pool.
    pub(crate) pool: Arc<Semaphore>,
    /// Whether the request and the reply contain [well-known types](Plans::has_well_known) with a JSON mapping that
    /// only frpc-dynamic supports.
    pub(crate) has_well_known: (bool, bool),
}

/// Parameter of a function that receives the context of a call.
#[derive(FromPyObject)]
pub(crate) enum ContextParameter {
    /// Position of the parameter among all parameters.
    Position(usize),
    /// Name of the parameter, which is keyword-only.
    Name(String),
}

/// A context of Python's module `contextvars` for each call, so that variables set in one call are not visible in
/// others.
pub(crate) struct Variables(Py<PyAny>);

impl Variables {
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        static COPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        COPY.import(py, "contextvars", "copy_context")?.call0().map(|context| Self(context.unbind()))
    }

    /// Calls the first argument with the remaining ones, within the context variables of the call.
    fn run<'py>(
        &self,
        py: Python<'py>,
        call: impl IntoIterator<Item = Bound<'py, PyAny>, IntoIter: ExactSizeIterator>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.bind(py).call_method(intern!(py, "run"), PyTuple::new(py, call)?, keywords)
    }
}

/// Context of a call, which is passed to its handler as a Python object.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Context {
    /// Text metadata of the request, by key.
    #[pyo3(get)]
    metadata: Py<PyDict>,
    /// Binary metadata of the request, by key.
    #[pyo3(get)]
    binary_metadata: Py<PyDict>,
    /// Remote address of the caller, if the transport has addresses.
    #[pyo3(get)]
    remote_address: Option<String>,
    /// Caller's timeout in seconds at the time when the call arrived, if there is one.
    #[pyo3(get)]
    timeout: Option<f64>,
    /// Channel to the caller, and the runtime of the call.
    caller: Option<(frpc::Channel, Handle)>,
}

#[pymethods]
impl Context {
    /// Returns a blocking client for the functions that the caller serves.
    #[getter]
    fn client<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.client_of(py, "Client")
    }

    /// Returns an asyncio client for the functions that the caller serves.
    #[getter]
    fn async_client<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.client_of(py, "AsyncClient")
    }
}

impl Context {
    fn client_of<'py>(&self, py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyAny>> {
        let unreachable =
            || PyRuntimeError::new_err("the caller cannot be called: its protocol has no calls to clients");
        let (channel, runtime) = self.caller.clone().ok_or_else(unreachable)?;
        let class = py.import("frisbee_rpc._client")?.getattr(class)?;
        class.call_method1("_over", (Channel::of_caller(channel, runtime),))
    }
}

/// Metadata and other properties of a request, without its message.
pub(crate) struct RequestContext {
    metadata: Option<Metadata>,
    remote: Option<SocketAddr>,
    timeout: Option<Duration>,
    caller: Option<(frpc::Channel, Handle)>,
}

impl RequestContext {
    pub(crate) fn of<T>(request: &Request<T>, function: &Function) -> Option<Self> {
        // Return early if the function has no context parameter, to avoid cloning the metadata.
        function.context.as_ref()?;
        let metadata = Some(request.metadata()).filter(|metadata| !metadata.is_empty()).cloned();
        let caller = request.channel().zip(Handle::try_current().ok());
        Some(Self { metadata, remote: request.remote_addr(), timeout: request.timeout(), caller })
    }
}

/// Returns the status of calls that arrive while the Python interpreter exits.
fn ending() -> Status {
    Status::unavailable("the interpreter is ending")
}

/// Attaches the current thread to the Python interpreter permanently, and calls `run`.
fn attached<T>(function: &Function, run: impl FnOnce(Python<'_>) -> Result<T, Status>) -> Result<T, Status> {
    introduce_thread();
    in_handler(&function.pool, || Python::try_attach(run).unwrap_or_else(|| Err(ending())))
}

impl Function {
    /// Decodes a request to its Python value.
    pub(crate) fn read<'py>(&self, py: Python<'py>, request: &Payload) -> Result<Bound<'py, PyAny>, Status> {
        let (plans, index, body) = (&self.endpoint.plans, self.endpoint.request, request.received());
        let read = match request.encoding {
            Encoding::Native => decode::body(py, plans, index, body),
            Encoding::Json if !self.has_well_known.0 => json::read(py, plans, index, body, false),
            Encoding::JsonPositional if !self.has_well_known.0 => json::read(py, plans, index, body, true),
            encoding => {
                let body = proto::to_native(&self.descriptors.0, encoding, body)?;
                decode::body(py, plans, index, &body)
            }
        };
        let name = self.descriptors.0.full_name();
        let invalid = |error: &PyErr| format!("the request is not a valid {name}: {}", error.value(py));
        read.map_err(|error| Status::invalid_argument(invalid(&error)))
    }

    /// Returns the Python arguments for a call of the function.
    pub(crate) fn arguments<'py>(&self, py: Python<'py>, request: &Payload) -> Result<Bound<'py, PyTuple>, Status> {
        match self.read(py, request)?.cast_into::<PyTuple>() {
            Ok(arguments) => Ok(arguments),
            // Without a parameter per field, the function takes the whole message.
            Err(error) => PyTuple::new(py, [error.into_inner()]).map_err(|error| self.raised(py, &error)),
        }
    }

    /// Calls the Python function within the context variables of the call.
    pub(crate) fn invoke<'py>(
        &self,
        variables: &Variables,
        arguments: &Bound<'py, PyTuple>,
        about: Option<RequestContext>,
    ) -> Result<Bound<'py, PyAny>, Status> {
        let py = arguments.py();
        let call = || {
            let mut call = Vec::with_capacity(arguments.len().saturating_add(2));
            call.push(self.call.bind(py).clone());
            call.extend(arguments.iter());
            let mut keywords = None;
            match (&self.context, about) {
                (Some(ContextParameter::Position(at)), Some(about)) => {
                    call.insert(at.saturating_add(1).min(call.len()), about.shown(py)?.into_any());
                }
                (Some(ContextParameter::Name(name)), Some(about)) => {
                    let named = keywords.insert(PyDict::new(py));
                    named.set_item(name, about.shown(py)?)?;
                }
                _ => {}
            }
            variables.run(py, call, keywords.as_ref())
        };
        call().map_err(|error| self.raised(py, &error))
    }

    /// Creates the context variables of a call.
    pub(crate) fn variables(&self, py: Python<'_>) -> Result<Variables, Status> {
        Variables::new(py).map_err(|error| self.raised(py, &error))
    }

    /// Encodes a reply in the encoding of its request, or in all encodings if that is not known yet.
    pub(crate) fn reply(&self, value: &Bound<'_, PyAny>, encoding: Option<Encoding>) -> Result<Payload, Status> {
        let (plans, index) = (&self.endpoint.plans, self.endpoint.reply);
        let native = || encode::payload(plans, index, value);
        let protobuf = |payload: &Payload| proto::to_protobuf(&self.descriptors.1, payload);
        let json = || match self.has_well_known.1 {
            true => native().and_then(|payload| proto::to_json(&self.descriptors.1, &payload)),
            false => json::write(plans, index, value).map(Bytes::from),
        };
        let payload = match encoding {
            Some(Encoding::Native) => native(),
            Some(Encoding::Protobuf) => {
                native().and_then(|payload| Ok(Payload::new(protobuf(&payload)?, Encoding::Protobuf)))
            }
            Some(_) => json().map(|json| Payload::new(json, Encoding::Json)),
            None => native().and_then(|payload| {
                let alternatives = Some(Alternatives { json: json()?, protobuf: protobuf(&payload)? });
                Ok(Payload { alternatives, ..payload })
            }),
        };
        payload.map_err(|error| self.raised(value.py(), &error))
    }

    /// Converts a Python exception to a status. Unexpected exceptions are reported locally and hidden from callers.
    pub(crate) fn raised(&self, py: Python<'_>, error: &PyErr) -> Status {
        let invalid;
        let error = match of_exception(py, error) {
            Ok(Some(status)) => return status,
            Ok(None) => error,
            Err(wrong) => {
                invalid = wrong;
                &invalid
            }
        };
        // Preserve the traceback, which the value of an error lacks before Python 3.12.
        let raised = error.clone_ref(py).into_value(py);
        let reported = self.report.call1(py, (self.endpoint.method.to_string(), raised));
        if let Err(error) = reported {
            error.write_unraisable(py, None);
        }
        if self.shows_errors {
            let name = error.get_type(py).name().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
            return Status::internal(format!("{name}: {}", error.value(py)));
        }
        Status::internal("the handler has failed")
    }

    /// Calls the Python function on the current thread.
    pub(crate) fn run(&self, call: Call) -> Result<Response<Payload>, Status> {
        let spoken = call.spoken.clone();
        attached(self, |py| {
            let value = self.start(py, &self.variables(py)?, call)?;
            self.reply(&value, spoken.get().copied()).map(Response::new)
        })
    }

    /// Calls the Python function, which may return an awaitable or a generator.
    fn start<'py>(&self, py: Python<'py>, variables: &Variables, call: Call) -> Result<Bound<'py, PyAny>, Status> {
        let arguments = self.arguments_of(py, call.input)?;
        self.invoke(variables, &arguments, call.about)
    }

    /// Returns the Python arguments for a call without its context.
    fn arguments_of<'py>(&self, py: Python<'py>, input: Input) -> Result<Bound<'py, PyTuple>, Status> {
        match input {
            Input::Message(payload) => self.arguments(py, &payload),
            Input::Stream(incoming) => {
                let arguments = Py::new(py, incoming).and_then(|incoming| PyTuple::new(py, [incoming]));
                arguments.map_err(|error| self.raised(py, &error))
            }
        }
    }
}

/// Input and context of a call to a Python function.
pub(crate) struct Call {
    input: Input,
    about: Option<RequestContext>,
    spoken: CallerEncoding,
}

enum Input {
    Message(Payload),
    Stream(Incoming),
}

/// Encoding of the caller's messages. In a call with a stream of requests, it is known once the first one has arrived.
pub(crate) type CallerEncoding = Arc<OnceLock<Encoding>>;

impl Call {
    pub(crate) fn new(function: &Function, request: Request<Payload>) -> Self {
        let about = RequestContext::of(&request, function);
        let payload = request.into_inner();
        let spoken = Arc::new(OnceLock::from(payload.encoding));
        Self { input: Input::Message(payload), about, spoken }
    }

    /// Creates a call with a stream of requests as its argument.
    pub(crate) fn streaming(function: &Arc<Function>, request: Request<Streaming<Payload>>, is_in_loop: bool) -> Self {
        let about = RequestContext::of(&request, function);
        let spoken = CallerEncoding::default();
        let incoming = Incoming::new(function.clone(), request.into_inner(), spoken.clone(), is_in_loop);
        Self { input: Input::Stream(incoming), about, spoken }
    }
}

impl RequestContext {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, Context>> {
        let (metadata, binary_metadata) = match &self.metadata {
            Some(metadata) => shown(py, metadata)?,
            None => (PyDict::new(py), PyDict::new(py)),
        };
        let context = Context {
            metadata: metadata.unbind(),
            binary_metadata: binary_metadata.unbind(),
            remote_address: self.remote.map(|address| address.to_string()),
            timeout: self.timeout.map(|timeout| timeout.as_secs_f64()),
            caller: self.caller,
        };
        Bound::new(py, context)
    }
}

/// Messages of a Python generator. Each is produced when the caller has space for it.
pub(crate) struct Generated {
    pub(crate) function: Arc<Function>,
    spoken: CallerEncoding,
    iterator: Py<PyIterator>,
    /// Python method that returns the generator's next message.
    step: Py<PyAny>,
    variables: Variables,
    /// Whether the generator took long for the last message.
    is_slow: bool,
}

/// Time that a generator may take for a message before the earlier messages are sent.
const SLOW: Duration = Duration::from_millis(1);

impl Generated {
    /// Calls a generator function, which returns its generator.
    pub(crate) fn new(function: Arc<Function>, call: Call) -> Result<Self, Status> {
        let spoken = call.spoken.clone();
        let (iterator, step, variables) = attached(&function, |py| {
            let variables = function.variables(py)?;
            let iterable = function.start(py, &variables, call)?;
            let iterator = iterable.try_iter().and_then(|iterator| {
                let step = iterator.getattr(intern!(py, "__next__"))?.unbind();
                Ok((iterator.unbind(), step))
            });
            let (iterator, step) = iterator.map_err(|error| function.raised(py, &error))?;
            Ok((iterator, step, variables))
        })?;
        Ok(Self { function, spoken, iterator, step, variables, is_slow: false })
    }

    /// Produces the next message of the generator on the current thread. Returns `None` when the generator has ended.
    pub(crate) fn next(&mut self) -> Option<Result<Payload, Status>> {
        let next = attached(&self.function, |py| match self.variables.run(py, [self.step.bind(py).clone()], None) {
            Ok(value) => self.function.reply(&value, self.spoken.get().copied()).map(Some),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(None),
            Err(error) => Err(self.function.raised(py, &error)),
        });
        next.transpose()
    }
}

impl Drop for Generated {
    fn drop(&mut self) {
        introduce_thread();
        let close = |py: Python<'_>| {
            // Only generators have a `close` method.
            let close = self.iterator.bind(py).getattr_opt("close");
            let closed = close.and_then(|close| close.map(|close| self.variables.run(py, [close], None)).transpose());
            if let Err(error) = closed {
                error.write_unraisable(py, None);
            }
        };
        // Mark the thread, because `finally` blocks of the generator may make calls and this thread may drive
        // connections. Without an interpreter, there is nothing to close.
        in_handler(&self.function.pool, || Python::try_attach(close));
    }
}

impl futures_core::Stream for Generated {
    type Item = Result<Payload, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.is_slow) {
            // Let the connection send the last message before the generator runs again.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let started = Instant::now();
        let next = self.next();
        self.is_slow = started.elapsed() > SLOW;
        Poll::Ready(next)
    }
}

/// Completes a reply from a thread of the server, with an exception if the server has failed.
pub(crate) fn announce(sender: &Sender, future: Py<Reply>, outcome: Result<(), String>) {
    sender.leave(Box::new(move |py| {
        let outcome = outcome.map_err(PyRuntimeError::new_err);
        Reply::settle(future.bind(py), outcome.map(|()| py.None().into_bound(py)))
    }));
}
