//! When connections arrived. An instant for each of them would be memory of idle connections for rare readers, so
//! instants are noted now and then: numbers rise with time.

use std::time::{Duration, Instant};

/// Connections that arrive within this time count as having arrived together.
const TOGETHER: Duration = Duration::from_millis(10);

/// How many instants are noted before those are removed whose neighbours give a good estimate of the age.
const NOTED_MAX: usize = 2048;

/// Ages may be wrong by one part in so many. With [`TOGETHER`], a year of connections takes some 1600 instants.
const PRECISION: u32 = 64;

/// Instants, each with the first number that arrived at it, in order.
#[derive(Debug, Default)]
pub(super) struct Arrivals(Vec<(u64, Instant)>);

impl Arrivals {
    /// Notes that a number arrives, which is larger than all before.
    pub(super) fn record(&mut self, number: u64, now: Instant) {
        if self.0.last().is_some_and(|(_, last)| now.saturating_duration_since(*last) < TOGETHER) {
            return;
        }
        if self.0.len() >= NOTED_MAX {
            self.thin(now);
        }
        self.0.push((number, now));
    }

    /// About when a number arrived.
    pub(super) fn since(&self, number: u64) -> Option<Instant> {
        let behind = self.0.partition_point(|(first, _)| *first <= number);
        Some(self.0.get(behind.checked_sub(1)?)?.1)
    }

    /// Leaves out what lies between two instants that are close to each other for their age.
    fn thin(&mut self, now: Instant) {
        let noted = std::mem::take(&mut self.0);
        for (index, mark) in noted.iter().enumerate() {
            let (before, behind) = (self.0.last(), noted.get(index + 1));
            let is_implied = before.zip(behind).is_some_and(|((_, before), (_, behind))| {
                behind.saturating_duration_since(*before) <= now.saturating_duration_since(*behind) / PRECISION
            });
            if !is_implied {
                self.0.push(*mark);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_exact_to_one_64th_in_bounded_memory() {
        let begin = Instant::now();
        let mut arrivals = Arrivals::default();
        // A day, with a connection every 20 ms.
        let count = 24 * 3600 * 50;
        let at = |number: u64| begin + Duration::from_millis(20) * u32::try_from(number).unwrap();
        (0..count).for_each(|number| arrivals.record(number, at(number)));
        assert!(arrivals.0.len() <= NOTED_MAX, "{}", arrivals.0.len());
        let now = at(count);
        for number in (0..count).step_by(997) {
            let (reported, age) = (now - arrivals.since(number).unwrap(), now - at(number));
            assert!(reported >= age && reported <= age + age / 32 + TOGETHER, "{reported:?} for {age:?}");
        }
    }

    #[test]
    fn connections_that_arrive_together_share_an_instant() {
        let begin = Instant::now();
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.since(0), None);
        for number in 0..100 {
            arrivals.record(number, begin + Duration::from_micros(number));
        }
        arrivals.record(100, begin + TOGETHER);
        assert_eq!(arrivals.since(99), Some(begin));
        assert_eq!(arrivals.since(100), Some(begin + TOGETHER));
        assert_eq!(arrivals.0.len(), 2);
    }
}
