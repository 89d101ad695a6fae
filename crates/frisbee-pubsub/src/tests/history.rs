//! Tests of subscriptions that use a history over connections that break. Each message arrives once and in order, or is
//! reported as missing.

use frisbee::{Acceptor, BODY_MAX_LEAST, Config, SendError, Server, memory};
use frisbee_pubsub::{
    Broker, BrokerBuilder, Client, History, MemoryBus, PubSubError, RecvError, Start, Subscription, TopicUse,
};
use parking_lot::Mutex;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Simulated path to a broker, which can be interrupted.
#[derive(Clone)]
struct Line(Arc<Mutex<State>>);

struct State {
    /// Acceptor of the reachable broker, or `None` if no broker is reachable.
    acceptor: Option<Acceptor<Broker>>,
    serving: Vec<AbortHandle>,
}

impl Line {
    fn new(broker: BrokerBuilder) -> Self {
        Self(Arc::new(Mutex::new(State { acceptor: Some(acceptor(broker)), serving: Vec::new() })))
    }

    async fn client(&self) -> Client {
        let state = self.0.clone();
        let connector = move || {
            let mut state = state.lock();
            let acceptor = state.acceptor.clone().ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused));
            let opened = acceptor.map(|acceptor| {
                let (ours, theirs) = memory();
                let task = tokio::spawn(async move { drop(acceptor.serve_connection(theirs).await) });
                state.serving.push(task.abort_handle());
                ours
            });
            async { opened }
        };
        Client::connect_with_connector(frisbee::Client::builder(), connector).await.expect("broker should be reachable")
    }

    /// Aborts all connections to the broker.
    fn cut(&self) {
        self.0.lock().serving.drain(..).for_each(|task| task.abort());
    }

    /// Replaces the reachable broker and returns the previous one.
    fn set(&self, broker: Option<Acceptor<Broker>>) -> Option<Acceptor<Broker>> {
        std::mem::replace(&mut self.0.lock().acceptor, broker)
    }
}

fn acceptor(broker: BrokerBuilder) -> Acceptor<Broker> {
    Server::builder().build(broker.build()).expect("settings of the broker's server should be valid")
}

/// Creates a second path to the same broker.
fn other(line: &Line) -> Line {
    let acceptor = line.0.lock().acceptor.clone();
    Line(Arc::new(Mutex::new(State { acceptor, serving: Vec::new() })))
}

fn kept(count: usize) -> BrokerBuilder {
    Broker::builder().history("kept.>", History::last(count))
}

async fn publish(client: &Client, topic: &str, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        client.publish(topic, number.to_string()).await.expect("broker should accept the message");
    }
    client.sync().await.expect("broker should confirm all messages");
}

/// Returns the next message as a number, or the receive error.
async fn next(subscription: &mut Subscription) -> Result<u64, RecvError> {
    let message = timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout")?;
    Ok(std::str::from_utf8(message.payload())
        .expect("payload should be UTF-8")
        .parse()
        .expect("payload should be a number"))
}

async fn expect(subscription: &mut Subscription, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        assert_eq!(next(subscription).await.expect("subscriber should not have missed any messages"), number);
    }
}

#[tokio::test]
async fn lost_connection_loses_and_repeats_nothing() {
    let line = Line::new(kept(100));
    let (reader, writer) = (line.client().await, other(&line).client().await);
    publish(&writer, "kept.a", 1..=3).await;
    let mut oldest =
        reader.subscribe_from("kept.*", Start::Oldest).await.expect("broker should accept the subscription");
    let mut last = reader.subscribe_from("kept.a", Start::Last).await.expect("broker should accept the subscription");
    let mut now = reader.subscribe_from("kept.a", Start::Now).await.expect("broker should accept the subscription");
    expect(&mut oldest, 1..=3).await;
    expect(&mut last, 3..=3).await;
    for round in 0..20 {
        let first = 4 + 5 * round;
        publish(&writer, "kept.a", first..=first + 1).await;
        line.cut();
        publish(&writer, "kept.a", first + 2..=first + 4).await;
        for subscription in [&mut oldest, &mut last, &mut now] {
            expect(subscription, first..=first + 4).await;
        }
    }
}

#[tokio::test]
async fn outage_beyond_history_reports_lost_count() {
    let line = Line::new(kept(10));
    let (reader, writer) = (line.client().await, other(&line).client().await);
    let mut subscription =
        reader.subscribe_from("kept.*", Start::Now).await.expect("broker should accept the subscription");
    publish(&writer, "kept.a", 1..=2).await;
    expect(&mut subscription, 1..=2).await;
    let broker = line.set(None);
    line.cut();
    publish(&writer, "kept.a", 3..=27).await;
    publish(&writer, "kept.b", 28..=40).await;
    line.set(broker);
    assert!(matches!(next(&mut subscription).await, Err(RecvError::Lagged(15))));
    expect(&mut subscription, 18..=27).await;
    assert!(
        matches!(next(&mut subscription).await, Err(RecvError::Lagged(3))),
        "loss on a new topic should be reported"
    );
    expect(&mut subscription, 31..=40).await;
}

#[tokio::test]
async fn restarted_broker_is_reported() {
    let line = Line::new(kept(100));
    let reader = line.client().await;
    let mut all = reader.subscribe_from("kept.*", Start::Now).await.expect("broker should accept the subscription");
    let mut one = reader.subscribe_from("kept.a", Start::Now).await.expect("broker should accept the subscription");
    publish(&reader, "kept.a", 1..=9).await;
    expect(&mut all, 1..=9).await;
    expect(&mut one, 1..=9).await;
    line.set(Some(acceptor(kept(100))));
    let writer = other(&line).client().await;
    publish(&writer, "kept.a", 20..=29).await;
    line.cut();
    for subscription in [&mut all, &mut one] {
        assert!(matches!(next(subscription).await, Err(RecvError::Reconnected)));
        expect(subscription, 20..=29).await;
    }
}

#[tokio::test]
async fn bus_subscriber_resumes_exactly_at_broker() {
    let bus = MemoryBus::new();
    let [here, there] = [(); 2].map(|()| Line::new(kept(100).backplane(bus.member())));
    let (reader, writer) = (here.client().await, there.client().await);
    let mut all = reader.subscribe_from("kept.*", Start::Now).await.expect("broker should accept the subscription");
    let mut one = reader.subscribe_from("kept.a", Start::Oldest).await.expect("broker should accept the subscription");
    for round in 0..20 {
        let first = 1 + 5 * round;
        publish(&writer, "kept.a", first..=first + 1).await;
        let broker = here.set(None);
        here.cut();
        publish(&writer, "kept.a", first + 2..=first + 4).await;
        here.set(broker);
        for subscription in [&mut all, &mut one] {
            expect(subscription, first..=first + 4).await;
        }
    }
}

#[tokio::test]
async fn subscriber_moved_to_other_broker_is_notified() {
    let bus = MemoryBus::new();
    let [here, there] = [(); 2].map(|()| Line::new(kept(2).backplane(bus.member())));
    let (reader, writer) = (here.client().await, there.client().await);
    let mut all = reader.subscribe_from("kept.*", Start::Now).await.expect("broker should accept the subscription");
    let mut one = reader.subscribe_from("kept.a", Start::Now).await.expect("broker should accept the subscription");
    publish(&writer, "kept.a", 1..=3).await;
    expect(&mut all, 1..=3).await;
    expect(&mut one, 1..=3).await;
    here.set(other(&there).set(None));
    here.cut();
    publish(&writer, "kept.b", 4..=4).await;
    for subscription in [&mut all, &mut one] {
        assert!(matches!(next(subscription).await, Err(RecvError::Reconnected)));
        // This broker replays the messages that it keeps, including those already received.
        expect(subscription, 2..=3).await;
    }
    expect(&mut all, 4..=4).await;
}

#[tokio::test]
async fn bus_outage_is_reported_to_every_subscriber() {
    let bus = MemoryBus::new();
    let [here, there] = [(); 2].map(|()| Line::new(kept(100).backplane(bus.member())));
    let (reader, writer) = (here.client().await, there.client().await);
    let mut all = reader.subscribe_from("kept.*", Start::Now).await.expect("broker should accept the subscription");
    let mut one = reader.subscribe_from("kept.a", Start::Now).await.expect("broker should accept the subscription");
    for round in 1..=3 {
        publish(&writer, "kept.a", round..=round).await;
        expect(&mut all, round..=round).await;
        expect(&mut one, round..=round).await;
        bus.set_away(true);
        publish(&writer, &format!("kept.new{round}"), 100..=101).await;
        bus.set_away(false);
        for subscription in [&mut all, &mut one] {
            assert!(matches!(next(subscription).await, Err(RecvError::Reconnected)), "outage {round}");
        }
    }
}

#[tokio::test]
async fn broker_without_history_is_as_before() {
    let line = Line::new(Broker::builder());
    let (reader, writer) = (line.client().await, other(&line).client().await);
    publish(&writer, "kept.a", 1..=2).await;
    let mut subscription =
        reader.subscribe_from("kept.a", Start::Oldest).await.expect("broker should accept the subscription");
    publish(&writer, "kept.a", 3..=4).await;
    expect(&mut subscription, 3..=4).await;
    line.cut();
    assert!(matches!(next(&mut subscription).await, Err(RecvError::Reconnected)));
    reader.sync().await.expect("broker should confirm all messages");
    publish(&writer, "kept.a", 5..=6).await;
    expect(&mut subscription, 5..=6).await;
}

#[tokio::test]
async fn position_is_valid_start() {
    let line = Line::new(kept(5));
    let client = line.client().await;
    publish(&client, "kept.a", 1..=7).await;
    let mut oldest =
        client.subscribe_from("kept.a", Start::Oldest).await.expect("broker should accept the subscription");
    let third = timeout(TIMEOUT, oldest.recv())
        .await
        .expect("message should arrive within the timeout")
        .expect("subscriber should not have missed any messages");
    let mut position = third.position().expect("message should have a position in its history");
    assert_eq!((third.payload().as_ref(), position.offset), (&b"3"[..], 3));
    let mut after =
        client.subscribe_from("kept.a", Start::After(position)).await.expect("broker should accept the subscription");
    expect(&mut after, 4..=7).await;
    position.offset = 1;
    let mut after =
        client.subscribe_from("kept.a", Start::After(position)).await.expect("broker should accept the subscription");
    assert!(matches!(next(&mut after).await, Err(RecvError::Lagged(1))));
    expect(&mut after, 3..=7).await;
    position.epoch ^= 1;
    let mut after =
        client.subscribe_from("kept.a", Start::After(position)).await.expect("broker should accept the subscription");
    assert!(matches!(next(&mut after).await, Err(RecvError::Reconnected)));
    assert!(client.subscribe_from("kept.*", Start::After(position)).await.is_err());
}

/// Creates and drops subscriptions on one connection, while several threads publish and connections break at random.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_arrive_once_or_count_as_lost() {
    const MESSAGES: u64 = 20_000;
    let line = Line::new(kept(500));
    let reader = line.client().await;
    let mut subscriptions = Vec::new();
    for pattern in ["kept.0", "kept.1", "kept.*"] {
        subscriptions
            .push(reader.subscribe_from(pattern, Start::Oldest).await.expect("broker should accept the subscription"));
    }
    let mut writers = Vec::new();
    for topic in 0..2 {
        let client = other(&line).client().await;
        writers.push(tokio::spawn(async move {
            for number in 1..=MESSAGES {
                client
                    .publish(&format!("kept.{topic}"), number.to_string())
                    .await
                    .expect("broker should accept the message");
                if number % 50 == 0 {
                    client.sync().await.expect("broker should confirm all messages");
                    tokio::time::sleep(Duration::from_micros(300)).await;
                }
            }
        }));
    }
    let cutting = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(7)).await;
            line.cut();
        }
    });
    for (at, mut subscription) in subscriptions.into_iter().enumerate() {
        let topics = if at == 2 { 2 } else { 1 };
        let (mut last, mut received, mut missing) = ([0; 2], 0, 0);
        while received + missing < topics * MESSAGES {
            match timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout") {
                Ok(message) => {
                    let topic = usize::from(message.topic().ends_with('1'));
                    let number: u64 = std::str::from_utf8(message.payload()).unwrap().parse().unwrap();
                    assert!(number > last[topic], "message {number} should follow {}", last[topic]);
                    assert_eq!(message.position().map(|position| position.offset), Some(number));
                    last[topic] = number;
                    received += 1;
                }
                Err(RecvError::Lagged(count)) => missing += count,
                Err(other) => panic!("broker should not have been restarted: {other}"),
            }
        }
        assert_eq!(received + missing, topics * MESSAGES, "{received} messages arrived, and {missing} are missing");
    }
    cutting.abort();
    for writer in writers {
        writer.await.expect("publisher task should complete");
    }
}

/// Regression test: a broker with a lower limit of positions closed each new connection, or rejected the subscription.
#[tokio::test]
async fn positions_over_broker_limits_are_forgotten() {
    let config = Config::default().body_max(BODY_MAX_LEAST);
    let least = Server::builder()
        .config(config)
        .build(kept(1).build())
        .expect("settings of the broker's server should be valid");
    for (topics, next_broker) in [(100, least), (10, acceptor(kept(1).history_topics_max(4)))] {
        let line = Line::new(kept(1));
        let client = line.client().await;
        let mut all = client.subscribe_from("kept.*", Start::Now).await.expect("broker should accept the subscription");
        let mut plain = client.subscribe("plain").await.expect("broker should accept the subscription");
        for topic in 0..topics {
            publish(&client, &format!("kept.{topic}"), 7..=7).await;
            expect(&mut all, 7..=7).await;
        }
        line.set(Some(next_broker));
        line.cut();
        for subscription in [&mut plain, &mut all] {
            assert!(matches!(next(subscription).await, Err(RecvError::Reconnected)));
        }
        publish(&client, "kept.1", 8..=9).await;
        expect(&mut all, 8..=9).await;
    }
}

/// Returns a client of a broker that accepts only short messages.
async fn broker_of_short_messages() -> (Line, Client) {
    let least = Server::builder().config(Config::default().body_max(BODY_MAX_LEAST));
    let line = Line::new(Broker::builder());
    line.set(Some(least.build(Broker::new()).expect("settings of the broker's server should be valid")));
    let client = line.client().await;
    (line, client)
}

/// Interrupts the connection, and waits until the client has replaced it.
async fn reconnect(line: &Line, client: &Client) {
    line.cut();
    let connection = client.connection().expect("client should have a connection");
    connection.closed().await;
    while client.connection().expect("client should have a connection").is_same(&connection) {
        tokio::task::yield_now().await;
    }
}

/// Regression test: `sync` succeeded on the next connection although the messages of the lost one had not arrived.
#[tokio::test]
async fn sync_reports_unconfirmed_messages_once() {
    let line = Line::new(Broker::builder());
    let client = line.client().await;
    let publisher = client.publisher("a").expect("topic should be valid");
    for _ in 0..2 {
        publisher.publish("confirmed").await.expect("client should be connected");
        client.sync().await.expect("broker should confirm all messages");
        reconnect(&line, &client).await;
        client.sync().await.expect("no message should be unconfirmed");
        publisher.publish("unconfirmed").await.expect("client should be connected");
        reconnect(&line, &client).await;
        publisher.publish("on the next connection").await.expect("client should be connected");
        let synced = client.sync().await;
        assert!(matches!(synced, Err(PubSubError::Unconfirmed)), "{synced:?}");
        client.sync().await.expect("the loss should be reported only once");
    }
    // The SYNC of a cancelled call is lost together with the message before it.
    publisher.publish("unconfirmed").await.expect("client should be connected");
    let cancelled = pin!(client.sync()).as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(cancelled.is_pending(), "{cancelled:?}");
    reconnect(&line, &client).await;
    let synced = client.sync().await;
    assert!(matches!(synced, Err(PubSubError::Unconfirmed)), "{synced:?}");
}

/// Regression test: after `publish` had failed because of the length of a message, `sync` reported this message as lost
/// with the next connection.
#[tokio::test]
async fn too_long_message_is_not_reported_as_lost() {
    let (line, client) = broker_of_short_messages().await;
    let refused = client.publish("a", vec![0; BODY_MAX_LEAST as usize]).await;
    assert!(matches!(refused, Err(PubSubError::Send(SendError::TooLong(_)))), "{refused:?}");
    reconnect(&line, &client).await;
    client.sync().await.expect("message that was not sent should not be unconfirmed");
}

/// Regression test: `drain` failed because of a message that the client had published, and `sync` then succeeded.
#[tokio::test]
async fn drain_leaves_rejection_to_publisher() {
    let line = Line::new(Broker::builder().permit(|_, topic| !matches!(topic, TopicUse::Publish("forbidden"))));
    let client = line.client().await;
    let mut subscription = client.subscribe("a").await.expect("broker should accept the subscription");
    client.publish("forbidden", "x").await.expect("client should be connected");
    subscription.drain().await.expect("broker should confirm the end of the subscription");
    let synced = client.sync().await;
    assert!(matches!(synced, Err(PubSubError::Refused(_))), "{synced:?}");
}

/// Regression test: the broker closed the connection for each message above its limit, and the client reported the
/// message as published.
#[tokio::test]
async fn oversized_publish_fails_on_new_connection() {
    let (line, client) = broker_of_short_messages().await;
    let long = || vec![0; BODY_MAX_LEAST as usize];
    let publisher = client.publisher("a").expect("topic should be valid");
    for _ in 0..2 {
        let published = publisher.publish(long()).await;
        assert!(matches!(published, Err(PubSubError::Send(SendError::TooLong(_)))), "{published:?}");
        reconnect(&line, &client).await;
    }
}

/// Regression test: a typed message above the limit of the broker closed the connection if it was published before the
/// limit was known, and the client reported it as published.
#[cfg(feature = "typed")]
#[tokio::test]
async fn oversized_typed_publish_fails_on_new_connection() {
    let (line, client) = broker_of_short_messages().await;
    let topic = crate::Topic::<String>::new("a");
    let publisher = topic.publisher(&client).expect("topic should be valid");
    for _ in 0..2 {
        let published = publisher.publish(&"x".repeat(BODY_MAX_LEAST as usize)).await;
        assert!(matches!(published, Err(PubSubError::Send(SendError::TooLong(_)))), "{published:?}");
        reconnect(&line, &client).await;
    }
}
