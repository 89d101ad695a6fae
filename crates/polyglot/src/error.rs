//! Reasons of decoding and encoding errors.

use std::fmt;

use crate::path_error::PathError;
use crate::{Kind, NESTING_CEILING};

/// The error of invalid input. Either the peer is faulty, or the schemas differ.
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

/// The reason why input cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeReason {
    /// The input ends where a value should begin or within one.
    Truncated {
        /// The kind of the value.
        expected: Kind,
    },
    /// An unexpected kind.
    WrongKind {
        /// The expected kind.
        expected: Kind,
        /// The byte found, which need not be a valid kind.
        found: u8,
    },
    /// A list or map has elements of an unexpected kind.
    WrongElementKind {
        /// The expected kind.
        expected: Kind,
        /// The byte found, which need not be a valid kind.
        found: u8,
    },
    /// A varint has more bytes than its kind allows.
    VarintTooLong {
        /// The kind that the varint belongs to.
        kind: Kind,
    },
    /// A bool is neither 0 nor 1.
    Bool(u8),
    /// A string is not UTF-8.
    Utf8,
    /// A string or bytes value is longer than the remaining input.
    LengthBeyondEnd {
        /// [`Kind::String`], [`Kind::Error`] or [`Kind::Bytes`].
        kind: Kind,
        /// The declared length.
        length: u32,
        /// The number of unread bytes.
        left: usize,
    },
    /// A list or map declares more elements than the remaining input can hold.
    TooManyElements {
        /// [`Kind::List`] or [`Kind::Map`].
        kind: Kind,
        /// The declared length.
        length: u32,
        /// The number of unread bytes.
        left: usize,
    },
    /// Lists, maps and boxes would take more memory than
    /// [`Decoder::with_container_memory`](crate::Decoder::with_container_memory) allows.
    ContainerMemory {
        /// The number of bytes required.
        needed: usize,
        /// The remaining number of bytes.
        left: usize,
    },
    /// Messages nest deeper than [allowed](crate::Decoder::with_nesting).
    NestingTooDeep {
        /// The maximum number of levels.
        max: u32,
    },
    /// An error in place of a message inside another message.
    NestedError,
    /// A oneof of the extended form has a member unknown to the schema.
    UnknownMember {
        /// The member's one-based index in the declaration.
        member: u32,
    },
    /// The message [enclosed](crate::Decoder::enclosed) in the body is invalid. Contains the error text of its codec.
    Content(String),
    /// An unknown enum index that cannot be preserved: it is at least 2^31, or its substitute is a declared number.
    EnumIndex {
        /// The full name of the enum.
        enumeration: &'static str,
        /// The index.
        index: u32,
    },
    /// A value that [translation](crate::layout) does not expect here: only scalars, strings, bytes, and lists and maps
    /// of these are permitted.
    NotScalar {
        /// The byte found.
        found: u8,
    },
    /// During [translation](crate::layout), an enum number that the reader's schema lacks and its form cannot encode.
    EnumNumber(i32),
    /// A [translated](crate::layout) body exceeds a limit.
    TranslationTooLong {
        /// The limit in bytes.
        max: usize,
    },
    /// [Translating](crate::layout) a body moves too many bytes to reorder its fields.
    TooManyMoves {
        /// The limit in bytes.
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

/// The error of a value that cannot be encoded. The caller is faulty.
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

/// The reason why a value cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeReason {
    /// A string, bytes value, list or map is longer than 2^32 - 1.
    TooLong {
        /// The kind of the value.
        kind: Kind,
        /// The length of the value.
        length: usize,
    },
    /// Messages nest deeper than [`NESTING_CEILING`](crate::NESTING_CEILING).
    NestingTooDeep,
    /// An [`Undecoded`](crate::Undecoded) body is invalid. Contains the text of the decoding error.
    Unreadable(String),
    /// The length of an [enclosed](crate::Encoder::enclosed) message differs from the announced one.
    Content {
        /// The length that was announced.
        announced: usize,
        /// The length that was written.
        written: usize,
    },
    /// A number that the enum does not declare and that does not represent an unknown index.
    UnknownNumber {
        /// The full name of the enum.
        enumeration: &'static str,
        /// The number.
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

/// An input byte found where a kind byte was expected. Displayed as the kind, if it is one, and as hexadecimal
/// otherwise.
struct UnexpectedByte(u8);

impl fmt::Display for UnexpectedByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Kind::from_byte(self.0) {
            Some(kind) => kind.fmt(f),
            None => write!(f, "byte {:#04x}", self.0),
        }
    }
}
