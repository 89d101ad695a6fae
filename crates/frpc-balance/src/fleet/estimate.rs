//! The estimate of a server's performance from the view of one client: how long calls take there, and whether it should
//! receive any.
//!
//! One call at a time is timed per connection. The result is a single number, the cost, which the choice of a server
//! reads. It includes the server's load reports, if there are any.

#[cfg(test)]
mod tests;

use crate::fleet::clock::FleetClock;
use frpc::Code;
use frpc::picker::{MeasuredEnd, Report, ServerEvent, ServerObserver};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Latency in nanoseconds below which all latencies are treated as equal, because they differ only by chance. The
/// number of calls in progress is then more meaningful.
pub(super) const LEAST: u64 = 1_000_000;

/// Base-2 logarithm of the half-life in nanoseconds of a measured latency. The half-life is about nine seconds. Because
/// measurements decay, a server that was slow is eventually tried again.
const HALF_LIFE_BITS: u32 = 33;

/// Latency in nanoseconds that is assumed for a server while its first call is in progress. The server receives no
/// further calls until the first one ends, unless it is the only server.
const UNMEASURED: u64 = 1_000_000_000;

/// Minimum duration in nanoseconds of a call that exceeded its deadline, and its minimum multiple of the usual latency,
/// for the server to be ejected. If the deadline was shorter, the caller is more likely at fault.
const LATE_LEAST: u64 = 100_000_000;
const LATE_TIMES: u64 = 4;

/// Initial ejection time in nanoseconds of a server that rejects calls, and the maximum number of doublings. The time
/// doubles with each rejected probe call, up to 32 s.
const REFUSAL: (u64, u32) = (250_000_000, 7);

/// Like [`REFUSAL`], but for a server that does not reply. The time doubles up to 256 s, because each probe call
/// without a reply costs its caller the whole timeout.
const SILENCE: (u64, u32) = (2_000_000_000, 7);

/// Time in nanoseconds before a probe call without a reply is repeated by another one.
const PROBE_MAX: u64 = 5_000_000_000;

/// Duration in nanoseconds of a slow start. During this time, a new or returning server receives fewer calls than
/// others, because its caches are cold.
const SLOW_START: f64 = 5e9;

/// Fraction of the time that a server is open to ordinary calls at the beginning of its slow start.
const SLOW_START_PART: f64 = 0.1;

/// Factor for the cost of a call while the server is not open. Calls then prefer other servers, unless these have long
/// queues.
const CLOSED_TIMES: u64 = 16;

/// How much each failure raises a server's failure penalty, as a fraction of the distance to the maximum.
const FAILURE_PENALTY_STEP: f64 = 0.25;

/// Cost of a server that should receive a call in order to measure it.
pub(crate) const PROBE: u64 = 0;

/// Maximum cost in nanoseconds of a server that receives calls, about one hour.
pub(crate) const COST_MAX: u64 = 1 << 42;

/// Cost of a server that receives no calls. It exceeds the product of [`COST_MAX`] and any possible number of calls.
pub(crate) const EXCLUDED: u64 = 1 << 63;

/// Rank of a server that is not chosen by its load reports.
const NOWHERE: u32 = u32::MAX;

/// How long a load report is used, in nanoseconds. After it, a server is judged by its measured latencies again.
const REPORTED_FOR: u64 = 60_000_000_000;

/// Maximum number of other clients' calls that is believed from a load report. No server can have more.
const OTHERS_MAX: u32 = 1 << 16;

/// Number of bits by which the measured peak is shifted right to get the lowest latency that is accepted from a load
/// report. A reported latency may be lower than the peak, because the peak is several times the usual latency.
const CLAIM_SHIFT: u32 = 3;

/// Conditions of the whole fleet that affect the cost of each of its servers.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FleetState {
    /// Whether ejection is disabled because too many servers would be ejected.
    pub(crate) is_panic: bool,
    /// Whether new servers receive fewer calls at first, because there are other servers.
    pub(crate) is_slow_start: bool,
}

/// Estimates the cost of another call to a server from its latencies, failures and load reports.
#[derive(Debug)]
pub(crate) struct ServerEstimate {
    clock: Arc<FleetClock>,
    /// Cost of a single call, in nanoseconds for a server with the maximum weight.
    cost: AtomicU64,
    /// Number of calls of other clients, as reported by the server.
    others: AtomicU32,
    /// Whether the server is ejected, so that it receives only probe calls.
    doubted: AtomicBool,
    /// Whether the server currently receives its full share of calls.
    open: AtomicBool,
    /// Index of the server within its zone if it is chosen by its load reports, and [`NOWHERE`] otherwise.
    rank: AtomicU32,
    state: Mutex<Observations>,
}

/// Observations about a server. Times are measured by the fleet's clock, where 0 means never.
#[derive(Clone, Copy, Default, Debug)]
struct Observations {
    /// Weight of the server as a fraction of the maximum weight.
    share: f64,
    /// Peak latency of recent calls in nanoseconds.
    peak: u64,
    measured_at: u64,
    reported: Option<ServerReport>,
    /// Start time of the call that is being measured, if there is one.
    waits_since: u64,
    /// Time at which the server joined the fleet or returned after a failure.
    arrived_at: u64,
    /// Decaying fraction of recent calls that failed, as of the time `penalized_at`.
    failure_penalty: f64,
    penalized_at: u64,
    /// Number of consecutive ejections of the server.
    ejections: u32,
    /// Earliest time for a probe call to an ejected server.
    ejected_until: u64,
    /// Whether the server has been sent its first measured call or, if it is ejected, its probe call.
    is_tried: bool,
    /// Whether the server is in a slow start, because it has recently joined or returned.
    is_starting: bool,
}

/// A server's load report, limited to plausible values because the server may be faulty.
#[derive(Clone, Copy, Debug)]
struct ServerReport {
    at: u64,
    /// Latency in nanoseconds of a call that is alone on the server.
    each: u64,
    /// Number of other clients' calls on the server.
    others: u32,
}

/// Rounds a latency to the nearest power of two. Smaller differences are mostly random, and servers that perform alike
/// should receive equal shares of calls.
fn coarse(time: u64) -> u64 {
    let power = 1 << time.max(1).ilog2();
    if (time - power) as f64 > power as f64 * (std::f64::consts::SQRT_2 - 1.0) {
        power.saturating_mul(2)
    } else {
        power
    }
}

impl Observations {
    /// Returns the cost of a single call, which is raised if the server is not open, and the number of other clients'
    /// calls. Assumes that the server is not ejected. `own` is the number of this client's calls there, at least one.
    fn cost(&self, now: u64, is_open: bool, own: usize) -> (u64, u32) {
        let halves = |at: u64| now.saturating_sub(at) >> HALF_LIFE_BITS;
        let times = if is_open { 1 } else { CLOSED_TIMES };
        let cost = |time: u64| ((time.saturating_mul(times) as f64 / self.share) as u64).clamp(PROBE + 1, COST_MAX);
        if let Some(reported) = self.reported.filter(|reported| now.saturating_sub(reported.at) <= REPORTED_FOR) {
            let others = reported.others >> halves(reported.at).min(31);
            // A call that has been in progress for a long time shows that calls take long, regardless of their number.
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
            return (PROBE, 0);
        }
        (cost(coarse(expected.max(LEAST))), 0)
    }

    /// Returns the fraction of the time that the server is open to ordinary calls, given its slow start and failures.
    fn opening(&self, now: u64) -> f64 {
        let come = if self.is_starting { self.start_progress(now) } else { 1.0 };
        let willing = 1.0 - self.failure_penalty_at(now);
        (SLOW_START_PART + (1.0 - SLOW_START_PART) * come) * willing * willing
    }

    /// Returns the progress of the slow start, between 0 and 1.
    fn start_progress(&self, now: u64) -> f64 {
        if self.arrived_at == 0 { 1.0 } else { (now.saturating_sub(self.arrived_at) as f64 / SLOW_START).min(1.0) }
    }

    /// Returns the failure penalty at time `now`, which decays exponentially.
    fn failure_penalty_at(&self, now: u64) -> f64 {
        let halves = now.saturating_sub(self.penalized_at) as f64 / (1_u64 << HALF_LIFE_BITS) as f64;
        self.failure_penalty * (-halves).exp2()
    }

    /// Records the latency of a measured call. If it exceeds the peak, it becomes the new peak. A shorter latency
    /// lowers the peak by a weight that grows with the time since the last measurement.
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

    /// Records a failure and ejects the server for some time. The time starts with `first` and doubles with each
    /// ejection, at most `doublings` times. Failures of calls that were already in progress at the ejection do not
    /// count again.
    fn eject(&mut self, (first, doublings): (u64, u32), now: u64) {
        self.failure_penalty = self.failure_penalty_at(now);
        self.failure_penalty += (1.0 - self.failure_penalty) * FAILURE_PENALTY_STEP;
        self.penalized_at = now;
        if now < self.ejected_until && !self.is_tried {
            return;
        }
        // The ejection time is random, so that clients do not all try the server again at the same time.
        let pause = (first << self.ejections.min(doublings)) as f64 * (0.75 + 0.5 * fastrand::f64());
        self.ejections = self.ejections.saturating_add(1);
        self.ejected_until = now.saturating_add(pause as u64).max(1);
        self.is_tried = false;
    }
}

impl ServerEstimate {
    pub(crate) fn new(clock: &Arc<FleetClock>) -> Arc<Self> {
        let state = Observations { share: 1.0, ..Observations::default() };
        let [doubted, open] = [false, true].map(AtomicBool::new);
        let (cost, [others, rank]) = (AtomicU64::new(EXCLUDED), [0, NOWHERE].map(AtomicU32::new));
        Arc::new(Self { clock: clock.clone(), cost, others, doubted, open, rank, state: Mutex::new(state) })
    }

    /// Returns the cost of a single call, which is [`PROBE`], [`EXCLUDED`], or a value between them.
    #[inline]
    pub(crate) fn cost(&self) -> u64 {
        self.cost.load(Ordering::Relaxed)
    }

    /// Returns the number of other clients' calls on the server, as far as known.
    #[inline]
    pub(crate) fn others(&self) -> u64 {
        self.others.load(Ordering::Relaxed).into()
    }

    /// Returns whether the server is ejected. A server is ejected when it rejects a call or does not reply in time, and
    /// until it replies normally to a probe.
    #[inline]
    pub(crate) fn is_doubted(&self) -> bool {
        self.doubted.load(Ordering::Relaxed)
    }

    /// Returns the peak latency of recent calls, if the latency of any call has been measured.
    pub(crate) fn latency(&self) -> Option<Duration> {
        let state = self.state.lock();
        (state.measured_at != 0).then(|| Duration::from_nanos(state.peak))
    }

    /// Sets the server's weight as a fraction of the fleet's maximum weight. The fraction must be above 0.
    pub(crate) fn set_share(&self, share: f64) {
        self.state.lock().share = share;
    }

    /// Returns whether the server is in a slow start, because it joined or returned recently.
    pub(crate) fn is_starting(&self, now: u64) -> bool {
        self.state.lock().start_progress(now) < 1.0
    }

    /// Recomputes the cost of sending a call to the server. `is_shown` states whether the server is known to be alive.
    /// `own` is the number of calls that this client has in progress at the server, but at least one.
    pub(crate) fn assess(&self, now: u64, is_shown: bool, own: usize, fleet_state: FleetState) {
        let mut state = self.state.lock();
        state.is_starting = fleet_state.is_slow_start && state.start_progress(now) < 1.0;
        let is_open = fastrand::f64() < state.opening(now);
        let cost = match is_shown {
            false => (EXCLUDED, 0),
            true if state.ejected_until == 0 || fleet_state.is_panic => state.cost(now, is_open, own),
            true if now >= state.ejected_until => (PROBE, 0),
            true => (EXCLUDED, 0),
        };
        // Write under the lock, so that updates do not interleave. Choosing a server reads the values without acquiring
        // the lock.
        self.open.store(is_open, Ordering::Relaxed);
        self.set_cost(cost);
    }

    fn set_cost(&self, (cost, others): (u64, u32)) {
        self.cost.store(cost, Ordering::Relaxed);
        self.others.store(others, Ordering::Relaxed);
    }

    /// Records that a probe or the first measured call is sent to the server. Raises the cost, so that other calls use
    /// other servers until the result is known.
    #[cold]
    pub(crate) fn begin_probe(&self) {
        let mut state = self.state.lock();
        let now = self.clock.now();
        state.is_tried = true;
        let cost = if state.ejected_until == 0 {
            // The cost applies until the call has been sent and its latency is being measured. A stream keeps the cost
            // until the next recomputation, because its latency is never measured.
            Observations { waits_since: now, ..*state }.cost(now, self.is_open(), 1)
        } else {
            state.ejected_until = now.saturating_add(PROBE_MAX);
            (EXCLUDED, 0)
        };
        self.set_cost(cost);
    }

    /// Records that a connection to the server was established.
    fn connect(&self) {
        // Choosing a server rarely reads the time, so the cached time may be old.
        self.clock.refresh();
        let mut state = self.state.lock();
        (state.arrived_at, state.reported) = (self.clock.now(), None);
        // Release the lock first, because the recomputation of the costs takes it.
        drop(state);
        self.clock.change();
    }

    /// Records that the server has replied normally, which ends its ejection.
    #[cold]
    fn recover(&self) {
        let mut state = self.state.lock();
        (state.ejections, state.ejected_until, state.is_tried) = (0, 0, false);
        state.arrived_at = self.clock.now();
        self.doubted.store(false, Ordering::Relaxed);
        drop(state);
        self.clock.expire();
    }

    /// Sends the server no calls for a while, because it has rejected a call or not replied in time.
    #[cold]
    fn eject(&self, ejection: (u64, u32)) {
        // Choosing a server rarely reads the time, and an old one would end the ejection early.
        self.clock.refresh();
        let mut state = self.state.lock();
        state.eject(ejection, self.clock.now());
        self.doubted.store(true, Ordering::Relaxed);
        drop(state);
        self.clock.expire();
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Sets the server's index among the servers in the client's zone. `None` excludes the server from the choice by
    /// load reports.
    pub(crate) fn set_rank(&self, rank: Option<u32>) {
        self.rank.store(rank.unwrap_or(NOWHERE), Ordering::Relaxed);
    }

    /// Returns the server's index among the servers in the client's zone, or [`NOWHERE`] if load reports are not used
    /// to choose it.
    pub(crate) fn rank(&self) -> u32 {
        self.rank.load(Ordering::Relaxed)
    }

    /// Records a load report of the server, as far as measured latencies confirm it. `own` is the number of this
    /// client's calls included in the report.
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

    /// Records the start of a measured call.
    fn begin(&self, instant: Instant) {
        self.state.lock().waits_since = self.clock.advance(instant);
    }

    /// Discards the latency measurement in progress, because its call ended without a meaningful latency.
    fn forget(&self) {
        self.state.lock().waits_since = 0;
    }

    /// Records the end of the measured call.
    fn end(&self, took: Duration, end: MeasuredEnd, now: u64) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut state = self.state.lock();
        let usual = state.peak;
        // A call that was cancelled would have taken longer, so its duration is only a lower bound of the latency.
        let took = if end == MeasuredEnd::Answered { took } else { took.max(usual) };
        state.measure(took, now);
        if state.ejected_until == 0 {
            self.set_cost(state.cost(now, self.is_open(), 1));
        }
        // Release the lock, because `eject` acquires it.
        drop(state);
        let is_unusual = took >= LATE_LEAST.max(usual.saturating_mul(LATE_TIMES));
        // An ejected server receives only probe calls, so the call that ends here is a probe without a timely reply.
        if end == MeasuredEnd::Late && (is_unusual || self.is_doubted()) {
            self.eject(SILENCE);
        }
    }
}

impl ServerObserver for ServerEstimate {
    fn event(&self, event: ServerEvent) {
        match event {
            ServerEvent::Answered(Code::Unavailable | Code::ResourceExhausted) => self.eject(REFUSAL),
            ServerEvent::Answered(_) if self.is_doubted() => self.recover(),
            ServerEvent::Alive => self.clock.expire(),
            ServerEvent::Connected => {
                self.connect();
                // Record the connection before waking waiting calls, because they look for it immediately.
                self.clock.connected.notify_waiters();
            }
            ServerEvent::Retired => self.clock.change(),
            ServerEvent::Reported { report, own } => self.report(report, own),
            ServerEvent::Timed(started) => self.begin(started),
            ServerEvent::Measured { took, end, at } => self.end(took, end, self.clock.advance(at)),
            ServerEvent::NotMeasured => self.forget(),
            ServerEvent::Overtaken => self.eject(SILENCE),
            _ => {}
        }
    }
}
