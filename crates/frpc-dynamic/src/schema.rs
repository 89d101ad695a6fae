//! The schemas of servers, which may be hostile. The library for descriptors trusts them further than its types say.

use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, MessageOptions,
};
use std::collections::{HashMap, HashSet};

/// The paths of public imports from a file, at most: the library follows all of them, by recursion.
const PATHS_MAX: usize = 1000;

/// The descriptors of an encoded `google.protobuf.FileDescriptorSet` whose files follow those that they import.
///
/// # Errors
/// If it is none, or invalid.
pub fn pool(files: &[u8]) -> Result<DescriptorPool, String> {
    let set = FileDescriptorSet::decode(files).map_err(|error| error.to_string())?;
    check_imports(&set.file)?;
    let mut open: Vec<&DescriptorProto> = set.file.iter().flat_map(|file| &file.message_type).collect();
    while let Some(message) = open.pop() {
        if message.options.as_ref().is_some_and(MessageOptions::map_entry) && !is_map_entry(message) {
            return Err(format!("{:?} is no entry of a map", message.name()));
        }
        open.extend(&message.nested_type);
    }
    // It panics at an unknown syntax, at some defaults, and where options have other types than Google's.
    let made = std::panic::catch_unwind(|| DescriptorPool::decode(files).map_err(|error| error.to_string()));
    made.unwrap_or_else(|_| Err("it is malformed".to_owned()))
}

fn check_imports(files: &[FileDescriptorProto]) -> Result<(), String> {
    let names: HashSet<&str> = files.iter().map(FileDescriptorProto::name).collect();
    // The paths from each file before.
    let mut paths: HashMap<&str, usize> = HashMap::new();
    for file in files {
        let is_later = |import: &&String| !paths.contains_key(import.as_str()) && names.contains(import.as_str());
        if let Some(import) = file.dependency.iter().find(is_later) {
            return Err(format!("{:?} does not follow {import:?}, which it imports", file.name()));
        }
        let public = file.public_dependency.iter().filter_map(|at| file.dependency.get(usize::try_from(*at).ok()?));
        let count = public.fold(1, |count: usize, import| {
            count.saturating_add(paths.get(import.as_str()).copied().unwrap_or_default())
        });
        if count > PATHS_MAX {
            return Err(format!("{:?} has too many public imports", file.name()));
        }
        paths.insert(file.name(), count);
    }
    Ok(())
}

/// Whether the fields are a key of a kind that keys may have, and a value.
fn is_map_entry(message: &DescriptorProto) -> bool {
    let [key, value] = message.field.as_slice() else { return false };
    let is_single = |field: &FieldDescriptorProto| field.label() != Label::Repeated;
    let kind = key.r#type.and_then(|kind| Type::try_from(kind).ok());
    let is_key = key.type_name().is_empty()
        && kind.is_some_and(|kind| {
            !matches!(kind, Type::Double | Type::Float | Type::Group | Type::Message | Type::Bytes)
        });
    is_key && (key.number(), value.number()) == (1, 2) && is_single(key) && is_single(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with this name, the names of others that it imports, and a message.
    fn file(name: &str, imports: &[&str]) -> FileDescriptorProto {
        let message = DescriptorProto { name: Some(format!("Of{name}")), ..DescriptorProto::default() };
        FileDescriptorProto {
            name: Some(name.to_owned()),
            dependency: imports.iter().map(|&import| import.to_owned()).collect(),
            public_dependency: (0..).take(imports.len()).collect(),
            message_type: vec![message],
            syntax: Some("proto3".to_owned()),
            ..FileDescriptorProto::default()
        }
    }

    fn pool_of(files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, String> {
        pool(&FileDescriptorSet { file: files }.encode_to_vec())
    }

    fn field(name: &str, number: i32, kind: Type, label: Label) -> FieldDescriptorProto {
        let (label, kind) = (Some(label.into()), Some(kind.into()));
        let name = Some(name.to_owned());
        FieldDescriptorProto { name, number: Some(number), label, r#type: kind, ..FieldDescriptorProto::default() }
    }

    /// A file with a map whose entries have these fields.
    fn map_of(fields: Vec<FieldDescriptorProto>) -> Vec<FileDescriptorProto> {
        let mut file = file("a", &[]);
        let options = Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() });
        let name = Some("Entry".to_owned());
        let entry = DescriptorProto { name, field: fields, options, ..DescriptorProto::default() };
        let mut entries = field("entries", 1, Type::Message, Label::Repeated);
        entries.type_name = Some(".Ofa.Entry".to_owned());
        file.message_type[0].nested_type.push(entry);
        file.message_type[0].field.push(entries);
        vec![file]
    }

    #[test]
    fn invalid_entries_of_maps_are_refused() {
        let key = |kind| field("key", 1, kind, Label::Optional);
        let value = || field("value", 2, Type::Bytes, Label::Optional);
        for good in [Type::String, Type::Bool, Type::Sfixed64] {
            let pool = pool_of(map_of(vec![key(good), value()])).unwrap();
            assert!(pool.get_message_by_name("Ofa").unwrap().get_field(1).unwrap().is_map());
        }
        let without_kind = FieldDescriptorProto { r#type: None, ..key(Type::String) };
        for fields in [
            vec![],
            vec![value()],
            vec![key(Type::String)],
            vec![key(Type::Double), value()],
            vec![key(Type::Bytes), value()],
            vec![FieldDescriptorProto { type_name: Some(".Ofa".to_owned()), ..key(Type::Message) }, value()],
            vec![FieldDescriptorProto { type_name: Some(".Ofa".to_owned()), ..key(Type::String) }, value()],
            vec![without_kind, value()],
            vec![field("key", 1, Type::String, Label::Repeated), value()],
            vec![key(Type::String), field("value", 2, Type::String, Label::Repeated)],
            vec![key(Type::String), field("value", 3, Type::String, Label::Optional)],
        ] {
            let refused = pool_of(map_of(fields.clone())).map(|_| fields).unwrap_err();
            assert_eq!(refused, "\"Entry\" is no entry of a map");
        }
    }

    #[test]
    fn files_follow_those_that_they_import() {
        let pool = pool_of(vec![file("a", &[]), file("b", &["a"]), file("c", &["b", "a"])]).unwrap();
        assert_eq!(pool.files().len(), 3);
        for files in [
            vec![file("a", &["a"])],
            vec![file("a", &["b"]), file("b", &[])],
            vec![file("a", &["b"]), file("b", &["a"])],
        ] {
            let refused = pool_of(files).unwrap_err();
            assert!(refused.contains("does not follow"), "{refused}");
        }
    }

    #[test]
    fn public_imports_by_a_million_paths_are_refused() {
        let names: Vec<_> = (0..20).map(|at| format!("f{at}")).collect();
        let mut files = vec![file("f0", &[])];
        files.extend(names.windows(2).map(|pair| file(&pair[1], &[&pair[0], &pair[0]])));
        assert_eq!(pool_of(files).unwrap_err(), "\"f9\" has too many public imports");
    }

    #[test]
    fn panics_of_the_library_are_errors() {
        let other = FileDescriptorProto { syntax: Some("proto4".to_owned()), ..file("a", &[]) };
        assert_eq!(pool_of(vec![other]).unwrap_err(), "it is malformed");
        let mut odd = FileDescriptorProto { syntax: None, ..file("a", &[]) };
        let bytes = field("bytes", 1, Type::Bytes, Label::Optional);
        odd.message_type[0].field.push(FieldDescriptorProto { default_value: Some("\\x€".to_owned()), ..bytes });
        assert_eq!(pool_of(vec![odd]).unwrap_err(), "it is malformed");
    }

    #[test]
    fn bytes_that_are_no_files_are_refused() {
        pool(b"no files").unwrap_err();
    }
}
