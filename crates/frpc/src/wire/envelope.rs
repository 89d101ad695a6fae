//! Packets of calls between two frpc peers. Each is parsed here, once, when it arrives; code further in matches on the
//! result.

use crate::wire::prefix::{self, Prefix};
use bytes::Bytes;

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

    /// Parses the request of a native peer. `None` if its prefix is malformed.
    pub(crate) fn parse(body: Bytes) -> Option<Self> {
        if !prefix::is_present(&body) {
            return Some(Self::bare(body));
        }
        match ParsedPacket::parse(body, false) {
            ParsedPacket::Request(envelope) => Some(envelope),
            _ => None,
        }
    }
}

/// A packet with options that is not of a stream.
pub(crate) enum ParsedPacket {
    Request(Envelope),
    /// A request whose prefix cannot be read.
    Malformed,
    /// A reply to a call of this end. The call parses it, since it knows the type.
    Reply(Bytes),
}

impl ParsedPacket {
    /// Parses a packet that begins with options. `is_dialler` says that this end has dialled the connection: calls of
    /// the accepting end are marked.
    pub(crate) fn parse(body: Bytes, is_dialler: bool) -> Self {
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
        let length = body.len();
        let message = body.slice(length - rest.len()..);
        Self::Request(Envelope { options: Some(options), body: message, length })
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
        let ParsedPacket::Request(Envelope { options, body, length }) = parsed else { return None };
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
    fn request_without_options_is_bare() {
        let envelope = Envelope::parse(Bytes::from_static(&[8, 0])).expect("it is well-formed");
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
