//! Reply to `rpc.discover`: an OpenRPC document of the server's methods.
//!
//! The document is derived from generated code. It contains the names, kinds and comments of methods, the fields of
//! requests in the order of positional params, and the schemas of messages in a common section.

use super::reply::{Quoted, put_json, put_list};
use super::session::NAMED as FORMAT;
use frpc::json::from_json;
use frpc::{AdapterMethod, AdapterMethods, CallKind, Metadata, Status};
use std::collections::BTreeMap;

/// Version of the OpenRPC specification.
const OPENRPC: &str = "1.3.2";

/// Path of the message schemas within the OpenRPC document.
const SCHEMAS: &str = "#/components/schemas/";

/// JSON schemas of messages, by name.
type Schemas = BTreeMap<&'static str, &'static str>;

/// Fails unless the caller is permitted to call at least one method.
pub(super) fn check_access(methods: &AdapterMethods, metadata: &Metadata) -> Result<(), Status> {
    methods.check_caller(metadata)?;
    let mut refused = None;
    for method in methods.iter() {
        match method.check_access(metadata) {
            Ok(()) => return Ok(()),
            Err(status) => refused = Some(status),
        }
    }
    refused.map_or(Ok(()), Err)
}

/// Encodes the OpenRPC document of the server's methods.
pub(super) fn document(methods: &AdapterMethods) -> Vec<u8> {
    let methods: Vec<_> = methods.iter().filter(|method| method.formats().contains(&FORMAT)).collect();
    let schemas: Schemas = methods.iter().flat_map(|method| method.message_schemas(FORMAT)).copied().collect();
    let version = env!("CARGO_PKG_VERSION");
    let info = format!(r#"{{"title":"frpc","version":"{version}"}}"#);
    let mut out = format!(r#"{{"openrpc":"{OPENRPC}","info":{info},"methods":["#).into_bytes();
    put_list(&mut out, &methods, |out, method| put_method(out, method, &schemas));
    out.extend_from_slice(b"],\"components\":{\"schemas\":{");
    put_list(&mut out, &schemas, |out, (name, schema)| put_json(out, format_args!(r#""{name}":{schema}"#)));
    out.extend_from_slice(b"}}}");
    out
}

fn put_method(out: &mut Vec<u8>, method: &AdapterMethod, schemas: &Schemas) {
    put_json(out, format_args!(r#"{{"name":"{}/{}""#, method.service(), method.name()));
    let comment = method.comment(FORMAT);
    if !comment.is_empty() {
        put_json(out, format_args!(r#","description":{}"#, Quoted(comment)));
    }
    out.extend_from_slice(b",\"paramStructure\":\"either\",\"params\":[");
    let [request, response] = method.messages();
    let takes_items = matches!(method.kind(), CallKind::ClientStreaming | CallKind::Streaming);
    let fields = method.request_fields(FORMAT).unwrap_or_default();
    put_list(out, fields.iter().filter(|_| !takes_items), |out, field| {
        // Field names are already escaped.
        put_json(out, format_args!(r#"{{"name":"{field}","schema":"#));
        let field = unescaped(field);
        put_reference(out, schemas, request, &format!("/properties/{}", pointer(&field)));
        out.push(b'}');
    });
    put_json(out, format_args!(r#"],"result":{{"name":"{response}","schema":"#));
    put_reference(out, schemas, response, "");
    put_json(out, format_args!(r#"}},"x-request":"{request}","x-kind":"{}"}}"#, kind(method.kind())));
}

/// Appends a `$ref` to a part of a message's schema, or an empty schema if the message has none.
fn put_reference(out: &mut Vec<u8>, schemas: &Schemas, message: &str, part: &str) {
    if !schemas.contains_key(message) {
        return out.extend_from_slice(b"{}");
    }
    put_json(out, format_args!(r#"{{"$ref":"{SCHEMAS}{message}{part}"}}"#));
}

/// Removes JSON escapes from a name.
fn unescaped(name: &str) -> String {
    from_json(format!("\"{name}\"").as_bytes()).unwrap_or_default()
}

/// Encodes a name for use in a JSON pointer within a URL fragment.
fn pointer(name: &str) -> String {
    let mut pointer = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'~' => pointer.push_str("~0"),
            b'/' => pointer.push_str("~1"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => pointer.push(char::from(byte)),
            _ => pointer.push_str(&format!("%{byte:02X}")),
        }
    }
    pointer
}

fn kind(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Unary => "unary",
        CallKind::ServerStreaming => "server-streaming",
        CallKind::ClientStreaming => "client-streaming",
        CallKind::Streaming => "streaming",
    }
}

#[cfg(test)]
mod tests {
    use super::{pointer, unescaped};

    #[test]
    fn pointer_escapes_special_name_characters() {
        assert_eq!(pointer(&unescaped("fooBar_2")), "fooBar_2");
        assert_eq!(pointer(&unescaped(r#"a/b~\"c d\u00e9"#)), "a~1b~0%22c%20d%C3%A9");
    }
}
