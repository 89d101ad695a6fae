//! Tests of channels to several servers, which crash or are replaced one after the other.

use super::service::{Memory, Service};
use frisbee_sim::{Fault, Faults, Process, World, sim_test};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frpc::{Acceptor, Channel, Server};
use frpc_balance::Balance;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

const SERVERS: [&str; 3] = ["s0", "s1", "s2"];

/// The timeout of calls.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Time after which new servers receive equal shares of calls. Before, chance decides.
const SLOW_START: Duration = Duration::from_secs(6);

fn acceptor(memory: &Arc<Memory>) -> Acceptor {
    let builder = Server::builder().add_service(InteropServer::new(Service(memory.clone())));
    builder.build().expect("settings should be valid")
}

async fn client(process: &Process) -> InteropClient {
    let connectors = SERVERS.map(|server| process.connector(server));
    let channel = Channel::builder().timeout(TIMEOUT).balance().connect_all_with_connectors(connectors).await;
    InteropClient::new(channel.expect("a server should accept the connection"))
}

#[sim_test(seeds = 24)]
async fn crashed_servers_cost_only_their_calls(world: World) {
    let memories = SERVERS.map(|_| Arc::new(Memory::default()));
    for (server, memory) in SERVERS.into_iter().zip(memories.clone()) {
        world.node(server).start(move |process| {
            process.serve(acceptor(&memory));
            std::future::ready(())
        });
    }
    let client = client(&world.node("client").process()).await;
    let calm = |call: i64| client.add(AddRequest { a: call, b: 1 });
    sleep(SLOW_START).await;
    for call in 0..60 {
        calm(call).await.expect("call without faults should succeed");
    }
    let shares = memories.each_ref().map(|memory| (0..60).map(|call| memory.executions(call)).sum::<usize>());
    assert!(shares.iter().all(|share| *share >= 5), "calls are not balanced: {shares:?}");

    // One of the servers never fails, so a retry always finds a server that works.
    world.inject(Faults::drawn(5, ["s1", "s2"]).peers(["client"]));
    for call in 100..200 {
        let started = world.elapsed();
        let sum = calm(call).await;
        let executions = memories.iter().map(|memory| memory.executions(call as u64)).sum::<usize>();
        assert!(executions <= 1, "call {call} was executed {executions} times");
        assert!(world.elapsed() - started <= TIMEOUT + Duration::from_secs(1), "call {call} hangs");
        match sum {
            Ok(sum) => assert_eq!(sum.get_ref().total, call + 1),
            Err(status) => assert!(status.may_have_run(), "call should reach s0, but no server was called: {status}"),
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Replaces one server after the other, as a supervisor does. A replaced server notifies its clients, and exits when it
/// has replied to all calls.
#[sim_test(seeds = 24)]
async fn rolling_replacement_fails_no_call(world: World) {
    let memory = Arc::new(Memory::default());
    let running = Arc::new(Mutex::new(SERVERS.map(|_| None)));
    for (number, server) in SERVERS.into_iter().enumerate() {
        let (memory, running) = (memory.clone(), running.clone());
        world.node(server).start(move |process| {
            let acceptor = acceptor(&memory);
            running.lock().expect("lock should not be poisoned")[number] = Some(acceptor.clone());
            process.serve(acceptor);
            std::future::ready(())
        });
    }
    let client = client(&world.node("client").process()).await;
    let replacing = tokio::spawn({
        let world = world.clone();
        async move {
            for (number, server) in SERVERS.into_iter().enumerate() {
                sleep(Duration::from_secs(1)).await;
                let acceptor = running.lock().expect("lock should not be poisoned")[number]
                    .take()
                    .expect("process should be running");
                acceptor.shutdown().await;
                let down = Duration::from_millis(300);
                world.inject_now(Fault::Crash { node: server.to_owned(), down, loses_disk: false }).await;
            }
        }
    });
    let mut call = 0;
    while !replacing.is_finished() {
        call += 1;
        let sum = client.add(AddRequest { a: call, b: 1 }).await.expect("call should succeed");
        assert_eq!((sum.get_ref().total, memory.executions(call as u64)), (call + 1, 1));
        sleep(Duration::from_millis(7)).await;
    }
    assert!(call > 100, "only {call} calls were made");
}
