//! Publish and subscribe as a protocol of its own: a router for the server, one for subscribers, and a session of both.

use bytes::{BufMut, Bytes, BytesMut};
use frisbee::{Client, CloseReason, Connection, Declaration, Handlers, Operation, Outbox, Packet, PacketId};
use frisbee::{Routed, Router, Server};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc;

/// Subscribes to the topic in the body. The reply is empty.
const SUBSCRIBE: Operation = operation(2000);
/// Publishes a message: length of topic, topic, payload. The server passes it on to all subscribers with the id 0.
const PUBLISH: Operation = operation(2001);

/// Maximum number of topics of one subscriber, because clients choose them.
const TOPICS_MAX: usize = 100;

const fn operation(number: u16) -> Operation {
    Operation::user(number).expect("operation number should be in the user range")
}

/// Encodes a message. Topics have at most 255 bytes.
fn message(topic: &str, payload: &str) -> Packet {
    let mut body = BytesMut::new();
    body.put_u8(u8::try_from(topic.len()).expect("topic should be at most 255 bytes long"));
    body.put_slice(topic.as_bytes());
    body.put_slice(payload.as_bytes());
    Packet::new(PacketId(0), PUBLISH, body)
}

/// Splits the body of a message into topic and payload.
fn split(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = body.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

/// The router of the server. It keeps the subscribers of all topics.
#[derive(Default)]
struct Topics(Mutex<HashMap<Bytes, Vec<Connection>>>);

/// A connection of the server and its topics.
struct Subscriber {
    connection: Connection,
    topics: HashSet<Bytes>,
}

impl Topics {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<Bytes, Vec<Connection>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn subscribe(&self, subscriber: &mut Subscriber, topic: &[u8]) -> bool {
        // Copied, because a slice would keep the whole read buffer alive.
        let topic = Bytes::copy_from_slice(topic);
        if subscriber.topics.len() == TOPICS_MAX || !subscriber.topics.insert(topic.clone()) {
            return subscriber.topics.contains(&topic);
        }
        self.with(|topics| topics.entry(topic).or_default().push(subscriber.connection.clone()));
        true
    }

    fn publish(&self, packet: &Packet) -> bool {
        let Some((topic, _payload)) = split(&packet.body) else { return false };
        let message = Packet::new(PacketId(0), PUBLISH, packet.body.clone());
        self.with(|topics| {
            for subscriber in topics.get(topic).into_iter().flatten() {
                // A subscriber that reads too slowly misses the message, so that its queue stays bounded.
                let _ = subscriber.try_send(&message);
            }
        });
        true
    }
}

impl Router for Topics {
    type Session = Subscriber;

    fn connected(&self, connection: &Connection) -> Subscriber {
        Subscriber { connection: connection.clone(), topics: HashSet::new() }
    }

    fn route(&self, subscriber: &mut Subscriber, packet: Packet, outbox: &mut Outbox) -> Routed {
        match packet.operation {
            SUBSCRIBE if self.subscribe(subscriber, &packet.body) => outbox.push(packet.id, SUBSCRIBE, "").into(),
            PUBLISH if self.publish(&packet) => Routed::Continue,
            _ => Routed::close("malformed message, unknown operation or too many topics"),
        }
    }

    fn disconnected(&self, subscriber: Subscriber, _reason: &CloseReason) {
        self.with(|topics| {
            for topic in &subscriber.topics {
                if let Some(subscribers) = topics.get_mut(topic) {
                    subscribers.retain(|other| !other.is_same(&subscriber.connection));
                }
            }
            topics.retain(|_, subscribers| !subscribers.is_empty());
        });
    }

    fn declaration(&self) -> Declaration {
        Declaration::default().operations([SUBSCRIBE.number()..=PUBLISH.number()])
    }
}

/// The router of a subscriber. It passes replies and messages to a channel, and drops them if the channel is full.
struct Inbox(mpsc::Sender<Packet>);

impl Router for Inbox {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, _outbox: &mut Outbox) -> Routed {
        let _ = self.0.try_send(packet);
        Routed::Continue
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder().bind("127.0.0.1:0", Topics::default()).await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());

    let mut readers = Vec::new();
    for (name, topic) in [("first", "news"), ("second", "news"), ("third", "weather")] {
        let (sender, mut inbox) = mpsc::channel(100);
        let connection = Client::builder().connect(address, Inbox(sender)).await?;
        connection.send(&Packet::new(PacketId(1), SUBSCRIBE, topic)).await?;
        inbox.recv().await.ok_or("the server closed the connection")?;
        readers.push((name, inbox));
    }
    let publisher = Client::builder().connect(address, Handlers::new()).await?;
    publisher.send(&message("news", "frisbee flies")).await?;
    publisher.send(&message("weather", "a light wind")).await?;
    for (name, mut inbox) in readers {
        let message = inbox.recv().await.ok_or("the server closed the connection")?;
        let (topic, payload) = split(&message.body).ok_or("malformed message")?;
        println!("{name}: {}: {}", String::from_utf8_lossy(topic), String::from_utf8_lossy(payload));
    }
    Ok(())
}
