//! Generates the JSON mapping: frpc-json's `Fields` for structs and `Enumeration` for enums.
//!
//! The generated code of a message has one line per field and direction, in the order of declaration. Well-known types
//! have special JSON forms, which a macro in frpc-json implements. The parser has already set the JSON names of all
//! fields and rejected duplicates.

use std::collections::HashSet;

use proc_macro2::{Literal, TokenStream};
use prost_types::FieldDescriptorProto;
use quote::{format_ident, quote};
use syn::{Ident, Item, ItemStatic, Path, Type};

use super::free_names::{ReservedNames, free_name};
use crate::error::Error;
use crate::generate::messages::{Message, OneofMember, map_value};
use crate::generate::prost_code::{self, ProstField, unboxed};
use crate::schema::externs::{NULL_VALUE, has_json_form};
use crate::schema::wire_order::oneof_of;
use crate::schema::{Index, Schema, type_names};

/// Generates the implementation of the JSON mapping for a message.
pub(crate) fn json_impl(message: &Message<'_>) -> Result<Item, Error> {
    let Message { full_name, proto, ident, .. } = message;
    if let Some(name) = has_json_form(full_name) {
        return well_known_impl(message, name);
    }
    let (mut encode, mut decode) = (Vec::new(), Vec::new());
    // Consecutive members of a oneof are written by a single `match`.
    for run in proto.field.chunk_by(|one, next| oneof_of(one).is_some() && oneof_of(one) == oneof_of(next)) {
        encode.push(match oneof_of(&run[0]) {
            None => encode_field(message, &run[0])?,
            Some(_) => encode_members(message, run)?,
        });
    }
    for (field, index) in proto.field.iter().zip(0_usize..) {
        let (index, read) = (Literal::usize_unsuffixed(index), decode_field(message, field)?);
        decode.push(quote! { #index => #read, });
    }
    let (writer, encode) = match encode.split_last() {
        Some((last, before)) => (quote! { to }, quote! { #(#before?;)* #last }),
        None => (quote! { _ }, quote! { Ok(()) }),
    };
    let decode = if decode.is_empty() {
        quote! { _ = field; from.skip() }
    } else {
        quote! { match field { #(#decode)* _ => from.skip() } }
    };
    let (argument, lookup) = field_lookup(message);
    let names = proto.field.iter().map(|field| escaped(field.json_name()));
    let wire_name = full_name.trim_start_matches('.');
    Ok(syn::parse_quote! {
        impl ::frpc::json::Fields for #ident {
            const NAME: &'static str = #wire_name;
            const FIELDS: &'static [&'static str] = &[#(#names),*];
            fn field(#argument: &str) -> ::core::option::Option<usize> {
                #lookup
            }
            fn encode_fields(&self, #writer: &mut ::frpc::json::Writer<'_>) -> ::core::result::Result<(), ::frpc::json::EncodeError> {
                #encode
            }
            fn decode_field(&mut self, field: usize, from: &mut ::frpc::json::Reader<'_>) -> ::core::result::Result<(), ::frpc::json::DecodeError> {
                #decode
            }
        }
    })
}

/// Generates the special JSON mapping of a well-known type. Only builds that compile the well-known types need it.
fn well_known_impl(message: &Message<'_>, name: &str) -> Result<Item, Error> {
    let Message { full_name, proto, ident, fields, .. } = message;
    let name = format_ident!("{name}");
    let missing_field = || message.missing_field(full_name);
    let argument = match proto.name() {
        "Value" => {
            let path = &fields.oneofs.values().next().ok_or_else(missing_field)?.path;
            quote! { , #path }
        }
        _ => TokenStream::new(),
    };
    Ok(syn::parse_quote! { ::frpc::json::well_known! { #name for #ident #argument } })
}

/// Generates the argument and the body of the function `field`, which returns the index of the field with a given JSON
/// name or original name.
fn field_lookup(message: &Message<'_>) -> (TokenStream, TokenStream) {
    let json_names: HashSet<&str> = message.proto.field.iter().map(FieldDescriptorProto::json_name).collect();
    let arms = message.proto.field.iter().zip(0_usize..).map(|(field, index)| {
        let (name, index) = (field.json_name(), Literal::usize_unsuffixed(index));
        // JSON names take precedence over original names of other fields.
        let original = Some(field.name()).filter(|original| !json_names.contains(original)).into_iter();
        quote! { #name #(| #original)* => #index, }
    });
    let arms: Vec<_> = arms.collect();
    if arms.is_empty() {
        return (quote! { _ }, quote! { None });
    }
    (quote! { name }, quote! { Some(match name { #(#arms)* _ => return None }) })
}

/// Generates code that writes a field to JSON, if it is not a member of a oneof.
fn encode_field(message: &Message<'_>, field: &FieldDescriptorProto) -> Result<TokenStream, Error> {
    let (ident, key) = (&message.field(field)?.ident, key(field));
    Ok(match field_codec(message, field)? {
        None => quote! { to.field(#key, &self.#ident) },
        Some(codec) => quote! { to.field_as::<#codec>(#key, &self.#ident) },
    })
}

/// Generates code that writes a member of a oneof to JSON, if the oneof contains one of the members `fields`.
fn encode_members(message: &Message<'_>, fields: &[FieldDescriptorProto]) -> Result<TokenStream, Error> {
    let mut arms = Vec::new();
    let mut oneof = None;
    for field in fields {
        let OneofMember { field: member, variant, .. } = message.member(field)?;
        let (path, ident, key) = (&member.path, &variant.ident, key(field));
        let codec = member_codec(message, field)?;
        arms.push(quote! { Some(#path::#ident(value)) => to.member::<#codec>(#key, value), });
        oneof = Some(&member.ident);
    }
    Ok(quote! { match &self.#oneof { #(#arms)* _ => Ok(()), } })
}

/// Generates code that reads the value of a field from JSON.
fn decode_field(message: &Message<'_>, field: &FieldDescriptorProto) -> Result<TokenStream, Error> {
    if oneof_of(field).is_some() {
        let OneofMember { field: member, variant, .. } = message.member(field)?;
        let (field_ident, path, ident) = (&member.ident, &member.path, &variant.ident);
        let codec = member_codec(message, field)?;
        return Ok(quote! { from.member::<#codec, _>(&mut self.#field_ident, #path::#ident) });
    }
    let ident = &message.field(field)?.ident;
    Ok(match field_codec(message, field)? {
        None => quote! { from.field(&mut self.#ident) },
        Some(codec) => quote! { from.field_as::<#codec>(&mut self.#ident) },
    })
}

/// Returns the JSON codec of a field that is not a member of a oneof, or `None` if its Rust type implies the codec.
fn field_codec(message: &Message<'_>, field: &FieldDescriptorProto) -> Result<Option<TokenStream>, Error> {
    let ProstField { ty, enumeration, boxed, .. } = message.field(field)?;
    let value = map_value(field, message.index);
    let codec = codec(value.unwrap_or(field), enumeration.as_ref(), *boxed, unboxed(ty));
    Ok(codec.map(|codec| prost_code::field_codec(ty, codec)))
}

/// Returns the JSON codec of a oneof member. Its type paths are valid in the module that contains the message's struct.
fn member_codec(message: &Message<'_>, field: &FieldDescriptorProto) -> Result<TokenStream, Error> {
    let ProstField { enumeration, boxed, ty, .. } = message.member(field)?.variant;
    Ok(codec(field, enumeration.as_ref(), boxed, &ty).unwrap_or_else(|| quote! { #ty }))
}

/// Returns the JSON codec of a value if its Rust type `ty` does not imply the codec. This is the case for enums, which
/// are `i32` in Rust, and for boxed values. Returns `None` for other values.
fn codec(field: &FieldDescriptorProto, enumeration: Option<&Path>, is_boxed: bool, ty: &Type) -> Option<TokenStream> {
    match enumeration {
        _ if field.type_name() == NULL_VALUE => Some(quote! { ::frpc::json::Null }),
        Some(path) => Some(quote! { ::frpc::json::Enum<#path> }),
        None if is_boxed => Some(quote! { ::frpc::json::Boxed<#ty> }),
        None => None,
    }
}

/// Returns the JSON key of a field, which consists of its quoted name and a colon.
fn key(field: &FieldDescriptorProto) -> String {
    format!("\"{}\":", escaped(field.json_name()))
}

/// Escapes a string for use between the quotes of a JSON string.
pub(super) fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            letter if letter < ' ' => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Returns whether any generated message or method uses `Any`.
pub(super) fn has_any(schema: &Schema) -> bool {
    schema
        .files
        .iter()
        .filter(|file| schema.is_generated(file))
        .flat_map(type_names)
        .any(|name| name == ".google.protobuf.Any")
}

/// Adds the Rust path of each generated message that an `Any` may contain in JSON. The path starts in the module of the
/// package, such as `order::Item` for the message `Order.Item`. `modules` contains the enclosing modules of `items`,
/// such as `order`.
pub(super) fn add_any_paths(items: &[Item], index: &Index<'_>, modules: &[Ident], paths: &mut Vec<Path>) {
    for item in items {
        match item {
            Item::Struct(item) => {
                let name = prost_code::marker(&item.attrs).filter(|name| index.messages.contains_key(name));
                if name.is_some_and(|name| has_json_form(&name).is_none()) {
                    let ident = &item.ident;
                    paths.push(syn::parse_quote! { #(#modules::)* #ident });
                }
            }
            Item::Mod(item) => {
                let within: Vec<_> = modules.iter().chain([&item.ident]).cloned().collect();
                add_any_paths(item.content.as_ref().map_or(&[][..], |(_, items)| items), index, &within, paths);
            }
            _ => {}
        }
    }
}

/// Generates the list of message types that an `Any` may contain in JSON.
pub(super) fn any_list(paths: &[Path], reserved: &mut ReservedNames, warn: &mut dyn FnMut(String)) -> ItemStatic {
    let name = free_name("ANY_TYPES", &mut reserved.values, "the list of types that an Any may hold", warn);
    syn::parse_quote! {
        static #name: &[::frpc::json::AnyType] = &[#(::frpc::codegen::any_type::<#paths>()),*];
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn name_is_escaped_as_json_string() {
        assert_eq!(escaped("fooBar"), "fooBar");
        assert_eq!(escaped("a\"b\\c\n"), "a\\\"b\\\\c\\u000a");
    }
}
