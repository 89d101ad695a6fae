//! The texts sent by calls. They differ between callers and between calls, so that replies cannot be confused.

use bytes::Bytes;

/// The successive texts of one caller.
#[derive(Clone, Debug)]
pub struct Text(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Starts with the number of the call.
    Owned { text: String, calls: u64 },
    /// A window into a longer text, which advances by one byte with each call.
    Shared { longer: Bytes, length: usize, at: usize },
}

/// Number of hexadecimal characters at the start of an owned text that count calls.
const COUNT: usize = 8;

/// Distance after which the window of a shared text restarts.
const WAY: usize = 64;

impl Text {
    /// Creates texts of `length` bytes, at least 8, for rivals with messages that own them.
    pub fn owned(caller: usize, length: usize) -> Self {
        let mut text = "0".repeat(COUNT);
        fill(&mut text, caller, length.max(COUNT));
        Self(Kind::Owned { text, calls: 0 })
    }

    /// Creates texts of `length` bytes for rivals with messages that share them.
    pub fn shared(caller: usize, length: usize) -> Self {
        let mut longer = String::with_capacity(length + WAY);
        fill(&mut longer, caller, length + WAY);
        Self(Kind::Shared { longer: longer.into(), length, at: 0 })
    }

    /// Advances to the text of the next call.
    pub fn advance(&mut self) {
        match &mut self.0 {
            Kind::Owned { text, calls } => {
                *calls += 1;
                let mut count = [b'0'; COUNT];
                for (at, digit) in count.iter_mut().rev().enumerate() {
                    *digit = b"0123456789abcdef"[(*calls >> (4 * at)) as usize & 15];
                }
                text.replace_range(..COUNT, std::str::from_utf8(&count).expect("hexadecimal digits should be UTF-8"));
            }
            Kind::Shared { at, .. } => *at = (*at + 1) % WAY,
        }
    }

    /// Returns the text, for messages that own it.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Owned { text, .. } => text,
            Kind::Shared { .. } => std::str::from_utf8(self.as_bytes()).expect("text should be UTF-8"),
        }
    }

    /// Returns the text as expected in the reply.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Kind::Owned { text, .. } => text.as_bytes(),
            Kind::Shared { longer, length, at } => &longer[*at..at + length],
        }
    }

    /// Returns the text, for messages that share it.
    pub fn to_bytes(&self) -> Bytes {
        match &self.0 {
            Kind::Owned { text, .. } => Bytes::copy_from_slice(text.as_bytes()),
            Kind::Shared { longer, length, at } => longer.slice(*at..at + length),
        }
    }
}

/// Fills a text to a length by repeating the number of the caller, followed by a running letter.
fn fill(text: &mut String, caller: usize, length: usize) {
    let number = format!("{caller:06}");
    let mut period = String::with_capacity(26 * 7);
    for letter in 'a'..='z' {
        period.push_str(&number);
        period.push(letter);
    }
    while text.len() < length {
        text.push_str(&period);
    }
    text.truncate(length);
}
