//! Types that are not generated here: those that the user maps with `extern_path`, and protobuf's well-known types.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::codec::Codec;
use crate::error::{Error, Place};
use crate::schema::Schema;

/// The package that prost-build maps to `prost-types` by itself.
const WELL_KNOWN: &str = ".google.protobuf";

/// The well-known types besides the wrappers for which polyglot has codecs.
const STRUCTS: [&str; 10] = [
    "Any",
    "Duration",
    "Empty",
    "FieldMask",
    "ListValue",
    "NullValue",
    "SourceContext",
    "Struct",
    "Timestamp",
    "Value",
];

/// Those with lists or maps. Frpc tells what they take in memory.
const COUNTED: [&str; 4] = ["FieldMask", "ListValue", "Struct", "Value"];

/// Who brings a type that is not generated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user, by `extern_path`: the codec too.
    User,
    /// prost-types, by prost-build's own mapping. Their codecs are polyglot's.
    ProstTypes,
}

/// The protobuf paths whose types come from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Externs {
    /// With a leading dot.
    pub(crate) user: Vec<String>,
    /// That of the types that are generated.
    pub(crate) codec: Codec,
    /// Whether they have views.
    pub(crate) views: bool,
    /// Whether the well-known types are generated like all others.
    pub(crate) compile_well_known_types: bool,
    /// Those that cannot be generated all the same: descriptor.proto is proto2.
    proto2: Vec<String>,
}

impl Externs {
    /// Tells prost-build about `compile_well_known_types`.
    pub(crate) fn apply(&mut self, prost: &mut prost_build::Config, schema: &Schema) {
        if !self.compile_well_known_types {
            return;
        }
        prost.compile_well_known_types();
        for file in schema.files.iter().filter(|file| file.syntax() != "proto3") {
            let package = format!(".{}", file.package());
            let Some(within) = package.strip_prefix(WELL_KNOWN) else { continue };
            let messages = file.message_type.iter().map(prost_types::DescriptorProto::name);
            for name in messages.chain(file.enum_type.iter().map(prost_types::EnumDescriptorProto::name)) {
                let path = format!("{package}.{name}");
                if self.owner(&path).is_none() {
                    prost.extern_path(&path, format!("::frpc::prost_types{}::{name}", within.replace('.', "::")));
                    self.proto2.push(path);
                }
            }
        }
    }

    /// Who brings the type with this full name (with a leading dot); none if it is generated.
    pub(crate) fn owner(&self, full_name: &str) -> Option<Owner> {
        let is_under = |paths: &[String]| paths.iter().any(|path| covers(path, full_name));
        let by_prost = !self.compile_well_known_types && covers(WELL_KNOWN, full_name);
        match () {
            () if is_under(&self.user) => Some(Owner::User),
            () if by_prost || is_under(&self.proto2) => Some(Owner::ProstTypes),
            () => None,
        }
    }

    /// Whether it is known what the fields of this type take in memory.
    pub(crate) fn counts_memory(&self, full_name: &str) -> bool {
        match self.owner(full_name) {
            None => true,
            Some(Owner::ProstTypes) => well_known(full_name).is_some_and(|name| COUNTED.contains(&name)),
            Some(Owner::User) => false,
        }
    }

    /// Refuses a field of a type whose codec nobody brings. Protobuf needs none: prost has them all.
    pub(crate) fn check_field(&self, full_name: &str, what: &str, place: impl FnOnce() -> Place) -> Result<(), Error> {
        if self.codec == Codec::Protobuf { Ok(()) } else { self.check_use(full_name, what, place) }
    }

    /// Refuses a type whose codec nobody brings.
    pub(crate) fn check_use(&self, full_name: &str, what: &str, place: impl FnOnce() -> Place) -> Result<(), Error> {
        let has_codec = |name: &str| STRUCTS.contains(&name) || wrapper(name).is_some();
        if self.owner(full_name) != Some(Owner::ProstTypes) || well_known(full_name).is_some_and(has_codec) {
            return Ok(());
        }
        let name = full_name.trim_start_matches('.');
        let text = format!(
            "{what} has the type `{name}`: the types of api.proto and type.proto are supported only with \
             `compile_well_known_types(true)`, and those of descriptor.proto not at all"
        );
        Err(Error::unsupported(place(), text))
    }

    /// The codec of fields of a type that prost maps to something that does not say what it is: wrappers are the value
    /// in them.
    pub(crate) fn field_codec(&self, full_name: &str, boxed: bool) -> Option<TokenStream> {
        if self.owner(full_name) != Some(Owner::ProstTypes) {
            return None;
        }
        let codec = format_ident!("{}", wrapper(well_known(full_name)?)?);
        let codec = quote! { ::frpc::polyglot::wellknown::#codec };
        Some(if boxed {
            quote! { ::frpc::polyglot::wellknown::Boxed<#codec> }
        } else {
            codec
        })
    }
}

/// The name of a type in protobuf's own package.
fn well_known(full_name: &str) -> Option<&str> {
    full_name.strip_prefix(WELL_KNOWN)?.strip_prefix('.')
}

/// Whether the type with this full name (with a leading dot) is a wrapper, and `rust` the value that prost-build puts
/// in its place.
pub(crate) fn is_value(full_name: &str, rust: &str) -> bool {
    well_known(full_name).and_then(wrapper).is_some_and(|name| !rust.ends_with(name))
}

/// A wrapper's name, which is also the name of its codec.
fn wrapper(name: &str) -> Option<&str> {
    let is_wrapper = matches!(
        name,
        "DoubleValue"
            | "FloatValue"
            | "Int64Value"
            | "UInt64Value"
            | "Int32Value"
            | "UInt32Value"
            | "BoolValue"
            | "StringValue"
            | "BytesValue"
    );
    is_wrapper.then_some(name)
}

/// Whether `path` names `full_name` or something around it.
fn covers(path: &str, full_name: &str) -> bool {
    full_name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
