//! Tests of allocations per call, at the server and at the client. The other end is a plain socket with buffers, which
//! allocates nothing.

use super::allocator::{allocated, allocations, live};
use frisbee_http2::hpack::Encoder;
use frisbee_tests::hoard::Hoard;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::parrot::{Echo, Listener, REQUEST};
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::{HTTP2_PREFACE, http2_frame, packet};
use frisbee_tests::versions::first::{Answer, Ask, Parrot, ParrotClient, ParrotServer};
use frisbee_tests::versions::viewed;
use frpc::{Config, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming, Workers};
use frpc_gateway::{Gateway, Http, Mcp, ServeGateway as _};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Number of measured calls. As many calls precede them, so that buffers and tables have reached their size.
const CALLS: u64 = 500;

/// The encoded `Answer { words: 32 bytes }`.
const REPLY: [u8; 37] = *b"\x08\x00\x05\x0a\x20abcdefghijklmnopqrstuvwxyz012345";

/// The encoded `Answer { words: nothing }`.
const SILENCE: [u8; 5] = *b"\x08\x00\x05\x0a\x00";

/// Like [`Echo`], but yields to all other tasks before it replies.
struct Waiter;

impl Parrot for Waiter {
    async fn say(&self, request: Request<Ask>) -> Result<Response<Answer>, Status> {
        tokio::task::yield_now().await;
        Echo.say(request).await
    }

    async fn chat(&self, request: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        Echo.chat(request).await
    }
}

#[test]
fn call_allocations_stay_within_bounds() {
    if ran_alone(|| ()) {
        return;
    }
    let server = at_the_server(Server::builder().add_service(ParrotServer::new(Echo)), REPLY);
    let waiting = at_the_server(Server::builder().add_service(ParrotServer::new(Waiter)), REPLY);
    let viewing = at_the_server(Server::builder().add_service(viewed::ParrotServer::new(Listener)), SILENCE);
    let client = at_the_client();
    // Some turns allocate, for example for a timer.
    let per_call = |blocks: u64| blocks as f64 / CALLS as f64;
    assert!(
        per_call(server) <= 1.05,
        "server allocates {} times per call, once for the request's string",
        per_call(server)
    );
    let what = "the request's string, and the handler's box that goes to a task";
    assert!(
        per_call(waiting) <= 2.05,
        "server with a handler that waits allocates {} times per call: {what}",
        per_call(waiting)
    );
    assert!(
        per_call(viewing) <= 0.05,
        "server with a handler that takes a view allocates {} times per call",
        per_call(viewing)
    );
    assert!(
        per_call(client) <= 2.05,
        "client allocates {} times per call, for the strings of request and reply",
        per_call(client)
    );
}

/// A service that never replies.
struct Silent(Arc<AtomicUsize>);

impl Parrot for Silent {
    async fn say(&self, _: Request<Ask>) -> Result<Response<Answer>, Status> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    async fn chat(&self, request: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        Echo.chat(request).await
    }
}

/// Regression test: each call was charged 768 bytes, whatever the size of its handler was.
#[test]
fn waiting_calls_are_charged_as_allocated() {
    if ran_alone(|| ()) {
        return;
    }
    let started = Arc::<AtomicUsize>::default();
    let service = ParrotServer::new(Silent(started.clone()));
    let _native =
        waits_as_charged(Server::builder().add_service(service), &started, (1000, 90), |id| packet(id, 10, &REQUEST));
    // The handler's future takes 1248 bytes, which the limits for waiting calls below include.
    let (service, _release) = Hoard::new(Duration::ZERO);
    let gateway = || {
        let gateway =
            Gateway::new().json_rpc().http(Http::new().grpc()).mcp(Mcp::new().method("interop.Interop/EchoLists"));
        service.started.store(0, Ordering::Relaxed);
        Server::builder().add_service(InteropServer::new(service.clone())).gateway(gateway)
    };
    let _json_rpc = waits_as_charged(gateway(), &service.started, (2600, 90), |id| {
        let method = "interop.Interop/EchoLists";
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{}}}}\n").into_bytes()
    });
    // The bodies take 15 KiB each.
    let space = " ".repeat(15 * 1024);
    let _posted = waits_as_charged(gateway(), &service.started, (11_000, 75), |id| {
        let method = "interop.Interop/EchoLists";
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",{space}\"params\":{{}}}}");
        post(id, "/", "application/json", call.as_bytes())
    });
    let _mcp_posted = waits_as_charged(gateway(), &service.started, (27_000, 90), |id| {
        let params = "{\"name\":\"interop_Interop_EchoLists\",\"arguments\":{}}";
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",{space}\"params\":{params}}}");
        post(id, "/mcp", "application/json", call.as_bytes())
    });
    let _grpc = waits_as_charged(gateway(), &service.started, (3200, 90), |id| {
        post(id, "/interop.Interop/EchoLists", "application/grpc+json", b"\0\0\0\0\x02{}")
    });
    let _mcp = waits_as_charged(gateway(), &service.started, (11_000, 90), |id| {
        let params = "{\"name\":\"interop_Interop_EchoLists\",\"arguments\":{}}";
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}");
        post(id, "/mcp", "application/json", call.as_bytes())
    });
}

/// Regression test: a batch was parsed before it was rejected, which took a hundred times its size.
#[test]
fn rejected_mcp_batch_allocates_little() {
    if ran_alone(|| ()) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let builder = Server::builder().workers(Workers::Caller).gateway(Gateway::new().mcp(Mcp::new()));
    let server = runtime.block_on(builder.bind("127.0.0.1:0")).expect("loopback port should be free");
    let address = server.local_addr();
    std::thread::spawn(move || runtime.block_on(server.serve()));
    let batch = format!("[{}0]", "0,".repeat(1 << 20));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
        batch.len()
    );
    let mut socket = TcpStream::connect(address).expect("server should accept the connection");
    let (before, mut response) = (allocated(), String::with_capacity(4096));
    socket.write_all(head.as_bytes()).expect("write should succeed");
    socket.write_all(batch.as_bytes()).expect("write should succeed");
    socket.read_to_string(&mut response).expect("server should close the connection");
    let bytes = (allocated() - before) as usize;
    assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("-32600"), "{response}");
    assert!(bytes <= 8 * batch.len(), "server allocates {bytes} bytes for a batch of {}", batch.len());
}

/// Returns the bytes of a POST over HTTP/2. They begin with the preface if the request is the first one.
pub(super) fn post(number: u16, path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", content_type),
        ("accept", "application/json, text/event-stream"),
        ("user-agent", "test/1.0"),
    ];
    let mut block = Vec::new();
    fields.iter().for_each(|(name, value)| Encoder::new().put(name.as_bytes(), value.as_bytes(), true, &mut block));
    let stream = 2 * u32::from(number) + 1;
    let request = [http2_frame(1, 4, stream, &block), http2_frame(0, 1, stream, body)].concat();
    match number {
        // Send the preface, the client's SETTINGS, and the acknowledgement of the server's SETTINGS.
        0 => [HTTP2_PREFACE, &http2_frame(4, 0, 0, b""), &http2_frame(4, 1, 0, b""), &request].concat(),
        _ => request,
    }
}

/// Checks that waiting calls allocate at most `most` bytes each, and that at least `percent` of them are charged.
/// `started` counts the calls that `request` starts. Returns the client's socket, because closing it would free memory
/// during later measurements.
fn waits_as_charged(
    builder: ServerBuilder,
    started: &AtomicUsize,
    (most, percent): (usize, usize),
    request: impl Fn(u16) -> Vec<u8>,
) -> TcpStream {
    const WARM: u16 = 200;
    const WAITING: u16 = 2200;
    let config = Config::default().streams_max(usize::from(WAITING));
    let builder = builder.workers(Workers::Caller).config(config);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let server = runtime.block_on(builder.bind("127.0.0.1:0")).expect("loopback port should be free");
    let (address, stats) = (server.local_addr(), server.stats());
    std::thread::spawn(move || runtime.block_on(server.serve()));
    let mut socket = TcpStream::connect(address).expect("server should accept the connection");
    let mut call_until = |count: u16| {
        for id in started.load(Ordering::Relaxed) as u16..count {
            socket.write_all(&request(id)).expect("write should succeed");
        }
        while started.load(Ordering::Relaxed) < usize::from(count) {
            std::thread::yield_now();
        }
        (live(), stats.memory_held())
    };
    let before = call_until(WARM);
    let after = call_until(WAITING);
    let calls = usize::from(WAITING - WARM);
    let (taken, charged) = ((after.0 - before.0) / calls, (after.1 - before.1) / calls);
    println!("{taken} bytes a call, {charged} charged");
    assert!(taken <= most, "a waiting call takes {taken} bytes, more than {most}");
    assert!(
        (taken * percent / 100..taken * 12 / 10).contains(&charged),
        "calls take {taken} bytes each, and {charged} are charged"
    );
    socket
}

/// Sends requests over a plain socket. Returns the number of allocations at the server.
fn at_the_server<const LENGTH: usize>(server: ServerBuilder, expected: [u8; LENGTH]) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let server =
        runtime.block_on(server.workers(Workers::Caller).bind("127.0.0.1:0")).expect("loopback port should be free");
    let address = server.local_addr();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let caller = std::thread::spawn(move || {
        let mut socket = TcpStream::connect(address).expect("server should accept the connection");
        let request = packet(1, 10, &REQUEST);
        let (mut head, mut reply) = ([0; 10], [0; LENGTH]);
        let mut calls = |count: u64| {
            let before = allocations();
            for _ in 0..count {
                socket.write_all(&request).expect("write should succeed");
                socket.read_exact(&mut head).expect("peer should send the expected bytes");
                socket.read_exact(&mut reply).expect("peer should send the expected bytes");
                assert_eq!(reply, expected);
            }
            allocations() - before
        };
        calls(CALLS);
        let counted = calls(CALLS);
        drop(stop);
        counted
    });
    let stopped = async {
        let _ = stopped.await;
    };
    runtime.block_on(server.serve_with_shutdown(stopped)).expect("server should start");
    caller.join().expect("thread should not panic")
}

/// Calls a peer that writes prepared replies to a plain socket, so that only the client allocates. Returns the number
/// of allocations.
fn at_the_client() -> u64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let peer = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("client should connect");
        let mut head = [0; 10];
        let mut body = [0; 4096];
        let mut reply = packet(0, 10, &REPLY);
        // Like a Go server, this one answers a PING with a PONG and ignores HELLO.
        while socket.read_exact(&mut head).is_ok() {
            let length = u32::from_be_bytes([head[6], head[7], head[8], head[9]]) as usize;
            socket.read_exact(&mut body[..length]).expect("peer should send the expected bytes");
            match head[5] {
                0 => socket.write_all(&[0, 0x0F, 0, 0, 0, 1, 0, 0, 0, 0]).expect("write should succeed"),
                10 => {
                    reply[2..4].copy_from_slice(&head[2..4]);
                    socket.write_all(&reply).expect("write should succeed");
                }
                _ => {}
            }
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let counted = runtime.block_on(async {
        let client = ParrotClient::connect(address).await.expect("server should accept the connection");
        let calls = async |count: u64| {
            let before = allocations();
            for _ in 0..count {
                let ask = Ask { word: "abcdefghijklmnopqrstuvwxyz012345".into(), times: 1 };
                let answer = client.say(ask).await.expect("peer should answer").into_inner();
                assert_eq!(answer.words.len(), 32);
            }
            allocations() - before
        };
        calls(CALLS).await;
        calls(CALLS).await
    });
    drop(runtime);
    peer.join().expect("thread should not panic");
    counted
}
