//! Tests of faults of networks and systems. A proxy delays, cuts, drops and corrupts bytes, over sockets and in virtual
//! time. Other tests exhaust descriptors and memory, kill servers, and let peers read or write slowly.

use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload, Range, SleepRequest};
use frisbee_tests::raw::{Raw, header, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Acceptor, Channel, ChannelBuilder, Code, Server, ServerBuilder};
use frpc_gateway::{Gateway, ServeGateway as _, Udp};
use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::process::{Child, ChildStdout, Command};

/// Maximum time to wait for an event that must happen.
const TIMEOUT: Duration = Duration::from_secs(120);

async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, work).await.unwrap_or_else(|_| panic!("{what}"))
}

/// Faults that a proxy applies to passing bytes.
#[derive(Default)]
struct Manner {
    /// Delay in milliseconds before each write.
    delay: AtomicU64,
    /// Number of bytes after which both directions are cut, or 0 for never.
    cut_behind: AtomicU64,
    /// Drops all bytes silently.
    silent: AtomicBool,
    /// Average number of bytes of which one has a flipped bit, or 0 for none.
    flip_one_in: AtomicU64,
}

/// Starts a proxy in front of a server and returns its address and faults.
async fn proxy(server: SocketAddr) -> (SocketAddr, Arc<Manner>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address");
    let manner = Arc::new(Manner::default());
    tokio::spawn({
        let manner = manner.clone();
        async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(server).await else { continue };
                tokio::spawn(relay(client, server, manner.clone()));
            }
        }
    });
    (address, manner)
}

/// Starts an in-memory server behind a proxy. Returns a connector for connections through the proxy.
fn proxied(
    builder: ServerBuilder,
    manner: &Arc<Manner>,
) -> (Acceptor, impl Fn() -> Ready<io::Result<DuplexStream>> + Send + Sync + 'static) {
    let acceptor = builder.add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let (serving, manner) = (acceptor.clone(), manner.clone());
    let connect = move || {
        let (here, client) = frisbee::memory();
        let (server, there) = frisbee::memory();
        let acceptor = serving.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        tokio::spawn(relay(client, server, manner.clone()));
        ready(Ok(here))
    };
    (acceptor, connect)
}

/// Forwards bytes in both directions until either peer disconnects or the connection is cut.
async fn relay<C, S>(client: C, server: S, manner: Arc<Manner>)
where
    C: AsyncRead + AsyncWrite,
    S: AsyncRead + AsyncWrite,
{
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    let passed = AtomicU64::new(0);
    let there = pass(from_client, to_server, &manner, &passed);
    let back = pass(from_server, to_client, &manner, &passed);
    tokio::select! { () = there => {}, () = back => {} }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, manner: &Manner, passed: &AtomicU64) {
    let mut buffer = vec![0; 8 * 1024];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let delay = manner.delay.load(Ordering::Relaxed);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if manner.silent.load(Ordering::Relaxed) {
            continue;
        }
        let flips = manner.flip_one_in.load(Ordering::Relaxed);
        for byte in buffer[..count].iter_mut().filter(|_| flips > 0) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.is_multiple_of(flips) {
                *byte ^= 1 << (state >> 40 & 7);
            }
        }
        let cut_behind = manner.cut_behind.load(Ordering::Relaxed);
        let before = passed.fetch_add(count as u64, Ordering::Relaxed);
        let mut left = count;
        if cut_behind > 0 && before + count as u64 > cut_behind {
            left = usize::try_from(cut_behind.saturating_sub(before)).unwrap_or(0);
        }
        if to.write_all(&buffer[..left]).await.is_err() || left < count {
            return;
        }
    }
}

#[tokio::test]
async fn calls_succeed_through_delaying_proxy() {
    let (address, manner) = proxy(serve_interop().await).await;
    manner.delay.store(2, Ordering::Relaxed);
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    for a in 0..50 {
        let sum = client.add(AddRequest { a, b: 1 }).await.expect("call should succeed").into_inner();
        assert_eq!(sum.total, a + 1);
    }
    let payload = Payload { seq: 1, data: vec![7; 300_000] };
    let echo = client.echo_payload(payload.clone()).await.expect("call should succeed").into_inner();
    assert_eq!(echo, payload);
}

/// Makes `calls` calls, while each connection is cut after a few hundred bytes.
async fn call_while_cut(client: &InteropClient, manner: &Manner, calls: i64) {
    let (mut succeeded, mut failed) = (0, 0);
    for a in 0..calls {
        manner.cut_behind.store(500 + a as u64 % 97, Ordering::Relaxed);
        match soon("a call ends", client.add(AddRequest { a, b: 1 })).await {
            Ok(sum) => {
                assert_eq!(sum.get_ref().total, a + 1);
                succeeded += 1;
            }
            Err(status) => {
                assert_eq!(status.code(), Code::Unavailable, "{status}");
                failed += 1;
            }
        }
    }
    assert!(succeeded > calls * 3 / 4 && failed > calls / 80, "{succeeded} calls succeeded, and {failed} failed");
}

#[tokio::test]
async fn cut_connection_fails_calls_then_reconnects() {
    let (address, manner) = proxy(serve_interop().await).await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    // A channel reconnects with a pause if its connections end soon.
    call_while_cut(&client, &manner, 80).await;
}

#[tokio::test(start_paused = true)]
async fn connection_cut_anywhere_fails_only_own_calls() {
    let manner = Arc::default();
    let (_, connect) = proxied(Server::builder(), &manner);
    let channel =
        Channel::builder().connect_with_connector(connect).await.expect("connector should return a connection");
    call_while_cut(&InteropClient::new(channel), &manner, 2_000).await;
}

#[tokio::test(start_paused = true)]
async fn silent_network_is_noticed_by_both_ends() {
    let config = || quick().idle_timeout(Duration::from_millis(600));
    let manner = Arc::default();
    let (acceptor, connect) = proxied(Server::builder().config(config()), &manner);
    let stats = acceptor.stats();
    let channel = Channel::builder().config(config()).connect_with_connector(connect).await;
    let client = InteropClient::new(channel.expect("proxy should be listening"));
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
    manner.silent.store(true, Ordering::Relaxed);
    let error = soon("the call ends", client.add(AddRequest { a: 1, b: 1 }))
        .await
        .expect_err("call should fail without a reply");
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    soon("the server notices", async {
        while stats.open() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    manner.silent.store(false, Ordering::Relaxed);
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
}

/// Returns settings with short timeouts.
fn quick() -> frisbee::Config {
    frisbee::Config::default().ping_interval(Duration::from_millis(100))
}

/// Returns settings of a server and a channel that detect a lost connection quickly.
fn wary() -> (ServerBuilder, ChannelBuilder) {
    let config = || quick().idle_timeout(Duration::from_millis(600)).least_rate_window(SECOND);
    let channel = Channel::builder().config(config()).timeout(Duration::from_millis(500));
    (Server::builder().config(config()), channel)
}

/// Makes calls and streams while bits are flipped, and then one call without faults. Returns the number of successes.
async fn call_while_flipped(client: &InteropClient, manner: &Manner, rounds: i64) -> i64 {
    manner.flip_one_in.store(300, Ordering::Relaxed);
    let mut succeeded = 0;
    for a in 0..rounds {
        succeeded += i64::from(soon("a call ends", client.add(AddRequest { a, b: 1 })).await.is_ok());
        let mut range = frpc::Request::new(Range { from: 0, count: 20 });
        range.set_timeout(Duration::from_millis(300));
        if let Ok(counts) = soon("a call ends", client.count_up(range)).await {
            let mut counts = counts.into_inner();
            while let Ok(Some(_)) = soon("a stream ends", counts.message()).await {}
        }
    }
    manner.flip_one_in.store(0, Ordering::Relaxed);
    soon("a new connection is made", async { while client.add(AddRequest { a: 1, b: 1 }).await.is_err() {} }).await;
    succeeded
}

#[tokio::test]
async fn flipped_bits_over_tcp_break_no_peer() {
    let (server, channel) = wary();
    let (address, manner) = proxy(serve_interop_with(server).await).await;
    let client =
        InteropClient::new(channel.connect(address.to_string()).await.expect("server should accept the connection"));
    call_while_flipped(&client, &manner, 12).await;
}

#[tokio::test(start_paused = true)]
async fn flipped_bits_in_memory_break_no_peer() {
    let (server, channel) = wary();
    let manner = Arc::default();
    let (_, connect) = proxied(server, &manner);
    let client = InteropClient::new(
        channel.connect_with_connector(connect).await.expect("connector should return a connection"),
    );
    let succeeded = call_while_flipped(&client, &manner, 1_000).await;
    assert!(succeeded > 70, "{succeeded} calls succeeded");
}

const SECOND: Duration = Duration::from_secs(1);

/// A server in a separate process.
struct Other {
    child: Child,
    address: SocketAddr,
    /// Address of the UDP listener, which serves JSON-RPC.
    datagrams: SocketAddr,
    output: Lines<BufReader<ChildStdout>>,
}

impl Other {
    /// Returns how many times the server has failed to accept a connection.
    async fn not_accepted(&mut self) -> u64 {
        let input = self.child.stdin.as_mut().expect("pipe should be configured");
        input.write_all(b"\n").await.expect("write should succeed");
        loop {
            let line = soon("the child answers", self.output.next_line()).await.expect("output should be readable");
            if let Some(count) = line.expect("child should be running").strip_suffix(" not accepted") {
                return count.parse().expect("text should be a number");
            }
        }
    }
}

/// Returns the address after `prefix` in the output of a child.
async fn printed(output: &mut Lines<BufReader<ChildStdout>>, prefix: &str) -> SocketAddr {
    let reading = async {
        loop {
            let line = output.next_line().await.expect("line should be readable");
            let line = line.expect("child should print its addresses");
            if let Some(address) = line.strip_prefix(prefix) {
                break address.parse().expect("text should be a socket address");
            }
        }
    };
    soon("the child listens", reading).await
}

/// Starts a server in a separate process, under the given limits (`prlimit` options).
async fn child(limits: &[&str]) -> Other {
    let this = env!("CARGO_BIN_EXE_child");
    let mut command = if limits.is_empty() {
        Command::new(this)
    } else {
        let mut command = Command::new("prlimit");
        command.args(limits).arg(this);
        command
    };
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().expect("process should start");
    let mut output = BufReader::new(child.stdout.take().expect("stdout should be piped")).lines();
    let address = printed(&mut output, "listening on ").await;
    let datagrams = printed(&mut output, "datagrams to ").await;
    Other { child, address, datagrams, output }
}

/// Starts a server in a separate process, which may open fewer files than at its start.
async fn child_that_loses_descriptors() -> Other {
    let server = child(&[]).await;
    let process = server.child.id().expect("child should be running").to_string();
    let limited = Command::new("prlimit").args(["--nofile=64", "--pid", &process]).status().await;
    assert!(limited.expect("prlimit should start").success());
    server
}

fn is_there(command: &str) -> bool {
    let there = std::process::Command::new(command).arg("--version").output().is_ok();
    if !there {
        println!("skipped: there is no {command}");
    }
    there
}

async fn add_is_served(address: SocketAddr, within: Duration) {
    let started = Instant::now();
    loop {
        let channel = Channel::builder().connect_timeout(SECOND).timeout(SECOND).connect(address.to_string()).await;
        if let Ok(channel) = channel
            && let Ok(sum) = InteropClient::new(channel).add(AddRequest { a: 20, b: 22 }).await
        {
            return assert_eq!(sum.get_ref().total, 42);
        }
        assert!(started.elapsed() < within, "clients should be served in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn active_connections_leave_descriptors_to_other_addresses() {
    if !is_there("prlimit") {
        return;
    }
    let mut server = child(&["--nofile=256"]).await;
    let hoard = hoard(server.address, &packet(1, 18, &[8, 0, 0x0d, 2, 0x0d, 2])).await;
    let socket = TcpSocket::new_v4().expect("socket should be created");
    socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).expect("loopback address should be free");
    let socket = socket.connect(server.address).await.expect("server should be listening");
    let other = InteropClient::new(Channel::connect_io(socket).await.expect("server should accept the connection"));
    assert_eq!(other.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed").get_ref().total, 2);
    assert_eq!(server.not_accepted().await, 0);
    drop(hoard);
}

/// Checks that datagrams from many addresses, which may be forged, do not use up the server's file descriptors.
#[tokio::test]
async fn sources_of_datagrams_leave_descriptors_to_connections() {
    if !is_there("prlimit") {
        return;
    }
    let server = child(&["--nofile=256"]).await;
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Add","params":{"a":20,"b":22}}"#;
    for _ in 0..300 {
        let source = UdpSocket::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let mut reply = [0; 100];
        let exchange = async {
            source.send_to(call, server.datagrams).await?;
            source.recv(&mut reply).await
        };
        let length = soon("the reply arrives", exchange).await.expect("server should reply");
        assert!(reply[..length].windows(2).any(|digits| digits == b"42"), "{}", String::from_utf8_lossy(&reply));
    }
    add_is_served(server.address, TIMEOUT).await;
}

/// Checks that datagrams from many addresses, which may be forged, do not use up the memory of connections.
#[tokio::test]
async fn sources_of_datagrams_leave_memory_to_connections() {
    let udp = Udp::bind("127.0.0.1:0").expect("loopback port should be free");
    let datagrams = udp.local_addr();
    let builder = Server::builder().add_service(InteropServer::new(Service)).connection_memory_max(1024 * 1024);
    let server = builder.gateway(Gateway::new().json_rpc().udp(udp)).bind("127.0.0.1:0").await;
    let server = server.expect("loopback port should be free");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let sources = async {
        while stats.rejected() == 0 {
            let source = UdpSocket::bind("127.0.0.1:0").await.expect("loopback port should be free");
            source.send_to(b"{}", datagrams).await.expect("datagram should be sent");
            tokio::task::yield_now().await;
        }
    };
    soon("sources use up their share", sources).await;
    add_is_served(address, TIMEOUT).await;
}

#[tokio::test]
async fn server_without_descriptors_serves_and_recovers() {
    if !is_there("prlimit") {
        return;
    }
    let mut server = child_that_loses_descriptors().await;
    let early = InteropClient::connect(server.address.to_string()).await.expect("server should accept the connection");
    early.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
    let hoard = hoard(server.address, &packet(1, 18, &[8, 0, 0x0d, 2, 0x0d, 2])).await;
    soon("descriptors run out", async { while server.not_accepted().await == 0 {} }).await;
    let (started, before) = (Instant::now(), server.not_accepted().await);
    for a in 0..100 {
        early.add(AddRequest { a, b: 1 }).await.expect("call should succeed");
    }
    // Within the first ten failures, the pauses grow to one second.
    let (failures, most) = (server.not_accepted().await - before, 10 + started.elapsed().as_secs());
    assert!(failures <= most, "accepting failed {failures} times within {:?}", started.elapsed());
    drop(hoard);
    add_is_served(server.address, TIMEOUT).await;
    early.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
}

/// Opens more connections than a server with 256 descriptors can accept. Each sends `prefix`.
async fn hoard(address: SocketAddr, prefix: &[u8]) -> Vec<TcpStream> {
    let mut hoard = Vec::new();
    for _ in 0..300 {
        if let Ok(Ok(mut socket)) = tokio::time::timeout(SECOND, TcpStream::connect(address)).await {
            socket.write_all(prefix).await.expect("write should succeed");
            hoard.push(socket);
        }
    }
    assert!(hoard.len() > 256, "hoard has {} connections", hoard.len());
    hoard
}

#[tokio::test]
async fn active_clients_take_descriptors_from_silent_clients() {
    if !is_there("prlimit") {
        return;
    }
    let mut server = child_that_loses_descriptors().await;
    let silent = hoard(server.address, b"").await;
    add_is_served(server.address, TIMEOUT).await;
    assert!(server.not_accepted().await > 0, "server should run out of descriptors");
    drop(silent);
}

#[tokio::test]
async fn server_with_little_memory_rejects_and_survives() {
    if !is_there("prlimit") {
        return;
    }
    // The address space is large enough for the program and the stacks of its threads. It is too small for the 300 MiB
    // that the clients send.
    let Other { mut child, address, output: _output, .. } = child(&["--as=700000000"]).await;
    let early = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    let mut peers = Vec::new();
    let piece = vec![1; 64 * 1024];
    for _ in 0..100 {
        let mut peer = Raw::connect(address).await;
        peer.write(&header(1, 17, 5 << 20)).await;
        // Sends three of the five MiB that the packet announces.
        for _ in 0..48 {
            let written = tokio::time::timeout(SECOND, peer.socket.write_all(&piece)).await;
            if !matches!(written, Ok(Ok(()))) {
                break;
            }
        }
        peers.push(peer);
        let sum = early.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
        assert_eq!(sum.get_ref().total, 2);
    }
    assert!(child.try_wait().expect("process state should be readable").is_none(), "server process should be running");
    let refused = early.echo_payload(Payload { seq: 1, data: vec![1; 4 << 20] }).await.expect_err("call should fail");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    drop(peers);
    soon("there is memory again", async {
        while early.echo_payload(Payload { seq: 1, data: vec![1; 4 << 20] }).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn killed_server_fails_pending_calls_immediately() {
    let Other { mut child, address, output: _output, .. } = child(&[]).await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    let calls: Vec<_> = (0..20)
        .map(|tag| {
            let client = client.clone();
            tokio::spawn(async move { client.sleep(SleepRequest { millis: 60_000, tag }).await })
        })
        .collect();
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
    child.kill().await.expect("child should be killed");
    for call in calls {
        let status = soon("a call ends", call)
            .await
            .expect("task should not panic")
            .expect_err("call to a killed server should fail");
        assert_eq!(status.code(), Code::Unavailable);
        assert!(status.may_have_run(), "call should have been sent");
    }
}

#[tokio::test]
async fn stalled_and_slow_peers_delay_no_others() {
    let address = serve_interop().await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    let (mut stalled, mut slow) = (Vec::new(), Vec::new());
    let request = packet(1, 21, &[]);
    let large = Payload { seq: 1, data: vec![1; 100_000] };
    let mut body = Vec::new();
    polyglot::encode_root(&large, &mut polyglot::Encoder::new(&mut body)).expect("message should be encodable");
    for _ in 0..30 {
        let mut peer = Raw::connect(address).await;
        let requests = packet(1, 17, &body).repeat(3);
        let _ = tokio::time::timeout(SECOND / 10, peer.socket.write_all(&requests)).await;
        stalled.push(peer);
        let mut peer = Raw::connect(address).await;
        peer.write(&request[..5]).await;
        slow.push(peer);
    }
    for a in 0..200 {
        let sum = soon("a call ends", client.add(AddRequest { a, b: 1 })).await.expect("call should succeed");
        assert_eq!(sum.get_ref().total, a + 1);
        if let Some(peer) = slow.get_mut(a as usize) {
            peer.write(&request[5..6]).await;
        }
    }
    for mut peer in stalled {
        for _ in 0..3 {
            assert_eq!(peer.next().await.expect("connection should stay open").body.len(), body.len());
        }
    }
}
