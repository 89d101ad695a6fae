//! The latest reports of the servers of a fleet, each of which is good for one call.
//!
//! A report is of the moment in which a server answered, and most of what it says is soon no longer true. A call goes to the
//! server whose report promises the least, and uses it up: the next report of that server tells of this call as well. So a
//! client does not send all its calls to the server that was idle a moment ago, and needs to ask nobody.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many are kept, each of another server. More would be older.
const KEPT: usize = 16;

/// How long a report is good, in nanoseconds: for clients that call so rarely, an old one is better than none.
const LASTS: u64 = 4_000_000_000;

/// How many servers have to be there to choose from. With one, the usual choice is better.
const LEAST: usize = 2;

/// The reports.
#[derive(Debug, Default)]
pub(super) struct Reports {
    count: AtomicUsize,
    kept: Mutex<Vec<Kept>>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The place of the server.
    place: u32,
    at: u64,
    /// What the next call costs there.
    cost: u64,
}

impl Reports {
    /// Whether there are any.
    #[inline]
    pub(super) fn are_there(&self) -> bool {
        self.count.load(Ordering::Relaxed) >= LEAST
    }

    /// Notes a report, in place of an earlier one of this server, or of the oldest.
    pub(super) fn note(&self, place: u32, cost: u64, now: u64) {
        let mut kept = self.kept.lock();
        kept.retain(|kept| kept.place != place);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(Kept { place, at: now, cost });
        self.count.store(kept.len(), Ordering::Relaxed);
    }

    /// Takes the report of the server at which a call is expected to end first, among those that `may` have a call. `None` if
    /// there are too few.
    pub(super) fn take(&self, now: u64, may: impl Fn(u32) -> bool) -> Option<u32> {
        let mut kept = self.kept.lock();
        kept.retain(|kept| now.saturating_sub(kept.at) <= LASTS);
        let those = || kept.iter().enumerate().filter(|(_, kept)| may(kept.place));
        let best = those().min_by_key(|(_, kept)| kept.cost).map(|(at, kept)| (at, kept.place));
        let best = best.filter(|_| those().count() >= LEAST);
        if let Some((at, _)) = best {
            kept.remove(at);
        }
        self.count.store(kept.len(), Ordering::Relaxed);
        best.map(|(_, place)| place)
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        let mut kept = self.kept.lock();
        kept.clear();
        self.count.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_that_promises_the_least_is_good_for_one_call() {
        let reports = Reports::default();
        reports.note(0, 100, 1);
        assert!(!reports.are_there(), "one is no choice");
        (1..4).for_each(|place| reports.note(place, 100 - u64::from(place), 1));
        assert!(reports.are_there());
        assert_eq!(reports.take(2, |_| true), Some(3));
        assert_eq!(reports.take(2, |place| place < 2), Some(1), "of those that may have calls");
        assert_eq!(reports.take(2, |_| true), Some(2));
        assert_eq!((reports.take(2, |_| true), reports.are_there()), (None, false), "one is no choice");
    }

    #[test]
    fn the_latest_reports_are_kept_one_of_each_server_and_not_for_long() {
        let reports = Reports::default();
        (0..100).for_each(|at| reports.note(at as u32 % 50, at, at));
        assert_eq!(reports.kept.lock().len(), KEPT);
        assert!(reports.kept.lock().iter().all(|kept| kept.at >= 84), "the oldest leave first");
        assert_eq!(reports.take(99, |_| true), Some(34));
        assert_eq!(reports.take(100 + LASTS, |_| true), None, "they are too old");
        assert!(!reports.are_there());
        (0..4).for_each(|place| reports.note(place, 5, 200 + LASTS));
        reports.clear();
        assert!(!reports.are_there() && reports.kept.lock().is_empty());
    }
}
