//! Tests of brokers connected by NATS, from Debian's package `nats-server`. They check which messages subscribers
//! receive, including when the server is killed.
//!
//! If NATS is not installed, the tests print a message and pass, unless `FRISBEE_REQUIRE_SERVERS` is set.
//! `FRISBEE_BUS_MESSAGES` sets the number of messages that each broker publishes, 10 000 by default.

mod batches;
mod cluster;
mod durable;
mod slow;
mod tls;

use super::databases::servers;
use async_nats::ConnectOptions;
use frisbee::Server;
use frisbee_pubsub::nats::NatsBus;
use frisbee_pubsub::{Broker, BrokerBuilder, Client, OutagePolicy, PubSubError, RecvError, Subscription};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::timeout;

const BROKERS: usize = 3;

/// Patterns to which each connection subscribes. All of them match every topic.
const PATTERNS: [&str; 3] = ["numbers.*.x", "numbers.>", ">"];

/// Maximum number of messages in flight. It is far below the limits of the queues.
const UNHEARD_MAX: u64 = 20_000;

/// Maximum time to wait for an event. Events take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

fn messages() -> u64 {
    let messages = std::env::var("FRISBEE_BUS_MESSAGES").ok();
    messages.map_or(10_000, |messages| messages.parse().expect("text should be a number"))
}

/// Returns a client of a broker that is being served.
async fn serve(broker: Broker) -> Client {
    let server = Server::builder().bind("127.0.0.1:0", broker).await.expect("server should bind to a free address");
    let here = server.local_addr();
    tokio::spawn(server.serve());
    Client::connect(here).await.expect("server should accept the connection")
}

async fn client(address: &str, settings: BrokerBuilder) -> Client {
    let bus = NatsBus::connect("test", address).await.expect("NATS should be reachable");
    serve(settings.backplane(bus).build()).await
}

/// Returns a client of each of three brokers.
async fn clients(address: &str) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..BROKERS {
        clients.push(client(address, Broker::builder()).await);
    }
    clients
}

async fn next(subscription: &mut Subscription) -> Result<String, RecvError> {
    let message = timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout")?;
    Ok(format!("{} {}", message.topic(), String::from_utf8_lossy(message.payload())))
}

/// Waits until a condition is true.
async fn until(what: &str, is: impl Fn() -> bool) {
    let reached = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(TIMEOUT, reached).await.unwrap_or_else(|_| panic!("not within {TIMEOUT:?}: {what}"));
}

/// Publishes numbers from 1 on to the topic of a broker, only as fast as all subscribers receive them. `received`
/// contains the counts of each subscription for all brokers.
async fn publish(client: Client, at: usize, published: Arc<AtomicU64>, received: Vec<Arc<AtomicU64>>) {
    let publisher = client.publisher(&format!("numbers.{at}.x")).expect("topic should be valid");
    for number in 1..=messages() {
        publisher.publish(number.to_string()).await.expect("broker should accept the message");
        let all = published.fetch_add(1, Ordering::Relaxed) + 1;
        if number % 100 == 0 {
            let unheard = || received.iter().map(|received| all.saturating_sub(received.load(Ordering::Relaxed))).max();
            until("messages are received", || unheard() < Some(UNHEARD_MAX)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overlapping_patterns_deliver_once_across_brokers() {
    let Some(server) = servers::nats(&[]).await else { return };
    let clients = clients(&server.address).await;
    let all = messages() * BROKERS as u64;
    let (mut listeners, mut received) = (JoinSet::new(), Vec::new());
    for client in &clients {
        for pattern in PATTERNS {
            let mut subscription = client.subscribe(pattern).await.expect("broker should accept the subscription");
            let count = Arc::<AtomicU64>::default();
            received.push(count.clone());
            listeners.spawn(async move {
                let mut last = BTreeMap::<String, u64>::new();
                while count.load(Ordering::Relaxed) < all {
                    let text = next(&mut subscription).await.expect("connection should stay open");
                    let (topic, number) = text.split_once(' ').expect("message should contain topic and number");
                    let last = last.entry(topic.to_owned()).or_default();
                    assert_eq!(
                        number.parse(),
                        Ok(*last + 1),
                        "subscriber of {pattern} should receive the next message of {topic}"
                    );
                    *last += 1;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                subscription
            });
        }
    }
    let published = Arc::<AtomicU64>::default();
    let mut writers = JoinSet::new();
    for (at, client) in clients.iter().enumerate() {
        writers.spawn(publish(client.clone(), at, published.clone(), received.clone()));
    }
    writers.join_all().await;
    // No message may be duplicated, so each subscription must receive the message that each broker publishes now as its
    // next one.
    let mut subscriptions = listeners.join_all().await;
    for client in &clients {
        client.publish("end", "").await.expect("broker should accept the message");
        for subscription in subscriptions.iter_mut().filter(|subscription| subscription.pattern() == ">") {
            assert_eq!(next(subscription).await.expect("connection should stay open"), "end ");
        }
    }
    println!("{all} messages, heard by {} subscriptions", received.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn group_members_share_evenly_across_brokers() {
    let Some(server) = servers::nats(&[]).await else { return };
    let clients = clients(&server.address).await;
    let all = messages() * BROKERS as u64;
    let (received, mut shares) = (Arc::<AtomicU64>::default(), Vec::new());
    // A group may have any name. Its members are at the three brokers: one, two and three of them.
    for (at, client) in clients.iter().enumerate() {
        for _ in 0..=at {
            let subscribed = client.queue_subscribe("numbers.>", "two words.*").await;
            let (mut jobs, received, share) = (
                subscribed.expect("broker should accept the subscription"),
                received.clone(),
                Arc::<AtomicU64>::default(),
            );
            shares.push(share.clone());
            tokio::spawn(async move {
                while jobs.recv().await.is_ok() {
                    share.fetch_add(1, Ordering::Relaxed);
                    received.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    }
    let published = Arc::<AtomicU64>::default();
    let mut writers = JoinSet::new();
    for (at, client) in clients.iter().enumerate() {
        writers.spawn(publish(client.clone(), at, published.clone(), vec![received.clone()]));
    }
    writers.join_all().await;
    until("all messages are received", || received.load(Ordering::Relaxed) >= all).await;
    let shares: Vec<_> = shares.iter().map(|share| share.load(Ordering::Relaxed)).collect();
    assert_eq!(shares.iter().sum::<u64>(), all, "each message should be delivered to one group member");
    let fair = all as f64 / shares.len() as f64;
    println!("shares of {fair}: {shares:?}");
    assert!(
        shares.iter().all(|share| (*share as f64 / fair - 1.0).abs() < 0.05),
        "shares are {shares:?}, and {fair} would be fair"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sole_group_member_gets_messages_of_its_broker() {
    let Some(server) = servers::nats(&[]).await else { return };
    let clients = clients(&server.address).await;
    let mut jobs =
        clients[0].queue_subscribe("numbers.>", "workers").await.expect("broker should accept the subscription");
    for number in 0..100 {
        clients[0].publish("numbers.x", number.to_string()).await.expect("broker should accept the message");
    }
    for number in 0..100 {
        assert_eq!(next(&mut jobs).await.expect("connection should stay open"), format!("numbers.x {number}"));
    }
}

/// The messages that a subscription has received, and the losses that it has reported.
#[derive(Default)]
struct Account {
    received: AtomicU64,
    missed: AtomicU64,
}

impl Account {
    fn sum(&self) -> u64 {
        self.received.load(Ordering::SeqCst) + self.missed.load(Ordering::SeqCst)
    }
}

async fn keep(mut subscription: Subscription, account: Arc<Account>) {
    let mut last = BTreeMap::<String, u64>::new();
    loop {
        match subscription.recv().await {
            Ok(message) => {
                let number = String::from_utf8_lossy(message.payload()).parse().expect("text should be a number");
                let before = last.insert(message.topic().to_owned(), number).unwrap_or_default();
                assert!(number > before, "message {number} should follow {before}");
                account.received.fetch_add(1, Ordering::SeqCst);
            }
            Err(RecvError::Lagged(count)) => {
                account.missed.fetch_add(count, Ordering::SeqCst);
            }
            Err(_) => return,
        }
    }
}

/// Subscribes each client to all patterns. Returns an account for each subscription.
async fn listen_everywhere(clients: &[Client]) -> Vec<Arc<Account>> {
    let mut accounts = Vec::new();
    for client in clients {
        for pattern in PATTERNS {
            let account = Arc::<Account>::default();
            tokio::spawn(keep(
                client.subscribe(pattern).await.expect("broker should accept the subscription"),
                account.clone(),
            ));
            accounts.push(account);
        }
    }
    accounts
}

/// Waits until each subscription has received or reported as lost every published message.
async fn settle(accounts: &[Arc<Account>], published: u64) {
    until("all messages are received or reported as lost", || {
        accounts.iter().all(|account| account.sum() >= published)
    })
    .await;
    // Brokers need less time than this to report lost messages.
    tokio::time::sleep(Duration::from_millis(600)).await;
    for account in accounts {
        assert_eq!(
            account.sum(),
            published,
            "{} messages were received or reported as missed",
            account.missed.load(Ordering::SeqCst)
        );
    }
}

/// Publishers of consecutive numbers. Each client publishes to its own topic, about ten messages per millisecond.
struct Load {
    over: Arc<AtomicBool>,
    published: Arc<AtomicU64>,
    writers: JoinSet<()>,
}

impl Load {
    /// Starts a publisher at each client. If `last` is set, the last client stops after this number.
    fn start(clients: &[Client], last: Option<u64>) -> Self {
        let (over, published) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let mut writers = JoinSet::new();
        for (at, client) in clients.iter().cloned().enumerate() {
            let last = last.filter(|_| at + 1 == clients.len()).unwrap_or(u64::MAX);
            let (over, published) = (over.clone(), published.clone());
            writers.spawn(async move {
                for number in 1..=last {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    client
                        .publish(&format!("numbers.{at}.x"), number.to_string())
                        .await
                        .expect("broker should accept the message");
                    published.fetch_add(1, Ordering::SeqCst);
                    if number % 10 == 0 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
                client.sync().await.expect("broker should confirm all messages");
            });
        }
        Self { over, published, writers }
    }

    fn published(&self) -> u64 {
        self.published.load(Ordering::SeqCst)
    }

    /// Stops publishing and returns the number of published messages.
    async fn end(&mut self) -> u64 {
        self.over.store(true, Ordering::SeqCst);
        while let Some(ended) = self.writers.join_next().await {
            ended.expect("writers should end");
        }
        self.published()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_leaves_exactly_reported_gap() {
    let Some(mut server) = servers::nats(&[]).await else { return };
    let clients = clients(&server.address).await;
    let accounts = listen_everywhere(&clients).await;
    // The third client publishes nothing after the server has been killed. The loss of its last messages must be
    // reported too.
    let mut load = Load::start(&clients, Some(3_000));
    let all = |least: u64| accounts.iter().all(|account| account.received.load(Ordering::SeqCst) >= least);
    until("all messages are received", || all(3_000)).await;
    server.kill().await;
    let missing = load.published();
    until("more is published", || load.published() > missing + 5_000).await;
    server.restart().await;
    let back = Instant::now();
    until("the lost messages are reported", || {
        accounts.iter().all(|account| account.missed.load(Ordering::SeqCst) > 0)
    })
    .await;
    println!("said {:?} after the server was back", back.elapsed());
    let published = load.end().await;
    settle(&accounts, published).await;
    println!("{published} published, {} missed", accounts[0].missed.load(Ordering::SeqCst));
    // The subscription of a group must continue too.
    let mut jobs = clients[0].queue_subscribe("jobs", "workers").await.expect("broker should accept the subscription");
    clients[1].publish("jobs", "1").await.expect("broker should accept the message");
    assert_eq!(next(&mut jobs).await.expect("connection should stay open"), "jobs 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn unacceptable_nats_messages_are_rejected_with_reason() {
    let Some(mut server) = servers::nats(&[]).await else { return };
    let client = client(&server.address, Broker::builder().when_away(OutagePolicy::Refuse)).await;
    let mut subscription = client.subscribe("a").await.expect("broker should accept the subscription");
    // By default, NATS accepts messages of up to 1 MiB.
    client.publish("a", vec![0; 1 << 20]).await.expect("broker should accept the message");
    let Err(PubSubError::Refused(text)) = client.sync().await else {
        panic!("broker should reject a message that is too long")
    };
    assert!(text.ends_with("exceeds the 1048576 bytes that the backplane accepts"), "{text}");
    client.publish("a", "x").await.expect("broker should accept the message");
    client.sync().await.expect("broker should confirm all messages");
    assert_eq!(next(&mut subscription).await.expect("connection should stay open"), "a x");
    server.kill().await;
    let refused = async {
        loop {
            client.publish("a", "y").await.expect("broker should accept the message");
            if let Err(PubSubError::Refused(text)) = client.sync().await {
                return text;
            }
        }
    };
    let text = timeout(TIMEOUT, refused).await.expect("rejection should arrive within the timeout");
    assert!(text.starts_with("the backplane is unavailable: "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_frames_on_bus_subjects_are_dropped() {
    let Some(server) = servers::nats(&[]).await else { return };
    let clients = clients(&server.address).await;
    let mut subscription = clients[0].subscribe(">").await.expect("broker should accept the subscription");
    let stranger = async_nats::connect(&server.address).await.expect("NATS should accept the connection");
    for subject in ["test.t.a", "test.t", "test.t.a.b", "test.c", "other.t.a"] {
        for payload in [
            &b""[..],
            b"x",
            b"\x03",
            &[0xFF; 1000],
            b"\x01\0\0\0\0\0\0\0\x01\0\x01\x01bx",
            b"\x04\0\x01",
            b"\x04\0\x02\x04\0",
        ] {
            stranger.publish(subject, payload.to_vec().into()).await.expect("broker should accept the message");
        }
    }
    // This topic has more tokens than permitted.
    let deep = format!("test.t{}", ".a".repeat(300));
    stranger.publish(deep, "x".into()).await.expect("broker should accept the message");
    stranger.flush().await.expect("flush should succeed");
    // The messages above must not be mistaken for a part of the broker's own sequence.
    for _ in 0..2 {
        clients[1].publish("a", "x").await.expect("broker should accept the message");
        assert_eq!(next(&mut subscription).await.expect("connection should stay open"), "a x");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_connection_requires_valid_credentials() {
    let Some(server) = servers::nats(&["--user", "ada", "--pass", "secret"]).await else { return };
    let options = frisbee_pubsub::nats::options().user_and_password("ada".to_owned(), "secret".to_owned());
    let bus = NatsBus::connect_with("test", &*server.address, options).await;
    assert!(bus.is_ok(), "{bus:?}");
    let refused = NatsBus::connect("test", &*server.address).await.map(drop);
    assert!(refused.is_err_and(|error| error.to_string().contains("authorization")));
    let invalid = NatsBus::connect_with("a.b", &*server.address, ConnectOptions::new()).await.map(drop);
    assert!(invalid.is_err_and(|error| error.kind() == std::io::ErrorKind::InvalidInput));
}
