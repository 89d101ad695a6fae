//! Tests how many NATS messages brokers use for consecutive messages, because they pack several into one.

use super::super::databases::servers;
use super::{TIMEOUT, clients, next, until};
use frisbee_pubsub::{Client, Subscription};
use futures_util::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::timeout;

/// Number of consecutive messages.
const ROW: u64 = 1000;

/// Publishes consecutive messages and checks that a subscription receives them in order. Returns the number of NATS
/// messages that carried them.
async fn row(client: &Client, written: &mut async_nats::Subscriber, received: &mut Subscription) -> u64 {
    let publisher = client.publisher("numbers").expect("topic should be valid");
    for number in 1..ROW {
        publisher.publish(number.to_string()).await.expect("broker should accept the message");
    }
    publisher.publish("end").await.expect("broker should accept the message");
    for number in 1..ROW {
        assert_eq!(next(received).await.expect("connection should stay open"), format!("numbers {number}"));
    }
    assert_eq!(next(received).await.expect("connection should stay open"), "numbers end");
    let mut count = 0;
    loop {
        let message = timeout(TIMEOUT, written.next())
            .await
            .expect("next item should arrive within the timeout")
            .expect("NATS should be reachable");
        count += 1;
        // The last message of a batch is at its end.
        if message.payload.ends_with(b"end") {
            return count;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_batched_unless_group_exists() {
    let Some(server) = servers::nats(&[]).await else { return };
    let clients = clients(&server.address).await;
    let observer = async_nats::connect(&server.address).await.expect("NATS should accept the connection");
    let mut written = observer.subscribe("test.t.numbers").await.expect("broker should accept the subscription");
    observer.flush().await.expect("flush should succeed");
    let mut received = clients[1].subscribe("numbers").await.expect("broker should accept the subscription");
    // New brokers first wait for other brokers to announce their groups.
    let few = async {
        loop {
            let count = row(&clients[0], &mut written, &mut received).await;
            if count < ROW / 2 {
                return count;
            }
        }
    };
    let few = timeout(TIMEOUT, few).await.expect("row should arrive in few NATS messages within the timeout");
    let mut shares = Vec::new();
    for client in &clients[1..] {
        let mut jobs =
            client.queue_subscribe("numbers", "workers").await.expect("broker should accept the subscription");
        let share = Arc::<AtomicU64>::default();
        shares.push(share.clone());
        tokio::spawn(async move {
            while jobs.recv().await.is_ok() {
                share.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    let sum = || shares.iter().map(|share| share.load(Ordering::SeqCst)).sum::<u64>();
    let mut published = 0;
    let single = async {
        loop {
            let count = row(&clients[0], &mut written, &mut received).await;
            published += ROW;
            until("the group receives all messages", || sum() == published).await;
            if count == ROW {
                return;
            }
        }
    };
    timeout(TIMEOUT, single).await.expect("row should arrive unbatched within the timeout");
    let before: Vec<_> = shares.iter().map(|share| share.load(Ordering::SeqCst)).collect();
    assert_eq!(row(&clients[0], &mut written, &mut received).await, ROW);
    until("the group receives all messages", || sum() == published + ROW).await;
    let shares: Vec<_> =
        shares.iter().zip(before).map(|(share, before)| share.load(Ordering::SeqCst) - before).collect();
    println!("{ROW} messages were written as {few}; shares of a group {shares:?}");
    assert!(shares.iter().all(|share| *share > ROW / 3), "{shares:?}");
}
