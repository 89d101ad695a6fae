//! Budgets that limit additional attempts, which are retries and hedges.

use std::sync::atomic::{AtomicU32, Ordering};

/// Budget of retries or hedged attempts. Each call adds `EARNED` hundredths of an attempt, which limits the additional
/// load on an overloaded server to `EARNED` percent.
#[derive(Debug, Default)]
pub(crate) struct AttemptBudget<const EARNED: u32> {
    hundredths: AtomicU32,
}

/// Maximum number of attempts in a budget.
pub(crate) const ATTEMPTS: u32 = 10;

impl<const EARNED: u32> AttemptBudget<EARNED> {
    /// Creates a budget with the maximum number of attempts.
    pub(crate) fn full() -> Self {
        Self { hundredths: AtomicU32::new(ATTEMPTS * 100) }
    }

    /// Adds the hundredths earned by one call to the budget.
    pub(crate) fn earn(&self) {
        // The check and the addition are not atomic, so concurrent calls may slightly exceed the maximum. This is
        // harmless.
        if self.hundredths.load(Ordering::Relaxed) < ATTEMPTS * 100 {
            self.hundredths.fetch_add(EARNED, Ordering::Relaxed);
        }
    }

    /// Returns whether the budget has less than one attempt left.
    pub(crate) fn is_empty(&self) -> bool {
        self.hundredths.load(Ordering::Relaxed) < 100
    }

    /// Takes one attempt from the budget. Returns `false` if less than one is left.
    pub(crate) fn spend(&self) -> bool {
        let spend = |hundredths: u32| hundredths.checked_sub(100);
        self.hundredths.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_limited_to_tenth_of_successes() {
        let budget = AttemptBudget::<10>::full();
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 10);
        (0..35).for_each(|_| budget.earn());
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 3);
    }

    #[test]
    fn hedges_are_limited_to_two_percent() {
        let budget = AttemptBudget::<2>::default();
        assert!(!budget.spend(), "new budget should permit no retries");
        let hedged = (0..1_000).filter(|_| (budget.earn(), budget.spend()).1).count();
        assert_eq!(hedged, 20);
        (0..10_000).for_each(|_| budget.earn());
        assert_eq!(
            (0..100).filter(|_| budget.spend()).count(),
            ATTEMPTS as usize,
            "burst of retries should be limited"
        );
    }
}
