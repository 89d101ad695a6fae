//! Adds and removes subscriptions at the broker, and replays topic histories to new subscribers.

use super::session::{BrokerSession, Subscribed};
use super::{BrokerShared, Refusal, Target, TopicUse};
use crate::follow::{Answer, NextOffset, ReplayMark, Request, put_position};
use crate::history::Ring;
use crate::presence::Presences;
use crate::queue::{QueueDelivery, Subscriber};
use crate::topics::{TOPIC_MAX, check_pattern};
use crate::{Kind, Reason};
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, PacketId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum number of nodes in the subscription tree per permitted subscription. A pattern has up to 16 nodes, but
/// patterns usually share all nodes except one. Without the limit, patterns that share no nodes would use more memory
/// than the number of subscriptions suggests.
const NODES_PER_SUBSCRIPTION: usize = 4;

/// Memory of a subscription in bytes, excluding its nodes in the subscription tree and the two copies of its pattern.
const SUBSCRIPTION_COST: usize = 256;

/// Maximum memory in bytes of a node in the subscription tree, excluding its token. Includes the node's entry in its
/// parent's table, which takes the most memory if the table has two entries.
const NODE_COST: usize = 320;

/// Number of subscriptions of a closed connection that are removed in one batch. A batch takes about 10 us, during
/// which topic lookups and other tasks of the thread have to wait.
const REMOVED_AT_ONCE: usize = 16;

/// A subscription request that the broker has validated.
pub(super) struct Requested<'a> {
    pattern: &'a str,
    group: Option<Arc<str>>,
    /// Whether the subscription receives the presence of a topic, the list of its subscribers, instead of its messages.
    watches: bool,
    /// Name under which the subscriber is listed in the presence of the topic, or `None` if it is not listed.
    name: Option<Arc<str>>,
}

impl BrokerShared {
    /// Validates a subscription request, and fails with the reason and text of its rejection. Call this without a lock,
    /// because it calls functions of the user, which may use the broker.
    pub(super) fn check_subscription<'a>(
        &self,
        connection: &Connection,
        pattern: &'a [u8],
        group: &[u8],
    ) -> Result<Requested<'a>, Refusal> {
        let pattern = check_pattern(pattern).map_err(|error| (Reason::Topic, error.to_string()))?;
        let group = match group {
            [] => None,
            _ if group.len() > TOPIC_MAX => {
                return Err((Reason::Topic, format!("the name of a group must have at most {TOPIC_MAX} bytes")));
            }
            _ => {
                let group = std::str::from_utf8(group);
                Some(group.map_err(|_| (Reason::Topic, "the name of a group must be UTF-8".to_owned()))?.into())
            }
        };
        let permit = self.settings.permit.as_ref();
        if permit.is_some_and(|permit| !permit(connection, TopicUse::Subscribe(pattern))) {
            return Err((Reason::NotAllowed, format!("you may not subscribe to {pattern}")));
        }
        let watches = self.presences.is_watch(pattern, group.is_some())?;
        Ok(Requested { pattern, group, watches, name: self.presences.name(pattern, connection) })
    }

    /// Adds a subscription. `follows` states whether the client requested it with a FOLLOW packet, to start at a
    /// position in the histories of its topics.
    ///
    /// Returns whether the subscription is active, so that the caller can confirm it to the client. It is not active
    /// yet while the backplane registers its pattern. In that case, the client receives the confirmation when the
    /// pattern is registered. A subscription with `follows` is confirmed in any case.
    pub(super) fn subscribe(
        &self,
        session: &mut BrokerSession,
        id: PacketId,
        requested: Requested<'_>,
        follows: bool,
    ) -> Result<bool, Refusal> {
        let Requested { pattern, group, watches, name } = requested;
        if id.0 == 0 || session.patterns.contains_key(&id.0) {
            return Err((Reason::Id, format!("id {id} is 0 or in use by another subscription")));
        }
        if session.patterns.len() >= self.settings.per_connection_max {
            return Err((
                Reason::Full,
                format!("the limit of subscriptions is reached: the connection has {}", session.patterns.len()),
            ));
        }
        let presence = name.as_ref().map_or(0, |name| Presences::cost(pattern, name));
        let least = SUBSCRIPTION_COST + 2 * pattern.len() + group.as_deref().map_or(0, str::len) + presence;
        let Some(mut charge) = session.subscriber.connection.try_charge(least) else {
            return Err((Reason::Full, "the server's memory limit for this client is reached".to_owned()));
        };
        let is_exact = follows && self.covers(pattern);
        let target = Target { subscriber: session.subscriber.clone(), group: group.clone(), watches, is_exact };
        let mut subscriptions = self.subscriptions.write();
        let nodes_max = self.settings.total_max.saturating_mul(NODES_PER_SUBSCRIPTION);
        let before = subscriptions.nodes();
        // Check the limits under the lock that is held for the insertion. Otherwise, concurrent subscriptions could
        // exceed them together.
        if subscriptions.len() >= self.settings.total_max || before >= nodes_max {
            return Err((
                Reason::Full,
                format!("the limit of subscriptions is reached: the broker has {}", subscriptions.len()),
            ));
        }
        subscriptions.insert(pattern, (session.subscriber.number, id.0), target);
        // Increment the version under the lock, so that a reader of the new version finds the new subscription.
        self.version.fetch_add(1, Ordering::Release);
        let nodes = subscriptions.nodes() - before;
        // Lock order: the subscription tree, then the node charges.
        self.node_charges.lock().owned += nodes;
        drop(subscriptions);
        charge.resize(least + nodes * NODE_COST);
        let interest = self.bus.as_ref().map(|bus| {
            let interest = bus.join(&session.subscriber, id.0, pattern, group.as_ref(), follows);
            // Increment the version again, because `join` has added the subscription to an interest. The interest may
            // have cached routes for messages of other brokers without this subscription.
            self.version.fetch_add(1, Ordering::Release);
            interest
        });
        let is_active = follows
            || interest.as_ref().is_none_or(|interest| interest.is_joined_or_answers(&session.subscriber, id.0));
        if let Some(name) = &name {
            self.join_presence(&session.subscriber, pattern, name);
        }
        session.patterns.insert(id.0, Subscribed { pattern: pattern.into(), nodes, _charge: charge, interest, name });
        Ok(is_active)
    }

    /// Handles a FOLLOW packet: adds a subscription that first receives stored messages from the histories of its
    /// topics. Queues the reply and the stored messages for the connection. Returns the number of topics that were
    /// compared with the pattern without a match.
    pub(super) fn follow(
        &self,
        session: &mut BrokerSession,
        id: PacketId,
        pattern: &[u8],
        request: &Request<'_>,
    ) -> Result<usize, Refusal> {
        // Deliver earlier messages of this connection first, because they precede the subscription.
        let subscriber = session.subscriber.clone();
        session.fanout.flush(self, &*subscriber);
        let requested = self.check_subscription(&subscriber.connection, pattern, b"")?;
        // Hold the lock during registration and replay, so that each message arrives exactly once: in the replay or
        // through the queue.
        let mut records = self.histories.lock();
        self.subscribe(session, id, requested, true)?;
        records.is_fresh = false;
        let pattern = session.patterns[&id.0].pattern.clone();
        let (rings, mismatches) = records.matching(&pattern);
        let is_covered = self.covers(&pattern);
        let answer = Answer { is_covered, epoch: records.epoch, topics: rings.len() as u64 };
        let queue_max = subscriber.queue_max();
        subscriber.deliver(|queue| self.replay(queue, queue_max, id, answer, &rings, request), &*subscriber);
        drop(records);
        self.send_list(session, id);
        Ok(mismatches)
    }

    /// Returns whether every message that matches a pattern is recorded in a history. Presence messages are not.
    fn covers(&self, pattern: &str) -> bool {
        self.histories.covers(pattern) && !self.presences.reserves(pattern)
    }

    /// Sends the list of a topic's subscribers if the subscription with this id observes them. Must be called after the
    /// reply to the subscription request was queued, so that the list follows the reply.
    pub(super) fn send_list(&self, session: &BrokerSession, id: PacketId) {
        if let Some(Subscribed { pattern, .. }) = session.patterns.get(&id.0)
            && self.presences.reserves(pattern)
        {
            self.send_presence(&session.subscriber, id, pattern);
        }
    }

    fn replay(
        &self,
        queue: &mut QueueDelivery<'_>,
        queue_max: usize,
        id: PacketId,
        answer: Answer,
        rings: &[&Arc<Ring>],
        request: &Request<'_>,
    ) {
        queue.set_follows();
        let body = answer.encode();
        let mark = ReplayMark::Answer { id, body: body.clone().into() };
        queue.control(id, self.operations.of(Kind::Follow), body, Some(mark));
        for ring in rings {
            // Replay only messages that fit, because more would evict messages that are queued already.
            let room = queue_max.saturating_sub(queue.bytes()) / 8 * 7;
            let (first, bodies) = ring.replay(request.begin(ring), room);
            let mut position = Vec::new();
            put_position(&mut position, &ring.topic, NextOffset { epoch: ring.epoch, offset: first });
            queue.control(id, self.operations.of(Kind::Position), position, None);
            queue.mark(ReplayMark::Messages { id, ring: Arc::clone(ring), begins: false, next: first });
            let mut next = first;
            for body in &bodies {
                next = next.saturating_add(1);
                queue.push(id, self.operations, body);
                queue.mark(ReplayMark::Messages { id, ring: Arc::clone(ring), begins: false, next });
            }
        }
    }

    /// Cleans up after a subscription that has ended. Deregisters it at the backplane, so that it receives no more
    /// messages from other brokers. Also removes the subscriber from the list of the topic's subscribers.
    fn leave(&self, subscriber: &Subscriber, id: u16, subscribed: &Subscribed) {
        if let (Some(bus), Some(interest)) = (&self.bus, &subscribed.interest) {
            bus.leave(interest, subscriber.number, id);
        }
        if let Some(name) = &subscribed.name {
            self.leave_presence(subscriber, &subscribed.pattern, name);
        }
    }

    /// Removes a subscription. Ignores an unknown id, because the broker may have rejected the subscription.
    pub(super) fn unsubscribe(&self, session: &mut BrokerSession, id: PacketId) {
        let Some(subscribed) = session.patterns.remove(&id.0) else { return };
        // Shrink a table that uses less than an eighth of its capacity. Half of the new capacity remains free, so that
        // repeated removals seldom reallocate.
        if session.patterns.capacity() > 8 * session.patterns.len() {
            session.patterns.shrink_to(2 * session.patterns.len());
        }
        self.leave(&session.subscriber, id.0, &subscribed);
        let mut subscriptions = self.subscriptions.write();
        // Publishers hold this lock while they deliver messages for queue groups, so none arrives afterwards.
        let removed = subscriptions.remove(&subscribed.pattern, &(session.subscriber.number, id.0));
        self.disown_nodes(subscribed.nodes, subscriptions.nodes(), &session.subscriber);
        // Increment the version under the lock, so that a reader of the new version does not find the subscription.
        self.version.fetch_add(1, Ordering::Release);
        drop(subscriptions);
        debug_assert!(removed.is_some(), "subscription of a session should be in the subscription tree");
    }

    /// Updates the memory charge for tree nodes after subscriptions were removed. Nodes that were charged to the
    /// removed subscriptions may still be in use by others, and are then charged to the server. `owned` is the number
    /// of nodes that were charged to the removed subscriptions, and `all` is the number of nodes that remain in the
    /// tree.
    fn disown_nodes(&self, owned: usize, all: usize, subscriber: &Subscriber) {
        let charges = &mut *self.node_charges.lock();
        charges.owned -= owned;
        let orphans = (all - charges.owned) * NODE_COST;
        if orphans > 0 || charges.orphans.is_some() {
            charges.orphans.get_or_insert_with(|| subscriber.budget.charge(0)).resize(orphans);
        }
    }
}

/// Subscriptions of a closed connection that have not been removed yet.
pub(super) struct RemovedSubscriptions {
    broker: Arc<BrokerShared>,
    subscriber: Arc<Subscriber>,
    subscriptions: Vec<(u16, Subscribed)>,
}

impl RemovedSubscriptions {
    /// Removes the subscriptions of a closed connection. The first batch is removed immediately. A task removes the
    /// other batches and yields after each one, so that it does not block other tasks for long.
    pub(super) fn begin(
        broker: Arc<BrokerShared>,
        subscriber: Arc<Subscriber>,
        subscriptions: HashMap<u16, Subscribed>,
    ) {
        let runtime = subscriber.connection.runtime_handle().clone();
        let mut leaving = Self { broker, subscriber, subscriptions: subscriptions.into_iter().collect() };
        leaving.remove_some();
        if !leaving.subscriptions.is_empty() {
            runtime.spawn(async move {
                while !leaving.subscriptions.is_empty() {
                    tokio::task::yield_now().await;
                    leaving.remove_some();
                }
            });
        }
    }

    fn remove_some(&mut self) {
        let rest = self.subscriptions.len().saturating_sub(REMOVED_AT_ONCE);
        for (id, subscribed) in &self.subscriptions[rest..] {
            self.broker.leave(&self.subscriber, *id, subscribed);
        }
        let mut tree = self.broker.subscriptions.write();
        let mut owned = 0;
        for (id, Subscribed { pattern, nodes, .. }) in self.subscriptions.drain(rest..) {
            tree.remove(&pattern, &(self.subscriber.number, id));
            owned += nodes;
        }
        self.broker.disown_nodes(owned, tree.nodes(), &self.subscriber);
        // Increment the version once per batch, because each increment clears the route caches of all publishers.
        self.broker.version.fetch_add(1, Ordering::Release);
    }
}

impl Drop for RemovedSubscriptions {
    /// Removes the remaining subscriptions at once if the task is dropped, for example with its runtime.
    fn drop(&mut self) {
        while !self.subscriptions.is_empty() {
            self.remove_some();
        }
    }
}
