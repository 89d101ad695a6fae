//! Tests of a bus and a durable topic on a cluster of three NATS servers. One of the servers is killed.

use super::super::databases::servers::{self, Nats};
use super::durable::{Book, work, write};
use super::{BROKERS, Load, TIMEOUT, listen_everywhere, next, serve, settle, until};
use frisbee_pubsub::nats::NatsBus;
use frisbee_pubsub::nats::durable::{DurableTopic, OpenError, Replay};
use frisbee_pubsub::{Broker, Client};
use futures_util::StreamExt;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Waits until each server forwards messages to all others.
async fn joined(nodes: &[Nats]) {
    for node in nodes {
        let here = async_nats::connect(&node.address).await.expect("NATS should accept the connection");
        let mut received = here.subscribe("ready").await.expect("broker should accept the subscription");
        here.flush().await.expect("flush should succeed");
        for other in nodes {
            let there = async_nats::connect(&other.address).await.expect("NATS should accept the connection");
            loop {
                there.publish("ready", other.address.clone().into()).await.expect("broker should accept the message");
                there.flush().await.expect("flush should succeed");
                let message = timeout(Duration::from_millis(50), received.next()).await;
                if message
                    .is_ok_and(|message| message.is_some_and(|message| *message.payload == *other.address.as_bytes()))
                {
                    break;
                }
            }
        }
    }
}

/// Returns a client of a broker that knows all servers and first connects to one of them.
async fn client(nodes: &[Nats], at: usize) -> Client {
    let mut addresses: Vec<_> = nodes.iter().map(|node| node.address.clone()).collect();
    addresses.rotate_left(at);
    let options = frisbee_pubsub::nats::options().retain_servers_order();
    let bus = NatsBus::connect_with("test", addresses, options).await.expect("NATS should be reachable");
    serve(Broker::builder().backplane(bus).build()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_node_reports_gap_and_fails_over() {
    let Some(mut nodes) = servers::nats_cluster(BROKERS, &[]).await else { return };
    joined(&nodes).await;
    let mut clients = Vec::new();
    for at in 0..BROKERS {
        clients.push(client(&nodes, at).await);
    }
    let accounts = listen_everywhere(&clients).await;
    // This member of a group is at the broker whose NATS server will be killed.
    let mut jobs = clients[0].queue_subscribe("jobs", "workers").await.expect("broker should accept the subscription");
    let mut load = Load::start(&clients, None);
    let received_by_all = |least: u64| accounts.iter().all(|account| account.received.load(Ordering::SeqCst) >= least);
    until("all messages are received", || received_by_all(3_000)).await;
    nodes[0].kill().await;
    // Subscribers at the other two servers receive each other's messages without interruption. While the first server
    // is down, messages between it and the others are lost.
    until("the lost messages are reported", || {
        accounts.iter().all(|account| account.missed.load(Ordering::SeqCst) > 0)
    })
    .await;
    // This is far more than the number of messages in flight.
    let received: Vec<_> = accounts.iter().map(|account| account.received.load(Ordering::SeqCst)).collect();
    let goes_on = || {
        accounts
            .iter()
            .zip(&received)
            .all(|(account, received)| account.received.load(Ordering::SeqCst) > received + 3_000)
    };
    until("the bus recovers", goes_on).await;
    let published = load.end().await;
    settle(&accounts, published).await;
    let missed: Vec<_> = accounts.iter().map(|account| account.missed.load(Ordering::SeqCst)).collect();
    println!("{published} published, missed: {missed:?}");
    // The subscription of a group must continue too.
    clients[1].publish("jobs", "1").await.expect("broker should accept the message");
    assert_eq!(next(&mut jobs).await.expect("connection should stay open"), "jobs 1");
    clients[0].publish("jobs", "2").await.expect("broker should accept the message");
    assert_eq!(next(&mut jobs).await.expect("connection should stay open"), "jobs 2");
}

/// Opens a topic that all three servers store. Waits until the servers have found each other.
async fn replicated(nodes: &[Nats]) -> DurableTopic {
    let addresses: Vec<_> = nodes.iter().map(|node| node.address.clone()).collect();
    let client = frisbee_pubsub::nats::options().connect(addresses).await.expect("server should accept the connection");
    let opening = async {
        loop {
            match DurableTopic::builder("test", "jobs.>").replicas(nodes.len()).open(&client).await {
                Ok(topic) => return topic,
                Err(OpenError::Nats(_)) => sleep(Duration::from_millis(100)).await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    timeout(TIMEOUT, opening).await.expect("connection should be established within the timeout")
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_messages_are_processed_after_leader_loss() {
    let Some(mut nodes) = servers::nats_cluster(3, &["-js", "-sd", "store"]).await else { return };
    let (book, over) = (Arc::<Book>::default(), Arc::<AtomicBool>::default());
    let stored = Arc::<Mutex<BTreeSet<String>>>::default();
    let (mut readers, mut writers) = (JoinSet::new(), JoinSet::new());
    for at in 0..2 {
        let topic = replicated(&nodes).await;
        let subscription = topic.subscription("workers").replay(Replay::All).ack_timeout(Duration::from_secs(2));
        let opening = async {
            loop {
                // Until the next election, the cluster has no leader.
                if let Ok(subscription) = subscription.clone().open().await {
                    return subscription;
                }
            }
        };
        let subscription =
            timeout(TIMEOUT, opening).await.expect("connection should be established within the timeout");
        readers.spawn(work(subscription, book.clone()));
        writers.spawn(write(topic, at, over.clone(), stored.clone()));
    }
    let count = || stored.lock().len();
    until("the first messages are stored", || count() > 200).await;
    let jetstream = async_nats::jetstream::new(
        async_nats::connect(&nodes[0].address).await.expect("NATS should accept the connection"),
    );
    let stream = jetstream.get_stream("test=2ejobs=2e=3e").await.expect("stream should exist");
    let leader = stream.cached_info().cluster.as_ref().and_then(|cluster| cluster.leader.clone());
    let leader = leader.and_then(|name| name.strip_prefix("node-")?.parse::<usize>().ok());
    nodes[leader.expect("stream should have a leader")].kill().await;
    let before = count();
    until("messages flow again", || count() > before + 200).await;
    over.store(true, Ordering::SeqCst);
    timeout(TIMEOUT, writers.join_all()).await.expect("senders should finish within the timeout");
    let stored = std::mem::take(&mut *stored.lock());
    until("all stored messages are processed", || book.has_done(&stored)).await;
    println!("{} stored and done, {before} before the leader was killed", stored.len());
    readers.shutdown().await;
}
