//! Tests of peers that do not read: how much memory an end holds for them, and how it reacts.

use super::Config;
use bytes::Bytes;
use frisbee::{
    CloseReason, Connection, HandOffTarget, Handlers, Operation, Outbox, Packet, Routed, Router, Server, Stream,
};
use frisbee_tests::raw::packet;
use frisbee_tests::until;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const ECHO: u16 = 10;
const MIB: usize = 1 << 20;

/// Returns handlers that echo packets and keep opened streams.
fn echo() -> Handlers {
    let (sender, mut streams) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut open: Vec<Stream> = Vec::new();
        while let Some(stream) = streams.recv().await {
            open.push(stream);
        }
    });
    Handlers::new()
        .on(Operation::FIRST_USER, |_, packet| async { Some(packet) })
        .on_stream(move |_, stream| drop(sender.send(stream)))
}

/// Returns the peer of a server. The peer has sent a request with a large reply, and does not read the reply.
async fn served(router: impl Router, config: Config, body: usize) -> (DuplexStream, JoinHandle<CloseReason>) {
    let acceptor = Server::builder().config(config).build(router).unwrap();
    let (mut here, there) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    here.write_all(&[packet(0, 3, b"fris\x01"), packet(1, ECHO, &vec![1; body])].concat())
        .await
        .expect("write should succeed");
    (here, serving)
}

/// Repeats bytes until the server stops reading. Returns the number of bytes that the server has accepted.
async fn accepted_bytes(peer: &mut DuplexStream, repeated: &[u8]) -> usize {
    let mut accepted = 0;
    // The timeout is longer than any pause of the server between reads.
    while let Ok(written) =
        tokio::time::timeout(Duration::from_secs(4), peer.write(&repeated[accepted % repeated.len()..])).await
    {
        accepted += written.expect("server should be running");
        assert!(accepted < 100 * MIB, "peer should stop accepting bytes");
    }
    accepted
}

#[tokio::test(start_paused = true)]
async fn unreading_peer_makes_server_hold_few_megabytes() {
    let large = packet(2, ECHO, &vec![2; MIB]);
    let small = packet(2, ECHO, b"").repeat(1000);
    let opens = (0..500).flat_map(|id| packet(1000 + id * 2, 2, b"opens")).collect::<Vec<_>>();
    let messages = [packet(7, 2, b"opens"), packet(7, 2, &[1; 1000]).repeat(100)].concat();
    let requests = packet(0, 8, &[10]).repeat(1000);
    let timeout = Duration::from_secs(1000);
    for (repeated, most) in [(large, 3 * MIB), (small, MIB), (opens, MIB), (messages, 2 * MIB), (requests, 4 * MIB)] {
        let config = Config::default().write_timeout(timeout).idle_timeout(timeout).abuse_rate(u32::MAX);
        let (mut peer, _serving) = served(echo(), config, 2 * MIB).await;
        // While requests are queued, the server rejects a hand-off request.
        peer.write_all(&packet(1, ECHO, b"waits")).await.expect("write should succeed");
        let accepted = accepted_bytes(&mut peer, &repeated).await;
        assert!(accepted <= most, "peer accepted {accepted} bytes of {:x?}", &repeated[..10]);
    }
}

/// The rest of a large body arrives in the same turn in which a write makes space. No bytes follow that would wake the
/// connection.
#[tokio::test(start_paused = true)]
async fn large_request_ending_with_room_is_answered() {
    let acceptor = Server::builder().build(echo()).unwrap();
    let (mut peer, there) = tokio::io::duplex(MIB + MIB / 2);
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let (first, second) = (packet(1, ECHO, &vec![1; 3 * MIB]), packet(2, ECHO, &vec![2; MIB]));
    peer.write_all(&[packet(0, 3, b"fris\x01"), first.clone()].concat()).await.expect("write should succeed");
    // The peer reads nothing, so the server's outbox exceeds its limit.
    tokio::time::sleep(Duration::from_millis(1)).await;
    peer.write_all(&second).await.expect("write should succeed");
    let mut answers = vec![0; MIB + MIB / 2];
    peer.read_exact(&mut answers).await.expect("peer should send the expected bytes");
    let mut of_second = 0;
    while of_second < MIB {
        let count = tokio::time::timeout(Duration::from_secs(1), peer.read(&mut answers)).await;
        let count = count.expect("reply should need no later packet").expect("server should be running");
        assert_ne!(count, 0, "server should continue");
        of_second += answers[..count].iter().filter(|byte| **byte == 2).count();
    }
}

#[tokio::test(start_paused = true)]
async fn unreading_peer_is_closed_after_write_timeout() {
    let started = Instant::now();
    let (mut peer, serving) = served(echo(), Config::default(), 2 * MIB).await;
    // The peer sends PINGs, so that it does not count as silent.
    let pinging = tokio::spawn(async move {
        while peer.write_all(&packet(0, 0, b"")).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        peer
    });
    let reason = serving.await.expect("task should not panic");
    assert!(matches!(reason, CloseReason::WriteTimeout { .. }), "{reason}");
    // Without reading, the socket accepts 64 KiB.
    assert!((5..8).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    drop(pinging.await);
}

#[tokio::test(start_paused = true)]
async fn peer_reading_single_bytes_times_out() {
    let started = Instant::now();
    let (mut peer, serving) = served(echo(), Config::default(), 2 * MIB).await;
    let trickling = tokio::spawn(async move {
        while peer.read_u8().await.is_ok() {
            let _ = peer.write_all(&packet(0, 0, b"")).await;
            tokio::time::sleep(Duration::from_secs(4)).await;
        }
    });
    let reason = serving.await.expect("task should not panic");
    assert!(matches!(reason, CloseReason::WriteTimeout { .. }), "{reason}");
    assert!((10..16).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    trickling.await.expect("task should not panic");
}

#[tokio::test(start_paused = true)]
async fn vanished_peer_with_backlog_times_out() {
    let started = Instant::now();
    let config = Config::default().write_timeout(Duration::from_secs(1000));
    let (_peer, serving) = served(echo(), config, 2 * MIB).await;
    let reason = serving.await.expect("task should not panic");
    assert!(matches!(reason, CloseReason::IdleTimeout), "{reason}");
    assert!((10..11).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
}

/// The connection's share of the memory is used up by queued output before the fixed limit is reached.
#[tokio::test(start_paused = true)]
async fn memory_stalled_peer_is_not_timed_out() {
    let acceptor = Server::builder().memory_max(800_000).build(echo()).unwrap();
    let (mut peer, there) = tokio::io::duplex(MIB);
    let serving = acceptor.clone();
    tokio::spawn(async move { serving.serve_connection(there).await });
    let requests = packet(1, ECHO, &vec![1; 60_000]).repeat(35);
    peer.write_all(&[packet(0, 3, b"fris\x01"), requests].concat()).await.expect("write should succeed");
    let stats = acceptor.stats();
    until("the connection holds its share of the memory", || stats.memory_held() > 350_000).await;
    let mut accepted = vec![0; MIB];
    // This takes longer than a peer may be silent, but less time than it may leave output unread. Afterwards, the
    // output is below the limit.
    for _ in 0..2 {
        for _ in 0..7 {
            tokio::time::sleep(Duration::from_secs(2)).await;
            peer.write_all(&packet(0, 0, b"")).await.expect("write should succeed");
        }
        peer.read_exact(&mut accepted).await.expect("peer should send the expected bytes");
    }
}

/// A router that echoes packets, and hands off the connection after a certain packet.
struct Leaving;

impl Router for Leaving {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("packet should be within the limit");
        if packet.body != "the rest is raw" {
            return Routed::Continue;
        }
        Routed::HandOff(HandOffTarget::new(async |mut raw| {
            let mut line = [0; 20];
            raw.read_exact(&mut line).await.expect("peer should send the expected bytes");
            raw.write_all(&line).await.expect("write should succeed");
            raw.flush().await.expect("flush should succeed");
        }))
    }
}

/// With the default policy, a router defers all packets while the outbox is full.
#[tokio::test(start_paused = true)]
async fn bytes_after_deferred_packet_stay_raw() {
    let (mut peer, _serving) = served(Leaving, Config::default(), 2 * MIB).await;
    let last = packet(2, ECHO, b"the rest is raw");
    // If the server parsed these bytes as packets, they would be a CANCEL and half of a header.
    let raw = [packet(1, 6, &[10]), vec![0, 15, 0, 0, 0, 0, 0, 0, 0]].concat();
    peer.write_all(&[last.clone(), raw.clone()].concat()).await.expect("write should succeed");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut read = vec![0; 2 * MIB];
    let mut answers = Vec::new();
    while let Ok(count @ 1..) = peer.read(&mut read).await {
        answers.extend_from_slice(&read[..count]);
    }
    let expected = [last, raw].concat();
    assert!(answers.ends_with(&expected), "{:x?}", &answers[answers.len().saturating_sub(60)..]);
}

/// While requests are queued, a hand-off request is rejected. The queued requests are answered.
#[tokio::test(start_paused = true)]
async fn queued_requests_prevent_hand_off() {
    let (mut peer, _serving) = served(echo(), Config::default(), 2 * MIB).await;
    let packets = [packet(2, ECHO, b"waits"), packet(0, 8, &[10]), packet(3, ECHO, b"waits as well")].concat();
    peer.write_all(&packets).await.expect("write should succeed");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut answers = Vec::new();
    let behind = [packet(0, 8, &[2]), packet(2, ECHO, b"waits"), packet(3, ECHO, b"waits as well")].concat();
    let mut read = vec![0; MIB];
    while !answers.ends_with(&behind) {
        let count = peer.read(&mut read).await.expect("read should succeed");
        assert!(count > 0, "peer read {} bytes", answers.len());
        answers.extend_from_slice(&read[..count]);
    }
}

#[tokio::test(start_paused = true)]
async fn half_closed_peer_gets_queued_answers() {
    let (mut peer, serving) = served(echo(), Config::default(), 2 * MIB).await;
    let packets: Vec<_> = (0..100).flat_map(|id| packet(id, ECHO, b"waits")).collect();
    peer.write_all(&packets).await.expect("write should succeed");
    peer.shutdown().await.expect("socket should shut down");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut answers = Vec::new();
    peer.read_to_end(&mut answers).await.expect("peer should close the connection cleanly");
    // Between the replies, the server has sent a PING.
    let answered = Bytes::from(answers);
    let ping = packet(0, 0, b"");
    let end = answered.len();
    assert!((2 * MIB + packets.len()..2 * MIB + packets.len() + 1000).contains(&end), "stream ended after {end} bytes");
    assert!(answered.ends_with(&packet(99, ECHO, b"waits")) || answered.ends_with(&ping));
    serving.await.expect("task should not panic");
}
