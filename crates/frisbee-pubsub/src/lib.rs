//! Publishing and subscribing: a [`Broker`] is a router that passes messages on, a [`Client`] its other end.
//!
//! A message that is published to a topic goes to all subscribers of a pattern that matches it, at most once to each
//! connection, and to one member of each queue group. Nothing is stored: a later subscriber gets later messages.
//!
//! ```
//! use frisbee_pubsub::{Broker, Client};
//! use frisbee::Server;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder().bind("127.0.0.1:0", Broker::new()).await?;
//! let address = server.local_addr();
//! tokio::spawn(server.serve());
//!
//! let reader = Client::connect(address).await?;
//! let mut orders = reader.subscribe("orders.*.created").await?;
//!
//! let writer = Client::connect(address).await?;
//! writer.publish("orders.north.created", "42 apples").await?;
//!
//! let message = orders.recv().await?;
//! assert_eq!(message.topic(), "orders.north.created");
//! assert_eq!(message.payload(), "42 apples");
//! # Ok(())
//! # }
//! ```
//!
//! # Topics
//!
//! A topic is a row of tokens with dots between them, in UTF-8: at most 255 bytes and 16 tokens, none empty, without
//! white space, control characters, `*` and `>`. In a pattern the token `*` matches any one token and `>`, as the last
//! one, for one or more.
//!
//! # Promises
//!
//! * Messages that one connection publishes arrive at each subscription in that order.
//! * A subscription gets all messages published after it has been [made](Client::subscribe), by any client.
//! * Delivery is at most once. A subscriber that accepts messages too slowly loses some, and learns how many: see
//!   [`SlowSubscriberPolicy`].
//! * A slow subscriber slows down no other.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as frisbee_pubsub;

mod broker;
mod bus;
mod client;
mod fanout;
mod follow;
mod history;
mod inbox;
#[cfg(feature = "nats")]
pub mod nats;
mod presence;
mod queue;
mod receive;
mod reconnect;
mod resume;
#[cfg(test)]
mod tests;
mod topics;
#[cfg(feature = "typed")]
mod typed;

pub use broker::{Broker, BrokerBuilder, BrokerSession, SlowSubscriberPolicy, TopicUse};
pub use bus::{Backplane, BackplaneError, Interest, MemoryBus, MemoryMember, Node, OutagePolicy, PendingInterest};
pub use client::{Client, PubSubError, Publisher};
pub use history::History;
pub use inbox::{Message, Position, RecvError, Subscription};
pub use presence::{Presence, PresenceEvent};
pub use receive::{ClientRouter, ClientSession};
pub use resume::Start;
pub use topics::{TopicError, check_pattern, check_topic, covers};
#[cfg(feature = "typed")]
pub use typed::{Topic, TopicMessage, TopicPublisher, TopicSubscription};

use frisbee::{Operation, Outbox, PacketId, tlv};
use std::ops::RangeInclusive;

/// The first operation of pub/sub by default: near the end, since methods of services count upwards from 10.
pub const FIRST_OPERATION: u16 = 0xFF00;

/// Operations that are kept for pub/sub; some of them have no meaning yet.
const COUNT: u16 = 8;

/// The operations of pub/sub by default: where to mount a [`Broker`] or a [`ClientRouter`].
pub const OPERATIONS: RangeInclusive<u16> = FIRST_OPERATION..=FIRST_OPERATION + (COUNT - 1);

/// The meaning of the operations of pub/sub, as distances from the first. docs/pubsub.md has their bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// To the broker: a subscription, whose id is the packet's. Back: the result.
    Subscribe,
    /// To the broker: the subscription with the packet's id is over.
    Unsubscribe,
    /// To the broker: a message. From it: the same, to all subscriptions that match or to the member of a queue group
    /// whose id is the packet's.
    Message,
    /// Returned when all earlier messages have been accepted.
    Sync,
    /// From the broker: so many messages were lost, of the subscription whose id is the packet's or of all.
    Lagged,
    /// From the broker: something was not understood or not allowed.
    Refused,
    /// To the broker: a subscription with a history, whose id is the packet's. Back: the result.
    Follow,
    /// From the broker: the offsets of the next messages of topics.
    Position,
}

/// The operations that pub/sub has on a connection.
#[derive(Clone, Copy, Debug)]
struct Operations(u16);

impl Operations {
    /// # Panics
    /// If they are not all between 10 and 65 535.
    fn starting_at(first: u16) -> Self {
        let fits = Operation::user(first).is_some() && first.checked_add(COUNT - 1).is_some();
        assert!(fits, "operations {first} to {first} + 7 are not all between 10 and 65535");
        Self(first)
    }

    fn range(self) -> RangeInclusive<u16> {
        self.0..=self.0 + (COUNT - 1)
    }

    fn of(self, kind: Kind) -> Operation {
        Operation::user(self.0 + kind as u16).expect("operation should be in the range of users")
    }

    fn kind(self, operation: Operation) -> Option<Kind> {
        Some(match operation.number().checked_sub(self.0)? {
            0 => Kind::Subscribe,
            1 => Kind::Unsubscribe,
            2 => Kind::Message,
            3 => Kind::Sync,
            4 => Kind::Lagged,
            5 => Kind::Refused,
            6 => Kind::Follow,
            7 => Kind::Position,
            _ => return None,
        })
    }
}

/// The reason of a broker's refusal, as its number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    /// The topic or pattern is none.
    Topic = 1,
    /// The id is 0 or belongs to another subscription.
    Id = 2,
    /// There are as many subscriptions as may be.
    Full = 3,
    /// The operation has no meaning.
    Operation = 4,
    /// The connection may not do this with the topic or pattern.
    NotAllowed = 5,
    /// The backplane does not take the message.
    Backplane = 6,
}

/// Writes a short packet, which fits into every limit.
fn put(outbox: &mut Outbox, id: PacketId, operation: Operation, body: &[u8]) {
    let mut packet = outbox.packet(id, operation);
    packet.put_slice(body);
    if let Err(error) = packet.finish() {
        tracing::warn!(target: "frisbee::pubsub", %error, "publish/subscribe packet not sent");
    }
}

/// Reports the refusal.
fn refuse(outbox: &mut Outbox, id: PacketId, operation: Operation, reason: Reason, text: &str) {
    let mut body = vec![reason as u8];
    body.extend_from_slice(text.as_bytes());
    put(outbox, id, operation, &body);
}

/// The body of a packet as a name with its length in front, and the rest. `None` if it is cut off.
fn split_name(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = body;
    let length = usize::try_from(tlv::take_varint(&mut rest)?).ok()?;
    rest.split_at_checked(length)
}

/// A name with its length in front.
fn name(name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    tlv::put_varint(&mut bytes, name.len() as u64);
    bytes.extend_from_slice(name.as_bytes());
    bytes
}
