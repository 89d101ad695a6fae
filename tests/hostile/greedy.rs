//! Tests of attackers at many addresses that make the server hold memory. Calls of a client at another address must
//! always succeed. Each test runs alone in its process, because it measures the memory of the process.

use frisbee_tests::hoard::Hoard;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload};
use frisbee_tests::process::{ran_alone, resident_kib};
use frisbee_tests::raw::{encoded, header, packet};
use frisbee_tests::until;
use frpc::{Channel, Config, Server};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

const MIB: usize = 1 << 20;

/// Memory limit of the server in bytes.
const MEMORY: usize = 64 * MIB;

/// Resident memory permitted in addition to the limit. It covers buffers that the process keeps for reuse,
/// fragmentation, connections, and the attackers.
const BESIDE: usize = 64 * MIB;

/// Number of bytes that all attackers together try to make the server hold.
const WANTED: usize = 160 * MIB;

/// Operation of the method `echo_payload`.
const PAYLOAD: u16 = 17;

#[derive(Clone, Copy, Debug)]
enum Attack {
    HalfBodies,
    HalfFragments,
    HalfHttpBodies,
    UnreadReplies,
    ZeroCredit,
    WaitingCalls,
}

impl Attack {
    /// Returns the number of bytes that one connection tries to make the server hold.
    fn wanted(self) -> usize {
        match self {
            Self::HalfBodies | Self::HalfHttpBodies => MIB,
            Self::UnreadReplies => 4 * MIB,
            Self::HalfFragments => 2 * MIB,
            Self::ZeroCredit => 250 * MIB / 2,
            Self::WaitingCalls => 2 * MIB,
        }
    }

    /// Returns the first bytes of a connection, and the number of zeros that follow them.
    fn bytes(self) -> (Vec<u8>, usize) {
        let call = |id: usize, method: &str, rest: &str| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"interop.Interop/{method}\"{rest}}}\n").into_bytes()
        };
        match self {
            Self::HalfBodies => (header(1, PAYLOAD, 2 << 20), MIB),
            Self::HalfFragments => {
                // The first part of a request of 2 MiB, on each of 8 channels.
                let part = |id: u8| {
                    let head = [id, PAYLOAD as u8, id, 0x80, 0x80, 0x80, 1];
                    packet(7, 3, &[&head[..], &[0; 60_000]].concat())
                };
                let hello = packet(0, 3, b"fris\x01");
                ((0..8).map(part).fold(hello, |sent, part| [sent, part].concat()), 0)
            }
            Self::HalfHttpBodies => {
                let head = "POST /interop.Interop/EchoPayload HTTP/1.1\r\nhost: localhost\r\n\
                    content-type: application/json\r\ncontent-length: 2097152\r\n\r\n";
                (head.into(), MIB)
            }
            Self::UnreadReplies => {
                let calls = (0..8).flat_map(|id| call(id, "EchoPayload", r#","params":{"seq":400000}"#));
                (calls.collect(), 0)
            }
            Self::ZeroCredit => {
                let item = |id| {
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"method\":\"rpc.item\",\"params\":{{\"id\":{id},\"item\":{{\"value\":\"524288\"}}}}}}\n"
                    )
                };
                let streams = (0..250).map(|id| [call(id, "Chat", r#","credit":0"#), item(id).into_bytes()].concat());
                (streams.flatten().collect(), 0)
            }
            Self::WaitingCalls => {
                let payload = encoded(&Payload { seq: 1, data: vec![1; 1024] });
                ((0..1000).flat_map(|id| packet(id, PAYLOAD, &payload)).collect(), 0)
            }
        }
    }
}

/// Connects from the loopback address with this last byte.
async fn connect_from(last: u8, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("socket should be created");
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).expect("loopback address should be free");
    socket.connect(server).await.expect("server should accept the connection")
}

/// Writes as many bytes as the server reads. Keeps the connection open without reading.
async fn attack(bytes: Arc<(Vec<u8>, usize)>, last: u8, server: SocketAddr) {
    let mut socket = connect_from(last, server).await;
    let (first, zeros) = &*bytes;
    let chunk = [0; 4096];
    let _ = socket.write_all(first).await;
    for _ in 0..zeros / chunk.len() {
        let _ = socket.write_all(&chunk).await;
    }
    pending::<()>().await;
}

/// Attacks from 8 addresses, and then from 32. Checks that calls from another address succeed.
async fn besiege(kind: Attack) {
    const HOUR: Duration = Duration::from_secs(3600);
    let config = Config::default().idle_timeout(HOUR).write_timeout(HOUR).least_rate_window(HOUR);
    let before = resident_kib().unwrap_or(0) * 1024;
    for addresses in [8, 32] {
        let (service, release) = Hoard::new(Duration::ZERO);
        release.send_replace(matches!(kind, Attack::UnreadReplies));
        let gateway = Gateway::new().json_rpc().http(Http::new().connect());
        let builder = Server::builder().config(config.clone()).memory_max(MEMORY).gateway(gateway);
        let server = builder.add_service(InteropServer::new(service.clone())).bind("127.0.0.1:0").await;
        let server = server.expect("server should bind to a free address");
        let (address, stats) = (server.local_addr(), server.stats());
        let serving = tokio::spawn(server.serve());
        let (bytes, mut attackers) = (Arc::new(kind.bytes()), JoinSet::new());
        let connections = (WANTED / kind.wanted()).max(addresses);
        for number in 0..connections {
            attackers.spawn(attack(bytes.clone(), 2 + (number % addresses) as u8, address));
        }
        until("attackers make the server hold much memory", || match kind {
            Attack::ZeroCredit => service.started.load(Ordering::SeqCst) >= 250 * connections,
            _ => stats.memory_held() > MEMORY / 4,
        })
        .await;
        // Use the timeouts of the server. The default idle timeout of 10 s could close the connection on a slow
        // machine, and a channel over a given transport cannot reconnect.
        let witness = Channel::builder().config(config.clone()).connect_io(connect_from(200, address).await).await;
        let witness = InteropClient::new(witness.expect("witness should be accepted"));
        for number in 0..300 {
            let sum = witness.add(AddRequest { a: number, b: 1 }).await;
            assert_eq!(sum.expect("witness should be served").get_ref().total, number + 1, "{kind:?}");
            assert!(stats.memory_held() <= MEMORY, "memory held for {kind:?} is {} bytes", stats.memory_held());
            tokio::task::yield_now().await;
        }
        let resident = (resident_kib().unwrap_or(0) * 1024).saturating_sub(before) / MIB;
        let held = stats.memory_held() / MIB;
        println!(
            "{kind:?}, {addresses} addresses: {held} MiB held, {resident} MiB resident, {} refused",
            stats.rejected()
        );
        assert!(resident <= (MEMORY + BESIDE) / MIB, "{kind:?}: {resident} MiB are resident, and {held} are held");
        drop(attackers);
        serving.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_bodies_never_refuse_witness() {
    if !ran_alone(|| ()) {
        besiege(Attack::HalfBodies).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_fragments_never_refuse_witness() {
    if !ran_alone(|| ()) {
        besiege(Attack::HalfFragments).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_http_bodies_never_refuse_witness() {
    if !ran_alone(|| ()) {
        besiege(Attack::HalfHttpBodies).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_replies_never_refuse_witness() {
    if !ran_alone(|| ()) {
        besiege(Attack::UnreadReplies).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_without_credit_never_refuse_witness() {
    if !ran_alone(|| ()) {
        besiege(Attack::ZeroCredit).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_calls_never_refuse_witness() {
    if !ran_alone(|| ()) {
        besiege(Attack::WaitingCalls).await;
    }
}
