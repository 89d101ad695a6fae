//! JSON-RPC in single bodies, as HTTP carries them, in JSON or Ion.

#[cfg(feature = "ion")]
use super::ion;
use super::session::Session;
use crate::Gateway;
#[cfg(feature = "ion")]
use crate::charge::{CHARGED_MIN, check_room};
#[cfg(feature = "ion")]
use crate::connect::unary;
#[cfg(feature = "ion")]
use crate::http::answer::{self, Answer};
use bytes::Bytes;
use frpc::{AdapterContext, Metadata};
use std::future::poll_fn;
use std::task::{Poll, ready};

/// Answers one body, which is a request or a batch. `None` if there is nothing to answer, since it has notifications
/// alone.
pub(crate) async fn answer(
    gateway: &Gateway,
    context: &AdapterContext,
    metadata: Metadata,
    body: Bytes,
) -> Option<Bytes> {
    let mut session = Session::new(gateway, context, metadata).without_notices();
    session.handle(&body);
    complete(&mut session).await
}

/// As [`answer`], in Ion: a reply has the form, binary or text, of its request.
#[cfg(feature = "ion")]
pub(crate) async fn answer_ion(gateway: &Gateway, context: &AdapterContext, metadata: Metadata, body: Bytes) -> Answer {
    let mut session = Session::new(gateway, context, metadata).without_notices();
    let is_binary = ion::is_binary(&body);
    // The JSON is limited as the body is.
    if let Err(status) = check_room(context, body.len()) {
        return unary::failure(&status);
    }
    let _charge = (body.len() >= CHARGED_MIN).then(|| context.charge(body.len()));
    session.handle_ion(&body);
    drop(body);
    let Some(reply) = complete(&mut session).await else { return Answer::empty(204) };
    // JSON is Ion as well.
    let reply = if is_binary { ion::to_binary(&reply).map_or(reply, Bytes::from) } else { reply };
    Answer::new(200, answer::ION, reply)
}

/// Waits for the calls of a message, and returns the reply.
async fn complete(session: &mut Session) -> Option<Bytes> {
    poll_fn(|task| {
        while session.calls() > 0 {
            ready!(session.poll(task));
        }
        Poll::Ready(())
    })
    .await;
    let mut output = std::mem::take(session.output());
    output.pop();
    (!output.is_empty()).then(|| output.into())
}
