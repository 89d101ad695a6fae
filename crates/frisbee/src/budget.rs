//! What the connections of a server share: memory for input, and counts of what became of them.

use crate::{CloseKind, CloseReason};
use parking_lot::Mutex;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bodies of this length and longer may be slices of the buffer they were read into, and keep all of it.
pub(crate) const SLICED_MIN: usize = 16 * 1024;

/// What such a buffer holds: two reads of 64 KiB.
pub(crate) const READ_BUFFER: usize = 128 * 1024;

/// What a handler that waits takes beside its request, in bytes: its future, its place in the connection's list, and
/// its part of what is kept to answer it.
const WAITING_COST: usize = 768;

/// What a body of so many bytes keeps in memory, in bytes: one of 16 to 64 KiB may be a slice of the buffer that it was
/// read into, of 128 KiB, and keep all of it.
#[inline]
pub const fn body_memory(length: usize) -> usize {
    if SLICED_MIN <= length && length < READ_BUFFER / 2 { READ_BUFFER } else { length }
}

/// Memory for input that is held, and counters. Input is held while a large body arrives, while a message of a stream
/// waits to be read, and while a handler waits.
#[derive(Debug)]
pub(crate) struct Budget {
    /// In bytes. Below zero if what was begun has overdrawn it.
    left: AtomicIsize,
    total: isize,
    /// What one stream of a peer that knows no credit may hold; one message may overdraw it.
    per_stream: u64,
    opened: AtomicU64,
    closed: [AtomicU64; CloseKind::ALL.len()],
    shed: AtomicU64,
    unaccepted: AtomicU64,
    said: Said,
}

impl Budget {
    pub(crate) fn new(total: usize, per_stream: usize) -> Self {
        let total = isize::try_from(total).unwrap_or(isize::MAX);
        Self {
            left: AtomicIsize::new(total),
            total,
            per_stream: per_stream as u64,
            opened: AtomicU64::new(0),
            closed: Default::default(),
            shed: AtomicU64::new(0),
            unaccepted: AtomicU64::new(0),
            said: Said::default(),
        }
    }

    pub(crate) fn per_stream(&self) -> u64 {
        self.per_stream
    }

    /// Takes so many bytes for what arrives or waits to be read, if they are there. A quarter is left for requests, or
    /// a few who send large bodies slowly would keep everybody else from being served.
    pub(crate) fn take(&self, count: usize) -> bool {
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        let kept = self.total / 4;
        let take = |left: isize| left.checked_sub(count).filter(|left| *left >= kept);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    pub(crate) fn give_back(&self, count: usize) {
        self.left.fetch_add(isize::try_from(count).unwrap_or(isize::MAX), Ordering::Relaxed);
    }

    /// Whether nothing is left, so that nothing more should be begun.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.load(Ordering::Relaxed) <= 0
    }

    /// Charges for a request whose handler has begun and waits. It cannot be refused any more and may overdraw: by what
    /// one turn of a connection brings, since nothing is begun once the budget is used up.
    pub(crate) fn hold(&self, bytes: usize) -> usize {
        let charge = bytes.saturating_add(WAITING_COST);
        self.left.fetch_sub(isize::try_from(charge).unwrap_or(isize::MAX), Ordering::Relaxed);
        charge
    }

    /// How much is held.
    pub(crate) fn held(&self) -> usize {
        usize::try_from(self.total.saturating_sub(self.left.load(Ordering::Relaxed))).unwrap_or(0)
    }

    pub(crate) fn count_opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_shed(&self) {
        self.shed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a failure to accept, and tells the log.
    pub(crate) fn count_unaccepted(&self, error: &io::Error, pause: Duration, now: Instant) {
        self.unaccepted.fetch_add(1, Ordering::Relaxed);
        match self.said.may_say(None, CloseKind::Local, now) {
            Some(unsaid) => tracing::warn!(%error, ?pause, suppressed = unsaid, "accepting failed"),
            None => tracing::trace!(%error, ?pause, "accepting failed"),
        }
    }

    /// Counts the end of a connection, and tells the log if the peer is at fault.
    pub(crate) fn count_closed(&self, peer: Option<SocketAddr>, reason: &CloseReason, now: Instant) {
        let kind = reason.kind();
        if let Some(count) = self.closed.get(kind as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if !reason.is_peers_fault() {
            return tracing::debug!(?peer, %reason, "connection ended");
        }
        match self.said.may_say(peer.map(|peer| peer.ip()), kind, now) {
            Some(0) => tracing::warn!(?peer, %reason, "connection closed because of an error of its peer"),
            Some(unsaid) => {
                tracing::warn!(?peer, %reason, suppressed = unsaid, "connections closed because of errors of their peer")
            }
            None => tracing::trace!(?peer, %reason, "connection closed because of an error of its peer"),
        }
    }
}

/// Input that is kept, charged to the budget of the server until this is dropped; see
/// [`Connection::hold`](crate::Connection::hold).
#[must_use = "the bytes are charged only while this value is kept"]
pub struct Hold {
    budget: Arc<Budget>,
    charge: usize,
}

impl Hold {
    pub(crate) fn new(budget: &Arc<Budget>, bytes: usize) -> Self {
        Self { charge: budget.hold(bytes), budget: budget.clone() }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.budget.give_back(self.charge);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("charge", &self.charge).finish_non_exhaustive()
    }
}

/// What has become of a server's connections, and what its peers make it hold. Clones look at the same server; reading
/// costs a load.
#[derive(Clone)]
pub struct Stats(Arc<Budget>);

impl Stats {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self(budget)
    }

    /// Connections that were ever driven.
    pub fn opened(&self) -> u64 {
        self.0.opened.load(Ordering::Relaxed)
    }

    /// Connections that are open.
    pub fn open(&self) -> u64 {
        let closed = self.closed().map(|(_, count)| count).sum();
        self.opened().saturating_sub(closed)
    }

    /// How many connections have ended for each kind of reason.
    pub fn closed(&self) -> impl Iterator<Item = (CloseKind, u64)> {
        CloseKind::ALL.into_iter().map(|kind| (kind, self.closed_by(kind)))
    }

    /// How many connections have ended for reasons of this kind.
    pub fn closed_by(&self, kind: CloseKind) -> u64 {
        self.0.closed.get(kind as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Requests, streams and messages that were refused because a limit of this server had been reached.
    pub fn shed(&self) -> u64 {
        self.0.shed.load(Ordering::Relaxed)
    }

    /// Times that the system has refused to accept a connection, for want of file descriptors say.
    pub fn not_accepted(&self) -> u64 {
        self.0.unaccepted.load(Ordering::Relaxed)
    }

    /// Input that is held at the moment, in bytes, as far as it is charged to
    /// [`memory_max`](crate::ServerBuilder::memory_max).
    pub fn input_held(&self) -> usize {
        self.0.held()
    }
}

impl fmt::Debug for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stats = f.debug_struct("Stats");
        stats.field("opened", &self.opened()).field("open", &self.open()).field("shed", &self.shed());
        stats.field("input_held", &self.input_held()).field("not_accepted", &self.not_accepted());
        for (kind, count) in self.closed().filter(|(_, count)| *count > 0) {
            stats.field(kind.name(), &count);
        }
        stats.finish()
    }
}

/// Lines of the log that are told apart. A peer that shares its place with another stays unsaid for that second.
const PLACES: usize = 256;

/// How long one peer and reason stay unsaid after a line about them.
const SILENCE: Duration = Duration::from_secs(1);

/// What has been logged lately, so that nobody can flood the log: one line a second for each place, to which peer and
/// reason are hashed with a seed that peers do not know.
#[derive(Default)]
struct Said {
    /// Allocated with the first line.
    places: Mutex<Vec<Place>>,
    seed: RandomState,
}

#[derive(Clone, Default)]
struct Place {
    last: Option<Instant>,
    unsaid: u64,
}

impl Said {
    /// Whether a line may be written now; how many have not been since the last.
    fn may_say(&self, peer: Option<IpAddr>, kind: CloseKind, now: Instant) -> Option<u64> {
        let index = self.seed.hash_one((peer, kind)) as usize % PLACES;
        let mut places = self.places.lock();
        places.resize(PLACES, Place::default());
        let place = places.get_mut(index)?;
        if place.last.is_some_and(|last| now.saturating_duration_since(last) < SILENCE) {
            place.unsaid += 1;
            return None;
        }
        place.last = Some(now);
        Some(std::mem::take(&mut place.unsaid))
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Said").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peer_and_reason_get_one_line_a_second() {
        let said = Said::default();
        let start = Instant::now();
        let peer = Some(IpAddr::from([127, 0, 0, 1]));
        let mut lines = 0;
        let mut unsaid = 0;
        for millisecond in 0..10_000 {
            let now = start + Duration::from_millis(millisecond);
            if let Some(count) = said.may_say(peer, CloseKind::BadMagic, now) {
                lines += 1;
                unsaid += count;
            }
        }
        assert_eq!((lines, unsaid), (10, 10_000 - 10 - 999));
    }

    #[test]
    fn any_number_of_peers_get_a_bounded_number_of_lines() {
        let said = Said::default();
        let now = Instant::now();
        let peers = (0..100_000_u32).map(|peer| Some(IpAddr::from(peer.to_be_bytes())));
        let lines = peers.filter_map(|peer| said.may_say(peer, CloseKind::BadMagic, now)).count();
        assert!((100..=PLACES).contains(&lines), "{lines}");
    }

    #[test]
    fn what_is_taken_and_held_comes_back() {
        let budget = Arc::new(Budget::new(100_000, 0));
        assert!(budget.take(60_000));
        assert!(!budget.take(16_000), "a quarter is left");
        assert!(!budget.is_exhausted());
        let hold = Hold::new(&budget, 50_000);
        assert!(budget.is_exhausted());
        assert!(!budget.take(1));
        drop(hold);
        budget.give_back(60_000);
        assert_eq!(Stats::new(budget).input_held(), 0);
    }
}
