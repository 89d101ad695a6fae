//! Kinds of values, and the bytes that represent them on the wire.

use std::fmt;

/// Defines the kinds. The arguments are the byte, the name, and the minimum size of a list element or a map's key or
/// value.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $byte:literal, $name:literal, $smallest:literal;)*) => {
        /// Kind of a value. Its byte is the first byte of each encoded value.
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
            $($(#[$doc])* $kind = $byte,)*
        }

        impl Kind {
            /// Returns the byte that represents this kind.
            #[inline]
            #[must_use]
            pub const fn byte(self) -> u8 {
                self as u8
            }

            /// Returns the kind that this byte represents, or `None` if it is invalid.
            #[must_use]
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// Returns the minimum size in bytes of an encoded element of a list or map, including its kind byte.
            ///
            /// The size is never zero, so the remaining input bounds the number of elements.
            #[inline]
            #[must_use]
            pub const fn smallest(self) -> usize {
                match self {
                    $(Self::$kind => $smallest,)*
                }
            }
        }

        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$kind => $name,)*
                })
            }
        }
    };
}

kinds! {
    /// An absent message, map or optional field.
    Nil = 0x00, "nil", 1;
    /// A header with the kind of the elements and their number, followed by the elements.
    List = 0x01, "list", 4;
    /// A header with the kinds of keys and values and the number of pairs, followed by the pairs.
    Map = 0x02, "map", 5;
    /// A message that may be nil, in the header of a list or map. The start of a oneof in the extended form otherwise.
    Any = 0x03, "message", 1;
    /// Bytes, preceded by their length.
    Bytes = 0x04, "bytes", 3;
    /// UTF-8 text, preceded by its length in bytes.
    String = 0x05, "string", 3;
    /// The text of an error, in place of a message.
    Error = 0x06, "error", 4;
    /// A single byte, 0 or 1.
    Bool = 0x07, "bool", 2;
    /// A single byte. Every message starts with a u8 that contains its flags.
    U8 = 0x08, "u8", 2;
    /// A varint of at most 3 bytes.
    U16 = 0x09, "u16", 2;
    /// A varint of at most 5 bytes.
    U32 = 0x0a, "u32", 2;
    /// A varint of at most 10 bytes.
    U64 = 0x0b, "u64", 2;
    /// A zigzag varint of at most 5 bytes.
    I32 = 0x0c, "i32", 2;
    /// A zigzag varint of at most 10 bytes.
    I64 = 0x0d, "i64", 2;
    /// Four bytes in IEEE 754 format, big-endian.
    F32 = 0x0e, "f32", 5;
    /// Eight bytes in IEEE 754 format, big-endian.
    F64 = 0x0f, "f64", 9;
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
