//! Requests that upgrade a connection to WebSocket.

use super::answer::Answer;
use super::fields::{self, KnownFields};
use super::service::RequestParts;
use crate::Gateway;
use crate::web_socket::{Subprotocol, Upgrade};
use frpc::Metadata;
use http::Version;

/// Returns whether a request asks for WebSocket and the gateway supports it.
pub(crate) fn is_wanted(gateway: &Gateway, parts: RequestParts<'_>, known: &KnownFields<'_>) -> bool {
    gateway.web_socket
        && parts.method() == "GET"
        && parts.target().0 == "/"
        && parts.version < Version::HTTP_2
        && tokens(known.upgrade.as_deref()).any(|token| token.eq_ignore_ascii_case("websocket"))
}

/// Parses a WebSocket request as specified in RFC 6455, section 4.2.1. `metadata` is attached to all calls of the
/// connection.
pub(crate) fn parse(
    gateway: &Gateway,
    parts: RequestParts<'_>,
    known: &KnownFields<'_>,
    metadata: Metadata,
) -> Result<(Upgrade, Metadata), Answer> {
    let is_upgrade = tokens(known.connection.as_deref()).any(|token| token.eq_ignore_ascii_case("upgrade"));
    let has_body = parts.head.get("transfer-encoding").is_some()
        || parts.head.get("content-length").is_some_and(|length| length != b"0");
    if !is_upgrade || parts.version != Version::HTTP_11 || has_body {
        return Err(Answer::refusal(400, "an upgrade has \"connection: upgrade\" and no body"));
    }
    let upgrade = Upgrade::new(gateway, known)?;
    // Reject the token instead of ignoring it: calls in native frames have their own metadata.
    if upgrade.subprotocol == Subprotocol::Frames && metadata.get(fields::AUTHORIZATION).is_some() {
        return Err(Answer::refusal(
            400,
            "with the subprotocol frisbee.1, send authorization in the metadata of calls",
        ));
    }
    Ok((upgrade, metadata))
}

/// Returns the elements of a comma-separated header field.
fn tokens(field: Option<&[u8]>) -> impl Iterator<Item = &str> {
    let text = field.and_then(|field| std::str::from_utf8(field).ok()).unwrap_or_default();
    text.split(',').map(str::trim).filter(|token| !token.is_empty())
}
