//! Tests of how connections end: notifications, the last packets, and peers that do not respond.

use bytes::{Bytes, BytesMut};
use frisbee::rpc::ConnectionExt;
use frisbee::{
    Acceptor, BatchEnd, Client, CloseKind, CloseReason, Config, Connection, ConnectionEvent, HandOffRequest,
    HandOffTarget, Handlers, HeaderForm, Operation, Outbox, Packet, PacketId, Routed, Router, Stream, StreamEnd,
    Workers,
};
use frisbee_core::Decoder;
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::{serve_interop_with, until};
use frpc::Server;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// Maximum time to wait for an event that should occur at once.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends the given number of bodies of 4 MiB.
fn send_much(connection: &Connection, count: u16) {
    let body = Bytes::from(vec![1; 4 << 20]);
    for id in 0..count {
        let sent = connection.send_now(|outbox| outbox.push(PacketId(id), Operation::FIRST_USER, &body));
        sent.expect("connection should be open").expect("packet should be within the limit");
    }
}

/// Connects a client to an in-memory server and waits until both have received HELLO. Returns the client's connection
/// and a task that returns the server's close reason.
async fn connected<R: Router>(server: &Acceptor<R>) -> (Connection, JoinHandle<CloseReason>) {
    let (here, there) = frisbee::memory();
    let server = server.clone();
    let serving = tokio::spawn(async move { server.serve_connection(there).await });
    let connection =
        Client::builder().connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
    connection.peer_known().await.expect("peer should complete the handshake");
    (connection, serving)
}

#[tokio::test]
async fn sent_packets_are_written_before_reported_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address");
    let read = Arc::new(AtomicUsize::new(0));
    tokio::spawn({
        let read = read.clone();
        async move {
            let (mut socket, _) = listener.accept().await.expect("client should connect");
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = socket.read(&mut buffer).await {
                read.fetch_add(count, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    let connection =
        Client::builder().connect(address, Handlers::new()).await.expect("server should accept the connection");
    send_much(&connection, 4);
    connection.close();
    connection.closed().await;
    // The peer closes its half only after it has read everything.
    assert!(read.load(Ordering::SeqCst) > 16 << 20);
}

/// Closes the connection when the first packet arrives. The packet is the reason.
struct Closing;

impl Router for Closing {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::close(String::from_utf8_lossy(&packet.body))
    }
}

/// Returns the code and the text that the peer has sent as its reason.
fn stated(reason: &CloseReason) -> (u32, &str) {
    match reason {
        CloseReason::PeerClosed { code, text } => (*code, text),
        other => panic!("{other:?}"),
    }
}

/// Regression test: the peer was notified of the end of the connection, but not of its reason.
#[tokio::test]
async fn reasons_of_both_ends_reach_native_peers() {
    let server = frisbee::Server::builder().build(Closing).expect("settings should be valid");
    let (client, serving) = connected(&server).await;
    let request = Packet::new(PacketId(1), Operation::FIRST_USER, format!("full {}", "x".repeat(300)));
    client.send(&request).await.expect("message should be sent");
    let reason = client.closed().await;
    assert_eq!(stated(&reason), (2, &format!("full {}", "x".repeat(195))[..]));
    assert!(matches!(serving.await.expect("task should not panic"), CloseReason::Router(text) if text.len() == 305));

    let (client, serving) = connected(&server).await;
    client.close_for("no such server");
    let reason = serving.await.expect("task should not panic");
    assert_eq!(stated(&reason), (2, "no such server"));
    assert_eq!(reason.kind(), CloseKind::ClosedByPeer);
}

#[tokio::test]
async fn only_native_peer_learns_broken_rule() {
    let server = frisbee::Server::builder().build(Closing).expect("settings should be valid");
    for (is_native, first) in [(true, packet(0, 3, b"fris\x01")), (false, packet(0, 0, b""))] {
        let (here, there) = frisbee::memory();
        let server = server.clone();
        let serving = tokio::spawn(async move { server.serve_connection(there).await });
        let mut raw = Raw::over(here);
        raw.write(&[first, packet(0, 0, b"a body")].concat()).await;
        if is_native {
            let close = raw.next().await.expect("the reason should arrive");
            assert_eq!((close.operation, close.id, close.body[0]), (Operation::EXTENSION, PacketId(4), 13));
            assert!(close.body.ends_with(b"a PING or PONG declares a body of 6 bytes"), "{close:?}");
        }
        assert!(raw.next().await.is_none(), "stream should end after the message");
        drop(raw);
        assert!(matches!(serving.await.expect("task should not panic"), CloseReason::Protocol(_)));
    }
}

#[tokio::test]
async fn failed_stream_opening_preserves_connection_end() {
    let (connection, _) = connected(&frisbee::Server::builder().build(Handlers::new()).unwrap()).await;
    let waits = tokio::spawn({
        let connection = connection.clone();
        async move { connection.closed().await }
    });
    tokio::task::yield_now().await;
    connection.open_stream(&vec![0; 6 << 20].into()).await.expect_err("stream should fail to open");
    connection.close();
    timeout(TIMEOUT, waits).await.expect("`closed` should return within the timeout").expect("task should not panic");
}

/// A transport that accepts all data but never completes its shutdown. TLS behaves like this if the peer stops reading.
struct NoShutdown(DuplexStream);

impl AsyncRead for NoShutdown {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, read: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, read)
    }
}

impl AsyncWrite for NoShutdown {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn transport_whose_shutdown_never_completes_is_dropped() {
    let (here, _there) = frisbee::memory();
    let connection = Client::builder()
        .connect_io(NoShutdown(here), Handlers::new())
        .await
        .expect("connection in memory should be accepted");
    connection.close();
    timeout(TIMEOUT, connection.closed()).await.expect("connection should close within the timeout");
}

#[tokio::test(start_paused = true)]
async fn abort_during_last_write_ends_connection() {
    let (here, _deaf) = frisbee::memory();
    let config = Config::default().write_timeout(2 * TIMEOUT);
    let connection = Client::builder()
        .config(config)
        .connect_io(here, Handlers::new())
        .await
        .expect("connection in memory should be accepted");
    send_much(&connection, 8);
    connection.close();
    until("the connection only writes what is queued", || connection.is_closed()).await;
    let waits = tokio::spawn({
        let connection = connection.clone();
        async move { connection.closed().await }
    });
    tokio::task::yield_now().await;
    assert!(!waits.is_finished(), "connection should wait while many bytes are unsent");
    connection.abort();
    timeout(TIMEOUT, waits).await.expect("`closed` should return within the timeout").expect("task should not panic");
}

#[tokio::test]
async fn closing_server_holds_packets_until_first_header() {
    let builder = Server::builder().on_connect(|connection: &Connection| {
        let sent = connection
            .send_now(|outbox| outbox.push(PacketId(9), Operation::FIRST_USER, Bytes::from_static(b"another time")));
        sent.expect("connection should be open").expect("packet should be within the limit");
        connection.close();
    });
    let address = serve_interop_with(builder.first_header_timeout(Duration::from_millis(100))).await;
    let mut client = Raw::connect(address).await;
    // Go clients begin with a PING.
    client.write(&packet(1, 0, b"")).await;
    assert_eq!(client.next().await.expect("client should receive the message").body, "another time");
    client.closed().await;
    // A client that sends nothing is disconnected at the timeout.
    Raw::connect(address).await.closed().await;
}

#[tokio::test(start_paused = true)]
async fn stream_reader_observes_client_half_close() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on_stream(move |_, stream| sender.send(stream).expect("receiver should be waiting"));
    let server = frisbee::Server::builder().build(handlers).unwrap();
    let (mut here, there) = frisbee::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    here.write_all(&[packet(1, 2, b"open"), packet(1, 2, b"message")].concat()).await.expect("write should succeed");
    let mut stream = receiver.recv().await.expect("channel should stay open");
    assert_eq!(stream.recv().await.expect("channel should stay open"), "message");
    let reads = tokio::spawn(async move { stream.recv().await });
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!reads.is_finished(), "reader should wait, because more bytes may follow");
    here.shutdown().await.expect("socket should shut down");
    assert_eq!(
        timeout(TIMEOUT, reads).await.expect("read should complete within the timeout").expect("task should not panic"),
        None
    );
}

/// Returns an acceptor that echoes, and the client's end of a connection that was just accepted.
async fn accepted() -> (Acceptor<Handlers>, DuplexStream, JoinHandle<CloseReason>) {
    let handlers = Handlers::new().on(Operation::FIRST_USER, |_connection, packet| async { Some(packet) });
    let server = frisbee::Server::builder().build(handlers).expect("settings should be valid");
    let (here, there) = frisbee::memory();
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.serve_connection(there).await }
    });
    tokio::task::yield_now().await;
    (server, here, serving)
}

#[tokio::test(start_paused = true)]
async fn first_request_during_shutdown_is_served() {
    let (server, mut here, serving) = accepted().await;
    let stopping = tokio::spawn(async move { server.shutdown().await });
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert!(
        !stopping.is_finished() && !serving.is_finished(),
        "server should wait, because a request may be in transit"
    );
    let request = packet(1, Operation::FIRST_USER.number(), b"late");
    here.write_all(&request).await.expect("write should succeed");
    let mut reply = Vec::new();
    timeout(TIMEOUT, here.read_to_end(&mut reply))
        .await
        .expect("read should complete within the timeout")
        .expect("connection should not be reset");
    assert_eq!(reply, request);
    timeout(TIMEOUT, stopping)
        .await
        .expect("shutdown should complete within the timeout")
        .expect("task should not panic");
}

#[tokio::test(start_paused = true)]
async fn shutdown_limits_wait_for_silent_client() {
    let (server, _silent, serving) = accepted().await;
    let started = Instant::now();
    server.shutdown().await;
    assert!(started.elapsed() < Duration::from_secs(4), "server waited for {:?}", started.elapsed());
    timeout(TIMEOUT, serving).await.expect("server should stop within the timeout").expect("task should not panic");
}

/// A protocol that sends a last packet through its connection handle when the server goes away.
struct Farewell;

impl Router for Farewell {
    type Session = Connection;

    fn connected(&self, connection: &Connection) -> Connection {
        connection.clone()
    }

    fn route(&self, _: &mut Connection, _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn event(&self, connection: &mut Connection, event: &mut ConnectionEvent<'_>) {
        if matches!(event, ConnectionEvent::GoingAway) {
            let sent = connection.send_now(|outbox| outbox.push(PacketId(1), Operation::FIRST_USER, Bytes::new()));
            sent.expect("connection should be open").expect("packet should be within the limit");
        }
    }
}

/// The peer is a native server that closes an idle connection.
#[tokio::test(start_paused = true)]
async fn client_acknowledges_end_after_its_queued_packets() {
    let (here, mut there) = frisbee::memory();
    let _connection =
        Client::builder().connect_io(here, Farewell).await.expect("connection in memory should be accepted");
    there.write_all(&[packet(0, 3, b"fris\x01"), packet(0, 4, b"")].concat()).await.expect("write should succeed");
    let going_away = packet(0, 4, b"");
    let mut sent = Vec::new();
    let hears = async {
        while !sent.ends_with(&going_away) {
            sent.push(there.read_u8().await.expect("peer should send a byte"));
        }
    };
    timeout(TIMEOUT, hears).await.expect("GOING_AWAY should arrive within the timeout");
    assert!(sent.ends_with(&[packet(1, 10, b""), going_away.clone()].concat()), "{sent:x?}");
}

/// A protocol with a request in progress until it is released.
struct Asking(Arc<AtomicBool>);

impl Router for Asking {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn event(&self, (): &mut (), event: &mut ConnectionEvent<'_>) {
        if let ConnectionEvent::Closing { is_busy } = event {
            *is_busy = self.0.load(Ordering::SeqCst);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_server_closes_only_idle_peers() {
    for is_busy in [false, true] {
        let is_asking = Arc::new(AtomicBool::new(is_busy));
        let server = frisbee::Server::builder()
            .shutdown_timeout(Duration::from_secs(60))
            .build(Asking(is_asking.clone()))
            .unwrap();
        let (connection, _) = connected(&server).await;
        let started = Instant::now();
        let stopping = tokio::spawn(async move { server.shutdown().await });
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(connection.is_closed(), !is_busy);
        is_asking.store(false, Ordering::SeqCst);
        // The peer sends the result of the request.
        let _ = connection.send_now(|outbox| outbox.push(PacketId(1), Operation::FIRST_USER, Bytes::new()));
        stopping.await.expect("task should not panic");
        assert!(started.elapsed() < Duration::from_secs(12), "{:?}", started.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn client_reads_last_packets_after_going_away() {
    let silent = Duration::from_secs(100);
    let config = Config::default().idle_timeout(silent).ping_interval(silent);
    let builder = frisbee::Server::builder().config(config).shutdown_timeout(Duration::from_secs(60));
    let server = builder.build(Asking(Arc::default())).unwrap();
    let (mut here, there) = frisbee::memory();
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.serve_connection(there).await }
    });
    here.write_all(&packet(0, 3, b"fris\x01")).await.expect("write should succeed");
    here.read_u8().await.expect("peer should send a byte");
    let stopping = tokio::spawn(async move { server.shutdown().await });
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!serving.is_finished(), "server should wait, because the peer may not have received the reply");
    here.write_all(&packet(0, 4, b"")).await.expect("write should succeed");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!serving.is_finished(), "server should wait, because the peer has not closed");
    // The client ignores packets that the server sends later. They must not reset the connection.
    here.write_all(&packet(1, 10, b"late")).await.expect("write should succeed");
    let mut read = Vec::new();
    here.read_to_end(&mut read).await.expect("peer should close the connection cleanly");
    assert!(read.ends_with(&packet(0, 4, b"")), "GOING_AWAY should be the last packet: {read:?}");
    drop(here);
    serving.await.expect("task should not panic");
    stopping.await.expect("task should not panic");
}

#[tokio::test]
async fn finished_stream_is_complete_after_sender_drop() {
    let send = |_first: Bytes, stream: Stream| {
        stream.connection().spawn(async move {
            for _ in 0..3 {
                stream.send(&Bytes::from_static(b"message")).await.expect("message should be sent");
            }
            stream.end();
        });
    };
    let (connection, _) = connected(&frisbee::Server::builder().build(Handlers::new().on_stream(send)).unwrap()).await;
    for _ in 0..20 {
        let mut stream = connection.open_stream(&Bytes::from_static(b"first")).await.expect("stream should open");
        // The peer ends its direction and drops the receiving one before the test reads anything.
        until("the stream has ended", || stream.sender().is_closed()).await;
        let mut messages = 0;
        while stream.recv().await.is_some() {
            messages += 1;
        }
        assert_eq!((messages, stream.close_reason()), (3, StreamEnd::Ended));
    }
}

/// A protocol that requests an immediate turn again and again, and sends a packet before its peer does. Each connection
/// on which it has sent one adds a permit to the semaphore.
struct Hasty(Arc<Semaphore>);

impl Router for Hasty {
    type Session = bool;

    fn connected(&self, _connection: &Connection) -> bool {
        false
    }

    fn route(&self, _: &mut bool, packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("packet should be within the limit");
        Routed::Continue
    }

    fn batch_ended(&self, has_requested: &mut bool, batch: &mut BatchEnd<'_>) -> Option<std::time::Instant> {
        if !std::mem::replace(has_requested, true) {
            let sent = batch.outbox.push(PacketId(7), Operation::FIRST_USER, Bytes::from_static(b"welcome"));
            sent.expect("packet should be within the limit");
            self.0.add_permits(1);
        }
        batch.again_when_written();
        Some(batch.now - Duration::from_secs(1))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn self_waking_router_does_not_starve_others() {
    let sent = Arc::new(Semaphore::new(0));
    let server = frisbee::Server::builder().workers(Workers::Threads(1)).bind("127.0.0.1:0", Hasty(sent.clone())).await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let _first = TcpStream::connect(address).await.expect("server should accept the connection");
    let mut second = Raw::connect(address).await;
    let _both = sent.acquire_many(2).await.expect("connection should be open");
    second.write(&packet(1, 10, b"echo")).await;
    let answers = [second.next().await, second.next().await].map(|answer| answer.expect("peer should answer").body);
    assert_eq!(answers, ["welcome", "echo"]);
}

#[tokio::test]
async fn packets_before_first_header_use_peer_form() {
    let sent = Arc::new(Semaphore::new(0));
    let server = frisbee::Server::builder().bind("127.0.0.1:0", Hasty(sent.clone())).await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let _permit = sent.acquire().await.expect("semaphore should be open");
    // A packet with an old eight-byte header.
    let mut packet = Outbox::new(HeaderForm::Old);
    packet
        .push(PacketId(1), Operation::FIRST_USER, Bytes::from_static(b"echo"))
        .expect("packet should be within the limit");
    socket.write_all(&packet.take_bytes()).await.expect("write should succeed");
    let (mut decoder, mut received) = (Decoder::new(HeaderForm::Old, 1024), BytesMut::new());
    for body in ["welcome", "echo"] {
        let decoded = loop {
            let mut rest = received.split().freeze();
            let decoded = decoder.next(&mut rest).expect("peer should follow the protocol");
            received.extend_from_slice(&rest);
            match decoded {
                Some(decoded) => break decoded,
                None => assert_ne!(socket.read_buf(&mut received).await.expect("peer should answer"), 0),
            }
        };
        assert_eq!(decoded.body, body);
    }
}

/// A protocol that takes five seconds to decide about a hand-off, and panics in `is_busy`.
struct Hesitant;

impl Router for Hesitant {
    type Session = Connection;

    fn connected(&self, connection: &Connection) -> Connection {
        connection.clone()
    }

    fn route(&self, _: &mut Connection, _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn hand_off(&self, connection: &mut Connection, request: HandOffRequest) -> Routed {
        connection.runtime_handle().spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            request.accept("yours", HandOffTarget::new(async |raw| drop(raw)));
        });
        Routed::Continue
    }

    fn event(&self, _: &mut Connection, event: &mut ConnectionEvent<'_>) {
        assert!(!matches!(event, ConnectionEvent::Closing { .. }), "the test panics at this event");
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_server_waits_for_undecided_hand_off() {
    let server = frisbee::Server::builder().build(Hesitant).unwrap();
    let (connection, _) = connected(&server).await;
    let asking = tokio::spawn(async move { connection.hand_off(Operation::FIRST_USER, "").await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.shutdown().await;
    asking.await.expect("task should not panic").expect("request should be accepted");
}

#[tokio::test]
async fn is_busy_panic_ends_connection_with_error() {
    let server = frisbee::Server::builder().build(Hesitant).unwrap();
    let (_connection, serving) = connected(&server).await;
    server.shutdown().await;
    assert_eq!(serving.await.expect("driver should not panic").kind(), CloseKind::Router);
}

/// A router that passes its connections to the test.
struct ConnectionSender(mpsc::UnboundedSender<Connection>);

impl Router for ConnectionSender {
    type Session = ();

    fn connected(&self, connection: &Connection) {
        self.0.send(connection.clone()).expect("receiver should be waiting");
    }

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }
}

/// Returns a configuration without timers.
fn quiet() -> Config {
    Config::default().ping_interval(Duration::MAX).idle_timeout(Duration::MAX)
}

/// Returns the server's end of a connection on which no bytes have arrived, and the client's transport.
async fn unheard(config: Config) -> (Connection, DuplexStream) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let server = frisbee::Server::builder().config(config).build(ConnectionSender(sender)).unwrap();
    let (here, there) = frisbee::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    (receiver.recv().await.expect("channel should stay open"), here)
}

#[tokio::test(start_paused = true)]
async fn old_header_client_resumes_blocked_senders() {
    let (connection, mut here) = unheard(quiet().backlog_max(1000)).await;
    let sends = tokio::spawn(async move {
        for _ in 0..200 {
            connection
                .send(&Packet::new(PacketId(1), Operation::FIRST_USER, ""))
                .await
                .expect("message should be sent");
        }
    });
    tokio::task::yield_now().await; // A thousand bytes are pending. With old headers there are only 800.
    let mut packet = Outbox::new(HeaderForm::Old);
    packet.push(PacketId(1), Operation::FIRST_USER, Bytes::new()).expect("packet should be within the limit");
    here.write_all(&packet.take_bytes()).await.expect("write should succeed");
    timeout(TIMEOUT, sends).await.expect("sender should finish within the timeout").expect("task should not panic");
}

#[tokio::test(start_paused = true)]
async fn forgotten_stream_completes_close_when_idle() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on_stream(move |_, stream| sender.send(stream).expect("receiver should be waiting"));
    let server = frisbee::Server::builder().config(quiet()).build(handlers).unwrap();
    let (here, there) = frisbee::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let connection = Client::builder()
        .config(quiet())
        .connect_io(here, Handlers::new())
        .await
        .expect("connection in memory should be accepted");
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let _connection = receiver.recv().await.expect("channel should stay open");
    connection.close_when_idle();
    timeout(100 * TIMEOUT, connection.closed()).await.expect_err("`closed` should wait for the open stream");
    stream.forget();
    timeout(TIMEOUT, connection.closed()).await.expect("connection should close within the timeout");
}

#[tokio::test(start_paused = true)]
async fn close_when_idle_does_not_weaken_close() {
    let (connection, mut here) = unheard(quiet()).await;
    let sent = connection.send_now(|outbox| outbox.push(PacketId(1), Operation::FIRST_USER, Bytes::new()));
    sent.expect("connection should be open").expect("packet should be within the limit");
    connection.spawn(std::future::pending());
    connection.close(); // The connection waits until the form of headers is known.
    tokio::time::sleep(Duration::from_millis(1)).await;
    connection.close_when_idle();
    tokio::time::sleep(Duration::from_millis(1)).await;
    here.write_all(&packet(1, 10, b"")).await.expect("write should succeed");
    timeout(TIMEOUT, connection.closed()).await.expect("connection should close within the timeout");
}

/// A waker that panics.
struct Broken;

impl Wake for Broken {
    fn wake(self: Arc<Self>) {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn panicking_waker_lets_others_wake() {
    let (connection, _) = connected(&frisbee::Server::builder().build(Handlers::new()).unwrap()).await;
    let broken = Arc::new(Broken).into();
    let mut first = pin!(connection.closed());
    assert!(first.as_mut().poll(&mut Context::from_waker(&broken)).is_pending());
    let waits = tokio::spawn({
        let connection = connection.clone();
        async move { connection.closed().await }
    });
    let (dropped, is_dropped) = oneshot::channel::<()>();
    connection.spawn(async move {
        let _dropped = dropped;
        std::future::pending::<()>().await;
    });
    tokio::task::yield_now().await;
    connection.abort();
    timeout(TIMEOUT, waits).await.expect("`closed` should return within the timeout").expect("task should not panic");
    timeout(TIMEOUT, is_dropped)
        .await
        .expect("value should be dropped within the timeout")
        .expect_err("peer should send nothing");
}
