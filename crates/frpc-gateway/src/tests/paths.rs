//! Comparison of the two implementations of HTTP/1.1: the fast path and hyper.

use super::connections::{Host, dial};
use frpc::{Acceptor, Config, Server};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::greet::GreeterServer;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep};

const METHODS: [&str; 5] = ["GET", "HEAD", "OPTIONS", "POST", "FOO"];

/// Paths of calls. They are requested by POST with each content type and body, and by all methods without a body.
const CALLED: [&str; 3] = ["/", "/greet.Greeter/Greet", "/greet.Greeter/Recite"];

/// Paths that are only requested without a body.
const OTHERS: [&str; 5] =
    ["/healthz", "/debug/frpc", "/greet.Greeter/Greet?encoding=json&message=%7B%7D", "/greet.Greeter/None", "/none"];

const TYPES: [&str; 6] = [
    "application/json",
    "application/proto",
    "application/connect+json",
    "application/grpc",
    "application/grpc-web+json",
    "text/plain",
];

const BODIES: [&str; 14] = [
    r#"{"name":"Ada"}"#,
    r#"{"name":"and a long greeting: long"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["Ada"]}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["long"]},{"id":2}]"#,
    r#"{"jsonrpc":"2.0","method":"greet.Greeter/Greet","params":[]}"#,
    r#"{"nmae":"#,
    "",
    "\0\0\0\0\u{e}{\"name\":\"Ada\"}",
    "\0\0\0\0\u{f}{\"name\":\"long\"}",
    "\0\0\0\0\u{f}{\"name\":\"lost\"}",
    "\0\0\0\0\u{11}{\"name\":\"marked\"}",
    "\0\0\0\0\u{2}{}\0\0\0\0\u{2}{}",
    "\0\0\0\0\u{f}{\"name\":\"Ada\"}",
    "\u{1}\0\0\0\u{e}{\"name\":\"Ada\"}",
];

const FIELDS: [&str; 12] = [
    "",
    "accept-encoding: gzip\r\n",
    "origin: https://a.example\r\naccept-encoding: gzip\r\n",
    "origin: https://a.example\r\naccess-control-request-method: POST\r\n",
    "origin: https://b.example\r\n",
    "connect-timeout-ms: ten\r\n",
    "connect-protocol-version: 2\r\n",
    "authorization: a\tb\r\n",
    "grpc-timeout: 1x\r\n",
    "grpc-encoding: br\r\n",
    "grpc-accept-encoding: gzip\r\n",
    "content-encoding: identity\r\n",
];

/// Values of `connection` that select the fast path and hyper. The fast path does not handle `te`.
const PATHS: [&str; 2] = ["close", "close, te"];

fn request((method, path): (&str, &str), options: &str, fields: &str, kind: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: {options}\r\n{fields}content-type: {kind}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Encodes a call of `Greet` as a body of this content type.
fn greet(kind: &str, name: &str) -> String {
    let message = format!("{{\"name\":\"{name}\"}}");
    let [high, low] = u16::try_from(message.len()).expect("message should be short").to_be_bytes().map(char::from);
    assert!(low.is_ascii(), "the length should be valid UTF-8: {}", message.len());
    if kind == "application/json" { message } else { format!("\0\0\0{high}{low}{message}") }
}

/// Sends a request on a new connection and returns the lines of the response, sorted and without the field `date`. The
/// field `connection` becomes one line per option. A chunked body is decoded.
async fn exchange(server: &Acceptor, request: &str) -> Vec<String> {
    let mut io = dial(server);
    io.write_all(request.as_bytes()).await.expect("server should accept the request");
    let mut response = Vec::new();
    io.read_to_end(&mut response).await.expect("connection should close cleanly");
    let response = String::from_utf8_lossy(&decoded(response)).into_owned();
    let mut lines = Vec::new();
    for line in response.split("\r\n").filter(|line| !line.starts_with("date: ")) {
        match line.strip_prefix("connection: ") {
            Some(options) => lines.extend(options.split(", ").map(|option| format!("connection: {option}"))),
            None => lines.push(line.to_owned()),
        }
    }
    lines.sort_unstable();
    lines
}

/// Decodes the body of a chunked response, and replaces the field by the length.
fn decoded(response: Vec<u8>) -> Vec<u8> {
    const CHUNKED: &[u8] = b"transfer-encoding: chunked\r\n";
    let find = |text: &[u8], from: usize| Some(from + memchr::memmem::find(&response[from..], text)?);
    let (Some(field), Some(head)) = (find(CHUNKED, 0), find(b"\r\n\r\n", 0)) else { return response };
    let (mut body, mut at) = (Vec::new(), head + 4);
    while let Some(line) = find(b"\r\n", at) {
        let length = std::str::from_utf8(&response[at..line]).expect("chunk length should be text");
        let start = line + 2;
        let end = start + usize::from_str_radix(length, 16).expect("chunk length should be hexadecimal");
        body.extend_from_slice(&response[start..end]);
        at = end + 2;
    }
    let length = format!("content-length: {}\r\n", body.len());
    [&response[..field], length.as_bytes(), &response[field + CHUNKED.len()..head + 4], &body].concat()
}

/// Regression test: with hyper, responses with status 426 lacked the option `upgrade`, and all responses of calls had
/// the field `vary`, although those to POST are not cacheable.
#[tokio::test(start_paused = true)]
async fn fast_path_and_hyper_send_equal_responses() {
    let http = Http::new().connect().grpc().health().debug(|| "{}".to_owned()).origin("https://a.example").cors();
    let server = Server::builder()
        .add_service(GreeterServer::new(Host::served().0))
        .config(Config::default().abuse_rate(u32::MAX))
        .gateway(Gateway::new().json_rpc().http(http).web_socket())
        .build()
        .expect("server settings should be valid");
    let mut requests = Vec::new();
    for path in CALLED {
        let of_body = |body| TYPES.map(|kind| ("POST", path, kind, body));
        requests.extend(BODIES.iter().flat_map(|body| of_body(*body)));
    }
    for path in CALLED.into_iter().chain(OTHERS) {
        requests.extend(METHODS.map(|method| (method, path, "", "")));
    }
    for (method, path, kind, body) in requests {
        for fields in FIELDS {
            let [fast, hyper] = PATHS.map(|options| request((method, path), options, fields, kind, body));
            assert_eq!(exchange(&server, &fast).await, exchange(&server, &hyper).await, "{fast}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_get_equal_responses() {
    let (host, server) = Host::in_memory();
    let call = ("POST", "/greet.Greeter/Greet");
    for kind in ["application/json", "application/grpc-web+json"] {
        for name in ["wait", "wait long", "wait marked", "wait lost"] {
            for fields in ["", "accept-encoding: gzip\r\n", "grpc-accept-encoding: gzip\r\n"] {
                let [fast, hyper] = PATHS.map(|options| async {
                    let request = request(call, options, fields, kind, &greet(kind, name));
                    let release = async {
                        host.begins().await;
                        host.released.add_permits(1);
                    };
                    tokio::join!(exchange(&server, &request), release).0
                });
                assert_eq!(fast.await, hyper.await, "{kind} {name} {fields}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn longest_message_is_accepted_and_longer_one_refused() {
    const MAX: usize = 0x810;
    let (_host, server) = Host::served();
    let config = Config::default().body_max(u32::try_from(MAX).expect("limit should be small"));
    let server = server.config(config).build().expect("server settings should be valid");
    for kind in ["application/json", "application/grpc-web+json"] {
        for (length, is_accepted) in [(MAX, true), (MAX + 1, false)] {
            let name = "x".repeat(length - "{\"name\":\"\"}".len());
            let body = greet(kind, &name);
            let [fast, hyper] =
                PATHS.map(|options| request(("POST", "/greet.Greeter/Greet"), options, "", kind, &body));
            let (fast, hyper) = (exchange(&server, &fast).await, exchange(&server, &hyper).await);
            assert_eq!(fast, hyper, "{kind} {length}");
            assert_eq!(fast.iter().any(|line| line.contains("Hello, x")), is_accepted, "{kind} {length}: {fast:?}");
        }
    }
}

/// Regression test: the fast path took the next request as a part of the longest message.
#[tokio::test]
async fn request_after_longest_message_is_answered() {
    const MAX: usize = 0x810;
    let config = Config::default().body_max(u32::try_from(MAX).expect("limit should be small"));
    let server = Host::served().1.config(config).build().expect("server settings should be valid");
    let kind = "application/grpc-web+json";
    let longest = greet(kind, &"x".repeat(MAX - "{\"name\":\"\"}".len()));
    let requests = [("keep-alive", longest), ("close", greet(kind, "Ada"))]
        .map(|(options, body)| request(("POST", "/greet.Greeter/Greet"), options, "", kind, &body));
    let responses = exchange(&server, &requests.concat()).await;
    for greeting in ["Hello, x", "Hello, Ada"] {
        assert!(responses.iter().any(|line| line.contains(greeting)), "{greeting}: {responses:?}");
    }
}

/// Regression test: the timeout of a Connect call began when its body was complete.
#[tokio::test(start_paused = true)]
async fn timeout_covers_receiving_of_body() {
    let (_host, server) = Host::in_memory();
    for options in PATHS {
        for (kind, fields) in [
            ("application/json", "connect-timeout-ms: 1000\r\n"),
            ("application/grpc-web+json", "grpc-timeout: 1S\r\n"),
        ] {
            let request = request(("POST", "/greet.Greeter/Greet"), options, fields, kind, &greet(kind, "wait"));
            let (begin, end) = request.split_at(request.len() - 1);
            for end in [Some(end), None] {
                let began = Instant::now();
                let mut io = dial(&server);
                io.write_all(begin.as_bytes()).await.expect("server should accept the request");
                sleep(Duration::from_millis(900)).await;
                if let Some(end) = end {
                    io.write_all(end.as_bytes()).await.expect("server should accept the request");
                }
                let mut response = Vec::new();
                io.read_to_end(&mut response).await.expect("connection should close cleanly");
                let (elapsed, response) = (began.elapsed().as_millis(), String::from_utf8_lossy(&response));
                assert!((1000..1100).contains(&elapsed), "{elapsed} ms: {response}");
                let is_late = response.contains(" 504 ") || response.contains("grpc-status: 4");
                assert!(is_late, "{options} {kind} {end:?}: {response}");
            }
        }
    }
}

/// Regression test: `/debug/frpc` rejected HEAD, and its responses with status 405 did not allow HEAD.
#[tokio::test(start_paused = true)]
async fn page_supports_head_and_allows_it() {
    let http = Http::new().debug(|| "{\"servers\":[]}".to_owned());
    let server = Server::builder().gateway(Gateway::new().http(http)).build().expect("server settings should be valid");
    for (method, expected) in [
        ("HEAD", ["HTTP/1.1 200 OK", "content-length: 14"]),
        ("PUT", ["HTTP/1.1 405 Method Not Allowed", "allow: GET, HEAD"]),
    ] {
        let request = format!("{method} /debug/frpc HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let lines = exchange(&server, &request).await;
        assert!(expected.iter().all(|line| lines.iter().any(|other| other == line)), "{method}: {lines:?}");
    }
}
