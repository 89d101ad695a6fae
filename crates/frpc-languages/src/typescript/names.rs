//! Names in generated TypeScript: names of the schema in TypeScript's spelling. Names are unique, are not reserved
//! words, and do not hide globals that generated code uses.
//!
//! A name that must change gets the suffix `$`, which does not occur in protobuf names.

use std::collections::{BTreeMap, HashMap, HashSet};

use frpc_build::backend::{Index, full_name, is_map_entry, oneof_of};
use heck::{ToLowerCamelCase as _, ToShoutySnakeCase as _};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

/// Identifiers that generated types and constants must not use. The list contains the reserved words of TypeScript,
/// names of primitive types, and words such as `keyof` that are keywords only before another name. It also contains the
/// names that CommonJS defines in each module, and the globals that generated code uses.
const RESERVED: [&str; 71] = [
    "abstract",
    "any",
    "arguments",
    "as",
    "async",
    "await",
    "bigint",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "declare",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "exports",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "globalThis",
    "if",
    "implements",
    "import",
    "in",
    "infer",
    "instanceof",
    "interface",
    "keyof",
    "let",
    "Map",
    "never",
    "new",
    "null",
    "number",
    "object",
    "package",
    "private",
    "Promise",
    "protected",
    "public",
    "readonly",
    "require",
    "return",
    "static",
    "string",
    "super",
    "switch",
    "symbol",
    "this",
    "throw",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unique",
    "unknown",
    "var",
    "void",
    "while",
    "yield",
];

/// Names that generated properties must not have: those inherited from `Object.prototype` or found on classes,
/// `toJSON`, which `JSON.stringify` calls, and `__proto__`, which sets the prototype in an object literal.
const INHERITED: [&str; 10] = [
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "prototype",
    "toJSON",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// TypeScript names of messages, enums, services and clients, by full protobuf name with a leading dot.
pub(super) struct Names {
    own: BTreeMap<String, String>,
    clients: BTreeMap<String, String>,
}

impl Names {
    /// Assigns TypeScript names to all messages and enums of `index`, and to the services of `files`.
    pub(super) fn new<'a>(index: &Index<'_>, files: impl Iterator<Item = &'a FileDescriptorProto>) -> Self {
        let mut names = Self { own: BTreeMap::new(), clients: BTreeMap::new() };
        let mut reserved: HashMap<String, HashSet<String>> = HashMap::new();
        let messages = index.messages.iter().filter(|(_, found)| !is_map_entry(found.proto));
        let messages = messages.map(|(name, found)| (name, found.file));
        for (name, file) in messages.chain(index.enums.iter().map(|(name, found)| (name, found.file))) {
            let reserved = reserved.entry(file.package().to_owned()).or_default();
            names.own.insert(name.clone(), free(&flat(name, file.package()), reserved));
        }
        for file in files {
            let reserved = reserved.entry(file.package().to_owned()).or_default();
            for service in &file.service {
                let name = format!(".{}", full_name(file.package(), service.name()));
                names.clients.insert(name.clone(), free(&format!("{}Client", service.name()), reserved));
                names.own.insert(name, free(service.name(), reserved));
            }
        }
        names
    }

    /// Returns the name of a type within its own module.
    pub(super) fn own(&self, full_name: &str) -> &str {
        self.own.get(full_name).map_or("unknown", String::as_str)
    }

    pub(super) fn client(&self, full_name: &str) -> &str {
        self.clients.get(full_name).map_or("unknown", String::as_str)
    }
}

/// Returns the TypeScript name of a nested type, which is `Outer_Inner` for `.package.Outer.Inner`.
pub(crate) fn flat(full_name: &str, package: &str) -> String {
    let name = full_name.trim_start_matches('.');
    let name = name.strip_prefix(package).filter(|_| !package.is_empty()).unwrap_or(name);
    name.trim_start_matches('.').replace('.', "_")
}

fn free(wanted: &str, reserved: &mut HashSet<String>) -> String {
    let mut name = wanted.to_owned();
    while RESERVED.contains(&name.as_str()) || !reserved.insert(name.clone()) {
        name.push('$');
    }
    name
}

/// Returns the file name of a package, without its extension.
pub(super) fn module(package: &str) -> &str {
    if package.is_empty() { "_" } else { package }
}

/// Returns the name under which a module imports the module of another package. The name is unique, because no type
/// name starts with `$` and each package has a different name.
pub(super) fn import(package: &str) -> String {
    format!("${}", module(package).replace('.', "$"))
}

/// Converts a name to a property name. Appends `$` to the names of inherited properties, such as `toString`, and to the
/// names in `others`.
pub(super) fn property(name: &str, others: &[&str]) -> String {
    let is_reserved = INHERITED.contains(&name) || others.contains(&name) || name.is_empty();
    let before = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    let after = if is_reserved { "$" } else { "" };
    format!("{before}{name}{after}")
}

/// Makes the names of the items unique. A name that an earlier item has gets the suffix `$`.
pub(super) fn unique<T>(mut items: Vec<T>, name: impl Fn(&mut T) -> &mut String) -> Vec<T> {
    let mut reserved = HashSet::new();
    for item in &mut items {
        let name = name(item);
        while !reserved.insert(name.clone()) {
            name.push('$');
        }
    }
    items
}

/// TypeScript property names of a message's fields and oneofs.
pub(super) struct Fields {
    /// Property names of the fields, by field number.
    fields: HashMap<i32, String>,
    oneofs: Vec<String>,
}

impl Fields {
    pub(super) fn of(&self, field: &FieldDescriptorProto) -> &str {
        self.fields.get(&field.number()).map_or("", String::as_str)
    }

    pub(super) fn oneof(&self, at: usize) -> &str {
        self.oneofs.get(at).map_or("", String::as_str)
    }
}

/// Returns the property names of a message's fields. The members of a oneof are cases rather than properties, so they
/// may have the same names as fields.
pub(super) fn fields_of(message: &DescriptorProto) -> Fields {
    let camel = |name: &str| property(&name.to_lower_camel_case(), &[]);
    let named = |of: &dyn Fn(&FieldDescriptorProto) -> bool| -> Vec<(i32, String)> {
        message.field.iter().filter(|field| of(field)).map(|field| (field.number(), camel(field.name()))).collect()
    };
    let plain = unique(named(&|field| oneof_of(field).is_none()), |(_, name)| name);
    let mut fields: HashMap<i32, String> = plain.into_iter().collect();
    let mut reserved: HashSet<String> = fields.values().cloned().collect();
    let mut oneofs = Vec::new();
    for (at, oneof) in message.oneof_decl.iter().enumerate() {
        let mut name = camel(oneof.name());
        // Skip the synthetic oneofs of optional fields, which have no name in TypeScript.
        if message.field.iter().any(|field| oneof_of(field) == Some(at)) {
            while !reserved.insert(name.clone()) {
                name.push('$');
            }
        }
        oneofs.push(name);
        fields.extend(unique(named(&|field| oneof_of(field) == Some(at)), |(_, name)| name));
    }
    Fields { fields, oneofs }
}

/// Returns the one-based position of a member in the declaration of its oneof.
pub(super) fn member(message: &DescriptorProto, field: &FieldDescriptorProto) -> usize {
    let oneof = oneof_of(field);
    let members = message.field.iter().filter(|other| oneof_of(other) == oneof);
    members.take_while(|other| other.number() != field.number()).count() + 1
}

/// Returns the TypeScript names of an enum's values.
pub(super) fn value_names(of: &EnumDescriptorProto) -> Vec<String> {
    short_values(of).into_iter().map(|name| property(&name, &[])).collect()
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
