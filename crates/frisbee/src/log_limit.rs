//! Rate limits for log events, so that peers cannot flood the log. [`LogLimit`] limits events by peer and reason, or
//! any other key, and [`LineLimit`] limits all events of one call site.

use crate::debug::opaque_debug;
use parking_lot::Mutex;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::time::{Duration, Instant};

/// Number of slots of the rate limiter. Events with keys that hash to the same slot share one limit.
const SLOTS: usize = 256;

/// Minimum interval between two logged events in the same slot.
const SILENCE: Duration = Duration::from_secs(1);

/// Rate limiter that permits one log event per second and slot. The slot is a hash of the event's key, with a random
/// seed that peers do not know.
#[derive(Default)]
pub struct LogLimit {
    /// Rate-limit slots, allocated at the first event.
    slots: Mutex<Vec<LogSlot>>,
    seed: RandomState,
}

#[derive(Clone, Default)]
struct LogSlot {
    last: Option<Instant>,
    unsaid: u64,
}

impl LogLimit {
    /// Returns the number of events suppressed since the last logged one if an event with this key, such as a peer and
    /// a reason, may be logged now. Returns `None` if it must not be logged.
    pub fn may_log(&self, subject: impl Hash, now: Instant) -> Option<u64> {
        let index = self.seed.hash_one(subject) as usize % SLOTS;
        let mut slots = self.slots.lock();
        slots.resize(SLOTS, LogSlot::default());
        slots.get_mut(index)?.may_say(now)
    }
}

/// Rate limiter for a single log statement. Permits one event per second. Usually a `static` next to the statement.
#[derive(Default)]
pub struct LineLimit(Mutex<LogSlot>);

impl LineLimit {
    /// Creates a limiter that permits the first event.
    pub const fn new() -> Self {
        Self(Mutex::new(LogSlot { last: None, unsaid: 0 }))
    }

    /// Returns the number of events suppressed since the last logged one if the event may be logged now. Returns `None`
    /// if it must not be logged.
    pub fn may_say(&self, now: Instant) -> Option<u64> {
        self.0.lock().may_say(now)
    }
}

opaque_debug!([] LineLimit, "LineLimit");

impl LogSlot {
    fn may_say(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < SILENCE) {
            self.unsaid += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.unsaid))
    }
}

opaque_debug!([] LogLimit, "LogLimit");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CloseKind;
    use std::net::IpAddr;

    #[test]
    fn log_lines_are_limited_per_peer_reason() {
        let log = LogLimit::default();
        let start = Instant::now();
        let peer = Some(IpAddr::from([127, 0, 0, 1]));
        let mut lines = 0;
        let mut unsaid = 0;
        for millisecond in 0..10_000 {
            let now = start + Duration::from_millis(millisecond);
            if let Some(count) = log.may_log((peer, CloseKind::BadMagic), now) {
                lines += 1;
                unsaid += count;
            }
        }
        assert_eq!((lines, unsaid), (10, 10_000 - 10 - 999));
    }

    #[test]
    fn limited_line_reports_suppressed_count() {
        let line = LineLimit::new();
        let start = Instant::now();
        assert_eq!(line.may_say(start), Some(0));
        assert_eq!(line.may_say(start + SILENCE / 2), None);
        assert_eq!(line.may_say(start + SILENCE / 2), None);
        assert_eq!(line.may_say(start + SILENCE), Some(2));
    }

    #[test]
    fn log_lines_of_many_peers_are_bounded() {
        let log = LogLimit::default();
        let now = Instant::now();
        let peers = (0..100_000_u32).map(|peer| Some(IpAddr::from(peer.to_be_bytes())));
        let lines = peers.filter_map(|peer| log.may_log((peer, CloseKind::BadMagic), now)).count();
        assert!((100..=SLOTS).contains(&lines), "{lines}");
    }
}
