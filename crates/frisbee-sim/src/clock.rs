//! The clocks of a node, which go wrong.

use crate::Process;
use std::time::{Duration, SystemTime};

/// The wall time at which worlds begin, in seconds since 1970.
const BEGINNING: u64 = 1_700_000_000;

/// The millionths of a rate that is right.
const MILLION: u64 = 1_000_000;

/// The clocks of a node. Their rate and the time that the wall clock shows are set by
/// [`Node::set_clock`](crate::Node::set_clock); a [`Fault::SetClock`](crate::Fault::SetClock) sets the latter.
///
/// The timers of tokio, and with them the deadlines of frpc, go by the time of the world.
#[derive(Clone, Debug)]
pub struct Clock {
    pub(crate) process: Process,
}

impl Clock {
    /// The wall clock. It may jump.
    ///
    /// ```
    /// frisbee_sim::sim(7, |world| async move {
    ///     let (one, other) = (world.node("one"), world.node("other"));
    ///     other.set_clock(1_500, 0);
    ///     let ahead = other.process().clock().now().duration_since(one.process().clock().now());
    ///     assert_eq!(ahead.expect("it is ahead").as_millis(), 1_500);
    /// });
    /// ```
    pub fn now(&self) -> SystemTime {
        let skew = self.process.shared().lock().nodes[self.process.number()].skew_millis;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(BEGINNING) + self.monotonic();
        let by = Duration::from_millis(skew.unsigned_abs());
        if skew < 0 { time.checked_sub(by).unwrap_or(SystemTime::UNIX_EPOCH) } else { time + by }
    }

    /// The time since the beginning of the world by a clock that never jumps. It goes too fast or too slow.
    pub fn monotonic(&self) -> Duration {
        let shared = self.process.shared();
        shared.lock().nodes[self.process.number()].rate.time(shared.elapsed())
    }

    /// Waits until so much time has passed by the monotonic clock, a little longer if the clock speeds up until then. A
    /// process that has crashed waits forever.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait.
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

/// How fast the clocks of a node go, and what its monotonic clock has shown when that was last changed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rate {
    /// By how many millionths the clocks go too fast.
    drift: i64,
    /// The same while a fault has them go wrong, and until when by the time of the world.
    fault: Option<(i64, Duration)>,
    /// The time of the world at the last change, and that of the clock.
    since: (Duration, Duration),
}

impl Rate {
    fn millionths(&self) -> u64 {
        let drift = self.fault.map_or(self.drift, |(drift, _)| drift);
        MILLION.saturating_add_signed(drift)
    }

    /// The time of the clock at a time of the world.
    fn time(&self, now: Duration) -> Duration {
        let (started, shown) = self.since;
        shown + scaled(now.saturating_sub(started), self.millionths(), MILLION, |nanos, of| nanos / of)
    }

    pub(crate) fn set_drift(&mut self, now: Duration, drift: i64) {
        self.since = (now, self.time(now));
        self.drift = drift;
    }

    /// A fault has the clocks go wrong until then.
    pub(crate) fn start_drift(&mut self, now: Duration, drift: i64, until: Duration) {
        self.since = (now, self.time(now));
        let last = self.fault.map_or(until, |(_, last)| last.max(until));
        self.fault = Some((drift, last));
    }

    /// A fault has passed; another one may last.
    pub(crate) fn stop_drift(&mut self, now: Duration) {
        if self.fault.is_some_and(|(_, until)| until <= now) {
            self.since = (now, self.time(now));
            self.fault = None;
        }
    }
}

/// A time in the proportion of two rates, rounded by the division.
fn scaled(time: Duration, by: u64, of: u64, divide: fn(u128, u128) -> u128) -> Duration {
    let nanos = divide(time.as_nanos() * u128::from(by), of.into());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
