//! A replacement for the `prost` crate in the derives of messages with floats that have no presence.
//!
//! prost omits values that are equal to zero, and a negative zero is equal to zero. The functions of this module omit
//! only the positive zero. A float without presence is declared as required, so that the derive leaves the comparison
//! to this module. A float with presence is declared as a group, because the functions of groups encode every value.
//! The wrappers `FloatValue` and `DoubleValue` are messages. prost uses `f32` and `f64` for them.

use std::any::Any;

pub use super::utf8_bytes::*;

/// Returns the encoding of a negative zero in a `FloatValue` or `DoubleValue`. prost encodes it as an empty message.
/// Returns `None` for all other messages. The optimizer removes the comparison of types.
#[doc(hidden)]
#[must_use]
pub fn wrapped_zero<M: 'static>(message: &M) -> Option<&'static [u8]> {
    fn float<T: Copy + 'static>(message: &dyn Any) -> Option<T> {
        message.downcast_ref::<T>().or_else(|| message.downcast_ref::<Box<T>>().map(|it| &**it)).copied()
    }

    // Key of field 1, followed by the value in little-endian byte order.
    if float::<f32>(message).is_some_and(|value| value.to_bits() == (-0.0_f32).to_bits()) {
        Some(&[0x0d, 0, 0, 0, 0x80])
    } else if float::<f64>(message).is_some_and(|value| value.to_bits() == (-0.0_f64).to_bits()) {
        Some(&[0x09, 0, 0, 0, 0, 0, 0, 0, 0x80])
    } else {
        None
    }
}

pub mod encoding {
    //! Like [`prost::encoding`], but with functions that distinguish negative zeros.

    pub use crate::protobuf::utf8_bytes::encoding::*;

    macro_rules! floats {
        ($($module:ident, $type:ty;)*) => {$(
            pub mod $module {
                //! Functions for fields that have no presence, and for the values of maps.

                use ::bytes::BufMut;
                pub use prost::encoding::$module::*;

                /// Encodes a field with its key, unless it is zero.
                pub fn encode(tag: u32, value: &$type, to: &mut impl BufMut) {
                    if value.to_bits() != 0 {
                        prost::encoding::$module::encode(tag, value, to);
                    }
                }

                /// Returns the length of an encoded field, including its key.
                pub fn encoded_len(tag: u32, value: &$type) -> usize {
                    if value.to_bits() == 0 { 0 } else { prost::encoding::$module::encoded_len(tag, value) }
                }
            }

            impl group::Float for $type {
                fn encode(&self, tag: u32, to: &mut impl ::bytes::BufMut) {
                    prost::encoding::$module::encode(tag, self, to);
                }

                fn merge(
                    &mut self,
                    wire_type: WireType,
                    from: &mut impl ::bytes::Buf,
                    context: DecodeContext,
                ) -> Result<(), prost::DecodeError> {
                    prost::encoding::$module::merge(wire_type, self, from, context)
                }
            }
        )*};
    }

    floats! {
        float, f32;
        double, f64;
    }

    pub mod group {
        //! Functions for floats with presence, which are declared as groups. Because proto3 has no groups, no other
        //! field is declared as one.

        use ::bytes::{Buf, BufMut};
        use prost::DecodeError;
        use prost::encoding::{DecodeContext, WireType, key_len};

        /// Rust type of a float field: `f32` or `f64`.
        pub trait Float: Sized {
            /// Encodes a field with its key.
            fn encode(&self, tag: u32, to: &mut impl BufMut);

            /// Decodes the value of a field.
            ///
            /// # Errors
            /// If the value is malformed.
            fn merge(
                &mut self,
                wire_type: WireType,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError>;
        }

        /// Encodes a field with its key.
        pub fn encode(tag: u32, value: &impl Float, to: &mut impl BufMut) {
            value.encode(tag, to);
        }

        /// Returns the length of an encoded field, including its key.
        pub fn encoded_len<T: Float>(tag: u32, _: &T) -> usize {
            key_len(tag).saturating_add(size_of::<T>())
        }

        /// Decodes the value of a field into `value`.
        ///
        /// # Errors
        /// If the value is malformed.
        pub fn merge(
            _: u32,
            wire_type: WireType,
            value: &mut impl Float,
            from: &mut impl Buf,
            context: DecodeContext,
        ) -> Result<(), DecodeError> {
            value.merge(wire_type, from, context)
        }
    }

    pub mod message {
        //! Functions for messages, including wrappers of floats.

        use ::bytes::BufMut;
        use prost::Message;
        pub use prost::encoding::message::*;
        use prost::encoding::{WireType, encode_key, encode_varint, key_len};

        use crate::protobuf::floats::wrapped_zero;

        /// Encodes a field with its key.
        pub fn encode<M: Message + 'static>(tag: u32, message: &M, to: &mut impl BufMut) {
            let Some(zero) = wrapped_zero(message) else { return prost::encoding::message::encode(tag, message, to) };
            encode_key(tag, WireType::LengthDelimited, to);
            encode_varint(zero.len() as u64, to);
            to.put_slice(zero);
        }

        /// Returns the length of an encoded field, including its key.
        pub fn encoded_len<M: Message + 'static>(tag: u32, message: &M) -> usize {
            let of_zero = wrapped_zero(message).map(|zero| key_len(tag).saturating_add(1).saturating_add(zero.len()));
            of_zero.unwrap_or_else(|| prost::encoding::message::encoded_len(tag, message))
        }

        /// Returns the length of an encoded repeated field, including the key of each element.
        pub fn encoded_len_repeated<M: Message + 'static>(tag: u32, messages: &[M]) -> usize {
            messages.iter().map(|message| encoded_len(tag, message)).sum()
        }
    }

    pub mod hash_map {
        //! Functions for map fields of type `HashMap`.

        pub use super::map::{encode, encoded_len};
        pub use prost::encoding::hash_map::*;
    }

    pub mod btree_map {
        //! Functions for map fields of type `BTreeMap`.

        pub use super::map::{encode, encoded_len};
        pub use prost::encoding::btree_map::*;
    }

    mod map {
        use ::bytes::BufMut;
        use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

        /// Encodes a map field.
        pub fn encode<'a, K: Default + PartialEq + 'a, V: Default + PartialEq + 'a, B: BufMut>(
            key_encode: impl Fn(u32, &K, &mut B),
            key_encoded_len: impl Fn(u32, &K) -> usize,
            value_encode: impl Fn(u32, &V, &mut B),
            value_encoded_len: impl Fn(u32, &V) -> usize,
            tag: u32,
            entries: impl IntoIterator<Item = (&'a K, &'a V)>,
            to: &mut B,
        ) {
            for (key, value) in entries {
                let [key_len, value_len] = [length(1, key, &key_encoded_len), length(2, value, &value_encoded_len)];
                encode_key(tag, WireType::LengthDelimited, to);
                encode_varint(key_len.saturating_add(value_len) as u64, to);
                if key_len > 0 {
                    key_encode(1, key, to);
                }
                if value_len > 0 {
                    value_encode(2, value, to);
                }
            }
        }

        /// Returns the length of an encoded map field.
        pub fn encoded_len<'a, K: Default + PartialEq + 'a, V: Default + PartialEq + 'a>(
            key_encoded_len: impl Fn(u32, &K) -> usize,
            value_encoded_len: impl Fn(u32, &V) -> usize,
            tag: u32,
            entries: impl IntoIterator<Item = (&'a K, &'a V)>,
        ) -> usize {
            let lengths = entries.into_iter().map(|(key, value)| {
                let length = length(1, key, &key_encoded_len).saturating_add(length(2, value, &value_encoded_len));
                key_len(tag).saturating_add(encoded_len_varint(length as u64)).saturating_add(length)
            });
            lengths.sum()
        }

        /// Returns the encoded length of a key or value, or 0 if it is omitted. Values that are equal to the default
        /// but contain a negative zero are longer than the default.
        fn length<T: Default + PartialEq>(tag: u32, value: &T, encoded_len: impl Fn(u32, &T) -> usize) -> usize {
            let (length, default) = (encoded_len(tag, value), T::default());
            if *value == default && length == encoded_len(tag, &default) { 0 } else { length }
        }
    }
}
