//! Tests of streams that carry bytes: tunnels next to other traffic on the same connection.

use super::{TIMEOUT, expect_echo};
use bytes::Bytes;
use frisbee::{
    Acceptor, Client, Config, Connection, Handlers, Operation, Outbox, Packet, PacketId, Routed, Router, Server, Stream,
};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A protocol that echoes packets. The first packet of a stream selects how the stream is served.
struct Tunnels;

impl Router for Tunnels {
    type Session = Connection;

    fn connected(&self, connection: &Connection) -> Connection {
        connection.clone()
    }

    fn route(&self, _connection: &mut Connection, packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).unwrap();
        Routed::Continue
    }

    fn stream(&self, connection: &mut Connection, first: Bytes, stream: Stream) -> Routed {
        connection.spawn(async move {
            match &first[..] {
                b"echo" => drop(super::echo(stream.into_io()).await),
                b"reset" => stream.reset(9, "not today"),
                b"close" => {
                    stream.send(&Bytes::from_static(b"the last words")).await.unwrap();
                    drop(stream);
                }
                _ => std::future::pending().await,
            }
        });
        Routed::Continue
    }
}

async fn connected(handlers: Handlers) -> Connection {
    connected_with([Config::default(), Config::default()], handlers).await
}

/// Connects a client with these settings of the server and of the client.
async fn connected_with([server, client]: [Config; 2], handlers: Handlers) -> Connection {
    let acceptor: Acceptor<Tunnels> = Server::builder().config(server).build(Tunnels).unwrap();
    let (here, there) = frisbee::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    Client::builder().config(client).connect_io(here, handlers).await.unwrap()
}

async fn open(connection: &Connection, first: &'static str) -> frisbee::StreamIo {
    connection.open_stream(&Bytes::from_static(first.as_bytes())).await.unwrap().into_io()
}

#[tokio::test]
async fn tunnel_passes_bytes_and_half_closes() {
    let connection = connected(Handlers::new()).await;
    for _ in 0..20 {
        expect_echo(open(&connection, "echo").await).await;
    }
}

#[tokio::test]
async fn tunnel_respects_body_limits_of_both_ends() {
    let little = Config::default().body_max(10_000);
    for configs in [[little.clone(), Config::default()], [Config::default(), little]] {
        let connection = connected_with(configs, Handlers::new()).await;
        expect_echo(open(&connection, "echo").await).await;
    }
}

#[tokio::test]
async fn tunnel_error_kind_reflects_peer_close() {
    let connection = connected(Handlers::new()).await;
    let mut tunnel = open(&connection, "reset").await;
    let error = tunnel.read(&mut [0; 10]).await.unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::ConnectionReset, "not today".to_owned()));
    assert_eq!(tunnel.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);

    let mut tunnel = open(&connection, "close").await;
    let mut received = Vec::new();
    let error = tunnel.read_to_end(&mut received).await.unwrap_err();
    assert_eq!(received, b"the last words");
    assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted), "{error}");

    let mut tunnel = open(&connection, "silence").await;
    connection.abort();
    assert_eq!(tunnel.read(&mut [0; 10]).await.unwrap_err().kind(), ErrorKind::ConnectionAborted);
}

#[tokio::test]
async fn writer_waits_while_reader_is_slow() {
    let connection = connected(Handlers::new()).await;
    let mut tunnel = open(&connection, "silence").await;
    let written = Arc::new(AtomicUsize::new(0));
    let counted = written.clone();
    let writing = tokio::spawn(async move {
        loop {
            let count = tunnel.write(&[7; 10_000]).await.unwrap();
            counted.fetch_add(count, Ordering::Relaxed);
        }
    });
    // The writer stops when it has used up its credit, and other packets still pass.
    for _ in 0..100 {
        connection.open_stream(&Bytes::from_static(b"reset")).await.unwrap().recv().await;
    }
    let written = written.load(Ordering::Relaxed);
    assert!((200_000..300_000).contains(&written), "at most 256 KiB should be in transit, but {written} bytes are");
    assert!(!writing.is_finished());
    writing.abort();
}

/// One connection carries a hundred tunnels and ordinary packets, while one of the tunnels transfers as much as it can.
#[tokio::test(flavor = "multi_thread")]
async fn bulk_tunnel_does_not_block_others() {
    let call = Operation::user(20).unwrap();
    let (ids, mut answers) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on(call, move |_, packet| {
        ids.send(packet.id).unwrap();
        async { None }
    });
    let connection = connected(handlers).await;
    let stop = Arc::new(AtomicBool::new(false));
    let carried = Arc::new(AtomicUsize::new(0));
    let bulk = tokio::spawn({
        let (tunnel, stop, carried) = (open(&connection, "echo").await, stop.clone(), carried.clone());
        async move {
            let (mut read, mut write) = tokio::io::split(tunnel);
            let reading = async {
                let mut buffer = vec![0; 64 * 1024];
                loop {
                    match read.read(&mut buffer).await.unwrap() {
                        0 => break,
                        count => carried.fetch_add(count, Ordering::Relaxed),
                    };
                }
            };
            let writing = async {
                while !stop.load(Ordering::Relaxed) {
                    write.write_all(&[7; 64 * 1024]).await.unwrap();
                }
                write.shutdown().await.unwrap();
            };
            tokio::join!(reading, writing);
        }
    });
    let mut others = JoinSet::new();
    for number in 0..99_u8 {
        let mut tunnel = open(&connection, "echo").await;
        others.spawn(async move {
            for round in 0..50 {
                let sent = [number, round];
                tunnel.write_all(&sent).await.unwrap();
                let mut received = [0; 2];
                tunnel.read_exact(&mut received).await.unwrap();
                assert_eq!(received, sent);
            }
        });
    }
    let all = async {
        for id in 0..100 {
            connection.send(&Packet::new(PacketId(id), call, "")).await.unwrap();
            assert_eq!(answers.recv().await, Some(PacketId(id)));
        }
        while let Some(ended) = others.join_next().await {
            ended.unwrap();
        }
    };
    tokio::time::timeout(TIMEOUT, all).await.expect("all tasks should complete within the timeout");
    assert!(!bulk.is_finished());
    stop.store(true, Ordering::Relaxed);
    bulk.await.unwrap();
    let carried = carried.load(Ordering::Relaxed);
    assert!(carried > 1 << 20, "bulk transfer should progress as well, but carried {carried} bytes");
}
