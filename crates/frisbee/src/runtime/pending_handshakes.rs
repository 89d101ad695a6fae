//! Limits how many accepted connections may wait for the first packet header of their clients. At the limit, one is
//! evicted: the oldest connection of the caller that has the most of them.

use crate::account::CallerKey;
use crate::adapter::{AllowedProtocols, ProtocolAdapters};
use crate::clock::now;
use crate::connection::Connection;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque, btree_map};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Default maximum number of pending handshakes, equal to the length of the accept queue. At a thousand new connections
/// per second, each client has four seconds to send its first header. An idle Go client sends its first PING after half
/// a second.
pub(crate) const SILENT_MAX: usize = 4096;

/// Fraction of the pending connections (1/8) that are evicted when the process has no file descriptors left. Accepting
/// pauses for some milliseconds afterwards, during which few clients connect.
const PART: usize = 8;

/// Age below which pending connections are not evicted. After a restart, thousands of clients may connect at once, and
/// all of them are about to send their first packet. File descriptors and the memory limit bound their number.
const GRACE: Duration = Duration::from_secs(1);

/// Limiter of a server's pending handshakes, that is, of clients that have connected but not sent their first packet.
#[derive(Debug)]
pub(crate) struct HandshakeLimiter {
    max: usize,
    /// Protocol adapters for connections that do not start with a packet header.
    pub(crate) adapters: ProtocolAdapters,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Pending handshakes, oldest first and with ascending numbers.
    by_number: VecDeque<Entry>,
    /// Number of pending handshakes of each caller. At the limit, the oldest handshake of the caller with the most is
    /// evicted.
    by_caller: BTreeMap<CallerKey, usize>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    since: Instant,
    caller: CallerKey,
    pending: Pending,
}

impl Inner {
    /// Removes the oldest pending handshake of the caller that has the most. Returns `None` if that handshake is too
    /// recent to be evicted.
    fn evict(&mut self, now: Instant) -> Option<Pending> {
        // The list is in order of arrival. If its first entry is too recent to be evicted, all are.
        let first = self.by_number.front()?;
        if now.saturating_duration_since(first.since) < GRACE {
            return None;
        }
        let most = *self.by_caller.values().max()?;
        let is_of_most = |entry: &Entry| self.by_caller.get(&entry.caller) == Some(&most);
        let at = self.by_number.iter().position(is_of_most)?;
        let is_old = now.saturating_duration_since(self.by_number.get(at)?.since) >= GRACE;
        if is_old { self.remove(at) } else { None }
    }

    /// Adds a pending handshake and returns its number.
    fn push(&mut self, caller: CallerKey, since: Instant, pending: Pending) -> u64 {
        let number = self.next;
        self.next += 1;
        let caller = caller.among(&self.by_caller);
        *self.by_caller.entry(caller).or_default() += 1;
        self.by_number.push_back(Entry { number, since, caller, pending });
        number
    }

    fn remove(&mut self, at: usize) -> Option<Pending> {
        let entry = self.by_number.remove(at)?;
        if let btree_map::Entry::Occupied(mut count) = self.by_caller.entry(entry.caller) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        Some(entry.pending)
    }
}

/// Handle for closing an evicted handshake.
#[derive(Clone, Debug)]
enum Pending {
    /// A connection that is waiting for its first packet header.
    Driven(Connection),
    /// A connection that is waiting for its TLS handshake or for the header of a proxy.
    Greeted(Arc<tokio::sync::Notify>),
}

impl Pending {
    /// Wakes the task of the pending handshake. The task reads once more, and closes the connection if no bytes have
    /// arrived.
    fn expire(self) {
        match self {
            Self::Driven(connection) => connection.expire(),
            Self::Greeted(expired) => expired.notify_one(),
        }
    }
}

impl HandshakeLimiter {
    pub(crate) fn new(max: usize, adapters: ProtocolAdapters) -> Arc<Self> {
        Arc::new(Self { max, adapters, inner: Mutex::default() })
    }

    /// Adds a connection that is waiting for its first packet header or for the first bytes of another protocol.
    pub(crate) fn enter(list: &Arc<Self>, connection: Connection, allowed: AllowedProtocols) -> PendingHandshake {
        let caller = connection.ends().caller();
        Self::enter_as(list, caller, Pending::Driven(connection), allowed)
    }

    /// Returns the limiter for the handshakes of this caller.
    #[cfg(feature = "tls")]
    pub(crate) fn of(self: &Arc<Self>, caller: CallerKey) -> CallerHandshakes {
        CallerHandshakes { list: self.clone(), caller }
    }

    /// Executes `work`, which waits for the TLS handshake of a client or the header of a proxy. Returns `None` if the
    /// connection is evicted first.
    pub(crate) async fn wait<F>(list: &Arc<Self>, caller: CallerKey, mut work: F) -> Option<F::Output>
    where
        F: Future + Unpin,
    {
        let expired = Arc::new(tokio::sync::Notify::new());
        let _pending = Self::enter_as(list, caller, Pending::Greeted(expired.clone()), AllowedProtocols::Any);
        let mut expired = pin!(expired.notified());
        let first = poll_fn(|context| match Pin::new(&mut work).poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => expired.as_mut().poll(context).map(|()| None),
        });
        if let Some(done) = first.await {
            return Some(done);
        }
        // Yield, because on a busy thread bytes that the client has sent in time may not have been read yet.
        tokio::task::yield_now().await;
        poll_fn(|context| match Pin::new(&mut work).poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    fn enter_as(list: &Arc<Self>, caller: CallerKey, pending: Pending, allowed: AllowedProtocols) -> PendingHandshake {
        let since = now();
        let mut inner = list.inner.lock();
        // Add the new handshake before evicting, so that it counts when the caller with the most handshakes is
        // determined.
        let number = inner.push(caller, since, pending);
        let surplus = inner.by_number.len().saturating_sub(list.max);
        let evicted: Vec<_> = (0..surplus).map_while(|_| inner.evict(since)).collect();
        drop(inner);
        // Expire the handshakes outside of the lock, because this wakes tasks and a waker may run arbitrary code.
        evicted.into_iter().for_each(Pending::expire);
        PendingHandshake { list: list.clone(), number, allowed }
    }

    /// Evicts pending handshakes when the process has no file descriptors left. Returns `false` if none may be evicted.
    pub(crate) fn make_room(&self) -> bool {
        let now = now();
        let mut inner = self.inner.lock();
        let count = inner.by_number.len().div_ceil(PART);
        let evicted: Vec<_> = (0..count).map_while(|_| inner.evict(now)).collect();
        drop(inner);
        let has_evicted = !evicted.is_empty();
        evicted.into_iter().for_each(Pending::expire);
        has_evicted
    }

    /// Evicts a pending handshake so that another one can begin. Returns `false` if none may be evicted.
    pub(crate) fn make_place(&self) -> bool {
        let evicted = self.inner.lock().evict(now());
        evicted.map(Pending::expire).is_some()
    }

    /// Returns the current end position of the list of handshakes. Pass it to [`expire_before`](Self::expire_before) to
    /// evict all handshakes that began earlier.
    pub(crate) fn mark(&self) -> u64 {
        self.inner.lock().next
    }

    /// Evicts all handshakes that had begun when [`mark`](Self::mark) returned this position.
    pub(crate) fn expire_before(&self, mark: u64) {
        let mut inner = self.inner.lock();
        let count = inner.by_number.partition_point(|entry| entry.number < mark);
        let earlier: Vec<_> = (0..count).map_while(|_| inner.remove(0)).collect();
        drop(inner);
        earlier.into_iter().for_each(Pending::expire);
    }
}

/// Pending handshakes of one caller.
#[cfg(feature = "tls")]
#[derive(Debug)]
pub(crate) struct CallerHandshakes {
    list: Arc<HandshakeLimiter>,
    caller: CallerKey,
}

#[cfg(feature = "tls")]
impl crate::tls::CallerHandshakes for CallerHandshakes {
    fn caller(&self) -> CallerKey {
        self.caller
    }

    async fn wait<F>(&self, work: F) -> Option<F::Output>
    where
        F: Future<Output: Send> + Unpin + Send,
    {
        HandshakeLimiter::wait(&self.list, self.caller, work).await
    }
}

/// Guard that removes a connection from the list of pending handshakes. It is dropped when the client has sent its
/// first header or the connection has ended.
#[derive(Debug)]
pub(crate) struct PendingHandshake {
    pub(crate) list: Arc<HandshakeLimiter>,
    number: u64,
    pub(crate) allowed: AllowedProtocols,
}

impl Drop for PendingHandshake {
    fn drop(&mut self) {
        let mut inner = self.list.inner.lock();
        let place = inner.by_number.binary_search_by_key(&self.number, |entry| entry.number);
        let pending = place.ok().and_then(|at| inner.remove(at));
        drop(inner);
        drop(pending); // Dropped without the lock, because this may be the last handle.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_handshakes_of_largest_caller_are_evicted() {
        let (mut inner, start) = (Inner::default(), now());
        let mut enter = |user, at| inner.push(CallerKey::User(user), at, Pending::Greeted(Arc::default()));
        for user in [1, 2, 2, 2, 2] {
            enter(user, start);
        }
        enter(2, start + GRACE);
        let almost = start + GRACE - Duration::from_millis(1);
        assert!(inner.evict(almost).is_none(), "recent handshakes should not be evicted");
        let mut left = |now| {
            let evicted = std::iter::from_fn(|| inner.evict(now)).count();
            (evicted, inner.by_number.iter().map(|entry| entry.number).collect::<Vec<_>>())
        };
        // The connections of a caller are evicted until another caller has as many.
        assert_eq!(left(start + GRACE), (5, vec![5]));
        assert_eq!(left(start + GRACE + GRACE), (1, vec![]));
        assert!(inner.by_caller.is_empty());
    }
}
