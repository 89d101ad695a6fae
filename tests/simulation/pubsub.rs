//! Tests of which messages subscribers receive from a broker that crashes.

use frisbee::{Connection, Server};
use frisbee_pubsub::{Broker, Client, ClientRouter, RecvError, Subscription};
use frisbee_sim::{Faults, World, sim_test};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Time for which the publisher publishes.
const TIME: Duration = Duration::from_secs(12);

/// Time in which a silent network is noticed.
const SILENCE: Duration = Duration::from_secs(25);

async fn client(world: &World, node: &str) -> Option<(Client, Connection)> {
    let transport = world.node(node).process().dial("broker").await.ok()?;
    let router = ClientRouter::new();
    let client = router.client();
    let connection = frisbee::Client::builder().connect_io(transport, router).await.ok()?;
    Some((client, connection))
}

async fn subscription(client: &Client) -> Option<Subscription> {
    timeout(SILENCE, client.subscribe("numbers"))
        .await
        .expect("subscription should be accepted within the timeout")
        .ok()
}

/// The numbers that a broker has accepted.
type Published = Arc<Mutex<BTreeSet<u64>>>;

async fn publish(world: World, published: Published) {
    let mut number = 0;
    while world.elapsed() < TIME {
        if let Some((client, connection)) = client(&world, "publisher").await {
            while world.elapsed() < TIME {
                number += 1;
                let sending = async {
                    client.publish("numbers", number.to_string()).await.ok()?;
                    client.sync().await.ok()
                };
                if timeout(SILENCE, sending).await.expect("write should complete within the timeout").is_none() {
                    break;
                }
                published.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
                sleep(Duration::from_millis(50)).await;
            }
            connection.close();
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Receives the messages of a subscription. Checks that they are in order, and that no number is missing that the
/// broker has accepted in between.
async fn listen(world: World, node: String, published: Published) -> usize {
    let mut received = 0;
    while world.elapsed() < TIME {
        if let Some((client, connection)) = client(&world, &node).await {
            if let Some(mut subscription) = subscription(&client).await {
                let mut last = None;
                while let Ok(message) = timeout(SILENCE, subscription.recv()).await {
                    let message = match message {
                        Ok(message) => message,
                        Err(RecvError::Closed(_)) => break,
                        Err(error) => panic!("subscriber should lose no messages: {error}"),
                    };
                    let text = String::from_utf8_lossy(message.payload()).into_owned();
                    let number: u64 = text.parse().expect("text should be a number");
                    world.note(format!("{node} hears {number}"));
                    if let Some(last) = last {
                        let published = published.lock().unwrap_or_else(PoisonError::into_inner);
                        assert!(number > last, "{number} follows {last}");
                        let missed = published.range(last + 1..number).next();
                        assert_eq!(missed, None, "{node} should not miss a message between {last} and {number}");
                    }
                    last = Some(number);
                    received += 1;
                }
            }
            connection.close();
        }
        sleep(Duration::from_millis(100)).await;
    }
    received
}

#[sim_test(seeds = 24)]
async fn subscription_delivers_all_or_ends(world: World) {
    world.node("broker").start(|process| async move {
        let acceptor = Server::builder().build(Broker::new()).expect("settings should be valid");
        process.accept(move |transport| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.serve_connection(transport).await) }
        });
    });
    world.inject(Faults::drawn(5, ["broker"]).peers(["publisher", "one", "other"]));
    let published = Published::default();
    let listening =
        ["one", "other"].map(|node| tokio::spawn(listen(world.clone(), node.to_owned(), published.clone())));
    publish(world.clone(), published).await;
    for listener in listening {
        assert!(listener.await.expect("task should not panic") > 0, "messages should be received");
    }
}
