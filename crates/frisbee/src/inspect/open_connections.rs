//! Open connections of a server. A shutdown waits for them.

use super::ListedConnection;
use crate::Connection;
use crate::adapter::ServerPhase;
use crate::clock::now;
use crate::executor::workers::WorkerWatch;
use crate::runtime::pending_handshakes::HandshakeLimiter;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// Maximum number of connections that are logged individually when a shutdown times out.
const LATE_NAMED: usize = 3;

/// How long a shutdown waits for the first bytes of a client that was just accepted. Clients send immediately, so this
/// covers the longest round trip on Earth and one retransmission.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// All connections of a server: open ones, connections in a handshake, and connections that have not reached their
/// worker yet. A shutdown waits for all of them.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections {
    inner: Mutex<Connections>,
    changed: Notify,
    /// Phase of the server's lifetime. Adapter connections watch it, because their handles are already closed and
    /// cannot pass on a request to close.
    phase: watch::Sender<ServerPhase>,
    /// Workers that drive the connections, if the server has its own threads.
    pub(crate) workers: OnceLock<Vec<WorkerWatch>>,
}

#[derive(Debug, Default)]
struct Connections {
    /// Open connections by number. Ordered by number, so that a shutdown is deterministic in simulations.
    by_number: BTreeMap<u64, Arrival>,
    next: u64,
    phase: ServerPhase,
}

#[derive(Debug)]
struct Arrival {
    accepted: Instant,
    /// Handle of the connection, or `None` until the connection has reached its worker.
    connection: Option<Connection>,
}

impl Arrival {
    /// Returns the list entry of the connection, or `None` if it has not reached its worker.
    fn listed(&self, number: u64) -> Option<ListedConnection> {
        let age = now().saturating_duration_since(self.accepted);
        Some(ListedConnection { number, age, connection: self.connection.clone()? })
    }
}

impl OpenConnections {
    /// Returns a receiver that observes the phase of the server's lifetime.
    pub(crate) fn phase(&self) -> watch::Receiver<ServerPhase> {
        self.phase.subscribe()
    }

    /// Registers an accepted connection. Returns `None` if the server is shutting down.
    pub(crate) fn admit(open: &Arc<Self>) -> Option<OpenConnection> {
        Self::admit_until(open, ServerPhase::Stopping)
    }

    pub(crate) fn admit_until(open: &Arc<Self>, phase: ServerPhase) -> Option<OpenConnection> {
        let mut inner = open.inner.lock();
        // Check the phase under the lock that `begin` takes. Otherwise, a connection could be added after `begin` has
        // collected the handles, and would not be closed.
        if inner.phase >= phase {
            return None;
        }
        let number = inner.next;
        inner.next += 1;
        inner.by_number.insert(number, Arrival { accepted: now(), connection: None });
        Some(OpenConnection { open: open.clone(), number })
    }

    /// Returns up to `max` connections with numbers above `after`, excluding connections that have not reached their
    /// worker.
    pub(crate) fn page(&self, after: Option<u64>, max: usize) -> Vec<ListedConnection> {
        let inner = self.inner.lock();
        let next = inner.by_number.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded));
        next.filter_map(|(number, arrival)| arrival.listed(*number)).take(max).collect()
    }

    /// Returns the connection with this number, if it is open and has reached its worker.
    pub(crate) fn get(&self, number: u64) -> Option<ListedConnection> {
        self.inner.lock().by_number.get(&number)?.listed(number)
    }

    /// Starts a phase of the shutdown, and returns the handles of the open connections.
    fn begin(&self, phase: ServerPhase) -> Vec<Connection> {
        let mut inner = self.inner.lock();
        inner.phase = inner.phase.max(phase);
        let open = inner.by_number.values().filter_map(|arrival| arrival.connection.clone()).collect();
        drop(inner);
        self.phase.send_if_modified(|last| {
            let is_later = *last < phase;
            *last = phase.max(*last);
            is_later
        });
        open
    }

    /// Closes each connection when it is idle. When the timeout expires, closes the remaining ones.
    pub(crate) async fn drain(&self, timeout: Duration, pending_handshakes: &HandshakeLimiter) {
        self.begin(ServerPhase::Stopping).iter().for_each(Connection::close_when_idle);
        if tokio::time::timeout(timeout, self.emptied(pending_handshakes)).await.is_ok() {
            return;
        }
        let late = self.begin(ServerPhase::Closing);
        let count = late.iter().filter(|connection| !connection.0.is_within).count();
        let first: Vec<_> = late.iter().take(LATE_NAMED).map(Connection::in_progress).collect();
        tracing::warn!(target: "frisbee::listener",
            connections = count,
            first = first.join("; "),
            "shutdown timeout reached; closing the remaining connections"
        );
        late.iter().for_each(Connection::abort);
        // Closing takes at most the linger time. Connections that exceed it end together with the workers.
        let _ = tokio::time::timeout(Duration::from_secs(2), self.emptied(pending_handshakes)).await;
    }

    /// Waits until all connections have ended. Clients that have not sent anything are closed earlier than others.
    async fn emptied(&self, pending_handshakes: &HandshakeLimiter) {
        loop {
            // Take the mark before waiting, so that only handshakes that were pending before the wait are expired.
            let mark = pending_handshakes.mark();
            if tokio::time::timeout(FIRST_WORD, self.is_empty()).await.is_ok() {
                return;
            }
            pending_handshakes.expire_before(mark);
        }
    }

    async fn is_empty(&self) {
        loop {
            // Create the future before the check, because `notify_waiters` wakes only existing futures.
            let changed = self.changed.notified();
            if self.inner.lock().by_number.is_empty() {
                return;
            }
            changed.await;
        }
    }
}

/// Guard that stops accepting and closes the remaining connections when dropped.
pub(crate) struct CloseOnDrop(pub(crate) Weak<OpenConnections>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let Some(open) = self.0.upgrade() else { return };
        open.begin(ServerPhase::Closing).iter().for_each(Connection::abort_with_work);
    }
}

/// Guard that removes a connection from the list when its task ends.
pub(crate) struct OpenConnection {
    open: Arc<OpenConnections>,
    number: u64,
}

impl OpenConnection {
    /// Stores the handle of the connection. Returns whether the connection should be driven. This is also the case if a
    /// shutdown has just begun, so that requests that the client has already sent can complete.
    pub(crate) fn connect(&self, connection: &Connection) -> bool {
        let mut inner = self.open.inner.lock();
        let phase = inner.phase;
        if phase < ServerPhase::Closing
            && let Some(arrival) = inner.by_number.get_mut(&self.number)
        {
            arrival.connection = Some(connection.clone());
        }
        drop(inner);
        // A shutdown that begins later finds the stored handle. One that began earlier has missed it, so close the
        // connection here.
        if phase == ServerPhase::Stopping {
            connection.close_when_idle();
        }
        phase < ServerPhase::Closing
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let connection = self.open.inner.lock().by_number.remove(&self.number);
        // Drop the handle outside of the lock. The last handle drops the attachments, and their destructors may run
        // arbitrary code.
        drop(connection);
        self.open.changed.notify_waiters();
    }
}
