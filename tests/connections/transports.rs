//! Tests of transports: memory, Unix sockets, TLS and custom ones.

use frisbee::{Operation, Packet, PacketId};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload};
use frisbee_tests::service::Service;
use frisbee_tests::versions::first::{Answer, Ask, Parrot, ParrotClient, ParrotServer};
use frpc::{Acceptor, Channel, Code, Request, Response, ResponseStream, Server, Status, Streaming, UnixServer};
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::{UnixListener, UnixStream};

/// A socket path in a temporary directory that is removed on drop.
struct SocketPath(PathBuf);

impl SocketPath {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("frisbee-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("folder should be created");
        Self(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn acceptor() -> Acceptor {
    Server::builder().add_service(InteropServer::new(Service)).build().expect("services should not overlap")
}

async fn bound(path: &SocketPath) -> Result<UnixServer, frpc::Error> {
    Server::builder().add_service(InteropServer::new(Service)).bind_unix(path.socket()).await
}

/// Makes concurrent calls of every size.
pub(super) async fn expect_service(channel: &Channel) {
    let client = InteropClient::new(channel.clone());
    let sum = client.add(AddRequest { a: 20, b: 22 }).await.expect("call should succeed");
    assert_eq!(sum.get_ref().total, 42);
    let calls: Vec<_> = (0..100_u32)
        .map(|number| {
            let client = client.clone();
            let payload = Payload { seq: number, data: vec![number as u8; 1 << (number % 21)] };
            tokio::spawn(async move {
                let echoed = client.echo_payload(payload.clone()).await.expect("call should succeed");
                assert_eq!(echoed.into_inner(), payload);
            })
        })
        .collect();
    for call in calls {
        call.await.expect("text should be echoed unchanged");
    }
}

#[tokio::test]
async fn services_are_called_over_memory() {
    let (here, there) = frpc::memory();
    let acceptor = acceptor();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    expect_service(&Channel::connect_io(here).await.unwrap()).await;
}

#[tokio::test]
async fn transport_that_takes_single_bytes_is_served() {
    let (here, there) = tokio::io::duplex(1);
    let acceptor = acceptor();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client = InteropClient::new(Channel::connect_io(here).await.unwrap());
    assert_eq!(client.add(AddRequest { a: 1, b: 2 }).await.unwrap().get_ref().total, 3);
}

#[tokio::test]
async fn transport_that_buffers_until_flush_is_served() {
    let (here, there) = frpc::memory();
    let acceptor = acceptor();
    tokio::spawn(async move { acceptor.serve_connection(tokio::io::BufStream::new(there)).await });
    expect_service(&Channel::connect_io(tokio::io::BufStream::new(here)).await.unwrap()).await;
}

/// A transport whose reads into large buffers take 5 ms of virtual time.
struct Laborious(DuplexStream);

impl AsyncRead for Laborious {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        /// Buffer size of reads that may return several packets.
        const USUAL: usize = 64 * 1024;
        let (room, filled) = (buffer.remaining(), buffer.filled().len());
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        if room > USUAL && buffer.filled().len() > filled {
            let advanced = pin!(tokio::time::advance(Duration::from_millis(5))).poll(context);
            assert!(advanced.is_pending(), "task should yield after it has advanced");
        }
        read
    }
}

impl AsyncWrite for Laborious {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// A service that records the task in which it runs.
struct Placed;

impl Parrot for Placed {
    async fn say(&self, _: Request<Ask>) -> Result<Response<Answer>, Status> {
        Ok(Response::new(Answer { words: tokio::task::id().to_string() }))
    }

    async fn chat(&self, _: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        Err(Status::unimplemented("not used here"))
    }
}

/// The server measures its turns to detect handlers that block their thread.
#[tokio::test(start_paused = true)]
async fn handler_time_excludes_large_body_transfer() {
    let (here, there) = tokio::io::duplex(1 << 20);
    let acceptor =
        Server::builder().add_service(ParrotServer::new(Placed)).build().expect("services should not overlap");
    tokio::spawn(async move { acceptor.serve_connection(Laborious(there)).await });
    let client = ParrotClient::new(Channel::connect_io(here).await.unwrap());
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let ask = Ask { word: "a".repeat(700_000), times: 1 };
        tasks.push(client.say(ask).await.expect("server should answer").into_inner().words);
    }
    assert!(
        tasks.iter().all(|task| *task == tasks[0]),
        "some handlers ran outside of the connection's task: {tasks:?}"
    );
}

#[tokio::test]
async fn transport_channel_reports_reconnect_is_impossible() {
    let (here, there) = frpc::memory();
    let acceptor = acceptor();
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    let channel = Channel::connect_io(here).await.unwrap();
    expect_service(&channel).await;
    let connection = channel.connection().unwrap();
    serving.abort();
    connection.closed().await;
    let status = InteropClient::new(channel).add(AddRequest { a: 1, b: 2 }).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("cannot reconnect"), "{status}");
}

#[tokio::test]
async fn channel_with_connector_reconnects() {
    let acceptor = acceptor();
    let made = Arc::new(AtomicU32::new(0));
    let counted = made.clone();
    let connector = move || {
        let acceptor = acceptor.clone();
        let number = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            if number == 1 {
                return Err(io::Error::other("not this time"));
            }
            let (here, there) = frpc::memory();
            tokio::spawn(async move { acceptor.serve_connection(there).await });
            Ok(here)
        }
    };
    let channel = Channel::builder().connect_with_connector(connector).await.unwrap();
    expect_service(&channel).await;
    let connection = channel.connection().unwrap();
    connection.abort();
    connection.closed().await;
    expect_service(&channel).await;
    assert_eq!(made.load(Ordering::Relaxed), 3);
}

/// Copies data at `bytes` bytes per tenth of a second.
async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, bytes: u64) {
    while let Ok(1..) = tokio::io::copy(&mut (&mut from).take(bytes), &mut to).await {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The operating system buffers megabytes. A PING behind them reaches the peer much later than the keepalive timeout
/// permits.
#[tokio::test(start_paused = true)]
async fn large_echo_crosses_slow_buffered_link() {
    const BUFFER: usize = 4 << 20;
    /// This is 100 kB per second.
    const BYTES: u64 = 10_000;
    let (here, near) = tokio::io::duplex(BUFFER);
    let (there, far) = tokio::io::duplex(BUFFER);
    let ((from_here, to_here), (from_there, to_there)) = (tokio::io::split(near), tokio::io::split(far));
    tokio::spawn(carry(from_here, to_there, BYTES));
    tokio::spawn(carry(from_there, to_here, BYTES));
    let acceptor = acceptor();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client = InteropClient::new(Channel::connect_io(here).await.unwrap());
    let payload = Payload { seq: 1, data: vec![1; 4_500_000] };
    let mut call = Request::new(payload.clone());
    call.set_timeout(Duration::from_secs(600));
    assert_eq!(client.echo_payload(call).await.unwrap().into_inner(), payload);
}

#[tokio::test(start_paused = true)]
async fn close_flushes_sent_packets_over_slow_link() {
    let (here, near) = tokio::io::duplex(64 * 1024);
    let client = frisbee::Client::builder().config(frisbee::Config::default().hello(false));
    let connection = client.connect_io(here, frisbee::Handlers::new()).await.unwrap();
    let body = vec![7; 900_000];
    connection.send(&Packet::new(PacketId(1), Operation::FIRST_USER, body.clone())).await.unwrap();
    connection.close();
    let mut received = Vec::new();
    carry(near, &mut received, 5_000).await;
    assert!(received.ends_with(&body), "peer received {} bytes", received.len());
}

#[tokio::test]
async fn acceptor_shutdown_closes_and_rejects_connections() {
    let acceptor = acceptor();
    let (here, there) = frpc::memory();
    let serving = tokio::spawn({
        let acceptor = acceptor.clone();
        async move { acceptor.serve_connection(there).await }
    });
    let channel = Channel::connect_io(here).await.unwrap();
    expect_service(&channel).await;
    let closing = channel.connection().unwrap();
    let (_, _, reason) = tokio::join!(acceptor.shutdown(), async { drop(channel) }, serving);
    assert!(
        matches!(reason.unwrap(), frisbee::CloseReason::ClosedByPeer),
        "client should close the connection on request"
    );
    assert!(closing.is_going_away());
    let (_here, there) = frpc::memory();
    let reason = acceptor.serve_connection(there).await;
    assert!(matches!(reason, frisbee::CloseReason::Shutdown), "{reason}");
}

#[tokio::test]
async fn listen_backlog_holds_many_unaccepted_clients() {
    /// Twice the default backlog of the standard library.
    const CLIENTS: usize = 256;
    let service = InteropServer::new(Service);
    let server = Server::builder().add_service(service).bind("127.0.0.1:0").await.unwrap();
    let (address, mut sockets) = (server.local_addr(), Vec::new());
    for _ in 0..CLIENTS {
        // Clients that find the backlog full are not refused, but have to retry.
        let socket = tokio::time::timeout(Duration::from_secs(20), tokio::net::TcpStream::connect(address)).await;
        sockets.push(socket.expect("backlog should have a free place").unwrap());
    }
}

#[tokio::test]
async fn unix_socket_service_sees_caller_credentials() {
    let path = SocketPath::new("called");
    let server = bound(&path).await.unwrap();
    assert_eq!(server.local_path(), path.socket());
    tokio::spawn(server.serve());
    let channel = Channel::connect(format!("unix:{}", path.socket().display())).await.unwrap();
    expect_service(&channel).await;
    let credentials = channel.connection().unwrap().peer_credentials().unwrap();
    assert_eq!(
        credentials.process.map(|id| id as u32),
        Some(std::process::id()),
        "peer process should be this process"
    );
}

#[tokio::test]
async fn socket_file_is_removed_with_its_server() {
    let path = SocketPath::new("goes");
    let server = bound(&path).await.unwrap();
    assert!(path.socket().exists());
    server.serve_with_shutdown(async {}).await.unwrap();
    assert!(!path.socket().exists());
}

#[tokio::test]
async fn only_stale_socket_file_is_replaced() {
    let path = SocketPath::new("stale");
    // The listener is closed but its file remains, as after a server was killed.
    drop(UnixListener::bind(path.socket()).unwrap());
    assert!(UnixStream::connect(path.socket()).await.is_err());
    let server = bound(&path).await.unwrap();
    let serving = tokio::spawn(server.serve());

    let error = bound(&path).await.unwrap_err();
    assert!(
        matches!(&error, frpc::Error::Transport(frisbee::Error::Bind { source: error, .. }) if error.kind() == io::ErrorKind::AddrInUse),
        "{error}"
    );
    let channel = Channel::connect(format!("unix:{}", path.socket().display())).await.unwrap();
    expect_service(&channel).await;
    serving.abort();
    let _ = serving.await;

    std::fs::write(path.socket(), "an unrelated file").unwrap();
    let error = bound(&path).await.unwrap_err();
    assert!(
        matches!(&error, frpc::Error::Transport(frisbee::Error::Bind { source: error, .. }) if error.kind() == io::ErrorKind::AddrInUse),
        "{error}"
    );
    assert!(error.to_string().starts_with(&format!("listening on {} failed: ", path.socket().display())), "{error}");
    assert_eq!(std::fs::read(path.socket()).unwrap(), b"an unrelated file");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn path_of_idle_listener_is_in_use() {
    let path = SocketPath::new("full");
    let silent = tokio::net::UnixSocket::new_stream().unwrap();
    silent.bind(path.socket()).unwrap();
    let silent = silent.listen(0).unwrap();
    let _queued = UnixStream::connect(path.socket()).await.unwrap();
    let binding = tokio::spawn(async move { bound(&path).await.map(drop) });
    let bound = tokio::time::timeout(Duration::from_secs(60), binding).await;
    drop(silent);
    let error = bound.expect("bind should not wait").unwrap().unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
}

#[tokio::test]
async fn unix_socket_without_listener_fails_immediately() {
    let path = SocketPath::new("nobody");
    let connecting = Channel::connect(format!("unix:{}", path.socket().display()));
    let error = tokio::time::timeout(Duration::from_secs(5), connecting).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("unix:"), "{error}");
}
