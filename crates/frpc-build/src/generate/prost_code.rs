//! Reads names and types from the code that prost-build generated.
//!
//! prost-build is configured to add an attribute with the full protobuf name ([`MARKER`]) to every type that it
//! generates. From this attribute, the module finds the descriptor of a struct or enum, and then removes the attribute.
//! It finds the descriptor of a field from the number in `#[prost(…, tag = "N")]`. It is thus independent of prost's
//! naming rules.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use proc_macro2::{Span, TokenStream};
use prost_types::DescriptorProto;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, Field, GenericArgument, Ident, Item, ItemEnum, ItemMod, ItemStruct, Lit, LitStr, Meta,
    MetaNameValue, Path, PathArguments, Token, Type,
};

use crate::error::{Error, ErrorKind};
use crate::schema::{Index, Schema};

/// Name of the marker attribute. Its value is the full protobuf name of a type, as in `#[frpc_build_type =
/// ".shop.Order"]`.
pub(crate) const MARKER: &str = "frpc_build_type";

/// A Rust enum that prost-build generated for a oneof.
pub(crate) struct OneofEnum {
    pub(crate) variants: BTreeMap<i32, ProstField>,
}

/// A field of the struct that prost-build generated for a message, or a variant of the enum for a oneof.
#[derive(Clone)]
pub(crate) struct ProstField {
    pub(crate) ident: Ident,
    /// Path of the Rust enum, such as `super::Color`, if the type of the field or of its map values is a protobuf enum.
    /// The path is valid in the module that contains the struct or the oneof's enum.
    pub(crate) enumeration: Option<Path>,
    pub(crate) boxed: bool,
    pub(crate) ty: Type,
}

/// Fields of the struct that prost-build generated for a message.
#[derive(Default)]
pub(crate) struct StructFields {
    /// Struct fields by protobuf field number.
    pub(crate) fields: HashMap<i32, ProstField>,
    /// Fields that contain oneofs. The key is the field number of a member, so a oneof has one entry for each member.
    pub(crate) oneofs: HashMap<i32, StructOneof>,
    /// All field names in declaration order, which is also the order of `Debug` output.
    pub(crate) order: Vec<Ident>,
    /// Whether any field of the struct is a `BTreeMap`.
    pub(crate) has_btree_map: bool,
}

/// A struct field that contains the enum of a oneof.
#[derive(Clone)]
pub(crate) struct StructOneof {
    pub(crate) ident: Ident,
    /// Path of the oneof's enum in the module that contains the struct, such as `order::Payment`.
    pub(crate) path: Path,
}

/// Returns the name and the string literal of an attribute of the form `name = "text"`. Returns `None` for other forms.
pub(crate) fn text_of(meta: &Meta) -> Option<(String, &LitStr)> {
    let Meta::NameValue(MetaNameValue { path, value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) = meta
    else {
        return None;
    };
    Some((path.get_ident()?.to_string(), text))
}

/// Returns the error for an item that prost-build should have generated but has not.
pub(crate) fn missing(what: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("prost-build generated nothing for {what}"))
}

/// Returns the full protobuf name of the type with these attributes. A nested type also has the markers of its outer
/// types, because prost-build adds their attributes to it. The longest marker is that of the type itself.
pub(crate) fn marker(attributes: &[Attribute]) -> Option<String> {
    let texts = attributes.iter().filter_map(|attribute| text_of(&attribute.meta));
    texts.filter(|(name, _)| name == MARKER).map(|(_, text)| text.value()).max_by_key(String::len)
}

/// Removes the marker attribute and returns the full protobuf name of the type.
pub(crate) fn take_marker(attributes: &mut Vec<Attribute>) -> Option<String> {
    let name = marker(attributes);
    attributes.retain(|attribute| !attribute.path().is_ident(MARKER));
    name
}

/// Returns the structs and enums in `items` and in the modules within.
pub(crate) fn types_of(items: &mut [Item]) -> Vec<&mut Item> {
    let mut types = Vec::new();
    for item in items {
        match item {
            Item::Mod(item) => types.extend(types_of(items_of(item))),
            Item::Struct(_) | Item::Enum(_) => types.push(item),
            _ => {}
        }
    }
    types
}

/// The struct of a message, or the enum of a oneof.
pub(crate) struct MessageType<'a> {
    /// Full name of the message. A oneof belongs to the message that declares it.
    pub(crate) name: &'a str,
    pub(crate) proto: &'a DescriptorProto,
    pub(crate) attributes: &'a mut Vec<Attribute>,
    /// Attributes and types of the fields or members.
    pub(crate) fields: Vec<(&'a mut Vec<Attribute>, &'a mut Type)>,
    pub(crate) is_oneof: bool,
}

/// Returns the types of messages and oneofs in `items` and in the modules within.
pub(crate) fn message_types<'a>(items: &'a mut [Item], index: &'a Index<'_>) -> Vec<MessageType<'a>> {
    let types = types_of(items).into_iter().filter_map(|item| {
        let (attributes, fields, is_oneof) = match item {
            Item::Struct(item) => {
                let fields = item.fields.iter_mut().map(|field| (&mut field.attrs, &mut field.ty)).collect();
                (&mut item.attrs, fields, false)
            }
            Item::Enum(item) => {
                let variants = item.variants.iter_mut();
                let members = variants.filter_map(|it| Some((&mut it.attrs, &mut it.fields.iter_mut().next()?.ty)));
                (&mut item.attrs, members.collect(), true)
            }
            _ => return None,
        };
        let name = marker(attributes).filter(|name| !index.enums.contains_key(name))?;
        // The marker of a oneof is the name of its message followed by its own name, such as `.shop.Order.payment`.
        let outer = || name.rsplit_once('.').and_then(|(outer, _)| index.messages.get_key_value(outer));
        let (name, found) = index.messages.get_key_value(&name).or_else(outer)?;
        Some(MessageType { name, proto: found.proto, attributes, fields, is_oneof })
    });
    types.collect()
}

/// Appends `_` to the names of fields and variants that occur twice. Rejects types with the same name, because other
/// code from prost-build refers to types by their names.
pub(crate) fn make_unique(
    items: &mut [Item],
    schema: &Schema,
    index: &Index<'_>,
    warn: &mut dyn FnMut(String),
) -> Result<(), Error> {
    let mut types = HashMap::new();
    for item in items {
        let (ident, attributes) = match item {
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            Item::Mod(item) => {
                make_unique(items_of(item), schema, index, warn)?;
                continue;
            }
            _ => continue,
        };
        let (ident, name) = (ident.clone(), marker(attributes).unwrap_or_default());
        if let Some(first) = types.insert(ident.to_string(), name.clone()) {
            let [first, second] = [&first, &name].map(|name| name.trim_start_matches('.'));
            let text = format!("`{first}` and `{second}` are both called `{ident}` in Rust; rename one of them");
            return Err(index.unsupported(schema, &name, text));
        }
        match item {
            Item::Struct(item) => {
                let idents = item.fields.iter_mut().filter_map(|field| {
                    Some((field.ident.as_mut()?, ProstAttribute::read(&field.attrs).ok()??.accessors))
                });
                unique(&ident, idents, warn);
            }
            Item::Enum(item) => {
                unique(&ident, item.variants.iter_mut().map(|it| (&mut it.ident, Accessors::default())), warn);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Appends `_` to a field name if the name of the field or of one of its accessors is taken. Also appends it to the
/// name of a map field with enum values if the name is a keyword. prost's derive macro panics on the accessors of such
/// a field.
fn unique<'a>(owner: &Ident, idents: impl Iterator<Item = (&'a mut Ident, Accessors)>, warn: &mut dyn FnMut(String)) {
    let (mut used, mut methods) = (HashSet::new(), HashSet::new());
    for (ident, accessors) in idents {
        let before = ident.to_string();
        let of = |it: &Ident| accessors.iter().map(|before| format!("{before}{}", it.unraw())).collect::<Vec<_>>();
        while (accessors == MAP && ident.unraw() != *ident)
            || of(ident).iter().any(|name| methods.contains(name))
            || !used.insert(ident.to_string())
        {
            *ident = Ident::new(&format!("{}_", ident.unraw()), Span::call_site());
        }
        methods.extend(of(ident));
        if *ident != before {
            warn(format!("the name `{before}` is taken or a keyword in `{owner}`, so it is `{ident}` in Rust"));
        }
    }
}

/// Reads the fields of a struct that prost-build has generated for a message.
pub(crate) fn read_struct(item: &ItemStruct) -> Result<StructFields, Error> {
    let mut read = StructFields::default();
    for field in &item.fields {
        let (Some(ident), Some(prost)) = (&field.ident, ProstAttribute::read(&field.attrs)?) else { continue };
        read.order.push(ident.clone());
        read.has_btree_map |= is_named(&field.ty, "BTreeMap");
        if let Some(path) = prost.oneof {
            for tag in prost.tags {
                read.oneofs.insert(tag, StructOneof { ident: ident.clone(), path: path.clone() });
            }
        } else if let [tag] = prost.tags[..] {
            let (enumeration, boxed) = (prost.enumeration, is_boxed(&field.ty));
            read.fields.insert(tag, ProstField { ident: ident.clone(), enumeration, boxed, ty: field.ty.clone() });
        }
    }
    Ok(read)
}

/// Reads the variants of an enum that prost-build has generated for a oneof.
pub(crate) fn read_oneof(item: &ItemEnum) -> Result<OneofEnum, Error> {
    let mut variants = BTreeMap::new();
    for variant in &item.variants {
        let Some(prost) = ProstAttribute::read(&variant.attrs)? else { continue };
        let [tag] = prost.tags[..] else { continue };
        let Some(Field { ty, .. }) = variant.fields.iter().next() else { continue };
        let (ident, ty, boxed) = (variant.ident.clone(), ty.clone(), is_boxed(ty));
        let enumeration = prost.enumeration;
        variants.insert(tag, ProstField { ident, enumeration, boxed, ty });
    }
    if derives_copy(&item.attrs)
        && let Some(boxed) = variants.values().find(|variant| variant.boxed)
    {
        let text = format!(
            "`boxed` is set for a member of a oneof, `{}` in Rust, whose members are all plain numbers or messages of \
             plain numbers: prost-build derives `Copy` for such a oneof, which boxes do not implement",
            boxed.ident
        );
        return Err(Error::new(ErrorKind::Option, text));
    }
    Ok(OneofEnum { variants })
}

fn derives_copy(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = |derive: &Attribute| derive.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
    derives.filter_map(|derive| paths(derive).ok()).flatten().any(|path| path.is_ident("Copy"))
}

/// Adds `#[prost(skip_debug)]` to the attributes of a type. Returns `false` if it is already present.
pub(crate) fn skip_debug(attributes: &mut Vec<Attribute>) -> bool {
    let is_skip = |attribute: &Attribute| {
        attribute.path().is_ident("prost")
            && attribute.parse_args::<Path>().is_ok_and(|argument| argument.is_ident("skip_debug"))
    };
    if attributes.iter().any(is_skip) {
        return false;
    }
    attributes.push(syn::parse_quote! { #[prost(skip_debug)] });
    true
}

/// Returns the type arguments of a generic type.
pub(crate) fn generics(ty: &Type) -> Vec<&Type> {
    let Type::Path(path) = ty else { return Vec::new() };
    let Some(PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|last| &last.arguments) else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Returns the items of an inline module.
pub(crate) fn items_of(module: &mut ItemMod) -> &mut [Item] {
    module.content.as_mut().map_or(&mut [], |(_, items)| items)
}

/// Strips `Option` and `Box` from a type: `Option<Box<Order>>` becomes `Order`.
pub(crate) fn unboxed(ty: &Type) -> &Type {
    match generics(ty)[..] {
        [inner] if is_named(ty, "Option") || is_named(ty, "Box") => unboxed(inner),
        _ => ty,
    }
}

/// Returns whether the last path segment of a type is `name`, ignoring its type arguments.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == name)
}

/// Returns the codec of a field of type `ty`, given the codec of its values. If that is `C`, the codec of a `Vec<i32>`
/// is `Vec<C>`, and the codec of a plain `i32` is `C`.
pub(crate) fn field_codec(ty: &Type, codec: TokenStream) -> TokenStream {
    match generics(ty)[..] {
        [key, _] if is_named(ty, "BTreeMap") => quote! { ::std::collections::BTreeMap<#key, #codec> },
        [key, _] => quote! { ::std::collections::HashMap<#key, #codec> },
        [_] if is_named(ty, "Vec") => quote! { ::std::vec::Vec<#codec> },
        [_] if is_named(ty, "Option") => quote! { ::core::option::Option<#codec> },
        _ => codec,
    }
}

/// Returns whether a type is `Box<T>` or `Option<Box<T>>`.
fn is_boxed(ty: &Type) -> bool {
    let [inner] = generics(ty)[..] else { return false };
    is_named(ty, "Box") || (is_named(ty, "Option") && is_boxed(inner))
}

/// Parsed `#[prost(…)]` attribute of a field.
#[derive(Default)]
pub(crate) struct ProstAttribute {
    pub(crate) tags: Vec<i32>,
    pub(crate) oneof: Option<Path>,
    enumeration: Option<Path>,
    accessors: Accessors,
}

/// Prefixes of the accessor methods that prost derives for a field. A field is renamed if its methods would have the
/// same names as another field's methods.
type Accessors = &'static [&'static str];
/// Accessor prefixes of a map field with enum values.
const MAP: Accessors = &["get_", "insert_"];

impl ProstAttribute {
    /// Parses the `#[prost]` attribute that contains the field number. Ignores further attributes, which users may have
    /// added.
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Option<Self>, Error> {
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("prost")) {
            let read = Self::parse(attribute).map_err(|error| {
                Error::new(ErrorKind::Option, format!("cannot read a `#[prost]` attribute: {error}")).with_source(error)
            })?;
            if !read.tags.is_empty() {
                return Ok(Some(read));
            }
        }
        Ok(None)
    }

    fn parse(attribute: &Attribute) -> syn::Result<Self> {
        let mut read = Self::default();
        let metas = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        for (name, text) in metas.iter().filter_map(text_of) {
            match &*name {
                "tag" | "tags" => {
                    for tag in text.value().split(',') {
                        let number = tag.trim().parse();
                        read.tags.push(number.map_err(|_| syn::Error::new(text.span(), "not a field number"))?);
                    }
                }
                "oneof" => read.oneof = Some(text.parse()?),
                "enumeration" => read.enumeration = Some(text.parse()?),
                "map" | "btree_map" => {
                    // The text is, for example, `"string, enumeration(path)"` if map values are enums.
                    let types = text.value();
                    let path = types.split_once("enumeration(").and_then(|(_, rest)| Some(rest.rsplit_once(')')?.0));
                    read.enumeration = path.map(syn::parse_str).transpose()?;
                }
                _ => {}
            }
        }
        let has = |name| metas.iter().any(|meta| meta.path().is_ident(name));
        read.accessors = match read.enumeration {
            Some(_) if has("repeated") => &["", "push_"],
            Some(_) if has("enumeration") => &["", "set_"],
            Some(_) => MAP,
            None if has("optional") && !has("message") => &[""],
            None => &[],
        };
        Ok(read)
    }
}
