//! The methods of [`BrokerBuilder`], which set the limits and policies of a broker.

use super::{Broker, BrokerBuilder, BrokerShared, SlowSubscriberPolicy, TopicUse};
use crate::Operations;
use crate::bus::{Backplane, Bus, OutagePolicy};
use crate::history::{Histories, History};
use crate::presence::Presences;
use crate::queue::QueueBounds;
use crate::topics::check_pattern;
use frisbee::{Connection, SettingError};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

impl BrokerBuilder {
    /// Sets the number of the first of the nine operations that the broker handles. Defaults to
    /// [`FIRST_OPERATION`](crate::FIRST_OPERATION).
    ///
    /// # Panics
    /// If one of the operations is not between 10 and 65 535.
    pub fn first_operation(self, first: u16) -> Self {
        Self { operations: Operations::starting_at(first), ..self }
    }

    /// Sets the maximum size of each subscriber's queue in bytes. Defaults to 16 MiB. A batch of messages that is
    /// published at once may exceed it.
    ///
    /// A message that several subscribers share counts once for each of them.
    pub fn queue_max(self, bytes: usize) -> Self {
        Self { queue_max: bytes, ..self }
    }

    /// Sets the maximum total size of all queues in bytes. Defaults to 1 GiB. While it is exceeded, each queue is
    /// limited to a sixteenth of [`queue_max`](Self::queue_max).
    ///
    /// A message that several subscribers share counts once for each of them.
    pub fn memory_max(self, bytes: usize) -> Self {
        Self { memory_max: bytes, ..self }
    }

    /// Sets the policy for subscribers with a full queue. Defaults to [`SlowSubscriberPolicy::DropOldest`].
    pub fn slow(self, slow: SlowSubscriberPolicy) -> Self {
        Self { slow, ..self }
    }

    /// Sets the maximum number of subscriptions per connection, up to 65 535. Defaults to 1024. A gateway that
    /// subscribes on behalf of its clients needs more.
    pub fn per_connection_max(self, count: usize) -> Self {
        Self { per_connection_max: count, ..self }
    }

    /// Sets the maximum number of subscriptions of all connections. Defaults to 1 048 576. The number of distinct
    /// prefixes of their patterns is limited to four times this number.
    pub fn total_max(self, count: usize) -> Self {
        Self { total_max: count, ..self }
    }

    /// Connects the broker to other brokers. A message that is published at any of them then reaches the subscribers of
    /// all. By default, the broker is not connected to others.
    ///
    /// A backplane serves a single broker. docs/bus.md describes the guarantees.
    pub fn backplane(self, backplane: impl Backplane) -> Self {
        Self { backplane: Some(Arc::new(backplane)), ..self }
    }

    /// Sets the policy for messages that are published while the backplane is disconnected. Defaults to
    /// [`OutagePolicy::StayLocal`].
    pub fn when_away(self, when_away: OutagePolicy) -> Self {
        Self { when_away, ..self }
    }

    /// Sets a function that authorizes connections to publish to a topic or to subscribe to a pattern. By default,
    /// everything is permitted.
    ///
    /// A denied request is rejected and counted as abuse. The function is called for each subscription. For messages it
    /// is called only if the topic differs from the previous one of the connection, or if the
    /// [attachments](Connection::attachments) of the connection have changed. It must not block. Existing subscriptions
    /// are not checked again.
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
    pub fn permit(self, may: impl Fn(&Connection, TopicUse<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self { permit: Some(Arc::new(may)), ..self }
    }

    /// Keeps the last messages of all topics that match a pattern, for
    /// [`Client::subscribe_from`](crate::Client::subscribe_from). If several patterns match a topic, the first one
    /// applies. Defaults to none.
    ///
    /// With a [backplane](Self::backplane), each broker keeps the messages of all brokers, even of topics that none of
    /// its clients subscribe to. A broker starts to keep them when its first client connects. A message may have
    /// different offsets at different brokers.
    ///
    /// Each topic takes about 300 bytes and its name. Each message takes its payload and 80 bytes. The memory of all
    /// histories is charged to the [memory](frisbee::ServerBuilder::memory_max) of one server, which is the first
    /// server of the broker that received a message for a history.
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
        let pattern =
            check_pattern(pattern.as_bytes()).unwrap_or_else(|error| panic!("invalid pattern {pattern:?}: {error}"));
        self.history.push((pattern.into(), history));
        self
    }

    /// Sets the maximum memory of all histories in bytes. Defaults to 64 MiB. If a message would exceed the limit, or
    /// if the server is short of memory, the topic of the message discards its earlier messages. It also discards the
    /// new message if that alone exceeds the limit. The number of topics is limited so that the topics themselves,
    /// which take about 300 bytes and their name each, use at most half of this memory.
    pub fn history_memory_max(self, bytes: usize) -> Self {
        Self { history_memory_max: bytes, ..self }
    }

    /// Sets the maximum number of topics with a history. Defaults to 16 384. If a new topic exceeds the limit, the
    /// broker evicts the history of a topic that has not been used recently. It evicts topics of the address that has
    /// published to the most topics first. A subscription with wildcards that reconnects after an eviction is notified
    /// that messages may be missing.
    pub fn history_topics_max(self, count: usize) -> Self {
        Self { history_topics_max: count, ..self }
    }

    /// Publishes the names of the subscribers of all topics that match a pattern, for
    /// [`Client::presence`](crate::Client::presence). If several patterns match a topic, the first one applies.
    /// Defaults to none.
    ///
    /// `name` returns the name of a connection, for example its caller. It is called for each subscription and must not
    /// block. Connections without a name, or with a name of more than 255 bytes, are not listed, nor are subscriptions
    /// with wildcards.
    ///
    /// For the topic `rooms.lobby`, the list is sent as a JSON message of the topic `$presence.rooms.lobby`, followed
    /// by a JSON message for each change. Subscribing to it requires [permission](Self::permit) like any topic. Only
    /// the broker publishes to topics below `$presence`, and subscriptions such as `>` do not receive them. A listed
    /// subscription takes about 256 bytes, its topic and its name, which are charged to the memory of the server.
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
        let pattern =
            check_pattern(pattern.as_bytes()).unwrap_or_else(|error| panic!("invalid pattern {pattern:?}: {error}"));
        self.presence.push((pattern.into(), Arc::new(name)));
        self
    }

    /// Builds the broker.
    ///
    /// # Panics
    /// If a limit is zero, or if the [backplane](Self::backplane) already serves a broker. Also if both a backplane and
    /// [presence](Self::presence) are configured, because a broker knows only its own subscribers.
    pub fn build(mut self) -> Broker {
        let positive = SettingError::check_positive(&[
            ("queue_max", self.queue_max),
            ("memory_max", self.memory_max),
            ("per_connection_max", self.per_connection_max),
            ("total_max", self.total_max),
            ("history_memory_max", self.history_memory_max),
            ("history_topics_max", self.history_topics_max),
        ]);
        positive.unwrap_or_else(|error| panic!("invalid setting: {error}"));
        assert!(
            self.backplane.is_none() || self.presence.is_empty(),
            "broker with a backplane should have no presence, because it knows only its own subscribers"
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
            #[cfg(feature = "typed")]
            layouts: Default::default(),
        });
        // Attach the bus last, because it may deliver messages immediately.
        if let Some(bus) = &shared.bus {
            bus.attach(&shared);
        }
        Broker(shared)
    }
}
