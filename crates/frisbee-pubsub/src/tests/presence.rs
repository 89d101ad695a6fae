//! Tests of presence: the list of a topic's subscribers, and its changes.

use frisbee::{Acceptor, Server, memory};
use frisbee_pubsub::{Broker, Client, Presence, PresenceEvent, PubSubError, RecvError, Start, TopicUse};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A broker that names connections by a value that is set before they subscribe.
struct Rooms {
    acceptor: Acceptor<Broker>,
    name: Arc<Mutex<Option<String>>>,
    serving: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Rooms {
    fn new() -> Self {
        Self::of("rooms.*")
    }

    fn of(pattern: &str) -> Self {
        let name = Arc::<Mutex<Option<String>>>::default();
        let current = name.clone();
        let broker =
            Broker::builder().presence(pattern, move |_| current.lock().clone()).permit(|_, wish| match wish {
                TopicUse::Subscribe(pattern) => !pattern.ends_with("closed"),
                _ => true,
            });
        let acceptor =
            Server::builder().build(broker.build()).expect("settings of the broker's server should be valid");
        Self { acceptor, name, serving: Arc::default() }
    }

    async fn client(&self) -> Client {
        let (acceptor, serving) = (self.acceptor.clone(), self.serving.clone());
        let connector = move || {
            let (ours, theirs) = memory();
            let acceptor = acceptor.clone();
            let task = tokio::spawn(async move { drop(acceptor.serve_connection(theirs).await) });
            serving.lock().push(task.abort_handle());
            async { Ok(ours) }
        };
        Client::connect_with_connector(frisbee::Client::builder(), connector).await.expect("broker should be reachable")
    }

    /// Sets the name of connections that subscribe later.
    fn set_name(&self, name: impl Into<Option<&'static str>>) {
        *self.name.lock() = name.into().map(str::to_owned);
    }
}

async fn next(presence: &mut Presence) -> PresenceEvent {
    received(presence).await.expect("no change should be missing")
}

async fn received(presence: &mut Presence) -> Result<PresenceEvent, RecvError> {
    timeout(TIMEOUT, presence.recv()).await.expect("presence event should arrive within the timeout")
}

fn joined(name: &str, connections: u64) -> (String, u64, bool) {
    (name.to_owned(), connections, true)
}

fn left(name: &str, connections: u64) -> (String, u64, bool) {
    (name.to_owned(), connections, false)
}

async fn change(presence: &mut Presence) -> (String, u64, bool) {
    match next(presence).await {
        PresenceEvent::Joined { name, connections } => (name, connections, true),
        PresenceEvent::Left { name, connections } => (name, connections, false),
        other => panic!("event should be a change of the subscribers: {other:?}"),
    }
}

fn list(names: &[(&str, u64)]) -> BTreeMap<String, u64> {
    names.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[tokio::test]
async fn watcher_gets_presence_changes_in_order() {
    let rooms = Rooms::new();
    let [first, second, third] = [rooms.client().await, rooms.client().await, rooms.client().await];
    let mut all = third.subscribe(">").await.expect("broker should accept the subscription");
    rooms.set_name("ada");
    let lobby = first.subscribe("rooms.lobby").await.expect("broker should accept the subscription");
    let mut presence = third.presence("rooms.lobby").await.expect("broker should accept the subscription");
    assert_eq!(next(&mut presence).await, PresenceEvent::Present { connections: list(&[("ada", 1)]), omitted: 0 });
    let again = first.subscribe_from("rooms.lobby", Start::Now).await.expect("broker should accept the subscription");
    let other = second.queue_subscribe("rooms.lobby", "workers").await.expect("broker should accept the subscription");
    assert_eq!(
        change(&mut presence).await,
        joined("ada", 2),
        "several subscriptions of a connection should count as one"
    );
    rooms.set_name("bob");
    let bob = third.subscribe("rooms.lobby").await.expect("broker should accept the subscription");
    assert_eq!(change(&mut presence).await, joined("bob", 1));
    assert_eq!(*presence.connections(), list(&[("ada", 2), ("bob", 1)]));
    drop((lobby, bob));
    assert_eq!(change(&mut presence).await, left("bob", 0));
    drop(again);
    assert_eq!(change(&mut presence).await, left("ada", 1));
    drop((second, other));
    assert_eq!(change(&mut presence).await, left("ada", 0));
    assert!(presence.connections().is_empty());
    third.publish("rooms.lobby", "the end").await.expect("broker should accept the message");
    assert_eq!(
        all.recv().await.expect("subscriber should receive the last message").payload(),
        "the end",
        "wildcard should not match presence messages"
    );
}

#[tokio::test]
async fn unnamed_and_unrelated_subscribers_are_unlisted() {
    let rooms = Rooms::new();
    let client = rooms.client().await;
    let mut presence = client.presence("rooms.lobby").await.expect("broker should accept the subscription");
    let nothing = PresenceEvent::Present { connections: list(&[]), omitted: 0 };
    assert_eq!(next(&mut presence).await, nothing);
    let unnamed = client.subscribe("rooms.lobby").await;
    rooms.set_name("ada");
    let held = [unnamed, client.subscribe("rooms.*").await, client.subscribe("rooms.hall").await];
    rooms.set_name("");
    let empty = client.subscribe("rooms.lobby").await;
    rooms.set_name("eve");
    let _eve = client.subscribe("rooms.lobby").await.expect("broker should accept the subscription");
    assert_eq!(change(&mut presence).await, joined("eve", 1), "unnamed and other subscriptions should not be reported");
    assert!(held.iter().chain([&empty]).all(Result::is_ok));
}

#[tokio::test]
async fn watchers_are_not_listed_themselves() {
    let rooms = Rooms::of(">");
    let client = rooms.client().await;
    rooms.set_name("ada");
    let _watched = client.presence("lobby").await.expect("broker should accept the subscription");
    let mut watchers = client.presence("$presence.lobby").await.expect("broker should accept the subscription");
    assert_eq!(next(&mut watchers).await, PresenceEvent::Present { connections: list(&[]), omitted: 0 });
}

#[tokio::test]
async fn reconnected_watcher_gets_new_list() {
    let rooms = Rooms::new();
    let watching = rooms.client().await;
    let mut presence = watching.presence("rooms.lobby").await.expect("broker should accept the subscription");
    next(&mut presence).await;
    let kept = rooms.client().await;
    rooms.set_name("ada");
    let _ada = kept.subscribe("rooms.lobby").await.expect("broker should accept the subscription");
    assert_eq!(change(&mut presence).await, joined("ada", 1));
    rooms.serving.lock()[0].abort();
    assert!(matches!(received(&mut presence).await, Err(RecvError::Reconnected)));
    assert_eq!(next(&mut presence).await, PresenceEvent::Present { connections: list(&[("ada", 1)]), omitted: 0 });
}

#[tokio::test]
async fn list_of_large_room_is_bounded() {
    let rooms = Rooms::new();
    let mut clients = Vec::new();
    for number in 0..1003 {
        *rooms.name.lock() = Some(format!("{number:04}"));
        let client = rooms.client().await;
        clients.push((client.subscribe("rooms.lobby").await.expect("broker should accept the subscription"), client));
    }
    let mut presence =
        rooms.client().await.presence("rooms.lobby").await.expect("broker should accept the subscription");
    let PresenceEvent::Present { connections, omitted } = next(&mut presence).await else {
        panic!("first event should be the list of subscribers")
    };
    assert_eq!((connections.len(), omitted), (1000, 3));
}

#[tokio::test]
async fn forged_and_forbidden_presence_is_refused() {
    let rooms = Rooms::new();
    let client = rooms.client().await;
    let refused = |error| match error {
        PubSubError::Refused(text) => text,
        other => panic!("{other}"),
    };
    for (pattern, text) in [
        ("$presence.rooms.*", "without wildcards"),
        ("$presence.>", "without wildcards"),
        ("$presence.halls.great", "topic halls.great has no presence"),
        ("$presence.rooms.closed", "you may not subscribe to $presence.rooms.closed"),
    ] {
        let error = refused(client.subscribe(pattern).await.expect_err("broker should reject the subscription"));
        assert!(error.contains(text), "{pattern}: {error}");
    }
    let error = client
        .queue_subscribe("$presence.rooms.lobby", "workers")
        .await
        .expect_err("broker should reject the queue subscription");
    assert!(refused(error).contains("without wildcards and group"));
    client
        .publish("$presence.rooms.lobby", r#"{"left":"ada","connections":0}"#)
        .await
        .expect("broker should accept the message");
    assert!(
        refused(client.sync().await.expect_err("broker should report the rejected message"))
            .contains("only the broker publishes")
    );
}

#[test]
fn message_of_another_form_is_no_event() {
    for payload in [&b""[..], b"{}", b"[1]", b"{\"joined\":1,\"connections\":1}", b"{\"present\":[],\"omitted\":0}"] {
        assert_eq!(PresenceEvent::decode(payload), None);
    }
}
