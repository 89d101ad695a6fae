//! The settings of a broker.

use super::{Broker, BrokerBuilder, BrokerShared, Permit, SlowSubscriberPolicy, TopicUse};
use crate::Operations;
use crate::bus::{Backplane, Bus, OutagePolicy};
use crate::history::{Histories, History};
use crate::presence::Presences;
use crate::queue::QueueBounds;
use crate::topics::check_pattern;
use frisbee::Connection;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

impl BrokerBuilder {
    /// Sets the first of the eight operations that the broker serves. Default: [`FIRST_OPERATION`](crate::FIRST_OPERATION).
    ///
    /// # Panics
    /// If they are not all between 10 and 65 535.
    pub fn first_operation(mut self, first: u16) -> Self {
        self.operations = Operations::starting_at(first);
        self
    }

    /// Sets the queue limit of each subscriber, in bytes. One batch published together may exceed it. Default: 16 MiB.
    ///
    /// Memory that several subscribers share counts for each of them.
    pub fn queue_max(mut self, bytes: usize) -> Self {
        self.queue_max = bytes;
        self
    }

    /// Sets the limit of all queues together, in bytes. Above it, each queue is limited to a sixteenth of
    /// [`queue_max`](Self::queue_max). Default: 1 GiB.
    ///
    /// Memory that several subscribers share counts for each of them.
    pub fn memory_max(mut self, bytes: usize) -> Self {
        self.memory_max = bytes;
        self
    }

    /// Sets the treatment of a subscriber whose queue is full. Default: [`SlowSubscriberPolicy::DropOldest`].
    pub fn slow(mut self, slow: SlowSubscriberPolicy) -> Self {
        self.slow = slow;
        self
    }

    /// Sets the limit of subscriptions of a connection. Default: 1024; a gateway that subscribes for others needs more. At
    /// most 65 535.
    pub fn per_connection_max(mut self, count: usize) -> Self {
        self.per_connection_max = count;
        self
    }

    /// Sets the limit of subscriptions of all connections. Four times as many distinct pattern prefixes are allowed.
    /// Default: 1 048 576.
    pub fn total_max(mut self, count: usize) -> Self {
        self.total_max = count;
        self
    }

    /// Joins the broker with others: a message at one of them reaches the subscribers of all. Default: none.
    ///
    /// A backplane serves one broker. docs/bus.md lists the guarantees.
    pub fn backplane(mut self, backplane: impl Backplane) -> Self {
        self.backplane = Some(Arc::new(backplane));
        self
    }

    /// Sets the treatment of messages published while the backplane is disconnected. Default:
    /// [`OutagePolicy::StayLocal`].
    pub fn when_away(mut self, when_away: OutagePolicy) -> Self {
        self.when_away = when_away;
        self
    }

    /// Sets a function that permits a connection to publish to a topic, and to subscribe to a pattern. Default: everything
    /// is allowed.
    ///
    /// A denied use is refused, and counted as waste. The function is called for each subscription, and for each message
    /// whose topic differs from the connection's previous one, or after its [attachments](Connection::attachments) have
    /// changed. It must not block. Existing subscriptions are not checked again.
    ///
    /// ```
    /// use frisbee_pubsub::{Broker, TopicUse, covers};
    ///
    /// /// The topics of a connection, which `on_connect` has attached.
    /// struct Own(String);
    ///
    /// let broker = Broker::builder().permit(|connection, topic_use| match topic_use {
    ///     TopicUse::Publish(topic) => connection.attachments().get::<Own>().is_some_and(|own| covers(&own.0, topic)),
    ///     TopicUse::Subscribe(pattern) => covers("news.>", pattern),
    ///     _ => false,
    /// });
    /// # broker.build();
    /// ```
    pub fn permit(mut self, may: impl Fn(&Connection, TopicUse<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.permit = Some(Permit(Arc::new(may)));
        self
    }

    /// Keeps the last messages of all topics that match a pattern, for [`Client::subscribe_from`](crate::Client::subscribe_from).
    /// The first matching pattern applies. Default: none.
    ///
    /// With a [backplane](Self::backplane) each broker keeps the messages of all brokers, from its first connection on,
    /// whether it has subscribers or not. Its offsets are its own.
    ///
    /// A topic takes about 300 bytes, its name, and for each message its payload and 80 bytes. This is charged to the
    /// [memory](frisbee::ServerBuilder::memory_max) of the server that first used the topic.
    ///
    /// ```
    /// use frisbee_pubsub::{Broker, History};
    /// use std::time::Duration;
    ///
    /// let broker = Broker::builder()
    ///     .history("prices.>", History::last(1))
    ///     .history("orders.>", History::last(100).for_time(Duration::from_secs(60)))
    ///     .build();
    /// assert_eq!(broker.history_memory(), 0);
    /// ```
    ///
    /// # Panics
    /// If the pattern is invalid.
    pub fn history(mut self, pattern: &str, history: History) -> Self {
        let pattern = check_pattern(pattern.as_bytes()).unwrap_or_else(|error| panic!("pattern {pattern:?}: {error}"));
        self.history.push((pattern.into(), history));
        self
    }

    /// Sets the memory of all histories together, in bytes. If a message would exceed it, or the server is short of memory, the
    /// topic keeps its last message only, or none. Default: 64 MiB.
    pub fn history_memory_max(mut self, bytes: usize) -> Self {
        self.history_memory_max = bytes;
        self
    }

    /// Sets the number of topics with a history. A further topic removes the history of one that has not been used for
    /// long; subscribers with wildcards that reconnect later are then notified that messages may be missing. Default:
    /// 16 384.
    pub fn history_topics_max(mut self, count: usize) -> Self {
        self.history_topics_max = count;
        self
    }

    /// Shows the subscribers of all topics that match a pattern, for [`Client::presence`](crate::Client::presence). Of
    /// several patterns that match a topic the first one decides. Default: none.
    ///
    /// `name` names a connection, for example by its caller. A connection without a name, or with one of more than 255
    /// bytes, is not listed, and neither is a subscription with wildcards. It is called for each subscription, and must not
    /// block.
    ///
    /// The list is a message of the topic `$presence.rooms.lobby` for `rooms.lobby`, and each change a further one; both are
    /// JSON. To subscribe to it needs [permission](Self::permit) like any topic. Only the broker publishes to topics below
    /// `$presence`, and subscriptions such as `>` do not receive them. A listed subscription takes about 256 bytes, its
    /// topic and its name, which are charged to the memory of the server.
    ///
    /// ```
    /// use frisbee_pubsub::Broker;
    ///
    /// /// The name of a connection, which `on_connect` has attached.
    /// struct Name(String);
    ///
    /// let broker = Broker::builder()
    ///     .presence("rooms.*", |connection| connection.attachments().get::<Name>().map(|name| name.0.clone()))
    ///     .build();
    /// ```
    ///
    /// # Panics
    /// If the pattern is invalid.
    pub fn presence(
        mut self,
        pattern: &str,
        name: impl Fn(&Connection) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let pattern = check_pattern(pattern.as_bytes()).unwrap_or_else(|error| panic!("pattern {pattern:?}: {error}"));
        self.presence.add(pattern, name);
        self
    }

    /// The broker.
    ///
    /// # Panics
    /// If the [backplane](Self::backplane) has a broker already, or there are a backplane and
    /// [presence](Self::presence): a broker knows its own subscribers only.
    pub fn build(mut self) -> Broker {
        assert!(
            self.backplane.is_none() || self.presence.is_empty(),
            "a broker with a backplane has no presence: it knows its own subscribers only"
        );
        let rules = std::mem::take(&mut self.history);
        let presences = Presences::new(std::mem::take(&mut self.presence));
        let histories = Histories::new(rules, self.history_memory_max, self.history_topics_max);
        let bus = self.backplane.take().map(|backplane| Bus::new(backplane, self.when_away));
        let Self { queue_max, memory_max, slow, .. } = self;
        let shared = Arc::new(BrokerShared {
            bounds: Arc::new(QueueBounds {
                queue_max,
                memory_max,
                slow,
                waiting: AtomicUsize::new(0),
                lost: AtomicU64::new(0),
            }),
            published: AtomicU64::new(0),
            subscriptions: RwLock::default(),
            node_charges: Mutex::default(),
            version: AtomicU64::new(0),
            next_member: AtomicUsize::new(0),
            next_connection: AtomicU64::new(0),
            operations: self.operations,
            settings: self,
            bus,
            histories,
            presences,
        });
        if let Some(bus) = &shared.bus {
            bus.attach(&shared);
        }
        Broker(shared)
    }
}
