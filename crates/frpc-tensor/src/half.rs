//! Conversion of doubles to floats of two bytes.
//!
//! `half::f16::from_f64` rounds twice or drops the lower half of the double, so values close to the midpoint of two
//! floats are rounded wrongly: NumPy rounds `2049.0000000000005` up to 2050, the crate down to 2048. Rounding to an odd
//! float of four bytes first makes the second rounding exact.

use ::half::{bf16, f16};

/// Converts to the bits of the nearest `float16`, rounding ties to even. Values beyond the largest `float16` become
/// infinite.
pub(crate) fn float16(value: f64) -> u16 {
    f16::from_f32(rounded_to_odd(value)).to_bits()
}

/// Like [`float16`], but converts to `bfloat16`.
pub(crate) fn bfloat16(value: f64) -> u16 {
    bf16::from_f32(rounded_to_odd(value)).to_bits()
}

/// Converts to the float with the same value or, if there is none, to the neighbour with one as its last bit (rounding
/// to odd).
#[allow(clippy::cast_possible_truncation, clippy::float_cmp)] // The comparison detects whether the cast rounded.
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let exact = f64::from(nearest);
    let bits = nearest.to_bits();
    if exact == value || value.is_nan() || bits & 1 == 1 {
        return nearest;
    }
    // The bit patterns of adjacent floats differ by one, including infinity and zero.
    f32::from_bits(if exact.abs() < value.abs() { bits.wrapping_add(1) } else { bits.wrapping_sub(1) })
}

#[cfg(test)]
mod tests {
    use super::{bfloat16, float16};

    /// Decodes a 16-bit floating-point number with an exponent and a fraction of these widths in bits.
    fn value(bits: u16, exponent_bits: u32, fraction_bits: u32) -> f64 {
        let fraction = f64::from(bits & ((1 << fraction_bits) - 1)) / f64::from(1 << fraction_bits);
        let exponent = i32::from(bits >> fraction_bits & ((1 << exponent_bits) - 1));
        let bias = (1 << (exponent_bits - 1)) - 1;
        let magnitude = match exponent {
            0 => fraction * 2_f64.powi(1 - bias),
            _ if exponent == (1 << exponent_bits) - 1 => f64::INFINITY,
            _ => (1.0 + fraction) * 2_f64.powi(exponent - bias),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn two_byte_floats_round_ties_to_even() {
        type Round = fn(f64) -> u16;
        for (round, exponent_bits, fraction_bits) in [(float16 as Round, 5, 10), (bfloat16 as Round, 8, 7)] {
            let infinity = ((1_u16 << exponent_bits) - 1) << fraction_bits;
            for bits in 0..infinity {
                let exact = value(bits, exponent_bits, fraction_bits);
                assert_eq!(round(exact), bits);
                assert_eq!(round(-exact), bits | 0x8000);
                if bits + 1 < infinity {
                    let middle = f64::midpoint(exact, value(bits + 1, exponent_bits, fraction_bits));
                    assert_eq!(round(middle), bits + (bits & 1), "{middle}");
                    assert_eq!(round(middle.next_up()), bits + 1);
                    assert_eq!(round(middle.next_down()), bits);
                }
            }
            assert_eq!(round(f64::INFINITY), infinity);
            assert_eq!(round(f64::MAX), infinity);
            assert_eq!(round(f64::MIN_POSITIVE / 8.0), 0);
            assert!(round(f64::NAN) & 0x7fff > infinity);
        }
        assert_eq!((float16(65504.0), float16(65519.9), float16(65520.0)), (0x7bff, 0x7bff, 0x7c00));
    }
}
