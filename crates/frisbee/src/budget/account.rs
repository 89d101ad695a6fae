//! The memory held by one connection, and its share of the server's memory.
//!
//! The share depends on the remaining memory. A connection may hold as much as remains afterwards, so a single one is
//! limited to half of the memory. The connections of one address together may hold three times as much as remains,
//! which is three quarters. Any number of later connections finds room, because the remainder shrinks but never reaches
//! zero. A connection that holds little may always continue, since others of its address may belong to another user.

use super::{Budget, Traffic, TrafficCounts, WAITING_COST};
use crate::debug::opaque_debug;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum memory of the connections of one address, as a multiple of the remaining memory.
const ADDRESS_TIMES: usize = 3;

/// Divisor of the remaining memory: a connection may hold this part of it regardless of others of its address. A
/// quarter of the default memory remains for other addresses, and a queued request takes about a kilobyte, so a
/// connection has room for 256 of them.
const SMALL_PART: usize = 256;

/// The addresses that have connections.
pub(super) type Addresses = HashMap<Option<IpAddr>, AddressState>;

/// The state of an address while it has connections.
#[derive(Debug)]
pub(super) struct AddressState {
    connections: usize,
    address: Arc<Address>,
}

/// The total memory of the connections of one address.
#[derive(Debug)]
struct Address {
    /// The address group, or `None` for a connection that has a budget of its own.
    key: Option<Option<IpAddr>>,
    held: AtomicUsize,
}

impl Address {
    fn new(key: Option<Option<IpAddr>>) -> Arc<Self> {
        Arc::new(Self { key, held: AtomicUsize::new(0) })
    }
}

/// Returns the address group of a peer. An IPv6 host has 2^64 addresses with the same first half. Peers without an
/// address, such as those of Unix sockets, form one group.
fn address_of(peer: Option<IpAddr>) -> Option<IpAddr> {
    peer.map(|peer| match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address @ IpAddr::V4(_) => address,
    })
}

/// The memory account of a connection.
pub(crate) struct Account {
    /// Charged memory of the connection, in bytes.
    held: AtomicUsize,
    address: Arc<Address>,
    /// Traffic counters of a server. Clients have no reader for them.
    traffic: Option<Arc<TrafficCounts>>,
    budget: Arc<Budget>,
}

impl Account {
    /// Creates the account of a connection with a budget of its own.
    pub(crate) fn alone(budget: Arc<Budget>) -> Self {
        Self { held: AtomicUsize::new(0), address: Address::new(None), traffic: None, budget }
    }

    /// Creates the account of a server's connection.
    pub(crate) fn of_peer(budget: &Arc<Budget>, peer: Option<IpAddr>) -> Self {
        let key = address_of(peer);
        let mut addresses = budget.addresses.lock();
        let neighbours =
            addresses.entry(key).or_insert_with(|| AddressState { connections: 0, address: Address::new(Some(key)) });
        neighbours.connections += 1;
        let address = neighbours.address.clone();
        drop(addresses);
        let traffic = Some(budget.counts.traffic.get_or_init(Arc::default).clone());
        Self { held: AtomicUsize::new(0), address, traffic, budget: budget.clone() }
    }

    /// Returns the budget of the server.
    #[inline]
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the charged memory of the connection in bytes.
    pub(crate) fn charged(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Returns whether the connection shares its budget with others, as at a server.
    pub(crate) fn is_shared(&self) -> bool {
        self.address.key.is_some()
    }

    /// Returns whether so little memory remains that shares are enforced.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.budget.is_short()
    }

    /// Returns whether the connection exceeds its share, so that no more work should begin for it.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.budget.is_short() && !self.allows(1, self.budget.available())
    }

    /// Returns whether the connection may hold `count` more bytes.
    pub(crate) fn has_room(&self, count: usize) -> bool {
        self.allows(count, self.budget.available())
    }

    /// Returns how many more bytes the connection may hold.
    #[cold]
    pub(crate) fn room(&self) -> usize {
        let Ok(left) = usize::try_from(self.budget.available()) else { return 0 };
        if !self.is_shared() {
            return left;
        }
        let held = self.held.load(Ordering::Relaxed);
        // Consistent with `allows`: bytes that are taken no longer remain.
        let connection = left.saturating_sub(held) / 2;
        let together = left.saturating_mul(ADDRESS_TIMES).saturating_sub(self.address.held.load(Ordering::Relaxed));
        let small = left.saturating_sub(held.saturating_mul(SMALL_PART)) / (SMALL_PART + 1);
        connection.min(together / (ADDRESS_TIMES + 1)).max(small)
    }

    /// Returns whether the connection may hold `count` more bytes if `left` bytes remain before.
    #[cold]
    fn allows(&self, count: usize, left: isize) -> bool {
        let Some(left) = usize::try_from(left).ok().and_then(|left| left.checked_sub(count)) else { return false };
        if !self.is_shared() {
            return true;
        }
        let held = self.held.load(Ordering::Relaxed).saturating_add(count);
        let together = self.address.held.load(Ordering::Relaxed).saturating_add(count);
        held <= left / SMALL_PART || held <= left && together <= left.saturating_mul(ADDRESS_TIMES)
    }

    /// Takes `count` bytes, unless they exceed the share of the connection.
    pub(crate) fn take(&self, count: usize) -> bool {
        let is_charged = self.budget.take_if(count, |left| self.allows(count, left));
        if is_charged {
            self.add(count);
        }
        is_charged
    }

    /// Charges `count` bytes for an existing object. This may overdraw the budget, so check [`is_over`](Self::is_over)
    /// before work begins.
    pub(crate) fn charge(&self, count: usize) {
        self.budget.charge(count);
        self.add(count);
    }

    /// Charges a request with a pending handler. Returns the charge in bytes.
    pub(crate) fn charge_request(&self, bytes: usize) -> usize {
        let charge = bytes.saturating_add(WAITING_COST);
        self.charge(charge);
        charge
    }

    pub(crate) fn release(&self, count: usize) {
        if count == 0 {
            return;
        }
        self.held.fetch_sub(count, Ordering::Relaxed);
        self.address.held.fetch_sub(count, Ordering::Relaxed);
        self.budget.release(count);
    }

    /// Counts bytes or streams, if the connection belongs to a server.
    #[inline]
    pub(crate) fn count(&self, what: Traffic, count: u64) {
        if let Some(traffic) = &self.traffic {
            traffic.add(what, count);
        }
    }

    /// Returns the traffic counters, if the connection belongs to a server.
    pub(crate) fn traffic(&self) -> Option<Arc<TrafficCounts>> {
        self.traffic.clone()
    }

    /// Changes the charge for unwritten output from `before` to `now`. Client connections are not charged, because
    /// their own handles send the output.
    #[cold]
    pub(super) fn charge_output(&self, before: usize, now: usize) {
        if self.is_shared() {
            self.budget.counts.change_output(before, now);
            self.adjust(before, now);
        }
    }

    /// Changes the charge of an object that has grown or shrunk.
    #[cold]
    pub(crate) fn adjust(&self, before: usize, now: usize) {
        if now > before {
            self.charge(now - before);
        } else {
            self.release(before - now);
        }
    }

    fn add(&self, count: usize) {
        self.held.fetch_add(count, Ordering::Relaxed);
        self.address.held.fetch_add(count, Ordering::Relaxed);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let Some(key) = &self.address.key else { return };
        let mut addresses = self.budget.addresses.lock();
        if let Some(neighbours) = addresses.get_mut(key) {
            neighbours.connections -= 1;
            if neighbours.connections == 0 {
                addresses.remove(key);
                if addresses.len() < addresses.capacity() / 8 {
                    addresses.shrink_to_fit();
                }
            }
        }
    }
}

opaque_debug!([] Account, "Account", |this| held = this.held);

/// Memory that is charged to a connection until this value is dropped; see
/// [`Connection::charge_request`](crate::Connection::charge_request) and
/// [`Connection::charge`](crate::Connection::charge).
#[must_use = "the charge ends when this is dropped"]
pub struct MemoryCharge {
    account: Arc<Account>,
    charge: usize,
}

impl MemoryCharge {
    /// Charges unconditionally.
    pub(crate) fn new(account: &Arc<Account>, bytes: usize) -> Self {
        account.charge(bytes);
        Self::charged(account, bytes)
    }

    /// Charges unless the share of the connection would be exceeded.
    pub(crate) fn try_new(account: &Arc<Account>, bytes: usize) -> Option<Self> {
        account.take(bytes).then(|| Self::charged(account, bytes))
    }

    fn charged(account: &Arc<Account>, charge: usize) -> Self {
        account.budget.counts.change_charged(charge);
        Self { charge, account: account.clone() }
    }

    /// Returns the charge in bytes.
    pub fn bytes(&self) -> usize {
        self.charge
    }

    /// Changes the charge, unless it would exceed the share of the connection. Returns whether it has changed.
    #[must_use]
    pub fn try_resize(&mut self, bytes: usize) -> bool {
        if bytes > self.charge && !self.account.take(bytes - self.charge) {
            return false;
        }
        self.account.release(self.charge.saturating_sub(bytes));
        self.account.budget.counts.change_charged(bytes.wrapping_sub(self.charge));
        self.charge = bytes;
        true
    }

    /// Changes the charge of an object that has grown or shrunk. It may exceed the share of the connection.
    pub fn resize(&mut self, bytes: usize) {
        self.account.adjust(self.charge, bytes);
        self.account.budget.counts.change_charged(bytes.wrapping_sub(self.charge));
        self.charge = bytes;
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.account.budget.counts.change_charged(self.charge.wrapping_neg());
        self.account.release(self.charge);
    }
}

opaque_debug!([] MemoryCharge, "MemoryCharge", |this| charge = this.charge);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stats;

    const MIB: usize = 1 << 20;

    fn of(budget: &Arc<Budget>, last: u8) -> Account {
        Account::of_peer(budget, Some(IpAddr::from([10, 0, 0, last])))
    }

    /// Takes as many pieces as the account allows.
    fn fill(account: &Account, piece: usize) -> usize {
        std::iter::repeat_with(|| account.take(piece)).take_while(|charged| *charged).count() * piece
    }

    #[test]
    fn charged_and_held_memory_is_released() {
        let budget = Arc::new(Budget::new(100_000, 0));
        let account = Arc::new(Account::alone(budget.clone()));
        assert!(account.take(60_000));
        assert!(!account.take(60_000));
        assert!(!account.is_over());
        let hold = MemoryCharge::new(&account, 50_000);
        assert!(account.is_over());
        assert!(!account.take(1));
        drop(hold);
        account.release(60_000);
        assert_eq!(Stats(budget).memory_held(), 0);
    }

    #[test]
    fn a_charge_that_grows_or_shrinks_is_adjusted_by_the_difference() {
        let budget = Arc::new(Budget::new(64 * MIB, 7));
        let account = of(&budget, 1);
        for (before, now) in [(0, 5000), (5000, 7000), (7000, 2000), (2000, 2000)] {
            account.adjust(before, now);
            assert_eq!([account.charged(), budget.charged()], [now, now]);
        }
        account.release(2000);
        assert_eq!([account.charged(), budget.charged()], [0, 0]);
        assert_eq!(budget.per_stream(), 7);
    }

    #[test]
    fn memory_is_short_above_half_of_budget() {
        let budget = Arc::new(Budget::new(1000, 0));
        let account = of(&budget, 1);
        account.charge(499);
        assert!(!budget.is_short() && !account.is_short());
        account.charge(1);
        assert!(budget.is_short() && account.is_short());
    }

    #[test]
    fn resized_charge_is_given_back_in_full() {
        let budget = Arc::new(Budget::new(100_000, 0));
        let account = Arc::new(Account::alone(budget.clone()));
        let stats = Stats(budget);
        let mut charge = MemoryCharge::try_new(&account, 1000).expect("account should have room");
        assert!(MemoryCharge::try_new(&account, 100_000).is_none());
        for bytes in [5000, 200, 0, 7000] {
            charge.resize(bytes);
            assert_eq!((charge.bytes(), account.charged(), stats.charged_bytes()), (bytes, bytes, bytes));
        }
        drop(charge);
        assert_eq!((account.charged(), stats.charged_bytes(), stats.memory_held()), (0, 0, 0));
    }

    #[test]
    fn traffic_is_counted_for_connections_of_servers_alone() {
        let budget = Arc::new(Budget::new(1000, 0));
        of(&budget, 1).count(Traffic::Read, 3);
        Account::alone(budget.clone()).count(Traffic::Read, 5);
        assert_eq!(Stats(budget).bytes_read(), 3);
    }

    #[test]
    fn address_is_tracked_while_it_has_connections() {
        let budget = Arc::new(Budget::new(1000, 0));
        let (first, second) = (of(&budget, 1), of(&budget, 1));
        drop(first);
        assert_eq!(budget.addresses.lock().len(), 1);
        drop(second);
        assert_eq!(budget.addresses.lock().len(), 0);
    }

    #[test]
    fn connection_takes_half_of_memory_and_address_three_quarters() {
        let budget = Arc::new(Budget::new(64 * MIB, 0));
        let first = of(&budget, 1);
        assert_eq!(fill(&first, 4096), 32 * MIB);
        let second = of(&budget, 1);
        assert_eq!(fill(&second, 4096), 16 * MIB);
        assert!(first.is_over() && !second.has_room(4096));
        // Others of this address continue as long as they hold little, and those of other addresses have shares.
        let small = of(&budget, 1);
        assert!(!small.is_over() && small.has_room(32 * 1024) && !small.has_room(128 * 1024));
        assert_eq!(fill(&of(&budget, 2), 4096), 8 * MIB);
    }

    #[test]
    fn ten_thousand_greedy_connections_leave_room_for_one() {
        for addresses in [1, 200] {
            let budget = Arc::new(Budget::new(256 * MIB, 0));
            let accounts: Vec<_> = (0..10_000_usize).map(|number| of(&budget, (number % addresses) as u8)).collect();
            while accounts.iter().any(|account| account.take(1024)) {
                for account in &accounts {
                    account.take(1024);
                }
            }
            for last in [0, 255] {
                let room = of(&budget, last).room();
                assert!(room > 1024, "{room} bytes are left with {addresses} addresses");
            }
        }
    }

    #[test]
    fn an_account_may_take_its_room_and_no_byte_more() {
        let budget = Arc::new(Budget::new(64 * MIB, 0));
        let hogs = [of(&budget, 1), of(&budget, 1), of(&budget, 2)];
        for account in &hogs {
            fill(account, 1000);
        }
        for account in [&hogs[0], &hogs[2], &of(&budget, 1), &of(&budget, 3)] {
            let room = account.room();
            assert!(!account.take(room + 4), "{room}");
            assert!(room == 0 || account.take(room), "{room}");
            account.release(room);
        }
    }

    #[test]
    fn bodies_of_16_to_64_kib_are_charged_as_their_buffer() {
        let kib = 1024;
        let lengths = [0, 16 * kib - 1, 16 * kib, 64 * kib - 1, 64 * kib, 128 * kib];
        let memory = [0, 16 * kib - 1, 128 * kib, 128 * kib, 64 * kib, 128 * kib];
        assert_eq!(lengths.map(crate::budget::body_memory), memory);
    }

    #[test]
    fn connection_share_is_part_of_memory_left_for_its_address() {
        let budget = Arc::new(Budget::new(100_000, 0));
        let [idle, neighbour, stranger] = [1, 1, 2].map(|last| of(&budget, last));
        assert_eq!(idle.room(), 50_000, "half of all");
        neighbour.charge(60_000);
        assert_eq!(idle.room(), (3 * 40_000 - 60_000) / 4, "three quarters for its address");
        assert_eq!(stranger.room(), 20_000);
        neighbour.charge(30_000);
        assert_eq!(idle.room(), 10_000 / 257, "a little in any case");
    }

    #[test]
    fn externally_recorded_traffic_is_added_to_connections() {
        let budget = Arc::new(Budget::new(1000, 0));
        let traffic = of(&budget, 1).traffic().expect("account should belong to a server");
        traffic.add(Traffic::Written, 9);
        assert_eq!(Stats(budget.clone()).bytes_written(), 9);
        assert!(Account::alone(budget).traffic().is_none());
    }

    #[test]
    fn address_is_forgotten_with_last_connection_and_ipv6_groups() {
        let budget = Arc::new(Budget::new(64 * MIB, 0));
        let address = |text: &str| Some(text.parse().expect("text should parse"));
        let peers = ["2001:db8::1", "2001:db8::ffff:1", "::ffff:10.0.0.1", "10.0.0.1"].map(address);
        let accounts = peers.map(|peer| Account::of_peer(&budget, peer));
        let nameless = [(); 2].map(|()| Account::of_peer(&budget, None));
        assert_eq!(budget.addresses.lock().len(), 3);
        drop((accounts, nameless));
        assert!(budget.addresses.lock().is_empty());
    }
}
