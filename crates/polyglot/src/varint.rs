//! Varints: seven bits per byte, least significant first. The top bit is set in all bytes but the last.
//!
//! Both directions process up to eight bytes at once as a word instead of looping over them.

use crate::Kind;

/// Reason why a varint cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VarintFault {
    /// The input ends before the end of the varint.
    Truncated,
    /// The varint has more bytes than its type permits.
    TooLong,
}

/// Mask that selects the continuation bits in a word of eight varint bytes.
const MORE: u64 = 0x8080_8080_8080_8080;
/// Smallest value with a varint of more than eight bytes.
const WORD_END: u64 = 1 << 56;

/// Returns the maximum length in bytes of a varint for this kind of integer.
pub(crate) const fn length_max(kind: Kind) -> u32 {
    match kind {
        Kind::U16 => 3,
        Kind::U64 | Kind::I64 => 10,
        _ => 5,
    }
}

/// Appends the byte `kind` and the shortest varint encoding of `value`.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, kind: u8, value: u64) {
    if value < 0x80 {
        out.extend_from_slice(&[kind, value as u8]);
    } else if value < 0x4000 {
        out.extend_from_slice(&[kind, value as u8 | 0x80, (value >> 7) as u8]);
    } else {
        write_long(out, kind, value);
    }
}

/// Decodes a varint of at most `max` bytes and returns its value with the remaining input. Like the Go implementation,
/// ignores excess high bits of the last byte and accepts encodings with redundant bytes.
#[inline]
pub(crate) fn read(input: &[u8], max: u32) -> Result<(u64, &[u8]), VarintFault> {
    match input {
        [byte, rest @ ..] if *byte < 0x80 => Ok((u64::from(*byte), rest)),
        _ => read_long(input, max),
    }
}

#[inline(never)]
fn write_long(out: &mut Vec<u8>, kind: u8, mut value: u64) {
    if value < WORD_END {
        let bits = u64::BITS.wrapping_sub(value.leading_zeros());
        let length = bits.div_ceil(7); // Between 3 and 8, because `value` is at least 0x4000 and below `WORD_END`.
        let unused = 8_u32.wrapping_sub(length);
        let more = MORE & (u64::MAX >> 8) >> (8_u32.wrapping_mul(unused));
        let [a, b, c, d, e, f, g, h] = (spread(value) | more).to_le_bytes();
        out.extend_from_slice(&[kind, a, b, c, d, e, f, g, h]);
        out.truncate(out.len().wrapping_sub(unused as usize));
        return;
    }
    out.push(kind);
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline(never)]
fn read_long(input: &[u8], max: u32) -> Result<(u64, &[u8]), VarintFault> {
    if let Some(word) = input.first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let stop = !word & MORE;
        if stop != 0 {
            let last_bit = stop.trailing_zeros(); // Position of the last byte's top bit: 7, 15, ... 63.
            let length = last_bit.wrapping_add(1) >> 3;
            if length > max {
                return Err(VarintFault::TooLong);
            }
            let value = gather(word & (u64::MAX >> 63_u32.wrapping_sub(last_bit)));
            let rest = input.get(length as usize..).unwrap_or_default();
            return Ok((value, rest));
        }
    }
    read_bytewise(input, max)
}

/// Decodes a varint byte by byte. Used if fewer than eight bytes of input remain, and for varints of nine or ten bytes.
fn read_bytewise(input: &[u8], max: u32) -> Result<(u64, &[u8]), VarintFault> {
    let mut value = 0_u64;
    let mut rest = input;
    for index in 0..max {
        let [byte, behind @ ..] = rest else { return Err(VarintFault::Truncated) };
        rest = behind;
        // `max` is at most 10, so the shift is at most 63. Bits beyond the 64th are discarded.
        value |= u64::from(byte & 0x7f) << (index.wrapping_mul(7));
        if *byte < 0x80 {
            return Ok((value, rest));
        }
    }
    Err(VarintFault::TooLong)
}

/// Spreads the low 56 bits of `value` over eight bytes, so that each byte holds seven bits and its top bit is clear.
#[inline]
fn spread(value: u64) -> u64 {
    let halves = value & 0x0000_0000_0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let quarters = halves & 0x0000_3fff_0000_3fff | (halves & 0x0fff_c000_0fff_c000) << 2;
    quarters & 0x007f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1
}

/// Packs the low seven bits of each byte into 56 bits and discards the high bits. The inverse of [`spread`].
#[inline]
fn gather(word: u64) -> u64 {
    let quarters = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = quarters & 0x0000_3fff_0000_3fff | (quarters & 0x3fff_0000_3fff_0000) >> 2;
    halves & 0x0000_0000_0fff_ffff | (halves & 0x0fff_ffff_0000_0000) >> 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a varint with a simple loop. Tests compare the optimized encoder with it.
    fn reference(mut value: u64) -> Vec<u8> {
        let mut out = vec![0xee];
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    }

    fn interesting() -> impl Iterator<Item = u64> {
        let powers = (0..64).map(|bit| 1_u64 << bit);
        powers
            .flat_map(|power| [power - 1, power, power + 1, power | 0x5555_5555_5555_5555 & (power - 1)])
            .chain([u64::MAX])
    }

    #[test]
    fn varint_is_written_in_shortest_form() {
        for value in interesting() {
            let mut out = Vec::new();
            write(&mut out, 0xee, value);
            assert_eq!(out, reference(value), "{value:#x}");
        }
    }

    #[test]
    fn varints_round_trip_despite_trailing_bytes() {
        for value in interesting() {
            let mut input = reference(value);
            assert_eq!(read(&input[1..], 10), Ok((value, &[][..])));
            input.extend_from_slice(&[0xff; 12]);
            assert_eq!(read(&input[1..], 10), Ok((value, &[0xff; 12][..])));
        }
    }

    #[test]
    fn varint_padding_is_accepted_to_longest_form() {
        for behind in [&[][..], &[0xff; 12][..]] {
            for length in 2..=10_u32 {
                let mut input = vec![0x81];
                input.resize(length as usize - 1, 0x80);
                input.push(0x00);
                input.extend_from_slice(behind);
                assert_eq!(read(&input, 10), Ok((1, behind)), "{length}");
                assert_eq!(read(&input, length), Ok((1, behind)), "{length}");
                assert_eq!(read(&input, length - 1), Err(VarintFault::TooLong), "{length}");
            }
        }
    }

    #[test]
    fn overlong_varint_at_end_is_rejected() {
        assert_eq!(read(&[0xff; 4], 5), Err(VarintFault::Truncated));
        assert_eq!(read(&[0xff; 5], 5), Err(VarintFault::TooLong));
        assert_eq!(read(&[0xff; 10], 10), Err(VarintFault::TooLong));
        assert_eq!(read(&[0xff; 9], 10), Err(VarintFault::Truncated));
        assert_eq!(read(&[], 10), Err(VarintFault::Truncated));
    }
}
