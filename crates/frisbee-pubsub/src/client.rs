//! The broker's other end: publishing and subscribing, and the state that handles and router share.

mod shared;

use super::inbox::{Inbox, Subscription};
use super::receive::ClientRouter;
use super::reconnect::{Dial, Resubscription, keep};
use super::resume::{Follow, Start, Stream};
use super::{Kind, Operations, name, put};
use crate::topics::{TOPIC_MAX, TopicError, Trie, check_pattern, check_topic};
use bytes::Bytes;
use frisbee::{
    BODY_MAX_LEAST, ClientBuilder, CloseReason, Connection, Packet, PacketId, PacketWriter, SendError, TooLong,
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

/// The number of bytes that may wait unread at one subscription: as many as may wait for it at the broker.
const INBOX_MAX: usize = 16 * 1024 * 1024;

/// How long a broker may take to answer. One that is alive takes microseconds; a peer that is no broker may never
/// answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Answers to [`Client::sync`] that may be outstanding, including those whose callers have gone: as many as fRPC's
/// calls. A broker answers them in order and is hardly ever late by more than a few.
const SYNCS_MAX: usize = 16 * 1024;

/// Why publishing or subscribing failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PubSubError {
    /// The topic, the pattern or the name of the group is none.
    Topic(TopicError),
    /// The message could not be sent, or the connection has ended.
    Send(SendError),
    /// The broker refuses, for this reason.
    Refused(String),
    /// The broker has not answered for 10 s, or owes 16 384 answers to [`Client::sync`]: the peer may not be one.
    NoAnswer,
    /// All 65 535 ids of subscriptions are in use on this connection.
    TooMany,
    /// The peer is not native, and typed messages are for native peers.
    NotNative,
    /// The message of a typed topic cannot be encoded, for this reason.
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

/// Publishes and subscribes on one connection. A clone uses the same connection.
///
/// A client replaces its own connection when it is lost, however long that takes, and subscriptions continue: see
/// [`RecvError::Reconnected`](super::RecvError::Reconnected). Until then publishing and subscribing fail. It is closed,
/// after all queued bytes are written, when the client and its publishers and subscriptions have all been dropped. A
/// connection with a [`ClientRouter`] that its user has made ends with its subscriptions.
#[derive(Clone, Debug)]
pub struct Client(pub(super) Arc<ClientShared>, pub(super) Option<Arc<OwnedConnection>>);

/// The connection that a client has made for itself, held by all its users.
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

/// The state that handles and router share.
#[derive(Debug)]
pub(super) struct ClientShared {
    pub(super) operations: Operations,
    pub(super) inbox_max: usize,
    /// The connection at present.
    connection: Mutex<Option<Connection>>,
    /// A connection that is lost is made again.
    is_persistent: AtomicBool,
    /// Grows with each change of the subscriptions.
    pub(super) version: AtomicU64,
    inner: Mutex<ClientState>,
}

/// By id, the callers that wait for the answer to a subscription.
type PendingAnswers = BTreeMap<u16, oneshot::Sender<Result<(), String>>>;

#[derive(Debug, Default)]
struct ClientState {
    /// All inboxes, by id: the order of their notifications of losses and of the end.
    inboxes: BTreeMap<u16, RegisteredSubscription>,
    /// Those that are not members of a group, by their patterns.
    by_pattern: Trie<u16, Arc<Inbox>>,
    /// The id given out last. An id is used again only after all others, when nothing sent to it can be under way.
    last_id: u16,
    pending: PendingAnswers,
    /// The callers that wait for a SYNC, in order.
    syncs: VecDeque<oneshot::Sender<Result<(), String>>>,
    /// Why a message was refused since the last SYNC.
    refused: Option<String>,
    /// Why the last connection was lost.
    disconnect_reason: Option<CloseReason>,
    /// The positions at the end of the last connection, and whether some were forgotten.
    stream: (Stream, bool),
    /// Why the client is closed.
    closed: Option<CloseReason>,
}

/// A subscription, as its connection knows it.
#[derive(Debug)]
struct RegisteredSubscription {
    inbox: Arc<Inbox>,
    pattern: Box<str>,
    group: Box<str>,
    /// It is to be made again on the next connection.
    is_disconnected: bool,
    follow: Option<Box<Follow>>,
}

impl RegisteredSubscription {
    /// Whether positions state the missing messages.
    fn is_exact(&self) -> bool {
        self.follow.as_ref().is_some_and(|follow| follow.is_exact())
    }

    /// The request to make it again. The answer is awaited.
    fn again(&mut self, id: u16, pending: &mut PendingAnswers) -> Resubscription {
        let (answer, answered) = oneshot::channel();
        pending.insert(id, answer);
        self.is_disconnected = false;
        let (kind, body) = request(&self.pattern, &self.group, self.follow.as_deref());
        Resubscription { id, kind, body, inbox: self.inbox.clone(), answered }
    }
}

/// The request of a subscription.
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
    /// Connects to a broker with the default settings: to `host:port`, or on Unix to the socket at a path, as in
    /// `unix:/run/broker.sock`.
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
    /// If no address accepts the connection in time.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt; an open connection is closed.
    pub async fn connect(address: impl ToSocketAddrs + fmt::Display) -> Result<Self, frisbee::Error> {
        Self::connect_with(frisbee::Client::builder(), address).await
    }

    /// Connects to a broker with settings. Addresses are those of [`connect`](Self::connect).
    ///
    /// # Errors
    /// If no address accepts the connection in time.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt; an open connection is closed.
    pub async fn connect_with(
        settings: ClientBuilder,
        address: impl ToSocketAddrs + fmt::Display,
    ) -> Result<Self, frisbee::Error> {
        // The address in its textual form is looked up again for each connection.
        let address = address.to_string();
        Self::connect_by(Box::new(move |router| {
            let (settings, address) = (settings.clone(), address.clone());
            Box::pin(async move { settings.connect(&*address, router).await })
        }))
        .await
    }

    /// Connects to a broker over transports of a function, which is called again when the connection was lost.
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
    /// The first error of the function, or of the connection.
    ///
    /// # Cancel safety
    /// As [`connect`](Self::connect).
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
        shared.is_persistent.store(true, Ordering::Relaxed);
        let own = Arc::new(OwnedConnection(Mutex::new(dial(router).await?)));
        tokio::spawn(keep(Arc::downgrade(&own), Arc::downgrade(&shared), dial));
        Ok(Self(shared, Some(own)))
    }

    /// Subscribes to a pattern: topics with `*` for any one token, and `>` at the end for one token or more.
    ///
    /// When this is done, everything that anybody publishes from then on arrives, until the subscription is dropped.
    ///
    /// # Errors
    /// If the pattern is none, the broker refuses or does not answer, or the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready takes the subscription back.
    pub async fn subscribe(&self, pattern: &str) -> Result<Subscription, PubSubError> {
        self.subscribe_in(pattern, "", None).await
    }

    /// Subscribes to topics with a [history](super::BrokerBuilder::history), from a message on.
    ///
    /// After a lost connection the subscription continues where it was: each message arrives exactly once and in the order
    /// of its topic, or [`RecvError::Lagged`](super::RecvError::Lagged) states how many are missing. If that is unknown,
    /// because the broker was restarted, there is [`RecvError::Reconnected`](super::RecvError::Reconnected). Topics without a
    /// history, and brokers that know none, begin with the next message, and are as in [`subscribe`](Self::subscribe).
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
    /// As [`subscribe`](Self::subscribe), and for [`Start::After`] with a pattern that has wildcards.
    ///
    /// # Cancel safety
    /// As [`subscribe`](Self::subscribe).
    pub async fn subscribe_from(&self, pattern: &str, start: Start) -> Result<Subscription, PubSubError> {
        if matches!(start, Start::After(_)) {
            check_topic(pattern.as_bytes())?;
        }
        self.subscribe_in(pattern, "", Some(start)).await
    }

    /// Subscribes as a member of a queue group: of all members of a group, on any connection, one gets each message.
    ///
    /// They take turns; a member with a long queue is passed over. Members may have different patterns: a message goes
    /// to one of those whose patterns match.
    ///
    /// # Errors
    /// As [`subscribe`](Self::subscribe), and if the name has more than 255 bytes.
    ///
    /// # Cancel safety
    /// As [`subscribe`](Self::subscribe).
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

    /// Publishes a message, once the connection has room.
    ///
    /// There is no confirmation that it has arrived anywhere; [`sync`](Self::sync) waits until the broker has it.
    ///
    /// # Errors
    /// If the topic is none, the message too long or the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready publishes nothing.
    pub async fn publish(&self, topic: &str, payload: impl Into<Bytes>) -> Result<(), PubSubError> {
        self.publisher(topic)?.publish(payload).await
    }

    /// Publishes to one topic, which is checked here once and for all.
    ///
    /// # Errors
    /// If the topic is none, or there is no connection yet.
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

    /// Waits until the broker has taken in all that was sent before: messages have been handed to their subscribers'
    /// queues, and dropped subscriptions get nothing more.
    ///
    /// # Errors
    /// If the connection has ended, the peer does not answer, or the broker has refused a message that was published
    /// before, as by its [rules](super::BrokerBuilder::permit) or for its [backplane](super::Backplane).
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn sync(&self) -> Result<(), PubSubError> {
        let (answer, answered) = oneshot::channel();
        let operation = self.0.operations.of(Kind::Sync);
        {
            // Answers arrive in the order of the requests, so both are under one lock.
            let mut inner = self.0.inner.lock();
            if inner.syncs.len() >= SYNCS_MAX {
                return Err(PubSubError::NoAnswer);
            }
            self.connection()?.send_now(|outbox| put(outbox, PacketId(0), operation, &[]))?;
            inner.syncs.push_back(answer);
        }
        self.answer(answered).await?.map_err(PubSubError::Refused)
    }

    /// The connection at present; one that was lost, until there is another.
    ///
    /// # Errors
    /// If its [router](ClientRouter) has not been connected yet.
    pub fn connection(&self) -> Result<Connection, SendError> {
        let connection = self.0.connection.lock().clone();
        connection.ok_or_else(|| SendError::Closed(CloseReason::Router("not connected yet".into())))
    }

    async fn answer<T>(&self, answered: oneshot::Receiver<T>) -> Result<T, PubSubError> {
        match tokio::time::timeout(ANSWER_TIMEOUT, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(SendError::Closed(self.0.close_reason()).into()),
            Err(_) => Err(PubSubError::NoAnswer),
        }
    }
}

/// Publishes to one topic.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// The connection when this was made.
    connection: Connection,
    shared: Arc<ClientShared>,
    _own: Option<Arc<OwnedConnection>>,
    /// The topic with its length in front.
    head: Bytes,
    operations: Operations,
}

impl Publisher {
    /// Publishes a message, once the connection has room; one longer than [`BODY_MAX_LEAST`], once the limit of the broker
    /// is known. A large payload is not copied.
    ///
    /// # Errors
    /// If the message is too long or the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready publishes nothing.
    pub async fn publish(&self, payload: impl Into<Bytes>) -> Result<(), PubSubError> {
        let payload = payload.into();
        if self.head.len() + payload.len() > BODY_MAX_LEAST as usize {
            // Before, too long a message would end the connection. If that has ended, sending fails.
            let newer = self.shared.newer(&self.connection);
            let _ = newer.as_ref().unwrap_or(&self.connection).peer_known().await;
        }
        self.publish_with(|packet| put_payload(packet, &payload))
            .await?
            .map_err(|error| SendError::TooLong(error).into())
    }

    /// Lets `write` append a payload to the packet, and finish it, once the connection has room. For encoders. It is
    /// called once.
    ///
    /// # Errors
    /// If the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready publishes nothing.
    pub async fn publish_with<T>(&self, mut write: impl FnMut(PacketWriter<'_>) -> T) -> Result<T, SendError> {
        match self.publish_on(&self.connection, &mut write).await {
            Err(closed @ SendError::Closed(_)) => match self.shared.newer(&self.connection) {
                Some(connection) => self.publish_on(&connection, &mut write).await,
                None => Err(closed),
            },
            published => published,
        }
    }

    #[inline]
    async fn publish_on<T>(
        &self,
        connection: &Connection,
        write: &mut impl FnMut(PacketWriter<'_>) -> T,
    ) -> Result<T, SendError> {
        let mut waiter = connection.waiter();
        let published = poll_fn(|context| {
            waiter.poll_send(context, |outbox| {
                let mut packet = outbox.packet(PacketId(0), self.operations.of(Kind::Message));
                packet.put_slice(&self.head);
                write(packet)
            })
        });
        published.await
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

    /// Messages of a subscription that was dropped reached its successor, which had a hole until its own began.
    #[test]
    fn subscription_gets_messages_only_after_its_answer() {
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let first = shared.persistent_subscription("topic");
        let second = shared.enter(("topic", "", None), oneshot::channel().0, None).expect("client should be open");
        assert!(shared.matching("topic").iter().all(|inbox| Arc::ptr_eq(inbox, &first.inbox)));
        drop(first);
        assert!(shared.matching("topic").is_empty());
        let version = shared.version.load(Ordering::Acquire);
        shared.handle_answer(second.id, Ok(()));
        assert_eq!(shared.matching("topic").len(), 1);
        assert_ne!(shared.version.load(Ordering::Acquire), version, "cached matches should be looked up again");
    }

    /// A member of a queue group lost the messages in its queue when it left.
    #[tokio::test]
    async fn drained_member_of_a_group_keeps_its_messages() {
        let acceptor = frisbee::Server::builder().build(Broker::new()).expect("settings should be valid");
        let connect = || {
            let acceptor = acceptor.clone();
            Client::connect_with_connector(frisbee::Client::builder(), move || {
                let (here, there) = frisbee::memory();
                let acceptor = acceptor.clone();
                tokio::spawn(async move { acceptor.serve_connection(there).await });
                async { Ok(here) }
            })
        };
        let [publisher, leaving, staying] =
            [connect().await, connect().await, connect().await].map(|client| client.expect("server should accept"));
        let mut leaves = leaving.queue_subscribe("jobs", "workers").await.expect("pattern should be valid");
        let mut stays = staying.queue_subscribe("jobs", "workers").await.expect("pattern should be valid");
        for job in 0..30 {
            publisher.publish("jobs", vec![job]).await.expect("connection should be open");
        }
        publisher.sync().await.expect("broker should answer");
        leaves.drain().await.expect("broker should answer");
        publisher.publish("jobs", vec![30]).await.expect("connection should be open");
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
            jobs.extend_from_slice(stays.recv().await.expect("member should get its messages").payload());
        }
        jobs.sort_unstable();
        assert_eq!(jobs, (0..31).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn client_users_share_newest_connection_and_last_closes_it() {
        let [closed, next] = [(); 2].map(|()| DetachedConnection::new(Handle::current(), usize::MAX));
        let own = OwnedConnection(Mutex::new(closed.connection().clone()));
        own.replace(next.connection().clone());
        assert!(own.connection().is_same(next.connection()));
        drop(own);
        assert_eq!([closed, next].map(|connection| connection.closing().is_some()), [false, true]);
    }
}
