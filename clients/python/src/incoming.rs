//! [`Incoming`]: the requests of a call at a server, for a function that reads them one by one: with `for` in a thread of the
//! pool, and with `async for` in an event loop.

use crate::handler::Function;
use crate::inbox::Sender;
use crate::inbox::settle;
use crate::payload::{Encoding, Payload};
use crate::status::raised;
use frpc::{Status, Streaming};
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration};
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// The requests of a call.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Incoming {
    function: Arc<Function>,
    /// `None` once it has ended.
    stream: Arc<Mutex<Option<Streaming<Payload>>>>,
    spoken: Arc<OnceLock<Encoding>>,
    runtime: Handle,
    /// Of the event loop, if the function runs in one.
    sender: Option<Sender>,
}

impl Incoming {
    /// To be made in the runtime of the server. `spoken` gets the encoding of the first request.
    pub(crate) fn new(
        function: Arc<Function>,
        stream: Streaming<Payload>,
        spoken: Arc<OnceLock<Encoding>>,
        sender: Option<Sender>,
    ) -> Self {
        let stream = Arc::new(Mutex::new(Some(stream)));
        Self { function, stream, spoken, runtime: Handle::current(), sender }
    }
}

/// The next request.
async fn next(
    stream: Arc<Mutex<Option<Streaming<Payload>>>>,
    spoken: Arc<OnceLock<Encoding>>,
) -> Result<Option<Payload>, Status> {
    let mut stream = stream.lock().await;
    let Some(open) = stream.as_mut() else { return Ok(None) };
    let next = open.message().await;
    match &next {
        Ok(Some(payload)) => {
            let _ = spoken.set(payload.encoding); // It is the same for all.
        }
        _ => *stream = None,
    }
    next
}

fn value<'py>(py: Python<'py>, function: &Function, payload: &Payload) -> PyResult<Bound<'py, PyAny>> {
    function.read(py, payload).map_err(|status| raised(py, &status))
}

#[pymethods]
impl Incoming {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.sender.is_some() {
            return Err(PyRuntimeError::new_err("in an event loop, requests are read with `async for`"));
        }
        let next = py.detach(|| self.runtime.block_on(next(self.stream.clone(), self.spoken.clone())));
        match next.map_err(|status| raised(py, &status))? {
            Some(payload) => value(py, &self.function, &payload).map(Some),
            None => Ok(None),
        }
    }

    fn __aiter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// A future of asyncio.
    fn __anext__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(sender) = &self.sender else {
            return Err(PyRuntimeError::new_err("outside of an event loop, requests are read with `for`"));
        };
        let future = py.import("asyncio")?.call_method0("get_running_loop")?.call_method0("create_future")?;
        let function = self.function.clone();
        let next = next(self.stream.clone(), self.spoken.clone());
        let finish = move |py: Python<'_>, next| match next {
            Ok(Some(payload)) => value(py, &function, &payload).map(Bound::unbind),
            Ok(None) => Err(PyStopAsyncIteration::new_err(())),
            Err(status) => Err(raised(py, &status)),
        };
        let (sender, future_handle) = (sender.clone(), future.clone().unbind());
        self.runtime.spawn(async move {
            let next = next.await;
            sender.leave(Box::new(move |py| {
                let outcome = finish(py, next).map(|value| value.into_bound(py));
                settle(future_handle.bind(py), outcome)
            }));
        });
        Ok(future)
    }
}
