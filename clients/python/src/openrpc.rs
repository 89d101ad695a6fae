//! JSON Schemas of messages for the reply to `rpc.discover`. They describe the JSON written by `json.rs`, and refer to
//! each other at `#/components/schemas/`.

use frpc_dynamic::MessageDescriptor;
use prost_reflect::{FieldDescriptor, Kind, MethodDescriptor};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const INTEGER_TEXT: &str = r#""type":"string","pattern":"^-?[0-9]+$""#;
const UNSIGNED_TEXT: &str = r#""type":"string","pattern":"^[0-9]+$""#;
const INT32: &str = r#""type":"integer","minimum":-2147483648,"maximum":2147483647"#;
const UINT32: &str = r#""type":"integer","minimum":0,"maximum":4294967295"#;
const FLOAT: &str = r#""anyOf":[{"type":"number"},{"enum":["NaN","Infinity","-Infinity"]}]"#;
const BYTES: &str = r#""type":"string","contentEncoding":"base64""#;
const TIMESTAMP: &str = r#""type":"string","format":"date-time""#;
const DURATION: &str = r#""type":"string","pattern":"^-?[0-9]+(\\.[0-9]+)?s$""#;

/// Returns the comment on a method in the schema.
pub(crate) fn comment(method: &MethodDescriptor) -> String {
    let file = method.parent_file();
    let info = file.file_descriptor_proto().source_code_info.iter().flat_map(|info| &info.location);
    let location = info.into_iter().find(|location| location.path == method.path());
    let comment = location.map(|location| location.leading_comments().to_owned()).unwrap_or_default();
    let lines: Vec<&str> = comment.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the JSON Schemas of a method's messages, including nested ones, by full name.
pub(crate) fn schemas(method: &MethodDescriptor) -> Vec<(&'static str, &'static str)> {
    let mut open = vec![method.input(), method.output()];
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    while let Some(message) = open.pop() {
        if !found.contains_key(message.full_name()) {
            let schema = message_schema(&message, &mut open);
            found.insert(message.full_name().to_owned(), schema);
        }
    }
    found.into_iter().map(|(name, schema)| (&*name.leak(), &*schema.leak())).collect()
}

fn message_schema(message: &MessageDescriptor, open: &mut Vec<MessageDescriptor>) -> String {
    let well_known = match message.full_name() {
        "google.protobuf.Timestamp" => Some(TIMESTAMP.to_owned()),
        "google.protobuf.Duration" => Some(DURATION.to_owned()),
        "google.protobuf.FieldMask" => Some(r#""type":"string""#.to_owned()),
        "google.protobuf.Any" | "google.protobuf.Struct" => Some(r#""type":"object""#.to_owned()),
        "google.protobuf.ListValue" => Some(r#""type":"array""#.to_owned()),
        // A `Value` accepts any JSON value.
        "google.protobuf.Value" => Some(String::new()),
        // A wrapper message is represented by its value.
        name if name.starts_with("google.protobuf.") && name.ends_with("Value") && message.fields().len() == 1 => {
            message.get_field(1).map(|field| field_schema(&field, open))
        }
        _ => None,
    };
    if let Some(schema) = well_known {
        return format!("{{{schema}}}");
    }
    let mut properties = String::new();
    for (at, field) in message.descriptor_proto().field.iter().enumerate() {
        let field = u32::try_from(field.number()).ok().and_then(|number| message.get_field(number));
        let Some(field) = field else { continue };
        if at > 0 {
            properties.push(',');
        }
        // Escape the name, because `json_name` may set characters that JSON does not allow.
        let name = field.json_name().replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(properties, "\"{name}\":{{{}}}", field_schema(&field, open)); // Cannot fail.
    }
    format!(r#"{{"type":"object","properties":{{{properties}}},"additionalProperties":false}}"#)
}

fn field_schema(field: &FieldDescriptor, open: &mut Vec<MessageDescriptor>) -> String {
    if let Kind::Message(entry) = field.kind()
        && field.is_map()
    {
        let value = value_schema(&entry.map_entry_value_field().kind(), open);
        return format!(r#""type":"object","additionalProperties":{{{value}}}"#);
    }
    let value = value_schema(&field.kind(), open);
    if field.is_list() { format!(r#""type":"array","items":{{{value}}}"#) } else { value }
}

fn value_schema(kind: &Kind, open: &mut Vec<MessageDescriptor>) -> String {
    match kind {
        Kind::Bool => r#""type":"boolean""#,
        Kind::String => r#""type":"string""#,
        Kind::Bytes => BYTES,
        Kind::Float | Kind::Double => FLOAT,
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => INT32,
        Kind::Uint32 | Kind::Fixed32 => UINT32,
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => INTEGER_TEXT,
        Kind::Uint64 | Kind::Fixed64 => UNSIGNED_TEXT,
        Kind::Enum(descriptor) => {
            let names: Vec<String> = descriptor.values().map(|value| format!("\"{}\"", value.name())).collect();
            return format!(r#""anyOf":[{{"enum":[{}]}},{{{INT32}}}]"#, names.join(","));
        }
        Kind::Message(message) => {
            open.push(message.clone());
            return format!("\"$ref\":\"#/components/schemas/{}\"", message.full_name());
        }
    }
    .to_owned()
}
