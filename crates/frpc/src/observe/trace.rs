//! Trace contexts and their encodings. Their inheritance is implemented in `context.rs`.

use std::fmt;

/// Position of a call in a distributed trace: the trace id, the id of the parent span, and whether the trace is
/// sampled.
///
/// Between native peers, a context adds 29 bytes to a call. [Protocol adapters](crate::ServerBuilder::adapter) read it
/// from the metadata entry `traceparent` (W3C Trace Context). The calls that a handler makes inherit the context
/// together with the deadline. An [`Observer`](super::Observer), such as that of the crate `frpc-telemetry`, creates
/// contexts. Without an observer, contexts are propagated unchanged.
///
/// ```
/// use frpc::observe::TraceContext;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let context = TraceContext::from_traceparent(text).expect("traceparent should be valid");
/// assert!(context.is_sampled() && context.is_remote());
/// assert_eq!(context.to_string(), text);
///
/// let made = TraceContext::new(context.trace_id(), [7; 8], true).expect("trace and span ids should be non-zero");
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
    /// Length in bytes of an encoded trace context: trace id, span id and flags.
    pub(crate) const LEN: usize = 25;

    /// Bit in the flags of a trace context that marks the trace as sampled.
    const SAMPLED: u8 = 1;

    /// Creates a trace context of the local process. Returns `None` if an id is zero, which is invalid.
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], is_sampled: bool) -> Option<Self> {
        Self { trace: trace_id, span: span_id, flags: u8::from(is_sampled), is_remote: false }.valid()
    }

    /// Parses a `traceparent` header of version 00. For a later version, parses the fields that version 00 defines.
    pub fn from_traceparent(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '-');
        let [version] = hex::<1>(parts.next()?)?;
        let (trace, span) = (hex::<16>(parts.next()?)?, hex::<8>(parts.next()?)?);
        let [flags] = hex::<1>(parts.next()?)?;
        let is_known = if version == 0 { parts.next().is_none() } else { version != 0xFF };
        Self { trace, span, flags, is_remote: true }.valid().filter(|_| is_known)
    }

    /// Returns the trace id of the context, which is never zero.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace
    }

    /// Returns the span id that becomes the parent of further calls. It is never zero.
    pub fn span_id(&self) -> [u8; 8] {
        self.span
    }

    /// Returns whether the creator of the context has sampled the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & Self::SAMPLED != 0
    }

    /// Returns whether the context was received from a peer. If so, its values are untrusted.
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Encodes the trace context in its binary wire format.
    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [self.flags; Self::LEN];
        bytes[..16].copy_from_slice(&self.trace);
        bytes[16..24].copy_from_slice(&self.span);
        bytes
    }

    /// Decodes a trace context received from a peer. Returns `None` if the context is invalid. Ignores trailing bytes,
    /// because later versions may add fields.
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

/// Parses exactly `2 * N` lowercase hexadecimal digits.
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

/// Formats the context as a `traceparent` header.
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
    fn trace_context_round_trips_bytes_and_text() {
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
    fn extra_traceparent_fields_require_later_version() {
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
            assert_eq!(
                TraceContext::from_traceparent(&TEXT.replacen(from, to, 1)),
                None,
                "{from} -> {to} should make the context invalid"
            );
        }
        assert_eq!(TraceContext::from_traceparent(""), None);
        assert_eq!(TraceContext::from_traceparent("00-\u{e9}\u{e9}"), None);
        assert_eq!(TraceContext::from_bytes(&[1; 24]), None);
        assert_eq!(
            TraceContext::from_bytes(&[[0; 16].as_slice(), &[1; 9]].concat()),
            None,
            "context without a trace id should be invalid"
        );
        assert_eq!(
            TraceContext::from_bytes(&[[1; 16].as_slice(), &[0; 9]].concat()),
            None,
            "context without a span id should be invalid"
        );
        assert_eq!(TraceContext::new([1; 16], [0; 8], true), None);
    }
}
