//! Delivery of the messages that a connection publishes in a batch.
//!
//! Each connection caches the subscribers of the topics that it publishes to. Only a cache miss looks the topic up in
//! the broker's subscription tree, under its lock. Any change of the subscriptions, detected by a version number,
//! clears the cache. Consecutive packets with the same subscribers are encoded together. At the end of the batch, each
//! subscriber's queue is locked once, and its task is woken once.

use super::Kind;
use super::broker::{BrokerShared, Target};
use super::bus::PublishOutcome;
use super::follow::{NextOffset, ReplayMark, put_position};
use super::history::{History, Recording, Records, Ring};
use super::queue::{QueueDelivery, QueueSegment, Subscriber};
use crate::topics::{TopicError, Trie, check_topic};
use bytes::Bytes;
use frisbee::{MemoryBudget, PacketId};
use parking_lot::MutexGuard;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum number of entries in the route cache of a publishing connection. Each cached topic and each of its
/// subscribers counts as one entry. The cache is cleared beyond the limit, so a publisher with more entries looks up
/// its topics repeatedly. Most publishers have few topics.
const REMEMBERED_MAX: usize = 16 * 1024;

/// Memory of a cached topic in bytes, excluding its name and its subscribers.
const ROUTE_COST: usize = 320;
/// Memory of each subscriber of a cached topic in bytes.
const SUBSCRIBER_COST: usize = 32;

/// Maximum number of deliveries that a publisher collects before it adds the messages to the queues of their
/// subscribers. Adding consecutive messages with the same subscribers counts as one delivery for each subscriber.
const DELIVERIES_MAX: usize = 16 * 1024;

/// Minimum size in bytes of a message that is not combined with other messages. Smaller messages are combined and
/// copied to the queue of each subscriber. A message of this size is added to the queues on its own, so that all
/// subscribers share its body.
const LARGE: usize = 4 * 1024;

/// Lengths of bodies that are copied once before subscribers share them. Such a body may be a slice of a read buffer of
/// 128 KiB. Without the copy, a slow subscriber would keep the whole buffer in memory but be charged only for the
/// slice. Shorter bodies are copied in any case, and longer ones occupy most of their buffer.
const COPIED_ONCE: RangeInclusive<usize> = SHARED_MIN..=64 * 1024;

/// Minimum size in bytes of a body that an outbox shares instead of copying it.
pub(super) const SHARED_MIN: usize = 16 * 1024;

/// Maximum number of unused [`RouteBatch`] values that a thread keeps for reuse. A publisher that alternates between
/// topics needs one for each change of topic.
const RUNS_KEPT: usize = 64;

/// Maximum memory in bytes of an unused [`RouteBatch`], because it is not charged to any connection.
const RUN_KEPT_MAX: usize = 8 * 1024;

thread_local! {
    /// Unused [`RouteBatch`] values for reuse. They belong to the thread rather than to a connection, so that idle
    /// connections do not hold memory for them.
    static RUNS: Cell<Vec<RouteBatch>> = const { Cell::new(Vec::new()) };
}

/// State of a publishing connection: its cached routes, and the messages of the current batch.
#[derive(Default)]
pub(super) struct Fanout {
    /// Version of the broker's subscriptions when the routes were cached. If the version has changed, the routes are
    /// discarded.
    version: u64,
    by_topic: HashMap<Arc<[u8]>, usize>,
    routes: Vec<Route>,
    remembered: usize,
    /// Memory of the cached routes in bytes. It is charged to the server.
    pub(super) memory: usize,
    /// Index of the route that was used last. The next message is likely to use it too.
    last: usize,
    /// Messages collected in this batch. Each run contains consecutive messages with the same route. Runs from the
    /// index `used` on are unused.
    runs: Vec<RouteBatch>,
    used: usize,
    deliveries: usize,
    /// Number of messages in this batch that the broker has not counted yet.
    published: u64,
    /// Whether any message of the batch must be added to a topic's history.
    records: bool,
    directed: Vec<GroupMessage>,
    /// Reason why the most recent rejected message was rejected.
    pub(super) refusal: String,
}

/// Origin of published messages: a connection of this broker, or another broker.
pub(super) trait Source {
    /// Whether messages of this origin count as published and are forwarded to other brokers.
    const PUBLISHES: bool;

    /// Returns the number of the publishing connection. If this connection also subscribes, it is not woken, because
    /// its task is already running.
    fn number(&self) -> u64;

    /// Returns the memory budget for message bodies that several subscribers share.
    fn budget(&self) -> &MemoryBudget;

    /// Returns the network of the publisher, if it has an address.
    fn publisher(&self) -> Option<IpAddr> {
        None
    }

    /// Looks up the subscribers that receive messages published to a topic by this source.
    fn route(&self, broker: &BrokerShared, topic: &str) -> Route;
}

impl Source for Subscriber {
    const PUBLISHES: bool = true;

    fn number(&self) -> u64 {
        self.number
    }

    fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    fn publisher(&self) -> Option<IpAddr> {
        self.connection.caller_network()
    }

    fn route(&self, broker: &BrokerShared, topic: &str) -> Route {
        Route::find(broker, topic)
    }
}

/// Receivers of a topic's messages: subscribers, queue groups, the topic's history, and other brokers.
pub(super) struct Route {
    topic: Arc<[u8]>,
    everybody: Vec<Arc<Subscriber>>,
    /// Number of receivers. A history counts as a receiver, because messages must be recorded even without subscribers.
    recipients: usize,
    groups: Vec<Group>,
    /// Whether messages must be forwarded to other brokers, because these may have subscribers.
    is_for_bus: bool,
    /// Whether the messages need more than delivery to `everybody`, because the route has queue groups, a history or
    /// other brokers. If so, they do not take the fast path.
    is_special: bool,
    history: Option<History>,
    /// Cached history of the topic, so that recording a message needs no lookup. The history may have been evicted
    /// after it was cached.
    ring: Option<Arc<Ring>>,
}

/// A queue group, whose members take turns.
pub(super) struct Group {
    /// Members with their subscription ids. Those from the index `ready` on had a backlog when they were last checked.
    members: Vec<(Arc<Subscriber>, u16)>,
    ready: usize,
    /// Index of the member that receives the next message.
    next: usize,
    /// Index, after `ready`, of the member that was last checked for whether it still has a backlog.
    checked: usize,
}

/// A run of consecutive messages that have the same route.
struct RouteBatch {
    route: usize,
    packets: QueueSegment,
    recording: Option<Recording>,
}

/// A message for a queue group, with the group member that will receive it.
struct GroupMessage {
    subscriber: Arc<Subscriber>,
    id: u16,
    body: Bytes,
    /// Index of the message's route, and of the group within it.
    group: (usize, usize),
}

/// Maximum number of group members with a backlog that are checked again for each message.
const CHECKED_AT_ONCE: usize = 8;

/// Maximum number of queue groups of a message that is published without counting as slow.
const GROUPS_AT_ONCE: usize = 64;

/// Outcome of publishing a message. The caller yields to other tasks if publishing was slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Published {
    AsUsual,
    /// Publishing may have taken a thousand times longer than usual, because the topic was not in the cache or has many
    /// queue groups.
    Slowly,
    /// The backplane rejected the message, which is therefore not delivered. [`Fanout::refusal`] is the reason.
    Refused,
}

impl Fanout {
    /// Publishes a message. `body` consists of `topic` with a length prefix and the payload, and is sent unchanged.
    pub(super) fn publish<S: Source>(
        &mut self,
        broker: &BrokerShared,
        from: &S,
        topic: &[u8],
        body: &Bytes,
    ) -> Result<Published, TopicError> {
        let mut published = Published::AsUsual;
        if self.version != broker.version.load(Ordering::Acquire) {
            // Deliver the collected messages before discarding their routes.
            self.flush(broker, from);
            self.forget(broker);
        }
        // Look up the route only if the topic has changed, because consecutive messages often have the same topic.
        if self.routes.get(self.last).is_none_or(|last| *last.topic != *topic) {
            let routes_before = self.routes.len();
            self.last = self.find(broker, from, topic)?;
            if self.routes.len() != routes_before {
                published = Published::Slowly;
            }
        }
        self.published += u64::from(S::PUBLISHES);
        let route = self.last;
        let found = &mut self.routes[route];
        let copied = (COPIED_ONCE.contains(&body.len()) && (found.entries() > 0 || found.history.is_some()))
            .then(|| Bytes::copy_from_slice(body));
        let body = copied.as_ref().unwrap_or(body);
        let recipients = found.recipients;
        if found.is_special {
            // Select group members here only if no bus is connected. A connected bus selects one member of each group
            // across all brokers.
            let mut groups_are_here = true;
            if found.is_for_bus {
                match pass_on(broker, found, body) {
                    Ok(passed) => groups_are_here = passed == PublishOutcome::Local,
                    Err(refusal) => {
                        self.published -= 1;
                        self.refusal = refusal;
                        return Ok(Published::Refused);
                    }
                }
            }
            self.records |= found.history.is_some();
            if groups_are_here && !found.groups.is_empty() {
                if found.groups.len() > GROUPS_AT_ONCE {
                    published = Published::Slowly;
                }
                self.direct_to_groups(route, from, body);
            }
        }
        if recipients > 0 {
            self.run(route, body.len(), recipients).push(PacketId(0), broker.operations, body);
        }
        if self.deliveries > DELIVERIES_MAX {
            self.flush(broker, from);
        }
        Ok(published)
    }

    /// Queues a message for one subscriber of each group of its topic.
    fn direct_to_groups<S: Source>(&mut self, route: usize, from: &S, body: &Bytes) {
        let groups = &mut self.routes[route].groups;
        // Share large bodies with the queues instead of copying them.
        let directed = if body.len() >= SHARED_MIN { from.budget().share(body.clone()) } else { body.clone() };
        for (at, group) in groups.iter_mut().enumerate() {
            let Some((subscriber, id)) = group.choose(Subscriber::has_backlog) else { continue };
            let (subscriber, body) = (subscriber.clone(), directed.clone());
            self.directed.push(GroupMessage { subscriber, id, body, group: (route, at) });
        }
        self.deliveries += groups.len();
    }

    /// Returns the run that the next message with this route is added to. Begins a new run if the previous message had
    /// another route, or if either message is large.
    #[inline(always)]
    fn run(&mut self, route: usize, length: usize, recipients: usize) -> &mut QueueSegment {
        let last = self.used.checked_sub(1).and_then(|last| self.runs.get(last));
        let goes_on = last.is_some_and(|last| last.route == route && last.packets.longest < LARGE as u32);
        if !goes_on || length >= LARGE {
            if self.runs.is_empty() {
                self.runs = RUNS.take();
            }
            if self.used == self.runs.len() {
                self.runs.push(RouteBatch { route, packets: QueueSegment::new(), recording: None });
            }
            self.runs[self.used].route = route;
            self.used += 1;
            self.deliveries += recipients;
        }
        &mut self.runs[self.used - 1].packets
    }

    /// Records the collected messages in the histories of their topics. The caller must hold the returned guard until
    /// it has added the messages to the queues of their subscribers. Otherwise, another publisher could record and
    /// queue messages in between, and the offsets of a topic would not have the same order in every queue.
    #[cold]
    fn record<'a>(&mut self, broker: &'a BrokerShared, from: &impl Source) -> MutexGuard<'a, Records> {
        let mut records = broker.histories.lock();
        let is_current = self.version == broker.version.load(Ordering::Acquire);
        for run in &mut self.runs[..self.used] {
            let route = &mut self.routes[run.route];
            let (Some(history), Ok(topic)) = (route.history, std::str::from_utf8(&route.topic)) else { continue };
            if !is_current {
                // Look up the subscribers again. A subscription that started before the lock was acquired did not
                // receive these messages in its replay, so they must be added to its queue.
                route.everybody = Route::find(broker, topic).everybody;
            }
            let packets = &mut run.packets;
            let recorded = broker.histories.record(&mut records, &mut route.ring, topic, history, packets, from);
            run.recording = Some(recorded);
        }
        records
    }

    /// Ends a batch by delivering the collected messages to their subscribers.
    pub(super) fn flush(&mut self, broker: &BrokerShared, from: &impl Source) {
        if self.published > 0 {
            broker.published.fetch_add(std::mem::take(&mut self.published), Ordering::Relaxed);
        }
        if self.deliveries == 0 {
            return;
        }
        self.deliveries = 0;
        // Charge long bodies before histories store them, so that histories and queues share the charge.
        for packets in self.runs[..self.used].iter_mut().map(|run| &mut run.packets.packets) {
            packets.map_shared(|bytes| from.budget().share(bytes));
        }
        let records = std::mem::take(&mut self.records).then(|| self.record(broker, from));
        let runs = &mut self.runs[..self.used];
        for packets in runs.iter_mut().map(|run| &mut run.packets.packets).filter(|packets| packets.shared_len() == 0) {
            packets.share();
            packets.map_shared(|bytes| from.budget().share(bytes));
        }
        if let [run] = runs {
            for subscriber in &self.routes[run.route].everybody {
                subscriber.deliver(|queue| run.share(queue, broker), from);
            }
        } else {
            deliver_runs(runs, &self.routes, broker, from);
        }
        // Hold the lock until here, because offsets must have the same order in every queue. Messages for groups have
        // no offsets, so they need no lock.
        drop(records);
        for (number, run) in runs.iter_mut().enumerate() {
            run.packets.clear();
            run.recording = None;
            // The first one is used by every batch.
            if number > 0 && run.packets.packets.memory() > RUN_KEPT_MAX {
                run.packets = QueueSegment::new();
            }
        }
        self.used = 0;
        self.runs.truncate(RUNS_KEPT);
        RUNS.set(std::mem::take(&mut self.runs));
        if !self.directed.is_empty() {
            self.deliver_to_groups(broker, from);
        }
    }

    /// Delivers the collected messages for queue groups.
    fn deliver_to_groups(&mut self, broker: &BrokerShared, from: &impl Source) {
        let mut directed = std::mem::take(&mut self.directed);
        // Hold the lock until the messages are queued, because members leave their groups under it. Otherwise, a
        // message of a member that has just left would reach its new member after later messages.
        let subscriptions = broker.subscriptions.read();
        if self.version != broker.version.load(Ordering::Acquire) {
            self.redirect(&mut directed, &subscriptions);
        }
        // Sort by subscriber, so that each queue is locked only once.
        directed.sort_by_key(|message| message.subscriber.number);
        for messages in directed.chunk_by(|a, b| a.subscriber.number == b.subscriber.number) {
            let fill = |queue: &mut QueueDelivery<'_>| {
                messages.iter().for_each(|one| queue.push(PacketId(one.id), broker.operations, &one.body));
            };
            messages[0].subscriber.deliver(fill, from);
        }
    }

    /// Selects another member for the messages whose member has left its group. Called after subscriptions have
    /// changed.
    #[cold]
    fn redirect(&mut self, directed: &mut Vec<GroupMessage>, subscriptions: &Trie<(u64, u16), Target>) {
        let routes: BTreeSet<_> = directed.iter().map(|message| message.group.0).collect();
        for route in routes {
            let Route { topic, groups, .. } = &mut self.routes[route];
            let mut members = BTreeSet::new();
            if let Ok(topic) = std::str::from_utf8(topic) {
                subscriptions.for_each_match(topic, |member, _| _ = members.insert(*member));
            }
            groups.iter_mut().for_each(|group| group.retain(|one, id| members.contains(&(one.number, id))));
        }
        directed.retain_mut(|GroupMessage { subscriber, id, group: (route, at), .. }| {
            let group = &mut self.routes[*route].groups[*at];
            if group.members.iter().any(|(member, of)| member.number == subscriber.number && of == id) {
                return true;
            }
            let Some((other, of)) = group.choose(Subscriber::has_backlog) else { return false };
            (*subscriber, *id) = (other.clone(), of);
            true
        });
    }

    /// Clears the route cache if subscriptions have changed. Outdated routes would keep closed subscribers in memory.
    pub(super) fn refresh(&mut self, broker: &BrokerShared) {
        if !self.routes.is_empty() && self.version != broker.version.load(Ordering::Acquire) {
            self.forget(broker);
        }
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.by_topic.len()
    }

    /// Frees the route cache of a connection that no longer publishes. Does nothing while collected messages use the
    /// routes.
    pub(super) fn release(&mut self, broker: &BrokerShared) {
        if self.used == 0 {
            self.forget(broker);
        }
    }

    fn forget(&mut self, broker: &BrokerShared) {
        debug_assert_eq!(self.used, 0, "no run should refer to a route of the cleared cache");
        self.by_topic = HashMap::new();
        self.routes = Vec::new();
        self.remembered = 0;
        self.memory = 0;
        self.last = 0;
        self.version = broker.version.load(Ordering::Acquire);
    }

    /// Returns the index of a topic's route. If the route is not cached, looks it up in the broker's subscription tree.
    fn find(&mut self, broker: &BrokerShared, from: &impl Source, topic: &[u8]) -> Result<usize, TopicError> {
        if let Some(route) = self.by_topic.get(topic) {
            return Ok(*route);
        }
        let text = check_topic(topic)?;
        if broker.presences.reserves(text) {
            return Err(TopicError::Reserved);
        }
        if self.remembered > REMEMBERED_MAX {
            self.flush(broker, from);
            self.forget(broker);
        }
        let found = from.route(broker, text);
        let route = self.routes.len();
        self.remembered += 1 + found.entries();
        self.memory += ROUTE_COST + topic.len() + found.entries() * SUBSCRIBER_COST;
        self.by_topic.insert(found.topic.clone(), route);
        self.routes.push(found);
        Ok(route)
    }
}

/// Forwards a message to other brokers through the backplane. Fails with the reason if the message cannot be sent.
#[cold]
fn pass_on(broker: &BrokerShared, route: &Route, body: &Bytes) -> Result<PublishOutcome, String> {
    let (Some(bus), Ok(topic)) = (&broker.bus, std::str::from_utf8(&route.topic)) else {
        return Ok(PublishOutcome::Local);
    };
    bus.publish(topic, body).map_err(|unsent| unsent.to_string())
}

/// Delivers several runs of messages. Each subscriber receives all of its messages at once and in order.
fn deliver_runs(runs: &[RouteBatch], routes: &[Route], broker: &BrokerShared, from: &impl Source) {
    let everybody = |run: &RouteBatch| routes[run.route].everybody.iter();
    let entries = runs.iter().enumerate().flat_map(|(at, run)| everybody(run).map(move |one| (one.number, at, one)));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_unstable_by_key(|(number, at, _)| (*number, *at));
    for entries in entries.chunk_by(|a, b| a.0 == b.0) {
        let fill = |queue: &mut QueueDelivery<'_>| {
            entries.iter().for_each(|(_, at, _)| runs[*at].share(queue, broker));
        };
        entries[0].2.deliver(fill, from);
    }
}

impl RouteBatch {
    /// Adds the messages of the run to a subscriber's queue.
    #[inline(always)]
    fn share(&self, queue: &mut QueueDelivery<'_>, broker: &BrokerShared) {
        match &self.recording {
            Some(recording) if queue.follows() => self.share_recorded(queue, recording, broker),
            _ => queue.share(&self.packets),
        }
    }

    fn share_recorded(&self, queue: &mut QueueDelivery<'_>, recording: &Recording, broker: &BrokerShared) {
        let ring = recording.ring.clone();
        let begins = recording.first == 1;
        if begins {
            let mut body = Vec::new();
            put_position(&mut body, &ring.topic, NextOffset { epoch: ring.epoch, offset: 1 });
            queue.control(PacketId(0), broker.operations.of(Kind::Position), body, None);
            // The messages may be added to another segment, so the position needs its own mark.
            queue.mark(ReplayMark::Messages { id: PacketId(0), ring: ring.clone(), begins, next: 1 });
        }
        queue.share(&self.packets);
        queue.mark(ReplayMark::Messages { id: PacketId(0), ring, begins, next: recording.end() });
    }
}

impl Route {
    /// Looks up the receivers of a topic. A connection with several matching subscriptions is listed once. Queue groups
    /// with the same name are merged, even if their patterns differ.
    fn find(broker: &BrokerShared, topic: &str) -> Self {
        let mut everybody = Vec::new();
        // Sort the groups by name. Each group takes the next value of a counter below, and simulation runs must assign
        // these values in the same order.
        let mut groups = BTreeMap::<Arc<str>, Vec<_>>::new();
        broker.subscriptions.read().for_each_match(topic, |(_, id), Target { subscriber, group, .. }| match group {
            None => everybody.push(subscriber.clone()),
            Some(group) => groups.entry(group.clone()).or_default().push((subscriber.clone(), *id)),
        });
        everybody.sort_unstable_by_key(|subscriber: &Arc<Subscriber>| subscriber.number);
        everybody.dedup_by_key(|subscriber| subscriber.number);
        let groups = groups.into_values().map(|members| {
            // Start each publisher with a different member, because otherwise the first member would receive the
            // largest share.
            let next = broker.next_member.fetch_add(1, Ordering::Relaxed) % members.len();
            Group::new(members, next)
        });
        let mut route = Self::new(topic, everybody, groups.collect(), broker.bus.is_some());
        if !broker.histories.is_empty() {
            route.history = broker.histories.of(topic);
            route.is_special |= route.history.is_some();
            route.recipients += usize::from(route.history.is_some());
        }
        route
    }

    /// Returns the route for messages of other brokers to a topic with a history. Its receivers are the history and all
    /// subscribers outside queue groups. Group members have their own registrations at the backplane.
    pub(super) fn of_history(broker: &BrokerShared, topic: &str) -> Self {
        let found = Self::find(broker, topic);
        Self { groups: Vec::new(), is_for_bus: false, ..found }
    }

    pub(super) fn new(topic: &str, everybody: Vec<Arc<Subscriber>>, groups: Vec<Group>, is_for_bus: bool) -> Self {
        let is_special = is_for_bus || !groups.is_empty();
        Self {
            topic: topic.as_bytes().into(),
            recipients: everybody.len(),
            everybody,
            groups,
            is_for_bus,
            is_special,
            history: None,
            ring: None,
        }
    }

    fn entries(&self) -> usize {
        self.everybody.len() + self.groups.iter().map(|group| group.members.len()).sum::<usize>()
    }
}

impl Group {
    fn new(members: Vec<(Arc<Subscriber>, u16)>, next: usize) -> Self {
        Self { ready: members.len(), members, next, checked: 0 }
    }

    /// Creates a queue group with a single member, which receives all messages.
    pub(super) fn of_one(subscriber: &Arc<Subscriber>, id: u16) -> Self {
        Self::new(vec![(subscriber.clone(), id)], 0)
    }

    /// Removes the members for which `stays` returns false.
    fn retain(&mut self, stays: impl Fn(&Subscriber, u16) -> bool) {
        self.members.retain(|(member, id)| stays(member, *id));
        self.ready = self.members.len();
    }

    /// Selects the group member that receives the next message, in round-robin order. Skips members that had a backlog
    /// when they were last checked, unless all have one. Returns `None` if the group has no members.
    fn choose(&mut self, has_backlog: impl Fn(&Subscriber) -> bool) -> Option<(&Arc<Subscriber>, u16)> {
        // Check only a few of the members with a backlog again, so that many of them do not slow down each message.
        for _ in 0..(self.members.len() - self.ready).min(CHECKED_AT_ONCE) {
            self.checked = (self.checked + 1) % (self.members.len() - self.ready);
            let at = self.ready + self.checked;
            if !has_backlog(&self.members[at].0) {
                self.members.swap(self.ready, at);
                self.ready += 1;
            }
        }
        while self.ready > 0 {
            let at = self.next % self.ready;
            if !has_backlog(&self.members[at].0) {
                return self.take_turn(at);
            }
            self.ready -= 1;
            self.members.swap(at, self.ready);
        }
        self.take_turn(self.next.checked_rem(self.members.len())?)
    }

    fn take_turn(&mut self, at: usize) -> Option<(&Arc<Subscriber>, u16)> {
        self.next = at + 1;
        self.members.get(at).map(|(subscriber, id)| (subscriber, *id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueBounds;
    use crate::tests::{Member, message, runtime};
    use crate::{Broker, FIRST_OPERATION, Kind, Operations};
    use frisbee::rpc::ConnectionExt;
    use frisbee::testing::DetachedConnection;
    use std::cell::RefCell;

    /// A publisher in whose delivery, after the first queue, a member leaves its group if the broker permits it.
    struct Interrupted<'a> {
        broker: &'a Broker,
        leaves: RefCell<&'a mut Member>,
        budget: MemoryBudget,
    }

    impl Source for Interrupted<'_> {
        const PUBLISHES: bool = true;

        fn number(&self) -> u64 {
            if self.broker.0.subscriptions.try_write().is_some() {
                let _ = self.leaves.borrow_mut().send(Kind::Unsubscribe, 1, "");
            }
            u64::MAX
        }

        fn budget(&self) -> &MemoryBudget {
            &self.budget
        }

        fn route(&self, broker: &BrokerShared, topic: &str) -> Route {
            Route::find(broker, topic)
        }
    }

    /// Regression test: if a member of a queue group left while messages were being delivered, its messages were
    /// delivered to another member after later ones.
    #[test]
    fn group_order_survives_departure_in_delivery() {
        let (runtime, broker) = (runtime(), Broker::new());
        let [mut stays, mut leaves] = [(); 2].map(|()| Member::new(&broker, runtime.handle()));
        [&mut stays, &mut leaves].into_iter().for_each(|member| member.subscribe(1, "a", "g"));
        let budget = leaves.connection().memory_budget();
        let from = Interrupted { broker: &broker, leaves: RefCell::new(&mut leaves), budget };
        let mut fanout = Fanout::default();
        for number in 0..10 {
            let published = fanout.publish(&broker.0, &from, b"a", &message("a", number.to_string()).into());
            assert!(published.is_ok());
        }
        fanout.flush(&broker.0, &from);
        let (received, others) = (stays.received(), leaves.received());
        assert!(received.is_sorted(), "{received:?}");
        assert_eq!(received.len() + others.len(), 10);
    }

    /// Regression test: each message for a group searched all members with a backlog.
    #[test]
    fn members_with_backlog_slow_down_no_message() {
        let runtime = runtime();
        let connection = DetachedConnection::new(runtime.handle().clone(), usize::MAX).connection().clone();
        let (slow, waiting, lost) = Default::default();
        let bounds = Arc::new(QueueBounds { queue_max: 1, memory_max: 1, slow, waiting, lost });
        let operations = Operations(FIRST_OPERATION);
        let member = |number| Arc::new(Subscriber::new(number, connection.clone(), operations, bounds.clone()));
        let mut group = Group::new((0..1000).map(|number| (member(number), 1)).collect(), 0);
        let checks = Cell::new(0);
        let mut chosen = |is_ready: fn(u64) -> bool| {
            let has_backlog = |member: &Subscriber| {
                checks.set(checks.get() + 1);
                !is_ready(member.number)
            };
            group.choose(has_backlog).expect("group should have members").0.number
        };
        assert!((0..2000).all(|_| chosen(|number| number == 700) == 700));
        assert!(checks.take() < 30_000, "each member should be skipped once");
        for is_ready in [|_| false, |_| true] {
            let all: BTreeSet<_> = (0..1000).map(|_| chosen(is_ready)).collect();
            assert!(checks.take() < 10_000 && (all.len() == 1000 || is_ready(0)), "{} members", all.len());
        }
        let all: BTreeSet<_> = (0..1000).map(|_| chosen(|_| true)).collect();
        assert_eq!(all.len(), 1000, "members without a backlog should take turns");
    }
}
