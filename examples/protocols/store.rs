//! A key-value store with watches: server and client of a custom protocol, built on frisbee's public API.

use bytes::{BufMut, Bytes, BytesMut};
use frisbee::{Connection, Operation, Outbox, Packet, Routed, Router, SendError, Stream, TooLong, opening};
use frisbee_requests::{RequestError, Requester};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The operations of the protocol.
pub const OPERATIONS: RangeInclusive<u16> = 1000..=1002;
/// Stores a value: length of key, key, value. The reply is empty.
const PUT: Operation = operation(1000);
/// Requests the value of a key. The reply is empty if there is none.
const GET: Operation = operation(1001);
/// Opens a stream, with the key after the operation. The current value and each later one arrive as messages.
const WATCH: Operation = operation(1002);

/// Maximum number of keys, because clients choose them and they take memory permanently.
const KEYS_MAX: usize = 100_000;
const WATCHES_MAX: usize = 1000;

const fn operation(number: u16) -> Operation {
    Operation::user(number).expect("operation number should be in the user range")
}

/// The server. Clones share the stored values.
#[derive(Clone, Default)]
pub struct Store(Arc<Mutex<HashMap<Bytes, watch::Sender<Bytes>>>>);

impl Store {
    /// Calls `act` with a key, which is created if the limit permits.
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
                    // Copied, because slices would keep the whole read buffer alive.
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
                    // A slow watcher receives only the latest value.
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

/// The client.
#[derive(Clone, Default)]
pub struct Client(Requester);

impl Client {
    /// Returns the client's router.
    pub fn router(&self) -> Requester {
        self.0.clone()
    }

    /// Stores a value. Keys have at most 255 bytes.
    pub async fn put(&self, connection: &Connection, key: &str, value: &str) -> Result<(), RequestError> {
        let length = u8::try_from(key.len()).map_err(|_| TooLong { length: key.len(), limit: 255 })?;
        let mut body = BytesMut::new();
        body.put_u8(length);
        body.put_slice(key.as_bytes());
        body.put_slice(value.as_bytes());
        self.0.call(connection, PUT, body).await.map(drop)
    }

    /// Returns the value of a key.
    pub async fn get(&self, connection: &Connection, key: &str) -> Result<Bytes, RequestError> {
        Ok(self.0.call(connection, GET, key.to_owned()).await?.body)
    }

    /// Opens a stream of the values of a key.
    pub async fn watch(&self, connection: &Connection, key: &str) -> Result<Stream, SendError> {
        connection.open_stream(&opening::new(WATCH, key.as_bytes())).await
    }
}
