//! Start times of the calls in an open loop: a constant rate after an optional ramp.

use std::time::Duration;

/// Schedule of an open loop, which determines when calls start. Calls are numbered from 0, and times are relative to
/// the start of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// Rate at the start of the ramp, in calls per second.
    pub(crate) from: f64,
    /// Rate after the ramp, in calls per second.
    pub(crate) to: f64,
    /// Duration of the ramp, while the rate changes from `from` to `to`. Zero for a constant rate.
    pub(crate) ramp: Duration,
    /// How long calls are started.
    pub(crate) duration: Duration,
}

impl Schedule {
    /// Creates a schedule with a constant rate.
    pub(crate) fn constant(rate: f64, duration: Duration) -> Self {
        Self { from: rate, to: rate, ramp: Duration::ZERO, duration }
    }

    /// Returns the number of calls that are due when the time `after` has passed.
    pub(crate) fn due(&self, after: Duration) -> u64 {
        let after = after.min(self.duration).as_secs_f64();
        // Call 0 starts immediately.
        (self.started(after).floor() as u64).saturating_add(1).min(self.count())
    }

    /// Returns the number of calls in the whole schedule, at least one.
    pub(crate) fn count(&self) -> u64 {
        /// Bound of the rounding errors of `started`, so that they do not add a call.
        const ERROR: f64 = 1e-6;
        // A call that starts before the end counts, even if the next one would start much later.
        ((self.started(self.duration.as_secs_f64()) - ERROR).ceil() as u64).max(1)
    }

    /// Returns the scheduled start time of the call with this number.
    pub(crate) fn start(&self, call: u64) -> Duration {
        let call = call as f64;
        let ramp = self.ramp.as_secs_f64();
        let in_ramp = (self.from + self.to) / 2.0 * ramp;
        if call >= in_ramp || ramp == 0.0 {
            return Duration::from_secs_f64(ramp + (call - in_ramp).max(0.0) / self.to);
        }
        // Solve `from * t + slope / 2 * t² = call` for the time `t`.
        let slope = (self.to - self.from) / ramp;
        let root = (self.from * self.from + 2.0 * slope * call).max(0.0).sqrt();
        // This form of the solution is numerically stable for small slopes.
        Duration::from_secs_f64(2.0 * call / (self.from + root))
    }

    /// Returns the number of calls that should start in the first `seconds` seconds.
    fn started(&self, seconds: f64) -> f64 {
        let ramp = self.ramp.as_secs_f64();
        let inside = seconds.min(ramp);
        let slope = if ramp > 0.0 { (self.to - self.from) / ramp } else { 0.0 };
        self.from * inside + slope / 2.0 * inside * inside + (seconds - inside) * self.to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_rate_calls_start_at_equal_intervals() {
        let schedule = Schedule::constant(1000.0, Duration::from_secs(10));
        assert_eq!(schedule.count(), 10_000);
        assert_eq!(schedule.start(0), Duration::ZERO);
        assert_eq!(schedule.start(2500), Duration::from_millis(2500));
        assert_eq!(schedule.due(Duration::ZERO), 1);
        assert_eq!(schedule.due(Duration::from_micros(1500)), 2);
        assert_eq!(schedule.due(Duration::from_secs(60)), 10_000);
    }

    /// Regression test: the number of calls was rounded, so a low rate made no call and the load succeeded.
    #[test]
    fn call_that_starts_before_end_counts() {
        let count = |rate, millis| Schedule::constant(rate, Duration::from_millis(millis)).count();
        assert_eq!([count(1.0, 400), count(1.0, 1400), count(10.0, 300), count(0.1, 1)], [1, 2, 3, 1]);
    }

    #[test]
    fn ramp_starts_calls_at_mean_rate() {
        let (ramp, duration) = (Duration::from_secs(10), Duration::from_secs(20));
        let schedule = Schedule { from: 100.0, to: 1000.0, ramp, duration };
        assert_eq!(schedule.count(), 5500 + 10_000);
        let starts: Vec<_> = (0..schedule.count()).map(|call| schedule.start(call)).collect();
        assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((starts[5500].as_secs_f64() - 10.0).abs() < 1e-6, "{:?}", starts[5500]);
        assert!(starts[15_499] < duration);
        for call in [0, 1, 17, 5499, 5500, 9999] {
            let just_behind = starts[call] + Duration::from_nanos(100);
            assert_eq!(schedule.due(just_behind), u64::try_from(call).unwrap() + 1, "{call}");
        }
    }
}
