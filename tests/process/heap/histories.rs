//! Tests of the memory of topics: the values in docs/resume.md, and the charges of the broker.

use super::allocator::live;
use frisbee::{Acceptor, Server, memory};
use frisbee_pubsub::{Broker, BrokerBuilder, ClientRouter, History};
use frisbee_tests::process::ran_alone;

const TOPICS: usize = 10_000;

/// Length of a payload and of a topic in bytes.
const PAYLOAD: usize = 32;
const TOPIC: usize = "prices.00000".len();

/// Publishes `messages` messages to each topic. Returns two values per topic: the number of bytes that the broker
/// holds, and the number that it charges for histories.
async fn held(broker: BrokerBuilder, messages: usize) -> (usize, usize) {
    let broker = broker.build();
    let acceptor = Server::builder().build(broker.clone()).expect("settings should be valid");
    // The first connection causes allocations that all connections share.
    publish(&acceptor, 1, 1).await;
    let before = live();
    publish(&acceptor, TOPICS, messages).await;
    let held = live().saturating_sub(before);
    (held / TOPICS, broker.history_memory() / TOPICS)
}

/// Publishes over a connection. It has ended when this function returns.
async fn publish(acceptor: &Acceptor<Broker>, topics: usize, messages: usize) {
    let (ours, theirs) = memory();
    let acceptor = acceptor.clone();
    let serving = tokio::spawn(async move { acceptor.serve_connection(theirs).await });
    let router = ClientRouter::new();
    let client = router.client();
    let connection =
        frisbee::Client::builder().connect_io(ours, router).await.expect("connection in memory should be accepted");
    for topic in 0..topics {
        let publisher = client.publisher(&format!("prices.{topic:05}")).expect("topic should be valid");
        for _ in 0..messages {
            publisher.publish(vec![b'x'; PAYLOAD]).await.expect("broker should accept the message");
        }
    }
    client.sync().await.expect("broker should confirm all messages");
    connection.close();
    connection.closed().await;
    let _ = serving.await.expect("broker should not panic");
}

#[tokio::test(flavor = "current_thread")]
async fn topic_takes_memory_that_is_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let (held_without, charged_without) = held(Broker::builder(), 1).await;
    println!("a topic without history takes {held_without} bytes");
    assert_eq!((held_without / 16, charged_without), (0, 0));
    for messages in [1, 10] {
        let history = Broker::builder().history("prices.>", History::last(messages));
        let (held, charged) = held(history, messages).await;
        println!("a topic with {messages} messages of {PAYLOAD} bytes takes {held} bytes, charged as {charged}");
        let stated = 300 + TOPIC + messages * (80 + PAYLOAD + TOPIC + 1);
        assert!(
            held <= charged && charged <= stated,
            "histories hold {held} bytes, {charged} are charged, and {stated} are stated"
        );
        assert!(charged < 2 * held, "histories hold {held} bytes, and {charged} are charged");
    }
}
