//! Types that are not generated here: those that the user maps with `extern_path`, and protobuf's well-known types.

use crate::error::{Error, Place};
use crate::schema::Schema;

/// The package that prost-build maps to `prost-types` by itself.
const WELL_KNOWN: &str = ".google.protobuf";

/// Who brings a type that is not generated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user, by `extern_path`: the codec too.
    User,
    /// prost-types, by prost-build's own mapping.
    ProstTypes,
}

/// The protobuf paths whose types come from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Externs {
    /// With a leading dot.
    pub(crate) user: Vec<String>,
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

    /// Refuses a type whose codec nobody brings.
    pub(crate) fn check_use(&self, full_name: &str, what: &str, place: impl FnOnce() -> Place) -> Result<(), Error> {
        if self.owner(full_name) != Some(Owner::ProstTypes) {
            return Ok(());
        }
        let name = full_name.trim_start_matches('.');
        let text = format!(
            "{what} has the type `{name}`: well-known types are supported only with `compile_well_known_types(true)`, \
             and those of descriptor.proto not at all"
        );
        Err(Error::unsupported(place(), text))
    }
}

/// Whether `path` names `full_name` or something around it.
fn covers(path: &str, full_name: &str) -> bool {
    full_name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
