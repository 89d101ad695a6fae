//! Traces a path from a client through two servers, a third server called by gRPC, and a broker to a subscriber. An
//! in-memory exporter and a real OpenTelemetry collector, which receives OTLP, must both see one trace.
//!
//! The collector is built from Go modules. This takes a minute or more, so the test runs only if
//! `FRISBEE_REQUIRE_COLLECTOR` is set.

use super::databases::servers::port;
use super::go;
use frpc::observe::TraceContext;
use frpc::pubsub::{self, Broker};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status};
use frpc_gateway::{Gateway, Http, ServeGateway};
use frpc_telemetry::otel::{Exports, Telemetry};
use opentelemetry::trace::{Tracer as _, TracerProvider as _};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::io::Write as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tonic::client::Grpc;
use tonic_prost::ProstCodec;

/// Target of the calls that a handler makes.
#[derive(Clone)]
enum Next {
    /// Calls another server of frpc.
    Frpc(GreeterClient),
    /// Calls another server by tonic, and passes the trace context as a gRPC header.
    Grpc(tonic::transport::Channel),
    /// Publishes a message with the trace context to a topic.
    Topic(pubsub::Client),
}

struct Service(Next);

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner();
        let context = TraceContext::current().ok_or_else(|| Status::internal("the call has no place in a trace"))?;
        match self.0.clone() {
            Next::Frpc(client) => client.greet(name).await,
            Next::Grpc(channel) => {
                let mut request = tonic::Request::new(name);
                let text = context.to_string().parse().map_err(|_| Status::internal("it is no text"))?;
                request.metadata_mut().insert("traceparent", text);
                let mut client = Grpc::new(channel);
                client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
                let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Greet");
                let reply = client.unary(request, path, ProstCodec::<Name, Greeting>::default()).await;
                let reply = reply.map_err(|status| Status::internal(status.to_string()))?;
                Ok(Response::new(reply.into_inner()))
            }
            Next::Topic(client) => {
                let published = client.publish("greeted", context.to_string()).await;
                published.map_err(|error| Status::internal(error.to_string()))?;
                Ok(Response::new(Greeting { text: format!("Hello, {}!", name.name) }))
            }
        }
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("not used here"))
    }
}

async fn serve(next: Next, telemetry: &Telemetry) -> String {
    let gateway = Gateway::new().http(Http::new().grpc());
    // All servers belong to the same operator, so they trust each other's trace contexts.
    let builder = Server::builder().observer(telemetry.clone().trust_peers());
    let server = builder.add_service(GreeterServer::new(Service(next))).gateway(gateway).bind("127.0.0.1:0").await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    address
}

async fn client(address: &str, telemetry: &Telemetry) -> GreeterClient {
    let builder = Channel::builder().observer(telemetry.clone()).calls::<GreeterClient>();
    GreeterClient::new(builder.connect(address).await.expect("server should accept the connection"))
}

/// Makes the call, and receives the message that the last handler publishes.
async fn travel(provider: &SdkTracerProvider) {
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let broker = frisbee::Server::builder()
        .bind("127.0.0.1:0", Broker::new())
        .await
        .expect("server should bind to a free address");
    let topics = broker.local_addr();
    tokio::spawn(broker.serve());
    let subscriber = pubsub::Client::connect(topics).await.expect("broker should be listening");
    let mut greeted = subscriber.subscribe("greeted").await.expect("broker should accept the subscription");
    let publisher = pubsub::Client::connect(topics).await.expect("broker should be listening");
    let third = serve(Next::Topic(publisher), &telemetry).await;
    let channel = tonic::transport::Channel::from_shared(format!("http://{third}")).expect("address should be valid");
    let second =
        serve(Next::Grpc(channel.connect().await.expect("server should accept the connection")), &telemetry).await;
    let first = serve(Next::Frpc(client(&second, &telemetry).await), &telemetry).await;
    let name = Name { name: "Ada".to_owned() };
    let reply = client(&first, &telemetry).await.greet(name).await.expect("call should succeed");
    assert_eq!(reply.get_ref().text, "Hello, Ada!");
    let message = greeted.recv().await.expect("channel should stay open");
    let context =
        TraceContext::from_traceparent(std::str::from_utf8(message.payload()).expect("payload should be UTF-8"));
    let tracer = provider.tracer("subscriber");
    let carried = context.expect("trace context should be valid").carry(async {
        drop(tracer.start_with_context("take", &frpc_telemetry::otel::context()));
    });
    carried.await;
    // The server ends a call only after it has queued the reply.
    frisbee_tests::until("all calls have ended", || telemetry.in_progress() == 0).await;
}

/// A span as received by the collector.
#[derive(Clone, Default, Debug)]
struct Shown {
    trace: String,
    id: String,
    parent: String,
    name: String,
    kind: String,
}

impl Shown {
    fn new(span: &SpanData) -> Self {
        let parent = Some(span.parent_span_id).filter(|parent| *parent != opentelemetry::trace::SpanId::INVALID);
        Self {
            trace: span.span_context.trace_id().to_string(),
            id: span.span_context.span_id().to_string(),
            parent: parent.map_or_else(String::new, |parent| parent.to_string()),
            name: span.name.to_string(),
            kind: format!("{:?}", span.span_kind),
        }
    }

    /// Parses the collector's output for a span, line by line.
    fn note(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(':') else { return };
        let target = match key.trim() {
            "Trace ID" => &mut self.trace,
            "Parent ID" => &mut self.parent,
            "ID" => &mut self.id,
            "Name" => &mut self.name,
            "Kind" => &mut self.kind,
            _ => return,
        };
        value.trim().clone_into(target);
    }
}

/// The spans of the whole path. Each is the parent of the next one.
const WAY: [(&str, &str); 6] = [
    ("Client", "greet.Greeter/Greet"),
    ("Server", "greet.Greeter/Greet"),
    ("Client", "greet.Greeter/Greet"),
    ("Server", "greet.Greeter/Greet"),
    ("Server", "greet.Greeter/Greet"),
    ("Internal", "take"),
];

fn expect_one_trace(spans: &[Shown]) {
    assert_eq!(spans.len(), WAY.len(), "{spans:#?}");
    let mut parent = String::new();
    for (kind, name) in WAY {
        let [span] = spans.iter().filter(|span| span.parent == parent).collect::<Vec<_>>()[..] else {
            panic!("one span is below {parent:?}: {spans:#?}");
        };
        assert_eq!((&*span.kind, &*span.name, &span.trace), (kind, name, &spans[0].trace), "{spans:#?}");
        parent.clone_from(&span.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_and_broker_share_trace_in_memory() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    travel(&provider).await;
    let spans = exporter.get_finished_spans().expect("exporter should not be shut down");
    expect_one_trace(&spans.iter().map(Shown::new).collect::<Vec<_>>());
}

/// A running collector, stopped on drop, and the spans that it has logged.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Shown>>>,
    _child: Child,
}

impl Collector {
    async fn start() -> Option<Self> {
        if std::env::var_os("FRISBEE_REQUIRE_COLLECTOR").is_none() {
            // Written to the terminal directly, because captured output is shown only for failed tests.
            let _ = std::io::stderr()
                .lock()
                .write_all(b"\nSKIPPED: FRISBEE_REQUIRE_COLLECTOR is not set, so no trace was sent to a collector\n");
            return None;
        }
        let program = go::build("collector", ".").expect("Go should be installed with the collector");
        let address = format!("127.0.0.1:{}", port().await);
        let config = format!(
            "yaml:{{receivers: {{otlp: {{protocols: {{grpc: {{endpoint: '{address}'}}}}}}}}, exporters: {{debug: \
             {{verbosity: detailed}}}}, service: {{telemetry: {{metrics: {{level: none}}}}, pipelines: {{traces: \
             {{receivers: [otlp], exporters: [debug]}}}}}}}}"
        );
        let mut child = Command::new(program)
            .args(["--config", &config])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("process should start");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr should be piped")).lines();
        let mut log_lines = Vec::new();
        let ready = async {
            while let Some(line) = lines.next_line().await.expect("line should be readable") {
                log_lines.push(line);
                if log_lines.last().is_some_and(|line| line.contains("Everything is ready")) {
                    return true;
                }
            }
            false
        };
        let is_ready = tokio::time::timeout(Duration::from_secs(60), ready).await;
        assert!(matches!(is_ready, Ok(true)), "collector should start: {log_lines:#?}");
        let spans = Arc::new(Mutex::new(Vec::new()));
        let collected = spans.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let mut spans = collected.lock().unwrap();
                if line.starts_with("Span #") {
                    spans.push(Shown::default());
                } else if let Some(span) = spans.last_mut() {
                    span.note(&line);
                }
            }
        });
        Some(Self { address, spans, _child: child })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_and_broker_share_trace_in_collector() {
    let Some(collector) = Collector::start().await else { return };
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(format!("http://{}", collector.address)).build();
    let exports = Exports::new();
    let processor = exports.processor(exporter.expect("address should be valid"));
    let provider = SdkTracerProvider::builder().with_span_processor(processor).build();
    travel(&provider).await;
    let flushing = provider.clone();
    let flushed = tokio::task::spawn_blocking(move || flushing.force_flush()).await.expect("task should not panic");
    flushed.expect("collector should accept the spans");
    assert_eq!((exports.exported(), exports.failed(), exports.dropped()), (WAY.len() as u64, 0, 0));
    let spans = || collector.spans.lock().unwrap().clone();
    // The collector writes the kind last of all fields that are compared.
    frisbee_tests::until("the collector has written all spans", || {
        spans().len() == WAY.len() && spans().iter().all(|span| !span.kind.is_empty())
    })
    .await;
    expect_one_trace(&spans());
}

#[tokio::test(flavor = "multi_thread")]
async fn absent_collector_fails_spans_not_calls() {
    let nobody = format!("http://127.0.0.1:{}", port().await);
    let exporter =
        SpanExporter::builder().with_tonic().with_endpoint(nobody).build().expect("settings should be valid");
    let exports = Exports::new();
    let provider = SdkTracerProvider::builder().with_span_processor(exports.processor(exporter)).build();
    travel(&provider).await;
    let flushing = provider.clone();
    let _ = tokio::task::spawn_blocking(move || flushing.force_flush()).await.expect("task should not panic");
    assert_eq!((exports.exported(), exports.failed(), exports.waiting()), (0, WAY.len() as u64, 0));
}
