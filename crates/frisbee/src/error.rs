//! The errors of callers; [`CloseReason`] is the reason for the end of a connection.

use crate::{CloseReason, Hello, TooLong};
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
    /// The body is longer than the peer accepts; the connection continues. Before the [kind of the
    /// peer](crate::Connection::peer_known) is known, only this end's own limit applies, and a packet beyond that of
    /// the peer ends the connection there.
    TooLong(TooLong),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(reason) => write!(f, "the connection has ended: {reason}"),
            Self::StreamClosed => f.write_str("the stream is closed"),
            Self::Empty => f.write_str("a stream message must not be empty"),
            Self::TooLong(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Closed(reason) => cause(reason),
            Self::TooLong(error) => Some(error),
            Self::StreamClosed | Self::Empty => None,
        }
    }
}

impl From<TooLong> for SendError {
    fn from(error: TooLong) -> Self {
        Self::TooLong(error)
    }
}

/// The error of a method that does not wait, for a packet or message that was not sent. The caller still has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TrySendError {
    /// As much waits to be written as may ([`Config::backlog_max`](crate::Config::backlog_max)), the room that there is
    /// belongs to senders that have waited for it, or the receiver of the stream has no room. A method that waits would
    /// send it later.
    Full,
    /// It cannot be sent, now or later.
    Failed(SendError),
}

impl fmt::Display for TrySendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the send queue is full; retry later or use `send`"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TrySendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Full => None,
            Self::Failed(error) => Some(error),
        }
    }
}

impl From<SendError> for TrySendError {
    fn from(error: SendError) -> Self {
        Self::Failed(error)
    }
}

impl From<TooLong> for TrySendError {
    fn from(error: TooLong) -> Self {
        Self::Failed(error.into())
    }
}

/// The reason for a failed hand-off. Unless it is [`Closed`](Self::Closed), the connection continues as before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HandOffError {
    /// The peer does not agree, and this is its reply.
    Refused(Bytes),
    /// Calls or streams are in progress at one of the ends, including cancelled and unanswered ones, or another
    /// hand-off is.
    Busy,
    /// The peer takes no connections for this operation.
    NotServed,
    /// The peer is Go, which does not know hand-offs, or this end accepted the connection: only the dialling end
    /// requests one. See [`Connection::into_transport`](crate::Connection::into_transport).
    Unsupported,
    /// The request is longer than the peer accepts.
    TooLong(TooLong),
    /// The connection has ended.
    Closed(CloseReason),
}

impl fmt::Display for HandOffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reply) => write!(f, "the peer refused the hand-off with a reply of {} bytes", reply.len()),
            Self::Busy => f.write_str("the connection is busy: calls or streams are in progress"),
            Self::NotServed => f.write_str("the peer does not accept hand-offs for this operation"),
            Self::Unsupported => {
                f.write_str("only the dialling end can request a hand-off, and only from a native peer")
            }
            Self::TooLong(error) => error.fmt(f),
            Self::Closed(reason) => write!(f, "the connection has ended: {reason}"),
        }
    }
}

impl std::error::Error for HandOffError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLong(error) => Some(error),
            Self::Closed(reason) => cause(reason),
            Self::Refused(_) | Self::Busy | Self::NotServed | Self::Unsupported => None,
        }
    }
}

/// The error that ended a connection: the system's, or that of the peer.
fn cause(reason: &CloseReason) -> Option<&(dyn std::error::Error + 'static)> {
    match reason {
        CloseReason::Io { source, .. } | CloseReason::TlsHandshake(source) => Some(&**source),
        CloseReason::Protocol(error) => Some(error),
        _ => None,
    }
}

/// Why routers cannot be mounted as they were.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MountError {
    /// Two want the same operations, or the same items for HELLO.
    Overlap {
        /// The parts that claim them.
        owners: [String; 2],
    },
    /// The range has no operation, or one below 10: these belong to the protocol.
    Range {
        /// The router to be mounted there.
        owner: String,
    },
    /// The [items](crate::Protocol::hello_items) for HELLO exceed [`Hello::ITEMS_MAX`].
    Hello {
        /// Their length, in bytes.
        length: usize,
    },
    /// An [item](crate::Protocol::hello_items) for HELLO has a type that belongs to the protocol.
    HelloItem {
        /// Its type.
        item: u8,
    },
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { owners: [one, other] } => write!(f, "{one} overlaps with {other}"),
            Self::Range { owner } => {
                write!(f, "{owner}: the range is empty or includes operations below 10, which the protocol reserves")
            }
            Self::Hello { length } => {
                let limit = Hello::ITEMS_MAX;
                write!(f, "the services take {length} bytes of HELLO, more than {limit}: serve some on another port")
            }
            Self::HelloItem { item } => write!(f, "item {item} for HELLO: routers have the types 32 to 127"),
        }
    }
}

impl std::error::Error for MountError {}

/// Why a server cannot serve or a client cannot connect.
///
/// Every function that sets up a server or a client fails with this error, so `main` can return it: its `Debug` output
/// is its text.
///
/// ```
/// use frisbee::{Client, Error, Handlers};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// match Client::builder().connect("127.0.0.1:1", Handlers::new()).await {
///     Ok(connection) => println!("connected to {:?}", connection.peer_addr()),
///     Err(Error::ConnectTimeout { address }) => println!("{address} does not answer"),
///     Err(other) => println!("{other}"),
/// }
/// # }
/// ```
#[non_exhaustive]
pub enum Error {
    /// A client could not connect: the name cannot be resolved, no address accepted the connection, or the system
    /// refused.
    Connect {
        /// The address that was dialled.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// No address accepted the connection within [`connect_timeout`](crate::ClientBuilder::connect_timeout).
    ConnectTimeout {
        /// The address that was dialled.
        address: String,
    },
    /// The connection was accepted, but its TLS handshake failed.
    #[cfg(feature = "tls")]
    Tls {
        /// The address that was dialled.
        address: String,
        /// Why the handshake failed.
        source: crate::tls::TlsError,
    },
    /// A server could not listen.
    Bind {
        /// The address or path to listen on.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// Routers overlap, or are mounted on operations that the protocol reserves.
    Mount(MountError),
    /// The workers that drive connections could not be started, or io_uring is required and does not work.
    Workers(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { address, source } => write!(f, "connecting to {address} failed: {source}"),
            Self::ConnectTimeout { address } => write!(f, "connecting to {address} timed out"),
            #[cfg(feature = "tls")]
            Self::Tls { address, source } => write!(f, "the TLS handshake with {address} failed: {source}"),
            Self::Bind { address, source } => write!(f, "listening on {address} failed: {source}"),
            Self::Mount(error) => error.fmt(f),
            Self::Workers(error) => write!(f, "starting the workers failed: {error}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect { source, .. } | Self::Bind { source, .. } => Some(source),
            Self::ConnectTimeout { .. } => None,
            #[cfg(feature = "tls")]
            Self::Tls { source, .. } => Some(source),
            Self::Mount(error) => Some(error),
            Self::Workers(error) => Some(error),
        }
    }
}

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        Self::Mount(error)
    }
}

/// For functions that return [`io::Result`]. The kind is that of the system's error, if there is one.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Connect { source, .. } | Error::Bind { source, .. } | Error::Workers(source) => source.kind(),
            Error::ConnectTimeout { .. } => io::ErrorKind::TimedOut,
            #[cfg(feature = "tls")]
            Error::Tls { .. } => io::ErrorKind::InvalidData,
            Error::Mount(_) => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn caller_errors_have_connection_error_as_source() {
        let ended = || CloseReason::from(io::Error::new(io::ErrorKind::ConnectionReset, "the cable is cut"));
        let errors: [Box<dyn std::error::Error>; 2] =
            [Box::new(SendError::Closed(ended())), Box::new(HandOffError::Closed(ended()))];
        for error in errors {
            let source = error.source().expect("the system's error is known");
            assert!(source.is::<io::Error>(), "{source:?}");
            assert_eq!(source.to_string(), "the cable is cut");
        }
        assert!(SendError::Closed(CloseReason::Local).source().is_none());
    }
}
