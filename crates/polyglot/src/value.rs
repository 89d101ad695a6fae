//! Codecs of scalars, strings and bytes.

use bytes::Bytes;

use crate::{Codec, DecodeError, Decoder, EncodeError, Encoder, Key, Kind, Utf8Bytes};

/// Implements [`Codec`] for a scalar type. The arguments are its kind, the names of the methods that write and read it,
/// the check for its default value, and `Key` if it can be a map key.
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
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                from.$method()
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

/// Implements [`Codec`] for a string or bytes type. The default is empty. The arguments are the type, its kind, the
/// functions that write and read it, and optionally a function that reads into an existing value to reuse its memory.
macro_rules! text {
    ($type:ty, $kind:ident, $encode:expr, $decode:expr $(, $decode_over:expr)?) => {
        impl Codec for $type {
            type Target = Self;
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn encode(value: &Self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                $encode(to, value)
            }

            #[inline]
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                $decode(from)
            }

            $(#[inline]
            fn decode_over(value: &mut Self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
                $decode_over(from, value)
            })?

            #[inline]
            fn is_default(value: &Self) -> bool {
                value.is_empty()
            }
        }
    };
}

text!(String, String, Encoder::string, Decoder::string, Decoder::string_over);
text!(Utf8Bytes, String, Encoder::utf8_bytes, Decoder::utf8_bytes);
text!(Vec<u8>, Bytes, Encoder::bytes, |from: &mut Decoder<'_>| from.slice().map(<[u8]>::to_vec), Decoder::bytes_over);
text!(Bytes, Bytes, Encoder::shared, Decoder::bytes);

impl Key for String {}
