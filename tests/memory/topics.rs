//! Tests of the memory that subscribers and open streams make a server hold.

use super::attackers::{MIB, WaitingService, server, unhurried};
use frisbee::{Acceptor, Server};
use frisbee_pubsub::{Broker, Client, ClientRouter, FIRST_OPERATION};
use frisbee_tests::raw::packet;
use frisbee_tests::until;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Serves a broker with the given memory limit.
fn serve(broker: &Broker, memory_max: usize) -> Acceptor<Broker> {
    Server::builder()
        .config(unhurried())
        .memory_max(memory_max)
        .build(broker.clone())
        .expect("server should have no overlapping routers")
}

fn peer(acceptor: &Acceptor<Broker>, pipe: usize) -> DuplexStream {
    let (here, there) = tokio::io::duplex(pipe);
    let acceptor = acceptor.clone();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    here
}

async fn client(acceptor: &Acceptor<Broker>) -> Client {
    let router = ClientRouter::new();
    let client = router.client();
    let connection = frisbee::Client::builder().connect_io(peer(acceptor, MIB), router).await;
    // The connection stays open because its handles are never dropped.
    std::mem::forget(connection.expect("connection in memory should succeed"));
    client
}

fn subscribe(id: u16, pattern: &str) -> Vec<u8> {
    let name = [&[u8::try_from(pattern.len()).expect("length should fit u8")], pattern.as_bytes()].concat();
    packet(id, FIRST_OPERATION, &name)
}

#[tokio::test]
async fn unread_subscriber_queues_stay_within_server_memory() {
    let broker = Broker::new();
    let acceptor = serve(&broker, 8 * MIB);
    let stats = acceptor.stats();
    let mut stalled = Vec::new();
    for _ in 0..32 {
        let mut one = peer(&acceptor, 1024);
        one.write_all(&subscribe(1, "topic")).await.expect("write should succeed");
        stalled.push(one);
    }
    until("all peers have subscribed", || broker.subscriptions() == 32).await;
    let (publisher, subscriber) = (client(&acceptor).await, client(&acceptor).await);
    let mut messages = subscriber.subscribe("topic").await.expect("broker should accept the subscription");
    for number in 0..4096_u32 {
        let payload = [&number.to_be_bytes()[..], &[0; 1000]].concat();
        publisher.publish("topic", payload).await.expect("broker should accept the message");
        let message = messages.recv().await.expect("channel should stay open");
        assert_eq!(message.payload()[..4], number.to_be_bytes());
    }
    // The broker could hold 4 MiB for each of 32 subscribers.
    assert!(broker.waiting() < 8 * MIB, "broker has queued {} bytes", broker.waiting());
    let held = stats.memory_held();
    assert!((2 * MIB..8 * MIB).contains(&held), "broker holds {held} bytes");
    drop((stalled, messages));
    until("no messages are queued", || broker.waiting() == 0).await;
}

#[tokio::test]
async fn subscriptions_without_memory_are_refused_until_release() {
    let broker = Broker::new();
    let acceptor = serve(&broker, 8 * MIB);
    let stats = acceptor.stats();
    let subscriber = client(&acceptor).await;
    let mut peers = Vec::new();
    for peer_number in 0..16 {
        let mut one = peer(&acceptor, MIB);
        let deep = |id| format!("{peer_number}.{id}.c.d.e.f.g.h.i.j.k.l.m.n.o.p");
        let all: Vec<_> = (1..=1024).flat_map(|id| subscribe(id, &deep(id))).collect();
        one.write_all(&all).await.expect("write should succeed");
        peers.push(one);
    }
    let mut answers = vec![0; 10 * 1024 * 16];
    for one in &mut peers {
        one.read_exact(&mut answers[..10 * 1024]).await.expect("peer should send the expected bytes");
    }
    let held = stats.memory_held();
    assert!((4 * MIB..8 * MIB).contains(&held), "broker holds {held} bytes for {}", broker.subscriptions());
    assert!(broker.subscriptions() < 2048, "{}", broker.subscriptions());
    drop(subscriber.subscribe("topic").await.expect("broker should accept the subscription"));
    drop(peers);
    until("all subscriptions have ended", || broker.subscriptions() == 0).await;
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn open_streams_are_charged_until_dropped() {
    let (service, _release) = WaitingService::new(0);
    let acceptor = server(service, MIB);
    let stats = acceptor.stats();
    let mut peers = Vec::new();
    for _ in 0..8 {
        let mut one = super::attackers::peer(&acceptor);
        // The method accepts a stream of messages, but none are sent.
        let opens: Vec<_> = (1..=256).flat_map(|id| packet(id, 2, &[9, 23])).collect();
        one.write_all(&opens).await.expect("write should succeed");
        peers.push(one);
    }
    until("a stream is rejected", || stats.rejected() > 0).await;
    let held = stats.memory_held();
    assert!((MIB / 2..MIB).contains(&held), "broker holds {held} bytes");
    super::attackers::Witness::of(&acceptor).await.is_served(10).await;
    drop(peers);
    until("no memory is held", || stats.memory_held() == 0).await;
}
