//! UTF-8 validation and copying of strings. Short strings are mostly ASCII; long ones are validated with SIMD.

use std::string::FromUtf8Error;

use crate::limits::BULK_MIN;

/// Size in bytes of the chunks in which long strings are validated and copied. Source and destination together fit into
/// an L1 cache of 32 KiB.
const COPIED_AT_ONCE: usize = 16 * 1024;

/// Validates and copies a string.
#[inline(never)] // A single copy for all message types.
pub(super) fn string(content: &[u8]) -> Option<String> {
    if content.len() >= BULK_MIN {
        return long_string(content);
    }
    checked(content.to_vec()).ok()
}

/// Like `String::from_utf8`, with a fast path for ASCII. It saves 60 instructions for 32 bytes.
#[inline(always)]
#[allow(unsafe_code)]
fn checked(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Ok(unsafe { String::from_utf8_unchecked(bytes) });
    }
    String::from_utf8(bytes)
}

/// Like [`string`], but overwrites `text` and reuses its allocation. Returns whether the content is valid UTF-8.
#[inline(always)] // Called in a loop over messages.
pub(super) fn string_over(content: &[u8], text: &mut String) -> bool {
    if content.len() >= BULK_MIN {
        text.clear();
        return long_string_into(content, text).is_some();
    }
    let mut bytes = std::mem::take(text).into_bytes();
    bytes.clear();
    bytes.extend_from_slice(content);
    match checked(bytes) {
        Ok(string) => {
            // The old string has no allocation to drop.
            std::mem::forget(std::mem::replace(text, string));
            true
        }
        Err(_) => false,
    }
}

/// Validates a long string, using SIMD where available.
#[cold]
#[inline(never)]
pub(super) fn long_text(content: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(content).ok()
}

/// Validates and copies a long string in chunks. Each chunk is still in the cache when it is copied, so the text is
/// read from memory once.
#[cold]
#[inline(never)]
fn long_string(content: &[u8]) -> Option<String> {
    let mut text = String::new();
    long_string_into(content, &mut text)?;
    Some(text)
}

/// Like [`long_string`], but appends to `text`.
#[cold]
#[inline(never)]
fn long_string_into(content: &[u8], text: &mut String) -> Option<()> {
    text.reserve_exact(content.len());
    let mut rest = content;
    while rest.len() > COPIED_AT_ONCE {
        // Finds a character boundary. Any four consecutive bytes of UTF-8 contain one, because only continuation bytes
        // begin with the bits 10.
        let begins = |end: &usize| rest.get(*end).is_some_and(|byte| byte & 0xc0 != 0x80);
        let end = (COPIED_AT_ONCE - 3..=COPIED_AT_ONCE).rev().find(begins)?;
        let (piece, behind) = rest.split_at_checked(end)?;
        text.push_str(long_text(piece)?);
        rest = behind;
    }
    text.push_str(long_text(rest)?);
    Some(())
}
