//! The options of a build, with the names that tonic's and prost-build's builders have for them.

mod compile;
mod paths;

use std::path::{Path, PathBuf};

pub use paths::IntoPaths;

use crate::backend::Backend;
use crate::codec::Codec;
use crate::generate::rpc::ServiceOptions;
use crate::lock::{LockOptions, LockUpdate, Numbering};
use crate::schema::externs::Externs;
use crate::schema::patterns::{OptionPath, Target};

/// Options for code generation, made by [`configure`](crate::configure).
///
/// # Paths
///
/// Many options apply to parts of the schema, which are named by paths with the syntax of prost-build:
///
/// * `.package.Message` is the message and everything in it, `.package` everything in the package;
/// * `Message` or `Message.field`, without a leading dot, is everything whose path ends like this;
/// * `.` is the whole schema.
///
/// Cargo shows a warning for an option whose path matches no suitable element.
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
#[derive(Debug)]
#[must_use = "a builder generates nothing before `compile_protos`, `compile_fds` or `generate` is called"]
pub struct Builder {
    prost: prost_build::Config,
    services: ServiceOptions,
    externs: Externs,
    locks: LockOptions,
    out_dir: Option<PathBuf>,
    include_file: Option<PathBuf>,
    /// The back end of another language than Rust.
    backend: Option<Box<dyn Backend>>,
    file_descriptor_set_path: Option<PathBuf>,
    emit_rerun_if_changed: bool,
    /// The paths that the user has given to options.
    option_paths: Vec<OptionPath>,
}

/// Setters of attributes, which the items at a path get.
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

/// Options for the generated code.
impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            prost: prost_build::Config::new(),
            services: ServiceOptions::default(),
            externs: Externs::default(),
            locks: LockOptions::default(),
            out_dir: None,
            include_file: None,
            backend: None,
            file_descriptor_set_path: None,
            emit_rerun_if_changed: true,
            option_paths: Vec::new(),
        }
    }

    /// Whether to generate clients. Default: `true`.
    pub fn build_client(mut self, enable: bool) -> Self {
        self.services.without_client = !enable;
        self
    }

    /// Whether to generate servers and the traits that they serve. Default: `true`.
    pub fn build_server(mut self, enable: bool) -> Self {
        self.services.without_server = !enable;
        self
    }

    /// Whether to generate a trait for trait objects as well, whose methods return boxed futures. Default: `false`.
    ///
    /// A service `Greeter` gets the trait `DynGreeter`, for plugins and for tests that choose an implementation at run
    /// time. Every implementation of `Greeter` implements `DynGreeter`, and `Arc<dyn DynGreeter>` implements `Greeter`:
    /// `GreeterServer::new(greeter)` serves one. `docs/schemas.md` in the repository has an example.
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

    /// Sets how messages are encoded in bodies. Default: [`Codec::Polyglot`].
    pub fn codec(mut self, codec: Codec) -> Self {
        self.externs.codec = codec;
        self
    }

    /// Whether to generate a view of each message as well: `FooView<'a>` for `Foo`, whose strings, bytes, lists and
    /// maps are borrowed from the body. Default: `false`.
    ///
    /// A crate whose types are used by [`extern_path`](Self::extern_path) has to implement `polyglot::Viewed` for them.
    ///
    /// # Examples
    ///
    /// Handlers of `Search.Index` and of all methods of `Audit` get their requests undecoded and look at them by views:
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

    /// Whether to generate the JSON mapping of proto3 as well, for messages and enums: implementations of the traits of
    /// `frpc_json`. Default: `false`.
    ///
    /// Needs the feature `json` of frpc. The generated code finds `frpc_json` at `frpc::json`, with the functions
    /// `to_json` and `from_json`. Works with either codec. Methods get the format `json` for calls of adapter
    /// connections, unless their requests are not decoded.
    ///
    /// Servers get the comments of the schema and JSON Schemas of the messages of methods, for documents such as that
    /// of OpenRPC. **All callers that may use the server can then read the comments**, unless
    /// [`disable_comments`](Self::disable_comments) leaves them out.
    ///
    /// If the schema has a `google.protobuf.Any`, services name all messages of their package as types that an `Any` may
    /// hold in JSON.
    ///
    /// A crate whose types are used by [`extern_path`](Self::extern_path) has to implement `frpc_json::Fields` for
    /// messages and `frpc_json::Enumeration` for enums, as another build with this option does.
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

    /// Whether methods can be called with messages in protobuf's encoding, whatever their [`codec`](Self::codec): the
    /// format `proto` for calls of adapter connections, which gRPC and Connect make. Default: `false`.
    ///
    /// Requests that are [not decoded](Self::undecoded_requests) have no such format. A crate whose types are used by
    /// [`extern_path`](Self::extern_path) as requests has to implement `frpc::codegen::Protobuf` for them, as another
    /// build with this option does.
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

    /// Whether services contain their schema, so that a server can show it: to `frpc_reflection::Reflection`, which
    /// tools like grpcurl query. Default: `false`, which adds nothing to the program.
    ///
    /// The code of each package with services gets `SCHEMA`, an encoded `FileDescriptorSet` of the files with these
    /// services and their imports, with all comments. **All callers that may use the server can then read the
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

    /// Passes the requests of these methods to their handlers undecoded, as `frpc::Undecoded<Foo>` instead of `Foo`: for
    /// handlers that read a few fields by a [view](Self::views) or forward the request. Takes one
    /// [path](Self#paths) or several. Clients stay the same.
    ///
    /// Works with the Polyglot codec only. A request that is a wrapper, like
    /// `google.protobuf.StringValue`, is a plain value in Rust and has no view.
    pub fn undecoded_requests(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("undecoded_requests", Target::Method, paths);
        self.services.undecoded_requests.extend(paths);
        self
    }

    /// Uses the Rust type or module `rust_path` for the type or package `proto_path`, which has a leading dot, instead
    /// of generating it.
    ///
    /// The crate that defines such a type also has to implement its codec: `polyglot::Fields` for a message,
    /// `polyglot::Enumeration` for an enum. Types that another build with frpc-build has generated have one.
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

    /// Whether to generate protobuf's well-known types from their schema, like all other types, instead of using those
    /// of `prost-types`. Default: `false`.
    pub fn compile_well_known_types(mut self, enable: bool) -> Self {
        self.externs.compile_well_known_types = enable;
        self
    }

    attribute_setters! {
        /// Adds an attribute to messages, enums and the enums of oneofs.
        type_attribute, Type, |of, path, attribute| of.prost.type_attribute(path, attribute);

        /// Adds an attribute to messages.
        message_attribute, Message, |of, path, attribute| of.prost.message_attribute(path, attribute);

        /// Adds an attribute to enums and the enums of oneofs.
        enum_attribute, Enum, |of, path, attribute| of.prost.enum_attribute(path, attribute);

        /// Adds an attribute to fields, members of oneofs and enum values.
        field_attribute, Field, |of, path, attribute| of.prost.field_attribute(path, attribute);

        /// Adds an attribute to the clients of services.
        client_attribute, Service, |of, path, attribute| of.services.client_attributes.push((path, attribute));

        /// Adds an attribute to the servers of services.
        server_attribute, Service, |of, path, attribute| of.services.server_attributes.push((path, attribute));

        /// Adds an attribute to the traits of services.
        trait_attribute, Service, |of, path, attribute| of.services.trait_attributes.push((path, attribute));
    }

    /// Puts message fields into a `Box`. Takes one [path](Self#paths) or several. Fields of recursive messages are
    /// boxed anyway.
    ///
    /// A member of a oneof cannot be boxed if all members are plain numbers or messages of plain numbers, because
    /// prost-build derives `Copy` for such a oneof.
    pub fn boxed(mut self, paths: impl IntoPaths) -> Self {
        for path in self.note("boxed", Target::SingleField, paths) {
            self.prost.boxed(path);
        }
        self
    }

    /// Makes bytes fields `Bytes`, which are decoded without copying, instead of `Vec<u8>`. Takes one
    /// [path](Self#paths) or several.
    pub fn bytes(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("bytes", Target::BytesField, paths);
        self.prost.bytes(paths);
        self
    }

    /// Makes string fields, and the values of maps that are strings, `frpc::Utf8Bytes` instead of `String`. Takes one
    /// [path](Self#paths) or several.
    ///
    /// Long ones are encoded and decoded without copying, as [`bytes`](Self::bytes) are. They are still checked to be
    /// UTF-8. Keys of maps and `StringValue` stay `String`.
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

    /// Makes map fields `BTreeMap` instead of `HashMap`. Takes one [path](Self#paths) or several.
    pub fn btree_map(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("btree_map", Target::MapField, paths);
        self.prost.btree_map(paths);
        self
    }

    /// Leaves out the comments of the schema, though not those in the `SCHEMA` for [`reflection`](Self::reflection). Takes
    /// one [path](Self#paths) or several.
    pub fn disable_comments(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("disable_comments", Target::Any, paths);
        self.services.comments_off.extend(paths.iter().cloned());
        self.prost.disable_comments(paths);
        self
    }

    /// Leaves out the implementation of `Debug`, so that you can write your own. Takes one [path](Self#paths) or
    /// several.
    pub fn skip_debug(mut self, paths: impl IntoPaths) -> Self {
        let paths = self.note("skip_debug", Target::Type, paths);
        self.prost.skip_debug(paths);
        self
    }

    /// Implements `prost::Name` for messages.
    pub fn enable_type_names(mut self) -> Self {
        self.prost.enable_type_names();
        self
    }

    /// Whether generated code allows `dead_code` and `unreachable_pub`, which it may break in a private module of a
    /// program that uses a part of it, and `deprecated`, since codecs use deprecated fields. Default: `true`.
    ///
    /// In a crate that forbids one of these lints, `#[allow]` is the error E0453. With `false` the code has none of them
    /// and belongs into a public module of a library; `deprecated` options of the schema are then ignored, and of clippy's
    /// lints some are allowed by name, in place of groups. All public items have comments either way, so `missing_docs` is
    /// never allowed. `dead_code` alone cannot be forbidden, only denied: the derive macro of prost allows it in its
    /// additions to messages with enums or optional fields.
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

    /// Keeps the name of an enum at the beginning of the names of its values, as in the schema. By default it is
    /// removed.
    pub fn retain_enum_prefix(mut self) -> Self {
        self.prost.retain_enum_prefix();
        self
    }

    /// Remembers the paths that an option was given, for a warning if they match nothing.
    fn note(&mut self, option: &'static str, target: Target, paths: impl IntoPaths) -> Vec<String> {
        let paths = paths.into_paths();
        self.option_paths.extend(paths.iter().map(|path| OptionPath { option, path: path.clone(), target }));
        paths
    }
}

/// Options for operations and the [schema lock](crate#the-schema-lock).
impl Builder {
    /// Sets how methods get their operations. Default: [`Numbering::Sequential`].
    pub fn numbering(mut self, numbering: Numbering) -> Self {
        self.locks.numbering = numbering;
        self
    }

    /// Sets the operation of the first method of a file, at least 10. Without it, [`numbering`](Self::numbering)
    /// decides.
    ///
    /// The file is named as imports name it, or by the end of that name: `orders.proto` for `shop/orders.proto`.
    ///
    /// # Examples
    ///
    /// Two crates compile one file each, and one server has the services of both:
    ///
    /// ```no_run
    /// frpc_build::configure()
    ///     .operation_base("orders.proto", 100)
    ///     .compile_protos(&["proto/shop/orders.proto"], &["proto"])?;
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn operation_base(mut self, file: impl Into<String>, first: u16) -> Self {
        self.locks.bases.0.push((file.into(), first));
        self
    }

    /// Whether to compare the schema with its [lock](crate#the-schema-lock). Default: `true`.
    pub fn schema_lock(mut self, enable: bool) -> Self {
        self.locks.is_off = !enable;
        self
    }

    /// Keeps the locks of all packages in one folder, which has to exist, instead of next to the schema.
    ///
    /// A build then has to name all files of a package that has a lock. A schema without files, like that of
    /// [`compile_fds`](Self::compile_fds), has locks only with this option.
    pub fn lock_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.locks.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets which changes of the schema the build records in its locks, regardless of `FRPC_UPDATE_LOCK`.
    ///
    /// This is for tools that maintain locks. In a build script, [`LockUpdate::Safe`] and [`LockUpdate::Breaking`]
    /// would accept every such change without anybody noticing.
    pub fn lock_update(mut self, update: LockUpdate) -> Self {
        self.locks.update = Some(update);
        self
    }
}

/// Options for where the output goes.
impl Builder {
    /// Writes the generated code to this folder, which has to exist, instead of cargo's `OUT_DIR`.
    pub fn out_dir(mut self, out_dir: impl AsRef<Path>) -> Self {
        self.out_dir = Some(out_dir.as_ref().to_owned());
        self
    }

    /// Also writes a file of this name that includes the code of all packages, each in modules with the names of the
    /// package. Needed if one package uses types of another.
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

    /// Generates code of another language, instead of Rust: with a back end of the crate `frpc-languages`, or with one
    /// [of yours](crate::backend). Most options are about Rust and change nothing in other languages.
    pub fn backend(mut self, backend: impl Backend + 'static) -> Self {
        self.backend = Some(Box::new(backend));
        self
    }

    /// Also writes the parsed schema to this path, as an encoded `FileDescriptorSet`.
    pub fn file_descriptor_set_path(mut self, path: impl AsRef<Path>) -> Self {
        self.file_descriptor_set_path = Some(path.as_ref().to_owned());
        self
    }

    /// Whether cargo runs the build script again when a file of the schema or a lock changes. Default: `true`.
    pub fn emit_rerun_if_changed(mut self, enable: bool) -> Self {
        self.emit_rerun_if_changed = enable;
        self
    }
}
