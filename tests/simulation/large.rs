//! Runs a large world and prints the processor time that it takes. `.ci/full` runs it.

use frisbee_sim::{Cable, Process, Sim, World};
use samples::greeter::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

const SERVERS: usize = 50;
const CLIENTS: usize = 50;

/// The virtual duration of the world.
const TIME: Duration = Duration::from_secs(10_000);

/// Number of calls per client. A client makes two calls per second.
const CALLS: u64 = 20_000;

async fn serve(process: Process) {
    let server = frpc::Server::builder().add_service(GreeterServer::new(Polite));
    process.serve(server.build().expect("settings should be valid"));
}

async fn call(world: World, client: usize, answered: Arc<AtomicU64>) {
    let process = world.node(&format!("client {client}")).process();
    let connector = process.connector(&format!("server {client}"));
    let channel = frpc::Channel::builder().connect_with_connector(connector).await;
    let client = GreeterClient::new(channel.expect("server should accept the connection"));
    let pause = TIME / CALLS as u32 - Duration::from_millis(10);
    for _ in 0..CALLS {
        sleep(pause).await;
        client.greet(Name { name: "Ada".to_owned() }).await.expect("call should succeed");
        answered.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the processor time of this process in seconds, on Linux.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    let ticks = behind.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().ok());
    Some(ticks.sum::<Option<f64>>()? / 100.0)
}

#[test]
#[ignore = "a million calls: .ci/full runs it in release"]
fn hundred_nodes_make_million_calls() {
    let answered = Arc::new(AtomicU64::new(0));
    let sim = Sim::new().runs_twice(false).time_max(TIME * 2);
    let before = processor_seconds();
    let report = sim.run(1, |world| {
        let answered = answered.clone();
        async move {
            world.set_cables(Cable::default().latency(Duration::from_millis(5)..=Duration::from_millis(5)));
            for server in 0..SERVERS {
                world.node(&format!("server {server}")).start(serve);
            }
            let mut clients = JoinSet::new();
            (0..CLIENTS).for_each(|client| drop(clients.spawn(call(world.clone(), client, answered.clone()))));
            clients.join_all().await;
        }
    });
    let report = report.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(answered.load(Ordering::Relaxed), CLIENTS as u64 * CALLS);
    assert!(report.elapsed >= TIME, "{report:?}");
    let seconds = processor_seconds().zip(before).map(|(after, before)| after - before);
    println!("{report:?}: {seconds:?} s of processor time");
}
