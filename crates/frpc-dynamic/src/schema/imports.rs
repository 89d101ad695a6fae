//! Restores missing imports: the reflection service of gRPC servers in Node.js omits the imports of all files.

use prost_reflect::prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};
use std::collections::{BTreeSet, HashMap};

/// Adds the missing imports to files that have none but use types of other files. If any were added, sorts the files so
/// that each comes after its imports, and returns `true`.
pub(super) fn complete(files: &mut Vec<FileDescriptorProto>) -> bool {
    let mut homes = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        for_each_type(file, |name, _| {
            homes.entry(name).or_insert(at);
        });
    }
    let found = files.iter().enumerate().map(|(at, file)| {
        if !file.dependency.is_empty() {
            return BTreeSet::new();
        }
        let mut used = BTreeSet::new();
        let mut add = |name: &str| used.extend(homes.get(name).copied().filter(|home| *home != at));
        let mut add_all = |fields: &[FieldDescriptorProto]| {
            for field in fields {
                add(field.type_name());
                add(field.extendee());
            }
        };
        add_all(&file.extension);
        for_each_type(file, |_, message| {
            if let Some(message) = message {
                add_all(&message.field);
                add_all(&message.extension);
            }
        });
        for method in file.service.iter().flat_map(|service| &service.method) {
            add(method.input_type());
            add(method.output_type());
        }
        used
    });
    let found: Vec<BTreeSet<usize>> = found.collect();
    let names: Vec<String> = files.iter().map(|file| file.name().to_owned()).collect();
    for (file, used) in files.iter_mut().zip(&found) {
        file.dependency.extend(used.iter().filter_map(|at| names.get(*at).cloned()));
    }
    let has_new = found.iter().any(|used| !used.is_empty());
    if has_new {
        sort(files, &names);
    }
    has_new
}

/// Calls `show` with the full name of each message and enum of a file, and with the message.
fn for_each_type(file: &FileDescriptorProto, mut show: impl FnMut(String, Option<&DescriptorProto>)) {
    let scope = if file.package().is_empty() { String::new() } else { format!(".{}", file.package()) };
    let mut open: Vec<(String, &[DescriptorProto], &[EnumDescriptorProto])> =
        vec![(scope, &file.message_type, &file.enum_type)];
    while let Some((scope, messages, enums)) = open.pop() {
        enums.iter().for_each(|found| show(format!("{scope}.{}", found.name()), None));
        for message in messages {
            let name = format!("{scope}.{}", message.name());
            show(name.clone(), Some(message));
            open.push((name, &message.nested_type, &message.enum_type));
        }
    }
}

/// Sorts files so that each comes after its imports. The order of files that import each other is arbitrary.
fn sort(files: &mut Vec<FileDescriptorProto>, names: &[String]) {
    let index: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut left: Vec<Option<FileDescriptorProto>> = std::mem::take(files).into_iter().map(Some).collect();
    let mut open = Vec::<(FileDescriptorProto, usize)>::new();
    for at in 0..left.len() {
        let mut next = Some(at);
        loop {
            open.extend(next.and_then(|at| left.get_mut(at)?.take()).map(|file| (file, 0)));
            let Some((file, import)) = open.last_mut() else { break };
            let Some(name) = file.dependency.get(*import) else {
                files.extend(open.pop().map(|(file, _)| file));
                next = None;
                continue;
            };
            *import += 1;
            next = index.get(name.as_str()).copied();
        }
    }
}
