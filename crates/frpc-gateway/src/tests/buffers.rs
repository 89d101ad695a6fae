//! Tests of the input buffers of HTTP/1.1 connections.

use super::connections::{Host, LONG, TIMEOUT, dial, post};
use frpc::Server;
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::greet::GreeterServer;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf};
use tokio::time::{sleep, timeout};

/// Regression test: requests that arrived during a call were buffered without a memory charge.
#[tokio::test(start_paused = true)]
async fn requests_received_during_call_are_charged() {
    const CALLS: usize = 4;
    let (host, server) = Host::in_memory();
    let stats = server.stats();
    let mut clients = Vec::new();
    for _ in 0..CALLS {
        let mut io = dial(&server);
        let next = format!("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: {LONG}\r\n\r\n");
        let requests = [post("", "wait").as_bytes(), next.as_bytes(), &[b' '; 60_000]].concat();
        timeout(TIMEOUT, io.write_all(&requests))
            .await
            .expect("server should read both requests within the timeout")
            .expect("connection should be open");
        host.begins().await;
        clients.push(io);
    }
    sleep(Duration::from_millis(1)).await;
    assert!(stats.memory_held() >= CALLS * 48 * 1024, "server holds {} bytes", stats.memory_held());
    drop(clients);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(stats.memory_held(), 0);
}

/// Regression test: the response to a request lacked the CORS fields if there was no memory for its body, or if the
/// body arrived too slowly.
#[tokio::test(start_paused = true)]
async fn responses_to_refused_bodies_have_cors_fields() {
    const LENGTH: usize = 4 << 20;
    for (sent, expected) in [(LENGTH / 2, "resource_exhausted"), (10, "came too slowly")] {
        let gateway = Gateway::new().http(Http::new().connect().origin("https://app.example.com").cors());
        let service = GreeterServer::new(Host::served().0);
        let server = Server::builder().memory_max(1 << 20).add_service(service).gateway(gateway);
        let mut io = dial(&server.build().expect("server settings should be valid"));
        let head =
            post("origin: https://app.example.com\r\n", "").replace("content-length: 11", "content-length: 4194304");
        let request = [head.as_bytes(), &vec![b' '; sent]].concat();
        let (mut reading, mut writing) = tokio::io::split(&mut io);
        let mut response = String::new();
        // Writing fails once the server has closed the connection.
        let (_, read) = tokio::join!(writing.write_all(&request), reading.read_to_string(&mut response));
        read.expect("response should be UTF-8");
        assert!(response.contains(expected), "{response}");
        assert!(response.contains("access-control-allow-origin: https://app.example.com\r\n"), "{response}");
    }
}

/// A transport that records the size of the largest buffer passed to a read.
struct Watched {
    io: DuplexStream,
    largest: Arc<AtomicUsize>,
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.largest.fetch_max(buffer.remaining(), Ordering::Relaxed);
        Pin::new(&mut self.io).poll_read(task, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(task, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(task)
    }
}

/// Regression test: a connection that hyper serves kept a read buffer of 500 KiB after a long body.
#[tokio::test(start_paused = true)]
async fn long_body_leaves_small_read_buffer() {
    const BODY: usize = 4 << 20;
    let (_host, server) = Host::in_memory();
    let (mut io, there) = tokio::io::duplex(1 << 20);
    let largest = Arc::<AtomicUsize>::default();
    let watched = Watched { io: there, largest: largest.clone() };
    tokio::spawn(async move { server.serve_connection(watched).await });
    // The fast path does not handle `Expect: 100-continue`, so hyper serves the request.
    let head = format!(
        "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {BODY}\r\n\r\n"
    );
    let message = r#"{"name":"Ada"}"#;
    let request = [&head, message, &" ".repeat(BODY - message.len())].concat();
    timeout(TIMEOUT, io.write_all(request.as_bytes()))
        .await
        .expect("server should read the request within the timeout")
        .expect("connection should be open");
    let mut responses = String::new();
    while !responses.contains("Hello, Ada!") {
        let mut part = [0; 1024];
        let read = timeout(TIMEOUT, io.read(&mut part)).await.expect("response should arrive within the timeout");
        let count = read.expect("connection should not be reset");
        assert!(count > 0, "{responses}");
        responses += &String::from_utf8_lossy(&part[..count]);
    }
    let largest = largest.load(Ordering::Relaxed);
    assert!(largest <= 128 * 1024, "server read into {largest} bytes");
}
