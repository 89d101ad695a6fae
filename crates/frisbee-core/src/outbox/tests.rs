//! Tests of the outbox: the order of bytes, regardless of how they are written, and memory use.

use super::*;

const OPERATION: Operation = Operation::FIRST_USER;

fn fill(outbox: &mut Outbox, sizes: &[usize]) -> Vec<u8> {
    let mut expected = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let id = PacketId(at as u16);
        let body: Bytes = (0..*size).map(|byte| (byte + at) as u8).collect::<Vec<_>>().into();
        outbox.push(id, OPERATION, &body).unwrap();
        let header = Header { id, operation: OPERATION, length: *size as u32 };
        expected.extend_from_slice(&header.encode(HeaderForm::Current));
        expected.extend_from_slice(&body);
    }
    expected
}

const SIZES: &[usize] = &[3, GATHER_MIN, 0, 5, GATHER_MIN + 1, GATHER_MIN, 7];

#[test]
fn default_outbox_accepts_packets() {
    let mut outbox = Outbox::default();
    outbox.push(PacketId(1), OPERATION, "body").unwrap();
    assert_eq!(outbox.limit(), crate::BODY_MAX);
}

#[test]
fn slices_are_capped_at_requested_length() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let expected = fill(&mut outbox, SIZES);
    for most in [0, 1, 9, 10, 13, GATHER_MIN, GATHER_MIN + 23, expected.len() - 1, expected.len(), usize::MAX] {
        let mut slices = [IoSlice::new(&[]); 16];
        let filled = outbox.slices(&mut slices, most);
        let found = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect::<Vec<u8>>();
        assert_eq!(found, expected[..most.min(expected.len())], "first {most} bytes should be as expected");
        assert!(slices[..filled].iter().all(|slice| !slice.is_empty()));
    }
}

#[test]
fn only_large_bodies_are_shared() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let body = Bytes::from(vec![1; GATHER_MIN]);
    outbox.push(PacketId(1), OPERATION, &body).unwrap();
    outbox.push(PacketId(2), OPERATION, body.slice(1..)).unwrap();
    let mut slices = [IoSlice::new(&[]); 8];
    assert_eq!(outbox.slices(&mut slices, usize::MAX), 3);
    assert_eq!(slices[1].as_ptr(), body.as_ptr());
    assert_eq!(slices[2].len(), 10 + GATHER_MIN - 1);
    let address = body.as_ptr();
    let mut owned = Outbox::new(HeaderForm::Current);
    owned.push(PacketId(3), OPERATION, body).unwrap();
    assert_eq!(owned.slices(&mut slices, usize::MAX), 2);
    assert_eq!(slices[1].as_ptr(), address, "buffer should have the required length");
}

#[test]
fn partial_writes_send_every_byte_once() {
    for step in [1, 9, 10, 11, 4_096, GATHER_MIN, 40_000] {
        let mut outbox = Outbox::new(HeaderForm::Current);
        let expected = fill(&mut outbox, SIZES);
        let mut sent = Vec::new();
        while !outbox.is_empty() {
            let mut slices = [IoSlice::new(&[]); 3];
            let filled = outbox.slices(&mut slices, usize::MAX);
            let part: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).take(step).collect();
            outbox.advance(part.len());
            sent.extend(part);
            assert_eq!(outbox.len(), expected.len() - sent.len());
        }
        assert_eq!(sent, expected, "step {step}");
    }
}

#[test]
fn appended_packets_follow_waiting_ones() {
    for written in [0, 1, 20, GATHER_MIN + 15, 2 * GATHER_MIN + 30] {
        let (mut first, mut second) = (Outbox::new(HeaderForm::Current), Outbox::new(HeaderForm::Current));
        let mut expected = fill(&mut first, SIZES);
        first.advance(written);
        expected.extend(fill(&mut second, SIZES));
        first.append(&mut second);
        assert!(second.is_empty());
        assert_eq!(first.len(), expected.len() - written);
        assert_eq!(first.take_bytes(), expected[written..], "outbox should continue after {written} written bytes");
    }
}

#[test]
fn drained_outbox_keeps_bounded_capacity() {
    let (mut first, mut second) = (Outbox::new(HeaderForm::Current), Outbox::new(HeaderForm::Current));
    for waits in [&[][..], &[5]] {
        fill(&mut first, waits);
        (0..200).for_each(|_| drop(fill(&mut second, &[10_000])));
        assert!(second.buffer.capacity() > 4 * KEEP_CAPACITY);
        first.append(&mut second);
        assert!(second.buffer.capacity() <= KEEP_CAPACITY, "{}", second.buffer.capacity());
    }
}

#[test]
fn shared_long_packets_share_their_memory() {
    for (sizes, shared) in [(&[3, 5][..], false), (&[SHARE_MIN, 5], true), (&[5, GATHER_MIN, 7], true)] {
        let mut once = Outbox::new(HeaderForm::Current);
        let expected = fill(&mut once, sizes);
        once.share();
        let mut addresses = Vec::new();
        for filled in [0, 100] {
            let mut outbox = Outbox::new(HeaderForm::Current);
            let mut all = fill(&mut outbox, &[filled]);
            all.extend_from_slice(&expected);
            outbox.extend_from(&once);
            assert_eq!(outbox.len(), all.len());
            addresses.push(outbox.bulk.front().map(|(_, bytes)| bytes.as_ptr()));
            assert_eq!(outbox.take_bytes(), all);
        }
        assert_eq!(addresses[0], addresses[1]);
        assert_eq!(addresses[0].is_some(), shared);
        assert_eq!(once.take_bytes(), expected);
    }
}

#[test]
fn busy_outbox_keeps_bounded_buffer() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let (mut expected, mut written) = (Vec::new(), Vec::new());
    let mut take = |outbox: &mut Outbox, count: usize| {
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = outbox.slices(&mut slices, count);
        written.extend(slices[..filled].iter().flat_map(|slice| slice.iter().copied()).take(count));
        outbox.advance(count);
    };
    expected.extend(fill(&mut outbox, &[1000]));
    for round in 0..3000 {
        let sizes = if round % 100 == 0 { &[GATHER_MIN][..] } else { &[1000] };
        let more = fill(&mut outbox, sizes);
        take(&mut outbox, more.len());
        expected.extend(more);
        assert!(!outbox.is_empty() && outbox.buffer.capacity() <= 3 * KEEP_CAPACITY, "{}", outbox.buffer.capacity());
    }
    let rest = outbox.len();
    take(&mut outbox, rest);
    assert!(written == expected, "written bytes should be as expected");
}

#[test]
fn burst_memory_is_freed_after_write() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    for _ in 0..100 {
        fill(&mut outbox, &[10_000]);
    }
    outbox.release();
    assert_eq!(outbox.len(), 100 * 10_010, "no bytes should be lost");
    assert!(outbox.memory() >= outbox.len());
    outbox.advance(outbox.len());
    assert!((1..=KEEP_CAPACITY).contains(&outbox.memory()), "outbox keeps {} bytes of memory", outbox.memory());
    outbox.release();
    assert_eq!(outbox.memory(), 0);
}

#[test]
fn large_bodies_can_be_replaced_by_copies() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let expected = fill(&mut outbox, SIZES);
    assert_eq!(outbox.shared_len(), 3 * GATHER_MIN + 1);
    assert!(outbox.memory() >= expected.len());
    let mut replaced = 0;
    outbox.map_shared(|bytes| {
        replaced += bytes.len();
        Bytes::copy_from_slice(&bytes)
    });
    assert_eq!(replaced, outbox.shared_len());
    assert_eq!(outbox.take_bytes(), expected);
    assert_eq!(outbox.shared_len(), 0);
}

#[test]
fn similar_outbox_has_same_header_form() {
    let mut first = Outbox::new(HeaderForm::Old);
    first.set_limit(100);
    first.set_room(Some(50));
    let mut second = first.new_like();
    assert_eq!((second.header_size(), second.limit()), (8, 100));
    let refused = second.push(PacketId(1), OPERATION, vec![0; 51]);
    assert_eq!(refused, Err(TooLong { length: 51, limit: 50 }));
    second.set_room(None);
    assert_eq!(second.push(PacketId(1), OPERATION, vec![0; 100]), Ok(()));
    assert_eq!(Outbox::new(HeaderForm::Current).header_size(), 10);
}

#[test]
fn encoder_gathers_parts_into_outbox() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let mut packet = outbox.packet(PacketId(1), OPERATION);
    assert_eq!(packet.limit(), crate::BODY_MAX);
    packet.buffer().extend_from_slice(b"ab");
    let at = packet.buffer().len();
    packet.gather(at, Bytes::from_static(b"cd"));
    packet.buffer().extend_from_slice(b"ef");
    packet.finish().unwrap();
    let forwarded = Packet::new(PacketId(2), OPERATION, "gh");
    outbox.forward(&forwarded).unwrap();
    assert_eq!(outbox.take_bytes(), &b"\0\x0F\0\x01\0\x0A\0\0\0\x06abcdef\0\x0F\0\x02\0\x0A\0\0\0\x02gh"[..]);
}

#[test]
fn empty_part_leaves_outbox_empty() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let mut packet = outbox.packet(PacketId(1), OPERATION);
    let at = packet.buffer().len();
    packet.gather(at, Bytes::new());
    packet.finish().unwrap();
    outbox.advance(10);
    assert!(outbox.is_empty());
}

#[test]
fn dropped_frame_leaves_outbox_unchanged() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    let expected = fill(&mut outbox, SIZES);
    let mut packet = outbox.packet(PacketId(9), OPERATION);
    packet.put_slice(b"half a body");
    packet.put_shared(&Bytes::from(vec![1; GATHER_MIN]));
    drop(packet);
    assert_eq!(outbox.len(), expected.len());
    assert_eq!(outbox.take_bytes(), expected);
}

#[test]
fn rejected_oversized_body_leaves_outbox_intact() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    outbox.set_limit(20_000);
    let expected = fill(&mut outbox, &[20_000]);
    let too_long = outbox.push(PacketId(1), OPERATION, Bytes::from(vec![0; 20_001]));
    assert_eq!(too_long, Err(TooLong { length: 20_001, limit: 20_000 }));
    assert_eq!(outbox.take_bytes(), expected);
}

#[test]
fn body_is_rejected_until_memory_is_available() {
    let mut outbox = Outbox::new(HeaderForm::Current);
    outbox.set_limit(20_000);
    outbox.set_room(Some(500));
    let body = Bytes::from(vec![0; 501]);
    let refused = outbox.push(PacketId(1), OPERATION, &body);
    assert_eq!(refused, Err(TooLong { length: 501, limit: 500 }));
    assert_eq!(outbox.limit(), 20_000);
    for room in [Some(501), Some(usize::MAX), None] {
        outbox.set_room(room);
        assert_eq!(outbox.push(PacketId(1), OPERATION, &body), Ok(()));
    }
}

#[test]
fn old_headers_have_eight_bytes() {
    let mut outbox = Outbox::new(HeaderForm::Old);
    outbox.push(PacketId(1), Operation::user(18).unwrap(), Bytes::from_static(b"abc")).unwrap();
    assert_eq!(outbox.take_bytes(), [0, 1, 0, 18, 0, 0, 0, 3, b'a', b'b', b'c'][..]);
}
