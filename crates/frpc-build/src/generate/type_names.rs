//! Distinct Rust names of types and of the values of enums. Types such as `XML` and `Xml` would have the same name in
//! Rust, so all but one are renamed.
//!
//! prost-build derives Rust names from the names in descriptors. This module therefore changes the copy of the
//! descriptors that prost-build receives. [Markers](super::prost_code) contain the original names, so that the
//! generated code can be assigned to the types of the schema.

use std::collections::{HashMap, HashSet};

use heck::ToUpperCamelCase as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};

use crate::schema::externs::Externs;
use crate::schema::is_map_entry;

/// Names of all types in the descriptors for prost-build, by their names in the schema. Both are full names with a
/// leading dot. They differ only if a type was renamed.
pub(crate) type TypeNames = HashMap<String, String>;

/// Renamed enum values. Each entry is the name in the descriptors for prost-build and the name in the schema.
pub(crate) type ValueNames = Vec<(String, String)>;

/// Renames types and enum values in `files` by appending a number if their Rust names are taken. If an enum and a
/// message would have the same name, the message is renamed, because the names of enum variants depend on the name of
/// the enum.
pub(crate) fn make_distinct(
    files: &mut [FileDescriptorProto],
    externs: &Externs,
    warn: &mut dyn FnMut(String),
) -> (TypeNames, ValueNames) {
    let mut renamer = Renamer { externs, names: HashMap::new(), values: Vec::new(), warn };
    let mut packages: HashMap<String, HashSet<String>> = HashMap::new();
    for file in &mut *files {
        let scope = if file.package().is_empty() { String::new() } else { format!(".{}", file.package()) };
        let taken = packages.entry(scope.clone()).or_default();
        renamer.scope((&scope, &scope), &mut file.enum_type, &mut file.message_type, taken);
    }
    let Renamer { names, values, .. } = renamer;
    let rename = |name: &mut Option<String>| {
        if let Some(new) = name.as_ref().and_then(|name| names.get(name)) {
            *name = Some(new.clone());
        }
    };
    for file in files {
        file.message_type.iter_mut().for_each(|message| rename_fields(message, &rename));
        for method in file.service.iter_mut().flat_map(|service| &mut service.method) {
            rename(&mut method.input_type);
            rename(&mut method.output_type);
        }
    }
    (names, values)
}

/// Returns the variant name that prost-build derives for an enum value.
fn variant_name(of: &str, value: &str, retains_prefix: bool) -> String {
    let name = value.to_upper_camel_case();
    if retains_prefix {
        return name;
    }
    let short = name.strip_prefix(&of.to_upper_camel_case()).filter(|rest| rest.starts_with(char::is_uppercase));
    short.map_or_else(|| name.clone(), str::to_owned)
}

fn rename_fields(message: &mut DescriptorProto, rename: &dyn Fn(&mut Option<String>)) {
    message.field.iter_mut().for_each(|field| rename(&mut field.type_name));
    message.nested_type.iter_mut().for_each(|nested| rename_fields(nested, rename));
}

struct Renamer<'a> {
    externs: &'a Externs,
    names: TypeNames,
    values: ValueNames,
    warn: &'a mut dyn FnMut(String),
}

impl Renamer<'_> {
    /// Renames the types in a package or message. `scope` is the full name of this package or message, first as in the
    /// schema and then as in the descriptors for prost-build. `taken` contains the Rust names that are in use.
    fn scope(
        &mut self,
        scope: (&str, &str),
        enums: &mut [EnumDescriptorProto],
        messages: &mut [DescriptorProto],
        taken: &mut HashSet<String>,
    ) {
        for of in enums {
            self.name(scope, &mut of.name, taken);
            self.values(of);
        }
        for message in messages {
            let old = format!("{}.{}", scope.0, message.name());
            if !is_map_entry(message) {
                self.name(scope, &mut message.name, taken);
            }
            let new = format!("{}.{}", scope.1, message.name());
            self.names.insert(old.clone(), new.clone());
            self.scope((&old, &new), &mut message.enum_type, &mut message.nested_type, &mut HashSet::new());
        }
    }

    fn name(&mut self, scope: (&str, &str), name: &mut Option<String>, taken: &mut HashSet<String>) {
        let Some(name) = name else { return };
        let (old, wanted) = (format!("{}.{name}", scope.0), name.to_upper_camel_case());
        if self.externs.owner(&old).is_none() && !taken.insert(wanted.clone()) {
            let number = (2..).find(|number| taken.insert(format!("{wanted}{number}"))).unwrap_or(2_u32);
            let text = format!("the name `{wanted}` is taken, so `{}` is called `{wanted}{number}`", &old[1..]);
            (self.warn)(text);
            *name = format!("{wanted}{number}");
        }
        self.names.insert(old, format!("{}.{name}", scope.1));
    }

    /// Renames enum values that would become variants of the same name, because prost-build panics on them.
    fn values(&mut self, of: &mut EnumDescriptorProto) {
        let owner = of.name().to_owned();
        let variant_name = |value: &str| variant_name(&owner, value, self.externs.retain_enum_prefix);
        let (mut variants, mut numbers) = (HashSet::new(), HashSet::new());
        for value in &mut of.value {
            // Skip aliases, because they have no variant.
            if !numbers.insert(value.number()) || variants.insert(variant_name(value.name())) {
                continue;
            }
            let old = value.name().to_owned();
            // Three underscores separate the number. They do not affect the name of the variant, and other values are
            // unlikely to have such a name.
            let mut names = (2_u32..).map(|number| format!("{old}___{number}"));
            let Some(new) = names.find(|name| variants.insert(variant_name(name))) else { continue };
            let [wanted, variant] = [&old, &new].map(|name| variant_name(name));
            (self.warn)(format!("the name `{wanted}` is taken in enum `{owner}`, so `{old}` is called `{variant}`"));
            value.name = Some(new.clone());
            self.values.push((new, old));
        }
    }
}
