//! The troubles of an end, for clients that ask before they call: an end that refuses calls, or answers none, has little to
//! do, and would seem the best of all.
//!
//! Nothing here is looked at by calls that are answered: they only count.

use crate::Code;
use std::time::{Duration, Instant};

/// An end that has refused so many calls in a row cannot work.
const REFUSED_IN_ROW: u32 = 2;

/// For how long it says so at first, which doubles each time that it refuses the calls that come then, up to two seconds:
/// those who ask it later should find out soon that it works again.
const UNABLE: (Duration, u32) = (Duration::from_millis(250), 3);

/// A call that was given up earlier says nothing: its caller was impatient.
const GIVEN_UP_LEAST: Duration = Duration::from_millis(20);

/// The time of a call that was given up counts for half after so many seconds, and with each call that is answered.
const GIVEN_UP_HALVES: u64 = 8;

/// One who asks is about to call with this probability: clients ask five servers or so, and prefer those with little to do.
const CALLS_PER_QUESTION: f64 = 0.4;

/// After so long half of those who call have called.
const CALLS_WITHIN: Duration = Duration::from_millis(3);

/// The most questions that count as calls to come, whoever asks them.
const QUESTIONS_MAX: f64 = 16.0;

/// The troubles of an end, and who has asked for them of late. Numbers of answered calls may wrap.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// How many calls were refused since this number was answered.
    refused: u32,
    refused_at: u32,
    /// When it has said for long enough that it cannot work, and how often it has done so since it answered a call.
    unable_until: Option<Instant>,
    times_unable: u32,
    given_up: Option<GivenUp>,
    /// When it was looked at first with calls in progress and this number of answered ones.
    stuck_since: Option<(Instant, u32)>,
    questions: f64,
    asked_at: Option<Instant>,
}

/// A call that was given up.
#[derive(Clone, Copy, Debug)]
struct GivenUp {
    took: Duration,
    at: Instant,
    answered: u32,
}

/// Whether a call that ends so shows that its end cannot work.
pub(super) fn shows_trouble(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::ResourceExhausted)
}

impl Health {
    /// Notes a call that was refused.
    pub(super) fn refuse(&mut self, now: Instant, answered: u32) {
        if self.refused_at != answered {
            (self.refused, self.refused_at, self.times_unable) = (0, answered, 0);
        }
        self.refused = self.refused.saturating_add(1);
        if self.refused >= REFUSED_IN_ROW && !self.is_unable(now) {
            let (first, doublings) = UNABLE;
            self.unable_until = now.checked_add(first * (1 << self.times_unable.min(doublings)));
            self.times_unable = self.times_unable.saturating_add(1);
        }
    }

    /// Notes a call that was given up after so long, where it was expected to take as long as that.
    pub(super) fn give_up(&mut self, took: Duration, expected: Duration, now: Instant, answered: u32) {
        if took > expected.max(GIVEN_UP_LEAST) {
            let took = took.max(self.given_up_at(now, answered));
            self.given_up = Some(GivenUp { took, at: now, answered });
        }
    }

    /// Whether it says that it cannot work.
    pub(super) fn is_unable(&self, now: Instant) -> bool {
        self.unable_until.is_some_and(|until| now < until)
    }

    /// How long a call takes at least, as far as it is known by those that were not answered.
    pub(super) fn least(&mut self, now: Instant, in_progress: u32, answered: u32) -> Duration {
        let stuck = match self.stuck_since {
            Some((since, number)) if number == answered && in_progress > 0 => now.saturating_duration_since(since),
            _ => {
                self.stuck_since = Some((now, answered));
                Duration::ZERO
            }
        };
        stuck.max(self.given_up_at(now, answered))
    }

    fn given_up_at(&self, now: Instant, answered: u32) -> Duration {
        let Some(given_up) = self.given_up else { return Duration::ZERO };
        let halves = now.saturating_duration_since(given_up.at).as_secs() / GIVEN_UP_HALVES;
        let halves = halves.saturating_add(answered.wrapping_sub(given_up.answered).into());
        given_up.took / (1 << halves.min(31))
    }

    /// Counts a question. Returns how many calls are to be expected of those who have asked before.
    pub(super) fn ask(&mut self, now: Instant) -> f64 {
        let ago = self.asked_at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        let before = self.questions * (-ago / CALLS_WITHIN.as_secs_f64()).exp2();
        self.questions = (before + 1.0).min(QUESTIONS_MAX);
        self.asked_at = Some(now);
        before * CALLS_PER_QUESTION
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn an_end_that_refuses_two_calls_in_a_row_cannot_work_for_ever_longer_until_it_answers_one() {
        let (mut health, begun) = (Health::default(), Instant::now());
        let mut at = begun;
        health.refuse(at, 0);
        assert!(!health.is_unable(at), "it may be the fault of the call");
        for pause in [250, 500, 1_000, 2_000, 2_000] {
            health.refuse(at, 0);
            assert!(health.is_unable(at + millis(pause - 1)) && !health.is_unable(at + millis(pause)), "{pause}");
            at += millis(pause);
        }
        health.refuse(at, 1);
        assert!(!health.is_unable(at), "it has answered one");
        health.refuse(at, 1);
        assert!(health.is_unable(at + millis(249)) && !health.is_unable(at + millis(250)));
        health.refuse(at, 2);
        health.refuse(at, 3);
        assert!(!health.is_unable(at + millis(250)), "not in a row");
        assert!(shows_trouble(Code::ResourceExhausted) && !shows_trouble(Code::NotFound));
    }

    #[test]
    fn a_call_takes_at_least_as_long_as_those_that_nobody_has_answered() {
        let (mut health, begun) = (Health::default(), Instant::now());
        assert_eq!(health.least(begun, 1, 5), Duration::ZERO);
        assert_eq!(health.least(begun + millis(30), 1, 5), millis(30));
        assert_eq!(health.least(begun + millis(40), 1, 6), Duration::ZERO, "it has answered one");
        assert_eq!(health.least(begun + millis(50), 0, 6), Duration::ZERO, "there is none");
        assert_eq!(health.least(begun + millis(90), 2, 6), millis(40));
    }

    #[test]
    fn a_call_that_is_given_up_counts_until_others_are_answered_or_time_has_passed() {
        let (mut health, begun) = (Health::default(), Instant::now());
        health.give_up(millis(50), millis(50), begun, 5);
        health.give_up(millis(20), Duration::ZERO, begun, 5);
        assert_eq!(health.least(begun, 0, 5), Duration::ZERO, "their callers were impatient");
        health.give_up(millis(800), millis(50), begun, 5);
        health.give_up(millis(100), millis(50), begun, 5);
        assert_eq!([5, 6, 8].map(|answered| health.least(begun, 0, answered)), [800, 400, 100].map(millis));
        assert_eq!(health.least(begun + Duration::from_secs(16), 0, 5), millis(200));
        assert_eq!(health.least(begun + Duration::from_secs(1 << 40), 0, 4), Duration::ZERO);
    }

    #[test]
    fn some_clients_that_have_asked_are_about_to_call_and_no_more_than_a_few_count() {
        let (mut health, begun) = (Health::default(), Instant::now());
        assert!(health.ask(begun) == 0.0);
        assert!(health.ask(begun) == CALLS_PER_QUESTION);
        assert!(health.ask(begun + CALLS_WITHIN) == CALLS_PER_QUESTION);
        (0..1_000).for_each(|_| _ = health.ask(begun + CALLS_WITHIN));
        assert!(health.ask(begun + CALLS_WITHIN) == QUESTIONS_MAX * CALLS_PER_QUESTION);
        assert!(health.ask(begun + millis(1_000)) < 0.001, "they have gone elsewhere");
    }
}
