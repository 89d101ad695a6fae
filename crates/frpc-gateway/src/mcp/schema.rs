//! JSON Schemas of tools. Schemas in generated code refer to each other within one document, whereas the schema of a
//! tool must be self-contained.

use crate::json_rpc::envelope;
use crate::json_rpc::reply::{Quoted, put_json, put_list};
use frpc::json::{Options, Reader};
use std::collections::BTreeMap;

/// Start of a reference to another schema, as written in the JSON Schemas of generated code. A search for this text
/// finds only references. It finds none in copied comments, because quotation marks in JSON strings are escaped.
const REFERENCE: &str = "\"$ref\":\"#/components/schemas/";

/// Member of generated schemas that lists the fields a caller should set. It becomes `required` in the schema of
/// arguments. Schemas of results have no such member, because results omit default values.
const NEEDED: &str = "\"x-required\":";

/// Start of a reference to another schema within the schema of a tool.
const LOCAL: &str = "\"$ref\":\"#/$defs/";

/// JSON schemas of messages, by name.
type Schemas = [(&'static str, &'static str)];

/// JSON schema of a tool's arguments or result, adapted to the Model Context Protocol.
pub(super) struct Root {
    pub(super) json: String,
    /// Whether the message is not a JSON object and is therefore wrapped in a member `value`.
    pub(super) is_wrapped: bool,
    /// Names of the required members of the arguments.
    pub(super) required: Vec<String>,
}

/// Part of a tool that a schema describes: its arguments or its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Input,
    Output,
}

impl Side {
    /// Adapts a generated schema to the arguments or the result of a tool.
    fn adapt(self, schema: &str) -> String {
        let schema = schema.replace(REFERENCE, LOCAL);
        if self == Self::Input { schema.replace(NEEDED, "\"required\":") } else { schema }
    }
}

/// Returns the schema of a message. A message that is not a JSON object is wrapped in one.
pub(super) fn root(message: &str, schemas: &Schemas, side: Side) -> Root {
    let Some(schema) = find(message, schemas) else {
        return Root { json: r#"{"type":"object"}"#.to_owned(), is_wrapped: false, required: Vec::new() };
    };
    match object_members(schema) {
        Some(mut members) => {
            let mut required = Vec::new();
            if let Some(at) = members.iter().position(|(name, _)| name == "x-required") {
                match side {
                    Side::Input => {
                        required = strings(members[at].1);
                        members[at].0 = "required".to_owned();
                    }
                    Side::Output => drop(members.remove(at)),
                }
            }
            let mut json = Vec::new();
            json.push(b'{');
            put_list(&mut json, &members, |out, (name, value)| put_member(out, name, value, side));
            put_definitions(&mut json, members.iter().map(|(_, value)| *value), schemas, side);
            Root { json: text(json), is_wrapped: false, required }
        }
        None => {
            let json = with_member("value", schema, schema, schemas, side);
            Root { json, is_wrapped: true, required: Vec::new() }
        }
    }
}

/// Returns the schema of an object with a list of messages as its member `items`.
pub(super) fn list(message: &str, schemas: &Schemas) -> String {
    let schema = find(message, schemas).unwrap_or("{}");
    with_member("items", &format!(r#"{{"type":"array","items":{schema}}}"#), schema, schemas, Side::Output)
}

/// Returns the schema of an object with a single required member.
fn with_member(name: &str, schema: &str, of: &str, schemas: &Schemas, side: Side) -> String {
    let schema = side.adapt(schema);
    let mut json = format!(
        r#"{{"type":"object","properties":{{"{name}":{schema}}},"required":["{name}"],"additionalProperties":false"#
    )
    .into_bytes();
    put_definitions(&mut json, [of].into_iter(), schemas, side);
    text(json)
}

/// Appends all schemas that are referenced directly or indirectly, and the end of the object.
fn put_definitions<'a>(out: &mut Vec<u8>, texts: impl Iterator<Item = &'a str>, schemas: &Schemas, side: Side) {
    let mut found = BTreeMap::new();
    let mut open: Vec<&str> = texts.flat_map(references).collect();
    while let Some(name) = open.pop() {
        if let Some(schema) = find(name, schemas)
            && found.insert(name, schema).is_none()
        {
            open.extend(references(schema));
        }
    }
    if !found.is_empty() {
        out.extend_from_slice(b",\"$defs\":{");
        put_list(out, &found, |out, (name, schema)| put_member(out, name, schema, side));
        out.push(b'}');
    }
    out.push(b'}');
}

fn put_member(out: &mut Vec<u8>, name: &str, value: &str, side: Side) {
    put_json(out, format_args!("{}:{}", Quoted(name), side.adapt(value)));
}

/// Returns the names of the schemas that a schema references.
fn references(schema: &str) -> impl Iterator<Item = &str> {
    schema.split(REFERENCE).skip(1).filter_map(|rest| rest.split('"').next())
}

fn find(message: &str, schemas: &Schemas) -> Option<&'static str> {
    schemas.iter().find_map(|(name, schema)| (*name == message).then_some(*schema))
}

/// Returns the members of a schema that describes an object, or `None` if it allows other values.
///
/// Rules for members of oneofs are omitted. Some model APIs reject a tool with `allOf`, `anyOf` or `oneOf` at the root
/// of its schema, and with it the whole list of tools. The decoder checks these rules.
fn object_members(schema: &str) -> Option<Vec<(String, &str)>> {
    let mut members = Vec::new();
    let read = envelope::members(schema, |name, value| {
        members.push((name.to_owned(), value));
        Ok(())
    });
    read.ok()?;
    let kind = members.iter_mut().find(|(name, _)| name == "type")?;
    if !kind.1.split('"').any(|part| part == "object") || kind.1.contains("null") {
        return None;
    }
    kind.1 = "\"object\"";
    members.retain(|(name, _)| name != "allOf");
    Some(members)
}

/// Returns the strings in a JSON array.
fn strings(list: &str) -> Vec<String> {
    let mut strings = Vec::new();
    // Ignore the result: reading cannot fail, because `list` is a list of strings in generated code.
    let _ = Reader::new(list.as_bytes(), &Options::new()).and_then(|mut reader| {
        reader.array(|reader| {
            strings.push(reader.string("name")?.into_owned());
            Ok(())
        })
    });
    strings
}

fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMAS: &Schemas = &[
        (
            "a.Node",
            r##"{"type":"object","properties":{"next":{"$ref":"#/components/schemas/a.Node"},"kind":{"allOf":[{"$ref":"#/components/schemas/a.Kind"}],"description":"see \"$ref\":\"#/components/schemas/x"}},"additionalProperties":false,"allOf":[{"oneOf":[]}],"description":"A node."}"##,
        ),
        ("a.Kind", r#"{"type":"string","enum":["A"]}"#),
        ("a.Image", r#"{"type":["object","string"],"properties":{}}"#),
        ("google.protobuf.StringValue", r#"{"type":"string"}"#),
        ("google.protobuf.Value", r#"{"type":["null","number","string","boolean","object","array"]}"#),
        ("a.Other", r#"{"type":"object"}"#),
        (
            "a.Order",
            r##"{"type":"object","properties":{"line":{"$ref":"#/components/schemas/a.Line"}},"x-required":["number"]}"##,
        ),
        ("a.Line", r#"{"type":"object","x-required":["id"]}"#),
    ];

    #[test]
    fn tool_schema_has_only_used_definitions() {
        let Root { json, is_wrapped, .. } = root("a.Node", SCHEMAS, Side::Output);
        let expected = r##"{"type":"object","properties":{"next":{"$ref":"#/$defs/a.Node"},"kind":{"allOf":[{"$ref":"#/$defs/a.Kind"}],"description":"see \"$ref\":\"#/components/schemas/x"}},"additionalProperties":false,"description":"A node.","$defs":{"a.Kind":{"type":"string","enum":["A"]},"a.Node":"##;
        assert!(!is_wrapped && json.starts_with(expected), "{json}");
        assert!(json.ends_with(r#""allOf":[{"oneOf":[]}],"description":"A node."}}}"#), "{json}");
        assert_eq!(root("a.Other", SCHEMAS, Side::Input).json, r#"{"type":"object"}"#);
        assert_eq!(root("a.Unknown", SCHEMAS, Side::Input).json, r#"{"type":"object"}"#);
    }

    #[test]
    fn fields_without_presence_are_required_in_arguments() {
        let input = root("a.Order", SCHEMAS, Side::Input);
        assert_eq!(input.required, ["number"]);
        assert!(input.json.contains(r#""required":["number"]"#), "{}", input.json);
        assert!(input.json.contains(r#"{"a.Line":{"type":"object","required":["id"]}}"#), "{}", input.json);
        let output = root("a.Order", SCHEMAS, Side::Output).json;
        assert!(!output.contains(r#""required""#), "{output}");
    }

    #[test]
    fn non_object_schema_is_wrapped() {
        let Root { json, is_wrapped, .. } = root("google.protobuf.StringValue", SCHEMAS, Side::Input);
        let expected = r#"{"type":"object","properties":{"value":{"type":"string"}},"required":["value"],"additionalProperties":false}"#;
        assert!(is_wrapped);
        assert_eq!(json, expected);
        assert!(root("google.protobuf.Value", SCHEMAS, Side::Input).is_wrapped);
        let image = root("a.Image", SCHEMAS, Side::Input);
        assert_eq!((image.json.as_str(), image.is_wrapped), (r#"{"type":"object","properties":{}}"#, false));
    }

    #[test]
    fn stream_schema_is_list_in_object() {
        let json = list("a.Node", SCHEMAS);
        assert!(
            json.starts_with(r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","#)
        );
        assert!(json.contains(r##""next":{"$ref":"#/$defs/a.Node"}"##) && json.contains(r#""$defs":{"a.Kind":"#));
    }
}
