//! The request that turns a connection of HTTP/1.1 into one of WebSocket, and its answer.

use crate::Gateway;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha1::{Digest, Sha1};

/// The suffix that a server appends to the key of its client: RFC 6455, section 1.3.
const SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The only version: RFC 6455, section 4.1.
pub(crate) const VERSION: &str = "13";

/// The content of the messages of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subprotocol {
    /// Native frames, in binary messages.
    Frames,
    /// Messages of JSON-RPC, a text each.
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

/// The fields of a request for WebSocket, which is a GET of HTTP/1.1 with `connection: upgrade` and `upgrade:
/// websocket`.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct UpgradeRequest<'a> {
    /// `sec-websocket-key`
    pub(crate) key: Option<&'a [u8]>,
    /// `sec-websocket-version`
    pub(crate) version: Option<&'a [u8]>,
    /// All of `sec-websocket-protocol`, separated by commas.
    pub(crate) protocols: Option<&'a [u8]>,
}

/// An upgrade that is granted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Upgrade {
    pub(crate) subprotocol: Subprotocol,
    /// The server's answer to the key.
    accept: String,
    /// The client has offered subprotocols, and one was chosen.
    is_chosen: bool,
}

/// Why there is no upgrade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpgradeRefusal {
    /// The request is malformed: status 400.
    Malformed(&'static str),
    /// The version is another one than [`VERSION`]: status 426, with `sec-websocket-version: 13`.
    Version,
    /// None of the subprotocols is served: status 400.
    Subprotocol,
}

impl UpgradeRefusal {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Malformed(text) => text,
            Self::Version => "the server speaks version 13 of WebSocket",
            Self::Subprotocol => {
                "WebSocket is served with the subprotocols \"frisbee.1\" and, if that is enabled, \"jsonrpc\""
            }
        }
    }
}

impl Upgrade {
    /// Grants an upgrade if it can be. The first subprotocol that the client offers and this gateway serves is chosen. A
    /// client that offers none, such as a console, gets JSON-RPC if that is enabled.
    pub(crate) fn new(gateway: &Gateway, request: &UpgradeRequest<'_>) -> Result<Self, UpgradeRefusal> {
        if request.version != Some(VERSION.as_bytes()) {
            return Err(UpgradeRefusal::Version);
        }
        let key = request.key.ok_or(UpgradeRefusal::Malformed("the field \"sec-websocket-key\" is missing"))?;
        if !BASE64_STANDARD.decode(key).is_ok_and(|key| key.len() == 16) {
            return Err(UpgradeRefusal::Malformed("the field \"sec-websocket-key\" is not 16 bytes in base64"));
        }
        let chosen = match request.protocols {
            Some(offered) => {
                let mut offered = offered.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                offered.find_map(|name| Subprotocol::of(name, gateway))
            }
            None => Some(Subprotocol::JsonRpc).filter(|subprotocol| subprotocol.is_open(gateway)),
        };
        let subprotocol = chosen.ok_or(UpgradeRefusal::Subprotocol)?;
        Ok(Self { subprotocol, accept: accept(key), is_chosen: request.protocols.is_some() })
    }

    /// The fields of the answer, which has status 101.
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

/// A server's answer to a key.
pub(crate) fn accept(key: &[u8]) -> String {
    BASE64_STANDARD.encode(Sha1::new().chain_update(key).chain_update(SUFFIX).finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6455, section 1.3.
    const KEY: &[u8] = b"dGhlIHNhbXBsZSBub25jZQ==";
    const REQUEST: UpgradeRequest<'static> =
        UpgradeRequest { key: Some(KEY), version: Some(VERSION.as_bytes()), protocols: None };

    #[test]
    fn the_answer_to_a_key_is_that_of_the_standard() {
        assert_eq!(accept(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn the_first_subprotocol_that_is_served_is_chosen() {
        let (frames, both) = (Gateway::new().web_socket(), Gateway::new().web_socket().json_rpc());
        let (native, json) = (Subprotocol::Frames, Subprotocol::JsonRpc);
        for (gateway, offered, expected) in [
            (&frames, Some("frisbee.1"), Ok(native)),
            (&frames, Some("chat, frisbee.1"), Ok(native)),
            (&frames, Some("jsonrpc,frisbee.1"), Ok(native)),
            (&both, Some("jsonrpc,frisbee.1"), Ok(json)),
            (&both, Some(" frisbee.1 ,jsonrpc"), Ok(native)),
            (&both, None, Ok(json)),
            (&frames, None, Err(UpgradeRefusal::Subprotocol)),
            (&frames, Some("jsonrpc"), Err(UpgradeRefusal::Subprotocol)),
            (&both, Some("chat"), Err(UpgradeRefusal::Subprotocol)),
            (&both, Some(""), Err(UpgradeRefusal::Subprotocol)),
        ] {
            let upgrade = Upgrade::new(gateway, &UpgradeRequest { protocols: offered.map(str::as_bytes), ..REQUEST });
            let names = upgrade.as_ref().is_ok_and(|upgrade| {
                upgrade
                    .fields()
                    .any(|(name, value)| name == "sec-websocket-protocol" && value == upgrade.subprotocol.name())
            });
            assert_eq!(upgrade.map(|upgrade| upgrade.subprotocol), expected, "{offered:?}");
            assert_eq!(names, expected.is_ok() && offered.is_some(), "{offered:?}");
        }
    }

    #[test]
    fn keys_and_versions_of_other_forms_are_refused() {
        let gateway = Gateway::new().web_socket().json_rpc();
        let refused =
            |request: UpgradeRequest<'_>| Upgrade::new(&gateway, &request).expect_err("request should be rejected");
        for version in [None, Some(&b"8"[..]), Some(b"013")] {
            assert_eq!(refused(UpgradeRequest { version, ..REQUEST }), UpgradeRefusal::Version);
        }
        for key in [None, Some(&b""[..]), Some(b"dGhlIHNhbXBsZSBub25jZQ"), Some(b"c2hvcnQ="), Some(b"\xff")] {
            assert!(matches!(refused(UpgradeRequest { key, ..REQUEST }), UpgradeRefusal::Malformed(_)));
        }
    }
}
