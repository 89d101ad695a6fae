//! Tests of HTTP, WebSocket and JSON-RPC connections: idle timeouts, shutdown, and calls that race with them.

use super::http2_client::{DATA, GOAWAY, HEADERS, Http2, PING, RST_STREAM, head, head_of};
use frpc::{Acceptor, Metadata, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming, Trailers};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use futures_util::StreamExt as _;
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::net::TcpSocket;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// Maximum time to wait for an event.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

const IDLE: Duration = Duration::from_secs(5);

/// Length of a long greeting.
pub(super) const LONG: usize = 100_000;

/// Greeter whose behavior depends on the name:
///
/// * `wait...` waits for a permit.
/// * `...long` returns a long greeting.
/// * `...marked` returns metadata and trailers.
/// * `...lost` returns an error with metadata.
/// * The stream of `slow` pauses before each greeting.
/// * The stream of `silent` stops after the first greeting.
#[derive(Clone)]
pub(super) struct Host {
    began: Arc<Semaphore>,
    pub(super) released: Arc<Semaphore>,
    /// Semaphore that gets one permit for each stream that has ended.
    ended: Arc<Semaphore>,
}

/// Reports the end of a stream on drop.
struct OnEnd(Arc<Semaphore>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner().name;
        self.began.add_permits(1);
        if name.starts_with("wait") {
            self.released.acquire().await.map_err(|_| Status::aborted("closed"))?.forget();
        }
        let text = if name.ends_with("long") { "x".repeat(LONG) } else { format!("Hello, {name}!") };
        let mut metadata = Metadata::new();
        metadata.insert("mark", "a").expect("metadata entry should be valid");
        if name.ends_with("lost") {
            return Err(Status::not_found("nobody: 100 %\n").with_metadata(metadata));
        }
        let mut response = Response::new(Greeting { text });
        if name.ends_with("marked") {
            *response.metadata_mut() = metadata.clone();
            response.extensions_mut().insert(Trailers(metadata));
        }
        Ok(response)
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let name = request.into_inner().name;
        let (is_slow, is_silent) = (name == "slow", name == "silent");
        let verses = frpc::iter((1..=2).map(move |n| Ok(Greeting { text: format!("{n} {name}") })));
        let end = OnEnd(self.ended.clone());
        let verses = verses.then(move |verse| {
            let _ = &end;
            async move {
                match &verse {
                    Ok(Greeting { text }) if is_silent && text.starts_with('2') => std::future::pending().await,
                    _ if is_slow => sleep(Duration::from_secs(8)).await,
                    _ => {}
                }
                verse
            }
        });
        Ok(Response::new(ResponseStream::new(verses)))
    }
}

impl Host {
    /// Returns a greeter and a builder of its server.
    pub(super) fn served() -> (Self, ServerBuilder) {
        let [began, released, ended] = [(); 3].map(|()| Arc::new(Semaphore::new(0)));
        let host = Self { began, released, ended };
        let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc()).web_socket().idle_timeout(IDLE);
        let builder = Server::builder().add_service(GreeterServer::new(host.clone())).gateway(gateway);
        (host, builder)
    }

    /// Like [`served`](Self::served), but without a socket.
    pub(super) fn in_memory() -> (Self, Acceptor) {
        let (host, builder) = Self::served();
        (host, builder.build().expect("server settings should be valid"))
    }

    /// Waits until a handler has begun.
    pub(super) async fn begins(&self) {
        timeout(TIMEOUT, self.began.acquire())
            .await
            .expect("handler should begin within the timeout")
            .expect("semaphore should be open")
            .forget();
    }

    /// Checks that a stream ends, although the client keeps its side of the connection open.
    async fn ends_immediately(&self) {
        let ended = timeout(Duration::from_millis(500), self.ended.acquire()).await;
        ended.expect("handler should be dropped").expect("semaphore should be open").forget();
    }
}

pub(super) fn dial(server: &Acceptor) -> DuplexStream {
    let (here, there) = frpc::memory();
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    here
}

/// Reads until the server closes the connection.
async fn rest(io: &mut DuplexStream) -> String {
    let mut rest = String::new();
    timeout(10 * TIMEOUT, io.read_to_string(&mut rest))
        .await
        .expect("server should close within the timeout")
        .expect("response should be UTF-8");
    rest
}

/// Encodes a Connect call of `Greet` with additional header fields.
pub(super) fn post(fields: &str, name: &str) -> String {
    let body = format!("{{\"name\":\"{name}\"}}");
    format!(
        "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{fields}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Like [`post`], but with a chunked body. The fast path does not handle these, so hyper serves the request.
fn chunked(name: &str) -> String {
    let body = format!("{{\"name\":\"{name}\"}}");
    let length = format!("content-length: {}\r\n\r\n{body}", body.len());
    let chunks = format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    post("", name).replace(&length, &chunks)
}

/// Regression test: only hyper compressed responses, so that most clients got uncompressed ones.
#[tokio::test]
async fn long_response_is_compressed_on_fast_path() {
    let (host, server) = Host::in_memory();
    let call = |name: &str| {
        let fields = "accept-encoding: gzip\r\nconnection: close\r\n";
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{{"name":"{name}"}}}}"#);
        let json_rpc = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{fields}\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        [post(fields, name), json_rpc]
    };
    for name in ["long", "wait for long"] {
        for request in call(name) {
            let mut io = dial(&server);
            io.write_all(request.as_bytes()).await.expect("server should accept the request");
            host.begins().await;
            host.released.add_permits(usize::from(name != "long"));
            let mut response = Vec::new();
            timeout(TIMEOUT, io.read_to_end(&mut response))
                .await
                .expect("server should close within the timeout")
                .expect("response should be complete before the server closes");
            let end =
                response.windows(4).position(|part| part == b"\r\n\r\n").expect("response should have a head") + 4;
            let (head, body) = response.split_at(end);
            let head = String::from_utf8_lossy(head);
            assert!(head.contains("content-encoding: gzip\r\n"), "{request}\n{head}");
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{request}\n{head}");
            let text = crate::gzip::inflate(body, u64::MAX).expect("body should be valid gzip");
            assert!(text.windows(LONG).any(|part| part.iter().all(|byte| *byte == b'x')), "{request}");
        }
    }
}

/// Regression test: a byte order mark was rejected if it arrived in several reads or after white space.
#[tokio::test(start_paused = true)]
async fn json_rpc_messages_may_begin_with_byte_order_mark() {
    let (_host, server) = Host::in_memory();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{"name":"Ada"}}"#;
    let messages = format!("\u{feff}{call}\r\n\u{feff} {call}");
    // The server reads at most this many bytes at once.
    for size in [1, 2, 1024] {
        let (mut io, there) = tokio::io::duplex(size);
        let server = server.clone();
        tokio::spawn(async move { server.serve_connection(there).await });
        let (mut replies, mut requests) = tokio::io::split(&mut io);
        let sending = async {
            requests.write_all(messages.as_bytes()).await.expect("server should read the messages");
            requests.shutdown().await.expect("client should be able to shut down");
        };
        let mut text = String::new();
        let (_, read) = tokio::join!(sending, replies.read_to_string(&mut text));
        read.expect("replies should be UTF-8");
        assert_eq!(text.matches("Hello, Ada!").count(), 2, "{text}");
    }
}

/// Regression test: an empty line after a request was answered with status 408, and two were answered with 400.
#[tokio::test(start_paused = true)]
async fn empty_lines_between_requests_are_ignored() {
    let (_host, server) = Host::in_memory();
    let mut io = dial(&server);
    for lines in ["\r\n", "\r\n\r\n"] {
        io.write_all((post("", "Ada") + lines).as_bytes()).await.expect("server should read the request");
        let mut response = Vec::new();
        while !response.ends_with(b"{\"text\":\"Hello, Ada!\"}") {
            response.push(io.read_u8().await.expect("server should respond to the request"));
        }
    }
    // Empty lines, even in two reads, leave the connection idle and do not restart the timeout.
    let start = Instant::now();
    for part in ["\r\n", "\r", "\n"] {
        sleep(Duration::from_secs(1)).await;
        io.write_all(part.as_bytes()).await.expect("server should read the line");
    }
    assert_eq!(rest(&mut io).await, "", "idle connection should be closed without a response");
    assert_eq!(start.elapsed().as_secs(), IDLE.as_secs(), "idle timeout should apply");
}

#[tokio::test(start_paused = true)]
async fn half_closed_hyper_client_gets_response() {
    let (host, server) = Host::in_memory();
    let next = post("expect: 100-continue\r\n", "wait") + "POST / HTTP/1.1\r\n";
    for request in [chunked("wait"), next] {
        let mut io = dial(&server);
        io.write_all(request.as_bytes()).await.expect("server should accept the request");
        io.shutdown().await.expect("client should shut down writing");
        host.begins().await;
        // The clock is paused. It advances only while the server waits, so the server has read the end of the input and
        // has checked whether the client still exists.
        sleep(Duration::from_secs(2)).await;
        host.released.add_permits(1);
        let response = rest(&mut io).await;
        assert!(response.ends_with("{\"text\":\"Hello, wait!\"}"), "response {response:?} should complete {request:?}");
    }
}

/// Calls `Recite` and shuts down writing. Returns the response and the duration of the stream.
async fn recite_half_closed(kind: &str, name: &str) -> (String, Duration) {
    let (host, _) = Host::served();
    let gateway = Gateway::new().http(Http::new().connect().grpc());
    let server = Server::builder().add_service(GreeterServer::new(host.clone())).gateway(gateway);
    let server = server.build().expect("server settings should be valid");
    let message = match kind {
        "application/connect+json" => format!("{{\"name\":\"{name}\"}}").into_bytes(),
        _ => [&[0x0A, u8::try_from(name.len()).expect("name should be short")], name.as_bytes()].concat(),
    };
    let length = u32::try_from(message.len()).expect("message should be short").to_be_bytes();
    let mut body = [&[0][..], &length, &message].concat();
    if kind == "application/grpc-web-text" {
        body = crate::base64::encode_padded(&body).into_bytes();
    }
    let head = format!(
        "POST /greet.Greeter/Recite HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut io = dial(&server);
    let began = Instant::now();
    io.write_all(&[head.as_bytes(), &body].concat()).await.expect("server should read the request");
    io.shutdown().await.expect("client should shut down writing");
    let mut response = Vec::new();
    timeout(10 * TIMEOUT, io.read_to_end(&mut response))
        .await
        .expect("response should end within the timeout")
        .expect("server should close the connection without a reset");
    timeout(TIMEOUT, host.ended.acquire())
        .await
        .expect("handler should end within the timeout")
        .expect("semaphore should be open")
        .forget();
    (String::from_utf8_lossy(&response).into_owned(), began.elapsed())
}

/// Regression test: after a client had closed its connection, the handler of a silent stream kept running for the idle
/// timeout.
#[tokio::test(start_paused = true)]
async fn silent_stream_ends_after_client_half_closes() {
    for kind in ["application/connect+json", "application/grpc-web", "application/grpc-web-text"] {
        let (response, elapsed) = recite_half_closed(kind, "silent").await;
        // The response follows the interim response that probes the half-closed client.
        assert!(response.contains("HTTP/1.1 200 "), "{kind}: {response}");
        assert!((10..12).contains(&elapsed.as_secs()), "{kind}: {elapsed:?}");
    }
    // A stream that keeps sending continues.
    let (response, elapsed) = recite_half_closed("application/connect+json", "slow").await;
    assert!(response.contains("1 slow") && response.contains("2 slow"), "{response}");
    assert_eq!(elapsed.as_secs(), 16);
}

#[tokio::test(start_paused = true)]
async fn stopping_server_answers_received_hyper_request() {
    let (host, server) = Host::in_memory();
    let mut io = dial(&server);
    io.write_all((post("", "wait") + &chunked("Ada")).as_bytes()).await.expect("server should accept both requests");
    host.begins().await;
    let stopping = tokio::spawn(async move { server.shutdown().await });
    // The clock is paused. It advances only while the connection waits, so the connection has noticed the shutdown.
    sleep(Duration::from_secs(1)).await;
    host.released.add_permits(1);
    let responses = rest(&mut io).await;
    assert!(responses.contains("Hello, wait!") && responses.ends_with("{\"text\":\"Hello, Ada!\"}"), "{responses}");
    stopping.await.expect("stopping task should not panic");
}

#[tokio::test(start_paused = true)]
async fn http2_call_crossing_goaway_is_answered() {
    let (host, server) = Host::in_memory();
    let mut client = Http2::connect(dial(&server), 65_535).await;
    sleep(IDLE + Duration::from_millis(500)).await;
    client.greet("wait").await;
    host.begins().await;
    sleep(IDLE).await;
    host.released.add_permits(1);
    let (mut goodbyes, mut data) = (0, Vec::new());
    while let Some((kind, payload)) = client.frame().await {
        goodbyes += usize::from(kind == GOAWAY);
        data.extend_from_slice(if kind == DATA { &payload } else { &[] });
    }
    assert!(goodbyes > 0, "server should have sent GOAWAY");
    assert_eq!(String::from_utf8_lossy(&data), "{\"text\":\"Hello, wait!\"}");
}

#[tokio::test(start_paused = true)]
async fn long_http2_response_reaches_slow_client() {
    let (_host, server) = Host::in_memory();
    let mut client = Http2::connect(dial(&server), 16 * 1024).await;
    client.greet("long").await;
    let mut length = 0;
    while length < LONG {
        let (kind, payload) = client.frame().await.expect("connection should stay open");
        if kind == DATA && !payload.is_empty() {
            length += payload.len();
            sleep(IDLE / 2).await;
            client.grant(payload.len()).await;
        }
    }
}

/// Checks that the server cancels a response that the client does not read.
#[tokio::test(start_paused = true)]
async fn unread_http2_response_is_cancelled() {
    let (_host, server) = Host::in_memory();
    let started = Instant::now();
    let mut client = Http2::connect(dial(&server), 0).await;
    client.greet("long").await;
    loop {
        let (kind, payload) = client.frame().await.expect("connection should stay open until the response ends");
        assert_ne!(kind, DATA, "data should be sent within the window");
        if kind == RST_STREAM {
            assert_eq!(payload, [0, 0, 0, 8], "stream should be reset with the code CANCEL");
            break;
        }
    }
    assert!((IDLE..3 * IDLE).contains(&started.elapsed()), "{:?}", started.elapsed());
}

/// After a grace period, the gateway converts an incomplete unary call to a stream, because only streams have
/// timeouts.
#[tokio::test(start_paused = true)]
async fn incomplete_grpc_message_waits_until_deadline() {
    let (_host, server) = Host::in_memory();
    for (rest, status) in [(&b"e\":\"Ada\"}"[..], "0"), (b"", "4")] {
        let mut client = Http2::connect(dial(&server), 65_535).await;
        let started = Instant::now();
        let head = [&head("application/grpc+json")[..], b"\0\x0cgrpc-timeout\x022S"].concat();
        client.send(HEADERS, 4, 1, &head).await;
        client.send(DATA, 0, 1, b"\0\0\0\0\x0e{\"nam").await;
        sleep(Duration::from_secs(1)).await;
        if !rest.is_empty() {
            client.send(DATA, 1, 1, rest).await;
        }
        assert_eq!(client.status().await, status);
        let expected = Duration::from_secs(if rest.is_empty() { 2 } else { 1 });
        assert!((expected..expected + Duration::from_millis(500)).contains(&started.elapsed()));
    }
}

#[tokio::test(start_paused = true)]
async fn unanswered_http2_ping_ends_calls() {
    let (host, server) = Host::in_memory();
    let mut client = Http2::connect(dial(&server), 65_535).await;
    client.greet("wait").await;
    host.begins().await;
    let mut frames = Vec::new();
    timeout(10 * TIMEOUT, client.reader.read_to_end(&mut frames))
        .await
        .expect("server should close the connection within the timeout")
        .expect("server should close the connection without a reset");
    assert!(
        frames.windows(5).any(|bytes| bytes == [0, 0, 8, PING, 0]),
        "server should send a PING to probe the client"
    );
}

/// Regression test: handlers of a connection with an error ran until the client closed it, for up to a second.
#[tokio::test(start_paused = true)]
async fn http2_error_cancels_calls_immediately() {
    let (host, server) = Host::in_memory();
    let mut client = Http2::connect(dial(&server), 65_535).await;
    client.send(HEADERS, 4, 1, &head_of("/greet.Greeter/Recite", "application/grpc+json")).await;
    client.send(DATA, 1, 1, b"\0\0\0\0\x11{\"name\":\"silent\"}").await;
    while client.frame().await.expect("connection should stay open").0 != DATA {}
    // DATA must not be sent on stream 0.
    client.send(DATA, 0, 0, b"").await;
    while client.frame().await.expect("server should send GOAWAY").0 != GOAWAY {}
    host.ends_immediately().await;
}

/// Regression test: the pending calls of a half-closed client were cancelled.
#[tokio::test(start_paused = true)]
async fn half_closed_http2_client_gets_responses() {
    for content_type in ["application/json", "application/grpc+json"] {
        let (host, server) = Host::in_memory();
        let mut client = Http2::connect(dial(&server), 65_535).await;
        let message = b"{\"name\":\"wait\"}";
        let envelope = [b"\0\0\0\0\x0f", &message[..]].concat();
        let body = if content_type == "application/json" { &message[..] } else { &envelope };
        client.send(HEADERS, 4, 1, &head(content_type)).await;
        client.send(DATA, 1, 1, body).await;
        host.begins().await;
        client.writer.shutdown().await.expect("client should shut down writing");
        // The clock is paused. It advances only while the server waits, so the server has read the end of the input and
        // has checked whether the client still exists.
        sleep(Duration::from_secs(2)).await;
        host.released.add_permits(1);
        let mut received = Vec::new();
        while let Some((_, payload)) = client.frame().await {
            received.extend(payload);
        }
        let received = String::from_utf8_lossy(&received);
        assert!(received.contains("{\"text\":\"Hello, wait!\"}"), "{content_type}: {received}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_half_closed_http2_client_are_bounded() {
    let head = head_of("/greet.Greeter/Recite", "application/connect+json");
    // The request of the first call is incomplete, and the handler of the second one is silent.
    for (flags, seconds) in [(0, 0), (1, IDLE.as_secs())] {
        let (host, server) = Host::in_memory();
        let mut client = Http2::connect(dial(&server), 65_535).await;
        client.send(HEADERS, 4, 1, &head).await;
        client.send(DATA, flags, 1, b"\0\0\0\0\x11{\"name\":\"silent\"}").await;
        sleep(Duration::from_millis(1)).await;
        client.writer.shutdown().await.expect("client should shut down writing");
        let start = Instant::now();
        while client.frame().await.is_some() {}
        assert_eq!(start.elapsed().as_secs(), seconds, "{flags}");
        assert_eq!(host.ended.available_permits(), usize::from(flags), "a handler that has begun should end");
    }
}

#[tokio::test]
async fn stopping_server_delivers_last_http2_response() {
    let (host, builder) = Host::served();
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(server.serve_with_shutdown(async move { drop(stopped.await) }));
    let socket = TcpSocket::new_v4().expect("socket should be created");
    // A small receive buffer keeps most of the response in the server's socket.
    socket.set_recv_buffer_size(4096).expect("receive buffer size should be accepted");
    let socket = socket.connect(address).await.expect("server should accept the connection");
    let mut client = Http2::connect(socket, 128 * 1024).await;
    client.greet("wait long").await;
    host.begins().await;
    drop(stop);
    while client.frame().await.expect("GOAWAY should be received").0 != GOAWAY {}
    host.released.add_permits(1);
    let mut length = 0;
    while let Some((kind, payload)) = client.frame().await {
        if kind == DATA && !payload.is_empty() {
            length += payload.len();
            client.grant(payload.len()).await;
        }
    }
    assert!(length > LONG, "response has {length} bytes");
    drop(client);
    timeout(TIMEOUT, served)
        .await
        .expect("server should stop within the timeout")
        .expect("server task should not panic")
        .expect("server should stop without an error");
}

/// Reads the next line of a JSON-RPC connection.
async fn line(io: &mut BufReader<DuplexStream>) -> String {
    let mut line = String::new();
    timeout(TIMEOUT, io.read_line(&mut line))
        .await
        .expect("line should arrive within the timeout")
        .expect("line should be UTF-8");
    line
}

#[tokio::test(start_paused = true)]
async fn deadline_ends_stream_without_credit() {
    let (_host, server) = Host::in_memory();
    let mut io = BufReader::new(dial(&server));
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Recite","params":["Ada"],"credit":1,"timeoutMs":1000}"#;
    io.write_all(call.as_bytes()).await.expect("server should accept the request");
    let item = line(&mut io).await;
    assert!(item.contains("\"1 Ada\""), "{item}");
    let reply = line(&mut io).await;
    assert!(reply.contains("-32004"), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn reply_crossing_cancel_is_released() {
    let (host, server) = Host::in_memory();
    let stats = server.stats();
    let mut io = BufReader::new(dial(&server));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["wait"]}"#;
    io.write_all(call.as_bytes()).await.expect("server should accept the request");
    host.begins().await;
    // Let the task of the handler start waiting.
    sleep(Duration::from_millis(1)).await;
    assert!(stats.memory_held() > 0, "call should be charged");
    // Let the handler complete before the cancellation is read.
    host.released.add_permits(1);
    let cancel = r#"{"jsonrpc":"2.0","method":"rpc.cancel","params":{"id":1}}"#;
    io.write_all(cancel.as_bytes()).await.expect("server should accept the cancellation");
    let reply = line(&mut io).await;
    assert!(reply.contains("-32001"), "{reply}");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(stats.memory_held(), 0);
}

/// Opens a WebSocket connection with additional header fields.
async fn upgraded(server: &Acceptor, fields: &str) -> DuplexStream {
    let mut io = dial(server);
    let upgrade = format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{fields}\r\n"
    );
    io.write_all(upgrade.as_bytes()).await.expect("server should accept the upgrade request");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(io.read_u8().await.expect("server should send the upgrade response"));
    }
    io
}

/// Regression test: the metadata of a WebSocket connection was not charged.
#[tokio::test(start_paused = true)]
async fn metadata_of_web_socket_is_charged() {
    const FIELD: usize = 12_000;
    let field = format!("x-long: {}\r\n", "x".repeat(FIELD));
    let mut held = [0; 2];
    for (held, fields) in held.iter_mut().zip(["", &field]) {
        let (_host, server) = Host::in_memory();
        let stats = server.stats();
        let _io = upgraded(&server, fields).await;
        // Let the server charge the connection after its response.
        sleep(Duration::from_millis(1)).await;
        *held = stats.connection_memory_held();
    }
    let charged = held[1] - held[0];
    assert!((FIELD..2 * FIELD).contains(&charged), "{charged} bytes are charged for the metadata");
}

#[tokio::test]
async fn stop_answers_received_web_socket_call() {
    let (_host, server) = Host::in_memory();
    let mut io = upgraded(&server, "").await;
    tokio::spawn(async move { server.shutdown().await });
    // This frame arrives before the server polls the connection again. Its mask is zero.
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["Ada"]}"#;
    let frame =
        [&[0x81, 0x80 | u8::try_from(call.len()).expect("call length should fit in u8"), 0, 0, 0, 0], &call[..]]
            .concat();
    io.write_all(&frame).await.expect("server should accept the frame");
    let mut frames = Vec::new();
    timeout(TIMEOUT, io.read_to_end(&mut frames))
        .await
        .expect("connection should end within the timeout")
        .expect("connection should close cleanly");
    let frames = String::from_utf8_lossy(&frames);
    assert!(frames.contains("{\"text\":\"Hello, Ada!\"}"), "{frames}");
}

/// Like [`http2_error_cancels_calls_immediately`], for a client that closes a WebSocket connection.
#[tokio::test(start_paused = true)]
async fn closed_web_socket_cancels_calls_immediately() {
    let (host, server) = Host::in_memory();
    let mut io = upgraded(&server, "").await;
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Recite","params":["silent"]}"#;
    let length = u8::try_from(call.len()).expect("call length should fit in u8");
    io.write_all(&[&[0x81, 0x80 | length, 0, 0, 0, 0], &call[..]].concat()).await.expect("call should be accepted");
    assert_eq!(io.read_u8().await.expect("stream should send its first item"), 0x81);
    io.write_all(&[0x88, 0x80, 0, 0, 0, 0]).await.expect("server should accept the CLOSE frame");
    host.ends_immediately().await;
}

/// A greeter that never reads the names of a stream.
struct Deaf;

impl samples::greeter::Greeter for Deaf {
    async fn greet(
        &self,
        _request: Request<samples::greeter::Name>,
    ) -> Result<Response<samples::greeter::Greeting>, Status> {
        Err(Status::unimplemented("it greets all"))
    }

    async fn greet_all(
        &self,
        request: Request<Streaming<samples::greeter::Name>>,
    ) -> Result<Response<ResponseStream<samples::greeter::Greeting>>, Status> {
        let _unread = request;
        std::future::pending().await
    }
}

/// Returns the bytes that an HTTP/2 client sends to make four calls with bodies that fill all windows.
fn unread_bodies() -> Vec<u8> {
    const FRAME: usize = 16 * 1024;
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).expect("payload length should fit in u32").to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    // Use entries of the static table: POST, http, and the names of path, authority and content type.
    let fields = b"\x83\x86\x04\x19/greeter.Greeter/GreetAll\x01\x09localhost\x0f\x10\x10application/grpc";
    // The server's windows apply once its SETTINGS are acknowledged.
    let start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut bytes = [start, frame(4, 0, 0, b""), frame(4, 1, 0, b"")].concat();
    for stream in [1, 3, 5, 7] {
        bytes.extend(frame(1, 4, stream, fields));
        bytes.extend(frame(0, 0, stream, &[0; FRAME]).repeat(16));
    }
    bytes
}

/// Regression test: unread request bodies were not charged, and each of many connections could use a mebibyte for them.
/// Bytes that exceed the memory budget are now read and discarded, because resets and window updates follow them.
#[tokio::test]
async fn unread_http2_bodies_are_charged_and_bounded() {
    const MEMORY: usize = 16 << 20;
    const PEERS: usize = 64;
    let gateway = Gateway::new().http(Http::new().grpc());
    let service = samples::greeter::GreeterServer::new(Deaf);
    let server = Server::builder().memory_max(MEMORY).add_service(service).gateway(gateway);
    let server = server.build().expect("server settings should be valid");
    let stats = server.stats();
    let bytes: Arc<[u8]> = unread_bodies().into();
    let mut peers = JoinSet::new();
    let taken = Arc::<AtomicUsize>::default();
    for _ in 0..PEERS {
        let (mut here, there) = tokio::io::duplex(1024);
        let (server, bytes, taken) = (server.clone(), bytes.clone(), taken.clone());
        peers.spawn(async move { drop(server.serve_connection(there).await) });
        peers.spawn(async move {
            for part in bytes.chunks(1024) {
                here.write_all(part).await.expect("server should read the request in parts");
                taken.fetch_add(part.len(), Ordering::SeqCst);
            }
            std::future::pending::<()>().await;
        });
    }
    let held = async |is_enough: &dyn Fn(usize) -> bool| {
        let reached = async {
            while !is_enough(stats.memory_held()) {
                tokio::task::yield_now().await;
            }
        };
        let reached = timeout(TIMEOUT, reached).await;
        assert!(reached.is_ok(), "server holds {} bytes", stats.memory_held());
    };
    held(&|bytes| bytes > MEMORY / 4).await;
    for _ in 0..100_000 {
        tokio::task::yield_now().await;
    }
    assert!(stats.memory_held() <= MEMORY, "server holds {} bytes", stats.memory_held());
    assert!(taken.load(Ordering::SeqCst) > MEMORY, "bytes beyond the memory budget should be discarded");
    peers.shutdown().await;
    held(&|bytes| bytes == 0).await;
}
