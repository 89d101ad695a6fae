//! Whether some broker on the bus has members of queue groups. NATS gives each of its messages to one member, so that a batch
//! would go to one whole, and members would not take turns: while there may be some, frames leave one by one.
//!
//! Brokers announce their members from time to time, and on request. If the announcement is lost, shares are less even
//! for a while, and nothing is lost.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Its only byte: some broker has members of groups.
const HAS_MEMBERS: u8 = 5;

/// Its only byte: brokers that have members are to say so.
const ASKS: u8 = 6;

/// How many ticks the answers of others may take, when a broker has begun or was away: a second.
const ANSWER_TICKS: u32 = 4;

/// For how many ticks it counts that a broker has members: half a minute.
const HEARD_TICKS: u32 = 120;

/// The ticks after which a broker says it again: three times as often.
const SAY_TICKS: u32 = 40;

/// A broker's knowledge.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The members at this broker.
    here: AtomicUsize,
    /// There may be members elsewhere for so many ticks.
    elsewhere: AtomicU32,
    /// The ticks until this broker says that it has members.
    next: AtomicU32,
    asked: AtomicBool,
}

/// An announcement to the other brokers.
pub(crate) const fn has_members() -> &'static [u8] {
    &[HAS_MEMBERS]
}

/// The question to the other brokers.
pub(crate) const fn asks() -> &'static [u8] {
    &[ASKS]
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

    /// Whether there may be members.
    pub(crate) fn may_be(&self) -> bool {
        self.elsewhere.load(Ordering::Relaxed) > 0 || self.here.load(Ordering::Relaxed) > 0
    }

    /// A member has joined at this broker. Returns whether to announce it.
    pub(crate) fn enter(&self) -> bool {
        self.here.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// A member has left this broker.
    pub(crate) fn exit(&self) {
        self.here.fetch_sub(1, Ordering::Relaxed);
    }

    /// This broker requests announcements, since it has received none.
    pub(crate) fn ask(&self) {
        self.elsewhere.fetch_max(ANSWER_TICKS, Ordering::Relaxed);
    }

    /// Handles a frame of another broker.
    pub(crate) fn handle_control(&self, frame: &[u8]) {
        match frame {
            [HAS_MEMBERS] => {
                self.elsewhere.fetch_max(HEARD_TICKS, Ordering::Relaxed);
            }
            [ASKS] => self.asked.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    /// To be called at each tick, by one task. Whether it is to be said that there are members here.
    pub(crate) fn tick(&self) -> bool {
        let left = self.elsewhere.load(Ordering::Relaxed);
        // If an announcement arrives at this very moment, that counts.
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
    fn remote_members_are_assumed_until_answers_are_due() {
        let groups = Groups::new();
        assert_eq!(ticks(&groups, ANSWER_TICKS - 1), 0);
        assert!(groups.may_be());
        groups.tick();
        assert!(!groups.may_be());
        groups.ask();
        assert!(groups.may_be(), "it has been away");
    }

    #[test]
    fn remote_members_count_longer_than_renewal_interval() {
        let (here, there) = (Groups::new(), Groups::new());
        assert!(there.enter() && !there.enter(), "the first one is said at once");
        here.handle_control(has_members());
        for _ in 0..10 * HEARD_TICKS {
            here.tick();
            if there.tick() {
                here.handle_control(has_members());
            }
            assert!(here.may_be());
        }
        there.exit();
        assert_eq!(ticks(&there, 2 * SAY_TICKS), 2, "one is left");
        there.exit();
        assert_eq!(ticks(&there, 2 * SAY_TICKS), 0);
        ticks(&here, HEARD_TICKS);
        assert!(!here.may_be() && !there.may_be());
    }

    #[test]
    fn queried_broker_with_members_answers_at_next_tick() {
        let groups = Groups::new();
        groups.handle_control(asks());
        assert!(!groups.tick());
        groups.enter();
        assert!(groups.may_be());
        groups.handle_control(asks());
        groups.handle_control(asks());
        assert_eq!(ticks(&groups, 10), 1);
        groups.handle_control(b"\x03");
        groups.handle_control(b"\x05\x05");
        assert_eq!(ticks(&groups, 10), 0);
    }
}
