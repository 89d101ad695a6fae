//! Errors of durable topics, one type for each operation.

use crate::TopicError;
use async_nats::jetstream::Error as JetStreamError;
use async_nats::jetstream::context::{RequestError, RequestErrorKind};
use std::error::Error;
use std::fmt;

/// The text of an error with those of its sources, as far as it does not have them already.
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

/// Why a durable topic or a subscription is not open.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// A setting is not possible, for this reason.
    Invalid(String),
    /// It exists with other settings: each with NATS's value and the requested one. Nothing was changed.
    ///
    /// Open it with its settings, or change it with the tools of NATS.
    Differs(Vec<String>),
    /// NATS does not answer or does not permit it.
    Nats(String),
}

/// JetStream has not done the requested operation.
#[derive(Debug)]
pub(super) enum JetStreamFailure {
    /// It says why.
    Refused(JetStreamError),
    /// There is no answer.
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

/// Why a message is not stored, or may not be.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PublishError {
    /// The topic has this defect.
    Topic(TopicError),
    /// The topic is none of those that are stored here.
    NotCovered {
        /// The topic.
        topic: String,
        /// The pattern of the durable topic.
        pattern: String,
    },
    /// This is no id.
    Id(String),
    /// The payload has more bytes than the durable topic takes.
    TooLong {
        /// The bytes of the payload.
        length: usize,
        /// The most that there may be: [`DurableTopic::payload_max`](super::DurableTopic::payload_max).
        limit: usize,
    },
    /// NATS has refused it, or could not be reached: the message is not stored. For instance, the topic is
    /// [full](super::FullTopicPolicy::Refuse).
    NotStored(String),
    /// NATS has not answered, so the outcome is unknown. Publish it again with the same id.
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

/// Why a subscription returns no message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecvError {
    /// So many messages were removed here before any reader of the subscription got them, since a limit of the topic was
    /// reached. The subscription continues.
    ///
    /// Each reader that shares the subscription may get the same gap.
    Lagged(u64),
    /// The subscription or its topic has been deleted, or the connection to NATS was closed for good. All that came before
    /// has been read.
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

/// NATS has not confirmed an acknowledgement.
///
/// It may have taken it or not. If not, the message comes again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AckError(pub(super) String);

impl fmt::Display for AckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the message may come again: {}", self.0)
    }
}

impl Error for AckError {}
