//! From a publisher to its subscribers: the packets that one connection publishes in a turn, and their subscribers.
//!
//! Publishing takes a look into a table of this connection, from topics to subscribers. Only a topic that is not there
//! is looked up in the broker's tree, under its lock. The table is cleared when any subscription has been added or
//! removed, which is detected by a number that only grows. Packets for the same subscribers are encoded in a row, and
//! at the end of the turn each subscriber's queue is locked, and its task woken, once.

use super::Kind;
use super::broker::{BrokerShared, Target};
use super::bus::PublishOutcome;
use super::follow::{NextOffset, ReplayMark, put_position};
use super::history::{History, Recording, Records, Ring};
use super::queue::{QueueDelivery, QueueSegment, Subscriber};
use crate::topics::{TopicError, check_topic};
use bytes::Bytes;
use frisbee::{MemoryBudget, PacketId};
use parking_lot::MutexGuard;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Topics and subscribers that a connection remembers, counted together. A publisher has few topics; a publisher with
/// many looks them up again after so many.
const REMEMBERED_MAX: usize = 16 * 1024;

/// The memory of a remembered topic in addition to its name, and of each of its subscribers, in bytes.
const ROUTE_COST: usize = 320;
const SUBSCRIBER_COST: usize = 32;

/// Subscribers of a turn's packets, counted once for each run of packets. Those beyond it are served before the end of
/// the turn.
const DELIVERIES_MAX: usize = 16 * 1024;

/// From this length on a message is a run of its own, so that its body is shared and not copied.
const LARGE: usize = 4 * 1024;

/// Bodies of these lengths are copied once, before they are shared: they may be slices of a read buffer of 128 KiB, all
/// of it kept by a slow subscriber although it is charged for the slice alone. Shorter ones are copied in any case,
/// longer ones have most of their memory to themselves.
const COPIED_ONCE: RangeInclusive<usize> = 16 * 1024..=64 * 1024;

/// Runs whose memory a thread keeps for its connections. Publishers that alternate between topics need one for each
/// change.
const RUNS_KEPT: usize = 64;

thread_local! {
    /// Runs to use again: a connection that publishes nothing holds none.
    static RUNS: Cell<Vec<RouteBatch>> = const { Cell::new(Vec::new()) };
}

/// The publishing side of one connection.
#[derive(Debug, Default)]
pub(super) struct Fanout {
    /// The number of the subscriptions that the table reflects.
    version: u64,
    by_topic: HashMap<Arc<[u8]>, usize>,
    routes: Vec<Route>,
    remembered: usize,
    /// The memory of the table, in bytes.
    memory: usize,
    /// The last route, which mostly is the next one too.
    last: usize,
    /// Packets of this turn; those after `used` are free.
    runs: Vec<RouteBatch>,
    used: usize,
    deliveries: usize,
    /// Messages of this turn, which are not in the broker's count yet.
    published: u64,
    /// Messages of topics with history are among the runs.
    records: bool,
    directed: Vec<GroupMessage>,
    /// Why the last message was refused.
    refusal: String,
}

/// The origin of messages: a connection of this broker, or the bus.
pub(super) trait Source {
    /// Messages of this origin are counted as published, and forwarded to the bus.
    const PUBLISHES: bool;

    /// The number of the connection, which needs not be woken.
    fn number(&self) -> u64;

    /// The account of shared memory.
    fn budget(&self) -> &MemoryBudget;

    /// Looks up the receivers of a topic from this origin.
    fn route(&self, broker: &BrokerShared, topic: &str) -> Route;
}

impl Source for Subscriber {
    const PUBLISHES: bool = true;

    fn number(&self) -> u64 {
        self.number
    }

    fn budget(&self) -> &MemoryBudget {
        self.budget()
    }

    fn route(&self, broker: &BrokerShared, topic: &str) -> Route {
        Route::find(broker, topic)
    }
}

/// The subscribers of a topic.
#[derive(Debug)]
pub(super) struct Route {
    topic: Arc<[u8]>,
    everybody: Vec<Arc<Subscriber>>,
    /// These, and the history: a message without a subscriber is recorded too.
    takers: usize,
    groups: Vec<Group>,
    /// Other brokers may have subscribers, too.
    is_for_bus: bool,
    /// More work than for a single route.
    is_special: bool,
    history: Option<History>,
    /// The ring of the topic when it was used last.
    ring: Option<Arc<Ring>>,
}

/// The members of a queue group, and whose turn it is.
#[derive(Debug)]
pub(super) struct Group {
    members: Vec<(Arc<Subscriber>, u16)>,
    next: usize,
}

/// Consecutive packets with the same route.
#[derive(Debug)]
struct RouteBatch {
    route: usize,
    packets: QueueSegment,
    recording: Option<Recording>,
}

/// A message for one member of a queue group.
#[derive(Debug)]
struct GroupMessage {
    subscriber: Arc<Subscriber>,
    id: u16,
    body: Bytes,
}

/// The number of groups up to which their count does not matter for the time of a message.
const GROUPS_AT_ONCE: usize = 64;

/// How a message was taken in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Published {
    AsUsual,
    /// Its topic had to be looked up, or there are many groups: either may take a thousand times as long.
    Slowly,
    /// The backplane rejects it, so it is not delivered. See [`Fanout::refusal`].
    Refused,
}

impl Fanout {
    /// Publishes a message: `topic` is that of `body`, which is sent unchanged.
    pub(super) fn publish<S: Source>(
        &mut self,
        broker: &BrokerShared,
        from: &S,
        topic: &[u8],
        body: &Bytes,
    ) -> Result<Published, TopicError> {
        let mut published = Published::AsUsual;
        if self.version != broker.version.load(Ordering::Acquire) {
            self.flush(broker, from);
            self.forget(broker);
        }
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
        if found.is_special {
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
            if groups_are_here && !found.groups.is_empty() {
                // As long a one is not copied into queues.
                let is_shared = body.len() >= *COPIED_ONCE.start();
                let directed = if is_shared { from.budget().share(body.clone()) } else { body.clone() };
                for group in &mut found.groups {
                    let (subscriber, id) = group.choose();
                    self.directed.push(GroupMessage { subscriber: subscriber.clone(), id, body: directed.clone() });
                }
                self.deliveries += found.groups.len();
                if found.groups.len() > GROUPS_AT_ONCE {
                    published = Published::Slowly;
                }
            }
            self.records |= found.history.is_some();
        }
        if found.takers > 0 {
            let takers = found.takers;
            self.run(route, body.len(), takers).push(PacketId(0), broker.operations, body);
        }
        if self.deliveries > DELIVERIES_MAX {
            self.flush(broker, from);
        }
        Ok(published)
    }

    /// The run for the next body of a route.
    #[inline(always)]
    fn run(&mut self, route: usize, length: usize, takers: usize) -> &mut QueueSegment {
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
            self.deliveries += takers;
        }
        &mut self.runs[self.used - 1].packets
    }

    /// Records the messages of topics with history. While the result is held, they are not in the queue of any subscriber
    /// yet, and no subscription with a history begins.
    #[cold]
    fn record<'a>(&mut self, broker: &'a BrokerShared, from: &impl Source) -> MutexGuard<'a, Records> {
        let mut records = broker.histories.lock();
        let is_current = self.version == broker.version.load(Ordering::Acquire);
        for run in &mut self.runs[..self.used] {
            let route = &mut self.routes[run.route];
            let (Some(history), Ok(topic)) = (route.history, std::str::from_utf8(&route.topic)) else { continue };
            if !is_current {
                // Subscriptions that began before the lock was taken rely on it.
                route.everybody = Route::find(broker, topic).everybody;
            }
            let packets = &mut run.packets;
            let recorded =
                broker.histories.record(&mut records, &mut route.ring, topic, history, packets, from.budget());
            run.recording = Some(recorded);
        }
        records
    }

    /// Ends a turn: passes on the packets that have been collected.
    pub(super) fn flush(&mut self, broker: &BrokerShared, from: &impl Source) {
        if self.published > 0 {
            broker.published.fetch_add(std::mem::take(&mut self.published), Ordering::Relaxed);
        }
        if self.deliveries == 0 {
            return;
        }
        self.deliveries = 0;
        let records = std::mem::take(&mut self.records).then(|| self.record(broker, from));
        let runs = &mut self.runs[..self.used];
        for packets in runs.iter_mut().map(|run| &mut run.packets.packets) {
            packets.share();
            if packets.shared_len() > 0 {
                packets.map_shared(|bytes| from.budget().share(bytes));
            }
        }
        if let [run] = runs {
            for subscriber in &self.routes[run.route].everybody {
                subscriber.deliver(|queue| run.share(queue, broker), from);
            }
        } else {
            deliver_runs(runs, &self.routes, broker, from);
        }
        drop(records);
        self.directed.sort_by_key(|message| message.subscriber.number);
        for messages in self.directed.chunk_by(|a, b| a.subscriber.number == b.subscriber.number) {
            let fill = |queue: &mut QueueDelivery<'_>| {
                messages.iter().for_each(|message| queue.push(PacketId(message.id), broker.operations, &message.body));
            };
            messages[0].subscriber.deliver(fill, from);
        }
        self.directed = Vec::new();
        for run in runs.iter_mut() {
            run.packets.clear();
            run.recording = None;
        }
        self.used = 0;
        self.runs.truncate(RUNS_KEPT);
        RUNS.set(std::mem::take(&mut self.runs));
    }

    /// Clears the table if subscriptions have changed, so that it keeps no subscriber that has left.
    pub(super) fn refresh(&mut self, broker: &BrokerShared) {
        if !self.routes.is_empty() && self.version != broker.version.load(Ordering::Acquire) {
            self.forget(broker);
        }
    }

    /// The memory of the table, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Why the last message that was refused was.
    pub(super) fn refusal(&self) -> &str {
        &self.refusal
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.by_topic.len()
    }

    /// Frees the table, for a connection that publishes nothing at present.
    pub(super) fn release(&mut self, broker: &BrokerShared) {
        if self.used == 0 {
            self.forget(broker);
        }
    }

    fn forget(&mut self, broker: &BrokerShared) {
        debug_assert_eq!(self.used, 0, "runs know their routes by their places");
        self.by_topic = HashMap::new();
        self.routes = Vec::new();
        self.remembered = 0;
        self.memory = 0;
        self.last = 0;
        self.version = broker.version.load(Ordering::Acquire);
    }

    /// The route of a topic, from the table or the broker's tree.
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

/// Passes a message on to other brokers.
#[cold]
fn pass_on(broker: &BrokerShared, route: &Route, body: &Bytes) -> Result<PublishOutcome, String> {
    let (Some(bus), Ok(topic)) = (&broker.bus, std::str::from_utf8(&route.topic)) else {
        return Ok(PublishOutcome::Local);
    };
    bus.publish(topic, body).map_err(|unsent| unsent.to_string())
}

/// Delivers several runs, so that each subscriber gets all of its own at once and in order.
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
    /// Adds the packets to the queue of a subscriber.
    #[inline(always)]
    fn share(&self, queue: &mut QueueDelivery<'_>, broker: &BrokerShared) {
        match &self.recording {
            Some(recording) if queue.follows() => self.share_recorded(queue, recording, broker),
            _ => queue.share(&self.packets),
        }
    }

    fn share_recorded(&self, queue: &mut QueueDelivery<'_>, recording: &Recording, broker: &BrokerShared) {
        let ring = recording.ring.clone();
        if recording.first == 1 {
            let mut body = Vec::new();
            put_position(&mut body, &ring.topic, NextOffset { epoch: ring.epoch, offset: 1 });
            queue.control(PacketId(0), broker.operations.of(Kind::Position), body, None);
        }
        queue.share(&self.packets);
        queue.mark(ReplayMark::Messages { id: PacketId(0), ring, next: recording.end() });
    }
}

impl Route {
    /// Looks a topic up. A connection with several subscriptions that match is there once; members of groups with the
    /// same name and different patterns are one group.
    fn find(broker: &BrokerShared, topic: &str) -> Self {
        let mut everybody = Vec::new();
        // In order, since each takes the next number below: that is the same in each run of a simulation.
        let mut groups = BTreeMap::<Arc<str>, Vec<_>>::new();
        broker.subscriptions.read().for_each_match(topic, |(_, id), Target { subscriber, group, .. }| match group {
            None => everybody.push(subscriber.clone()),
            Some(group) => groups.entry(group.clone()).or_default().push((subscriber.clone(), *id)),
        });
        everybody.sort_unstable_by_key(|subscriber: &Arc<Subscriber>| subscriber.number);
        everybody.dedup_by_key(|subscriber| subscriber.number);
        let groups = groups.into_values().map(|members| {
            // Publishers begin with different members, or the first one would get the most.
            let next = broker.next_member.fetch_add(1, Ordering::Relaxed) % members.len();
            Group { members, next }
        });
        let mut route = Self::new(topic, everybody, groups.collect(), broker.bus.is_some());
        if !broker.histories.is_empty() {
            route.history = broker.histories.of(topic);
            route.is_special |= route.history.is_some();
            route.takers += usize::from(route.history.is_some());
        }
        route
    }

    /// For a message of another broker to a topic with a history: all subscribers, and the history.
    pub(super) fn of_history(broker: &BrokerShared, topic: &str) -> Self {
        let found = Self::find(broker, topic);
        Self { groups: Vec::new(), is_for_bus: false, ..found }
    }

    pub(super) fn new(topic: &str, everybody: Vec<Arc<Subscriber>>, groups: Vec<Group>, is_for_bus: bool) -> Self {
        let is_special = is_for_bus || !groups.is_empty();
        Self {
            topic: topic.as_bytes().into(),
            takers: everybody.len(),
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
    /// For a subscription that is to get all.
    pub(super) fn of_one(subscriber: &Arc<Subscriber>, id: u16) -> Self {
        Self { members: vec![(subscriber.clone(), id)], next: 0 }
    }

    /// The member that gets the next message: in turn, passing over late ones if another is not.
    fn choose(&mut self) -> (&Arc<Subscriber>, u16) {
        let count = self.members.len();
        let first = self.next;
        let ready = (0..count).map(|step| (first + step) % count).find(|at| !self.members[*at].0.has_backlog());
        let chosen = ready.unwrap_or(first);
        self.next = (chosen + 1) % count;
        let (subscriber, id) = &self.members[chosen];
        (subscriber, *id)
    }
}
