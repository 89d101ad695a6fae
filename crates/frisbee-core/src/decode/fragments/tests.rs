//! Tests of packets that arrive in fragments.

use super::*;
use crate::{Connection, Event, Outbox};
use std::time::Instant;

const CALL: Operation = Operation::FIRST_USER;

/// Returns a client that has received HELLO.
fn client(now: Instant) -> Connection {
    let mut client = Connection::client(&Default::default(), now);
    let mut server = Connection::server(&Default::default(), now);
    let mut hello = client.outbox().take_bytes();
    while server.poll_event(&mut hello, now).expect("HELLO should be valid").is_some() {}
    let mut answer = server.outbox().take_bytes();
    while client.poll_event(&mut answer, now).expect("HELLO should be valid").is_some() {}
    client
}

fn push(outbox: &mut Outbox, id: u16, operation: Operation, body: &[u8]) {
    outbox.push(PacketId(id), operation, body).expect("body should be within the limit");
}

fn body(length: usize) -> Bytes {
    (0..length).map(|at| (at / 7) as u8).collect()
}

/// Returns the fragments of calls with these ids, interleaved. Each fragment carries at most `most` bytes of a body.
fn fragments(ids: &[u8], body: &Bytes, most: usize) -> Bytes {
    let mut outbox = Outbox::default();
    for (at, part) in body.chunks(most).enumerate() {
        for id in ids {
            let mut sent = vec![*id];
            if at == 0 {
                [CALL.number().into(), u64::from(*id), body.len() as u64]
                    .into_iter()
                    .for_each(|number| tlv::put_varint(&mut sent, number));
            }
            push(&mut outbox, extension::FRAGMENT.0, Operation::EXTENSION, &[&sent[..], part].concat());
        }
        push(&mut outbox, 100, CALL, b"between");
    }
    outbox.take_bytes()
}

/// Passes `bytes` to the client in chunks of at most `chunk` bytes, and returns the packets that arrive. Like a driver,
/// reads the bytes of large bodies directly into their buffers.
fn read(client: &mut Connection, mut bytes: &[u8], chunk: usize, now: Instant) -> Vec<Packet> {
    let mut packets = Vec::new();
    while !bytes.is_empty() {
        let mut input = Bytes::new();
        let count = match client.body_mut() {
            Some(mut body) => {
                let count = body.missing().min(chunk).min(bytes.len());
                body.buffer().extend_from_slice(&bytes[..count]);
                body.appended();
                count
            }
            None => {
                let count = chunk.min(bytes.len());
                input = Bytes::copy_from_slice(&bytes[..count]);
                count
            }
        };
        bytes = &bytes[count..];
        while let Some(event) = client.poll_event(&mut input, now).expect("packets should be valid") {
            packets.extend(match event {
                Event::Packet(packet) => Some(packet),
                _ => None,
            });
        }
    }
    packets
}

#[test]
fn fragments_become_packets_at_every_read_size() {
    let now = Instant::now();
    for (length, most) in [(5, 2), (3000, 1), (70_000, 65_500), (400_000, 65_500), (400_000, 20_000)] {
        for chunk in
            [1, 7, 1000, 65_536, 65_547, usize::MAX].into_iter().filter(|chunk| chunk.saturating_mul(5000) >= length)
        {
            let (mut client, body) = (client(now), body(length));
            let packets = read(&mut client, &fragments(&[0, 7, 3], &body, most), chunk, now);
            let (between, whole): (Vec<_>, Vec<_>) = packets.iter().partition(|packet| packet.id == PacketId(100));
            assert_eq!(whole.iter().map(|packet| packet.id.0).collect::<Vec<_>>(), [0, 7, 3]);
            assert!(whole.iter().all(|packet| packet.body == body), "{length}, {most}, {chunk}");
            assert_eq!(between.len(), length.div_ceil(most));
            assert!(!client.is_mid_packet() && client.buffered() == 0);
        }
    }
}

/// Returns the parts of a body as fragments on channel 1.
fn divided(body: &Bytes, lengths: &[usize]) -> Bytes {
    let (mut outbox, mut rest) = (Outbox::default(), &body[..]);
    for (at, length) in lengths.iter().enumerate() {
        let (part, after) = rest.split_at(*length);
        let mut fragment = vec![1];
        if at == 0 {
            [10, 7, body.len() as u64].into_iter().for_each(|number| tlv::put_varint(&mut fragment, number));
        }
        push(&mut outbox, extension::FRAGMENT.0, Operation::EXTENSION, &[&fragment, part].concat());
        rest = after;
    }
    outbox.take_bytes()
}

/// Fragments that follow each other are read into their body without decoding, except short ones.
#[test]
fn fragments_of_body_are_read_in_one_pass() {
    let now = Instant::now();
    for (lengths, expected) in
        [(&[60_000; 4][..], 3), (&[60_000, 60_000, 60_000, 100], 3), (&[60_000, 60_000, 100, 100], 1)]
    {
        let (mut client, body) = (client(now), body(lengths.iter().sum()));
        let bytes = divided(&body, lengths);
        // Split the input within the second fragment.
        let (start, mut rest) = bytes.split_at(70_000);
        assert!(read(&mut client, start, usize::MAX, now).is_empty());
        let mut target = client.body_mut().expect("a large body should be incomplete");
        let mut reads = 0;
        loop {
            let (part, after) = rest.split_at(target.missing().min(rest.len()));
            target.buffer().extend_from_slice(part);
            (rest, reads) = (after, reads + 1);
            if !target.appended() {
                break;
            }
        }
        assert_eq!(reads, expected, "{lengths:?}");
        let event = client.poll_event(&mut Bytes::new(), now).expect("packets should be valid");
        let packet = event.and_then(|event| if let Event::Packet(packet) = event { Some(packet) } else { None });
        let mut packets = Vec::from_iter(packet);
        packets.extend(read(&mut client, rest, usize::MAX, now));
        assert!(packets.len() == 1 && packets[0].body == body, "{lengths:?}");
    }
}

/// Regression test: each fragment was read separately, so a peer could cause a system call for every 12 bytes.
#[test]
fn short_fragments_are_read_together() {
    let (now, lengths) = (Instant::now(), [20_000, 500, 500, 500, 40_000]);
    let (mut client, body) = (client(now), body(lengths.iter().sum()));
    let bytes = divided(&body, &lengths);
    let (start, rest) = bytes.split_at(20_200);
    assert!(read(&mut client, start, usize::MAX, now).is_empty());
    assert!(client.is_mid_packet() && client.body_mut().is_none());
    let packets = read(&mut client, rest, usize::MAX, now);
    assert!(packets.len() == 1 && packets[0].body == body);
}

/// Packets between fragments are returned as soon as their last byte has arrived.
#[test]
fn packet_between_fragments_arrives_at_once() {
    let now = Instant::now();
    let body = body(200_000);
    let bytes = fragments(&[1], &body, 65_500);
    let ends: Vec<_> = (7..=bytes.len()).filter(|end| &bytes[end - 7..*end] == b"between").collect();
    for chunk in [7, 8192, 10_000, 65_557] {
        let mut client = client(now);
        let (mut from, mut seen) = (0, 0);
        for part in bytes.chunks(chunk) {
            from += part.len();
            seen += read(&mut client, part, chunk, now).iter().filter(|packet| packet.id == PacketId(100)).count();
            let whole = ends.iter().filter(|end| **end <= from).count();
            assert_eq!(seen, whole, "at {from} by {chunk}");
        }
    }
}

/// Regression test: if the head of a fragment arrived in two reads, the fragment was assembled as a separate packet of
/// 64 KiB, and was discarded instead of the packet that it belongs to.
#[test]
fn fragment_with_divided_head_is_not_assembled_apart() {
    let now = Instant::now();
    let (mut client, body) = (client(now), body(200_000));
    let bytes = fragments(&[1], &body, 65_500);
    let between = b"between";
    let short_packet = bytes.windows(between.len()).position(|window| window == between);
    let second_fragment = short_packet.expect("short packet should follow the first fragment") + between.len();
    for end in [10, 11, 12, second_fragment - 20, second_fragment + 10] {
        let mut client = self::client(now);
        read(&mut client, &bytes[..end], usize::MAX, now);
        read(&mut client, &bytes[end..end + 40], usize::MAX, now);
        let discarded = client.discard_body().expect("a body should be incomplete");
        assert_eq!((discarded.id, discarded.operation), (PacketId(1), CALL), "{end}");
    }
    assert_eq!(read(&mut client, &bytes, 33, now).len(), 5);
}

#[test]
fn all_fragments_of_discarded_packet_are_skipped() {
    let now = Instant::now();
    let (mut client, body) = (client(now), body(200_000));
    let bytes = fragments(&[1, 2], &body, 65_500);
    let mut packets = read(&mut client, &bytes[..150_000], usize::MAX, now);
    let before = client.buffered();
    let discarded = client.discard_body().expect("a body should be incomplete");
    assert_eq!(discarded.body, body[..64]);
    assert!(client.buffered() <= before - 64 * 1024);
    packets.extend(read(&mut client, &bytes[150_000..], usize::MAX, now));
    packets.retain(|packet| packet.id != PacketId(100));
    assert_eq!(packets.iter().map(|packet| packet.id.0).collect::<Vec<_>>(), [3 - discarded.id.0]);
    assert!(packets[0].body == body && !client.is_mid_packet());
}

/// Regression test: the start of the next packet was discarded with the body, and the connection closed with an error.
#[test]
fn bytes_after_discarded_fragment_are_decoded() {
    let now = Instant::now();
    let (mut client, body) = (client(now), body(200_000));
    let bytes = fragments(&[1], &body, 65_500);
    let (start, rest) = bytes.split_at(20_000);
    assert!(read(&mut client, start, usize::MAX, now).is_empty());
    let mut target = client.body_mut().expect("a large body should be incomplete");
    let (part, rest) = rest.split_at(target.missing());
    target.buffer().extend_from_slice(part);
    assert!(!target.appended(), "a short packet should follow the fragment");
    let discarded = client.discard_body().expect("a body should be incomplete");
    assert_eq!(discarded.body, body[..64]);
    assert!(client.buffered() < 64 && client.discard_body().is_none());
    let event = client.poll_event(&mut Bytes::new(), now).expect("packets should be valid");
    assert!(event.is_none() && client.is_mid_packet());
    let packets = read(&mut client, rest, usize::MAX, now);
    assert!(packets.len() == 4 && packets.iter().all(|packet| packet.body == "between"));
    assert!(!client.is_mid_packet() && client.buffered() == 0);
}

#[test]
fn malformed_fragments_close_connection() {
    use FragmentError::{Channel, Head, Length, Order};
    let first = [0, 10, 7, 5, 1];
    let long = ProtocolError::TooLong { length: 5_242_881, limit: 5_242_880 };
    let order = |operation| ProtocolError::from(Order { operation, id: PacketId(7) });
    let fragment = |bytes: &[u8]| (extension::FRAGMENT, Operation::EXTENSION, bytes.to_vec());
    let other = |id, operation, bytes: &[u8]| (PacketId(id), operation, bytes.to_vec());
    for (packets, error) in [
        (vec![fragment(&[])], Head.into()),
        (vec![fragment(&[0])], Head.into()),
        (vec![fragment(&[0, 10, 7])], Head.into()),
        (vec![fragment(&[0, 3, 7, 5, 1])], Head.into()),
        (vec![fragment(&[0, 10, 0x80, 0x80, 4, 5, 1])], Head.into()),
        (vec![fragment(&[8, 10, 7, 5, 1])], Channel { channel: 8, count: 8 }.into()),
        (vec![fragment(&[0, 10, 7, 0x81, 0x80, 0xC0, 2, 1])], long),
        (vec![fragment(&[0, 10, 7, 5])], Length { length: 0, missing: 5 }.into()),
        (vec![fragment(&[0, 10, 7, 1, 1, 2])], Length { length: 2, missing: 1 }.into()),
        (vec![fragment(&first), fragment(&[0])], Length { length: 0, missing: 4 }.into()),
        (vec![fragment(&first), fragment(&[0, 1, 2, 3, 4, 5])], Length { length: 5, missing: 4 }.into()),
        (vec![fragment(&first), fragment(&[1, 10, 7, 5, 1])], order(CALL)),
        (vec![fragment(&first), other(7, CALL, &[1])], order(CALL)),
        (vec![fragment(&first), other(7, Operation::CANCEL, &[10])], order(Operation::CANCEL)),
        (vec![fragment(&[3, 2, 7, 5, 1]), other(7, Operation::END, &[])], order(Operation::END)),
        (vec![fragment(&[3, 2, 7, 5, 1]), other(7, Operation::STREAM, &[1])], order(Operation::STREAM)),
        (vec![fragment(&[3, 2, 7, 5, 1]), other(6, Operation::EXTENSION, &[7])], order(Operation::EXTENSION)),
    ] {
        let now = Instant::now();
        let mut client = client(now);
        let mut outbox = Outbox::default();
        for (id, operation, body) in packets {
            outbox.push(id, operation, body).expect("body should be short");
        }
        let mut input = outbox.take_bytes();
        let mut found = Ok(());
        while found.is_ok() && !input.is_empty() {
            found = client.poll_event(&mut input, now).map(drop);
        }
        assert_eq!(found, Err(error));
    }
}
