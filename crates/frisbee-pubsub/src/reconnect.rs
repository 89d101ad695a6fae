//! Replacement of a client's lost connection, and renewal of its subscriptions on the new one.

use super::Kind;
use super::client::{ClientShared, OwnedConnection};
use super::inbox::{Entry, Inbox};
use super::receive::{ClientRouter, Refusal};
use frisbee::rpc::ParkedFuture;
use frisbee::{CloseReason, Connection, Error, Packet, PacketId, SendError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Minimum pause before the second attempt to connect. The pause doubles with each further attempt, up to
/// [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(50);

/// Maximum pause between two attempts to connect. It limits how long subscriptions are interrupted after a restart of
/// the broker. A connection that ends sooner than this counts as a failed attempt.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Opens a new connection to the broker. The given router handles its packets.
pub(super) type Dial = Box<dyn Fn(ClientRouter) -> Dialling + Send + Sync>;

type Dialling = Pin<Box<dyn Future<Output = Result<Connection, Error>> + Send>>;

/// Request that renews a subscription on a new connection.
pub(super) struct Resubscription {
    pub(super) id: u16,
    pub(super) kind: Kind,
    pub(super) body: Vec<u8>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) answered: oneshot::Receiver<Result<(), Refusal>>,
}

/// Reconnects the client whenever its connection is lost, until the last user of the client is dropped.
pub(super) async fn keep(own: Weak<OwnedConnection>, shared: Weak<ClientShared>, dial: Dial) {
    let (mut made, mut failures) = (Instant::now(), 0);
    while let Some(current) = own.upgrade().map(|own| own.connection()) {
        let reason = ended(&current).await;
        if matches!(reason, CloseReason::Local) {
            return; // The connection was closed locally, and the subscriptions have been notified.
        }
        tracing::debug!(%reason, "connection to a broker lost");
        failures = if made.elapsed() < PAUSE_MAX { failures + 1 } else { 0 };
        let Some(connection) = connect(&own, &shared, &dial, failures).await else {
            if let Some(shared) = shared.upgrade() {
                // `Client::close` may have run just before the client noticed that the connection was lost.
                shared.handle_close(&CloseReason::Local);
            }
            return;
        };
        made = Instant::now();
        let Some(shared) = shared.upgrade() else { return };
        subscribe_again(&shared, &connection).await;
    }
}

/// Waits until a connection has ended and its router has handled the end. Otherwise, the router could fail the requests
/// of the next connection instead.
async fn ended(connection: &Connection) -> CloseReason {
    let (ending, ended) = oneshot::channel();
    // The callback runs after `Router::disconnected`, whereas `closed` may return earlier.
    connection.on_close(move |reason| drop(ending.send(reason.clone())));
    match ended.await {
        Ok(reason) => reason,
        Err(_) => connection.closed().await,
    }
}

/// Connects to the broker and retries until an attempt succeeds. Returns `None` if the client is closed or dropped.
/// `failures` is the number of earlier failed attempts.
async fn connect(
    own: &Weak<OwnedConnection>,
    shared: &Weak<ClientShared>,
    dial: &Dial,
    failures: usize,
) -> Option<Connection> {
    for attempt in failures.. {
        if attempt > 0 {
            tokio::time::sleep(pause(attempt, PAUSE_MIN, PAUSE_MAX)).await;
        }
        let router = ClientRouter::again(shared.upgrade().filter(|shared| shared.is_persistent())?);
        // Treat a panic in the connector as a failed attempt, because it would end the reconnect task.
        let dialled = match catch_unwind(AssertUnwindSafe(|| dial(router))) {
            Ok(dialling) => ParkedFuture::new(dialling).await,
            Err(panic) => Err(panic),
        };
        match dialled {
            Ok(Ok(connection)) => {
                // Check again, because `Client::close` may have run during the dial and found only the lost connection.
                let is_wanted = shared.upgrade().is_some_and(|shared| shared.is_persistent());
                let own = own.upgrade().filter(|_| is_wanted);
                if own.is_none() {
                    connection.close();
                }
                own?.replace(connection.clone());
                return Some(connection);
            }
            Ok(Err(error)) => tracing::debug!(%error, attempt, "reconnecting to a broker failed"),
            Err(_) => tracing::debug!(attempt, "reconnecting to a broker panicked"),
        }
    }
    None
}

/// Returns the pause after `attempt` failed attempts, which grows exponentially. Half of the pause is random, because
/// clients that have lost the same server should not reconnect all at once.
pub(super) fn pause(attempt: usize, min: Duration, max: Duration) -> Duration {
    min.saturating_mul(1 << attempt.min(16)).min(max).mul_f64(0.5 + fastrand::f64() / 2.0)
}

/// Renews all subscriptions on a new connection. Each subscription reports the reconnect to its reader before its first
/// message. Retries while the broker is full, because it may not have noticed yet that the old connection was lost.
async fn subscribe_again(shared: &ClientShared, connection: &Connection) {
    for attempt in 0.. {
        if attempt > 0 {
            tokio::time::sleep(pause(attempt, PAUSE_MIN, PAUSE_MAX)).await;
        }
        match subscribe_disconnected(shared, connection, attempt == 0).await {
            Ok(true) => {}
            Ok(false) => return,
            // The connection was lost again, perhaps before `ClientShared::again` cleared the marks. Restore them, so
            // that the next connection renews all subscriptions.
            Err(_) => return shared.mark_all_disconnected(),
        }
    }
}

/// Renews all disconnected subscriptions. Returns `true` if the broker was full and rejected some of them.
async fn subscribe_disconnected(
    shared: &ClientShared,
    connection: &Connection,
    is_first: bool,
) -> Result<bool, SendError> {
    let (mut disconnected, mut was_full) = (shared.again(), false);
    for again in &mut disconnected {
        // Subscriptions that use a history are excluded, because the broker's reply states whether messages may be
        // missing.
        if is_first && again.kind == Kind::Subscribe {
            again.inbox.extend([Entry::Reconnected].into_iter(), shared.inbox_max);
        }
        request(shared, connection, again).await?;
    }
    for mut again in disconnected {
        let mut answer = (&mut again.answered).await;
        // A full broker may have rejected the number of positions. Drop them only if a retry fails too.
        if let Ok(Err(refusal)) = &answer
            && !(is_first && refusal.is_full())
            && let Some(without) = shared.again_without_positions(again.id)
        {
            again = without;
            request(shared, connection, &mut again).await?;
            answer = (&mut again.answered).await;
        }
        match answer {
            Ok(Err(refusal)) if refusal.is_full() => {
                if is_first {
                    tracing::warn!(target: "frisbee::pubsub", text = refusal.text, "subscription not renewed yet");
                }
                shared.mark_disconnected(again.id);
                was_full = true;
            }
            Ok(Err(Refusal { text, .. })) => {
                again.inbox.close(&CloseReason::Router(format!("not subscribed again: {text}").into()));
            }
            _ => {}
        }
    }
    Ok(was_full)
}

/// Sends the request that renews one subscription. Omits its topic positions if they exceed the broker's maximum
/// message size.
async fn request(shared: &ClientShared, connection: &Connection, again: &mut Resubscription) -> Result<(), SendError> {
    loop {
        let packet = Packet::new(PacketId(again.id), shared.operations.of(again.kind), again.body.clone());
        match connection.send(&packet).await {
            Err(SendError::TooLong(error)) => match shared.again_without_positions(again.id) {
                Some(without) => *again = without,
                None => {
                    shared.handle_answer(again.id, Err(Refusal::unsent(&error)));
                    return Ok(());
                }
            },
            // The subscription was dropped before its request was sent, so it could not be unsubscribed then.
            Ok(()) if shared.inbox(again.id).is_none() => {
                shared.unsubscribe(connection, again.id);
                return Ok(());
            }
            sent => return sent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Member, runtime};
    use super::super::{Broker, Client, FIRST_OPERATION, Reason, RecvError};
    use super::*;
    use frisbee::BODY_MAX;
    use frisbee::rpc::ConnectionExt;
    use std::pin::pin;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Poll, Waker};
    use tokio::runtime::Handle;
    use tokio::sync::mpsc;
    use tokio::task::JoinHandle;

    /// Renews the subscriptions in a task.
    fn spawn_renewal(shared: &Arc<ClientShared>, connection: &Connection) -> JoinHandle<()> {
        let (shared, connection) = (shared.clone(), connection.clone());
        tokio::spawn(async move { subscribe_again(&shared, &connection).await })
    }

    /// Regression test: the client reconnected without a pause if each connection was closed right after it was opened.
    #[tokio::test(start_paused = true)]
    async fn short_connections_are_redialled_with_pauses() {
        let (dials, mut dialled) = mpsc::unbounded_channel();
        let connector = move || {
            dials.send(()).ok();
            // Drop the remote end, which closes the connection.
            let (here, _) = frisbee::memory();
            async { Ok(here) }
        };
        let started = Instant::now();
        let client = Client::connect_with_connector(frisbee::Client::builder(), connector).await;
        let _client = client.expect("client should connect over the memory transport");
        for _ in 0..20 {
            dialled.recv().await.expect("client should dial again after the connection closed");
        }
        assert!(started.elapsed() > 5 * PAUSE_MAX, "{:?}", started.elapsed());
    }

    /// Regression test: a panic in the connector ended the reconnect task, so subscriptions waited forever.
    #[tokio::test(start_paused = true)]
    async fn panicking_connector_is_called_again() {
        let (dials, mut dialled) = mpsc::unbounded_channel();
        let connector = move || {
            let (here, there) = frisbee::memory();
            let number = dials.send(there).map_or(0, |()| DIALS.fetch_add(1, Ordering::Relaxed));
            assert_ne!(number, 1, "connector panics on request of the test");
            async move {
                assert_ne!(number, 2, "connector panics on request of the test");
                Ok(here)
            }
        };
        static DIALS: AtomicU32 = AtomicU32::new(0);
        let client = Client::connect_with_connector(frisbee::Client::builder(), connector).await;
        let _client = client.expect("client should connect over the memory transport");
        for _ in 0..3 {
            drop(dialled.recv().await.expect("client should dial"));
        }
        let reconnected = tokio::time::timeout(10 * PAUSE_MAX, dialled.recv()).await;
        assert!(reconnected.expect("client should dial again").is_some());
    }

    /// Regression test: a client that was closed while it reconnected connected nevertheless, and its subscriptions
    /// never ended.
    #[tokio::test(start_paused = true)]
    async fn client_closed_while_reconnecting_ends() {
        let acceptor = frisbee::Server::builder().build(Broker::new()).expect("default settings should be valid");
        for is_accepted in [false, true] {
            let (acceptor, (dials, mut dialled)) = (acceptor.clone(), mpsc::unbounded_channel());
            // Each dial waits for the test to answer it.
            let connector = move || {
                let (answer, answered) = oneshot::channel();
                dials.send(answer).ok();
                async move { answered.await.unwrap_or_else(|_| Err(std::io::ErrorKind::ConnectionRefused.into())) }
            };
            let serve = || {
                let ((here, there), acceptor) = (frisbee::memory(), acceptor.clone());
                (here, tokio::spawn(async move { acceptor.serve_connection(there).await }))
            };
            let connecting = tokio::spawn(Client::connect_with_connector(frisbee::Client::builder(), connector));
            let (here, serving) = serve();
            let first = dialled.recv().await.expect("client should dial");
            first.send(Ok(here)).expect("client should wait for the dial");
            let client = connecting.await.expect("task should not panic").expect("client should connect");
            let mut subscription = client.subscribe("a").await.expect("broker should accept the subscription");
            serving.abort();
            let again = dialled.recv().await.expect("client should dial again");
            client.close();
            let ended = tokio::time::timeout(PAUSE_MAX, subscription.recv()).await;
            assert!(matches!(ended, Ok(Err(RecvError::Closed(CloseReason::Local)))), "{ended:?}");
            let (here, serving) = serve();
            if is_accepted {
                again.send(Ok(here)).expect("client should wait for the dial");
                serving.await.expect("connection should be closed");
            } else {
                drop(again);
            }
            assert!(dialled.recv().await.is_none(), "closed client should not dial");
            assert!(client.subscribe("a").await.is_err());
        }
    }

    #[test]
    fn subscriptions_survive_loss_during_resubscription() {
        let runtime = runtime();
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let _subscription = shared.persistent_subscription("topic");
        shared.handle_close(&CloseReason::ClosedByPeer);
        let next = Member::new(&Broker::new(), runtime.handle());
        next.detached.end(&CloseReason::ClosedByPeer);
        shared.handle_close(&CloseReason::ClosedByPeer);
        runtime.block_on(subscribe_again(&shared, next.connection()));
        let again: Vec<_> = shared.again().into_iter().map(|again| again.body).collect();
        assert_eq!(again, [b"\x05topic"]);
    }

    /// Regression test: if a subscription was dropped while the request to renew it was waiting for space, the broker
    /// kept the subscription. In a queue group, the subscription then received messages without a reader.
    #[test]
    fn subscription_dropped_during_resubscription_ends() {
        let runtime = runtime();
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let subscription = shared.persistent_subscription("topic");
        shared.handle_close(&CloseReason::ClosedByPeer);
        let mut next = Member::new(&Broker::new(), runtime.handle());
        let connection = next.connection().clone();
        shared.connected(&connection, true);
        let filler = Packet::new(PacketId(9), shared.operations.of(Kind::Message), vec![0; BODY_MAX as usize]);
        connection
            .send_now(|outbox| outbox.forward(&filler))
            .expect("connection should be open")
            .expect("filler packet should be within the maximum body size");
        let mut again = pin!(subscribe_again(&shared, &connection));
        assert!(again.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(subscription);
        connection.collect(&mut next.outbox);
        next.take_packets();
        runtime.block_on(again);
        connection.collect(&mut next.outbox);
        let last = next.take_packets().pop().expect("client should have sent its subscription requests");
        assert_eq!((last.id.0, last.operation), (1, shared.operations.of(Kind::Unsubscribe)));
    }

    /// Regression test: `drain` reported success before the request that renews the subscription was sent. The broker
    /// then kept the subscription, and sent messages of its queue group to a client that discarded them.
    #[tokio::test]
    async fn drain_fails_until_subscription_is_renewed() {
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let mut subscription = shared.persistent_subscription("topic");
        shared.handle_close(&CloseReason::ClosedByPeer);
        let mut next = Member::new(&Broker::new(), &Handle::current());
        let connection = next.connection().clone();
        shared.connected(&connection, true);
        let mut context = Context::from_waker(Waker::noop());
        let mut drain = || pin!(subscription.drain()).poll(&mut context);
        assert!(matches!(drain(), Poll::Ready(Err(_))), "renewal should precede the end");
        let again = spawn_renewal(&shared, &connection);
        tokio::task::yield_now().await;
        assert!(matches!(drain(), Poll::Ready(Err(_))), "broker has not confirmed the renewal");
        shared.handle_answer(1, Ok(()));
        again.await.expect("task should not panic");
        assert!(drain().is_pending());
        connection.collect(&mut next.outbox);
        let sent: Vec<_> = next.take_packets().iter().filter_map(|one| shared.operations.kind(one.operation)).collect();
        assert_eq!(sent, [Kind::Subscribe, Kind::Unsubscribe, Kind::Sync]);
    }

    #[test]
    fn refused_resubscription_closes_that_subscription_alone() {
        let runtime = runtime();
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let [mut refused, mut other] = ["a", "b"].map(|pattern| shared.persistent_subscription(pattern));
        shared.handle_close(&CloseReason::ClosedByPeer);
        let next = Member::new(&Broker::new(), runtime.handle());
        let mut context = Context::from_waker(Waker::noop());
        let mut again = pin!(subscribe_again(&shared, next.connection()));
        assert!(again.as_mut().poll(&mut context).is_pending());
        let refusal = Refusal { reason: Reason::NotAllowed as u8, text: "it is not for you".to_owned() };
        shared.handle_answer(1, Err(refusal));
        shared.handle_answer(2, Ok(()));
        assert!(again.as_mut().poll(&mut context).is_ready());
        for subscription in [&mut refused, &mut other] {
            assert!(matches!(subscription.poll_recv(&mut context), Poll::Ready(Err(RecvError::Reconnected))));
        }
        assert!(matches!(refused.poll_recv(&mut context), Poll::Ready(Err(RecvError::Closed(_)))));
        assert!(other.poll_recv(&mut context).is_pending());
        shared.handle_close(&CloseReason::ClosedByPeer);
        let again: Vec<_> = shared.again().into_iter().map(|again| again.id).collect();
        assert_eq!(again, [2], "closed subscription should stay closed");
    }

    /// Regression test: if a broker was full after a reconnect, for example because the lost connection still had its
    /// subscriptions there, the subscription ended.
    #[tokio::test(start_paused = true)]
    async fn subscription_is_renewed_once_broker_has_space() {
        let shared = Arc::new(ClientShared::new(FIRST_OPERATION));
        let mut subscription = shared.persistent_subscription("a");
        shared.handle_close(&CloseReason::ClosedByPeer);
        let mut next = Member::new(&Broker::new(), &Handle::current());
        let connection = next.connection().clone();
        let again = spawn_renewal(&shared, &connection);
        for attempt in 0..3 {
            tokio::time::sleep(PAUSE_MAX).await;
            connection.collect(&mut next.outbox);
            let sent = next.take_packets();
            assert_eq!(sent.len(), 1, "attempt {attempt} should have sent one request");
            let full = Refusal { reason: Reason::Full as u8, text: "too many subscriptions".to_owned() };
            shared.handle_answer(1, if attempt < 2 { Err(full) } else { Ok(()) });
        }
        again.await.expect("task should not panic");
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(subscription.poll_recv(&mut context), Poll::Ready(Err(RecvError::Reconnected))));
        assert!(subscription.poll_recv(&mut context).is_pending());
    }
}
