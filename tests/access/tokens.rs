//! Tests of tokens: how often the server verifies them, and when they expire.

use super::support::{access, by, code, code_of_stream};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Range, Text};
use frisbee_tests::raw::{Raw, error_text, packet};
use frisbee_tests::service::Service;
use frpc::details::RetryInfo;
use frpc::{Acceptor, Channel, Code, Config, Request, RequestStream, Response, ResponseStream};
use frpc::{Server, ServerBuilder, Status};
use frpc_access::{Access, Principal, Proof, Rate};
use frpc_access::{TokenError, Tokens, Who};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use futures_util::StreamExt as _;
use hyper_util::rt::TokioIo;
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::{Instant, advance};

const ADD: &str = "interop.Interop/Add";
const CHAT: &str = "interop.Interop/Chat";
const COUNT_UP: &str = "interop.Interop/CountUp";
const SUM_UP: &str = "interop.Interop/SumUp";

/// Returns an in-memory server, so that the result depends only on virtual time.
fn server(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Acceptor {
    let server = Server::builder().add_service(InteropServer::new(Service)).gateway(Gateway::new().json_rpc());
    settings(server).build().expect("settings should be valid")
}

async fn connect(server: &Acceptor) -> InteropClient {
    let (here, there) = frpc::memory();
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    InteropClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"))
}

async fn add(client: &InteropClient, token: &str) -> Code {
    code(client.add(by(token, AddRequest::default())).await)
}

#[tokio::test(start_paused = true)]
async fn token_is_verified_once_until_keys_change() {
    let (access, names) = access();
    let server = server(|server| server.access(access.allow([ADD], Who::role("clerk"))));
    let clients = [connect(&server).await, connect(&server).await];
    for generation in 0..3 {
        names.generation.store(generation, Ordering::SeqCst);
        names.verified.store(0, Ordering::SeqCst);
        for client in &clients {
            for _ in 0..10 {
                assert_eq!(add(client, "clerk").await, Code::Ok);
                assert_eq!(add(client, "guest").await, Code::PermissionDenied);
            }
        }
        assert_eq!(names.verified.load(Ordering::SeqCst), 2, "each of the two tokens should be verified once");
    }
}

#[tokio::test(start_paused = true)]
async fn token_verdict_is_not_shared_across_rules() {
    let base = access().0;
    let readers = server(|server| server.access(base.clone().allow([ADD], Who::role("guest"))));
    let admins = server(|server| server.access(base.clone().allow([ADD], Who::role("clerk"))));
    let (readers, admins) = (connect(&readers).await, connect(&admins).await);
    assert_eq!(add(&readers, "guest").await, Code::Ok);
    assert_eq!(add(&admins, "guest").await, Code::PermissionDenied);
    assert_eq!(add(&admins, "clerk").await, Code::Ok);
    assert_eq!(add(&readers, "clerk").await, Code::PermissionDenied);
}

#[tokio::test(start_paused = true)]
async fn cloned_rules_reject_foreign_issuer_token() {
    struct Nobody;

    impl Tokens for Nobody {
        fn verify(&self, _token: &str) -> Result<Principal, TokenError> {
            Err(TokenError::Refused("signed by another key".to_owned()))
        }
    }

    let rules = access().0.allow([ADD], Who::known());
    let accepting = server(|server| server.access(rules.clone()));
    let refusing = server(|server| server.access(rules.clone().tokens(Nobody)));
    assert_eq!(add(&connect(&accepting).await, "clerk").await, Code::Ok);
    assert_eq!(add(&connect(&refusing).await, "clerk").await, Code::Unauthenticated);
}

#[tokio::test(start_paused = true)]
async fn changed_rules_clone_has_own_rate_limits() {
    let rate = |calls| Rate::one_in(Duration::from_secs(60)).burst(calls);
    let base = access().0.allow([ADD], Who::known());
    let strict = server(|server| server.access(base.clone().limit(Who::known(), rate(1))));
    let lax = server(|server| server.access(base.clone().limit(Who::known(), rate(3))));
    let (strict, lax) = (connect(&strict).await, connect(&lax).await);
    assert_eq!([add(&strict, "clerk").await, add(&strict, "clerk").await], [Code::Ok, Code::ResourceExhausted]);
    for expected in [Code::Ok, Code::Ok, Code::Ok, Code::ResourceExhausted] {
        assert_eq!(add(&lax, "clerk").await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn expired_token_is_rejected_until_replaced() {
    let (access, names) = access();
    let server = server(|server| server.access(access.allow([ADD], Who::role("clerk"))));
    let client = connect(&server).await;
    assert_eq!(add(&client, "clerk.60").await, Code::Ok);
    advance(Duration::from_secs(59)).await;
    assert_eq!(add(&client, "clerk.60").await, Code::Ok);
    advance(Duration::from_secs(1)).await;
    assert_eq!(names.verified.load(Ordering::SeqCst), 1);
    names.is_expired.store(true, Ordering::SeqCst);
    assert_eq!(add(&client, "clerk.60").await, Code::Unauthenticated);
    assert_eq!(names.verified.load(Ordering::SeqCst), 2, "expired token should be verified again");
    names.is_expired.store(false, Ordering::SeqCst);
    assert_eq!(add(&client, "clerk.600").await, Code::Ok);
}

#[tokio::test(start_paused = true)]
async fn stream_ends_when_caller_token_expires() {
    let (access, _) = access();
    let server = server(|server| server.access(access.allow([CHAT, SUM_UP], Who::role("clerk"))));
    let client = connect(&server).await;
    let started = Instant::now();
    let (texts, requests) = RequestStream::channel(1);
    let mut answers = client.chat(by("clerk.60", requests)).await.expect("stream should open").into_inner();
    texts.send(Text { value: "a".to_owned() }).await.expect("message should be sent");
    assert_eq!(
        answers.message().await.expect("stream should not fail").map(|text| text.value).as_deref(),
        Some("re:a")
    );
    let status = answers.message().await.expect_err("stream should fail");
    assert_eq!(status.code(), Code::Unauthenticated, "{status}");
    assert!(status.message().contains("expired"), "{status}");
    assert_eq!(started.elapsed().as_secs(), 60);
    let (_open, requests) = RequestStream::channel(1);
    assert_eq!(code(client.sum_up(by("clerk.30", requests)).await), Code::Unauthenticated);
    assert_eq!(started.elapsed().as_secs(), 90);
}

/// Regression: the error was sent as a message without credit, so the reader only learned that messages were lost.
#[tokio::test(start_paused = true)]
async fn unread_stream_reports_token_expiry_code() {
    let (access, _) = access();
    let server = server(|server| server.access(access.allow([COUNT_UP], Who::role("clerk"))));
    let client = connect(&server).await;
    let range = Range { from: 0, count: i64::MAX };
    let mut counts = client.count_up(by("clerk.60", range)).await.expect("stream should open").into_inner();
    tokio::time::sleep(Duration::from_secs(61)).await;
    let status = loop {
        if let Err(status) = counts.message().await {
            break status;
        }
    };
    assert_eq!(status.code(), Code::Unauthenticated, "{status}");
    assert!(status.message().contains("expired"), "{status}");
}

#[tokio::test(start_paused = true)]
async fn gateway_stream_ends_when_token_expires() {
    let (access, _) = access();
    let server = server(|server| server.access(access.allow([CHAT, SUM_UP], Who::role("clerk"))));
    for (method, seconds) in [(CHAT, 60), (SUM_UP, 90)] {
        let started = Instant::now();
        let (mut here, there) = frpc::memory();
        let server = server.clone();
        tokio::spawn(async move { server.serve_connection(there).await });
        let metadata = format!(r#"{{"authorization":"Bearer clerk.{seconds}"}}"#);
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","metadata":{metadata}}}"#);
        here.write_all(call.as_bytes()).await.expect("write should succeed");
        let mut line = String::new();
        BufReader::new(here).read_line(&mut line).await.expect("line should be readable");
        assert!(line.contains("-32016") && line.contains("expired"), "{method}: {line}");
        assert_eq!(started.elapsed().as_secs(), seconds, "{method}");
    }
}

/// A service with a stream that sends one verse and never ends.
struct Endless;

impl Greeter for Endless {
    async fn greet(&self, _request: Request<Name>) -> Result<Response<Greeting>, Status> {
        Ok(Response::new(Greeting::default()))
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let verses = frpc::iter([Ok(Greeting::default())]).chain(futures_util::stream::pending());
        Ok(Response::new(ResponseStream::new(verses)))
    }
}

#[tokio::test(start_paused = true)]
async fn grpc_stream_ends_when_caller_token_expires() {
    let (access, _) = access();
    let access = access.allow(["greet.Greeter/Recite"], Who::role("clerk"));
    let gateway = Gateway::new().http(Http::new().grpc());
    let server = Server::builder().add_service(GreeterServer::new(Endless)).gateway(gateway).access(access);
    let server = server.build().expect("settings should be valid");
    let (here, there) = frpc::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let here = Mutex::new(Some(TokioIo::new(here)));
    let connector = tower::service_fn(move |_| {
        let here = here.lock().expect("lock should not be poisoned").take();
        async move { here.ok_or_else(|| std::io::Error::other("there is one connection")) }
    });
    let channel = tonic::transport::Endpoint::from_static("http://localhost").connect_with_connector(connector).await;
    let mut client = tonic::client::Grpc::new(channel.expect("channel should be connected"));
    client.ready().await.expect("connection should be open");
    let started = Instant::now();
    let mut request = tonic::Request::new(Name::default());
    request.metadata_mut().insert("authorization", "Bearer clerk.60".parse().expect("metadata value should be valid"));
    let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Recite");
    let codec = tonic_prost::ProstCodec::<Name, Greeting>::default();
    let mut verses = client.server_streaming(request, path, codec).await.expect("call should be admitted").into_inner();
    assert_eq!(verses.message().await.expect("stream should not fail"), Some(Greeting::default()));
    let status = verses.message().await.expect_err("stream should fail");
    assert_eq!(status.code(), tonic::Code::Unauthenticated, "{status}");
    assert!(status.message().contains("expired"), "{status}");
    assert_eq!(started.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn flood_of_invalid_tokens_costs_few_verifications() {
    let (access, names) = access();
    let server = server(|server| server.access(access.allow([ADD], Who::role("clerk"))));
    let client = connect(&server).await;
    assert_eq!(add(&client, "clerk").await, Code::Ok);
    for rounds in 1..=2 {
        for number in 0..1000 {
            assert_eq!(add(&client, &format!("forged{number}")).await, Code::Unauthenticated);
        }
        assert_eq!(add(&client, "clerk").await, Code::Ok, "token that was accepted before should be remembered");
        assert_eq!(add(&client, "guest").await, Code::Unauthenticated, "no further token should be verified");
        assert_eq!(names.verified.load(Ordering::SeqCst), 1 + rounds * 16);
        assert_eq!(add(&connect(&server).await, "clerk").await, Code::Ok, "other connections should not be affected");
        advance(Duration::from_secs(10)).await;
    }
    assert_eq!(add(&client, "guest").await, Code::PermissionDenied);
}

#[tokio::test(start_paused = true)]
async fn metadata_cannot_forge_principal() {
    let (access, _) = access();
    let server = server(|server| server.access(access.allow([ADD], Who::known())));
    let client = connect(&server).await;
    let mut request = by("", AddRequest::default());
    for key in ["principal", "role", "x-forwarded-client-cert", "x-forwarded-user", "x-spiffe-id", "cookie"] {
        request.metadata_mut().insert(key, "clerk").expect("metadata entry should be valid");
    }
    assert_eq!(code(client.add(request).await), Code::Unauthenticated);
    for value in ["clerk", "Basic clerk", "Bearer  ", "Bearer clerk, Bearer clerk", "Bearer clerk clerk", ""] {
        let mut request = by("", AddRequest::default());
        request.metadata_mut().insert("authorization", value).expect("metadata entry should be valid");
        assert_eq!(code(client.add(request).await), Code::Unauthenticated, "{value}");
    }
    let mut request = by("clerk", AddRequest::default());
    request.extensions_mut().insert(Principal::new("admin", Proof::Other));
    assert_eq!(code(client.add(request).await), Code::Ok, "call should succeed, because extensions are not sent");
}

#[tokio::test(start_paused = true)]
async fn calls_over_limit_are_refused_before_decoding() {
    let (access, _) = access();
    let access = access.allow([ADD], Who::anybody()).limit(Who::anybody(), Rate::one_in(Duration::from_secs(10)));
    let server = server(|server| server.access(access));
    let (here, there) = frpc::memory();
    tokio::spawn({
        let server = server.clone();
        async move { server.serve_connection(there).await }
    });
    let mut peer = Raw::over(here);
    let mut answer = async |id| {
        peer.write(&packet(id, 18, b"no message")).await;
        error_text(&peer.next().await.expect("connection should stay open").body).expect("reply should be an error")
    };
    assert!(!answer(1).await.contains("too many calls"), "first call should be within the limit");
    assert!(answer(2).await.contains("too many calls by this caller: try again in 10001 ms"));
    advance(Duration::from_millis(10_001)).await;
    assert!(!answer(3).await.contains("too many calls"), "call after the pause should be within the limit");
}

#[tokio::test(start_paused = true)]
async fn principal_limit_spans_connections_and_protocols() {
    let (access, _) = access();
    let access = access.allow([ADD, CHAT], Who::known()).limit(Who::role("clerk"), Rate::per_second(1).burst(3));
    let server = server(|server| server.access(access));
    let clients = [connect(&server).await, connect(&server).await];
    assert_eq!(add(&clients[0], "clerk").await, Code::Ok);
    assert_eq!(add(&clients[1], "clerk").await, Code::Ok);
    assert_eq!(code_of_stream(clients[0].chat(by("clerk", frpc::iter([]))).await).await, Code::Ok);
    assert_eq!(add(&clients[1], "clerk").await, Code::ResourceExhausted);
    let status = clients[0].add(by("clerk", AddRequest::default())).await.expect_err("call should fail");
    let wait = status.detail::<RetryInfo>().and_then(|info| info.delay()).expect("status should state a retry delay");
    assert!(wait > Duration::from_millis(990) && wait <= Duration::from_millis(1001), "{wait:?}");
    assert!(!status.may_have_run());
    for _ in 0..10 {
        assert_eq!(add(&clients[0], "guest").await, Code::Ok, "other principals should not be limited");
    }
    advance(wait).await;
    assert_eq!(add(&clients[1], "clerk").await, Code::Ok);
}

#[tokio::test(start_paused = true)]
async fn method_rate_limit_spares_other_methods() {
    let rate = |calls| Rate::one_in(Duration::from_secs(60)).burst(calls);
    let access = access().0.allow([ADD, CHAT], Who::known());
    let access = access.limit_methods([ADD], Who::role("clerk"), rate(2)).limit(Who::known(), rate(4));
    let server = server(|server| server.access(access));
    let client = connect(&server).await;
    let chat = async |token| code_of_stream(client.chat(by(token, frpc::iter([]))).await).await;
    for expected in [Code::Ok, Code::Ok, Code::ResourceExhausted] {
        assert_eq!(add(&client, "clerk").await, expected);
    }
    assert_eq!([chat("clerk").await, chat("clerk").await], [Code::Ok; 2]);
    assert_eq!(chat("clerk").await, Code::ResourceExhausted, "limit for all methods should apply in addition");
    for expected in [Code::Ok, Code::Ok, Code::Ok] {
        assert_eq!(add(&client, "guest").await, expected);
    }
    let unknown = Access::new().limit_methods(["interop.Interop/None"], Who::known(), rate(1));
    let built = Server::builder().add_service(InteropServer::new(Service)).access(unknown).build();
    assert!(built.is_err_and(|error| error.to_string().contains("interop.Interop/None")));
}

/// Regression: a rejected call used up the limit of its method, so it was rejected again after the wait that its status
/// stated.
#[tokio::test(start_paused = true)]
async fn call_over_general_limit_spares_method_limit() {
    let seldom = |seconds| Rate::one_in(Duration::from_secs(seconds));
    let access = access().0.allow([ADD, CHAT], Who::known());
    let access = access.limit_methods([ADD], Who::known(), seldom(3600)).limit(Who::known(), seldom(1));
    let client = connect(&server(|server| server.access(access))).await;
    assert_eq!(code_of_stream(client.chat(by("clerk", frpc::iter([]))).await).await, Code::Ok);
    assert_eq!(add(&client, "clerk").await, Code::ResourceExhausted);
    advance(Duration::from_millis(1001)).await;
    assert_eq!(add(&client, "clerk").await, Code::Ok);
    advance(Duration::from_millis(1001)).await;
    assert_eq!(add(&client, "clerk").await, Code::ResourceExhausted, "limit of the method should apply as well");
}

/// Makes a number of calls on one connection and returns the time that they took. Each reply must contain `mark` once.
async fn time_of_calls(server: &Acceptor, calls: usize, request: &str, mark: &[u8]) -> Duration {
    let (here, there) = frpc::memory();
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    let started = Instant::now();
    let (mut answers, mut requests) = tokio::io::split(here);
    let all = request.repeat(calls);
    let writing = tokio::spawn(async move {
        let _ = requests.write_all(all.as_bytes()).await;
        requests
    });
    let (mut unread, mut counted) = (Vec::new(), 0);
    while counted < calls {
        let read = answers.read_buf(&mut unread).await.expect("connection should be open");
        assert!(read > 0, "connection was closed after {counted} replies");
        while let Some(at) = unread.windows(mark.len()).position(|window| window == mark) {
            unread.drain(..at + mark.len());
            counted += 1;
        }
    }
    drop(writing.await);
    started.elapsed()
}

#[tokio::test(start_paused = true)]
async fn waste_rate_covers_calls_in_other_protocols() {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect());
    let server = Server::builder().add_service(InteropServer::new(Service)).gateway(gateway);
    let server = server.config(Config::default().abuse_rate(64 * 1024)).access(access().0.allow([CHAT], Who::known()));
    let server = server.build().expect("settings should be valid");
    let json_rpc = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    // The rate limit charges each call its length plus 64 bytes, and an unknown method also the error. A client that is
    // paused for 5 s would be disconnected.
    for (calls, method) in [(4000, ADD), (2000, "interop.Interop/None")] {
        let call = json_rpc(method);
        let took = time_of_calls(&server, calls, &call, b"\n").await;
        assert!(took > Duration::from_secs(3), "{took:?}: {call}");
    }
    let post = "POST /interop.Interop/Add HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
                content-length: 2\r\n\r\n{}";
    let took = time_of_calls(&server, 2000, post, b"HTTP/1.1").await;
    assert!(took > Duration::from_secs(3), "{took:?}");
}

/// Regression: a gateway with rules revealed the schema to every client through `rpc.discover`.
#[tokio::test(start_paused = true)]
async fn discovery_is_for_callers_of_some_method() {
    let (access, _) = access();
    let server = server(|server| server.access(access.allow([ADD], Who::role("clerk"))));
    for (token, expected) in
        [("", "UNAUTHENTICATED"), ("nobody", "UNAUTHENTICATED"), ("guest", "PERMISSION_DENIED"), ("clerk", "openrpc")]
    {
        let (mut here, there) = frpc::memory();
        let server = server.clone();
        tokio::spawn(async move { server.serve_connection(there).await });
        let metadata = format!(r#"{{"authorization":"Bearer {token}"}}"#);
        let metadata = if token.is_empty() { "{}" } else { &metadata };
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"rpc.discover","metadata":{metadata}}}"#);
        here.write_all(call.as_bytes()).await.expect("server should read");
        let mut line = String::new();
        BufReader::new(here).read_line(&mut line).await.expect("server should answer");
        assert!(line.contains(expected), "{token:?}: {line}");
    }
}
