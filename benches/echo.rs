//! The echo call of frpc and tonic: one connection, a server with its own thread and runtime, every reply checked.
//!
//! `cargo bench -p benches --bench echo`

mod short;

use benches::background::Background;
use benches::load::drive;
use benches::rivals::frpc::{PerCore, Plain};
use benches::rivals::tonic::Tonic;
use benches::rivals::{Rival, Setup};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tokio::runtime::Runtime;

criterion_group! {
    name = benches;
    config = short::short();
    targets = in_flight, sizes
}
criterion_main!(benches);

/// 32 bytes each way, with a growing number of concurrent calls.
fn in_flight(criterion: &mut Criterion) {
    for in_flight in [1, 10, 100] {
        let mut group = criterion.benchmark_group(format!("echo/32B/{in_flight}_in_flight"));
        group.throughput(Throughput::Elements(1));
        compare(&mut group, in_flight, 32);
        group.finish();
    }
}

/// Growing messages, 10 at a time.
fn sizes(criterion: &mut Criterion) {
    for (name, length) in
        [("512B", 512), ("4KiB", 4 << 10), ("32KiB", 32 << 10), ("128KiB", 128 << 10), ("1MiB", 1 << 20)]
    {
        let mut group = criterion.benchmark_group(format!("echo/{name}/10_in_flight"));
        group.throughput(Throughput::BytesDecimal(length as u64));
        if length >= 32 << 10 {
            group.sample_size(20);
        }
        compare(&mut group, 10, length);
        group.finish();
    }
}

fn compare(group: &mut BenchmarkGroup<'_, WallTime>, in_flight: usize, length: usize) {
    measure::<PerCore>(group, in_flight, length);
    measure::<Plain>(group, in_flight, length);
    measure::<Tonic>(group, in_flight, length);
}

fn measure<R: Rival>(group: &mut BenchmarkGroup<'_, WallTime>, in_flight: usize, length: usize) {
    let setup = Setup::new(in_flight);
    let server = Background::rival::<R>(setup).expect("server should start");
    let runtime = Runtime::new().expect("runtime should start");
    let client = runtime.block_on(R::connect(server.address(), setup)).expect("client should connect");
    group.bench_function(BenchmarkId::from_parameter(R::NAME), |bencher| {
        bencher.to_async(&runtime).iter_custom(|calls| drive(&client, in_flight, length, calls));
    });
}
