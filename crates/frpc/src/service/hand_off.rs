//! The serving end of calls that request a hand-off.

use crate::api::hand_off::HandOff;
use crate::schema::method::Method;
use crate::service::failures::{abandoned, log, panicked};
use crate::wire::body::{self, EncodeBody, Flags, ReplyParts, alone};
use crate::{Response, Status};
use bytes::Bytes;
use frisbee::tasks::{Task, UnwindResult};
use frisbee::{Operation, PacketId};
use polyglot::Form;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// The form of answers: only native peers request hand-offs.
const FORM: Form = Form::Extended;

/// The body of a failure, or of a refusal.
pub(crate) fn failure(status: &Status, operation: Operation, is_refused: bool) -> Bytes {
    alone(|outbox| body::put_failure(outbox, PacketId(0), operation, status, FORM, is_refused))
}

/// Answers a request for a hand-off with the outcome of the handler, which is dropped if the peer cancels. Its `task`
/// ends before the answer: the peer may request again as soon as it has the answer.
pub(crate) async fn decide<B: EncodeBody>(
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
    settle(request, method, decision, body::reply_parts(&replied));
}

/// Answers a request for a hand-off with the reply of the handler, and with the connection if it has accepted.
pub(crate) fn settle<B: EncodeBody>(
    request: frisbee::HandOffRequest,
    method: Method,
    decision: &HandOff,
    replied: ReplyParts<'_, B>,
) {
    let (id, operation) = (PacketId(0), method.operation);
    let body = alone(|outbox| body::put_reply(outbox, id, operation, replied, FORM, Flags::default(), None));
    match decision.taking().filter(|_| replied.is_ok()) {
        Some(taking) => request.accept(body, taking),
        None => request.refuse(body),
    }
}
