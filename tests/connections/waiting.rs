//! Tests of tasks that wait for a connection or a stream. They must be woken, may be dropped at any time, and may use
//! the connection in their destructors.

use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Client, Config, Connection, Handlers, Operation, Outbox, Packet, PacketId, Policy, Routed, Router};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::service::Service;
use frisbee_tests::until;
use frpc::{Channel, Server};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const MS: Duration = Duration::from_millis(1);

/// Maximum time to wait for an event that should occur at once.
const TIMEOUT: Duration = Duration::from_secs(20);

const SUM: AddRequest = AddRequest { a: 1, b: 1 };

fn user(number: u16) -> Operation {
    Operation::user(number).expect("operation number should be in the user range")
}

/// Returns a connection to a server with the given handlers.
async fn connect(handlers: Handlers) -> Connection {
    let server =
        frisbee::Server::builder().bind("127.0.0.1:0", handlers).await.expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    Client::builder().connect(address, Handlers::new()).await.expect("server should accept the connection")
}

/// Returns a connection to a server that keeps streams but does not read from them.
async fn connect_to_deaf() -> Connection {
    connect(Handlers::new().on_stream(|_, stream| std::mem::forget(stream))).await
}

/// A waker that does nothing. The test counts its references.
#[derive(Default)]
struct Sleeper;

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {}
}

/// A waker that counts wake-ups.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a thousand futures once and drops them. Returns the number of wakers that are still referenced.
fn left_behind<F: Future>(make: impl Fn() -> F) -> usize {
    let sleepers: Vec<_> = (0..1000).map(|_| Arc::new(Sleeper)).collect();
    for sleeper in &sleepers {
        let waker = Waker::from(sleeper.clone());
        assert!(pin!(make()).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    sleepers.iter().filter(|sleeper| Arc::strong_count(sleeper) > 1).count()
}

/// A waker that uses a connection when it is woken or dropped, like the waker of a task that holds handles. Also used
/// as an owner of bytes.
struct Nosy(Connection);

impl Nosy {
    fn waker(connection: &Connection) -> Waker {
        Arc::new(Self(connection.clone())).into()
    }
}

impl Wake for Nosy {
    fn wake(self: Arc<Self>) {
        self.0.is_closed();
    }
}

impl AsRef<[u8]> for Nosy {
    fn as_ref(&self) -> &[u8] {
        &[1; 64 * 1024]
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        self.0.is_closed();
    }
}

/// A router that sends 64 KiB as soon as the connection exists, and echoes packets.
struct Eager;

impl Router for Eager {
    type Session = ();

    fn connected(&self, connection: &Connection) {
        let body = Bytes::from_owner(Nosy(connection.clone()));
        let sent = connection.send_now(|outbox| outbox.push(PacketId(0), user(10), &body));
        sent.expect("connection should be open").expect("packet should be within the limit");
    }

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("packet should be within the limit");
        Routed::Continue
    }
}

/// Polls with a waker that uses the connection when it is dropped, and then with another waker.
fn poll_by_two<T>(connection: &Connection, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) {
    for waker in [Nosy::waker(connection), Waker::from(Arc::new(Sleeper))] {
        assert!(poll(&mut Context::from_waker(&waker)).is_pending());
    }
}

/// Returns a client whose peer is silent. Its mailbox is full as soon as it contains a packet.
async fn alone() -> (Connection, DuplexStream) {
    let (here, there) = frisbee::memory();
    let config = Config::default().backlog_max(1).hello(false);
    let connection = Client::builder().config(config).connect_io(here, Handlers::new()).await;
    (connection.expect("connection in memory should succeed"), there)
}

/// Runs a test on a separate thread with a time limit, because it may deadlock.
fn in_time(test: impl Future<Output = ()> + Send + 'static) {
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("runtime should start").block_on(test);
        done.send(())
    });
    is_done.recv_timeout(TIMEOUT).expect("test should complete within the timeout");
}

/// An error that makes a call when it is formatted or dropped.
#[derive(Debug)]
struct Curious(Arc<OnceLock<InteropClient>>);

impl Curious {
    fn call(&self) {
        let client = self.0.get().expect("channel should exist before it connects");
        let mut nobody = Context::from_waker(Waker::noop());
        let _ = pin!(client.add(SUM)).poll(&mut nobody);
    }
}

impl fmt::Display for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call();
        f.write_str("curious")
    }
}

impl Drop for Curious {
    fn drop(&mut self) {
        self.call();
    }
}

impl std::error::Error for Curious {}

#[test]
fn replaced_waker_drop_may_use_connection() {
    in_time(async {
        let (connection, _there) = alone().await;
        let mut closed = pin!(connection.closed());
        poll_by_two(&connection, |context| closed.as_mut().poll(context));
    });
    in_time(async {
        let (connection, _there) = alone().await;
        connection
            .send_now(|outbox| outbox.forward(&Packet::new(PacketId(1), user(10), vec![1; 1024 * 1024])))
            .expect("connection should be open")
            .expect("packet should be within the limit");
        let packet = Packet::new(PacketId(1), user(10), "more");
        let mut sending = pin!(connection.send(&packet));
        poll_by_two(&connection, |context| sending.as_mut().poll(context));
    });
    in_time(async {
        let connection = connect_to_deaf().await;
        let mut stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
        poll_by_two(&connection, |context| stream.poll_recv(context));
    });
}

#[test]
fn unsent_bytes_owner_drop_may_use_connection() {
    in_time(async {
        let (here, there) = frisbee::memory();
        drop(here);
        frisbee::Server::builder().build(Eager).unwrap().serve_connection(there).await;
    });
}

#[test]
fn overlong_hand_off_waker_may_use_connection() {
    in_time(async {
        let connection = connect(Handlers::new()).await;
        connection.peer_known().await.expect("peer should complete the handshake");
        let mut asking = pin!(connection.hand_off(user(10), vec![1; 8 * 1024 * 1024]));
        let nosy = Nosy::waker(&connection);
        assert!(asking.as_mut().poll(&mut Context::from_waker(&nosy)).is_pending());
        for _ in 0..10 {
            tokio::task::yield_now().await; // The driver has processed the request.
        }
        assert!(asking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
}

#[test]
fn connect_error_format_or_drop_uses_channel() {
    in_time(async {
        let slot = Arc::new(OnceLock::new());
        let curious = slot.clone();
        let connector = move || {
            let error = io::Error::other(Curious(curious.clone()));
            async { Err::<DuplexStream, _>(error) }
        };
        let channel = Channel::builder().reconnect_timeout(50 * MS).connect_lazy_with_connector(connector);
        let client = InteropClient::new(channel.expect("server should be valid"));
        slot.set(client.clone()).expect("client should be set once");
        let status = client.add(SUM).await.expect_err("call should fail");
        assert!(status.message().contains("curious"), "{status}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_senders_respect_stream_credit() {
    let (channel_sender, mut streams) = mpsc::unbounded_channel();
    let connection = connect(Handlers::new().on_stream(move |_, stream| drop(channel_sender.send(stream)))).await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let mut other = streams.recv().await.expect("channel should stay open");
    for _ in 0..4 {
        let sender = stream.sender();
        tokio::spawn(async move {
            let message = Bytes::from(vec![1; 8192]);
            while sender.send(&message).await.is_ok() {}
        });
    }
    for count in 0..5_000 {
        let message =
            tokio::time::timeout(TIMEOUT, other.recv()).await.expect("message should arrive within the timeout");
        assert!(message.is_some(), "stream ended after {count} messages: {:?}", other.close_reason());
    }
}

#[tokio::test]
async fn dropped_batch_returns_credit() {
    let connection = connect_to_deaf().await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let sender = stream.sender();
    // These messages exceed the credit of a stream.
    for count in 0..20 {
        let mut batch = sender.batch();
        let ready = tokio::time::timeout(TIMEOUT, poll_fn(|context| batch.poll_ready(context))).await;
        ready.unwrap_or_else(|_| panic!("batch {count} should become ready")).expect("connection should be open");
        batch.put(|mut packet| {
            packet.put_slice(&[1; 30 * 1024]);
            packet.finish().expect("packet should be within the limit");
        });
    }
}

#[tokio::test]
async fn stream_end_wakes_all_waiters() {
    let connection = connect_to_deaf().await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let (ready, mut waits) = mpsc::unbounded_channel();
    let mut senders = JoinSet::new();
    for _ in 0..2 {
        let (sender, ready) = (stream.sender(), ready.clone());
        senders.spawn(async move {
            let mut waiter = sender.waiter();
            poll_fn(|context| {
                let polled = waiter.poll_closed(context);
                let _ = ready.send(());
                polled
            })
            .await;
        });
    }
    for _ in 0..2 {
        waits.recv().await.expect("channel should stay open");
    }
    stream.close();
    tokio::time::timeout(TIMEOUT, senders.join_all()).await.expect("senders should finish within the timeout");
}

#[tokio::test]
async fn forgotten_stream_wakes_sender_waiting_for_credit() {
    let connection = connect_to_deaf().await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let sender = stream.sender();
    let sent = Arc::new(AtomicUsize::new(0));
    let sending = tokio::spawn({
        let sent = sent.clone();
        async move {
            let message = Bytes::from(vec![1; 64 * 1024]);
            while sender.send(&message).await.is_ok() {
                sent.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    until("some has been sent", || sent.load(Ordering::SeqCst) > 0).await;
    while tokio::time::timeout(50 * MS, stream.sender().send(&Bytes::from_static(b"more"))).await.is_ok() {}
    stream.forget();
    tokio::time::timeout(TIMEOUT, sending)
        .await
        .expect("write should complete within the timeout")
        .expect("task should not panic");
}

#[tokio::test]
async fn dropped_connection_wait_leaves_no_waker() {
    let connection = connect(Handlers::new()).await;
    connection.peer_known().await.expect("peer should complete the handshake");
    assert_eq!(left_behind(|| connection.closed()), 0);
}

#[tokio::test]
async fn dropped_send_leaves_no_waker() {
    let (address, peer) = Raw::listen().await;
    let accepted = tokio::spawn(peer);
    let client = Client::builder().config(Config::default().hello(false));
    let connection = client.connect(address, Handlers::new()).await.expect("server should accept the connection");
    let _peer = accepted.await.expect("server should accept the connection");
    let packet = Packet::new(PacketId(1), user(10), vec![1; 4 * 1024 * 1024]);
    while tokio::time::timeout(100 * MS, connection.send(&packet)).await.is_ok() {}
    assert_eq!(left_behind(|| connection.send(&packet)), 0);
}

#[tokio::test]
async fn dropped_stream_wait_leaves_no_waker() {
    let connection = connect_to_deaf().await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    stream.send(&vec![1; 300 * 1024].into()).await.expect("message should be sent");
    let (sender, message) = (stream.sender(), Bytes::from_static(b"more"));
    assert_eq!(left_behind(|| sender.closed()), 0);
    assert_eq!(left_behind(|| sender.send(&message)), 0);
    let batch = || {
        let mut batch = sender.batch();
        poll_fn(move |context| batch.poll_ready(context))
    };
    assert_eq!(left_behind(batch), 0);

    let (connection, _there) = alone().await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let sent = connection.send_now(|outbox| outbox.push(PacketId(1), user(10), vec![1; 1024 * 1024]));
    sent.expect("connection should be open").expect("packet should be within the limit");
    assert_eq!(left_behind(|| stream.send(&message)), 0, "senders that wait for space should leave no wakers behind");
}

#[tokio::test]
async fn task_dropping_one_room_wait_still_wakes() {
    let (here, mut peer) = frisbee::memory();
    let config = Config::default().backlog_max(1000).hello(false);
    let connection = Client::builder()
        .config(config)
        .connect_io(here, Handlers::new())
        .await
        .expect("connection in memory should be accepted");
    let body = Bytes::from(vec![1; 1024 * 1024]);
    let sent = connection.send_now(|outbox| outbox.push(PacketId(1), user(10), &body));
    sent.expect("connection should be open").expect("packet should be within the limit");
    let packet = Packet::new(PacketId(2), user(10), "more");
    let waits = tokio::spawn(async move {
        let mut abandoned = Some(Box::pin(connection.send(&packet)));
        let mut waiter = connection.waiter();
        poll_fn(|context| {
            if let Some(mut sending) = abandoned.take() {
                assert!(sending.as_mut().poll(context).is_pending(), "sender should wait while many bytes are unsent");
                let sent = waiter.poll_send(context, |_| ());
                drop(sending);
                return sent;
            }
            waiter.poll_send(context, |_| ())
        })
        .await
    });
    tokio::spawn(async move { tokio::io::copy(&mut peer, &mut tokio::io::sink()).await });
    tokio::time::timeout(TIMEOUT, waits)
        .await
        .expect("wait should end within the timeout")
        .expect("task should not panic")
        .expect("connection should be open");
}

#[tokio::test]
async fn lone_deferred_first_packet_is_routed() {
    let config = Config::default().backlog_max(1000);
    let server = frisbee::Server::builder().config(config).bind("127.0.0.1:0", Eager).await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let mut client = Raw::connect(address).await;
    client.write(&packet(1, 10, b"echo")).await;
    for id in 0..2 {
        let packet = client.next().await.unwrap_or_else(|| panic!("packet {id} comes"));
        assert_eq!(packet.id, PacketId(id));
    }
}

#[tokio::test]
async fn close_flushes_queue_without_write_timeout() {
    let config = Config::default().write_timeout(Duration::MAX);
    let (address, peer) = Raw::listen().await;
    let accepted = tokio::spawn(peer);
    let connection = Client::builder().config(config).connect(address, Handlers::new()).await;
    let connection = connection.expect("peer should be listening");
    let mut peer = accepted.await.expect("server should accept the connection");
    let body = Bytes::from(vec![7; 4 * 1024 * 1024]);
    for id in 0..4 {
        let sent = connection.send_now(|outbox| outbox.push(PacketId(id), user(10), &body));
        sent.expect("connection should be open").expect("packet should be within the limit");
    }
    connection.close();
    for id in 0..4 {
        let packet = peer.next().await.unwrap_or_else(|| panic!("packet {id} should be written"));
        assert_eq!(packet.id, PacketId(id));
    }
}

#[tokio::test]
async fn panicking_connect_hook_closes_connection() {
    let (channel_sender, mut connections) = mpsc::unbounded_channel();
    let server = Server::builder().on_connect(move |connection| {
        channel_sender.send(connection.clone()).expect("receiver should be waiting");
        panic!("on purpose");
    });
    let server = server.add_service(InteropServer::new(Service)).bind("127.0.0.1:0").await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let _socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let connection = connections.recv().await.expect("channel should stay open");
    tokio::time::timeout(TIMEOUT, connection.closed()).await.expect("connection should close within the timeout");
}

#[tokio::test]
async fn handler_panic_before_future_keeps_connection() {
    let make = |_: Connection, packet: Packet| {
        assert!(packet.body.first() != Some(&b'x'), "the test panics at this packet");
        async move { Some(packet) }
    };
    let handlers = Handlers::new().on(user(10), make).on_with(user(11), Policy::Concurrent, make);
    let server =
        frisbee::Server::builder().bind("127.0.0.1:0", handlers).await.expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    for number in [10, 11] {
        let mut raw = Raw::connect(address).await;
        raw.write(&packet(1, number, b"x")).await;
        raw.write(&packet(2, number, b"y")).await;
        let next = raw.next().await.expect("connection should stay open");
        assert_eq!(next.id, PacketId(2), "operation {number}");
    }
}

#[tokio::test]
async fn reader_of_many_messages_yields() {
    const MESSAGES: usize = 3000;
    let (channel_sender, mut streams) = mpsc::unbounded_channel();
    let (sender, mut has_come) = mpsc::unbounded_channel();
    let handlers =
        Handlers::new().on_stream(move |_, stream| drop(channel_sender.send(stream))).on(user(10), move |_, _| {
            let _ = sender.send(());
            async { None }
        });
    let connection = connect(handlers).await;
    let stream = connection.open_stream(&Bytes::from_static(b"first")).await.expect("stream should open");
    let mut received = streams.recv().await.expect("channel should stay open");
    for _ in 0..MESSAGES {
        stream.send(&Bytes::from_static(b"x")).await.expect("message should be sent");
    }
    connection.send(&Packet::new(PacketId(1), user(10), "after them")).await.expect("message should be sent");
    has_come.recv().await.expect("channel should stay open");
    let woken = Arc::new(Counting::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let (mut read, mut most, mut at_once) = (0, 0, 0);
    while read < MESSAGES {
        match received.poll_recv(&mut context) {
            Poll::Ready(message) => {
                assert!(message.is_some(), "stream ended after {read} of {MESSAGES} messages");
                (read, at_once) = (read + 1, at_once + 1);
                most = most.max(at_once);
            }
            Poll::Pending => {
                at_once = 0;
                tokio::time::timeout(TIMEOUT, until("the task is woken", || woken.0.swap(0, Ordering::SeqCst) > 0))
                    .await
                    .expect("task should be woken within the timeout");
            }
        }
    }
    assert!(most < 2000, "{most}");
}
