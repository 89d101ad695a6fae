//! Unary methods: decoding of requests, calling of handlers, and replies.

mod pending;

use crate::api::extras::OptionalExtras;
use crate::api::hand_off::HandOff;
use crate::api::middleware::{Chain, MethodInfo, PooledCall};
use crate::context::InheritedContext;
use crate::observe::observers::MethodObserver;
use crate::observe::{Token, TraceContext};
use crate::service::admission::{Guard, admit};
use crate::service::caller::Caller;
use crate::service::erased::ErasedUnary;
use crate::service::failures::{lacks_memory, log, overloaded, panicked, takes_too_much, too_many};
use crate::service::formats::{self, Format, FormatOptions, LARGE_BODY};
use crate::service::hand_off;
use crate::service::handle::ServiceHandle;
use crate::service::invoke::{AdapterOutcome, Incoming, Invoke, InvokeSettings, ReplyTo, ServeProgress};
use crate::wire::body::{self, DecodeOptions, EncodeBody, Flags, Received, ReplyParts, Writing};
use crate::wire::compressed;
use crate::wire::envelope::Envelope;
use crate::wire::translation::{Scratch, Translation};
use crate::{Code, Policy, Request, Response, Status};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::{FirstPoll, InlineSlot, PermissionHandle, Placement};
use frisbee::{Connection, HandOffRequest, Operation, Outbox, PacketId};
use polyglot::Message;
use std::any::Any;
use std::borrow::Borrow;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;
use tokio::sync::Semaphore;

use pending::{Answer, Waiting, put_reply};

/// Maximum length in bytes of a request, before and after its translation, that counts as quickly translated. In the
/// worst case, the translation moves the request once for each level of nesting, which takes a few microseconds for
/// this length. After longer ones, the driver reads the clock.
const TRANSLATED_QUICKLY_MAX: usize = 256;

/// A unary method of a service, with its handler.
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
        let codec = match settings.format {
            None => Codec::Native(settings.reading),
            Some((name, options)) => {
                let options = options.with_length_max(settings.reading.length_max());
                Codec::Format(Format::find(&self.formats, name)?, options)
            }
        };
        Some(Box::new(Instance {
            service: ServiceHandle::of_connection(&self.service),
            handler: self.handler.clone(),
            slot: InlineSlot::default(),
            layered: InlineSlot::default(),
            codec,
            state: MethodState::new(self.about, settings),
        }))
    }
}

/// Codec of a method's messages: the native encoding or another format such as JSON.
enum Codec<A, B> {
    Native(DecodeOptions),
    Format(Format<A, B>, FormatOptions),
}

impl<A: Message, B> Codec<A, B> {
    #[inline(always)]
    fn decode(&self, body: &mut Bytes, connection: &Connection) -> Result<Received<A>, Status> {
        match self {
            Self::Native(reading) => body::request(reading.shared(body)?, body.len()),
            Self::Format(format, options) => decode_format(format, options, body, connection),
        }
    }

    /// Appends an encoded response to `out`.
    fn append(&self, message: &B, out: &mut Vec<u8>) -> Result<(), Status> {
        match self {
            Self::Format(Format { append: Some(append), .. }, options) => append(message, out, options),
            Self::Format(format, options) => {
                out.extend_from_slice(&(format.encode)(message, options)?);
                Ok(())
            }
            Self::Native(_) => Err(no_format()),
        }
    }
}

impl<A, B> Codec<A, B> {
    /// Returns the response encoder of the format, or `None` for the native encoding.
    fn format(&self) -> Option<(formats::Encode<B>, FormatOptions)> {
        match self {
            Self::Format(format, options) => Some((format.encode, options.clone())),
            Self::Native(_) => None,
        }
    }
}

fn decode_format<A, B>(
    format: &Format<A, B>,
    options: &FormatOptions,
    body: &mut Bytes,
    connection: &Connection,
) -> Result<Received<A>, Status> {
    body::check_length(body.len(), options.length_max)?;
    // Reserve memory only for long bodies, because shorter ones take little memory whatever they contain.
    let _reserved = options.reserve(Some(connection).filter(|_| body.len() >= LARGE_BODY));
    let message = (format.decode)(body, options)?;
    let memory = body.len() + options.take_memory();
    // Free a long request before its handler runs, so that the reply can reuse the memory.
    if body.len() >= LARGE_BODY {
        *body = Bytes::new();
    }
    Ok(Received { message, memory, is_slow: false })
}

fn no_format() -> Status {
    Status::internal("a call over another protocol has no message format")
}

/// Per-connection instance of a unary method. Handlers are polled in its memory.
struct Instance<S, H, A, B, F: Future> {
    service: ServiceHandle<S>,
    handler: H,
    slot: InlineSlot<F, Answer>,
    /// Reusable memory for calls that run within middleware.
    layered: InlineSlot<PooledCall<F::Output>, Answer>,
    codec: Codec<A, B>,
    state: MethodState,
}

/// The part of an instance that is independent of the method's types, so that its code is compiled once.
struct MethodState {
    /// Permission to poll handlers inline under [`Policy::Inline`]. Revoked when a handler of the method blocks its
    /// thread.
    permission: Option<PermissionHandle>,
    /// Permits that limit concurrent calls under [`Policy::AtMost`].
    permits: Option<Arc<Semaphore>>,
    chain: Option<Arc<Chain>>,
    about: MethodInfo,
    /// Observer of the method's calls. Boxed because most methods have none, and idle connections keep their instances.
    method_observer: Option<Box<MethodObserver>>,
    guard: Option<Guard>,
    /// Whether calls without options, such as metadata, must be checked against the access rules.
    needs_options: bool,
    reading: DecodeOptions,
    /// Whether requests may have to be decompressed or translated.
    prepares: bool,
    /// Flags for encoding replies, such as whether to compress them.
    flags: Flags,
    translation: Option<Arc<Translation>>,
}

/// A call with a handler that has been called and has not completed yet.
#[derive(Clone, Copy)]
struct StartedHandler<'a> {
    caller: &'a Caller,
    /// Deadline and trace context that the handler's own calls inherit. `None` if there is neither.
    inherited: Option<&'a InheritedContext>,
    memory: usize,
    /// Whether decoding the request was expensive, or the reply will be compressed.
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
    /// Implements [`Invoke::serve`]. Parts of `call` are moved only where they are used, because each move costs
    /// several instructions.
    fn serve(&mut self, mut call: Incoming<'_>) -> ServeProgress {
        let caller = call.caller;
        let mut inherited = InheritedContext { deadline: None, trace: call.trace.copied() };
        let admitted = self.state.admit(caller, call.has_permit, &mut call.envelope, &mut inherited.trace);
        if let Err((status, served)) = admitted {
            return self.state.refuse(caller, call.reply, status, served);
        }
        let decoded = if self.state.prepares(&call.envelope.body) {
            self.prepare_and_decode(&mut call.envelope.body, &caller.connection)
        } else {
            self.codec.decode(&mut call.envelope.body, &caller.connection)
        };
        let Received { message, mut memory, is_slow } = match decoded {
            Ok(received) => received,
            Err(status) => {
                let is_short = lacks_memory(&caller.connection, &status);
                let served = if is_short { ServeProgress::Overloaded } else { ServeProgress::Refused };
                return self.state.refuse(caller, call.reply, status, served);
            }
        };
        if takes_too_much(&caller.connection, memory) {
            return self.state.refuse(caller, call.reply, overloaded(), ServeProgress::Overloaded);
        }
        let (mut timeout, mut extras) = (None, OptionalExtras::default());
        if let Some(options) = call.envelope.options.take() {
            memory += options.memory;
            (timeout, extras, inherited.deadline) = (options.timeout, options.extras, options.deadline);
        }
        let inherited = inherited.is_something().then_some(&inherited);
        let request = Request::from_parts_with_extras(message, timeout, call.reply.origin(caller), extras);
        let is_slow = is_slow || self.state.flags.has(Flags::COMPRESSED);
        let started = StartedHandler { caller, inherited, memory, is_slow };
        // Spawn the call unless it may be polled inline.
        if !call.inline || !self.state.permission.as_ref().is_some_and(|permission| permission.is_kept()) {
            return self.call_as_task(request, started, call.reply);
        }
        let inherited = inherited.map(InheritedContext::enter);
        let polled = if self.state.chain.is_some() {
            self.poll_layered(request)
        } else {
            self.slot.poll(|| (self.handler)(self.service.clone(), request))
        };
        // Restore the thread's context, so that other calls on the thread do not inherit this call's deadline.
        drop(inherited);
        match polled {
            FirstPoll::Ready(result) => {
                match call.reply {
                    ReplyTo::Packet { id, operation, outbox } => {
                        self.state.answer(caller, id, operation, body::reply_parts(&result), outbox);
                    }
                    ReplyTo::Adapter { out, outcome } => *outcome = Some(self.answer_adapter(caller, result, out)),
                    ReplyTo::HandOff(hand_off) => {
                        self.state.answer_hand_off(caller, body::reply_parts(&result), *hand_off);
                    }
                }
                if is_slow { ServeProgress::Slow } else { ServeProgress::Started }
            }
            FirstPoll::Pending(handler) => {
                let mut waiting = Waiting { handler: Some(handler), codec: &self.codec };
                self.state.park(&mut waiting, started, self.state.placement(), None, call.reply)
            }
            FirstPoll::Panicked(panic) => self.state.answer_panic(panic.as_ref(), started, call.reply),
        }
    }

    fn is_needed(&self) -> bool {
        // Keep the instance while calls hold its permits. A new instance would start with all permits free and exceed
        // the limit.
        self.state.permits.as_ref().is_some_and(|permits| Arc::strong_count(permits) > 1)
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
    /// Decompresses, translates and decodes a request.
    #[cold]
    #[inline(never)] // Keeps its code out of other calls.
    fn prepare_and_decode(&self, body: &mut Bytes, by: &Connection) -> Result<Received<A>, Status> {
        let mut translated = Scratch::take();
        let is_slow = self.state.prepare(body, &mut translated, by)?;
        let received = match &self.codec {
            Codec::Native(reading) if !translated.0.is_empty() => {
                body::request(reading.copied(&translated.0), translated.0.len())
            }
            _ => self.codec.decode(body, by),
        };
        Ok(Received { is_slow, ..received? })
    }

    /// Returns the function that calls the handler, inside of all middleware.
    fn innermost(&self) -> impl FnOnce(Request<A>) -> F + Send + 'static {
        let (service, handler) = (self.service.clone(), self.handler.clone());
        move |request| handler(service, request)
    }

    /// Polls a handler within its middleware for the first time.
    #[cold]
    fn poll_layered(&mut self, request: Request<A>) -> FirstPoll<Result<Response<B>, Status>, Answer> {
        let last = self.innermost();
        let Some(chain) = &self.state.chain else { return self.slot.poll(|| last(request)) };
        let layered = self.layered.slot().get_mut().get_or_insert_with(|| PooledCall::of(chain));
        layered.begin(&self.state.about, request, last);
        self.layered.poll_slot()
    }

    #[cold]
    fn call_as_task(&self, request: Request<A>, started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress {
        let handler = match &self.state.chain {
            None => InlineSlot::park((self.handler)(self.service.clone(), request)),
            Some(chain) => {
                let mut layered = PooledCall::of(chain);
                layered.begin(&self.state.about, request, self.innermost());
                InlineSlot::park(layered)
            }
        };
        let mut waiting = Waiting { handler: Some(handler), codec: &self.codec };
        self.state.park(&mut waiting, started, Placement::Runtime, self.state.permits.clone(), reply)
    }

    #[cold]
    fn answer_adapter(
        &self,
        caller: &Caller,
        result: Result<Response<B>, Status>,
        out: &mut Vec<u8>,
    ) -> AdapterOutcome {
        self.state.log(caller, result.as_ref().err());
        let result = result.and_then(|response| {
            let (message, extras) = response.into_parts_with_extras();
            self.codec.append(&message, out)?;
            Ok(Response::from_parts_with_extras((), extras))
        });
        self.state.end(caller, code(&result), None);
        AdapterOutcome::Ready(result)
    }
}

impl MethodState {
    fn new(about: MethodInfo, settings: InvokeSettings<'_>) -> Self {
        let InvokeSettings {
            running, chain, method_observer, guard, reading, compresses, permits, translation, ..
        } = settings;
        let flags = Flags::COMPRESSED.when(compresses).with(Flags::TRANSLATED.when(translation.is_some()));
        Self {
            permission: (running.policy == Policy::Inline)
                .then(|| PermissionHandle::of_connection(&running.permission)),
            // Prefer the semaphore that an adapter passes, so that the limit applies to all formats of the method
            // together.
            permits: permits.or_else(|| running.permits()),
            chain: chain.cloned(),
            about,
            method_observer: method_observer.cloned().map(Box::new),
            needs_options: guard.as_ref().is_some_and(|guard| !guard.is_open),
            guard,
            reading,
            prepares: reading.decompresses || translation.is_some(),
            flags,
            translation,
        }
    }

    /// Starts observing a call and authorizes it. If the call is rejected, also returns how the rejection counts.
    #[inline(always)]
    fn admit(
        &mut self,
        caller: &Caller,
        has_permit: bool,
        envelope: &mut Envelope,
        trace: &mut Option<TraceContext>,
    ) -> Result<(), (Status, ServeProgress)> {
        // Observe the call first, so that rejected calls are reported too.
        if let Some(method_observer) = &mut self.method_observer {
            method_observer.begin_unary(envelope.length, trace, caller.batch_calls().is_none());
        }
        if caller.connection.is_overloaded() {
            caller.connection.count_rejected();
            return Err((overloaded(), ServeProgress::Overloaded));
        }
        let refused = |status| (status, ServeProgress::Refused);
        if !has_permit {
            caller.connection.count_rejected();
            return Err(refused(too_many(&caller.connection)));
        }
        if envelope.options.is_some() || self.needs_options {
            admit(self.guard.as_ref(), &mut envelope.options).map_err(refused)?;
        }
        Ok(())
    }

    /// Returns whether a request must be decompressed or translated.
    #[inline(always)]
    fn prepares(&self, body: &Bytes) -> bool {
        self.prepares && (self.translation.is_some() || compressed::is_present(body))
    }

    /// Decompresses and translates a request. Writes a short translation to `translated`. A long translation replaces
    /// `body`, because the decoded message may share its memory. Returns whether this was expensive relative to the
    /// size of the request.
    fn prepare(&self, body: &mut Bytes, translated: &mut Scratch, by: &Connection) -> Result<bool, Status> {
        let mut is_slow = compressed::is_present(body);
        if is_slow {
            *body = compressed::decompressed(mem::take(body), compressed::REQUEST, by, self.reading.decompresses)?;
        }
        if let Some(translation) = &self.translation {
            // Check the length first, because the cost of the translation grows with it.
            body::check_length(body.len(), self.reading.length_max())?;
            translation.count_call();
            translation.read(body, translated, compressed::REQUEST, by, self.reading.nesting)?;
            is_slow |= body.len().max(translated.0.len()) > TRANSLATED_QUICKLY_MAX;
            if translated.is_long() {
                *body = mem::take(&mut translated.0).into();
            }
        }
        Ok(is_slow)
    }

    /// Returns where a handler continues that was polled inline and is pending.
    fn placement(&self) -> Placement {
        let operation = self.about.method().operation;
        self.permission.clone().map_or(Placement::Runtime, |permission| Placement::Home(operation, permission))
    }

    /// Replies to a native call after its handler completed immediately.
    #[inline(always)]
    fn answer<B: EncodeBody>(
        &self,
        caller: &Caller,
        id: PacketId,
        operation: Operation,
        result: ReplyParts<'_, B>,
        outbox: &mut Outbox,
    ) {
        self.log(caller, result.err());
        // Write packets that the handler has sent through connection handles before its reply.
        caller.connection.collect(outbox);
        let before = outbox.len();
        let writing = Writing::new(self.flags, self.translation.as_deref());
        put_reply(outbox, id, operation, result, caller.style, None, (writing, self.chain.is_some()));
        self.end(caller, code(&result), Some((outbox, before)));
    }

    /// Replies to a hand-off request after its handler completed immediately.
    #[cold]
    fn answer_hand_off<B: EncodeBody>(
        &self,
        caller: &Caller,
        result: ReplyParts<'_, B>,
        (request, decision): (HandOffRequest, HandOff),
    ) {
        self.log(caller, result.err());
        let writing = Writing::new(Flags::default(), self.translation.as_deref());
        hand_off::settle(request, *self.about.method(), &decision, result, writing);
        self.end(caller, code(&result), None);
    }

    fn log(&self, caller: &Caller, failure: Option<&Status>) {
        if let Some(status) = failure {
            log(status, *self.about.method(), &caller.connection);
        }
    }

    /// Replies to a call after its handler panicked.
    fn answer_panic(&self, panic: &(dyn Any + Send), started: StartedHandler<'_>, reply: ReplyTo<'_>) -> ServeProgress {
        let StartedHandler { caller, is_slow, .. } = started;
        let status = panicked(panic, *self.about.method(), &caller.connection);
        log(&status, *self.about.method(), &caller.connection);
        self.fail(caller, reply, status, false);
        if is_slow { ServeProgress::Slow } else { ServeProgress::Started }
    }

    /// Rejects a call before its handler receives it.
    #[cold]
    fn refuse(&self, caller: &Caller, reply: ReplyTo<'_>, status: Status, served: ServeProgress) -> ServeProgress {
        self.fail(caller, reply, status, true);
        served
    }

    /// Replies to a call with a failure status. Set `is_refused` if the handler has not been polled.
    fn fail(&self, caller: &Caller, reply: ReplyTo<'_>, status: Status, is_refused: bool) {
        let code = status.code();
        match reply {
            ReplyTo::Packet { id, operation, outbox } => {
                // Collect packets sent through connection handles first, so that they precede the reply on the wire.
                caller.connection.collect(outbox);
                let before = outbox.len();
                body::put_failure(outbox, id, operation, &status, caller.style, is_refused);
                self.end(caller, code, Some((outbox, before)));
            }
            ReplyTo::Adapter { outcome, .. } => {
                *outcome = Some(AdapterOutcome::Ready(Err(status)));
                self.end(caller, code, None);
            }
            ReplyTo::HandOff(requested) => {
                requested.0.refuse(hand_off::failure(&status, self.about.method().operation, is_refused));
                self.end(caller, code, None);
            }
        }
    }

    /// Reports the end of a call to its observer. The encoded reply starts at the given offset of the outbox.
    #[inline]
    fn end(&self, caller: &Caller, code: Code, reply: Option<(&Outbox, usize)>) {
        if let Some(method_observer) = &self.method_observer
            && (method_observer.row.is_some() || method_observer.token != Token::NO_END)
        {
            end_observed(method_observer, caller, code, reply);
        }
    }
}

fn end_observed(method_observer: &MethodObserver, caller: &Caller, code: Code, reply: Option<(&Outbox, usize)>) {
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

/// Returns the status code of a reply, which is `Ok` for a response.
fn code<B, E: Borrow<Status>>(reply: &Result<B, E>) -> Code {
    reply.as_ref().map_or_else(|status| status.borrow().code(), |_| Code::Ok)
}
