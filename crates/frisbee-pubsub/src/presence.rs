//! Presence: the names of the subscribers of a topic, published as messages of a reserved topic.
//!
//! # Decisions
//!
//! The table stays locked while a change is queued for all observers, and while the list is queued for a new observer.
//! Every queue therefore receives changes in the same order, and a list includes exactly the changes made before it.

use super::broker::{BrokerShared, Target};
use super::inbox::{RecvError, Subscription};
use super::queue::Subscriber;
use super::{Reason, name};
use crate::client::{Client, PubSubError};
use crate::topics::{check_topic, covers};
use bytes::Bytes;
use frisbee::{Connection, PacketId};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prefix of reserved topics that report who subscribes to another topic. The name of the other topic follows the
/// prefix.
const PREFIX: &str = "$presence.";

/// Maximum length of a subscriber's name in bytes, equal to that of a topic.
const NAME_MAX: usize = 255;

/// Maximum number of names in the list of a topic's subscribers, which limits the message to about 300 KB. Further
/// names are counted but not listed.
const LISTED_MAX: usize = 1000;

/// Maximum number of subscriber names that a client remembers. The limit is needed because the broker may be hostile.
const REMEMBERED_MAX: usize = 64 * 1024;

/// Memory in bytes of a subscription in the list of a topic's subscribers, excluding the topic and the subscriber's
/// name. Includes its entries in three tables.
const PRESENCE_COST: usize = 256;

/// Function that returns the name of a connection, or `None` if it has none.
pub(super) type PresenceNameFn = dyn Fn(&Connection) -> Option<String> + Send + Sync;

/// Patterns of the topics that have presence, each with the function that determines the name of a subscriber.
pub(super) type PresenceRules = Vec<(Box<str>, Arc<PresenceNameFn>)>;

/// Names of the current subscribers of each topic that has presence.
pub(super) struct Presences {
    rules: PresenceRules,
    topics: Mutex<BTreeMap<Arc<str>, Names>>,
}

/// Subscribers of a topic by name. Each name has a map from the number of each connection with this name to its number
/// of subscriptions.
type Names = BTreeMap<Arc<str>, BTreeMap<u64, u32>>;

impl Presences {
    pub(super) fn new(rules: PresenceRules) -> Self {
        Self { rules, topics: Mutex::default() }
    }

    /// Returns the function that determines the names of a topic's subscribers, if the topic has presence.
    fn rule(&self, topic: &str) -> Option<&PresenceNameFn> {
        self.rules.iter().find(|(pattern, _)| covers(pattern, topic)).map(|(_, name)| &**name)
    }

    /// Returns whether a topic is reserved. Only the broker may publish to reserved topics.
    pub(super) fn reserves(&self, topic: &str) -> bool {
        !self.rules.is_empty() && topic.starts_with(PREFIX)
    }

    /// Returns whether a subscription observes the subscribers of a topic instead of its messages. Fails if the topic's
    /// subscribers are not listed, or if the subscription has a wildcard or a queue group.
    pub(super) fn is_watch(&self, pattern: &str, has_group: bool) -> Result<bool, (Reason, String)> {
        if !self.reserves(pattern) {
            return Ok(false);
        }
        let topic = &pattern[PREFIX.len()..];
        if has_group || check_topic(topic.as_bytes()).is_err() {
            let text =
                format!("invalid subscription to {pattern}: presence is of one topic, without wildcards and group");
            return Err((Reason::Topic, text));
        }
        match self.rule(topic) {
            Some(_) => Ok(true),
            None => Err((Reason::Topic, format!("topic {topic} has no presence"))),
        }
    }

    /// Returns the name under which a subscriber is listed, or `None` if it should not be listed.
    pub(super) fn name(&self, pattern: &str, connection: &Connection) -> Option<Arc<str>> {
        if self.rules.is_empty() || self.reserves(pattern) || check_topic(pattern.as_bytes()).is_err() {
            return None;
        }
        let name = self.rule(pattern)?(connection)?;
        (1..=NAME_MAX).contains(&name.len()).then(|| name.into())
    }

    /// Returns the memory in bytes that a subscription in the list of a topic's subscribers occupies.
    pub(super) fn cost(topic: &str, name: &str) -> usize {
        PRESENCE_COST + topic.len() + name.len()
    }
}

impl BrokerShared {
    /// Adds a subscription to the list of a topic's subscribers. Notifies the observers of the topic if it is the first
    /// subscription of its connection.
    pub(super) fn join_presence(&self, subscriber: &Subscriber, topic: &str, name: &Arc<str>) {
        let mut topics = self.presences.topics.lock();
        let names = topics.entry(topic.into()).or_default();
        let connections = names.entry(name.clone()).or_default();
        let subscriptions = connections.entry(subscriber.number).or_default();
        *subscriptions += 1;
        if *subscriptions == 1 {
            // Notify under the lock, so that observers receive the events in the order of the changes.
            let event = json!({ "joined": **name, "connections": connections.len() });
            self.notify_watchers(subscriber, topic, &event);
        }
    }

    /// Removes a subscription that [`join_presence`](Self::join_presence) added to the list of a topic's subscribers.
    pub(super) fn leave_presence(&self, subscriber: &Subscriber, topic: &str, name: &str) {
        let mut topics = self.presences.topics.lock();
        let Some(names) = topics.get_mut(topic) else { return };
        let Some(connections) = names.get_mut(name) else { return };
        let Some(subscriptions) = connections.get_mut(&subscriber.number) else { return };
        *subscriptions -= 1;
        if *subscriptions > 0 {
            return;
        }
        connections.remove(&subscriber.number);
        let left = connections.len();
        if left == 0 {
            names.remove(name);
            if names.is_empty() {
                topics.remove(topic);
            }
        }
        // Notify under the lock, so that observers receive the events in the order of the changes.
        self.notify_watchers(subscriber, topic, &json!({ "left": name, "connections": left }));
    }

    fn notify_watchers(&self, from: &Subscriber, topic: &str, event: &Value) {
        let watched = format!("{PREFIX}{topic}");
        let body = message(&watched, event);
        self.subscriptions.read().for_each_match(&watched, |(_, id), Target { subscriber, watches, .. }| {
            if *watches {
                subscriber.deliver(|queue| queue.push(PacketId(*id), self.operations, &body), from);
            }
        });
    }

    /// Sends the list of a topic's subscribers to a subscription that observes them.
    pub(super) fn send_presence(&self, subscriber: &Subscriber, id: PacketId, pattern: &str) {
        let Some(topic) = pattern.strip_prefix(PREFIX) else { return };
        // Hold the lock until the list is queued, so that no event is queued before the list that it changes.
        let topics = self.presences.topics.lock();
        let names = topics.get(topic);
        let listed = names.into_iter().flatten().take(LISTED_MAX);
        let listed: serde_json::Map<_, _> = listed.map(|(name, of)| (name.to_string(), of.len().into())).collect();
        let omitted = names.map_or(0, BTreeMap::len) - listed.len();
        let body = message(pattern, &json!({ "present": listed, "omitted": omitted }));
        // The queue does not charge long bodies, because it assumes that they are shared and charged already.
        let body = subscriber.budget.share(body);
        subscriber.deliver(|queue| queue.push(id, self.operations, &body), subscriber);
    }
}

fn message(topic: &str, event: &Value) -> Bytes {
    let mut body = name(topic);
    body.extend_from_slice(event.to_string().as_bytes());
    body.into()
}

/// Change in the list of a topic's subscribers, as returned by [`Presence::recv`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PresenceEvent {
    /// List of the current subscribers. Sent when the subscription starts and after each reconnect.
    Present {
        /// Number of subscribed connections for each name. Contains the first 1000 names in alphabetical order.
        connections: BTreeMap<String, u64>,
        /// Number of names that were omitted, because the list contains only the first 1000.
        omitted: u64,
    },
    /// A connection has subscribed to the topic.
    Joined {
        /// Name of the connection that has subscribed.
        name: String,
        /// Number of subscribed connections with this name, including this one.
        connections: u64,
    },
    /// A connection has closed, or its last subscription to the topic has ended.
    Left {
        /// Name of the connection that has left.
        name: String,
        /// Number of connections with this name that are still subscribed.
        connections: u64,
    },
}

impl PresenceEvent {
    /// Decodes the payload of a presence message. Returns `None` if it is malformed.
    ///
    /// ```
    /// use frisbee_pubsub::PresenceEvent;
    ///
    /// let event = PresenceEvent::decode(br#"{"joined":"ada","connections":2}"#);
    /// assert_eq!(event, Some(PresenceEvent::Joined { name: "ada".to_owned(), connections: 2 }));
    /// ```
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let event: Value = serde_json::from_slice(payload).ok()?;
        if let Some(present) = event.get("present") {
            let present = present.as_object()?.iter();
            let connections =
                present.map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect::<Option<_>>()?;
            return Some(Self::Present { connections, omitted: event.get("omitted")?.as_u64()? });
        }
        let connections = event.get("connections")?.as_u64()?;
        let name = |of: &str| event.get(of)?.as_str().filter(|name| name.len() <= NAME_MAX).map(str::to_owned);
        match name("joined") {
            Some(name) => Some(Self::Joined { name, connections }),
            None => Some(Self::Left { name: name("left")?, connections }),
        }
    }
}

/// Subscription that reports the subscribers of a topic and their changes, created by [`Client::presence`].
#[derive(Debug)]
pub struct Presence {
    subscription: Subscription,
    connections: Option<BTreeMap<String, u64>>,
}

impl Client {
    /// Observes the subscribers of a topic with [presence](crate::BrokerBuilder::presence). The current list is sent
    /// first, followed by each change.
    ///
    /// ```
    /// use frisbee::Server;
    /// use frisbee_pubsub::{Broker, Client, PresenceEvent};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The name could also come from an identity that `on_connect` attached to the connection.
    /// let broker = Broker::builder().presence("rooms.*", |_connection| Some("ada".to_owned())).build();
    /// # let server = Server::builder().bind("127.0.0.1:0", broker).await?;
    /// # let address = server.local_addr();
    /// # tokio::spawn(server.serve());
    /// let client = Client::connect(address).await?;
    /// let mut presence = client.presence("rooms.lobby").await?;
    /// assert!(matches!(presence.recv().await?, PresenceEvent::Present { .. }));
    ///
    /// let lobby = client.subscribe("rooms.lobby").await?;
    /// presence.recv().await?;
    /// assert_eq!(presence.connections()["ada"], 1);
    ///
    /// drop(lobby);
    /// presence.recv().await?;
    /// assert!(presence.connections().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe) for `$presence.` followed by the topic. Also fails if the topic has no
    /// presence.
    ///
    /// # Cancel safety
    /// Same as [`subscribe`](Self::subscribe).
    pub async fn presence(&self, topic: &str) -> Result<Presence, PubSubError> {
        check_topic(topic.as_bytes())?;
        Ok(Presence { subscription: self.subscribe(&format!("{PREFIX}{topic}")).await?, connections: None })
    }
}

impl Presence {
    /// Waits for the next list of subscribers or the next change. Skips malformed messages.
    ///
    /// # Errors
    /// Same as [`Subscription::recv`]. After [`RecvError::Reconnected`], a new list follows. After
    /// [`RecvError::Lagged`], changes are missing, so call [`Client::presence`] again.
    ///
    /// # Cancel safety
    /// Dropping the future loses no message.
    pub async fn recv(&mut self) -> Result<PresenceEvent, RecvError> {
        loop {
            let message = self.subscription.recv().await?;
            let Some(event) = PresenceEvent::decode(message.payload()) else { continue };
            match (&event, &mut self.connections) {
                (PresenceEvent::Present { connections, .. }, known) => *known = Some(connections.clone()),
                // Skip changes before the list, because the list includes them.
                (_, None) => continue,
                (event, Some(known)) => apply(known, event),
            }
            return Ok(event);
        }
    }

    /// Returns the number of subscribed connections for each name, as of the last [`recv`](Self::recv). A name that was
    /// omitted from the list is missing until a connection with this name subscribes again. At most 65 536 names are
    /// kept.
    pub fn connections(&self) -> &BTreeMap<String, u64> {
        static NONE: BTreeMap<String, u64> = BTreeMap::new();
        self.connections.as_ref().unwrap_or(&NONE)
    }
}

/// Applies a presence event to the map of known names.
fn apply(known: &mut BTreeMap<String, u64>, change: &PresenceEvent) {
    match change {
        PresenceEvent::Left { name, connections: 0 } => {
            known.remove(name);
        }
        PresenceEvent::Joined { name, connections } | PresenceEvent::Left { name, connections } => {
            if known.len() < REMEMBERED_MAX || known.contains_key(name) {
                known.insert(name.clone(), *connections);
            }
        }
        PresenceEvent::Present { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: a client stored an unlimited number of subscriber names that a hostile broker sent.
    #[test]
    fn watcher_remembers_bounded_number_of_names() {
        let mut known = BTreeMap::new();
        let joined = |name: String, connections| PresenceEvent::Joined { name, connections };
        for number in 0..=REMEMBERED_MAX {
            apply(&mut known, &joined(number.to_string(), 1));
        }
        assert_eq!(known.len(), REMEMBERED_MAX);
        apply(&mut known, &joined("7".to_owned(), 2));
        assert_eq!(known["7"], 2, "known name should change its count");
        let long = json!({ "joined": "a".repeat(NAME_MAX + 1), "connections": 1 });
        assert_eq!(PresenceEvent::decode(long.to_string().as_bytes()), None);
    }
}
