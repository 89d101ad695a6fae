//! Tests of HTTP/1.1 requests: their framing, their rejection, and how they complete during shutdown.

use crate::gateway::greeter::{Open, TIMEOUT, all, builder, greet, post, rest, soon};
use crate::gateway::support::{Client, server};
use crate::gateway::web_socket;
use frisbee_tests::until;
use frpc::{Channel, Config, Request};
use frpc_gateway::{Gateway, Http};
use samples::greet::{GreeterClient, GreeterServer, Name};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Open::new(all()).await;
    let names = ["a", "b", "c"];
    let mut requests: String =
        names.map(|name| post("/greet.Greeter/Greet", "", &format!("{{\"name\":\"{name}\"}}"))).concat();
    requests += &greet("", "last");
    let response = server.exchange(&requests).await;
    let texts: Vec<_> = response.split("Hello, ").skip(1).filter_map(|text| text.split('!').next()).collect();
    assert_eq!(texts, ["a", "b", "c", "last"], "{response}");
    assert_eq!(response.matches("connection: close").count(), 1);
}

/// Removes the parts of a response that depend on the time and on the connection.
fn timeless(response: &str) -> String {
    let lines = response.split_inclusive("\r\n");
    lines.filter(|line| !line.starts_with("date: ") && *line != "connection: close\r\n").collect()
}

#[tokio::test]
async fn requests_with_repeated_head_are_answered_independently() {
    let server = Open::new(all()).await;
    let call = |fields: &str, name: &str| post("/greet.Greeter/Greet", fields, &format!("{{\"name\":\"{name}\"}}"));
    let by_json_rpc = |fields: &str, name: &str| {
        let params = format!("{{\"name\":\"{name}\"}}");
        let id = name.len();
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"greet.Greeter/Greet","params":{params}}}"#);
        post("/", fields, &body)
    };
    let names = ["Ada", "Bob", "", "wait", "timeout", "long", "panic\\", "Ada"];
    let fields = ["", "tenant: blue\r\n", "connect-timeout-ms: 50000\r\n", "x: 1\r\n", "x: 2\r\n"];
    let calls = fields.map(|fields| {
        let way = move |way: u32, name: &str, more: &str| match way {
            0 => call(&format!("{fields}{more}"), name),
            _ => by_json_rpc(&format!("{fields}{more}"), name),
        };
        [0, 1].map(|kind| names.map(|name| ["", "connection: close\r\n"].map(|more| way(kind, name, more))))
    });
    let (mut together, mut alone) = (String::new(), String::new());
    server.gate.add_permits(2 * calls.iter().flatten().flatten().count());
    for [same, last] in calls.iter().flatten().flatten() {
        together += same;
        alone += &timeless(&server.exchange(last).await);
    }
    let response = server.exchange(together + &greet("", "last")).await;
    assert_eq!(timeless(&response), alone + &timeless(&server.exchange(greet("", "last")).await));
}

/// Parses consecutive responses. Returns the status and the body of each. The length of a body is the one that its head
/// states.
fn responses(mut bytes: &str) -> Vec<(u16, &str)> {
    let mut responses = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_once("\r\n\r\n").expect("response should have a complete head");
        let status =
            head.strip_prefix("HTTP/1.1 ").and_then(|line| line.get(..3)).expect("response should begin with a status");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let (body, after) = rest.split_at(length.map_or(0, |length| length.parse().expect("text should be a number")));
        responses.push((status.parse().expect("text should be a number"), body));
        bytes = after;
    }
    responses
}

#[tokio::test]
async fn json_rpc_posts_get_one_response_each() {
    let mut server = Open::new(all()).await;
    let body = |id: &str, name: &str| {
        format!(r#"{{"jsonrpc":"2.0",{id}"method":"greet.Greeter/Greet","params":{{"name":"{name}"}}}}"#)
    };
    let requests = [
        post("/", "", &body("", "Ada")),
        post("/", "", &body("\"id\":1,", "wait")),
        post("/", "", &format!("[{},{}]", body("\"id\":2,", "Bob"), body("\"id\":3,", "wait"))),
        post("/", "", &body("", "wait")),
        post("/", "connection: close\r\n", &body("\"id\":4,", "Eve")),
    ];
    let mut socket = server.connect().await;
    socket.write_all(requests.concat().as_bytes()).await.expect("write should succeed");
    // Handlers of the notification and of the first waiting call.
    for _ in 0..2 {
        soon(&mut server.began).await;
    }
    server.gate.add_permits(3);
    let response = rest(&mut socket).await;
    let result = |id: u32, text: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":"{text}"}}}}"#);
    let batch = format!("[{},{}]", result(2, "Hello, Bob!"), result(3, "waited"));
    let (first, last) = (result(1, "waited"), result(4, "Hello, Eve!"));
    let expected = [(204, ""), (200, &*first), (200, &*batch), (204, ""), (200, &*last)];
    assert_eq!(responses(&response), expected);
}

#[tokio::test]
async fn request_sent_byte_by_byte_is_answered() {
    let server = Open::new(all()).await;
    let mut socket = server.connect().await;
    socket.set_nodelay(true).expect("address should be that of a socket");
    for byte in greet("", "Ada").as_bytes() {
        socket.write_all(&[*byte]).await.expect("write should succeed");
    }
    assert!(rest(&mut socket).await.ends_with("{\"text\":\"Hello, Ada!\"}"));
}

#[tokio::test]
async fn ambiguous_heads_are_refused_on_both_paths() {
    let server = Open::new(all()).await;
    // hyper handles the second request. The third one arrives before the second has been answered.
    let expect =
        post("/greet.Greeter/Greet", "content-encoding: identity\r\nexpect: 100-continue\r\n", "{\"name\":\"a\"}");
    for before in [String::new(), expect] {
        for fields in
            ["content-length: 2\r\n", "transfer-encoding: chunked\r\n", "x : y\r\n", "x: y\r\n z\r\n", "x: y\n"]
        {
            let response = server.exchange(before.clone() + &post("/greet.Greeter/Greet", fields, "{}")).await;
            let last = response.rsplit("HTTP/1.1 ").next().unwrap_or_default();
            assert!(last.starts_with("400 ") && last.contains("connection: close"), "{fields:?}: {response}");
            assert_eq!(response.matches("Hello").count(), usize::from(!before.is_empty()), "{fields:?}: {response}");
        }
        let signed = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: +2\r\n\r\n{}";
        assert!(server.exchange(before.clone() + signed).await.contains("HTTP/1.1 400 "));
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_request_body_is_read_completely() {
    let (builder, host, _events) = builder(all());
    let server = builder.add_service(GreeterServer::new(host)).build().expect("services should not overlap");
    let (mut here, there) = frpc::memory();
    let serving = tokio::spawn(async move { server.serve_connection(there).await });
    let fields = "connection: close\r\ncontent-encoding: br\r\n";
    let request = post("/greet.Greeter/Greet", fields, &"x".repeat(500_000));
    let (head, body) = request.split_at(request.find("\r\n\r\n").expect("request should have a complete head") + 4);
    here.write_all(head.as_bytes()).await.expect("write should succeed");
    let mut status = [0; 12];
    here.read_exact(&mut status).await.expect("peer should send the expected bytes");
    assert_eq!(&status, b"HTTP/1.1 501");
    // A client that cannot write would not read the response, so the write must succeed.
    here.write_all(body.as_bytes()).await.expect("write should succeed");
    here.shutdown().await.expect("socket should shut down");
    let mut rest = String::new();
    here.read_to_string(&mut rest).await.expect("file should be readable");
    assert!(rest.contains("unimplemented"), "{rest}");
    serving.await.expect("task should not panic");
}

/// Reads the head of the next response.
async fn next_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.expect("peer should send a byte"));
    }
    String::from_utf8(head).expect("head should be UTF-8")
}

#[tokio::test]
async fn response_to_unread_request_announces_connection_close() {
    let server = Open::new(all()).await;
    let head = |path: &str, fields: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 19\r\n{fields}\r\n")
    };
    let web = "content-type: application/grpc-web+json\r\n";
    let encoded = "content-type: application/json\r\ncontent-encoding: br\r\n";
    for refused in [head("/greet.Greeter/Greet", encoded), head("/greet.Greeter/No", web)] {
        let mut socket = TcpStream::connect(&server.address).await.expect("server should accept the connection");
        socket.write_all(refused.as_bytes()).await.expect("write should succeed");
        // The body has not been read, so the connection must close. Otherwise the next request would be lost.
        let response = next_head(&mut socket).await;
        assert!(response.contains("connection: close"), "{response}");
    }
    // hyper serves the option `te`, and sends the response in chunks.
    for (option, end) in [("", "grpc-status: 0\r\n"), ("connection: te\r\n", "\r\n0\r\n\r\n")] {
        let mut socket = TcpStream::connect(&server.address).await.expect("server should accept the connection");
        for _ in 0..2 {
            let fields = format!("{web}{option}");
            let request = head("/greet.Greeter/Greet", &fields) + "\0\0\0\0\x0e{\"name\":\"Ada\"}";
            socket.write_all(request.as_bytes()).await.expect("write should succeed");
            let response = next_head(&mut socket).await;
            assert!(response.contains("HTTP/1.1 200") && !response.contains("close"), "{response}");
            let mut body = Vec::new();
            while !body.ends_with(end.as_bytes()) {
                body.push(socket.read_u8().await.expect("peer should send a byte"));
            }
            assert!(String::from_utf8_lossy(&body).contains("Hello, Ada!"));
        }
    }
}

#[tokio::test]
async fn refusals_name_remedy() {
    let server = Open::with(all(), |builder| builder.config(Config::default().body_max(1024))).await;
    let close = "connection: close\r\n";
    let long = "x".repeat(2000);
    for (request, status, text) in [
        (greet("", "Ada").replace("Greet ", "Great "), 404, "/package.Service/Method"),
        (greet("", "Ada").replace("POST", "DELETE"), 405, "by POST, or by GET"),
        (post("/greet.Greeter/Recite", close, "{}").replace("POST", "GET"), 405, "called by POST"),
        (post("/greet.Greeter/Recite", close, "{}"), 415, "application/connect+json"),
        (greet("", "Ada").replace("application/json", "text/plain"), 415, "application/json, application/proto"),
        (greet("", "Ada").replace("application/json", "application/grpc"), 426, "gRPC takes HTTP/2"),
        (greet("", &long), 413, "1024 bytes"),
        (greet("", "Ada").replace("localhost", "evil.example"), 403, "host not allowed"),
        (greet("origin: http://localhost:1\r\n", "Ada"), 403, "origin not allowed"),
        (greet("connect-timeout-ms: x\r\n", "Ada"), 400, "connect-timeout-ms"),
        (greet("", "Ada").replace("HTTP/1.1", "HTTP/1.2"), 505, "HTTP/1.1"),
        (greet(&format!("x: {}\r\n", "y".repeat(20_000)), "Ada"), 431, "16384"),
        (greet(&"x: y\r\n".repeat(101), "Ada"), 431, "100 fields"),
        (post("/", close, "{}").replace("POST", "GET"), 405, "JSON-RPC"),
    ] {
        let response = server.exchange(&request).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {response}");
        assert!(response.contains(text), "{text}: {response}");
    }
    drop(server);
    let closed = Open::new(Http::new()).await;
    for path in ["/greet.Greeter/Greet", "/healthz"] {
        assert!(
            closed.exchange(post(path, close, "{}")).await.starts_with("HTTP/1.1 404 "),
            "path of a disabled protocol should not exist"
        );
    }
}

#[tokio::test]
async fn added_origins_may_read_responses_with_cors() {
    let origin = "https://app.example.com";
    let server = Open::new(all().origin(origin).cors().host("api.example.com")).await;
    let origin_field = format!("origin: {origin}\r\n");
    let response = server.exchange(greet(&origin_field, "Ada").replace("localhost", "api.example.com")).await;
    assert!(response.contains(&format!("access-control-allow-origin: {origin}\r\n")), "{response}");
    let preflight = |origin: &str| {
        let fields = "access-control-request-method: POST\r\naccess-control-request-headers: content-type\r\n";
        format!(
            "OPTIONS /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\n{fields}connection: close\r\n\r\n"
        )
    };
    let allowed = server.exchange(preflight(origin)).await;
    assert!(allowed.starts_with("HTTP/1.1 204 ") && allowed.contains("allow-headers: content-type"), "{allowed}");
    let refused = server.exchange(preflight("https://evil.example")).await;
    assert!(refused.starts_with("HTTP/1.1 403 ") && !refused.contains("access-control"), "{refused}");
}

#[tokio::test]
async fn probes_report_readiness_under_every_server_name() {
    let server = Open::new(all()).await;
    for path in ["/healthz", "/readyz"] {
        let probe = format!("GET {path} HTTP/1.1\r\nhost: 10.1.2.3.pod\r\nconnection: close\r\n\r\n");
        let response = server.exchange(probe).await;
        assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with("ok\n"), "{response}");
    }
}

#[tokio::test]
async fn debug_page_allows_only_same_origin_get() {
    let get = |host: &str| format!("GET /debug/frpc HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let closed = Open::new(all()).await;
    assert!(closed.exchange(get("localhost")).await.starts_with("HTTP/1.1 404 "));
    let page = Http::new().debug(|| "{\"servers\":[]}".to_owned());
    let open = Open::new(page).await;
    let response = open.exchange(get("localhost")).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with("{\"servers\":[]}"), "{response}");
    assert!(response.contains("content-type: application/json") && response.contains("cache-control: no-store"));
    assert!(!open.exchange(get("evil.example")).await.contains("servers"));
    let post = open.exchange(get("localhost").replace("GET", "PUT")).await;
    assert!(post.starts_with("HTTP/1.1 405 ") && !post.contains("servers"), "{post}");
}

#[tokio::test]
async fn disconnected_client_drops_handler_on_either_path() {
    let mut server = Open::new(all()).await;
    for fields in ["", "expect: 100-continue\r\n"] {
        let mut socket = server.connect().await;
        socket.write_all(greet(fields, "wait").as_bytes()).await.expect("write should succeed");
        soon(&mut server.began).await;
        drop(socket);
        soon(&mut server.dropped).await;
    }
}

#[tokio::test]
async fn stopping_server_answers_calls_then_closes_connections() {
    let mut server = Open::new(all()).await;
    let idle = server.connect().await;
    let mut sockets = Vec::new();
    for fields in ["", "expect: 100-continue\r\n"] {
        let mut socket = server.connect().await;
        let request = greet(fields, "wait").replace("connection: close\r\n", "");
        socket.write_all(request.as_bytes()).await.expect("write should succeed");
        soon(&mut server.began).await;
        sockets.push(socket);
    }
    let mut used = server.connect().await;
    used.write_all(post("/greet.Greeter/Greet", "", "{\"name\":\"Ada\"}").as_bytes())
        .await
        .expect("write should succeed");
    let mut byte = [0];
    used.read_exact(&mut byte).await.expect("peer should send the expected bytes");
    server.stop();
    // The server closes an idle connection immediately, and a connection with calls in flight after their responses.
    assert!(rest(&mut used).await.ends_with("{\"text\":\"Hello, Ada!\"}"));
    server.gate.add_permits(sockets.len());
    for socket in &mut sockets {
        let response = rest(socket).await;
        assert!(response.contains("connection: close") && response.ends_with("{\"text\":\"waited\"}"), "{response}");
    }
    drop(idle);
    server.stopped().await;
}

/// Sends a request and then nothing. Returns the response, and the virtual time until the server closed the connection.
async fn silent_behind(request: &[u8]) -> (String, Duration) {
    let (builder, host, _events) = builder(all());
    let server = builder.add_service(GreeterServer::new(host)).build().expect("services should not overlap");
    let (mut client, there) = tokio::io::duplex(1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    let started = tokio::time::Instant::now();
    client.write_all(request).await.expect("write should succeed");
    let mut response = Vec::new();
    let read = tokio::time::timeout(10 * TIMEOUT, client.read_to_end(&mut response))
        .await
        .expect("read should complete within the timeout");
    read.expect("connection in memory should succeed");
    (String::from_utf8_lossy(&response).into_owned(), started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn slow_requests_time_out_like_native_packets() {
    let config = Config::default();
    let (response, elapsed) = silent_behind(b"POST / HTTP/1.1\r\nhost: localhost\r\n").await;
    assert!(response.starts_with("HTTP/1.1 408 ") && response.contains("head"), "{response}");
    assert!((10..12).contains(&elapsed.as_secs()), "{elapsed:?}");
    let head = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let (response, elapsed) = silent_behind(head).await;
    assert!(response.starts_with("HTTP/1.1 408 ") && response.contains("body"), "{response}");
    assert!(elapsed >= config.least_rate_window && elapsed < 2 * config.least_rate_window, "{elapsed:?}");
    // Regression: a method with a single request waited forever for the message or for the end of the body.
    for body in ["", "9\r\n\0\0\0\0\u{4}null\r\n"] {
        let head =
            "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web+json\r\n";
        let request = format!("{head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n{body}");
        let (response, elapsed) = silent_behind(request.as_bytes()).await;
        assert!(response.contains("too slowly"), "{response}");
        assert!(elapsed >= config.least_rate_window && elapsed < 2 * config.least_rate_window, "{elapsed:?}");
    }
    let idle = post("/greet.Greeter/Greet", "", "{\"name\":\"Ada\"}");
    let (response, elapsed) = silent_behind(idle.as_bytes()).await;
    assert!(response.ends_with("{\"text\":\"Hello, Ada!\"}"), "{response}");
    assert!((300..302).contains(&elapsed.as_secs()), "{elapsed:?}");
}

#[tokio::test]
async fn target_fragment_is_rejected_on_both_paths() {
    let server = Open::new(all()).await;
    for fields in ["", "expect: 100-continue\r\n"] {
        let response = server.exchange(greet(fields, "Ada").replace("/Greet ", "/Greet#x ")).await;
        assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("fragment"), "{response}");
    }
}

/// Regression: hyper itself rejects some of these characters, so the gateway handled them only on the fast path.
#[tokio::test]
async fn target_delimiters_are_rejected_on_both_paths() {
    let server = Open::new(all()).await;
    for target in ["/Greet\" ", "/Greet<x> ", "/Greet` ", "/Greet?\" ", "/Greet?<x> ", "/Greet?` "] {
        for fields in ["", "expect: 100-continue\r\n"] {
            let response = server.exchange(greet(fields, "Ada").replace("/Greet ", target)).await;
            assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("percent-encode"), "{response}");
        }
    }
}

#[tokio::test]
async fn request_requires_single_host_matching_target() {
    let server = Open::new(all()).await;
    for (from, to, status) in [
        ("host: localhost", "host: localhost\r\nhost: localhost", 400),
        ("host: localhost\r\n", "", 400),
        ("POST /", "POST http://127.0.0.1/", 400),
        ("POST /", "POST http://LOCALHOST:80/", 200),
        ("host: localhost", "host: Localhost:443", 200),
        ("host: localhost", "host: localhost\r\ncontent-type: application/json", 400),
    ] {
        let request = greet("", "Ada").replace("connection: close\r\n", "").replace(from, to);
        // The second request is answered unless the first one has ended the connection.
        let response = server.exchange(request + &greet("", "Bob")).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{to}: {response}");
        assert_eq!(response.contains("Hello, Bob!"), status == 200, "{to}: {response}");
    }
    let absolute = greet("", "Ada").replace("POST /", "POST http://localhost/").replace("host: localhost\r\n", "");
    assert!(
        server.exchange(absolute).await.starts_with("HTTP/1.1 400 "),
        "absolute target should not replace the host field"
    );
}

#[tokio::test]
async fn half_closed_client_gets_delayed_response() {
    let mut server = Open::new(all()).await;
    for fields in ["", "expect: 100-continue\r\n"] {
        let mut socket = server.connect().await;
        socket.write_all(greet(fields, "wait").as_bytes()).await.expect("write should succeed");
        socket.shutdown().await.expect("socket should shut down");
        soon(&mut server.began).await;
        tokio::task::yield_now().await;
        server.gate.add_permits(1);
        let response = rest(&mut socket).await;
        assert!(response.ends_with("{\"text\":\"waited\"}"), "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn idle_hyper_connection_times_out() {
    let first = post("/greet.Greeter/Greet", "expect: 100-continue\r\n", "{\"name\":\"Ada\"}");
    let (response, elapsed) = silent_behind(first.as_bytes()).await;
    assert!(response.contains("Hello, Ada!"), "{response}");
    assert!((300..302).contains(&elapsed.as_secs()), "{elapsed:?}");
    let request = first + "POST / HTTP/1.1\r\n";
    let (response, elapsed) = silent_behind(request.as_bytes()).await;
    assert!(response.contains("HTTP/1.1 408 "), "{response}");
    assert!((10..12).contains(&elapsed.as_secs()), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn idle_http2_connection_times_out() {
    let (builder, host, _events) = builder(all());
    let server = builder.add_service(GreeterServer::new(host)).build().expect("services should not overlap");
    let (here, there) = tokio::io::duplex(1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    let io = hyper_util::rt::TokioIo::new(here);
    let executor = hyper_util::rt::TokioExecutor::new();
    let handshake = hyper::client::conn::http2::handshake::<_, _, http_body_util::Empty<bytes::Bytes>>(executor, io);
    let (client, connection) = handshake.await.expect("server should speak HTTP/2");
    let started = tokio::time::Instant::now();
    let ended =
        tokio::time::timeout(10 * TIMEOUT, connection).await.expect("connection should close within the timeout");
    drop((ended, client));
    assert!((300..303).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
}

#[tokio::test]
async fn empty_content_is_not_decompressed() {
    let server = Open::new(all()).await;
    let gzip = "connection: close\r\ncontent-encoding: gzip\r\n";
    let proto = post("/greet.Greeter/Greet", gzip, "").replace("application/json", "application/proto");
    // The empty message has an empty name, which the greeter rejects.
    assert!(server.exchange(proto).await.contains("the name is empty"));
    let fields = "connection: close\r\ngrpc-encoding: gzip\r\n";
    let web = post("/greet.Greeter/Greet", fields, "\u{1}\0\0\0\0").replace("application/json", "application/grpc-web");
    assert!(server.exchange(web).await.contains("the name is empty"));
    let get = "GET /greet.Greeter/Greet?encoding=proto&message=&compression=gzip HTTP/1.1\r\nhost: localhost\r\n\
               connection: close\r\n\r\n";
    assert!(server.exchange(get).await.contains("the name is empty"));
}

#[tokio::test]
async fn byte_order_mark_before_json_is_skipped() {
    let server = Open::new(all()).await;
    let message = "\u{feff}{\"name\":\"Ada\"}";
    assert!(
        server.exchange(post("/greet.Greeter/Greet", "connection: close\r\n", message)).await.contains("Hello, Ada!")
    );
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{"name":"Ada"}}"#;
    let call = format!("\u{feff}{call}");
    assert!(server.exchange(post("/", "connection: close\r\n", &call)).await.contains("Hello, Ada!"));
    let mut socket = server.connect().await;
    socket.write_all(call.as_bytes()).await.expect("write should succeed");
    socket.shutdown().await.expect("socket should shut down");
    assert!(rest(&mut socket).await.contains("Hello, Ada!"));
}

#[tokio::test]
async fn cors_credentials_are_allowed_only_if_set() {
    let origin = "https://app.example.com";
    let origin_field = format!("origin: {origin}\r\n");
    for (http, allowed) in [(all().origin(origin).cors(), false), (all().origin(origin).cors_with_credentials(), true)]
    {
        let server = Open::new(http).await;
        for fields in [origin_field.clone(), format!("{origin_field}expect: 100-continue\r\ntenant: blue\r\n")] {
            let response = server.exchange(greet(&fields, "Ada")).await;
            let response = response.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
            assert!(response.contains(&format!("access-control-allow-origin: {origin}\r\n")), "{response}");
            assert_eq!(response.contains("access-control-allow-credentials: true"), allowed, "{response}");
            assert_eq!(response.contains("access-control-expose-headers: *"), !allowed, "{response}");
        }
    }
}

/// Starts a server whose timeouts exceed the range of the clock.
async fn timeless_server() -> Open {
    let config = Config::default()
        .ping_interval(Duration::MAX)
        .idle_timeout(Duration::MAX)
        .write_timeout(Duration::MAX)
        .least_rate_window(Duration::MAX)
        .hand_off_timeout(Duration::MAX);
    let gateway = Gateway::new().json_rpc().web_socket().http(all()).idle_timeout(Duration::MAX);
    Open::behind(gateway, |builder| builder.config(config).first_header_timeout(Duration::MAX)).await
}

#[tokio::test]
async fn times_beyond_clock_end_no_connection() {
    let mut server = timeless_server().await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{"name":"Ada"}}"#;
    for fields in ["", "expect: 100-continue\r\n", "connect-timeout-ms: 9999999999\r\n"] {
        // The request is sent in pieces, so that both its head and its body have deadlines.
        let mut socket = server.connect().await;
        let (first, rest_of_it) = (post("/greet.Greeter/Greet", fields, "{\"name\":\"Ada\"}"), greet(fields, "Bob"));
        for piece in [&first[..20], &first[20..first.len() - 5], &first[first.len() - 5..], &rest_of_it] {
            socket.write_all(piece.as_bytes()).await.expect("write should succeed");
            tokio::task::yield_now().await;
        }
        let response = rest(&mut socket).await;
        assert!(response.contains("Hello, Ada!") && response.contains("Hello, Bob!"), "{fields}: {response}");
        while server.began.try_recv().is_ok() {}
        // Half-closes the connection while the handler waits.
        let mut socket = server.connect().await;
        socket.write_all(greet(fields, "wait").as_bytes()).await.expect("write should succeed");
        socket.shutdown().await.expect("socket should shut down");
        soon(&mut server.began).await;
        server.gate.add_permits(1);
        assert!(rest(&mut socket).await.ends_with("{\"text\":\"waited\"}"), "{fields}");
    }
    let mut socket = server.connect().await;
    socket.write_all(&call.as_bytes()[..9]).await.expect("write should succeed");
    tokio::task::yield_now().await;
    socket.write_all(&call.as_bytes()[9..]).await.expect("write should succeed");
    socket.shutdown().await.expect("socket should shut down");
    assert!(rest(&mut socket).await.contains("Hello, Ada!"));
    let (mut web_socket, _) = web_socket::Client::connect_over(server.connect().await, web_socket::JSON_RPC).await;
    web_socket.send(&web_socket::frame(true, web_socket::TEXT, call.as_bytes())).await;
    assert!(String::from_utf8(web_socket.frame().await.2).expect("bytes should be UTF-8").contains("Hello, Ada!"));
    let mut grpc = tonic::client::Grpc::new(
        tonic::transport::Channel::from_shared(format!("http://{}", server.address))
            .expect("address should be valid")
            .connect()
            .await
            .expect("server should accept the connection"),
    );
    grpc.ready().await.expect("connection should be open");
    let mut request = tonic::Request::new(Name { name: "Ada".to_owned() });
    request.metadata_mut().insert("grpc-timeout", "99999999H".parse().expect("metadata value should be valid"));
    let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Greet");
    let codec = tonic_prost::ProstCodec::<Name, samples::greet::Greeting>::default();
    grpc.unary(request, path, codec).await.expect("call should succeed");
    let channel = Channel::builder().timeout(Duration::MAX).reconnect_timeout(Duration::MAX);
    let client =
        GreeterClient::new(channel.connect(&*server.address).await.expect("server should accept the connection"));
    let mut request = Request::new(Name { name: "Ada".to_owned() });
    request.set_timeout(Duration::MAX);
    assert_eq!(client.greet(request).await.expect("call should succeed").get_ref().text, "Hello, Ada!");
}

#[tokio::test]
async fn http_connection_beyond_memory_is_closed() {
    const CALL: &str = "POST /interop.Interop/Add HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        content-length: 2\r\n\r\n{}";
    // A single client may use three quarters of this memory, 24 KiB. That is enough for one HTTP/1.1 connection, which
    // is charged 16 KiB.
    let gateway = Gateway::new().http(Http::new().connect());
    let server = server(gateway, |builder| builder.connection_memory_max(32 * 1024));
    let mut first = Client::new(&server);
    first.say(CALL).await;
    assert_eq!(first.line().await, "HTTP/1.1 200 OK\r");
    let mut second = Client::new(&server);
    second.say(CALL).await;
    assert_eq!(second.line().await, "");
    assert_eq!(server.stats().rejected(), 1);
    drop(first);
    until("the memory is released", || server.stats().connection_memory_held() == 0).await;
    let mut third = Client::new(&server);
    third.say(CALL).await;
    assert_eq!(third.line().await, "HTTP/1.1 200 OK\r");
}
