//! Polyglot, prost's, MessagePack, postcard and JSON: a string of 32 bytes, and a message of twelve fields with a nested one,
//! lists and a map. Decoding gives owned messages, and with `polyglot-utf8-bytes` a string that shares the memory of its input.
//!
//! `cargo bench -p benches --bench codec`

mod short;

use benches::proto::benchmark::Request;
use benches::proto::bulk::Text;
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use polyglot::{Decoder, Encoder, Root};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hint::black_box;

criterion_group! {
    name = benches;
    config = short::short();
    targets = string, mixed
}
criterion_main!(benches);

fn string(criterion: &mut Criterion) {
    let message: String = "the quick brown fox jumps over it".chars().take(32).collect();
    measure::<_, Shared>(criterion, "string_32B", &Text { text: message.as_str().into() });
    compare(criterion, "string_32B", &Request { message });
}

fn mixed(criterion: &mut Criterion) {
    compare(criterion, "mixed_12_fields", &benches::proto::order());
}

/// One way to turn messages into bytes and back.
trait Codec<M> {
    const NAME: &'static str;
    fn encode(message: &M, to: &mut Vec<u8>);
    fn decode(from: &Bytes) -> M;
}

struct Polyglot;
struct Shared;
struct Json;
struct Prost;
struct MessagePack;
struct Postcard;

impl<M: polyglot::Message> Codec<M> for Polyglot {
    const NAME: &'static str = "polyglot";

    fn encode(message: &M, to: &mut Vec<u8>) {
        polyglot::encode_root(message, &mut Encoder::new(to)).expect("it can be encoded");
    }

    fn decode(from: &Bytes) -> M {
        match polyglot::decode_root(&mut Decoder::new(from)) {
            Ok(Root::Message(message)) => message,
            Ok(Root::Error(text)) => panic!("{text}"),
            Err(error) => panic!("{error}"),
        }
    }
}

impl<M: polyglot::Message> Codec<M> for Shared {
    const NAME: &'static str = "polyglot-utf8-bytes";

    fn encode(message: &M, to: &mut Vec<u8>) {
        Polyglot::encode(message, to);
    }

    fn decode(from: &Bytes) -> M {
        match polyglot::decode_root(&mut Decoder::shared(from)) {
            Ok(Root::Message(message)) => message,
            Ok(Root::Error(text)) => panic!("{text}"),
            Err(error) => panic!("{error}"),
        }
    }
}

impl<M: Serialize + DeserializeOwned> Codec<M> for Json {
    const NAME: &'static str = "serde_json";

    fn encode(message: &M, to: &mut Vec<u8>) {
        serde_json::to_writer(to, message).expect("a vector has room");
    }

    fn decode(from: &Bytes) -> M {
        serde_json::from_slice(from).expect("the bytes were encoded here")
    }
}

impl<M: prost::Message + Default> Codec<M> for Prost {
    const NAME: &'static str = "prost";

    fn encode(message: &M, to: &mut Vec<u8>) {
        message.encode(to).expect("a vector has room");
    }

    fn decode(from: &Bytes) -> M {
        M::decode(&from[..]).expect("the bytes were encoded here")
    }
}

impl<M: Serialize + DeserializeOwned> Codec<M> for MessagePack {
    const NAME: &'static str = "rmp_serde";

    fn encode(message: &M, to: &mut Vec<u8>) {
        rmp_serde::encode::write(to, message).expect("a vector has room");
    }

    fn decode(from: &Bytes) -> M {
        rmp_serde::from_slice(from).expect("the bytes were encoded here")
    }
}

impl<M: Serialize + DeserializeOwned> Codec<M> for Postcard {
    const NAME: &'static str = "postcard";

    fn encode(message: &M, to: &mut Vec<u8>) {
        postcard::to_io(message, to).expect("a vector has room");
    }

    fn decode(from: &Bytes) -> M {
        postcard::from_bytes(from).expect("the bytes were encoded here")
    }
}

fn compare<M>(criterion: &mut Criterion, name: &str, message: &M)
where
    M: polyglot::Message + prost::Message + Serialize + DeserializeOwned + PartialEq + Debug,
{
    measure::<M, Polyglot>(criterion, name, message);
    measure::<M, Prost>(criterion, name, message);
    measure::<M, MessagePack>(criterion, name, message);
    measure::<M, Postcard>(criterion, name, message);
    measure::<M, Json>(criterion, name, message);
}

/// Encodes into a buffer that is used again and again, and decodes from it.
fn measure<M: PartialEq + Debug, C: Codec<M>>(criterion: &mut Criterion, name: &str, message: &M) {
    let mut encoded = Vec::new();
    C::encode(message, &mut encoded);
    let encoded = Bytes::from(encoded);
    assert_eq!(&C::decode(&encoded), message, "{} does not round-trip", C::NAME);

    let mut group = criterion.benchmark_group(format!("codec/{name}/encode"));
    group.throughput(Throughput::Bytes(encoded.len() as u64));
    let mut buffer = Vec::with_capacity(2 * encoded.len());
    group.bench_function(BenchmarkId::from_parameter(C::NAME), |bencher| {
        bencher.iter(|| {
            buffer.clear();
            C::encode(black_box(message), &mut buffer);
            black_box(buffer.len())
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group(format!("codec/{name}/decode"));
    group.throughput(Throughput::Bytes(encoded.len() as u64));
    group.bench_function(BenchmarkId::from_parameter(C::NAME), |bencher| {
        bencher.iter(|| C::decode(black_box(&encoded)));
    });
    group.finish();
}
