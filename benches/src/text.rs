//! What calls send: texts that differ from caller to caller and from call to call, so that no reply passes for another.

use bytes::Bytes;

/// The texts of one caller, one after the other.
#[derive(Clone, Debug)]
pub struct Text(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Begins with the number of the call.
    Owned { text: String, calls: u64 },
    /// A window into a longer text, which moves on by one byte with each call.
    Shared { longer: Bytes, length: usize, at: usize },
}

/// Characters at the beginning of an owned text that count calls, in hexadecimal.
const COUNT: usize = 8;

/// How far the window of a shared text moves before it starts over.
const WAY: usize = 64;

impl Text {
    /// Texts of `length` bytes, at least 8, for rivals whose messages own them.
    pub fn owned(caller: usize, length: usize) -> Self {
        let mut text = "0".repeat(COUNT);
        fill(&mut text, caller, length.max(COUNT));
        Self(Kind::Owned { text, calls: 0 })
    }

    /// Texts of `length` bytes for rivals whose messages share them.
    pub fn shared(caller: usize, length: usize) -> Self {
        let mut longer = String::with_capacity(length + WAY);
        fill(&mut longer, caller, length + WAY);
        Self(Kind::Shared { longer: longer.into(), length, at: 0 })
    }

    /// Moves on to the text of the next call.
    pub fn advance(&mut self) {
        match &mut self.0 {
            Kind::Owned { text, calls } => {
                *calls += 1;
                let mut count = [b'0'; COUNT];
                for (at, digit) in count.iter_mut().rev().enumerate() {
                    *digit = b"0123456789abcdef"[(*calls >> (4 * at)) as usize & 15];
                }
                text.replace_range(..COUNT, std::str::from_utf8(&count).expect("bytes should be UTF-8"));
            }
            Kind::Shared { at, .. } => *at = (*at + 1) % WAY,
        }
    }

    /// The text, for messages that own it.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Owned { text, .. } => text,
            Kind::Shared { .. } => std::str::from_utf8(self.as_bytes()).expect("bytes should be UTF-8"),
        }
    }

    /// The text as it is expected back.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Kind::Owned { text, .. } => text.as_bytes(),
            Kind::Shared { longer, length, at } => &longer[*at..at + length],
        }
    }

    /// The text, for messages that share it.
    pub fn to_bytes(&self) -> Bytes {
        match &self.0 {
            Kind::Owned { text, .. } => Bytes::copy_from_slice(text.as_bytes()),
            Kind::Shared { longer, length, at } => longer.slice(*at..at + length),
        }
    }
}

/// Fills up to a length with the number of the caller repeatedly, a running letter after each.
fn fill(text: &mut String, caller: usize, length: usize) {
    for letter in ('a'..='z').cycle() {
        if text.len() >= length {
            break;
        }
        text.push_str(&format!("{caller:06}{letter}"));
    }
    text.truncate(length);
}
