//! Test of the memory that clients make io_uring use if they do not read.

use super::allocator::{Uncounted, live};
use frisbee::Config;
use frisbee_tests::parrot::{Echo, REQUEST};
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::packet;
use frisbee_tests::versions::first::ParrotServer;
use frpc::{IoBackend, Server, Stats, Workers};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio::net::TcpSocket;

const CONNECTIONS: usize = 20;

/// Length of the text of a call. A socket of io_uring accepts many such replies before they are sent.
const TEXT: usize = 1000;

/// Memory that each connection should keep, in bytes.
const KEPT: usize = 40_000;

/// Regression test: up to 64 KiB of replies that a client did not read belonged to nobody's account.
#[test]
fn replies_that_ring_keeps_are_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let Some((address, stats)) = serve() else { return eprintln!("SKIPPED: io_uring cannot be used here") };
    let _uncounted = Uncounted::begin();
    let mut first = Client::connect(address);
    first.call(&REQUEST);
    let memory = || (live(), stats.connection_memory_held() + stats.memory_held());
    // A request like `REQUEST`, with a longer text.
    let text = [&b"\x08\x00\x05\x0a\xe8\x07"[..], &[b'a'; TEXT], b"\x0c\x02"].concat();
    let before = memory();
    let _clients = [(); CONNECTIONS].map(|()| {
        let mut client = Client::connect(address);
        client.call(&REQUEST);
        let (idle, _) = memory();
        // The server answers the calls one at a time, because it would send a longer batch without the ring.
        while memory().0 < idle + KEPT {
            client.send(&text);
            first.call(&REQUEST);
            first.call(&REQUEST);
        }
        client
    });
    let after = memory();
    let (kept, charged) = ((after.0 - before.0) / CONNECTIONS, (after.1 - before.1) / CONNECTIONS);
    println!("{kept} bytes, {charged} charged");
    assert!((KEPT..=charged * 11 / 10).contains(&kept));
}

/// Starts a server with one ring, which runs until the process ends.
fn serve() -> Option<(SocketAddr, Stats)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let hour = Duration::from_secs(3600);
    let builder = Server::builder().config(Config::default().idle_timeout(hour)).first_header_timeout(hour);
    let builder = builder.io_backend(IoBackend::Uring).workers(Workers::Threads(1));
    let server = runtime.block_on(builder.add_service(ParrotServer::new(Echo)).bind("127.0.0.1:0")).ok()?;
    let started = (server.local_addr(), server.stats());
    std::thread::spawn(move || runtime.block_on(server.serve()));
    Some(started)
}

struct Client(TcpStream);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
        let socket = runtime.block_on(async {
            let socket = TcpSocket::new_v4().expect("socket should be created");
            socket.set_recv_buffer_size(4096).expect("size should be allowed");
            socket.connect(address).await.expect("server should be listening")
        });
        let socket = socket.into_std().expect("socket should leave the runtime");
        socket.set_nonblocking(false).expect("socket should become blocking");
        // Otherwise, calls would wait for acknowledgements and arrive in batches.
        socket.set_nodelay(true).expect("option should be allowed");
        Self(socket)
    }

    fn send(&mut self, call: &[u8]) {
        self.0.write_all(&packet(7, 10, call)).expect("write should succeed");
    }

    /// Makes a call and reads its reply.
    fn call(&mut self, call: &[u8]) {
        self.send(call);
        let (mut head, mut body) = ([0; 10], [0; 64]);
        while head[5] != 10 {
            self.0.read_exact(&mut head).expect("server should answer");
            let length = usize::from(head[9]);
            self.0.read_exact(&mut body[..length]).expect("server should answer");
        }
    }
}
