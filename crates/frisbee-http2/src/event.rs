//! Events that a connection reports to its driver.

use crate::{ErrorCode, StreamKey};
use bytes::Bytes;

/// A protocol event that the driver of a connection must handle.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Head of a request or response. [`Connection::head`](crate::Connection::head) returns it until the next event.
    Head {
        /// Stream of the message. At a server, this is a new stream.
        stream: StreamKey,
        /// Whether the message ends with its head, so that it has no body or trailers.
        is_end: bool,
    },
    /// Part of a body. After processing it, call [`Connection::consume`](crate::Connection::consume), which returns
    /// flow-control credit to the peer.
    Data {
        /// Stream of the body.
        stream: StreamKey,
        /// Received bytes of the body. May be empty at the end of the message.
        data: Bytes,
        /// Whether this is the last part of the message.
        is_end: bool,
    },
    /// Trailers, which end a message. [`Connection::head`](crate::Connection::head) returns them until the next event.
    Trailers {
        /// Stream of the trailers.
        stream: StreamKey,
    },
    /// The peer has reset a stream, or the stream has failed because of an error. The stream's key is no longer valid.
    Reset {
        /// Key of the stream that was reset.
        stream: StreamKey,
        /// Reason for the reset. After [`ErrorCode::REFUSED_STREAM`], the request may be retried.
        code: ErrorCode,
    },
    /// A stream can send again after [`Connection::poll_writable`](crate::Connection::poll_writable) has returned
    /// `false`.
    Writable {
        /// Key of the stream that can send.
        stream: StreamKey,
    },
    /// The peer accepts no more streams. A separate reset event is reported for each stream that it has not processed.
    GoAway {
        /// Reason for the shutdown. If it is graceful, the code is [`ErrorCode::NO_ERROR`].
        code: ErrorCode,
        /// First 256 bytes of the debug data in the GOAWAY frame.
        debug: Bytes,
    },
    /// The peer has acknowledged the PING that [`Connection::ping`](crate::Connection::ping) sent.
    Pong,
}
