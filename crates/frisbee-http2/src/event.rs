//! Events that a connection reports to its driver.

use crate::{ErrorCode, StreamKey};
use bytes::Bytes;

/// A protocol event that the driver of a connection must handle.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The head of a request or response. [`Connection::head`](crate::Connection::head) returns it until the next
    /// event.
    Head {
        /// The stream, which is new at a server.
        stream: StreamKey,
        /// Whether the message has neither body nor trailers.
        is_end: bool,
    },
    /// A part of a body. Return its window by [`Connection::consume`](crate::Connection::consume).
    Data {
        /// The stream of the body.
        stream: StreamKey,
        /// A slice of the input. It may be empty at the end of the message.
        data: Bytes,
        /// Whether the message ends here.
        is_end: bool,
    },
    /// Trailers, which end a message. [`Connection::head`](crate::Connection::head) returns them until the next event.
    Trailers {
        /// The stream of the trailers.
        stream: StreamKey,
    },
    /// The stream was reset by the peer, or because of a stream error. Its key is no longer valid.
    Reset {
        /// The stream that was reset.
        stream: StreamKey,
        /// Reason of the reset. After [`ErrorCode::REFUSED_STREAM`] the request may be retried.
        code: ErrorCode,
    },
    /// A stream can send again, after [`Connection::poll_writable`](crate::Connection::poll_writable) returned false.
    Writable {
        /// The stream that can send.
        stream: StreamKey,
    },
    /// The peer accepts no further streams. Each stream that it has not processed is reported by a separate reset
    /// event.
    GoAway {
        /// Reason of the shutdown, [`ErrorCode::NO_ERROR`] if it is graceful.
        code: ErrorCode,
        /// The first 256 bytes of the debug data.
        debug: Bytes,
    },
    /// The reply to [`Connection::ping`](crate::Connection::ping).
    Pong,
}
