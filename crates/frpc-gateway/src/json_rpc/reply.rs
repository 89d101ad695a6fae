//! Encoding of replies, and error codes.

use frpc::json::to_json;
use frpc::{Code, Metadata, Status};
use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;

/// Parse error: the message is not valid JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// Invalid request: the message is JSON but not a JSON-RPC request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// Invalid params for the method.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The method failed.
const INTERNAL_ERROR: i32 = -32603;
/// First of the codes that JSON-RPC reserves for server errors. The error code of a status is this value minus the
/// number of its gRPC code.
const SERVER_ERROR: i32 = -32000;

/// Returns the JSON-RPC error code for a status code.
fn error_code(code: Code) -> i32 {
    match code {
        Code::InvalidArgument => INVALID_PARAMS,
        Code::Unimplemented => METHOD_NOT_FOUND,
        Code::Internal => INTERNAL_ERROR,
        code => SERVER_ERROR - code as i32,
    }
}

/// Start of every reply, up to the value of `id`.
const REPLY_BEGINS: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";

/// Value of `id` in the reply to a message with an unknown id.
pub(crate) const NO_ID: &[u8] = b"null";

/// Appends the start of a successful reply. The caller appends the result and the end.
#[inline(always)]
pub(crate) fn begin_result(out: &mut Vec<u8>, id: &[u8]) {
    out.extend_from_slice(REPLY_BEGINS);
    out.extend_from_slice(id);
    out.extend_from_slice(b",\"result\":");
}

/// Appends the end of a successful reply.
pub(crate) fn end_result(out: &mut Vec<u8>, metadata: Option<&Metadata>) {
    if let Some(metadata) = metadata {
        out.extend_from_slice(b",\"metadata\":");
        put_metadata(out, metadata);
    }
    out.push(b'}');
}

/// Appends an error reply with a code that JSON-RPC defines.
#[cold]
pub(crate) fn error(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str) {
    error_with(out, id, code, message, None);
}

/// Like [`error`], but with additional `data` as JSON.
#[cold]
pub(crate) fn error_with(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str, data: Option<&str>) {
    begin_error(out, id, code, message);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
    }
    out.extend_from_slice(b"}}");
}

/// Appends an error reply with the status of a failed call.
#[cold]
pub(crate) fn failure(out: &mut Vec<u8>, id: &[u8], status: &Status) {
    begin_error(out, id, error_code(status.code()), status.message());
    out.extend_from_slice(b",\"data\":");
    put_status(out, status);
    out.extend_from_slice(b"}}");
}

/// Appends a status as a JSON object with its code, details and metadata.
pub(crate) fn put_status(out: &mut Vec<u8>, status: &Status) {
    put_json(out, format_args!(r#"{{"status":"{}""#, status.code().name()));
    if !status.details().is_empty() {
        out.extend_from_slice(b",\"details\":");
        put(out, &bytes::Bytes::copy_from_slice(status.details()));
    }
    if !status.metadata().is_empty() {
        out.extend_from_slice(b",\"metadata\":");
        put_metadata(out, status.metadata());
    }
    out.push(b'}');
}

/// Appends the start of a notification about a call, up to its last member.
pub(super) fn begin_notice(out: &mut Vec<u8>, method: &str, id: &[u8], last: &str) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b"\",\"params\":{\"id\":");
    out.extend_from_slice(id);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(last.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Appends the end of a notification about a call.
pub(super) fn end_notice(out: &mut Vec<u8>) {
    out.extend_from_slice(b"}}");
}

fn begin_error(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str) {
    out.extend_from_slice(REPLY_BEGINS);
    out.extend_from_slice(id);
    put_json(out, format_args!(r#","error":{{"code":{code},"message":{}"#, Quoted(message)));
}

/// Appends metadata as a JSON object, with text values as strings and binary values in base64. Only the first value of
/// a key is included, because JSON members must be unique.
fn put_metadata(out: &mut Vec<u8>, metadata: &Metadata) {
    out.push(b'{');
    for (index, (key, value)) in metadata.iter().enumerate() {
        if metadata.iter().take(index).any(|(earlier, _)| earlier == key) {
            continue;
        }
        if index > 0 {
            out.push(b',');
        }
        put(out, &key.to_owned());
        out.push(b':');
        match metadata.get(key) {
            Some(text) => put(out, &text.to_owned()),
            None => put(out, &value.to_vec()),
        }
    }
    out.push(b'}');
}

/// Returns `reply` if it has at most `max` bytes, otherwise an error reply with the same id. Returns `None` if the
/// error does not fit either.
pub(crate) fn fitting(reply: &[u8], max: usize) -> Option<Cow<'_, [u8]>> {
    if reply.len() <= max {
        return Some(Cow::Borrowed(reply));
    }
    let mut out = Vec::new();
    let text = format!("a reply of {} bytes exceeds the limit of {max}", reply.len());
    error(&mut out, id_of(reply), SERVER_ERROR - Code::ResourceExhausted as i32, &text);
    (out.len() <= max).then_some(Cow::Owned(out))
}

/// Returns the id, as JSON, of a reply that was encoded by this module.
fn id_of(reply: &[u8]) -> &[u8] {
    let Some(rest) = reply.strip_prefix(REPLY_BEGINS) else { return NO_ID };
    let mut is_escaped = false;
    let is_text = rest.first() == Some(&b'"');
    let end = rest.iter().enumerate().skip(1).position(|(_, byte)| match byte {
        b'"' if is_text && !is_escaped => true,
        b',' if !is_text => true,
        byte => {
            is_escaped = *byte == b'\\' && !is_escaped;
            false
        }
    });
    end.and_then(|end| rest.get(..end + 1 + usize::from(is_text))).unwrap_or(NO_ID)
}

/// Appends items to JSON, separated by commas.
pub(crate) fn put_list<I: IntoIterator>(out: &mut Vec<u8>, items: I, mut put: impl FnMut(&mut Vec<u8>, I::Item)) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put(out, item);
    }
}

/// Text that is displayed as a JSON string.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = Vec::new();
        put_text(&mut json, self.0);
        f.write_str(std::str::from_utf8(&json).unwrap_or("null"))
    }
}

/// Appends formatted JSON.
pub(crate) fn put_json(out: &mut Vec<u8>, json: fmt::Arguments<'_>) {
    // Writing to memory cannot fail, so ignore the result.
    let _ = out.write_fmt(json);
}

/// Appends text as a JSON string.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, &text.to_owned());
}

/// Appends a value as JSON. Never fails, because all values used in replies can be represented.
fn put<T: frpc::json::Json>(out: &mut Vec<u8>, value: &T) {
    if to_json(value, out).is_err() {
        out.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_reply_preserves_status_and_metadata() {
        let mut metadata = Metadata::new();
        metadata.insert("a", "b").expect("metadata entry should be valid");
        metadata.insert_bin("c-bin", &b"\xff"[..]).expect("metadata value should be valid");
        let status = Status::not_found("no \"x\"").with_details(&b"\x01"[..]).with_metadata(metadata);
        let mut out = Vec::new();
        failure(&mut out, b"7", &status);
        let expected = concat!(
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32005,"message":"no \"x\"","data":{"status":"NOT_FOUND","#,
            r#""details":"AQ==","metadata":{"a":"b","c-bin":"/w=="}}}}"#
        );
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn overlong_reply_becomes_error_with_same_id() {
        for id in [&br#""a\",\\""#[..], b"12", b"null", b"\"\"", b"-1.5e3"] {
            let mut out = Vec::new();
            begin_result(&mut out, id);
            out.extend_from_slice(&[b' '; 300]);
            assert_eq!(fitting(&out, out.len()).as_deref(), Some(&out[..]));
            let shorter = fitting(&out, 200).expect("error reply should fit into 200 bytes");
            let id = String::from_utf8_lossy(id);
            let begins = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32008,");
            assert!(shorter.starts_with(begins.as_bytes()), "{}", String::from_utf8_lossy(&shorter));
            assert_eq!(fitting(&out, 50), None);
        }
        let batch = [b'['; 300];
        assert!(
            fitting(&batch, 200)
                .expect("error reply should not exceed the maximum length")
                .starts_with(br#"{"jsonrpc":"2.0","id":null,"error""#)
        );
    }

    #[test]
    fn status_codes_map_to_json_rpc_codes() {
        for (code, expected) in [
            (Code::InvalidArgument, -32602),
            (Code::Unimplemented, -32601),
            (Code::Internal, -32603),
            (Code::Cancelled, -32001),
            (Code::Unauthenticated, -32016),
        ] {
            assert_eq!(error_code(code), expected);
        }
    }
}
