//! Parses `.proto` files into a [`Schema`] with protox instead of `protoc`.
//!
//! Converts the errors of protox into errors of this crate. `check.rs` rejects unsupported constructs later.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use polyglot::layout::distinguish_fields;
use prost_types::FileDescriptorSet;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver};
use protox::prost_reflect::DescriptorPool;

use crate::error::{Error, ErrorKind, SourcePosition};
use crate::schema::Schema;
use crate::schema::externs::OWN_FILES;
use crate::schema::options::keep_options;

/// Byte order mark, which some editors write at the start of a file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Parses `protos` and their imports, which are searched in the folders `includes` in order.
pub(crate) fn parse(protos: &[PathBuf], includes: &[PathBuf]) -> Result<Schema, Error> {
    if let Some(missing) =
        protos.iter().find(|path| !path.exists() && !includes.iter().any(|include| include.join(path).exists()))
    {
        return Err(Error::new(ErrorKind::Schema, format!("{}: no such file", missing.display())));
    }
    let mut resolver = ChainFileResolver::new();
    let renamed = Rc::new(RefCell::new(Vec::new()));
    includes.iter().for_each(|include| resolver.add(Include(include.clone(), renamed.clone())));
    let compiler = compile(resolver, protos, includes, &Sources::default())?;
    let path = |name: &str| includes.iter().map(|include| include.join(name)).find(|path| path.exists());
    if let Some((hidden, read)) = protos.iter().find_map(|proto| Some((proto, hidden_by(proto, includes, path)?))) {
        let read = read.display().to_string();
        let text = format!("path '{}' is shadowed by '{read}' in the include paths", hidden.display());
        return Err(Error::at(ErrorKind::Schema, SourcePosition { file: read, line: 0, column: 0 }, text));
    }
    let paths: HashMap<String, PathBuf> =
        compiler.files().filter_map(|file| Some((file.name().to_owned(), path(file.name())?))).collect();
    let imports = compiler.files().filter(|file| file.is_import()).map(|file| file.name().to_owned()).collect();
    let mut files = compiler.file_descriptor_set().file;
    let encoded = compiler.encode_file_descriptor_set();
    keep_options(&mut files, &encoded);
    let schema = Schema { renamed: renamed.take(), ..Schema::new(files, paths, encoded) };
    Ok(schema.with_imports(imports))
}

/// Parses files that are given by name and text.
pub(crate) fn parse_sources(sources: Vec<(String, String)>) -> Result<Schema, Error> {
    let names: Vec<String> = sources.iter().map(|(name, _)| name.clone()).collect();
    let sources = Sources(Rc::new(sources.into_iter().collect()));
    let mut resolver = ChainFileResolver::new();
    resolver.add(sources.clone());
    adopt(compile(resolver, &names, &[], &sources)?.file_descriptor_set())
}

/// Parses `protos` and their imports. Files that `resolver` does not find may be bundled files or well-known types.
/// Errors are explained with the text of their file in `includes` or `sources`.
fn compile(
    mut resolver: ChainFileResolver,
    protos: &[impl AsRef<Path>],
    includes: &[PathBuf],
    sources: &Sources,
) -> Result<protox::Compiler, Error> {
    let bundled = OWN_FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    resolver.add(Sources(Rc::new(bundled.collect())));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).include_source_info(true);
    compiler
        .open_files(protos)
        .map_err(|error| placed(error.file(), &format!("{error:?}"), includes, sources).with_source(error))?;
    Ok(compiler)
}

/// Returns the file that was read instead of `proto`, if there is one. An include folder may contain a file of the same
/// name. protox only compares paths as text, and only those of files that it opened itself.
fn hidden_by(proto: &Path, includes: &[PathBuf], path: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let given = fs::canonicalize(proto).ok()?; // A path that does not exist is an import name.
    let name = includes.iter().find_map(|include| IncludeFileResolver::new(include.clone()).resolve_path(proto));
    let name = name.or_else(|| proto.to_str().map(str::to_owned))?;
    path(&name).filter(|read| fs::canonicalize(read).ok() != Some(given))
}

/// File resolver for files in memory: their texts by name. Removes byte order marks and renames fields, like
/// [`Include`]. Discards the descriptions of renamed fields.
#[derive(Clone, Default)]
struct Sources(Rc<HashMap<String, String>>);

impl FileResolver for Sources {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let text = self.0.get(name).ok_or_else(|| protox::Error::file_not_found(name))?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        Ok(rename_ambiguous_fields(File::from_source(name, text)?, &mut Vec::new()))
    }
}

/// File resolver for imports in a folder. Removes byte order marks, which protox does not support, and
/// [renames](distinguish_fields) fields. Adds a description of each renaming to the list.
struct Include(PathBuf, Rc<RefCell<Vec<String>>>);

impl FileResolver for Include {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        IncludeFileResolver::new(self.0.clone()).resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let file = match fs::read_to_string(self.0.join(name)) {
            Ok(text) => File::from_source(name, text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text)),
            Err(_) => IncludeFileResolver::new(self.0.clone()).open_file(name), // Returns the error.
        }?;
        Ok(rename_ambiguous_fields(file, &mut self.1.borrow_mut()))
    }
}

/// [Renames](distinguish_fields) fields of a file. Adds a description of each renaming to `renamed`.
fn rename_ambiguous_fields(file: File, renamed: &mut Vec<String>) -> File {
    let mut descriptor = file.file_descriptor_proto().clone();
    let mut changes = distinguish_fields(&mut descriptor);
    if changes.is_empty() {
        return file;
    }
    renamed.append(&mut changes);
    File::from_file_descriptor_proto(descriptor)
}

/// Converts a descriptor set of another program into a schema. Checks that all used types and imports are present, and
/// that all numbers and indexes are in range.
pub(crate) fn adopt(mut set: FileDescriptorSet) -> Result<Schema, Error> {
    // prost-reflect panics on an unknown syntax.
    if let Some(file) = set.file.iter().find(|file| !matches!(file.syntax.as_deref(), None | Some("proto2" | "proto3")))
    {
        let position = SourcePosition { file: file.name().escape_debug().to_string(), line: 0, column: 0 };
        let text = match file.syntax() {
            "editions" => NO_EDITIONS.to_owned(),
            syntax => format!("syntax {syntax:?} is not supported; the schema must be proto3"),
        };
        return Err(Error::unsupported(position, text));
    }
    let renamed = set.file.iter_mut().flat_map(distinguish_fields).collect();
    let pool = DescriptorPool::from_file_descriptor_set(set)
        .map_err(|error| placed(error.file(), &format!("{error:?}"), &[], &Sources::default()).with_source(error))?;
    let mut files: Vec<_> = pool.files().map(|file| file.file_descriptor_proto().clone()).collect();
    let encoded = pool.encode_to_vec();
    keep_options(&mut files, &encoded);
    let imports = files.iter().flat_map(|file| file.dependency.iter().cloned()).collect();
    Ok(Schema { renamed, ..Schema::new(files, HashMap::new(), encoded) }.with_imports(imports))
}

/// Extracts the source position from a protox error. Only its `Debug` text contains it, as `file:line:column: text`.
fn placed(file: Option<&str>, debug: &str, includes: &[PathBuf], sources: &Sources) -> Error {
    let Some(file) = file else { return Error::new(ErrorKind::Schema, debug) };
    let (line, column, text) = split_position(file, debug).unwrap_or((0, 0, debug));
    let on_disk = includes.iter().map(|include| include.join(file)).find(|path| path.exists());
    let source = on_disk.as_ref().and_then(|path| fs::read_to_string(path).ok());
    let source = source.or_else(|| sources.0.get(file).cloned()).unwrap_or_default();
    let (kind, text) = explained(text, &source, includes);
    let file = on_disk.map_or_else(|| file.to_owned(), |path| path.display().to_string());
    Error::at(kind, SourcePosition { file, line, column }, text)
}

/// Replaces or completes error texts of the parser that do not name the cause.
fn explained(text: &str, source: &str, includes: &[PathBuf]) -> (ErrorKind, String) {
    if text.contains("found 'edition'") {
        return (ErrorKind::Unsupported, NO_EDITIONS.to_owned());
    }
    let text = if text.contains("with proto2 syntax") && !has_syntax(source) {
        return (ErrorKind::Unsupported, MISSING_SYNTAX.to_owned());
    } else if includes.is_empty() {
        // The files are in memory, so there are no folders to name.
        text.to_owned()
    } else if text == "invalid group name" {
        format!("{text}, or a path with `..`: imports are looked up in the folders of includes")
    } else if text.starts_with("import ") && text.ends_with(" not found") {
        let folders: Vec<_> = includes.iter().map(|include| include.display().to_string()).collect();
        format!("{text} in {}", folders.join(", "))
    } else {
        text.to_owned()
    };
    (ErrorKind::Schema, text)
}

/// Error text for a file that uses an edition.
const NO_EDITIONS: &str = "editions are not supported: frpc-build reads schemas with protox, which knows none, so the \
                           schema has to begin with `syntax = \"proto3\";` instead, without `features`";

/// Error text for a file without a `syntax` line.
pub(crate) const MISSING_SYNTAX: &str = "the file has no `syntax` line, which makes it proto2; it has to begin with \
                                         `syntax = \"proto3\";`";

/// Returns whether a file starts with a `syntax` line, apart from comments.
fn has_syntax(source: &str) -> bool {
    let mut rest = source.trim_start_matches(BYTE_ORDER_MARK).trim_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix("//") {
            comment.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, rest)| rest)
        } else {
            return rest.starts_with("syntax");
        }
        .trim_start();
    }
}

fn split_position<'a>(file: &str, debug: &'a str) -> Option<(u32, u32, &'a str)> {
    let rest = debug.strip_prefix(file)?.strip_prefix(':')?;
    let (line, rest) = rest.split_once(':')?;
    let (column, text) = rest.split_once(": ")?;
    Some((line.parse().ok()?, column.parse().ok()?, text))
}
