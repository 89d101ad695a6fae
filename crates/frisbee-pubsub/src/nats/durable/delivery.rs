//! One delivery of a message, and what its reader says of it.

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

/// A message that was delivered, and that comes again unless its reader [acknowledges](Self::ack) it in time.
///
/// One that is dropped comes again as well, when the time for its acknowledgement is over.
#[must_use = "a message that is not acknowledged comes again"]
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
    /// When it came.
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
    /// The topic it was published to.
    ///
    /// Any client with access to the subjects of the durable topic may make this longer than topics of brokers are.
    pub fn topic(&self) -> &str {
        self.subject.strip_prefix(&*self.shared.prefix).unwrap_or_default()
    }

    /// The payload.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// The id it was published with. Other publishers than [`DurableTopic`](super::DurableTopic) may give none.
    pub fn id(&self) -> Option<&str> {
        self.headers.as_ref().and_then(|headers| headers.get(NATS_MESSAGE_ID)).map(async_nats::HeaderValue::as_str)
    }

    /// The number of the message in its durable topic, from 1. It is the same each time the message is delivered.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How often the message has been delivered, from 1. It is above 1 if a reader got it before, and may have
    /// processed it, or if it was lost in transit.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// When NATS has stored it.
    pub fn stored_at(&self) -> SystemTime {
        self.stored_at
    }

    /// Says that the message is done with. When this returns `Ok`, NATS knows, and the message does not come again.
    ///
    /// A killed NATS may forget acknowledgements of its last moments, though. So a reader that must not process a
    /// message twice keeps the [sequence](Self::sequence) or the [id](Self::id) with its results.
    ///
    /// While NATS is away it is repeated, until the time for the acknowledgement is over.
    ///
    /// # Errors
    /// If NATS has not confirmed it.
    ///
    /// # Cancel safety
    /// NATS may have received it or not.
    pub async fn ack(self) -> Result<(), AckError> {
        self.acknowledge(AckKind::Ack).await
    }

    /// Says that the message is to come again, after this time and not before.
    ///
    /// # Errors
    /// If NATS has not confirmed it.
    ///
    /// # Cancel safety
    /// NATS may have received it or not.
    pub async fn nak(self, after: Duration) -> Result<(), AckError> {
        self.acknowledge(nak(after)).await
    }

    /// Says that the message is never to come again to this subscription, though it was not done with.
    ///
    /// # Errors
    /// If NATS has not confirmed it.
    ///
    /// # Cancel safety
    /// NATS may have received it or not.
    pub async fn term(self) -> Result<(), AckError> {
        self.acknowledge(AckKind::Term).await
    }

    /// Extends the processing: the time for the acknowledgement restarts.
    ///
    /// # Errors
    /// If NATS has not confirmed it.
    ///
    /// # Cancel safety
    /// NATS may have received it or not.
    pub async fn in_progress(&mut self) -> Result<(), AckError> {
        let begun = Instant::now();
        self.acknowledge(AckKind::Progress).await?;
        self.since = begun;
        Ok(())
    }

    /// Returns the message at once, unread. If NATS does not receive this, the message comes again later.
    pub(super) async fn give_back(self) {
        let _: Result<(), AckError> = self.nak(Duration::ZERO).await;
    }

    /// Whether it has waited so long that its reader would have little time left.
    pub(super) fn is_stale(&self) -> bool {
        self.since.elapsed() > self.ack_timeout / 2
    }

    /// Sends requests until NATS has confirmed one, at least once.
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

/// NATS takes a pause of none for none said.
fn nak(after: Duration) -> AckKind {
    AckKind::Nak((!after.is_zero()).then_some(after))
}
