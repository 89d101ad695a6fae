//! The age at which a server drains a connection, and the age at which it closes it.
//!
//! # Decisions
//!
//! * **The age varies at random by a tenth.** Connections that a fleet opened at the same time, after a restart, are
//!   then renewed at different times.
//! * **A nested connection has the lifetime of its adapter connection**, so both are drained at the same time.

use std::time::{Duration, Instant};

/// Fraction of the age by which it varies in either direction.
const JITTER: f64 = 0.1;

/// Maximum duration that the clock can add. Longer ones are truncated to it.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// A server's limit on the age of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AgeLimit {
    /// Maximum age of a connection; `None` for no limit.
    pub(crate) max: Option<Duration>,
    /// Time that work in progress may continue after the maximum age is reached; `None` for no limit.
    pub(crate) grace: Option<Duration>,
}

impl AgeLimit {
    /// Returns the lifetime of a connection that was accepted at `now`.
    pub(crate) fn lifetime(&self, now: Instant) -> Option<Lifetime> {
        let part = 1.0 - JITTER + 2.0 * JITTER * fastrand::f64();
        let drain_at = now + self.max?.min(FAR).mul_f64(part);
        Some(Lifetime { drain_at, abort_at: self.grace.map(|grace| drain_at + grace.min(FAR)) })
    }
}

/// The times at which one connection is drained and closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    /// Time from which it accepts no new work.
    pub(crate) drain_at: Instant,
    /// Time at which it is closed with its work in progress.
    pub(crate) abort_at: Option<Instant>,
}

/// The progress of a driver through the [`Lifetime`] of its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Age {
    Young,
    Draining,
    Over,
}

impl Lifetime {
    /// Returns the time at which a connection reaches the age after `age`.
    pub(crate) fn next(&self, age: Age) -> Option<Instant> {
        match age {
            Age::Young => Some(self.drain_at),
            Age::Draining => self.abort_at,
            Age::Over => None,
        }
    }

    /// Returns the next age, if the connection has reached it at `now`.
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
        let least = ages.iter().map(|age| age.drain_at).min().expect("sample should not be empty");
        let most = ages.iter().map(|age| age.drain_at).max().expect("sample should not be empty");
        assert!(least >= now + HOUR * 9 / 10 && least < now + HOUR * 93 / 100);
        assert!(most <= now + HOUR * 11 / 10 && most > now + HOUR * 107 / 100);
        assert!(ages.iter().all(|age| age.abort_at == Some(age.drain_at + HOUR / 60)));
    }

    #[test]
    fn endless_age_and_grace_do_not_overflow() {
        let limit = AgeLimit { max: Some(Duration::MAX), grace: Some(Duration::MAX) };
        let lifetime = limit.lifetime(Instant::now()).expect("maximum age should limit the lifetime");
        assert_eq!(lifetime.advance(Age::Young, Instant::now()), None);
        assert!(AgeLimit::default().lifetime(Instant::now()).is_none());
    }
}
