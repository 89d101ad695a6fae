//! Tests of the memory that a server keeps for an idle connection.

use super::allocator::live;
use frisbee::Config;
use frisbee_tests::parrot::{Echo, REQUEST};
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::packet;
use frisbee_tests::versions::first::{ParrotClient, ParrotServer};
use frpc::{Server, Workers};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Number of connections. Both ends are in this process, and together stay below the usual limit of 1024 open files.
const CONNECTIONS: usize = 400;

/// Maximum number of bytes in allocated blocks that the server may keep for an idle connection.
const KEPT_MAX: usize = 2112;

/// Time in which connections must release the memory of a call. They do so after several intervals of silence. This
/// takes a few seconds, or longer on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn idle_connection_holds_at_most_two_kilobytes() {
    if ran_alone(|| ()) {
        return;
    }
    let greeting = greeting();
    let address = serve();
    // With the first connection, the server allocates memory that does not depend on the number of connections.
    let first = open(address, &greeting);
    let before = live();
    let mut connections = Vec::with_capacity(CONNECTIONS);
    connections.extend((0..CONNECTIONS).map(|_| open(address, &greeting)));
    let own = CONNECTIONS * size_of::<TcpStream>();
    let busy = (live() - before - own) / CONNECTIONS;
    let give_up = Instant::now() + TIMEOUT;
    let mut remaining = busy;
    while remaining > KEPT_MAX && Instant::now() < give_up {
        sleep(Duration::from_millis(100));
        remaining = live().saturating_sub(before + own) / CONNECTIONS;
    }
    println!("{remaining} bytes a connection, {busy} after its call");
    // These calls show that no connection was closed.
    connections.iter_mut().for_each(call);
    assert!(remaining <= KEPT_MAX, "connections take {remaining} bytes each, after {busy} during the call");
    drop((first, connections));
}

/// Returns the first packets of a client. They announce the services that the client will call.
fn greeting() -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let client = runtime.spawn(ParrotClient::connect(address));
    let received = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("client should connect");
        let mut received = Vec::new();
        let mut byte = [0];
        // The first packets of a client end with a PING.
        while !received.ends_with(&packet(1, 0, &[])) {
            socket.read_exact(&mut byte).expect("peer should send the expected bytes");
            received.push(byte[0]);
        }
        received
    });
    runtime.block_on(async {
        while !received.is_finished() {
            tokio::task::yield_now().await;
        }
    });
    drop(client);
    received.join().expect("thread should not panic")
}

/// Starts a server on its own thread, which runs until the process ends.
fn serve() -> SocketAddr {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    // The sockets do not answer PINGs, so the idle timeout must be long.
    let config = Config::default().idle_timeout(Duration::from_secs(3600));
    let builder = Server::builder().config(config).workers(Workers::Caller).add_service(ParrotServer::new(Echo));
    let server = runtime.block_on(builder.bind("127.0.0.1:0")).expect("loopback port should be free");
    let address = server.local_addr();
    std::thread::spawn(move || runtime.block_on(server.serve()));
    address
}

/// Opens a connection and makes a call on it.
fn open(address: SocketAddr, greeting: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(address).expect("server should accept the connection");
    socket.write_all(greeting).expect("write should succeed");
    call(&mut socket);
    socket
}

/// Makes a call, and reads its reply and all preceding packets.
fn call(socket: &mut TcpStream) {
    socket.write_all(&packet(7, 10, &REQUEST)).expect("write should succeed");
    loop {
        let mut head = [0; 10];
        let mut body = [0; 1024];
        socket.read_exact(&mut head).expect("peer should send the expected bytes");
        let length = u32::from_be_bytes([head[6], head[7], head[8], head[9]]) as usize;
        socket.read_exact(&mut body[..length]).expect("peer should send the expected bytes");
        if head[5] == 10 {
            return;
        }
    }
}
