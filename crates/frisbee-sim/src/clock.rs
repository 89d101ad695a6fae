//! The clocks of a node, which can be inaccurate. A clock has a *rate*: the number of clock seconds per second of world
//! time.

use crate::Process;
use std::time::{Duration, SystemTime};

/// Wall-clock time at which simulated worlds begin, in seconds since 1970.
const BEGINNING: u64 = 1_700_000_000;

/// Rate of an accurate clock, in millionths.
const MILLION: u64 = 1_000_000;

/// The clocks of a node: a wall clock, which may jump, and a monotonic clock, which does not.
///
/// [`Node::set_clock`](crate::Node::set_clock) sets the offset of the wall clock in milliseconds, and the drift of both
/// clocks in millionths. [`Fault::SetClock`](crate::Fault::SetClock) lets the wall clock jump.
/// [`Fault::Drift`](crate::Fault::Drift) replaces the drift for a time.
///
/// The timers of tokio use the time of the world. Deadlines of frpc use them too, so they expire on time even at a node
/// with wrong clocks.
#[derive(Clone, Debug)]
pub struct Clock {
    pub(crate) process: Process,
}

impl Clock {
    /// Returns the wall-clock time, which may jump.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let (one, other) = (world.node("one"), world.node("other"));
    ///     other.set_clock(1_500, 0);
    ///     let ahead = other.process().clock().now().duration_since(one.process().clock().now());
    ///     assert_eq!(ahead.expect("clock should be ahead of the other node's").as_millis(), 1_500);
    /// });
    /// ```
    pub fn now(&self) -> SystemTime {
        let skew = self.process.shared.lock().nodes[self.process.number].skew_millis;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(BEGINNING) + self.monotonic();
        let by = Duration::from_millis(skew.unsigned_abs());
        if skew < 0 { time.checked_sub(by).unwrap_or(SystemTime::UNIX_EPOCH) } else { time + by }
    }

    /// Returns the time since the beginning of the world, measured by a clock that never jumps but may be too fast or
    /// too slow.
    pub fn monotonic(&self) -> Duration {
        let shared = &self.process.shared;
        shared.lock().nodes[self.process.number].rate.time(shared.elapsed())
    }

    /// Sleeps for a duration of the monotonic clock. If the clock speeds up during the sleep, the sleep takes too long
    /// on this clock, because its world time is computed in advance. Never completes if the process has crashed, and
    /// waits while it is paused.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the wait.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// frisbee_sim::sim(7, |world| async move {
    ///     let clock = world.node("server").process().clock();
    ///     let start = clock.monotonic();
    ///     clock.sleep(Duration::from_secs(1)).await;
    ///     assert!(clock.monotonic() - start >= Duration::from_secs(1));
    /// });
    /// ```
    pub async fn sleep(&self, time: Duration) {
        let until = self.monotonic().saturating_add(time);
        loop {
            let left = until.saturating_sub(self.monotonic());
            // If the clock has slowed down during the sleep, time is left, and the loop sleeps again.
            if left.is_zero() {
                break;
            }
            let millionths = self.process.shared.lock().nodes[self.process.number].rate.millionths();
            tokio::time::sleep(scaled(left, MILLION, millionths, u128::div_ceil)).await;
        }
        // The timer runs regardless of the process. Check only now whether the process may continue, because it may
        // have been paused or have crashed during the sleep.
        self.process.running().await;
    }
}

/// Panics if a clock with this drift in millionths would stop or run backwards. [`Clock::sleep`] divides by its rate.
pub(crate) fn check_drift(millionths: i64) {
    let is_forward = millionths.unsigned_abs() < MILLION;
    assert!(is_forward, "clock should go forward, but its drift is {millionths} millionths");
}

/// Rate of a node's clocks, with the monotonic time at its last change. The rate is one plus the drift of the latest
/// active fault or, without one, plus the drift of the node.
#[derive(Default)]
pub(crate) struct Rate {
    /// Drift that was set for the node in millionths, positive if the clocks are too fast. Has no effect during a
    /// fault.
    drift: i64,
    /// Drifts caused by active faults in order of their start, with the world times of their ends.
    faults: Vec<(i64, Duration)>,
    /// World time and monotonic clock time at the last change of the rate. Later clock times are computed from this
    /// pair.
    since: (Duration, Duration),
}

impl Rate {
    /// Returns the current rate in millionths. It is not zero, because [`check_drift`] checks all drifts.
    fn millionths(&self) -> u64 {
        let drift = self.faults.last().map_or(self.drift, |(drift, _)| *drift);
        MILLION.saturating_add_signed(drift)
    }

    /// Returns the clock time that corresponds to a world time.
    fn time(&self, now: Duration) -> Duration {
        let (started, shown) = self.since;
        shown + scaled(now.saturating_sub(started), self.millionths(), MILLION, |nanos, of| nanos / of)
    }

    /// Sets the drift of the node from the world time `now` on. During a fault it takes effect at the end of the fault.
    pub(crate) fn set_drift(&mut self, now: Duration, drift: i64) {
        self.since = (now, self.time(now));
        self.drift = drift;
    }

    /// Starts a drift caused by a fault, which ends at the world time `until`. It suspends the drifts of earlier
    /// faults.
    pub(crate) fn start_drift(&mut self, now: Duration, drift: i64, until: Duration) {
        self.since = (now, self.time(now));
        self.faults.push((drift, until));
    }

    /// Removes the drifts of faults that have ended. The world calls this at the end of each fault.
    pub(crate) fn stop_drift(&mut self, now: Duration) {
        self.since = (now, self.time(now));
        self.faults.retain(|(_, until)| *until > now);
    }
}

/// Scales a duration by the ratio of two rates. The function `divide` determines the rounding.
fn scaled(time: Duration, by: u64, of: u64, divide: fn(u128, u128) -> u128) -> Duration {
    let nanos = divide(time.as_nanos() * u128::from(by), of.into());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
