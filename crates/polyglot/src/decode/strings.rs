//! Validation and copying of UTF-8. Short strings have a fast path for ASCII, and long strings are validated with SIMD.

use crate::limits::BULK_MIN;

/// Size in bytes of chunks when a long string is validated and copied. The source and destination of a chunk fit into
/// an L1 cache of 32 KiB.
const COPIED_AT_ONCE: usize = 16 * 1024;

/// Copies `content` into a `String`. Returns `None` if it is not UTF-8.
#[inline(never)] // Shared by all message types to keep the code small.
pub(super) fn string(content: &[u8]) -> Option<String> {
    if content.len() >= BULK_MIN {
        return long_string(content);
    }
    checked(content).map(str::to_owned)
}

/// Returns `content` as text, or `None` if it is not UTF-8. Has a fast path for ASCII. Reads the source instead of the
/// copy, because bytes that were just written are still in the CPU's store buffer.
#[inline(always)]
#[allow(unsafe_code)]
fn checked(content: &[u8]) -> Option<&str> {
    if is_ascii(content) {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { str::from_utf8_unchecked(content) });
    }
    str::from_utf8(content).ok()
}

/// Like `<[u8]>::is_ascii`, but reads the last bytes as a word that overlaps the previous one. The standard library
/// checks the bytes after the last block of 64 one by one, which takes 12 of 35 ns for a string of 100 bytes.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let Some(last) = bytes.last_chunk() else { return bytes.iter().fold(0, |all, byte| all | byte) < 0x80 };
    let (words, _) = bytes.as_chunks();
    words.iter().fold(u64::from_ne_bytes(*last), |all, word| all | u64::from_ne_bytes(*word)) & HIGH_BITS == 0
}

/// Like [`string`], but overwrites `text` and reuses its allocation. Returns whether the content is valid UTF-8.
#[inline(always)] // Inlined because it is called in a loop over messages.
pub(super) fn string_over(content: &[u8], text: &mut String) -> bool {
    if content.len() >= BULK_MIN {
        text.clear();
        return long_string_into(content, text).is_some();
    }
    text.clear();
    match checked(content) {
        Some(valid) => {
            text.push_str(valid);
            true
        }
        None => false,
    }
}

/// Returns a long string as text, or `None` if it is not UTF-8. Uses SIMD if available.
#[cold]
#[inline(never)]
pub(super) fn long_text(content: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(content).ok()
}

/// Like [`string`], but validates and copies the string in chunks. A chunk is still in the cache when it is copied, so
/// the input is read from memory only once.
#[cold]
#[inline(never)]
fn long_string(content: &[u8]) -> Option<String> {
    let mut text = String::new();
    long_string_into(content, &mut text)?;
    Some(text)
}

/// Like [`long_string`], but appends the string to `text`.
#[cold]
#[inline(never)]
fn long_string_into(content: &[u8], text: &mut String) -> Option<()> {
    text.reserve_exact(content.len());
    let mut rest = content;
    while rest.len() > COPIED_AT_ONCE {
        // Find a character boundary. Any four consecutive bytes contain one, because at most three continuation bytes
        // (`0b10xxxxxx`) follow each other.
        let begins = |end: &usize| rest.get(*end).is_some_and(|byte| byte & 0xc0 != 0x80);
        let end = (COPIED_AT_ONCE - 3..=COPIED_AT_ONCE).rev().find(begins)?;
        let (piece, behind) = rest.split_at_checked(end)?;
        text.push_str(long_text(piece)?);
        rest = behind;
    }
    text.push_str(long_text(rest)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_short_strings_is_checked() {
        for length in 0..140 {
            let text = vec![b'a'; length];
            let mut over = "longer than before".to_owned();
            assert!(string(&text).is_some_and(|valid| valid.len() == length) && string_over(&text, &mut over));
            assert_eq!(over.as_bytes(), text);
            for at in 0..length {
                let mut invalid = text.clone();
                invalid[at] = 0xff;
                assert!(
                    string(&invalid).is_none() && !string_over(&invalid, &mut over),
                    "invalid byte at {at} of {length} should be found"
                );
                let mut umlaut = text.clone();
                umlaut.splice(at..=at, "\u{fc}".bytes());
                assert_eq!(
                    string(&umlaut).map(String::into_bytes),
                    Some(umlaut),
                    "character at {at} of {length} should be valid"
                );
            }
        }
    }
}
