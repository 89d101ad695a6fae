//! Compares the cost of a stream item that is sent after the previous one has returned with that of a unary call. Both
//! are dominated by waiting and waking.
//!
//! ```text
//! cargo run --release -p cost --features uring --bin ping_pong             20 000 on each connection
//! cargo run --release -p cost --features uring --bin ping_pong -- 5000
//! ```
//!
//! One call at a time, or one stream with one item in flight, on each of one and of 16 connections. The server uses its
//! defaults on tokio, or io_uring, and the clients a plain multi-threaded runtime. Both ends are in this process, whose
//! CPU time is measured. Calls and items alternate. The program prints medians of the rounds and of their ratios.

use benches::BoxError;
use benches::background::Background;
use benches::cost::{median, processor_time};
use benches::flows::{Flows, ours};
use benches::load::drive;
use benches::proto::benchmark::BenchmarkServiceClient;
use benches::proto::flows::FlowsClient;
use benches::rivals::Setup;
use benches::rivals::frpc::serve_with;
use frpc::{IoBackend, Server};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Number of rounds.
const ROUNDS: usize = 9;

/// Length of a text in bytes.
const LENGTH: usize = 100;

fn main() -> Result<(), BoxError> {
    let count = std::env::args().nth(1).map_or(Ok(20_000), |count| count.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("server  connections   unary us of cpu   item us of cpu   ratio   unary us   item us");
    for (name, backend) in [("tokio", IoBackend::Tokio), ("rings", IoBackend::Uring)] {
        for connections in [1, 16] {
            let compared = runtime.block_on(compare(backend, connections, count));
            match compared {
                Ok([unary, item, ratio]) => println!(
                    "{name:6}  {connections:11} {:17.2} {:16.2} {:7.2} {:10.2} {:9.2}",
                    unary.cpu, item.cpu, ratio.cpu, unary.elapsed, item.elapsed
                ),
                Err(error) => println!("{name:6}  {connections:11}   not measured: {error}"),
            }
        }
    }
    Ok(())
}

/// The cost of one call or item, in microseconds.
#[derive(Clone, Copy)]
struct Cost {
    /// CPU time at both ends.
    cpu: f64,
    elapsed: f64,
}

/// Measures calls and items alternately. Returns the medians of both, and of their ratios.
async fn compare(backend: IoBackend, connections: usize, count: u64) -> Result<[Cost; 3], BoxError> {
    let server = move || Server::builder().io_backend(backend);
    let calls = Background::start(move |bound| serve_with(Setup::new(1), server(), bound))?;
    let items = Background::start(move |bound| ours::serve_with::<false>(server(), bound))?;
    let (mut callers, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..connections {
        callers.push(BenchmarkServiceClient::connect(calls.address().to_string()).await?);
        streams.push(<FlowsClient as Flows>::connect(items.address()).await?);
    }
    let [mut unary, mut item, mut ratio] = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        let called = measure(&callers, count, |client| async move {
            drive(&client, 1, LENGTH, count).await;
            Ok(())
        });
        let called = called.await?;
        let streamed =
            measure(
                &streams,
                count,
                |client| async move { client.ping_pong(count, &"x".repeat(LENGTH)).await.map(|_| ()) },
            );
        let streamed = streamed.await?;
        // The first round warms up.
        if round > 0 {
            unary.push(called);
            item.push(streamed);
            ratio.push(Cost { cpu: streamed.cpu / called.cpu, elapsed: streamed.elapsed / called.elapsed });
        }
    }
    Ok([median_cost(&unary), median_cost(&item), median_cost(&ratio)])
}

/// Runs every client, and divides the time by the number of its items.
async fn measure<C, F>(clients: &[C], count: u64, work: impl Fn(C) -> F) -> Result<Cost, BoxError>
where
    C: Clone,
    F: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    let (started, cpu) = (Instant::now(), processor_time());
    let mut tasks: JoinSet<_> = clients.iter().map(|client| work(client.clone())).collect();
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let all = clients.len() as f64 * count as f64;
    let each = |time: Duration| time.as_secs_f64() * 1e6 / all;
    Ok(Cost { cpu: each(processor_time() - cpu), elapsed: each(started.elapsed()) })
}

fn median_cost(costs: &[Cost]) -> Cost {
    let middle = |of: fn(&Cost) -> f64| median(costs.iter().map(of));
    Cost { cpu: middle(|cost| cost.cpu), elapsed: middle(|cost| cost.elapsed) }
}
