//! Numbers. Integers are exact in any notation, and floats are rounded once.

use super::Reader;
use crate::DecodeError;
use std::str::FromStr;

/// An integer as its sign (`true` if it is negative) and its magnitude.
pub(crate) type Integer = (bool, u64);

impl<'a> Reader<'a> {
    /// Reads a JSON number and returns its text.
    pub(crate) fn number(&mut self, expected: &'static str) -> Result<&'a str, DecodeError> {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = number_length(rest.as_bytes());
        if length == 0 {
            return Err(self.unexpected(expected));
        }
        self.advance(length);
        Ok(rest.get(..length).unwrap_or_default())
    }

    /// Reads an integer, either as a number or in a string. It may have an exponent or a fraction if its value is
    /// integral.
    #[inline]
    pub(crate) fn integer(&mut self, expected: &'static str) -> Result<Integer, DecodeError> {
        let is_quoted = match self.peek() {
            Some(b'"') => true,
            Some(b'-' | b'0'..=b'9') => false,
            _ => return Err(self.unexpected(expected)),
        };
        let rest = self.text.as_bytes().get(self.at.wrapping_add(usize::from(is_quoted))..).unwrap_or_default();
        let is_negative = rest.first() == Some(&b'-');
        let digits = rest.get(usize::from(is_negative)..).unwrap_or_default();
        let marks = if is_quoted { 2_usize } else { 0 };
        let mut magnitude = 0_u64;
        let mut count = 0_usize;
        for digit in digits {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit));
            count = count.wrapping_add(1);
        }
        // Integers of up to 19 digits always fit into 64 bits.
        let is_canonical = count == 1 || ((2..=19).contains(&count) && digits.first() != Some(&b'0'));
        let is_end = match digits.get(count) {
            Some(b'"') => is_quoted,
            Some(b'.' | b'e' | b'E') => false,
            Some(_) | None => !is_quoted,
        };
        if is_canonical && is_end {
            self.advance(count.wrapping_add(usize::from(is_negative)).wrapping_add(marks));
            return Ok((is_negative, magnitude));
        }
        self.unusual_integer(is_quoted, expected)
    }

    /// Reads an integer of type `T`, either as a number or in a string.
    #[inline]
    pub(crate) fn integer_as<T: TryFrom<i64> + TryFrom<u64>>(
        &mut self,
        expected: &'static str,
    ) -> Result<T, DecodeError> {
        let offset = self.value_offset();
        match fitting(self.integer(expected)?) {
            Some(value) => Ok(value),
            None => Err(self.out_of_range(expected, offset)),
        }
    }

    /// Creates an error for the integer at `offset`, which is out of the range of its type.
    #[cold]
    #[inline(never)]
    fn out_of_range(&self, expected: &'static str, offset: usize) -> DecodeError {
        let text = self.text.get(offset..self.at).unwrap_or_default();
        Self::invalid(expected, text.trim_matches('"'), offset)
    }

    /// Slow path: reads an integer with many digits, an exponent, a fraction or escapes. Fails for other values.
    #[cold]
    #[inline(never)]
    fn unusual_integer(&mut self, is_quoted: bool, expected: &'static str) -> Result<Integer, DecodeError> {
        let offset = self.at;
        if is_quoted {
            let text = self.string(expected)?;
            return integer_of(&text).ok_or_else(|| Self::invalid(expected, &text, offset));
        }
        let text = self.number(expected)?;
        integer_of(text).ok_or_else(|| Self::invalid(expected, text, offset))
    }

    /// Reads a float, either as a number or in a string. Strings may also contain infinities and NaN.
    pub(crate) fn float<T: FromStr + PartialEq + From<f32>>(
        &mut self,
        expected: &'static str,
    ) -> Result<T, DecodeError> {
        let offset = self.value_offset();
        let is_quoted = self.peek() == Some(b'"');
        let is_finite =
            |value: &T| [f32::INFINITY, f32::NEG_INFINITY].iter().all(|infinity| *value != T::from(*infinity));
        // Reject numbers that are too large, which are parsed as infinities.
        let finite = |text: &str| text.parse().ok().filter(is_finite);
        if !is_quoted {
            let text = self.number(expected)?;
            return finite(text).ok_or_else(|| Self::invalid(expected, text, offset));
        }
        let text = self.string(expected)?;
        match &*text {
            "NaN" => return Ok(f32::NAN.into()),
            "Infinity" => return Ok(f32::INFINITY.into()),
            "-Infinity" => return Ok(f32::NEG_INFINITY.into()),
            _ => {}
        }
        let is_number = number_length(text.as_bytes()) == text.len() && !text.is_empty();
        is_number.then(|| finite(&text)).flatten().ok_or_else(|| Self::invalid(expected, &text, offset))
    }
}

/// Converts an integer to type `T`, or returns `None` if it is out of range.
#[inline]
pub(crate) fn fitting<T: TryFrom<i64> + TryFrom<u64>>((is_negative, magnitude): Integer) -> Option<T> {
    if is_negative { T::try_from(0_i64.checked_sub_unsigned(magnitude)?).ok() } else { T::try_from(magnitude).ok() }
}

/// Returns the length of the JSON number at the beginning of `text`, or 0 if there is none.
fn number_length(text: &[u8]) -> usize {
    let digits_from =
        |at: usize| text.get(at..).unwrap_or_default().iter().take_while(|it| it.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits_from(at);
    if whole == 0 || (whole > 1 && text.get(at) == Some(&b'0')) {
        return 0;
    }
    at = at.wrapping_add(whole);
    if text.get(at) == Some(&b'.') {
        let fraction = digits_from(at.wrapping_add(1));
        if fraction == 0 {
            return 0;
        }
        at = at.wrapping_add(fraction).wrapping_add(1);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at.wrapping_add(1)), Some(b'+' | b'-')));
        let exponent = digits_from(at.wrapping_add(1).wrapping_add(sign));
        if exponent == 0 {
            return 0;
        }
        at = at.wrapping_add(1).wrapping_add(sign).wrapping_add(exponent);
    }
    at
}

/// Returns the value of a JSON number if it is integral and its magnitude fits into 64 bits.
pub(crate) fn integer_of(number: &str) -> Option<Integer> {
    if number.is_empty() || number_length(number.as_bytes()) != number.len() {
        return None;
    }
    let (is_negative, number) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // Saturate an exponent of more than 64 bits, because only zero is representable then.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
    // Number of digits before the decimal point after the exponent has been applied.
    let mut before_point = exponent.saturating_add(i64::try_from(whole.len()).ok()?);
    let mut magnitude = 0_u64;
    for digit in whole.bytes().chain(fraction.bytes()).map(|digit| u64::from(digit.wrapping_sub(b'0'))) {
        if before_point > 0 {
            magnitude = magnitude.checked_mul(10)?.checked_add(digit)?;
        } else if digit != 0 {
            return None;
        }
        before_point = before_point.saturating_sub(1);
    }
    // Append the trailing zeros that result from the exponent.
    while before_point > 0 && magnitude != 0 {
        magnitude = magnitude.checked_mul(10)?;
        before_point = before_point.saturating_sub(1);
    }
    Some((is_negative, magnitude))
}

#[cfg(test)]
mod tests {
    use super::{integer_of, number_length};

    #[test]
    fn number_ends_per_json_grammar() {
        for (text, length) in [
            ("0", 1),
            ("-0", 2),
            ("10,", 2),
            ("1.50]", 4),
            ("1e5", 3),
            ("1E+05 ", 5),
            ("-1.2e-3}", 7),
            ("0x", 1),
            ("", 0),
            ("-", 0),
            ("01", 0),
            ("-01", 0),
            (".5", 0),
            ("1.", 0),
            ("1.e3", 0),
            ("1e", 0),
            ("1e+", 0),
            ("+1", 0),
            ("NaN", 0),
        ] {
            assert_eq!(number_length(text.as_bytes()), length, "{text:?}");
        }
    }

    #[test]
    fn integers_are_exact_in_every_form() {
        for (text, expected) in [
            ("0", Some((false, 0))),
            ("-0", Some((true, 0))),
            ("18446744073709551615", Some((false, u64::MAX))),
            ("18446744073709551616", None),
            ("1.8446744073709551615e19", Some((false, u64::MAX))),
            ("184467440737095516150e-1", Some((false, u64::MAX))),
            ("-9223372036854775808.000", Some((true, 1 << 63))),
            ("1e5", Some((false, 100_000))),
            ("0.5e1", Some((false, 5))),
            ("0.5", None),
            ("1e-1", None),
            ("1e20", None),
            ("0e999999999999999999999", Some((false, 0))),
            ("0.000e-999999999999999999999", Some((false, 0))),
            ("1e999999999999999999999", None),
            ("1e-999999999999999999999", None),
            ("1 ", None),
            ("", None),
            ("--1", None),
        ] {
            assert_eq!(integer_of(text), expected, "{text:?}");
        }
    }
}
