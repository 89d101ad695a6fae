//! Encoding of replies, and error codes.

use frpc::json::to_json;
use frpc::{Code, Metadata, Status};
use std::borrow::Cow;

/// The message is not valid JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The message is JSON but not a valid request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// The method does not exist.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The params are invalid for the method.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The method failed.
const INTERNAL_ERROR: i32 = -32603;
/// First of the hundred codes reserved for servers. The code of a status is this minus the number of its gRPC code.
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

/// Start of every reply, up to its id.
const REPLY_BEGINS: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";

/// Id of a reply to a message that has none.
pub(crate) const NO_ID: &[u8] = b"null";

/// Appends the start of a successful reply. The result and the end of the object must follow.
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

/// Appends a protocol error.
#[cold]
pub(crate) fn error(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str) {
    error_with(out, id, code, message, None);
}

/// Like [`error`], with `data` in JSON.
#[cold]
pub(crate) fn error_with(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str, data: Option<&str>) {
    begin_error(out, id, code, message);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
    }
    out.extend_from_slice(b"}}");
}

/// Appends a reply with the status of a failed call.
#[cold]
pub(crate) fn failure(out: &mut Vec<u8>, id: &[u8], status: &Status) {
    begin_error(out, id, error_code(status.code()), status.message());
    out.extend_from_slice(b",\"data\":");
    put_status(out, status);
    out.extend_from_slice(b"}}");
}

/// Appends the machine-readable parts of a status.
pub(crate) fn put_status(out: &mut Vec<u8>, status: &Status) {
    out.extend_from_slice(b"{\"status\":\"");
    out.extend_from_slice(status.code().name().as_bytes());
    out.push(b'"');
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

/// Appends the end of a notification.
pub(super) fn end_notice(out: &mut Vec<u8>) {
    out.extend_from_slice(b"}}");
}

fn begin_error(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str) {
    out.extend_from_slice(REPLY_BEGINS);
    out.extend_from_slice(id);
    out.extend_from_slice(b",\"error\":{\"code\":");
    put(out, &code);
    out.extend_from_slice(b",\"message\":");
    put(out, &message.to_owned());
}

/// Appends metadata as JSON: text as strings, bytes in base64. Only the first value of a key is included, because a
/// JSON object has each member once.
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

/// Returns `reply` if it has at most `max` bytes, otherwise an error with the same id. Returns `None` if neither fits.
pub(crate) fn fitting(reply: &[u8], max: usize) -> Option<Cow<'_, [u8]>> {
    if reply.len() <= max {
        return Some(Cow::Borrowed(reply));
    }
    let mut out = Vec::new();
    let text = format!("a reply of {} bytes exceeds the limit of {max}", reply.len());
    error(&mut out, id_of(reply), SERVER_ERROR - Code::ResourceExhausted as i32, &text);
    (out.len() <= max).then_some(Cow::Owned(out))
}

/// Extracts the id of a reply encoded by this module.
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

/// Appends items separated by commas.
pub(crate) fn put_list<I: IntoIterator>(out: &mut Vec<u8>, items: I, mut put: impl FnMut(&mut Vec<u8>, I::Item)) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put(out, item);
    }
}

/// Appends a JSON string.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, &text.to_owned());
}

/// Appends a value as JSON. All values used here can be represented.
fn put<T: frpc::json::Json>(out: &mut Vec<u8>, value: &T) {
    if to_json(value, out).is_err() {
        out.extend_from_slice(b"null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_keeps_its_code_its_name_its_details_and_metadata() {
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
    fn overlong_reply_becomes_an_error_with_its_id() {
        for id in [&br#""a\",\\""#[..], b"12", b"null", b"\"\"", b"-1.5e3"] {
            let mut out = Vec::new();
            begin_result(&mut out, id);
            out.extend_from_slice(&[b' '; 300]);
            assert_eq!(fitting(&out, out.len()).as_deref(), Some(&out[..]));
            let shorter = fitting(&out, 200).expect("error reply should not exceed the maximum length");
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
