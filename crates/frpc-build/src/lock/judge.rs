//! What a change of the schema does to peers that have not been rebuilt.
//!
//! The wire has no field numbers and no names: a field is its place, a method its operation, an enum value its index.
//! So a change is safe if everything that an older peer sends or expects stays at its place and of its kind. Names, and
//! where they are new, numbers, tell what is the same thing as before; a thing that only changes its name is safe.

mod methods;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Numbering;
use super::align::{Step, align};
use super::fingerprint::Fingerprint;
use super::record::{Enum, Field, Message, Origin, Record, Shape, Type};
use crate::codec::Codec;

/// How many fingerprints of earlier layouts are kept: as many as peers exchange.
const COMPATIBLE_MAX: usize = 32;

/// One difference between a schema and its lock.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) is_safe: bool,
    pub(crate) origin: Origin,
    pub(crate) text: String,
    /// What could be done instead of something that is not safe.
    pub(crate) advice: Option<String>,
}

/// All differences, and what they mean for each service.
#[derive(Default)]
pub(crate) struct Judgement {
    pub(crate) changes: Vec<Change>,
    /// Services whose methods older peers would miss or take for others.
    broken_services: BTreeSet<String>,
    /// Messages and enums, by their old names, that older peers would misread.
    broken_types: BTreeSet<String>,
    /// Old and new names of types that have changed theirs.
    renamed: BTreeSet<(String, String)>,
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
    judge.found.changes.sort_by_key(|change| change.is_safe);
    judge.found
}

/// Gives `new` the history of `old`: earlier fingerprints, and which fields have been appended.
pub(crate) fn carry_history(old: &Record, new: &mut Record, found: &Judgement) {
    if old.codec == new.codec {
        carry_added(old, new, found);
    }
    let layouts = new.clone();
    for service in new.files.iter_mut().flat_map(|file| &mut file.services) {
        let Some(before) = old.service(&service.name) else {
            service.generation = old.removed_services.get(&service.name).copied().unwrap_or(0);
            continue;
        };
        let is_broken = found.broken_services.contains(&service.name)
            || old.reach(before.roots()).into_iter().any(|name| found.broken_types.contains(name));
        if is_broken {
            service.generation = before.generation.saturating_add(1);
            continue;
        }
        service.generation = before.generation;
        let now = Fingerprint::of(service, &layouts);
        service.compatible = before.compatible.clone();
        service.compatible.push(Fingerprint::of(before, old));
        service.compatible.retain(|fingerprint| *fingerprint != now);
        let surplus = service.compatible.len().saturating_sub(COMPATIBLE_MAX);
        service.compatible.drain(..surplus);
    }
    new.removed_services = old.removed_services.clone();
    new.removed_services.extend(old.services().map(|it| (it.name.clone(), it.generation.saturating_add(1))));
    new.removed_services.retain(|name, _| layouts.service(name).is_none());
}

/// Which fields older peers may not send.
fn carry_added(old: &Record, new: &mut Record, found: &Judgement) {
    for (name, message) in &mut new.messages {
        // The message of that name, and those whose place it has taken.
        let replaced = found.renamed.iter().filter(|(_, now)| now == name).map(|(before, _)| before);
        let known = std::iter::once(name).chain(replaced).filter(|name| !found.broken_types.contains(*name));
        let before: Vec<_> = known.filter_map(|name| old.messages.get(name)).collect();
        for (at, field) in message.fields.iter_mut().enumerate() {
            field.is_added = before.iter().any(|before| before.fields.get(at).is_none_or(|field| field.is_added));
        }
    }
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
        self.found.changes.push(Change { is_safe: true, origin: origin.clone(), text, advice: None });
    }

    fn breaking(&mut self, origin: &Origin, text: String, advice: Option<String>) {
        self.found.changes.push(Change { is_safe: false, origin: origin.clone(), text, advice });
    }

    /// A type whose place another with the same layout has taken.
    fn renamed_type(&mut self, old: &str, new: &str, what: &str, origin: &Origin) {
        let is_rename = !self.has_type(self.new, old) && !self.has_type(self.old, new);
        if !self.found.renamed.insert((old.to_owned(), new.to_owned())) && is_rename {
            return;
        }
        let text = if is_rename {
            format!("`{old}` is called `{new}` now; its layout is the same")
        } else {
            format!("{what} is `{new}` instead of `{old}`, which has the same layout")
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
        self.breaking(&Origin::Lock(1), format!("the codec is {now:?} instead of {before:?}"), Some(advice));
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
                let oneofs = oneofs(before, now, &places);
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

    fn message(&mut self, name: &str, before: &Message, now: &Message) {
        let what = format!("message `{name}`");
        let matches = self.same_fields(before, now);
        let oneofs = oneofs(before, now, &matches);
        let changes = self.found.changes.len();
        for step in align(before.fields.len(), &matches) {
            match step {
                Step::Kept { old, new } => self.field(&what, &before.fields[old], &now.fields[new], &oneofs),
                Step::Moved { old, new } => {
                    let field = &now.fields[new];
                    let text = format!("{what}: field `{}` moved from place {} to {}", field.name, old + 1, new + 1);
                    self.breaking(&field.origin, text, Some("keep the order in which fields are declared".to_owned()));
                }
                Step::Replaced { old, new } => {
                    let (old, field) = (&before.fields[old], &now.fields[new]);
                    let text = format!(
                        "{what}: field `{}` was replaced by `{}` at place {}",
                        definition(old),
                        definition(field),
                        new + 1
                    );
                    self.breaking(&field.origin, text, Some(self.where_to_add_fields(name, before)));
                }
                Step::Inserted { new, before: next } => {
                    let (field, next) = (&now.fields[new], &now.fields[next]);
                    let declared_last = is_declared_behind(field, next);
                    let because = if declared_last {
                        ": single fields come before lists, and messages and maps last"
                    } else {
                        ""
                    };
                    let text = format!(
                        "{what}: field `{}` was inserted at place {}, before `{}`{because}",
                        field.name,
                        new + 1,
                        next.name
                    );
                    self.breaking(&field.origin, text, Some(self.where_to_add_fields(name, before)));
                }
                Step::Appended { new } => self.appended(name, &now.fields[new], &oneofs),
                Step::Removed { old } => {
                    let field = &before.fields[old];
                    let text = format!("{what}: field `{}` at place {} is gone", definition(field), old + 1);
                    self.breaking(&now.origin, text, Some("keep the field and leave it empty".to_owned()));
                }
            }
        }
        if self.found.changes[changes..].iter().any(|change| !change.is_safe) {
            self.found.broken_types.insert(name.to_owned());
        }
    }

    /// For each new field the place of the old one that it is: by its name, or else by its number if it is of the same
    /// kind.
    fn same_fields(&self, before: &Message, now: &Message) -> Vec<Option<usize>> {
        let is_new = |old: &Field| !now.fields.iter().any(|field| field.name == old.name);
        let same = |field: &Field| {
            let by_name = before.fields.iter().position(|old| old.name == field.name);
            by_name.or_else(|| {
                before.fields.iter().position(|old| {
                    old.number == field.number
                        && is_new(old)
                        && self.same_shape(&old.shape, &field.shape, &mut HashSet::new())
                })
            })
        };
        now.fields.iter().map(same).collect()
    }

    /// A field that has its place.
    fn field(&mut self, what: &str, before: &Field, now: &Field, oneofs: &Oneofs<'_>) {
        let name = &now.name;
        if !self.same_shape(&before.shape, &now.shape, &mut HashSet::new()) {
            let text = format!("{what}: field `{name}` changed from `{}` to `{}`", before.shape, now.shape);
            let advice = match (&before.shape, &now.shape) {
                (Shape::Single(before), Shape::Optional(now)) | (Shape::Optional(before), Shape::Single(now))
                    if before == now =>
                {
                    "an absent `optional` is a nil between frpc peers, which a field without it cannot be"
                }
                _ => "keep the field as it is",
            };
            self.breaking(&now.origin, text, Some(advice.to_owned()));
            return;
        }
        if let (Shape::Member { oneof: old, .. }, Shape::Member { oneof: new, .. }) = (&before.shape, &now.shape) {
            if !oneofs.is_same(old, new) {
                let text = format!("{what}: field `{name}` moved from the oneof `{old}` to `{new}`");
                self.breaking(&now.origin, text, Some("keep the field where it is".to_owned()));
                return;
            }
            if old != new {
                self.safe(&now.origin, format!("{what}: the oneof `{old}` of `{name}` is called `{new}` now"));
            }
        }
        if before.name != *name {
            self.safe(&now.origin, format!("{what}: field `{}` is called `{name}` now", before.name));
        }
        if before.number != now.number {
            let text = format!(
                "{what}: field `{name}` has the number {} instead of {}, which only protobuf's own encoding shows",
                now.number, before.number
            );
            self.safe(&now.origin, text);
        }
        if let (Some(old), Some(new)) = (before.shape.of().name(), now.shape.of().name())
            && old != new
        {
            self.renamed_type(old, new, &format!("{what}: the type of `{name}`"), &now.origin);
        }
    }

    /// A field behind all others on the wire. Older peers leave what they do not expect at the end of a body, and what
    /// they do not send is taken for defaults; inside of a body there is no end.
    fn appended(&mut self, name: &str, field: &Field, oneofs: &Oneofs<'_>) {
        let what = format!("message `{name}`: field `{}`", field.name);
        if let Some(holder) = self.nested.get(name) {
            let text = format!("{what} was appended, but the message stands inside of others (`{holder}`)");
            let advice = "only messages that are nothing but requests, replies or stream messages can grow; \
                          append a field there";
            self.breaking(&field.origin, text, Some(advice.to_owned()));
            return;
        }
        if let Shape::Member { oneof, .. } = &field.shape
            && oneofs.has_members(oneof)
        {
            let text = format!("{what} was added to the oneof `{oneof}`, which older peers cannot read then");
            self.breaking(&field.origin, text, Some("declare it outside of the oneof, or in a new one".to_owned()));
            return;
        }
        self.safe(&field.origin, format!("{what} was appended"));
    }

    fn where_to_add_fields(&self, name: &str, before: &Message) -> String {
        if let Some(holder) = self.nested.get(name) {
            return format!("nothing can be added to a message that stands inside of others (`{holder}`)");
        }
        let Some(last) = before.fields.last() else { return String::from("append a field") };
        let kinds = match last.shape {
            Shape::Map(..) | Shape::Single(Type::Message(_)) => "a message or map",
            Shape::Member { of: Type::Message(_), .. } => "a message or map",
            Shape::Repeated(_) => "a repeated field, message or map",
            _ => "a field of any kind",
        };
        format!("declare {kinds} behind `{}`, the last field on the wire", last.name)
    }

    fn enumeration(&mut self, name: &str, before: &Enum, now: &Enum) {
        let what = format!("enum `{name}`");
        let changes = self.found.changes.len();
        let (aliases_before, aliases_now) = (aliases(before), aliases(now));
        for step in align(before.values.len(), &same_values(before, now)) {
            match step {
                Step::Kept { old, new } => {
                    let (value, other) = (&now.values[new], &before.values[old]);
                    if old == new && aliases_before.get(old) != aliases_now.get(new) {
                        let text = format!("{what}: value `{}` is another name of another value now", value.name);
                        self.breaking(&value.origin, text, Some("keep its number".to_owned()));
                        continue;
                    }
                    if value.name != other.name {
                        self.safe(
                            &value.origin,
                            format!("{what}: value `{}` is called `{}` now", other.name, value.name),
                        );
                    }
                    if value.number != other.number {
                        let text = format!(
                            "{what}: value `{}` has the number {} instead of {}, which only protobuf's own encoding shows",
                            value.name, value.number, other.number
                        );
                        self.safe(&value.origin, text);
                    }
                }
                Step::Moved { old, new } => {
                    let value = &now.values[new];
                    let text = format!("{what}: value `{}` moved from index {old} to {new}", value.name);
                    self.breaking(&value.origin, text, Some("keep the order in which values are declared".to_owned()));
                }
                Step::Replaced { old, new } => {
                    let (old, value) = (&before.values[old], &now.values[new]);
                    let text = format!("{what}: value `{}` was replaced by `{}` at index {new}", old.name, value.name);
                    self.breaking(&value.origin, text, Some(where_to_add_values(before)));
                }
                Step::Inserted { new, before: next } => {
                    let (value, next) = (&now.values[new], &now.values[next]);
                    let text =
                        format!("{what}: value `{}` was inserted at index {new}, before `{}`", value.name, next.name);
                    self.breaking(&value.origin, text, Some(where_to_add_values(before)));
                }
                Step::Appended { new } => {
                    let value = &now.values[new];
                    self.safe(&value.origin, format!("{what}: value `{}` was appended, with index {new}", value.name));
                }
                Step::Removed { old } => {
                    let text = format!("{what}: value `{}` with index {old} is gone", before.values[old].name);
                    self.breaking(&now.origin, text, Some("keep the value, perhaps as `deprecated`".to_owned()));
                }
            }
        }
        if self.found.changes[changes..].iter().any(|change| !change.is_safe) {
            self.found.broken_types.insert(name.to_owned());
        }
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
                found.push((origin, format!("{what} `{name}` is gone")));
            }
        }
        for (origin, text) in found {
            self.safe(origin, text);
        }
    }
}

/// For each new value the index of the old one that it is: by its name, or else by its number at the same index.
fn same_values(before: &Enum, now: &Enum) -> Vec<Option<usize>> {
    let same = |(index, value): (usize, &super::record::Value)| {
        let by_name = before.values.iter().position(|old| old.name == value.name);
        by_name.or_else(|| {
            let old = before.values.get(index).filter(|old| old.number == value.number)?;
            (!now.values.iter().any(|other| other.name == old.name)).then_some(index)
        })
    };
    now.values.iter().enumerate().map(same).collect()
}

/// For each value the index that goes out for it: that of the first with its number.
fn aliases(of: &Enum) -> Vec<usize> {
    let first = |number: i32| of.values.iter().position(|value| value.number == number).unwrap_or(0);
    of.values.iter().map(|value| first(value.number)).collect()
}

fn where_to_add_values(before: &Enum) -> String {
    let last = before.values.last().map_or("", |value| &value.name);
    format!("declare new values behind `{last}`, the last one, whatever their numbers")
}

/// As the lock writes it.
fn definition(field: &Field) -> String {
    format!("{} {} = {}", field.shape, field.name, field.number)
}

/// Whether `field` is declared behind `other`, although it stands before it on the wire.
fn is_declared_behind(field: &Field, other: &Field) -> bool {
    match (&field.origin, &other.origin) {
        (Origin::Schema(_, field), Origin::Schema(_, other)) => field > other,
        _ => false,
    }
}

/// Which oneof of the old message is which of the new one.
struct Oneofs<'a> {
    pairs: BTreeSet<(&'a str, &'a str)>,
}

fn oneofs<'a>(before: &'a Message, now: &'a Message, matches: &[Option<usize>]) -> Oneofs<'a> {
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
    fn is_same(&self, old: &str, new: &str) -> bool {
        let touching = self.pairs.iter().filter(|(before, now)| *before == old || *now == new);
        touching.count() == 1
    }

    /// Whether a field is in no oneof, or still with those that it was with.
    fn hold(&self, old: &Shape, new: &Shape) -> bool {
        match (old, new) {
            (Shape::Member { oneof: old, .. }, Shape::Member { oneof: new, .. }) => self.is_same(old, new),
            _ => true,
        }
    }

    /// Whether a oneof of the new message has members that are not new.
    fn has_members(&self, new: &str) -> bool {
        self.pairs.iter().any(|(_, now)| *now == new)
    }
}
