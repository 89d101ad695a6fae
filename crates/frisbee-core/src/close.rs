//! Why connections end.

use crate::ProtocolError;
use std::sync::Arc;
use std::{fmt, io};

/// Why a connection is over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer closed it, between two packets.
    ClosedByPeer,
    /// The peer closed it within a packet.
    Truncated,
    /// The peer broke the protocol.
    Protocol(ProtocolError),
    /// The TLS handshake failed: the client has no certificate, for instance. The inner error has the details.
    TlsHandshake(Arc<io::Error>),
    /// The peer does not speak TLS, and this end does.
    NotTls,
    /// The peer was silent for longer than the idle timeout.
    IdleTimeout,
    /// The client sent no header in time.
    NoFirstHeader,
    /// The kind of the server did not become known in time.
    PeerUnknown,
    /// A packet arrived at less than the least rate.
    TooSlow,
    /// The peer accepted none of the bytes that waited for longer than the [write
    /// timeout](crate::Config::write_timeout), or hardly any for longer still.
    WriteTimeout {
        /// The bytes that waited.
        waiting: usize,
    },
    /// Reading or writing failed.
    Io {
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The system's words.
        message: Arc<str>,
        /// The error itself, which may give details.
        source: Arc<io::Error>,
    },
    /// The answer to a hand-off timed out, at either end.
    HandOffTimeout,
    /// It has been handed off: its bytes from here on belong to another owner.
    HandedOff,
    /// It speaks another protocol than Frisbee, whose handler serves it.
    OtherProtocol,
    /// This end closed it.
    Local,
    /// This end shuts down.
    Shutdown,
    /// This end is a server, and the connection has reached its maximum age.
    MaxAge,
    /// A router closed it, for a reason of its own.
    Router(Arc<str>),
}

impl CloseReason {
    /// The kind of reason, to count by.
    pub fn kind(&self) -> CloseKind {
        match self {
            Self::ClosedByPeer => CloseKind::ClosedByPeer,
            Self::Truncated => CloseKind::Truncated,
            Self::Protocol(ProtocolError::BadMagic(_) | ProtocolError::OtherProtocol(_)) => CloseKind::BadMagic,
            Self::Protocol(ProtocolError::SpeaksTls) => CloseKind::SpeaksTls,
            Self::Protocol(ProtocolError::TooLong { .. }) => CloseKind::TooLong,
            Self::Protocol(ProtocolError::KeepaliveWithBody { .. }) => CloseKind::KeepaliveWithBody,
            Self::Protocol(ProtocolError::Malformed(_) | ProtocolError::Hello(_)) => CloseKind::Malformed,
            Self::Protocol(ProtocolError::NotUnderstood(_)) => CloseKind::NotUnderstood,
            Self::Protocol(ProtocolError::HandOff) => CloseKind::HandOff,
            Self::Protocol(ProtocolError::PingFlood) => CloseKind::PingFlood,
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

    /// Whether the peer, and not this end or the network, is at fault. If only one end speaks TLS, or the two do not
    /// accept each other's certificates, either may be configured wrongly.
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

/// The enum of kinds, from a list with what each counts and its name.
macro_rules! close_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// The kind of a [`CloseReason`], for counting.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum CloseKind {
            $($(#[$doc])* $kind,)*
        }

        impl CloseKind {
            /// All of them, each at the index that it has as a number.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// A name for metrics.
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
    /// [`CloseReason::ClosedByPeer`].
    ClosedByPeer = "closed_by_peer",
    /// [`CloseReason::Truncated`].
    Truncated = "truncated",
    /// [`ProtocolError::BadMagic`] and [`ProtocolError::OtherProtocol`].
    BadMagic = "bad_magic",
    /// [`ProtocolError::SpeaksTls`].
    SpeaksTls = "speaks_tls",
    /// [`ProtocolError::TooLong`].
    TooLong = "too_long",
    /// [`ProtocolError::KeepaliveWithBody`].
    KeepaliveWithBody = "keepalive_with_body",
    /// [`ProtocolError::Malformed`] and [`ProtocolError::Hello`].
    Malformed = "malformed",
    /// [`ProtocolError::HandOff`].
    HandOff = "hand_off",
    /// [`ProtocolError::PingFlood`].
    PingFlood = "ping_flood",
    /// [`CloseReason::TlsHandshake`].
    TlsHandshake = "tls_handshake",
    /// [`CloseReason::NotTls`].
    NotTls = "not_tls",
    /// [`CloseReason::IdleTimeout`].
    IdleTimeout = "idle_timeout",
    /// [`CloseReason::NoFirstHeader`].
    NoFirstHeader = "no_first_header",
    /// [`CloseReason::PeerUnknown`].
    PeerUnknown = "peer_unknown",
    /// [`CloseReason::TooSlow`].
    TooSlow = "too_slow",
    /// [`CloseReason::WriteTimeout`].
    WriteTimeout = "write_timeout",
    /// [`CloseReason::Io`].
    Transport = "transport",
    /// [`CloseReason::HandOffTimeout`].
    HandOffTimeout = "hand_off_timeout",
    /// [`CloseReason::HandedOff`].
    HandedOff = "handed_off",
    /// [`CloseReason::OtherProtocol`].
    OtherProtocol = "other_protocol",
    /// [`CloseReason::Local`].
    Local = "local",
    /// [`CloseReason::Shutdown`].
    Shutdown = "shutdown",
    /// [`CloseReason::MaxAge`].
    MaxAge = "max_age",
    /// [`CloseReason::Router`].
    Router = "router",
    /// [`ProtocolError::NotUnderstood`].
    NotUnderstood = "not_understood",
}

impl From<ProtocolError> for CloseReason {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl From<io::Error> for CloseReason {
    fn from(error: io::Error) -> Self {
        Self::Io { kind: error.kind(), message: error.to_string().into(), source: Arc::new(error) }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClosedByPeer => f.write_str("closed by the peer"),
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
            Self::Io { message, .. } => write!(f, "I/O error: {message}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_reason_blames_peer_only_for_bytes_and_delays() {
        let its_fault = [
            CloseReason::Truncated,
            CloseReason::Protocol(ProtocolError::PingFlood),
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
    fn close_kinds_have_stable_numbers_and_distinct_names() {
        for (index, kind) in CloseKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(CloseKind::ALL.iter().filter(|other| other.name() == kind.name()).count(), 1);
        }
    }
}
