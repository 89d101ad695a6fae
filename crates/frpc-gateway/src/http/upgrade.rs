//! Requests that turn a connection into one of WebSocket.

use super::answer::Answer;
use super::fields::{self, Known};
use super::head::{Framing, Head};
use crate::Gateway;
use crate::web_socket::{Asked, Refusal, Subprotocol, Upgrade, VERSION};
use frpc::Metadata;

/// Whether a request is for WebSocket, and the door is open.
pub(crate) fn is_wanted(gateway: &Gateway, head: &Head<'_, '_>, known: &Known<'_>) -> bool {
    let path = head.target.split('?').next();
    known.upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case(b"websocket"))
        && head.method == "GET"
        && path == Some("/")
        && gateway.web_socket
}

/// Reads the request, by section 4.2.1 of RFC 6455, and its metadata, which is that of all calls to come.
pub(crate) fn parse(gateway: &Gateway, head: &Head<'_, '_>, known: &Known<'_>) -> Result<(Upgrade, Metadata), Answer> {
    let is_upgrade = tokens(known.connection).any(|token| token.eq_ignore_ascii_case("upgrade"));
    if !is_upgrade || head.is_old || head.framing != Framing::Length(0) {
        return Err(Answer::refusal(400, "an upgrade has \"connection: upgrade\" and no body"));
    }
    let metadata = fields::metadata(head.fields.iter().map(|field| (field.name, field.value)));
    let metadata = metadata.map_err(|invalid| invalid.answer())?;
    let asked = Asked { key: known.socket_key, version: known.socket_version, protocols: known.socket_protocol };
    let upgrade = Upgrade::new(gateway, &asked).map_err(|refusal| match refusal {
        Refusal::Version => Answer::needs_upgrade("websocket", refusal.text()).with("sec-websocket-version", VERSION),
        _ => Answer::refusal(400, refusal.text()),
    })?;
    // Calls in native frames have metadata of their own: the token would be ignored.
    if upgrade.subprotocol == Subprotocol::Frames && metadata.get(fields::AUTHORIZATION).is_some() {
        return Err(Answer::refusal(
            400,
            "with the subprotocol frisbee.1, send authorization in the metadata of calls",
        ));
    }
    Ok((upgrade, metadata))
}

/// The items of a list in a field.
fn tokens(field: Option<&[u8]>) -> impl Iterator<Item = &str> {
    let text = field.and_then(|field| std::str::from_utf8(field).ok()).unwrap_or_default();
    text.split(',').map(str::trim).filter(|token| !token.is_empty())
}
