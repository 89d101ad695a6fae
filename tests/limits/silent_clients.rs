//! Tests of clients that connect and send nothing, with and without TLS. Their number is limited, and they must not
//! block other clients.

use frisbee::{CloseKind, CloseReason, Config};
use frisbee_tests::attacks::ADD;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::{encoded, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{serve_interop_with, until};
use frpc::{Acceptor, Channel, IoBackend, Server, ServerBuilder, Workers};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Maximum virtual time in which an honest client must be able to connect.
const SOON: Duration = Duration::from_millis(200);

fn acceptor(builder: ServerBuilder) -> Acceptor {
    builder.add_service(InteropServer::new(Service)).build().expect("services should not overlap")
}

/// Returns a client's end of a connection, and the task that returns its close reason.
fn connect(acceptor: &Acceptor) -> (DuplexStream, JoinHandle<CloseReason>) {
    let (here, there) = tokio::io::duplex(64 * 1024);
    let acceptor = acceptor.clone();
    (here, tokio::spawn(async move { acceptor.serve_connection(there).await }))
}

fn add() -> Vec<u8> {
    packet(1, ADD, &encoded(&AddRequest { a: 20, b: 22 }))
}

/// Connects with TLS and makes a call. Returns the time that this takes.
async fn call(acceptor: &Acceptor, authority: &Authority) -> Duration {
    let started = Instant::now();
    let (here, _serving) = connect(acceptor);
    let channel = Channel::builder().tls(authority.client()).server_name("127.0.0.1").connect_io(here);
    let client = InteropClient::new(channel.await.expect("honest client should be accepted"));
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
    started.elapsed()
}

#[tokio::test(start_paused = true)]
async fn silent_handshake_flood_delays_no_client() {
    let authority = Authority::default();
    let acceptor = acceptor(Server::builder().tls(authority.server()));
    let mut silent = Vec::new();
    for number in 1..=3_000 {
        silent.push(connect(&acceptor));
        tokio::time::sleep(Duration::from_millis(1)).await;
        if number % 300 == 0 {
            let took = call(&acceptor, &authority).await;
            assert!(took < SOON, "connecting took {took:?} with {number} silent connections");
        }
    }
    assert!(
        silent.iter().all(|(_, serving)| !serving.is_finished()),
        "all silent connections should be within the limit"
    );
}

#[tokio::test(start_paused = true)]
async fn stalled_handshakes_delay_others_only_briefly() {
    let authority = Authority::default();
    let acceptor = acceptor(Server::builder().tls(authority.server().handshakes_max(4)));
    let greeting = authority.client_hello();
    let mut silent = Vec::new();
    for round in 0..5 {
        for _ in 0..4 {
            let (mut here, serving) = connect(&acceptor);
            here.write_all(&greeting).await.expect("write should succeed");
            silent.push((here, serving));
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        let took = call(&acceptor, &authority).await;
        assert!(took <= Duration::from_millis(500), "reply took {took:?} in round {round}");
    }
    assert!(
        silent.iter().all(|(_, serving)| !serving.is_finished()),
        "silent connections should be kept for ten seconds"
    );
}

#[tokio::test(start_paused = true)]
async fn oldest_silent_clients_are_closed_beyond_limit() {
    let authority = Authority::default();
    let builder = || Server::builder().silent_max(3);
    let greeting = authority.client_hello();
    // A client is silent if it sends nothing, half of a header, half of a handshake, or a complete handshake and
    // nothing else.
    let cases = [
        (builder(), vec![], 0),
        (builder(), vec![0, 0x0f], 0),
        (builder().tls(authority.server()), vec![], 0),
        (builder().tls(authority.server()), greeting[..100].to_vec(), 0),
        (builder().tls(authority.server()), greeting, 501),
    ];
    for (number, (builder, prefix, later)) in cases.into_iter().enumerate() {
        let acceptor = acceptor(builder);
        let started = Instant::now();
        let mut silent = Vec::new();
        for _ in 0..10 {
            let (mut here, serving) = connect(&acceptor);
            here.write_all(&prefix).await.expect("write should succeed");
            silent.push((here, serving));
        }
        let pause = Duration::from_millis(later + 5);
        tokio::time::sleep(pause).await;
        assert!(silent.iter().all(|(_, serving)| !serving.is_finished()), "young connections should be kept");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (mut here, serving) = connect(&acceptor);
        here.write_all(&prefix).await.expect("write should succeed");
        silent.push((here, serving));
        tokio::time::sleep(pause).await;
        let over: Vec<_> = silent.iter().map(|(_, serving)| serving.is_finished()).collect();
        assert_eq!(over, [[true; 8].as_slice(), &[false; 3]].concat(), "case {number}");
        assert!(started.elapsed() < Duration::from_secs(3), "no client should wait for the silent ones");
    }
}

#[tokio::test(start_paused = true)]
async fn client_after_first_packet_is_never_evicted() {
    let acceptor = acceptor(Server::builder().silent_max(1));
    let mut served = Vec::new();
    for _ in 0..20 {
        let (mut here, serving) = connect(&acceptor);
        here.write_all(&add()).await.expect("write should succeed");
        served.push((here, serving));
    }
    let mut reply = [0; 16];
    for (here, _) in &mut served {
        here.read_exact(&mut reply).await.expect("peer should send the expected bytes");
    }
    let silent: Vec<_> = (0..20).map(|_| connect(&acceptor)).collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let _last = connect(&acceptor);
    until("the silent connections are closed", || silent.iter().all(|(_, serving)| serving.is_finished())).await;
    for (here, _) in &mut served {
        here.write_all(&add()).await.expect("write should succeed");
        here.read_exact(&mut reply).await.expect("peer should send the expected bytes");
    }
    assert_eq!(acceptor.stats().closed_by(CloseKind::NoFirstHeader), 20);
}

/// Regression: each new client evicted one that was about to send. If many clients connected at once, most of them
/// failed.
#[tokio::test(start_paused = true)]
async fn crowd_beyond_silent_limit_is_served() {
    let acceptor = acceptor(Server::builder().silent_max(8));
    let mut crowd: Vec<_> = (0..500).map(|_| connect(&acceptor)).collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    for (here, _) in &mut crowd {
        here.write_all(&add()).await.expect("write should succeed");
        here.read_exact(&mut [0; 16]).await.expect("every client should be served");
    }
}

/// All bytes have arrived at the sockets before the runtime polls them for the first time.
#[tokio::test]
async fn clients_with_unread_bytes_are_served() {
    let authority = Authority::default();
    let builder = || Server::builder().silent_max(1);
    let secured = || builder().tls(authority.server());
    // Repeated, because the runtime also polls its sockets after every 61 tasks, which may hide a failure.
    for round in 0..10 {
        let (builder, prefix) = if round < 5 { (builder(), add()) } else { (secured(), authority.client_hello()) };
        let acceptor = acceptor(builder);
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
        let address = listener.local_addr().expect("socket should have a local address");
        let mut clients = Vec::new();
        for _ in 0..8 {
            let mut client = TcpStream::connect(address).expect("server should accept the connection");
            client.write_all(&prefix).expect("write should succeed");
            clients.push(client);
            let (socket, _) = listener.accept().expect("client should connect");
            socket.set_nonblocking(true).expect("address should be that of a socket");
            let (socket, acceptor) = (tokio::net::TcpStream::from_std(socket), acceptor.clone());
            tokio::spawn(async move {
                acceptor.serve_connection(socket.expect("address should be that of a socket")).await
            });
        }
        let answered = tokio::task::spawn_blocking(move || {
            clients.iter_mut().filter_map(|client| client.read_exact(&mut [0; 16]).ok()).count()
        });
        assert_eq!(answered.await.expect("reader should not panic"), 8, "in round {round}");
    }
}

#[tokio::test]
async fn silent_connections_are_bounded_with_every_driver() {
    let authority = Authority::default();
    const HOUR: Duration = Duration::from_secs(3_600);
    for (tls, backend) in [(false, IoBackend::Auto), (false, IoBackend::Tokio), (true, IoBackend::Tokio)] {
        let config = Config::default().idle_timeout(HOUR);
        let builder = Server::builder().silent_max(8).config(config).first_header_timeout(HOUR);
        let mut builder = builder.workers(Workers::Threads(2)).io_backend(backend);
        if tls {
            builder = builder.tls(authority.server().handshake_timeout(HOUR));
        }
        let address = serve_interop_with(builder).await;
        let mut silent = Vec::new();
        for _ in 0..100 {
            let socket = tokio::net::TcpStream::connect(address).await.expect("server should be listening");
            silent.push(tokio::spawn(async move { tokio::io::copy(&mut { socket }, &mut tokio::io::sink()).await }));
        }
        // After one second, the server may close silent connections when new clients connect.
        let arriving = tokio::spawn(async move {
            let (mut arrived, mut pause) = (Vec::new(), tokio::time::interval(Duration::from_millis(100)));
            loop {
                pause.tick().await;
                arrived.push(tokio::net::TcpStream::connect(address).await);
            }
        });
        until("all connections but eight are closed", || {
            silent.iter().filter(|reading| reading.is_finished()).count() >= 92
        })
        .await;
        arriving.abort();
        silent.iter().for_each(JoinHandle::abort);
    }
}
