//! Tests of the Connect protocol that its conformance suite does not cover: limits, middleware, and gRPC-Web with JSON.

use crate::gateway::greeter::{Closed, Open, all, greet, post};
use frpc::Config;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

const CLOSE: &str = "connection: close\r\n";

/// Builds a request with a binary body of the given content type.
fn bytes(path: &str, content_type: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = post(path, &format!("{CLOSE}{fields}"), "").replace("application/json", content_type);
    let head = head.replace("content-length: 0", &format!("content-length: {}", body.len()));
    [head.as_bytes(), body].concat()
}

fn envelope(flags: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("length should fit u32").to_be_bytes();
    [&[flags][..], &length, message].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, bytes).expect("connection in memory should succeed");
    encoder.finish().expect("connection in memory should succeed")
}

#[tokio::test]
async fn unary_call_carries_metadata_trailers_and_timeout() {
    let server = Open::new(all()).await;
    let response = server.exchange(greet("tenant: blue\r\n", "Ada")).await;
    assert!(
        response.contains("\r\ntenant: blue\r\n") && response.contains("\r\ntrailer-after: blue\r\n"),
        "{response}"
    );
    assert!(server.exchange(greet("connect-timeout-ms: 30000\r\n", "timeout")).await.ends_with("{\"text\":\"some\"}"));
    assert!(server.exchange(greet("", "timeout")).await.ends_with("{\"text\":\"none\"}"));
    let late = server.exchange(greet("connect-timeout-ms: 20\r\n", "wait")).await;
    assert!(late.starts_with("HTTP/1.1 504 ") && late.contains("deadline_exceeded"), "{late}");
    let proto = server.exchange(bytes("/greet.Greeter/Greet", "application/proto", "", b"\x0a\x03Ada")).await;
    assert!(proto.ends_with("\x0a\x0bHello, Ada!"), "{proto:?}");
}

#[tokio::test]
async fn connect_error_has_code_message_and_details() {
    let server = Open::new(all()).await;
    let response = server.exchange(greet("", "")).await;
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    let body = response.rsplit("\r\n").next().unwrap_or_default();
    let expected = r#"{"code":"invalid_argument","message":"the name is empty","details":[{"type":"google.rpc.ErrorInfo","value":"CgVFTVBUWRIFdGVzdHM"}]}"#;
    assert_eq!(body, expected);
}

#[tokio::test]
async fn connect_gzip_bodies_respect_size_limit() {
    let server = Open::with(all(), |builder| builder.config(Config::default().body_max(64 * 1024))).await;
    let call = |body: &[u8]| bytes("/greet.Greeter/Greet", "application/json", "content-encoding: gzip\r\n", body);
    assert!(server.exchange(call(&gzip(b"{\"name\":\"Ada\"}"))).await.ends_with("Hello, Ada!\"}"));
    let bomb = gzip(&vec![b' '; 8 << 20]);
    assert!(bomb.len() < 64 * 1024);
    let refused = server.exchange(call(&bomb)).await;
    assert!(refused.starts_with("HTTP/1.1 429 ") && refused.contains("more than 65536 bytes"), "{refused}");
    let chunked = |name: &str| {
        let body = format!("{{\"name\":\"{name}\"}}");
        let request = post("/greet.Greeter/Greet", "transfer-encoding: chunked\r\naccept-encoding: gzip\r\n", "");
        let request = request.replace("content-length: 0\r\n", "");
        format!("{request}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
    };
    assert!(
        server.exchange(chunked("Ada")).await.ends_with("Hello, Ada!\"}"),
        "short response should not be compressed"
    );
    let long = server.exchange(chunked("long")).await;
    assert!(long.contains("content-encoding: gzip") && long.len() < 2000, "long response has {} bytes", long.len());
}

#[tokio::test]
async fn response_stream_ends_with_outcome() {
    let server = Open::new(all()).await;
    let recite = |name: &str| {
        let message = envelope(0, format!("{{\"name\":\"{name}\"}}").as_bytes());
        bytes("/greet.Greeter/Recite", "application/connect+json", "", &message)
    };
    let response = server.exchange(recite("Ada")).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("application/connect+json"), "{response}");
    for part in ["\0\0\0\0\x10{\"text\":\"1 Ada\"}", "\0\0\0\0\x10{\"text\":\"2 Ada\"}", "\x02\0\0\0\x02{}"] {
        assert!(response.contains(part), "{part:?}: {response:?}");
    }
    let failed = server.exchange(recite("fail")).await;
    assert!(
        failed.contains("1 fail") && failed.contains(r#"{"error":{"code":"data_loss","message":"forgotten"}}"#),
        "{failed}"
    );
    let two = [envelope(0, b"{}"), envelope(0, b"{}")].concat();
    let refused = server.exchange(bytes("/greet.Greeter/Recite", "application/connect+json", "", &two)).await;
    assert!(refused.contains("unimplemented"), "{refused}");
}

#[tokio::test]
async fn grpc_web_body_and_text_carry_trailers() {
    let server = Open::new(all()).await;
    let call = envelope(0, b"{\"name\":\"Ada\"}");
    let response = server.exchange(bytes("/greet.Greeter/Greet", "application/grpc-web+json", "", &call)).await;
    assert!(
        response.contains("Hello, Ada!") && response.contains("\u{fffd}\0\0\0\x10grpc-status: 0\r\n"),
        "{response:?}"
    );
    // The message {"name":"Ada"} in an envelope. It is encoded in two pieces of base64, each with padding.
    let text = "AAAAAA==DnsibmFtZSI6IkFkYSJ9";
    let response =
        server.exchange(bytes("/greet.Greeter/Greet", "application/grpc-web-text+json", "", text.as_bytes())).await;
    assert!(response.contains("application/grpc-web-text+json") && response.contains("AAAAABZ7InRleHQi"), "{response}");
}

#[tokio::test]
async fn denying_middleware_denies_every_http_protocol() {
    let mut server = Open::with(all(), |builder| builder.middleware(Closed)).await;
    let enveloped = envelope(0, b"{}");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{}}"#;
    for (request, expected) in [
        (greet("", "Ada").into_bytes(), "permission_denied"),
        (greet("expect: 100-continue\r\n", "Ada").into_bytes(), "permission_denied"),
        (
            format!("GET /greet.Greeter/Greet?encoding=json&message=%7B%7D HTTP/1.1\r\nhost: localhost\r\n{CLOSE}\r\n")
                .into_bytes(),
            "permission_denied",
        ),
        (bytes("/greet.Greeter/Recite", "application/connect+json", "", &enveloped), "permission_denied"),
        (bytes("/greet.Greeter/Greet", "application/grpc-web+json", "", &enveloped), "grpc-status: 7"),
        (post("/", CLOSE, call).into_bytes(), "Greet is closed"),
    ] {
        let response = server.exchange(&request).await;
        assert!(response.contains(expected), "{expected}: {response}");
    }
    assert_eq!(server.began.try_recv().ok(), None, "no handler should have run");
}

#[tokio::test]
async fn late_reader_receives_complete_long_responses() {
    let server = Open::new(all()).await;
    let mut socket = TcpStream::connect(&server.address).await.expect("server should accept the connection");
    for _ in 0..20 {
        socket
            .write_all(post("/greet.Greeter/Greet", "", "{\"name\":\"long\"}").as_bytes())
            .await
            .expect("write should succeed");
    }
    socket.write_all(greet("", "last").as_bytes()).await.expect("write should succeed");
    let response = crate::gateway::greeter::rest(&mut socket).await;
    assert_eq!(response.matches("content-length: 100011").count(), 20);
    assert!(response.ends_with("Hello, last!\"}"));
}

#[tokio::test]
async fn request_with_trailers_is_refused() {
    let server = Open::new(all()).await;
    let chunked = |content_type: &str, body: &str| {
        let head = post("/greet.Greeter/Greet", "transfer-encoding: chunked\r\ntrailer: x-tenant\r\n", "");
        let head = head.replace("content-length: 0\r\n", "").replace("application/json", content_type);
        format!("{head}{:x}\r\n{body}\r\n0\r\nx-tenant: blue\r\n\r\n", body.len())
    };
    let message = r#"{"name":"Ada"}"#;
    let unary = server.exchange(chunked("application/json", message)).await;
    assert!(unary.starts_with("HTTP/1.1 400 ") && unary.contains("x-tenant"), "{unary}");
    let enveloped = String::from_utf8(envelope(0, message.as_bytes())).expect("bytes should be UTF-8");
    let web = server.exchange(chunked("application/grpc-web+json", &enveloped)).await;
    assert!(web.contains("grpc-status: 3") && web.contains("x-tenant"), "{web}");
}
