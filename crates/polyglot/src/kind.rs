//! The kinds of values and their bytes on the wire.

use std::fmt;

/// The kind of a value, stated by its first byte.
///
/// ```
/// use polyglot::Kind;
///
/// assert_eq!(Kind::I32.byte(), 0x0c);
/// assert_eq!(Kind::from_byte(0x0c), Some(Kind::I32));
/// assert_eq!(Kind::from_byte(0x10), None);
/// assert_eq!(Kind::I32.to_string(), "i32");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Nothing: an absent message, map or optional field.
    Nil = 0x00,
    /// Values of one kind, their number in front.
    List = 0x01,
    /// Pairs of a key and a value, their number in front.
    Map = 0x02,
    /// A message, in the heads of lists and maps; the beginning of a oneof in the rich form.
    Any = 0x03,
    /// Bytes, their number in front.
    Bytes = 0x04,
    /// UTF-8, the number of bytes in front.
    String = 0x05,
    /// A string in place of a message: the reason of its absence.
    Error = 0x06,
    /// One byte, 0 or 1.
    Bool = 0x07,
    /// One byte; also the beginning of every message, whose flags it holds.
    U8 = 0x08,
    /// A varint of at most 3 bytes.
    U16 = 0x09,
    /// A varint of at most 5 bytes.
    U32 = 0x0a,
    /// A varint of at most 10 bytes.
    U64 = 0x0b,
    /// A zigzag varint of at most 5 bytes.
    I32 = 0x0c,
    /// A zigzag varint of at most 10 bytes.
    I64 = 0x0d,
    /// Four bytes, big endian IEEE 754.
    F32 = 0x0e,
    /// Eight bytes, big endian IEEE 754.
    F64 = 0x0f,
}

impl Kind {
    /// The byte of this kind.
    #[inline]
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// The kind of a byte, if any.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x00 => Self::Nil,
            0x01 => Self::List,
            0x02 => Self::Map,
            0x03 => Self::Any,
            0x04 => Self::Bytes,
            0x05 => Self::String,
            0x06 => Self::Error,
            0x07 => Self::Bool,
            0x08 => Self::U8,
            0x09 => Self::U16,
            0x0a => Self::U32,
            0x0b => Self::U64,
            0x0c => Self::I32,
            0x0d => Self::I64,
            0x0e => Self::F32,
            0x0f => Self::F64,
            _ => return None,
        })
    }

    /// The fewest bytes that a list element or a map's key or value of this kind takes, its own kind byte included.
    ///
    /// Never zero: the number of elements is bounded by the bytes that are left.
    #[inline]
    #[must_use]
    pub const fn smallest(self) -> usize {
        match self {
            // A message may be nil.
            Self::Nil | Self::Any => 1,
            Self::Bool | Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::I32 | Self::I64 => 2,
            // The kind, the kind of the length, the length.
            Self::Bytes | Self::String => 3,
            // An error is one more byte and a string; a list names the kind of its elements.
            Self::Error | Self::List => 4,
            Self::Map | Self::F32 => 5,
            Self::F64 => 9,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nil => "nil",
            Self::List => "list",
            Self::Map => "map",
            Self::Any => "message",
            Self::Bytes => "bytes",
            Self::String => "string",
            Self::Error => "error",
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_up_to_0x0f_is_a_kind_and_no_other() {
        for byte in 0..=u8::MAX {
            assert_eq!(Kind::from_byte(byte).map(Kind::byte), (byte <= 0x0f).then_some(byte));
        }
    }

    #[test]
    fn no_kind_is_without_size() {
        for byte in 0..=0x0f {
            assert!(Kind::from_byte(byte).unwrap().smallest() > 0);
        }
    }
}
