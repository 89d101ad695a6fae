//! The serving end of calls that request a hand-off.

use crate::api::hand_off::HandOff;
use crate::schema::method::Method;
use crate::service::failures::{abandoned, log, panicked};
use crate::wire::body::{self, Flags, ReplyForm, alone};
use crate::{Response, Status};
use bytes::Bytes;
use frisbee::tasks::{Task, UnwindResult};
use frisbee::{Operation, PacketId};
use polyglot::{Form, Message};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// The body of a handler's reply.
pub(crate) fn reply<M: Message>(reply: Result<&Response<M>, &Status>, method: Method) -> Bytes {
    let style = ReplyForm { form: Form::Extended, backward: false };
    alone(|outbox| body::put_reply(outbox, PacketId(0), method.operation, reply, style, Flags::default(), None))
}

/// The body of a refusal.
pub(crate) fn refusal(status: &Status, method: Method) -> Bytes {
    refusal_of(status, method.operation)
}

/// As [`refusal`], for an operation that need not be a method's.
pub(crate) fn refusal_of(status: &Status, operation: Operation) -> Bytes {
    let style = ReplyForm { form: Form::Extended, backward: false };
    alone(|outbox| body::put_refusal(outbox, PacketId(0), operation, status, style))
}

/// Answers a request for a hand-off with the outcome of the handler, which is dropped if the peer cancels. Its `task`
/// ends before the answer: the peer may request again as soon as it has the answer.
pub(crate) async fn decide<B: Message>(
    request: frisbee::HandOffRequest,
    method: Method,
    decision: &HandOff,
    work: impl Future<Output = UnwindResult<Result<Response<B>, Status>>>,
    task: Task,
) {
    let worked = {
        // Dropped with its block, before the answer, and so are the values that the handler holds, such as a permit.
        let (mut work, mut waits) = (pin!(work), pin!(request.cancelled()));
        let worked = poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(worked) => Poll::Ready(worked),
            Poll::Pending => waits.as_mut().poll(context).map(|()| Ok(Err(abandoned()))),
        });
        worked.await
    };
    let connection = request.connection().clone();
    let replied = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), method, &connection)));
    if let Err(status) = &replied {
        log(status, method, &connection);
    }
    drop(task);
    settle(request, method, decision, replied.as_ref());
}

/// Answers a request for a hand-off with the reply of the handler, and with the connection if it has accepted.
pub(crate) fn settle<B: Message>(
    request: frisbee::HandOffRequest,
    method: Method,
    decision: &HandOff,
    replied: Result<&Response<B>, &Status>,
) {
    let body = reply(replied, method);
    match decision.taking().filter(|_| replied.is_ok()) {
        Some(taking) => request.accept(body, taking),
        None => request.refuse(body),
    }
}
