//! The choice of a connected server for each call.
//!
//! Most calls read two numbers per considered server: its cost, and the number of its calls; see
//! [`CandidateSet::next`]. All other computation is done when one of the inputs changes, or a few times per second; see
//! [`ServerEstimate`]. While servers report their load, or some of them are in other zones,
//! [`CandidateSet::choose_by_cost`] makes the choice.
//!
//! # Decisions
//!
//! The cost of a call at a server is a single atomic number, which combines latencies, ages, ejections, probes and slow
//! starts. It is recomputed when one of them changes, and at most every 8 ms as time passes. On each connection, the
//! latency of one call at a time is measured. Channels to a single server do not have this mechanism.

use crate::fleet::clock::FleetClock;
use crate::fleet::estimate::{EXCLUDED, FleetState, PROBE, ServerEstimate};
use crate::fleet::members::Row;
use crate::fleet::options::FleetOptions;
use crate::fleet::{below, common};
use frpc::picker::{Link, PendingCall, PickedConnection};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Maximum average number of entries per server in the weighted list. It limits the length of the list if the weights
/// have no large common divisor.
const LOTS_EACH: u64 = 16;

/// Maximum percentage of servers that may be ejected. If more servers fail, they are probably not the cause, and the
/// remaining ones would be overloaded. All servers then receive calls, as if none were ejected.
const EJECTED_MAX_PERCENT: usize = 30;

/// Percentage of the local zone's weight that must be available for all calls to stay in the zone.
const NEAR_PERCENT: f64 = 70.0;

/// Denominator of the share of the calls that goes to other zones.
const SPILL_PARTS: u64 = 256;

/// Interval, in calls, at which a call ignores the load reports and chooses among random servers. The estimate of each
/// server is thus verified from time to time.
const DRAWN_IN: u64 = 64;

/// Interval, in calls, at which a latency is measured while calls are too short to measure each of them.
const TIMED_IN: u64 = 64;

/// Time before a probe call is hedged, as a multiple of the expected latency of other servers. Hedging never starts
/// before the minimum time, because shorter latencies differ only by chance.
const PROBE_TIMES: u64 = 4;
const PROBE_LEAST: Duration = Duration::from_millis(50);

/// Number of random servers that are compared when a call is hedged. More than for other calls, because hedged calls
/// are rare and already late.
const DRAWN_FOR_HEDGE: u64 = 4;

/// Connected servers of a fleet, from which one is chosen for each call.
#[derive(Default)]
pub(crate) struct CandidateSet {
    /// Servers of the local zone (`near`) and of other zones (`far`). If no server of the local zone is connected,
    /// `near` contains those of other zones.
    near: Tier,
    far: Tier,
    /// State of the pseudorandom number generator that draws servers.
    dice: u64,
    /// Share of the calls that go to other zones, in parts of [`SPILL_PARTS`].
    spill: u64,
    /// Total weight of the servers in the local zone, connected or not.
    near_weight: u64,
    /// Whether a server is ejected, so that the time of its probe must be noticed.
    pub(crate) has_ejected: bool,
    /// An ejected server that is due for a probe call. The next suitable call becomes the probe.
    deferred_probe: Option<Candidate>,
}

/// A group of equally preferred servers, among which calls choose only by weight and cost.
#[derive(Default)]
struct Tier {
    /// Servers with their weights, indexed by their rank in load reports.
    servers: Vec<Candidate>,
    weights: Vec<u32>,
    /// Servers repeated in proportion to their weight, so that a uniform random index respects the weights.
    lots: Vec<Candidate>,
    /// Index of the candidate that was chosen last. Comparing it again makes successive calls converge on the best of
    /// many servers.
    last: usize,
    /// Distance in the weighted list between the two candidates that are compared, which is changed at random from time
    /// to time.
    stride: usize,
}

/// A connected server that can be chosen for a call.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// Connection to the server. The channel and each of its calls and streams hold a reference, so the reference count
    /// equals the load including one more call.
    link: Weak<Link>,
    estimate: Arc<ServerEstimate>,
}

/// Connection chosen for a call, and whether the call is a probe of its server.
pub(crate) struct ChosenServer {
    link: Arc<Link>,
    /// Time before the call is hedged, if it is a probe of the server.
    probe: Option<Duration>,
}

impl ChosenServer {
    pub(crate) fn usual(link: Arc<Link>) -> Self {
        Self { link, probe: None }
    }

    /// Returns the chosen connection for this call. Uses the call as a probe only if it is unary and idempotent,
    /// because the channel may also send a probe to another server.
    pub(crate) fn for_call(self, call: &PendingCall<'_>) -> PickedConnection {
        match self.probe {
            Some(after) if call.is_unary() && call.is_idempotent() => PickedConnection::probe(self.link, after),
            _ => PickedConnection::new(self.link),
        }
    }

    /// Returns the chosen connection for a call that has waited for one.
    pub(crate) fn into_picked(self) -> PickedConnection {
        match self.probe {
            Some(after) => PickedConnection::probe(self.link, after),
            None => PickedConnection::new(self.link),
        }
    }
}

/// Returns whether a server with this cost receives ordinary calls rather than only probe calls.
#[inline]
fn is_ordinary(cost: u64) -> bool {
    cost.wrapping_sub(PROBE + 1) < EXCLUDED - PROBE - 1
}

/// Returns the cost of the last of several calls at a server, given the cost of one call there. If `cost` is below
/// [`EXCLUDED`], so is the result for any possible number of calls: a connection has at most 2^14 calls and 2^16
/// streams, and other clients have at most 2^16 calls.
#[inline]
fn of_calls(cost: u64, calls: u64) -> u64 {
    cost.saturating_mul(calls)
}

impl Candidate {
    /// Returns the cost of one more call at the server, considering only the calls of this client.
    #[inline]
    fn cost(&self) -> u64 {
        of_calls(self.estimate.cost(), self.link.strong_count() as u64)
    }

    /// Returns the cost of one more call at the server, including the load from other clients.
    fn whole_cost(&self) -> u64 {
        of_calls(self.estimate.cost(), self.link.strong_count() as u64 + self.estimate.others())
    }

    /// Returns the cost of one more ordinary call at the server, or [`EXCLUDED`] if the server receives no ordinary
    /// calls.
    fn usual_cost(&self) -> u64 {
        let cost = self.whole_cost();
        if is_ordinary(cost) { cost } else { EXCLUDED }
    }

    pub(crate) fn link(&self) -> Option<Arc<Link>> {
        self.link.upgrade().filter(|link| link.takes_calls())
    }
}

impl CandidateSet {
    /// Creates the set of candidates from the servers that have a connection.
    pub(crate) fn among(rows: &[Row], options: &FleetOptions) -> Self {
        let (mut near, mut far) = (Tier::default(), Tier::default());
        let mut near_weight = 0;
        for row in rows {
            let is_near = options.is_near(&row.endpoint);
            near_weight += if is_near { u64::from(row.weight()) } else { 0 };
            if let Some(link) = row.current() {
                let tier = if is_near { &mut near } else { &mut far };
                tier.servers.push(Candidate { link: Arc::downgrade(&link), estimate: row.estimate.clone() });
                tier.weights.push(row.weight());
            }
        }
        // Use the distant servers if no nearby one is connected.
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
        Self { near, far, dice: fastrand::u64(..), spill: 0, near_weight, has_ejected: false, deferred_probe: None }
    }

    /// Returns the connection for the next call. Suitable only while the load from other clients is unknown and all
    /// calls stay in the zone.
    ///
    /// Of two randomly drawn servers and the one chosen last, this is the server at which the call is expected to end
    /// first. Comparing several servers keeps the longest queue short without queries to servers, and prevents all
    /// callers from choosing the server that was idle a moment ago. Returns `None` if none of the three should receive
    /// calls, or if one is due for a probe.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Arc<Link>> {
        let dice = self.roll();
        let (at, best, cost) = self.near.draw(dice, Candidate::cost)?;
        if !is_ordinary(cost) {
            return self.defer_probe(at);
        }
        // The upgrade rarely fails, because a connection that accepts no new calls is reported to the clock before the
        // next choice.
        let link = best.link.upgrade()?;
        self.near.last = at;
        if dice.is_multiple_of(TIMED_IN) {
            link.time_next_call();
        }
        Some(link)
    }

    /// If a server is due for a probe because it is ejected or was never measured, makes the next suitable call its
    /// probe. Always returns `None`, so that the caller falls back to the slow choice.
    #[cold]
    #[inline(never)]
    fn defer_probe(&mut self, at: usize) -> Option<Arc<Link>> {
        self.deferred_probe = self.near.lots.get(at).filter(|server| server.estimate.cost() == PROBE).cloned();
        None
    }

    /// Returns the connection for a call, considering load reports and zones: the better of two random servers and the
    /// one with the load report that promises the lowest cost. The call may be a probe.
    pub(crate) fn choose_by_cost(&mut self, clock: &FleetClock) -> Option<ChosenServer> {
        if let Some(deferred_probe) =
            self.deferred_probe.take().filter(|deferred_probe| deferred_probe.estimate.cost() == PROBE)
        {
            return self.probe(clock, &deferred_probe);
        }
        let dice = self.roll();
        let has_reports = clock.has_reports();
        let is_near = (dice >> 24) % SPILL_PARTS >= self.spill;
        let tier = if is_near { &mut self.near } else { &mut self.far };
        let (at, drawn, mut cost) = match has_reports {
            true => tier.draw_two(dice, Candidate::whole_cost)?,
            false => tier.draw(dice, Candidate::whole_cost)?,
        };
        let goes_by_report = has_reports && is_near && cost != PROBE && !(dice >> 16).is_multiple_of(DRAWN_IN);
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
        if cost == PROBE {
            let best = best.clone();
            return self.probe(clock, &best);
        }
        let best = if cost < EXCLUDED {
            best
        } else {
            // All drawn servers may be ejected although others in their zone are available, so compare all of the zone.
            tier.lots.iter().min_by_key(|server| server.usual_cost()).filter(|server| server.usual_cost() < EXCLUDED)?
        };
        let link = best.link()?;
        if has_reports {
            clock.reports.spend(best.estimate.rank());
        }
        tier.last = last;
        if dice.is_multiple_of(TIMED_IN) {
            link.time_next_call();
        }
        Some(ChosenServer::usual(link))
    }

    /// Returns this server's connection for a probe call.
    fn probe(&mut self, clock: &FleetClock, server: &Candidate) -> Option<ChosenServer> {
        let link = server.link()?;
        // Time the call, so that a probe without a reply lengthens the ejection.
        link.time_next_call();
        server.estimate.begin_probe();
        let elsewhere = self.other_server(clock, &link).map_or(0, Candidate::usual_cost);
        let timeout = Duration::from_nanos(elsewhere.saturating_mul(PROBE_TIMES)).max(PROBE_LEAST);
        Some(ChosenServer { link, probe: Some(timeout) })
    }

    /// Returns a connection to another server, for a call that is already in progress on `link`.
    pub(crate) fn other_than(&mut self, clock: &FleetClock, link: &Arc<Link>) -> Option<Arc<Link>> {
        if let Some(server) = self.other_server(clock, link) {
            let link = server.link()?;
            clock.reports.spend(server.estimate.rank());
            return Some(link);
        }
        // Initially, no server has been measured. Choose another unmeasured server, so that this call is its first
        // measurement.
        let is_other = |server: &&Candidate| !std::ptr::eq(server.link.as_ptr(), Arc::as_ptr(link));
        let server = self.near.lots.iter().filter(is_other).find(|server| server.estimate.cost() == PROBE)?;
        server.estimate.begin_probe();
        server.link()
    }

    /// Returns the best of several random servers in the local zone, excluding the server of this connection. If only
    /// few servers exist, each draw may hit the excluded one. In that case, returns the first other server.
    fn other_server(&mut self, clock: &FleetClock, link: &Arc<Link>) -> Option<&Candidate> {
        let dice: [u64; DRAWN_FOR_HEDGE as usize] = std::array::from_fn(|_| self.roll());
        let drawn = dice.iter().filter_map(|dice| self.near.lots.get(self.near.lot(*dice)));
        let reported = self.near.by_report(clock).and_then(|(index, _)| self.near.servers.get(index));
        let is_other = |server: &&Candidate| !std::ptr::eq(server.link.as_ptr(), Arc::as_ptr(link));
        let best = drawn.chain(reported).filter(is_other).min_by_key(|server| server.usual_cost());
        let is_usual = |server: &&Candidate| server.usual_cost() < EXCLUDED;
        best.filter(is_usual).or_else(|| self.near.lots.iter().filter(is_other).find(is_usual))
    }

    /// Returns the next pseudorandom number, using Knuth's constants for 64 bits. Its upper bits are more random than
    /// its lower bits.
    #[inline]
    fn roll(&mut self) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.dice
    }

    /// Returns whether a share of the calls goes to other zones.
    pub(crate) fn spills(&self) -> bool {
        self.spill != 0
    }

    /// Recomputes the costs of all servers and the share of calls that goes to other zones.
    pub(crate) fn assess(&mut self, now: u64) {
        let all = || self.near.servers.iter().chain(&self.far.servers);
        let count = all().count();
        let ejected = all().filter(|server| server.estimate.is_doubted()).count();
        self.has_ejected = ejected > 0;
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
        // While all calls go to other zones, none would select a local server that is due for a probe, so schedule one.
        if self.spill == SPILL_PARTS {
            let mut near = self.near.weighed();
            let due = near.find(|(server, weight)| *weight > 0 && server.estimate.cost() == PROBE);
            self.deferred_probe = due.map(|(server, _)| server.clone());
        }
        self.near.stride();
        self.far.stride();
    }
}

/// Determines whether a fleet of `count` servers ignores ejections, because too many servers are ejected, and whether
/// it gives new servers fewer calls.
fn fleet_state(count: usize, ejected: usize, start_progress: usize) -> FleetState {
    FleetState {
        is_panic: ejected > (count * EJECTED_MAX_PERCENT / 100).max(1),
        // If most servers have just joined, skip their slow start, because no others could receive the calls.
        is_slow_start: start_progress * 2 <= count,
    }
}

/// Returns how many out of [`SPILL_PARTS`] calls go to other zones. `all` is the total weight of the servers in the
/// local zone, and `works` is the weight of the available ones.
fn spill(works: u64, all: u64) -> u64 {
    let part = works as f64 * 100.0 / NEAR_PERCENT / all.max(1) as f64;
    ((1.0 - part.min(1.0)) * SPILL_PARTS as f64).round() as u64
}

impl Tier {
    /// Returns an iterator over the servers with their weights.
    fn weighed(&self) -> impl Iterator<Item = (&Candidate, u32)> {
        self.servers.iter().zip(self.weights.iter().copied())
    }

    /// Builds the list of candidates. Each server occurs in it in proportion to its weight.
    fn prepare(&mut self) {
        let lots = lots(&self.weights);
        self.lots = lots.iter().filter_map(|index| self.servers.get(*index as usize).cloned()).collect();
        self.stride();
    }

    /// Changes the distance in the weighted list between the two servers that are compared. The new distance is random.
    fn stride(&mut self) {
        let others = self.lots.len().saturating_sub(1);
        self.stride = if others == 0 { 0 } else { 1 + below(others) };
    }

    /// Returns the index in the weighted list that a random number selects.
    #[inline]
    fn lot(&self, dice: u64) -> usize {
        // The value is below the length of the list, which is below 2^32.
        (((dice >> 32) * self.lots.len() as u64) >> 32) as usize
    }

    /// Returns the cheaper of two random candidates with its index and cost.
    #[inline]
    fn draw_two(&self, dice: u64, cost: impl Fn(&Candidate) -> u64) -> Option<(usize, &Candidate, u64)> {
        let one = self.lot(dice);
        let other = one + self.stride;
        let other = if other >= self.lots.len() { other - self.lots.len() } else { other };
        let (first, second) = (self.lots.get(one)?, self.lots.get(other)?);
        let costs = (cost(first), cost(second));
        Some(if costs.1 < costs.0 { (other, second, costs.1) } else { (one, first, costs.0) })
    }

    /// Returns the cheapest of two random candidates and the previously chosen one, with its index and cost.
    #[inline]
    fn draw(&self, dice: u64, cost: impl Fn(&Candidate) -> u64) -> Option<(usize, &Candidate, u64)> {
        let (at, best, least) = self.draw_two(dice, &cost)?;
        let last = self.lots.get(self.last)?;
        let cost = cost(last);
        Some(if cost < least { (self.last, last, cost) } else { (at, best, least) })
    }

    /// Returns the rank and the cost of the server with the load report that promises the lowest cost.
    #[inline(never)]
    fn by_report(&self, clock: &FleetClock) -> Option<(usize, u64)> {
        let cost = |index: u32| self.servers.get(index as usize).map_or(EXCLUDED, Candidate::usual_cost);
        let (index, cost) = clock.reports.best(clock.now(), cost)?;
        Some((index as usize, cost)).filter(|(_, cost)| is_ordinary(*cost))
    }
}

/// Returns the indexes of the servers, each repeated in proportion to its weight. If all weights are 0, each index
/// occurs once.
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
        // The list has at most `most` entries, plus one per server.
        let share = if sum <= most { share } else { (share * most / sum).max(share.min(1)) };
        lots.extend((0..share).map(|_| index));
    }
    lots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::estimate::COST_MAX;

    #[test]
    fn call_spill_grows_with_failed_zone_servers() {
        let parts = [(10, 10), (7, 10), (6, 10), (35, 100), (0, 10), (0, 0)].map(|(works, all)| spill(works, all));
        assert_eq!(parts, [0, 0, 37, 128, 256, 256]);
    }

    #[test]
    fn ejected_server_share_is_limited() {
        let most = |count| (0..=count).take_while(|ejected| !fleet_state(count, *ejected, 0).is_panic).last();
        assert_eq!([1, 2, 3, 6, 7, 10, 100].map(most), [1, 1, 1, 1, 2, 3, 30].map(Some));
    }

    #[test]
    fn slow_start_applies_unless_most_are_new() {
        let slow = |start_progress| fleet_state(10, 0, start_progress).is_slow_start;
        assert_eq!([1, 5, 6, 10].map(slow), [true, true, false, false]);
    }

    /// Regression test: 256 calls that took half a minute each excluded a server, and thus eventually all servers. The
    /// choice then ignored weights and zones.
    #[test]
    fn no_number_of_calls_excludes_server() {
        for calls in [1, 2, 256, 1 << 14, 1 << 17] {
            assert!(is_ordinary(of_calls(1 << 35, calls)) && is_ordinary(of_calls(COST_MAX, calls)), "{calls}");
            assert!(of_calls(EXCLUDED, calls) >= EXCLUDED && of_calls(PROBE, calls) == PROBE, "{calls}");
        }
    }

    #[test]
    fn lots_are_bounded_and_proportional_to_weights() {
        assert!(lots(&[]).is_empty());
        assert_eq!(lots(&[7, 7, 7]), [0, 1, 2]);
        assert_eq!(lots(&[0, 0]), [0, 1], "equal weights should give equal shares");
        assert_eq!(lots(&[100, 0, 200]), [0, 2, 2]);
        let uneven = lots(&[u32::MAX, 1, 1_000_003]);
        assert!(uneven.len() <= 3 * (LOTS_EACH as usize + 1), "{}", uneven.len());
        assert!((0..3).all(|index| uneven.contains(&index)), "each server should have a share: {uneven:?}");
    }
}
