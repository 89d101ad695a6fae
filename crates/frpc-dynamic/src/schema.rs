//! Validation of schemas from untrusted servers, because prost-reflect does not defend against malicious ones.
//!
//! # Decisions
//!
//! prost-reflect takes many times the memory of an encoded schema, and its time is not linear in the number of parts.
//! Therefore parts are counted before decoding, and names and imports are checked before they are passed to it.

mod imports;

use polyglot::layout::distinguish_fields;
use prost_reflect::prost::Message as _;
use prost_reflect::prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, MessageOptions,
};
use prost_reflect::{DescriptorPool, Kind};
use std::collections::{HashMap, HashSet};

/// Maximum number of items in a schema, several times that of a large program. The limit is necessary because
/// prost-reflect allocates two kilobytes for a message that takes five bytes in the input, and compares some items with
/// all others.
const PARTS_MAX: usize = 100_000;

/// Maximum length of an item's full name in bytes. The limit is necessary because prost-reflect stores several copies
/// of each full name.
const NAME_MAX: usize = 512;

/// Maximum total length of the names that prost-reflect looks up for relative names of types. It appends each relative
/// name to each enclosing scope. protoc writes full names, which have a leading dot, but protobuf.js does not for the
/// entries of maps.
const LOOKUPS_MAX: usize = 1 << 24;

/// Maximum number of enum values, counted once for each field that has the enum as its type. The limit is necessary
/// because the [layout](crate::layout) of each such field contains the values of the enum.
const VALUES_MAX: usize = 1 << 22;

/// Maximum number of paths of public imports that start at one file. The limit is necessary because prost-reflect
/// follows each path recursively.
const PATHS_MAX: usize = 1000;

/// Maximum total number of imports on all paths of public imports.
const STEPS_MAX: usize = 10_000_000;

/// Parses an encoded `google.protobuf.FileDescriptorSet`. Each file must come after the files that it imports. Files
/// without imports may be in any order: the imports that their fields and methods require are added.
///
/// # Errors
/// If the bytes are not a valid set, or a file uses protobuf editions.
pub fn pool(files: &[u8]) -> Result<DescriptorPool, String> {
    let (mut set, has_new_imports) = check(files)?;
    let is_changed = set.file.iter_mut().flat_map(distinguish_fields).count() > 0 || has_new_imports;
    // Catch panics, because prost-reflect panics on an unknown syntax, some defaults, and options with other types than
    // Google's.
    let make = || match is_changed {
        true => DescriptorPool::from_file_descriptor_set(set),
        // Decode the original bytes, because `set` has lost the values of custom options, which prost-types does not
        // know.
        false => DescriptorPool::decode(files),
    };
    let made = std::panic::catch_unwind(|| make().map_err(|error| error.to_string()));
    let pool = made.unwrap_or_else(|_| Err("it is malformed".to_owned()))?;
    let values = pool.all_messages().map(|message| {
        let of_field = message.fields().map(|field| match field.kind() {
            Kind::Enum(found) => found.values().len(),
            _ => 0,
        });
        of_field.sum::<usize>()
    });
    if values.sum::<usize>() > VALUES_MAX {
        return Err("too many fields of large enums".to_owned());
    }
    Ok(pool)
}

/// Decodes and checks a set. Also returns whether imports were added to it.
fn check(files: &[u8]) -> Result<(FileDescriptorSet, bool), String> {
    let mut left = PARTS_MAX;
    SET.count(files, LEVELS_MAX, &mut left)?;
    let mut set = FileDescriptorSet::decode(files).map_err(|error| error.to_string())?;
    let mut lookups_left = LOOKUPS_MAX;
    for file in &set.file {
        // Each component of a package name counts as a package.
        subtract(&mut left, file.package().split('.').count())?;
        check_file(file, &mut lookups_left)?;
    }
    let has_new_imports = imports::complete(&mut set.file);
    check_imports(&set.file)?;
    Ok((set, has_new_imports))
}

/// Maximum nesting depth of descriptors. prost does not accept messages that are nested more deeply.
const LEVELS_MAX: u32 = 100;

/// A kind of item in encoded descriptors, with the field numbers under which it contains further items.
struct Part(&'static [(u32, &'static Part)]);

static SET: Part = Part(&[(1, &FILE)]);
static FILE: Part =
    Part(&[(3, &LEAF), (4, &MESSAGE), (5, &ENUM), (6, &SERVICE), (7, &FIELD), (8, &OPTIONS), (9, &SOURCE)]);
static MESSAGE: Part = Part(&[
    (2, &FIELD),
    (3, &MESSAGE),
    (4, &ENUM),
    (5, &RANGE),
    (6, &FIELD),
    (7, &OPTIONS),
    (8, &ONEOF),
    (9, &LEAF),
    (10, &LEAF),
]);
static FIELD: Part = Part(&[(8, &OPTIONS)]);
static RANGE: Part = Part(&[(3, &OPTIONS)]);
static ONEOF: Part = Part(&[(2, &OPTIONS)]);
static ENUM: Part = Part(&[(2, &VALUE), (3, &OPTIONS), (4, &LEAF), (5, &LEAF)]);
static VALUE: Part = Part(&[(3, &OPTIONS)]);
static SERVICE: Part = Part(&[(2, &METHOD), (3, &OPTIONS)]);
static METHOD: Part = Part(&[(4, &OPTIONS)]);
/// Parts of an options message, such as `MessageOptions` or `FieldOptions`. The listed field numbers have the same
/// meaning in the options of every kind of descriptor.
static OPTIONS: Part = Part(&[(2, &LEAF), (20, &LEAF), (999, &OPTION)]);
static OPTION: Part = Part(&[(2, &LEAF)]);
static SOURCE: Part = Part(&[(1, &LOCATION)]);
static LOCATION: Part = Part(&[(6, &LEAF)]);
static LEAF: Part = Part(&[]);

impl Part {
    /// Counts the items inside an encoded item, and deducts them from the number that is still permitted. Called before
    /// any of them is decoded and allocated.
    fn count(&self, mut bytes: &[u8], levels: u32, left: &mut usize) -> Result<(), String> {
        while !bytes.is_empty() {
            let (tag, wire) = decode_key(&mut bytes).map_err(|error| error.to_string())?;
            let part = self.0.iter().find(|(field, _)| *field == tag).filter(|_| wire == WireType::LengthDelimited);
            let Some((_, part)) = part else {
                let skipped = skip_field(wire, tag, &mut bytes, DecodeContext::default());
                skipped.map_err(|error| error.to_string())?;
                continue;
            };
            let length = decode_varint(&mut bytes).map_err(|error| error.to_string())?;
            let content = usize::try_from(length).ok().and_then(|length| bytes.split_off(..length));
            let content = content.ok_or("it is truncated")?;
            subtract(left, 1)?;
            if !part.0.is_empty() {
                let levels = levels.checked_sub(1).ok_or("it is nested too deep")?;
                part.count(content, levels, left)?;
            }
        }
        Ok(())
    }
}

fn subtract(left: &mut usize, parts: usize) -> Result<(), String> {
    *left = left.checked_sub(parts).ok_or_else(|| format!("it has more than {PARTS_MAX} parts"))?;
    Ok(())
}

fn check_imports(files: &[FileDescriptorProto]) -> Result<(), String> {
    let names: HashSet<&str> = files.iter().map(FileDescriptorProto::name).collect();
    // Number of import paths that start at each earlier file, and number of steps on them.
    let mut paths: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut steps = 0_usize;
    for file in files {
        let is_later = |import: &&String| !paths.contains_key(import.as_str()) && names.contains(import.as_str());
        if let Some(import) = file.dependency.iter().find(is_later) {
            return Err(format!("{:?} does not follow {import:?}, which it imports", file.name()));
        }
        let known = |import: &String| paths.get(import.as_str()).copied().unwrap_or_default();
        let public = file.public_dependency.iter().map(|at| {
            let import = usize::try_from(*at).ok().and_then(|at| file.dependency.get(at));
            import.map_or((1, 0), known)
        });
        // prost-reflect searches the public imports of a file for each of its imports.
        let own = (1_usize, file.dependency.len().saturating_mul(1 + file.public_dependency.len()));
        let (count, cost) =
            public.fold(own, |(count, cost), (paths, steps)| (count.saturating_add(paths), cost.saturating_add(steps)));
        steps = file.dependency.iter().fold(steps, |steps, import| steps.saturating_add(1 + known(import).1));
        if count > PATHS_MAX || steps > STEPS_MAX {
            return Err(format!("{:?} has too many public imports", file.name()));
        }
        paths.insert(file.name(), (count, cost));
    }
    Ok(())
}

/// Checks the lengths of all names in a file, and several rules that prost-reflect does not check.
fn check_file(file: &FileDescriptorProto, lookups_left: &mut usize) -> Result<(), String> {
    full_name(0, file.name())?;
    if file.syntax() == "editions" {
        let name = file.name();
        return Err(format!(
            "{name:?} uses protobuf editions, which are not supported: use a schema with `syntax = \"proto3\";`"
        ));
    }
    let scope = full_name(0, file.package())?;
    check_fields(scope, &file.extension, lookups_left)?;
    check_enums(scope, &file.enum_type)?;
    for service in &file.service {
        let scope = full_name(scope, service.name())?;
        for method in &service.method {
            full_name(scope, method.name())?;
            check_reference(scope, method.input_type(), lookups_left)?;
            check_reference(scope, method.output_type(), lookups_left)?;
        }
    }
    let mut open: Vec<(usize, &DescriptorProto)> = file.message_type.iter().map(|message| (scope, message)).collect();
    while let Some((scope, message)) = open.pop() {
        if message.options.as_ref().is_some_and(MessageOptions::map_entry) && !is_map_entry(message) {
            return Err(format!("{:?} is no entry of a map", message.name()));
        }
        let scope = full_name(scope, message.name())?;
        check_fields(scope, &message.field, lookups_left)?;
        check_fields(scope, &message.extension, lookups_left)?;
        check_enums(scope, &message.enum_type)?;
        for oneof in &message.oneof_decl {
            full_name(scope, oneof.name())?;
        }
        check_ranges(message.reserved_range.iter().map(|range| (range.start(), range.end().saturating_sub(1))))?;
        open.extend(message.nested_type.iter().map(|nested| (scope, nested)));
    }
    Ok(())
}

fn check_fields(scope: usize, fields: &[FieldDescriptorProto], lookups_left: &mut usize) -> Result<(), String> {
    for field in fields {
        full_name(scope, field.name())?;
        check_reference(scope, field.type_name(), lookups_left)?;
        check_reference(scope, field.extendee(), lookups_left)?;
    }
    Ok(())
}

fn check_enums(scope: usize, enums: &[EnumDescriptorProto]) -> Result<(), String> {
    for found in enums {
        full_name(scope, found.name())?;
        for value in &found.value {
            full_name(scope, value.name())?;
        }
        check_ranges(found.reserved_range.iter().map(|range| (range.start(), range.end())))?;
    }
    Ok(())
}

/// Returns the length of an item's full name. `scope` is the length of the full name of the item's scope.
fn full_name(scope: usize, name: &str) -> Result<usize, String> {
    let length = scope + name.len() + 1;
    if length > NAME_MAX {
        return Err(format!("a full name of {length} bytes exceeds the limit of {NAME_MAX}"));
    }
    Ok(length)
}

/// Subtracts the lookups that a relative type name causes from `lookups_left`. `scope` is the length of the full name
/// of the item that contains the reference.
fn check_reference(scope: usize, name: &str, lookups_left: &mut usize) -> Result<(), String> {
    if !name.is_empty() && !name.starts_with('.') {
        // prost-reflect tries the name in each enclosing scope. A full name of `scope` bytes has at most half as many
        // enclosing scopes, and their names are half as long on average.
        let lookups = (scope / 2 + 1) * (scope / 2 + full_name(0, name)?);
        let left = lookups_left.checked_sub(lookups);
        *lookups_left = left.ok_or_else(|| "it has too many relative names of types".to_owned())?;
    }
    Ok(())
}

/// Rejects number ranges that overlap. Both ends of a range are inclusive. prost-reflect would create an error for each
/// number in an overlap.
fn check_ranges(ranges: impl Iterator<Item = (i32, i32)>) -> Result<(), String> {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_unstable();
    let mut neighbours = ranges.iter().zip(ranges.iter().skip(1));
    if neighbours.any(|((_, end), (start, _))| end >= start) {
        return Err("ranges of reserved numbers overlap".to_owned());
    }
    Ok(())
}

/// Returns whether a message has the fields of a map entry: a key of a permitted type, and a value.
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
    use prost_reflect::prost_types::descriptor_proto::ReservedRange;
    use prost_reflect::prost_types::{EnumValueDescriptorProto, OneofDescriptorProto};

    /// Returns a file with this name that imports the given files and declares one message.
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

    fn oneof(name: &str) -> OneofDescriptorProto {
        OneofDescriptorProto { name: Some(name.to_owned()), ..OneofDescriptorProto::default() }
    }

    fn pool_of(files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, String> {
        pool(&FileDescriptorSet { file: files }.encode_to_vec())
    }

    fn field(name: &str, number: i32, kind: Type, label: Label) -> FieldDescriptorProto {
        let (label, kind) = (Some(label.into()), Some(kind.into()));
        let name = Some(name.to_owned());
        FieldDescriptorProto { name, number: Some(number), label, r#type: kind, ..FieldDescriptorProto::default() }
    }

    /// protoc accepts these fields since version 22.
    #[test]
    fn fields_that_differ_in_underscores_are_accepted() {
        let mut found = file("a", &[]);
        for (name, number) in [("abc_def", 1), ("_abc_def", 2)] {
            found.message_type[0].field.push(field(name, number, Type::Int32, Label::Optional));
        }
        let message = pool_of(vec![found]).unwrap().get_message_by_name("Ofa").unwrap();
        let names = [1, 2].map(|number| message.get_field(number).unwrap().json_name().to_owned());
        assert_eq!(names, ["abcDef", "AbcDef"]);
    }

    /// Returns a file that declares a map field. The fields of its entry type are `fields`.
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

    /// protobuf.js, and with it the reflection service of Node.js, writes relative names of map entries.
    #[test]
    fn relative_names_of_types_are_accepted() {
        let (key, value) = (("key", 1, Type::String), ("value", 2, Type::Int32));
        let fields = [key, value].map(|(name, number, kind)| field(name, number, kind, Label::Optional));
        let mut files = map_of(fields.into());
        files[0].message_type[0].field[0].type_name = Some("Entry".to_owned());
        let message = pool_of(files).unwrap().get_message_by_name("Ofa").unwrap();
        assert!(message.get_field(1).unwrap().is_map());
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
    fn exponential_public_imports_are_rejected() {
        let names: Vec<_> = (0..20).map(|at| format!("f{at}")).collect();
        let mut files = vec![file("f0", &[])];
        files.extend(names.windows(2).map(|pair| file(&pair[1], &[&pair[0], &pair[0]])));
        assert_eq!(pool_of(files).unwrap_err(), "\"f9\" has too many public imports");
    }

    #[test]
    fn costly_or_invalid_schemas_are_rejected() {
        let refused = |change: &dyn Fn(&mut FileDescriptorProto)| {
            let mut file = file("a", &[]);
            change(&mut file);
            pool_of(vec![file]).unwrap_err()
        };
        let parts = "it has more than 100000 parts";
        let message = DescriptorProto::default();
        assert_eq!(refused(&|file| file.message_type = vec![message.clone(); 100_000]), parts);
        assert_eq!(refused(&|file| file.dependency = vec![String::new(); 100_000]), parts);
        assert_eq!(refused(&|file| file.package = Some(".".repeat(100_000))), parts);
        let mut nested = message.clone();
        for _ in 0..101 {
            nested = DescriptorProto { nested_type: vec![nested], ..DescriptorProto::default() };
        }
        assert_eq!(refused(&|file| file.message_type = vec![nested.clone()]), "it is nested too deep");

        let long = "a full name of 513 bytes exceeds the limit of 512";
        assert_eq!(refused(&|file| file.name = Some("x".repeat(512))), long);
        assert_eq!(refused(&|file| file.message_type[0].name = Some("x".repeat(511))), long);
        assert_eq!(refused(&|file| file.message_type[0].oneof_decl.push(oneof(&"x".repeat(507)))), long);

        let relative = FieldDescriptorProto { type_name: Some("Ofa".to_owned()), ..FieldDescriptorProto::default() };
        let refused_fields = refused(&|file| {
            file.message_type[0].name = Some("x".repeat(500));
            file.message_type[0].field = vec![relative.clone(); 10_000];
        });
        assert_eq!(refused_fields, "it has too many relative names of types");
        let range = ReservedRange { start: Some(5), end: Some(7) };
        let overlap = refused(&|file| file.message_type[0].reserved_range = vec![range; 2]);
        assert_eq!(overlap, "ranges of reserved numbers overlap");

        let values = |number| EnumValueDescriptorProto {
            name: Some(format!("V{number}")),
            number: Some(number),
            ..EnumValueDescriptorProto::default()
        };
        let large = EnumDescriptorProto {
            name: Some("Large".to_owned()),
            value: (0..4200).map(values).collect(),
            ..EnumDescriptorProto::default()
        };
        let of_enum = |number: i32| FieldDescriptorProto {
            type_name: Some(".Large".to_owned()),
            ..field(&format!("f{number}"), number, Type::Enum, Label::Optional)
        };
        let large = refused(&|file| {
            file.enum_type.push(large.clone());
            file.message_type[0].field = (1..=1000).map(of_enum).collect();
        });
        assert_eq!(large, "too many fields of large enums");
    }

    #[test]
    fn excessive_transitive_public_imports_are_rejected() {
        let names: Vec<_> = (0..1000).map(|at| format!("f{at}")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut files: Vec<_> = all.iter().map(|name| file(name, &[])).collect();
        files.push(file("all", &all[..999]));
        let private = |at| FileDescriptorProto { public_dependency: vec![], ..file(&format!("g{at}"), &["all"]) };
        files.extend((0..100).map(private));
        assert_eq!(pool_of(files).unwrap_err(), "\"g10\" has too many public imports");
    }

    /// Regression test: the schema of a gRPC server in Node was rejected, because its files have no imports.
    #[test]
    fn missing_imports_are_added() {
        let user = |name: &str, of: &str| {
            let mut user = file(name, &[]);
            let found = field("found", 1, Type::Message, Label::Optional);
            user.message_type[0].field.push(FieldDescriptorProto { type_name: Some(of.to_owned()), ..found });
            user
        };
        let files = vec![user("a", ".Ofb"), user("b", ".Ofc"), file("c", &[])];
        let pool = pool_of(files).expect("imports should be added");
        let names: Vec<_> = pool.files().map(|file| file.name().to_owned()).collect();
        assert_eq!(names, ["c", "b", "a"]);
        let extension =
            FieldDescriptorProto { extendee: Some(".Ofc".to_owned()), ..field("x", 9, Type::Int32, Label::Optional) };
        let mut files = vec![FileDescriptorProto { extension: vec![extension], ..file("d", &[]) }, file("c", &[])];
        assert!(imports::complete(&mut files));
        assert_eq!(files[1].dependency, ["c"], "file should import the message that it extends");
        pool_of(vec![user("a", ".Ofb"), user("b", ".Ofa")]).expect_err("cycle of imports should be rejected");
    }

    #[test]
    fn panics_of_library_are_errors() {
        let edition = FileDescriptorProto { syntax: Some("editions".to_owned()), ..file("a", &[]) };
        let error = pool_of(vec![edition]).expect_err("editions should be rejected");
        assert!(error.starts_with("\"a\" uses protobuf editions, which are not supported"), "{error}");
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
