//! Strings: the check for UTF-8, and the copy. Short ones are mostly ASCII; long ones are checked by vectors.

use std::string::FromUtf8Error;

use crate::limits::BULK_MIN;

/// The part of a long string that is checked and copied at one time, in bytes. Source and destination together fit
/// into the first-level cache of today's processors, which has at least 32 KiB.
const COPIED_AT_ONCE: usize = 16 * 1024;

/// Checks and copies a string.
#[inline(never)] // Once for all messages.
pub(super) fn string(content: &[u8]) -> Option<String> {
    if content.len() >= BULK_MIN {
        return long_string(content);
    }
    checked(content.to_vec()).ok()
}

/// `String::from_utf8`, with a check for ASCII first, which most texts are: 60 instructions fewer for 32 bytes.
#[inline(always)]
#[allow(unsafe_code)]
fn checked(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Ok(unsafe { String::from_utf8_unchecked(bytes) });
    }
    String::from_utf8(bytes)
}

/// As [`string`], over another text. Whether it is a string.
#[inline(always)] // Its caller is a loop over messages.
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
            // There is nothing to drop.
            std::mem::forget(std::mem::replace(text, string));
            true
        }
        Err(_) => false,
    }
}

/// Checks a long string, by vectors where the processor has them.
#[cold]
#[inline(never)]
pub(super) fn long_text(content: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(content).ok()
}

/// Copies a long string in pieces, each while the processor's cache has it from the check: a text of 1 MiB is read from
/// memory once and not twice.
#[cold]
#[inline(never)]
fn long_string(content: &[u8]) -> Option<String> {
    let mut text = String::new();
    long_string_into(content, &mut text)?;
    Some(text)
}

/// As [`long_string`], appended to `text`.
#[cold]
#[inline(never)]
fn long_string_into(content: &[u8], text: &mut String) -> Option<()> {
    text.reserve_exact(content.len());
    let mut rest = content;
    while rest.len() > COPIED_AT_ONCE {
        // Where a character begins, as it does with one byte of any four: the others begin with the bits 10.
        let begins = |end: &usize| rest.get(*end).is_some_and(|byte| byte & 0xc0 != 0x80);
        let end = (COPIED_AT_ONCE - 3..=COPIED_AT_ONCE).rev().find(begins)?;
        let (piece, behind) = rest.split_at_checked(end)?;
        text.push_str(long_text(piece)?);
        rest = behind;
    }
    text.push_str(long_text(rest)?);
    Some(())
}
