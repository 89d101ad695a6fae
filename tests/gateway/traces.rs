//! Tests of the trace contexts that callers send in each protocol.

use crate::gateway::greeter::{Open, TIMEOUT, all, post};
use crate::gateway::web_socket::{Client, JSON_RPC, TEXT, frame};
use frisbee_tests::until;
use frpc_gateway::Gateway;
use frpc_telemetry::otel::Telemetry;
use opentelemetry::trace::{SpanKind, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use samples::greet::{Greeting, Name};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tonic::client::Grpc;
use tonic_prost::ProstCodec;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Returns the trace context of callers. Its sampled flag is not set, but the server ignores the flag.
fn traceparent() -> String {
    format!("00-{TRACE}-{PARENT}-00")
}

/// Starts a server with all protocols that exports spans. Returns it with the exporter.
async fn traced() -> (Open, InMemorySpanExporter) {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let gateway = Gateway::new().json_rpc().web_socket().http(all());
    (Open::behind(gateway, |builder| builder.observer(telemetry)).await, exporter)
}

/// Checks that `Greet` and `Recite` each have a span in the caller's trace.
async fn expect_spans(exporter: &InMemorySpanExporter) {
    let spans = || exporter.get_finished_spans().expect("exporter should not be shut down");
    until("both calls have ended", || spans().len() >= 2).await;
    let mut names = Vec::new();
    for SpanData { span_context, parent_span_id, parent_span_is_remote, span_kind, name, attributes, .. } in spans() {
        assert_eq!(span_context.trace_id().to_string(), TRACE, "{name}");
        assert_eq!((parent_span_id.to_string().as_str(), parent_span_is_remote), (PARENT, true), "{name}");
        assert_eq!(span_kind, SpanKind::Server);
        let is_code = |key: &str, value: &str| key == "rpc.response.status_code" && value == "OK";
        assert!(attributes.iter().any(|it| is_code(it.key.as_str(), &it.value.as_str())), "{attributes:?}");
        names.push(name.into_owned());
    }
    assert_eq!(names, ["greet.Greeter/Greet", "greet.Greeter/Recite"]);
}

/// Builds a POST request of one enveloped message with `connection: close`.
fn enveloped(method: &str, kind: &str) -> Vec<u8> {
    let message = b"{\"name\":\"Ada\"}";
    let length = message.len() as u32;
    let head = format!(
        "POST /greet.Greeter/{method} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {kind}\r\n\
         traceparent: {}\r\ncontent-length: {}\r\n\r\n\0",
        traceparent(),
        length + 5
    );
    [head.as_bytes(), &length.to_be_bytes(), message].concat()
}

#[tokio::test]
async fn grpc_call_joins_caller_trace() {
    let (server, exporter) = traced().await;
    let channel =
        tonic::transport::Channel::from_shared(format!("http://{}", server.address)).expect("address should be valid");
    let mut client = Grpc::new(channel.connect().await.expect("server should accept the connection"));
    let request = || {
        let mut request = tonic::Request::new(Name { name: "Ada".to_owned() });
        request.metadata_mut().insert("traceparent", traceparent().parse().expect("metadata value should be valid"));
        request
    };
    client.ready().await.expect("connection should be established");
    let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Greet");
    let codec = ProstCodec::<Name, Greeting>::default();
    client.unary(request(), path, codec.clone()).await.expect("call should succeed");
    client.ready().await.expect("connection should be established");
    let path = http::uri::PathAndQuery::from_static("/greet.Greeter/Recite");
    let mut verses = client.server_streaming(request(), path, codec).await.expect("call should succeed").into_inner();
    while verses.message().await.expect("stream should not fail").is_some() {}
    expect_spans(&exporter).await;
}

#[tokio::test]
async fn grpc_web_call_joins_caller_trace() {
    let (server, exporter) = traced().await;
    for method in ["Greet", "Recite"] {
        let response = server.exchange(enveloped(method, "application/grpc-web+json")).await;
        assert!(response.contains("grpc-status: 0"), "{response}");
    }
    expect_spans(&exporter).await;
}

#[tokio::test]
async fn connect_call_joins_caller_trace() {
    let (server, exporter) = traced().await;
    let fields = format!("connection: close\r\ntraceparent: {}\r\n", traceparent());
    let response = server.exchange(post("/greet.Greeter/Greet", &fields, "{\"name\":\"Ada\"}")).await;
    assert!(response.contains("Hello, Ada!"), "{response}");
    let response = server.exchange(enveloped("Recite", "application/connect+json")).await;
    assert!(response.contains("2 Ada"), "{response}");
    expect_spans(&exporter).await;
}

#[tokio::test]
async fn connect_get_call_joins_caller_trace() {
    let (server, exporter) = traced().await;
    let target = "/greet.Greeter/Greet?encoding=json&message=%7B%7D";
    let head = format!("host: localhost\r\nconnection: close\r\ntraceparent: {}\r\n", traceparent());
    server.exchange(format!("GET {target} HTTP/1.1\r\n{head}\r\n")).await;
    until("the call has ended", || {
        !exporter.get_finished_spans().expect("exporter should not be shut down").is_empty()
    })
    .await;
    let span = exporter.get_finished_spans().expect("exporter should not be shut down").remove(0);
    assert_eq!(
        (span.span_context.trace_id().to_string(), span.parent_span_id.to_string().as_str()),
        (TRACE.to_owned(), PARENT)
    );
}

/// Builds a JSON-RPC call with the trace context as metadata.
fn json_rpc(method: &str) -> String {
    let metadata = format!("{{\"traceparent\":\"{}\"}}", traceparent());
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"greet.Greeter/{method}\",\"params\":{{\"name\":\"Ada\"}},\
         \"metadata\":{metadata}}}"
    )
}

#[tokio::test]
async fn json_rpc_http_call_joins_caller_trace() {
    // The trace context is sent as an HTTP header field, or as metadata of the message.
    let fields = format!("connection: close\r\ntraceparent: {}\r\n", traceparent());
    let bare = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"greet.Greeter/Greet\",\"params\":{\"name\":\"Ada\"}}";
    for request in [post("/", &fields, bare), post("/", "connection: close\r\n", &json_rpc("Greet"))] {
        let (server, exporter) = traced().await;
        let response = server.exchange(&request).await;
        assert!(response.contains("Hello, Ada!"), "{response}");
        let spans = || exporter.get_finished_spans().expect("exporter should not be shut down");
        until("the call has ended", || !spans().is_empty()).await;
        let (context, parent) = (spans()[0].span_context.clone(), spans()[0].parent_span_id);
        assert_eq!(
            (context.trace_id().to_string().as_str(), parent.to_string().as_str()),
            (TRACE, PARENT),
            "{request}"
        );
    }
}

#[tokio::test]
async fn json_rpc_tcp_call_joins_caller_trace() {
    let (server, exporter) = traced().await;
    let mut socket = server.connect().await;
    for method in ["Greet", "Recite"] {
        socket.write_all(json_rpc(method).as_bytes()).await.expect("write should succeed");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}\n") || !answer.windows(8).any(|text| text == b"\"result\"") {
            let count = tokio::time::timeout(TIMEOUT, socket.read_buf(&mut answer))
                .await
                .expect("read should complete within the timeout");
            assert!(count.expect("connection should be open") > 0, "{}", String::from_utf8_lossy(&answer));
        }
    }
    expect_spans(&exporter).await;
}

#[tokio::test]
async fn json_rpc_web_socket_joins_caller_trace() {
    let (server, exporter) = traced().await;
    let (mut client, _) =
        Client::connect_with(server.address.parse().expect("text should be a socket address"), JSON_RPC).await;
    for method in ["Greet", "Recite"] {
        client.send(&frame(true, TEXT, json_rpc(method).as_bytes())).await;
        loop {
            let (_, _, payload) = client.frame().await;
            if String::from_utf8(payload).expect("payload should be UTF-8").contains("\"result\"") {
                break;
            }
        }
    }
    expect_spans(&exporter).await;
}
