//! Calls forwarded to a gRPC server, which is implemented by tonic.

use super::calls::{FIELDS, expect_own_fields};
use super::streams::{call_every_kind, recite, stream_json};
use super::support::{calculator, exchange, exchange_as_another, front, greet, greeter, post, soon, to_native};
use bytes::Bytes;
use frisbee_core::{Config, ServerConfig};
use frisbee_http2::{Connection, ErrorCode, Event, Head, StreamKey};
use frpc::details::ErrorInfo;
use frpc::{Channel, ChannelBuilder, Code};
use frpc_gateway::{Forward, ForwardService, Gateway, Http, ServeGateway as _};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use prost::Message;
use samples::greet::{GreeterClient, Greeting, Name};
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;

/// Maximum message size accepted by the gateway.
const MESSAGE_MAX: usize = 1 << 20;

#[derive(Clone, PartialEq, Message)]
struct Terms {
    #[prost(int64, tag = "1")]
    a: i64,
    #[prost(int64, tag = "2")]
    b: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(int64, tag = "1")]
    value: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Range {
    #[prost(int64, tag = "1")]
    from: i64,
    #[prost(uint32, tag = "2")]
    count: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(int64, tag = "1")]
    total: i64,
    #[prost(uint32, tag = "2")]
    count: u32,
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn codec<A: Message + Default + 'static, B: Message + Default + 'static>() -> ProstCodec<B, A> {
    ProstCodec::default()
}

/// Dispatches requests to the handlers of both services.
async fn answer(request: http::Request<Body>) -> http::Response<Body> {
    match request.uri().path() {
        "/quickstart.Calculator/Add" => {
            let handler = |request: Request<Terms>| async move {
                let Terms { a, b } = request.into_inner();
                Ok(Response::new(Number { value: a + b }))
            };
            Grpc::new(codec()).unary(service_fn(handler), request).await
        }
        "/quickstart.Calculator/CountUp" => {
            let handler = |request: Request<Range>| async move {
                let Range { from, count } = request.into_inner();
                let numbers = (0..i64::from(count)).map(move |n| Ok(Number { value: from + n }));
                Ok(Response::new(stream::iter(numbers).boxed()))
            };
            Grpc::new(codec()).server_streaming(service_fn(handler), request).await
        }
        "/quickstart.Calculator/SumUp" => {
            let handler = |request: Request<Streaming<Number>>| async move {
                let add = |sum: Sum, number: Number| async move {
                    Ok(Sum { total: sum.total + number.value, count: sum.count + 1 })
                };
                request.into_inner().try_fold(Sum::default(), add).await.map(Response::new)
            };
            Grpc::new(codec()).client_streaming(service_fn(handler), request).await
        }
        "/quickstart.Calculator/RunningSum" => {
            let handler = |request: Request<Streaming<Number>>| async move {
                let mut total = 0;
                let sums = request.into_inner().map_ok(move |Number { value }| {
                    total += value;
                    Number { value: total }
                });
                Ok(Response::new(sums.boxed()))
            };
            Grpc::new(codec()).streaming(service_fn(handler), request).await
        }
        "/greet.Greeter/Greet" => {
            let handler = |request: Request<Name>| async move {
                let tenant = request.metadata().get("tenant").cloned();
                let timeout = request.metadata().contains_key("grpc-timeout");
                let fields = request.metadata().clone();
                let text = match &*request.into_inner().name {
                    "wait" => pending().await,
                    "" => {
                        let status = frpc::Status::invalid_argument("the name is empty");
                        return Err(status.with_detail(&ErrorInfo::new("EMPTY", "tests")).into());
                    }
                    "fields" => {
                        let shown = |name: &&str| {
                            let value = fields.get(*name)?.to_str().ok()?;
                            Some(format!("{name}={value}"))
                        };
                        FIELDS.iter().filter_map(shown).collect::<Vec<_>>().join("|")
                    }
                    "timeout" => format!("timeout {timeout}"),
                    "long" => "x".repeat(MESSAGE_MAX),
                    name => format!("Hello, {name}!"),
                };
                let mut response = Response::new(Greeting { text });
                for part in fields.get_all("part") {
                    response.metadata_mut().append("part", part.clone());
                }
                for part in fields.get_all_bin("part-bin") {
                    response.metadata_mut().append_bin("part-bin", part.clone());
                }
                if let Some(tenant) = tenant {
                    response.metadata_mut().insert("tenant", tenant);
                }
                Ok(response)
            };
            Grpc::new(codec()).unary(service_fn(handler), request).await
        }
        _ => {
            let handler = |request: Request<Name>| async move {
                let tenant = request.metadata().get("tenant").cloned();
                let name = request.into_inner().name;
                let end = if name == "endless" { stream::pending().boxed() } else { stream::empty().boxed() };
                let verse = stream::iter([Ok(Greeting { text: format!("1 {name}") })]);
                let forgotten = stream::iter([Err(Status::data_loss("forgotten"))]);
                let verses: Replies<Greeting> = verse.chain(end).chain(forgotten).boxed();
                let mut response = Response::new(verses);
                if let Some(tenant) = tenant {
                    response.metadata_mut().insert("tenant", tenant);
                }
                Ok(response)
            };
            Grpc::new(codec()).server_streaming(service_fn(handler), request).await
        }
    }
}

/// Starts a gRPC server with both services.
pub(super) fn serve_backend() -> SocketAddr {
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse().expect("loopback address should be valid"))
        .expect("loopback port should be free");
    let address = incoming.local_addr().expect("listener should have a local address");
    let service = service_fn(|request| async { Ok::<_, Infallible>(answer(request).await) });
    tokio::spawn(Server::builder().serve_with_incoming(service, incoming));
    address
}

fn backend() -> Forward {
    forward_to(&serve_backend().to_string())
}

fn builder() -> ChannelBuilder {
    Channel::builder().config(Config::default().body_max(MESSAGE_MAX as u32)).dangerous_no_timeout()
}

fn forward_to(address: &str) -> Forward {
    let channel = builder().connect_lazy(format!("grpc://{address}"));
    Forward::to([channel.expect("backend address should be valid")])
}

/// Forwards over transports that `connect` opens.
fn forward_by<F, T>(connect: impl Fn() -> F + Send + Sync + 'static) -> Forward
where
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Send + 'static,
{
    let channel = builder().connect_grpc_with_connector("backend", connect);
    Forward::to([channel.expect("channel settings should be valid")])
}

#[tokio::test]
async fn grpc_server_is_called_in_every_protocol() {
    let address = front(calculator(&backend())).await;
    call_every_kind(&address).await;
    stream_json(&address).await;
}

#[tokio::test]
async fn metadata_details_and_deadlines_pass_to_grpc() {
    let address = front(greeter(&backend())).await;
    let response = exchange(&address, greet("tenant: blue\r\n", "Ada")).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with(r#"{"text":"Hello, Ada!"}"#), "{response}");
    assert!(response.contains("tenant: blue\r\n") && !response.contains("grpc"), "{response}");
    assert!(exchange(&address, greet("", "timeout")).await.contains("timeout false"));
    assert!(exchange(&address, greet("connect-timeout-ms: 9999\r\n", "timeout")).await.contains("timeout true"));
    let failed = exchange(&address, greet("", "")).await;
    assert!(failed.contains(r#""code":"invalid_argument","message":"the name is empty","details":["#), "{failed}");
    recite(&address).await;
    // Protobuf messages are forwarded without decoding.
    let invalid = exchange(&address, post("/greet.Greeter/Greet", "application/proto", "", b"\x0a\x05Ada")).await;
    assert!(!invalid.starts_with("HTTP/1.1 200 "), "{invalid}");
    let long = exchange(&address, greet("", "long")).await;
    assert!(long.contains("\"resource_exhausted\"") && long.contains("1048576"), "{}", long.len());
}

#[tokio::test]
async fn grpc_gateway_replaces_caller_fields() {
    expect_own_fields(backend()).await;
}

#[tokio::test]
async fn unreachable_grpc_server_is_unavailable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let backend = free.local_addr().expect("listener should have a local address").to_string();
    drop(free);
    let failed = exchange(&front(greeter(&forward_to(&backend))).await, greet("", "Ada")).await;
    assert!(failed.contains("unavailable") && failed.contains(&backend), "{failed}");
    assert!(failed.contains("Connection refused"), "{failed}");
}

/// Regression test: if the connection to the gRPC server was lost, the call failed with the code `unknown` and the text
/// "transport error".
#[tokio::test]
async fn lost_connection_to_grpc_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let backend = listener.local_addr().expect("listener should have a local address").to_string();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            // Read the connection preface, which precedes the call.
            let _ = connection.read(&mut [0; 24]).await;
        }
    });
    let failed = exchange(&front(greeter(&forward_to(&backend))).await, greet("", "Ada")).await;
    assert!(failed.starts_with("HTTP/1.1 503 ") && failed.contains(&backend), "{failed}");
}

/// Regression test: if the gRPC connection was lost during a stream, the stream failed with the code `unknown`.
#[tokio::test]
async fn lost_grpc_stream_connection_is_unavailable() {
    let backend = serve_backend();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let between = listener.local_addr().expect("listener should have a local address").to_string();
    let proxy = tokio::spawn(async move {
        let (mut caller, _) = listener.accept().await.expect("gateway should connect to the proxy");
        let mut server = TcpStream::connect(backend).await.expect("backend should accept the connection");
        copy_bidirectional(&mut caller, &mut server).await
    });
    let client = GreeterClient::connect(front(greeter(&forward_to(&between))).await)
        .await
        .expect("gateway should accept the connection");
    let mut verses = client.recite(Name { name: "endless".to_owned() }).await.expect("stream should open").into_inner();
    assert_eq!(
        verses.message().await.expect("stream should not fail").expect("stream should have a message").text,
        "1 endless"
    );
    proxy.abort();
    let status = verses.message().await.expect_err("broken stream should fail");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    assert!(status.message().contains(&between), "{status}");
}

/// Returns a connector that connects once.
fn one_connection(socket: DuplexStream) -> impl Fn() -> Ready<io::Result<DuplexStream>> {
    let socket = Mutex::new(Some(socket));
    move || {
        let socket = socket.lock().expect("connector should not panic").take();
        ready(socket.ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

#[tokio::test(start_paused = true)]
async fn expired_grpc_call_is_deadline_exceeded() {
    let (here, there) = tokio::io::duplex(1 << 16);
    let silent = service_fn(|_: http::Request<Body>| pending::<Result<http::Response<Body>, Infallible>>());
    let incoming = stream::iter([Ok::<_, io::Error>(there)]).chain(stream::pending());
    tokio::spawn(Server::builder().serve_with_incoming(silent, incoming));
    let service = greeter(&forward_by(one_connection(here)));
    let response = exchange_in_memory(&service, &greet("connect-timeout-ms: 100\r\n", "Ada")).await;
    assert!(response.contains("\"deadline_exceeded\""), "{response}");
}

/// Like [`exchange`], without sockets, for tests with a paused clock.
async fn exchange_in_memory(service: &ForwardService, request: &[u8]) -> String {
    let builder = frpc::Server::builder().add_service(service.clone());
    let builder = builder.gateway(Gateway::new().http(Http::new().connect()));
    let server = builder.build().expect("server settings should be valid");
    let (mut client, there) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve_connection(there).await });
    client.write_all(request).await.expect("gateway should accept the request");
    let mut response = String::new();
    client.read_to_string(&mut response).await.expect("response should be UTF-8");
    response
}

#[tokio::test(start_paused = true)]
async fn grpc_server_that_vanishes_fails_its_calls() {
    let (here, mut there) = tokio::io::duplex(1 << 16);
    // Send SETTINGS, and acknowledge the client's SETTINGS.
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0];
    there.write_all(&settings).await.expect("client should accept the SETTINGS frames");
    let service = greeter(&forward_by(one_connection(here)));
    let started = tokio::time::Instant::now();
    let failed = exchange_in_memory(&service, &greet("", "Ada")).await;
    assert!(failed.starts_with("HTTP/1.1 503 ") && failed.contains("PING"), "{failed}");
    assert!(started.elapsed().as_secs() < 340, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn grpc_connection_is_reused_after_long_pause() {
    let (here, there) = tokio::io::duplex(1 << 16);
    let script = |http2: &mut Connection, received: Received| match received {
        Received::Call(_, stream, _) => reply(http2, stream, 1),
        Received::Reset(_) => Vec::new(),
    };
    let http2 = Connection::server(&ServerConfig::default(), Instant::now());
    tokio::spawn(async move { play(0, there, http2, Arc::new(script)).await });
    let service = greeter(&forward_by(one_connection(here)));
    for _ in 0..2 {
        let response = exchange_in_memory(&service, &greet("", "Ada")).await;
        assert!(response.ends_with(r#"{"text":"Hello!"}"#), "{response}");
        tokio::time::advance(Duration::from_secs(1200)).await;
    }
}

/// Regression test: while the gRPC server closed all connections, each call opened another one.
#[tokio::test(start_paused = true)]
async fn connecting_is_paused_while_grpc_server_closes() {
    let dialled = Arc::new(AtomicUsize::new(0));
    let counter = dialled.clone();
    let connect = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        // Drop the other end, which closes the connection.
        ready(Ok(tokio::io::duplex(64).0))
    };
    let service = greeter(&forward_by(connect));
    for _ in 0..10 {
        let failed = exchange_in_memory(&service, &greet("", "Ada")).await;
        assert!(failed.starts_with("HTTP/1.1 503 ") && failed.contains("no connection to backend"), "{failed}");
    }
    assert_eq!(dialled.load(Ordering::Relaxed), 1);
}

/// An event of a scripted server.
pub(super) enum Received {
    /// A call: its connection (counted from 0), its stream, and the name in its request.
    Call(usize, StreamKey, String),
    Reset(ErrorCode),
}

/// Starts a gRPC server that calls `script` for each complete call and appends the returned bytes to the connection's
/// output. Returns a forwarder to the server.
async fn serve_script(
    config: ServerConfig,
    script: impl Fn(&mut Connection, Received) -> Vec<u8> + Send + Sync + 'static,
) -> Forward {
    forward_to(&start_script(config, script).await)
}

/// Starts a scripted server and returns its address.
pub(super) async fn start_script(
    config: ServerConfig,
    script: impl Fn(&mut Connection, Received) -> Vec<u8> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("listener should have a local address").to_string();
    let script = Arc::new(script);
    tokio::spawn(async move {
        for number in 0.. {
            let (socket, _) = listener.accept().await.expect("gateway should connect");
            tokio::spawn(play(number, socket, Connection::server(&config, Instant::now()), script.clone()));
        }
    });
    address
}

async fn play(
    number: usize,
    mut socket: impl AsyncRead + AsyncWrite + Unpin,
    mut http2: Connection,
    script: Arc<impl Fn(&mut Connection, Received) -> Vec<u8>>,
) -> io::Result<()> {
    let mut bodies = HashMap::<_, Vec<u8>>::new();
    let mut more = Vec::new();
    loop {
        let output = [&http2.take_output(Instant::now())[..], &std::mem::take(&mut more)].concat();
        socket.write_all(&output).await?;
        let mut input = vec![0; 1 << 16];
        let count = socket.read(&mut input).await?;
        if count == 0 {
            return Ok(());
        }
        input.truncate(count);
        let mut input = Bytes::from(input);
        while let Some(event) = http2.poll_event(&mut input, Instant::now()).map_err(io::Error::other)? {
            let received = match event {
                Event::Data { stream, data, is_end } => {
                    let body = bodies.entry(stream).or_default();
                    body.extend_from_slice(&data);
                    if !is_end {
                        continue;
                    }
                    let name = Name::decode(&body[5..]).expect("request should be an encoded `Name`").name;
                    Received::Call(number, stream, name)
                }
                Event::Reset { code, .. } => Received::Reset(code),
                _ => continue,
            };
            more.extend(script(&mut http2, received));
        }
    }
}

/// Replies to a call with `greetings` messages. Returns no bytes, for scripts that have nothing else to write.
pub(super) fn reply(http2: &mut Connection, stream: StreamKey, greetings: usize) -> Vec<u8> {
    let mut head = Head::response(200);
    head.push("content-type", "application/grpc");
    let mut trailers = Head::trailers();
    trailers.push("grpc-status", "0");
    let message = Greeting { text: "Hello!".to_owned() }.encode_to_vec();
    let put = |out: &mut Vec<u8>| {
        for _ in 0..greetings {
            out.extend_from_slice(&[0, 0, 0, 0, message.len() as u8]);
            out.extend_from_slice(&message);
        }
        true
    };
    http2.reply(stream, &head, &trailers, put).expect("stream should be open");
    Vec::new()
}

/// Regression test: calls that the gRPC server had not processed failed, and their callers were told that the calls may
/// have run.
#[tokio::test]
async fn calls_that_were_not_processed_are_repeated() {
    let refused = serve_script(ServerConfig::default(), |http2, received| match received {
        Received::Call(0, stream, _) => {
            http2.reset(stream, ErrorCode::REFUSED_STREAM);
            Vec::new()
        }
        Received::Call(_, stream, _) => reply(http2, stream, 1),
        Received::Reset(_) => Vec::new(),
    });
    // Send a GOAWAY frame with the last stream id 0.
    let going = serve_script(ServerConfig::default(), |http2, received| match received {
        Received::Call(0, ..) => vec![0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        Received::Call(_, stream, _) => reply(http2, stream, 1),
        Received::Reset(_) => Vec::new(),
    });
    for backend in [refused.await, going.await] {
        let response = exchange(&front(greeter(&backend)).await, greet("", "Ada")).await;
        assert!(response.ends_with(r#"{"text":"Hello!"}"#), "{response}");
    }
    let always = serve_script(ServerConfig::default(), |http2, received| {
        if let Received::Call(_, stream, _) = received {
            http2.reset(stream, ErrorCode::REFUSED_STREAM);
        }
        Vec::new()
    });
    let failed = exchange(&front(greeter(&always.await)).await, greet("", "Ada")).await;
    assert!(failed.starts_with("HTTP/1.1 503 ") && failed.contains("has not run"), "{failed}");
}

/// Regression test: if the gRPC server refused a call, its native caller was told that the call may have run.
#[tokio::test]
async fn refused_call_reports_not_run_to_caller() {
    let refusing = serve_script(ServerConfig::default(), |http2, received| {
        if let Received::Call(_, stream, _) = received {
            http2.reset(stream, ErrorCode::REFUSED_STREAM);
        }
        Vec::new()
    });
    for backend in [refusing.await, forward_to("127.0.0.1:9"), to_native("127.0.0.1:9")] {
        let client =
            GreeterClient::connect(front(greeter(&backend)).await).await.expect("gateway should accept the connection");
        let status = client.greet(Name { name: "Ada".to_owned() }).await.expect_err("call should fail");
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
        let mut verses = client.recite(Name::default()).await.expect("stream should open").into_inner();
        let status = verses.message().await.expect_err("call should fail");
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    }
}

/// Regression test: the first of several messages was treated as the reply, and an HTML page as an invalid compression
/// flag.
#[tokio::test]
async fn non_unary_grpc_replies_are_errors() {
    let backend = serve_script(ServerConfig::default(), |http2, received| {
        let Received::Call(_, stream, name) = received else { return Vec::new() };
        if name == "two" {
            return reply(http2, stream, 2);
        }
        let mut head = Head::response(502);
        head.push("content-type", "text/html");
        http2.send_head(stream, &head, false).expect("stream should be open");
        http2.send_data(stream, Bytes::from_static(b"<html>"), true).expect("stream should be open");
        Vec::new()
    });
    let address = front(greeter(&backend.await)).await;
    let failed = exchange(&address, greet("", "two")).await;
    assert!(failed.contains("\"internal\"") && failed.contains("more than one message"), "{failed}");
    let failed = exchange(&address, greet("", "proxy")).await;
    assert!(failed.starts_with("HTTP/1.1 503 ") && failed.contains("text/html"), "{failed}");
}

/// Regression test: the trailers of a reply without a head were treated as initial metadata.
#[tokio::test]
async fn headless_reply_trailers_stay_trailers() {
    let backend = serve_script(ServerConfig::default(), |http2, received| {
        if let Received::Call(_, stream, _) = received {
            let mut head = Head::response(200);
            head.push("content-type", "application/grpc");
            head.push("grpc-status", "0");
            head.push("tenant", "blue");
            http2.send_head(stream, &head, true).expect("stream should be open");
        }
        Vec::new()
    });
    let request = post("/greet.Greeter/Recite", "application/connect+json", "", b"\0\0\0\0\x02{}");
    let response = exchange(&front(greeter(&backend.await)).await, request).await;
    assert!(!response.contains("tenant: ") && response.contains(r#""metadata":{"tenant":["blue"]}"#), "{response}");
}

/// Regression test: the waiting calls of one caller used up the streams of the server, so that no other caller was
/// served.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_caller_cannot_exhaust_grpc_streams() {
    let (calls, mut begun) = mpsc::unbounded_channel();
    let (resets, mut reset) = mpsc::unbounded_channel();
    let config = ServerConfig::default().common(Config::default().streams_max(4));
    let backend = serve_script(config, move |http2, received| {
        match received {
            Received::Call(number, _, name) if name == "wait" => calls.send(number).expect("receiver should be open"),
            Received::Call(_, stream, _) => return reply(http2, stream, 1),
            Received::Reset(code) => resets.send(code).expect("test should wait for the reset"),
        }
        Vec::new()
    });
    let address = front(greeter(&backend.await)).await;
    let mut waiting = Vec::new();
    for number in 0..8 {
        let mut socket = TcpStream::connect(&address).await.expect("gateway should accept the connection");
        socket.write_all(&greet("", "wait")).await.expect("gateway should accept the request");
        waiting.push(socket);
        assert_eq!(soon(&mut begun).await, number / 2, "caller should get two of four streams of each connection");
    }
    let failed = exchange(&address, greet("", "wait")).await;
    assert!(failed.contains("\"resource_exhausted\"") && failed.contains("has not run"), "{failed}");
    let response = exchange_as_another(&address, greet("", "Ada")).await;
    assert!(response.ends_with(r#"{"text":"Hello!"}"#), "{response}");
    drop(waiting);
    for _ in 0..8 {
        assert_eq!(soon(&mut reset).await, ErrorCode::CANCEL);
    }
}
