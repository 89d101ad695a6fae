//! Interface for code generators of other languages: a checked schema, and the trait [`Backend`]. The crate
//! `frpc-languages` implements it for TypeScript and Python.
//!
//! # Examples
//!
//! A back end that lists methods:
//!
//! ```
//! use frpc_build::backend::{Backend, Checked};
//! use frpc_build::{Error, OutputFile};
//!
//! #[derive(Debug)]
//! struct Methods;
//!
//! impl Backend for Methods {
//!     fn emit(&self, checked: &Checked<'_>) -> Result<Vec<OutputFile>, Error> {
//!         let lines = checked.plan.layouts().iter().flat_map(|layout| {
//!             layout.methods().map(|(method, operation, _)| format!("{operation} {}/{method}\n", layout.service()))
//!         });
//!         Ok(vec![OutputFile::new("methods.txt", lines.collect::<String>())])
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! # let proto = folder.join("shop.proto");
//! # std::fs::write(&proto, "syntax = \"proto3\"; package shop; message A {} service Shop { rpc Buy(A) returns (A); }")?;
//! frpc_build::configure()
//!     .backend(Methods)
//!     .out_dir(folder)
//!     .compile_protos(&[proto], &[folder])?;
//! assert_eq!(std::fs::read_to_string(folder.join("methods.txt"))?, "10 shop.Shop/Buy\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use prost_types::FileDescriptorProto;

pub use crate::plan::Plan;
pub use crate::schema::options::is_redacted;
pub use crate::schema::wire_order::oneof_of;
pub use crate::schema::{FoundDescriptor, Index, Schema, full_name, is_map_entry, within};

use crate::codec::Codec;
use crate::error::Error;
use crate::generate::reflection;
use crate::operations::OperationOptions;
use crate::output::OutputFile;
use crate::schema::check::check;
use crate::schema::externs::Externs;

/// A code generator for one programming language, with its options; see [`Builder::backend`](crate::Builder::backend).
pub trait Backend: fmt::Debug {
    /// Generates the source files for a schema.
    ///
    /// # Errors
    ///
    /// If the language cannot express the schema, or if options contradict each other.
    fn emit(&self, checked: &Checked<'_>) -> Result<Vec<OutputFile>, Error>;
}

/// A schema that passed all checks, with an index of its types and the wire layouts of its services.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked<'a> {
    /// The parsed `.proto` files, including their imports.
    pub schema: &'a Schema,
    /// Index of all messages and enums by full name, used to resolve the types of fields.
    pub index: Index<'a>,
    /// Operation numbers of all methods and wire layouts of all services, as computed for this build.
    pub plan: Plan,
    /// Encoding of message bodies, which decides the codecs that a back end generates.
    pub codec: Codec,
}

impl<'a> Checked<'a> {
    /// Checks a schema, assigns operation numbers to its methods and computes the wire layouts of its services.
    pub(crate) fn new(schema: &'a Schema, externs: &Externs, operations: &OperationOptions) -> Result<Self, Error> {
        let index = Index::new(&schema.files);
        check(schema, &index, externs)?;
        let plan = Plan::new(schema, operations, externs.codec)?;
        Ok(Self { schema, index, plan, codec: externs.codec })
    }

    /// Returns an encoded `FileDescriptorSet` of the services in `files`. It contains each file that declares a
    /// service, with its imports, custom options and comments. Returns `None` if no file declares a service.
    ///
    /// # Errors
    ///
    /// If the encoded schema is invalid.
    pub fn service_files(&self, files: &[&FileDescriptorProto]) -> Result<Option<Vec<u8>>, Error> {
        reflection::service_files(self.schema, files)
    }
}
