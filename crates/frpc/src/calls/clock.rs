//! What the servers of a fleet share: the time, and what they have said of themselves.

use crate::calls::reports::Reports;
use crate::deadline;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// How often what depends on the time is computed anew, in nanoseconds, at most.
const REFRESH: u64 = 8_000_000;

/// The time that the servers of a fleet share, in nanoseconds from its making: that of the last look at the clock on any
/// connection.
#[derive(Debug)]
pub(crate) struct FleetClock {
    made: Instant,
    now: AtomicU64,
    /// When costs are to be computed anew.
    due: AtomicU64,
    /// A connection has come or gone.
    changed: AtomicBool,
    /// What the servers have said of themselves.
    pub(super) reports: Reports,
}

impl FleetClock {
    pub(crate) fn new() -> Arc<Self> {
        let [now, due] = [1, 0].map(AtomicU64::new);
        let (made, changed) = (deadline::now(), AtomicBool::new(true));
        Arc::new(Self { made, now, due, changed, reports: Reports::default() })
    }

    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// When it was made.
    #[cfg(test)]
    pub(super) fn made(&self) -> Instant {
        self.made
    }

    /// Notes the time that it is.
    pub(crate) fn look(&self) {
        self.advance(deadline::now());
    }

    /// Notes the time of a turn.
    #[inline]
    pub(super) fn advance(&self, instant: Instant) -> u64 {
        let since = instant.saturating_duration_since(self.made);
        // Below 2^63 for centuries.
        let now = since.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(since.subsec_nanos())).max(1);
        if now > self.now() {
            self.now.store(now, Ordering::Relaxed);
        }
        now
    }

    /// Whether costs are to be computed anew.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.now.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed)
    }

    /// The time, for the one caller that computes the costs.
    pub(crate) fn take_due(&self) -> Option<u64> {
        let (now, due) = (self.now(), self.due.load(Ordering::Relaxed));
        let taken = self.due.compare_exchange(due, now.saturating_add(REFRESH), Ordering::AcqRel, Ordering::Relaxed);
        (now >= due && taken.is_ok()).then_some(now)
    }

    /// Has costs be computed anew before the next call is placed.
    pub(super) fn hurry(&self) {
        self.due.store(0, Ordering::Release);
    }

    /// Notes that a connection has come or gone.
    pub(super) fn change(&self) {
        self.changed.store(true, Ordering::Release);
        self.hurry();
    }

    /// Whether a connection has come or gone since.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }
}

impl FleetClock {
    /// The place of the server that has reported the least, among those that may have a call; see [`Reports::take`].
    #[cold]
    pub(crate) fn take_report(&self, may: impl Fn(u32) -> bool) -> Option<u32> {
        self.reports.take(self.now(), may)
    }

    /// Whether there are reports.
    #[inline]
    pub(crate) fn has_reports(&self) -> bool {
        self.reports.are_there()
    }

    /// Forgets all reports: servers have other places now.
    pub(crate) fn forget_reports(&self) {
        self.reports.clear();
    }
}
