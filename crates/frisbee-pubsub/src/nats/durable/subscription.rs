//! Subscriptions of durable topics: settings and reading.

use super::error::JetStreamFailure;
use super::gaps::{GapTracker, StreamPosition};
use super::pulling::{Demand, Item, Puller, connects};
use super::{Delivery, DurableTopic, OpenError, RecvError, Shared};
use crate::nats::subjects::stored;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, Info, pull};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Maximum length of a subscription name in bytes.
const NAME_MAX: usize = 64;

/// Default acknowledgement timeout, the same as NATS's own default.
const ACK_TIMEOUT: Duration = Duration::from_secs(30);

/// Default maximum number of delivered messages that are not acknowledged. It suffices for dozens of readers that
/// process ten messages each.
const IN_FLIGHT_MAX: usize = 256;

/// Maximum number of prefetched messages. By default, NATS permits no more per request, even in its largest accounts.
const PREFETCH_MAX: usize = 1024;

/// Position at which a new durable subscription starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Replay {
    /// Starts with the oldest stored message.
    All,
    /// Starts with the first message stored after the subscription was opened.
    #[default]
    New,
    /// Starts with the message that has this sequence number, counted from 1. If that message was removed,
    /// [`RecvError::Lagged`] reports how many are missing.
    Sequence(u64),
    /// Starts with the first message stored at this time or later, by the clock of NATS.
    Time(SystemTime),
}

/// Builder of a durable [`Subscription`].
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

    /// Sets where the subscription starts if it does not exist yet. Defaults to new messages. An existing subscription
    /// continues at its position. To start it again, [delete](DurableTopic::delete_subscription) it or use another
    /// name.
    pub fn replay(self, replay: Replay) -> Self {
        Self { replay, ..self }
    }

    /// Sets the acknowledgement timeout, from 100 ms to an hour. Defaults to 30 s. A message that is neither
    /// acknowledged nor [extended](Delivery::in_progress) in time is delivered again, to any reader.
    pub fn ack_timeout(self, timeout: Duration) -> Self {
        Self { ack_timeout: timeout, ..self }
    }

    /// Sets the maximum number of messages that are delivered but not acknowledged, for all readers of the subscription
    /// together. Defaults to 256. With 1, each message is delivered after the previous one was acknowledged.
    pub fn in_flight_max(self, messages: usize) -> Self {
        Self { in_flight_max: messages, ..self }
    }

    /// Sets how many messages this reader requests in advance, up to 1024. Defaults to none, so that the reader waits
    /// until each message has been transmitted.
    ///
    /// The acknowledgement timeout of prefetched messages runs while they are queued. Choose a number of messages that
    /// the reader can process within half of [`ack_timeout`](Self::ack_timeout). A message that is queued for longer is
    /// returned to NATS, which increments its [attempt](Delivery::attempt). Each message may occupy
    /// [`payload_max`](DurableTopic::payload_max) bytes of memory.
    pub fn prefetch(self, messages: usize) -> Self {
        Self { prefetch: messages, ..self }
    }

    /// Opens the subscription. Creates it if it does not exist.
    ///
    /// # Errors
    /// Returns [`OpenError::Invalid`] if a setting is invalid, and [`OpenError::Differs`] if the subscription exists
    /// with a different [`ack_timeout`](Self::ack_timeout) or [`in_flight_max`](Self::in_flight_max).
    ///
    /// # Cancel safety
    /// If the future is dropped, the subscription may have been created.
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
        let puller = Puller {
            connects: connects(&shared),
            shared,
            name,
            ack_timeout: self.ack_timeout,
            gaps: GapTracker::new(from),
            demand: demand.clone(),
            items: sender,
            asked: 0,
            pending: 0,
            heard: Instant::now(),
            is_lost: false,
        };
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

    /// Returns the NATS consumer with its position, and creates the consumer if it does not exist.
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
            // Count from the requested sequence number. If messages were removed there, NATS starts with the next
            // stored message and does not report how many are missing.
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

/// Returns a description of each difference between an existing subscription and the requested settings.
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

/// Reader of a durable topic. Its messages must be [acknowledged](Delivery::ack).
///
/// Readers with the same name share the messages. If NATS is disconnected, the subscription continues once NATS is
/// connected again. Acknowledgements are kept, and unacknowledged messages are delivered again.
#[derive(Debug)]
pub struct Subscription {
    name: String,
    items: mpsc::Receiver<Item>,
    /// Message that was received after a gap. The gap is reported first, and the next call of [`recv`](Self::recv)
    /// returns this message.
    next: Option<Delivery>,
    demand: Arc<Demand>,
    runtime: Handle,
}

impl Subscription {
    /// Waits for the next message, without a timeout.
    ///
    /// # Errors
    /// If messages were removed before they could be received, in which case the next call continues, or if the
    /// subscription has ended.
    ///
    /// # Cancel safety
    /// A message is removed only when the future resolves, so dropping the future loses no message. Requested messages
    /// are kept for the next call.
    pub async fn recv(&mut self) -> Result<Delivery, RecvError> {
        loop {
            let delivery = match self.next.take() {
                Some(delivery) => delivery,
                None => match self.item().await {
                    Item::Message(delivery) => delivery,
                    Item::Behind(missed, delivery) => {
                        // Report the loss first, and keep the delivery for the next call.
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
            // Return a delivery to NATS if too little time is left to acknowledge it. NATS then delivers it again.
            self.return_all(vec![delivery]);
        }
    }

    /// Returns the name of the subscription.
    pub fn name(&self) -> &str {
        &self.name
    }

    async fn item(&mut self) -> Item {
        // Return an item that has already arrived without requesting more.
        if let Ok(item) = self.items.try_recv() {
            return item;
        }
        // Also ends the demand if the caller drops the future. Otherwise, NATS would send this reader a message that it
        // may not read, and no other reader would receive it before the timeout.
        let _demand = self.demand.begin();
        self.items.recv().await.unwrap_or_else(|| Item::Gone("it has been read to its end".to_owned()))
    }

    /// Returns unread messages to NATS, which delivers them to other readers of the subscription.
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
        // Close the channel before emptying it. Otherwise, a delivery that arrives after the loop would not be returned
        // to NATS.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::atomic::Ordering;
    use std::task::{Context, Waker};

    /// Regression test: a reader that gave up waiting requested messages from NATS until it was dropped. Other readers
    /// received these messages only after the timeout.
    #[tokio::test]
    async fn cancelled_recv_requests_no_more_messages() {
        let ((_sender, items), demand) = (mpsc::channel(1), Arc::<Demand>::default());
        let (name, runtime) = ("billing".to_owned(), Handle::current());
        let mut subscription = Subscription { name, items, next: None, demand: demand.clone(), runtime };
        {
            let receiving = pin!(subscription.recv());
            assert!(receiving.poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert!(demand.waits.load(Ordering::SeqCst));
        }
        assert!(!demand.waits.load(Ordering::SeqCst));
    }
}
