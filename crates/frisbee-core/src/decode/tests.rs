//! Tests of decoding packets that arrive in pieces of every size.

use super::*;
use crate::{Outbox, PacketId};
use std::ops::RangeInclusive;

fn serving(served: RangeInclusive<u16>) -> Option<Arc<Operations>> {
    Some(Arc::new(Operations { served: vec![served], calls: Vec::new() }))
}

fn operation(number: u16) -> Operation {
    Operation::user(number).unwrap()
}

/// Returns three packets and their encoding: a small packet, an empty packet, and one that is larger than the initial
/// allocation.
fn script(form: HeaderForm) -> (Vec<Packet>, Bytes) {
    let packets = vec![
        Packet::new(PacketId(1), operation(18), vec![7; 33]),
        Packet::new(PacketId(2), operation(19), Bytes::new()),
        Packet::new(PacketId(3), operation(20), (0..=255).cycle().take(200_000).collect::<Vec<u8>>()),
    ];
    let mut outbox = Outbox::new(form);
    for packet in &packets {
        outbox.push(packet.id, packet.operation, &packet.body).unwrap();
    }
    (packets, outbox.take_bytes())
}

fn decode(decoder: &mut Decoder, chunks: impl Iterator<Item = Bytes>) -> Result<Vec<Packet>, ProtocolError> {
    let mut packets = Vec::new();
    for mut chunk in chunks {
        while let Some(packet) = decoder.next(&mut chunk)? {
            packets.push(packet);
        }
        assert!(chunk.is_empty(), "decoder should return `None` only when its input is used up");
    }
    Ok(packets)
}

#[test]
fn packets_survive_every_cut_in_two() {
    for form in [HeaderForm::Current, HeaderForm::Old] {
        let (packets, wire) = script(form);
        for cut in (0..100).chain((100..wire.len()).step_by(4_999)) {
            let mut decoder = Decoder::new(form, crate::BODY_MAX);
            let chunks = [wire.slice(..cut), wire.slice(cut..)].into_iter();
            assert_eq!(decode(&mut decoder, chunks).unwrap(), packets, "cut at {cut}");
            assert!(!decoder.is_mid_packet());
        }
    }
}

/// Decodes a packet on the fast path. Returns `None` if its precondition does not hold.
fn whole(decoder: &Decoder, input: &mut Bytes) -> Option<Packet> {
    if decoder.is_at_header() { decoder.next_whole(input) } else { None }
}

#[test]
fn fast_path_takes_only_whole_packets() {
    let (packets, wire) = script(HeaderForm::Current);
    for cut in (0..100).chain((100..wire.len()).step_by(4_999)) {
        let mut decoder = Decoder::new(HeaderForm::Current, crate::BODY_MAX);
        let (mut found, mut short) = (Vec::new(), 0);
        for mut chunk in [wire.slice(..cut), wire.slice(cut..)] {
            loop {
                let before = chunk.clone();
                if let Some(packet) = whole(&decoder, &mut chunk) {
                    found.push(packet);
                    short += 1;
                    continue;
                }
                assert_eq!(chunk, before);
                let Some(packet) = decoder.next(&mut chunk).unwrap() else { break };
                found.push(packet);
            }
        }
        assert_eq!(found, packets, "cut at {cut}");
        assert!(short >= 2, "fast path should decode all packets except one");
    }
    let refused: [&[u8]; 4] = [
        &[0, 0x0F, 0, 1, 0, 9, 0, 0, 0, 0],                 // reserved
        &[0, 0x0E, 0, 1, 0, 10, 0, 0, 0, 0],                // no magic
        &[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 2, b'x'],          // cut
        &[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 3, 1, 2, 3, b'x'], // too long
    ];
    for bytes in refused {
        let mut input = Bytes::from_static(bytes);
        let decoder = Decoder::new(HeaderForm::Current, 2);
        assert_eq!(whole(&decoder, &mut input), None);
        assert_eq!(input, bytes);
    }
}

#[test]
fn packets_survive_arriving_byte_by_byte() {
    for form in [HeaderForm::Current, HeaderForm::Old] {
        let (packets, wire) = script(form);
        for mut decoder in [Decoder::new(form, 1 << 20), Decoder::detecting(serving(10..=100), 1 << 20)] {
            let chunks = (0..wire.len()).map(|at| wire.slice(at..=at));
            assert_eq!(decode(&mut decoder, chunks).unwrap(), packets);
            assert_eq!(decoder.form(), Some(form));
        }
    }
}

#[test]
fn other_protocols_are_rejected_early() {
    let mut decoder = Decoder::new(HeaderForm::Current, 1_000);
    let mut alert = Bytes::from_static(&[21, 3, 3, 0, 2, 2, 10]);
    assert_eq!(decoder.next(&mut alert), Err(ProtocolError::SpeaksTls));
    let mut decoder = Decoder::new(HeaderForm::Current, 1_000);
    assert_eq!(decoder.next(&mut Bytes::from_static(b"S")), Ok(None));
    assert_eq!(decoder.next(&mut Bytes::from_static(b"S")), Err(ProtocolError::OtherProtocol(OtherProtocol::Ssh)));
    let mut decoder = Decoder::new(HeaderForm::Current, 1_000);
    assert_eq!(decoder.next(&mut Bytes::from_static(&[0, 0, 0])), Ok(None));
    assert_eq!(
        decoder.next(&mut Bytes::from_static(&[0])),
        Err(ProtocolError::OtherProtocol(OtherProtocol::OldHeaders))
    );
}

#[test]
fn packet_within_one_chunk_is_not_copied() {
    let wire = Bytes::from_static(&[0, 0x0F, 0, 1, 0, 18, 0, 0, 0, 3, 1, 2, 3, 0]);
    let mut input = wire.clone();
    let packet = Decoder::new(HeaderForm::Current, 10).next(&mut input).unwrap().unwrap();
    assert_eq!(packet.body.as_ptr(), wire[10..].as_ptr());
    assert_eq!(input.as_ptr(), wire[13..].as_ptr());
    let packet = Decoder::new(HeaderForm::Current, 10).next(&mut wire.slice(..13)).unwrap().unwrap();
    assert_eq!(packet.body.as_ptr(), wire[10..].as_ptr(), "body should be a slice, because nothing follows it");
}

#[test]
fn fast_path_never_decodes_packet_within_body() {
    // From the third byte on, these bytes look like a header of operation 10 without a body.
    let header = [0, 0x0F, 0, 0x0F, 0, 18, 0, 10, 0, 0];
    let mut decoder = Decoder::new(HeaderForm::Current, crate::BODY_MAX);
    assert_eq!(decoder.next(&mut Bytes::from_static(&[0, 0x0F])), Ok(None));
    assert!(decoder.is_mid_packet());
    let mut rest = Bytes::from([&header[2..], &[0; 100]].concat());
    assert_eq!(whole(&decoder, &mut rest), None);
    assert_eq!(decoder.next(&mut rest), Ok(None));
    let mut within = Bytes::from_static(&[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 0]);
    assert_eq!(whole(&decoder, &mut within), None, "bytes of the body should not be decoded as a packet");
}

#[test]
fn oversized_packet_is_rejected_at_header() {
    let header = |length| Header { id: PacketId(1), operation: operation(10), length };
    let limit = crate::BODY_MAX;
    let mut decoder = Decoder::new(HeaderForm::Current, limit);
    let mut input = Bytes::copy_from_slice(&header(limit + 1).encode(HeaderForm::Current));
    let refused = ProtocolError::TooLong { length: limit + 1, limit };
    assert_eq!(decoder.next(&mut input), Err(refused));

    let mut input = Bytes::copy_from_slice(&header(limit).encode(HeaderForm::Current));
    assert_eq!(Decoder::new(HeaderForm::Current, limit).next(&mut input), Ok(None));
}

#[test]
fn buffer_grows_with_received_bytes_only() {
    let header = Header { id: PacketId(1), operation: operation(10), length: 5 << 20 };
    let mut decoder = Decoder::new(HeaderForm::Current, 5 << 20);
    assert_eq!(decoder.next(&mut Bytes::copy_from_slice(&header.encode(HeaderForm::Current))), Ok(None));
    let mut received = 0;
    while received < 4 << 20 {
        let capacity = decoder.buffered();
        assert!(
            capacity <= 4096 + FIRST_CAPACITY + 4 * received,
            "decoder allocated {capacity} bytes for {received} received ones"
        );
        assert_eq!(decoder.next(&mut Bytes::from(vec![0; 10_000])), Ok(None));
        received += 10_000;
    }
}

#[test]
fn reused_buffers_grow_with_received_bytes_only() {
    let mut decoder = Decoder::new(HeaderForm::Current, 5 << 20);
    for round in 0..3 {
        let header = Header { id: PacketId(1), operation: operation(10), length: 1 << 20 };
        assert_eq!(decoder.next(&mut Bytes::copy_from_slice(&header.encode(HeaderForm::Current))), Ok(None));
        assert!(
            decoder.buffered() <= 4096 + FIRST_CAPACITY,
            "decoder allocated {} bytes for an announced length",
            decoder.buffered()
        );
        let mut whole = Bytes::from(vec![round; 1 << 20]);
        assert_eq!(decoder.next(&mut whole.split_to(TRUSTED_FROM)), Ok(None));
        assert!(decoder.body_mut().is_some());
        let grown = decoder.buffered();
        let most = if round == 0 { FIRST_CAPACITY + GROWTH * TRUSTED_FROM } else { FIRST_CAPACITY + (1 << 20) };
        assert!(grown <= 4096 + most, "decoder grew to {grown} bytes in round {round}");
        let packet = decoder.next(&mut whole).unwrap().unwrap();
        // Check the contents, because the allocator may have reused the memory of the previous round.
        assert!(packet.body.len() == 1 << 20 && packet.body.iter().all(|byte| *byte == round));
    }
}

#[test]
fn large_body_is_read_directly_into_buffer() {
    let (packets, wire) = script(HeaderForm::Current);
    let mut decoder = Decoder::new(HeaderForm::Current, 1 << 20);
    let mut input = wire.slice(..1_000);
    assert_eq!(decoder.next(&mut input).unwrap().as_ref(), packets.first());
    assert_eq!(decoder.next(&mut input).unwrap().as_ref(), packets.get(1));
    assert_eq!(decoder.next(&mut input), Ok(None));
    let mut rest = wire.slice(1_000..);
    while let Some(mut body) = decoder.body_mut() {
        let room = body.buffer().capacity() - body.buffer().len();
        let count = room.min(body.missing()).min(7_000);
        body.buffer().extend_from_slice(&rest.split_to(count));
        body.appended();
    }
    assert_eq!(decoder.next(&mut rest).unwrap().as_ref(), packets.get(2));
}

#[test]
fn discarded_body_is_freed_and_skipped() {
    let (packets, wire) = script(HeaderForm::Current);
    let following = wire.slice(..43);
    for cut in [60_000, 100_000, wire.len() - 1] {
        let mut decoder = Decoder::new(HeaderForm::Current, 1 << 20);
        let mut input = wire.slice(..cut);
        while decoder.next(&mut input).unwrap().is_some() {}
        assert!(decoder.buffered() >= cut - 1_000);
        let discarded = decoder.discard_body().unwrap();
        assert_eq!((discarded.id, discarded.operation), (PacketId(3), operation(20)));
        assert_eq!(discarded.body, packets[2].body[..64]);
        assert_eq!((decoder.buffered(), decoder.discard_body()), (0, None));
        assert!(decoder.body_mut().is_none() && decoder.is_mid_packet());
        let rest = [&wire[cut..], &following].concat();
        let mut read = Vec::new();
        for chunk in rest.chunks(7_001) {
            let mut input = Bytes::copy_from_slice(chunk);
            while let Some(packet) = decoder.next(&mut input).unwrap() {
                read.push(packet);
            }
            assert_eq!(decoder.buffered(), 0);
        }
        assert_eq!(read, packets[..1]);
        assert!(!decoder.is_mid_packet());
    }
}

#[test]
fn only_valid_old_header_selects_old_form() {
    let detect = |id, operation, length| {
        let header = Header { id: PacketId(id), operation: Operation::from_wire(operation), length };
        let mut decoder = Decoder::detecting(serving(10..=12), 1_000);
        decoder.next(&mut Bytes::copy_from_slice(&header.encode(HeaderForm::Old)[..8])).map(|_| decoder.form())
    };
    let old = Ok(Some(HeaderForm::Old));
    assert_eq!(detect(0, 0, 0), old);
    assert_eq!(detect(1, 12, 1_000), old);
    assert_eq!(detect(1, 2, 2), old);
    assert_eq!(detect(0, 3, 30), old);
    assert_eq!(detect(0, 0, 1), Err(ProtocolError::BadMagic(0)));
    assert_eq!(detect(0, 1, 0), Err(ProtocolError::BadMagic(0)));
    assert_eq!(detect(1, 13, 6), Err(ProtocolError::BadMagic(1)));
    assert_eq!(detect(1, 12, 1_001), Err(ProtocolError::BadMagic(1)));
    let mut get = Bytes::from_static(b"GET / HTTP/1.1\r\n");
    assert_eq!(
        Decoder::detecting(serving(10..=12), 1_000).next(&mut get),
        Err(ProtocolError::OtherProtocol(OtherProtocol::Http1))
    );
    let mut hello = Bytes::from_static(&[22, 3, 1, 2, 0, 1, 0, 1, 252, 3]);
    assert_eq!(Decoder::detecting(serving(10..=12), 1_000).next(&mut hello), Err(ProtocolError::SpeaksTls));
}

#[test]
fn textual_header_is_reported_as_text() {
    let mut answer = Bytes::from_static(b"WHAT DO YOU WANT?\r\n");
    let error = Decoder::new(HeaderForm::Current, 1_000).next(&mut answer).unwrap_err();
    let otherwise = ": the peer does not speak Frisbee, check the port";
    let expected = format!("the header begins with 0x5748 instead of 0x000f, the text \"WH\"{otherwise}");
    assert_eq!(error.to_string(), expected);
    let expected = format!("the header begins with 0x0000 instead of 0x000f{otherwise}");
    assert_eq!(ProtocolError::BadMagic(0).to_string(), expected);
}
