//! The parsed schema and how to find things in it: types by full name, places by descriptor path.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};

use crate::error::Place;

/// Field numbers of descriptor.proto, of which the paths in `SourceCodeInfo` consist.
pub(crate) mod tag {
    pub(crate) const FILE_PACKAGE: i32 = 2;
    pub(crate) const FILE_DEPENDENCY: i32 = 3;
    pub(crate) const FILE_MESSAGE: i32 = 4;
    pub(crate) const FILE_ENUM: i32 = 5;
    pub(crate) const FILE_SERVICE: i32 = 6;
    pub(crate) const FILE_EXTENSION: i32 = 7;
    pub(crate) const FILE_SYNTAX: i32 = 12;
    pub(crate) const MESSAGE_FIELD: i32 = 2;
    pub(crate) const MESSAGE_MESSAGE: i32 = 3;
    pub(crate) const MESSAGE_ENUM: i32 = 4;
    pub(crate) const MESSAGE_EXTENSION_RANGE: i32 = 5;
    pub(crate) const MESSAGE_EXTENSION: i32 = 6;
    pub(crate) const MESSAGE_ONEOF: i32 = 8;
    pub(crate) const ENUM_VALUE: i32 = 2;
    pub(crate) const SERVICE_METHOD: i32 = 2;
}

/// All files of one compilation, imports before those that import them.
pub(crate) struct Schema {
    pub(crate) files: Vec<FileDescriptorProto>,
    /// Where the files were read. Files that come with protox are not in it.
    paths: HashMap<String, PathBuf>,
    /// The names of files that are there only because others import them.
    imports: HashSet<String>,
    /// Whether nothing is generated for imports.
    skips_imports: bool,
    /// The files once more as an encoded `FileDescriptorSet`, custom options included.
    pub(crate) encoded: Vec<u8>,
}

impl Schema {
    pub(crate) fn new(files: Vec<FileDescriptorProto>, paths: HashMap<String, PathBuf>, encoded: Vec<u8>) -> Self {
        Self { files, paths, imports: HashSet::new(), skips_imports: false, encoded }
    }

    pub(crate) fn with_imports(self, imports: HashSet<String>) -> Self {
        Self { imports, ..self }
    }

    /// Generates nothing for any file but `chosen`.
    pub(crate) fn only(self, chosen: &HashSet<&str>) -> Self {
        let others = self.files.iter().map(FileDescriptorProto::name).filter(|name| !chosen.contains(name));
        Self { imports: others.map(str::to_owned).collect(), skips_imports: true, ..self }
    }

    /// Whether code is generated for a file.
    pub(crate) fn is_generated(&self, file: &FileDescriptorProto) -> bool {
        !(self.skips_imports && self.is_import(file))
    }

    /// Whether a file is there only because another imports it.
    pub(crate) fn is_import(&self, file: &FileDescriptorProto) -> bool {
        self.imports.contains(file.name())
    }

    /// Where a file was read.
    pub(crate) fn path(&self, file: &FileDescriptorProto) -> Option<&Path> {
        self.paths.get(file.name()).map(PathBuf::as_path)
    }

    /// The files on disk that were read.
    pub(crate) fn read_files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|file| self.paths.get(file.name())).map(PathBuf::as_path)
    }

    /// Where the thing with the given descriptor path stands. A path that has no position of its own gets that of the
    /// nearest thing around it.
    pub(crate) fn place(&self, file: &FileDescriptorProto, path: &[i32]) -> Place {
        let name = file.name();
        let shown =
            self.paths.get(name).map_or_else(|| name.escape_debug().to_string(), |path| path.display().to_string());
        let locations = file.source_code_info.as_ref().map_or(&[][..], |info| &info.location);
        let mut path = path;
        let span = loop {
            match locations.iter().find(|location| location.path == path) {
                Some(location) if location.span.len() >= 2 => break Some((location.span[0], location.span[1])),
                _ => match path {
                    [] => break None,
                    [outer @ .., _] => path = outer,
                },
            }
        };
        let one_based = |number: i32| u32::try_from(number).map_or(0, |number| number.saturating_add(1));
        let (line, column) = span.map_or((0, 0), |(line, column)| (one_based(line), one_based(column)));
        Place { file: shown, line, column }
    }
}

/// Every message and enum by its full name, with the leading dot: `.package.Outer.Inner`.
pub(crate) struct Index<'a> {
    pub(crate) messages: BTreeMap<String, Found<'a, DescriptorProto>>,
    pub(crate) enums: BTreeMap<String, Found<'a, EnumDescriptorProto>>,
}

/// A descriptor with the file and the path at which it stands.
pub(crate) struct Found<'a, T> {
    pub(crate) file: &'a FileDescriptorProto,
    pub(crate) path: Vec<i32>,
    pub(crate) proto: &'a T,
}

impl<'a> Index<'a> {
    pub(crate) fn new(files: &'a [FileDescriptorProto]) -> Self {
        let mut index = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        for file in files {
            let scope = if file.package().is_empty() { String::new() } else { format!(".{}", file.package()) };
            for (at, proto) in file.message_type.iter().enumerate() {
                index.add_message(file, vec![tag::FILE_MESSAGE, position(at)], &scope, proto);
            }
            for (at, proto) in file.enum_type.iter().enumerate() {
                index.add_enum(file, vec![tag::FILE_ENUM, position(at)], &scope, proto);
            }
        }
        index
    }

    fn add_message(&mut self, file: &'a FileDescriptorProto, path: Vec<i32>, scope: &str, proto: &'a DescriptorProto) {
        let name = format!("{scope}.{}", proto.name());
        for (at, nested) in proto.nested_type.iter().enumerate() {
            self.add_message(file, within(&path, tag::MESSAGE_MESSAGE, at), &name, nested);
        }
        for (at, nested) in proto.enum_type.iter().enumerate() {
            self.add_enum(file, within(&path, tag::MESSAGE_ENUM, at), &name, nested);
        }
        self.messages.insert(name, Found { file, path, proto });
    }

    fn add_enum(&mut self, file: &'a FileDescriptorProto, path: Vec<i32>, scope: &str, proto: &'a EnumDescriptorProto) {
        self.enums.insert(format!("{scope}.{}", proto.name()), Found { file, path, proto });
    }
}

/// The descriptor path of the `at`-th thing of kind `tag` inside of what stands at `path`.
pub(crate) fn within(path: &[i32], tag: i32, at: usize) -> Vec<i32> {
    let mut path = path.to_vec();
    path.extend([tag, position(at)]);
    path
}

/// A place in a list as descriptor paths count it. A descriptor of 2^31 entries does not fit into memory.
pub(crate) fn position(at: usize) -> i32 {
    i32::try_from(at).expect("descriptors have fewer than 2^31 entries")
}

/// Whether this message is the hidden entry type of a map field.
pub(crate) fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry)
}
