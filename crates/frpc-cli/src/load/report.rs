//! Load reports as text and JSON, and the comparison of two reports.

use super::stats::Stats;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Results of a load test. Times are in milliseconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) server: String,
    pub(crate) mode: String,
    pub(crate) connections: usize,
    pub(crate) seconds: f64,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) calls_per_second: f64,
    pub(crate) latency: Latency,
    /// Number of calls that took at least `slow_from`.
    pub(crate) slow: u64,
    pub(crate) slow_from: f64,
    /// Maximum delay between the scheduled and the actual start of a call. Includes the wait for a free caller.
    pub(crate) late_max: f64,
    pub(crate) methods: Vec<Method>,
    pub(crate) timeline: Vec<SampleRow>,
    /// Latency distribution of all calls, as pairs of a quantile (0 to 1) and its latency.
    pub(crate) distribution: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Latency {
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) calls: u64,
    /// Number of calls that ended with each status code.
    pub(crate) codes: BTreeMap<String, u64>,
    pub(crate) latency: Latency,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SampleRow {
    /// End of the interval, in seconds since the start of the load.
    pub(crate) second: f64,
    pub(crate) calls_per_second: f64,
    pub(crate) failed: u64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the time in milliseconds within which this share of calls ended. The histogram is in nanoseconds.
pub(super) fn quantile_millis(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    histogram.value_at_quantile(quantile) as f64 / 1e6
}

impl Report {
    pub(crate) fn new(
        stats: &Stats,
        server: &str,
        mode: String,
        connections: usize,
        duration: Duration,
        slow: Duration,
    ) -> Self {
        let methods = stats.methods.iter().map(|method| Method {
            name: method.name.clone(),
            calls: method.latency.len(),
            codes: method.codes.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect(),
            latency: Latency::new(&method.latency),
        });
        let quantiles = (0..=40).map(|step| 1.0 - 10_f64.powf(-f64::from(step) / 8.0));
        let distribution = quantiles.map(|quantile| (quantile, quantile_millis(&stats.all, quantile)));
        Self {
            server: server.to_owned(),
            mode,
            connections,
            seconds: duration.as_secs_f64(),
            calls: stats.calls(),
            failed: stats.failed(),
            calls_per_second: stats.calls_per_second(duration),
            latency: Latency::new(&stats.all),
            slow: stats.slower_than(slow),
            slow_from: millis(slow),
            late_max: millis(stats.late_max()),
            methods: methods.collect(),
            timeline: stats.rows.clone(),
            distribution: distribution.collect(),
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let Self { server, mode, seconds, connections, .. } = self;
        // Writing to a string cannot fail, so ignore the result.
        let plural = if *connections == 1 { "" } else { "s" };
        let _ = writeln!(out, "{server}, {mode}, {seconds} s, {connections} connection{plural}\n");
        let _ = writeln!(out, "calls    {}, {:.1} a second, {} failed", self.calls, self.calls_per_second, self.failed);
        let _ = writeln!(out, "latency  {}", self.latency.text());
        let share = 100.0 * self.slow as f64 / self.calls.max(1) as f64;
        let _ = writeln!(out, "slow     {share:.2} % took {} ms or longer", self.slow_from);
        if self.mode.starts_with("open") {
            let _ =
                writeln!(out, "late     calls started up to {} ms after their intended start", shown(self.late_max));
        }
        for method in &self.methods {
            let codes: Vec<_> = method.codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
            let _ = writeln!(out, "\n{}: {}", method.name, codes.join(", "));
            if self.methods.len() > 1 {
                let _ = writeln!(out, "  {}", method.latency.text());
            }
        }
        out
    }
}

impl Latency {
    fn new(histogram: &Histogram<u64>) -> Self {
        let at = |quantile| quantile_millis(histogram, quantile);
        let (min, mean) = (at(0.0), histogram.mean() / 1e6);
        Self { min, mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1.0) }
    }

    /// Returns the values with their labels.
    pub(super) fn labelled(&self) -> [(&'static str, f64); 7] {
        let Self { min, mean, p50, p90, p99, p999, max } = *self;
        [("min", min), ("mean", mean), ("p50", p50), ("p90", p90), ("p99", p99), ("p99.9", p999), ("max", max)]
    }

    fn text(&self) -> String {
        let parts = self.labelled().map(|(label, value)| format!("{label} {}", shown(value)));
        format!("{} ms", parts.join("  "))
    }
}

/// Formats a time with three significant digits.
pub(crate) fn shown(millis: f64) -> String {
    match millis {
        _ if millis >= 100.0 => format!("{millis:.0}"),
        _ if millis >= 10.0 => format!("{millis:.1}"),
        _ if millis >= 1.0 => format!("{millis:.2}"),
        _ => format!("{millis:.3}"),
    }
}

/// A quantity in two load reports.
#[derive(Serialize)]
pub(crate) struct Figure {
    name: String,
    before: f64,
    after: f64,
    /// Ratio of the second value to the first, or `None` if the first is 0.
    ratio: Option<f64>,
}

/// Compares two load reports.
pub(crate) fn figures(before: &Report, after: &Report) -> Vec<Figure> {
    let figure = |name: String, before: f64, after: f64| {
        let ratio = (before > 0.0).then(|| after / before);
        Figure { name, before, after, ratio }
    };
    let share = |report: &Report| 100.0 * report.slow as f64 / report.calls.max(1) as f64;
    let mut figures = vec![
        figure("calls/s".to_owned(), before.calls_per_second, after.calls_per_second),
        figure("failed".to_owned(), before.failed as f64, after.failed as f64),
        figure("slow, %".to_owned(), share(before), share(after)),
    ];
    for ((label, one), (_, other)) in before.latency.labelled().into_iter().zip(after.latency.labelled()).skip(1) {
        figures.push(figure(format!("{label}, ms"), one, other));
    }
    for method in before.methods.iter().filter(|_| before.methods.len() > 1) {
        if let Some(same) = after.methods.iter().find(|other| other.name == method.name) {
            figures.push(figure(format!("p99 {}", method.name), method.latency.p99, same.latency.p99));
        }
    }
    figures
}

/// Formats a comparison of two load reports as a table.
pub(crate) fn comparison(before: &Report, after: &Report, figures: &[Figure]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "before: {}, {}\nafter:  {}, {}\n", before.server, before.mode, after.server, after.mode);
    let _ = writeln!(out, "{:<16}{:>14}{:>14}{:>10}", "", "before", "after", "ratio");
    for Figure { name, before, after, ratio } in figures {
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        let _ = writeln!(out, "{name:<16}{:>14}{:>14}{ratio:>10}", shown(*before), shown(*after));
    }
    out
}
