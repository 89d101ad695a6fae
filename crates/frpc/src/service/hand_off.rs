//! The server side of calls that request a hand-off.

use crate::api::hand_off::HandOff;
use crate::schema::method::Method;
use crate::service::failures::{abandoned, log, panicked};
use crate::wire::body::{self, EncodeBody, ReplyParts, Writing, alone};
use crate::{Response, Status};
use bytes::Bytes;
use frisbee::rpc::{Task, UnwindResult};
use frisbee::{Operation, PacketId};
use polyglot::Form;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Encoding of replies to hand-off requests. Always the extended encoding, because only native peers can request a
/// hand-off.
const FORM: Form = Form::Extended;

/// Encodes the failure of a hand-off request as its reply.
pub(crate) fn failure(status: &Status, operation: Operation, is_refused: bool) -> Bytes {
    alone(|outbox| body::put_failure(outbox, PacketId(0), operation, status, FORM, is_refused))
}

/// Replies to a hand-off request with the outcome of its handler. The handler is dropped if the peer cancels the call.
/// The guard `task` is dropped before the reply is sent, because the peer may then immediately send another request.
pub(crate) async fn decide<B: EncodeBody>(
    request: frisbee::HandOffRequest,
    method: Method,
    decision: &HandOff,
    work: impl Future<Output = UnwindResult<Result<Response<B>, Status>>>,
    task: Task,
    writing: Writing<'_>,
) {
    let worked = {
        // Drop the guard, and the handler with its values (such as a permit), before the reply is sent.
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
    settle(request, method, decision, body::reply_parts(&replied), writing);
}

/// Replies to a hand-off request with the handler's response. Hands off the connection if the handler has accepted the
/// request.
pub(crate) fn settle<B: EncodeBody>(
    request: frisbee::HandOffRequest,
    method: Method,
    decision: &HandOff,
    replied: ReplyParts<'_, B>,
    writing: Writing<'_>,
) {
    let (id, operation) = (PacketId(0), method.operation);
    let body = match replied {
        Err(status) => failure(status, operation, status.is_rejection()),
        Ok(_) => alone(|outbox| body::put_reply(outbox, id, operation, replied, FORM, writing, None)),
    };
    match decision.taking().filter(|_| replied.is_ok()) {
        Some(taking) => {
            // Do not answer that the connection is busy, because the client would then repeat the call, which has run.
            let status = Status::aborted("the call has run, but the server has opened a stream on its connection");
            request.accept_or_refuse(body, taking, failure(&status, operation, false));
        }
        None => request.refuse(body),
    }
}
