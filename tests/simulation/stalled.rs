//! Tests of subscribers that stop reading for a while. Their losses must be reported, and other subscribers must lose
//! nothing.

use frisbee::{Config, Connection, Server};
use frisbee_pubsub::{Broker, BrokerBuilder, Client, ClientRouter, RecvError, SlowSubscriberPolicy, Subscription};
use frisbee_sim::{Cable, World, sim_test};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const READERS: [&str; 3] = ["one", "two", "three"];

const MESSAGES: usize = 200;

/// Length of a message in bytes.
const LENGTH: usize = 4 * 1024;

const QUEUE_MAX: usize = 64 * 1024;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns settings with long timeouts, so that the broker handles a stalled peer before the connection does.
fn config() -> Config {
    Config::default().write_timeout(10 * TIMEOUT).idle_timeout(10 * TIMEOUT)
}

pub(crate) fn serve(world: &World, builder: BrokerBuilder, config: Config) -> Broker {
    let broker = builder.build();
    let acceptor = Server::builder().config(config).build(broker.clone()).expect("settings should be valid");
    world.node("broker").start(move |process| {
        let acceptor = acceptor.clone();
        process.accept(move |transport| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.serve_connection(transport).await) }
        });
        std::future::ready(())
    });
    broker
}

pub(crate) async fn client(world: &World, node: &str, config: Config) -> (Client, Connection) {
    let transport = world.node(node).process().dial("broker").await.expect("server should accept the connection");
    let router = ClientRouter::new();
    let client = router.client();
    let connection = frisbee::Client::builder().config(config).connect_io(transport, router).await;
    (client, connection.expect("broker should answer"))
}

/// Returns the number in the next message, or the number of messages that were lost before it.
async fn next(ticks: &mut Subscription) -> Result<u64, RecvError> {
    let message = timeout(TIMEOUT, ticks.recv()).await.expect("message should arrive within the timeout")?;
    let (number, _) = message.payload().split_first_chunk().expect("payload should begin with a number");
    Ok(u64::from_be_bytes(*number))
}

/// Publishes while one subscriber is stalled and the others read everything.
async fn publish_next_to_stalled_subscriber(world: &World) -> (Client, Connection, Subscription) {
    world.set_cables(Cable::default().capacity(8 * 1024));
    let (client_of_stalled, connection) = client(world, "stalled", config()).await;
    let stalled = client_of_stalled.subscribe("ticks").await.expect("broker should accept the subscription");
    let mut readers = JoinSet::new();
    for node in READERS {
        let (reader, _) = client(world, node, config()).await;
        let mut ticks = reader.subscribe("ticks").await.expect("broker should accept the subscription");
        readers.spawn(async move {
            for number in 0..MESSAGES as u64 {
                assert_eq!(next(&mut ticks).await.expect("reading subscriber should lose no message"), number);
            }
            drop(reader);
        });
    }
    world.node("stalled").pause();
    let (writer, _) = client(world, "writer", config()).await;
    for number in 0..MESSAGES as u64 {
        let mut payload = number.to_be_bytes().to_vec();
        payload.resize(LENGTH, 0);
        writer.publish("ticks", payload).await.expect("broker should accept the message");
        let pause = world.draw(|rng| rng.u64(20..60));
        sleep(Duration::from_millis(pause)).await;
    }
    readers.join_all().await;
    (client_of_stalled, connection, stalled)
}

#[sim_test(seeds = 10)]
async fn stalled_subscriber_alone_loses_oldest_messages(world: World) {
    let broker = serve(&world, Broker::builder().queue_max(QUEUE_MAX), config());
    let (_client, _connection, mut stalled) = publish_next_to_stalled_subscriber(&world).await;
    assert!(broker.waiting() <= QUEUE_MAX, "broker has queued {} bytes", broker.waiting());
    // When the subscriber reads again, it receives the messages sent before, the number of lost messages, and the
    // latest messages.
    world.node("stalled").resume();
    let (mut expected, mut lost, mut behind_loss) = (0, 0, 0);
    while expected < MESSAGES as u64 {
        match next(&mut stalled).await {
            Ok(number) => {
                assert_eq!(number, expected);
                expected += 1;
                behind_loss += usize::from(lost > 0);
            }
            Err(RecvError::Lagged(count)) => {
                lost += count;
                expected += count;
            }
            Err(error) => panic!("subscription should stay open: {error}"),
        }
    }
    assert!(lost > 0, "messages should exceed the buffers of the network");
    assert!(behind_loss * LENGTH <= QUEUE_MAX, "{behind_loss} messages were queued");
}

#[sim_test(seeds = 10)]
async fn stalled_subscriber_is_closed_if_configured(world: World) {
    let broker = serve(&world, Broker::builder().queue_max(QUEUE_MAX).slow(SlowSubscriberPolicy::Disconnect), config());
    let (_client, connection, _stalled) = publish_next_to_stalled_subscriber(&world).await;
    world.node("stalled").resume();
    timeout(TIMEOUT, connection.closed()).await.expect("connection should close within the timeout");
    world.eventually("no state is left", TIMEOUT, || (broker.subscriptions(), broker.waiting()) == (0, 0)).await;
}
