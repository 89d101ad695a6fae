//! Generates codecs: `polyglot::Fields` for structs, `Oneof` for the enums of oneofs and `Enumeration` for enums.
//!
//! A codec has one line per field, in wire order, with the protobuf name. The Rust type determines the kind of a field.
//! The exceptions are enums, which are `i32` in prost's structs, and wrappers, which are plain values.

use std::collections::{HashMap, HashSet};

use polyglot::layout::{DESCRIPTION_MAX, Fingerprint, Schema};
use proc_macro2::{Literal, TokenStream};
use prost_types::field_descriptor_proto::{Label, Type as FieldType};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, OneofDescriptorProto};
use quote::{format_ident, quote};
use syn::{Ident, Item, Path, Type, TypePath};

use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::generate::prost_code::{self, OneofEnum, ProstField, StructFields, StructOneof, missing, unboxed};
use crate::generate::services::fingerprint;
use crate::schema::Index;
use crate::schema::externs::Externs;
use crate::schema::patterns::path_matches;
use crate::schema::wire_order::oneof_of;

/// A message with everything that the generators of its codec, view and JSON mapping need.
pub(crate) struct Message<'a> {
    /// The full name, with a leading dot.
    pub(crate) full_name: &'a str,
    pub(crate) proto: &'a DescriptorProto,
    pub(crate) ident: &'a Ident,
    pub(crate) fields: &'a StructFields,
    pub(crate) index: &'a Index<'a>,
    pub(crate) externs: &'a Externs,
    /// The Rust enums of all oneofs, by the full name of the oneof.
    pub(crate) oneofs: &'a HashMap<String, OneofEnum>,
}

/// A member of a oneof.
pub(crate) struct OneofMember<'a> {
    pub(crate) oneof: &'a OneofDescriptorProto,
    /// The struct field that holds the oneof.
    pub(crate) field: &'a StructOneof,
    /// The enum variant that prost generates for the member. Its paths are relative to the message's struct, and its
    /// type has no `Box`.
    pub(crate) variant: ProstField,
}

/// Maximum number of fields of a message whose codec is inlined, provided that no field is a message. With so few
/// fields, the call costs as much as the codec. Inlining nested messages would double the code with each level.
const INLINED_MAX: usize = 2;

/// Generated statements of a message's codec, collected field by field in wire order.
#[derive(Default)]
struct Lines {
    encode: Vec<TokenStream>,
    /// Decoding statements. Only messages with oneofs need them, because other fields may be encoded between the
    /// members.
    decode: Vec<TokenStream>,
    /// Field initializers of the struct expression that the decoder returns.
    result: Vec<TokenStream>,
    /// Statements that decode into an existing message, to reuse its memory.
    over: Vec<TokenStream>,
    /// Statements after those of `over`, which assign the decoded oneofs to the existing message.
    over_end: Vec<TokenStream>,
    /// Whether a field of an existing message has memory that can be reused.
    has_memory: bool,
}

/// Generates `impl Fields` for a message.
pub(crate) fn message_impl(message: &Message<'_>, types: &Schema<'_>) -> Result<Item, Error> {
    let Message { full_name, proto, ident, index, externs, .. } = message;
    let order = index.in_wire_order(proto);
    let has_oneofs = order.iter().any(|field| oneof_of(field).is_some());
    let mut lines = Lines::default();
    for field in &order {
        match oneof_of(field) {
            Some(_) => message.member_lines(field, &mut lines)?,
            None => message.field_lines(field, has_oneofs, &mut lines)?,
        }
    }
    let Lines { encode, decode, result, over, over_end, has_memory } = lines;
    let is_leaf = order.iter().all(|field| field.r#type() != FieldType::Message);
    let inline = (is_leaf && order.len() <= INLINED_MAX).then(|| quote! { #[inline(always)] });
    // Inlined because few programs use it, and those use it at the place where they read.
    let inline_over = inline.clone().unwrap_or_else(|| quote! { #[inline] });
    let over = has_memory.then(|| {
        quote! {
            #inline_over
            fn decode_fields_over(&mut self, from: &mut ::frpc::polyglot::Decoder<'_>) -> ::core::result::Result<(), ::frpc::polyglot::DecodeError> {
                #(#over)*
                #(#over_end)*
                Ok(())
            }
        }
    });
    let (to, from) = if encode.is_empty() { (quote! { _ }, quote! { _ }) } else { (quote! { to }, quote! { from }) };
    let encode = match encode.split_last() {
        Some((last, before)) => quote! { #(#before?;)* #last },
        None => quote! { Ok(()) },
    };
    let wire_name = full_name.trim_start_matches('.');
    let has_layout = externs.message_layouts.iter().any(|path| path_matches(path, wire_name));
    let layout = has_layout.then(|| layout(wire_name, types)).transpose()?;
    Ok(syn::parse_quote! {
        impl ::frpc::polyglot::Fields for #ident {
            const NAME: &'static str = #wire_name;
            #layout
            #inline
            fn encode_fields(&self, #to: &mut ::frpc::polyglot::Encoder<'_>) -> ::core::result::Result<(), ::frpc::polyglot::EncodeError> {
                #encode
            }
            #inline
            fn decode_fields(#from: &mut ::frpc::polyglot::Decoder<'_>) -> ::core::result::Result<Self, ::frpc::polyglot::DecodeError> {
                #(#decode)*
                Ok(Self { #(#result),* })
            }
            #over
        }
    })
}

/// Generates the layout of a message for its stored bodies.
fn layout(name: &str, types: &Schema<'_>) -> Result<TokenStream, Error> {
    let described = types.message(name).map_err(|error| Error::new(ErrorKind::Unsupported, error.to_string()))?;
    let description = described.description.encode();
    if description.len() > DESCRIPTION_MAX {
        let length = description.len();
        let text = format!("the layout of {name} has {length} bytes, of at most {DESCRIPTION_MAX}");
        return Err(Error::new(ErrorKind::Unsupported, text));
    }
    let fingerprint = fingerprint(&Fingerprint::of(&description));
    let (description, names) = (Literal::byte_string(&description), described.names);
    Ok(quote! {
        const LAYOUT: ::core::option::Option<&'static ::frpc::polyglot::layout::MessageLayout> = ::core::option::Option::Some(
            &::frpc::polyglot::layout::MessageLayout::new(#fingerprint, #description, #names),
        );
    })
}

/// Generates `impl Message` with protobuf as the codec.
pub(crate) fn protobuf_impl(full_name: &str, ident: &Ident) -> Item {
    let wire_name = full_name.trim_start_matches('.');
    syn::parse_quote! {
        impl ::frpc::polyglot::Message for #ident {
            const NAME: &'static str = #wire_name;
            fn encode_root(&self, to: &mut ::frpc::polyglot::Encoder<'_>) -> ::core::result::Result<(), ::frpc::polyglot::EncodeError> {
                ::frpc::codegen::encode_protobuf(self, to)
            }
            fn decode_root(from: &mut ::frpc::polyglot::Decoder<'_>) -> ::core::result::Result<::frpc::polyglot::Root<Self>, ::frpc::polyglot::DecodeError> {
                ::frpc::codegen::decode_protobuf(from)
            }
        }
    }
}

impl Message<'_> {
    /// Adds the codec statements of a field that is not a member of a oneof.
    fn field_lines(&self, field: &FieldDescriptorProto, by_statement: bool, lines: &mut Lines) -> Result<(), Error> {
        let name = field.name();
        let found = self.field(field)?;
        let rust = &found.ident;
        let over = |read: &TokenStream| quote! { self.#rust = #read; };
        let of = field_type(field, self.index);
        let (read, over) = match codec(self.externs, of, found.enumeration.as_ref(), found.boxed) {
            Some(codec) => {
                let codec = prost_code::field_codec(&found.ty, codec);
                lines.encode.push(quote! { to.field_as::<#codec>(#name, &self.#rust) });
                let read = quote! { from.field_as::<#codec>(#name)? };
                (read.clone(), over(&read))
            }
            None => {
                lines.encode.push(quote! { to.field(#name, &self.#rust) });
                lines.has_memory |= has_memory(field) && map_value(field, self.index).is_none();
                (quote! { from.field(#name)? }, quote! { from.field_over(#name, &mut self.#rust)?; })
            }
        };
        lines.over.push(over);
        if !by_statement {
            lines.result.push(quote! { #rust: #read });
            return Ok(());
        }
        let local = self.local(rust);
        lines.decode.push(quote! { let #local = #read; });
        lines.result.push(if local == *rust {
            quote! { #rust }
        } else {
            quote! { #rust: #local }
        });
        Ok(())
    }

    /// Adds the codec statements of a oneof's member. The first member in wire order also adds those of the oneof
    /// itself.
    fn member_lines(&self, field: &FieldDescriptorProto, lines: &mut Lines) -> Result<(), Error> {
        let name = field.name();
        let OneofMember { oneof, field: StructOneof { ident: rust, path }, variant } = self.member(field)?;
        let ProstField { ident: variant, enumeration, boxed, ty } = variant;
        let local = self.local(rust);
        let result = quote! { #rust: #local.into_option() };
        if !lines.result.iter().any(|line| line.to_string() == result.to_string()) {
            let oneof_name = oneof.name();
            lines.encode.push(quote! { to.oneof(#oneof_name, &self.#rust) });
            let begin = quote! { let mut #local = from.oneof(#oneof_name)?; };
            lines.decode.push(begin.clone());
            lines.over.push(begin);
            lines.over_end.push(quote! { self.#rust = #local.into_option(); });
            lines.result.push(result);
        }
        let value = quote! { match &self.#rust { Some(#path::#variant(value)) => Some(value), _ => None } };
        let codec = codec(self.externs, field.type_name(), enumeration.as_ref(), boxed);
        let codec = codec.unwrap_or_else(|| match boxed {
            true => quote! { ::frpc::prost::alloc::boxed::Box<#ty> },
            false => quote! { #ty },
        });
        lines.encode.push(quote! { to.flat_member::<#codec>(#name, #value) });
        let read = quote! { #local.member::<#codec>(from, #name, #path::#variant)?; };
        lines.decode.push(read.clone());
        lines.over.push(read);
        Ok(())
    }

    /// Returns prost's field for a field outside of oneofs.
    pub(crate) fn field(&self, field: &FieldDescriptorProto) -> Result<&ProstField, Error> {
        self.fields.fields.get(&field.number()).ok_or_else(|| self.missing_field(field.name()))
    }

    /// Returns prost's variant for a member of a oneof.
    pub(crate) fn member(&self, field: &FieldDescriptorProto) -> Result<OneofMember<'_>, Error> {
        let find = || {
            let oneof = self.proto.oneof_decl.get(oneof_of(field)?)?;
            let written = self.oneofs.get(&format!("{}.{}", self.full_name, oneof.name()))?;
            let field_of = self.fields.oneofs.get(&field.number())?;
            let variant = written.variants.get(&field.number())?;
            let enumeration = variant.enumeration.as_ref().map(|path| sibling(&field_of.path, path));
            let is_plain = self.externs.field_codec(field.type_name(), false).is_some();
            let ty = match unboxed(&variant.ty) {
                Type::Path(ty) if field.r#type() == FieldType::Message && !is_plain => {
                    TypePath { qself: None, path: sibling(&field_of.path, &ty.path) }.into()
                }
                ty => ty.clone(),
            };
            Some(OneofMember { oneof, field: field_of, variant: ProstField { enumeration, ty, ..variant.clone() } })
        };
        find().ok_or_else(|| self.missing_field(field.name()))
    }

    /// Returns a local variable name for a field that differs from `from`, the name of the decoder.
    pub(crate) fn local(&self, field: &Ident) -> Ident {
        let mut local = field.clone();
        while local == "from" || (local != *field && self.fields.order.contains(&local)) {
            local = format_ident!("{local}_");
        }
        local
    }

    pub(crate) fn missing_field(&self, field: &str) -> Error {
        missing(format_args!("`{field}` of `{}`", self.full_name.trim_start_matches('.')))
    }
}

/// Returns the codec of a type if its Rust type does not determine it: enums are numbers, and wrappers plain values.
fn codec(externs: &Externs, full_name: &str, enumeration: Option<&Path>, boxed: bool) -> Option<TokenStream> {
    let index = enumeration.map(|path| quote! { ::frpc::polyglot::Index<#path> });
    index.or_else(|| externs.field_codec(full_name, boxed))
}

/// Returns whether a non-map field has memory that another value can reuse.
fn has_memory(field: &FieldDescriptorProto) -> bool {
    let is_long = matches!(field.r#type(), FieldType::String | FieldType::Bytes | FieldType::Message);
    is_long || field.label() == Label::Repeated
}

/// Returns the value field of a map's entries, or `None` for other fields.
pub(crate) fn map_value<'a>(field: &FieldDescriptorProto, index: &Index<'a>) -> Option<&'a FieldDescriptorProto> {
    index.map_entry(field)?.field.iter().find(|field| field.name() == "value")
}

/// Returns the full name of a field's type, or of a map's value type.
pub(crate) fn field_type<'a>(field: &'a FieldDescriptorProto, index: &Index<'a>) -> &'a str {
    map_value(field, index).map_or(field.type_name(), FieldDescriptorProto::type_name)
}

/// Converts a path relative to the module of `oneof` into one relative to the parent module.
fn sibling(oneof: &Path, inner: &Path) -> Path {
    let first = inner.segments.first().map(|segment| segment.ident.to_string());
    let mut path = inner.clone();
    path.segments = match first.as_deref() {
        _ if inner.leading_colon.is_some() => return path,
        Some("crate") => return path,
        Some("super") => inner.segments.iter().skip(1).cloned().collect(),
        _ => {
            let module = oneof.segments.iter().take(oneof.segments.len() - 1);
            module.chain(&inner.segments).cloned().collect()
        }
    };
    path
}

/// Generates `impl Oneof`. Members are numbered from 1 in the order of declaration.
pub(crate) fn oneof_impl(
    proto: &DescriptorProto,
    oneof: usize,
    ident: &Ident,
    written: &OneofEnum,
    externs: &Externs,
) -> Result<Item, Error> {
    let members = proto.field.iter().filter(|field| oneof_of(field) == Some(oneof));
    let (mut encode, mut decode) = (Vec::new(), Vec::new());
    for (field, number) in members.zip(1_u32..) {
        let (name, number) = (field.name(), Literal::u32_unsuffixed(number));
        let Some(ProstField { ident: variant, enumeration, boxed, ty }) = written.variants.get(&field.number()) else {
            return Err(missing(format_args!("the member `{name}` of a oneof of `{}`", proto.name())));
        };
        let codec = codec(externs, field.type_name(), enumeration.as_ref(), *boxed);
        let codec = codec.unwrap_or_else(|| quote! { #ty });
        encode.push(quote! { Self::#variant(value) => to.member::<#codec>(#name, #number, value), });
        decode.push(quote! { #number => Self::#variant(from.field_as::<#codec>(#name)?), });
    }
    Ok(syn::parse_quote! {
        impl ::frpc::polyglot::Oneof for #ident {
            fn encode_member(&self, to: &mut ::frpc::polyglot::Encoder<'_>) -> ::core::result::Result<(), ::frpc::polyglot::EncodeError> {
                match self { #(#encode)* }
            }
            fn decode_member(member: u32, from: &mut ::frpc::polyglot::Decoder<'_>) -> ::core::result::Result<::core::option::Option<Self>, ::frpc::polyglot::DecodeError> {
                let value = match member { #(#decode)* _ => return Ok(None) };
                Ok(Some(value))
            }
        }
    })
}

/// Generates `impl Enumeration`: polyglot's trait with the codec, and frpc-json's with the JSON mapping. A value is
/// encoded as its index in the order of declaration, or as its name in JSON. An alias is encoded as the first value
/// with the same number.
pub(crate) fn enumeration_impls(
    full_name: &str,
    proto: &EnumDescriptorProto,
    ident: &Ident,
    externs: &Externs,
) -> Vec<Item> {
    let mut seen = HashSet::new();
    let (mut indexes, mut by_index, mut names, mut by_name) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (value, index) in proto.value.iter().zip(0_u32..) {
        let (name, index) = (value.name(), Literal::u32_unsuffixed(index));
        let number = Literal::i32_unsuffixed(value.number());
        by_index.push(quote! { #index => Some(#number), });
        by_name.push(quote! { #name => #number, });
        if seen.insert(value.number()) {
            indexes.push(quote! { #number => Some(#index), });
            names.push(quote! { #number => #name, });
        }
    }
    let wire_name = full_name.trim_start_matches('.');
    let binary = (externs.codec == Codec::Polyglot).then(|| {
        syn::parse_quote! {
            impl ::frpc::polyglot::Enumeration for #ident {
                const NAME: &'static str = #wire_name;
                fn index(number: i32) -> ::core::option::Option<u32> {
                    match number { #(#indexes)* _ => None }
                }
                fn number(index: u32) -> ::core::option::Option<i32> {
                    match index { #(#by_index)* _ => None }
                }
            }
        }
    });
    let json = externs.json.then(|| {
        syn::parse_quote! {
            impl ::frpc::json::Enumeration for #ident {
                const NAME: &'static str = #wire_name;
                fn name(number: i32) -> ::core::option::Option<&'static str> {
                    Some(match number { #(#names)* _ => return None })
                }
                fn number(name: &str) -> ::core::option::Option<i32> {
                    Some(match name { #(#by_name)* _ => return None })
                }
            }
        }
    });
    binary.into_iter().chain(json).collect()
}
