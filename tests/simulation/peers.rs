//! Tests of native and compat peers, of TLS, and of connections that are handed off, in simulated worlds.

use super::service::{Memory, Service};
use frisbee::{Config, PeerKind};
use frisbee_sim::{Cable, FaultKind, Faults, World, sim_test};
use frisbee_tests::interop::{AddRequest, Empty, Interop, InteropClient, InteropServer, Payload};
use frisbee_tests::left_to_service;
use frisbee_tests::pki::Authority;
use frpc::{Channel, ChannelBuilder, Request, Response, Server, ServerBuilder, Status};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

/// Time for which clients make calls.
const TIME: Duration = Duration::from_secs(12);

/// Time by which a call may exceed its timeout, because a node may be paused.
const SLACK: Duration = Duration::from_secs(5);

fn serve(world: &World, memory: Arc<Memory>, builder: impl Fn() -> ServerBuilder + Send + Sync + 'static) {
    world.node("server").start(move |process| {
        let builder = builder().add_service(InteropServer::new(Service(memory.clone())));
        process.serve(builder.build().expect("settings should be valid"));
        std::future::ready(())
    });
}

fn channel(world: &World, builder: ChannelBuilder) -> Channel {
    let connector = world.node("client").process().connector("server");
    let channel = builder.timeout(Duration::from_secs(2)).connect_lazy_with_connector(connector);
    channel.expect("services should not overlap")
}

/// Makes calls of `Add` until the time is over. Returns the number of successful calls.
async fn add(world: &World, client: &InteropClient, memory: &Memory) -> usize {
    let (mut call, mut successes) = (0, 0);
    while world.elapsed() < TIME {
        call += 1;
        let started = world.elapsed();
        let sum = client.add(AddRequest { a: call, b: 5 }).await;
        assert!(world.elapsed() - started < Duration::from_secs(2) + SLACK, "call {call} hangs");
        let executions = memory.executions(call as u64);
        match sum {
            Ok(sum) => {
                assert_eq!((sum.get_ref().total, executions), (call + 5, 1));
                successes += 1;
            }
            Err(status) => assert!(executions <= usize::from(status.may_have_run()), "{status}: {executions} times"),
        }
        sleep(Duration::from_millis(200)).await;
    }
    successes
}

#[sim_test(seeds = 24)]
async fn peers_call_each_other_through_faults(world: World) {
    let (server, client) = world.draw(|rng| (rng.bool(), rng.bool()));
    let memory = Arc::new(Memory::default());
    serve(&world, memory.clone(), move || Server::builder().config(Config::default().hello(server)));
    let channel = channel(&world, Channel::builder().config(Config::default().hello(client)));
    let caller = InteropClient::new(channel.clone());
    caller.add(AddRequest { a: 0, b: 0 }).await.expect("call should succeed");
    let connection = channel.connection().expect("channel should be connected");
    let kind = connection.peer_known().await.expect("peer should complete the handshake");
    // A peer is native only if both ends send HELLO.
    assert_eq!(matches!(kind, PeerKind::Compat), !(server && client), "{kind:?}");
    world.inject(Faults::drawn(4, ["server"]).peers(["client"]));
    assert!(add(&world, &caller, &memory).await > 0, "some calls should succeed");
}

/// Runs are not reproducible. TLS gets its keys from the operating system, and the effect of a flipped bit may depend
/// on the keys.
#[sim_test(seeds = 40, runs_twice = false)]
async fn tls_lets_no_flipped_bit_pass(world: World) {
    let authority = Authority::default();
    let server = authority.server();
    let memory = Arc::new(Memory::default());
    serve(&world, memory.clone(), move || Server::builder().tls(server.clone()));
    let channel = channel(&world, Channel::builder().tls(authority.client()).server_name("127.0.0.1"));
    let caller = InteropClient::new(channel);
    caller.add(AddRequest { a: 0, b: 0 }).await.expect("call should succeed");
    let kinds = [FaultKind::Corrupt, FaultKind::Crash, FaultKind::Reset];
    world.inject(Faults::drawn(5, ["server"]).peers(["client"]).kinds(kinds));
    let payload = Payload { seq: 1_000_000, data: vec![7; 2_000] };
    if let Ok(echoed) = caller.echo_payload(payload.clone()).await {
        assert_eq!(*echoed.get_ref(), payload);
    }
    assert!(add(&world, &caller, &memory).await > 0, "some calls should succeed");
}

/// A service that hands off its connections to an echo.
struct Giving;

impl Interop for Giving {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, request: Request<Empty>) -> Result<Response<Empty>, Status> {
        let answer =
            request.hand_off().ok_or_else(|| Status::failed_precondition("the connection was not requested"))?;
        answer.accept(|raw| async move {
            let (mut read, mut write) = tokio::io::split(raw);
            if tokio::io::copy(&mut read, &mut write).await.is_ok() {
                drop(write.shutdown().await);
            }
        });
        Ok(Response::new(Empty {}))
    }
}

#[sim_test(seeds = 24)]
async fn handed_off_bytes_arrive_in_order(world: World) {
    world.set_cables(Cable::default().splits(0.5));
    world.node("server").start(|process| async move {
        let builder = Server::builder().add_service(InteropServer::new(Giving));
        let builder = builder.method_hand_off("interop.Interop/DoNothing");
        process.serve(builder.build().expect("settings should be valid"));
    });
    let is_calm = world.seed().is_multiple_of(4);
    if !is_calm {
        let kinds = [FaultKind::Crash, FaultKind::Cut, FaultKind::Reset, FaultKind::Partition, FaultKind::Slow];
        world.inject(Faults::drawn(2, ["server"]).peers(["client"]).kinds(kinds).within(Duration::from_millis(200)));
    }
    let (asking, handed) = channel(&world, Channel::builder()).request_hand_off();
    let refusal = InteropClient::new(asking).do_nothing(Empty {}).await;
    let Some(raw) = handed.take() else {
        assert!(refusal.is_err(), "successful call should have handed off the connection");
        return;
    };
    let sent: Vec<u8> = (0_u32..5_000).flat_map(u32::to_be_bytes).collect();
    let (mut read, mut write) = tokio::io::split(raw);
    let writing = async {
        write.write_all(&sent).await?;
        write.shutdown().await
    };
    let mut received = Vec::new();
    let reading = async { tokio::time::timeout(Duration::from_secs(60), read.read_to_end(&mut received)).await };
    let (written, read) = tokio::join!(writing, reading);
    world.note(format!("{} of {} bytes were echoed", received.len(), sent.len()));
    assert!(sent.starts_with(&received), "echo should have the sent bytes");
    if is_calm {
        written.and(read.expect("read should end in time").map(drop)).expect("call should succeed");
        assert_eq!(received.len(), sent.len());
    }
}
