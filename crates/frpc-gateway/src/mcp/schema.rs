//! JSON Schemas of tools. Those of generated code refer to each other in one document; a tool has each of its two in a
//! document of its own.

use crate::json_rpc::reply::{put_list, put_text as put};
use frpc::json::{DecodeError, Options, Reader};
use std::collections::BTreeMap;

/// The place of other schemas in generated code, with the member that refers to it. Quotation marks within a string are
/// escaped, so no comment contains it.
const REFERENCE: &str = "\"$ref\":\"#/components/schemas/";

/// Their place in the schema of a tool.
const LOCAL: &str = "\"$ref\":\"#/$defs/";

/// The schemas of messages by name.
type Schemas = [(&'static str, &'static str)];

/// A message as a tool takes or returns it.
pub(super) struct Root {
    pub(super) json: String,
    /// The JSON of the message is no object, so it is the member `value` of one.
    pub(super) is_wrapped: bool,
}

/// The schema of a message, which has to be that of an object.
pub(super) fn root(message: &str, schemas: &Schemas) -> Root {
    let Some(schema) = find(message, schemas) else {
        return Root { json: r#"{"type":"object"}"#.to_owned(), is_wrapped: false };
    };
    match object_members(schema) {
        Some(members) => {
            let mut json = Vec::new();
            json.push(b'{');
            put_list(&mut json, &members, |out, (name, value)| {
                put(out, name);
                out.push(b':');
                out.extend_from_slice(value.replace(REFERENCE, LOCAL).as_bytes());
            });
            put_definitions(&mut json, members.iter().map(|(_, value)| *value), schemas);
            Root { json: text(json), is_wrapped: false }
        }
        None => Root { json: with_member("value", schema, schema, schemas), is_wrapped: true },
    }
}

/// The schema of several messages, the member `items` of an object.
pub(super) fn list(message: &str, schemas: &Schemas) -> String {
    let schema = find(message, schemas).unwrap_or("{}");
    with_member("items", &format!(r#"{{"type":"array","items":{schema}}}"#), schema, schemas)
}

/// An object with one member, which is required.
fn with_member(name: &str, schema: &str, of: &str, schemas: &Schemas) -> String {
    let schema = schema.replace(REFERENCE, LOCAL);
    let mut json = format!(
        r#"{{"type":"object","properties":{{"{name}":{schema}}},"required":["{name}"],"additionalProperties":false"#
    )
    .into_bytes();
    put_definitions(&mut json, [of].into_iter(), schemas);
    text(json)
}

/// Appends the schemas to which these texts refer, with those to which they refer themselves, and the end of the object.
fn put_definitions<'a>(out: &mut Vec<u8>, texts: impl Iterator<Item = &'a str>, schemas: &Schemas) {
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
        put_list(out, &found, |out, (name, schema)| {
            put(out, name);
            out.push(b':');
            out.extend_from_slice(schema.replace(REFERENCE, LOCAL).as_bytes());
        });
        out.push(b'}');
    }
    out.push(b'}');
}

/// The names that a schema references.
fn references(schema: &str) -> impl Iterator<Item = &str> {
    schema.split(REFERENCE).skip(1).filter_map(|rest| rest.split('"').next())
}

fn find(message: &str, schemas: &Schemas) -> Option<&'static str> {
    schemas.iter().find_map(|(name, schema)| (*name == message).then_some(*schema))
}

/// The members of a schema whose values can be objects; `None` if they cannot. An object is required then.
///
/// The rules for members of oneofs are left out: some models' APIs refuse a tool with `allOf`, `anyOf` or `oneOf` at the
/// root of its schema, and with it the whole list. The decoder checks them.
fn object_members(schema: &str) -> Option<Vec<(String, &str)>> {
    let mut members = Vec::new();
    let read = || -> Result<(), DecodeError> {
        let mut reader = Reader::new(schema.as_bytes(), &Options::new().nesting_max(u32::MAX))?;
        reader.object(|name, reader| {
            members.push((name.to_owned(), reader.raw()?));
            Ok(())
        })
    };
    let mut read = read;
    read().ok()?;
    let kind = members.iter_mut().find(|(name, _)| name == "type")?;
    if !kind.1.split('"').any(|part| part == "object") || kind.1.contains("null") {
        return None;
    }
    kind.1 = "\"object\"";
    members.retain(|(name, _)| name != "allOf");
    Some(members)
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
    ];

    #[test]
    fn schema_of_a_tool_has_its_references_alone() {
        let Root { json, is_wrapped } = root("a.Node", SCHEMAS);
        let expected = r##"{"type":"object","properties":{"next":{"$ref":"#/$defs/a.Node"},"kind":{"allOf":[{"$ref":"#/$defs/a.Kind"}],"description":"see \"$ref\":\"#/components/schemas/x"}},"additionalProperties":false,"description":"A node.","$defs":{"a.Kind":{"type":"string","enum":["A"]},"a.Node":"##;
        assert!(!is_wrapped && json.starts_with(expected), "{json}");
        assert!(json.ends_with(r#""allOf":[{"oneOf":[]}],"description":"A node."}}}"#), "{json}");
        assert_eq!(root("a.Other", SCHEMAS).json, r#"{"type":"object"}"#);
        assert_eq!(root("a.Unknown", SCHEMAS).json, r#"{"type":"object"}"#);
    }

    #[test]
    fn message_that_is_no_object_becomes_a_member() {
        let Root { json, is_wrapped } = root("google.protobuf.StringValue", SCHEMAS);
        let expected = r#"{"type":"object","properties":{"value":{"type":"string"}},"required":["value"],"additionalProperties":false}"#;
        assert!(is_wrapped);
        assert_eq!(json, expected);
        assert!(root("google.protobuf.Value", SCHEMAS).is_wrapped);
        let image = root("a.Image", SCHEMAS);
        assert_eq!((image.json.as_str(), image.is_wrapped), (r#"{"type":"object","properties":{}}"#, false));
    }

    #[test]
    fn several_messages_are_a_list_in_an_object() {
        let json = list("a.Node", SCHEMAS);
        assert!(
            json.starts_with(r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","#)
        );
        assert!(json.contains(r##""next":{"$ref":"#/$defs/a.Node"}"##) && json.contains(r#""$defs":{"a.Kind":"#));
    }
}
