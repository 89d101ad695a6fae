//! Generates Rust code for frpc from `.proto` files, in a build script. It needs no `protoc`.
//!
//! # Getting started
//!
//! Add this crate to the build dependencies of a package that depends on frpc, and write a schema:
//!
//! ```proto
//! // proto/greet.proto
//! syntax = "proto3";
//! package greet;
//!
//! service Greeter {
//!   rpc Greet(Name) returns (Greeting);
//! }
//!
//! message Name { string name = 1; }
//! message Greeting { string text = 1; }
//! ```
//!
//! A build script compiles it:
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     frpc_build::compile_protos("proto/greet.proto")?;
//!     Ok(())
//! }
//! ```
//!
//! The code for a package is written to one file in cargo's `OUT_DIR`, which the program includes with
//! `frpc::include_proto!("greet")`. It contains
//!
//! * the messages and enums as prost-build generates them, so that other users of prost can use the same types,
//! * their codecs: implementations of `polyglot::Fields` and `polyglot::Enumeration`,
//! * the trait `Greeter`, which a server implements with plain `async fn`s,
//! * `GreeterServer`, which serves an implementation of the trait, and `GreeterClient`, which calls one.
//!
//! [`configure`] returns a [`Builder`] with all options. The options have the same names as in tonic's and prost's
//! builders:
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     frpc_build::configure()
//!         .bytes(".files.Chunk.data")
//!         .type_attribute(".files.Path", "#[derive(Eq, Hash)]")
//!         .include_file("protos.rs")
//!         .compile_protos(&["proto/files.proto", "proto/users.proto"], &["proto"])?;
//!     Ok(())
//! }
//! ```
//!
//! If a package uses types of another package, the generated code refers to them through `super`. The packages must
//! then be nested modules, which the file written by [`include_file`](Builder::include_file) declares.
//!
//! # Changes of a schema
//!
//! Generated code contains a description of each service's methods and messages: field numbers, types and wire order.
//! Peers with different versions of a schema exchange their descriptions, and one of them translates messages. A schema
//! may therefore change in the ways that protobuf allows. `docs/evolution.md` in the repository lists these changes.
//!
//! # Operations
//!
//! The number of a method is called its *operation*. The methods of a file are numbered from 10 across all its
//! services, as in Go. If a build has several files with methods, only the first starts at 10. The others start at
//! multiples of 100, so that one server can serve all of them. [`Numbering`] describes these rules and an alternative,
//! and [`operation_base`](Builder::operation_base) sets the start of a file.
//!
//! # Codecs
//!
//! Bodies use the Polyglot encoding: singular fields in the order of declaration, then lists, then messages and maps. A
//! build with [`codec(Codec::Protobuf)`](Builder::codec) encodes messages as protobuf instead.
//!
//! # Views
//!
//! [`views(true)`](Builder::views) adds a view `FooView<'a>` of each message `Foo`: a struct with the same fields that
//! borrows strings and bytes from the body, and decodes lists and maps during iteration. Decoding a view does not
//! allocate. Handlers of methods selected by [`undecoded_requests`](Builder::undecoded_requests) receive the request as
//! `frpc::Undecoded<Foo>` and read it with `request.get_ref().view()?`.
//!
//! # JSON
//!
//! [`json(true)`](Builder::json) adds proto3's JSON mapping of all messages and enums, in implementations of the traits
//! of `frpc_json`. This needs the feature `json` of frpc. `docs/json.md` in the repository describes the format.
//!
//! # Names
//!
//! Messages have the names assigned by prost-build. If two types or enum values would have the same name in Rust, such
//! as `XML` and `Xml`, a number is appended to the second one. If the name of a trait, server, client or method is
//! taken, for example by a message `GreeterClient` or a method `New`, `_` is appended. In both cases cargo shows a
//! warning.
//!
//! # Well-known types
//!
//! `Timestamp`, `Duration`, `Any`, `FieldMask`, `Struct`, `Value`, `ListValue` and `NullValue` become the types of
//! `prost-types`, which programs find at `frpc::prost_types`. A wrapper becomes the value in it, so that a field of
//! type `StringValue` is an `Option<String>`, and `Empty` becomes `()`. On the wire all of them are ordinary messages.
//!
//! # Limits
//!
//! The schema must use proto3. The following constructs are rejected with an error that names the file, line and
//! column:
//!
//! * proto2, with its groups, required fields, extensions and default values. Declarations of custom options are
//!   accepted, even in proto2 files. These options are ignored, except options of `frpc/agent.proto`.
//! * Editions.
//! * Fields and methods with types of `descriptor.proto`, or of `api.proto` and `type.proto` without
//!   [`compile_well_known_types`](Builder::compile_well_known_types).
//! * With an `include_file`, a package and a message that need the same module. For example, the package `shop.order`
//!   and the nested types of the message `shop.Order` would both be in the module `shop::order`.
//! * Two oneofs of a message whose names are equal in upper camel case, such as `a_b` and `aB`. Both would become the
//!   enum `AB`. This error contains the names instead of the line and column.

#![forbid(unsafe_code)]

pub mod backend;
mod builder;
mod cargo;
mod codec;
mod error;
mod files;
mod generate;
mod operations;
mod output;
mod plan;
mod schema;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::generate::json_schema::JsonSchemas;
use crate::schema::externs::Externs;
use crate::schema::{Index, Schema};

pub use builder::{Builder, IntoPaths};
pub use codec::Codec;
pub use error::{Error, ErrorKind};
pub use operations::Numbering;
pub use output::{LoadedProtos, Output, OutputFile};
pub use plan::Layout;

/// Generates code for a `.proto` file and its imports with default options. Imports are resolved relative to the folder
/// of the file.
///
/// # Errors
///
/// Like [`Builder::compile_protos`].
///
/// # Examples
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     frpc_build::compile_protos("proto/greet.proto")?;
///     Ok(())
/// }
/// ```
pub fn compile_protos(proto: impl AsRef<Path>) -> Result<(), Error> {
    let proto = proto.as_ref();
    let folder = proto.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    configure().compile_protos(&[proto], &[folder])
}

/// Restores options in `fds` that prost-types drops when it decodes a schema: `debug_redact` of fields, and the options
/// of `frpc/agent.proto`. Programs that receive their schema from protoc need this function.
///
/// The options are read from `encoded`, which must contain the same schema as an encoded `FileDescriptorSet`. If
/// `encoded` is invalid, nothing is restored.
pub fn keep_options(fds: &mut prost_types::FileDescriptorSet, encoded: &[u8]) {
    schema::options::keep_options(&mut fds.file, encoded);
}

/// Returns the JSON Schemas of `messages` and of all types that they use, by full name. They describe the JSON mapping
/// and refer to each other at `#/components/schemas/`, as in an OpenRPC document.
///
/// Names in `messages` have a leading dot. Fields in `fds` must have JSON names, which protoc sets. Only needed by
/// programs that serve a schema without generated code.
///
/// # Examples
///
/// ```
/// use prost::Message as _;
///
/// let text = r#"syntax = "proto3"; message Point { int32 x = 1; }"#;
/// let loaded = frpc_build::configure().load_sources(vec![("point.proto".to_owned(), text.to_owned())])?;
/// let fds = prost_types::FileDescriptorSet::decode(&*loaded.descriptors)?;
/// let schemas = frpc_build::json_schemas(fds, [".Point"]);
/// assert!(schemas["Point"].contains(r#""x":{"type":"integer""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn json_schemas<S: AsRef<str>>(
    fds: prost_types::FileDescriptorSet,
    messages: impl IntoIterator<Item = S>,
) -> BTreeMap<String, String> {
    let schema = Schema::new(fds.file, HashMap::new(), Vec::new());
    let mut externs = Externs::default();
    externs.apply(&mut prost_build::Config::new(), &schema);
    JsonSchemas::new(&Index::new(&schema.files), &externs).of_messages(messages)
}

/// Creates a [`Builder`] with the default options.
///
/// # Examples
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let schema = r#"
///     syntax = "proto3";
///     package geometry;
///     message Point { sint32 x = 1; sint32 y = 2; }
/// "#;
/// std::fs::write(folder.join("geometry.proto"), schema)?;
///
/// frpc_build::configure()
///     .type_attribute(".geometry.Point", "#[derive(Eq, Hash)]")
///     .out_dir(folder)
///     .compile_protos(&[folder.join("geometry.proto")], &[folder])?;
///
/// let code = std::fs::read_to_string(folder.join("geometry.rs"))?;
/// assert!(code.contains("pub struct Point"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn configure() -> Builder {
    Builder::default()
}

/// Compiles the examples in docs/operations.md as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/operations.md")]
struct OperationsDocument;
