//! Measures the parts of a packet's path individually: the protocol in memory, the outbox, the mailbox.
//!
//! `cargo bench -p benches --bench parts`

mod short;

use bytes::{Bytes, BytesMut};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use frisbee::rpc::ConnectionExt;
use frisbee::{Client, Handlers, Operation, Outbox, Packet, PacketId, Server};
use frisbee_core::{Connection, Event, HeaderForm, Operations, ServerConfig};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

criterion_group! {
    name = benches;
    config = short::short();
    targets = decode_and_echo, outbox, mailbox
}
criterion_main!(benches);

/// Number of packets per read.
const BATCH: u16 = 64;

/// Returns encoded packets as received from a socket.
fn batch(length: usize) -> Bytes {
    let body = Bytes::from(vec![b'x'; length]);
    let mut outbox = Outbox::new(HeaderForm::Current);
    for id in 0..BATCH {
        outbox.push(PacketId(id), Operation::FIRST_USER, &body).expect("packet should be within the limit");
    }
    outbox.take_bytes()
}

/// The work of a server for a read, without the socket: decode each packet, check its operation, echo it.
fn decode_and_echo(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parts/decode_route_echo");
    group.throughput(Throughput::Elements(BATCH.into()));
    for length in [32, 512, 4096] {
        let wire = batch(length);
        let now = Instant::now();
        let operations = Operations { served: vec![10..=10], calls: Vec::new() };
        let mut connection = Connection::server(&ServerConfig::default().operations(Some(Arc::new(operations))), now);
        // The buffer is reused like that of a reading thread, once its packets are dropped.
        let mut buffer = BytesMut::with_capacity(2 * wire.len());
        group.bench_function(BenchmarkId::from_parameter(format!("{length}B")), |bencher| {
            bencher.iter(|| {
                buffer.reserve(wire.len());
                buffer.extend_from_slice(&wire);
                let mut input = buffer.split().freeze();
                while let Some(event) = connection.poll_event(&mut input, now).expect("packets should be well-formed") {
                    match event {
                        Event::Packet(packet) if packet.operation == Operation::FIRST_USER => {
                            connection.outbox().forward(&packet).expect("forwarded packet should be within the limit");
                        }
                        Event::PeerKnown => {} // Emitted with the first packet.
                        other => panic!("unexpected: {other:?}"),
                    }
                }
                connection.handle_read(wire.len(), now);
                let unsent = connection.outbox().len();
                assert_eq!(unsent, wire.len());
                connection.handle_written(unsent, now);
            });
        });
    }
    group.finish();
}

/// Framing alone.
fn outbox(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parts/outbox");
    group.throughput(Throughput::Elements(BATCH.into()));
    for length in [32, 512] {
        let body = Bytes::from(vec![b'x'; length]);
        let mut outbox = Outbox::new(HeaderForm::Current);
        group.bench_function(BenchmarkId::from_parameter(format!("{length}B")), |bencher| {
            bencher.iter(|| {
                for id in 0..BATCH {
                    outbox
                        .push(PacketId(id), Operation::FIRST_USER, black_box(&body))
                        .expect("packet should be within the limit");
                }
                outbox.advance(outbox.len());
            });
        });
    }
    group.finish();
}

/// Sends from a handle, while the connection's task writes to a server that discards its input.
fn mailbox(criterion: &mut Criterion) {
    /// Number of packets sent before the task writes them.
    const BURST: u64 = 256;
    let runtime = Runtime::new().expect("runtime should start");
    let connection = runtime.block_on(async {
        let ignore = Handlers::new().on(Operation::FIRST_USER, |_, _| async { None });
        let server = Server::builder().bind("127.0.0.1:0", ignore).await.expect("server should bind to a free address");
        let address = server.local_addr();
        tokio::spawn(server.serve());
        Client::builder().connect(address, Handlers::new()).await.expect("server should accept the connection")
    });
    let packet = Packet::new(PacketId(1), Operation::FIRST_USER, vec![b'x'; 32]);
    let mut group = criterion.benchmark_group("parts/mailbox");
    group.throughput(Throughput::Elements(1));
    group.bench_function("send_now", |bencher| {
        bencher.to_async(&runtime).iter_custom(|packets| {
            let (connection, packet) = (connection.clone(), packet.clone());
            async move {
                let mut elapsed = Duration::ZERO;
                let mut left = packets;
                while left > 0 {
                    let burst = left.min(BURST);
                    let started = Instant::now();
                    for _ in 0..burst {
                        let sent = connection.send_now(|outbox| outbox.forward(black_box(&packet)));
                        sent.expect("connection should be open").expect("packet should be within the limit");
                    }
                    elapsed += started.elapsed();
                    left -= burst;
                    // Waits for space, which bounds the mailbox.
                    connection.send(&packet).await.expect("message should be sent");
                    tokio::task::yield_now().await;
                }
                elapsed
            }
        });
    });
    group.finish();
}
