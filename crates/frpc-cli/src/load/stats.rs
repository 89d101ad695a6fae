//! Measurements of a load test: a histogram per method, status codes, and a timeline.

use super::report::{SampleRow, quantile_millis};
use frpc::Code;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum recorded latency in nanoseconds: one hour.
const LONGEST: u64 = 3_600_000_000_000;

/// Maximum number of rows in the timeline. A plot has space for this many.
const ROWS: u32 = 200;

/// Minimum duration of a timeline row, so that several calls end in each row.
const ROW_MIN: Duration = Duration::from_millis(100);

/// Method and result of a single call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Index of the called method among the methods of the load.
    pub(crate) method: usize,
    pub(crate) code: Code,
}

/// Measurements of a load test, both for each method and for all methods together.
#[derive(Debug)]
pub(crate) struct Stats {
    pub(crate) methods: Vec<MethodStats>,
    /// Latencies of all methods together, in nanoseconds.
    pub(crate) all: Histogram<u64>,
    /// Delays between the scheduled and the actual start of calls, in nanoseconds.
    late: Histogram<u64>,
    /// Time at which the last call has ended, relative to the start of the load.
    ended: Duration,
    /// Rows of the timeline that are complete.
    pub(crate) rows: Vec<SampleRow>,
    row_length: Duration,
    /// Latencies of the calls in the current row, in nanoseconds.
    row_latency: Histogram<u64>,
    /// Number of failed calls in the current row.
    row_failed: u64,
}

/// Measurements for one method of the load.
#[derive(Debug)]
pub(crate) struct MethodStats {
    pub(crate) name: String,
    /// Latencies of the method's calls in nanoseconds.
    pub(crate) latency: Histogram<u64>,
    /// Number of calls that ended with each status code.
    pub(crate) codes: BTreeMap<&'static str, u64>,
}

impl Stats {
    pub(crate) fn new(methods: Vec<String>, duration: Duration) -> Self {
        let method = |name| MethodStats { name, latency: histogram(3), codes: BTreeMap::new() };
        Self {
            methods: methods.into_iter().map(method).collect(),
            all: histogram(3),
            late: histogram(2),
            ended: Duration::ZERO,
            rows: Vec::new(),
            row_length: (duration / ROWS).max(ROW_MIN),
            row_latency: histogram(2),
            row_failed: 0,
        }
    }

    /// Records a call that ended at the time `at`, relative to the start of the load.
    pub(crate) fn record(&mut self, at: Duration, took: Duration, late: Duration, outcome: Outcome) {
        while at >= self.row_end() {
            self.end_row();
        }
        self.ended = self.ended.max(at);
        let nanos = nanos(took);
        self.all.saturating_record(nanos);
        self.late.saturating_record(self::nanos(late));
        self.row_latency.saturating_record(nanos);
        self.row_failed += u64::from(outcome.code != Code::Ok);
        if let Some(method) = self.methods.get_mut(outcome.method) {
            method.latency.saturating_record(nanos);
            *method.codes.entry(outcome.code.name()).or_default() += 1;
        }
    }

    /// Completes the last row of the timeline, because the load has ended.
    pub(crate) fn finish(&mut self) {
        if !self.row_latency.is_empty() {
            self.end_row();
        }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.all.len()
    }

    /// Returns the number of calls per second. `duration` is the planned duration of the load test. If the last call
    /// ended later because the server was too slow, that time is used instead.
    pub(crate) fn calls_per_second(&self, duration: Duration) -> f64 {
        self.calls() as f64 / duration.max(self.ended).as_secs_f64()
    }

    pub(crate) fn failed(&self) -> u64 {
        let ok = self.methods.iter().filter_map(|method| method.codes.get(Code::Ok.name())).sum::<u64>();
        self.calls().saturating_sub(ok)
    }

    pub(crate) fn max(&self) -> Duration {
        Duration::from_nanos(self.all.max())
    }

    /// Returns the maximum delay between the scheduled and the actual start of a call.
    pub(crate) fn late_max(&self) -> Duration {
        Duration::from_nanos(self.late.max())
    }

    /// Returns the number of calls that took at least `time`.
    pub(crate) fn slower_than(&self, time: Duration) -> u64 {
        self.all.len().saturating_sub(self.all.count_between(0, nanos(time).saturating_sub(1)))
    }

    fn row_end(&self) -> Duration {
        self.row_length.saturating_mul(u32::try_from(self.rows.len()).unwrap_or(u32::MAX).saturating_add(1))
    }

    fn end_row(&mut self) {
        let latency = &self.row_latency;
        self.rows.push(SampleRow {
            second: self.row_end().as_secs_f64(),
            calls_per_second: latency.len() as f64 / self.row_length.as_secs_f64(),
            failed: self.row_failed,
            p50: quantile_millis(latency, 0.5),
            p99: quantile_millis(latency, 0.99),
            max: quantile_millis(latency, 1.0),
        });
        self.row_latency.reset();
        self.row_failed = 0;
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(LONGEST).clamp(1, LONGEST)
}

/// Creates a histogram that stores latencies with this number of significant digits.
fn histogram(digits: u8) -> Histogram<u64> {
    // The bounds and the number of digits are valid constants.
    Histogram::new_with_bounds(1, LONGEST, digits).expect("bounds and precision of the histogram should be valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_contiguous_without_ended_calls() {
        let mut stats = Stats::new(vec!["a.B/C".to_owned()], Duration::from_secs(10));
        let millis = Duration::from_millis;
        let ok = Outcome { method: 0, code: Code::Ok };
        stats.record(millis(10), millis(1), Duration::ZERO, ok);
        stats.record(millis(350), millis(200), Duration::ZERO, Outcome { code: Code::Aborted, ..ok });
        stats.finish();
        let tenths = |value: f64| (value * 10.0).round();
        let rows = stats.rows.iter().map(|row| (tenths(row.second), tenths(row.calls_per_second), row.failed));
        assert_eq!(Vec::from_iter(rows), [(1.0, 100.0, 0), (2.0, 0.0, 0), (3.0, 0.0, 0), (4.0, 100.0, 1)]);
        assert_eq!((stats.calls(), stats.failed()), (2, 1));
        assert_eq!(stats.slower_than(millis(100)), 1);
        assert_eq!(stats.methods[0].codes[Code::Aborted.name()], 1);
    }

    #[test]
    fn rate_includes_time_until_last_call_ends() {
        let seconds = Duration::from_secs;
        let mut stats = Stats::new(vec!["a.B/C".to_owned()], seconds(10));
        let ok = Outcome { method: 0, code: Code::Ok };
        for (at, rate) in [(1, 0.1), (10, 0.2), (30, 0.1)] {
            stats.record(seconds(at), seconds(1), Duration::ZERO, ok);
            let found = stats.calls_per_second(seconds(10));
            assert!((found - rate).abs() < 1e-9, "rate is {found} after {at} s");
        }
    }
}
