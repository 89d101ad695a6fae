//! Detection of the end of a message in a byte stream with arbitrary read boundaries. Each byte is scanned once. The
//! scan recognizes only strings and brackets, and `envelope.rs` parses the message.

use frpc::json::plain_length;
use std::fmt;

/// Limits that are enforced while the end of a message is searched for, before the message is parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanLimits {
    /// Maximum nesting depth of objects and arrays.
    pub(super) depth_max: u32,
    /// Maximum number of elements of a batch, the outermost array.
    pub(super) batch_max: usize,
}

/// State of the scan for the end of one message. The message starts with a bracket.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageFraming {
    /// Number of bytes of the message that were already scanned.
    at: usize,
    depth: u32,
    is_in_string: bool,
    /// Whether the message is an array, and thus a batch.
    is_batch: bool,
    commas: usize,
}

/// Result of scanning the received part of a message for its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framed {
    /// Offset of the end of the message.
    End(usize),
    Incomplete,
    Refused(FramingError),
}

/// Reason why a message is rejected before its end was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FramingError {
    /// The message does not start with a bracket, or a string contains a control character.
    NotJson,
    TooDeep(u32),
    TooMany(usize),
}

impl MessageFraming {
    /// Continues the search for the end of the message. `bytes` must start with the bytes of the previous call.
    pub(super) fn scan(&mut self, bytes: &[u8], bounds: ScanLimits) -> Framed {
        let Self { at, depth, is_in_string, is_batch, commas } = self;
        if *at == 0 {
            match bytes.first() {
                Some(b'{') => {}
                Some(b'[') => *is_batch = true,
                Some(_) => return Framed::Refused(FramingError::NotJson),
                None => return Framed::Incomplete,
            }
        }
        loop {
            if *is_in_string {
                let rest = bytes.get(*at..).unwrap_or_default();
                *at += plain_length(rest);
                match bytes.get(*at) {
                    Some(b'"') => *is_in_string = false,
                    Some(b'\\') if bytes.len() > *at + 1 => *at += 1,
                    // Stop before a backslash at the end of the input, so that the next scan sees it together with the
                    // escaped byte.
                    Some(b'\\') | None => return Framed::Incomplete,
                    Some(_) => return Framed::Refused(FramingError::NotJson),
                }
                *at += 1;
                continue;
            }
            let Some(byte) = bytes.get(*at) else { return Framed::Incomplete };
            *at += 1;
            match byte {
                b'"' => *is_in_string = true,
                b'{' | b'[' => {
                    *depth += 1;
                    if *depth > bounds.depth_max {
                        return Framed::Refused(FramingError::TooDeep(bounds.depth_max));
                    }
                }
                b'}' | b']' => {
                    *depth = depth.saturating_sub(1);
                    if *depth == 0 {
                        return Framed::End(*at);
                    }
                }
                b',' if *depth == 1 && *is_batch => {
                    *commas += 1;
                    if *commas >= bounds.batch_max {
                        return Framed::Refused(FramingError::TooMany(bounds.batch_max));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the length of the object or array at the start of `bytes`. Returns `None` if it is incomplete or exceeds the
/// depth limit.
pub(super) fn value_length(bytes: &[u8], depth_max: u32) -> Option<usize> {
    if !matches!(bytes.first(), Some(b'{' | b'[')) {
        return None;
    }
    let (mut at, mut depth) = (0, 0);
    loop {
        let byte = bytes.get(at)?;
        at += 1;
        match byte {
            b'"' => loop {
                at += plain_length(bytes.get(at..)?);
                let special = bytes.get(at)?;
                at += 1;
                match special {
                    b'"' => break,
                    b'\\' => at += 1,
                    _ => return None,
                }
            },
            b'{' | b'[' if depth == depth_max => return None,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson => f.write_str("not a JSON message"),
            Self::TooDeep(max) => write!(f, "the message nests deeper than {max} brackets"),
            Self::TooMany(max) => write!(f, "the batch has more than {max} requests"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: ScanLimits = ScanLimits { depth_max: 5, batch_max: 3 };

    /// Scans a message repeatedly, each time with one more byte.
    fn scan_slowly(message: &[u8]) -> Framed {
        let mut framing = MessageFraming::default();
        for length in 0..=message.len() {
            match framing.scan(&message[..length], BOUNDS) {
                Framed::Incomplete => {}
                found => return found,
            }
        }
        Framed::Incomplete
    }

    #[test]
    fn message_ends_at_outermost_bracket_across_reads() {
        for message in [r#"{}"#, r#"{"a":"}"}"#, r#"{"a\\":"\"}"}"#, r#"[{"a":[1,2,3,4,5]}]"#, r#"["é","\\"]"#] {
            let behind = [message, "{}"].concat();
            assert_eq!(
                MessageFraming::default().scan(behind.as_bytes(), BOUNDS),
                Framed::End(message.len()),
                "{message}"
            );
            assert_eq!(scan_slowly(behind.as_bytes()), Framed::End(message.len()), "{message}");
        }
        for incomplete in ["", "{", r#"{""#, r#"{"\"#, r#"["a","#] {
            assert_eq!(scan_slowly(incomplete.as_bytes()), Framed::Incomplete, "{incomplete}");
        }
    }

    #[test]
    fn value_length_equals_message_length() {
        for message in
            [r#"{}"#, r#"{"a":"}"}"#, r#"{"a\\":"\"}"}"#, r#"[{"a":[1,2,3,4,5]}]"#, "[\"\n\"]", r#"["\""#, "7"]
        {
            for length in 0..=message.len() {
                let behind = [&message.as_bytes()[..length], b"}]"].concat();
                for bytes in [&behind[..], &message.as_bytes()[..length]] {
                    let expected =
                        match MessageFraming::default().scan(bytes, ScanLimits { batch_max: usize::MAX, ..BOUNDS }) {
                            Framed::End(end) => Some(end),
                            Framed::Incomplete | Framed::Refused(_) => None,
                        };
                    assert_eq!(value_length(bytes, BOUNDS.depth_max), expected, "{bytes:?}");
                }
            }
        }
        assert_eq!((value_length(b"[[[[[]]]]]", 5), value_length(b"[[[[[]]]]]", 4)), (Some(10), None));
        assert_eq!(value_length(b"{}", 0), None);
    }

    #[test]
    fn bytewise_input_is_scanned_once() {
        const LENGTH: usize = 5 << 20;
        for unit in ["\\\"", "{\"a\":1},"] {
            let message = format!("[[{}", unit.repeat(LENGTH / unit.len()));
            let mut framing = MessageFraming::default();
            let mut looked = 0;
            for length in 1..=message.len() {
                let before = framing.at;
                assert_eq!(framing.scan(&message.as_bytes()[..length], BOUNDS), Framed::Incomplete);
                // The scan never goes back, and never searches scanned bytes again for the end of a string.
                assert!(framing.at >= before && framing.at <= length);
                looked += framing.at - before;
            }
            assert!(looked <= message.len(), "{looked}");
        }
    }

    #[test]
    fn message_is_rejected_at_offending_byte() {
        for (message, refusal) in [
            ("x", FramingError::NotJson),
            ("1", FramingError::NotJson),
            ("{\"a\n", FramingError::NotJson),
            ("[[[[[[", FramingError::TooDeep(5)),
            (r#"{"a":[{"a":[{"a":["#, FramingError::TooDeep(5)),
            ("[1,2,3,", FramingError::TooMany(3)),
        ] {
            assert_eq!(scan_slowly(message.as_bytes()), Framed::Refused(refusal), "{message}");
            let before = &message[..message.len() - 1];
            assert_eq!(scan_slowly(before.as_bytes()), Framed::Incomplete, "{before}");
        }
    }
}
