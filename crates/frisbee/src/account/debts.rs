//! Abuse debts of closed connections. A connection's [`AbuseLimiter`](frisbee_core::AbuseLimiter) measures the useless
//! packets of its peer as a debt, which decreases with time. The next connection of the same caller inherits the unpaid
//! part. Otherwise, a peer could avoid being paused by reconnecting.

use super::{Account, Admission, CallerKey};
use crate::sync::{AtomicUsize, Mutex};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Maximum number of callers with recorded debts. An entry takes about 64 bytes and expires within [`DEBT_MAX`].
const CALLERS_MAX: usize = 1024;

/// Maximum debt of a caller, equal to that of an open connection.
const DEBT_MAX: Duration = Duration::from_secs(2);

/// Debts of closed connections, by caller.
#[derive(Debug, Default)]
pub(super) struct Debts {
    /// Time at which the debt of each caller will be paid. It determines the amount, because debts decrease at a
    /// constant rate.
    paid_at: Mutex<BTreeMap<CallerKey, Instant>>,
    /// Number of entries. While it is zero, accepting a connection takes no lock.
    count: AtomicUsize,
}

impl Debts {
    /// Returns the debt of a caller, as the time until it is paid.
    fn of(&self, key: CallerKey, now: Instant) -> Duration {
        if self.count.load(Ordering::Relaxed) == 0 {
            return Duration::ZERO;
        }
        let mut paid_at = self.paid_at.lock();
        let debt = paid_at.get(&key).map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        if debt.is_zero() && paid_at.remove(&key).is_some() {
            self.count.store(paid_at.len(), Ordering::Relaxed);
        }
        debt
    }

    fn add(&self, key: CallerKey, debt: Duration, now: Instant) {
        let mut paid_at = self.paid_at.lock();
        if paid_at.len() >= CALLERS_MAX && !paid_at.contains_key(&key) {
            paid_at.retain(|_, at| *at > now);
            // Evict the smallest debt. Otherwise, a caller could evict its own large debt by causing small ones from
            // many addresses.
            let least = paid_at.iter().min_by_key(|(_, at)| **at).map(|(key, _)| *key);
            least.filter(|_| paid_at.len() >= CALLERS_MAX).map(|least| paid_at.remove(&least));
        }
        let at = paid_at.entry(key).or_insert(now);
        *at = ((*at).max(now) + debt).min(now + DEBT_MAX);
        self.count.store(paid_at.len(), Ordering::Relaxed);
    }
}

impl Account {
    /// Returns the debt that a new connection of this account inherits.
    pub(crate) fn debt(&self, now: Instant) -> Duration {
        self.admission.as_ref().map_or(Duration::ZERO, |admission| self.budget().debts.of(admission.caller.key, now))
    }

    /// Records the debt of a closed connection for its caller.
    pub(crate) fn leave_debt(&self, debt: Duration, now: Instant) {
        let Some(Admission { caller, .. }) = self.admission.as_ref().filter(|_| !debt.is_zero()) else { return };
        // Keep no debts for keys that unrelated peers share.
        if !matches!(caller.key, CallerKey::Datagrams | CallerKey::Unknown) {
            self.budget().debts.add(caller.key, debt, now);
        }
    }
}

#[cfg(all(test, not(frisbee_loom)))]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn caller(number: u32) -> CallerKey {
        CallerKey::of_address(std::net::Ipv4Addr::from_bits(number).into())
    }

    #[test]
    fn debts_add_up_and_decrease_with_time() {
        let (debts, start) = (Debts::default(), Instant::now());
        debts.add(caller(1), SECOND / 2, start);
        debts.add(caller(1), SECOND, start + SECOND / 4);
        assert_eq!(debts.of(caller(1), start + SECOND / 4), SECOND * 5 / 4);
        assert_eq!(debts.of(caller(2), start), Duration::ZERO);
        debts.add(caller(1), SECOND, start + SECOND / 4);
        assert_eq!(debts.of(caller(1), start + SECOND / 4), DEBT_MAX);
        assert_eq!(debts.of(caller(1), start + SECOND * 3), Duration::ZERO);
        assert_eq!(debts.count.load(Ordering::Relaxed), 0, "paid debt should be removed");
    }

    #[test]
    fn many_small_debts_do_not_evict_large_one() {
        let (debts, now) = (Debts::default(), Instant::now());
        debts.add(caller(0), SECOND, now);
        for number in 1..=2 * CALLERS_MAX as u32 {
            debts.add(caller(number), SECOND / 8, now);
        }
        assert_eq!(debts.count.load(Ordering::Relaxed), CALLERS_MAX);
        assert_eq!(debts.of(caller(0), now), SECOND);
        debts.add(caller(1), SECOND / 8, now + SECOND / 2);
        assert_eq!(debts.count.load(Ordering::Relaxed), 2, "paid debts should be removed first");
    }
}
