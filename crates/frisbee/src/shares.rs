//! Fair division of a limited number of calls among callers.

use std::collections::HashMap;
use std::net::IpAddr;

/// Fraction of the free calls (1/16) that each caller may use while several callers use many. With a limit of at least
/// 256 calls, a new caller still gets one after 32 greedy callers. Equal to the fraction for memory.
const SHARED_PART: usize = 16;

/// Fraction of the limit (1/256) above which a caller is considered to use many calls.
const LARGE_PART: usize = 256;

/// Number of calls in progress of each caller, for a limit that all callers share. Callers are identified by
/// [`caller_network`](crate::Connection::caller_network).
///
/// ```
/// use frisbee::rpc::CallShares;
///
/// let (mut shares, caller) = (CallShares::default(), Some([192, 0, 2, 1].into()));
/// assert!(shares.take(caller, 2), "caller may use half of two calls");
/// assert!(!shares.take(caller, 1), "caller may not use the other half");
/// shares.release(caller);
/// ```
#[derive(Debug, Default)]
pub struct CallShares {
    callers: HashMap<Option<IpAddr>, usize>,
    total: usize,
}

impl CallShares {
    /// Returns the number of calls in progress.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Counts another call of a caller. `free` is the number of further calls that the limit permits. Returns `false`
    /// if the caller already uses its share: half of the calls that other callers leave free, or 1/16 of them while at
    /// most half of all calls are free and another caller uses many.
    pub fn take(&mut self, caller: Option<IpAddr>, free: usize) -> bool {
        let held = self.callers.get(&caller).copied().unwrap_or(0);
        let max = free.saturating_add(self.total);
        let is_rival = |(other, count): (&Option<IpAddr>, &usize)| *other != caller && *count > max / LARGE_PART;
        let part = if free <= max / 2 && self.callers.iter().any(is_rival) { SHARED_PART } else { 2 };
        if held >= free.saturating_add(held).div_ceil(part) {
            return false;
        }
        *self.callers.entry(caller).or_default() += 1;
        self.total += 1;
        true
    }

    /// Releases a call that [`take`](Self::take) counted.
    pub fn release(&mut self, caller: Option<IpAddr>) {
        let Some(held) = self.callers.get_mut(&caller) else { return };
        *held -= 1;
        self.total -= 1;
        // Remove the entry. Otherwise, the map would grow with every address that ever connected.
        if *held == 0 {
            self.callers.remove(&caller);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_caller_gets_call_despite_greedy_ones() {
        const MAX: usize = 256;
        let mut shares = CallShares::default();
        let take = |shares: &mut CallShares, last: u8| {
            let free = MAX - shares.total();
            shares.take(Some([192, 0, 2, last].into()), free)
        };
        let taken: Vec<_> = (0..32).map(|last| (0..MAX).take_while(|_| take(&mut shares, last)).count()).collect();
        assert_eq!(taken[0], MAX / 2);
        assert!(take(&mut shares, 100), "calls of greedy callers: {taken:?}");
        for (last, count) in (0..).zip(taken) {
            (0..count).for_each(|_| shares.release(Some([192, 0, 2, last].into())));
        }
        assert_eq!((shares.total(), shares.callers.len()), (1, 1));
    }
}
