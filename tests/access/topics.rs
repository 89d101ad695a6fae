//! Tests of access rules for topics, for publishers and for the patterns of subscribers.

use super::support::TIMEOUT;
use frisbee_pubsub::{Broker, Client, ClientRouter, OPERATIONS, PubSubError};
use frisbee_tests::serve;
use frpc::{Channel, Connection, Server};
use frpc_access::{Access, Principal, Proof, TopicRules, Who};
use std::net::SocketAddr;
use tokio::sync::mpsc;

/// Returns rules for callers with the role `till`, and for every known caller.
fn rules() -> TopicRules {
    TopicRules::new()
        .publish(["orders.*.created", "news"], Who::role("till"))
        .subscribe(["orders.*.>"], Who::role("till"))
        .subscribe(["news"], Who::known())
}

/// Starts a server with topics and calls `connected` for its connections. Returns its address and broker.
async fn open(connected: impl Fn(&Connection) + Send + Sync + 'static) -> (SocketAddr, Broker) {
    let rules = rules();
    let broker = Broker::builder().permit(move |connection, wish| rules.may(connection, wish)).build();
    let access = Access::new().allow_mounted(OPERATIONS, Who::known());
    let server = Server::builder().mount(OPERATIONS, broker.clone()).access(access).on_connect(connected);
    (serve(server).await, broker)
}

/// Signs in a principal with the given name and a role of the same name.
fn sign_in(name: &str, connection: &Connection) {
    let somebody = Principal::new(name, Proof::Other).with_role(name).expiring_in(TIMEOUT);
    somebody.sign_in(connection).expect("previous principal should have expired");
}

/// Like [`open`], with connections signed in as `name`.
async fn open_for(name: &'static str) -> (SocketAddr, Broker) {
    open(move |connection| sign_in(name, connection)).await
}

/// Publishes and waits until the broker has handled all messages. Returns whether all were permitted.
async fn publish(client: &Client, topics: &[&str]) -> bool {
    for topic in topics {
        client.publish(topic, "today").await.expect("broker should accept the message");
    }
    match tokio::time::timeout(TIMEOUT, client.sync()).await.expect("call should complete within the timeout") {
        Ok(()) => true,
        Err(PubSubError::Refused(text)) => {
            assert!(text.starts_with("you may not publish to "), "{text}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns a separate client, and one on the connection of a channel.
async fn clients(address: SocketAddr) -> [(Client, Option<Channel>); 2] {
    let router = ClientRouter::new();
    let local = router.client();
    let channel = Channel::builder()
        .mount(OPERATIONS, router)
        .connect(address.to_string())
        .await
        .expect("server should accept the connection");
    [(Client::connect(address).await.expect("server should accept the connection"), None), (local, Some(channel))]
}

/// Returns the patterns to which the server lets a client subscribe.
async fn open_to(client: &Client) -> Vec<&'static str> {
    let mut open = Vec::new();
    for pattern in ["news", "orders.north.created", "orders.*.>", "orders.*", "orders.>", "*", ">"] {
        match tokio::time::timeout(TIMEOUT, client.subscribe(pattern))
            .await
            .expect("subscription should be accepted within the timeout")
        {
            Ok(_subscription) => open.push(pattern),
            Err(PubSubError::Refused(text)) => assert_eq!(text, format!("you may not subscribe to {pattern}")),
            Err(error) => panic!("{error}"),
        }
    }
    open
}

#[tokio::test]
async fn caller_subscribes_only_to_permitted_patterns() {
    for (name, expected) in [("till", vec!["news", "orders.north.created", "orders.*.>"]), ("guest", vec!["news"])] {
        for (client, _channel) in clients(open_for(name).await.0).await {
            assert_eq!(open_to(&client).await, expected, "{name}");
        }
    }
}

#[tokio::test]
async fn forbidden_publish_is_dropped() {
    for (name, expected) in [("till", 2), ("guest", 0)] {
        let (address, broker) = open_for(name).await;
        for (client, _channel) in clients(address).await {
            let before = broker.published();
            let topics = ["orders.north.created", "orders.north.gone", "news", "news.local", "orders"];
            assert!(!publish(&client, &topics).await, "publisher should be notified of the rejection");
            assert_eq!(broker.published() - before, expected, "{name}");
        }
    }
}

#[tokio::test]
async fn publish_is_checked_against_last_principal() {
    let (sender, mut connections) = mpsc::unbounded_channel();
    let (address, broker) = open(move |connection| drop(sender.send(connection.clone()))).await;
    let client = Client::connect(address).await.expect("server should accept the connection");
    let connection = connections.recv().await.expect("channel should stay open");
    for (name, published) in [("till", 1), ("guest", 1), ("till", 2)] {
        sign_in(name, &connection);
        assert_eq!(publish(&client, &["news"]).await, name == "till");
        assert_eq!(broker.published(), published, "{name}");
    }
}

/// Regression: a rule for `>` also let callers watch presence, whose topics no wildcard of a subscription matches.
#[tokio::test]
async fn watching_presence_requires_its_own_rule() {
    for (rule, expected) in [(">", false), ("*.rooms.lobby", false), ("$presence.>", true)] {
        let rules = TopicRules::new().subscribe([rule], Who::anybody());
        let broker = Broker::builder().presence("rooms.*", |_| Some("ada".to_owned()));
        let broker = broker.permit(move |connection, wish| rules.may(connection, wish)).build();
        let access = Access::new().allow_mounted(OPERATIONS, Who::anybody());
        let address = serve(Server::builder().mount(OPERATIONS, broker).access(access)).await;
        let client = Client::connect(address).await.expect("server should listen");
        let watched = tokio::time::timeout(TIMEOUT, client.subscribe("$presence.rooms.lobby")).await;
        assert_eq!(watched.expect("broker should answer").is_ok(), expected, "{rule}");
    }
}
