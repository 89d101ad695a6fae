//! Base64 as used by the gateway's protocols. Decoding accepts padding, and encoding omits it.

use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::*;
use bytes::BytesMut;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_encode_padding(false)
    .with_decode_allow_trailing_bits(true);

const OF_FIELDS: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const OF_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Encodes bytes as base64 in the standard alphabet, without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    OF_FIELDS.encode(bytes)
}

/// Encodes bytes as base64 in the standard alphabet, with padding, so that several results can be concatenated.
pub(crate) fn encode_padded(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Decodes concatenated base64 texts, each with its own padding, and appends the bytes to `out`. The total length of
/// the text must be a multiple of four.
pub(crate) fn decode_parts(mut text: &[u8], out: &mut BytesMut) -> Option<()> {
    while !text.is_empty() {
        let end = text.iter().position(|byte| *byte == b'=').map_or(text.len(), |at| (at / 4 + 1) * 4);
        let (part, rest) = text.split_at_checked(end)?;
        let start = out.len();
        out.resize(start + part.len() / 4 * 3, 0);
        let length = OF_FIELDS.decode_slice(part, out.get_mut(start..)?).ok()?;
        out.truncate(start + length);
        text = rest;
    }
    Some(())
}

pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    OF_FIELDS.decode(text).ok()
}

/// Decodes base64 in the URL-safe or the standard alphabet.
pub(crate) fn decode_url(text: &[u8]) -> Option<Vec<u8>> {
    OF_URLS.decode(text).or_else(|_| OF_FIELDS.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_padded_parts_are_decoded() {
        let decoded = |text: &str| {
            let mut out = BytesMut::from("x");
            decode_parts(text.as_bytes(), &mut out).map(|()| out)
        };
        for (text, expected) in
            [("", "x"), ("YWJj", "xabc"), ("YQ==YWI=YWJj", "xaababc"), ("YWJjYQ==", "xabca"), ("YQ==YQ==", "xaa")]
        {
            assert_eq!(decoded(text).as_deref(), Some(expected.as_bytes()), "{text}");
        }
        for other in ["YQ=a", "Y===", "====", "YWJjY===", "Y!==", "YQ="] {
            assert_eq!(decoded(other), None, "{other}");
        }
    }
}
