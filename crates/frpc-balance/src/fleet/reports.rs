//! The servers of a fleet with recent load reports. The contents of the reports are in their `estimate`.
//!
//! A report is made when a server replies, and is outdated soon. A call goes to the server with the lowest cost in a
//! recent report, and consumes the report, because only the next report of the server includes this call. A client thus
//! does not send all its calls to a server that was idle a moment ago.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of load reports to keep, one per server. If there are more reports, the oldest one is dropped,
/// because it is outdated.
const REPORTS_MAX: usize = 16;

/// How long a load report is kept, in nanoseconds. The time is long, because for a client that rarely makes calls an
/// old report is better than none.
const LASTS: u64 = 4_000_000_000;

/// Recent load reports of a fleet's servers. Calls find the least loaded server by them.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// Time of the latest load report, or 0 if there was none.
    last: AtomicU64,
    entries: Mutex<Vec<LoadReport>>,
}

#[derive(Clone, Copy, Debug)]
struct LoadReport {
    /// Rank of the reporting server, which is its index within its zone.
    rank: u32,
    at: u64,
}

impl Reports {
    /// Returns whether any load report is recent.
    pub(super) fn are_fresh(&self, now: u64) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        last != 0 && now.saturating_sub(last) <= LASTS
    }

    /// Records that the server with this rank reported its load. Replaces an earlier report of the same server, or else
    /// the oldest one.
    pub(super) fn record(&self, rank: u32, now: u64) {
        let mut entries = self.entries.lock();
        entries.retain(|entry| entry.rank != rank);
        if entries.len() >= REPORTS_MAX {
            entries.remove(0);
        }
        entries.push(LoadReport { rank, at: now });
        self.last.store(now.max(1), Ordering::Relaxed);
    }

    /// Returns the rank and cost of the cheapest server with a recent load report, at which a call is expected to end
    /// first.
    pub(super) fn best(&self, now: u64, cost: impl Fn(u32) -> u64) -> Option<(u32, u64)> {
        let entries = self.entries.lock();
        let good = entries.iter().filter(|entries| now.saturating_sub(entries.at) <= LASTS);
        good.map(|entries| (entries.rank, cost(entries.rank))).min_by_key(|(_, cost)| *cost)
    }

    /// Discards the load report of a server, because a call was sent based on it.
    pub(super) fn spend(&self, rank: u32) {
        self.entries.lock().retain(|entry| entry.rank != rank);
    }

    /// Discards all load reports. Called when the ranks of the servers have changed.
    pub(super) fn clear(&self) {
        self.entries.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheapest_report_is_used_once() {
        let reports = Reports::default();
        assert!(!reports.are_fresh(1) && reports.best(1, |_| 0).is_none());
        (0..4).for_each(|rank| reports.record(rank, 1));
        let cost = |rank: u32| 100 - u64::from(rank);
        assert_eq!(reports.best(2, cost), Some((3, 97)));
        reports.spend(3);
        reports.spend(77);
        assert_eq!(reports.best(2, cost), Some((2, 98)));
        (0..3).for_each(|rank| reports.spend(rank));
        assert_eq!(reports.best(2, cost), None);
        assert!(reports.are_fresh(2), "reports should still be recent");
    }

    #[test]
    fn latest_report_per_server_is_kept_briefly() {
        let reports = Reports::default();
        (0..100).for_each(|at| reports.record(at as u32 % 50, at));
        assert_eq!(reports.entries.lock().len(), REPORTS_MAX);
        assert!(reports.entries.lock().iter().all(|entry| entry.at >= 84), "oldest reports should be dropped first");
        reports.record(40, 100);
        assert_eq!(reports.entries.lock().len(), REPORTS_MAX, "report should replace the previous one of its server");
        assert_eq!(reports.best(100, u64::from), Some((34, 34)));
        assert_eq!(reports.best(101 + LASTS, u64::from), None, "outdated reports should not be used");
        assert!(reports.are_fresh(100 + LASTS) && !reports.are_fresh(101 + LASTS));
        reports.record(0, 200 + LASTS);
        reports.clear();
        assert!(reports.entries.lock().is_empty());
    }
}
