//! A key-value store with watches: server and client of a protocol of its own, on the public interface of frisbee.

use bytes::{BufMut, Bytes, BytesMut};
use frisbee::{
    CloseReason, Connection, Operation, Outbox, Packet, PacketId, Routed, Router, SendError, Stream, opening,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, atomic};
use tokio::sync::{oneshot, watch};

/// Where the protocol is mounted.
pub const OPERATIONS: std::ops::RangeInclusive<u16> = 1000..=1002;
/// Length of key, key, value. Answered without a body.
const PUT: Operation = operation(1000);
/// The key. Answered with its value, which is empty if there is none.
const GET: Operation = operation(1001);
/// Opens a stream, with the key behind the operation. Its value comes as a message, and each later one.
const WATCH: Operation = operation(1002);

/// Keys come from clients and take memory for ever; watches take a task.
const KEYS_MAX: usize = 100_000;
const WATCHES_MAX: usize = 1000;

const fn operation(number: u16) -> Operation {
    Operation::user(number).expect("users have 10 and up")
}

/// The serving end. Clones share what is stored.
#[derive(Clone, Default)]
pub struct Store(Arc<Mutex<HashMap<Bytes, watch::Sender<Bytes>>>>);

impl Store {
    /// Does something with a key, which comes into being if there is room for it.
    fn with<T>(&self, key: Bytes, act: impl FnOnce(&watch::Sender<Bytes>) -> T) -> Option<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = values.len() < KEYS_MAX || values.contains_key(&key);
        room.then(|| act(values.entry(key).or_default()))
    }
}

impl Router for Store {
    type Session = Connection;

    fn connected(&self, connection: &Connection) -> Connection {
        connection.clone()
    }

    fn route(&self, _connection: &mut Connection, packet: Packet, outbox: &mut Outbox) -> Routed {
        let Packet { id, operation, body } = packet;
        let answer = match operation {
            PUT => body.split_first().filter(|(length, rest)| usize::from(**length) <= rest.len()).and_then(
                |(length, _)| {
                    // Copied, or a few bytes would keep all that was read with them.
                    let (key, value) = body[1..].split_at(usize::from(*length));
                    let value = Bytes::copy_from_slice(value);
                    self.with(Bytes::copy_from_slice(key), |known| drop(known.send_replace(value)))
                        .map(|()| Bytes::new())
                },
            ),
            GET => {
                let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                Some(values.get(&body).map(|value| value.borrow().clone()).unwrap_or_default())
            }
            _ => None,
        };
        let Some(answer) = answer else { return Routed::close("no key, no such operation, or no room") };
        outbox.push(id, operation, &answer).map_or_else(|error| Routed::close(error.to_string()), |()| Routed::Continue)
    }

    fn stream(&self, connection: &mut Connection, first: Bytes, stream: Stream) -> Routed {
        let key = opening::rest(&first).filter(|_| opening::operation(&first) == Some(WATCH.number()));
        let changes = key.and_then(|key| self.with(Bytes::copy_from_slice(&key), watch::Sender::subscribe));
        if let Some(mut changes) = changes
            && connection.running() < WATCHES_MAX
        {
            connection.spawn(async move {
                let sender = stream.sender();
                let mut closed = std::pin::pin!(sender.closed());
                loop {
                    // Whoever is slow gets the latest value only.
                    let value = changes.borrow_and_update().clone();
                    tokio::select! {
                        sent = sender.send(&value) => if sent.is_err() { return },
                        () = &mut closed => return,
                    }
                    tokio::select! {
                        changed = changes.changed() => if changed.is_err() { return },
                        () = &mut closed => return,
                    }
                }
            });
        }
        Routed::Continue
    }
}

/// Who waits for which answer.
type Waiting = Arc<Mutex<HashMap<PacketId, oneshot::Sender<Bytes>>>>;

/// What a client mounts, and calls the store by.
#[derive(Clone, Default)]
pub struct Client(Waiting, Arc<atomic::AtomicU16>);

impl Router for Client {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), packet: Packet, _outbox: &mut Outbox) -> Routed {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&packet.id);
        if let Some(waiting) = waiting {
            waiting.send(packet.body).ok();
        }
        Routed::Continue
    }

    fn disconnected(&self, _session: (), _reason: &CloseReason) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Client {
    /// Stores a value. Keys have up to 255 bytes.
    pub async fn put(&self, connection: &Connection, key: &str, value: &str) -> Option<()> {
        let mut body = BytesMut::new();
        body.put_u8(u8::try_from(key.len()).ok()?);
        body.put_slice(key.as_bytes());
        body.put_slice(value.as_bytes());
        self.ask(connection, PUT, body.freeze()).await.map(drop)
    }

    /// The value of a key.
    pub async fn get(&self, connection: &Connection, key: &str) -> Option<Bytes> {
        self.ask(connection, GET, Bytes::copy_from_slice(key.as_bytes())).await
    }

    /// A stream of the values of a key.
    pub async fn watch(&self, connection: &Connection, key: &str) -> Result<Stream, SendError> {
        connection.open_stream(&opening::new(WATCH, key.as_bytes())).await
    }

    async fn ask(&self, connection: &Connection, operation: Operation, body: Bytes) -> Option<Bytes> {
        let id = PacketId(self.1.fetch_add(1, atomic::Ordering::Relaxed));
        let (answers, answer) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, answers);
        connection.send(&Packet::new(id, operation, body)).await.ok()?;
        answer.await.ok()
    }
}
