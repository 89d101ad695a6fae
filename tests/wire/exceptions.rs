//! The table of differences from Go. In each entry, this implementation differs on purpose or cannot do what Go can,
//! for the stated reason. The tests require that everything else is equal, and that every entry is needed.

use crate::wire::measured::hex;
use frpc::polyglot::{DecodeReason, Kind};

/// A difference.
pub(crate) struct Exception {
    pub(crate) part: Part,
    /// Name of the entry in the recorded file, within its part.
    pub(crate) name: &'static str,
    pub(crate) here: Here,
    /// The reason for the difference.
    pub(crate) why: &'static str,
}

/// A part of the recorded file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Encodings,
    Decodings,
}

/// What this implementation does instead.
pub(crate) enum Here {
    /// The value is encoded as these bytes, in hexadecimal digits.
    Sent(&'static str),
    /// The body is rejected.
    Refused(DecodeReason),
    /// The body is an error with this text, rather than a message that hides an error.
    Failed(&'static str),
}

/// All differences.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    // Values that prost cannot represent.
    Exception {
        part: Part::Encodings,
        name: "nil message",
        here: Here::Sent("0800"),
        why: "a root message is never absent in Rust; its default replaces it, as for Go's reader",
    },
    Exception {
        part: Part::Encodings,
        name: "repeated message with nil",
        here: Here::Sent("080001030a0208000c0008000c04"),
        why: "an element is never absent in Rust; its default replaces it, as for Go's reader",
    },
    Exception {
        part: Part::Encodings,
        name: "map<string, message> nil value",
        here: Here::Sent("08000205030a01050a016b08000c00"),
        why: "a map's value is never absent in Rust; its default replaces it, as for Go's reader",
    },
    Exception {
        part: Part::Encodings,
        name: "enum ALIAS_UNO=1",
        here: Here::Sent("08000a01"),
        why: "prost keeps the number of an enum, which two aliases share; the first of them goes out",
    },
    // Strings that are not UTF-8.
    Exception {
        part: Part::Encodings,
        name: "string invalid UTF-8",
        here: Here::Refused(DecodeReason::Utf8),
        why: "a String is UTF-8, and protobuf demands it; Go looks neither when writing nor when reading",
    },
    Exception {
        part: Part::Decodings,
        name: "string not UTF-8",
        here: Here::Refused(DecodeReason::Utf8),
        why: "a String is UTF-8, and protobuf demands it; Go looks neither when writing nor when reading",
    },
    // Lengths with overlong varints.
    Exception {
        part: Part::Decodings,
        name: "bytes with a six-byte length",
        here: Here::Refused(DecodeReason::VarintTooLong { kind: Kind::Bytes }),
        why: "Go takes it for empty and reads the length's bytes as the next field, which no sender can mean",
    },
    // An error in place of a field's value.
    Exception {
        part: Part::Decodings,
        name: "message with an error inside",
        here: Here::Refused(DecodeReason::NestedError),
        why: "a field has no place for an error; Go hides it, shows an empty message and sends the error on",
    },
    // The body is an error instead of a message. Go's decoder stores the error in an unexported field and returns
    // success.
    Exception {
        part: Part::Decodings,
        name: "root error",
        here: Here::Failed("no!"),
        why: "an error is not an empty message; as a request it is answered by an error",
    },
    Exception {
        part: Part::Decodings,
        name: "root error, empty text",
        here: Here::Failed(""),
        why: "an error is not an empty message; as a request it is answered by an error",
    },
    Exception {
        part: Part::Decodings,
        name: "root error, more bytes",
        here: Here::Failed("a"),
        why: "an error is not an empty message; as a request it is answered by an error",
    },
    // Flags other than 0.
    Exception {
        part: Part::Decodings,
        name: "flags 1",
        here: Here::Sent("08000c02"),
        why: "flags mean nothing, and a prost value has no place for them; Go echoes them",
    },
    Exception {
        part: Part::Decodings,
        name: "flags 2",
        here: Here::Sent("08000c02"),
        why: "flags mean nothing, and a prost value has no place for them; Go echoes them",
    },
    Exception {
        part: Part::Decodings,
        name: "flags 255",
        here: Here::Sent("08000c02"),
        why: "flags mean nothing, and a prost value has no place for them; Go echoes them",
    },
    // A packet of the extensions.
    Exception {
        part: Part::Decodings,
        name: "enum as int32",
        here: Here::Sent("08000a01"),
        why: "native peers write a number that their schema does not declare as itself; this schema declares it",
    },
];

/// Returns the exception for an entry of the recorded file, if there is one.
pub(crate) fn exception(part: Part, name: &str) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|exception| exception.part == part && exception.name == name)
}

impl Exception {
    /// Returns the bytes that this implementation encodes. Returns `usual` if the exception does not concern encoding.
    pub(crate) fn sent(exception: Option<&Self>, usual: &[u8]) -> Vec<u8> {
        match exception.map(|exception| &exception.here) {
            Some(Here::Sent(bytes)) => hex(bytes),
            _ => usual.to_owned(),
        }
    }
}
