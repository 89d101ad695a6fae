//! `Timestamp` in RFC 3339 and `Duration` in decimal seconds, with a resolution of nanoseconds.
//!
//! prost-types formats and parses them. The form is checked first, because prost-types accepts more forms than the
//! mapping allows.

use prost_types::{Duration, Timestamp};

use crate::{DecodeError, EncodeError, Reader, Writer};

/// First second of the year 1, relative to the Unix epoch.
const SECONDS_MIN: i64 = -62_135_596_800;

/// Last second of the year 9999, relative to the Unix epoch.
const SECONDS_MAX: i64 = 253_402_300_799;

/// Maximum length of a `Duration` in seconds, about 10 000 years.
const DURATION_MAX: u64 = 315_576_000_000;

const NANOS_PER_SECOND: i32 = 1_000_000_000;

/// Writes a timestamp such as `1972-01-01T10:00:20.021Z`. The fraction has zero, three, six or nine digits.
///
/// # Errors
///
/// If it is not within the years 1 to 9999, or `nanos` are not within a second.
pub fn encode_timestamp(seconds: i64, nanos: i32, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    if !(SECONDS_MIN..=SECONDS_MAX).contains(&seconds) || !(0..NANOS_PER_SECOND).contains(&nanos) {
        let reason = format!("timestamp of {seconds} s and {nanos} ns is not within the years 1 to 9999");
        return Err(Writer::refuse(reason));
    }
    to.plain_string(&Timestamp { seconds, nanos }.to_string());
    Ok(())
}

/// Reads a timestamp in RFC 3339 format with capital letters and any offset from UTC. Returns seconds and nanoseconds.
///
/// # Errors
///
/// If the next value is not such a string, or the time is not within the years 1 to 9999.
pub fn decode_timestamp(from: &mut Reader<'_>) -> Result<(i64, i32), DecodeError> {
    from.parsed("timestamp", timestamp)
}

/// Writes a duration such as `1.5s`. The fraction has zero, three, six or nine digits.
///
/// # Errors
///
/// If it is longer than 315 576 000 000 seconds, or the signs of its parts differ.
pub fn encode_duration(seconds: i64, nanos: i32, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let is_short = seconds.unsigned_abs() <= DURATION_MAX && nanos.unsigned_abs() < NANOS_PER_SECOND.unsigned_abs();
    let is_one_sign = seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0);
    if !is_short || !is_one_sign {
        let reason = format!("duration of {seconds} s and {nanos} ns is too long, or its parts have different signs");
        return Err(Writer::refuse(reason));
    }
    to.plain_string(&Duration { seconds, nanos }.to_string());
    Ok(())
}

/// Reads a duration, which consists of decimal seconds and an `s`. Returns seconds and nanoseconds.
///
/// # Errors
///
/// If the next value is not such a string, or the duration is longer than 315 576 000 000 seconds.
pub fn decode_duration(from: &mut Reader<'_>) -> Result<(i64, i32), DecodeError> {
    from.parsed("duration", duration)
}

fn duration(text: &str) -> Option<(i64, i32)> {
    if let Some(point) = text.find('.') {
        without_fraction(text.get(point..)?)?;
    }
    let Duration { seconds, nanos } = text.parse().ok()?;
    (seconds.unsigned_abs() <= DURATION_MAX).then_some((seconds, nanos))
}

fn timestamp(text: &str) -> Option<(i64, i32)> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let offset = without_fraction(rest)?;
    let is_offset = offset == "Z" || has_form(offset, "+29:59") || has_form(offset, "-29:59");
    if !has_form(date_time, "9999-19-39T29:59:59") || !is_offset {
        return None;
    }
    let Timestamp { seconds, nanos } = text.parse().ok()?;
    (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some((seconds, nanos))
}

/// Strips a fraction of one to nine digits if the text starts with a decimal point. Returns `None` if the fraction is
/// invalid.
fn without_fraction(text: &str) -> Option<&str> {
    let Some(fraction) = text.strip_prefix('.') else { return Some(text) };
    let rest = fraction.trim_start_matches(|letter: char| letter.is_ascii_digit());
    (1..=9).contains(&fraction.len().checked_sub(rest.len())?).then_some(rest)
}

/// Returns whether a text has the format `form`. Each digit of `form` is the maximum digit at its position.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0'..=b'9' => (b'0'..=form).contains(&byte),
        _ => byte == form,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::{SECONDS_MAX, SECONDS_MIN, duration, timestamp};

    #[test]
    fn timestamp_accepts_any_offset_and_fraction() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", (0, 0)),
            ("1972-01-01T10:00:20.021Z", (63_108_020, 21_000_000)),
            ("1970-01-01T08:00:01+08:00", (1, 0)),
            ("1969-12-31T16:00:01.5-08:00", (1, 500_000_000)),
            ("2000-02-29T23:59:59.000000001Z", (951_868_799, 1)),
            ("0001-01-01T00:00:00Z", (SECONDS_MIN, 0)),
            ("9999-12-31T23:59:59.999999999Z", (SECONDS_MAX, 999_999_999)),
        ] {
            assert_eq!(timestamp(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_timestamp_is_refused() {
        for text in [
            "",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-01-01t00:00:00Z",
            "1970-01-01T00:00:00z",
            "1970-01-01 00:00:00Z",
            "1970-1-1T00:00:00Z",
            "1970-01-01T0:00:00Z",
            "1970-01-01T00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.1234567890Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:60:00Z",
            "1970-01-01T00:00:60Z",
            "1970-13-01T00:00:00Z",
            "1970-00-01T00:00:00Z",
            "1970-01-00T00:00:00Z",
            "1970-01-32T00:00:00Z",
            "1970-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "1970-01-01T00:00:00+8:00",
            "1970-01-01T00:00:00+24:00",
            "1970-01-01T00:00:00+0800",
            "1970-01-01T00:00:00Z ",
            "1970-01-01T00:00:00ZZ",
            "+970-01-01T00:00:00Z",
            "é",
        ] {
            assert_eq!(timestamp(text), None, "{text:?}");
        }
    }

    #[test]
    fn durations_are_read_with_sign_and_fraction() {
        for (text, expected) in [
            ("0s", Some((0, 0))),
            ("1.5s", Some((1, 500_000_000))),
            ("-0.000000001s", Some((0, -1))),
            ("-3.25s", Some((-3, -250_000_000))),
            ("315576000000.999999999s", Some((315_576_000_000, 999_999_999))),
            ("315576000001s", None),
            ("99999999999999999999s", None),
            ("1", None),
            ("s", None),
            ("-s", None),
            (".5s", None),
            ("1.s", None),
            ("1.0000000000s", None),
            ("+1s", None),
            ("--1s", None),
            ("1 s", None),
            ("1S", None),
        ] {
            assert_eq!(duration(text), expected, "{text:?}");
        }
    }
}
