//! The texts of replies.

use frpc::Status;

/// Not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// There is no such method.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// The request could not be served.
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// Appends the result of a call, and a line feed.
pub(super) fn result(out: &mut Vec<u8>, id: &str, result: &[u8]) {
    for part in [&b"{\"jsonrpc\":\"2.0\",\"result\":"[..], result, b",\"id\":", id.as_bytes(), b"}\n"] {
        out.extend_from_slice(part);
    }
}

/// Appends an error, and a line feed.
pub(super) fn error(out: &mut Vec<u8>, id: &str, code: i32, message: &str) {
    out.extend_from_slice(format!("{{\"jsonrpc\":\"2.0\",\"error\":{{\"code\":{code},\"message\":").as_bytes());
    if frpc::json::to_json(&message.to_owned(), out).is_err() {
        out.extend_from_slice(b"\"\"");
    }
    out.extend_from_slice(format!("}},\"id\":{id}}}\n").as_bytes());
}

/// Appends the status of a failed call, and a line feed.
pub(super) fn status(out: &mut Vec<u8>, id: &str, status: &Status) {
    error(out, id, INTERNAL_ERROR, status.message());
}
