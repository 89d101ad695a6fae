//! Whether the handlers of a connection may be polled in place, by the task that drives it, or take so long that they
//! get tasks of their own. Pure state; time is an argument.

use std::time::{Duration, Instant};

/// Handlers that keep the task for longer than this in one turn have taken long. Turns are bounded to some twenty
/// microseconds and, at worst, thirty-two handlers more.
const LONG: Duration = Duration::from_millis(1);

/// After so many long turns, one behind the other, handlers get tasks of their own. A single one may well be the
/// operating system's doing, which has given the processor to somebody else.
const LONG_TURNS: u32 = 3;

/// How long they keep them at first. With processors fully at work the system's doing passes for the handlers' once in
/// some minutes; calls should not cost three times as much for good.
const APART_MIN: Duration = Duration::from_secs(1);

/// How long they keep them at most, for handlers that take long whenever they are tried again: what they hold up others
/// for is by then a thousandth of what it would be.
const APART_MAX: Duration = Duration::from_secs(1024);

/// How the handlers of one connection have behaved.
#[derive(Debug)]
pub(crate) struct InPlace {
    /// Some have been polled in this turn.
    polled: bool,
    /// They have tasks of their own, until [`until`](Self::until).
    apart: bool,
    /// Long turns, one behind the other.
    long_turns: u32,
    /// How long they have had tasks of their own the last time, and until when.
    pause: Duration,
    until: Option<Instant>,
}

impl InPlace {
    pub(crate) fn new() -> Self {
        Self { polled: false, apart: false, long_turns: 0, pause: APART_MIN, until: None }
    }

    /// Whether a handler may be polled in place. It is taken to be.
    #[inline]
    pub(crate) fn begin(&mut self) -> bool {
        self.polled |= !self.apart;
        !self.apart
    }

    /// The end of a turn that began at `began`; `clock` is asked if handlers were polled. `true` if they get tasks of
    /// their own from now on.
    #[inline]
    pub(crate) fn end_turn(&mut self, began: Instant, clock: impl FnOnce() -> Instant) -> bool {
        if std::mem::take(&mut self.polled) {
            let now = clock();
            if now.saturating_duration_since(began) < LONG {
                self.long_turns = 0;
                return false;
            }
            return self.handle_long_turn(now);
        }
        if self.apart && self.until.is_none_or(|until| began >= until) {
            // They are tried again, and a single long turn will do.
            self.apart = false;
            self.long_turns = LONG_TURNS - 1;
        }
        false
    }

    #[cold]
    fn handle_long_turn(&mut self, now: Instant) -> bool {
        self.long_turns += 1;
        if self.long_turns < LONG_TURNS {
            return false;
        }
        // Whether they have been quick for less time than they were kept away.
        let again = self.until.is_some_and(|until| now.saturating_duration_since(until) < self.pause);
        self.pause = if again { (2 * self.pause).min(APART_MAX) } else { APART_MIN };
        self.until = now.checked_add(self.pause);
        self.apart = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_micros(50);

    /// A connection's turns, one directly behind the other.
    struct Turns {
        in_place: InPlace,
        now: Instant,
    }

    impl Turns {
        fn new() -> Self {
            Self { in_place: InPlace::new(), now: Instant::now() }
        }

        /// A turn with a call that takes so long where it is polled; whether that was in place.
        fn call(&mut self, took: Duration) -> bool {
            let began = self.now;
            let in_place = self.in_place.begin();
            self.now += if in_place { took } else { QUICK };
            self.in_place.end_turn(began, || self.now);
            in_place
        }

        /// Lets handlers take long until they are sent away; how many were polled in place before.
        fn send_away(&mut self) -> usize {
            (0..).take_while(|_| self.call(LONG)).count()
        }

        /// Lets time pass, with a turn at its end that brings no call.
        fn pause(&mut self, time: Duration) {
            self.now += time;
            let began = self.now;
            self.in_place.end_turn(began, || panic!("nothing was polled"));
        }
    }

    #[test]
    fn handlers_that_take_long_in_three_turns_on_end_get_tasks_and_no_others() {
        let mut turns = Turns::new();
        for _ in 0..100 {
            assert!(turns.call(LONG) && turns.call(LONG) && turns.call(QUICK), "two long turns are no proof");
        }
        assert_eq!(turns.send_away(), 3);
        assert!(!turns.call(QUICK));
    }

    #[test]
    fn handlers_that_were_sent_away_are_tried_again() {
        let mut turns = Turns::new();
        turns.send_away();
        turns.pause(APART_MIN / 2);
        assert!(!turns.call(QUICK));
        turns.pause(APART_MIN);
        assert!(turns.call(QUICK));
        assert_eq!(turns.send_away(), 3, "they have been quick in between");
    }

    #[test]
    fn handlers_that_always_take_long_are_tried_ever_more_rarely_and_once_only() {
        let mut turns = Turns::new();
        assert_eq!(turns.send_away(), 3);
        let mut pause = APART_MIN;
        while pause < APART_MAX {
            turns.pause(pause - LONG);
            assert_eq!(turns.send_away(), 0, "it is early");
            turns.pause(LONG);
            assert_eq!(turns.send_away(), 1);
            pause *= 2;
        }
        turns.pause(APART_MAX);
        assert_eq!(turns.send_away(), 1, "it does not grow without end");
        turns.pause(APART_MAX);
        assert!(turns.call(QUICK));
    }

    #[test]
    fn handlers_that_were_quick_for_as_long_as_they_were_away_begin_anew() {
        let mut turns = Turns::new();
        turns.send_away();
        turns.pause(APART_MIN);
        turns.send_away();
        turns.pause(2 * APART_MIN);
        assert!(turns.call(QUICK));
        turns.pause(2 * APART_MIN);
        assert_eq!(turns.send_away(), 3);
        turns.pause(APART_MIN);
        assert!(turns.call(QUICK), "the pause is as short as the first");
    }
}
