//! Tests of calls that are in flight when a server with all protocols shuts down.

use crate::gateway::greeter::{Open, TIMEOUT, all, post, rest, soon};
use crate::gateway::web_socket::{BINARY, CLOSE, Client, FRAMES, JSON_RPC, TEXT, frame};
use bytes::Bytes;
use frisbee_core::{BODY_MAX, Decoder, HeaderForm};
use frisbee_tests::raw::{encoded, packet};
use frpc_gateway::Gateway;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use samples::greet::{Greeting, Name};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, ReadBuf,
};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The operation of `Greet`.
const GREET: u16 = 10;

/// Number of calls on each connection that multiplexes calls.
const MANY: u16 = 330;

/// Number of calls of each protocol on an HTTP/2 connection, which has 256 streams.
const STREAMS: usize = 175;

/// Number of HTTP/1 connections of each protocol, with one call each.
const SINGLE: usize = 110;

/// Total number of calls in flight when the server stops.
const CALLS: usize = 4 * MANY as usize + 2 * STREAMS + 3 * SINGLE;

#[tokio::test(flavor = "multi_thread")]
async fn stop_loses_no_call_on_any_protocol() {
    assert_eq!(CALLS, 2000);
    let mut server = Open::behind(Gateway::new().json_rpc().http(all()).web_socket(), |builder| builder).await;
    let address = server.address.parse().expect("text should be a socket address");
    let mut callers = JoinSet::new();
    callers.spawn(native(address));
    callers.spawn(native_in_messages(address));
    callers.spawn(lines(address));
    callers.spawn(texts(address));
    callers.spawn(streams(address, "application/json", b"{\"name\":\"wait\"}"));
    callers.spawn(streams(address, "application/grpc", b"\0\0\0\0\x06\x0a\x04wait"));
    let enveloped = "\0\0\0\0\u{f}{\"name\":\"wait\"}";
    for _ in 0..SINGLE {
        callers.spawn(single(address, post("/", "", &line(1))));
        callers.spawn(single(address, post("/greet.Greeter/Greet", "", "{\"name\":\"wait\"}")));
        let web = post("/greet.Greeter/Greet", "", enveloped).replace("application/json", "application/grpc-web+json");
        callers.spawn(single(address, web));
    }
    for _ in 0..CALLS {
        soon(&mut server.began).await;
    }
    let mut idle = server.connect().await;
    idle.write_all(post("/greet.Greeter/Greet", "", "{\"name\":\"Ada\"}").as_bytes())
        .await
        .expect("write should succeed");
    soon(&mut server.began).await;
    server.stop();
    // The server closes the idle connection when the shutdown begins. Clients of other connections may not have noticed
    // the shutdown yet.
    rest(&mut idle).await;
    server.gate.add_permits(CALLS);
    let answered = async {
        let mut answered = 0;
        while let Some(calls) = callers.join_next().await {
            answered += calls.expect("every call should be answered");
        }
        answered
    };
    assert_eq!(tokio::time::timeout(TIMEOUT, answered).await.expect("call should complete within the timeout"), CALLS);
    server.stopped().await;
}

/// Returns request frames of a compat peer, one for each id.
fn frames() -> Vec<u8> {
    let body = encoded(&Name { name: "wait".to_owned() });
    (1..=MANY).flat_map(|id| packet(id, GREET, &body)).collect()
}

/// Counts the replies in `bytes`. Checks that the handler of each has completed.
fn replies(bytes: &[u8]) -> usize {
    let expected = encoded(&Greeting { text: "waited".to_owned() });
    let mut decoder = Decoder::new(HeaderForm::Current, BODY_MAX);
    let mut bytes = Bytes::copy_from_slice(bytes);
    let mut ids = BTreeSet::new();
    while let Some(packet) = decoder.next(&mut bytes).expect("frames should be valid") {
        if packet.operation.number() == GREET {
            assert_eq!(packet.body, expected);
            assert!(ids.insert(packet.id), "each request should have one reply");
        }
    }
    ids.len()
}

async fn native(address: SocketAddr) -> usize {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    socket.write_all(&frames()).await.expect("write should succeed");
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).await.expect("peer should close the connection cleanly");
    replies(&bytes)
}

/// Makes calls by native frames over WebSocket and counts the replies.
async fn native_in_messages(address: SocketAddr) -> usize {
    let (mut client, _) = Client::connect_with(address, FRAMES).await;
    client.send(&frame(true, BINARY, &frames())).await;
    let mut bytes = Vec::new();
    loop {
        let (_, opcode, payload) = client.frame().await;
        if opcode == CLOSE {
            assert_eq!(payload[..2], 1001_u16.to_be_bytes());
            return replies(&bytes);
        }
        if opcode == BINARY {
            bytes.extend(payload);
        }
    }
}

/// Returns a JSON-RPC call.
fn line(id: u16) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "greet.Greeter/Greet", "params": {"name": "wait"}}).to_string()
}

/// Returns the id of a reply. Checks that its handler has completed.
fn id(reply: &[u8]) -> u64 {
    let reply: Value = serde_json::from_slice(reply).expect("bytes should be valid JSON");
    assert_eq!(reply["result"]["text"], "waited", "{reply}");
    reply["id"].as_u64().expect("text should be a number")
}

/// Makes calls by JSON-RPC over TCP and counts the replies.
async fn lines(address: SocketAddr) -> usize {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    socket.write_all((1..=MANY).map(line).collect::<String>().as_bytes()).await.expect("write should succeed");
    let mut lines = BufReader::new(socket).lines();
    let mut ids = BTreeSet::new();
    while let Some(line) = lines.next_line().await.expect("line should be readable") {
        assert!(ids.insert(id(line.as_bytes())), "each request should have one reply");
    }
    ids.len()
}

/// Makes calls by JSON-RPC over WebSocket and counts the replies.
async fn texts(address: SocketAddr) -> usize {
    let (mut client, _) = Client::connect_with(address, JSON_RPC).await;
    for number in 1..=MANY {
        client.send(&frame(true, TEXT, line(number).as_bytes())).await;
    }
    let mut ids = BTreeSet::new();
    loop {
        let (_, opcode, payload) = client.frame().await;
        if opcode == CLOSE {
            assert_eq!(payload[..2], 1001_u16.to_be_bytes());
            return ids.len();
        }
        // On a busy machine, the client may be silent for so long that the server sends a PING.
        assert!(opcode != TEXT || ids.insert(id(&payload)), "each request should have one reply");
    }
}

/// Makes one request over a persistent HTTP/1.1 connection.
async fn single(address: SocketAddr, request: String) -> usize {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    socket.write_all(request.as_bytes()).await.expect("write should succeed");
    let response = rest(&mut socket).await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    response.matches("\"text\":\"waited\"").count()
}

/// Makes calls as streams of one HTTP/2 connection.
async fn streams(address: SocketAddr, content_type: &'static str, body: &'static [u8]) -> usize {
    let overheard = Arc::default();
    let io = Overheard {
        io: TcpStream::connect(address).await.expect("server should accept the connection"),
        overheard: Arc::clone(&overheard),
    };
    let (mut client, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(io)).await.expect("server should speak HTTP/2");
    let ended = tokio::spawn(connection);
    let mut calls = JoinSet::new();
    for _ in 0..STREAMS {
        let request = Request::post(format!("http://{address}/greet.Greeter/Greet"))
            .header("content-type", content_type)
            .body(Full::new(Bytes::from_static(body)))
            .expect("request should be valid");
        client.ready().await.expect("connection should be open");
        calls.spawn(client.send_request(request));
    }
    let mut answered = 0;
    while let Some(response) = calls.join_next().await {
        let response = response.expect("task should not panic").expect("call should succeed");
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.expect("body should be complete");
        if content_type == "application/grpc" {
            assert_eq!(body.trailers().expect("response should have trailers")["grpc-status"], "0");
        }
        answered += usize::from(body.to_bytes().windows(6).any(|text| text == b"waited"));
    }
    // The server must close the idle connection, although the client keeps it open.
    ended.await.expect("task should not panic").expect("connection should end regularly");
    assert!(goodbyes(&overheard.lock()) > 0, "server should have sent GOAWAY");
    drop(client);
    answered
}

/// Counts the GOAWAY frames.
pub(crate) fn goodbyes(mut frames: &[u8]) -> usize {
    let mut goodbyes = 0;
    while let [a, b, c, kind, rest @ ..] = frames {
        goodbyes += usize::from(*kind == 7);
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        // Flags and the stream id precede the payload.
        frames = rest.get(5 + length..).unwrap_or_default();
    }
    goodbyes
}

/// A transport that records all bytes that are read from it.
pub(crate) struct Overheard<T> {
    pub(crate) io: T,
    pub(crate) overheard: Arc<Mutex<Vec<u8>>>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Overheard<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(context, buffer);
        self.overheard.lock().extend_from_slice(&buffer.filled()[before..]);
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Overheard<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
