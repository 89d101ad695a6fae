//! A replacement of the `prost` crate for derives in messages with [`Utf8Bytes`](crate::Utf8Bytes). It adds readers and
//! writers of strings and bytes for this type.
//!
//! prost's derives only support `String`, `Vec<u8>` and `Bytes`, but their `prost_path` can name this module. A field
//! of `Utf8Bytes` is declared as bytes, or as a string if it is optional, so that its getter returns a `str`. Both have
//! the same encoding.

pub use prost::*;

pub mod encoding {
    //! [`prost::encoding`], with functions for strings and bytes of more types.

    pub use prost::encoding::*;
    pub use string as bytes;

    pub mod string {
        //! Fields of strings and bytes.

        use crate::{BULK_MIN, Utf8Bytes};
        use ::bytes::{Buf, BufMut, Bytes};
        use prost::DecodeError;
        use prost::encoding::{
            DecodeContext, WireType, bytes, check_wire_type, encode_key, encode_varint, encoded_len_varint, key_len,
            string as strings,
        };

        /// A type of strings or bytes.
        pub trait Text: AsRef<[u8]> + Default {
            /// Reads the value of a field.
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
            /// Reads a slice of shared input, like [`Decoder::utf8_bytes`](crate::Decoder::utf8_bytes).
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

        /// Returns prost's error for invalid UTF-8. Decodes an invalid string, because prost has no public constructor
        /// for this error.
        fn not_utf8() -> DecodeError {
            let content = [1, 0xff];
            let read = strings::merge(
                WireType::LengthDelimited,
                &mut String::new(),
                &mut &content[..],
                DecodeContext::default(),
            );
            read.expect_err("0xff occurs nowhere in UTF-8")
        }

        /// Writes a field.
        pub fn encode<T: Text>(tag: u32, value: &T, to: &mut impl BufMut) {
            encode_key(tag, WireType::LengthDelimited, to);
            encode_varint(value.as_ref().len() as u64, to);
            to.put_slice(value.as_ref());
        }

        /// Writes a field for each element of a list.
        pub fn encode_repeated<T: Text>(tag: u32, values: &[T], to: &mut impl BufMut) {
            values.iter().for_each(|value| encode(tag, value, to));
        }

        /// Returns the encoded length of a field.
        pub fn encoded_len<T: Text>(tag: u32, value: &T) -> usize {
            let length = value.as_ref().len();
            key_len(tag).saturating_add(encoded_len_varint(length as u64)).saturating_add(length)
        }

        /// Returns the encoded length of a repeated field.
        pub fn encoded_len_repeated<T: Text>(tag: u32, values: &[T]) -> usize {
            values.iter().map(|value| encoded_len(tag, value)).sum()
        }

        /// Reads the value of a field.
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

        /// Reads the value of a field and appends it to a list.
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
