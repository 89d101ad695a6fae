//! Timestamps: their text encoding, and the conversion from UTC to local time for the binary encoding.

use prost_types::Timestamp;
use std::ops::RangeInclusive;

/// Minutes of a day.
pub(super) const MINUTES: i64 = 24 * 60;

/// Seconds since 1970 at the beginning of year 1 and at the end of year 9999.
const SECONDS: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Returns the time that is `minutes` after the beginning of a date, given as year, month and day. Returns `None` if
/// the date does not exist, or if the time is not in the years 1 to 9999.
pub(super) fn at([year, month, day]: [u64; 3], minutes: i64) -> Option<Timestamp> {
    let date = Timestamp::date(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let seconds = date.seconds.checked_add(60 * minutes).filter(|seconds| SECONDS.contains(seconds))?;
    Some(Timestamp { seconds, nanos: 0 })
}

/// Converts a timestamp of Ion text to ISO 8601, where a date has no trailing `T`. Returns `None` if the timestamp is
/// invalid.
pub(super) fn iso(text: &str) -> Option<&str> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time),
        None if text.len() == 10 => (text, ""),
        None => return None,
    };
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map(|part| digits(part, 2));
    let day = parts.next().map(|part| digits(part, 2));
    let fields = [year, month.unwrap_or(Some(1))?, day.unwrap_or(Some(1))?];
    if parts.next().is_some() || at(fields, 0).is_none() {
        return None;
    }
    if time.is_empty() {
        return Some(date);
    }
    day?;
    let (clock, offset) = match time.strip_suffix('Z') {
        Some(clock) => (clock, 0),
        None => {
            let (clock, offset) = time.split_at_checked(time.len().checked_sub(6)?)?;
            let minutes = minute_of_day(offset.get(1..)?)?;
            match offset.as_bytes().first()? {
                b'+' => (clock, minutes),
                b'-' => (clock, -minutes),
                _ => return None,
            }
        }
    };
    let (clock, seconds) = clock.split_at_checked(5)?;
    let minute = minute_of_day(clock)?;
    if let Some(seconds) = seconds.strip_prefix(':') {
        let (whole, fraction) = seconds.split_at_checked(2)?;
        let is_fraction = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if digits(whole, 2)? > 59 || !fraction.is_empty() && !fraction.strip_prefix('.').is_some_and(is_fraction) {
            return None;
        }
    } else if !seconds.is_empty() {
        return None;
    }
    // Check the date in UTC as well, because the offset may move it before year 1 or beyond year 9999.
    at(fields, minute - offset).map(|_| text)
}

/// Parses `hh:mm` as the number of minutes since midnight.
fn minute_of_day(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    (hour < 24 && minute < 60).then(|| (hour * 60 + minute).cast_signed())
}

/// Parses a number with exactly `count` digits.
fn digits(text: &str, count: usize) -> Option<u64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}
