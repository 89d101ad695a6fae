//! A server's verdicts on the layouts that its client announced.

use crate::Status;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::wire::layouts::{CALLED, LayoutMatch, PeerLayout, misfit};
use frisbee::PeerKind;
use std::collections::{BinaryHeap, HashSet};

/// The verdicts on announced layouts. Absent for most clients.
///
/// Because a client may announce anything, entries are short, entries for nonexistent operations are limited in number,
/// and statuses are created on demand.
#[derive(Default, Debug)]
pub(crate) struct Clauses {
    /// The rejected operations in ascending order, each with the index of its reason.
    refused: Vec<(u16, u16)>,
    reasons: Vec<Reason>,
    /// Services that follow the rules of an earlier layout.
    older: Vec<&'static Layout>,
}

/// The reason why an operation is rejected.
#[derive(Debug)]
enum Reason {
    /// The operation belongs to a service of this name, which this end does not offer.
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

/// Maximum length of a service name in a status, in characters.
const NAME_SHOWN_MAX: usize = 256;

/// Maximum number of recorded operations that exist only at the client. They improve error texts.
const OTHERS_MAX: usize = 1024;

impl Clauses {
    /// Creates the verdicts of a server that offers `layouts`. `has` returns whether an operation has a method or a
    /// router.
    pub(crate) fn new(layouts: &[&'static Layout], has: impl Fn(u16) -> bool, peer: &PeerKind) -> Self {
        let mut clauses = Self::default();
        let mut others = 0..OTHERS_MAX;
        let mut logged = HashSet::new();
        let mut misfits = Vec::new();
        for theirs in peer.hello().into_iter().flat_map(|hello| PeerLayout::all(hello, CALLED)) {
            // A client may have several layouts of one service, each used by separate channels.
            if !logged.insert((theirs.service.clone(), theirs.fingerprint)) {
                continue;
            }
            let (reason, of_ours) = match layouts.iter().find(|ours| ours.service == theirs.service) {
                // Other services may use the operations of a service that does not exist here.
                None => (Reason::absent(&theirs.service), &[][..]),
                Some(ours) => match ours.fit(&theirs) {
                    LayoutMatch::Whole => {
                        // Operations of other services and routers are not rejected.
                        let later = theirs.operations.iter().filter(|other| !has(**other) && others.next().is_some());
                        clauses.refuse(later, Reason::Later(ours));
                        continue;
                    }
                    LayoutMatch::Older => {
                        if !clauses.older.contains(ours) {
                            clauses.older.push(ours);
                        }
                        continue;
                    }
                    LayoutMatch::Not if misfits.contains(ours) => (Reason::Misfit(ours), &[][..]),
                    LayoutMatch::Not => {
                        misfits.push(*ours);
                        (Reason::Misfit(ours), ours.operations)
                    }
                },
            };
            let of_theirs = theirs.operations.iter().filter(|other| has(**other) || others.next().is_some());
            clauses.refuse(of_ours.iter().chain(of_theirs), reason);
        }
        // An incompatible layout takes precedence over other reasons.
        let is_no_misfit = |index: u16| !matches!(clauses.reasons[usize::from(index)], Reason::Misfit(_));
        let rank = |(operation, index)| (operation, is_no_misfit(index), index);
        let refused: BinaryHeap<_> = clauses.refused.iter().copied().map(rank).collect();
        clauses.refused =
            refused.into_sorted_vec().into_iter().map(|(operation, _, index)| (operation, index)).collect();
        clauses.refused.dedup_by_key(|(operation, _)| *operation);
        clauses
    }

    fn refuse<'a>(&mut self, operations: impl Iterator<Item = &'a u16>, reason: Reason) {
        let Ok(index) = u16::try_from(self.reasons.len()) else { return };
        let before = self.refused.len();
        self.refused.extend(operations.map(|operation| (*operation, index)));
        if self.refused.len() > before {
            self.reasons.push(reason);
        }
    }

    /// Returns the boxed verdicts, or `None` if there are none.
    pub(crate) fn present(mut self) -> Option<Box<Self>> {
        self.refused.shrink_to_fit();
        self.reasons.shrink_to_fit();
        let none = self.refused.is_empty() && self.older.is_empty();
        (!none).then(|| Box::new(self))
    }

    /// Returns the status of a rejected operation, or `None` if it is accepted.
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

    /// Returns the number of trailing fields that a request to `method` may lack.
    pub(crate) fn missing(&self, method: &Method) -> u32 {
        let is_older = self.older.iter().any(|layout| layout.has(method.operation.number()));
        if is_older { method.added.0 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::layouts::tests::{APART, BROKEN, FIRST, OTHER, SECOND, peer_with_layouts};

    #[test]
    fn server_accepts_only_compatible_layouts() {
        fn clauses(layouts: &[&'static Layout], client: &'static Layout) -> Clauses {
            let has = |operation| layouts.iter().any(|ours| ours.has(operation));
            Clauses::new(layouts, has, &peer_with_layouts(CALLED, &[client]))
        }
        let of = |operation| Method::new(&SECOND, "Any", operation).with_added(7, 9);
        assert!(clauses(&[&FIRST], &FIRST).refused.is_empty());
        let newer = clauses(&[&FIRST], &SECOND);
        assert!(newer.older.is_empty());
        assert_eq!([10, 11].map(|operation| newer.refused(operation)), [None, None]);
        let later = "shop.Orders has no method on operation 300 here: the caller's schema is newer";
        assert_eq!(newer.refused(300), Some(Status::unimplemented(later)));
        let mounted = Clauses::new(
            &[&FIRST],
            |operation| FIRST.has(operation) || operation == 300,
            &peer_with_layouts(CALLED, &[&SECOND]),
        );
        assert_eq!(mounted.refused(300), None, "something else has it");
        let older = clauses(&[&SECOND, &APART], &FIRST);
        assert!(older.refused.is_empty());
        assert_eq!([10, 300, 90].map(|operation| older.missing(&of(operation))), [7, 7, 0]);
        let broken = clauses(&[&FIRST, &APART], &BROKEN);
        let code = |operation: u16| broken.refused(operation).map(|status| status.code());
        let misfit = Some(crate::Code::FailedPrecondition);
        assert_eq!([10, 11, 90].map(code), [misfit, misfit, None]);
        for both in [[&FIRST, &BROKEN], [&BROKEN, &FIRST]] {
            let both = Clauses::new(&[&FIRST], |operation| FIRST.has(operation), &peer_with_layouts(CALLED, &both));
            assert_eq!(both.refused(10).map(|status| status.code()), misfit, "one of two layouts does not fit");
        }
        let two =
            Clauses::new(&[&SECOND], |operation| SECOND.has(operation), &peer_with_layouts(CALLED, &[&SECOND, &FIRST]));
        assert_eq!((two.refused(10), two.missing(&of(10))), (None, 7), "one of two layouts is older");
        let absent = clauses(&[&FIRST], &OTHER);
        assert_eq!(absent.refused(11), Some(Status::unimplemented("this end offers no service shop.Carts")));
        assert_eq!(absent.refused(10), None, "a service outside its list is unchanged");
    }
}
