//! Base64 as used by the gateway's protocols. Decoding accepts text with and without padding, except in
//! [`decode_parts`].

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

/// Number of characters that [`decode_parts`] decodes at once. Long enough to amortize the calls of the decoder, and
/// short enough for the stack.
const BLOCK: usize = 1024;

/// Decodes concatenated base64 texts, each with its own padding, and appends the bytes to `out`. Returns `None` if
/// the text is invalid or its total length is not a multiple of four.
pub(crate) fn decode_parts(text: &[u8], out: &mut BytesMut) -> Option<()> {
    decode_blocks(text, out, |block, room| OF_FIELDS.decode_slice(block, room).ok())
}

/// Like [`decode_parts`]. `decode` decodes one block, which has no padding, and returns the number of bytes.
fn decode_blocks(
    text: &[u8],
    out: &mut BytesMut,
    mut decode: impl FnMut(&[u8], &mut [u8]) -> Option<usize>,
) -> Option<()> {
    for block in text.chunks(BLOCK) {
        let (mut filled, mut decoded) = ([0; BLOCK], [0; BLOCK / 4 * 3]);
        let filled = filled.get_mut(..block.len())?;
        filled.copy_from_slice(block);
        // Replace padding by zero bits, because a client may pad every group of four. Decoding such groups one by one
        // is seven times as slow.
        let (groups, []) = filled.as_chunks_mut::<4>() else { return None };
        for group in groups {
            match group {
                [_, _, c @ b'=', d @ b'='] => (*c, *d) = (b'A', b'A'),
                [.., d @ b'='] => *d = b'A',
                _ => {}
            }
        }
        let length = decode(filled, &mut decoded)?;
        if !block.contains(&b'=') {
            out.extend_from_slice(decoded.get(..length)?);
            continue;
        }
        for (group, bytes) in block.as_chunks::<4>().0.iter().zip(decoded.as_chunks::<3>().0) {
            out.extend_from_slice(match (group, bytes) {
                ([.., b'=', b'='], [first, ..]) => std::slice::from_ref(first),
                ([.., b'='], [pair @ .., _]) => pair,
                (_, all) => all,
            });
        }
    }
    Some(())
}

pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    OF_FIELDS.decode(text).ok()
}

/// Decodes base64 in the URL-safe or the standard alphabet. Returns `None` for other text.
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

    /// Regression test: each group of four characters was decoded separately, so that a gRPC-Web body in base64 took 42
    /// times as long.
    #[test]
    fn parts_are_decoded_by_blocks_despite_padding() {
        for (group, bytes) in [("YWJj", "abc"), ("YWI=", "ab"), ("YQ==", "a"), ("YWJjYQ==", "abca")] {
            let (text, mut out, mut calls) = (group.repeat(10_000), BytesMut::new(), 0);
            let decoded = decode_blocks(text.as_bytes(), &mut out, |block, room| {
                calls += 1;
                OF_FIELDS.decode_slice(block, room).ok()
            });
            assert_eq!((decoded, out), (Some(()), BytesMut::from(bytes.repeat(10_000).as_str())), "{group}");
            assert_eq!(calls, text.len().div_ceil(BLOCK), "{group}");
        }
    }
}
