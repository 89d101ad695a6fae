//! Brokers that are one: messages that a broker forwards to others, and messages received from them.
//!
//! A [`Backplane`] carries bytes by topics, and may lose them. Further promises are made here, the same for all of
//! them: interest is counted (`interest.rs`), a broker's messages are counted by topics, so that others can say how
//! much they have missed (`counts.rs`), and nothing that a broker hears is passed on again.

mod counts;
mod frame;
mod interest;
mod memory;
#[cfg(test)]
mod tests;

pub use interest::{Interest, PendingInterest};
pub use memory::{MemoryBus, MemoryMember};

use self::counts::SentCounts;
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
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

/// What joins brokers: it carries frames from each to the others.
///
/// Frames may be lost. They must not change their order on the way from one broker to one [`Interest`] of another.
/// Methods are called by the tasks of connections, so they must not block, and must not call the [`Node`] back for the
/// broker that calls them, except for [`Node::deliver`] within [`publish`](Self::publish).
///
/// [`MemoryBus`] joins the brokers of one process.
pub trait Backplane: fmt::Debug + Send + Sync + 'static {
    /// A broker uses this backplane from now on; its messages go to the node.
    ///
    /// # Panics
    /// If it has a broker already.
    fn attach(&self, node: Node);

    /// Subscribes to messages of others on topics that match the pattern of this interest. They are to be
    /// [delivered](Node::deliver): each message once for an interest without a group, and for those with the same
    /// group, of all brokers together, to one of them. Interests of groups get what their own broker publishes, too.
    ///
    /// `joined` is dropped once that is certain, or if it is not to be had at present.
    fn join(&self, interest: &Arc<Interest>, joined: PendingInterest);

    /// Ends what [`join`](Self::join) began.
    fn leave(&self, interest: &Arc<Interest>);

    /// Passes a frame on to all interests that match the topic. Frames of one topic keep their order.
    ///
    /// # Errors
    /// If the frame does not leave this process.
    fn publish(&self, topic: &str, frame: Bytes) -> Result<(), BackplaneError>;

    /// Passes a frame on to [`Node::control`] of all other brokers.
    fn control(&self, frame: Bytes);
}

/// Why a backplane has not taken a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BackplaneError {
    /// It cannot be reached, for this reason; or more waits for it than may.
    Away(String),
    /// The frame has more bytes than it takes.
    TooLong {
        /// The bytes of the message, with its prefix.
        length: usize,
        /// The most that the backplane takes.
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

/// What becomes of messages that are published while the [`Backplane`] is away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum OutagePolicy {
    /// They go to the subscribers of their own broker alone, queue groups included. Those of other brokers learn how
    /// many they have missed when the backplane is back.
    #[default]
    StayLocal,
    /// They are dropped, and their publishers learn it: see [`Client::sync`](super::Client::sync).
    Refuse,
}

/// A broker, as its backplane sees it. It does not keep the broker alive.
#[derive(Clone, Debug)]
pub struct Node(Weak<BrokerShared>);

/// How a broker forwards its publications.
#[derive(Debug)]
pub(super) struct Bus {
    backplane: Arc<dyn Backplane>,
    when_away: OutagePolicy,
    /// This broker, among all on the bus.
    origin: u64,
    sent: Mutex<SentCounts>,
    /// Those without a group, by their patterns.
    interests: Mutex<HashMap<Box<str>, Arc<Interest>>>,
    /// Those in the topics with a history, which last as long as the broker; set with its first connection.
    histories: OnceLock<Vec<Arc<Interest>>>,
    next_interest: AtomicU64,
    /// A subscriber may have missed messages.
    marks_due: AtomicBool,
    /// The version of the subscriptions that interests have been looked through for.
    refreshed: AtomicU64,
    /// The rows of messages that all interests remember.
    remembered: Arc<AtomicUsize>,
}

/// Where a message has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PublishOutcome {
    /// To all brokers, this one's groups included.
    On,
    /// Nowhere yet; it is for this broker alone.
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

    /// Passes on a message, whose body begins with its topic.
    pub(super) fn publish(&self, topic: &str, body: &Bytes) -> Result<PublishOutcome, BackplaneError> {
        // The lock keeps the counts of a topic in the order of sending.
        let mut sent = self.sent.lock();
        let row = sent.row(topic);
        let frame = Frame::Message.encode(row.next(self.origin), body);
        match self.backplane.publish(topic, frame) {
            Ok(()) => {
                row.count();
                Ok(PublishOutcome::On)
            }
            Err(BackplaneError::Away(_)) if self.when_away == OutagePolicy::StayLocal => {
                row.count();
                Ok(PublishOutcome::Local)
            }
            Err(unsent) => Err(unsent),
        }
    }

    /// Subscribes to all topics with a history, whether this broker has subscribers or not.
    pub(super) fn join_histories(&self, broker: &Arc<BrokerShared>, budget: &MemoryBudget) {
        self.histories.get_or_init(|| {
            let patterns = broker.histories.patterns().enumerate();
            let interests = patterns.map(|(place, pattern)| {
                let number = self.next_interest.fetch_add(1, Ordering::Relaxed);
                let rule = HistoryRule::new(place, broker);
                let interest = Interest::new(number, pattern, None, budget.clone(), self.remembered.clone());
                Arc::new(interest.with_history(rule))
            });
            let interests: Vec<_> = interests.collect();
            interests.iter().for_each(|interest| self.backplane.join(interest, PendingInterest::of(interest)));
            interests
        });
    }

    /// The interests in topics with a history.
    pub(super) fn histories(&self) -> &[Arc<Interest>] {
        self.histories.get().map_or(&[], Vec::as_slice)
    }

    /// Adds a subscription to what this broker wants from others; `follows` if it has a history.
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
            let budget = subscriber.budget().clone();
            Arc::new(Interest::new(number, pattern, group.cloned(), budget, self.remembered.clone()))
        };
        // The lock keeps joining and leaving in order.
        let mut interests = self.interests.lock();
        let known = interests.get(pattern).filter(|_| group.is_none()).cloned();
        let is_known = known.is_some();
        let interest = known.unwrap_or_else(new);
        interest.enter(subscriber, id, follows);
        if !is_known {
            if group.is_none() {
                interests.insert(pattern.into(), interest.clone());
            }
            self.backplane.join(&interest, PendingInterest::of(&interest));
        }
        interest
    }

    /// Takes a subscription out again. The last one gives the interest up.
    pub(super) fn leave(&self, interest: &Arc<Interest>, subscriber: u64, id: u16) {
        let mut interests = self.interests.lock();
        if interest.exit(subscriber, id) && !interest.has_history() {
            if interest.group().is_none() {
                interests.remove(interest.pattern());
            }
            self.backplane.leave(interest);
        }
    }

    /// Says to all interests that match how much this broker has published to its topics.
    fn mark(&self) {
        let portions = self.sent.lock().topics();
        for topics in portions {
            // A lock for each portion, so that publishers do not wait for all of them.
            let sent = self.sent.lock();
            for topic in topics {
                let Some(stamp) = sent.last(&topic, self.origin) else { return };
                if self.backplane.publish(&topic, Frame::Mark.encode(stamp, &super::name(&topic))).is_err() {
                    return;
                }
            }
        }
    }
}

impl Node {
    /// Messages have come for an interest, in this order: their topics, as the backplane knows them, and the frames.
    ///
    /// Frames that no broker has sent are dropped.
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

    /// A frame has come that another broker has passed to [`Backplane::control`].
    pub fn control(&self, frame: &[u8]) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        if frame::is_hello(frame) {
            bus.marks_due.store(true, Ordering::Relaxed);
            // Its publications may have been lost on the way: those of new topics without a trace in the counts.
            broker.begin_epoch();
        }
    }

    /// The backplane can be reached again, and interests are in effect; or it has lost something.
    ///
    /// The other brokers are queried for missed messages.
    pub fn linked(&self) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        bus.marks_due.store(true, Ordering::Relaxed);
        broker.begin_epoch();
        bus.backplane.control(frame::hello());
    }

    /// To be called several times in a second: answers to brokers that have requested their losses are sent here.
    pub fn tick(&self) {
        let Some(broker) = self.0.upgrade() else { return };
        let Some(bus) = &broker.bus else { return };
        if bus.marks_due.swap(false, Ordering::Relaxed) {
            bus.mark();
        }
        let version = broker.version.load(Ordering::Acquire);
        if bus.refreshed.swap(version, Ordering::Relaxed) != version {
            let interests: Vec<_> = bus.interests.lock().values().chain(bus.histories()).cloned().collect();
            interests.iter().for_each(|interest| interest.refresh(&broker));
        }
    }
}
