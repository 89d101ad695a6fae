//! Tests of calls over several servers in this process: hedging, and zones whose servers fail.

use frpc::{Channel, Code, Request, Response, ResponseStream, Server, Status};
use frpc_balance::resolve::{Endpoint, StaticResolver};
use frpc_balance::{Balance, FleetBuilder};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const HEDGED_AFTER: Duration = Duration::from_millis(100);

/// Behaviour that all servers of a test share.
#[derive(Default)]
struct Behaviour {
    /// Whether the next call never completes, and calls after it are rejected.
    hangs: AtomicBool,
    has_hung: AtomicBool,
    /// Whether the server in the zone `near` is unavailable.
    near_fails: AtomicBool,
    /// Number of calls that the server in the zone `near` has received.
    near_calls: AtomicU64,
}

/// A server in a zone.
struct Zoned {
    behaviour: Arc<Behaviour>,
    is_near: bool,
}

impl Greeter for Zoned {
    async fn greet(&self, _request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let Behaviour { hangs, has_hung, near_fails, near_calls } = &*self.behaviour;
        if self.is_near {
            near_calls.fetch_add(1, Ordering::SeqCst);
            if near_fails.load(Ordering::SeqCst) {
                return Err(Status::unavailable("not now"));
            }
        }
        if hangs.load(Ordering::SeqCst) {
            if has_hung.swap(true, Ordering::SeqCst) {
                return Err(Status::permission_denied("not allowed").rejected());
            }
            std::future::pending::<()>().await;
        }
        Ok(Response::new(Greeting::default()))
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("not needed"))
    }
}

/// Returns a client of two servers, of which the first is in the zone `near`.
async fn client(builder: FleetBuilder) -> (GreeterClient, Arc<Behaviour>) {
    let behaviour = Arc::<Behaviour>::default();
    let endpoints = ["near", "far"].map(|zone| Endpoint::new(zone).with_zone(zone));
    let shared = behaviour.clone();
    let connector = move |endpoint: Endpoint| {
        let service = Zoned { behaviour: shared.clone(), is_near: endpoint.address() == "near" };
        let server = Server::builder().add_service(GreeterServer::new(service)).build();
        let server = server.expect("server settings should be valid");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        std::future::ready(std::io::Result::Ok(here))
    };
    let channel = builder.connect_resolved_with_connector(StaticResolver::new(endpoints), connector).await;
    let client = GreeterClient::new(channel.expect("servers should accept connections"));
    // Wait for the connections to both servers and their first measurements.
    for _ in 0..100 {
        sleep(Duration::from_millis(100)).await;
        client.greet(Name::default()).await.expect("servers should work");
    }
    (client, behaviour)
}

/// Makes the server in the zone `near` fail, checks that it is ejected, and waits until it is due for a probe.
async fn eject_near(client: &GreeterClient, behaviour: &Behaviour) {
    behaviour.near_fails.store(true, Ordering::SeqCst);
    for _ in 0..20 {
        sleep(Duration::from_millis(10)).await;
        drop(client.greet(Name::default()).await);
    }
    behaviour.near_fails.store(false, Ordering::SeqCst);
    let before = behaviour.near_calls.load(Ordering::SeqCst);
    for _ in 0..5 {
        client.greet(Name::default()).await.expect("other server should work");
    }
    assert_eq!(behaviour.near_calls.load(Ordering::SeqCst), before, "failing server should be ejected");
    sleep(Duration::from_secs(60)).await;
}

/// Regression test: if the second server rejected a hedged call for good, for example because the caller was not
/// allowed to make it, the call still waited for the first server.
#[tokio::test(start_paused = true)]
async fn final_rejection_of_hedge_ends_call() {
    let (client, behaviour) = client(Channel::builder().hedge_after(HEDGED_AFTER).balance()).await;
    behaviour.hangs.store(true, Ordering::SeqCst);
    let started = Instant::now();
    let call = tokio::time::timeout(Duration::from_secs(60), client.greet(Name::default()));
    let status = call.await.expect("rejection should end the call").expect_err("second server should reject the call");
    assert_eq!((status.code(), status.may_have_run()), (Code::PermissionDenied, true));
    assert!(started.elapsed() < 2 * HEDGED_AFTER, "{:?}", started.elapsed());
}

/// Regression test: once all servers of a zone were ejected, no call tried them again while servers of other zones
/// were connected. Later, up to 64 calls went to other zones before one did.
#[tokio::test(start_paused = true)]
async fn ejected_zone_is_probed_again() {
    let (client, behaviour) = client(Channel::builder().balance().zone("near")).await;
    assert!(behaviour.near_calls.load(Ordering::SeqCst) >= 90, "calls should stay in the zone");
    eject_near(&client, &behaviour).await;
    let before = behaviour.near_calls.load(Ordering::SeqCst);
    for _ in 0..100 {
        sleep(Duration::from_millis(100)).await;
        client.greet(Name::default()).await.expect("servers should work");
    }
    let calls = behaviour.near_calls.load(Ordering::SeqCst) - before;
    assert!(calls >= 95, "calls should return to the zone at once, but it got {calls} of 100");
}

/// Regression test: an ejected server received its probe only after up to 64 calls.
#[tokio::test(start_paused = true)]
async fn ejected_server_is_probed_by_next_call() {
    let (client, behaviour) = client(Channel::builder().balance()).await;
    eject_near(&client, &behaviour).await;
    let before = behaviour.near_calls.load(Ordering::SeqCst);
    client.greet(Name::default()).await.expect("servers should work");
    assert_eq!(behaviour.near_calls.load(Ordering::SeqCst), before + 1, "call should be the probe");
}
