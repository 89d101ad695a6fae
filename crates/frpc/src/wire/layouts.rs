//! The layouts of services in HELLO, and whether those of two ends fit.
//!
//! Messages have no field numbers on the wire, so peers with different schemas misread each other unless one schema
//! grew out of the other by safe changes. The schema lock records the layouts that satisfy this.
//!
//! # Decisions
//!
//! Layouts are compared once for each connection: by a server when a method is first called, by a client with one pointer
//! comparison. A reply is decoded as complete, and again with defaults for missing fields only if that fails.

use crate::Status;
use crate::schema::layout::{COMPATIBLE_MAX, Layout};
use bytes::Bytes;
use frisbee::tlv::{put_varint, take_varint};
use frisbee::{Hello, PeerKind};

/// The type of HELLO items for services that the sender offers.
pub(crate) const OFFERED: u8 = Hello::FIRST_USER_ITEM;

/// The type of HELLO items for services that the sender calls.
pub(crate) const CALLED: u8 = Hello::FIRST_USER_ITEM + 1;

impl Layout {
    /// The item in HELLO: the length of the name and the name, the fingerprint, the number of earlier fingerprints and
    /// these, and the operations, each as the difference to the one before.
    pub(crate) fn item(&self) -> Bytes {
        // Lengths and most differences of operations have one byte.
        let fingerprints = 8 * (1 + self.compatible.len());
        let mut item = Vec::with_capacity(2 + self.service.len() + fingerprints + self.operations.len());
        put_varint(&mut item, self.service.len() as u64);
        item.extend_from_slice(self.service.as_bytes());
        item.extend_from_slice(&self.fingerprint.to_be_bytes());
        put_varint(&mut item, self.compatible.len() as u64);
        for fingerprint in self.compatible {
            item.extend_from_slice(&fingerprint.to_be_bytes());
        }
        let mut last = 0;
        for &operation in self.operations {
            put_varint(&mut item, u64::from(operation.saturating_sub(last)));
            last = operation;
        }
        item.into()
    }

    pub(crate) fn fit(&self, theirs: &PeerLayout) -> LayoutMatch {
        if self.fingerprint == theirs.fingerprint || theirs.compatible.contains(&self.fingerprint) {
            LayoutMatch::Whole
        } else if self.compatible.contains(&theirs.fingerprint) {
            LayoutMatch::Older
        } else {
            LayoutMatch::Not
        }
    }
}

/// How a peer's layout of a service fits the layout of this end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LayoutMatch {
    /// It is the same, or a later one that lists this end's layout as compatible.
    Whole,
    /// It is an earlier one: later fields are missing at the end of its messages.
    Older,
    Not,
}

/// A layout that a peer has named.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct PeerLayout {
    pub(crate) service: String,
    pub(crate) fingerprint: u64,
    compatible: Vec<u64>,
    pub(crate) operations: Vec<u16>,
}

impl PeerLayout {
    /// The layouts in items of one type. Malformed items are left out.
    pub(crate) fn all(hello: &Hello, wanted: u8) -> impl Iterator<Item = Self> {
        hello.items().filter(move |(kind, _)| *kind == wanted).filter_map(|(_, item)| Self::read(item))
    }

    fn read(mut item: &[u8]) -> Option<Self> {
        let length = usize::try_from(take_varint(&mut item)?).ok()?;
        let (name, rest) = item.split_at_checked(length)?;
        let service = std::str::from_utf8(name).ok()?.to_owned();
        let (fingerprint, mut rest) = rest.split_first_chunk()?;
        let count = usize::try_from(take_varint(&mut rest)?).ok().filter(|count| *count <= COMPATIBLE_MAX)?;
        let (compatible, mut rest) = rest.split_at_checked(count * 8)?;
        let (compatible, []) = compatible.as_chunks() else { return None };
        let mut operations = Vec::new();
        let mut last = 0_u16;
        while !rest.is_empty() {
            last = last.checked_add(u16::try_from(take_varint(&mut rest)?).ok()?)?;
            operations.push(last);
        }
        let compatible = compatible.iter().map(|bytes| u64::from_be_bytes(*bytes)).collect();
        Some(Self { service, fingerprint: u64::from_be_bytes(*fingerprint), compatible, operations })
    }
}

pub(crate) fn misfit(ours: &Layout) -> Status {
    Status::failed_precondition(format!(
        "the two ends have incompatible layouts of {}: the schema of one of them has a change that breaks the \
         other",
        ours.service
    ))
}

/// Whether the client of an accepting end can be called: it has to offer a service.
pub(crate) fn takes_calls(client: &PeerKind) -> bool {
    client.hello().is_some_and(|hello| hello.items().any(|(kind, _)| kind == OFFERED))
}

#[cfg(test)]
pub(crate) mod tests;
