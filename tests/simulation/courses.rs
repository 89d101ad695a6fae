//! Tests that the events of a world with servers, channels and tasks of frpc depend only on its seed.

use frisbee_sim::{Faults, Process, World, sim, sim_test};
use samples::greeter::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use std::env;
use std::process::Command;
use std::time::Duration;
use tokio::time::sleep;

async fn greeter(process: Process) {
    let server = frpc::Server::builder().add_service(GreeterServer::new(Polite));
    process.serve(server.build().expect("settings should be valid"));
}

/// Returns a client at node `client` of the greeter at node `server`.
async fn client(world: &World) -> GreeterClient {
    let connector = world.node("client").process().connector("server");
    let channel = frpc::Channel::builder().connect_with_connector(connector).await;
    GreeterClient::new(channel.expect("server should accept the connection"))
}

fn ada() -> Name {
    Name { name: "Ada".to_owned() }
}

#[test]
fn course_depends_only_on_seed() {
    let run = |seed| {
        sim(seed, |world| async move {
            world.node("server").start(greeter);
            let client = client(&world).await;
            for _ in 0..10 {
                client.greet(ada()).await.expect("call should succeed");
            }
        })
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).trace_hash, run(2).trace_hash);
}

#[test]
fn channel_reaches_restarted_server() {
    sim(3, |world| async move {
        world.node("server").start(greeter);
        let client = client(&world).await;
        client.greet(ada()).await.expect("call should succeed");
        world.node("server").crash();
        sleep(Duration::from_secs(60)).await;
        world.node("server").restart();
        client.greet(ada()).await.expect("call should succeed");
    });
}

#[sim_test(seeds = 5)]
#[ignore = "for the test below"]
async fn greetings(world: World) {
    world.node("server").start(greeter);
    world.inject(Faults::drawn(4, ["server"]).peers(["client"]));
    let connector = world.node("client").process().connector("server");
    let channel = frpc::Channel::builder().timeout(Duration::from_secs(2)).connect_lazy_with_connector(connector);
    let client = GreeterClient::new(channel.expect("services should not overlap"));
    for _ in 0..20 {
        drop(client.greet(ada()).await);
        sleep(Duration::from_millis(500)).await;
    }
}

/// Compares separate processes, which have different addresses, hash seeds, environments and numbers of threads.
#[test]
fn seed_repeats_course_in_every_process() {
    let report = |seed: &str, name: &str, value: &str| {
        let mut command = Command::new(env::current_exe().expect("program should have a path"));
        command
            .args(["simulation::courses::greetings", "--exact", "--ignored", "--nocapture"])
            .env("FRISBEE_SEED", seed)
            .env(name, value);
        let output = command.output().expect("process should start");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let report = text.lines().find_map(|line| line.find(": Report").map(|at| line[at..].to_owned()));
        report.unwrap_or_else(|| panic!("no report: {text}"))
    };
    for seed in ["0", "1", "2"] {
        let first = report(seed, "LANG", "C");
        let long = "x".repeat(10_000);
        for (name, value) in
            [("RUST_TEST_THREADS", "1"), ("TZ", "Asia/Tokyo"), ("SOMETHING", &long), ("RUST_BACKTRACE", "1")]
        {
            assert_eq!(report(seed, name, value), first, "with {name}");
        }
    }
}
