//! Memory account of a connection. The account keeps a small advance reservation, which most reservations are taken
//! from.

use super::caller::Admission;
use super::reservation::CHARGE_MAX;
use super::{Budget, Traffic, TrafficCounts, WAITING_COST};
use crate::debug::opaque_debug;
use crate::sync::AtomicUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Fraction of its used memory (1/8) that a connection reserves in advance. An idle connection uses no memory and thus
/// reserves none.
const CACHED_PART: usize = 8;

/// Maximum size in bytes of a connection's advance reservation, which saves updates of shared counters for small
/// objects. Larger amounts are charged to the shared counters directly.
const CACHED_MAX: usize = 16 * 1024;

/// Memory account of a connection.
///
/// ```text
///            refill                 take
///   Budget ----------> cached ----------------> in use
///     ^                  |  ^---- release ----------+
///     +---- trim --------+
/// ```
pub(crate) struct Account {
    /// Memory in bytes that this connection has taken from the budget, including its advance reservation.
    granted: AtomicUsize,
    cached: AtomicUsize,
    /// Admission of the connection, with the caller whose share of the memory this account uses. `None` if the account
    /// belongs to no connection or has its own budget.
    pub(super) admission: Option<Admission>,
    /// Traffic counters of the server. `None` at clients, which do not count traffic.
    traffic: Option<Arc<TrafficCounts>>,
    budget: Arc<Budget>,
}

impl Account {
    /// Creates an account that may use all the memory of its budget, not only a caller's share.
    pub(crate) fn alone(budget: Arc<Budget>) -> Self {
        Self::new(budget, None, None)
    }

    pub(super) fn new(budget: Arc<Budget>, admission: Option<Admission>, traffic: Option<Arc<TrafficCounts>>) -> Self {
        Self { granted: AtomicUsize::new(0), cached: AtomicUsize::new(0), admission, traffic, budget }
    }

    /// Returns the memory budget of the server.
    #[inline]
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns a number that identifies the caller of this account (the address of its entry), or 0 if it has no
    /// caller.
    pub(super) fn caller_number(&self) -> usize {
        self.admission.as_ref().map_or(0, |admission| Arc::as_ptr(&admission.caller).addr())
    }

    /// Returns the memory in bytes that the connection uses, excluding its advance reservation.
    pub(crate) fn charged(&self) -> usize {
        // `charged` loads the two counters one after the other, so `cached` may briefly exceed `granted`.
        self.granted.load(Ordering::Relaxed).saturating_sub(self.cached.load(Ordering::Relaxed))
    }

    #[cfg(all(test, not(frisbee_loom)))]
    pub(super) fn granted(&self) -> usize {
        self.granted.load(Ordering::Relaxed)
    }

    /// Returns whether the connection shares its memory budget with others, as is the case at servers.
    pub(crate) fn is_shared(&self) -> bool {
        self.admission.is_some()
    }

    /// Returns whether free memory is below the threshold at which each caller is limited to its share.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.budget.is_short()
    }

    /// Returns whether the caller has used its share of the memory. If so, no more work should begin for it.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        // Check `is_short` first, because shares are enforced only while memory is short. The common path is then a
        // single atomic load.
        self.budget.is_short() && !self.has_room(1)
    }

    /// Returns whether the connection may take `count` more bytes.
    pub(crate) fn has_room(&self, count: usize) -> bool {
        count <= self.room()
    }

    /// Returns how many more bytes the connection may take.
    #[cold]
    pub(crate) fn room(&self) -> usize {
        self.room_of(self.budget.available())
    }

    fn room_of(&self, free: isize) -> usize {
        match &self.admission {
            Some(admission) => self.budget.room(&admission.caller, self.granted.load(Ordering::Relaxed), free),
            None => usize::try_from(free).unwrap_or(0),
        }
    }

    /// Reserves `count` bytes unless the caller would exceed its share. Returns whether they were reserved.
    pub(crate) fn take(&self, count: usize) -> bool {
        self.take_cached(count) || self.refill(count)
    }

    fn take_cached(&self, count: usize) -> bool {
        let take = |cached: usize| cached.checked_sub(count);
        self.cached.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn refill(&self, count: usize) -> bool {
        let cached = self.cached.load(Ordering::Relaxed);
        // Reserve nothing in advance while memory is short, because other callers could use it.
        let more = if self.is_short() { 0 } else { self.cached_max(cached).saturating_sub(cached) };
        if more > 0 && self.grant(count.saturating_add(more)) {
            self.cached.fetch_add(more, Ordering::Relaxed);
            return true;
        }
        if self.grant(count) {
            return true;
        }
        // Return the advance reservation first, because it is too small for the request but counts towards the caller's
        // share.
        let cached = self.cached.swap(0, Ordering::Relaxed);
        self.give_back(cached);
        cached > 0 && self.grant(count)
    }

    fn grant(&self, count: usize) -> bool {
        let is_granted = self.budget.take_if(count, |free| count <= self.room_of(free));
        if is_granted {
            self.add(count);
        }
        is_granted
    }

    /// Returns the maximum advance reservation of the connection in bytes. `cached` is the current reservation.
    fn cached_max(&self, cached: usize) -> usize {
        if self.admission.is_none() {
            return 0; // Reserving has no benefit, because no other connection uses this budget.
        }
        (self.granted.load(Ordering::Relaxed).saturating_sub(cached) / CACHED_PART).min(CACHED_MAX)
    }

    /// Charges `count` bytes for an object that already exists, even if this exceeds the budget. Check
    /// [`is_over`](Self::is_over) before starting new work.
    pub(crate) fn charge(&self, count: usize) {
        if !self.take_cached(count) {
            self.budget.charge(count);
            self.add(count);
        }
    }

    /// Charges the memory of a request with a pending handler. Returns the total charge in bytes, including the cost of
    /// the handler.
    pub(crate) fn charge_request(&self, bytes: usize) -> usize {
        let charge = bytes.saturating_add(WAITING_COST).min(CHARGE_MAX);
        self.charge(charge);
        charge
    }

    pub(crate) fn release(&self, count: usize) {
        if count == 0 {
            return;
        }
        let mut cached = self.cached.fetch_add(count, Ordering::AcqRel) + count;
        loop {
            let kept = if self.is_short() { 0 } else { self.cached_max(cached) };
            if cached <= kept {
                return;
            }
            match self.cached.compare_exchange(cached, kept, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.give_back(cached - kept);
                    // Check again, because a concurrent release may have kept too many bytes based on the old value of
                    // `granted`. A read-modify-write operation returns the latest value of `cached`.
                    cached = self.cached.fetch_add(0, Ordering::AcqRel);
                }
                Err(changed) => cached = changed,
            }
        }
    }

    fn give_back(&self, count: usize) {
        if count == 0 {
            return;
        }
        // Update the counters of the connection and the caller before releasing the budget, because the release wakes
        // waiters that compute their shares from all of them.
        self.granted.fetch_sub(count, Ordering::AcqRel);
        if let Some(admission) = &self.admission {
            self.budget.memory.remove_held(&admission.caller.held, count);
        }
        self.budget.release_by(self.caller_number(), count);
    }

    /// Adds to a traffic counter of the server. Does nothing at clients.
    #[inline]
    pub(crate) fn count(&self, what: Traffic, count: u64) {
        if let Some(traffic) = &self.traffic {
            traffic.add(what, count);
        }
    }

    /// Returns the traffic counters of the server, or `None` at clients.
    pub(crate) fn traffic(&self) -> Option<Arc<TrafficCounts>> {
        self.traffic.clone()
    }

    /// Changes the charge for unwritten output from `before` to `now` bytes, and returns the bytes to release. Does
    /// nothing at clients, where only the program itself queues output.
    #[cold]
    pub(super) fn charge_output(&self, before: usize, now: usize) -> usize {
        if !self.is_shared() {
            return 0;
        }
        self.budget.counts.change_output(before, now);
        self.charge(now.saturating_sub(before));
        before.saturating_sub(now)
    }

    fn add(&self, count: usize) {
        self.granted.fetch_add(count, Ordering::Relaxed);
        if let Some(admission) = &self.admission {
            self.budget.memory.add_held(&admission.caller.held, count);
        }
    }
}

opaque_debug!([] Account, "Account", |this| granted = this.granted);
