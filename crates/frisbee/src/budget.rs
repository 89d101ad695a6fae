//! The server-wide count of bytes of input that are held. `counts.rs` counts connections and refusals.

mod counts;
mod log_limit;

use self::counts::Counts;
pub use self::counts::Stats;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bodies of this length and longer may be slices of the buffer they were read into, and keep all of it.
pub(crate) const SLICED_MIN: usize = 16 * 1024;

/// What such a buffer holds: two reads of 64 KiB.
pub(crate) const READ_BUFFER: usize = 128 * 1024;

/// What a handler that waits takes beside its request, in bytes: its future, its place in the connection's list, and
/// its part of what is kept to answer it.
const WAITING_COST: usize = 768;

/// What a body of so many bytes keeps in memory, in bytes: one of 16 to 64 KiB may be a slice of the buffer that it was
/// read into, of 128 KiB, and keep all of it.
#[inline]
pub const fn body_memory(length: usize) -> usize {
    if SLICED_MIN <= length && length < READ_BUFFER / 2 { READ_BUFFER } else { length }
}

/// Memory for input that is held, and counters. Input is held while a large body arrives, while a message of a stream
/// waits to be read, and while a handler waits.
#[derive(Debug)]
pub(crate) struct Budget {
    /// In bytes. Below zero if what was begun has overdrawn it.
    left: AtomicIsize,
    total: isize,
    /// What one stream of a peer that knows no credit may hold; one message may overdraw it.
    per_stream: u64,
    pub(crate) counts: Counts,
}

impl Budget {
    pub(crate) fn new(total: usize, per_stream: usize) -> Self {
        let total = isize::try_from(total).unwrap_or(isize::MAX);
        Self { left: AtomicIsize::new(total), total, per_stream: per_stream as u64, counts: Counts::default() }
    }

    pub(crate) fn per_stream(&self) -> u64 {
        self.per_stream
    }

    /// Takes so many bytes for what arrives or waits to be read, if they are there. A quarter is left for requests, or
    /// a few who send large bodies slowly would keep everybody else from being served.
    pub(crate) fn take(&self, count: usize) -> bool {
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        let kept = self.total / 4;
        let take = |left: isize| left.checked_sub(count).filter(|left| *left >= kept);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    pub(crate) fn give_back(&self, count: usize) {
        self.left.fetch_add(isize::try_from(count).unwrap_or(isize::MAX), Ordering::Relaxed);
    }

    /// Whether nothing is left, so that nothing more should be begun.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.load(Ordering::Relaxed) <= 0
    }

    /// Charges for a request whose handler has begun and waits. It cannot be refused any more and may overdraw: by what
    /// one turn of a connection brings, since nothing is begun once the budget is used up.
    pub(crate) fn hold(&self, bytes: usize) -> usize {
        let charge = bytes.saturating_add(WAITING_COST);
        self.left.fetch_sub(isize::try_from(charge).unwrap_or(isize::MAX), Ordering::Relaxed);
        charge
    }

    /// How much is held.
    pub(crate) fn held(&self) -> usize {
        usize::try_from(self.total.saturating_sub(self.left.load(Ordering::Relaxed))).unwrap_or(0)
    }
}

/// Input that is kept, charged to the budget of the server until this is dropped; see
/// [`Connection::hold`](crate::Connection::hold).
#[must_use = "the bytes are charged only while this value is kept"]
pub struct Hold {
    budget: Arc<Budget>,
    charge: usize,
}

impl Hold {
    pub(crate) fn new(budget: &Arc<Budget>, bytes: usize) -> Self {
        Self { charge: budget.hold(bytes), budget: budget.clone() }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.budget.give_back(self.charge);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("charge", &self.charge).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_and_held_comes_back() {
        let budget = Arc::new(Budget::new(100_000, 0));
        assert!(budget.take(60_000));
        assert!(!budget.take(16_000), "a quarter is left");
        assert!(!budget.is_exhausted());
        let hold = Hold::new(&budget, 50_000);
        assert!(budget.is_exhausted());
        assert!(!budget.take(1));
        drop(hold);
        budget.give_back(60_000);
        assert_eq!(Stats::new(budget).input_held(), 0);
    }
}
