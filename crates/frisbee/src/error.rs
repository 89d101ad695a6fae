//! Error types of this crate. A [`CloseReason`] tells why a connection ended.

use crate::{CloseReason, Hello, SettingError, TooLong};
use bytes::Bytes;
use std::{fmt, io};

/// Error returned when a packet or stream message cannot be sent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has ended, for this reason.
    Closed(CloseReason),
    /// The stream was closed by this end or by the peer.
    StreamClosed,
    /// The stream message is empty, which would close the stream.
    Empty,
    /// The body exceeds the maximum size that the peer accepts. The connection remains open. While the [kind of the
    /// peer](crate::Connection::peer_known) is unknown, only the limit of this end is checked, and a peer with a lower
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

/// Error returned when sending without waiting fails. The caller keeps the packet or message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TrySendError {
    /// No space is available now: the pending output has reached [`Config::backlog_max`](crate::Config::backlog_max),
    /// other senders are waiting, or the receiver of the stream has granted no credit. Retry later, or use a method
    /// that waits.
    Full,
    /// The packet cannot be sent, and retrying will not help.
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

/// Error returned when a connection cannot be handed off to another owner. The connection continues unless the error is
/// [`Closed`](Self::Closed).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HandOffError {
    /// The peer refused the hand-off. Contains the body of its reply.
    Refused(Bytes),
    /// The connection has calls or streams in progress, or another hand-off is in progress. A cancelled call counts
    /// until its reply has arrived.
    Busy,
    /// The peer does not accept hand-offs for this operation.
    NotServed,
    /// The peer does not support hand-offs, as is the case for Go peers, or this end accepted the connection. Only the
    /// end that opened the connection can request a hand-off. See
    /// [`Connection::into_transport`](crate::Connection::into_transport).
    Unsupported,
    /// The hand-off request exceeds the maximum size that the peer accepts.
    TooLong(TooLong),
    /// The connection has ended, for this reason.
    Closed(CloseReason),
}

impl fmt::Display for HandOffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The reply usually contains a text.
            Self::Refused(reply) => {
                write!(f, "the peer refused the hand-off: {:?}", reply.slice(..reply.len().min(200)))
            }
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

fn cause(reason: &CloseReason) -> Option<&(dyn std::error::Error + 'static)> {
    match reason {
        CloseReason::Io { source, .. } | CloseReason::TlsHandshake(source) => Some(&**source),
        CloseReason::Protocol(error) => Some(error),
        _ => None,
    }
}

/// Error returned when routers cannot be mounted on a server or client.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MountError {
    /// Two routers claim the same operations or the same types of HELLO items.
    Overlap {
        /// Names of the two routers that overlap.
        owners: [String; 2],
    },
    /// The operation range of a router is empty or contains operations below 10, which are reserved for the protocol.
    Range {
        /// Name of the router with the invalid range.
        owner: String,
    },
    /// The HELLO [items](crate::Declaration::hello_items) of all routers together exceed [`Hello::ITEMS_MAX`].
    Hello {
        /// Total size of the HELLO items in bytes.
        length: usize,
    },
    /// A HELLO [item](crate::Declaration::hello_items) has a type that is reserved for the protocol.
    HelloItem {
        /// Type of the HELLO item.
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

/// Error of setting up a server or connecting a client.
///
/// Returned by all functions that set up servers and clients. Its `Debug` output is the error text, so `main` can
/// return it too.
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
    /// The client could not connect: the name could not be resolved, or no address accepted the connection.
    Connect {
        /// Address that the client tried to connect to.
        address: String,
        /// Error reported by the operating system.
        source: io::Error,
    },
    /// No address accepted the connection within [`connect_timeout`](crate::ClientBuilder::connect_timeout).
    ConnectTimeout {
        /// Address that the client tried to connect to.
        address: String,
    },
    /// The connection was accepted, but its TLS handshake failed.
    #[cfg(feature = "tls")]
    Tls {
        /// Address that the client tried to connect to.
        address: String,
        /// Cause of the handshake failure.
        source: crate::tls::TlsError,
    },
    /// The server could not listen on its address.
    Bind {
        /// Address or path to listen on.
        address: String,
        /// Error reported by the operating system.
        source: io::Error,
    },
    /// The routers of the server or client cannot be mounted together.
    Mount(MountError),
    /// A setting of the builder is out of range.
    Setting(SettingError),
    /// The workers could not be started, or io_uring is required but not available.
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
            Self::Setting(error) => write!(f, "invalid setting: {error}"),
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
            Self::Setting(error) => Some(error),
            Self::Workers(error) => Some(error),
        }
    }
}

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        Self::Mount(error)
    }
}

impl From<SettingError> for Error {
    fn from(error: SettingError) -> Self {
        Self::Setting(error)
    }
}

/// Converts the error for functions that return [`io::Result`]. The kind of the operating system's error is preserved.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Connect { source, .. } | Error::Bind { source, .. } | Error::Workers(source) => source.kind(),
            Error::ConnectTimeout { .. } => io::ErrorKind::TimedOut,
            #[cfg(feature = "tls")]
            Error::Tls { .. } => io::ErrorKind::InvalidData,
            Error::Mount(_) | Error::Setting(_) => io::ErrorKind::InvalidInput,
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
            let source = error.source().expect("bind error should have the I/O error as its source");
            assert!(source.is::<io::Error>(), "{source:?}");
            assert_eq!(source.to_string(), "the cable is cut");
        }
        assert!(SendError::Closed(CloseReason::Local).source().is_none());
    }
}
