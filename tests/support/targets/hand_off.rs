//! Fuzz targets for hand-offs: a server with a hostile client, and a client with a hostile server.

use super::peer::{HANGS, Manner, attack_bytes, hello, pipe, run, say};
use bytes::Bytes;
use frisbee::{
    Client, Connection, HandOffRequest, HandOffTarget, Handlers, Operation, Outbox, Packet, PacketId, RawTransport,
    Routed, Router, Server, Stream,
};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// A router that hands off its connections, either when the client requests it or when a certain packet arrives.
struct Gateway;

async fn echo(raw: RawTransport) {
    let (mut read, mut write) = tokio::io::split(raw);
    let _ = tokio::io::copy(&mut read, &mut write).await;
    let _ = write.shutdown().await;
}

impl Router for Gateway {
    type Session = (Connection, Vec<Stream>);

    fn connected(&self, connection: &Connection) -> Self::Session {
        (connection.clone(), Vec::new())
    }

    fn route(&self, (connection, _): &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let _ = outbox.forward(&packet);
        match packet.body.first() {
            Some(0) => return Routed::HandOff(HandOffTarget::new(echo)),
            Some(1) => drop(connection.spawn(tokio::time::sleep(Duration::from_secs(1)))),
            Some(2) => {
                let connection = connection.clone();
                tokio::spawn(async move {
                    if let Ok(raw) = connection.into_transport().await {
                        echo(raw).await;
                    }
                });
            }
            _ => {}
        }
        Routed::Continue
    }

    fn stream(&self, (_, streams): &mut Self::Session, _first: Bytes, stream: Stream) -> Routed {
        streams.push(stream);
        Routed::Continue
    }

    fn hand_off(&self, _session: &mut Self::Session, request: HandOffRequest) -> Routed {
        match request.request().first() {
            Some(0) => request.accept("yours", HandOffTarget::new(echo)),
            Some(1) => request.refuse("mine"),
            Some(2) => request.busy(),
            Some(3) => {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    request.accept("yours, later", HandOffTarget::new(echo));
                });
            }
            _ => drop(request),
        }
        Routed::Continue
    }
}

/// Checks connections that are handed off at any time and then carry arbitrary bytes.
pub fn hand_off(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    let bytes = attack_bytes(manner, &hello(), data, u16::from);
    run(async move {
        if manner.other() { send_requests(manner, &bytes).await } else { serve_requests(manner, &bytes).await }
    });
}

async fn serve_requests(manner: Manner, bytes: &[u8]) {
    let acceptor = Server::builder().memory_max(64 * 1024).build(Gateway).unwrap();
    let stats = acceptor.stats();
    let (mut here, there) = pipe();
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    say(&mut here, bytes, manner).await;
    drop(here);
    let closed = tokio::time::timeout(HANGS, serving).await;
    closed.expect("connection should end in time").expect("gateway should not panic");
    // Let the router's tasks finish, because a pending request for a hand-off holds memory.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((stats.open(), stats.memory_held()), (0, 0), "something is left");
}

async fn send_requests(manner: Manner, bytes: &[u8]) {
    let (here, mut there) = pipe();
    let connection =
        Client::builder().connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
    let asking = tokio::spawn({
        let connection = connection.clone();
        async move {
            let _ = connection.peer_known().await;
            let _ = connection.send(&Packet::new(PacketId(1), Operation::FIRST_USER, "before")).await;
            if let Ok(accepted) = connection.hand_off(Operation::FIRST_USER, "give").await {
                echo(accepted.transport).await;
            }
        }
    });
    say(&mut there, bytes, manner).await;
    drop(there);
    let ended = tokio::time::timeout(HANGS, asking).await;
    ended.expect("call should end at its deadline").expect("client should not panic");
    connection.abort();
    connection.closed().await;
}
