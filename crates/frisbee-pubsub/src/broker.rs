//! The broker: a router that holds the subscriptions of all connections and delivers messages to them.

mod builder;
mod session;
mod subscriptions;

pub use self::session::BrokerSession;
use self::subscriptions::RemovedSubscriptions;
use super::bus::{Backplane, Bus, Interest, OutagePolicy};
use super::fanout::{Fanout, Published};
use super::follow::{Answer, NextOffset, ReplayMark, Request, RequestDefect, put_position};
use super::history::{self, Histories, History};
use super::presence::{PresenceRules, Presences};
use super::queue::{QueueBounds, QueueDelivery, Subscriber};
use super::{FIRST_OPERATION, Kind, Operations, Reason, put, refuse, split_name};
use crate::topics::Trie;
use frisbee::rpc::ConnectionExt;
use frisbee::{
    BatchEnd, CloseReason, Connection, ConnectionEvent, Declaration, MemoryCharge, Operation, Outbox, OverflowPolicy,
    Packet, PacketId, PeerKind, Routed, Router,
};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Default maximum size of a subscriber's queue in bytes. It is enough for three messages of the maximum size, or for
/// an eighth of a second at 1 Gbit/s.
const QUEUE_MAX: usize = 16 * 1024 * 1024;

/// Default maximum total size of all queues in bytes, enough for 64 full queues. A message that several subscribers
/// share counts once for each of them, so the actual memory use is usually lower.
const MEMORY_MAX: usize = 1024 * 1024 * 1024;

/// Default maximum number of subscriptions per connection. Typical programs have a few dozen. The limit bounds the cost
/// of publishing a message, which grows with the number of matching subscriptions: with 1024, publishing takes 0.15 ms
/// on a Zen 5.
const PER_CONNECTION_MAX: usize = 1024;

/// Default maximum number of subscriptions of all connections, about a million. A subscription that is the only
/// one to its topic is charged about 600 bytes.
const TOTAL_MAX: usize = 1024 * 1024;

/// Number of topics that count as one useless byte if the pattern of a FOLLOW request was compared with them without a
/// match. At the default abuse rate, a client can cause eight million such comparisons per second. A client with 1024
/// patterns that match none of a broker's 16 384 topics is delayed by two seconds.
const MISMATCHES_PER_BYTE: usize = 8;

/// Policy for subscribers that read messages more slowly than they arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum SlowSubscriberPolicy {
    /// Drops the oldest messages in the subscriber's queue. Messages that were published in one batch are dropped
    /// together. [`RecvError::Lagged`](super::RecvError::Lagged) reports to the subscriber how many messages it has
    /// lost.
    #[default]
    DropOldest,
    /// Closes the connection of the slow subscriber.
    Disconnect,
}

/// Operation on a topic that requires permission. Passed to the function of [`BrokerBuilder::permit`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TopicUse<'a> {
    /// The connection publishes to this topic.
    Publish(&'a str),
    /// The connection subscribes to this pattern.
    Subscribe(&'a str),
}

/// Function that decides whether a connection may publish or subscribe to a topic, set by [`BrokerBuilder::permit`].
type Permit = Arc<dyn Fn(&Connection, TopicUse<'_>) -> bool + Send + Sync>;

/// A router that delivers messages from publishers to subscribers.
///
/// It serves nine operations that start at [`FIRST_OPERATION`], or at the [configured
/// one](BrokerBuilder::first_operation). docs/pubsub.md describes their bodies. Clones share the same broker.
///
/// Publishing never waits for subscribers. Messages that a subscriber does not accept at once are queued, up to a
/// [maximum size](BrokerBuilder::queue_max). [`SlowSubscriberPolicy`] applies beyond it. Independently of the policy, a
/// connection is closed if it accepts no byte for the [write timeout](frisbee::Config::write_timeout), or hardly any
/// for longer.
///
/// ```
/// use frisbee_pubsub::{Broker, Client, SlowSubscriberPolicy};
/// use frisbee::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let broker = Broker::builder().queue_max(64 * 1024).slow(SlowSubscriberPolicy::Disconnect).build();
/// let server = Server::builder().bind("127.0.0.1:0", broker.clone()).await?;
/// # let address = server.local_addr();
/// # tokio::spawn(server.serve());
/// # let client = Client::connect(address).await?;
/// # let _weather = client.subscribe("weather.*").await?;
/// // While it serves:
/// println!("{} subscriptions, {} bytes wait for subscribers", broker.subscriptions(), broker.waiting());
/// # assert_eq!(broker.subscriptions(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Broker(pub(super) Arc<BrokerShared>);

/// Builder of a [`Broker`].
#[derive(Clone)]
#[must_use]
pub struct BrokerBuilder {
    operations: Operations,
    queue_max: usize,
    memory_max: usize,
    slow: SlowSubscriberPolicy,
    per_connection_max: usize,
    total_max: usize,
    backplane: Option<Arc<dyn Backplane>>,
    when_away: OutagePolicy,
    permit: Option<Permit>,
    history: Vec<(Box<str>, History)>,
    presence: PresenceRules,
    history_memory_max: usize,
    history_topics_max: usize,
}

/// State of a [`Broker`] that all of its connections share.
pub(super) struct BrokerShared {
    /// All subscriptions, by connection number and subscription id. Publishers look up only topics that are not in
    /// their route cache.
    pub(super) subscriptions: RwLock<Trie<(u64, u16), Target>>,
    /// Memory charges for the nodes of the subscription tree. Changed only while the lock of `subscriptions` is held.
    node_charges: Mutex<NodeCharges>,
    /// Number of changes to the subscriptions. A publisher remembers this number with its cached routes, and discards
    /// them when the number has changed.
    pub(super) version: AtomicU64,
    /// Counter that selects the queue group member that a publisher sends its first message to. Each publisher takes
    /// the next value, so that publishers start with different members.
    pub(super) next_member: AtomicUsize,
    next_connection: AtomicU64,
    pub(super) operations: Operations,
    /// Number of messages published since the broker was created.
    pub(super) published: AtomicU64,
    bounds: Arc<QueueBounds>,
    settings: BrokerBuilder,
    /// Link to other brokers, if a backplane is configured.
    pub(super) bus: Option<Bus>,
    pub(super) histories: Histories,
    pub(super) presences: Presences,
    #[cfg(feature = "typed")]
    pub(super) layouts: crate::layouts::Layouts,
}

/// Memory charges for the nodes of the broker's subscription tree.
#[derive(Default)]
struct NodeCharges {
    /// Number of tree nodes that are charged to a subscription that still exists.
    owned: usize,
    /// Memory charge for tree nodes that are still in use although the subscriptions that they were charged to have
    /// ended.
    orphans: Option<MemoryCharge>,
}

/// Entry of the subscription tree: the subscriber of a pattern and, if it is a member of a queue group, the group.
pub(super) struct Target {
    pub(super) subscriber: Arc<Subscriber>,
    pub(super) group: Option<Arc<str>>,
    /// Whether the subscription receives the presence of a topic, the list of its subscribers, instead of its messages.
    pub(super) watches: bool,
    /// Whether the subscriber detects missing messages by their positions. If so, the broker does not send reports of
    /// lost messages for this subscription.
    pub(super) is_exact: bool,
}

impl Broker {
    /// Creates a broker with the default settings.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Creates a builder with the default settings.
    pub fn builder() -> BrokerBuilder {
        BrokerBuilder {
            operations: Operations::starting_at(FIRST_OPERATION),
            queue_max: QUEUE_MAX,
            memory_max: MEMORY_MAX,
            slow: SlowSubscriberPolicy::default(),
            per_connection_max: PER_CONNECTION_MAX,
            total_max: TOTAL_MAX,
            backplane: None,
            when_away: OutagePolicy::default(),
            permit: None,
            history: Vec::new(),
            presence: PresenceRules::default(),
            history_memory_max: history::BYTES_MAX,
            history_topics_max: history::TOPICS_MAX,
        }
    }

    /// Returns the number of bytes in the queues of all subscribers. Bytes that several subscribers share count once
    /// for each.
    pub fn waiting(&self) -> usize {
        self.0.bounds.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of messages that were published, including those without subscribers.
    pub fn published(&self) -> u64 {
        self.0.published.load(Ordering::Relaxed)
    }

    /// Returns the number of messages that subscribers have lost, because they were too slow or do not accept messages
    /// of this size. A message counts once for each subscriber that lost it.
    pub fn lost(&self) -> u64 {
        self.0.bounds.lost.load(Ordering::Relaxed)
    }

    /// Returns the memory of all topic [histories](BrokerBuilder::history) in bytes.
    pub fn history_memory(&self) -> usize {
        self.0.histories.bytes()
    }

    /// Returns the number of subscriptions of all connections.
    pub fn subscriptions(&self) -> usize {
        self.0.subscriptions.read().len()
    }

    /// Handles a published message: delivers it to the subscribers of its topic, or rejects it.
    fn publish_packet(&self, session: &mut BrokerSession, packet: &Packet, outbox: &mut Outbox) -> Routed {
        let refused = self.0.operations.of(Kind::Refused);
        let Some((topic, _)) = split_name(&packet.body) else { return cut_off(packet) };
        if let Some(permit) = &self.0.settings.permit
            && let Err(refusal) = session.may_publish(permit, topic)
        {
            return reject(outbox, packet, refused, refusal);
        }
        match session.fanout.publish(&self.0, &*session.subscriber, topic, &packet.body) {
            Ok(Published::AsUsual) => {}
            Ok(Published::Slowly) => return Routed::Slow,
            Ok(Published::Refused) => {
                refuse(outbox, packet.id, refused, Reason::Backplane, &session.fanout.refusal);
            }
            Err(error) => return reject(outbox, packet, refused, (Reason::Topic, error.to_string())),
        }
        Routed::Continue
    }

    /// Rejects a subscription request that has failed. Returns the routing result: a successful request counts as slow,
    /// because it takes ten times as long as other packets.
    fn answered(
        &self,
        session: &BrokerSession,
        packet: &Packet,
        outcome: Result<(), Refusal>,
        outbox: &mut Outbox,
    ) -> Routed {
        let Err(refusal) = outcome else { return Routed::Slow };
        // Do not count the rejection as abuse if the connection is below its own limit, because other clients may have
        // filled the broker.
        let is_full = refusal.0 == Reason::Full && session.patterns.len() < self.0.settings.per_connection_max;
        let rejected = reject(outbox, packet, packet.operation, refusal);
        if is_full { Routed::Slow } else { rejected }
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("subscriptions", &self.subscriptions()).finish_non_exhaustive()
    }
}

impl fmt::Debug for BrokerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerBuilder").field("history", &self.history).finish_non_exhaustive()
    }
}

impl Default for Broker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
impl BrokerShared {
    /// Returns the maximum sizes in bytes of one subscriber's queue and of all queues together.
    pub(super) fn bounds(&self) -> (usize, usize) {
        (self.bounds.queue_max, self.bounds.memory_max)
    }

    pub(super) fn total_max(&self) -> usize {
        self.settings.total_max
    }
}

impl Router for Broker {
    type Session = BrokerSession;

    fn declaration(&self) -> Declaration {
        Declaration::default().operations([self.0.operations.range()])
    }

    fn connected(&self, connection: &Connection) -> BrokerSession {
        if let Some(bus) = self.0.bus.as_ref().filter(|_| !self.0.histories.is_empty()) {
            bus.join_histories(&self.0, &connection.memory_budget());
        }
        let number = self.0.next_connection.fetch_add(1, Ordering::Relaxed);
        let subscriber = Subscriber::new(number, connection.clone(), self.0.operations, self.0.bounds.clone());
        BrokerSession {
            subscriber: Arc::new(subscriber),
            patterns: HashMap::new(),
            fanout: Fanout::default(),
            charge: connection.charge(0),
            body_max: u32::MAX,
            permitted: None,
        }
    }

    fn route(&self, session: &mut BrokerSession, packet: Packet, outbox: &mut Outbox) -> Routed {
        let operations = self.0.operations;
        match operations.kind(packet.operation) {
            Some(Kind::Message) => self.publish_packet(session, &packet, outbox),
            Some(Kind::Subscribe) => {
                let Some((pattern, group)) = split_name(&packet.body) else { return cut_off(&packet) };
                let requested = self.0.check_subscription(&session.subscriber.connection, pattern, group);
                let subscribed = requested.and_then(|requested| self.0.subscribe(session, packet.id, requested, false));
                if matches!(subscribed, Ok(true)) {
                    put(outbox, packet.id, packet.operation, &[]);
                }
                if subscribed.is_ok() {
                    self.0.send_list(session, packet.id);
                }
                self.answered(session, &packet, subscribed.map(drop), outbox)
            }
            Some(Kind::Follow) if !self.0.histories.is_empty() => {
                let Some((pattern, rest)) = split_name(&packet.body) else { return cut_off(&packet) };
                let request = match Request::parse(rest, self.0.histories.topics_max) {
                    Err(RequestDefect::CutOff) => return cut_off(&packet),
                    Err(RequestDefect::Refused(reason, text)) => {
                        return reject(outbox, &packet, packet.operation, (reason, text.to_owned()));
                    }
                    Ok(request) => request,
                };
                let followed = self.0.follow(session, packet.id, pattern, &request);
                let mismatches = *followed.as_ref().unwrap_or(&0);
                let routed = self.answered(session, &packet, followed.map(drop), outbox);
                if mismatches > 0 { Routed::Charged(mismatches / MISMATCHES_PER_BYTE) } else { routed }
            }
            // Like a subscription, this changes tables of all connections, and it may notify all observers of a topic.
            Some(Kind::Unsubscribe) => {
                self.0.unsubscribe(session, packet.id);
                Routed::Slow
            }
            Some(Kind::Sync) => {
                // Deliver earlier messages of this connection first, because it may subscribe to their topics.
                session.fanout.flush(&self.0, &*session.subscriber);
                session.subscriber.answer_sync(packet.id, outbox);
                Routed::Slow
            }
            #[cfg(feature = "typed")]
            Some(Kind::Layout) => self.0.handle_layout(&session.subscriber, &packet.body, outbox),
            // Ignore the description, because a broker without typed topics keeps none.
            #[cfg(not(feature = "typed"))]
            Some(Kind::Layout) => Routed::Continue,
            Some(Kind::Lagged | Kind::Refused | Kind::Follow | Kind::Position) | None => {
                let text = format!("operation {} is not defined for brokers", packet.operation);
                reject(outbox, &packet, operations.of(Kind::Refused), (Reason::Operation, text))
            }
        }
    }

    fn overflow(&self, _session: &BrokerSession, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Wait
    }

    fn batch_ended(&self, session: &mut BrokerSession, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        // Flush the fan-out before `pull`, so that messages to this connection itself are sent in the same poll.
        session.fanout.flush(&self.0, &*session.subscriber);
        if session.subscriber.pull(batch.outbox, session.body_max) {
            batch.again_when_written();
        }
        session.fanout.refresh(&self.0);
        session.charge_topics(&self.0);
        None
    }

    fn event(&self, session: &mut BrokerSession, event: &mut ConnectionEvent<'_>) {
        match event {
            ConnectionEvent::PeerKnown(PeerKind::Native(hello)) => session.body_max = hello.body_max,
            ConnectionEvent::Idle => {
                session.fanout.release(&self.0);
                session.charge_topics(&self.0);
            }
            _ => {}
        }
    }

    fn disconnected(&self, mut session: BrokerSession, _reason: &CloseReason) {
        session.subscriber.close();
        #[cfg(feature = "typed")]
        self.0.layouts.forget(&session.subscriber.connection);
        // Deliver the packets of the connection's last read, because they have been routed but not delivered.
        session.fanout.flush(&self.0, &*session.subscriber);
        RemovedSubscriptions::begin(self.0.clone(), session.subscriber, session.patterns);
    }
}

/// Reason and text for the rejection of a packet.
type Refusal = (Reason, String);

/// Rejects a packet with a reply of the given operation. Returns a routing result that counts as abuse.
#[cold]
fn reject(outbox: &mut Outbox, packet: &Packet, operation: Operation, (reason, text): Refusal) -> Routed {
    refuse(outbox, packet.id, operation, reason, &text);
    Routed::Discarded
}

#[cold]
fn cut_off(packet: &Packet) -> Routed {
    let length = packet.body.len();
    Routed::close(format!("a packet of operation {} with {length} bytes ends within its topic", packet.operation))
}

impl BrokerShared {
    /// Discards all topic histories and starts a new epoch, which invalidates earlier positions. Notifies the
    /// subscribers of the new epoch. Called when an unknown number of messages from other brokers may be missing in the
    /// histories.
    pub(super) fn begin_epoch(&self) {
        let Some(bus) = self.bus.as_ref().filter(|_| !self.histories.is_empty()) else { return };
        let mut records = self.histories.lock();
        if !records.begin_epoch() {
            return;
        }
        let body = Answer { is_covered: true, epoch: records.epoch, topics: 0 }.encode();
        for interest in bus.histories() {
            for (id, subscriber) in interest.followers() {
                let (id, body) = (PacketId(id), body.clone());
                let mark = ReplayMark::Answer { id, body: body.clone().into() };
                subscriber.deliver(|q| q.control(id, self.operations.of(Kind::Follow), body, Some(mark)), &**interest);
            }
        }
    }

    /// Records that `missed` messages of another broker are missing in a topic's history, because they were lost
    /// between the brokers. Reports the loss to the subscribers of the topic.
    pub(super) fn record_gap(&self, from: &Interest, topic: &str, missed: u64) {
        let Some(history) = self.histories.of(topic) else { return };
        let mut records = self.histories.lock();
        let (ring, first) = self.histories.skip(&mut records, topic, history, missed, from);
        // Group the subscriptions by connection, so that each connection receives the topic position once.
        let mut connections = BTreeMap::<u64, (Arc<Subscriber>, Vec<u16>)>::new();
        self.subscriptions.read().for_each_match(topic, |(number, id), target| {
            if target.group.is_none() {
                let (_, ids) = connections.entry(*number).or_insert_with(|| (target.subscriber.clone(), Vec::new()));
                ids.extend((!target.is_exact).then_some(*id));
            }
        });
        let next = first.saturating_add(missed);
        // If the first messages of a topic are missing, subscribers have no position in this epoch yet. Send them the
        // position before the missing messages too, so that they can compute the number of these messages.
        let offsets = if first == 1 { vec![first, next] } else { vec![next] };
        for (subscriber, ids) in connections.into_values() {
            let fill = |queue: &mut QueueDelivery<'_>| {
                ids.iter().for_each(|id| queue.lag(PacketId(*id), self.operations, missed));
                if queue.follows() {
                    for offset in &offsets {
                        let mut body = Vec::new();
                        put_position(&mut body, topic, NextOffset { epoch: ring.epoch, offset: *offset });
                        queue.control(PacketId(0), self.operations.of(Kind::Position), body, None);
                        // Add a mark for each position, because the next position may belong to another segment.
                        let (id, ring, begins) = (PacketId(0), Arc::clone(&ring), first == 1);
                        queue.mark(ReplayMark::Messages { id, ring, begins, next: *offset });
                    }
                }
            };
            subscriber.deliver(fill, from);
        }
    }
}
