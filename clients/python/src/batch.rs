//! [`Batch`]: combines calls of many clients into one call of a function, which takes lists and returns a list.

use crate::buffer::introduce_thread;
use crate::drive::{in_handler, in_pool};
use crate::handler::Function;
use crate::payload::{Encoding, Payload};
use frpc::tensor::batch::Batcher;
use frpc::{Request, Response, Status};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// Queue of the calls to a Python function that processes them in batches.
pub(crate) struct Batch(Batcher<Payload, Payload, Status>);

type Outcomes = Vec<Result<Payload, Status>>;

impl Batch {
    /// Starts the thread that calls the Python function. It exits when the queue is dropped. A batch has at most
    /// `size_max` calls, and its first call waits at most `delay_max` for others.
    pub(crate) fn new(function: Arc<Function>, size_max: usize, delay_max: Duration) -> PyResult<Self> {
        let (batches, coming) = mpsc::channel::<(Vec<Payload>, oneshot::Sender<Outcomes>)>();
        thread::Builder::new().name("frisbee-rpc-batch".to_owned()).spawn(move || {
            introduce_thread();
            while let Ok((batch, reply)) = coming.recv() {
                // The send fails only if the server has shut down.
                let _ = reply.send(serve(&function, &batch));
            }
        })?;
        let builder = Batcher::builder().size_max(size_max).delay_max(delay_max);
        Ok(Self(builder.build(move |batch: Vec<Payload>| {
            let count = batch.len();
            let (reply, replied) = oneshot::channel();
            // The send fails only if the batch thread has ended. The calls of the batch then fail below.
            let _ = batches.send((batch, reply));
            async move { replied.await.unwrap_or_else(|_| ending(count)) }
        })))
    }

    /// Adds a call to the next batch and waits for its outcome.
    pub(crate) fn call(
        &self,
        request: Request<Payload>,
    ) -> impl Future<Output = Result<Response<Payload>, Status>> + Send + use<> {
        let batcher = self.0.clone();
        async move { batcher.call(request.into_inner()).await.map(Response::new) }
    }
}

fn ending(count: usize) -> Outcomes {
    (0..count).map(|_| Err(Status::unavailable("the server is ending"))).collect()
}

/// Calls the Python function with the arguments of all calls in a batch, as one list per parameter.
fn serve(function: &Function, batch: &[Payload]) -> Outcomes {
    let serve = |py: Python<'_>| {
        let read: Vec<_> = batch.iter().map(|request| function.arguments(py, request)).collect();
        let rows: Vec<_> = read.iter().filter_map(|row| row.as_ref().ok().cloned()).collect();
        let mut results = results(function, &rows).map(Vec::into_iter);
        let outcome = |(request, row): (&Payload, Result<_, Status>)| {
            // A request that cannot be decoded fails only its own call.
            row?;
            match &mut results {
                Ok(results) => match results.next() {
                    Some(value) => outcome(function, &value, request.encoding),
                    None => Err(Status::internal("the function has returned too few results")),
                },
                Err(status) => Err(status.clone()),
            }
        };
        batch.iter().zip(read).map(outcome).collect()
    };
    // Mark the batch thread as a pool thread, because functions may block there.
    let served = in_pool(|| in_handler(&function.pool, || Python::try_attach(serve)));
    served.unwrap_or_else(|| ending(batch.len()))
}

/// Converts the value that the function returned for one call of the batch.
fn outcome(function: &Function, value: &Bound<'_, PyAny>, encoding: Encoding) -> Result<Payload, Status> {
    match value.cast::<PyBaseException>() {
        Ok(error) => Err(function.raised(value.py(), &PyErr::from_value(error.clone().into_any()))),
        Err(_) => function.reply(value, Some(encoding)),
    }
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
    let returned = function.invoke(&function.variables(py)?, &arguments, None)?;
    let results: Vec<_> = returned.try_iter().and_then(Iterator::collect).map_err(failed)?;
    if results.len() == rows.len() {
        return Ok(results);
    }
    let text = format!("the function has returned {} results for {} calls", results.len(), rows.len());
    Err(failed(PyValueError::new_err(text)))
}
