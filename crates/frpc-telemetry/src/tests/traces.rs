//! Tests of spans as an exporter receives them: one trace from the first client to the last subscriber.

use frpc::observe::{CallEnd, ObservedMethod, Observer, Token, TraceContext};
use frpc::pubsub::{self, Broker};
use frpc::{Acceptor, Channel, ChannelBuilder, Code, Request, Response, ResponseStream, Server, Status};
use frpc_gateway::{Gateway, Http, ServeGateway};
use frpc_telemetry::otel::Telemetry;
use opentelemetry::trace::{SpanKind, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, Span, SpanData, SpanProcessor};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A greeter that calls another server or publishes to a broker, if it has one.
#[derive(Clone, Default)]
struct Service {
    next: Option<GreeterClient>,
    broker: Option<pubsub::Client>,
    /// Number of received calls. If it is set, the first call never completes.
    holds: Option<Arc<AtomicU64>>,
}

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner().name;
        if name.is_empty() {
            return Err(Status::internal("no such person"));
        }
        if let Some(held) = &self.holds
            && held.fetch_add(1, Ordering::SeqCst) == 0
        {
            std::future::pending::<()>().await;
        }
        if let Some(next) = &self.next {
            return next.greet(Name { name }).await;
        }
        if let Some(broker) = &self.broker {
            // The payload contains the trace context, because messages of topics have no field for it.
            let context = TraceContext::current().expect("caller should send a context").to_string();
            let publisher = broker.publisher("greeted").map_err(|error| Status::internal(error.to_string()))?;
            publisher.publish(context).await.map_err(|error| Status::internal(error.to_string()))?;
        }
        Ok(Response::new(Greeting { text: format!("Hello, {name}!") }))
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let verses = ["One", "Two"].map(|text| Ok(Greeting { text: format!("{text}, {}", request.get_ref().name) }));
        Ok(Response::new(ResponseStream::new(frpc::iter(verses))))
    }
}

fn provider() -> (SdkTracerProvider, InMemorySpanExporter) {
    let exporter = InMemorySpanExporter::default();
    (SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build(), exporter)
}

async fn serve(service: Service, telemetry: &Telemetry) -> String {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect());
    let builder =
        Server::builder().observer(telemetry.clone()).add_service(GreeterServer::new(service)).gateway(gateway);
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    address
}

async fn client(address: &str, telemetry: &Telemetry) -> GreeterClient {
    let builder = Channel::builder().observer(telemetry.clone()).calls::<GreeterClient>();
    GreeterClient::new(builder.connect(address).await.expect("server should accept the connection"))
}

fn named(name: &str) -> Name {
    Name { name: name.to_owned() }
}

/// Waits until `count` spans have ended, and returns them.
async fn spans(exporter: &InMemorySpanExporter, count: usize) -> Vec<SpanData> {
    let all = async {
        loop {
            let spans = exporter.get_finished_spans().expect("exporter should not be shut down");
            if spans.len() >= count {
                return spans;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let mut spans =
        tokio::time::timeout(Duration::from_secs(60), all).await.expect("future should complete within the timeout");
    spans.sort_by_key(|span| span.start_time);
    spans
}

fn attribute(span: &SpanData, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == name);
    found.map(|KeyValue { value, .. }| value.to_string())
}

/// Returns the children of a span.
fn below<'a>(spans: &'a [SpanData], parent: &SpanData) -> Vec<&'a SpanData> {
    spans.iter().filter(|span| span.parent_span_id == parent.span_context.span_id()).collect()
}

#[tokio::test]
async fn call_through_servers_and_broker_is_one_trace() {
    let (provider, exporter) = provider();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let broker = frpc::frisbee::Server::builder()
        .bind("127.0.0.1:0", Broker::new())
        .await
        .expect("server should bind to a free address");
    let topics = broker.local_addr();
    tokio::spawn(broker.serve());
    let mut subscription = pubsub::Client::connect(topics)
        .await
        .expect("server should be listening")
        .subscribe("greeted")
        .await
        .expect("broker should accept the subscription");
    let publishing = pubsub::Client::connect(topics).await.expect("server should be listening");
    let last = serve(Service { broker: Some(publishing), ..Service::default() }, &telemetry).await;
    let first = serve(Service { next: Some(client(&last, &telemetry).await), ..Service::default() }, &telemetry).await;
    client(&first, &telemetry).await.greet(named("Ada")).await.expect("call should succeed");

    let message = subscription.recv().await.expect("channel should stay open");
    let context =
        TraceContext::from_traceparent(std::str::from_utf8(message.payload()).expect("bytes should be UTF-8"));
    let tracer = provider.tracer("subscriber");
    let carried = context.expect("`traceparent` in the message should be valid").carry(async {
        drop(tracer.start_with_context("take", &frpc_telemetry::otel::context()));
    });
    carried.await;

    let spans = spans(&exporter, 5).await;
    let mut span = spans.iter().find(|span| span.parent_span_id == opentelemetry::trace::SpanId::INVALID).unwrap();
    for (kind, name) in [
        (SpanKind::Client, "greet.Greeter/Greet"),
        (SpanKind::Server, "greet.Greeter/Greet"),
        (SpanKind::Client, "greet.Greeter/Greet"),
        (SpanKind::Server, "greet.Greeter/Greet"),
    ] {
        assert_eq!((&span.span_kind, &*span.name), (&kind, name));
        assert_eq!(attribute(span, "rpc.system.name").as_deref(), Some("frpc"));
        assert_eq!(attribute(span, "rpc.method").as_deref(), Some(name));
        assert_eq!(attribute(span, "rpc.response.status_code").as_deref(), Some("OK"));
        span = below(&spans, span)[0];
    }
    assert_eq!(&*span.name, "take");
    assert_eq!((spans.len(), telemetry.in_progress()), (5, 0));
}

#[tokio::test]
async fn gateway_call_continues_caller_trace() {
    let (provider, exporter) = provider();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let address = serve(Service::default(), &telemetry).await;
    let context = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    let body = r#"{"name":"Ada"}"#;
    let request = format!(
        "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         traceparent: {context}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut socket = TcpStream::connect(&address).await.expect("server should accept the connection");
    socket.write_all(request.as_bytes()).await.expect("write should succeed");
    let mut answer = [0; 1024];
    let length = socket.read(&mut answer).await.expect("read should succeed");
    assert!(String::from_utf8_lossy(&answer[..length]).contains("Hello, Ada!"));
    let spans = spans(&exporter, 1).await;
    let SpanData { span_context, parent_span_id, parent_span_is_remote, .. } = &spans[0];
    assert_eq!(span_context.trace_id().to_string(), context[3..35]);
    assert_eq!((parent_span_id.to_string().as_str(), *parent_span_is_remote), (&context[36..52], true));
    assert!(span_context.is_sampled(), "flag of an untrusted caller should not decide");
}

#[tokio::test]
async fn trusted_peer_decides_on_sampling() {
    let (provider, exporter) = provider();
    let tracer = provider.tracer("test");
    let none = Telemetry::new().spans(tracer.clone()).sample(0.0);
    let all = Telemetry::new().spans(tracer.clone());
    let trusting = all.clone().trust_peers();
    let quiet = client(&serve(Service::default(), &trusting).await, &none).await;
    for _ in 0..50 {
        quiet.greet(named("Ada")).await.expect("call should succeed");
    }
    assert!(exporter.get_finished_spans().expect("exporter should not be shut down").is_empty());
    let loud = client(&serve(Service::default(), &none).await, &all).await;
    loud.greet(named("Ada")).await.expect("call should succeed");
    assert_eq!(spans(&exporter, 1).await.len(), 1, "server should not use the span of an untrusted client");
    let both = client(&serve(Service::default(), &none.clone().trust_peers()).await, &all).await;
    both.greet(named("Ada")).await.expect("call should succeed");
    assert_eq!(spans(&exporter, 3).await.len(), 3);
}

#[tokio::test]
async fn failure_and_stream_spans_end_with_code() {
    let (provider, exporter) = provider();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let client = client(&serve(Service::default(), &telemetry).await, &telemetry).await;
    let failed = client.greet(named("")).await.expect_err("call should fail");
    assert_eq!(failed.code(), Code::Internal);
    let mut verses = client.recite(named("Ada")).await.expect("stream should open").into_inner();
    let after_the_first = {
        verses.message().await.expect("stream should not fail").expect("stream should have two verses");
        exporter.get_finished_spans().expect("exporter should not be shut down").len()
    };
    while verses.message().await.expect("stream should not fail").is_some() {}
    let spans = spans(&exporter, 4).await;
    assert!(after_the_first < 4, "a stream ends with its last message");
    let shown = |span: &SpanData| {
        let [code, error] = ["rpc.response.status_code", "error.type"].map(|name| attribute(span, name));
        (span.name.to_string(), code.unwrap_or_default(), error.unwrap_or_default())
    };
    let mut shown: Vec<_> = spans.iter().map(shown).collect();
    shown.sort();
    let own = |[name, code, error]: [&str; 3]| (format!("greet.Greeter/{name}"), code.to_owned(), error.to_owned());
    let [greeted, recited] = [["Greet", "INTERNAL", "INTERNAL"], ["Recite", "OK", ""]].map(own);
    assert_eq!(shown, [greeted.clone(), greeted, recited.clone(), recited]);
}

/// An in-memory server that allows the test to abort its connections.
#[derive(Clone)]
struct Cuttable {
    acceptor: Acceptor,
    connection: Arc<Mutex<Option<tokio::task::AbortHandle>>>,
}

impl Cuttable {
    async fn client(&self, builder: ChannelBuilder) -> GreeterClient {
        let server = self.clone();
        let connect = move || {
            let (here, there) = tokio::io::duplex(64 * 1024);
            let acceptor = server.acceptor.clone();
            let task = tokio::spawn(async move { acceptor.serve_connection(there).await });
            *server.connection.lock().unwrap() = Some(task.abort_handle());
            async move { io::Result::Ok(here) }
        };
        GreeterClient::new(builder.connect_with_connector(connect).await.expect("connector should return a connection"))
    }
}

#[tokio::test]
async fn second_attempt_has_child_span() {
    let (provider, exporter) = provider();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let held = Arc::new(AtomicU64::new(0));
    let service = Service { holds: Some(held.clone()), ..Service::default() };
    let builder = Server::builder().observer(telemetry.clone()).add_service(GreeterServer::new(service));
    let acceptor = builder.build().expect("settings should be valid");
    let server = Cuttable { acceptor, connection: Arc::default() };
    let client = server.client(Channel::builder().observer(telemetry.clone())).await;
    let call = tokio::spawn(async move { client.greet(named("Ada")).await });
    while held.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    server.connection.lock().unwrap().take().expect("connection should be established").abort();
    call.await.expect("task should not panic").expect("retried call should succeed on a new connection");
    let spans = spans(&exporter, 4).await;
    let call = spans.iter().find(|span| span.parent_span_id == opentelemetry::trace::SpanId::INVALID).unwrap();
    assert_eq!(attribute(call, "rpc.response.status_code").as_deref(), Some("OK"));
    assert_eq!(call.events.iter().map(|event| &*event.name).collect::<Vec<_>>(), ["attempt failed"]);
    let mut children: Vec<_> = below(&spans, call).iter().map(|span| span.span_kind.clone()).collect();
    children.sort_by_key(|kind| *kind == SpanKind::Client);
    assert_eq!(
        children,
        [SpanKind::Server, SpanKind::Client],
        "children should be the server of the first attempt and the second attempt"
    );
    let again = below(&spans, call).into_iter().find(|span| span.span_kind == SpanKind::Client).unwrap();
    assert_eq!(attribute(again, "frpc.attempt").as_deref(), Some("2"));
    assert_eq!(below(&spans, again)[0].span_kind, SpanKind::Server);
}

/// An observer that reports a failed first attempt and a hedged second one for each call.
struct Hedging(Telemetry);

impl Observer for Hedging {
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token {
        let token = self.0.begin(about, trace);
        self.0.retry(about, token, &Status::unavailable("the connection was lost"), trace);
        self.0.retry(about, token, &Status::deadline_exceeded("no answer yet"), trace);
        token
    }

    fn end(&self, about: &ObservedMethod, token: Token, ended: &CallEnd) {
        self.0.end(about, token, ended);
    }
}

/// A span processor that records whether the calls in progress are locked when a span starts.
#[derive(Clone, Debug, Default)]
struct LockReader(Arc<OnceLock<Telemetry>>, Arc<Mutex<Vec<bool>>>);

impl SpanProcessor for LockReader {
    fn on_start(&self, _span: &mut Span, _context: &Context) {
        let is_locked = self.0.get().expect("telemetry should be set before the first call").is_locked();
        self.1.lock().expect("lock should not be poisoned").push(is_locked);
    }

    fn on_end(&self, _span: SpanData) {}

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Regression test: the span of a further attempt was started while the calls in progress were locked. A span processor
/// that used the telemetry, for example by making a call, deadlocked.
#[tokio::test]
async fn span_of_retry_starts_without_lock() {
    let reader = LockReader::default();
    let provider = SdkTracerProvider::builder().with_span_processor(reader.clone()).build();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    reader.0.set(telemetry.clone()).expect("telemetry should be set once");
    let address = serve(Service::default(), &Telemetry::new()).await;
    let channel = Channel::builder().observer(Hedging(telemetry)).connect(address).await;
    let client = GreeterClient::new(channel.expect("server should be reachable"));
    client.greet(named("Ada")).await.expect("call should succeed");
    assert_eq!(*reader.1.lock().expect("lock should not be poisoned"), [false; 3]);
}

/// Regression test: the span of the hedged attempt ended when the hedge began, with an error.
#[tokio::test]
async fn span_of_hedged_attempt_ends_with_call() {
    let (provider, exporter) = provider();
    let telemetry = Hedging(Telemetry::new().spans(provider.tracer("test")));
    let address = serve(Service::default(), &Telemetry::new()).await;
    let channel = Channel::builder().observer(telemetry).connect(address).await.expect("server should be reachable");
    GreeterClient::new(channel).greet(named("Ada")).await.expect("call should succeed");
    let spans = spans(&exporter, 3).await;
    for number in ["2", "3"] {
        let attempt = spans.iter().find(|span| attribute(span, "frpc.attempt").as_deref() == Some(number));
        let code = attribute(attempt.expect("attempt should have a span"), "rpc.response.status_code");
        assert_eq!(code.as_deref(), Some("OK"), "attempt {number}");
    }
    let call = spans.iter().find(|span| attribute(span, "frpc.attempt").is_none()).expect("call should have a span");
    let events: Vec<_> = call.events.iter().map(|event| &*event.name).collect();
    assert_eq!(events, ["attempt failed", "attempt hedged"]);
}

#[tokio::test]
async fn durations_follow_semantic_conventions() {
    let exporter = InMemoryMetricExporter::default();
    let meters = SdkMeterProvider::builder().with_reader(PeriodicReader::builder(exporter.clone()).build()).build();
    let telemetry = Telemetry::new().durations(&opentelemetry::metrics::MeterProvider::meter(&meters, "test"));
    let client = client(&serve(Service::default(), &telemetry).await, &telemetry).await;
    for name in ["Ada", "Eve", ""] {
        let _ = client.greet(named(name)).await;
    }
    meters.force_flush().expect("in-memory exporter should accept the metrics");
    let metrics = exporter.get_finished_metrics().expect("exporter should be running");
    let mut points = Vec::new();
    for metric in metrics.iter().flat_map(ResourceMetrics::scope_metrics).flat_map(ScopeMetrics::metrics) {
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
            panic!("metric should be a histogram")
        };
        for point in histogram.data_points() {
            let mut attributes: Vec<_> =
                point.attributes().map(|KeyValue { key, value, .. }| (key.as_str(), value)).collect();
            attributes.sort_by_key(|(key, _)| *key);
            let code =
                attributes.iter().find(|(key, _)| *key == "rpc.response.status_code").map(|(_, code)| code.as_str());
            assert!(attributes.contains(&("rpc.method", &Value::from("greet.Greeter/Greet"))), "{attributes:?}");
            points.push((
                metric.name().to_owned(),
                metric.unit().to_owned(),
                code.unwrap().into_owned(),
                point.count(),
            ));
        }
    }
    points.sort();
    let expected = ["rpc.client.call.duration", "rpc.server.call.duration"].map(|name| {
        [("INTERNAL", 1), ("OK", 2)].map(|(code, count)| (name.to_owned(), "s".to_owned(), code.to_owned(), count))
    });
    assert_eq!(points, expected.concat());
}
