//! The choice of a server for each call, among those that have a connection.
//!
//! It reads one number of each server that is drawn, its cost, and the count of its calls. All that needs thought is done
//! when one of these changes, or some times in a second: see [`Pulse`]. While servers report how busy they are, most calls go by
//! that instead.

use crate::calls::clock::FleetClock;
use crate::calls::pulse::{EXCLUDED, Outlook, Pulse, TRIAL};
use crate::client::fleet::members::Row;
use crate::client::fleet::terms::FleetTerms;
use crate::client::link::Link;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// How finely weights are kept when they have no small common measure: so many lots for each server.
const LOTS_EACH: u64 = 16;

/// The part of the servers that may be ejected. If more fail, it is likely not their fault, and the others would have more
/// to do than they can: then none is ejected.
const EJECTED_MAX_PERCENT: usize = 30;

/// The part of the servers of the own zone that has to work for all calls to stay there.
const NEAR_PERCENT: f64 = 70.0;

/// The parts into which calls are divided between the own zone and others.
const SPILL_PARTS: u64 = 256;

/// One in so many calls chooses among servers that are drawn though there are reports, so that servers without one are not
/// forgotten; and one in so many while a server is to have its trial.
const DRAWN_IN: u64 = 32;
const TRIED_IN: u64 = 4;

/// One in so many calls is timed where calls take next to no time.
const TIMED_IN: u64 = 32;

/// The servers among which calls choose.
#[derive(Default)]
pub(crate) struct Choice {
    /// Those of the own zone, or all, and then the others.
    near: Tier,
    far: Tier,
    /// From which two servers are drawn for each call. It need not be exact among threads.
    dice: AtomicU64,
    /// How many of [`SPILL_PARTS`] of the calls go far.
    spill: AtomicU64,
    /// One in so many calls is not placed by reports.
    drawn_in: AtomicU64,
    /// The weight of the servers of the own zone, those without a connection included.
    near_weight: u64,
}

/// Servers that are alike, apart from how they work.
#[derive(Default)]
struct Tier {
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
    weight: u32,
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
    pub(crate) fn among(rows: &[Row], terms: &FleetTerms) -> Self {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let mut near_weight = 0;
        for row in rows {
            let is_near = terms.is_near(&row.endpoint);
            near_weight += if is_near { u64::from(row.weight()) } else { 0 };
            if let (Some(link), Some(pulse)) = (row.current(), row.pulse()) {
                let (link, pulse, weight) = (Arc::downgrade(&link), pulse.clone(), row.weight());
                if is_near { &mut near } else { &mut far }.push(Candidate { link, pulse, weight });
            }
        }
        if near.is_empty() {
            std::mem::swap(&mut near, &mut far);
        }
        let weights = near.iter().chain(&far).map(|server| server.weight);
        let heaviest = f64::from(weights.max().unwrap_or(1).max(1));
        for server in near.iter().chain(&far) {
            server.pulse.set_share(f64::from(server.weight.max(1)) / heaviest);
        }
        for (place, server) in (0..).zip(&near) {
            server.pulse.set_place(Some(place));
        }
        far.iter().for_each(|server| server.pulse.set_place(None));
        let [dice, spill, drawn_in] = [fastrand::u64(..), 0, DRAWN_IN].map(AtomicU64::new);
        Self { near: Tier::new(near), far: Tier::new(far), dice, spill, drawn_in, near_weight }
    }

    /// The connection for the next call: by reports, or else by [`Tier::next`].
    #[inline]
    pub(crate) fn next(&self, clock: &FleetClock) -> Option<Arc<Link>> {
        let dice = self.roll();
        let spill = self.spill.load(Ordering::Relaxed);
        if spill != 0 && dice % SPILL_PARTS < spill {
            return self.far.next(dice);
        }
        if clock.has_reports()
            && !(dice >> 8).is_multiple_of(self.drawn_in.load(Ordering::Relaxed))
            && let Some(link) = self.near.by_report(clock)
        {
            return Some(link);
        }
        self.near.next(dice)
    }

    /// The next random number, by SplitMix64.
    #[inline]
    fn roll(&self) -> u64 {
        let state = self.dice.load(Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.dice.store(state, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Computes the costs of all servers, and how many calls go to other zones.
    pub(crate) fn assess(&self, now: u64) {
        let all = || self.near.servers.iter().chain(&self.far.servers);
        let count = all().count();
        let ejected = all().filter(|server| server.pulse.is_doubted()).count();
        let coming = all().filter(|server| server.pulse.is_coming(now)).count();
        let outlook = outlook(count, ejected, coming);
        let (mut near_works, mut drawn_in) = (0, DRAWN_IN);
        for (place, server) in all().enumerate() {
            let is_shown = server.link.upgrade().is_some_and(|link| link.has_shown());
            server.pulse.assess(now, is_shown, outlook);
            if server.pulse.cost() == TRIAL {
                drawn_in = TRIED_IN;
            }
            if place < self.near.servers.len() && is_shown && !server.pulse.is_doubted() {
                near_works += u64::from(server.weight);
            }
        }
        let spill = if self.far.servers.is_empty() { 0 } else { spill(near_works, self.near_weight) };
        self.spill.store(spill, Ordering::Relaxed);
        self.drawn_in.store(drawn_in, Ordering::Relaxed);
    }
}

/// What is to be made of so many servers, of which some have failed and some have just come.
fn outlook(count: usize, ejected: usize, coming: usize) -> Outlook {
    Outlook {
        is_panic: ejected > (count * EJECTED_MAX_PERCENT / 100).max(1),
        // Those who all come at once have nobody to leave the calls to.
        is_slow_start: coming * 2 <= count,
    }
}

/// How many of [`SPILL_PARTS`] of the calls go to other zones if so much of the weight of the own zone works.
fn spill(works: u64, all: u64) -> u64 {
    let part = works as f64 * 100.0 / NEAR_PERCENT / all.max(1) as f64;
    ((1.0 - part.min(1.0)) * SPILL_PARTS as f64).round() as u64
}

impl Tier {
    fn new(servers: Vec<Candidate>) -> Self {
        let weights: Vec<_> = servers.iter().map(|server| server.weight).collect();
        Self { lots: lots(&weights), servers, last: AtomicUsize::default() }
    }

    /// The server whose report promises the least.
    #[inline(never)]
    fn by_report(&self, clock: &FleetClock) -> Option<Arc<Link>> {
        let at = |place: u32| self.servers.get(place as usize);
        let place = clock.take_report(|place| at(place).is_some_and(|server| server.pulse.takes_by_report(place)))?;
        at(place)?.link.upgrade().filter(|link| !link.calls.is_retired())
    }

    /// The best of two that are drawn by the dice, in proportion to their weights, and the one that was chosen last: the one
    /// at which the call is expected to end first. This keeps the longest queue short without asking servers, and not all
    /// callers choose the server that was idle a moment ago. `None` if none of the three is to get calls.
    #[inline]
    fn next(&self, dice: u64) -> Option<Arc<Link>> {
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
        let link = best.link.upgrade().filter(|link| !link.calls.is_retired())?;
        if cost == TRIAL {
            best.pulse.begin_trial();
        }
        if dice.is_multiple_of(TIMED_IN) {
            link.calls.time_next();
        }
        Some(link)
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
    fn calls_leave_the_own_zone_as_far_as_its_servers_cannot_work() {
        let parts = [(10, 10), (7, 10), (6, 10), (35, 100), (0, 10), (0, 0)].map(|(works, all)| spill(works, all));
        assert_eq!(parts, [0, 0, 37, 128, 256, 256]);
    }

    #[test]
    fn at_most_three_of_ten_servers_or_one_of_few_are_ejected() {
        let most = |count| (0..=count).take_while(|ejected| !outlook(count, *ejected, 0).is_panic).last();
        assert_eq!([1, 2, 3, 6, 7, 10, 100].map(most), [1, 1, 1, 1, 2, 3, 30].map(Some));
    }

    #[test]
    fn servers_begin_slowly_unless_most_have_just_come() {
        let slow = |coming| outlook(10, 0, coming).is_slow_start;
        assert_eq!([1, 5, 6, 10].map(slow), [true, true, false, false]);
    }

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
