use super::*;
use crate::{Listener, Stream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Timeout for operations that complete immediately on an idle machine.
const LONG: Duration = Duration::from_secs(60);

struct Scene {
    listener: Listener,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let listener = Listener::builder()
            .ring_max(4096)
            .bind(folder.path().join("socket"))
            .expect("server should bind to a free path");
        Self { listener, folder }
    }

    /// Returns a server's stream that shares memory, and its hostile client, which has written `bytes` bytes.
    async fn connect(&self, bytes: u32) -> (Stream, Peer) {
        let path = self.folder.path().join("socket");
        let connecting = tokio::task::spawn_blocking(move || {
            let peer = Peer::connect(path)?;
            peer.set(Index::Written, bytes);
            peer.ring().map(|()| peer)
        });
        let mut stream = self.listener.accept().await.expect("client should connect");
        // The first read completes the handshake.
        stream.read_exact(&mut vec![0; bytes as usize]).await.expect("peer should send the expected bytes");
        (
            stream,
            connecting
                .await
                .expect("connecting task should not panic")
                .expect("client should agree on shared memory with the listener"),
        )
    }
}

async fn error_of_reading(stream: &mut Stream) -> String {
    let read = timeout(LONG, stream.read(&mut [0; 100])).await.expect("read should fail within the timeout");
    let error = read.expect_err("impossible ring position should be rejected");
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    error.to_string()
}

#[tokio::test]
async fn excessive_write_position_is_violation() {
    let scene = Scene::new();
    for claimed in [1 + 1025, 0, u32::MAX, u32::MAX / 2] {
        let (mut stream, peer) = scene.connect(1).await;
        peer.set(Index::Written, claimed);
        let error = error_of_reading(&mut stream).await;
        assert!(
            error.contains(&format!("written up to position {claimed} in a ring of 1024 bytes read up to 1")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn read_position_beyond_written_is_violation() {
    let scene = Scene::new();
    for claimed in [6, u32::MAX / 2, 5_u32.wrapping_sub(1025)] {
        let (mut stream, peer) = scene.connect(1).await;
        stream.write_all(b"hello").await.expect("stream should write a message");
        peer.set(Index::Read, claimed);
        let error = timeout(LONG, stream.write(b"more"))
            .await
            .expect("write should fail within the timeout")
            .expect_err("impossible ring position should be rejected");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains(&format!("read up to position {claimed}")), "{error}");
    }
}

#[tokio::test]
async fn invalid_position_wakes_sleeper_with_error() {
    let scene = Scene::new();
    let (mut stream, peer) = scene.connect(1).await;
    let reading = tokio::spawn(async move { error_of_reading(&mut stream).await });
    while peer.theirs(Index::WantsData) == 0 {
        tokio::task::yield_now().await;
    }
    peer.set(Index::Written, 5000);
    peer.ring().expect("peer should send a wake-up");
    assert!(reading.await.expect("reading task should not panic").contains("position 5000"));
}

#[tokio::test]
async fn bytes_on_socket_end_connection() {
    let scene = Scene::new();
    let (mut stream, peer) = scene.connect(1).await;
    peer.write_to_socket(b"hello?").expect("peer should write to the socket");
    assert!(error_of_reading(&mut stream).await.contains("bytes on the socket"));
}

#[tokio::test]
async fn flood_of_bells_ends_its_connection_alone() {
    let scene = Scene::new();
    let (mut flooded, flooding) = scene.connect(1).await;
    let (mut other, writes) = scene.connect(1).await;
    let stop = Arc::new(AtomicBool::new(false));
    let flood = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                flooding.ring().expect("wake-up should be sent even without a waiting reader");
            }
        }
    });
    let answered = tokio::spawn(async move {
        for number in 2..1002 {
            writes.set(Index::Written, number);
            writes.ring().expect("peer should send a wake-up");
            timeout(LONG, other.read_exact(&mut [0]))
                .await
                .expect("read should complete within the timeout")
                .expect("stream should read the written byte");
        }
    });
    let error = error_of_reading(&mut flooded).await;
    assert!(error.contains("too many spurious wake-ups"), "{error}");
    answered.await.expect("replying task should not panic");
    stop.store(true, Ordering::Relaxed);
    flood.join().expect("flooding thread should not panic");
}

#[tokio::test]
async fn rewritten_flags_never_disturb_busy_stream() {
    let scene = Scene::new();
    let (mut stream, peer) = scene.connect(1).await;
    for number in 0..1000_u32 {
        for flag in [Index::WantsData, Index::WantsRoom] {
            peer.set(flag, number & 1);
        }
        for word in Index::ALL {
            peer.set_theirs(word, number.wrapping_mul(0x9E37_79B9));
        }
        peer.set(Index::Read, number);
        peer.set(Index::Written, number + 2);
        peer.ring().expect("peer should send a wake-up");
        timeout(LONG, stream.read_exact(&mut [0]))
            .await
            .expect("read should complete within the timeout")
            .expect("stream should read the written byte");
        timeout(LONG, stream.write_all(b"a"))
            .await
            .expect("write should complete within the timeout")
            .expect("stream should accept a byte");
    }
}

#[tokio::test]
async fn reader_continues_in_sent_ring() {
    let scene = Scene::new();
    let (mut stream, peer) = scene.connect(1).await;
    peer.send_ring(4096).expect("peer should send a ring");
    peer.set(Index::Ring, 4096);
    peer.set(Index::Written, 1 + 4096);
    let read = timeout(LONG, stream.read_exact(&mut [1; 4096])).await.expect("read should complete within the timeout");
    read.expect("reader should switch to the new ring");
}

#[tokio::test]
async fn missing_or_invalid_ring_closes_connection() {
    let scene = Scene::new();
    // The ring is missing, of another size, not a power of two, above the maximum, not sealed, or not memory.
    let unsealed = rustix::fs::memfd_create(c"unsealed", rustix::fs::MemfdFlags::ALLOW_SEALING)
        .expect("memory file should be created");
    rustix::fs::ftruncate(&unsealed, 4096).expect("memory without seals should be resizable");
    let other: OwnedFd = UnixStream::pair().expect("socket pair should be created").0.into();
    type Sends<'a> = &'a dyn Fn(&Peer);
    let sends: [(u32, Sends<'_>); 6] = [
        (4096, &|_| {}),
        (4096, &|peer| peer.send_ring(8192).expect("peer should send a ring")),
        (5000, &|peer| peer.send_as_ring(5000, &[unsealed.as_fd()]).expect("peer should send a ring")),
        (8192, &|peer| peer.send_ring(8192).expect("peer should send a ring")),
        (4096, &|peer| peer.send_as_ring(4096, &[unsealed.as_fd()]).expect("peer should send a ring")),
        (4096, &|peer| peer.send_as_ring(4096, &[other.as_fd()]).expect("peer should send a ring")),
    ];
    for (claimed, send) in sends {
        let (mut stream, peer) = scene.connect(1).await;
        send(&peer);
        peer.set(Index::Ring, claimed);
        peer.set(Index::Written, 2);
        peer.ring().expect("peer should send a wake-up");
        let read = timeout(LONG, stream.read(&mut [0; 100])).await.expect("read should fail within the timeout");
        read.expect_err("invalid ring should be rejected");
    }
}

#[tokio::test]
async fn two_rings_at_once_end_connection() {
    let scene = Scene::new();
    let (mut stream, peer) = scene.connect(1).await;
    peer.send_ring(4096).expect("peer should send the first ring");
    peer.send_ring(4096).expect("peer should send the second ring");
    assert!(error_of_reading(&mut stream).await.contains("bytes on the socket"));
}

#[tokio::test]
async fn next_ring_waits_for_receipt_of_last() {
    let scene = Scene::new();
    let (mut stream, peer) = scene.connect(1).await;
    // The peer acknowledges bytes without reading them, which only loses the bytes.
    for _ in 0..20 {
        let written = timeout(LONG, stream.write(&[7; 100_000]))
            .await
            .expect("write should complete within the timeout")
            .expect("connection should be open");
        assert!(written > 0);
        peer.set(Index::Read, peer.theirs(Index::Written));
    }
    assert_eq!(peer.take_ring().expect("peer should receive the ring's memory descriptor"), Some(4096));
    assert_eq!(peer.take_ring().expect("peer should read from its open socket"), None);
}

/// Maximum number of random operations per peer. Bounded so that a slow machine still tests many peers.
const EACH: u64 = 10_000;

/// Performs random operations of a hostile peer. Half of the positions are near valid ones, so that they pass some
/// checks.
fn misbehave(peer: &Peer, random: &mut fastrand::Rng) {
    let near = |random: &mut fastrand::Rng, base: u32| match random.u8(..4) {
        0 => random.u32(..),
        1 => base.wrapping_add(random.u32(..2 * peer.small_size())),
        _ => base.wrapping_add(random.u32(..64)),
    };
    match random.u8(..12) {
        0..4 => {
            let read = peer.theirs(Index::Read);
            peer.set(Index::Written, near(random, read));
        }
        4..7 => {
            let written = peer.theirs(Index::Written);
            peer.set(Index::Read, near(random, written.wrapping_sub(32)));
        }
        7 => peer.set(*random.choice(&Index::ALL[3..5]).expect("ring flags should not be empty"), random.u32(..)),
        8 => {
            let word = *random.choice(&Index::ALL).expect("ring indices should not be empty");
            let before = peer.theirs(word);
            peer.set_theirs(word, random.u32(..));
            // Usually restore the word, because the stream then survives further operations.
            if random.u16(..) >= 8 {
                peer.set_theirs(word, before);
            }
        }
        9 => peer.overwrite(random.bool(), random.u32(..), &[random.u8(..); 77]),
        10 => drop(peer.ring()),
        _ if random.u16(..) == 0 => peer.set(Index::Closed, 1),
        // Receive rings occasionally, because the other end can then send larger ones.
        _ if random.u8(..) == 0 => drop(peer.take_ring()),
        // Send rings rarely, so that most connections transfer bytes first, even on a slow machine.
        _ if random.u16(..) < 8 => {
            // Ignore the error: sending fails if the other end has closed the socket.
            let _ = peer.send_ring(peer.ring_max());
            peer.set(Index::Ring, if random.bool() { peer.ring_max() } else { random.u32(..) });
        }
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_memory_corruption_stays_within_connection() {
    let operations = std::env::var("FRISBEE_SHM_OPERATIONS")
        .map_or(1_000_000, |number| number.parse().expect("operation count should be a number"));
    let scene = Scene::new();
    let mut random = fastrand::Rng::with_seed(31);
    let (mut done, mut violations, mut received) = (0_u64, 0, 0);
    while done < operations {
        let (mut stream, peer) = scene.connect(1).await;
        let over = Arc::new(AtomicBool::new(false));
        let misbehaving = tokio::task::spawn_blocking({
            let (over, mut random) = (over.clone(), random.fork());
            move || {
                let mut count = 0_u64;
                while !over.load(Ordering::Relaxed) && count < EACH && done + count < operations {
                    misbehave(&peer, &mut random);
                    count += 1;
                }
                count
            }
        });
        let (mut reads, mut writes) = tokio::io::split(&mut stream);
        let reading = async {
            let mut buffer = [0; 1000];
            loop {
                match reads.read(&mut buffer).await {
                    Ok(0) => return Ok(()),
                    Ok(count) => received += count,
                    Err(error) => return Err(error),
                }
            }
        };
        let writing = async {
            loop {
                writes.write_all(&[7; 300]).await?;
            }
        };
        let ended: io::Result<()> = tokio::select! { ended = reading => ended, failed = writing => failed };
        if let Err(error) = ended {
            assert!(matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::BrokenPipe), "{error}");
            violations += 1;
        }
        over.store(true, Ordering::Relaxed);
        done += misbehaving.await.expect("task of the hostile peer should not panic");
    }
    assert!(violations > 0 && received > 0, "{violations} violations were found in {received} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_thread_fails_on_every_violation() {
    /// Operations of a hostile peer, which are repeated until the other end has failed.
    type Attack = fn(&Peer, &dyn Fn() -> bool) -> io::Result<()>;
    let claims: Attack = |peer, _| {
        peer.set(Index::Written, 9000);
        peer.ring()
    };
    let goes_on: Attack = |peer, _| {
        peer.set(Index::Ring, 65_536);
        peer.set(Index::Written, 2);
        peer.ring()
    };
    let talks: Attack = |peer, _| peer.write_to_socket(b"hello?");
    let floods: Attack = |peer, is_over| {
        while !is_over() {
            peer.ring()?;
        }
        Ok(())
    };
    for (misbehave, expected) in [
        (claims, "claims to have written up to position 9000"),
        (goes_on, "a ring of 65536 bytes that it has not sent"),
        (talks, "sends bytes on the socket"),
        (floods, "too many spurious wake-ups"),
    ] {
        let scene = Scene::new();
        let (stream, peer) = scene.connect(1).await;
        let mut stream = stream.into_blocking().await.expect("connection should be converted to a blocking stream");
        let reading = tokio::task::spawn_blocking(move || io::Read::read(&mut stream, &mut [0; 100]));
        misbehave(&peer, &|| reading.is_finished()).expect("hostile peer should complete its random actions");
        let read = timeout(LONG, reading)
            .await
            .expect("read should fail within the timeout")
            .expect("reading thread should not panic");
        let error = read.expect_err("protocol violation should be reported as an error");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains(expected), "{error}");
    }
}
