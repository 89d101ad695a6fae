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

/// Converts the error's reason to text. Used by codecs that are not generated.
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
    /// The kind of a value differs from the expected one.
    WrongKind {
        /// Expected kind.
        expected: Kind,
        /// Byte that was found where the value's kind was expected. It need not be a valid kind.
        found: u8,
    },
    /// The kind of a list's or map's elements differs from the expected one.
    WrongElementKind {
        /// Expected kind.
        expected: Kind,
        /// Byte that was found where the elements' kind was expected. It need not be a valid kind.
        found: u8,
    },
    /// A varint has more bytes than its type permits.
    VarintTooLong {
        /// Kind of the value.
        kind: Kind,
    },
    /// A bool was encoded as a byte other than 0 and 1.
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
        /// Number of elements that the container declares.
        length: u32,
        /// Number of bytes left in the input.
        left: usize,
    },
    /// Lists, maps and boxed messages would use more memory than
    /// [`Decoder::with_container_memory`](crate::Decoder::with_container_memory) permits.
    ContainerMemory {
        /// Memory in bytes that the next list, map or boxed message needs.
        needed: usize,
        /// Number of bytes that remain of the memory limit.
        left: usize,
    },
    /// Messages are nested more deeply than the [nesting limit](crate::Decoder::with_nesting) permits.
    NestingTooDeep {
        /// Maximum nesting depth of messages.
        max: u32,
    },
    /// An error was found in place of a nested message. Only the root of a body may be an error.
    NestedError,
    /// A oneof contains a member that the reader's schema does not declare. Occurs only in the extended encoding.
    UnknownMember {
        /// Index of the unknown member among the members of the oneof in the writer's schema, starting at 1.
        member: u32,
    },
    /// The encoded message that is [embedded](crate::Decoder::enclosed) in a body is invalid. Contains the error text
    /// of the message's codec.
    Content(String),
    /// An enum index is unknown to the schema, and no number can represent it: the index is at least 2^31, or the
    /// schema declares its number for another value.
    EnumIndex {
        /// Full name of the enum with the invalid value.
        enumeration: &'static str,
        /// The unknown index.
        index: u32,
    },
    /// A body that was being [translated](crate::layout) contains another value in place of a scalar, a string, bytes,
    /// or a list or map of these.
    NotScalar {
        /// Byte that was found where a kind byte was expected.
        found: u8,
    },
    /// A body that was being [translated](crate::layout) contains an enum number that the reader's schema does not
    /// declare and that cannot be encoded for the reader.
    EnumNumber(i32),
    /// A [translated](crate::layout) body would exceed the maximum size.
    TranslationTooLong {
        /// Maximum size of a translated body in bytes.
        max: usize,
    },
    /// A body cannot be [translated](crate::layout), because reordering its fields would move too many bytes.
    TooManyMoves {
        /// Maximum number of bytes that a translation of a body may move.
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

/// The error of a value that cannot be encoded. The caller is at fault.
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
    /// The length of an [embedded](crate::Encoder::enclosed) message differs from the length that was announced before
    /// the message was written.
    Content {
        /// Length in bytes that was announced before the message was written.
        announced: usize,
        /// Actual length of the written message in bytes.
        written: usize,
    },
    /// An enum number is neither declared nor the representation of an unknown index.
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

/// Displays a byte that was found where a kind byte was expected: the name of the kind if it is valid, or else the
/// hexadecimal value of the byte.
struct UnexpectedByte(u8);

impl fmt::Display for UnexpectedByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Kind::from_byte(self.0) {
            Some(kind) => kind.fmt(f),
            None => write!(f, "byte {:#04x}", self.0),
        }
    }
}
