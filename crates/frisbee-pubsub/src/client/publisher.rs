//! Publication of messages to a single topic.

use super::{Client, ClientShared, OwnedConnection, PubSubError};
use crate::topics::check_topic;
use crate::{Kind, Operations, name};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{BODY_MAX_LEAST, Connection, Outbox, PacketId, PacketWriter, SendError, TooLong};
use std::future::poll_fn;
use std::sync::Arc;

impl Client {
    /// Publishes a message once the connection has space for it.
    ///
    /// Delivery is not confirmed. [`sync`](Self::sync) waits until the broker has received the message.
    ///
    /// # Errors
    /// If the topic is invalid, the message is too long or the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion publishes nothing.
    pub async fn publish(&self, topic: &str, payload: impl Into<Bytes>) -> Result<(), PubSubError> {
        self.publisher(topic)?.publish(payload).await
    }

    /// Creates a publisher for one topic. The topic is validated here instead of for each message.
    ///
    /// # Errors
    /// If the topic is invalid, or there is no connection yet.
    pub fn publisher(&self, topic: &str) -> Result<Publisher, PubSubError> {
        let topic = check_topic(topic.as_bytes())?;
        Ok(Publisher {
            connection: self.connection()?,
            shared: self.0.clone(),
            _own: self.1.clone(),
            head: name(topic).into(),
            operations: self.0.operations,
        })
    }
}

/// Publishes messages to a single topic.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// Connection that the client used when the publisher was created.
    connection: Connection,
    shared: Arc<ClientShared>,
    _own: Option<Arc<OwnedConnection>>,
    /// Name of the topic with its length prefix, as encoded in each message.
    head: Bytes,
    operations: Operations,
}

impl Publisher {
    /// Publishes a message once the connection has space for it. If the message is longer than [`BODY_MAX_LEAST`],
    /// first waits until the broker's limit is known. Large payloads are not copied.
    ///
    /// # Errors
    /// If the message is too long or the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion publishes nothing.
    pub async fn publish(&self, payload: impl Into<Bytes>) -> Result<(), PubSubError> {
        let payload = payload.into();
        if self.head.len() + payload.len() > BODY_MAX_LEAST as usize {
            // Wait for the limit of the peer, because an oversized message would close the connection. If the
            // connection has closed, sending fails below.
            let newer = self.shared.newer(&self.connection);
            let _ = newer.as_ref().unwrap_or(&self.connection).peer_known().await;
        }
        // Write the closure twice instead of calling `publish_with`, because the compiler inlines only closures with a
        // single call.
        let written = match self.try_publish(&mut |packet: PacketWriter<'_>| put_payload(packet, &payload)) {
            Some(written) => written,
            None => self.publish_later(&mut |packet: PacketWriter<'_>| put_payload(packet, &payload)).await?,
        };
        written.map_err(|error| SendError::TooLong(error).into())
    }

    /// Calls `write` once the connection has space for a message. `write` must append the payload to the packet and
    /// finish it. For encoders that write directly to the outbox.
    ///
    /// # Errors
    /// If the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion publishes nothing.
    pub async fn publish_with<T>(&self, mut write: impl FnMut(PacketWriter<'_>) -> T) -> Result<T, SendError> {
        match self.try_publish(&mut write) {
            Some(written) => Ok(written),
            None => self.publish_later(&mut write).await,
        }
    }

    /// Publishes a message, or returns `None` if the outbox is full or the connection is closed.
    #[inline(always)]
    fn try_publish<T>(&self, write: &mut impl FnMut(PacketWriter<'_>) -> T) -> Option<T> {
        self.connection.try_send_with(|outbox| self.put(outbox, write)).ok()
    }

    async fn publish_later<T>(&self, write: &mut impl FnMut(PacketWriter<'_>) -> T) -> Result<T, SendError> {
        match self.publish_on(&self.connection, write).await {
            Err(closed @ SendError::Closed(_)) => match self.shared.newer(&self.connection) {
                Some(connection) => {
                    // `write` may append a payload of any length, and an oversized message closes the connection.
                    // Therefore wait until the limit of the broker is known.
                    let _ = connection.peer_known().await;
                    self.publish_on(&connection, write).await
                }
                None => Err(closed),
            },
            published => published,
        }
    }

    /// Waits until the maximum message size of the broker is known, or the connection has closed.
    #[cfg(feature = "typed")]
    pub(crate) async fn limit_known(&self) {
        let _ = self.connection.peer_known().await;
    }

    async fn publish_on<T>(
        &self,
        connection: &Connection,
        write: &mut impl FnMut(PacketWriter<'_>) -> T,
    ) -> Result<T, SendError> {
        let mut waiter = connection.waiter();
        poll_fn(|context| waiter.poll_send(context, |outbox| self.put(outbox, write))).await
    }

    #[inline(always)] // The compiler would not inline it in the fast path, because the slow path calls it too.
    fn put<T>(&self, outbox: &mut Outbox, write: &mut impl FnMut(PacketWriter<'_>) -> T) -> T {
        let before = outbox.len();
        let mut packet = outbox.packet(PacketId(0), self.operations.of(Kind::Message));
        packet.put_slice(&self.head);
        let written = write(packet);
        // A message that is too long is not sent, so it cannot be lost either.
        if outbox.len() > before {
            self.shared.record_published();
        }
        written
    }
}

#[inline(always)]
fn put_payload(mut packet: PacketWriter<'_>, payload: &Bytes) -> Result<(), TooLong> {
    packet.put_shared(payload);
    packet.finish()
}
