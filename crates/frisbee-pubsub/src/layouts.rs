//! Storage of message layout descriptions at a broker, for subscribers with other schema versions.
//!
//! A publisher of a typed topic announces the description of its messages. A subscriber that receives a message of
//! another version requests the description by its fingerprint. A broker that does not have the description requests it
//! from the other brokers of its bus, and replies when it arrives. The client limits the duration of the wait.

use super::{Kind, put};
use crate::broker::BrokerShared;
use crate::bus;
use crate::fanout::Source as _;
use crate::queue::Subscriber;
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, MemoryCharge, Outbox, PacketId, Routed};
use parking_lot::Mutex;
use polyglot::layout::{DESCRIPTION_MAX, Description, Fingerprint};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;
use tokio::time::Instant;

/// How long a subscriber waits for a description. It is longer than a round trip to another broker of the bus.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number and total size in bytes of the descriptions that a broker keeps: a thousand message types of 4 KiB.
pub(crate) const KEPT_MAX: (usize, usize) = (1024, 4 * 1024 * 1024);

/// Memory of a stored description in bytes, in addition to its length. Includes its entry in the eviction queue.
const KEPT_COST: usize = 320;

/// Maximum number of pending requests for descriptions: of a broker, and of one connection. A connection has at most
/// one request for each of its subscriptions.
pub(crate) const WANTED_MAX: (usize, usize) = (1024, 16);

/// Divisor that limits the pending requests of an IP address to 1/8 of those that other addresses leave free. Even if
/// 32 addresses use their share, 14 of 1024 requests remain free.
const WANTED_PART: usize = 8;

/// Descriptions that a broker stores, and the subscribers that wait for a description it does not have yet.
#[derive(Debug, Default)]
pub(super) struct Layouts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    kept: BTreeMap<[u8; 16], Kept>,
    /// Fingerprints of the stored descriptions by the address of their publisher, each with its sequence number. The
    /// oldest one of an address is the first in its queue.
    by_publisher: BTreeMap<Option<IpAddr>, VecDeque<(u64, [u8; 16])>>,
    bytes: usize,
    /// Sequence number of the most recently stored description.
    last: u64,
    wanted: Vec<Wanted>,
}

impl Layouts {
    /// Removes the pending requests of a connection that has ended.
    pub(super) fn forget(&self, reader: &Connection) {
        self.0.lock().wanted.retain(|wanted| !wanted.reader.is_same(reader));
    }

    #[cfg(test)]
    pub(super) fn want(&self, fingerprint: [u8; 16], reader: &Connection, address: Option<IpAddr>) {
        self.0.lock().want(fingerprint, reader, address);
    }

    /// Returns the number of stored descriptions, their total length in bytes, and the number of pending requests.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let state = self.0.lock();
        (state.kept.len(), state.bytes, state.wanted.len())
    }
}

#[derive(Debug)]
struct Kept {
    description: Bytes,
    _charge: MemoryCharge,
}

#[derive(Debug)]
struct Wanted {
    fingerprint: [u8; 16],
    reader: Connection,
    address: Option<IpAddr>,
    until: Instant,
}

impl State {
    /// Stores a valid description unless it is already stored, and charges its memory to the connection `by`. If the
    /// limits are exceeded, evicts the oldest descriptions of the publisher address with the most descriptions. Returns
    /// `None` if there is no memory for the description.
    fn keep(
        &mut self,
        fingerprint: [u8; 16],
        description: &[u8],
        by: &Connection,
        publisher: Option<IpAddr>,
    ) -> Option<()> {
        if self.kept.contains_key(&fingerprint) {
            return Some(());
        }
        let charge = by.try_charge(KEPT_COST + description.len())?;
        while self.kept.len() >= KEPT_MAX.0 || self.bytes + description.len() > KEPT_MAX.1 {
            self.evict_one()?;
        }
        self.last += 1;
        self.bytes += description.len();
        let description = Bytes::copy_from_slice(description);
        self.kept.insert(fingerprint, Kept { description, _charge: charge });
        self.by_publisher.entry(publisher).or_default().push_back((self.last, fingerprint));
        Some(())
    }

    /// Evicts the oldest description of the address with the most descriptions. On a tie, evicts the oldest description
    /// of these addresses. Returns `None` if no description is stored.
    fn evict_one(&mut self) -> Option<()> {
        // The broker's lock is held, so do not search the descriptions. An address may have stored all of them.
        let share = |(_, queue): &(&Option<IpAddr>, &mut VecDeque<(u64, _)>)| {
            (queue.len(), Reverse(queue.front().map(|(number, _)| *number)))
        };
        let (&publisher, queue) = self.by_publisher.iter_mut().max_by_key(share)?;
        let (_, oldest) = queue.pop_front()?;
        if queue.is_empty() {
            self.by_publisher.remove(&publisher);
        }
        self.bytes -= self.kept.remove(&oldest)?.description.len();
        Some(())
    }

    /// Registers a request for a description, unless the connection or its address has too many pending requests.
    /// Returns `true` if this is the first pending request for the description, so that the caller must query the other
    /// brokers.
    fn want(&mut self, fingerprint: [u8; 16], reader: &Connection, address: Option<IpAddr>) -> bool {
        let now = Instant::now();
        self.wanted.retain(|wanted| wanted.until > now);
        let own = self.wanted.iter().filter(|wanted| wanted.reader.is_same(reader)).count();
        let of_address = self.wanted.iter().filter(|wanted| wanted.address == address).count();
        let free = WANTED_MAX.0 - self.wanted.len();
        if own >= WANTED_MAX.1 || of_address >= (free + of_address).div_ceil(WANTED_PART) {
            return false;
        }
        let is_first = !self.wanted.iter().any(|wanted| wanted.fingerprint == fingerprint);
        self.wanted.push(Wanted { fingerprint, reader: reader.clone(), address, until: now + ANSWER_TIMEOUT });
        is_first
    }

    /// Removes and returns the subscribers that wait for a description.
    fn take_wanted(&mut self, fingerprint: [u8; 16]) -> Vec<Connection> {
        let (now, readers) = (Instant::now(), self.wanted.extract_if(.., |wanted| wanted.fingerprint == fingerprint));
        readers.filter(|wanted| wanted.until > now).map(|wanted| wanted.reader).collect()
    }
}

impl BrokerShared {
    /// Handles a LAYOUT packet. Its body is either a description, or a request that consists of a zero byte and a
    /// fingerprint.
    pub(super) fn handle_layout(&self, from: &Subscriber, body: &[u8], outbox: &mut Outbox) -> Routed {
        if let Some((0, fingerprint)) = body.split_first()
            && let Ok(fingerprint) = fingerprint.try_into()
        {
            let mut state = self.layouts.0.lock();
            if let Some(kept) = state.kept.get(&fingerprint) {
                put(outbox, PacketId(0), self.operations.of(Kind::Layout), &kept.description);
            } else if state.want(fingerprint, &from.connection, from.publisher())
                && let Some(bus) = &self.bus
            {
                // Release the lock before sending. The in-memory bus may deliver the reply before this call returns,
                // which takes the lock.
                drop(state);
                bus.send_control(bus::frame::ASK, &fingerprint);
            }
            return Routed::Slow;
        }
        if body.len() > DESCRIPTION_MAX || Description::parse(body).is_err() {
            return Routed::Discarded;
        }
        let fingerprint = Fingerprint::of(body).bytes();
        let mut state = self.layouts.0.lock();
        if state.keep(fingerprint, body, &from.connection, from.publisher()).is_none() {
            return Routed::Discarded;
        }
        let readers = state.take_wanted(fingerprint);
        // Release the lock before sending, because sending locks other connections.
        drop(state);
        self.send_layout(readers, body);
        Routed::Slow
    }

    /// Returns the description with this fingerprint, which another broker has requested, if this broker has stored it.
    pub(super) fn layout(&self, fingerprint: &[u8]) -> Option<Bytes> {
        self.layouts.0.lock().kept.get(fingerprint).map(|kept| kept.description.clone())
    }

    /// Handles a description from another broker. Drops the description unless a subscriber waits for it.
    pub(super) fn handle_layout_of_bus(&self, description: &[u8]) {
        let fingerprint = Fingerprint::of(description).bytes();
        let mut state = self.layouts.0.lock();
        let readers = state.take_wanted(fingerprint);
        let Some(first) = readers.first() else { return };
        if state.keep(fingerprint, description, first, None).is_some() {
            drop(state);
            self.send_layout(readers, description);
        }
    }

    fn send_layout(&self, readers: Vec<Connection>, description: &[u8]) {
        let operation = self.operations.of(Kind::Layout);
        for reader in readers {
            // Ignore the error, because a connection that has ended needs no description.
            let _ = reader.send_now(|outbox| put(outbox, PacketId(0), operation, description));
        }
    }
}
