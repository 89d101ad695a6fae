//! Errors of decoding and encoding, and their reasons.

use std::fmt;

use crate::path_error::PathError;
use crate::{Kind, NESTING_CEILING};

/// The error of decoding invalid input. Either the peer is faulty, or the peers' schemas differ.
///
/// ```
/// use polyglot::{DecodeReason, Decoder, Kind};
///
/// let error = Decoder::new(&[0x0a, 0x01]).i32().unwrap_err();
/// assert_eq!(error.reason(), &DecodeReason::WrongKind { expected: Kind::I32, found: 0x0a });
/// assert_eq!(error.offset(), 0);
/// assert_eq!(error.to_string(), "at byte 0: i32 expected, found u32");
/// ```
pub type DecodeError = PathError<DecodeReason, usize>;

/// Converts the reason of the error to text, for codecs without generated code.
impl From<DecodeError> for PathError<String, usize> {
    fn from(error: DecodeError) -> Self {
        Self::new(error.reason().to_string(), error.offset())
    }
}

/// Reason why an input cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeReason {
    /// The input ends before a value or within it.
    Truncated {
        /// Kind of the value.
        expected: Kind,
    },
    /// A value has a different kind than expected.
    WrongKind {
        /// Expected kind.
        expected: Kind,
        /// Byte at the position of the kind byte, which may be invalid.
        found: u8,
    },
    /// The elements of a list or map have a different kind than expected.
    WrongElementKind {
        /// Expected kind.
        expected: Kind,
        /// Byte at the position of the element's kind byte, which may be invalid.
        found: u8,
    },
    /// A varint has more bytes than its type permits.
    VarintTooLong {
        /// Kind of the value.
        kind: Kind,
    },
    /// The byte of a bool is neither 0 nor 1.
    Bool(u8),
    /// A string is not valid UTF-8.
    Utf8,
    /// A string or bytes value is longer than the remaining input.
    LengthBeyondEnd {
        /// Kind of the value: [`Kind::String`], [`Kind::Error`] or [`Kind::Bytes`].
        kind: Kind,
        /// Declared length of the value in bytes.
        length: u32,
        /// Number of bytes left in the input.
        left: usize,
    },
    /// A list or map declares more elements than the remaining input can hold.
    TooManyElements {
        /// Kind of the container: [`Kind::List`] or [`Kind::Map`].
        kind: Kind,
        /// Declared number of elements.
        length: u32,
        /// Number of bytes left in the input.
        left: usize,
    },
    /// Lists, maps and boxed messages would use more memory than
    /// [`Decoder::with_container_memory`](crate::Decoder::with_container_memory) permits.
    ContainerMemory {
        /// Number of bytes that the message's containers need.
        needed: usize,
        /// Number of bytes left of the memory limit.
        left: usize,
    },
    /// Messages are nested more deeply than the [nesting limit](crate::Decoder::with_nesting) permits.
    NestingTooDeep {
        /// Maximum nesting depth of messages.
        max: u32,
    },
    /// An error was found in place of a message that is not the root. Only the root may be an error.
    NestedError,
    /// A oneof contains a member that the reader's schema does not declare. Only occurs in the extended encoding.
    UnknownMember {
        /// One-based index of the unknown member in the oneof's declaration.
        member: u32,
    },
    /// The message [embedded](crate::Decoder::enclosed) in a body is invalid. Contains the error text of its codec.
    Content(String),
    /// An enum index is unknown to the schema and cannot be represented as a number, because it is at least 2^31 or its
    /// number is declared for another value.
    EnumIndex {
        /// Full name of the enum whose value is invalid.
        enumeration: &'static str,
        /// The unknown index.
        index: u32,
    },
    /// During [translation](crate::layout), a value was found that is not a scalar, a string, bytes, or a list or map
    /// of these.
    NotScalar {
        /// Byte that was found in place of a valid kind byte.
        found: u8,
    },
    /// During [translation](crate::layout), an enum number was found that the reader's schema does not declare and that
    /// cannot be encoded for it.
    EnumNumber(i32),
    /// A [translated](crate::layout) body would exceed the maximum size.
    TranslationTooLong {
        /// Maximum size of a translated body in bytes.
        max: usize,
    },
    /// [Translating](crate::layout) a body would move too many bytes to reorder its fields.
    TooManyMoves {
        /// Maximum number of bytes that a translation may move.
        max: usize,
    },
}

impl fmt::Display for DecodeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { expected } => write!(f, "{expected} expected, but the input ends"),
            Self::WrongKind { expected, found } => write!(f, "{expected} expected, found {}", UnexpectedByte(*found)),
            Self::WrongElementKind { expected, found } => {
                write!(f, "elements of kind {expected} expected, found {}", UnexpectedByte(*found))
            }
            Self::VarintTooLong { kind } => write!(f, "varint too long for {kind}"),
            Self::Bool(byte) => write!(f, "bool is {byte:#04x}, neither 0 nor 1"),
            Self::Utf8 => f.write_str("string is not UTF-8"),
            Self::LengthBeyondEnd { kind, length, left } => {
                write!(f, "{kind} of {length} bytes, but only {left} remain")
            }
            Self::TooManyElements { kind, length, left } => {
                write!(f, "{kind} of {length} elements, but only {left} bytes remain")
            }
            Self::ContainerMemory { needed, left } => {
                write!(f, "elements need {needed} bytes of memory, but only {left} remain of the limit")
            }
            Self::NestingTooDeep { max } => write!(f, "messages nest deeper than {max}"),
            Self::NestedError => f.write_str("error inside a message"),
            Self::UnknownMember { member } => write!(f, "oneof has no member {member}"),
            Self::Content(text) => f.write_str(text),
            Self::EnumIndex { enumeration, index } => {
                write!(f, "enum {enumeration} has no index {index}, which cannot be preserved")
            }
            Self::NotScalar { found } => write!(f, "scalar, list or map expected, found {}", UnexpectedByte(*found)),
            Self::EnumNumber(number) => write!(f, "enum number {number} is unknown to the reader and has no index"),
            Self::TranslationTooLong { max } => write!(f, "translated message exceeds the limit of {max} bytes"),
            Self::TooManyMoves { max } => write!(f, "reordering the fields moves more than {max} bytes"),
        }
    }
}

/// The error of a value that cannot be encoded, which is a fault of the caller.
///
/// ```
/// use polyglot::{EncodeReason, Encoder, Enumeration, Index};
///
/// struct Color;
/// impl Enumeration for Color {
///     const NAME: &'static str = "paint.Color";
///     fn index(number: i32) -> Option<u32> {
///         (number == 0).then_some(0)
///     }
///     fn number(index: u32) -> Option<i32> {
///         (index == 0).then_some(0)
///     }
/// }
///
/// let error = Encoder::new(&mut Vec::new()).field_as::<Index<Color>>("color", &7).unwrap_err();
/// assert_eq!(error.reason(), &EncodeReason::UnknownNumber { enumeration: "paint.Color", number: 7 });
/// assert_eq!(error.to_string(), "in field `color`: enum paint.Color has no number 7");
/// ```
pub type EncodeError = PathError<EncodeReason, ()>;

impl From<EncodeError> for PathError<String, ()> {
    fn from(error: EncodeError) -> Self {
        Self::new(error.reason().to_string())
    }
}

/// Reason why a value cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeReason {
    /// A string, bytes value, list or map is longer than 2^32 - 1.
    TooLong {
        /// Kind of the value.
        kind: Kind,
        /// Length of the value, in bytes or elements.
        length: usize,
    },
    /// Messages are nested more deeply than [`NESTING_CEILING`](crate::NESTING_CEILING) permits.
    NestingTooDeep,
    /// An [`Undecoded`](crate::Undecoded) body is invalid. Contains the text of the decoding error.
    Unreadable(String),
    /// The length of an [embedded](crate::Encoder::enclosed) message differs from the length announced before it was
    /// written.
    Content {
        /// Length in bytes that was announced before the message was written.
        announced: usize,
        /// Actual length of the written message in bytes.
        written: usize,
    },
    /// An enum number is not declared and does not represent an unknown index.
    UnknownNumber {
        /// Full name of the enum that does not declare the number.
        enumeration: &'static str,
        /// Number that the enum does not declare.
        number: i32,
    },
}

impl fmt::Display for EncodeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { kind, length } => write!(f, "{kind} of length {length} exceeds 2^32 - 1"),
            Self::NestingTooDeep => write!(f, "messages nest deeper than {NESTING_CEILING}"),
            Self::Unreadable(text) => write!(f, "undecodable body: {text}"),
            Self::Content { announced, written } => {
                write!(f, "{written} bytes were written, but {announced} were announced")
            }
            Self::UnknownNumber { enumeration, number } => write!(f, "enum {enumeration} has no number {number}"),
        }
    }
}

/// Displays the byte that was found in place of a kind byte: its name if it is a valid kind, or else its hexadecimal
/// value.
struct UnexpectedByte(u8);

impl fmt::Display for UnexpectedByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Kind::from_byte(self.0) {
            Some(kind) => kind.fmt(f),
            None => write!(f, "byte {:#04x}", self.0),
        }
    }
}
