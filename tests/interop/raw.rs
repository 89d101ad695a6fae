//! Tests of connections that become raw without a handshake. The peer is a Go program that calls `RawTransport()`.

use super::go::Peer;
use frisbee::{
    Client, Connection, HandOffTarget, Operation, Outbox, Packet, PacketId, RawTransport, Routed, Router, Server,
};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

const TIMEOUT: Duration = Duration::from_secs(20);

const TURN: Operation = Operation::FIRST_USER;
const GREETING: &[u8] = b"raw from here on\n";

/// A router that takes over the connection when a packet of [`TURN`] arrives. A server echoes this packet first.
struct RawRouter {
    echoes: bool,
    sender: Mutex<Option<oneshot::Sender<RawTransport>>>,
}

impl Router for RawRouter {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        if self.echoes {
            outbox.forward(&packet).unwrap();
        }
        let sender = self.sender.lock().take().expect("connection should be taken once");
        Routed::HandOff(HandOffTarget::new(async move |raw| drop(sender.send(raw))))
    }
}

/// Reads the greeting. A Go program sends PINGs until it calls `RawTransport()`, so PINGs may follow the last packet.
async fn expect_greeting(raw: &mut RawTransport) {
    let reading = async {
        let mut head = [0; 10];
        raw.read_exact(&mut head).await.unwrap();
        while head.starts_with(&[0, 0x0F]) {
            assert!(head[5] <= 1, "packet should be PING or PONG: {head:?}");
            raw.read_exact(&mut head).await.unwrap();
        }
        let mut rest = vec![0; GREETING.len() - head.len()];
        raw.read_exact(&mut rest).await.unwrap();
        assert_eq!([&head[..], &rest].concat(), GREETING);
    };
    tokio::time::timeout(TIMEOUT, reading).await.expect("read should complete within the timeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn go_server_echoes_bytes_after_hand_off() {
    let Some(peer) = Peer::raw() else { return };
    let server = peer.serve().await;
    let (sender, raw) = oneshot::channel();
    let router = RawRouter { echoes: false, sender: Mutex::new(Some(sender)) };
    let connection = Client::builder().connect(&server.address, router).await.unwrap();
    // A PONG may be in flight until the kind of the peer is known.
    connection.peer_known().await.unwrap();
    connection.send(&Packet::new(PacketId(1), TURN, "")).await.unwrap();
    let raw = tokio::time::timeout(TIMEOUT, raw).await.expect("transport should arrive within the timeout");
    let mut raw = raw.expect("peer should accept the request");
    expect_greeting(&mut raw).await;
    let sent: Vec<u8> = (0_u32..1 << 18).flat_map(u32::to_le_bytes).collect();
    let (mut read, mut write) = tokio::io::split(raw);
    let mut back = vec![0; sent.len()];
    let (written, read) = tokio::join!(write.write_all(&sent), read.read_exact(&mut back));
    written.unwrap();
    read.unwrap();
    assert!(back == sent, "echoed bytes should equal the sent ones");
}

#[tokio::test(flavor = "multi_thread")]
async fn go_client_gets_echo_after_hand_off() {
    let Some(peer) = Peer::raw() else { return };
    let (sender, raw) = oneshot::channel();
    let router = RawRouter { echoes: true, sender: Mutex::new(Some(sender)) };
    let server = Server::builder().bind("127.0.0.1:0", router).await.unwrap();
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let echoing = tokio::spawn(async move {
        let mut raw = raw.await.expect("peer should request the connection");
        expect_greeting(&mut raw).await;
        raw.write_all(GREETING).await.unwrap();
        let (mut read, mut write) = tokio::io::split(raw);
        let _ = tokio::io::copy(&mut read, &mut write).await;
    });
    peer.call(&address, &[], 1).await;
    echoing.await.unwrap();
}
