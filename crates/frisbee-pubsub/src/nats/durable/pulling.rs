//! The task of a reader: it requests messages from NATS when the reader wants some, and notices when NATS has forgotten
//! that.

use super::gaps::{GapTracker, StreamPosition};
use super::subscription::info;
use super::{ATTEMPT, Delivery, PAUSES, Shared};
use crate::nats::durable::error::JetStreamFailure;
use async_nats::client::Request;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::message::Message as JetStreamMessage;
use async_nats::{Message, StatusCode, Subscriber};
use frisbee::LineLimit;
use futures_util::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

/// How long a request waits at NATS.
const EXPIRES: Duration = Duration::from_secs(30);

/// How often NATS says that a request still waits.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// After so long without a word NATS has forgotten a request.
const SILENCE: Duration = Duration::from_millis(2500);

/// How often the connection is looked after.
const TICK: Duration = Duration::from_millis(250);

/// The header of the end of a request: the messages that will not come for it.
const PENDING_MESSAGES: &str = "Nats-Pending-Messages";

/// A request has been ended, for a reason given by its text alone.
const CONFLICT: u16 = 409;

/// An event for a reader.
#[derive(Debug)]
pub(super) enum Item {
    Message(Delivery),
    /// So many messages were removed in front of this one.
    Behind(u64, Delivery),
    /// So many messages were removed.
    Lagged(u64),
    /// Nothing comes any more.
    Gone(String),
}

/// Whether the reader waits.
#[derive(Debug, Default)]
pub(super) struct Demand {
    waits: AtomicBool,
    changed: Notify,
}

impl Demand {
    pub(super) fn begin(&self) {
        self.waits.store(true, Ordering::SeqCst);
        self.changed.notify_one();
    }

    pub(super) fn end(&self) {
        self.waits.store(false, Ordering::SeqCst);
    }
}

pub(super) struct Puller {
    shared: Arc<Shared>,
    /// Of the consumer.
    name: String,
    ack_timeout: Duration,
    gaps: GapTracker,
    demand: Arc<Demand>,
    items: mpsc::Sender<Item>,
    /// The messages that were requested from NATS and have not arrived.
    asked: usize,
    /// The messages that NATS had for the subscription when it sent the last one.
    pending: u64,
    /// When NATS last said something.
    heard: Instant,
    /// How often the connection has been made.
    connects: u64,
    /// Whether the position of the subscription has to be requested first.
    is_lost: bool,
}

/// The subscription is over.
struct SubscriptionEnded(String);

impl Puller {
    pub(super) fn new(
        shared: Arc<Shared>,
        name: String,
        ack_timeout: Duration,
        gaps: GapTracker,
        demand: Arc<Demand>,
        items: mpsc::Sender<Item>,
    ) -> Self {
        let connects = connects(&shared);
        Self {
            shared,
            name,
            ack_timeout,
            gaps,
            demand,
            items,
            asked: 0,
            pending: 0,
            heard: Instant::now(),
            connects,
            is_lost: false,
        }
    }

    /// Runs until the reader or the subscription has gone.
    pub(super) async fn run(mut self, inbox: String, mut subscriber: Subscriber) {
        match self.pull(inbox, &mut subscriber).await {
            Err(SubscriptionEnded(reason)) => {
                // Without a reader the error is dropped.
                let _ = self.items.send(Item::Gone(reason)).await;
            }
            Ok(()) => self.return_rest(subscriber).await,
        }
    }

    /// Runs until the reader has gone. It is not cancelled, which could lose a message that it has taken.
    async fn pull(&mut self, inbox: String, subscriber: &mut Subscriber) -> Result<(), SubscriptionEnded> {
        let (mut ticks, demand, items) = (interval(TICK), self.demand.clone(), self.items.clone());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !items.is_closed() {
            if self.is_lost {
                match self.find_place().await {
                    Ok(()) => self.is_lost = false,
                    Err(Some(gone)) => return Err(gone),
                    Err(None) => {
                        sleep(PAUSES.1).await;
                        continue;
                    }
                }
            }
            self.ask(&inbox).await;
            tokio::select! {
                message = subscriber.next() => {
                    let ended = || SubscriptionEnded("the connection to NATS is closed".to_owned());
                    self.take(message.ok_or_else(ended)?).await?;
                }
                () = items.closed() => {}
                () = demand.changed.notified() => {}
                _ = ticks.tick() => self.check_requests(),
            }
        }
        Ok(())
    }

    /// Returns the messages of the last request that are in transit to the reader that has gone, so that others get them. If
    /// others have got them, NATS sends a heartbeat. It drops a request whose subscriber has gone.
    async fn return_rest(&mut self, mut subscriber: Subscriber) {
        while self.asked > 0
            && self.pending > 0
            && let Ok(Some(message)) = timeout(SILENCE, subscriber.next()).await
            && message.status.is_none()
        {
            self.asked -= 1;
            self.deliver(message).await;
        }
    }

    /// Detects a pull request that NATS may have lost.
    fn check_requests(&mut self) {
        let connects = connects(&self.shared);
        let is_silent = self.asked > 0 && self.heard.elapsed() > SILENCE;
        if connects != self.connects || is_silent {
            (self.connects, self.asked, self.is_lost) = (connects, 0, true);
        }
    }

    /// Requests the position of the subscription.
    async fn find_place(&mut self) -> Result<(), Option<SubscriptionEnded>> {
        // A request at the moment of a lost connection has no answer.
        let Ok(found) = timeout(ATTEMPT, info(&self.shared, &self.name)).await else { return Err(None) };
        match found {
            Ok(found) => {
                let missed = self.gaps.reach(StreamPosition::of(&found));
                if missed > 0 {
                    // If there is no reader, this task ends.
                    let _ = self.items.send(Item::Lagged(missed)).await;
                }
                Ok(())
            }
            Err(JetStreamFailure::Refused(error)) if is_gone(error.error_code()) => {
                Err(Some(SubscriptionEnded(error.to_string())))
            }
            Err(error) => {
                tracing::debug!(%error, "position of a subscription not received from NATS");
                Err(None)
            }
        }
    }

    /// Requests messages, if the reader waits and none are in transit.
    async fn ask(&mut self, inbox: &str) {
        let room = self.items.max_capacity();
        let is_wanted = self.demand.waits.load(Ordering::SeqCst) && self.items.capacity() == room;
        if self.asked > 0 || !is_wanted || !self.shared.is_connected() {
            return;
        }
        let (expires, heartbeat) = (EXPIRES.as_nanos(), HEARTBEAT.as_nanos());
        let request = format!(r#"{{"batch":{room},"expires":{expires},"idle_heartbeat":{heartbeat}}}"#);
        let request = Request::new().payload(request.into()).inbox(inbox.to_owned());
        let subject = format!("CONSUMER.MSG.NEXT.{}.{}", self.shared.stream, self.name);
        match self.shared.context.send_request(subject, request).await {
            Ok(()) => (self.asked, self.heard) = (room, Instant::now()),
            Err(error) => tracing::debug!(%error, "pull request to NATS failed"),
        }
    }

    /// Takes what NATS sends: a message, or a word on a request.
    async fn take(&mut self, message: Message) -> Result<(), SubscriptionEnded> {
        self.heard = Instant::now();
        let Some(status) = message.status else {
            self.asked = self.asked.saturating_sub(1);
            self.deliver(message).await;
            return Ok(());
        };
        match status {
            StatusCode::IDLE_HEARTBEAT => {}
            // It has waited long enough.
            StatusCode::TIMEOUT | StatusCode::NOT_FOUND => {
                let headers = message.headers.as_ref();
                let pending = headers.and_then(|headers| headers.get(PENDING_MESSAGES));
                let pending = pending.and_then(|pending| pending.as_str().parse::<usize>().ok());
                self.asked = self.asked.saturating_sub(pending.unwrap_or(usize::MAX));
            }
            _ => {
                let text = message.description.as_deref().unwrap_or_default();
                if status.as_u16() == CONFLICT && (text.contains("Consumer Deleted") || text.contains("push based")) {
                    return Err(SubscriptionEnded(text.to_owned()));
                }
                tracing::debug!(%status, text, "NATS has ended a request for messages");
                // It may be on its way down or up, so not at once.
                sleep(PAUSES.1).await;
                (self.asked, self.is_lost) = (0, true);
            }
        }
        Ok(())
    }

    async fn deliver(&mut self, message: Message) {
        let message = JetStreamMessage { message, context: self.shared.context.clone() };
        let Some((delivery, place, pending)) = self.delivery(&message) else {
            static LINE: LineLimit = LineLimit::new();
            if let Some(suppressed) = LINE.may_say(std::time::Instant::now()) {
                let subscription = &self.name;
                tracing::warn!(target: "frisbee::pubsub", subscription, suppressed, "dropped a message that is not of this durable topic");
            }
            return;
        };
        self.pending = pending;
        let item = if delivery.attempt > 1 {
            self.gaps.again();
            Item::Message(delivery)
        } else {
            match self.gaps.reach(place) {
                0 => Item::Message(delivery),
                missed => Item::Behind(missed, delivery),
            }
        };
        // Before the reader has it: it begins again when it wants another.
        self.demand.end();
        if let Err(SendError(Item::Message(unread) | Item::Behind(_, unread))) = self.items.send(item).await {
            unread.give_back().await;
        }
    }

    /// The delivery that a message is, if NATS says that it is one of this subscription; its place, and the number of
    /// messages after it.
    fn delivery(&self, message: &JetStreamMessage) -> Option<(Delivery, StreamPosition, u64)> {
        let info = message.info().ok()?;
        let attempt = u64::try_from(info.delivered).ok().filter(|attempt| *attempt > 0)?;
        if info.stream != self.shared.stream || info.consumer != self.name {
            return None;
        }
        let place = StreamPosition { delivery: info.consumer_sequence, sequence: info.stream_sequence };
        message.subject.strip_prefix(&*self.shared.prefix)?;
        let delivery = Delivery {
            shared: self.shared.clone(),
            subject: message.subject.clone(),
            payload: message.payload.clone(),
            headers: message.headers.clone(),
            reply: message.reply.clone()?,
            sequence: info.stream_sequence,
            attempt,
            stored_at: info.published.into(),
            ack_timeout: self.ack_timeout,
            since: Instant::now(),
        };
        Some((delivery, place, info.pending))
    }
}

fn is_gone(code: ErrorCode) -> bool {
    code == ErrorCode::CONSUMER_NOT_FOUND || code == ErrorCode::STREAM_NOT_FOUND
}

fn connects(shared: &Shared) -> u64 {
    shared.client.statistics().connects.load(Ordering::Relaxed)
}
