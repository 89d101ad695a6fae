//! Removes derives that user-defined types may not support.
//!
//! prost-build derives `Copy`, `Eq` and `Hash` for a message if the protobuf types of all its fields permit it. It does
//! not know whether the Rust types of `extern_path` implement these traits. If a field has such a type without the
//! traits, the derives would not compile.

use std::collections::{HashMap, HashSet};

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Path, Token};

use crate::generate::messages::field_type;
use crate::generate::prost_code::{MessageType, message_types};
use crate::schema::Index;
use crate::schema::externs::{Externs, Owner};

/// Traits that prost-build derives only if all fields of a message implement them.
const CONDITIONAL: [&str; 3] = ["Copy", "Eq", "Hash"];

/// Removes the derives of `Copy`, `Eq` and `Hash` from each message that contains a user-defined type, and from the
/// enums of its oneofs. Users can restore them with `type_attribute`.
pub(crate) fn remove_conditional(items: &mut [Item], index: &Index<'_>, externs: &Externs) {
    let affected = messages_with_user_types(index, externs);
    for MessageType { name, attributes, .. } in message_types(items, index) {
        if affected.contains(name)
            && let Some(derive) = attributes.iter_mut().find(|attribute| attribute.path().is_ident("derive"))
        {
            remove_from(derive);
        }
    }
}

/// Returns the messages that contain, directly or transitively, a type that `extern_path` maps to a user-defined type.
fn messages_with_user_types<'a>(index: &'a Index<'_>, externs: &Externs) -> HashSet<&'a str> {
    let mut owners: HashMap<&str, Vec<&str>> = HashMap::new();
    for (owner, found) in &index.messages {
        for field in &found.proto.field {
            owners.entry(field_type(field, index)).or_default().push(owner);
        }
    }
    let mut pending: Vec<&str> = index.messages.keys().map(String::as_str).collect();
    pending.retain(|name| externs.owner(name) == Some(Owner::User));
    let mut affected = HashSet::new();
    while let Some(name) = pending.pop() {
        if affected.insert(name) {
            pending.extend(owners.get(name).into_iter().flatten());
        }
    }
    affected
}

/// Removes the traits in [`CONDITIONAL`] from a `#[derive]` attribute. The attribute must be the first `#[derive]` of a
/// type, because that is the one from prost-build. Further ones are from the user.
fn remove_from(derive: &mut Attribute) {
    let Ok(paths) = derive.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) else { return };
    let kept = paths.into_iter().filter(|path| !CONDITIONAL.iter().any(|name| path.is_ident(name)));
    let kept: Punctuated<Path, Token![,]> = kept.collect();
    *derive = syn::parse_quote! { #[derive(#kept)] };
}
