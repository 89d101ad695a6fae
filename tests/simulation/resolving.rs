//! Tests of channels that follow a resolver. Its endpoints join, leave, flap, and occur twice.

use super::service::{Memory, Service};
use frisbee_sim::{Fault, Process, World, sim_test};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, SleepRequest};
use frpc::{Channel, Code, Server};
use frpc_balance::resolve::{Endpoint, Resolver, StaticResolver, WatchResolver};
use frpc_balance::{Balance, FleetView};
use parking_lot::Mutex;
use std::future::{pending, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// A server, with the calls that it has received and the times of its connections.
struct Node {
    memory: Arc<Memory>,
    connections: Arc<Mutex<Vec<Duration>>>,
}

impl Node {
    fn start(world: &World, name: &str) -> Self {
        let node = Self { memory: Arc::default(), connections: Arc::default() };
        let (memory, connections, of) = (node.memory.clone(), node.connections.clone(), world.clone());
        world.node(name).start(move |process| {
            let builder = Server::builder().add_service(InteropServer::new(Service(memory.clone())));
            let acceptor = builder.build().expect("settings should be valid");
            let (connections, of) = (connections.clone(), of.clone());
            process.accept(move |transport| {
                connections.lock().push(of.elapsed());
                let acceptor = acceptor.clone();
                async move { drop(acceptor.serve_connection(transport).await) }
            });
            ready(())
        });
        node
    }

    /// Returns how many of the given calls this server has executed.
    fn executed(&self, calls: impl IntoIterator<Item = i64>) -> usize {
        calls.into_iter().map(|call| self.memory.executions(call as u64)).sum()
    }

    fn connections(&self) -> usize {
        self.connections.lock().len()
    }
}

fn endpoints(names: &[&str]) -> Vec<Endpoint> {
    names.iter().copied().map(Endpoint::new).collect()
}

fn channel(process: &Process, resolver: impl Resolver) -> impl Future<Output = Result<Channel, frpc::Error>> {
    let process = process.clone();
    Channel::builder()
        .balance()
        .connect_resolved_with_connector(resolver, move |endpoint| process.connector(endpoint.address())())
}

async fn client(world: &World, resolver: impl Resolver) -> (Channel, InteropClient) {
    let channel = channel(&world.node("client").process(), resolver).await.expect("server should be reachable");
    (channel.clone(), InteropClient::new(channel))
}

async fn call(client: &InteropClient, numbers: std::ops::Range<i64>) {
    for number in numbers {
        client.add(AddRequest { a: number, b: 1 }).await.expect("call should succeed");
    }
}

#[sim_test(seeds = 10)]
async fn departed_endpoint_gets_no_more_calls(world: World) {
    let [stays, leaves, joins] = ["stays", "leaves", "joins"].map(|name| Node::start(&world, name));
    let (sets, resolver) = WatchResolver::new(endpoints(&["stays", "leaves"]));
    let (channel, client) = client(&world, resolver).await;
    sleep(Duration::from_secs(1)).await;
    let resting = (0..20).map(|tag| {
        let client = client.clone();
        tokio::spawn(async move { client.sleep(SleepRequest { millis: 8_000, tag }).await })
    });
    let resting: Vec<_> = resting.collect();
    sleep(Duration::from_secs(1)).await;
    assert_eq!((stays.executed(0..20), leaves.executed(0..20)), (10, 10));

    sets.send_replace(endpoints(&["joins", "stays"]));
    sleep(Duration::from_secs(4)).await;
    call(&client, 100..200).await;
    assert_eq!(leaves.executed(100..200), 0, "server that has left should receive no calls");
    assert!(joins.executed(100..200) > 80, "new server should receive most calls");
    for call in resting {
        call.await.expect("task should not panic").expect("call in progress should complete on its connection");
    }
    assert_eq!(
        [&stays, &leaves, &joins].map(Node::connections),
        [1, 1, 1],
        "each server should have had one connection"
    );
    sleep(Duration::from_secs(1)).await;
    assert_eq!(fleet(&channel), ["joins", "stays"]);
}

/// Returns the addresses of the channel's servers, sorted.
fn fleet(channel: &Channel) -> Vec<String> {
    let fleet = FleetView::of(channel).expect("channel should have a fleet");
    let mut names: Vec<_> = fleet.servers.iter().map(|server| server.endpoint.address().to_owned()).collect();
    names.sort();
    names
}

/// A resolver that reports the given sets of endpoints, each after a pause.
struct Script(std::vec::IntoIter<(u64, io::Result<Vec<Endpoint>>)>);

impl Resolver for Script {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        let Some((millis, answer)) = self.0.next() else { return pending().await };
        sleep(Duration::from_millis(millis)).await;
        answer
    }

    fn name(&self) -> String {
        "a script".to_owned()
    }
}

#[sim_test(seeds = 10)]
async fn bad_resolver_answers_change_nothing(world: World) {
    let [one, other] = ["one", "other"].map(|name| Node::start(&world, name));
    let both = || Ok(endpoints(&["one", "other"]));
    let script = vec![
        (0, both()),
        (2_000, Ok(Vec::new())),
        (100, both()),
        (100, Ok(endpoints(&["one"]))),
        (400, both()),
        (100, Ok(endpoints(&["other"]))),
        (400, both()),
        (100, Err(io::ErrorKind::TimedOut.into())),
        (100, Ok(Vec::new())),
    ];
    let (channel, client) = client(&world, Script(script.into_iter())).await;
    let mut number = 0;
    while world.elapsed() < Duration::from_secs(10) {
        call(&client, number..number + 1).await;
        number += 1;
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((one.connections(), other.connections()), (1, 1));
    let shares = [&one, &other].map(|node| node.executed(number - 200..number));
    assert!(shares.iter().all(|share| *share > 50), "{shares:?}");
    let fleet = FleetView::of(&channel).expect("channel should have a fleet");
    let failure = fleet.resolver_failure.expect("resolver error should be reported");
    assert!(failure.contains("no endpoint") && failure.contains("a script"), "{failure}");
}

#[sim_test(seeds = 3)]
async fn clients_reach_new_endpoint_gradually(world: World) {
    const CLIENTS: usize = 200;
    let [_old, new] = ["old", "new"].map(|name| Node::start(&world, name));
    let (sets, _) = WatchResolver::new(endpoints(&["old"]));
    let process = world.node("client").process();
    let mut channels = Vec::new();
    for _ in 0..CLIENTS {
        channels
            .push(channel(&process, WatchResolver::from(sets.subscribe())).await.expect("server should be reachable"));
    }
    sets.send_replace(endpoints(&["old", "new"]));
    sleep(Duration::from_secs(4)).await;
    let times = new.connections.lock().clone();
    assert_eq!(times.len(), CLIENTS);
    let busiest = busiest_second(&times);
    assert!(busiest < CLIENTS / 2, "{busiest} of {CLIENTS} clients connected within a second");
}

/// Returns the largest number of the given times that fall into one second.
fn busiest_second(times: &[Duration]) -> usize {
    let within = |begin: &Duration| {
        let end = *begin + Duration::from_secs(1);
        times.iter().filter(|time| (*begin..end).contains(*time)).count()
    };
    times.iter().map(within).max().unwrap_or(0)
}

#[sim_test(seeds = 1)]
async fn clients_return_gradually_after_recovery(world: World) {
    const CLIENTS: usize = 1_000;
    let [_stays, away] = ["stays", "away"].map(|name| Node::start(&world, name));
    let process = world.node("client").process();
    let mut channels = Vec::new();
    for _ in 0..CLIENTS {
        let both = StaticResolver::new(endpoints(&["stays", "away"]));
        channels.push(channel(&process, both).await.expect("server should be reachable"));
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(away.connections(), CLIENTS);
    world
        .inject_now(Fault::Crash { node: "away".to_owned(), down: Duration::from_millis(100), loses_disk: false })
        .await;
    sleep(Duration::from_secs(10)).await;
    let times = away.connections.lock()[CLIENTS..].to_vec();
    assert_eq!(times.len(), CLIENTS, "all clients should reconnect");
    let busiest = busiest_second(&times);
    assert!(busiest < CLIENTS / 2, "{busiest} of {CLIENTS} clients connected within a second");
}

#[sim_test(seeds = 10)]
async fn call_without_connection_skips_spread(world: World) {
    let [_before, after] = ["before", "after"].map(|name| Node::start(&world, name));
    let (sets, resolver) = WatchResolver::new(endpoints(&["before"]));
    let process = world.node("client").process();
    let builder = Channel::builder().balance().connection_spread(Duration::from_secs(600));
    let connector = move |endpoint: Endpoint| process.connector(endpoint.address())();
    let channel =
        builder.connect_resolved_with_connector(resolver, connector).await.expect("server should be reachable");
    let client = InteropClient::new(channel);
    call(&client, 0..1).await;
    sets.send_replace(endpoints(&["after"]));
    sleep(Duration::from_secs(1)).await;
    let started = world.elapsed();
    call(&client, 1..2).await;
    assert!(world.elapsed() - started < Duration::from_secs(1), "{:?}", world.elapsed() - started);
    assert_eq!(after.executed(1..2), 1);
}

#[sim_test(seeds = 10)]
async fn last_record_of_address_counts(world: World) {
    let [one, other] = ["one", "other"].map(|name| Node::start(&world, name));
    let records = [("one", 9), ("other", 1), ("ONE", 3)];
    let records = records.map(|(name, weight)| Endpoint::new(name).with_weight(weight));
    let process = world.node("client").process();
    let connector = move |endpoint: Endpoint| process.connector(&endpoint.address().to_lowercase())();
    let builder = Channel::builder();
    let channel = builder.balance().connect_resolved_with_connector(StaticResolver::new(records), connector).await;
    let client = InteropClient::new(channel.expect("server should be reachable"));
    sleep(Duration::from_secs(1)).await;
    // The calls must be concurrent. For sequential calls both servers would be idle, and equally good.
    let calls = (0..400).map(|tag| {
        let client = client.clone();
        tokio::spawn(async move { client.sleep(SleepRequest { millis: 100, tag }).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("task should not panic").expect("server should be reachable");
    }
    assert_eq!((one.connections(), other.connections()), (1, 1));
    let share = one.executed(0..400);
    assert!((280..=320).contains(&share), "server with three quarters of the weight received {share} of 400 calls");
}

/// Regression: each reply of a server with weight zero reported that it was idle, and this attracted the next call.
#[sim_test(seeds = 10)]
async fn zero_weight_endpoint_gets_no_calls(world: World) {
    let [_stays, rests] = ["stays", "rests"].map(|name| Node::start(&world, name));
    let weighed = |weight| vec![Endpoint::new("stays"), Endpoint::new("rests").with_weight(weight)];
    let (sets, resolver) = WatchResolver::new(weighed(1));
    let (_channel, client) = client(&world, resolver).await;
    // Before the slow start of the servers ends, chance decides which of them receives more calls.
    sleep(Duration::from_secs(6)).await;
    let tags = Arc::new(AtomicU32::new(0));
    let callers = (0..20).map(|_| {
        let (client, tags) = (client.clone(), tags.clone());
        async move {
            for _ in 0..100 {
                let request = SleepRequest { millis: 20, tag: tags.fetch_add(1, Ordering::Relaxed) };
                client.sleep(request).await.expect("server should be reachable");
            }
        }
    });
    let callers: JoinSet<_> = callers.collect();
    // Wait, because the random choice determines how soon the server has received enough calls.
    while rests.executed(0..2_000) <= 100 && !callers.is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    sets.send_replace(weighed(0));
    sleep(Duration::from_millis(100)).await;
    let (before, at) = (rests.executed(0..2_000), i64::from(tags.load(Ordering::Relaxed)));
    callers.join_all().await;
    assert!(before > 100 && at < 1_800, "{before} of {at}");
    assert_eq!(
        rests.executed(0..2_000),
        before,
        "endpoint without weight should receive no calls while another is connected"
    );
}

#[sim_test(seeds = 5)]
async fn failed_calls_explain_missing_endpoints(world: World) {
    let errors = (0..100).map(|_| (0, Err(io::Error::other("the registry is on fire")))).collect::<Vec<_>>();
    let lazy =
        Channel::builder().balance().connect_resolved_lazy(Script(errors.into_iter())).expect("server should be valid");
    let status = InteropClient::new(lazy).add(AddRequest { a: 1, b: 1 }).await.expect_err("call should fail");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false));
    assert!(status.message().contains("the registry is on fire"), "{status}");

    let process = world.node("client").process();
    let error =
        channel(&process, StaticResolver::new(["nowhere"])).await.expect_err("node should accept no connection");
    assert!(error.to_string().contains("refused") && error.to_string().contains("fixed list"), "{error}");
    let error = channel(&process, StaticResolver::new([""; 0])).await.expect_err("empty set should be rejected");
    assert!(error.to_string().contains("no endpoint"), "{error}");
}

/// Regression: the connector always received the metadata with which the endpoint had joined.
#[sim_test(seeds = 2)]
async fn changed_metadata_reaches_connector(world: World) {
    let node = Node::start(&world, "server");
    let stated = |rack: &str| vec![Endpoint::new("server").with_metadata("rack", rack)];
    let (sets, resolver) = WatchResolver::new(stated("1"));
    let (process, racks) = (world.node("client").process(), Arc::<Mutex<Vec<String>>>::default());
    let racks_seen = racks.clone();
    let connector = move |endpoint: Endpoint| {
        racks_seen.lock().push(endpoint.metadata()["rack"].clone());
        process.connector(endpoint.address())()
    };
    let builder = Channel::builder().balance().connection_spread(Duration::ZERO);
    let channel =
        builder.connect_resolved_with_connector(resolver, connector).await.expect("server should be reachable");
    let client = InteropClient::new(channel.clone());
    call(&client, 1..3).await;
    sets.send_replace(stated("2"));
    sleep(Duration::from_secs(1)).await;
    channel.connection().expect("channel should be connected").close();
    sleep(Duration::from_secs(5)).await;
    call(&client, 3..5).await;
    assert_eq!(*racks.lock(), ["1", "2"]);
    assert_eq!(node.connections(), 2);
}
