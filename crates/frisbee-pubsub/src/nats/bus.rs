//! Connections to NATS, over which a broker subscribes, publishes and receives messages.
//!
//! There are two connections. The first one publishes messages and has all subscriptions outside of queue groups. NATS
//! does not echo its own messages to it. The second one has the subscriptions of queue groups, because their members
//! also receive the messages of their own broker.

use crate::nats::batch;
use crate::nats::groups::{self, Groups};
use crate::nats::outgoing::{Outgoing, Writer};
use crate::nats::subjects::{Subjects, group};
use crate::reconnect::pause;
use crate::{Backplane, BackplaneError, Interest, Node, PendingInterest};
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Message, ToServerAddrs};
use bytes::Bytes;
use futures_util::StreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// Maximum number of NATS messages that are processed at once, about as many as arrive in several reads.
const PORTION: usize = 256;

/// Maximum number of bytes that are delivered to a broker at once. The limit is low because a slow subscriber loses
/// whole batches. A single message may be longer.
const PASSED_MAX: usize = 16 * 1024;

/// Number of bytes after which the NATS client is flushed. Flushing limits the memory of the client's queue, which may
/// otherwise contain 2048 messages of any size.
const UNFLUSHED_MAX: usize = 1024 * 1024;

/// Maximum pause between attempts to connect to NATS. It is short enough that the bus works again within two seconds
/// after a NATS server has restarted.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Minimum interval between two replies to brokers that ask whether they missed messages, and between two such queries
/// by this broker.
const TICK: Duration = Duration::from_millis(250);

/// Time within which NATS should activate a subscription. Afterwards, the subscription is reported as active in any
/// case.
const JOIN_TIMEOUT: Duration = Duration::from_secs(3);

/// A backplane that connects a broker to others through NATS.
///
/// If the connection to NATS is lost, the bus tries to reconnect to all configured servers without a limit.
pub struct NatsBus {
    subjects: Arc<Subjects>,
    /// NATS connection for everything except queue groups.
    client: Client,
    /// NATS connection for queue groups.
    members: Client,
    runtime: Handle,
    node: Arc<OnceLock<Node>>,
    /// Whether the NATS client has dropped messages because they arrived too fast. The client reports each dropped
    /// message.
    was_slow: Arc<AtomicBool>,
    outgoing: Arc<Outgoing>,
    groups: Arc<Groups>,
    /// Tasks that receive messages from NATS: one task for each registered pattern, by the number of the registration.
    interests: Mutex<HashMap<u64, AbortHandle>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl fmt::Debug for NatsBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.client.connection_state();
        f.debug_struct("NatsBus").field("subjects", &self.subjects).field("state", &state).finish_non_exhaustive()
    }
}

/// Returns the default async-nats options of a [`NatsBus`], which [`connect`](NatsBus::connect) uses. A lost connection
/// is retried at least every half second.
pub fn options() -> ConnectOptions {
    let pause = |attempts: usize| pause(attempts, Duration::from_millis(2), PAUSE_MAX);
    ConnectOptions::new().reconnect_delay_callback(pause)
}

impl NatsBus {
    /// Connects a broker to NATS on the bus with this name. Brokers with the same bus name exchange messages.
    ///
    /// The name consists of 1 to 64 letters, digits, hyphens and underscores. All subjects of a bus start with its name
    /// and a dot.
    ///
    /// # Errors
    /// If the name is invalid, or no server accepts the connections.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn connect(name: &str, servers: impl ToServerAddrs) -> io::Result<Self> {
        Self::connect_with(name, servers, options()).await
    }

    /// Like [`connect`](Self::connect), but with async-nats options such as credentials, TLS and timeouts. Start from
    /// [`options`].
    ///
    /// This method overrides `no_echo`, `event_callback` and `skip_subject_validation`.
    ///
    /// # Errors
    /// Same as [`connect`](Self::connect).
    ///
    /// # Cancel safety
    /// Same as [`connect`](Self::connect).
    ///
    /// # Panics
    /// Same as [`connect`](Self::connect).
    pub async fn connect_with(name: &str, servers: impl ToServerAddrs, options: ConnectOptions) -> io::Result<Self> {
        let subjects = Arc::new(Subjects::of(name)?);
        let servers: Vec<_> = servers.to_server_addrs()?.collect();
        let node = Arc::<OnceLock<Node>>::default();
        let options = options.skip_subject_validation(true);
        let was_slow = Arc::<AtomicBool>::default();
        let outgoing = Arc::new(Outgoing::new(subjects.clone()));
        let groups = Arc::new(Groups::new());
        let (told, slow, asking, queue) = (node.clone(), was_slow.clone(), groups.clone(), outgoing.clone());
        // The broker delivers its own messages to its subscribers directly, so this connection needs no echo.
        let first = options.clone().no_echo().event_callback(move |event| {
            handle_event(told.get(), &slow, &event);
            if matches!(event, Event::Connected) {
                ask(&asking, &queue);
            }
            std::future::ready(())
        });
        let client = first.connect(&servers[..]).await.map_err(io::Error::other)?;
        // Messages for queue groups have no counts, so these events are the only way to detect their loss.
        let slow = was_slow.clone();
        // This connection has an echo, because NATS also distributes the broker's own messages among group members.
        let second = options.event_callback(move |event| {
            handle_event(None, &slow, &event);
            std::future::ready(())
        });
        let members = second.connect(&servers[..]).await.map_err(io::Error::other)?;
        ask(&groups, &outgoing);
        let pumping = tokio::spawn(pump(client.clone(), Writer(outgoing.clone())));
        Ok(Self {
            subjects,
            client,
            members,
            runtime: Handle::current(),
            node,
            was_slow,
            outgoing,
            groups,
            interests: Mutex::default(),
            tasks: Mutex::new(vec![pumping.abort_handle()]),
        })
    }

    /// Returns the maximum size of a message at the NATS server. Fails if `length` bytes are more than that, or if NATS
    /// is disconnected. Queue groups also need the second connection, which receives their messages.
    fn room(&self, length: usize) -> Result<usize, BackplaneError> {
        let limit = self.client.max_payload();
        if length > limit {
            return Err(BackplaneError::TooLong { length, limit });
        }
        let mut state = self.client.connection_state();
        if state == State::Connected && self.groups.is_joined() {
            state = self.members.connection_state();
        }
        if state != State::Connected {
            return Err(BackplaneError::Away(format!("the connection to NATS is {state}")));
        }
        Ok(limit)
    }
}

impl Backplane for NatsBus {
    fn attach(&self, node: Node) {
        assert!(self.node.set(node.clone()).is_ok(), "bus connection should belong to a single broker");
        let receiving = receive_control(self.client.clone(), self.subjects.clone(), node.clone(), self.groups.clone());
        let was_slow = self.was_slow.clone();
        let (groups, outgoing) = (self.groups.clone(), self.outgoing.clone());
        let ticking = async move {
            let mut ticks = tokio::time::interval(TICK);
            loop {
                ticks.tick().await;
                if was_slow.swap(false, Ordering::Relaxed) {
                    tracing::warn!(target: "frisbee::pubsub", "NATS messages dropped: subscriber too slow");
                    node.linked();
                }
                node.tick();
                if groups.tick() {
                    broadcast(groups::HAS_MEMBERS, &outgoing);
                }
            }
        };
        let tasks = [self.runtime.spawn(receiving).abort_handle(), self.runtime.spawn(ticking).abort_handle()];
        self.tasks.lock().extend(tasks);
    }

    fn join(&self, interest: &Arc<Interest>, joined: PendingInterest) {
        let Some(node) = self.node.get().cloned() else { return };
        let is_member = interest.group().is_some();
        if is_member && self.groups.enter() {
            broadcast(groups::HAS_MEMBERS, &self.outgoing);
        }
        let client = if is_member { &self.members } else { &self.client };
        let listening = listen(client.clone(), self.subjects.clone(), node, interest.clone(), joined);
        let task = self.runtime.spawn(listening).abort_handle();
        self.interests.lock().insert(interest.number(), task);
    }

    fn leave(&self, interest: &Arc<Interest>) {
        if let Some(task) = self.interests.lock().remove(&interest.number()) {
            task.abort();
            if interest.group().is_some() {
                self.groups.exit();
            }
        }
    }

    fn publish(&self, topic: &str, frame: Bytes) -> Result<(), BackplaneError> {
        let limit = self.room(frame.len())?;
        let batch_max = (!self.groups.may_be()).then_some(limit);
        self.outgoing.publish(topic, frame, batch_max)
    }

    fn control(&self, frame: Bytes) {
        match self.room(frame.len()) {
            Ok(_) => broadcast(frame, &self.outgoing),
            Err(error) => tracing::debug!(%error, "requests to other brokers on the bus are delayed"),
        }
    }
}

impl Drop for NatsBus {
    fn drop(&mut self) {
        self.tasks.get_mut().iter().for_each(AbortHandle::abort);
        self.interests.get_mut().values().for_each(AbortHandle::abort);
    }
}

/// Handles a connection event of async-nats.
fn handle_event(node: Option<&Node>, was_slow: &AtomicBool, event: &Event) {
    match event {
        Event::Connected => {
            tracing::debug!("connected to NATS");
            if let Some(node) = node {
                node.linked();
            }
        }
        Event::SlowConsumer(_) => was_slow.store(true, Ordering::Relaxed),
        Event::Disconnected => tracing::warn!(target: "frisbee::pubsub", "NATS connection lost"),
        other => tracing::warn!(target: "frisbee::pubsub", event = %other, "NATS reported an error"),
    }
}

/// Sends a control frame to all other brokers.
fn broadcast(frame: impl Into<Bytes>, outgoing: &Outgoing) {
    if let Err(error) = outgoing.control(frame.into()) {
        tracing::debug!(%error, "messages to other brokers on the bus are delayed");
    }
}

/// Queries the other brokers for members of queue groups.
fn ask(groups: &Groups, outgoing: &Outgoing) {
    groups.ask();
    broadcast(groups::ASKS, outgoing);
}

/// Writes queued frames to NATS in order. Waits while NATS is disconnected.
async fn pump(client: Client, writer: Writer) {
    let (mut portion, mut unflushed) = (Vec::new(), 0);
    loop {
        writer.take(&mut portion).await;
        for waiting in portion.drain(..) {
            let charge = waiting.charge;
            unflushed += charge;
            // Publishing fails if the NATS server has lowered its maximum message size. Other brokers detect the loss
            // by the message counts.
            if let Err(error) = client.publish(waiting.subject, waiting.payload.into()).await {
                tracing::debug!(%error, "message not published on the bus");
            }
            if unflushed > UNFLUSHED_MAX {
                unflushed = 0;
                // Ignore the error, because flushing fails only if the client is closed. Publishing then fails as well.
                let _ = client.flush().await;
            }
            writer.written(charge);
        }
    }
}

/// Receives the control frames that other brokers send.
async fn receive_control(client: Client, subjects: Arc<Subjects>, node: Node, groups: Arc<Groups>) {
    match client.subscribe(subjects.control.clone()).await {
        Ok(mut subscriber) => {
            while let Some(message) = subscriber.next().await {
                groups.handle_control(&message.payload);
                node.control(&message.payload);
            }
        }
        Err(error) => tracing::warn!(target: "frisbee::pubsub", %error, "control subscription failed"),
    }
}

/// Receives messages for a registered pattern from NATS and delivers them to the broker until the task is aborted.
async fn listen(client: Client, subjects: Arc<Subjects>, node: Node, interest: Arc<Interest>, joined: PendingInterest) {
    // If NATS is disconnected, activate the interest now instead of waiting, because the subscriber can already receive
    // messages of its own broker.
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
            tracing::warn!(target: "frisbee::pubsub", %error, pattern = interest.pattern(), "bus subscription failed");
            return;
        }
    };
    let mut messages = subscriber.ready_chunks(PORTION);
    let settled = settle(&client, &subjects.unused);
    tokio::pin!(settled);
    loop {
        tokio::select! {
            // Poll `settled` first, so that the pattern becomes active even if messages arrive without pause.
            biased;
            () = &mut settled, if joined.is_some() => joined = None,
            portion = messages.next() => match portion {
                Some(portion) => deliver(&node, &subjects, &interest, &portion),
                None => return,
            },
        }
    }
}

/// Waits until NATS has processed all earlier packets of this connection. Sends a request to a subject without
/// subscribers. NATS replies to it immediately.
async fn settle(client: &Client, unused: &str) {
    if client.connection_state() == State::Connected {
        let asking = client.request(unused.to_owned(), Bytes::new());
        // Any reply suffices. Continue after a timeout, instead of blocking the subscriber.
        let _ = tokio::time::timeout(JOIN_TIMEOUT, asking).await;
    }
}

fn deliver(node: &Node, subjects: &Subjects, interest: &Arc<Interest>, mut portion: &[Message]) {
    while !portion.is_empty() {
        let mut length = 0;
        let fits = |message: &&Message| {
            length += message.payload.len();
            length <= PASSED_MAX
        };
        let count = portion.iter().take_while(fits).count().max(1);
        let (now, later) = portion.split_at(count);
        let frames = now.iter().flat_map(|message| {
            let topic = subjects.topic_of(&message.subject);
            batch::frames(&message.payload).map(move |frame| (topic, frame))
        });
        node.deliver(interest, frames);
        portion = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;

    /// Accepts connections of NATS clients and completes the handshake, but then reads nothing.
    async fn greet(listener: TcpListener) {
        let mut clients = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            let mut client = BufReader::new(socket);
            let greeting = b"INFO {\"server_id\":\"x\",\"max_payload\":1048576}\r\n";
            client.write_all(greeting).await.expect("NATS client should accept the greeting");
            let mut line = String::new();
            while line.trim_end() != "PING" {
                line.clear();
                client.read_line(&mut line).await.expect("NATS client should send a line");
            }
            client.write_all(b"PONG\r\n").await.expect("NATS client should accept the PONG");
            clients.push(client);
        }
    }

    /// Regression test: frames were passed directly to the NATS client, which queued up to 2048 messages of any size
    /// for a server that does not read.
    #[tokio::test]
    async fn messages_for_stalled_server_are_rejected() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("socket should bind to the loopback address");
        let address = listener.local_addr().expect("listener should have a local address").to_string();
        tokio::spawn(greet(listener));
        let bus = NatsBus::connect("shop", address).await.expect("bus should connect to the test server");
        let frame = Bytes::from(vec![1; 1 << 20]);
        let mut published = 0;
        for _ in 0..10_000 {
            match bus.publish("a", frame.clone()) {
                Ok(()) => published += 1,
                Err(_) => tokio::task::yield_now().await,
            }
        }
        assert!((16..64).contains(&published), "{published} MiB wait to be published");
    }
}
