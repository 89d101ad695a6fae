//! Base64. Writes the standard alphabet with padding. Reads the standard and the URL-safe alphabet, with or without
//! padding. `base64-simd` handles the standard alphabet with padding, at 4 to 5 times the speed of the crate `base64`
//! (8.5 instead of 2.2 GB/s for 1 MiB), which decodes all other text.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Base64 settings for decoding, which ignore trailing bits of the last character.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

const STANDARD_ENGINE: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL_ENGINE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Appends `bytes` to `out` as padded base64.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    base64_simd::STANDARD.encode_append(bytes, out);
}

/// Parses base64, or returns `None` for other text.
///
/// ```
/// assert_eq!(frpc_json::decode_base64("Zm9v"), Some(b"foo".to_vec()));
/// assert_eq!(frpc_json::decode_base64("-_8"), Some(vec![0xfb, 0xff]), "the alphabet of URLs, without padding");
/// assert_eq!(frpc_json::decode_base64("!"), None);
/// ```
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let padded = base64_simd::STANDARD.decode_to_vec(text).ok();
    padded.or_else(|| STANDARD_ENGINE.decode(text).or_else(|_| URL_ENGINE.decode(text)).ok())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        encode(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn vectors_of_rfc_4648_round_trip() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
            assert_eq!(decode(text.trim_end_matches('=')).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn both_alphabets_are_read() {
        assert_eq!(encoded(&[0xfb, 0xff, 0xfe]), "+//+");
        assert_eq!(decode("+//+"), Some(vec![0xfb, 0xff, 0xfe]));
        assert_eq!(decode("-__-"), Some(vec![0xfb, 0xff, 0xfe]));
    }

    #[test]
    fn malformed_text_is_refused() {
        assert_eq!(decode("AA="), Some(vec![0]), "incomplete padding should be accepted");
        for text in ["A", "AAAAA", "=", "==", "A===", "AAA==", "AA==AA==", "A A=", "AA\n=", "ÄA==", "AAAA="] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }

    #[test]
    fn all_bytes_round_trip() {
        for length in 0..70 {
            let bytes: Vec<u8> = (0..length).map(|at: u8| at.wrapping_mul(37).wrapping_add(length)).collect();
            assert_eq!(decode(&encoded(&bytes)), Some(bytes));
        }
    }
}
