//! The options of a build, with the names that tonic and prost-build have for them.

mod paths;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorSet;

pub use paths::Paths;

use crate::cargo::{print_rerun_if_changed, print_warning};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::files::write_if_changed;
use crate::generate::generate;
use crate::generate::modules::check_modules;
use crate::generate::rpc::ServiceOptions;
use crate::lock::{self, Layout, LockOptions, LockUpdate, Numbering};
use crate::output::{Folder, Output, files, include_file};
use crate::schema::check::check;
use crate::schema::externs::Externs;
use crate::schema::parse;
use crate::schema::patterns::{Given, Target, remarks};
use crate::schema::{Index, Schema};

/// Options for the code that is generated; made by [`configure`](crate::configure).
///
/// Paths name things in the schema as prost-build's do: `.package.Message` and everything in it, `Message` or
/// `Message.field` wherever it stands, `.` for everything. A build script whose option names nothing, or nothing of the
/// kind that the option is for, gets a warning from cargo.
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
#[must_use = "nothing is generated before `compile_protos` or `compile_fds`"]
pub struct Builder {
    prost: prost_build::Config,
    services: ServiceOptions,
    externs: Externs,
    locks: LockOptions,
    out_dir: Option<PathBuf>,
    include_file: Option<PathBuf>,
    file_descriptor_set_path: Option<PathBuf>,
    emit_rerun_if_changed: bool,
    /// The paths that options were given.
    given: Vec<Given>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            prost: prost_build::Config::new(),
            services: ServiceOptions {
                client: true,
                server: true,
                grpc: false,
                undecoded_requests: Vec::new(),
                client_attributes: Vec::new(),
                server_attributes: Vec::new(),
                trait_attributes: Vec::new(),
                comments_off: Vec::new(),
            },
            externs: Externs::default(),
            locks: LockOptions::default(),
            out_dir: None,
            include_file: None,
            file_descriptor_set_path: None,
            emit_rerun_if_changed: true,
            given: Vec::new(),
        }
    }

    /// Whether to generate clients. They are by default.
    pub fn build_client(mut self, enable: bool) -> Self {
        self.services.client = enable;
        self
    }

    /// Whether to generate servers and the traits they serve. They are by default.
    pub fn build_server(mut self, enable: bool) -> Self {
        self.services.server = enable;
        self
    }

    /// Whether to write tonic's clients and servers too, for the same message types: modules `echo_client` and
    /// `echo_server` for a service `Echo`, as tonic names them. Whoever implements our trait implements tonic's by
    /// that, so that one implementation is served by both. Not by default.
    ///
    /// Needs the feature `tonic` of frpc-build and of frpc; tonic itself is found at `frpc::tonic`.
    pub fn grpc(mut self, enable: bool) -> Self {
        self.services.grpc = enable;
        self
    }

    /// Writes into this folder instead of cargo's `OUT_DIR`. It must exist.
    pub fn out_dir(mut self, out_dir: impl AsRef<Path>) -> Self {
        self.out_dir = Some(out_dir.as_ref().to_owned());
        self
    }

    /// Also writes a file of this name that includes the code of all packages, each in modules named like the package.
    /// Needed when packages use each other's types.
    pub fn include_file(mut self, path: impl AsRef<Path>) -> Self {
        self.include_file = Some(path.as_ref().to_owned());
        self
    }

    /// Also writes the parsed schema, as an encoded `FileDescriptorSet`, to this path.
    pub fn file_descriptor_set_path(mut self, path: impl AsRef<Path>) -> Self {
        self.file_descriptor_set_path = Some(path.as_ref().to_owned());
        self
    }

    /// Whether to ask cargo to run the build script again when a file of the schema has changed. Asked by default.
    pub fn emit_rerun_if_changed(mut self, enable: bool) -> Self {
        self.emit_rerun_if_changed = enable;
        self
    }

    /// Uses `rust_path` for the type or package `proto_path` (with a leading dot) instead of generating it. Whoever
    /// owns the type brings its codec: `polyglot::Fields`, or `polyglot::Enumeration` for an enum.
    pub fn extern_path(mut self, proto_path: impl AsRef<str>, rust_path: impl AsRef<str>) -> Self {
        self.externs.user.push(proto_path.as_ref().to_owned());
        self.prost.extern_path(proto_path.as_ref(), rust_path.as_ref());
        self
    }

    /// Whether to generate protobuf's well-known types from their schema, like all others, instead of using those of
    /// `prost-types`. They are not by default.
    pub fn compile_well_known_types(mut self, enable: bool) -> Self {
        self.externs.compile_well_known_types = enable;
        self
    }

    /// Sets how messages stand in bodies. Default: [`Codec::Polyglot`].
    pub fn codec(mut self, codec: Codec) -> Self {
        self.externs.codec = codec;
        self
    }

    /// Whether to write a view of each message too: `FooView<'a>` for `Foo`, which borrows everything from the body
    /// that it is decoded from. Not by default. With [`extern_path`](Self::extern_path), whoever owns the type brings
    /// its view: `polyglot::Viewed`.
    pub fn views(mut self, enable: bool) -> Self {
        self.externs.views = enable;
        self
    }

    /// Hands the requests of these methods to their handlers undecoded, as `frpc::Undecoded<Foo>` instead of `Foo`, for
    /// handlers that only look, by way of a [view](Self::views), or that pass requests on. Takes one path or a list:
    /// `.package.Service.Method`, or the end of such a path. Clients do not change.
    ///
    /// With the Polyglot codec only, and not together with [`grpc`](Self::grpc). Requests that are a wrapper like
    /// `google.protobuf.StringValue` cannot be meant: they are plain values in Rust.
    pub fn undecoded_requests(mut self, paths: impl Paths) -> Self {
        let paths = self.noted("undecoded_requests", Target::Method, paths);
        self.services.undecoded_requests.extend(paths);
        self
    }

    /// Adds an attribute to messages, enums and the enums of oneofs.
    pub fn type_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("type_attribute", Target::Type, path.as_ref());
        self.prost.type_attribute(path.as_ref(), attribute.as_ref());
        self
    }

    /// Adds an attribute to messages.
    pub fn message_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("message_attribute", Target::Message, path.as_ref());
        self.prost.message_attribute(path.as_ref(), attribute.as_ref());
        self
    }

    /// Adds an attribute to enums and the enums of oneofs.
    pub fn enum_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("enum_attribute", Target::Enum, path.as_ref());
        self.prost.enum_attribute(path.as_ref(), attribute.as_ref());
        self
    }

    /// Adds an attribute to fields, members of oneofs and enum values.
    pub fn field_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("field_attribute", Target::Field, path.as_ref());
        self.prost.field_attribute(path.as_ref(), attribute.as_ref());
        self
    }

    /// Adds an attribute to the client of a service.
    pub fn client_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("client_attribute", Target::Service, path.as_ref());
        self.services.client_attributes.push((path.as_ref().to_owned(), attribute.as_ref().to_owned()));
        self
    }

    /// Adds an attribute to the server of a service.
    pub fn server_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("server_attribute", Target::Service, path.as_ref());
        self.services.server_attributes.push((path.as_ref().to_owned(), attribute.as_ref().to_owned()));
        self
    }

    /// Adds an attribute to the trait of a service.
    pub fn trait_attribute(mut self, path: impl AsRef<str>, attribute: impl AsRef<str>) -> Self {
        self.noted("trait_attribute", Target::Service, path.as_ref());
        self.services.trait_attributes.push((path.as_ref().to_owned(), attribute.as_ref().to_owned()));
        self
    }

    /// Boxes message fields. Messages that contain themselves are boxed without being asked.
    ///
    /// A member of a oneof can be boxed unless all of its members are plain numbers, or messages of those, for which
    /// prost-build derives `Copy`.
    pub fn boxed(mut self, paths: impl Paths) -> Self {
        for path in self.noted("boxed", Target::SingleField, paths) {
            self.prost.boxed(path);
        }
        self
    }

    /// Makes bytes fields `Bytes`, which are decoded without copying, instead of `Vec<u8>`. Takes one path or a list.
    pub fn bytes(mut self, paths: impl Paths) -> Self {
        let paths = self.noted("bytes", Target::BytesField, paths);
        self.prost.bytes(paths);
        self
    }

    /// Makes map fields `BTreeMap` instead of `HashMap`. Takes one path or a list.
    pub fn btree_map(mut self, paths: impl Paths) -> Self {
        let paths = self.noted("btree_map", Target::MapField, paths);
        self.prost.btree_map(paths);
        self
    }

    /// Leaves out the comments of the schema. Takes one path or a list.
    pub fn disable_comments(mut self, paths: impl Paths) -> Self {
        let paths = self.noted("disable_comments", Target::Any, paths);
        self.services.comments_off.extend(paths.iter().cloned());
        self.prost.disable_comments(paths);
        self
    }

    /// Leaves out the implementation of `Debug`, for one of your own. Takes one path or a list.
    pub fn skip_debug(mut self, paths: impl Paths) -> Self {
        let paths = self.noted("skip_debug", Target::Type, paths);
        self.prost.skip_debug(paths);
        self
    }

    /// Implements prost's `Name` for messages.
    pub fn enable_type_names(mut self) -> Self {
        self.prost.enable_type_names();
        self
    }

    /// Keeps the name of the enum in front of its values' names, as in the schema. By default it is cut off.
    pub fn retain_enum_prefix(mut self) -> Self {
        self.prost.retain_enum_prefix();
        self
    }

    /// How methods get their operations. As in Go by default.
    pub fn numbering(mut self, numbering: Numbering) -> Self {
        self.locks.numbering = numbering;
        self
    }

    /// The operation of the first method of a file, 10 by default, so that the services of several files can share a
    /// server. A file is named as imports name it, or by the end of that: `orders.proto` for `shop/orders.proto`.
    pub fn operation_base(mut self, file: impl Into<String>, first: u16) -> Self {
        self.locks.bases.0.push((file.into(), first));
        self
    }

    /// Whether to compare the schema with its [lock](crate#the-schema-lock). It is by default.
    pub fn schema_lock(mut self, enable: bool) -> Self {
        self.locks.is_on = enable;
        self
    }

    /// Keeps the locks of all packages in this folder, which must exist, instead of beside the schema. All files of a
    /// package must then be built together. A schema that comes from no file can only have a lock here.
    pub fn lock_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.locks.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// What to record in the locks, whatever `FRPC_UPDATE_LOCK` says. For programs that keep locks; in a build script
    /// nothing would ever be refused.
    pub fn lock_update(mut self, update: LockUpdate) -> Self {
        self.locks.update = Some(update);
        self
    }

    /// Generates code for `protos` and everything they import. Imports, and paths that are not found as they are, are
    /// looked up in `includes` in order.
    ///
    /// # Errors
    ///
    /// If the schema cannot be read, is not valid, or contains something that is [refused](crate#what-is-refused);
    /// if an option cannot be used, or the output cannot be written.
    pub fn compile_protos(self, protos: &[impl AsRef<Path>], includes: &[impl AsRef<Path>]) -> Result<(), Error> {
        self.compile(&parse_files(protos, includes)?)
    }

    /// The wire layouts of the services of `protos`, by which peers find out whether they understand each other.
    /// Nothing is generated.
    ///
    /// # Errors
    ///
    /// As [`compile_protos`](Self::compile_protos).
    pub fn layouts(mut self, protos: &[impl AsRef<Path>], includes: &[impl AsRef<Path>]) -> Result<Vec<Layout>, Error> {
        let schema = parse_files(protos, includes)?;
        self.prepare(&schema)?;
        let index = Index::new(&schema.files);
        check(&schema, &index, &self.externs)?;
        Ok(lock::plan(&schema, &index, &self.locks, &mut |_| {})?.layouts)
    }

    /// Generates code for a schema that has been parsed already. Comments and the places in errors need its source
    /// information.
    ///
    /// # Errors
    ///
    /// As [`compile_protos`](Self::compile_protos).
    pub fn compile_fds(self, fds: FileDescriptorSet) -> Result<(), Error> {
        let schema = parse::adopt(fds)?;
        self.compile(&schema)
    }

    /// Generates code for the files called `chosen` in a schema that has been parsed already, and writes nothing: for
    /// programs that bring the output where it belongs, as protoc's plugins do. The files are the same that a build
    /// script would have written.
    ///
    /// The schema is compared with locks only if there is a [`lock_dir`](Self::lock_dir). What is to be recorded
    /// ([`lock_update`](Self::lock_update)) becomes a file of the output.
    ///
    /// # Errors
    ///
    /// As [`compile_protos`](Self::compile_protos), and if the schema has no file of a name in `chosen`.
    pub fn generate(mut self, fds: FileDescriptorSet, chosen: &[impl AsRef<str>]) -> Result<Output, Error> {
        let schema = parse::adopt(fds)?;
        let chosen: HashSet<&str> = chosen.iter().map(AsRef::as_ref).collect();
        if let Some(missing) = chosen.iter().find(|name| !schema.files.iter().any(|file| file.name() == **name)) {
            return Err(Error::new(ErrorKind::Schema, format!("the schema has no file {missing:?}")));
        }
        let schema = schema.only(&chosen);
        self.prepare(&schema)?;
        let mut warnings = Vec::new();
        let mut warn = |text: String| warnings.push(text);
        let (modules, plan) = generate(&schema, self.prost, &self.externs, &self.services, &self.locks, &mut warn)?;
        plan.remark(self.locks.numbering, false).into_iter().for_each(&mut warn);
        let mut output = files(&modules);
        if let Some(name) = &self.include_file {
            check_modules(&schema, &modules)?;
            output.push(include_file(name.display().to_string(), &modules, false));
        }
        Ok(Output { files: output, locks: plan.updates, warnings })
    }

    /// Keeps in mind what an option was given, to say so if it names nothing.
    fn noted(&mut self, option: &'static str, target: Target, paths: impl Paths) -> Vec<String> {
        let paths = paths.paths();
        self.given.extend(paths.iter().map(|path| Given { option, path: path.clone(), target }));
        paths
    }

    /// Refuses options that do not go together, and does what follows from the others.
    fn prepare(&mut self, schema: &Schema) -> Result<(), Error> {
        let refused = |text: &str| Err(Error::new(ErrorKind::Option, text));
        let is_protobuf = self.externs.codec == Codec::Protobuf;
        if self.services.grpc && !cfg!(feature = "tonic") {
            return refused("`grpc(true)` needs the feature `tonic` of frpc-build (and of frpc)");
        }
        if is_protobuf && self.externs.views {
            return refused("`views(true)` needs the Polyglot codec: protobuf has no views");
        }
        if !self.services.undecoded_requests.is_empty() && (is_protobuf || self.services.grpc) {
            return refused(
                "`undecoded_requests` needs the Polyglot codec, and cannot be used together with `grpc(true)`",
            );
        }
        self.locks.codec = self.externs.codec;
        self.externs.apply(&mut self.prost, schema);
        Ok(())
    }

    fn compile(mut self, schema: &Schema) -> Result<(), Error> {
        if self.emit_rerun_if_changed {
            print_rerun_if_changed(schema);
        }
        self.locks.is_cargo = true;
        self.locks.asks_cargo = self.emit_rerun_if_changed;
        self.prepare(schema)?;
        let folder = Folder::new(self.out_dir)?;
        let mut warn = |text: String| print_warning(&text);
        remarks(&self.given, schema).into_iter().for_each(&mut warn);
        let (modules, plan) = generate(schema, self.prost, &self.externs, &self.services, &self.locks, &mut warn)?;
        plan.remark(self.locks.numbering, folder.is_cargos()).into_iter().for_each(&mut warn);
        let mut output = files(&modules);
        if let Some(name) = &self.include_file {
            check_modules(schema, &modules)?;
            output.push(include_file(name.display().to_string(), &modules, folder.is_cargos()));
        }
        folder.write(&output, &mut warn)?;
        for lock in &plan.updates {
            lock.write()?;
            warn(format!("wrote {}, to be committed with the schema", lock.path.display()));
        }
        if let Some(path) = &self.file_descriptor_set_path {
            write_if_changed(path, &schema.encoded)?;
        }
        Ok(())
    }
}

fn parse_files(protos: &[impl AsRef<Path>], includes: &[impl AsRef<Path>]) -> Result<Schema, Error> {
    let protos: Vec<PathBuf> = protos.iter().map(|path| path.as_ref().to_owned()).collect();
    let mut includes: Vec<PathBuf> = includes.iter().map(|path| path.as_ref().to_owned()).collect();
    if includes.is_empty() {
        includes.push(PathBuf::from("."));
    }
    parse::parse(&protos, &includes)
}
