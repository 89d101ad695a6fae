//! Tests of a set of servers that changes, while servers crash, become silent or become slow.

use super::service::{Memory, Service};
use frisbee_sim::{Cable, Faults, World, sim_test};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frpc::{Channel, Server};
use frpc_balance::Balance;
use frpc_balance::resolve::{Endpoint, WatchResolver};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// The servers. The first one never leaves and never fails, so a retry always finds a server that works.
const SERVERS: [&str; 4] = ["s0", "s1", "s2", "s3"];

const CALLS: i64 = 150;

const TIMEOUT: Duration = Duration::from_secs(3);

/// Time after which a removed server receives no more calls.
const DRAINED: Duration = Duration::from_secs(4);

/// The servers that have left the set, with the time at which each of them left.
type Left = Arc<Mutex<BTreeMap<usize, Duration>>>;

fn endpoints(left: &BTreeMap<usize, Duration>) -> Vec<Endpoint> {
    let is_there = |number: &usize| !left.contains_key(number);
    (0..SERVERS.len()).filter(is_there).map(|number| Endpoint::new(SERVERS[number])).collect()
}

/// Removes servers and adds them again.
async fn change(world: World, sets: tokio::sync::watch::Sender<Vec<Endpoint>>, left: Left) {
    loop {
        let (pause, number) = world.draw(|rng| (rng.u64(300..4_000), rng.u64(1..SERVERS.len() as u64) as usize));
        sleep(Duration::from_millis(pause)).await;
        let mut left = left.lock();
        if left.remove(&number).is_none() {
            left.insert(number, world.elapsed());
        }
        world.note(format!("out of the fleet: {:?}", left.keys()));
        sets.send_replace(endpoints(&left));
    }
}

#[sim_test(seeds = 24)]
async fn changing_fleet_runs_calls_once(world: World) {
    let memories = SERVERS.map(|_| Arc::new(Memory::default()));
    for (server, memory) in SERVERS.into_iter().zip(memories.clone()) {
        world.node(server).start(move |process| {
            let builder = Server::builder().add_service(InteropServer::new(Service(memory.clone())));
            process.serve(builder.build().expect("settings should be valid"));
            ready(())
        });
    }
    let left = Left::default();
    let (sets, resolver) = WatchResolver::new(endpoints(&left.lock()));
    let process = world.node("client").process();
    let connector = move |endpoint: Endpoint| process.connector(endpoint.address())();
    let channel =
        Channel::builder().timeout(TIMEOUT).balance().connect_resolved_with_connector(resolver, connector).await;
    let client = InteropClient::new(channel.expect("server should be reachable"));
    client.add(AddRequest { a: -1, b: 1 }).await.expect("call should succeed");

    let slow = SERVERS[world.draw(|rng| rng.u64(..SERVERS.len() as u64)) as usize];
    world.set_cable(slow, "client", Cable::default().latency(Duration::from_millis(100)..=Duration::from_millis(400)));
    world.inject(Faults::drawn(5, SERVERS[1..].iter().copied()).peers(["client"]));
    let changing = tokio::spawn(change(world.clone(), sets, left.clone()));
    for call in 0..CALLS {
        let (started, gone) = (world.elapsed(), left.lock().clone());
        let sum = client.add(AddRequest { a: call, b: 1 }).await;
        assert!(world.elapsed() - started <= TIMEOUT + Duration::from_secs(1), "call {call} hangs");
        let executions = memories.each_ref().map(|memory| memory.executions(call as u64));
        assert!(executions.iter().sum::<usize>() <= 1, "call {call} was executed by {executions:?}");
        for (number, since) in gone {
            let is_drained = since + DRAINED <= started && left.lock().get(&number) == Some(&since);
            assert!(
                !is_drained || executions[number] == 0,
                "{} received a call although it has left at {since:?}",
                SERVERS[number]
            );
        }
        match sum {
            Ok(sum) => assert_eq!(sum.get_ref().total, call + 1),
            Err(status) => assert!(status.may_have_run(), "call should reach s0, but no server was called: {status}"),
        }
        sleep(Duration::from_millis(world.draw(|rng| rng.u64(..150)))).await;
    }
    changing.abort();
}
