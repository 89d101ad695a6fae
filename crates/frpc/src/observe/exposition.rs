//! Snapshots as text for Prometheus.

use crate::Stats;
use crate::observe::{Side, Snapshot};
use std::fmt::{Display, Write as _};
use std::time::Duration;

/// The bounds of the buckets in nanoseconds, as powers of two: from 4 µs to 34 s, at which counts are exact.
const BOUNDS: std::ops::RangeInclusive<u32> = 12..=35;

impl Snapshot {
    /// The media type of [`prometheus`](Self::prometheus).
    pub const PROMETHEUS_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// The snapshot in the text format of Prometheus, with the counts of a server's connections if they are given.
    ///
    /// ```
    /// let counters = frpc::observe::Counters::new();
    /// let text = counters.snapshot().prometheus(None);
    /// assert!(text.contains("frpc_late_replies_total 0\n"));
    /// ```
    pub fn prometheus(&self, stats: Option<&Stats>) -> String {
        let mut text = String::new();
        for (side, name) in
            [(Side::Server, "frpc_server_call_duration_seconds"), (Side::Client, "frpc_client_call_duration_seconds")]
        {
            self.put_durations(&mut text, side, name);
        }
        let name = "frpc_client_retries_total";
        begin(&mut text, name, "counter", "Attempts at calls after which another one was made.");
        for retried in &self.retried {
            let (service, method) = (retried.service, retried.method);
            let code = retried.code as i32;
            put(
                &mut text,
                name,
                format_args!("service=\"{service}\",method=\"{method}\",code=\"{code}\""),
                retried.count,
            );
        }
        single(
            &mut text,
            "frpc_late_replies_total",
            "counter",
            "Replies that came when their calls had ended.",
            self.late_replies,
        );
        single(
            &mut text,
            "frpc_unserved_total",
            "counter",
            "Requests that were refused without a method.",
            self.unserved,
        );
        let help = "Connections that clients have made, those that replace others included.";
        single(&mut text, "frpc_client_connections_made_total", "counter", help, self.connections_made);
        let help = "Attempts of clients at a connection that have failed.";
        single(&mut text, "frpc_client_connections_failed_total", "counter", help, self.connections_failed);
        if let Some(stats) = stats {
            put_stats(&mut text, stats);
        }
        text
    }

    fn put_durations(&self, text: &mut String, side: Side, name: &str) {
        begin(text, name, "histogram", "How long calls took, by method and gRPC's number of the code of their end.");
        for calls in self.calls.iter().filter(|calls| calls.side == side) {
            // Names of a schema consist of letters, digits, underscores and dots, so nothing is escaped.
            let labels =
                format!("service=\"{}\",method=\"{}\",code=\"{}\"", calls.service, calls.method, calls.code as i32);
            for bound in BOUNDS.map(|power| Duration::from_nanos(1 << power)) {
                let (below, bound) = (calls.durations.below(bound), bound.as_secs_f64());
                put(text, &format!("{name}_bucket"), format_args!("{labels},le=\"{bound}\""), below);
            }
            let count = calls.durations.count();
            put(text, &format!("{name}_bucket"), format_args!("{labels},le=\"+Inf\""), count);
            put(text, &format!("{name}_sum"), &labels, calls.durations.sum().as_secs_f64());
            put(text, &format!("{name}_count"), &labels, count);
        }
    }
}

fn put_stats(text: &mut String, stats: &Stats) {
    let opened = stats.opened();
    single(text, "frisbee_connections_opened_total", "counter", "Connections that were ever driven.", opened);
    single(text, "frisbee_connections", "gauge", "Connections that are open.", stats.open());
    let name = "frisbee_connections_closed_total";
    begin(text, name, "counter", "Connections that have ended, by the kind of the reason.");
    for (kind, count) in stats.closed() {
        put(text, name, format_args!("reason=\"{}\"", kind.name()), count);
    }
    let help = "Requests, streams and messages that were refused because of a limit.";
    single(text, "frisbee_shed_total", "counter", help, stats.shed());
    let help = "Failures to accept a connection.";
    single(text, "frisbee_accept_failures_total", "counter", help, stats.not_accepted());
    let help = "Bytes that are held for peers and charged to the memory limit.";
    single(text, "frisbee_memory_held_bytes", "gauge", help, stats.memory_held());
    let help = "Bytes that may be held for peers.";
    single(text, "frisbee_memory_max_bytes", "gauge", help, stats.memory_max());
}

/// Begins a metric.
fn begin(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string does not fail.
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

/// A value with labels.
fn put(text: &mut String, name: &str, labels: impl Display, value: impl Display) {
    let _ = writeln!(text, "{name}{{{labels}}} {value}");
}

/// A metric without labels.
fn single(text: &mut String, name: &str, kind: &str, help: &str, value: impl Display) {
    begin(text, name, kind, help);
    let _ = writeln!(text, "{name} {value}");
}
