//! Rate limits for log lines about peers, so that no peer can flood the log: [`LogLimit`] by peer and reason, or any
//! other key, and [`LineLimit`] for all lines of one call site.

use crate::debug::opaque_debug;
use parking_lot::Mutex;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::time::{Duration, Instant};

/// Number of separately limited keys. Peers that share a slot share its limit.
const SLOTS: usize = 256;

/// Minimum interval between lines about the same peer and reason.
const SILENCE: Duration = Duration::from_secs(1);

/// A rate limit of one line per second and slot. The subject of a line is hashed to a slot with a seed that is unknown
/// to peers.
#[derive(Default)]
pub struct LogLimit {
    /// Allocated with the first line.
    slots: Mutex<Vec<LogSlot>>,
    seed: RandomState,
}

#[derive(Clone, Default)]
struct LogSlot {
    last: Option<Instant>,
    unsaid: u64,
}

impl LogLimit {
    /// Returns the number of suppressed lines since the last one if a line about `subject`, such as a peer and a
    /// reason, may be written now.
    pub fn may_log(&self, subject: impl Hash, now: Instant) -> Option<u64> {
        let index = self.seed.hash_one(subject) as usize % SLOTS;
        let mut slots = self.slots.lock();
        slots.resize(SLOTS, LogSlot::default());
        slots.get_mut(index)?.may_say(now)
    }
}

/// A rate limit of one line per second for a call site. Use it in a static next to the line.
#[derive(Default)]
pub struct LineLimit(Mutex<LogSlot>);

impl LineLimit {
    /// Creates a limit without a recent line.
    pub const fn new() -> Self {
        Self(Mutex::new(LogSlot { last: None, unsaid: 0 }))
    }

    /// Returns the number of suppressed lines if the line may be written now, otherwise `None`.
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
    fn one_peer_and_reason_get_one_line_a_second() {
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
    fn a_line_that_is_seldom_written_tells_how_often_it_was_not() {
        let line = LineLimit::new();
        let start = Instant::now();
        assert_eq!(line.may_say(start), Some(0));
        assert_eq!(line.may_say(start + SILENCE / 2), None);
        assert_eq!(line.may_say(start + SILENCE / 2), None);
        assert_eq!(line.may_say(start + SILENCE), Some(2));
    }

    #[test]
    fn any_number_of_peers_get_a_bounded_number_of_lines() {
        let log = LogLimit::default();
        let now = Instant::now();
        let peers = (0..100_000_u32).map(|peer| Some(IpAddr::from(peer.to_be_bytes())));
        let lines = peers.filter_map(|peer| log.may_log((peer, CloseKind::BadMagic), now)).count();
        assert!((100..=SLOTS).contains(&lines), "{lines}");
    }
}
