//! The three kinds of streaming calls, and ping-pong with one item at a time: frpc, tonic, and streams without calls.
//! One stream at a time on each of one or 16 connections, time per item.
//!
//! `cargo bench -p benches --bench streams`

mod short;

use benches::background::Background;
use benches::flows::Flows;
use benches::flows::bare::Bare;
use benches::proto::flows::FlowsClient as Ours;
use benches::proto::flows::tonic::flows_client::FlowsClient as Tonics;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tonic::transport::Channel;

criterion_group! {
    name = benches;
    config = short::short();
    targets = streams
}
criterion_main!(benches);

/// Number of items per stream: large enough to hide the cost of opening it, small enough for many streams in a
/// measurement.
const ITEMS: u64 = 1000;

#[derive(Clone, Copy)]
enum Kind {
    Down,
    Up,
    Both,
    PingPong,
}

fn streams(criterion: &mut Criterion) {
    let kinds = [
        ("server_streaming", Kind::Down),
        ("client_streaming", Kind::Up),
        ("bidirectional", Kind::Both),
        ("ping_pong", Kind::PingPong),
    ];
    for (name, kind) in kinds {
        for (size, length) in [("100B", 100), ("4KiB", 4 << 10)] {
            for connections in [1, 16] {
                let mut group = criterion.benchmark_group(format!("streams/{name}/{size}/{connections}"));
                group.throughput(Throughput::Elements(ITEMS * connections)).sample_size(10);
                measure::<Ours>(&mut group, kind, length, connections);
                measure::<Bare>(&mut group, kind, length, connections);
                measure::<Tonics<Channel>>(&mut group, kind, length, connections);
                group.finish();
            }
        }
    }
}

fn measure<F: Flows>(group: &mut BenchmarkGroup<'_, WallTime>, kind: Kind, length: usize, connections: u64) {
    let server = Background::start(F::serve).expect("server should start");
    let runtime = Runtime::new().expect("runtime should start");
    let clients: Vec<F> = (0..connections)
        .map(|_| runtime.block_on(F::connect(server.address())).expect("client should connect"))
        .collect();
    group.bench_function(BenchmarkId::from_parameter(F::NAME), |bencher| {
        bencher.to_async(&runtime).iter_custom(|streams| run(clients.clone(), kind, length, streams));
    });
}

/// Runs sequential streams on each connection, on tasks like typical callers.
async fn run<F: Flows>(clients: Vec<F>, kind: Kind, length: usize, streams: u64) -> Duration {
    let text = "x".repeat(length);
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for client in clients {
        let text = text.clone();
        tasks.spawn(async move {
            for _ in 0..streams {
                let bytes = match kind {
                    Kind::Down => client.stream_down(ITEMS, &text).await,
                    Kind::Up => client.stream_up(ITEMS, &text).await,
                    Kind::Both => client.stream_both(ITEMS, &text).await,
                    Kind::PingPong => client.ping_pong(ITEMS, &text).await,
                };
                assert_eq!(bytes.expect("stream should end successfully"), ITEMS * length as u64);
            }
        });
    }
    tasks.join_all().await;
    started.elapsed()
}
