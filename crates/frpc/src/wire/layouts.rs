//! Wire layouts in HELLO, and the packets about layouts: ASK, LAYOUT and CALLS.
//!
//! Messages have no field numbers on the wire, so a peer with another schema would misread them without a translation.
//! The accepting side translates them and requests the descriptions that it does not know (`service/layouts.rs`).

use crate::schema::layout::Layout;
use crate::wire::compressed::DECOMPRESSES;
use crate::wire::report::REPORT_REQUEST_ITEM;
use bytes::Bytes;
use frisbee::tlv::{put_varint, take_varint};
use frisbee::{Hello, Outbox, PacketId, PeerKind, extension};
use polyglot::layout::Fingerprint;

/// Type of the HELLO items that describe the services offered by the sender.
pub(crate) const OFFERED: u8 = Hello::FIRST_USER_ITEM;

/// Type of the HELLO items that describe the services called by the sender.
pub(crate) const CALLED: u8 = Hello::FIRST_USER_ITEM + 1;

/// Length in bytes of a layout's fingerprint.
const FINGERPRINT_LEN: usize = 16;

/// Maximum number of layout fingerprints in an ASK packet.
pub(crate) const ASKED_MAX: usize = 64;

impl Layout {
    /// Encodes the layout as a HELLO item: the length of the service's name, the name, the fingerprint, and the
    /// operation numbers, each as the difference from the previous one.
    pub(crate) fn item(&self) -> Bytes {
        // The length of the name and most differences take one byte each.
        let mut item = Vec::with_capacity(2 + self.service.len() + FINGERPRINT_LEN + self.operations.len());
        put_varint(&mut item, self.service.len() as u64);
        item.extend_from_slice(self.service.as_bytes());
        item.extend_from_slice(&self.fingerprint.bytes());
        let mut last = 0;
        for &operation in self.operations {
            put_varint(&mut item, u64::from(operation.saturating_sub(last)));
            last = operation;
        }
        item.into()
    }

    /// Returns whether a peer's HELLO item describes the same layout.
    pub(crate) fn is_item(&self, item: &[u8]) -> bool {
        parse(item).is_some_and(|(service, fingerprint, operations)| {
            self.service == service
                && self.fingerprint == fingerprint
                && operations.eq(self.operations.iter().copied().map(Some))
        })
    }

    /// Returns whether the peer's layout has the same messages and operation numbers.
    pub(crate) fn is_same(&self, theirs: &PeerLayout) -> bool {
        self.service == theirs.service
            && self.fingerprint == theirs.fingerprint
            && self.operations == theirs.operations.as_slice()
    }
}

/// Wire layout of a service, as announced by a peer.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct PeerLayout {
    pub(crate) service: String,
    pub(crate) fingerprint: Fingerprint,
    /// Operation numbers of the service in ascending order.
    pub(crate) operations: Vec<u16>,
}

impl PeerLayout {
    /// Returns an iterator over the layouts in all HELLO items of one type.
    pub(crate) fn all(hello: &Hello, wanted: u8) -> impl Iterator<Item = Self> {
        hello.items().filter(move |(kind, _)| *kind == wanted).filter_map(|(_, item)| Self::read(item))
    }

    /// Decodes a layout from a HELLO item or from the body of a CALLS packet, which has the same format.
    pub(crate) fn read(item: &[u8]) -> Option<Self> {
        let (service, fingerprint, operations) = parse(item)?;
        Some(Self { service: service.to_owned(), fingerprint, operations: operations.collect::<Option<_>>()? })
    }
}

/// Parses the name and the fingerprint of an encoded layout. Also returns an iterator over the operation numbers, which
/// returns `None` for malformed ones.
fn parse(mut item: &[u8]) -> Option<(&str, Fingerprint, impl Iterator<Item = Option<u16>>)> {
    let length = usize::try_from(take_varint(&mut item)?).ok()?;
    let (name, rest) = item.split_at_checked(length)?;
    let service = std::str::from_utf8(name).ok()?;
    let (fingerprint, mut rest) = rest.split_first_chunk()?;
    let mut last = Some(0_u16);
    let operations = std::iter::from_fn(move || {
        (!rest.is_empty()).then(|| {
            last = last?.checked_add(u16::try_from(take_varint(&mut rest)?).ok()?);
            last
        })
    });
    Some((service, Fingerprint::new(*fingerprint), operations))
}

/// Returns the type of the first HELLO item about layouts that is malformed or occurs twice.
pub(crate) fn malformed_item(hello: &Hello) -> Option<u8> {
    let mut seen = [false; 2];
    let mut is_malformed = |(kind, item): &(u8, &[u8])| match *kind {
        OFFERED | CALLED => parse(item).is_none_or(|(.., mut operations)| operations.any(|each| each.is_none())),
        REPORT_REQUEST_ITEM => std::mem::replace(&mut seen[0], true),
        DECOMPRESSES => std::mem::replace(&mut seen[1], true),
        _ => false,
    };
    hello.items().find(|item| is_malformed(item)).map(|(kind, _)| kind)
}

/// Returns whether a client offers any service, so that its server can call it.
pub(crate) fn takes_calls(client: &PeerKind) -> bool {
    client.hello().is_some_and(|hello| hello.items().any(|(kind, _)| kind == OFFERED))
}

/// Writes a packet about layouts. Packets of servers have at most 1024 bytes ([`ASKED_MAX`] fingerprints), which every
/// outbox accepts. Packets of clients may be longer, because the memory of their outboxes is not limited.
fn put(outbox: &mut Outbox, id: PacketId, body: &[u8]) {
    let put = outbox.push_extension(id, body);
    debug_assert!(put.is_ok(), "packets about layouts should be within their limit");
}

/// Requests descriptions of the layouts with these fingerprints by ASK packets.
pub(crate) fn put_ask(outbox: &mut Outbox, fingerprints: &[Fingerprint]) {
    for some in fingerprints.chunks(ASKED_MAX) {
        let body: Vec<u8> = some.iter().flat_map(|fingerprint| fingerprint.bytes()).collect();
        put(outbox, extension::ASK, &body);
    }
}

/// Decodes the fingerprints in the body of an ASK packet.
pub(crate) fn asked(body: &[u8]) -> Option<impl Iterator<Item = Fingerprint>> {
    let (fingerprints, []) = body.as_chunks() else { return None };
    (1..=ASKED_MAX).contains(&fingerprints.len()).then(|| fingerprints.iter().copied().map(Fingerprint::new))
}

/// Replies to an ASK packet with the description of a layout. Reports the fingerprint as unknown if `layout` is `None`
/// or the server has no memory for the description.
pub(crate) fn put_layout(outbox: &mut Outbox, fingerprint: Fingerprint, layout: Option<&Layout>) {
    let has_room = |description: &&[u8]| (1..=outbox.extension_max()).contains(&description.len());
    match layout.map(|layout| layout.description).filter(has_room) {
        Some(description) => put(outbox, extension::LAYOUT, description),
        None => put(outbox, extension::LAYOUT, &[&[0][..], &fingerprint.bytes()].concat()),
    }
}

/// Announces a service that the local peer is going to call.
pub(crate) fn put_calls(outbox: &mut Outbox, layout: &Layout) {
    put(outbox, extension::CALLS, &layout.item());
}

#[cfg(test)]
pub(crate) mod tests;
