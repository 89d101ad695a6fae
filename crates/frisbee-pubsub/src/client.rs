//! Client of a broker, and the state that its handles and its router share.

#[cfg(feature = "typed")]
mod layouts;
mod shared;

use super::inbox::{Inbox, Subscription};
use super::receive::ClientRouter;
use super::reconnect::{Dial, Resubscription, keep};
use super::resume::{Follow, Start, Stream};
use super::{Kind, Operations, name, put};
use crate::topics::{TOPIC_MAX, TopicError, Trie, check_pattern, check_topic};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{
    BODY_MAX_LEAST, ClientBuilder, CloseReason, Connection, Outbox, Packet, PacketId, PacketWriter, SendError, TooLong,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::ToSocketAddrs;
use tokio::sync::oneshot;

/// Maximum size in bytes of a subscription's unread messages, equal to the default queue size of the broker.
const INBOX_MAX: usize = 16 * 1024 * 1024;

/// Timeout for replies of the broker. A broker usually replies within microseconds, and a peer that is not a broker may
/// never reply.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of outstanding replies to [`Client::sync`], including replies to cancelled calls. Equal to the
/// maximum number of fRPC calls in flight.
const SYNCS_MAX: usize = 16 * 1024;

/// Error returned when publishing or subscribing fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PubSubError {
    /// The topic, pattern or group name is invalid.
    Topic(TopicError),
    /// The message could not be sent, or the connection is closed.
    Send(SendError),
    /// The broker rejected the request for this reason.
    Refused(String),
    /// The broker has not replied within 10 s, or 16 384 calls of [`Client::sync`] are waiting for a reply. The peer
    /// may not be a broker.
    NoAnswer,
    /// All 65 535 subscription ids of this connection are in use.
    TooMany,
    /// The peer does not support the protocol extension, which typed messages require.
    NotNative,
    /// The message of a typed topic could not be encoded for this reason.
    Encoding(String),
}

impl fmt::Display for PubSubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(error) => error.fmt(f),
            Self::Send(error) => error.fmt(f),
            Self::Refused(text) => write!(f, "refused by the broker: {text}"),
            Self::NoAnswer => {
                write!(f, "no answer within {ANSWER_TIMEOUT:?}; the peer may not be a broker")
            }
            Self::TooMany => f.write_str("every subscription id of the connection is in use"),
            Self::NotNative => f.write_str("subscribing to a typed topic needs a native peer"),
            Self::Encoding(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for PubSubError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Topic(error) => Some(error),
            Self::Send(error) => Some(error),
            Self::Refused(_) | Self::NoAnswer | Self::TooMany | Self::NotNative | Self::Encoding(_) => None,
        }
    }
}

impl From<TopicError> for PubSubError {
    fn from(error: TopicError) -> Self {
        Self::Topic(error)
    }
}

impl From<SendError> for PubSubError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

/// Publishes and subscribes on one connection. Clones share the connection.
///
/// A client retries indefinitely to replace a lost connection, and its subscriptions continue; see
/// [`RecvError::Reconnected`](super::RecvError::Reconnected). Until the connection is replaced, publishing and
/// subscribing fail. Once the client and all its publishers and subscriptions have been dropped, the queued bytes are
/// written and the connection is closed. On a connection that the user has opened with a [`ClientRouter`],
/// subscriptions end with the connection.
#[derive(Clone, Debug)]
pub struct Client(pub(super) Arc<ClientShared>, pub(super) Option<Arc<OwnedConnection>>);

/// A connection that the client has opened itself. It stays open until the last user of the client is dropped.
#[derive(Debug)]
pub(super) struct OwnedConnection(Mutex<Connection>);

impl OwnedConnection {
    pub(super) fn connection(&self) -> Connection {
        self.0.lock().clone()
    }

    pub(super) fn replace(&self, connection: Connection) {
        *self.0.lock() = connection;
    }
}

impl Drop for OwnedConnection {
    fn drop(&mut self) {
        self.0.get_mut().close();
    }
}

/// State shared by the clones of a [`Client`] and by the router of its connection.
#[derive(Debug)]
pub(super) struct ClientShared {
    pub(super) operations: Operations,
    pub(super) inbox_max: usize,
    /// Connection for outgoing packets. Replaced after a reconnect; `None` before the first connection.
    connection: Mutex<Option<Connection>>,
    /// Whether the client reconnects after its connection is lost.
    is_persistent: AtomicBool,
    /// Number of changes to the subscriptions. The router compares it to detect that its cached routes are outdated.
    pub(super) version: AtomicU64,
    inner: Mutex<ClientState>,
}

/// Callers that are waiting for the reply to a subscription request, by subscription id.
type PendingAnswers = BTreeMap<u16, oneshot::Sender<Result<(), String>>>;

#[derive(Debug, Default)]
struct ClientState {
    /// All subscriptions of the client, by id. Lost messages and the end of the connection are reported in this order.
    inboxes: BTreeMap<u16, RegisteredSubscription>,
    /// Subscriptions that are not in queue groups, by pattern.
    by_pattern: Trie<u16, Arc<Inbox>>,
    /// Subscription id that was assigned last. An id is reused only after all others, so that no packet for the old
    /// subscription can be in transit.
    last_id: u16,
    pending: PendingAnswers,
    /// Callers that are waiting for the reply to a SYNC, in the order of their requests.
    syncs: VecDeque<oneshot::Sender<Result<(), String>>>,
    /// Reason why the first message since the last SYNC was rejected.
    refused: Option<String>,
    /// Reason why the last connection was lost.
    disconnect_reason: Option<CloseReason>,
    /// Position of each topic when the last connection closed. Subscriptions resume from there. The flag is set if the
    /// client has discarded positions.
    stream: (Stream, bool),
    /// Reason why the client is closed.
    closed: Option<CloseReason>,
    #[cfg(feature = "typed")]
    layouts: layouts::ClientLayouts,
}

/// A subscription that is registered in the client's table.
#[derive(Debug)]
struct RegisteredSubscription {
    inbox: Arc<Inbox>,
    pattern: Box<str>,
    group: Box<str>,
    /// Whether the subscription must be requested again on the next connection.
    is_disconnected: bool,
    follow: Option<Box<Follow>>,
}

impl RegisteredSubscription {
    /// Returns whether the subscription detects missing messages by their positions. If so, it ignores the broker's
    /// reports of lost messages.
    fn is_exact(&self) -> bool {
        self.follow.as_ref().is_some_and(|follow| follow.is_exact())
    }

    /// Returns whether the subscription must report messages that the connection has lost.
    fn is_lossy(&self) -> bool {
        self.follow.as_ref().is_none_or(|follow| follow.is_started() && !follow.is_exact())
    }

    /// Returns the request that renews the subscription on a new connection. Registers the caller that waits for the
    /// reply.
    fn again(&mut self, id: u16, pending: &mut PendingAnswers) -> Resubscription {
        let (answer, answered) = oneshot::channel();
        pending.insert(id, answer);
        self.is_disconnected = false;
        let (kind, body) = request(&self.pattern, &self.group, self.follow.as_deref());
        Resubscription { id, kind, body, inbox: self.inbox.clone(), answered }
    }
}

/// Encodes a subscription request as its kind and body.
fn request(pattern: &str, group: &str, follow: Option<&Follow>) -> (Kind, Vec<u8>) {
    let mut body = name(pattern);
    let Some(follow) = follow else {
        body.extend_from_slice(group.as_bytes());
        return (Kind::Subscribe, body);
    };
    body.extend_from_slice(&follow.request());
    (Kind::Follow, body)
}

impl Client {
    /// Connects to a broker with the default settings. The address is `host:port`, or on Unix the path of a socket as
    /// in `unix:/run/broker.sock`.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = frisbee_pubsub::Client::connect("localhost:7700").await?;
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If no address accepts the connection within the timeout.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes a connection that is already open.
    pub async fn connect(address: impl ToSocketAddrs + fmt::Display) -> Result<Self, frisbee::Error> {
        Self::connect_with(frisbee::Client::builder(), address).await
    }

    /// Connects to a broker with custom settings. See [`connect`](Self::connect) for the format of addresses.
    ///
    /// # Errors
    /// If no address accepts the connection within the timeout.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes a connection that is already open.
    pub async fn connect_with(
        settings: ClientBuilder,
        address: impl ToSocketAddrs + fmt::Display,
    ) -> Result<Self, frisbee::Error> {
        // Keep the address as text, because each reconnect must resolve it again.
        let address = address.to_string();
        Self::connect_by(Box::new(move |router| {
            let (settings, address) = (settings.clone(), address.clone());
            Box::pin(async move { settings.connect(&*address, router).await })
        }))
        .await
    }

    /// Connects to a broker over transports that a function creates. The function is called again for each reconnect.
    ///
    /// ```
    /// use frisbee::{Server, memory};
    /// use frisbee_pubsub::{Broker, Client};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // A client in the process of its broker.
    /// let acceptor = Server::builder().build(Broker::new())?;
    /// let client = Client::connect_with_connector(frisbee::Client::builder(), move || {
    ///     let (ours, theirs) = memory();
    ///     let acceptor = acceptor.clone();
    ///     tokio::spawn(async move { acceptor.serve_connection(theirs).await });
    ///     async { Ok(ours) }
    /// })
    /// .await?;
    /// client.publish("orders.north", "42 apples").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the first error of the function or of the connection.
    ///
    /// # Cancel safety
    /// Same as [`connect`](Self::connect).
    pub async fn connect_with_connector<C, F, T>(settings: ClientBuilder, connector: C) -> Result<Self, frisbee::Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::connect_by(Box::new(move |router| {
            let (settings, transport) = (settings.clone(), connector());
            Box::pin(async move {
                let failed = |source| frisbee::Error::Connect { address: "the connector".to_owned(), source };
                settings.connect_io(transport.await.map_err(failed)?, router).await
            })
        }))
        .await
    }

    async fn connect_by(dial: Dial) -> Result<Self, frisbee::Error> {
        let router = ClientRouter::new();
        let Self(shared, _) = router.client();
        // Set the flag before dialling. Otherwise, a connection that is lost early would close the client instead of
        // being replaced.
        shared.is_persistent.store(true, Ordering::Relaxed);
        let own = Arc::new(OwnedConnection(Mutex::new(dial(router).await?)));
        // The references are weak, because the task must not keep the client alive.
        tokio::spawn(keep(Arc::downgrade(&own), Arc::downgrade(&shared), dial));
        Ok(Self(shared, Some(own)))
    }

    /// Subscribes to all topics that match a pattern. `*` matches exactly one token, and `>` at the end matches one or
    /// more tokens.
    ///
    /// Once this returns, the subscription receives all later messages of all publishers until it is dropped.
    ///
    /// # Errors
    /// If the pattern is invalid, the broker rejects the subscription or does not reply, or the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion cancels the subscription.
    pub async fn subscribe(&self, pattern: &str) -> Result<Subscription, PubSubError> {
        self.subscribe_in(pattern, "", None).await
    }

    /// Subscribes to topics with a [history](super::BrokerBuilder::history), starting at the given message.
    ///
    /// After a lost connection, the subscription resumes where it was interrupted. Each message arrives exactly once
    /// and in the order of its topic, or [`RecvError::Lagged`](super::RecvError::Lagged) reports how many are missing.
    /// If the number is unknown because the broker was restarted,
    /// [`RecvError::Reconnected`](super::RecvError::Reconnected) is returned. If a topic has no history, or the broker
    /// does not support histories, the subscription starts with the next message, as with
    /// [`subscribe`](Self::subscribe).
    ///
    /// ```
    /// use frisbee::Server;
    /// use frisbee_pubsub::{Broker, Client, History, Start};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let broker = Broker::builder().history("prices.*", History::last(1)).build();
    /// # let server = Server::builder().bind("127.0.0.1:0", broker).await?;
    /// # let address = server.local_addr();
    /// # tokio::spawn(server.serve());
    /// let client = Client::connect(address).await?;
    /// client.publish("prices.apples", "1.20").await?;
    /// client.publish("prices.apples", "1.30").await?;
    ///
    /// let mut prices = client.subscribe_from("prices.*", Start::Last).await?;
    /// let price = prices.recv().await?;
    /// assert_eq!(price.payload(), "1.30");
    /// assert_eq!(price.position().map(|position| position.offset), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe). Also fails for [`Start::After`] if the pattern has wildcards.
    ///
    /// # Cancel safety
    /// Same as [`subscribe`](Self::subscribe).
    pub async fn subscribe_from(&self, pattern: &str, start: Start) -> Result<Subscription, PubSubError> {
        if matches!(start, Start::After(_)) {
            check_topic(pattern.as_bytes())?;
        }
        self.subscribe_in(pattern, "", Some(start)).await
    }

    /// Subscribes as a member of a queue group. Each message is delivered to one member of the group, over all
    /// connections.
    ///
    /// Members are selected round-robin, and members with a long queue are skipped. Members may have different
    /// patterns. A message is delivered to one of the members with a matching pattern.
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe). Also fails if the group name has more than 255 bytes.
    ///
    /// # Cancel safety
    /// Same as [`subscribe`](Self::subscribe).
    pub async fn queue_subscribe(&self, pattern: &str, group: &str) -> Result<Subscription, PubSubError> {
        if group.is_empty() || group.len() > TOPIC_MAX {
            return Err(TopicError::Length(group.len()).into());
        }
        self.subscribe_in(pattern, group, None).await
    }

    async fn subscribe_in(
        &self,
        pattern: &str,
        group: &str,
        start: Option<Start>,
    ) -> Result<Subscription, PubSubError> {
        let pattern = check_pattern(pattern.as_bytes())?;
        let connection = self.connection()?;
        let (answer, answered) = oneshot::channel();
        let follow = start.map(|start| Box::new(Follow::new(pattern, start)));
        let (kind, body) = request(pattern, group, follow.as_deref());
        let subscription = self.0.enter((pattern, group, follow), answer, self.1.clone())?;
        let operation = self.0.operations.of(kind);
        connection.send(&Packet::new(PacketId(subscription.id), operation, body)).await?;
        self.answer(answered).await?.map_err(PubSubError::Refused)?;
        Ok(subscription)
    }

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

    /// Waits until the broker has processed all earlier requests of this client. Published messages are then in the
    /// queues of their subscribers, and dropped subscriptions receive nothing more. The broker's reply follows the
    /// messages that it has already queued for this client.
    ///
    /// # Errors
    /// If the connection is closed, the peer does not reply, or the broker has rejected an earlier message, for example
    /// because of [`permit`](super::BrokerBuilder::permit) or its [backplane](super::Backplane).
    ///
    /// # Cancel safety
    /// Dropping the future has no effect on earlier requests.
    pub async fn sync(&self) -> Result<(), PubSubError> {
        let (answer, answered) = oneshot::channel();
        let operation = self.0.operations.of(Kind::Sync);
        {
            // Hold the lock while the request is sent and its caller is registered, because replies arrive in the order
            // of the requests.
            let mut inner = self.0.inner.lock();
            if inner.syncs.len() >= SYNCS_MAX {
                return Err(PubSubError::NoAnswer);
            }
            self.connection()?.send_now(|outbox| put(outbox, PacketId(0), operation, &[]))?;
            inner.syncs.push_back(answer);
        }
        self.answer(answered).await?.map_err(PubSubError::Refused)
    }

    /// Returns the current connection. While the client reconnects, this is the connection that was lost.
    ///
    /// # Errors
    /// If the [router](ClientRouter) has not been connected yet.
    pub fn connection(&self) -> Result<Connection, SendError> {
        let connection = self.0.connection.lock().clone();
        connection.ok_or_else(|| SendError::Closed(CloseReason::Router("not connected yet".into())))
    }

    /// Closes the connection and stops reconnecting. Subscriptions end after the messages that they have received.
    pub fn close(&self) {
        self.0.stop_reconnecting();
        match self.connection() {
            Ok(connection) if !connection.is_closed() => connection.close(),
            // The lost connection has reported its end before, and there will be no other one.
            _ => self.0.handle_close(&CloseReason::Local),
        }
    }

    async fn answer<T>(&self, answered: oneshot::Receiver<T>) -> Result<T, PubSubError> {
        match tokio::time::timeout(ANSWER_TIMEOUT, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(SendError::Closed(self.0.close_reason()).into()),
            Err(_) => Err(PubSubError::NoAnswer),
        }
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

    /// Publishes a message unless the outbox is full or the connection is closed.
    #[inline(always)]
    fn try_publish<T>(&self, write: &mut impl FnMut(PacketWriter<'_>) -> T) -> Option<T> {
        self.connection.try_send_with(|outbox| self.put(outbox, write)).ok()
    }

    async fn publish_later<T>(&self, write: &mut impl FnMut(PacketWriter<'_>) -> T) -> Result<T, SendError> {
        match self.publish_on(&self.connection, write).await {
            Err(closed @ SendError::Closed(_)) => match self.shared.newer(&self.connection) {
                Some(connection) => self.publish_on(&connection, write).await,
                None => Err(closed),
            },
            published => published,
        }
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
        let mut packet = outbox.packet(PacketId(0), self.operations.of(Kind::Message));
        packet.put_slice(&self.head);
        write(packet)
    }
}

#[inline(always)]
fn put_payload(mut packet: PacketWriter<'_>, payload: &Bytes) -> Result<(), TooLong> {
    packet.put_shared(payload);
    packet.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{Broker, FIRST_OPERATION, RecvError};
    use super::*;
    use frisbee::testing::DetachedConnection;
    use tokio::runtime::Handle;

    /// Regression test: messages for a dropped subscription were delivered to the next subscription with the same id,
    /// which then missed its own first messages.
    #[test]
    fn subscription_gets_messages_only_after_its_answer() {
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let first = shared.persistent_subscription("topic");
        let second = shared
            .enter(("topic", "", None), oneshot::channel().0, None)
            .expect("second subscription should be registered on the open client");
        assert!(shared.matching("topic").iter().all(|inbox| Arc::ptr_eq(inbox, &first.inbox)));
        drop(first);
        assert!(shared.matching("topic").is_empty());
        let version = shared.version.load(Ordering::Acquire);
        shared.handle_answer(second.id, Ok(()));
        assert_eq!(shared.matching("topic").len(), 1);
        assert_ne!(shared.version.load(Ordering::Acquire), version, "cached matches should be looked up again");
    }

    /// Regression test: when a member left its queue group, the messages in its queue were lost.
    #[tokio::test]
    async fn drained_group_member_keeps_queued_messages() {
        let acceptor = frisbee::Server::builder().build(Broker::new()).expect("default settings should be valid");
        let connect = || {
            let acceptor = acceptor.clone();
            Client::connect_with_connector(frisbee::Client::builder(), move || {
                let (here, there) = frisbee::memory();
                let acceptor = acceptor.clone();
                tokio::spawn(async move { acceptor.serve_connection(there).await });
                async { Ok(here) }
            })
        };
        let [publisher, leaving, staying] = [connect().await, connect().await, connect().await]
            .map(|client| client.expect("acceptor should accept the connection"));
        let mut leaves = leaving
            .queue_subscribe("jobs", "workers")
            .await
            .expect("broker should accept the queue subscription of the leaving member");
        let mut stays = staying
            .queue_subscribe("jobs", "workers")
            .await
            .expect("broker should accept the queue subscription of the remaining member");
        for job in 0..30 {
            publisher.publish("jobs", vec![job]).await.expect("publisher should send the job");
        }
        publisher.sync().await.expect("broker should reply to SYNC");
        leaves.drain().await.expect("broker should confirm the drain");
        publisher.publish("jobs", vec![30]).await.expect("publisher should send the last job");
        let mut jobs = Vec::new();
        loop {
            match leaves.recv().await {
                Ok(job) => jobs.extend_from_slice(job.payload()),
                Err(RecvError::Closed(CloseReason::Local)) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(jobs.len(), 15);
        while jobs.len() < 31 {
            jobs.extend_from_slice(
                stays
                    .recv()
                    .await
                    .expect("remaining member of the queue group should receive the other messages")
                    .payload(),
            );
        }
        jobs.sort_unstable();
        assert_eq!(jobs, (0..31).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn last_dropped_user_closes_newest_connection() {
        let [closed, next] = [(); 2].map(|()| DetachedConnection::new(Handle::current(), usize::MAX));
        let own = OwnedConnection(Mutex::new(closed.connection().clone()));
        own.replace(next.connection().clone());
        assert!(own.connection().is_same(next.connection()));
        drop(own);
        assert_eq!([closed, next].map(|connection| connection.closing().is_some()), [false, true]);
    }
}
