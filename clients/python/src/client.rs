//! [`Channel`]: calls to a server, for callers that block and for event loops.

use crate::decode;
use crate::drive::{self, Drive};
use crate::encode;
use crate::fork;
use crate::inbox::{Inbox, Sender, settle};
use crate::payload::Payload;
use crate::plan::Plans;
use crate::requests::{Pulled, Requests};
use crate::schema::{Api, Endpoint, Schema};
use crate::status::{failed, metadata, raised};
use frpc::tls::{Authorities, ClientTls, Identity};
use frpc::{Request, Response, Status, Streaming};
use frpc_reflection::ServerSchema;
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// A channel to one server, which replaces its connection when that is lost.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Channel {
    /// `None` once it is dropped.
    parts: Option<Parts>,
    made: fork::Generation,
}

struct Parts {
    channel: frpc::Channel,
    /// Of a channel whose callers block.
    drive: Option<Drive>,
}

/// Certificates of authorities, and of the client with its key, as PEM.
type Tls = (Vec<u8>, Option<(Vec<u8>, Vec<u8>)>);

#[pymethods]
impl Channel {
    /// A channel to `host:port` or `unix:PATH`, which connects at the first call.
    #[new]
    #[pyo3(signature = (address, blocking, tls = None, server_name = None, timeout = None))]
    fn new(
        address: &str,
        blocking: bool,
        tls: Option<Tls>,
        server_name: Option<String>,
        timeout: Option<f64>,
    ) -> PyResult<Self> {
        let drive = if blocking { Some(Drive::new()?) } else { None };
        let handle = drive.as_ref().map_or_else(drive::background, |drive| Ok(drive.handle().clone()))?;
        let _context = handle.enter();
        let mut builder = frpc::Channel::builder().workers(frpc::Workers::Caller);
        if let Some(timeout) = timeout {
            builder = builder.timeout(duration(timeout)?);
        }
        if let Some((authorities, identity)) = tls {
            let refused = |error: frpc::tls::TlsError| PyValueError::new_err(error.to_string());
            let mut tls = ClientTls::new(Authorities::from_pem(authorities).map_err(refused)?).map_err(refused)?;
            if let Some((chain, key)) = identity {
                tls = tls.with_identity(Identity::from_pem(chain, key).map_err(refused)?).map_err(refused)?;
            }
            builder = builder.tls(tls);
        }
        if let Some(name) = server_name {
            builder = builder.server_name(name);
        }
        let channel = match address.strip_prefix("unix:") {
            Some(path) => {
                let path = path.to_owned();
                builder.connect_lazy_with_connector(move || {
                    let path = path.clone();
                    async move { UnixStream::connect(path).await }
                })
            }
            None => builder.connect_lazy(address),
        };
        let parts = Parts { channel: channel.map_err(failed)?, drive };
        Ok(Self { parts: Some(parts), made: fork::Generation::current() })
    }

    /// Ends the connection. Calls in flight fail.
    fn close(&self) -> PyResult<()> {
        self.parts()?.channel.close();
        Ok(())
    }

    /// The schema of the server, by its reflection.
    fn reflect(&self, py: Python<'_>) -> PyResult<Schema> {
        let Parts { channel, drive } = self.parts()?;
        let shown = blocking(drive)?.wait(py, ServerSchema::fetch(channel))?;
        Schema::of_server(&shown.map_err(|status| raised(py, &status))?)
    }

    /// Makes a unary call.
    #[pyo3(signature = (api, place, value, timeout = None, metadata = None))]
    fn unary<'py>(
        &self,
        py: Python<'py>,
        api: &Api,
        place: usize,
        value: &Bound<'py, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Parts { channel, drive } = self.parts()?;
        let endpoint = api.endpoint(place)?;
        let payload = encode::payload(&api.plans, endpoint.request, value)?;
        let request = request(payload, timeout, metadata)?;
        let call = channel.unary::<Payload, Payload>(endpoint.method, request);
        let reply = blocking(drive)?.wait(py, call)?;
        decoded(py, &api.plans, endpoint, reply.map(Response::into_inner))
    }

    /// Makes a call whose replies are a stream.
    #[pyo3(signature = (api, place, value, timeout = None, metadata = None))]
    fn server_streaming(
        slf: &Bound<'_, Self>,
        api: &Bound<'_, Api>,
        place: usize,
        value: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Messages> {
        let Parts { channel, drive } = slf.get().parts()?;
        let endpoint = api.get().endpoint(place)?;
        let payload = encode::payload(&api.get().plans, endpoint.request, value)?;
        let request = request(payload, timeout, metadata)?;
        let call = channel.server_streaming::<Payload, Payload>(endpoint.method, request);
        let stream = blocking(drive)?.wait(slf.py(), call)?;
        Messages::new(slf, &api.get().plans, endpoint, stream, None)
    }

    /// Makes a call whose requests come from an iterable.
    #[pyo3(signature = (api, place, values, timeout = None, metadata = None))]
    fn client_streaming<'py>(
        &self,
        py: Python<'py>,
        api: &Api,
        place: usize,
        values: &Bound<'py, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Parts { channel, drive } = self.parts()?;
        let endpoint = api.endpoint(place)?;
        let (requests, failure) = Pulled::new(values, &api.plans, endpoint.request)?;
        let request = request(requests, timeout, metadata)?;
        let call = channel.client_streaming::<_, Payload>(endpoint.method, request);
        let reply = blocking(drive)?.wait(py, failure.or(call))??;
        decoded(py, &api.plans, endpoint, reply.map(Response::into_inner))
    }

    /// Makes a call with streams in both directions, whose requests come from an iterable.
    #[pyo3(signature = (api, place, values, timeout = None, metadata = None))]
    fn streaming(
        slf: &Bound<'_, Self>,
        api: &Bound<'_, Api>,
        place: usize,
        values: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Messages> {
        let Parts { channel, drive } = slf.get().parts()?;
        let endpoint = api.get().endpoint(place)?;
        let (requests, failure) = Pulled::new(values, &api.get().plans, endpoint.request)?;
        let request = request(requests, timeout, metadata)?;
        let call = channel.streaming::<_, Payload>(endpoint.method, request);
        let stream = blocking(drive)?.wait(slf.py(), call)?;
        Messages::new(slf, &api.get().plans, endpoint, stream, Some(failure))
    }

    /// Begins [`reflect`](Self::reflect) for a future of asyncio.
    fn start_reflect(&self, inbox: &Inbox, future: Py<PyAny>) -> PyResult<Started> {
        let channel = self.parts()?.channel.clone();
        let fetch = async move { ServerSchema::fetch(&channel).await };
        start(inbox, future, fetch, |py, shown| {
            let schema = Schema::of_server(&shown.map_err(|status| raised(py, &status))?)?;
            Ok(Py::new(py, schema)?.into_bound(py).into_any())
        })
    }

    /// Begins a unary call for a future of asyncio.
    #[pyo3(signature = (api, place, value, inbox, future, timeout = None, metadata = None))]
    #[allow(clippy::too_many_arguments)] // They are those of the call, and where its reply goes.
    fn start_unary(
        &self,
        api: &Api,
        place: usize,
        value: &Bound<'_, PyAny>,
        inbox: &Inbox,
        future: Py<PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Started> {
        let channel = self.parts()?.channel.clone();
        let (endpoint, plans) = (api.endpoint(place)?, api.plans.clone());
        let request = request(encode::payload(&plans, endpoint.request, value)?, timeout, metadata)?;
        let call = async move { channel.unary::<Payload, Payload>(endpoint.method, request).await };
        start(inbox, future, call, move |py, reply| decoded(py, &plans, endpoint, reply.map(Response::into_inner)))
    }

    /// Begins a call whose replies are a stream.
    #[pyo3(signature = (api, place, value, timeout = None, metadata = None))]
    fn open_server_streaming(
        &self,
        api: &Api,
        place: usize,
        value: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<AsyncMessages> {
        let channel = self.parts()?.channel.clone();
        let (endpoint, plans) = (api.endpoint(place)?, api.plans.clone());
        let request = request(encode::payload(&plans, endpoint.request, value)?, timeout, metadata)?;
        let call = async move { channel.server_streaming::<Payload, Payload>(endpoint.method, request).await };
        Ok(AsyncMessages::new(plans, endpoint, Box::pin(call)))
    }

    /// Begins a call whose requests are sent one by one.
    #[pyo3(signature = (api, place, inbox, future, timeout = None, metadata = None))]
    fn start_client_streaming(
        &self,
        api: &Api,
        place: usize,
        inbox: &Inbox,
        future: Py<PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Started, Requests)> {
        let channel = self.parts()?.channel.clone();
        let (endpoint, plans) = (api.endpoint(place)?, api.plans.clone());
        let (requests, stream) = Requests::new(plans.clone(), endpoint.request);
        let request = request(stream, timeout, metadata)?;
        let call = async move { channel.client_streaming::<_, Payload>(endpoint.method, request).await };
        let finish = move |py: Python<'_>, reply: Result<Response<Payload>, Status>| {
            decoded(py, &plans, endpoint, reply.map(Response::into_inner)).map(Bound::unbind)
        };
        let started = start(inbox, future, call, move |py, reply| finish(py, reply).map(|value| value.into_bound(py)))?;
        Ok((started, requests))
    }

    /// Begins a call with streams in both directions, whose requests are sent one by one.
    #[pyo3(signature = (api, place, timeout = None, metadata = None))]
    fn open_streaming(
        &self,
        api: &Api,
        place: usize,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(AsyncMessages, Requests)> {
        let channel = self.parts()?.channel.clone();
        let (endpoint, plans) = (api.endpoint(place)?, api.plans.clone());
        let (requests, stream) = Requests::new(plans.clone(), endpoint.request);
        let request = request(stream, timeout, metadata)?;
        let call = async move { channel.streaming::<_, Payload>(endpoint.method, request).await };
        Ok((AsyncMessages::new(plans, endpoint, Box::pin(call)), requests))
    }
}

impl Channel {
    fn parts(&self) -> PyResult<&Parts> {
        self.made.check()?;
        self.parts.as_ref().ok_or_else(|| PyRuntimeError::new_err("the client is closed"))
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        if self.made.check().is_err() {
            std::mem::forget(parts);
            return;
        }
        let Parts { channel, drive } = parts;
        drop(channel);
        // Its thread may be within an iterable of requests, which needs the GIL. Without an interpreter nothing does.
        let mut drive = drive;
        Python::try_attach(|py| py.detach(|| drop(drive.take())));
    }
}

fn blocking(drive: &Option<Drive>) -> PyResult<&Drive> {
    drive.as_ref().ok_or_else(|| PyRuntimeError::new_err("the client belongs to asyncio"))
}

fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(format!("timeout: {error}")))
}

fn request<T>(message: T, timeout: Option<f64>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Request<T>> {
    let mut request = Request::new(message);
    if let Some(timeout) = timeout {
        request.set_timeout(duration(timeout)?);
    }
    if let Some(given) = given {
        let metadata = metadata(given)?;
        if !metadata.is_empty() {
            *request.metadata_mut() = metadata;
        }
    }
    Ok(request)
}

fn decoded<'py>(
    py: Python<'py>,
    plans: &Plans,
    endpoint: Endpoint,
    reply: Result<Payload, Status>,
) -> PyResult<Bound<'py, PyAny>> {
    let reply = reply.map_err(|status| raised(py, &status))?;
    decode::body(py, plans, endpoint.reply, reply.received(), endpoint.appended).map_err(|error| {
        let text = format!("the reply does not fit the schema: {}", error.value(py));
        raised(py, &Status::internal(text))
    })
}

/// The replies of a call, for a caller that blocks.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Messages {
    channel: Py<Channel>,
    plans: Arc<Plans>,
    endpoint: Endpoint,
    stream: Mutex<Option<Streaming<Payload>>>,
    failure: Option<crate::requests::Failure>,
}

impl Messages {
    fn new(
        channel: &Bound<'_, Channel>,
        plans: &Arc<Plans>,
        endpoint: Endpoint,
        stream: Result<Response<Streaming<Payload>>, Status>,
        failure: Option<crate::requests::Failure>,
    ) -> PyResult<Self> {
        let stream = stream.map_err(|status| raised(channel.py(), &status))?.into_inner();
        let channel = channel.clone().unbind();
        Ok(Self { channel, plans: plans.clone(), endpoint, stream: Mutex::new(Some(stream)), failure })
    }
}

#[pymethods]
impl Messages {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // Taken out, so that another thread does not wait for it with the GIL.
        let Some(mut stream) = self.stream.lock().take() else { return Ok(None) };
        let drive = blocking(&self.channel.get().parts()?.drive)?;
        let next = match &self.failure {
            None => drive.wait(py, stream.message())?,
            Some(failure) => drive.wait(py, failure.clone().or(stream.message()))??,
        };
        match next {
            Ok(None) => Ok(None),
            Ok(Some(message)) => {
                let value = decoded(py, &self.plans, self.endpoint, Ok(message))?;
                *self.stream.lock() = Some(stream);
                Ok(Some(value))
            }
            Err(status) => Err(raised(py, &status)),
        }
    }

    /// Gives the call up.
    fn close(&self) {
        let stream = self.stream.lock().take();
        drop(stream);
    }
}

type Opening = std::pin::Pin<Box<dyn Future<Output = Result<Response<Streaming<Payload>>, Status>> + Send>>;

/// The replies of a call, for an event loop.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct AsyncMessages {
    plans: Arc<Plans>,
    endpoint: Endpoint,
    stream: Arc<tokio::sync::Mutex<Stage>>,
}

/// How far a call has come.
enum Stage {
    Opening(Opening),
    Open(Box<Streaming<Payload>>),
    Over,
}

impl AsyncMessages {
    fn new(plans: Arc<Plans>, endpoint: Endpoint, opening: Opening) -> Self {
        Self { plans, endpoint, stream: Arc::new(tokio::sync::Mutex::new(Stage::Opening(opening))) }
    }
}

#[pymethods]
impl AsyncMessages {
    /// Begins to wait for the next message.
    fn start_next(&self, inbox: &Inbox, future: Py<PyAny>) -> PyResult<Started> {
        let (stream, plans, endpoint) = (self.stream.clone(), self.plans.clone(), self.endpoint);
        let next = async move { stream.lock().await.next().await };
        start(inbox, future, next, move |py, next| match next.transpose() {
            Some(message) => decoded(py, &plans, endpoint, message),
            None => Err(PyStopAsyncIteration::new_err(())),
        })
    }

    /// Gives the call up.
    fn close(&self) -> PyResult<()> {
        let stream = self.stream.clone();
        drive::background()?.spawn(async move { *stream.lock().await = Stage::Over });
        Ok(())
    }
}

impl Stage {
    async fn next(&mut self) -> Result<Option<Payload>, Status> {
        if let Self::Opening(opening) = self {
            match opening.as_mut().await {
                Ok(response) => *self = Self::Open(Box::new(response.into_inner())),
                Err(status) => {
                    *self = Self::Over;
                    return Err(status);
                }
            }
        }
        let Self::Open(stream) = self else { return Ok(None) };
        let next = stream.message().await;
        if !matches!(next, Ok(Some(_))) {
            *self = Self::Over;
        }
        next
    }
}

/// Something that runs for a future of asyncio.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Started(AbortHandle);

#[pymethods]
impl Started {
    /// Ends it; a call is given up, and the server is told.
    fn cancel(&self) {
        self.0.abort();
    }
}

/// Runs `work`, and ends a future of asyncio with what `finish` makes of its output.
pub(crate) fn start<T: Send + 'static>(
    inbox: &Inbox,
    future: Py<PyAny>,
    work: impl Future<Output = T> + Send + 'static,
    finish: impl for<'py> FnOnce(Python<'py>, T) -> PyResult<Bound<'py, PyAny>> + Send + 'static,
) -> PyResult<Started> {
    Ok(start_in(&drive::background()?, inbox.sender(), future, work, finish))
}

/// As [`start`], in another runtime.
pub(crate) fn start_in<T: Send + 'static>(
    runtime: &Handle,
    sender: Sender,
    future: Py<PyAny>,
    work: impl Future<Output = T> + Send + 'static,
    finish: impl for<'py> FnOnce(Python<'py>, T) -> PyResult<Bound<'py, PyAny>> + Send + 'static,
) -> Started {
    let task = runtime.spawn(async move {
        let output = work.await;
        sender.leave(Box::new(move |py| settle(future.bind(py), finish(py, output))));
    });
    Started(task.abort_handle())
}
