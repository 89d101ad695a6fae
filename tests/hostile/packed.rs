//! Tests of compressed messages that are invalid, state a wrong length, or arrive where none are permitted.

use frisbee::{BatchEnd, Connection, Outbox, Packet, Routed, Router};
use frisbee_tests::attacks::ADD;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload, Text};
use frisbee_tests::packed::{EXAMPLE, body, hello, parts};
use frisbee_tests::raw::{Raw, encoded, error_text, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{serve, until};
use frpc::{Channel, Code, Config, Server, ServerBuilder};
use frpc_access::{Access, Who};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ECHO: u16 = 17;
const CHAT: u16 = 23;

fn server() -> ServerBuilder {
    Server::builder().add_service(InteropServer::new(Service)).accept_compressed()
}

/// Returns a message that compression makes shorter, and its compressed frame.
fn message(length: usize) -> (Vec<u8>, Vec<u8>) {
    let text = "a library lends books to readers, ".repeat(length / 34 + 1);
    let message = encoded(&Payload { seq: 1, data: text.as_bytes()[..length].to_vec() });
    let frame = zstd::bulk::compress(&message, 1).expect("memory should be available");
    (message, frame)
}

/// Returns the text of the error that answers a body. The connection must stay open.
async fn refusal(peer: &mut Raw, body: &[u8]) -> String {
    peer.write(&packet(3, ECHO, body)).await;
    let reply = peer.next().await.expect("connection should stay open");
    // In a reply to a native peer, a short prefix with the status code comes first.
    let error = match reply.body[..] {
        [0x10, length, ref rest @ ..] => &rest[usize::from(length)..],
        ref error => error,
    };
    let text = error_text(error).unwrap_or_else(|| panic!("{error:?} should be an error"));
    peer.write(&packet(4, ADD, &encoded(&AddRequest { a: 20, b: 22 }))).await;
    let sum = peer.next().await.expect("connection should stay open");
    assert_eq!((sum.id.0, error_text(&sum.body)), (4, None), "{text}");
    text
}

#[tokio::test]
async fn unnegotiated_packed_request_is_refused() {
    let closed = Server::builder().add_service(InteropServer::new(Service));
    for (server, greeting) in [(closed, hello(true)), (server(), Vec::new())] {
        let mut peer = Raw::connect(serve(server).await).await;
        peer.write(&greeting).await;
        let text = refusal(&mut peer, EXAMPLE).await;
        assert!(text.contains("is not a valid"), "{text}");
    }
}

#[tokio::test]
async fn broken_packed_frame_error_keeps_connection() {
    let mut peer = Raw::connect(serve(server()).await).await;
    peer.write(&hello(false)).await;
    let (message, frame) = message(4000);
    let length = message.len() as u64;
    let skippable = b"\x50\x2a\x4d\x18\x01\x00\x00\x00\x07";
    let (magic, rest) = frame.split_at(4);
    let with_dictionary = [magic, &[rest[0] | 1, 7], &rest[1..]].concat();
    let no_frame = "is not a single zstd frame";
    for (body, expected) in [
        (vec![0x11], no_frame),
        (body(length, &[]), "more than 256 times"),
        (body(0, &frame), no_frame),
        (body(length - 1, &frame), no_frame),
        (body(length + 1, &frame), no_frame),
        (body(5_242_881, &frame), "exceeds the limit of 5242880"),
        (body(u64::MAX, &frame), "exceeds the limit of 5242880"),
        (body(length, &frame[..frame.len() - 1]), no_frame),
        (body(length, &[&frame[..], &[0]].concat()), no_frame),
        (body(length, &[&frame[..], &frame].concat()), no_frame),
        (body(length, &[&skippable[..], &frame].concat()), no_frame),
        (body(length, &[&frame[..], skippable].concat()), no_frame),
        (body(length, &with_dictionary), no_frame),
        (body(1024, &[7; 100]), no_frame),
    ] {
        let text = refusal(&mut peer, &body).await;
        assert!(text.contains(expected), "{text}, not {expected}");
    }
}

#[tokio::test]
async fn frame_without_message_is_rejected() {
    let mut peer = Raw::connect(serve(server()).await).await;
    peer.write(&hello(false)).await;
    let error = [b"\x06\x05\x0a\xd0\x0f".to_vec(), vec![b'x'; 2000]].concat();
    let prefixed = [b"\x10\x02\x05\x00".to_vec(), message(2000).0].concat();
    let no_message = "does not contain a message";
    for (inner, expected) in [
        (error, no_message),
        (EXAMPLE.repeat(50), no_message),
        (prefixed, no_message),
        (Vec::new(), no_message),
        (vec![0x08; 2000], "is not a valid"),
    ] {
        let frame = zstd::bulk::compress(&inner, 1).expect("memory should be available");
        let text = refusal(&mut peer, &body(inner.len() as u64, &frame)).await;
        assert!(text.contains(expected), "{text}, not {expected}");
    }
}

#[tokio::test]
async fn decompression_bomb_is_rejected_before_allocation() {
    let small = server().memory_max(1 << 20).bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (small.local_addr(), small.stats());
    tokio::spawn(small.serve());
    let mut peer = Raw::connect(address).await;
    peer.write(&hello(false)).await;
    let zeros = vec![0; 4 << 20];
    let frame = zstd::bulk::compress(&zeros, 1).expect("memory should be available");
    let text = refusal(&mut peer, &body(zeros.len() as u64, &frame)).await;
    assert!(text.contains("more than 256 times"), "{text}");
    // This message is compressed as much as permitted, and larger than the server's memory.
    let (message, frame) = message(4 << 20);
    let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(message.len() / 250).collect();
    let mixed = [message, noise].concat();
    let denser = zstd::bulk::compress(&mixed, 1).expect("memory should be available");
    assert!(denser.len() > frame.len() && denser.len() * 256 > mixed.len() && denser.len() < 100_000);
    let text = refusal(&mut peer, &body(mixed.len() as u64, &denser)).await;
    assert!(text.contains("the memory limit for its sender is reached"), "{text}");
    assert!(stats.rejected() > 0);
    drop(peer);
    until("the memory is released", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn unauthorized_caller_is_refused_before_unpacking() {
    let access = Access::new()
        .allow(["interop.Interop/Add"], Who::anybody())
        .allow(["interop.Interop/EchoPayload"], Who::known());
    let mut peer = Raw::connect(serve(server().access(access)).await).await;
    peer.write(&hello(false)).await;
    let (message, frame) = message(4000);
    let metadata = b"\x10\x05\x02\x03\x01ab";
    for front in [&[][..], metadata] {
        let expected = refusal(&mut peer, &[front, &message].concat()).await;
        assert!(!expected.contains("packed"), "{expected}");
        for broken in [&frame[..frame.len() - 1], &[7; 50]] {
            let text = refusal(&mut peer, &[front, &body(message.len() as u64, broken)].concat()).await;
            assert_eq!(text, expected);
        }
    }
}

/// A router that counts the turns of a connection.
struct BatchCounter(Arc<AtomicU64>);

impl Router for BatchCounter {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn batch_ended(&self, (): &mut (), _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        self.0.fetch_add(1, Ordering::SeqCst);
        None
    }
}

#[tokio::test]
async fn long_batch_ends_after_packed_message() {
    let (message, frame) = message(1200);
    let packed = body(message.len() as u64, &frame);
    let packing = server().compress(["interop.Interop/EchoPayload"]);
    for (server, body, ends) in [(server(), message.clone(), false), (server(), packed, true), (packing, message, true)]
    {
        let batches = Arc::new(AtomicU64::new(0));
        let config = Config::default().turn_max(Duration::ZERO);
        let server = server.config(config).mount(2000..=2000, BatchCounter(batches.clone()));
        let mut peer = Raw::connect(serve(server).await).await;
        let requests = (0..20).flat_map(|id| packet(id, ECHO, &body));
        peer.write(&[hello(true), requests.collect()].concat()).await;
        for _ in 0..20 {
            peer.next().await.expect("connection should stay open");
        }
        assert_eq!(batches.load(Ordering::SeqCst) >= 20, ends, "{batches:?}");
    }
}

#[tokio::test]
async fn body_limit_applies_to_unpacked_messages() {
    let config = Config::default().body_max(10_000);
    let mut peer = Raw::connect(serve(server().config(config)).await).await;
    peer.write(&hello(false)).await;
    let (message, frame) = message(20_000);
    let text = refusal(&mut peer, &body(message.len() as u64, &frame)).await;
    assert!(text.contains("exceeds the limit of 10000"), "{text}");
}

#[tokio::test]
async fn malformed_item_ends_only_its_stream() {
    let mut peer = Raw::connect(serve(server()).await).await;
    peer.write(&[hello(false), packet(1, 2, &[9, CHAT as u8]), packet(1, 5, &[0xFF, 0x7F])].concat()).await;
    let (_, frame) = parts(EXAMPLE).expect("body should be compressed");
    peer.write(&packet(1, 2, EXAMPLE)).await;
    peer.write(&packet(1, 2, &body(1205, frame))).await;
    let mut next = async |is_it: fn(&Packet) -> bool| loop {
        let packet = peer.next().await.expect("connection should stay open");
        if is_it(&packet) {
            return packet;
        }
    };
    let answer = next(|packet| packet.operation.number() == 2).await;
    assert_eq!(answer.body, encoded(&Text { value: format!("re:{}", "a".repeat(1200)) }));
    let failure = next(|packet| (packet.operation.number(), packet.id.0) == (3, 6)).await;
    let end = failure.body.windows(5).any(|text| text == b"frame");
    assert!(end, "{:?}", failure.body);
    peer.write(&packet(4, ADD, &encoded(&AddRequest { a: 20, b: 22 }))).await;
    loop {
        let packet = peer.next().await.expect("connection should stay open");
        if packet.operation.number() == ADD {
            break;
        }
    }
}

#[tokio::test]
async fn unrequested_or_malformed_packed_reply_fails() {
    for (accepts, reply, code) in [
        (false, EXAMPLE.to_vec(), Code::Internal),
        (true, body(1205, parts(EXAMPLE).expect("body should be compressed").1), Code::Internal),
        (true, body(6_000_000, &[0; 100_000]), Code::ResourceExhausted),
    ] {
        let (address, accepted) = Raw::listen().await;
        let builder = Channel::builder().calls::<InteropClient>();
        let builder = if accepts { builder.accept_compressed() } else { builder };
        let client = InteropClient::new(builder.connect(address).await.expect("server should accept the connection"));
        let mut liar = accepted.await;
        liar.write(&hello(true)).await;
        let call = tokio::spawn(async move { client.echo_payload(Payload::default()).await });
        let request = liar.next().await.expect("client should send the request");
        liar.write(&packet(request.id.0, ECHO, &reply)).await;
        let status = call.await.expect("task should not panic").expect_err("reply should be unreadable");
        assert_eq!(status.code(), code, "{status}");
    }
}
