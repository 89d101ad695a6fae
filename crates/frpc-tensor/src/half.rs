//! Floats of two bytes, which Rust does not have: their bits from those of a double.

/// The bits of the float of two bytes that is nearest to `value`, of two equally near ones the even one. Values above the
/// largest are infinite.
pub(crate) fn float16(value: f64) -> u16 {
    nearest(value, 5, 10)
}

/// As [`float16`], for the upper half of a float of four bytes.
pub(crate) fn bfloat16(value: f64) -> u16 {
    nearest(value, 8, 7)
}

/// The bits of the float with so many bits of exponent and fraction that is nearest to `value`.
#[allow(clippy::arithmetic_side_effects)] // The numbers are those of a double's parts: none comes near a limit.
fn nearest(value: f64, exponent_bits: u32, fraction_bits: u32) -> u16 {
    const FRACTION: u32 = 52;
    const BIAS: i64 = 1023;
    let bits = value.to_bits();
    let sign = (bits >> 63) << 15;
    let infinity = ((1_u64 << exponent_bits) - 1) << fraction_bits;
    let rounded = if value.is_nan() {
        infinity | 1 << (fraction_bits - 1)
    } else if value.is_infinite() {
        infinity
    } else {
        let exponent = i64::try_from(bits >> FRACTION & 0x7ff).unwrap_or_default() - BIAS;
        let least = 2 - (1_i64 << (exponent_bits - 1));
        // Doubles without the hidden bit are far below half of the smallest value.
        let significand = (bits & ((1 << FRACTION) - 1)) | 1 << FRACTION;
        // Below the least exponent a value has fewer bits.
        let dropped = u32::try_from(least - exponent).unwrap_or(0).min(FRACTION) + FRACTION - fraction_bits;
        let (kept, rest, half) = if dropped > FRACTION + 1 {
            (0, 0, 1)
        } else {
            (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1))
        };
        let up = u64::from(rest > half || (rest == half && kept & 1 == 1));
        // The hidden bit adds one to the exponent, and so does a carry.
        let above = u64::try_from(exponent - least).unwrap_or(0);
        ((above << fraction_bits) + kept + up).min(infinity)
    };
    u16::try_from(sign | rounded).unwrap_or_default()
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
    fn every_float_of_two_bytes_is_nearest_to_itself_and_ties_go_to_the_even_one() {
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
