//! Tests of several generations in one process: taking over, and failures of successors.
use crate::protocol::{Message, VERSION};
use crate::wire::Wire;
use frisbee_restart::{EndReason, Generation, Refusal, Restart, RestartError};
use std::fs;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, coop};
use tokio::time::timeout;

/// Timeout for an event that should occur immediately.
const TIMEOUT: Duration = Duration::from_secs(30);

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary folder should be created"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn restart(&self) -> Restart {
        Restart::new(self.path("control"))
    }

    async fn generation(&self) -> Generation {
        self.restart().take_over().await.expect("socket folder should be writable")
    }
}

/// A running generation that replies to each connection with its generation number.
struct Serving {
    address: std::net::SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<EndReason>,
}

async fn serve(mut generation: Generation, number: u8) -> Serving {
    let listener = generation.tcp("numbers", "127.0.0.1:0").await.expect("socket should bind to the loopback address");
    let address = listener.local_addr().expect("socket should have a local address");
    let listener = TcpListener::from_std(listener).expect("socket should be nonblocking");
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let serving = generation.serve(async { drop(stopped.await) }, |shutdown| async move {
            tokio::pin!(shutdown);
            loop {
                tokio::select! {
                    biased;
                    () = &mut shutdown => return Ok::<(), std::io::Error>(()),
                    accepted = listener.accept() => accepted?.0.write_all(&[number]).await?,
                }
            }
        });
        serving.await.expect("server should start")
    });
    Serving { address, stop: Some(stop), task }
}

impl Serving {
    /// Connects to the server and returns the generation number in its reply.
    async fn answer(&self) -> u8 {
        let mut socket = TcpStream::connect(self.address).await.expect("server should accept the connection");
        timeout(TIMEOUT, socket.read_u8())
            .await
            .expect("reply should arrive within the timeout")
            .expect("connection should not be reset")
    }

    async fn ending(self) -> EndReason {
        timeout(TIMEOUT, self.task)
            .await
            .expect("generation should end within the timeout")
            .expect("task should not panic")
    }

    async fn stop(mut self) {
        drop(self.stop.take());
        assert_eq!(self.ending().await, EndReason::Stopped);
    }
}

/// Starts a successor. Returns it together with its connection to the test, which acts as the previous generation.
async fn successor(folder: &Folder) -> (Generation, Wire) {
    let listener = UnixListener::bind(folder.path("control")).expect("socket should bind to an unused path");
    let taking_over = tokio::spawn(folder.restart().take_over());
    let (socket, _) = listener.accept().await.expect("successor should connect");
    let mut wire = Wire::new(socket).expect("successor should belong to the same user");
    let hello = wire.receive().await.expect("successor should send a valid message");
    assert!(matches!(hello, Some((Message::Hello { .. }, _))));
    let sockets = Message::Sockets { version: VERSION, sockets: Vec::new() };
    wire.send(&sockets, &[listener.as_fd()]).await.expect("successor should receive the sockets");
    (taking_over.await.expect("task should not panic").expect("sockets should be valid"), wire)
}

/// Regression test: a call of `ready` that was cancelled before it had sent READY counted as announced. The next call
/// did not send it either.
#[tokio::test]
async fn ready_cancelled_before_sending_is_sent_later() {
    let folder = Folder::new();
    let (mut next, mut wire) = successor(&folder).await;
    // Use up the budget of this task, so that the first call cannot send.
    while coop::has_budget_remaining() {
        coop::consume_budget().await;
    }
    assert!(poll_fn(|context| Poll::Ready(pin!(next.ready()).poll(context).is_pending())).await);
    wire.send(&Message::Go, &[]).await.expect("successor should keep the connection open");
    next.ready().await.expect("previous generation should have replied");
    let ready = wire.receive().await.expect("successor should send a valid message");
    assert!(matches!(ready, Some((Message::Ready, _))));
}

/// Regression test: a generation that replied after the timeout of its successor stopped, so that no process served.
#[tokio::test]
async fn late_reply_leaves_previous_generation_serving() {
    let folder = Folder::new();
    let (mut next, mut wire) = successor(&folder).await;
    tokio::time::pause();
    assert!(matches!(next.ready().await, Err(RestartError::Timeout)));
    let ready = wire.receive().await.expect("successor should send a valid message");
    assert!(matches!(ready, Some((Message::Ready, _))));
    wire.send(&Message::Go, &[]).await.expect_err("successor should not receive a late reply");
    assert!(matches!(next.ready().await, Err(RestartError::Timeout)));
}

/// Regression test: after a violation of the protocol, each further call of `ready` waited for another reply.
#[tokio::test]
async fn ready_after_violation_returns_same_error() {
    let folder = Folder::new();
    let (mut next, mut wire) = successor(&folder).await;
    wire.send(&Message::Ready, &[]).await.expect("successor should keep the connection open");
    assert!(matches!(next.ready().await, Err(RestartError::Protocol("GO was expected"))));
    let again = poll_fn(|context| Poll::Ready(pin!(next.ready()).poll(context))).await;
    assert!(matches!(again, Poll::Ready(Err(RestartError::Protocol("GO was expected")))));
}

/// Regression test: UDP sockets were not passed to the successor, which failed because the address was in use.
#[tokio::test]
async fn successor_receives_datagrams_on_same_socket() {
    let folder = Folder::new();
    let mut first = folder.generation().await;
    let socket = first.udp("calls", "127.0.0.1:0").await.expect("socket should bind to the loopback address");
    let address = socket.local_addr().expect("socket should have a local address");
    first.ready().await.expect("first generation should serve");
    let replaced = tokio::spawn(async move { first.replaced().await });
    let mut next = folder.generation().await;
    let inherited = next.udp("calls", address).await.expect("socket should be passed to the new generation");
    next.ready().await.expect("previous generation should stop");
    timeout(TIMEOUT, replaced)
        .await
        .expect("generation should be replaced within the timeout")
        .expect("task should not panic");
    drop(socket);
    let client = std::net::UdpSocket::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
    client.send_to(b"hello", address).expect("datagram should be sent");
    inherited.set_read_timeout(Some(TIMEOUT)).expect("socket should accept the read timeout");
    let mut datagram = [0; 16];
    assert_eq!(inherited.recv(&mut datagram).expect("datagram should arrive"), 5);
}

#[tokio::test]
async fn successor_serves_on_same_socket() {
    let folder = Folder::new();
    let mut serving = serve(folder.generation().await, 0).await;
    assert_eq!(serving.answer().await, 0);
    for number in 1..5 {
        let successor = folder.generation().await;
        assert!(!successor.is_first());
        assert_eq!(serving.answer().await, number - 1, "successor should not be ready yet");
        let next = serve(successor, number).await;
        assert_eq!(next.address, serving.address);
        assert_eq!(serving.ending().await, EndReason::Replaced);
        assert_eq!(next.answer().await, number);
        serving = next;
    }
    let address = serving.address;
    serving.stop().await;
    TcpStream::connect(address).await.expect_err("connection should be refused");
    assert!(!folder.path("control").exists(), "last owner should remove the file");
    assert!(folder.generation().await.is_first());
}

#[tokio::test]
async fn queued_connections_are_served_by_successor() {
    let folder = Folder::new();
    let mut first = folder.generation().await;
    let address = first
        .tcp("numbers", "127.0.0.1:0")
        .await
        .expect("socket should be bound")
        .local_addr()
        .expect("socket should have a local address");
    first.ready().await.expect("first generation should become ready");
    let mut queued = TcpStream::connect(address).await.expect("server should accept the connection");
    let replaced = tokio::spawn(async move { first.replaced().await });
    let second = serve(folder.generation().await, 2).await;
    timeout(TIMEOUT, replaced).await.expect("generation should end within the timeout").expect("task should not panic");
    assert_eq!(
        timeout(TIMEOUT, queued.read_u8())
            .await
            .expect("reply should arrive within the timeout")
            .expect("connection should not be reset"),
        2
    );
    second.stop().await;
}

#[tokio::test]
async fn successor_exit_before_ready_changes_nothing() {
    let folder = Folder::new();
    let serving = serve(folder.generation().await, 0).await;
    for _ in 0..3 {
        let mut successor = folder.generation().await;
        successor.tcp("numbers", "127.0.0.1:0").await.expect("socket should be inherited from the previous generation");
        successor.unix("new", folder.path("new")).expect("socket folder should be writable");
        drop(successor);
        assert_eq!(serving.answer().await, 0);
        assert!(folder.path("control").exists() && !folder.path("new").exists());
    }
    let next = serve(folder.generation().await, 1).await;
    assert_eq!(serving.ending().await, EndReason::Replaced);
    next.stop().await;
}

#[tokio::test]
async fn zero_ready_timeout_is_rejected() {
    let error = Folder::new().restart().ready_timeout(Duration::ZERO).take_over().await.expect_err("zero is invalid");
    assert_eq!(error.to_string(), "invalid setting: ready_timeout = 0ns: must be greater than zero");
}

#[tokio::test]
async fn late_successor_is_refused_and_notified() {
    let folder = Folder::new();
    let restart = folder.restart().ready_timeout(Duration::from_millis(50));
    let serving = serve(restart.take_over().await.expect("socket folder should be writable"), 0).await;
    let mut late = folder.generation().await;
    // The successor is refused until the previous successor has failed.
    let next = async {
        loop {
            match folder.restart().take_over().await {
                Err(RestartError::Refused(Refusal::Busy)) => tokio::task::yield_now().await,
                other => return other.expect("predecessor should hand over to the successor"),
            }
        }
    };
    let next = timeout(TIMEOUT, next).await.expect("predecessor should hand over within the timeout");
    for _ in 0..2 {
        match late.ready().await {
            Err(RestartError::Refused(Refusal::TooLate)) => {}
            other => panic!("{other:?}"),
        }
    }
    drop(late);
    assert_eq!(serving.answer().await, 0);
    drop(next);
    assert_eq!(serving.answer().await, 0);
    serving.stop().await;
}

#[tokio::test]
async fn second_successor_is_rejected_while_first_starts() {
    let folder = Folder::new();
    let serving = serve(folder.generation().await, 0).await;
    let successor = folder.generation().await;
    for _ in 0..3 {
        match folder.restart().take_over().await {
            Err(RestartError::Refused(Refusal::Busy)) => {}
            other => panic!("{other:?}"),
        }
    }
    let next = serve(successor, 1).await;
    assert_eq!(serving.ending().await, EndReason::Replaced);
    assert_eq!(next.answer().await, 1);
    next.stop().await;
}

#[tokio::test]
async fn one_of_concurrent_processes_is_first() {
    let folder = Folder::new();
    let all_started = Arc::new(Barrier::new(8));
    let begin = || {
        let (restart, all_started) = (folder.restart(), all_started.clone());
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
            runtime.block_on(async {
                // The first process does not serve, so the others receive no reply.
                let found = timeout(Duration::from_millis(200), restart.take_over()).await;
                all_started.wait();
                matches!(found, Ok(Ok(generation)) if generation.is_first())
            })
        })
    };
    let threads: Vec<_> = (0..8).map(|_| begin()).collect();
    let first =
        threads.into_iter().map(|thread| thread.join().expect("thread should not panic")).filter(|is| *is).count();
    assert_eq!(first, 1);
}

#[tokio::test]
async fn bytes_that_are_no_message_change_nothing() {
    let folder = Folder::new();
    let serving = serve(folder.generation().await, 0).await;
    let hello = b"\x01\x00\x12frisbee-restart\0\x01\x01";
    let other_version = b"\x01\x00\x12frisbee-restart\0\x02\x09";
    let attempts: [&[u8]; 8] = [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xff\xff\xff\xff",
        b"\x03\x00\x00",
        &hello[..10],
        other_version,
        &[&hello[..], b"\x04\x00\x00"].concat(),
        &[&hello[..], &hello[..]].concat(),
    ];
    for bytes in attempts {
        let mut socket =
            UnixStream::connect(folder.path("control")).await.expect("server should accept the connection");
        socket.write_all(bytes).await.expect("write to the connection should succeed");
        socket.shutdown().await.expect("socket should shut down");
        let mut answer = Vec::new();
        // Closing the connection with unread bytes resets it.
        let _ = timeout(TIMEOUT, socket.read_to_end(&mut answer))
            .await
            .expect("connection should close within the timeout");
        if bytes == other_version {
            assert_eq!(answer, b"\x05\x00\x01\x02", "there is no common version");
        }
        assert_eq!(serving.answer().await, 0, "{bytes:?}");
    }
    let next = serve(folder.generation().await, 1).await;
    assert_eq!(serving.ending().await, EndReason::Replaced);
    next.stop().await;
}

#[tokio::test]
async fn socket_file_is_removed_with_last_generation() {
    let folder = Folder::new();
    let path = folder.path("service");
    let mut generation = folder.generation().await;
    drop(generation.unix("service", &path).expect("socket folder should be writable"));
    generation.ready().await.expect("first generation should become ready");
    for _ in 0..3 {
        let replaced = tokio::spawn(async move { generation.replaced().await });
        generation = folder.generation().await;
        drop(generation.unix("service", &path).expect("socket should be inherited from the previous generation"));
        generation.ready().await.expect("predecessor should hand over to the successor");
        timeout(TIMEOUT, replaced)
            .await
            .expect("generation should end within the timeout")
            .expect("task should not panic");
        UnixStream::connect(&path).await.expect("server should accept the connection");
    }
    drop(generation);
    assert!(!path.exists() && !folder.path("control").exists());
}

#[tokio::test]
async fn successor_rebinds_only_changed_address() {
    let folder = Folder::new();
    let mut first = folder.generation().await;
    let [kept, changed] =
        [first.tcp("kept", "127.0.0.1:0").await, first.tcp("changed", "127.0.0.1:0").await].map(|bound| {
            bound
                .expect("socket should bind to the loopback address")
                .local_addr()
                .expect("socket should have a local address")
        });
    first.ready().await.expect("first generation should become ready");
    let replaced = tokio::spawn(async move { first.replaced().await });
    let mut second = folder.generation().await;
    assert_eq!(
        second
            .tcp("kept", kept)
            .await
            .expect("socket should be inherited from the previous generation")
            .local_addr()
            .expect("socket should have a local address"),
        kept
    );
    let other = second.tcp("changed", "127.0.0.2:0").await.expect("socket should bind to the loopback address");
    assert_ne!(other.local_addr().expect("socket should have a local address"), changed);
    second.ready().await.expect("predecessor should hand over to the successor");
    timeout(TIMEOUT, replaced).await.expect("generation should end within the timeout").expect("task should not panic");
    TcpStream::connect(changed).await.expect_err("connection should be refused");
    TcpStream::connect(kept).await.expect("server should accept the connection");
}

#[tokio::test]
async fn successor_serves_if_its_predecessor_dies_early() {
    let folder = Folder::new();
    let mut first = folder.generation().await;
    first.ready().await.expect("first generation should become ready");
    let dying = tokio::spawn(async move { first.replaced().await });
    let mut second = folder.generation().await;
    dying.abort();
    assert!(dying.await.expect_err("server task should have been aborted").is_cancelled());
    second.ready().await.expect("successor should become ready");
    let third = tokio::spawn(async move { second.replaced().await });
    assert!(!folder.generation().await.is_first());
    third.abort();
}

#[tokio::test]
async fn immediately_failing_successor_is_not_announced() {
    let folder = Folder::new();
    let serving = serve(folder.generation().await, 0).await;
    let failed = folder
        .generation()
        .await
        .serve(std::future::pending(), |_| async { Err::<(), _>(std::io::Error::other("no rings")) });
    assert_eq!(failed.await.expect_err("server should return its error").to_string(), "no rings");
    assert_eq!(serving.answer().await, 0);
    serving.stop().await;
}

#[tokio::test]
async fn names_and_numbers_of_sockets_have_limits() {
    let folder = Folder::new();
    let mut generation = folder.generation().await;
    for name in ["", "a:b", "a\nb", &"n".repeat(256)] {
        assert!(matches!(generation.tcp(name, "127.0.0.1:0").await, Err(RestartError::Name(_))), "{name:?}");
    }
    for _ in 0..64 {
        generation.tcp("many", "127.0.0.1:0").await.expect("socket should bind to the loopback address");
    }
    assert!(matches!(generation.tcp("many", "127.0.0.1:0").await, Err(RestartError::TooManySockets)));
    generation.ready().await.expect("first generation should become ready");
    let replaced = tokio::spawn(async move { generation.replaced().await });
    let mut next = folder.generation().await;
    for _ in 0..64 {
        next.tcp("many", "127.0.0.1:0").await.expect("socket should be inherited from the previous generation");
    }
    next.ready().await.expect("predecessor should hand over to the successor");
    timeout(TIMEOUT, replaced).await.expect("generation should end within the timeout").expect("task should not panic");
}

/// Environment variable that contains the control socket's path when this test program runs as another user.
const CONTROL: &str = "FRISBEE_TEST_CONTROL";

#[tokio::test]
async fn processes_of_other_users_get_no_sockets() {
    // This part runs in the process of the other user.
    if let Some(path) = std::env::var_os(CONTROL) {
        let mut socket = std::os::unix::net::UnixStream::connect(path)
            .expect("other users should have permission to connect to the socket");
        let _ = socket.write_all(b"\x01\x00\x12frisbee-restart\0\x01\x01");
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert!(answer.is_empty(), "predecessor should send no reply: {answer:?}");
        println!("refused without a word");
        return;
    }
    let folder = Folder::new();
    let serving = serve(folder.generation().await, 0).await;
    let mode = |path: &Path| fs::metadata(path).expect("socket file should have metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path("control")), 0o600);
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .expect("permissions of the socket file should be changed");
    };
    set(folder.0.path(), 0o755);
    set(&folder.path("control"), 0o666);
    // Copy the program to a folder that other users can reach, wherever the build folder is.
    let this = folder.path("again");
    fs::copy(std::env::current_exe().expect("path of the test program should be known"), &this)
        .expect("test program should be copied");
    set(&this, 0o755);
    let again = Command::new(&this)
        .args(["--exact", "tests::processes_of_other_users_get_no_sockets", "--nocapture"])
        .env(CONTROL, folder.path("control"))
        .current_dir("/")
        .stderr(Stdio::inherit())
        .stdout(Stdio::piped())
        .uid(65_534)
        .spawn();
    let Ok(again) = again else {
        println!("skipped: only root can act as another user");
        return serving.stop().await;
    };
    let output = tokio::task::spawn_blocking(|| again.wait_with_output());
    let output = output.await.expect("task should not panic").expect("test program should run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("refused without a word"), "{text}");
    assert_eq!(serving.answer().await, 0);
    serving.stop().await;
}
