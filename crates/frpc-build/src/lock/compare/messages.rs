//! Compares the fields of messages by their positions and kinds.

use std::collections::HashSet;

use super::oneofs::{Oneofs, same_oneofs};
use super::{LockComparer, Verdict};
use crate::lock::align::{Step, align};
use crate::lock::record::{Field, Message, Origin, Shape, Type};

impl LockComparer<'_> {
    pub(super) fn message(&mut self, name: &str, before: &Message, now: &Message) {
        let what = format!("message `{name}`");
        let matches = self.same_fields(before, now);
        let oneofs = same_oneofs(before, now, &matches);
        let changes = self.found.changes.len();
        for step in align(before.fields.len(), &matches) {
            match step {
                Step::Matched { old, new } => self.field(&what, &before.fields[old], &now.fields[new], &oneofs),
                Step::Moved { old, new } => {
                    let field = &now.fields[new];
                    let text = format!("{what}: field `{}` moved from position {} to {}", field.name, old + 1, new + 1);
                    self.breaking(&field.origin, text, Some("keep the order of the declared fields".to_owned()));
                }
                Step::Replaced { old, new } => {
                    let (old, field) = (&before.fields[old], &now.fields[new]);
                    let text = format!(
                        "{what}: field `{}` was replaced by `{}` at position {}",
                        definition(old),
                        definition(field),
                        new + 1
                    );
                    self.breaking(&field.origin, text, Some(self.where_to_add_fields(name, before)));
                }
                Step::Inserted { new, before: next } => {
                    let (field, next) = (&now.fields[new], &now.fields[next]);
                    let origins = (&field.origin, &next.origin);
                    let because = if matches!(origins, (Origin::Schema(_, at), Origin::Schema(_, next)) if at > next) {
                        ": single fields come before lists, and messages and maps last"
                    } else {
                        ""
                    };
                    let text = format!(
                        "{what}: field `{}` was inserted at position {}, before `{}`{because}",
                        field.name,
                        new + 1,
                        next.name
                    );
                    self.breaking(&field.origin, text, Some(self.where_to_add_fields(name, before)));
                }
                Step::Appended { new } => self.appended(name, &now.fields[new], &oneofs),
                Step::Removed { old } => {
                    let field = &before.fields[old];
                    let text = format!("{what}: field `{}` at position {} was removed", definition(field), old + 1);
                    self.breaking(&now.origin, text, Some("keep the field and leave it empty".to_owned()));
                }
            }
        }
        if self.found.changes[changes..].iter().any(|change| change.verdict == Verdict::Breaking) {
            self.found.broken_types.insert(name.to_owned());
        }
    }

    /// Returns for each new field the position of the same old field. It is the one with the same name, or else the one
    /// with the same number if it is of the same kind.
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

    /// Compares a field whose position has not changed.
    fn field(&mut self, what: &str, before: &Field, now: &Field, oneofs: &Oneofs<'_>) {
        let name = &now.name;
        if !self.same_shape(&before.shape, &now.shape, &mut HashSet::new()) {
            let text = format!("{what}: field `{name}` changed from `{}` to `{}`", before.shape, now.shape);
            let advice = match (&before.shape, &now.shape) {
                (Shape::Single(before), Shape::Optional(now)) | (Shape::Optional(before), Shape::Single(now))
                    if before == now =>
                {
                    "between frpc peers an absent `optional` field is encoded as nil, which other fields cannot be"
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
                self.safe(&now.origin, format!("{what}: the oneof `{old}` of `{name}` was renamed to `{new}`"));
            }
        }
        if before.name != *name {
            self.safe(&now.origin, format!("{what}: field `{}` was renamed to `{name}`", before.name));
        }
        if before.number != now.number {
            let text = format!(
                "{what}: the number of field `{name}` changed from {} to {}, which matters in protobuf's encoding only",
                before.number, now.number
            );
            self.safe(&now.origin, text);
        }
        if let (Some(old), Some(new)) = (before.shape.of().name(), now.shape.of().name())
            && old != new
        {
            self.renamed_type(old, new, &format!("{what}: the type of `{name}`"), &now.origin);
        }
    }

    /// Compares a field that follows all others on the wire. Older peers ignore extra bytes at the end of a body, and
    /// fields that they do not send get their defaults. This does not apply to nested messages.
    fn appended(&mut self, name: &str, field: &Field, oneofs: &Oneofs<'_>) {
        let what = format!("message `{name}`: field `{}`", field.name);
        if let Some(holder) = self.nested.get(name) {
            let text = format!("{what} was appended, but another message contains this one (`{holder}`)");
            let advice = "only messages that no other message contains can grow: append a field to such a message";
            self.breaking(&field.origin, text, Some(advice.to_owned()));
            return;
        }
        if let Shape::Member { oneof, .. } = &field.shape
            && oneofs.pairs.iter().any(|(_, now)| now == oneof)
        {
            let text = format!(
                "{what} was added to the oneof `{oneof}`, and older peers cannot read a member that they do not know"
            );
            self.breaking(&field.origin, text, Some("declare it outside of the oneof, or in a new one".to_owned()));
            return;
        }
        self.safe_for_native(&field.origin, format!("{what} was appended"));
    }

    fn where_to_add_fields(&self, name: &str, before: &Message) -> String {
        if let Some(holder) = self.nested.get(name) {
            return format!("no field can be added to a message that another message contains (`{holder}`)");
        }
        let Some(last) = before.fields.last() else { return String::from("append a field") };
        let kinds = match last.shape {
            Shape::Map(..) | Shape::Single(Type::Message(_)) => "a message or map",
            Shape::Member { of: Type::Message(_), .. } => "a message or map",
            Shape::Repeated(_) => "a repeated field, message or map",
            _ => "a field of any kind",
        };
        format!("add {kinds} after `{}`, the last field on the wire", last.name)
    }
}

/// Returns the definition of a field as in the lock.
fn definition(field: &Field) -> String {
    format!("{} {} = {}", field.shape, field.name, field.number)
}
