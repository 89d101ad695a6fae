//! How well a server of a fleet works, as one client sees it: how long calls take there, and whether it is to get any.
//!
//! One call at a time is timed on each connection; see `timing`. The result is one number, the cost, which the choice
//! of a server reads. It includes the server's reports, if there are any.

#[cfg(test)]
mod tests;

use crate::fleet::clock::FleetClock;
use frpc::Code;
use frpc::picker::{MeasuredEnd, Report, ServerEvent, ServerObserver};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What counts as no time at all, in nanoseconds: below it servers differ by chance only, and the calls in flight say more.
pub(super) const LEAST: u64 = 1_000_000;

/// A measure that is not repeated loses half of its weight in 2^33 ns, some nine seconds, so that a server which was slow
/// is tried again.
const HALF_LIFE_BITS: u32 = 33;

/// While the first call to a server is under way, this is taken for its time, in nanoseconds: it gets no further calls if
/// there are others.
const UNMEASURED: u64 = 1_000_000_000;

/// A timed call that is cancelled at its deadline casts doubt on the server if it has taken at least so long, and
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

/// For how long a new or returning server gets fewer calls than others, in nanoseconds: its caches are cold.
const SLOW_START: f64 = 5e9;

/// The fraction of the time for calls at the beginning.
const SLOW_START_PART: f64 = 0.1;

/// How many times the usual a call costs in the rest of that time: others are preferred, unless they have long queues.
const CLOSED_TIMES: u64 = 16;

/// By what part of the rest a failure raises the failure_penalty.
const FAILURE_PENALTY_STEP: f64 = 0.25;

/// The cost of a server that is to get a measuring call.
pub(crate) const TRIAL: u64 = 0;

/// The highest cost of a server that is to get calls, an hour.
pub(crate) const COST_MAX: u64 = 1 << 42;

/// The cost of a server that is to get none: more than [`COST_MAX`] for as many calls as there can be.
pub(crate) const EXCLUDED: u64 = 1 << 63;

/// The rank of a server that is not chosen by its reports.
const NOWHERE: u32 = u32::MAX;

/// A server that has reported nothing for so long, in nanoseconds, is judged by the times of its calls again.
const REPORTED_FOR: u64 = 60_000_000_000;

/// The most calls of others that count: more than a server can have.
const OTHERS_MAX: u32 = 1 << 16;

/// By how much a server may claim to be faster than its calls have been: the peak is some times the usual.
const CLAIM_SHIFT: u32 = 3;

/// The state of all servers together.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FleetState {
    /// So many would be ejected that none is.
    pub(crate) is_panic: bool,
    /// Servers that come do so to others that are there.
    pub(crate) is_slow_start: bool,
}

/// How well one server works.
#[derive(Debug)]
pub(crate) struct ServerEstimate {
    clock: Arc<FleetClock>,
    /// The cost of a single call there, in nanoseconds for a server of the largest weight.
    cost: AtomicU64,
    /// The calls of others there, as far as the server reports them.
    others: AtomicU32,
    /// It is ejected.
    doubted: AtomicBool,
    /// At present it is to get as many calls as others.
    open: AtomicBool,
    /// Its rank among the servers that are chosen by their reports.
    rank: AtomicU32,
    state: Mutex<Observations>,
}

/// Observations. Times are those of the clock; 0 is never.
#[derive(Clone, Copy, Debug)]
struct Observations {
    /// The weight as a part of the largest one.
    share: f64,
    /// The peak of recent calls, in nanoseconds.
    peak: u64,
    measured_at: u64,
    reported: Option<ServerReport>,
    /// Since when the timed call is under way.
    waits_since: u64,
    /// When it joined or returned.
    arrived_at: u64,
    /// How many of the last calls have failed, as a part of 1, at `penalized_at`.
    failure_penalty: f64,
    penalized_at: u64,
    /// How often in a row it has been ejected.
    ejections: u32,
    /// When its trial is due.
    ejected_until: u64,
    /// It has had its measuring call, or trial.
    is_tried: bool,
    /// It joins others that are there.
    is_starting: bool,
}

/// A server's report, as far as it is believed.
#[derive(Clone, Copy, Debug)]
struct ServerReport {
    at: u64,
    /// How long a call takes if it is the only one, in nanoseconds.
    each: u64,
    /// The calls of others.
    others: u32,
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

impl Observations {
    /// The cost of a call that is the only one, while the server is not ejected, and how many calls of others it has. Other
    /// servers are preferred to one that is not open. `own` calls of this client are there, one at least.
    fn cost(&self, now: u64, is_open: bool, own: usize) -> (u64, u32) {
        let halves = |at: u64| now.saturating_sub(at) >> HALF_LIFE_BITS;
        let times = if is_open { 1 } else { CLOSED_TIMES };
        let cost = |time: u64| ((time.saturating_mul(times) as f64 / self.share) as u64).clamp(TRIAL + 1, COST_MAX);
        if let Some(reported) = self.reported.filter(|reported| now.saturating_sub(reported.at) <= REPORTED_FOR) {
            let others = reported.others >> halves(reported.at).min(31);
            // A call that is under way for long says that each takes long, however many there were.
            let age = if self.waits_since == 0 { 0 } else { now.saturating_sub(self.waits_since) };
            let each = reported.each.max(age / (own as u64 + u64::from(others)).max(1));
            return (cost(each), others);
        }
        let mut expected = self.peak >> halves(self.measured_at).min(63);
        if self.waits_since != 0 {
            expected = expected.max(now.saturating_sub(self.waits_since));
            if self.measured_at == 0 {
                expected = expected.max(UNMEASURED);
            }
        } else if self.measured_at == 0 && !self.is_tried {
            return (TRIAL, 0);
        }
        (cost(coarse(expected.max(LEAST))), 0)
    }

    /// The fraction of the time for calls of the server.
    fn opening(&self, now: u64) -> f64 {
        let come = if self.is_starting { self.start_progress(now) } else { 1.0 };
        let willing = 1.0 - self.failure_penalty_at(now);
        (SLOW_START_PART + (1.0 - SLOW_START_PART) * come) * willing * willing
    }

    /// The progress of its slow start, as a part of 1.
    fn start_progress(&self, now: u64) -> f64 {
        if self.arrived_at == 0 { 1.0 } else { (now.saturating_sub(self.arrived_at) as f64 / SLOW_START).min(1.0) }
    }

    /// The failure_penalty, which loses half in each half-life.
    fn failure_penalty_at(&self, now: u64) -> f64 {
        let halves = now.saturating_sub(self.penalized_at) as f64 / (1_u64 << HALF_LIFE_BITS) as f64;
        self.failure_penalty * (-halves).exp2()
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
        self.failure_penalty = self.failure_penalty_at(now);
        self.failure_penalty += (1.0 - self.failure_penalty) * FAILURE_PENALTY_STEP;
        self.penalized_at = now;
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

impl ServerEstimate {
    pub(crate) fn new(clock: &Arc<FleetClock>) -> Arc<Self> {
        let state = Observations {
            share: 1.0,
            peak: 0,
            measured_at: 0,
            reported: None,
            waits_since: 0,
            arrived_at: 0,
            failure_penalty: 0.0,
            penalized_at: 0,
            ejections: 0,
            ejected_until: 0,
            is_tried: false,
            is_starting: false,
        };
        let [doubted, open] = [false, true].map(AtomicBool::new);
        let (cost, [others, rank]) = (AtomicU64::new(EXCLUDED), [0, NOWHERE].map(AtomicU32::new));
        Arc::new(Self { clock: clock.clone(), cost, others, doubted, open, rank, state: Mutex::new(state) })
    }

    /// The cost of a single call there: [`TRIAL`], [`EXCLUDED`], or between.
    #[inline]
    pub(crate) fn cost(&self) -> u64 {
        self.cost.load(Ordering::Relaxed)
    }

    /// The calls of others there, as far as is known.
    #[inline]
    pub(crate) fn others(&self) -> u64 {
        self.others.load(Ordering::Relaxed).into()
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

    /// Whether the server joined or returned recently, so that its share is still growing.
    pub(crate) fn is_starting(&self, now: u64) -> bool {
        self.state.lock().start_progress(now) < 1.0
    }

    /// Computes the cost. `is_shown` says that the server is known to be alive. It has `own` calls of this client, or one.
    pub(crate) fn assess(&self, now: u64, is_shown: bool, own: usize, fleet_state: FleetState) {
        let mut state = self.state.lock();
        state.is_starting = fleet_state.is_slow_start && state.start_progress(now) < 1.0;
        let is_open = fastrand::f64() < state.opening(now);
        let cost = match is_shown {
            false => (EXCLUDED, 0),
            true if state.ejected_until == 0 || fleet_state.is_panic => state.cost(now, is_open, own),
            true if now >= state.ejected_until => (TRIAL, 0),
            true => (EXCLUDED, 0),
        };
        self.open.store(is_open, Ordering::Relaxed);
        self.set_cost(cost);
    }

    fn set_cost(&self, (cost, others): (u64, u32)) {
        self.cost.store(cost, Ordering::Relaxed);
        self.others.store(others, Ordering::Relaxed);
    }

    /// Records that a measuring call goes there: the next ones do not measure.
    #[cold]
    pub(crate) fn begin_trial(&self) {
        let mut state = self.state.lock();
        let now = self.clock.now();
        state.is_tried = true;
        let cost = if state.ejected_until == 0 {
            // Not for long: the call is timed when it is sent, unless it is a stream.
            Observations { waits_since: now, ..*state }.cost(now, self.is_open(), 1)
        } else {
            state.ejected_until = now.saturating_add(TRIAL_MAX);
            (EXCLUDED, 0)
        };
        self.set_cost(cost);
    }

    /// Notes a new connection to the server.
    fn connect(&self) {
        let mut state = self.state.lock();
        (state.arrived_at, state.reported) = (self.clock.now(), None);
        drop(state);
        self.clock.change();
    }

    /// Notes that a connection to it takes no new calls.
    fn disconnect(&self) {
        self.clock.change();
    }

    /// Notes that the server has shown that it is alive.
    fn show(&self) {
        self.clock.expire();
    }

    /// Notes that it has refused a call.
    #[cold]
    fn refuse(&self) {
        self.eject(REFUSAL);
    }

    /// Notes that a call was answered elsewhere before it has answered its trial.
    #[cold]
    fn overtaken(&self) {
        self.eject(SILENCE);
    }

    /// Notes that it has answered a call again.
    #[cold]
    fn recover(&self) {
        let mut state = self.state.lock();
        (state.ejections, state.ejected_until, state.is_tried) = (0, 0, false);
        state.arrived_at = self.clock.now();
        self.doubted.store(false, Ordering::Relaxed);
        drop(state);
        self.clock.expire();
    }

    fn eject(&self, terms: (u64, u32)) {
        let mut state = self.state.lock();
        state.eject(terms, self.clock.now());
        self.doubted.store(true, Ordering::Relaxed);
        drop(state);
        self.clock.expire();
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Sets the rank among the servers that are chosen by their reports; `None` if it is not.
    pub(crate) fn set_rank(&self, rank: Option<u32>) {
        self.rank.store(rank.unwrap_or(NOWHERE), Ordering::Relaxed);
    }

    /// The rank among the servers that are chosen by their reports.
    pub(crate) fn rank(&self) -> u32 {
        self.rank.load(Ordering::Relaxed)
    }

    /// Records the server's report. It is believed as far as its calls bear it out. `own` of the calls in progress are
    /// of this client.
    #[cold]
    fn report(&self, report: Report, own: usize) {
        let now = self.clock.now();
        let in_progress = report.in_progress.min(OTHERS_MAX);
        let mut state = self.state.lock();
        let nanos = u64::from(report.micros).saturating_mul(1_000).max(state.peak >> CLAIM_SHIFT);
        let each = (nanos / (u64::from(in_progress) + 1)).max(1);
        let others = in_progress.saturating_sub(u32::try_from(own).unwrap_or(u32::MAX));
        state.reported = Some(ServerReport { at: now, each, others });
        if state.ejected_until == 0 {
            self.set_cost(state.cost(now, self.is_open(), own.max(1)));
        }
        drop(state);
        let rank = self.rank();
        if rank != NOWHERE {
            self.clock.note_report(rank);
        }
    }

    /// Notes that a call is timed which began at `instant`.
    fn begin(&self, instant: Instant) {
        self.state.lock().waits_since = self.clock.advance(instant);
    }

    /// Notes that the timed call is none any more.
    fn forget(&self) {
        self.state.lock().waits_since = 0;
    }

    /// Notes how the timed call has ended.
    fn end(&self, took: Duration, end: MeasuredEnd, now: u64) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut state = self.state.lock();
        let usual = state.peak;
        // A call that its caller cancelled would have taken longer.
        let took = if end == MeasuredEnd::Answered { took } else { took.max(usual) };
        state.measure(took, now);
        if state.ejected_until == 0 {
            self.set_cost(state.cost(now, self.is_open(), 1));
        }
        drop(state);
        if end == MeasuredEnd::Late && took >= LATE_LEAST.max(usual.saturating_mul(LATE_TIMES))
            || self.is_late_again(end)
        {
            self.eject(SILENCE);
        }
    }

    /// Whether the call of a trial has had no answer.
    fn is_late_again(&self, end: MeasuredEnd) -> bool {
        end == MeasuredEnd::Late && self.is_doubted()
    }
}

impl ServerObserver for ServerEstimate {
    fn event(&self, event: ServerEvent) {
        match event {
            ServerEvent::Answered(Code::Unavailable | Code::ResourceExhausted) => self.refuse(),
            ServerEvent::Answered(_) if self.is_doubted() => self.recover(),
            ServerEvent::Alive => self.show(),
            ServerEvent::Connected => {
                self.connect();
                self.clock.connected.notify_waiters();
            }
            ServerEvent::Retired => self.disconnect(),
            ServerEvent::Reported { report, own } => self.report(report, own),
            ServerEvent::Timed(started) => self.begin(started),
            ServerEvent::Measured { took, end, at } => self.end(took, end, self.clock.advance(at)),
            ServerEvent::NotMeasured => self.forget(),
            ServerEvent::Overtaken => self.overtaken(),
            _ => {}
        }
    }
}
