//! Errors of durable topics, one type per operation.

use crate::TopicError;
use async_nats::jetstream::Error as JetStreamError;
use async_nats::jetstream::context::{RequestError, RequestErrorKind};
use std::error::Error;
use std::fmt;

/// Returns the text of an error, followed by the texts of its sources. Repeated texts are omitted.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        let more = next.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = next.source();
    }
    text
}

/// Error returned when a durable topic or subscription cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// A setting is invalid, for this reason.
    Invalid(String),
    /// The topic exists with different settings. Each entry states the value at NATS and the requested value. Nothing
    /// was changed.
    ///
    /// To fix this, open the topic with its current settings, or change them with the tools of NATS.
    Differs(Vec<String>),
    /// NATS does not reply, or does not permit the operation.
    Nats(String),
}

/// Reason why a JetStream request failed.
#[derive(Debug)]
pub(super) enum JetStreamFailure {
    /// JetStream rejected the request.
    Refused(JetStreamError),
    /// NATS did not reply, or the request could not be sent.
    Silent(RequestError),
}

impl fmt::Display for JetStreamFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Silent(error) if error.kind() == RequestErrorKind::NoResponders => {
                f.write_str("JetStream is disabled, or not enabled for this account")
            }
            Self::Silent(error) => f.write_str(&chain(error)),
        }
    }
}

impl From<JetStreamFailure> for OpenError {
    fn from(error: JetStreamFailure) -> Self {
        Self::Nats(error.to_string())
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) | Self::Nats(reason) => f.write_str(reason),
            Self::Differs(settings) => write!(f, "it exists with other settings: {}", settings.join(", ")),
        }
    }
}

impl Error for OpenError {}

/// Error returned when publishing to a durable topic fails.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PublishError {
    /// The topic violates the syntax of topics.
    Topic(TopicError),
    /// The pattern of the durable topic does not match this topic.
    NotCovered {
        /// Topic to which the message was to be published.
        topic: String,
        /// Pattern of the durable topic.
        pattern: String,
    },
    /// The message id is empty, too long, or contains other characters than visible ASCII.
    Id(String),
    /// The payload exceeds the maximum size of the durable topic.
    TooLong {
        /// Size of the payload in bytes.
        length: usize,
        /// [Maximum size](super::DurableTopic::payload_max) of a payload in bytes.
        limit: usize,
    },
    /// The message was not stored, because NATS rejected it or could not be reached. For example, NATS rejects messages
    /// while the topic is [full](super::FullTopicPolicy::Refuse).
    NotStored(String),
    /// NATS did not reply, so the message may or may not have been stored. Publish it again with the same id.
    Unknown(String),
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(error) => error.fmt(f),
            Self::NotCovered { topic, pattern } => write!(f, "the pattern {pattern} does not match {topic}"),
            Self::Id(id) => {
                write!(f, "an id must have 1 to {} visible characters of ASCII, not {id:?}", super::ID_MAX)
            }
            Self::TooLong { length, limit } => {
                write!(f, "a payload of {length} bytes exceeds the {limit} bytes that the durable topic accepts")
            }
            Self::NotStored(reason) => write!(f, "the message is not stored: {reason}"),
            Self::Unknown(reason) => write!(f, "the message may be stored or not: {reason}"),
        }
    }
}

impl Error for PublishError {}

/// Error returned when a durable subscription cannot return a message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecvError {
    /// The subscription has lost this number of messages, because a limit of the topic removed them before a reader
    /// received them. The subscription continues with the next message.
    ///
    /// Several readers of a shared subscription may report the same lost messages.
    Lagged(u64),
    /// The subscription or its topic was deleted, or the NATS client was closed. All earlier messages have been read.
    Gone(String),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(count) => write!(f, "{count} messages were removed before they were read"),
            Self::Gone(reason) => write!(f, "the subscription has ended: {reason}"),
        }
    }
}

impl Error for RecvError {}

/// Error returned when NATS does not confirm an acknowledgement.
///
/// It is unknown whether NATS has received the acknowledgement. If not, the message is delivered again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AckError(pub(super) String);

impl fmt::Display for AckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the message may come again: {}", self.0)
    }
}

impl Error for AckError {}
