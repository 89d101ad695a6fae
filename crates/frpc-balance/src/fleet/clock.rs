//! The state that the servers of a fleet share: the time and their reports.

use crate::fleet::reports::Reports;
use crate::now;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::Notify;

/// Minimum interval in nanoseconds between recomputations of the values that change with time.
const REFRESH: u64 = 8_000_000;

/// Common clock of a fleet's servers, in nanoseconds since its creation. It advances whenever a connection reads the
/// time.
#[derive(Debug)]
pub(crate) struct FleetClock {
    made: Instant,
    now: AtomicU64,
    /// Time at which the servers' costs must be recomputed.
    due: AtomicU64,
    /// Whether a connection was added or removed, so that the candidates must be updated.
    changed: AtomicBool,
    /// Whether the next choice must consider more than the current costs, because these are outdated, there are load
    /// reports, a server is ejected, or some calls go to other zones.
    care: AtomicBool,
    /// Recent load reports of the servers.
    pub(super) reports: Reports,
    /// Notified when a server has been connected, which wakes calls that wait for a connection.
    pub(super) connected: Notify,
}

impl FleetClock {
    pub(crate) fn new() -> Arc<Self> {
        let [now, due] = [1, 0].map(AtomicU64::new);
        let (made, [changed, care]) = (crate::now(), [true, true].map(AtomicBool::new));
        Arc::new(Self { made, now, due, changed, care, reports: Reports::default(), connected: Notify::new() })
    }

    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Returns the time at which the clock was created.
    #[cfg(test)]
    pub(super) fn made(&self) -> Instant {
        self.made
    }

    /// Advances the clock to the current time of the runtime's clock.
    pub(crate) fn refresh(&self) {
        self.advance(now());
    }

    /// Advances the clock to `instant`, which a connection has read, and returns it in nanoseconds.
    #[inline]
    pub(super) fn advance(&self, instant: Instant) -> u64 {
        let since = instant.saturating_duration_since(self.made);
        // The number of nanoseconds stays below 2^63 for centuries.
        let now = since.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(since.subsec_nanos())).max(1);
        // The check and the store are separate: a concurrent call may store a slightly earlier time, which only delays
        // a refresh.
        if now > self.now() {
            self.now.store(now, Ordering::Relaxed);
            if self.is_due() {
                self.mark();
            }
        }
        now
    }

    /// Returns whether the next choice must update outdated costs, or consider load reports, ejected servers and other
    /// zones. Otherwise, [`CandidateSet::next`](crate::fleet::choice::CandidateSet::next) suffices.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        self.care.load(Ordering::Relaxed)
    }

    /// Makes the next choices consider outdated costs, load reports, ejected servers and other zones.
    pub(crate) fn mark(&self) {
        self.care.store(true, Ordering::Release);
    }

    /// Reverts the effect of [`mark`](Self::mark). Later choices compare a few servers by their current costs until the
    /// clock is marked again.
    pub(crate) fn relax(&self) {
        self.care.swap(false, Ordering::AcqRel);
    }

    /// Returns whether the costs of the servers must be recomputed.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.now.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed)
    }

    /// Returns the time if the costs of the servers must be recomputed. Only one caller receives it.
    pub(crate) fn take_due(&self) -> Option<u64> {
        let (now, due) = (self.now(), self.due.load(Ordering::Relaxed));
        // Check before the exchange, because another caller may have recomputed the costs since `is_due`. An exchange
        // would then postpone the next refresh, possibly forever under load.
        if now < due {
            return None;
        }
        let next = now.saturating_add(REFRESH);
        self.due.compare_exchange(due, next, Ordering::AcqRel, Ordering::Relaxed).is_ok().then_some(now)
    }

    /// Requires that the costs of the servers are recomputed before the next call.
    pub(super) fn expire(&self) {
        // Pairs with the exchange in `take_due`, so that the caller that recomputes the costs sees the preceding
        // changes.
        self.due.store(0, Ordering::Release);
        self.mark();
    }

    /// Records that a connection to a server was added or removed.
    pub(super) fn change(&self) {
        // Set the flag before expiring the costs, so that the caller that recomputes them sees the change.
        self.changed.store(true, Ordering::Release);
        self.expire();
    }

    /// Returns whether a connection has been added or removed since the last call of this function.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// Records that the server with this rank has reported its load.
    pub(super) fn note_report(&self, rank: u32) {
        self.reports.record(rank, self.now());
        self.mark();
    }

    /// Returns whether there are recent load reports.
    pub(crate) fn has_reports(&self) -> bool {
        self.reports.are_fresh(self.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn costs_are_due_initially_and_after_refresh() {
        let clock = FleetClock::new();
        assert!(clock.is_due(), "new clock should be due");
        assert_eq!(clock.take_due(), Some(1));
        assert!(!clock.is_due());
        assert_eq!(clock.take_due(), None, "clock should not be due before the next refresh");
        clock.advance(clock.made() + Duration::from_nanos(REFRESH));
        assert!(!clock.is_due(), "clock should be due again one refresh later");
        let next = clock.advance(clock.made() + Duration::from_nanos(REFRESH + 1));
        assert!(clock.is_due());
        assert_eq!(
            (clock.take_due(), clock.take_due()),
            (Some(next), None),
            "costs should be recomputed by one caller"
        );
        clock.expire();
        assert!(clock.is_due());
        assert_eq!(clock.take_due(), Some(next));
    }

    /// Regression test: a caller that found the costs recomputed by another one postponed the next refresh.
    #[test]
    fn early_caller_does_not_postpone_refresh() {
        let clock = FleetClock::new();
        assert_eq!(clock.take_due(), Some(1));
        for nanos in [REFRESH / 2, REFRESH - 1] {
            clock.advance(clock.made() + Duration::from_nanos(nanos));
            assert_eq!(clock.take_due(), None, "clock should not be due after {nanos} ns");
        }
        let due = clock.advance(clock.made() + Duration::from_nanos(REFRESH + 1));
        assert_eq!(clock.take_due(), Some(due));
    }

    #[test]
    fn connection_change_recomputes_costs_at_once() {
        let clock = FleetClock::new();
        assert!(clock.take_changed(), "new clock should be changed");
        assert!(!clock.take_changed());
        assert!(clock.take_due().is_some());
        clock.change();
        assert!(clock.is_due());
        assert!(clock.take_changed() && !clock.take_changed());
    }

    #[test]
    fn fleet_time_never_goes_back() {
        let clock = FleetClock::new();
        let at = |nanos| clock.made() + Duration::from_nanos(nanos);
        assert_eq!((clock.advance(at(0)), clock.now()), (1, 1), "time 0 should be reserved for never");
        assert_eq!((clock.advance(at(3_000_000_007)), clock.now()), (3_000_000_007, 3_000_000_007));
        assert_eq!((clock.advance(at(5)), clock.now()), (5, 3_000_000_007));
        let other = FleetClock {
            made: clock.made() - Duration::from_secs(1),
            ..Arc::into_inner(clock).expect("clock should have a single owner")
        };
        other.now.store(1, Ordering::Relaxed);
        other.refresh();
        assert!(other.now() >= 1_000_000_000, "{}", other.now());
    }

    #[test]
    fn costs_update_only_when_due_or_reported() {
        let clock = FleetClock::new();
        assert!(clock.is_marked(), "new clock should be marked");
        let advance = |nanos: u64| {
            clock.advance(clock.made() + Duration::from_nanos(nanos));
        };
        let relaxed = |what: &dyn Fn()| {
            clock.relax();
            clock.take_due();
            let before = clock.is_marked();
            what();
            (before, clock.is_marked())
        };
        assert_eq!(relaxed(&|| advance(REFRESH / 2)), (false, false));
        assert_eq!(relaxed(&|| advance(2 * REFRESH)), (false, true));
        assert_eq!(relaxed(&|| clock.expire()), (false, true));
        assert!(!clock.has_reports());
        assert_eq!(relaxed(&|| clock.note_report(3)), (false, true));
        assert!(clock.has_reports());
        assert_eq!(clock.reports.best(clock.now(), u64::from), Some((3, 3)));
        clock.reports.clear();
        assert_eq!(clock.reports.best(clock.now(), u64::from), None, "reports should be discarded when ranks change");
    }
}
