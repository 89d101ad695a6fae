//! A key-value store with watches: server and client of a protocol of its own, on the public interface of frisbee.

use bytes::{BufMut, Bytes, BytesMut};
use frisbee::{Connection, Operation, Outbox, Packet, Protocol, Routed, SendError, Stream, TooLong, opening};
use frisbee_requests::{RequestError, Requester};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Where the protocol is mounted.
pub const OPERATIONS: RangeInclusive<u16> = 1000..=1002;
/// Length of key, key, value. Answered without a body.
const PUT: Operation = operation(1000);
/// The key. Answered with its value, which is empty if there is none.
const GET: Operation = operation(1001);
/// Opens a stream, with the key after the operation. Its value arrives as a message, and each later one.
const WATCH: Operation = operation(1002);

/// Keys are chosen by clients and take memory for ever; watches take a task.
const KEYS_MAX: usize = 100_000;
const WATCHES_MAX: usize = 1000;

const fn operation(number: u16) -> Operation {
    Operation::user(number).expect("operation should be in the range of users")
}

/// The serving end. Clones share the stored values.
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

impl Protocol for Store {
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
                    self.with(Bytes::copy_from_slice(key), |value_sender| drop(value_sender.send_replace(value)))
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
        outbox.push(id, operation, answer).into()
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
                    // A slow watcher gets the latest value only.
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

/// The calling end.
#[derive(Clone, Default)]
pub struct Client(Requester);

impl Client {
    /// The router of the calling end.
    pub fn router(&self) -> Requester {
        self.0.clone()
    }

    /// Stores a value. Keys have up to 255 bytes.
    pub async fn put(&self, connection: &Connection, key: &str, value: &str) -> Result<(), RequestError> {
        let length = u8::try_from(key.len()).map_err(|_| TooLong { length: key.len(), limit: 255 })?;
        let mut body = BytesMut::new();
        body.put_u8(length);
        body.put_slice(key.as_bytes());
        body.put_slice(value.as_bytes());
        self.0.call(connection, PUT, body).await.map(drop)
    }

    /// The value of a key.
    pub async fn get(&self, connection: &Connection, key: &str) -> Result<Bytes, RequestError> {
        Ok(self.0.call(connection, GET, key.to_owned()).await?.body)
    }

    /// A stream of the values of a key.
    pub async fn watch(&self, connection: &Connection, key: &str) -> Result<Stream, SendError> {
        connection.open_stream(&opening::new(WATCH, key.as_bytes())).await
    }
}
