//! The choice of a server for each call, among those that have a connection.
//!
//! It reads one number of each server that is drawn, its cost, and the count of its calls. All that needs thought is done
//! when one of these changes, or some times in a second: see [`Pulse`].

use crate::calls::pulse::{EXCLUDED, Outlook, Pulse, TRIAL};
use crate::client::fleet::members::Row;
use crate::client::link::Link;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// How finely weights are kept when they have no small common measure: so many lots for each server.
const LOTS_EACH: u64 = 16;

/// The part of the servers that may be ejected. If more fail, it is likely not their fault, and the others would have more
/// to do than they can: then none is ejected.
const EJECTED_MAX_PERCENT: usize = 30;

/// The servers among which calls choose.
#[derive(Default)]
pub(crate) struct Choice {
    servers: Vec<Candidate>,
    /// The places of servers, each as often as its weight is large.
    lots: Vec<u32>,
    /// The place of the server that was chosen last: the better of many, if calls follow each other.
    last: AtomicUsize,
}

struct Candidate {
    /// The channel and each call and stream hold it, so the count of its holders is the load with another call.
    link: Weak<Link>,
    pulse: Arc<Pulse>,
}

impl Candidate {
    /// What the next call costs.
    #[inline]
    fn cost(&self) -> u64 {
        // Neither factor can be so large that the product overflows: a connection has no more than 2^14 calls, and 2^16
        // streams.
        self.pulse.cost().wrapping_mul(self.link.strong_count() as u64)
    }
}

impl Choice {
    /// The choice among those of these that have a connection now.
    pub(crate) fn among(rows: &[Row]) -> Self {
        let mut weights = Vec::with_capacity(rows.len());
        let mut servers = Vec::with_capacity(rows.len());
        for row in rows {
            if let (Some(link), Some(pulse)) = (row.current(), row.pulse()) {
                servers.push(Candidate { link: Arc::downgrade(&link), pulse: pulse.clone() });
                weights.push(row.weight());
            }
        }
        let heaviest = weights.iter().copied().max().unwrap_or(1).max(1);
        for (server, weight) in servers.iter().zip(&weights) {
            server.pulse.set_share(f64::from((*weight).max(1)) / f64::from(heaviest));
        }
        Self { lots: lots(&weights), servers, last: AtomicUsize::default() }
    }

    /// The best of two that are drawn at random, in proportion to their weights, and the one that was chosen last: the one
    /// at which the call is expected to end first. This keeps the longest queue short without asking servers, and not all
    /// callers choose the server that was idle a moment ago. `None` if none of the three is to get calls.
    #[inline]
    pub(crate) fn next(&self) -> Option<Arc<Link>> {
        let dice = fastrand::u64(..);
        let count = self.lots.len() as u64;
        // Never the same one, unless there is no other, or it has several lots.
        let one = ((dice & u64::from(u32::MAX)) * count) >> 32;
        let other = one + 1 + (((dice >> 32) * count.saturating_sub(1)) >> 32);
        let other = if other >= count { other - count } else { other };
        let (mut place, other) = (*self.lots.get(one as usize)? as usize, *self.lots.get(other as usize)? as usize);
        let (mut best, second) = (self.servers.get(place)?, self.servers.get(other)?);
        let (mut cost, second_cost) = (best.cost(), second.cost());
        if second_cost < cost {
            (best, cost, place) = (second, second_cost, other);
        }
        let last = self.last.load(Ordering::Relaxed);
        if let Some(third) = self.servers.get(last)
            && last != place
        {
            let third_cost = third.cost();
            if third_cost < cost {
                (best, cost, place) = (third, third_cost, last);
            }
        }
        if cost >= EXCLUDED {
            return None;
        }
        self.last.store(place, Ordering::Relaxed);
        if cost == TRIAL {
            best.pulse.begin_trial();
        }
        best.link.upgrade().filter(|link| !link.calls.is_retired())
    }

    /// Computes the costs of all servers.
    pub(crate) fn assess(&self, now: u64) {
        let ejected = self.servers.iter().filter(|server| server.pulse.is_doubted()).count();
        let coming = self.servers.iter().filter(|server| server.pulse.is_coming(now)).count();
        let outlook = Outlook {
            is_panic: ejected > (self.servers.len() * EJECTED_MAX_PERCENT / 100).max(1),
            // Those who all come at once have nobody to leave the calls to.
            is_slow_start: coming * 2 <= self.servers.len(),
        };
        for server in &self.servers {
            let is_shown = server.link.upgrade().is_some_and(|link| link.has_shown());
            server.pulse.assess(now, is_shown, outlook);
        }
    }
}

/// The places of these weights, each as often as its weight is large, and all alike if all weights are 0.
fn lots(weights: &[u32]) -> Vec<u32> {
    let places = 0..u32::try_from(weights.len()).unwrap_or(u32::MAX);
    let measure = weights.iter().fold(0, |measure, weight| common(measure, *weight));
    if measure == 0 || weights.iter().all(|weight| *weight == measure) {
        return places.collect();
    }
    let sum: u64 = weights.iter().map(|weight| u64::from(weight / measure)).sum();
    let most = LOTS_EACH * weights.len() as u64;
    let mut lots = Vec::new();
    for (place, weight) in places.zip(weights) {
        let share = u64::from(weight / measure);
        // No more than `most` and one for each in all.
        let share = if sum <= most { share } else { (share * most / sum).max(share.min(1)) };
        lots.extend((0..share).map(|_| place));
    }
    lots
}

/// The greatest common divisor.
fn common(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_are_in_proportion_to_weights_and_bounded() {
        assert!(lots(&[]).is_empty());
        assert_eq!(lots(&[7, 7, 7]), [0, 1, 2]);
        assert_eq!(lots(&[0, 0]), [0, 1], "all alike");
        assert_eq!(lots(&[100, 0, 200]), [0, 2, 2]);
        let uneven = lots(&[u32::MAX, 1, 1_000_003]);
        assert!(uneven.len() <= 3 * (LOTS_EACH as usize + 1), "{}", uneven.len());
        assert!((0..3).all(|place| uneven.contains(&place)), "each has a share: {uneven:?}");
    }
}
