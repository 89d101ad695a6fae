//! The events of a connection.

use crate::{ErrorCode, StreamKey};
use bytes::Bytes;

/// An event of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The head of a request or response. [`Connection::head`](crate::Connection::head) returns it until the next event.
    Head {
        /// A new stream for a server.
        stream: StreamKey,
        /// The message has neither body nor trailers.
        is_end: bool,
    },
    /// A part of a body. Return its window by [`Connection::consume`](crate::Connection::consume).
    Data {
        /// The stream.
        stream: StreamKey,
        /// A slice of the input, which may be empty at the end.
        data: Bytes,
        /// The message ends here.
        is_end: bool,
    },
    /// The trailers, which end a message. [`Connection::head`](crate::Connection::head) returns them until the next event.
    Trailers {
        /// The stream.
        stream: StreamKey,
    },
    /// The stream was reset, by the peer or because of its error. Its key finds nothing any more.
    Reset {
        /// The stream.
        stream: StreamKey,
        /// The reason. After [`ErrorCode::REFUSED_STREAM`] the request may be repeated.
        code: ErrorCode,
    },
    /// A stream may send, after [`Connection::poll_writable`](crate::Connection::poll_writable) returned false.
    Writable {
        /// The stream.
        stream: StreamKey,
    },
    /// The peer accepts no further streams. Those that it has not processed are reset by events of their own.
    GoAway {
        /// The reason, [`ErrorCode::NO_ERROR`] if the peer shuts down.
        code: ErrorCode,
        /// The first 256 bytes of its explanation.
        debug: Bytes,
    },
    /// The answer to [`Connection::ping`](crate::Connection::ping).
    Pong,
}
