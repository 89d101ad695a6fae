//! Header fields of requests: those that the gateway interprets, and all others, which become metadata.

use crate::http::answer::Answer;
use crate::http::head::number;
use crate::reserved_fields::{is_of_http, is_of_response};
use frpc::{Metadata, MetadataError, Status};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

/// Name of the header field that carries the caller's bearer token.
pub(crate) const AUTHORIZATION: &str = "authorization";

/// Maximum length of the names in [`KnownFields`]. Longer names are skipped without comparison.
const NAME_MAX: usize = 30;

/// A `connection` field of at most this length is searched linearly, because most requests have a single option.
const CONNECTION_SHORT: usize = 64;

/// Request header fields that the gateway interprets, as raw bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFields<'a> {
    pub(crate) host: Option<&'a [u8]>,
    pub(crate) origin: Option<&'a [u8]>,
    /// `sec-fetch-site`, a browser's statement of how the requesting page relates to the server.
    pub(crate) site: Option<&'a [u8]>,
    #[cfg(feature = "mcp")]
    pub(crate) accept: Option<Cow<'a, [u8]>>,
    pub(crate) content_type: Option<&'a [u8]>,
    pub(crate) content_encoding: Option<Cow<'a, [u8]>>,
    pub(crate) accept_encoding: Option<Cow<'a, [u8]>>,
    pub(crate) connection: Option<Cow<'a, [u8]>>,
    pub(crate) upgrade: Option<Cow<'a, [u8]>>,
    pub(crate) expect: Option<Cow<'a, [u8]>>,
    /// `connect-timeout-ms`, the timeout of a Connect call.
    pub(crate) timeout: Option<&'a [u8]>,
    /// `connect-protocol-version`, the version of the Connect protocol that the client uses.
    pub(crate) version: Option<&'a [u8]>,
    pub(crate) connect_encoding: Option<Cow<'a, [u8]>>,
    pub(crate) connect_accept: Option<Cow<'a, [u8]>>,
    pub(crate) grpc_timeout: Option<&'a [u8]>,
    pub(crate) grpc_encoding: Option<Cow<'a, [u8]>>,
    pub(crate) grpc_accept: Option<Cow<'a, [u8]>>,
    /// `access-control-request-method`, which identifies a CORS preflight request.
    pub(crate) preflight: Option<&'a [u8]>,
    pub(crate) preflight_fields: Option<Cow<'a, [u8]>>,
    /// `mcp-protocol-version`, the version of the Model Context Protocol that the client uses.
    #[cfg(feature = "mcp")]
    pub(crate) mcp_version: Option<&'a [u8]>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp_method: Option<&'a [u8]>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp_name: Option<&'a [u8]>,
    /// `mcp-session-id`, the session of clients that use an older version of the Model Context Protocol.
    #[cfg(feature = "mcp")]
    pub(crate) mcp_session: Option<&'a [u8]>,
    pub(crate) socket_key: Option<&'a [u8]>,
    pub(crate) socket_version: Option<&'a [u8]>,
    pub(crate) socket_protocol: Option<Cow<'a, [u8]>>,
    /// Name of a field that occurs more than once although it must have a single value. Such requests are rejected.
    pub(crate) repeated: Option<&'static str>,
}

impl<'a> KnownFields<'a> {
    /// Collects the known fields from all names and values. Names are matched without regard to case.
    pub(crate) fn of(fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut known = Self::default();
        for (name, value) in fields {
            known.add(name, value);
        }
        known
    }

    fn add(&mut self, name: &str, value: &'a [u8]) {
        let mut lower = [0; NAME_MAX];
        let Some(lower) = lower.get_mut(..name.len()) else { return };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        let (name, field) = match &*lower {
            b"host" => ("host", &mut self.host),
            b"origin" => ("origin", &mut self.origin),
            b"sec-fetch-site" => ("sec-fetch-site", &mut self.site),
            b"content-type" => ("content-type", &mut self.content_type),
            b"connect-timeout-ms" => ("connect-timeout-ms", &mut self.timeout),
            b"connect-protocol-version" => ("connect-protocol-version", &mut self.version),
            b"grpc-timeout" => ("grpc-timeout", &mut self.grpc_timeout),
            b"access-control-request-method" => ("access-control-request-method", &mut self.preflight),
            #[cfg(feature = "mcp")]
            b"mcp-protocol-version" => ("mcp-protocol-version", &mut self.mcp_version),
            #[cfg(feature = "mcp")]
            b"mcp-method" => ("mcp-method", &mut self.mcp_method),
            #[cfg(feature = "mcp")]
            b"mcp-name" => ("mcp-name", &mut self.mcp_name),
            #[cfg(feature = "mcp")]
            b"mcp-session-id" => ("mcp-session-id", &mut self.mcp_session),
            b"sec-websocket-key" => ("sec-websocket-key", &mut self.socket_key),
            b"sec-websocket-version" => ("sec-websocket-version", &mut self.socket_version),
            lower => return self.add_list(lower, value),
        };
        if field.replace(value).is_some() {
            self.repeated = Some(name);
        }
    }

    /// Adds a line of a list field. All lines of the field form one list (RFC 9110, section 5.3).
    fn add_list(&mut self, name: &[u8], value: &'a [u8]) {
        let list = match name {
            b"content-encoding" => &mut self.content_encoding,
            #[cfg(feature = "mcp")]
            b"accept" => &mut self.accept,
            b"accept-encoding" => &mut self.accept_encoding,
            b"expect" => &mut self.expect,
            b"connection" => &mut self.connection,
            b"upgrade" => &mut self.upgrade,
            b"connect-content-encoding" => &mut self.connect_encoding,
            b"connect-accept-encoding" => &mut self.connect_accept,
            b"grpc-encoding" => &mut self.grpc_encoding,
            b"grpc-accept-encoding" => &mut self.grpc_accept,
            b"access-control-request-headers" => &mut self.preflight_fields,
            b"sec-websocket-protocol" => &mut self.socket_protocol,
            _ => return,
        };
        *list = Some(match list.take() {
            Some(before) => Cow::Owned([&before, &b", "[..], value].concat()),
            None => Cow::Borrowed(value),
        });
    }

    /// Checks the protocol version of a Connect call, and parses its timeout in `connect-timeout-ms`.
    ///
    /// # Errors
    /// Returns the reason if the version or the timeout does not have the format of the protocol.
    pub(crate) fn connect_timeout(&self) -> Result<Option<Duration>, &'static str> {
        if self.version.is_some_and(|version| version != b"1") {
            return Err("connect-protocol-version is 1");
        }
        let Some(digits) = self.timeout else { return Ok(None) };
        let millis = number(digits).filter(|_| digits.len() <= 10);
        let millis = millis.ok_or("connect-timeout-ms is a number of at most ten digits")?;
        Ok(Some(Duration::from_millis(millis)))
    }
}

/// Returns whether a request field is used by HTTP, the RPC protocol or the browser, so that it is not passed to
/// handlers as metadata. Undefined names with a protocol's reserved prefix are metadata.
fn is_of_request(name: &str) -> bool {
    is_of_http(name)
        || matches!(
            name,
            "proxy-authorization"
                | "content-type"
                | "content-length"
                | "content-encoding"
                | "connect-timeout-ms"
                | "connect-protocol-version"
                | "connect-content-encoding"
                | "connect-accept-encoding"
                | "grpc-timeout"
                | "grpc-encoding"
                | "grpc-accept-encoding"
                | "grpc-message-type"
        )
}

/// Error of a request field that cannot be converted to metadata.
#[derive(Debug)]
pub(crate) struct InvalidField {
    /// HTTP status of the response, for protocols that report errors as an HTTP status.
    http_status: u16,
    status: Status,
}

impl InvalidField {
    fn new(name: &str, error: &MetadataError) -> Self {
        match error {
            MetadataError::TooMany | MetadataError::TooLong(_) => {
                let text = format!("too many header fields: {error}");
                Self { http_status: 431, status: Status::invalid_argument(text) }
            }
            // Reject the call. If the malformed token were dropped, the call would run with the rights of its
            // connection.
            _ if name == AUTHORIZATION => {
                let text = "invalid header field authorization: send one token in printable ASCII";
                Self { http_status: 401, status: Status::unauthenticated(text) }
            }
            error => Self::invalid(&error.to_string()),
        }
    }

    fn invalid(text: &str) -> Self {
        Self { http_status: 400, status: Status::invalid_argument(format!("invalid header field: {text}")) }
    }

    /// Returns the error as an HTTP response, for protocols that report errors as an HTTP status.
    pub(crate) fn answer(&self) -> Answer {
        Answer::failure(self.http_status, self.status.code(), self.status.message())
    }

    /// Returns the error as the status of the call, for protocols that report errors after the response head.
    pub(crate) fn into_status(self) -> Status {
        self.status
    }
}

/// Converts the fields of a request to metadata. Text values with the same name are joined by commas, and cookies by
/// semicolons (RFC 9113, section 8.2.3). As in gRPC, binary values with the same name stay separate, and a field may
/// contain several, separated by commas.
///
/// # Errors
/// If a field cannot be represented as metadata. No field of a caller is dropped.
pub(crate) fn metadata<'a>(
    fields: impl Iterator<Item = (&'a str, &'a [u8])>,
    known: &KnownFields<'_>,
) -> Result<Metadata, InvalidField> {
    let mut metadata = Metadata::new();
    // Omit hop-by-hop fields (RFC 9110, section 7.6.1).
    let connection = known.connection.as_deref().unwrap_or_default();
    let options = || connection.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    // Sort the options of a long field, because a head of 16 kB may have thousands of options and fields to compare.
    let sorted: Option<BTreeSet<_>> =
        (connection.len() > CONNECTION_SHORT).then(|| options().map(<[u8]>::to_ascii_lowercase).collect());
    let is_of_connection = |name: &str| match &sorted {
        None => options().any(|option| option.eq_ignore_ascii_case(name.as_bytes())),
        Some(sorted) => sorted.contains(name.as_bytes()),
    };
    for (name, value) in fields {
        let lower;
        let name = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower = name.to_ascii_lowercase();
            &lower
        } else {
            name
        };
        if is_of_request(name) {
            continue;
        }
        if !connection.is_empty() && is_of_connection(name) {
            // Reject the call. If its token were dropped, the call would run with the rights of its connection.
            if name == AUTHORIZATION {
                return Err(InvalidField::invalid("connection must not name the end-to-end field authorization"));
            }
            continue;
        }
        if name.ends_with("-bin") {
            for value in value.split(|byte| *byte == b',') {
                let bytes = crate::base64::decode(value.trim_ascii());
                let bytes =
                    bytes.ok_or_else(|| InvalidField::invalid(&format!("the value of {name} is not base64")))?;
                metadata.append_bin(name, bytes).map_err(|error| InvalidField::new(name, &error))?;
            }
            continue;
        }
        // Invalid UTF-8 becomes a replacement character, which is rejected like all non-ASCII characters.
        let value = String::from_utf8_lossy(value);
        let separator = if name == "cookie" { "; " } else { ", " };
        let added = match metadata.get(name) {
            Some(before) => metadata.insert(name, format!("{before}{separator}{value}")),
            None => metadata.insert(name, value),
        };
        added.map_err(|error| InvalidField::new(name, &error))?;
    }
    Ok(metadata)
}

/// Converts metadata to response header fields with names that begin with `prefix`. Omits fields that are reserved for
/// HTTP or the protocol.
pub(crate) fn fields(metadata: &Metadata, prefix: &str) -> Vec<(String, String)> {
    let mut fields = Vec::with_capacity(metadata.len());
    for (key, value) in metadata.iter() {
        if is_of_response(key) {
            continue;
        }
        let value = if key.ends_with("-bin") {
            crate::base64::encode(value)
        } else {
            String::from_utf8_lossy(value).into_owned()
        };
        fields.push((format!("{prefix}{key}"), value));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_no_protocol_become_metadata() {
        let fields: [(&str, &[u8]); 9] = [
            ("host", b"localhost"),
            ("content-type", b"application/json"),
            ("x-tenant", b"blue"),
            ("x-tenant", b"green"),
            ("trace-bin", b"AAEC"),
            ("trace-bin", b"AA==,,AQ"),
            ("cookie", b"a=1"),
            ("cookie", b"b=2"),
            ("connect-timeout-ms", b"1500"),
        ];
        let known = KnownFields::of(fields.into_iter());
        assert_eq!((known.host, known.repeated), (Some(&b"localhost"[..]), None));
        assert_eq!(known.connect_timeout(), Ok(Some(Duration::from_millis(1500))));
        let metadata = metadata(fields.into_iter(), &known).unwrap();
        assert_eq!(metadata.len(), 6, "{metadata:?}");
        assert_eq!(metadata.get("x-tenant"), Some("blue, green"));
        assert_eq!(metadata.get("cookie"), Some("a=1; b=2"));
        let values: Vec<_> = metadata.get_all_bin("trace-bin").collect();
        assert_eq!(values, [&[0, 1, 2][..], &[0], &[], &[1]]);
    }

    #[test]
    fn connection_fields_are_no_metadata() {
        let read = |fields: &[(&'static str, &'static str)]| {
            let fields = || fields.iter().map(|(name, value)| (*name, value.as_bytes()));
            metadata(fields(), &KnownFields::of(fields()))
        };
        let found = read(&[
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("connection", "x-other"),
            ("X-Other", "2"),
            ("proxy-authorization", "Basic abc"),
            ("x-end", "3"),
        ]);
        let found = found.unwrap();
        assert_eq!((found.len(), found.get("x-end")), (1, Some("3")), "{found:?}");
        let stripped = read(&[("connection", "authorization"), ("authorization", "Bearer a")]).unwrap_err();
        assert_eq!(stripped.answer().status, 400);
    }

    #[test]
    fn list_fields_combine_and_others_are_single() {
        let known = |fields: &[(&'static str, &'static str)]| {
            KnownFields::of(fields.iter().map(|(name, value)| (*name, value.as_bytes())))
        };
        let combined = known(&[("connection", "upgrade"), ("connection", "keep-alive")]);
        assert_eq!(combined.connection.as_deref(), Some(&b"upgrade, keep-alive"[..]));
        assert_eq!(combined.repeated, None);
        for name in ["host", "origin", "content-type", "sec-websocket-key", "grpc-timeout"] {
            assert_eq!(known(&[(name, "a"), (name, "a")]).repeated, Some(name));
        }
    }

    #[test]
    fn field_with_reserved_prefix_becomes_metadata() {
        let names = [
            "accept-language",
            "content-language",
            "connect-tenant",
            "date",
            "grpc-previous-rpc-attempts",
            "server",
            "trailer-tenant",
            "vary",
        ];
        let found = metadata(names.iter().map(|name| (*name, &b"1"[..])), &KnownFields::default()).unwrap();
        assert_eq!(names.map(|name| found.get(name)), [Some("1"); 8]);
    }

    #[test]
    fn field_that_metadata_cannot_hold_is_refused() {
        let long = "x".repeat(60 * 1024);
        for (name, value, status) in [
            ("bad-bin", &b"?"[..], 400),
            ("bad-bin", b"AAEC, ?", 400),
            ("x-latin", b"\xe9", 400),
            ("x!", b"a", 400),
            ("x", b"a\tb", 400),
            ("authorization", b"Bearer\tabc", 401),
            ("authorization", b"Bearer \xe9", 401),
            ("authorization", long.as_bytes(), 431),
            ("x", long.as_bytes(), 431),
        ] {
            let fields = [("tenant", &b"blue"[..]), (name, value)];
            let refused = metadata(fields.into_iter(), &KnownFields::default()).unwrap_err();
            assert_eq!(refused.answer().status, status, "{name}: {}", refused.into_status());
        }
        let names: Vec<_> = (0..=256).map(|number| format!("x{number}")).collect();
        let many = names.iter().map(|name| (name.as_str(), &b""[..]));
        assert_eq!(metadata(many, &KnownFields::default()).unwrap_err().answer().status, 431);
    }

    /// Regression test: each field was compared with all options of `connection`.
    #[cfg(unix)]
    #[test]
    fn long_connection_field_is_split_once() {
        use crate::clock::cpu_time;
        let options = "close,".repeat(2500);
        let time = |count: usize| {
            let names: Vec<_> = (0..count).map(|number| format!("x{number}")).collect();
            let known = KnownFields { connection: Some(options.as_bytes().into()), ..KnownFields::default() };
            let run = || {
                let start = cpu_time();
                let found = metadata(names.iter().map(|name| (name.as_str(), &b"1"[..])), &known);
                assert_eq!(found.expect("fields should be valid metadata").len(), count);
                cpu_time() - start
            };
            (0..10).map(|_| run()).min().expect("at least one round should run")
        };
        let (one, many) = (time(1), time(90));
        assert!(many < one * 20, "{one:?} with one field, {many:?} with 90");
        let connection = Some(format!("{options} X-Hop").into_bytes().into());
        let fields: [(&str, &[u8]); 3] = [("x-hop", b"1"), ("X-HOP", b"2"), ("x-end", b"3")];
        let found = metadata(fields.into_iter(), &KnownFields { connection, ..KnownFields::default() }).unwrap();
        assert_eq!((found.len(), found.get("x-end")), (1, Some("3")), "{found:?}");
    }

    #[test]
    fn connect_timeout_has_at_most_ten_digits() {
        let timeout = |text: &'static str| {
            KnownFields { timeout: Some(text.as_bytes()), ..KnownFields::default() }.connect_timeout()
        };
        assert_eq!(timeout("0"), Ok(Some(Duration::ZERO)));
        assert_eq!(timeout("9999999999"), Ok(Some(Duration::from_millis(9_999_999_999))));
        for wrong in ["", "+1", "-1", "1.5", "10000000000", "a"] {
            assert!(timeout(wrong).is_err(), "{wrong:?}");
        }
    }

    /// Regression test: a call with another version of the protocol was accepted, except by GET.
    #[test]
    fn connect_protocol_version_is_one() {
        let version = |text: &'static str| {
            KnownFields { version: Some(text.as_bytes()), ..KnownFields::default() }.connect_timeout()
        };
        assert_eq!((version("1"), version("2")), (Ok(None), Err("connect-protocol-version is 1")));
    }

    #[test]
    fn metadata_becomes_fields_unless_it_alters_response() {
        let mut metadata = Metadata::new();
        metadata.insert("served-by", "north").unwrap();
        metadata.insert("content-length", "1").unwrap();
        metadata.insert("transfer-encoding", "chunked").unwrap();
        metadata.insert_bin("trace-bin", vec![0, 1, 2]).unwrap();
        let expected = [("trailer-served-by", "north"), ("trailer-trace-bin", "AAEC")];
        assert_eq!(fields(&metadata, "trailer-"), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
