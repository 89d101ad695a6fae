//! Byte sizes in configuration files, given as a number of bytes or a string such as `64KiB`. For use with
//! `#[serde(with = "…")]`.

use bytesize::ByteSize;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// Serializes a size as its number of bytes.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<T: Copy + TryInto<u64>, S: Serializer>(size: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64((*size).try_into().unwrap_or(u64::MAX))
}

/// Deserializes a size from a number of bytes or a string with a unit.
///
/// # Errors
/// If the value is not a valid size, or exceeds the range of `T`.
pub fn deserialize<'de, T: TryFrom<u64>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let ByteSize(bytes) = ByteSize::deserialize(deserializer)?;
    T::try_from(bytes).map_err(|_| D::Error::custom(format_args!("{bytes} bytes exceed the maximum of this setting")))
}
