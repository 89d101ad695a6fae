//! JSON Schemas (draft 7) of messages in the JSON mapping, for service documents such as OpenRPC.
//!
//! A schema describes the JSON that frpc writes. Readers accept more, such as original field names and `null` for an
//! absent field. Schemas refer to each other by their paths in the service document.
//!
//! Functions that return "JSON Schema members" return the content of a JSON object without its braces, such as
//! `"type":"string"`.

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::{Label, Type as ProtoType};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use super::json::escaped;
use super::messages::map_value;
use crate::schema::externs::{Externs, NULL_VALUE, Owner, has_json_form};
use crate::schema::wire_order::oneof_of;
use crate::schema::{FoundDescriptor, Index, comments, location, tag, within};

/// Prefix of `$ref` references to the schemas of messages and enums within a JSON document.
const DEFINITIONS: &str = "#/components/schemas/";

/// JSON Schema members for a 64-bit signed integer, which JSON represents as a string.
const INTEGER_TEXT: &str = r#""type":"string","pattern":"^-?[0-9]+$""#;

/// JSON Schema members for a 64-bit unsigned integer, which JSON represents as a string.
const UNSIGNED_TEXT: &str = r#""type":"string","pattern":"^[0-9]+$""#;

const INT32: &str = r#""type":"integer","minimum":-2147483648,"maximum":2147483647"#;
const UINT32: &str = r#""type":"integer","minimum":0,"maximum":4294967295"#;
const FLOAT: &str = r#""anyOf":[{"type":"number"},{"enum":["NaN","Infinity","-Infinity"]}]"#;
const BYTES: &str = r#""type":"string","contentEncoding":"base64""#;

/// Generator of the comments and JSON Schemas that are embedded in generated services.
pub(crate) struct JsonSchemas<'a> {
    index: &'a Index<'a>,
    externs: &'a Externs,
}

impl<'a> JsonSchemas<'a> {
    pub(crate) fn new(index: &'a Index<'a>, externs: &'a Externs) -> Self {
        Self { index, externs }
    }

    /// Returns the JSON Schemas of these messages and of all messages and enums that they use, by full name.
    pub(crate) fn of_messages<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> BTreeMap<String, String> {
        let mut open: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let mut schemas = BTreeMap::new();
        while let Some(name) = open.pop() {
            let key = name.trim_start_matches('.').to_owned();
            if schemas.contains_key(&key) {
                continue;
            }
            let schema = match (self.index.messages.get(&name), self.index.enums.get(&name)) {
                (Some(found), _) => self.message(&name, found, &mut open),
                (None, Some(found)) => enumeration(found),
                (None, None) => continue,
            };
            schemas.insert(key, format!("{{{schema}}}"));
        }
        schemas
    }

    /// Returns the JSON Schema members of a message. Adds the names of the types that the message uses to `open`.
    fn message(&self, full_name: &str, found: &FoundDescriptor<'_, DescriptorProto>, open: &mut Vec<String>) -> String {
        let FoundDescriptor { file, path, proto } = found;
        let comment = described(&comment_at(file, path));
        if let Some(schema) = has_json_form(full_name).and_then(well_known) {
            return format!("{schema}{comment}");
        }
        let mut properties = Vec::new();
        for (at, field) in proto.field.iter().enumerate() {
            let comment = described(&comment_at(file, &within(path, tag::MESSAGE_FIELD, at)));
            let schema = self.field(full_name, field, open);
            // JSON Schema ignores members next to a reference.
            let schema = match comment.as_str() {
                "" => schema,
                comment if schema.starts_with(r#""$ref""#) => format!(r#""allOf":[{{{schema}}}]{comment}"#),
                comment => format!("{schema}{comment}"),
            };
            properties.push(format!(r#""{}":{{{schema}}}"#, escaped(field.json_name())));
        }
        // frpc's tensors and images can also be written as strings, and tensors as arrays.
        let forms = match full_name {
            _ if self.externs.owner(full_name) != Some(Owner::Frpc) => r#""object""#,
            ".frpc.Tensor" => r#"["object","array","string"]"#,
            _ => r#"["object","string"]"#,
        };
        let properties = properties.join(",");
        let (needed, oneofs) = (needed(proto), one_of_each(proto));
        format!(r#""type":{forms},"properties":{{{properties}}},"additionalProperties":false{needed}{oneofs}{comment}"#)
    }

    /// Returns the JSON Schema members of a field, including members for lists and maps.
    fn field(&self, message: &str, field: &FieldDescriptorProto, open: &mut Vec<String>) -> String {
        if message == ".frpc.Tensor" && field.name() == "data" && self.externs.owner(message) == Some(Owner::Frpc) {
            return format!(r#""anyOf":[{{{BYTES}}},{{"type":"array"}}]"#);
        }
        if let Some(value) = map_value(field, self.index) {
            let value = self.value(value, open);
            let key = self.index.messages.get(field.type_name()).and_then(|entry| entry.proto.field.first());
            let names = match key.map(FieldDescriptorProto::r#type) {
                None | Some(ProtoType::String) => "",
                Some(ProtoType::Bool) => r#","propertyNames":{"enum":["true","false"]}"#,
                Some(_) => r#","propertyNames":{"pattern":"^-?[0-9]+$"}"#,
            };
            return format!(r#""type":"object","additionalProperties":{{{value}}}{names}"#);
        }
        let value = self.value(field, open);
        if field.label() == Label::Repeated { format!(r#""type":"array","items":{{{value}}}"#) } else { value }
    }

    /// Returns the JSON Schema members of a single value of a field. For a list, this is the schema of an element.
    fn value(&self, field: &FieldDescriptorProto, open: &mut Vec<String>) -> String {
        let schema = match field.r#type() {
            ProtoType::Double | ProtoType::Float => FLOAT,
            ProtoType::Int64 | ProtoType::Sint64 | ProtoType::Sfixed64 => INTEGER_TEXT,
            ProtoType::Uint64 | ProtoType::Fixed64 => UNSIGNED_TEXT,
            ProtoType::Int32 | ProtoType::Sint32 | ProtoType::Sfixed32 => INT32,
            ProtoType::Uint32 | ProtoType::Fixed32 => UINT32,
            ProtoType::Bool => r#""type":"boolean""#,
            ProtoType::String => r#""type":"string""#,
            ProtoType::Bytes => BYTES,
            ProtoType::Enum if field.type_name() == NULL_VALUE => r#""type":"null""#,
            ProtoType::Enum | ProtoType::Message | ProtoType::Group => {
                let name = field.type_name();
                open.push(name.to_owned());
                return format!(r#""$ref":"{DEFINITIONS}{}""#, name.trim_start_matches('.'));
            }
        };
        schema.to_owned()
    }
}

/// Returns the comment on the item at a descriptor path, or an empty string.
pub(super) fn comment_at(file: &FileDescriptorProto, path: &[i32]) -> String {
    let comments = location(file, path).into_iter().flat_map(comments);
    comments.map(plain_text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the JSON Schema members of an enum. They accept the names of its values and, for values without a name,
/// numbers.
fn enumeration(found: &FoundDescriptor<'_, EnumDescriptorProto>) -> String {
    let FoundDescriptor { file, path, proto } = found;
    let mut text = comment_at(file, path);
    for (at, value) in proto.value.iter().enumerate() {
        let comment = comment_at(file, &within(path, tag::ENUM_VALUE, at));
        if !comment.is_empty() {
            let line_feed = if text.is_empty() { "" } else { "\n" };
            text += &format!("{line_feed}{}: {comment}", value.name());
        }
    }
    let names: Vec<_> = proto.value.iter().map(|value| format!("\"{}\"", value.name())).collect();
    let (names, comment) = (names.join(","), described(&text));
    format!(r#""anyOf":[{{"type":"string","enum":[{names}]}},{{{INT32}}}]{comment}"#)
}

/// Returns the JSON Schema members of a well-known type, given its name without the package, such as `Duration`.
fn well_known(name: &str) -> Option<&'static str> {
    Some(match name {
        "Any" => r#""type":"object","properties":{"@type":{"type":"string"}}"#,
        "Duration" => r#""type":"string","pattern":"^-?[0-9]+(\\.[0-9]{1,9})?s$""#,
        "Empty" => r#""type":"object","additionalProperties":false"#,
        "FieldMask" | "StringValue" => r#""type":"string""#,
        "ListValue" => r#""type":"array""#,
        "Struct" => r#""type":"object""#,
        "Timestamp" => r#""type":"string","format":"date-time""#,
        "Value" => r#""type":["null","number","string","boolean","object","array"]"#,
        "DoubleValue" | "FloatValue" => FLOAT,
        "Int64Value" => INTEGER_TEXT,
        "UInt64Value" => UNSIGNED_TEXT,
        "Int32Value" => INT32,
        "UInt32Value" => UINT32,
        "BoolValue" => r#""type":"boolean""#,
        "BytesValue" => BYTES,
        _ => return None,
    })
}

/// Returns an `x-required` member with the fields that an agent's tool call must contain: numbers, strings and bytes
/// without presence. Enums and bools are optional, because their zero value usually means absence.
fn needed(proto: &DescriptorProto) -> String {
    let is_needed = |field: &&FieldDescriptorProto| {
        let has_presence = field.proto3_optional() || field.oneof_index.is_some();
        let has_zero = matches!(field.r#type(), ProtoType::Enum | ProtoType::Bool);
        let is_message = matches!(field.r#type(), ProtoType::Message | ProtoType::Group);
        !has_presence && !has_zero && !is_message && field.label() != Label::Repeated
    };
    let needed = proto.field.iter().filter(is_needed).map(|field| format!("\"{}\"", escaped(field.json_name())));
    let needed: Vec<_> = needed.collect();
    if needed.is_empty() { String::new() } else { format!(r#","x-required":[{}]"#, needed.join(",")) }
}

/// Returns the JSON Schema constraint that at most one member of each oneof is present.
fn one_of_each(proto: &DescriptorProto) -> String {
    let mut rules = Vec::new();
    for oneof in 0..proto.oneof_decl.len() {
        let members = proto.field.iter().filter(|field| oneof_of(field) == Some(oneof));
        let required: Vec<_> =
            members.map(|member| format!(r#"{{"required":["{}"]}}"#, escaped(member.json_name()))).collect();
        if required.len() > 1 {
            let required = required.join(",");
            rules.push(format!(r#"{{"oneOf":[{required},{{"not":{{"anyOf":[{required}]}}}}]}}"#));
        }
    }
    if rules.is_empty() { String::new() } else { format!(r#","allOf":[{}]"#, rules.join(",")) }
}

/// Returns a comment as a `description` member preceded by a comma, or an empty string.
fn described(comment: &str) -> String {
    if comment.is_empty() { String::new() } else { format!(r#","description":"{}""#, escaped(comment)) }
}

/// Removes the leading space of each line, trailing spaces, and surrounding blank lines from a comment.
fn plain_text(comment: &str) -> String {
    let lines = comment.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn plain_comment_keeps_lines_without_marks() {
        assert_eq!(plain_text(" One.\n Two:\n   * three\n\n"), "One.\nTwo:\n  * three");
        assert_eq!(plain_text("\n"), "");
    }
}
