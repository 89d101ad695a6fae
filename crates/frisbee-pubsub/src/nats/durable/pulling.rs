//! Task that requests messages from NATS when a reader waits for one, and detects lost requests.

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

/// Time before a pull request expires at NATS.
const EXPIRES: Duration = Duration::from_secs(30);

/// Interval of the heartbeats that NATS sends for a pending pull request.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Time without packets from NATS before a pull request is considered lost.
const SILENCE: Duration = Duration::from_millis(2500);

/// Interval at which a subscription checks for lost pull requests.
const TICK: Duration = Duration::from_millis(250);

/// Header of the message with which NATS ends a pull request. It contains the number of requested messages that were
/// not delivered.
const PENDING_MESSAGES: &str = "Nats-Pending-Messages";

/// Status code when NATS ends a pull request because of a conflict. The status text names the conflict.
const CONFLICT: u16 = 409;

/// Event that the pulling task sends to the reader of a subscription.
#[derive(Debug)]
pub(super) enum Item {
    Message(Delivery),
    /// A delivered message, with the number of messages that were removed before it.
    Behind(u64, Delivery),
    /// Number of messages that were removed from the stream before they could be delivered.
    Lagged(u64),
    /// The subscription has ended, for this reason.
    Gone(String),
}

/// Signal from the reader that it waits for a message. Messages are requested from NATS only then.
#[derive(Debug, Default)]
pub(super) struct Demand {
    pub(super) waits: AtomicBool,
    changed: Notify,
}

impl Demand {
    /// Requests messages until the returned guard is dropped.
    pub(super) fn begin(&self) -> DemandGuard<'_> {
        self.waits.store(true, Ordering::SeqCst);
        self.changed.notify_one();
        DemandGuard(self)
    }

    fn end(&self) {
        self.waits.store(false, Ordering::SeqCst);
    }
}

pub(super) struct DemandGuard<'a>(&'a Demand);

impl Drop for DemandGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

pub(super) struct Puller {
    pub(super) shared: Arc<Shared>,
    /// Name of the JetStream consumer, which stores the position of the subscription at NATS.
    pub(super) name: String,
    pub(super) ack_timeout: Duration,
    pub(super) gaps: GapTracker,
    pub(super) demand: Arc<Demand>,
    pub(super) items: mpsc::Sender<Item>,
    /// Number of messages that were requested from NATS but have not arrived yet.
    pub(super) asked: usize,
    /// Number of messages for this subscription that were still stored at NATS when NATS last delivered one.
    pub(super) pending: u64,
    /// Time at which the last packet from NATS arrived. If nothing arrives for [`SILENCE`], pull requests are
    /// considered lost.
    pub(super) heard: Instant,
    /// Number of times that the NATS client had connected at the last check. If it has changed, pending pull requests
    /// are lost.
    pub(super) connects: u64,
    /// Whether the position of the subscription is unknown. If so, it must be queried before messages are requested.
    pub(super) is_lost: bool,
}

/// Reason why the subscription has ended.
struct SubscriptionEnded(String);

impl Puller {
    /// Requests and forwards messages until the reader is dropped or the subscription ends.
    pub(super) async fn run(mut self, inbox: String, mut subscriber: Subscriber) {
        match self.pull(inbox, &mut subscriber).await {
            Err(SubscriptionEnded(reason)) => {
                // Ignore the error, because sending fails only if the reader was dropped.
                let _ = self.items.send(Item::Gone(reason)).await;
            }
            Ok(()) => self.return_rest(subscriber).await,
        }
    }

    /// Requests and forwards messages until the reader is dropped. The task is never cancelled, because it could then
    /// lose a message that it has received.
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

    /// Returns messages to NATS that were in transit when their reader was dropped, so that other readers receive them.
    /// Stops when NATS sends a heartbeat, because no more messages are then in transit. NATS drops the pull request
    /// once its subscriber no longer exists.
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

    /// Checks whether pending pull requests have been lost.
    fn check_requests(&mut self) {
        let connects = connects(&self.shared);
        let is_silent = self.asked > 0 && self.heard.elapsed() > SILENCE;
        if connects != self.connects || is_silent {
            (self.connects, self.asked, self.is_lost) = (connects, 0, true);
        }
    }

    /// Queries the stream position of the subscription and reports removed messages to the reader. Fails with the
    /// reason if the subscription no longer exists, and with `None` if the query should be retried.
    async fn find_place(&mut self) -> Result<(), Option<SubscriptionEnded>> {
        // Use a timeout, because a request that is sent while the connection is being lost receives no reply.
        let Ok(found) = timeout(ATTEMPT, info(&self.shared, &self.name)).await else { return Err(None) };
        match found {
            Ok(found) => {
                let missed = self.gaps.reach(StreamPosition::of(&found));
                if missed > 0 {
                    // Ignore the error, because sending fails only if the reader was dropped, which also ends this
                    // task.
                    let _ = self.items.send(Item::Lagged(missed)).await;
                }
                Ok(())
            }
            Err(JetStreamFailure::Refused(error))
                if matches!(error.error_code(), ErrorCode::CONSUMER_NOT_FOUND | ErrorCode::STREAM_NOT_FOUND) =>
            {
                Err(Some(SubscriptionEnded(error.to_string())))
            }
            Err(error) => {
                tracing::debug!(%error, "position of a subscription not received from NATS");
                Err(None)
            }
        }
    }

    /// Requests messages if the reader is waiting for one and no request is pending.
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

    /// Handles a packet from NATS: a message, or the status of a pull request.
    async fn take(&mut self, message: Message) -> Result<(), SubscriptionEnded> {
        self.heard = Instant::now();
        let Some(status) = message.status else {
            self.asked = self.asked.saturating_sub(1);
            self.deliver(message).await;
            return Ok(());
        };
        match status {
            StatusCode::IDLE_HEARTBEAT => {}
            // The pull request has expired, so send another one.
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
                // Pause first, because the server may be shutting down or starting.
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
        // Clear the demand before the reader receives the message, because the reader sets it again to request another
        // message.
        self.demand.end();
        if let Err(SendError(Item::Message(unread) | Item::Behind(_, unread))) = self.items.send(item).await {
            unread.give_back().await;
        }
    }

    /// Parses a message of this subscription. Returns the delivery, its stream position, and the number of messages
    /// that follow. Returns `None` if the message does not belong to this subscription.
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

/// Returns the number of times that the NATS client has connected.
pub(super) fn connects(shared: &Shared) -> u64 {
    shared.client.statistics().connects.load(Ordering::Relaxed)
}
