//! Tests of how broken and hostile clients affect a server and a healthy client.

use bytes::Bytes;
use frisbee::Config;
use frisbee_tests::attacks::{ADD, CHAT, breaches};
use frisbee_tests::healthy::Healthy;
use frisbee_tests::interop::{
    AddRequest, Inner, InteropServer, Lists, Maps, Middle, Mixed, Nested, Payload, Scalars, SleepRequest, Text,
};
use frisbee_tests::raw::{Raw, encoded, error_text, header, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{serve_interop, serve_patient};
use frpc::Server;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

const DO_NOTHING: u16 = 15;
const COUNT_UP: u16 = 21;

/// Returns the call Add(20, 22). Its reply shows that a connection is open.
fn add(id: u16) -> Vec<u8> {
    packet(id, ADD, &encoded(&AddRequest { a: 20, b: 22 }))
}

async fn expect_sum(peer: &mut Raw, id: u16) {
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!((reply.id.0, reply.operation.number()), (id, ADD));
    assert_eq!(reply.body, [8, 0, 0x0d, 84, 0x0d, 4][..]);
}

/// Returns complete valid bodies for every unary method.
fn valid_bodies() -> Vec<(u16, Vec<u8>)> {
    let inner = Inner { id: -70_000, name: "inner".into() };
    let middle = Middle { inner: Some(inner.clone()), weight: u64::MAX };
    let scalars =
        Scalars { i32: i32::MIN, i64: i64::MIN, text: "näme".into(), raw: vec![1; 300], ..Scalars::default() };
    let nested = Nested { first: Some(inner.clone()), label: "x".into(), middle: Some(middle), absent: None };
    let lists = Lists {
        flags: vec![true; 20],
        i64s: vec![i64::MIN; 20],
        texts: vec!["text".into(); 20],
        inners: vec![inner.clone(); 20],
        ..Lists::default()
    };
    let maps = Maps {
        words: HashMap::from([("key".into(), "value".into())]),
        inners: (0..20).map(|n| (n.to_string(), inner.clone())).collect(),
        ..Maps::default()
    };
    let mixed = Mixed { message_first: Some(inner), list_second: vec!["a".into()], ..Mixed::default() };
    vec![
        (10, encoded(&scalars)),
        (11, encoded(&nested)),
        (12, encoded(&lists)),
        (13, encoded(&maps)),
        (14, encoded(&mixed)),
        (16, encoded(&Text { value: "text".into() })),
        (17, encoded(&Payload { seq: 1, data: vec![0; 1000] })),
        (18, encoded(&AddRequest { a: i64::MAX, b: i64::MIN })),
        (19, encoded(&SleepRequest { millis: 1, tag: u32::MAX })),
        (20, encoded(&scalars)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn truncated_body_error_keeps_connection() {
    let address = serve_interop().await;
    let healthy = Healthy::connect(address).await;
    let mut peer = Raw::connect(address).await;
    let bodies = valid_bodies();
    let mut truncations = 0_u32;
    while truncations < 10_000 {
        for (operation, body) in &bodies {
            let requests: Vec<_> = (0..body.len()).map(|cut| packet(cut as u16, *operation, &body[..cut])).collect();
            peer.write(&requests.concat()).await;
            for cut in 0..body.len() {
                let reply = peer.next().await.expect("connection should stay open");
                assert_eq!((reply.id.0, reply.operation.number()), (cut as u16, *operation));
                let text = error_text(&reply.body).unwrap_or_else(|| panic!("{operation} cut at {cut} was accepted"));
                assert!(text.contains("interop."), "{text:?} does not have the expected text");
            }
            truncations += body.len() as u32;
        }
    }
    peer.write(&add(7)).await;
    expect_sum(&mut peer, 7).await;
    healthy.was_well().await;
}

#[tokio::test]
async fn connections_of_other_protocols_are_closed() {
    let address = serve_patient().await;
    for breach in breaches() {
        let mut peer = Raw::connect(address).await;
        peer.write(&breach).await;
        peer.closed().await;
    }
    let mut peer = Raw::connect(address).await;
    peer.write(&add(1)).await;
    expect_sum(&mut peer, 1).await;
}

#[tokio::test]
async fn unknown_operations_fail_and_reserved_are_ignored() {
    let mut peer = Raw::connect(serve_interop().await).await;
    for operation in [24, 1000, u16::MAX] {
        peer.write(&packet(5, operation, b"whatever")).await;
        let reply = peer.next().await.expect("connection should stay open");
        assert_eq!((reply.id.0, reply.operation.number()), (5, operation));
        assert!(error_text(&reply.body).is_some_and(|text| text.contains(&operation.to_string())));
    }
    for operation in 3..=9 {
        peer.write(&packet(5, operation, b"whatever")).await;
    }
    peer.write(&add(6)).await;
    expect_sum(&mut peer, 6).await;
}

#[tokio::test]
async fn error_body_request_gets_error_reply() {
    let mut peer = Raw::connect(serve_interop().await).await;
    peer.write(&packet(1, ADD, &[6, 5, 0x0a, 2, b'n', b'o'])).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert!(error_text(&reply.body).is_some_and(|text| text.contains("no")));
}

#[tokio::test]
async fn nil_request_decodes_to_default_message() {
    let mut peer = Raw::connect(serve_interop().await).await;
    peer.write(&packet(1, ADD, &[0])).await;
    assert_eq!(peer.next().await.expect("connection should stay open").body, [8, 0, 0x0d, 0, 0x0d, 4][..]);
}

#[tokio::test]
async fn requests_with_same_id_both_run() {
    let mut peer = Raw::connect(serve_interop().await).await;
    let sleep = packet(9, 19, &encoded(&SleepRequest { millis: 20, tag: 1 }));
    peer.write(&[sleep.clone(), sleep, add(9)].concat()).await;
    let mut operations = Vec::new();
    for _ in 0..3 {
        operations.push(peer.next().await.expect("connection should stay open").operation.number());
    }
    assert_eq!(operations, [ADD, 19, 19]);
}

#[tokio::test]
async fn streams_over_limit_are_closed_immediately() {
    let mut peer = Raw::connect(serve_interop().await).await;
    let opens: Vec<_> = (1..=300).map(|id| packet(id, 2, &[9, CHAT as u8])).collect();
    peer.write(&opens.concat()).await;
    for id in 257..=300 {
        let refused = peer.next().await.expect("connection should stay open");
        assert_eq!((refused.id.0, refused.operation.number(), refused.body.len()), (id, 2, 0));
    }
    peer.write(&packet(1, 2, &encoded(&Text { value: "a".into() }))).await;
    let answer = peer.next().await.expect("stream within the limit should be served");
    assert_eq!(answer.body, encoded(&Text { value: "re:a".into() }));
}

#[tokio::test]
async fn finished_stream_frees_its_slot_at_once() {
    let mut peer = Raw::connect(serve_interop().await).await;
    let range = [8, 0, 0x0d, 0, 0x0d, 2]; // One number from 0.
    for id in 1..=600 {
        // Like Go, the client does not close its streams.
        peer.write(&[packet(id, 2, &[9, COUNT_UP as u8]), packet(id, 2, &range)].concat()).await;
        let mut bodies = Vec::new();
        while bodies.last().is_none_or(|body: &Bytes| !body.is_empty()) {
            bodies.push(peer.next().await.expect("connection should stay open").body);
        }
        assert_eq!(bodies.len(), 3, "stream {id} should receive a message, its end and its close");
    }
}

#[tokio::test]
async fn invalid_opens_fail_and_strays_are_ignored() {
    let mut peer = Raw::connect(serve_interop().await).await;
    for first in [&[9, ADD as u8][..], &[9, 99]] {
        peer.write(&packet(3, 2, first)).await;
        let failure = peer.next().await.expect("connection should stay open").body;
        assert!(error_text(&failure).is_some_and(|text| text.contains("is not a streaming method")));
        assert_eq!(error_text(&peer.next().await.expect("stream should end").body).as_deref(), Some("EOF"));
        assert_eq!(peer.next().await.expect("stream should be closed").body, Bytes::new());
    }
    // Each of these belongs to no open stream: a message, a truncated varint, and a close.
    for stray in [&[6, 5, 0x0a, 3, b'E', b'O', b'F'][..], &[8, 0], &[9, 0x80], &[]] {
        peer.write(&packet(4, 2, stray)).await;
    }
    peer.write(&add(1)).await;
    expect_sum(&mut peer, 1).await;
}

#[tokio::test]
async fn stream_open_without_operation_is_rejected() {
    let mut peer = Raw::connect(serve_interop().await).await;
    peer.write(&packet(0, 3, b"fris\x01")).await;
    for (id, first) in [(1, &[8, 0][..]), (2, &[9, 0x80])] {
        peer.write(&packet(id, 2, first).repeat(3)).await;
        let failure = peer.next().await.expect("connection should stay open");
        // TRAILERS with the id of the stream.
        let is_of_stream = (failure.operation.number(), failure.id.0, u16::from(failure.body[0])) == (3, 6, id);
        assert!(is_of_stream && failure.body.ends_with(b"names no operation"), "{failure:?}");
        assert_eq!(peer.next().await.expect("stream should be reset").operation.number(), 7);
    }
    peer.write(&add(1)).await;
    expect_sum(&mut peer, 1).await;
}

#[tokio::test]
async fn reused_stream_id_resets_only_one_stream() {
    let mut peer = Raw::connect(serve_interop().await).await;
    let open = |id| packet(id, 2, &[9, CHAT as u8]);
    let text = encoded(&Text { value: "a".into() });
    peer.write(&[open(1), open(2), open(1)].concat()).await;
    assert!(error_text(&peer.next().await.expect("connection should stay open").body).is_some());
    peer.write(&packet(2, 2, &text)).await;
    loop {
        let packet = peer.next().await.expect("connection should stay open");
        if packet.id.0 == 2 {
            return assert_eq!(packet.body, encoded(&Text { value: "re:a".into() }));
        }
    }
}

#[tokio::test]
async fn half_closed_client_still_gets_replies() {
    let mut peer = Raw::connect(serve_interop().await).await;
    let range = [8, 0, 0x0d, 0, 0x0d, 6]; // Three numbers from 0.
    let sleep = packet(1, 19, &encoded(&SleepRequest { millis: 300, tag: 5 }));
    let stream = [packet(1, 2, &[9, COUNT_UP as u8]), packet(1, 2, &range)].concat();
    peer.write(&[sleep, add(2), stream].concat()).await;
    peer.socket.shutdown().await.expect("socket should shut down");
    let mut replies = Vec::new();
    while let Some(reply) = peer.next().await {
        replies.push((reply.operation.number(), reply.id.0));
    }
    replies.sort_unstable();
    // The stream consists of three messages, its end, and the close, which releases its id.
    assert_eq!(replies, [(2, 1), (2, 1), (2, 1), (2, 1), (2, 1), (ADD, 2), (19, 1)]);
}

#[tokio::test(start_paused = true)]
async fn silent_and_slow_clients_time_out() {
    const IDLE: Duration = Duration::from_millis(400);
    let config = Config::default().idle_timeout(IDLE).least_rate_window(Duration::from_secs(1));
    let builder = Server::builder().config(config).first_header_timeout(IDLE / 4);
    let acceptor = builder.add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let connect = || {
        let (here, there) = frisbee::memory();
        let acceptor = acceptor.clone();
        (Raw::over(here), tokio::spawn(async move { acceptor.serve_connection(there).await }), Instant::now())
    };

    for prefix in [&[][..], &[0, 0x0F, 0]] {
        let (mut silent, serving, started) = connect();
        silent.write(prefix).await;
        serving.await.expect("task should not panic");
        assert!(started.elapsed() < IDLE / 2, "closing took {:?} after {prefix:?}", started.elapsed());
    }

    let (mut no_more, serving, started) = connect();
    no_more.write(&add(1)).await;
    let reply = no_more.next().await.expect("connection should stay open");
    assert_eq!(reply.body, [8, 0, 0x0d, 84, 0x0d, 4][..]);
    serving.await.expect("task should not panic");
    assert!((IDLE..2 * IDLE).contains(&started.elapsed()), "{:?}", started.elapsed());

    let (mut trickle, serving, started) = connect();
    trickle.write(&header(1, ADD, 1_000_000)).await;
    while !serving.is_finished() && trickle.socket.write_all(&[0]).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "timeout of a packet that trickles took {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn ping_flood_closes_connection() {
    let address = serve_patient().await;
    let mut flood = Raw::connect(address).await;
    flood.write(&packet(0, 0, &[]).repeat(50)).await;
    flood.closed().await;

    let mut polite = Raw::connect(address).await;
    polite.write(&packet(0, 0, &[]).repeat(20)).await;
    polite.write(&add(1)).await;
    expect_sum(&mut polite, 1).await;
}

#[tokio::test]
async fn requests_split_anywhere_are_reassembled() {
    let mut peer = Raw::connect(serve_interop().await).await;
    let requests = [add(1), packet(2, DO_NOTHING, &[8, 0]), add(3)].concat();
    for cut in 1..requests.len() {
        peer.write(&requests[..cut]).await;
        tokio::task::yield_now().await;
        peer.write(&requests[cut..]).await;
        expect_sum(&mut peer, 1).await;
        assert_eq!(peer.next().await.expect("connection should stay open").body, [8, 0][..]);
        expect_sum(&mut peer, 3).await;
    }
}

/// Sends bytes at once. Returns the virtual time until they have been answered.
async fn time_to_answer(bytes: Vec<u8>) -> Duration {
    let server =
        Server::builder().add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let (here, there) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move { server.serve_connection(there).await });
    let (mut reading, mut writing) = tokio::io::split(here);
    let started = Instant::now();
    let last = tokio::spawn(async move {
        let (mut answers, answered) = (Vec::new(), packet(12_345, ADD, &[8, 0, 0x0d, 84, 0x0d, 4]));
        while !answers.ends_with(&answered) {
            let count = reading.read_buf(&mut answers).await.expect("connection should stay open");
            assert!(count > 0, "connection should stay open");
        }
        started.elapsed()
    });
    writing.write_all(&[bytes, add(12_345)].concat()).await.expect("write should succeed");
    let elapsed = last.await.expect("last call should be answered");
    serving.abort();
    elapsed
}

/// Repeats a packet. If it opens a stream, each copy has another id.
fn repeated(packet: &[u8], count: usize) -> Vec<u8> {
    let mut all = packet.repeat(count);
    if packet[4..6] == [0, 2] {
        for (at, packet) in all.chunks_mut(packet.len()).enumerate() {
            packet[2..4].copy_from_slice(&(1 + at as u16 % 0x7FFF).to_be_bytes());
        }
    }
    all
}

#[tokio::test(start_paused = true)]
async fn useless_packets_pause_peer_without_loss() {
    let hello = frisbee_core::Connection::client(&Default::default(), std::time::Instant::now()).outbox().take_bytes();
    let entry = [2, 2, 1, b'k'].repeat(300);
    let metadata = [&[0x10, 0xb0, 0x09][..], &entry, &[8, 0]].concat();
    let sleep = packet(7, 19, &encoded(&SleepRequest { millis: 3_600_000, tag: 1 }));
    let cancel = packet(7, 6, &[19]);
    // The useful bytes of the call are deducted from the cost of the cancellation.
    let cancelled = (cancel.len() + 64 - sleep.len(), [sleep, cancel].concat());
    let useless = [
        packet(0, 1, &[]),
        packet(0, 3, b"fris\x01"),
        packet(7, 999, b"nobody"),
        packet(7, ADD, &[8, 0, 7]),
        packet(7, ADD, &metadata),
        packet(7, 2, &[9, ADD as u8]),
        packet(7, 5, &[4]),
        packet(7, 6, &[ADD as u8]),
        packet(7, 7, &[]),
    ];
    let useless = useless.map(|waste| (waste.len() + 64, waste));
    for (cost, waste) in useless.into_iter().chain([cancelled]) {
        let allowed = Config::default().abuse_rate as usize;
        let less = [&hello[..], &repeated(&waste, allowed / 10 / cost)].concat();
        assert!(time_to_answer(less).await < Duration::from_millis(10), "{waste:x?} within its allowance");
        let more = [&hello[..], &repeated(&waste, 3 * allowed / cost)].concat();
        let elapsed = time_to_answer(more).await;
        assert!((2_800..3_000).contains(&elapsed.as_millis()), "{waste:x?} made the peer wait for {elapsed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn useful_packets_never_pause_peer() {
    let elapsed = time_to_answer(add(1).repeat(200_000)).await;
    assert!(elapsed < Duration::from_millis(10), "{elapsed:?}");
    // Every second packet is useless, and no longer than the useful one.
    let mixed = [packet(1, 999, b""), packet(1, 16, &encoded(&Text { value: "x".repeat(100) }))].concat();
    let elapsed = time_to_answer(mixed.repeat(50_000)).await;
    assert!(elapsed < Duration::from_millis(10), "{elapsed:?}");
}

/// The handle of a stream refuses it, and this wakes the connection's own task.
#[tokio::test]
async fn endless_stream_openings_do_not_starve_others() {
    const OPENS: usize = 20_000;
    // Each turn routes 1024 packets, and the server does not pause the peer.
    let config = Config::default().turn_max(Duration::MAX).abuse_rate(u32::MAX);
    let server = Server::builder().add_service(InteropServer::new(Service)).config(config);
    let acceptor = server.build().expect("settings should be valid");
    let (here, there) = tokio::io::duplex(4 << 20);
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let (mut reading, mut writing) = tokio::io::split(here);
    let opens: Vec<_> = (0..OPENS).flat_map(|id| packet(id as u16 % 60_000 + 1, 2, &[9, 10])).collect();
    writing.write_all(&opens).await.expect("write should succeed");
    let batches = Arc::new(AtomicUsize::new(0));
    let other = tokio::spawn({
        let batches = batches.clone();
        async move {
            loop {
                tokio::task::yield_now().await;
                batches.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mut answers = vec![0; OPENS * 50]; // Each rejection takes some more.

    let answered = tokio::time::timeout(Duration::from_secs(10), reading.read_exact(&mut answers)).await;
    answered.expect("all calls should be rejected in time").expect("connection should stay open");
    other.abort();
    assert!(
        batches.load(Ordering::Relaxed) >= 10,
        "only {batches:?} turns passed during twenty turns of the connection"
    );
}
