//! Names in generated Python: names of the schema in Python's spelling. Names are unique and are not keywords. A name
//! that must change gets the suffix `_`. Generated modules reserve the prefixes `_in_` and `_own_` for internal names.

use std::collections::{BTreeMap, HashMap, HashSet};

use frpc_build::backend::{Index, full_name, is_map_entry, oneof_of};
use heck::ToSnakeCase as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use crate::typescript::names::{flat, short_values};

/// Python keywords. Must be the same list as in the codec of the Python package.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Names of Python's builtin types that occur in the annotations of generated fields. A class of the same name would
/// shadow them.
const BUILTINS: [&str; 8] = ["bool", "bytes", "dict", "float", "int", "list", "object", "str"];

/// Attributes that every `IntEnum` has, so that enum values cannot use their names.
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

/// Names that generated classes and `dataclasses` use within the scope of a class.
const PRIVATE: [&str; 6] = ["_HAS_DEFAULT_FACTORY", "_builtins", "_dataclasses", "_enum", "_frpc", "_typing"];
const PRIVATE_PREFIXES: [&str; 3] = ["_dflt_", "_in_", "_own_"];

/// Python names of messages, enums and services by their full protobuf name with a leading dot, and names of modules by
/// package.
pub(super) struct Names {
    own: BTreeMap<String, String>,
    clients: BTreeMap<String, [String; 2]>,
    modules: BTreeMap<String, String>,
}

impl Names {
    /// Assigns Python names to all messages and enums of `index`, and to the services of `files`.
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

    /// Returns the name of a type within its own module.
    pub(super) fn own(&self, full_name: &str) -> &str {
        self.own.get(full_name).map_or("object", String::as_str)
    }

    /// Returns the class names of a service's blocking client and of its asyncio client.
    pub(super) fn clients(&self, full_name: &str) -> [&str; 2] {
        self.clients.get(full_name).map_or(["object"; 2], |names| names.each_ref().map(String::as_str))
    }

    /// Returns the name of the generated Python module for a protobuf package, such as `shop_orders` for `shop.orders`.
    pub(super) fn module(&self, package: &str) -> &str {
        self.modules.get(package).map_or("_", String::as_str)
    }

    /// Returns the name under which other modules import the module of a package.
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

/// Converts the name of a declaration to a class name. Leading underscores are removed, because Python treats such
/// names as private or mangles them, and an underscore is appended to names of builtin types.
fn public(name: &str) -> String {
    let name = identifier(name.trim_start_matches('_'));
    if BUILTINS.contains(&&*name) { format!("{name}_") } else { name }
}

/// Prefixes a name with an underscore if it starts with a digit.
fn identifier(name: &str) -> String {
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name.to_owned() }
}

/// Python attribute names of a message's fields and oneofs.
pub(super) struct Attributes {
    /// Attribute names of the fields, by field number.
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
            false => String::new(), // This is the synthetic oneof of an optional field.
        });
        let oneofs = oneofs.collect();
        Self { fields, oneofs }
    }

    pub(super) fn field(&self, field: &FieldDescriptorProto) -> &str {
        self.fields.get(&field.number()).map_or("", String::as_str)
    }

    /// Returns the attribute name of a oneof, or an empty string for the synthetic oneof of an optional field.
    pub(super) fn oneof(&self, at: usize) -> &str {
        self.oneofs.get(at).map_or("", String::as_str)
    }

    /// Returns whether an attribute hides a name that the generated class uses.
    pub(super) fn hide(&self, name: &str) -> bool {
        self.fields.values().chain(&self.oneofs).any(|own| own == name)
    }
}

/// Returns the attribute name of a field or oneof. Reduces two leading underscores to one, because Python mangles such
/// names within classes.
fn attribute(name: &str) -> String {
    let name = if name.starts_with("__") { format!("_{}", name.trim_start_matches('_')) } else { name.to_owned() };
    let is_private = PRIVATE.contains(&&*name) || PRIVATE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if is_private { format!("{name}_") } else { name }
}

/// Converts the names of RPC methods to snake case, for the methods of a class. Appends `_` to a name that is taken,
/// such as `close`, which every client has.
pub(super) fn methods<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // Reserve the method names that every client has.
    let mut reserved: HashSet<String> = ["close".to_owned()].into();
    names.map(|name| free(&identifier(&name.to_snake_case()), &mut reserved)).collect()
}

/// Returns the Python names of an enum's values. If all values have the enum's name as a prefix, it is removed.
pub(super) fn values(of: &EnumDescriptorProto) -> Vec<String> {
    let mut reserved = HashSet::new();
    let name = |name: String| {
        // Strip leading underscores, because Python's enums do not treat such names as values.
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
