//! A replacement for the `prost` crate in derives, which adds support for fields of the type
//! [`Utf8Bytes`](crate::Utf8Bytes).
//!
//! The derives of prost only support `String`, `Vec<u8>` and `Bytes`, but their `prost_path` attribute can refer to
//! this module. A field of type `Utf8Bytes` is declared as bytes, or as a string if it is optional, so that its getter
//! returns a `str`. Both declarations have the same encoding.

pub use super::floats;
pub use prost::*;

pub mod encoding {
    //! Like [`prost::encoding`], but with functions for more types of strings and bytes.

    pub use prost::encoding::*;
    pub use string as bytes;

    pub mod string {
        //! Functions for fields of strings and bytes.

        use crate::{BULK_MIN, Utf8Bytes};
        use ::bytes::{Buf, BufMut, Bytes};
        use prost::DecodeError;
        use prost::encoding::{
            DecodeContext, WireType, bytes, check_wire_type, encode_key, encode_varint, encoded_len_varint, key_len,
            string as strings,
        };

        /// A Rust type that represents a string or bytes field.
        pub trait Text: AsRef<[u8]> + Default {
            /// Decodes the value of a string or bytes field into `value`.
            ///
            /// # Errors
            /// If the value is malformed.
            fn merge(
                wire_type: WireType,
                value: &mut Self,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError>;
        }

        macro_rules! of_prost {
            ($($type:ty, $module:ident;)*) => {$(
                impl Text for $type {
                    fn merge(
                        wire_type: WireType,
                        value: &mut Self,
                        from: &mut impl Buf,
                        context: DecodeContext,
                    ) -> Result<(), DecodeError> {
                        $module::merge(wire_type, value, from, context)
                    }
                }
            )*};
        }

        of_prost! {
            String, strings;
            Vec<u8>, bytes;
            Bytes, bytes;
        }

        impl Text for Utf8Bytes {
            /// Decodes the string. If the input is shared, a long string becomes a slice of it, like with
            /// [`Decoder::utf8_bytes`](crate::Decoder::utf8_bytes).
            fn merge(
                wire_type: WireType,
                value: &mut Self,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                let mut content = Bytes::new();
                bytes::merge(wire_type, &mut content, from, context)?;
                if content.len() < BULK_MIN {
                    content = Bytes::copy_from_slice(&content);
                }
                *value = content.try_into().map_err(|_| not_utf8())?;
                Ok(())
            }
        }

        /// Returns the error of prost for invalid UTF-8. Decodes an invalid string to obtain it, because prost has no
        /// public constructor for its errors.
        fn not_utf8() -> DecodeError {
            let content = [1, 0xff];
            let read = strings::merge(
                WireType::LengthDelimited,
                &mut String::new(),
                &mut &content[..],
                DecodeContext::default(),
            );
            read.expect_err("0xff should not be valid UTF-8")
        }

        /// Encodes a string or bytes field with its key.
        pub fn encode<T: Text>(tag: u32, value: &T, to: &mut impl BufMut) {
            encode_key(tag, WireType::LengthDelimited, to);
            encode_varint(value.as_ref().len() as u64, to);
            to.put_slice(value.as_ref());
        }

        /// Encodes a repeated string or bytes field, with the key before each element.
        pub fn encode_repeated<T: Text>(tag: u32, values: &[T], to: &mut impl BufMut) {
            values.iter().for_each(|value| encode(tag, value, to));
        }

        /// Returns the length of an encoded field, including its key.
        pub fn encoded_len<T: Text>(tag: u32, value: &T) -> usize {
            let length = value.as_ref().len();
            key_len(tag).saturating_add(encoded_len_varint(length as u64)).saturating_add(length)
        }

        /// Returns the length of an encoded repeated field, including the key of each element.
        pub fn encoded_len_repeated<T: Text>(tag: u32, values: &[T]) -> usize {
            values.iter().map(|value| encoded_len(tag, value)).sum()
        }

        /// Decodes the value of a string or bytes field into `value`.
        ///
        /// # Errors
        /// If the value is malformed.
        pub fn merge<T: Text>(
            wire_type: WireType,
            value: &mut T,
            from: &mut impl Buf,
            context: DecodeContext,
        ) -> Result<(), DecodeError> {
            T::merge(wire_type, value, from, context)
        }

        /// Decodes one element of a repeated field and appends it to `values`.
        ///
        /// # Errors
        /// If the value is malformed.
        pub fn merge_repeated<T: Text>(
            wire_type: WireType,
            values: &mut Vec<T>,
            from: &mut impl Buf,
            context: DecodeContext,
        ) -> Result<(), DecodeError> {
            check_wire_type(WireType::LengthDelimited, wire_type)?;
            let mut value = T::default();
            T::merge(wire_type, &mut value, from, context)?;
            values.push(value);
            Ok(())
        }
    }
}
