//! The request that upgrades an HTTP/1.1 connection to WebSocket, and its response.

use crate::Gateway;
use crate::http::answer::Answer;
use crate::http::fields::KnownFields;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha1::{Digest, Sha1};

/// Suffix that is appended to the client's key before hashing: RFC 6455, section 1.3.
const SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The only supported WebSocket version: RFC 6455, section 4.1.
const VERSION: &str = "13";

/// Protocol of the messages on a WebSocket connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subprotocol {
    /// Native frpc frames in binary messages.
    Frames,
    /// JSON-RPC messages, one per text message.
    JsonRpc,
}

impl Subprotocol {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Frames => "frisbee.1",
            Self::JsonRpc => "jsonrpc",
        }
    }

    fn of(name: &[u8], gateway: &Gateway) -> Option<Self> {
        let is_meant = |subprotocol: &Self| subprotocol.name().as_bytes() == name && subprotocol.is_open(gateway);
        [Self::Frames, Self::JsonRpc].into_iter().find(is_meant)
    }

    fn is_open(self, gateway: &Gateway) -> bool {
        self == Self::Frames || gateway.json_rpc
    }
}

/// Upgrade to WebSocket that the server grants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Upgrade {
    pub(crate) subprotocol: Subprotocol,
    /// Value of the field `sec-websocket-accept`.
    accept: String,
    /// Whether the client offered subprotocols, so the response must name the chosen one.
    is_chosen: bool,
}

impl Upgrade {
    /// Accepts an upgrade request if possible. Chooses the first offered subprotocol that the gateway supports, or
    /// JSON-RPC if the client offers none and JSON-RPC is enabled.
    pub(crate) fn new(gateway: &Gateway, known: &KnownFields<'_>) -> Result<Self, Answer> {
        if known.socket_version != Some(VERSION.as_bytes()) {
            let answer = Answer::needs_upgrade("websocket", "the server speaks version 13 of WebSocket");
            return Err(answer.with("sec-websocket-version", VERSION));
        }
        let key = known.socket_key;
        let key = key.ok_or_else(|| Answer::refusal(400, "the field \"sec-websocket-key\" is missing"))?;
        if !BASE64_STANDARD.decode(key).is_ok_and(|key| key.len() == 16) {
            return Err(Answer::refusal(400, "the field \"sec-websocket-key\" is not 16 bytes in base64"));
        }
        let chosen = match &known.socket_protocol {
            Some(offered) => {
                let mut offered = offered.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                offered.find_map(|name| Subprotocol::of(name, gateway))
            }
            None => Some(Subprotocol::JsonRpc).filter(|subprotocol| subprotocol.is_open(gateway)),
        };
        let subprotocol = chosen.ok_or_else(|| {
            let text = "WebSocket is served with the subprotocols \"frisbee.1\" and, if that is enabled, \"jsonrpc\"";
            Answer::refusal(400, text)
        })?;
        Ok(Self { subprotocol, accept: accept(key), is_chosen: known.socket_protocol.is_some() })
    }

    /// Returns the header fields of the upgrade response, which has status 101.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let chosen = self.is_chosen.then(|| ("sec-websocket-protocol", self.subprotocol.name().to_owned()));
        let fields = [
            ("upgrade", "websocket".to_owned()),
            ("connection", "Upgrade".to_owned()),
            ("sec-websocket-accept", self.accept.clone()),
        ];
        fields.into_iter().chain(chosen)
    }
}

/// Returns the value of `sec-websocket-accept` for a client's key.
pub(crate) fn accept(key: &[u8]) -> String {
    BASE64_STANDARD.encode(Sha1::new().chain_update(key).chain_update(SUFFIX).finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key of the example in RFC 6455, section 1.3.
    const KEY: &[u8] = b"dGhlIHNhbXBsZSBub25jZQ==";

    fn fields() -> KnownFields<'static> {
        KnownFields { socket_key: Some(KEY), socket_version: Some(VERSION.as_bytes()), ..KnownFields::default() }
    }

    #[test]
    fn accept_key_matches_rfc_example() {
        assert_eq!(accept(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn first_served_subprotocol_is_chosen() {
        let (frames, both) = (Gateway::new().web_socket(), Gateway::new().web_socket().json_rpc());
        let (native, json) = (Subprotocol::Frames, Subprotocol::JsonRpc);
        for (gateway, offered, expected) in [
            (&frames, Some("frisbee.1"), Ok(native)),
            (&frames, Some("chat, frisbee.1"), Ok(native)),
            (&frames, Some("jsonrpc,frisbee.1"), Ok(native)),
            (&both, Some("jsonrpc,frisbee.1"), Ok(json)),
            (&both, Some(" frisbee.1 ,jsonrpc"), Ok(native)),
            (&both, None, Ok(json)),
            (&frames, None, Err(400)),
            (&frames, Some("jsonrpc"), Err(400)),
            (&both, Some("chat"), Err(400)),
            (&both, Some(""), Err(400)),
        ] {
            let socket_protocol = offered.map(|offered| offered.as_bytes().into());
            let upgrade = Upgrade::new(gateway, &KnownFields { socket_protocol, ..fields() });
            let names = upgrade.as_ref().is_ok_and(|upgrade| {
                upgrade
                    .fields()
                    .any(|(name, value)| name == "sec-websocket-protocol" && value == upgrade.subprotocol.name())
            });
            let chosen = upgrade.map(|upgrade| upgrade.subprotocol).map_err(|answer| answer.status);
            assert_eq!(chosen, expected, "{offered:?}");
            assert_eq!(names, expected.is_ok() && offered.is_some(), "{offered:?}");
        }
    }

    #[test]
    fn invalid_keys_and_versions_are_rejected() {
        let gateway = Gateway::new().web_socket().json_rpc();
        let refused = |known| Upgrade::new(&gateway, &known).expect_err("upgrade should be rejected").status;
        for socket_version in [None, Some(&b"8"[..]), Some(b"013")] {
            assert_eq!(refused(KnownFields { socket_version, ..fields() }), 426);
        }
        for socket_key in [None, Some(&b""[..]), Some(b"dGhlIHNhbXBsZSBub25jZQ"), Some(b"c2hvcnQ="), Some(b"\xff")] {
            assert_eq!(refused(KnownFields { socket_key, ..fields() }), 400);
        }
    }
}
