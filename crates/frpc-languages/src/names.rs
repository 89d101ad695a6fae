//! Names of types and members that both languages assign in the same way.

use std::collections::{BTreeMap, HashMap, HashSet};

use frpc_build::backend::{Index, full_name, is_map_entry};
use heck::ToShoutySnakeCase as _;
use prost_types::{EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

/// Names of types, services and clients within their modules, by full name.
pub(crate) struct TypeNames(BTreeMap<String, String>);

impl TypeNames {
    /// Assigns names to all messages and enums of `index`, and to the services of `files` with a client for each suffix
    /// of `clients`. `public` spells a name in the language, and `free` makes it unique among the given names.
    pub(crate) fn new<'a>(
        index: &Index<'_>,
        files: impl Iterator<Item = &'a FileDescriptorProto>,
        clients: &[&str],
        public: impl Fn(&str) -> String,
        free: impl Fn(&str, &mut HashSet<String>) -> String,
    ) -> Self {
        let mut names = BTreeMap::new();
        let mut reserved: HashMap<String, HashSet<String>> = HashMap::new();
        let messages = index.messages.iter().filter(|(_, found)| !is_map_entry(found.proto));
        let messages = messages.map(|(name, found)| (name, found.file));
        for (name, file) in messages.chain(index.enums.iter().map(|(name, found)| (name, found.file))) {
            let reserved = reserved.entry(file.package().to_owned()).or_default();
            names.insert(name.clone(), free(&public(&flat(name, file.package())), reserved));
        }
        for file in files {
            let reserved = reserved.entry(file.package().to_owned()).or_default();
            for service in &file.service {
                let (name, own) = (full_name(file.package(), service.name()), public(service.name()));
                for client in clients {
                    names.insert(client_key(&name, client), free(&format!("{own}{client}"), reserved));
                }
                names.insert(format!(".{name}"), free(&own, reserved));
            }
        }
        Self(names)
    }

    /// Returns the name of a type or service, given its full name with a leading dot.
    pub(crate) fn own(&self, full_name: &str) -> &str {
        self.0.get(full_name).map_or("", String::as_str)
    }

    /// Returns the name of a service's client with this suffix. `service` is the full name without a leading dot.
    pub(crate) fn client(&self, service: &str, suffix: &str) -> &str {
        self.own(&client_key(service, suffix))
    }
}

/// Returns the key of a client in [`TypeNames`]. It contains a slash, so it differs from the names of the schema.
fn client_key(service: &str, suffix: &str) -> String {
    format!(".{service}/{suffix}")
}

/// Names of the fields and oneofs of a message.
pub(crate) struct MemberNames {
    /// Names of the fields, by field number.
    pub(crate) fields: HashMap<i32, String>,
    pub(crate) oneofs: Vec<String>,
}

impl MemberNames {
    pub(crate) fn field(&self, field: &FieldDescriptorProto) -> &str {
        self.fields.get(&field.number()).map_or("", String::as_str)
    }

    pub(crate) fn oneof(&self, at: usize) -> &str {
        self.oneofs.get(at).map_or("", String::as_str)
    }
}

/// Returns whether a name is one of these words, which are separated by spaces.
pub(crate) fn is_word_of(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// Returns the name of a nested type, which is `Outer_Inner` for `.package.Outer.Inner`.
fn flat(full_name: &str, package: &str) -> String {
    let name = full_name.trim_start_matches('.');
    let name = name.strip_prefix(package).filter(|_| !package.is_empty()).unwrap_or(name);
    name.trim_start_matches('.').replace('.', "_")
}

/// Returns the names of an enum's values without the enum's name, which usually is their common prefix. If a value
/// lacks the prefix, all names are returned unchanged.
///
/// A remainder may start with a digit, such as `1`. The generator of each language then turns it into an identifier. If
/// such a remainder disabled the removal of the prefix, adding a value to the enum could rename all others.
pub(crate) fn short_values(of: &EnumDescriptorProto) -> Vec<String> {
    let prefix = format!("{}_", of.name().to_shouty_snake_case());
    let short = |name: &str| -> Option<String> {
        let rest = name.strip_prefix(&prefix)?;
        rest.starts_with(|first: char| first.is_ascii_alphanumeric()).then(|| rest.to_owned())
    };
    let names: Option<Vec<String>> = of.value.iter().map(|value| short(value.name())).collect();
    names.unwrap_or_else(|| of.value.iter().map(|value| value.name().to_owned()).collect())
}
