//! Strings and their escapes. Base64 is in `base64.rs`.

use std::borrow::Cow;

use super::Reader;
use crate::{DecodeError, DecodeReason};

impl<'a> Reader<'a> {
    /// Reads a string. If it contains no escapes, it is borrowed from the input.
    ///
    /// # Errors
    ///
    /// If the next value is not a string, or the string has a control character, an unknown escape or an unpaired
    /// surrogate. `expected` describes the value in the error.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(br#""a\nb""#, &Options::new())?;
    /// assert_eq!(reader.string("a text")?, "a\nb");
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[inline]
    pub fn string(&mut self, expected: &'static str) -> Result<Cow<'a, str>, DecodeError> {
        if !self.take(b'"') {
            return Err(self.unexpected(expected));
        }
        let start = self.at;
        self.skip_plain();
        let plain = self.text.get(start..self.at).unwrap_or_default();
        if self.text.as_bytes().get(self.at) == Some(&b'"') {
            self.advance(1);
            return Ok(Cow::Borrowed(plain));
        }
        self.escaped(plain).map(Cow::Owned)
    }

    /// Reads the rest of a string, starting at an escape or an invalid byte. `plain` is the beginning, which has
    /// already been read.
    #[cold]
    #[inline(never)]
    fn escaped(&mut self, plain: &str) -> Result<String, DecodeError> {
        let mut text = plain.to_owned();
        loop {
            let start = self.at;
            self.skip_plain();
            text.push_str(self.text.get(start..self.at).unwrap_or_default());
            if self.is_end()? {
                return Ok(text);
            }
            text.push(self.escape()?);
        }
    }

    /// Skips a string.
    pub(super) fn skip_string(&mut self) -> Result<(), DecodeError> {
        self.advance(1);
        loop {
            self.skip_plain();
            if self.is_end()? {
                return Ok(());
            }
            self.escape()?;
        }
    }

    /// Reads the closing quotation mark if it is next. Returns whether it was. Does not read an escape.
    fn is_end(&mut self) -> Result<bool, DecodeError> {
        match self.text.as_bytes().get(self.at).copied() {
            Some(b'"') => {
                self.advance(1);
                Ok(true)
            }
            Some(b'\\') => Ok(false),
            Some(byte) => Err(self.error(DecodeReason::ControlCharacter(byte))),
            None => Err(self.unexpected("the end of a string")),
        }
    }

    /// Reads an escape sequence, starting at its backslash.
    fn escape(&mut self) -> Result<char, DecodeError> {
        let start = self.at;
        let bad = |reason| DecodeError::new(reason, start);
        let letter = self.text.as_bytes().get(self.at.wrapping_add(1)).copied();
        let simple = match letter {
            Some(letter @ (b'"' | b'\\' | b'/')) => char::from(letter),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.unit().ok_or_else(|| bad(DecodeReason::Escape))?;
                if let Some(letter) = char::from_u32(first) {
                    return Ok(letter);
                }
                // The first half of a surrogate pair, which must be followed by the second half.
                let second = self.unit().ok_or_else(|| bad(DecodeReason::Surrogate))?;
                let pair = [first, second].map(|unit| u16::try_from(unit).unwrap_or_default());
                return match char::decode_utf16(pair).next() {
                    Some(Ok(letter)) => Ok(letter),
                    _ => Err(bad(DecodeReason::Surrogate)),
                };
            }
            _ => return Err(bad(DecodeReason::Escape)),
        };
        self.advance(2);
        Ok(simple)
    }

    /// Reads `\u` and four hexadecimal digits if they are next, and returns the UTF-16 code unit.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at.wrapping_add(6))?.strip_prefix("\\u")?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.advance(6);
        Some(unit)
    }

    /// Advances to the next byte that is special within a string, or to the end of the input.
    #[inline(always)]
    fn skip_plain(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.advance(plain_length(rest));
    }
}

/// Returns the number of leading bytes that need no escaping, that is, no quotation mark, backslash or control
/// character. Examines the first block in words, because most strings are short.
#[inline(always)]
pub fn plain_length(bytes: &[u8]) -> usize {
    match bytes.split_at_checked(BLOCK) {
        None => plain_words(bytes),
        Some((first, rest)) => match plain_words(first) {
            BLOCK => BLOCK.wrapping_add(long_plain_length(rest)),
            length => length,
        },
    }
}

/// Number of bytes that are examined at once with SIMD instructions.
const BLOCK: usize = 64;

/// Like [`plain_length`], but examines eight bytes at a time.
#[inline(always)]
fn plain_words(bytes: &[u8]) -> usize {
    let (words, end) = bytes.as_chunks::<8>();
    let mut length = 0_usize;
    for word in words {
        let special = special_in(u64::from_le_bytes(*word));
        if special != 0 {
            return length.wrapping_add((special.trailing_zeros() / 8) as usize);
        }
        length = length.wrapping_add(8);
    }
    length.wrapping_add(end.iter().take_while(|byte| !is_special(**byte)).count())
}

/// Like [`plain_length`], but optimized for texts that are probably long.
#[inline(never)]
fn long_plain_length(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let plain = blocks.iter().take_while(|block| !has_special(block)).count().wrapping_mul(BLOCK);
    plain.wrapping_add(plain_words(bytes.get(plain..).unwrap_or_default()))
}

/// Returns whether a block contains a byte that needs escaping. Has no branches, so that the compiler vectorizes it.
#[inline(always)]
fn has_special(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0_u8, |found, byte| found | u8::from(is_special(*byte))) != 0
}

/// Returns whether a text contains no bytes that need escaping.
#[inline(always)]
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<8>() else { return !text.iter().any(|byte| is_special(*byte)) };
    if text.len() > BLOCK {
        return long_plain_length(text) == text.len();
    }
    let (words, rest) = text.as_chunks::<8>();
    let mut found = words.iter().fold(0, |found, word| found | special_in(u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        // Check the last eight bytes, which overlap the previous word.
        found |= special_in(u64::from_le_bytes(*last));
    }
    found == 0
}

#[inline(always)]
fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Returns a word with the high bit set in each byte that needs escaping. The bits of bytes after the first such byte,
/// in input order, may be wrong.
#[inline(always)]
fn special_in(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    /// Returns a word with the high bit set in each zero byte of `word`.
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word
    }
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
    const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
    let below_space = word.wrapping_sub(SPACES) & !word;
    (below_space | zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES)) & HIGH
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, is_plain, is_special, plain_length, special_in};

    #[test]
    fn first_special_text_byte_is_always_found() {
        for length in (0..40).chain([BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 4 * BLOCK + 13]) {
            let text = vec![b'a'; length];
            assert_eq!((plain_length(&text), is_plain(&text)), (length, true), "{length}");
            for index in 0..length {
                for special in [0, 0x1f, b'"', b'\\'] {
                    let mut text = text.clone();
                    text[index] = special;
                    text[index + 1..].fill(0xff);
                    assert_eq!(
                        (plain_length(&text), is_plain(&text)),
                        (index, false),
                        "plain prefix should end at {index} of {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn first_special_word_byte_is_always_found() {
        for byte in 0..=u8::MAX {
            for index in 0..8 {
                for before in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                    for behind in [b'a', 0, b'"', 0xff] {
                        let mut word = [before; 8];
                        word[index + 1..].fill(behind);
                        word[index] = byte;
                        let first = word.iter().position(|byte| is_special(*byte)).unwrap_or(8);
                        let found = special_in(u64::from_le_bytes(word)).trailing_zeros() / 8;
                        assert_eq!(found, u32::try_from(first).unwrap(), "{word:x?}");
                    }
                }
            }
        }
    }
}
