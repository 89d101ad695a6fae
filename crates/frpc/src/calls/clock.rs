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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn costs_are_due_at_first_once_a_refresh_has_passed_and_when_something_hurries() {
        let clock = FleetClock::new();
        assert!(clock.is_due(), "nothing has been computed yet");
        assert_eq!(clock.take_due(), Some(1));
        assert!(!clock.is_due());
        assert_eq!(clock.take_due(), None, "not before the next refresh");
        clock.advance(clock.made() + Duration::from_nanos(REFRESH));
        assert!(!clock.is_due(), "a refresh after the last one, which was at 1");
        let next = clock.advance(clock.made() + Duration::from_nanos(REFRESH + 1));
        assert!(clock.is_due());
        assert_eq!((clock.take_due(), clock.take_due()), (Some(next), None), "one caller computes them");
        clock.hurry();
        assert!(clock.is_due());
        assert_eq!(clock.take_due(), Some(next));
    }

    #[test]
    fn a_connection_that_comes_or_goes_has_costs_computed_at_once_and_is_told_once() {
        let clock = FleetClock::new();
        assert!(clock.take_changed(), "all is new");
        assert!(!clock.take_changed());
        assert!(clock.take_due().is_some());
        clock.change();
        assert!(clock.is_due());
        assert!(clock.take_changed() && !clock.take_changed());
    }

    #[test]
    fn the_time_is_that_of_the_last_look_and_never_goes_back() {
        let clock = FleetClock::new();
        let at = |nanos| clock.made() + Duration::from_nanos(nanos);
        assert_eq!((clock.advance(at(0)), clock.now()), (1, 1), "zero is never");
        assert_eq!((clock.advance(at(3_000_000_007)), clock.now()), (3_000_000_007, 3_000_000_007));
        assert_eq!((clock.advance(at(5)), clock.now()), (5, 3_000_000_007));
        let other = FleetClock { made: clock.made() - Duration::from_secs(1), ..Arc::into_inner(clock).expect("one") };
        other.now.store(1, Ordering::Relaxed);
        other.look();
        assert!(other.now() >= 1_000_000_000, "{}", other.now());
    }

    #[test]
    fn reports_are_there_until_servers_have_other_places() {
        let clock = FleetClock::new();
        (0..2).for_each(|place| clock.reports.note(place, 5, 1));
        assert!(clock.has_reports());
        clock.forget_reports();
        assert!(!clock.has_reports());
        assert_eq!(clock.take_report(|_| true), None);
    }
}
