//! Parser for heads of HTTP/1 requests. It rejects ambiguous heads, which another program on the path might parse
//! differently. hyper accepts more heads and does not indicate this in the request: a fragment in the target, two
//! lengths, and lines that end with a bare line feed.

use super::answer::Answer;
use httparse::{Error, Header, Request};
use std::mem::MaybeUninit;

/// Maximum length of a request head in bytes, as in Node.js.
pub(crate) const HEAD_MAX: usize = 16 * 1024;

/// Maximum number of header fields in a request head, as in hyper.
pub(crate) const FIELDS_MAX: usize = 100;

/// Start of the HTTP/2 connection preface, which looks like an HTTP/1 request head.
pub(crate) const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";

/// Storage for the parsed header fields of a request head.
pub(crate) type HeaderStorage<'b> = [MaybeUninit<Header<'b>>; FIELDS_MAX];

/// A parsed and validated HTTP/1 request head.
#[derive(Debug)]
pub(crate) struct Head<'h, 'b> {
    pub(crate) method: &'b str,
    pub(crate) target: &'b str,
    /// Whether the request uses HTTP/1.0. If so, the connection is closed after the response.
    pub(crate) is_old: bool,
    pub(crate) fields: &'h [Header<'b>],
    pub(crate) framing: BodyFraming,
}

/// How the end of a request body is determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BodyFraming {
    Length(u64),
    Chunked,
}

/// Reason why a request head is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Malformed {
    BareLineFeed,
    Syntax,
    TooManyFields,
    TooLong,
    TooSlow,
    Version,
    Fragment,
    Target,
    TwoLengths,
    Length,
    TransferEncoding,
}

impl Malformed {
    /// Returns the status and the text of the response to a request with this defect.
    fn describe(self) -> (u16, &'static str) {
        match self {
            Self::BareLineFeed => (400, "invalid line end in the head: a line feed without a carriage return"),
            Self::Syntax => (400, "invalid head of HTTP/1.1: write each field as \"name: value\" in one line"),
            Self::TooManyFields => (431, "the head has more than 100 fields"),
            Self::TooLong => (431, "the head is longer than 16384 bytes"),
            Self::TooSlow => (408, "the head of the request took too long"),
            Self::Version => (505, "unsupported version: use HTTP/1.1, HTTP/1.0, or HTTP/2 with its preface"),
            Self::Fragment => (400, "invalid request target: remove the fragment after \"#\""),
            Self::Target => (400, "invalid request target: percent-encode quotes, backticks, \"<\" and \">\""),
            Self::TwoLengths => (400, "the head states the length of the body more than once"),
            Self::Length => (400, "invalid content-length: write digits alone"),
            Self::TransferEncoding => (400, "unsupported transfer-encoding: use chunked alone, with HTTP/1.1"),
        }
    }

    pub(crate) fn answer(self) -> Answer {
        let (status, text) = self.describe();
        Answer::refusal(status, text)
    }

    pub(crate) fn text(self) -> &'static str {
        self.describe().1
    }
}

/// Returns the length of the request head at the start of `bytes`, or `None` if it is incomplete. The first `scanned`
/// bytes were examined by a previous call.
pub(crate) fn end(bytes: &[u8], scanned: usize) -> Result<Option<usize>, Malformed> {
    for found in memchr::memchr_iter(b'\n', bytes.get(scanned..).unwrap_or_default()) {
        let end = scanned + found + 1;
        let head = bytes.get(..end).unwrap_or_default();
        if !head.ends_with(b"\r\n") {
            return Err(Malformed::BareLineFeed);
        }
        if end > HEAD_MAX {
            return Err(Malformed::TooLong);
        }
        if head.ends_with(b"\r\n\r\n") {
            return Ok(Some(end));
        }
    }
    if bytes.len() > HEAD_MAX { Err(Malformed::TooLong) } else { Ok(None) }
}

impl<'h, 'b> Head<'h, 'b> {
    /// Parses and validates a complete request head.
    pub(crate) fn parse(bytes: &'b [u8], fields: &'h mut HeaderStorage<'b>) -> Result<Self, Malformed> {
        let mut request = Request::new(&mut []);
        match request.parse_with_uninit_headers(bytes, fields) {
            Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
            Ok(_) => return Err(Malformed::Syntax),
            Err(Error::TooManyHeaders) => return Err(Malformed::TooManyFields),
            Err(Error::Version) => return Err(Malformed::Version),
            Err(_) => return Err(Malformed::Syntax),
        }
        let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
            return Err(Malformed::Syntax);
        };
        // Reject a fragment, which a target must not have (RFC 9112, section 3.2).
        if memchr::memchr(b'#', target.as_bytes()).is_some() {
            return Err(Malformed::Fragment);
        }
        // Reject characters that RFC 3986 does not permit. hyper accepts some of them in paths and others in queries.
        if target.bytes().any(|byte| matches!(byte, b'"' | b'<' | b'>' | b'`')) {
            return Err(Malformed::Target);
        }
        let fields: &'h [Header<'b>] = request.headers;
        let framing = framing(fields, version == 0)?;
        Ok(Self { method, target, is_old: version == 0, fields, framing })
    }
}

fn framing(fields: &[Header<'_>], is_old: bool) -> Result<BodyFraming, Malformed> {
    let (mut length, mut is_chunked) = (None, false);
    for field in fields {
        if field.name.eq_ignore_ascii_case("content-length") {
            if length.is_some() || is_chunked {
                return Err(Malformed::TwoLengths);
            }
            length = Some(number(field.value).ok_or(Malformed::Length)?);
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            if length.is_some() || is_chunked {
                return Err(Malformed::TwoLengths);
            }
            if is_old || !field.value.eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed::TransferEncoding);
            }
            is_chunked = true;
        }
    }
    Ok(if is_chunked { BodyFraming::Chunked } else { BodyFraming::Length(length.unwrap_or(0)) })
}

/// Parses a decimal number that consists only of digits.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(head: &str) -> Result<BodyFraming, Malformed> {
        let Some(length) = end(head.as_bytes(), 0)? else { return Err(Malformed::Syntax) };
        assert_eq!(length, head.len(), "test should have a single head");
        let mut fields = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        Head::parse(head.as_bytes(), &mut fields).map(|head| head.framing)
    }

    #[test]
    fn head_with_two_readings_is_refused() {
        for (fields, expected) in [
            ("", Ok(BodyFraming::Length(0))),
            ("content-length: 7\r\n", Ok(BodyFraming::Length(7))),
            ("Transfer-Encoding: Chunked\r\n", Ok(BodyFraming::Chunked)),
            ("content-length: 7\r\ncontent-length: 7\r\n", Err(Malformed::TwoLengths)),
            ("content-length: 7\r\ntransfer-encoding: chunked\r\n", Err(Malformed::TwoLengths)),
            ("transfer-encoding: chunked\r\ncontent-length: 7\r\n", Err(Malformed::TwoLengths)),
            ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", Err(Malformed::TwoLengths)),
            ("transfer-encoding: gzip, chunked\r\n", Err(Malformed::TransferEncoding)),
            ("transfer-encoding: identity\r\n", Err(Malformed::TransferEncoding)),
            ("content-length: +7\r\n", Err(Malformed::Length)),
            ("content-length: -7\r\n", Err(Malformed::Length)),
            ("content-length: 7, 7\r\n", Err(Malformed::Length)),
            ("content-length:\r\n", Err(Malformed::Length)),
            ("content-length: 0x7\r\n", Err(Malformed::Length)),
            ("content-length: 99999999999999999999\r\n", Err(Malformed::Length)),
            ("content-length : 7\r\n", Err(Malformed::Syntax)),
            ("x: a\r\n b\r\n", Err(Malformed::Syntax)),
            ("x: a\n", Err(Malformed::BareLineFeed)),
            ("x: a\rb\r\n", Err(Malformed::Syntax)),
            ("x: a\0b\r\n", Err(Malformed::Syntax)),
            (": a\r\n", Err(Malformed::Syntax)),
        ] {
            assert_eq!(parse(&format!("POST / HTTP/1.1\r\nhost: a\r\n{fields}\r\n")), expected, "{fields:?}");
        }
        assert_eq!(parse("POST / HTTP/1.1\n\n"), Err(Malformed::BareLineFeed));
        assert_eq!(parse("POST /  HTTP/1.1\r\n\r\n"), Err(Malformed::Version));
        assert_eq!(parse("POST /a#b HTTP/1.1\r\n\r\n"), Err(Malformed::Fragment));
        for target in ["/\"", "/<", "/a?>", "/a?b`"] {
            assert_eq!(parse(&format!("POST {target} HTTP/1.1\r\n\r\n")), Err(Malformed::Target), "{target}");
        }
        assert_eq!(parse("POST / HTTP/3.0\r\n\r\n"), Err(Malformed::Version));
        assert_eq!(parse("POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n"), Err(Malformed::TransferEncoding));
        let many = format!("POST / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(FIELDS_MAX + 1));
        assert_eq!(parse(&many), Err(Malformed::TooManyFields));
    }

    #[test]
    fn head_end_is_found_at_any_cut() {
        let head = b"POST / HTTP/1.1\r\nhost: a\r\n\r\nbody";
        for cut in 0..head.len() {
            let found = end(&head[..cut], 0).unwrap();
            assert_eq!(found, (cut >= 28).then_some(28));
            if found.is_none() {
                assert_eq!(end(head, cut).unwrap(), Some(28), "{cut}");
            }
        }
    }
}
