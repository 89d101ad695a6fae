//! Tests of HELLO, and of the detection of a peer's kind.

use super::*;

#[test]
fn native_peers_exchange_hello_limits() {
    let now = Instant::now();
    let mut client = Connection::client(&Config::default().calls_max(7).into(), now);
    let mut server = Connection::server(&Config::default().streams_max(8).into(), now);
    assert_eq!(client.peer(), &PeerKind::Unknown);
    assert_eq!(exchange(&mut client, &mut server, now), [Event::PeerKnown]);
    assert_eq!(server.peer().hello().map(|hello| hello.calls_max), Some(7));
    assert_eq!(exchange(&mut server, &mut client, now), [Event::PeerKnown]);
    assert_eq!(client.peer().hello().map(|hello| hello.streams_max), Some(8));
    client.outbox().push(PacketId(3), Operation::CANCEL, Bytes::from_static(&[10])).unwrap();
    assert!(matches!(&exchange(&mut client, &mut server, now)[..], [Event::Control(packet)] if packet.id.0 == 3));
}

/// Tests both header formats, because a receiver detects them differently: an old header has no magic number and is
/// recognized by its fields.
#[test]
fn hello_may_exceed_receiver_body_limit() {
    let now = Instant::now();
    for header_form in [HeaderForm::Current, HeaderForm::Old] {
        let hello_items = HelloItems::from_iter([(Hello::FIRST_USER_ITEM, vec![1; Hello::ITEMS_MAX - 4].into())]);
        let common = Config::default().body_max(10);
        let config = ClientConfig::default().common(common.clone()).hello_items(hello_items.clone());
        let config = config.header_form(header_form);
        let mut client = Connection::client(&config, now);
        let config = ServerConfig::default().common(common).hello_items(hello_items);
        let mut server = Connection::server(&config, now);
        assert_eq!(exchange(&mut client, &mut server, now), [Event::PeerKnown]);
        assert_eq!(exchange(&mut server, &mut client, now), [Event::PeerKnown]);
        let mut say = |length| {
            let sent = client.outbox().push(PacketId(3), Operation::STREAM, vec![1; length]);
            sent.map(|()| exchange(&mut client, &mut server, now)).map_err(|error| error.limit)
        };
        assert!(matches!(&say(BODY_MAX_LEAST as usize).unwrap()[..], [Event::Packet(_)]));
        assert_eq!(say(BODY_MAX_LEAST as usize + 1), Err(BODY_MAX_LEAST));
        let sent_all_the_same: &[u8] = match header_form {
            HeaderForm::Current => &[0, 0x0F, 0, 3, 0, 2, 0, 0, 4, 1],
            HeaderForm::Old => &[0, 3, 0, 2, 0, 0, 4, 1],
        };
        let refused = server.poll_event(&mut Bytes::from_static(sent_all_the_same), now);
        assert_eq!(refused, Err(ProtocolError::TooLong { length: 1025, limit: BODY_MAX_LEAST }));
    }
}

/// Regression test: a server that was short of memory did not reply to HELLO if its own was longer than 1 KiB. Its
/// clients then treated it as a server without the protocol extension.
#[test]
fn long_hello_is_sent_despite_memory_shortage() {
    let now = Instant::now();
    let hello_items = HelloItems::from_iter([(Hello::FIRST_USER_ITEM, vec![1; 2_000].into())]);
    let mut client = Connection::client(&Default::default(), now);
    let mut server = Connection::server(&ServerConfig::default().hello_items(hello_items), now);
    server.outbox().set_room(Some(1024));
    assert_eq!(exchange(&mut client, &mut server, now), [Event::PeerKnown]);
    assert_eq!(exchange(&mut server, &mut client, now), [Event::PeerKnown]);
    assert!(client.peer().hello().is_some_and(|hello| hello.items_len() > 2_000));
    assert!(server.outbox().push(PacketId(1), Operation::FIRST_USER, vec![0; 1025]).is_err());
}

#[test]
fn both_ends_send_hello_first() {
    let now = Instant::now();
    let mut client = Connection::client(&Default::default(), now);
    let bytes = client.outbox().take_bytes();
    assert_eq!(bytes[..10], [0, 15, 0, 0, 0, 3, 0, 0, 0, 32]);
    assert_eq!(bytes[42..], [0, 15, 0, 1, 0, 0, 0, 0, 0, 0]);
    let mut server = server(now);
    feed(&mut server, &bytes, now).unwrap();
    let answer = server.outbox().take_bytes();
    assert_eq!(answer[..10], [0, 15, 0, 0, 0, 3, 0, 0, 0, 32]);
    assert_eq!(answer[42..], PONG[..]);
}

/// The server must send HELLO first, because its timers or handles may queue packets as soon as sending is possible.
#[test]
fn server_sends_hello_first_at_every_split() {
    let start = Instant::now();
    for header_form in [HeaderForm::Current, HeaderForm::Old] {
        let wire = Connection::client(&ClientConfig::default().header_form(header_form), start).outbox().take_bytes();
        let hello_len = wire.len() - header_form.size(); // Followed by a PING.
        for cut in 0..=wire.len() {
            let mut server = server(start);
            let later = start + 3 * SECOND;
            feed(&mut server, &wire[..cut], start).unwrap();
            server.handle_timeout(later).unwrap();
            if cut < hello_len {
                assert_eq!((server.sends(), server.outbox().len()), (None, 0), "{header_form:?}, cut at {cut}");
            }
            feed(&mut server, &wire[cut..], later).unwrap();
            let sent = server.outbox().take_bytes();
            let hello: &[u8] = if header_form == HeaderForm::Old { &[0, 0, 0, 3] } else { &[0, 0x0F, 0, 0, 0, 3] };
            assert_eq!(sent[..hello.len()], *hello, "{header_form:?}, cut at {cut}");
            assert_eq!(server.sends(), Some(header_form));
        }
    }
}

#[test]
fn server_may_send_during_first_go_packet() {
    let now = Instant::now();
    let mut server = server(now);
    feed(&mut server, &[0, 0x0F, 0, 1, 0, 10, 0, 0, 1, 0], now).unwrap();
    assert_eq!(server.sends(), Some(HeaderForm::Current));
    let mut server = self::server(now);
    feed(&mut server, PING, now).unwrap();
    feed(&mut server, &[0, 0x0F, 0, 0, 0, 3, 0, 0, 0, 25], now).unwrap();
    assert_eq!(server.sends(), Some(HeaderForm::Current), "later HELLO should have no effect");
}

#[test]
fn pong_before_hello_marks_go_peer() {
    let now = Instant::now();
    let mut client = Connection::client(&Default::default(), now);
    feed(&mut client, PONG, now).unwrap();
    assert_eq!(client.peer(), &PeerKind::Compat);

    let hello = Connection::client(&Default::default(), now).outbox().take_bytes();
    let mut server = server(now);
    feed(&mut server, PING, now).unwrap();
    assert_eq!(server.peer(), &PeerKind::Compat);
    feed(&mut server, &hello, now).unwrap();
    assert_eq!(server.peer(), &PeerKind::Compat);
    assert_eq!(server.outbox().take_bytes(), PONG);
}

/// Regression test: the peer was treated as one without the protocol extension, so its deadlines and metadata were
/// lost.
#[test]
fn malformed_hello_closes_connection() {
    let now = Instant::now();
    for (items, error) in [
        (&[3, 0][..], HelloError::Malformed { item: 3 }),
        (&[4, 1, 0x80], HelloError::Malformed { item: 4 }),
        (&[2, 1, 7, 2, 1, 7], HelloError::Repeated { item: 2 }),
        (&[1, 3, 7], HelloError::Truncated),
        (&[200, 0], HelloError::Unknown { item: 200 }),
    ] {
        let body = [&b"fris\x01"[..], items].concat();
        let hello = [&[0, 15, 0, 0, 0, 3, 0, 0, 0, body.len() as u8], &body[..]].concat();
        for mut end in [server(now), Connection::client(&Default::default(), now)] {
            assert_eq!(feed(&mut end, &hello, now), Err(ProtocolError::Hello(error)), "{items:?}");
            assert_eq!(end.peer(), &PeerKind::Unknown);
        }
    }
}

#[test]
fn unknown_optional_extension_packet_is_skipped() {
    let now = Instant::now();
    let hello = Connection::client(&Default::default(), now).outbox().take_bytes();
    let mut server = server(now);
    feed(&mut server, &hello, now).unwrap();
    server.outbox().take_bytes();
    let packet = |id: u16| [&[0, 15][..], &id.to_be_bytes(), &[0, 3, 0, 0, 0, 1, 7]].concat();
    for id in [0, 8, 64, 0x7FFF] {
        assert_eq!(feed(&mut server, &packet(id), now), Ok(()), "{id}");
    }
    for id in [0x8000, 0xFFFF] {
        assert_eq!(feed(&mut server, &packet(id), now), Err(ProtocolError::NotUnderstood(PacketId(id))));
    }
    assert!(server.outbox().is_empty());

    // A peer without the protocol extension may use the reserved operation freely.
    let mut server = self::server(now);
    feed(&mut server, PING, now).unwrap();
    assert_eq!(feed(&mut server, &packet(0x8000), now), Ok(()));
}

#[test]
fn hello_has_packet_id_zero() {
    let now = Instant::now();
    let mut server = server(now);
    feed(&mut server, &[0, 15, 0, 1, 0, 3, 0, 0, 0, 5, b'f', b'r', b'i', b's', 1], now).unwrap();
    assert_eq!(server.peer(), &PeerKind::Compat);
}

#[test]
fn extension_operations_from_go_peer_are_ignored() {
    let now = Instant::now();
    let mut server = server(now);
    feed(&mut server, &[0, 15, 0, 0, 0, 3, 0, 0, 0, 2, b'h', b'i'], now).unwrap();
    assert_eq!(server.peer(), &PeerKind::Compat);
    for operation in 4..=7 {
        feed(&mut server, &[0, 15, 0, 1, 0, operation, 0, 0, 0, 1, 10], now).unwrap();
    }
    assert!(server.outbox().is_empty());
}

#[test]
fn peer_kind_precedes_packet_at_every_split() {
    let now = Instant::now();
    let mut client = client(now);
    client.outbox().push(PacketId(1), Operation::FIRST_USER, Bytes::from_static(b"call")).unwrap();
    let wire = client.outbox().take_bytes();
    for cut in 0..=wire.len() {
        let mut server = server(now);
        let mut events = Vec::new();
        for mut part in [wire.slice(..cut), wire.slice(cut..)] {
            events.extend(std::iter::from_fn(|| server.poll_event(&mut part, now).unwrap()));
        }
        assert!(matches!(&events[..], [Event::PeerKnown, Event::Packet(_)]), "cut at {cut}: {events:?}");
    }
}

#[test]
fn equal_hellos_are_shared_between_connections() {
    let now = Instant::now();
    let served = |calls_max| {
        let mut server = server(now);
        let common = Config::default().calls_max(calls_max);
        let hello = Connection::client(&common.into(), now).outbox().take_bytes();
        feed(&mut server, &hello, now).unwrap();
        server
    };
    let shared = |server: &Connection| match server.peer() {
        PeerKind::Native(hello) => hello.clone(),
        other => panic!("{other:?}"),
    };
    let (one, mut same, mut other) = (served(1), served(1), served(2));
    let hello = shared(&one);
    same.share_hello(&hello);
    assert!(Arc::ptr_eq(&shared(&same), &hello));
    other.share_hello(&hello);
    assert_eq!(shared(&other).calls_max, 2);
}

#[test]
fn peer_kind_event_precedes_held_packet() {
    let now = Instant::now();
    let mut connection = server(now);
    let mut input = Bytes::from_static(&[0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 0]);
    assert!(!connection.holds_packet());
    assert_eq!(connection.poll_event(&mut input, now), Ok(Some(Event::PeerKnown)));
    assert!(connection.holds_packet() && input.is_empty());
    assert!(!connection.is_at_packet(), "connection should not be at the start of a packet");
    assert!(matches!(connection.poll_event(&mut input, now), Ok(Some(Event::Packet(_)))));
    assert!(!connection.holds_packet() && connection.is_at_packet());
}
