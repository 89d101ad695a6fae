//! Clients stream measurements in real time and make ordinary calls on the same connections. The server displays the
//! measurements as they arrive.
//!
//! `cargo run --release -p calls --bin metrics -- [--seconds 10]`

use frpc::{Request, RequestStream, Response, Server, Status, Streaming};
use metrics::{Accepted, Metrics, MetricsClient, MetricsServer, Query, Sample, Summary};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Generated from `proto/metrics.proto`.
mod metrics {
    frpc::include_proto!("metrics");
}

const CLIENTS: u32 = 4;
/// Measurements per second of a client.
const RATE: u32 = 1000;
/// Refresh interval of the display.
const REFRESH: Duration = Duration::from_millis(100);
/// Maximum number of series, which are named by clients.
const NAMES_MAX: usize = 1000;
/// Number of values in a line of the display.
const WIDTH: usize = 40;

/// The state of one series.
#[derive(Clone, Default)]
struct Series {
    summary: Summary,
    /// The latest values, one per refresh.
    shown: Vec<f64>,
}

type Board = Arc<Mutex<HashMap<String, Series>>>;

struct Collector(Board);

impl Collector {
    fn add(&self, sample: Sample) -> Result<(), Status> {
        let mut board = self.0.lock().expect("lock should not be poisoned");
        if board.len() >= NAMES_MAX && !board.contains_key(&sample.name) {
            return Err(Status::resource_exhausted(format!("{NAMES_MAX} things are measured already")));
        }
        let summary = &mut board.entry(sample.name).or_default().summary;
        let first = summary.samples == 0;
        summary.least = if first { sample.value } else { summary.least.min(sample.value) };
        summary.most = if first { sample.value } else { summary.most.max(sample.value) };
        summary.last = sample.value;
        summary.samples += 1;
        Ok(())
    }
}

impl Metrics for Collector {
    async fn push(&self, request: Request<Streaming<Sample>>) -> Result<Response<Accepted>, Status> {
        let mut stream = request.into_inner();
        let mut samples = 0;
        while let Some(sample) = stream.message().await? {
            self.add(sample)?;
            samples += 1;
        }
        Ok(Response::new(Accepted { samples }))
    }

    async fn summarize(&self, request: Request<Query>) -> Result<Response<Summary>, Status> {
        let name = request.into_inner().name;
        let board = self.0.lock().expect("lock should not be poisoned");
        let series = board.get(&name).ok_or_else(|| Status::not_found(format!("{name} was not measured")))?;
        Ok(Response::new(series.summary))
    }
}

/// Sends measurements for a while and queries the server periodically. Returns the numbers of samples and queries.
async fn measure(
    address: String,
    number: u32,
    time: Duration,
) -> Result<(u64, u64), Box<dyn std::error::Error + Send + Sync>> {
    let client = MetricsClient::connect(address).await?;
    let name = format!("sensor {number}");
    let (samples, stream) = RequestStream::channel(64);
    let pushing = tokio::spawn({
        let client = client.clone();
        async move { client.push(stream).await }
    });
    let started = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / RATE);
    let (mut sent, mut requested) = (0_u64, 0);
    while started.elapsed() < time {
        ticks.tick().await;
        let at = started.elapsed();
        let value = f64::from(number + 1) * (at.as_secs_f64() * 2.0 + f64::from(number)).sin();
        samples.send(Sample { name: name.clone(), value, micros: at.as_micros() as u64 }).await?;
        sent += 1;
        if sent % u64::from(RATE / 10) == 0 {
            let summary = client.summarize(Query { name: name.clone() }).await?.into_inner();
            assert!(summary.samples <= sent, "no more is known than was sent");
            requested += 1;
        }
    }
    drop(samples);
    let accepted = pushing.await??.into_inner();
    assert_eq!(accepted.samples, sent, "no sample should be lost");
    Ok((sent, requested))
}

/// Formats values as a line of block characters.
fn sparkline(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let block = |value: &f64| BLOCKS[((value - least) / (most - least).max(1e-9) * 7.0) as usize % BLOCKS.len()];
    values.iter().map(block).collect()
}

/// Displays the board until dropped.
async fn show(board: Board) {
    let mut lines = 0;
    let mut ticks = tokio::time::interval(REFRESH);
    loop {
        ticks.tick().await;
        let mut board = board.lock().expect("lock should not be poisoned");
        let mut names: Vec<_> = board.keys().cloned().collect();
        names.sort_unstable();
        // Overwrites the previous lines.
        if lines > 0 {
            print!("\x1b[{lines}A");
        }
        lines = names.len();
        for name in names {
            let Some(series) = board.get_mut(&name) else { continue };
            series.shown.push(series.summary.last);
            if series.shown.len() > WIDTH {
                series.shown.remove(0);
            }
            let Summary { samples, last, .. } = series.summary;
            println!("\x1b[2K{name:12} {:WIDTH$} {last:7.3}  {samples} samples", sparkline(&series.shown));
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => 10.0,
        (Some("--seconds"), Some(seconds)) => seconds.parse()?,
        _ => return Err("usage: metrics [--seconds N]".into()),
    };
    let board = Board::default();
    let server = Server::builder().add_service(MetricsServer::new(Collector(board.clone())));
    let server = server.bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let view = tokio::spawn(show(board));

    let time = Duration::try_from_secs_f64(seconds)?;
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(measure(address.clone(), number, time));
    }
    let (mut sent, mut requested) = (0, 0);
    while let Some(client) = clients.join_next().await {
        let (samples, calls) = client?.map_err(|error| error.to_string())?;
        sent += samples;
        requested += calls;
    }
    view.abort();
    let _ = view.await;
    println!("{CLIENTS} clients have streamed {sent} samples and made {requested} calls");
    Ok(())
}
