//! Targets of publishing and subscribing: a broker with a hostile client, a client with a broker that lies.

use super::peer::{HANGS, Manner, hello, pipe, run, say, told};
use frisbee::Connection;
use frisbee_pubsub::{Broker, Client, ClientRouter, FIRST_OPERATION, OPERATIONS, PubSubError, RecvError, Slow};
use std::time::Duration;

/// The protocol's own operations, and those of publishing and subscribing.
fn operation(byte: u8) -> u16 {
    let count = OPERATIONS.end() - FIRST_OPERATION + 1;
    if byte < 10 { byte.into() } else { FIRST_OPERATION + u16::from(byte) % count }
}

/// A client sends any bytes to a broker that is small, alone or with a client that has subscribed to everything. No
/// state may remain.
pub fn broker(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    run(async move {
        let settings = Broker::builder().queue_max(2 * 1024).memory_max(8 * 1024).per_connection_max(16).total_max(24);
        let broker = settings.slow(if manner.0 & 8 == 0 { Slow::DropOldest } else { Slow::Disconnect }).build();
        let acceptor = frisbee::Server::builder().memory_max(64 * 1024).build(broker.clone()).unwrap();
        let stats = acceptor.stats();
        let (mut here, there) = pipe();
        let serving = tokio::spawn({
            let acceptor = acceptor.clone();
            async move { acceptor.serve_connection(there).await }
        });
        let reader = if manner.other() { Some(read_everything(acceptor).await) } else { None };
        say(&mut here, &told(manner, &hello(), data, operation), manner).await;
        drop(here);
        let closed = tokio::time::timeout(HANGS, serving).await;
        closed.expect("the connection ends").expect("the broker does not panic");
        if let Some(reader) = reader {
            assert_eq!(broker.waiting(), 0, "who reads has got all of it");
            reader.abort();
        }
        while stats.open() > 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let left = (broker.subscriptions(), broker.waiting(), stats.memory_held());
        assert_eq!(left, (0, 0, 0), "something is left");
    });
}

/// A client that has subscribed to everything, and reads.
async fn read_everything(acceptor: frisbee::Acceptor<Broker>) -> Connection {
    let (here, there) = pipe();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let router = ClientRouter::new();
    let client = router.client();
    let connection = frisbee::Client::builder().connect_io(here, router).await.expect("nothing is wrong");
    let mut all = client.subscribe(">").await.expect("there is room for one");
    tokio::spawn(async move { while !matches!(all.recv().await, Err(RecvError::Closed(_))) {} });
    connection
}

/// A broker sends any bytes to a client that subscribes, publishes and reads.
pub fn subscriber(data: &[u8]) {
    let Some((manner, data)) = Manner::of(data) else { return };
    run(async move {
        let (here, mut there) = pipe();
        let router = ClientRouter::new();
        let client = router.client();
        let connection = frisbee::Client::builder().connect_io(here, router).await.expect("nothing is wrong");
        let using = tokio::spawn(async move {
            let _ = tokio::join!(subscribe(&client, false), subscribe(&client, true), client.publish("a.b", "x"));
            let _ = client.sync().await;
        });
        say(&mut there, &told(manner, &hello(), data, operation), manner).await;
        drop(there);
        let ended = tokio::time::timeout(2 * HANGS, using).await;
        ended.expect("every wait ends").expect("the client does not panic");
        connection.abort();
        connection.closed().await;
    });
}

async fn subscribe(client: &Client, in_group: bool) -> Result<(), PubSubError> {
    let mut messages = match in_group {
        false => client.subscribe("a.>").await?,
        true => client.queue_subscribe("*.b", "group").await?,
    };
    let read = async {
        // Some are lost, the subscription continues.
        while !matches!(messages.recv().await, Err(RecvError::Closed(_))) {}
    };
    let _ = tokio::time::timeout(Duration::from_secs(5), read).await;
    Ok(())
}
