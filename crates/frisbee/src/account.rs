//! Accounting of the memory that a server holds for its peers.
//!
//! * `caller.rs`: division among callers
//! * `connection.rs`: account of a connection
//! * `debts.rs`: abuse debts of closed connections
//! * `reservation.rs`: public interface
//! * `waiters.rs`: tasks that wait for memory
//! * `output.rs`: limit of unwritten output
//! * `trim.rs`: return of memory to the system
//! * `counts.rs`: counters of connections and rejections
//! * `traffic.rs`: counters of bytes and streams
//!
//! # Decisions
//!
//! Memory is reserved before it is used, except for small calls. The driver reserves memory for a body that does not
//! arrive in a single read, for each queued message, for each request with a pending handler and, in steps of 16 KiB,
//! for unwritten output. The last 1/64 of the budget is reserved for replies and existing objects, and both may
//! overdraw the budget. Before accepting new work, the driver checks the share of the caller. While at least half of
//! the memory is free, this takes a single atomic load.
//!
//! A connection keeps a reserve of up to an eighth of the memory that it uses. Most reservations and releases then
//! change only the reserve, and need not write to the counters that all connections share.

mod caller;
mod connection;
mod counts;
mod debts;
#[cfg(all(test, frisbee_loom))]
mod model_tests;
mod output;
mod reservation;
#[cfg(all(test, not(frisbee_loom)))]
mod tests;
mod traffic;
mod trim;
mod waiters;

pub use self::caller::ConnectionCharge;
pub use self::caller::network;
pub(crate) use self::caller::{Admission, CallerKey};
use self::caller::{Callers, Pool};
pub(crate) use self::connection::Account;
use self::counts::LimitCounts;
pub use self::counts::{LastClose, Stats};
use self::debts::Debts;
pub(crate) use self::output::Output;
pub use self::reservation::{MemoryBudget, MemoryCharge};
pub(crate) use self::traffic::{Traffic, TrafficCounts};
use self::trim::Trim;
pub use self::waiters::MemoryWaiter;
use self::waiters::Waiters;
#[cfg(unix)]
use nix::sys::resource::{Resource, getrlimit};
use std::sync::atomic::Ordering;

/// Minimum size in bytes of a received body that may share its read buffer. Shorter bodies are copied, because a slice
/// would keep the whole buffer in memory.
pub(crate) const SLICED_MIN: usize = 16 * 1024;

/// Size of a read buffer in bytes: two reads of 64 KiB.
pub(crate) const READ_BUFFER: usize = 128 * 1024;

/// Estimated memory in bytes of a pending handler, in addition to its request: the future, its job slot in the
/// connection, and the state needed to send the reply.
pub(crate) const WAITING_COST: usize = 448;

/// Returns how much memory in bytes a received body of `length` bytes keeps alive. A body of 16 to 64 KiB may be a
/// slice of the 128 KiB read buffer and keep all of it alive. Pass the result to
/// [`ConnectionExt::charge_request`](crate::rpc::ConnectionExt::charge_request).
///
/// ```
/// assert_eq!(frisbee::body_memory(1000), 1000);
/// assert_eq!(frisbee::body_memory(20_000), 128 * 1024);
/// ```
#[inline]
pub const fn body_memory(length: usize) -> usize {
    if SLICED_MIN <= length && length < READ_BUFFER / 2 { READ_BUFFER } else { length }
}

/// Memory budget of a server. It covers bodies being received, unread messages, requests with pending handlers,
/// unwritten output, streams and subscriptions. Also contains the server's counters.
#[derive(Debug)]
pub(crate) struct Budget {
    memory: Pool,
    /// Low-memory threshold in bytes. While less memory is free, each caller is limited to its share of it.
    short: isize,
    /// Maximum size in bytes of unread messages on a stream without flow control. The last message may exceed the
    /// limit.
    per_stream: u64,
    /// Memory pool of the connections themselves: state, buffers and TLS keys. The pool is separate, because otherwise
    /// many idle connections would leave no memory for requests.
    connections: Pool,
    /// Memory in bytes that is charged for each open connection, active or not.
    connection_cost: usize,
    /// Pool of file descriptors, of which each connection with its own socket takes one. A single caller can therefore
    /// not use all descriptors of the process.
    descriptors: Pool,
    callers: Callers,
    debts: Debts,
    waiters: Waiters,
    trim: Trim,
    pub(crate) counts: LimitCounts,
}

impl Budget {
    pub(crate) fn new(total: usize, per_stream: usize) -> Self {
        let memory = Pool::new(total);
        Self {
            short: memory.total as isize / 2,
            trim: Trim::new(memory.total as isize),
            memory,
            connections: Pool::new(usize::MAX),
            connection_cost: 0,
            descriptors: Pool::new(usize::MAX),
            per_stream: per_stream as u64,
            callers: Callers::default(),
            debts: Debts::default(),
            waiters: Waiters::default(),
            counts: LimitCounts::default(),
        }
    }

    /// Limits the memory of the open connections themselves to `total` bytes and charges at least `each` bytes per
    /// connection. Limits the number of connections to that of the process's file descriptors.
    pub(crate) fn with_connections(self, total: usize, each: usize) -> Self {
        Self { connections: Pool::new(total), connection_cost: each, descriptors: Pool::new(descriptors_max()), ..self }
    }

    pub(crate) fn per_stream(&self) -> u64 {
        self.per_stream
    }

    /// Returns the free memory of the budget in bytes. The value is negative while the budget is overdrawn, because
    /// existing objects are always charged.
    #[inline]
    pub(crate) fn available(&self) -> isize {
        self.memory.free.load(Ordering::Relaxed)
    }

    /// Returns whether free memory is below the threshold at which each caller is limited to its share.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.available() <= self.short
    }

    /// Reserves `count` bytes if `allows` returns true for the number of free bytes. Returns whether the bytes were
    /// reserved.
    fn take_if(&self, count: usize, allows: impl Fn(isize) -> bool) -> bool {
        // Check and subtract in one `fetch_update`. With separate steps, two connections could reserve the same free
        // bytes.
        let take = |free: isize| allows(free).then(|| free.saturating_sub_unsigned(count));
        let is_taken = self.memory.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        self.trim.record(self.available());
        is_taken
    }

    /// Charges `count` bytes for an object that already exists. This may overdraw the budget.
    pub(crate) fn charge(&self, count: usize) {
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        let before = self.memory.free.fetch_sub(count, Ordering::Relaxed);
        self.trim.record(before.saturating_sub(count));
    }

    pub(crate) fn release(&self, count: usize) {
        self.release_by(0, count);
    }

    /// Releases `count` bytes. `caller` is the [number](Account::caller_number) of the caller that held them, or 0 if
    /// there is none.
    fn release_by(&self, caller: usize, count: usize) {
        // Add to `free` before calling `wake_waiters`: its fence orders the addition before its load of the waiter
        // count. Otherwise, a task that joins the queue concurrently could miss both the memory and the wake-up.
        self.memory.free.fetch_add(isize::try_from(count).unwrap_or(isize::MAX), Ordering::Relaxed);
        self.wake_waiters(caller);
    }

    /// Returns the size of the memory budget in bytes.
    pub(crate) fn total(&self) -> usize {
        self.memory.total
    }

    /// Returns the memory in bytes that is charged for the open connections themselves.
    pub(crate) fn connection_memory(&self) -> usize {
        let free = self.connections.free.load(Ordering::Relaxed);
        usize::try_from((self.connections.total as isize).saturating_sub(free)).unwrap_or(0)
    }

    /// Returns the number of bytes of the memory budget that are in use.
    pub(crate) fn charged(&self) -> usize {
        usize::try_from((self.total() as isize).saturating_sub(self.available())).unwrap_or(0)
    }
}

/// Returns the maximum number of file descriptors of the process.
fn descriptors_max() -> usize {
    #[cfg(unix)]
    if let Ok((soft, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        return usize::try_from(soft).unwrap_or(usize::MAX);
    }
    usize::MAX
}
