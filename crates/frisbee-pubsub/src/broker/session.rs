//! State that the broker keeps for each connection: its subscriptions, the queue of messages for it, and the cache of
//! the topics that it publishes to.

use super::{BrokerShared, Permit, TopicUse};
use crate::Reason;
use crate::bus::Interest;
use crate::fanout::Fanout;
use crate::queue::{STEP, Subscriber};
use crate::topics::check_topic;
use frisbee::MemoryCharge;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A broker's state for one connection.
pub struct BrokerSession {
    pub(super) subscriber: Arc<Subscriber>,
    /// Subscriptions of the connection, by id.
    pub(super) patterns: HashMap<u16, Subscribed>,
    pub(super) fanout: Fanout,
    /// Memory charge for the connection's cache of routes.
    pub(super) charge: MemoryCharge,
    /// Maximum body size in bytes that the peer accepts.
    pub(super) body_max: u32,
    /// Topic that the connection was last permitted to publish to, and the number of changes to the connection's
    /// attachments at that time. As long as both stay the same, further messages need no authorization.
    pub(super) permitted: Option<(Box<[u8]>, u32)>,
}

/// Resources of a subscription. They are released when it ends.
pub(super) struct Subscribed {
    pub(super) pattern: Box<str>,
    /// Number of nodes in the subscription tree that were created for this subscription. Their memory is charged to it.
    pub(super) nodes: usize,
    /// Memory charge for the subscription. Released when the subscription ends.
    pub(super) _charge: MemoryCharge,
    /// Registration at the backplane through which messages of other brokers reach this subscription.
    pub(super) interest: Option<Arc<Interest>>,
    /// Name under which the subscriber is listed in the presence of the topic, or `None` if it is not listed.
    pub(super) name: Option<Arc<str>>,
}

impl BrokerSession {
    /// Checks whether the connection may publish to a topic. Fails with the reason for the rejection.
    pub(super) fn may_publish(&mut self, permit: &Permit, topic: &[u8]) -> Result<(), (Reason, String)> {
        let connection = &self.subscriber.connection;
        let changes = connection.attachments().changes();
        if self.permitted.as_ref().is_some_and(|(last, of)| **last == *topic && *of == changes) {
            return Ok(());
        }
        let text = check_topic(topic).map_err(|error| (Reason::Topic, error.to_string()))?;
        if !permit(connection, TopicUse::Publish(text)) {
            return Err((Reason::NotAllowed, format!("you may not publish to {text}")));
        }
        self.permitted = Some((topic.into(), changes));
        Ok(())
    }

    /// Charges the connection's route cache to the memory budget. Clears a large cache if the server is short of
    /// memory.
    pub(super) fn charge_topics(&mut self, broker: &BrokerShared) {
        if self.fanout.memory >= STEP && self.subscriber.budget.is_short() {
            self.fanout.release(broker);
        }
        let charged = self.fanout.memory / STEP * STEP;
        if charged != self.charge.bytes() {
            self.charge.resize(charged);
        }
    }
}

#[cfg(test)]
impl BrokerSession {
    pub(crate) fn remembered(&self) -> usize {
        self.fanout.remembered()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.patterns.capacity()
    }
}

impl fmt::Debug for BrokerSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerSession").field("subscriptions", &self.patterns.len()).finish_non_exhaustive()
    }
}
