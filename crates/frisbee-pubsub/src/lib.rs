//! Publish/subscribe over frisbee connections. A [`Broker`] routes messages, and a [`Client`] publishes and subscribes.
//!
//! A published message is delivered once to every connection with a matching subscription, and to one member of each
//! queue group. By default, messages are not stored: a new subscription receives later messages only. A
//! [history](BrokerBuilder::history) keeps the last messages of a topic for new subscriptions.
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
//! A topic is a UTF-8 string of tokens separated by dots. It has at most 255 bytes and 16 tokens. Tokens must not be
//! empty and must not contain white space, control characters, `*` or `>`. In a pattern the token `*` matches exactly
//! one token, and a final `>` matches one or more tokens.
//!
//! # Guarantees
//!
//! * Each subscription receives the messages of a publishing connection in the order of publication.
//! * A subscription receives all messages that any client publishes after [`subscribe`](Client::subscribe) returns.
//! * Delivery is at most once. A subscriber that reads too slowly loses messages and is notified of their number; see
//!   [`SlowSubscriberPolicy`].
//! * A slow subscriber does not delay others.
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
#[cfg(feature = "typed")]
mod layouts;
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

/// Default number of the first pub/sub operation. It is near the end of the range of operation numbers, because methods
/// of services are numbered from 10 upwards.
pub const FIRST_OPERATION: u16 = 0xFF00;

/// Number of operations that pub/sub uses, one for each [`Kind`].
const COUNT: u16 = 9;

/// Default range of operations at which a [`Broker`] or a [`ClientRouter`] is mounted.
pub const OPERATIONS: RangeInclusive<u16> = FIRST_OPERATION..=FIRST_OPERATION + (COUNT - 1);

/// Kind of a pub/sub operation. Its value is added to the number of the first operation. docs/pubsub.md describes the
/// packet bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// From client to broker: requests a subscription. The packet's id becomes the id of the subscription. The broker
    /// sends a reply.
    Subscribe,
    /// From client to broker: ends the subscription with the id of the packet.
    Unsubscribe,
    /// From client to broker: publishes a message. From broker to client: delivers a message, either to all
    /// subscriptions that match its topic or to the queue group member with the packet's id.
    Message,
    /// From client to broker: requests a reply after the broker has processed all earlier messages.
    Sync,
    /// From broker to client: reports lost messages of the subscription with the packet's id or, if the id is 0, of all
    /// subscriptions.
    Lagged,
    /// From broker to client: rejects an invalid or forbidden packet.
    Refused,
    /// From client to broker: requests a subscription that starts at a position in the histories of its topics. The
    /// packet's id becomes the id of the subscription. The broker sends a reply.
    Follow,
    /// From broker to client: states the offset of the next message in each of several topics.
    Position,
    /// From client to broker: announces or requests the description of a message layout. From broker to client: sends
    /// the requested description.
    Layout,
}

/// Range of operations that a connection uses for pub/sub, represented by its first operation.
#[derive(Clone, Copy, Debug)]
struct Operations(u16);

impl Operations {
    /// Creates the range of operations that begins at `first`.
    ///
    /// # Panics
    /// If the range is not between 10 and 65 535.
    fn starting_at(first: u16) -> Self {
        let fits = Operation::user(first).is_some() && first.checked_add(COUNT - 1).is_some();
        assert!(fits, "operations {first} to {first} + 8 are not all between 10 and 65535");
        Self(first)
    }

    fn range(self) -> RangeInclusive<u16> {
        self.0..=self.0 + (COUNT - 1)
    }

    fn of(self, kind: Kind) -> Operation {
        Operation::user(self.0 + kind as u16).expect("pub/sub operation should be in the user range")
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
            8 => Kind::Layout,
            _ => return None,
        })
    }
}

/// Reason why a broker rejects a packet. Its value is the number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    /// The topic or pattern of the packet is invalid.
    Topic = 1,
    /// The subscription id is 0 or belongs to another subscription.
    Id = 2,
    /// The maximum number of subscriptions is reached.
    Full = 3,
    /// The broker does not know the operation of the packet.
    Operation = 4,
    /// The connection has no permission to use the topic or pattern.
    NotAllowed = 5,
    /// The backplane rejected the message.
    Backplane = 6,
}

/// Appends a packet to the outbox. The body should be small enough for every peer. A packet that exceeds the limit of
/// the peer is logged and not sent.
fn put(outbox: &mut Outbox, id: PacketId, operation: Operation, body: &[u8]) {
    let mut packet = outbox.packet(id, operation);
    packet.put_slice(body);
    if let Err(error) = packet.finish() {
        tracing::warn!(target: "frisbee::pubsub", %error, "publish/subscribe packet not sent");
    }
}

/// Sends a rejection that contains a reason and an explanation.
fn refuse(outbox: &mut Outbox, id: PacketId, operation: Operation, reason: Reason, text: &str) {
    let mut body = vec![reason as u8];
    body.extend_from_slice(text.as_bytes());
    put(outbox, id, operation, &body);
}

/// Splits the body of a packet into the name at its start, which has a length prefix, and the rest. Returns `None` if
/// the body is truncated.
fn split_name(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = body;
    let length = usize::try_from(tlv::take_varint(&mut rest)?).ok()?;
    rest.split_at_checked(length)
}

/// Encodes a topic or group name with a length prefix.
fn name(name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    tlv::put_varint(&mut bytes, name.len() as u64);
    bytes.extend_from_slice(name.as_bytes());
    bytes
}
