//! Export of [`Counters`] through the facade [`metrics`](https://docs.rs/metrics).
//!
//! [`MetricsExporter`] copies [`Counters`] to the recorder of the program whenever `record` is called. Calls do not use
//! the facade directly, because each would cost a lookup in the recorder.

use crate::{Calls, Counters, FigureKind};
use frpc::Stats;
use frpc::observe::CallSide;
use metrics::{Label, SharedString, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Names of the duration histograms of servers and clients, which are in seconds.
const DURATIONS: [&str; 2] = ["frpc_server_call_duration_seconds", "frpc_client_call_duration_seconds"];

/// Key of a duration histogram: side, service, method and status code.
type Row = (CallSide, &'static str, &'static str, i32);

/// Copies [`Counters`] to the recorder of the program.
///
/// Names and labels are the same as on [the page for Prometheus](crate::Snapshot::prometheus). A duration is recorded
/// as the upper bound of its bucket, which is at most an eighth too long. The first `record` reports all durations,
/// later ones those since the previous call, so use one `MetricsExporter` per set of counters.
///
/// ```
/// use frpc_telemetry::Counters;
/// use frpc_telemetry::metrics::MetricsExporter;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let counters = Counters::new();
/// let server = frpc::Server::builder().batch_observer(counters.clone()).bind("127.0.0.1:0").await?;
/// let mut figures = MetricsExporter::new(&counters).stats(&server.stats());
/// // Every few seconds, or before each scrape:
/// figures.record();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MetricsExporter {
    counters: Counters,
    stats: Option<Stats>,
    /// Counts that have already been recorded, by histogram and bucket. Only the increase since then is recorded.
    reported: HashMap<Row, HashMap<Duration, u64>>,
    /// Names of the metrics with a registered description. Some metrics appear later, such as the metrics of a
    /// channel's servers.
    described: HashSet<&'static str>,
    /// Gauges of the last export, by name and labels.
    gauges: HashSet<(&'static str, Labels)>,
}

/// Label names and values of a metric.
type Labels = Vec<(&'static str, String)>;

fn to_labels(labels: &Labels) -> Vec<Label> {
    labels.iter().map(|(name, value)| Label::new(*name, value.clone())).collect()
}

impl MetricsExporter {
    /// Creates an exporter that reports these counters.
    #[must_use]
    pub fn new(counters: &Counters) -> Self {
        Self {
            counters: counters.clone(),
            stats: None,
            reported: HashMap::new(),
            described: HashSet::new(),
            gauges: HashSet::new(),
        }
    }

    /// Adds the connection metrics of a server to the export.
    #[must_use]
    pub fn stats(self, stats: &Stats) -> Self {
        Self { stats: Some(stats.clone()), ..self }
    }

    /// Copies the counters to the recorder of the current thread or to the global one. Without a recorder, the values
    /// are lost.
    pub fn record(&mut self) {
        let snapshot = self.counters.snapshot();
        for name in DURATIONS {
            if self.described.insert(name) {
                describe_histogram!(name, metrics::Unit::Seconds, "Duration of calls, by method and code.");
            }
        }
        for calls in &snapshot.calls {
            self.record_durations(calls);
        }
        let before = std::mem::take(&mut self.gauges);
        for figure in snapshot.figures(self.stats.as_ref()) {
            let labels = to_labels(&figure.labels);
            let (name, help) = (figure.name, SharedString::const_str(figure.help));
            let describes = self.described.insert(name);
            match figure.kind {
                FigureKind::Gauge => {
                    if describes {
                        describe_gauge!(name, help);
                    }
                    gauge!(name, labels).set(figure.value as f64);
                    self.gauges.insert((name, figure.labels));
                }
                // All other metrics are counters, including sums.
                _ => {
                    if describes {
                        describe_counter!(name, help);
                    }
                    counter!(name, labels).absolute(figure.value);
                }
            }
        }
        // Reset the gauges of servers that are no longer used, because a recorder keeps the last value of a gauge.
        for (name, labels) in before.difference(&self.gauges) {
            gauge!(*name, to_labels(labels)).set(0.0);
        }
    }

    /// Records the durations of the calls completed since the previous export.
    fn record_durations(&mut self, calls: &Calls) {
        let code = calls.code as i32;
        let reported = self.reported.entry((calls.side, calls.service, calls.method, code)).or_default();
        let labels = vec![
            Label::from_static_parts("service", calls.service),
            Label::from_static_parts("method", calls.method),
            Label::new("code", calls.code.name().to_ascii_lowercase()),
        ];
        let [server, client] = DURATIONS;
        let histogram = match calls.side {
            CallSide::Server => histogram!(server, labels),
            CallSide::Client => histogram!(client, labels),
        };
        for (end, count) in calls.durations.ranges() {
            let before = reported.entry(end).or_default();
            let new = count.saturating_sub(*before);
            if new > 0 {
                histogram.record_many(end.as_secs_f64(), usize::try_from(new).unwrap_or(usize::MAX));
            }
            *before += new; // A success that was corrected later stays reported.
        }
    }
}
