//! Calls over adapter connections, which use other protocols on the port of the services. Unary calls invoke the
//! methods like native calls, in `adapter/turn.rs`. Streaming calls are started here.

pub(crate) mod peers;
pub(crate) mod responses;
#[cfg(test)]
mod tests;
pub(crate) mod turn;

use crate::api::authorize::PeerRules;
use crate::api::request::Origin;
use crate::clock;
use crate::context::{HandlerFuture, InheritedContext};
use crate::endpoint::inline_runs::InlineRuns;
use crate::endpoint::offer::ServiceOffer;
use crate::endpoint::table::ServedMethod;
use crate::observe::observers::ObservedCall;
use crate::server::adapter::responses::AdapterResponses;
use crate::server::adapter::turn::{AdapterCall, AdapterTask};
use crate::service::erased::{HandlerPlacement, Kind, StreamingMethod};
use crate::service::failures::{caller_gone, end_of_time, log, overloaded, panicked};
use crate::service::lifecycle::OfferedMethod;
use crate::service::stream_method::{Body, MessageBytes, single};
use crate::wire::prefix::Prefix;
use crate::{Code, Metadata, Request, Response, Status};
use bytes::Bytes;
use frisbee::Connection;
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::ParkedFuture;
use futures_core::Stream;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

/// Function that adds an adapter or an adapter listener to a server. Called after all services have been added.
pub(crate) type AdapterSetup =
    Box<dyn FnOnce(frisbee::ServerBuilder, Arc<ServiceOffer>) -> frisbee::ServerBuilder + Send + Sync>;

/// Server side of an adapter connection, which uses another protocol. Provides access to the methods of the server; see
/// [`ServerBuilder::adapter`](crate::ServerBuilder::adapter).
#[derive(Clone, Debug)]
pub struct AdapterContext {
    inner: frisbee::AdapterContext,
    methods: AdapterMethods,
}

impl AdapterContext {
    pub(crate) fn new(context: frisbee::AdapterContext, offer: &Arc<ServiceOffer>) -> Self {
        let connection = context.connection().clone();
        let caller = AdapterCaller {
            context: context.clone(),
            rules: offer.access.as_deref().map(|access| access.connected(&connection)),
            connection,
            permits: Mutex::default(),
            calls: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            inline_runs: Mutex::default(),
        };
        Self { inner: context, methods: AdapterMethods { offer: offer.clone(), caller: Arc::new(caller) } }
    }

    /// Creates a context for the requests of another client, which a trusted proxy forwards on this connection. The
    /// limits and access rules of that client apply to its calls. See [`frisbee::AdapterContext::on_behalf_of`].
    pub fn on_behalf_of(&self, client: IpAddr) -> Option<Self> {
        Some(Self::new(self.inner.on_behalf_of(client)?, &self.methods.offer))
    }

    /// Returns the service methods that the client of this connection can call.
    pub fn methods(&self) -> &AdapterMethods {
        &self.methods
    }
}

impl Deref for AdapterContext {
    type Target = frisbee::AdapterContext;

    fn deref(&self) -> &frisbee::AdapterContext {
        &self.inner
    }
}

/// Service methods of a server, as called by the client of one adapter connection. Clones belong to the same client.
#[derive(Clone)]
pub struct AdapterMethods {
    offer: Arc<ServiceOffer>,
    caller: Arc<AdapterCaller>,
}

/// A client that calls services through an adapter, with its limits and access rules.
struct AdapterCaller {
    context: frisbee::AdapterContext,
    connection: Connection,
    /// Permits for concurrent calls of methods with `Policy::AtMost`, by operation number.
    permits: Mutex<HashMap<u16, Arc<Semaphore>>>,
    /// Number of unary calls in progress.
    calls: AtomicUsize,
    /// Number of streaming calls in progress.
    streams: AtomicUsize,
    /// Decides whether handlers are polled inline or spawned as tasks.
    inline_runs: Mutex<InlineRuns>,
    /// Access rules for this client, if there are any.
    rules: Option<Arc<dyn PeerRules>>,
}

impl AdapterMethods {
    /// Returns the method `name` of the service with this full name. Clients that request nonexistent methods are
    /// throttled; see [`abuse_rate`](frisbee::Config::abuse_rate).
    pub fn get(&self, service: &str, name: &str) -> Option<AdapterMethod> {
        let Some(operation) = self.offer.table.operation(service, name) else {
            self.caller.context.charge_abuse(service.len() + name.len());
            return None;
        };
        Some(AdapterMethod { methods: self.clone(), operation })
    }

    /// Returns the maximum nesting depth of messages; see [`nesting_max`](crate::ServerBuilder::nesting_max).
    pub fn nesting_max(&self) -> u32 {
        self.offer.options.nesting.levels()
    }

    /// Returns whether all services are [ready](crate::codegen::Lifecycle::is_ready) for calls and no shutdown has
    /// begun.
    pub fn is_ready(&self) -> bool {
        self.offer.is_ready()
    }

    /// Authenticates the client by metadata such as a bearer token, if the server has access rules. Should be called
    /// once before several [access checks](AdapterMethod::check_access), so that a rejected token is counted only once.
    ///
    /// # Errors
    /// [`Unauthenticated`](crate::Code::Unauthenticated) if the token is rejected.
    pub fn check_caller(&self, metadata: &Metadata) -> Result<(), Status> {
        self.caller.rules.as_ref().map_or(Ok(()), |rules| rules.check_caller(metadata))
    }

    /// Returns an iterator over all methods, sorted by operation number.
    pub fn iter(&self) -> impl Iterator<Item = AdapterMethod> {
        let operations = self.offer.table.methods().map(|method| method.operation.number());
        operations.map(|operation| AdapterMethod { methods: self.clone(), operation })
    }
}

impl fmt::Debug for AdapterMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.offer.table.methods()).finish()
    }
}

/// A method that can be called with encoded messages in one of its [formats](OfferedMethod::formats).
///
/// The server's middleware, policies and limits apply as to any call. In the handler, [`Request::connection`] is
/// `None`, and [`Request::remote_addr`] is the address of the client.
#[derive(Clone, Debug)]
pub struct AdapterMethod {
    methods: AdapterMethods,
    operation: u16,
}

impl AdapterMethod {
    fn served(&self) -> &ServedMethod {
        self.methods.offer.table.get(self.operation).expect("operation should be in the method table")
    }

    /// Checks whether the access rules permit the client to call this method with this metadata. Does not make a call
    /// and does not count against a rate limit. Used to list the methods that are available to a client.
    ///
    /// # Errors
    /// The status that a call would be rejected with: [`Unauthenticated`](crate::Code::Unauthenticated) or
    /// [`PermissionDenied`](crate::Code::PermissionDenied).
    pub fn check_access(&self, metadata: &Metadata) -> Result<(), Status> {
        let guard = self.served().guard(self.methods.caller.rules.as_ref());
        guard.map_or(Ok(()), |guard| guard.check(metadata))
    }

    /// Calls a unary method with an encoded request and returns the encoded response.
    ///
    /// # Errors
    /// The status of the call. [`Unimplemented`](crate::Code::Unimplemented) if the method does not support the format,
    /// or is a streaming method.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the handler.
    pub async fn unary(&self, request: Request<Bytes>, format: &str) -> Result<Response<Bytes>, Status> {
        let Some(mut slot) = self.slot(format) else {
            let method = self.served().entry.method;
            let text = format!("{method} is not a unary method with messages in {format}");
            if let Some(method_observer) = &self.served().method_observer {
                method_observer.begin(request.traceparent()).end(Code::Unimplemented, 0);
            }
            return Err(Status::unimplemented(text));
        };
        let (sender, receiver) = oneshot::channel();
        let mut out = Vec::new();
        let done = |result, hold| drop(sender.send((result, hold)));
        let called = slot.call(&mut self.methods.batch(clock::now()), request, &mut out, || done);
        match called {
            AdapterCall::Ready(result) => result.map(|response| response.map(|()| Bytes::from(out))),
            AdapterCall::InProgress(_task) => {
                // Keep the task in scope while waiting, because dropping it cancels the call.
                let shutting_down = Status::unavailable("the server is shutting down");
                receiver.await.map_or(Err(shutting_down), |(result, _hold)| result)
            }
        }
    }

    /// Calls a method of any kind with a stream of encoded requests. The stream must contain a single item if the
    /// method takes one message.
    ///
    /// # Errors
    /// Like [`unary`](Self::unary). Later failures are reported by the stream of responses.
    ///
    /// # Cancel safety
    /// Dropping the future or the stream of responses cancels the handler.
    pub async fn streaming(
        &self,
        request: Request<impl Stream<Item = Result<Bytes, Status>> + Send + 'static>,
        format: &str,
    ) -> Result<Response<AdapterResponses>, Status> {
        let request: Request<MessageBytes> = request.map(|messages| Box::pin(messages) as MessageBytes);
        let Kind::Stream(method) = &self.served().entry.kind else {
            return self.unary_of_stream(request, format).await;
        };
        let (served, caller) = (self.served(), &self.methods.caller);
        if caller.connection.is_overloaded() {
            caller.connection.count_rejected();
            served.method_observer.iter().for_each(|method_observer| method_observer.refuse(Code::ResourceExhausted));
            return Err(overloaded());
        }
        let trace = request.traceparent();
        let (messages, timeout, _, extras) = request.into_parts_with_extras();
        let options = Box::new(Prefix { timeout, extras, trace, ..Prefix::default() });
        let admitted = served.admit_stream(caller.rules.as_ref(), Some(options));
        let (mut options, observed_call) = admitted.inspect_err(|_| caller.context.charge_abuse(0))?;
        options.trace = ObservedCall::forwarded_trace(observed_call.as_ref(), trace);
        let mut called = self.call(&**method, messages, *options, format).await;
        match &mut called {
            Ok(response) => response.get_mut().call.observed_call = observed_call.map(Box::new),
            Err(status) => observed_call.into_iter().for_each(|observed_call| observed_call.end(status.code(), 0)),
        }
        called
    }

    /// Calls a unary method with the only request in a stream.
    async fn unary_of_stream(
        &self,
        request: Request<MessageBytes>,
        format: &str,
    ) -> Result<Response<AdapterResponses>, Status> {
        let (messages, timeout, origin, extras) = request.into_parts_with_extras();
        let started = clock::now();
        let message = match timeout {
            None => single(messages).await?,
            Some(timeout) => {
                tokio::time::timeout(timeout, single(messages)).await.unwrap_or_else(|_| Err(caller_gone()))?
            }
        };
        // Subtract the time spent waiting for the request, because the timeout covers the whole call.
        let timeout = timeout.map(|timeout| timeout.saturating_sub(clock::now().saturating_duration_since(started)));
        let response = self.unary(Request::from_parts_with_extras(message, timeout, origin, extras), format).await?;
        // Take only the guard of the stream. The call was already counted against the limit when it began.
        let call = InProgress::stream(&self.methods.caller).0;
        Ok(response.map(|message| AdapterResponses {
            messages: Some(Box::pin(crate::iter([Ok(message)]))),
            inherited: InheritedContext::default(),
            sleep: None,
            call,
            method: self.clone(),
        }))
    }

    /// Calls a streaming method, applying the same checks as for streams of native peers.
    async fn call(
        &self,
        method: &dyn StreamingMethod,
        messages: MessageBytes,
        options: Prefix,
        format: &str,
    ) -> Result<Response<AdapterResponses>, Status> {
        let ServedMethod { entry, chain, .. } = self.served();
        let caller = &self.methods.caller;
        let connection = &caller.connection;
        let Prefix { timeout, trace, deadline, extras, expires, memory, .. } = options;
        let call = InProgress::begin_stream(caller).inspect_err(|_| caller.context.charge_abuse(0))?;
        let hold = connection.charge_request(memory);
        let origin = Origin { transport: Some(connection.clone()), is_adapter: true, hand_off: None };
        let request = Request::from_parts_with_extras(messages, timeout, origin, extras);
        let options = self.methods.offer.options.with_length_max(entry.length_max);
        let Some(handler) = method.call(chain.clone(), request, format, &options) else {
            return Err(Status::unimplemented(format!("{} has no messages in {format}", entry.method)));
        };
        let (ends, inherited) = (end_of_time(deadline, expires), InheritedContext { deadline, trace });
        let handler = HandlerFuture { inherited, future: ParkedFuture::new(handler) };
        let worked = async move {
            // Hold the request's memory charge until the handler has returned its response.
            let _hold = hold;
            let Some((at, status)) = ends else { return handler.await };
            tokio::time::timeout_at(at.into(), handler).await.unwrap_or_else(|_| Ok(Err(status())))
        };
        // Dropping this future aborts the task.
        let Ok(worked) = AdapterTask(call.runtime.spawn(worked)).await else {
            return Err(Status::unavailable("the server is shutting down"));
        };
        let response = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), entry.method, connection)));
        if let Err(status) = &response {
            // Count a malformed request as abuse, as for unary calls.
            if status.code() == Code::InvalidArgument && !status.may_have_run() {
                caller.context.charge_abuse(0);
            }
            log(status, entry.method, connection);
        }
        let sleep = ends.map(|(at, status)| {
            // Enter the connection's runtime, because `sleep_until` registers the timer with the current one.
            let _entered = call.runtime.enter();
            (Box::pin(tokio::time::sleep_until(at.into())), status)
        });
        Ok(response?.map(|body| {
            let messages: MessageBytes = match body {
                Body::One(message) => Box::pin(crate::iter([Ok(message)])),
                Body::Many(messages) => messages,
            };
            AdapterResponses { messages: Some(messages), inherited, sleep, call, method: self.clone() }
        }))
    }
}

impl Deref for AdapterMethod {
    type Target = OfferedMethod;

    fn deref(&self) -> &OfferedMethod {
        &self.served().entry.offered
    }
}

impl AdapterCaller {
    /// Counts a unary call as in progress. Returns `None` if this exceeds the limit of concurrent calls.
    fn enter_call(&self) -> Option<CallPermit<'_>> {
        // Count first and compare afterwards, so that concurrent calls cannot all pass the check.
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        let permit = CallPermit(&self.calls);
        (before < self.connection.calls_max()).then_some(permit)
    }

    /// Returns the permits for concurrent calls of a method. They are shared by calls in all formats.
    fn permits(&self, operation: u16, running: &HandlerPlacement) -> Option<Arc<Semaphore>> {
        let new = running.permits()?;
        let mut permits = self.permits.lock();
        Some(permits.entry(operation).or_insert(new).clone())
    }
}

/// Guard that removes a unary call from the number of calls in progress when dropped.
struct CallPermit<'a>(&'a AtomicUsize);

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call that counts against a limit of its connection until it is dropped.
struct InProgress {
    caller: Arc<AdapterCaller>,
    is_stream: bool,
    runtime: Handle,
    /// Observation of the call. Boxed because few calls are observed.
    observed_call: Option<Box<ObservedCall>>,
}

impl InProgress {
    /// Creates the guard of a call that has already been counted as in progress.
    fn entered(caller: &Arc<AdapterCaller>, is_stream: bool) -> Self {
        let runtime = caller.connection.runtime_handle().clone();
        Self { caller: caller.clone(), is_stream, runtime, observed_call: None }
    }

    /// Counts a stream as in progress. Returns its guard and the number of other streams in progress.
    fn stream(caller: &Arc<AdapterCaller>) -> (Self, usize) {
        let before = caller.streams.fetch_add(1, Ordering::Relaxed);
        (Self::entered(caller, true), before)
    }

    fn begin_stream(caller: &Arc<AdapterCaller>) -> Result<Self, Status> {
        let (call, before) = Self::stream(caller);
        let max = caller.context.config().streams_max;
        if before >= max {
            // Dropping the guard removes the stream from the count.
            caller.connection.count_rejected();
            return Err(Status::resource_exhausted(format!("the limit of {max} streams is reached")));
        }
        Ok(call)
    }

    /// Reports the end of the call to its observer.
    fn end(&mut self, code: Code) {
        if let Some(observed_call) = self.observed_call.take() {
            observed_call.end(code, 0);
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let Self { caller, is_stream, .. } = self;
        let count = if *is_stream { &caller.streams } else { &caller.calls };
        count.fetch_sub(1, Ordering::Relaxed);
    }
}
