//! One trace through several programs: a client calls a server, whose handler calls another server, whose handler
//! publishes to a topic. Prints the trace as a tree with the duration of each span.
//!
//! `cargo run --release -p traced`
//!
//! Everything runs in this process, with a single in-memory exporter. Separate programs would use `opentelemetry-otlp`
//! and send the same spans to a collector.

use frpc::observe::TraceContext;
use frpc::pubsub::{self, Broker};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status};
use frpc_telemetry::otel::Telemetry;
use greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use opentelemetry::trace::{Span as _, SpanId, SpanKind, Tracer as _, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracer, SdkTracerProvider, SpanData};
use std::error::Error;

/// Generated from `proto/greet.proto`.
mod greet {
    frpc::include_proto!("greet");
}

/// The work of a handler before it replies.
enum Work {
    /// Calls another server.
    Ask(GreeterClient),
    /// Looks up a value, and publishes it.
    Publish(SdkTracer, pubsub::Client),
}

struct Service(Work);

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner();
        match &self.0 {
            // The call inherits the trace context implicitly.
            Work::Ask(client) => client.greet(name).await,
            Work::Publish(tracer, topics) => {
                let mut span = tracer.start_with_context("look up", &frpc_telemetry::otel::context());
                let text = format!("Hello, {}!", name.name);
                span.end();
                // A message has no field for a context in addition to its content.
                let context = TraceContext::current().map_or_else(String::new, |context| context.to_string());
                let published = topics.publish("greeted", context).await;
                published.map_err(|error| Status::internal(error.to_string()))?;
                Ok(Response::new(Greeting { text }))
            }
        }
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("verses are not served here"))
    }
}

async fn serve(work: Work, telemetry: &Telemetry) -> Result<String, frpc::Error> {
    // The servers trust their callers, which belong to the same owner.
    let builder = Server::builder().observer(telemetry.clone().trust_peers());
    let server = builder.add_service(GreeterServer::new(Service(work))).bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    Ok(address)
}

async fn client(address: &str, telemetry: &Telemetry) -> Result<GreeterClient, frpc::Error> {
    let builder = Channel::builder().observer(telemetry.clone()).calls::<GreeterClient>();
    Ok(GreeterClient::new(builder.connect(address).await?))
}

/// Makes the call, and returns the spans of its trace.
async fn trace() -> Result<Vec<SpanData>, Box<dyn Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let telemetry = Telemetry::new().spans(provider.tracer("traced"));

    let broker = frisbee::Server::builder().bind("127.0.0.1:0", Broker::new()).await?;
    let topics = broker.local_addr();
    tokio::spawn(broker.serve());
    let mut greeted = pubsub::Client::connect(topics).await?.subscribe("greeted").await?;

    let publishing = Work::Publish(provider.tracer("store"), pubsub::Client::connect(topics).await?);
    let second = serve(publishing, &telemetry).await?;
    let first = serve(Work::Ask(client(&second, &telemetry).await?), &telemetry).await?;
    client(&first, &telemetry).await?.greet(Name { name: "Ada".to_owned() }).await?;

    let message = greeted.recv().await?;
    let context = TraceContext::from_traceparent(std::str::from_utf8(message.payload())?).ok_or("no context came")?;
    let tracer = provider.tracer("subscriber");
    let take = async { drop(tracer.start_with_context("take from topic", &frpc_telemetry::otel::context())) };
    context.carry(take).await;
    // A server ends a call after sending its reply, so the client may be ahead of it.
    while telemetry.in_progress() > 0 {
        tokio::task::yield_now().await;
    }
    Ok(exporter.get_finished_spans()?)
}

/// Formats the spans below a parent as indented lines, in the order of their start.
fn tree(spans: &[SpanData], parent: SpanId, depth: usize, shows: &impl Fn(&SpanData) -> String) -> String {
    let mut below: Vec<_> = spans.iter().filter(|span| span.parent_span_id == parent).collect();
    below.sort_by_key(|span| span.start_time);
    let lines = below.into_iter().map(|span| {
        let line = format!("{:indent$}{}\n", "", shows(span), indent = 2 * depth);
        line + &tree(spans, span.span_context.span_id(), depth + 1, shows)
    });
    lines.collect()
}

fn name(span: &SpanData) -> String {
    match span.span_kind {
        SpanKind::Client => format!("client {}", span.name),
        SpanKind::Server => format!("server {}", span.name),
        _ => span.name.to_string(),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let spans = trace().await?;
    if let Some(span) = spans.first() {
        println!("trace {}", span.span_context.trace_id());
    }
    let with_time = |span: &SpanData| {
        let took = span.end_time.duration_since(span.start_time).unwrap_or_default();
        format!("{}, {took:.0?}", name(span))
    };
    print!("{}", tree(&spans, SpanId::INVALID, 0, &with_time));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn trace_tree_spans_client_to_subscriber() {
        let spans = trace().await.expect("trace on this machine should complete");
        assert!(spans.iter().all(|span| span.span_context.trace_id() == spans[0].span_context.trace_id()));
        let expected = "client greet.Greeter/Greet\n  server greet.Greeter/Greet\n    client greet.Greeter/Greet\n      \
                        server greet.Greeter/Greet\n        look up\n        take from topic\n";
        assert_eq!(tree(&spans, SpanId::INVALID, 0, &name), expected);
    }
}
