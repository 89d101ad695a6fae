//! Rules for publishing to topics and subscribing to patterns.

use crate::rules::who::Who;
use crate::{Principal, now};
use frpc::Connection;
use frpc::pubsub::{TopicUse, covers};

/// Rules for publishing to topics and subscribing to patterns at a [`Broker`](frpc::pubsub::Broker).
///
/// Everything that no rule permits is rejected. A subscription is permitted if a rule's pattern
/// [covers](frpc::pubsub::covers) it entirely: `orders.*` does not permit `orders.>`. Watching presence requires a rule
/// for `$presence.>`; a rule for `>` is not sufficient. Callers are identified by their connection, as for
/// [`Access::allow_mounted`](crate::Access::allow_mounted), which must also permit them to use the broker. A rule with
/// an invalid pattern permits nothing.
///
/// ```
/// use frpc::Server;
/// use frpc::pubsub::{Broker, OPERATIONS};
/// use frpc_access::{Access, TopicRules, Who};
///
/// let rules = TopicRules::new()
///     .publish(["orders.>"], Who::role("till"))
///     .subscribe(["orders.*.created"], Who::known())
///     .subscribe([">"], Who::role("auditor"));
/// let broker = Broker::builder().permit(move |connection, wish| rules.may(connection, wish)).build();
/// let access = Access::new().allow_mounted(OPERATIONS, Who::known());
/// let server = Server::builder().mount(OPERATIONS, broker).access(access);
/// ```
#[derive(Clone, Default, Debug)]
#[must_use]
pub struct TopicRules {
    publish: Vec<(Vec<String>, Who)>,
    subscribe: Vec<(Vec<String>, Who)>,
}

impl TopicRules {
    /// Creates rules that permit neither publishing nor subscribing.
    ///
    /// ```
    /// use frpc_access::{TopicRules, Who};
    ///
    /// let rules = TopicRules::new().publish(["orders.*"], Who::role("shop")).subscribe(["orders.>"], Who::known());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Permits callers that match `who` to publish to all topics that match one of these patterns.
    ///
    /// ```
    /// use frpc_access::{TopicRules, Who};
    ///
    /// let rules = TopicRules::new().publish(["weather.*"], Who::role("station"));
    /// ```
    pub fn publish<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>, who: Who) -> Self {
        self.publish.push((patterns.into_iter().map(Into::into).collect(), who));
        self
    }

    /// Permits callers that match `who` to subscribe to these patterns and to all patterns that they cover.
    ///
    /// ```
    /// use frpc_access::{TopicRules, Who};
    ///
    /// let rules = TopicRules::new().subscribe(["weather.>"], Who::anybody());
    /// ```
    pub fn subscribe<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>, who: Who) -> Self {
        self.subscribe.push((patterns.into_iter().map(Into::into).collect(), who));
        self
    }

    /// Returns whether the peer of a connection may publish or subscribe as requested by `wish`. Pass this method to
    /// [`BrokerBuilder::permit`](frpc::pubsub::BrokerBuilder::permit).
    pub fn may(&self, connection: &Connection, wish: TopicUse<'_>) -> bool {
        let (rules, topics) = match wish {
            TopicUse::Publish(topic) => (&self.publish, topic),
            TopicUse::Subscribe(pattern) => (&self.subscribe, pattern),
            _ => return false,
        };
        let is_valid = |principal: &Principal| principal.expires().is_none_or(|expires| expires > now());
        let principal = Principal::of(connection).filter(is_valid);
        let identities = Principal::all_of(connection);
        let all: Vec<_> = identities.iter().collect();
        // A wildcard subscription does not receive presence messages, so a wildcard rule must not permit them either.
        let is_presence = topics.starts_with("$presence.");
        let is_wild = |pattern: &str| pattern.starts_with(['*', '>']);
        let covers = |pattern: &String| covers(pattern, topics) && !(is_presence && is_wild(pattern));
        let includes = |patterns: &[String]| patterns.iter().any(covers);
        rules.iter().any(|(patterns, who)| includes(patterns) && who.includes_any(principal.as_ref().as_slice(), &all))
    }
}
