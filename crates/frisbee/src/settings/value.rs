//! Values of settings as people write them: `"5s"`, `"16MiB"`, `4096`, `true`.

use std::fmt;
use std::time::Duration;

/// What a setting is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A time with a unit.
    Time,
    /// A number of bytes, with a unit or without.
    Size,
    /// A number.
    Count,
    /// `true` or `false`.
    Flag,
    /// A word of the setting's own.
    Word,
}

/// The value of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// See [`Kind::Time`].
    Time(Duration),
    /// See [`Kind::Size`]; in bytes.
    Size(u64),
    /// See [`Kind::Count`].
    Count(u64),
    /// See [`Kind::Flag`].
    Flag(bool),
    /// See [`Kind::Word`].
    Word(String),
}

/// Units of time, the longest first, and how many nanoseconds they have.
const TIMES: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// Units of memory, the largest first.
const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Kind {
    /// Reads a value.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self {
            Self::Time if text == "0" => Ok(Value::Time(Duration::ZERO)),
            Self::Time => match amount(text, &TIMES) {
                Amount::Of(nanoseconds) => Ok(Value::Time(Duration::from_nanos(nanoseconds))),
                Amount::Without(_) => Err("a time needs a unit, as in \"5s\" or \"250ms\"".into()),
                Amount::TooMuch => Err("this is longer than 584 years".into()),
                Amount::Not => Err("this is not a time: write a whole number and one of h, min, s, ms, us, ns".into()),
            },
            Self::Size => match amount(text, &SIZES) {
                Amount::Of(bytes) | Amount::Without(bytes) => Ok(Value::Size(bytes)),
                Amount::TooMuch => Err("this is more than 64 bits can express".into()),
                Amount::Not => {
                    Err("this is not a number of bytes: write a whole number and one of B, KiB, MiB, GiB".into())
                }
            },
            Self::Count => {
                text.parse().map(Value::Count).map_err(|_| "this is not a whole number of at least 0".to_owned())
            }
            Self::Flag => match text {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err("this is neither true nor false".into()),
            },
            Self::Word => Ok(Value::Word(text.to_owned())),
        }
    }
}

/// A number and its unit, multiplied.
enum Amount {
    Of(u64),
    /// There is no unit.
    Without(u64),
    TooMuch,
    Not,
}

fn amount(text: &str, units: &[(&str, u64)]) -> Amount {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if digits.is_empty() {
        return Amount::Not;
    }
    let Ok(number) = digits.parse::<u64>() else { return Amount::TooMuch };
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Amount::Without(number);
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else { return Amount::Not };
    number.checked_mul(*factor).map_or(Amount::TooMuch, Amount::Of)
}

/// As TOML writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(Duration::ZERO) => f.write_str("\"0s\""),
            Self::Time(time) => {
                let nanoseconds = time.as_nanos();
                let fits = |(_, factor): &&(&str, u64)| nanoseconds.is_multiple_of(u128::from(*factor));
                let (unit, factor) = TIMES.iter().find(fits).unwrap_or(&("ns", 1));
                write!(f, "\"{}{unit}\"", nanoseconds / u128::from(*factor))
            }
            Self::Size(0) => f.write_str("\"0B\""),
            Self::Size(bytes) => {
                let fits = |(_, factor): &&(&str, u64)| bytes.is_multiple_of(*factor);
                let (unit, factor) = SIZES.iter().find(fits).unwrap_or(&("B", 1));
                write!(f, "\"{}{unit}\"", bytes / factor)
            }
            Self::Count(count) => count.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Word(word) => write!(f, "{word:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_and_sizes_are_read_with_their_units() {
        for (text, seconds) in [("5s", 5), (" 2 min ", 120), ("1h", 3600), ("0", 0), ("3000ms", 3)] {
            assert_eq!(Kind::Time.parse(text), Ok(Value::Time(Duration::from_secs(seconds))), "{text}");
        }
        for (text, bytes) in [("16MiB", 16 << 20), ("64 KiB", 64 << 10), ("7B", 7), ("4096", 4096), ("2GiB", 2 << 30)] {
            assert_eq!(Kind::Size.parse(text), Ok(Value::Size(bytes)), "{text}");
        }
    }

    #[test]
    fn ambiguous_or_too_large_values_are_refused() {
        for text in ["", "s", "5", "-1s", "1.5s", "5 parsecs", "5S", "1s2ms", "99999999999h", "184467440737095516160ns"]
        {
            Kind::Time.parse(text).expect_err(text);
        }
        for text in ["", "MiB", "1MB", "1M", "1kB", "-1", "1.5GiB", "0x10", "17179869184GiB", "99999999999999999999"] {
            Kind::Size.parse(text).expect_err(text);
        }
        for (kind, text) in [(Kind::Count, "-1"), (Kind::Count, "1KiB"), (Kind::Flag, "yes"), (Kind::Flag, "1")] {
            kind.parse(text).expect_err(text);
        }
    }

    proptest! {
        #[test]
        fn a_displayed_value_is_read_as_the_same_value(number: u64, flag: bool) {
            let values = [
                (Kind::Time, Value::Time(Duration::from_nanos(number))),
                (Kind::Time, Value::Time(Duration::from_millis(number >> 24))),
                (Kind::Size, Value::Size(number)),
                (Kind::Size, Value::Size((number >> 32) << 20)),
                (Kind::Count, Value::Count(number)),
                (Kind::Flag, Value::Flag(flag)),
            ];
            for (kind, value) in values {
                prop_assert_eq!(kind.parse(value.to_string().trim_matches('"')), Ok(value));
            }
        }

        #[test]
        fn no_text_makes_reading_a_value_panic(text: String) {
            for kind in [Kind::Time, Kind::Size, Kind::Count, Kind::Flag, Kind::Word] {
                let _ = kind.parse(&text);
            }
        }
    }
}
