//! Scalars, strings and bytes, which are [`Codec`]s of themselves.

use bytes::Bytes;

use crate::{Codec, DecodeError, Decoder, EncodeError, Encoder, Key, Kind, Utf8Bytes};

/// Scalars: the type, its kind, the methods of encoder and decoder, the default, and whether it can be a key.
macro_rules! scalar {
    ($type:ty, $kind:ident, $method:ident, |$value:ident| $default:expr $(, $key:ident)?) => {
        impl Codec for $type {
            type Target = Self;
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn encode(value: &Self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                to.$method(*value);
                Ok(())
            }

            #[inline]
            fn decode(value: &mut Self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
                *value = from.$method()?;
                Ok(())
            }

            #[inline]
            fn is_default(value: &Self) -> bool {
                let $value = *value;
                $default
            }
        }

        $(impl $key for $type {})?
    };
}

scalar!(bool, Bool, bool, |value| !value, Key);
scalar!(i32, I32, i32, |value| value == 0, Key);
scalar!(i64, I64, i64, |value| value == 0, Key);
scalar!(u32, U32, u32, |value| value == 0, Key);
scalar!(u64, U64, u64, |value| value == 0, Key);
scalar!(f32, F32, f32, |value| value.to_bits() == 0);
scalar!(f64, F64, f64, |value| value.to_bits() == 0);

/// Strings and bytes, which are the default if they are empty: the type, its kind, and how it is written and read.
macro_rules! text {
    ($type:ty, $kind:ident, $encode:expr, |$from:ident, $value:ident| $decode:expr) => {
        impl Codec for $type {
            type Target = Self;
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn encode(value: &Self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                $encode(to, value)
            }

            #[inline(always)]
            fn decode($value: &mut Self, $from: &mut Decoder<'_>) -> Result<(), DecodeError> {
                $decode
            }

            #[inline]
            fn is_default(value: &Self) -> bool {
                value.is_empty()
            }
        }
    };
}

text!(String, String, Encoder::string, |from, text| from.string_over(text));
text!(Utf8Bytes, String, Encoder::utf8_bytes, |from, text| from.utf8_bytes().map(|read| *text = read));
text!(Vec<u8>, Bytes, Encoder::bytes, |from, bytes| from.bytes_over(bytes));
text!(Bytes, Bytes, Encoder::shared, |from, bytes| from.bytes().map(|read| *bytes = read));

impl Key for String {}
