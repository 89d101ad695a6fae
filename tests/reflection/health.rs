//! Tests of a server's health service in every protocol.

use super::support::catalog::ShopServer;
use super::support::{House, TIMEOUT, builder, connect};
use frisbee_tests::raw::{Raw, encoded, packet};
use frpc::codegen::{BoxFuture, Lifecycle, Methods, Service};
use frpc::{Acceptor, Code, Server, ServerBuilder, Streaming};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use frpc_reflection::health_v1::{HealthCheckRequest, HealthCheckResponse, HealthClient, HealthListRequest};
use frpc_reflection::{Health, ServingStatus};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::client::Grpc;
use tonic_prost::ProstCodec;

fn check_request(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

fn acceptor(health: &Health) -> Acceptor {
    builder().add_service(health.clone()).build().expect("services should not overlap")
}

/// Connects a client that writes its frames by hand.
fn raw(server: &Acceptor) -> Raw<DuplexStream> {
    let (here, there) = tokio::io::duplex(64 * 1024);
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    Raw::over(here)
}

/// A server with all protocols.
struct Open {
    address: String,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), frpc::Error>>,
}

impl Open {
    async fn new(health: &Health) -> Self {
        let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc().health());
        let builder = Server::builder().add_service(ShopServer::new(House)).add_service(health.clone());
        let server = builder.gateway(gateway).bind("127.0.0.1:0").await.expect("server should bind to a free address");
        let address = server.local_addr().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(server.serve_with_shutdown(async move { drop(stopped.await) }));
        Self { address, stop, served }
    }

    async fn exchange(&self, request: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).await.expect("server should accept the connection");
        socket.write_all(request.as_bytes()).await.expect("write should succeed");
        let mut response = String::new();
        socket.read_to_string(&mut response).await.expect("file should be readable");
        response
    }

    async fn ready(&self) -> String {
        let response = self.exchange("GET /readyz HTTP/1.1\r\nhost: any\r\nconnection: close\r\n\r\n").await;
        response.split("\r\n").next().unwrap_or_default().to_owned()
    }
}

async fn next(watch: &mut Streaming<HealthCheckResponse>) -> Result<Option<ServingStatus>, Code> {
    let message =
        tokio::time::timeout(TIMEOUT, watch.message()).await.expect("message should arrive within the timeout");
    message.map(|status| status.map(|status| status.status())).map_err(|status| status.code())
}

#[tokio::test]
async fn health_defaults_to_serving_for_known_services() {
    let health = Health::new();
    let client = HealthClient::new(connect(&acceptor(&health)).await);
    let check = async |service: &str| match client.check(check_request(service)).await {
        Ok(response) => Ok(response.get_ref().status()),
        Err(status) => Err(status.code()),
    };
    assert_eq!(check("").await, Ok(ServingStatus::Serving));
    assert_eq!(check("catalog.Shop").await, Ok(ServingStatus::Serving));
    assert_eq!(check("catalog.Nothing").await, Err(Code::NotFound));
    assert_eq!(check(&"x".repeat(1025)).await, Err(Code::InvalidArgument));
    health.set_not_serving("catalog.Shop");
    health.set("other", ServingStatus::Unknown);
    assert_eq!(check("catalog.Shop").await, Ok(ServingStatus::NotServing));
    assert_eq!(check("other").await, Ok(ServingStatus::Unknown));
    assert_eq!(check("").await, Ok(ServingStatus::Serving), "health of the whole server should be unaffected");
    health.remove("catalog.Shop");
    assert_eq!(check("catalog.Shop").await, Err(Code::NotFound));
    let list = client.list(HealthListRequest {}).await.expect("peer should answer");
    let mut names: Vec<_> = list.get_ref().statuses.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["", "catalog.Admin", "catalog.Audit", "grpc.health.v1.Health", "other"]);
}

#[tokio::test]
async fn health_watch_reports_each_change_once() {
    let health = Health::new();
    let client = HealthClient::new(connect(&acceptor(&health)).await);
    let mut shop = client.watch(check_request("catalog.Shop")).await.unwrap().into_inner();
    let mut later = client.watch(check_request("later")).await.unwrap().into_inner();
    assert_eq!(next(&mut shop).await, Ok(Some(ServingStatus::Serving)));
    assert_eq!(next(&mut later).await, Ok(Some(ServingStatus::ServiceUnknown)));
    health.set_serving("catalog.Shop");
    health.set_serving("later");
    assert_eq!(next(&mut later).await, Ok(Some(ServingStatus::Serving)));
    health.set_not_serving("catalog.Shop");
    assert_eq!(next(&mut shop).await, Ok(Some(ServingStatus::NotServing)), "unchanged states should not be sent");
    health.remove("later");
    assert_eq!(next(&mut later).await, Ok(Some(ServingStatus::ServiceUnknown)));
}

#[tokio::test]
async fn stop_notifies_health_watchers_before_connections() {
    let health = Health::new();
    let server = acceptor(&health);
    let mut raw = raw(&server);
    // The packets are a HELLO with credit for streams, and a stream of Watch, which has operation 65021.
    let hello = packet(0, 3, b"fris\x01\x04\x03\x80\x80\x04");
    let open = packet(1, 2, &[0x09, 0xfd, 0xfb, 0x03]);
    let (request, end) = (packet(1, 2, &encoded(&check_request("catalog.Shop"))), packet(1, 7, b""));
    raw.write(&[hello, packet(1, 0, b""), open, request, end].concat()).await;
    let status = |status: ServingStatus| encoded(&HealthCheckResponse { status: status.into() });
    let first = raw.next().await.expect("server should send a status");
    assert_eq!((first.operation.number(), &first.body[..]), (2, &status(ServingStatus::Serving)[..]));

    let stopping = tokio::spawn(async move { server.shutdown().await });
    let goodbye = raw.next().await.expect("server should send a last status");
    assert_eq!((goodbye.operation.number(), &goodbye.body[..]), (2, &status(ServingStatus::NotServing)[..]));
    let mut operations = Vec::new();
    while operations.last() != Some(&4) {
        operations.push(raw.next().await.expect("server should announce its shutdown").operation.number());
    }
    assert!(operations.contains(&3), "stream should not end with TRAILERS before: {operations:?}");
    raw.write(&packet(0, 4, b"")).await;
    drop(raw);
    stopping.await.expect("task should not panic");
}

#[tokio::test]
async fn watch_ends_at_shutdown_without_delaying_it() {
    let health = Health::new();
    let open = Open::new(&health).await;
    let client = HealthClient::connect(open.address.as_str()).await.expect("server should accept the connection");
    let mut watches = Vec::new();
    for service in ["", "catalog.Shop", "unknown"] {
        let mut watch = client.watch(check_request(service)).await.unwrap().into_inner();
        next(&mut watch).await.expect("server should report a status");
        watches.push(watch);
    }
    let _ = open.stop.send(());
    for watch in &mut watches[..2] {
        assert_eq!(next(watch).await, Ok(Some(ServingStatus::NotServing)));
    }
    for watch in &mut watches {
        assert_eq!(next(watch).await, Err(Code::Unavailable));
    }
    drop(client);
    tokio::time::timeout(TIMEOUT, open.served)
        .await
        .expect("server should stop within the timeout")
        .expect("task should not panic")
        .expect("server should end regularly");
    assert_eq!(health.status(""), Some(ServingStatus::NotServing));
}

#[tokio::test]
async fn unreading_health_watcher_cannot_prevent_stop() {
    let health = Health::new();
    let server = acceptor(&health);
    let mut raw = raw(&server);
    // Without further credit, the server sends only the first message.
    let hello = packet(0, 3, b"fris\x01\x04\x01\x01");
    let open = packet(1, 2, &[0x09, 0xfd, 0xfb, 0x03]);
    let request = packet(1, 2, &encoded(&check_request("")));
    raw.write(&[hello, packet(1, 0, b""), open, request].concat()).await;
    assert_eq!(raw.next().await.expect("server should send a status").operation.number(), 2);
    tokio::spawn(async move { server.shutdown().await });
    assert_eq!(raw.next().await.expect("server should announce its shutdown").operation.number(), 4);
}

#[tokio::test]
async fn health_answers_match_across_protocols() {
    let health = Health::new();
    let open = Open::new(&health).await;
    health.set_not_serving("catalog.Shop");

    let connect = async |service: &str| {
        let body = json!({"service": service}).to_string();
        let head = format!(
            "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let response = open.exchange(&(head + &body)).await;
        let body = response.rsplit("\r\n").next().and_then(|body| serde_json::from_str::<Value>(body).ok());
        (response.split(' ').nth(1).map(str::to_owned).unwrap_or_default(), body.unwrap_or_default())
    };
    assert_eq!(connect("catalog.Shop").await, ("200".to_owned(), json!({"status": "NOT_SERVING"})));
    let (status, body) = connect("nothing").await;
    assert_eq!((&*status, &body["code"]), ("404", &json!("not_found")));

    let mut lines =
        BufReader::new(TcpStream::connect(&open.address).await.expect("server should accept the connection"));
    let mut rpc = async |line: &str| {
        lines.write_all(line.as_bytes()).await.expect("write should succeed");
        let mut reply = String::new();
        tokio::time::timeout(TIMEOUT, lines.read_line(&mut reply))
            .await
            .expect("read should complete within the timeout")
            .expect("response should be UTF-8");
        serde_json::from_str::<Value>(&reply).unwrap_or_else(|error| panic!("{error} in {reply}"))
    };
    let request = |id: u32, method: &str, service: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": format!("grpc.health.v1.Health/{method}"),
               "params": {"service": service}})
        .to_string()
            + "\n"
    };
    assert_eq!(rpc(&request(1, "Check", "")).await["result"], json!({"status": "SERVING"}));
    assert_eq!(rpc(&request(2, "Check", "nothing")).await["error"]["code"], json!(-32005));
    let item = |reply: &Value| reply["params"]["item"]["status"].clone();
    assert_eq!(item(&rpc(&request(3, "Watch", "nothing")).await), json!("SERVICE_UNKNOWN"));
    health.set_serving("nothing");
    assert_eq!(item(&rpc("").await), json!("SERVING"));

    let channel =
        tonic::transport::Channel::from_shared(format!("http://{}", open.address)).expect("address should be valid");
    let mut grpc = Grpc::new(channel.connect().await.expect("server should accept the connection"));
    let path = |method: &'static str| http::uri::PathAndQuery::from_static(method);
    let codec = ProstCodec::<HealthCheckRequest, HealthCheckResponse>::default;
    grpc.ready().await.expect("server should be listening");
    let check = path("/grpc.health.v1.Health/Check");
    let response = grpc.unary(tonic::Request::new(check_request("catalog.Shop")), check.clone(), codec()).await;
    assert_eq!(response.expect("service should be known").get_ref().status(), ServingStatus::NotServing);
    grpc.ready().await.expect("server should be listening");
    let status =
        grpc.unary(tonic::Request::new(check_request("other")), check, codec()).await.expect_err("call should fail");
    assert_eq!(status.code(), tonic::Code::NotFound);
    grpc.ready().await.expect("server should be listening");
    let watch = path("/grpc.health.v1.Health/Watch");
    let watch = grpc
        .server_streaming(tonic::Request::new(check_request("")), watch, codec())
        .await
        .expect("stream should open");
    let mut watch = watch.into_inner();
    assert_eq!(watch.message().await.unwrap().map(|it| it.status()), Some(ServingStatus::Serving));

    // When the server stops, all watchers are notified.
    let _ = open.stop.send(());
    assert_eq!(watch.message().await.unwrap().map(|it| it.status()), Some(ServingStatus::NotServing));
    assert_eq!(watch.message().await.unwrap_err().code(), tonic::Code::Unavailable);
    assert_eq!(item(&rpc("").await), json!("NOT_SERVING"));
    assert_eq!(rpc("").await["error"]["code"], json!(-32014));
}

#[tokio::test]
async fn readyz_matches_server_health_status() {
    let health = Health::new();
    let open = Open::new(&health).await;
    assert_eq!(open.ready().await, "HTTP/1.1 200 OK");
    health.set_not_serving("catalog.Shop");
    assert_eq!(open.ready().await, "HTTP/1.1 200 OK", "other services should be ready");
    health.set_not_serving("");
    assert_eq!(open.ready().await, "HTTP/1.1 503 Service Unavailable");
    health.set_serving("");
    assert_eq!(open.ready().await, "HTTP/1.1 200 OK");
}

/// Regression: the port was closed immediately, so no health check received the status 503.
#[tokio::test]
async fn readyz_is_503_during_drain_delay() {
    for health in [None, Some(Health::new())] {
        let gateway = Gateway::new().http(Http::new().health());
        let builder = Server::builder().drain_delay(Duration::from_secs(3600)).gateway(gateway);
        let builder = health.into_iter().fold(builder, ServerBuilder::add_service);
        let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
        let address = server.local_addr().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(server.serve_with_shutdown(async move { drop(stopped.await) }));
        let open = Open { address, stop, served };
        assert_eq!(open.ready().await, "HTTP/1.1 200 OK");
        let Open { address, stop, served } = open;
        stop.send(()).expect("server should be running");
        let (stop, _stopped) = oneshot::channel();
        let open = Open { address, stop, served };
        let refused = async { while open.ready().await != "HTTP/1.1 503 Service Unavailable" {} };
        tokio::time::timeout(TIMEOUT, refused).await.expect("readiness probe should fail after the shutdown begins");
        open.served.abort();
    }
}

/// A health service that passes lifecycle events to another object too, such as a registration in a registry.
struct Accompanied(Health, Arc<StopNotice>);

#[derive(Default)]
struct StopNotice(AtomicBool);

impl Service for Accompanied {
    const NAME: &'static str = Health::NAME;

    fn methods(&self) -> Methods {
        self.0.methods().lifecycle(self.1.clone())
    }
}

impl Lifecycle for StopNotice {
    fn stopping(&self) -> BoxFuture<'static, ()> {
        self.0.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// Regression: a service with a second lifecycle object no longer received lifecycle events itself.
#[tokio::test]
async fn service_with_second_lifecycle_keeps_its_own() {
    let (health, notice) = (Health::new(), Arc::<StopNotice>::default());
    let server = Server::builder().add_service(Accompanied(health.clone(), notice.clone())).build().unwrap();
    assert_eq!(health.status(Health::NAME), Some(ServingStatus::Serving));
    server.shutdown().await;
    assert!(notice.0.load(Ordering::SeqCst));
    assert_eq!(health.status(""), Some(ServingStatus::NotServing));
}

#[tokio::test]
async fn middleware_applies_to_health_checks() {
    async fn closed(_call: frpc::Call, _next: frpc::Next) -> Result<frpc::CallResponse, frpc::Status> {
        Err(frpc::Status::permission_denied("closed"))
    }
    let server = builder().middleware(closed).add_service(Health::new()).build().unwrap();
    let client = HealthClient::new(connect(&server).await);
    assert_eq!(client.check(check_request("")).await.unwrap_err().code(), Code::PermissionDenied);
}
