//! Topics stored by NATS: a message is kept until a limit removes it, and each subscription gets it until it is
//! acknowledged.
//!
//! A [`DurableTopic`] is a stream of JetStream. Its messages do not go through brokers, and what brokers pass on is not
//! stored: programs that publish to a durable topic and read it are clients of NATS.
//!
//! ```no_run
//! use frisbee_pubsub::nats::durable::{DurableTopic, RecvError, Replay};
//! use std::time::Duration;
//!
//! # async fn handle(_: &[u8]) -> Result<(), std::io::Error> { Ok(()) }
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let nats = frisbee_pubsub::nats::options().connect("nats://10.0.0.7:4222").await?;
//! let orders = DurableTopic::builder("shop", "orders.>").age_max(Duration::from_secs(7 * 86_400)).open(&nats).await?;
//!
//! // Stored once, however often it is published with this id.
//! let stored = orders.publish("orders.north", "order-4711", "42 apples").await?;
//! assert!(!stored.is_duplicate());
//!
//! // All that share the name share the messages. Whoever comes first decides where it begins.
//! let mut billing = orders.subscription("billing").replay(Replay::All).open().await?;
//! loop {
//!     match billing.recv().await {
//!         Ok(delivery) => match handle(delivery.payload()).await {
//!             Ok(()) => delivery.ack().await?,
//!             Err(_) => delivery.nak(Duration::from_secs(5)).await?,
//!         },
//!         Err(RecvError::Lagged(count)) => println!("{count} messages were removed before anybody got them"),
//!         Err(error) => return Err(error.into()),
//!     }
//! }
//! # }
//! ```
//!
//! docs/durable.md lists the promises.

mod delivery;
mod error;
mod gaps;
mod pulling;
mod settings;
mod subscription;

pub use delivery::Delivery;
use error::JetStreamFailure;
pub use error::{AckError, OpenError, PublishError, RecvError};
pub use settings::{DurableTopicBuilder, FullTopicPolicy, Storage};
pub use subscription::{Replay, Subscription, SubscriptionBuilder};

use crate::check_topic;
use crate::covers;
use crate::nats::subjects::stored;
use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::{PublishError as NatsError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::DeleteStatus;
use async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The longest id of a message, in bytes: as the longest topic.
const ID_MAX: usize = 255;

/// How long NATS has for one answer, before the request is repeated.
const ATTEMPT: Duration = Duration::from_secs(2);

/// The pause before a request is repeated: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// The payload of an empty request to JetStream: `{}`.
const NOTHING: BTreeMap<&str, &str> = BTreeMap::new();

/// The status of NATS's errors that pass.
const UNAVAILABLE: usize = 503;

/// A topic, or all topics that match a pattern, that NATS stores.
///
/// Clones are the same topic. It continues when its connection to NATS is lost and made again.
#[derive(Clone, Debug)]
pub struct DurableTopic {
    shared: Arc<Shared>,
}

/// Shared by the handles of a topic.
#[derive(Debug)]
struct Shared {
    client: Client,
    context: Context,
    /// The name of the stream.
    stream: String,
    /// The prefix of topics in subjects.
    prefix: String,
    pattern: String,
    payload_max: usize,
    /// How long a message is published again if there is no answer.
    patience: Duration,
}

impl Shared {
    fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Sends a request to JetStream that is answered by JSON.
    async fn ask<T: DeserializeOwned>(&self, what: String) -> Result<T, JetStreamFailure> {
        match self.context.request(what, &NOTHING).await {
            Ok(Response::Ok(answer)) => Ok(answer),
            Ok(Response::Err { error }) => Err(JetStreamFailure::Refused(error)),
            Err(error) => Err(JetStreamFailure::Silent(error)),
        }
    }
}

/// The position of a published message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredMessage {
    sequence: u64,
    is_duplicate: bool,
}

impl StoredMessage {
    /// The number of the message in its durable topic, which counts from 1.
    pub fn sequence(self) -> u64 {
        self.sequence
    }

    /// Whether a message with this id had been stored already, which is then the one with this sequence. Its payload may be
    /// another one: NATS compares ids alone.
    ///
    /// It may have been stored by this very publication, if NATS was lost before it could say so.
    pub fn is_duplicate(self) -> bool {
        self.is_duplicate
    }
}

impl DurableTopic {
    /// The settings of a durable topic of a bus: one topic, or a pattern for several.
    ///
    /// Durable topics have subjects of their own, so that a bus of brokers with the same name is not disturbed.
    pub fn builder(bus: &str, pattern: &str) -> DurableTopicBuilder {
        DurableTopicBuilder::new(bus, pattern)
    }

    /// Stores a message. When this returns, NATS has it.
    ///
    /// Of several messages with one id, one is stored, as long as they are published within
    /// [`duplicate_window`](DurableTopicBuilder::duplicate_window). So this publishes again by itself if NATS does not
    /// answer or is away, for 10 s at most. After [`PublishError::Unknown`] the caller should publish again with the
    /// same id. An id has 1 to 255 visible characters of ASCII; ids of different topics of one pattern are not
    /// distinguished.
    ///
    /// Messages keep their order if each is published after the one before is stored.
    ///
    /// # Errors
    /// See [`PublishError`].
    ///
    /// # Cancel safety
    /// The message may be stored or not.
    pub async fn publish(
        &self,
        topic: &str,
        id: &str,
        payload: impl Into<Bytes>,
    ) -> Result<StoredMessage, PublishError> {
        let payload = payload.into();
        self.check(topic, id, payload.len())?;
        let subject = [&self.shared.prefix, topic].concat();
        let message = || {
            let message = PublishMessage::build().message_id(id).expected_stream(&self.shared.stream);
            message.payload(payload.clone())
        };
        let (begun, mut is_unknown, mut pause) = (Instant::now(), false, PAUSES.0);
        loop {
            let limit = ATTEMPT.min(self.shared.patience.saturating_sub(begun.elapsed()));
            let reason = match self.attempt(subject.clone(), message(), limit).await {
                Ok(stored) => return Ok(stored),
                Err(Failure::Refused(reason)) if is_unknown => return Err(PublishError::Unknown(reason)),
                Err(Failure::Refused(reason)) => return Err(PublishError::NotStored(reason)),
                Err(Failure::Away(reason)) => reason,
                Err(Failure::Silent(reason)) => {
                    is_unknown = true;
                    reason
                }
            };
            if begun.elapsed() + pause >= self.shared.patience {
                let error = if is_unknown { PublishError::Unknown } else { PublishError::NotStored };
                return Err(error(reason));
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// The settings of a subscription with this name, of 1 to 64 bytes: all subscriptions with one name are one, and
    /// share its messages. It stays without readers, until it is [deleted](Self::delete_subscription).
    pub fn subscription(&self, name: &str) -> SubscriptionBuilder {
        SubscriptionBuilder::new(self.clone(), name)
    }

    /// Deletes the subscription with this name, and its state. Its readers get [`RecvError::Gone`]. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// If NATS does not answer or does not permit it.
    ///
    /// # Cancel safety
    /// It may be deleted or not.
    pub async fn delete_subscription(&self, name: &str) -> Result<bool, OpenError> {
        let deleting = self.shared.ask(format!("CONSUMER.DELETE.{}.{}", self.shared.stream, stored(name)));
        match deleting.await {
            Ok(DeleteStatus { success }) => Ok(success),
            Err(JetStreamFailure::Refused(error)) if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The longest payload of a message, in bytes.
    pub fn payload_max(&self) -> usize {
        self.shared.payload_max
    }

    /// The topic or the pattern.
    pub fn pattern(&self) -> &str {
        &self.shared.pattern
    }

    fn check(&self, topic: &str, id: &str, length: usize) -> Result<(), PublishError> {
        check_topic(topic.as_bytes()).map_err(PublishError::Topic)?;
        if !covers(&self.shared.pattern, topic) {
            let pattern = self.shared.pattern.clone();
            return Err(PublishError::NotCovered { topic: topic.to_owned(), pattern });
        }
        if id.is_empty() || id.len() > ID_MAX || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(PublishError::Id(id.chars().take(ID_MAX).collect()));
        }
        let limit = self.shared.payload_max;
        if length > limit { Err(PublishError::TooLong { length, limit }) } else { Ok(()) }
    }

    async fn attempt(
        &self,
        subject: String,
        message: PublishMessage,
        limit: Duration,
    ) -> Result<StoredMessage, Failure> {
        if !self.shared.is_connected() {
            let state = self.shared.client.connection_state();
            return Err(Failure::Away(format!("the connection to NATS is {state}")));
        }
        let publishing = async { self.shared.context.send_publish(subject, message).await?.await };
        match timeout(limit, publishing).await {
            Ok(Ok(answer)) => Ok(StoredMessage { sequence: answer.sequence, is_duplicate: answer.duplicate }),
            Ok(Err(error)) => Err(Failure::of(&error)),
            Err(_) => Err(Failure::Silent("NATS does not answer".to_owned())),
        }
    }
}

/// Why one attempt has not stored a message, for certain or not.
enum Failure {
    /// It is not stored, and would not be the next time.
    Refused(String),
    /// It is not stored, but may be in a while.
    Away(String),
    /// The outcome is unknown.
    Silent(String),
}

impl Failure {
    fn of(error: &NatsError) -> Self {
        let text = error::chain(error);
        match error.kind() {
            PublishErrorKind::StreamNotFound => Self::Away("no server stores the topic at present".to_owned()),
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Self::Silent(text),
            PublishErrorKind::Other => {
                match error.source().and_then(|source| source.downcast_ref::<JetStreamError>()) {
                    // The reason is in the text: a limit, for instance.
                    Some(refusal) if refusal.error_code() == ErrorCode::STREAM_STORE_FAILED => Self::Refused(text),
                    Some(refusal) if refusal.code() == UNAVAILABLE => Self::Away(text),
                    Some(_) => Self::Refused(text),
                    None => Self::Silent(text),
                }
            }
            _ => Self::Refused(text),
        }
    }
}
