//! Delivered messages and their acknowledgement.

use super::{ATTEMPT, AckError, PAUSES, Shared, error};
use async_nats::client::{Request, RequestErrorKind};
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::AckKind;
use async_nats::{HeaderMap, Subject};
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// A message that was delivered to a reader, who must [acknowledge](Self::ack) it.
///
/// A message that is not acknowledged within the acknowledgement timeout is delivered again. Dropping this value
/// neither acknowledges nor rejects the message.
#[must_use = "a message that is not acknowledged is delivered again"]
pub struct Delivery {
    pub(super) shared: Arc<Shared>,
    pub(super) subject: Subject,
    pub(super) payload: Bytes,
    pub(super) headers: Option<HeaderMap>,
    pub(super) reply: Subject,
    pub(super) sequence: u64,
    pub(super) attempt: u64,
    pub(super) stored_at: SystemTime,
    pub(super) ack_timeout: Duration,
    /// Time at which this reader received the message. The acknowledgement timeout starts then.
    pub(super) since: Instant,
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut delivery = f.debug_struct("Delivery");
        delivery.field("topic", &self.topic()).field("sequence", &self.sequence).field("attempt", &self.attempt);
        delivery.field("length", &self.payload.len()).finish_non_exhaustive()
    }
}

impl Delivery {
    /// Returns the topic of the message.
    ///
    /// Other NATS clients can publish to the subjects of a durable topic, so the topic may exceed the limits of broker
    /// topics.
    pub fn topic(&self) -> &str {
        self.subject.strip_prefix(&*self.shared.prefix).unwrap_or_default()
    }

    /// Returns the payload of the message.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Returns the id of the message. Publishers that do not use [`DurableTopic`](super::DurableTopic) may omit it.
    pub fn id(&self) -> Option<&str> {
        self.headers.as_ref().and_then(|headers| headers.get(NATS_MESSAGE_ID)).map(async_nats::HeaderValue::as_str)
    }

    /// Returns the sequence number of the message in its durable topic, starting at 1. It is the same for all
    /// deliveries.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the number of times that the message was delivered, starting at 1. If it is greater than 1, either
    /// another reader may have processed the message, or an earlier delivery was lost in transit.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// Returns the time at which NATS stored the message.
    pub fn stored_at(&self) -> SystemTime {
        self.stored_at
    }

    /// Acknowledges that the message was processed. Once this returns `Ok`, NATS has recorded the acknowledgement, and
    /// the message is not delivered again.
    ///
    /// A NATS server that is killed may lose its most recent acknowledgements. A reader that must not process a message
    /// twice should store the [sequence](Self::sequence) or the [id](Self::id) together with its results.
    ///
    /// While NATS is disconnected, the request is retried until the acknowledgement timeout.
    ///
    /// # Errors
    /// If NATS has not confirmed the acknowledgement.
    ///
    /// # Cancel safety
    /// If the future is dropped, NATS may have received the acknowledgement.
    pub async fn ack(self) -> Result<(), AckError> {
        self.acknowledge(AckKind::Ack).await
    }

    /// Rejects the message. It is delivered again after the time `after`.
    ///
    /// # Errors
    /// If NATS has not confirmed the rejection.
    ///
    /// # Cancel safety
    /// If the future is dropped, NATS may have received the rejection.
    pub async fn nak(self, after: Duration) -> Result<(), AckError> {
        self.acknowledge(nak(after)).await
    }

    /// Discards the message. It counts as not processed, but is never delivered to this subscription again.
    ///
    /// # Errors
    /// If NATS has not confirmed the request.
    ///
    /// # Cancel safety
    /// If the future is dropped, NATS may have received the request.
    pub async fn term(self) -> Result<(), AckError> {
        self.acknowledge(AckKind::Term).await
    }

    /// Restarts the acknowledgement timeout, for a message that takes longer to process.
    ///
    /// # Errors
    /// If NATS has not confirmed the request.
    ///
    /// # Cancel safety
    /// If the future is dropped, NATS may have received the request.
    pub async fn in_progress(&mut self) -> Result<(), AckError> {
        let begun = Instant::now();
        self.acknowledge(AckKind::Progress).await?;
        self.since = begun;
        Ok(())
    }

    /// Returns an unread message to NATS, which delivers it again immediately. If this request is lost, the message is
    /// delivered again after its acknowledgement timeout.
    pub(super) async fn give_back(self) {
        let _: Result<(), AckError> = self.nak(Duration::ZERO).await;
    }

    /// Returns whether less than half of the acknowledgement timeout is left, because the message was queued for too
    /// long.
    pub(super) fn is_stale(&self) -> bool {
        self.since.elapsed() > self.ack_timeout / 2
    }

    /// Sends an acknowledgement. Repeats it until NATS confirms it or the acknowledgement timeout expires.
    async fn acknowledge(&self, kind: AckKind) -> Result<(), AckError> {
        let mut pause = PAUSES.0;
        loop {
            let reason = if self.shared.is_connected() {
                let request = Request::new().payload(kind.into()).timeout(Some(ATTEMPT));
                match self.shared.client.send_request(self.reply.clone(), request).await {
                    Ok(_) => return Ok(()),
                    Err(error) if error.kind() == RequestErrorKind::NoResponders => {
                        "no server keeps the subscription at present".to_owned()
                    }
                    Err(error) => error::chain(&error),
                }
            } else {
                format!("the connection to NATS is {}", self.shared.client.connection_state())
            };
            if self.since.elapsed() + pause >= self.ack_timeout {
                return Err(AckError(reason));
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// Creates a negative acknowledgement. Omits a delay of zero, because NATS would treat it as unspecified.
fn nak(after: Duration) -> AckKind {
    AckKind::Nak((!after.is_zero()).then_some(after))
}
