//! Load of a server, reported to clients on request: the number of calls in progress, and the expected duration of
//! another call.
//!
//! Calls with handlers that are ready immediately are not counted, because they end before a report could be used.

use crate::clock;
use crate::wire::report::Report;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Number of size classes for the number of calls in progress: powers of two up to 2^15. The last class has no limit.
const POWERS: usize = 16;

/// Smoothing divisor of the moving average. Clients choose the lowest of many reported values, which favours outliers.
/// A smaller divisor of 8 increases the tail latency of load-balanced channels.
const SMOOTHING: i64 = 16;

/// Load of a server, reported to clients so that they can choose among servers.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Whether any client has requested load reports. If not, calls are not counted.
    pub(crate) is_enabled: AtomicBool,
    /// Number of calls in progress on all connections.
    in_progress: AtomicU32,
    /// Average call duration in nanoseconds, divided by the number of calls in progress at the start of the call, for
    /// each size class. 0 if there are no measurements. The division compensates for different numbers within a class.
    nanos_each: [AtomicU64; POWERS],
}

impl Load {
    /// Counts a call as in progress until the guard is dropped. Returns `None` if no client has requested load reports.
    /// Set `is_reported` if the caller of this call has requested them.
    pub(crate) fn enter(load: &Arc<Self>, is_reported: bool) -> Option<LoadGuard> {
        if !load.is_enabled.load(Ordering::Relaxed) {
            return None;
        }
        let count = load.in_progress.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        Some(LoadGuard { load: load.clone(), started: clock::now(), count, is_reported })
    }

    /// Adds a measured call to the average duration of its size class. `count` calls were in progress when it started,
    /// including itself.
    fn measure(&self, count: u32, micros: u32) {
        let Some(average) = self.nanos_each.get(power(count)) else { return };
        let each = (u64::from(micros) * 1_000 / u64::from(count.max(1))).max(1);
        // The load and the store are not atomic. A concurrent update may be lost, which barely changes the average.
        let (before, now) = (average.load(Ordering::Relaxed).cast_signed(), each.cast_signed());
        let next = if before == 0 { now } else { before + (now - before) / SMOOTHING };
        average.store(next.cast_unsigned(), Ordering::Relaxed);
    }

    /// Returns the expected duration in microseconds of a call that runs while `count` calls are in progress, including
    /// itself, or 0 without measurements. Uses the size class of `count` if it has measurements. Otherwise, uses the
    /// nearest lower class that has some, or else the nearest higher one.
    fn expected(&self, count: u32) -> u32 {
        let at = power(count);
        let nanos = |power: usize| {
            let each = self.nanos_each.get(power)?.load(Ordering::Relaxed);
            (each != 0).then_some((each, power))
        };
        let (each, count) = match (0..=at).rev().find_map(nanos) {
            Some((each, _)) => (each, count),
            // No measurement exists for fewer calls. Use the next larger class, because a call takes at most as long
            // with fewer calls in progress.
            None => match (at + 1..POWERS).find_map(nanos) {
                Some((each, power)) => (each, 1 << power),
                None => return 0,
            },
        };
        u32::try_from(each.saturating_mul(count.into()) / 1_000).unwrap_or(u32::MAX)
    }
}

fn power(count: u32) -> usize {
    (count.max(1).ilog2() as usize).min(POWERS - 1)
}

/// Guard that counts a call as in progress until it is dropped.
#[derive(Debug)]
pub(crate) struct LoadGuard {
    load: Arc<Load>,
    started: Instant,
    /// Number of calls in progress when this one started, including itself, which determines the size class of its
    /// duration.
    count: u32,
    is_reported: bool,
}

impl LoadGuard {
    /// Ends the call. Returns a load report for the caller if it has requested reports.
    pub(crate) fn end(self) -> Option<Report> {
        let took = clock::now().saturating_duration_since(self.started).as_micros();
        self.load.measure(self.count, u32::try_from(took).unwrap_or(u32::MAX));
        // Exclude the ending call, which `drop` removes from the count afterwards.
        let in_progress = self.load.in_progress.load(Ordering::Relaxed).saturating_sub(1);
        let micros = self.load.expected(in_progress.saturating_add(1));
        self.is_reported.then_some(Report { in_progress, micros })
    }
}

impl Drop for LoadGuard {
    fn drop(&mut self) {
        self.load.in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_after_report_request_until_dropped() {
        let load = Arc::new(Load::default());
        assert!(Load::enter(&load, true).is_none(), "no report should be made, because no client requests one");
        load.is_enabled.store(true, Ordering::Relaxed);
        let [one, other, third] =
            [true, false, true].map(|is_reported| Load::enter(&load, is_reported).expect("call should be counted"));
        assert_eq!(other.end(), None, "call without a report request should get no report");
        drop(third);
        let report = one.end().expect("caller that requested reports should receive one");
        assert_eq!((report.in_progress, load.in_progress.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn expected_call_time_depends_on_concurrency() {
        let load = Load::default();
        assert_eq!(load.expected(1), 0, "expected duration should be unknown");
        load.measure(4, 4_000);
        assert_eq!([1, 3, 4, 5, 16].map(|count| load.expected(count)), [4_000, 4_000, 4_000, 5_000, 16_000]);
        load.measure(1, 500);
        assert_eq!([1, 2, 3, 7].map(|count| load.expected(count)), [500, 1_000, 1_500, 7_000]);
        (0..80).for_each(|_| load.measure(1, 250));
        assert!((250..260).contains(&load.expected(1)), "{}", load.expected(1));
        load.measure(u32::MAX, u32::MAX);
        assert_eq!(load.expected(u32::MAX), u32::MAX);
    }
}
