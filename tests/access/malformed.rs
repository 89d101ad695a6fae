//! Tests of malformed, repeated, oversized and absent tokens in every protocol.

use super::protocols::Host;
use super::support::{TIMEOUT, access};
use crate::gateway::web_socket::{BINARY, Client, FRAMES, TEXT, frame};
use bytes::Bytes;
use frisbee_tests::raw::{Raw, encoded, packet};
use frisbee_tests::serve;
use frpc::{Server, ServerBuilder};
use frpc_access::Who;
use frpc_gateway::{Console, Gateway, Http, Mcp, ServeGateway as _};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use samples::greet::{GreeterServer, Name};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// The operation of `greet.Greeter/Greet`.
const GREET: u16 = 10;

/// The fields of a request. The last field is `authorization`, unless the test omits it.
type Fields = Vec<(String, Vec<u8>)>;

fn authorization(values: &[&[u8]]) -> Fields {
    values.iter().map(|value| ("authorization".to_owned(), value.to_vec())).collect()
}

/// Returns malformed tokens that lenient parsers would accept as the token of the clerk.
fn malformed_tokens() -> Vec<(&'static str, Fields)> {
    let among_others = |count: usize| {
        let others = (0..count).map(|number| (format!("x{number}"), Vec::new()));
        others.chain(authorization(&[b"Bearer clerk"])).collect()
    };
    vec![
        ("tab", authorization(&[b"Bearer\tclerk"])),
        ("byte above ASCII before", authorization(&[b"Bearer \xe9clerk"])),
        ("byte above ASCII at the end", authorization(&[b"Bearer clerk\xe9"])),
        ("UTF-8", authorization(&["Bearer cl\u{e9}rk".as_bytes()])),
        ("empty", authorization(&[b""])),
        ("scheme alone", authorization(&[b"Bearer"])),
        ("no scheme", authorization(&[b"clerk"])),
        ("other scheme", authorization(&[b"Basic clerk"])),
        ("two tokens", authorization(&[b"Bearer clerk clerk"])),
        ("two fields", authorization(&[b"Bearer clerk", b"Bearer clerk"])),
        ("two callers", authorization(&[b"Bearer guest", b"Bearer clerk"])),
        ("empty field first", authorization(&[b"", b"Bearer clerk"])),
        ("long", authorization(&[&[b"Bearer ", &b"a"[..].repeat(9000)[..]].concat()])),
        ("longer than a head", authorization(&[&[b"Bearer ", &b"a"[..].repeat(20_000)[..]].concat()])),
        ("after 99 fields", among_others(99)),
        ("after 256 fields", among_others(256)),
    ]
}

/// Sends an HTTP/1.1 request and reads until the end or a JSON-RPC reply.
async fn send_http1(address: SocketAddr, line: &str, fields: &Fields, rest: &[u8]) {
    let mut request = format!("{line} HTTP/1.1\r\nhost: localhost\r\n").into_bytes();
    for (name, value) in fields {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    request.extend_from_slice(rest);
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    socket.write_all(&request).await.expect("write should succeed");
    let mut answer = Vec::new();
    let reading = async {
        while !answer.windows(9).any(|part| part == b"\"jsonrpc\"")
            && socket.read_buf(&mut answer).await.is_ok_and(|count| count > 0)
        {}
    };
    tokio::time::timeout(TIMEOUT, reading).await.expect("read should complete within the timeout");
}

/// Sends an HTTP/2 request, if it can be sent, and reads its response.
async fn send_http2(address: SocketAddr, path: &str, fields: &Fields, content_type: &str, body: &'static [u8]) {
    let io = TokioIo::new(TcpStream::connect(address).await.expect("server should accept the connection"));
    let (mut client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.expect("server should speak HTTP/2");
    let connection = tokio::spawn(connection);
    let mut request = http::Request::post(format!("http://localhost{path}")).header("content-type", content_type);
    for (name, value) in fields {
        request = request.header(name, http::HeaderValue::from_bytes(value).expect("header value should be accepted"));
    }
    let request = request.body(Full::new(Bytes::from_static(body))).expect("request should be valid");
    let exchange = async {
        if let Ok(response) = client.send_request(request).await {
            let _ = response.into_body().collect().await;
        }
    };
    tokio::time::timeout(TIMEOUT, exchange).await.expect("server should respond within the timeout");
    connection.abort();
}

/// Makes one call in each protocol that has header fields.
async fn call_protocols_with_fields(address: SocketAddr, fields: &Fields, mut called: impl FnMut(&'static str)) {
    let json_rpc = br#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{}}"#;
    let tool =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}"#;
    let envelope = b"\0\0\0\0\x02{}";
    for (protocol, path, content_type, body) in [
        ("connect", "/greet.Greeter/Greet", "application/json", &b"{}"[..]),
        ("connect stream", "/greet.Greeter/Recite", "application/connect+json", envelope),
        ("grpc-web", "/greet.Greeter/Greet", "application/grpc-web+json", envelope),
        ("json-rpc", "/", "application/json", json_rpc),
        ("mcp", "/mcp", "application/json", tool),
    ] {
        let length = body.len();
        let rest = format!(
            "connection: close\r\naccept: application/json, text/event-stream\r\ncontent-type: {content_type}\r\n\
             content-length: {length}\r\n\r\n"
        );
        send_http1(address, &format!("POST {path}"), fields, &[rest.as_bytes(), body].concat()).await;
        called(protocol);
    }
    let get = "GET /greet.Greeter/Greet?encoding=json&message=%7B%7D&connect=v1";
    send_http1(address, get, fields, b"connection: close\r\n\r\n").await;
    called("connect by get");
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: jsonrpc\r\n\r\n";
    // A WebSocket frame with a mask of zero, which leaves the payload unchanged.
    let frame = [&[0x81, 0x80 | json_rpc.len() as u8, 0, 0, 0, 0], &json_rpc[..]].concat();
    send_http1(address, "GET /", fields, &[upgrade.as_bytes(), &frame].concat()).await;
    called("web socket");
    send_http2(address, "/greet.Greeter/Greet", fields, "application/json", b"{}").await;
    called("connect by http/2");
    send_http2(address, "/", fields, "application/json", json_rpc).await;
    called("json-rpc by http/2");
    for method in ["/greet.Greeter/Greet", "/greet.Greeter/Recite"] {
        send_http2(address, method, fields, "application/grpc+json", envelope).await;
        called("grpc");
    }
}

/// Returns a builder of a greeter server with an access rule, and the number of calls that reached the greeter.
fn builder(who: Who) -> (ServerBuilder, Arc<AtomicUsize>) {
    let host = Host::default();
    let calls = host.calls.clone();
    let access = access().0.allow(["greet.Greeter/Greet", "greet.Greeter/Recite"], who);
    let http = Http::new().connect().grpc().console(Console::new());
    let mcp = Mcp::new().method_as("greet.Greeter/Greet", "greet");
    let gateway = Gateway::new().json_rpc().web_socket().mcp(mcp).http(http);
    (Server::builder().add_service(GreeterServer::new(host)).gateway(gateway).access(access), calls)
}

/// Starts a server with all protocols and an access rule. Returns its address and the number of calls that reached the
/// greeter.
async fn open_to(who: Who) -> (SocketAddr, Arc<AtomicUsize>) {
    let (server, calls) = builder(who);
    (serve(server).await, calls)
}

#[tokio::test]
async fn malformed_token_is_refused_in_every_protocol() {
    // The first rule admits every caller. It shows that a malformed token is rejected rather than ignored.
    for who in [Who::anybody(), Who::role("clerk")] {
        let (address, calls) = open_to(who).await;
        for (way, fields) in malformed_tokens() {
            call_protocols_with_fields(address, &fields, |protocol| {
                assert_eq!(calls.swap(0, Ordering::SeqCst), 0, "{protocol}: {way}");
            })
            .await;
        }
    }
}

#[tokio::test]
async fn absent_token_needs_rule_for_anybody() {
    for (who, token, expected) in [
        (Who::anybody(), &b""[..], 1),
        (Who::role("clerk"), b"", 0),
        (Who::role("clerk"), b"Bearer clerk", 1),
        (Who::role("clerk"), b"bearer  clerk", 1),
        (Who::role("clerk"), b"Bearer guest", 0),
    ] {
        let (address, calls) = open_to(who).await;
        let fields = if token.is_empty() { Fields::new() } else { authorization(&[token]) };
        call_protocols_with_fields(address, &fields, |protocol| {
            assert_eq!(calls.swap(0, Ordering::SeqCst), expected, "{protocol}: {}", String::from_utf8_lossy(token));
        })
        .await;
    }
}

/// Returns a native call with the given metadata entries, after the first bytes of a native connection.
fn native_call(fields: &Fields) -> Vec<u8> {
    let number = |mut value: usize| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    let mut items = Vec::new();
    for (key, value) in fields {
        let entry = [&number(key.len())[..], key.as_bytes(), value].concat();
        items.extend([&[2][..], &number(entry.len()), &entry].concat());
    }
    let prefix = if items.is_empty() { Vec::new() } else { [&[0x10][..], &number(items.len()), &items].concat() };
    let hello = frisbee_core::Connection::client(&Default::default(), std::time::Instant::now()).outbox().take_bytes();
    [&hello[..], &packet(7, GREET, &[prefix, encoded(&Name::default())].concat())].concat()
}

/// Makes a native call and waits for its reply or the end of the connection.
async fn call_natively(transport: impl AsyncRead + AsyncWrite + Unpin, fields: &Fields) {
    let mut peer = Raw::over(transport);
    peer.write(&native_call(fields)).await;
    peer.next().await;
}

/// Makes a native call in a WebSocket message and waits for the message with its reply, or the end.
async fn call_by_frames(address: SocketAddr, field: &str, fields: &Fields) {
    let (mut client, answer) = Client::connect_with(address, &format!("{FRAMES}{field}")).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    client.send(&frame(true, BINARY, &native_call(fields))).await;
    // The server's HELLO comes first, possibly in a message of its own.
    let mut received = 0;
    while received < 2 {
        let (_, opcode, payload) = client.frame().await;
        received += if opcode == BINARY { payload.windows(2).filter(|pair| *pair == [0, 0x0f]).count() } else { 2 };
    }
}

#[tokio::test]
async fn every_native_transport_rejects_malformed_token() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let path = folder.path().join("socket");
    for (at, is_open) in [true, false].into_iter().enumerate() {
        let who = || if is_open { Who::anybody() } else { Who::role("clerk") };
        let (address, calls) = open_to(who()).await;
        let path = path.with_extension(at.to_string());
        let (server, shared_calls) = builder(who());
        let server = server.shared_memory(frpc::shm::Listener::builder()).bind_unix(&path).await;
        tokio::spawn(server.expect("path should be free").serve());
        let too_long = authorization(&[&[b"Bearer ", &b"a"[..].repeat(62_000)[..]].concat()]);
        let absent = Fields::new();
        let valid = authorization(&[b"Bearer clerk"]);
        let ways = malformed_tokens().into_iter().chain([
            ("longer than metadata", too_long),
            ("absent", absent),
            ("valid", valid),
        ]);
        for (way, fields) in ways {
            // The server permits 99 other fields before the token.
            let is_valid = ["after 99 fields", "valid"].contains(&way) || way == "absent" && is_open;
            let expected = usize::from(is_valid);
            let called = |protocol: &str, calls: &AtomicUsize| {
                assert_eq!(calls.swap(0, Ordering::SeqCst), expected, "{protocol}: {way}");
            };
            call_natively(TcpStream::connect(address).await.expect("server should accept the connection"), &fields)
                .await;
            called("tcp", &calls);
            call_natively(tokio::net::UnixStream::connect(&path).await.expect("server should be listening"), &fields)
                .await;
            called("unix", &shared_calls);
            let shared = frisbee_shm::connect(&path).await.expect("server should be listening");
            call_natively(shared, &fields).await;
            called("shared memory", &shared_calls);
            call_by_frames(address, "", &fields).await;
            called("web socket", &calls);
            call_by_frames(address, "origin: http://127.0.0.1\r\n", &fields).await;
            called("console", &calls);
        }
    }
}

/// Makes one call in each protocol that uses JSON messages, with the given text as metadata.
async fn call_protocols_with_json(address: SocketAddr, metadata: &str, mut called: impl FnMut(&'static str)) {
    for (name, path, method, params) in [
        ("json-rpc", "/", "greet.Greeter/Greet", "{}"),
        ("mcp", "/mcp", "tools/call", r#"{"name":"greet","arguments":{"name":"Ada"}}"#),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params},"metadata":{metadata}}}"#);
        let mut socket =
            BufReader::new(TcpStream::connect(address).await.expect("server should accept the connection"));
        socket.write_all(format!("{call}\n").as_bytes()).await.expect("write should succeed");
        let mut reply = String::new();
        let reading = socket.read_line(&mut reply);
        tokio::time::timeout(TIMEOUT, reading)
            .await
            .expect("read should complete within the timeout")
            .expect("response should be UTF-8");
        called(name);
        let length = call.len();
        let rest = format!(
            "connection: close\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{call}"
        );
        send_http1(address, &format!("POST {path}"), &Fields::new(), rest.as_bytes()).await;
        called(if name == "mcp" { "mcp by post" } else { "json-rpc by post" });
        if name == "json-rpc" {
            let (mut client, _) = Client::connect_with(address, crate::gateway::web_socket::JSON_RPC).await;
            client.send(&frame(true, TEXT, call.as_bytes())).await;
            client.frame().await;
            called("json-rpc by web socket");
        }
    }
}

#[tokio::test]
async fn malformed_token_in_json_is_refused() {
    let (address, calls) = open_to(Who::anybody()).await;
    let long = format!(r#"{{"authorization":"Bearer {}"}}"#, "a".repeat(62_000));
    for (metadata, expected) in [
        (r#"{"authorization":"Bearer clerk"}"#, 1),
        ("{}", 1),
        (r#"{"authorization":"Bearer\tclerk"}"#, 0),
        (r#"{"authorization":"Bearer clerk\u00e9"}"#, 0),
        (r#"{"authorization":"Bearer clerk","authorization":"Bearer clerk"}"#, 0),
        (r#"{"authorization":"Bearer guest","authorization":"Bearer clerk"}"#, 0),
        (r#"{"authorization":["Bearer clerk"]}"#, 0),
        (r#"{"authorization":""}"#, 0),
        (r#"{"Authorization":"Bearer clerk"}"#, 0),
        (r#"["authorization","Bearer clerk"]"#, 0),
        (&long, 0),
    ] {
        call_protocols_with_json(address, metadata, |protocol| {
            assert_eq!(calls.swap(0, Ordering::SeqCst), expected, "{protocol}: {metadata}");
        })
        .await;
    }
}
