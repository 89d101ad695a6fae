//! The age at which a server drains a connection, and the age at which it closes the connection.
//!
//! # Decisions
//!
//! * **The age is random within a tenth.** Connections that a fleet has opened at the same time, after a restart, are
//!   then renewed at different times.
//! * **A connection within an adapter connection has the lifetime of the latter**, so both are drained at the same time.

use std::time::{Duration, Instant};

/// The part of the age by which it varies in either direction.
const JITTER: f64 = 0.1;

/// Longer durations count as this: the clock cannot add them.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// A server's limit on the age of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AgeLimit {
    /// `None` if connections may have any age.
    pub(crate) max: Option<Duration>,
    /// How long work in progress may take from then on; `None` if it may take any time.
    pub(crate) grace: Option<Duration>,
}

impl AgeLimit {
    /// The lifetime of a connection that was accepted at `now`.
    pub(crate) fn lifetime(&self, now: Instant) -> Option<Lifetime> {
        let part = 1.0 - JITTER + 2.0 * JITTER * fastrand::f64();
        let drain_at = now + self.max?.min(FAR).mul_f64(part);
        Some(Lifetime { drain_at, abort_at: self.grace.map(|grace| drain_at + grace.min(FAR)) })
    }
}

/// The times of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    /// When it takes no new work.
    pub(crate) drain_at: Instant,
    /// When it is closed with its work in progress.
    pub(crate) abort_at: Option<Instant>,
}

/// How far a driver has come with the [`Lifetime`] of its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Age {
    Young,
    Draining,
    Over,
}

impl Lifetime {
    /// When a connection of this age reaches the next one.
    pub(crate) fn next(&self, age: Age) -> Option<Instant> {
        match age {
            Age::Young => Some(self.drain_at),
            Age::Draining => self.abort_at,
            Age::Over => None,
        }
    }

    /// The next age, if the connection has reached it at `now`.
    pub(crate) fn advance(&self, age: Age, now: Instant) -> Option<Age> {
        self.next(age).filter(|due| *due <= now)?;
        Some(if age == Age::Young { Age::Draining } else { Age::Over })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn ages_vary_by_a_tenth_and_grace_follows() {
        let now = Instant::now();
        let limit = AgeLimit { max: Some(HOUR), grace: Some(HOUR / 60) };
        let ages: Vec<_> = (0..1000).filter_map(|_| limit.lifetime(now)).collect();
        let least = ages.iter().map(|age| age.drain_at).min().expect("there are some");
        let most = ages.iter().map(|age| age.drain_at).max().expect("there are some");
        assert!(least >= now + HOUR * 9 / 10 && least < now + HOUR * 93 / 100);
        assert!(most <= now + HOUR * 11 / 10 && most > now + HOUR * 107 / 100);
        assert!(ages.iter().all(|age| age.abort_at == Some(age.drain_at + HOUR / 60)));
    }

    #[test]
    fn endless_age_and_grace_do_not_overflow() {
        let limit = AgeLimit { max: Some(Duration::MAX), grace: Some(Duration::MAX) };
        let lifetime = limit.lifetime(Instant::now()).expect("it is limited");
        assert_eq!(lifetime.advance(Age::Young, Instant::now()), None);
        assert!(AgeLimit::default().lifetime(Instant::now()).is_none());
    }
}
