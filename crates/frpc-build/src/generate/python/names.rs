//! The names of generated Python: those of the schema as Python writes them, none of which is a word of the language or
//! is there twice. A name that cannot stay as it is gets a `_` at its end.

use std::collections::{BTreeMap, HashMap, HashSet};

use heck::ToSnakeCase as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use crate::generate::typescript::names::{flat, short_values};
use crate::schema::{Index, full_name, is_map_entry};

/// The words that are no names, as in the codec of the Python package.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// What every enum has as attributes of its own.
const OF_ENUMS: [&str; 3] = ["mro", "name", "value"];

/// The names of messages, enums and services, by full name with a leading dot, and those of modules by package.
pub(super) struct Names {
    own: BTreeMap<String, String>,
    clients: BTreeMap<String, [String; 2]>,
    modules: BTreeMap<String, String>,
}

impl Names {
    /// Names everything that is declared in one of the index's files, and the services of `files`.
    pub(super) fn new(index: &Index<'_>, files: &[&FileDescriptorProto]) -> Self {
        let mut names = Self { own: BTreeMap::new(), clients: BTreeMap::new(), modules: BTreeMap::new() };
        let mut taken: HashMap<String, HashSet<String>> = HashMap::new();
        let messages = index.messages.iter().filter(|(_, found)| !is_map_entry(found.proto));
        let messages = messages.map(|(name, found)| (name, found.file));
        for (name, file) in messages.chain(index.enums.iter().map(|(name, found)| (name, found.file))) {
            let taken = taken.entry(file.package().to_owned()).or_default();
            names.own.insert(name.clone(), free(&flat(name, file.package()), taken));
        }
        let mut modules = HashSet::new();
        for file in files {
            let package = file.package();
            if !names.modules.contains_key(package) {
                let wanted = if package.is_empty() { "_".to_owned() } else { package.replace('.', "_") };
                names.modules.insert(package.to_owned(), free(&wanted, &mut modules));
            }
            let taken = taken.entry(package.to_owned()).or_default();
            for service in &file.service {
                let name = format!(".{}", full_name(package, service.name()));
                let clients = ["Client", "AsyncClient"].map(|kind| free(&format!("{}{kind}", service.name()), taken));
                names.clients.insert(name.clone(), clients);
                names.own.insert(name, free(service.name(), taken));
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

    /// Whether a type of the module of these files has this name.
    pub(super) fn is_type(&self, package: &str, name: &str) -> bool {
        let full_name = format!(".{}", full_name(package, name));
        self.own.get(&full_name).is_some_and(|own| own == name)
    }
}

fn free(wanted: &str, taken: &mut HashSet<String>) -> String {
    let mut name = wanted.to_owned();
    while KEYWORDS.contains(&name.as_str()) || !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The name of a field or of a oneof.
pub(super) fn attribute(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// The names of methods that stand in one class.
pub(super) fn methods<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // What clients have already.
    let mut taken: HashSet<String> = ["close".to_owned()].into();
    names.map(|name| free(&name.to_snake_case(), &mut taken)).collect()
}

/// The names of the values of an enum, without the name of the enum in front if all have it.
pub(super) fn values(of: &EnumDescriptorProto) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |name: String| {
        // Names that begin with an underscore are no values in Python.
        let name = name.trim_start_matches('_');
        let name = if name.starts_with(|first: char| first.is_ascii_alphabetic()) && !OF_ENUMS.contains(&name) {
            name.to_owned()
        } else {
            format!("VALUE_{name}")
        };
        free(&name, &mut taken)
    };
    short_values(of).into_iter().map(name).collect()
}

/// Whether a field of a message is called as something that its other fields refer to.
pub(super) fn is_field(message: &DescriptorProto, name: &str) -> bool {
    message.field.iter().map(FieldDescriptorProto::name).any(|field| field == name)
        || message.oneof_decl.iter().any(|oneof| oneof.name() == name)
}
