//! A regression guard for the hot path: the number of instructions of an echo call, client and server together.
//!
//! Durations depend on the machine and its load; instruction counts hardly do. `check` runs this program under
//! `valgrind --tool=callgrind` with some calls and with twice as many. The difference is the cost of the calls without
//! startup and shutdown. Everything runs on one thread over loopback, so that nothing depends on scheduling.
//!
//! ```text
//! cargo run --release -p cost --bin hot_path -- check     fails if a figure exceeds instructions.toml by over 5 %,
//!                                                            or a gateway costs native calls over 1 %, or
//!                                                            a translation over 20 %, or a rule over
//!                                                            10 instructions
//! cargo run --release -p cost --bin hot_path -- update    writes instructions.toml
//! cargo run --release -p cost --bin hot_path -- run CASE CALLS
//! ```
//!
//! `run wide CALLS` and `run wide_32 CALLS` make `CALLS` calls on each of 400 connections, ten at a time, the latter in
//! a runtime that polls 32 sockets at a time, and `run wide_alone CALLS` one at a time in such a runtime. They measure
//! memory accesses per call, also as the difference of two runs:
//!
//! ```text
//! valgrind --tool=cachegrind --cache-sim=yes --LL=1048576,16,64 target/release/hot_path run wide_32 20
//! ```

mod counts;

use ::outside::Replies;
use benches::BoxError;
use benches::background::{Bound, one_core};
use benches::flows::{self, Flows};
use benches::load::drive;
use benches::proto::benchmark::{
    BenchmarkService, BenchmarkServiceClient, BenchmarkServiceServer, Request as Echo, Response as Echoed, later,
};
use benches::proto::flows::FlowsClient;
use benches::proto::mixed::Order;
use benches::rivals::frpc::{Service, serve};
use benches::rivals::{Client, Setup, outside};
use benches::text::Text;
use benches::updates::updated;
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{CloseReason, Config, Connection, Operation, Outbox, Packet, PacketId, Routed, Router};
use frisbee_pubsub::{self as pubsub, Broker, History, Start};
use frpc::json::{from_json, to_json};
use frpc::{Call, CallResponse, Channel, Next, Request, Response, ServerBuilder, Status, Workers};
use frpc_access::{Access, Principal, Proof, Who};
use frpc_balance::{Balance, FleetView};
use frpc_gateway::{Gateway, Http, ServeGateway};
use frpc_telemetry::Counters;
use frpc_telemetry::otel::Telemetry;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use std::hint::black_box;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;

/// The measured cases, and the number of calls of the shorter run.
const CASES: [(&str, u64); 36] = [
    ("frames_10_in_flight", 5000),
    (UNARY_1, 3000),
    (WITHOUT_GATEWAY, 5000),
    (TRANSLATED, 5000),
    (OUTSIDE_1, 3000),
    (OUTSIDE_10, 5000),
    ("connecting", 500),
    ("balanced_1_in_flight", 3000),
    ("balanced_10_in_flight", 5000),
    ("chosen_10_in_flight", 5000),
    ("endpoints_1000_updated", 50),
    (WITH_GATEWAY, 5000),
    (WITH_RULES, 5000),
    ("observed_1_in_flight", 3000),
    ("observed_10_in_flight", 5000),
    ("carried_10_in_flight", 5000),
    ("sampled_10_in_flight", 20_000),
    ("waiting_10_in_flight", 5000),
    ("middleware_server_10", 5000),
    ("middleware_client_10", 5000),
    ("metadata_10", 5000),
    ("json_rpc_1_in_flight", 3000),
    ("json_rpc_10_in_flight", 5000),
    ("json_rpc_http_10_in_flight", 5000),
    ("connect_1_in_flight", 3000),
    ("connect_10_in_flight", 5000),
    ("grpc_web_10_in_flight", 5000),
    (JSON_ENCODED, 5000),
    (JSON_DECODED, 5000),
    ("items_streamed_down", 10_000),
    ("items_streamed_up", 10_000),
    ("items_read_over_down", 10_000),
    ("items_read_over_up", 10_000),
    (PUBLISHED, 20_000),
    ("published_to_20", 20_000),
    (PUBLISHED_LAST, 20_000),
];

/// Calls by fRPC's client to a server that serves all protocols. Compared with calls to a server that serves only its
/// own.
const WITH_GATEWAY: &str = "unary_10_with_gateway";
const WITHOUT_GATEWAY: &str = "unary_10_in_flight";

/// Calls of a server that has another version of the schema, and translates requests and responses. Compared with calls
/// of a server with the same version.
const TRANSLATED: &str = "translated_10";

/// Calls of a protocol built on frisbee's public API. Compared with frpc's.
const OUTSIDE_1: &str = "outside_1_in_flight";
const OUTSIDE_10: &str = "outside_10_in_flight";
const UNARY_1: &str = "unary_1_in_flight";

/// Calls of an authenticated caller to a server with rules. Compared with calls to a server without.
const WITH_RULES: &str = "ruled_10_in_flight";

/// Encodes and decodes JSON: a message of twelve fields with a nested one, lists and a map.
const JSON_ENCODED: &str = "json_encoded";
const JSON_DECODED: &str = "json_decoded";

/// Messages of a topic without history, compared with those of a topic that keeps the current value.
const PUBLISHED: &str = "published_to_1";
const PUBLISHED_LAST: &str = "published_last_1";

const USAGE: &str = "usage: hot_path check | update | run CASE CALLS";

fn main() -> Result<ExitCode, BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", case, calls] => run(case, calls.parse()?).map(|()| ExitCode::SUCCESS),
        ["check"] => counts::check(),
        ["update"] => counts::update(),
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

/// Makes the calls of a case.
fn run(case: &str, calls: u64) -> Result<(), BoxError> {
    let runtime = match case {
        "wide_32" | "wide_alone" => one_core()?,
        _ => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
    };
    runtime.block_on(async {
        match case {
            "wide" | "wide_32" => wide(10, calls).await,
            "wide_alone" => wide(1, calls).await,
            "frames_10_in_flight" => frames(10, calls).await,
            UNARY_1 => unary(1, calls).await,
            WITHOUT_GATEWAY => unary(10, calls).await,
            TRANSLATED => translated(10, calls).await,
            OUTSIDE_1 => outside(1, calls).await,
            OUTSIDE_10 => outside(10, calls).await,
            "connecting" => connecting(calls).await,
            "balanced_1_in_flight" => balanced(BALANCED, 1, calls).await,
            "balanced_10_in_flight" => balanced(BALANCED, 10, calls).await,
            "chosen_10_in_flight" => balanced(1, 10, calls).await,
            "endpoints_1000_updated" => updated(calls).await,
            WITH_GATEWAY => with_gateway(10, calls).await,
            WITH_RULES => ruled(10, calls).await,
            "observed_1_in_flight" => observed(1, calls).await,
            "observed_10_in_flight" => observed(10, calls).await,
            "carried_10_in_flight" => traced(10, calls, 0.0).await,
            "sampled_10_in_flight" => traced(10, calls, 0.01).await,
            "waiting_10_in_flight" => pending_calls(10, calls).await,
            "middleware_server_10" => {
                echoed(10, calls, frpc::Server::builder().middleware(pass_on), |channel| channel).await
            }
            "middleware_client_10" => {
                echoed(10, calls, frpc::Server::builder(), |channel| channel.with_middleware(pass_on)).await
            }
            "metadata_10" => labelled(10, calls).await,
            "json_rpc_1_in_flight" => json_rpc(1, calls).await,
            "json_rpc_10_in_flight" => json_rpc(10, calls).await,
            "json_rpc_http_10_in_flight" => json_rpc_http(10, calls).await,
            "connect_1_in_flight" => connect(1, calls).await,
            "connect_10_in_flight" => connect(10, calls).await,
            "grpc_web_10_in_flight" => grpc_web(10, calls).await,
            JSON_ENCODED => encoded(calls),
            JSON_DECODED => decoded(calls),
            "items_streamed_down" => streamed::<false>(calls, true).await,
            "items_streamed_up" => streamed::<false>(calls, false).await,
            "items_read_over_down" => streamed::<true>(calls, true).await,
            "items_read_over_up" => streamed::<true>(calls, false).await,
            PUBLISHED => published(calls, 1, None).await,
            "published_to_20" => published(calls, 20, None).await,
            PUBLISHED_LAST => published(calls, 1, Some(History::last(1))).await,
            other => Err(format!("no case is called {other}").into()),
        }
    })
}

async fn unary(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let (bound, address) = Bound::channel();
    tokio::spawn(async move { serve(Setup::new(in_flight), Workers::Caller, bound).await });
    // The server binds its socket in its first turn.
    tokio::task::yield_now().await;
    let client = BenchmarkServiceClient::connect(address.recv()??.to_string()).await?;
    drive(&Caller::of(client), in_flight, 32, calls).await;
    Ok(())
}

/// Like [`unary`], with a server of a later version of the schema.
async fn translated(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let server = frpc::Server::builder().workers(Workers::Caller).config(untimed());
    let server = server.add_service(later::BenchmarkServiceServer::new(Later)).bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    drive(&Caller::of(BenchmarkServiceClient::connect(address).await?), in_flight, 32, calls).await;
    Ok(())
}

struct Later;

impl later::BenchmarkService for Later {
    async fn benchmark(&self, request: Request<later::Request>) -> Result<Response<later::Response>, Status> {
        Ok(Response::new(later::Response { message: request.into_inner().message, cost: 0 }))
    }
}

/// Like [`unary`], with a protocol that uses only frisbee's public API.
async fn outside(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let (bound, address) = Bound::channel();
    let server = frisbee::Server::builder().workers(Workers::Caller);
    tokio::spawn(async move { outside::serve_with(Setup::new(in_flight), server, bound).await });
    tokio::task::yield_now().await;
    let client = frisbee::Client::builder().connect(address.recv()??, Replies).await?;
    drive(&::outside::Caller::new(client), in_flight, 32, calls).await;
    Ok(())
}

/// One call on each of `calls` connections, sequentially. Connecting and closing are part of the call.
async fn connecting(calls: u64) -> Result<(), BoxError> {
    let address = started(frpc::Server::builder().config(untimed()), 1).await?;
    for _ in 0..calls {
        let client = Caller::of(BenchmarkServiceClient::connect(address.as_str()).await?);
        drive(&client, 1, 32, 1).await;
    }
    Ok(())
}

/// Like [`unary`], on a channel that balances over connections to a server. Their number is small, so that the cost of
/// a call is comparable: with more connections, fewer calls share a turn. With one, the difference to `unary` is the
/// choice alone.
async fn balanced(connections: usize, in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let address = started(frpc::Server::builder().config(untimed()), in_flight).await?;
    let channel = Channel::builder().balance().connect_all(vec![address; connections]).await?;
    // All connections are established before the calls begin.
    while FleetView::of(&channel).is_some_and(|fleet| !fleet.servers.iter().all(|server| server.is_connected)) {
        tokio::task::yield_now().await;
    }
    drive(&Caller::of(BenchmarkServiceClient::new(channel)), in_flight, 32, calls).await;
    Ok(())
}

/// Number of connections of [`balanced`].
const BALANCED: usize = 4;

/// Starts an echo server on the thread of its clients, and returns its address.
async fn started(server: ServerBuilder, in_flight: usize) -> Result<String, BoxError> {
    let server = server.workers(Workers::Caller);
    let server = server.add_service(BenchmarkServiceServer::new(Service(Setup::new(in_flight))));
    let server = server.bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    Ok(address)
}

/// Like [`unary`], with counters and histograms at both ends.
async fn observed(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let counters = Counters::new();
    let address = started(frpc::Server::builder().batch_observer(counters.clone()), in_flight).await?;
    let channel = Channel::builder().batch_observer(counters.clone()).calls::<BenchmarkServiceClient>();
    drive(&Caller::of(BenchmarkServiceClient::new(channel.connect(address).await?)), in_flight, 32, calls).await;
    Ok(())
}

/// Like [`unary`], with a trace context. The fraction `ratio` of the calls is sampled and exported.
async fn traced(in_flight: usize, calls: u64, ratio: f64) -> Result<(), BoxError> {
    let provider = SdkTracerProvider::builder().with_batch_exporter(Nowhere).build();
    let telemetry = Telemetry::new().spans(provider.tracer("hot_path")).sample(ratio).trust_peers();
    let server = frpc::Server::builder().config(untimed()).observer(telemetry.clone());
    let address = started(server, in_flight).await?;
    let channel = Channel::builder().observer(telemetry).calls::<BenchmarkServiceClient>();
    let client = BenchmarkServiceClient::new(channel.connect(address).await?);
    drive(&Caller::of(client), in_flight, 32, calls).await;
    Ok(())
}

/// An exporter that discards everything.
#[derive(Debug)]
struct Nowhere;

impl SpanExporter for Nowhere {
    async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
        Ok(())
    }
}

/// Like [`unary`], with a configured server and channel.
async fn echoed(
    in_flight: usize,
    calls: u64,
    server: ServerBuilder,
    change: impl FnOnce(Channel) -> Channel,
) -> Result<(), BoxError> {
    let address = started(server.config(untimed()), in_flight).await?;
    let channel = change(Channel::connect(address).await?);
    drive(&Caller::of(BenchmarkServiceClient::new(channel)), in_flight, 32, calls).await;
    Ok(())
}

/// The minimal middleware.
async fn pass_on(call: Call, next: Next) -> Result<CallResponse, Status> {
    next.run(call).await
}

/// Like [`unary`], with a metadata entry in each request.
async fn labelled(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let address = started(frpc::Server::builder().config(untimed()), in_flight).await?;
    let trace = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    drive(&Caller { client: BenchmarkServiceClient::connect(address).await?, trace }, in_flight, 32, calls).await;
    Ok(())
}

/// The client of all cases with calls. A second client type would instantiate the code of a call twice, and the
/// compiler would no longer inline it into its caller, as it does in most programs.
#[derive(Clone)]
struct Caller {
    client: BenchmarkServiceClient,
    /// A metadata entry.
    trace: Option<&'static str>,
}

impl Caller {
    fn of(client: BenchmarkServiceClient) -> Self {
        Self { client, trace: None }
    }
}

impl Client for Caller {
    type Reply = String;

    async fn echo(&self, text: &Text) -> Result<String, BoxError> {
        let mut request = Request::new(Echo { message: text.as_str().to_owned() });
        if let Some(trace) = self.trace {
            request.metadata_mut().insert("traceparent", trace)?;
        }
        Ok(self.client.benchmark(request).await?.into_inner().message)
    }
}

/// Like [`unary`], with a pending handler.
async fn pending_calls(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let server = frpc::Server::builder().workers(Workers::Caller).config(untimed());
    let server = server.add_service(BenchmarkServiceServer::new(DelayedService)).bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let client = BenchmarkServiceClient::connect(address).await?;
    drive(&Caller::of(client), in_flight, 32, calls).await;
    Ok(())
}

/// Yields once before it answers, which is the shortest possible wait.
struct DelayedService;

impl BenchmarkService for DelayedService {
    async fn benchmark(&self, request: Request<Echo>) -> Result<Response<Echoed>, Status> {
        tokio::task::yield_now().await;
        Ok(Response::new(Echoed { message: request.into_inner().message }))
    }
}

/// Like [`unary`], with a server that serves all protocols.
async fn with_gateway(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let address = serve_gateway(in_flight).await?;
    let client = BenchmarkServiceClient::connect(address.to_string()).await?;
    drive(&Caller::of(client), in_flight, 32, calls).await;
    Ok(())
}

/// Like [`unary`], with an authenticated caller and a rule that admits it.
async fn ruled(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let robot = Principal::new("robot", Proof::Other).with_role("robot");
    let rules = Access::new().allow(["benchmark.BenchmarkService/Benchmark"], Who::role("robot"));
    let server = frpc::Server::builder().access(rules).on_connect(move |connection| {
        if let Err(status) = robot.sign_in(connection) {
            eprintln!("{status}");
        }
    });
    let client = BenchmarkServiceClient::connect(started(server, in_flight).await?).await?;
    drive(&Caller::of(client), in_flight, 32, calls).await;
    Ok(())
}

/// Serves all protocols.
async fn serve_gateway(in_flight: usize) -> Result<SocketAddr, BoxError> {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc().health()).web_socket();
    let server = frpc::Server::builder().workers(Workers::Caller).gateway(gateway);
    let server = server.add_service(BenchmarkServiceServer::new(Service(Setup::new(in_flight))));
    let server = server.bind("127.0.0.1:0").await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());
    Ok(address)
}

/// The path of all calls through the gateway by HTTP.
const METHOD: &str = "/benchmark.BenchmarkService/Benchmark";

/// The text of all calls through the gateway.
const TEXT: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// Returns a JSON-RPC request. Its id has one digit.
fn json_rpc_request(id: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"benchmark.BenchmarkService/Benchmark\",\
         \"params\":{{\"message\":\"{TEXT}\"}}}}\n"
    )
}

fn post(path: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// Like [`unary`], with JSON-RPC in lines.
async fn json_rpc(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    through_protocol(in_flight, calls, json_rpc_request).await
}

/// Like [`unary`], with JSON-RPC over HTTP/1.1.
async fn json_rpc_http(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    through_protocol(in_flight, calls, |id| post("/", "application/json", &json_rpc_request(id))).await
}

/// Like [`unary`], with Connect in JSON over HTTP/1.1.
async fn connect(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let body = format!("{{\"message\":\"{TEXT}\"}}");
    through_protocol(in_flight, calls, |_| post(METHOD, "application/json", &body)).await
}

/// Like [`unary`], with gRPC-Web in protobuf over HTTP/1.1.
async fn grpc_web(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let prefix = |length: usize| char::from_u32(length as u32).expect("text should be short");
    let message = format!("\n{}{TEXT}", prefix(TEXT.len()));
    let body = format!("\0\0\0\0{}{message}", prefix(message.len()));
    through_protocol(in_flight, calls, |_| post(METHOD, "application/grpc-web+proto", &body)).await
}

/// Like [`unary`], through a gateway. The client does almost no work: it repeats the same requests once it has received
/// as many replies, which have a fixed length.
async fn through_protocol(in_flight: usize, calls: u64, request: impl Fn(usize) -> String) -> Result<(), BoxError> {
    let mut socket = TcpStream::connect(serve_gateway(in_flight).await?).await?;
    socket.set_nodelay(true)?;
    let mut replies = [0; 4096];
    socket.write_all(request(0).as_bytes()).await?;
    let length = socket.read(&mut replies).await?;
    if !replies.get(..length).is_some_and(|reply| reply.windows(TEXT.len()).any(|text| text == TEXT.as_bytes())) {
        return Err(format!("the reply is {}", String::from_utf8_lossy(&replies)).into());
    }
    let requests: String = (0..in_flight).map(request).collect();
    for _ in 0..calls / in_flight as u64 {
        socket.write_all(requests.as_bytes()).await?;
        let mut left = in_flight * length;
        while left > 0 {
            let count = socket.read(&mut replies).await?;
            left = left.checked_sub(count).filter(|_| count > 0).ok_or("the connection was lost")?;
        }
    }
    Ok(())
}

/// Encodes the message of `proto/mixed.proto` to JSON `messages` times.
fn encoded(messages: u64) -> Result<(), BoxError> {
    let order = benches::proto::order();
    let mut out = Vec::with_capacity(1024);
    for _ in 0..messages {
        out.clear();
        to_json(black_box(&order), &mut out)?;
        black_box(out.len());
    }
    Ok(())
}

/// Like [`encoded`], but decodes JSON.
fn decoded(messages: u64) -> Result<(), BoxError> {
    let mut json = Vec::new();
    to_json(&benches::proto::order(), &mut json)?;
    for _ in 0..messages {
        black_box(from_json::<Order>(black_box(&json))?);
    }
    Ok(())
}

/// Like [`unary`], on each of four hundred connections.
async fn wide(in_flight: usize, calls: u64) -> Result<(), BoxError> {
    let (bound, address) = Bound::channel();
    tokio::spawn(async move { serve(Setup::new(in_flight), Workers::Caller, bound).await });
    tokio::task::yield_now().await;
    let address = address.recv()??.to_string();
    let mut clients = Vec::new();
    for _ in 0..400 {
        clients.push(Caller::of(BenchmarkServiceClient::connect(address.as_str()).await?));
    }
    // All connections are established before the first call.
    let drive = |client| async move { drive(&client, in_flight, 32, calls).await };
    clients.into_iter().map(drive).collect::<JoinSet<_>>().join_all().await;
    Ok(())
}

/// Settings that prevent turns from ending because of their duration, which is fifty times longer here, and from
/// counting as long.
fn untimed() -> Config {
    Config::default().turn_max(Duration::MAX)
}

/// A stream of `items` items. With `OVER`, each item is decoded into the previous one.
async fn streamed<const OVER: bool>(items: u64, down: bool) -> Result<(), BoxError> {
    let (bound, address) = Bound::channel();
    let server = frpc::Server::builder().workers(Workers::Caller).config(untimed());
    tokio::spawn(async move { flows::ours::serve_with::<OVER>(server, bound).await });
    tokio::task::yield_now().await;
    let channel = Channel::builder().config(untimed()).connect(address.recv()??.to_string()).await?;
    let client = FlowsClient::new(channel);
    let text = "x".repeat(32);
    if down {
        flows::ours::stream_down::<OVER>(&client, items, &text).await?
    } else {
        client.stream_up(items, &text).await?
    };
    Ok(())
}

/// Frames echoed by a router without RPC, the baseline of the calls.
async fn frames(in_flight: u16, calls: u64) -> Result<(), BoxError> {
    let server = frisbee::Server::builder().workers(Workers::Caller).bind("127.0.0.1:0", Mirror(None)).await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let (done, mut all_done) = mpsc::unbounded_channel();
    let client = frisbee::Client::builder().connect(address, Mirror(Some((calls, done)))).await?;
    let body = Bytes::from_static(&[b'x'; 32]);
    client.send_now(|outbox| {
        (0..in_flight).try_for_each(|id| outbox.push(PacketId(id), Operation::FIRST_USER, &body))
    })??;
    all_done.recv().await.ok_or("the connection was lost")?;
    Ok(())
}

/// Number of messages per round. The publisher starts a round when every subscriber has read the previous one, because
/// a message costs more if its subscriber lags behind. A round is short enough for a single read of a connection.
const ROUND: u64 = 500;

/// Messages through a broker, each to `subscribers` subscribers.
async fn published(messages: u64, subscribers: usize, history: Option<History>) -> Result<(), BoxError> {
    let broker = history.into_iter().fold(Broker::builder(), |broker, history| broker.history("topic", history));
    let server = frisbee::Server::builder().workers(Workers::Caller).config(untimed());
    let server = server.bind("127.0.0.1:0", broker.build()).await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let mut readers = JoinSet::new();
    let round = Arc::new(Barrier::new(subscribers + 1));
    for _ in 0..subscribers {
        let client = pubsub::Client::connect_with(frisbee::Client::builder().config(untimed()), address).await?;
        let mut subscription = match history {
            Some(_) => client.subscribe_from("topic", Start::Now).await?,
            None => client.subscribe("topic").await?,
        };
        let round = round.clone();
        readers.spawn(async move {
            for message in 1..=messages {
                subscription.recv().await?;
                if message.is_multiple_of(ROUND) {
                    round.wait().await;
                }
            }
            Ok::<_, BoxError>(())
        });
    }
    let publisher = pubsub::Client::connect_with(frisbee::Client::builder().config(untimed()), address)
        .await?
        .publisher("topic")?;
    for message in 1..=messages {
        publisher.publish(Bytes::from_static(&[b'x'; 32])).await?;
        if message.is_multiple_of(ROUND) {
            round.wait().await;
        }
    }
    while let Some(read) = readers.join_next().await {
        read??;
    }
    Ok(())
}

/// Echoes packets. As a client, it stops when the requested number has returned.
struct Mirror(Option<(u64, mpsc::UnboundedSender<()>)>);

impl Router for Mirror {
    type Session = u64;

    fn connected(&self, _connection: &Connection) -> u64 {
        0
    }

    fn route(&self, echoed: &mut u64, packet: Packet, outbox: &mut Outbox) -> Routed {
        *echoed += 1;
        if let Some((wanted, done)) = &self.0
            && *echoed >= *wanted
        {
            let _ = done.send(());
        }
        outbox.forward(&packet).map_or_else(|error| Routed::close(error.to_string()), |()| Routed::Continue)
    }

    fn disconnected(&self, _echoed: u64, _reason: &CloseReason) {}
}
