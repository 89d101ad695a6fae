//! Interest of a broker in messages of other brokers: a pattern, its subscriptions, and delivery to them.
//!
//! A broker receives one copy of a message for each of its matching patterns, and delivers the copy only to
//! subscriptions with exactly this pattern. Each subscription therefore receives the message once and in order,
//! whichever copy arrives first.

use super::counts::{ReceivedCounts, StampVerdict};
use super::frame::Frame;
use crate::broker::BrokerShared;
use crate::fanout::{Fanout, Group, Route, Source};
use crate::queue::{STEP, Subscriber};
use crate::{Kind, put, split_name};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{MemoryBudget, MemoryCharge, PacketId};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Weak};

/// Memory in bytes of a pattern that is registered at the backplane, excluding two copies of the pattern.
const INTEREST_COST: usize = 1024;

/// A pattern that a broker has registered at its backplane. All local subscriptions with this pattern share the
/// registration. Members of queue groups have a registration each, so that they receive equal shares of the messages.
pub struct Interest {
    number: u64,
    pattern: Box<str>,
    group: Option<Arc<str>>,
    /// Local subscriptions that receive messages through this registration, by connection number and subscription id.
    members: Mutex<BTreeMap<(u64, u16), InterestMember>>,
    /// Subscriptions to confirm to their clients once the backplane has activated the pattern. `None` afterwards.
    asked: Mutex<Option<Vec<SubscriberEntry>>>,
    arrivals: Mutex<Arrivals>,
    /// Memory budget of the server for message bodies that several subscribers share.
    budget: MemoryBudget,
    /// Rule that gives topics a history. If set, this registration handles only messages of topics with this rule, and
    /// is kept until the broker is dropped.
    /// Otherwise, it handles only messages of topics without a history.
    pub(super) history: Option<HistoryRule>,
}

#[derive(Clone)]
struct InterestMember {
    subscriber: Arc<Subscriber>,
    /// Whether the client requested this subscription from a position in the history of a topic.
    follows: bool,
}

/// A history rule, by its index among the broker's rules.
pub(super) struct HistoryRule {
    pub(super) place: usize,
    pub(super) broker: Weak<BrokerShared>,
}

/// A subscription, identified by its connection and its id on that connection.
type SubscriberEntry = (Arc<Subscriber>, u16);

struct Arrivals {
    fanout: Fanout,
    heard: ReceivedCounts,
    /// Memory charge for the registered pattern and its cache of topics.
    charge: MemoryCharge,
}

/// Guard of an [`Interest`] that is not active yet. The backplane drops the guard once the interest has become active
/// or has failed.
#[derive(Debug)]
pub struct PendingInterest(pub(super) Arc<Interest>);

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Interest");
        shown.field("number", &self.number).field("pattern", &self.pattern).field("group", &self.group);
        shown.finish_non_exhaustive()
    }
}

impl Interest {
    pub(super) fn new(
        number: u64,
        pattern: &str,
        group: Option<Arc<str>>,
        history: Option<HistoryRule>,
        budget: MemoryBudget,
        remembered: Arc<AtomicUsize>,
    ) -> Self {
        let charge = budget.charge(INTEREST_COST + 2 * pattern.len());
        let arrivals = Arrivals { fanout: Fanout::default(), heard: ReceivedCounts::new(remembered), charge };
        Self {
            number,
            pattern: pattern.into(),
            group,
            members: Mutex::default(),
            asked: Mutex::new(Some(Vec::new())),
            arrivals: Mutex::new(arrivals),
            budget,
            history,
        }
    }

    /// Returns the subscriptions that use a topic history and receive messages through this registration.
    pub(crate) fn followers(&self) -> Vec<(u16, Arc<Subscriber>)> {
        let members = self.members.lock();
        let followers = members.iter().filter(|(_, member)| member.follows);
        followers.map(|((_, id), member)| (*id, member.subscriber.clone())).collect()
    }

    /// Returns a number that identifies this registered pattern within its broker.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the registered pattern. The backplane should deliver messages of all topics that match it.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the queue group, if the pattern was registered for a member of a group.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    pub(super) fn enter(&self, subscriber: &Arc<Subscriber>, id: u16, follows: bool) {
        let member = InterestMember { subscriber: subscriber.clone(), follows };
        self.members.lock().insert((subscriber.number, id), member);
    }

    /// Removes a subscription. Returns whether it was the last one that used this registration.
    pub(super) fn exit(&self, subscriber: u64, id: u16) -> bool {
        let mut members = self.members.lock();
        members.remove(&(subscriber, id));
        members.is_empty()
    }

    /// Returns whether the registered pattern is active. Otherwise, records the subscription `id`, which the broker
    /// confirms once the pattern becomes active.
    pub(crate) fn is_joined_or_answers(&self, subscriber: &Arc<Subscriber>, id: u16) -> bool {
        match &mut *self.asked.lock() {
            None => true,
            Some(asked) => {
                asked.push((subscriber.clone(), id));
                false
            }
        }
    }

    /// Delivers received frames to the local subscriptions. Returns the number of malformed frames.
    pub(super) fn receive<T: AsRef<str>>(
        &self,
        broker: &BrokerShared,
        own: u64,
        messages: impl IntoIterator<Item = (T, Bytes)>,
    ) -> usize {
        let mut malformed = 0;
        // Hold the lock for the whole batch, so that concurrent calls do not interleave their frames.
        let arrivals = &mut *self.arrivals.lock();
        for (topic, frame) in messages {
            if !self.take(arrivals, broker, own, topic.as_ref(), &frame) {
                malformed += 1;
            }
        }
        arrivals.fanout.flush(broker, self);
        arrivals.fanout.refresh(broker);
        self.charge_topics(arrivals, broker);
        malformed
    }

    /// Charges the cache of topics to the memory budget. Clears a large cache if the server is short of memory.
    fn charge_topics(&self, arrivals: &mut Arrivals, broker: &BrokerShared) {
        let Arrivals { fanout, heard, charge } = arrivals;
        if fanout.memory >= STEP && self.budget.is_short() {
            fanout.release(broker);
        }
        let topics = (fanout.memory + heard.memory) / STEP * STEP;
        let charged = INTEREST_COST + 2 * self.pattern.len() + topics;
        if charged != charge.bytes() {
            charge.resize(charged);
        }
    }

    /// Delivers the message in a frame, or compares the message count in a mark. Returns `false` if the frame is
    /// malformed.
    fn take(&self, arrivals: &mut Arrivals, broker: &BrokerShared, own: u64, topic: &str, frame: &Bytes) -> bool {
        let Some((kind, stamp, body)) = Frame::decode(frame) else { return false };
        // Reject a frame if its topic differs from the topic of the bus. Otherwise, a publisher with access to one
        // topic could reach other topics.
        if split_name(&body).is_none_or(|(named, _)| named != topic.as_bytes()) {
            return false;
        }
        if self.group.is_none() {
            // Only one interest handles the messages of a topic with a history, because a history has a single order.
            if stamp.origin == own || broker.histories.rule_of(topic) != self.history.as_ref().map(|rule| rule.place) {
                return true;
            }
            let Arrivals { fanout, heard, .. } = arrivals;
            let heed = match kind {
                Frame::Message => heard.message(topic, stamp),
                Frame::Mark => heard.mark(topic, stamp),
            };
            match heed {
                StampVerdict::New(0) => {}
                StampVerdict::New(missed) => {
                    // Deliver earlier messages first, so that the loss is reported at its place among them.
                    fanout.flush(broker, self);
                    match self.history {
                        Some(_) => broker.record_gap(self, topic, missed),
                        None => self.notify_missed(broker, missed),
                    }
                }
                StampVerdict::Old => return true,
                StampVerdict::Malformed => return false,
            }
        }
        match kind {
            Frame::Message => arrivals.fanout.publish(broker, self, topic.as_bytes(), &body).is_ok(),
            Frame::Mark => true,
        }
    }

    /// Notifies each local subscription of missed messages, in order with the messages that it received before.
    fn notify_missed(&self, broker: &BrokerShared, missed: u64) {
        let members: Vec<_> = self.members.lock().iter().map(|((_, id), to)| (*id, to.subscriber.clone())).collect();
        for (id, subscriber) in members {
            subscriber.deliver(|queue| queue.lag(PacketId(id), broker.operations, missed), self);
        }
    }

    /// Removes cached references to subscribers that have disconnected.
    pub(super) fn refresh(&self, broker: &BrokerShared) {
        let arrivals = &mut *self.arrivals.lock();
        arrivals.fanout.refresh(broker);
        self.charge_topics(arrivals, broker);
    }
}

impl Drop for PendingInterest {
    fn drop(&mut self) {
        let Self(interest) = self;
        // Taking the list marks the pattern as active: from now on, `is_joined_or_answers` returns true.
        let asked = interest.asked.lock().take();
        if let Some(broker) = interest.history.as_ref().and_then(|rule| rule.broker.upgrade())
            && !interest.followers().is_empty()
        {
            // Start a new epoch, because these histories began before messages of other brokers arrived.
            broker.begin_epoch();
        }
        for (subscriber, id) in asked.into_iter().flatten() {
            let operation = subscriber.operations.of(Kind::Subscribe);
            // Ignore the error, because a connection that has closed needs no reply.
            let _ = subscriber.connection.send_now(|outbox| put(outbox, PacketId(id), operation, &[]));
        }
    }
}

impl Source for Interest {
    const PUBLISHES: bool = false;

    fn number(&self) -> u64 {
        u64::MAX
    }

    fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Returns the route for a topic: the connections that have matching subscriptions with this registration's
    /// pattern. A connection receives one copy for all its subscriptions if every matching one has this pattern.
    /// Otherwise, each matching subscription with this pattern receives a copy that is addressed to its id.
    fn route(&self, broker: &BrokerShared, topic: &str) -> Route {
        if self.history.is_some() {
            return Route::of_history(broker, topic);
        }
        let mut connections = BTreeMap::<u64, Ids>::new();
        for ((number, id), member) in &*self.members.lock() {
            let new = || Ids { subscriber: member.subscriber.clone(), here: Vec::new(), matching: Vec::new() };
            connections.entry(*number).or_insert_with(new).here.push(*id);
        }
        let (mut everybody, mut groups) = (Vec::new(), Vec::new());
        if self.group.is_some() {
            for Ids { subscriber, here, .. } in connections.into_values() {
                groups.extend(here.into_iter().map(|id| Group::of_one(&subscriber, id)));
            }
            return Route::new(topic, everybody, groups, false);
        }
        broker.subscriptions.read().for_each_match(topic, |(number, id), target| {
            if target.group.is_none()
                && let Some(ids) = connections.get_mut(number)
            {
                ids.matching.push(*id);
            }
        });
        for Ids { subscriber, mut here, mut matching } in connections.into_values() {
            // Sort the ids, because a connection may have tens of thousands of subscriptions with this pattern.
            matching.sort_unstable();
            here.retain(|id| matching.binary_search(id).is_ok());
            if here.is_empty() {
                continue;
            }
            if here.len() == matching.len() {
                everybody.push(subscriber);
            } else {
                groups.extend(here.into_iter().map(|id| Group::of_one(&subscriber, id)));
            }
        }
        Route::new(topic, everybody, groups, false)
    }
}

/// Subscription ids of a connection: of its subscriptions with the registered pattern (`here`), and of all its
/// subscriptions that match a topic (`matching`).
struct Ids {
    subscriber: Arc<Subscriber>,
    here: Vec<u16>,
    matching: Vec<u16>,
}
