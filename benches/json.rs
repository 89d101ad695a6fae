//! Compares the JSON mapping with serde_json, for a message of twelve fields with a nested one, lists and a map.
//! serde_json has a simpler form, because it writes 64-bit integers as numbers and bytes as arrays of them. Both decode
//! to owned messages and encode into a reused buffer.
//!
//! `cargo bench -p benches --bench json`

mod short;

use benches::proto::mixed::Order;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use frpc::json::{from_json, to_json};
use std::hint::black_box;

criterion_group! {
    name = benches;
    config = short::short();
    targets = mixed
}
criterion_main!(benches);

fn mixed(criterion: &mut Criterion) {
    let order = benches::proto::order();
    let encode = |order: &Order, to: &mut Vec<u8>| to_json(order, to).expect("message should have a JSON form");
    let decode = |json: &[u8]| from_json(json).expect("text should be a valid message");
    measure(criterion, "frpc_json", &order, encode, decode);
    let encode = |order: &Order, to: &mut Vec<u8>| serde_json::to_writer(to, order).expect("write should succeed");
    let decode = |json: &[u8]| serde_json::from_slice(json).expect("bytes should be valid JSON");
    measure(criterion, "serde_json", &order, encode, decode);
}

fn measure(
    criterion: &mut Criterion,
    name: &str,
    order: &Order,
    encode: impl Fn(&Order, &mut Vec<u8>),
    decode: impl Fn(&[u8]) -> Order,
) {
    let mut encoded = Vec::new();
    encode(order, &mut encoded);
    assert_eq!(&decode(&encoded), order, "{name} does not round-trip");

    let mut group = criterion.benchmark_group("json/mixed_12_fields/encode");
    group.throughput(Throughput::Bytes(encoded.len() as u64));
    let mut buffer = Vec::with_capacity(2 * encoded.len());
    group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
        bencher.iter(|| {
            buffer.clear();
            encode(black_box(order), &mut buffer);
            black_box(buffer.len())
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("json/mixed_12_fields/decode");
    group.throughput(Throughput::Bytes(encoded.len() as u64));
    group.bench_function(BenchmarkId::from_parameter(name), |bencher| bencher.iter(|| decode(black_box(&encoded))));
    group.finish();
}
