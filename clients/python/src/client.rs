//! [`Channel`]: calls to a server, for blocking callers and for event loops.

use crate::drive::{BlockingRuntime, Waiter};
use crate::fork::Forkable;
use crate::inbox::Inbox;
use crate::lanes::{Lane, Lanes, Settings, Site, Tls};
use crate::payload::Payload;
use crate::ready::{NextItem, ReadySlot};
use crate::reply::Reply;
use crate::requests::{IterableSource, Requests};
use crate::schema::{Api, Endpoint, Schema};
use crate::server::Described;
use crate::serving::Serving;
use crate::status::{metadata, raised};
use frpc::{Request, Response, Status, Streaming};
use frpc_reflection::ServerSchema;
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Python functions that a client serves: the functions, the callback that reports their exceptions, whether callers
/// see the texts of exceptions, the number of threads, and the event loop for coroutines.
pub(crate) type Offered = (Vec<Described>, Py<PyAny>, bool, usize, Option<(Py<Inbox>, Py<PyAny>)>);

/// A channel to a server. Lost connections are replaced.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Channel {
    /// The channel with the runtime that drives it.
    parts: Forkable<Parts>,
    /// Default timeout of calls in seconds.
    timeout: Option<f64>,
}

enum Parts {
    /// Callers block, and drive the connection while they wait.
    /// The channel comes first, so that it is dropped before the runtime that drives its connection.
    Blocking(frpc::Channel, BlockingRuntime),
    /// The callers are tasks of asyncio event loops.
    Async(Lanes),
    /// The client also serves functions, so dedicated threads drive the connection.
    Serving(Serving),
    /// The channel leads to the caller of a handler.
    Caller(frpc::Channel, Handle),
}

#[pymethods]
impl Channel {
    /// Creates a channel to `host:port` or `unix:PATH` that connects at the first call.
    #[new]
    #[pyo3(signature = (address, blocking, tls = None, server_name = None, timeout = None, serves = None, body_max = None))]
    #[allow(clippy::too_many_arguments)] // The Python class has defaults for most of them.
    fn new(
        py: Python<'_>,
        address: &str,
        blocking: bool,
        tls: Option<Tls>,
        server_name: Option<String>,
        timeout: Option<f64>,
        serves: Option<Offered>,
        body_max: Option<u32>,
    ) -> PyResult<Self> {
        let settings = Settings::new(address, tls, server_name, timeout, body_max)?;
        let parts = if let Some(serves) = serves {
            Parts::Serving(Serving::new(py, settings, serves)?)
        } else if blocking {
            let drive = BlockingRuntime::new()?;
            let context = drive.handle()?.enter();
            let channel = settings.channel()?;
            drop(context);
            Parts::Blocking(channel, drive)
        } else {
            Parts::Async(Lanes::new(settings)?)
        };
        Ok(Self { parts: Forkable::new(parts), timeout })
    }

    /// Prevents further calls. The connection closes when the calls in flight have ended. A connection of the parent
    /// process of a fork stays open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Ok(parts) = self.parts.get() else { return Ok(()) };
        match parts {
            Parts::Blocking(channel, _) => channel.close(),
            // Drive the loop's runtime now, because the loop may be blocked afterwards, for example by a server that
            // waits for its connections.
            Parts::Async(lanes) => lanes.close().iter().try_for_each(|loop_runtime| loop_runtime.run_batch(py))?,
            Parts::Serving(serving) => serving.close(),
            // The connection belongs to the caller of the handler, so it stays open.
            Parts::Caller(..) => {}
        }
        Ok(())
    }

    /// The functions that the client serves may refer to this object, for example methods of the object that holds it.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Parts::Serving(serving) = self.parts.inherited() { serving.traverse(&visit) } else { Ok(()) }
    }

    /// Fetches the schema of the server by its reflection service. `timeout` replaces the timeout of the channel.
    #[pyo3(signature = (timeout = None))]
    fn reflect(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Schema> {
        let (channel, drive) = self.blocking()?;
        let shown = drive.wait(py, fetch(channel.clone(), timeout.or(self.timeout))?)?;
        Schema::of_server(&shown.map_err(|status| raised(py, &status))?)
    }

    /// Makes a call with a single reply. If the method takes a stream, `value` is an iterable of its requests.
    #[pyo3(signature = (api, index, value, timeout = None, metadata = None))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        api: &Api,
        index: usize,
        value: &Bound<'py, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (channel, drive) = self.blocking()?;
        let endpoint = api.endpoint(index)?;
        let reply = if endpoint.takes_stream {
            let (requests, source) = IterableSource::new(value, endpoint)?;
            let request = request(requests, timeout, metadata)?;
            source.wait(py, &drive, channel.client_streaming::<_, Payload>(endpoint.method, request))?
        } else {
            let request = request(endpoint.encode(value)?, timeout, metadata)?;
            drive.wait(py, channel.unary::<Payload, Payload>(endpoint.method, request))?
        };
        endpoint.decode(py, reply.map(Response::into_inner))
    }

    /// Like [`call`](Self::call), for methods with a stream of replies.
    #[pyo3(signature = (api, index, value, timeout = None, metadata = None))]
    fn stream(
        slf: &Bound<'_, Self>,
        api: &Api,
        index: usize,
        value: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Messages> {
        let (py, (channel, drive)) = (slf.py(), slf.get().blocking()?);
        let endpoint = api.endpoint(index)?;
        if endpoint.takes_stream {
            let (requests, source) = IterableSource::new(value, endpoint)?;
            let request = request(requests, timeout, metadata)?;
            let stream = source.wait(py, &drive, channel.streaming::<_, Payload>(endpoint.method, request))?;
            return Messages::new(slf, endpoint, stream, Some(source));
        }
        let request = request(endpoint.encode(value)?, timeout, metadata)?;
        let stream = drive.wait(py, channel.server_streaming::<Payload, Payload>(endpoint.method, request))?;
        Messages::new(slf, endpoint, stream, None)
    }

    /// Starts [`reflect`](Self::reflect) and completes a [`Reply`] with the result.
    fn start_reflect(&self, py: Python<'_>, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        let lane = self.lane(py, inbox)?;
        lane.site.expect(py, lane.timeout)?;
        start(py, &lane.site, inbox, future, fetch(lane.channel.clone(), lane.timeout)?, |py, shown| {
            let schema = Schema::of_server(&shown.map_err(|status| raised(py, &status))?)?;
            Ok(Py::new(py, schema)?.into_bound(py).into_any())
        })
    }

    /// Starts a unary call and completes a [`Reply`] with the response.
    #[pyo3(signature = (api, index, value, inbox, future, timeout = None, metadata = None))]
    #[allow(clippy::too_many_arguments)] // The arguments of the call, and where its reply goes.
    fn start_unary(
        &self,
        api: &Api,
        index: usize,
        value: &Bound<'_, PyAny>,
        inbox: &Inbox,
        future: Py<Reply>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Started> {
        let py = value.py();
        let lane = self.lane(py, inbox)?;
        let (channel, endpoint) = (lane.channel.clone(), api.endpoint(index)?.clone());
        let (request, method) = (request(endpoint.encode(value)?, timeout, metadata)?, endpoint.method);
        let call = async move { channel.unary::<Payload, Payload>(method, request).await };
        start_call(py, &lane, inbox, future, timeout, endpoint, call)
    }

    /// Opens a server-streaming call for a task of an event loop.
    #[pyo3(signature = (api, index, value, timeout = None, metadata = None))]
    fn open_server_streaming(
        slf: &Bound<'_, Self>,
        api: &Api,
        index: usize,
        value: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<AsyncMessages> {
        let endpoint = api.endpoint(index)?;
        let (request, method) = (request(endpoint.encode(value)?, timeout, metadata)?, endpoint.method);
        let open = move |channel: frpc::Channel| -> Opening {
            Box::pin(async move { channel.server_streaming::<Payload, Payload>(method, request).await })
        };
        Ok(AsyncMessages::new(slf, endpoint, Box::new(open)))
    }

    /// Starts a client-streaming call. Also returns the sender with which a task sends the requests one by one.
    #[pyo3(signature = (api, index, inbox, future, timeout = None, metadata = None))]
    #[allow(clippy::too_many_arguments)] // The arguments of the call, and where its reply goes.
    fn start_client_streaming(
        &self,
        py: Python<'_>,
        api: &Api,
        index: usize,
        inbox: &Inbox,
        future: Py<Reply>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Started, Requests)> {
        let lane = self.lane(py, inbox)?;
        let (channel, endpoint) = (lane.channel.clone(), api.endpoint(index)?.clone());
        let (requests, stream) = Requests::new(&endpoint, lane.site.clone());
        let (request, method) = (request(stream, timeout, metadata)?, endpoint.method);
        let call = async move { channel.client_streaming::<_, Payload>(method, request).await };
        Ok((start_call(py, &lane, inbox, future, timeout, endpoint, call)?, requests))
    }

    /// Opens a bidirectional streaming call. Also returns the sender with which a task sends the requests one by one.
    #[pyo3(signature = (api, index, inbox, timeout = None, metadata = None))]
    fn open_streaming(
        slf: &Bound<'_, Self>,
        api: &Api,
        index: usize,
        inbox: &Inbox,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(AsyncMessages, Requests)> {
        let site = slf.get().lane(slf.py(), inbox)?.site;
        let endpoint = api.endpoint(index)?;
        let (requests, stream) = Requests::new(endpoint, site);
        let (request, method) = (request(stream, timeout, metadata)?, endpoint.method);
        let open = move |channel: frpc::Channel| -> Opening {
            Box::pin(async move { channel.streaming::<_, Payload>(method, request).await })
        };
        Ok((AsyncMessages::new(slf, endpoint, Box::new(open)), requests))
    }
}

impl Channel {
    /// Creates a channel to the caller of a handler.
    pub(crate) fn of_caller(channel: frpc::Channel, runtime: Handle) -> Self {
        Self { parts: Forkable::new(Parts::Caller(channel, runtime)), timeout: None }
    }

    fn blocking(&self) -> PyResult<(&frpc::Channel, Waiter<'_>)> {
        match self.parts.get()? {
            Parts::Blocking(channel, drive) => Ok((channel, Waiter::Here(drive))),
            Parts::Serving(serving) => Ok((&serving.channel, Waiter::Other(serving.handle()))),
            Parts::Caller(channel, runtime) => Ok((channel, Waiter::Caller(runtime))),
            Parts::Async(_) => Err(PyRuntimeError::new_err("the client belongs to asyncio")),
        }
    }

    /// Returns the connection that is driven by the event loop of this thread, or else by the background thread.
    fn lane(&self, py: Python<'_>, inbox: &Inbox) -> PyResult<Lane> {
        match self.parts.get()? {
            Parts::Async(lanes) => lanes.lane(py, inbox),
            Parts::Serving(serving) => Ok(serving.lane()),
            Parts::Caller(channel, runtime) => {
                Ok(Lane { channel: channel.clone(), site: Site::Thread(runtime.clone()), timeout: None })
            }
            Parts::Blocking(..) => Err(PyRuntimeError::new_err("the client does not belong to asyncio")),
        }
    }
}

/// Converts a Python argument in seconds to a duration. `name` is used in errors.
pub(crate) fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    let text = || format!("{name}: {seconds:?} s is not a time from 0 to {:e} s", u64::MAX as f64);
    Duration::try_from_secs_f64(seconds).map_err(|_| PyValueError::new_err(text()))
}

/// Fetches the schema of a server within this time, or within the limits of its calls.
fn fetch(
    channel: frpc::Channel,
    timeout: Option<f64>,
) -> PyResult<impl Future<Output = Result<ServerSchema, Status>> + Send> {
    let limit = timeout.map_or(Ok(Duration::MAX), |timeout| duration("timeout", timeout))?;
    let late = || Status::deadline_exceeded("not sent: the schema was not fetched before the deadline").rejected();
    Ok(async move { tokio::time::timeout(limit, ServerSchema::fetch(&channel)).await.unwrap_or_else(|_| Err(late())) })
}

fn request<T>(message: T, timeout: Option<f64>, options: Option<&Bound<'_, PyAny>>) -> PyResult<Request<T>> {
    let mut request = Request::new(message);
    if let Some(timeout) = timeout {
        request.set_timeout(duration("timeout", timeout)?);
    }
    if let Some(options) = options {
        let metadata = metadata(options)?;
        if !metadata.is_empty() {
            *request.metadata_mut() = metadata;
        }
    }
    Ok(request)
}

/// Replies of a streaming call for a blocking caller, as a Python iterator.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Messages {
    channel: Py<Channel>,
    endpoint: Endpoint,
    stream: Mutex<ReplyStream>,
    /// Notified when the stream is closed, to wake a thread that is waiting for a reply.
    closing: Notify,
    source: Option<IterableSource>,
}

enum ReplyStream {
    Open(Box<Forkable<Streaming<Payload>>>),
    /// A thread has taken the stream and is waiting for a reply.
    InUse,
    Over,
}

impl Messages {
    fn new(
        channel: &Bound<'_, Channel>,
        endpoint: &Endpoint,
        stream: Result<Response<Streaming<Payload>>, Status>,
        source: Option<IterableSource>,
    ) -> PyResult<Self> {
        let stream = stream.map_err(|status| raised(channel.py(), &status))?.into_inner();
        let channel = channel.clone().unbind();
        let stream = Mutex::new(ReplyStream::Open(Box::new(Forkable::new(stream))));
        Ok(Self { channel, endpoint: endpoint.clone(), stream, closing: Notify::new(), source })
    }
}

#[pymethods]
impl Messages {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // Take the stream out, so that no other thread waits for the lock while holding the GIL.
        let mut place = self.stream.lock();
        let mut stream = match std::mem::replace(&mut *place, ReplyStream::InUse) {
            ReplyStream::Open(stream) => stream,
            ReplyStream::InUse => {
                let text = "another thread waits for a reply of this stream: read a stream in one thread at a time";
                return Err(PyRuntimeError::new_err(text));
            }
            ReplyStream::Over => {
                *place = ReplyStream::Over;
                return Ok(None);
            }
        };
        drop(place);
        let reply = self.next_reply(py, &mut stream);
        let mut place = self.stream.lock();
        // If `close` was called during the wait, drop the stream, which cancels the call.
        if matches!(*place, ReplyStream::InUse) {
            *place = if matches!(reply, Ok(Some(_))) { ReplyStream::Open(stream) } else { ReplyStream::Over };
        }
        drop(place);
        reply
    }

    /// The iterable of the requests may refer to this object, for example if it is a generator of the object that reads
    /// the replies.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.channel)?;
        self.source.as_ref().map_or(Ok(()), |source| source.traverse(&visit))
    }

    fn __clear__(&self) {
        if let Some(source) = &self.source {
            source.clear();
        }
    }

    /// Cancels the call and ends an iteration on another thread.
    fn close(&self) {
        let stream = std::mem::replace(&mut *self.stream.lock(), ReplyStream::Over);
        if matches!(stream, ReplyStream::InUse) {
            // Notify the iterating thread, because it has taken the stream out of the lock.
            self.closing.notify_one();
        }
    }
}

impl Messages {
    fn next_reply<'py>(
        &self,
        py: Python<'py>,
        stream: &mut Forkable<Streaming<Payload>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (_, drive) = self.channel.get().blocking()?;
        let stream = stream.get_mut()?;
        let next = async {
            tokio::select! {
                next = stream.message() => next,
                () = self.closing.notified() => Ok(None),
            }
        };
        let next = match &self.source {
            None => drive.wait(py, next)?,
            Some(source) => source.wait(py, &drive, next)?,
        };
        next.transpose().map(|message| self.endpoint.decode(py, message)).transpose()
    }
}

type Opening = std::pin::Pin<Box<dyn Future<Output = Result<Response<Streaming<Payload>>, Status>> + Send>>;

/// Function that opens a streaming call on a channel.
type Open = Box<dyn FnOnce(frpc::Channel) -> Opening + Send>;

/// Replies of a streaming call for an event loop, as an asynchronous Python iterator.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct AsyncMessages {
    channel: Py<Channel>,
    endpoint: Endpoint,
    /// Function that opens the call when the first message is awaited.
    open: Mutex<Option<Open>>,
    site: Mutex<Option<Site>>,
    slot: Forkable<ReadySlot<OpenMessages, Result<Option<Payload>, Status>>>,
    /// Notified when the stream is closed, to wake a task that is waiting for a message.
    closing: Arc<Notify>,
}

struct OpenMessages {
    stage: Stage,
    closing: Arc<Notify>,
}

/// Progress of a streaming call, from opening it to its end.
enum Stage {
    Opening(Opening),
    Open(Box<Streaming<Payload>>),
    Over,
}

impl AsyncMessages {
    fn new(channel: &Bound<'_, Channel>, endpoint: &Endpoint, open: Open) -> Self {
        let closing = Arc::<Notify>::default();
        Self {
            channel: channel.clone().unbind(),
            endpoint: endpoint.clone(),
            open: Mutex::new(Some(open)),
            site: Mutex::new(None),
            slot: Forkable::new(ReadySlot::new(OpenMessages { stage: Stage::Over, closing: closing.clone() })),
            closing,
        }
    }

    /// Returns the site that runs the tasks of the call. Opens the call first if it is not open.
    fn site(&self, py: Python<'_>, inbox: &Inbox) -> PyResult<Site> {
        if let Some(site) = &*self.site.lock() {
            return Ok(site.clone());
        }
        // Do not hold the lock, because Python code may run here.
        let lane = self.channel.get().lane(py, inbox)?;
        let mut site = self.site.lock();
        if let (Some(open), Ok(mut messages)) = (self.open.lock().take(), self.slot.get()?.stream().try_lock()) {
            messages.stage = Stage::Opening(open(lane.channel));
        }
        Ok(site.get_or_insert(lane.site).clone())
    }
}

#[pymethods]
impl AsyncMessages {
    /// The functions that the client serves may refer to this object.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.channel)
    }

    /// Starts waiting for the next message and completes a [`Reply`] when it arrives.
    fn start_next(&self, py: Python<'_>, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        let site = self.site(py, inbox)?;
        self.slot.get()?.start(py, &site, inbox, future)
    }

    /// Returns the received message as a 1-tuple, or `None` if another task has taken it.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(next) = self.slot.get()?.take() else { return Ok(None) };
        let message = next.transpose().ok_or_else(|| PyStopAsyncIteration::new_err(()))?;
        PyTuple::new(py, [self.endpoint.decode(py, message)?]).map(Some)
    }

    /// Cancels the call and wakes tasks that are waiting for a message. Does nothing to a call of the parent process
    /// after a fork.
    fn close(&self) {
        let Ok(slot) = self.slot.get() else { return };
        self.open.lock().take();
        slot.take();
        match slot.stream().try_lock() {
            Ok(messages) if matches!(messages.stage, Stage::Over) => return,
            Ok(_) => {}
            Err(_) => self.closing.notify_one(),
        }
        let stream = slot.stream().clone();
        if let Some(site) = &*self.site.lock() {
            site.run(async move { stream.lock().await.stage = Stage::Over });
        }
    }
}

impl Drop for AsyncMessages {
    fn drop(&mut self) {
        // Close explicitly, because this makes the event loop drive its runtime, which cancels the call.
        self.close();
    }
}

impl NextItem<Result<Option<Payload>, Status>> for OpenMessages {
    async fn next_item(&mut self) -> Result<Option<Payload>, Status> {
        let next = tokio::select! {
            next = self.stage.next() => next,
            () = self.closing.notified() => Ok(None),
        };
        if !matches!(next, Ok(Some(_))) {
            self.stage = Stage::Over;
        }
        next
    }
}

impl Stage {
    /// Waits for the next message. Cancel safe: if the future is dropped, no message is lost.
    async fn next(&mut self) -> Result<Option<Payload>, Status> {
        if let Self::Opening(opening) = self {
            let response = opening.as_mut().await?;
            *self = Self::Open(Box::new(response.into_inner()));
        }
        match self {
            Self::Open(stream) => stream.message().await,
            _ => Ok(None),
        }
    }
}

/// A running operation that completes a [`Reply`].
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Started {
    task: AbortHandle,
    site: Site,
}

#[pymethods]
impl Started {
    /// Cancels the operation. If it is a call, the server is notified.
    fn cancel(&self) {
        if !self.task.is_finished() {
            self.task.abort();
            // Wake the event loop, because the CANCEL is sent only when the loop drives the runtime.
            self.site.ring();
        }
    }
}

/// Makes a call with a single reply and completes a [`Reply`] with the decoded reply.
fn start_call(
    py: Python<'_>,
    lane: &Lane,
    inbox: &Inbox,
    future: Py<Reply>,
    timeout: Option<f64>,
    endpoint: Endpoint,
    call: impl Future<Output = Result<Response<Payload>, Status>> + Send + 'static,
) -> PyResult<Started> {
    lane.site.expect(py, timeout.or(lane.timeout))?;
    start(py, &lane.site, inbox, future, call, move |py, reply| endpoint.decode(py, reply.map(Response::into_inner)))
}

/// Runs `work` and completes a [`Reply`] with the value that `finish` returns.
pub(crate) fn start<T: Send + 'static>(
    py: Python<'_>,
    site: &Site,
    inbox: &Inbox,
    future: Py<Reply>,
    work: impl Future<Output = T> + Send + 'static,
    finish: impl for<'py> FnOnce(Python<'py>, T) -> PyResult<Bound<'py, PyAny>> + Send + 'static,
) -> PyResult<Started> {
    let sender = inbox.sender();
    // Box the future, because spawning moves it several times.
    let work = Box::pin(work);
    let task = site.spawn(inbox, async move {
        let output = work.await;
        sender.leave(Box::new(move |py| Reply::settle(future.bind(py), finish(py, output))));
    });
    site.begin(py)?;
    Ok(Started { task, site: site.clone() })
}
