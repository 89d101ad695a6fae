//! Names in generated TypeScript: names of the schema in TypeScript's spelling. Names are unique, are not reserved
//! words, and do not hide globals that generated code uses.
//!
//! A name that must change gets the suffix `$`, which does not occur in protobuf names.

use std::collections::{HashMap, HashSet};

use frpc_build::backend::oneof_of;
use heck::ToLowerCamelCase as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto};

use crate::names::{MemberNames, is_word_of, short_values};

/// Identifiers that generated types and constants must not use. The list contains the reserved words of TypeScript,
/// names of primitive types, and words such as `keyof` that are keywords only before another name. It also contains the
/// names that CommonJS defines in each module, and the globals that generated code uses.
const RESERVED: &str = "abstract any arguments as async await bigint boolean break case catch class const continue \
                        debugger declare default delete do else enum eval export exports extends false finally for \
                        function globalThis if implements import in infer instanceof interface keyof let Map never \
                        new null number object package private Promise protected public readonly require return \
                        static string super switch symbol this throw true try type typeof undefined unique unknown \
                        var void while with yield";

/// Names that generated properties must not have: those inherited from `Object.prototype` or found on classes,
/// `toJSON`, which `JSON.stringify` calls, and `__proto__`, which sets the prototype in an object literal.
const INHERITED: &str = "__proto__ constructor hasOwnProperty isPrototypeOf propertyIsEnumerable prototype toJSON \
                         toLocaleString toString valueOf";

/// Appends `$` to a name until it is neither reserved nor taken.
pub(super) fn free(wanted: &str, reserved: &mut HashSet<String>) -> String {
    let mut name = wanted.to_owned();
    while is_word_of(RESERVED, &name) || !reserved.insert(name.clone()) {
        name.push('$');
    }
    name
}

/// Returns the file name of a package, without its extension. The file of the unnamed package is `_`, so a name that
/// consists of underscores gets one more.
pub(super) fn module(package: &str) -> String {
    let is_blank = package.bytes().all(|byte| byte == b'_');
    if is_blank { format!("{package}_") } else { package.to_owned() }
}

/// Returns the name under which a module imports the module of another package. The name is unique, because no type
/// name starts with `$` and each package has a different name.
pub(super) fn import(package: &str) -> String {
    format!("${}", module(package).replace('.', "$"))
}

/// Converts a name to a property name. Appends `$` to the names of inherited properties, such as `toString`, and to the
/// names in `others`.
pub(super) fn property(name: &str, others: &[&str]) -> String {
    let is_reserved = is_word_of(INHERITED, name) || others.contains(&name) || name.is_empty();
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

/// Returns the property names of a message's fields. The members of a oneof are cases rather than properties, so they
/// may have the same names as fields.
pub(super) fn fields_of(message: &DescriptorProto) -> MemberNames {
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
    MemberNames { fields, oneofs }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: the unnamed package and the package `_` were both written to `_.ts`.
    #[test]
    fn packages_have_different_files_and_imports() {
        let packages = ["", "_", "__", "a", "_a", "a_", "a.b", "a_b", "_._"];
        let files: HashSet<_> = packages.iter().map(|package| module(package)).collect();
        assert_eq!(files.len(), packages.len(), "{files:?}");
        let imports: HashSet<_> = packages.iter().map(|package| import(package)).collect();
        assert_eq!(imports.len(), packages.len(), "{imports:?}");
        assert_eq!((module(""), module("shop.orders")), ("_".to_owned(), "shop.orders".to_owned()));
    }
}
