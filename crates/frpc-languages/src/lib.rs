//! Generators of TypeScript and Python for frpc, as back ends of the builder in `frpc-build`. The program
//! `protoc-gen-frpc` of this package is a plugin of protoc and buf for all languages including Rust.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     frpc_build::configure()
//!         .backend(frpc_languages::TypeScript::new())
//!         .out_dir("page/src/generated")
//!         .compile_protos(&["proto/greet.proto"], &["proto"])?;
//!     Ok(())
//! }
//! ```
//!
//! Such a build script writes outside of its output folder, which cargo permits but does not expect. If the generated
//! code is committed, run `protoc-gen-frpc generate` manually instead.

#![forbid(unsafe_code)]

mod names;
mod python;
mod typescript;

use std::collections::BTreeMap;

use frpc_build::backend::{Checked, Schema};
use frpc_build::{Codec, Error, ErrorKind};
use prost_types::FileDescriptorProto;

pub use python::Python;
pub use typescript::TypeScript;

/// Field numbers of `descriptor.proto`, which make up the descriptor paths of items.
mod tag {
    pub(crate) const FILE_SERVICE: i32 = 6;
    pub(crate) const MESSAGE_FIELD: i32 = 2;
    pub(crate) const MESSAGE_ONEOF: i32 = 8;
    pub(crate) const ENUM_VALUE: i32 = 2;
    pub(crate) const SERVICE_METHOD: i32 = 2;
}

/// Returns an error if the schema is generated for a codec other than Polyglot. The TypeScript and Python runtimes
/// implement no other.
fn require_polyglot(checked: &Checked<'_>, language: &str) -> Result<(), Error> {
    if checked.codec == Codec::Polyglot {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Option, format!("{language} needs the Polyglot codec")))
}

/// Returns the files that code is generated for, grouped by package: the files that the caller selected, and the files
/// of the packages `google.protobuf` and `frpc` that they use, because no runtime library provides their types.
fn packages(schema: &Schema) -> BTreeMap<&str, Vec<&FileDescriptorProto>> {
    let is_library = |file: &FileDescriptorProto| ["google.protobuf", "frpc"].contains(&file.package());
    let is_wanted = |file: &&FileDescriptorProto| schema.is_generated(file) || schema.is_used(file) && is_library(file);
    let mut packages: BTreeMap<&str, Vec<&FileDescriptorProto>> = BTreeMap::new();
    schema.files.iter().filter(is_wanted).for_each(|file| packages.entry(file.package()).or_default().push(file));
    packages
}
