//! Calls with pending handlers, which continue as tasks.
//!
//! # Decisions
//!
//! Only [`WaitingHandler`] is compiled for each method. The remaining code is compiled once, because a service may have
//! a hundred methods.

use super::{Codec, MethodState, StartedHandler, code, no_format};
use crate::api::hand_off::HandOff;
use crate::api::metadata::Metadata;
use crate::context::{HandlerFuture, InheritedContext};
use crate::observe::observers::ObservedCall;
use crate::schema::method::Method;
use crate::service::failures::{caller_gone, is_refusal, log, panicked, too_many};
use crate::service::hand_off;
use crate::service::invoke::{AdapterOutcome, PendingHandler, ReplyTo, ServeProgress};
use crate::service::layouts::PeerLayouts;
use crate::service::load::LoadGuard;
use crate::wire::body::{self, EncodeBody, Flags, ReplyParts, Writing};
use crate::wire::report::Report;
use crate::{Code, Response, Status};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::{Continuation, Job, ParkedFuture, Placement, Task, UnwindResult};
use frisbee::{Connection, HandOffRequest, Operation, Outbox, PacketId};
use polyglot::{Form, Message};
use std::panic::resume_unwind;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A pending handler of any method. `answered_by`, `outcome` and `formatted` consume the handler and panic if it has
/// already been consumed.
pub(super) trait WaitingHandler {
    /// Returns the size of the handler's future in bytes.
    fn size(&self) -> usize;

    /// Converts the handler into a task that replies through `answer` when it completes.
    fn answered_by(&mut self, answer: Answer) -> Job;

    /// Returns a future that resolves to the handler's outcome.
    fn outcome(&mut self) -> Outcome<AnyReplyMessage>;

    /// Returns a future that resolves to the outcome, encoded for a caller that uses another protocol.
    fn formatted(&mut self) -> Outcome<Bytes>;
}

type Outcome<B> = ParkedFuture<Result<Response<B>, Status>>;

/// Response message with its type erased.
pub(super) type AnyReplyMessage = Box<dyn EncodeBody + Send>;

/// A pending handler with the codec for its response.
pub(super) struct Waiting<'a, A, B> {
    /// The pending handler. `None` once it has been taken.
    pub(super) handler: Option<ParkedFuture<Result<Response<B>, Status>, Answer>>,
    pub(super) codec: &'a Codec<A, B>,
}

impl<A, B: Message + Send + 'static> Waiting<'_, A, B> {
    fn take(&mut self) -> ParkedFuture<Result<Response<B>, Status>, Answer> {
        self.handler.take().unwrap_or_else(|| unreachable!("handler should be taken only once"))
    }

    /// Returns a future that resolves to the handler's outcome, with the response message converted by `map`.
    fn mapped<T: 'static>(&mut self, map: impl FnOnce(B) -> Result<T, Status> + Send + 'static) -> Outcome<T> {
        let handler = self.take();
        ParkedFuture::new(async move {
            let reply = handler.await.unwrap_or_else(|panic| resume_unwind(panic))?;
            let (message, extras) = reply.into_parts_with_extras();
            Ok(Response::from_parts_with_extras(map(message)?, extras))
        })
    }
}

impl<A, B: Message + Send + 'static> WaitingHandler for Waiting<'_, A, B> {
    fn size(&self) -> usize {
        self.handler.as_ref().map_or(0, ParkedFuture::size)
    }

    fn answered_by(&mut self, answer: Answer) -> Job {
        self.take().then(answer)
    }

    fn outcome(&mut self) -> Outcome<AnyReplyMessage> {
        self.mapped(|message| Ok(Box::new(message) as AnyReplyMessage))
    }

    fn formatted(&mut self) -> Outcome<Bytes> {
        let format = self.codec.format();
        self.mapped(move |message| {
            let (encode, options) = format.ok_or_else(no_format)?;
            encode(&message, &options)
        })
    }
}

impl MethodState {
    /// Continues a pending handler as a task, which sends the reply. Rejects the call if too many calls are in
    /// progress.
    #[cold]
    pub(super) fn park(
        &self,
        handler: &mut dyn WaitingHandler,
        started: StartedHandler<'_>,
        placement: Placement,
        permits: Option<Arc<Semaphore>>,
        reply: ReplyTo<'_>,
    ) -> ServeProgress {
        let started = StartedHandler { memory: started.memory + handler.size(), ..started };
        let StartedHandler { caller, inherited, memory, is_slow } = started;
        // Only handlers that were polled inline have this placement.
        let was_polled = matches!(placement, Placement::Home(..));
        let connection = &caller.connection;
        let refused = match reply {
            ReplyTo::Packet { id, operation, outbox } => {
                let spawned = self.spawn_answered(handler, started, placement, permits, (id, operation));
                (!spawned).then_some(ReplyTo::Packet { id, operation, outbox })
            }
            ReplyTo::HandOff(requested) => {
                self.spawn_hand_off(handler, started, permits, requested).map(ReplyTo::HandOff)
            }
            ReplyTo::Adapter { outcome, .. } => {
                let handler = handler.formatted();
                let (memory, name) = (memory + handler.size(), *self.about.method());
                let inherited = inherited.copied().unwrap_or_default();
                let work = Box::pin(adapter_outcome(permits, inherited, handler, name, connection.clone()));
                let observed_call = self.continue_observed();
                *outcome = Some(AdapterOutcome::Pending(PendingHandler { work, memory, observed_call }));
                None
            }
        };
        let Some(reply) = refused else {
            return if is_slow { ServeProgress::Slow } else { ServeProgress::Started };
        };
        connection.count_rejected();
        // Report the call as possibly run if its handler was polled, because it may have had side effects.
        self.fail(caller, reply, too_many(connection), !was_polled);
        ServeProgress::Refused
    }

    /// Spawns a task that completes a handler and sends its reply. Returns whether the task was spawned.
    fn spawn_answered(
        &self,
        handler: &mut dyn WaitingHandler,
        started: StartedHandler<'_>,
        placement: Placement,
        permits: Option<Arc<Semaphore>>,
        (id, operation): (PacketId, Operation),
    ) -> bool {
        let StartedHandler { caller, inherited, memory, .. } = started;
        let inherited = inherited.copied().unwrap_or_default();
        let (connection, name) = (&caller.connection, *self.about.method());
        let (style, flags, is_layered) = (caller.style, self.flags, self.chain.is_some());
        // Only native peers can cancel calls.
        let call = caller.is_native().then_some((id, operation));
        let entered = caller.enter(id, name, inherited.deadline);
        let working = caller.work();
        connection.spawn_call(call, memory, placement, |task| {
            let observed_call = self.continue_observed();
            let call = AnsweredCall { id, operation, style, flags, is_layered, name, observed_call, working };
            let answer = Answer { task, call };
            // Spawn the handler directly if no deadline, permit or registry entry requires a wrapper, which saves an
            // allocation.
            if !inherited.is_something() && permits.is_none() && entered.is_none() {
                return handler.answered_by(answer);
            }
            let outcome = handler.outcome();
            Box::pin(async move {
                let worked = with_deadline(permits, inherited, outcome).await;
                // Deregister the call before its reply is sent. Otherwise, a caller that has received the reply could
                // observe that the call is still in progress.
                drop(entered);
                answer.then(worked);
            })
        })
    }

    /// Spawns a task that completes the handler of a hand-off request. Returns the request if the task cannot be
    /// spawned.
    fn spawn_hand_off(
        &self,
        handler: &mut dyn WaitingHandler,
        started: StartedHandler<'_>,
        permits: Option<Arc<Semaphore>>,
        requested: Box<(HandOffRequest, HandOff)>,
    ) -> Option<Box<(HandOffRequest, HandOff)>> {
        let StartedHandler { caller, inherited, memory, .. } = started;
        let inherited = inherited.copied().unwrap_or_default();
        let (connection, name) = (&caller.connection, *self.about.method());
        let (mut requested, translation) = (Some(requested), self.translation.clone());
        let spawned = connection.spawn_call(None, memory, Placement::Runtime, |task| {
            let (requested, observed_call, outcome) = (requested.take(), self.continue_observed(), handler.outcome());
            let translation = translation.clone();
            let work = async move {
                let worked = with_deadline(permits, inherited, outcome).await;
                let code = worked.as_ref().map_or(Code::Internal, code);
                observed_call.into_iter().for_each(|observed_call| observed_call.end(code, 0));
                worked
            };
            Box::pin(async move {
                if let Some((requested, decision)) = requested.map(|requested| *requested) {
                    let writing = Writing::new(Flags::default(), translation.as_deref());
                    hand_off::decide(requested, name, &decision, work, task, writing).await;
                }
            })
        });
        requested.filter(|_| !spawned)
    }

    /// Returns the observed call of a handler that continues as a task.
    fn continue_observed(&self) -> Option<Box<ObservedCall>> {
        self.method_observer.as_ref().map(|observer| Box::new(observer.continue_as_task()))
    }
}

/// Waits for the outcome of a handler that was called by an adapter, and logs a failure.
async fn adapter_outcome(
    permits: Option<Arc<Semaphore>>,
    inherited: InheritedContext,
    handler: Outcome<Bytes>,
    name: Method,
    connection: Connection,
) -> Result<Response<Bytes>, Status> {
    let worked = with_deadline(permits, inherited, handler).await;
    let result = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, &connection)));
    if let Err(status) = &result {
        log(status, name, &connection);
    }
    result
}

/// Acquires a permit and then awaits the handler. The deadline includes the time spent waiting for the permit.
async fn with_deadline<B>(
    permits: Option<Arc<Semaphore>>,
    inherited: InheritedContext,
    parked: ParkedFuture<Result<B, Status>>,
) -> UnwindResult<Result<B, Status>> {
    let work = async {
        let _permit = if let Some(permits) = &permits { permits.acquire().await.ok() } else { None };
        HandlerFuture { inherited, future: parked }.await
    };
    match inherited.deadline {
        None => work.await,
        Some(deadline) => match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(worked) => worked,
            Err(_) => Ok(Err(caller_gone())),
        },
    }
}

/// Sends the reply to a native call after its handler has continued as a task.
pub(super) struct Answer {
    task: Task,
    call: AnsweredCall,
}

/// A native call with a handler that continues as a task. Kept small because it is moved several times.
struct AnsweredCall {
    id: PacketId,
    operation: Operation,
    style: Form,
    flags: Flags,
    /// Whether the handler runs within middleware.
    is_layered: bool,
    name: Method,
    observed_call: Option<Box<ObservedCall>>,
    /// Guard that counts the call in the load of the server, if load is being counted.
    working: Option<LoadGuard>,
}

impl<B: EncodeBody> Continuation<Result<Response<B>, Status>> for Answer {
    fn then(self, worked: UnwindResult<Result<Response<B>, Status>>) {
        let Self { task, mut call } = self;
        // Log a panic even if no caller awaits the reply.
        let reply = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), call.name, task.connection())));
        let parts = body::reply_parts(&reply).map(|(message, metadata)| (message as &dyn EncodeBody, metadata));
        call.send(task, parts);
    }
}

impl AnsweredCall {
    fn send(&mut self, task: Task, reply: Result<(&dyn EncodeBody, Option<&Metadata>), &Status>) {
        let Self { id, operation, style, flags, is_layered, name, observed_call, working } = self;
        if let Err(status) = reply {
            log(status, *name, task.connection());
        }
        let code = reply.map_or_else(Status::code, |_| Code::Ok);
        // Report the duration only if the call succeeded, because failed calls do not predict the duration of others.
        let report = working.take().filter(|_| reply.is_ok()).and_then(LoadGuard::end);
        // Look up the translation again instead of storing it, which would enlarge pending calls.
        let find = || PeerLayouts::of(task.connection())?.translation(operation.number());
        let translation = if flags.has(Flags::TRANSLATED) { find() } else { None };
        let writing = Writing::new(*flags, translation.as_deref());
        // If the connection has closed, discard the reply.
        let mut length = 0;
        let _ = task.answer(|outbox| {
            let before = outbox.len();
            let reply = reply.as_ref().map(|(message, metadata)| (message, *metadata)).map_err(|status| *status);
            put_reply(outbox, *id, *operation, reply, *style, report, (writing, *is_layered));
            length = outbox.len().saturating_sub(before);
        });
        observed_call.take().into_iter().for_each(|observed_call| observed_call.end(code, length as u64));
    }
}

/// Writes a reply, compressed if requested. The reply states that the call has not run if the handler rejected it, or
/// if middleware failed the call without calling the handler.
#[inline(always)]
pub(super) fn put_reply<B: EncodeBody>(
    outbox: &mut Outbox,
    id: PacketId,
    operation: Operation,
    reply: ReplyParts<'_, B>,
    style: Form,
    report: Option<Report>,
    (writing, is_layered): (Writing<'_>, bool),
) {
    match reply {
        Err(status) if is_refusal(status, is_layered) => body::put_refusal(outbox, id, operation, status, style),
        reply => body::put_reply(outbox, id, operation, reply, style, writing, report),
    }
}
