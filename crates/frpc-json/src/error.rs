//! The reasons of errors.

use std::borrow::Cow;
use std::fmt;

use polyglot::{NESTING_CEILING, PathError};

use crate::limits::QUOTED_MAX;

/// The input does not hold the expected message: its author is at fault, or the two schemas differ.
///
/// ```
/// use frpc_json::{DecodeReason, from_json};
///
/// let error = from_json::<i32>(b" [").unwrap_err();
/// assert_eq!(error.reason(), &DecodeReason::Unexpected { expected: "int32", found: Some(b'[') });
/// assert_eq!(error.offset(), 1);
/// assert_eq!(error.to_string(), "in `google.protobuf.Int32Value` at byte 1: int32 expected, found an array");
/// ```
pub type DecodeError = PathError<DecodeReason, usize>;

/// The reason why input cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeReason {
    /// An unexpected byte, or the end of the input.
    Unexpected {
        /// The value or sign in its place.
        expected: &'static str,
        /// The byte, or none at the end of the input.
        found: Option<u8>,
    },
    /// The input is not UTF-8.
    Utf8,
    /// A string has a control character that is not escaped.
    ControlCharacter(u8),
    /// A backslash in a string is not followed by an escape.
    Escape,
    /// A `\u` escape is half of a surrogate pair without the other half.
    Surrogate,
    /// A number or string is no value of the type of its field.
    Invalid {
        /// The type.
        expected: &'static str,
        /// The beginning of the text.
        text: String,
    },
    /// An enum has no value of this name.
    UnknownName {
        /// The full name of the enum.
        enumeration: Cow<'static, str>,
        /// The beginning of the name.
        name: String,
    },
    /// A message has no field of this name.
    UnknownField {
        /// The full name of the message.
        message: Cow<'static, str>,
        /// The beginning of the name.
        name: String,
    },
    /// A key occurs twice in an object, perhaps as `json_name` and as original name.
    DuplicateKey(String),
    /// Two members of a oneof are set.
    SecondMember,
    /// The list of fields has more values than the message has fields.
    TooManyFields {
        /// The full name of the message.
        message: Cow<'static, str>,
        /// The number of fields that it has.
        fields: usize,
    },
    /// Messages nest deeper than [they may](crate::Options::nesting_max).
    NestingTooDeep {
        /// How many levels they may have.
        max: u32,
    },
    /// Lists, maps and boxes would take more memory than [they may](crate::Options::container_memory).
    ContainerMemory {
        /// The bytes that this one needs.
        needed: usize,
        /// The bytes not used yet.
        left: usize,
    },
    /// The `@type` of an `Any` is missing.
    NoType,
    /// The `@type` of an `Any` is not one of the [known types](crate::Types).
    UnknownType(String),
    /// So many `Any` within each other have `@type` so far back that searching for it takes too long.
    TypeTooFar,
    /// The type has a form of its own, and refuses the value.
    Refused(String),
}

impl fmt::Display for DecodeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { expected, found: Some(byte) } => {
                write!(f, "{expected} expected, found {}", UnexpectedByte(*byte))
            }
            Self::Unexpected { expected, found: None } => write!(f, "{expected} expected, but the input ends"),
            Self::Utf8 => f.write_str("not UTF-8"),
            Self::ControlCharacter(byte) => write!(f, "control character {byte:#04x} in a string"),
            Self::Escape => f.write_str("unknown escape in a string"),
            Self::Surrogate => f.write_str("half of a surrogate pair in a string"),
            Self::Invalid { expected, text } => write!(f, "{text:?} is not a valid {expected}"),
            Self::UnknownName { enumeration, name } => write!(f, "enum {enumeration} has no value {name:?}"),
            Self::UnknownField { message, name } => write!(f, "`{message}` has no field {name:?}"),
            Self::DuplicateKey(name) => write!(f, "key {name:?} occurs twice"),
            Self::SecondMember => f.write_str("another member of the same oneof is set"),
            Self::TooManyFields { message, fields } => write!(f, "`{message}` has {fields} fields only"),
            Self::NestingTooDeep { max } => write!(f, "messages nest deeper than {max}"),
            Self::ContainerMemory { needed, left } => {
                write!(f, "elements need {needed} bytes of memory, but only {left} remain of the limit")
            }
            Self::NoType => f.write_str("an Any without \"@type\""),
            Self::UnknownType(name) => write!(f, "type {name:?} of an Any is not known"),
            Self::TypeTooFar => f.write_str("too many Any with \"@type\" after other fields"),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}

/// The message has no JSON. The caller's fault, or that of the peer who sent the message in another encoding.
pub type EncodeError = PathError<EncodeReason, ()>;

/// The reason why a value cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeReason {
    /// Messages nest deeper than [`NESTING_CEILING`].
    NestingTooDeep,
    /// The type has a form of its own, which the value does not fit.
    Refused(String),
    /// The type of an `Any` is not one of the [known types](crate::Types).
    UnknownType(String),
    /// The contents of all `Any` take more memory than [they may](crate::Options::container_memory).
    ContainerMemory {
        /// The bytes that this one needs.
        needed: usize,
        /// The bytes not used yet.
        left: usize,
    },
}

impl fmt::Display for EncodeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NestingTooDeep => write!(f, "messages nest deeper than {NESTING_CEILING}"),
            Self::Refused(reason) => f.write_str(reason),
            Self::UnknownType(name) => write!(f, "type {name:?} of an Any is not known"),
            Self::ContainerMemory { needed, left } => {
                write!(f, "content of an Any needs {needed} bytes of memory, but only {left} remain of the limit")
            }
        }
    }
}

/// An unexpected byte, described by the value that begins with it.
struct UnexpectedByte(u8);

impl fmt::Display for UnexpectedByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'"' => f.write_str("a string"),
            b'-' | b'0'..=b'9' => f.write_str("a number"),
            b'{' => f.write_str("an object"),
            b'[' => f.write_str("an array"),
            byte @ b'!'..=b'~' => write!(f, "`{}`", char::from(byte)),
            byte => write!(f, "byte {byte:#04x}"),
        }
    }
}

/// The beginning of a text, for an error.
#[doc(hidden)]
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut end = text.len().min(QUOTED_MAX);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let dots = if end < text.len() { "…" } else { "" };
    format!("{}{dots}", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, DecodeReason, quoted};

    #[test]
    fn error_path_is_shown_outermost_first() {
        let error = DecodeError::new(DecodeReason::Escape, 7);
        let error = error.in_entry("a\"b").in_field("prices").in_element(3).in_field("orders").in_message("shop.Cart");
        assert_eq!(error.field(), "orders[3].prices[\"a\\\"b\"]");
        assert_eq!(
            error.to_string(),
            "in field `orders[3].prices[\"a\\\"b\"]` of `shop.Cart` at byte 7: unknown escape in a string"
        );
    }

    #[test]
    fn the_middle_of_a_long_path_is_left_out() {
        let error = (0..20).fold(DecodeError::new(DecodeReason::Utf8, 0), |error, _| error.in_field("in"));
        assert_eq!(
            error.to_string(),
            "in field `in.in.in.in.in.in... 8 more ....in.in.in.in.in.in` at byte 0: not UTF-8"
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(quoted("short"), "short");
        assert_eq!(quoted(&"ß".repeat(30)), format!("{}…", "ß".repeat(24)));
        assert_eq!(quoted(&format!("a{}", "ß".repeat(30))), format!("a{}…", "ß".repeat(23)));
    }
}
