//! [`Batch`]: calls of many clients become one call of a function, which takes lists and returns a list.

use crate::buffer::introduce_thread;
use crate::handler::Function;
use crate::payload::Payload;
use frpc::{Request, Response, Status};
use parking_lot::{Condvar, Mutex};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many batches may wait. Calls beyond that are refused at once.
const BATCHES_AHEAD: usize = 16;

/// How a function takes calls together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The most calls of a batch.
    pub(crate) size_max: usize,
    /// How long the first call of a batch waits for others.
    pub(crate) delay_max: Duration,
}

/// The calls that wait for a function.
pub(crate) struct Batch(Arc<Shared>);

struct Shared {
    terms: Terms,
    queue: Mutex<Queue>,
    came: Condvar,
}

#[derive(Default)]
struct Queue {
    calls: VecDeque<Waiting>,
    is_over: bool,
}

/// A call that waits.
struct Waiting {
    request: Payload,
    came: Instant,
    reply: oneshot::Sender<Result<Payload, Status>>,
}

impl Batch {
    /// Starts the thread that calls the function.
    pub(crate) fn new(function: Arc<Function>, terms: Terms) -> PyResult<Self> {
        let shared = Arc::new(Shared { terms, queue: Mutex::default(), came: Condvar::new() });
        let calls = shared.clone();
        thread::Builder::new().name("frisbee-rpc-batch".to_owned()).spawn(move || {
            introduce_thread();
            while let Some(batch) = calls.next() {
                serve(&function, batch);
            }
        })?;
        Ok(Self(shared))
    }

    /// Adds a call to the next batch, and waits for its part of the outcome.
    pub(crate) fn call(
        &self,
        request: Request<Payload>,
    ) -> impl Future<Output = Result<Response<Payload>, Status>> + Send + use<> {
        let (reply, replied) = oneshot::channel();
        let is_taken = self.0.add(Waiting { request: request.into_inner(), came: Instant::now(), reply });
        async move {
            if !is_taken {
                return Err(Status::resource_exhausted("too many calls wait for the function"));
            }
            replied.await.unwrap_or_else(|_| Err(Status::unavailable("the server is ending"))).map(Response::new)
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.0.queue.lock().is_over = true;
        self.0.came.notify_all();
    }
}

impl Shared {
    fn add(&self, waiting: Waiting) -> bool {
        let mut queue = self.queue.lock();
        // Those that were given up make room.
        if queue.calls.len() >= self.terms.size_max.saturating_mul(BATCHES_AHEAD) {
            queue.calls.retain(|waiting| !waiting.reply.is_closed());
        }
        if queue.is_over || queue.calls.len() >= self.terms.size_max.saturating_mul(BATCHES_AHEAD) {
            return false;
        }
        queue.calls.push_back(waiting);
        if queue.calls.len() == 1 || queue.calls.len() == self.terms.size_max {
            self.came.notify_one();
        }
        true
    }

    /// Waits for a batch: full, or as long as its first call may wait. `None` when the server ends.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_over {
                return None;
            }
            // A call that was given up, or whose deadline has passed, is not made.
            while queue.calls.front().is_some_and(|waiting| waiting.reply.is_closed()) {
                queue.calls.pop_front();
            }
            let Some(first) = queue.calls.front() else {
                self.came.wait(&mut queue);
                continue;
            };
            let due = first.came + self.terms.delay_max;
            if queue.calls.len() >= self.terms.size_max || Instant::now() >= due {
                let count = queue.calls.len().min(self.terms.size_max);
                let batch: Vec<Waiting> =
                    queue.calls.drain(..count).filter(|waiting| !waiting.reply.is_closed()).collect();
                if !batch.is_empty() {
                    return Some(batch);
                }
                continue;
            }
            self.came.wait_until(&mut queue, due);
        }
    }
}

/// Calls the function with the arguments of all calls, each of which has a list for a parameter.
fn serve(function: &Function, batch: Vec<Waiting>) {
    let mut batch = Some(batch);
    // Without an interpreter, dropping the batch tells its callers that the server is ending.
    Python::try_attach(|py| {
        let (mut calls, mut rows) = (Vec::new(), Vec::new());
        for waiting in batch.take().unwrap_or_default() {
            match function.arguments(py, &waiting.request) {
                Ok(arguments) => {
                    rows.push(arguments);
                    calls.push(waiting);
                }
                // It fails alone.
                Err(status) => answer(waiting, Err(status)),
            }
        }
        if calls.is_empty() {
            return;
        }
        match results(function, &rows) {
            Ok(results) => {
                for (waiting, value) in calls.into_iter().zip(results) {
                    let encoding = waiting.request.encoding;
                    let reply = match value.cast::<PyBaseException>() {
                        Ok(error) => Err(function.raised(py, &PyErr::from_value(error.clone().into_any()))),
                        Err(_) => function.reply(&value, Some(encoding)),
                    };
                    answer(waiting, reply);
                }
            }
            Err(status) => calls.into_iter().for_each(|waiting| answer(waiting, Err(status.clone()))),
        }
    });
}

fn answer(waiting: Waiting, reply: Result<Payload, Status>) {
    // Nobody waits for a call that was given up.
    let _ = waiting.reply.send(reply);
}

fn results<'py>(function: &Function, rows: &[Bound<'py, PyTuple>]) -> Result<Vec<Bound<'py, PyAny>>, Status> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let py = first.py();
    let failed = |error: PyErr| function.raised(py, &error);
    let mut columns = Vec::with_capacity(first.len());
    for at in 0..first.len() {
        let column = rows.iter().map(|row| row.get_item(at)).collect::<PyResult<Vec<_>>>().map_err(failed)?;
        columns.push(PyList::new(py, column).map_err(failed)?);
    }
    let arguments = PyTuple::new(py, columns).map_err(failed)?;
    let returned = function.invoke(&arguments, None)?;
    let results: Vec<_> = returned.try_iter().and_then(Iterator::collect).map_err(failed)?;
    if results.len() == rows.len() {
        return Ok(results);
    }
    let text = format!("the function has returned {} results for {} calls", results.len(), rows.len());
    Err(failed(PyValueError::new_err(text)))
}
