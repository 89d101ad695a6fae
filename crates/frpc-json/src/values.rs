//! The JSON forms of scalars, strings and bytes.

use bytes::Bytes;
use polyglot::Utf8Bytes;

use crate::base64;
use crate::{DecodeError, EncodeError, Json, Reader, Writer};

macro_rules! integers {
    ($($type:ty, $name:literal, $expected:literal, $write:ident;)*) => {$(
        impl Json for $type {
            const NAME: &'static str = $name;

            #[inline]
            fn is_default(&self) -> bool {
                *self == 0
            }

            #[inline]
            fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
                to.$write(*self);
                Ok(())
            }

            #[inline]
            fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
                *self = from.integer_as($expected)?;
                Ok(())
            }
        }
    )*};
}

integers! {
    i32, "google.protobuf.Int32Value", "int32", integer;
    i64, "google.protobuf.Int64Value", "int64", quoted_integer;
    u32, "google.protobuf.UInt32Value", "uint32", integer;
    u64, "google.protobuf.UInt64Value", "uint64", quoted_integer;
}

macro_rules! floats {
    ($($type:ident, $name:literal, $expected:literal;)*) => {$(
        impl Json for $type {
            const NAME: &'static str = $name;

            /// Negative zero is not the default.
            #[inline]
            fn is_default(&self) -> bool {
                self.to_bits() == 0
            }

            fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
                if self.is_finite() {
                    to.float(*self);
                } else if self.is_nan() {
                    to.raw("\"NaN\"");
                } else if *self > 0.0 {
                    to.raw("\"Infinity\"");
                } else {
                    to.raw("\"-Infinity\"");
                }
                Ok(())
            }

            fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
                let special = [Self::NAN, Self::INFINITY, Self::NEG_INFINITY];
                *self = from.float($expected, |text| text.parse().ok(), special)?;
                Ok(())
            }
        }
    )*};
}

floats! {
    f32, "google.protobuf.FloatValue", "float";
    f64, "google.protobuf.DoubleValue", "double";
}

impl Json for bool {
    const NAME: &'static str = "google.protobuf.BoolValue";

    #[inline]
    fn is_default(&self) -> bool {
        !self
    }

    #[inline]
    fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.raw(if *self { "true" } else { "false" });
        Ok(())
    }

    #[inline]
    fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        *self = from.bool()?;
        Ok(())
    }
}

macro_rules! strings {
    ($($type:ty)*) => {$(
        impl Json for $type {
            const NAME: &'static str = "google.protobuf.StringValue";

            #[inline]
            fn is_default(&self) -> bool {
                self.is_empty()
            }

            #[inline]
            fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
                to.string(self);
                Ok(())
            }

            #[inline]
            fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
                *self = from.string("string")?.into();
                Ok(())
            }
        }
    )*};
}

strings! { String Utf8Bytes }

macro_rules! byte_strings {
    ($($type:ty)*) => {$(
        impl Json for $type {
            const NAME: &'static str = "google.protobuf.BytesValue";

            #[inline]
            fn is_default(&self) -> bool {
                self.is_empty()
            }

            #[inline]
            fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
                to.bytes(self);
                Ok(())
            }

            fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
                const EXPECTED: &str = "base64 string";
                let offset = from.value_offset();
                let text = from.string(EXPECTED)?;
                *self = base64::decode(&text).ok_or_else(|| Reader::invalid(EXPECTED, &text, offset))?.into();
                Ok(())
            }
        }
    )*};
}

byte_strings! { Vec<u8> Bytes }
