//! Tests of the input buffers of HTTP/1.1 connections.

use super::connections::{Host, LONG, TIMEOUT, dial, post};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
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
