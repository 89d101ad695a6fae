//! Types that are not generated: types of `extern_path`, protobuf's well-known types and frpc's own types.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::codec::Codec;
use crate::error::{Error, SourcePosition};
use crate::schema::Schema;

/// Package of the types that prost-build maps to `prost-types`.
const WELL_KNOWN: &str = ".google.protobuf";

/// Well-known types with codecs in polyglot and a special JSON mapping, except wrapper types.
const STRUCTS: [&str; 8] = ["Any", "Duration", "Empty", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"];

/// Well-known types with codecs in polyglot and the JSON mapping of other enums and messages.
const PLAIN: [&str; 2] = ["NullValue", "SourceContext"];

/// Well-known types with lists or maps. frpc computes their memory.
const COUNTED: [&str; 4] = ["FieldMask", "ListValue", "Struct", "Value"];

/// Name of the bundled file that declares tensor types.
const TENSOR_FILE: &str = "frpc/tensor.proto";

/// Name of the bundled file that declares options for AI agents.
pub(crate) const AGENT_FILE: &str = "frpc/agent.proto";

/// Names and contents of the bundled files, which schemas can import without a copy on disk.
pub(crate) const OWN_FILES: [(&str, &str); 2] = [
    (AGENT_FILE, include_str!("../../proto/frpc/agent.proto")),
    (TENSOR_FILE, include_str!("../../proto/frpc/tensor.proto")),
];

/// Tensor messages that frpc implements by hand, with their Rust paths.
const OWN: [(&str, &str); 2] = [(".frpc.Tensor", "::frpc::tensor::Tensor"), (".frpc.Image", "::frpc::tensor::Image")];

/// The crate that defines a type, so that no code is generated for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A crate named by `extern_path`, which must implement the codec of the type.
    User,
    /// prost-types. prost-build maps the type to it. polyglot implements its codec.
    ProstTypes,
    /// frpc-tensor, which frpc re-exports as `tensor`.
    Frpc,
}

/// Protobuf paths of types that other crates define, and the options that concern types.
#[derive(Debug, Default)]
pub(crate) struct Externs {
    /// Paths passed to `extern_path`, with a leading dot.
    pub(crate) user: Vec<String>,
    /// Message encoding that codecs are generated for.
    pub(crate) codec: Codec,
    /// Paths of message fields that are stored in a `Box`.
    pub(crate) boxed: Vec<String>,
    /// Whether the names of enum values keep the name of their enum as a prefix.
    pub(crate) retain_enum_prefix: bool,
    /// Paths of strings that are generated as `Utf8Bytes`.
    pub(crate) utf8_bytes: Vec<String>,
    /// Paths of messages that get a constant with their wire layout.
    pub(crate) message_layouts: Vec<String>,
    /// Whether to generate views, which borrow from the received body instead of copying.
    pub(crate) views: bool,
    /// Whether to generate the protobuf JSON mapping of messages.
    pub(crate) json: bool,
    /// Whether methods also accept protobuf-encoded messages, regardless of the codec.
    pub(crate) protobuf: bool,
    /// Whether to generate code for the well-known types.
    pub(crate) compile_well_known_types: bool,
    /// Well-known types that cannot be generated because descriptor.proto uses proto2.
    proto2: Vec<String>,
    /// Full names of the tensor types that map to hand-written Rust types. Empty unless the schema imports
    /// [`TENSOR_FILE`].
    own: Vec<&'static str>,
}

impl Externs {
    /// Configures prost-build for hand-written tensor types and for `compile_well_known_types`.
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

    /// Returns the crate that defines a type, or `None` if code is generated for it. `full_name` has a leading dot.
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

    /// Returns whether generated code can compute the heap memory of messages of this type. It cannot do so for the
    /// types of `extern_path`.
    pub(crate) fn counts_memory(&self, full_name: &str) -> bool {
        match self.owner(full_name) {
            None | Some(Owner::Frpc) => true,
            Some(Owner::ProstTypes) => well_known(full_name).is_some_and(|name| COUNTED.contains(&name)),
            Some(Owner::User) => false,
        }
    }

    /// Rejects a field if its type has no codec. prost has protobuf codecs for all types, so a build for the protobuf
    /// encoding rejects a type only if it also generates the JSON mapping and the type has no JSON codec.
    pub(crate) fn check_field(
        &self,
        full_name: &str,
        what: &str,
        position: impl FnOnce() -> SourcePosition,
    ) -> Result<(), Error> {
        if self.codec == Codec::Protobuf && !self.json { Ok(()) } else { self.check_use(full_name, what, position) }
    }

    /// Rejects the use of a type that has no codec.
    pub(crate) fn check_use(
        &self,
        full_name: &str,
        what: &str,
        position: impl FnOnce() -> SourcePosition,
    ) -> Result<(), Error> {
        let has_codec =
            has_json_form(full_name).is_some() || well_known(full_name).is_some_and(|name| PLAIN.contains(&name));
        if self.owner(full_name) != Some(Owner::ProstTypes) || has_codec {
            return Ok(());
        }
        let name = full_name.trim_start_matches('.');
        let text = format!(
            "{what} has the type `{name}`: the types of api.proto and type.proto are supported only with \
             `compile_well_known_types(true)`, and those of descriptor.proto not at all"
        );
        Err(Error::unsupported(position(), text))
    }

    /// Returns the codec of a field with a wrapper type, such as `google.protobuf.StringValue`. Returns `None` for
    /// other types. prost generates a plain value such as `String` for a wrapper, so the Rust type does not imply the
    /// codec.
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

/// Enum that JSON represents as `null`, with a leading dot.
pub(crate) const NULL_VALUE: &str = ".google.protobuf.NullValue";

/// Returns the name of a well-known type without its package, such as `Duration`, if the type has a special JSON
/// mapping.
pub(crate) fn has_json_form(full_name: &str) -> Option<&str> {
    well_known(full_name).filter(|name| STRUCTS.contains(name) || wrapper(name).is_some())
}

/// Returns the name of a type without the package `google.protobuf`, or `None` if the type is in another package.
fn well_known(full_name: &str) -> Option<&str> {
    full_name.strip_prefix(WELL_KNOWN)?.strip_prefix('.')
}

/// Returns whether `full_name` is a wrapper such as `.google.protobuf.StringValue`, and `rust` is the plain Rust type
/// that prost-build uses instead, such as `String`.
pub(crate) fn is_value(full_name: &str, rust: &str) -> bool {
    well_known(full_name).and_then(wrapper).is_some_and(|name| !rust.ends_with(name))
}

/// Returns the Rust name of a wrapper type, which is also the name of its codec.
fn wrapper(name: &str) -> Option<&str> {
    const VALUES: [&str; 9] = ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"];
    name.strip_suffix("Value").filter(|value| VALUES.contains(value)).map(|_| name)
}

/// Returns whether `path` is `full_name` or one of its enclosing scopes, such as `.shop` for `.shop.Order`.
fn covers(path: &str, full_name: &str) -> bool {
    full_name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
