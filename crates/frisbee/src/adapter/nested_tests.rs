//! Tests of connections inside adapter connections.

use super::tests::{LIMIT, echo};
use crate::connection::ConnectionExt;
use crate::{AdapterContext, CloseKind, CloseReason, Handlers, Operation, Server, ServerBuilder, Stats, Workers};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const PACKET: &[u8] = &[0, 15, 0, 1, 0, 10, 0, 0, 0, 2, b'h', b'i'];

const HEARTBEAT: &[u8] = &[0, 15, 0, 0, 0, 0, 0, 0, 0, 0];

/// Creates a server with an adapter for connections that start with the letter `x`. The adapter removes the letter and
/// serves the frames that follow it.
fn unwrapping() -> ServerBuilder {
    Server::builder().adapter(
        |beginning| beginning[0] == b'x',
        async |mut transport, context: AdapterContext| {
            transport.read_u8().await?;
            context.serve_frames(transport).await;
            Ok(())
        },
    )
}

async fn expect_echo(socket: &mut TcpStream, prefix: &[u8]) {
    socket.write_all(&[prefix, PACKET].concat()).await.expect("server should accept the packet");
    let mut reply = [0; PACKET.len()];
    let read = tokio::time::timeout(LIMIT, socket.read_exact(&mut reply))
        .await
        .expect("future should complete within the timeout");
    read.expect("server should reply to the request");
    assert_eq!(reply, PACKET);
}

/// Waits until `count` connections of the server have closed.
async fn ended(stats: &Stats, count: u64) {
    let over = async {
        while stats.opened() < count || stats.open() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, over).await.expect("all accepted connections should be closed before the timeout");
}

async fn listen(builder: ServerBuilder) -> (SocketAddr, Stats) {
    let server = builder.bind("127.0.0.1:0", echo()).await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

#[tokio::test]
async fn frames_within_gateway_connection_are_counted_once() {
    // With the crate tokio-uring, skip `Workers::PerCore`, because its rings cannot pass a socket to an adapter.
    let all = [Workers::Caller, Workers::PerCore].into_iter().take(if cfg!(feature = "tokio-uring") { 1 } else { 2 });
    for workers in all {
        let (address, stats) = listen(unwrapping().workers(workers)).await;
        let mut socket = TcpStream::connect(address).await.unwrap();
        expect_echo(&mut socket, b"x").await;
        expect_echo(&mut socket, b"").await;
        assert_eq!([stats.opened(), stats.open()], [1, 1]);
        drop(socket);
        ended(&stats, 1).await;
        assert_eq!(stats.opened(), 1);
        assert_eq!([CloseKind::ClosedByPeer, CloseKind::OtherProtocol].map(|kind| stats.closed_by(kind)), [1, 0]);
    }
}

#[tokio::test]
async fn connection_for_frames_alone_reaches_no_adapter() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let builder = Server::builder().adapter(
        |_| true,
        move |mut transport, context: AdapterContext| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move {
                transport.read_u8().await?;
                context.serve_frames(transport).await;
                Ok(())
            }
        },
    );
    let (address, stats) = listen(builder).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    expect_echo(&mut socket, b"x").await;
    drop(socket);
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(&[b'x'; 64]).await.unwrap();
    ended(&stats, 2).await;
    assert_eq!([calls.load(Ordering::SeqCst) as u64, stats.closed_by(CloseKind::BadMagic)], [2, 1]);
}

#[tokio::test]
async fn stop_drains_connections_within_gateway_connections() {
    let slow = Operation::user(10).expect("operation number should be above the reserved range");
    let (proceeds, proceed) = oneshot::channel::<()>();
    let proceed = Arc::new(parking_lot::Mutex::new(Some(proceed)));
    let (begins, started) = oneshot::channel::<()>();
    let begins = Arc::new(parking_lot::Mutex::new(Some(begins)));
    let handlers = Handlers::new().on(slow, move |_connection, packet| {
        let (begins, proceed) = (begins.lock().take().unwrap(), proceed.lock().take().unwrap());
        begins.send(()).unwrap();
        async move {
            proceed.await.unwrap();
            Some(packet)
        }
    });
    let server = unwrapping().bind("127.0.0.1:0", handlers).await.unwrap();
    let (address, stats) = (server.local_addr(), server.stats());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { stopped.await.unwrap() }));
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"x").await.unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(&[b"x", PACKET].concat()).await.unwrap();
    started.await.unwrap();
    while stats.opened() < 2 {
        tokio::task::yield_now().await;
    }
    stop.send(()).unwrap();
    assert_eq!(idle.read(&mut [0]).await.unwrap(), 0, "idle connection should be closed immediately");
    proceeds.send(()).unwrap();
    let mut reply = Vec::new();
    socket.read_to_end(&mut reply).await.unwrap();
    // Skip heartbeats, which precede the packet on a slow machine.
    let mut rest = &reply[..];
    while let Some(after) = rest.strip_prefix(HEARTBEAT) {
        rest = after;
    }
    assert_eq!(rest, PACKET);
    tokio::time::timeout(LIMIT, serving).await.expect("future should complete within the timeout").unwrap().unwrap();
    assert_eq!(stats.open(), 0);
}

#[tokio::test]
async fn connections_within_gateway_share_its_memory_account() {
    let (shows, shown) = oneshot::channel();
    let shows = Arc::new(parking_lot::Mutex::new(Some(shows)));
    let question = Operation::user(10).expect("operation number should be above the reserved range");
    let handlers = Handlers::new().on(question, move |connection, packet| {
        shows.lock().take().unwrap().send(connection.is_overloaded()).unwrap();
        async { Some(packet) }
    });
    let builder = Server::builder().memory_max(1 << 20).adapter(
        |_| true,
        async |mut transport, context: AdapterContext| {
            transport.read_u8().await?;
            let _hold = context.charge(1 << 20);
            context.serve_frames(transport).await;
            Ok(())
        },
    );
    let acceptor = builder.build(handlers).unwrap();
    let (mut here, there) = crate::memory();
    here.write_all(&[b"x", PACKET].concat()).await.unwrap();
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    // Plain handlers cannot reject a client that exceeds its share, so its connection is closed.
    let overloaded = tokio::time::timeout(LIMIT, shown).await.expect("future should complete within the timeout");
    assert_ne!(overloaded.ok(), Some(false));
    drop(here);
    assert!(!matches!(serving.await.unwrap(), CloseReason::OtherProtocol));
}
