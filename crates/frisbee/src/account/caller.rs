//! Division of the server's memory among callers.
//!
//! While at least half of the memory is free, callers are not limited. Beyond that, a caller may hold at most three
//! times as much memory as remains free, or 1/16 of the free memory if another caller is also large. A single caller
//! thus gets three quarters. Each greedy caller reduces the free memory, but never to zero: after 32 of them, a new
//! caller still gets 130 KiB of 64 MiB. Granted memory is not revoked, because a running handler cannot release it.

use super::{Account, Budget};
use crate::debug::opaque_debug;
use crate::sync::{AtomicIsize, AtomicUsize, Mutex};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Limit of a single large caller, as a multiple of the memory that remains free.
const ALONE_TIMES: usize = 3;

/// Fraction of the free memory (1/16) that each caller may hold while several callers are large.
const SHARED_PART: usize = 16;

/// Fraction of the total memory (1/256) above which a caller counts as large. If several callers are large, the share
/// of each caller is reduced.
const LARGE_PART: usize = 256;

/// Fraction of the total memory (1/64) that is reserved for replies. Without the reserve, the results of completed
/// calls would be lost.
const REPLIES_PART: usize = 64;

/// Memory in bytes that each connection may hold even if its caller's share is used up, because other users behind the
/// same address may have used it. A queued request takes about 1 KiB.
const SMALL: usize = 8 * 1024;

/// Fraction of the total memory (1/16) that must be free for connections to have the allowance of [`SMALL`] bytes.
/// Without this condition, a caller could bypass its limit with many connections.
const SMALL_PART: usize = 16;

/// Maximum number of /64 networks per /48 network that count as separate callers. Further ones count as a single
/// caller. Many sites have a /48 network, and could otherwise act as 65 536 callers.
const NETWORKS_PER_SITE: usize = 15;

/// Key that identifies a caller. All connections of a caller use its share of the server's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum CallerKey {
    /// A [`network`], or the first address of a /48 network with more than [`NETWORKS_PER_SITE`] callers.
    Address(IpAddr),
    /// User id of the peer process on a Unix socket.
    #[cfg_attr(not(unix), allow(dead_code))]
    User(u32),
    /// Hash of the peer's verified certificate. Clients behind one address thus have separate shares, and a client with
    /// many addresses has only one share.
    #[cfg(feature = "tls")]
    Certificate(u64),
    /// All peers of connectionless transports, because their addresses may be forged.
    Datagrams,
    /// All peers without an address.
    Unknown,
}

impl CallerKey {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self::Address(network(address))
    }

    /// Returns the key under which `callers` counts this caller. This is `self`, or the first address of its /48
    /// network if [`NETWORKS_PER_SITE`] other networks of that site are already counted.
    pub(crate) fn among<T>(self, callers: &BTreeMap<Self, T>) -> Self {
        let Self::Address(IpAddr::V6(network)) = self else { return self };
        let (key, rest) = (|bits| Self::Address(Ipv6Addr::from_bits(bits).into()), u128::MAX >> 48);
        let site = network.to_bits() & !rest;
        let has_place = || callers.range(key(site)..=key(site | rest)).count() < NETWORKS_PER_SITE;
        // Keep the entry of a known network even if its site has reached the limit. Otherwise, its connections would be
        // split between two callers, each with its own share.
        if callers.contains_key(&self) || has_place() { self } else { key(site) }
    }
}

/// Returns the network that limits by address should apply to: the IPv4 address itself, or the /64 network of an IPv6
/// address, because a host can usually use all addresses of its /64 network.
///
/// ```
/// use frisbee::rpc::network;
/// use std::net::IpAddr;
///
/// let [first, second, mapped] = ["2001:db8::1", "2001:db8::2", "::ffff:192.0.2.1"].map(|text| text.parse().unwrap());
/// assert_eq!(network(first), network(second));
/// assert_eq!(network(mapped), IpAddr::from([192, 0, 2, 1]));
/// ```
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// Memory usage of each caller that has open connections.
#[derive(Debug, Default)]
pub(super) struct Callers(Mutex<BTreeMap<CallerKey, CallerEntry>>);

#[derive(Debug)]
struct CallerEntry {
    connections: usize,
    caller: Arc<Caller>,
}

/// Memory usage of one caller across all its open connections.
pub(super) struct Caller {
    pub(super) key: CallerKey,
    budget: Arc<Budget>,
    /// Memory in bytes that the caller's requests and replies use.
    pub(super) held: AtomicUsize,
    /// Memory in bytes of the caller's connections themselves: state, buffers and TLS keys.
    fixed: AtomicUsize,
    /// Number of file descriptors of the caller's open connections.
    descriptors: AtomicUsize,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("key", &self.key).field("held", &self.held).finish_non_exhaustive()
    }
}

/// Charge for a connection: its memory and its file descriptors. Released when dropped.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(super) caller: Arc<Caller>,
    /// Number of charged file descriptors: 1, or 0 if the peer has no socket of its own.
    descriptors: usize,
}

impl Admission {
    /// Charges `bytes` more bytes for the connection itself. Returns `None` if the caller's share of the memory pool of
    /// connections is used up.
    pub(crate) fn charge(&self, bytes: usize) -> Option<ConnectionCharge> {
        let caller = self.caller.clone();
        // Hold the lock from the check until the memory is charged, so that concurrent connections of a caller cannot
        // exceed its share together.
        let _callers = self.caller.budget.callers.0.lock();
        let connections = &self.caller.budget.connections;
        if !connections.has_room(&caller.fixed, bytes) {
            return None;
        }
        connections.take(&caller.fixed, bytes);
        Some(ConnectionCharge { caller, bytes })
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.caller.budget.leave(self);
    }
}

/// Memory charge for a connection that an adapter serves; see
/// [`AdapterContext::charge_connection`](crate::AdapterContext::charge_connection). Released when dropped.
#[must_use = "the charge ends when this is dropped"]
pub struct ConnectionCharge {
    caller: Arc<Caller>,
    bytes: usize,
}

opaque_debug!([] ConnectionCharge, "ConnectionCharge", |this| bytes = this.bytes);

impl Drop for ConnectionCharge {
    fn drop(&mut self) {
        self.caller.budget.connections.release(&self.caller.fixed, self.bytes);
    }
}

/// A limited resource that all callers share: bytes of memory, or file descriptors.
#[derive(Debug)]
pub(super) struct Pool {
    /// Number of free bytes or descriptors. Negative while the pool is overdrawn, because existing objects are always
    /// charged.
    pub(super) free: AtomicIsize,
    pub(super) total: usize,
    /// Number of callers that hold a large part of this pool. If there are two or more, the share of every caller is
    /// smaller.
    large: AtomicUsize,
}

impl Pool {
    pub(super) fn new(total: usize) -> Self {
        let total = total.min(isize::MAX as usize);
        Self { free: AtomicIsize::new(total as isize), total, large: AtomicUsize::new(0) }
    }

    fn is_large(&self, held: usize) -> bool {
        held > self.total / LARGE_PART
    }

    /// Returns whether a caller that holds `held` may take `count` from this pool.
    fn has_room(&self, held: &AtomicUsize, count: usize) -> bool {
        let free = usize::try_from(self.free.load(Ordering::Relaxed)).unwrap_or(0);
        count <= self.share(held.load(Ordering::Relaxed), free)
    }

    fn take(&self, held: &AtomicUsize, count: usize) {
        self.free.fetch_sub(count as isize, Ordering::Relaxed);
        self.add_held(held, count);
    }

    fn release(&self, held: &AtomicUsize, count: usize) {
        self.remove_held(held, count);
        self.free.fetch_add(count as isize, Ordering::Relaxed);
    }

    pub(super) fn add_held(&self, held: &AtomicUsize, count: usize) {
        let before = held.fetch_add(count, Ordering::Relaxed);
        // Only the update that crosses the threshold changes `large`, so each caller is counted once.
        if !self.is_large(before) && self.is_large(before + count) {
            self.large.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn remove_held(&self, held: &AtomicUsize, count: usize) {
        let before = held.fetch_sub(count, Ordering::Relaxed);
        if self.is_large(before) && !self.is_large(before - count) {
            self.large.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns how many more bytes of the pool a caller may take. The caller already holds `held` bytes, and `free`
    /// bytes of the pool are free.
    fn share(&self, held: usize, free: usize) -> usize {
        // `large` includes this caller if it is large, so subtract it to count only its competitors.
        let has_rivals = self.large.load(Ordering::Relaxed) > usize::from(self.is_large(held));
        // Taken bytes reduce the free memory: solve held + share <= times * (free - share).
        let share = match has_rivals {
            true => free.saturating_sub(held.saturating_mul(SHARED_PART)) / (SHARED_PART + 1),
            false => free.saturating_mul(ALONE_TIMES).saturating_sub(held) / (ALONE_TIMES + 1),
        };
        // Any caller may take free memory above half of the pool.
        share.min(free.saturating_sub(self.total / REPLIES_PART)).max(free.saturating_sub(self.total / 2))
    }
}

#[cfg(all(test, not(frisbee_loom)))]
impl Callers {
    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl Budget {
    /// Admits a connection of this caller. Returns `None` if the caller's share of the file descriptors, or of the
    /// memory pool of connections, is used up.
    pub(crate) fn admit(self: &Arc<Self>, key: CallerKey) -> Option<Admission> {
        self.admit_with(key, 1)
    }

    /// Like [`admit`](Self::admit), but without a file descriptor, for peers that share the socket of a listener. If
    /// they were charged one, datagrams from forged addresses could use up all descriptors.
    pub(crate) fn admit_without_socket(self: &Arc<Self>, key: CallerKey) -> Option<Admission> {
        self.admit_with(key, 0)
    }

    fn admit_with(self: &Arc<Self>, key: CallerKey, descriptors: usize) -> Option<Admission> {
        // Hold the lock from the check until the connection is charged. Otherwise, concurrent accepts could all pass
        // the check and exceed the share.
        let mut callers = self.callers.0.lock();
        let key = key.among(&callers);
        let zero = AtomicUsize::new(0);
        let held = callers.get(&key).map(|entry| &*entry.caller);
        let (fixed, open) = held.map_or((&zero, &zero), |caller| (&caller.fixed, &caller.descriptors));
        let has_memory = self.connections.has_room(fixed, self.connection_cost);
        let is_admitted = has_memory && self.descriptors.has_room(open, descriptors);
        is_admitted.then(|| self.enter_among(&mut callers, key, descriptors))
    }

    /// Admits a connection even if the caller's share is used up.
    pub(crate) fn enter(self: &Arc<Self>, key: CallerKey) -> Admission {
        self.enter_with(key, 1)
    }

    /// Like [`enter`](Self::enter), but without a file descriptor, for peers that share the socket of a connection.
    pub(crate) fn enter_without_socket(self: &Arc<Self>, key: CallerKey) -> Admission {
        self.enter_with(key, 0)
    }

    fn enter_with(self: &Arc<Self>, key: CallerKey, descriptors: usize) -> Admission {
        let mut callers = self.callers.0.lock();
        let key = key.among(&callers);
        self.enter_among(&mut callers, key, descriptors)
    }

    fn enter_among(
        self: &Arc<Self>,
        callers: &mut BTreeMap<CallerKey, CallerEntry>,
        key: CallerKey,
        descriptors: usize,
    ) -> Admission {
        let entry = callers.entry(key).or_insert_with(|| {
            let (held, fixed, descriptors) = Default::default();
            let caller = Caller { key, budget: self.clone(), held, fixed, descriptors };
            CallerEntry { connections: 0, caller: Arc::new(caller) }
        });
        entry.connections += 1;
        self.connections.take(&entry.caller.fixed, self.connection_cost);
        self.descriptors.take(&entry.caller.descriptors, descriptors);
        Admission { caller: entry.caller.clone(), descriptors }
    }

    fn leave(&self, Admission { caller, descriptors }: &Admission) {
        self.connections.release(&caller.fixed, self.connection_cost);
        self.descriptors.release(&caller.descriptors, *descriptors);
        let mut callers = self.callers.0.lock();
        let Some(entry) = callers.get_mut(&caller.key) else { return };
        entry.connections -= 1;
        let last = if entry.connections == 0 { callers.remove(&caller.key) } else { None };
        drop(callers);
        // Release the lock before dropping the entry. The destructor of a caller drops an `Arc<Budget>`, and the budget
        // owns the locked map.
        drop(last);
    }

    /// Returns how many more bytes a connection may take from the budget. The connection has been granted `granted`
    /// bytes so far, and `free` bytes of the budget are free.
    #[cold]
    pub(super) fn room(&self, caller: &Caller, granted: usize, free: isize) -> usize {
        let Ok(free) = usize::try_from(free) else { return 0 };
        let small = SMALL.saturating_sub(granted).min(free.saturating_sub(self.total() / SMALL_PART));
        self.memory.share(caller.held.load(Ordering::Relaxed), free).max(small)
    }

    #[cfg(all(test, not(frisbee_loom)))]
    pub(super) fn large_callers(&self) -> usize {
        self.memory.large.load(Ordering::Relaxed)
    }
}

impl Account {
    /// Creates the memory account of a connection that a server has admitted.
    pub(crate) fn of_peer(admission: Admission) -> Self {
        let budget = admission.caller.budget.clone();
        let traffic = budget.counts.traffic.get_or_init(Arc::default).clone();
        Self::new(budget, Some(admission), Some(traffic))
    }

    /// Charges `bytes` more bytes for the connection itself; see [`Admission::charge`].
    pub(crate) fn charge_connection(&self, bytes: usize) -> Option<ConnectionCharge> {
        self.admission.as_ref()?.charge(bytes)
    }

    /// Returns the network of the caller, or `None` if the caller is not identified by its address.
    pub(crate) fn network(&self) -> Option<IpAddr> {
        match self.admission.as_ref()?.caller.key {
            CallerKey::Address(network) => Some(network),
            _ => None,
        }
    }
}
