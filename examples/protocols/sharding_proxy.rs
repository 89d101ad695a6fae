//! A protocol without RPC, and a proxy that forwards its packets by a key in their bodies. The proxy reads the key and
//! decodes nothing else. Large bodies are not copied.
//!
//! `cargo run --release -p protocols --bin sharding_proxy`

use bytes::{BufMut, Bytes, BytesMut};
use frisbee::rpc::ConnectionExt;
use frisbee::{Client, CloseReason, Connection, Handlers, Operation, Outbox, Packet, PacketId, Routed, Router, Server};
use frisbee_requests::{RequestError, Requester};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

/// Stores a value under a key. The body is the length of the key in one byte, the key, and the value. The reply
/// contains the key.
const PUT: Operation = operation(10);
/// Requests the value of a key. The reply contains the key and the value.
const GET: Operation = operation(11);
/// Answers a request that the proxy cannot forward, or whose shard does not reply. The body contains the reason.
const FAILED: Operation = operation(12);

/// Maximum number of packets per shard that wait for a reply, because each takes memory.
const WAITING_MAX: usize = 4096;

/// Number of keys used by this demonstration.
const KEYS: u16 = 1000;

const fn operation(number: u16) -> Operation {
    Operation::user(number).expect("operation number should be in the user range")
}

/// Returns the key at the beginning of a body.
fn key(body: &[u8]) -> Option<&[u8]> {
    let (length, rest) = body.split_first()?;
    rest.get(..usize::from(*length))
}

fn body(key: &str, value: &[u8]) -> Bytes {
    let mut body = BytesMut::with_capacity(1 + key.len() + value.len());
    body.put_u8(u8::try_from(key.len()).expect("length should fit u8"));
    body.put_slice(key.as_bytes());
    body.put_slice(value);
    body.freeze()
}

/// Starts a server that stores values. Returns its address and the number of stored values.
async fn start_shard() -> std::io::Result<(SocketAddr, Arc<AtomicUsize>)> {
    let stored: Arc<Mutex<HashMap<Bytes, Bytes>>> = Arc::default();
    let count = Arc::new(AtomicUsize::new(0));
    let (put, get, counted) = (stored.clone(), stored, count.clone());
    let handlers = Handlers::new()
        .on(PUT, move |_connection, packet| {
            // A packet without a key is ignored. The proxy sends no such packet, but other clients might.
            let key = key(&packet.body).map(|key| packet.body.slice(..1 + key.len()));
            if let Some(key) = &key {
                put.lock().expect("lock should not be poisoned").insert(key.clone(), packet.body.slice(key.len()..));
                counted.fetch_add(1, Ordering::Relaxed);
            }
            async move { key.map(|key| Packet::new(packet.id, PUT, key)) }
        })
        .on(GET, move |_connection, packet| {
            let value = get.lock().expect("lock should not be poisoned").get(&packet.body).cloned().unwrap_or_default();
            async move { Some(Packet::new(packet.id, GET, [packet.body, value].concat())) }
        });
    let server = Server::builder().bind("127.0.0.1:0", handlers).await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());
    Ok((address, count))
}

/// A connection to a shard.
struct Shard {
    connection: Connection,
    requests: Requester,
}

/// Returns the reply to a packet that no shard has answered.
fn failed(id: PacketId, error: &RequestError) -> Packet {
    Packet::new(id, FAILED, error.to_string())
}

/// Receives requests of clients and forwards them.
struct Proxy(Vec<Shard>);

impl Proxy {
    async fn to(shards: &[SocketAddr]) -> Result<Self, frisbee::Error> {
        let mut connected = Vec::new();
        for address in shards {
            let requests = Requester::new().in_flight_max(WAITING_MAX);
            let connection = Client::builder().connect(*address, requests.clone()).await?;
            connected.push(Shard { connection, requests });
        }
        Ok(Self(connected))
    }

    fn shard(&self, key: &[u8]) -> &Shard {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        &self.0[hasher.finish() as usize % self.0.len()]
    }
}

impl Router for Proxy {
    type Session = Connection;

    fn connected(&self, client: &Connection) -> Connection {
        client.clone()
    }

    fn route(&self, client: &mut Connection, packet: Packet, outbox: &mut Outbox) -> Routed {
        let Some(key) = key(&packet.body) else { return Routed::close("a body that has no key") };
        let Shard { connection, requests } = self.shard(key);
        let Packet { id, operation, body } = packet;
        let reply = match requests.try_call(connection, operation, body) {
            Ok(reply) => reply,
            Err(error @ RequestError::Full) => return outbox.forward(&failed(id, &error)).into(),
            Err(error) => return Routed::close(format!("a shard is gone: {error}")),
        };
        let asking = client.clone();
        // A client that disconnects cancels its tasks and requests.
        client.spawn(async move {
            let reply = reply.await.map_or_else(|error| failed(id, &error), |reply| Packet { id, ..reply });
            let _ = asking.send_now(|outbox| outbox.forward(&reply));
        });
        Routed::Continue
    }

    fn disconnected(&self, client: Connection, _reason: &CloseReason) {
        println!("a client is gone: {:?}", client.peer_addr());
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut addresses = Vec::new();
    let mut counts = Vec::new();
    for _ in 0..3 {
        let (address, count) = start_shard().await?;
        addresses.push(address);
        counts.push(count);
    }
    let proxy = Server::builder().bind("127.0.0.1:0", Proxy::to(&addresses).await?).await?;
    let address = proxy.local_addr();
    tokio::spawn(proxy.serve());

    let (sender, mut answers) = mpsc::unbounded_channel();
    let take = move |_connection: Connection, packet: Packet| {
        sender.send(packet).ok();
        async { None }
    };
    let handlers = Handlers::new().on(PUT, take.clone()).on(GET, take.clone()).on(FAILED, take);
    let client = Client::builder().connect(address, handlers).await?;

    let value = |number: u16| vec![number as u8; if number == 0 { 1_000_000 } else { usize::from(number) }];
    for number in 0..KEYS {
        client.send(&Packet::new(PacketId(number), PUT, body(&format!("key {number}"), &value(number)))).await?;
    }
    for _ in 0..KEYS {
        let answer = answers.recv().await.ok_or("the connection has ended")?;
        assert_eq!(answer.operation, PUT);
    }
    for number in 0..KEYS {
        client.send(&Packet::new(PacketId(number), GET, body(&format!("key {number}"), &[]))).await?;
    }
    for _ in 0..KEYS {
        let answer = answers.recv().await.ok_or("the connection has ended")?;
        let number = answer.id.0;
        assert!(
            answer.body == body(&format!("key {number}"), &value(number)),
            "value of key {number} should be returned"
        );
    }
    for (address, count) in addresses.iter().zip(counts) {
        println!("the shard at {address} has {} keys", count.load(Ordering::Relaxed));
    }
    println!("{KEYS} keys were stored and found through {address}");
    client.close();
    client.closed().await;
    Ok(())
}
