//! Identifies oneofs in two versions of a message.

use std::collections::BTreeSet;

use crate::lock::record::{Message, Shape};

/// The pairs of old and new oneofs with common members.
pub(super) struct Oneofs<'a> {
    pub(super) pairs: BTreeSet<(&'a str, &'a str)>,
}

/// Compares the oneofs of two messages. `matches` contains the old position of each new field, if it has one.
pub(super) fn same_oneofs<'a>(before: &'a Message, now: &'a Message, matches: &[Option<usize>]) -> Oneofs<'a> {
    let matched = matches.iter().zip(&now.fields).filter_map(|(old, now)| Some((&before.fields[(*old)?], now)));
    let pairs = matched.filter_map(|(old, now)| match (&old.shape, &now.shape) {
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
    /// Returns whether `old` and `new` have members in common only with each other.
    pub(super) fn is_same(&self, old: &str, new: &str) -> bool {
        let touching = self.pairs.iter().filter(|(before, now)| *before == old || *now == new);
        touching.count() == 1
    }

    /// Returns whether two fields are members of the same oneof, or at least one of them is not a member of a oneof.
    pub(super) fn are_compatible(&self, old: &Shape, new: &Shape) -> bool {
        match (old, new) {
            (Shape::Member { oneof: old, .. }, Shape::Member { oneof: new, .. }) => self.is_same(old, new),
            _ => true,
        }
    }
}
