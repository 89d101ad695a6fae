//! Unary calls over other protocols. If the handler is ready immediately, the response is available when the function
//! that starts the call returns. Otherwise the handler continues as a task.

use super::{AdapterCaller, AdapterMethod, AdapterMethods, InProgress};
use crate::debug::opaque_debug;
use crate::endpoint::inline_runs::InlineRuns;
use crate::service::caller::Caller;
use crate::service::erased::Kind;
use crate::service::failures::{overloaded, takes_too_much};
use crate::service::invoke::{
    AdapterOutcome, Incoming, Invoke, InvokeSettings, PendingHandler, ReplyTo, ServeProgress,
};
use crate::wire::body::DecodeOptions;
use crate::wire::envelope::Envelope;
use crate::wire::prefix::Prefix;
use crate::{Request, Response, Status};
use bytes::Bytes;
use frisbee::MemoryCharge;
use frisbee::rpc::ConnectionExt;
use parking_lot::MutexGuard;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::runtime::EnterGuard;
use tokio::task::{JoinError, JoinHandle};

impl AdapterMethods {
    /// Starts a batch of calls at time `now`. The calls are made one after the other on the current thread, within the
    /// runtime of the handlers. If another batch of the same client is in progress, all handlers run as tasks.
    pub fn batch(&self, now: Instant) -> AdapterBatch<'_> {
        let adapter = &*self.caller;
        let _entered = adapter.connection.runtime_handle().enter();
        let caller = Caller::new(&adapter.connection, &self.offer.load, None, false);
        AdapterBatch { adapter, caller, inline_runs: adapter.inline_runs.try_lock(), began: now, _entered }
    }
}

/// Batch of calls that an adapter makes on one thread without yielding.
pub struct AdapterBatch<'a> {
    adapter: &'a AdapterCaller,
    caller: Caller,
    /// `None` if another batch of this client was in progress at the start. Waiting for its lock could deadlock, because
    /// one of its handlers may have started this batch.
    inline_runs: Option<MutexGuard<'a, InlineRuns>>,
    began: Instant,
    _entered: EnterGuard<'a>,
}

impl Drop for AdapterBatch<'_> {
    fn drop(&mut self) {
        let connection = &self.adapter.connection;
        // Clear the operation, so that the watchdog does not blame the last method if the thread is blocked later.
        connection.set_routed(0);
        let clock = || tokio::time::Instant::now().into_std();
        // If the batch took too long, further handlers are spawned as tasks.
        if let Some(inline_runs) = &mut self.inline_runs {
            inline_runs.end_batch(self.began, clock, || connection.turn_max());
        }
    }
}

opaque_debug!([] AdapterBatch<'_>, "AdapterBatch", |this| began = this.began);

impl AdapterMethod {
    /// Returns a reusable slot for calls of this method in a message format. Returns `None` if the method is streaming
    /// or does not support the format.
    pub fn slot(&self, format: &str) -> Option<AdapterSlot> {
        let served = self.served();
        let Kind::Unary(unary) = &served.entry.kind else { return None };
        let AdapterMethods { offer, caller } = &self.methods;
        let instance = unary.instance(InvokeSettings {
            permits: caller.permits(self.operation, &served.running),
            format: Some((format, &offer.options)),
            ..served.settings(DecodeOptions::whole(offer.options.nesting), caller.rules.as_ref())
        })?;
        Some(AdapterSlot { method: self.clone(), instance })
    }
}

/// Reusable state for calls of one method in one message format.
pub struct AdapterSlot {
    method: AdapterMethod,
    instance: Box<dyn Invoke>,
}

/// State of an adapter's call when the function that starts it returns.
#[derive(Debug)]
pub enum AdapterCall {
    /// The call has completed. Its encoded response message has been appended to the output.
    Ready(Result<Response<()>, Status>),
    /// The handler is pending. Its result and memory charge will be passed to the callback of the call.
    InProgress(AdapterTask),
}

/// A call with a handler that is still running. Dropping it cancels the call.
pub struct AdapterTask<T = ()>(pub(super) JoinHandle<T>);

impl<T> Future for AdapterTask<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for AdapterTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

opaque_debug!([T] AdapterTask<T>, "AdapterTask");

impl AdapterSlot {
    /// Calls the method. If its handler is ready immediately, the response is appended to `out`. Otherwise `out` is
    /// unchanged, and `make` creates a function that a task in the server's runtime calls with the result. If the
    /// response would exceed the client's memory limit, the result is an error.
    pub fn call<D>(
        &mut self,
        batch: &mut AdapterBatch<'_>,
        request: Request<Bytes>,
        out: &mut Vec<u8>,
        make: impl FnOnce() -> D,
    ) -> AdapterCall
    where
        D: FnOnce(Result<Response<Bytes>, Status>, MemoryCharge) + Send + 'static,
    {
        let AdapterBatch { adapter, caller, inline_runs, .. } = batch;
        let trace = request.traceparent();
        let (body, timeout, _, extras) = request.into_parts_with_extras();
        let length = body.len();
        let has_options = timeout.is_some() || extras.as_deref().is_some();
        let options = has_options.then(|| Box::new(Prefix { timeout, extras, ..Prefix::default() }));
        let mut outcome = None;
        let inline = inline_runs.as_mut().is_some_and(|inline_runs| inline_runs.begin());
        adapter.connection.set_routed(self.method.operation);
        // Dropped even if the handler panics at its start.
        let permit = self.method.methods.caller.enter_call();
        let served = self.instance.serve(Incoming {
            caller,
            envelope: Envelope { options, body, length },
            trace: trace.as_ref(),
            reply: ReplyTo::Adapter { out, outcome: &mut outcome },
            inline,
            has_permit: permit.is_some(),
        });
        match served {
            ServeProgress::Refused => adapter.context.charge_abuse(length),
            ServeProgress::Started | ServeProgress::Slow => adapter.context.credit(length),
            ServeProgress::Overloaded => {}
        }
        match outcome {
            Some(AdapterOutcome::Ready(result)) => AdapterCall::Ready(result),
            Some(AdapterOutcome::Pending(pending)) => {
                // The task's guard removes the call from the count when the task ends.
                mem::forget(permit);
                AdapterCall::InProgress(self.method.spawn(pending, make))
            }
            None => AdapterCall::Ready(Err(Status::internal("the method has not answered"))),
        }
    }
}

opaque_debug!([] AdapterSlot, "AdapterSlot", |this| method = this.method.name());

impl AdapterMethod {
    /// Spawns a task that continues a call with a pending handler.
    fn spawn<D>(&self, pending: PendingHandler, make: impl FnOnce() -> D) -> AdapterTask
    where
        D: FnOnce(Result<Response<Bytes>, Status>, MemoryCharge) + Send + 'static,
    {
        let PendingHandler { work, memory, observed_call } = pending;
        let caller = &self.methods.caller;
        let mut call = InProgress::entered(caller, false);
        call.observed_call = observed_call;
        // Charge the handler's future in addition to its request.
        let memory = memory + size_of_val(&*work);
        let (hold, done) = (caller.connection.charge_request(memory), make());
        let task = caller.connection.runtime_handle().spawn(async move {
            let connection = &call.caller.connection;
            let response = work.await.and_then(|response| match takes_too_much(connection, response.get_ref().len()) {
                true => Err(overloaded()),
                false => Ok(response),
            });
            // Charge the reply before releasing the request, so that the total never falls below the memory in use.
            let reply = connection.charge_request(response.as_ref().map_or(0, |response| response.get_ref().len()));
            call.end(response.as_ref().map_or_else(Status::code, |_| crate::Code::Ok));
            // Release the call before reporting its result, because the client may immediately make its next call.
            drop((hold, call));
            done(response, reply);
        });
        AdapterTask(task)
    }
}
