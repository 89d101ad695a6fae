//! Replaces `String` by `Utf8Bytes` in prost's code, because prost-build has no option for it.
//!
//! Types with such fields get the attribute `#[prost(prost_path = "::frpc::codegen::utf8_bytes")]`. prost's derive
//! macro then calls the functions of that module, which support `Utf8Bytes`, instead of prost's own.

use proc_macro2::TokenStream;
use prost_types::field_descriptor_proto::Type as ProtoType;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, GenericArgument, Item, Meta, PathArguments, Token, Type};

use crate::error::Error;
use crate::generate::messages::map_value;
use crate::generate::prost_code::{MessageType, ProstAttribute, is_named, message_types, text_of};
use crate::schema::patterns::path_matches;
use crate::schema::{Index, full_name};

/// Path of the module that replaces `prost` in types with fields of type `Utf8Bytes`.
const PROST: &str = "::frpc::codegen::utf8_bytes";

/// Replaces `String` with `Utf8Bytes` in the fields selected by `paths`.
pub(crate) fn share_strings(items: &mut [Item], index: &Index<'_>, paths: &[String]) -> Result<(), Error> {
    for MessageType { name, proto, attributes, fields, .. } in message_types(items, index) {
        let mut is_changed = false;
        for (attributes, ty) in fields {
            let Some(prost) = ProstAttribute::read(attributes)? else { continue };
            let ([tag], None) = (&prost.tags[..], prost.oneof) else { continue };
            let Some(declared) = proto.field.iter().find(|field| field.number() == *tag) else { continue };
            let is_string = map_value(declared, index).unwrap_or(declared).r#type() == ProtoType::String;
            let name = full_name(name.trim_start_matches('.'), declared.name());
            if is_string && paths.iter().any(|path| path_matches(path, &name)) && share(ty) {
                attributes.iter_mut().for_each(declare);
                is_changed = true;
            }
        }
        if is_changed {
            set_prost_path(attributes, PROST);
        }
    }
    Ok(())
}

/// Returns whether `String` was replaced with `Utf8Bytes` in fields of a type, given the attributes of the type. prost
/// cannot derive `Debug` for such a type.
pub(crate) fn shares_strings(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| prost_path(attribute).is_some_and(|path| path.starts_with(PROST)))
}

/// Replaces `String` with `Utf8Bytes` within options, lists and map values. Returns `false` if the type contains no
/// `String`.
fn share(ty: &mut Type) -> bool {
    if is_named(ty, "String") {
        *ty = syn::parse_quote! { ::frpc::polyglot::Utf8Bytes };
        return true;
    }
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last_mut().map(|segment| &mut segment.arguments);
    let Some(PathArguments::AngleBracketed(arguments)) = last else { return false };
    // The last type argument is the value type of a map.
    let inner = arguments.args.iter_mut().rev().find_map(|argument| match argument {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    });
    inner.is_some_and(share)
}

/// Declares a string field to prost as a bytes field, as in `#[prost(bytes = "bytes", tag = "1")]`. The code that prost
/// derives for bytes names no Rust type, so it also works for `Utf8Bytes`. Optional fields remain declared as strings,
/// because their getter returns `&str`.
fn declare(attribute: &mut Attribute) {
    if !attribute.path().is_ident("prost") {
        return;
    }
    let Ok(metas) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return };
    if metas.iter().any(|meta| meta.path().is_ident("optional")) {
        return;
    }
    let metas = metas.into_iter().map(|meta| match (&meta, text_of(&meta)) {
        (Meta::Path(path), _) if path.is_ident("string") => quote! { bytes = "bytes" },
        (_, Some((name, types))) if name == "map" || name == "btree_map" => {
            let (path, types) = (meta.path(), types.value());
            let types = types.strip_suffix("string").map_or(types.clone(), |key| format!("{key}bytes"));
            quote! { #path = #types }
        }
        _ => quote! { #meta },
    });
    let metas: Vec<TokenStream> = metas.collect();
    *attribute = syn::parse_quote! { #[prost(#(#metas),*)] };
}

/// Changes the path that prost's derive macro uses instead of `::prost` in the type with these attributes.
pub(crate) fn set_prost_path(attributes: &mut [Attribute], path: &str) {
    let of_path = attributes.iter_mut().filter(|attribute| prost_path(attribute).is_some());
    of_path.for_each(|attribute| *attribute = syn::parse_quote! { #[prost(prost_path = #path)] });
}

/// Returns the path in an attribute `#[prost(prost_path = "…")]`, which prost's derive macro uses instead of `::prost`.
/// Returns `None` for other attributes.
fn prost_path(attribute: &Attribute) -> Option<String> {
    let meta: Meta = attribute.path().is_ident("prost").then(|| attribute.parse_args().ok())??;
    text_of(&meta).filter(|(name, _)| name == "prost_path").map(|(_, text)| text.value())
}
