//! Encoder of HTTP/1.1 responses.

use super::answer::Answer;
use super::calls::ResponseOptions;
use super::date;
use crate::gzip;
use crate::locks::Pass;
use http::StatusCode;
use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;
use std::time::Instant;

/// Header fields of a response in addition to the standard ones.
pub(crate) type ExtraFields = [(Cow<'static, str>, String)];

/// Appends a response head, and the body if `with_body` is set.
pub(crate) fn put(out: &mut Vec<u8>, answer: &Answer, options: &ResponseOptions<'_>, with_body: bool) {
    let ResponseOptions { pass, is_last, now, .. } = *options;
    if answer.status == 200 {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    } else {
        let reason = StatusCode::from_u16(answer.status).ok().and_then(|status| status.canonical_reason());
        // Writing to memory cannot fail, so ignore the result.
        let _ = write!(out, "HTTP/1.1 {} {}\r\n", answer.status, reason.unwrap_or_default());
    }
    if let Some(content_type) = answer.content_type {
        put_field(out, "content-type", content_type.as_bytes());
    }
    out.extend_from_slice(b"date: ");
    date::put(out, now);
    out.extend_from_slice(b"\r\n");
    if answer.status != 204 {
        let mut digits = [0; DIGITS];
        put_field(out, "content-length", decimal(answer.body.len(), &mut digits));
    }
    put_fields(out, &answer.fields, pass, is_last);
    out.extend_from_slice(b"\r\n");
    if with_body {
        out.extend_from_slice(&answer.body);
    }
}

fn put_fields(out: &mut Vec<u8>, fields: &ExtraFields, pass: Pass<'_>, is_last: bool) {
    if is_last {
        put_field(out, "connection", b"close");
    }
    let names = || fields.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ");
    for (name, value) in pass.fields(names) {
        put_field(out, name, value.as_bytes());
    }
    for (name, value) in fields {
        put_field(out, name, value.as_bytes());
    }
}

fn put_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// A response with status 200 that is written before its length is known, so that the body is not copied. The number of
/// digits of `content-length` is guessed from the previous response.
#[derive(Debug)]
pub(crate) struct OpenResponse {
    start: usize,
    /// Position of the digits of `content-length`, which are written when the body is complete.
    length: Range<usize>,
    content: usize,
}

/// Number of bytes reserved for a response head and a short body.
const ROOM: usize = 512;

impl OpenResponse {
    /// Appends a response head. The caller then appends the body.
    pub(crate) fn begin(out: &mut Vec<u8>, content_type: &str, digits: usize, now: Instant) -> Self {
        let start = out.len();
        out.reserve(ROOM);
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-type: ");
        out.extend_from_slice(content_type.as_bytes());
        out.extend_from_slice(b"\r\ndate: ");
        date::put(out, now);
        out.extend_from_slice(b"\r\ncontent-length: ");
        let length = out.len();
        let length = length..length + digits.clamp(1, DIGITS);
        out.resize(length.end, b'0');
        out.extend_from_slice(b"\r\n\r\n");
        Self { start, length, content: out.len() }
    }

    /// Completes the response after the caller has appended the body: compresses a long body if the client accepts
    /// gzip, and writes the body's length into `content-length`. Returns the number of digits, so that the next
    /// response can reserve space for them.
    pub(crate) fn end(self, out: &mut Vec<u8>, fields: &ExtraFields, options: &ResponseOptions<'_>) -> usize {
        let ResponseOptions { pass, is_last, encodings, .. } = *options;
        let Self { length, content, .. } = self;
        let is_compressed = out.len() - content >= gzip::COMPRESS_MIN && compress(out, content, encodings.as_deref());
        let mut digits = [0; DIGITS];
        let digits = decimal(out.len() - content, &mut digits);
        // All responses with CORS fields also have the field `vary`.
        let is_usual = fields.is_empty() && !pass.varies && !is_last && !is_compressed;
        match out.get_mut(length.clone()) {
            Some(slot) if is_usual && slot.len() == digits.len() => slot.copy_from_slice(digits),
            _ => {
                let mut rest = digits.to_vec();
                rest.extend_from_slice(b"\r\n");
                if is_compressed {
                    put_field(&mut rest, "content-encoding", b"gzip");
                }
                put_fields(&mut rest, fields, pass, is_last);
                rest.extend_from_slice(b"\r\n");
                out.splice(length.start..content, rest);
            }
        }
        digits.len()
    }

    /// Removes the unfinished response from the output.
    pub(crate) fn undo(self, out: &mut Vec<u8>) {
        out.truncate(self.start);
    }
}

/// Maximum number of decimal digits of a `usize`.
const DIGITS: usize = 20;

/// Writes a number in decimal digits.
fn decimal(mut number: usize, digits: &mut [u8; DIGITS]) -> &[u8] {
    let mut begin = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        begin -= 1;
        if number == 0 {
            break;
        }
    }
    digits.get(begin..).unwrap_or_default()
}

/// Compresses the body that starts at `content` if the client accepts gzip. Returns whether it was compressed.
#[cold]
fn compress(out: &mut Vec<u8>, content: usize, encodings: Option<&[u8]>) -> bool {
    let Some(body) = gzip::compressed(out.get(content..).unwrap_or_default(), encodings) else { return false };
    out.truncate(content);
    out.extend_from_slice(&body);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a response behind other output. Returns the response without its date, and the number of digits of its
    /// `content-length`.
    fn opened(body: &str, guess: usize, fields: &ExtraFields, is_last: bool) -> (String, usize) {
        let mut out = b"before".to_vec();
        let open = OpenResponse::begin(&mut out, "a/b", guess, Instant::now());
        out.extend_from_slice(body.as_bytes());
        let digits = open.end(&mut out, fields, &ResponseOptions { is_last, ..ResponseOptions::last() });
        let text = String::from_utf8(out).unwrap();
        let (head, rest) = text.strip_prefix("before").unwrap().split_once("date: ").unwrap();
        (format!("{head}{}", rest.split_once("\r\n").unwrap().1), digits)
    }

    #[test]
    fn content_length_survives_wrong_digit_guess() {
        for length in [0, 9, 10, 99, 100, 12_345] {
            let body = "x".repeat(length);
            let expected = format!("HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-length: {length}\r\n\r\n{body}");
            for guess in 0..30 {
                let digits = length.to_string().len();
                assert_eq!(opened(&body, guess, &[], false), (expected.clone(), digits), "{guess} for {length}");
            }
        }
    }

    #[test]
    fn late_fields_are_written_into_head() {
        let fields = [(Cow::Borrowed("a"), "b".to_owned())];
        let expected =
            "HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-length: 2\r\nconnection: close\r\na: b\r\n\r\nhi";
        assert_eq!(opened("hi", 1, &fields, true).0, expected);
    }

    #[test]
    fn whole_and_open_responses_are_identical() {
        let without_origin = Pass { varies: true, ..Pass::default() };
        let fields = || Answer::new(200, "a/b", "body").with("x", "y");
        for (answer, pass, is_last) in [
            (fields(), Pass::default(), true),
            (Answer::new(200, "a/b", "body"), Pass::default(), false),
            (Answer::new(200, "a/b", "body"), without_origin, false),
            (Answer::new(200, "a/b", "body"), Pass { readable_by: Some("https://a"), ..without_origin }, false),
        ] {
            let (mut whole, mut open) = (Vec::new(), Vec::new());
            let options = ResponseOptions { pass, is_last, ..ResponseOptions::last() };
            put(&mut whole, &answer, &options, true);
            let open_response = OpenResponse::begin(&mut open, "a/b", 1, options.now);
            open.extend_from_slice(b"body");
            open_response.end(&mut open, &answer.fields, &options);
            assert_eq!(String::from_utf8(open), String::from_utf8(whole));
        }
    }

    #[test]
    fn undone_response_preserves_earlier_output() {
        let mut out = b"before".to_vec();
        OpenResponse::begin(&mut out, "a/b", 1, Instant::now()).undo(&mut out);
        assert_eq!(out, b"before");
    }
}
