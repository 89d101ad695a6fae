//! The broker's other end: publishing and subscribing, and the state that handles and router share.

use super::inbox::{Entry, Inbox, Notice, Subscription};
use super::receive::ClientRouter;
use super::reconnect::{Again, Dial, keep};
use super::resume::{Follow, Gap, Start, Stream};
use super::{Kind, Operations, name, put};
use crate::topics::{TOPIC_MAX, TopicError, Trie, check_pattern, check_topic};
use bytes::Bytes;
use frisbee::{ClientBuilder, CloseReason, Connection, Packet, PacketId, PacketWriter, SendError, TooLong};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
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
        }
    }
}

impl std::error::Error for PubSubError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Topic(error) => Some(error),
            Self::Send(error) => Some(error),
            Self::Refused(_) | Self::NoAnswer | Self::TooMany => None,
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
pub struct Client(pub(super) Arc<ClientShared>, pub(super) Option<Arc<Own>>);

/// The connection that a client has made for itself, held by all its users.
#[derive(Debug)]
pub(super) struct Own(Mutex<Connection>);

impl Own {
    pub(super) fn connection(&self) -> Connection {
        self.0.lock().clone()
    }

    pub(super) fn replace(&self, connection: Connection) {
        *self.0.lock() = connection;
    }
}

impl Drop for Own {
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
    is_kept: AtomicBool,
    /// Grows with each change of the subscriptions.
    pub(super) version: AtomicU64,
    inner: Mutex<ClientState>,
}

#[derive(Debug, Default)]
struct ClientState {
    /// All inboxes, by id: the order of their notifications of losses and of the end.
    inboxes: BTreeMap<u16, Entered>,
    /// Those that are not members of a group, by their patterns.
    by_pattern: Trie<u16, Arc<Inbox>>,
    /// The id given out last. An id is used again only after all others, when nothing sent to it can be under way.
    last_id: u16,
    /// The caller that waits for the answer to a subscription.
    asked: BTreeMap<u16, oneshot::Sender<Result<(), String>>>,
    /// The callers that wait for a SYNC, in order.
    syncs: VecDeque<oneshot::Sender<Result<(), String>>>,
    /// Why a message was refused since the last SYNC.
    refused: Option<String>,
    /// Why the last connection was lost.
    lost: Option<CloseReason>,
    /// The positions at the end of the last connection, and whether some were forgotten.
    stream: (Stream, bool),
    /// Why there is none any more.
    closed: Option<CloseReason>,
}

/// A subscription, as its connection knows it.
#[derive(Debug)]
struct Entered {
    inbox: Arc<Inbox>,
    pattern: Box<str>,
    group: Box<str>,
    /// It is to be made again on the next connection.
    is_lost: bool,
    follow: Option<Box<Follow>>,
}

impl Entered {
    /// Whether positions state what is missing.
    fn is_exact(&self) -> bool {
        self.follow.as_ref().is_some_and(|follow| follow.is_exact())
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
    /// Connects to a broker with the default settings.
    ///
    /// # Errors
    /// If no address accepts the connection in time.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt; an open connection is closed.
    pub async fn connect(address: impl ToSocketAddrs + fmt::Display) -> Result<Self, frisbee::Error> {
        Self::connect_with(frisbee::Client::builder(), address).await
    }

    /// Connects to a broker with settings.
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
        shared.is_kept.store(true, Ordering::Relaxed);
        let own = Arc::new(Own(Mutex::new(dial(router).await?)));
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
    _own: Option<Arc<Own>>,
    /// The topic with its length in front.
    head: Bytes,
    operations: Operations,
}

impl Publisher {
    /// Publishes a message, once the connection has room. A large payload is not copied.
    ///
    /// # Errors
    /// If the message is too long or the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready publishes nothing.
    pub async fn publish(&self, payload: impl Into<Bytes>) -> Result<(), PubSubError> {
        let payload = payload.into();
        // Two closures, so that the usual one has a single caller and is inlined.
        let written =
            poll_fn(|context| match self.poll_on(&self.connection, context, |packet| put_payload(packet, &payload)) {
                Poll::Ready(Err(closed @ SendError::Closed(_))) => {
                    self.poll_anew(context, |packet| put_payload(packet, &payload), closed)
                }
                sent => sent,
            });
        written.await?.map_err(|error| SendError::TooLong(error).into())
    }

    /// Lets `write` append a payload to the packet, and finish it, once the connection has room. For encoders.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn poll_publish<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> Poll<Result<T, SendError>> {
        let mut write = Some(write);
        let sent = self.poll_on(&self.connection, context, |packet| write.take().expect("it is called once")(packet));
        match (sent, write) {
            (Poll::Ready(Err(closed @ SendError::Closed(_))), Some(write)) => self.poll_anew(context, write, closed),
            (sent, _) => sent,
        }
    }

    #[inline(always)]
    fn poll_on<T>(
        &self,
        connection: &Connection,
        context: &mut Context<'_>,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> Poll<Result<T, SendError>> {
        connection.poll_send(context, |outbox| {
            let mut packet = outbox.packet(PacketId(0), self.operations.of(Kind::Message));
            packet.put_slice(&self.head);
            write(packet)
        })
    }

    /// Publishes on the connection in the place of one that is closed.
    #[cold]
    fn poll_anew<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(PacketWriter<'_>) -> T,
        closed: SendError,
    ) -> Poll<Result<T, SendError>> {
        let Some(connection) = self.shared.newer(&self.connection) else { return Poll::Ready(Err(closed)) };
        self.poll_on(&connection, context, write)
    }
}

#[inline(always)]
fn put_payload(mut packet: PacketWriter<'_>, payload: &Bytes) -> Result<(), TooLong> {
    packet.put_shared(payload);
    packet.finish()
}

impl ClientShared {
    pub(super) fn new(first_operation: u16) -> Self {
        Self {
            operations: Operations::starting_at(first_operation),
            inbox_max: INBOX_MAX,
            connection: Mutex::default(),
            is_kept: AtomicBool::new(false),
            version: AtomicU64::new(0),
            inner: Mutex::default(),
        }
    }

    /// Takes note of a connection, and says whether it is the one to use.
    pub(super) fn connected(&self, connection: &Connection, is_next: bool) -> bool {
        let mut current = self.connection.lock();
        if is_next || current.is_none() {
            *current = Some(connection.clone());
        }
        current.as_ref().is_some_and(|current| current.is_same(connection))
    }

    /// The connection, if it is not this one any more.
    #[cold]
    fn newer(&self, than: &Connection) -> Option<Connection> {
        self.connection.lock().clone().filter(|current| !current.is_same(than))
    }

    /// The subscriptions of the connection that was lost, to be made again.
    pub(super) fn again(&self) -> Vec<Again> {
        let ClientState { inboxes, asked, .. } = &mut *self.inner.lock();
        let lost = inboxes.iter_mut().filter(|(_, entered)| entered.is_lost);
        let again = |(id, entered): (&u16, &mut Entered)| {
            let (answer, answered) = oneshot::channel();
            asked.insert(*id, answer);
            entered.is_lost = false;
            let Entered { inbox, pattern, group, follow, .. } = entered;
            let (kind, body) = request(pattern, group, follow.as_deref());
            Again { id: *id, kind, body, inbox: inbox.clone(), answered }
        };
        lost.map(again).collect()
    }

    /// Notes that all subscriptions are to be made again.
    pub(super) fn lose_all(&self) {
        self.inner.lock().inboxes.values_mut().for_each(|entered| entered.is_lost = true);
    }

    /// A subscription of a client that stays connected.
    #[cfg(test)]
    pub(super) fn kept_subscription(self: &Arc<Self>, pattern: &str) -> Subscription {
        self.is_kept.store(true, Ordering::Relaxed);
        self.enter((pattern, "", None), oneshot::channel().0, None).expect("it is not closed")
    }

    /// Makes a slot for a subscription, before the broker is called, so that the first message finds it.
    fn enter(
        self: &Arc<Self>,
        (pattern, group, follow): (&str, &str, Option<Box<Follow>>),
        answer: oneshot::Sender<Result<(), String>>,
        own: Option<Arc<Own>>,
    ) -> Result<Subscription, PubSubError> {
        let mut inner = self.inner.lock();
        if let Some(reason) = &inner.closed {
            return Err(SendError::Closed(reason.clone()).into());
        }
        let first = inner.last_id;
        let id = (1..=u16::MAX).map(|step| first.wrapping_add(step));
        let id = id.filter(|id| *id != 0).find(|id| !inner.inboxes.contains_key(id)).ok_or(PubSubError::TooMany)?;
        let inbox = Arc::<Inbox>::default();
        inner.last_id = id;
        let entered =
            Entered { inbox: inbox.clone(), pattern: pattern.into(), group: group.into(), is_lost: false, follow };
        inner.inboxes.insert(id, entered);
        inner.asked.insert(id, answer);
        if group.is_empty() {
            inner.by_pattern.insert(pattern, id, inbox.clone());
        }
        self.version.fetch_add(1, Ordering::Release);
        drop(inner);
        let (pattern, group) = (pattern.into(), group.into());
        let shared = self.clone();
        Ok(Subscription { shared, _own: own, id, inbox, pattern, group, taken: VecDeque::new() })
    }

    pub(super) fn leave(&self, subscription: &Subscription) {
        let mut inner = self.inner.lock();
        inner.inboxes.remove(&subscription.id);
        inner.asked.remove(&subscription.id);
        if subscription.group.is_empty() {
            inner.by_pattern.remove(&subscription.pattern, &subscription.id);
        }
        self.version.fetch_add(1, Ordering::Release);
        let closed = inner.closed.is_some();
        drop(inner);
        let connection = self.connection.lock().clone();
        if let Some(connection) = connection.filter(|_| !closed) {
            let operation = self.operations.of(Kind::Unsubscribe);
            // If the connection has ended, so has the subscription.
            let _ = connection.send_now(|outbox| put(outbox, PacketId(subscription.id), operation, &[]));
        }
    }

    fn close_reason(&self) -> CloseReason {
        self.inner.lock().lost.clone().unwrap_or(CloseReason::Local)
    }

    /// The inbox of a subscription.
    pub(super) fn inbox(&self, id: u16) -> Option<Arc<Inbox>> {
        self.inner.lock().inboxes.get(&id).map(|entered| entered.inbox.clone())
    }

    /// The inboxes of the subscriptions outside groups that match a topic.
    pub(super) fn matching(&self, topic: &str) -> Vec<Arc<Inbox>> {
        let mut inboxes = Vec::new();
        let inner = self.inner.lock();
        let is_started =
            |id| inner.inboxes.get(id).and_then(|one| one.follow.as_ref()).is_none_or(|one| one.is_started());
        inner.by_pattern.for_each_match(topic, |id, inbox| {
            // One that has not begun gets these messages from the history.
            if is_started(id) {
                inboxes.push(inbox.clone());
            }
        });
        inboxes
    }

    /// Handles the result of subscribing. The caller may have gone.
    pub(super) fn handle_answer(&self, id: u16, answer: Result<(), String>) {
        let asked = self.inner.lock().asked.remove(&id);
        if let Some(asked) = asked {
            let _ = asked.send(answer);
        }
    }

    /// Handles the answer to the oldest SYNC.
    pub(super) fn handle_sync(&self) {
        let mut inner = self.inner.lock();
        let (sync, refused) = (inner.syncs.pop_front(), inner.refused.take());
        drop(inner);
        if let Some(sync) = sync {
            let _ = sync.send(refused.map_or(Ok(()), Err));
        }
    }

    /// Handles the report that a message was not taken.
    pub(super) fn handle_refusal(&self, text: &str) {
        self.inner.lock().refused.get_or_insert_with(|| text.to_owned());
    }

    /// Handles the report that so many messages were lost: for a subscription or, with id 0, for the connection.
    pub(super) fn handle_lag(&self, id: u16, count: u64) {
        let inner = self.inner.lock();
        let inboxes: Vec<_> = match id {
            // Positions state what is missing of topics with a history.
            0 => inner.inboxes.values().filter(|one| !one.is_exact()).map(|one| one.inbox.clone()).collect(),
            _ => inner.inboxes.get(&id).map(|entered| entered.inbox.clone()).into_iter().collect(),
        };
        drop(inner);
        inboxes
            .iter()
            .for_each(|inbox| inbox.extend([Entry::Notice(Notice::Lagged(count))].into_iter(), self.inbox_max));
    }

    /// Handles the positions at the end of the connection.
    pub(super) fn handle_stream(&self, stream: Stream, is_lossy: bool) {
        self.inner.lock().stream = (stream, is_lossy);
    }

    /// Lets a subscription with a history handle something, and adds a notice of the gap to its inbox. `None` if there is
    /// no such subscription.
    pub(super) fn follow(&self, id: u16, handle: impl FnOnce(&mut Follow) -> Gap) -> Option<()> {
        let mut inner = self.inner.lock();
        let Entered { inbox, follow, .. } = inner.inboxes.get_mut(&id)?;
        let gap = handle(follow.as_mut()?);
        let inbox = inbox.clone();
        self.version.fetch_add(1, Ordering::Release);
        drop(inner);
        self.note(&[inbox], gap);
        Some(())
    }

    /// The pattern of a subscription with a history whose answer has not come.
    pub(super) fn begins(&self, id: u16) -> Option<Box<str>> {
        let inner = self.inner.lock();
        let entered = inner.inboxes.get(&id)?;
        let follow = entered.follow.as_ref()?;
        (!follow.is_started()).then(|| entered.pattern.clone())
    }

    /// Notes that messages are missing from a topic, at this place of the stream.
    pub(super) fn handle_gap(&self, topic: &str, gap: Gap) {
        let mut inboxes = Vec::new();
        let inner = self.inner.lock();
        inner.by_pattern.for_each_match(topic, |id, inbox| {
            if inner.inboxes.get(id).is_some_and(Entered::is_exact) {
                inboxes.push(inbox.clone());
            }
        });
        drop(inner);
        self.note(&inboxes, gap);
    }

    fn note(&self, inboxes: &[Arc<Inbox>], gap: Gap) {
        let notice = match gap {
            Gap::None => return,
            Gap::Messages(count) => Notice::Lagged(count),
            Gap::Unknown => Notice::Reconnected,
        };
        inboxes.iter().for_each(|inbox| inbox.extend([Entry::Notice(notice)].into_iter(), self.inbox_max));
    }

    /// Handles the end of the connection, and informs all callers that wait.
    pub(super) fn handle_close(&self, reason: &CloseReason) {
        let ends = !self.is_kept.load(Ordering::Relaxed) || matches!(reason, CloseReason::Local);
        let mut inner = self.inner.lock();
        let (asked, syncs) = (std::mem::take(&mut inner.asked), std::mem::take(&mut inner.syncs));
        inner.lost = Some(reason.clone());
        let mut inboxes = Vec::new();
        let ClientState { inboxes: entered, stream: (stream, is_lossy), .. } = &mut *inner;
        for entered in entered.values_mut() {
            entered.is_lost = true;
            if let Some(follow) = &mut entered.follow {
                follow.handle_loss(stream, *is_lossy);
            }
        }
        inner.stream = Default::default();
        if ends {
            inner.closed = Some(reason.clone());
            inboxes.extend(inner.inboxes.values().map(|entered| entered.inbox.clone()));
        }
        drop(inner);
        drop((asked, syncs));
        inboxes.iter().for_each(|inbox| inbox.close(reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisbee::testing::DetachedConnection;
    use tokio::runtime::Handle;

    #[tokio::test]
    async fn client_users_share_newest_connection_and_last_closes_it() {
        let [lost, next] = [(); 2].map(|()| DetachedConnection::new(Handle::current(), usize::MAX));
        let own = Own(Mutex::new(lost.connection().clone()));
        own.replace(next.connection().clone());
        assert!(own.connection().is_same(next.connection()));
        drop(own);
        assert_eq!([lost, next].map(|connection| connection.closing().is_some()), [false, true]);
    }
}
