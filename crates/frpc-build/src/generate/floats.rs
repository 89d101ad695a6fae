//! Makes prost's code encode negative zeros. prost omits each value that is equal to zero, and `-0.0 == 0.0`.
//!
//! Affected types are messages with floats without presence, maps of floats or messages, and messages and oneofs with
//! `FloatValue` or `DoubleValue`. They get the attribute `#[prost(prost_path = "::frpc::codegen::floats")]`. prost's
//! derive macro then calls the functions of that module, which omit only positive zeros.

use prost_types::DescriptorProto;
use prost_types::field_descriptor_proto::{Label, Type as Kind};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, ItemStruct, Meta, Token};

use crate::error::Error;
use crate::generate::messages::map_value;
use crate::generate::prost_code::{MessageType, ProstAttribute, generics, message_types};
use crate::generate::utf8_bytes::{set_prost_path, shares_strings};
use crate::schema::Index;

/// Kind of a message field or member of a oneof that must keep negative zeros when encoded.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// A singular float, with or without presence.
    Float,
    /// A `FloatValue` or `DoubleValue`, or a map with values that may be or contain a negative zero.
    Composite,
}

/// Replaces the functions that encode floats and maps in types that may contain negative zeros.
pub(crate) fn distinguish_zeros(items: &mut [Item], index: &Index<'_>) -> Result<(), Error> {
    message_types(items, index).into_iter().try_for_each(|of| change(of, index))
}

fn change(of: MessageType<'_>, index: &Index<'_>) -> Result<(), Error> {
    let MessageType { proto, attributes, mut fields, is_oneof, .. } = of;
    let values: Vec<_> = fields.iter().map(|(field, _)| value(field, proto, index)).collect::<Result<_, _>>()?;
    let has_presence = |field: &[Attribute]| is_oneof || field.iter().any(|it| metas(it).iter().any(is_optional));
    let mut found = fields.iter().zip(&values);
    if !found.any(|((field, _), value)| value.is_some_and(|value| value == Value::Composite || !has_presence(field))) {
        return Ok(());
    }
    for ((field, _), _) in fields.iter_mut().zip(values).filter(|(_, value)| *value == Some(Value::Float)) {
        let has_presence = has_presence(field);
        field.iter_mut().for_each(|attribute| declare(attribute, has_presence));
    }
    let path =
        if shares_strings(attributes) { "::frpc::codegen::utf8_bytes::floats" } else { "::frpc::codegen::floats" };
    set_prost_path(attributes, path);
    Ok(())
}

/// Returns the kind of the field or member with these attributes.
fn value(attributes: &[Attribute], message: &DescriptorProto, index: &Index<'_>) -> Result<Option<Value>, Error> {
    let Some(prost) = ProstAttribute::read(attributes)?.filter(|prost| prost.oneof.is_none()) else {
        return Ok(None);
    };
    let Some(declared) = message.field.iter().find(|field| prost.tags == [field.number()]) else { return Ok(None) };
    let of_map = map_value(declared, index);
    Ok(match (of_map.unwrap_or(declared).r#type(), of_map) {
        (Kind::Float | Kind::Double | Kind::Message, Some(_)) => Some(Value::Composite),
        (Kind::Message, None) if WRAPPERS.contains(&declared.type_name()) => Some(Value::Composite),
        (Kind::Float | Kind::Double, None) if declared.label() != Label::Repeated => Some(Value::Float),
        _ => None,
    })
}

/// Messages that prost represents as `f32` and `f64`.
const WRAPPERS: [&str; 2] = [".google.protobuf.FloatValue", ".google.protobuf.DoubleValue"];

/// Changes the `#[prost]` attribute of a float field, so that prost's derive macro leaves the comparison with zero to
/// `frpc::codegen::floats`. A float without presence becomes a required field: `#[prost(required, float, tag = "1")]`.
/// A float with presence becomes a group: `#[prost(group, optional, tag = "1")]`.
fn declare(attribute: &mut Attribute, has_presence: bool) {
    let metas = metas(attribute);
    if has_presence && !metas.is_empty() {
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
