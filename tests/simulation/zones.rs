//! Tests of clients that prefer servers of their own zone, and of clients that connect to only some of the servers.

use super::running::Running;
use frisbee_sim::{Process, World, sim_test};
use frisbee_tests::extension::{ExtensionClient, Time};
use frpc::{Channel, Code};
use frpc_balance::resolve::{Endpoint, StaticResolver};
use frpc_balance::{Balance, FleetBuilder, FleetView};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

const NEAR: [&str; 4] = ["near0", "near1", "near2", "near3"];
const FAR: [&str; 4] = ["far0", "far1", "far2", "far3"];

async fn client(process: &Process, builder: FleetBuilder) -> (Channel, ExtensionClient) {
    let zone = |names: [&'static str; 4], zone| names.map(|name| Endpoint::new(name).with_zone(zone));
    let resolver = StaticResolver::new([zone(FAR, "far"), zone(NEAR, "near")].concat());
    let process = process.clone();
    let connector = move |endpoint: Endpoint| process.connector(endpoint.address())();
    let channel =
        builder.connect_resolved_with_connector(resolver, connector).await.expect("servers should accept connections");
    sleep(Duration::from_secs(1)).await;
    (channel.clone(), ExtensionClient::new(channel))
}

/// Makes calls. Returns the number of calls that the given servers have received.
async fn share(client: &ExtensionClient, calls: usize, servers: &[Running]) -> u64 {
    let gets = || servers.iter().map(Running::gets).sum::<u64>();
    let before = gets();
    for _ in 0..calls {
        client.get(Time::default()).await.expect("a server should answer");
    }
    gets() - before
}

#[sim_test(seeds = 10)]
async fn calls_leave_zone_with_few_servers(world: World) {
    let near = NEAR.map(|node| Running::start(&world, node));
    let far = FAR.map(|node| Running::start(&world, node));
    let process = world.node("client").process();
    let (_, client) = client(&process, Channel::builder().balance().zone("near")).await;
    assert_eq!(share(&client, 200, &far).await, 0, "calls should stay in the zone while all of its servers work");
    near[0].stop().await;
    assert_eq!(share(&client, 200, &far).await, 0, "calls should stay in the zone while three of four servers work");
    near[1].stop().await;
    let some = share(&client, 400, &far).await;
    assert!((60..180).contains(&some), "{some} of 400 calls, where two sevenths are due");
    near[2].state().broken.store(Code::Unavailable as i32, Ordering::SeqCst);
    near[3].stop().await;
    share(&client, 50, &far).await;
    let most = share(&client, 100, &far).await;
    assert!(most > 90, "{most} of 100 calls");
}

/// Regression: if the ejected server was drawn twice, the call could go to a server of any zone.
#[sim_test(seeds = 10)]
async fn burst_stays_in_zone_during_ejection(world: World) {
    let near = NEAR.map(|node| Running::start(&world, node));
    let far = FAR.map(|node| Running::start(&world, node));
    // The other servers have five of seven shares of the calls, which is more than 70 %.
    let near_endpoints =
        NEAR.iter().zip([2, 2, 2, 1]).map(|(name, weight)| Endpoint::new(*name).with_zone("near").with_weight(weight));
    let far_endpoints = FAR.map(|name| Endpoint::new(name).with_zone("far"));
    let process = world.node("client").process();
    let connector = move |endpoint: Endpoint| process.connector(endpoint.address())();
    let channel = Channel::builder()
        .balance()
        .zone("near")
        .connect_resolved_with_connector(StaticResolver::new(near_endpoints.chain(far_endpoints)), connector)
        .await
        .expect("servers should accept connections");
    sleep(Duration::from_secs(1)).await;
    let client = ExtensionClient::new(channel.clone());
    near[0].state().broken.store(Code::Unavailable as i32, Ordering::SeqCst);
    let is_ejected = || {
        let fleet = FleetView::of(&channel).expect("channel should have a fleet");
        fleet.servers.iter().any(|server| server.is_doubted)
    };
    while !is_ejected() {
        client.get(Time { millis: 1 }).await.expect("other servers should answer");
    }
    // There are more concurrent calls than reports of load.
    let calls = (0..300).map(|_| {
        let client = client.clone();
        async move { client.get(Time { millis: 50 }).await }
    });
    for reply in calls.collect::<JoinSet<_>>().join_all().await {
        reply.expect("other servers should answer");
    }
    assert_eq!(far.iter().map(Running::gets).sum::<u64>(), 0, "enough of the own zone can work");
}

#[sim_test(seeds = 10)]
async fn client_connects_only_to_subset(world: World) {
    let _servers = [NEAR, FAR].concat().into_iter().map(|node| Running::start(&world, node)).collect::<Vec<_>>();
    let process = world.node("client").process();
    let mut clients = [0; 8];
    for _ in 0..40 {
        let (channel, client) = client(&process, Channel::builder().balance().subset(3)).await;
        client.get(Time::default()).await.expect("a server should answer");
        let fleet = FleetView::of(&channel).expect("channel should have a fleet");
        assert_eq!(fleet.servers.len(), 3);
        for server in fleet.servers {
            let index = [FAR, NEAR].concat().iter().position(|name| *name == server.endpoint.address());
            clients[index.expect("client should be one of the zone's")] += 1;
        }
    }
    // A random choice exceeds these limits in less than one of a million seeds.
    assert!(clients.iter().all(|clients| (1..32).contains(clients)), "{clients:?}, where 15 are due");
}
