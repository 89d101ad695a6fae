//! Generates Rust for frpc from .proto files, in a build script. No `protoc` is needed.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     frpc_build::compile_protos("proto/echo.proto")?;
//!     Ok(())
//! }
//! ```
//!
//! For `service Echo` in `package demo.echo` this writes `demo.echo.rs` into cargo's output folder, which a program
//! takes in with `frpc::include_proto!("demo.echo")`. It holds
//!
//! * the messages and enums, as prost-build makes them (so the same types serve other users of prost),
//! * their codecs: implementations of `polyglot::Fields` and `polyglot::Enumeration`,
//! * the trait `Echo`, which a server implements with plain `async fn`s,
//! * `EchoServer`, which serves an implementation, and `EchoClient`, which calls it.
//!
//! Packages that use each other's types find them by `super`, in modules named like the packages:
//! [`include_file`](Builder::include_file) writes a file that has them.
//!
//! Options are set with [`configure`]; their names are those of tonic's and prost's builders.
//!
//! # Operations
//!
//! Methods are told apart on the wire by a number: 10 for the first method of the first service of a file, and one more
//! for each method after it, through all services of the file. A method that is inserted moves all that follow. Fields
//! have no numbers on the wire at all: they stand in the order in which they are declared, single ones before lists,
//! and messages and maps last. Services of several files can share a server if
//! [`operation_base`](Builder::operation_base) keeps their methods apart.
//!
//! # The schema lock
//!
//! Beside the schema of `package a.b` belongs `a.b.frpc.lock`, in version control like the schema: it records the order
//! and the kinds of fields, the operations of methods, and the indexes of enum values. A build only reads it. If the
//! schema has changed in one of these, the build fails with an error that says what moved, and whether older peers
//! still work. `FRPC_UPDATE_LOCK=1 cargo build` records changes that are safe (and writes the lock in the first place),
//! `FRPC_UPDATE_LOCK=breaking cargo build` all others. docs/schema-lock.md says which are which, and why.
//!
//! With [`numbering(Numbering::Lock)`](Builder::numbering) methods keep the operation that the lock records, wherever
//! they stand.
//!
//! # Names
//!
//! Messages have the names that prost-build gives them. A trait, client, server or method whose name is taken (service
//! `Echo` beside message `EchoClient`, an rpc `Connect` or `New`) gets a trailing `_`, and cargo shows a warning.
//!
//! # Well-known types
//!
//! They are mapped as prost maps them, in fields, lists, maps and oneofs, and as requests and replies: `Timestamp`,
//! `Duration`, `Any`, `FieldMask`, `Struct`, `Value`, `ListValue` and `NullValue` are those of `prost-types` (found at
//! `frpc::prost_types`), a wrapper is the value in it (`StringValue` a `String`, so that a field of it is an
//! `Option<String>`), and `Empty` is `()`. On the wire they are ordinary messages.
//!
//! # Codecs
//!
//! Bodies are in the Polyglot encoding, field by field. A build with
//! [`codec(Codec::Protobuf)`](Builder::codec) puts messages into bodies as protobuf instead: one Polyglot bytes value
//! holds the message, so that errors stand in its place as usual.
//!
//! # Views
//!
//! With [`views(true)`](Builder::views) there is a view `FooView<'a>` beside each message `Foo`: a struct of the same
//! fields that borrows from the body, `&str` and `&[u8]`, with lists and maps that are decoded as they are walked.
//! Decoding one allocates nothing. Handlers that only look get their requests undecoded by
//! [`undecoded_requests`](Builder::undecoded_requests), as `frpc::Undecoded<Foo>`, and ask for the view: `request.get_ref().view()?`.
//!
//! # gRPC
//!
//! With [`grpc(true)`](Builder::grpc) the code of tonic is written beside ours, for the same message types, and one
//! implementation of the trait is served by both. It needs the feature `tonic` of this crate and of frpc.
//!
//! # What is refused
//!
//! These are errors that name file, line and column; nothing is generated wrong in silence:
//!
//! * proto2: groups, required fields, extensions, defaults (custom options may be declared, and are ignored; a file
//!   that is imported for its options only may be proto2, and nothing is generated from it),
//! * fields and methods whose type is declared by descriptor.proto, which is proto2, or by api.proto and type.proto,
//!   unless [`compile_well_known_types`](Builder::compile_well_known_types) makes messages of them,
//! * types or enum values of one scope that would have the same name in Rust, and with `include_file` packages that
//!   would have the module of a message.

#![forbid(unsafe_code)]

mod builder;
mod cargo;
mod codec;
mod error;
mod files;
mod generate;
mod lock;
mod output;
mod schema;

use std::path::Path;

pub use builder::{Builder, Paths};
pub use codec::Codec;
pub use error::{Error, ErrorKind};
pub use lock::{Fingerprint, Layout, LockFile, LockUpdate, NotAFingerprint, Numbering};
pub use output::{Output, OutputFile};

/// Generates code for one .proto file and everything it imports, with default options. Imports are looked up in the
/// folder of the file.
///
/// # Errors
///
/// As [`Builder::compile_protos`].
pub fn compile_protos(proto: impl AsRef<Path>) -> Result<(), Error> {
    let proto = proto.as_ref();
    let folder = proto.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    configure().compile_protos(&[proto], &[folder])
}

/// Generates code for a schema that has been parsed already, with default options.
///
/// # Errors
///
/// As [`Builder::compile_protos`].
pub fn compile_fds(fds: prost_types::FileDescriptorSet) -> Result<(), Error> {
    configure().compile_fds(fds)
}

/// Options for the code that is generated.
pub fn configure() -> Builder {
    Builder::new()
}
