//! Generates views, which borrow from the body: a struct for each message and an enum for each oneof.
//!
//! `FooView<'a>` has fields with the same names as `Foo`. Strings are `&'a str`, bytes are `&'a [u8]`. Lists, maps and
//! messages that are boxed in `Foo` are decoded on access.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::{Literal, TokenStream};
use prost_types::field_descriptor_proto::{Label, Type as ProtoType};
use prost_types::{DescriptorProto, FieldDescriptorProto};
use quote::quote;
use syn::{Ident, Item, Path, Type};

use super::free_names::free_name;
use crate::error::Error;
use crate::generate::messages::{Message, OneofMember, map_value};
use crate::generate::prost_code::{self, OneofEnum, ProstField, StructOneof, generics, is_named, missing};
use crate::generate::redact::{oneof_debug, redacted, redacts_member, struct_debug};
use crate::schema::externs::{Externs, Owner};
use crate::schema::wire_order::oneof_of;

/// Names of all generated views. The key is the full name of a message or oneof, such as `.shop.Order.payment`.
pub(crate) type ViewNames = HashMap<String, Ident>;

/// Assigns a view name to each type in `items`: `FooView`, or a similar name if that is taken.
pub(crate) fn name_views(items: &[Item], names: &mut ViewNames, warn: &mut dyn FnMut(String)) {
    let (mut reserved, mut unnamed) = (HashSet::new(), Vec::new());
    for item in items {
        let (ident, attributes) = match item {
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            Item::Mod(item) => {
                reserved.insert(item.ident.to_string());
                name_views(item.content.as_ref().map_or(&[], |(_, items)| items), names, warn);
                continue;
            }
            _ => continue,
        };
        reserved.insert(ident.to_string());
        unnamed.extend(prost_code::marker(attributes).map(|name| (name, ident)));
    }
    for (name, ident) in unnamed {
        let what = format!("the view of `{}`", name.trim_start_matches('.'));
        let wanted = format!("{}View", ident.to_string().trim_end_matches('_'));
        names.insert(name, free_name(&wanted, &mut reserved, &what, warn));
    }
}

/// Generator of views, which are structs that borrow strings, bytes and messages from the received body.
#[derive(Clone, Copy)]
pub(crate) struct Views<'a> {
    pub(crate) names: &'a ViewNames,
    pub(crate) externs: &'a Externs,
}

/// Types that represent the value of a field in a view. The type of an element in a list or map may differ from that of
/// a single value.
struct Borrowed {
    /// Type of the value in a singular field or oneof member, such as `i32` for an enum.
    single: TokenStream,
    /// Type of the value as an element of a list or map, such as `Number<Color>` for an enum.
    element: TokenStream,
    /// Whether the protobuf type of the field is a wrapper, such as `StringValue`.
    is_wrapper: bool,
}

/// Generated declarations and statements of a message's view, collected field by field in wire order.
#[derive(Default)]
struct Lines {
    /// Types of the view's fields, by field name.
    declared: HashMap<Ident, TokenStream>,
    /// Statements that decode into local variables, such as `let name = from.view("name")?;`. Used only for messages
    /// with oneofs: on the wire, other fields may be between the members of a oneof, so a single expression cannot
    /// decode them.
    decode: Vec<TokenStream>,
    /// Field initializers of the struct expression that the decoder returns.
    result: Vec<TokenStream>,
    /// Indexes of the oneofs that the view already has a field for. Further members of these oneofs add no field.
    oneofs: HashSet<usize>,
}

impl Views<'_> {
    /// Generates the view of a message and the view's decoder.
    pub(crate) fn of_message(&self, message: &Message<'_>) -> Result<Vec<Item>, Error> {
        let Message { full_name, proto, ident, fields, index, .. } = message;
        let view = self.names.get(*full_name).ok_or_else(|| missing_field(full_name))?;
        let order = index.in_wire_order(proto);
        let by_statement = order.iter().any(|field| oneof_of(field).is_some());
        let mut lines = Lines::default();
        for field in &order {
            match oneof_of(field) {
                Some(oneof) => self.member_lines(message, field, oneof, &mut lines)?,
                None => self.field_lines(message, field, by_statement, &mut lines)?,
            }
        }
        let Lines { declared, decode, mut result, .. } = lines;
        let redacted = redacted(message);
        let debug = (!redacted.is_empty()).then(|| {
            let shown = fields.order.iter().filter(|rust| declared.contains_key(rust));
            struct_debug(view, &syn::parse_quote! { <'a> }, shown, &redacted)
        });
        let derived = debug.is_none().then(|| quote! { Debug, });
        let declared = fields.order.iter().filter_map(|rust| declared.get(rust).map(|ty| quote! { pub #rust: #ty }));
        let mut declared: Vec<TokenStream> = declared.collect();
        if !declared.iter().any(|field| field.to_string().contains("'a")) {
            let mut reserved = proto.field.iter().map(|field| field.name().to_owned()).collect();
            let unused = free_name("_input", &mut reserved, "", &mut |_| {});
            declared.push(quote! { #[doc(hidden)] pub #unused: ::core::marker::PhantomData<&'a ()> });
            result.push(quote! { #unused: ::core::marker::PhantomData });
        }
        let from = if order.is_empty() {
            quote! { _ }
        } else {
            quote! { from }
        };
        let doc = format!(" A view of [`struct@{ident}`] that borrows from the body.");
        let wire_name = full_name.trim_start_matches('.');
        let file: syn::File = syn::parse_quote! {
            #[doc = #doc]
            #[derive(Clone, Copy, #derived Default)]
            pub struct #view<'a> { #(#declared),* }

            #debug

            impl<'a> ::frpc::polyglot::MessageView<'a> for #view<'a> {
                const NAME: &'static str = #wire_name;
                fn decode_fields(#from: &mut ::frpc::polyglot::Decoder<'a>) -> ::core::result::Result<Self, ::frpc::polyglot::DecodeError> {
                    #(#decode)*
                    Ok(Self { #(#result),* })
                }
            }

            impl ::frpc::polyglot::Viewed for #ident {
                type View<'a> = #view<'a>;
            }
        };
        Ok(file.items)
    }

    /// Adds the decoding statements of a oneof member. For the first member in wire order, also adds the field that
    /// contains the oneof.
    fn member_lines(
        &self,
        message: &Message<'_>,
        field: &FieldDescriptorProto,
        at: usize,
        lines: &mut Lines,
    ) -> Result<(), Error> {
        let OneofMember { oneof, field: StructOneof { ident: rust, path }, variant } = message.member(field)?;
        let (oneof, variable) = (oneof.name(), message.local(rust));
        let full_name = format!("{}.{oneof}", message.full_name);
        let path = with_last(path, self.names.get(&full_name).ok_or_else(|| missing_field(&full_name))?);
        if lines.oneofs.insert(at) {
            let lifetime = self.borrows(message.proto, at).then(|| quote! { <'a> });
            lines.declared.insert(rust.clone(), quote! { ::core::option::Option<#path #lifetime> });
            lines.decode.push(quote! { let mut #variable = from.oneof_view(#oneof)?; });
            lines.result.push(quote! { #rust: #variable.into_option() });
        }
        lines.decode.push(self.member(field, &variant, &path, &variable));
        Ok(())
    }

    /// Adds the declaration and the decoding statements of a field that is not a member of a oneof.
    fn field_lines(
        &self,
        message: &Message<'_>,
        field: &FieldDescriptorProto,
        by_statement: bool,
        lines: &mut Lines,
    ) -> Result<(), Error> {
        let name = field.name();
        let found = message.field(field)?;
        let rust = &found.ident;
        let variable = message.local(rust);
        let value = map_value(field, message.index);
        let of = value.unwrap_or(field);
        let Borrowed { single, element, is_wrapper } =
            self.borrowed(of, &found.ty, found.enumeration.as_ref(), found.boxed);
        let (declared, read) = if value.is_some() {
            let key = key_type(&found.ty);
            (quote! { ::frpc::polyglot::Map<'a, #key, #element> }, quote! { from.view(#name)? })
        } else if field.label() == Label::Repeated {
            (quote! { ::frpc::polyglot::List<'a, #element> }, quote! { from.view(#name)? })
        } else {
            let is_option = field.proto3_optional() || field.r#type() == ProtoType::Message;
            let declared = if is_option {
                quote! { ::core::option::Option<#single> }
            } else {
                single
            };
            let read = match found.enumeration.as_ref().filter(|_| of.r#type() == ProtoType::Enum) {
                Some(path) => {
                    let codec = prost_code::field_codec(&found.ty, quote! { ::frpc::polyglot::Index<#path> });
                    quote! { from.field_as::<#codec>(#name)? }
                }
                None if is_wrapper => quote! {
                    from.view::<::core::option::Option<::frpc::polyglot::wellknown::Unwrapped<_>>>(#name)?.map(|value| value.0)
                },
                None => quote! { from.view(#name)? },
            };
            (declared, read)
        };
        lines.declared.insert(rust.clone(), declared);
        if !by_statement {
            lines.result.push(quote! { #rust: #read });
            return Ok(());
        }
        lines.decode.push(quote! { let #variable = #read; });
        lines.result.push(if variable == *rust {
            quote! { #rust }
        } else {
            quote! { #rust: #variable }
        });
        Ok(())
    }

    /// Generates the view of a oneof and the view's decoder.
    pub(crate) fn of_oneof(
        &self,
        full_name: &str,
        proto: &DescriptorProto,
        oneof: usize,
        written: &OneofEnum,
    ) -> Result<Vec<Item>, Error> {
        let view = self.names.get(full_name).ok_or_else(|| missing_field(full_name))?;
        let lifetime = self.borrows(proto, oneof).then(|| quote! { <'a> });
        let (mut variants, mut decode) = (Vec::new(), Vec::new());
        let mut ordered = BTreeMap::new();
        for (field, number) in proto.field.iter().filter(|field| oneof_of(field) == Some(oneof)).zip(1_u32..) {
            let (name, number) = (field.name(), Literal::u32_unsuffixed(number));
            let ProstField { ident, enumeration, boxed, ty } =
                written.variants.get(&field.number()).ok_or_else(|| missing_field(name))?;
            let Borrowed { single, is_wrapper, .. } = self.borrowed(field, ty, enumeration.as_ref(), *boxed);
            ordered.insert(field.number(), quote! { #ident(#single) });
            decode.push(match enumeration {
                Some(path) => quote! {
                    #number => Self::#ident(from.field_as::<::frpc::polyglot::Index<#path>>(#name)?),
                },
                None if is_wrapper => quote! {
                    #number => Self::#ident(from.view::<::frpc::polyglot::wellknown::Unwrapped<_>>(#name)?.0),
                },
                None => quote! { #number => Self::#ident(from.view(#name)?), },
            });
        }
        variants.extend(ordered.into_values());
        let debug = redacts_member(proto, oneof)
            .then(|| oneof_debug(view, &syn::parse_quote! { #lifetime }, proto, oneof, written));
        let derived = debug.is_none().then(|| quote! { , Debug });
        let file: syn::File = syn::parse_quote! {
            /// A view of the oneof.
            #[derive(Clone, Copy #derived)]
            pub enum #view #lifetime { #(#variants),* }

            #debug

            impl<'a> ::frpc::polyglot::OneofView<'a> for #view #lifetime {
                fn decode_member(member: u32, from: &mut ::frpc::polyglot::Decoder<'a>) -> ::core::result::Result<::core::option::Option<Self>, ::frpc::polyglot::DecodeError> {
                    let value = match member { #(#decode)* _ => return Ok(None) };
                    Ok(Some(value))
                }
            }
        };
        Ok(file.items)
    }

    /// Generates the statement that decodes the oneof member `field` if the message contains it. The statement stores
    /// the value in `variable`, as a variant of the view enum `view`.
    fn member(&self, field: &FieldDescriptorProto, variant: &ProstField, view: &Path, variable: &Ident) -> TokenStream {
        let (name, ProstField { ident, enumeration, .. }) = (field.name(), variant);
        if let Some(enumeration) = enumeration {
            return quote! {
                #variable.member::<::frpc::polyglot::Index<#enumeration>>(from, #name, #view::#ident)?;
            };
        }
        if self.externs.field_codec(field.type_name(), false).is_some() {
            return quote! {
                #variable.view_member(from, #name, |value: ::frpc::polyglot::wellknown::Unwrapped<_>| #view::#ident(value.0))?;
            };
        }
        quote! { #variable.view_member(from, #name, #view::#ident)?; }
    }

    /// Returns whether any member of a oneof borrows from the received body.
    fn borrows(&self, proto: &DescriptorProto, oneof: usize) -> bool {
        proto.field.iter().filter(|field| oneof_of(field) == Some(oneof)).any(|field| match field.r#type() {
            ProtoType::String | ProtoType::Bytes => true,
            ProtoType::Message => {
                self.externs.field_codec(field.type_name(), false).is_none()
                    || [".google.protobuf.StringValue", ".google.protobuf.BytesValue"].contains(&field.type_name())
            }
            _ => false,
        })
    }

    /// Returns the types that represent the value of a field in a view. `ty` is the field's type in the message, which
    /// may enclose the value in options, boxes, lists or maps.
    fn borrowed(&self, field: &FieldDescriptorProto, ty: &Type, enumeration: Option<&Path>, boxed: bool) -> Borrowed {
        let plain = |single: TokenStream| Borrowed { element: single.clone(), single, is_wrapper: false };
        match field.r#type() {
            ProtoType::String => plain(quote! { &'a str }),
            ProtoType::Bytes => plain(quote! { &'a [u8] }),
            ProtoType::Enum => {
                let element = quote! { ::frpc::polyglot::Number<#enumeration> };
                Borrowed { single: quote! { i32 }, element, is_wrapper: false }
            }
            ProtoType::Message => self.borrowed_message(field.type_name(), innermost(ty), boxed),
            _ => {
                let scalar = innermost(ty);
                plain(quote! { #scalar })
            }
        }
    }

    fn borrowed_message(&self, full_name: &str, ty: &Type, boxed: bool) -> Borrowed {
        if self.externs.field_codec(full_name, false).is_some() {
            let value = match full_name {
                ".google.protobuf.StringValue" => quote! { &'a str },
                ".google.protobuf.BytesValue" => quote! { &'a [u8] },
                _ => quote! { #ty },
            };
            let element = quote! { ::frpc::polyglot::wellknown::Unwrapped<#value> };
            return Borrowed { single: value, element, is_wrapper: true };
        }
        let view = match (self.externs.owner(full_name), self.names.get(full_name), ty) {
            (None, Some(name), Type::Path(path)) => {
                let path = with_last(&path.path, name);
                quote! { #path<'a> }
            }
            // The crate that defines the type also defines its view.
            (None | Some(Owner::User | Owner::ProstTypes | Owner::Frpc), ..) => {
                quote! { <#ty as ::frpc::polyglot::Viewed>::View<'a> }
            }
        };
        let single = if boxed {
            quote! { ::frpc::polyglot::Nested<'a, #view> }
        } else {
            view.clone()
        };
        Borrowed { single, element: view, is_wrapper: false }
    }
}

/// Replaces the last segment of `path` with `last`.
fn with_last(path: &Path, last: &Ident) -> Path {
    let mut path = path.clone();
    if let Some(segment) = path.segments.last_mut() {
        *segment = last.clone().into();
    }
    path
}

/// Returns the type of the value in an option, box, list or map, such as `Order` for `HashMap<String, Order>`.
fn innermost(ty: &Type) -> &Type {
    generics(ty).last().map_or(ty, |inner| innermost(inner))
}

/// Returns the type that represents the keys of a map in a view, given the type of the map.
fn key_type(ty: &Type) -> TokenStream {
    let Some(key) = generics(ty).first().copied() else { return quote! { #ty } };
    if is_named(key, "String") {
        quote! { &'a str }
    } else {
        quote! { #key }
    }
}

fn missing_field(name: &str) -> Error {
    missing(format_args!("`{}`", name.trim_start_matches('.')))
}
