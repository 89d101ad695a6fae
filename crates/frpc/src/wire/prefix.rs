//! The prefix that native peers add to bodies, with timeout, metadata, status and trace context.
//!
//! A prefix consists of the byte `10`, its length n as a varint, and n bytes of items, each with a type, a length and a
//! value. Messages never start with `10`. A prefix is only sent if it contains items.
//!
//! # Decisions
//!
//! A trace context has its own item instead of being metadata, which would require allocations at both peers.

use crate::Status;
use crate::api::code::Code;
use crate::api::extras::{Extras, OptionalExtras};
use crate::api::metadata::{self, Metadata};
use crate::observe::TraceContext;
use crate::wire::body;
use crate::wire::report::Report;
use bytes::{Buf, Bytes};
use frisbee::tlv::{Items, put_item, put_varint, take_varint, whole_varint};
use std::time::{Duration, Instant};

/// First byte of a prefix, which may precede a message. Messages start with `00`, `06` or `08`.
const PREFIX: u8 = 0x10;

/// Maximum length of a received prefix in bytes.
const PREFIX_MAX: u64 = 64 * 1024;

/// Maximum overhead in bytes of a status item's details: type, length and code.
const AROUND_DETAILS: usize = 16;

/// Type of the prefix item that contains the caller's timeout in microseconds.
const TIMEOUT: u8 = 1;
/// Type of the prefix item that contains a metadata entry: the length of the key, the key and the value.
const METADATA: u8 = metadata::ENTRY;
/// Type of the prefix item that contains the gRPC code of a status and its details.
const STATUS: u8 = 3;
/// Type of the prefix item that states that a call has not run. It has no value.
const REFUSED: u8 = 5;
/// Type of the prefix item that contains the call's trace context: trace id, span id and flags.
const TRACE: u8 = 6;
/// Type of the prefix item that contains a load report of the server: the number of calls in progress and the expected
/// duration of another call in microseconds.
const REPORT: u8 = 7;

/// Type of the prefix item that contains the text of a status. It occurs only in TRAILERS.
const TEXT: u8 = 8;

/// Lowest type of mandatory prefix items. A receiver rejects a message with a mandatory item that it does not know.
const MUST_UNDERSTAND: u8 = 128;

/// Length in bytes of a prefix that contains only a trace context.
pub(crate) const TRACE_ALONE_LEN: usize = TRACE_ALONE.len() + TraceContext::LEN;

/// First bytes of a prefix that contains only a trace context.
const TRACE_ALONE: [u8; 4] = [PREFIX, TraceContext::LEN as u8 + 2, TRACE, TraceContext::LEN as u8];

/// Decoded contents of the prefix that precedes a message.
#[derive(Clone, Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Prefix {
    pub(crate) timeout: Option<Duration>,
    /// Metadata of the message. Extensions are added to it after decoding.
    pub(crate) extras: OptionalExtras,
    pub(crate) failure: Option<Failure>,
    pub(crate) trace: Option<TraceContext>,
    /// Deadline of the call. Computed from the call's timeout when the call is authorized.
    pub(crate) deadline: Option<Instant>,
    /// Time at which the caller's authorization expires. Set when the call is authorized.
    pub(crate) expires: Option<Instant>,
    /// Approximate memory of the metadata in bytes. Set when the call is authorized.
    pub(crate) memory: usize,
}

/// Prefix items that describe a failure. Grouped to keep the prefix small.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// Whether the peer states that the call has not run, so that it may be retried.
    pub(crate) is_refusal: bool,
    pub(crate) details: Bytes,
}

impl Failure {
    fn unknown() -> Self {
        Self { code: Code::Unknown, is_refusal: false, details: Bytes::new() }
    }
}

impl Prefix {
    /// Returns the metadata and discards all other items.
    pub(crate) fn into_metadata(self) -> Metadata {
        self.extras.into_metadata().unwrap_or_default()
    }
}

/// Reason why the prefix of a message cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrefixError {
    Malformed,
    /// The prefix contains a mandatory item of this unknown type.
    Unknown(u8),
}

use PrefixError::Malformed;

impl PrefixError {
    fn text(self, what: &str) -> String {
        match self {
            Malformed => format!("the prefix of the {what} is malformed"),
            Self::Unknown(item) => {
                format!("the prefix of the {what} contains the unknown mandatory item {item}: update this program")
            }
        }
    }

    /// Returns the status of a request that is rejected because of its invalid prefix.
    #[cold]
    pub(crate) fn of_request(self) -> Status {
        let text = self.text("request");
        match self {
            Malformed => Status::invalid_argument(text),
            Self::Unknown(_) => Status::unimplemented(text),
        }
        .not_run()
    }

    /// Returns the status of a call if its reply has an invalid prefix.
    #[cold]
    pub(crate) fn of_reply(self, what: &str) -> Status {
        Status::internal(self.text(what))
    }
}

/// Fields of a prefix that is written before a message.
#[derive(Clone, Copy, Default)]
pub(crate) struct PrefixFields<'a> {
    pub(crate) timeout: Option<Duration>,
    pub(crate) metadata: Option<&'a Metadata>,
    pub(crate) status: Option<(Code, &'a [u8])>,
    /// Whether the prefix states that the call has not run.
    pub(crate) refused: bool,
    pub(crate) trace: Option<&'a TraceContext>,
    pub(crate) report: Option<Report>,
}

impl PrefixFields<'_> {
    /// Returns whether the prefix has no items and can be omitted.
    #[inline(always)] // Most messages have no prefix.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { timeout, metadata, status, refused, trace, report } = self;
        let has_context = metadata.is_some() || trace.is_some();
        !(has_context || timeout.is_some() || status.is_some() || *refused || report.is_some())
    }
}

/// Writes a prefix if it has any items. The body of the message must follow.
#[inline(always)] // Lets the compiler eliminate fields that are not set.
pub(crate) fn put(buffer: &mut Vec<u8>, fields: PrefixFields<'_>) {
    let PrefixFields { metadata, trace, .. } = fields;
    let has_more = !PrefixFields { metadata: None, trace: None, ..fields }.is_empty();
    match (metadata, trace) {
        (None, None) if !has_more => {}
        (None, Some(trace)) if !has_more => put_trace(buffer, trace),
        (Some(metadata), None) if !has_more => put_metadata(buffer, metadata),
        _ => put_items(buffer, fields),
    }
}

/// Writes a prefix that contains only metadata.
fn put_metadata(buffer: &mut Vec<u8>, metadata: &Metadata) {
    match metadata.plain_items() {
        Some([]) => {}
        Some(items) if items.len() < 0x80 => {
            buffer.extend_from_slice(&[PREFIX, items.len() as u8]); // The length is below 0x80.
            buffer.extend_from_slice(items);
        }
        _ => put_items(buffer, PrefixFields { metadata: Some(metadata), ..PrefixFields::default() }),
    }
}

#[inline(never)]
fn put_items(buffer: &mut Vec<u8>, fields: PrefixFields<'_>) {
    let PrefixFields { metadata, trace, .. } = fields;
    let metadata = metadata.filter(|metadata| !metadata.is_empty());
    if (PrefixFields { metadata, trace: None, ..fields }).is_empty() {
        if let Some(trace) = trace {
            put_trace(buffer, trace);
        }
        return;
    }
    buffer.extend_from_slice(&[PREFIX, 0]); // The length is written later.
    let begin = buffer.len();
    put_all(buffer, PrefixFields { metadata, ..fields });
    match u8::try_from(buffer.len() - begin) {
        Ok(length @ ..0x80) => {
            if let Some(first) = buffer.get_mut(begin - 1) {
                *first = length;
            }
        }
        _ => put_long_length(buffer, begin),
    }
}

/// Writes the items of a prefix without its header.
fn put_all(buffer: &mut Vec<u8>, fields: PrefixFields<'_>) {
    let PrefixFields { timeout, metadata, status, refused, trace, report } = fields;
    let begin = buffer.len();
    if let Some(trace) = trace {
        put_item(buffer, TRACE, &trace.to_bytes());
    }
    if let Some(timeout) = timeout {
        let micros = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
        put_head(buffer, TIMEOUT, varint_len(micros));
        put_varint(buffer, micros);
    }
    if let Some(metadata) = metadata {
        metadata.put_items(buffer);
    }
    if let Some((code, mut details)) = status {
        // Omit details that would make the prefix too long, so that the remaining items can be decoded.
        if buffer.len() - begin + details.len() + AROUND_DETAILS > PREFIX_MAX as usize {
            // Log only at debug level, because a peer can cause this at any rate.
            tracing::debug!(length = details.len(), "dropped the details of a status: too long");
            details = &[];
        }
        put_head(buffer, STATUS, varint_len(code as u64) + details.len());
        put_varint(buffer, code as u64);
        buffer.extend_from_slice(details);
    }
    if refused {
        put_item(buffer, REFUSED, &[]);
    }
    if let Some(report) = report {
        put_head(buffer, REPORT, varint_len(report.in_progress.into()) + varint_len(report.micros.into()));
        report.put(buffer);
    }
}

/// Encodes response metadata as the items of a HEADERS packet.
pub(crate) fn headers(metadata: &Metadata) -> Vec<u8> {
    let mut items = Vec::new();
    put_all(&mut items, PrefixFields { metadata: Some(metadata), ..PrefixFields::default() });
    items
}

/// Decodes the response metadata in a HEADERS packet.
pub(crate) fn read_headers(items: &[u8]) -> Result<Metadata, PrefixError> {
    let mut prefix = Prefix::default();
    read(items, &mut prefix)?;
    Ok(prefix.into_metadata())
}

/// Encodes a failure as the items of a TRAILERS packet. If they would exceed `max` bytes, omits metadata and details
/// and truncates the text.
pub(crate) fn trailers(status: &Status, refused: bool, max: usize) -> Vec<u8> {
    /// Maximum length in bytes of a TRAILERS packet without metadata, details and text.
    const AROUND: usize = 12;
    let with = |text: &str, whole: bool| {
        let mut items = Vec::new();
        // A failure with the code `Ok` would not be recognized as one.
        let code = if status.code() == Code::Ok { Code::Unknown } else { status.code() };
        let code_and_details = (code, if whole { status.details() } else { &[] });
        let metadata = Some(status.metadata()).filter(|metadata| whole && !metadata.is_empty());
        put_all(
            &mut items,
            PrefixFields { metadata, status: Some(code_and_details), refused, ..PrefixFields::default() },
        );
        put_item(&mut items, TEXT, text.as_bytes());
        items
    };
    let items = with(status.message(), true);
    if items.len() <= max {
        return items;
    }
    with(body::beginning(status.message(), max.saturating_sub(AROUND)), false)
}

/// Decodes the items of a TRAILERS packet. Returns the failure, or `None` if the stream ended successfully.
pub(crate) fn read_trailers(items: &[u8]) -> Result<Option<Status>, PrefixError> {
    let mut prefix = Prefix::default();
    read(items, &mut prefix)?;
    if prefix.failure.as_ref().is_none_or(|failure| failure.code == Code::Ok) {
        return Ok(None);
    }
    let text = Items::new(items).flatten().find(|(kind, _)| *kind == TEXT).map_or(&[][..], |(_, text)| text);
    Ok(Some(Status::received(String::from_utf8_lossy(text).into_owned(), Some(prefix))))
}

/// Writes the length of the prefix items that start at `begin`, which does not fit into the byte reserved for it.
fn put_long_length(buffer: &mut Vec<u8>, begin: usize) {
    let mut length = Vec::new();
    put_varint(&mut length, (buffer.len() - begin) as u64);
    buffer.splice(begin - 1..begin, length);
}

/// Writes the type and length of a prefix item.
fn put_head(buffer: &mut Vec<u8>, kind: u8, length: usize) {
    buffer.push(kind);
    put_varint(buffer, length as u64);
}

/// Returns the length of `number` encoded as a varint.
fn varint_len(number: u64) -> usize {
    (number | 1).ilog2() as usize / 7 + 1
}

/// Writes a prefix that contains only a trace context.
fn put_trace(buffer: &mut Vec<u8>, trace: &TraceContext) {
    let mut prefix = [0; TRACE_ALONE_LEN];
    let (start, context) = prefix.split_at_mut(TRACE_ALONE.len());
    start.copy_from_slice(&TRACE_ALONE);
    context.copy_from_slice(&trace.to_bytes());
    buffer.extend_from_slice(&prefix);
}

/// Fast path: returns the trace context of a body if its prefix contains nothing else.
pub(crate) fn trace_alone(body: &[u8]) -> Option<TraceContext> {
    TraceContext::from_bytes(body.get(..TRACE_ALONE_LEN)?.strip_prefix(&TRACE_ALONE)?)
}

/// Returns the load report in the prefix of a body, and whether a message follows the prefix. Returns `None` if there
/// is no load report.
pub(crate) fn report(body: &[u8]) -> Option<(Report, bool)> {
    let (items, rest) = split(body).ok().filter(|_| is_present(body))?;
    let mut items = Items::new(items).map_while(|item| item);
    let (_, item) = items.find(|(kind, _)| *kind == REPORT)?;
    Some((Report::from_item(item)?, !rest.is_empty()))
}

/// Returns whether a body starts with a prefix. Only native peers send prefixes.
pub(crate) fn is_present(body: &[u8]) -> bool {
    body.first() == Some(&PREFIX)
}

/// Removes the prefix from a body and decodes it. Returns `None` if there is no prefix.
pub(crate) fn take(body: &mut Bytes) -> Result<Option<Prefix>, PrefixError> {
    if is_present(body) { take_present(body).map(Some) } else { Ok(None) }
}

/// Removes and decodes the prefix of a body that starts with one.
#[cold]
pub(crate) fn take_slice(body: &mut &[u8]) -> Result<Prefix, PrefixError> {
    let (items, rest) = split(body)?;
    let mut prefix = Prefix::default();
    read(items, &mut prefix)?;
    *body = rest;
    Ok(prefix)
}

#[cold]
fn take_present(body: &mut Bytes) -> Result<Prefix, PrefixError> {
    let mut rest = &body[..];
    let prefix = take_slice(&mut rest)?;
    body.advance(body.len() - rest.len());
    Ok(prefix)
}

/// Splits a body into the items of its prefix and the remaining bytes.
pub(crate) fn split(body: &[u8]) -> Result<(&[u8], &[u8]), PrefixError> {
    let mut rest = body.get(1..).ok_or(Malformed)?;
    let length = take_varint(&mut rest).filter(|length| *length <= PREFIX_MAX).ok_or(Malformed)?;
    rest.split_at_checked(length as usize).ok_or(Malformed) // The length is at most PREFIX_MAX.
}

/// Decodes the items of a prefix, which come from an untrusted peer.
pub(crate) fn read(items: &[u8], prefix: &mut Prefix) -> Result<(), PrefixError> {
    // Bit set of the items seen so far that may occur only once.
    let mut seen = 0_u16;
    for item in Items::new(items) {
        let (kind, mut value) = item.ok_or(Malformed)?;
        match kind {
            TIMEOUT => prefix.timeout = Some(Duration::from_micros(whole_varint(value).ok_or(Malformed)?)),
            METADATA => {
                let length = take_varint(&mut value).and_then(|length| usize::try_from(length).ok());
                let (key, value) = length.and_then(|length| value.split_at_checked(length)).ok_or(Malformed)?;
                Extras::metadata_mut(&mut prefix.extras).add(key, value).map_err(|_| Malformed)?;
                continue;
            }
            STATUS => {
                let code = take_varint(&mut value).ok_or(Malformed)?;
                let failure = prefix.failure.get_or_insert_with(Failure::unknown);
                failure.code = i32::try_from(code).map_or(Code::Unknown, Code::from_i32);
                failure.details = Bytes::copy_from_slice(value);
            }
            // Ignore an invalid trace context, because the call does not depend on it.
            TRACE => prefix.trace = TraceContext::from_bytes(value),
            REFUSED => prefix.failure.get_or_insert_with(Failure::unknown).is_refusal = true,
            // `read_trailers` decodes the text.
            TEXT => {}
            MUST_UNDERSTAND.. => return Err(PrefixError::Unknown(kind)),
            _ => continue,
        }
        let bit = 1 << kind; // The kind is at most TEXT.
        if seen & bit != 0 {
            return Err(Malformed);
        }
        seen |= bit;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Prefix {
        let mut extras = OptionalExtras::default();
        let metadata = Extras::metadata_mut(&mut extras);
        metadata.insert("k", "v").unwrap();
        metadata.insert_bin("b-bin", vec![0xFF]).unwrap();
        Prefix {
            timeout: Some(Duration::from_millis(1500)),
            extras,
            failure: Some(Failure { code: Code::NotFound, is_refusal: true, details: Bytes::from_static(b"d") }),
            trace: None,
            ..Prefix::default()
        }
    }

    fn encoded(prefix: &Prefix) -> Vec<u8> {
        let mut bytes = Vec::new();
        let status = prefix.failure.as_ref().map(|failure| (failure.code, &failure.details[..]));
        let refused = prefix.failure.as_ref().is_some_and(|failure| failure.is_refusal);
        let metadata = Extras::sent(prefix.extras.as_deref());
        let fields = PrefixFields { timeout: prefix.timeout, metadata, status, refused, ..PrefixFields::default() };
        put(&mut bytes, fields);
        bytes
    }

    #[test]
    fn prefix_has_fixed_bytes_and_round_trips() {
        let mut bytes = encoded(&sample());
        #[rustfmt::skip]
        let expected = [
            0x10, 22,
            1, 3, 0xE0, 0xC6, 0x5B,             // 1 500 000 microseconds
            2, 3, 1, b'k', b'v',
            2, 7, 5, b'b', b'-', b'b', b'i', b'n', 0xFF,
            3, 2, 5, b'd',
            5, 0,
        ];
        let expected = {
            let mut e = expected.to_vec();
            e[1] = (e.len() - 2) as u8;
            e
        };
        assert_eq!(bytes, expected);
        bytes.extend_from_slice(&[8, 0]);
        let mut body = Bytes::from(bytes);
        assert_eq!(take(&mut body), Ok(Some(sample())));
        assert_eq!(body, [8, 0][..]);
    }

    #[test]
    fn items_of_any_length_come_back() {
        for length in (100..140).chain((16_370..16_400).chain([50_000])) {
            let mut extras = OptionalExtras::default();
            Extras::metadata_mut(&mut extras).insert("k", "v".repeat(length)).unwrap();
            let prefix = Prefix { extras, ..sample() };
            let mut body = Bytes::from([b"before".to_vec(), encoded(&prefix), b"behind".to_vec()].concat());
            body.advance(6);
            assert_eq!(take(&mut body), Ok(Some(prefix)), "{length}");
            assert_eq!(body, "behind");
        }
    }

    #[test]
    fn sensitive_metadata_is_sent_without_mark() {
        let mut metadata = Metadata::new();
        let bytes = |metadata: &Metadata| {
            let mut bytes = b"before".to_vec();
            put(&mut bytes, PrefixFields { metadata: Some(metadata), ..PrefixFields::default() });
            bytes
        };
        // The first entry is stored inline, and further entries require an allocation.
        for key in ["first", "second", "third"] {
            metadata.insert(key, "v".repeat(40)).unwrap();
            let plain = bytes(&metadata);
            let mut marked = metadata.clone();
            assert!(marked.mark_sensitive(key));
            assert_eq!(bytes(&marked), plain);
        }
    }

    #[test]
    fn trace_context_has_specified_bytes() {
        let trace = TraceContext::from_bytes(&[7; 25]);
        let mut bytes = Vec::new();
        put(&mut bytes, PrefixFields { trace: trace.as_ref(), ..PrefixFields::default() });
        assert_eq!(bytes, [&[0x10, 27, 6, 25][..], &[7; 25]].concat());
        assert_eq!(take(&mut Bytes::from(bytes.clone())), Ok(Some(Prefix { trace, ..Prefix::default() })));
        let mut whole = Vec::new();
        let timeout = Some(Duration::from_micros(4));
        put(&mut whole, PrefixFields { timeout, trace: trace.as_ref(), ..PrefixFields::default() });
        assert_eq!(take(&mut whole.into()), Ok(Some(Prefix { timeout, trace, ..Prefix::default() })));
        bytes[4..20].fill(0);
        assert_eq!(take(&mut bytes.into()), Ok(Some(Prefix::default())), "invalid context should be ignored");
    }

    #[test]
    fn peer_metadata_is_limited_to_256_entries() {
        let prefix = |count: u16, same: u16| {
            let mut items = Vec::new();
            let same = std::iter::repeat_n((0, "text again"), same.into());
            for (number, text) in (0..count).map(|number| (number, "text")).chain(same) {
                let key = format!("{number:x}");
                put_item(&mut items, METADATA, &[&[key.len() as u8], key.as_bytes(), text.as_bytes()].concat());
            }
            let mut bytes = vec![PREFIX];
            put_varint(&mut bytes, items.len() as u64);
            Bytes::from([bytes, items].concat())
        };
        let most = take(&mut prefix(256, 0)).unwrap().unwrap().into_metadata();
        assert_eq!((most.len(), most.get("ff")), (256, Some("text")));
        assert_eq!(take(&mut prefix(257, 0)), Err(Malformed));
        let repeated = take(&mut prefix(255, 1)).unwrap().unwrap().into_metadata();
        assert_eq!(repeated.get_all("0").collect::<Vec<_>>(), ["text", "text again"]);
        assert_eq!(take(&mut prefix(256, 1)), Err(Malformed), "each value should count towards the limit");
    }

    #[test]
    fn prefix_and_key_beyond_bounds_are_malformed() {
        let prefix = |length: usize| {
            let mut bytes = vec![PREFIX];
            let mut item = Vec::new();
            // An unknown item with a length that takes three bytes.
            put_item(&mut item, 99, &vec![0; length - 4]);
            assert_eq!(item.len(), length);
            put_varint(&mut bytes, length as u64);
            Bytes::from([bytes, item].concat())
        };
        assert_eq!(take(&mut prefix(64 * 1024)), Ok(Some(Prefix::default())));
        assert_eq!(take(&mut prefix(64 * 1024 + 1)), Err(Malformed));
        assert_eq!(take(&mut Bytes::from_static(&[0x10, 4, 2, 2, 5, b'k'])), Err(Malformed));
    }

    #[test]
    fn empty_prefix_is_omitted_from_message() {
        let mut bytes = Vec::new();
        put(&mut bytes, PrefixFields { metadata: Some(&Metadata::new()), ..PrefixFields::default() });
        assert!(bytes.is_empty());
        let mut body = Bytes::from_static(&[8, 0]);
        assert_eq!(take(&mut body), Ok(None));
    }

    /// Regression test: a timeout of 2^64 microseconds was decoded as 0, so the call timed out immediately.
    #[test]
    fn number_beyond_64_bits_is_malformed() {
        let timeout = |value: &[u8]| {
            let items = [&[TIMEOUT, value.len() as u8], value].concat();
            take(&mut [&[PREFIX, items.len() as u8], &items[..]].concat().into())
        };
        let most = [&[0xFF; 9][..], &[1]].concat();
        assert_eq!(timeout(&most).map(|prefix| prefix.unwrap().timeout), Ok(Some(Duration::from_micros(u64::MAX))));
        for value in [&[][..], &[7, 7], &[0x80], &[&[0x80; 9][..], &[2]].concat(), &[0x80; 11]] {
            assert_eq!(timeout(value), Err(Malformed), "{value:?}");
        }
    }

    #[test]
    fn repeated_item_is_malformed_but_for_metadata() {
        for item in [&[TIMEOUT, 1, 7][..], &[STATUS, 1, 5], &[REFUSED, 0], &[TRACE, 0], &[TEXT, 0]] {
            let mut body: Bytes = [&[PREFIX, 2 * item.len() as u8], item, item].concat().into();
            assert_eq!(take(&mut body), Err(Malformed), "{item:?}");
        }
        let mut body = Bytes::from_static(&[PREFIX, 10, 2, 3, 1, b'k', b'v', 2, 3, 1, b'k', b'w']);
        let metadata = take(&mut body).unwrap().unwrap().into_metadata();
        assert_eq!(metadata.get_all("k").collect::<Vec<_>>(), ["v", "w"]);
    }

    #[test]
    fn trailers_carry_status_and_truncate_long_parts() {
        let mut metadata = Metadata::new();
        metadata.insert("k", "v").expect("entry should be valid metadata");
        let status = Status::unauthenticated("no").with_details(&b"d"[..]).with_metadata(metadata);
        let items = trailers(&status, true, 64 * 1024);
        assert_eq!(items, *b"\x02\x03\x01kv\x03\x02\x10d\x05\x00\x08\x02no");
        let received =
            read_trailers(&items).expect("trailers should be valid").expect("trailers should contain an error");
        assert_eq!((received.code(), received.message(), received.details()), (Code::Unauthenticated, "no", &b"d"[..]));
        assert!(!received.may_have_run() && received.metadata() == status.metadata());
        let ok = read_trailers(&trailers(&Status::new(Code::Ok, "odd"), false, 100)).expect("trailers should be valid");
        assert_eq!(ok.map(|status| status.code()), Some(Code::Unknown));
        for max in [24, 200, 64 * 1024] {
            let long = Status::unauthenticated("\u{20AC}".repeat(30_000)).with_details(&b"d"[..]);
            let items = trailers(&long, false, max);
            assert!((max - 12..=max).contains(&items.len()), "entries take {} of {max} bytes", items.len());
            let received =
                read_trailers(&items).expect("trailers should be valid").expect("trailers should contain an error");
            assert!(long.message().starts_with(received.message()) && received.code() == Code::Unauthenticated);
        }
    }

    #[test]
    fn trailers_end_without_failure_and_reject_repeats() {
        let read = |items: &[u8]| read_trailers(items).map(|failure| failure.map(|status| status.message().to_owned()));
        for ended in [&[][..], &[2, 3, 1, b'k', b'v'], &[3, 1, 0, 8, 1, b'x'], &[8, 1, b'x'], &[99, 1, 7]] {
            assert_eq!(read(ended), Ok(None), "{ended:?}");
        }
        assert_eq!(read(&[3, 1, 16]), Ok(Some(String::new())));
        assert_eq!(read(&[3, 1, 16, 8, 2, b'a', 0xFF]), Ok(Some("a\u{FFFD}".to_owned())));
        for malformed in [&[3, 1][..], &[3, 0], &[3, 1, 5, 3, 1, 5], &[3, 1, 5, 8, 0, 8, 0], &[3, 1, 5, 8]] {
            assert_eq!(read(malformed), Err(Malformed), "{malformed:?}");
        }
        assert_eq!(read(&[3, 1, 5, 200, 0]), Err(PrefixError::Unknown(200)));
        assert_eq!(read_headers(&headers(&Metadata::new())), Ok(Metadata::new()));
    }

    #[test]
    fn unknown_item_from_128_is_rejected() {
        for item in [128, 191, 255] {
            let mut body = Bytes::from(vec![PREFIX, 5, TIMEOUT, 1, 7, item, 0]);
            assert_eq!(take(&mut body), Err(PrefixError::Unknown(item)));
        }
        let (malformed, unknown) = (Malformed.of_request(), PrefixError::Unknown(200).of_request());
        assert_eq!((malformed.code(), unknown.code()), (Code::InvalidArgument, Code::Unimplemented));
        assert!(!malformed.may_have_run() && !unknown.may_have_run() && unknown.message().contains("item 200"));
        let reply = PrefixError::Unknown(200).of_reply("reply");
        assert!(reply.code() == Code::Internal && reply.may_have_run());
    }

    #[test]
    fn prefix_skips_unknown_items_and_rejects_truncation() {
        let whole = encoded(&sample());
        for cut in 1..whole.len() {
            assert_eq!(take(&mut Bytes::copy_from_slice(&whole[..cut])), Err(Malformed), "cut at {cut}");
        }
        assert_eq!(take(&mut Bytes::from_static(&[0x10, 6, 99, 1, 7, 99, 1, 7])), Ok(Some(Prefix::default())));
        assert_eq!(take(&mut Bytes::from_static(&[0x10, 2, 99, 1])), Err(Malformed));
        assert_eq!(take(&mut Bytes::from_static(&[0x10, 0xFF, 0xFF, 0xFF, 0x7F])), Err(Malformed));
    }
}
