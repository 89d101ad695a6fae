//! Tests of long packets between a client and a server. Each write accepts a chosen number of bytes.

use super::*;
use crate::{ClientConfig, Config, Connection, Event, Operations, ServerConfig};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Instant;

const CALL: Operation = Operation::FIRST_USER;
const TOPIC: Operation = Operation::user(65_282).expect("operation number should be in the user range");
const PONG: [u8; 10] = [0, 15, 0, 0, 0, 1, 0, 0, 0, 0];
const MIB: usize = 1024 * 1024;

/// A client and a server that have exchanged HELLO.
struct Pair {
    client: Connection,
    server: Connection,
    now: Instant,
    received: Vec<Packet>,
    /// Maximum memory of incomplete packets at the server in bytes.
    buffered: usize,
    /// Number of PONGs written.
    pongs: usize,
}

impl Pair {
    fn new() -> Self {
        let (now, common) = (Instant::now(), Config::default().body_max(24 * MIB as u32));
        let operations = Operations { served: Vec::new(), calls: vec![10..=65_281] };
        let config = ClientConfig::from(common.clone()).operations(Some(Arc::new(operations)));
        let mut client = Connection::client(&config, now);
        let mut server = Connection::server(&ServerConfig::from(common), now);
        process(&mut server, client.outbox().take_bytes(), now);
        process(&mut client, server.outbox().take_bytes(), now);
        for end in [&mut client, &mut server] {
            end.outbox().take_bytes();
            end.outbox().set_limit(24 * MIB as u32);
        }
        Self { client, server, now, received: Vec::new(), buffered: 0, pongs: 0 }
    }

    fn push(&mut self, id: u16, operation: Operation, body: impl crate::Body) {
        self.client.outbox().push(PacketId(id), operation, body).expect("body should be within the limit");
    }

    /// Returns the bytes of the next write, at most `most`.
    fn stage(&mut self, most: usize) -> Vec<u8> {
        self.client.stage();
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = self.client.transmit().slices(&mut slices, most);
        slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect()
    }

    /// Writes at most `most` bytes once, and passes them to the server.
    fn write(&mut self, most: usize) {
        let now = self.now;
        let written = self.stage(most);
        self.pongs += written.windows(10).filter(|bytes| *bytes == PONG).count();
        let before = self.client.transmit().len();
        self.client.handle_written(written.len(), now);
        // The headers of completely unwritten fragments are removed again.
        assert!(self.client.transmit().len() <= before - written.len());
        let mut input = Bytes::from(written);
        while let Some(event) = self.server.poll_event(&mut input, now).expect("packets should be valid") {
            match event {
                Event::Packet(packet) | Event::Control(packet) => self.received.push(packet),
                _ => {}
            }
            self.buffered = self.buffered.max(self.server.buffered());
        }
        self.buffered = self.buffered.max(self.server.buffered());
    }

    fn drain(&mut self, most: usize) {
        while !self.client.transmit().is_empty() {
            self.write(most);
        }
        assert!(!self.server.is_mid_packet());
        assert_eq!(self.client.transmit().len(), 0);
    }

    fn ids(&self) -> Vec<u16> {
        self.received.iter().map(|packet| packet.id.0).collect()
    }
}

/// Handles all packets in `input`.
fn process(connection: &mut Connection, mut input: Bytes, now: Instant) {
    while connection.poll_event(&mut input, now).expect("packets should be valid").is_some() {}
}

fn body(length: usize, seed: usize) -> Bytes {
    (0..length).map(|at| (at / 7 + at / 65_000 + seed) as u8).collect()
}

#[test]
fn short_packet_waits_for_rest_of_one_fragment() {
    for length in [100_000, 5 * MIB] {
        let mut pair = Pair::new();
        pair.push(1, CALL, body(length, 0));
        pair.write(10_000);
        pair.push(2, CALL, b"short".as_slice());
        let mut written = 0;
        while pair.received.is_empty() {
            pair.write(1000);
            written += 1000;
        }
        assert!((pair.ids(), written <= 64 * 1024) == (vec![2], true), "{:?} {written}", pair.ids());
        pair.drain(50_000);
        assert_eq!(pair.received[1].body, body(length, 0));
    }
}

#[test]
fn mixed_packets_arrive_whole_at_every_write_size() {
    for most in [777, 65_536, 65_546, 100_000, MIB, 3 * MIB] {
        let mut pair = Pair::new();
        let lengths = [70_000, 20 * MIB, 65_537, 65_536, 5 * MIB, 10, 30_000, 1_500_000];
        for (id, length) in (0_u16..).zip(lengths) {
            if most < 1000 && length > MIB {
                continue;
            }
            // The body of every other packet is copied into the buffer of the outbox.
            match id % 2 {
                0 => pair.push(id, CALL, body(length, id.into())),
                _ => {
                    let mut packet = pair.client.outbox().packet(PacketId(id), CALL);
                    packet.put_slice(&body(length, id.into()));
                    packet.finish().expect("body should be within the limit");
                }
            }
            if id % 3 == 0 {
                pair.write(most);
            }
        }
        pair.drain(most);
        let expected = if most < 1000 { 5 } else { lengths.len() };
        assert_eq!(pair.received.len(), expected, "{most}");
        for Packet { id, body: received, .. } in &pair.received {
            assert!(*received == body(lengths[usize::from(id.0)], id.0.into()), "{id} at {most}");
        }
    }
}

#[test]
fn similar_packets_are_sent_one_after_another() {
    let mut pair = Pair::new();
    for id in 0..6 {
        pair.push(id, CALL, body(2 * MIB, 0));
    }
    pair.write(100_000);
    pair.push(6, CALL, body(100_000, 0));
    pair.drain(200_000);
    assert_eq!(pair.ids(), [6, 0, 1, 2, 3, 4, 5]);
    assert!(pair.buffered <= 2 * MIB + 200_000, "{}", pair.buffered);
}

/// A socket that accepts little does not make each write stage fragments that are taken back.
#[test]
fn write_stages_little_more_than_last_one() {
    let mut pair = Pair::new();
    pair.push(1, CALL, body(20 * MIB, 0));
    let staged = [100_000, 100_000, usize::MAX, usize::MAX, usize::MAX, usize::MAX].map(|accepted| {
        let staged = pair.stage(usize::MAX).len();
        pair.client.handle_written(staged.min(accepted), pair.now);
        staged.div_ceil(64 * 1024)
    });
    assert_eq!(staged, [32, 7, 7, 14, 30, 32]);
}

/// Regression test: the operations of long packets were lost when packets were appended to an empty outbox.
#[test]
fn operation_stays_long_after_append() {
    let mut pair = Pair::new();
    assert!(pair.client.is_short_call(CALL));
    pair.push(1, CALL, body(100_000, 0));
    pair.drain(MIB);
    let mut queued = pair.client.outbox().new_like();
    queued.push(PacketId(2), CALL, b"short".as_slice()).expect("body should be within the limit");
    pair.client.outbox().append(&mut queued);
    assert!(!pair.client.is_short_call(CALL));
    pair.drain(MIB);
    assert_eq!(pair.ids(), [1, 2]);
}

#[test]
fn packets_of_stream_and_call_keep_their_order() {
    let mut pair = Pair::new();
    let long = body(200_000, 0);
    pair.push(1, Operation::STREAM, long.clone());
    pair.push(1, Operation::STREAM, b"next".as_slice());
    pair.push(1, Operation::STREAM, long.clone());
    pair.client.outbox().push_extension(extension::TRAILERS, [1_u8, 3, 1, 0].as_slice()).expect("trailers should fit");
    pair.push(1, Operation::END, b"".as_slice());
    pair.push(3, CALL, long.clone());
    pair.write(1000);
    pair.push(3, Operation::CANCEL, [10].as_slice());
    pair.push(1, Operation::CREDIT, [5].as_slice());
    pair.push(4, Operation::STREAM, b"other".as_slice());
    pair.drain(30_000);
    let kinds: Vec<_> = pair.received.iter().map(|packet| (packet.operation, packet.id.0)).collect();
    use Operation as O;
    assert_eq!(
        kinds,
        [
            (O::CREDIT, 1),
            (O::STREAM, 4),
            (O::STREAM, 1),
            (O::STREAM, 1),
            (O::STREAM, 1),
            (O::EXTENSION, 6),
            (O::END, 1),
            (CALL, 3),
            (O::CANCEL, 3),
        ]
    );
}

#[test]
fn closing_packets_wait_for_all_others() {
    let mut pair = Pair::new();
    pair.push(1, CALL, body(300_000, 0));
    pair.push(0, Operation::GOING_AWAY, b"".as_slice());
    pair.push(2, CALL, b"short".as_slice());
    pair.write(1);
    pair.push(3, CALL, body(100_000, 0));
    pair.client.send_close(&crate::CloseReason::Router("full".into()));
    pair.drain(70_000);
    assert_eq!(pair.ids(), [1, 0, 2, 3, 4]);
}

#[test]
fn topics_and_compat_peers_get_whole_packets() {
    let mut pair = Pair::new();
    pair.push(1, TOPIC, body(200_000, 0));
    pair.push(2, TOPIC, b"short".as_slice());
    let packets = pair.client.transmit().len();
    pair.stage(0);
    assert_eq!(pair.client.transmit().len(), packets, "no fragment should be added");
    pair.drain(1000);
    assert_eq!(pair.ids(), [1, 2]);
    let mut outbox = Outbox::default();
    outbox.push(PacketId(1), CALL, body(200_000, 0)).expect("body should be within the limit");
    outbox.stage(|_| true);
    assert_eq!(outbox.take_bytes().len(), 200_010);
}

#[test]
fn memory_of_divided_packets_does_not_grow() {
    let mut pair = Pair::new();
    pair.push(1, CALL, body(MIB, 0));
    let mut packet = pair.client.outbox().packet(PacketId(2), CALL);
    packet.put_slice(&body(3 * MIB, 0));
    packet.finish().expect("body should be within the limit");
    let mut memory = VecDeque::from([pair.client.transmit().memory()]);
    while !pair.client.transmit().is_empty() {
        pair.write(400_000);
        memory.push_back(pair.client.transmit().memory());
    }
    assert!(memory.iter().zip(memory.iter().skip(1)).all(|(before, after)| after <= before), "{memory:?}");
    assert!(memory.back() <= Some(&4096), "{memory:?}");
}

/// A TLS library may have encrypted the start of a blocked write. The next write must then start with the same bytes.
#[test]
fn blocked_write_is_repeated_with_same_start() {
    let mut pair = Pair::new();
    pair.push(1, CALL, body(MIB, 0));
    let mut starts = Vec::new();
    for id in 2..4 {
        starts.push(pair.stage(16 * 1024));
        pair.client.handle_written(0, pair.now);
        pair.push(id, CALL, b"short".as_slice());
    }
    assert!(starts[0] == starts[1]);
    pair.drain(100_000);
    assert_eq!(pair.ids(), [2, 3, 1]);
}

#[test]
fn flood_of_short_packets_does_not_stop_long_ones() {
    let mut pair = Pair::new();
    pair.push(1, CALL, body(500_000, 0));
    for _ in 0..60 {
        for id in 10..15 {
            pair.push(id, CALL, vec![7; 4000]);
        }
        pair.write(20_000);
    }
    pair.drain(MIB);
    // Expect eight fragments, each after 64 KiB of the flood, which are 16 short packets.
    let passed = pair.ids().iter().position(|id| *id == 1);
    assert!(passed.is_some_and(|passed| (7 * 16..200).contains(&passed)), "{passed:?}");
}

#[test]
fn pong_is_sent_for_each_ping_during_long_packet() {
    let mut pair = Pair::new();
    pair.push(1, CALL, body(2 * MIB, 0));
    for _ in 0..5 {
        let now = pair.now;
        process(&mut pair.client, Bytes::from_static(&[0, 15, 0, 0, 0, 0, 0, 0, 0, 0]), now);
        let before = pair.client.transmit().len();
        for _ in 0..4 {
            pair.write(40_000);
        }
        assert!(before - pair.client.transmit().len() >= 150_000);
    }
    assert!((pair.pongs, pair.received.len()) == (5, 0), "{} PONGs", pair.pongs);
}
