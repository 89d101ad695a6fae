//! Callers and their shares of the server's memory.
//!
//! While half of the memory is free, everything is granted. Then a caller may hold three times as much as remains free,
//! or a sixteenth of it if another caller holds much as well. The free memory shrinks with each greedy caller and never
//! reaches zero: after 32 of them in turn, a new one still gets 130 KiB of 64 MiB. A caller alone gets three quarters.
//! Nothing is taken back. Memory in handlers cannot be.

use super::{Account, Budget};
use crate::sync::{AtomicIsize, AtomicUsize, Mutex};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum memory of the only large caller, as a multiple of the free memory.
const ALONE_TIMES: usize = 3;

/// Divisor of the free memory: the share of a caller among other large ones.
const SHARED_PART: usize = 16;

/// Divisor of all memory: a caller that holds more is large.
const LARGE_PART: usize = 256;

/// Divisor of all memory: this part is kept for replies of admitted calls, so that no call that ran is lost.
const REPLIES_PART: usize = 64;

/// Memory that a connection may hold regardless of other connections of its caller, in bytes, because they may belong
/// to other users behind the same address. A queued request takes about a kilobyte.
const SMALL: usize = 8 * 1024;

/// Divisor of all memory: the free part below which [`SMALL`] does not apply, because a caller may have any number of
/// connections.
const SMALL_PART: usize = 16;

/// The identity of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CallerKey {
    /// An IPv4 address, or the first half of an IPv6 address: a host has 2^64 addresses with the same first half.
    Address(IpAddr),
    /// The user at the other end of a Unix socket.
    User(u32),
    /// Peers without an address form one group.
    Unknown,
}

impl CallerKey {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The callers that have connections.
#[derive(Debug, Default)]
pub(super) struct Callers {
    by_key: Mutex<HashMap<CallerKey, CallerEntry>>,
    /// Number of large callers.
    large: AtomicUsize,
}

#[derive(Debug)]
struct CallerEntry {
    connections: usize,
    caller: Arc<Caller>,
}

/// A caller while it has connections.
#[derive(Debug)]
pub(super) struct Caller {
    key: CallerKey,
    /// Memory granted to its connections, in bytes.
    held: AtomicUsize,
    /// Fixed memory of its connections, in bytes.
    fixed: AtomicUsize,
}

/// The fixed memory of connections: state, buffers and, with TLS, keys. It has an account of its own, so that idle
/// connections leave the memory for work alone.
#[derive(Debug)]
pub(super) struct ConnectionMemory {
    total: usize,
    /// Memory of one connection, in bytes.
    each: usize,
    free: AtomicIsize,
    /// Number of large callers.
    large: AtomicUsize,
}

impl ConnectionMemory {
    pub(super) fn new(total: usize, each: usize) -> Self {
        let total = total.min(isize::MAX as usize);
        Self { total, each, free: AtomicIsize::new(total as isize), large: AtomicUsize::new(0) }
    }
}

/// A change of the memory of a caller.
#[derive(Clone, Copy)]
enum Change {
    Add,
    Remove,
}

/// Changes the memory of a caller, and the number of large ones.
fn change(held: &AtomicUsize, large: &AtomicUsize, total: usize, change: Change, count: usize) {
    let is_large = |held| is_large(held, total);
    match change {
        Change::Add => {
            let before = held.fetch_add(count, Ordering::Relaxed);
            if !is_large(before) && is_large(before + count) {
                large.fetch_add(1, Ordering::Relaxed);
            }
        }
        Change::Remove => {
            let before = held.fetch_sub(count, Ordering::Relaxed);
            if is_large(before) && !is_large(before - count) {
                large.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

fn is_large(held: usize, total: usize) -> bool {
    held > total / LARGE_PART
}

/// Returns how many more bytes a caller may hold.
fn share(total: usize, free: usize, held: usize, large: &AtomicUsize) -> usize {
    let has_rivals = large.load(Ordering::Relaxed) > usize::from(is_large(held, total));
    // Bytes that are taken no longer remain free: held + share <= times * (free - share).
    let share = match has_rivals {
        true => free.saturating_sub(held.saturating_mul(SHARED_PART)) / (SHARED_PART + 1),
        false => free.saturating_mul(ALONE_TIMES).saturating_sub(held) / (ALONE_TIMES + 1),
    };
    share.min(free.saturating_sub(total / REPLIES_PART)).max(free.saturating_sub(total / 2))
}

impl Callers {
    pub(super) fn enter(&self, key: CallerKey) -> Arc<Caller> {
        let mut by_key = self.by_key.lock();
        let entry = by_key.entry(key).or_insert_with(|| CallerEntry {
            connections: 0,
            caller: Arc::new(Caller { key, held: AtomicUsize::new(0), fixed: AtomicUsize::new(0) }),
        });
        entry.connections += 1;
        entry.caller.clone()
    }

    pub(super) fn leave(&self, caller: &Caller) {
        let mut by_key = self.by_key.lock();
        let Some(entry) = by_key.get_mut(&caller.key) else { return };
        entry.connections -= 1;
        if entry.connections == 0 {
            by_key.remove(&caller.key);
            if by_key.len() < by_key.capacity() / 8 {
                by_key.shrink_to_fit();
            }
        }
    }

    #[cfg(all(test, not(frisbee_loom)))]
    pub(super) fn len(&self) -> usize {
        self.by_key.lock().len()
    }

    #[cfg(all(test, not(frisbee_loom)))]
    pub(super) fn large(&self) -> usize {
        self.large.load(Ordering::Relaxed)
    }
}

impl Budget {
    /// Returns whether a further connection of this caller fits into the memory of connections.
    pub(crate) fn admits(&self, key: CallerKey) -> bool {
        let ConnectionMemory { total, each, free, large } = &self.connections;
        let by_key = self.callers.by_key.lock();
        let held = by_key.get(&key).map_or(0, |entry| entry.caller.fixed.load(Ordering::Relaxed));
        drop(by_key);
        let free = usize::try_from(free.load(Ordering::Relaxed)).unwrap_or(0);
        *each <= share(*total, free, held, large)
    }

    /// Counts a connection of a caller, which has been admitted.
    fn enter(&self, key: CallerKey) -> Arc<Caller> {
        let caller = self.callers.enter(key);
        let ConnectionMemory { total, each, free, large } = &self.connections;
        free.fetch_sub(*each as isize, Ordering::Relaxed);
        change(&caller.fixed, large, *total, Change::Add, *each);
        caller
    }

    pub(super) fn leave(&self, caller: &Caller) {
        let ConnectionMemory { total, each, free, large } = &self.connections;
        change(&caller.fixed, large, *total, Change::Remove, *each);
        free.fetch_add(*each as isize, Ordering::Relaxed);
        self.callers.leave(caller);
    }

    pub(super) fn add_held(&self, caller: &Caller, count: usize) {
        change(&caller.held, &self.callers.large, self.total, Change::Add, count);
    }

    pub(super) fn remove_held(&self, caller: &Caller, count: usize) {
        change(&caller.held, &self.callers.large, self.total, Change::Remove, count);
    }

    /// Returns how many more bytes a connection with `granted` bytes may hold.
    #[cold]
    pub(super) fn room(&self, caller: &Caller, granted: usize, free: isize) -> usize {
        let Ok(free) = usize::try_from(free) else { return 0 };
        let small = SMALL.saturating_sub(granted).min(free.saturating_sub(self.total / SMALL_PART));
        share(self.total, free, caller.held.load(Ordering::Relaxed), &self.callers.large).max(small)
    }
}

impl Account {
    /// Creates the account of a server's connection.
    pub(crate) fn of_peer(budget: &Arc<Budget>, key: CallerKey) -> Self {
        let traffic = budget.counts.traffic.get_or_init(Arc::default).clone();
        Self::new(budget.clone(), Some(budget.enter(key)), Some(traffic))
    }
}
