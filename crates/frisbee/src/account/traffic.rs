//! Byte and stream counters of a server. Every driver updates them on each poll, so they are sharded to keep threads
//! from writing to the same cache line. Reading a counter sums its shards.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const SHARDS: usize = 8;

/// Quantity in the traffic statistics of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Traffic {
    /// Number of bytes received from peers.
    Read,
    /// Number of bytes written to peers.
    Written,
    /// Number of streams opened by either end.
    StreamsOpened,
    /// Number of streams that have ended and whose handles have all been dropped.
    StreamsEnded,
}

/// A shard of the traffic counters. Shards do not share cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct TrafficShard([AtomicU64; 4]);

/// Traffic counters of a server, sharded by thread.
#[derive(Debug, Default)]
pub(crate) struct TrafficCounts([TrafficShard; SHARDS]);

thread_local! {
    /// Index of the shard assigned to this thread, or `SHARDS` if none has been assigned.
    static SHARD: Cell<usize> = const { Cell::new(SHARDS) };
}

impl TrafficCounts {
    #[inline]
    pub(crate) fn add(&self, what: Traffic, count: u64) {
        // The thread-local is not accessible while the thread is terminating.
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
    fn traffic_counts_of_threads_are_summed() {
        let counted = TrafficCounts::default();
        std::thread::scope(|scope| {
            // Threads are created and terminated repeatedly, and each takes the next shard.
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
