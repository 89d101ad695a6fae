//! Limits the number of accepted connections without a first header, by evicting the oldest.

use crate::adapter::{AllowedProtocols, ProtocolAdapters};
use crate::connection::Connection;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

/// The default limit, which is the length of the accept queue. With a thousand new connections per second, each has
/// four seconds to send its first header. An idle Go client sends its first PING after half a second.
pub(crate) const SILENT_MAX: usize = 4096;

/// The divisor that gives the fraction to evict when the system has no file descriptors left. Accepting then pauses for
/// some milliseconds, during which few clients connect.
const PART: usize = 8;

/// The pending handshakes of a server, oldest first.
#[derive(Debug)]
pub(crate) struct HandshakeLimiter {
    max: usize,
    /// Handlers of connections whose first bytes are not a header.
    pub(crate) adapters: ProtocolAdapters,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The pending handshakes, sorted by increasing number.
    by_number: VecDeque<(u64, Pending)>,
    next: u64,
}

/// A connection that has not sent a first header.
#[derive(Clone, Debug)]
enum Pending {
    /// A connection that waits for its first header.
    Driven(Connection),
    /// A connection that waits for its TLS handshake or a proxy's header.
    Greeted(Arc<tokio::sync::Notify>),
}

impl Pending {
    /// Wakes the waiting task, which reads once more and closes the connection if it is still pending.
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

    /// Adds a connection that waits for its first header or for the first bytes of another protocol.
    pub(crate) fn enter(list: &Arc<Self>, connection: Connection, allowed: AllowedProtocols) -> PendingHandshake {
        Self::enter_as(list, Pending::Driven(connection), allowed)
    }

    /// Runs `work`, which waits for a client's TLS handshake or a proxy's header, until the connection is evicted.
    /// Returns `None` in that case.
    pub(crate) async fn wait<F: Future + Unpin>(list: &Arc<Self>, mut work: F) -> Option<F::Output> {
        let expired = Arc::new(tokio::sync::Notify::new());
        let _pending = Self::enter_as(list, Pending::Greeted(expired.clone()), AllowedProtocols::Any);
        let mut expired = pin!(expired.notified());
        let first = poll_fn(|context| match Pin::new(&mut work).poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => expired.as_mut().poll(context).map(|()| None),
        });
        if let Some(done) = first.await {
            return Some(done);
        }
        // On a busy thread, bytes that the client has sent in time may not have been read yet.
        tokio::task::yield_now().await;
        poll_fn(|context| match Pin::new(&mut work).poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    fn enter_as(list: &Arc<Self>, pending: Pending, allowed: AllowedProtocols) -> PendingHandshake {
        let mut inner = list.inner.lock();
        let number = inner.next;
        inner.next += 1;
        inner.by_number.push_back((number, pending));
        let oldest = if inner.by_number.len() > list.max { inner.by_number.pop_front() } else { None };
        drop(inner);
        if let Some((_, oldest)) = oldest {
            oldest.expire();
        }
        PendingHandshake { list: list.clone(), number, allowed }
    }

    /// Evicts the oldest connections because the system has no file descriptors left. Returns `false` if there are
    /// none.
    pub(crate) fn make_room(&self) -> bool {
        let mut inner = self.inner.lock();
        let count = inner.by_number.len().div_ceil(PART);
        let oldest: Vec<_> = (0..count).filter_map(|_| inner.by_number.pop_front()).collect();
        drop(inner);
        oldest.into_iter().for_each(|(_, pending)| pending.expire());
        count > 0
    }

    /// Returns a mark that follows all handshakes pending now.
    pub(crate) fn mark(&self) -> u64 {
        self.inner.lock().next
    }

    /// Evicts all handshakes that precede the mark.
    pub(crate) fn expire_before(&self, mark: u64) {
        let mut inner = self.inner.lock();
        let count = inner.by_number.partition_point(|(number, _)| *number < mark);
        let earlier: Vec<_> = inner.by_number.drain(..count).collect();
        drop(inner);
        earlier.into_iter().for_each(|(_, pending)| pending.expire());
    }
}

#[cfg(feature = "tls")]
impl crate::tls::SilenceLimit for HandshakeLimiter {
    fn wait<F>(self: &Arc<Self>, work: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future<Output: Send> + Send + Unpin,
    {
        Self::wait(self, work)
    }
}

/// A guard that removes a connection from the list. It is dropped when the connection has sent something or has ended.
#[derive(Debug)]
pub(crate) struct PendingHandshake {
    pub(crate) list: Arc<HandshakeLimiter>,
    number: u64,
    pub(crate) allowed: AllowedProtocols,
}

impl Drop for PendingHandshake {
    fn drop(&mut self) {
        let mut inner = self.list.inner.lock();
        let place = inner.by_number.binary_search_by_key(&self.number, |(number, _)| *number);
        let pending = place.ok().and_then(|at| inner.by_number.remove(at));
        drop(inner);
        drop(pending); // This may be the last handle, so it is dropped without the lock.
    }
}
