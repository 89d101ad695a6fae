//! Counted and traced calls, ours and tonic's.
//!
//! In both, one trace in a hundred is recorded, the decision travels with the calls, and spans are sent in batches to
//! an exporter that drops them. tonic uses the layers that its users add for this: those of
//! `tonic-tracing-opentelemetry` at both ends, over a `tracing` registry that records only their spans. Its calls are
//! not counted.

use super::frpc::{Ours, Setting};
use super::tonic::{Accepted, Tonic, echo_client, incoming, server, service};
use super::{Rival, Setup};
use crate::BoxError;
use crate::background::{Bound, on_each_core};
use crate::proto::benchmark::tonic::benchmark_service_client::BenchmarkServiceClient as TonicClient;
use frpc::{ChannelBuilder, ServerBuilder};
use frpc_telemetry::Counters;
use frpc_telemetry::otel::Telemetry;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Once};
use tonic::transport::Channel;
use tonic_tracing_opentelemetry::middleware::{client, server as at_server};
use tower::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Fraction of recorded traces.
const SAMPLED: f64 = 0.01;

/// The `tracing` target of the spans of tonic's layers.
const TARGET: &str = "otel::tracing";

static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

static OURS: LazyLock<SdkTracerProvider> = LazyLock::new(|| provider(Sampler::AlwaysOn));

static TELEMETRY: LazyLock<Telemetry> =
    LazyLock::new(|| Telemetry::new().spans(OURS.tracer("compare")).sample(SAMPLED).trust_peers());

static TONICS: LazyLock<SdkTracerProvider> =
    LazyLock::new(|| provider(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(SAMPLED)))));

/// fRPC with its defaults, and counters with histograms at both ends.
pub type Counted = Ours<CountedSetting>;

/// [`Counted`] with traces.
pub type Traced = Ours<TracedSetting>;

/// See [`Counted`].
#[derive(Debug)]
pub struct CountedSetting;

impl Setting for CountedSetting {
    const NAME: &'static str = "frpc-counted";

    fn server(server: ServerBuilder) -> ServerBuilder {
        server.batch_observer(COUNTERS.clone())
    }

    fn client(client: ChannelBuilder) -> ChannelBuilder {
        client.batch_observer(COUNTERS.clone())
    }
}

/// See [`Traced`].
#[derive(Debug)]
pub struct TracedSetting;

impl Setting for TracedSetting {
    const NAME: &'static str = "frpc-traced";

    fn server(server: ServerBuilder) -> ServerBuilder {
        CountedSetting::server(server).observer(TELEMETRY.clone())
    }

    fn client(client: ChannelBuilder) -> ChannelBuilder {
        CountedSetting::client(client).observer(TELEMETRY.clone())
    }
}

/// tonic with traces, on its default runtime.
#[derive(Debug)]
pub struct TonicTraced;

impl Rival for TonicTraced {
    const NAME: &'static str = "tonic-traced";
    type Client = TonicClient<client::OtelGrpcService<Channel>>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        subscribe();
        let server = server().layer(at_server::OtelGrpcLayer::default()).add_service(service(setup));
        Ok(server.serve_with_incoming(incoming(bound)?).await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        subscribe();
        Ok(echo_client(client::OtelGrpcLayer.layer(Tonic::channel(address).await?)))
    }
}

/// Traced tonic with a runtime per core, at both ends.
#[derive(Debug)]
pub struct TonicCoresTraced;

impl Rival for TonicCoresTraced {
    const NAME: &'static str = "tonic-cores-traced";
    type Client = <TonicTraced as Rival>::Client;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        subscribe();
        on_each_core(bound, move |connections| async move {
            let server = server().layer(at_server::OtelGrpcLayer::default()).add_service(service(setup));
            Ok(server.serve_with_incoming(Accepted(connections)).await?)
        })
        .await
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<Self::Client, BoxError> {
        TonicTraced::connect(address, setup).await
    }
}

/// Records the spans of this process, like tonic's users do.
fn subscribe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
        let spans = tracing_opentelemetry::layer().with_tracer(TONICS.tracer("compare"));
        let only = Targets::new().with_target(TARGET, LevelFilter::TRACE);
        tracing_subscriber::registry().with(spans.with_filter(only)).init();
    });
}

/// Creates a provider of spans that are exported in batches.
fn provider(sampler: Sampler) -> SdkTracerProvider {
    SdkTracerProvider::builder().with_sampler(sampler).with_batch_exporter(Counting).build()
}

/// Number of exported spans.
static EXPORTED: AtomicUsize = AtomicUsize::new(0);

/// An exporter that counts spans and sends nothing.
#[derive(Debug)]
struct Counting;

impl SpanExporter for Counting {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        EXPORTED.fetch_add(batch.len(), Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::drive;

    /// Enough calls for a hundred traces of two spans each.
    const CALLS: u64 = 10_000;

    async fn exported<R: Rival>(provider: &SdkTracerProvider) -> usize {
        let before = EXPORTED.load(Ordering::Relaxed);
        let setup = Setup::new(1);
        let (bound, address) = Bound::channel();
        // Runs until the process exits.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("runtime should start");
            runtime.block_on(R::serve(setup, bound)).expect("server should start");
        });
        let address = tokio::task::spawn_blocking(move || address.recv())
            .await
            .expect("thread should not panic")
            .expect("server should send its address");
        let client =
            R::connect(address.expect("server should have an address"), setup).await.expect("client should connect");
        drive(&client, 1, 32, CALLS).await;
        provider.force_flush().expect("exporter should accept the spans");
        EXPORTED.load(Ordering::Relaxed) - before
    }

    /// Runs the cases sequentially, because they share a counter.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_trace_in_hundred_exports_both_spans() {
        let ours = exported::<Traced>(&OURS).await;
        let theirs = exported::<TonicTraced>(&TONICS).await;
        // Six standard deviations to either side.
        assert!((80..=320).contains(&ours) && (80..=320).contains(&theirs), "ours {ours}, theirs {theirs}");
    }
}
