//! Tests of load beyond the limits of a server, over sockets and in memory: the memory of one address, the order of
//! turns, retained buffers, and statistics. `simulation/overload.rs` tests limits that hold on any network.

use bytes::Bytes;
use frisbee::{
    BatchEnd, CloseKind, Config, Connection, Handlers, Operation, Outbox, Packet, PacketId, Routed, Router, Stats,
};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::{Endless, Raw, encoded, error_text, header, packet};
use frisbee_tests::service::Service;
use frisbee_tests::until;
use frpc::{Channel, Code, Server, ServerBuilder};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

const ADD: u16 = 18;
const PAYLOAD: u16 = 17;
const CHAT: u16 = 23;
const MIB: usize = 1024 * 1024;

async fn serve(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (SocketAddr, Stats) {
    let builder = settings(Server::builder()).add_service(InteropServer::new(Service));
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

async fn expect_sum(peer: &mut Raw, id: u16) {
    peer.write(&packet(id, ADD, &encoded(&AddRequest { a: 20, b: 22 }))).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!((reply.id.0, reply.operation.number()), (id, ADD));
    assert_eq!(error_text(&reply.body), None);
}

#[tokio::test]
async fn arriving_bodies_stay_within_server_memory() {
    let (address, stats) = serve(|builder| builder.memory_max(8 * MIB)).await;
    let mut peers = Vec::new();
    let body = encoded(&Payload { seq: 1, data: vec![1; 2 * MIB] });
    let request = packet(1, PAYLOAD, &body);
    for _ in 0..50 {
        let mut peer = Raw::connect(address).await;
        peer.write(&request[..MIB]).await;
        peers.push(peer);
    }
    until("most requests are rejected", || stats.rejected() >= 44).await;
    // All connections of one address may hold at most three quarters of the memory.
    assert!(stats.memory_held() <= 6 * MIB, "server holds {} bytes", stats.memory_held());
    // Every accepted request is answered, and the connections of the others stay open.
    let mut served = 0;
    for peer in &mut peers {
        peer.write(&request[MIB..]).await;
        let reply = peer.next().await.expect("connection should stay open");
        served += usize::from(error_text(&reply.body).is_none());
        expect_sum(peer, 2).await;
    }
    assert!((1..=6).contains(&served), "{served} calls were served");
    drop(peers);
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn producers_resume_once_queue_is_written() {
    // The pipe is large enough to accept all pending bytes in one write.
    let (here, mut there) = tokio::io::duplex(16 * MIB);
    let client = frisbee::Client::builder().config(Config::default().hello(false));
    let connection = client.connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
    // The peer reads everything but sends nothing, so only writes wake the connection.
    let reader = tokio::spawn(async move {
        let mut read = vec![0; 64 * 1024];
        while tokio::io::AsyncReadExt::read(&mut there, &mut read).await.is_ok_and(|count| count > 0) {}
    });
    let operation = Operation::user(10).expect("operation number should be in the user range");
    let packet = Packet::new(PacketId(1), operation, vec![0; 2 * MIB]);
    let started = tokio::time::Instant::now();
    for _ in 0..5 {
        connection.send(&packet).await.expect("message should be sent");
    }
    assert!(started.elapsed() < Duration::from_secs(1), "calls waited {:?} for a timer", started.elapsed());
    reader.abort();
}

#[tokio::test]
async fn output_backlog_limit_is_configurable() {
    for (backlog_max, fit) in [(1_000, 10), (10_000, 100), (1, 1)] {
        let (io, _never_reads) = tokio::io::duplex(1);
        let config = Config::default().backlog_max(backlog_max).hello(false);
        let client = frisbee::Client::builder().config(config).connect_io(io, Handlers::new()).await.unwrap();
        let packet = Packet::new(PacketId(0), Operation::FIRST_USER, vec![0; 90]);
        let mut sent = 0;
        while poll_fn(|context| Poll::Ready(pin!(client.send(&packet)).poll(context).is_ready())).await {
            sent += 1;
        }
        assert_eq!(sent, fit, "packets of 100 bytes with room for {backlog_max} bytes");
    }
}

/// Counts the turns of all connections and reports the turn in which each packet of operation 10 was routed.
struct BatchCounter(Arc<AtomicU64>, UnboundedSender<u64>);

impl Router for BatchCounter {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), packet: Packet, _outbox: &mut Outbox) -> Routed {
        if packet.operation.number() == 10 {
            let _ = self.1.send(self.0.load(Ordering::Relaxed));
        }
        Routed::Continue
    }

    fn batch_ended(&self, _session: &mut (), _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        self.0.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// Regression: clients that send without end had 61 turns before the runtime polled other sockets.
#[tokio::test]
async fn endless_sender_delays_others_one_batch() {
    let batches = Arc::new(AtomicU64::new(0));
    let (sender, mut coming) = unbounded_channel();
    let acceptor = frisbee::Server::builder().build(BatchCounter(batches.clone(), sender)).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let mut healthy = std::net::TcpStream::connect(listener.local_addr().expect("socket should have a local address"))
        .expect("server should accept the connection");
    let (served, _) = listener.accept().expect("client should connect");
    served.set_nonblocking(true).expect("address should be that of a socket");
    let served = tokio::net::TcpStream::from_std(served).expect("runtime should accept the socket");
    let mut serving = JoinSet::new();
    serving.spawn({
        let acceptor = acceptor.clone();
        async move { acceptor.serve_connection(served).await }
    });
    // One client sends one packet per read, one sends many, and one sends packets of the protocol itself.
    for (bytes, at_once) in
        [(packet(1, 11, b"x"), 11), (packet(1, 11, b"x"), usize::MAX), (packet(0, 1, b""), usize::MAX)]
    {
        let acceptor = acceptor.clone();
        serving.spawn(async move { acceptor.serve_connection(Endless::new(&bytes, at_once)).await });
    }
    for id in 0..100 {
        tokio::task::yield_now().await;
        let before = batches.load(Ordering::Relaxed);
        // After this write, the packet is in the socket of the server. The runtime has not polled the socket yet.
        std::io::Write::write_all(&mut healthy, &packet(id, 10, b"")).expect("server should read the packet");
        let at = coming.recv().await.expect("channel should stay open");
        // There are three senders with at most four reads per turn.
        assert!(at - before <= 24, "{} turns of other connections went first", at - before);
    }
}

/// Regression: a peer that kept sending after the server had closed kept its thread in a loop. This happened after a
/// failed handshake and after a connection.
#[tokio::test(flavor = "multi_thread")]
async fn peer_sending_after_close_is_disconnected() {
    let authority = Authority::default();
    let request = packet(1, 10, &[0; 4 * MIB]);
    let closing = frisbee::Server::builder()
        .memory_max(MIB)
        .build(Handlers::new().on(Operation::FIRST_USER, |_connection, packet| async { Some(packet) }))
        .unwrap();
    let secured = frisbee::Server::builder().tls(authority.server()).build(Handlers::new()).unwrap();
    for (acceptor, kind) in [(closing, CloseKind::Router), (secured, CloseKind::NotTls)] {
        let serving = acceptor.serve_connection(Endless::new(&request, usize::MAX));
        let reason = tokio::time::timeout(Duration::from_secs(20), serving)
            .await
            .expect("server should stop within the timeout");
        assert_eq!(reason.kind(), kind);
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_close_is_counted() {
    let config = Config::default().idle_timeout(Duration::from_millis(300)).least_rate_window(Duration::from_secs(1));
    let builder = Server::builder().config(config).first_header_timeout(Duration::from_millis(100));
    let acceptor = builder.add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let stats = acceptor.stats();
    let add = packet(1, ADD, &encoded(&AddRequest { a: 1, b: 2 }));
    let pings = packet(0, 0, b"").repeat(100);
    let malformed = [packet(0, 3, &hello()), packet(1, 2, &[9, CHAT as u8]), packet(1, 5, &[0x80])].concat();
    let cases: [(CloseKind, &[u8]); 8] = [
        (CloseKind::BadMagic, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (CloseKind::TooLong, &header(1, ADD, u32::MAX)),
        (CloseKind::KeepaliveWithBody, &packet(0, 0, b"!")),
        (CloseKind::Flood, &pings),
        (CloseKind::NoFirstHeader, &[0, 0x0F]),
        (CloseKind::IdleTimeout, &add),
        (CloseKind::TooSlow, &[]),
        (CloseKind::Malformed, &malformed),
    ];
    for (kind, bytes) in cases {
        let (mut peer, there) = frisbee::memory();
        let acceptor = acceptor.clone();
        let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
        peer.write_all(bytes).await.expect("write should succeed");
        if kind == CloseKind::TooSlow {
            peer.write_all(&header(1, ADD, 1_000_000)).await.expect("write should succeed");
            while !serving.is_finished() && peer.write_all(&[0]).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        serving.await.expect("task should not panic");
        assert_eq!(stats.closed_by(kind), 1, "{}", kind.name());
    }
    assert_eq!(stats.closed().map(|(_, count)| count).sum::<u64>(), 8);
    assert_eq!((stats.opened(), stats.open()), (8, 0));
}

/// Returns the first packet of a native peer.
fn hello() -> Bytes {
    let now = Instant::now();
    let mut core = frisbee_core::Connection::client(&Default::default(), now);
    let begins = core.outbox().take_bytes();
    // Returns the part between the header and the PING, which has ten bytes.
    begins.slice(10..begins.len() - 10)
}

#[tokio::test]
async fn short_bodies_of_pending_handlers_are_copied() {
    let (sender, mut bodies) = unbounded_channel();
    let waits = move |_: Connection, packet: Packet| {
        let sender = sender.clone();
        async move {
            sender.send(packet.body.is_unique()).expect("receiver should be waiting");
            std::future::pending().await
        }
    };
    let server = frisbee::Server::builder().bind("127.0.0.1:0", Handlers::new().on(Operation::FIRST_USER, waits)).await;
    let server = server.expect("loopback port should be free");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    peer.write(&[packet(1, 10, b"short"), packet(2, 10, b"short"), packet(3, 10, b"short")].concat()).await;
    let mut are_copies = Vec::new();
    for _ in 0..3 {
        are_copies.push(bodies.recv().await.expect("channel should stay open"));
    }
    // The first handler is charged its whole buffer. It shows that handlers stay pending, so the bodies of the next
    // ones are copied.
    assert_eq!(are_copies[1..], [true, true]);
    until("the handlers are charged", || stats.memory_held() > 128 * 1024 + 2 * 700).await;
    assert!(stats.memory_held() < 128 * 1024 + 4 * 1024, "{}", stats.memory_held());
    drop(peer);
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn stream_messages_are_charged_for_read_buffers() {
    let (opened, mut streams) = unbounded_channel();
    let keep = move |_: Bytes, stream: frisbee::Stream| drop(opened.send(stream));
    let server = frisbee::Server::builder().bind("127.0.0.1:0", Handlers::new().on_stream(keep)).await;
    let server = server.expect("loopback port should be free");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    peer.write(&[packet(1, 2, b"first"), packet(1, 2, &vec![1; 20_000])].concat()).await;
    let mut stream = streams.recv().await.expect("channel should stay open");
    until("the unread message is charged", || stats.memory_held() > 128 * 1024).await;
    assert_eq!(stream.recv().await.expect("channel should stay open").len(), 20_000);
    peer.write(&packet(1, 2, b"one more")).await;
    assert_eq!(stream.recv().await.expect("channel should stay open"), "one more");
    until("the read buffers are released", || stats.memory_held() < 3 * 1024).await;
}

#[tokio::test]
async fn client_at_memory_limit_begins_no_requests() {
    let (address, server) = Raw::listen().await;
    let started = Arc::new(AtomicU64::new(0));
    let waits = {
        let started = started.clone();
        move |_: Connection, _: Packet| {
            started.fetch_add(1, Ordering::SeqCst);
            std::future::pending()
        }
    };
    let handlers = Handlers::new()
        .on(Operation::FIRST_USER, waits)
        .on(Operation::user(11).expect("operation number should be in the user range"), |_, packet| async {
            Some(packet)
        });
    let client = frisbee::Client::builder().memory_max(100_000).connect(address, handlers);
    let (client, mut server) = tokio::join!(client, server);
    let _client = client.expect("server should accept the connection");
    server.write(&(0..1000).flat_map(|id| packet(id, 10, b"")).collect::<Vec<_>>()).await;
    // Handlers of a router cannot reject a request, so the connection is closed.
    server.closed().await;
    assert!(started.load(Ordering::SeqCst) < 200, "{started:?}");
}

/// A protocol that echoes packets and reports each as slow or not.
struct Echoing {
    is_slow: bool,
    batches: Arc<AtomicU64>,
}

impl Router for Echoing {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("packet should be within the limit");
        if self.is_slow { Routed::Slow } else { Routed::Continue }
    }

    fn batch_ended(&self, (): &mut (), _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        self.batches.fetch_add(1, Ordering::SeqCst);
        None
    }
}

#[tokio::test]
async fn long_batch_ends_after_slow_packet() {
    for is_slow in [false, true] {
        let batches = Arc::new(AtomicU64::new(0));
        let config = Config::default().turn_max(Duration::ZERO);
        let router = Echoing { is_slow, batches: batches.clone() };
        let server = frisbee::Server::builder().config(config).bind("127.0.0.1:0", router).await;
        let server = server.expect("loopback port should be free");
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let mut peer = Raw::connect(address).await;
        peer.write(&(0..20).flat_map(|id| packet(id, 10, b"x")).collect::<Vec<_>>()).await;
        for _ in 0..20 {
            peer.next().await.expect("connection should stay open");
        }
        assert_eq!(batches.load(Ordering::SeqCst) >= 20, is_slow, "{batches:?}");
    }
}

/// Returns a channel that requests the connection from a server with the given memory, and the statistics of the
/// server.
async fn asking(memory_max: usize) -> (InteropClient, Stats) {
    let (address, stats) =
        serve(|builder| builder.memory_max(memory_max).method_hand_off("interop.Interop/EchoPayload")).await;
    let channel = Channel::connect(address.to_string()).await.expect("server should accept the connection");
    (InteropClient::new(channel.request_hand_off().0), stats)
}

#[tokio::test]
async fn server_over_memory_refuses_hand_off_call() {
    let (client, stats) = asking(1).await;
    let refused = client.echo_payload(Payload::default()).await.expect_err("call should fail");
    assert_eq!((refused.code(), refused.may_have_run()), (Code::ResourceExhausted, false), "{refused}");
    assert_eq!(stats.rejected(), 1);
}

/// Regression: the call waited until the connection was closed by the keepalive timeout.
#[tokio::test]
async fn hand_off_body_without_memory_ends_connection() {
    let (client, stats) = asking(MIB).await;
    let error = client.echo_payload(Payload { seq: 1, data: vec![1; 4 * MIB] }).await.expect_err("call should fail");
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    assert_eq!((stats.rejected(), stats.closed_by(CloseKind::Router)), (1, 1));
    client.echo_payload(Payload::default()).await.expect("call should succeed");
}
