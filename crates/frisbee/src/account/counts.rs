//! Counters of a server's connections, rejected requests and failed accepts.

use super::Budget;
use super::traffic::{Traffic, TrafficCounts};
use crate::log_limit::LogLimit;
use crate::{CloseKind, CloseReason};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Log target of failures to accept connections.
const LISTENER: &str = "frisbee::listener";
const CONNECTION: &str = "frisbee::connection";

/// Counters of a server's limits and failures, and the rate limit of the log events that report them.
#[derive(Debug, Default)]
pub(crate) struct LimitCounts {
    opened: AtomicU64,
    closed: [AtomicU64; CloseKind::ALL.len()],
    rejected: AtomicU64,
    unaccepted: AtomicU64,
    /// Memory in bytes that is charged for unwritten output.
    output: AtomicUsize,
    /// Memory in bytes that is charged by applications and protocol adapters.
    holds: AtomicUsize,
    /// Traffic counters of the server. Created with its first connection.
    pub(super) traffic: OnceLock<Arc<TrafficCounts>>,
    log: LogLimit,
    /// Address of the shared state of the connection with the most recent panic of a handler or router, or 0.
    panicked: AtomicUsize,
    /// Recently closed connections, the latest last.
    last: Mutex<VecDeque<LastClose>>,
}

/// Number of recently closed connections that are recorded.
const LAST_MAX: usize = 64;

/// A recently closed connection, for diagnostics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LastClose {
    /// Remote address of the peer, if it had one.
    pub peer: Option<SocketAddr>,
    /// Reason why the connection was closed.
    pub reason: CloseReason,
    /// Time at which the connection ended.
    pub at: Instant,
}

impl LimitCounts {
    pub(crate) fn count_opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the most recently closed connections, latest first.
    pub(crate) fn last_closed(&self) -> Vec<LastClose> {
        self.last.lock().iter().rev().cloned().collect()
    }

    /// Adds the change of one connection's charge for unwritten output, from `before` to `now` bytes, to the server's
    /// total.
    pub(crate) fn change_output(&self, before: usize, now: usize) {
        // If the charge decreases, the difference wraps around, and adding it subtracts.
        self.output.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Adds `more` bytes to the total memory charged by applications and protocol adapters. Pass a decrease as a
    /// wrapped negative number.
    pub(super) fn change_charged(&self, more: usize) {
        self.holds.fetch_add(more, Ordering::Relaxed);
    }

    fn traffic(&self, what: Traffic) -> u64 {
        self.traffic.get().map_or(0, |counted| counted.sum(what))
    }

    /// Records that a handler or the router of a connection has panicked. `connection` is the
    /// [number](crate::Connection::address_of_shared) that identifies the connection.
    pub(crate) fn note_panic(&self, connection: usize) {
        self.panicked.store(connection, Ordering::Relaxed);
    }

    /// Returns whether the most recent panic occurred on this connection, and clears the record of the panic.
    pub(crate) fn take_panic(&self, connection: usize) -> bool {
        // Clear the record only if it is still this connection's, because a later panic of another connection may have
        // replaced it.
        self.panicked.compare_exchange(connection, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn count_rejected(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts and logs that a connection could not be accepted.
    pub(crate) fn count_unaccepted(&self, error: &io::Error, pause: Duration, now: Instant) {
        self.unaccepted.fetch_add(1, Ordering::Relaxed);
        match self.log.may_log("accepting", now) {
            Some(unsaid) => tracing::warn!(target: LISTENER, %error, ?pause, suppressed = unsaid, "accepting failed"),
            None => tracing::trace!(target: LISTENER, %error, ?pause, "accepting failed"),
        }
    }

    /// Counts a closed connection. Logs it if the peer caused the close or TLS is misconfigured at either end.
    pub(crate) fn count_closed(&self, peer: Option<SocketAddr>, reason: &CloseReason, now: Instant) {
        self.count_ended(peer, reason, reason.is_peers_fault(), now);
    }

    /// Like [`count_closed`](Self::count_closed), but for a connection that was rejected because of the bytes before
    /// its first frame, such as a PROXY header.
    pub(crate) fn count_refused(&self, peer: Option<SocketAddr>, reason: &CloseReason, now: Instant) {
        // Count the connection as opened too, because the number of open connections is the difference of the two
        // counters.
        self.count_opened();
        self.count_ended(peer, reason, true, now);
    }

    fn count_ended(&self, peer: Option<SocketAddr>, reason: &CloseReason, is_peers_fault: bool, now: Instant) {
        let kind = reason.kind();
        if let Some(count) = self.closed.get(kind as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let ended = LastClose { peer, reason: reason.clone(), at: now };
        let mut last = self.last.lock();
        let oldest = if last.len() >= LAST_MAX { last.pop_front() } else { None };
        last.push_back(ended);
        drop(last);
        // Free the record outside of the lock, because its reason may contain a long text.
        drop(oldest);
        let is_about_tls = matches!(kind, CloseKind::TlsHandshake | CloseKind::NotTls | CloseKind::SpeaksTls);
        if !is_peers_fault && !is_about_tls {
            return tracing::debug!(target: CONNECTION, ?peer, %reason, "connection ended");
        }
        let Some(suppressed) = self.log.may_log((peer.map(|peer| peer.ip()), kind), now) else {
            return tracing::trace!(target: CONNECTION, ?peer, %reason, "connection closed");
        };
        match kind {
            CloseKind::TlsHandshake => {
                tracing::warn!(target: CONNECTION, ?peer, %reason, suppressed, "connection closed after a failed TLS handshake");
            }
            CloseKind::NotTls | CloseKind::SpeaksTls => {
                tracing::warn!(target: CONNECTION, ?peer, %reason, suppressed, "connection closed: only one end speaks TLS");
            }
            _ => {
                tracing::warn!(target: CONNECTION, ?peer, %reason, suppressed, "connection closed because of an error of its peer");
            }
        }
    }
}

/// Counters of a server's connections and of the memory held for its peers. Clones refer to the same server. Reading a
/// counter costs a single load.
///
/// ```
/// # fn example(server: frisbee::Server<frisbee::Handlers>) {
/// let stats = server.stats();
/// println!("{} of {} connections are open", stats.open(), stats.opened());
/// println!("{} of {} bytes are held", stats.memory_held(), stats.memory_max());
/// for (kind, count) in stats.closed() {
///     println!("{kind:?}: {count}");
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Stats(pub(crate) Arc<Budget>);

impl Stats {
    /// Returns the number of connections opened since the server was created.
    pub fn opened(&self) -> u64 {
        self.0.counts.opened.load(Ordering::Relaxed)
    }

    /// Returns the number of open connections.
    pub fn open(&self) -> u64 {
        // Load the counters of closed connections first. Otherwise, connections that open and close between the loads
        // would be subtracted without having been added.
        let closed = self.closed().map(|(_, count)| count).sum();
        self.opened().saturating_sub(closed)
    }

    /// Returns the number of closed connections for each kind of close reason.
    pub fn closed(&self) -> impl Iterator<Item = (CloseKind, u64)> {
        CloseKind::ALL.into_iter().map(|kind| (kind, self.closed_by(kind)))
    }

    /// Returns the number of connections that were closed for a reason of this kind.
    pub fn closed_by(&self, kind: CloseKind) -> u64 {
        self.0.counts.closed.get(kind as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Returns the number of requests, streams and messages that were rejected because a limit of the server was
    /// reached.
    pub fn rejected(&self) -> u64 {
        self.0.counts.rejected.load(Ordering::Relaxed)
    }

    /// Returns the number of failures to accept a connection, for example because there were no file descriptors left.
    pub fn not_accepted(&self) -> u64 {
        self.0.counts.unaccepted.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes received from peers. Includes bytes that the handlers of
    /// [adapter](crate::ServerBuilder::adapter) connections read from their [`RawTransport`](crate::RawTransport). Does
    /// not include the overhead of TLS if this server terminates it.
    pub fn bytes_read(&self) -> u64 {
        self.0.counts.traffic(Traffic::Read)
    }

    /// Returns the number of bytes written to peers, with the same scope as [`bytes_read`](Self::bytes_read).
    pub fn bytes_written(&self) -> u64 {
        self.0.counts.traffic(Traffic::Written)
    }

    /// Returns the number of streams opened by either side since the server was created.
    pub fn streams_opened(&self) -> u64 {
        self.0.counts.traffic(Traffic::StreamsOpened)
    }

    /// Returns the number of streams that are open or still referenced by a handle.
    pub fn streams(&self) -> u64 {
        // Load the number of ended streams first. A stream that opens and ends between the two loads would otherwise
        // count as ended but not as opened.
        let ended = self.0.counts.traffic(Traffic::StreamsEnded);
        self.streams_opened().saturating_sub(ended)
    }

    /// Returns the amount of unwritten output of frame connections in bytes, in steps of 16 KiB per connection.
    pub fn output_waiting(&self) -> usize {
        self.0.counts.output.load(Ordering::Relaxed)
    }

    /// Returns the memory charged by [`ConnectionExt::charge_request`](crate::rpc::ConnectionExt::charge_request) and
    /// [`AdapterContext::charge`](crate::AdapterContext::charge) in bytes: partially received large requests and
    /// unwritten replies of protocol adapters, and the memory of handlers.
    pub fn charged_bytes(&self) -> usize {
        self.0.counts.holds.load(Ordering::Relaxed)
    }

    /// Returns the memory in bytes that the server currently uses for its peers, which
    /// [`memory_max`](crate::ServerBuilder::memory_max) limits. It consists of input, unwritten output in steps of 16
    /// KiB, streams and subscriptions.
    pub fn memory_held(&self) -> usize {
        self.0.charged()
    }

    /// Returns the memory in bytes that is charged for the open connections themselves, which
    /// [`connection_memory_max`](crate::ServerBuilder::connection_memory_max) limits.
    pub fn connection_memory_held(&self) -> usize {
        self.0.connection_memory()
    }

    /// Returns the maximum memory held for peers in bytes; see [`memory_max`](crate::ServerBuilder::memory_max).
    pub fn memory_max(&self) -> usize {
        self.0.total()
    }
}

impl fmt::Debug for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stats = f.debug_struct("Stats");
        stats.field("opened", &self.opened()).field("open", &self.open()).field("rejected", &self.rejected());
        stats.field("bytes_read", &self.bytes_read()).field("bytes_written", &self.bytes_written());
        stats.field("streams", &self.streams()).field("output_waiting", &self.output_waiting());
        stats.field("holds", &self.charged_bytes());
        stats.field("memory_held", &self.memory_held()).field("not_accepted", &self.not_accepted());
        for (kind, count) in self.closed().filter(|(_, count)| *count > 0) {
            stats.field(kind.name(), &count);
        }
        stats.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn debug_output_names_every_counter() {
        let budget = Arc::new(Budget::new(1000, 0));
        let (counts, stats, now) = (&budget.counts, Stats(budget.clone()), Instant::now());
        let times = |count: usize, what: &dyn Fn()| (0..count).for_each(|_| what());
        times(9, &|| counts.count_opened());
        times(2, &|| counts.count_closed(None, &CloseReason::Local, now));
        times(3, &|| counts.count_refused(None, &CloseReason::Truncated, now));
        times(4, &|| counts.count_rejected());
        times(5, &|| counts.count_unaccepted(&io::ErrorKind::OutOfMemory.into(), Duration::ZERO, now));
        let traffic = [Traffic::Read, Traffic::Written, Traffic::StreamsOpened, Traffic::StreamsEnded];
        let of_server = counts.traffic.get_or_init(Arc::default);
        traffic.into_iter().zip([6, 7, 8, 3]).for_each(|(what, count)| of_server.add(what, count));
        counts.change_output(10, 30);
        counts.change_output(30, 25);
        counts.change_charged(20);
        counts.change_charged(3_usize.wrapping_neg());
        budget.charge(11);
        assert_eq!([stats.opened(), stats.open(), stats.rejected(), stats.not_accepted()], [12, 7, 4, 5]);
        assert_eq!([CloseKind::Local, CloseKind::Truncated].map(|kind| stats.closed_by(kind)), [2, 3]);
        assert_eq!(stats.closed().map(|(_, count)| count).sum::<u64>(), 5);
        let traffic = [stats.bytes_read(), stats.bytes_written(), stats.streams_opened(), stats.streams()];
        assert_eq!(traffic, [6, 7, 8, 5]);
        assert_eq!([stats.output_waiting(), stats.memory_held(), stats.memory_max()], [15, 11, 1000]);
        assert_eq!(stats.charged_bytes(), 17);
    }

    #[test]
    fn oldest_connection_ends_are_evicted() {
        let counts = LimitCounts::default();
        let most = u16::try_from(LAST_MAX).expect("maximum number of close records should fit into u16");
        for port in 1..=most + 2 {
            counts.count_closed(Some((Ipv4Addr::LOCALHOST, port).into()), &CloseReason::Local, Instant::now());
        }
        let ports = counts.last_closed().into_iter().filter_map(|ended| ended.peer).map(|peer| peer.port());
        assert!(ports.eq((3..=most + 2).rev()), "latest connections should be listed first");
    }
}
