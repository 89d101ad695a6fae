//! Determines which peers a change of the schema breaks if they are not rebuilt.
//!
//! The wire contains neither field numbers nor names: a field is identified by its position, a method by its operation,
//! and an enum value by its index. A change is safe if everything that an older peer sends or expects keeps its
//! position and its kind. Items of the old and the new schema are matched by name, or else by number, so renaming is
//! safe.

mod enums;
mod messages;
mod methods;
mod oneofs;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::options::Numbering;
use super::record::{Enum, Origin, Record, Shape, Type};
use crate::codec::Codec;
use oneofs::same_oneofs;

/// A difference between a schema and its lock.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) verdict: Verdict,
    pub(crate) origin: Origin,
    pub(crate) text: String,
    /// A safe alternative, if there is one.
    pub(crate) advice: Option<String>,
}

/// The peers that remain compatible if only one of them is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Peers of at least one service are incompatible.
    Breaking,
    /// Native peers remain compatible, because they exchange their layouts. Compat peers (Go) do not.
    SafeForNative,
    /// All peers remain compatible.
    Safe,
}

/// All differences and their effects on services.
#[derive(Default)]
pub(crate) struct LockComparison {
    pub(crate) changes: Vec<Change>,
    /// Services with methods that older peers would miss or confuse.
    pub(crate) broken_services: BTreeSet<String>,
    /// The old names of messages and enums that older peers would decode incorrectly.
    pub(crate) broken_types: BTreeSet<String>,
    /// The old and new names of renamed types.
    pub(crate) renamed: BTreeSet<(String, String)>,
}

/// Compares the record of a schema with that of its lock.
pub(crate) fn compare(old: &Record, new: &Record, numbering: Numbering) -> LockComparison {
    let mut comparer = LockComparer { old, new, numbering, nested: old.nested(), found: LockComparison::default() };
    comparer.codec();
    comparer.methods();
    if old.codec == new.codec {
        comparer.layouts();
    }
    comparer.types();
    // Breaking changes come first. The sort is stable.
    comparer.found.changes.sort_by_key(|change| change.verdict);
    comparer.found
}

struct LockComparer<'a> {
    old: &'a Record,
    new: &'a Record,
    numbering: Numbering,
    /// The old messages that are nested in others, each with one such field.
    nested: BTreeMap<&'a str, String>,
    found: LockComparison,
}

impl<'a> LockComparer<'a> {
    fn safe(&mut self, origin: &Origin, text: String) {
        self.found.changes.push(Change { verdict: Verdict::Safe, origin: origin.clone(), text, advice: None });
    }

    fn safe_for_native(&mut self, origin: &Origin, text: String) {
        self.found.changes.push(Change { verdict: Verdict::SafeForNative, origin: origin.clone(), text, advice: None });
    }

    fn breaking(&mut self, origin: &Origin, text: String, advice: Option<String>) {
        self.found.changes.push(Change { verdict: Verdict::Breaking, origin: origin.clone(), text, advice });
    }

    /// Records that a type was replaced by another with the same layout.
    fn renamed_type(&mut self, old: &str, new: &str, what: &str, origin: &Origin) {
        let is_rename = !self.has_type(self.new, old) && !self.has_type(self.old, new);
        if !self.found.renamed.insert((old.to_owned(), new.to_owned())) && is_rename {
            return;
        }
        let text = if is_rename {
            format!("`{old}` was renamed to `{new}`; its layout is the same")
        } else {
            format!("{what} changed from `{old}` to `{new}`, which has the same layout")
        };
        self.safe(origin, text);
    }

    fn has_type(&self, record: &Record, name: &str) -> bool {
        record.messages.contains_key(name) || record.enums.contains_key(name)
    }

    /// Compares the codecs. No older peer can decode a different one.
    fn codec(&mut self) {
        let (before, now) = (self.old.codec, self.new.codec);
        if before == now {
            return;
        }
        let advice = format!("keep `codec(Codec::{before:?})`");
        self.breaking(&Origin::Lock(1), format!("the codec changed from {before:?} to {now:?}"), Some(advice));
        self.found.broken_services.extend(self.new.services().map(|service| service.name.clone()));
    }

    /// Compares the messages and enums whose names have not changed.
    fn layouts(&mut self) {
        for (name, before) in &self.old.messages {
            if let Some(now) = self.new.messages.get(name) {
                self.message(name, before, now);
            }
        }
        for (name, before) in &self.old.enums {
            if let Some(now) = self.new.enums.get(name) {
                self.enumeration(name, before, now);
            }
        }
    }

    /// Returns whether two types have the same layout. Types with the same name are compared elsewhere. Types with
    /// different names must have the same fields with the same names. With protobuf the fields are not known.
    fn same_type(&self, old: &Type, new: &Type, visited: &mut HashSet<(String, String)>) -> bool {
        match (old, new) {
            (Type::Scalar(old), Type::Scalar(new)) => old == new,
            (Type::Enum(before), Type::Enum(now)) => {
                let names = |found: &Enum| found.values.iter().map(|value| value.name.clone()).collect::<Vec<_>>();
                before == now
                    || match (self.old.enums.get(before), self.new.enums.get(now)) {
                        (Some(before), Some(now)) => names(before) == names(now) && aliases(before) == aliases(now),
                        _ => false,
                    }
            }
            (Type::Message(before), Type::Message(now)) => {
                if before == now {
                    return true;
                }
                if [self.old.codec, self.new.codec].contains(&Codec::Protobuf) {
                    return false;
                }
                if !visited.insert((before.clone(), now.clone())) {
                    return true;
                }
                let (Some(before), Some(now)) = (self.old.messages.get(before), self.new.messages.get(now)) else {
                    return false;
                };
                if before.fields.len() != now.fields.len() {
                    return false;
                }
                let positions: Vec<_> = (0..now.fields.len()).map(Some).collect();
                let oneofs = same_oneofs(before, now, &positions);
                before.fields.iter().zip(&now.fields).all(|(before, now)| {
                    before.name == now.name
                        && self.same_shape(&before.shape, &now.shape, visited)
                        && oneofs.are_compatible(&before.shape, &now.shape)
                })
            }
            _ => false,
        }
    }

    /// Returns whether two shapes are the same except for the names of types and oneofs.
    fn same_shape(&self, old: &Shape, new: &Shape, visited: &mut HashSet<(String, String)>) -> bool {
        let is_alike = match (old, new) {
            (Shape::Single(_), Shape::Single(_))
            | (Shape::Optional(_), Shape::Optional(_))
            | (Shape::Repeated(_), Shape::Repeated(_)) => true,
            (Shape::Member { member: before, .. }, Shape::Member { member: now, .. }) => before == now,
            (Shape::Map(before, _), Shape::Map(now, _)) => before == now,
            _ => false,
        };
        is_alike && self.same_type(old.of(), new.of(), visited)
    }

    /// Records types that were added or removed. This alone does not change the wire.
    fn types(&mut self) {
        let (old, new) = (self.old, self.new);
        let mut found = Vec::new();
        let all = |record: &'a Record| {
            let messages = record.messages.iter().map(|(name, it)| ("message", name, &it.origin));
            messages.chain(record.enums.iter().map(|(name, it)| ("enum", name, &it.origin)))
        };
        for (what, name, origin) in all(new) {
            if !self.has_type(old, name) && !self.found.renamed.iter().any(|(_, new)| new == name) {
                found.push((origin, format!("{what} `{name}` is new")));
            }
        }
        for (what, name, origin) in all(old) {
            if !self.has_type(new, name) && !self.found.renamed.iter().any(|(old, _)| old == name) {
                found.push((origin, format!("{what} `{name}` was removed")));
            }
        }
        for (origin, text) in found {
            self.safe(origin, text);
        }
    }
}

/// Returns for each value the index that encodes it, which is that of the first value with the same number.
fn aliases(of: &Enum) -> Vec<usize> {
    let first = |number: i32| of.values.iter().position(|value| value.number == number).unwrap_or(0);
    of.values.iter().map(|value| first(value.number)).collect()
}
