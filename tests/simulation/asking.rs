//! Channels that ask servers how busy they are before their calls, and servers that would seem to have little to do.

use frisbee_sim::{Cable, World, sim_test};
use frisbee_tests::extension::{Extension, ExtensionClient, ExtensionServer, Time};
use frisbee_tests::not_served;
use frpc::{Channel, ChannelBuilder, Request, Response, Server, Status};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const TIMEOUT: Duration = Duration::from_secs(1);

/// How long a server takes for each call. It makes one after the other.
const CALL: Duration = Duration::from_millis(20);

/// How long questions and answers take, and the call itself, at most.
const ROUND_TRIPS: Duration = Duration::from_millis(8);

/// How a server works.
#[derive(Clone, Copy, PartialEq, Default)]
enum Kind {
    #[default]
    Works,
    Refuses,
    Hangs,
}

#[derive(Default)]
struct Worker {
    kind: Kind,
    busy: tokio::sync::Mutex<()>,
    runs: AtomicU64,
}

#[derive(Clone, Default)]
struct Service(Arc<Worker>);

impl Extension for Service {
    async fn get(&self, request: Request<Time>) -> Result<Response<Time>, Status> {
        self.0.runs.fetch_add(1, Ordering::SeqCst);
        match self.0.kind {
            Kind::Works => {}
            Kind::Refuses => return Err(Status::unavailable("not now")),
            Kind::Hangs => pending().await,
        }
        let _turn = self.0.busy.lock().await;
        sleep(CALL).await;
        Ok(Response::new(request.into_inner()))
    }

    not_served!(echo, fail, wait, ask, flood, sink);
}

fn name(number: usize) -> String {
    format!("server {number}")
}

/// Starts servers of these kinds.
fn serve(world: &World, kinds: &[Kind]) -> Vec<Arc<Worker>> {
    world.set_cables(Cable::default().latency(Duration::from_millis(1)..=Duration::from_millis(1)));
    let workers: Vec<_> = kinds.iter().map(|kind| Arc::new(Worker { kind: *kind, ..Worker::default() })).collect();
    for (number, worker) in workers.iter().enumerate() {
        let service = Service(worker.clone());
        world.node(&name(number)).start(move |process| {
            let builder = Server::builder().add_service(ExtensionServer::new(service.clone()));
            process.serve(builder.build().expect("there is one service"));
            std::future::ready(())
        });
    }
    workers
}

/// A client of these servers.
async fn client(world: &World, node: &str, servers: &[usize], builder: ChannelBuilder) -> ExtensionClient {
    let process = world.node(node).process();
    let names: Vec<_> = servers.iter().copied().map(name).collect();
    let connectors = names.iter().map(|name| process.connector(name));
    let channel = builder.timeout(TIMEOUT).connect_all_with_connectors(connectors).await.expect("servers are there");
    sleep(Duration::from_millis(100)).await;
    ExtensionClient::new(channel)
}

fn asking() -> ChannelBuilder {
    Channel::builder().ask_before_calls(5)
}

#[sim_test(seeds = 10)]
async fn a_rare_call_of_a_channel_that_asks_goes_to_the_only_server_that_has_nothing_to_do(world: World) {
    let all = [0, 1, 2, 3, 4];
    serve(&world, &[Kind::Works; 5]);
    let rare = client(&world, "rare", &all, asking()).await;
    let mut others = Vec::new();
    for number in all {
        others.push(client(&world, "other", &[number], Channel::builder()).await);
    }
    for _ in 0..20 {
        rare.get(Time::default()).await.expect("servers work");
    }
    for round in 0..30 {
        sleep(Duration::from_millis(500)).await;
        let busy = others.iter().enumerate().filter(|(number, _)| *number != round % all.len());
        let calls: Vec<_> = busy
            .flat_map(|(_, other)| vec![other.clone(); 4])
            .map(|other| tokio::spawn(async move { other.get(Time::default()).await.is_ok() }))
            .collect();
        sleep(Duration::from_millis(3)).await;
        let begun = Instant::now();
        rare.get(Time::default()).await.expect("servers work");
        assert!(begun.elapsed() <= CALL + ROUND_TRIPS, "round {round}: {:?}", begun.elapsed());
        for call in calls {
            assert!(call.await.expect("it does not panic"), "servers work");
        }
    }
}

#[sim_test(seeds = 5)]
async fn many_clients_that_ask_find_a_server_out_together_that_refuses_or_hangs(world: World) {
    let mut kinds = vec![Kind::Works; 12];
    (kinds[0], kinds[1]) = (Kind::Refuses, Kind::Hangs);
    let (workers, all) = (serve(&world, &kinds), Vec::from_iter(0..kinds.len()));
    let mut calling = Vec::new();
    for number in 0..60 {
        let client = client(&world, &format!("client {number}"), &all, asking()).await;
        calling.push(tokio::spawn(async move {
            let mut failed = 0;
            for _ in 0..30 {
                failed += u64::from(client.get(Time::default()).await.is_err());
                sleep(Duration::from_millis(fastrand::u64(150..450))).await;
            }
            failed
        }));
    }
    let mut failed = 0;
    for calls in calling {
        failed += calls.await.expect("it does not panic");
    }
    let [refused, hung] = [0, 1].map(|number| workers[number].runs.load(Ordering::SeqCst));
    println!("{failed} of 1800 calls failed; {refused} were refused, {hung} hung");
    assert!(failed <= 20, "{failed} calls failed");
    // Otherwise each client would find that out for itself, again and again.
    assert!(refused <= 60 && hung <= 20, "{refused} calls were refused and {hung} hung");
}

#[sim_test(seeds = 5)]
async fn a_server_that_does_not_answer_questions_delays_a_call_by_five_milliseconds(world: World) {
    serve(&world, &[Kind::Works; 3]);
    let client = client(&world, "client", &[0, 1, 2], asking()).await;
    for _ in 0..20 {
        client.get(Time::default()).await.expect("servers work");
    }
    let far = Duration::from_millis(100);
    world.set_cables(Cable::default().latency(far..=far));
    sleep(2 * far).await;
    let mut took = Vec::new();
    for _ in 0..5 {
        sleep(Duration::from_millis(100)).await;
        let begun = Instant::now();
        client.get(Time::default()).await.expect("servers work");
        took.push(begun.elapsed() - 2 * far);
    }
    // The timer of a question rounds up.
    assert!(took[0] >= CALL + Duration::from_millis(5) && took[0] <= CALL + Duration::from_millis(9), "{took:?}");
    assert!(took[1..4].iter().all(|took| *took <= CALL + Duration::from_millis(3)), "no more for a second: {took:?}");
}
