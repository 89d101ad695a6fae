//! Tests of channels to several servers. They check to which server calls go, and that no call is lost while a server
//! is available.

use super::running::{Running, channel, client, some};
use frisbee_sim::{Cable, World, sim_test};
use frisbee_tests::extension::{ExtensionClient, Time};
use frpc::{Channel, Code};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const NODES: [&str; 2] = ["s0", "s1"];

const SOON: Duration = Duration::from_secs(5);

/// Time in which a server that has recovered regains its full share of calls.
const TRUSTED: Duration = Duration::from_secs(20);

/// Returns two servers and a client that is connected to both.
async fn both(world: &World) -> ([Running; 2], ExtensionClient) {
    let servers = NODES.map(|node| Running::start(world, node));
    let client = client(world, &NODES).await;
    for server in &servers {
        called(&client, server).await;
    }
    (servers, client)
}

/// Gives all servers the same latency. Otherwise, a caller that makes one call at a time prefers the nearer server.
fn equally_far(world: &World) {
    let always = Duration::from_millis(3);
    world.set_cables(Cable::default().latency(always..=always));
}

/// Makes calls until the given server receives one.
async fn called(client: &ExtensionClient, server: &Running) {
    let before = server.gets();
    let calling = async {
        while server.gets() == before {
            client.get(Time::default()).await.expect("server should be reachable");
        }
    };
    timeout(Duration::from_secs(20), calling).await.expect("call should complete within the timeout");
}

/// Makes calls one after the other. Returns the number of failures.
async fn get(client: &ExtensionClient, calls: usize) -> usize {
    let mut failed = 0;
    for _ in 0..calls {
        failed += usize::from(client.get(Time::default()).await.is_err());
    }
    failed
}

/// Returns whether the first chunk of a stream was received.
async fn stream(client: &ExtensionClient) -> bool {
    let mut chunks = client.flood(Time { millis: 1 }).await.expect("stream should open").into_inner();
    chunks.message().await.is_ok()
}

#[sim_test(seeds = 12)]
async fn calls_and_streams_choose_less_busy_server(world: World) {
    equally_far(&world);
    let (servers, client) = both(&world).await;
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let client = client.clone();
        calls.spawn(async move { client.wait(Time { millis: 60_000 }).await });
    }
    let running = || servers.each_ref().map(Running::running);
    world.eventually("all calls run", SOON, || running().iter().sum::<i64>() == 50).await;
    assert_eq!(running(), [25, 25]);
    calls.shutdown().await;
    world.eventually("no call runs", SOON, || running() == [0, 0]).await;

    // The test does not read these streams.
    let flooded = || servers.each_ref().map(|server| server.state().flooded.load(Ordering::SeqCst) > 0);
    let first = client.flood(Time::default()).await.expect("stream should open");
    world.eventually("a server streams", SOON, || flooded().contains(&true)).await;
    let second = client.flood(Time::default()).await.expect("stream should open");
    world.eventually("the other one streams", SOON, || flooded() == [true, true]).await;
    drop((first, second));
}

/// Regression: a server that failed calls immediately seemed to be idle, so it received nearly all calls.
#[sim_test(seeds = 10)]
async fn unavailable_server_gets_few_calls(world: World) {
    equally_far(&world);
    let (servers, client) = both(&world).await;
    let code = world.draw(|rng| [Code::Unavailable, Code::ResourceExhausted][usize::from(rng.bool())]);
    servers[0].state().broken.store(code as i32, Ordering::SeqCst);
    let before = servers[0].gets();
    let failed = get(&client, 300).await;
    let refused = servers[0].gets() - before;
    assert!((1..=10).contains(&refused), "failing server received {refused} of 300 calls, {code:?}");
    // Calls that may be repeated are made again at the other server.
    assert_eq!(failed as u64, if code == Code::Unavailable { 0 } else { refused });
    servers[0].state().broken.store(0, Ordering::SeqCst);
    let until = world.elapsed() + TRUSTED;
    while world.elapsed() < until {
        drop(client.get(Time::default()).await);
        sleep(Duration::from_millis(50)).await;
    }
    let before = servers[0].gets();
    assert_eq!(get(&client, 300).await, 0, "both servers should work");
    let share = servers[0].gets() - before;
    assert!(share > 50, "recovered server received {share} of 300 calls");
}

#[sim_test(seeds = 10)]
async fn refusing_servers_get_few_retries(world: World) {
    const CALLS: usize = 300;
    let (servers, client) = both(&world).await;
    let before: u64 = servers.iter().map(Running::gets).sum();
    for server in &servers {
        server.state().broken.store(Code::Unavailable as i32, Ordering::SeqCst);
    }
    assert_eq!(get(&client, CALLS).await, CALLS, "all calls should fail");
    let made = servers.iter().map(Running::gets).sum::<u64>() - before;
    assert!((CALLS as u64..=CALLS as u64 * 11 / 10).contains(&made), "servers received {made} calls for {CALLS}");
}

#[sim_test(seeds = 12)]
async fn refusing_invalid_requests_keeps_share(world: World) {
    equally_far(&world);
    let (servers, client) = both(&world).await;
    servers[0].state().broken.store(Code::NotFound as i32, Ordering::SeqCst);
    let refused = get(&client, 200).await;
    assert!(refused > 40, "server that rejects requests received {refused} of 200 calls");
}

#[sim_test(seeds = 10)]
async fn server_failing_streams_gets_few_streams(world: World) {
    equally_far(&world);
    let (servers, client) = both(&world).await;
    servers[0].state().broken.store(Code::Unavailable as i32, Ordering::SeqCst);
    let mut failed = 0;
    for _ in 0..200 {
        failed += usize::from(!stream(&client).await);
    }
    assert!((1..=10).contains(&failed), "failing server received {failed} of 200 streams");
    servers[0].state().broken.store(0, Ordering::SeqCst);
    let until = world.elapsed() + TRUSTED;
    while world.elapsed() < until {
        assert!(stream(&client).await, "other server should work");
        sleep(Duration::from_millis(50)).await;
    }
    let before = servers[0].state().flooded.load(Ordering::SeqCst);
    for _ in 0..200 {
        assert!(stream(&client).await, "both servers should work");
    }
    let flooded = servers[0].state().flooded.load(Ordering::SeqCst) - before;
    assert!(flooded > 30, "recovered server received {flooded} of 200 streams");
}

#[sim_test(seeds = 24)]
async fn calls_wait_for_first_returning_server(world: World) {
    let ([one, other], client) = both(&world).await;
    tokio::join!(one.stop(), other.stop());
    let before = other.gets();
    let call = tokio::spawn(async move { client.get(Time::default()).await });
    sleep(some(&world, 2_500)).await;
    world.node(NODES[1]).restart();
    call.await.expect("task should not panic").expect("server should be reachable");
    assert_eq!(other.gets(), before + 1);
}

/// Regression: whenever the client connected to a silent server, calls waited for it or were lost with it.
#[sim_test(seeds = 24)]
async fn silent_server_gets_no_calls(world: World) {
    let _server = Running::start(&world, "s0");
    world.node("s1").start(|process| {
        process.accept(|transport| async move {
            let _transport = transport;
            std::future::pending::<()>().await;
        });
        std::future::ready(())
    });
    let builder = Channel::builder().calls::<ExtensionClient>();
    let client = ExtensionClient::new(channel(&world, &NODES, builder).await);
    client.get(Time::default()).await.expect("call should succeed");
    for _ in 0..100 {
        let started = world.elapsed();
        client.wait(Time::default()).await.expect("call should succeed");
        assert!(stream(&client).await, "stream should have a message");
        assert!(world.elapsed() - started < Duration::from_millis(100), "call should not wait for the silent server");
        sleep(some(&world, 300)).await;
    }
}

/// Regression: a call that waited for a server and was not polled blocked every new client of each server.
#[sim_test(seeds = 24)]
async fn unpolled_waiting_call_blocks_no_other(world: World) {
    let ([one, other], client) = both(&world).await;
    tokio::join!(one.stop(), other.stop());
    let mut waiting = std::pin::pin!(client.get(Time::default()));
    assert!(timeout(Duration::from_millis(1), &mut waiting).await.is_err(), "call should wait while no server listens");
    for _ in 0..2 {
        world.node(NODES[0]).restart();
        client.get(Time::default()).await.expect("client should be connected");
        one.stop().await;
    }
    world.node(NODES[0]).restart();
    waiting.await.expect("waiting call should reach a server");
}

/// Calls to this server take long. It has as many calls in progress as the other server, and so receives few new ones.
#[sim_test(seeds = 12)]
async fn slowed_server_gets_few_calls(world: World) {
    const CALLERS: usize = 8;
    let (servers, client) = both(&world).await;
    let slow = Cable::default().latency(Duration::from_millis(150)..=Duration::from_millis(400));
    world.set_cable("client", NODES[0], slow);
    world.set_cable(NODES[0], "client", slow);
    let before = servers.each_ref().map(Running::gets);
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let client = client.clone();
        callers.spawn(async move {
            for _ in 0..20 {
                client.get(Time { millis: 5 }).await.expect("slow call should complete");
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller.expect("call should succeed");
    }
    let [slow, other] = [0, 1].map(|at| servers[at].gets() - before[at]);
    assert!(
        slow + other >= 20 * CALLERS as u64 && slow * 5 < other,
        "slow server received {slow} calls, and the other one {other}"
    );
}
