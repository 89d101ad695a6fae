//! The error of `try_send`.

use crate::Status;
use std::fmt;
use tokio::sync::mpsc::error::TrySendError as Refused;

/// Error of a `try_send` that could not send an item immediately. Contains the unsent item.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TrySendError<T> {
    /// The buffer is full.
    Full(T),
    /// The receiver of the stream was dropped.
    Closed {
        /// The item that could not be sent.
        item: T,
        /// Status that describes why the receiver was dropped.
        status: Status,
    },
}

impl<T> TrySendError<T> {
    pub(super) fn new(refused: Refused<T>, status: impl FnOnce() -> Status) -> Self {
        match refused {
            Refused::Full(item) => Self::Full(item),
            Refused::Closed(item) => Self::Closed { item, status: status() },
        }
    }

    /// Returns the item that could not be sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Closed { item, .. } => item,
        }
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("the send queue is full; retry later or use `send`"),
            Self::Closed { status, .. } => status.fmt(f),
        }
    }
}

impl<T: fmt::Debug> std::error::Error for TrySendError<T> {}

/// Converts the error to the status of the failure, and discards the unsent item.
impl<T> From<TrySendError<T>> for Status {
    fn from(error: TrySendError<T>) -> Self {
        match error {
            TrySendError::Full(_) => Self::resource_exhausted(error.to_string()),
            TrySendError::Closed { status, .. } => status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, RequestStream, ResponseStream};

    #[test]
    fn unsendable_message_is_returned() {
        let (sender, stream) = RequestStream::channel(1);
        sender.try_send(1).expect("empty buffer should accept a message");
        let error = sender.try_send(2).expect_err("full buffer should reject a message");
        assert!(matches!(error, TrySendError::Full(2)), "{error}");
        assert_eq!(Status::from(error).code(), Code::ResourceExhausted);
        drop(stream);
        let error = sender.try_send(3).expect_err("stream without a receiver should reject a message");
        assert_eq!((error.clone().into_inner(), Status::from(error).code()), (3, Code::Cancelled));
    }

    #[test]
    fn unsendable_response_is_returned() {
        let (sender, stream) = ResponseStream::channel(1);
        sender.try_send(Ok(1)).expect("empty buffer should accept a message");
        let error = sender.try_send(Err(Status::aborted("enough"))).expect_err("full buffer should reject a message");
        assert_eq!(error.into_inner().expect_err("unsent item should be the error").code(), Code::Aborted);
        drop(stream);
        let error = sender.try_send(Ok(3)).expect_err("stream without a receiver should reject a message");
        assert_eq!(Status::from(error).message(), "the caller is gone");
    }
}
