//! Methods that a server offers, erased to what a connection needs: something to call for each operation.

pub(crate) mod streams;

use crate::api::hand_off;
use crate::api::middleware::{About, CallKind, Chain, through};
use crate::api::request::Origin;
use crate::codegen::{FullName, Layout, Method};
use crate::deadline::{self, Within};
use crate::wire::body::{self, Reading, Received, Style};
use crate::wire::prefix::{self, Prefix};
use crate::{Code, Request, Response, Status};
use crate::{ResponseStream, Streaming};
use bytes::Bytes;
use frisbee::support::{Cell, Parked, Polled, Task, Then, Worked, body_memory};
use frisbee::{Connection, Operation, Outbox, Packet, PacketId, Policy, Routed, Stream};
use polyglot::{Form, Message};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// A service as a server takes it. Implemented by generated code.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a service that can be served",
    label = "wrap the implementation of the service's trait in the generated server",
    note = "for a service `Greeter` of the schema: `add_service(GreeterServer::new(…))`"
)]
pub trait Service: Send + Sync + 'static {
    /// The name, with its package in front.
    const NAME: &'static str;

    /// The methods.
    fn methods(&self) -> Methods;
}

/// The methods of a service, ready to be served.
pub struct Methods {
    pub(crate) layout: &'static Layout,
    pub(crate) entries: Vec<Entry>,
}

pub(crate) struct Entry {
    pub(crate) method: Method,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Unary(Box<dyn Unary>),
    Stream(Box<dyn Streamed>),
}

/// A unary method, from which each connection gets an instance of its own.
pub(crate) trait Unary: Send + Sync {
    /// `reading` is how requests are read, `chain` what runs around calls.
    fn instance(&self, policy: Policy, reading: Reading, chain: Option<&Arc<Chain>>) -> Box<dyn Instance>;
}

/// A unary method on one connection.
pub(crate) trait Instance: Send {
    /// Answers a request, in `outbox` if that is possible at once. `inline` says whether the handler may be polled in
    /// place.
    fn call(&mut self, caller: &Caller, packet: Packet, outbox: &mut Outbox, inline: bool) -> Routed;

    /// Answers a request that comes with one for the connection, as any other but that the handler has a task of its
    /// own.
    fn hand_off(&mut self, caller: &Caller, method: Method, asked: frisbee::HandOffRequest) -> Routed;
}

/// A method that streams in one or both directions.
pub(crate) trait Streamed: Send + Sync {
    fn open(&self, caller: &Caller, prefix: Option<Prefix>, stream: Stream, reading: Reading);
}

/// Where calls come from: one connection.
pub(crate) struct Caller {
    pub(crate) connection: Connection,
    /// This end dialled the connection: the calls that it serves are those of the end that accepted.
    backward: bool,
    /// What runs around calls.
    pub(crate) chain: Option<Arc<Chain>>,
    /// The peer is one of ours.
    is_ours: bool,
}

impl Caller {
    pub(crate) fn new(connection: &Connection, backward: bool, chain: Option<Arc<Chain>>) -> Self {
        Self { connection: connection.clone(), backward, chain, is_ours: false }
    }

    /// What requests say of where they came from.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        Origin::Connection(self.connection.clone())
    }

    /// Takes in what the peer is.
    pub(crate) fn handle_peer_known(&mut self, ours: bool) {
        self.is_ours = ours;
    }

    /// Whether the peer is one of ours.
    #[inline]
    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// How the peer gets replies.
    #[inline]
    pub(crate) fn style(&self) -> Style {
        let form = if self.is_ours() { Form::Extended } else { Form::Flat };
        Style { form, backward: self.backward }
    }

    /// Why a call is refused that is one too many.
    #[cold]
    fn too_many(&self) -> Status {
        let most = self.connection.calls_max();
        Status::resource_exhausted(format!("the limit of {most} calls in progress on this connection is reached"))
    }

    /// Ends a call that nobody waits for. Every call gets one reply, a cancelled one this.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation, outbox: &mut Outbox) {
        if self.connection.cancel_call(id, operation) {
            body::put_error(outbox, id, operation, &given_up(), self.style());
        }
    }
}

/// What handlers get of their service: a reference that a connection counts for itself, since one counted by all of
/// them would travel between cores at every call.
#[allow(clippy::redundant_allocation)] // The outer count is the point.
pub struct ServiceHandle<S>(Arc<Arc<S>>);

impl<S> ServiceHandle<S> {
    fn of_connection(service: &Arc<S>) -> Self {
        Self(Arc::new(service.clone()))
    }
}

impl<S> Clone for ServiceHandle<S> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Deref for ServiceHandle<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> fmt::Debug for ServiceHandle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceHandle").finish_non_exhaustive()
    }
}

/// Collects the methods of a service. For generated code.
#[must_use]
pub struct MethodsBuilder<S> {
    service: Arc<S>,
    layout: &'static Layout,
    entries: Vec<Entry>,
}

impl Methods {
    /// Begins the list of a service's methods.
    #[allow(clippy::new_ret_no_self)] // The builder knows the service's type, what it builds does not.
    pub fn new<S: Send + Sync + 'static>(service: &Arc<S>, layout: &'static Layout) -> MethodsBuilder<S> {
        MethodsBuilder { service: service.clone(), layout, entries: Vec::new() }
    }
}

impl<S: Send + Sync + 'static> MethodsBuilder<S> {
    /// Adds a method with one message each way.
    pub fn unary<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let handler = Handler::new(&self.service, About::new::<A, B>(method, CallKind::Unary), handler);
        self.with(method, Kind::Unary(Box::new(handler)))
    }

    /// Adds a method that is answered with a stream.
    pub fn server_streaming<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        let service = self.service.clone();
        let about = About::new::<A, B>(method, CallKind::ServerStreaming);
        let open = move |caller: &Caller, prefix: Option<Prefix>, stream: Stream, reading: Reading| {
            let (service, handler, chain) =
                (ServiceHandle::of_connection(&service), handler.clone(), caller.chain.clone());
            let handler = move |request| through(chain, about, request, move |request| handler(service, request));
            streams::serve_server_streaming(caller, method.full_name(), prefix, stream, reading, handler);
        };
        self.with(method, Kind::Stream(Box::new(open)))
    }

    /// Adds a method that takes a stream.
    pub fn client_streaming<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let service = self.service.clone();
        let about = About::new::<A, B>(method, CallKind::ClientStreaming);
        let open = move |caller: &Caller, prefix: Option<Prefix>, stream: Stream, reading: Reading| {
            let (service, handler, chain) =
                (ServiceHandle::of_connection(&service), handler.clone(), caller.chain.clone());
            let handler = move |request| through(chain, about, request, move |request| handler(service, request));
            streams::serve_client_streaming(caller, method.full_name(), prefix, stream, reading, handler);
        };
        self.with(method, Kind::Stream(Box::new(open)))
    }

    /// Adds a method with a stream each way.
    pub fn streaming<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        let service = self.service.clone();
        let about = About::new::<A, B>(method, CallKind::Streaming);
        let open = move |caller: &Caller, prefix: Option<Prefix>, stream: Stream, reading: Reading| {
            let (service, handler, chain) =
                (ServiceHandle::of_connection(&service), handler.clone(), caller.chain.clone());
            let handler = move |request| through(chain, about, request, move |request| handler(service, request));
            streams::serve_streaming(caller, method.full_name(), prefix, stream, reading, handler);
        };
        self.with(method, Kind::Stream(Box::new(open)))
    }

    /// Ends the list.
    pub fn done(self) -> Methods {
        Methods { layout: self.layout, entries: self.entries }
    }

    fn with(mut self, method: Method, kind: Kind) -> Self {
        self.entries.push(Entry { method, kind });
        self
    }
}

impl<F: Fn(&Caller, Option<Prefix>, Stream, Reading) + Send + Sync> Streamed for F {
    fn open(&self, caller: &Caller, prefix: Option<Prefix>, stream: Stream, reading: Reading) {
        self(caller, prefix, stream, reading);
    }
}

/// A unary method of a service.
struct Handler<S, H, T> {
    service: Arc<S>,
    about: About,
    handler: H,
    types: PhantomData<fn() -> T>,
}

impl<S, H, T> Handler<S, H, T> {
    fn new(service: &Arc<S>, about: About, handler: H) -> Self {
        Self { service: service.clone(), about, handler, types: PhantomData }
    }
}

impl<S, H, A, B, F> Unary for Handler<S, H, (A, B, F)>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn instance(&self, policy: Policy, reading: Reading, chain: Option<&Arc<Chain>>) -> Box<dyn Instance> {
        let permits = match policy {
            Policy::AtMost(count) => Some(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)))),
            Policy::Inline | Policy::Concurrent => None,
        };
        Box::new(Serving {
            service: ServiceHandle::of_connection(&self.service),
            handler: self.handler.clone(),
            cell: Cell::default(),
            reading,
            inline: policy == Policy::Inline,
            permits,
            around: chain.map(|chain| (chain.clone(), self.about)),
            name: self.about.method().full_name(),
            request: PhantomData,
        })
    }
}

/// A unary method on one connection.
struct Serving<S, H, A, F> {
    service: ServiceHandle<S>,
    handler: H,
    cell: Cell<F, Answer>,
    /// How requests are read.
    reading: Reading,
    inline: bool,
    /// For [`Policy::AtMost`].
    permits: Option<Arc<Semaphore>>,
    /// What runs around calls.
    around: Option<(Arc<Chain>, About)>,
    /// For the log.
    name: FullName,
    request: PhantomData<fn() -> A>,
}

impl<S, H, A, B, F> Instance for Serving<S, H, A, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn call(&mut self, caller: &Caller, packet: Packet, outbox: &mut Outbox, inline: bool) -> Routed {
        let Packet { id, operation, mut body } = packet;
        let style = caller.style();
        let mut terms = Terms::default();
        if style.form == Form::Extended && prefix::is_present(&body) {
            match Terms::take(&mut body) {
                Ok(taken) => terms = taken,
                Err(status) => return refuse(outbox, id, operation, &status, style),
            }
        }
        let Received { message, memory } = match body::request::<A>(&body, self.reading) {
            Ok(received) => received,
            Err(status) => return refuse(outbox, id, operation, &status, style),
        };
        drop(body);
        let Terms { deadline, prefix, memory: before } = terms;
        let request = Request::received(message, caller.origin(), prefix);
        if self.around.is_some() {
            let call = Pending { caller, id, operation, deadline, memory: [before, memory], name: self.name };
            return self.call_through(request, call, outbox, inline);
        }
        if !(inline && self.inline) {
            let call = Pending { caller, id, operation, deadline, memory: [before, memory], name: self.name };
            return self.call_apart(request, call, outbox);
        }
        let polled = match deadline {
            None => self.cell.poll(|| (self.handler)(self.service.clone(), request)),
            Some(_) => self.poll_within(deadline, request),
        };
        match polled {
            // By reference: it is read where it was left.
            Polled::Ready(ref reply) => {
                // What the handler has sent by other ways goes first.
                caller.connection.collect(outbox);
                if let Err(status) = reply {
                    note(status, self.name, &caller.connection);
                }
                body::put_reply(outbox, id, operation, reply.as_ref(), style);
            }
            Polled::Pending(parked) => {
                return Pending { caller, id, operation, deadline, memory: [before, memory], name: self.name }
                    .go_on(parked, None, outbox);
            }
            Polled::Panicked(panic) => {
                let status = panicked(panic.as_ref(), self.name, &caller.connection);
                body::put_error(outbox, id, operation, &status, style);
            }
        }
        Routed::Continue
    }

    #[cold]
    fn hand_off(&mut self, caller: &Caller, method: Method, asked: frisbee::HandOffRequest) -> Routed {
        let mut body = asked.request().clone();
        let received = Terms::take(&mut body).and_then(|terms| Ok((terms, body::request::<A>(&body, self.reading)?)));
        let (Terms { deadline, prefix, memory: before }, Received { message, memory }) = match received {
            Ok(received) => received,
            Err(status) => {
                asked.refuse(hand_off::refusal(&status, method));
                return Routed::Wasted;
            }
        };
        drop(body);
        let decision = hand_off::HandOff::default();
        let origin = Origin::Asked(Box::new((caller.connection.clone(), decision.clone())));
        let request = Request::received(message, origin, prefix);
        let (service, handler) = (self.service.clone(), self.handler.clone());
        let last = move |request| handler(service, request);
        let future: Pin<Box<dyn Future<Output = _> + Send>> = match self.around.clone() {
            None => Box::pin(last(request)),
            Some((chain, about)) => Box::pin(chain.around(about, request, last)),
        };
        let work = held_to(self.permits.clone(), deadline, Parked::new(future));
        let mut asked = Some(asked);
        let spawned = caller.connection.spawn_call(None, before + body_memory(memory), |task| {
            let asked = asked.take();
            Box::pin(async move {
                if let Some(asked) = asked {
                    hand_off::decide(asked, method, &decision, work, task).await;
                }
            })
        });
        if let Some(asked) = asked.filter(|_| !spawned) {
            caller.connection.count_shed();
            asked.refuse(hand_off::refusal(&caller.too_many(), method));
        }
        Routed::Continue
    }
}

impl<S, H, A, B, F> Serving<S, H, A, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    /// Calls a handler with something around it.
    #[cold]
    #[inline(never)]
    fn call_through(&mut self, request: Request<A>, call: Pending<'_>, outbox: &mut Outbox, inline: bool) -> Routed {
        let Some((chain, about)) = self.around.clone() else { return Routed::Continue };
        let (service, handler) = (self.service.clone(), self.handler.clone());
        // One type for whatever is around: a box of its own, which the cell cannot spare.
        let future: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(chain.around(about, request, move |request| handler(service, request)));
        if !(inline && self.inline) {
            return call.go_on(Cell::park(future), self.permits.clone(), outbox);
        }
        match deadline::within(call.deadline, || Cell::default().poll(|| future)) {
            Polled::Ready(reply) => {
                call.caller.connection.collect(outbox);
                if let Err(status) = &reply {
                    note(status, call.name, &call.caller.connection);
                }
                body::put_reply(outbox, call.id, call.operation, reply.as_ref(), call.caller.style());
            }
            Polled::Pending(parked) => return call.go_on(parked, None, outbox),
            Polled::Panicked(panic) => {
                let status = panicked(panic.as_ref(), call.name, &call.caller.connection);
                body::put_error(outbox, call.id, call.operation, &status, call.caller.style());
            }
        }
        Routed::Continue
    }
}

impl<S, H, A, B, F> Serving<S, H, A, F>
where
    H: Fn(ServiceHandle<S>, Request<A>) -> F,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    B: Message + Send + 'static,
{
    /// Polls a handler whose calls are to inherit a deadline.
    #[cold]
    #[inline(never)]
    fn poll_within(&mut self, deadline: Option<Instant>, request: Request<A>) -> Polled<F, Answer> {
        deadline::within(deadline, || self.cell.poll(|| (self.handler)(self.service.clone(), request)))
    }

    /// Gives a call a task of its own.
    #[cold]
    #[inline(never)]
    fn call_apart(&self, request: Request<A>, call: Pending<'_>, outbox: &mut Outbox) -> Routed {
        let future = (self.handler)(self.service.clone(), request);
        call.go_on(Cell::park(future), self.permits.clone(), outbox)
    }
}

/// What stands in front of a request.
#[derive(Default)]
struct Terms {
    deadline: Option<Instant>,
    /// Boxed, since few requests have one.
    prefix: Option<Box<Prefix>>,
    /// About what that takes, in bytes.
    memory: usize,
}

impl Terms {
    #[cold]
    fn take(body: &mut Bytes) -> Result<Self, Status> {
        let Ok(prefix) = prefix::take(body) else { return Err(body::malformed("request")) };
        let timeout = prefix.as_ref().and_then(|prefix| prefix.timeout);
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(nobody_waits());
        }
        let deadline = timeout.and_then(|timeout| deadline::now().checked_add(timeout));
        let memory = prefix.as_ref().map_or(0, Prefix::memory);
        Ok(Self { deadline, prefix: prefix.map(Box::new), memory })
    }
}

/// A call whose handler has to wait.
struct Pending<'a> {
    caller: &'a Caller,
    id: PacketId,
    operation: Operation,
    deadline: Option<Instant>,
    /// What stands in front of the request takes, and what the request does.
    memory: [usize; 2],
    name: FullName,
}

impl Pending<'_> {
    /// Lets the handler go on as a task of its own, which sends the reply.
    fn go_on<B, F>(self, parked: Parked<F, Answer>, permits: Option<Arc<Semaphore>>, outbox: &mut Outbox) -> Routed
    where
        B: Message + Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let Self { caller, id, operation, deadline, memory: [before, memory], name } = self;
        let memory = before + body_memory(memory);
        let style = caller.style();
        // Peers of ours may cancel.
        let call = caller.is_ours().then_some((id, operation));
        let spawned = caller.connection.spawn_call(call, memory, |task| {
            let answer = Answer { task, id, operation, style, name };
            if deadline.is_none() && permits.is_none() {
                return parked.then(answer);
            }
            Box::pin(async move { answer.then(held_to(permits, deadline, parked).await) })
        });
        if !spawned {
            caller.connection.count_shed();
            return refuse(outbox, id, operation, &caller.too_many(), style);
        }
        Routed::Continue
    }
}

/// Runs a handler once it is permitted, and no longer than its caller waits.
async fn held_to<B, F, T>(
    permits: Option<Arc<Semaphore>>,
    deadline: Option<Instant>,
    parked: Parked<F, T>,
) -> Worked<F::Output>
where
    F: Future<Output = Result<Response<B>, Status>>,
{
    let _permit = match &permits {
        Some(permits) => permits.acquire().await.ok(),
        None => None,
    };
    let work = Within { deadline, future: parked };
    match deadline {
        None => work.await,
        Some(deadline) => match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(worked) => worked,
            Err(_) => Ok(Err(Status::deadline_exceeded("the deadline of the call has passed"))),
        },
    }
}

/// Where the reply of a handler that waits goes.
struct Answer {
    task: Task,
    id: PacketId,
    operation: Operation,
    style: Style,
    name: FullName,
}

impl<B: Message> Then<Result<Response<B>, Status>> for Answer {
    fn then(self, worked: Worked<Result<Response<B>, Status>>) {
        let Self { task, id, operation, style, name } = self;
        // Which is logged, whoever waits.
        let reply = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, task.connection())));
        if let Err(status) = &reply {
            note(status, name, task.connection());
        }
        // A connection that has ended meanwhile has nobody to answer.
        let _ = task.answer(|outbox| body::put_reply(outbox, id, operation, reply.as_ref(), style));
    }
}

/// Answers what never became a call.
#[cold]
fn refuse(outbox: &mut Outbox, id: PacketId, operation: Operation, status: &Status, style: Style) -> Routed {
    body::put_refusal(outbox, id, operation, status, style);
    Routed::Wasted
}

/// Why a call is refused whose deadline had passed when it was sent.
#[cold]
pub(crate) fn nobody_waits() -> Status {
    Status::deadline_exceeded("the deadline of the call has passed")
}

/// What a caller is told that has given up: every request gets an answer.
#[cold]
pub(crate) fn given_up() -> Status {
    Status::cancelled("cancelled by the caller")
}

/// What a caller is told of a panic: that there was one. The text stays here.
#[cold]
pub(crate) fn panicked(panic: &(dyn Any + Send), method: FullName, connection: &Connection) -> Status {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let peer = connection.peer_addr();
    tracing::error!(%method, ?peer, panic = text.unwrap_or("(no text)"), "a handler panicked");
    Status::internal("the handler panicked")
}

/// Logs what a handler has failed with, if that should not happen.
#[cold]
pub(crate) fn note(status: &Status, method: FullName, connection: &Connection) {
    if status.code() == Code::Internal {
        let peer = connection.peer_addr();
        tracing::debug!(%method, ?peer, status = status.message(), "a handler failed");
    }
}

impl fmt::Debug for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.method)).finish()
    }
}

impl<S> fmt::Debug for MethodsBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.method)).finish()
    }
}
