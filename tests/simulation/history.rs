//! Tests of topics with history on a network with faults. Each message must be received once and in order, or its loss
//! must be reported. Brokers with planted defects show that the tests detect errors.

use bytes::Bytes;
use frisbee::{BatchEnd, OverflowPolicy, Server, tlv};
use frisbee::{CloseReason, Connection, ConnectionEvent, Declaration, HeaderForm, Outbox, Packet, Routed, Router};
use frisbee_core::Decoder;
use frisbee_pubsub::{Broker, BrokerSession, Client, FIRST_OPERATION, History, RecvError, Start, Subscription};
use frisbee_sim::{Fault, Sim, World, sim_test};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

const TOPICS: [&str; 2] = ["prices.a", "prices.b"];

const TIMEOUT: Duration = Duration::from_secs(120);

/// Number of messages per topic that the broker keeps. It is small, so that some outages last longer than the history.
const KEPT: usize = 12;

const MESSAGE: u16 = FIRST_OPERATION + 2;
const FOLLOW: u16 = FIRST_OPERATION + 6;
const POSITION: u16 = FIRST_OPERATION + 7;

/// Messages with larger numbers are the final messages of a topic.
const END: u64 = 1_000_000;

/// A defect planted in a broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Defect {
    None,
    /// The last message of the history is sent again as the first message of the stream.
    DuplicateAtSeam,
    /// The last message of the history is not sent.
    DropsAtSeam,
    /// A history that does not reach back to the subscriber's position claims that it does.
    SilentOverrun,
    /// Two messages of the history are swapped.
    Reordered,
    /// After a restart, the broker has the same epoch as before.
    EpochMixUp,
}

/// A broker that changes what it sends to subscribers.
struct Faulty {
    broker: Broker,
    defect: Defect,
}

struct Session {
    inner: BrokerSession,
    /// The positions that the client has sent, as topics with offsets.
    stated: BTreeMap<Vec<u8>, u64>,
}

impl Router for Faulty {
    type Session = Session;

    fn declaration(&self) -> Declaration {
        self.broker.declaration()
    }

    fn connected(&self, connection: &Connection) -> Session {
        Session { inner: self.broker.connected(connection), stated: BTreeMap::new() }
    }

    fn event(&self, session: &mut Session, event: &mut ConnectionEvent<'_>) {
        self.broker.event(&mut session.inner, event);
    }

    fn route(&self, session: &mut Session, mut packet: Packet, outbox: &mut Outbox) -> Routed {
        if packet.operation.number() == FOLLOW {
            let (pattern, rest) = name(&packet.body);
            let mut body = packet.body[..packet.body.len() - rest.len() + 1].to_vec();
            debug_assert!(!pattern.is_empty());
            for (topic, epoch, offset) in positions(&rest[1..]) {
                session.stated.insert(topic.clone(), offset);
                put_position(&mut body, &topic, epoch, offset);
            }
            packet.body = body.into();
        }
        self.broker.route(&mut session.inner, packet, outbox)
    }

    fn overflow(&self, session: &Session, packet: &Packet) -> OverflowPolicy {
        self.broker.overflow(&session.inner, packet)
    }

    fn batch_ended(&self, session: &mut Session, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        let waits = self.broker.batch_ended(&mut session.inner, batch);
        if self.defect != Defect::None {
            let mut bytes = batch.outbox.take_bytes();
            let mut decoder = Decoder::new(HeaderForm::Current, u32::MAX);
            let packets = std::iter::from_fn(|| decoder.next(&mut bytes).expect("frame should be well-formed"));
            for packet in self.changed(session, packets.collect()) {
                batch.outbox.forward(&packet).expect("packet should be within the limit");
            }
        }
        waits
    }

    fn disconnected(&self, session: Session, reason: &CloseReason) {
        self.broker.disconnected(session.inner, reason);
    }
}

impl Faulty {
    fn changed(&self, session: &Session, mut packets: Vec<Packet>) -> Vec<Packet> {
        let is_replayed = |packet: &Packet| packet.operation.number() == MESSAGE && packet.id.0 != 0;
        let last = packets.iter().rposition(is_replayed);
        match (self.defect, last) {
            (Defect::DuplicateAtSeam, Some(last)) => {
                let again = packets[last].clone();
                packets.insert(last, again);
            }
            (Defect::DropsAtSeam, Some(last)) => drop(packets.remove(last)),
            (Defect::Reordered, Some(last)) if last > 0 && is_replayed(&packets[last - 1]) => {
                packets.swap(last - 1, last);
            }
            (Defect::SilentOverrun, _) => {
                let replayed =
                    packets.iter_mut().filter(|packet| packet.operation.number() == POSITION && packet.id.0 != 0);
                for packet in replayed {
                    let stated =
                        |topic: &[u8], epoch, offset| (epoch, session.stated.get(topic).copied().unwrap_or(offset));
                    packet.body = restated(&packet.body, stated);
                }
            }
            (Defect::EpochMixUp, _) => return mixed_up(&session.stated, &packets),
            _ => {}
        }
        packets
    }
}

/// Changes the packets of a broker as if its epoch never changed. It then accepts positions of an earlier broker.
fn mixed_up(stated: &BTreeMap<Vec<u8>, u64>, packets: &[Packet]) -> Vec<Packet> {
    const EPOCH: u64 = 1;
    let mut changed = Vec::new();
    let mut skipped = 0;
    let is_replayed = |packet: &Packet, id| packet.operation.number() == MESSAGE && packet.id == id && id.0 != 0;
    for (at, packet) in packets.iter().enumerate() {
        let mut packet = packet.clone();
        match packet.operation.number() {
            FOLLOW if packet.body.first() == Some(&0) => {
                let mut body = packet.body.to_vec();
                body[2..10].copy_from_slice(&EPOCH.to_be_bytes());
                packet.body = body.into();
            }
            POSITION => {
                let replayed = packets[at + 1..].iter().take_while(|next| is_replayed(next, packet.id)).count() as u64;
                packet.body = restated(&packet.body, |topic, _, first| {
                    let stated = stated.get(topic).filter(|stated| (first..=first + replayed).contains(*stated));
                    skipped = stated.filter(|_| packet.id.0 != 0).map_or(0, |stated| stated - first);
                    (EPOCH, first + skipped)
                });
            }
            _ if skipped > 0 && is_replayed(&packet, packet.id) => {
                skipped -= 1;
                continue;
            }
            _ => {}
        }
        changed.push(packet);
    }
    changed
}

fn name(body: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut rest = body;
    let length = usize::try_from(tlv::take_varint(&mut rest).expect("item should begin with a name"))
        .expect("value should fit usize");
    let (name, rest) = rest.split_at(length);
    (name.to_vec(), rest)
}

fn positions(mut rest: &[u8]) -> Vec<(Vec<u8>, u64, u64)> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (topic, behind) = name(rest);
        let (epoch, behind) = behind.split_first_chunk().expect("item should contain a position");
        rest = behind;
        let offset = tlv::take_varint(&mut rest).expect("item should contain a position");
        all.push((topic, u64::from_be_bytes(*epoch), offset));
    }
    all
}

fn put_position(body: &mut Vec<u8>, topic: &[u8], epoch: u64, offset: u64) {
    tlv::put_varint(body, topic.len() as u64);
    body.extend_from_slice(topic);
    body.extend_from_slice(&epoch.to_be_bytes());
    tlv::put_varint(body, offset);
}

fn restated(body: &[u8], mut change: impl FnMut(&[u8], u64, u64) -> (u64, u64)) -> Bytes {
    let mut changed = Vec::new();
    for (topic, epoch, offset) in positions(body) {
        let (epoch, offset) = change(&topic, epoch, offset);
        put_position(&mut changed, &topic, epoch, offset);
    }
    changed.into()
}

/// For each topic, the numbers that the broker has accepted, and those that it may have accepted.
#[derive(Default)]
struct Published {
    certain: BTreeMap<&'static str, Vec<u64>>,
    last: u64,
}

fn serve(world: &World, defect: Defect) {
    world.node("broker").start(move |process| async move {
        let broker = Broker::builder().history("prices.*", History::last(KEPT)).build();
        let acceptor = Server::builder().build(Faulty { broker, defect }).expect("settings should be valid");
        process.accept(move |transport| {
            let acceptor = acceptor.clone();
            async move { drop(acceptor.serve_connection(transport).await) }
        });
    });
}

async fn client(world: &World, node: &str) -> Client {
    let process = world.node(node).process();
    loop {
        match Client::connect_with_connector(frisbee::Client::builder(), process.connector("broker")).await {
            Ok(client) => return client,
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Publishes numbers until the given time. Then publishes a final number to each topic that the broker has accepted.
async fn publish(world: World, published: Arc<Mutex<Published>>, time: Duration) {
    let client = client(&world, "writer").await;
    let mut last = [false; TOPICS.len()];
    while last != [true; TOPICS.len()] {
        let ends = world.elapsed() >= time;
        let at = if ends {
            last.iter().position(|done| !done).expect("one operation should be unfinished")
        } else {
            world.draw(|rng| rng.usize(..TOPICS.len()))
        };
        let number = {
            let mut published = published.lock();
            published.last += 1;
            published.last + if ends { END } else { 0 }
        };
        let sending = async {
            client.publish(TOPICS[at], number.to_string()).await.ok()?;
            client.sync().await.ok()
        };
        if timeout(TIMEOUT, sending).await.ok().flatten().is_some() {
            published.lock().certain.entry(TOPICS[at]).or_default().push(number);
            last[at] |= ends;
        } else {
            sleep(Duration::from_millis(50)).await;
        }
        let pause = world.draw(|rng| rng.u64(..60));
        sleep(Duration::from_millis(pause)).await;
    }
}

/// Subscribes at a random time, and checks all messages up to the final ones.
async fn check(world: World, node: &'static str, pattern: &'static str, published: Arc<Mutex<Published>>) {
    let pause = world.draw(|rng| rng.u64(..2000));
    sleep(Duration::from_millis(pause)).await;
    let mut subscription: Subscription = loop {
        let client = client(&world, node).await;
        if let Ok(subscription) = client.subscribe_from(pattern, Start::Oldest).await {
            break subscription;
        }
    };
    let mut last = BTreeMap::<&str, u64>::new();
    let (mut missing, mut stated) = (0, 0);
    // Topics that may have lost an unknown number of messages before their next one.
    let mut unknown = BTreeSet::new();
    let topics = TOPICS.iter().filter(|topic| pattern == "prices.*" || pattern == **topic).count();
    let mut ended = BTreeSet::new();
    while ended.len() < topics {
        match timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout") {
            Ok(message) => {
                let topic =
                    *TOPICS.iter().find(|topic| **topic == message.topic()).expect("topic should be a known one");
                let text = std::str::from_utf8(message.payload()).expect("payload should be UTF-8");
                let number: u64 = text.parse().expect("text should be a number");
                world.note(format!("{node} {topic} {number} {:?}", message.position().map(|position| position.offset)));
                assert!(message.position().is_some(), "message {number} should have a position at {node}");
                let is_unknown = unknown.remove(topic);
                if let Some(last) = last.insert(topic, number) {
                    assert!(number > last, "{node} should receive {topic} {number} after {last}");
                    let published = published.lock();
                    let numbers = published.certain.get(topic).into_iter().flatten();
                    let between = numbers.filter(|certain| last < **certain && **certain < number).count() as u64;
                    missing += if is_unknown { 0 } else { between };
                }
                assert!(missing <= stated, "{node} misses {missing} messages and reported {stated}, at {number}");
                if number > END {
                    ended.insert(topic);
                }
            }
            Err(RecvError::Lagged(count)) => {
                world.note(format!("{node} misses {count}"));
                stated += count;
            }
            Err(RecvError::Reconnected) => {
                world.note(format!("{node} may miss some"));
                unknown.extend(TOPICS);
            }
            Err(other) => panic!("{node}: {other}"),
        }
    }
}

/// Breaks connections. Restarts the broker as well if `restarts` is set.
async fn disturb(world: World, time: Duration, restarts: bool) {
    loop {
        let pause = world.draw(|rng| rng.u64(300..2500));
        sleep(Duration::from_millis(pause)).await;
        // If the broker stopped later than this, the final messages would be lost.
        if world.elapsed() >= time {
            return;
        }
        let other = ["one", "all", "writer"][world.draw(|rng| rng.usize(..3))].to_owned();
        match world.draw(|rng| rng.u32(..4)) {
            0 if restarts => {
                // In some cases, the subscriber reconnects only after the next broker has published for a while.
                let is_away = world.draw(fastrand::Rng::bool);
                if is_away {
                    world.block("broker", &other);
                }
                // The node must crash first, because a running node does not restart.
                world.node("broker").crash();
                world.node("broker").restart();
                if is_away {
                    let outage = world.draw(|rng| rng.u64(..3000));
                    sleep(Duration::from_millis(outage)).await;
                    world.heal("broker", &other);
                }
            }
            0 | 1 => world.inject_now(Fault::Reset { one: "broker".to_owned(), other }).await,
            2 => {
                let behind = world.draw(|rng| rng.u64(..300));
                world.inject_now(Fault::Cut { from: "broker".to_owned(), to: other.clone(), behind }).await;
            }
            _ => {
                world.block("broker", &other);
                world.inject_now(Fault::Reset { one: "broker".to_owned(), other: other.clone() }).await;
                let outage = world.draw(|rng| rng.u64(..2000));
                sleep(Duration::from_millis(outage)).await;
                world.heal("broker", &other);
            }
        }
    }
}

async fn run(world: World, defect: Defect, restarts: bool) {
    let time = Duration::from_secs(8);
    serve(&world, defect);
    let published = Arc::<Mutex<Published>>::default();
    let disturbing = tokio::spawn(disturb(world.clone(), time, restarts));
    let one = tokio::spawn(check(world.clone(), "one", "prices.a", published.clone()));
    let all = tokio::spawn(check(world.clone(), "all", "prices.*", published.clone()));
    publish(world, published, time).await;
    for checking in [one, all] {
        if let Err(error) = checking.await {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    drop(disturbing.await);
}

#[sim_test(seeds = 24)]
async fn lost_connections_lose_no_message_silently(world: World) {
    run(world, Defect::None, false).await;
}

#[sim_test(seeds = 24)]
async fn restarted_broker_is_noticed(world: World) {
    run(world, Defect::None, true).await;
}

const DEFECTS: [Defect; 5] =
    [Defect::DuplicateAtSeam, Defect::DropsAtSeam, Defect::SilentOverrun, Defect::Reordered, Defect::EpochMixUp];

/// Returns a run with a defect. The broker restarts only with `EpochMixUp`, because only a restart changes the epoch.
fn planted(defect: Defect) -> impl Fn(World) -> std::pin::Pin<Box<dyn Future<Output = ()>>> + Sync {
    move |world| Box::pin(run(world, defect, defect == Defect::EpochMixUp))
}

#[test]
fn planted_broker_defects_are_found() {
    for defect in DEFECTS {
        let found = Sim::new().runs_twice(false).shrinks(false).find(100, planted(defect));
        assert!(found.is_some(), "defect {defect:?} should be found");
    }
}

#[test]
#[ignore = "takes minutes"]
fn many_seeds_find_planted_defects() {
    for defect in DEFECTS {
        let sim = Sim::new().runs_twice(false).shrinks(false);
        let found = (0..1000).filter(|seed| sim.run(*seed, planted(defect)).is_err()).count();
        println!("{defect:?} is found by {found} of 1000 seeds");
        assert!(found >= 50, "defect {defect:?} was found by only {found} of 1000 seeds");
    }
}
