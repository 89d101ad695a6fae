//! [`Value`]: which Rust types can be the fields of a message.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, Kind, Shape, Utf8Bytes};

/// A type that can be a field of a message.
///
/// These are the [`Element`]s (scalars, strings, bytes and messages), options of them, lists of them, and maps from a
/// [`Key`] to them. The kind on the wire follows from the type. Enum fields, which are `i32` as int32 fields are, have a
/// codec instead: [`Encoder::field_as`] with an [`Index`](crate::Index).
pub trait Value: Default {
    /// Writes the value.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded.
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed.
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;

    /// As [`decode`](Self::decode), over a value that is no longer needed and whose memory is used again. After an
    /// error its content is unspecified.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    #[inline]
    fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        *self = Self::decode(from)?;
        Ok(())
    }
}

/// A [`Value`] that can also be an element of a list or map: a scalar, a string, bytes or a message.
pub trait Element: Value {
    /// The kind on the wire; [`Kind::Any`] for messages.
    const KIND: Kind;

    /// Whether the flat form cannot distinguish this value from an absent one. Negative zero is not the default of a
    /// float, and a message is never absent when it is there.
    fn is_default(&self) -> bool;
}

/// An [`Element`] that can be a map's key: bool, an integer or a string.
pub trait Key: Element {}

/// Scalars: the type, its kind, the methods of encoder and decoder, the default, and whether it can be a key.
macro_rules! scalar {
    ($type:ty, $kind:ident, $method:ident, |$value:ident| $default:expr $(, $key:ident)?) => {
        impl Value for $type {
            #[inline]
            fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                to.$method(*self);
                Ok(())
            }

            #[inline]
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                from.$method()
            }
        }

        impl Element for $type {
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn is_default(&self) -> bool {
                let $value = *self;
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

impl Value for String {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.string(self)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.string()
    }

    #[inline]
    fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        from.string_over(self)
    }
}

impl Key for String {}

impl Value for Vec<u8> {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.bytes(self)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.slice().map(<[u8]>::to_vec)
    }

    #[inline]
    fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let content = from.slice()?;
        self.clear();
        self.extend_from_slice(content);
        Ok(())
    }
}

impl Value for Bytes {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.shared(self)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.bytes()
    }
}

impl Value for Utf8Bytes {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.utf8_bytes(self)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.utf8_bytes()
    }
}

/// Values that are the default if they are empty.
macro_rules! text {
    ($($type:ty, $kind:ident;)*) => {$(
        impl Element for $type {
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn is_default(&self) -> bool {
                self.is_empty()
            }
        }
    )*};
}

text! {
    String, String;
    Utf8Bytes, String;
    Vec<u8>, Bytes;
    Bytes, Bytes;
}

/// Containers, by the [`Codec`](crate::Codec) that each element is of itself.
macro_rules! container {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> Value for $type {
            #[inline]
            fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                <Self as Shape<T>>::encode(self, to)
            }

            #[inline]
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                <Self as Shape<T>>::decode(from)
            }

            #[inline]
            fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
                <Self as Shape<T>>::decode_over(self, from)
            }
        }
    };
}

container!([T: Element] Option<T>);
container!([T: Element] Vec<T>);
container!([K: Key + Eq + Hash, T: Element] HashMap<K, T>);
container!([K: Key + Ord, T: Element] BTreeMap<K, T>);
