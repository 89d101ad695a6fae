//! Tests of the memory of idle gateway connections.

use super::allocator::live;
use super::calls::post;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::http2_frame;
use frisbee_tests::service::Service;
use frpc::{Server, Stats, Workers};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Number of connections. Both ends are in this process, and together stay below the usual limit of 1024 open files.
const CONNECTIONS: usize = 400;

/// Time in which connections must release the memory of a call.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Opens a connection and makes a call on it.
type Open = fn(SocketAddr) -> TcpStream;

/// Protocols, and the number of bytes that an idle connection is charged.
const CASES: [(&str, Open, usize); 7] = [
    ("JSON-RPC", open_lines, 9 * 1024),
    ("Connect", |address| open_http(address, "/interop.Interop/Add", "keep-alive", r#"{"a":20,"b":22}"#), 16 * 1024),
    ("JSON-RPC by POST", |address| open_http(address, "/", "keep-alive", CALL), 16 * 1024),
    ("HTTP/1.1 in hyper", |address| open_http(address, "/", "keep-alive, te", CALL), 36 * 1024),
    ("HTTP/2", open_http2, 18 * 1024),
    ("JSON-RPC by WebSocket", open_json_rpc, 12 * 1024),
    ("frames by WebSocket", open_frames, 12 * 1024),
];

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Add","params":{"a":20,"b":22}}"#;

#[test]
fn idle_connections_are_charged() {
    if ran_alone(|| ()) {
        return;
    }
    let (address, stats) = serve(Gateway::new().web_socket().json_rpc().http(Http::new().connect().grpc()));
    let mut failures = Vec::new();
    for (name, open, expected) in CASES {
        let (kept, charged) = kept_and_charged(address, &stats, (open, CONNECTIONS), expected);
        let text = format!("{name}: {kept} bytes a connection, {charged} charged");
        println!("{text}");
        if kept > charged || charged > kept * 13 / 10 || charged != expected {
            failures.push(text);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Regression test: while the next request was incomplete, a connection kept the memory of a request and a response of
/// 60 KB.
#[test]
fn long_call_leaves_no_memory() {
    if ran_alone(|| ()) {
        return;
    }
    let (address, stats) = serve(Gateway::new().json_rpc().http(Http::new().connect()));
    let http: Open = |address| {
        let body = long_payload();
        let length = body.len();
        let request = format!(
            "POST /interop.Interop/EchoPayload HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}P"
        );
        let mut socket = connect(address, request.as_bytes());
        read_until(&mut socket, b"A\"}");
        socket
    };
    let json_rpc: Open = |address| {
        let params = long_payload();
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"interop.Interop/EchoPayload","params":{params}}}"#);
        let mut socket = connect(address, format!("{call}\n{{").as_bytes());
        read_until(&mut socket, b"A\"}}\n");
        socket
    };
    // Buffers are charged in steps of 16 KiB.
    const STEP: usize = 16 * 1024;
    for (name, open, charge) in [("Connect", http, 16 * 1024), ("JSON-RPC", json_rpc, 9 * 1024)] {
        let (kept, charged) = kept_and_charged(address, &stats, (open, 40), charge + STEP);
        println!("{name}: {kept} bytes a connection, {charged} charged");
        assert!(kept <= charged + STEP && charged == charge, "{name}: {kept} bytes a connection, {charged} charged");
    }
}

/// Regression test: the rest of a stream kept the memory of earlier messages, and its charge shrank.
#[test]
fn long_stream_message_leaves_no_memory() {
    if ran_alone(|| ()) {
        return;
    }
    let (address, stats) = serve(Gateway::new().http(Http::new().grpc()));
    let binary: Open = |address| {
        let [long, short] = MESSAGES.map(envelope);
        // The first byte of the next message follows each message.
        open_chat(address, "application/grpc+json", [[&long[..], b"\0"].concat(), [&short[1..], b"\0"].concat()])
    };
    let text: Open = |address| {
        let parts = MESSAGES.map(|length| base64(&envelope(length)));
        open_chat(address, "application/grpc-web-text+json", parts)
    };
    for (name, open) in [("gRPC", binary), ("gRPC-Web as text", text)] {
        // Do not wait until less is kept, because the server ends the streams after some seconds.
        let (kept, charged) = kept_and_charged(address, &stats, (open, 40), usize::MAX - 1);
        println!("{name}: {kept} bytes a connection, {charged} charged");
        assert!(kept <= KEPT_BY_STREAM, "{name}: {kept} bytes a connection, {charged} charged");
    }
}

/// A message that waits for the end of its body is charged with the spare capacity of its buffer.
#[test]
fn waiting_message_is_charged_with_its_buffer() {
    if ran_alone(|| ()) {
        return;
    }
    let (address, stats) = serve(Gateway::new().http(Http::new().grpc()));
    let open: Open = |address| {
        let mut socket = begin(address, "/interop.Interop/CountUp", "application/grpc+json");
        // In parts of these sizes, the buffer is enlarged just before the end.
        for part in envelope(33_001).chunks(16 * 1024) {
            socket.write_all(&http2_frame(0, 0, 1, part)).expect("write should succeed");
            ping(&mut socket);
        }
        socket
    };
    let (kept, charged) = kept_and_charged(address, &stats, (open, 40), usize::MAX - 1);
    println!("{kept} bytes a connection, {charged} charged");
    assert!(kept <= charged + 16 * 1024, "{kept} bytes a connection, {charged} charged");
}

/// Sends a PING and waits for the reply, so that the server has handled all earlier frames.
fn ping(socket: &mut TcpStream) {
    socket.write_all(&http2_frame(6, 0, 0, &[0; 8])).expect("write should succeed");
    while read_frame(socket) != (6, 1) {}
}

/// Opens a connection and sends the head of a request.
fn begin(address: SocketAddr, path: &str, content_type: &str) -> TcpStream {
    let head = post(0, path, content_type, b"");
    // Remove the empty DATA frame, which ends the request.
    connect(address, &head[..head.len() - 9])
}

/// Maximum memory in bytes that a connection with an idle stream may keep.
const KEPT_BY_STREAM: usize = 24 * 1024;

/// Lengths of the messages. With their prefixes, they are multiples of three bytes, which base64 encodes without padding.
const MESSAGES: [usize; 2] = [60_001, 22];

/// Returns a message of this length, with its prefix.
fn envelope(length: usize) -> Vec<u8> {
    let prefix = u32::try_from(length).expect("message should be short").to_be_bytes();
    [b"\0", &prefix[..], format!("{:length$}", r#"{"value":"a"}"#).as_bytes()].concat()
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |group: &[u8]| {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| DIGITS[bits >> shift & 63])
    };
    bytes.chunks(3).flat_map(encode).collect()
}

/// Opens a stream and sends these parts of its body. Waits for the reply to each part.
fn open_chat(address: SocketAddr, content_type: &str, parts: [Vec<u8>; 2]) -> TcpStream {
    let mut socket = begin(address, "/interop.Interop/Chat", content_type);
    for part in parts {
        for data in part.chunks(16 * 1024) {
            socket.write_all(&http2_frame(0, 0, 1, data)).expect("write should succeed");
        }
        while read_frame(&mut socket).0 != 0 {}
    }
    socket
}

/// Reads an HTTP/2 frame and returns its type and flags.
fn read_frame(socket: &mut TcpStream) -> (u8, u8) {
    let mut head = [0; 9];
    socket.read_exact(&mut head).expect("server should send frames");
    let [a, b, c, kind, flags, ..] = head;
    let mut body = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    socket.read_exact(&mut body).expect("server should send whole frames");
    (kind, flags)
}

fn long_payload() -> String {
    format!(r#"{{"data":"{}"}}"#, "A".repeat(60_000))
}

/// Returns how many bytes the server keeps for an idle connection, and how many it charges. Waits until it keeps at
/// most `most`.
fn kept_and_charged(address: SocketAddr, stats: &Stats, (open, count): (Open, usize), most: usize) -> (usize, usize) {
    // With the first connection, the server allocates memory that does not depend on the number of connections.
    let first = open(address);
    let charges = || stats.connection_memory_held() + stats.memory_held();
    let before = (live(), charges());
    let mut connections = Vec::with_capacity(count);
    connections.extend((0..count).map(|_| open(address)));
    let own = count * size_of::<TcpStream>();
    let charged = (charges() - before.1) / count;
    let give_up = Instant::now() + TIMEOUT;
    let mut kept = usize::MAX;
    while kept > most && Instant::now() < give_up {
        sleep(Duration::from_millis(100));
        kept = live().saturating_sub(before.0 + own) / count;
    }
    assert_eq!(stats.open(), count as u64 + 1, "connections should be open while their memory is measured");
    drop((first, connections));
    while stats.open() > 0 {
        sleep(Duration::from_millis(10));
    }
    (kept, charged)
}

/// Starts a server on its own thread, which runs until the process ends.
fn serve(gateway: Gateway) -> (SocketAddr, Stats) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let builder = Server::builder().workers(Workers::Caller).add_service(InteropServer::new(Service));
    let server = runtime.block_on(builder.gateway(gateway).bind("127.0.0.1:0")).expect("loopback port should be free");
    let (address, stats) = (server.local_addr(), server.stats());
    std::thread::spawn(move || runtime.block_on(server.serve()));
    (address, stats)
}

fn connect(address: SocketAddr, request: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(address).expect("server should accept the connection");
    socket.write_all(request).expect("write should succeed");
    socket
}

/// Reads until the received bytes end with `end`.
fn read_until(socket: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    while !answer.ends_with(end) {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("peer should send the expected bytes");
        answer.push(byte[0]);
    }
    answer
}

fn open_lines(address: SocketAddr) -> TcpStream {
    let mut socket = connect(address, CALL.as_bytes());
    read_until(&mut socket, b"}}\n");
    socket
}

fn open_http(address: SocketAddr, path: &str, connection: &str, body: &str) -> TcpStream {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: {connection}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    let mut socket = connect(address, [head.as_bytes(), body.as_bytes()].concat().as_slice());
    let answer = read_until(&mut socket, b"}");
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
    if path == "/" {
        read_until(&mut socket, b"}");
    }
    socket
}

fn open_http2(address: SocketAddr) -> TcpStream {
    let mut socket = connect(address, &post(0, "/interop.Interop/Add", "application/grpc+json", b"\0\0\0\0\x02{}"));
    // The trailers end with `grpc-status: 0`.
    loop {
        let (kind, flags) = read_frame(&mut socket);
        if kind == 1 && flags & 1 != 0 {
            return socket;
        }
    }
}

/// Opens a connection and completes its WebSocket handshake.
fn upgrade(address: SocketAddr, protocol: &str) -> TcpStream {
    let request = format!(
        "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: \
         dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\nsec-websocket-protocol: {protocol}\r\n\r\n"
    );
    let mut socket = connect(address, request.as_bytes());
    let answer = read_until(&mut socket, b"\r\n\r\n");
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
    exchange(&mut socket, 1, CALL.as_bytes());
    socket
}

/// Opens a connection and sends a PING, which the server answers.
fn open_frames(address: SocketAddr) -> TcpStream {
    let mut socket = upgrade(address, "frisbee.1");
    exchange(&mut socket, 2, &frisbee_tests::raw::packet(1, 0, &[]));
    socket
}
