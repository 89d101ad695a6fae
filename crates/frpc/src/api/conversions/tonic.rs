//! Conversions of statuses and metadata from and to the types of tonic, for programs that use both.

use crate::{Code, Metadata, MetadataError, Status};
use bytes::Bytes;
use tonic::metadata::{AsciiMetadataKey, BinaryMetadataKey, KeyAndValueRef, MetadataMap, MetadataValue};

/// Converts the code by its number. Both enums use the numbers of gRPC.
impl From<Code> for tonic::Code {
    fn from(code: Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// Converts the code by its number. Both enums use the numbers of gRPC.
impl From<tonic::Code> for Code {
    fn from(code: tonic::Code) -> Self {
        Self::from_i32(code as i32)
    }
}

/// Converts the status, preserving its details and metadata.
impl From<Status> for tonic::Status {
    fn from(status: Status) -> Self {
        let metadata = MetadataMap::from(status.metadata());
        let details = Bytes::copy_from_slice(status.details());
        Self::with_details_and_metadata(status.code().into(), status.message(), details, metadata)
    }
}

/// Converts the status, preserving its details and metadata. Entries that [`Metadata`] cannot represent are dropped,
/// and logged.
impl From<tonic::Status> for Status {
    fn from(status: tonic::Status) -> Self {
        let mut converted = Self::new(status.code().into(), status.message());
        if !status.details().is_empty() {
            converted = converted.with_details(status.details().to_vec());
        }
        let mut metadata = Metadata::new();
        for entry in status.metadata().iter() {
            if let Err(error) = insert(&mut metadata, &entry) {
                tracing::debug!(%error, "metadata entry of a tonic status dropped");
            }
        }
        if metadata.is_empty() { converted } else { converted.with_metadata(metadata) }
    }
}

/// Converts the metadata, preserving all entries.
impl From<&Metadata> for MetadataMap {
    fn from(metadata: &Metadata) -> Self {
        let mut map = Self::new();
        for (key, value) in metadata.iter() {
            if key.ends_with("-bin") {
                if let Ok(key) = BinaryMetadataKey::from_bytes(key.as_bytes()) {
                    map.append_bin(key, MetadataValue::from_bytes(value));
                }
            } else if let (Ok(key), Ok(value)) =
                (AsciiMetadataKey::from_bytes(key.as_bytes()), MetadataValue::try_from(value))
            {
                map.append(key, value);
            }
        }
        map
    }
}

/// Converts the metadata, preserving all values of each key.
///
/// # Errors
/// If [`Metadata`] cannot represent an entry: for example if a text is not ASCII, or a limit is exceeded.
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
        KeyAndValueRef::Ascii(key, value) => {
            // A lossy conversion suffices, because only ASCII is accepted.
            metadata.append(key, String::from_utf8_lossy(value.as_encoded_bytes()))
        }
        KeyAndValueRef::Binary(key, value) => metadata.append_base64(key.as_str(), value.as_encoded_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_round_trips_through_tonic() {
        for number in 0..=16 {
            let mut metadata = Metadata::new();
            metadata.insert("text", "a text").expect("text entry should be valid metadata");
            metadata.insert_bin("raw-bin", vec![0, 255]).expect("binary entry should be valid metadata");
            let status = Status::new(Code::from_i32(number), format!("number {number}"))
                .with_details(vec![1, 2, 3])
                .with_metadata(metadata);
            let theirs = tonic::Status::from(status.clone());
            assert_eq!((theirs.code() as i32, theirs.message()), (number, status.message()));
            assert_eq!(Status::from(theirs), status);
        }
    }

    #[test]
    fn repeated_metadata_round_trips_through_tonic() {
        let mut map = MetadataMap::new();
        for value in ["a", "b"] {
            map.append("x-part", value.parse().expect("value should be valid metadata"));
            map.append_bin("raw-bin", MetadataValue::from_bytes(value.as_bytes()));
        }
        let metadata = Metadata::try_from(&map).expect("repeated entries should be valid metadata");
        assert_eq!(metadata.get_all("x-part").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(metadata.get_all_bin("raw-bin").collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(MetadataMap::from(&metadata).into_headers(), map.into_headers());
    }

    /// Regression test: a field with several values, as proxies combine them, was refused.
    #[test]
    fn combined_binary_field_is_divided_at_commas() {
        let mut headers = http::HeaderMap::new();
        headers.insert("raw-bin", http::HeaderValue::from_static("YQ==, Yg,"));
        let metadata = Metadata::try_from(&MetadataMap::from_headers(headers)).expect("values should be valid base64");
        assert_eq!(metadata.get_all_bin("raw-bin").collect::<Vec<_>>(), [&b"a"[..], b"b", b""]);
    }

    #[test]
    fn invalid_tonic_metadata_entry_is_error() {
        let mut map = MetadataMap::new();
        map.insert("tenant", "blue".parse().expect("tenant should be valid metadata"));
        let metadata = Metadata::try_from(&map).expect("metadata of a single entry should be convertible");
        assert_eq!((metadata.len(), metadata.get("tenant")), (1, Some("blue")));
        assert_eq!(MetadataMap::from(&metadata).get("tenant").map(MetadataValue::as_encoded_bytes), Some(&b"blue"[..]));
        map.insert(
            "authorization",
            MetadataValue::try_from(&b"Bearer \xE9"[..]).expect("value should be a valid HTTP header"),
        );
        assert!(Metadata::try_from(&map).is_err());
        let status = Status::from(tonic::Status::with_metadata(tonic::Code::NotFound, "gone", map));
        assert_eq!((status.metadata().len(), status.metadata().get("tenant")), (1, Some("blue")));
    }
}
