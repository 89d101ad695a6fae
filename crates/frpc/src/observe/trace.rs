//! Trace contexts: which trace a call belongs to, and how that is written. How they are inherited is in `context.rs`.

use std::fmt;

/// The place of a call in a distributed trace: the id of the trace, the id of the span that the next calls belong to,
/// and whether the trace is recorded.
///
/// A context travels with calls between native peers in 29 bytes, and comes in by the
/// [protocol adapters](crate::ServerBuilder::adapter) as the metadata `traceparent` of W3C Trace Context. Calls
/// that a handler makes inherit it as they inherit its deadline. It is made by an [`Observer`](super::Observer), such as
/// that of the crate `frpc-telemetry`; without one it is passed on as it came.
///
/// ```
/// use frpc::observe::TraceContext;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let context = TraceContext::from_traceparent(text).expect("value should be valid");
/// assert!(context.is_sampled() && context.is_remote());
/// assert_eq!(context.to_string(), text);
///
/// let made = TraceContext::new(context.trace_id(), [7; 8], true).expect("no id is zero");
/// assert!(!made.is_remote());
/// assert_eq!(made.span_id(), [7; 8]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
    is_remote: bool,
}

impl TraceContext {
    /// The length in bytes of a context on the wire: the id of the trace, that of the span, and the flags.
    pub(crate) const LEN: usize = 25;

    /// The recording bit of the flags.
    const SAMPLED: u8 = 1;

    /// A context that this program makes. `None` if one of the ids is zero, which means none.
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], is_sampled: bool) -> Option<Self> {
        Self { trace: trace_id, span: span_id, flags: u8::from(is_sampled), is_remote: false }.valid()
    }

    /// Reads a `traceparent` of version 00, or the part of a later one that is as in 00.
    pub fn from_traceparent(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '-');
        let [version] = hex::<1>(parts.next()?)?;
        let (trace, span) = (hex::<16>(parts.next()?)?, hex::<8>(parts.next()?)?);
        let [flags] = hex::<1>(parts.next()?)?;
        let is_known = if version == 0 { parts.next().is_none() } else { version != 0xFF };
        Self { trace, span, flags, is_remote: true }.valid().filter(|_| is_known)
    }

    /// The id of the trace. Never zero.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace
    }

    /// The id of the span that the next calls belong to. Never zero.
    pub fn span_id(&self) -> [u8; 8] {
        self.span
    }

    /// Whether the creator of the context records the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & Self::SAMPLED != 0
    }

    /// Whether the context was sent by a peer, which may state any values.
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Its wire form.
    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [self.flags; Self::LEN];
        bytes[..16].copy_from_slice(&self.trace);
        bytes[16..24].copy_from_slice(&self.span);
        bytes
    }

    /// Reads a peer's bytes. `None` if they are no context; later versions may add to its end.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (trace, rest) = bytes.split_first_chunk::<16>()?;
        let (span, rest) = rest.split_first_chunk::<8>()?;
        Self { trace: *trace, span: *span, flags: *rest.first()?, is_remote: true }.valid()
    }

    fn valid(self) -> Option<Self> {
        let has_ids = u128::from_ne_bytes(self.trace) != 0 && u64::from_ne_bytes(self.span) != 0;
        has_ids.then_some(self)
    }
}

/// Bytes in hexadecimal digits, which are in lower case.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// As a `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (u128::from_be_bytes(self.trace), u64::from_be_bytes(self.span));
        write!(f, "00-{trace:032x}-{span:016x}-{:02x}", self.flags)
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({self}{})", if self.is_remote { ", remote" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_context_comes_back_from_its_bytes_and_from_its_text() {
        let context = TraceContext::from_traceparent(TEXT).unwrap();
        assert_eq!(context.trace_id()[..2], [0x4B, 0xF9]);
        assert_eq!((context.span_id()[1], context.is_sampled()), (0xF0, true));
        assert_eq!(TraceContext::from_bytes(&context.to_bytes()), Some(context));
        assert_eq!(context.to_string(), TEXT);
        let own = TraceContext::new(context.trace_id(), context.span_id(), false).unwrap();
        assert_eq!(own.to_string(), TEXT.replace("-01", "-00"));
        assert!(!own.is_remote());
    }

    #[test]
    fn a_later_version_may_have_more_and_version_00_may_not() {
        assert_eq!(TraceContext::from_traceparent(&format!("{TEXT}-more")), None);
        let later = format!("01{}-more", &TEXT[2..]);
        assert_eq!(TraceContext::from_traceparent(&later), TraceContext::from_traceparent(TEXT));
        let bytes = [&TraceContext::from_traceparent(TEXT).unwrap().to_bytes()[..], &[7]].concat();
        assert_eq!(TraceContext::from_bytes(&bytes), TraceContext::from_traceparent(TEXT));
    }

    #[test]
    fn bytes_that_are_no_context_give_none() {
        for (from, to) in
            [("00-", "ff-"), ("4bf9", "4BF9"), ("4bf9", "4bf"), ("-01", ""), ("-01", "-1"), ("b7-", "b7"), ("0", "g")]
        {
            assert_eq!(TraceContext::from_traceparent(&TEXT.replacen(from, to, 1)), None, "{from} -> {to}");
        }
        assert_eq!(TraceContext::from_traceparent(""), None);
        assert_eq!(TraceContext::from_traceparent("00-\u{e9}\u{e9}"), None);
        assert_eq!(TraceContext::from_bytes(&[1; 24]), None);
        assert_eq!(TraceContext::from_bytes(&[[0; 16].as_slice(), &[1; 9]].concat()), None, "no trace");
        assert_eq!(TraceContext::from_bytes(&[[1; 16].as_slice(), &[0; 9]].concat()), None, "no span");
        assert_eq!(TraceContext::new([1; 16], [0; 8], true), None);
    }
}
