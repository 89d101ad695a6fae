//! Tests of connections to gRPC servers.

use super::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::timeout;

const KEEPALIVE: Keepalive = Keepalive { interval: Duration::from_secs(5), timeout: Duration::from_secs(3) };

/// Returns a client with one connection, and the server's end of it.
async fn connected() -> (GrpcLinks, DuplexStream) {
    let (here, mut server) = tokio::io::duplex(4096);
    let here = Mutex::new(Some(here));
    let connect = move || std::future::ready(here.lock().take().ok_or_else(|| io::ErrorKind::NotConnected.into()));
    let mut channel = crate::Channel::builder();
    let offer = channel.offer().expect("channel should offer no services");
    // An empty SETTINGS frame. The client may then open streams.
    server.write_all(b"\0\0\0\x04\0\0\0\0\0").await.expect("client should accept the SETTINGS frame");
    let named = GrpcServer::new("server", false, "server");
    (GrpcLinks::new(&channel.factory(&offer), KEEPALIVE, named, connect, None), server)
}

fn call(metadata: &Metadata) -> GrpcCall<'_> {
    GrpcCall { path: "/a.B/C".to_owned(), caller: None, timeout: None, metadata, trace: None }
}

/// Regression test: the call waited for its remaining requests until its deadline.
#[tokio::test]
async fn unsendable_request_fails_call_at_once() {
    let (links, mut server) = connected().await;
    let requests = GrpcRequests::Stream(Box::pin(crate::iter([Err(Status::out_of_range("too long"))])));
    let (status, _) = links.call(&call(&Metadata::new()), requests).await.err().expect("invalid request should fail");
    assert_eq!((status.code(), status.message()), (Code::OutOfRange, "too long"));
    let mut sent = vec![0; 1024];
    let mut read = 0;
    // Read until the client resets the stream with CANCEL.
    while !sent[..read].ends_with(b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08") {
        let count = server.read(&mut sent[read..]).await.expect("client should send frames");
        assert!(count > 0, "client should reset the stream before it closes the connection");
        read += count;
    }
}

/// Regression test: each call that timed out restarted the keepalive interval.
#[tokio::test(start_paused = true)]
async fn dead_server_is_detected_between_cancelled_calls() {
    let (links, mut server) = connected().await;
    let metadata = Metadata::new();
    let unary = async || {
        let requests = GrpcRequests::Whole(Bytes::from_static(b"\0\0\0\0\0"));
        timeout(Duration::from_secs(3), links.call(&call(&metadata), requests)).await
    };
    for _ in 0..2 {
        assert!(unary().await.is_err(), "call should wait for its reply until the timeout");
    }
    let (status, _) = unary().await.expect("connection should end in time").err().expect("lost call should fail");
    assert!(status.message().contains("has not answered a PING"), "{status}");
    let mut sent = Vec::new();
    server.read_to_end(&mut sent).await.expect("client should close the connection");
    let pings = sent.windows(9).filter(|head| head == b"\0\0\x08\x06\0\0\0\0\0");
    assert_eq!(pings.count(), 1);
}
