//! What a change of the schema does to peers that have not been rebuilt.
//!
//! The wire has no field numbers and no names: a field is its place, a method its operation, an enum value its index.
//! So a change is safe if everything that an older peer sends or expects stays at its place and of its kind. Names, and
//! where they are new, numbers, tell what is the same thing as before; a thing that only changes its name is safe.

mod enums;
mod messages;
mod methods;
mod oneofs;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::numbering::Numbering;
use super::record::{Enum, Origin, Record, Shape, Type};
use crate::codec::Codec;
use oneofs::same_oneofs;

/// One difference between a schema and its lock.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) verdict: Verdict,
    pub(crate) origin: Origin,
    pub(crate) text: String,
    /// What could be done instead of something that is not safe.
    pub(crate) advice: Option<String>,
}

/// Which peers understand each other after a change if only one of them has been rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Those of one service at least do not.
    Breaking,
    /// Those that are ours do: they tell each other which layouts they know. Go peers do not.
    SafeAmongOurs,
    /// All do.
    Safe,
}

/// All differences, and what they mean for each service.
#[derive(Default)]
pub(crate) struct Judgement {
    pub(crate) changes: Vec<Change>,
    /// Services whose methods older peers would miss or take for others.
    pub(crate) broken_services: BTreeSet<String>,
    /// Messages and enums, by their old names, that older peers would misread.
    pub(crate) broken_types: BTreeSet<String>,
    /// Old and new names of types that have changed theirs.
    pub(crate) renamed: BTreeSet<(String, String)>,
}

/// Compares a schema with what its lock records.
pub(crate) fn judge(old: &Record, new: &Record, numbering: Numbering) -> Judgement {
    let mut judge = Judge { old, new, numbering, nested: old.nested(), found: Judgement::default() };
    judge.codec();
    judge.methods();
    if old.codec == new.codec {
        judge.layouts();
    }
    judge.types();
    // What is not safe comes first, each part in the order in which it was found.
    judge.found.changes.sort_by_key(|change| change.verdict);
    judge.found
}

struct Judge<'a> {
    old: &'a Record,
    new: &'a Record,
    numbering: Numbering,
    /// The old messages that stand inside of others, each with a field that holds it.
    nested: BTreeMap<&'a str, String>,
    found: Judgement,
}

impl<'a> Judge<'a> {
    fn safe(&mut self, origin: &Origin, text: String) {
        self.found.changes.push(Change { verdict: Verdict::Safe, origin: origin.clone(), text, advice: None });
    }

    fn safe_among_ours(&mut self, origin: &Origin, text: String) {
        self.found.changes.push(Change { verdict: Verdict::SafeAmongOurs, origin: origin.clone(), text, advice: None });
    }

    fn breaking(&mut self, origin: &Origin, text: String, advice: Option<String>) {
        self.found.changes.push(Change { verdict: Verdict::Breaking, origin: origin.clone(), text, advice });
    }

    /// A type whose place another with the same layout has taken.
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

    /// Bodies in another codec, which no older peer reads.
    fn codec(&mut self) {
        let (before, now) = (self.old.codec, self.new.codec);
        if before == now {
            return;
        }
        let advice = format!("keep `codec(Codec::{before:?})`");
        self.breaking(&Origin::Lock(1), format!("the codec changed from {before:?} to {now:?}"), Some(advice));
        self.found.broken_services.extend(self.new.services().map(|service| service.name.clone()));
    }

    /// Messages and enums that have kept their names.
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

    /// Whether two types stand on the wire in the same way. Of types with one name that is judged elsewhere; types with
    /// two names must have the same fields, called the same. With protobuf nothing is known of the fields.
    fn same_type(&self, old: &Type, new: &Type, open: &mut HashSet<(String, String)>) -> bool {
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
                if !open.insert((before.clone(), now.clone())) {
                    return true;
                }
                let (Some(before), Some(now)) = (self.old.messages.get(before), self.new.messages.get(now)) else {
                    return false;
                };
                if before.fields.len() != now.fields.len() {
                    return false;
                }
                let places: Vec<_> = (0..now.fields.len()).map(Some).collect();
                let oneofs = same_oneofs(before, now, &places);
                before.fields.iter().zip(&now.fields).all(|(before, now)| {
                    before.name == now.name
                        && self.same_shape(&before.shape, &now.shape, open)
                        && oneofs.hold(&before.shape, &now.shape)
                })
            }
            _ => false,
        }
    }

    /// The same but for the names of types and oneofs.
    fn same_shape(&self, old: &Shape, new: &Shape, open: &mut HashSet<(String, String)>) -> bool {
        let is_alike = match (old, new) {
            (Shape::Single(_), Shape::Single(_))
            | (Shape::Optional(_), Shape::Optional(_))
            | (Shape::Repeated(_), Shape::Repeated(_)) => true,
            (Shape::Member { member: before, .. }, Shape::Member { member: now, .. }) => before == now,
            (Shape::Map(before, _), Shape::Map(now, _)) => before == now,
            _ => false,
        };
        is_alike && self.same_type(old.of(), new.of(), open)
    }

    /// Types that have come and gone. By themselves they are not on the wire.
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

/// For each value the index that goes out for it: that of the first with its number.
fn aliases(of: &Enum) -> Vec<usize> {
    let first = |number: i32| of.values.iter().position(|value| value.number == number).unwrap_or(0);
    of.values.iter().map(|value| first(value.number)).collect()
}
