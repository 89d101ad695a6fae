//! Tests of compressed messages: which peers compress which messages, and the resulting bytes.

use frisbee::rpc::ConnectionExt;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload, Range, Text};
use frisbee_tests::packed::{EXAMPLE, hello, parts};
use frisbee_tests::raw::{Raw, encoded, error_text, packet};
use frisbee_tests::serve;
use frisbee_tests::service::Service;
use frpc::{Channel, Connection, Error, Request, Response, ResponseStream, Server, ServerBuilder, Status};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::time::Duration;
use tokio::net::TcpListener;

const ECHO: u16 = 17;
const FAIL: u16 = 16;
const CHAT: u16 = 23;
const METHODS: [&str; 2] = ["interop.Interop/EchoPayload", "interop.Interop/Chat"];

fn server() -> ServerBuilder {
    Server::builder().add_service(InteropServer::new(Service))
}

/// Returns a compressible text of the given length.
fn text(length: usize) -> String {
    let mut random = fastrand::Rng::with_seed(7);
    let words = ["the ", "library ", "lends ", "books ", "to ", "readers "];
    let mut text = String::new();
    while text.len() < length {
        text.push_str(words[random.usize(..words.len())]);
    }
    text.truncate(length);
    text
}

fn payload(length: usize) -> Payload {
    Payload { seq: 7, data: text(length).into_bytes() }
}

/// Returns whether the message in a body is compressed, and the decompressed message.
fn unpacked(body: &[u8]) -> (bool, Vec<u8>) {
    match parts(body) {
        None => (false, body.to_vec()),
        Some((length, frame)) => (true, zstd::bulk::decompress(frame, length).expect("body should contain a frame")),
    }
}

#[tokio::test]
async fn server_packs_named_long_replies_if_supported() {
    let cases = [
        (server().compress(METHODS), hello(true), 2000, true),
        (server().compress(METHODS), hello(true), 1000, false),
        (server().compress(METHODS), hello(false), 2000, false),
        (server().compress(METHODS), Vec::new(), 2000, false),
        (server().compress(["interop.Interop/Chat"]), hello(true), 2000, false),
        (server().accept_compressed(), hello(true), 2000, false),
        (server(), hello(true), 2000, false),
    ];
    for (case, (server, greeting, length, is_packed)) in cases.into_iter().enumerate() {
        let mut peer = Raw::connect(serve(server).await).await;
        let message = encoded(&payload(length));
        peer.write(&[greeting, packet(5, ECHO, &message)].concat()).await;
        let reply = peer.next().await.expect("connection should stay open");
        assert_eq!(unpacked(&reply.body), (is_packed, message), "case {case}");
        assert!(!is_packed || reply.body.len() < length / 3, "{} bytes", reply.body.len());
    }
}

#[tokio::test]
async fn client_packs_named_long_requests_if_supported() {
    let builder = || Channel::builder().calls::<InteropClient>();
    let cases = [
        (builder().compress(METHODS), hello(true), 2000, true),
        (builder().compress(METHODS), hello(true), 1000, false),
        (builder().compress(METHODS), hello(false), 2000, false),
        (builder().compress(METHODS), packet(0, 1, &[]), 2000, false), // A PONG, as sent by Go.
        (builder().compress(["interop.Interop/Chat"]), hello(true), 2000, false),
        (builder().accept_compressed(), hello(true), 2000, false),
    ];
    for (case, (builder, greeting, length, is_packed)) in cases.into_iter().enumerate() {
        let (address, accepted) = Raw::listen().await;
        let client = InteropClient::new(builder.connect(address).await.expect("server should accept the connection"));
        let mut liar = accepted.await;
        liar.write(&greeting).await;
        let call = tokio::spawn(async move { client.echo_payload(payload(length)).await });
        let request = liar.next().await.expect("client should send the request");
        assert_eq!(unpacked(&request.body), (is_packed, encoded(&payload(length))), "case {case}");
        liar.write(&packet(request.id.0, ECHO, &request.body)).await;
        let reply = call.await.expect("task should not panic").expect("call should succeed");
        assert_eq!(reply.into_inner(), payload(length), "case {case}");
    }
}

#[tokio::test]
async fn stream_items_pack_singly_unless_short() {
    let mut peer = Raw::connect(serve(server().compress(METHODS)).await).await;
    let texts = [text(2000), "short".to_owned(), text(3000)];
    let items = texts.iter().map(|value| packet(1, 2, &encoded(&Text { value: value.clone() })));
    let open = packet(1, 2, &[9, CHAT as u8]);
    peer.write(&[hello(true), open, items.collect::<Vec<_>>().concat(), packet(1, 7, &[])].concat()).await;
    // Without credit for an item, the replies wait for credit.
    peer.write(&packet(1, 5, &[0xFF, 0xFF, 0x3F])).await;
    for (text, is_packed) in texts.into_iter().zip([true, false, true]) {
        let mut answer = peer.next().await.expect("connection should stay open");
        while answer.operation.number() == 3 {
            answer = peer.next().await.expect("connection should stay open"); // HEADERS.
        }
        let expected = encoded(&Text { value: format!("re:{text}") });
        assert_eq!(unpacked(&answer.body), (is_packed, expected));
    }
}

#[tokio::test]
async fn every_call_kind_works_packed_or_unpacked() {
    let packing = || server().compress(METHODS);
    for (server, compress) in [(packing(), true), (packing(), false), (server(), true), (server(), false)] {
        let builder = if compress { Channel::builder().compress(METHODS) } else { Channel::builder() };
        let client = InteropClient::new(
            builder.connect(serve(server).await.to_string()).await.expect("server should accept the connection"),
        );
        let mut noise = vec![0; 5000];
        fastrand::Rng::with_seed(7).fill(&mut noise);
        for data in [Vec::new(), payload(1024).data, payload(5000).data, payload(1 << 20).data, noise] {
            let sent = Payload { seq: 3, data };
            assert_eq!(client.echo_payload(sent.clone()).await.expect("call should succeed").into_inner(), sent);
        }
        let sum = client.add(AddRequest { a: 1, b: 2 }).await.expect("call should succeed");
        assert_eq!(sum.into_inner().total, 3);
        let texts = [text(100), text(2000), text(200_000)].map(|value| Text { value });
        let mut answers = client.chat(frpc::iter(texts.clone())).await.expect("stream should open").into_inner();
        for sent in texts {
            let answer =
                answers.message().await.expect("stream should not fail").expect("stream should have further messages");
            assert!(answer.value == format!("re:{}", sent.value));
        }
        assert_eq!(answers.message().await.expect("stream should not fail"), None);
        let mut counts = client.count_up(Range { from: 0, count: 3 }).await.expect("stream should open").into_inner();
        assert!(counts.message().await.expect("stream should not fail").is_some());
    }
}

#[tokio::test]
async fn compressed_message_has_documented_bytes() {
    let mut peer = Raw::connect(serve(server().accept_compressed()).await).await;
    peer.write(&[hello(true), packet(7, FAIL, EXAMPLE)].concat()).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!(error_text(&reply.body).as_deref(), Some(&*"a".repeat(1200)));
}

/// A service that returns names, and the caller as metadata.
struct Host;

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let who = request.metadata().get("who").unwrap_or_default().to_owned();
        let mut reply = Response::new(Greeting { text: request.into_inner().name });
        reply.metadata_mut().insert("who", who).expect("metadata entry should be valid");
        Ok(reply)
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("verses are not used here"))
    }
}

#[tokio::test]
async fn packed_messages_carry_metadata_unchanged() {
    let method = ["greet.Greeter/Greet"];
    let server = Server::builder().add_service(GreeterServer::new(Host)).compress(method);
    let server = server.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr().to_string(), server.stats());
    tokio::spawn(server.serve());
    let channel =
        Channel::builder().compress(method).connect(address).await.expect("server should accept the connection");
    let client = GreeterClient::new(channel);
    let name = text(20_000);
    for who in ["me", "you"] {
        let mut request = Request::new(Name { name: name.clone() });
        request.metadata_mut().insert("who", who).expect("metadata entry should be valid");
        let reply = client.greet(request).await.expect("call should succeed");
        assert_eq!(reply.metadata().get("who"), Some(who));
        assert!(reply.into_inner().text == name);
    }
    let bytes = [stats.bytes_read(), stats.bytes_written()];
    assert!(bytes.iter().all(|bytes| *bytes < 20_000), "{bytes:?}");
}

#[tokio::test]
async fn retry_to_nonpacking_peer_is_unpacked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let builder = Channel::builder().calls::<GreeterClient>().compress(["greet.Greeter/Greet"]);
    let client = GreeterClient::new(builder.connect(address).await.expect("server should accept the connection"));
    let name = Name { name: text(2000) };
    let message = encoded(&name);
    let call = tokio::spawn(async move { client.greet(name).await });
    for decompresses in [true, false] {
        let (socket, _) = listener.accept().await.expect("client should connect");
        let mut liar = Raw::over(socket);
        liar.write(&hello(decompresses)).await;
        let request = liar.next().await.expect("client should send the request");
        assert_eq!(unpacked(&request.body), (decompresses, message.clone()));
        if !decompresses {
            let greeting = encoded(&Greeting { text: "well".to_owned() });
            liar.write(&packet(request.id.0, request.operation.number(), &greeting)).await;
            liar.next().await; // Until the channel closes the connection.
        }
    }
    let reply = call.await.expect("task should not panic").expect("call should succeed");
    assert_eq!(reply.into_inner().text, "well");
}

#[tokio::test]
async fn packing_unknown_method_is_rejected() {
    let error = server().compress(["interop.Interop/Echo"]).bind("127.0.0.1:0").await.expect_err("bind should fail");
    assert!(matches!(&error, Error::UnknownMethod(name) if name == "interop.Interop/Echo"), "{error}");
}

/// Sends compressed requests to a server that is short of memory, and returns how long the server paused reading. The
/// requests state that they have `length` bytes, or their true length if that is more. Each reply must contain
/// `refusal`.
async fn pause_after_packed_requests(length: u64, refusal: &str) -> Duration {
    const MIB: usize = 1 << 20;
    // A single caller may hold three quarters of the memory. Leave it half a MiB.
    let hold = |connection: &Connection| {
        connection.attachments().insert(connection.charge(12 * MIB - MIB / 2));
    };
    let acceptor = server().accept_compressed().memory_max(16 * MIB).on_connect(hold).build().unwrap();
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let mut peer = Raw::over(here);
    let message = encoded(&payload(MIB));
    let frame = zstd::bulk::compress(&message, 1).expect("message should be compressible");
    let request = packet(5, ECHO, &frisbee_tests::packed::body(length.max(message.len() as u64), &frame));
    assert!((MIB / 8..MIB / 2).contains(&request.len()), "{} bytes", request.len());
    peer.write(&hello(true)).await;
    let started = tokio::time::Instant::now();
    for _ in 0..3 {
        peer.write(&request).await;
        let mut reply = peer.next().await.expect("connection should stay open");
        while reply.operation.number() != ECHO {
            reply = peer.next().await.expect("connection should stay open");
        }
        let text = String::from_utf8_lossy(&reply.body);
        assert!(text.contains(refusal), "{text}");
    }
    started.elapsed()
}

/// Regression test: packed requests counted as useless packets if the server was short of memory. A client that sent
/// many of them was throttled for up to two seconds, and was finally disconnected.
#[tokio::test(start_paused = true)]
async fn packed_request_without_memory_is_not_abuse() {
    let pause = pause_after_packed_requests(0, "memory limit").await;
    assert_eq!(pause.as_millis(), 0, "server should not pause reading");
}

/// Regression test: while memory was short, requests that exceed a fixed limit did not count as useless packets.
#[tokio::test(start_paused = true)]
async fn oversized_packed_request_without_memory_is_abuse() {
    let pause = pause_after_packed_requests(6 << 20, "exceeds the limit").await;
    assert!(pause > Duration::ZERO, "server should pause reading");
}
