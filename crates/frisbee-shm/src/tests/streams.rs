//! Streams between correct peers, and between them and clients or servers without shared memory.

use crate::offer::{Message, OfferContent};
use frisbee_shm::{Connector, Listener, Stream, connect};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Timeout for operations that complete immediately on an idle machine.
const LONG: Duration = Duration::from_secs(60);

struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary folder should be created"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("socket")
    }
}

/// Connects two ends. The client has sent one byte, and the server has read it.
async fn pair(listener: &Listener, connecting: impl Future<Output = io::Result<Stream>>) -> (Stream, Stream) {
    let connecting = async {
        let mut client = connecting.await?;
        client.write_all(b"!").await?;
        io::Result::Ok(client)
    };
    let accepting = async {
        let mut server = listener.accept().await?;
        server.read_exact(&mut [0]).await?;
        io::Result::Ok(server)
    };
    let (client, server) = timeout(LONG, async { tokio::join!(connecting, accepting) })
        .await
        .expect("connecting should complete within the timeout");
    (client.expect("client should connect"), server.expect("server should accept the client"))
}

async fn echo_once(mut client: impl AsyncRead + AsyncWrite + Unpin, mut server: impl AsyncRead + AsyncWrite + Unpin) {
    let exchange = async {
        client.write_all(b"ping").await?;
        let mut received = [0; 4];
        server.read_exact(&mut received).await?;
        server.write_all(&received).await?;
        client.read_exact(&mut received).await?;
        assert_eq!(received, *b"ping");
        io::Result::Ok(())
    };
    timeout(LONG, exchange)
        .await
        .expect("echo should complete within the timeout")
        .expect("echo should succeed on both ends");
}

#[tokio::test]
async fn shared_memory_carries_bytes_both_ways() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let (client, server) = pair(&listener, connect(directory.path())).await;
    assert!(client.is_shared() && server.is_shared());
    let user = client.peer_credentials().expect("peer credentials should be available").uid();
    assert_eq!(server.peer_credentials().expect("peer credentials should be available").uid(), user);
    echo_once(client, server).await;
}

/// Sends bytes that encode their position, in pieces of many lengths.
async fn send_numbered(mut to: impl AsyncWrite + Unpin, bytes: usize) -> io::Result<()> {
    let numbered: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    let mut rest = &numbered[..];
    for length in (1..).step_by(997) {
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        to.write_all(piece).await?;
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    to.shutdown().await
}

async fn receive_numbered(mut from: impl AsyncRead + Unpin) -> io::Result<usize> {
    let (mut at, mut buffer) = (0, vec![0; 10_000]);
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(at);
        }
        assert!(buffer[..count].iter().enumerate().all(|(index, byte)| usize::from(*byte) == (at + index) % 251));
        at += count;
    }
}

async fn both_ways(ring: u32, spin: Duration) {
    const BYTES: usize = 3_000_000;
    let directory = Directory::new();
    let listener = Listener::builder()
        .ring_max(ring)
        .spin(spin)
        .bind(directory.path())
        .expect("server should bind to a free path");
    let connector = Connector::new().spin(spin);
    let (client, server) = pair(&listener, connector.connect(directory.path())).await;
    let tasks = [client, server].map(|stream| {
        let (reads, writes) = tokio::io::split(stream);
        (tokio::spawn(receive_numbered(reads)), tokio::spawn(send_numbered(writes, BYTES)))
    });
    for (receiving, sending) in tasks {
        let sent = timeout(LONG, sending).await.expect("sending should complete within the timeout");
        sent.expect("sending task should not panic").expect("peer should accept all bytes");
        let received = timeout(LONG, receiving)
            .await
            .expect("receiving should complete within the timeout")
            .expect("receiving task should not panic");
        assert_eq!(received.expect("peer should close the connection cleanly"), BYTES);
    }
}

#[tokio::test]
async fn many_rings_transfer_between_split_tasks() {
    both_ways(4096, Duration::ZERO).await;
    both_ways(65_536, Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rings_transfer_with_or_without_spin() {
    both_ways(4096, Duration::ZERO).await;
    both_ways(65_536, Duration::from_micros(20)).await;
}

/// Returns bytes without two equal parts. No part is all zeros.
fn unlike_bytes() -> Vec<u8> {
    let words = (1_u64..100_000).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    words.flat_map(u64::to_be_bytes).collect()
}

/// Writes bytes that fill whole parts of a ring, each time followed by more bytes than the ring has space for. A part
/// is a quarter of a ring.
async fn outgrow_rings(mut to: impl AsyncWrite + Unpin, mut bytes: &[u8], seed: u64) -> io::Result<()> {
    let mut random = fastrand::Rng::with_seed(seed);
    for ring in [1 << 16, 1 << 17] {
        let parts = ring / 4 * random.usize(1..4);
        for length in [parts, ring - parts + random.usize(1..ring)] {
            let (piece, rest) = bytes.split_at(length);
            to.write_all(piece).await?;
            bytes = rest;
        }
    }
    to.shutdown().await
}

/// Reads to the end and reports the first byte that differs.
async fn receive_outgrown(mut from: impl AsyncRead + Unpin, bytes: &[u8]) -> Result<(), String> {
    let (mut at, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        let count = from.read(&mut buffer).await.map_err(|error| format!("after {at} bytes: {error}"))?;
        if buffer[..count] != bytes[at..at + count] {
            return Err(format!("{count} bytes after {at} bytes: wrong content"));
        }
        if count == 0 {
            return Ok(());
        }
        at += count;
    }
}

/// A reader preempted between two parts of a ring must notice that the ring was replaced. More threads than processors
/// provoke that. `FRISBEE_SHM_SECONDS` extends the duration.
#[tokio::test(flavor = "multi_thread", worker_threads = 16)]
async fn rings_outgrown_during_reads_keep_bytes() {
    let seconds =
        std::env::var("FRISBEE_SHM_SECONDS").map_or(1.0, |text| text.parse().expect("duration should be a number"));
    let until = std::time::Instant::now() + Duration::from_secs_f64(seconds);
    let bytes: Arc<[u8]> = unlike_bytes().into();
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let (mut connections, mut running) = (0, tokio::task::JoinSet::new());
    while std::time::Instant::now() < until || !running.is_empty() {
        while running.len() < 32 && std::time::Instant::now() < until {
            let (client, server) = pair(&listener, connect(directory.path())).await;
            connections += 1;
            for (mut to, mut from) in [client, server].map(tokio::io::split).map(|(reads, writes)| (writes, reads)) {
                let bytes = bytes.clone();
                running.spawn(async move {
                    let writing = outgrow_rings(&mut to, &bytes, connections);
                    let (received, sent) = tokio::join!(receive_outgrown(&mut from, &bytes), writing);
                    received.and(sent.map_err(|error| error.to_string()))
                });
            }
        }
        if let Some(ended) =
            timeout(LONG, running.join_next()).await.expect("connection should complete within the timeout")
        {
            ended
                .expect("connection task should not panic")
                .unwrap_or_else(|error| panic!("connection {connections} should be accepted: {error}"));
        }
    }
    println!("{connections} connections");
}

#[test]
fn waiting_stream_continues_in_new_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    for shared_max in [0, 1] {
        let (directory, first, second) = (Directory::new(), runtime(), runtime());
        let (mut client, mut server) = first.block_on(async {
            let listener = Listener::builder()
                .shared_max(shared_max)
                .bind(directory.path())
                .expect("server should bind to a free path");
            let (client, mut server) = pair(&listener, connect(directory.path())).await;
            tokio::select! {
                biased;
                read = server.read_u8() => panic!("read should wait, because nothing was written: {read:?}"),
                () = std::future::ready(()) => {}
            }
            (client, server)
        });
        assert_eq!(server.is_shared(), shared_max > 0);
        let answering = std::thread::spawn(move || {
            second.block_on(async {
                server.move_to_current_runtime()?;
                let received =
                    timeout(LONG, server.read_u8()).await.expect("read should complete within the timeout")?;
                server.write_u8(received + 1).await?;
                io::Result::Ok(server)
            })
        });
        let answer = first.block_on(async {
            client.write_u8(1).await?;
            timeout(LONG, client.read_u8()).await.expect("read should complete within the timeout")
        });
        assert_eq!(answer.expect("server should reply to the request"), 2);
        answering.join().expect("replying thread should not panic").expect("server should read and reply");
    }
}

#[tokio::test]
async fn bytes_written_before_drop_are_readable() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let (mut client, mut server) = pair(&listener, connect(directory.path())).await;
    client.write_all(&[7; 60_000]).await.expect("client should write all bytes");
    drop(client);
    let mut received = Vec::new();
    timeout(LONG, server.read_to_end(&mut received))
        .await
        .expect("reading should complete within the timeout")
        .expect("all bytes should be readable before the end");
    assert_eq!(received, [7; 60_000]);
    let error = loop {
        // Writes succeed while the ring has space, although nobody reads.
        if let Err(error) = server.write(&[0; 10_000]).await {
            break error;
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn first_client_write_may_exceed_ring() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let receiving = async {
        let mut server = listener.accept().await?;
        server.read_exact(&mut [0; 3000]).await?;
        io::Result::Ok(server)
    };
    let sending = async {
        let mut client = connect(directory.path()).await?;
        client.write_all(&[7; 3000]).await?;
        io::Result::Ok(client)
    };
    let both = timeout(LONG, async { tokio::join!(sending, receiving) })
        .await
        .expect("both ends should complete within the timeout");
    let (mut client, _server) =
        (both.0.expect("client should write all bytes"), both.1.expect("server should read all bytes"));
    assert_eq!(
        client.write(&[7; 1 << 20]).await.expect("client should write the message"),
        1 << 20,
        "message should fit into the longer ring"
    );
}

#[tokio::test]
async fn one_direction_can_end_first() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let (mut client, mut server) = pair(&listener, connect(directory.path())).await;
    client.write_all(b"the last").await.expect("client should write the message");
    client.shutdown().await.expect("client should shut down writing");
    assert_eq!(
        client.write(b"more").await.expect_err("write after a shutdown should fail").kind(),
        io::ErrorKind::BrokenPipe
    );
    let mut received = String::new();
    timeout(LONG, server.read_to_string(&mut received))
        .await
        .expect("reading should complete within the timeout")
        .expect("server should read to the end");
    assert_eq!(received, "the last");
    server.write_all(b"an answer").await.expect("server should write the reply");
    drop(server);
    received.clear();
    timeout(LONG, client.read_to_string(&mut received))
        .await
        .expect("reading should complete within the timeout")
        .expect("client should read to the end");
    assert_eq!(received, "an answer");
}

#[tokio::test]
async fn client_without_offer_uses_socket() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let client = UnixStream::connect(directory.path()).await.expect("client should connect to the socket");
    let server = listener.accept().await.expect("server should accept the client");
    echo_once(client, server).await;
}

#[tokio::test]
async fn server_writing_first_uses_socket() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let mut client = UnixStream::connect(directory.path()).await.expect("client should connect to the socket");
    let mut server = listener.accept().await.expect("server should accept the client");
    timeout(LONG, server.write_all(b"welcome"))
        .await
        .expect("write should complete within the timeout")
        .expect("server should write to the client");
    let mut received = [0; 7];
    client.read_exact(&mut received).await.expect("client should receive the greeting");
    assert_eq!(received, *b"welcome");
    assert!(!server.is_shared());
}

#[tokio::test]
async fn full_server_uses_socket_until_memory_frees() {
    let directory = Directory::new();
    let listener = Listener::builder().shared_max(1).bind(directory.path()).expect("server should bind to a free path");
    let first = pair(&listener, connect(directory.path())).await;
    assert!(first.0.is_shared() && first.1.is_shared());
    let (client, server) = pair(&listener, connect(directory.path())).await;
    assert!(!client.is_shared() && !server.is_shared());
    echo_once(client, server).await;
    drop(first);
    let (client, _) = pair(&listener, connect(directory.path())).await;
    assert!(client.is_shared(), "the place of a connection that has ended is free");
}

/// Regression test: after the first error, a stream with a failed handshake returned the end of input.
#[tokio::test]
async fn failed_handshake_is_not_end_of_input() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let mut client = UnixStream::connect(directory.path()).await.expect("client should connect to the socket");
    let mut server = listener.accept().await.expect("server should accept the client");
    let offer = Message::new(OfferContent::Offer, 4096).encode();
    client.write_all(&offer).await.expect("client should write the offer");
    let violate = async {
        client.readable().await.expect("server should accept the offer");
        client.write_all(b"!").await.expect("client should write an invalid reply");
    };
    let (failed, ()) = timeout(LONG, async { tokio::join!(server.read_u8(), violate) })
        .await
        .expect("handshake should fail within the timeout");
    assert_eq!(failed.expect_err("reply should be rejected").kind(), io::ErrorKind::InvalidData);
    assert_eq!(
        server.read(&mut [0]).await.expect_err("later read should fail too").kind(),
        io::ErrorKind::NotConnected
    );
}

/// Regression test: only the creator of a wake-up pipe could open it, so clients of other users continued over the
/// socket.
#[test]
fn allowed_user_shares_memory() {
    const USER: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: only root can become another user");
    }
    let directory = Directory::new();
    let (path, all) = (directory.path(), Permissions::from_mode(0o777));
    std::fs::set_permissions(directory.0.path(), all.clone()).expect("folder should become accessible to all users");
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let connecting = path.clone();
    // The system call changes only the user of its thread, so other tests are not affected.
    let client = move || {
        let user = rustix::process::Uid::from_raw(USER);
        rustix::thread::set_thread_res_uid(None, user, None).expect("root should become another user");
        runtime().block_on(async {
            let mut client = connect(connecting).await.expect("client should connect");
            client.write_all(b"!").await.expect("client should write");
            client.is_shared()
        })
    };
    runtime().block_on(async {
        let listener = Listener::builder().allow_user(USER).bind(&path).expect("server should bind to a free path");
        std::fs::set_permissions(&path, all).expect("socket should become accessible to all users");
        let connecting = std::thread::spawn(client);
        let mut server = listener.accept().await.expect("client should connect");
        let read = timeout(LONG, server.read_exact(&mut [0])).await.expect("client should write within the timeout");
        read.expect("server should read the byte");
        assert!(connecting.join().expect("client should not panic") && server.is_shared());
    });
}

#[tokio::test]
async fn ring_size_respects_client_limit() {
    let directory = Directory::new();
    let listener =
        Listener::builder().ring_max(65_536).bind(directory.path()).expect("server should bind to a free path");
    let (mut client, _server) = pair(&listener, Connector::new().ring_max(4096).connect(directory.path())).await;
    assert!(client.is_shared());
    assert_eq!(client.write(&[0; 65_536]).await.expect("write should fill the ring"), 4096);
}

/// Returns the result of a server that accepts a second connection after the client's offer.
async fn second<T>(serving: JoinHandle<io::Result<T>>) -> T {
    let served = timeout(LONG, serving).await.expect("client should make an offer and connect again");
    served.expect("server task should not panic").expect("server should accept the second connection")
}

#[tokio::test]
async fn server_closing_on_offer_gets_plain_socket() {
    let directory = Directory::new();
    let old = UnixListener::bind(directory.path()).expect("listener should bind to the socket path");
    let serving = tokio::spawn(async move {
        let (mut first, _) = old.accept().await?;
        first.read_exact(&mut [0; 16]).await?;
        drop(first);
        Ok::<_, io::Error>(old.accept().await?.0)
    });
    let client = timeout(LONG, connect(directory.path()))
        .await
        .expect("connecting should complete within the timeout")
        .expect("client should connect without shared memory");
    assert!(!client.is_shared());
    echo_once(client, second(serving).await).await;
}

#[tokio::test]
async fn unexpected_offer_reply_falls_back_to_socket() {
    let directory = Directory::new();
    let old = UnixListener::bind(directory.path()).expect("listener should bind to the socket path");
    let serving = tokio::spawn(async move {
        let (mut first, _) = old.accept().await?;
        first.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await?;
        Ok::<_, io::Error>((old.accept().await?.0, first))
    });
    let client = timeout(LONG, connect(directory.path()))
        .await
        .expect("connecting should complete within the timeout")
        .expect("client should connect without shared memory");
    let (other, _first) = second(serving).await;
    echo_once(client, other).await;
}

#[tokio::test(start_paused = true)]
async fn silent_server_gets_plain_socket_after_timeout() {
    let directory = Directory::new();
    let old = UnixListener::bind(directory.path()).expect("listener should bind to the socket path");
    let serving = tokio::spawn(async move {
        let first = old.accept().await?;
        Ok::<_, io::Error>((old.accept().await?.0, first))
    });
    let start = tokio::time::Instant::now();
    let client = connect(directory.path()).await.expect("client should connect without shared memory");
    assert!(!client.is_shared() && start.elapsed() < Duration::from_secs(2));
    second(serving).await;
}

#[tokio::test]
async fn only_dead_server_socket_is_replaced() {
    let directory = Directory::new();
    drop(std::os::unix::net::UnixListener::bind(directory.path()).expect("listener should bind to the socket path"));
    let listener = Listener::bind(directory.path()).expect("stale socket file should be replaced");
    let error = Listener::bind(directory.path()).expect_err("occupied path should be rejected");
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    drop(listener);
    assert!(!directory.path().exists());
}

#[tokio::test]
async fn path_of_idle_listener_is_in_use() {
    let directory = Directory::new();
    let silent =
        std::os::unix::net::UnixListener::bind(directory.path()).expect("listener should bind to the socket path");
    rustix::net::listen(&silent, 0).expect("accept backlog should be set to zero");
    let _queued = UnixStream::connect(directory.path()).await.expect("first client should be queued in the backlog");
    let (runtime, (sender, bound)) = (tokio::runtime::Handle::current(), std::sync::mpsc::channel());
    let binding = std::thread::spawn(move || {
        let _runtime = runtime.enter();
        sender
            .send(Listener::bind(directory.path()).expect_err("occupied path should be rejected").kind())
            .expect("receiver of the result should not be dropped");
    });
    let bound = bound.recv_timeout(LONG);
    drop(silent);
    assert_eq!(bound.expect("binding should not wait"), io::ErrorKind::AddrInUse);
    binding.join().expect("binding thread should not panic");
}

#[tokio::test]
async fn invalid_ring_sizes_are_rejected() {
    let directory = Directory::new();
    let error = Listener::builder()
        .ring_max(5000)
        .bind(directory.path())
        .expect_err("ring size that is not a power of two should be rejected");
    assert_eq!(error.to_string(), "a ring of 5000 bytes is not a power of two from 4096 to 16777216");
    let error = Connector::new()
        .ring_max(1)
        .connect(directory.path())
        .await
        .expect_err("ring size that is not a power of two should be rejected");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

/// Helper of the following test, which runs in the process that is killed.
#[tokio::test]
async fn child_that_writes_without_end() {
    let Some(path) = std::env::var_os("FRISBEE_SHM_CHILD") else { return };
    let mut stream = connect(path).await.expect("child should connect to the listener");
    while stream.write_all(&[1; 100_000]).await.is_ok() {}
}

#[tokio::test]
async fn writing_process_death_is_noticed_immediately() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.path()).expect("listener should bind to the socket path");
    let program = std::env::current_exe().expect("path of the test program should be known");
    let mut child = tokio::process::Command::new(program)
        .args(["--exact", "tests::streams::child_that_writes_without_end"])
        .env("FRISBEE_SHM_CHILD", directory.path())
        .stdout(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("child process should start");
    let mut server = timeout(LONG, listener.accept())
        .await
        .expect("child should connect within the timeout")
        .expect("server should accept the child");
    let mut buffer = vec![0; 30_000];
    for _ in 0..100 {
        timeout(LONG, server.read_exact(&mut buffer))
            .await
            .expect("read should complete within the timeout")
            .expect("connection should be open");
    }
    assert!(server.is_shared());
    child.start_kill().expect("child process should be running");
    let drained = async { while server.read(&mut buffer).await.expect("reading to the end should succeed") > 0 {} };
    // The end is noticed immediately, but a machine under load may take a while to kill the process.
    timeout(LONG, drained).await.expect("end of input should arrive within the timeout");
    child.wait().await.expect("child process should exit");
}
