//! Metrics of a server's connections and their memory.

use frpc::Stats;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

/// Registers observable instruments for a server's connections and their memory.
///
/// Values are the same as on [the page for Prometheus](crate::Snapshot::prometheus). Names have dots in place of
/// underscores, except in `accept_failures`, and lack the endings `_total` and `_bytes`.
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
    let shed = "Requests, streams and messages rejected because of a limit.";
    let counters: [(&'static str, &'static str, &'static str, Read); 6] = [
        ("frisbee.bytes.read", "Bytes received from peers.", "By", Stats::bytes_read),
        ("frisbee.bytes.written", "Bytes written to peers.", "By", Stats::bytes_written),
        ("frisbee.streams.opened", "Streams opened since the start.", "", Stats::streams_opened),
        ("frisbee.connections.opened", "Connections opened since the start.", "", Stats::opened),
        ("frisbee.shed", shed, "", Stats::rejected),
        ("frisbee.accept_failures", "Failures to accept a connection.", "", Stats::not_accepted),
    ];
    for (name, description, unit, read) in counters {
        let stats = stats.clone();
        let counter = meter.u64_observable_counter(name).with_description(description).with_unit(unit);
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
    let output = "Bytes queued for writing, in steps of 16 KiB per connection.";
    let holds = "Bytes of long requests and replies of other protocols, and bytes held by handlers.";
    let memory_held = "Bytes that are held for peers and charged to the memory limit.";
    let gauges: [(_, _, _, Read); 6] = [
        ("frisbee.connections", "Open connections.", "", Stats::open),
        ("frisbee.streams", "Open streams.", "", Stats::streams),
        ("frisbee.output.waiting", output, "By", |stats| stats.output_waiting() as u64),
        ("frisbee.holds", holds, "By", |stats| stats.charged_bytes() as u64),
        ("frisbee.memory.held", memory_held, "By", |stats| stats.memory_held() as u64),
        ("frisbee.memory.max", "Maximum number of bytes held for peers.", "By", |stats| stats.memory_max() as u64),
    ];
    for (name, description, unit, read) in gauges {
        let stats = stats.clone();
        let gauge = meter.u64_observable_gauge(name).with_description(description).with_unit(unit);
        gauge.with_callback(move |observer| observer.observe(read(&stats), &[])).build();
    }
}
