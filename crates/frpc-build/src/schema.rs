//! The parsed schema, with its types indexed by full name and its positions by descriptor path.

pub(crate) mod check;
pub(crate) mod comments;
pub(crate) mod externs;
pub(crate) mod options;
pub(crate) mod parse;
pub(crate) mod patterns;
pub(crate) mod walk;
pub(crate) mod wire_order;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use prost_types::source_code_info::Location;
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use crate::error::{Error, ErrorKind, SourcePosition};
use crate::schema::comments::clean;
use crate::schema::externs::AGENT_FILE;
use crate::schema::patterns::{field_path, path_matches};
use crate::schema::walk::{Item, walk};

/// Field numbers of the messages in `descriptor.proto`. A descriptor path consists of such numbers and of indexes. For
/// example, `[4, 0, 2, 1]` is the field (2) with index 1 of the message (4) with index 0. `SourceCodeInfo` identifies
/// the items of a file by these paths.
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
    pub(crate) const METHOD_INPUT: i32 = 2;
    pub(crate) const METHOD_OUTPUT: i32 = 3;
}

/// Lowest operation number of a method. Numbers 0 to 9 are reserved for the protocol.
pub(crate) const OPERATION_FIRST: u16 = 10;

/// Operation numbers reserved for built-in services, such as reflection and health. See docs/wire.md.
pub(crate) const OPERATIONS_KEPT: RangeInclusive<u16> = 65_000..=65_099;

/// Packages of built-in services. `frpc` includes its subpackages.
const PACKAGES_KEPT: [&str; 4] = ["frpc", "grpc.health.v1", "grpc.reflection.v1", "grpc.reflection.v1alpha"];

/// Returns whether services of a package may use the reserved operation numbers.
pub(crate) fn has_kept_operations(package: &str) -> bool {
    PACKAGES_KEPT.contains(&package) || package.starts_with("frpc.")
}

/// The parsed `.proto` files of a build, including their imports.
#[derive(Debug)]
pub struct Schema {
    /// Parsed files in dependency order: imports precede their importers.
    pub files: Vec<FileDescriptorProto>,
    /// Paths on disk of the files, by import name. Files that are built into protox have no path.
    paths: HashMap<String, PathBuf>,
    /// Names of files that were loaded only as imports.
    imports: HashSet<String>,
    /// Whether to generate no code for files that were loaded only as imports.
    skips_imports: bool,
    /// Names of imports that the build ignores; see [`Schema::without_unused`].
    unused: HashSet<String>,
    /// Descriptions of renamed fields, which are printed as warnings.
    pub(crate) renamed: Vec<String>,
    /// Encoded `FileDescriptorSet` of all files, including custom options.
    pub(crate) encoded: Vec<u8>,
}

impl Schema {
    pub(crate) fn new(mut files: Vec<FileDescriptorProto>, paths: HashMap<String, PathBuf>, encoded: Vec<u8>) -> Self {
        // Sort for `location`. The sort is stable, so the first of several locations with one path stays the first.
        let infos = files.iter_mut().filter_map(|file| file.source_code_info.as_mut());
        infos.for_each(|info| info.location.sort_by(|one, other| one.path.cmp(&other.path)));
        let (imports, unused) = (HashSet::new(), HashSet::new());
        Self { files, paths, imports, skips_imports: false, unused, renamed: Vec::new(), encoded }
    }

    pub(crate) fn with_imports(self, imports: HashSet<String>) -> Self {
        Self { imports, ..self }.without_unused()
    }

    /// Restricts code generation to the files named in `chosen`.
    pub(crate) fn only(self, chosen: &HashSet<&str>) -> Self {
        let others = self.files.iter().map(FileDescriptorProto::name).filter(|name| !chosen.contains(name));
        Self { imports: others.map(str::to_owned).collect(), skips_imports: true, ..self }.without_unused()
    }

    /// Determines the imports that the build ignores, because it neither generates code for them nor uses their types.
    /// An example is a proto2 file that only declares custom options.
    fn without_unused(self) -> Self {
        let index = Index::new(&self.files);
        let is_wanted = |file: &&FileDescriptorProto| {
            if file.name() == AGENT_FILE && self.is_import(file) {
                return false; // The file only declares options.
            }
            let by_itself = !self.skips_imports && (file.syntax() == "proto3" || !file.service.is_empty());
            by_itself || !self.is_import(file)
        };
        let mut used = HashSet::new();
        let mut open: Vec<_> = self.files.iter().filter(is_wanted).collect();
        while let Some(file) = open.pop() {
            if used.insert(file.name()) {
                open.extend(type_names(file).into_iter().filter_map(|name| Some(index.declared(name)?.0)));
            }
        }
        let unused = self.files.iter().map(FileDescriptorProto::name).filter(|name| !used.contains(name));
        let unused = unused.map(str::to_owned).collect();
        Self { unused, ..self }
    }

    /// Returns whether the build generates code for a file.
    pub fn is_generated(&self, file: &FileDescriptorProto) -> bool {
        self.is_used(file) && !(self.skips_imports && self.is_import(file))
    }

    /// Returns whether the build generates code for a file or uses one of its types.
    pub fn is_used(&self, file: &FileDescriptorProto) -> bool {
        !self.unused.contains(file.name())
    }

    /// Removes the comments on all items that a path in `patterns` selects.
    pub(crate) fn remove_comments(&mut self, patterns: &[String]) {
        for file in &mut self.files {
            let mut selected = HashSet::new();
            walk(file, &mut |item, name, path| {
                // The paths of options select a member of a oneof with the oneof or without it.
                let in_oneof = match item {
                    Item::Field(message, field) => field_path(name, message, field),
                    _ => name.to_owned(),
                };
                if patterns.iter().any(|pattern| path_matches(pattern, name) || path_matches(pattern, &in_oneof)) {
                    selected.insert(path.to_vec());
                }
            });
            let locations = file.source_code_info.iter_mut().flat_map(|info| &mut info.location);
            for location in locations.filter(|location| selected.contains(&location.path)) {
                (location.leading_comments, location.trailing_comments) = (None, None);
            }
        }
    }

    /// Returns the lines of the comment on the item at a descriptor path.
    pub fn comment(&self, file: &FileDescriptorProto, path: &[i32]) -> Vec<String> {
        let location = location(file, path).filter(|_| self.is_used(file));
        location
            .into_iter()
            .flat_map(comments)
            .map(clean)
            .collect::<String>()
            .lines()
            .map(|line| line.trim().to_owned())
            .collect()
    }

    /// Returns whether a file was loaded only as an import.
    pub(crate) fn is_import(&self, file: &FileDescriptorProto) -> bool {
        self.imports.contains(file.name())
    }

    /// Returns the path of a file on disk, if it has one.
    pub(crate) fn path(&self, file: &FileDescriptorProto) -> Option<&Path> {
        self.paths.get(file.name()).map(PathBuf::as_path)
    }

    /// Returns the source position of the item at a descriptor path. Falls back to the innermost enclosing item with a
    /// known position.
    pub(crate) fn position(&self, file: &FileDescriptorProto, path: &[i32]) -> SourcePosition {
        let name = file.name();
        let shown =
            self.paths.get(name).map_or_else(|| name.escape_debug().to_string(), |path| path.display().to_string());
        let mut path = path;
        let span = loop {
            match location(file, path) {
                Some(location) if location.span.len() >= 2 => break Some((location.span[0], location.span[1])),
                _ => match path {
                    [] => break None,
                    [outer @ .., _] => path = outer,
                },
            }
        };
        let one_based = |number: i32| u32::try_from(number).map_or(0, |number| number.saturating_add(1));
        let (line, column) = span.map_or((0, 0), |(line, column)| (one_based(line), one_based(column)));
        SourcePosition { file: shown, line, column }
    }
}

/// Returns the source location recorded for the item at a descriptor path.
pub(crate) fn location<'a>(file: &'a FileDescriptorProto, path: &[i32]) -> Option<&'a Location> {
    let sorted = &file.source_code_info.as_ref()?.location;
    let at = sorted.partition_point(|location| location.path.as_slice() < path);
    sorted.get(at).filter(|location| location.path == path)
}

/// Returns an iterator over the comments before and after an item.
pub(crate) fn comments(location: &Location) -> impl Iterator<Item = &str> {
    [&location.leading_comments, &location.trailing_comments].into_iter().flatten().map(String::as_str)
}

/// Index of all messages and enums by full name with a leading dot, such as `.package.Outer.Inner`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Index<'a> {
    /// All messages, including the hidden entry types of maps.
    pub messages: BTreeMap<String, FoundDescriptor<'a, DescriptorProto>>,
    /// All enums, including those nested in messages.
    pub enums: BTreeMap<String, FoundDescriptor<'a, EnumDescriptorProto>>,
}

/// Descriptor of a message or enum, with the file and the descriptor path of its declaration.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundDescriptor<'a, T> {
    /// The `.proto` file that declares the type.
    pub file: &'a FileDescriptorProto,
    /// Descriptor path of the declaration within its file.
    pub path: Vec<i32>,
    /// Descriptor of the message or enum.
    pub proto: &'a T,
}

impl<'a> Index<'a> {
    pub(crate) fn new(files: &'a [FileDescriptorProto]) -> Self {
        let mut index = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        for file in files {
            walk(file, &mut |item, name, path| {
                let (name, path) = (format!(".{name}"), path.to_vec());
                match item {
                    Item::Message(proto) => drop(index.messages.insert(name, FoundDescriptor { file, path, proto })),
                    Item::Enum(proto) => drop(index.enums.insert(name, FoundDescriptor { file, path, proto })),
                    _ => {}
                }
            });
        }
        index
    }

    /// Returns the hidden entry type of a map field, or `None` for other fields.
    pub fn map_entry(&self, field: &FieldDescriptorProto) -> Option<&'a DescriptorProto> {
        self.messages.get(field.type_name()).map(|found| found.proto).filter(|proto| is_map_entry(proto))
    }

    /// Returns the package that declares a message or enum.
    pub fn package_of(&self, full_name: &str) -> Option<&'a str> {
        self.declared(full_name).map(|(file, _)| file.package())
    }

    /// Returns the file that declares a message or enum, and the descriptor path of the declaration.
    pub(crate) fn declared(&self, full_name: &str) -> Option<(&'a FileDescriptorProto, &[i32])> {
        let message = self.messages.get(full_name).map(|found| (found.file, &found.path[..]));
        message.or_else(|| self.enums.get(full_name).map(|found| (found.file, &found.path[..])))
    }

    /// Creates an error at the position of a message or enum that is not supported.
    pub(crate) fn unsupported(&self, schema: &Schema, full_name: &str, text: String) -> Error {
        match self.declared(full_name) {
            Some((file, path)) => Error::unsupported(schema.position(file, path), text),
            None => Error::new(ErrorKind::Unsupported, text),
        }
    }
}

/// Returns `package.Name`, or only `Name` if the package is empty.
pub fn full_name(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}

/// Returns the full names of all types that the fields and methods of a file refer to.
pub(crate) fn type_names(file: &FileDescriptorProto) -> Vec<&str> {
    let mut names = Vec::new();
    walk(file, &mut |item, _, _| match item {
        Item::Field(_, field) => names.push(field.type_name()),
        Item::Method(method) => names.extend([method.input_type(), method.output_type()]),
        _ => {}
    });
    names
}

/// Returns a descriptor path extended by the field number `tag` and the index `at`.
pub fn within(path: &[i32], tag: i32, at: usize) -> Vec<i32> {
    let mut path = path.to_vec();
    path.extend([tag, i32::try_from(at).expect("descriptor index should fit in i32")]);
    path
}

/// Returns whether a message is the hidden entry type of a map field.
pub fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry)
}
