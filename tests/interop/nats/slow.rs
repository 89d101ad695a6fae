//! Tests of a broker that reads messages from NATS too slowly.

use super::super::databases::servers;
use super::{Account, keep, serve, until};
use frisbee_pubsub::Broker;
use frisbee_pubsub::nats::NatsBus;
use futures_util::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of messages that arrive at once. It is many times the limit of the queue.
const BURST: u64 = 20_000;

#[tokio::test(flavor = "multi_thread")]
async fn slow_broker_requests_gaps_rarely() {
    let Some(server) = servers::nats(&[]).await else { return };
    let observer = async_nats::connect(&server.address).await.expect("NATS should accept the connection");
    let (mut control, request_count) = (
        observer.subscribe("test.c").await.expect("broker should accept the subscription"),
        Arc::<AtomicU64>::default(),
    );
    observer.flush().await.expect("flush should succeed");
    let counted = request_count.clone();
    tokio::spawn(async move {
        while control.next().await.is_some() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    // The queue holds one message. The NATS client reports every further message as dropped.
    let slow = frisbee_pubsub::nats::options().subscription_capacity(1);
    let slow = NatsBus::connect_with("test", &*server.address, slow).await.expect("NATS should be reachable");
    let slow = serve(Broker::builder().backplane(slow).build()).await;
    let bus = NatsBus::connect("test", &*server.address).await.expect("NATS should be reachable");
    let fast = serve(Broker::builder().backplane(bus).build()).await;
    let account = Arc::<Account>::default();
    tokio::spawn(keep(
        slow.subscribe("numbers").await.expect("broker should accept the subscription"),
        account.clone(),
    ));
    // The first message must arrive, because missing messages can be counted only after it.
    fast.publish("numbers", "1").await.expect("broker should accept the message");
    until("the first message is received", || account.received.load(Ordering::SeqCst) == 1).await;
    let (started, before) = (Instant::now(), request_count.load(Ordering::SeqCst));
    for number in 2..=BURST {
        fast.publish("numbers", number.to_string()).await.expect("broker should accept the message");
    }
    until("all messages are received or reported as lost", || account.sum() == BURST).await;
    // If all messages arrive before the first tick, the last message completes the count.
    until("the broker requests the missing messages", || request_count.load(Ordering::SeqCst) > before).await;
    let missed = account.missed.load(Ordering::SeqCst);
    let (request_count, ticks) =
        (request_count.load(Ordering::SeqCst) - before, started.elapsed().as_millis() as u64 / 250 + 1);
    println!("{missed} of {BURST} were dropped, and requested {request_count} times in {:?}", started.elapsed());
    assert!(missed > 100, "only {missed} messages were dropped, which is too few for this test");
    assert!(request_count <= ticks + 1, "{request_count} requests for {missed} messages in {ticks} ticks");
}
