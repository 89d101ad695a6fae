//! Runs builds: generates files from options and a schema.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorSet;

use super::Builder;
use crate::backend::Checked;
use crate::cargo::{print_rerun_if_changed, print_warning};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::files::write_if_changed;
use crate::generate;
use crate::output::{Folder, LoadedProtos, Output, OutputFile};
use crate::schema::Schema;
use crate::schema::parse;
use crate::schema::patterns::remarks;

/// Methods that run the build with the configured options.
impl Builder {
    /// Generates code for the files `protos` and their imports, and writes it to the output folder.
    ///
    /// Imports are searched in the folders `includes` in order. A path in `protos` that does not exist is searched in
    /// the same way. Without includes, the current folder is searched.
    ///
    /// # Errors
    ///
    /// If the schema cannot be read, is invalid or uses an [unsupported feature](crate#limits); if options contradict
    /// each other or the schema; if the output cannot be written.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// // build.rs
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     frpc_build::configure().compile_protos(&["proto/orders.proto", "proto/stock.proto"], &["proto"])?;
    ///     Ok(())
    /// }
    /// ```
    pub fn compile_protos(self, protos: &[impl AsRef<Path>], includes: &[impl AsRef<Path>]) -> Result<(), Error> {
        self.compile(parse_files(protos, includes)?)
    }

    /// Generates code for a parsed schema and writes it to the output folder. Comments and error positions are
    /// available only if the descriptors contain source information. The types of prost-types drop custom options.
    /// Methods are therefore offered as tools for agents only if [`keep_options`](crate::keep_options) has restored
    /// these options.
    ///
    /// # Errors
    ///
    /// Like [`compile_protos`](Self::compile_protos).
    pub fn compile_fds(self, fds: FileDescriptorSet) -> Result<(), Error> {
        self.compile(parse::adopt(fds)?)
    }

    /// Generates code for the files `chosen` of a parsed schema and returns it without writing it, for programs such as
    /// protoc plugins that write the files themselves. The code is identical to that generated in a build script.
    ///
    /// # Errors
    ///
    /// Like [`compile_protos`](Self::compile_protos), and if the schema does not contain one of the `chosen` files.
    ///
    /// # Examples
    ///
    /// ```
    /// let file = prost_types::FileDescriptorProto {
    ///     name: Some("point.proto".to_owned()),
    ///     package: Some("geometry".to_owned()),
    ///     syntax: Some("proto3".to_owned()),
    ///     message_type: vec![prost_types::DescriptorProto { name: Some("Point".to_owned()), ..Default::default() }],
    ///     ..Default::default()
    /// };
    /// let schema = prost_types::FileDescriptorSet { file: vec![file] };
    /// let output = frpc_build::configure().generate(schema, &["point.proto"])?;
    /// assert_eq!(output.files[0].name, "geometry.rs");
    /// assert!(output.files[0].text.contains("pub struct Point"));
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn generate(mut self, fds: FileDescriptorSet, chosen: &[impl AsRef<str>]) -> Result<Output, Error> {
        let schema = parse::adopt(fds)?;
        let chosen: HashSet<&str> = chosen.iter().map(AsRef::as_ref).collect();
        if let Some(missing) = chosen.iter().find(|name| !schema.files.iter().any(|file| file.name() == **name)) {
            return Err(Error::new(ErrorKind::Schema, format!("the schema has no file {missing:?}")));
        }
        let mut warnings = Vec::new();
        let mut schema = schema.only(&chosen);
        schema.remove_comments(&self.comments_off);
        self.prepare(&schema)?;
        let checked = self.checked(&schema)?;
        let files = self.emit(&checked, false, &mut |text| warnings.push(text))?;
        Ok(Output { files, warnings })
    }

    /// Reads the files `protos` and their imports without generating code, and computes the wire layouts of their
    /// services. Peers compare these layouts to determine whether they are compatible.
    ///
    /// # Errors
    ///
    /// Like [`compile_protos`](Self::compile_protos).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// let loaded = frpc_build::configure().load_protos(&["proto/echo.proto"], &["proto"])?;
    /// for layout in &loaded.layouts {
    ///     for (method, operation, _) in layout.methods() {
    ///         println!("{operation} {}/{method}", layout.service());
    ///     }
    /// }
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn load_protos(
        self,
        protos: &[impl AsRef<Path>],
        includes: &[impl AsRef<Path>],
    ) -> Result<LoadedProtos, Error> {
        self.load(&parse_files(protos, includes)?)
    }

    /// Parses files that are given by name and text, and otherwise works like [`load_protos`](Self::load_protos). They
    /// may import each other, and the files that every schema can import.
    ///
    /// # Errors
    ///
    /// Like [`compile_protos`](Self::compile_protos).
    ///
    /// # Examples
    ///
    /// ```
    /// let text = r#"syntax = "proto3"; package shop; import "frpc/tensor.proto";
    ///     service Shop { rpc Show(frpc.Image) returns (frpc.Tensor); }"#;
    /// let loaded = frpc_build::configure().load_sources(vec![("shop.proto".to_owned(), text.to_owned())])?;
    /// assert_eq!(loaded.layouts[0].service(), "shop.Shop");
    /// # Ok::<(), frpc_build::Error>(())
    /// ```
    pub fn load_sources(self, sources: Vec<(String, String)>) -> Result<LoadedProtos, Error> {
        self.load(&parse::parse_sources(sources)?)
    }

    /// Reads an already parsed schema, and otherwise works like [`load_protos`](Self::load_protos).
    ///
    /// # Errors
    ///
    /// Like [`compile_protos`](Self::compile_protos).
    pub fn load_fds(self, fds: FileDescriptorSet) -> Result<LoadedProtos, Error> {
        self.load(&parse::adopt(fds)?)
    }

    fn load(mut self, schema: &Schema) -> Result<LoadedProtos, Error> {
        self.prepare(schema)?;
        let layouts = self.checked(schema)?.plan.layouts;
        Ok(LoadedProtos { descriptors: schema.encoded.clone(), layouts })
    }

    fn compile(mut self, mut schema: Schema) -> Result<(), Error> {
        if !self.without_rerun_if_changed {
            print_rerun_if_changed(&schema);
        }
        let folder = Folder::new(self.out_dir.take())?;
        let file_descriptor_set_path = self.file_descriptor_set_path.take();
        let mut warn = |text: String| print_warning(&text);
        remarks(&self.option_paths, &schema).into_iter().for_each(&mut warn);
        schema.remove_comments(&self.comments_off);
        self.prepare(&schema)?;
        let checked = self.checked(&schema)?;
        let files = self.emit(&checked, folder.is_cargos, &mut warn)?;
        folder.write(&files, &mut warn)?;
        file_descriptor_set_path.map_or(Ok(()), |path| write_if_changed(&path, &schema.encoded))
    }

    fn checked<'a>(&self, schema: &'a Schema) -> Result<Checked<'a>, Error> {
        Checked::new(schema, &self.externs, &self.operations)
    }

    /// Generates Rust code, or code of the configured back end. `is_in_out_dir` must be set if the output is written to
    /// cargo's `OUT_DIR`.
    fn emit(
        &mut self,
        checked: &Checked<'_>,
        is_in_out_dir: bool,
        warn: &mut dyn FnMut(String),
    ) -> Result<Vec<OutputFile>, Error> {
        if let Some(backend) = &self.backend {
            return backend.emit(checked);
        }
        let (prost, include_file) = (std::mem::take(&mut self.prost), self.include_file.as_deref());
        generate::files(checked, prost, &self.externs, &self.services, include_file, is_in_out_dir, warn)
    }

    /// Rejects contradictory options and passes shared options to the individual generators.
    fn prepare(&mut self, schema: &Schema) -> Result<(), Error> {
        let refused = |text: &str| Err(Error::new(ErrorKind::Option, text));
        let is_protobuf = self.externs.codec == Codec::Protobuf;
        if is_protobuf && self.externs.views {
            return refused("`views(true)` needs the Polyglot codec: protobuf has no views");
        }
        if !self.services.undecoded_requests.is_empty() && is_protobuf {
            return refused("`undecoded_requests` needs the Polyglot codec");
        }
        self.externs.apply(&mut self.prost, schema);
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
