//! Base64: written with the standard alphabet and padding; read with either alphabet, with padding or without.

/// Appends `bytes` as base64.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let (groups, rest) = bytes.as_chunks::<3>();
    out.reserve(bytes.len().div_ceil(3).saturating_mul(4));
    let start = out.len();
    out.resize(start.saturating_add(groups.len().saturating_mul(4)), b'=');
    let (places, _) = out.get_mut(start..).unwrap_or_default().as_chunks_mut::<4>();
    for (place, [a, b, c]) in places.iter_mut().zip(groups) {
        let group = u32::from_be_bytes([0, *a, *b, *c]);
        *place = [18, 12, 6, 0].map(|shift| letter(group >> shift));
    }
    match rest {
        [a] => out.extend_from_slice(&[letter(u32::from(*a) >> 2), letter(u32::from(*a) << 4), b'=', b'=']),
        [a, b] => {
            let group = u32::from_be_bytes([0, *a, *b, 0]);
            out.extend_from_slice(&[letter(group >> 18), letter(group >> 12), letter(group >> 6), b'=']);
        }
        _ => {}
    }
}

/// The letter of the lowest six bits.
#[inline(always)]
fn letter(bits: u32) -> u8 {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    LETTERS.get((bits & 63) as usize).copied().unwrap_or_default()
}

/// Reads base64, or returns none if it is not. Bits of the last letter that belong to no byte are ignored.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    // Padding fills the last group of four.
    let unpadded = match text {
        [rest @ .., b'=', b'='] if text.len().is_multiple_of(4) => rest,
        [rest @ .., b'='] if text.len().is_multiple_of(4) => rest,
        _ => text,
    };
    let (groups, rest) = unpadded.as_chunks::<4>();
    let mut bytes = Vec::with_capacity(unpadded.len().div_ceil(4).saturating_mul(3));
    bytes.resize(groups.len().saturating_mul(3), 0);
    let mut bad = 0;
    for (place, [a, b, c, d]) in bytes.as_chunks_mut::<3>().0.iter_mut().zip(groups) {
        let [a, b, c, d] = [value(*a), value(*b), value(*c), value(*d)];
        bad |= a | b | c | d;
        let [_, group @ ..] =
            (u32::from(a) << 18 | u32::from(b) << 12 | u32::from(c) << 6 | u32::from(d)).to_be_bytes();
        *place = group;
    }
    match rest {
        [] => {}
        [a, b] => {
            let [a, b] = [value(*a), value(*b)];
            bad |= a | b;
            bytes.push(a << 2 | b >> 4);
        }
        [a, b, c] => {
            let [a, b, c] = [value(*a), value(*b), value(*c)];
            bad |= a | b | c;
            bytes.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2]);
        }
        _ => return None,
    }
    (bad & NOT_A_LETTER == 0).then_some(bytes)
}

/// The bit of values that are none.
const NOT_A_LETTER: u8 = 0x80;

/// The six bits of a letter.
#[inline(always)]
fn value(letter: u8) -> u8 {
    VALUES.get(usize::from(letter)).copied().unwrap_or(NOT_A_LETTER)
}

const VALUES: [u8; 256] = values();

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // At compile time.
const fn values() -> [u8; 256] {
    let standard = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [NOT_A_LETTER; 256];
    let mut bits = 0;
    while bits < 64 {
        values[standard[bits as usize] as usize] = bits;
        bits += 1;
    }
    values[b'-' as usize] = 62;
    values[b'_' as usize] = 63;
    values
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        encode(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_vectors_of_rfc_4648_are_written_and_read() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
            assert_eq!(decode(text.trim_end_matches('=')).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn both_alphabets_are_read_and_the_standard_one_is_written() {
        assert_eq!(encoded(&[0xfb, 0xff, 0xfe]), "+//+");
        assert_eq!(decode("+//+"), Some(vec![0xfb, 0xff, 0xfe]));
        assert_eq!(decode("-__-"), Some(vec![0xfb, 0xff, 0xfe]));
    }

    #[test]
    fn text_that_is_not_base64_is_refused() {
        for text in ["A", "AAAAA", "=", "==", "A===", "AA=", "AAA==", "AA==AA==", "A A=", "AA\n=", "ÄA==", "AAAA="] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }

    #[test]
    fn all_bytes_survive() {
        for length in 0..70 {
            let bytes: Vec<u8> = (0..length).map(|at: u8| at.wrapping_mul(37).wrapping_add(length)).collect();
            assert_eq!(decode(&encoded(&bytes)), Some(bytes));
        }
    }
}
