//! Types that are not generated: those of `extern_path`, protobuf's well-known types, and our own.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::codec::Codec;
use crate::error::{Error, SourcePosition};
use crate::schema::Schema;

/// The package that prost-build maps to `prost-types`.
const WELL_KNOWN: &str = ".google.protobuf";

/// The well-known types other than wrappers with codecs in polyglot.
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

/// Those with lists or maps. frpc knows how much memory they take.
const COUNTED: [&str; 4] = ["FieldMask", "ListValue", "Struct", "Value"];

/// Our own file of well-known types.
const TENSOR_FILE: &str = "frpc/tensor.proto";

/// Our own file of options.
pub(crate) const AGENT_FILE: &str = "frpc/agent.proto";

/// Our own files with their texts. Programs import them, and need no copies of them.
pub(crate) const OWN_FILES: [(&str, &str); 2] = [
    (AGENT_FILE, include_str!("../../proto/frpc/agent.proto")),
    (TENSOR_FILE, include_str!("../../proto/frpc/tensor.proto")),
];

/// The types of [`TENSOR_FILE`], with their paths in Rust.
const OWN: [(&str, &str); 2] = [(".frpc.Tensor", "::frpc::tensor::Tensor"), (".frpc.Image", "::frpc::tensor::Image")];

/// The crate that defines a type that is not generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A crate of the user, by `extern_path`. It has to implement the codec.
    User,
    /// prost-types, by prost-build's mapping. polyglot implements the codecs.
    ProstTypes,
    /// frpc-tensor, which frpc has as `tensor`.
    Frpc,
}

/// The protobuf paths of types that are not generated, and the options that concern types.
#[derive(Debug, Default)]
pub(crate) struct Externs {
    /// With a leading dot.
    pub(crate) user: Vec<String>,
    /// The codec of generated types.
    pub(crate) codec: Codec,
    /// The paths of strings that are `Utf8Bytes`.
    pub(crate) utf8_bytes: Vec<String>,
    /// Whether generated types have views.
    pub(crate) views: bool,
    /// Whether types have the JSON mapping.
    pub(crate) json: bool,
    /// Whether methods can be called with messages in protobuf's encoding, with any codec.
    pub(crate) protobuf: bool,
    /// Whether the well-known types are generated.
    pub(crate) compile_well_known_types: bool,
    /// Well-known types that cannot be generated, because descriptor.proto is proto2.
    proto2: Vec<String>,
    /// Types of [`TENSOR_FILE`], if the schema has it.
    own: Vec<&'static str>,
}

impl Externs {
    /// Configures prost-build for our own types, and for `compile_well_known_types`.
    pub(crate) fn apply(&mut self, prost: &mut prost_build::Config, schema: &Schema) {
        if schema.files.iter().any(|file| file.name() == TENSOR_FILE && file.package() == "frpc") {
            for (path, rust) in OWN.into_iter().filter(|(path, _)| self.owner(path).is_none()).collect::<Vec<_>>() {
                prost.extern_path(path, rust);
                self.own.push(path);
            }
        }
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

    /// The owner of the type with this full name (with a leading dot), or none if it is generated.
    pub(crate) fn owner(&self, full_name: &str) -> Option<Owner> {
        let is_under = |paths: &[String]| paths.iter().any(|path| covers(path, full_name));
        let by_prost = !self.compile_well_known_types && covers(WELL_KNOWN, full_name);
        match () {
            () if is_under(&self.user) => Some(Owner::User),
            () if by_prost || is_under(&self.proto2) => Some(Owner::ProstTypes),
            () if self.own.contains(&full_name) => Some(Owner::Frpc),
            () => None,
        }
    }

    /// Whether the memory for the fields of this type is known.
    pub(crate) fn counts_memory(&self, full_name: &str) -> bool {
        match self.owner(full_name) {
            None | Some(Owner::Frpc) => true,
            Some(Owner::ProstTypes) => well_known(full_name).is_some_and(|name| COUNTED.contains(&name)),
            Some(Owner::User) => false,
        }
    }

    /// Refuses a field whose type has no codec. With protobuf, prost has codecs for all types, but they have no JSON.
    pub(crate) fn check_field(
        &self,
        full_name: &str,
        what: &str,
        position: impl FnOnce() -> SourcePosition,
    ) -> Result<(), Error> {
        if self.codec == Codec::Protobuf && !self.json { Ok(()) } else { self.check_use(full_name, what, position) }
    }

    /// Refuses a type without a codec.
    pub(crate) fn check_use(
        &self,
        full_name: &str,
        what: &str,
        position: impl FnOnce() -> SourcePosition,
    ) -> Result<(), Error> {
        let has_codec = |name: &str| STRUCTS.contains(&name) || wrapper(name).is_some();
        if self.owner(full_name) != Some(Owner::ProstTypes) || well_known(full_name).is_some_and(has_codec) {
            return Ok(());
        }
        let name = full_name.trim_start_matches('.');
        let text = format!(
            "{what} has the type `{name}`: the types of api.proto and type.proto are supported only with \
             `compile_well_known_types(true)`, and those of descriptor.proto not at all"
        );
        Err(Error::unsupported(position(), text))
    }

    /// The codec of a field with a wrapper. Prost uses the type of its value.
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

/// The enum that is `null` in JSON, with a leading dot.
pub(crate) const NULL_VALUE: &str = ".google.protobuf.NullValue";

/// The name of a well-known type, if it has a JSON form of its own.
pub(crate) fn has_json_form(full_name: &str) -> Option<&str> {
    let is_plain = |name: &&str| ["NullValue", "SourceContext"].contains(name);
    well_known(full_name).filter(|name| (STRUCTS.contains(name) && !is_plain(name)) || wrapper(name).is_some())
}

/// The name of a type within protobuf's package.
fn well_known(full_name: &str) -> Option<&str> {
    full_name.strip_prefix(WELL_KNOWN)?.strip_prefix('.')
}

/// Whether the type with this full name (with a leading dot) is a wrapper that prost-build replaces by the value
/// `rust`.
pub(crate) fn is_value(full_name: &str, rust: &str) -> bool {
    well_known(full_name).and_then(wrapper).is_some_and(|name| !rust.ends_with(name))
}

/// The name of a wrapper, which is also the name of its codec.
fn wrapper(name: &str) -> Option<&str> {
    const VALUES: [&str; 9] = ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"];
    name.strip_suffix("Value").filter(|value| VALUES.contains(value)).map(|_| name)
}

/// Whether `path` is `full_name` or contains it.
fn covers(path: &str, full_name: &str) -> bool {
    full_name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
