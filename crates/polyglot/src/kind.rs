//! Kinds of values, and the bytes that represent them on the wire.

use std::fmt;

/// Defines the kinds of values. The arguments are the kind byte, the name, and the minimum size of a value in a list or
/// map.
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
            /// Returns the byte that identifies this kind on the wire.
            #[inline]
            #[must_use]
            pub const fn byte(self) -> u8 {
                self as u8
            }

            /// Returns the kind that a byte identifies, or `None` if the byte is invalid.
            #[must_use]
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// Returns the minimum size in bytes of a list element, map key or map value of this kind, including its
            /// kind byte.
            ///
            /// It is never zero. The remaining input therefore limits the number of elements that a list or map can
            /// declare.
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
    /// A list, encoded as the kind of its elements, their number, and the elements themselves.
    List = 0x01, "list", 4;
    /// A map, encoded as the kinds of its keys and values, the number of pairs, and the pairs themselves.
    Map = 0x02, "map", 5;
    /// In the header of a list or map, the kind of a message that may be nil. Elsewhere, the start of a oneof in the
    /// extended encoding.
    Any = 0x03, "message", 1;
    /// A byte string, encoded with a length prefix.
    Bytes = 0x04, "bytes", 3;
    /// A UTF-8 string, preceded by its length in bytes.
    String = 0x05, "string", 3;
    /// The text of an error, which a body may contain in place of its root message.
    Error = 0x06, "error", 4;
    /// A boolean, encoded as a single byte that is 0 or 1.
    Bool = 0x07, "bool", 2;
    /// An unsigned byte. Every message starts with one that contains its flags.
    U8 = 0x08, "u8", 2;
    /// An unsigned integer, encoded as a varint of at most 3 bytes.
    U16 = 0x09, "u16", 2;
    /// An unsigned integer, encoded as a varint of at most 5 bytes.
    U32 = 0x0a, "u32", 2;
    /// An unsigned integer, encoded as a varint of at most 10 bytes.
    U64 = 0x0b, "u64", 2;
    /// A signed integer, encoded as a zigzag varint of at most 5 bytes.
    I32 = 0x0c, "i32", 2;
    /// A signed integer, encoded as a zigzag varint of at most 10 bytes.
    I64 = 0x0d, "i64", 2;
    /// A single-precision number, encoded as four big-endian bytes in IEEE 754 format.
    F32 = 0x0e, "f32", 5;
    /// A double-precision number, encoded as eight big-endian bytes in IEEE 754 format.
    F64 = 0x0f, "f64", 9;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_up_to_0x0f_are_kinds() {
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
