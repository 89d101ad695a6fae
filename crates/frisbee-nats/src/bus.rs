//! The connections to NATS: what the broker wants, what it publishes, and what comes.
//!
//! There are two. One publishes and has the subscriptions; NATS does not send back what it has published. The other has
//! those of queue groups, whose members are to get what their own broker publishes as well.

use crate::subjects::{Subjects, group};
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Message, Subject, ToServerAddrs};
use bytes::Bytes;
use frisbee::pubsub::{Backplane, Interest, Joined, Node, Unsent};
use futures_util::StreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

/// The bytes that may wait to be written to NATS: an eighth of a second at 1 Gbit/s. What exceeds them does not leave
/// the broker.
const WAITING_MAX: usize = 16 * 1024 * 1024;

/// The charge for a frame that waits, beside its bytes.
const FRAME_CHARGE: usize = 128;

/// Frames that are taken at one time: some reads' worth.
const PORTION: usize = 256;

/// The longest pause before NATS is tried again, so that a bus is whole within two seconds after its server is back.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// How often brokers that have asked what they missed are answered, and how often this one asks at most since it was slow.
const TICK: Duration = Duration::from_millis(250);

/// How long NATS may take to say that a subscription is in effect, before its subscriber is answered all the same.
const JOIN_TIMEOUT: Duration = Duration::from_secs(3);

/// The backplane of one broker on a bus that NATS joins.
///
/// When NATS is lost, it is tried again until it is back, at any of its servers.
pub struct NatsBus {
    subjects: Arc<Subjects>,
    /// For all but groups.
    client: Client,
    /// For groups.
    members: Client,
    runtime: Handle,
    node: Arc<OnceLock<Node>>,
    /// Messages were dropped since they came too fast. NATS's client says so of each.
    was_slow: Arc<AtomicBool>,
    frames: UnboundedSender<(Subject, Bytes)>,
    waiting: Arc<AtomicUsize>,
    /// The tasks of interests, by their numbers.
    interests: Mutex<HashMap<u64, AbortHandle>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl fmt::Debug for NatsBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.client.connection_state();
        f.debug_struct("NatsBus").field("subjects", &self.subjects).field("state", &state).finish_non_exhaustive()
    }
}

/// The settings of async-nats with which a [`NatsBus`] connects by itself: a server that is lost is tried again after
/// half a second at most.
pub fn options() -> ConnectOptions {
    let pause = |attempts: usize| {
        let doublings = u32::try_from(attempts.min(16)).unwrap_or(16);
        let longest = Duration::from_millis(2).saturating_mul(1 << doublings).min(PAUSE_MAX);
        // Brokers that have lost their server together do not come back together.
        longest.mul_f64(0.5 + fastrand::f64() / 2.0)
    };
    ConnectOptions::new().reconnect_delay_callback(pause)
}

impl NatsBus {
    /// Connects to NATS, for a broker on the bus with this name. Brokers with the same name are one.
    ///
    /// A name has 1 to 64 letters, digits, hyphens and underscores. The subjects of a bus begin with it and a dot.
    ///
    /// # Errors
    /// If the name is none, or no server accepts the connections.
    ///
    /// # Cancel safety
    /// Dropping the future gives up.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn connect(name: &str, servers: impl ToServerAddrs) -> io::Result<Self> {
        Self::connect_with(name, servers, options()).await
    }

    /// As [`connect`](Self::connect), with settings of async-nats: users, TLS, timeouts. Begin with [`options`].
    ///
    /// `no_echo`, `event_callback` and `skip_subject_validation` are set here.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Cancel safety
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// As [`connect`](Self::connect).
    pub async fn connect_with(name: &str, servers: impl ToServerAddrs, options: ConnectOptions) -> io::Result<Self> {
        let subjects = Arc::new(Subjects::of(name)?);
        let servers: Vec<_> = servers.to_server_addrs()?.collect();
        let node = Arc::<OnceLock<Node>>::default();
        let options = options.skip_subject_validation(true);
        let was_slow = Arc::<AtomicBool>::default();
        let (told, slow) = (node.clone(), was_slow.clone());
        let first = options.clone().no_echo().event_callback(move |event| {
            heed(told.get(), &slow, &event);
            std::future::ready(())
        });
        let client = first.connect(&servers[..]).await.map_err(io::Error::other)?;
        // Groups count nothing, so there is nothing to ask for them.
        let slow = was_slow.clone();
        let second = options.event_callback(move |event| {
            heed(None, &slow, &event);
            std::future::ready(())
        });
        let members = second.connect(&servers[..]).await.map_err(io::Error::other)?;
        let (frames, receiver) = unbounded_channel();
        let waiting = Arc::<AtomicUsize>::default();
        let pumping = tokio::spawn(pump(client.clone(), receiver, waiting.clone()));
        Ok(Self {
            subjects,
            client,
            members,
            runtime: Handle::current(),
            node,
            was_slow,
            frames,
            waiting,
            interests: Mutex::default(),
            tasks: Mutex::new(vec![pumping.abort_handle()]),
        })
    }

    fn send(&self, subject: String, frame: Bytes) -> Result<(), Unsent> {
        let (length, limit) = (frame.len(), self.client.max_payload());
        if length > limit {
            return Err(Unsent::TooLong { length, limit });
        }
        let state = self.client.connection_state();
        if state != State::Connected {
            return Err(Unsent::Away(format!("the connection to NATS is {state}")));
        }
        let charge = length + FRAME_CHARGE;
        let waiting = self.waiting.fetch_add(charge, Ordering::Relaxed);
        if waiting > WAITING_MAX {
            self.waiting.fetch_sub(charge, Ordering::Relaxed);
            return Err(Unsent::Away(format!("{waiting} bytes wait to be written to NATS")));
        }
        let sent = self.frames.send((subject.into(), frame));
        sent.map_err(|_| Unsent::Away("its runtime has ended".to_owned()))
    }
}

impl Backplane for NatsBus {
    fn attach(&self, node: Node) {
        assert!(self.node.set(node.clone()).is_ok(), "a connection to a bus is for one broker");
        let hearing = hear(self.client.clone(), self.subjects.clone(), node.clone());
        let was_slow = self.was_slow.clone();
        let ticking = async move {
            let mut ticks = tokio::time::interval(TICK);
            loop {
                ticks.tick().await;
                if was_slow.swap(false, Ordering::Relaxed) {
                    tracing::warn!("messages from NATS came faster than they could be taken");
                    node.linked();
                }
                node.tick();
            }
        };
        let tasks = [self.runtime.spawn(hearing).abort_handle(), self.runtime.spawn(ticking).abort_handle()];
        self.tasks.lock().extend(tasks);
    }

    fn join(&self, interest: &Arc<Interest>, joined: Joined) {
        let Some(node) = self.node.get().cloned() else { return };
        let client = if interest.group().is_some() { &self.members } else { &self.client };
        let listening = listen(client.clone(), self.subjects.clone(), node, interest.clone(), joined);
        let task = self.runtime.spawn(listening).abort_handle();
        self.interests.lock().insert(interest.number(), task);
    }

    fn leave(&self, interest: &Arc<Interest>) {
        if let Some(task) = self.interests.lock().remove(&interest.number()) {
            task.abort();
        }
    }

    fn publish(&self, topic: &str, frame: Bytes) -> Result<(), Unsent> {
        self.send(self.subjects.of_topic(topic), frame)
    }

    fn control(&self, frame: Bytes) {
        if let Err(error) = self.send(self.subjects.control().to_owned(), frame) {
            tracing::debug!(%error, "the other brokers on the bus are not asked now");
        }
    }
}

impl Drop for NatsBus {
    fn drop(&mut self) {
        self.tasks.get_mut().iter().for_each(AbortHandle::abort);
        self.interests.get_mut().values().for_each(AbortHandle::abort);
    }
}

/// Heeds what async-nats tells of a connection.
fn heed(node: Option<&Node>, was_slow: &AtomicBool, event: &Event) {
    match event {
        Event::Connected => {
            tracing::debug!("connected to NATS");
            if let Some(node) = node {
                node.linked();
            }
        }
        Event::SlowConsumer(_) => was_slow.store(true, Ordering::Relaxed),
        Event::Disconnected => tracing::warn!("the connection to NATS is lost"),
        other => tracing::warn!(event = %other, "NATS says what it does not like"),
    }
}

/// Writes frames in their order. While NATS is away it waits.
async fn pump(client: Client, mut frames: UnboundedReceiver<(Subject, Bytes)>, waiting: Arc<AtomicUsize>) {
    let mut portion = Vec::with_capacity(PORTION);
    while frames.recv_many(&mut portion, PORTION).await > 0 {
        for (subject, frame) in portion.drain(..) {
            let charge = frame.len() + FRAME_CHARGE;
            // It may take less than when it was asked. The others will be told that something is missing.
            if let Err(error) = client.publish(subject, frame).await {
                tracing::debug!(%error, "a message is not published on the bus");
            }
            waiting.fetch_sub(charge, Ordering::Relaxed);
        }
    }
}

/// Listens to what other brokers ask.
async fn hear(client: Client, subjects: Arc<Subjects>, node: Node) {
    match client.subscribe(subjects.control().to_owned()).await {
        Ok(mut subscriber) => {
            while let Some(message) = subscriber.next().await {
                node.control(&message.payload);
            }
        }
        Err(error) => tracing::warn!(%error, "what other brokers ask is not heard"),
    }
}

/// Passes on what comes for an interest, until it is aborted.
async fn listen(client: Client, subjects: Arc<Subjects>, node: Node, interest: Arc<Interest>, joined: Joined) {
    // While NATS is away the subscriber gets what its own broker publishes, and need not wait.
    let mut joined = (client.connection_state() == State::Connected).then_some(joined);
    let subscribing = async {
        let subject = subjects.of_topic(interest.pattern());
        match interest.group() {
            Some(name) => client.queue_subscribe(subject, group(name)).await,
            None => client.subscribe(subject).await,
        }
    };
    tokio::pin!(subscribing);
    let subscribed = match tokio::time::timeout(JOIN_TIMEOUT, &mut subscribing).await {
        Ok(subscribed) => subscribed,
        Err(_) => {
            joined = None;
            subscribing.await
        }
    };
    let subscriber = match subscribed {
        Ok(subscriber) => subscriber,
        Err(error) => {
            tracing::warn!(%error, pattern = interest.pattern(), "nothing of the bus is heard");
            return;
        }
    };
    let mut messages = subscriber.ready_chunks(PORTION);
    let settled = settle(&client, subjects.nobody());
    tokio::pin!(settled);
    loop {
        tokio::select! {
            biased;
            () = &mut settled, if joined.is_some() => joined = None,
            portion = messages.next() => match portion {
                Some(portion) => deliver(&node, &subjects, &interest, portion),
                None => return,
            },
        }
    }
}

/// Waits until NATS has taken all that was sent on this connection before: its answer that nobody listens.
async fn settle(client: &Client, nobody: &str) {
    if client.connection_state() == State::Connected {
        let asking = client.request(nobody.to_owned(), Bytes::new());
        // Any answer will do. Without one it is better to go on than to let the subscriber wait.
        let _ = tokio::time::timeout(JOIN_TIMEOUT, asking).await;
    }
}

fn deliver(node: &Node, subjects: &Arc<Subjects>, interest: &Arc<Interest>, portion: Vec<Message>) {
    let frame = |message: Message| (Topic(message.subject, subjects.clone()), message.payload);
    node.deliver(interest, portion.into_iter().map(frame));
}

/// The topic in a subject.
struct Topic(Subject, Arc<Subjects>);

impl AsRef<str> for Topic {
    fn as_ref(&self) -> &str {
        self.1.topic_of(&self.0)
    }
}
