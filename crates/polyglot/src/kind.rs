//! The kinds of values and their bytes on the wire.

use std::fmt;

/// Defines the kinds. Takes the byte, the name, and the minimum size of a list element or a map's key or value.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $byte:literal, $name:literal, $smallest:literal;)*) => {
        /// The kind of a value, given by its first byte.
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
            /// Returns the byte of this kind.
            #[inline]
            #[must_use]
            pub const fn byte(self) -> u8 {
                self as u8
            }

            /// Returns the kind with this byte, if any.
            #[must_use]
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// Returns the minimum size in bytes of a list element, or a map's key or value, of this kind. Includes its
            /// kind byte.
            ///
            /// Never zero, so the remaining input bounds the number of elements.
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
    /// Nothing: an absent message, map or optional field.
    Nil = 0x00, "nil", 1;
    /// Values of one kind, preceded by that kind and their number.
    List = 0x01, "list", 4;
    /// Pairs of a key and a value, preceded by both kinds and their number.
    Map = 0x02, "map", 5;
    /// In heads of lists and maps, a message that may be nil. Otherwise the start of a oneof in the extended form.
    Any = 0x03, "message", 1;
    /// Length-prefixed bytes.
    Bytes = 0x04, "bytes", 3;
    /// Length-prefixed UTF-8.
    String = 0x05, "string", 3;
    /// An error text in place of a message.
    Error = 0x06, "error", 4;
    /// One byte, 0 or 1.
    Bool = 0x07, "bool", 2;
    /// One byte. Also starts every message, whose flags it contains.
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
    /// Four bytes, big endian IEEE 754.
    F32 = 0x0e, "f32", 5;
    /// Eight bytes, big endian IEEE 754.
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
