//! Client of a broker. Its clones and the router of its connection share the state in [`ClientShared`].

mod error;
#[cfg(feature = "typed")]
mod layouts;
mod publisher;
mod shared;

pub use error::PubSubError;
pub use publisher::Publisher;

use super::inbox::{Inbox, Subscription};
use super::receive::{ClientRouter, Refusal};
use super::reconnect::{Dial, Resubscription, keep};
use super::resume::{Follow, Start, Stream};
use super::{Kind, Operations, name, put};
use crate::topics::{TOPIC_MAX, TopicError, Trie, check_pattern, check_topic};
use frisbee::rpc::ConnectionExt;
use frisbee::{ClientBuilder, CloseReason, Connection, Packet, PacketId, SendError};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
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
    /// Whether messages were sent on the current connection after the last SYNC. While the connection is open, this is
    /// accessed under the lock of its mailbox, which also orders messages and SYNCs.
    has_published: AtomicBool,
    /// Number of changes to the subscriptions. The router compares it to detect that its cached routes are outdated.
    pub(super) version: AtomicU64,
    inner: Mutex<ClientState>,
}

/// Callers that are waiting for the reply to a subscription request, by subscription id.
type PendingAnswers = BTreeMap<u16, oneshot::Sender<Result<(), Refusal>>>;

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
    /// SYNC requests without a reply, oldest first.
    syncs: VecDeque<PendingSync>,
    /// Error for the next call of [`Client::sync`]: the first rejection since the last call, or the loss of a
    /// connection with unconfirmed messages.
    unreported: Option<PubSubError>,
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

impl ClientState {
    /// Returns the inbox of a subscription, unless its request still has to be sent or confirmed on this connection.
    fn active(&self, id: u16) -> Option<Arc<Inbox>> {
        let entered = self.inboxes.get(&id).filter(|entered| !entered.is_disconnected)?;
        (!self.pending.contains_key(&id)).then(|| entered.inbox.clone())
    }
}

/// A SYNC request without a reply.
#[derive(Debug)]
struct PendingSync {
    answer: oneshot::Sender<()>,
    /// Whether the client sent messages between the previous SYNC and this one. The reply confirms them.
    confirms: bool,
    /// Inbox of the subscription that ends with this SYNC. The reply closes it, because a subscription with an open
    /// inbox is renewed after a reconnect.
    drained: Option<Arc<Inbox>>,
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

    /// Returns whether the broker's loss reports for the connection apply to this subscription.
    fn is_lossy(&self) -> bool {
        self.follow.as_ref().is_none_or(|follow| follow.is_started && !follow.is_exact())
    }

    /// Returns the request that renews the subscription on a new connection, with the receiver for the broker's reply.
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

    /// Connects to a broker with custom settings. The address has the format described for [`connect`](Self::connect).
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
        self.answer(answered).await?.map_err(|refusal| PubSubError::Refused(refusal.text))?;
        Ok(subscription)
    }

    /// Waits until the broker has processed all earlier requests of this client. Published messages are then in the
    /// queues of their subscribers, and dropped subscriptions receive nothing more. The broker's reply follows the
    /// messages that it has already queued for this client.
    ///
    /// # Errors
    /// If the connection is closed, the peer does not reply, or the broker has rejected an earlier message, for example
    /// because of [`permit`](super::BrokerBuilder::permit) or its [backplane](super::Backplane).
    ///
    /// Fails with [`PubSubError::Unconfirmed`] if a connection was lost before the broker confirmed the messages
    /// published on it. These messages may be lost. This error and a rejection are returned only once, by the next call
    /// on any clone of the client.
    ///
    /// # Cancel safety
    /// Dropping the future has no effect on earlier requests. If their messages have failed, the next call returns the
    /// error.
    pub async fn sync(&self) -> Result<(), PubSubError> {
        self.barrier(None).await?;
        // Take the error only now, so that it is kept for the next call if this one is cancelled.
        self.0.inner.lock().unreported.take().map_or(Ok(()), Err)
    }

    /// Waits until the broker has processed all earlier requests. Errors of earlier messages are kept for the next call
    /// of [`sync`](Self::sync). If `ends` is the id of a subscription, also ends the subscription, or fails if it is
    /// not active at the broker.
    pub(super) async fn barrier(&self, ends: Option<u16>) -> Result<(), PubSubError> {
        let (answer, answered) = oneshot::channel();
        let operation = self.0.operations.of(Kind::Sync);
        {
            // Hold the lock while the request is sent and its caller is registered, because replies arrive in the order
            // of the requests.
            let mut inner = self.0.inner.lock();
            if inner.syncs.len() >= SYNCS_MAX {
                return Err(PubSubError::NoAnswer);
            }
            let reason = || inner.disconnect_reason.clone().unwrap_or(CloseReason::Local);
            let inbox = |id| inner.active(id).ok_or_else(|| SendError::Closed(reason()));
            let drained = ends.map(inbox).transpose()?;
            let confirms = self.connection()?.send_now(|outbox| {
                if let Some(id) = ends {
                    put(outbox, PacketId(id), self.0.operations.of(Kind::Unsubscribe), &[]);
                }
                put(outbox, PacketId(0), operation, &[]);
                self.0.take_published()
            })?;
            inner.syncs.push_back(PendingSync { answer, confirms, drained });
        }
        self.answer(answered).await
    }

    /// Returns the current connection. While the client reconnects, this is the connection that was lost.
    ///
    /// # Errors
    /// If the [router](ClientRouter) has not been connected yet.
    pub fn connection(&self) -> Result<Connection, SendError> {
        let connection = self.0.connection.lock().clone();
        connection.ok_or_else(|| SendError::Closed(CloseReason::Router("not connected yet".into())))
    }

    /// Closes this client and its clones, even while they reconnect. Calls that wait for a reply fail. Subscriptions
    /// first return the messages that have already arrived, and then [`RecvError::Closed`](crate::RecvError::Closed).
    pub fn close(&self) {
        self.0.stop_reconnecting();
        match self.connection() {
            Ok(connection) if !connection.is_closed() => connection.close(),
            // The router of a lost connection is not notified again, so end the subscriptions here.
            _ => self.0.handle_close(&CloseReason::Local),
        }
    }

    async fn answer<T>(&self, answered: oneshot::Receiver<T>) -> Result<T, PubSubError> {
        match tokio::time::timeout(ANSWER_TIMEOUT, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => {
                let reason = self.0.inner.lock().disconnect_reason.clone();
                Err(SendError::Closed(reason.unwrap_or(CloseReason::Local)).into())
            }
            Err(_) => Err(PubSubError::NoAnswer),
        }
    }
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
        assert!(shared.matching("topic").0.iter().all(|inbox| Arc::ptr_eq(inbox, &first.inbox)));
        drop(first);
        assert!(shared.matching("topic").0.is_empty());
        let version = shared.version.load(Ordering::Acquire);
        shared.handle_answer(second.id, Ok(()));
        assert_eq!(shared.matching("topic").0.len(), 1);
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
