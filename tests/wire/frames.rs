//! Tests with captured frames. They are decoded, encoded again, and decoded in pieces.

use crate::wire::measured::{CapturedFrame, Sender, corpus};
use crate::wire::values::Type;
use bytes::Bytes;
use frisbee_core::{
    BODY_MAX, ClientConfig, Config, Connection, Decoder, Event, HeaderForm, Operation, Operations, Outbox, Packet,
    PacketId, ProtocolError, Role, ServerConfig,
};
use frpc::polyglot::{self, Encoder, Root};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

/// Operations of the service `interop.Interop`.
const SERVED: RangeInclusive<u16> = 10..=23;

fn served() -> Arc<Operations> {
    Arc::new(Operations { served: vec![SERVED], calls: Vec::new() })
}

#[test]
fn frames_are_read_as_captured() {
    for frame in &corpus().frames {
        let mut input = Bytes::from(frame.bytes.clone());
        let mut decoder = Decoder::new(HeaderForm::Current, BODY_MAX);
        let packet = decoder.next(&mut input).expect("frame should be valid").expect("frame should be complete");
        assert_eq!(
            (packet.id.0, packet.operation.number(), &packet.body[..]),
            (frame.id, frame.operation, &frame.bytes[10..]),
            "{}",
            frame.scenario
        );
        assert!(input.is_empty() && !decoder.is_mid_packet());
    }
    assert_eq!(corpus().frames.len(), 49);
}

#[test]
fn frames_encode_as_captured_in_both_forms() {
    for form in [HeaderForm::Current, HeaderForm::Old] {
        for frame in &corpus().frames {
            let mut outbox = Outbox::new(form);
            outbox.forward(&packet(frame)).expect("packet should be within the limit");
            assert_eq!(outbox.take_bytes(), bytes_in(form, frame), "{}", frame.scenario);
        }
        for sequence in sequences() {
            let mut outbox = Outbox::new(form);
            for packet in sequence.packets() {
                outbox.forward(&packet).expect("packet should be within the limit");
            }
            assert_eq!(outbox.take_bytes(), sequence.bytes(form), "{}", sequence.name);
        }
    }
}

#[test]
fn sequences_cut_anywhere_give_same_packets() {
    for form in [HeaderForm::Current, HeaderForm::Old] {
        for sequence in sequences() {
            let expected = sequence.packets();
            let boundaries = sequence.boundaries(form);
            for pieces in cuts(&sequence.bytes(form)) {
                let mut decoder = Decoder::new(form, BODY_MAX);
                let mut packets = Vec::new();
                let mut fed = 0;
                for piece in &pieces {
                    packets.extend(read(&mut decoder, piece.clone()).expect("read should succeed"));
                    fed += piece.len();
                    assert_eq!(decoder.is_mid_packet(), !boundaries.contains(&fed), "{} at {fed}", sequence.name);
                }
                assert_eq!(packets, expected, "{} in {:?}", sequence.name, lengths(&pieces));
            }
        }
    }
}

#[test]
fn header_form_is_detected_for_any_split() {
    let operations = Some(served());
    let mut refused = Vec::new();
    for form in [HeaderForm::Current, HeaderForm::Old] {
        for sequence in sequences().into_iter().filter(|sequence| sequence.from == Sender::Client) {
            let expected = sequence.packets();
            let may_open = form == HeaderForm::Current || expected[0].operation != Operation::PONG;
            for pieces in cuts(&sequence.bytes(form)) {
                let mut decoder = Decoder::detecting(operations.clone(), BODY_MAX);
                let packets = pieces.iter().map(|piece| read(&mut decoder, piece.clone()));
                let packets: Result<Vec<_>, _> = packets.collect();
                if may_open {
                    assert_eq!(packets.map(|packets| packets.concat()), Ok(expected.clone()), "{}", sequence.name);
                    assert_eq!(decoder.form(), Some(form), "{}", sequence.name);
                } else {
                    assert_eq!(packets, Err(ProtocolError::BadMagic(0)), "{}", sequence.name);
                }
            }
            if !may_open {
                refused.push(sequence.name);
            }
        }
    }
    // These frames come from a server that sent the first PING. A server of this implementation does not, so an older
    // client has nothing to answer at this point.
    assert_eq!(refused, ["ping and pong"]);
}

#[test]
fn events_and_pongs_ignore_byte_boundaries() {
    let now = Instant::now();
    for form in [HeaderForm::Current, HeaderForm::Old] {
        let common = Config::default().hello(false);
        for sequence in sequences() {
            let role = match sequence.from {
                Sender::Client if form == HeaderForm::Old && sequence.packets()[0].operation == Operation::PONG => {
                    Role::Client // As a server it would refuse the sequence: see the test of the form.
                }
                Sender::Client => Role::Server,
                Sender::Server => Role::Client,
            };
            let (keepalive, expected): (Vec<_>, Vec<_>) =
                sequence.packets().into_iter().partition(|packet| packet.operation <= Operation::PONG);
            let pinged = keepalive.iter().any(|packet| packet.operation == Operation::PING);
            let mut pong = Outbox::new(form);
            if pinged {
                let pong = pong.forward(&Packet::new(PacketId(0), Operation::PONG, ""));
                pong.expect("packet should be within the limit");
            }
            let answer = pong.take_bytes();
            for pieces in cuts(&sequence.bytes(form)) {
                let mut connection = match role {
                    Role::Client => {
                        Connection::client(&ClientConfig::default().common(common.clone()).header_form(form), now)
                    }
                    Role::Server => Connection::server(
                        &ServerConfig::default().common(common.clone()).operations(Some(served())),
                        now,
                    ),
                };
                let mut events = Vec::new();
                for piece in &pieces {
                    let mut input = piece.clone();
                    while let Some(event) =
                        connection.poll_event(&mut input, now).expect("captured frames should be valid")
                    {
                        events.extend(as_packet(event));
                    }
                    connection.handle_read(piece.len(), now);
                }
                assert_eq!(events, expected, "{} in {:?}", sequence.name, lengths(&pieces));
                assert!(!connection.is_mid_packet());
                assert_eq!(connection.sends(), Some(form));
                // At most one PONG is queued, however many PINGs have arrived.
                assert_eq!(connection.outbox().take_bytes(), answer, "{} in {:?}", sequence.name, lengths(&pieces));
            }
        }
    }
}

#[test]
fn stream_open_encodes_operation_as_u16() {
    for (operation, bytes) in &corpus().stream_opens {
        let mut body = Vec::new();
        Encoder::new(&mut body).u16(*operation);
        assert_eq!(body, *bytes, "{operation}");
        assert_eq!(polyglot::Decoder::new(bytes).u16().expect("body should start with an operation"), *operation);
        for end in 0..bytes.len() {
            // The bytes `09 80` crash a Go server.
            assert!(polyglot::Decoder::new(&bytes[..end]).u16().is_err(), "{operation} cut to {end} bytes");
        }
    }
    assert_eq!(corpus().stream_opens.len(), 8);
}

/// Kind of a body that was captured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Content {
    Nothing,
    StreamOpen,
    Nil,
    Message,
    Error,
    End,
}

#[test]
fn captured_bodies_reencode_to_same_bytes() {
    let mut contents = Vec::new();
    for sequence in sequences() {
        if sequence.name == ALL {
            continue;
        }
        let opens = sequence.opened_stream();
        for (at, packet) in sequence.packets().into_iter().enumerate() {
            let operation = match (packet.operation, &opens) {
                (Operation::STREAM, Some((opened, body))) => {
                    if sequence.from == Sender::Client && at == 0 {
                        assert_eq!(packet.body, *body, "{}", sequence.name);
                        contents.push(Content::StreamOpen);
                        continue;
                    }
                    *opened
                }
                (operation, _) => operation.number(),
            };
            contents.push(content(&sequence, operation, &packet.body));
        }
    }
    let count = |content| contents.iter().filter(|found| **found == content).count();
    assert_eq!(count(Content::Nothing), 9, "eight PINGs and PONGs, one close");
    assert_eq!(count(Content::StreamOpen), 5);
    assert_eq!(count(Content::Nil), 1);
    assert_eq!(count(Content::Error), 2);
    assert_eq!(count(Content::End), 7);
    assert_eq!(count(Content::Message), 25);
    assert_eq!(contents.len(), 49);
}

/// Decodes a body as a message of its method, and encodes it again.
fn content(sequence: &Sequence, operation: u16, body: &Bytes) -> Content {
    if body.is_empty() {
        return Content::Nothing;
    }
    let (request, reply) = match operation {
        15 => ("interop.Empty", "interop.Empty"),
        16 => ("interop.Text", "interop.Text"),
        18 => ("interop.AddRequest", "interop.Sum"),
        21 => ("interop.Range", "interop.Count"),
        22 => ("interop.Count", "interop.Sum"),
        23 => ("interop.Text", "interop.Text"),
        other => panic!("operation {other} is in no capture"),
    };
    let message = match sequence.from {
        Sender::Client => request,
        Sender::Server => reply,
    };
    let root = (Type::named(message).decode)(body);
    match root.unwrap_or_else(|error| panic!("{}: {error}", sequence.name)) {
        Root::Message(_) if body[..] == [0] => Content::Nil,
        Root::Message(message) => {
            assert_eq!(message.encode(), body[..], "{}", sequence.name);
            Content::Message
        }
        Root::Error(text) => {
            let mut again = Vec::new();
            Encoder::new(&mut again).error(&text).expect("error text should fit");
            assert_eq!(again, body[..], "{}", sequence.name);
            if text == "EOF" { Content::End } else { Content::Error }
        }
    }
}

/// Name of the sequence with all frames of a sender.
const ALL: &str = "all";

/// The frames that one end has sent on a connection.
struct Sequence {
    name: &'static str,
    from: Sender,
    frames: Vec<&'static CapturedFrame>,
}

/// Returns the frames of each end, for each scenario and for all scenarios together.
fn sequences() -> Vec<Sequence> {
    let mut sequences: Vec<Sequence> = Vec::new();
    for frame in &corpus().frames {
        for name in [&*frame.scenario, ALL] {
            let existing = sequences.iter_mut().find(|sequence| sequence.name == name && sequence.from == frame.from);
            match existing {
                Some(sequence) => sequence.frames.push(frame),
                None => sequences.push(Sequence { name, from: frame.from, frames: vec![frame] }),
            }
        }
    }
    assert_eq!(sequences.len(), 2 * (10 + 1), "both ends of ten scenarios");
    sequences
}

impl Sequence {
    fn packets(&self) -> Vec<Packet> {
        self.frames.iter().map(|frame| packet(frame)).collect()
    }

    fn bytes(&self, form: HeaderForm) -> Bytes {
        self.frames.iter().flat_map(|frame| bytes_in(form, frame)).copied().collect()
    }

    /// Returns the offsets at which packets end.
    fn boundaries(&self, form: HeaderForm) -> Vec<usize> {
        let ends = self.frames.iter().scan(0, |end, frame| {
            *end += bytes_in(form, frame).len();
            Some(*end)
        });
        ends.collect()
    }

    /// Returns the id of the stream in the scenario, and the body that opens it.
    fn opened_stream(&self) -> Option<(u16, Vec<u8>)> {
        let of_scenario = corpus().frames.iter().find(|frame| frame.scenario == self.name)?;
        let body = of_scenario.bytes[10..].to_owned();
        if of_scenario.operation != Operation::STREAM.number() {
            return None;
        }
        let operation = polyglot::Decoder::new(&body).u16().expect("first packet of a stream should name its method");
        Some((operation, body))
    }
}

fn packet(frame: &CapturedFrame) -> Packet {
    let operation = match frame.operation {
        0 => Operation::PING,
        1 => Operation::PONG,
        2 => Operation::STREAM,
        other => Operation::user(other).expect("operation number should be in the user range"),
    };
    Packet::new(PacketId(frame.id), operation, frame.bytes[10..].to_owned())
}

/// Returns a frame as it was captured, or without the magic number. Peers up to frisbee-go v0.10.2 send it without.
fn bytes_in(form: HeaderForm, frame: &CapturedFrame) -> &[u8] {
    match form {
        HeaderForm::Current => &frame.bytes,
        HeaderForm::Old => &frame.bytes[2..],
    }
}

/// Returns the packet of an event. The first packet of a Go peer also produces an event about its kind, which has no
/// packet.
fn as_packet(event: Event) -> Option<Packet> {
    match event {
        Event::Packet(packet) => Some(packet),
        Event::PeerKnown | Event::Nothing => None,
        Event::Control(packet) => panic!("a Go peer has nothing to say by {:?}", packet.operation),
        Event::HandOff(event) => panic!("a Go peer knows no hand-off: {event:?}"),
    }
}

/// Returns all packets that are complete after a piece of input.
fn read(decoder: &mut Decoder, mut piece: Bytes) -> Result<Vec<Packet>, ProtocolError> {
    let mut packets = Vec::new();
    while let Some(packet) = decoder.next(&mut piece)? {
        packets.push(packet);
    }
    assert!(piece.is_empty(), "decoder should use up its input before it requests more");
    Ok(packets)
}

/// Maximum length in bytes of sequences that are also cut at every pair of offsets. The number of pairs grows
/// quadratically.
const CUT_TWICE_MAX: usize = 128;

/// Returns the bytes in pieces, in several ways: whole, cut at every offset, cut at every pair of offsets, and as
/// single bytes.
fn cuts(bytes: &Bytes) -> Vec<Vec<Bytes>> {
    let mut cuts = vec![vec![bytes.clone()], bytes.chunks(1).map(Bytes::copy_from_slice).collect()];
    for first in 1..bytes.len() {
        cuts.push(vec![bytes.slice(..first), bytes.slice(first..)]);
        if bytes.len() > CUT_TWICE_MAX {
            continue;
        }
        for second in first + 1..bytes.len() {
            cuts.push(vec![bytes.slice(..first), bytes.slice(first..second), bytes.slice(second..)]);
        }
    }
    cuts
}

fn lengths(pieces: &[Bytes]) -> Vec<usize> {
    pieces.iter().map(Bytes::len).collect()
}
