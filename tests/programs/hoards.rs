//! Memory of a server whose gateway clients make it hold as much as they can, and the latencies of a witness client at
//! another address. The first row has a process that sends nothing and uses as much CPU as attackers may.

use super::{CONTROL, LIFE, Priority, Running, SHARE, Verdict, percentile};
use frisbee_tests::attacks::{Appetite, burn};
use frisbee_tests::hoard::Hoard;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer};
use frpc::{Channel, Server};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

const MIB: usize = 1024 * 1024;

/// The memory limit of the server.
const MEMORY: usize = 64 * MIB;

/// Maximum memory of the process in MiB, in addition to the limit and to its idle memory. It covers buffers of sockets
/// and of the allocator, and messages that are decoded before they are charged.
const BESIDE_MAX: f64 = 64.0;

/// Duration of a call. It is so long that many calls wait at the same time.
const PAUSE: Duration = Duration::from_secs(1);

/// Duration of each measurement.
const TIME: Duration = Duration::from_secs(8);

/// Ways in which clients make the server hold memory.
#[derive(Clone, Copy, Debug)]
enum Kind {
    SlowWebSocketStream,
    WebSocketCalls,
    WebSocketHalves,
    WebSocketPromises,
    WebSocketPings,
    UnreadStreams,
    UnreadWebSocketReplies,
    UnreadReplies,
    UnreadHttpReplies,
    LongIds,
    Metadata,
    Lists,
    ResetStreams,
    Continuations,
    Settings,
    Pings,
    ZeroWindows,
    HalfBodies,
}

const ROWS: [(Kind, &str); 18] = [
    (Kind::SlowWebSocketStream, "WebSocket: a stream of 16 KiB items read at 80 KiB/s"),
    (Kind::WebSocketCalls, "WebSocket: 5000 waiting calls with 55 KiB of metadata"),
    (Kind::WebSocketHalves, "WebSocket: 96 connections with half messages of 1 MiB"),
    (Kind::WebSocketPromises, "WebSocket: 300 connections with headers of 4 MiB frames and no bytes"),
    (Kind::WebSocketPings, "WebSocket: 16 connections with endless PING frames"),
    (Kind::UnreadStreams, "JSON-RPC: 200 unread streams of 1 MiB items"),
    (Kind::UnreadWebSocketReplies, "WebSocket: 600 unread replies of 2 MiB"),
    (Kind::UnreadReplies, "JSON-RPC: 600 unread replies of 2 MiB"),
    (Kind::UnreadHttpReplies, "HTTP/1.1: 300 connections with unread replies of 4 MiB"),
    (Kind::LongIds, "JSON-RPC: 319 waiting calls with ids of 1 MiB"),
    (Kind::Metadata, "JSON-RPC: 5000 waiting calls with 55 KiB of metadata"),
    (Kind::Lists, "HTTP/1.1: 40 waiting calls with lists of 240000 empty messages"),
    (Kind::ResetStreams, "HTTP/2: 16 connections that reset each stream at once"),
    (Kind::Continuations, "HTTP/2: 16 connections with endless CONTINUATION frames"),
    (Kind::Settings, "HTTP/2: 16 connections with endless SETTINGS frames"),
    (Kind::Pings, "HTTP/2: 16 connections with endless PING frames"),
    (Kind::ZeroWindows, "HTTP/2: 1200 replies of 256 KiB for windows of zero"),
    (Kind::HalfBodies, "HTTP/2: 6144 streams with half bodies, 60 MiB in all"),
];

/// Serves until the process is killed.
pub(crate) async fn serve() -> super::Result<Verdict> {
    let (service, release) = Hoard::new(PAUSE);
    release.send(true)?;
    let gateway = Gateway::new().json_rpc().web_socket().http(Http::new().connect().grpc());
    let server = Server::builder().memory_max(MEMORY).add_service(InteropServer::new(service)).gateway(gateway);
    let server = server.bind("127.0.0.1:0").await?;
    println!("listening on {}", server.local_addr());
    tokio::spawn(server.serve());
    tokio::time::sleep(LIFE).await;
    Ok(Verdict::Well)
}

/// Hoards as the row with this name, or uses CPU if there is none.
pub(crate) async fn hoard(name: &str, address: &str) -> super::Result<Verdict> {
    match ROWS.into_iter().find(|(_, row)| *row == name) {
        Some((kind, _)) => attack(kind, address.parse()?).await?,
        None => burn(Appetite::Share(SHARE)).await,
    }
    Ok(Verdict::Well)
}

/// Prints the rows whose names contain `only`.
pub(crate) async fn besiege(only: &str) -> super::Result<Verdict> {
    let mut worst = Verdict::Well;
    println!("\n| clients | idle MiB | most MiB | calls of the witness | errors | native p99 (us) | HTTP p99 (us) |");
    println!("|---|---|---|---|---|---|---|");
    let names = std::iter::once(CONTROL).chain(ROWS.into_iter().map(|(_, name)| name));
    for name in names.filter(|name| *name == CONTROL || name.contains(only)) {
        let program = std::env::current_exe()?;
        let mut server = Running::start(Priority::Usual.server(&program).arg("serve-hoards"))?;
        let address = server.address().await?;
        let mut witness = Witness::connect(address).await?;
        witness.call().await;
        let idle = server.resident_mib();
        let mut attacker = Priority::Usual.attacker(&program);
        let attacker = Running::start(attacker.args(["hoard", name, &address.to_string()]))?;
        let (started, mut most) = (Instant::now(), idle);
        while started.elapsed() < TIME {
            witness.call().await;
            most = most.max(server.resident_mib());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(attacker);
        server.end().await?;
        let verdict = match witness.errors.is_empty() {
            false => Verdict::Errors,
            true if most - idle > MEMORY as f64 / MIB as f64 + BESIDE_MAX => Verdict::Errors,
            true => Verdict::Well,
        };
        let mark = if verdict == Verdict::Well { "" } else { " <--" };
        let [native, http] = witness.latencies.each_mut().map(|latencies| percentile(latencies, 990));
        println!(
            "| {name} | {idle:.0} | {most:.0} | {} | {} | {native:.0} | {http:.0} |{mark}",
            witness.calls,
            witness.errors.len()
        );
        witness.errors.iter().take(3).for_each(|error| println!("    {error}"));
        worst = worst.max(verdict);
    }
    Ok(worst)
}

/// A client that makes native calls and calls over HTTP/1.1.
struct Witness {
    native: InteropClient,
    http: TcpStream,
    calls: usize,
    errors: Vec<String>,
    /// Latencies of native calls and of calls over HTTP.
    latencies: [Vec<Duration>; 2],
}

impl Witness {
    async fn connect(address: SocketAddr) -> super::Result<Self> {
        let native = InteropClient::new(Channel::connect_io(connect_from(3, address).await?).await?);
        let http = connect_from(3, address).await?;
        Ok(Self { native, http, calls: 0, errors: Vec::new(), latencies: Default::default() })
    }

    async fn call(&mut self) {
        self.calls += 2;
        let started = Instant::now();
        match self.native.add(AddRequest { a: 1, b: 2 }).await {
            Ok(sum) if sum.get_ref().total == 3 => {}
            other => self.errors.push(format!("native: {other:?}")),
        }
        self.latencies[0].push(started.elapsed());
        let started = Instant::now();
        let called = async {
            self.http.write_all(post("/interop.Interop/Add", r#"{"a":"1","b":"2"}"#).as_bytes()).await?;
            let mut response = Vec::new();
            while !response.ends_with(b"}") && self.http.read_buf(&mut response).await? > 0 {}
            std::io::Result::Ok(String::from_utf8_lossy(&response).into_owned())
        };
        match tokio::time::timeout(Duration::from_secs(5), called).await {
            Ok(Ok(response)) if response.starts_with("HTTP/1.1 200 ") && response.contains("\"3\"") => {}
            other => self.errors.push(format!("HTTP: {other:?}")),
        }
        self.latencies[1].push(started.elapsed());
    }
}

fn post(path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn call(id: &str, method: &str, params: &str, metadata: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"interop.Interop/{method}\",\"params\":{params}{metadata}}}\n"
    )
}

/// Opens a stream of texts of the given length.
fn stream(id: usize, length: usize) -> [String; 2] {
    let item = format!(r#"{{"value":"{length}"}}"#);
    let item = format!(r#"{{"jsonrpc":"2.0","method":"rpc.item","params":{{"id":"{id}","item":{item}}}}}"#);
    [call(&id.to_string(), "Chat", "{}", "").trim_end().to_owned(), item]
}

/// Encodes a WebSocket frame with a zero mask. `first` contains its type and whether the message ends.
fn frame(first: u8, text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("length should fit u16").to_be_bytes();
    let head = match text.len() {
        short @ 0..126 => vec![first, 0x80 | short as u8],
        _ => vec![first, 0x80 | 126, length[0], length[1]],
    };
    [&head, &[0; 4][..], text.as_bytes()].concat()
}

/// First byte of a frame with a whole text message.
const TEXT: u8 = 0x81;

const UPGRADE: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: jsonrpc\r\n\r\n";

async fn web_socket(address: SocketAddr) -> super::Result<TcpStream> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(UPGRADE).await?;
    Ok(socket)
}

/// Holds memory of the server until the process is killed.
async fn attack(kind: Kind, address: SocketAddr) -> super::Result<()> {
    let _connection = match kind {
        Kind::SlowWebSocketStream => {
            let mut socket = web_socket(address).await?;
            for text in stream(1, 16 * 1024) {
                socket.write_all(&frame(TEXT, &text)).await?;
            }
            let mut read = vec![0; 8 * 1024];
            loop {
                socket.read_exact(&mut read).await?;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Kind::WebSocketCalls => {
            let mut socket = web_socket(address).await?;
            let metadata = format!(r#","metadata":{{"a":"{}"}}"#, "m".repeat(55 * 1024));
            for id in 0..5000 {
                let call = call(&id.to_string(), "Sleep", r#"{"millis":60000}"#, &metadata);
                socket.write_all(&frame(TEXT, call.trim_end())).await?;
            }
            vec![socket]
        }
        Kind::WebSocketHalves => {
            let (first, next) = (frame(1, "["), frame(0, &" ".repeat(32 * 1024)));
            at_once(address, 96, [UPGRADE, &first, &next.repeat(32)].concat()).await?
        }
        Kind::WebSocketPromises => {
            let promise = [&[TEXT, 0x80 | 127][..], &(4 * MIB as u64).to_be_bytes(), &[0; 4]].concat();
            at_once(address, 300, [UPGRADE, &promise].concat()).await?
        }
        Kind::WebSocketPings => flood(address, UPGRADE.to_vec(), |_| frame(0x89, "")).await,
        Kind::UnreadStreams => {
            let mut socket = TcpStream::connect(address).await?;
            for id in 0..200 {
                socket.write_all(stream(id, MIB).concat().as_bytes()).await?;
            }
            vec![socket]
        }
        Kind::UnreadWebSocketReplies => {
            let mut socket = web_socket(address).await?;
            for id in 0..600 {
                let call = call(&id.to_string(), "EchoPayload", &format!(r#"{{"seq":{}}}"#, 3 * MIB / 2), "");
                socket.write_all(&frame(TEXT, call.trim_end())).await?;
            }
            vec![socket]
        }
        Kind::UnreadReplies => {
            let mut socket = TcpStream::connect(address).await?;
            for id in 0..600 {
                let call = call(&id.to_string(), "EchoPayload", &format!(r#"{{"seq":{}}}"#, 3 * MIB / 2), "");
                socket.write_all(call.as_bytes()).await?;
            }
            vec![socket]
        }
        Kind::UnreadHttpReplies => {
            let body = format!(r#"{{"seq":{}}}"#, 3 * MIB);
            at_once(address, 300, post("/interop.Interop/EchoPayload", &body).into()).await?
        }
        Kind::LongIds => {
            let mut socket = TcpStream::connect(address).await?;
            for number in 0..319 {
                let id = format!("{}{number}", "i".repeat(MIB));
                socket.write_all(call(&id, "Sleep", r#"{"millis":60000}"#, "").as_bytes()).await?;
            }
            vec![socket]
        }
        Kind::Metadata => {
            let mut socket = TcpStream::connect(address).await?;
            let metadata = format!(r#","metadata":{{"a":"{}"}}"#, "m".repeat(55 * 1024));
            for id in 0..5000 {
                let call = call(&id.to_string(), "Sleep", r#"{"millis":60000}"#, &metadata);
                socket.write_all(call.as_bytes()).await?;
            }
            vec![socket]
        }
        Kind::ResetStreams => {
            flood(address, opening(b""), |number| {
                let id = 2 * number + 1;
                [http2(HEADERS, END_HEADERS, id, &head("Add")), http2(RST_STREAM, 0, id, &8_u32.to_be_bytes())].concat()
            })
            .await
        }
        Kind::Continuations => {
            flood(address, opening(b""), |number| match number {
                0 => http2(HEADERS, 0, 1, &head("Add")),
                _ => http2(CONTINUATION, 0, 1, b""),
            })
            .await
        }
        Kind::Settings => flood(address, opening(b""), |_| http2(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])).await,
        Kind::Pings => flood(address, opening(b""), |_| http2(PING, 0, 0, &[0; 8])).await,
        Kind::ZeroWindows => {
            let body = format!(r#"{{"seq":{}}}"#, 3 * MIB / 16);
            let streams = (0..100).map(|number| 2 * number + 1).map(|id| {
                [http2(HEADERS, END_HEADERS, id, &head("EchoPayload")), http2(DATA, END_STREAM, id, body.as_bytes())]
                    .concat()
            });
            keep_open(address, 12, &[0, 4, 0, 0, 0, 0], streams.flatten().collect()).await
        }
        Kind::HalfBodies => {
            let part = vec![b' '; 10 * 1024];
            let streams = (0..96)
                .map(|number| 2 * number + 1)
                .map(|id| [http2(HEADERS, END_HEADERS, id, &head("Add")), http2(DATA, 0, id, &part)].concat());
            keep_open(address, 64, b"", streams.flatten().collect()).await
        }
        Kind::Lists => {
            let body = format!(r#"{{"inners":[{}{{}}]}}"#, "{},".repeat(240_000));
            at_once(address, 40, post("/interop.Interop/EchoLists", &body).into()).await?
        }
    };
    std::future::pending().await
}

/// Makes a request on each of the given number of connections.
async fn at_once(address: SocketAddr, count: usize, request: Vec<u8>) -> super::Result<Vec<TcpStream>> {
    let mut connecting = JoinSet::new();
    for _ in 0..count {
        let request = request.clone();
        connecting.spawn(async move {
            let mut socket = TcpStream::connect(address).await?;
            socket.write_all(&request).await?;
            std::io::Result::Ok(socket)
        });
    }
    let mut sockets = Vec::new();
    while let Some(socket) = connecting.join_next().await {
        sockets.push(socket??);
    }
    Ok(sockets)
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Interval between batches of 256 frames.
const BATCH: Duration = Duration::from_millis(10);

/// Encodes the first bytes of an HTTP/2 connection.
fn opening(settings: &[u8]) -> Vec<u8> {
    [PREFACE, &http2(SETTINGS, 0, 0, settings)].concat()
}

/// Encodes an HTTP/2 frame.
fn http2(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("length should fit u32").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes the header block of a request with a JSON body. The server does not add the fields to its table.
fn head(method: &str) -> Vec<u8> {
    let mut block = vec![0x83, 0x86]; // :method POST, :scheme http
    // :path, :authority and content-type
    for (name, value) in [
        (&[4][..], format!("/interop.Interop/{method}")),
        (&[1], "localhost".to_owned()),
        (&[15, 16], "application/json".to_owned()),
    ] {
        block.extend_from_slice(name);
        block.push(u8::try_from(value.len()).expect("value should be short"));
        block.extend_from_slice(value.as_bytes());
    }
    block
}

/// Connects from the loopback address with this last byte.
async fn connect_from(last: u8, address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0)))?;
    socket.connect(address).await
}

/// Sends frames without end on each of 16 connections, and connects again when the server closes one.
async fn flood(address: SocketAddr, opening: Vec<u8>, frames: fn(u32) -> Vec<u8>) -> Vec<TcpStream> {
    let mut floods = JoinSet::new();
    for _ in 0..16 {
        let opening = opening.clone();
        floods.spawn(async move {
            loop {
                let sent = async {
                    let mut socket = TcpStream::connect(address).await?;
                    socket.write_all(&opening).await?;
                    for first in (0..1 << 24).step_by(256) {
                        let frames: Vec<_> = (first..first + 256).flat_map(frames).collect();
                        socket.write_all(&frames).await?;
                        tokio::time::sleep(BATCH).await;
                    }
                    std::io::Result::Ok(())
                };
                // Fails if the server has closed the connection.
                let _ = sent.await;
                tokio::time::sleep(BATCH).await;
            }
        });
    }
    floods.join_all().await
}

/// Sends the same frames on each of the given number of connections. The connections stay open, and replies are not
/// read.
async fn keep_open(address: SocketAddr, count: usize, settings: &[u8], frames: Vec<u8>) -> Vec<TcpStream> {
    let opening = opening(settings);
    let mut writing = JoinSet::new();
    for _ in 0..count {
        let (opening, frames) = (opening.clone(), frames.clone());
        writing.spawn(async move {
            let mut socket = TcpStream::connect(address).await?;
            socket.write_all(&opening).await?;
            // With its first frames, the server enlarges the window of the connection.
            socket.read_buf(&mut Vec::with_capacity(4096)).await?;
            socket.write_all(&frames).await?;
            std::io::Result::Ok(socket)
        });
    }
    // The result is ignored, because the server may close a connection or stop reading.
    writing.join_all().await.into_iter().flatten().collect()
}
