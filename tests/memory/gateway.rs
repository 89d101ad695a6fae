//! Tests of clients of gateway protocols that make a server hold as much memory as possible.

use super::attackers::{MIB, Witness};
use frisbee_tests::hoard::Hoard;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::raw::{HTTP2_PREFACE, http2_frame as frame};
use frisbee_tests::until;
use frpc::{Acceptor, Config, Server, Stats};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;

/// The memory limit of the server.
const MEMORY: usize = 16 * MIB;

/// Returns a server with all protocols. A peer that does not read keeps its connection.
fn server() -> (Acceptor, Stats, Hoard, watch::Sender<bool>) {
    const HOUR: Duration = Duration::from_secs(3600);
    let config = Config::default().idle_timeout(HOUR).write_timeout(HOUR).least_rate_window(HOUR);
    let (service, release) = Hoard::new(Duration::ZERO);
    let gateway = Gateway::new().json_rpc().web_socket().http(Http::new().connect().grpc());
    let builder = Server::builder().config(config).memory_max(MEMORY).gateway(gateway);
    let acceptor =
        builder.add_service(InteropServer::new(service.clone())).build().expect("services should not overlap");
    let stats = acceptor.stats();
    (acceptor, stats, service, release)
}

/// Returns a peer that reads only as much as the test reads.
fn peer(acceptor: &Acceptor) -> DuplexStream {
    let (here, there) = tokio::io::duplex(1024);
    let acceptor = acceptor.clone();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    here
}

/// Returns a JSON-RPC call as a line.
fn call(id: &str, method: &str, params: &str, metadata: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"interop.Interop/{method}\",\"params\":{params}{metadata}}}\n"
    )
}

fn post(path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Asserts that the server is within its memory limit and serves a healthy client.
async fn is_well(acceptor: &Acceptor, stats: &Stats) {
    let witness = Witness::of(acceptor).await;
    witness.is_served(50).await;
    assert!(stats.memory_held() <= MEMORY, "server holds {} bytes", stats.memory_held());
}

#[tokio::test]
async fn json_rpc_replies_beyond_memory_are_refused() {
    const CALLS: usize = 100;
    let (acceptor, stats, service, release) = server();
    let mut hog = peer(&acceptor);
    for id in 0..CALLS {
        hog.write_all(call(&id.to_string(), "EchoPayload", r#"{"seq":500000}"#, "").as_bytes())
            .await
            .expect("write should succeed");
    }
    until("all handlers have started", || service.started.load(Ordering::SeqCst) == CALLS).await;
    release.send(true).expect("receiver should be waiting");
    until("all handlers have ended", || service.ended.load(Ordering::SeqCst) == CALLS).await;
    is_well(&acceptor, &stats).await;
    let mut lines = BufReader::new(hog).lines();
    let mut refused = 0;
    for _ in 0..CALLS {
        let line = lines.next_line().await.expect("line should be readable").expect("every call should be answered");
        refused += usize::from(line.contains("RESOURCE_EXHAUSTED"));
    }
    assert!((1..CALLS).contains(&refused), "{refused}");
    drop(lines);
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn http_replies_beyond_memory_are_refused() {
    const CALLS: usize = 100;
    let (acceptor, stats, service, release) = server();
    let mut hogs = Vec::new();
    for _ in 0..CALLS {
        let mut hog = peer(&acceptor);
        let request = post("/interop.Interop/EchoPayload", r#"{"seq":500000}"#);
        hog.write_all(request.as_bytes()).await.expect("write should succeed");
        hogs.push(hog);
    }
    until("all handlers have started", || service.started.load(Ordering::SeqCst) == CALLS).await;
    release.send(true).expect("receiver should be waiting");
    until("all handlers have ended", || service.ended.load(Ordering::SeqCst) == CALLS).await;
    is_well(&acceptor, &stats).await;
    let mut refused = 0;
    for hog in &mut hogs {
        let mut status = [0; 12];
        hog.read_exact(&mut status).await.expect("peer should send the expected bytes");
        refused += usize::from(status.ends_with(b"429"));
    }
    assert!((1..CALLS).contains(&refused), "{refused}");
    drop(hogs);
    until("no memory is held", || stats.memory_held() == 0).await;
}

/// Writes calls until the server rejects one. Fails if more than `most` calls are pending.
async fn waits_for_less_than(most: usize, next: impl Fn(usize) -> String) {
    let (acceptor, stats, service, _release) = server();
    let (mut reader, mut writer) = tokio::io::split(peer(&acceptor));
    let refused = Arc::<AtomicUsize>::default();
    let reading = tokio::spawn({
        let refused = refused.clone();
        async move {
            let mut lines = BufReader::new(&mut reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                refused.fetch_add(usize::from(line.contains("RESOURCE_EXHAUSTED")), Ordering::SeqCst);
            }
        }
    });
    let is_refused = || stats.rejected() > 0 || refused.load(Ordering::SeqCst) > 0;
    let mut sent = 0;
    while !is_refused() {
        assert!(sent < most, "{} calls are pending", service.started.load(Ordering::SeqCst));
        let (next, rejected) = (next(sent), until("a call is rejected", is_refused));
        tokio::select! {
            written = writer.write_all(next.as_bytes()) => written.expect("server should read the requests"),
            // The server has stopped reading.
            () = rejected => {}
        }
        sent += 1;
    }
    is_well(&acceptor, &stats).await;
    reading.abort();
}

#[tokio::test]
async fn waiting_calls_are_charged_for_long_ids() {
    let id = "i".repeat(256 * 1024);
    waits_for_less_than(100, |number| call(&format!("{id}{number}"), "EchoPayload", "{}", "")).await;
}

#[tokio::test]
async fn waiting_calls_are_charged_for_metadata() {
    let metadata = format!(r#","metadata":{{"a":"{}"}}"#, "m".repeat(50 * 1024));
    waits_for_less_than(600, |number| call(&number.to_string(), "EchoPayload", "{}", &metadata)).await;
}

#[tokio::test]
async fn waiting_calls_are_charged_for_decoded_lists() {
    let params = format!(r#"{{"inners":[{}{{}}]}}"#, "{},".repeat(40_000));
    waits_for_less_than(40, |number| call(&number.to_string(), "EchoLists", &params, "")).await;
}

#[tokio::test]
async fn unread_streams_wait_for_memory() {
    const STREAMS: usize = 100;
    let (acceptor, stats, service, _release) = server();
    let (reader, mut writer) = tokio::io::split(peer(&acceptor));
    let mut calls = String::new();
    for id in 0..STREAMS {
        let open = call(&id.to_string(), "Chat", "{}", "");
        let item =
            format!(r#"{{"jsonrpc":"2.0","method":"rpc.item","params":{{"id":"{id}","item":{{"value":"1000000"}}}}}}"#);
        calls += &(open + &item);
    }
    // The server stops reading from a client that does not read.
    let writing = tokio::spawn(async move { writer.write_all(calls.as_bytes()).await });
    until("the first calls have started", || service.started.load(Ordering::SeqCst) > 2).await;
    until("unread items are held", || stats.memory_held() > MIB).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    is_well(&acceptor, &stats).await;
    writing.abort();
    drop((reader, writing.await));
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn unread_web_socket_stream_is_bounded() {
    let (acceptor, stats, service, _release) = server();
    let mut hog = peer(&acceptor);
    let upgrade = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                   sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   sec-websocket-protocol: jsonrpc\r\n\r\n";
    hog.write_all(upgrade.as_bytes()).await.expect("write should succeed");
    let item = r#"{"jsonrpc":"2.0","method":"rpc.item","params":{"id":"1","item":{"value":"16384"}}}"#;
    for text in [call("1", "Chat", "{}", "").trim_end(), item] {
        // The mask of the frame is zero.
        let head = [0x81, 0x80 | text.len() as u8, 0, 0, 0, 0];
        assert!(text.len() < 126);
        hog.write_all(&[&head, text.as_bytes()].concat()).await.expect("write should succeed");
    }
    until("the call has started", || service.started.load(Ordering::SeqCst) == 1).await;
    let mut read = vec![0; 1024];
    for _ in 0..2000 {
        // The client reads slowly. The server must not accumulate output for it.
        let _ = hog.read(&mut read).await.expect("read should succeed");
        tokio::task::yield_now().await;
    }
    let held = stats.memory_held();
    assert!((16_384..MEMORY / 2).contains(&held), "server holds {held} bytes");
    is_well(&acceptor, &stats).await;
    drop(hog);
    until("no memory is held", || stats.memory_held() == 0).await;
}

/// Number of requests that a greedy client starts but does not complete.
const BEGUN: usize = 100;

/// Returns HTTP/2 requests that announce a long body but contain only one byte of it.
fn half_bodies_of_http2(path: &str, content_type: &str) -> Vec<u8> {
    let field = |index: &[u8], value: &str| {
        let length = u8::try_from(value.len()).expect("value should be short");
        [index, &[length], value.as_bytes()].concat()
    };
    // Indices into HPACK's static table: POST, http, the path, the host, the content type and the length.
    let head = [
        vec![0x83, 0x86],
        field(&[0x04], path),
        field(&[0x01], "localhost"),
        field(&[0x0F, 0x10], content_type),
        field(&[0x0F, 0x0D], "100000"),
    ]
    .concat();
    let streams = (0..BEGUN).map(|stream| {
        let stream = u32::try_from(2 * stream + 1).expect("value should fit u32");
        [frame(1, 0x04, stream, &head), frame(0, 0, stream, b"{")].concat()
    });
    let begin = [HTTP2_PREFACE.to_vec(), frame(4, 0, 0, b"")];
    begin.into_iter().chain(streams).collect::<Vec<_>>().concat()
}

/// Connects from an address of the loopback network.
async fn connect_from(from: [u8; 4], server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("descriptor should be available");
    socket.bind((from, 0).into()).expect("server should bind to a free address");
    socket.connect(server).await.expect("server should accept the connection")
}

/// The server reserves memory only for bytes that it has received. The lengths that one client announces must not cause
/// rejections of another client's calls.
#[tokio::test]
async fn half_bodies_reject_no_other_address_calls() {
    const UPGRADE: &str = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                           sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let http = |kind: &str| {
        format!(
            "POST /interop.Interop/EchoPayload HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n\
             content-length: 100000\r\n\r\n"
        )
    };
    let accept = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let path = "/interop.Interop/EchoPayload";
    let mcp = http("application/json").replace(path, "/mcp").replace("content-type: application/json\r\n", accept);
    // A masked text frame that announces 100 000 bytes.
    let frame = [0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0x86, 0xA0, 0, 0, 0, 0];
    // Each attack has a number of connections, and the parts that each connection sends. All connections send a part
    // before the next part is sent.
    let attacks: [(&str, usize, Vec<Vec<u8>>); 6] = [
        ("HTTP/1.1", BEGUN, vec![http("application/json").into(), b"{".to_vec(), b" ".to_vec()]),
        ("MCP", BEGUN, vec![mcp.into(), b"{".to_vec(), b" ".to_vec()]),
        ("HTTP/2", 1, vec![half_bodies_of_http2(path, "application/json")]),
        ("gRPC", 1, vec![half_bodies_of_http2(path, "application/grpc")]),
        ("WebSocket", BEGUN, vec![UPGRADE.into(), [&frame[..], b"{"].concat(), b" ".to_vec(), b" ".to_vec()]),
        ("JSON-RPC", BEGUN, vec![b"{".to_vec(), b" ".to_vec(), b" ".to_vec()]),
    ];
    for (protocol, connections, parts) in attacks {
        let (service, _release) = Hoard::new(Duration::ZERO);
        let http = Http::new().connect().grpc();
        let gateway = Gateway::new().json_rpc().web_socket().mcp(frpc_gateway::Mcp::new()).http(http);
        let builder = Server::builder().memory_max(4 * MIB).gateway(gateway);
        let server = builder.add_service(InteropServer::new(service)).bind("127.0.0.1:0").await;
        let server = server.expect("loopback port should be free");
        let (address, stats) = (server.local_addr(), server.stats());
        tokio::spawn(server.serve());
        let mut greedy = Vec::new();
        for _ in 0..connections {
            greedy.push(connect_from([127, 0, 0, 1], address).await);
        }
        for part in &parts {
            for peer in &mut greedy {
                // The write may fail, because the server may have rejected the request.
                let _ = peer.write_all(part).await;
            }
            for number in 0..20 {
                let mut witness = connect_from([127, 0, 0, 2], address).await;
                let call = post("/interop.Interop/Add", r#"{"a":1,"b":2}"#);
                witness.write_all(call.as_bytes()).await.expect("write should succeed");
                let mut status = [0; 12];
                witness.read_exact(&mut status).await.expect("peer should send the expected bytes");
                let held = stats.memory_held();
                assert_eq!(&status, b"HTTP/1.1 200", "{protocol}: call {number} of the other, {held} bytes held");
            }
        }
        if matches!(protocol, "HTTP/1.1" | "MCP" | "JSON-RPC") {
            let is_waiting = |peer: &TcpStream| peer.try_read(&mut [0]).is_err();
            assert!(greedy.iter().all(is_waiting), "{protocol}: server should wait for the rest of the requests");
        }
    }
}
