//! What can go wrong for a caller; why a connection ended is [`CloseReason`].

use crate::{CloseReason, TooLong};
use bytes::Bytes;
use std::{fmt, io};

/// Why a packet could not be sent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has ended.
    Closed(CloseReason),
    /// The stream has been closed, by this end or the peer.
    StreamClosed,
    /// A stream message is empty, which would close the stream.
    Empty,
    /// Every stream id of the connection is in use.
    TooManyStreams,
    /// The body is longer than the peer accepts; the connection goes on. Before the peer has [shown what it
    /// is](crate::Connection::peer_known) only this end's own limit is known, and a packet beyond that of the peer ends
    /// the connection there.
    TooLong(TooLong),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(reason) => write!(f, "the connection has ended: {reason}"),
            Self::StreamClosed => f.write_str("the stream has been closed"),
            Self::Empty => f.write_str("a stream message must not be empty"),
            Self::TooManyStreams => f.write_str("every stream id of the connection is in use"),
            Self::TooLong(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SendError {}

impl From<TooLong> for SendError {
    fn from(error: TooLong) -> Self {
        Self::TooLong(error)
    }
}

/// Why a connection was not handed off. Unless it is [`Closed`](Self::Closed), it goes on as it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HandOffError {
    /// The peer does not agree, and this is what it says.
    Refused(Bytes),
    /// Calls or streams are in progress at one of the ends, those included that were given up and not answered yet, or
    /// another hand-off is.
    Busy,
    /// The peer takes no connections for this operation.
    NotServed,
    /// The peer is Go, which knows no such thing, or this end accepted the connection: only the end that dialled asks.
    /// See [`Connection::into_transport`](crate::Connection::into_transport).
    Unsupported,
    /// The request is longer than the peer accepts.
    TooLong(TooLong),
    /// The connection has ended.
    Closed(CloseReason),
}

impl fmt::Display for HandOffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reply) => write!(f, "the peer does not hand the connection off ({} bytes)", reply.len()),
            Self::Busy => f.write_str("calls or streams are in progress on the connection"),
            Self::NotServed => f.write_str("the peer takes no connections for this operation"),
            Self::Unsupported => f.write_str("only a client of ours can ask, and only a server of ours understands"),
            Self::TooLong(error) => error.fmt(f),
            Self::Closed(reason) => write!(f, "the connection has ended: {reason}"),
        }
    }
}

impl std::error::Error for HandOffError {}

/// Why no connection came about.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The name could not be resolved, or no address accepted the connection.
    Io {
        /// What was to be connected to.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// No address accepted the connection in time.
    Timeout {
        /// What was to be connected to.
        address: String,
    },
    /// The transport is there, and TLS did not come about on it.
    #[cfg(feature = "tls")]
    Tls {
        /// What was to be connected to.
        address: String,
        /// What is wrong.
        error: crate::tls::TlsError,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { address, source } => write!(f, "connecting to {address} failed: {source}"),
            Self::Timeout { address } => write!(f, "connecting to {address} took too long"),
            #[cfg(feature = "tls")]
            Self::Tls { address, error } => write!(f, "no TLS with {address}: {error}"),
        }
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Timeout { .. } => None,
            #[cfg(feature = "tls")]
            Self::Tls { error, .. } => Some(error),
        }
    }
}
