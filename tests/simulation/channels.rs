//! Tests of channels whose server drains, fails, does not return or rejects calls. They check the results of calls and
//! the number of attempts to connect.

use super::running::{Running, channel, client, some};
use frisbee_sim::{Faults, World, sim_test};
use frisbee_tests::extension::{ExtensionClient, Time};
use frpc::{Channel, Code, Request, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Number of calls of each kind.
const CALLS: usize = 20;

const SOON: Duration = Duration::from_secs(1);

fn millis(time: Duration) -> Time {
    Time { millis: time.as_millis() as u64 }
}

/// Reads a stream of the given number of chunks to its end.
async fn flood(client: ExtensionClient, chunks: u64) -> Result<(), Status> {
    let mut stream = client.flood(Time { millis: chunks }).await?.into_inner();
    let mut received = 0;
    while stream.message().await?.is_some() {
        received += 1;
    }
    assert_eq!(received, chunks, "stream should end completely and in order");
    Ok(())
}

/// Replaces a process as a supervisor does: the next process accepts connections before the previous one is stopped.
#[sim_test(seeds = 24)]
async fn repeated_takeovers_lose_no_call(world: World) {
    let server = Running::start(&world, "server");
    let client = client(&world, &["server"]).await;
    let mut calls = JoinSet::new();
    let mut call = |at_most: u64| {
        let (client, other) = (client.clone(), client.clone());
        let (time, chunks) = (some(&world, at_most), 1 + world.draw(|rng| rng.u64(..40)));
        calls.spawn(async move { client.wait(millis(time)).await.map(drop) });
        calls.spawn(async move { flood(other, chunks).await });
    };
    (0..CALLS).for_each(|_| call(4_000));
    for _ in 0..3 {
        sleep(some(&world, 500)).await;
        let predecessor = server.take_over();
        let stopping = tokio::spawn(async move { predecessor.shutdown().await });
        for _ in 0..CALLS {
            call(50);
            sleep(some(&world, 20)).await;
        }
        stopping.await.expect("task should not panic");
    }
    while let Some(call) = calls.join_next().await {
        call.expect("task should not panic").expect("call should succeed");
    }
    assert_eq!(server.running(), 0);
}

/// All clients are notified at the same time, and in every run in the same order.
#[sim_test(seeds = 12)]
async fn takeover_keeps_calls_of_many_clients(world: World) {
    let server = Running::start(&world, "server");
    let mut calls = JoinSet::new();
    for number in 0..8 {
        let process = world.node(&format!("client {number}")).process();
        let channel = Channel::builder().connect_lazy_with_connector(process.connector("server"));
        let client = ExtensionClient::new(channel.expect("services should not overlap"));
        let world = world.clone();
        calls.spawn(async move {
            while world.elapsed() < 4 * SOON {
                client.wait(millis(some(&world, 300))).await.expect("call should succeed");
            }
        });
    }
    for _ in 0..3 {
        sleep(some(&world, 1_000)).await;
        server.take_over().shutdown().await;
    }
    calls.join_all().await;
    assert_eq!(server.running(), 0);
}

#[sim_test(seeds = 24)]
async fn shutdown_timeout_bounds_predecessor_calls(world: World) {
    // The default shutdown timeout.
    const LASTS: Duration = Duration::from_secs(20);
    let server = Running::start(&world, "server");
    let client = client(&world, &["server"]).await;
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let (client, takes) = (client.clone(), some(&world, 40_000));
        calls.spawn(async move {
            let mut request = Request::new(millis(takes));
            request.set_timeout(Duration::from_secs(100));
            (takes, client.wait(request).await.map(drop))
        });
    }
    // By now, all calls have been sent.
    sleep(Duration::from_millis(50)).await;
    let started = world.elapsed();
    server.take_over().shutdown().await;
    let lasted = world.elapsed() - started;
    assert!(lasted < LASTS + SOON, "stream lasted {lasted:?}");
    // The new server serves calls while clients of the previous one are still being notified.
    client.wait(Time { millis: 1 }).await.expect("successor should serve the call");
    while let Some(call) = calls.join_next().await {
        match call.expect("task should not panic") {
            (takes, Ok(())) => assert!(takes < LASTS + SOON, "stream of {takes:?} should have been cut"),
            (takes, Err(status)) => {
                assert!(takes > LASTS - SOON, "stream of {takes:?} should have completed: {status}");
                assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true), "{status}");
            }
        }
    }
    assert_eq!(server.running(), 0);
}

#[sim_test(seeds = 24)]
async fn dead_server_fails_only_sent_call(world: World) {
    let server = Running::start(&world, "server");
    let client = client(&world, &["server"]).await;
    let [pending, getting] = [client.clone(), client.clone()];
    let pending = tokio::spawn(async move { pending.wait(Time { millis: 60_000 }).await });
    let getting = tokio::spawn(async move { getting.get(Time { millis: 1_000 }).await });
    world.eventually("both calls run", SOON, || (server.running(), server.gets()) == (1, 1)).await;
    server.fail_for(some(&world, 3_000)).await;
    let error = pending.await.expect("task should not panic").expect_err("call should fail with its server");
    assert_eq!((error.code(), error.may_have_run()), (Code::Unavailable, true), "{error}");
    getting.await.expect("task should not panic").expect("idempotent call should be retried");
    assert_eq!(server.gets(), 2);
    client.wait(Time { millis: 1 }).await.expect("call should reach the new server");
}

#[sim_test(seeds = 24)]
async fn call_to_absent_server_fails_unsent(world: World) {
    let server = Running::start(&world, "server");
    let timeout = Duration::from_millis(50) + some(&world, 5_000);
    let channel = channel(&world, &["server"], Channel::builder().reconnect_timeout(timeout)).await;
    let client = ExtensionClient::new(channel.clone());
    let stays = world.draw(fastrand::Rng::bool);
    let staying = stays.then(|| tokio::spawn(async move { channel.stay_connected().await }));
    client.get(Time::default()).await.expect("call should succeed");
    drop(tokio::spawn(async move { server.fail_for(Duration::from_secs(1_000)).await }));
    sleep(Duration::from_millis(1)).await;
    // The first call may be in flight when the connection ends, or be made before the client notices the end.
    let first = client.wait(Time::default()).await.expect_err("call without a server should fail");
    assert_eq!(first.code(), Code::Unavailable, "{first}");
    for _ in 0..3 {
        let started = world.elapsed();
        let status = client.wait(Time::default()).await.expect_err("port should have no listener");
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
        assert!(world.elapsed() - started <= timeout + SOON, "call waited for {:?}", world.elapsed() - started);
    }
    if let Some(staying) = staying {
        staying.abort();
    }
}

#[sim_test(seeds = 24)]
async fn call_waits_for_starting_server(world: World) {
    let process = world.node("client").process();
    let channel = Channel::builder().connect_lazy_with_connector(process.connector("server"));
    let client = ExtensionClient::new(channel.expect("services should not overlap"));
    let pending = tokio::spawn(async move { client.get(Time::default()).await });
    // The pauses between attempts grow.
    sleep(some(&world, 2_500)).await;
    let server = Running::start(&world, "server");
    pending.await.expect("task should not panic").expect("waiting call should reach the server");
    assert_eq!(server.gets(), 1);
}

/// Regression: a client reconnected ten thousand times per second to a server that closes each connection.
#[sim_test(seeds = 12)]
async fn closing_server_is_dialled_with_pauses(world: World) {
    let accepted = Arc::new(AtomicU64::new(0));
    let counted = accepted.clone();
    world.node("server").start(move |process| {
        let counted = counted.clone();
        process.accept(move |transport| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { drop(transport) }
        });
        std::future::ready(())
    });
    let timeout = Duration::from_millis(100) + some(&world, 4_000);
    let process = world.node("client").process();
    let channel = Channel::builder().reconnect_timeout(timeout);
    let channel = channel.connect_lazy_with_connector(process.connector("server"));
    let client = ExtensionClient::new(channel.expect("services should not overlap"));
    let unary = client.get(Time::default()).await.map(drop);
    for called in [unary, client.flood(Time::default()).await.map(drop)] {
        let status = called.expect_err("call without a server should fail");
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    }
    let dialled = accepted.load(Ordering::SeqCst);
    assert!(dialled < 100, "client dialled {dialled} times");
}

#[sim_test(seeds = 24)]
async fn calls_meet_deadlines_through_all_faults(world: World) {
    let server = Running::start(&world, "server");
    let client = client(&world, &["server"]).await;
    world.inject(Faults::drawn(4, ["server"]).peers(["client"]));
    let mut calls = JoinSet::new();
    for number in 0..60_u64 {
        sleep(some(&world, 300)).await;
        let (client, world) = (client.clone(), world.clone());
        let (timeout, takes) = (some(&world, 3_000), some(&world, 3_000));
        calls.spawn(async move {
            let mut request = Request::new(millis(takes));
            request.set_timeout(timeout);
            let started = world.elapsed();
            let ended = match number % 3 {
                0 => client.get(request).await.map(drop),
                1 => client.wait(request).await.map(drop),
                _ => client.flood(request).await.map(drop),
            };
            let took = world.elapsed() - started;
            assert!(
                took <= timeout + Duration::from_millis(2),
                "call took {took:?} with a timeout of {timeout:?}: {ended:?}"
            );
        });
    }
    while let Some(call) = calls.join_next().await {
        call.expect("call should be answered in time");
    }
    drop(server);
}
