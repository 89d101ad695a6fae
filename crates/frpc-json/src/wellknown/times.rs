//! `Timestamp` and `Duration`: RFC 3339 and decimal seconds, to the nanosecond.

use std::fmt::Write as _;

use crate::{DecodeError, EncodeError, EncodeReason, Reader, Writer};

/// The first second of the year 1, since the beginning of 1970.
const SECONDS_MIN: i64 = -62_135_596_800;

/// The last second of the year 9999.
const SECONDS_MAX: i64 = 253_402_300_799;

/// The greatest length of a duration in seconds: about 10 000 years.
const DURATION_MAX: i64 = 315_576_000_000;

const NANOS_PER_SECOND: i32 = 1_000_000_000;

const SECONDS_PER_DAY: i64 = 86_400;

/// Writes a timestamp as `1972-01-01T10:00:20.021Z`, with no, three, six or nine digits for the fraction.
///
/// # Errors
///
/// If it is not within the years 1 to 9999, or `nanos` are not within a second.
pub fn encode_timestamp(seconds: i64, nanos: i32, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let is_valid = (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) && (0..NANOS_PER_SECOND).contains(&nanos);
    let Some((year, month, day)) = is_valid.then(|| date(seconds.div_euclid(SECONDS_PER_DAY))) else {
        return Err(EncodeError::new(EncodeReason::Timestamp { seconds, nanos }));
    };
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = String::with_capacity(30);
    let _ = write!(text, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    push_fraction(nanos.unsigned_abs(), &mut text);
    text.push('Z');
    to.plain_string(&text);
    Ok(())
}

/// Reads a timestamp: RFC 3339 with capital letters and any offset from UTC. Returns seconds and nanoseconds.
///
/// # Errors
///
/// If there is no such string, or the time is not within the years 1 to 9999.
pub fn decode_timestamp(from: &mut Reader<'_>) -> Result<(i64, i32), DecodeError> {
    const EXPECTED: &str = "timestamp";
    let offset = from.value_offset();
    let text = from.string(EXPECTED)?;
    timestamp(&text).ok_or_else(|| Reader::invalid(EXPECTED, &text, offset))
}

/// Writes a duration as `1.5s`, with no, three, six or nine digits for the fraction.
///
/// # Errors
///
/// If it is longer than 315 576 000 000 seconds, or the signs of its parts differ.
pub fn encode_duration(seconds: i64, nanos: i32, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let is_short =
        seconds.unsigned_abs() <= DURATION_MAX.unsigned_abs() && nanos.unsigned_abs() < NANOS_PER_SECOND.unsigned_abs();
    let is_one_sign = seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0);
    if !is_short || !is_one_sign {
        return Err(EncodeError::new(EncodeReason::Duration { seconds, nanos }));
    }
    let mut text = String::with_capacity(24);
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let _ = write!(text, "{sign}{}", seconds.unsigned_abs());
    push_fraction(nanos.unsigned_abs(), &mut text);
    text.push('s');
    to.plain_string(&text);
    Ok(())
}

/// Reads a duration: decimal seconds and an `s`. Returns seconds and nanoseconds.
///
/// # Errors
///
/// If there is no such string, or the duration is longer than 315 576 000 000 seconds.
pub fn decode_duration(from: &mut Reader<'_>) -> Result<(i64, i32), DecodeError> {
    const EXPECTED: &str = "duration";
    let offset = from.value_offset();
    let text = from.string(EXPECTED)?;
    duration(&text).ok_or_else(|| Reader::invalid(EXPECTED, &text, offset))
}

/// Appends a point and as many groups of three digits as nanoseconds need.
fn push_fraction(nanos: u32, text: &mut String) {
    let _ = match nanos {
        0 => Ok(()),
        nanos if nanos % 1_000_000 == 0 => write!(text, ".{:03}", nanos / 1_000_000),
        nanos if nanos % 1000 == 0 => write!(text, ".{:06}", nanos / 1000),
        nanos => write!(text, ".{nanos:09}"),
    };
}

/// Nanoseconds from the digits after a point.
fn nanos(digits: &str) -> Option<i32> {
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let missing = u32::try_from(9_usize.checked_sub(digits.len())?).ok()?;
    digits.parse::<i32>().ok()?.checked_mul(10_i32.checked_pow(missing)?)
}

fn duration(text: &str) -> Option<(i64, i32)> {
    let text = text.strip_suffix('s')?;
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (seconds, fraction) = text.split_once('.').map_or((text, None), |(seconds, rest)| (seconds, Some(rest)));
    if seconds.is_empty() || !seconds.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let seconds = seconds.parse::<i64>().ok().filter(|seconds| *seconds <= DURATION_MAX)?;
    let nanos = fraction.map_or(Some(0), nanos)?;
    Some(if is_negative { (seconds.wrapping_neg(), nanos.wrapping_neg()) } else { (seconds, nanos) })
}

fn timestamp(text: &str) -> Option<(i64, i32)> {
    let (date, time) = text.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let is_date = year >= 1 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    // An offset begins with a sign, and only with it.
    let offset_at = time.find(['Z', '+', '-'])?;
    let (time, offset) = time.split_at_checked(offset_at)?;
    let (time, fraction) = time.split_once('.').map_or((time, None), |(time, rest)| (time, Some(rest)));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    let nanos = fraction.map_or(Some(0), nanos)?;
    let offset = if offset == "Z" { 0 } else { offset_seconds(offset)? };
    if !is_date || !is_time {
        return None;
    }
    let of_day = hour.checked_mul(3600)?.checked_add(minute.checked_mul(60)?)?.checked_add(second)?;
    let seconds = days(year, month, day)?.checked_mul(SECONDS_PER_DAY)?.checked_add(of_day)?.checked_sub(offset)?;
    (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some((seconds, nanos))
}

/// The seconds of an offset like `-08:00`.
fn offset_seconds(offset: &str) -> Option<i64> {
    let (sign, offset) = offset.split_at_checked(1)?;
    let [hours, minutes] = numbers(offset, ':', [2, 2])?;
    if hours >= 24 || minutes >= 60 {
        return None;
    }
    let seconds = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
    Some(if sign == "-" { seconds.wrapping_neg() } else { seconds })
}

/// Numbers of so many digits each.
fn numbers<const N: usize>(text: &str, separator: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part = parts.next().filter(|part| part.len() == length && part.bytes().all(|it| it.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days of a 400-year cycle of the Gregorian calendar.
const DAYS_PER_CYCLE: i64 = 146_097;

/// The days from 1 March of the year 0 to the beginning of 1970.
const DAYS_TO_1970: i64 = 719_468;

/// The days from the beginning of 1970 to a date of the years 1 to 9999.
///
/// Years are counted from March, so that the leap day is the last of its year, and the months before a day are a
/// line: 153 days for each five months.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let (year, month) =
        if month > 2 { (year, month.checked_sub(3)?) } else { (year.checked_sub(1)?, month.checked_add(9)?) };
    let before_year = year.checked_mul(365)?.checked_add(year / 4)?.checked_sub(year / 100)?.checked_add(year / 400)?;
    let before_month = month.checked_mul(153)?.checked_add(2)? / 5;
    before_year.checked_add(before_month)?.checked_add(day)?.checked_sub(1)?.checked_sub(DAYS_TO_1970)
}

/// Year, month and day of a date of the years 1 to 9999, by its days from the beginning of 1970.
#[allow(clippy::arithmetic_side_effects)] // The caller has checked the range, in which nothing overflows.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (cycle, day) = (days.div_euclid(DAYS_PER_CYCLE), days.rem_euclid(DAYS_PER_CYCLE));
    // The leap days before this day of the cycle are left out, so that all its years have 365 days.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + next_year, month, of_month)
}

#[cfg(test)]
mod tests {
    use super::{SECONDS_MAX, SECONDS_MIN, date, days, days_in, duration, timestamp};

    #[test]
    fn every_day_has_a_date_that_leads_back_to_it() {
        // Two cycles, and the years around 1970.
        for (first, years) in [(SECONDS_MIN / 86_400, 1..=801), (days(1901, 1, 1).unwrap(), 1901..=2101)] {
            let mut number = first;
            for year in years {
                for month in 1..=12 {
                    for day in 1..=days_in(year, month) {
                        assert_eq!(days(year, month, day), Some(number));
                        assert_eq!(date(number), (year, month, day));
                        number += 1;
                    }
                }
            }
        }
        assert_eq!(date(SECONDS_MAX / 86_400), (9999, 12, 31));
        assert_eq!(date(0), (1970, 1, 1));
    }

    #[test]
    fn timestamps_are_read_with_any_offset_and_fraction() {
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
