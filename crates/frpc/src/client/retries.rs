//! The budget for retries of idempotent calls.

use std::sync::atomic::{AtomicU32, Ordering};

/// The budget for retries: each successful call earns a tenth of a retry, up to ten. A server in trouble thus gets at
/// most a tenth more work.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    /// In tenths.
    tenths: AtomicU32,
}

const RETRY_TENTHS_MAX: u32 = 100;

impl Default for RetryBudget {
    fn default() -> Self {
        Self { tenths: AtomicU32::new(RETRY_TENTHS_MAX) }
    }
}

impl RetryBudget {
    /// Counts a successful call.
    pub(crate) fn earn(&self) {
        if self.tenths.load(Ordering::Relaxed) < RETRY_TENTHS_MAX {
            self.tenths.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Spends a retry, if there is one.
    pub(crate) fn spend(&self) -> bool {
        let spend = |tenths: u32| tenths.checked_sub(10);
        self.tenths.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_at_most_a_tenth_of_the_successes() {
        let budget = RetryBudget::default();
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 10);
        (0..35).for_each(|_| budget.earn());
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 3);
    }
}
