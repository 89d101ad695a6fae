//! Requests on connections in memory, with a peer controlled by the test.

use super::*;
use frisbee::{Client, Config, Mounts, Server, memory};
use std::sync::atomic::AtomicBool;
use std::task::{Wake, Waker};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

const ASK: Operation = Operation::user(10).expect("operation number should be in the user range");
const REFUSED: Operation = Operation::user(11).expect("operation number should be in the user range");

/// A packet that the other end of the connection has received.
enum Got {
    Packet(Connection, Packet),
    Cancelled(PacketId, Bytes),
}

/// A waker that calls a function when it is woken and when its last clone is dropped.
struct CallingWaker<F: Fn() + Send + Sync + 'static>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for CallingWaker<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

impl<F: Fn() + Send + Sync + 'static> Drop for CallingWaker<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

struct Peer(UnboundedSender<Got>);

impl Router for Peer {
    type Session = Connection;

    fn connected(&self, connection: &Connection) -> Connection {
        connection.clone()
    }

    fn route(&self, connection: &mut Connection, packet: Packet, _outbox: &mut Outbox) -> Routed {
        self.0.send(Got::Packet(connection.clone(), packet)).ok();
        Routed::Continue
    }

    fn cancelled(&self, _session: &mut Connection, id: PacketId, content: Bytes, _outbox: &mut Outbox) {
        self.0.send(Got::Cancelled(id, content)).ok();
    }
}

/// Creates a connection with this router. Also returns a channel of the packets that its peer receives.
async fn connected<R: Router>(router: R) -> (Connection, UnboundedReceiver<Got>) {
    let (packets, got) = unbounded_channel();
    let server = Server::builder().build(Peer(packets)).expect("server settings should be valid");
    let (here, there) = memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let connection = Client::builder().connect_io(here, router).await.expect("in-memory connection should be accepted");
    connection.peer_known().await.expect("peer should complete the handshake");
    (connection, got)
}

/// Returns the next packet that the peer receives. Fails after an hour of simulated time.
async fn next(got: &mut UnboundedReceiver<Got>) -> Got {
    let next = timeout(Duration::from_secs(3600), got.recv()).await;
    next.expect("peer should receive a packet within the timeout").expect("peer should be connected")
}

async fn request(got: &mut UnboundedReceiver<Got>) -> (Connection, Packet) {
    match next(got).await {
        Got::Packet(connection, packet) => (connection, packet),
        Got::Cancelled(id, _) => panic!("request {id:?} should not be cancelled"),
    }
}

async fn cancelled(got: &mut UnboundedReceiver<Got>) -> (PacketId, Bytes) {
    match next(got).await {
        Got::Packet(_, packet) => panic!("no packet should be sent: {packet:?}"),
        Got::Cancelled(id, content) => (id, content),
    }
}

async fn answer((peer, packet): (Connection, Packet)) {
    peer.send(&packet).await.expect("message should be sent");
}

#[tokio::test(start_paused = true)]
async fn replies_find_their_requests_in_any_order() {
    let requests = Requester::new();
    let (connection, mut got) = connected(requests.clone()).await;
    let mut calls = JoinSet::new();
    for number in 0..100_u8 {
        let (requests, connection) = (requests.clone(), connection.clone());
        calls.spawn(async move {
            let reply = requests.call(&connection, ASK, vec![number]).await.expect("call should receive a reply");
            assert_eq!(reply.body, [number][..]);
        });
    }
    let mut received = Vec::new();
    while received.len() < 100 {
        received.push(request(&mut got).await);
    }
    assert_eq!(requests.in_flight(&connection), 100);
    for received in received.into_iter().rev() {
        answer(received).await;
    }
    while let Some(ended) = calls.join_next().await {
        ended.expect("task should not panic");
    }
    assert_eq!(requests.in_flight(&connection), 0);
}

#[tokio::test(start_paused = true)]
async fn reply_may_use_different_operation() {
    let requests = Requester::new();
    let (connection, mut got) = connected(requests.clone()).await;
    let reply = requests.try_call(&connection, ASK, "question").expect("request should be sent");
    let (peer, packet) = request(&mut got).await;
    assert_eq!(packet.id, reply.id());
    answer((peer, Packet { operation: REFUSED, ..packet })).await;
    assert_eq!(reply.await.expect("call should receive a reply").operation, REFUSED);
}

#[tokio::test(start_paused = true)]
async fn timed_out_request_cancels_and_drops_reply() {
    let requests = Requester::new().timeout(Duration::from_secs(3));
    let (connection, mut got) = connected(requests.clone()).await;
    let started = tokio::time::Instant::now();
    for at_once in [false, true] {
        let error = if at_once {
            requests.try_call(&connection, ASK, "?").expect("request should be sent").await
        } else {
            requests.call(&connection, ASK, "?").await
        };
        let error = error.expect_err("request without a reply should fail");
        assert_eq!((error.to_string().as_str(), error.was_sent()), ("no reply within 3s", true));
        let received = request(&mut got).await;
        assert_eq!(cancelled(&mut got).await, (received.1.id, Bytes::from_static(&[10])));
        answer(received).await;
    }
    assert_eq!(started.elapsed(), Duration::from_secs(6));
    // Both late replies precede this one, so they have been counted when it arrives.
    let (replied, ()) =
        tokio::join!(requests.call(&connection, ASK, "!"), async { answer(request(&mut got).await).await });
    replied.expect("call should receive a reply");
    assert_eq!((requests.late_replies(), requests.unmatched_replies()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn unmatched_replies_are_counted_and_dropped() {
    let requests = Requester::new();
    let (connection, mut got) = connected(requests.clone()).await;
    let reply = requests.try_call(&connection, ASK, "?").expect("request should be sent");
    let (peer, packet) = request(&mut got).await;
    for id in [0, 2, 65_535] {
        answer((peer.clone(), Packet::new(PacketId(id), ASK, "stray"))).await;
    }
    answer((peer.clone(), packet.clone())).await;
    reply.await.expect("call should receive a reply");
    let second = requests.try_call(&connection, ASK, "!").expect("request should be sent");
    answer((peer.clone(), packet)).await; // The second reply to the same request.
    answer(request(&mut got).await).await;
    second.await.expect("call should receive a reply");
    assert_eq!((requests.late_replies(), requests.unmatched_replies()), (0, 4));
}

#[tokio::test(start_paused = true)]
async fn waiting_request_gets_slot_of_dropped_one() {
    let requests = Requester::new().in_flight_max(1);
    let (connection, mut got) = connected(requests.clone()).await;
    let first = requests.try_call(&connection, ASK, "first").expect("request should be sent");
    assert!(matches!(requests.try_call(&connection, ASK, "second"), Err(RequestError::Full)));
    let mut third = Box::pin(requests.call(&connection, ASK, "third"));
    assert!(poll_fn(|context| Poll::Ready(third.as_mut().poll(context))).await.is_pending());
    assert_eq!(request(&mut got).await.1.body, "first");
    drop(first);
    let (reply, received) = tokio::join!(third, async {
        cancelled(&mut got).await;
        let received = request(&mut got).await;
        answer(received.clone()).await;
        received
    });
    assert_eq!(
        (reply.expect("call should receive a reply").body, received.1.body),
        (Bytes::from("third"), Bytes::from("third"))
    );
    assert_eq!(requests.in_flight(&connection), 0);
}

#[tokio::test(start_paused = true)]
async fn call_dropped_before_slot_sends_nothing() {
    let requests = Requester::new().in_flight_max(1);
    let (connection, mut got) = connected(requests.clone()).await;
    let first = requests.try_call(&connection, ASK, "first").expect("request should be sent");
    let mut second = Box::pin(requests.call(&connection, ASK, "second"));
    assert!(poll_fn(|context| Poll::Ready(second.as_mut().poll(context))).await.is_pending());
    drop(second);
    answer(request(&mut got).await).await;
    first.await.expect("call should receive a reply");
    let third = requests.try_call(&connection, ASK, "third").expect("request should be sent");
    assert_eq!(request(&mut got).await.1.body, "third");
    drop(third);
}

#[tokio::test(start_paused = true)]
async fn lost_connection_fails_requests_with_reason() {
    let requests = Requester::new().in_flight_max(2);
    let (connection, mut got) = connected(requests.clone()).await;
    let mut calls = JoinSet::new();
    // Two of the requests have been sent, and two wait for a permit.
    for _ in 0..4 {
        let (requests, connection) = (requests.clone(), connection.clone());
        calls.spawn(async move { requests.call(&connection, ASK, "?").await });
    }
    for _ in 0..2 {
        request(&mut got).await;
    }
    connection.close_for("the test is over");
    let mut sent = 0;
    while let Some(ended) = calls.join_next().await {
        let error = ended.expect("task should not panic").expect_err("request without a reply should fail");
        assert!(error.to_string().ends_with(": closed by a router: the test is over"), "{error}");
        sent += usize::from(error.was_sent());
    }
    assert_eq!(sent, 2);
    let error = requests.call(&connection, ASK, "?").await.expect_err("call should fail");
    assert!(matches!(error, RequestError::NotSent(CloseReason::Router(_))), "{error}");
    assert_eq!(requests.in_flight(&connection), 0);
}

#[tokio::test(start_paused = true)]
async fn queued_request_times_out_unsent() {
    let requests = Requester::new().in_flight_max(1).timeout(Duration::from_secs(3));
    let (connection, _got) = connected(requests.clone()).await;
    let first = requests.try_call(&connection, ASK, "?").expect("request should be sent");
    sleep(Duration::from_secs(1)).await;
    let error = requests
        .clone()
        .timeout(Duration::from_secs(1))
        .call(&connection, ASK, "?")
        .await
        .expect_err("call should fail");
    assert!(matches!(error, RequestError::NotSentInTime(_)) && !error.was_sent(), "{error}");
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn close_when_idle_waits_for_replies() {
    let requests = Requester::new();
    let (connection, mut got) = connected(requests.clone()).await;
    let reply = requests.try_call(&connection, ASK, "?").expect("request should be sent");
    let received = request(&mut got).await;
    connection.close_when_idle();
    sleep(Duration::from_millis(100)).await;
    assert!(!connection.is_closed());
    answer(received).await;
    reply.await.expect("call should receive a reply");
    connection.closed().await;
}

#[tokio::test(start_paused = true)]
async fn oversized_body_is_refused_without_slot() {
    let requests = Requester::new().in_flight_max(1);
    let (connection, _got) = connected(requests.clone()).await;
    let long = vec![0; frisbee::BODY_MAX as usize + 1];
    for _ in 0..2 {
        let error = requests.call(&connection, ASK, long.clone()).await.expect_err("call should fail");
        assert!(matches!(error, RequestError::TooLong(_)), "{error}");
        let error =
            requests.try_call(&connection, ASK, long.clone()).expect_err("message should be rejected as too long");
        assert!(matches!(error, RequestError::TooLong(_)), "{error}");
    }
    assert_eq!(requests.in_flight(&connection), 0);
}

/// Regression test: a request body that was too long for the server was sent, so the server closed the connection and
/// all other requests failed.
#[tokio::test]
async fn body_over_new_server_limit_is_rejected() {
    let config = Config::default().body_max(BODY_MAX_LEAST);
    let server =
        Server::builder().config(config).build(Peer(unbounded_channel().0)).expect("server settings should be valid");
    let (here, there) = memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let requests = Requester::new();
    let connection =
        Client::builder().connect_io(here, requests.clone()).await.expect("in-memory connection should be accepted");
    let replied = requests.call(&connection, ASK, vec![0; BODY_MAX_LEAST as usize + 1]).await;
    assert!(matches!(replied, Err(RequestError::TooLong(_))), "{replied:?}");
    assert!(!connection.is_closed());
}

#[tokio::test(start_paused = true)]
async fn call_on_unmounted_requester_is_rejected() {
    let (connection, _got) = connected(Requester::new()).await;
    let error = Requester::new().call(&connection, ASK, "?").await.expect_err("call should fail");
    assert!(matches!(error, RequestError::NotMounted), "{error}");
}

#[tokio::test(start_paused = true)]
async fn mounted_protocols_keep_requests_apart() {
    let (one, two) = (Requester::new(), Requester::new());
    let mounts = Mounts::new().mount(10..=10, one.clone()).mount(11..=11, two.clone());
    let (connection, mut got) = connected(mounts).await;
    let first = one.try_call(&connection, ASK, "one").expect("request should be sent");
    let second = two.try_call(&connection, REFUSED, "two").expect("request should be sent");
    assert_eq!(first.id(), second.id(), "ids should be counted per requester");
    for _ in 0..2 {
        answer(request(&mut got).await).await;
    }
    assert_eq!(second.await.expect("call should receive a reply").body, "two");
    assert_eq!(first.await.expect("call should receive a reply").body, "one");
}

/// A waker may run arbitrary code, such as polling the task that it wakes, so it must not be called under a lock.
#[tokio::test(start_paused = true)]
async fn timed_out_request_wakes_task_unlocked() {
    let requests = Requester::new().timeout(Duration::from_secs(1));
    let (connection, _got) = connected(requests.clone()).await;
    let mut reply = requests.try_call(&connection, ASK, "").expect("request should be sent");
    let (handle, is_late) = (connection.clone(), Arc::new(AtomicBool::new(false)));
    let [free, locked] = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
    let waker = Waker::from(Arc::new(CallingWaker({
        let (is_late, free, locked) = (is_late.clone(), free.clone(), locked.clone());
        move || {
            if is_late.load(Ordering::SeqCst) {
                // Lock the connection on another thread. This succeeds only if the waker is called without this lock.
                let (looked, look) = std::sync::mpsc::channel();
                let handle = handle.clone();
                std::thread::spawn(move || looked.send(handle.is_going_away()));
                let count = if look.recv_timeout(Duration::from_secs(10)).is_ok() { &free } else { &locked };
                count.fetch_add(1, Ordering::SeqCst);
            }
        }
    })));
    let mut context = Context::from_waker(&waker);
    assert!(Pin::new(&mut reply).poll(&mut context).is_pending());
    sleep(Duration::from_secs(2)).await;
    is_late.store(true, Ordering::SeqCst);
    let Poll::Ready(Err(RequestError::TimedOut(_))) = Pin::new(&mut reply).poll(&mut context) else {
        panic!("request should have no reply");
    };
    assert_eq!([free, locked].map(|count| count.load(Ordering::SeqCst) > 0), [true, false]);
}

/// Regression test: the timer belonged to the caller's runtime and panicked when it was polled after that runtime had
/// ended.
#[test]
fn request_outlives_runtime_of_its_caller() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let [home, away] = [(); 2].map(|()| runtime().expect("runtime should start"));
    let requests = Requester::new().timeout(Duration::from_millis(200));
    let (connection, _got) = home.block_on(connected(requests.clone()));
    let mut reply = away
        .block_on(async { requests.try_call(&connection, ASK, "") })
        .expect("connection should have a free slot for the request");
    let mut call = Box::pin(requests.call(&connection, ASK, ""));
    away.block_on(poll_fn(|context| {
        assert!(Pin::new(&mut reply).poll(context).is_pending() && call.as_mut().poll(context).is_pending());
        Poll::Ready(())
    }));
    drop(away);
    let outside = std::thread::scope(|scope| scope.spawn(|| home.block_on(reply)).join());
    assert!(matches!(outside.expect("task should not panic"), Err(RequestError::TimedOut(_))));
    assert!(matches!(home.block_on(call), Err(RequestError::TimedOut(_))));
}
