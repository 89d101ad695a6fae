//! The clocks of a node, which can be inaccurate.

use crate::Process;
use std::time::{Duration, SystemTime};

/// Wall-clock time at which simulated worlds begin, in seconds since 1970.
const BEGINNING: u64 = 1_700_000_000;

/// Rate of an accurate clock, in millionths.
const MILLION: u64 = 1_000_000;

/// The clocks of a node. [`Node::set_clock`](crate::Node::set_clock) sets their rate and the wall-clock time.
/// [`Fault::SetClock`](crate::Fault::SetClock) sets the latter.
///
/// The timers of tokio, and therefore the deadlines of frpc, use the time of the world.
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
        let skew = self.process.shared().lock().nodes[self.process.number()].skew_millis;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(BEGINNING) + self.monotonic();
        let by = Duration::from_millis(skew.unsigned_abs());
        if skew < 0 { time.checked_sub(by).unwrap_or(SystemTime::UNIX_EPOCH) } else { time + by }
    }

    /// Returns the time since the beginning of the world, measured by a clock that never jumps but may be too fast or
    /// too slow.
    pub fn monotonic(&self) -> Duration {
        let shared = self.process.shared();
        shared.lock().nodes[self.process.number()].rate.time(shared.elapsed())
    }

    /// Sleeps for a duration of the monotonic clock, slightly longer if the clock speeds up during the sleep. Never
    /// completes if the process has crashed.
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
        let until = self.monotonic() + time;
        loop {
            let left = until.saturating_sub(self.monotonic());
            if left.is_zero() {
                break;
            }
            let millionths = self.process.shared().lock().nodes[self.process.number()].rate.millionths();
            tokio::time::sleep(scaled(left, MILLION, millionths, u128::div_ceil)).await;
        }
        self.process.running().await;
    }
}

/// Rate of a node's clocks, with the monotonic time at its last change.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rate {
    /// Drift of the clocks in millionths, positive if they are too fast.
    drift: i64,
    /// Drift caused by an injected fault, with the world time at which it ends.
    fault: Option<(i64, Duration)>,
    /// World time and clock time at the last change of the rate.
    since: (Duration, Duration),
}

impl Rate {
    fn millionths(&self) -> u64 {
        let drift = self.fault.map_or(self.drift, |(drift, _)| drift);
        MILLION.saturating_add_signed(drift)
    }

    /// Returns the clock time that corresponds to a world time.
    fn time(&self, now: Duration) -> Duration {
        let (started, shown) = self.since;
        shown + scaled(now.saturating_sub(started), self.millionths(), MILLION, |nanos, of| nanos / of)
    }

    pub(crate) fn set_drift(&mut self, now: Duration, drift: i64) {
        self.since = (now, self.time(now));
        self.drift = drift;
    }

    /// Starts a drift caused by a fault, which ends at the world time `until`.
    pub(crate) fn start_drift(&mut self, now: Duration, drift: i64, until: Duration) {
        self.since = (now, self.time(now));
        let last = self.fault.map_or(until, |(_, last)| last.max(until));
        self.fault = Some((drift, last));
    }

    /// Stops the drift caused by a fault, unless another such fault continues.
    pub(crate) fn stop_drift(&mut self, now: Duration) {
        if self.fault.is_some_and(|(_, until)| until <= now) {
            self.since = (now, self.time(now));
            self.fault = None;
        }
    }
}

/// Scales a duration by the ratio of two rates. The function `divide` determines the rounding.
fn scaled(time: Duration, by: u64, of: u64, divide: fn(u128, u128) -> u128) -> Duration {
    let nanos = divide(time.as_nanos() * u128::from(by), of.into());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
