//! JSON-RPC messages in single HTTP bodies of Ion.

use super::super::body::complete;
use super::super::framing::FramingError;
use super::super::reply;
use super::super::session::Session;
use super::{IonLimits, Problem, is_binary, to_binary, to_json};
use crate::Gateway;
use crate::charge::{CHARGED_MIN, check_room};
use crate::connect::unary;
use crate::http::answer::{self, Answer};
use bytes::Bytes;
use frpc::{AdapterContext, Metadata, Status};

/// Handles an HTTP body with JSON-RPC in Ion and waits for its calls. The reply is binary or text like the request.
pub(crate) async fn answer(gateway: &Gateway, context: &AdapterContext, metadata: Metadata, body: Bytes) -> Answer {
    let mut session = Session::new(gateway, context, metadata).without_notices();
    let is_binary = is_binary(&body);
    // Limit the converted JSON to the maximum size of a body, too.
    if let Err(status) = check_room(context, body.len()) {
        return unary::failure(&status);
    }
    let _charge = (body.len() >= CHARGED_MIN).then(|| context.charge(body.len()));
    handle(&mut session, &body);
    drop(body);
    let Some(reply) = complete(&mut session).await else { return Answer::empty(204) };
    // A text reply can stay JSON, because JSON is valid Ion.
    let reply = if is_binary { to_binary(&reply).map_or(reply, Bytes::from) } else { reply };
    Answer::new(200, answer::ION, reply)
}

fn handle(session: &mut Session, message: &[u8]) {
    let depth = session.bounds().depth_max;
    let bytes = usize::try_from(session.context().config().body_limit()).unwrap_or(usize::MAX);
    let error = match to_json(message, IonLimits { bytes, depth }) {
        Ok(json) => return session.handle(&json.into()),
        Err(error) => error,
    };
    session.context().charge_abuse(message.len());
    match error.problem {
        Problem::Malformed(_) => {
            let output = session.output();
            reply::error(output, reply::NO_ID, reply::PARSE_ERROR, &error.to_string());
            output.push(b'\n');
        }
        Problem::TooDeep => session.refuse(FramingError::TooDeep(depth)),
        Problem::TooLong => {
            let text = format!("a message exceeds the limit of {bytes} bytes as JSON");
            session.fail(&Status::resource_exhausted(text));
        }
    }
}
