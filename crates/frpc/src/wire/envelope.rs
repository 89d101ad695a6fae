//! Packets of calls between two frpc peers. Each is parsed here, once, when it arrives; code further in matches on the
//! result.

use crate::observe::TraceContext;
use crate::wire::prefix::{self, Prefix};
use bytes::{Buf, Bytes};

/// A request, without its packet's header.
pub(crate) struct Envelope {
    /// The options of the call. Most calls have none, so they are in a box: an envelope is moved several times.
    pub(crate) options: Option<Box<Prefix>>,
    /// The message, which may be packed.
    pub(crate) body: Bytes,
    /// The length of options and body on the wire.
    pub(crate) length: usize,
}

impl Envelope {
    /// A request without options.
    pub(crate) fn bare(body: Bytes) -> Self {
        Self { options: None, length: body.len(), body }
    }

    /// Parses the request of a native peer, and its trace context. `None` if its prefix is malformed.
    pub(crate) fn parse(body: Bytes) -> Option<(Self, Option<TraceContext>)> {
        if !prefix::is_present(&body) {
            return Some((Self::bare(body), None));
        }
        match ParsedPacket::parse(body, false) {
            ParsedPacket::Request(envelope, trace) => Some((envelope, trace)),
            _ => None,
        }
    }
}

/// A packet with options that is not of a stream.
pub(crate) enum ParsedPacket {
    /// The trace context is not an option in the box, since many calls have one and no options.
    Request(Envelope, Option<TraceContext>),
    /// A request whose prefix cannot be read.
    Malformed,
    /// A reply to a call of this end. The call parses it, since it knows the type.
    Reply(Bytes),
}

impl ParsedPacket {
    /// Parses a packet that begins with options. `is_dialler` says that this end has dialled the connection: calls of
    /// the accepting end are marked.
    #[inline(always)] // At the only place on the path of calls, where a packet would be moved twice.
    pub(crate) fn parse(mut body: Bytes, is_dialler: bool) -> Self {
        let length = body.len();
        if !is_dialler && let Some(trace) = prefix::trace_alone(&body) {
            body.advance(prefix::TRACE_ALONE_LEN);
            return Self::Request(Envelope { options: None, body, length }, Some(trace));
        }
        let Ok((items, rest)) = prefix::split(&body) else {
            return if is_dialler { Self::Reply(body) } else { Self::Malformed };
        };
        if prefix::is_backward(items) != is_dialler {
            return Self::Reply(body);
        }
        let mut options = Box::<Prefix>::default();
        if prefix::read(items, &mut options).is_err() {
            return Self::Malformed;
        }
        let before = length - rest.len();
        body.advance(before);
        let trace = options.trace.take();
        Self::Request(Envelope { options: Some(options), body, length }, trace)
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

    fn timeout(parsed: ParsedPacket) -> Option<(Option<Duration>, usize)> {
        let ParsedPacket::Request(Envelope { options, body, length }, _) = parsed else { return None };
        assert_eq!(body[..], [8, 0]);
        Some((options.and_then(|options| options.timeout), length))
    }

    #[test]
    fn request_is_parsed_by_the_end_that_serves_it() {
        let time = Some(Duration::from_micros(4));
        let forward = packet(PrefixFields { timeout: time, ..PrefixFields::default() });
        let backward = packet(PrefixFields { timeout: time, backward: true, ..PrefixFields::default() });
        assert_eq!(timeout(ParsedPacket::parse(forward.clone(), false)), Some((time, 7)));
        assert_eq!(timeout(ParsedPacket::parse(backward.clone(), true)), Some((time, 9)));
        for (body, is_dialler) in [(forward, true), (backward, false)] {
            let parsed = ParsedPacket::parse(body.clone(), is_dialler);
            assert!(matches!(parsed, ParsedPacket::Reply(whole) if whole == body));
        }
    }

    #[test]
    fn trace_of_a_request_is_apart_from_its_options() {
        let trace = TraceContext::new([1; 16], [2; 8], true).map(TraceContext::to_bytes);
        for timeout in [None, Some(Duration::from_micros(4))] {
            let context = trace.as_ref().and_then(|bytes| TraceContext::from_bytes(bytes));
            let body = packet(PrefixFields { trace: context.as_ref(), timeout, ..PrefixFields::default() });
            let ParsedPacket::Request(parsed, trace) = ParsedPacket::parse(body.clone(), false) else {
                panic!("no request")
            };
            assert_eq!((trace, parsed.length, &parsed.body[..]), (context, body.len(), &[8, 0][..]));
            assert_eq!(parsed.options.map(|options| options.timeout), timeout.map(Some));
            assert!(matches!(ParsedPacket::parse(body.clone(), true), ParsedPacket::Reply(whole) if whole == body));
            let cut = body.slice(..body.len() - 3);
            assert!(matches!(ParsedPacket::parse(cut, false), ParsedPacket::Malformed));
        }
    }

    #[test]
    fn trace_without_ids_is_none() {
        let mut bytes = packet(PrefixFields {
            trace: TraceContext::new([1; 16], [2; 8], true).as_ref(),
            ..PrefixFields::default()
        })
        .to_vec();
        bytes[4..20].fill(0);
        let ParsedPacket::Request(parsed, trace) = ParsedPacket::parse(bytes.into(), false) else {
            panic!("no request")
        };
        assert_eq!((trace, &parsed.body[..]), (None, &[8, 0][..]));
    }

    #[test]
    fn request_without_options_is_bare() {
        let (envelope, _) = Envelope::parse(Bytes::from_static(&[8, 0])).expect("it is well-formed");
        assert_eq!((envelope.options.is_none(), &envelope.body[..], envelope.length), (true, &[8, 0][..], 2));
    }

    #[test]
    fn malformed_prefix_is_no_request_and_no_panic() {
        let body = packet(PrefixFields { timeout: Some(Duration::from_secs(1)), ..PrefixFields::default() });
        for end in 1..body.len() - 2 {
            assert!(matches!(ParsedPacket::parse(body.slice(..end), false), ParsedPacket::Malformed), "cut at {end}");
        }
        let empty = Bytes::from_static(&[0x10, 0]);
        assert!(matches!(ParsedPacket::parse(empty, true), ParsedPacket::Reply(_)));
    }
}
