//! Fuzz targets without I/O, for headers, frames, HELLO, and the state of a connection.

use bytes::{BufMut, Bytes};
use frisbee_core::{
    Batch, BatchSize, ClientConfig, CloseReason, Config, Connection, Decoder, Event, Header, HeaderForm, Hello,
    HelloError, Operation, Operations, Outbox, Packet, PacketId, ProtocolError, ServerConfig, extension, tlv,
};
use std::io::IoSlice;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Checks that a decoded header is encoded to the same bytes.
pub fn header(data: &[u8]) {
    if let Some(bytes) = data.first_chunk::<10>() {
        match Header::decode(bytes) {
            Ok(header) => assert_eq!(&header.encode(HeaderForm::Current), bytes),
            Err(magic) => assert_ne!(magic, frisbee_core::MAGIC),
        }
    }
    if let Some(bytes) = data.first_chunk::<8>() {
        assert_eq!(&Header::decode_old(bytes).encode(HeaderForm::Old)[..8], bytes);
    }
}

fn operations(served: &[RangeInclusive<u16>], calls: &[RangeInclusive<u16>]) -> Option<Arc<Operations>> {
    Some(Arc::new(Operations { served: served.to_vec(), calls: calls.to_vec() }))
}

/// Maximum body length of this target's frames, in bytes.
const LIMIT: u32 = 200_000;

type Read = (Vec<Packet>, Option<ProtocolError>);

/// Returns the error without the name of the detected protocol, because the name depends on how many bytes have
/// arrived.
fn unnamed(error: ProtocolError) -> ProtocolError {
    match error {
        ProtocolError::OtherProtocol(_) | ProtocolError::BadMagic(_) => ProtocolError::BadMagic(0),
        error => error,
    }
}

/// Checks that the packets in a byte stream depend neither on the boundaries of reads nor on whether bodies are read in
/// place.
pub fn frames(data: &[u8]) {
    let Some((&[split, way], stream)) = data.split_first_chunk() else { return };
    let decoder = || match way & 3 {
        0 => Decoder::new(HeaderForm::Current, LIMIT),
        1 => Decoder::new(HeaderForm::Old, LIMIT),
        _ => Decoder::detecting(operations(&[10..=23], &[]), LIMIT),
    };
    let whole = read(decoder(), stream, stream.len().max(1), false);
    let parts = read(decoder(), stream, usize::from(split) + 1, way & 4 != 0);
    assert_eq!(whole, parts);
    // Discarding a body must not affect the packets after it.
    let mut decoder = decoder();
    for chunk in stream.chunks(usize::from(split) + 1) {
        let mut input = Bytes::copy_from_slice(chunk);
        while let Ok(Some(_)) = decoder.next(&mut input) {}
        assert!(decoder.buffered() <= 4 * stream.len() + 64 * 1024, "memory is proportional to the received bytes");
        if way & 8 != 0 {
            decoder.discard_body();
            assert_eq!(decoder.buffered(), 0);
        }
    }
}

fn read(mut decoder: Decoder, stream: &[u8], size: usize, in_place: bool) -> Read {
    let mut packets = Vec::new();
    for chunk in stream.chunks(size) {
        let mut rest = chunk;
        while let Some(mut body) = decoder.body_mut().filter(|_| in_place && !rest.is_empty()) {
            let room = body.buffer().capacity() - body.buffer().len();
            let (now, later) = rest.split_at(rest.len().min(body.missing()).min(room));
            body.buffer().put_slice(now);
            body.appended();
            rest = later;
            match decoder.next(&mut Bytes::new()) {
                Ok(packet) => packets.extend(packet),
                Err(error) => return (packets, Some(unnamed(error))),
            }
        }
        let mut input = Bytes::copy_from_slice(rest);
        loop {
            match decoder.next(&mut input) {
                Ok(Some(packet)) => packets.push(packet),
                Ok(None) => break,
                Err(error) => return (packets, Some(unnamed(error))),
            }
        }
        assert!(input.is_empty(), "decoder should consume all input before it asks for more");
    }
    (packets, None)
}

/// Checks that arbitrary bytes in HEADERS, TRAILERS and CLOSE are decoded to parts of limited size.
fn extensions(data: &[u8]) {
    for kind in [extension::HEADERS, extension::TRAILERS] {
        let packet = Packet::new(kind, Operation::EXTENSION, Bytes::copy_from_slice(data));
        let stream = packet.stream();
        match packet.into_stream_items() {
            Some((id, items)) => assert!(stream == Some(id) && data.ends_with(&items) && items.len() < data.len()),
            None => assert_eq!(stream, None),
        }
    }
    if let Some(CloseReason::PeerClosed { text, .. }) = CloseReason::from_packet(data) {
        assert!(text.chars().count() <= 200 && !text.contains(char::is_control));
    }
}

/// Checks that a decoded HELLO survives a round trip, and that decoding its items and varints never panics.
pub fn hello(data: &[u8]) {
    if let Ok(hello) = Hello::decode(&Bytes::copy_from_slice(data)) {
        let again = Hello::decode(&hello.encode().into());
        // The items of a HELLO with the maximum length may take more bytes when they are encoded again.
        assert!(matches!(again, Err(HelloError::TooLong { .. })) || again == Ok(hello));
    }
    let mut rest = data;
    while tlv::take_varint(&mut rest).is_some() {}
    let _ = tlv::whole_varint(data);
    let _ = tlv::Items::new(data).count();
    batch(data);
    extensions(data);
    joined(data);
}

/// Checks that the measured size of a batch equals that of its decoded messages.
fn batch(data: &[u8]) {
    let messages: Vec<_> = Batch::new(data).collect();
    let whole: Vec<_> = messages.iter().flatten().map(|message| message.len()).collect();
    let is_whole = !messages.is_empty() && whole.len() == messages.len();
    assert!(whole.iter().sum::<usize>() + whole.len() <= data.len(), "messages should be parts of the batch");
    match BatchSize::of(data) {
        Some(size) => {
            assert!(is_whole);
            assert_eq!((size.messages, size.bytes), (whole.len(), whole.iter().sum()));
            assert_eq!((Some(&size.longest), Some(&size.last)), (whole.iter().max(), whole.last()));
        }
        None => assert!(!is_whole),
    }
}

/// Encodes messages of two streams, in batches where possible. Checks that they are decoded in the same order. Each
/// byte of the input selects the length and the stream of a message.
fn joined(data: &[u8]) {
    const LENGTHS: [usize; 8] = [0, 1, 5, 127, 128, 900, 4_095, 4_096];
    let mut outbox = Outbox::new(HeaderForm::Current);
    let mut put = Vec::new();
    for &byte in data.iter().take(200) {
        let (id, message) = (PacketId(u16::from(byte & 1)), vec![byte; LENGTHS[usize::from(byte >> 1 & 7)]]);
        let (sent, length) = outbox.message(id, byte & 16 == 0, |mut packet| {
            packet.put_slice(&message);
            packet.finish()
        });
        assert_eq!((sent, length), (Ok(()), Some(message.len())));
        put.push((id, message));
    }
    let mut bytes = outbox.take_bytes();
    let mut decoder = Decoder::new(HeaderForm::Current, LIMIT);
    let mut read = Vec::new();
    while let Ok(Some(Packet { id, operation, body })) = decoder.next(&mut bytes) {
        if operation == Operation::BATCH {
            read.extend(Batch::new(&body).map(|message| (id, message.expect("message should be complete").to_vec())));
        } else {
            read.push((id, body.to_vec()));
        }
    }
    assert!(read == put && bytes.is_empty(), "{} messages of {}", read.len(), put.len());
}

/// Feeds arbitrary bytes to either end of a connection while time passes. Checks that its output stays small, and that
/// `divided` packets arrive.
pub fn connection(data: &[u8]) {
    divided(data);
    let Some((&[role, size], stream)) = data.split_first_chunk() else { return };
    let mut now = Instant::now();
    let common = Config::default().body_max(LIMIT);
    let mut connection = if role & 1 == 0 {
        Connection::server(&ServerConfig::default().common(common).operations(operations(&[10..=23], &[])), now)
    } else {
        Connection::client(&common.into(), now)
    };
    let mut unsent = connection.outbox().len();
    for chunk in stream.chunks(usize::from(size) + 1) {
        let mut input = Bytes::copy_from_slice(chunk);
        loop {
            if connection.is_at_packet()
                && let Some(packet) = connection.poll_packet(&mut input)
            {
                assert!(!packet.operation.is_reserved() || packet.operation == Operation::STREAM);
                assert!(packet.body.len() <= LIMIT as usize);
                continue;
            }
            match connection.poll_event(&mut input, now) {
                Ok(Some(Event::Control(packet))) => assert!(packet.operation.is_reserved()),
                Ok(Some(Event::Packet(packet))) => {
                    assert!(!packet.operation.is_reserved() || packet.operation == Operation::STREAM);
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        connection.handle_read(chunk.len(), now);
        now += Duration::from_millis(u64::from(role >> 1) * 10);
        if connection.next_timeout().is_some_and(|due| due <= now) && connection.handle_timeout(now).is_err() {
            return;
        }
        if role & 2 != 0 {
            let written = connection.outbox().len();
            connection.handle_written(written, now);
            unsent = 0;
        }
    }
    let _ = connection.handle_eof();
    connection.handle_half_close(now);
    // A HELLO, a PONG, and one PING for each interval that has passed.
    let pings = 10 * (stream.len() + 2);
    assert!(connection.outbox().len() <= unsent + 300 + pings, "{} bytes wait", connection.outbox().len());
    assert!(Operation::user(9).is_none());
}

/// Sends packets of various lengths from a client to a server, in writes of various lengths. Checks that all packets
/// arrive whole, and that those of a call or a stream arrive in order.
///
/// Each byte of the input selects the length, the id and the operation of a packet, and the number of bytes to write
/// after queuing it. Zero bytes simulate a blocked write. A packet without a body is a CANCEL or an END.
fn divided(data: &[u8]) {
    const LENGTHS: [usize; 8] = [0, 1, 5_000, 16_384, 65_536, 65_537, 70_000, 200_000];
    const WRITES: [usize; 4] = [0, 1_000, 65_546, 1 << 20];
    let now = Instant::now();
    let mut client = Connection::client(&ClientConfig::default().operations(operations(&[], &[10..=10])), now);
    let mut server = Connection::server(&ServerConfig::default(), now);
    let mut hello = client.outbox().take_bytes();
    while matches!(server.poll_event(&mut hello, now), Ok(Some(_))) {}
    let mut answer = server.outbox().take_bytes();
    while matches!(client.poll_event(&mut answer, now), Ok(Some(_))) {}
    client.outbox().take_bytes();
    let (mut sent, mut received) = (vec![Vec::new(); 8], vec![Vec::new(); 8]);
    let data = &data[..data.len().min(24)];
    for (number, &byte) in data.iter().chain(&[0xC0; 2]).enumerate() {
        let (id, is_stream) = (PacketId(u16::from(byte >> 3 & 3)), byte & 32 != 0);
        let length = LENGTHS[usize::from(byte & 7)];
        let (operation, body) = match (is_stream, length) {
            (true, 0) => (Operation::END, Bytes::new()),
            (false, 0) => (Operation::CANCEL, Bytes::from_static(&[10])),
            (true, _) => (Operation::STREAM, vec![number as u8; length].into()),
            (false, _) => (Operation::FIRST_USER, vec![number as u8; length].into()),
        };
        let mut packet = client.outbox().packet(id, operation);
        // Half of the bodies are copied into the outbox's buffer.
        if number % 2 == 0 {
            packet.put_slice(&body);
        } else {
            packet.put_shared(&body);
        }
        packet.finish().expect("body should be within the limit");
        sent[usize::from(byte >> 3 & 7)].push(body);
        // The last two writes send all that is left.
        let mut left = if number >= data.len() { usize::MAX } else { WRITES[usize::from(byte >> 6)] };
        while !client.transmit().is_empty() {
            client.stage();
            let mut slices = [IoSlice::new(&[]); 64];
            let filled = client.transmit().slices(&mut slices, left);
            let mut bytes: Bytes = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).collect();
            client.handle_written(bytes.len(), now);
            left = left.saturating_sub(bytes.len().max(1));
            while let Some(event) = server.poll_event(&mut bytes, now).expect("packets should be valid") {
                let (Event::Packet(packet) | Event::Control(packet)) = event else { continue };
                let is_stream = matches!(packet.operation, Operation::STREAM | Operation::END);
                received[usize::from(packet.id.0) + if is_stream { 4 } else { 0 }].push(packet.body);
            }
            if left == 0 {
                break;
            }
        }
    }
    assert!(sent == received, "packets should arrive whole and in order");
}
