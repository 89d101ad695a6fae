//! Which oneof of a changed message is which.

use std::collections::BTreeSet;

use crate::lock::record::{Message, Shape};

/// Which oneof of the old message is which of the new one.
pub(super) struct Oneofs<'a> {
    pairs: BTreeSet<(&'a str, &'a str)>,
}

/// Compares two messages; `matches` has the old place of each new field that is not new.
pub(super) fn same_oneofs<'a>(before: &'a Message, now: &'a Message, matches: &[Option<usize>]) -> Oneofs<'a> {
    let kept = matches.iter().zip(&now.fields).filter_map(|(old, now)| Some((&before.fields[(*old)?], now)));
    let pairs = kept.filter_map(|(old, now)| match (&old.shape, &now.shape) {
        (Shape::Member { oneof: old, member: before, .. }, Shape::Member { oneof: new, member: now, .. })
            if before == now =>
        {
            Some((old.as_str(), new.as_str()))
        }
        _ => None,
    });
    Oneofs { pairs: pairs.collect() }
}

impl Oneofs<'_> {
    /// Whether all members of `old` are in `new`, and no others.
    pub(super) fn is_same(&self, old: &str, new: &str) -> bool {
        let touching = self.pairs.iter().filter(|(before, now)| *before == old || *now == new);
        touching.count() == 1
    }

    /// Whether a field is in no oneof, or still with those that it was with.
    pub(super) fn hold(&self, old: &Shape, new: &Shape) -> bool {
        match (old, new) {
            (Shape::Member { oneof: old, .. }, Shape::Member { oneof: new, .. }) => self.is_same(old, new),
            _ => true,
        }
    }

    /// Whether a oneof of the new message has members that are not new.
    pub(super) fn has_members(&self, new: &str) -> bool {
        self.pairs.iter().any(|(_, now)| *now == new)
    }
}
