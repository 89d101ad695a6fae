//! Errors of publishers and subscribers.

use super::ANSWER_TIMEOUT;
use crate::topics::TopicError;
use frisbee::SendError;
use std::fmt;

/// Error returned when publishing or subscribing fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PubSubError {
    /// The topic, pattern or group name is invalid.
    Topic(TopicError),
    /// The message could not be sent, or the connection is closed.
    Send(SendError),
    /// The broker rejected the request for this reason.
    Refused(String),
    /// The broker has not replied within 10 s, or 16 384 calls of [`Client::sync`](crate::Client::sync) are waiting for
    /// a reply. The peer may not be a broker.
    NoAnswer,
    /// The connection was lost before the broker confirmed earlier messages, which may be lost. The client has
    /// reconnected since then. Returned once by [`Client::sync`](crate::Client::sync).
    Unconfirmed,
    /// All 65 535 subscription ids of this connection are in use.
    TooMany,
    /// The peer does not support the protocol extension, which typed messages require.
    NotNative,
    /// The message of a typed topic could not be encoded for this reason.
    Encoding(String),
}

impl fmt::Display for PubSubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(error) => error.fmt(f),
            Self::Send(error) => error.fmt(f),
            Self::Refused(text) => write!(f, "refused by the broker: {text}"),
            Self::NoAnswer => {
                write!(f, "no answer within {ANSWER_TIMEOUT:?}; the peer may not be a broker")
            }
            Self::Unconfirmed => {
                f.write_str("the connection was lost before the broker confirmed earlier messages, which may be lost")
            }
            Self::TooMany => f.write_str("every subscription id of the connection is in use"),
            Self::NotNative => f.write_str("subscribing to a typed topic needs a native peer"),
            Self::Encoding(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for PubSubError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Topic(error) => Some(error),
            Self::Send(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TopicError> for PubSubError {
    fn from(error: TopicError) -> Self {
        Self::Topic(error)
    }
}

impl From<SendError> for PubSubError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}
