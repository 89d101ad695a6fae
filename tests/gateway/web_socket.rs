//! Tests of WebSocket: its protocol rules, and native frames in its messages.

use bytes::Bytes;
use frisbee::tls::rustls::pki_types::ServerName;
use frisbee::{CloseKind, CloseReason, Config};
use frisbee_tests::attacks::ADD;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload, Range, SleepRequest, Sum};
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::{encoded, packet};
use frisbee_tests::service::Service;
use frpc::{Channel, Server, ServerBuilder, Stats, Workers};
use frpc_gateway::{Gateway, ServeGateway, web_socket};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const TIMEOUT: Duration = Duration::from_secs(120);

const CONTINUATION: u8 = 0;
pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

pub(crate) const FRAMES: &str = "Sec-WebSocket-Protocol: frisbee.1\r\n";
pub(crate) const JSON_RPC: &str = "Sec-WebSocket-Protocol: jsonrpc\r\n";

async fn serve(builder: ServerBuilder) -> (SocketAddr, Stats) {
    let builder = builder.add_service(InteropServer::new(Service)).gateway(Gateway::new().web_socket().json_rpc());
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

async fn channel(address: SocketAddr) -> Channel {
    let connector = move || async move { web_socket::connect(&format!("ws://{address}/")).await };
    Channel::builder().connect_with_connector(connector).await.expect("connector should return a connection")
}

/// Checks that concurrent calls of all sizes succeed.
async fn expect_service(channel: Channel) {
    let client = InteropClient::new(channel);
    let sum = client.add(AddRequest { a: 20, b: 22 }).await.expect("call should succeed").into_inner();
    assert_eq!(sum.total, 42);
    let calls: Vec<_> = (0..60_u32)
        .map(|number| {
            let client = client.clone();
            let payload = Payload { seq: number, data: vec![number as u8; (1 << (number % 22)) - 1] };
            tokio::spawn(async move {
                let echoed = client.echo_payload(payload.clone()).await.expect("call should succeed").into_inner();
                assert!(echoed == payload, "call {number}");
            })
        })
        .collect();
    for call in calls {
        call.await.expect("each call should be answered");
    }
    let counts = client.count_up(Range { from: 1, count: 1000 }).await.expect("stream should open").into_inner();
    let counted: Vec<_> = counts.map(|count| count.expect("stream should continue").value).collect().await;
    assert_eq!(counted, (1..=1000).collect::<Vec<_>>());
}

/// A WebSocket client that sends frames encoded by the test.
pub(crate) struct Client<T = TcpStream>(pub(crate) T);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        let (client, answer) = Self::connect_with(address, FRAMES).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        client
    }

    /// Requests an upgrade with further header fields, and returns the head of the response.
    pub(crate) async fn connect_with(address: SocketAddr, fields: &str) -> (Self, String) {
        Self::connect_over(TcpStream::connect(address).await.expect("server should accept the connection"), fields)
            .await
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Client<T> {
    pub(crate) async fn connect_over(mut io: T, fields: &str) -> (Self, String) {
        let request = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \
             dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{fields}\r\n"
        );
        io.write_all(request.as_bytes()).await.expect("write should succeed");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(io.read_u8().await.expect("peer should send a byte"));
        }
        (Self(io), String::from_utf8(answer).expect("response should be UTF-8"))
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.expect("write should succeed");
    }

    /// Reads the next frame. Returns whether it is the last of its message, its opcode and its payload.
    pub(crate) async fn frame(&mut self) -> (bool, u8, Vec<u8>) {
        let reading = async {
            let [first, second] = [self.0.read_u8().await?, self.0.read_u8().await?];
            let length = match second {
                126 => u64::from(self.0.read_u16().await?),
                127 => self.0.read_u64().await?,
                _ => u64::from(second),
            };
            let mut payload = vec![0; usize::try_from(length).expect("value should fit usize")];
            self.0.read_exact(&mut payload).await?;
            std::io::Result::Ok((first & 0x80 != 0, first & 0x0f, payload))
        };
        tokio::time::timeout(TIMEOUT, reading)
            .await
            .expect("read should complete within the timeout")
            .expect("message should be complete")
    }

    /// Reads frames until the server closes. Replies to the close frame and returns its code.
    pub(crate) async fn closed(&mut self) -> u16 {
        self.closed_with_text().await.0
    }

    /// Like [`closed`](Self::closed), but also returns the text of the close frame.
    async fn closed_with_text(&mut self) -> (u16, String) {
        let payload = loop {
            let (_, opcode, payload) = self.frame().await;
            if opcode == CLOSE {
                break payload;
            }
        };
        // The server may have closed the connection already.
        let _ = self.0.write_all(&frame(true, CLOSE, &payload[..2])).await;
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(TIMEOUT, self.0.read_to_end(&mut rest)).await;
        let _ = ended.expect("server should close the transport");
        let text = String::from_utf8_lossy(&payload[2..]).into_owned();
        (u16::from_be_bytes([payload[0], payload[1]]), text)
    }

    /// Checks that the next binary messages contain these bytes.
    async fn expect(&mut self, bytes: &[u8]) {
        let mut received = Vec::new();
        while received.len() < bytes.len() {
            let (is_last, opcode, payload) = self.frame().await;
            assert_eq!((is_last, opcode), (true, BINARY));
            received.extend_from_slice(&payload);
        }
        assert_eq!(received, bytes);
    }
}

/// Encodes a client frame.
pub(crate) fn frame(is_last: bool, opcode: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [7, 77, 177, 17];
    let mut frame = vec![opcode | if is_last { 0x80 } else { 0 }];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// Returns a call of a compat peer and the expected reply.
fn call() -> (Bytes, Bytes) {
    let request = encoded(&AddRequest { a: 20, b: 22 });
    let reply = encoded(&Sum { total: 42, count: 2 });
    (packet(1, ADD, &request).into(), packet(1, ADD, &reply).into())
}

/// Returns settings of a server that never sends first, even if the machine is busy.
fn patient() -> ServerBuilder {
    let hour = Duration::from_secs(3600);
    Server::builder().config(Config::default().ping_interval(hour).idle_timeout(hour).body_max(1 << 20))
}

#[tokio::test(flavor = "multi_thread")]
async fn web_socket_carries_native_on_every_driver() {
    for workers in [Workers::PerCore, Workers::Caller] {
        let (address, stats) = serve(Server::builder().workers(workers)).await;
        expect_service(channel(address).await).await;
        let ended = async {
            while stats.open() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, ended).await.expect("stream should end within the timeout");
        assert_eq!([stats.opened(), stats.closed_by(CloseKind::ClosedByPeer)], [1, 1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn web_socket_over_tls_carries_native_calls() {
    let authority = Authority::default();
    let (address, _) = serve(Server::builder().tls_or_plain(authority.server())).await;
    let (config, _) = authority.configurations();
    let connector = move || {
        let config = config.clone();
        async move {
            let socket = TcpStream::connect(address).await?;
            let name: ServerName<'_> = "127.0.0.1".try_into().expect("server name should be valid");
            let secured = tokio_rustls::TlsConnector::from(config).connect(name, socket).await?;
            web_socket::connect_io(secured, &address.to_string(), "/").await
        }
    };
    expect_service(Channel::builder().connect_with_connector(connector).await.unwrap()).await;
    expect_service(channel(address).await).await;
}

#[tokio::test]
async fn native_frames_ignore_web_socket_message_boundaries() {
    let (address, _) = serve(patient()).await;
    let mut client = Client::connect(address).await;
    let (request, answers) = call();
    client.send(&frame(true, BINARY, &request)).await;
    client.expect(&answers).await;
    client.send(&frame(true, BINARY, &request.repeat(3))).await;
    client.expect(&answers.repeat(3)).await;
    for byte in &request {
        client.send(&frame(true, BINARY, &[*byte])).await;
    }
    client.expect(&answers).await;
    client.send(&frame(false, BINARY, &request[..3])).await;
    client.send(&frame(true, PING, b"in between")).await;
    client.send(&frame(false, CONTINUATION, b"")).await;
    client.send(&frame(true, CONTINUATION, &request[3..])).await;
    assert_eq!(client.frame().await, (true, PONG, b"in between".to_vec()));
    client.expect(&answers).await;
}

#[tokio::test]
async fn client_close_code_echo_ends_connection() {
    let (address, stats) = serve(patient()).await;
    for (payload, expected) in [(&[][..], &[][..]), (&[3, 233, b'b', b'y', b'e'], &[3, 233]), (&[11, 184], &[11, 184])]
    {
        let mut client = Client::connect(address).await;
        client.send(&frame(true, BINARY, &call().0)).await;
        client.expect(&call().1).await;
        client.send(&frame(true, CLOSE, payload)).await;
        assert_eq!(client.frame().await, (true, CLOSE, expected.to_vec()));
        assert_eq!(client.0.read(&mut [0]).await.unwrap(), 0, "server should close the transport first");
    }
    while stats.open() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!([stats.opened(), stats.closed_by(CloseKind::ClosedByPeer)], [3, 3]);
}

#[tokio::test]
async fn web_socket_close_code_names_violation() {
    let (address, stats) = serve(patient()).await;
    let mut unmasked = frame(true, BINARY, b"x");
    unmasked[1] &= 0x7f;
    let long = packet(1, 10, b"");
    let long = [&long[..6], &(1_u32 << 30).to_be_bytes()].concat();
    let call_frame = frame(true, BINARY, &call().0);
    let cases = [
        (frame(true, TEXT, b"text"), 1003),
        (unmasked, 1002),
        (vec![0xc2, 0x80, 0, 0, 0, 0], 1002),
        (frame(true, CONTINUATION, b"x"), 1002),
        (frame(true, BINARY, b"not a frame"), 1002),
        ([call_frame.clone(), frame(true, BINARY, b"not a frame")].concat(), 1002),
        ([call_frame, frame(true, BINARY, &long)].concat(), 1009),
        (frame(true, PING, b"").repeat(2000), 1008),
        (frame(true, CLOSE, &[3, 237]), 1002),
    ];
    let count = cases.len() as u64;
    for (number, (bytes, code)) in cases.into_iter().enumerate() {
        let mut client = Client::connect(address).await;
        client.send(&bytes).await;
        assert_eq!(client.closed().await, code, "case {number}");
    }
    while stats.open() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stats.opened(), count);
}

#[tokio::test]
async fn upgrade_rejects_only_unknown_subprotocols() {
    let (address, _) = serve(patient()).await;
    let (_, answer) = Client::connect_with(address, "Sec-WebSocket-Protocol: chat, frisbee.1, jsonrpc\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    let answer = answer.to_ascii_lowercase();
    assert!(answer.contains("\r\nsec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"), "{answer}");
    assert!(answer.contains("\r\nsec-websocket-protocol: frisbee.1\r\n"), "{answer}");
    let (_, answer) = Client::connect_with(address, "").await;
    assert!(answer.starts_with("HTTP/1.1 101 ") && !answer.to_ascii_lowercase().contains("protocol:"), "{answer}");
    let (_, answer) = Client::connect_with(address, "Sec-WebSocket-Protocol: chat\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[tokio::test]
async fn shutdown_answers_calls_before_web_socket_close() {
    let builder = patient().add_service(InteropServer::new(Service)).gateway(Gateway::new().web_socket());
    let server = builder.bind("127.0.0.1:0").await.unwrap();
    let (address, stats) = (server.local_addr(), server.stats());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { stopped.await.unwrap() }));
    let mut idle = Client::connect(address).await;
    idle.send(&frame(true, BINARY, &call().0)).await;
    idle.expect(&call().1).await;
    let mut silent = Client::connect(address).await;
    let client = InteropClient::new(channel(address).await);
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.sleep(SleepRequest { millis: 300, tag: 0 }).await })
        })
        .collect();
    client.add(AddRequest { a: 1, b: 2 }).await.expect("call should succeed");
    stop.send(()).unwrap();
    assert_eq!([idle.closed().await, silent.closed().await], [1001, 1001]);
    for call in calls {
        call.await.unwrap().expect("call should succeed");
    }
    drop(client);
    tokio::time::timeout(TIMEOUT, serving).await.expect("server should stop within the timeout").unwrap().unwrap();
    assert_eq!(stats.open(), 0);
}

/// Reads the next text message as JSON.
async fn json<T: AsyncRead + AsyncWrite + Unpin>(client: &mut Client<T>) -> Value {
    let (is_last, opcode, payload) = client.frame().await;
    assert_eq!((is_last, opcode), (true, TEXT));
    serde_json::from_slice(&payload).expect("bytes should be valid JSON")
}

const ADDITION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Add","params":{"a":20,"b":22}}"#;

#[tokio::test]
async fn texts_are_messages_of_json_rpc() {
    let (address, _) = serve(patient()).await;
    let sum = json!({"jsonrpc": "2.0", "id": 1, "result": {"total": "42", "count": "2"}});
    for fields in [JSON_RPC, ""] {
        let (mut client, _) = Client::connect_with(address, fields).await;
        client.send(&frame(true, TEXT, ADDITION.as_bytes())).await;
        assert_eq!(json(&mut client).await, sum);
        for (index, byte) in ADDITION.bytes().enumerate() {
            client.send(&frame(false, if index == 0 { TEXT } else { CONTINUATION }, &[byte])).await;
        }
        client.send(&frame(true, CONTINUATION, b"")).await;
        assert_eq!(json(&mut client).await, sum);
        client.send(&frame(true, PING, b"?")).await;
        assert_eq!(client.frame().await, (true, PONG, b"?".to_vec()));
        client.send(&frame(true, CLOSE, &[3, 232])).await;
        assert_eq!(client.closed().await, 1000);
    }
}

#[tokio::test]
async fn long_text_decodes_across_any_frames() {
    // The text consists of characters of two to four bytes and is longer than one read, so that reads split some
    // characters.
    let call = |number: usize| {
        let id = format!("{number} {}", "ü€🦀x".repeat(15_000));
        format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"interop.Interop/Add","params":{{"a":20,"b":22}}}}"#)
    };
    let (address, _) = serve(patient()).await;
    for width in [1009, 16 * 1024, 70_001, usize::MAX] {
        let (client, _) = Client::connect_with(address, JSON_RPC).await;
        let texts = [call(1), call(2), ADDITION.to_owned(), call(3)];
        let fragment = |text: &str| {
            let parts: Vec<_> = text.as_bytes().chunks(99_999).collect();
            let frames = parts.iter().enumerate().map(|(index, part)| {
                let opcode = if index == 0 { TEXT } else { CONTINUATION };
                [frame(index + 1 == parts.len(), opcode, part), frame(true, PING, b"")].concat()
            });
            frames.collect::<Vec<_>>().concat()
        };
        let whole = |text: &str| frame(true, TEXT, text.as_bytes());
        let bytes = [whole(&texts[0]), fragment(&texts[1]), whole(&texts[2]), whole(&texts[3])].concat();
        let (mut reader, mut writer) = client.0.into_split();
        let writing = tokio::spawn(async move {
            for piece in bytes.chunks(width) {
                writer.write_all(piece).await.expect("write should succeed");
            }
            writer
        });
        let mut client = Client(tokio::io::join(&mut reader, tokio::io::sink()));
        for text in texts {
            let (_, _, payload) = loop {
                let frame = client.frame().await;
                if frame.1 != PONG {
                    break frame;
                }
            };
            let reply: Value = serde_json::from_slice(&payload).expect("bytes should be valid JSON");
            let request_json: Value = serde_json::from_str(&text).expect("text should be valid JSON");
            assert!(reply["id"] == request_json["id"] && reply["result"]["total"] == "42", "pieces of {width}");
        }
        drop(
            tokio::time::timeout(TIMEOUT, writing)
                .await
                .expect("write should complete within the timeout")
                .expect("task should not panic"),
        );
    }
}

#[tokio::test]
async fn json_rpc_web_socket_rejects_invalid_messages() {
    let (address, stats) = serve(patient()).await;
    let cases = [
        (frame(true, BINARY, ADDITION.as_bytes()), 1003),
        (frame(true, TEXT, b"\xff"), 1007),
        ([frame(false, TEXT, b"\xe2"), frame(true, CONTINUATION, b"\x82")].concat(), 1007),
        (frame(true, TEXT, &[&[b' '; 200_000][..], b"\xe2"].concat()), 1007),
        (frame(true, TEXT, &[&[b' '; 100_000][..], b"\xff", &[b' '; 100_000]].concat()), 1007),
        (frame(false, TEXT, &vec![b' '; (1 << 20) + 1]), 1009),
        (frame(true, PING, &[0; 126]), 1002),
    ];
    for (bytes, code) in cases {
        let (mut client, _) = Client::connect_with(address, JSON_RPC).await;
        // The server may close the connection before it has read everything.
        let _ = client.0.write_all(&bytes).await;
        assert_eq!(client.closed().await, code);
    }
    while stats.open() > 0 {
        tokio::task::yield_now().await;
    }
}

/// Returns an in-memory JSON-RPC client for tests with paused time.
async fn in_memory(builder: ServerBuilder) -> (Client<tokio::io::DuplexStream>, tokio::task::JoinHandle<CloseReason>) {
    let gateway = Gateway::new().web_socket().json_rpc();
    let acceptor = builder.add_service(InteropServer::new(Service)).gateway(gateway).build().unwrap();
    let (here, there) = frpc::memory();
    let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
    (Client::connect_over(here, JSON_RPC).await.0, serving)
}

#[tokio::test(start_paused = true)]
async fn silent_client_stays_while_answering_pings() {
    let (mut client, _serving) = in_memory(Server::builder()).await;
    for _ in 0..20 {
        assert_eq!(client.frame().await, (true, PING, Vec::new()));
        client.send(&frame(true, PONG, b"")).await;
    }
    assert_eq!(client.closed().await, 1008, "connection should be closed with the code 1008");
}

#[tokio::test(start_paused = true)]
async fn slowly_arriving_text_closes_connection() {
    let (mut client, _serving) = in_memory(Server::builder()).await;
    let text = frame(true, TEXT, &[b' '; 100]);
    let (first_half, rest) = text.split_at(50);
    client.send(first_half).await;
    let trickling = async {
        for byte in rest {
            tokio::time::sleep(Duration::from_secs(1)).await;
            client.0.write_all(&[*byte]).await?;
        }
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(20), trickling).await;
    assert_eq!(client.closed_with_text().await, (1008, "a message arrived too slowly".to_owned()));
}

#[tokio::test]
async fn shutdown_answers_json_rpc_before_closing_sockets() {
    let gateway = Gateway::new().web_socket().json_rpc();
    let server = patient().add_service(InteropServer::new(Service)).gateway(gateway).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { stopped.await.unwrap() }));
    let (mut client, _) = Client::connect_with(address, JSON_RPC).await;
    let sleep = r#"{"jsonrpc":"2.0","id":"s","method":"interop.Interop/Sleep","params":{"millis":300}}"#;
    client.send(&frame(true, TEXT, sleep.as_bytes())).await;
    client.send(&frame(true, TEXT, ADDITION.as_bytes())).await;
    assert_eq!(json(&mut client).await["id"], 1, "first call should end before the second one");
    stop.send(()).unwrap();
    assert_eq!(json(&mut client).await["id"], "s");
    assert_eq!(client.closed().await, 1001);
    tokio::time::timeout(TIMEOUT, serving).await.expect("server should stop within the timeout").unwrap().unwrap();
}
