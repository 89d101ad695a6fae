//! JSON-RPC messages in single HTTP bodies of Ion.

use super::super::body::complete;
use super::super::framing::FramingError;
use super::super::reply;
use super::super::session::Session;
use super::{IonLimits, Problem, is_binary, to_binary, to_json};
use crate::Gateway;
use crate::charge::{CHARGED_MIN, check_room, try_charge};
use crate::connect::unary;
use crate::http::answer::{self, Answer};
use bytes::Bytes;
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Metadata, Status};

/// Maximum ratio of the length of JSON text to that of its Ion message that is free of charge. It suffices for usual
/// messages, in which a symbol of one or two bytes stands for a field name. Beyond it, this many bytes of text count as
/// one useless byte.
const TEXT_PER_BYTE: usize = 16;

/// Handles an HTTP body with JSON-RPC in Ion and waits for its calls. The reply is binary or text like the request.
pub(crate) async fn answer(gateway: &Gateway, context: &AdapterContext, metadata: Metadata, body: Bytes) -> Answer {
    let mut session = Session::new(gateway, context, metadata).without_notices();
    let is_binary = is_binary(&body);
    // The JSON text is usually longer than the body, so reject the body before the conversion.
    if let Err(status) = check_room(context, body.len()) {
        return unary::failure(&status);
    }
    // Hold the charge for the JSON text until the calls are complete, in addition to that of the body.
    let _charge = match handle(&mut session, context, &body) {
        Ok(charge) => charge,
        Err(status) => return unary::failure(&status),
    };
    drop(body);
    let Some(reply) = complete(&mut session).await else { return Answer::empty(204) };
    // A text reply can stay JSON, because JSON is valid Ion.
    let reply = if is_binary { to_binary(&reply).map_or(reply, Bytes::from) } else { reply };
    Answer::new(200, answer::ION, reply)
}

/// Converts a message to JSON and handles it. Returns the charge for the JSON text. Fails if the text exceeds the
/// client's memory limit.
fn handle(session: &mut Session, context: &AdapterContext, message: &[u8]) -> Result<Option<MemoryCharge>, Status> {
    let depth = session.bounds().depth_max;
    let bytes = usize::try_from(session.context.config().body_limit()).unwrap_or(usize::MAX);
    let converted = to_json(message, IonLimits { bytes, depth });
    let written = converted.as_ref().map_or_else(|error| error.written, Vec::len);
    let excess = written.saturating_sub(message.len().saturating_mul(TEXT_PER_BYTE));
    if excess > 0 {
        session.context.charge_abuse(excess / TEXT_PER_BYTE);
    }
    let error = match converted {
        Ok(json) => {
            // A symbol may stand for a long text, so the length of the message does not bound that of the JSON text.
            let bytes = json.capacity();
            let charge = try_charge(context, if bytes < CHARGED_MIN { 0 } else { bytes })?;
            session.handle(&json.into());
            return Ok(Some(charge));
        }
        Err(error) => error,
    };
    session.context.charge_abuse(message.len());
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
    Ok(None)
}
