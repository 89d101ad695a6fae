//! gzip compression, and decompression with a size limit.

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use frpc::Status;
use std::io::{Read as _, Write as _};

/// Minimum size in bytes of a message that is compressed. Smaller messages hardly shrink, and each compression
/// allocates buffers.
pub(crate) const COMPRESS_MIN: usize = 1024;

/// Decompresses to at most `limit` bytes, and never allocates more. Accepts empty input, because empty messages are not
/// compressed.
pub(crate) fn inflate(bytes: &[u8], limit: u64) -> Result<Bytes, Status> {
    if bytes.is_empty() {
        return Ok(Bytes::new());
    }
    let mut out = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(limit.saturating_add(1));
    decoder.read_to_end(&mut out).map_err(|_| Status::invalid_argument("the message is not valid gzip"))?;
    if out.len() as u64 > limit {
        return Err(Status::resource_exhausted(format!("the message has more than {limit} bytes")));
    }
    // Release the spare capacity, because messages are charged by their length.
    out.shrink_to_fit();
    Ok(out.into())
}

/// Compresses a response body if it is long enough and the client accepts gzip. `encodings` is the value of its field
/// `accept-encoding`.
pub(crate) fn compressed(body: &[u8], encodings: Option<&[u8]>) -> Option<Bytes> {
    (body.len() >= COMPRESS_MIN && is_accepted(encodings)).then(|| deflate(body))
}

/// Compresses a message at the fastest level, for sending over a connection.
pub(crate) fn deflate(bytes: &[u8]) -> Bytes {
    compress(bytes, Compression::fast())
}

/// Compresses a static file at the best level, because each file is compressed only once.
#[cfg(feature = "console")]
pub(crate) fn deflate_once(bytes: &[u8]) -> Bytes {
    compress(bytes, Compression::best())
}

fn compress(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing to memory cannot fail, so ignore the result.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default().into()
}

/// Returns whether gzip is in a list of encodings, such as the value of `accept-encoding`.
pub(crate) fn is_accepted(encodings: Option<&[u8]>) -> bool {
    accepts(encodings, |name| name.eq_ignore_ascii_case("gzip"))
}

/// Returns whether `is_meant` accepts an element of a list such as `accept`, except those with the quality 0.
pub(crate) fn accepts(list: Option<&[u8]>, is_meant: impl Fn(&str) -> bool) -> bool {
    let list = list.and_then(|list| std::str::from_utf8(list).ok()).unwrap_or_default();
    list.split(',').any(|element| {
        let mut parts = element.split(';').map(str::trim);
        parts.next().is_some_and(&is_meant) && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::Code;

    #[test]
    fn gzip_round_trips_up_to_limit() {
        let bytes = vec![7; 10_000];
        let small = deflate(&bytes);
        assert!(small.len() < 100);
        let inflated = |bytes: &[u8], limit| inflate(bytes, limit).map_err(|status| status.code());
        assert_eq!(inflated(&small, 10_000).as_deref(), Ok(&bytes[..]));
        assert_eq!(inflated(&small, 9_999), Err(Code::ResourceExhausted));
        assert_eq!(inflated(b"", 100), Ok(Bytes::new()));
        assert_eq!(inflated(b"{}", 100), Err(Code::InvalidArgument));
        assert_eq!(inflated(&small[..small.len() - 1], 10_000), Err(Code::InvalidArgument));
    }

    #[test]
    fn inflated_message_has_no_spare_capacity() {
        let message = inflate(&deflate(&[b'a'; 100_001]), 1 << 20).expect("message should be valid gzip");
        let buffer = message.try_into_mut().expect("message should not be shared");
        assert_eq!(buffer.capacity(), 100_001);
    }

    #[test]
    fn gzip_is_recognised_in_accept_encoding() {
        for (list, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzipped", false),
            ("", false),
            ("*", false),
        ] {
            assert_eq!(is_accepted(Some(list.as_bytes())), expected, "{list}");
        }
        assert!(!is_accepted(None));
    }
}
