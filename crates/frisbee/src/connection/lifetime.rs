//! Lifetime of a server's connection: the times at which it is drained and closed.
//!
//! # Decisions
//!
//! * **The maximum age is varied randomly by 10 %.** Otherwise, connections that were opened at the same time, for
//!   example after a restart, would also be replaced at the same time.
//! * **A nested connection shares the lifetime of its adapter connection**, so that both are drained together.

use std::time::{Duration, Instant};

/// Maximum random deviation from the maximum age, as a fraction of the age.
const JITTER: f64 = 0.1;

/// Maximum duration that timers support, 30 years. Longer ages are reduced to it.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Maximum age of a server's connections, and the grace period that follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AgeLimit {
    /// Maximum age of a connection, or `None` for no limit.
    pub(crate) max: Option<Duration>,
    /// Time after the maximum age during which work in progress may continue, or `None` for no limit.
    pub(crate) grace: Option<Duration>,
}

impl AgeLimit {
    /// Returns the drain and abort times of a connection accepted at `now`, or `None` if the age of connections is not
    /// limited.
    pub(crate) fn lifetime(&self, now: Instant) -> Option<Lifetime> {
        let part = 1.0 - JITTER + 2.0 * JITTER * fastrand::f64();
        let drain_at = now + self.max?.min(FAR).mul_f64(part);
        Some(Lifetime { drain_at, abort_at: self.grace.map(|grace| drain_at + grace.min(FAR)) })
    }
}

/// Times at which a server drains and then aborts a connection that has reached its maximum age.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    /// Time at which the connection stops accepting new work.
    pub(crate) drain_at: Instant,
    /// Time at which the connection is closed even if work is in progress, or `None` for no limit.
    pub(crate) abort_at: Option<Instant>,
}

/// Stage of a connection's [`Lifetime`]: below its maximum age, draining, or past the grace period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Age {
    Young,
    Draining,
    Over,
}

impl Lifetime {
    /// Returns the time of the next stage of a connection in stage `age`, or `None` if no stage follows.
    pub(crate) fn next(&self, age: Age) -> Option<Instant> {
        match age {
            Age::Young => Some(self.drain_at),
            Age::Draining => self.abort_at,
            Age::Over => None,
        }
    }

    /// Returns the stage that follows `age` if its time has been reached at `now`.
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
    fn connection_ages_vary_by_tenth_before_grace() {
        let now = Instant::now();
        let limit = AgeLimit { max: Some(HOUR), grace: Some(HOUR / 60) };
        let ages: Vec<_> = (0..1000).filter_map(|_| limit.lifetime(now)).collect();
        let least =
            ages.iter().map(|age| age.drain_at).min().expect("at least one connection should have a limited lifetime");
        let most =
            ages.iter().map(|age| age.drain_at).max().expect("at least one connection should have a limited lifetime");
        assert!(least >= now + HOUR * 9 / 10 && least < now + HOUR * 93 / 100);
        assert!(most <= now + HOUR * 11 / 10 && most > now + HOUR * 107 / 100);
        assert!(ages.iter().all(|age| age.abort_at == Some(age.drain_at + HOUR / 60)));
    }

    #[test]
    fn endless_age_and_grace_do_not_overflow() {
        let limit = AgeLimit { max: Some(Duration::MAX), grace: Some(Duration::MAX) };
        let lifetime =
            limit.lifetime(Instant::now()).expect("connection should have a lifetime if its maximum age is set");
        assert_eq!(lifetime.advance(Age::Young, Instant::now()), None);
        assert!(AgeLimit::default().lifetime(Instant::now()).is_none());
    }
}
