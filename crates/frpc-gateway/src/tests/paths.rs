//! Comparison of the two implementations of HTTP/1.1: the fast path and hyper.

use super::connections::{Host, dial};
use frpc::{Acceptor, Config, Server};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::greet::GreeterServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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

const BODIES: [&str; 7] = [
    r#"{"name":"Ada"}"#,
    r#"{"name":"and a long greeting: long"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["Ada"]}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":["long"]},{"id":2}]"#,
    r#"{"jsonrpc":"2.0","method":"greet.Greeter/Greet","params":[]}"#,
    r#"{"nmae":"#,
    "",
];

const FIELDS: [&str; 9] = [
    "",
    "accept-encoding: gzip\r\n",
    "origin: https://a.example\r\naccept-encoding: gzip\r\n",
    "origin: https://a.example\r\naccess-control-request-method: POST\r\n",
    "origin: https://b.example\r\n",
    "connect-timeout-ms: ten\r\n",
    "connect-protocol-version: 2\r\n",
    "authorization: a\tb\r\n",
    "content-encoding: identity\r\n",
];

/// Sends a request on a new connection and returns the lines of the response, sorted and without the field `date`. The
/// field `connection` becomes one line per option.
async fn exchange(server: &Acceptor, request: &str) -> Vec<String> {
    let mut io = dial(server);
    io.write_all(request.as_bytes()).await.expect("server should accept the request");
    let mut response = Vec::new();
    io.read_to_end(&mut response).await.expect("connection should close cleanly");
    let response = String::from_utf8_lossy(&response);
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
            // The fast path does not handle the option `te`, so hyper serves the second request.
            let [fast, hyper] = ["close", "close, te"].map(|options| {
                format!(
                    "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: {options}\r\n{fields}\
                     content-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                )
            });
            assert_eq!(exchange(&server, &fast).await, exchange(&server, &hyper).await, "{fast}");
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
