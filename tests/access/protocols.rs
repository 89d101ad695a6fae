//! Tests every path to a handler or a mounted router, for a permitted caller, a denied caller and an unknown one.

use super::support::{METHODS, TIMEOUT, access, by, code, code_of_stream};
use frisbee::{Handlers, Operation};
use frisbee_pubsub::{Broker, Client, ClientRouter, OPERATIONS};
use frisbee_tests::interop::{AddRequest, Count, Empty, InteropClient, InteropServer, Range, Text};
use frisbee_tests::raw::{Raw, error_text, packet};
use frisbee_tests::serve;
use frisbee_tests::service::Service;
use frpc::{Channel, Code, Connection, Request, Response, ResponseStream, Server, Status};
use frpc_access::{Access, Principal, Proof, Who};
use frpc_gateway::{Gateway, Http, ServeGateway as _, web_socket};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tonic::client::Grpc;
use tonic_prost::ProstCodec;

/// Operations of two mounted routers: one that echoes, and one that no caller may use.
const ECHO: u16 = 2000;
const CLOSED: u16 = 3000;

/// A service that counts its calls.
#[derive(Clone, Default)]
pub(super) struct Host {
    pub(super) calls: Arc<AtomicUsize>,
}

impl Greeter for Host {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let name = Principal::of_request(&request).map(|principal| principal.name().to_owned());
        Ok(Response::new(Greeting { text: name.unwrap_or_default() }))
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(Greeting::default())]))))
    }
}

/// Returns rules that permit the clerk.
fn rules(methods: impl IntoIterator<Item = &'static str>) -> Access {
    let clerk = || Who::role("clerk");
    access().0.allow(methods, clerk()).allow_mounted(OPERATIONS, clerk()).allow_mounted(ECHO..=ECHO, clerk())
}

fn echo(operation: u16) -> Handlers {
    let operation = Operation::user(operation).expect("operation number should be in the user range");
    Handlers::new().on(operation, |_connection, packet| async { Some(packet) })
}

/// Starts a server with all protocols. If `signed_in` is not empty, native connections are signed in as this caller.
async fn open(signed_in: &str) -> SocketAddr {
    let principal = (!signed_in.is_empty()).then(|| Principal::new(signed_in, Proof::Other).with_role(signed_in));
    let gateway = Gateway::new().json_rpc().web_socket().http(Http::new().connect().grpc());
    let server = Server::builder()
        .add_service(InteropServer::new(Service))
        .access(rules(METHODS))
        .method_hand_off("interop.Interop/DoNothing")
        .mount(OPERATIONS, Broker::new())
        .mount(ECHO..=ECHO, echo(ECHO))
        .mount(CLOSED..=CLOSED, echo(CLOSED))
        .gateway(gateway)
        .on_connect(move |connection: &Connection| {
            if let Some(principal) = &principal {
                principal.sign_in(connection).expect("connection should have no principal yet");
            }
        });
    serve(server).await
}

/// Like [`open`], with a service that also supports gRPC messages.
async fn open_to_grpc() -> SocketAddr {
    let gateway = Gateway::new().http(Http::new().connect().grpc());
    let server = Server::builder().add_service(GreeterServer::new(Host::default())).gateway(gateway);
    serve(server.access(rules(["greet.Greeter/Greet", "greet.Greeter/Recite"]))).await
}

/// Makes the four kinds of calls and returns their codes.
async fn kinds(client: &InteropClient, token: &str) -> [Code; 4] {
    [
        code(client.add(by(token, AddRequest::default())).await),
        code_of_stream(client.count_up(by(token, Range { from: 0, count: 2 })).await).await,
        code(client.sum_up(by(token, frpc::iter([Count { value: 1 }]))).await),
        code_of_stream(client.chat(by(token, frpc::iter([Text::default()]))).await).await,
    ]
}

async fn hand_off(address: SocketAddr, token: &str) -> Code {
    let channel = Channel::connect(address.to_string()).await.expect("server should accept the connection");
    let (asking, handed) = channel.request_hand_off();
    let answered = code(InteropClient::new(asking).do_nothing(by(token, Empty {})).await);
    // The test only checks whether the handler was called, so the handler did not hand off the connection.
    assert!(handed.take().is_none());
    answered
}

/// Makes calls from a server to a client that has the same rules.
async fn backward(token: &str) -> [Code; 4] {
    let (sender, mut connections) = mpsc::unbounded_channel();
    let server = Server::builder().on_connect(move |connection: &Connection| drop(sender.send(connection.clone())));
    let address = serve(server).await.to_string();
    let agent = Channel::builder().add_service(InteropServer::new(Service)).access(rules(METHODS));
    let _agent = agent.connect(address).await.expect("server should accept the connection");
    let channel = Channel::from_connection(&connections.recv().await.expect("channel should stay open"));
    kinds(&InteropClient::new(channel), token).await
}

/// Returns the status and the body of the response to an HTTP/1.1 request.
async fn http(address: SocketAddr, path: &str, token: &str, body: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let bearer = if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{bearer}connection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.expect("write should succeed");
    let mut answer = String::new();
    let reading = socket.read_to_string(&mut answer);
    tokio::time::timeout(TIMEOUT, reading)
        .await
        .expect("read should complete within the timeout")
        .expect("response should be UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("response should have a head");
    (head[9..12].parse().expect("text should be a number"), body.to_owned())
}

fn of_http((status, body): (u16, String)) -> Code {
    match (status, body) {
        (200, _) => Code::Ok,
        (401, body) if body.contains("unauthenticated") => Code::Unauthenticated,
        (403, body) if body.contains("permission_denied") => Code::PermissionDenied,
        other => panic!("{other:?}"),
    }
}

fn of_json_rpc(reply: &str) -> Code {
    let reply: serde_json::Value = serde_json::from_str(reply).unwrap_or_else(|error| panic!("{error}: {reply}"));
    match reply["error"]["code"].as_i64() {
        None => Code::Ok,
        Some(code) => Code::from_i32(i32::try_from(-32_000 - code).expect("value should fit i32")),
    }
}

fn json_rpc(method: &str, token: &str) -> String {
    let metadata = if token.is_empty() { String::new() } else { format!(r#""authorization":"Bearer {token}""#) };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}},"metadata":{{{metadata}}}}}"#)
}

/// Makes a JSON-RPC call over TCP. The last line of the reply follows the items of a stream. Returns the code in this
/// line.
async fn json_rpc_tcp(address: SocketAddr, method: &str, token: &str) -> Code {
    let mut socket = BufReader::new(TcpStream::connect(address).await.expect("server should accept the connection"));
    socket.write_all(json_rpc(method, token).as_bytes()).await.expect("write should succeed");
    loop {
        let mut line = String::new();
        let reading = socket.read_line(&mut line);
        tokio::time::timeout(TIMEOUT, reading)
            .await
            .expect("read should complete within the timeout")
            .expect("response should be UTF-8");
        if !line.contains("rpc.item") {
            return of_json_rpc(&line);
        }
    }
}

async fn grpc(address: SocketAddr, token: &str) -> [Code; 2] {
    let channel = tonic::transport::Channel::from_shared(format!("http://{address}")).expect("address should be valid");
    let mut client = Grpc::new(channel.connect().await.expect("server should accept the connection"));
    let request = || {
        let mut request = tonic::Request::new(Name::default());
        if !token.is_empty() {
            request
                .metadata_mut()
                .insert("authorization", format!("Bearer {token}").parse().expect("metadata value should be valid"));
        }
        request
    };
    let path = |path: &'static str| http::uri::PathAndQuery::from_static(path);
    client.ready().await.expect("connection should be open");
    let unary: Result<tonic::Response<Greeting>, _> =
        client.unary(request(), path("/greet.Greeter/Greet"), ProstCodec::default()).await;
    client.ready().await.expect("connection should be open");
    let codec = ProstCodec::<Name, Greeting>::default();
    let streaming = match client.server_streaming(request(), path("/greet.Greeter/Recite"), codec).await {
        Ok(verses) => verses.into_inner().message().await.map(|_| ()),
        Err(status) => Err(status),
    };
    let code = |answer: Result<(), tonic::Status>| {
        answer.map_or_else(|status| Code::from_i32(status.code() as i32), |()| Code::Ok)
    };
    [code(unary.map(|_| ())), code(streaming)]
}

/// Makes a gRPC-Web call over HTTP/1.1 with an empty message. Its status is in the trailers at the end of the body.
async fn grpc_web(address: SocketAddr, method: &str, token: &str) -> Code {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let bearer = if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
    let request = format!(
        "POST /{method} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web+proto\r\n\
         {bearer}connection: close\r\ncontent-length: 5\r\n\r\n\0\0\0\0\0"
    );
    socket.write_all(request.as_bytes()).await.expect("write should succeed");
    let mut answer = Vec::new();
    let reading = socket.read_to_end(&mut answer);
    tokio::time::timeout(TIMEOUT, reading)
        .await
        .expect("read should complete within the timeout")
        .expect("response should be complete");
    let answer = String::from_utf8_lossy(&answer);
    let (_, status) =
        answer.rsplit_once("grpc-status:").unwrap_or_else(|| panic!("response should have a status: {answer}"));
    let digits: String = status.trim_start().chars().take_while(char::is_ascii_digit).collect();
    Code::from_i32(digits.parse().expect("text should be a number"))
}

/// Sends a packet to a mounted router, which echoes or rejects it, and returns the code of the reply.
async fn mounted(address: SocketAddr, operation: u16) -> Code {
    let mut peer = Raw::connect(address).await;
    peer.write(&packet(7, operation, b"anybody")).await;
    let reply = peer.next().await.expect("connection should stay open");
    if reply.body == "anybody" {
        return Code::Ok;
    }
    match error_text(&reply.body).expect("reply should be a rejection") {
        text if text.contains("requires authentication") => Code::Unauthenticated,
        text if text.contains("is not permitted") => Code::PermissionDenied,
        text => panic!("{text}"),
    }
}

/// Subscribes and publishes. Returns whether the subscriber received its own message.
async fn topics(address: SocketAddr) -> bool {
    let client = Client::connect(address).await.expect("server should accept the connection");
    let subscribing = tokio::time::timeout(TIMEOUT, client.subscribe("news"))
        .await
        .expect("subscription should be accepted within the timeout");
    let Ok(mut subscription) = subscribing else { return false };
    client.publish("news", "today").await.expect("broker should accept the message");
    let message =
        tokio::time::timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout");
    message.is_ok_and(|message| message.payload() == "today")
}

/// Like [`topics`], on the connection of a channel. Also returns the code of a call without a token.
async fn channel_with_topics(address: SocketAddr) -> (bool, Code) {
    let router = ClientRouter::new();
    let client = router.client();
    let channel = Channel::builder()
        .mount(OPERATIONS, router)
        .connect(address.to_string())
        .await
        .expect("server should accept the connection");
    let called = code(InteropClient::new(channel.clone()).add(AddRequest::default()).await);
    let subscribed = tokio::time::timeout(TIMEOUT, client.subscribe("news"))
        .await
        .expect("subscription should be accepted within the timeout");
    (subscribed.is_ok(), called)
}

/// Makes a call in each protocol with the same token, and returns the codes by protocol.
async fn walk([address, with_grpc]: [SocketAddr; 2], token: &str) -> BTreeMap<&'static str, Code> {
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    let connector = move || async move { web_socket::connect(&format!("ws://{address}/")).await };
    let over_web_socket =
        Channel::builder().connect_with_connector(connector).await.expect("connector should return a connection");
    let over_web_socket = InteropClient::new(over_web_socket);
    let mut codes = BTreeMap::new();
    let names = ["unary", "server streaming", "client streaming", "both streaming"];
    codes.extend(names.into_iter().zip(kinds(&client, token).await));
    let names = ["web socket unary", "web socket down", "web socket up", "web socket both"];
    codes.extend(names.into_iter().zip(kinds(&over_web_socket, token).await));
    let names = ["backward unary", "backward down", "backward up", "backward both"];
    codes.extend(names.into_iter().zip(backward(token).await));
    codes.insert("hand-off", hand_off(address, token).await);
    codes.insert("connect", of_http(http(address, "/interop.Interop/Add", token, "{}").await));
    codes.insert("json-rpc by tcp", json_rpc_tcp(address, "interop.Interop/Add", token).await);
    codes.insert("json-rpc stream", json_rpc_tcp(address, "interop.Interop/CountUp", token).await);
    let request = json_rpc("interop.Interop/Add", token);
    codes.insert("json-rpc by post", of_json_rpc(&http(address, "/", token, &request).await.1));
    codes.extend(["grpc unary", "grpc stream"].into_iter().zip(grpc(with_grpc, token).await));
    codes.insert("grpc-web unary", grpc_web(with_grpc, "greet.Greeter/Greet", token).await);
    codes.insert("grpc-web stream", grpc_web(with_grpc, "greet.Greeter/Recite", token).await);
    codes
}

/// Returns the protocols in which the code differs from the expected one.
fn others(codes: &BTreeMap<&'static str, Code>, expected: Code) -> Vec<String> {
    let others = codes.iter().filter(|(_, code)| **code != expected);
    others.map(|(protocol, code)| format!("{protocol}: {code:?}")).collect()
}

#[tokio::test]
async fn access_rule_holds_in_every_protocol() {
    let addresses = [open("").await, open_to_grpc().await];
    for (token, expected) in [
        ("clerk", Code::Ok),
        ("guest", Code::PermissionDenied),
        ("", Code::Unauthenticated),
        ("forged", Code::Unauthenticated),
    ] {
        let codes = walk(addresses, token).await;
        assert_eq!(codes.len(), 21);
        let found = others(&codes, expected);
        assert!(found.is_empty(), "{token}: {found:?}");
    }
}

#[tokio::test]
async fn access_rule_covers_mounted_routers_and_topics() {
    for (signed_in, expected) in [("clerk", Code::Ok), ("guest", Code::PermissionDenied), ("", Code::Unauthenticated)] {
        let address = open(signed_in).await;
        let may = expected == Code::Ok;
        assert_eq!(mounted(address, ECHO).await, expected, "{signed_in}");
        assert_eq!(topics(address).await, may, "{signed_in}");
        assert_eq!(channel_with_topics(address).await, (may, expected), "{signed_in}");
        let closed = if may { Code::PermissionDenied } else { expected };
        assert_eq!(mounted(address, CLOSED).await, closed, "router without a rule should be closed to {signed_in}");
    }
}

#[tokio::test]
async fn method_without_rule_is_denied_to_everyone() {
    let (access, _) = access();
    let access = access.allow(["interop.Interop/Add"], Who::anybody());
    let address = serve(Server::builder().add_service(InteropServer::new(Service)).access(access)).await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    assert_eq!(code(client.add(AddRequest::default()).await), Code::Ok);
    assert_eq!(code(client.do_nothing(Empty {}).await), Code::Unauthenticated);
    assert_eq!(code(client.do_nothing(by("clerk", Empty {})).await), Code::PermissionDenied);
    assert_eq!(code(client.add(by("forged", AddRequest::default())).await), Code::Unauthenticated);
}

#[tokio::test]
async fn awaited_stream_opening_reports_rejection() {
    let address = open("").await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    for (token, expected) in [("", Code::Unauthenticated), ("guest", Code::PermissionDenied)] {
        let counts = client.count_up(by(token, Range { from: 0, count: 2 })).await.expect("stream should open");
        let mut counts = counts.into_inner();
        assert_eq!(code(counts.opened().await), expected);
        assert_eq!(counts.message().await.expect("stream should not fail"), None);
    }
    let mut counts =
        client.count_up(by("clerk", Range { from: 5, count: 3 })).await.expect("stream should open").into_inner();
    counts.opened().await.expect("stream should be accepted");
    counts.opened().await.expect("connection should be open");
    let mut last = Count::default();
    let first = counts.message().await.expect("stream should not fail").expect("no message should be lost");
    assert!(counts.message_over(&mut last).await.expect("stream should continue"));
    assert_eq!((first.value, last.value), (5, 6));
    let mut over =
        client.count_up(by("clerk", Range { from: 5, count: 1 })).await.expect("stream should open").into_inner();
    over.opened().await.expect("stream should be accepted");
    assert!(over.message_over(&mut last).await.expect("stream should continue"));
    assert_eq!(last.value, 5);
    assert!(!over.message_over(&mut last).await.expect("stream should end regularly"));
    let mut none =
        client.count_up(by("clerk", Range { from: 5, count: 0 })).await.expect("stream should open").into_inner();
    none.opened().await.expect("empty stream should not fail");
    assert_eq!(none.message().await.expect("stream should not fail"), None);
}

#[tokio::test]
async fn rule_for_unknown_method_fails_binding() {
    let access = Access::new().allow(["interop.Interop/Ad"], Who::anybody());
    let server = Server::builder().add_service(InteropServer::new(Service)).access(access);
    let error = server.bind("127.0.0.1:0").await.expect_err("bind should fail");
    assert!(error.to_string().contains("interop.Interop/Ad"), "{error}");
}

#[tokio::test]
async fn rejections_do_not_reveal_rules() {
    let address = open("").await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    for (token, part) in [
        ("", "requires authentication: a bearer token in the metadata `authorization`"),
        ("guest", "interop.Interop/Add is not permitted: ask the operator of the server for access"),
        ("forged", "the token is not accepted: get a new one"),
        ("clerk.0", "the token has expired: get a new one"),
    ] {
        let status = client.add(by(token, AddRequest::default())).await.expect_err("call should fail");
        assert!(status.message().contains(part), "{status}");
        assert!(!status.message().contains("clerk") && !status.message().contains("secret"), "{status}");
        let stream = match client.count_up(by(token, Range::default())).await {
            Ok(counts) => counts.into_inner().message().await.expect_err("stream should fail"),
            Err(status) => status,
        };
        for status in [status, stream] {
            assert!(!status.may_have_run(), "{status}");
        }
    }
}

#[tokio::test]
async fn handlers_see_principal_of_call() {
    let address = open_to_grpc().await;
    let (_, body) = http(address, "/greet.Greeter/Greet", "clerk", "{}").await;
    assert!(body.contains("\"clerk\""), "{body}");
}
