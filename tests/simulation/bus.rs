//! Tests of brokers on a shared bus that fails and loses frames. They check which messages and losses are reported to
//! subscribers at each broker.

use frisbee::{Connection, Server};
use frisbee_pubsub::{Broker, BrokerBuilder, Client, ClientRouter, History, MemoryBus, RecvError, Start, Subscription};
use frisbee_sim::{Cable, World, sim_test};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const BROKERS: usize = 3;

const MESSAGES: u64 = 120;

/// Patterns to which each connection subscribes. All of them match every topic.
const PATTERNS: [&str; 3] = ["numbers.*.x", "numbers.>", ">"];

/// Time of silence after which no more messages will arrive.
const SILENCE: Duration = Duration::from_secs(30);

fn broker(at: usize) -> String {
    format!("broker {at}")
}

async fn serve(world: &World, bus: &MemoryBus, settings: &BrokerBuilder) {
    for at in 0..BROKERS {
        let acceptor = Server::builder().build(settings.clone().backplane(bus.member()).build());
        let acceptor = acceptor.expect("broker should be valid");
        world.node(&broker(at)).start(move |process| {
            let acceptor = acceptor.clone();
            process.accept(move |transport| {
                let acceptor = acceptor.clone();
                async move { drop(acceptor.serve_connection(transport).await) }
            });
            std::future::ready(())
        });
    }
    // During this wait, the programs of the brokers start.
    sleep(Duration::from_millis(1)).await;
}

async fn client(world: &World, node: &str, at: usize) -> (Client, Connection) {
    let transport = world.node(node).process().dial(&broker(at)).await.expect("server should accept the connection");
    let router = ClientRouter::new();
    let client = router.client();
    let connection = frisbee::Client::builder()
        .connect_io(transport, router)
        .await
        .expect("connection in memory should be accepted");
    (client, connection)
}

/// Publishes increasing numbers, starting with 1. Waits after the first one, so that the bus has accepted it before
/// faults begin. Returns when the broker has accepted all numbers.
async fn publish(world: World, at: usize) {
    let (client, _connection) = client(&world, &format!("writer {at}"), at).await;
    for number in 1..=MESSAGES {
        client.publish(&format!("numbers.{at}.x"), number.to_string()).await.expect("broker should accept the message");
        sleep(Duration::from_millis(if number == 1 { 1_000 } else { world.draw(|rng| rng.u64(..40)) })).await;
    }
    client.sync().await.expect("broker should confirm all messages");
}

/// The numbers received from each topic, in order, and the number of messages reported as lost.
#[derive(Default)]
struct Received {
    numbers: BTreeMap<String, Vec<u64>>,
    missed: u64,
    /// Number of times that an unknown number of messages was reported as lost.
    unknown: u64,
}

async fn listen(mut subscription: Subscription) -> Received {
    let mut received = Received::default();
    while let Ok(message) = timeout(SILENCE, subscription.recv()).await {
        match message {
            Ok(message) => {
                let text = String::from_utf8_lossy(message.payload()).into_owned();
                let numbers = received.numbers.entry(message.topic().to_owned()).or_default();
                numbers.push(text.parse().expect("text should be a number"));
            }
            Err(RecvError::Lagged(count)) => received.missed += count,
            Err(RecvError::Reconnected) => received.unknown += 1,
            Err(error) => panic!("subscription should stay open: {error}"),
        }
    }
    received
}

/// Makes the bus fail and lose frames. At the end, it works again.
async fn trouble(world: World, bus: MemoryBus) {
    sleep(Duration::from_millis(1_500)).await;
    for _ in 0..world.draw(|rng| rng.u64(1..6)) {
        let (away, loss_rate, pause) = world.draw(|rng| (rng.u64(..800), rng.u64(..20), rng.u64(..500)));
        bus.lose(loss_rate);
        sleep(Duration::from_millis(pause)).await;
        bus.set_away(true);
        world.note("the bus is away");
        sleep(Duration::from_millis(away)).await;
        bus.set_away(false);
        world.note("the bus is back");
        sleep(Duration::from_millis(pause)).await;
    }
    sleep(Duration::from_secs(20)).await;
    // The frames that report losses may have been lost too. Reconnecting the brokers to the bus reports them again.
    bus.lose(0);
    bus.set_away(true);
    bus.set_away(false);
}

#[sim_test(seeds = 10)]
async fn accepted_messages_arrive_or_are_reported(world: World) {
    each_message_is_received_or_missed(world, &Broker::builder()).await;
}

#[sim_test(seeds = 10)]
async fn bus_histories_report_missing_messages(world: World) {
    each_message_is_received_or_missed(world, &Broker::builder().history("numbers.>", History::last(5))).await;
}

async fn each_message_is_received_or_missed(world: World, settings: &BrokerBuilder) {
    world.set_cables(Cable::default().latency(Duration::ZERO..=Duration::from_millis(5)).splits(0.2));
    let bus = MemoryBus::new();
    serve(&world, &bus, settings).await;
    let mut listeners = JoinSet::new();
    let mut followers = JoinSet::new();
    let mut connections = Vec::new();
    for at in 0..BROKERS {
        let (client, connection) = client(&world, &format!("reader {at}"), at).await;
        connections.push(connection);
        for pattern in PATTERNS {
            let subscription = client.subscribe(pattern).await.expect("broker should accept the subscription");
            listeners.spawn(listen(subscription));
        }
        let following =
            client.subscribe_from("numbers.>", Start::Now).await.expect("broker should accept the subscription");
        followers.spawn(listen(following));
    }
    let troubled = tokio::spawn(trouble(world.clone(), bus));
    let writers: Vec<_> = (0..BROKERS).map(|at| tokio::spawn(publish(world.clone(), at))).collect();
    for writer in writers {
        writer.await.expect("task should not panic");
    }
    troubled.await.expect("task should not panic");
    for received in listeners.join_all().await {
        assert_eq!(received.numbers.len(), BROKERS);
        for numbers in received.numbers.values() {
            assert_eq!(numbers.first(), Some(&1));
            assert!(
                numbers.is_sorted_by(|one, next| one < next),
                "messages should arrive once and in order: {numbers:?}"
            );
        }
        let count = received.numbers.values().map(Vec::len).sum::<usize>() as u64;
        assert_eq!(
            count + received.missed,
            MESSAGES * BROKERS as u64,
            "{count} messages were received, and {} missed",
            received.missed
        );
        assert_eq!(received.unknown, 0);
    }
    for received in followers.join_all().await {
        assert!(received.numbers.values().all(|numbers| numbers.is_sorted_by(|one, next| one < next)));
        let count = received.numbers.values().map(Vec::len).sum::<usize>() as u64 + received.missed;
        let is_stated = count == MESSAGES * BROKERS as u64 || received.unknown > 0;
        assert!(is_stated, "{count} messages were received or missed, but no loss was reported");
    }
    drop(connections);
}

#[sim_test(seeds = 10)]
async fn group_members_share_messages_across_brokers(world: World) {
    let bus = MemoryBus::new();
    serve(&world, &bus, &Broker::builder()).await;
    let got = Arc::new(Mutex::new(Vec::new()));
    let mut connections = Vec::new();
    for at in 0..BROKERS {
        let (client, connection) = client(&world, &format!("member {at}"), at).await;
        connections.push(connection);
        let mut jobs =
            client.queue_subscribe("numbers.>", "workers").await.expect("broker should accept the subscription");
        let got = got.clone();
        tokio::spawn(async move {
            while let Ok(message) = jobs.recv().await {
                got.lock().push((message.topic().to_owned(), message.into_payload()));
            }
        });
    }
    let writers: Vec<_> = (0..BROKERS).map(|at| tokio::spawn(publish(world.clone(), at))).collect();
    for writer in writers {
        writer.await.expect("task should not panic");
    }
    sleep(SILENCE).await;
    let mut got = std::mem::take(&mut *got.lock());
    got.sort();
    got.dedup();
    assert_eq!(got.len() as u64, MESSAGES * BROKERS as u64, "each message should be delivered to one group member");
    drop(connections);
}
