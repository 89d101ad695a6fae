//! Heads of messages and trailers as lists of fields, and their validation according to RFC 9113, sections 8.2 and 8.3.
//!
//! # Decisions
//!
//! One buffer contains the text of all fields, and another contains the offsets. A head thus takes two allocations,
//! which the connection reuses for the next head.

use crate::hpack;
use std::fmt;
use std::ops::Range;

/// Maximum size of a received head in bytes, counted like SETTINGS_MAX_HEADER_LIST_SIZE: the text, and 32 bytes per
/// field. The default of grpc-java and grpc-go is 8 KiB, but tokens and cookies may need more.
pub(crate) const SIZE_MAX: usize = 16 * 1024;

/// Maximum number of fields in a received head, equal to the default of Apache. Without the limit, many tiny fields
/// could cause disproportionate work.
const FIELDS_MAX: usize = 100;

/// A list of fields: the head of a request or response, or trailers.
///
/// ```
/// use frisbee_http2::Head;
///
/// let mut head = Head::request("POST", "http", "localhost", "/greet.Greeter/Greet");
/// head.push("te", "trailers");
/// head.push_sensitive("authorization", "secret");
/// assert_eq!(head.path(), Some("/greet.Greeter/Greet"));
/// assert_eq!(head.get("te"), Some(&b"trailers"[..]));
/// assert_eq!(head.fields().count(), 2, "pseudo-fields should not be returned as fields");
/// ```
#[derive(Default)]
pub struct Head {
    text: Vec<u8>,
    fields: Vec<Offsets>,
    is_truncated: bool,
    memo: Option<u64>,
}

/// Position of a field's name in the text buffer. The value follows the name.
#[derive(Clone, Copy)]
struct Offsets {
    start: usize,
    value: usize,
    end: usize,
    is_sensitive: bool,
}

impl Head {
    /// Creates the head of a request.
    pub fn request(method: &str, scheme: &str, authority: &str, path: &str) -> Self {
        let mut head = Self::default();
        for (name, value) in [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority)] {
            head.push(name, value);
        }
        head
    }

    /// Creates the head of a response.
    pub fn response(status: u16) -> Self {
        let mut head = Self::default();
        let (hundreds, tens, ones) = (status / 100 % 10, status / 10 % 10, status % 10);
        head.push(":status", [hundreds, tens, ones].map(|digit| b'0'.saturating_add(digit as u8))); // Status digits.
        head
    }

    /// Creates an empty list of trailers.
    pub fn trailers() -> Self {
        Self::default()
    }

    /// Appends a header field. The name must be in lower case. The value must not contain control characters, and must
    /// not start or end with a space.
    pub fn push(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.append(name.as_bytes(), value.as_ref(), false);
    }

    /// Appends a header field with a secret value. Neither this end nor an intermediary adds it to a compression table.
    pub fn push_sensitive(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.append(name.as_bytes(), value.as_ref(), true);
    }

    fn append(&mut self, name: &[u8], value: &[u8], is_sensitive: bool) {
        let start = self.text.len();
        self.text.extend_from_slice(name);
        let value_start = self.text.len();
        self.text.extend_from_slice(value);
        self.fields.push(Offsets { start, value: value_start, end: self.text.len(), is_sensitive });
    }

    fn slice(&self, range: Range<usize>) -> &[u8] {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the name and the value of each field, and whether the value is secret. Pseudo-fields come first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&[u8], &[u8], bool)> {
        self.fields
            .iter()
            .map(|field| (self.slice(field.start..field.value), self.slice(field.value..field.end), field.is_sensitive))
    }

    /// Returns the regular header fields in order, without pseudo-fields.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        // The names are ASCII, because received names were validated.
        let text = |name| std::str::from_utf8(name).unwrap_or_default();
        self.all().skip_while(|(name, ..)| is_pseudo(name)).map(move |(name, value, _)| (text(name), value))
    }

    /// Returns the value of the first header field with this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.all().find(|(other, ..)| *other == name.as_bytes()).map(|(_, value, _)| value)
    }

    fn pseudo(&self, name: &str) -> Option<&str> {
        let mut fields = self.all().take_while(|(other, ..)| is_pseudo(other));
        let (_, value, _) = fields.find(|(other, ..)| *other == name.as_bytes())?;
        std::str::from_utf8(value).ok()
    }

    /// Returns the `:method` of a request.
    pub fn method(&self) -> Option<&str> {
        self.pseudo(":method")
    }

    /// Returns the `:scheme` of a request. CONNECT requests have none.
    pub fn scheme(&self) -> Option<&str> {
        self.pseudo(":scheme")
    }

    /// Returns the `:authority` of a request: a host and an optional port.
    pub fn authority(&self) -> Option<&str> {
        self.pseudo(":authority")
    }

    /// Returns the `:path` of a request, including the query. CONNECT requests have none.
    pub fn path(&self) -> Option<&str> {
        self.pseudo(":path")
    }

    /// Returns the `:status` of a response.
    pub fn status(&self) -> Option<u16> {
        self.pseudo(":status")?.parse().ok()
    }

    /// Returns whether fields were dropped because the received head exceeded 16 KiB or 100 fields. A server should
    /// reply with status 431.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the size of the head in bytes, counted like SETTINGS_MAX_HEADER_LIST_SIZE: the text, and 32 bytes per
    /// field.
    pub fn size(&self) -> usize {
        self.text.len().saturating_add(self.fields.len().saturating_mul(32))
    }

    /// Returns the capacity in bytes of the buffers that store the head.
    pub fn memory(&self) -> usize {
        self.text.capacity().saturating_add(self.fields.capacity().saturating_mul(size_of::<Offsets>()))
    }

    /// Returns a cache key for data derived from this head. Heads that were received as identical field blocks have the
    /// same key. Returns `None` for a head with secret fields.
    pub fn memo(&self) -> Option<u64> {
        self.memo
    }

    pub(crate) fn set_memo(&mut self, memo: u64) {
        self.memo = Some(memo);
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
        (self.is_truncated, self.memo) = (false, None);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns whether the value of any field is secret. If so, the head must not be cached.
    pub(crate) fn has_secrets(&self) -> bool {
        const SECRETS: [&[u8]; 3] = [b"authorization", b"cookie", b"proxy-authorization"];
        self.all().any(|(name, _, is_sensitive)| is_sensitive || SECRETS.contains(&name))
    }
}

impl Clone for Head {
    fn clone(&self) -> Self {
        let Self { text, fields, is_truncated, memo } = self;
        Self { text: text.clone(), fields: fields.clone(), is_truncated: *is_truncated, memo: *memo }
    }

    /// Copies the fields of another head, reusing the buffers of this one.
    fn clone_from(&mut self, other: &Self) {
        self.text.clone_from(&other.text);
        self.fields.clone_from(&other.fields);
        (self.is_truncated, self.memo) = (other.is_truncated, other.memo);
    }
}

/// Omits the values of secret fields, because heads may be logged.
impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.all().map(|(name, value, is_sensitive)| {
            let value = if is_sensitive { "…".into() } else { String::from_utf8_lossy(value) };
            (String::from_utf8_lossy(name), value)
        });
        f.debug_map().entries(entries).finish()
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.all().eq(other.all())
    }
}

fn is_pseudo(name: &[u8]) -> bool {
    name.first() == Some(&b':')
}

/// Kind of a received head, which determines how its fields are validated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeadKind {
    /// Head of a request. `is_local` is set on Unix sockets, where `:authority` may be a path.
    Request {
        is_local: bool,
    },
    Response,
    Trailers,
}

/// Collects and validates the fields of a received block. A block is decoded to its end even if a field is invalid,
/// because the rest may change the compression table.
pub(crate) struct HeadReader<'a> {
    head: &'a mut Head,
    kind: HeadKind,
    size: usize,
    content_length: Option<u64>,
    has_fields: bool,
    fault: Option<&'static str>,
}

impl<'a> HeadReader<'a> {
    pub(crate) fn new(kind: HeadKind, head: &'a mut Head) -> Self {
        head.clear();
        Self { head, kind, size: 0, content_length: None, has_fields: false, fault: None }
    }

    pub(crate) fn field(&mut self, hpack::Field { name, value, is_sensitive, .. }: hpack::Field<'_>) {
        // Check the limits before anything is allocated.
        self.size = self.size.saturating_add(name.len()).saturating_add(value.len()).saturating_add(32);
        if self.fault.is_some() {
            return;
        }
        if self.size > SIZE_MAX || self.head.fields.len() >= FIELDS_MAX {
            self.head.is_truncated = true;
            return;
        }
        let checked = if is_pseudo(name) { self.pseudo_field(name, value) } else { self.regular_field(name, value) };
        match checked {
            Ok(()) => self.head.append(name, value, is_sensitive),
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// Validates a pseudo-field. RFC 9113, section 8.3: "Endpoints MUST treat a request or response that contains
    /// undefined or invalid pseudo-header fields as malformed", "Pseudo-header fields MUST NOT appear in a trailer
    /// section", "All pseudo-header fields MUST appear in a field block before all regular field lines", and "The same
    /// pseudo-header field name MUST NOT appear more than once in a field block".
    fn pseudo_field(&self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if self.has_fields {
            return Err("pseudo-field follows a regular field");
        }
        let is_valid = match (self.kind, name) {
            (HeadKind::Request { .. }, b":method") => !value.is_empty() && value.iter().all(|byte| is_token(*byte)),
            (HeadKind::Request { .. }, b":scheme") => is_scheme(value),
            (HeadKind::Request { is_local }, b":authority") => is_authority(value, is_local),
            (HeadKind::Request { .. }, b":path") => is_path(value),
            (HeadKind::Response, b":status") => value.len() == 3 && value.iter().all(u8::is_ascii_digit),
            // Reject `:protocol` too, because this end does not announce extended CONNECT.
            _ => return Err("unknown pseudo-field"),
        };
        if self.head.all().any(|(other, ..)| other == name) {
            return Err("repeated pseudo-field");
        }
        if is_valid { Ok(()) } else { Err("invalid value of a pseudo-field") }
    }

    fn regular_field(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        self.has_fields = true;
        // Section 8.2.1: "A field name MUST NOT contain characters in the ranges 0x00-0x20, 0x41-0x5a, or 0x7f-0xff
        // (all inclusive)." RFC 9110, section 5.1, permits only tokens.
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte) && !byte.is_ascii_uppercase()) {
            return Err("invalid field name");
        }
        if !is_value(value) {
            return Err("invalid field value");
        }
        match name {
            // Section 8.2.2: "An endpoint MUST NOT generate an HTTP/2 message containing connection-specific header
            // fields". A received message with such a field is malformed.
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
                Err("connection-specific field")
            }
            // "The only exception to this is the TE header field [...] it MUST NOT contain any value other than
            // "trailers"."
            b"te" if value != b"trailers" => Err("value of `te` is not `trailers`"),
            b"content-length" => self.content_length(value),
            _ => Ok(()),
        }
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), &'static str> {
        const INVALID: &str = "invalid `content-length`";
        if self.kind == HeadKind::Trailers {
            return Ok(());
        }
        if !value.iter().all(u8::is_ascii_digit) {
            return Err(INVALID);
        }
        let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or(INVALID)?;
        match self.content_length.replace(length) {
            Some(other) if other != length => Err("contradictory values of `content-length`"),
            _ => Ok(()),
        }
    }

    /// Validates the complete list of fields. Returns the declared length of the body, or the reason why the message is
    /// malformed.
    pub(crate) fn finish(self) -> Result<Option<u64>, &'static str> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let head = &*self.head;
        let is_complete = match self.kind {
            // Section 8.5: CONNECT has `:method` and `:authority`, but neither `:scheme` nor `:path`.
            HeadKind::Request { .. } if head.method() == Some("CONNECT") => {
                head.authority().is_some() && head.scheme().is_none() && head.path().is_none()
            }
            // Section 8.3.1: "All HTTP/2 requests MUST include exactly one valid value for the ":method", ":scheme",
            // and ":path" pseudo-header fields, unless they are CONNECT requests".
            HeadKind::Request { .. } => {
                let is_asterisk = head.path() == Some("*") && head.method() != Some("OPTIONS");
                head.method().is_some() && head.scheme().is_some() && head.path().is_some() && !is_asterisk
            }
            // HTTP/2 has no status 101 (RFC 9113, section 8.6).
            HeadKind::Response => head.status().is_some_and(|status| status >= 100 && status != 101),
            HeadKind::Trailers => true,
        };
        // A truncated list may lack pseudo-fields, so it is not an error.
        if is_complete || head.is_truncated { Ok(self.content_length) } else { Err("incomplete pseudo-fields") }
    }
}

/// Returns whether a byte is permitted in an HTTP token: RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns whether `value` is a valid field value. Section 8.2.1: "A field value MUST NOT contain the zero value (ASCII
/// NUL, 0x00), line feed (ASCII LF, 0x0a), or carriage return (ASCII CR, 0x0d) at any position" and "MUST NOT start or
/// end with an ASCII whitespace character". RFC 9110, section 5.5, excludes the other control characters.
fn is_value(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let is_allowed = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    value.iter().all(is_allowed) && !is_space(value.first()) && !is_space(value.last())
}

/// Returns whether `value` is a valid URI scheme: RFC 3986, section 3.1.
fn is_scheme(value: &[u8]) -> bool {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    value.first().is_some_and(u8::is_ascii_alphabetic) && value.iter().all(is_allowed)
}

/// Validates an authority, which is a host and an optional port. Section 8.3.1: "":authority" MUST NOT include the
/// deprecated userinfo subcomponent for "http" or "https" schemed URIs." On Unix sockets, grpcio, grpc-java and Swift
/// send the path of the socket.
fn is_authority(value: &[u8], is_local: bool) -> bool {
    let is_allowed = |byte: &u8| match is_local {
        true => matches!(byte, b' '..=b'~'),
        false => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(byte),
    };
    !value.is_empty() && value.iter().all(is_allowed)
}

/// Validates a path. Section 8.3.1: "This pseudo-header field MUST NOT be empty for "http" or "https" URIs". A path
/// contains no fragment. Some characters that RFC 3986 excludes are accepted, because browsers send them. Values that
/// the crate `http` cannot parse are rejected.
fn is_path(value: &[u8]) -> bool {
    let is_allowed = |byte: &u8| matches!(byte, b'!'..=b'~') && !b"#<>`".contains(byte);
    value == b"*" || (value.first() == Some(&b'/') && value.iter().all(is_allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: HeadKind = HeadKind::Request { is_local: false };

    fn read(kind: HeadKind, fields: &[(&str, &str)]) -> Result<Option<u64>, &'static str> {
        let mut head = Head::default();
        let mut encoder = hpack::Encoder::new();
        let mut block = Vec::new();
        for (name, value) in fields {
            encoder.put(name.as_bytes(), value.as_bytes(), false, &mut block);
        }
        let mut reader = HeadReader::new(kind, &mut head);
        hpack::Decoder::new().decode(&block, |field| reader.field(field)).expect("field block should be valid");
        reader.finish()
    }

    fn request(more: &[(&str, &str)]) -> Result<Option<u64>, &'static str> {
        read(
            REQUEST,
            &[&[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a:1")], more].concat(),
        )
    }

    #[test]
    fn valid_requests_are_accepted() {
        assert_eq!(request(&[("te", "trailers"), ("host", "A:1"), ("x", "a b\tc\u{e4}"), ("empty", "")]), Ok(None));
        assert_eq!(request(&[("content-length", "7"), ("content-length", "7")]), Ok(Some(7)));
        assert_eq!(read(REQUEST, &[(":method", "CONNECT"), (":authority", "a")]), Ok(None));
        assert_eq!(read(REQUEST, &[(":method", "OPTIONS"), (":scheme", "http"), (":path", "*")]), Ok(None));
    }

    #[test]
    fn malformed_fields_are_rejected() {
        for (name, value) in [
            ("", "x"),
            ("Name", "x"),
            ("a b", "x"),
            ("a:b", "x"),
            ("connection", "close"),
            ("proxy-connection", "x"),
            ("keep-alive", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("te", "gzip"),
            ("te", "trailers, deflate"),
            ("x", " a"),
            ("x", "a\t"),
            ("x", "a\nb"),
            ("x", "a\rb"),
            ("x", "a\0b"),
            ("x", "\u{7f}"),
            ("content-length", "-1"),
            ("content-length", ""),
            ("content-length", "99999999999999999999"),
            (":method", "GET"),
            (":path", "/"),
        ] {
            assert!(request(&[(name, value)]).is_err(), "{name:?}: {value:?}");
        }
        assert!(request(&[("content-length", "7"), ("content-length", "8")]).is_err());
    }

    #[test]
    fn malformed_pseudo_fields_are_rejected() {
        let request = [(":method", "GET"), (":scheme", "http"), (":path", "/")];
        for missing in 0..3 {
            let mut fields = request.to_vec();
            fields.remove(missing);
            assert!(read(REQUEST, &fields).is_err(), "head without {:?} should be rejected", request[missing]);
        }
        for (name, value) in [
            (":method", "GET"),
            (":status", "200"),
            (":protocol", "websocket"),
            (":unknown", ""),
            (":authority", ""),
            (":authority", "user@host"),
            (":authority", "/run/socket"),
        ] {
            assert!(read(REQUEST, &[&request[..], &[(name, value)]].concat()).is_err(), "{name:?}: {value:?}");
        }
        for (at, value) in
            [(0, ""), (0, "G T"), (1, ""), (1, "1a"), (2, ""), (2, "a"), (2, "*"), (2, "/a#b"), (2, "/ ")]
        {
            let mut fields = request;
            fields[at].1 = value;
            assert!(read(REQUEST, &fields).is_err(), "{:?}", fields[at]);
        }
        assert!(read(REQUEST, &[(":method", "CONNECT"), (":authority", "a"), (":path", "/")]).is_err());
        assert!(read(REQUEST, &[("a", "b"), request[0], request[1], request[2]]).is_err());
    }

    #[test]
    fn response_and_trailer_pseudo_fields_are_checked() {
        assert_eq!(read(HeadKind::Response, &[(":status", "200"), ("content-length", "3")]), Ok(Some(3)));
        for status in ["", "20", "2000", "abc", "101", "099"] {
            assert!(read(HeadKind::Response, &[(":status", status)]).is_err(), "{status}");
        }
        assert!(read(HeadKind::Response, &[]).is_err());
        assert!(read(HeadKind::Response, &[(":status", "200"), (":path", "/")]).is_err());
        assert_eq!(read(HeadKind::Trailers, &[("grpc-status", "0")]), Ok(None));
        assert!(read(HeadKind::Trailers, &[(":status", "200")]).is_err());
    }

    #[test]
    fn socket_path_authority_requires_local_request() {
        let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "/run/user/1/my socket")];
        assert_eq!(read(HeadKind::Request { is_local: true }, &fields), Ok(None));
        assert!(read(REQUEST, &fields).is_err());
    }

    #[test]
    fn long_list_is_truncated() {
        let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/"), ("x", "y")];
        for (count, is_truncated) in [(97, false), (98, true), (400, true)] {
            let mut head = Head::default();
            let mut reader = HeadReader::new(REQUEST, &mut head);
            for (name, value) in fields[..3].iter().chain(std::iter::repeat_n(&fields[3], count)) {
                reader.field(hpack::Field::for_test(name.as_bytes(), value.as_bytes()));
            }
            assert_eq!(reader.finish(), Ok(None));
            assert_eq!(head.is_truncated(), is_truncated, "{count}");
        }
        let mut head = Head::default();
        let mut reader = HeadReader::new(REQUEST, &mut head);
        reader.field(hpack::Field::for_test(b":path", &[b'/'; SIZE_MAX - 36]));
        assert_eq!(reader.finish(), Ok(None), "pseudo-fields other than the required ones may be missing");
        assert!(head.is_truncated() && head.memory() < 1024);
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut head = Head::response(204);
        head.push_sensitive("set-cookie", "secret");
        assert_eq!(format!("{head:?}"), r#"{":status": "204", "set-cookie": "…"}"#);
        assert!(head.has_secrets());
    }
}
