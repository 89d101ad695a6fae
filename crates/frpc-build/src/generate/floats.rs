//! Makes prost's code encode negative zeros. prost omits each value that is equal to zero, and `-0.0 == 0.0`.
//!
//! Affected messages are those with floats without presence, maps of floats, or maps of messages. They get the
//! attribute `#[prost(prost_path = "::frpc::codegen::floats")]`. prost's derive macro then calls the functions of that
//! module, which omit only positive zeros.

use prost_types::DescriptorProto;
use prost_types::field_descriptor_proto::{Label, Type as Kind};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Field, Item, ItemStruct, Meta, Token};

use crate::error::Error;
use crate::generate::messages::map_value;
use crate::generate::prost_code::{ProstAttribute, generics, marker};
use crate::generate::utf8_bytes::{prost_path, shares_strings};
use crate::schema::Index;

/// Kind of a message field whose encoding must keep negative zeros.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// A singular float, with or without presence.
    Float,
    /// A map whose values may be or contain a negative zero.
    Map,
}

/// Replaces the functions that encode floats and maps in messages that may contain negative zeros.
pub(crate) fn distinguish_zeros(items: &mut [Item], index: &Index<'_>) -> Result<(), Error> {
    for item in items {
        match item {
            Item::Mod(item) => {
                if let Some((_, items)) = &mut item.content {
                    distinguish_zeros(items, index)?;
                }
            }
            Item::Struct(item) => {
                if let Some(found) = marker(&item.attrs).and_then(|name| index.messages.get(&name)) {
                    change(item, found.proto, index)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn change(item: &mut ItemStruct, message: &DescriptorProto, index: &Index<'_>) -> Result<(), Error> {
    let mut values = Vec::new();
    for field in &item.fields {
        values.push(value(field, message, index)?);
    }
    let has_presence = |field: &Field| field.attrs.iter().any(|it| metas(it).iter().any(is_optional));
    let mut found = item.fields.iter().zip(&values);
    if !found.any(|(field, value)| value.is_some_and(|value| value == Value::Map || !has_presence(field))) {
        return Ok(());
    }
    for (field, value) in item.fields.iter_mut().zip(values) {
        if value == Some(Value::Float) {
            field.attrs.iter_mut().for_each(declare);
        }
    }
    let path =
        if shares_strings(&item.attrs) { "::frpc::codegen::utf8_bytes::floats" } else { "::frpc::codegen::floats" };
    let of_path = item.attrs.iter_mut().filter(|attribute| prost_path(attribute).is_some());
    of_path.for_each(|attribute| *attribute = syn::parse_quote! { #[prost(prost_path = #path)] });
    Ok(())
}

fn value(field: &Field, message: &DescriptorProto, index: &Index<'_>) -> Result<Option<Value>, Error> {
    let Some(prost) = ProstAttribute::read(&field.attrs)?.filter(|prost| prost.oneof.is_none()) else {
        return Ok(None);
    };
    let Some(declared) = message.field.iter().find(|field| prost.tags == [field.number()]) else { return Ok(None) };
    let of_map = map_value(declared, index);
    Ok(match (of_map.unwrap_or(declared).r#type(), of_map) {
        (Kind::Float | Kind::Double | Kind::Message, Some(_)) => Some(Value::Map),
        (Kind::Float | Kind::Double, None) if declared.label() != Label::Repeated => Some(Value::Float),
        _ => None,
    })
}

/// Changes the `#[prost]` attribute of a float field, so that prost's derive macro leaves the comparison with zero to
/// `frpc::codegen::floats`. A float without presence becomes a required field: `#[prost(required, float, tag = "1")]`.
/// A float with presence becomes a group: `#[prost(group, optional, tag = "1")]`.
fn declare(attribute: &mut Attribute) {
    let metas = metas(attribute);
    if metas.iter().any(is_optional) {
        let metas = metas.iter().filter(|meta| !["float", "double"].iter().any(|name| meta.path().is_ident(name)));
        *attribute = syn::parse_quote! { #[prost(group, #(#metas),*)] };
    } else if !metas.is_empty() {
        *attribute = syn::parse_quote! { #[prost(required, #(#metas),*)] };
    }
}

fn is_optional(meta: &Meta) -> bool {
    meta.path().is_ident("optional")
}

/// Returns the arguments of a `#[prost(…)]` attribute if one of them is a field number. Returns an empty list for other
/// attributes.
fn metas(attribute: &Attribute) -> Vec<Meta> {
    let parsed = attribute
        .path()
        .is_ident("prost")
        .then(|| attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated));
    let metas: Vec<_> = parsed.and_then(Result::ok).into_iter().flatten().collect();
    if metas.iter().any(|meta| meta.path().is_ident("tag")) { metas } else { Vec::new() }
}

/// Generates getters for floats with presence, such as `fn price(&self) -> f64` for `optional double price`. prost
/// derives no getters for these fields, because [`declare`] has turned them into groups.
pub(crate) fn getters(item: &ItemStruct) -> Option<Item> {
    let groups = item.fields.iter().filter(|field| {
        field.attrs.iter().any(|attribute| metas(attribute).iter().any(|meta| meta.path().is_ident("group")))
    });
    let getters = groups.filter_map(|field| {
        let (name, ty) = (field.ident.as_ref()?, *generics(&field.ty).first()?);
        let doc = format!(" Returns the value of `{name}`, or the default value if `{name}` is unset.");
        Some(quote! {
            #[doc = #doc]
            pub fn #name(&self) -> #ty {
                self.#name.unwrap_or_default()
            }
        })
    });
    let (getters, ident) = (getters.collect::<Vec<_>>(), &item.ident);
    (!getters.is_empty()).then(|| syn::parse_quote! { #[allow(dead_code)] impl #ident { #(#getters)* } })
}
