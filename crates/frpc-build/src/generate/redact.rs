//! Generates `Debug` that omits the values of fields with the schema option `debug_redact`.

use proc_macro2::TokenStream;
use prost_types::DescriptorProto;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Generics, Ident, Item};

use crate::generate::messages::Message;
use crate::generate::prost_code::OneofEnum;
use crate::schema::options::is_redacted;
use crate::schema::wire_order::oneof_of;

/// Text shown in `Debug` output in place of a redacted value.
const REDACTED: &str = "[redacted]";

/// Returns the redacted fields of a struct. Redacted members of oneofs are handled by the `Debug` implementation of
/// their enum.
pub(crate) fn redacted<'a>(message: &Message<'a>) -> Vec<&'a Ident> {
    let fields = message.proto.field.iter().filter(|field| oneof_of(field).is_none() && is_redacted(field));
    fields.filter_map(|field| Some(&message.fields.fields.get(&field.number())?.ident)).collect()
}

/// Returns whether any member of a oneof is redacted.
pub(crate) fn redacts_member(proto: &DescriptorProto, oneof: usize) -> bool {
    proto.field.iter().any(|field| oneof_of(field) == Some(oneof) && is_redacted(field))
}

/// Generates `impl Debug` for the struct `ident`, which shows `fields` in this order and hides the values of the
/// `redacted` ones.
pub(crate) fn struct_debug<'a>(
    ident: &Ident,
    generics: &Generics,
    fields: impl Iterator<Item = &'a Ident>,
    redacted: &[&Ident],
) -> Item {
    let lines = fields.map(|field| {
        let name = field.unraw().to_string();
        match redacted.contains(&field) {
            true => quote! { .field(#name, &::core::format_args!(#REDACTED)) },
            false => quote! { .field(#name, &self.#field) },
        }
    });
    let name = ident.to_string();
    debug(ident, generics, &quote! { f.debug_struct(#name) #(#lines)* .finish() })
}

/// Generates `impl Debug` for the enum `ident`, which represents a oneof in a message or in a view.
pub(crate) fn oneof_debug(
    ident: &Ident,
    generics: &Generics,
    proto: &DescriptorProto,
    oneof: usize,
    written: &OneofEnum,
) -> Item {
    let members = proto.field.iter().filter(|field| oneof_of(field) == Some(oneof));
    let arms = members.filter_map(|field| {
        let variant = &written.variants.get(&field.number())?.ident;
        let name = variant.unraw().to_string();
        Some(match is_redacted(field) {
            true => {
                quote! { Self::#variant(_) => f.debug_tuple(#name).field(&::core::format_args!(#REDACTED)).finish(), }
            }
            false => quote! { Self::#variant(value) => f.debug_tuple(#name).field(value).finish(), },
        })
    });
    debug(ident, generics, &quote! { match self { #(#arms)* } })
}

fn debug(ident: &Ident, generics: &Generics, body: &TokenStream) -> Item {
    let (parameters, arguments, _) = generics.split_for_impl();
    syn::parse_quote! {
        impl #parameters ::core::fmt::Debug for #ident #arguments {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #body
            }
        }
    }
}
