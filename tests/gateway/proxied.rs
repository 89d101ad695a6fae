//! Tests of the PROXY protocol, and of TLS connections that negotiate other protocols by ALPN.

use crate::gateway::greeter::{TIMEOUT, greet, rest};
use crate::gateway::support::Client;
use crate::gateway::web_socket;
use bytes::Bytes;
use frisbee::CloseKind;
use frisbee::tls::rustls::ClientConfig;
use frisbee::tls::rustls::pki_types::ServerName;
use frisbee_tests::pki::Authority;
use frisbee_tests::raw::packet;
use frpc::{Channel, Request, Response, ResponseStream, Server, ServerBuilder, Stats, Status};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A service that returns the address of its caller.
struct Mirror;

impl Greeter for Mirror {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let text = request.remote_addr().map_or_else(|| "none".to_owned(), |address| address.to_string());
        Ok(Response::new(Greeting { text }))
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("it has no verses"))
    }
}

fn builder() -> ServerBuilder {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect()).web_socket();
    Server::builder().add_service(GreeterServer::new(Mirror)).gateway(gateway)
}

async fn serve(builder: ServerBuilder) -> (SocketAddr, Stats) {
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

/// The address of the client in the headers below.
const STATED: &str = "192.0.2.7:4711";

const LINE: &[u8] = b"PROXY TCP4 192.0.2.7 10.0.0.1 4711 443\r\n";

const BINARY: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x10\xc0\0\x02\x07\x0a\0\0\x01\x12\x67\x01\xbb\x04\0\x01\0";

/// The header of a health check that the proxy itself makes (`LOCAL`).
const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

async fn connect(address: SocketAddr, header: &[u8]) -> std::io::Result<TcpStream> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(header).await?;
    Ok(socket)
}

async fn secure(config: Arc<ClientConfig>, socket: TcpStream) -> TlsStream<TcpStream> {
    let name: ServerName<'_> = "127.0.0.1".try_into().expect("server name should be valid");
    tokio_rustls::TlsConnector::from(config).connect(name, socket).await.expect("server should accept the connection")
}

/// Makes a call by JSON-RPC and returns the caller's address as seen by the handler.
async fn address_by_json_rpc(mut io: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{}}"#;
    io.write_all(call.as_bytes()).await.expect("write should succeed");
    let mut line = String::new();
    while !line.ends_with('\n') {
        line.push(char::from(io.read_u8().await.expect("peer should send a byte")));
    }
    line
}

async fn address_by_frpc(address: SocketAddr, header: &'static [u8]) -> String {
    let channel = Channel::builder().connect_with_connector(move || connect(address, header)).await;
    let client = GreeterClient::new(channel.expect("server should answer"));
    client.greet(Name::default()).await.expect("call should succeed").into_inner().text
}

#[tokio::test(flavor = "multi_thread")]
async fn proxied_address_reaches_calls_on_every_protocol() {
    let authority = Authority::default();
    let (address, _) = serve(builder().proxy_protocol().tls_or_plain(authority.server())).await;
    for header in [LINE, BINARY] {
        assert_eq!(address_by_frpc(address, header).await, STATED);
        assert!(
            address_by_json_rpc(connect(address, header).await.expect("server should accept the connection"))
                .await
                .contains(STATED)
        );
        let mut socket = connect(address, header).await.expect("server should accept the connection");
        socket.write_all(greet("", "Ada").as_bytes()).await.expect("write should succeed");
        assert!(rest(&mut socket).await.contains(STATED));
        let socket = connect(address, header).await.expect("server should accept the connection");
        let secured = secure(authority.configurations().0, socket).await;
        assert!(address_by_json_rpc(secured).await.contains(STATED));
    }
    assert!(address_by_frpc(address, LOCAL).await.starts_with("127.0.0.1:"));
    assert!(address_by_frpc(address, b"PROXY UNKNOWN\r\n").await.starts_with("127.0.0.1:"));
}

#[tokio::test]
async fn missing_proxy_header_closes_connection() {
    let (address, stats) = serve(builder().proxy_protocol()).await;
    for bytes in
        [&packet(1, 10, b"no header")[..], b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", b"{\"jsonrpc\":\"2.0\",\"id\":1}"]
    {
        let mut socket = connect(address, bytes).await.expect("server should accept the connection");
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(TIMEOUT, socket.read_to_end(&mut answer)).await;
        // The server may leave bytes unread, and then the connection is reset.
        let _ = ended.expect("server should close the connection");
        assert_eq!(answer, b"");
    }
    while stats.open() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stats.closed_by(CloseKind::Transport), 3);
    assert_eq!(address_by_frpc(address, LINE).await, STATED);
}

/// Regression test: the limit was checked for the address of the proxy, which had no connections.
#[tokio::test]
async fn proxied_client_leaves_connections_for_others() {
    // Each JSON-RPC connection is charged 9 KiB.
    let (address, _) = serve(builder().proxy_protocol().connection_memory_max(128 * 9 * 1024)).await;
    let mut open = Vec::new();
    loop {
        let mut socket = connect(address, LINE).await.expect("proxy should be accepted");
        let _ = socket.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{}}"#).await;
        if !matches!(socket.read_u8().await, Ok(b'{')) {
            break;
        }
        open.push(socket);
        assert!(open.len() < 128, "client should not get all connections");
    }
    assert_eq!(open.len(), 96);
    let other = b"PROXY TCP4 192.0.2.8 10.0.0.1 4711 443\r\n";
    assert_eq!(address_by_frpc(address, other).await, "192.0.2.8:4711");
}

#[tokio::test(start_paused = true)]
async fn incomplete_proxy_header_times_out() {
    let timeout = Duration::from_secs(7);
    let server = builder().proxy_protocol().first_header_timeout(timeout).build().expect("settings should be valid");
    for beginning in [&b""[..], b"PROXY TCP4 192.", &BINARY[..20]] {
        let mut client = Client::new(&server);
        client.say(beginning).await;
        let started = tokio::time::Instant::now();
        assert_eq!(client.closed().await.kind(), CloseKind::NoFirstHeader);
        assert!(started.elapsed() >= timeout && started.elapsed() < 2 * timeout, "{:?}", started.elapsed());
    }
    let mut late = Client::new(&server);
    late.say("PROXY ").await;
    let started = tokio::time::Instant::now();
    server.shutdown().await;
    assert!(started.elapsed() < timeout, "shutdown that should not wait for a header took {:?}", started.elapsed());
}

#[tokio::test]
async fn tls_serves_with_and_without_alpn() {
    let authority = Authority::default();
    let (address, _) = serve(builder().tls(authority.server())).await;
    let channel = Channel::builder().tls(authority.client()).connect(address.to_string()).await;
    let client = GreeterClient::new(channel.expect("server should answer"));
    assert!(client.greet(Name::default()).await.expect("call should succeed").get_ref().text.starts_with("127.0.0.1:"));
    for protocols in [&["h2", "http/1.1"][..], &["http/1.1"]] {
        let mut config = ClientConfig::clone(&authority.configurations().0);
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let socket = TcpStream::connect(address).await.expect("server should accept the connection");
        let mut secured = secure(Arc::new(config), socket).await;
        assert_eq!(secured.get_ref().1.alpn_protocol(), Some(protocols[0].as_bytes()));
        if protocols[0] == "h2" {
            assert!(address_by_http2(secured).await.starts_with("{\"text\":\"127.0.0.1:"));
        } else {
            secured.write_all(greet("", "Ada").as_bytes()).await.expect("write should succeed");
            let mut response = String::new();
            secured.read_to_string(&mut response).await.expect("file should be readable");
            assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        }
    }
}

async fn address_by_http2(io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> String {
    let (mut client, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(io)).await.expect("server should speak HTTP/2");
    tokio::spawn(connection);
    let request = http::Request::post("https://localhost/greet.Greeter/Greet")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from_static(b"{}")))
        .expect("request should be valid");
    let response = client.send_request(request).await.expect("call should succeed");
    let body = response.into_body().collect().await.expect("body should be complete").to_bytes();
    String::from_utf8(body.into()).expect("body should be UTF-8")
}

/// Posts a call of `Greet` with more header fields, and returns the status and body of the response.
async fn post_for(socket: &mut TcpStream, fields: &str, name: &str) -> String {
    let body = format!("{{\"name\":\"{name}\"}}");
    let head = format!(
        "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{fields}\
         content-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.expect("write should succeed");
    let mut answer = String::new();
    while !answer.ends_with('}') {
        answer.push(char::from(socket.read_u8().await.expect("peer should send a byte")));
    }
    answer
}

fn trusting() -> ServerBuilder {
    let http = Http::new().connect().grpc().trust(IpAddr::from([127, 0, 0, 1]), 32);
    let gateway = Gateway::new().json_rpc().http(http).web_socket();
    Server::builder().add_service(GreeterServer::new(Mirror)).gateway(gateway)
}

#[tokio::test]
async fn client_of_trusted_http_proxy_is_stated_address() {
    let (address, _) = serve(trusting()).await;
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    for (fields, expected) in [
        ("x-forwarded-for: 192.0.2.9, 192.0.2.1\r\n", "192.0.2.1:0"),
        ("forwarded: for=192.0.2.2;proto=https\r\n", "192.0.2.2:0"),
        ("", "127.0.0.1:"),
        ("x-forwarded-for: 192.0.2.1\r\nforwarded: for=192.0.2.2\r\n", "127.0.0.1:"),
    ] {
        let answer = post_for(&mut socket, fields, "Ada").await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(expected), "{fields}: {answer}");
    }
    let io = TokioIo::new(TcpStream::connect(address).await.expect("server should accept the connection"));
    let (mut client, connection) =
        http2::handshake(TokioExecutor::new(), io).await.expect("server should speak HTTP/2");
    tokio::spawn(connection);
    for content_type in ["application/json", "application/grpc+json"] {
        let body = if content_type == "application/json" { "{}" } else { "\0\0\0\0\u{2}{}" };
        let request = http::Request::post("http://localhost/greet.Greeter/Greet").header("content-type", content_type);
        let request = request.header("x-forwarded-for", "192.0.2.3").body(Full::new(Bytes::from(body)));
        let response = client.send_request(request.expect("request should be valid")).await;
        let body = response.expect("call should succeed").into_body().collect().await.expect("body should be complete");
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        assert!(text.contains("192.0.2.3:0"), "{content_type}: {text:?}");
    }
    let fields = "x-forwarded-for: 192.0.2.4\r\nSec-WebSocket-Protocol: jsonrpc\r\n";
    let (mut socket, answer) = web_socket::Client::connect_with(address, fields).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{}}"#;
    socket.send(&web_socket::frame(true, web_socket::TEXT, call)).await;
    let (_, _, reply) = socket.frame().await;
    assert!(String::from_utf8_lossy(&reply).contains("192.0.2.4:0"), "{reply:?}");
    // Peers that are not trusted proxies cannot claim another address.
    let (address, _) = serve(builder()).await;
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let answer = post_for(&mut socket, "x-forwarded-for: 192.0.2.1\r\n", "Ada").await;
    assert!(answer.contains("127.0.0.1:"), "{answer}");
}

/// Each client behind a proxy has its own share of the memory limit, so that one cannot use up that of the others.
#[tokio::test]
async fn greedy_client_behind_proxy_leaves_memory() {
    let (address, stats) = serve(trusting().memory_max(4 << 20)).await;
    let mut greedy = Vec::new();
    for _ in 0..100 {
        let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
        let head = "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    x-forwarded-for: 192.0.2.1\r\ncontent-length: 200000\r\n\r\n";
        socket.write_all([head.as_bytes(), &[b' '; 40_000]].concat().as_slice()).await.expect("write should succeed");
        greedy.push(socket);
    }
    let is_full = async {
        while stats.memory_held() < 2 << 20 {
            tokio::task::yield_now().await;
        }
        // Yield until the server has accepted or rejected the bodies that are still arriving.
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, is_full).await.expect("incomplete bodies should use up the client's memory share");
    for (client, expected) in [("192.0.2.1", "HTTP/1.1 429 "), ("192.0.2.2", "HTTP/1.1 200 ")] {
        let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
        let fields = format!("x-forwarded-for: {client}\r\n");
        let answer = post_for(&mut socket, &fields, &"x".repeat(50_000)).await;
        assert!(answer.starts_with(expected), "{client}: {} of {answer:.100}", stats.memory_held());
    }
}
