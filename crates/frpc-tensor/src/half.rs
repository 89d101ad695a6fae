//! Floats of two bytes: their bits from those of a double.
//!
//! `half::f16::from_f64` rounds twice, or drops the lower half of the double, so that values next to the middle of two
//! floats round to the wrong one: NumPy rounds `2049.0000000000005` up to 2050, and the crate down to 2048. So a double is
//! rounded to an odd float of four bytes first, which keeps the second rounding exact.

use ::half::{bf16, f16};

/// The bits of the float of two bytes that is nearest to `value`, of two equally near ones the even one. Values above the
/// largest are infinite.
pub(crate) fn float16(value: f64) -> u16 {
    f16::from_f32(rounded_to_odd(value)).to_bits()
}

/// As [`float16`], for the upper half of a float of four bytes.
pub(crate) fn bfloat16(value: f64) -> u16 {
    bf16::from_f32(rounded_to_odd(value)).to_bits()
}

/// The float below or above a double whose last bit is one, unless a float is exact.
#[allow(clippy::cast_possible_truncation, clippy::float_cmp)] // It rounds, and looks whether it has.
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let exact = f64::from(nearest);
    let bits = nearest.to_bits();
    if exact == value || value.is_nan() || bits & 1 == 1 {
        return nearest;
    }
    // Neighbours differ by one in their bits, also those of infinity and zero.
    f32::from_bits(if exact.abs() < value.abs() { bits.wrapping_add(1) } else { bits.wrapping_sub(1) })
}

#[cfg(test)]
mod tests {
    use super::{bfloat16, float16};

    /// The value of the bits.
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
    fn two_byte_floats_round_trip_and_ties_round_to_even() {
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
