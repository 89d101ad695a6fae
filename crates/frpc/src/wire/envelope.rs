//! Requests of native peers, parsed once on arrival.

use crate::observe::TraceContext;
use crate::wire::prefix::{self, Prefix, PrefixError};
use bytes::{Buf, Bytes};

/// A request without its packet header, consisting of the decoded prefix and the encoded message.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// Options of the call, decoded from its prefix. Boxed because most calls have none and an envelope is moved
    /// several times.
    pub(crate) options: Option<Box<Prefix>>,
    /// The encoded message, which may be compressed.
    pub(crate) body: Bytes,
    /// Total length of the options and the body in bytes.
    pub(crate) length: usize,
}

impl Envelope {
    /// Creates the envelope of a request without options.
    pub(crate) fn bare(body: Bytes) -> Self {
        Self { options: None, length: body.len(), body }
    }

    /// Parses the request of a native peer. The trace context is returned separately, because many calls have a trace
    /// context but no other options.
    pub(crate) fn parse(body: Bytes) -> Result<(Self, Option<TraceContext>), PrefixError> {
        if prefix::is_present(&body) { Self::parse_prefixed(body) } else { Ok((Self::bare(body), None)) }
    }

    /// Parses a request that starts with a prefix.
    #[inline(always)] // Called once on the hot path, where the packet would otherwise be moved twice.
    pub(crate) fn parse_prefixed(mut body: Bytes) -> Result<(Self, Option<TraceContext>), PrefixError> {
        let length = body.len();
        if let Some(trace) = prefix::trace_alone(&body) {
            body.advance(prefix::TRACE_ALONE_LEN);
            return Ok((Self { options: None, body, length }, Some(trace)));
        }
        let (items, rest) = prefix::split(&body)?;
        let mut options = Box::<Prefix>::default();
        prefix::read(items, &mut options)?;
        let before = length - rest.len();
        body.advance(before);
        let trace = options.trace.take();
        Ok((Self { options: Some(options), body, length }, trace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::prefix::{PrefixFields, put};
    use std::time::Duration;

    fn packet(fields: PrefixFields<'_>) -> Bytes {
        let mut bytes = Vec::new();
        put(&mut bytes, fields);
        bytes.extend_from_slice(&[8, 0]);
        bytes.into()
    }

    #[test]
    fn request_trace_is_separate_from_options() {
        let trace = TraceContext::new([1; 16], [2; 8], true).map(TraceContext::to_bytes);
        for timeout in [None, Some(Duration::from_micros(4))] {
            let context = trace.as_ref().and_then(|bytes| TraceContext::from_bytes(bytes));
            let body = packet(PrefixFields { trace: context.as_ref(), timeout, ..PrefixFields::default() });
            let (parsed, trace) =
                Envelope::parse(body.clone()).expect("prefix written by `PrefixFields` should be well-formed");
            assert_eq!((trace, parsed.length, &parsed.body[..]), (context, body.len(), &[8, 0][..]));
            assert_eq!(parsed.options.map(|options| options.timeout), timeout.map(Some));
            assert!(matches!(Envelope::parse(body.slice(..body.len() - 3)), Err(PrefixError::Malformed)));
        }
    }

    #[test]
    fn trace_without_ids_is_none() {
        let trace = TraceContext::new([1; 16], [2; 8], true);
        let mut bytes = packet(PrefixFields { trace: trace.as_ref(), ..PrefixFields::default() }).to_vec();
        bytes[4..20].fill(0);
        let (parsed, trace) =
            Envelope::parse(bytes.into()).expect("prefix written by `PrefixFields` should be well-formed");
        assert_eq!((trace, &parsed.body[..]), (None, &[8, 0][..]));
    }

    #[test]
    fn request_without_options_is_bare() {
        let (envelope, _) = Envelope::parse(Bytes::from_static(&[8, 0])).expect("request should be well-formed");
        assert_eq!((envelope.options.is_none(), &envelope.body[..], envelope.length), (true, &[8, 0][..], 2));
    }

    #[test]
    fn malformed_prefix_is_rejected_without_panic() {
        let body = packet(PrefixFields { timeout: Some(Duration::from_secs(1)), ..PrefixFields::default() });
        for end in 1..body.len() - 2 {
            assert!(matches!(Envelope::parse(body.slice(..end)), Err(PrefixError::Malformed)), "cut at {end}");
        }
        let unknown = Bytes::from_static(&[0x10, 2, 200, 0, 8, 0]);
        assert!(matches!(Envelope::parse(unknown), Err(PrefixError::Unknown(200))));
    }
}
