//! Tests of durable topics. Stored messages must be delivered until they are acknowledged, including when the server is
//! killed.

use super::super::databases::servers::{self, Nats};
use super::{TIMEOUT, until};
use async_nats::HeaderMap;
use async_nats::jetstream::consumer::PullConsumer;
use frisbee_pubsub::nats::durable::{
    Delivery, DurableTopic, DurableTopicBuilder, FullTopicPolicy, OpenError, PublishError, RecvError, Replay, Storage,
    Subscription,
};
use frisbee_tests::evolution::{new, old};
use frpc::Topic;
use futures_util::StreamExt;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// An acknowledgement timeout that is longer than any test, so that no message is redelivered because of it.
const LONG: Duration = Duration::from_secs(3600);

async fn jetstream() -> Option<Nats> {
    servers::nats(&["-js", "-sd", "store"]).await
}

async fn client(server: &Nats) -> async_nats::Client {
    frisbee_pubsub::nats::options().connect(&*server.address).await.expect("server should accept the connection")
}

/// Returns settings of a topic that is stored in memory, for tests that do not kill the server.
fn jobs() -> DurableTopicBuilder {
    DurableTopic::builder("test", "jobs.>").storage(Storage::Memory)
}

async fn open(server: &Nats, builder: DurableTopicBuilder) -> DurableTopic {
    builder.open(&client(server).await).await.expect("NATS should accept the request")
}

/// Publishes messages with these numbers. Each has its number as id and payload.
async fn publish(topic: &DurableTopic, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        let stored = topic.publish("jobs.x", &number.to_string(), number.to_string()).await;
        assert!(!stored.expect("message should be stored").is_duplicate());
    }
}

async fn next(subscription: &mut Subscription) -> Result<Delivery, RecvError> {
    timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout")
}

/// Receives the next message, acknowledges it, and returns its number.
async fn done(subscription: &mut Subscription) -> u64 {
    let delivery = next(subscription).await.expect("connection should stay open");
    let number = String::from_utf8_lossy(delivery.payload()).parse().expect("text should be a number");
    delivery.ack().await.expect("NATS should confirm the acknowledgement");
    number
}

async fn subscribe(topic: &DurableTopic, name: &str, replay: Replay) -> Subscription {
    topic.subscription(name).replay(replay).ack_timeout(LONG).open().await.expect("NATS should accept the request")
}

/// Returns whether these bytes are in the file in which NATS stores the position of a subscription. NATS writes the
/// file some time after a message is acknowledged, so even a graceful shutdown may lose the position.
fn is_stored(folder: &Path, needle: &[u8]) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().map(|entry| entry.path()).any(|path| match path.file_name() {
            Some(name) if name == "o.dat" => {
                std::fs::read(&path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
            }
            _ => path.is_dir() && is_stored(&path, needle),
        })
    })
}

#[tokio::test]
async fn durable_message_is_translated_for_newer_reader() {
    let Some(server) = jetstream().await else { return };
    let (topic, old_jobs) = (open(&server, jobs()).await, Topic::<old::Amount>::new("jobs.x"));
    let order = old::Order { id: "a".to_owned(), token: b"secret".to_vec(), ..old::Order::default() };
    let payload = Topic::<old::Order>::new("jobs.x").encode(&order).expect("order should be encodable");
    topic.publish("jobs.x", "1", payload).await.expect("message should be stored");
    let payload = old_jobs.encode(&old::Amount { cents: 7 }).expect("amount should be encodable");
    topic.publish("jobs.x", "2", payload).await.expect("message should be stored");

    let mut subscription = subscribe(&topic, "reader", Replay::All).await;
    let orders = Topic::<new::Order>::new("jobs.x").reads::<old::Order>();
    let delivery = next(&mut subscription).await.expect("message should be delivered");
    let read = orders.decode(delivery.payload()).expect("message of a named version should be translated");
    assert_eq!(read, new::Order { id: "a".to_owned(), token: "secret".to_owned(), ..new::Order::default() });
    // The reader does not know this version.
    let delivery = next(&mut subscription).await.expect("message should be delivered");
    let refused = Topic::<new::Amount>::new("jobs.x").decode(delivery.payload()).expect_err("version is unknown");
    assert!(refused.to_string().contains("a version that the reader does not know"), "{refused}");
}

/// The messages that a reader has processed, and all deliveries. The reader stores the ids of messages.
#[derive(Default)]
pub(super) struct Book {
    /// Sequence numbers of received messages, by id.
    done: Mutex<BTreeMap<String, BTreeSet<u64>>>,
    deliveries: AtomicU64,
}

impl Book {
    /// Returns whether all `stored` ids have been processed. Panics if an id was received with several sequence
    /// numbers, because NATS then stored the message more than once.
    pub(super) fn has_done(&self, stored: &BTreeSet<String>) -> bool {
        let done = self.done.lock();
        let twice: Vec<_> = done.iter().filter(|(_, sequences)| sequences.len() > 1).collect();
        assert!(twice.is_empty(), "these messages were stored twice: {twice:?}");
        stored.iter().all(|id| done.contains_key(id))
    }
}

pub(super) async fn work(mut subscription: Subscription, book: Arc<Book>) {
    loop {
        let delivery = match subscription.recv().await {
            Ok(delivery) => delivery,
            Err(error) => panic!("subscription should stay open: {error}"),
        };
        let id = delivery.id().expect("delivery should have an id").to_owned();
        book.done.lock().entry(id).or_default().insert(delivery.sequence());
        book.deliveries.fetch_add(1, Ordering::SeqCst);
        // If acknowledging fails, the message is delivered again.
        let _ = delivery.ack().await;
    }
}

/// Publishes until the test is over. Repeats each id until NATS has stored it.
pub(super) async fn write(
    topic: DurableTopic,
    writer: usize,
    over: Arc<AtomicBool>,
    stored: Arc<Mutex<BTreeSet<String>>>,
) {
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let id = format!("{writer}-{number}");
        loop {
            match topic.publish(&format!("jobs.{writer}"), &id, id.clone()).await {
                Ok(_) => break,
                Err(PublishError::Unknown(_) | PublishError::NotStored(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        stored.lock().insert(id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_messages_process_once_despite_kill() {
    let Some(mut server) = jetstream().await else { return };
    let topic = open(&server, DurableTopic::builder("test", "jobs.>")).await;
    let (book, over) = (Arc::<Book>::default(), Arc::<AtomicBool>::default());
    let mut readers = JoinSet::new();
    for _ in 0..2 {
        let subscription = topic.subscription("workers").replay(Replay::All).ack_timeout(Duration::from_secs(2));
        readers
            .spawn(work(subscription.prefetch(20).open().await.expect("NATS should accept the request"), book.clone()));
    }
    let stored = Arc::<Mutex<BTreeSet<String>>>::default();
    let mut writers = JoinSet::new();
    for writer in 0..3 {
        // Each publisher has its own connection, so that publishers do not wait for each other.
        let topic = open(&server, DurableTopic::builder("test", "jobs.>")).await;
        writers.spawn(write(topic, writer, over.clone(), stored.clone()));
    }
    let count = || stored.lock().len();
    for _ in 0..3 {
        let before = count();
        until("more is stored", || count() > before + 500).await;
        server.kill().await;
        server.restart().await;
    }
    let before = count();
    until("messages flow again", || count() > before + 500).await;
    over.store(true, Ordering::SeqCst);
    timeout(TIMEOUT, writers.join_all()).await.expect("senders should finish within the timeout");
    let stored = std::mem::take(&mut *stored.lock());
    until("all stored messages are processed", || book.has_done(&stored)).await;
    assert_eq!(book.done.lock().len(), stored.len(), "no other messages should be stored");
    let deliveries = book.deliveries.load(Ordering::SeqCst);
    println!("{} stored and done, {deliveries} deliveries", stored.len());
    readers.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_publish_id_stores_one_message() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    for (id, sequence, is_duplicate) in [("a", 1, false), ("a", 1, true), ("b", 2, false), ("a", 1, true)] {
        let stored = topic.publish("jobs.x", id, id.to_owned()).await.expect("broker should accept the message");
        assert_eq!((stored.sequence(), stored.is_duplicate()), (sequence, is_duplicate), "{id}");
    }
    let mut subscription = subscribe(&topic, "reader", Replay::All).await;
    for (id, sequence) in [("a", 1), ("b", 2)] {
        let delivery = next(&mut subscription).await.expect("connection should stay open");
        assert_eq!((delivery.id(), delivery.sequence(), delivery.attempt()), (Some(id), sequence, 1));
        assert_eq!((delivery.topic(), &**delivery.payload()), ("jobs.x", id.as_bytes()));
        delivery.ack().await.expect("NATS should confirm the acknowledgement");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn subscription_starts_at_position_and_resumes() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    publish(&topic, 1..=9).await;
    let mut all = subscribe(&topic, "all", Replay::All).await;
    let mut times = Vec::new();
    for sequence in 1..=6 {
        let delivery = next(&mut all).await.expect("connection should stay open");
        assert_eq!(delivery.sequence(), sequence);
        times.push(delivery.stored_at());
        delivery.ack().await.expect("NATS should confirm the acknowledgement");
    }
    drop(all);
    let mut by_time = subscribe(&topic, "time", Replay::Time(times[5])).await;
    let mut by_sequence = subscribe(&topic, "sequence", Replay::Sequence(4)).await;
    let mut new = subscribe(&topic, "new", Replay::New).await;
    // The subscription exists already, so it continues at its position.
    let mut again = subscribe(&topic, "all", Replay::New).await;
    publish(&topic, [10]).await;
    for (subscription, first) in [(&mut by_time, 6), (&mut by_sequence, 4), (&mut new, 10), (&mut again, 7)] {
        for number in first..=10 {
            assert_eq!(done(subscription).await, number, "{}", subscription.name());
        }
    }
    assert_eq!(topic.delete_subscription("all").await, Ok(true));
    assert_eq!(topic.delete_subscription("all").await, Ok(false));
    assert_eq!(done(&mut subscribe(&topic, "all", Replay::All).await).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn same_name_readers_share_others_get_all() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    let received = Arc::<Mutex<BTreeMap<usize, Vec<u64>>>>::default();
    let mut readers = JoinSet::new();
    for (reader, name) in ["workers", "workers", "two words.*>"].into_iter().enumerate() {
        // NATS must know each subscription before anything is published.
        let (mut subscription, received) = (subscribe(&topic, name, Replay::All).await, received.clone());
        readers.spawn(async move {
            loop {
                let number = done(&mut subscription).await;
                received.lock().entry(reader).or_default().push(number);
            }
        });
    }
    publish(&topic, 1..=200).await;
    let count = || received.lock().values().map(Vec::len).sum::<usize>();
    until("all messages are received", || count() >= 400).await;
    readers.shutdown().await;
    let received = received.lock();
    assert!(received[&2].iter().copied().eq(1..=200), "{:?}", received[&2]);
    let shared: BTreeSet<_> = received[&0].iter().chain(&received[&1]).copied().collect();
    assert!(shared.into_iter().eq(1..=200), "{received:?}");
    assert_eq!(received[&0].len() + received[&1].len(), 200, "each message should be delivered to one group member");
    println!("shares: {} and {}", received[&0].len(), received[&1].len());
}

#[tokio::test(flavor = "multi_thread")]
async fn unacknowledged_message_is_redelivered_with_count() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    publish(&topic, [1]).await;
    let builder = topic.subscription("reader").replay(Replay::All).ack_timeout(Duration::from_millis(500));
    let mut subscription = builder.open().await.expect("NATS should accept the request");
    let first = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((first.sequence(), first.attempt()), (1, 1));
    drop(first);
    let second = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((second.sequence(), second.attempt()), (1, 2));
    let (started, pause) = (Instant::now(), Duration::from_millis(300));
    second.nak(pause).await.expect("NATS should confirm the message");
    let third = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((third.sequence(), third.attempt()), (1, 3));
    assert!(started.elapsed() >= pause, "message was redelivered after {:?}", started.elapsed());
    third.nak(Duration::ZERO).await.expect("NATS should confirm the message");
    let fourth = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((fourth.sequence(), fourth.attempt()), (1, 4));
    fourth.term().await.expect("NATS should confirm the message");
    // If the message were redelivered, it would have arrived by now.
    publish(&topic, [2]).await;
    let other = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((other.sequence(), other.attempt()), (2, 1));
    drop(other);
    let other = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((other.sequence(), other.attempt()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn message_in_progress_is_not_redelivered() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    let limit = Duration::from_secs(1);
    // If this process is suspended for longer than the acknowledgement timeout, the round has no result and is
    // repeated.
    for round in 0.. {
        let reader = topic.subscription(&format!("reader{round}")).ack_timeout(limit);
        let mut first = reader.clone().open().await.expect("NATS should accept the request");
        // NATS measures the timeout from the delivery. The second reader is opened after the delivery.
        let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
        publish(&topic, [2 * round]).await;
        let mut delivery = next(&mut first).await.expect("connection should stay open");
        // If NATS redelivers the message, this waiting reader receives it.
        let mut second = reader.open().await.expect("NATS should accept the request");
        let second = tokio::spawn(async move { done(&mut second).await });
        let started = Instant::now();
        while started.elapsed() < limit * 2 {
            tokio::time::sleep(limit / 20).await;
            delivery.in_progress().await.expect("NATS should confirm the message");
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        publish(&topic, [2 * round + 1]).await;
        let second_message = second.await.expect("task should not panic");
        if longest < limit / 2 {
            assert_eq!(second_message, 2 * round + 1, "first message should not be redelivered in between");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_in_flight_never_exceed_limit() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    publish(&topic, 1..=10).await;
    let builder = topic.subscription("reader").replay(Replay::All).ack_timeout(LONG).in_flight_max(3);
    let mut subscription = builder.prefetch(10).open().await.expect("NATS should accept the request");
    let mut unacknowledged = Vec::new();
    for _ in 0..3 {
        unacknowledged.push(next(&mut subscription).await.expect("connection should stay open"));
    }
    let jetstream = async_nats::jetstream::new(client(&server).await);
    let consumer = jetstream.get_consumer_from_stream("reader", "test=2ejobs=2e=3e").await;
    let consumer: PullConsumer = consumer.expect("consumer should exist");
    for _ in 0..20 {
        // NATS may send a message between the two checks.
        let looking = async { consumer.get_info().await.expect("NATS should be reachable").num_ack_pending };
        tokio::select! {
            biased;
            delivery = subscription.recv() => panic!("message beyond the limit should not be delivered: {delivery:?}"),
            pending = looking => assert_eq!(pending, 3),
        }
    }
    unacknowledged.remove(0).ack().await.expect("NATS should confirm the acknowledgement");
    assert_eq!(next(&mut subscription).await.expect("connection should stay open").sequence(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_removed_unread_are_counted_across_restart() {
    let Some(mut server) = jetstream().await else { return };
    let topic = open(&server, DurableTopic::builder("test", "jobs.>").messages_max(100)).await;
    let mut subscription = subscribe(&topic, "reader", Replay::All).await;
    publish(&topic, 1..=10).await;
    for number in 1..=5 {
        assert_eq!(done(&mut subscription).await, number);
    }
    // The topic has a limit, so messages 6 to 910 are removed.
    publish(&topic, 11..=1010).await;
    assert_eq!(next(&mut subscription).await.expect_err("next item should be an error"), RecvError::Lagged(905));
    assert_eq!(done(&mut subscription).await, 911);
    // Messages 912 to 1110 are published while there is no reader. Then the server is stopped.
    drop(subscription);
    publish(&topic, 1011..=1210).await;
    // The sixth message received was number 911. NATS stores these two numbers as varints.
    until("the position of the subscription is on disk", || is_stored(server.folder(), &[6, 0x8F, 7, 6, 0x8F, 7]))
        .await;
    server.stop().await;
    server.restart().await;
    let topic = open(&server, DurableTopic::builder("test", "jobs.>").messages_max(100)).await;
    let mut subscription = subscribe(&topic, "reader", Replay::All).await;
    assert_eq!(next(&mut subscription).await.expect_err("next item should be an error"), RecvError::Lagged(199));
    assert_eq!(done(&mut subscription).await, 1111);
    let mut late = subscribe(&topic, "late", Replay::Sequence(1001)).await;
    assert_eq!(next(&mut late).await.expect_err("next item should be an error"), RecvError::Lagged(110));
    assert_eq!(done(&mut late).await, 1111);
    // A reader that starts with the stored messages misses none.
    assert_eq!(done(&mut subscribe(&topic, "all", Replay::All).await).await, 1111);
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_messages_of_dropped_reader_are_redelivered() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    // The messages are long, so most of them are still in flight when the first one is read.
    for number in 1..=100 {
        topic
            .publish("jobs.x", &number.to_string(), format!("{number:060000}"))
            .await
            .expect("broker should accept the message");
    }
    let builder = topic.subscription("workers").replay(Replay::All).ack_timeout(LONG).prefetch(99);
    let mut first = builder.clone().open().await.expect("NATS should accept the request");
    assert_eq!(done(&mut first).await, 1);
    drop(first);
    let mut second = builder.open().await.expect("NATS should accept the request");
    let mut received = BTreeSet::new();
    while received.len() < 99 {
        received.insert(done(&mut second).await);
    }
    assert!(received.into_iter().eq(2..=100));
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_subscription_ends_for_readers() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    let mut subscription = subscribe(&topic, "reader", Replay::All).await;
    let (ended, deleted) = tokio::join!(next(&mut subscription), topic.delete_subscription("reader"));
    assert_eq!(deleted, Ok(true));
    assert!(matches!(ended, Err(RecvError::Gone(_))), "{ended:?}");
    assert!(matches!(next(&mut subscription).await, Err(RecvError::Gone(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn unstorable_message_is_rejected_with_reason() {
    let Some(mut server) = jetstream().await else { return };
    let builder = jobs().messages_max(2).payload_max(100).when_full(FullTopicPolicy::Refuse);
    let topic = open(&server, builder.duplicate_window(Duration::from_secs(2))).await;
    let text = |error: PublishError| error.to_string();
    let long = topic.publish("jobs.x", "1", vec![0; 101]).await.expect_err("publication should be rejected");
    assert_eq!(long, PublishError::TooLong { length: 101, limit: 100 });
    for (subject, id, part) in [
        ("jobs.*", "1", "must not have wildcards"),
        ("jobs..x", "1", "must not be empty"),
        ("orders.x", "1", "the pattern jobs.> does not match orders.x"),
        ("jobs.x", "", "an id must have 1 to 255 visible characters"),
        ("jobs.x", "a\r\nNats-Rollup: all", "an id must have 1 to 255 visible characters"),
        ("jobs.x", &"a".repeat(256), "an id must have 1 to 255 visible characters"),
    ] {
        let error = text(topic.publish(subject, id, "x").await.expect_err(part));
        assert!(error.contains(part), "error {error} should contain {part}");
    }
    topic.publish("jobs.x", &"a".repeat(255), vec![0; 100]).await.expect("broker should accept the message");
    publish(&topic, [2]).await;
    let full = text(topic.publish("jobs.x", "3", "x").await.expect_err("publication should be rejected"));
    assert_eq!(
        full.split(" (code").next(),
        Some("the message is not stored: publish failed: maximum messages exceeded")
    );
    server.kill().await;
    let away = topic.publish("jobs.x", "4", "x").await.expect_err("publication should be rejected");
    assert!(matches!(away, PublishError::NotStored(_) | PublishError::Unknown(_)), "{away}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_settings_mismatch_names_difference() {
    let Some(server) = jetstream().await else { return };
    let client = client(&server).await;
    let topic = jobs().open(&client).await.expect("NATS should accept the request");
    jobs().open(&client).await.expect("settings should match the stream");
    let other = jobs().age_max(Duration::from_secs(600)).messages_max(5).open(&client).await;
    let expected = "it exists with other settings: age_max is 0ns and not 600s, messages_max is -1 and not 5";
    assert_eq!(other.expect_err("stream with other settings should be rejected").to_string(), expected);
    let overlapping = DurableTopic::builder("test", "jobs.x")
        .open(&client)
        .await
        .expect_err("overlapping stream should be rejected")
        .to_string();
    assert!(overlapping.contains("overlap"), "{overlapping}");
    let large = DurableTopic::builder("test", "large").payload_max(1 << 20).open(&client).await;
    let expected = "payload_max of 1048576 bytes exceeds the 1047552 bytes that NATS accepts";
    assert_eq!(large.expect_err("large message limit should be rejected"), OpenError::Invalid(expected.to_owned()));

    topic.subscription("reader").open().await.expect("NATS should accept the request");
    let other = topic.subscription("reader").ack_timeout(LONG).in_flight_max(7).open().await;
    let expected = "it exists with other settings: ack_timeout is 30s and not 3600s, in_flight_max is 256 and not 7";
    assert_eq!(other.expect_err("stream with other settings should be rejected").to_string(), expected);
    for (builder, part) in [
        (topic.subscription(""), "1 to 64 bytes"),
        (topic.subscription("a").ack_timeout(Duration::ZERO), "ack_timeout must be"),
        (topic.subscription("a").in_flight_max(0), "in_flight_max must be"),
        (topic.subscription("a").prefetch(1025), "prefetch must be"),
        (topic.subscription("a").replay(Replay::Sequence(0)), "sequences begin with 1"),
        (topic.subscription("a").replay(Replay::Time(std::time::UNIX_EPOCH - LONG)), "invalid time for NATS"),
    ] {
        let error = builder.open().await.expect_err(part);
        assert!(
            matches!(&error, OpenError::Invalid(reason) if reason.contains(part)),
            "error {error} should contain {part}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_without_jetstream_is_reported() {
    let Some(server) = servers::nats(&[]).await else { return };
    let error = jobs().open(&client(&server).await).await.expect_err("NATS without JetStream should be rejected");
    assert_eq!(error.to_string(), "JetStream is disabled, or not enabled for this account");
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_messages_do_not_disturb_readers() {
    let Some(server) = jetstream().await else { return };
    let topic = open(&server, jobs()).await;
    let stranger = client(&server).await;
    let mut inboxes =
        stranger.subscribe("$JS.API.CONSUMER.MSG.NEXT.>").await.expect("broker should accept the subscription");
    stranger.flush().await.expect("flush should succeed");
    let mut subscription = subscribe(&topic, "reader", Replay::All).await;
    // Sends an unrequested message to the inbox of the reader.
    let forging = async {
        let request = inboxes.next().await.expect("reader should send a request");
        let inbox = request.reply.expect("request should have a reply subject");
        for reply in ["x", "$JS.ACK.", "$JS.ACK.other.reader.1.1.1.1.1", "$JS.ACK.test=2ejobs=2e=3e.reader.-1.1.1.x.1"]
        {
            let forged = stranger.publish_with_reply(inbox.clone(), reply, "forged".into());
            forged.await.expect("NATS should be reachable");
        }
        stranger.publish(inbox, "forged".into()).await.expect("broker should accept the message");
        // NATS stores these messages. They have no id, or an id that no native publisher would use.
        stranger.publish("test.d.jobs.a", "1".into()).await.expect("broker should accept the message");
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", "x".repeat(900).as_str());
        for number in 0..100 {
            headers.append("H", number.to_string().as_str());
        }
        let deep = format!("test.d.jobs{}", ".a".repeat(300));
        stranger.publish_with_headers(deep, headers, "2".into()).await.expect("NATS should be reachable");
        stranger.flush().await.expect("flush should succeed");
    };
    let (first, ()) = tokio::join!(next(&mut subscription), forging);
    let first = first.expect("no message should be lost");
    assert_eq!((first.topic(), first.id(), &**first.payload()), ("jobs.a", None, &b"1"[..]));
    first.ack().await.expect("NATS should confirm the acknowledgement");
    let second = next(&mut subscription).await.expect("connection should stay open");
    assert_eq!((second.topic().len(), second.id().map(str::len)), (604, Some(900)));
    second.ack().await.expect("NATS should confirm the acknowledgement");
    publish(&topic, [3]).await;
    assert_eq!(done(&mut subscription).await, 3);
}
