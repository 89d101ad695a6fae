//! Measures the time that introspection takes to list many connections, and its effect on other callers.
//!
//! ```text
//! cargo run --release -p cost --bin listing              8192 connections
//! cargo run --release -p cost --bin listing -- 1000
//! ```
//!
//! Server, clients and the listing client share the machine. Ten callers make calls continuously. In every other second
//! the connections are listed over a Unix socket, page by page and again after 100 ms. Reports the median duration of a
//! listing, and the ratio of the callers' p99 with and without listings.

use benches::BoxError;
use benches::proto::benchmark::{BenchmarkServiceClient, BenchmarkServiceServer, Request as Echo};
use benches::rivals::Setup;
use benches::rivals::frpc::Service;
use frpc::{Channel, Server};
use frpc_reflection::Introspection;
use frpc_reflection::introspection_v1::{ConnectionsRequest, IntrospectionClient};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Number of seconds with listings, and of seconds without.
const SECONDS: usize = 10;

/// Maximum number of connections in a page.
const PAGE: u32 = 1024;

fn main() -> Result<(), BoxError> {
    let count = std::env::args().nth(1).map_or(Ok(8192), |count| count.parse())?;
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard })?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(compare(count))
}

async fn compare(count: usize) -> Result<(), BoxError> {
    let server = Server::builder().add_service(BenchmarkServiceServer::new(Service(Setup::new(10)))).inspectable();
    let server = server.bind("127.0.0.1:0").await?;
    let (address, inspector) = (server.local_addr().to_string(), server.inspector());
    tokio::spawn(server.serve());
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("frpc.sock");
    tokio::spawn(Introspection::new().server("benchmark", inspector).serve_unix(socket.clone()));
    let mut idle = Vec::with_capacity(count);
    for _ in 0..count {
        idle.push(Channel::connect(address.as_str()).await?);
    }
    let asking = loop {
        match Channel::connect(format!("unix:{}", socket.display())).await {
            Ok(channel) => break IntrospectionClient::new(channel),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };

    // Latencies of calls in seconds without and with listings.
    let latencies = Arc::new(Mutex::new([Vec::new(), Vec::new()]));
    let is_listing = Arc::new(AtomicBool::new(false));
    let client = BenchmarkServiceClient::connect(address.as_str()).await?;
    for _ in 0..10 {
        tokio::spawn(call(client.clone(), latencies.clone(), is_listing.clone()));
    }
    let mut listings = Vec::new();
    for _ in 0..SECONDS {
        tokio::time::sleep(Duration::from_secs(1)).await;
        is_listing.store(true, Ordering::Relaxed);
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(1) {
            let at = Instant::now();
            let listed = list(&asking).await?;
            listings.push(at.elapsed());
            if listed < count {
                return Err(format!("only {listed} of {count} connections were listed").into());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        is_listing.store(false, Ordering::Relaxed);
    }
    listings.sort();
    let (median, worst) = (listings[listings.len() / 2], listings[listings.len() - 1]);
    println!("{count} connections: {} listings, median {median:.1?}, worst {worst:.1?}", listings.len());
    let [without, with] = std::mem::take(&mut *latencies.lock().expect("lock should not be poisoned")).map(p99);
    println!("p99 of others: {without:.1?} without and {with:.1?} with listings, {:.2}x", ratio(with, without));
    Ok(())
}

/// Makes calls continuously, and records their durations.
async fn call(client: BenchmarkServiceClient, latencies: Arc<Mutex<[Vec<Duration>; 2]>>, is_listing: Arc<AtomicBool>) {
    let echo = Echo { message: "x".repeat(32) };
    loop {
        let started = Instant::now();
        if client.benchmark(echo.clone()).await.is_err() {
            return;
        }
        let kind = usize::from(is_listing.load(Ordering::Relaxed));
        latencies.lock().expect("lock should not be poisoned")[kind].push(started.elapsed());
    }
}

/// Lists all connections, page by page, and returns their number.
async fn list(client: &IntrospectionClient) -> Result<usize, BoxError> {
    let (mut listed, mut after) = (0, 0);
    loop {
        let request = ConnectionsRequest { after, limit: PAGE, ..ConnectionsRequest::default() };
        let page = client.connections(request).await?.into_inner();
        if page.next == 0 {
            return Ok(listed);
        }
        listed += page.connections.len();
        after = page.next;
    }
}

fn p99(mut latencies: Vec<Duration>) -> Duration {
    latencies.sort();
    latencies.get(latencies.len() * 99 / 100).copied().unwrap_or_default()
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
