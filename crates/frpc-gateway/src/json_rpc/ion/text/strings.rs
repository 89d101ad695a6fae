//! Parser of strings, quoted symbols, clobs and blobs in text Ion.

use super::super::output::JsonOutput;
use super::super::{Result, malformed};
use super::TextReader;
use base64::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A string or symbol. Its Unicode text becomes JSON text.
    Text,
    /// A clob. Its bytes become the characters U+0000 to U+00FF.
    Clob,
}

/// Delimiter of long strings, which may contain line breaks.
const LONG_QUOTES: &str = "'''";

impl TextReader<'_> {
    /// Reads a string in double quotes, or adjacent triple-quoted strings as one. Returns false if there is none.
    pub(super) fn string(&mut self, form: Form) -> Result<bool> {
        self.content.clear();
        if self.take_byte(b'"') {
            return self.string_until("\"", form).map(|()| true);
        }
        if !self.rest().starts_with(LONG_QUOTES) {
            return Ok(false);
        }
        loop {
            self.at += LONG_QUOTES.len();
            self.string_until(LONG_QUOTES, form)?;
            let end = self.at;
            // A clob must not contain comments.
            match form {
                Form::Text => self.skip_space()?,
                Form::Clob => self.skip_white_space(),
            }
            if !self.rest().starts_with(LONG_QUOTES) {
                self.at = end;
                return Ok(true);
            }
        }
    }

    /// Appends the rest of a string to `content`, up to and including the closing quotes.
    pub(super) fn string_until(&mut self, quotes: &str, form: Form) -> Result<()> {
        loop {
            let rest = self.rest();
            let is_plain = |byte: &u8| !matches!(*byte, ..b' ' | b'"' | b'\'' | b'\\');
            let plain = rest.bytes().take_while(is_plain).count();
            let (plain, rest) = rest.split_at(plain);
            if form == Form::Clob && !plain.is_ascii() {
                return malformed("a clob has a character that is not ASCII: write it as an escape");
            }
            put(self.output, &mut self.content, form, plain)?;
            self.at += plain.len();
            if rest.starts_with(quotes) {
                self.at += quotes.len();
                return Ok(());
            }
            let Some(byte) = self.peek() else { return malformed("a string has no end") };
            let text = match byte {
                b'\\' => {
                    self.escape(form)?;
                    continue;
                }
                b'"' => "\"",
                b'\'' => "'",
                b'\t' => "\t",
                0x0b => "\u{b}",
                0x0c => "\u{c}",
                b'\n' | b'\r' if quotes == LONG_QUOTES => {
                    // Convert every line break to a line feed.
                    self.at += usize::from(rest.starts_with("\r\n"));
                    "\n"
                }
                _ => return malformed("a string has a control character: write it as an escape"),
            };
            put(self.output, &mut self.content, form, text)?;
            self.at += 1;
        }
    }

    /// Reads an escape sequence in a string.
    fn escape(&mut self, form: Form) -> Result<()> {
        let rest = self.rest();
        let (length, code) = match rest.as_bytes().get(1) {
            Some(b'\r') if rest.starts_with("\\\r\n") => (3, None),
            Some(b'\n' | b'\r') => (2, None),
            Some(b'0') => (2, Some(0)),
            Some(b'a') => (2, Some(7)),
            Some(b'b') => (2, Some(8)),
            Some(b't') => (2, Some(9)),
            Some(b'n') => (2, Some(10)),
            Some(b'v') => (2, Some(11)),
            Some(b'f') => (2, Some(12)),
            Some(b'r') => (2, Some(13)),
            Some(byte @ (b'"' | b'\'' | b'?' | b'\\' | b'/')) => (2, Some(u32::from(*byte))),
            Some(b'x') => (4, hexadecimal(rest, 2..4)),
            Some(b'u') if form == Form::Text => {
                match (hexadecimal(rest, 2..6), rest.get(6..8), hexadecimal(rest, 8..12)) {
                    // Two escapes that form a surrogate pair denote a single character, as in JSON.
                    (Some(high @ 0xd800..0xdc00), Some("\\u"), Some(low @ 0xdc00..0xe000)) => {
                        (12, Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)))
                    }
                    (code, ..) => (6, code),
                }
            }
            Some(b'U') if form == Form::Text => (10, hexadecimal(rest, 2..10)),
            _ => return malformed("unknown escape"),
        };
        let is_new_line = matches!(rest.as_bytes().get(1), Some(b'\n' | b'\r'));
        match code.map(char::from_u32) {
            Some(Some(letter)) => put(self.output, &mut self.content, form, letter.encode_utf8(&mut [0; 4]))?,
            None if is_new_line => {}
            _ => return malformed("invalid escape"),
        }
        self.at += length;
        Ok(())
    }

    /// Reads a blob or clob after its opening braces.
    pub(super) fn lob(&mut self) -> Result<()> {
        self.at += 2;
        self.skip_white_space();
        let is_clob = self.string(Form::Clob)?;
        if !is_clob {
            self.base64()?;
        }
        self.skip_white_space();
        if !self.rest().starts_with("}}") {
            return malformed("`}}` is missing");
        }
        self.at += 2;
        if is_clob {
            let bytes: Vec<u8> = self.content.chars().filter_map(|letter| u8::try_from(letter).ok()).collect();
            self.output.bytes(&bytes)
        } else {
            self.output.other_string(&self.content)
        }
    }

    /// Reads base64 text, which may contain whitespace.
    fn base64(&mut self) -> Result<()> {
        self.content.clear();
        loop {
            let letters = self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
            self.output.check_room(self.content.len() + letters.len())?;
            self.content.push_str(letters);
            let before = self.at;
            self.skip_white_space();
            if letters.is_empty() && self.at == before {
                break;
            }
        }
        match BASE64_STANDARD.decode(&self.content) {
            Ok(_) => Ok(()),
            Err(error) => malformed(format!("a blob is not base64: {error}")),
        }
    }
}

/// Appends text with JSON escapes to `content`.
fn put(output: &JsonOutput, content: &mut String, form: Form, text: &str) -> Result<()> {
    if form == Form::Text {
        return output.escape(text, content);
    }
    output.check_room(content.len() + text.len())?;
    content.push_str(text);
    Ok(())
}

fn hexadecimal(text: &str, range: std::ops::Range<usize>) -> Option<u32> {
    let digits = text.get(range).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
