//! Base64 as the protocols of the gateway have it: read with or without padding, written without.

use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::*;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_encode_padding(false)
    .with_decode_allow_trailing_bits(true);

const OF_FIELDS: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const OF_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Bytes in the alphabet of fields.
pub(crate) fn encode(bytes: &[u8]) -> String {
    OF_FIELDS.encode(bytes)
}

/// Bytes in the alphabet of fields, with padding, so that several may follow each other.
pub(crate) fn encode_padded(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    OF_FIELDS.decode(text).ok()
}

/// Bytes in the alphabet of URLs, or that of fields.
pub(crate) fn decode_url(text: &[u8]) -> Option<Vec<u8>> {
    OF_URLS.decode(text).or_else(|_| OF_FIELDS.decode(text)).ok()
}
