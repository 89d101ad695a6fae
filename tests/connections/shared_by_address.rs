//! Tests of shared memory that is enabled by the address of a channel, or by a setting of the server.

use super::transports::expect_service;
use frisbee_shm::hostile::Peer;
use frisbee_shm::{Connector, Listener};
use frisbee_tests::interop::{Interop, InteropClient, InteropServer, SleepRequest};
use frisbee_tests::pki::Authority;
use frisbee_tests::service::Service;
use frpc::{Channel, ChannelBuilder, CloseKind, Request, Response, Server, ServerBuilder, Status, Workers};
use frpc_balance::Balance;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;

/// Maximum time to wait for an event. Events take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

struct TempSocket(TempDir);

impl TempSocket {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary folder should be created"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("socket")
    }

    fn address(&self, scheme: &str) -> String {
        format!("{scheme}:{}", self.path().display())
    }
}

fn interop() -> ServerBuilder {
    Server::builder().add_service(InteropServer::new(Service))
}

fn sharing() -> ServerBuilder {
    interop().shared_memory(Listener::builder())
}

/// Serves on a socket until the test ends.
async fn serve(builder: ServerBuilder, socket: &TempSocket) {
    tokio::spawn(builder.bind_unix(socket.path()).await.expect("server should bind to a free path").serve());
}

/// Returns whether a channel to this address uses shared memory. The server permits it for all clients.
async fn shares(builder: ChannelBuilder, scheme: &str) -> bool {
    let socket = TempSocket::new();
    let listener = Listener::bind(socket.path()).expect("address should be free");
    let accepting = async {
        let mut stream = listener.accept().await.expect("client should connect");
        assert!(stream.read(&mut [0; 100]).await.expect("read should succeed") > 0);
        stream.is_shared()
    };
    let connecting = builder.connect(socket.address(scheme));
    let both = async { tokio::join!(accepting, connecting) };
    let (is_shared, channel) =
        tokio::time::timeout(TIMEOUT, both).await.expect("client should connect within the timeout");
    channel.expect("server should be listening");
    is_shared
}

#[tokio::test]
async fn channel_offers_memory_by_address_or_builder() {
    assert!(shares(Channel::builder(), "unix+shm").await);
    assert!(shares(Channel::builder().shared_memory(Connector::new()), "unix+shm").await);
    assert!(shares(Channel::builder().shared_memory(Connector::new()), "unix").await);
    assert!(!shares(Channel::builder(), "unix").await);
}

#[tokio::test]
async fn server_builder_shares_memory_on_every_driver() {
    for workers in [Workers::PerCore, Workers::Caller] {
        let socket = TempSocket::new();
        serve(sharing().workers(workers), &socket).await;
        let stream = frisbee_shm::connect(socket.path()).await.expect("server should be listening");
        assert!(stream.is_shared());
        let channel = Channel::connect_io(stream).await.expect("connection in memory should be accepted");
        tokio::time::timeout(TIMEOUT, expect_service(&channel))
            .await
            .expect("service should answer within the timeout");
    }
}

#[tokio::test]
async fn server_on_passed_socket_shares_memory() {
    let socket = TempSocket::new();
    let listener = std::os::unix::net::UnixListener::bind(socket.path()).expect("socket path should be free");
    tokio::spawn(sharing().listen_on_unix(listener).expect("server should be listening").serve());
    assert!(frisbee_shm::connect(socket.path()).await.expect("server should be listening").is_shared());
}

#[tokio::test]
async fn shared_memory_server_serves_every_client_kind() {
    for builder in [sharing(), interop()] {
        let socket = TempSocket::new();
        serve(builder, &socket).await;
        for (scheme, workers) in
            [("unix", Workers::Caller), ("unix+shm", Workers::Caller), ("unix+shm", Workers::PerCore)]
        {
            let channel = Channel::builder().workers(workers).connect(socket.address(scheme)).await;
            let channel = channel.expect("server should be listening");
            tokio::time::timeout(TIMEOUT, expect_service(&channel))
                .await
                .expect("service should answer within the timeout");
            let credentials = channel
                .connection()
                .expect("channel should be connected")
                .peer_credentials()
                .expect("system should report peer credentials");
            assert_eq!(credentials.process.map(|id| id as u32), Some(std::process::id()));
        }
    }
}

#[tokio::test]
async fn tls_works_over_shared_memory() {
    let (authority, socket) = (Authority::default(), TempSocket::new());
    serve(sharing().tls(authority.server()), &socket).await;
    let builder = Channel::builder().tls(authority.client()).server_name("127.0.0.1");
    let channel = builder
        .workers(Workers::PerCore)
        .connect(socket.address("unix+shm"))
        .await
        .expect("server should accept the connection");
    tokio::time::timeout(TIMEOUT, expect_service(&channel)).await.expect("service should answer within the timeout");
}

#[tokio::test]
async fn resolver_endpoints_use_shared_memory() {
    let sockets = [TempSocket::new(), TempSocket::new()];
    for socket in &sockets {
        serve(sharing(), socket).await;
    }
    let addresses = sockets.each_ref().map(|socket| socket.address("unix+shm"));
    let channel =
        Channel::builder().balance().connect_all(addresses).await.expect("all servers should accept connections");
    tokio::time::timeout(TIMEOUT, expect_service(&channel)).await.expect("service should answer within the timeout");
}

/// A service whose `Sleep` reports each call and waits for the test.
#[derive(Clone, Default)]
struct HoldingService {
    come: Arc<Notify>,
    go: Arc<Notify>,
}

impl Interop for HoldingService {
    async fn sleep(&self, request: Request<SleepRequest>) -> Result<Response<SleepRequest>, Status> {
        self.come.notify_one();
        self.go.notified().await;
        Ok(Response::new(request.into_inner()))
    }

    frisbee_tests::left_to_service!(echoes, do_nothing, fail, echo_payload);
    frisbee_tests::left_to_service!(add, describe, count_up, sum_up, chat);
}

#[tokio::test]
async fn memory_connections_are_counted_and_drained() {
    let (socket, service) = (TempSocket::new(), HoldingService::default());
    let builder = Server::builder().shared_memory(Listener::builder()).add_service(InteropServer::new(service.clone()));
    let server = builder.bind_unix(socket.path()).await.expect("server should bind to a free path");
    let stats = server.stats();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
    let channel = Channel::connect(socket.address("unix+shm")).await.expect("server should accept the connection");
    let client = InteropClient::new(channel);
    let call = tokio::spawn(async move { client.sleep(SleepRequest { millis: 7, tag: 1 }).await });
    tokio::time::timeout(TIMEOUT, service.come.notified())
        .await
        .expect("notification should arrive within the timeout");
    assert_eq!(stats.open(), 1);
    stop.send(()).expect("receiver should be waiting");
    while std::os::unix::net::UnixStream::connect(socket.path()).is_ok() {
        tokio::task::yield_now().await;
    }
    service.go.notify_one();
    let answer = tokio::time::timeout(TIMEOUT, call)
        .await
        .expect("call should complete within the timeout")
        .expect("task should not panic");
    assert_eq!(answer.expect("server should answer").get_ref().millis, 7);
    tokio::time::timeout(TIMEOUT, serving)
        .await
        .expect("server should stop within the timeout")
        .expect("task should not panic")
        .expect("connection should end regularly");
    assert_eq!(stats.open(), 0);
}

#[tokio::test]
async fn silent_memory_client_times_out() {
    let socket = TempSocket::new();
    let builder = sharing().first_header_timeout(Duration::from_millis(100));
    let server = builder.bind_unix(socket.path()).await.expect("server should bind to a free path");
    let stats = server.stats();
    tokio::spawn(server.serve());
    let path = socket.path();
    let peer = tokio::task::spawn_blocking(move || Peer::connect(path)).await.expect("task should not panic");
    let peer = peer.expect("server should share memory with this user");
    let closed = async {
        while stats.closed_by(CloseKind::NoFirstHeader) == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, closed).await.expect("connection should close within the timeout");
    drop(peer);
}

#[tokio::test]
async fn impossible_ring_size_fails_binding() {
    let socket = TempSocket::new();
    let builder = interop().shared_memory(Listener::builder().ring_max(5000));
    let error = builder.bind_unix(socket.path()).await.expect_err("ring should not exist");
    assert!(error.to_string().contains("a ring of 5000 bytes"), "{error}");
    assert!(!socket.path().exists());
}
