//! Forwarding of messages between brokers.
//!
//! A [`Backplane`] carries frames by topic and may lose them. This module adds guarantees that hold for every
//! backplane: subscriptions are reference-counted (`interest.rs`), messages are counted per topic so that receivers
//! detect losses (`counts.rs`), and received messages are never forwarded again.

mod counts;
pub(crate) mod frame;
mod interest;
mod memory;
#[cfg(test)]
mod tests;

pub use interest::{Interest, PendingInterest};
pub use memory::{MemoryBus, MemoryMember};

use self::counts::{PORTION, SentCounts, SequenceStamp};
use self::frame::Frame;
use self::interest::HistoryRule;
use super::broker::BrokerShared;
use super::queue::Subscriber;
use super::topics::covers;
use bytes::Bytes;
use frisbee::{LineLimit, MemoryBudget};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

/// Transport between brokers, which carries frames from each broker to the others.
///
/// Frames may be lost, but frames from one broker to one [`Interest`] of another must stay in order. The methods are
/// called by connection tasks and therefore must not block. They must not call the [`Node`] of the calling broker,
/// except for [`Node::deliver`] within [`publish`](Self::publish).
///
/// [`MemoryBus`] is a backplane for the brokers of one process.
pub trait Backplane: fmt::Debug + Send + Sync + 'static {
    /// Attaches a broker to this backplane. The backplane delivers messages of other brokers to `node`.
    ///
    /// # Panics
    /// If a broker is already attached.
    fn attach(&self, node: Node);

    /// Subscribes to messages of other brokers on topics that match the pattern of the interest. Each message must be
    /// [delivered](Node::deliver) once to an interest without a group, and to one of the interests with the same group
    /// over all brokers. Interests of groups also receive the messages of their own broker.
    ///
    /// The implementation drops `joined` when the subscription is in effect, or when it cannot be made at present.
    fn join(&self, interest: &Arc<Interest>, joined: PendingInterest);

    /// Cancels the subscription that [`join`](Self::join) has made for this interest.
    fn leave(&self, interest: &Arc<Interest>);

    /// Sends a frame to all brokers that have subscriptions for the topic. Frames of the same topic stay in order.
    ///
    /// # Errors
    /// If the frame cannot leave this process.
    fn publish(&self, topic: &str, frame: Bytes) -> Result<(), BackplaneError>;

    /// Sends a control frame to all other brokers, which receive it through [`Node::control`].
    fn control(&self, frame: Bytes);
}

/// Error returned when a [`Backplane`] rejects a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BackplaneError {
    /// The backplane is disconnected for this reason, or its send queue is full.
    Away(String),
    /// The frame is larger than the backplane accepts.
    TooLong {
        /// Size of the frame in bytes.
        length: usize,
        /// Maximum frame size of the backplane.
        limit: usize,
    },
}

impl fmt::Display for BackplaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(reason) => write!(f, "the backplane is unavailable: {reason}"),
            Self::TooLong { length, limit } => {
                write!(f, "a message of {length} bytes exceeds the {limit} bytes that the backplane accepts")
            }
        }
    }
}

impl std::error::Error for BackplaneError {}

/// Policy for messages published while the [`Backplane`] is disconnected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum OutagePolicy {
    /// Delivers the messages to this broker's own subscribers only, including queue groups. Once the backplane is
    /// connected again, the subscribers of other brokers receive a report of how many messages they have missed.
    #[default]
    StayLocal,
    /// Drops the messages and reports the rejection to their publishers. Their [`Client::sync`](super::Client::sync)
    /// then fails.
    Refuse,
}

/// Handle through which a backplane delivers messages to its broker. It does not keep the broker alive.
#[derive(Clone, Debug)]
pub struct Node(Weak<BrokerShared>);

/// A broker's connection to its backplane. It publishes the broker's messages, and registers the patterns that the
/// broker is interested in.
#[derive(Debug)]
pub(super) struct Bus {
    backplane: Arc<dyn Backplane>,
    when_away: OutagePolicy,
    /// Random id that identifies this broker on the bus.
    origin: u64,
    sent: Mutex<SentCounts>,
    /// Patterns that are registered at the backplane because this broker has subscriptions for them, outside queue
    /// groups. Subscriptions with the same pattern share an entry.
    interests: Mutex<HashMap<Box<str>, Arc<Interest>>>,
    /// Patterns of topics with a history, which are registered at the backplane when the first connection is opened.
    /// They stay registered until the broker is dropped.
    histories: OnceLock<Vec<Arc<Interest>>>,
    next_interest: AtomicU64,
    /// Whether other brokers may have missed messages. If so, this broker must send them the message count of each
    /// topic at the next tick.
    marks_due: AtomicBool,
    /// Version of the broker's subscriptions when cached references to disconnected subscribers were last removed.
    refreshed: AtomicU64,
    /// Number of message counts that this broker stores for the topics of other brokers, over all registered patterns.
    /// Limited by `counts::HEARD_BY_ALL_MAX`.
    remembered: Arc<AtomicUsize>,
}

/// Outcome of sending a published message to the other brokers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PublishOutcome {
    /// The message was sent to all brokers, including this one for its queue groups.
    On,
    /// The message was not sent, and this broker delivers it to its own subscribers only.
    Local,
}

impl Bus {
    pub(super) fn new(backplane: Arc<dyn Backplane>, when_away: OutagePolicy) -> Self {
        Self {
            backplane,
            when_away,
            origin: RandomState::new().hash_one(()),
            sent: Mutex::default(),
            interests: Mutex::default(),
            histories: OnceLock::new(),
            next_interest: AtomicU64::new(0),
            marks_due: AtomicBool::new(false),
            refreshed: AtomicU64::new(0),
            remembered: Arc::default(),
        }
    }

    pub(super) fn attach(&self, broker: &Arc<BrokerShared>) {
        self.backplane.attach(Node(Arc::downgrade(broker)));
    }

    /// Sends a message to the other brokers. `body` starts with the topic.
    pub(super) fn publish(&self, topic: &str, body: &Bytes) -> Result<PublishOutcome, BackplaneError> {
        // Hold the lock while sending, because frames must be sent in the order of their message counts.
        let mut sent = self.sent.lock();
        let (epoch, count) = sent.row(topic);
        let stamp = SequenceStamp { origin: self.origin, epoch, count: *count + 1 };
        let frame = Frame::Message.encode(stamp, body);
        match self.backplane.publish(topic, frame) {
            Ok(()) => {
                // Count only frames that were sent, because other brokers report gaps in the counts as lost messages.
                *count += 1;
                Ok(PublishOutcome::On)
            }
            Err(BackplaneError::Away(_)) if self.when_away == OutagePolicy::StayLocal => {
                // Count the frame although it was not sent, so that other brokers notice the loss. Send the count at the
                // next tick: the loss would otherwise only be noticed with the topic's next message or a reconnect.
                *count += 1;
                sent.unmark(topic);
                Ok(PublishOutcome::Local)
            }
            Err(unsent) => Err(unsent),
        }
    }

    /// Registers the patterns of all topics with a history at the backplane, because histories must be complete even if
    /// this broker has no subscribers.
    pub(super) fn join_histories(&self, broker: &Arc<BrokerShared>, budget: &MemoryBudget) {
        self.histories.get_or_init(|| {
            let patterns = broker.histories.patterns().enumerate();
            let interests = patterns.map(|(place, pattern)| {
                let number = self.next_interest.fetch_add(1, Ordering::Relaxed);
                let rule = Some(HistoryRule { place, broker: Arc::downgrade(broker) });
                Arc::new(Interest::new(number, pattern, None, rule, budget.clone(), self.remembered.clone()))
            });
            let interests: Vec<_> = interests.collect();
            interests.iter().for_each(|interest| self.backplane.join(interest, PendingInterest(interest.clone())));
            interests
        });
    }

    /// Returns the patterns of topics with a history that this broker has registered at the backplane.
    pub(super) fn histories(&self) -> &[Arc<Interest>] {
        self.histories.get().map_or(&[], Vec::as_slice)
    }

    /// Registers a subscription's pattern at the backplane, unless the pattern is registered already. `follows` states
    /// whether the client requested the subscription from a position in the history of a topic.
    pub(super) fn join(
        &self,
        subscriber: &Arc<Subscriber>,
        id: u16,
        pattern: &str,
        group: Option<&Arc<str>>,
        follows: bool,
    ) -> Arc<Interest> {
        let covering = self.histories().iter().find(|interest| covers(interest.pattern(), pattern));
        if let Some(interest) = covering.filter(|_| group.is_none()) {
            interest.enter(subscriber, id, follows);
            return interest.clone();
        }
        let new = || {
            let number = self.next_interest.fetch_add(1, Ordering::Relaxed);
            let budget = subscriber.budget.clone();
            Arc::new(Interest::new(number, pattern, group.cloned(), None, budget, self.remembered.clone()))
        };
        // Hold the lock, because joining and leaving at the backplane must not overlap.
        let mut interests = self.interests.lock();
        let known = interests.get(pattern).filter(|_| group.is_none()).cloned();
        let is_known = known.is_some();
        let interest = known.unwrap_or_else(new);
        interest.enter(subscriber, id, follows);
        if !is_known {
            if group.is_none() {
                interests.insert(pattern.into(), interest.clone());
            }
            catch_panic(|| self.backplane.join(&interest, PendingInterest(interest.clone())));
        }
        interest
    }

    /// Removes a subscription from `interest`. If it was the last one, also deregisters the pattern at the backplane,
    /// unless the pattern belongs to a history.
    pub(super) fn leave(&self, interest: &Arc<Interest>, subscriber: u64, id: u16) {
        // Hold the lock across the check and the removal. Otherwise, a concurrent `join` could enter this interest in
        // between, and its subscription would receive nothing.
        let mut interests = self.interests.lock();
        if interest.exit(subscriber, id) && interest.history.is_none() {
            if interest.group().is_none() {
                interests.remove(interest.pattern());
            }
            catch_panic(|| self.backplane.leave(interest));
        }
    }

    /// Sends a control frame to the other brokers.
    #[cfg(feature = "typed")]
    pub(super) fn send_control(&self, kind: u8, body: &[u8]) {
        self.backplane.control([&[kind], body].concat().into());
    }

    /// Sends the message counts that have yet to be sent to the other brokers, so that they can detect lost messages.
    fn mark(&self) {
        loop {
            // Take the lock for each batch, because publishers would otherwise wait for all batches.
            let mut sent = self.sent.lock();
            for _ in 0..PORTION {
                let Some(topic) = sent.pop_unmarked() else { return };
                let Some(stamp) = sent.last(&topic, self.origin) else { continue };
                let marked = self.backplane.publish(&topic, Frame::Mark.encode(stamp, &super::name(&topic)));
                if let Err(BackplaneError::Away(_)) = marked {
                    // Continue at the next tick instead of starting again. Otherwise, a slow backplane would receive
                    // the first counts again and again, and never the others.
                    return sent.unmark(&topic);
                }
            }
        }
    }
}

/// Calls a backplane and logs a panic. Unwinding would leave a subscription half removed, and would abort the process if
/// it happened twice while a connection's subscriptions are removed.
fn catch_panic(call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        static LINE: LineLimit = LineLimit::new();
        if let Some(suppressed) = LINE.may_say(Instant::now()) {
            tracing::error!(target: "frisbee::pubsub", suppressed, "a backplane panicked");
        }
    }
}

impl Node {
    /// Delivers messages to the subscriptions of `interest`, in the given order. Each message consists of a topic and a
    /// frame.
    ///
    /// Malformed frames are dropped.
    pub fn deliver<T: AsRef<str>>(&self, interest: &Arc<Interest>, messages: impl IntoIterator<Item = (T, Bytes)>) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        let malformed = interest.receive(&broker, bus.origin, messages);
        if malformed > 0 {
            static LINE: LineLimit = LineLimit::new();
            if let Some(suppressed) = LINE.may_say(Instant::now()) {
                let pattern = interest.pattern();
                tracing::warn!(target: "frisbee::pubsub", malformed, pattern, suppressed, "dropped frames on the bus that no broker has sent");
            }
        }
    }

    /// Handles a control frame that another broker has sent with [`Backplane::control`].
    pub fn control(&self, frame: &[u8]) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        if frame == frame::HELLO {
            // Reply at the next tick, so that several announcements cause a single reply.
            bus.marks_due.store(true, Ordering::Relaxed);
            // Start a new epoch, because messages may have been lost while the backplane was disconnected. The counts
            // do not reveal lost first messages of new topics.
            broker.begin_epoch();
        }
        #[cfg(feature = "typed")]
        match frame.split_first() {
            Some((&frame::ASK, fingerprint)) => {
                if let Some(description) = broker.layout(fingerprint) {
                    bus.send_control(frame::DESCRIPTION, &description);
                }
            }
            Some((&frame::DESCRIPTION, description)) => broker.handle_layout_of_bus(description),
            _ => {}
        }
    }

    /// Reports that the backplane is connected and all registered patterns are active, or that it may have lost frames.
    ///
    /// The broker then queries the other brokers for missed messages.
    pub fn linked(&self) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        bus.marks_due.store(true, Ordering::Relaxed);
        broker.begin_epoch();
        bus.backplane.control(Bytes::from_static(frame::HELLO));
    }

    /// Replies to other brokers that have asked whether they missed messages. Call this several times per second.
    pub fn tick(&self) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        if bus.marks_due.swap(false, Ordering::Relaxed) {
            bus.sent.lock().unmark_all();
        }
        bus.mark();
        let version = broker.version.load(Ordering::Acquire);
        if bus.refreshed.swap(version, Ordering::Relaxed) != version {
            // Clone the list, so that the lock is not held while the registrations are refreshed. Subscribing and
            // unsubscribing would otherwise wait.
            let interests: Vec<_> = bus.interests.lock().values().chain(bus.histories()).cloned().collect();
            interests.iter().for_each(|interest| interest.refresh(&broker));
        }
    }
}
