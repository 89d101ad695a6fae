//! Calls whose handler is not ready: each becomes a task that answers.

use super::{Codec, Instance, StartedHandler, code};
use crate::deadline::{HandlerFuture, InheritedContext};
use crate::observe::observers::{MethodObserver, ObservedCall};
use crate::schema::method::Method;
use crate::service::failures::{caller_gone, log, panicked, too_many};
use crate::service::hand_off;
use crate::service::handle::ServiceHandle;
use crate::service::invoke::{AdapterOutcome, PendingHandler, ReplyTo, ServeProgress};
use crate::service::load::LoadGuard;
use crate::wire::body::{self, Flags, ReplyForm};
use crate::wire::report::Report;
use crate::{Code, Request, Response, Status};
use frisbee::tasks::{Continuation, Executor, ParkedFuture, Task, UnwindResult};
use frisbee::{Operation, Outbox, PacketId};
use polyglot::Message;
use std::sync::Arc;
use tokio::sync::Semaphore;

impl<S, H, A, B, F> Instance<S, H, A, B, F>
where
    S: Send + Sync + 'static,
    A: Message + Send + 'static,
    B: Message + Send + 'static,
    H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
{
    /// Continues a handler as a task, which sends the reply.
    #[cold]
    pub(super) fn park<G>(
        &self,
        parked: ParkedFuture<G, Answer>,
        started: StartedHandler<'_>,
        site: Executor,
        permits: Option<Arc<Semaphore>>,
        reply: ReplyTo<'_>,
    ) -> ServeProgress
    where
        G: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let StartedHandler { caller, inherited, memory, is_slow } = started;
        let inherited = inherited.copied().unwrap_or_default();
        let (connection, name) = (&caller.connection, *self.about.method());
        let observed_call = || self.method_observer.as_ref().map(MethodObserver::continue_as_task);
        let refused = match reply {
            ReplyTo::Packet { id, operation, outbox } => {
                let (style, packs, is_layered) = (caller.style, self.packs, self.chain.is_some());
                // Native peers may cancel.
                let call = caller.is_native().then_some((id, operation));
                let entered = caller.enter(id, name, inherited.deadline);
                let working = caller.work();
                let spawned = connection.spawn_call(call, memory, site, |task| {
                    let observed_call = observed_call();
                    let answer = Answer { task, id, operation, style, packs, is_layered, name, observed_call, working };
                    if !inherited.is_something() && permits.is_none() && entered.is_none() {
                        return parked.then(answer);
                    }
                    Box::pin(async move {
                        let worked = with_deadline(permits, inherited, parked).await;
                        drop(entered);
                        answer.then(worked);
                    })
                });
                (!spawned).then_some(ReplyTo::Packet { id, operation, outbox })
            }
            ReplyTo::HandOff { requested, decision } => {
                let mut requested = Some((requested, decision));
                let spawned = connection.spawn_call(None, memory, Executor::Runtime, |task| {
                    let (requested, observed_call) = (requested.take(), observed_call());
                    let work = async move {
                        let worked = with_deadline(permits, inherited, parked).await;
                        end(observed_call, worked.as_ref().map_or(Code::Internal, code), 0);
                        worked
                    };
                    Box::pin(async move {
                        if let Some((requested, decision)) = requested {
                            hand_off::decide(requested, name, &decision, work, task).await;
                        }
                    })
                });
                requested.filter(|_| !spawned).map(|(requested, decision)| ReplyTo::HandOff { requested, decision })
            }
            ReplyTo::Adapter { outcome, .. } => {
                let codec = self.codec.clone();
                let (connection, observed_call) = (connection.clone(), observed_call().map(Box::new));
                let work = Box::pin(async move {
                    let worked = with_deadline(permits, inherited, parked).await;
                    let result = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, &connection)));
                    if let Err(status) = &result {
                        log(status, name, &connection);
                    }
                    let (message, extras) = result?.into_parts_with_extras();
                    Ok(Response::from_parts_with_extras(codec.encode(&message)?, extras))
                });
                *outcome = Some(AdapterOutcome::Pending(PendingHandler { work, memory, observed_call }));
                None
            }
        };
        match refused {
            Some(reply) => {
                connection.count_rejected();
                self.refuse(caller, reply, too_many(connection), ServeProgress::Refused)
            }
            None if is_slow => ServeProgress::Slow,
            None => ServeProgress::Started,
        }
    }
}

impl<A, B> Clone for Codec<A, B> {
    fn clone(&self) -> Self {
        match self {
            Self::Native(reading) => Self::Native(*reading),
            Self::Format(format, terms) => Self::Format(*format, terms.clone()),
        }
    }
}

/// The outcome of a handler once it has a permit, and until its deadline.
pub(crate) async fn with_deadline<B, F, T>(
    permits: Option<Arc<Semaphore>>,
    inherited: InheritedContext,
    parked: ParkedFuture<F, T>,
) -> UnwindResult<F::Output>
where
    F: Future<Output = Result<B, Status>>,
{
    let _permit = match &permits {
        Some(permits) => permits.acquire().await.ok(),
        None => None,
    };
    let work = HandlerFuture { inherited, future: parked };
    match inherited.deadline {
        None => work.await,
        Some(deadline) => match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(worked) => worked,
            Err(_) => Ok(Err(caller_gone())),
        },
    }
}

/// The destination of the reply of a native call that continues as a task.
pub(super) struct Answer {
    task: Task,
    id: PacketId,
    operation: Operation,
    style: ReplyForm,
    packs: bool,
    /// The handler is within middleware.
    is_layered: bool,
    name: Method,
    observed_call: Option<ObservedCall>,
    /// The call as one that the end works on, if that is counted.
    working: Option<LoadGuard>,
}

impl<B: Message> Continuation<Result<Response<B>, Status>> for Answer {
    fn then(self, worked: UnwindResult<Result<Response<B>, Status>>) {
        let Self { task, id, operation, style, packs, is_layered, name, observed_call, working } = self;
        // A panic is logged even if no caller waits.
        let reply = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, task.connection())));
        if let Err(status) = &reply {
            log(status, name, task.connection());
        }
        let report = match (&reply, working) {
            (Ok(_), Some(working)) => working.end(),
            // A failure says nothing of how long others take.
            _ => None,
        };
        // A connection that has ended drops the reply.
        let mut length = 0;
        let _ = task.answer(|outbox| {
            let before = outbox.len();
            put_reply(outbox, id, operation, reply.as_ref(), style, report, (packs, is_layered));
            length = outbox.len().saturating_sub(before);
        });
        end(observed_call, code(&reply), length as u64);
    }
}

fn end(observed_call: Option<ObservedCall>, code: Code, reply: u64) {
    if let Some(observed_call) = observed_call {
        observed_call.end(code, reply);
    }
}

/// Answers a call, by a packed message if that is wanted, or by a refusal if middleware denied it before its handler.
#[inline(always)]
pub(super) fn put_reply<B: Message>(
    outbox: &mut Outbox,
    id: PacketId,
    operation: Operation,
    reply: Result<&Response<B>, &Status>,
    style: ReplyForm,
    report: Option<Report>,
    (packs, is_layered): (bool, bool),
) {
    match reply {
        Err(status) if is_layered && is_denial(status) => body::put_refusal(outbox, id, operation, status, style),
        reply => body::put_reply(outbox, id, operation, reply, style, Flags::PACKED.when(packs), report),
    }
}

/// Whether middleware has denied a call without continuing it. Its other failures may be caused by its own actions.
fn is_denial(status: &Status) -> bool {
    !status.may_have_run() && matches!(status.code(), Code::Unauthenticated | Code::PermissionDenied)
}
