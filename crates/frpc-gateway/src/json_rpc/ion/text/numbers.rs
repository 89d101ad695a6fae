//! Conversion of numbers from text Ion to JSON.

use super::super::{INTEGER_MAX, Result, malformed};

/// Appends an Ion number in JSON syntax.
pub(super) fn to_json(token: &str, json: &mut String) -> Result<()> {
    match convert(token, json) {
        Some(()) => Ok(()),
        None => malformed(format!(
            "invalid number: a decimal number without leading zeros, or one in base 16 or 2 of at most {INTEGER_MAX} bytes"
        )),
    }
}

fn convert(token: &str, json: &mut String) -> Option<()> {
    let (sign, number) = token.strip_prefix('-').map_or(("", token), |number| ("-", number));
    let hexadecimal = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X"));
    let binary = number.strip_prefix("0b").or_else(|| number.strip_prefix("0B"));
    if let Some((radix, text)) = hexadecimal.map(|text| (16, text)).or_else(|| binary.map(|text| (2, text))) {
        let mut text_digits = String::new();
        digits(text, radix, &mut text_digits)?;
        let value = u128::from_str_radix(&text_digits, radix).ok()?;
        json.push_str(if value == 0 { "" } else { sign });
        json.push_str(&value.to_string());
        return Some(());
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E', 'd', 'D']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (number, None),
    };
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    // Drop the sign of an integer zero. Only decimals and floats have a negative zero.
    let is_zero = whole == "0" && fraction.is_none() && exponent.is_none();
    json.push_str(if is_zero { "" } else { sign });
    let start = json.len();
    digits(whole, 10, json)?;
    if json.get(start..)?.starts_with('0') && whole != "0" {
        return None;
    }
    if let Some(fraction) = fraction.filter(|fraction| !fraction.is_empty()) {
        json.push('.');
        digits(fraction, 10, json)?;
    }
    if let Some(exponent) = exponent {
        let (sign, power) = match exponent.strip_prefix(['+', '-']) {
            Some(power) if exponent.starts_with('-') => ("-", power),
            Some(power) => ("", power),
            None => ("", exponent),
        };
        if power.contains('_') {
            return None;
        }
        json.push('e');
        json.push_str(sign);
        digits(power, 10, json)?;
    }
    Some(())
}

/// Appends digits without their underscores. Returns `None` unless each underscore is between two digits.
fn digits(text: &str, radix: u32, to: &mut String) -> Option<()> {
    let mut was_digit = false;
    for letter in text.chars() {
        let is_digit = letter.is_digit(radix);
        if !(is_digit || letter == '_' && was_digit) {
            return None;
        }
        if is_digit {
            to.push(letter);
        }
        was_digit = is_digit;
    }
    was_digit.then_some(())
}
