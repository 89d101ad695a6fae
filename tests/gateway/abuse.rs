//! Tests that each protocol of the gateway closes the connection of a client that keeps sending invalid requests.

use crate::gateway::support::server;
use crate::gateway::web_socket::{BINARY, FRAMES, JSON_RPC, TEXT, frame};
use frisbee::CloseKind;
use frisbee_tests::raw::packet;
use frpc::{Acceptor, Config};
use frpc_gateway::{Gateway, Http, Mcp};
use frpc_reflection::Health;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

/// Number of useless bytes per second that the servers accept.
const RATE: u32 = 10_000;

/// Maximum number of requests that a client sends, so that a test ends even if the server does not disconnect it.
const REQUESTS_MAX: u32 = 20_000;

fn open() -> Acceptor {
    let http = Http::new().connect().grpc();
    let gateway = Gateway::new().json_rpc().web_socket().http(http).mcp(Mcp::new().method("interop.Interop/Add"));
    server(gateway, |builder| builder.config(Config::default().abuse_rate(RATE)))
}

/// Sends `beginning` and then `input` for the numbers from 0, until the server closes the connection. Returns the kind
/// of the close, the time until then in seconds, and the output of the server.
async fn abuse(server: &Acceptor, beginning: &[u8], input: impl Fn(u32) -> Vec<u8>) -> (CloseKind, u64, Vec<u8>) {
    // Use a small pipe, so that the server reads few requests at once and does not reach its limit of concurrent calls.
    let (here, there) = tokio::io::duplex(1024);
    let (mut reader, mut writer) = tokio::io::split(here);
    let began = Instant::now();
    let sending = async {
        writer.write_all(beginning).await?;
        for number in 0..REQUESTS_MAX {
            writer.write_all(&input(number)).await?;
        }
        writer.shutdown().await
    };
    let mut output = Vec::new();
    let serving = async { (server.serve_connection(there).await, began.elapsed().as_secs()) };
    let ((reason, seconds), sent, read) = tokio::join!(serving, sending, reader.read_to_end(&mut output));
    // Ignore I/O errors, because the server closes the transport while the client is still sending.
    let _ = (sent, read);
    (reason.kind(), seconds, output)
}

/// Checks that a client which repeats `input` is disconnected for it, after a few seconds of pauses. Returns the output
/// of the server.
async fn expect_flood(beginning: &[u8], input: impl Fn(u32) -> Vec<u8>, subject: &str) -> Vec<u8> {
    let (kind, seconds, output) = abuse(&open(), beginning, input).await;
    let text = String::from_utf8_lossy(&output[output.len().saturating_sub(500)..]).into_owned();
    assert_eq!(kind, CloseKind::Flood, "{subject}: {text}");
    assert!((2..20).contains(&seconds), "{subject}: connection was closed after {seconds} s");
    output
}

/// Repeats `input` on one connection, and checks that the server neither pauses nor closes it. Returns the server's
/// output.
async fn expect_tolerance(server: &Acceptor, beginning: &[u8], input: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let (kind, seconds, output) = abuse(server, beginning, input).await;
    let text = String::from_utf8_lossy(&output[output.len().saturating_sub(500)..]).into_owned();
    assert!(kind != CloseKind::Flood && seconds < 2, "connection was closed by {kind:?} after {seconds} s: {text}");
    output
}

fn post(path: &str, fields: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{fields}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Operation number of a PONG. Without a preceding PING, the server counts it as a useless packet.
const PONG: u16 = 1;

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test(start_paused = true)]
async fn useless_connect_requests_end_in_disconnect() {
    let origin = format!("{JSON}origin: https://other.example\r\n");
    let stream = "content-type: application/connect+json\r\n";
    for (path, fields, body) in [
        ("/interop.Interop/None", JSON, "{}"),
        ("/interop.Interop/Add", JSON, "{"),
        ("/interop.Interop/Add", JSON, r#"{"a":"x"}"#),
        ("/interop.Interop/Add", "content-type: text/plain\r\n", "{}"),
        ("/interop.Interop/Add", &origin, "{}"),
        ("/interop.Interop/None", stream, "\0\0\0\0\u{2}{}"),
        ("/interop.Interop/CountUp", stream, "\0\0\0\0\u{1}{"),
        ("/none", JSON, "{}"),
        // Regression test: requests with invalid fields were not charged.
        ("/interop.Interop/Add", &format!("{JSON}connect-timeout-ms: ten\r\n"), "{}"),
        ("/interop.Interop/Add", &format!("{JSON}a-bin: !\r\n"), "{}"),
    ] {
        expect_flood(b"", |_| post(path, fields, body), &format!("{path} {fields} {body:?}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn useless_mcp_requests_end_in_disconnect() {
    for body in [
        "{",
        "[]",
        r#"{"jsonrpc":"2.0","id":1,"method":"none"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Add","arguments":7}}"#,
    ] {
        let fields = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
                      mcp-protocol-version: 2025-11-25\r\n";
        expect_flood(b"", |_| post("/mcp", fields, body), body).await;
    }
}

#[tokio::test(start_paused = true)]
async fn useless_json_rpc_posts_end_in_disconnect() {
    for body in
        ["{", r#"{"jsonrpc":"2.0","id":1,"method":"none"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#]
    {
        expect_flood(b"", |_| post("/", JSON, body), body).await;
    }
}

#[tokio::test(start_paused = true)]
async fn useless_web_socket_messages_end_in_disconnect() {
    let upgrade = |protocol: &str| {
        format!(
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \
             dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{protocol}\r\n"
        )
    };
    for (protocol, opcode, message) in [
        (JSON_RPC, TEXT, b"{".to_vec()),
        (JSON_RPC, TEXT, br#"{"jsonrpc":"2.0","id":1,"method":"none"}"#.to_vec()),
        (JSON_RPC, TEXT, br#"{"jsonrpc":"2.0","id":1,"result":7}"#.to_vec()),
        (FRAMES, BINARY, packet(7, PONG, b"")),
        (FRAMES, BINARY, packet(7, 4000, b"")),
    ] {
        let input = frame(true, opcode, &message);
        let subject = String::from_utf8_lossy(&message);
        let output = expect_flood(upgrade(protocol).as_bytes(), |_| input.clone(), &subject).await;
        assert!(output.starts_with(b"HTTP/1.1 101 "), "{subject}");
    }
}

/// Connects as a client of a load balancer, sends `input` and closes. Returns the time until the connection has ended.
async fn connected_for(server: &Acceptor, client: &str, input: &[u8]) -> Duration {
    let (mut here, there) = tokio::io::duplex(64 * 1024);
    let began = Instant::now();
    let talking = async {
        let header = format!("PROXY TCP4 {client} 127.0.0.1 4000 80\r\n");
        here.write_all(&[header.as_bytes(), input].concat()).await.expect("transport should have room");
        here.shutdown().await.expect("transport should shut down");
        let _ = here.read_to_end(&mut Vec::new()).await;
    };
    let (_, ()) = tokio::join!(server.serve_connection(there), talking);
    began.elapsed()
}

/// Regression test: a peer that reconnected after each burst of useless requests was never paused.
#[tokio::test(start_paused = true)]
async fn debt_of_closed_connection_follows_its_caller() {
    let gateway = Gateway::new().http(Http::new().connect().grpc());
    let settings = Config::default().abuse_rate(RATE);
    let server = server(gateway, |builder| builder.config(settings).proxy_protocol());
    // Each burst costs slightly less than the 1250 bytes that a peer may send at once.
    let priorities = http2_frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 16]).repeat(4);
    for (protocol, burst) in [
        ("native", packet(7, PONG, b"").repeat(15)),
        ("HTTP/1.1", b"GET /none HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(10)),
        ("HTTP/2", [http2_beginning(65_535, 0), priorities].concat()),
    ] {
        let pause = Duration::from_millis(50);
        let first = connected_for(&server, "192.0.2.1", &burst).await;
        let second = connected_for(&server, "192.0.2.1", &burst).await;
        let other = connected_for(&server, "192.0.2.2", &burst).await;
        let useful = connected_for(&server, "192.0.2.1", b"").await;
        assert!(first < pause && other < pause && useful < pause, "{protocol}: {first:?}, {other:?}, {useful:?}");
        assert!(second >= pause, "{protocol}: second connection was paused for {second:?}");
        tokio::time::sleep(Duration::from_secs(3)).await;
        let later = connected_for(&server, "192.0.2.1", &burst).await;
        assert!(later < pause, "{protocol}: paid debt paused the connection for {later:?}");
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
}

/// Regression test: a server that was not ready disconnected load balancers for their health checks.
#[tokio::test(start_paused = true)]
async fn health_checks_of_unready_server_are_no_abuse() {
    let health = Health::new();
    health.set_not_serving("");
    let gateway = Gateway::new().http(Http::new().health());
    let server =
        server(gateway, |builder| builder.config(Config::default().abuse_rate(RATE)).add_service(health.clone()));
    let get = "GET /readyz HTTP/1.1\r\nhost: localhost\r\n";
    for fields in ["", "transfer-encoding: chunked\r\n\r\n0\r\n"] {
        let output = expect_tolerance(&server, b"", |_| format!("{get}{fields}\r\n").into_bytes()).await;
        assert!(output.starts_with(b"HTTP/1.1 503 "), "{fields:?}");
    }
    // A GET with the path as a literal.
    let head = [&[0x82, 0x86, 4, 7][..], b"/readyz", &[1, 9], b"localhost"].concat();
    let probe = |number| http2_frame(HEADERS, 5, 2 * number + 1, &head);
    expect_tolerance(&server, &http2_beginning(65_535, 1 << 30), probe).await;
}

/// Regression test: a streaming call that did not fit into the server's memory counted as abuse of its client.
#[tokio::test(start_paused = true)]
async fn json_rpc_stream_without_memory_is_no_abuse() {
    let settings = Config::default().abuse_rate(RATE);
    let server = server(Gateway::new().json_rpc(), |builder| builder.config(settings).memory_max(1024));
    let call = |number| {
        let params = r#"{"from":1,"to":2}"#;
        let method = "interop.Interop/CountUp";
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"{method}\",\"params\":{params}}}\n").into_bytes()
    };
    let output = expect_tolerance(&server, b"", call).await;
    assert!(String::from_utf8_lossy(&output).contains("RESOURCE_EXHAUSTED"), "{output:?}");
}

/// Encodes an HTTP/2 frame.
pub(crate) fn http2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("payload length should fit in u32").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes an HTTP/2 request with entries of the static table and literals. The numbers of requests start at zero.
pub(crate) fn http2_request(number: u32, path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    http2_request_with(number, path, content_type, &[], body)
}

/// Like [`http2_request`], with another header field.
pub(crate) fn http2_request_with(number: u32, path: &str, content_type: &str, field: &[&str], body: &[u8]) -> Vec<u8> {
    let mut fields = vec![0x83, 0x86];
    for (name, value) in [(4, path), (1, "localhost")] {
        fields.extend_from_slice(&[name, value.len() as u8]);
        fields.extend_from_slice(value.as_bytes());
    }
    fields.extend_from_slice(&[0x0f, 0x10, content_type.len() as u8]);
    fields.extend_from_slice(content_type.as_bytes());
    fields.extend_from_slice(if field.is_empty() { &[] } else { &[0] });
    for text in field {
        fields.push(text.len() as u8);
        fields.extend_from_slice(text.as_bytes());
    }
    let stream = 2 * number + 1;
    [http2_frame(HEADERS, 4, stream, &fields), http2_frame(DATA, 1, stream, body)].concat()
}

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

/// Code of a GOAWAY frame for a peer that causes excessive load.
const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 11];

/// Returns the beginning of an HTTP/2 connection whose streams have this initial window. The window of the connection
/// is extended by `more` bytes.
pub(crate) fn http2_beginning(window: u32, more: u32) -> Vec<u8> {
    let [a, b, c, d] = window.to_be_bytes();
    let beginning = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        http2_frame(SETTINGS, 0, 0, &[0, 4, a, b, c, d]),
        http2_frame(SETTINGS, 1, 0, b""),
    ];
    let update = if more > 0 { http2_frame(WINDOW_UPDATE, 0, 0, &more.to_be_bytes()) } else { Vec::new() };
    [beginning.concat(), update].concat()
}

#[tokio::test(start_paused = true)]
async fn useless_http2_requests_and_frames_end_in_goaway() {
    let beginning = http2_beginning(65_535, 1 << 30);
    let (json, grpc) = ("application/json", "application/grpc+json");
    let call = b"\0\0\0\0\x02{}";
    let requests = [
        ("/interop.Interop/None", json, &[][..], &b"{}"[..]),
        ("/interop.Interop/Add", json, &[], b"{"),
        ("/interop.Interop/Add", "text/plain", &[], b"{}"),
        ("/interop.Interop/None", grpc, &[], call),
        ("/interop.Interop/Add", grpc, &[], b"\0\0\0\0\x01{"),
        ("/interop.Interop/Add", grpc, &[], b"\0\0"),
        ("/interop.Interop/CountUp", grpc, &[], b"\0\0\0\0\x01{"),
        ("/mcp", json, &[], b"{"),
        // Regression test: requests with invalid fields were not charged.
        ("/interop.Interop/Add", json, &["host", "other.example"], b"{}"),
        ("/interop.Interop/Add", json, &["connect-timeout-ms", "ten"], b"{}"),
        ("/interop.Interop/Add", grpc, &["grpc-timeout", "ten"], call),
        ("/interop.Interop/Add", grpc, &["a-bin", "!"], call),
        ("/interop.Interop/CountUp", grpc, &["grpc-timeout", "ten"], call),
        ("/interop.Interop/CountUp", grpc, &["a-bin", "!"], call),
        // Regression test: malformed bodies of these kinds were not charged.
        ("/interop.Interop/Add", "application/grpc-web+json", &[], b"\0\0"),
        ("/interop.Interop/CountUp", grpc, &[], b"\0\0"),
        ("/interop.Interop/Add", json, &["content-encoding", "br"], b"{}"),
        ("/interop.Interop/Add", json, &["content-encoding", "gzip"], b"{}"),
    ];
    for (path, content_type, field, body) in requests {
        let subject = format!("{path} {content_type} {field:?} {body:?}");
        let request = |number| http2_request_with(number, path, content_type, field, body);
        let output = expect_flood(&beginning, request, &subject).await;
        expect_goaway(&output, &subject);
    }
    let open_and_reset = |number| {
        let head = http2_request(number, "/interop.Interop/Add", json, b"");
        [&head[..head.len() - 9], &http2_frame(RST_STREAM, 0, 2 * number + 1, &[0, 0, 0, 8])].concat()
    };
    expect_goaway(&expect_flood(&beginning, open_and_reset, "RST_STREAM").await, "RST_STREAM");
    for (kind, stream, payload) in [(PRIORITY, 1, &[0, 0, 0, 0, 16][..]), (PING, 0, &[0; 8]), (SETTINGS, 0, b"")] {
        let subject = format!("frame type {kind}");
        let output = expect_flood(&beginning, |_| http2_frame(kind, 0, stream, payload), &subject).await;
        expect_goaway(&output, &subject);
    }
}

/// Checks that the output of a server ends with a GOAWAY frame that names the cause.
fn expect_goaway(output: &[u8], subject: &str) {
    let (mut rest, mut last) = (output, None);
    while let Some((&[a, b, c, kind, ..], _)) = rest.split_first_chunk::<9>() {
        let end = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
        last = rest.get(9..end).map(|payload| (kind, payload.get(4..8)));
        rest = rest.get(end..).unwrap_or_default();
    }
    assert_eq!(last, Some((GOAWAY, Some(&ENHANCE_YOUR_CALM[..]))), "{subject}");
}
