//! Conversions of statuses and metadata to and from tonic's types, for programs with clients of both protocols.

use crate::{Code, Metadata, MetadataError, Status};
use bytes::Bytes;
use tonic::metadata::{AsciiMetadataKey, BinaryMetadataKey, KeyAndValueRef, MetadataMap, MetadataValue};

/// The numbers are the same.
impl From<Code> for tonic::Code {
    fn from(code: Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// The numbers are the same.
impl From<tonic::Code> for Code {
    fn from(code: tonic::Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// Keeps details and metadata.
impl From<Status> for tonic::Status {
    fn from(status: Status) -> Self {
        let metadata = status.metadata().map_or_else(MetadataMap::new, MetadataMap::from);
        let details = Bytes::copy_from_slice(status.details());
        Self::with_details_and_metadata(status.code().into(), status.message(), details, metadata)
    }
}

/// Keeps details and metadata. Entries that [`Metadata`] cannot hold are dropped, and named in the log.
impl From<tonic::Status> for Status {
    fn from(status: tonic::Status) -> Self {
        let mut converted = Self::new(status.code().into(), status.message());
        if !status.details().is_empty() {
            converted = converted.with_details(status.details().to_vec());
        }
        let mut metadata = Metadata::new();
        for entry in status.metadata().iter() {
            if let Err(error) = insert(&mut metadata, &entry) {
                let key = key(&entry);
                tracing::debug!(key, %error, "metadata entry of a tonic status dropped");
            }
        }
        if metadata.is_empty() { converted } else { converted.with_metadata(metadata) }
    }
}

/// Of several values of a key, the last one remains.
impl From<&Metadata> for MetadataMap {
    fn from(metadata: &Metadata) -> Self {
        let mut map = Self::new();
        for (key, value) in metadata.iter() {
            if key.ends_with("-bin") {
                if let Ok(key) = BinaryMetadataKey::from_bytes(key.as_bytes()) {
                    map.insert_bin(key, MetadataValue::from_bytes(value));
                }
            } else if let (Ok(key), Ok(value)) =
                (AsciiMetadataKey::from_bytes(key.as_bytes()), MetadataValue::try_from(value))
            {
                map.insert(key, value);
            }
        }
        map
    }
}

/// Of several values of a key, the last one remains.
///
/// # Errors
/// If [`Metadata`] cannot hold an entry: one with a text that is not ASCII, say, or one beyond its limits.
impl TryFrom<&MetadataMap> for Metadata {
    type Error = MetadataError;

    fn try_from(map: &MetadataMap) -> Result<Self, MetadataError> {
        let mut metadata = Self::new();
        map.iter().try_for_each(|entry| insert(&mut metadata, &entry))?;
        Ok(metadata)
    }
}

fn insert(metadata: &mut Metadata, entry: &KeyAndValueRef<'_>) -> Result<(), MetadataError> {
    match entry {
        // Invalid UTF-8 is not ASCII either.
        KeyAndValueRef::Ascii(key, value) => metadata.insert(key, String::from_utf8_lossy(value.as_encoded_bytes())),
        KeyAndValueRef::Binary(key, value) => match value.to_bytes() {
            Ok(bytes) => metadata.insert_bin(key, bytes),
            // Not base64: an error, since a key of bytes has no text.
            Err(_) => metadata.insert(key, ""),
        },
    }
}

fn key<'a>(entry: &KeyAndValueRef<'a>) -> &'a str {
    match entry {
        KeyAndValueRef::Ascii(key, _) => key.as_str(),
        KeyAndValueRef::Binary(key, _) => key.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_converted_to_tonic_and_back_is_unchanged() {
        for number in 0..=16 {
            let mut metadata = Metadata::new();
            metadata.insert("text", "a text").expect("valid entry");
            metadata.insert_bin("raw-bin", vec![0, 255]).expect("valid entry");
            let status = Status::new(Code::from_i32(number), format!("number {number}"))
                .with_details(vec![1, 2, 3])
                .with_metadata(metadata);
            let theirs = tonic::Status::from(status.clone());
            assert_eq!((theirs.code() as i32, theirs.message()), (number, status.message()));
            assert_eq!(Status::from(theirs), status);
        }
    }

    #[test]
    fn metadata_with_an_entry_it_cannot_hold_is_an_error() {
        let mut map = MetadataMap::new();
        map.insert("tenant", "blue".parse().expect("valid value"));
        let metadata = Metadata::try_from(&map).expect("valid entries");
        assert_eq!((metadata.len(), metadata.get("tenant")), (1, Some("blue")));
        assert_eq!(MetadataMap::from(&metadata).get("tenant").map(MetadataValue::as_encoded_bytes), Some(&b"blue"[..]));
        map.insert("authorization", MetadataValue::try_from(&b"Bearer \xE9"[..]).expect("valid value in HTTP"));
        assert!(Metadata::try_from(&map).is_err());
        let status = Status::from(tonic::Status::with_metadata(tonic::Code::NotFound, "gone", map));
        assert_eq!(status.metadata().map(|metadata| (metadata.len(), metadata.get("tenant"))), Some((1, Some("blue"))));
    }
}
