//! How well a server of a fleet works, as one client sees it: how long calls take there, and whether it is to get any.
//!
//! One call at a time is timed on each connection, by times that its driver knows anyway, so that measuring costs next to
//! nothing however many calls there are. What is made of it is one number, the cost, which the choice of a server reads.

use super::{Calls, State, Ticket};
use crate::deadline;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What counts as no time at all, in nanoseconds: below it servers differ by chance only, and the calls in flight say more.
const LEAST: u64 = 1_000_000;

/// A measure that is not repeated loses half of its weight in 2^33 ns, some nine seconds, so that a server which was slow
/// is tried again.
const HALF_LIFE_BITS: u32 = 33;

/// While the first call to a server is under way, this is taken for its time, in nanoseconds: it gets no further calls if
/// there are others.
const UNMEASURED: u64 = 1_000_000_000;

/// A timed call that is given up at its deadline casts doubt on the server if it has taken at least so long, and
/// [`LATE_TIMES`] the usual time: a shorter deadline says more about the caller.
const LATE_LEAST: u64 = 100_000_000;
const LATE_TIMES: u64 = 4;

/// For how long a server that refuses calls gets none at first, in nanoseconds, which doubles each time that it refuses
/// its trial, up to 32 s.
const REFUSAL: (u64, u32) = (250_000_000, 7);

/// The same for a server that does not answer, up to 256 s: such a trial costs a call its whole timeout.
const SILENCE: (u64, u32) = (2_000_000_000, 7);

/// The trial of a server is repeated if it has brought no answer for so long, in nanoseconds.
const TRIAL_MAX: u64 = 5_000_000_000;

/// For how long a server that comes, or comes back, gets fewer calls than others, in nanoseconds: its caches are cold.
const SLOW_START: f64 = 5e9;

/// The part of the time in which it may have calls at the beginning.
const SLOW_START_PART: f64 = 0.1;

/// How many times the usual a call costs in the rest of that time: others are preferred, unless they have long queues.
const CLOSED_TIMES: u64 = 16;

/// By what part of the rest a failure raises the aversion.
const AVERSION_STEP: f64 = 0.25;

/// After a call that took less than [`LEAST`], none is timed in so many turns of its connection: the next ones would say no
/// more, and would cost as much as the choice.
const UNTIMED_TURNS: u32 = 32;

/// How often what depends on the time is computed anew, in nanoseconds, at most.
const REFRESH: u64 = 8_000_000;

/// The cost of a server that is to get a call by which it is measured.
pub(crate) const TRIAL: u64 = 0;

/// The highest cost of a server that is to get calls, an hour. Its product with a number of calls cannot overflow.
const COST_MAX: u64 = 1 << 42;

/// The cost of a server that is to get none.
pub(crate) const EXCLUDED: u64 = 1 << 43;

/// The time that the servers of a fleet share, in nanoseconds from its making: that of the last turn of any connection.
#[derive(Debug)]
pub(crate) struct FleetClock {
    made: Instant,
    now: AtomicU64,
    /// When costs are to be computed anew.
    due: AtomicU64,
    /// A connection has come or gone.
    changed: AtomicBool,
}

impl FleetClock {
    pub(crate) fn new() -> Arc<Self> {
        let [now, due] = [1, 0].map(AtomicU64::new);
        Arc::new(Self { made: deadline::now(), now, due, changed: AtomicBool::new(true) })
    }

    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Notes the time of a turn.
    #[inline]
    fn advance(&self, instant: Instant) -> u64 {
        let since = instant.saturating_duration_since(self.made);
        // Below 2^63 for centuries.
        let now = since.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(since.subsec_nanos())).max(1);
        if now > self.now() {
            self.now.store(now, Ordering::Relaxed);
        }
        now
    }

    /// Whether costs are to be computed anew.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.now.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed)
    }

    /// The time, for the one caller that computes the costs.
    pub(crate) fn take_due(&self) -> Option<u64> {
        let (now, due) = (self.now(), self.due.load(Ordering::Relaxed));
        let taken = self.due.compare_exchange(due, now.saturating_add(REFRESH), Ordering::AcqRel, Ordering::Relaxed);
        (now >= due && taken.is_ok()).then_some(now)
    }

    /// Has costs be computed anew before the next call is placed.
    fn hurry(&self) {
        self.due.store(0, Ordering::Release);
    }

    /// Notes that a connection has come or gone.
    fn change(&self) {
        self.changed.store(true, Ordering::Release);
        self.hurry();
    }

    /// Whether a connection has come or gone since.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }
}

/// What is to be made of all servers together.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Outlook {
    /// So many would be ejected that none is.
    pub(crate) is_panic: bool,
    /// Servers that come do so to others that are there.
    pub(crate) is_slow_start: bool,
}

/// How well one server works.
#[derive(Debug)]
pub(crate) struct Pulse {
    clock: Arc<FleetClock>,
    /// What a call costs there if it is the only one, in nanoseconds for a server of the largest weight.
    cost: AtomicU64,
    /// It is ejected.
    doubted: AtomicBool,
    state: Mutex<Observed>,
}

/// What has been observed. Times are those of the clock; 0 is never.
#[derive(Clone, Copy, Debug)]
struct Observed {
    /// The weight as a part of the largest one.
    share: f64,
    /// The peak of recent calls, in nanoseconds.
    peak: u64,
    measured_at: u64,
    /// Since when the timed call is under way.
    waits_since: u64,
    /// When it came, or came back.
    came_at: u64,
    /// How many of the last calls have failed, as a part of 1, at `averse_at`.
    aversion: f64,
    averse_at: u64,
    /// How often in a row it has been ejected.
    ejections: u32,
    /// When its trial is due.
    ejected_until: u64,
    /// It has had the call by which it is to be measured, or tried again.
    is_tried: bool,
    /// It comes to others that are there.
    is_coming: bool,
}

/// A time to the nearest power of two: smaller differences are mostly chance, and servers that are alike are to have equal
/// shares.
fn coarse(time: u64) -> u64 {
    let power = 1 << time.max(1).ilog2();
    if (time - power) as f64 > power as f64 * (std::f64::consts::SQRT_2 - 1.0) {
        power.saturating_mul(2)
    } else {
        power
    }
}

impl Observed {
    /// The cost of a call that is the only one, while the server is not ejected.
    fn cost(&self, now: u64) -> u64 {
        let halves = |at: u64| now.saturating_sub(at) >> HALF_LIFE_BITS;
        let mut expected = self.peak >> halves(self.measured_at).min(63);
        if self.waits_since != 0 {
            expected = expected.max(now.saturating_sub(self.waits_since));
            if self.measured_at == 0 {
                expected = expected.max(UNMEASURED);
            }
        } else if self.measured_at == 0 && !self.is_tried {
            return TRIAL;
        }
        let closed = if fastrand::f64() < self.opening(now) { 1 } else { CLOSED_TIMES };
        let cost = coarse(expected.max(LEAST)).saturating_mul(closed) as f64 / self.share;
        (cost as u64).clamp(TRIAL + 1, COST_MAX)
    }

    /// The part of the time in which the server may have calls.
    fn opening(&self, now: u64) -> f64 {
        let come = if self.is_coming { self.coming(now) } else { 1.0 };
        let willing = 1.0 - self.aversion_at(now);
        (SLOW_START_PART + (1.0 - SLOW_START_PART) * come) * willing * willing
    }

    /// How far the server has come, as a part of 1.
    fn coming(&self, now: u64) -> f64 {
        if self.came_at == 0 { 1.0 } else { (now.saturating_sub(self.came_at) as f64 / SLOW_START).min(1.0) }
    }

    /// The aversion, which loses half in each half-life.
    fn aversion_at(&self, now: u64) -> f64 {
        let halves = now.saturating_sub(self.averse_at) as f64 / (1_u64 << HALF_LIFE_BITS) as f64;
        self.aversion * (-halves).exp2()
    }

    /// Notes that the timed call took so long: a longer one counts at once, and a shorter one the more the longer ago the
    /// last one was.
    fn measure(&mut self, took: u64, now: u64) {
        self.waits_since = 0;
        self.peak = if took >= self.peak || self.measured_at == 0 {
            took
        } else {
            let (half_life, since) = ((1_u64 << HALF_LIFE_BITS) as f64, now.saturating_sub(self.measured_at) as f64);
            took.saturating_add(((self.peak - took) as f64 * half_life / (half_life + since)) as u64)
        };
        self.measured_at = now;
    }

    /// Notes a failure, after which the server gets no calls for a while: this long at first, and twice as long each time
    /// up to so many times. Calls that were under way when it was ejected count once.
    fn eject(&mut self, (first, doublings): (u64, u32), now: u64) {
        self.aversion = self.aversion_at(now);
        self.aversion += (1.0 - self.aversion) * AVERSION_STEP;
        self.averse_at = now;
        if now < self.ejected_until && !self.is_tried {
            return;
        }
        // Not all clients try it again in the same moment.
        let pause = (first << self.ejections.min(doublings)) as f64 * (0.75 + 0.5 * fastrand::f64());
        self.ejections = self.ejections.saturating_add(1);
        self.ejected_until = now.saturating_add(pause as u64).max(1);
        self.is_tried = false;
    }
}

impl Pulse {
    pub(crate) fn new(clock: &Arc<FleetClock>) -> Arc<Self> {
        let state = Observed {
            share: 1.0,
            peak: 0,
            measured_at: 0,
            waits_since: 0,
            came_at: 0,
            aversion: 0.0,
            averse_at: 0,
            ejections: 0,
            ejected_until: 0,
            is_tried: false,
            is_coming: false,
        };
        let (cost, doubted) = (AtomicU64::new(EXCLUDED), AtomicBool::new(false));
        Arc::new(Self { clock: clock.clone(), cost, doubted, state: Mutex::new(state) })
    }

    /// What a call costs there if it is the only one: [`TRIAL`], [`EXCLUDED`], or between.
    #[inline]
    pub(crate) fn cost(&self) -> u64 {
        self.cost.load(Ordering::Relaxed)
    }

    /// Whether the server is ejected: it has refused calls or answered nothing, and not answered otherwise since.
    #[inline]
    pub(crate) fn is_doubted(&self) -> bool {
        self.doubted.load(Ordering::Relaxed)
    }

    /// The peak of recent calls, if any has been timed.
    pub(crate) fn latency(&self) -> Option<Duration> {
        let state = self.state.lock();
        (state.measured_at != 0).then(|| Duration::from_nanos(state.peak))
    }

    /// Sets the weight as a part of the largest one, above 0.
    pub(crate) fn set_share(&self, share: f64) {
        self.state.lock().share = share;
    }

    /// Whether the server has come, or come back, a short while ago.
    pub(crate) fn is_coming(&self, now: u64) -> bool {
        self.state.lock().coming(now) < 1.0
    }

    /// Computes the cost. `is_shown` says that the server is known to be alive.
    pub(crate) fn assess(&self, now: u64, is_shown: bool, outlook: Outlook) {
        let mut state = self.state.lock();
        state.is_coming = outlook.is_slow_start && state.coming(now) < 1.0;
        let cost = match is_shown {
            false => EXCLUDED,
            true if state.ejected_until == 0 || outlook.is_panic => state.cost(now),
            true if now >= state.ejected_until => TRIAL,
            true => EXCLUDED,
        };
        self.cost.store(cost, Ordering::Relaxed);
    }

    /// Notes that a call goes there by which the server is measured: the next ones do not.
    #[cold]
    pub(crate) fn begin_trial(&self) {
        let mut state = self.state.lock();
        let now = self.clock.now();
        state.is_tried = true;
        let cost = if state.ejected_until == 0 {
            // Not for long: the call is timed when it is sent, unless it is a stream.
            Observed { waits_since: now, ..*state }.cost(now)
        } else {
            state.ejected_until = now.saturating_add(TRIAL_MAX);
            EXCLUDED
        };
        self.cost.store(cost, Ordering::Relaxed);
    }

    /// Notes a new connection to the server.
    pub(crate) fn connect(&self) {
        self.state.lock().came_at = self.clock.now();
        self.clock.change();
    }

    /// Notes that a connection to it takes no new calls.
    pub(crate) fn disconnect(&self) {
        self.clock.change();
    }

    /// Notes that the server has shown that it is alive.
    pub(crate) fn show(&self) {
        self.clock.hurry();
    }

    /// Notes that it has refused a call.
    #[cold]
    pub(crate) fn refuse(&self) {
        self.eject(REFUSAL);
    }

    /// Notes that it has answered a call again.
    #[cold]
    pub(crate) fn recover(&self) {
        let mut state = self.state.lock();
        (state.ejections, state.ejected_until, state.is_tried) = (0, 0, false);
        state.came_at = self.clock.now();
        self.doubted.store(false, Ordering::Relaxed);
        drop(state);
        self.clock.hurry();
    }

    fn eject(&self, terms: (u64, u32)) {
        let mut state = self.state.lock();
        state.eject(terms, self.clock.now());
        self.doubted.store(true, Ordering::Relaxed);
        drop(state);
        self.clock.hurry();
    }

    /// Notes that a call is timed which began at `instant`.
    fn begin(&self, instant: Instant) {
        self.state.lock().waits_since = self.clock.advance(instant);
    }

    /// Notes how the timed call has ended.
    fn end(&self, took: Duration, end: TimedEnd, now: u64) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut state = self.state.lock();
        let usual = state.peak;
        // A call that its caller gave up would have taken longer.
        let took = if end == TimedEnd::Answered { took } else { took.max(usual) };
        state.measure(took, now);
        if state.ejected_until == 0 {
            self.cost.store(state.cost(now), Ordering::Relaxed);
        }
        drop(state);
        if end == TimedEnd::Late && took >= LATE_LEAST.max(usual.saturating_mul(LATE_TIMES)) || self.is_late_again(end)
        {
            self.eject(SILENCE);
        }
    }

    /// Whether the call of a trial has had no answer.
    fn is_late_again(&self, end: TimedEnd) -> bool {
        end == TimedEnd::Late && self.is_doubted()
    }
}

/// How a timed call has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TimedEnd {
    Answered,
    /// Its deadline has passed.
    Late,
    GivenUp,
}

/// The timing of calls of one connection.
#[derive(Debug)]
pub(super) struct Timing {
    pulse: Arc<Pulse>,
    timed: Option<(Ticket, Instant)>,
}

impl Calls {
    /// Has calls timed.
    pub(super) fn set_pulse(&mut self, pulse: Option<&Arc<Pulse>>) {
        self.times_next = pulse.is_some();
        self.timing = pulse.map(|pulse| Box::new(Timing { pulse: pulse.clone(), timed: None }));
    }

    /// Times a call, which begins at this instant or else now, and no other before it has ended.
    #[inline(never)]
    pub(crate) fn time(&mut self, ticket: Ticket, begun: Option<Instant>) {
        let begun = begun.unwrap_or_else(|| self.now(deadline::now));
        self.times_next = false;
        if let Some(timing) = &mut self.timing {
            timing.pulse.begin(begun);
            timing.timed = Some((ticket, begun));
        }
    }

    /// Ends the timing of the call if that has ended in this turn.
    #[inline(never)]
    pub(super) fn end_timing(&mut self, now: Instant) {
        let Some(timing) = &mut self.timing else { return };
        let at = timing.pulse.clock.advance(now);
        let Some((ticket, begun)) = timing.timed else { return };
        let entry = self.slots.get(usize::from(ticket.slot)).filter(|entry| entry.id == ticket.id);
        let end = match entry.map(|entry| entry.state) {
            Some(State::Waiting) => return,
            Some(State::Expired(_)) => TimedEnd::Late,
            Some(State::GivenUp) => TimedEnd::GivenUp,
            Some(State::Replied | State::Free) | None => TimedEnd::Answered,
        };
        let took = now.saturating_duration_since(begun);
        timing.pulse.end(took, end, at);
        timing.timed = None;
        self.untimed_turns = if took.as_nanos() < u128::from(LEAST) { UNTIMED_TURNS } else { 0 };
        self.times_next = self.untimed_turns == 0;
    }

    /// Forgets the call that is timed: the connection has ended.
    pub(super) fn forget_timing(&mut self) {
        if let Some(timing) = self.timing.take() {
            timing.pulse.state.lock().waits_since = 0;
            self.times_next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_LIFE: u64 = 1 << HALF_LIFE_BITS;

    /// A server, and the means to set the time in milliseconds.
    fn server() -> (Arc<Pulse>, impl Fn(u64) -> u64) {
        let clock = FleetClock::new();
        let pulse = Pulse::new(&clock);
        (pulse, move |millis| clock.advance(clock.made + Duration::from_millis(millis)))
    }

    fn cost(pulse: &Pulse, now: u64) -> u64 {
        pulse.assess(now, true, Outlook::default());
        pulse.cost()
    }

    #[test]
    fn a_longer_time_counts_at_once_and_a_shorter_one_by_and_by() {
        let (pulse, at) = server();
        assert_eq!((cost(&pulse, at(1)), pulse.latency()), (TRIAL, None));
        let end = |millis: u64, now: u64| pulse.end(Duration::from_millis(millis), TimedEnd::Answered, now);
        end(20, at(20));
        end(80, at(100));
        assert_eq!(cost(&pulse, at(100)), 1 << 26, "80 ms, to a power of two");
        end(20, at(200));
        let latency = || pulse.latency().expect("it is measured").as_millis();
        assert!((70..80).contains(&latency()), "{}", latency());
        end(20, at(90_000));
        assert!((20..27).contains(&latency()), "{}", latency());
    }

    #[test]
    fn a_call_that_waits_counts_by_its_age_and_an_old_measure_less_and_less() {
        let (pulse, at) = server();
        let made = pulse.clock.made;
        pulse.begin(made);
        assert_eq!(cost(&pulse, at(2)), 1 << 30, "its first call is under way");
        pulse.end(Duration::from_millis(8), TimedEnd::Answered, at(8));
        pulse.begin(made + Duration::from_millis(8));
        assert_eq!(cost(&pulse, at(500)), 1 << 29);
        pulse.end(Duration::from_millis(512), TimedEnd::Answered, at(520));
        assert_eq!(cost(&pulse, at(520 + 2 * HALF_LIFE / 1_000_000 + 1)), 1 << 27);
    }

    #[test]
    fn a_server_that_refuses_gets_a_trial_at_growing_intervals_until_it_has_answered() {
        let (pulse, at) = server();
        pulse.end(Duration::from_millis(8), TimedEnd::Answered, at(8));
        let (mut now, mut last) = (8, 0);
        for doubling in 0..12 {
            pulse.refuse();
            pulse.refuse();
            assert!(pulse.is_doubted() && cost(&pulse, at(now)) == EXCLUDED);
            let wait = (0..).find(|wait| cost(&pulse, at(now + wait)) == TRIAL).expect("it is tried some time");
            assert!(wait <= 40_001 && (doubling > 5 || wait > last), "{wait} ms after {last} ms");
            (now, last) = (now + wait, wait);
            pulse.begin_trial();
            assert_eq!(cost(&pulse, at(now)), EXCLUDED, "one call is enough");
        }
        (0..8).for_each(|_| pulse.refuse());
        pulse.recover();
        assert!(!pulse.is_doubted() && cost(&pulse, at(now)) < EXCLUDED);
        let open = |millis: u64| (0..1_000).filter(|_| cost(&pulse, at(millis)) < 1 << 24).count();
        let [soon, later] = [now, now + 120_000].map(open);
        assert!(soon < 300 && later > 950, "its failures count for a while: {soon}, then {later}");
    }

    #[test]
    fn a_deadline_that_passes_casts_doubt_only_if_it_was_long() {
        let (pulse, at) = server();
        pulse.end(Duration::from_millis(30), TimedEnd::Answered, at(30));
        pulse.end(Duration::from_millis(90), TimedEnd::Late, at(120));
        assert!(!pulse.is_doubted(), "the deadline was short");
        pulse.end(Duration::from_millis(300), TimedEnd::GivenUp, at(500));
        assert!(!pulse.is_doubted(), "the caller had another reason");
        pulse.end(Duration::from_millis(2_000), TimedEnd::Late, at(2_500));
        assert!(pulse.is_doubted() && cost(&pulse, at(2_500)) == EXCLUDED);
        pulse.assess(at(2_500), true, Outlook { is_panic: true, ..Outlook::default() });
        assert!(pulse.cost() < EXCLUDED, "too many are ejected, so nobody is");
    }

    #[test]
    fn a_server_that_comes_to_others_has_calls_in_a_growing_part_of_the_time() {
        let (pulse, at) = server();
        pulse.end(Duration::from_millis(10), TimedEnd::Answered, at(10));
        pulse.connect();
        let outlook = Outlook { is_slow_start: true, ..Outlook::default() };
        let open = |millis: u64| {
            let now = at(millis);
            (0..1_000).filter(|_| (pulse.assess(now, true, outlook), pulse.cost() == 1 << 23).1).count()
        };
        let parts = [10, 2_500, 5_100].map(open);
        assert!((50..200).contains(&parts[0]) && (400..700).contains(&parts[1]) && parts[2] == 1_000, "{parts:?}");
    }

    #[test]
    fn times_are_rounded_to_the_nearest_power_of_two() {
        assert_eq!([1, 2, 90, 91, 128, 181, 182, 255].map(coarse), [1, 2, 64, 128, 128, 128, 256, 256]);
    }

    #[test]
    fn a_smaller_weight_costs_more() {
        let (pulse, at) = server();
        pulse.end(Duration::from_millis(10), TimedEnd::Answered, at(10));
        pulse.set_share(0.25);
        assert_eq!(cost(&pulse, at(10)), 4 << 23);
    }
}
