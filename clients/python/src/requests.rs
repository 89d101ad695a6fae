//! Requests of a streaming call. A blocking caller reads them from an iterable, and a task of an event loop sends
//! them one by one.

use crate::client::{Started, start};
use crate::drive::{self, Waiter};
use crate::inbox::Inbox;
use crate::lanes::Site;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::schema::Endpoint;
use crate::status::none;
use frpc::{RequestSender, RequestStream, Status};
use futures_core::Stream;
use parking_lot::Mutex;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// Maximum number of requests that are buffered before they are sent.
const REQUESTS_AHEAD: usize = 16;

/// Stream of the messages in a Python iterable. Each is read when the send queue has space. [`IterableSource`] reads
/// them.
pub(crate) struct IterableMessages(Arc<Shared>);

/// A Python iterable of requests, which is read by the thread that waits for the call. The iterable may itself make
/// calls.
pub(crate) struct IterableSource {
    /// The iterator of the iterable. `None` after Python's garbage collector has cleared it.
    values: Mutex<Option<Py<PyIterator>>>,
    endpoint: Endpoint,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    slot: Mutex<Slot>,
    /// Notified when the call requests the next message.
    wanted: Notify,
}

#[derive(Default)]
struct Slot {
    /// The next message, where the inner `None` is the end of the iterable.
    next: Option<Option<Payload>>,
    /// Waker of the task that requested the message.
    waker: Option<Waker>,
}

impl Stream for IterableMessages {
    type Item = Payload;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Payload>> {
        let mut slot = self.0.slot.lock();
        if let Some(next) = slot.next.take() {
            return Poll::Ready(next);
        }
        // Store the waker before notifying, because the reader ignores a notification if no waker is stored.
        slot.waker = Some(context.waker().clone());
        drop(slot);
        self.0.wanted.notify_one();
        Poll::Pending
    }
}

impl IterableSource {
    pub(crate) fn new(values: &Bound<'_, PyAny>, endpoint: &Endpoint) -> PyResult<(IterableMessages, Self)> {
        let shared = Arc::<Shared>::default();
        let values = Mutex::new(Some(values.try_iter()?.unbind()));
        Ok((IterableMessages(shared.clone()), Self { values, endpoint: endpoint.clone(), shared }))
    }

    /// Waits for a part of the call, reading the messages that it requests from the iterable. If the iterable raises an
    /// exception, the call is cancelled, so that the server does not consider the requests complete.
    pub(crate) fn wait<F>(&self, py: Python<'_>, waiter: &Waiter<'_>, part: F) -> PyResult<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let mut part = Box::pin(part);
        let outcome = loop {
            let turn = async {
                tokio::select! {
                    // Poll the call first, so that no message is taken from the iterable after the call has ended.
                    biased;
                    output = part.as_mut() => Some(output),
                    () = self.shared.wanted.notified() => None,
                }
            };
            match waiter.wait(py, turn) {
                Ok(Some(output)) => break Ok(output),
                Ok(None) => {
                    if let Err(error) = self.supply(py) {
                        break Err(error);
                    }
                }
                Err(error) => break Err(error),
            }
        };
        if outcome.is_err() {
            drop(part);
            // Flush to send the CANCEL immediately. The first error is the outcome.
            let _ = waiter.wait(py, drive::flush());
        }
        outcome
    }

    /// Shows the iterable to Python's garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Do not block on the lock: the garbage collector may run on the thread that holds it.
        self.values.try_lock().map_or(Ok(()), |values| visit.call(&*values))
    }

    /// Drops the iterable.
    pub(crate) fn clear(&self) {
        let values = self.values.lock().take();
        // Drop the iterable after releasing the lock, because its destructor may run Python code.
        drop(values);
    }

    /// Reads the next message from the iterable if the call has requested it.
    fn supply(&self, py: Python<'_>) -> PyResult<()> {
        // Return if no waker is stored: the call has not requested a message, because the previous one is still in
        // the slot.
        let Some(waker) = self.shared.slot.lock().waker.take() else { return Ok(()) };
        // Read the iterable without the locks, because it may run arbitrary Python code.
        let values = self.values.lock().as_ref().map(|values| values.clone_ref(py));
        let next = values.and_then(|values| values.into_bound(py).next());
        let next = next.map(|value| self.endpoint.encode(&value?)).transpose()?;
        self.shared.slot.lock().next = Some(next);
        waker.wake();
        Ok(())
    }
}

/// Sender for the requests of a call made in an event loop.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Requests {
    /// Sender of the requests. `None` once all requests have been sent.
    sender: Mutex<Option<RequestSender<Payload>>>,
    endpoint: Endpoint,
    site: Site,
}

impl Requests {
    pub(crate) fn new(endpoint: &Endpoint, site: Site) -> (Self, RequestStream<Payload>) {
        let (sender, stream) = RequestStream::channel(REQUESTS_AHEAD);
        (Self { sender: Mutex::new(Some(sender)), endpoint: endpoint.clone(), site }, stream)
    }
}

#[pymethods]
impl Requests {
    /// Starts sending a request, which waits for space in the buffer, and completes a [`Reply`] once it is sent.
    fn start_send(&self, value: &Bound<'_, PyAny>, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        let py = value.py();
        let payload = self.endpoint.encode(value)?;
        let sender = self.sender.lock().clone();
        let send = async move {
            match sender {
                Some(sender) => sender.send(payload).await,
                None => Err(Status::failed_precondition("the requests have ended")),
            }
        };
        start(py, &self.site, inbox, future, send, none)
    }

    /// Ends the stream of requests.
    fn close(&self) {
        let sender = self.sender.lock().take();
        drop(sender);
        // Wake the event loop, because the end is sent only when the loop drives the runtime.
        self.site.ring();
    }
}
