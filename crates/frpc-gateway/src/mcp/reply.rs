//! Encodes the results of Model Context Protocol requests.

use super::settings::Mcp;
use super::tools::ResultShape;
use crate::json_rpc::reply::{Quoted, begin_result, end_result, put_json, put_list, put_status, put_text as put};
use frpc::Status;

/// Supported versions of the Model Context Protocol, newest first.
pub(crate) const VERSIONS: [&str; 3] = [MODERN, LEGACY, "2025-06-18"];

/// First protocol version without `initialize`.
pub(crate) const MODERN: &str = "2026-07-28";

/// Last protocol version with `initialize`.
const LEGACY: &str = "2025-11-25";

/// How long clients may cache the list of tools. Long, because a running server's services do not change.
const LIST_TTL_MS: u32 = 300_000;

/// Revision of the Model Context Protocol that a request uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Revision {
    /// Protocol versions up to 2025-11-25.
    Legacy,
    /// Protocol versions from 2026-07-28 on.
    Modern,
}

/// Appends the reply to `initialize`. It contains the requested version if supported, otherwise the last version with
/// `initialize`.
pub(crate) fn put_initialized(out: &mut Vec<u8>, id: &[u8], mcp: &Mcp, requested: Option<&str>) {
    let version = VERSIONS.into_iter().find(|version| *version != MODERN && Some(*version) == requested);
    let (version, server, instructions) = (Quoted(version.unwrap_or(LEGACY)), server(mcp), instructions(mcp));
    begin_result(out, id);
    let capabilities = r#"{"tools":{}}"#;
    put_json(
        out,
        format_args!(
            r#"{{"protocolVersion":{version},"capabilities":{capabilities},"serverInfo":{server}{instructions}}}"#
        ),
    );
    end_result(out, None);
}

/// Appends the reply to `server/discover`.
pub(crate) fn put_discovered(out: &mut Vec<u8>, id: &[u8], mcp: &Mcp) {
    begin_result(out, id);
    out.extend_from_slice(b"{\"supportedVersions\":[");
    put_list(out, VERSIONS, put);
    put_json(out, format_args!(r#"],"capabilities":{{"tools":{{}}}}{}"#, instructions(mcp)));
    put_cache(out);
    end_object(out, mcp, Revision::Modern);
    end_result(out, None);
}

/// Appends the cache hints of a result. Shared caches are excluded, because the result depends on the caller's
/// permissions.
pub(crate) fn put_cache(out: &mut Vec<u8>) {
    put_json(out, format_args!(r#","ttlMs":{LIST_TTL_MS},"cacheScope":"private""#));
}

/// Appends the members that end every MCP result, and the end of the object.
pub(crate) fn end_object(out: &mut Vec<u8>, mcp: &Mcp, revision: Revision) {
    if revision == Revision::Modern {
        let server = server(mcp);
        put_json(out, format_args!(r#","resultType":"complete","_meta":{{"{SERVER_INFO}":{server}}}"#));
    }
    out.push(b'}');
}

/// Member of `_meta` that describes the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn server(mcp: &Mcp) -> String {
    format!(r#"{{"name":{},"version":{}}}"#, Quoted(&mcp.name), Quoted(&mcp.version))
}

fn instructions(mcp: &Mcp) -> String {
    mcp.instructions.as_ref().map_or_else(String::new, |text| format!(r#","instructions":{}"#, Quoted(text)))
}

/// Appends a tool's result, as text for the model and as structured content for programs.
pub(crate) fn put_result(out: &mut Vec<u8>, id: &[u8], mcp: &Mcp, revision: Revision, shape: ResultShape, json: &[u8]) {
    let json = std::str::from_utf8(json).unwrap_or_default();
    begin_result(out, id);
    out.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
    match shape {
        // Use the JSON as it is, because it is already a string.
        ResultShape::Value if json.starts_with('"') => out.extend_from_slice(json.as_bytes()),
        ResultShape::Items => put(out, &format!("[{json}]")),
        ResultShape::Message | ResultShape::Value => put(out, json),
    }
    let (before, behind) = match shape {
        ResultShape::Message => ("", ""),
        ResultShape::Value => ("{\"value\":", "}"),
        ResultShape::Items => ("{\"items\":[", "]}"),
    };
    put_json(out, format_args!(r#"}}],"structuredContent":{before}{json}{behind},"isError":false"#));
    end_object(out, mcp, revision);
    end_result(out, None);
}

/// Appends the failure of a tool, with code and message for the model and details for programs. It has no structured
/// content, which clients would validate against the result schema.
pub(crate) fn put_failure(out: &mut Vec<u8>, id: &[u8], mcp: &Mcp, revision: Revision, status: &Status) {
    let text = format!("{}: {}", status.code().name(), status.message());
    let (kind, server) = match revision {
        Revision::Legacy => ("", String::new()),
        Revision::Modern => (r#","resultType":"complete""#, format!(r#","{SERVER_INFO}":{}"#, server(mcp))),
    };
    begin_result(out, id);
    let text = Quoted(&text);
    put_json(
        out,
        format_args!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true{kind},"_meta":{{"frpc/status":"#),
    );
    put_status(out, status);
    put_json(out, format_args!("{server}}}}}"));
    end_result(out, None);
}

/// Appends a progress notification: the stream has produced `count` messages, and `item` is the last one.
pub(crate) fn put_progress(out: &mut Vec<u8>, token: &str, count: u64, item: &[u8]) {
    let params = format_args!(r#"{{"progressToken":{token},"progress":{count}"#);
    put_json(out, format_args!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}"#));
    if item.len() <= MESSAGE_MAX {
        out.extend_from_slice(b",\"message\":");
        put(out, std::str::from_utf8(item).unwrap_or_default());
    }
    out.extend_from_slice(b"}}\n");
}

/// Maximum size in bytes of a message that is included in a progress notification, because clients display it in one
/// line.
const MESSAGE_MAX: usize = 1024;
