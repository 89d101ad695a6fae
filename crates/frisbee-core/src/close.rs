//! Reasons for closing a connection.

use crate::{ProtocolError, tlv};
use std::sync::Arc;
use std::{fmt, io};

/// Maximum length of the text in a CLOSE packet, in bytes.
const TEXT_MAX: usize = 200;

/// gRPC status codes that are sent in CLOSE packets.
const UNKNOWN: u32 = 2;
const RESOURCE_EXHAUSTED: u32 = 8;
const INTERNAL: u32 = 13;
const UNAVAILABLE: u32 = 14;

/// The reason why a connection closed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer closed the connection between two packets.
    ClosedByPeer,
    /// The peer closed the connection and stated why.
    PeerClosed {
        /// A gRPC status code.
        code: u32,
        /// The reason as text.
        text: Arc<str>,
    },
    /// The peer closed the connection in the middle of a packet.
    Truncated,
    /// The peer violated the protocol.
    Protocol(ProtocolError),
    /// The TLS handshake failed, for example because the client has no certificate. The contained error has the
    /// details.
    TlsHandshake(Arc<io::Error>),
    /// This end requires TLS, but the peer does not use it.
    NotTls,
    /// The peer was silent for longer than the idle timeout.
    IdleTimeout,
    /// The client did not send a packet header in time.
    NoFirstHeader,
    /// The client could not determine in time whether the server supports the protocol extension.
    PeerUnknown,
    /// A packet arrived more slowly than the minimum rate.
    TooSlow,
    /// The peer accepted no pending bytes within the [write timeout](crate::Config::write_timeout), or accepted them
    /// too slowly over a longer period.
    WriteTimeout {
        /// Number of bytes that were pending when the timeout expired.
        waiting: usize,
    },
    /// Reading or writing failed.
    Io {
        /// Kind of the I/O error.
        kind: io::ErrorKind,
        /// The original error.
        source: Arc<io::Error>,
    },
    /// The reply to a hand-off request was not received or not sent within the timeout.
    HandOffTimeout,
    /// The connection was handed off, and all further bytes belong to its new owner.
    HandedOff,
    /// The connection uses a protocol other than Frisbee and was passed to that protocol's handler.
    OtherProtocol,
    /// The program at this end closed the connection.
    Local,
    /// This end is shutting down, for example because its server stops.
    Shutdown,
    /// The connection reached the maximum age that the server permits.
    MaxAge,
    /// A router closed the connection for the given reason.
    Router(Arc<str>),
}

impl CloseReason {
    /// Returns the kind of this close reason, for use in metrics.
    pub fn kind(&self) -> CloseKind {
        match self {
            Self::ClosedByPeer | Self::PeerClosed { .. } => CloseKind::ClosedByPeer,
            Self::Truncated => CloseKind::Truncated,
            Self::Protocol(ProtocolError::BadMagic(_) | ProtocolError::OtherProtocol(_)) => CloseKind::BadMagic,
            Self::Protocol(ProtocolError::SpeaksTls) => CloseKind::SpeaksTls,
            Self::Protocol(ProtocolError::TooLong { .. }) => CloseKind::TooLong,
            Self::Protocol(ProtocolError::KeepaliveWithBody { .. }) => CloseKind::KeepaliveWithBody,
            Self::Protocol(ProtocolError::Malformed(_) | ProtocolError::Hello(_) | ProtocolError::Fragment(_)) => {
                CloseKind::Malformed
            }
            Self::Protocol(ProtocolError::NotUnderstood(_)) => CloseKind::NotUnderstood,
            Self::Protocol(ProtocolError::HandOff) => CloseKind::HandOff,
            Self::Protocol(ProtocolError::Flood) => CloseKind::Flood,
            Self::TlsHandshake(_) => CloseKind::TlsHandshake,
            Self::NotTls => CloseKind::NotTls,
            Self::IdleTimeout => CloseKind::IdleTimeout,
            Self::NoFirstHeader => CloseKind::NoFirstHeader,
            Self::PeerUnknown => CloseKind::PeerUnknown,
            Self::TooSlow => CloseKind::TooSlow,
            Self::WriteTimeout { .. } => CloseKind::WriteTimeout,
            Self::Io { .. } => CloseKind::Transport,
            Self::HandOffTimeout => CloseKind::HandOffTimeout,
            Self::HandedOff => CloseKind::HandedOff,
            Self::OtherProtocol => CloseKind::OtherProtocol,
            Self::Local => CloseKind::Local,
            Self::Shutdown => CloseKind::Shutdown,
            Self::MaxAge => CloseKind::MaxAge,
            Self::Router(_) => CloseKind::Router,
        }
    }

    /// Encodes the reason as the body of a CLOSE packet. Returns `None` if the peer learns the reason without a CLOSE
    /// packet.
    pub(crate) fn to_packet(&self) -> Option<Vec<u8>> {
        let (code, text) = match self {
            Self::Protocol(error) => (INTERNAL, error.to_string()),
            Self::TooSlow => (RESOURCE_EXHAUSTED, self.to_string()),
            Self::Shutdown => (UNAVAILABLE, "shutting down".to_owned()),
            Self::MaxAge => (UNAVAILABLE, self.to_string()),
            Self::Router(text) => (UNKNOWN, text.to_string()),
            _ => return None,
        };
        let mut body = Vec::new();
        tlv::put_varint(&mut body, code.into());
        body.extend_from_slice(beginning(&text).as_bytes());
        Some(body)
    }

    /// Decodes the body of a CLOSE packet. Returns `None` if its status code is malformed. Control characters in the
    /// text are replaced by spaces, because the text is written to logs.
    pub fn from_packet(mut body: &[u8]) -> Option<Self> {
        let code = tlv::take_varint(&mut body)?;
        let text = String::from_utf8_lossy(body.get(..TEXT_MAX).unwrap_or(body));
        let text: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
        Some(Self::PeerClosed { code: u32::try_from(code).unwrap_or(u32::MAX), text: text.into() })
    }

    /// Returns whether the peer is to blame for the close, rather than this end or the network. TLS mismatches and
    /// rejected certificates do not count, because either end may be misconfigured.
    pub fn is_peers_fault(&self) -> bool {
        match self {
            Self::Protocol(error) => !matches!(error, ProtocolError::SpeaksTls),
            Self::Truncated | Self::NoFirstHeader | Self::PeerUnknown | Self::TooSlow | Self::WriteTimeout { .. } => {
                true
            }
            _ => false,
        }
    }
}

/// Defines [`CloseKind`] from a list of variants with their documentation and metric names.
macro_rules! close_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// Kind of a [`CloseReason`], for use in metrics.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum CloseKind {
            $($(#[$doc])* $kind,)*
        }

        impl CloseKind {
            /// All close kinds, in the order of their numeric values.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Returns the label of this kind in metrics.
            ///
            /// ```
            /// assert_eq!(frisbee_core::CloseReason::Shutdown.kind().name(), "shutdown");
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

close_kinds! {
    /// The peer closed the connection, with or without a reason; see [`CloseReason::ClosedByPeer`] and
    /// [`CloseReason::PeerClosed`].
    ClosedByPeer = "closed_by_peer",
    /// The peer closed the connection in the middle of a packet; see [`CloseReason::Truncated`].
    Truncated = "truncated",
    /// The peer uses another protocol; see [`ProtocolError::BadMagic`] and [`ProtocolError::OtherProtocol`].
    BadMagic = "bad_magic",
    /// The peer began a TLS handshake, but this end does not use TLS; see [`ProtocolError::SpeaksTls`].
    SpeaksTls = "speaks_tls",
    /// A packet exceeded the maximum length; see [`ProtocolError::TooLong`].
    TooLong = "too_long",
    /// A keep-alive packet had a body; see [`ProtocolError::KeepaliveWithBody`].
    KeepaliveWithBody = "keepalive_with_body",
    /// A packet, HELLO or fragment was malformed; see [`ProtocolError::Malformed`], [`ProtocolError::Hello`] and
    /// [`ProtocolError::Fragment`].
    Malformed = "malformed",
    /// A packet arrived that is not permitted during a hand-off; see [`ProtocolError::HandOff`].
    HandOff = "hand_off",
    /// The peer sent too many PINGs or useless packets; see [`ProtocolError::Flood`].
    Flood = "flood",
    /// The TLS handshake failed; see [`CloseReason::TlsHandshake`].
    TlsHandshake = "tls_handshake",
    /// The peer did not begin with TLS, which is required; see [`CloseReason::NotTls`].
    NotTls = "not_tls",
    /// The connection exceeded its idle timeout; see [`CloseReason::IdleTimeout`].
    IdleTimeout = "idle_timeout",
    /// The client sent no packet header in time; see [`CloseReason::NoFirstHeader`].
    NoFirstHeader = "no_first_header",
    /// The client could not determine in time whether the server supports the protocol extension; see
    /// [`CloseReason::PeerUnknown`].
    PeerUnknown = "peer_unknown",
    /// A packet arrived more slowly than the minimum rate; see [`CloseReason::TooSlow`].
    TooSlow = "too_slow",
    /// The peer accepted no pending output, or accepted it too slowly; see [`CloseReason::WriteTimeout`].
    WriteTimeout = "write_timeout",
    /// Reading or writing failed; see [`CloseReason::Io`].
    Transport = "transport",
    /// No reply to a hand-off request arrived in time; see [`CloseReason::HandOffTimeout`].
    HandOffTimeout = "hand_off_timeout",
    /// The connection was handed off to another owner; see [`CloseReason::HandedOff`].
    HandedOff = "handed_off",
    /// The connection was passed to the handler of another protocol; see [`CloseReason::OtherProtocol`].
    OtherProtocol = "other_protocol",
    /// The program at this end closed the connection; see [`CloseReason::Local`].
    Local = "local",
    /// This end is shutting down; see [`CloseReason::Shutdown`].
    Shutdown = "shutdown",
    /// The connection reached its maximum age; see [`CloseReason::MaxAge`].
    MaxAge = "max_age",
    /// The router closed the connection; see [`CloseReason::Router`].
    Router = "router",
    /// The peer sent a mandatory extension that this end does not support; see [`ProtocolError::NotUnderstood`].
    NotUnderstood = "not_understood",
}

impl From<ProtocolError> for CloseReason {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl From<io::Error> for CloseReason {
    /// Converts an error of a transport. An error that wraps a [`ProtocolError`] becomes [`Protocol`](Self::Protocol).
    fn from(error: io::Error) -> Self {
        match error.downcast() {
            Ok(error) => Self::Protocol(error),
            Err(error) => Self::Io { kind: error.kind(), source: Arc::new(error) },
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClosedByPeer => f.write_str("closed by the peer"),
            Self::PeerClosed { code, text } => write!(f, "closed by the peer: {text} (code {code})"),
            Self::Truncated => f.write_str("closed by the peer within a packet"),
            Self::Protocol(error) => write!(f, "protocol error: {error}"),
            Self::TlsHandshake(error) => write!(f, "the TLS handshake failed: {error}"),
            Self::NotTls => f.write_str(
                "the peer does not speak TLS and this end does: check the port, and set `tls` at both ends or neither",
            ),
            Self::IdleTimeout => f.write_str("idle timeout: no byte from the peer"),
            Self::NoFirstHeader => f.write_str("the client sent no header in time"),
            Self::PeerUnknown => f.write_str(
                "the server did not answer a PING in time: it hangs, or the port belongs to another protocol \
                 in which the client speaks first",
            ),
            Self::TooSlow => f.write_str("a packet arrived too slowly"),
            Self::WriteTimeout { waiting } => {
                write!(f, "write timeout: the peer read too little while {waiting} bytes waited")
            }
            Self::Io { source, .. } => write!(f, "I/O error: {source}"),
            Self::HandOffTimeout => f.write_str("the hand-off was not answered in time"),
            Self::HandedOff => f.write_str("handed off"),
            Self::OtherProtocol => f.write_str("served in another protocol"),
            Self::Local => f.write_str("closed by this end"),
            Self::Shutdown => f.write_str("this end is shutting down"),
            Self::MaxAge => f.write_str("the connection has reached its maximum age"),
            Self::Router(reason) => write!(f, "closed by a router: {reason}"),
        }
    }
}

/// Truncates a text to the maximum length in a CLOSE packet, at a character boundary.
fn beginning(text: &str) -> &str {
    let ends = text.char_indices().map(|(at, char)| at.saturating_add(char.len_utf8()));
    let end = ends.take_while(|end| *end <= TEXT_MAX).last().unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_reason_blames_peer_for_misbehavior() {
        let its_fault = [
            CloseReason::Truncated,
            CloseReason::Protocol(ProtocolError::Flood),
            CloseReason::NoFirstHeader,
            CloseReason::PeerUnknown,
            CloseReason::TooSlow,
            CloseReason::WriteTimeout { waiting: 1 },
        ];
        assert!(its_fault.iter().all(CloseReason::is_peers_fault));
        let others = [
            CloseReason::ClosedByPeer,
            CloseReason::IdleTimeout,
            CloseReason::from(io::Error::from(io::ErrorKind::ConnectionReset)),
            CloseReason::HandedOff,
            CloseReason::Local,
            CloseReason::Shutdown,
            CloseReason::MaxAge,
            CloseReason::Router("full".into()),
            CloseReason::Protocol(ProtocolError::SpeaksTls),
            CloseReason::NotTls,
            CloseReason::TlsHandshake(Arc::new(io::ErrorKind::InvalidData.into())),
        ];
        assert!(!others.iter().any(CloseReason::is_peers_fault));
    }

    #[test]
    fn close_packet_has_code_and_truncated_text() {
        let received = |reason: CloseReason| reason.to_packet().and_then(|body| CloseReason::from_packet(&body));
        let text = |reason| received(reason).expect("reason should be reported in a CLOSE packet").to_string();
        assert_eq!(CloseReason::Router("full".into()).to_packet().as_deref(), Some(&b"\x02full"[..]));
        assert_eq!(text(CloseReason::Router("full".into())), "closed by the peer: full (code 2)");
        assert_eq!(text(CloseReason::Protocol(ProtocolError::Flood)).rsplit(' ').next(), Some("13)"));
        assert!(text(CloseReason::Shutdown).ends_with("(code 14)") && text(CloseReason::TooSlow).ends_with("(code 8)"));
        for silent in [CloseReason::Local, CloseReason::ClosedByPeer, CloseReason::IdleTimeout, CloseReason::HandedOff]
        {
            assert!(received(silent).is_none());
        }
        let long = CloseReason::Router("\u{20AC}".repeat(100).into());
        assert_eq!(
            long.to_packet().map(|body| body.len()),
            Some(1 + 198),
            "reason should be truncated at a character boundary"
        );
        let long = CloseReason::from_packet(&[&[7][..], &[b'a'; 300]].concat())
            .expect("body of a CLOSE packet should start with a status code");
        assert_eq!(long.to_string().matches('a').count(), 200);
        let line = CloseReason::from_packet(b"\x07two\nlines\xff")
            .expect("body of a CLOSE packet should start with a status code")
            .to_string();
        assert!(line.contains("two lines\u{FFFD}"), "{line}");
        assert!([&[][..], &[0x80]].iter().all(|body| CloseReason::from_packet(body).is_none()));
    }

    #[test]
    fn close_kinds_have_stable_distinct_identifiers() {
        for (index, kind) in CloseKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(CloseKind::ALL.iter().filter(|other| other.name() == kind.name()).count(), 1);
        }
    }
}
