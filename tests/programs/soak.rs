//! Runs a mixed load with churn for a given time, and then checks that nothing has grown.
//!
//! ```text
//! cargo run --release -p frisbee-tests --bin soak -- --minutes 60
//! cargo run --release -p frisbee-tests --bin soak -- --server 127.0.0.1:8000
//! ```
//!
//! The second command loads a server that is already running: `child serve`, of this version or of another.
//!
//! The load consists of calls of all kinds, cancelled calls, short-lived clients, and peers that violate the protocol.
//! Memory, descriptors and tasks are recorded every second. At the end, a regression line is computed for each of them,
//! without the first quarter of the time. The run fails if a line grows by more than the usual fluctuation.

use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, Range, SleepRequest, Text};
use frisbee_tests::process::resident_kib;
use frisbee_tests::raw::{header, packet};
use frisbee_tests::service::Service;
use frpc::{Channel, Server};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Maximum growth between the end of the first quarter and the end, by linear regression. The memory of allocators
/// fluctuates, and the numbers of descriptors and tasks fluctuate within a second.
const GROWTH_MAX: [(&str, f64); 3] = [("memory in KiB", 16_384.0), ("descriptors", 20.0), ("tasks", 50.0)];

#[derive(Default)]
struct Tally {
    stop: AtomicBool,
    succeeded: AtomicU64,
    failed: AtomicU64,
    abandoned: AtomicU64,
    hostile: AtomicU64,
}

impl Tally {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn count<T, E>(&self, result: &Result<T, E>) {
        let of = if result.is_ok() { &self.succeeded } else { &self.failed };
        of.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut minutes = 1.0;
    let mut other = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let is_valid = match argument.as_str() {
            "--minutes" => value.parse().map(|given| minutes = given).is_ok(),
            "--server" => value.parse().map(|given| other = Some(given)).is_ok(),
            _ => false,
        };
        if !is_valid {
            eprintln!("usage: soak [--minutes N] [--server ADDRESS]");
            return ExitCode::FAILURE;
        }
    }
    let mut stats = None;
    let address = match other {
        Some(address) => address,
        None => {
            let server = Server::builder().add_service(InteropServer::new(Service)).bind("127.0.0.1:0").await;
            let server = server.expect("loopback port should be free");
            stats = Some(server.stats());
            let address = server.local_addr();
            tokio::spawn(server.serve());
            address
        }
    };
    let tally = Arc::new(Tally::default());
    let mut load = JoinSet::new();
    for number in 0..4 {
        load.spawn(steady(address, tally.clone(), number));
        load.spawn(churn(address, tally.clone()));
    }
    load.spawn(hostile(address, tally.clone()));
    let samples = sample(Duration::from_secs_f64(minutes * 60.0)).await;
    tally.stop.store(true, Ordering::Relaxed);
    while let Some(ended) = load.join_next().await {
        ended.expect("load should not panic");
    }
    let [succeeded, failed, abandoned, hostile] =
        [&tally.succeeded, &tally.failed, &tally.abandoned, &tally.hostile].map(|count| count.load(Ordering::Relaxed));
    println!("{succeeded} calls succeeded, {failed} failed, {abandoned} were cancelled; {hostile} hostile connections");
    if let Some(stats) = stats {
        println!("{stats:?}");
    }
    let mut well = failed == 0 && succeeded > 0;
    for (index, (what, most)) in GROWTH_MAX.into_iter().enumerate() {
        let values: Vec<f64> = samples.iter().skip(samples.len() / 4).map(|sample| sample[index]).collect();
        let growth = growth(&values);
        let verdict = if growth <= most { "steady" } else { "GROWS" };
        well &= growth <= most;
        println!(
            "{what}: {:.0} at the end, {growth:+.1} by the line through {} samples: {verdict}",
            values.last().unwrap_or(&0.0),
            values.len()
        );
    }
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Records memory, descriptors and tasks every second.
async fn sample(time: Duration) -> Vec<[f64; 3]> {
    let started = Instant::now();
    let mut samples = Vec::new();
    let metrics = tokio::runtime::Handle::current().metrics();
    while started.elapsed() < time {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        samples.push([resident_kib().unwrap_or(0) as f64, descriptors as f64, metrics.num_alive_tasks() as f64]);
    }
    samples
}

/// Returns the growth from the first to the last value, by a regression line (least squares).
fn growth(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean_x = (count - 1.0) / 2.0;
    let mean_y = values.iter().sum::<f64>() / count;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (x, y) in values.iter().enumerate() {
        covariance += (x as f64 - mean_x) * (y - mean_y);
        variance += (x as f64 - mean_x).powi(2);
    }
    if variance > 0.0 { covariance / variance * (count - 1.0) } else { 0.0 }
}

/// Makes calls of all kinds, one after the other, on one channel.
async fn steady(address: SocketAddr, tally: Arc<Tally>, seed: u64) {
    let channel = Channel::connect(address.to_string()).await.expect("server should accept the connection");
    let client = InteropClient::new(channel);
    let mut number = seed;
    while tally.goes_on() {
        number = number.wrapping_add(7);
        for a in 0..50 {
            tally.count(&client.add(AddRequest { a, b: 1 }).await);
        }
        let length = (number % 97 * 4_001) as usize;
        tally.count(&client.echo_payload(Payload { seq: 1, data: vec![1; length] }).await);
        tally.count(&count_up(&client, (number % 300) as i64).await);
        tally.count(&client.sum_up(frpc::iter((0..100).map(|value| Count { value }))).await);
        // This call is cancelled while it runs.
        let asleep = client.sleep(SleepRequest { millis: 50, tag: 1 });
        if tokio::time::timeout(Duration::from_millis(number % 3), asleep).await.is_err() {
            tally.abandoned.fetch_add(1, Ordering::Relaxed);
        }
        // This stream is dropped after its first message.
        if let Ok(mut answers) = client.chat(frpc::iter((0..10).map(|_| Text::default()))).await {
            let _ = answers.get_mut().message().await;
        }
    }
}

async fn count_up(client: &InteropClient, count: i64) -> Result<(), frpc::Status> {
    let mut counts = client.count_up(Range { from: 0, count }).await?.into_inner();
    while counts.message().await?.is_some() {}
    Ok(())
}

/// Runs clients that connect, make calls and disconnect.
async fn churn(address: SocketAddr, tally: Arc<Tally>) {
    while tally.goes_on() {
        let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
        for a in 0..10 {
            tally.count(&client.add(AddRequest { a, b: 1 }).await);
        }
        if let Ok(mut answers) = client.chat(frpc::iter((0..3).map(|_| Text::default()))).await {
            let _ = answers.get_mut().message().await;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Runs peers that violate the protocol or disconnect at any time.
async fn hostile(address: SocketAddr, tally: Arc<Tally>) {
    let lies: [Vec<u8>; 6] = [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        header(1, 18, u32::MAX),
        [header(1, 17, 5 << 20), vec![0; 100_000]].concat(),
        packet(1, 2, &[9, 23]).repeat(300),
        packet(1, 19, &[8, 0, 0x0a, 100, 0x0a, 1]).repeat(200),
        packet(0, 0, &[]).repeat(100),
    ];
    while tally.goes_on() {
        for lie in &lies {
            let mut peer = TcpStream::connect(address).await.expect("server should accept the connection");
            let _ = peer.write_all(lie).await;
            tally.hostile.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
