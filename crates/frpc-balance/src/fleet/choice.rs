//! The choice of a server for each call, among those that have a connection.
//!
//! Most calls read one number of each server that is looked at, its cost, and the count of its calls: see [`CandidateSet::next`].
//! All that needs thought is done when one of these changes, or some times in a second: see [`ServerEstimate`]. While servers report
//! how busy they are, or some are elsewhere, [`CandidateSet::choose_by_cost`] chooses.
//!
//! # Decisions
//!
//! The choice reads one atomic number for each server, the cost of a call there, and the count of its calls. Latencies, ages,
//! ejections, trials and slow starts become that number when one of them changes, and at most every 8 ms for the passing of time.
//! One call at a time is timed on a connection. A channel to one server has none of this.

use crate::fleet::below;
use crate::fleet::clock::FleetClock;
use crate::fleet::estimate::{EXCLUDED, FleetState, ServerEstimate, TRIAL};
use crate::fleet::members::Row;
use crate::fleet::options::FleetOptions;
use frpc::picker::Link;
use frpc::picker::{PendingCall, PickedConnection};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How finely weights are kept when they have no small common measure: so many lots for each server.
const LOTS_EACH: u64 = 16;

/// The part of the servers that may be ejected. If more fail, it is likely not their fault, and the others would have more
/// to do than they can: then none is ejected.
const EJECTED_MAX_PERCENT: usize = 30;

/// The part of the servers of the own zone that has to work for all calls to stay there.
const NEAR_PERCENT: f64 = 70.0;

/// The parts into which calls are divided between the own zone and others.
const SPILL_PARTS: u64 = 256;

/// One in so many calls chooses only among drawn servers though there are reports, so that the estimate of each server
/// is put to the test.
const DRAWN_IN: u64 = 64;

/// One in so many calls is timed where calls take next to no time.
const TIMED_IN: u64 = 64;

/// A trial has so many times as long as a call is expected to take elsewhere before it is hedged, and at least so long:
/// below that, servers differ by chance.
const TRIAL_TIMES: u64 = 4;
const TRIAL_LEAST: Duration = Duration::from_millis(50);

/// How many servers are drawn for a call that is hedged. There are few such calls, and each is late already.
const DRAWN_FOR_HEDGE: u64 = 4;

/// The servers among which calls choose.
#[derive(Default)]
pub(crate) struct CandidateSet {
    /// Those of the own zone, or all, and then the others.
    near: Tier,
    far: Tier,
    /// The servers to draw from.
    dice: u64,
    /// How many of [`SPILL_PARTS`] of the calls go far.
    spill: u64,
    /// The weight of the servers of the own zone, those without a connection included.
    near_weight: u64,
    /// A server that was chosen and is to have its trial, by the next call that can make one.
    deferred_trial: Option<Candidate>,
}

/// Servers that are alike, apart from how they work.
#[derive(Default)]
struct Tier {
    /// The servers by their ranks, and their weights.
    servers: Vec<Candidate>,
    weights: Vec<u32>,
    /// The servers, each as often as its weight is large.
    lots: Vec<Candidate>,
    /// The lot that was chosen last: the better of many, if calls follow each other.
    last: usize,
    /// How far the second lot is from the first that is drawn; another one again and again.
    stride: usize,
}

/// A server that may be chosen.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// The channel and each call and stream hold it, so the count of its holders is the load with another call.
    link: Weak<Link>,
    estimate: Arc<ServerEstimate>,
}

/// The connection for a call.
pub(crate) struct ChosenServer {
    link: Arc<Link>,
    /// The call is a trial of its server, and is hedged after this time.
    trial: Option<Duration>,
}

impl ChosenServer {
    pub(crate) fn usual(link: Arc<Link>) -> Self {
        Self { link, trial: None }
    }

    /// The connection for this call. Another server may run a trial too if that does no harm.
    pub(crate) fn for_call(self, call: &PendingCall<'_>) -> PickedConnection {
        match self.trial {
            Some(after) if call.is_unary() && call.is_idempotent() => PickedConnection::trial(self.link, after),
            _ => PickedConnection::new(self.link),
        }
    }

    /// The connection for a call that has waited for it.
    pub(crate) fn into_picked(self) -> PickedConnection {
        match self.trial {
            Some(after) => PickedConnection::trial(self.link, after),
            None => PickedConnection::new(self.link),
        }
    }
}

/// Whether a server with this cost gets ordinary calls, not only trials.
#[inline]
fn is_ordinary(cost: u64) -> bool {
    cost.wrapping_sub(TRIAL + 1) < EXCLUDED - TRIAL - 1
}

/// The cost of the last of so many calls at a server with this cost. It is [`EXCLUDED`] or more if that is, however
/// many there are, and otherwise less: a connection has no more than 2^14 calls and 2^16 streams, and others 2^16.
#[inline]
fn of_calls(cost: u64, calls: u64) -> u64 {
    cost.saturating_mul(calls)
}

impl Candidate {
    /// The cost of the next call, by the calls of this client.
    #[inline]
    fn cost(&self) -> u64 {
        of_calls(self.estimate.cost(), self.link.strong_count() as u64)
    }

    /// The cost of the next call, with the calls of others.
    fn whole_cost(&self) -> u64 {
        of_calls(self.estimate.cost(), self.link.strong_count() as u64 + self.estimate.others())
    }

    /// The cost of a call that is no trial.
    fn usual_cost(&self) -> u64 {
        let cost = self.whole_cost();
        if is_ordinary(cost) { cost } else { EXCLUDED }
    }

    pub(crate) fn link(&self) -> Option<Arc<Link>> {
        self.link.upgrade().filter(|link| link.takes_calls())
    }
}

impl CandidateSet {
    /// The choice among those of these that have a connection now.
    pub(crate) fn among(rows: &[Row], terms: &FleetOptions) -> Self {
        let (mut near, mut far) = (Tier::default(), Tier::default());
        let mut near_weight = 0;
        for row in rows {
            let is_near = terms.is_near(&row.endpoint);
            near_weight += if is_near { u64::from(row.weight()) } else { 0 };
            if let Some(link) = row.current() {
                let tier = if is_near { &mut near } else { &mut far };
                tier.servers.push(Candidate { link: Arc::downgrade(&link), estimate: row.estimate.clone() });
                tier.weights.push(row.weight());
            }
        }
        if near.servers.is_empty() {
            std::mem::swap(&mut near, &mut far);
        }
        let heaviest = f64::from(near.weights.iter().chain(&far.weights).copied().max().unwrap_or(1).max(1));
        for (server, weight) in near.weighed().chain(far.weighed()) {
            server.estimate.set_share(f64::from(weight.max(1)) / heaviest);
        }
        for (index, (server, weight)) in (0..).zip(near.weighed()) {
            server.estimate.set_rank(Some(index).filter(|_| weight > 0));
        }
        far.servers.iter().for_each(|server| server.estimate.set_rank(None));
        near.prepare();
        far.prepare();
        Self { near, far, dice: fastrand::u64(..), spill: 0, near_weight, deferred_trial: None }
    }

    /// The connection for the next call, while the calls of others are unknown and all calls stay near: that of the
    /// best of two servers that are drawn and the one that was chosen last, the one at which the call is expected to
    /// end first. This keeps the longest queue short without queries to servers, and not all callers choose the server
    /// that was idle a moment ago. `None` if none of the three is to get calls, or one its trial.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Arc<Link>> {
        let dice = self.roll();
        let (at, best, cost) = self.near.draw(dice, Candidate::cost)?;
        if !is_ordinary(cost) {
            return self.defer_trial(at);
        }
        // A connection that takes no new calls is noticed before the next choice, by the clock.
        let link = best.link.upgrade()?;
        self.near.last = at;
        if dice.is_multiple_of(TIMED_IN) {
            link.time_next_call();
        }
        Some(link)
    }

    /// Has the next call that can make a trial make it at this server, if it is to have one.
    #[cold]
    #[inline(never)]
    fn defer_trial(&mut self, at: usize) -> Option<Arc<Link>> {
        self.deferred_trial = self.near.lots.get(at).filter(|server| server.estimate.cost() == TRIAL).cloned();
        None
    }

    /// The connection for a call by all that is known: that of the better of two servers that are drawn and the one whose
    /// report promises the least. It may be a trial.
    pub(crate) fn choose_by_cost(&mut self, clock: &FleetClock) -> Option<ChosenServer> {
        if let Some(deferred_trial) =
            self.deferred_trial.take().filter(|deferred_trial| deferred_trial.estimate.cost() == TRIAL)
        {
            return self.trial(clock, &deferred_trial);
        }
        let dice = self.roll();
        let has_reports = clock.has_reports();
        let is_near = (dice >> 24) % SPILL_PARTS >= self.spill;
        let tier = if is_near { &mut self.near } else { &mut self.far };
        let (at, drawn, mut cost) = match has_reports {
            true => tier.draw_two(dice, Candidate::whole_cost)?,
            false => tier.draw(dice, Candidate::whole_cost)?,
        };
        let goes_by_report = has_reports && is_near && cost != TRIAL && !(dice >> 16).is_multiple_of(DRAWN_IN);
        let reported =
            if goes_by_report { tier.by_report(clock).filter(|(_, promised)| *promised <= cost) } else { None };
        let mut last = tier.last;
        let best = match reported {
            Some((index, promised)) => {
                cost = promised;
                tier.servers.get(index)?
            }
            None => {
                last = at;
                drawn
            }
        };
        if cost == TRIAL {
            let best = best.clone();
            return self.trial(clock, &best);
        }
        let best = if cost < EXCLUDED {
            best
        } else {
            // Each server that was drawn may be ejected while others of its zone work.
            tier.lots.iter().min_by_key(|server| server.usual_cost()).filter(|server| server.usual_cost() < EXCLUDED)?
        };
        let link = best.link()?;
        if has_reports {
            clock.spend_report(best.estimate.rank());
        }
        tier.last = last;
        if dice.is_multiple_of(TIMED_IN) {
            link.time_next_call();
        }
        Some(ChosenServer::usual(link))
    }

    /// The connection for a trial of this server.
    fn trial(&mut self, clock: &FleetClock, server: &Candidate) -> Option<ChosenServer> {
        let link = server.link()?;
        server.estimate.begin_trial();
        let elsewhere = self.other_server(clock, &link).map_or(0, Candidate::usual_cost);
        let patience = Duration::from_nanos(elsewhere.saturating_mul(TRIAL_TIMES)).max(TRIAL_LEAST);
        Some(ChosenServer { link, trial: Some(patience) })
    }

    /// The connection for a call that is under way on this one, too.
    pub(crate) fn other_than(&mut self, clock: &FleetClock, link: &Arc<Link>) -> Option<Arc<Link>> {
        if let Some(server) = self.other_server(clock, link) {
            let link = server.link()?;
            clock.spend_report(server.estimate.rank());
            return Some(link);
        }
        // At the beginning nothing is known of any server.
        let is_other = |server: &&Candidate| !std::ptr::eq(server.link.as_ptr(), Arc::as_ptr(link));
        let server = self.near.lots.iter().filter(is_other).find(|server| server.estimate.cost() == TRIAL)?;
        server.estimate.begin_trial();
        server.link()
    }

    /// The best of some servers near, without this one. Of few servers each draw may be this one: then the first of the
    /// others.
    fn other_server(&mut self, clock: &FleetClock, link: &Arc<Link>) -> Option<&Candidate> {
        let dice: [u64; DRAWN_FOR_HEDGE as usize] = std::array::from_fn(|_| self.roll());
        let drawn = dice.iter().filter_map(|dice| self.near.lots.get(self.near.lot(*dice)));
        let reported = self.near.by_report(clock).and_then(|(index, _)| self.near.servers.get(index));
        let is_other = |server: &&Candidate| !std::ptr::eq(server.link.as_ptr(), Arc::as_ptr(link));
        let best = drawn.chain(reported).filter(is_other).min_by_key(|server| server.usual_cost());
        let is_usual = |server: &&Candidate| server.usual_cost() < EXCLUDED;
        best.filter(is_usual).or_else(|| self.near.lots.iter().filter(is_other).find(is_usual))
    }

    /// The next random number. Its upper bits are the better ones (Knuth's constants for 64 bits).
    #[inline]
    fn roll(&mut self) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.dice
    }

    /// Whether some calls go to other zones.
    pub(crate) fn spills(&self) -> bool {
        self.spill != 0
    }

    /// Computes the costs of all servers, and how many calls go to other zones.
    pub(crate) fn assess(&mut self, now: u64) {
        let all = || self.near.servers.iter().chain(&self.far.servers);
        let count = all().count();
        let ejected = all().filter(|server| server.estimate.is_doubted()).count();
        let start_progress = all().filter(|server| server.estimate.is_starting(now)).count();
        let fleet_state = fleet_state(count, ejected, start_progress);
        let mut near_works = 0;
        for (index, (server, weight)) in self.near.weighed().chain(self.far.weighed()).enumerate() {
            let is_shown = server.link.upgrade().is_some_and(|link| link.is_alive());
            server.estimate.assess(now, is_shown, server.link.strong_count(), fleet_state);
            if index < self.near.servers.len() && is_shown && !server.estimate.is_doubted() {
                near_works += u64::from(weight);
            }
        }
        self.spill = if self.far.servers.is_empty() { 0 } else { spill(near_works, self.near_weight) };
        self.near.stride();
        self.far.stride();
    }
}

/// The state of so many servers. Some have failed and some have just joined.
fn fleet_state(count: usize, ejected: usize, start_progress: usize) -> FleetState {
    FleetState {
        is_panic: ejected > (count * EJECTED_MAX_PERCENT / 100).max(1),
        // Servers that join all at once have no others for the calls.
        is_slow_start: start_progress * 2 <= count,
    }
}

/// How many of [`SPILL_PARTS`] of the calls go to other zones if so much of the weight of the own zone works.
fn spill(works: u64, all: u64) -> u64 {
    let part = works as f64 * 100.0 / NEAR_PERCENT / all.max(1) as f64;
    ((1.0 - part.min(1.0)) * SPILL_PARTS as f64).round() as u64
}

impl Tier {
    /// The servers with their weights.
    fn weighed(&self) -> impl Iterator<Item = (&Candidate, u32)> {
        self.servers.iter().zip(self.weights.iter().copied())
    }

    /// Makes the lots.
    fn prepare(&mut self) {
        let lots = lots(&self.weights);
        self.lots = lots.iter().filter_map(|index| self.servers.get(*index as usize).cloned()).collect();
        self.stride();
    }

    /// Has other pairs be drawn.
    fn stride(&mut self) {
        let others = self.lots.len().saturating_sub(1);
        self.stride = if others == 0 { 0 } else { 1 + below(others) };
    }

    /// The lot that is drawn by the dice.
    #[inline]
    fn lot(&self, dice: u64) -> usize {
        // Below their number, which is below 2^32.
        (((dice >> 32) * self.lots.len() as u64) >> 32) as usize
    }

    /// The better of two lots that are drawn, with its server and cost.
    #[inline]
    fn draw_two(&self, dice: u64, cost: impl Fn(&Candidate) -> u64) -> Option<(usize, &Candidate, u64)> {
        let one = self.lot(dice);
        let other = one + self.stride;
        let other = if other >= self.lots.len() { other - self.lots.len() } else { other };
        let (first, second) = (self.lots.get(one)?, self.lots.get(other)?);
        let costs = (cost(first), cost(second));
        Some(if costs.1 < costs.0 { (other, second, costs.1) } else { (one, first, costs.0) })
    }

    /// The best of two lots that are drawn and the one that was chosen last, with its server and cost.
    #[inline]
    fn draw(&self, dice: u64, cost: impl Fn(&Candidate) -> u64) -> Option<(usize, &Candidate, u64)> {
        let (at, best, least) = self.draw_two(dice, &cost)?;
        let last = self.lots.get(self.last)?;
        let cost = cost(last);
        Some(if cost < least { (self.last, last, cost) } else { (at, best, least) })
    }

    /// The rank of the server whose report promises the least, with its cost.
    #[inline(never)]
    fn by_report(&self, clock: &FleetClock) -> Option<(usize, u64)> {
        let cost = |index: u32| self.servers.get(index as usize).map_or(EXCLUDED, Candidate::usual_cost);
        let (index, cost) = clock.best_report(cost)?;
        Some((index as usize, cost)).filter(|(_, cost)| is_ordinary(*cost))
    }
}

/// The indices of these weights, each as often as its weight is large, and all alike if all weights are 0.
fn lots(weights: &[u32]) -> Vec<u32> {
    let indices = 0..u32::try_from(weights.len()).unwrap_or(u32::MAX);
    let measure = weights.iter().fold(0, |measure, weight| common(measure, *weight));
    if measure == 0 || weights.iter().all(|weight| *weight == measure) {
        return indices.collect();
    }
    let sum: u64 = weights.iter().map(|weight| u64::from(weight / measure)).sum();
    let most = LOTS_EACH * weights.len() as u64;
    let mut lots = Vec::new();
    for (index, weight) in indices.zip(weights) {
        let share = u64::from(weight / measure);
        // No more than `most` and one for each in all.
        let share = if sum <= most { share } else { (share * most / sum).max(share.min(1)) };
        lots.extend((0..share).map(|_| index));
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
    use crate::fleet::estimate::COST_MAX;

    #[test]
    fn calls_leave_the_own_zone_as_far_as_its_servers_cannot_work() {
        let parts = [(10, 10), (7, 10), (6, 10), (35, 100), (0, 10), (0, 0)].map(|(works, all)| spill(works, all));
        assert_eq!(parts, [0, 0, 37, 128, 256, 256]);
    }

    #[test]
    fn at_most_three_of_ten_servers_or_one_of_few_are_ejected() {
        let most = |count| (0..=count).take_while(|ejected| !fleet_state(count, *ejected, 0).is_panic).last();
        assert_eq!([1, 2, 3, 6, 7, 10, 100].map(most), [1, 1, 1, 1, 2, 3, 30].map(Some));
    }

    #[test]
    fn servers_begin_slowly_unless_most_have_just_come() {
        let slow = |start_progress| fleet_state(10, 0, start_progress).is_slow_start;
        assert_eq!([1, 5, 6, 10].map(slow), [true, true, false, false]);
    }

    /// Calls that take half a minute excluded a server that had 256 of them, and so all servers: the choice went by the
    /// number of calls alone, whatever the weights and zones.
    #[test]
    fn no_number_of_calls_excludes_a_server() {
        for calls in [1, 2, 256, 1 << 14, 1 << 17] {
            assert!(is_ordinary(of_calls(1 << 35, calls)) && is_ordinary(of_calls(COST_MAX, calls)), "{calls}");
            assert!(of_calls(EXCLUDED, calls) >= EXCLUDED && of_calls(TRIAL, calls) == TRIAL, "{calls}");
        }
    }

    #[test]
    fn lots_are_in_proportion_to_weights_and_bounded() {
        assert!(lots(&[]).is_empty());
        assert_eq!(lots(&[7, 7, 7]), [0, 1, 2]);
        assert_eq!(lots(&[0, 0]), [0, 1], "all alike");
        assert_eq!(lots(&[100, 0, 200]), [0, 2, 2]);
        let uneven = lots(&[u32::MAX, 1, 1_000_003]);
        assert!(uneven.len() <= 3 * (LOTS_EACH as usize + 1), "{}", uneven.len());
        assert!((0..3).all(|index| uneven.contains(&index)), "each has a share: {uneven:?}");
    }
}
