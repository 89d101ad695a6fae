//! Durable topics, which NATS stores. A message is kept until a limit removes it, and each subscription receives it
//! until it is acknowledged.
//!
//! A [`DurableTopic`] is a JetStream stream. Brokers neither forward nor store its messages. Programs publish to a
//! durable topic and read it as NATS clients.
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
//! // NATS stores the message once, even if it is published several times with this id.
//! let stored = orders.publish("orders.north", "order-4711", "42 apples").await?;
//! assert!(!stored.is_duplicate());
//!
//! // Readers with the same name share the messages. The first reader decides where the subscription begins.
//! let mut billing = orders.subscription("billing").replay(Replay::All).open().await?;
//! loop {
//!     match billing.recv().await {
//!         Ok(delivery) => match handle(delivery.payload()).await {
//!             Ok(()) => delivery.ack().await?,
//!             Err(_) => delivery.nak(Duration::from_secs(5)).await?,
//!         },
//!         Err(RecvError::Lagged(count)) => println!("{count} messages were removed before any reader received them"),
//!         Err(error) => return Err(error.into()),
//!     }
//! }
//! # }
//! ```
//!
//! docs/durable.md describes the guarantees.

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

use crate::nats::subjects::stored;
use crate::{check_topic, covers};
use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::context::{PublishError as NatsError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::DeleteStatus;
use async_nats::jetstream::{Context, Error as JetStreamError, ErrorCode};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Maximum length of a message id in bytes, equal to that of a topic.
const ID_MAX: usize = 255;

/// Time after which a request to NATS without a reply is repeated.
const ATTEMPT: Duration = Duration::from_secs(2);

/// Minimum and maximum pause between repetitions of a NATS request.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// Empty JetStream request, which is encoded as `{}`.
const NOTHING: BTreeMap<&str, &str> = BTreeMap::new();

/// Status code of a temporary error in NATS.
const UNAVAILABLE: usize = 503;

/// A topic with messages stored by NATS, or all topics that match a pattern.
///
/// Clones refer to the same topic. After the connection to NATS was lost, the topic can be used again once the
/// connection is restored.
#[derive(Clone, Debug)]
pub struct DurableTopic {
    shared: Arc<Shared>,
}

/// State shared by the clones of a [`DurableTopic`] and its subscriptions.
#[derive(Debug)]
struct Shared {
    client: Client,
    context: Context,
    /// Name of the JetStream stream that stores the messages.
    stream: String,
    /// Prefix of the NATS subjects that the topics are mapped to.
    prefix: String,
    pattern: String,
    payload_max: usize,
    /// How long publishing a message is retried while NATS does not reply.
    timeout: Duration,
}

impl Shared {
    fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Sends a request to JetStream and decodes the JSON reply.
    async fn ask<T: DeserializeOwned>(&self, what: String) -> Result<T, JetStreamFailure> {
        match self.context.request(what, &NOTHING).await {
            Ok(Response::Ok(answer)) => Ok(answer),
            Ok(Response::Err { error }) => Err(JetStreamFailure::Refused(error)),
            Err(error) => Err(JetStreamFailure::Silent(error)),
        }
    }
}

/// Result of storing a message: its position in the durable topic, and whether it was stored before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredMessage {
    sequence: u64,
    is_duplicate: bool,
}

impl StoredMessage {
    /// Returns the sequence number of the message in its durable topic. Numbers start at 1.
    pub fn sequence(self) -> u64 {
        self.sequence
    }

    /// Returns whether a message with this id was already stored. [`sequence`](Self::sequence) then refers to that
    /// message. Its payload may differ, because NATS compares ids only.
    ///
    /// The message may have been stored by this same call of [`publish`](DurableTopic::publish), if the connection was
    /// lost before NATS replied.
    pub fn is_duplicate(self) -> bool {
        self.is_duplicate
    }
}

impl DurableTopic {
    /// Creates a builder for a durable topic of a bus. The pattern is a single topic, or matches several.
    ///
    /// Durable topics use separate NATS subjects. They do not interfere with a broker bus that has the same name.
    pub fn builder(bus: &str, pattern: &str) -> DurableTopicBuilder {
        DurableTopicBuilder::new(bus, pattern)
    }

    /// Stores a message. Once this returns, NATS has stored it.
    ///
    /// Messages with the same id are stored once if they are published within
    /// [`duplicate_window`](DurableTopicBuilder::duplicate_window). Publishing can therefore be retried safely. This
    /// method does so for up to 10 s while NATS is disconnected or does not reply. After [`PublishError::Unknown`], the
    /// caller should publish again with the same id. An id has 1 to 255 visible ASCII characters. Ids are shared by all
    /// topics of a pattern.
    ///
    /// Messages stay in order if each is published after the previous one was stored.
    ///
    /// # Errors
    /// If an argument is invalid, NATS rejects the message, or NATS does not reply in time.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message may have been stored.
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
            let limit = ATTEMPT.min(self.shared.timeout.saturating_sub(begun.elapsed()));
            let reason = match self.attempt(subject.clone(), message(), limit).await {
                Ok(stored) => return Ok(stored),
                // An earlier attempt without a reply may have stored the message, so the rejection of this one does not
                // mean that it is not stored.
                Err(Failure::Refused(reason)) if is_unknown => return Err(PublishError::Unknown(reason)),
                Err(Failure::Refused(reason)) => return Err(PublishError::NotStored(reason)),
                Err(Failure::Away(reason)) => reason,
                Err(Failure::Silent(reason)) => {
                    is_unknown = true;
                    reason
                }
            };
            if begun.elapsed() + pause >= self.shared.timeout {
                let error = if is_unknown { PublishError::Unknown } else { PublishError::NotStored };
                return Err(error(reason));
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Returns a builder for a subscription with a name of 1 to 64 bytes. All readers that use the same name share one
    /// subscription and its messages. A subscription continues to exist without readers until it is
    /// [deleted](Self::delete_subscription).
    pub fn subscription(&self, name: &str) -> SubscriptionBuilder {
        SubscriptionBuilder::new(self.clone(), name)
    }

    /// Deletes the subscription with this name, including its position in the topic. Its readers receive
    /// [`RecvError::Gone`]. Returns whether the subscription existed.
    ///
    /// # Errors
    /// If NATS does not reply or does not permit the deletion.
    ///
    /// # Cancel safety
    /// If the future is dropped, the subscription may have been deleted.
    pub async fn delete_subscription(&self, name: &str) -> Result<bool, OpenError> {
        let deleting = self.shared.ask(format!("CONSUMER.DELETE.{}.{}", self.shared.stream, stored(name)));
        match deleting.await {
            Ok(DeleteStatus { success }) => Ok(success),
            Err(JetStreamFailure::Refused(error)) if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the maximum size of a payload in bytes.
    pub fn payload_max(&self) -> usize {
        self.shared.payload_max
    }

    /// Returns the topic or pattern that this durable topic was created with.
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

/// Reason why an attempt to store a message has failed.
enum Failure {
    /// The message was not stored, and a retry would fail too.
    Refused(String),
    /// The message was not stored, but a retry may succeed.
    Away(String),
    /// No reply was received, so it is unknown whether the message was stored.
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
                    // The error text states the reason, for example a limit of the stream.
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
