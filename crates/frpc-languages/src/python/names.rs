//! Names in generated Python: names of the schema in Python's spelling. Names are unique and are not keywords. A name
//! that must change gets the suffix `_`. Generated modules reserve the prefixes `_in_` and `_own_` for internal names.

use std::collections::{BTreeMap, HashSet};

use frpc_build::backend::oneof_of;
use heck::ToSnakeCase as _;
use prost_types::{DescriptorProto, EnumDescriptorProto};

use crate::names::{MemberNames, is_word_of, short_values};

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
const OF_ENUMS: &str = "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer mro \
                        name numerator real to_bytes value";

/// Names that generated classes and `dataclasses` use within the scope of a class.
const PRIVATE: [&str; 6] = ["_HAS_DEFAULT_FACTORY", "_builtins", "_dataclasses", "_enum", "_frpc", "_typing"];
const PRIVATE_PREFIXES: [&str; 3] = ["_dflt_", "_in_", "_own_"];

/// Names of the generated Python modules, by package.
pub(super) struct ModuleNames(BTreeMap<String, String>);

impl ModuleNames {
    pub(super) fn new<'a>(packages: impl Iterator<Item = &'a str>) -> Self {
        let mut modules: HashSet<String> = ["__init__", "__main__"].map(str::to_owned).into();
        let module = |package: &str| {
            let wanted = if package.is_empty() { "_".to_owned() } else { package.replace('.', "_") };
            (package.to_owned(), free(&wanted, &mut modules))
        };
        Self(packages.map(module).collect())
    }

    /// Returns the name of the generated Python module for a protobuf package, such as `shop_orders` for `shop.orders`.
    pub(super) fn module(&self, package: &str) -> &str {
        self.0.get(package).map_or("_", String::as_str)
    }

    /// Returns the name under which other modules import the module of a package.
    pub(super) fn import(&self, package: &str) -> String {
        format!("_in_{}", self.module(package))
    }
}

/// Appends underscores to a name until it is neither a keyword nor taken.
pub(super) fn free(wanted: &str, reserved: &mut HashSet<String>) -> String {
    let mut name = wanted.to_owned();
    while KEYWORDS.contains(&name.as_str()) || !reserved.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// Converts the name of a declaration to a class name. Leading underscores are removed, because Python treats such
/// names as private or mangles them, and an underscore is appended to names of builtin types.
pub(super) fn public(name: &str) -> String {
    let name = identifier(name.trim_start_matches('_'));
    if BUILTINS.contains(&&*name) { format!("{name}_") } else { name }
}

/// Prefixes a name with an underscore if it starts with a digit.
fn identifier(name: &str) -> String {
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name.to_owned() }
}

/// Returns the Python attribute names of a message's fields and oneofs. The synthetic oneof of an optional field has an
/// empty name.
pub(super) fn attributes(message: &DescriptorProto) -> MemberNames {
    let mut reserved = HashSet::new();
    let fields = message.field.iter().map(|field| (field.number(), free(&attribute(field.name()), &mut reserved)));
    let fields = fields.collect();
    let is_real = |at| message.field.iter().any(|field| oneof_of(field) == Some(at));
    let oneofs = message.oneof_decl.iter().enumerate().map(|(at, oneof)| match is_real(at) {
        true => free(&attribute(oneof.name()), &mut reserved),
        false => String::new(),
    });
    let oneofs = oneofs.collect();
    MemberNames { fields, oneofs }
}

/// Returns whether a field or oneof has the attribute name `name`, which then hides other objects of that name in the
/// class.
pub(super) fn hide(attributes: &MemberNames, name: &str) -> bool {
    attributes.fields.values().chain(&attributes.oneofs).any(|own| own == name)
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

/// Returns the Python names of an enum's values. If all values have the enum's name as a prefix, the prefix is removed.
pub(super) fn values(of: &EnumDescriptorProto) -> Vec<String> {
    let mut reserved = HashSet::new();
    let name = |name: String| {
        // Strip leading underscores, because Python's enums do not treat such names as values.
        let name = name.trim_start_matches('_');
        let name = if name.starts_with(|first: char| first.is_ascii_alphabetic()) && !is_word_of(OF_ENUMS, name) {
            name.to_owned()
        } else {
            format!("VALUE_{name}")
        };
        free(&name, &mut reserved)
    };
    short_values(of).into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Regression test: the modules of packages such as `a` and `_a` were imported under the same name.
    #[test]
    fn imported_modules_have_different_names() {
        let packages = ["", "_", "a", "_a", "__a", "a.b", "a_b"];
        let modules = ModuleNames::new(packages.into_iter());
        let imports: BTreeSet<_> = packages.iter().map(|package| modules.import(package)).collect();
        assert_eq!(imports.len(), packages.len(), "{imports:?}");
    }
}
