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
    /// The peer was silent for longer than the idle timeout.
    IdleTimeout,
    /// The client sent no header in time.
    NoFirstHeader,
    /// The server has not shown within the verdict timeout what it speaks.
    NoVerdict,
    /// A packet arrived at less than the least rate.
    TooSlow,
    /// The peer took no byte for longer than the write timeout.
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
        /// The error itself, which may say more.
        source: Arc<io::Error>,
    },
    /// The answer to a hand-off, from either end, did not come in time.
    HandOffTimeout,
    /// It has been handed off: what it carries from here on belongs to somebody else.
    HandedOff,
    /// This end closed it.
    Local,
    /// This end shuts down.
    Shutdown,
    /// A router closed it, for a reason of its own.
    Router(Arc<str>),
}

impl CloseReason {
    /// Whether the peer, and not this end or the network, is at fault.
    pub fn is_peers_fault(&self) -> bool {
        matches!(
            self,
            Self::Truncated
                | Self::Protocol(_)
                | Self::NoFirstHeader
                | Self::NoVerdict
                | Self::TooSlow
                | Self::WriteTimeout { .. }
        )
    }
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
            Self::IdleTimeout => f.write_str("the peer was silent for too long"),
            Self::NoFirstHeader => f.write_str("the client sent no header in time"),
            Self::NoVerdict => f.write_str(
                "the server did not answer a PING; one on frisbee-go v0.10.2 or before needs `header_form(HeaderForm::Old)`",
            ),
            Self::TooSlow => f.write_str("a packet arrived too slowly"),
            Self::WriteTimeout { waiting } => write!(f, "the peer took no byte while {waiting} waited"),
            Self::Io { message, .. } => write!(f, "input or output failed: {message}"),
            Self::HandOffTimeout => f.write_str("a hand-off was not answered in time"),
            Self::HandedOff => f.write_str("handed off"),
            Self::Local => f.write_str("closed by this end"),
            Self::Shutdown => f.write_str("this end shuts down"),
            Self::Router(reason) => write!(f, "closed by a router: {reason}"),
        }
    }
}
