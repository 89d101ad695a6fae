//! Tests of batches: merged messages are decoded unchanged, whatever packets are between them.

use super::*;
use crate::{Batch, BatchSize, Decoder, HeaderForm, TooLong};
use bytes::Bytes;

const STREAM: PacketId = PacketId(5);

fn outbox() -> Outbox {
    Outbox::new(HeaderForm::Current)
}

fn put(outbox: &mut Outbox, id: PacketId, joins: bool, message: &Bytes) -> Result<(), TooLong> {
    let (put, length) = outbox.message(id, joins, |mut packet| {
        packet.put_shared(message);
        packet.finish()
    });
    assert_eq!(length, put.is_ok().then_some(message.len()));
    put
}

/// Decodes the pending packets of an outbox into operation, stream id and messages.
fn read(form: HeaderForm, outbox: &mut Outbox) -> Vec<(Operation, u16, Vec<Bytes>)> {
    let mut bytes = outbox.take_bytes();
    let mut decoder = Decoder::new(form, crate::BODY_MAX);
    let mut packets = Vec::new();
    while let Some(packet) = decoder.next(&mut bytes).unwrap() {
        let messages = if packet.operation == Operation::BATCH {
            assert!(BatchSize::of(&packet.body).is_some());
            Batch::new(&packet.body).map(|message| packet.body.slice_ref(message.unwrap())).collect()
        } else {
            vec![packet.body]
        };
        packets.push((packet.operation, packet.id.0, messages));
    }
    packets
}

/// Returns the messages of all packets in order.
fn messages(packets: Vec<(Operation, u16, Vec<Bytes>)>) -> Vec<Bytes> {
    packets.into_iter().flat_map(|(_, _, messages)| messages).collect()
}

#[test]
fn messages_of_all_lengths_round_trip() {
    let lengths = [0, 1, 127, 128, 129, ALONE_MIN - 1, ALONE_MIN, 16 * 1024, 40_000];
    for form in [HeaderForm::Current, HeaderForm::Old] {
        for first in lengths {
            for second in lengths {
                for third in lengths {
                    let mut outbox = Outbox::new(form);
                    let put_in = [first, second, third].map(|length| Bytes::from(vec![length as u8; length]));
                    put_in.iter().for_each(|message| put(&mut outbox, STREAM, true, message).unwrap());
                    let packets = read(form, &mut outbox);
                    let are_long = [first, second, third].map(|length| length >= ALONE_MIN);
                    let fewer = u8::from(!are_long[0] && !are_long[1]) + u8::from(!are_long[1] && !are_long[2]);
                    assert_eq!(packets.len(), 3 - usize::from(fewer), "{first}, {second}, {third}");
                    assert_eq!(messages(packets), put_in);
                }
            }
        }
    }
}

#[test]
fn batched_messages_leave_as_single_ones() {
    let lengths = [0, 1, 127, 128, ALONE_MIN - 1, ALONE_MIN, 16 * 1024];
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    for joins in [true, false] {
        for round in 0..200 {
            let (mut one_by_one, mut together) = (outbox(), outbox());
            one_by_one.set_limit(20_000);
            together.set_limit(20_000);
            let mut batch = MessageBatch::new(&together, STREAM, joins);
            for _ in 0..random(40) {
                let length = lengths[random(lengths.len())];
                let (message, fate) = (Bytes::from(vec![7; length]), random(10));
                let write = |mut packet: PacketWriter<'_>| {
                    packet.put_shared(&message);
                    match fate {
                        0 => Ok(()), // The message is dropped.
                        1 => {
                            packet.put_slice(&[0; 20_001]); // The message is too long.
                            packet.finish()
                        }
                        _ => packet.finish(),
                    }
                };
                assert_eq!(batch.put(write), one_by_one.message(STREAM, joins, write));
            }
            assert_eq!((batch.len(), batch.is_empty()), (one_by_one.len(), one_by_one.is_empty()));
            batch.move_to(&mut together);
            assert!(batch.is_empty());
            assert!(together.take_bytes() == one_by_one.take_bytes(), "round {round}");
        }
    }
}

#[test]
fn batch_survives_panic_of_joining_write() {
    let mut outbox = outbox();
    for _ in 0..2 {
        put(&mut outbox, STREAM, true, &Bytes::from_static(b"hi")).unwrap();
        let joining = std::panic::AssertUnwindSafe(|| outbox.message(STREAM, true, |_| panic!("on purpose")));
        assert!(std::panic::catch_unwind(joining).is_err());
    }
    assert_eq!(messages(read(HeaderForm::Current, &mut outbox)), ["hi", "hi"]);
}

#[test]
fn lone_message_is_sent_without_batch() {
    let (mut joining, mut alone) = (outbox(), outbox());
    let message = Bytes::from_static(b"hi");
    put(&mut joining, STREAM, true, &message).unwrap();
    alone.push(STREAM, Operation::STREAM, &message).unwrap();
    assert_eq!(joining.take_bytes(), alone.take_bytes());
}

#[test]
fn messages_join_only_last_stream_packet() {
    let message = Bytes::from_static(b"hi");
    let mut outbox = outbox();
    for (id, joins) in [(1, false), (1, false), (1, true), (2, true), (1, true), (1, true)] {
        put(&mut outbox, PacketId(id), joins, &message).unwrap();
    }
    outbox.push(PacketId(1), Operation::CREDIT, [1].as_slice()).unwrap();
    put(&mut outbox, PacketId(1), true, &message).unwrap();
    let packets = read(HeaderForm::Current, &mut outbox);
    let found: Vec<_> =
        packets.iter().map(|(operation, id, messages)| (operation.number(), *id, messages.len())).collect();
    assert_eq!(found, [(2, 1, 1), (2, 1, 1), (2, 1, 1), (2, 2, 1), (9, 1, 2), (5, 1, 1), (2, 1, 1)]);
}

#[test]
fn partly_written_batch_is_not_joined() {
    let message = Bytes::from_static(b"hello");
    let begin: [fn(&mut Outbox); 4] = [
        |outbox| outbox.advance(1),
        |outbox| outbox.advance(15),
        |outbox| outbox.append(&mut Outbox::new(HeaderForm::Current)),
        |outbox| drop(outbox.take_bytes()),
    ];
    for begin in begin {
        let mut outbox = outbox();
        put(&mut outbox, STREAM, true, &message).unwrap();
        begin(&mut outbox);
        let left = outbox.len();
        put(&mut outbox, STREAM, true, &message).unwrap();
        let bytes = outbox.take_bytes();
        assert_eq!(bytes[left..], [&[0, 15, 0, 5, 0, 2, 0, 0, 0, 5][..], b"hello"].concat());
    }
}

#[test]
fn batch_respects_peer_and_own_limits() {
    for (limit, longest) in [(1024, 1024), (crate::BODY_MAX, BATCH_MAX)] {
        for length in [0, 60, 126, 127, 128, 500, 1000] {
            let mut outbox = outbox();
            outbox.set_limit(limit);
            let message = Bytes::from(vec![7; length]);
            let count = 100_000 / (length + 2);
            (0..count).for_each(|_| put(&mut outbox, STREAM, true, &message).unwrap());
            let mut bytes = outbox.take_bytes();
            let mut decoder = Decoder::new(HeaderForm::Current, limit);
            let (mut read, mut most) = (0, 0);
            while let Some(packet) = decoder.next(&mut bytes).unwrap() {
                let in_batch = BatchSize::of(&packet.body).map_or(0, |size| size.messages);
                read += if packet.operation == Operation::BATCH { in_batch } else { 1 };
                most = most.max(packet.body.len());
            }
            assert_eq!(read, count);
            assert!(
                most <= longest as usize && most + 2 * length + 200 > longest as usize,
                "most was {most} of {longest}"
            );
        }
    }
}

#[test]
fn failed_message_leaves_others_unchanged() {
    let message = Bytes::from_static(b"hi");
    let mut outbox = outbox();
    outbox.set_limit(2000);
    put(&mut outbox, STREAM, true, &message).unwrap();
    assert_eq!(put(&mut outbox, STREAM, true, &vec![1; 2001].into()).unwrap_err().length, 2001);
    put(&mut outbox, STREAM, true, &message).unwrap();
    let (_, length) = outbox.message(STREAM, true, |mut packet| packet.put_slice(b"half"));
    assert_eq!(length, None);
    put(&mut outbox, STREAM, true, &message).unwrap();
    assert_eq!(messages(read(HeaderForm::Current, &mut outbox)), [&message, &message, &message]);
}

#[test]
fn appended_outbox_ends_current_batch() {
    let mut others = outbox();
    others.push(PacketId(1), Operation::FIRST_USER, vec![7; 10_000]).unwrap();
    others.share();
    let mut outbox = outbox();
    for message in ["one", "two"] {
        put(&mut outbox, STREAM, true, &Bytes::from(message)).unwrap();
    }
    outbox.extend_from(&others);
    put(&mut outbox, STREAM, true, &Bytes::from("three")).unwrap();
    let packets = read(HeaderForm::Current, &mut outbox);
    let operations: Vec<_> = packets.iter().map(|(operation, ..)| *operation).collect();
    assert_eq!(operations, [Operation::BATCH, Operation::FIRST_USER, Operation::STREAM]);
    assert_eq!(messages(packets), [&b"one"[..], b"two", &[7; 10_000], b"three"]);
}
