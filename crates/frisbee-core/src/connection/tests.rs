//! Tests of replies and timeouts of a connection in virtual time.

mod hello;

use super::*;
use crate::{BODY_MAX_LEAST, HelloError, Operations};

const SECOND: Duration = Duration::from_secs(1);
const PING: &[u8] = &[0, 0x0F, 0, 0, 0, 0, 0, 0, 0, 0];
const PONG: &[u8] = &[0, 0x0F, 0, 0, 0, 1, 0, 0, 0, 0];

fn server(now: Instant) -> Connection {
    let operations = Operations { served: vec![10..=20], calls: Vec::new() };
    Connection::server(&ServerConfig::default().operations(Some(Arc::new(operations))), now)
}

/// Creates a client with HELLO disabled.
fn client(now: Instant) -> Connection {
    Connection::client(&Config::default().hello(false).into(), now)
}

/// Feeds bytes to a connection, and asserts that they cause no events.
fn feed(connection: &mut Connection, bytes: &[u8], now: Instant) -> Result<(), ProtocolError> {
    let mut input = Bytes::copy_from_slice(bytes);
    while let Some(event) = connection.poll_event(&mut input, now)? {
        assert!(matches!(event, Event::PeerKnown | Event::Nothing), "{event:?}");
    }
    connection.handle_read(bytes.len(), now);
    Ok(())
}

#[test]
fn ping_is_answered_in_same_header_form() {
    let now = Instant::now();
    let mut connection = server(now);
    feed(&mut connection, PING, now).unwrap();
    assert_eq!(connection.outbox().take_bytes(), PONG);

    let mut connection = server(now);
    feed(&mut connection, &PING[2..], now).unwrap();
    assert_eq!(connection.outbox().take_bytes(), PONG[2..]);
    assert_eq!(connection.sends(), Some(HeaderForm::Old));
}

#[test]
fn one_pong_waits_and_flood_is_rejected() {
    let now = Instant::now();
    let mut connection = server(now);
    for _ in 0..PING_BURST {
        feed(&mut connection, PING, now).unwrap();
    }
    assert_eq!(connection.outbox().len(), PONG.len());
    assert_eq!(feed(&mut connection, PING, now), Err(ProtocolError::Flood));

    let mut patient = server(now);
    for half_seconds in 0..100 {
        let now = now + half_seconds * SECOND / 2;
        feed(&mut patient, PING, now).unwrap();
        assert_eq!(patient.outbox().len(), PONG.len(), "first PONG should have been written");
        patient.handle_written(PONG.len(), now);
    }
}

#[test]
fn keepalive_with_body_is_protocol_error() {
    let now = Instant::now();
    for frame in [PING, PONG] {
        let mut frame = frame.to_vec();
        frame[9] = 1;
        frame.push(0);
        let refused = feed(&mut server(now), &frame, now);
        assert_eq!(refused, Err(ProtocolError::KeepaliveWithBody { length: 1 }));
    }
}

#[test]
fn reserved_operations_are_skipped_with_their_bodies() {
    let now = Instant::now();
    let mut connection = server(now);
    for operation in 3..=9 {
        feed(&mut connection, &[0, 0x0F, 0, 1, 0, operation, 0, 0, 0, 2, 0xFF, 0xFF], now).unwrap();
    }
    assert!(connection.outbox().is_empty());
    feed(&mut connection, PING, now).unwrap();
    assert_eq!(connection.outbox().take_bytes(), PONG);
}

#[test]
fn missing_first_header_times_out() {
    let start = Instant::now();
    let mut connection = server(start);
    assert_eq!(connection.sends(), None);
    connection.handle_timeout(start + 9 * SECOND).unwrap();
    assert!(connection.outbox().is_empty());
    connection.handle_read(1, start + 9 * SECOND);
    let over = connection.handle_timeout(start + 10 * SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::NoFirstHeader), "{over}");
}

#[test]
fn silent_peer_is_pinged_before_timeout() {
    let start = Instant::now();
    let mut connection = client(start);
    assert_eq!(connection.next_timeout(), Some(start + 2 * SECOND));
    connection.handle_timeout(start + 2 * SECOND).unwrap();
    assert_eq!(connection.outbox().take_bytes(), PING);
    let over = connection.handle_timeout(start + 10 * SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::IdleTimeout), "{over}");
}

#[test]
fn throttled_peer_does_not_count_as_silent() {
    let start = Instant::now();
    let config = Config::default().abuse_rate(1000).ping_interval(SECOND / 4).idle_timeout(SECOND / 2);
    let mut connection = Connection::server(&config.clone().into(), start);
    feed(&mut connection, PONG, start).unwrap();
    assert!(!connection.is_resting(), "packet should cost 74 bytes");
    feed(&mut connection, &PONG.repeat(14), start).unwrap();
    assert!(connection.is_resting());
    // The pause lasts until 1110 bytes of debt have decayed to 125 (1/8 of the rate), plus the minimum of 1/16 s.
    let over = start + Duration::from_millis(985 + 62);
    for due in [SECOND / 4, SECOND / 2, 3 * SECOND / 4].map(|after| start + after) {
        assert!(connection.next_timeout().is_some_and(|next| next <= over));
        connection.handle_timeout(due).unwrap();
        assert!(connection.is_resting());
    }
    connection.handle_timeout(over).unwrap();
    assert!(!connection.is_resting());
    connection.handle_timeout(over + SECOND / 4).unwrap();
    connection.handle_timeout(over + SECOND / 2).unwrap_err();
}

#[test]
fn half_closed_peer_never_times_out() {
    let start = Instant::now();
    let mut connection = server(start);
    feed(&mut connection, PING, start).unwrap();
    connection.outbox().take_bytes();
    connection.handle_half_close(start);
    let mut now = start;
    for _ in 0..100 {
        assert_eq!(connection.outbox().take_bytes(), PING);
        now += SECOND / 4;
        assert_eq!(connection.next_timeout(), Some(now));
        connection.handle_timeout(now).unwrap();
    }
}

/// Transfers all pending bytes of one end to the other. Returns the events of the receiving end.
fn exchange(from: &mut Connection, to: &mut Connection, now: Instant) -> Vec<Event> {
    let mut wire = from.outbox().take_bytes();
    let count = wire.len();
    let mut events: Vec<_> = std::iter::from_fn(|| to.poll_event(&mut wire, now).unwrap()).collect();
    to.handle_read(count, now);
    events.retain(|event| *event != Event::Nothing);
    events
}

#[test]
fn silent_server_times_out() {
    let start = Instant::now();
    let mut client = Connection::client(&Default::default(), start);
    client.handle_timeout(start + 4 * SECOND).unwrap();
    let over = client.handle_timeout(start + 5 * SECOND).unwrap_err();
    assert!(over.to_string().contains("it hangs, or the port belongs to another protocol"), "{over}");
    assert!(!over.to_string().contains("HeaderForm::Old"), "{over}");
}

#[test]
fn trickling_packet_closes_connection() {
    let start = Instant::now();
    let mut connection = server(start);
    feed(&mut connection, &[0, 0x0F, 0, 1, 0, 10, 0, 0, 1, 0], start).unwrap();
    for second in 1..5 {
        feed(&mut connection, &[0], start + second * SECOND).unwrap();
        connection.handle_timeout(start + second * SECOND).unwrap();
    }
    let over = connection.handle_timeout(start + 5 * SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::TooSlow), "{over}");
}

#[test]
fn peer_accepting_no_bytes_times_out() {
    let start = Instant::now();
    let mut connection = client(start);
    connection.outbox().push(PacketId(1), Operation::FIRST_USER, Bytes::from(vec![0; 100])).unwrap();
    connection.handle_written(0, start);
    connection.handle_written(60, start + 4 * SECOND);
    connection.handle_read(1, start + 8 * SECOND);
    connection.handle_timeout(start + 8 * SECOND).unwrap();
    let over = connection.handle_timeout(start + 9 * SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::WriteTimeout { waiting: 50 }), "{over}");
}

#[test]
fn peer_gets_more_time_after_megabytes() {
    let start = Instant::now();
    for (written, times) in [(1 << 20, 5), (3 << 20, 13), (100 << 20, 17)] {
        let mut connection = client(start);
        let body = Bytes::from(vec![0; written + 1]);
        connection.outbox().set_limit(u32::MAX);
        connection.outbox().push(PacketId(1), Operation::FIRST_USER, &body).unwrap();
        connection.handle_written(written, start);
        connection.handle_written(0, start);
        let late = start + 5 * times * SECOND;
        connection.handle_read(1, late - SECOND);
        connection.handle_timeout(late - SECOND).unwrap();
        assert_eq!(connection.next_timeout(), Some(late));
        let over = connection.handle_timeout(late).unwrap_err();
        assert!(matches!(over, CloseReason::WriteTimeout { .. }), "{over}");
    }
}

/// Advances the time to `until`. The peer accepts all bytes.
fn pass(connection: &mut Connection, until: Instant) -> Result<(), CloseReason> {
    while let Some(due) = connection.next_timeout().filter(|due| *due <= until) {
        connection.handle_timeout(due)?;
        connection.outbox().take_bytes();
    }
    Ok(())
}

#[test]
fn paused_reading_does_not_time_out_peer() {
    let start = Instant::now();
    for is_mid_packet in [false, true] {
        let mut connection = server(start);
        let partial: &[u8] = if is_mid_packet { &[0, 0x0F, 0, 1, 0, 10, 0, 1, 0, 0] } else { &[] };
        feed(&mut connection, &[PING, partial].concat(), start).unwrap();
        connection.set_listening(false, start + SECOND);
        pass(&mut connection, start + 50 * SECOND).unwrap();
        // The peer may take as long as the pause to notice that reading has resumed.
        let again = start + 51 * SECOND;
        connection.set_listening(true, again);
        connection.handle_read(1000, again);
        pass(&mut connection, again + 50 * SECOND).unwrap();
        let over = pass(&mut connection, again + 63 * SECOND).unwrap_err();
        assert!(matches!(over, CloseReason::TooSlow) == is_mid_packet, "{over}");
        assert!(matches!(over, CloseReason::IdleTimeout) != is_mid_packet, "{over}");
    }
}

#[test]
fn write_progress_keeps_peer_alive() {
    let start = Instant::now();
    let mut connection = client(start);
    connection.outbox().push(PacketId(1), Operation::FIRST_USER, Bytes::from(vec![0; 1000])).unwrap();
    connection.handle_written(100, start);
    for second in 1..60 {
        connection.handle_written(0, start + second * SECOND);
        connection.handle_written(1, start + second * SECOND);
        connection.handle_timeout(start + second * SECOND).unwrap();
    }
    let left = connection.outbox().len();
    connection.handle_written(0, start + 60 * SECOND);
    connection.handle_written(left, start + 60 * SECOND);
    connection.handle_timeout(start + 69 * SECOND).unwrap();
    // Bytes that the operating system buffers immediately do not show that the peer is reading.
    connection.outbox().push(PacketId(1), Operation::FIRST_USER, Bytes::from(vec![0; 1000])).unwrap();
    connection.handle_written(1010, start + 69 * SECOND);
    let over = connection.handle_timeout(start + 70 * SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::IdleTimeout), "{over}");
}

#[test]
fn only_client_tolerates_stalled_sending_peer() {
    let start = Instant::now();
    for (mut connection, waits) in [(client(start), true), (server(start), false)] {
        feed(&mut connection, PING, start).unwrap();
        connection.outbox().push(PacketId(1), Operation::FIRST_USER, Bytes::from(vec![0; 200_000])).unwrap();
        connection.handle_written(0, start);
        let lives = (1..300).all(|second| {
            connection.handle_read(20_000, start + second * SECOND);
            connection.handle_timeout(start + second * SECOND).is_ok()
        });
        assert_eq!(lives, waits);
    }
}

/// Returns a configuration with long keepalive intervals, so that other timeouts expire first.
fn patient() -> Config {
    Config::default().ping_interval(1000 * SECOND).idle_timeout(1000 * SECOND)
}

#[test]
fn next_timeout_covers_every_deadline() {
    let start = Instant::now();
    let due = |connection: &Connection| connection.next_timeout().map(|due| due - start);
    assert_eq!(
        due(&Connection::client(&patient().into(), start)),
        Some(5 * SECOND),
        "peer kind should have a deadline"
    );
    let server = || Connection::server(&patient().into(), start);
    let mut connection = server();
    assert_eq!(due(&connection), Some(10 * SECOND), "first header should have a deadline");
    feed(&mut connection, PING, start).unwrap();
    assert_eq!(due(&connection), Some(1000 * SECOND), "silent peer should only have the idle timeout");

    connection.handle_written(0, start);
    assert_eq!(due(&connection), Some(5 * SECOND), "pending bytes should have a write timeout");
    connection.handle_written(PONG.len(), start);
    assert_eq!(due(&connection), Some(1000 * SECOND));

    feed(&mut connection, &[0, 0x0F, 0, 1, 0, 10, 0, 1, 0, 0], start).unwrap();
    assert_eq!(due(&connection), Some(5 * SECOND), "partially received packet should have a deadline");

    let mut connection = Connection::server(&patient().abuse_rate(1000).into(), start);
    feed(&mut connection, &PONG.repeat(15), start).unwrap();
    assert!(connection.is_resting() && due(&connection).is_some_and(|due| due < 2 * SECOND), "the rest of a peer");
}

#[test]
fn flush_deadline_allows_for_slow_peer() {
    let start = Instant::now();
    let mut connection = client(start);
    assert_eq!(connection.flushed_by(), None, "end of the connection should have no deadline yet");
    connection.outbox().push(PacketId(1), Operation::FIRST_USER, vec![0; 160 * 1024]).unwrap();
    connection.begin_flush(start);
    // The deadline is the write timeout plus two windows of 5 s at 16 KiB/s.
    assert_eq!(connection.flushed_by(), Some(start + 15 * SECOND));
    connection.handle_written(0, start);
    assert_eq!(
        connection.flushed_by(),
        Some(start + 5 * SECOND),
        "peer that accepts no bytes should only get the write timeout"
    );
}

#[test]
fn expire_closes_only_client_without_first_header() {
    let start = Instant::now();
    let mut silent = server(start);
    silent.expire(start + SECOND);
    assert_eq!(silent.next_timeout(), Some(start + SECOND));
    let over = silent.handle_timeout(start + SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::NoFirstHeader), "{over}");

    let mut beginning = server(start);
    feed(&mut beginning, &[0, 0x0F, 0, 1, 0, 10, 0, 0, 1, 0], start).unwrap();
    beginning.expire(start + SECOND);
    beginning.handle_timeout(start + SECOND).unwrap();

    let mut dialling = Connection::client(&Default::default(), start);
    dialling.expire(start + SECOND);
    dialling.handle_timeout(start + SECOND).unwrap();
}

#[test]
fn empty_read_or_write_is_not_activity() {
    let start = Instant::now();
    let mut connection = client(start);
    connection.handle_read(0, start + SECOND);
    connection.handle_written(0, start + SECOND);
    assert_eq!(connection.next_timeout(), Some(start + 2 * SECOND));
    connection.handle_timeout(start + 2 * SECOND).unwrap();
    assert_eq!(connection.outbox().take_bytes(), PING);
    connection.handle_read(0, start + 9 * SECOND);
    connection.handle_timeout(start + 10 * SECOND).unwrap_err();
}

#[test]
fn only_receiving_end_sends_pings() {
    let start = Instant::now();
    for writes in [true, false] {
        let mut connection = client(start);
        let later = start + 3 * SECOND / 2;
        if writes {
            connection.outbox().push(PacketId(1), Operation::FIRST_USER, "").unwrap();
            connection.handle_written(PING.len(), later);
        } else {
            connection.handle_written(0, later);
        }
        connection.handle_read(1, later);
        connection.handle_timeout(start + 2 * SECOND).unwrap();
        assert_eq!(connection.outbox().is_empty(), writes);
    }
}

#[test]
fn keepalive_traffic_leaves_connection_unused() {
    let start = Instant::now();
    let mut connection = client(start);
    let is_unused = |connection: &mut Connection, second| connection.is_unused(start + second * SECOND);
    assert!(!is_unused(&mut connection, 1) && is_unused(&mut connection, 2));
    connection.outbox().push(PacketId(1), Operation::FIRST_USER, vec![0; 100]).unwrap();
    connection.handle_written(110, start);
    assert!(
        !is_unused(&mut connection, 3) && is_unused(&mut connection, 5),
        "connection that has written should not count as unused"
    );
    connection.handle_read(110, start);
    assert!(
        !is_unused(&mut connection, 6) && is_unused(&mut connection, 8),
        "connection that has read should not count as unused"
    );
}

#[test]
fn idle_connection_releases_outbox_memory() {
    let now = Instant::now();
    let mut connection = client(now);
    connection.outbox().push(PacketId(1), Operation::FIRST_USER, vec![0; 1000]).unwrap();
    connection.handle_written(1010, now);
    assert!(connection.outbox().memory() >= 1010);
    connection.release();
    assert_eq!(connection.outbox().memory(), 0);
}

#[test]
fn incoming_packet_is_observable_and_discardable() {
    let now = Instant::now();
    let mut connection = server(now);
    feed(&mut connection, PING, now).unwrap();
    assert!(!connection.is_mid_packet() && connection.body_mut().is_none() && connection.discard_body().is_none());
    assert_eq!(connection.buffered(), 0);
    let body = [7; 100_000];
    feed(&mut connection, &[0, 0x0F, 0, 1, 0, 10, 0, 1, 0x86, 0xA0], now).unwrap();
    feed(&mut connection, &body[..60_000], now).unwrap();
    assert!(connection.is_mid_packet() && connection.buffered() >= 60_000);
    assert!(connection.body_mut().is_some_and(|body| body.missing() > 1));
    assert!(matches!(connection.handle_eof(), CloseReason::Truncated));
    let discarded = connection.discard_body().map(|packet| (packet.id, packet.body.len()));
    assert_eq!((discarded, connection.buffered()), (Some((PacketId(1), 64)), 0));
    feed(&mut connection, &body[60_000..], now).unwrap();
    assert!(!connection.is_mid_packet() && matches!(connection.handle_eof(), CloseReason::ClosedByPeer));
}

/// Regression test: a peer was considered too slow because of bytes that were not read while reading was paused.
#[test]
fn resting_peer_is_not_too_slow() {
    let start = Instant::now();
    let config = Config::default().abuse_rate(1000).least_rate_window(SECOND);
    let mut connection = Connection::server(&config.into(), start);
    feed(&mut connection, PING, start).unwrap();
    connection.charge_abuse(4_000);
    feed(&mut connection, &[0, 0x0F, 0, 1, 0, 10, 0, 1, 0, 0], start).unwrap();
    assert!(connection.is_resting() && connection.is_mid_packet());
    let mut due = start;
    while connection.is_resting() {
        due = connection.next_timeout().expect("paused connection should have a deadline for resuming reads");
        connection.handle_timeout(due).expect("minimum rate should not apply while reads are paused");
    }
    assert!(due > start + SECOND);
    assert_eq!(connection.pace.deadline(), Some(due + SECOND), "measurement window should begin");
    assert!(matches!(connection.handle_timeout(due + SECOND), Err(CloseReason::TooSlow)));
}

#[test]
fn resumed_reading_extends_idle_timeout_once() {
    let start = Instant::now();
    let mut connection = server(start);
    feed(&mut connection, PING, start).unwrap();
    connection.set_listening(false, start);
    connection.set_listening(false, start + 9 * SECOND);
    connection.set_listening(true, start + 10 * SECOND);
    // A second call while the peer is being read has no effect.
    connection.set_listening(true, start + 15 * SECOND);
    pass(&mut connection, start + 29 * SECOND).unwrap();
    let over = pass(&mut connection, start + 33 * SECOND).unwrap_err();
    assert!(matches!(over, CloseReason::IdleTimeout), "{over}");
}

/// A memory pool that counts its operations.
#[derive(Debug, Default)]
struct CountingPool {
    taken: std::sync::atomic::AtomicUsize,
    put: std::sync::atomic::AtomicUsize,
}

impl MemoryPool for CountingPool {
    fn take(&self, least: usize, most: usize) -> Option<Vec<u8>> {
        assert!(least <= most);
        self.taken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Vec::with_capacity(least))
    }

    fn put(&self, memory: Vec<u8>) {
        assert!(memory.capacity() >= 64 * 1024);
        self.put.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn large_body_memory_returns_to_pool() {
    let pool: &'static CountingPool = Box::leak(Box::default());
    let counts =
        || (pool.taken.load(std::sync::atomic::Ordering::Relaxed), pool.put.load(std::sync::atomic::Ordering::Relaxed));
    let now = Instant::now();
    let mut connection = client(now);
    connection.set_pool(pool);
    feed(&mut connection, &[0, 0x0F, 0, 1, 0, 10, 0, 1, 0x86, 0xA0], now).unwrap();
    feed(&mut connection, &[7; 99_999], now).unwrap();
    let packet = connection.poll_event(&mut Bytes::from_static(&[7]), now).unwrap();
    let (taken, put) = counts();
    assert_eq!(taken, put + 1, "the packet has one, and the smaller ones are back");
    drop(packet);
    assert_eq!(counts(), (taken, taken));
}
