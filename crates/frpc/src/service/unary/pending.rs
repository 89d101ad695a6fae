//! Calls whose handler is not ready: how each becomes a task that answers.

use crate::deadline::{Inherited, Within};
use crate::observe::tally::{Finish, Watch};
use crate::schema::method::FullName;
use crate::service::caller::Caller;
use crate::service::failures::{note, panicked, refuse, too_many};
use crate::service::load::Working;
use crate::wire::body::{self, Style};
use crate::wire::report::Report;
use crate::{Code, Response, Status};
use frisbee::support::{Parked, Site, Task, Then, Worked};
use frisbee::{Operation, Outbox, PacketId, Routed};
use polyglot::Message;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The packet of a request.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) id: PacketId,
    pub(super) operation: Operation,
}

/// A call whose handler is not ready.
pub(super) struct Pending<'a> {
    pub(super) caller: &'a Caller,
    pub(super) asked: Asked,
    pub(super) inherited: Inherited,
    /// The memory of the prefix and of the request, in bytes.
    pub(super) memory: [usize; 2],
    pub(super) name: FullName,
    /// Its reply is packed.
    pub(super) packs: bool,
}

impl Pending<'_> {
    /// Continues the handler as a task, which sends the reply.
    pub(super) fn go_on<B, F, W>(
        self,
        parked: Parked<F, Answer<W::Task>>,
        site: Site,
        permits: Option<Arc<Semaphore>>,
        outbox: &mut Outbox,
        watch: &W,
    ) -> Routed
    where
        B: Message + Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
        W: Watch,
    {
        let Self { caller, asked, inherited, memory: [before, memory], name, packs } = self;
        let Asked { id, operation } = asked;
        let memory = before + memory;
        let style = caller.style();
        // Extended peers may cancel.
        let call = caller.is_extended().then_some((id, operation));
        let entered = if caller.is_inspected() { caller.enter(id, name, inherited.deadline) } else { None };
        let working = caller.work();
        let spawned = caller.connection.spawn_call(call, memory, site, |task| {
            let answer = Answer { task, id, operation, style, packs, name, watched: watch.go_on(), working };
            if !inherited.is_something() && permits.is_none() && entered.is_none() {
                return parked.then(answer);
            }
            Box::pin(async move {
                let worked = held_to(permits, inherited, parked).await;
                drop(entered);
                answer.then(worked);
            })
        });
        if !spawned {
            caller.connection.count_shed();
            let (status, before) = (too_many(&caller.connection), watch.before(outbox));
            let routed = refuse(outbox, id, operation, &status, style);
            watch.end(caller.tally(), || status.code(), outbox, before);
            return routed;
        }
        Routed::Continue
    }
}

/// Runs a handler once it has a permit, and until its deadline.
pub(crate) async fn held_to<B, F, T>(
    permits: Option<Arc<Semaphore>>,
    inherited: Inherited,
    parked: Parked<F, T>,
) -> Worked<F::Output>
where
    F: Future<Output = Result<Response<B>, Status>>,
{
    let _permit = match &permits {
        Some(permits) => permits.acquire().await.ok(),
        None => None,
    };
    let work = Within { inherited, future: parked };
    match inherited.deadline {
        None => work.await,
        Some(deadline) => match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(worked) => worked,
            Err(_) => Ok(Err(Status::deadline_exceeded("the deadline of the call has passed"))),
        },
    }
}

/// The destination of the reply of a handler that continues as a task. `T` is the call as its observer knows it.
pub(super) struct Answer<T> {
    task: Task,
    id: PacketId,
    operation: Operation,
    style: Style,
    packs: bool,
    name: FullName,
    watched: T,
    /// The call as one that the end works on, if that is counted.
    working: Option<Working>,
}

impl<B: Message, T: Finish> Then<Result<Response<B>, Status>> for Answer<T> {
    fn then(self, worked: Worked<Result<Response<B>, Status>>) {
        let Self { task, id, operation, style, packs, name, watched, working } = self;
        // A panic is logged even if no caller waits.
        let reply = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, task.connection())));
        if let Err(status) = &reply {
            note(status, name, task.connection());
        }
        let report = match (&reply, working) {
            (Ok(_), Some(working)) => working.end(),
            (Err(status), Some(working)) => {
                // It says nothing of how long others take.
                working.fail(status.code());
                None
            }
            (_, None) => None,
        };
        // On a connection that has ended meanwhile, nobody reads the reply.
        let mut length = 0;
        let _ = task.answer(|outbox| {
            let before = outbox.len();
            put_reply(outbox, Asked { id, operation }, reply.as_ref(), style, report, packs);
            length = outbox.len().saturating_sub(before);
        });
        watched.finish(|| code(&reply), || length as u64);
    }
}

/// Answers a call, by a packed message if that is wanted.
#[inline(always)]
pub(super) fn put_reply<B: Message>(
    outbox: &mut Outbox,
    Asked { id, operation }: Asked,
    reply: Result<&Response<B>, &Status>,
    style: Style,
    report: Option<Report>,
    packs: bool,
) {
    match reply {
        Ok(reply) if packs => body::put_packed_reply(outbox, id, operation, reply, style, report),
        reply => body::put_reply(outbox, id, operation, reply, style, report),
    }
}

/// The code of a reply.
pub(super) fn code<B>(reply: &Result<Response<B>, Status>) -> Code {
    reply.as_ref().map_or_else(Status::code, |_| Code::Ok)
}
