//! Client side of pub/sub as a [`Router`]: passes received messages to subscriptions, and replies to waiting calls.
//!
//! A broker sends a message once, regardless of how many subscriptions of the connection match it. The matching
//! subscriptions are looked up here, and are cached per topic until the subscriptions change. Consecutive messages of a
//! batch for the same subscriptions are delivered together.

#[cfg(test)]
mod tests;

use super::client::{Client, ClientShared};
use super::follow::{Answer, NextOffset, Positions};
use super::inbox::{Entry, Inbox, Message, TopicName};
use super::resume::{POSITIONS_MAX, Stream, gap};
use super::{FIRST_OPERATION, Kind, Reason, name, put, split_name};
use crate::topics::{TopicError, check_topic};
use bytes::{Buf, Bytes};
use frisbee::{
    BatchEnd, CloseReason, Connection, Declaration, LineLimit, Outbox, OverflowPolicy, Packet, PacketId, Routed,
    Router, tlv,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Maximum number of topics in the route cache of a client connection.
const REMEMBERED_MAX: usize = 1024;

/// Router for the connection of a pub/sub client. Mount it if the connection also carries other protocols.
///
/// The router serves a single connection and ignores further ones.
#[derive(Debug)]
pub struct ClientRouter(Arc<ClientShared>, ClientKind);

/// Whether a router serves the first connection of a client, or a connection that replaces a lost one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClientKind {
    First,
    /// A connection that replaces a lost one.
    Next,
}

impl ClientRouter {
    /// Creates a router for a broker with the default operations.
    pub fn new() -> Self {
        Self::starting_at(FIRST_OPERATION)
    }

    /// Creates a router for a broker with the [first operation](super::BrokerBuilder::first_operation) `first`.
    ///
    /// # Panics
    /// If one of the operations is not between 10 and 65 535.
    pub fn starting_at(first: u16) -> Self {
        Self(Arc::new(ClientShared::new(first)), ClientKind::First)
    }

    /// Creates a router for a connection that replaces a lost one.
    pub(super) fn again(shared: Arc<ClientShared>) -> Self {
        Self(shared, ClientKind::Next)
    }

    /// Returns the client of this router. It uses the connection that the router serves, once that connection exists.
    pub fn client(&self) -> Client {
        Client(self.0.clone(), None)
    }
}

impl Default for ClientRouter {
    fn default() -> Self {
        Self::new()
    }
}

/// State of a client's router for one connection: cached routes, received messages and topic positions.
#[derive(Debug, Default)]
pub struct ClientSession {
    /// Whether the router serves this connection. The router ignores all connections but the first.
    is_mine: bool,
    /// Version of the client's subscriptions when the routes were cached. If the version has changed, the routes are
    /// discarded.
    version: u64,
    by_topic: HashMap<Arc<str>, usize>,
    routes: Vec<Route>,
    /// Index of the route that was used last. The next message is likely to use it too.
    last: usize,
    /// Queue group subscription that received the last message, with its inbox. Cached for the next message. The id is
    /// 0 if there is none.
    member: (PacketId, Inboxes),
    /// Positions of topics that have no cached route.
    stream: Stream,
    /// Whether topic positions were discarded because the peer sent too many topics.
    is_lossy: bool,
    /// The history that is being replayed to one subscription, if any.
    replay: Option<Replay>,
    /// Messages of this batch for delivery to all inboxes in `to`.
    messages: Vec<Entry>,
    to: Inboxes,
}

type Inboxes = Arc<[Arc<Inbox>]>;

/// Cached route of a topic: the subscriptions that receive its messages.
#[derive(Debug)]
struct Route {
    topic: Arc<TopicName>,
    inboxes: Inboxes,
    /// Offset of the topic's next message, or 0 if it has no history.
    next: u64,
}

/// State of replaying a topic's history to one subscription.
#[derive(Debug)]
struct Replay {
    id: PacketId,
    topic: Arc<TopicName>,
    inboxes: Inboxes,
    next: u64,
}

impl Router for ClientRouter {
    type Session = ClientSession;

    fn declaration(&self) -> Declaration {
        Declaration::default().operations([self.0.operations.range()])
    }

    fn connected(&self, connection: &Connection) -> ClientSession {
        let is_mine = self.0.connected(connection, self.1 == ClientKind::Next);
        ClientSession { is_mine, ..ClientSession::default() }
    }

    #[cfg(feature = "typed")]
    fn event(&self, session: &mut ClientSession, event: &mut frisbee::ConnectionEvent<'_>) {
        if let frisbee::ConnectionEvent::PeerKnown(peer) = event
            && session.is_mine
        {
            self.0.announce_all(peer);
        }
    }

    fn route(&self, session: &mut ClientSession, packet: Packet, outbox: &mut Outbox) -> Routed {
        let id = packet.id;
        if !session.is_mine {
            return Routed::Continue;
        }
        match self.0.operations.kind(packet.operation) {
            Some(Kind::Message) => return session.receive(&self.0, id, packet.body),
            Some(Kind::Subscribe) => {
                self.0.handle_answer(id.0, Refusal::decode(&packet.body).map_or(Ok(()), Err));
            }
            Some(Kind::Sync) => {
                if !packet.body.is_empty() {
                    return Routed::close(NO_BROKER);
                }
                session.flush(&self.0);
                self.0.handle_sync();
            }
            Some(Kind::Lagged) => {
                let Some(count) = tlv::whole_varint(&packet.body) else {
                    return Routed::close(format!("{NO_BROKER}: malformed count of lost messages"));
                };
                session.flush(&self.0);
                self.0.handle_lag(id.0, count);
            }
            Some(Kind::Follow) => {
                session.settle(&self.0);
                session.flush(&self.0);
                let answer = match Answer::decode(&packet.body) {
                    Some(answer) => self.0.follow(id.0, |follow| follow.handle_answer(answer)).map_or(Ok(()), Ok),
                    None => Err(Refusal::decode(&packet.body).unwrap_or_else(Refusal::unreadable)),
                };
                self.0.handle_answer(id.0, answer);
            }
            Some(Kind::Position) => return session.handle_positions(&self.0, id, &packet.body),
            Some(Kind::Refused) => {
                let is_unknown = packet.body.first() == Some(&(Reason::Operation as u8));
                // Only FOLLOW has an id. The broker does not support histories, so subscribe without one, unless the
                // subscription was dropped.
                if is_unknown && id.0 != 0 {
                    if let Some(pattern) = self.0.begins(id.0) {
                        put(outbox, id, self.0.operations.of(Kind::Subscribe), &name(&pattern));
                        self.0.follow(id.0, super::resume::Follow::handle_plain);
                    }
                    return Routed::Continue;
                }
                let text = Refusal::decode(&packet.body).map(|refusal| refusal.text).unwrap_or_default();
                self.0.handle_refusal(&text);
                static LINE: LineLimit = LineLimit::new();
                if let Some(suppressed) = LINE.may_say(Instant::now()) {
                    tracing::warn!(target: "frisbee::pubsub", text, suppressed, "the broker refused a packet of this client");
                }
            }
            #[cfg(feature = "typed")]
            Some(Kind::Layout) => self.0.handle_layout(&packet.body),
            #[cfg(not(feature = "typed"))]
            Some(Kind::Layout) => {}
            Some(Kind::Unsubscribe) | None => {
                tracing::debug!(operation = %packet.operation, "dropped an unexpected packet");
            }
        }
        Routed::Continue
    }

    fn overflow(&self, _session: &ClientSession, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Route
    }

    fn batch_ended(&self, session: &mut ClientSession, _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        session.flush(&self.0);
        None
    }

    fn disconnected(&self, mut session: ClientSession, reason: &CloseReason) {
        if session.is_mine {
            session.settle(&self.0);
            session.flush(&self.0);
            session.forget();
            self.0.handle_stream(session.stream, session.is_lossy);
            self.0.handle_close(reason);
        }
    }
}

const NO_BROKER: &str = "invalid answer; the peer may not be a broker";

/// The reason why a broker rejected a request or a message.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Number of a [`Reason`], or 0 if the broker sent none.
    pub(crate) reason: u8,
    pub(crate) text: String,
}

impl Refusal {
    /// Decodes the body of a rejection, which consists of the number of a reason and a text.
    fn decode(body: &[u8]) -> Option<Self> {
        let (reason, text) = body.split_first()?;
        // Servers without a broker reply in another format. Do not show it as text.
        let text = str::from_utf8(text).ok().filter(|text| !text.contains(char::is_control));
        Some(text.map_or_else(Self::unreadable, |text| Self { reason: *reason, text: text.to_owned() }))
    }

    fn unreadable() -> Self {
        Self { reason: 0, text: NO_BROKER.to_owned() }
    }

    /// Creates the refusal of a request that could not be sent.
    pub(crate) fn unsent(error: &dyn std::fmt::Display) -> Self {
        Self { reason: 0, text: error.to_string() }
    }

    /// Returns whether the broker has reached a limit. A later request may succeed.
    pub(crate) fn is_full(&self) -> bool {
        self.reason == Reason::Full as u8
    }
}

impl ClientSession {
    fn receive(&mut self, shared: &ClientShared, id: PacketId, mut body: Bytes) -> Routed {
        let Some((topic, payload)) = split_name(&body) else {
            return Routed::close(format!("{NO_BROKER}: a message ends within its topic"));
        };
        let before = body.len() - payload.len();
        // A message of another topic follows the replay. On a bus, it may have the id of the subscription too.
        let is_replayed = |replay: &&mut Replay| replay.id == id && replay.topic.name.as_bytes() == topic;
        if let Some(replay) = self.replay.as_mut().filter(is_replayed) {
            let offset = replay.next;
            replay.next = offset.saturating_add(1);
            let (topic, inboxes) = (replay.topic.clone(), replay.inboxes.clone());
            if !is_same(&inboxes, &self.to) {
                self.flush(shared);
                self.to = inboxes;
            }
            body.advance(before);
            self.messages.push(Entry::Message(Message { topic, payload: body, offset }));
            return Routed::Continue;
        }
        if self.version != shared.version.load(Ordering::Acquire) {
            // Deliver the messages collected for the previous subscriptions before discarding their routes.
            self.settle(shared);
            self.forget();
            self.version = shared.version.load(Ordering::Acquire);
        }
        if self.routes.get(self.last).is_none_or(|last| last.topic.name.as_bytes() != topic) {
            match self.find(shared, topic) {
                Ok(found) => self.last = found,
                Err(error) => return Routed::close(format!("{NO_BROKER}: invalid topic: {error}")),
            }
        }
        let Route { topic, inboxes, next } = &mut self.routes[self.last];
        let mut offset = 0;
        let inboxes = if id.0 == 0 {
            if *next != 0 {
                offset = *next;
                *next = next.saturating_add(1);
            }
            &*inboxes
        } else {
            let (member, inboxes) = &mut self.member;
            if *member != id {
                (*member, *inboxes) = (id, shared.inbox(id.0).into_iter().collect());
            }
            inboxes
        };
        // There is no inbox if the subscription has just been dropped.
        if inboxes.is_empty() {
            return Routed::Continue;
        }
        let topic = topic.clone();
        if !is_same(inboxes, &self.to) {
            let inboxes = inboxes.clone();
            // Deliver the messages of the previous inboxes first, because they arrived earlier.
            self.flush(shared);
            self.to = inboxes;
        }
        body.advance(before);
        self.messages.push(Entry::Message(Message { topic, payload: body, offset }));
        Routed::Continue
    }

    /// Handles a packet with topic positions. They belong to live messages if `id` is 0, and otherwise to the replay
    /// for the subscription `id`.
    fn handle_positions(&mut self, shared: &ClientShared, id: PacketId, body: &[u8]) -> Routed {
        for position in Positions(body) {
            let Some((topic, next)) = position else {
                return Routed::close(format!("{NO_BROKER}: a position is cut off"));
            };
            let Ok(topic) = check_topic(topic) else { return Routed::close(format!("{NO_BROKER}: invalid topic")) };
            if next.offset == 0 {
                return Routed::close(format!("{NO_BROKER}: a position of 0"));
            }
            self.settle(shared);
            self.flush(shared);
            self.forget();
            let topic = Arc::<str>::from(topic);
            if id.0 == 0 {
                let stored = self.stream.get(&topic).copied().filter(|stored| stored.epoch == next.epoch);
                shared.handle_gap(&topic, gap(stored, next));
                self.set_position(shared, topic, next);
            } else if shared.follow(id.0, |follow| follow.handle_position(&topic, next)).is_some() {
                let name = TopicName { name: topic, epoch: next.epoch };
                let inboxes = shared.inbox(id.0).into_iter().collect();
                self.replay = Some(Replay { id, topic: Arc::new(name), inboxes, next: next.offset });
            }
        }
        Routed::Continue
    }

    /// Stores the position of the next live message of a topic.
    fn set_position(&mut self, shared: &ClientShared, topic: Arc<str>, next: NextOffset) {
        if self.stream.len() >= POSITIONS_MAX && !self.stream.contains_key(&topic) {
            self.stream = Stream::new();
            self.is_lossy = true;
            shared.handle_discarded_stream();
        }
        self.stream.insert(topic, next);
    }

    /// Ends the current replay of a topic's history, if there is one. Records the position after the replayed messages,
    /// at which live messages continue.
    fn settle(&mut self, shared: &ClientShared) {
        let Some(replay) = self.replay.take() else { return };
        self.forget();
        let topic = replay.topic.name.clone();
        let next = NextOffset { epoch: replay.topic.epoch, offset: replay.next };
        let stored = self.stream.get(&topic).copied();
        if stored.is_none_or(|stored| stored.epoch != next.epoch || stored.offset < next.offset) {
            self.set_position(shared, topic.clone(), next);
        }
        let stream = self.stream.get(&topic).copied().unwrap_or(next);
        shared.follow(replay.id.0, |follow| {
            follow.handle_replayed(&topic, next, stream);
            super::resume::PrecedingGap::None
        });
    }

    /// Moves the collected messages to the inboxes of their subscriptions.
    fn flush(&mut self, shared: &ClientShared) {
        if self.messages.is_empty() {
            return;
        }
        if let Some((last, others)) = self.to.split_last() {
            for inbox in others {
                inbox.extend(self.messages.iter().cloned(), shared.inbox_max);
            }
            last.extend(self.messages.drain(..), shared.inbox_max);
        }
        // Discard the messages if all their subscriptions were dropped.
        self.messages.clear();
    }

    /// Returns the index of a topic's route. If the route is not cached, looks up the subscriptions that match the
    /// topic.
    fn find(&mut self, shared: &ClientShared, topic: &[u8]) -> Result<usize, TopicError> {
        let text = std::str::from_utf8(topic).map_err(|_| TopicError::NotText)?;
        if let Some(stored) = self.by_topic.get(text) {
            return Ok(*stored);
        }
        check_topic(topic)?;
        if self.routes.len() >= REMEMBERED_MAX {
            self.forget();
        }
        let name = Arc::<str>::from(text);
        self.by_topic.insert(name.clone(), self.routes.len());
        let (inboxes, follows) = shared.matching(text);
        if !follows {
            // The position may be outdated, because the connection may not have received all messages since.
            self.stream.remove(text);
        }
        let stored = self.stream.get(text);
        let (epoch, next) = stored.map_or((0, 0), |next| (next.epoch, next.offset));
        let topic = Arc::new(TopicName { name, epoch });
        self.routes.push(Route { topic, inboxes: inboxes.into(), next });
        Ok(self.routes.len() - 1)
    }

    fn forget(&mut self) {
        self.by_topic = HashMap::new();
        // Keep the positions of the discarded routes. After a reconnect, lost messages are detected from them.
        for Route { topic, next, .. } in std::mem::take(&mut self.routes) {
            if next != 0 {
                self.stream.insert(topic.name.clone(), NextOffset { epoch: topic.epoch, offset: next });
            }
        }
        self.last = 0;
        self.member = Default::default();
    }
}

/// Returns whether two lists contain the same inboxes. Different topics often have the same subscriptions.
fn is_same(one: &Inboxes, other: &Inboxes) -> bool {
    let has_same = || one.len() == other.len() && one.iter().zip(&**other).all(|(one, other)| Arc::ptr_eq(one, other));
    Arc::ptr_eq(one, other) || has_same()
}
