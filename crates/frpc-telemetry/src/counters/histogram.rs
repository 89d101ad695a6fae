//! Log-linear histograms of durations: eight buckets for each doubling. Pure arithmetic; the counters of threads are in
//! `shards.rs`.

use std::time::Duration;

/// Number of histogram buckets. The last one counts all durations of about 137 minutes or more.
pub(crate) const BUCKETS: usize = 272;

/// Number of buckets per doubling of the duration, as a power of two. A bucket is at most an eighth as wide as its
/// lower bound.
const STEPS_BITS: u32 = 3;

/// Width in nanoseconds of the first buckets, as a power of two. A finer resolution than 128 ns is not meaningful for
/// calls.
const UNIT_BITS: u32 = 7;

/// Returns the index of the bucket for a duration in nanoseconds.
pub(crate) fn bucket(nanos: u64) -> usize {
    let units = nanos >> UNIT_BITS;
    let shift = (units | 1 << STEPS_BITS).ilog2() - STEPS_BITS;
    let at = ((shift as usize) << STEPS_BITS) + (units >> shift) as usize;
    at.min(BUCKETS - 1)
}

/// Returns the exclusive upper bound of a bucket in nanoseconds.
pub(crate) fn end(bucket: usize) -> u64 {
    let steps = 1 << STEPS_BITS;
    let shift = (bucket >> STEPS_BITS).saturating_sub(1);
    let first = bucket - (shift << STEPS_BITS);
    debug_assert!(first < 2 * steps, "a bucket should lie within one doubling");
    ((first as u64 + 1) << shift) << UNIT_BITS
}

/// A histogram of call durations with their exact sum.
///
/// A bucket is at most an eighth as wide as the durations in it, but at least 128 ns wide, so quantiles are at most an
/// eighth too large. The last bucket counts all durations of about 137 minutes or more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    /// Number of durations counted in each bucket.
    counts: Vec<u64>,
    nanos: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], nanos: 0 }
    }
}

impl Histogram {
    /// Returns the number of recorded durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the exact sum of all durations.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.nanos)
    }

    /// Returns the number of durations below `end`. The number is exact if `end` is a power of two in nanoseconds and
    /// at least 128. Otherwise the bucket that contains `end` is not counted.
    pub fn below(&self, end: Duration) -> u64 {
        let end = u64::try_from(end.as_nanos()).unwrap_or(u64::MAX);
        self.counts.iter().enumerate().take_while(|(bucket, _)| self::end(*bucket) <= end).map(|(_, count)| count).sum()
    }

    /// Returns the `quantile`, between 0 and 1, as the upper bound of its bucket. `None` if the histogram is empty.
    ///
    /// ```
    /// let histogram = frpc_telemetry::Histogram::default();
    /// assert_eq!(histogram.quantile(0.99), None);
    /// ```
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        let count = self.count();
        let wanted = ((quantile.clamp(0.0, 1.0) * count as f64).ceil() as u64).max(1);
        let mut counted = 0;
        self.counts.iter().enumerate().find_map(|(bucket, count)| {
            counted += count;
            (*count > 0 && counted >= wanted).then(|| Duration::from_nanos(end(bucket)))
        })
    }

    /// Returns an iterator over the non-empty buckets in ascending order, as pairs of upper bound and count.
    pub fn ranges(&self) -> impl Iterator<Item = (Duration, u64)> {
        let ranges = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        ranges.map(|(bucket, count)| (Duration::from_nanos(end(bucket)), *count))
    }

    /// Adds the durations of another histogram to this one.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count = count.wrapping_add(*other));
        self.nanos = self.nanos.wrapping_add(other.nanos);
    }

    /// Replaces negative counts with zero. They occur because shards are read one after the other: one shard may have
    /// subtracted a call that another one adds after it was read.
    pub(crate) fn settle(&mut self) {
        for count in self.counts.iter_mut().chain([&mut self.nanos]) {
            if count.cast_signed() < 0 {
                *count = 0;
            }
        }
    }

    /// Adds counts for each bucket, and a sum of durations in nanoseconds.
    pub(crate) fn add(&mut self, counts: impl Iterator<Item = u64>, nanos: u64) {
        self.counts.iter_mut().zip(counts).for_each(|(count, other)| *count = count.wrapping_add(other));
        self.nanos = self.nanos.wrapping_add(nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for nanos in nanos {
            histogram.add((0..BUCKETS).map(|at| u64::from(at == bucket(*nanos))), *nanos);
        }
        histogram
    }

    #[test]
    fn every_duration_lies_within_its_bucket_bounds() {
        let powers = (0..42).flat_map(|power| [(1_u64 << power) - 1, 1 << power, (1 << power) + 1, 5 << power >> 2]);
        for nanos in powers {
            let at = bucket(nanos);
            assert!(nanos < end(at), "{nanos} ns should be below the end of bucket {at}");
            assert!(at == 0 || nanos >= end(at - 1), "{nanos} ns should not be below the start of bucket {at}");
            assert!(end(at) - nanos <= (nanos / 8).max(128), "{nanos} ns should be near the end of bucket {at}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        let in_last = |minutes: u64| bucket(minutes * 60_000_000_000) == BUCKETS - 1;
        assert!(!in_last(137) && in_last(138), "last bucket should begin as documented");
    }

    #[test]
    fn counts_below_power_of_two_are_exact() {
        let histogram = of(&[0, 1023, 1024, 4095, 4096, 1 << 20]);
        let below = |nanos| histogram.below(Duration::from_nanos(nanos));
        assert_eq!([1024, 4096, 4097, 1 << 20, 1 << 21].map(below), [2, 4, 4, 5, 6]);
    }

    #[test]
    fn quantile_is_end_of_matching_range() {
        let histogram = of(&[1000, 2000, 3000, 1_000_000]);
        let quantile = |share| histogram.quantile(share).map(|duration| duration.as_nanos());
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(quantile), [1024, 1024, 2048, 3072, 1_048_576].map(Some));
        let mut both = histogram.clone();
        both.merge(&histogram);
        assert_eq!((both.count(), both.sum()), (8, 2 * histogram.sum()));
        assert_eq!(both.quantile(0.5), histogram.quantile(0.5));
    }
}
