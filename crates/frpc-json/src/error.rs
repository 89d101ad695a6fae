//! Errors of decoding and encoding, with their reasons.

use std::borrow::Cow;
use std::fmt;

use polyglot::{NESTING_CEILING, PathError};

use crate::limits::QUOTED_MAX;

/// Error of decoding invalid JSON. Either the sender is faulty, or its schema differs.
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

/// Reason why a JSON input cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeReason {
    /// An unexpected byte was found, or the input ended too early.
    Unexpected {
        /// Description of the value or punctuation that was expected.
        expected: &'static str,
        /// The byte that was found, or `None` at the end of the input.
        found: Option<u8>,
    },
    /// The input is not valid UTF-8.
    Utf8,
    /// A string contains an unescaped control character.
    ControlCharacter(u8),
    /// A string contains an invalid escape sequence.
    Escape,
    /// A string contains a `\u` escape with an unpaired surrogate.
    Surrogate,
    /// A number or string is not a valid value of the field's type.
    Invalid {
        /// Name of the expected type.
        expected: &'static str,
        /// The beginning of the invalid text.
        text: String,
    },
    /// An enum does not declare a value with this name.
    UnknownName {
        /// The full name of the enum that lacks the value.
        enumeration: Cow<'static, str>,
        /// The undeclared name. A long name is truncated.
        name: String,
    },
    /// A message does not declare a field with this name.
    UnknownField {
        /// The full name of the message that lacks the field.
        message: Cow<'static, str>,
        /// The undeclared name. A long name is truncated.
        name: String,
    },
    /// An object contains the same key twice, or a field both under its `json_name` and its original name.
    DuplicateKey(String),
    /// An object contains two members of the same oneof.
    SecondMember,
    /// An array of field values has more elements than the message has fields.
    TooManyFields {
        /// The full name of the message with the listed fields.
        message: Cow<'static, str>,
        /// The number of fields in the message.
        fields: usize,
    },
    /// Messages are nested deeper than the [limit](crate::Options::nesting_max).
    NestingTooDeep {
        /// The maximum nesting depth of messages.
        max: u32,
    },
    /// Lists, maps and boxed messages would use more memory than the [limit](crate::Options::container_memory).
    ContainerMemory {
        /// The number of bytes that the containers need.
        needed: usize,
        /// The number of bytes left of the memory limit.
        left: usize,
    },
    /// An `Any` has no `@type` member.
    NoType,
    /// The `@type` of an `Any` is not one of the [registered types](crate::Types).
    UnknownType(String),
    /// Finding the `@type` members of nested `Any` messages would read more bytes than the limit permits, because they
    /// are too far from the start of their objects.
    TypeTooFar,
    /// The type has a special JSON mapping that does not allow this value.
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

/// Error of encoding a message that JSON cannot represent. Caused by the caller, or by the peer that sent the message
/// in another encoding.
pub type EncodeError = PathError<EncodeReason, ()>;

/// Reason why a value cannot be encoded as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeReason {
    /// Messages are nested deeper than [`NESTING_CEILING`].
    NestingTooDeep,
    /// The type has a special JSON mapping that cannot represent this value.
    Refused(String),
    /// The type of an `Any` is not one of the [registered types](crate::Types).
    UnknownType(String),
    /// The contents of all `Any` messages would use more memory than the [limit](crate::Options::container_memory).
    ContainerMemory {
        /// The number of bytes that the contents would use.
        needed: usize,
        /// The number of bytes left of the memory limit.
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

/// An unexpected byte, displayed as the kind of value that starts with it.
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

/// Returns the beginning of a text for use in an error.
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
    fn long_error_path_omits_middle() {
        let error = (0..20).fold(DecodeError::new(DecodeReason::Utf8, 0), |error, _| error.in_field("in"));
        assert_eq!(
            error.to_string(),
            "in field `in.in.in.in.in.in... 8 more ....in.in.in.in.in.in` at byte 0: not UTF-8"
        );
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(quoted("short"), "short");
        assert_eq!(quoted(&"ß".repeat(30)), format!("{}…", "ß".repeat(24)));
        assert_eq!(quoted(&format!("a{}", "ß".repeat(30))), format!("a{}…", "ß".repeat(23)));
    }
}
