//! Compares the values of enums by their indexes.

use super::{LockComparer, Verdict, aliases};
use crate::lock::align::{Step, align};
use crate::lock::record::{Enum, Value};

impl LockComparer<'_> {
    pub(super) fn enumeration(&mut self, name: &str, before: &Enum, now: &Enum) {
        let what = format!("enum `{name}`");
        let changes = self.found.changes.len();
        let (aliases_before, aliases_now) = (aliases(before), aliases(now));
        for step in align(before.values.len(), &same_values(before, now)) {
            match step {
                Step::Matched { old, new } => {
                    let (value, other) = (&now.values[new], &before.values[old]);
                    if old == new && aliases_before.get(old) != aliases_now.get(new) {
                        let text = format!("{what}: value `{}` is an alias of another value now", value.name);
                        self.breaking(&value.origin, text, Some("keep its number".to_owned()));
                        continue;
                    }
                    if value.name != other.name {
                        self.safe(
                            &value.origin,
                            format!("{what}: value `{}` was renamed to `{}`", other.name, value.name),
                        );
                    }
                    if value.number != other.number {
                        let text = format!(
                            "{what}: the number of value `{}` changed from {} to {}, which matters in protobuf's \
                             encoding only",
                            value.name, other.number, value.number
                        );
                        self.safe(&value.origin, text);
                    }
                }
                Step::Moved { old, new } => {
                    let value = &now.values[new];
                    let text = format!("{what}: value `{}` moved from index {old} to {new}", value.name);
                    self.breaking(&value.origin, text, Some("keep the order of the declared values".to_owned()));
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
                    let text = format!("{what}: value `{}` with index {old} was removed", before.values[old].name);
                    self.breaking(&now.origin, text, Some("keep the value, perhaps as `deprecated`".to_owned()));
                }
            }
        }
        if self.found.changes[changes..].iter().any(|change| change.verdict == Verdict::Breaking) {
            self.found.broken_types.insert(name.to_owned());
        }
    }
}

/// Returns for each new value the index of the same old value. It is the one with the same name, or else the one at the
/// same index if its number is the same.
fn same_values(before: &Enum, now: &Enum) -> Vec<Option<usize>> {
    let same = |(index, value): (usize, &Value)| {
        let by_name = before.values.iter().position(|old| old.name == value.name);
        by_name.or_else(|| {
            let old = before.values.get(index).filter(|old| old.number == value.number)?;
            (!now.values.iter().any(|other| other.name == old.name)).then_some(index)
        })
    };
    now.values.iter().enumerate().map(same).collect()
}

fn where_to_add_values(before: &Enum) -> String {
    let last = before.values.last().map_or("", |value| &value.name);
    format!("add new values after `{last}`, the last one, with any numbers")
}
