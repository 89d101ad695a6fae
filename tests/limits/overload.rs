//! A server that is asked for more than it has: what it refuses, what it holds, and what it tells of it.

use bytes::Bytes;
use frisbee::support::tlv;
use frisbee::{
    CloseKind, Config, Connection, Handlers, Operation, Outbox, Packet, PacketId, Routed, Router, Stats, Turn,
};
use frisbee_tests::gated::Gated;
use frisbee_tests::interop::{AddRequest, Interop, InteropClient, InteropServer, Payload, SleepRequest};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::{Endless, Raw, encoded, error_text, header, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{left_to_service, until};
use frpc::{Channel, Code, Metadata, Request, RequestStream, Response, Server, ServerBuilder, Status};
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
const SLEEP: u16 = 19;
const PAYLOAD: u16 = 17;
const CHAT: u16 = 23;
const MIB: usize = 1024 * 1024;

async fn serve(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (SocketAddr, Stats) {
    let builder = settings(Server::builder()).add_service(InteropServer::new(Service));
    let server = builder.bind("127.0.0.1:0").await.expect("loopback has free ports");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

async fn serve_gated(builder: ServerBuilder, gated: &Gated) -> (SocketAddr, Stats) {
    let server = builder.add_service(InteropServer::new(gated.clone())).bind("127.0.0.1:0").await;
    let server = server.expect("loopback has free ports");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

async fn expect_sum(peer: &mut Raw, id: u16) {
    peer.write(&packet(id, ADD, &encoded(&AddRequest { a: 20, b: 22 }))).await;
    let reply = peer.next().await.expect("the connection lives");
    assert_eq!((reply.id.0, reply.operation.number()), (id, ADD));
    assert_eq!(error_text(&reply.body), None);
}

#[tokio::test]
async fn a_request_without_memory_is_discarded_and_the_connection_lives() {
    let (address, stats) = serve(|builder| builder.memory_max(MIB)).await;
    let mut peer = Raw::connect(address).await;
    let body = encoded(&Payload { seq: 1, data: vec![1; 4 * MIB] });
    peer.write(&packet(7, PAYLOAD, &body)).await;
    let refused = peer.next().await.expect("the connection lives");
    assert_eq!((refused.id.0, refused.operation.number()), (7, PAYLOAD));
    assert!(error_text(&refused.body).is_some_and(|text| text.contains("memory limit for this client")));
    expect_sum(&mut peer, 8).await;
    assert_eq!((stats.shed(), stats.memory_held()), (1, 0));

    let client = InteropClient::connect(address.to_string()).await.expect("the server listens");
    let refused = client.echo_payload(Payload { seq: 1, data: vec![1; 4 * MIB] }).await.expect_err("no memory");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    client.echo_payload(Payload { seq: 1, data: vec![1; MIB / 8] }).await.expect("there is memory for this");
}

#[tokio::test]
async fn an_opening_of_a_stream_for_which_there_is_no_memory_is_answered() {
    let opening = [&[9, CHAT as u8][..], &[0; 4 * MIB]].concat();
    for ours in [true, false] {
        let (address, stats) = serve(|builder| builder.memory_max(MIB / 2)).await;
        let mut peer = Raw::connect(address).await;
        if ours {
            peer.write(&packet(0, 3, &hello())).await;
        }
        peer.write(&packet(1, 2, &opening)).await;
        let mut refused = peer.next().await.expect("the connection lives");
        // A reset for an extended peer, behind a credit of 0 that says that no handler has seen it; a close for Go.
        if ours {
            assert_eq!((refused.id.0, refused.operation.number(), &refused.body[..]), (1, 5, &[0][..]));
            refused = peer.next().await.expect("the connection lives");
        }
        let (operation, code) = if ours { (7, Some(Code::ResourceExhausted as u8)) } else { (2, None) };
        assert_eq!((refused.id.0, refused.operation.number(), refused.body.first().copied()), (1, operation, code));
        expect_sum(&mut peer, 8).await;
        assert_eq!((stats.shed(), stats.memory_held()), (1, 0));
    }
}

#[tokio::test]
async fn bodies_that_arrive_on_many_connections_take_no_more_than_the_server_may_hold() {
    let (address, stats) = serve(|builder| builder.memory_max(8 * MIB)).await;
    let mut peers = Vec::new();
    let body = encoded(&Payload { seq: 1, data: vec![1; 2 * MIB] });
    let request = packet(1, PAYLOAD, &body);
    for _ in 0..50 {
        let mut peer = Raw::connect(address).await;
        peer.write(&request[..MIB]).await;
        peers.push(peer);
    }
    until("most are refused", || stats.shed() >= 44).await;
    // The connections of one address may hold three quarters.
    assert!(stats.memory_held() <= 6 * MIB, "{} bytes are held", stats.memory_held());
    // Whoever was accepted is served, and the others live as well.
    let mut served = 0;
    for peer in &mut peers {
        peer.write(&request[MIB..]).await;
        let reply = peer.next().await.expect("the connection lives");
        served += usize::from(error_text(&reply.body).is_none());
        expect_sum(peer, 2).await;
    }
    assert!((1..=6).contains(&served), "{served} were served");
    drop(peers);
    until("nothing is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn long_hellos_are_charged_while_their_connections_live() {
    let (address, stats) = serve(|builder| builder.memory_max(MIB)).await;
    // An item of 60 KiB that means nothing to this server; and one short enough to be had for nothing.
    let greeting = |length: usize| {
        let mut content = b"fris\x01".to_vec();
        tlv::put_item(&mut content, 200, &vec![1; length]);
        packet(0, 3, &content)
    };
    let mut peers = Vec::new();
    for _ in 0..12 {
        let mut peer = Raw::connect(address).await;
        peer.write(&greeting(60 * 1024)).await;
        expect_sum(&mut peer, 1).await;
        peers.push(peer);
    }
    assert!(stats.memory_held() > 12 * 60 * 1024, "{}", stats.memory_held());
    let mut one_too_many = Raw::connect(address).await;
    one_too_many.write(&greeting(60 * 1024)).await;
    one_too_many.closed().await;
    let mut short = Raw::connect(address).await;
    short.write(&greeting(3000)).await;
    expect_sum(&mut short, 1).await;
    drop(peers);
    until("nothing is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn the_partial_packet_of_a_vanished_peer_is_released() {
    let (address, stats) = serve(|builder| builder).await;
    for _ in 0..20 {
        let mut peer = Raw::connect(address).await;
        peer.write(&header(1, PAYLOAD, 2 * MIB as u32)).await;
        peer.write(&vec![0; MIB]).await;
    }
    until("all have come and gone", || stats.opened() == 20 && stats.open() == 0).await;
    until("nothing is held", || stats.memory_held() == 0).await;
    assert_eq!(stats.closed_by(CloseKind::Truncated) + stats.closed_by(CloseKind::Io), 20);
}

#[tokio::test]
async fn requests_of_a_connection_whose_handlers_hold_its_share_are_refused_before_they_begin() {
    const SENT: u16 = 1_000;
    let gated = Gated::shut();
    let (address, stats) = serve_gated(Server::builder().memory_max(400_000), &gated).await;
    let mut peer = Raw::connect(address).await;
    let sleeps = (0..SENT).map(|id| packet(id, SLEEP, &encoded(&SleepRequest { millis: 1, tag: 1 })));
    peer.write(&sleeps.collect::<Vec<_>>().concat()).await;
    until("the rest is refused", || stats.shed() > u64::from(SENT) - 300).await;
    let client = InteropClient::connect(address.to_string()).await.expect("the server listens");
    client.sleep(SleepRequest { millis: 0, tag: 2 }).await.expect("others have their own share");
    // Those that had begun end well; whatever came behind them is answered too.
    gated.open();
    let mut answered = 0;
    for _ in 0..SENT {
        answered += usize::from(error_text(&peer.next().await.expect("the connection lives").body).is_none());
    }
    assert!((200..300).contains(&answered), "{answered} were answered");
    until("nothing is held", || stats.memory_held() == 0).await;
}

/// Keeps payloads for as long as it is called, and counts them.
struct Keeping(Arc<AtomicU64>);

impl Interop for Keeping {
    async fn echo_payload(&self, request: Request<Payload>) -> Result<Response<Payload>, Status> {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>().await;
        Ok(Response::new(request.into_inner()))
    }

    left_to_service!(echoes, do_nothing, fail, add, sleep, describe, count_up, sum_up, chat);
}

#[tokio::test]
async fn requests_whose_handlers_wait_are_held_with_all_their_bytes() {
    const LENGTH: usize = 10_000;
    let kept = Arc::new(AtomicU64::new(0));
    let builder = Server::builder().add_service(InteropServer::new(Keeping(kept.clone())));
    let server = builder.bind("127.0.0.1:0").await.expect("loopback has free ports");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    let body = encoded(&Payload { seq: 1, data: vec![1; LENGTH] });
    for id in 1..=20 {
        peer.write(&packet(id, PAYLOAD, &body)).await;
    }
    until("all handlers wait", || kept.load(Ordering::SeqCst) == 20).await;
    until("all of it is held", || stats.memory_held() >= 20 * LENGTH).await;
    assert!(stats.memory_held() < 30 * LENGTH, "{}", stats.memory_held());
    drop(peer);
    until("nothing is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn the_metadata_of_requests_whose_handlers_wait_is_held_with_them() {
    let (address, stats) = serve(|builder| builder).await;
    let client = InteropClient::connect(address.to_string()).await.expect("the server listens");
    let mut metadata = Metadata::new();
    let value = "a".repeat(80);
    (0..250).for_each(|number| metadata.insert(format!("{number}"), &value).expect("there is room"));
    let least = 250 * value.len();
    for stream in [false, true] {
        let mut waiting = JoinSet::new();
        for tag in 0..10 {
            let (client, metadata) = (client.clone(), metadata.clone());
            waiting.spawn(async move {
                if stream {
                    let (_sender, requests) = RequestStream::channel(1);
                    let mut request = Request::new(requests);
                    *request.metadata_mut() = metadata;
                    let mut replies = client.chat(request).await.expect("it streams").into_inner();
                    while replies.message().await.is_ok_and(|message| message.is_some()) {}
                } else {
                    let mut request = Request::new(SleepRequest { millis: 60_000, tag });
                    *request.metadata_mut() = metadata;
                    let _ = client.sleep(request).await;
                }
            });
        }
        until("all of it is held", || stats.memory_held() > 10 * least).await;
        assert!(stats.memory_held() < 30 * least, "{}", stats.memory_held());
        drop(waiting);
        until("nothing is held", || stats.memory_held() == 0).await;
    }
}

#[tokio::test]
async fn calls_beyond_the_limit_of_a_connection_are_refused_at_once() {
    let config = Config::default().calls_max(100);
    let gated = Gated::shut();
    let (address, stats) = serve_gated(Server::builder().config(config), &gated).await;
    let mut peer = Raw::connect(address).await;
    let sleeps = (0..1_000).map(|id| packet(id, SLEEP, &encoded(&SleepRequest { millis: 1, tag: 0 })));
    peer.write(&sleeps.collect::<Vec<_>>().concat()).await;
    for id in 100..1_000 {
        let refused = peer.next().await.expect("the connection lives");
        assert_eq!(refused.id.0, id, "those beyond the limit are answered first");
        assert!(error_text(&refused.body).is_some_and(|text| text.contains("100 calls")));
    }
    assert_eq!(stats.shed(), 900);
    gated.open();
    for _ in 0..100 {
        assert_eq!(error_text(&peer.next().await.expect("the connection lives").body), None);
    }
    expect_sum(&mut peer, 1).await;
}

#[tokio::test]
async fn streams_opened_and_closed_in_a_loop_harm_nobody_and_leave_nothing_held() {
    let (address, stats) = serve(|builder| builder).await;
    let mut peer = Raw::connect(address).await;
    let text = encoded(&frisbee_tests::interop::Text { value: "x".into() });
    for round in 0..200_u16 {
        let batch = (0..50).flat_map(|n| {
            let id = 1 + (round * 50 + n) % 30_000;
            [packet(id, 2, &[9, CHAT as u8]), packet(id, 2, &text), packet(id, 2, &[])].concat()
        });
        peer.write(&batch.collect::<Vec<_>>()).await;
    }
    expect_sum_among_streams(&mut peer).await;
    until("nothing is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn a_stream_that_is_opened_and_closed_has_its_place_until_it_is_let_go() {
    let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
    let keeper = kept.clone();
    let handlers = Handlers::new().on_stream(move |_first, stream| keeper.lock().expect("it is whole").push(stream));
    let server = frisbee::Server::builder().bind("127.0.0.1:0", handlers).await.expect("loopback has free ports");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    let loops = (1..=2_000).flat_map(|id| [packet(id, 2, b"open"), packet(id, 2, &[])].concat());
    peer.write(&loops.collect::<Vec<_>>()).await;
    // 256 that are open, and as many again that are about to go.
    until("the rest is refused", || stats.shed() == 2_000 - 512).await;
    assert_eq!(kept.lock().expect("it is whole").len(), 512);
    kept.lock().expect("it is whole").clear();
    peer.write(&packet(3_000, 2, b"open")).await;
    until("there is room again", || kept.lock().expect("it is whole").len() == 1).await;
}

#[tokio::test]
async fn only_a_short_part_of_the_text_of_a_reset_is_kept() {
    let (keeper, mut kept) = unbounded_channel();
    let handlers = Handlers::new().on_stream(move |_first, stream| drop(keeper.send(stream)));
    let server = frisbee::Server::builder().bind("127.0.0.1:0", handlers).await.expect("loopback has free ports");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    let reset = [&[7][..], &vec![b'x'; MIB]].concat();
    peer.write(&[packet(0, 3, &hello()), packet(1, 2, b"open"), packet(1, 7, &reset)].concat()).await;
    let mut stream = kept.recv().await.expect("it is opened");
    assert_eq!(stream.recv().await, None);
    match stream.how_ended() {
        frisbee::StreamEnd::Reset { code, message } => assert_eq!((code, message.len()), (7, 4096)),
        other => panic!("{other:?}"),
    }
}

/// As [`expect_sum`], behind what is left of streams.
async fn expect_sum_among_streams(peer: &mut Raw) {
    peer.write(&packet(1, ADD, &encoded(&AddRequest { a: 20, b: 22 }))).await;
    loop {
        let reply = peer.next().await.expect("the connection lives");
        if reply.operation.number() == ADD {
            return assert_eq!(error_text(&reply.body), None);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn producers_resume_as_soon_as_waiting_packets_are_written() {
    // It takes in one write all that waits.
    let (here, mut there) = tokio::io::duplex(16 * MIB);
    let connection = frisbee::Client::builder().connect_io(here, Handlers::new()).await.expect("it is given");
    // A peer that takes everything and says nothing, so that nothing else wakes the connection.
    let reader = tokio::spawn(async move {
        let mut read = vec![0; 64 * 1024];
        while tokio::io::AsyncReadExt::read(&mut there, &mut read).await.is_ok_and(|count| count > 0) {}
    });
    let operation = Operation::user(10).expect("users have 10");
    let packet = Packet::new(PacketId(1), operation, vec![0; 2 * MIB]);
    let begun = tokio::time::Instant::now();
    for _ in 0..5 {
        connection.send(&packet).await.expect("the connection lives");
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "they waited {:?} for a timer", begun.elapsed());
    reader.abort();
}

#[tokio::test]
async fn messages_nobody_reads_are_bounded_over_all_connections() {
    let (address, stats) = serve(|builder| builder.memory_max(2 * MIB)).await;
    let mut peers = Vec::new();
    for _ in 0..8 {
        let mut peer = Raw::connect(address).await;
        // Nothing reads the second message of a call that takes one.
        peer.write(&packet(1, 2, &[9, CHAT as u8])).await;
        let text = encoded(&frisbee_tests::interop::Text { value: "x".repeat(MIB / 2) });
        for _ in 0..4 {
            peer.write(&packet(1, 2, &text)).await;
        }
        peers.push(peer);
    }
    for peer in &mut peers {
        expect_sum_among_streams(peer).await;
        assert!(stats.memory_held() <= 2 * MIB);
    }
    drop(peers);
    until("nothing is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn the_limit_of_waiting_output_is_configurable() {
    for (backlog_max, fit) in [(1_000, 10), (10_000, 100), (0, 1)] {
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

/// Counts the turns of all connections, and says at which of them each packet of operation 10 came.
struct Turns(Arc<AtomicU64>, UnboundedSender<u64>);

impl Router for Turns {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, _session: &mut (), packet: Packet, _outbox: &mut Outbox) -> Routed {
        if packet.operation.number() == 10 {
            let _ = self.1.send(self.0.load(Ordering::Relaxed));
        }
        Routed::Continue
    }

    fn turn(&self, _session: &mut (), _turn: &mut Turn<'_>) -> Option<Instant> {
        self.0.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// They took 61 turns before the runtime looked what had come for others.
#[tokio::test]
async fn peers_that_send_without_end_hold_up_nobody_for_more_than_a_turn_each() {
    let turns = Arc::new(AtomicU64::new(0));
    let (came, mut coming) = unbounded_channel();
    let acceptor = frisbee::Server::builder().build(Turns(turns.clone(), came)).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let mut healthy = std::net::TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
    let (served, _) = listener.accept().expect("a client comes");
    served.set_nonblocking(true).expect("it is a socket");
    let served = tokio::net::TcpStream::from_std(served).expect("the runtime takes it");
    let mut serving = JoinSet::new();
    serving.spawn({
        let acceptor = acceptor.clone();
        async move { acceptor.serve_connection(served).await }
    });
    // A packet for each read, much in each, and what the protocol itself deals with.
    for (bytes, at_once) in
        [(packet(1, 11, b"x"), 11), (packet(1, 11, b"x"), usize::MAX), (packet(0, 1, b""), usize::MAX)]
    {
        let acceptor = acceptor.clone();
        serving.spawn(async move { acceptor.serve_connection(Endless::new(&bytes, at_once)).await });
    }
    for id in 0..100 {
        tokio::task::yield_now().await;
        let before = turns.load(Ordering::Relaxed);
        // The system has it in the server's socket before this returns, and the runtime has not looked.
        std::io::Write::write_all(&mut healthy, &packet(id, 10, b"")).expect("the server takes it");
        let at = coming.recv().await.expect("the router lives");
        // Four reads in a turn at most, of three.
        assert!(at - before <= 24, "{} turns went before", at - before);
    }
}

/// Such a peer held its thread in a loop, behind a handshake as behind a connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_goes_on_sending_after_it_was_closed_is_left_in_time() {
    let authority = Authority::default();
    let request = packet(1, 10, b"");
    let closing = frisbee::Server::builder()
        .memory_max(0)
        .build(Handlers::new().on(Operation::FIRST_USER, |_connection, packet| async { Some(packet) }))
        .unwrap();
    let secured = frisbee::Server::builder().tls(authority.server()).build(Handlers::new()).unwrap();
    for (acceptor, kind) in [(closing, CloseKind::Router), (secured, CloseKind::Io)] {
        let serving = acceptor.serve_connection(Endless::new(&request, usize::MAX));
        let reason = tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it is left in time");
        assert_eq!(reason.kind(), kind);
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_close_is_counted() {
    let config = Config::default().idle_timeout(Duration::from_millis(300)).least_rate_window(Duration::from_secs(1));
    let builder = Server::builder().config(config).first_header_timeout(Duration::from_millis(100));
    let acceptor = builder.add_service(InteropServer::new(Service)).build().expect("there is one service");
    let stats = acceptor.stats();
    let add = packet(1, ADD, &encoded(&AddRequest { a: 1, b: 2 }));
    let pings = packet(0, 0, b"").repeat(100);
    let malformed = [packet(0, 3, &hello()), packet(1, 2, &[9, CHAT as u8]), packet(1, 5, &[0x80])].concat();
    let cases: [(CloseKind, &[u8]); 8] = [
        (CloseKind::BadMagic, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (CloseKind::TooLong, &header(1, ADD, u32::MAX)),
        (CloseKind::KeepaliveWithBody, &packet(0, 0, b"!")),
        (CloseKind::PingFlood, &pings),
        (CloseKind::NoFirstHeader, &[0, 0x0F]),
        (CloseKind::IdleTimeout, &add),
        (CloseKind::TooSlow, &[]),
        (CloseKind::Malformed, &malformed),
    ];
    for (kind, bytes) in cases {
        let (mut peer, there) = frisbee::memory();
        let acceptor = acceptor.clone();
        let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
        peer.write_all(bytes).await.expect("there is room");
        if kind == CloseKind::TooSlow {
            peer.write_all(&header(1, ADD, 1_000_000)).await.expect("there is room");
            while !serving.is_finished() && peer.write_all(&[0]).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        serving.await.expect("it does not panic");
        assert_eq!(stats.closed_by(kind), 1, "{}", kind.name());
    }
    assert_eq!(stats.closed().map(|(_, count)| count).sum::<u64>(), 8);
    assert_eq!((stats.opened(), stats.open()), (8, 0));
}

/// What one of ours begins with.
fn hello() -> Bytes {
    let now = Instant::now();
    let mut core = frisbee_core::Connection::client(&Default::default(), now);
    let begins = core.outbox().take_bytes();
    // Behind the header, and before a PING of ten bytes.
    begins.slice(10..begins.len() - 10)
}

#[tokio::test]
async fn short_bodies_of_handlers_that_wait_keep_no_read_buffers() {
    let (told, mut bodies) = unbounded_channel();
    let waits = move |_: Connection, packet: Packet| {
        let told = told.clone();
        async move {
            told.send(packet.body.is_unique()).expect("the test listens");
            std::future::pending().await
        }
    };
    let server = frisbee::Server::builder().bind("127.0.0.1:0", Handlers::new().on(Operation::FIRST_USER, waits)).await;
    let server = server.expect("loopback has free ports");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    peer.write(&[packet(1, 10, b"short"), packet(2, 10, b"short"), packet(3, 10, b"short")].concat()).await;
    let mut are_copies = Vec::new();
    for _ in 0..3 {
        are_copies.push(bodies.recv().await.expect("it is called"));
    }
    // That they wait is known behind the first one, which is charged all that it keeps.
    assert_eq!(are_copies[1..], [true, true]);
    until("they wait", || stats.memory_held() > 128 * 1024 + 2 * 700).await;
    assert!(stats.memory_held() < 128 * 1024 + 4 * 1024, "{}", stats.memory_held());
    drop(peer);
    until("nothing is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn messages_of_streams_count_for_the_buffer_that_they_keep() {
    let (opened, mut streams) = unbounded_channel();
    let keep = move |_: Bytes, stream: frisbee::Stream| drop(opened.send(stream));
    let server = frisbee::Server::builder().bind("127.0.0.1:0", Handlers::new().on_stream(keep)).await;
    let server = server.expect("loopback has free ports");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let mut peer = Raw::connect(address).await;
    peer.write(&[packet(1, 2, b"first"), packet(1, 2, &vec![1; 20_000])].concat()).await;
    let mut stream = streams.recv().await.expect("it is opened");
    until("the message waits, and is charged so", || stats.memory_held() > 128 * 1024).await;
    assert_eq!(stream.recv().await.expect("it is there").len(), 20_000);
    peer.write(&packet(1, 2, b"one more")).await;
    assert_eq!(stream.recv().await.expect("it is there"), "one more");
    until("what has been read is given back", || stats.memory_held() < 3 * 1024).await;
}

#[tokio::test]
async fn a_client_that_holds_as_much_as_it_may_begins_no_further_requests() {
    let (address, server) = Raw::listen().await;
    let begun = Arc::new(AtomicU64::new(0));
    let waits = {
        let begun = begun.clone();
        move |_: Connection, _: Packet| {
            begun.fetch_add(1, Ordering::SeqCst);
            std::future::pending()
        }
    };
    let handlers = Handlers::new()
        .on(Operation::FIRST_USER, waits)
        .on(Operation::user(11).expect("it is a user's"), |_, packet| async { Some(packet) });
    let client = frisbee::Client::builder().memory_max(100_000).connect(address, handlers);
    let (client, mut server) = tokio::join!(client, server);
    let _client = client.expect("it is accepted");
    server.write(&(0..1000).flat_map(|id| packet(id, 10, b"")).collect::<Vec<_>>()).await;
    // Handlers have no other way to say so.
    server.closed().await;
    assert!(begun.load(Ordering::SeqCst) < 200, "{begun:?}");
}

/// Says that each packet has taken long, or not.
struct Echoing {
    is_slow: bool,
    turns: Arc<AtomicU64>,
}

impl Router for Echoing {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("it is short enough");
        if self.is_slow { Routed::Slow } else { Routed::Continue }
    }

    fn turn(&self, (): &mut (), _turn: &mut Turn<'_>) -> Option<Instant> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        None
    }
}

#[tokio::test]
async fn a_turn_that_has_lasted_long_enough_ends_behind_a_packet_that_took_long() {
    for is_slow in [false, true] {
        let turns = Arc::new(AtomicU64::new(0));
        let config = Config::default().turn_max(Duration::ZERO);
        let router = Echoing { is_slow, turns: turns.clone() };
        let server = frisbee::Server::builder().config(config).bind("127.0.0.1:0", router).await;
        let server = server.expect("loopback has free ports");
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let mut peer = Raw::connect(address).await;
        peer.write(&(0..20).flat_map(|id| packet(id, 10, b"x")).collect::<Vec<_>>()).await;
        for _ in 0..20 {
            peer.next().await.expect("it is answered");
        }
        assert_eq!(turns.load(Ordering::SeqCst) >= 20, is_slow, "{turns:?}");
    }
}

/// A channel to a server with so much memory, by which the connection is asked for, and what the server tells.
async fn asking(memory_max: usize) -> (InteropClient, Stats) {
    let (address, stats) =
        serve(|builder| builder.memory_max(memory_max).method_hand_off("interop.Interop/EchoPayload")).await;
    let channel = Channel::connect(address.to_string()).await.expect("the server listens");
    (InteropClient::new(channel.handing_off().0), stats)
}

#[tokio::test]
async fn a_call_that_asks_for_the_connection_is_refused_by_a_server_that_holds_too_much() {
    let (client, stats) = asking(0).await;
    let refused = client.echo_payload(Payload::default()).await.expect_err("nothing is begun");
    assert_eq!((refused.code(), refused.may_have_run()), (Code::ResourceExhausted, false), "{refused}");
    assert_eq!(stats.shed(), 1);
}

/// It waited until the connection was closed for its silence.
#[tokio::test]
async fn a_call_that_asks_for_the_connection_with_a_body_for_which_there_is_no_memory_ends_it() {
    let (client, stats) = asking(MIB).await;
    let lost = client.echo_payload(Payload { seq: 1, data: vec![1; 4 * MIB] }).await.expect_err("there is no memory");
    assert_eq!(lost.code(), Code::Unavailable, "{lost}");
    assert_eq!((stats.shed(), stats.closed_by(CloseKind::Router)), (1, 1));
    client.echo_payload(Payload::default()).await.expect("the next connection is served");
}
