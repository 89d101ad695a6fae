//! The server-wide budget of memory held for peers. `account.rs` divides it among connections and addresses,
//! `memory.rs` is its public interface, `output.rs` bounds unwritten output, `trim.rs` returns memory to the system,
//! `counts.rs` counts connections and rejections, and `traffic.rs` counts bytes and streams.
//!
//! # Decisions
//!
//! Memory held for peers is charged to one budget for the whole server, but not on the path of a small call. A body is charged
//! if it does not arrive in one read, a message when it is queued, a request when its handler is pending, and an outbox once
//! per write, in steps of 16 KiB. Work that has begun may overdraw the budget. Before new work, the driver checks the share of
//! its connection; while half of the memory is free, that takes one load.

mod account;
mod counts;
mod memory;
mod output;
mod traffic;
mod trim;

pub(crate) use self::account::Account;
use self::account::Addresses;
pub use self::account::MemoryCharge;
use self::counts::LimitCounts;
pub use self::counts::{LastClose, Stats};
pub use self::memory::MemoryBudget;
pub(crate) use self::output::Output;
pub(crate) use self::traffic::{Traffic, TrafficCounts};
use self::trim::Trim;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Minimum size of bodies that may be slices of their read buffer and keep all of it.
pub(crate) const SLICED_MIN: usize = 16 * 1024;

/// Size of such a buffer: two reads of 64 KiB.
pub(crate) const READ_BUFFER: usize = 128 * 1024;

/// Memory of a pending handler in addition to its request, in bytes: its future, its slot in the connection's list, and
/// the state needed for its reply.
pub(crate) const WAITING_COST: usize = 768;

/// Returns the memory that a received body of this length keeps, for
/// [`Connection::charge_request`](crate::Connection::charge_request). A body of 16 to 64 KiB may be a slice of the read
/// buffer of 128 KiB and keep all of it.
///
/// ```
/// assert_eq!(frisbee::body_memory(1000), 1000);
/// assert_eq!(frisbee::body_memory(20_000), 128 * 1024);
/// ```
#[inline]
pub const fn body_memory(length: usize) -> usize {
    if SLICED_MIN <= length && length < READ_BUFFER / 2 { READ_BUFFER } else { length }
}

/// The memory that a server holds for its peers, and counters. It consists of bodies being received, unread messages,
/// requests with pending handlers, unwritten output, streams and subscriptions.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Remaining memory in bytes. Negative if work in progress has overdrawn it.
    left: AtomicIsize,
    /// Threshold of remaining memory at which shares of connections are enforced.
    short: isize,
    total: usize,
    /// Maximum memory of a stream whose peer does not support credit. One message may exceed it.
    per_stream: u64,
    addresses: Mutex<Addresses>,
    trim: Trim,
    pub(crate) counts: LimitCounts,
}

impl Budget {
    pub(crate) fn new(total: usize, per_stream: usize) -> Self {
        let total = total.min(isize::MAX as usize);
        Self {
            left: AtomicIsize::new(total as isize),
            short: total as isize / 2,
            total,
            per_stream: per_stream as u64,
            addresses: Mutex::default(),
            trim: Trim::new(total as isize),
            counts: LimitCounts::default(),
        }
    }

    pub(crate) fn per_stream(&self) -> u64 {
        self.per_stream
    }

    /// Returns the remaining memory in bytes.
    #[inline]
    pub(crate) fn available(&self) -> isize {
        self.left.load(Ordering::Relaxed)
    }

    /// Returns whether so little memory remains that shares are enforced.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.available() <= self.short
    }

    /// Takes `count` bytes if `allows` agrees, given the remaining bytes.
    fn take_if(&self, count: usize, allows: impl Fn(isize) -> bool) -> bool {
        let take = |left: isize| allows(left).then(|| left.saturating_sub_unsigned(count));
        let is_charged = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        self.trim.record(self.available());
        is_charged
    }

    /// Charges `count` bytes for an existing object.
    pub(crate) fn charge(&self, count: usize) {
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        let before = self.left.fetch_sub(count, Ordering::Relaxed);
        self.trim.record(before.saturating_sub(count));
    }

    pub(crate) fn release(&self, count: usize) {
        self.left.fetch_add(isize::try_from(count).unwrap_or(isize::MAX), Ordering::Relaxed);
    }

    /// Returns the maximum memory in bytes.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Returns the charged memory in bytes.
    pub(crate) fn charged(&self) -> usize {
        usize::try_from((self.total as isize).saturating_sub(self.available())).unwrap_or(0)
    }
}
