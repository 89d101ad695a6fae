//! Tests of a server's memory when clients are silent, slow or greedy, on any network.

use frisbee::Config;
use frisbee_sim::{Cable, FaultKind, Faults, World, sim_test};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload};
use frisbee_tests::service::Service;
use frpc::{Acceptor, Channel, Code, Request, Server, ServerBuilder};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Returns the acceptor of the server. All processes of the server share it, so that one counter covers their memory.
fn serve(world: &World, builder: ServerBuilder) -> Acceptor {
    let acceptor = builder.add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let served = acceptor.clone();
    world.node("server").start(move |process| {
        process.serve(served.clone());
        std::future::ready(())
    });
    acceptor
}

fn client(world: &World, node: &str, timeout: Duration) -> InteropClient {
    let connector = world.node(node).process().connector("server");
    let channel = Channel::builder().timeout(timeout).connect_lazy_with_connector(connector);
    InteropClient::new(channel.expect("services should not overlap"))
}

/// On a link of at least 20 kB/s, a connection must survive any load in both directions.
#[sim_test(seeds = 12)]
async fn slow_links_carry_bodies_and_calls(world: World) {
    let acceptor = serve(&world, Server::builder());
    for (from, to) in [("client", "server"), ("server", "client")] {
        // A link that held less than 3 KiB would transfer less than 20 kB/s at the longest latency.
        let (rate, capacity, latency) = world.draw(|rng| (rng.u64(20_000..200_000), rng.u64(3..256), rng.u64(..150)));
        let latency = Duration::from_millis(latency);
        let cable = Cable::default().latency(latency / 2..=latency).bandwidth(rate).capacity(capacity as usize * 1024);
        world.set_cable(from, to, cable);
    }
    let client = client(&world, "client", Duration::from_secs(600));
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
    let mut calls = JoinSet::new();
    for seq in 0..3 {
        let (client, length) = (client.clone(), world.draw(|rng| rng.u64(10_000..400_000) as usize));
        calls.spawn(async move {
            let payload = Payload { seq, data: vec![seq as u8; length] };
            let echoed = client.echo_payload(payload.clone()).await.expect("call should succeed");
            assert!(*echoed.get_ref() == payload, "echoed body should equal the sent one");
        });
    }
    for a in 0..20 {
        let client = client.clone();
        calls.spawn(async move {
            let sum = client.add(AddRequest { a, b: 1 }).await.expect("call should succeed");
            assert_eq!(sum.get_ref().total, a + 1);
        });
        sleep(Duration::from_millis(world.draw(|rng| rng.u64(..500)))).await;
    }
    while let Some(call) = calls.join_next().await {
        call.expect("call should succeed");
    }
    assert_eq!(acceptor.stats().opened(), 1, "connection should not be closed");
}

/// Many clients send bodies that exceed the memory of the server. The server rejects some of them, answers all, and
/// stays within its limit.
#[sim_test(seeds = 12)]
async fn server_stays_within_memory_and_answers(world: World) {
    const MEMORY: usize = 400_000;
    // Requests in progress may exceed the limit by one read and one write per connection.
    const BEYOND: usize = 400_000;
    let acceptor = serve(&world, Server::builder().memory_max(MEMORY));
    world.set_cables(Cable::default().bandwidth(100_000).capacity(32 * 1024));
    let stats = acceptor.stats();
    let server_stats = stats.clone();
    world.always("the server stays within its memory", move || server_stats.memory_held() <= MEMORY + BEYOND);
    world.inject(Faults::drawn(3, ["server"]).peers(["c0", "c1"]).kinds([FaultKind::Reset, FaultKind::Delay]));
    let mut calls = JoinSet::new();
    for number in 0..24_u32 {
        let client = client(&world, &format!("c{}", number % 6), Duration::from_secs(30));
        let (length, pause) = world.draw(|rng| (rng.u64(..150_000) as usize, rng.u64(..400)));
        calls.spawn(async move {
            let payload = Payload { seq: number, data: vec![number as u8; length] };
            match client.echo_payload(payload.clone()).await {
                Ok(echoed) => assert!(*echoed.get_ref() == payload, "echoed body should equal the sent one"),
                Err(status) => {
                    let code = status.code();
                    let is_expected = matches!(code, Code::ResourceExhausted | Code::Unavailable);
                    assert!(is_expected, "{status}");
                }
            }
        });
        sleep(Duration::from_millis(pause)).await;
    }
    while let Some(call) = calls.join_next().await {
        call.expect("call should succeed");
    }
    world.eventually("nothing is held", Duration::from_secs(60), || stats.memory_held() == 0).await;
}

/// Many clients send nothing, or half of a header. All other clients must be served as usual.
#[sim_test(seeds = 12)]
async fn silent_clients_delay_nobody(world: World) {
    const SILENT: u64 = 8;
    let config = Config::default().idle_timeout(Duration::from_secs(3_600));
    let builder = Server::builder().config(config).silent_max(SILENT as usize);
    let acceptor = serve(&world, builder.first_header_timeout(Duration::from_secs(3_600)));
    let stats = acceptor.stats();
    let crowd = tokio::spawn({
        let world = world.clone();
        async move {
            let mut silent = Vec::new();
            for _ in 0..100 {
                let mut transport =
                    world.node("crowd").process().dial("server").await.expect("server should accept the connection");
                let prefix_len = world.draw(|rng| rng.u64(..3) as usize);
                drop(transport.write_all(&[0, 0x0f][..prefix_len]).await);
                silent.push(transport);
                let pause = world.draw(|rng| rng.u64(..30));
                sleep(Duration::from_millis(pause)).await;
            }
            silent
        }
    });
    for call in 0..20 {
        let started = world.elapsed();
        // Each call uses a new connection. It counts as silent until its first packet has arrived.
        let client = client(&world, "client", Duration::from_secs(5));
        let mut request = Request::new(AddRequest { a: call, b: 1 });
        request.set_timeout(Duration::from_secs(5));
        assert_eq!(client.add(request).await.expect("call should succeed").get_ref().total, call + 1);
        assert!(world.elapsed() - started < Duration::from_millis(200), "call should not be delayed");
        sleep(Duration::from_millis(world.draw(|rng| rng.u64(..100)))).await;
    }
    let silent = crowd.await.expect("task should not panic");
    // The server closes no connection in the first second.
    sleep(Duration::from_secs(1)).await;
    let _last = world.node("crowd").process().dial("server").await.expect("server should accept the connection");
    world.eventually("all but so many are closed", Duration::from_secs(5), || stats.open() <= SILENT).await;
    drop(silent);
}
