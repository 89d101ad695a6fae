//! Counters of a server's bytes and streams. Each turn of each connection adds to them. They are sharded so that
//! threads rarely write to the same one. Readers sum the shards.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of shards: concurrent threads rarely share one.
const SHARDS: usize = 8;

/// The counters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Traffic {
    /// Received bytes.
    Read,
    /// Written bytes.
    Written,
    /// Streams opened by either end.
    StreamsOpened,
    /// Streams without remaining state.
    StreamsEnded,
}

/// One shard, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct TrafficShard([AtomicU64; 4]);

/// The traffic counters of a server.
#[derive(Debug, Default)]
pub(crate) struct TrafficCounts([TrafficShard; SHARDS]);

thread_local! {
    /// The shard of this thread, or `SHARDS` if none is assigned.
    static SHARD: Cell<usize> = const { Cell::new(SHARDS) };
}

impl TrafficCounts {
    #[inline]
    pub(crate) fn add(&self, what: Traffic, count: u64) {
        // A terminating thread has no shard.
        let shard = SHARD.try_with(|shard| if shard.get() < SHARDS { shard.get() } else { take(shard) }).unwrap_or(0);
        if let Some(TrafficShard(counts)) = self.0.get(shard) {
            counts[what as usize].fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(super) fn sum(&self, what: Traffic) -> u64 {
        let counts = self.0.iter().map(|TrafficShard(counts)| counts[what as usize].load(Ordering::Relaxed));
        counts.fold(0, u64::wrapping_add)
    }
}

#[cold]
fn take(shard: &Cell<usize>) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    shard.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
    shard.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_many_threads_are_added_up_each_for_itself() {
        let counted = TrafficCounts::default();
        std::thread::scope(|scope| {
            // Threads come and go, and each takes the next shard.
            for _ in 0..20 * SHARDS {
                scope.spawn(|| {
                    for _ in 0..100 {
                        counted.add(Traffic::Read, 3);
                        counted.add(Traffic::StreamsOpened, 1);
                    }
                });
            }
        });
        let sums = [Traffic::Read, Traffic::Written, Traffic::StreamsOpened, Traffic::StreamsEnded];
        assert_eq!(sums.map(|what| counted.sum(what)), [48_000, 0, 16_000, 0]);
    }
}
