//! What two ends tell each other of the wire layouts of their services, and whether these fit.
//!
//! Messages have no field numbers on the wire, so peers with different schemas misread each other unless one schema has
//! grown out of the other in ways that are safe. The schema lock records which layouts those are.

use crate::codegen::Method;
use crate::{Error, Status};
use bytes::Bytes;
use frisbee::support::tlv::{put_varint, take_varint};
use frisbee::{Hello, PeerKind};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The type of the items of HELLO that name a service which the sender offers.
pub(crate) const OFFERED: u8 = Hello::FIRST_USER_ITEM;

/// The type of the items of HELLO that name a service which the sender means to call.
pub(crate) const CALLED: u8 = Hello::FIRST_USER_ITEM + 1;

/// How many earlier layouts of a service are sent and read: as many as its lock keeps.
const COMPATIBLE_MAX: usize = 32;

/// The wire layout of a service. For generated code.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    service: &'static str,
    /// In ascending order.
    operations: &'static [u16],
    fingerprint: u64,
    /// Of earlier layouts whose peers are still understood.
    compatible: &'static [u64],
}

impl Layout {
    /// The layout of a `service`, which has its package in front: the operations of its methods in ascending order, its
    /// fingerprint, and those of earlier layouts whose peers it understands.
    ///
    /// # Panics
    /// If there are more than 32 earlier layouts.
    pub const fn new(
        service: &'static str,
        operations: &'static [u16],
        fingerprint: u64,
        compatible: &'static [u64],
    ) -> Self {
        assert!(compatible.len() <= COMPATIBLE_MAX, "at most 32 earlier layouts are told");
        Self { service, operations, fingerprint, compatible }
    }

    /// The full name of the service.
    pub const fn service(&self) -> &'static str {
        self.service
    }

    /// What HELLO says of it: the length of the name and the name, the fingerprint, the number of earlier ones and
    /// these, the operations, each as the difference to the one before.
    pub(crate) fn item(&self) -> Bytes {
        let mut item = Vec::new();
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

    /// Whether all of `layouts` can be named in a HELLO.
    pub(crate) fn check_room(layouts: &[&'static Self]) -> Result<(), Error> {
        // A type in one byte, and a length in up to three.
        let length = layouts.iter().map(|layout| 4 + layout.item().len()).sum();
        let limit = Hello::ITEMS_MAX;
        if length > limit { Err(Error::TooManyServices { length, limit }) } else { Ok(()) }
    }

    /// Whether one of its methods has this operation.
    fn has(&self, operation: u16) -> bool {
        self.operations.binary_search(&operation).is_ok()
    }

    fn fit(&self, theirs: &Told) -> Fit {
        if self.fingerprint == theirs.fingerprint || theirs.compatible.contains(&self.fingerprint) {
            Fit::Whole
        } else if self.compatible.contains(&theirs.fingerprint) {
            Fit::Older
        } else {
            Fit::Not
        }
    }
}

/// How a peer's layout of a service fits ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    /// It is the same, or a later one that knows ours.
    Whole,
    /// It is an earlier one: fields that came later are missing at the end of its messages.
    Older,
    Not,
}

/// What a peer has told of a service.
#[derive(PartialEq, Eq, Debug)]
struct Told {
    service: String,
    fingerprint: u64,
    compatible: Vec<u64>,
    operations: Vec<u16>,
}

impl Told {
    /// What the items of one type say. One that makes no sense is left out.
    fn all(hello: &Hello, wanted: u8) -> impl Iterator<Item = Self> {
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

fn misfit(ours: &Layout) -> Status {
    Status::failed_precondition(format!(
        "the two ends have incompatible layouts of {}: the schema of one of them has a change that breaks the \
         other",
        ours.service
    ))
}

/// What follows for a server from what its client has told; nothing for most.
///
/// The client may tell whatever it likes, so what is kept of it is short for each operation, bounded for those that
/// nothing here has, and made a status only when it is asked for.
#[derive(Default, Debug)]
pub(crate) struct Clauses {
    /// Operations that are refused, in ascending order, each with the place of its reason.
    refused: Vec<(u16, u16)>,
    reasons: Vec<Reason>,
    /// Services that are called by the rules of an earlier layout.
    older: Vec<&'static Layout>,
}

/// Why an operation is refused.
#[derive(Debug)]
enum Reason {
    /// It belongs to a service of this name, which is not here.
    Absent(Box<str>),
    Misfit(&'static Layout),
    /// The peer has a later layout of this service, with more methods.
    Later(&'static Layout),
}

impl Reason {
    fn absent(service: &str) -> Self {
        Self::Absent(service.chars().take(NAME_SHOWN_MAX).collect())
    }
}

/// How much is said of a service's name, in characters.
const NAME_SHOWN_MAX: usize = 256;

/// How many operations that nothing here has are kept, for the sake of what is said to who calls them.
const OTHERS_MAX: usize = 1024;

impl Clauses {
    /// For a server that offers `layouts`; `has` tells on which operations there is a method or a router.
    pub(crate) fn new(layouts: &[&'static Layout], has: impl Fn(u16) -> bool, peer: &PeerKind) -> Self {
        let mut clauses = Self::default();
        let mut others = 0..OTHERS_MAX;
        let mut told = HashSet::new();
        let mut misfits = Vec::new();
        for theirs in peer.hello().into_iter().flat_map(|hello| Told::all(hello, CALLED)) {
            // A client may have several layouts of one service, each with channels of its own.
            if !told.insert((theirs.service.clone(), theirs.fingerprint)) {
                continue;
            }
            let (reason, of_ours) = match layouts.iter().find(|ours| ours.service == theirs.service) {
                // The operations of what is not here may be something else's.
                None => (Reason::absent(&theirs.service), &[][..]),
                Some(ours) => match ours.fit(&theirs) {
                    Fit::Whole => {
                        // What something else has is that one's to answer.
                        let later = theirs.operations.iter().filter(|other| !has(**other) && others.next().is_some());
                        clauses.refuse(later, Reason::Later(ours));
                        continue;
                    }
                    Fit::Older => {
                        if !clauses.older.contains(ours) {
                            clauses.older.push(ours);
                        }
                        continue;
                    }
                    Fit::Not if misfits.contains(ours) => (Reason::Misfit(ours), &[][..]),
                    Fit::Not => {
                        misfits.push(*ours);
                        (Reason::Misfit(ours), ours.operations)
                    }
                },
            };
            let of_theirs = theirs.operations.iter().filter(|other| has(**other) || others.next().is_some());
            clauses.refuse(of_ours.iter().chain(of_theirs), reason);
        }
        // A layout that does not fit is what has to be told of an operation that is refused for several reasons.
        let is_no_misfit = |place: u16| !matches!(clauses.reasons[usize::from(place)], Reason::Misfit(_));
        clauses.refused.sort_by_key(|(operation, place)| (*operation, is_no_misfit(*place)));
        clauses.refused.dedup_by_key(|(operation, _)| *operation);
        clauses
    }

    fn refuse<'a>(&mut self, operations: impl Iterator<Item = &'a u16>, reason: Reason) {
        let Ok(place) = u16::try_from(self.reasons.len()) else { return };
        let before = self.refused.len();
        self.refused.extend(operations.map(|operation| (*operation, place)));
        if self.refused.len() > before {
            self.reasons.push(reason);
        }
    }

    /// For keeping, if there are any.
    pub(crate) fn present(mut self) -> Option<Box<Self>> {
        self.refused.shrink_to_fit();
        self.reasons.shrink_to_fit();
        let none = self.refused.is_empty() && self.older.is_empty();
        (!none).then(|| Box::new(self))
    }

    /// Why an operation is refused, if it is.
    pub(crate) fn refused(&self, operation: u16) -> Option<Status> {
        let at = self.refused.binary_search_by_key(&operation, |(operation, _)| *operation).ok()?;
        Some(match &self.reasons[usize::from(self.refused[at].1)] {
            Reason::Absent(service) => Status::unimplemented(format!("this end offers no service {service}")),
            Reason::Misfit(ours) => misfit(ours),
            Reason::Later(ours) => Status::unimplemented(format!(
                "{} has no method on operation {operation} here: the caller's schema is newer",
                ours.service
            )),
        })
    }

    /// How many fields may be missing at the end of a request to `method`.
    pub(crate) fn missing(&self, method: &Method) -> u32 {
        let is_older = self.older.iter().any(|layout| layout.has(method.operation.number()));
        if is_older { method.added.0 } else { 0 }
    }
}

/// What a client knows of the services at the other end, which it asks before each call.
#[derive(Default, Debug)]
pub(crate) struct Offers {
    /// The layout that was last found callable.
    last: Option<&'static Layout>,
    /// All that were.
    known: Vec<(&'static Layout, Rules)>,
    /// What the server is.
    peer: PeerKind,
    /// The services that our HELLO has named: the server refuses calls to them that do not fit.
    named: Arc<[&'static Layout]>,
}

/// By which rules a service is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    Same,
    /// The server has an earlier layout.
    Older,
}

impl Rules {
    /// How many fields may be missing at the end of a reply from `method`.
    pub(crate) fn missing(self, method: &Method) -> u32 {
        match self {
            Self::Same => 0,
            Self::Older => method.added.1,
        }
    }
}

/// Why a service is not called.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// What the server has is not known yet.
    Unclear,
    Failed(Status),
}

impl Offers {
    pub(crate) fn new(named: Arc<[&'static Layout]>) -> Self {
        Self { last: None, known: Vec::new(), peer: PeerKind::Unknown, named }
    }

    /// Takes in what the server is.
    pub(crate) fn handle_peer_known(&mut self, peer: &PeerKind) {
        self.peer = peer.clone();
        self.last = None;
        self.known.clear();
    }

    /// Whether the service is the one that was last found callable.
    #[inline(always)]
    pub(crate) fn is_last(&self, layout: &'static Layout) -> bool {
        self.last.is_some_and(|last| std::ptr::eq(last, layout))
    }

    /// Whether a service may be called, and by which rules. A call that is sent before the server has shown what it is
    /// has to ask again when it is answered.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask(&mut self, layout: &'static Layout) -> Result<Rules, Refusal> {
        if let Some((_, rules)) = self.known.iter().find(|(known, _)| std::ptr::eq(*known, layout)) {
            self.last = Some(layout);
            return Ok(*rules);
        }
        let rules = match &self.peer {
            PeerKind::Unknown if self.named.contains(&layout) => Rules::Same,
            PeerKind::Unknown => return Err(Refusal::Unclear),
            peer => rules(layout, peer).map_err(Refusal::Failed)?,
        };
        self.known.push((layout, rules));
        self.last = Some(layout);
        Ok(rules)
    }
}

/// Whether a service of a peer that has shown what it is may be called, and by which rules.
pub(crate) fn rules(layout: &'static Layout, peer: &PeerKind) -> Result<Rules, Status> {
    let Some(hello) = peer.hello() else { return Ok(Rules::Same) };
    for theirs in Told::all(hello, OFFERED) {
        if theirs.service == layout.service {
            return match layout.fit(&theirs) {
                Fit::Whole => Ok(Rules::Same),
                Fit::Older => Ok(Rules::Older),
                Fit::Not => Err(misfit(layout).unsent()),
            };
        }
        if theirs.operations.iter().any(|operation| layout.operations.contains(operation)) {
            let other = format!(
                "the server does not offer the service {}; its operations belong to {}",
                layout.service, theirs.service
            );
            return Err(Status::unimplemented(other).unsent());
        }
    }
    // One that passes calls on need not say what it offers.
    Ok(Rules::Same)
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.service, self.fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FIRST: Layout = Layout::new("shop.Orders", &[10, 11], 0x0102_0304_0506_0708, &[]);
    static SECOND: Layout = Layout::new("shop.Orders", &[10, 11, 300], 2, &[0x0102_0304_0506_0708]);
    static BROKEN: Layout = Layout::new("shop.Orders", &[10, 11], 3, &[]);
    static OTHER: Layout = Layout::new("shop.Carts", &[11], 4, &[]);
    static APART: Layout = Layout::new("shop.Stock", &[90], 5, &[]);

    fn told(kind: u8, layouts: &[&'static Layout]) -> PeerKind {
        let mut hello = b"fris\x01".to_vec();
        for layout in layouts {
            frisbee::support::tlv::put_item(&mut hello, kind, &layout.item());
        }
        PeerKind::Extended(Arc::new(Hello::decode(&hello.into()).expect("it is one")))
    }

    #[test]
    fn an_item_is_written_byte_for_byte_as_specified_and_read_back() {
        let item = SECOND.item();
        let mut expected = b"\x0bshop.Orders\0\0\0\0\0\0\0\x02\x01\x01\x02\x03\x04\x05\x06\x07\x08".to_vec();
        expected.extend([10, 1, 0xA1, 0x02]);
        assert_eq!(item, expected);
        let read = Told::read(&item).expect("it was written here");
        assert_eq!((read.service.as_str(), read.fingerprint), ("shop.Orders", 2));
        assert_eq!((read.compatible, read.operations), (SECOND.compatible.to_vec(), vec![10, 11, 300]));
    }

    #[test]
    fn items_that_are_cut_or_promise_too_much_say_nothing() {
        let item = SECOND.item();
        // Cut between operations it is one with fewer of them.
        let whole = item.len() - 4;
        assert!((0..whole).all(|end| Told::read(&item[..end]).is_none()));
        assert!(Told::read(b"\x01a\0\0\0\0\0\0\0\0\x21").is_none(), "more earlier layouts than a lock keeps");
        assert!(Told::read(b"\x01a\0\0\0\0\0\0\0\0\0\xff\xff\x03\x01").is_none(), "an operation beyond 16 bits");
        assert!(Told::read(b"\x01\xff\0\0\0\0\0\0\0\0\0").is_none(), "a name that is no text");
    }

    #[test]
    fn a_server_takes_calls_of_equal_older_and_newer_layouts_and_refuses_others() {
        fn clauses(layouts: &[&'static Layout], client: &'static Layout) -> Clauses {
            let has = |operation| layouts.iter().any(|ours| ours.has(operation));
            Clauses::new(layouts, has, &told(CALLED, &[client]))
        }
        let of = |operation| Method::new(&SECOND, "Any", operation).with_added(7, 9);
        assert!(clauses(&[&FIRST], &FIRST).refused.is_empty());
        let newer = clauses(&[&FIRST], &SECOND);
        assert!(newer.older.is_empty());
        assert_eq!([10, 11].map(|operation| newer.refused(operation)), [None, None]);
        let later = "shop.Orders has no method on operation 300 here: the caller's schema is newer";
        assert_eq!(newer.refused(300), Some(Status::unimplemented(later)));
        let mounted =
            Clauses::new(&[&FIRST], |operation| FIRST.has(operation) || operation == 300, &told(CALLED, &[&SECOND]));
        assert_eq!(mounted.refused(300), None, "something else has it");
        let older = clauses(&[&SECOND, &APART], &FIRST);
        assert!(older.refused.is_empty());
        assert_eq!([10, 300, 90].map(|operation| older.missing(&of(operation))), [7, 7, 0]);
        let broken = clauses(&[&FIRST, &APART], &BROKEN);
        let code = |operation: u16| broken.refused(operation).map(|status| status.code());
        let misfit = Some(crate::Code::FailedPrecondition);
        assert_eq!([10, 11, 90].map(code), [misfit, misfit, None]);
        for both in [[&FIRST, &BROKEN], [&BROKEN, &FIRST]] {
            let both = Clauses::new(&[&FIRST], |operation| FIRST.has(operation), &told(CALLED, &both));
            assert_eq!(both.refused(10).map(|status| status.code()), misfit, "one of two layouts does not fit");
        }
        let two = Clauses::new(&[&SECOND], |operation| SECOND.has(operation), &told(CALLED, &[&SECOND, &FIRST]));
        assert_eq!((two.refused(10), two.missing(&of(10))), (None, 7), "one of two layouts is older");
        let absent = clauses(&[&FIRST], &OTHER);
        assert_eq!(absent.refused(11), Some(Status::unimplemented("this end offers no service shop.Carts")));
        assert_eq!(absent.refused(10), None, "what it did not mean to call is as it was");
    }

    #[test]
    fn a_client_calls_what_it_has_named_at_once_and_all_else_when_the_server_is_known() {
        let mut offers = Offers::new(Arc::new([&FIRST]));
        assert_eq!(offers.ask(&FIRST).unwrap(), Rules::Same);
        assert!(matches!(offers.ask(&APART), Err(Refusal::Unclear)));
        offers.handle_peer_known(&told(OFFERED, &[&SECOND]));
        assert_eq!(offers.ask(&FIRST).unwrap(), Rules::Same);
        assert_eq!(offers.ask(&APART).unwrap(), Rules::Same, "nothing is in its place");
        assert!(
            matches!(offers.ask(&BROKEN), Err(Refusal::Failed(status)) if status.code() == crate::Code::FailedPrecondition)
        );
        assert!(
            matches!(offers.ask(&OTHER), Err(Refusal::Failed(status)) if status.code() == crate::Code::Unimplemented)
        );
        offers.handle_peer_known(&told(OFFERED, &[&FIRST]));
        assert_eq!(offers.ask(&SECOND).unwrap(), Rules::Older);
        offers.handle_peer_known(&PeerKind::Plain);
        assert_eq!(offers.ask(&BROKEN).unwrap(), Rules::Same, "Go tells nothing of its layouts");
    }
}
