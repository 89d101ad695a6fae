//! The three kinds of calls that stream, ours beside tonic's: one stream at a time on one connection, time per item.
//!
//! `cargo bench -p benches --bench streams`

use benches::background::Background;
use benches::flows::Flows;
use benches::proto::flows::FlowsClient as Ours;
use benches::proto::flows::tonic::flows_client::FlowsClient as Tonics;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tonic::transport::Channel;

criterion_group!(benches, streams);
criterion_main!(benches);

/// Items of one stream: long enough that opening it does not show, short enough for many streams in a measurement.
const ITEMS: u64 = 1000;

#[derive(Clone, Copy)]
enum Kind {
    Down,
    Up,
    Both,
}

fn streams(criterion: &mut Criterion) {
    for (name, kind) in
        [("server_streaming", Kind::Down), ("client_streaming", Kind::Up), ("bidirectional", Kind::Both)]
    {
        for (size, length) in [("32B", 32), ("4KiB", 4 << 10)] {
            let mut group = criterion.benchmark_group(format!("streams/{name}/{size}"));
            group.throughput(Throughput::Elements(ITEMS)).sample_size(30);
            measure::<Ours>(&mut group, kind, length);
            measure::<Tonics<Channel>>(&mut group, kind, length);
            group.finish();
        }
    }
}

fn measure<F: Flows>(group: &mut BenchmarkGroup<'_, WallTime>, kind: Kind, length: usize) {
    let server = Background::start(F::serve).expect("the server starts");
    let runtime = Runtime::new().expect("a runtime starts");
    let client = runtime.block_on(F::connect(server.address())).expect("the server accepts");
    group.bench_function(BenchmarkId::from_parameter(F::NAME), |bencher| {
        bencher.to_async(&runtime).iter_custom(|streams| run(client.clone(), kind, length, streams));
    });
}

/// Runs streams one after the other, on a task as callers usually are.
async fn run<F: Flows>(client: F, kind: Kind, length: usize, streams: u64) -> Duration {
    let text = "x".repeat(length);
    let task = tokio::spawn(async move {
        let begun = Instant::now();
        for _ in 0..streams {
            let bytes = match kind {
                Kind::Down => client.stream_down(ITEMS, &text).await,
                Kind::Up => client.stream_up(ITEMS, &text).await,
                Kind::Both => client.stream_both(ITEMS, &text).await,
            };
            assert_eq!(bytes.expect("the stream ends well"), ITEMS * length as u64);
        }
        begun.elapsed()
    });
    task.await.expect("nothing panics")
}
