//! Paths by which options select parts of the schema, and warnings for paths without a match.
//!
//! Without the warnings, an option would silently ignore a path that is misspelled or that selects another kind of
//! item.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};

use crate::schema::walk::{Item, walk};
use crate::schema::wire_order::oneof_of;
use crate::schema::{Schema, full_name, is_map_entry};

/// Returns whether a path matches a full name by prost-build's rules. `.` matches everything. A path with a leading dot
/// is a prefix, as `.shop` of `shop.Order`. Any other path is a suffix, as `Order.note` of `shop.Order.note`.
pub(crate) fn path_matches(pattern: &str, full_name: &str) -> bool {
    match pattern.strip_prefix('.') {
        Some("") => true,
        Some(prefix) => full_name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        None => full_name.strip_suffix(pattern).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
    }
}

/// Kind of schema item that a build option applies to. A path that selects no such item causes a warning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Any message, enum or oneof.
    Type,
    Message,
    /// Enums and oneofs.
    Enum,
    /// Any field, oneof, oneof member or enum value.
    Field,
    BytesField,
    /// Any string field, or map with string values.
    StringField,
    MapField,
    /// Any message field that is not repeated.
    SingleMessage,
    Service,
    Method,
    /// Any item that can have comments.
    Any,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Type => "message, enum or oneof",
            Self::Message => "message",
            Self::Enum => "enum or oneof",
            Self::Field => "field or enum value",
            Self::BytesField => "bytes field",
            Self::StringField => "string field",
            Self::MapField => "map field",
            Self::SingleMessage => "message field that is not repeated",
            Self::Service => "service",
            Self::Method => "method",
            Self::Any => "item",
        }
    }
}

/// A path that was passed to a build option, recorded to warn if it matches nothing.
#[derive(Clone, Debug)]
pub(crate) struct OptionPath {
    pub(crate) option: &'static str,
    pub(crate) path: String,
    pub(crate) target: Target,
}

/// Returns a warning for each path that matches no generated item.
pub(crate) fn remarks(option_path: &[OptionPath], schema: &Schema) -> Vec<String> {
    let mut named = Named::default();
    for file in schema.files.iter().filter(|file| schema.is_generated(file)) {
        walk(file, &mut |item, name, _| named.add_item(&item, name));
    }
    option_path
        .iter()
        .filter(|option_path| option_path.path != ".")
        .filter_map(|option_path| named.remark(option_path))
        .collect()
}

/// Names and kinds of all schema items that build options can select. Names have no leading dot.
#[derive(Default)]
struct Named(Vec<(Target, String)>);

impl Named {
    fn remark(&self, option_path: &OptionPath) -> Option<String> {
        let OptionPath { option, path, target } = option_path;
        let mut matching = self.0.iter().filter(|(_, name)| path_matches(path, name)).peekable();
        let exists = matching.peek().is_some();
        if exists && (*target == Target::Any || matching.any(|(of, _)| of == target)) {
            return None;
        }
        let missing = target.name();
        let position = if path.starts_with('.') { "at or below this path" } else { "whose path ends in this" };
        let other = if exists { ", only items of another kind" } else { "" };
        Some(format!("`{option}` has no effect for {path:?}: the schema has no {missing} {position}{other}"))
    }

    fn add<const N: usize>(&mut self, targets: [Target; N], name: &str) {
        self.0.extend(targets.map(|target| (target, name.to_owned())));
    }

    fn add_item(&mut self, item: &Item<'_>, name: &str) {
        match *item {
            Item::Message(message) | Item::Field(message, _) if is_map_entry(message) => {}
            Item::Message(_) => self.add([Target::Type, Target::Message], name),
            Item::Field(message, field) => self.add_field(name, message, field),
            Item::Oneof => self.add([Target::Type, Target::Enum, Target::Field], name),
            Item::Enum(_) => self.add([Target::Type, Target::Enum], name),
            Item::Value => self.add([Target::Field], name),
            Item::Service => self.add([Target::Service], name),
            Item::Method(_) => self.add([Target::Method], name),
        }
    }

    /// Adds a field under all paths by which options select it. Some options select a oneof member by a path with the
    /// oneof, such as `Order.payment.card`. Others select it by a path without the oneof, such as `Order.card`.
    /// prost-build selects bytes in the values of a map by a path that ends in `value`, such as `Order.value`.
    fn add_field(&mut self, name: &str, message: &DescriptorProto, field: &FieldDescriptorProto) {
        let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
        let path = field_path(name, message, field);
        self.add([Target::Field], &path);
        if path != name {
            self.add([Target::Any], name);
        }
        if is_single_message(field) {
            self.add([Target::SingleMessage], &path);
        }
        if field.r#type() == Type::Bytes {
            self.add([Target::BytesField], name);
        }
        if field.r#type() == Type::String {
            self.add([Target::StringField], name);
        }
        if let Some(entry) = map_entry(message, field) {
            self.add([Target::MapField], name);
            match entry.field.iter().find(|field| field.name() == "value").map(FieldDescriptorProto::r#type) {
                Some(Type::Bytes) => self.add([Target::BytesField], &full_name(owner, "value")),
                Some(Type::String) => self.add([Target::StringField], name),
                _ => {}
            }
        }
    }
}

/// Returns the path by which prost-build selects the field `name`. The path of a oneof member contains the oneof, such
/// as `Order.payment.card`.
pub(crate) fn field_path(name: &str, message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let oneof = oneof_of(field).and_then(|at| message.oneof_decl.get(at));
    let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
    oneof.map_or_else(|| name.to_owned(), |oneof| full_name(&full_name(owner, oneof.name()), field.name()))
}

/// Returns whether a field is a message and neither repeated nor a map.
pub(crate) fn is_single_message(field: &FieldDescriptorProto) -> bool {
    field.r#type() == Type::Message && field.label() != Label::Repeated
}

fn map_entry<'a>(message: &'a DescriptorProto, field: &FieldDescriptorProto) -> Option<&'a DescriptorProto> {
    let name = field.type_name().rsplit('.').next().filter(|_| field.r#type() == Type::Message)?;
    message.nested_type.iter().find(|nested| is_map_entry(nested) && nested.name() == name)
}

#[cfg(test)]
mod tests {
    use super::{OptionPath, Target, path_matches, remarks};
    use crate::schema::Schema;
    use crate::schema::parse::adopt;

    const SCHEMA: &str = r#"
        syntax = "proto3";
        package a.b;
        message M {
            bytes data = 1;
            map<string, bytes> map = 2;
            oneof of { M member = 3; bytes raw = 4; }
            repeated M list = 5;
            E e = 6;
            optional int32 maybe = 7;
            string text = 8;
            map<string, string> texts = 9;
        }
        enum E { ZERO = 0; }
        service S { rpc Call(M) returns (M); }
    "#;

    fn schema() -> Schema {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.proto");
        std::fs::write(&file, SCHEMA).unwrap();
        adopt(protox::compile([&file], [folder.path()]).unwrap()).unwrap()
    }

    fn remark(target: Target, path: &str) -> Option<String> {
        remarks(&[OptionPath { option: "option", path: path.to_owned(), target }], &schema()).pop()
    }

    #[test]
    fn patterns_are_prefixes_suffixes_or_everything() {
        for pattern in [".", ".a", ".a.b", ".a.b.S", "S", "b.S", "a.b.S"] {
            assert!(path_matches(pattern, "a.b.S"), "{pattern}");
        }
        for pattern in [".b", ".a.b.S.T", ".a.b.SS", "a.b", ".S", "bS", "xS", ""] {
            assert!(!path_matches(pattern, "a.b.S"), "{pattern}");
        }
    }

    #[test]
    fn path_to_matching_element_gets_no_remark() {
        for (target, paths) in [
            (Target::Type, &["M", "E", "M.of", ".a", "."][..]),
            (Target::Message, &["M", ".a.b.M"]),
            (Target::Enum, &["E", "M.of"]),
            (Target::Field, &["M.data", "M.of.member", "of", "ZERO", "M.maybe", "list", ".a.b.M"]),
            (Target::BytesField, &["data", "M.raw", "M.value", ".a.b.M", "."]),
            (Target::StringField, &["text", "M.texts", ".a.b.M"]),
            (Target::MapField, &["map", ".a.b.M.map"]),
            (Target::SingleMessage, &["of.member", "M.of.member", ".a.b.M"]),
            (Target::Service, &["S", ".a.b"]),
            (Target::Method, &["S.Call", "Call", ".a.b.S"]),
            (Target::Any, &["S", "Call", "M.raw", "M.of.raw", "ZERO"]),
        ] {
            for path in paths {
                assert_eq!(remark(target, path), None, "{target:?} {path}");
            }
        }
    }

    #[test]
    fn unmatched_path_gets_remark() {
        for (target, paths) in [
            (Target::Type, &["S", "M.data", ".b"][..]),
            (Target::BytesField, &["M", "e", "map", "dat"]),
            (Target::StringField, &["data", "map", "key"]),
            (Target::MapField, &["data", ".a.b.S"]),
            (Target::SingleMessage, &["list", "M.member", "map", "maybe", "M.e", "of.raw"]),
            (Target::Service, &["M", "S.Call"]),
            (Target::Method, &["S", "M.data"]),
            (Target::Any, &["b", "call", ""]),
        ] {
            for path in paths {
                assert!(remark(target, path).is_some(), "{target:?} {path}");
            }
        }
    }

    #[test]
    fn remark_names_searched_kind_and_path() {
        assert_eq!(
            remark(Target::BytesField, ".a.b.Chunk.data").unwrap(),
            r#"`option` has no effect for ".a.b.Chunk.data": the schema has no bytes field at or below this path"#
        );
        assert_eq!(
            remark(Target::Message, "M.data").unwrap(),
            r#"`option` has no effect for "M.data": the schema has no message whose path ends in this, only items of another kind"#
        );
    }
}
