//! Subscriptions of durable topics: their settings, and how they are read.

use super::error::JetStreamFailure;
use super::gaps::{GapTracker, StreamPosition};
use super::pulling::{Demand, Item, Puller};
use super::{Delivery, DurableTopic, OpenError, RecvError, Shared};
use crate::nats::subjects::stored;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, Info, pull};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// The longest name of a subscription, in bytes.
const NAME_MAX: usize = 64;

/// NATS's own default.
const ACK_TIMEOUT: Duration = Duration::from_secs(30);

/// Enough for tens of readers with ten messages each.
const IN_FLIGHT_MAX: usize = 256;

/// The most messages in advance: what NATS takes as one request by default in its largest accounts, and more than pays.
const PREFETCH_MAX: usize = 1024;

/// Where a new subscription begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Replay {
    /// With the oldest message that there is.
    All,
    /// With the first message that is stored after the subscription is open.
    #[default]
    New,
    /// With this sequence, from 1 on. If it has been removed, [`RecvError::Lagged`] has the number of missing ones.
    Sequence(u64),
    /// With the first message that was stored at this time or later, by the clock of NATS.
    Time(SystemTime),
}

/// The settings of a [`Subscription`].
#[derive(Clone, Debug)]
#[must_use]
pub struct SubscriptionBuilder {
    topic: DurableTopic,
    name: String,
    replay: Replay,
    ack_timeout: Duration,
    in_flight_max: usize,
    prefetch: usize,
}

impl SubscriptionBuilder {
    pub(super) fn new(topic: DurableTopic, name: &str) -> Self {
        Self {
            topic,
            name: name.to_owned(),
            replay: Replay::default(),
            ack_timeout: ACK_TIMEOUT,
            in_flight_max: IN_FLIGHT_MAX,
            prefetch: 0,
        }
    }

    /// Where the subscription begins if there is none with its name: with new messages by default. An existing one
    /// continues at its position; to restart, [delete](DurableTopic::delete_subscription) it or take another name.
    pub fn replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// How long a reader has for a message, from 100 ms to an hour, until it [says](Delivery::in_progress) that it needs
    /// longer. 30 s by default. Then the message comes again, to whichever reader.
    pub fn ack_timeout(mut self, timeout: Duration) -> Self {
        self.ack_timeout = timeout;
        self
    }

    /// How many messages may be with all readers of the subscription together without being acknowledged. 256 by default;
    /// with 1, each message waits for the one before it.
    pub fn in_flight_max(mut self, messages: usize) -> Self {
        self.in_flight_max = messages;
        self
    }

    /// How many messages this reader requests in advance, up to 1024. None by default: each is in transit while the
    /// reader waits for it.
    ///
    /// Their time for an acknowledgement runs while they wait. So choose few enough to be done within half of
    /// [`ack_timeout`](Self::ack_timeout). A message that has waited longer is returned to NATS, so that its next
    /// [attempt](Delivery::attempt) is one more. Each may take [`payload_max`](DurableTopic::payload_max) bytes of
    /// memory.
    pub fn prefetch(mut self, messages: usize) -> Self {
        self.prefetch = messages;
        self
    }

    /// Opens the subscription, and creates it if there is none.
    ///
    /// # Errors
    /// [`OpenError::Invalid`] if the settings are not possible, [`OpenError::Differs`] if there is one with another
    /// [`ack_timeout`](Self::ack_timeout) or [`in_flight_max`](Self::in_flight_max).
    ///
    /// # Cancel safety
    /// It may have been created or not.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn open(self) -> Result<Subscription, OpenError> {
        let wanted = self.config()?;
        let shared = self.topic.shared.clone();
        let name = stored(&self.name);
        let (found, from) = self.find(&shared, &name, &wanted).await?;
        let differences = differences(&wanted, &found);
        if !differences.is_empty() {
            return Err(OpenError::Differs(differences));
        }
        let inbox = shared.client.new_inbox();
        let subscribed = shared.client.subscribe(inbox.clone()).await;
        let subscriber = subscribed.map_err(|error| OpenError::Nats(super::error::chain(&error)))?;
        let demand = Arc::<Demand>::default();
        let (sender, items) = mpsc::channel(self.prefetch + 1);
        let puller = Puller::new(shared, name, self.ack_timeout, GapTracker::new(from), demand.clone(), sender);
        let runtime = Handle::current();
        runtime.spawn(puller.run(inbox, subscriber));
        Ok(Subscription { name: self.name, items, next: None, demand, runtime })
    }

    fn config(&self) -> Result<pull::Config, OpenError> {
        let invalid = |text: String| Err(OpenError::Invalid(text));
        if self.name.is_empty() || self.name.len() > NAME_MAX {
            return invalid(format!("the name of a subscription must have 1 to {NAME_MAX} bytes, not {:?}", self.name));
        }
        if self.ack_timeout < Duration::from_millis(100) || self.ack_timeout > Duration::from_secs(3600) {
            return invalid(format!("ack_timeout must be 100 ms to an hour, not {:?}", self.ack_timeout));
        }
        let Some(max_ack_pending) = i64::try_from(self.in_flight_max).ok().filter(|messages| *messages > 0) else {
            return invalid(format!("in_flight_max must be 1 to {}, not {}", i64::MAX, self.in_flight_max));
        };
        if self.prefetch > PREFETCH_MAX {
            return invalid(format!("prefetch must be at most {PREFETCH_MAX}, not {}", self.prefetch));
        }
        let deliver_policy = match self.replay {
            Replay::All => DeliverPolicy::All,
            Replay::New => DeliverPolicy::New,
            Replay::Sequence(0) => return invalid("sequences begin with 1".to_owned()),
            Replay::Sequence(start_sequence) => DeliverPolicy::ByStartSequence { start_sequence },
            Replay::Time(time) => {
                let since = time.duration_since(SystemTime::UNIX_EPOCH).ok();
                let nanos = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
                let start_time = nanos.and_then(|nanos| async_nats::datetime::from_nanos(nanos.into()).ok());
                let Some(start_time) = start_time else {
                    return invalid(format!("invalid time for NATS: {time:?}"));
                };
                DeliverPolicy::ByStartTime { start_time }
            }
        };
        let durable_name = Some(stored(&self.name));
        let (ack_policy, ack_wait) = (AckPolicy::Explicit, self.ack_timeout);
        Ok(pull::Config { durable_name, deliver_policy, ack_policy, ack_wait, max_ack_pending, ..Default::default() })
    }

    /// The consumer of NATS, created if there was none, and its position.
    async fn find(
        &self,
        shared: &Shared,
        name: &str,
        wanted: &pull::Config,
    ) -> Result<(Info, StreamPosition), OpenError> {
        match info(shared, name).await {
            Ok(found) => {
                let place = StreamPosition::of(&found);
                return Ok((found, place));
            }
            Err(JetStreamFailure::Refused(error)) if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND => {}
            Err(error) => return Err(error.into()),
        }
        let created = shared.context.create_consumer_on_stream(wanted.clone(), &*shared.stream).await;
        if let Err(refused) = created {
            let text = format!("NATS rejected the subscription: {}", super::error::chain(&refused));
            return Err(OpenError::Nats(text));
        }
        let found = info(shared, name).await?;
        let mut place = StreamPosition::of(&found);
        if let (Replay::Sequence(first), 0) = (self.replay, place.delivery) {
            // Removed messages from there on are missing, though NATS does not mind.
            place.sequence = place.sequence.min(first.saturating_sub(1));
        }
        Ok((found, place))
    }
}

impl StreamPosition {
    pub(super) fn of(info: &Info) -> Self {
        Self { delivery: info.delivered.consumer_sequence, sequence: info.delivered.stream_sequence }
    }
}

pub(super) async fn info(shared: &Shared, name: &str) -> Result<Info, JetStreamFailure> {
    shared.ask(format!("CONSUMER.INFO.{}.{name}", shared.stream)).await
}

/// The differences between a subscription and its requested settings.
fn differences(wanted: &pull::Config, found: &Info) -> Vec<String> {
    let found = &found.config;
    let mut differences = Vec::new();
    if wanted.ack_wait != found.ack_wait {
        differences.push(format!("ack_timeout is {:?} and not {:?}", found.ack_wait, wanted.ack_wait));
    }
    if wanted.max_ack_pending != found.max_ack_pending {
        let (wanted, found) = (wanted.max_ack_pending, found.max_ack_pending);
        differences.push(format!("in_flight_max is {found} and not {wanted}"));
    }
    if found.ack_policy != AckPolicy::Explicit || found.deliver_subject.is_some() || !found.filter_subject.is_empty() {
        differences.push("another client has made a consumer with this name".to_owned());
    }
    differences
}

/// A reader of a durable topic: it gets messages that are to be [acknowledged](Delivery::ack).
///
/// Readers with one name share its messages. When NATS is lost, the subscription continues once it is back: no
/// acknowledged message is lost, and unacknowledged ones are delivered again.
#[derive(Debug)]
pub struct Subscription {
    name: String,
    items: mpsc::Receiver<Item>,
    /// The message after a reported gap.
    next: Option<Delivery>,
    demand: Arc<Demand>,
    runtime: Handle,
}

impl Subscription {
    /// Waits for the next message, as long as that takes.
    ///
    /// # Errors
    /// See [`RecvError`].
    ///
    /// # Cancel safety
    /// Safe: a message is taken out only when the future is ready. A requested one waits for the next call.
    pub async fn recv(&mut self) -> Result<Delivery, RecvError> {
        loop {
            let delivery = match self.next.take() {
                Some(delivery) => delivery,
                None => match self.item().await {
                    Item::Message(delivery) => delivery,
                    Item::Behind(missed, delivery) => {
                        self.next = Some(delivery);
                        return Err(RecvError::Lagged(missed));
                    }
                    Item::Lagged(missed) => return Err(RecvError::Lagged(missed)),
                    Item::Gone(reason) => return Err(RecvError::Gone(reason)),
                },
            };
            if !delivery.is_stale() {
                return Ok(delivery);
            }
            self.return_all(vec![delivery]);
        }
    }

    /// The name of the subscription.
    pub fn name(&self) -> &str {
        &self.name
    }

    async fn item(&mut self) -> Item {
        if let Ok(item) = self.items.try_recv() {
            return item;
        }
        self.demand.begin();
        let item = self.items.recv().await;
        self.demand.end();
        item.unwrap_or_else(|| Item::Gone("it has been read to its end".to_owned()))
    }

    /// Lets others have what this reader has not read.
    fn return_all(&self, deliveries: Vec<Delivery>) {
        self.runtime.spawn(async move {
            for delivery in deliveries {
                delivery.give_back().await;
            }
        });
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.items.close();
        let mut unread: Vec<_> = self.next.take().into_iter().collect();
        while let Ok(item) = self.items.try_recv() {
            if let Item::Message(delivery) | Item::Behind(_, delivery) = item {
                unread.push(delivery);
            }
        }
        if !unread.is_empty() {
            self.return_all(unread);
        }
    }
}
