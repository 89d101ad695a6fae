//! The JSON forms of scalars, strings and bytes.

use bytes::Bytes;
use polyglot::Utf8Bytes;

use crate::base64;
use crate::{DecodeError, EncodeError, Json, Reader, Writer};

/// Implements [`Json`] for scalar types. The arguments are their names, and the expressions that compare with the
/// default, write and read a value.
macro_rules! values {
    ($($type:ty, $name:literal,
        |$value:ident| $is_default:expr, |$to:ident| $write:expr, |$from:ident| $read:expr;)*) => {$(
        impl Json for $type {
            const NAME: &'static str = concat!("google.protobuf.", $name);

            #[inline]
            fn is_default(&self) -> bool {
                let $value = self;
                $is_default
            }

            #[inline]
            fn encode_json(&self, $to: &mut Writer<'_>) -> Result<(), EncodeError> {
                let $value = self;
                $write;
                Ok(())
            }

            #[inline]
            fn decode_json(&mut self, $from: &mut Reader<'_>) -> Result<(), DecodeError> {
                *self = $read;
                Ok(())
            }
        }
    )*};
}

values! {
    bool, "BoolValue", |value| !*value, |to| to.raw(if *value { "true" } else { "false" }), |from| from.bool()?;
    i32, "Int32Value", |value| *value == 0, |to| to.integer(*value), |from| from.integer_as("int32")?;
    i64, "Int64Value", |value| *value == 0, |to| to.quoted_integer(*value), |from| from.integer_as("int64")?;
    u32, "UInt32Value", |value| *value == 0, |to| to.integer(*value), |from| from.integer_as("uint32")?;
    u64, "UInt64Value", |value| *value == 0, |to| to.quoted_integer(*value), |from| from.integer_as("uint64")?;
    // Compare bits, because negative zero is not the default value.
    f32, "FloatValue", |value| value.to_bits() == 0, |to| to.float(*value), |from| from.float("float")?;
    f64, "DoubleValue", |value| value.to_bits() == 0, |to| to.float(*value), |from| from.float("double")?;
    String, "StringValue", |value| value.is_empty(), |to| to.string(value), |from| from.string("string")?.into();
    Utf8Bytes, "StringValue", |value| value.is_empty(), |to| to.string(value), |from| from.string("string")?.into();
    Vec<u8>, "BytesValue", |value| value.is_empty(), |to| to.bytes(value), |from| bytes(from)?;
    Bytes, "BytesValue", |value| value.is_empty(), |to| to.bytes(value), |from| bytes(from)?.into();
}

fn bytes(from: &mut Reader<'_>) -> Result<Vec<u8>, DecodeError> {
    from.parsed("base64 string", base64::decode)
}
