//! The answer to `rpc.discover`: an OpenRPC document of the server's methods.
//!
//! It states what generated code knows: names, kinds and the fields of messages in JSON, in the order in which params
//! are given by position. The types of fields are in the schema alone.

use frpc::json::to_json;
use frpc::{CallKind, ForeignMethod, ForeignMethods};

/// The version of OpenRPC's specification.
const OPENRPC: &str = "1.3.2";

/// Appends the document.
pub(super) fn put_document(out: &mut Vec<u8>, methods: &ForeignMethods) {
    out.extend_from_slice(b"{\"openrpc\":");
    put(out, OPENRPC);
    out.extend_from_slice(b",\"info\":{\"title\":\"frpc\",\"version\":");
    put(out, env!("CARGO_PKG_VERSION"));
    out.extend_from_slice(b"},\"methods\":[");
    let mut is_first = true;
    for method in methods.iter().filter(|method| method.formats().contains(&"json")) {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        put_method(out, &method);
    }
    out.extend_from_slice(b"]}");
}

fn put_method(out: &mut Vec<u8>, method: &ForeignMethod) {
    out.extend_from_slice(b"{\"name\":");
    put(out, &format!("{}/{}", method.service(), method.name()));
    out.extend_from_slice(b",\"paramStructure\":\"either\",\"params\":[");
    let [request, response] = method.messages();
    let takes_items = matches!(method.kind(), CallKind::ClientStreaming | CallKind::Streaming);
    let fields = method.request_fields("json").unwrap_or_default();
    for (index, field) in fields.iter().filter(|_| !takes_items).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        // The name is as it stands between quotation marks.
        out.extend_from_slice(b"{\"name\":\"");
        out.extend_from_slice(field.as_bytes());
        out.extend_from_slice(b"\",\"schema\":{}}");
    }
    out.extend_from_slice(b"],\"result\":{\"name\":");
    put(out, response);
    out.extend_from_slice(b",\"schema\":{}},\"x-request\":");
    put(out, request);
    out.extend_from_slice(b",\"x-kind\":");
    put(out, kind(method.kind()));
    out.push(b'}');
}

fn kind(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Unary => "unary",
        CallKind::ServerStreaming => "server-streaming",
        CallKind::ClientStreaming => "client-streaming",
        CallKind::Streaming => "streaming",
    }
}

/// Appends a string, which always has a form in JSON.
fn put(out: &mut Vec<u8>, text: &str) {
    if to_json(&text.to_owned(), out).is_err() {
        out.extend_from_slice(b"\"\"");
    }
}
