//! [`Incoming`]: the requests of a call at a server, for a function that reads them individually: with `for` on a pool
//! thread, or with `async for` in an event loop.

use crate::client::Started;
use crate::handler::{CallerEncoding, Function};
use crate::inbox::Inbox;
use crate::lanes::Site;
use crate::payload::Payload;
use crate::ready::{NextItem, ReadySlot};
use crate::reply::Reply;
use crate::status::raised;
use frpc::{Status, Streaming};
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Stream of a call's requests, as a Python iterator.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Incoming {
    function: Arc<Function>,
    slot: ReadySlot<Requests, Result<Option<Payload>, Status>>,
    runtime: Handle,
    /// Whether the function that reads the requests runs in an event loop.
    is_in_loop: bool,
}

struct Requests {
    /// Stream of received requests. `None` once it has ended.
    stream: Option<Streaming<Payload>>,
    spoken: CallerEncoding,
}

impl Incoming {
    /// Creates the request stream of a call. Must be called within the server's runtime. `spoken` receives the encoding
    /// of the first request.
    pub(crate) fn new(
        function: Arc<Function>,
        stream: Streaming<Payload>,
        spoken: CallerEncoding,
        is_in_loop: bool,
    ) -> Self {
        let slot = ReadySlot::new(Requests { stream: Some(stream), spoken });
        Self { function, slot, runtime: Handle::current(), is_in_loop }
    }
}

impl NextItem<Result<Option<Payload>, Status>> for Requests {
    async fn next_item(&mut self) -> Result<Option<Payload>, Status> {
        let Some(open) = self.stream.as_mut() else { return Ok(None) };
        let next = open.message().await;
        match &next {
            Ok(Some(payload)) => {
                let _ = self.spoken.set(payload.encoding); // The encoding is the same for all requests.
            }
            _ => self.stream = None,
        }
        next
    }
}

impl Incoming {
    /// Converts a received request to its Python value. Returns `None` at the end of the requests.
    fn value<'py>(
        &self,
        py: Python<'py>,
        next: Result<Option<Payload>, Status>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = next.and_then(|payload| payload.map(|payload| self.function.read(py, &payload)).transpose());
        next.map_err(|status| raised(py, &status))
    }
}

#[pymethods]
impl Incoming {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.is_in_loop {
            return Err(PyRuntimeError::new_err("in an event loop, requests are read with `async for`"));
        }
        loop {
            py.detach(|| self.runtime.block_on(self.slot.clone().fill()));
            if let Some(next) = self.slot.take() {
                return self.value(py, next);
            }
        }
    }

    fn __aiter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Returns a coroutine that waits for the next request.
    fn __anext__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static NEXT_ITEM: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if !slf.get().is_in_loop {
            return Err(PyRuntimeError::new_err("outside of an event loop, requests are read with `for`"));
        }
        NEXT_ITEM.import(slf.py(), "frisbee_rpc._client", "_next_item")?.call1((slf,))
    }

    /// Starts waiting for the next request and completes a [`Reply`] when it arrives.
    fn start_next(&self, py: Python<'_>, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        self.slot.start(py, &Site::Thread(self.runtime.clone()), inbox, future)
    }

    /// Returns the received request as a 1-tuple, or `None` if another task has taken it.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(next) = self.slot.take() else { return Ok(None) };
        let value = self.value(py, next)?.ok_or_else(|| PyStopAsyncIteration::new_err(()))?;
        PyTuple::new(py, [value]).map(Some)
    }
}
