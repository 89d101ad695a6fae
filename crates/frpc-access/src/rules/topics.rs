//! Rules for publishing to topics, and for subscribing to patterns.

use crate::Principal;
use crate::now;
use crate::rules::who::Who;
use frpc::Connection;
use frpc::pubsub::{TopicUse, covers};

/// Rules for publishing to topics, and for subscribing to patterns, at a [`Broker`](frpc::pubsub::Broker).
///
/// What no rule allows is refused. A rule for subscriptions allows a pattern if it [covers](frpc::pubsub::covers) all of
/// it: one for `orders.*` does not allow `orders.>`. A rule for `>` does not allow to watch a presence, which needs one for
/// `$presence.>`. Callers are known by their connection, as for
/// [`Access::allow_mounted`](crate::Access::allow_mounted), which has to let them come as far as to the broker. A pattern
/// in a rule that is none allows nothing.
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
    /// Rules that allow nothing.
    ///
    /// ```
    /// use frpc_access::{TopicRules, Who};
    ///
    /// let rules = TopicRules::new().publish(["orders.*"], Who::role("shop")).subscribe(["orders.>"], Who::known());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets callers publish to all topics that match one of these patterns.
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

    /// Lets callers subscribe to these patterns, and to all that match no other topics.
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

    /// Whether the peer of a connection may do this, for [`BrokerBuilder::permit`](frpc::pubsub::BrokerBuilder::permit).
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
        // A broker does not count the lists of presences among the topics of a wildcard, so neither does a rule.
        let is_presence = topics.starts_with("$presence.");
        let is_wild = |pattern: &str| pattern.starts_with(['*', '>']);
        let covers = |pattern: &String| covers(pattern, topics) && !(is_presence && is_wild(pattern));
        let includes = |patterns: &[String]| patterns.iter().any(covers);
        rules.iter().any(|(patterns, who)| includes(patterns) && who.includes_any(principal.as_ref().as_slice(), &all))
    }
}
