//! Errors of callers. [`CloseReason`] describes the end of a connection.

use crate::{CloseReason, Hello, TooLong};
use bytes::Bytes;
use std::{fmt, io};

/// The error of a packet that could not be sent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has ended.
    Closed(CloseReason),
    /// The stream has been closed by either end.
    StreamClosed,
    /// A stream message is empty. An empty message would close the stream.
    Empty,
    /// The body exceeds the maximum size of the peer; the connection continues. Before the [kind of the
    /// peer](crate::Connection::peer_known) is known, only the limit of this end is checked, and a peer with a lower
    /// limit closes the connection.
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

/// The error of a non-blocking send. The caller still owns the packet or message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TrySendError {
    /// The pending writes have reached [`Config::backlog_max`](crate::Config::backlog_max), the available room is
    /// reserved for waiting senders, or the receiver of the stream has no room. A waiting method would send it later.
    Full,
    /// The packet cannot be sent, now or later.
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

/// The error of a failed hand-off. The connection continues as before, except with [`Closed`](Self::Closed).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HandOffError {
    /// The peer refused. Contains its reply.
    Refused(Bytes),
    /// Calls or streams are in progress at either end, including cancelled calls without a reply, or another hand-off
    /// is in progress.
    Busy,
    /// The peer does not support hand-off for this operation.
    NotServed,
    /// The peer is a Go program without support for hand-off, or this end accepted the connection. Only the dialling
    /// end can request a hand-off. See [`Connection::into_transport`](crate::Connection::into_transport).
    Unsupported,
    /// The request exceeds the maximum size of the peer.
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

/// Returns the error that ended the connection, reported by the system or the peer.
fn cause(reason: &CloseReason) -> Option<&(dyn std::error::Error + 'static)> {
    match reason {
        CloseReason::Io { source, .. } | CloseReason::TlsHandshake(source) => Some(&**source),
        CloseReason::Protocol(error) => Some(error),
        _ => None,
    }
}

/// The error of routers that cannot be mounted together.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MountError {
    /// Two routers claim the same operations or the same HELLO items.
    Overlap {
        /// The routers that claim them.
        owners: [String; 2],
    },
    /// The range is empty or contains operations below 10, which the protocol reserves.
    Range {
        /// The router with this range.
        owner: String,
    },
    /// The HELLO [items](crate::Protocol::hello_items) exceed [`Hello::ITEMS_MAX`].
    Hello {
        /// Their total size in bytes.
        length: usize,
    },
    /// A HELLO [item](crate::Protocol::hello_items) has a type that the protocol reserves.
    HelloItem {
        /// The type of the HELLO item.
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

/// The error of a server that cannot serve or a client that cannot connect.
///
/// All functions that set up servers and clients return it. `main` can return it as well, because its `Debug` output is
/// the error text.
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
    /// A client could not connect: the name could not be resolved, no address accepted the connection, or the system
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
        /// The cause of the failure.
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
    /// The workers that drive connections could not be started, or io_uring is required but unavailable.
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

/// Converts the error for functions that return [`io::Result`]. Keeps the kind of the system's error, if there is one.
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
            let source = error.source().expect("error should have a source");
            assert!(source.is::<io::Error>(), "{source:?}");
            assert_eq!(source.to_string(), "the cable is cut");
        }
        assert!(SendError::Closed(CloseReason::Local).source().is_none());
    }
}
