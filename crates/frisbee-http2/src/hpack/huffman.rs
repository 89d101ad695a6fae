//! The Huffman code of RFC 7541, appendix B.
//!
//! # Decisions
//!
//! The code is canonical: codes of the same length are consecutive numbers in the order of their symbols. All tables
//! are therefore computed from the lengths at compile time. Most symbols are looked up by one byte of input. The few
//! codes longer than eight bits are found by comparison with the last code of each length.

use super::DecodeError;

/// Number of symbols of the Huffman code: all bytes, and EOS.
const SYMBOLS: usize = 257;

/// The end-of-string symbol (EOS). Its first bits pad the last byte of a string. A string that contains the complete
/// symbol is invalid.
const EOS: u16 = 256;

/// Maximum length of a Huffman code in bits.
const LONGEST: usize = 30;

/// Length of each symbol's code in bits: RFC 7541, appendix B.
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20,
    22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28,
    27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28,
    27, 27, 27, 27, 27, 26, 30,
];

struct Tables {
    /// Huffman code of each symbol, in the low bits.
    codes: [u32; SYMBOLS],
    /// All symbols, sorted by their codes in ascending order.
    sorted: [u16; SYMBOLS],
    /// For each code length, the exclusive upper bound of the codes with this length, left-aligned.
    ends: [u32; LONGEST + 1],
    /// For each code length, the first code with this length.
    first: [u32; LONGEST + 1],
    /// For each code length, the index in `sorted` of the first symbol with a code of this length.
    offsets: [usize; LONGEST + 1],
    /// Symbol and code length for each possible first byte. The length is 0 if the code is longer than a byte.
    short: [(u8, u8); 256],
}

static TABLES: Tables = tables();

#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn tables() -> Tables {
    let mut tables = Tables {
        codes: [0; SYMBOLS],
        sorted: [0; SYMBOLS],
        ends: [0; LONGEST + 1],
        first: [0; LONGEST + 1],
        offsets: [0; LONGEST + 1],
        short: [(0, 0); 256],
    };
    let (mut code, mut at, mut length) = (0_u32, 0, 1);
    while length <= LONGEST {
        code <<= 1;
        tables.first[length] = code;
        tables.offsets[length] = at;
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                tables.codes[symbol] = code;
                tables.sorted[at] = symbol as u16;
                if length <= 8 {
                    let mut byte = (code << (8 - length)) as usize;
                    while byte < ((code + 1) << (8 - length)) as usize {
                        tables.short[byte] = (symbol as u8, length as u8);
                        byte += 1;
                    }
                }
                code += 1;
                at += 1;
            }
            symbol += 1;
        }
        // The last code of the maximum length is all ones, so its exclusive end does not fit into 32 bits. Such codes
        // are found because all other comparisons fail.
        tables.ends[length] = if length == LONGEST { u32::MAX } else { code << (32 - length) };
        length += 1;
    }
    tables
}

/// Returns the symbol at the start of the left-aligned `bits`, and the length of its code in bits.
#[inline]
fn symbol(bits: u64) -> (u16, u32) {
    let [byte, ..] = bits.to_be_bytes();
    match TABLES.short.get(usize::from(byte)) {
        Some(&(symbol, length)) if length > 0 => (symbol.into(), length.into()),
        _ => long_symbol((bits >> 32) as u32), // Uses the upper half of the bits.
    }
}

#[cold]
fn long_symbol(bits: u32) -> (u16, u32) {
    let is_below = |end: &u32| bits < *end;
    // No code is shorter than five bits, so the ends of smaller lengths are zero.
    let length = TABLES.ends.iter().position(is_below).unwrap_or(LONGEST);
    let code = bits.checked_shr(32_u32.saturating_sub(length as u32)).unwrap_or(0);
    let first = TABLES.first.get(length).copied().unwrap_or(0);
    let offset = TABLES.offsets.get(length).copied().unwrap_or(0);
    let at = offset.saturating_add(code.saturating_sub(first) as usize);
    (TABLES.sorted.get(at).copied().unwrap_or(EOS), length as u32)
}

/// Decodes a Huffman-coded string and appends its text.
pub(super) fn decode(coded: &[u8], text: &mut Vec<u8>) -> Result<(), DecodeError> {
    // A code has at least five bits, which limits the number of symbols.
    text.reserve(coded.len().saturating_mul(8) / 5);
    // The next bits of the input, left-aligned, and their number.
    let (mut window, mut held) = (0_u64, 0_u32);
    let mut input = coded.iter();
    loop {
        while held <= 56 {
            let Some(&byte) = input.next() else { break };
            window |= u64::from(byte) << 56_u32.saturating_sub(held);
            held = held.saturating_add(8);
        }
        if held == 0 {
            return Ok(());
        }
        let ones = u64::MAX.checked_shr(held).unwrap_or(0);
        let (symbol, length) = symbol(window | ones);
        if length > held {
            // RFC 7541, section 5.2: "A padding strictly longer than 7 bits MUST be treated as a decoding error. A
            // padding not corresponding to the most significant bits of the code for the EOS symbol MUST be treated
            // as a decoding error."
            let is_padding = held < 8 && window | ones == u64::MAX;
            return if is_padding { Ok(()) } else { Err(DecodeError::Huffman) };
        }
        // "A Huffman-encoded string literal containing the EOS symbol MUST be treated as a decoding error."
        let Ok(byte) = u8::try_from(symbol) else { return Err(DecodeError::Huffman) };
        text.push(byte);
        window <<= length;
        held = held.saturating_sub(length);
    }
}

/// Returns the length of a string in bytes after Huffman coding.
pub(super) fn encoded_len(text: &[u8]) -> usize {
    let bits = |byte: &u8| usize::from(LENGTHS.get(usize::from(*byte)).copied().unwrap_or(0));
    text.iter().map(bits).fold(0_usize, usize::saturating_add).div_ceil(8)
}

/// Appends the Huffman-coded form of a string.
pub(super) fn encode(text: &[u8], coded: &mut Vec<u8>) {
    // Bits that do not fill a byte yet, left-aligned, and their number.
    let (mut window, mut held) = (0_u64, 0_u32);
    for byte in text {
        let at = usize::from(*byte);
        let (Some(&code), Some(&length)) = (TABLES.codes.get(at), LENGTHS.get(at)) else { continue };
        let shift = 64_u32.saturating_sub(held).saturating_sub(length.into());
        window |= u64::from(code) << shift;
        held = held.saturating_add(length.into());
        while held >= 8 {
            let [first, ..] = window.to_be_bytes();
            coded.push(first);
            window <<= 8;
            held = held.saturating_sub(8);
        }
    }
    if held > 0 {
        let [first, ..] = (window | u64::MAX.checked_shr(held).unwrap_or(0)).to_be_bytes();
        coded.push(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_code() {
        let all: Vec<u8> = (0..=255).collect();
        for text in [&all[..], b"", b"a", b"www.example.com"] {
            let mut coded = Vec::new();
            encode(text, &mut coded);
            assert_eq!(coded.len(), encoded_len(text));
            let mut decoded = Vec::new();
            assert_eq!(decode(&coded, &mut decoded), Ok(()));
            assert_eq!(decoded, text);
        }
    }

    #[test]
    fn invalid_padding_and_eos_are_rejected() {
        for coded in [&[0xff][..], &[0xff, 0xff, 0xff, 0xff], &[0x00], &[0x1f, 0xff], &[0x1e]] {
            assert_eq!(decode(coded, &mut Vec::new()), Err(DecodeError::Huffman), "{coded:x?}");
        }
        assert_eq!(decode(&[0x1f], &mut Vec::new()), Ok(()), "padding of three bits should be accepted after `a`");
    }
}
