//! The service layouts in HELLO, and their compatibility.
//!
//! Messages have no field numbers on the wire, so peers with different schemas misinterpret each other unless one
//! schema evolved from the other by safe changes. The schema lock records the layouts for which this holds.
//!
//! # Decisions
//!
//! Layouts are compared once per connection: by a server when a method is first called, by a client with one pointer
//! comparison. A reply is decoded as complete first, and with defaults for missing fields only if that fails.

use crate::Status;
use crate::schema::layout::{COMPATIBLE_MAX, Layout};
use crate::wire::packed::UNPACKS;
use crate::wire::report::REPORT_REQUEST_ITEM;
use bytes::Bytes;
use frisbee::tlv::{put_varint, take_varint};
use frisbee::{Hello, PeerKind};
use std::collections::HashMap;

/// The type of HELLO items for services that the sender offers.
pub(crate) const OFFERED: u8 = Hello::FIRST_USER_ITEM;

/// The type of HELLO items for services that the sender calls.
pub(crate) const CALLED: u8 = Hello::FIRST_USER_ITEM + 1;

/// The type of HELLO items for the earlier layouts of a layout that the sender has named.
pub(crate) const EARLIER: u8 = Hello::FIRST_USER_ITEM + 5;

/// Length of a fingerprint in bytes.
const FINGERPRINT_LEN: usize = 16;

/// A fingerprint in its wire form. The eight bytes recorded by the schema lock are the last ones.
type Fingerprint = [u8; FINGERPRINT_LEN];

fn fingerprint(number: u64) -> Fingerprint {
    u128::from(number).to_be_bytes()
}

impl Layout {
    /// Returns the item in HELLO: the length of the name and the name, the fingerprint, and the operations, each as the
    /// difference to the previous one.
    pub(crate) fn item(&self) -> Bytes {
        // The length of the name and most differences take one byte each.
        let mut item = Vec::with_capacity(2 + self.service.len() + FINGERPRINT_LEN + self.operations.len());
        put_varint(&mut item, self.service.len() as u64);
        item.extend_from_slice(self.service.as_bytes());
        item.extend_from_slice(&fingerprint(self.fingerprint));
        let mut last = 0;
        for &operation in self.operations {
            put_varint(&mut item, u64::from(operation.saturating_sub(last)));
            last = operation;
        }
        item.into()
    }

    /// Returns the item in HELLO for earlier layouts: this layout's fingerprint, followed by theirs. `None` if there
    /// are none.
    pub(crate) fn earlier_item(&self) -> Option<Bytes> {
        let all = std::iter::once(&self.fingerprint).chain(self.compatible);
        (!self.compatible.is_empty()).then(|| all.flat_map(|number| fingerprint(*number)).collect())
    }

    pub(crate) fn fit(&self, theirs: &PeerLayout) -> LayoutMatch {
        let ours = fingerprint(self.fingerprint);
        if ours == theirs.fingerprint || theirs.compatible.contains(&ours) {
            LayoutMatch::Whole
        } else if self.compatible.iter().any(|number| fingerprint(*number) == theirs.fingerprint) {
            LayoutMatch::Older
        } else {
            LayoutMatch::Not
        }
    }
}

/// How a peer's layout of a service matches the layout of this end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LayoutMatch {
    /// The layout is equal, or a later one that lists this end's layout as compatible.
    Whole,
    /// The peer's layout is earlier: its messages lack later fields at the end.
    Older,
    Not,
}

/// A layout announced by a peer.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct PeerLayout {
    pub(crate) service: String,
    pub(crate) fingerprint: Fingerprint,
    compatible: Vec<Fingerprint>,
    pub(crate) operations: Vec<u16>,
}

impl PeerLayout {
    /// Returns the layouts in HELLO items of one type.
    pub(crate) fn all(hello: &Hello, wanted: u8) -> impl Iterator<Item = Self> {
        let earlier: HashMap<&Fingerprint, &[Fingerprint]> = hello
            .items()
            .filter(|(kind, _)| *kind == EARLIER)
            .filter_map(|(_, item)| read_earlier(item)?.split_first())
            .collect();
        hello.items().filter(move |(kind, _)| *kind == wanted).filter_map(move |(_, item)| {
            let mut layout = Self::read(item)?;
            layout.compatible = earlier.get(&layout.fingerprint).copied().unwrap_or_default().to_vec();
            Some(layout)
        })
    }

    fn read(mut item: &[u8]) -> Option<Self> {
        let length = usize::try_from(take_varint(&mut item)?).ok()?;
        let (name, rest) = item.split_at_checked(length)?;
        let service = std::str::from_utf8(name).ok()?.to_owned();
        let (fingerprint, mut rest) = rest.split_first_chunk()?;
        let mut operations = Vec::new();
        let mut last = 0_u16;
        while !rest.is_empty() {
            last = last.checked_add(u16::try_from(take_varint(&mut rest)?).ok()?)?;
            operations.push(last);
        }
        Some(Self { service, fingerprint: *fingerprint, compatible: Vec::new(), operations })
    }
}

/// Returns the fingerprints in an item for earlier layouts: that of the layout itself, and at most 32 more.
fn read_earlier(item: &[u8]) -> Option<&[Fingerprint]> {
    let (all, []) = item.as_chunks() else { return None };
    (1..=COMPATIBLE_MAX + 1).contains(&all.len()).then_some(all)
}

/// Returns the type of the first malformed or duplicate item of a HELLO, among those of frpc.
pub(crate) fn malformed_item(hello: &Hello) -> Option<u8> {
    let mut seen = [false; 2];
    let mut is_malformed = |(kind, item): &(u8, &[u8])| match *kind {
        OFFERED | CALLED => PeerLayout::read(item).is_none(),
        EARLIER => read_earlier(item).is_none(),
        REPORT_REQUEST_ITEM => std::mem::replace(&mut seen[0], true),
        UNPACKS => std::mem::replace(&mut seen[1], true),
        _ => false,
    };
    hello.items().find(|item| is_malformed(item)).map(|(kind, _)| kind)
}

pub(crate) fn misfit(ours: &Layout) -> Status {
    Status::failed_precondition(format!(
        "the two ends have incompatible layouts of {}: the schema of one of them has a change that breaks the \
         other",
        ours.service
    ))
}

/// Returns whether an accepting end can call its client, which must offer a service.
pub(crate) fn takes_calls(client: &PeerKind) -> bool {
    client.hello().is_some_and(|hello| hello.items().any(|(kind, _)| kind == OFFERED))
}

#[cfg(test)]
pub(crate) mod tests;
