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
    let memory_held = "Bytes that are held for peers and charged to the memory limit.";
    let gauges: [(_, _, _, Read); 3] = [
        ("frisbee.connections", "Open connections.", "", Stats::open),
        ("frisbee.streams", "Open streams.", "", Stats::streams),
        ("frisbee.memory.held", memory_held, "By", |stats| stats.memory_held() as u64),
    ];
    for (name, description, unit, read) in gauges {
        let stats = stats.clone();
        let gauge = meter.u64_observable_gauge(name).with_description(description).with_unit(unit);
        gauge.with_callback(move |observer| observer.observe(read(&stats), &[])).build();
    }
}
