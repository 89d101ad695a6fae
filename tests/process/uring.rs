//! Tests specific to io_uring: operations that outlive their tasks, methods that depend on the size of transfers, and
//! systems without io_uring. With `FRISBEE_IO_BACKEND=require`, all other tests run on io_uring too.

use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Config, Handlers, HeaderForm, Operation, PacketId};
use frisbee_core::Decoder;
use frisbee_tests::interop::{AddRequest, InteropClient, Payload, SleepRequest};
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::{serve_interop_with, until};
use frpc::{Channel, IoBackend, Server, Workers};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::{Command, Output};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;

async fn serve() -> SocketAddr {
    serve_interop_with(Server::builder().io_backend(IoBackend::Uring).workers(Workers::Threads(1))).await
}

async fn client(address: SocketAddr) -> InteropClient {
    let channel = Channel::builder().io_backend(IoBackend::Uring).connect(address.to_string()).await;
    InteropClient::new(channel.expect("server should be listening"))
}

fn payload(seed: u32, length: usize) -> Payload {
    let data = (0..length).map(|at| (at as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) as u8);
    Payload { seq: seed, data: data.collect() }
}

/// Returns the number of open sockets of this process.
fn sockets() -> usize {
    let links = std::fs::read_dir("/proc/self/fd").expect("folder should be readable");
    let is_socket = |link: &std::fs::DirEntry| {
        std::fs::read_link(link.path()).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    };
    links.flatten().filter(is_socket).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_of_every_size_arrive_intact() {
    let client = client(serve().await).await;
    // The sizes grow and shrink, so that reads switch between shared buffers and bulk reads.
    let sizes = [0, 1, 100, 4_000, 16_447, 16_448, 70_000, 300_000, 2_000_000, 300_000, 16_000, 50, 1];
    for round in 0..3 {
        for size in sizes {
            let calls: Vec<_> = (0..8)
                .map(|call| {
                    let (client, sent) = (client.clone(), payload(round * 8 + call, size));
                    tokio::spawn(async move {
                        let echoed = client.echo_payload(sent.clone()).await.expect("call should succeed").into_inner();
                        assert!(echoed == sent, "{size} echoed bytes should equal the sent ones");
                    })
                })
                .collect();
            for call in calls {
                call.await.expect("each call should be answered");
            }
        }
        for a in 0..100 {
            assert_eq!(client.add(AddRequest { a, b: 1 }).await.expect("call should succeed").get_ref().total, a + 1);
        }
    }
}

/// Covers every way in which calls and connections end. Calls are cancelled, and connections are dropped with requests,
/// replies and incomplete requests in flight.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_calls_and_connections_leave_no_state() {
    if ran_alone(|| ()) {
        return;
    }
    let address = serve().await;
    let steady = client(address).await;
    // After a call, the server has accepted the connection.
    steady.add(AddRequest { a: 0, b: 1 }).await.expect("call should succeed");
    let before = sockets();
    let rounds = std::env::var("FRISBEE_DROPS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(40);
    for round in 0..rounds {
        let mut peers = Vec::new();
        for number in 0..8 {
            peers.push(tokio::spawn(async move {
                let client = client(address).await;
                let calls: Vec<_> = (0..20)
                    .map(|call| {
                        let client = client.clone();
                        tokio::spawn(async move {
                            let size = [10, 5_000, 40_000, 600_000][call % 4];
                            drop(client.echo_payload(payload(call as u32, size)).await);
                            drop(client.sleep(SleepRequest { millis: 50, tag: 0 }).await);
                        })
                    })
                    .collect();
                tokio::time::sleep(Duration::from_micros(number * 400 + round % 7 * 100)).await;
                calls.iter().for_each(tokio::task::JoinHandle::abort);
            }));
            peers.push(tokio::spawn(async move {
                // This peer requests more than it reads, stops within a request, and disconnects.
                let mut peer = Raw::connect(address).await;
                let request = packet(1, 17, &[&[8, 0, 0x0a, 1, 4, 0x0a, 0xe0, 0xa7, 0x12][..], &[7; 300_000]].concat());
                let requests = [&request[..], &request[..], &request[..1_000 * number as usize + 1]].concat();
                let _ = tokio::time::timeout(Duration::from_millis(3), peer.socket.write_all(&requests)).await;
            }));
        }
        for peer in peers {
            peer.await.expect("peer should not panic");
        }
        let sum = steady.add(AddRequest { a: round as i64, b: 1 }).await.expect("call should succeed");
        assert_eq!(sum.get_ref().total, round as i64 + 1);
    }
    let gone = async {
        while sockets() > before {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("sockets should close within the timeout");
}

#[tokio::test]
async fn unreading_peer_delays_no_ring_peers() {
    let address = serve().await;
    let mut stuck = Raw::connect(address).await;
    let request = [&[8, 0, 0x0a, 1, 4, 0x0a, 0x90, 0x4e][..], &[7; 10_000]].concat();
    let requests = packet(1, 17, &request).repeat(2_000);
    let _ = tokio::time::timeout(Duration::from_millis(200), stuck.socket.write_all(&requests)).await;
    let client = client(address).await;
    for a in 0..200 {
        let call = client.add(AddRequest { a, b: 1 });
        let sum =
            tokio::time::timeout(Duration::from_secs(60), call).await.expect("call should complete within the timeout");
        assert_eq!(sum.expect("call should succeed").get_ref().total, a + 1);
    }
}

/// The socket accepts few bytes at once. Most sends are partial or fail, and must resume at the right position.
#[tokio::test(flavor = "multi_thread")]
async fn peer_with_small_reads_receives_every_byte() {
    const CALLS: u16 = 20_000;
    let address = serve().await;
    let socket = TcpSocket::new_v4().expect("descriptor should be available");
    socket.set_recv_buffer_size(4 * 1024).expect("request should be allowed");
    let socket = socket
        .connect(address)
        .await
        .expect("server should accept the connection")
        .into_std()
        .expect("socket should be registered");
    let writer = socket.try_clone().and_then(TcpStream::from_std).expect("descriptor should be available");
    let mut peer = Raw::over(TcpStream::from_std(socket).expect("socket should be nonblocking"));
    let request = [&[8, 0, 0x0a, 1, 4, 0x0a, 0xe8, 0x07][..], &[7; 1_000]].concat();
    let requests: Vec<u8> = (1..=CALLS).flat_map(|id| packet(id, 17, &request)).collect();
    let writing = tokio::spawn(async move { { writer }.write_all(&requests).await });
    // Most replies are in order. A handler may still become a task, for example because another process occupies the
    // processor.
    let mut unanswered: BTreeSet<u16> = (1..=CALLS).collect();
    while !unanswered.is_empty() {
        let reply = peer.next().await.expect("connection should stay open");
        let id = reply.id.0;
        assert!(unanswered.remove(&id), "reply {id} should arrive once");
        assert!(reply.body.ends_with(&[7; 1_000]), "reply {id} should arrive unchanged");
    }
    writing.await.expect("task should not panic").expect("server should read everything");
}

/// Runs `child.rs` with a failing system call. Prints a message and returns `None` if strace cannot be used.
fn with_fault(runtime: &str, fault: &str) -> Option<String> {
    let works = |output: &Output| output.status.success();
    if !Command::new("strace").args(["-o", "/dev/null", "true"]).output().as_ref().is_ok_and(works) {
        let line = b"\nSKIPPED: strace cannot be used here, so no faults of io_uring were tested\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), line);
        return None;
    }
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=io_uring_setup,io_uring_register,io_uring_enter"])
        .args(["-e", &format!("inject={fault}")])
        .args([env!("CARGO_BIN_EXE_child"), "twice"])
        .env("FRISBEE_IO_BACKEND", runtime)
        .output()
        .expect("process should start");
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Errors of a system where a seccomp profile forbids io_uring, where it is absent or out of memory, or where it lacks
/// required features.
const ABSENT: [&str; 4] = [
    "io_uring_setup:error=EPERM",
    "io_uring_setup:error=ENOSYS",
    "io_uring_setup:error=ENOMEM",
    "io_uring_register:error=EINVAL",
];

#[test]
fn missing_io_uring_logs_one_fallback() {
    for fault in ABSENT {
        let Some(output) = with_fault("auto", fault) else { return };
        assert_eq!(output.matches("served 50 calls").count(), 2, "{fault}: {output}");
        assert!(output.contains("1 warnings of io_uring"), "{fault}: {output}");
    }
}

#[test]
fn required_io_uring_missing_fails_with_cause() {
    for fault in ABSENT {
        let Some(output) = with_fault("require", fault) else { return };
        let refusals =
            output.matches("refused: starting the workers failed: io_uring is required but not available: ").count();
        assert_eq!(refusals, 2, "{fault}: {output}");
        assert!(output.contains("(os error "), "{fault}: {output}");
    }
}

#[test]
fn off_backend_skips_io_uring_probe() {
    let Some(output) = with_fault("off", ABSENT[0]) else { return };
    assert_eq!(output.matches("served 50 calls").count(), 2, "{output}");
    assert!(output.contains("0 warnings of io_uring"), "{output}");
}

#[test]
fn interrupted_system_calls_lose_nothing() {
    for error in ["EINTR", "EAGAIN", "EBUSY"] {
        let Some(output) = with_fault("require", &format!("io_uring_enter:error={error}:when=2+3")) else { return };
        assert_eq!(output.matches("served 50 calls").count(), 2, "{error}: {output}");
    }
}

/// A router that hands off each connection to an echo, on request or after a certain packet.
struct Echoes;

impl frisbee::Router for Echoes {
    type Session = ();

    fn connected(&self, _connection: &frisbee::Connection) {}

    fn route(&self, (): &mut (), packet: frisbee::Packet, outbox: &mut frisbee::Outbox) -> frisbee::Routed {
        outbox.forward(&packet).unwrap();
        if packet.body == "raw from here on" {
            return frisbee::Routed::HandOff(echo());
        }
        frisbee::Routed::Continue
    }

    fn hand_off(&self, (): &mut (), request: frisbee::HandOffRequest) -> frisbee::Routed {
        request.accept("", echo());
        frisbee::Routed::Continue
    }
}

fn echo() -> frisbee::HandOffTarget {
    frisbee::HandOffTarget::new(|raw| {
        let runtime = Handle::try_current();
        async move {
            assert!(raw.is::<TcpStream>(), "handed-off connection should have left its ring");
            assert_eq!(runtime.expect("runtime should exist from the beginning").id(), Handle::current().id());
            let (mut read, mut write) = tokio::io::split(raw);
            tokio::io::copy(&mut read, &mut write).await.unwrap();
            write.shutdown().await.unwrap();
        }
    })
}

/// Sends two mebibytes and receives their echo at the same time. `received` contains bytes of the echo that arrived
/// before.
async fn expect_echo(io: impl AsyncRead + AsyncWrite + Unpin, mut received: Vec<u8>, sent: &[u8], sent_already: usize) {
    let (mut read, mut write) = tokio::io::split(io);
    let writing = async {
        write.write_all(&sent[sent_already..]).await.unwrap();
        write.shutdown().await.unwrap();
    };
    let (_, read) = tokio::join!(writing, read.read_to_end(&mut received));
    read.unwrap();
    assert!(received == sent, "echoed bytes should equal the sent ones");
}

#[tokio::test(flavor = "multi_thread")]
async fn handed_off_ring_socket_keeps_every_byte() {
    let server = frisbee::Server::builder().io_backend(IoBackend::Uring).workers(Workers::Threads(1));
    let server = server.bind("127.0.0.1:0", Echoes).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let sent: Vec<u8> = (0_u32..1 << 19).flat_map(u32::to_le_bytes).collect();
    for _ in 0..50 {
        // A client with a socket on a ring requests the hand-off.
        let operation = Operation::FIRST_USER;
        let builder = frisbee::Client::builder().io_backend(IoBackend::Uring);
        let connection = builder.connect(address, Handlers::new()).await.unwrap();
        let accepted = connection.hand_off(operation, "").await.unwrap();
        assert!(accepted.transport.is::<TcpStream>());
        expect_echo(accepted.transport, Vec::new(), &sent, 0).await;

        // The hand-off is not announced. Raw bytes arrive in the same segment as the packet.
        let mut socket = TcpStream::connect(address).await.unwrap();
        let last = packet(1, 10, b"raw from here on");
        let already = 300_000;
        socket.write_all(&[&last[..], &sent[..already]].concat()).await.unwrap();
        let mut reply = vec![0; last.len()];
        socket.read_exact(&mut reply).await.unwrap();
        assert_eq!(reply, last);
        expect_echo(socket, Vec::new(), &sent, already).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_header_client_sends_header_first() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // The caller gets the connection before the ring drives it, so the caller may be the first to send.
    for round in 0..50 {
        let config = Config::default().hello(false);
        let client = frisbee::Client::builder().io_backend(IoBackend::Uring).config(config);
        let client = client.header_form(HeaderForm::Old);
        let connection = client.connect(address, Handlers::new()).await.unwrap();
        let sent = connection
            .send_now(|outbox| outbox.push(PacketId(round), Operation::FIRST_USER, Bytes::from_static(b"first")));
        sent.unwrap().unwrap();
        let (mut peer, _) = listener.accept().await.unwrap();
        let (mut decoder, mut first) = (Decoder::new(HeaderForm::Old, 1024), None);
        while first.is_none() {
            let mut read = [0; 1024];
            let count = peer.read(&mut read).await.unwrap();
            first = decoder.next(&mut Bytes::copy_from_slice(&read[..count])).unwrap();
        }
        let first = first.unwrap();
        assert_eq!((first.id.0, first.operation, &first.body[..]), (round, Operation::FIRST_USER, &b"first"[..]));
    }
}

#[test]
fn ring_connections_end_with_runtime_of_server() {
    let [runtime, clients] = [(); 2].map(|()| tokio::runtime::Runtime::new().unwrap());
    let server = frisbee::Server::builder().io_backend(IoBackend::Uring).workers(Workers::Caller);
    let server = runtime.block_on(server.bind("127.0.0.1:0", Handlers::new())).unwrap();
    let (address, stats) = (server.local_addr(), server.stats());
    runtime.spawn(server.serve());
    let connection = clients.block_on(async {
        let connection =
            frisbee::Client::builder().io_backend(IoBackend::Tokio).connect(address, Handlers::new()).await;
        let connection = connection.unwrap();
        connection.peer_known().await.unwrap();
        connection
    });
    assert_eq!(stats.open(), 1);
    runtime.shutdown_background();
    clients.block_on(async {
        tokio::time::timeout(Duration::from_secs(20), connection.closed())
            .await
            .expect("connection should close within the timeout");
        until("the server has closed its connections", || stats.open() == 0).await;
    });
}
