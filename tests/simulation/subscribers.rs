//! Tests of short-lived subscribers, alone and in groups. They check who receives each message, and that no state
//! remains.

use super::stalled::{client, serve};
use frisbee::Config;
use frisbee_pubsub::{Broker, Message, Subscription};
use frisbee_sim::{Fault, World, sim_test};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const MESSAGES: u64 = 60;

const READERS: usize = 3;

const TIMEOUT: Duration = Duration::from_secs(60);

fn number(message: &Message) -> u64 {
    let text = std::str::from_utf8(message.payload()).expect("payload should be UTF-8");
    text.parse().expect("text should be a number")
}

async fn next(subscription: &mut Subscription) -> u64 {
    let message = timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout");
    number(&message.expect("fast subscriber should lose no message"))
}

#[sim_test(seeds = 12)]
async fn each_group_gets_messages_once(world: World) {
    serve(&world, Broker::builder(), Config::default());
    let got = Arc::new(Mutex::new(Vec::new()));
    let mut members = Vec::new();
    for member in 0..READERS {
        let (client, connection) = client(&world, &format!("member {member}"), Config::default()).await;
        let mut jobs =
            client.queue_subscribe("jobs.*", "workers").await.expect("broker should accept the subscription");
        let (world, got) = (world.clone(), got.clone());
        members.push(tokio::spawn(async move {
            let _connection = connection;
            while let Ok(message) = jobs.recv().await {
                got.lock().push(number(&message));
                sleep(Duration::from_millis(world.draw(|rng| rng.u64(..20)))).await;
            }
        }));
    }
    let (watcher, _watching) = client(&world, "watcher", Config::default()).await;
    let mut alone = watcher.queue_subscribe("jobs.>", "audit").await.expect("broker should accept the subscription");
    let mut second = watcher.subscribe("jobs.a").await.expect("broker should accept the subscription");
    let (writer, _writing) = client(&world, "writer", Config::default()).await;
    for number in 0..MESSAGES {
        writer.publish("jobs.a", number.to_string()).await.expect("broker should accept the message");
        sleep(Duration::from_millis(world.draw(|rng| rng.u64(..5)))).await;
    }
    for number in 0..MESSAGES {
        assert_eq!((next(&mut alone).await, next(&mut second).await), (number, number));
    }
    world.eventually("all have reached the workers", TIMEOUT, || got.lock().len() as u64 >= MESSAGES).await;
    writer.sync().await.expect("broker should confirm all messages");
    sleep(Duration::from_secs(1)).await;
    let mut got = std::mem::take(&mut *got.lock());
    got.sort_unstable();
    assert_eq!(got, Vec::from_iter(0..MESSAGES), "each to one of them");
    members.iter().for_each(tokio::task::JoinHandle::abort);
}

#[sim_test(seeds = 12)]
async fn departed_subscribers_leave_no_state(world: World) {
    let broker = serve(&world, Broker::builder(), Config::default());
    let (writer, _writing) = client(&world, "writer", Config::default()).await;
    for _ in 0..4 {
        let mut readers = Vec::new();
        for reader in 0..READERS {
            let node = format!("reader {reader}");
            let (client, connection) = client(&world, &node, Config::default()).await;
            let mut subscriptions = Vec::new();
            for topic in 0..5 {
                subscriptions.push(
                    client.subscribe(&format!("t.{topic}.>")).await.expect("broker should accept the subscription"),
                );
            }
            subscriptions
                .push(client.queue_subscribe("t.*.x", "group").await.expect("broker should accept the subscription"));
            readers.push((node, client, connection, subscriptions));
        }
        assert_eq!(broker.subscriptions(), READERS * 6);
        // Messages are still pending for this subscriber when it disconnects.
        world.node("reader 0").pause();
        for number in 0..40 {
            writer
                .publish(&format!("t.{}.x", number % 5), vec![0; 4_096])
                .await
                .expect("broker should accept the message");
        }
        writer.sync().await.expect("broker should confirm all messages");
        let mut silent = Vec::new();
        for (node, client, connection, subscriptions) in readers {
            match world.draw(|rng| rng.u32(..5)) {
                0 => drop((client, connection, subscriptions)),
                1 => connection.close(),
                2 => connection.abort(),
                3 => world.node(&node).crash(),
                _ => {
                    world.inject_now(Fault::Silence { one: node, other: "broker".to_owned() }).await;
                    silent.push((client, connection, subscriptions));
                }
            }
        }
        let is_empty = || (broker.subscriptions(), broker.waiting()) == (0, 0);
        world.eventually("no state is left", 10 * TIMEOUT, is_empty).await;
        world.node("reader 0").resume();
    }
}

#[sim_test(seeds = 12)]
async fn broker_end_reaches_all_subscriptions(world: World) {
    serve(&world, Broker::builder(), Config::default());
    let (client, _connection) = client(&world, "reader", Config::default()).await;
    let mut readers = JoinSet::new();
    for topic in 0..20 {
        let mut subscription =
            client.subscribe(&format!("t.{topic}")).await.expect("broker should accept the subscription");
        let world = world.clone();
        readers.spawn(async move {
            timeout(TIMEOUT, subscription.recv())
                .await
                .expect("message should arrive within the timeout")
                .expect_err("subscriber should receive nothing");
            world.note(format!("t.{topic} has ended"));
        });
    }
    world.node("broker").crash();
    readers.join_all().await;
}
