//! Requests that turn a connection into one of WebSocket.

use super::answer::Answer;
use super::fields::{self, Known};
use super::head::{Framing, Head};
use crate::web_socket::{self, Upgrade};
use crate::{Gateway, base64};

/// The length of the nonce in a key, in bytes.
const NONCE: usize = 16;

/// Whether a request is for WebSocket, and the door is open.
pub(crate) fn is_wanted(gateway: &Gateway, head: &Head<'_, '_>, known: &Known<'_>) -> bool {
    let path = head.target.split('?').next();
    known.upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case(b"websocket"))
        && head.method == "GET"
        && path == Some("/")
        && web_socket::is_open(gateway)
}

/// Reads the request, by section 4.2.1 of RFC 6455.
pub(crate) fn parse(head: &Head<'_, '_>, known: &Known<'_>) -> Result<Upgrade, Answer> {
    let is_upgrade = tokens(known.connection).any(|token| token.eq_ignore_ascii_case("upgrade"));
    if !is_upgrade || head.is_old || head.framing != Framing::Length(0) {
        return Err(Answer::refusal(400, "an upgrade has \"connection: upgrade\" and no body"));
    }
    if known.socket_version != Some(b"13") {
        let answer = Answer::needs_upgrade("websocket", "the version of WebSocket is 13");
        return Err(answer.with("sec-websocket-version", "13"));
    }
    let key = known.socket_key.and_then(|key| std::str::from_utf8(key).ok()).unwrap_or_default();
    if base64::decode(key.as_bytes()).is_none_or(|nonce| nonce.len() != NONCE) {
        return Err(Answer::refusal(400, "sec-websocket-key is 16 bytes in base64"));
    }
    Ok(Upgrade {
        key: key.to_owned(),
        protocols: tokens(known.socket_protocol).map(str::to_owned).collect(),
        metadata: fields::metadata(head.fields.iter().map(|field| (field.name, field.value))),
    })
}

/// The items of a list in a field.
fn tokens(field: Option<&[u8]>) -> impl Iterator<Item = &str> {
    let text = field.and_then(|field| std::str::from_utf8(field).ok()).unwrap_or_default();
    text.split(',').map(str::trim).filter(|token| !token.is_empty())
}
