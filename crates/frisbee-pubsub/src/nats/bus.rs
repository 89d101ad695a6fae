//! The connections to NATS: the interests of the broker, its publications, and received messages.
//!
//! There are two. One publishes and has the subscriptions; NATS does not echo its publications. The other has those of
//! queue groups, whose members also get the messages of their own broker.

use crate::nats::batch;
use crate::nats::groups::{self, Groups};
use crate::nats::outgoing::{FrameOptions, Outgoing, Writer};
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

/// Messages of NATS that are taken at one time: some reads' worth.
const PORTION: usize = 256;

/// The bytes of messages that are passed on at one time, so that a subscriber that is slow loses them in portions of this
/// length. One message may be longer.
const PASSED_MAX: usize = 16 * 1024;

/// The bytes after which the queue of NATS's client is flushed: that has 2048 places for messages of any length.
const UNFLUSHED_MAX: usize = 1024 * 1024;

/// The longest pause before NATS is tried again, so that a bus is whole within two seconds after its server is back.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// The shortest time between answers to brokers that have requested their losses, and between this one's own requests.
const TICK: Duration = Duration::from_millis(250);

/// How long NATS may take to broadcast that a subscription is in effect, before its subscriber is answered all the same.
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
    outgoing: Arc<Outgoing>,
    groups: Arc<Groups>,
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

/// The settings of async-nats of a [`NatsBus`] that connects by itself: a lost server is retried after half a second at
/// most.
pub fn options() -> ConnectOptions {
    let pause = |attempts: usize| pause(attempts, Duration::from_millis(2), PAUSE_MAX);
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
    /// Dropping the future cancels the attempt.
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
        let outgoing = Arc::new(Outgoing::new(subjects.clone()));
        let groups = Arc::new(Groups::new());
        let (told, slow, asking, queue) = (node.clone(), was_slow.clone(), groups.clone(), outgoing.clone());
        let first = options.clone().no_echo().event_callback(move |event| {
            handle_event(told.get(), &slow, &event);
            if matches!(event, Event::Connected) {
                ask(&asking, &queue);
            }
            std::future::ready(())
        });
        let client = first.connect(&servers[..]).await.map_err(io::Error::other)?;
        // Groups have no counts, so nothing is requested for them.
        let slow = was_slow.clone();
        let second = options.event_callback(move |event| {
            handle_event(None, &slow, &event);
            std::future::ready(())
        });
        let members = second.connect(&servers[..]).await.map_err(io::Error::other)?;
        ask(&groups, &outgoing);
        let pumping = tokio::spawn(pump(client.clone(), Writer::of(&outgoing)));
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

    /// The most bytes of a message of NATS, if it takes one of so many now.
    fn room(&self, length: usize) -> Result<usize, BackplaneError> {
        let limit = self.client.max_payload();
        if length > limit {
            return Err(BackplaneError::TooLong { length, limit });
        }
        let state = self.client.connection_state();
        if state != State::Connected {
            return Err(BackplaneError::Away(format!("the connection to NATS is {state}")));
        }
        Ok(limit)
    }
}

impl Backplane for NatsBus {
    fn attach(&self, node: Node) {
        assert!(self.node.set(node.clone()).is_ok(), "a connection to a bus is for one broker");
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
                    broadcast(groups::has_members(), &outgoing);
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
            broadcast(groups::has_members(), &self.outgoing);
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
        let with = if self.groups.may_be() { FrameOptions::Nobody } else { FrameOptions::Others(limit) };
        self.outgoing.publish(topic, frame, with)
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

/// Handles an event of async-nats about a connection.
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

/// Broadcasts a frame to all other brokers.
fn broadcast(frame: impl Into<Bytes>, outgoing: &Outgoing) {
    if let Err(error) = outgoing.control(frame.into()) {
        tracing::debug!(%error, "messages to other brokers on the bus are delayed");
    }
}

/// Requests the brokers with members of groups.
fn ask(groups: &Groups, outgoing: &Outgoing) {
    groups.ask();
    broadcast(groups::asks(), outgoing);
}

/// Writes the queue in order. While NATS is away it waits.
async fn pump(client: Client, writer: Writer) {
    let (mut portion, mut unflushed) = (Vec::new(), 0);
    loop {
        writer.take(&mut portion).await;
        for waiting in portion.drain(..) {
            let charge = waiting.charge();
            unflushed += charge;
            // It may accept less than when it was queried. The others will learn that something is missing.
            if let Err(error) = client.publish(waiting.subject, waiting.payload.into()).await {
                tracing::debug!(%error, "message not published on the bus");
            }
            if unflushed > UNFLUSHED_MAX {
                unflushed = 0;
                // Fails if the client has ended, as each message does.
                let _ = client.flush().await;
            }
            writer.written(charge);
        }
    }
}

/// Receives the requests of other brokers.
async fn receive_control(client: Client, subjects: Arc<Subjects>, node: Node, groups: Arc<Groups>) {
    match client.subscribe(subjects.control().to_owned()).await {
        Ok(mut subscriber) => {
            while let Some(message) = subscriber.next().await {
                groups.handle_control(&message.payload);
                node.control(&message.payload);
            }
        }
        Err(error) => tracing::warn!(target: "frisbee::pubsub", %error, "control subscription failed"),
    }
}

/// Forwards the messages of an interest, until it is aborted.
async fn listen(client: Client, subjects: Arc<Subjects>, node: Node, interest: Arc<Interest>, joined: PendingInterest) {
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
            tracing::warn!(target: "frisbee::pubsub", %error, pattern = interest.pattern(), "bus subscription failed");
            return;
        }
    };
    let mut messages = subscriber.ready_chunks(PORTION);
    let settled = settle(&client, subjects.unused());
    tokio::pin!(settled);
    loop {
        tokio::select! {
            biased;
            () = &mut settled, if joined.is_some() => joined = None,
            portion = messages.next() => match portion {
                Some(portion) => deliver(&node, &subjects, &interest, &portion),
                None => return,
            },
        }
    }
}

/// Waits until NATS has accepted all earlier messages of this connection: its answer that there are no responders.
async fn settle(client: &Client, unused: &str) {
    if client.connection_state() == State::Connected {
        let asking = client.request(unused.to_owned(), Bytes::new());
        // Any answer will do. Without one it is better to continue than to let the subscriber wait.
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

    /// A server that greets its clients, and reads nothing after that.
    async fn greet(listener: TcpListener) {
        let mut clients = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            let mut client = BufReader::new(socket);
            let greeting = b"INFO {\"server_id\":\"x\",\"max_payload\":1048576}\r\n";
            client.write_all(greeting).await.expect("write should succeed");
            let mut line = String::new();
            while line.trim_end() != "PING" {
                line.clear();
                client.read_line(&mut line).await.expect("line should be readable");
            }
            client.write_all(b"PONG\r\n").await.expect("write should succeed");
            clients.push(client);
        }
    }

    /// They were passed to the client of NATS, which holds 2048 messages of any length.
    #[tokio::test]
    async fn messages_for_a_server_that_reads_nothing_are_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address").to_string();
        tokio::spawn(greet(listener));
        let bus = NatsBus::connect("shop", address).await.expect("it greets");
        let frame = Bytes::from(vec![1; 1 << 20]);
        let mut published = 0;
        for _ in 0..10_000 {
            match bus.publish("a", frame.clone()) {
                Ok(()) => published += 1,
                Err(_) => tokio::task::yield_now().await,
            }
        }
        assert!((16..64).contains(&published), "{published} MiB wait");
    }
}
