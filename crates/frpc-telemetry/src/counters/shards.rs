//! Sharded counters. Each thread adds to its own shard, so counting takes no lock and causes no cache-line contention.
//! Readers sum the shards.

use super::histogram::{self, BUCKETS, Histogram};
use frpc::Code;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Number of status codes, which gRPC numbers from 0.
const CODES: usize = 17;

/// Key of a counter: the calls of one method that ended with one status code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    /// Index of the method in the table of all counted methods.
    pub(crate) row: u32,
    pub(crate) code: u8,
}

impl Key {
    pub(crate) fn new(row: u32, code: Code) -> Self {
        Self { row, code: code as u8 }
    }

    fn index(self) -> usize {
        self.row as usize * CODES + usize::from(self.code)
    }
}

/// Histogram of one method and status code in one shard. Only the thread that holds the shard's lease writes to it.
struct Series {
    key: Key,
    buckets: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

/// Adds to an atomic counter that only one thread writes to.
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
}

impl Series {
    fn new(key: Key) -> Self {
        Self { key, buckets: std::array::from_fn(|_| AtomicU64::new(0)), nanos: AtomicU64::new(0) }
    }

    /// Counts `calls` calls with a duration of `nanos` nanoseconds each.
    fn add(&self, calls: u64, nanos: u64) {
        if let Some(bucket) = self.buckets.get(histogram::bucket(nanos)) {
            add(bucket, calls);
        }
        add(&self.nanos, calls.wrapping_mul(nanos));
    }
}

/// Counters that one thread writes to, with the values of previous threads that held the lease.
type Shard = Mutex<Vec<Arc<Series>>>;

/// A thread's exclusive right to write to a shard, which makes incrementing its counters cheap.
struct Lease {
    shard: Arc<Shard>,
    /// Histograms of the shard, indexed by key, so that the thread finds them without taking the lock.
    series: Vec<Option<Arc<Series>>>,
}

impl Lease {
    fn add(&mut self, key: Key, calls: u64, nanos: u64) {
        match self.series.get(key.index()) {
            Some(Some(series)) => series.add(calls, nanos),
            _ => self.add_first(key, calls, nanos),
        }
    }

    #[inline(never)]
    fn add_first(&mut self, key: Key, calls: u64, nanos: u64) {
        let series = Arc::new(Series::new(key));
        series.add(calls, nanos);
        self.shard.lock().push(series.clone());
        let index = key.index();
        if self.series.len() <= index {
            self.series.resize_with(index + 1, || None);
        }
        if let Some(entry) = self.series.get_mut(index) {
            *entry = Some(series);
        }
    }
}

/// All shards of a set of counters. There are as many as threads have counted at the same time.
#[derive(Default)]
pub(crate) struct Shards {
    all: Mutex<Vec<Arc<Shard>>>,
    /// Leases returned by threads that have ended, for reuse by new threads.
    free: Mutex<Vec<Lease>>,
}

/// A thread's lease for the shards of one set of counters, which is returned on drop.
#[derive(Default)]
struct LeasedShard {
    of: Weak<Shards>,
    /// The leased shard. `None` until the thread has counted a call.
    lease: Option<Lease>,
}

impl LeasedShard {
    /// Counts calls in the leased shard. Only this thread writes to it.
    fn add(&mut self, key: Key, calls: u64, nanos: u64, of: &Arc<Shards>) {
        match &mut self.lease {
            Some(lease) => lease.add(key, calls, nanos),
            None => *self = of.leased(key, calls, nanos),
        }
    }
}

impl Drop for LeasedShard {
    fn drop(&mut self) {
        if let (Some(shards), Some(lease)) = (self.of.upgrade(), self.lease.take()) {
            // Return the shard to the free list, so that short-lived threads reuse shards instead of adding more.
            shards.free.lock().push(lease);
        }
    }
}

thread_local! {
    /// Leases that this thread holds, one for each set of counters. Most programs have a single set of counters.
    static LEASES: RefCell<Vec<LeasedShard>> = const { RefCell::new(Vec::new()) };
}

impl Shards {
    /// Counts calls in the shard of the current thread.
    pub(crate) fn add(self: &Arc<Self>, key: Key, calls: u64, nanos: u64) {
        let added = LEASES.try_with(|leases| {
            let mut leases = leases.borrow_mut();
            match leases.iter_mut().find(|leased| std::ptr::eq(leased.of.as_ptr(), Arc::as_ptr(self))) {
                Some(leased) => leased.add(key, calls, nanos, self),
                None => {
                    // Remove leases of dropped counters, because they would otherwise accumulate.
                    leases.retain(|leased| leased.of.strong_count() > 0);
                    leases.push(self.leased(key, calls, nanos));
                }
            }
        });
        if added.is_err() {
            // The thread is exiting, so release the lease immediately.
            drop(self.leased(key, calls, nanos));
        }
    }

    /// Acquires a lease and counts the calls in its shard. Dropping the returned value releases the lease.
    #[inline(never)]
    fn leased(self: &Arc<Self>, key: Key, calls: u64, nanos: u64) -> LeasedShard {
        let free = self.free.lock().pop();
        let mut lease = free.unwrap_or_else(|| {
            let shard = Arc::<Shard>::default();
            self.all.lock().push(shard.clone());
            Lease { shard, series: Vec::new() }
        });
        lease.add(key, calls, nanos);
        LeasedShard { of: Arc::downgrade(self), lease: Some(lease) }
    }

    /// Returns the histograms summed over all shards, by key.
    pub(crate) fn sums(&self) -> BTreeMap<Key, Histogram> {
        let mut sums: BTreeMap<Key, Histogram> = BTreeMap::new();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Clone the list, so that the lock is not held while summing and other threads can add shards.
        let shards = self.all.lock().clone();
        for shard in shards {
            for series in shard.lock().iter() {
                sums.entry(series.key).or_default().add(series.buckets.iter().map(load), load(&series.nanos));
            }
        }
        sums.values_mut().for_each(Histogram::settle);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: threads that only count calls, such as workers, kept the leases of dropped counters.
    #[test]
    fn thread_drops_leases_of_dropped_counters() {
        for _ in 0..3 {
            Arc::<Shards>::default().add(Key::new(0, Code::Ok), 1, 1);
        }
        assert_eq!(LEASES.with_borrow(Vec::len), 1);
    }
}
