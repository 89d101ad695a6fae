//! Snapshots in the text format of Prometheus.

use super::{FigureKind, Metric, Snapshot};
use frpc::Stats;
use frpc::observe::CallSide;
use std::fmt::{Display, Write as _};
use std::time::Duration;

/// Bucket bounds in nanoseconds, as exponents of two: from 4 µs to 34 s. The number of durations below a power of two
/// is exact.
const BOUNDS: std::ops::RangeInclusive<u32> = 12..=35;

impl Snapshot {
    /// Media type of the text that [`prometheus`](Self::prometheus) returns.
    pub const PROMETHEUS_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Returns the snapshot in the text format of Prometheus, with the connection counts of a server if `stats` is
    /// given.
    ///
    /// ```
    /// let counters = frpc_telemetry::Counters::new();
    /// let text = counters.snapshot().prometheus(None);
    /// assert!(text.contains("frpc_late_replies_total 0\n"));
    /// ```
    pub fn prometheus(&self, stats: Option<&Stats>) -> String {
        self.exposition(&self.figures(stats))
    }

    /// Like [`prometheus`](Self::prometheus), but includes the connection metrics of several servers, distinguished by
    /// the label `server`.
    pub fn prometheus_of(&self, servers: &[(String, Stats)]) -> String {
        self.exposition(&self.figures_of(servers))
    }

    fn exposition(&self, figures: &[Metric]) -> String {
        let mut text = String::new();
        for (side, name) in [
            (CallSide::Server, "frpc_server_call_duration_seconds"),
            (CallSide::Client, "frpc_client_call_duration_seconds"),
        ] {
            self.put_durations(&mut text, side, name);
        }
        let mut name = "";
        for figure in figures {
            if figure.name != name {
                name = figure.name;
                begin(&mut text, name, kind(figure.kind), figure.help);
            }
            put(&mut text, name, &labels(figure), figure.value);
        }
        text
    }

    fn put_durations(&self, text: &mut String, side: CallSide, name: &str) {
        begin(text, name, "histogram", "Duration of calls, by method and code.");
        for calls in self.calls.iter().filter(|calls| calls.side == side) {
            // Names in the schema consist of letters, digits, underscores and dots, so they need no escaping.
            let code = calls.code.name().to_ascii_lowercase();
            let labels = format!("service=\"{}\",method=\"{}\",code=\"{code}\"", calls.service, calls.method);
            for bound in BOUNDS.map(|power| Duration::from_nanos(1 << power)) {
                let (below, bound) = (calls.durations.below(bound), bound.as_secs_f64());
                put(text, &format!("{name}_bucket"), &format!("{labels},le=\"{bound}\""), below);
            }
            let count = calls.durations.count();
            put(text, &format!("{name}_bucket"), &format!("{labels},le=\"+Inf\""), count);
            put(text, &format!("{name}_sum"), &labels, calls.durations.sum().as_secs_f64());
            put(text, &format!("{name}_count"), &labels, count);
        }
    }
}

/// Writes the help and type lines of a metric.
fn begin(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

fn kind(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Counter => "counter",
        FigureKind::Gauge => "gauge",
    }
}

/// Returns the labels of a metric in Prometheus format. Server names are escaped, because they come from the program or
/// a resolver.
fn labels(figure: &Metric) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<_> = figure.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    labels.join(",")
}

/// Writes a sample line with its labels, if there are any.
fn put(text: &mut String, name: &str, labels: &str, value: impl Display) {
    let _ =
        if labels.is_empty() { writeln!(text, "{name} {value}") } else { writeln!(text, "{name}{{{labels}}} {value}") };
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::observe::ServerLoad;

    #[test]
    fn server_name_is_escaped_in_label() {
        let servers = vec![ServerLoad::new("a\"} 1\nb\\", Some(3), true)];
        let text = Snapshot { servers, ..Snapshot::default() }.prometheus(None);
        assert!(text.contains("frpc_client_server_calls{server=\"a\\\"} 1\\nb\\\\\"} 3\n"), "{text}");
        assert!(text.contains("# TYPE frpc_client_server_suspicions gauge\n"), "{text}");
    }
}
