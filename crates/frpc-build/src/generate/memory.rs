//! Generates memory accounting for the protobuf codec. frpc computes the heap memory of a message from the Rust types
//! of its lists, maps and boxed fields, which the generated code states.
//!
//! prost allocates as much memory as the input demands, so frpc computes the memory before decoding. The Polyglot codec
//! needs no such code, because its decoder counts memory while it decodes.

use proc_macro2::{Literal, TokenStream};
use prost_types::FieldDescriptorProto;
use prost_types::field_descriptor_proto::{Label, Type as Kind};
use quote::{format_ident, quote};
use syn::{Item, Type};

use crate::error::Error;
use crate::generate::messages::{Message, field_type, map_value};
use crate::generate::prost_code::{ProstField, generics, is_named, unboxed};
use crate::schema::wire_order::oneof_of;

/// Generates `impl Protobuf` for a message. Its function `field` states how frpc computes the heap memory of each
/// field.
pub(crate) fn memory_impl(message: &Message<'_>) -> Result<Item, Error> {
    let mut arms = Vec::new();
    for field in &message.proto.field {
        if let Some(memory) = field_memory(message, field)? {
            let number = Literal::i32_unsuffixed(field.number());
            arms.push(quote! { #number => #memory, });
        }
    }
    let ident = message.ident;
    if arms.is_empty() {
        return Ok(syn::parse_quote! { impl ::frpc::codegen::Protobuf for #ident {} });
    }
    Ok(syn::parse_quote! {
        impl ::frpc::codegen::Protobuf for #ident {
            fn field(number: u32) -> ::frpc::codegen::Field {
                match number {
                    #(#arms)*
                    _ => ::frpc::codegen::Field::PLAIN,
                }
            }
        }
    })
}

/// Generates the description of a field's heap memory. Returns `None` if only the default description applies.
fn field_memory(message: &Message<'_>, field: &FieldDescriptorProto) -> Result<Option<TokenStream>, Error> {
    let Message { index, externs, .. } = message;
    let path = quote! { ::frpc::codegen::Field };
    let is_counted = externs.counts_memory(field_type(field, index));
    if oneof_of(field).is_some() {
        let ProstField { boxed, ty, .. } = message.member(field)?.variant;
        return Ok(single_memory(field, &ty, boxed, is_counted));
    }
    let found = message.field(field)?;
    if field.label() != Label::Repeated {
        return Ok(single_memory(field, unboxed(&found.ty), found.boxed, is_counted));
    }
    let of_map = map_value(field, index);
    let memory = match generics(&found.ty)[..] {
        [key, value] => {
            let map = format_ident!("{}", if is_named(&found.ty, "BTreeMap") { "btree_map" } else { "map" });
            let to = (is_message(of_map.unwrap_or(field)) && is_counted).then(|| quote! { .to::<#value>() });
            quote! { #path::#map::<#key, #value>()#to }
        }
        [element] => match field.r#type() {
            Kind::Message => {
                let of = is_counted.then(|| quote! { .of::<#element>() });
                quote! { #path::list::<#element>()#of }
            }
            Kind::String | Kind::Bytes => quote! { #path::list::<#element>() },
            Kind::Fixed32 | Kind::Sfixed32 | Kind::Float | Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => {
                quote! { #path::fixed::<#element>() }
            }
            _ => quote! { #path::varints::<#element>() },
        },
        _ => return Err(message.missing_field(field.name())),
    };
    Ok(Some(memory))
}

/// Generates the description of a singular field's heap memory.
fn single_memory(field: &FieldDescriptorProto, ty: &Type, is_boxed: bool, is_counted: bool) -> Option<TokenStream> {
    let is_counted = is_counted && is_message(field);
    let of = is_counted.then(|| quote! { .of::<#ty>() });
    match is_boxed {
        true => Some(quote! { ::frpc::codegen::Field::boxed::<#ty>()#of }),
        false => is_counted.then(|| quote! { ::frpc::codegen::Field::PLAIN #of }),
    }
}

fn is_message(field: &FieldDescriptorProto) -> bool {
    field.r#type() == Kind::Message
}
