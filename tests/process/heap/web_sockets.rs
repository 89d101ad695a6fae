//! Tests of the memory that a server keeps for an idle WebSocket.

use super::allocator::live;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::process::ran_alone;
use frisbee_tests::service::Service;
use frpc::{Server, Workers};
use frpc_gateway::{Gateway, ServeGateway as _};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Number of connections. Both ends are in this process, and together stay below the usual limit of 1024 open files.
const CONNECTIONS: usize = 400;

/// Maximum number of bytes in allocated blocks that the server may keep for an idle connection, so that 10 000
/// connections take 100 MB. Measured values are 9.5 KiB with JSON-RPC, and 8.8 KiB with native frames.
const KEPT_MAX: usize = 10 * 1024;

/// Time in which connections must release the memory of a call.
const TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn idle_web_socket_memory_is_bounded() {
    if ran_alone(|| ()) {
        return;
    }
    let address = serve();
    let mut remaining = Vec::new();
    for open in [open_json_rpc, open_frames] {
        // With the first connection, the server allocates memory that does not depend on the number of connections.
        let first = open(address);
        let before = live();
        let mut connections = Vec::with_capacity(CONNECTIONS);
        connections.extend((0..CONNECTIONS).map(|_| open(address)));
        let own = CONNECTIONS * size_of::<TcpStream>();
        let give_up = Instant::now() + TIMEOUT;
        let mut each = usize::MAX;
        while each > KEPT_MAX && Instant::now() < give_up {
            sleep(Duration::from_millis(100));
            each = live().saturating_sub(before + own) / CONNECTIONS;
        }
        remaining.push(each);
        drop((first, connections));
    }
    println!("{remaining:?} bytes a connection: JSON-RPC, native frames");
    assert!(remaining.iter().all(|each| *each <= KEPT_MAX), "connections take {remaining:?} bytes each");
}

/// Starts a server on its own thread, which runs until the process ends.
fn serve() -> SocketAddr {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let builder = Server::builder().workers(Workers::Caller).add_service(InteropServer::new(Service));
    let builder = builder.gateway(Gateway::new().web_socket().json_rpc());
    let server = runtime.block_on(builder.bind("127.0.0.1:0")).expect("loopback port should be free");
    let address = server.local_addr();
    std::thread::spawn(move || runtime.block_on(server.serve()));
    address
}

/// Opens a connection and completes its WebSocket handshake.
fn upgrade(address: SocketAddr, protocol: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).expect("server should accept the connection");
    let request = format!(
        "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: \
         dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\nsec-websocket-protocol: {protocol}\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).expect("write should succeed");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("peer should send the expected bytes");
        answer.push(byte[0]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "), "{answer:?}");
    socket
}

/// Sends a frame and waits for a frame in return.
fn exchange(socket: &mut TcpStream, opcode: u8, payload: &[u8]) {
    let length = u8::try_from(payload.len()).ok().filter(|length| *length < 126).expect("payload should be short");
    // The mask is zero, so the payload is unchanged.
    let frame = [&[0x80 | opcode, 0x80 | length, 0, 0, 0, 0], payload].concat();
    socket.write_all(&frame).expect("write should succeed");
    loop {
        let mut head = [0; 2];
        socket.read_exact(&mut head).expect("peer should send the expected bytes");
        let mut body = vec![0; usize::from(head[1])];
        socket.read_exact(&mut body).expect("peer should send the expected bytes");
        if head[0] == 0x80 | opcode {
            return;
        }
    }
}

/// Opens a connection and makes a call on it.
fn open_json_rpc(address: SocketAddr) -> TcpStream {
    let mut socket = upgrade(address, "jsonrpc");
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Add","params":{"a":20,"b":22}}"#;
    exchange(&mut socket, 1, call);
    socket
}

/// Opens a connection and sends a PING, which the server answers.
fn open_frames(address: SocketAddr) -> TcpStream {
    let mut socket = upgrade(address, "frisbee.1");
    exchange(&mut socket, 2, &frisbee_tests::raw::packet(1, 0, &[]));
    socket
}
