//! The requests of a call that streams: pulled from an iterable where a caller blocks, or sent one by one.

use crate::client::{Started, start};
use crate::encode;
use crate::inbox::Inbox;
use crate::lanes::Site;
use crate::payload::Payload;
use crate::plan::Plans;
use crate::status::raised;
use frpc::{RequestSender, RequestStream, Status};
use futures_core::Stream;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::Notify;

/// How many requests may wait to be sent.
const REQUESTS_AHEAD: usize = 16;

/// The messages of an iterable, each read when the send queue has room.
pub(crate) struct IterableMessages {
    values: Py<PyIterator>,
    plans: Arc<Plans>,
    index: usize,
    failure: Failure,
}

/// The exception that ended the iterable.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<(Mutex<Option<PyErr>>, Notify)>);

impl IterableMessages {
    pub(crate) fn new(values: &Bound<'_, PyAny>, plans: &Arc<Plans>, index: usize) -> PyResult<(Self, Failure)> {
        let failure = Failure::default();
        let values = values.try_iter()?.unbind();
        Ok((Self { values, plans: plans.clone(), index, failure: failure.clone() }, failure))
    }
}

impl Stream for IterableMessages {
    type Item = Payload;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Payload>> {
        let next = Python::attach(|py| {
            let next = self.values.bind(py).clone().next();
            next.map(|value| encode::payload(&self.plans, self.index, &value?)).transpose()
        });
        match next {
            Ok(next) => Poll::Ready(next),
            Err(error) => {
                // The call is cancelled, rather than ended as if all had been sent.
                *self.failure.0.0.lock() = Some(error);
                self.failure.0.1.notify_one();
                Poll::Pending
            }
        }
    }
}

impl Failure {
    /// Waits for the end of a call, or for the exception.
    pub(crate) async fn or<T>(self, call: impl Future<Output = T>) -> PyResult<T> {
        let mut call = pin!(call);
        tokio::select! {
            biased;
            () = self.0.1.notified() => {}
            output = &mut call => return Ok(output),
        }
        match self.0.0.lock().take() {
            Some(error) => Err(error),
            None => Err(pyo3::exceptions::PyRuntimeError::new_err("the requests have failed before")),
        }
    }
}

/// The requests of a call of an event loop.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Requests {
    /// `None` once all are sent.
    sender: Mutex<Option<RequestSender<Payload>>>,
    plans: Arc<Plans>,
    index: usize,
    site: Site,
}

impl Requests {
    pub(crate) fn new(plans: Arc<Plans>, index: usize, site: Site) -> (Self, RequestStream<Payload>) {
        let (sender, stream) = RequestStream::channel(REQUESTS_AHEAD);
        (Self { sender: Mutex::new(Some(sender)), plans, index, site }, stream)
    }
}

#[pymethods]
impl Requests {
    /// Begins to send a request, which waits for room.
    fn start_send(&self, value: &Bound<'_, PyAny>, inbox: &Inbox, future: Py<PyAny>) -> PyResult<Started> {
        let py = value.py();
        let payload = encode::payload(&self.plans, self.index, value)?;
        let sender = self.sender.lock().clone();
        let send = async move {
            match sender {
                Some(sender) => sender.send(payload).await,
                None => Err(Status::failed_precondition("the requests have ended")),
            }
        };
        start(py, &self.site, inbox, future, send, |py, sent: Result<(), Status>| match sent {
            Ok(()) => Ok(py.None().into_bound(py)),
            Err(status) => Err(raised(py, &status)),
        })
    }

    /// Says that all requests are sent.
    fn close(&self) {
        let sender = self.sender.lock().take();
        drop(sender);
        self.site.ring();
    }
}
