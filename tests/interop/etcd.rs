//! Tests of servers that clients find through etcd, from Debian's package `etcd-server`. Servers register, leave and
//! die, and etcd itself dies.
//!
//! If etcd is not installed, the tests print a message and pass, unless `FRISBEE_REQUIRE_SERVERS` is set.
//! `FRISBEE_ETCD_AWAY` sets for how many seconds etcd is down.

use super::databases::servers;
use frpc::{Channel, Server};
use frpc_balance::etcd::{Etcd, EtcdResolver, Registered, Registration};
use frpc_balance::resolve::{Endpoint, Resolver};
use frpc_balance::{Balance, FleetView};
use samples::greeter::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const PREFIX: &str = "shop/";

/// Maximum time to wait for an event. Events take seconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A registered server.
struct Shop {
    address: String,
    registered: Registered,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), frpc::Error>>,
}

impl Shop {
    async fn open(etcd: &Etcd) -> Self {
        let address = format!("127.0.0.1:{}", servers::port().await);
        let registration =
            Registration::new(etcd, PREFIX, &Endpoint::new(&address)).expect("endpoint should have a text form");
        let registered = registration.start();
        let builder = Server::builder().add_service(registered.around(GreeterServer::new(Polite)));
        let server = builder.bind(&address).await.expect("server should bind to a free address");
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
        tokio::time::timeout(TIMEOUT, registered.registered())
            .await
            .expect("registration should complete within the timeout");
        Self { address, registered, stop, serving }
    }

    /// Stops the server gracefully, like an operator.
    async fn close(self) {
        drop(self.stop);
        self.serving.await.expect("task should not panic").expect("server should end regularly");
        drop(self.registered);
    }
}

/// Returns the addresses that the channel knows, sorted.
fn addresses(channel: &Channel) -> Vec<String> {
    let fleet = FleetView::of(channel).expect("channel should have a fleet");
    let mut addresses: Vec<_> = fleet.servers.iter().map(|server| server.endpoint.address().to_owned()).collect();
    addresses.sort();
    addresses
}

/// Waits until the channel knows exactly these servers.
async fn until_addresses(channel: &Channel, shops: &[&str]) {
    let mut expected: Vec<_> = shops.iter().map(|address| (*address).to_owned()).collect();
    expected.sort();
    let reached = async {
        while addresses(channel) != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(TIMEOUT, reached).await;
    waited.unwrap_or_else(|_| panic!("{:?} are known, and not {expected:?}", addresses(channel)));
}

/// Starts callers, which fail the test if a call fails. Returns the number of their calls.
fn callers(channel: &Channel, over: &Arc<AtomicBool>) -> (Arc<AtomicU64>, Vec<JoinHandle<()>>) {
    let calls = Arc::<AtomicU64>::default();
    let caller = |_| {
        let (client, over, calls) = (GreeterClient::new(channel.clone()), over.clone(), calls.clone());
        tokio::spawn(async move {
            while !over.load(Ordering::SeqCst) {
                client.greet(Name { name: "Ada".to_owned() }).await.expect("call should succeed");
                calls.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    };
    (calls.clone(), (0..4).map(caller).collect())
}

async fn end(over: &AtomicBool, callers: Vec<JoinHandle<()>>) {
    over.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await.expect("call should succeed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn etcd_servers_join_and_leave_losslessly() {
    let Some(server) = servers::etcd().await else { return };
    let etcd = Etcd::new([format!("http://{}", server.address)]).expect("address should be valid");
    let one = Shop::open(&etcd).await;
    let channel = Channel::builder()
        .balance()
        .connect_resolved(EtcdResolver::new(&etcd, PREFIX))
        .await
        .expect("channel should connect to a resolved server");
    let over = Arc::new(AtomicBool::new(false));
    let (_, callers) = callers(&channel, &over);
    let mut shops = vec![one];
    for _ in 0..3 {
        shops.push(Shop::open(&etcd).await);
        let addresses: Vec<_> = shops.iter().map(|shop| shop.address.as_str()).collect();
        until_addresses(&channel, &addresses).await;
        if shops.len() > 2 {
            shops.remove(0).close().await;
        }
    }
    let addresses: Vec<_> = shops.iter().map(|shop| shop.address.as_str()).collect();
    until_addresses(&channel, &addresses).await;
    end(&over, callers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn etcd_restart_loses_no_call() {
    let Some(mut server) = servers::etcd().await else { return };
    let etcd = Etcd::new([format!("http://{}", server.address)]).expect("address should be valid");
    let (one, other) = (Shop::open(&etcd).await, Shop::open(&etcd).await);
    let channel = Channel::builder()
        .balance()
        .connect_resolved(EtcdResolver::new(&etcd, PREFIX))
        .await
        .expect("channel should connect to a resolved server");
    until_addresses(&channel, &[&one.address, &other.address]).await;
    let over = Arc::new(AtomicBool::new(false));
    let (calls, callers) = callers(&channel, &over);

    server.kill().await;
    let away = std::env::var("FRISBEE_ETCD_AWAY").ok().and_then(|seconds| seconds.parse().ok());
    tokio::time::sleep(Duration::from_secs(away.unwrap_or(3))).await;
    let fleet = FleetView::of(&channel).expect("channel should have a fleet");
    assert_eq!(fleet.servers.len(), 2, "fleet should keep the last valid set");
    assert!(
        fleet.resolver_failure.is_some_and(|failure| failure.contains("etcd")),
        "fleet should report the failure of etcd"
    );
    server.restart().await;
    let third = Shop::open(&etcd).await;
    until_addresses(&channel, &[&one.address, &other.address, &third.address]).await;
    end(&over, callers).await;
    println!("{} calls, none lost", calls.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread")]
async fn crashed_server_is_removed_after_lease() {
    const TTL: Duration = Duration::from_secs(2);
    let Some(server) = servers::etcd().await else { return };
    let address = format!("http://{}", server.address);
    let etcd = Etcd::new([&address]).expect("address should be valid");
    let stays = Shop::open(&etcd).await;
    // A separate runtime looks like a separate process to etcd.
    let dies = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("runtime should start");
    let registering = dies.spawn(async move {
        let etcd = Etcd::new([&address]).expect("address should be valid");
        let registration =
            Registration::new(&etcd, PREFIX, &Endpoint::new("127.0.0.1:9")).expect("endpoint should have a text form");
        let registered = registration.with_ttl(TTL).start();
        registered.registered().await;
        registered
    });
    let registered = registering.await.expect("etcd should be reachable");
    let channel = Channel::builder()
        .balance()
        .connect_resolved(EtcdResolver::new(&etcd, PREFIX))
        .await
        .expect("channel should connect to a resolved server");
    until_addresses(&channel, &[&stays.address, "127.0.0.1:9"]).await;
    // Waits longer than the lease, so the lease must be renewed.
    tokio::time::sleep(2 * TTL).await;
    assert_eq!(addresses(&channel).len(), 2);
    dies.shutdown_background();
    drop(registered);
    let died = Instant::now();
    until_addresses(&channel, &[&stays.address]).await;
    println!("gone {:?} after its death, with a lease of {TTL:?}", died.elapsed());
}

/// Regression test: after its key was deleted, a server could not be found any more, although it was running and
/// renewed its lease.
#[tokio::test(flavor = "multi_thread")]
async fn deleted_registration_key_is_stored_again() {
    let Some(server) = servers::etcd().await else { return };
    let etcd = Etcd::new([format!("http://{}", server.address)]).expect("address should be valid");
    let registered = async || {
        let registration = Registration::new(&etcd, PREFIX, &Endpoint::new("127.0.0.1:9"));
        let registered =
            registration.expect("endpoint should have a text form").with_ttl(Duration::from_secs(2)).start();
        registered.registered().await;
        registered
    };
    // Both servers have the same key. It now belongs to the lease of the second one.
    let (_stays, leaves) = (registered().await, registered().await);
    leaves.leave().await;
    let mut resolver = EtcdResolver::new(&etcd, PREFIX);
    let found = tokio::time::timeout(TIMEOUT, async {
        while resolver.next().await.expect("etcd should be reachable").is_empty() {}
    });
    found.await.expect("endpoint should be registered");
}
