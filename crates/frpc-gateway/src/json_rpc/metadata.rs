//! Metadata in JSON: an object whose values are text, or bytes in base64 for keys that end in `-bin`.

use frpc::Metadata;
use frpc::json::{Options, Reader};

/// Adds the entries of an object, in place of those with the same keys. Fails with the reason.
pub(super) fn read(json: &str, metadata: &mut Metadata) -> Result<(), String> {
    let options = Options::new();
    let mut reader = Reader::new(json.as_bytes(), &options).map_err(|error| error.to_string())?;
    let mut refused = None;
    let read = reader.object(|key, reader| {
        let added = if key.ends_with("-bin") {
            let mut value = bytes::Bytes::new();
            reader.value(&mut value)?;
            metadata.insert_bin(key, value)
        } else {
            metadata.insert(key, reader.string("text")?)
        };
        refused = refused.take().or(added.err());
        Ok(())
    });
    read.map_err(|error| error.to_string())?;
    refused.map_or(Ok(()), |error| Err(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_are_read_and_values_that_metadata_cannot_hold_are_refused() {
        let mut metadata = Metadata::new();
        metadata.insert("a", "old").expect("it is valid");
        read(r#"{"a":"new","b-bin":"AQ=="}"#, &mut metadata).expect("it is valid");
        assert_eq!((metadata.get("a"), metadata.get_bin("b-bin")), (Some("new"), Some(&b"\x01"[..])));
        for refused in [r#"{"A":"x"}"#, r#"{"a":7}"#, r#"{"a":"\u0001"}"#, r#"{"a-bin":"?"}"#] {
            assert!(read(refused, &mut metadata).is_err(), "{refused}");
        }
    }
}
