//! Tests of hand-offs in virtual time: scripted ones, and ten thousand random races with fixed seeds.

use bytes::{Bytes, BytesMut};
use frisbee_core::{
    CloseReason, Connection, Event, HandOffAnswer, HandOffEvent, Operation, PacketId, ProtocolError, Role,
};
use std::io::IoSlice;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
const GATEWAY: Operation = Operation::FIRST_USER;

fn connection(role: Role, now: Instant) -> Connection {
    match role {
        Role::Client => Connection::client(&Default::default(), now),
        Role::Server => Connection::server(&Default::default(), now),
    }
}

struct End {
    core: Connection,
    inbox: BytesMut,
    events: Vec<Event>,
}

impl End {
    fn new(role: Role, now: Instant) -> Self {
        Self { core: connection(role, now), inbox: BytesMut::new(), events: Vec::new() }
    }

    /// Reads up to `count` bytes of the input. Bytes that follow a hand-off remain in the inbox.
    fn read(&mut self, count: usize, now: Instant) -> Result<(), CloseReason> {
        if self.core.has_left() {
            return Ok(());
        }
        let rest = self.inbox.split_off(count.min(self.inbox.len()));
        let mut input = std::mem::replace(&mut self.inbox, rest).freeze();
        let read = input.len();
        while let Some(event) = self.core.poll_event(&mut input, now)? {
            self.events.extend(Some(event).filter(|event| *event != Event::Nothing));
        }
        assert!(input.is_empty() || self.core.has_left(), "only a connection that was left leaves input");
        self.core.handle_read(read - input.len(), now);
        self.inbox = BytesMut::from_iter(input.iter().chain(&self.inbox).copied());
        Ok(())
    }

    /// Writes up to `count` bytes to the other end.
    fn write(&mut self, to: &mut Self, count: usize, now: Instant) {
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = self.core.transmit().slices(&mut slices, usize::MAX);
        let bytes: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.iter().copied()).take(count).collect();
        to.inbox.extend_from_slice(&bytes);
        self.core.handle_written(bytes.len(), now);
    }

    /// Appends bytes that the new owner of the connection sends after the hand-off.
    fn write_raw(&mut self, to: &mut Self, bytes: &[u8]) {
        assert!(self.core.is_handed_off(), "only the new owner should send raw bytes");
        to.inbox.extend_from_slice(bytes);
    }

    fn waits(&mut self) -> bool {
        !self.core.transmit().is_empty()
    }
}

/// Returns two connected ends that have exchanged HELLO.
fn pair(now: Instant) -> (End, End) {
    let (mut client, mut server) = (End::new(Role::Client, now), End::new(Role::Server, now));
    for _ in 0..2 {
        client.write(&mut server, usize::MAX, now);
        server.read(usize::MAX, now).unwrap();
        server.write(&mut client, usize::MAX, now);
        client.read(usize::MAX, now).unwrap();
    }
    assert_eq!((client.events.len(), server.events.len()), (1, 1), "each end should receive one reply");
    client.events.clear();
    server.events.clear();
    (client, server)
}

fn requested(body: &'static [u8]) -> Event {
    Event::HandOff(HandOffEvent::Requested { operation: GATEWAY, body: Bytes::from_static(body) })
}

fn answered(answer: HandOffAnswer, body: &'static [u8]) -> Event {
    Event::HandOff(HandOffEvent::Answered { answer, body: Bytes::from_static(body) })
}

/// Returns a connected pair. The client has sent a hand-off request, and the server has received it.
fn requested_pair(now: Instant) -> (End, End) {
    let (mut client, mut server) = pair(now);
    client.core.request_hand_off(GATEWAY, &Bytes::from_static(b"please"), now).unwrap();
    client.write(&mut server, usize::MAX, now);
    server.read(usize::MAX, now).unwrap();
    assert_eq!(std::mem::take(&mut server.events), [requested(b"please")]);
    (client, server)
}

#[test]
fn hand_off_bytes_match_document() {
    let now = Instant::now();
    let (mut client, mut server) = pair(now);
    client.core.request_hand_off(Operation::user(300).unwrap(), &Bytes::from_static(b"me"), now).unwrap();
    client.write(&mut server, usize::MAX, now);
    assert_eq!(server.inbox[..], [0, 0x0F, 0, 0, 0, 8, 0, 0, 0, 4, 0xAC, 0x02, b'm', b'e']);
    server.read(usize::MAX, now).unwrap();
    server.core.answer_hand_off(HandOffAnswer::Accepted, &Bytes::from_static(b"ok"), now).unwrap();
    server.write(&mut client, usize::MAX, now);
    assert_eq!(client.inbox[..], [0, 0x0F, 0, 0, 0, 8, 0, 0, 0, 3, 1, b'o', b'k']);
}

#[test]
fn bytes_after_reply_go_to_new_owner() {
    let now = Instant::now();
    let raw: Vec<u8> = (0..=255).cycle().take(1_000).collect();
    let length = 13 + raw.len();
    for cut in 0..length {
        let (mut client, mut server) = requested_pair(now);
        server.core.answer_hand_off(HandOffAnswer::Accepted, &Bytes::from_static(b"ok"), now).unwrap();
        server.write(&mut client, usize::MAX, now);
        server.write_raw(&mut client, &raw);
        client.read(cut, now).unwrap();
        client.read(usize::MAX, now).unwrap();
        assert_eq!(client.events, [answered(HandOffAnswer::Accepted, b"ok")], "cut at {cut}");
        assert!(client.core.is_handed_off());
        assert_eq!(client.inbox, raw, "cut at {cut}");
    }
}

#[test]
fn pending_hand_off_blocks_client_sends() {
    let now = Instant::now();
    let (mut client, mut server) = pair(now);
    client.core.outbox().push(PacketId(1), GATEWAY, Bytes::from_static(b"before")).unwrap();
    client.core.request_hand_off(GATEWAY, &Bytes::new(), now).unwrap();
    client.core.outbox().push(PacketId(2), GATEWAY, Bytes::from_static(b"behind")).unwrap();
    client.write(&mut server, usize::MAX, now);
    // A PING and a packet that requires a reply are in transit together with the request.
    server.core.handle_timeout(now + 3 * SECOND).unwrap();
    server.core.outbox().push(PacketId(9), GATEWAY, Bytes::from_static(b"crossing")).unwrap();
    server.write(&mut client, usize::MAX, now);
    client.read(usize::MAX, now).unwrap();
    assert!(matches!(&client.events[..], [Event::Packet(packet)] if packet.body == "crossing"));
    client.core.outbox().push(PacketId(9), GATEWAY, Bytes::from_static(b"answer")).unwrap();
    assert!(!client.waits(), "client should send neither PONG nor packets");
    client.core.handle_timeout(now + 29 * SECOND).unwrap();
    assert!(!client.waits(), "client should send no PING, and silence should not close the connection");

    server.read(usize::MAX, now).unwrap();
    server.core.answer_hand_off(HandOffAnswer::Refused, &Bytes::from_static(b"no"), now).unwrap();
    server.write(&mut client, usize::MAX, now);
    client.read(usize::MAX, now).unwrap();
    assert_eq!(client.events[1..], [answered(HandOffAnswer::Refused, b"no")]);
    client.write(&mut server, usize::MAX, now);
    server.events.clear();
    server.read(usize::MAX, now).unwrap();
    let bodies = server.events.iter().map(|event| match event {
        Event::Packet(packet) => packet.body.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(bodies.collect::<Vec<_>>(), ["behind", "answer"]);
}

#[test]
fn ping_crossing_hand_off_is_not_answered() {
    let now = Instant::now();
    for answer in [HandOffAnswer::Refused, HandOffAnswer::Accepted] {
        let (mut client, mut server) = pair(now);
        client.core.request_hand_off(GATEWAY, &Bytes::new(), now).unwrap();
        server.core.handle_timeout(now + 3 * SECOND).unwrap();
        assert!(server.waits(), "server should send a PING");
        server.write(&mut client, usize::MAX, now);
        client.read(usize::MAX, now).unwrap();
        client.write(&mut server, usize::MAX, now);
        server.read(usize::MAX, now).unwrap();
        server.core.answer_hand_off(answer, &Bytes::new(), now).unwrap();
        server.write(&mut client, usize::MAX, now);
        client.read(usize::MAX, now).unwrap();
        // The client must not reply to the PING. The PONG would arrive after the hand-off reply: as a stray packet
        // after a refusal, or among the bytes of the new owner after an acceptance.
        client.write(&mut server, usize::MAX, now);
        assert!(server.inbox.is_empty(), "{answer:?}: {:?}", server.inbox);
        assert!(client.core.outbox().is_empty(), "{answer:?}");
    }
}

#[test]
fn hand_off_times_out_after_thirty_seconds() {
    let now = Instant::now();
    let (mut client, mut server) = requested_pair(now);
    for end in [&mut client, &mut server] {
        assert_eq!(end.core.next_timeout(), Some(now + 30 * SECOND));
        end.core.handle_timeout(now + 30 * SECOND - Duration::from_millis(1)).unwrap();
        assert!(!end.waits(), "connection should have no hand-off request");
        let over = end.core.handle_timeout(now + 30 * SECOND).unwrap_err();
        assert!(matches!(over, CloseReason::HandOffTimeout), "{over}");
    }
}

#[test]
fn packet_before_answer_is_violation() {
    let now = Instant::now();
    let (_, mut server) = requested_pair(now);
    server.inbox.extend_from_slice(&[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 0]);
    let over = server.read(usize::MAX, now).unwrap_err();
    assert!(matches!(over, CloseReason::Protocol(ProtocolError::HandOff)), "{over}");
}

/// A CANCEL packet for the hand-off operation [`GATEWAY`].
const CANCEL: [u8; 11] = [0, 0x0F, 0, 0, 0, 6, 0, 0, 0, 1, 10];

#[test]
fn cancelled_hand_off_is_still_answered() {
    let now = Instant::now();
    for answer in [HandOffAnswer::Refused, HandOffAnswer::Accepted] {
        let (mut client, mut server) = requested_pair(now);
        client.core.outbox().push(PacketId(2), GATEWAY, Bytes::from_static(b"behind")).unwrap();
        client.core.give_up_hand_off(GATEWAY);
        client.core.give_up_hand_off(GATEWAY);
        client.write(&mut server, usize::MAX, now);
        assert_eq!(server.inbox[..], CANCEL, "server should receive one CANCEL and nothing else before the reply");
        server.read(usize::MAX, now).unwrap();
        assert_eq!(std::mem::take(&mut server.events), [Event::HandOff(HandOffEvent::Abandoned)]);
        server.core.answer_hand_off(answer, &Bytes::new(), now).unwrap();
        server.write(&mut client, usize::MAX, now);
        client.read(usize::MAX, now).unwrap();
        assert_eq!(client.events, [answered(answer, b"")]);
        assert_eq!(client.core.is_handed_off(), answer == HandOffAnswer::Accepted);
    }
    let (_, mut server) = requested_pair(now);
    server.inbox.extend_from_slice(&[CANCEL, CANCEL].concat());
    let over = server.read(usize::MAX, now).unwrap_err();
    assert!(
        matches!(over, CloseReason::Protocol(ProtocolError::HandOff)),
        "second hand-off request should be an error: {over}"
    );
}

#[test]
fn partly_written_cancel_is_completed_first() {
    let now = Instant::now();
    for cut in 0..CANCEL.len() {
        let (mut client, mut server) = requested_pair(now);
        client.core.give_up_hand_off(GATEWAY);
        client.core.outbox().push(PacketId(2), GATEWAY, Bytes::from_static(b"behind")).unwrap();
        server.core.answer_hand_off(HandOffAnswer::Refused, &Bytes::new(), now).unwrap();
        client.write(&mut server, cut, now);
        server.write(&mut client, usize::MAX, now);
        client.read(usize::MAX, now).unwrap();
        client.write(&mut server, usize::MAX, now);
        server.read(usize::MAX, now).unwrap();
        assert!(
            matches!(&server.events[..], [Event::Control(cancel), Event::Packet(packet)]
                if cancel.operation == Operation::CANCEL && packet.body == "behind"),
            "cut at {cut}: {:?}",
            server.events
        );
    }
}

#[test]
fn cancel_is_not_sent_without_support() {
    let now = Instant::now();
    let mut client = End::new(Role::Client, now);
    // The HELLO of the server has no items.
    client.inbox.extend_from_slice(&[0, 0x0F, 0, 0, 0, 3, 0, 0, 0, 5, b'f', b'r', b'i', b's', 1]);
    client.read(usize::MAX, now).unwrap();
    client.core.request_hand_off(GATEWAY, &Bytes::new(), now).unwrap();
    client.core.give_up_hand_off(GATEWAY);
    let mut server = End::new(Role::Server, now);
    client.write(&mut server, usize::MAX, now);
    assert!(!server.inbox.windows(CANCEL.len()).any(|bytes| bytes == CANCEL));
}

#[test]
fn throttled_peer_is_resumed_during_hand_off() {
    let now = Instant::now();
    let (mut client, _) = requested_pair(now);
    client.core.charge_abuse(4 << 20);
    client.core.handle_read(4 << 20, now);
    assert!(client.core.is_resting());
    let due = client.core.next_timeout().expect("client should have a deadline during a hand-off");
    assert!(due <= now + Duration::from_secs(2));
    client.core.handle_timeout(due).expect("client should not time out during a hand-off");
    assert!(!client.core.is_resting());
}

#[test]
fn unexpected_or_malformed_answer_is_violation() {
    let now = Instant::now();
    let (mut client, _) = pair(now);
    client.inbox.extend_from_slice(&[0, 0x0F, 0, 0, 0, 8, 0, 0, 0, 1, 1]);
    let over = client.read(usize::MAX, now).unwrap_err();
    assert!(matches!(over, CloseReason::Protocol(ProtocolError::HandOff)), "{over}");

    for content in [&[][..], &[4], &[0xFF, 0xFF, 0xFF, 0xFF]] {
        let (mut client, mut server) = requested_pair(now);
        let mut packet = vec![0, 0x0F, 0, 0, 0, 8, 0, 0, 0, content.len() as u8];
        packet.extend_from_slice(content);
        client.inbox.extend_from_slice(&packet);
        let malformed = ProtocolError::Malformed(Operation::HAND_OFF);
        let over = client.read(usize::MAX, now).unwrap_err();
        assert!(matches!(&over, CloseReason::Protocol(error) if *error == malformed), "{over}");
        server.core.answer_hand_off(HandOffAnswer::Refused, &Bytes::new(), now).unwrap();
        server.inbox.extend_from_slice(&packet);
        let over = server.read(usize::MAX, now).unwrap_err();
        assert!(matches!(&over, CloseReason::Protocol(error) if *error == malformed), "{over}");
    }
}

#[test]
fn answer_before_its_request_is_violation() {
    let now = Instant::now();
    let granted = [0, 0x0F, 0, 0, 0, 8, 0, 0, 0, 1, 1];
    for written in [0, 1, 10, 16, 17] {
        let (mut client, mut server) = pair(now);
        client.core.request_hand_off(GATEWAY, &Bytes::from_static(b"please"), now).unwrap();
        client.write(&mut server, written, now);
        client.inbox.extend_from_slice(&granted);
        let read = client.read(usize::MAX, now);
        if written == 17 {
            read.unwrap();
            assert_eq!(client.events, [answered(HandOffAnswer::Accepted, b"")]);
        } else {
            let over = read.unwrap_err();
            assert!(
                matches!(over, CloseReason::Protocol(ProtocolError::HandOff)),
                "packet after {written} bytes should be an error: {over}"
            );
        }
    }
}

#[test]
fn go_peer_hand_off_request_is_skipped() {
    let now = Instant::now();
    let mut server = End::new(Role::Server, now);
    server.inbox.extend_from_slice(&[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 0, 0, 0x0F, 0, 0, 0, 8, 0, 0, 0, 1, 10]);
    server.read(usize::MAX, now).unwrap();
    assert!(matches!(&server.events[..], [Event::PeerKnown, Event::Packet(_)]));
}

#[test]
fn hand_off_may_follow_first_packet() {
    let now = Instant::now();
    let mut server = Connection::server(&Default::default(), now);
    let mut input = Bytes::from_static(&[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 0, b'r', b'a', b'w']);
    assert_eq!(server.poll_event(&mut input, now), Ok(Some(Event::PeerKnown)));
    assert!(server.holds_packet() && !server.leave());
    assert!(matches!(server.poll_event(&mut input, now), Ok(Some(Event::Packet(_)))));
    assert!(!server.holds_packet() && server.leave());
    assert_eq!(server.poll_event(&mut input, now), Ok(None));
    assert_eq!(input, "raw");
}

#[test]
fn partly_read_header_prevents_leaving_connection() {
    let now = Instant::now();
    let mut unread = connection(Role::Server, now);
    assert!(unread.leave_unread() && unread.has_left() && unread.is_handed_off());
    assert!(!unread.leave_unread(), "connection should be left only once");
    for come in [1, 2, 10, 11] {
        let mut server = connection(Role::Server, now);
        let mut input = Bytes::from_static(&[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 2, 7]).slice(..come);
        assert_eq!(server.poll_event(&mut input, now), Ok(None));
        assert!(
            !server.leave_unread() && !server.has_left(),
            "connection should not be left after {come} bytes have arrived"
        );
    }
}

#[test]
#[should_panic = "only from a native peer"]
fn hand_off_request_to_unknown_peer_panics() {
    let now = Instant::now();
    let _ = connection(Role::Client, now).request_hand_off(GATEWAY, &Bytes::new(), now);
}

#[test]
#[should_panic = "only a client may request a hand-off"]
fn hand_off_request_by_server_panics() {
    let now = Instant::now();
    let (_client, mut server) = pair(now);
    let _ = server.core.request_hand_off(GATEWAY, &Bytes::new(), now);
}

#[test]
#[should_panic = "one at a time"]
fn asking_twice_for_connection_panics() {
    let now = Instant::now();
    let (mut client, _server) = requested_pair(now);
    assert!(
        !client.waits() && !client.core.is_handed_off(),
        "hand-off should wait for the reply after the request was written"
    );
    let _ = client.core.request_hand_off(GATEWAY, &Bytes::new(), now);
}

#[test]
fn connection_is_left_only_between_packets() {
    let now = Instant::now();
    let (mut client, mut server) = pair(now);
    client.core.outbox().push(PacketId(1), GATEWAY, Bytes::from_static(b"the last packet")).unwrap();
    client.write(&mut server, 12, now);
    server.read(usize::MAX, now).unwrap();
    assert!(!server.core.leave());
    client.write(&mut server, usize::MAX, now);
    assert!(client.core.leave());
    client.write_raw(&mut server, b"raw");
    server.read(13, now).unwrap();
    assert!(server.core.leave());
    assert_eq!(server.inbox, "raw");
}

/// Returns the bytes that the new owner of the client's or the server's transport sends after the hand-off.
fn raw_of(role: Role) -> Vec<u8> {
    let first = if role == Role::Client { 1 } else { 101 };
    // Start with a valid packet header, so that a core that still parses these bytes is detected.
    [&[0, 0x0F, 0, first, 0, 1, 0, 0, 0, 0], vec![first; 50].as_slice()].concat()
}

/// Simulates one random race between calls, PINGs, packets of the server, a hand-off, its reply and closes. The wire
/// may split its bytes anywhere. Returns the outcome of the race.
fn race(seed: u64) -> &'static str {
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut now = Instant::now();
    let (mut client, mut server) = pair(now);
    let (mut has_requested, mut answer, mut calls, mut answers, mut refusals) = (false, None, 0_u16, 0_u16, 0);
    let mut raw_written = [false; 2];
    let mut abandoned = false;
    for step in 0..400 {
        match dice.u8(0..13) {
            0 if !has_requested || answer.is_some() => {
                calls += 1;
                client.core.outbox().push(PacketId(calls), GATEWAY, Bytes::from(vec![7; dice.usize(0..300)])).unwrap();
            }
            1 => {
                server.core.outbox().push(PacketId(0), GATEWAY, Bytes::from_static(b"news")).unwrap();
            }
            2 => now += Duration::from_millis(dice.u64(0..900)),
            3 if !has_requested && dice.u8(0..8) == 0 => {
                client.core.request_hand_off(GATEWAY, &Bytes::from(vec![1; dice.usize(0..100)]), now).unwrap();
                // From here on, the client queues its calls.
                (has_requested, abandoned) = (true, false);
            }
            4 | 5 => client.write(&mut server, dice.usize(0..120), now),
            6 | 7 => server.write(&mut client, dice.usize(0..120), now),
            8 if server.events.iter().any(|event| matches!(event, Event::HandOff(_))) => {
                server.events.clear();
                // Refuse if a packet is partially received, because it can only be a CANCEL.
                let accepts = dice.u8(0..4) == 0 && !server.core.is_mid_packet();
                let chosen = if accepts { HandOffAnswer::Accepted } else { HandOffAnswer::Refused };
                let body = Bytes::from(vec![2; dice.usize(0..100)]);
                server.core.answer_hand_off(chosen, &body, now).unwrap();
                answer = Some(chosen);
            }
            9 if dice.u8(0..200) == 0 => return "closed",
            10 if server.core.is_handed_off() && !raw_written[1] => {
                server.write_raw(&mut client, &raw_of(Role::Server));
                raw_written[1] = true;
            }
            11 if client.core.is_handed_off() && !raw_written[0] && !abandoned => {
                client.write_raw(&mut server, &raw_of(Role::Client));
                raw_written[0] = true;
            }
            12 if has_requested && !abandoned && dice.u8(0..4) == 0 => {
                client.core.give_up_hand_off(GATEWAY);
                abandoned = !client.core.has_left();
            }
            _ => {}
        }
        let count = dice.usize(0..150);
        let mut over = None;
        for end in [&mut client, &mut server] {
            over = over.or(end.read(count, now).and(end.core.handle_timeout(now)).err());
        }
        if let Some(over) = over {
            let is_time =
                matches!(over, CloseReason::IdleTimeout | CloseReason::WriteTimeout { .. } | CloseReason::TooSlow);
            assert!(is_time || matches!(over, CloseReason::HandOffTimeout), "seed {seed}, step {step}: {over}");
            return "timed out";
        }
        // The server replies to each call immediately.
        server.events.retain(|event| match event {
            Event::Packet(packet) => {
                server.core.outbox().push(packet.id, GATEWAY, Bytes::new()).unwrap();
                false
            }
            _ => true,
        });
        for event in client.events.drain(..) {
            match event {
                Event::Packet(packet) if packet.id.0 > 0 => answers += 1,
                Event::HandOff(HandOffEvent::Answered { answer: HandOffAnswer::Refused, .. }) => {
                    (has_requested, answer) = (false, None);
                    refusals += 1;
                }
                _ => {}
            }
        }
    }
    // Deliver the remaining bytes, because every byte arrives eventually.
    for _ in 0..4 {
        client.write(&mut server, usize::MAX, now);
        server.read(usize::MAX, now).unwrap();
        for event in std::mem::take(&mut server.events) {
            match event {
                Event::Packet(packet) => server.core.outbox().push(packet.id, GATEWAY, Bytes::new()).unwrap(),
                Event::HandOff(HandOffEvent::Requested { .. }) => {
                    let answer = if abandoned { HandOffAnswer::Refused } else { HandOffAnswer::Accepted };
                    server.core.answer_hand_off(answer, &Bytes::new(), now).unwrap();
                }
                _ => {}
            }
        }
        server.write(&mut client, usize::MAX, now);
        client.read(usize::MAX, now).unwrap();
        answers +=
            client.events.drain(..).filter(|event| matches!(event, Event::Packet(packet) if packet.id.0 > 0)).count()
                as u16;
    }
    if client.core.has_left() {
        for (at, end) in [&mut client, &mut server].into_iter().enumerate() {
            assert!(end.core.is_handed_off(), "seed {seed}: both ends should be handed off");
            let raw = raw_of(if at == 0 { Role::Server } else { Role::Client });
            let expected = if raw_written[1 - at] { &raw[..] } else { &[] };
            if at == 1 && abandoned && end.inbox == CANCEL[..] {
                continue; // The CANCEL was sent before the reply arrived, and nothing follows it.
            }
            assert_eq!(end.inbox, expected, "seed {seed}: all bytes should arrive unchanged");
        }
        return "handed off";
    }
    assert!(!server.core.has_left(), "seed {seed}: one end is handed off alone");
    assert_eq!(answers, calls, "seed {seed}: each call should have a reply");
    if refusals > 0 { "refused" } else { "no request" }
}

#[test]
fn ten_thousand_races_end_in_good_order() {
    let mut ended = std::collections::BTreeMap::new();
    for seed in 0..10_000 {
        *ended.entry(race(seed)).or_insert(0) += 1;
    }
    for way in ["closed", "handed off", "refused", "timed out"] {
        assert!(ended.get(way).is_some_and(|times| *times > 100), "{ended:?}");
    }
}
