//! Metrics of a server's connections and their memory.

use frpc::Stats;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

/// Registers observable instruments for a server's connections and their memory.
///
/// Values and names are the same as on [the page for Prometheus](crate::Snapshot::prometheus), with dots in place of
/// underscores.
///
/// ```
/// use frpc_telemetry::otel::observe_stats;
/// use opentelemetry::global;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = frpc::Server::builder().bind("127.0.0.1:0").await?;
/// observe_stats(&global::meter("greeter"), &server.stats());
/// # Ok(())
/// # }
/// ```
pub fn observe_stats(meter: &Meter, stats: &Stats) {
    type Read = fn(&Stats) -> u64;
    let counters: [(&'static str, &'static str, Read); 6] = [
        ("frisbee.bytes.read", "Bytes received from peers.", Stats::bytes_read),
        ("frisbee.bytes.written", "Bytes written to peers.", Stats::bytes_written),
        ("frisbee.streams.opened", "Streams opened since the start.", Stats::streams_opened),
        ("frisbee.connections.opened", "Connections opened since the start.", Stats::opened),
        ("frisbee.shed", "Requests, streams and messages rejected because of a limit.", Stats::rejected),
        ("frisbee.accept_failures", "Failures to accept a connection.", Stats::not_accepted),
    ];
    for (name, description, read) in counters {
        let stats = stats.clone();
        let counter = meter.u64_observable_counter(name).with_description(description);
        counter.with_callback(move |observer| observer.observe(read(&stats), &[])).build();
    }
    let closed = stats.clone();
    let counter = meter.u64_observable_counter("frisbee.connections.closed");
    counter
        .with_description("Ended connections, by the kind of reason.")
        .with_callback(move |observer| {
            for (kind, count) in closed.closed() {
                observer.observe(count, &[KeyValue::new("reason", kind.name())]);
            }
        })
        .build();
    let open = stats.clone();
    let gauge = meter.u64_observable_gauge("frisbee.connections").with_description("Open connections.");
    gauge.with_callback(move |observer| observer.observe(open.open(), &[])).build();
    let streams = stats.clone();
    let gauge = meter.u64_observable_gauge("frisbee.streams").with_description("Open streams.");
    gauge.with_callback(move |observer| observer.observe(streams.streams(), &[])).build();
    let gauge_stats = stats.clone();
    let gauge = meter.u64_observable_gauge("frisbee.memory.held").with_unit("By");
    gauge
        .with_description("Bytes that are held for peers and charged to the memory limit.")
        .with_callback(move |observer| observer.observe(gauge_stats.memory_held() as u64, &[]))
        .build();
}
