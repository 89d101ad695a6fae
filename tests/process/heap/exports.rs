//! Tests of the memory of spans while a collector does not answer.

use super::allocator::live;
use frisbee_tests::process::ran_alone;
use frpc::{Channel, Server};
use frpc_telemetry::otel::{Exports, Telemetry};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use samples::greet::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};

/// An exporter for a collector that does not answer until the test drops the other end of the channel.
#[derive(Debug)]
struct Silent(Mutex<Receiver<()>>);

impl SpanExporter for Silent {
    async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).recv();
        Ok(())
    }
}

/// Number of calls per round. Each call creates a span at both ends, and all of them together exceed the queue.
const CALLS: u64 = 1_500;

#[tokio::test]
async fn silent_collector_drops_and_counts_spans() {
    if ran_alone(|| ()) {
        return;
    }
    let (answer, silence) = channel();
    let exports = Exports::new();
    let processor = exports.processor(Silent(Mutex::new(silence)));
    let provider = SdkTracerProvider::builder().with_span_processor(processor).build();
    let telemetry = Telemetry::new().spans(provider.tracer("test"));
    let builder = Server::builder().observer(telemetry.clone()).add_service(GreeterServer::new(Polite));
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let builder = Channel::builder().observer(telemetry.clone()).calls::<GreeterClient>();
    let client = GreeterClient::new(builder.connect(address).await.expect("server should accept the connection"));
    let mut held = Vec::new();
    for _ in 0..3 {
        for _ in 0..CALLS {
            client.greet(Name { name: "Ada".to_owned() }).await.expect("call should succeed");
        }
        held.push(live());
    }
    assert_eq!((exports.waiting(), exports.exported()), (2048, 0));
    // The server may not have ended the span of its last call yet.
    assert!((2 * 3 * CALLS - 2049..=2 * 3 * CALLS - 2048).contains(&exports.dropped()), "{exports:?}");
    // A span takes several hundred bytes, so the spans of one round would take a megabyte.
    assert!(held[2] < held[0] + 64 * 1024, "{held:?}");
    drop(answer);
    provider.shutdown().expect("socket should shut down");
    assert_eq!((exports.exported(), exports.waiting(), telemetry.in_progress()), (2048, 0, 0));
}
