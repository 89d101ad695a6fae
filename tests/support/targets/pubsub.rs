//! Fuzz targets for publish and subscribe: a broker with a hostile client, and a client with a hostile broker.

use super::peer::{HANGS, Manner, attack_bytes, hello, pipe, run, say};
use frisbee::Connection;
use frisbee_pubsub::{
    Broker, Client, ClientRouter, FIRST_OPERATION, History, OPERATIONS, PubSubError, RecvError, SlowSubscriberPolicy,
    Start,
};
use std::time::Duration;

/// Maps a byte to an operation of the base protocol, or of publish and subscribe.
fn operation(byte: u8) -> u16 {
    let count = OPERATIONS.end() - FIRST_OPERATION + 1;
    if byte < 10 { byte.into() } else { FIRST_OPERATION + u16::from(byte) % count }
}

/// Sends arbitrary bytes to a broker with low limits. In some cases, another client subscribes to all topics. Checks
/// that no state remains.
pub fn broker(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    run(async move {
        let settings = Broker::builder().queue_max(2 * 1024).memory_max(8 * 1024).per_connection_max(16).total_max(24);
        let settings = settings.slow(if manner.0 & 8 == 0 {
            SlowSubscriberPolicy::DropOldest
        } else {
            SlowSubscriberPolicy::Disconnect
        });
        let settings = settings.history("a.>", History::last(3)).history_memory_max(4 * 1024).history_topics_max(3);
        let broker = settings.presence("a.*", |_| Some("ada".to_owned())).build();
        let acceptor = frisbee::Server::builder().memory_max(64 * 1024).build(broker.clone()).unwrap();
        let stats = acceptor.stats();
        let (mut here, there) = pipe();
        let serving = tokio::spawn({
            let acceptor = acceptor.clone();
            async move { acceptor.serve_connection(there).await }
        });
        let reader = if manner.other() { Some(read_everything(acceptor).await) } else { None };
        say(&mut here, &attack_bytes(manner, &hello(), data, operation), manner).await;
        drop(here);
        let closed = tokio::time::timeout(HANGS, serving).await;
        closed.expect("connection should end in time").expect("broker should not panic");
        if let Some(reader) = reader {
            assert_eq!(broker.waiting(), 0, "reading subscriber should have received all messages");
            reader.abort();
        }
        while stats.open() > 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let left = (broker.subscriptions(), broker.waiting(), stats.memory_held());
        // A history may remain, but a short one is not charged.
        assert_eq!(left, (0, 0, 0), "no state should be left");
        assert!(broker.history_memory() <= 4 * 1024 + 3 * HISTORY_COST, "{} bytes of history", broker.history_memory());
    });
}

/// Maximum memory in bytes of a topic with history, without its messages.
const HISTORY_COST: usize = 600;

/// Connects a client that subscribes to all topics and reads all messages.
async fn read_everything(acceptor: frisbee::Acceptor<Broker>) -> Connection {
    let (here, there) = pipe();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let router = ClientRouter::new();
    let client = router.client();
    let connection =
        frisbee::Client::builder().connect_io(here, router).await.expect("connection in memory should be accepted");
    let mut all = client.subscribe(">").await.expect("broker should accept the subscription");
    tokio::spawn(async move { while !matches!(all.recv().await, Err(RecvError::Closed(_))) {} });
    connection
}

/// Sends arbitrary bytes to a client that subscribes, publishes and reads.
pub fn subscriber(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    run(async move {
        let (here, mut there) = pipe();
        let router = ClientRouter::new();
        let client = router.client();
        let connection =
            frisbee::Client::builder().connect_io(here, router).await.expect("connection in memory should be accepted");
        let using = tokio::spawn(async move {
            let [plain, member, follower] =
                [Kind::Plain, Kind::Member, Kind::Follower].map(|kind| subscribe(&client, kind));
            let _ = tokio::join!(plain, member, follower, client.publish("a.b", "x"));
            let _ = client.sync().await;
        });
        say(&mut there, &attack_bytes(manner, &hello(), data, operation), manner).await;
        drop(there);
        let ended = tokio::time::timeout(2 * HANGS, using).await;
        ended.expect("every wait should end").expect("client should not panic");
        connection.abort();
        connection.closed().await;
    });
}

#[derive(Clone, Copy)]
enum Kind {
    Plain,
    Member,
    Follower,
}

async fn subscribe(client: &Client, kind: Kind) -> Result<(), PubSubError> {
    let mut messages = match kind {
        Kind::Plain => client.subscribe("a.>").await?,
        Kind::Member => client.queue_subscribe("*.b", "group").await?,
        Kind::Follower => client.subscribe_from("a.*", Start::Oldest).await?,
    };
    let read = async {
        // If messages were lost, the subscription continues after them.
        while !matches!(messages.recv().await, Err(RecvError::Closed(_))) {}
    };
    let _ = tokio::time::timeout(Duration::from_secs(5), read).await;
    Ok(())
}
