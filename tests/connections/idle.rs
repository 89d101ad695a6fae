//! Tests, in virtual time, of when a connection counts as idle. A connection that carries only keepalive packets is
//! idle.

use bytes::Bytes;
use frisbee::{
    Client, Connection, ConnectionEvent, Operation, Outbox, Packet, PacketId, Routed, Router, Server, Stream,
};
use frisbee_tests::far_apart;
use frisbee_tests::raw::packet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

/// Several times the silence after which a connection counts as idle.
const SILENCE: Duration = Duration::from_secs(8);

/// A protocol that accepts packets, keeps streams, and counts how often its connection became idle.
#[derive(Clone, Default)]
struct Counting {
    unused: Arc<AtomicUsize>,
    connection: Arc<OnceLock<Connection>>,
}

impl Counting {
    fn unused(&self) -> usize {
        self.unused.load(Ordering::Relaxed)
    }

    async fn send(&self) {
        let message = Packet::new(PacketId(1), Operation::FIRST_USER, Bytes::from_static(b"message"));
        self.connection
            .get()
            .expect("connection should be established")
            .send(&message)
            .await
            .expect("message should be sent");
    }
}

impl Router for Counting {
    type Session = Vec<Stream>;

    fn connected(&self, connection: &Connection) -> Vec<Stream> {
        self.connection.set(connection.clone()).expect("connection should be set once");
        Vec::new()
    }

    fn route(&self, _: &mut Vec<Stream>, _: Packet, _: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn stream(&self, session: &mut Vec<Stream>, _: Bytes, stream: Stream) -> Routed {
        session.push(stream);
        Routed::Continue
    }

    fn event(&self, _: &mut Vec<Stream>, event: &mut ConnectionEvent<'_>) {
        if matches!(event, ConnectionEvent::Idle) {
            self.unused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn unused(ends: &[Counting; 2]) -> [usize; 2] {
    ends.each_ref().map(Counting::unused)
}

/// Returns the client and the server of a connection with the given latency.
async fn connect(apart: Duration) -> [Counting; 2] {
    let (here, there) = far_apart(apart);
    let ends: [Counting; 2] = Default::default();
    let server = Server::builder().build(ends[1].clone()).unwrap();
    tokio::spawn(async move { server.serve_connection(there).await });
    Client::builder().connect_io(here, ends[0].clone()).await.expect("connection in memory should be accepted");
    // The server has accepted the connection once the packets have arrived there.
    sleep(apart * 3 + Duration::from_millis(1)).await;
    ends
}

#[tokio::test(start_paused = true)]
async fn silent_connection_is_unused_at_any_latency() {
    for millis in [0, 1, 20, 300] {
        let ends = connect(Duration::from_millis(millis)).await;
        for round in 1..=4 {
            ends[round % 2].send().await;
            sleep(SILENCE).await;
            assert_eq!(
                unused(&ends),
                [round; 2],
                "connection with {millis} ms latency should become idle once after each use"
            );
        }
        sleep(10 * SILENCE).await;
        assert_eq!(unused(&ends), [4; 2], "unused connection with {millis} ms latency should not become idle again");
    }
}

#[tokio::test(start_paused = true)]
async fn sending_end_keeps_connection_in_use() {
    for sender in 0..2 {
        let ends = connect(Duration::from_millis(20)).await;
        for _ in 0..100 {
            ends[sender].send().await;
            sleep(Duration::from_millis(700)).await;
        }
        assert_eq!(unused(&ends), [0, 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn client_sending_only_pings_is_idle() {
    let (mut here, there) = frisbee::memory();
    let end = Counting::default();
    let server = Server::builder().build(end.clone()).unwrap();
    tokio::spawn(async move { server.serve_connection(there).await });
    here.write_all(&packet(1, 10, b"message")).await.expect("write should succeed");
    for _ in 0..16 {
        here.write_all(&packet(1, 0, &[])).await.expect("write should succeed");
        sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(end.unused(), 1);
}

#[tokio::test(start_paused = true)]
async fn silent_stream_is_idle_unlike_running_handler() {
    let ends = connect(Duration::from_millis(20)).await;
    let client = ends[0].connection.get().expect("connection should be established").clone();
    let stream = client.open_stream(&Bytes::from_static(b"first")).await.expect("stream should open");
    sleep(SILENCE).await;
    assert_eq!(unused(&ends), [1, 1]);
    client.spawn(sleep(3 * SILENCE));
    ends[0].send().await;
    sleep(2 * SILENCE).await;
    assert_eq!(unused(&ends), [1, 2], "client should not be idle while a task runs there");
    sleep(2 * SILENCE).await;
    assert_eq!(unused(&ends), [2, 2]);
    drop(stream);
}
