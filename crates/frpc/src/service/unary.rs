//! Unary methods: how a request becomes a handler's future, and its outcome a reply.

mod pending;

use crate::api::extras::OptionalExtras;
use crate::api::hand_off::HandOff;
use crate::api::middleware::{Chain, MethodInfo, PooledCall};
use crate::deadline::{self, InheritedContext};
use crate::observe::Token;
use crate::observe::observers::MethodObserver;
use crate::service::admission::{Guard, admit};
use crate::service::caller::Caller;
use crate::service::erased::ErasedUnary;
use crate::service::failures::{log, overloaded, panicked, takes_too_much};
use crate::service::formats::{Format, FormatTerms, LARGE_BODY};
use crate::service::hand_off;
use crate::service::handle::ServiceHandle;
use crate::service::invoke::{AdapterOutcome, Incoming, Invoke, InvokeSettings, ReplyTo, ServeProgress};
use crate::wire::body::{self, DecodeOptions, Received};
use crate::wire::envelope::Envelope;
use crate::wire::packed;
use crate::{Code, Policy, Request, Response, Status};
use bytes::Bytes;
use frisbee::tasks::{Cell, Executor, FirstPoll, TrustHandle};
use frisbee::{Connection, HandOffRequest, Outbox};
use polyglot::Message;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;
use tokio::sync::Semaphore;

pub(crate) use pending::with_deadline;
use pending::{Answer, put_reply};

/// A unary method of a service.
pub(crate) struct UnaryMethod<S, H, A, B, F> {
    service: Arc<S>,
    handler: H,
    about: MethodInfo,
    formats: Vec<Format<A, B>>,
    future: PhantomData<fn() -> F>,
}

impl<S, H, A, B, F> UnaryMethod<S, H, A, B, F> {
    pub(crate) fn new(service: &Arc<S>, about: MethodInfo, handler: H) -> Self {
        Self { service: service.clone(), handler, about, formats: Vec::new(), future: PhantomData }
    }
}

impl<S, H, A, B, F> ErasedUnary for UnaryMethod<S, H, A, B, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn add_format(&mut self, format: Box<dyn Any>) -> bool {
        format.downcast().map(|format| self.formats.push(*format)).is_ok()
    }

    fn instance(&self, settings: InvokeSettings<'_>) -> Option<Box<dyn Invoke>> {
        let InvokeSettings { running, reading, chain, method_observer, guard, unpacks, packs, permits, format } =
            settings;
        let codec = match format {
            None => Codec::Native(reading),
            Some((name, terms)) => Codec::Format(Format::find(&self.formats, name)?, terms.clone()),
        };
        let permits = permits.or_else(|| running.permits());
        Some(Box::new(Instance {
            service: ServiceHandle::of_connection(&self.service),
            handler: self.handler.clone(),
            cell: Cell::default(),
            layered: Cell::default(),
            codec,
            trust: (running.policy == Policy::Inline).then(|| TrustHandle::of_connection(&running.trust)),
            permits,
            chain: chain.cloned(),
            about: self.about,
            method_observer: method_observer.cloned(),
            needs_options: guard.as_ref().is_some_and(|guard| !guard.is_open),
            guard,
            unpacks,
            packs,
        }))
    }
}

/// How the messages of a method are decoded and encoded.
enum Codec<A, B> {
    Native(DecodeOptions),
    Format(Format<A, B>, FormatTerms),
}

impl<A: Message, B> Codec<A, B> {
    #[inline(always)]
    fn decode(&self, body: &Bytes, connection: &Connection) -> Result<Received<A>, Status> {
        match self {
            Self::Native(reading) => body::request(body, *reading),
            Self::Format(format, terms) => {
                // Shorter bodies take little memory, with any contents.
                let _reserved = terms.reserve(Some(connection).filter(|_| body.len() >= LARGE_BODY));
                let message = (format.decode)(body, terms)?;
                Ok(Received { message, memory: body.len() + terms.take_memory() })
            }
        }
    }

    /// Encodes a response in its format.
    fn encode(&self, message: &B) -> Result<Bytes, Status> {
        match self {
            Self::Format(format, terms) => (format.encode)(message, terms),
            Self::Native(_) => Err(no_format()),
        }
    }

    /// Appends a response in its format.
    fn append(&self, message: &B, out: &mut Vec<u8>) -> Result<(), Status> {
        match self {
            Self::Format(Format { append: Some(append), .. }, terms) => append(message, out, terms),
            _ => {
                out.extend_from_slice(&self.encode(message)?);
                Ok(())
            }
        }
    }
}

fn no_format() -> Status {
    Status::internal("a call by another protocol states no format")
}

/// A unary method on one connection.
struct Instance<S, H, A, B, F: Future> {
    service: ServiceHandle<S>,
    handler: H,
    cell: Cell<F, Answer>,
    /// For calls within middleware.
    layered: Cell<PooledCall<F::Output>, Answer>,
    codec: Codec<A, B>,
    /// For [`Policy::Inline`].
    trust: Option<TrustHandle>,
    /// For [`Policy::AtMost`].
    permits: Option<Arc<Semaphore>>,
    chain: Option<Arc<Chain>>,
    about: MethodInfo,
    method_observer: Option<MethodObserver>,
    guard: Option<Guard>,
    /// The guard admits no call without options.
    needs_options: bool,
    unpacks: bool,
    packs: bool,
}

/// A call whose handler has been created.
#[derive(Clone, Copy)]
struct StartedHandler<'a> {
    caller: &'a Caller,
    /// `None` if the handler's own calls inherit nothing.
    inherited: Option<&'a InheritedContext>,
    memory: usize,
    is_slow: bool,
}

impl<S, H, A, B, F> Invoke for Instance<S, H, A, B, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    fn serve(&mut self, Incoming { caller, envelope, trace, reply, inline }: Incoming<'_>) -> ServeProgress {
        let Envelope { mut options, mut body, length } = envelope;
        let mut inherited = InheritedContext { deadline: None, trace: trace.copied() };
        if let Some(method_observer) = &mut self.method_observer {
            method_observer.begin_unary(length, &mut inherited.trace, caller.batch_calls().is_none());
        }
        if caller.connection.is_overloaded() {
            caller.connection.count_rejected();
            return self.refuse(caller, reply, overloaded(), ServeProgress::Overloaded);
        }
        if (options.is_some() || self.needs_options)
            && let Err(status) = admit(self.guard.as_ref(), &mut options)
        {
            return self.refuse(caller, reply, status, ServeProgress::Refused);
        }
        let is_packed = self.unpacks && packed::is_present(&body);
        if is_packed {
            body = match packed::unpacked(body, packed::REQUEST, &caller.connection) {
                Ok(unpacked) => unpacked,
                Err(status) => return self.refuse(caller, reply, status, ServeProgress::Refused),
            };
        }
        let Received { message, mut memory } = match self.codec.decode(&body, &caller.connection) {
            Ok(received) => received,
            Err(status) => return self.refuse(caller, reply, status, ServeProgress::Refused),
        };
        if takes_too_much(&caller.connection, memory) {
            return self.refuse(caller, reply, overloaded(), ServeProgress::Refused);
        }
        let (mut timeout, mut extras) = (None, OptionalExtras::default());
        if let Some(options) = options {
            memory += options.memory;
            (timeout, extras, inherited.deadline) = (options.timeout, options.extras, options.deadline);
        }
        let inherited = inherited.is_something().then_some(&inherited);
        let request = Request::from_parts_with_extras(message, timeout, reply.origin(caller), extras);
        let started = StartedHandler { caller, inherited, memory, is_slow: is_packed || self.packs };
        if inline && self.trust.as_ref().is_some_and(|trust| trust.is_kept()) {
            self.call_inline(request, started, reply)
        } else {
            self.call_as_task(request, started, reply)
        }
    }

    fn is_needed(&self) -> bool {
        self.permits.as_ref().is_some_and(|permits| Arc::strong_count(permits) > 1)
    }
}

impl<S, H, A, B, F> Instance<S, H, A, B, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    #[inline(always)]
    fn call_inline(&mut self, request: Request<A>, started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress {
        if self.chain.is_some() {
            return self.call_layered(request, started, reply);
        }
        let make = || (self.handler)(self.service.clone(), request);
        let polled = deadline::within(started.inherited, || self.cell.poll(make));
        self.finish(polled, started, reply)
    }

    /// Polls a handler within its middleware in place.
    #[cold]
    fn call_layered(&mut self, request: Request<A>, started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress {
        let Some(chain) = &self.chain else { return self.call_as_task(request, started, reply) };
        let (service, handler) = (self.service.clone(), self.handler.clone());
        let last = move |request| handler(service, request);
        let layered = self.layered.slot().get_mut().get_or_insert_with(|| PooledCall::of(chain));
        layered.begin(&self.about, request, last);
        let polled = deadline::within(started.inherited, || self.layered.poll_slot());
        self.finish(polled, started, reply)
    }

    #[cold]
    fn call_as_task(&self, request: Request<A>, started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress {
        let (service, permits) = (self.service.clone(), self.permits.clone());
        match &self.chain {
            None => {
                let future = (self.handler)(service, request);
                self.park(Cell::park(future), started, Executor::Runtime, permits, reply)
            }
            Some(chain) => {
                let handler = self.handler.clone();
                let last = move |request| handler(service, request);
                let mut layered = PooledCall::of(chain);
                layered.begin(&self.about, request, last);
                self.park(Cell::park(layered), started, Executor::Runtime, permits, reply)
            }
        }
    }

    /// Answers a call whose handler has been polled in place, or continues it as a task.
    #[inline(always)]
    fn finish<G>(&self, polled: FirstPoll<G, Answer>, started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress
    where
        G: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        match polled {
            FirstPoll::Ready(result) => self.answer(started, result, reply),
            FirstPoll::Pending(parked) => {
                let operation = self.about.method().operation;
                let site = self.trust.clone().map_or(Executor::Runtime, |trust| Executor::Worker(operation, trust));
                self.park(parked, started, site, None, reply)
            }
            FirstPoll::Panicked(panic) => self.answer_panic(panic.as_ref(), started, reply),
        }
    }

    #[cold]
    fn answer_panic(&self, panic: &(dyn Any + Send), started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress {
        let status = panicked(panic, *self.about.method(), &started.caller.connection);
        self.answer(started, Err(status), reply)
    }

    #[inline(always)]
    fn answer(
        &self,
        started: StartedHandler<'_>,
        result: Result<Response<B>, Status>,
        reply: ReplyTo<'_>,
    ) -> ServeProgress {
        let StartedHandler { caller, is_slow, .. } = started;
        if let Err(status) = &result {
            log(status, *self.about.method(), &caller.connection);
        }
        match reply {
            ReplyTo::Packet { id, operation, outbox } => {
                // Packets that the handler has sent by handles go first.
                caller.connection.collect(outbox);
                let before = outbox.len();
                let kinds = (self.packs, self.chain.is_some());
                put_reply(outbox, id, operation, result.as_ref(), caller.style, None, kinds);
                self.end(caller, code(&result), Some((outbox, before)));
            }
            ReplyTo::Adapter { out, outcome } => *outcome = Some(self.answer_adapter(caller, result, out)),
            ReplyTo::HandOff { requested, decision } => self.answer_hand_off(caller, &result, requested, &decision),
        }
        if is_slow { ServeProgress::Slow } else { ServeProgress::Started }
    }

    #[cold]
    fn answer_adapter(
        &self,
        caller: &Caller,
        result: Result<Response<B>, Status>,
        out: &mut Vec<u8>,
    ) -> AdapterOutcome {
        let result = result.and_then(|response| {
            let (message, extras) = response.into_parts_with_extras();
            self.codec.append(&message, out)?;
            Ok(Response::from_parts_with_extras((), extras))
        });
        self.end(caller, code(&result), None);
        AdapterOutcome::Ready(result)
    }

    #[cold]
    fn answer_hand_off(
        &self,
        caller: &Caller,
        result: &Result<Response<B>, Status>,
        request: HandOffRequest,
        decision: &HandOff,
    ) {
        hand_off::settle(request, *self.about.method(), decision, result.as_ref());
        self.end(caller, code(result), None);
    }

    /// Refuses a call that no handler gets.
    #[cold]
    fn refuse(&self, caller: &Caller, reply: ReplyTo<'_>, status: Status, served: ServeProgress) -> ServeProgress {
        let code = status.code();
        match reply {
            ReplyTo::Packet { id, operation, outbox } => {
                let before = outbox.len();
                body::put_refusal(outbox, id, operation, &status, caller.style);
                self.end(caller, code, Some((outbox, before)));
            }
            ReplyTo::Adapter { outcome, .. } => {
                *outcome = Some(AdapterOutcome::Ready(Err(status)));
                self.end(caller, code, None);
            }
            ReplyTo::HandOff { requested, .. } => {
                requested.refuse(hand_off::refusal(&status, self.about.method().operation));
                self.end(caller, code, None);
            }
        }
        served
    }

    /// Ends the call for its observer. The reply begins at this length of the outbox.
    fn end(&self, caller: &Caller, code: Code, reply: Option<(&Outbox, usize)>) {
        let Some(method_observer) = &self.method_observer else { return };
        match (method_observer.row, caller.batch_calls()) {
            (Some(row), Some(batch_calls)) => batch_calls.add(row, code),
            (Some(row), None) => method_observer.count_timed(row, code),
            (None, _) => {}
        }
        if method_observer.has_observer && method_observer.token != Token::NO_END {
            let length = reply.map_or(0, |(outbox, before)| outbox.len().saturating_sub(before));
            method_observer.notify_end(code, length);
        }
    }
}

/// The code of a reply.
fn code<B>(reply: &Result<B, Status>) -> Code {
    reply.as_ref().map_or_else(Status::code, |_| Code::Ok)
}
