//! Tests of slow links over sockets and on every available driver. Times are shorter and sizes smaller than in virtual
//! time.

use super::{MB, Service, patient};
use frisbee::{Config, IoBackend};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload};
use frpc::{Channel, Server};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Rate of a link in each direction, in bytes per second.
const RATE: u32 = MB;

/// Number of bytes in each direction. It is larger than the buffers of the system, so that bytes are pending for longer
/// than a peer may be silent.
const LENGTH: u32 = 5 * MB;

/// Returns settings with shorter timeouts than usual. The minimum rate is a sixtieth of the rate of the link.
fn quick() -> Config {
    Config::default()
        .ping_interval(Duration::from_millis(200))
        .idle_timeout(Duration::from_millis(1_500))
        .backlog_max(64 * 1024)
}

/// Returns a socket with the smallest possible buffers.
fn thin() -> TcpSocket {
    let socket = TcpSocket::new_v4().expect("socket should be created");
    socket.set_recv_buffer_size(4096).expect("socket option should be set");
    socket.set_send_buffer_size(4096).expect("socket option should be set");
    socket
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let mut buffer = vec![0; 4096];
    let mut due = tokio::time::Instant::now();
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
        due = due.max(tokio::time::Instant::now() - Duration::from_millis(10));
        due += Duration::from_secs(1) * count as u32 / RATE;
        tokio::time::sleep_until(due).await;
    }
}

/// Starts a proxy in front of a server with a limited rate and small buffers.
async fn slow(server: SocketAddr) -> SocketAddr {
    let listener = thin();
    listener
        .bind("127.0.0.1:0".parse().expect("text should be a socket address"))
        .expect("server should bind to a free address");
    let listener = listener.listen(16).expect("socket should be bound");
    let address = listener.local_addr().expect("socket should have a local address");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = thin().connect(server).await.expect("server should accept the connection");
            let split = |socket: TcpStream| {
                socket.set_nodelay(true).expect("socket option should be set");
                socket.into_split()
            };
            let ((from_client, to_client), (from_server, to_server)) = (split(client), split(server));
            tokio::spawn(carry(from_client, to_server));
            tokio::spawn(carry(from_server, to_client));
        }
    });
    address
}

async fn passes(backend: IoBackend) {
    let builder =
        Server::builder().config(quick()).io_backend(backend).add_service(InteropServer::new(Service::default()));
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (slow(server.local_addr()).await, server.stats());
    tokio::spawn(server.serve());
    let builder = Channel::builder().config(quick()).io_backend(backend);
    let client =
        InteropClient::new(builder.connect(address.to_string()).await.expect("server should accept the connection"));
    let mut calls = JoinSet::new();
    for (up, down) in [(0, LENGTH), (LENGTH, 0)] {
        let client = client.clone();
        calls.spawn(async move {
            let payload = Payload { seq: down, data: vec![1; up as usize] };
            let reply = client.echo_payload(patient(payload)).await.expect("call should succeed");
            assert_eq!(reply.get_ref().data.len(), down as usize);
        });
    }
    for a in 0..20 {
        let client = client.clone();
        calls.spawn(
            async move { drop(client.add(patient(AddRequest { a, b: 1 })).await.expect("call should succeed")) },
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    calls.join_all().await;
    assert_eq!((stats.opened(), stats.open()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_sockets_carry_megabytes_with_calls() {
    passes(IoBackend::Tokio).await;
    if cfg!(all(feature = "uring", target_os = "linux")) {
        passes(IoBackend::Auto).await;
    }
}
