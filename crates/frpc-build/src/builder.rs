//! Build options. Their names follow the builders of tonic and prost-build.

mod compile;
mod paths;

use std::path::{Path, PathBuf};

pub use paths::IntoPaths;

use crate::backend::Backend;
use crate::codec::Codec;
use crate::generate::rpc::ServiceOptions;
use crate::operations::{Numbering, OperationOptions};
use crate::schema::externs::Externs;
use crate::schema::patterns::{OptionPath, Target};

/// Options for code generation, as created by [`configure`](crate::configure).
///
/// # Paths
///
/// Many options apply to parts of the schema. These are selected by paths in prost-build's syntax:
///
/// * `.package.Message` matches the message and everything in it, `.package` everything in the package;
/// * `Message` or `Message.field`, without a leading dot, matches every path with this suffix;
/// * `.` matches the whole schema.
///
/// Cargo shows a warning for an option if its path matches no suitable element.
///
/// # Examples
///
/// ```no_run
/// frpc_build::configure()
///     .build_client(false)
///     .bytes(".files.Chunk.data")
///     .type_attribute("Point", "#[derive(Eq, Hash)]")
///     .compile_protos(&["proto/files.proto"], &["proto"])?;
/// # Ok::<(), frpc_build::Error>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "a builder generates nothing before `compile_protos`, `compile_fds` or `generate` is called"]
pub struct Builder {
    prost: prost_build::Config,
    services: ServiceOptions,
    externs: Externs,
    operations: OperationOptions,
    out_dir: Option<PathBuf>,
    include_file: Option<PathBuf>,
    /// Code generator for a language other than Rust. `None` generates Rust.
    backend: Option<Box<dyn Backend>>,
    file_descriptor_set_path: Option<PathBuf>,
    /// Paths of the items whose comments are omitted from the generated code.
    comments_off: Vec<String>,
    without_rerun_if_changed: bool,
    /// Schema paths that were passed to options. The build warns about paths that match nothing.
    option_paths: Vec<OptionPath>,
}

/// Defines builder methods that add an attribute to all generated items that match a path.
macro_rules! attribute_setters {
    ($($(#[$about:meta])* $name:ident, $target:ident, |$of:ident, $path:ident, $attribute:ident| $set:expr;)*) => {$(
        $(#[$about])*
        pub fn $name(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
            let ($of, $path, $attribute) = (&mut self, path.as_ref().to_owned(), attribute.as_ref().to_owned());
            $of.note(stringify!($name), Target::$target, $path.as_str());
            $set;
            self
        }
    )*};
}

/// Methods that control which code is generated.
impl Builder {
    /// Enables or disables the generation of clients. Defaults to `true`.
    pub fn build_client(mut self, enable: bool) -> Self {
        self.services.without_client = !enable;
        self
    }

    /// Enables or disables the generation of servers and service traits. Defaults to `true`.
    pub fn build_server(mut self, enable: bool) -> Self {
        self.services.without_server = !enable;
        self
    }

    /// Enables or disables an additional, dyn-compatible trait for each service, with methods that return boxed
    /// futures. Defaults to `false`.
    ///
    /// A service `Greeter` gets the trait `DynGreeter`, for plugins and for tests that choose an implementation at run
    /// time. Every implementation of `Greeter` implements `DynGreeter`, and `Arc<dyn DynGreeter>` implements `Greeter`.
    /// `GreeterServer::new` therefore also accepts an `Arc<dyn DynGreeter>`. `docs/schemas.md` in the repository has an
    /// example.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// frpc_build::configure().dyn_traits(true).compile_protos(&["proto/greet.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn dyn_traits(mut self, enable: bool) -> Self {
        self.services.dyn_traits = enable;
        self
    }

    /// Sets the encoding of message bodies. Defaults to [`Codec::Polyglot`].
    pub fn codec(mut self, codec: Codec) -> Self {
        self.externs.codec = codec;
        self
    }

    /// Enables or disables views. The view `FooView<'a>` of a message `Foo` borrows strings, bytes, lists and maps from
    /// the body. Defaults to `false`.
    ///
    /// If the schema uses types of another crate through [`extern_path`](Self::extern_path), that crate must implement
    /// `polyglot::Viewed` for them.
    ///
    /// # Examples
    ///
    /// Handlers of `Search.Index` and of all methods of `Audit` receive undecoded requests and read them through views:
    ///
    /// ```no_run
    /// frpc_build::configure()
    ///     .views(true)
    ///     .undecoded_requests(["Search.Index", ".audit.Audit"])
    ///     .compile_protos(&["proto/search.proto", "proto/audit.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn views(mut self, enable: bool) -> Self {
        self.externs.views = enable;
        self
    }

    /// Enables or disables proto3's JSON mapping of messages and enums, as implementations of the traits of
    /// `frpc_json`. Defaults to `false`.
    ///
    /// Requires frpc's feature `json`. The generated code finds `frpc_json` at `frpc::json`, with the functions
    /// `to_json` and `from_json`. Works with either codec. Calls over adapter connections can then use the format
    /// `json`, except for methods with [undecoded requests](Self::undecoded_requests).
    ///
    /// The generated servers embed the comments of the schema and JSON Schemas of the messages of methods, for
    /// documents such as OpenRPC. **Every caller of the server can then read the comments**, unless
    /// [`disable_comments`](Self::disable_comments) removes them.
    ///
    /// If the schema uses `google.protobuf.Any`, all messages of a package are registered as types that an `Any` may
    /// hold in JSON.
    ///
    /// If the schema uses types of another crate through [`extern_path`](Self::extern_path), that crate must implement
    /// `frpc_json::Fields` for messages and `frpc_json::Enumeration` for enums. Code generated with this option does
    /// so.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// frpc_build::configure().json(true).compile_protos(&["proto/shop.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn json(mut self, enable: bool) -> Self {
        self.externs.json = enable;
        self
    }

    /// Enables or disables protobuf's encoding of messages, in addition to the [`codec`](Self::codec). Defaults to
    /// `false`. Adapter connections then support the format `proto`, which gRPC and Connect use. With the feature
    /// `grpc` of frpc, generated clients can also call gRPC servers.
    ///
    /// Methods with [undecoded requests](Self::undecoded_requests) do not support this format. If requests use types of
    /// another crate through [`extern_path`](Self::extern_path), that crate must implement `frpc::codegen::Protobuf`
    /// for them. Code generated with this option does so.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// frpc_build::configure().json(true).protobuf(true).compile_protos(&["proto/shop.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn protobuf(mut self, enable: bool) -> Self {
        self.externs.protobuf = enable;
        self
    }

    /// Enables or disables the embedding of the schema in the generated services. `frpc_reflection::Reflection` serves
    /// an embedded schema to tools like grpcurl. Defaults to `false`, which adds nothing to the program.
    ///
    /// The generated code of each package with services contains `SCHEMA`: an encoded `FileDescriptorSet` of the files
    /// with these services and their imports, with all comments. **Every caller of the server can then read the
    /// comments.**
    ///
    /// # Examples
    ///
    /// ```no_run
    /// frpc_build::configure().reflection(true).compile_protos(&["proto/shop.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn reflection(mut self, enable: bool) -> Self {
        self.services.reflection = enable;
        self
    }

    /// Passes the requests of these methods to their handlers undecoded, as `frpc::Undecoded<Foo>` instead of `Foo`.
    /// This suits handlers that read a few fields through a [view](Self::views) or forward the request. Takes one
    /// [path](Self#paths) or several. Clients are not affected.
    ///
    /// Works with the Polyglot codec only. Wrapper types such as `google.protobuf.StringValue` have no view, because
    /// they are plain values in Rust.
    pub fn undecoded_requests(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("undecoded_requests", Target::Method, paths);
        self.services.undecoded_requests.extend(paths);
        self
    }

    /// Uses the existing Rust type or module `rust_path` for the type or package `proto_path` instead of generating it.
    /// `proto_path` has a leading dot.
    ///
    /// The crate of such a type must implement the codec: `polyglot::Fields` for a message, `polyglot::Enumeration` for
    /// an enum. Code generated by frpc-build does so.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// frpc_build::configure()
    ///     .extern_path(".shop.common", "::shop_common")
    ///     .compile_protos(&["proto/orders.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn extern_path(mut self, proto_path: impl AsRef<str>, rust_path: impl AsRef<str>) -> Self {
        self.externs.user.push(proto_path.as_ref().to_owned());
        self.prost.extern_path(proto_path.as_ref(), rust_path.as_ref());
        self
    }

    /// Generates protobuf's well-known types like all other types instead of using `prost-types`. Defaults to `false`.
    pub fn compile_well_known_types(mut self, enable: bool) -> Self {
        self.externs.compile_well_known_types = enable;
        self
    }

    attribute_setters! {
        /// Adds an attribute to generated messages, enums and the enums of oneofs.
        type_attribute, Type, |of, path, attribute| of.prost.type_attribute(path, attribute);

        /// Adds an attribute to generated messages.
        message_attribute, Message, |of, path, attribute| of.prost.message_attribute(path, attribute);

        /// Adds an attribute to generated enums and the enums of oneofs.
        enum_attribute, Enum, |of, path, attribute| of.prost.enum_attribute(path, attribute);

        /// Adds an attribute to generated fields, members of oneofs and enum values.
        field_attribute, Field, |of, path, attribute| of.prost.field_attribute(path, attribute);

        /// Adds an attribute to the generated clients of services.
        client_attribute, Service, |of, path, attribute| of.services.client_attributes.push((path, attribute));

        /// Adds an attribute to the generated servers of services.
        server_attribute, Service, |of, path, attribute| of.services.server_attributes.push((path, attribute));

        /// Adds an attribute to the generated traits of services.
        trait_attribute, Service, |of, path, attribute| of.services.trait_attributes.push((path, attribute));
    }

    /// Stores the selected message fields in a `Box`. Takes one [path](Self#paths) or several. Fields of recursive
    /// messages are always boxed.
    ///
    /// A member of a oneof cannot be boxed if all members are plain numbers or messages of plain numbers, because
    /// prost-build derives `Copy` for such a oneof. With [`json`](Self::json), the fields of well-known types with a
    /// special JSON form are not boxed.
    pub fn boxed(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("boxed", Target::SingleMessage, paths);
        self.externs.boxed.extend(paths);
        self
    }

    /// Generates the selected bytes fields as `Bytes` instead of `Vec<u8>`, so that they are decoded without copying.
    /// Takes one [path](Self#paths) or several.
    pub fn bytes(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("bytes", Target::BytesField, paths);
        self.prost.bytes(paths);
        self
    }

    /// Generates the selected string fields, and string values of maps, as `frpc::Utf8Bytes` instead of `String`. Takes
    /// one [path](Self#paths) or several.
    ///
    /// Like [`bytes`](Self::bytes), long strings are encoded and decoded without copying. They are still validated as
    /// UTF-8. Map keys and `StringValue` remain `String`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// frpc_build::configure()
    ///     .utf8_bytes(".documents.Page.text")
    ///     .compile_protos(&["proto/documents.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn utf8_bytes(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("utf8_bytes", Target::StringField, paths);
        self.externs.utf8_bytes.extend(paths);
        self
    }

    /// Generates the selected map fields as `BTreeMap` instead of `HashMap`. Takes one [path](Self#paths) or several.
    pub fn btree_map(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("btree_map", Target::MapField, paths);
        self.prost.btree_map(paths);
        self
    }

    /// Generates a constant with the wire layout of each selected message. Published and stored bodies of these
    /// messages then start with the fingerprint of the layout. Takes one [path](Self#paths) or several.
    ///
    /// The fingerprint lets a typed topic detect messages of another version of the schema. It translates them if it
    /// knows their layout, and otherwise rejects them instead of misreading them. Select only messages that are
    /// published or stored, because a layout takes about 60 bytes for each message type that it contains.
    pub fn message_layouts(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("message_layouts", Target::Message, paths);
        self.externs.message_layouts.extend(paths);
        self
    }

    /// Omits comments of the schema from the generated code. The embedded `SCHEMA` for [`reflection`](Self::reflection)
    /// keeps them. Takes one [path](Self#paths) or several.
    pub fn disable_comments(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("disable_comments", Target::Any, paths);
        self.comments_off.extend(paths);
        self
    }

    /// Omits the implementation of `Debug`, so that the user can provide one. Takes one [path](Self#paths) or several.
    pub fn skip_debug(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("skip_debug", Target::Type, paths);
        self.prost.skip_debug(paths);
        self
    }

    /// Implements `prost::Name` for all generated messages.
    pub fn enable_type_names(mut self) -> Self {
        self.prost.enable_type_names();
        self
    }

    /// Enables or disables `#[allow]` attributes in the generated code. Defaults to `true`. The attributes allow
    /// `dead_code` and `unreachable_pub`, because a program may use only part of the code and include it in a private
    /// module. They also allow `deprecated`, because codecs use deprecated fields.
    ///
    /// Use `false` in a crate that forbids one of these lints, because there `#[allow]` causes the error E0453. The
    /// generated code must then be in a public module of a library. It allows only clippy lints, by name rather than by
    /// group, and ignores the schema's `deprecated` options. `missing_docs` is never allowed, because all public items
    /// have comments. `dead_code` can only be denied, not forbidden, because prost's derive macro allows it in the code
    /// that it adds to messages with enums or optional fields.
    ///
    /// ```no_run
    /// // In a library with `#![forbid(deprecated, missing_docs, unreachable_pub)]`.
    /// frpc_build::configure().lint_allows(false).compile_protos(&["proto/greet.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn lint_allows(mut self, enable: bool) -> Self {
        self.services.without_allows = !enable;
        self
    }

    /// Keeps the name of an enum as a prefix of its values' names. By default, this prefix is removed.
    pub fn retain_enum_prefix(mut self) -> Self {
        self.externs.retain_enum_prefix = true;
        self.prost.retain_enum_prefix();
        self
    }

    /// Records the paths passed to an option. The build later warns about recorded paths that match nothing.
    fn note(&mut self, option: &'static str, target: Target, paths: impl IntoPaths) -> Vec<String> {
        let paths = paths.into_paths();
        self.option_paths.extend(paths.iter().map(|path| OptionPath { option, path: path.clone(), target }));
        paths
    }
}

/// Options for assigning operation numbers, which identify methods on the wire.
impl Builder {
    /// Sets how operation numbers are assigned to methods. Defaults to [`Numbering::Sequential`].
    pub fn numbering(mut self, numbering: Numbering) -> Self {
        self.operations.numbering = numbering;
        self
    }

    /// Sets the operation number of the first method in a file. The minimum is 10. By default,
    /// [`numbering`](Self::numbering) determines it.
    ///
    /// The file is given by its import name or a suffix of it, such as `orders.proto` for `shop/orders.proto`.
    ///
    /// # Examples
    ///
    /// Two crates compile one file each, and one server serves both:
    ///
    /// ```no_run
    /// frpc_build::configure()
    ///     .operation_base("orders.proto", 100)
    ///     .compile_protos(&["proto/shop/orders.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn operation_base(mut self, file: impl Into<String>, first: u16) -> Self {
        self.operations.bases.push((file.into(), first));
        self
    }
}

/// Options that determine which files a build writes, and where.
impl Builder {
    /// Writes the generated code to this existing folder instead of cargo's `OUT_DIR`.
    pub fn out_dir(mut self, out_dir: impl AsRef<Path>) -> Self {
        self.out_dir = Some(out_dir.as_ref().to_owned());
        self
    }

    /// Additionally writes a file with this name that includes the code of all packages in nested modules. Required if
    /// one package uses types of another.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// // build.rs
    /// frpc_build::configure()
    ///     .include_file("protos.rs")
    ///     .compile_protos(&["proto/shop/orders.proto", "proto/money/money.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    ///
    /// The program includes it with `include!(concat!(env!("OUT_DIR"), "/protos.rs"));`.
    pub fn include_file(mut self, path: impl AsRef<Path>) -> Self {
        self.include_file = Some(path.as_ref().to_owned());
        self
    }

    /// Generates code in another language instead of Rust, using a back end of the crate `frpc-languages` or a [custom
    /// one](crate::backend). Most options concern Rust and do not affect other languages.
    pub fn backend(mut self, backend: impl Backend + 'static) -> Self {
        self.backend = Some(Box::new(backend));
        self
    }

    /// Additionally writes the parsed schema to this path as an encoded `FileDescriptorSet`.
    pub fn file_descriptor_set_path(mut self, path: impl AsRef<Path>) -> Self {
        self.file_descriptor_set_path = Some(path.as_ref().to_owned());
        self
    }

    /// Sets whether cargo reruns the build script when a schema file changes. Defaults to `true`.
    pub fn emit_rerun_if_changed(mut self, enable: bool) -> Self {
        self.without_rerun_if_changed = !enable;
        self
    }
}
