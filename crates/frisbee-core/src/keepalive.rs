//! Keepalive: decides when to send a PING and when to close a silent connection. Depends only on time.

use std::time::{Duration, Instant};

/// Action that [`Keepalive`] requires from the owner of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Liveness {
    /// No action is required before [`Keepalive::deadline`].
    Alive,
    /// Send a PING, because one of the ends has been silent for the ping interval.
    SendPing,
    /// Close the connection, because the peer has been silent for the idle timeout.
    Dead,
}

/// Keepalive timers, which track when each end was last active.
///
/// Every byte counts as activity, so a connection that is busy in both directions sends no PINGs. An end that only
/// receives still sends PINGs, because the peer's PINGs may be queued behind megabytes of data on a slow link.
///
/// ```
/// use frisbee_core::{Keepalive, Liveness};
/// use std::time::{Duration, Instant};
///
/// let (start, second) = (Instant::now(), Duration::from_secs(1));
/// let mut keepalive = Keepalive::new(2 * second, 10 * second, start);
/// keepalive.received(start + second);
/// keepalive.sent(start + second);
/// assert_eq!(keepalive.deadline(), Some(start + 3 * second));
/// assert!(keepalive.is_silent(start + 3 * second));
/// assert_eq!(keepalive.poll(start + 3 * second), Liveness::SendPing);
/// ```
#[derive(Clone, Debug)]
pub struct Keepalive {
    /// Interval of silence in milliseconds before a PING is sent.
    ping_interval: u32,
    /// Interval of silence in milliseconds before the connection is closed.
    idle_timeout: u32,
    received_at: Instant,
    sent_at: Instant,
    requested_at: Option<Instant>,
}

impl Keepalive {
    /// Creates timers that request a PING after each `ping_interval` of silence and a close after `idle_timeout`.
    pub fn new(ping_interval: Duration, idle_timeout: Duration, now: Instant) -> Self {
        let (idle_timeout, ping_interval) = (millis(idle_timeout), millis(ping_interval.min(idle_timeout)));
        Self { ping_interval, idle_timeout, received_at: now, sent_at: now, requested_at: None }
    }

    /// Returns the interval of silence before a PING is sent.
    pub fn ping_interval(&self) -> Duration {
        Duration::from_millis(self.ping_interval.into())
    }

    /// Records that bytes were received from the peer.
    #[inline]
    pub fn received(&mut self, now: Instant) {
        self.received_at = now;
        self.requested_at = None;
    }

    /// Records that bytes were sent to the peer.
    #[inline]
    pub fn sent(&mut self, now: Instant) {
        self.sent_at = now;
    }

    #[inline]
    fn quiet_since(&self) -> Instant {
        self.received_at.min(self.sent_at)
    }

    /// Returns whether no bytes have been received for the ping interval, regardless of PINGs sent since then.
    pub fn is_silent(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.received_at) >= self.ping_interval()
    }

    /// Returns the action that is due now. A returned [`Liveness::SendPing`] counts as sent.
    pub fn poll(&mut self, now: Instant) -> Liveness {
        if now.saturating_duration_since(self.received_at).as_millis() >= self.idle_timeout.into() {
            return Liveness::Dead;
        }
        let since = self.requested_at.unwrap_or(self.quiet_since());
        if now.saturating_duration_since(since) >= self.ping_interval() {
            self.requested_at = Some(now);
            self.sent(now);
            return Liveness::SendPing;
        }
        Liveness::Alive
    }

    /// Returns the earliest time at which [`poll`](Self::poll) may require an action, or `None` if it never does.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match self.requested_at {
            None => self.quiet_since().checked_add(self.ping_interval()),
            Some(requested_at) => earlier(
                requested_at.checked_add(self.ping_interval()),
                self.received_at.checked_add(Duration::from_millis(self.idle_timeout.into())),
            ),
        }
    }
}

/// Converts a duration to milliseconds, rounded up and limited to 49 days.
pub(crate) fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX)
}

/// Returns the earlier of two optional times. Every connection calls this in each poll. An implementation with
/// iterators takes three times as many instructions.
#[inline]
pub fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn silent_peer_is_pinged_then_closed() {
        let start = Instant::now();
        let mut keepalive = Keepalive::new(2 * SECOND, 5 * SECOND, start);
        assert_eq!(keepalive.deadline(), Some(start + 2 * SECOND));
        assert_eq!(keepalive.poll(start + SECOND), Liveness::Alive);
        assert!(!keepalive.is_silent(start + SECOND) && keepalive.is_silent(start + 2 * SECOND));
        assert_eq!(keepalive.poll(start + 2 * SECOND), Liveness::SendPing);
        assert_eq!(keepalive.poll(start + 3 * SECOND), Liveness::Alive);
        assert_eq!(keepalive.poll(start + 4 * SECOND), Liveness::SendPing);
        assert_eq!(keepalive.deadline(), Some(start + 5 * SECOND));
        assert_eq!(keepalive.poll(start + 5 * SECOND), Liveness::Dead);
    }

    #[test]
    fn any_byte_is_sign_of_life() {
        let start = Instant::now();
        let mut keepalive = Keepalive::new(2 * SECOND, 5 * SECOND, start);
        assert_eq!(keepalive.poll(start + 4 * SECOND), Liveness::SendPing);
        keepalive.received(start + 4 * SECOND);
        assert_eq!(keepalive.poll(start + 5 * SECOND), Liveness::Alive);
        assert_eq!(keepalive.deadline(), Some(start + 6 * SECOND));
    }

    #[test]
    fn receiving_only_end_sends_keepalives() {
        let start = Instant::now();
        let mut keepalive = Keepalive::new(2 * SECOND, 5 * SECOND, start);
        let requested_at = |keepalive: &mut Keepalive, second| {
            keepalive.received(start + second * SECOND);
            keepalive.poll(start + second * SECOND) == Liveness::SendPing
        };
        assert!((1..=6).map(|second| requested_at(&mut keepalive, second)).eq([false, true, false, true, false, true]));
        keepalive.sent(start + 7 * SECOND);
        assert_eq!(
            keepalive.deadline(),
            Some(start + 8 * SECOND),
            "deadline should count from the last received bytes"
        );
        assert!(!requested_at(&mut keepalive, 8) && requested_at(&mut keepalive, 9));
    }
}
