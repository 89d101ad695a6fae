//! The names of generated Python: those of the schema in Python's spelling. None is a word of the language, and each is
//! unique. A name that cannot stay as it is gets a `_` at its end. Generated modules keep `_in_` and `_own_` as
//! prefixes of their own names.

use std::collections::{BTreeMap, HashMap, HashSet};

use frpc_build::backend::{Index, full_name, is_map_entry, oneof_of};
use heck::ToSnakeCase as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use crate::typescript::names::{flat, short_values};

/// The words that are no names, as in the codec of the Python package.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The types of fields.
const BUILTINS: [&str; 8] = ["bool", "bytes", "dict", "float", "int", "list", "object", "str"];

/// Attributes of every `IntEnum`.
const OF_ENUMS: [&str; 14] = [
    "as_integer_ratio",
    "bit_count",
    "bit_length",
    "conjugate",
    "denominator",
    "from_bytes",
    "imag",
    "is_integer",
    "mro",
    "name",
    "numerator",
    "real",
    "to_bytes",
    "value",
];

/// Names that generated classes and `dataclasses` use in the scope of a class.
const PRIVATE: [&str; 6] = ["_HAS_DEFAULT_FACTORY", "_builtins", "_dataclasses", "_enum", "_frpc", "_typing"];
const PRIVATE_PREFIXES: [&str; 3] = ["_dflt_", "_in_", "_own_"];

/// The names of messages, enums and services, by full name with a leading dot, and those of modules by package.
pub(super) struct Names {
    own: BTreeMap<String, String>,
    clients: BTreeMap<String, [String; 2]>,
    modules: BTreeMap<String, String>,
}

impl Names {
    /// Names everything that is declared in one of the index's files, and the services of `files`.
    pub(super) fn new<'a>(index: &Index<'_>, files: impl Iterator<Item = &'a FileDescriptorProto>) -> Self {
        let mut names = Self { own: BTreeMap::new(), clients: BTreeMap::new(), modules: BTreeMap::new() };
        let mut reserved: HashMap<String, HashSet<String>> = HashMap::new();
        let messages = index.messages.iter().filter(|(_, found)| !is_map_entry(found.proto));
        let messages = messages.map(|(name, found)| (name, found.file));
        for (name, file) in messages.chain(index.enums.iter().map(|(name, found)| (name, found.file))) {
            let reserved = reserved.entry(file.package().to_owned()).or_default();
            names.own.insert(name.clone(), free(&public(&flat(name, file.package())), reserved));
        }
        let mut modules: HashSet<String> = ["__init__", "__main__"].map(str::to_owned).into();
        for file in files {
            let package = file.package();
            if !names.modules.contains_key(package) {
                let wanted = if package.is_empty() { "_".to_owned() } else { package.replace('.', "_") };
                names.modules.insert(package.to_owned(), free(&wanted, &mut modules));
            }
            let reserved = reserved.entry(package.to_owned()).or_default();
            for service in &file.service {
                let name = format!(".{}", full_name(package, service.name()));
                let own = public(service.name());
                let clients = ["Client", "AsyncClient"].map(|kind| free(&format!("{own}{kind}"), reserved));
                names.clients.insert(name.clone(), clients);
                names.own.insert(name, free(&own, reserved));
            }
        }
        names
    }

    /// The name within its own module.
    pub(super) fn own(&self, full_name: &str) -> &str {
        self.own.get(full_name).map_or("object", String::as_str)
    }

    /// The names of the blocking client of a service, and of that for asyncio.
    pub(super) fn clients(&self, full_name: &str) -> [&str; 2] {
        self.clients.get(full_name).map_or(["object"; 2], |names| names.each_ref().map(String::as_str))
    }

    /// The module of a package, without its extension.
    pub(super) fn module(&self, package: &str) -> &str {
        self.modules.get(package).map_or("_", String::as_str)
    }

    /// The name under which a module imports that of a package.
    pub(super) fn import(&self, package: &str) -> String {
        format!("_in_{}", self.module(package).trim_start_matches('_'))
    }
}

fn free(wanted: &str, reserved: &mut HashSet<String>) -> String {
    let mut name = wanted.to_owned();
    while KEYWORDS.contains(&name.as_str()) || !reserved.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The name of a class. It does not begin with an underscore, since such names are private, or mangled in classes, and
/// is not that of a builtin type that fields have.
fn public(name: &str) -> String {
    let name = identifier(name.trim_start_matches('_'));
    if BUILTINS.contains(&&*name) { format!("{name}_") } else { name }
}

/// The name with an underscore in front if it begins with a digit.
fn identifier(name: &str) -> String {
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name.to_owned() }
}

/// The attributes of a message.
pub(super) struct Attributes {
    /// By number.
    fields: HashMap<i32, String>,
    oneofs: Vec<String>,
}

impl Attributes {
    pub(super) fn of(message: &DescriptorProto) -> Self {
        let mut reserved = HashSet::new();
        let fields = message.field.iter().map(|field| (field.number(), free(&attribute(field.name()), &mut reserved)));
        let fields = fields.collect();
        let is_real = |at| message.field.iter().any(|field| oneof_of(field) == Some(at));
        let oneofs = message.oneof_decl.iter().enumerate().map(|(at, oneof)| match is_real(at) {
            true => free(&attribute(oneof.name()), &mut reserved),
            false => String::new(), // That of an optional field.
        });
        let oneofs = oneofs.collect();
        Self { fields, oneofs }
    }

    pub(super) fn field(&self, field: &FieldDescriptorProto) -> &str {
        self.fields.get(&field.number()).map_or("", String::as_str)
    }

    /// The name of a oneof; empty for the hidden one of an optional field.
    pub(super) fn oneof(&self, at: usize) -> &str {
        self.oneofs.get(at).map_or("", String::as_str)
    }

    /// Whether an attribute hides a name that the class uses.
    pub(super) fn hide(&self, name: &str) -> bool {
        self.fields.values().chain(&self.oneofs).any(|own| own == name)
    }
}

/// The name of a field or of a oneof. Classes mangle names with two underscores in front.
fn attribute(name: &str) -> String {
    let name = if name.starts_with("__") { format!("_{}", name.trim_start_matches('_')) } else { name.to_owned() };
    let is_private = PRIVATE.contains(&&*name) || PRIVATE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if is_private { format!("{name}_") } else { name }
}

/// The names of the methods of one class.
pub(super) fn methods<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // What clients have already.
    let mut reserved: HashSet<String> = ["close".to_owned()].into();
    names.map(|name| free(&identifier(&name.to_snake_case()), &mut reserved)).collect()
}

/// The names of the values of an enum, without the name of the enum in front if all have it.
pub(super) fn values(of: &EnumDescriptorProto) -> Vec<String> {
    let mut reserved = HashSet::new();
    let name = |name: String| {
        // Names that begin with an underscore are no values in Python.
        let name = name.trim_start_matches('_');
        let name = if name.starts_with(|first: char| first.is_ascii_alphabetic()) && !OF_ENUMS.contains(&name) {
            name.to_owned()
        } else {
            format!("VALUE_{name}")
        };
        free(&name, &mut reserved)
    };
    short_values(of).into_iter().map(name).collect()
}
