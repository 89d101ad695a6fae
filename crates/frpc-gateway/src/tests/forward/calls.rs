//! Tests that metadata, details, deadlines and cancellation are forwarded.

use super::support::{Host, exchange, exchange_as_another, front, greet, greeter, post, serve, soon, to_native};
use frpc::details::ErrorInfo;
use frpc::{Channel, Config, Request, Server, Status};
use frpc_gateway::{Forward, ForwardFields, Gateway, Http, ServeGateway as _};
use samples::greet::{GreeterClient, GreeterServer, Name};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

/// Enveloped requests of `Recite` for the names `wait` and `Eve`.
const RECITE_WAIT: &[u8] = b"\0\0\0\0\x0f{\"name\":\"wait\"}";
const RECITE: &[u8] = b"\0\0\0\0\x0e{\"name\":\"Eve\"}";

/// Returns the address of a gateway, and two receivers of events of its backend: a handler has begun, and a handler
/// was dropped.
async fn gateway() -> (String, UnboundedReceiver<()>, UnboundedReceiver<()>) {
    let (host, begins, drops) = Host::new();
    let backend = serve(Server::builder().add_service(GreeterServer::new(host))).await;
    (front(greeter(&to_native(&backend))).await, begins, drops)
}

#[tokio::test]
async fn metadata_and_details_pass_in_both_directions() {
    let (address, ..) = gateway().await;
    let response = exchange(&address, greet("tenant: blue\r\n", "Ada")).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with(r#"{"text":"Hello, Ada!"}"#), "{response}");
    assert!(response.contains("tenant: blue\r\n"), "{response}");
    let failed = exchange(&address, greet("", "")).await;
    assert!(failed.contains(r#""code":"invalid_argument","message":"the name is empty","details":["#), "{failed}");
    let client = GreeterClient::new(Channel::connect(address).await.expect("gateway should accept the connection"));
    let status: Status = client.greet(Name::default()).await.expect_err("call with an empty name should fail");
    assert_eq!(status.detail::<ErrorInfo>().map(|info| info.reason), Some("EMPTY".to_owned()));
}

/// Names of the header fields that the backend reports in its greeting.
pub(crate) const FIELDS: [&str; 10] = [
    "forwarded",
    "proxy-authorization",
    "tenant",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-gateway",
    "x-hop",
    "x-real-ip",
    "x-secret",
    "x-subject",
];

/// Calls a backend that reports its header fields, and checks the fields with default settings, with custom ones, and
/// with a trusted caller.
pub(crate) async fn expect_own_fields(forward: Forward) {
    let claims = "connection: x-hop\r\nx-hop: 1\r\nproxy-authorization: Basic abc\r\nx-forwarded-for: 192.0.2.1\r\n\
                  x-forwarded-proto: https\r\nforwarded: for=192.0.2.1\r\nx-real-ip: 192.0.2.1\r\nx-subject: root\r\n\
                  x-secret: 1\r\nx-gateway: south\r\ntenant: blue\r\n";
    let settings = || {
        let subject = |request: &Request<()>| request.metadata().get("tenant").map(|tenant| format!("{tenant}-user"));
        let fields = ForwardFields::new().set("X-Gateway", "north")?.remove("x-secret");
        fields.subject("x-subject", subject)?.set_in_replies("x-served", "here")
    };
    let replies = settings().expect("fields should be valid").remove_from_replies("tenant");
    let trusting = replies.clone().trust("127.0.0.0".parse().expect("network address should be valid"), 8);
    for (fields, expected) in [
        (
            ForwardFields::new(),
            "tenant=blue|x-forwarded-for=127.0.0.1|x-forwarded-proto=http|x-gateway=south|x-secret=1|x-subject=root",
        ),
        (replies, "tenant=blue|x-forwarded-for=127.0.0.1|x-forwarded-proto=http|x-gateway=north|x-subject=blue-user"),
        (
            trusting,
            "forwarded=for=192.0.2.1, for=127.0.0.1;proto=http|tenant=blue|x-forwarded-for=192.0.2.1, 127.0.0.1|\
             x-forwarded-proto=https|x-gateway=north|x-real-ip=192.0.2.1|x-subject=blue-user",
        ),
    ] {
        let is_default = format!("{fields:?}") == format!("{:?}", ForwardFields::new());
        let address = front(greeter(&forward.clone().fields(fields))).await;
        // The fast path does not handle `Expect: 100-continue`, so hyper serves the second request.
        for way in ["", "expect: 100-continue\r\n"] {
            let response = exchange(&address, greet(&format!("{way}{claims}"), "fields")).await;
            assert!(response.ends_with(&format!("{{\"text\":\"{expected}\"}}")), "{response}\n{expected}");
            assert_eq!(response.contains("tenant: blue\r\n"), is_default, "{response}");
            assert_eq!(response.contains("x-served: here\r\n"), !is_default, "{response}");
        }
        if is_default {
            // The same rules apply to metadata of native frames.
            let client =
                GreeterClient::new(Channel::connect(address).await.expect("gateway should accept the connection"));
            let mut request = Request::new(Name { name: "fields".to_owned() });
            for (name, value) in
                [("connection", "x-hop"), ("x-hop", "1"), ("x-real-ip", "192.0.2.1"), ("tenant", "red")]
            {
                request.metadata_mut().insert(name, value).expect("metadata entry should be valid");
            }
            let greeting = client.greet(request).await.expect("backend should reply").into_inner();
            assert_eq!(greeting.text, "tenant=red|x-forwarded-for=127.0.0.1|x-forwarded-proto=http");
        }
    }
}

/// Regression test: a backend received the caller's own fields about itself and hop-by-hop fields unchanged, but not
/// the caller's address.
#[tokio::test]
async fn gateway_replaces_caller_fields() {
    let (host, ..) = Host::new();
    let backend = serve(Server::builder().add_service(GreeterServer::new(host))).await;
    expect_own_fields(to_native(&backend)).await;
}

/// If a gateway applies its limits to the clients of a trusted proxy, backends still receive the forwarding fields of
/// the proxy.
#[tokio::test]
async fn fields_of_proxy_are_forwarded_for_its_clients() {
    let (host, ..) = Host::new();
    let backend = serve(Server::builder().add_service(GreeterServer::new(host))).await;
    let network = "127.0.0.0".parse().expect("network address should be valid");
    let service = greeter(&to_native(&backend).fields(ForwardFields::new().trust(network, 8)));
    let gateway = Gateway::new().http(Http::new().connect().trust(network, 8));
    let address = serve(Server::builder().add_service(service).gateway(gateway)).await;
    let fields = "x-forwarded-for: 192.0.2.1\r\nx-forwarded-proto: https\r\n";
    let response = exchange(&address, greet(fields, "fields")).await;
    let expected = r#"{"text":"x-forwarded-for=192.0.2.1, 127.0.0.1|x-forwarded-proto=https"}"#;
    assert!(response.ends_with(expected), "{response}");
}

#[tokio::test]
async fn deadline_of_caller_reaches_backend() {
    let (address, ..) = gateway().await;
    assert!(exchange(&address, greet("", "timeout")).await.ends_with(r#"{"text":"none"}"#));
    assert!(
        exchange(&address, greet("connect-timeout-ms: 30000\r\n", "timeout")).await.ends_with(r#"{"text":"some"}"#)
    );
    let late = exchange(&address, greet("connect-timeout-ms: 20\r\n", "wait")).await;
    assert!(late.contains("deadline_exceeded"), "{late}");
}

#[tokio::test]
async fn caller_disconnect_cancels_backend_call() {
    let (address, mut begins, mut drops) = gateway().await;
    let mut socket = TcpStream::connect(address).await.expect("gateway should accept the connection");
    socket.write_all(&greet("", "wait")).await.expect("gateway should accept the request");
    soon(&mut begins).await;
    drop(socket);
    soon(&mut drops).await;
}

/// Regression test: the waiting calls or the streams of one caller used up the limits of the backend, so that no other
/// caller was served.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_caller_cannot_exhaust_native_backend() {
    let (host, mut begins, _drops) = Host::new();
    let config = Config::default().calls_max(4).streams_max(4);
    let backend = serve(Server::builder().config(config).add_service(GreeterServer::new(host))).await;
    let address = front(greeter(&to_native(&backend))).await;
    // Make a call first, because the gateway learns the limits of the backend with the first reply.
    assert!(exchange(&address, greet("", "Ada")).await.ends_with(r#"{"text":"Hello, Ada!"}"#));
    soon(&mut begins).await;
    let waiting = [greet("", "wait"), post("/greet.Greeter/Recite", "application/connect+json", "", RECITE_WAIT)];
    let mut sockets = Vec::new();
    for request in &waiting {
        for _ in 0..2 {
            let mut socket = TcpStream::connect(&address).await.expect("gateway should accept the connection");
            socket.write_all(request).await.expect("gateway should accept the request");
            soon(&mut begins).await;
            sockets.push(socket);
        }
        let failed = exchange(&address, request).await;
        assert!(failed.contains("resource_exhausted") && failed.contains("has not run"), "{failed}");
    }
    let response = exchange_as_another(&address, greet("", "Eve")).await;
    assert!(response.ends_with(r#"{"text":"Hello, Eve!"}"#), "{response}");
    let recited =
        exchange_as_another(&address, post("/greet.Greeter/Recite", "application/connect+json", "", RECITE)).await;
    assert!(recited.contains("2 Eve"), "{recited}");
}

#[tokio::test]
async fn invalid_request_is_refused_by_gateway() {
    let (address, mut begins, _) = gateway().await;
    for (content_type, body) in
        [("application/json", &br#"{"nmae": "Ada"}"#[..]), ("application/proto", b"\x0a\x05Ada")]
    {
        let refused = exchange(&address, post("/greet.Greeter/Greet", content_type, "", body)).await;
        assert!(refused.contains("invalid_argument") && refused.contains("greet.Name"), "{refused}");
    }
    assert!(begins.try_recv().is_err(), "backend should not be called");
    let answered = exchange(&address, post("/greet.Greeter/Greet", "application/proto", "", b"\x0a\x03Ada")).await;
    assert!(answered.ends_with("\n\x0bHello, Ada!"), "{answered:?}");
}

#[tokio::test]
async fn unreachable_backend_is_unavailable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let backend = free.local_addr().expect("listener should have a local address").to_string();
    drop(free);
    let address = front(greeter(&to_native(&backend))).await;
    let failed = exchange(&address, greet("", "Ada")).await;
    assert!(failed.contains("unavailable") && failed.contains(&backend), "{failed}");
    let ready = exchange(&address, "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    assert!(ready.starts_with("HTTP/1.1 503 "), "{ready}");
}
