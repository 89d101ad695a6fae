//! Tests of HTTP clients that try to exhaust the server's memory. Native calls must succeed at the same time.

use crate::gateway::greeter::{Open, TIMEOUT, all, post};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use frpc::Config;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use samples::greet::{GreeterClient, Name};
use std::io::Write as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Checks that native calls succeed.
async fn expect_service(server: &Open) {
    let client = GreeterClient::connect(&*server.address).await.expect("server should accept the connection");
    let greeting = client.greet(Name { name: "Ada".to_owned() }).await.expect("call should succeed");
    assert_eq!(greeting.get_ref().text, "Hello, Ada!");
}

/// Returns `length` bytes in compressed form.
fn bomb(length: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; length]).expect("write should succeed");
    encoder.finish().expect("connection in memory should succeed")
}

/// Returns the head of a request whose body has `length` bytes.
fn head(content_type: &str, fields: &str, length: usize) -> String {
    let head = post("/greet.Greeter/Greet", fields, "").replace("application/json", content_type);
    head.replace("content-length: 0", &format!("content-length: {length}"))
}

#[tokio::test]
async fn enveloped_gzip_bomb_over_limit_is_rejected() {
    let server = Open::with(all(), |builder| builder.config(Config::default().body_max(64 * 1024))).await;
    let body = bomb(16 << 20);
    assert!(body.len() < 64 * 1024);
    let length = u32::try_from(body.len()).expect("length should fit u32").to_be_bytes();
    let body = [&[1], &length[..], &body].concat();
    let head = head("application/grpc-web+json", "connection: close\r\ngrpc-encoding: gzip\r\n", body.len());
    let response = server.exchange([head.as_bytes(), &body].concat()).await;
    assert!(response.contains("grpc-status: 8"), "{response:?}");
    expect_service(&server).await;
}

#[tokio::test]
async fn message_without_memory_is_refused_before_arrival() {
    let server = Open::with(all(), |builder| builder.memory_max(1 << 20)).await;
    let mut socket = TcpStream::connect(&server.address).await.expect("server should accept the connection");
    let length = 4_u32 << 20;
    let head = head("application/grpc-web+json", "connection: close\r\n", length as usize + 5);
    socket.write_all(head.as_bytes()).await.expect("write should succeed");
    socket.write_all(&[&[0], &length.to_be_bytes()[..], b"\""].concat()).await.expect("write should succeed");
    let (mut reading, mut writing) = socket.into_split();
    // The rest of the body is never sent, and the server does not have to read these bytes.
    let sending = tokio::spawn(async move {
        let _ = writing.write_all(&vec![b' '; 3 << 20]).await;
        std::future::pending::<()>().await;
    });
    let mut response = Vec::new();
    let answered = async {
        while !response.windows(14).any(|text| text == b"grpc-status: 8") {
            let count = reading.read_buf(&mut response).await.expect("connection should not be reset");
            assert!(count > 0, "{}", String::from_utf8_lossy(&response));
        }
    };
    tokio::time::timeout(TIMEOUT, answered).await.expect("call should complete within the timeout");
    sending.abort();
    expect_service(&server).await;
}

#[tokio::test]
async fn unread_http2_responses_are_charged_to_client() {
    let server = Open::new(all()).await;
    let io = TokioIo::new(TcpStream::connect(&server.address).await.expect("server should accept the connection"));
    let mut builder = http2::Builder::new(TokioExecutor::new());
    // With these windows, each stream transfers only the first part of its response.
    builder.initial_stream_window_size(1024).initial_connection_window_size(1 << 20);
    let (mut client, connection) = builder.handshake(io).await.expect("server should speak HTTP/2");
    let connection = tokio::spawn(connection);
    let mut responses = Vec::new();
    for content_type in ["application/json", "application/grpc+json"].repeat(10) {
        let message = "{\"name\":\"long\"}";
        let envelope = if content_type.ends_with("+json") { "\0\0\0\0\u{f}" } else { "" };
        let request = http::Request::post("http://localhost/greet.Greeter/Greet")
            .header("content-type", content_type)
            .body(Full::new(Bytes::from(format!("{envelope}{message}"))))
            .expect("request should be valid");
        responses.push(client.send_request(request).await.expect("call should succeed"));
    }
    assert!(server.stats.memory_held() >= 20 * 100_000, "server holds {} bytes", server.stats.memory_held());
    let response = responses.pop().expect("response should have arrived");
    let body = tokio::time::timeout(TIMEOUT, response.into_body().collect())
        .await
        .expect("body should arrive within the timeout");
    assert!(body.expect("body should be complete").to_bytes().len() > 100_000);
    expect_service(&server).await;
    drop((client, responses));
    connection.abort();
    let released = async {
        while server.stats.memory_held() >= 100_000 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, released).await.expect("memory should be released within the timeout");
}
