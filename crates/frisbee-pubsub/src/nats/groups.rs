//! Tracks whether any broker on the bus has queue group members. NATS delivers each NATS message to one member, so a
//! single member would receive a whole batch. Frames are therefore sent individually while there may be members.
//!
//! Brokers announce their members periodically and on request. If an announcement is lost, messages are distributed
//! less evenly for a while, but none are lost.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Control frame of a broker to announce that it has queue group members.
pub(crate) const HAS_MEMBERS: &[u8] = &[5];

/// Control frame that requests announcements of queue group members from other brokers.
pub(crate) const ASKS: &[u8] = &[6];

/// Number of ticks that a broker waits for announcements of other brokers after it has started or reconnected: about a
/// second.
const ANSWER_TICKS: u32 = 4;

/// Number of ticks that an announcement is valid: about half a minute.
const HEARD_TICKS: u32 = 120;

/// Number of ticks between two announcements of a broker, about ten seconds. An announcement is valid for three times
/// as long.
const SAY_TICKS: u32 = 40;

/// Tracks whether any broker on the bus may have queue group members. If so, frames are sent individually instead of in
/// batches.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Number of queue group members that are connected to this broker.
    here: AtomicUsize,
    /// Number of further ticks for which other brokers are assumed to have queue group members.
    elsewhere: AtomicU32,
    /// Number of ticks until this broker announces its members again.
    next: AtomicU32,
    asked: AtomicBool,
}

impl Groups {
    pub(crate) fn new() -> Self {
        Self {
            here: AtomicUsize::new(0),
            elsewhere: AtomicU32::new(ANSWER_TICKS),
            next: AtomicU32::new(SAY_TICKS),
            asked: AtomicBool::new(false),
        }
    }

    /// Returns whether any broker on the bus may have queue group members.
    pub(crate) fn may_be(&self) -> bool {
        self.elsewhere.load(Ordering::Relaxed) > 0 || self.here.load(Ordering::Relaxed) > 0
    }

    /// Adds a queue group member at this broker. Returns whether it is the first member, which must be announced.
    pub(crate) fn enter(&self) -> bool {
        self.here.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Returns whether this broker has queue group members.
    pub(crate) fn is_joined(&self) -> bool {
        self.here.load(Ordering::Relaxed) > 0
    }

    /// Removes a queue group member at this broker.
    pub(crate) fn exit(&self) {
        self.here.fetch_sub(1, Ordering::Relaxed);
    }

    /// Assumes that other brokers have queue group members until their announcements should have arrived.
    pub(crate) fn ask(&self) {
        self.elsewhere.fetch_max(ANSWER_TICKS, Ordering::Relaxed);
    }

    /// Handles a control frame that another broker has sent.
    pub(crate) fn handle_control(&self, frame: &[u8]) {
        match frame {
            HAS_MEMBERS => {
                self.elsewhere.fetch_max(HEARD_TICKS, Ordering::Relaxed);
            }
            ASKS => self.asked.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Advances the timers by one tick. A single task must call this at each tick. Returns whether the broker must
    /// announce its members.
    pub(crate) fn tick(&self) -> bool {
        let left = self.elsewhere.load(Ordering::Relaxed);
        // A concurrent announcement takes precedence over the tick.
        let _ = self.elsewhere.compare_exchange(left, left.saturating_sub(1), Ordering::Relaxed, Ordering::Relaxed);
        let next = self.next.load(Ordering::Relaxed).saturating_sub(1);
        let is_due = next == 0 || self.asked.swap(false, Ordering::Relaxed);
        self.next.store(if is_due { SAY_TICKS } else { next }, Ordering::Relaxed);
        is_due && self.here.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(groups: &Groups, count: u32) -> u32 {
        (0..count).map(|_| u32::from(groups.tick())).sum()
    }

    #[test]
    fn remote_members_are_assumed_until_deadline() {
        let groups = Groups::new();
        assert_eq!(ticks(&groups, ANSWER_TICKS - 1), 0);
        assert!(groups.may_be());
        groups.tick();
        assert!(!groups.may_be());
        groups.ask();
        assert!(groups.may_be(), "broker that was away should assume that there are members");
    }

    #[test]
    fn remote_members_count_longer_than_renewal_interval() {
        let (here, there) = (Groups::new(), Groups::new());
        assert!(there.enter() && !there.enter(), "first member should be announced immediately");
        here.handle_control(HAS_MEMBERS);
        for _ in 0..10 * HEARD_TICKS {
            here.tick();
            if there.tick() {
                here.handle_control(HAS_MEMBERS);
            }
            assert!(here.may_be());
        }
        there.exit();
        assert_eq!(ticks(&there, 2 * SAY_TICKS), 2, "one member should remain");
        there.exit();
        assert_eq!(ticks(&there, 2 * SAY_TICKS), 0);
        ticks(&here, HEARD_TICKS);
        assert!(!here.may_be() && !there.may_be());
    }

    #[test]
    fn queried_broker_answers_at_next_tick() {
        let groups = Groups::new();
        groups.handle_control(ASKS);
        assert!(!groups.tick());
        groups.enter();
        assert!(groups.may_be());
        groups.handle_control(ASKS);
        groups.handle_control(ASKS);
        assert_eq!(ticks(&groups, 10), 1);
        groups.handle_control(b"\x03");
        groups.handle_control(b"\x05\x05");
        assert_eq!(ticks(&groups, 10), 0);
    }
}
