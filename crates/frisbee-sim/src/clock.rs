//! The clocks of a node, which go wrong.

use crate::Process;
use std::time::{Duration, SystemTime};

/// The wall time at which worlds begin, in seconds since 1970.
const BEGINNING: u64 = 1_700_000_000;

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
    pub fn now(&self) -> SystemTime {
        let skew = self.process.shared().lock().nodes[self.process.number()].skew_millis;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(BEGINNING) + self.monotonic();
        let by = Duration::from_millis(skew.unsigned_abs());
        if skew < 0 { time.checked_sub(by).unwrap_or(SystemTime::UNIX_EPOCH) } else { time + by }
    }

    /// The time since the beginning of the world by a clock that never jumps. It goes too fast or too slow.
    pub fn monotonic(&self) -> Duration {
        let drift = self.process.shared().lock().nodes[self.process.number()].drift;
        scaled(self.process.shared().elapsed(), 1_000_000 + drift, 1_000_000)
    }

    /// Waits for a time by the monotonic clock. A process that has crashed waits forever.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait.
    pub async fn sleep(&self, time: Duration) {
        let drift = self.process.shared().lock().nodes[self.process.number()].drift;
        tokio::time::sleep(scaled(time, 1_000_000, 1_000_000 + drift)).await;
        self.process.running().await;
    }
}

fn scaled(time: Duration, by: i64, of: i64) -> Duration {
    let nanos = time.as_nanos() * by.unsigned_abs() as u128 / of.unsigned_abs() as u128;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
