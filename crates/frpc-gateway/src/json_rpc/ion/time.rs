//! Timestamps: their text encoding, and the conversion from UTC to local time for the binary encoding.

/// Date and time fields of a timestamp in its local offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Date {
    pub(super) year: u64,
    pub(super) month: u64,
    pub(super) day: u64,
}

impl Date {
    pub(super) fn is_valid(self) -> bool {
        (1..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=self.days_of_month()).contains(&self.day)
    }

    fn days_of_month(self) -> u64 {
        let is_leap = self.year.is_multiple_of(if self.year.is_multiple_of(100) { 400 } else { 4 });
        match self.month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn next(self) -> Self {
        match self {
            Self { day, .. } if day < self.days_of_month() => Self { day: day + 1, ..self },
            Self { month: 12, year, .. } => Self { year: year + 1, month: 1, day: 1 },
            Self { month, .. } => Self { month: month + 1, day: 1, ..self },
        }
    }

    fn previous(self) -> Self {
        let month = match self {
            Self { day: 2.., .. } => return Self { day: self.day - 1, ..self },
            Self { month: 2.., .. } => Self { month: self.month - 1, ..self },
            Self { year, .. } => Self { year: year.wrapping_sub(1), month: 12, ..self },
        };
        Self { day: month.days_of_month(), ..month }
    }

    /// Adds `more` minutes, less than a day, to a minute of this day. Returns the resulting date and minute.
    pub(super) fn add_minutes(self, minute: i64, more: i64) -> (Self, i64) {
        match minute + more {
            sum if sum < 0 => (self.previous(), sum + MINUTES),
            sum if sum >= MINUTES => (self.next(), sum - MINUTES),
            sum => (self, sum),
        }
    }
}

pub(super) const MINUTES: i64 = 24 * 60;

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
    let fields = Date { year, month: month.unwrap_or(Some(1))?, day: day.unwrap_or(Some(1))? };
    if parts.next().is_some() || !fields.is_valid() {
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
    fields.add_minutes(minute, -offset).0.is_valid().then_some(text)
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
