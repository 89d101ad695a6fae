//! Nested lists of numbers in JSON. The parser does not recurse, so nesting cannot overflow the stack.

use bytes::Bytes;
use frpc_json::{DecodeError, Json as _, Reader};

use crate::dtype::ElementType;
use crate::half;
use crate::tensor::{DIMENSIONS_MAX, Tensor};

/// Initial capacity of the list of parsed numbers.
const FIRST: usize = 8;

/// No two integers below this one, 2^53, are rounded to the same double.
const EXACT_END: f64 = 9_007_199_254_740_992.0;

/// Numbers parsed from nested JSON lists, with their shape.
pub(super) struct Lists {
    shape: Vec<u32>,
    numbers: Numbers,
}

impl Lists {
    /// Parses a number or nested lists of numbers. All lists of a level must have the same length.
    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut numbers = Numbers::default();
        // Length of the lists at each depth, known once one of them has ended.
        let mut lengths: Vec<Option<u32>> = Vec::new();
        // Number of elements so far in each open list.
        let mut open: Vec<u32> = Vec::new();
        loop {
            let position = from.value_offset();
            let mut is_element = true;
            if from.peek() == Some(b'[') {
                if open.len() == lengths.len() {
                    if numbers.kind != Kind::None || lengths.last().is_some_and(Option::is_some) {
                        return Err(ragged(position));
                    }
                    if open.len() == DIMENSIONS_MAX {
                        return Err(Reader::refuse(position, format!("lists nest deeper than {DIMENSIONS_MAX}")));
                    }
                    lengths.push(None);
                }
                open.push(0);
                if from.first_element("list")? {
                    continue;
                }
                is_element = false;
            } else {
                if open.len() != lengths.len() {
                    return Err(ragged(position));
                }
                numbers.read(from)?;
            }
            // A value is complete, which may also complete the lists that contain it.
            loop {
                let depth = open.len();
                let Some(count) = open.last_mut() else {
                    let shape = lengths.into_iter().map(Option::unwrap_or_default).collect();
                    return Ok(Self { shape, numbers });
                };
                if is_element {
                    *count = count.checked_add(1).ok_or_else(|| ragged(position))?;
                    if from.next_element()? {
                        break;
                    }
                }
                is_element = true;
                let count = *count;
                open.pop();
                if let Some(length) = lengths.get_mut(depth.saturating_sub(1))
                    && *length.get_or_insert(count) != count
                {
                    return Err(ragged(position));
                }
            }
        }
    }

    /// Returns the element type that NumPy infers for these numbers.
    pub(super) fn element(&self) -> ElementType {
        match self.numbers.kind {
            Kind::Bools => ElementType::Bool,
            Kind::Integers { has_large: true, .. } => ElementType::Uint64,
            Kind::Integers { .. } => ElementType::Int64,
            Kind::None | Kind::Floats => ElementType::Float64,
        }
    }

    /// Converts the numbers to a tensor of little-endian elements.
    pub(super) fn tensor(self, element: ElementType) -> Result<Tensor, String> {
        let data = self.numbers.elements(element)?;
        Ok(Tensor { dtype: element.name().to_owned(), shape: self.shape, data })
    }
}

fn ragged(position: usize) -> DecodeError {
    Reader::refuse(position, "lists at the same depth have different shapes")
}

/// Parsed numbers as 64-bit words: integers in two's complement, floats as their bits, bools as 0 or 1.
#[derive(Default)]
struct Numbers {
    kind: Kind,
    words: Vec<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    Bools,
    /// All numbers are integers. `has_large` is set if any of them exceeds the range of `i64`.
    Integers {
        has_negative: bool,
        has_large: bool,
    },
    Floats,
}

impl Numbers {
    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        if self.words.len() == self.words.capacity() {
            let more = self.words.capacity().max(FIRST);
            from.charge_bytes(more.saturating_mul(size_of::<u64>()))?;
            self.words.reserve_exact(more);
        }
        let position = from.value_offset();
        let mixed = || Reader::refuse(position, "bools and numbers are mixed in one list");
        let word = match from.peek() {
            Some(b't' | b'f') => {
                let mut bool = false;
                bool.decode_json(from)?;
                if !matches!(self.kind, Kind::None | Kind::Bools) {
                    return Err(mixed());
                }
                self.kind = Kind::Bools;
                u64::from(bool)
            }
            _ if self.kind == Kind::Bools => return Err(mixed()),
            Some(b'-' | b'0'..=b'9') => self.number(from.raw()?, position)?,
            // proto3's JSON mapping writes 64-bit integers, NaN and infinities as strings.
            Some(b'"') => {
                let text = from.string("number")?;
                match &*text {
                    "NaN" => self.float(f64::NAN),
                    "Infinity" => self.float(f64::INFINITY),
                    "-Infinity" => self.float(f64::NEG_INFINITY),
                    _ => {
                        let digits = text.strip_prefix('-').unwrap_or(&text);
                        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
                            return Err(Reader::refuse(position, "a number or a list is expected"));
                        }
                        self.number(&text, position)?
                    }
                }
            }
            _ => return Err(Reader::refuse(position, "a number or a list is expected")),
        };
        self.words.push(word);
        Ok(())
    }

    /// Parses a number as an integer if that is compatible with the numbers before it, and as a float otherwise.
    fn number(&mut self, text: &str, position: usize) -> Result<u64, DecodeError> {
        let integer = if text.contains(['.', 'e', 'E']) { None } else { self.integer(text) };
        integer.map_or_else(|| Ok(self.float(finite(text, position)?)), Ok)
    }

    /// Parses an integer. Returns `None` if no integer type can hold it together with the numbers before it.
    fn integer(&mut self, text: &str) -> Option<u64> {
        let (mut has_negative, mut has_large) = match self.kind {
            Kind::Integers { has_negative, has_large } => (has_negative, has_large),
            Kind::Floats => return None,
            Kind::None | Kind::Bools => (false, false),
        };
        let word = match text.parse::<i64>() {
            Ok(number) => {
                has_negative |= number < 0;
                number.cast_unsigned()
            }
            Err(_) => {
                has_large = true;
                text.parse::<u64>().ok()?
            }
        };
        if has_negative && has_large {
            return None;
        }
        self.kind = Kind::Integers { has_negative, has_large };
        Some(word)
    }

    /// Returns the word for a float, after converting earlier integers to floats.
    fn float(&mut self, float: f64) -> u64 {
        if let Kind::Integers { has_large, .. } = self.kind {
            for word in &mut self.words {
                *word = as_float(*word, has_large).to_bits();
            }
        }
        self.kind = Kind::Floats;
        float.to_bits()
    }

    /// Encodes the numbers as little-endian elements.
    fn elements(self, element: ElementType) -> Result<Bytes, String> {
        let bad = || format!("a number of the lists does not fit {element}");
        macro_rules! integers {
            ($type:ty) => {
                self.collect(|word, kind| {
                    let number = match kind {
                        Kind::Integers { has_large: true, .. } => <$type>::try_from(word).ok(),
                        Kind::Integers { .. } => <$type>::try_from(word.cast_signed()).ok(),
                        Kind::Floats => exact(f64::from_bits(word)).and_then(|number| number.try_into().ok()),
                        Kind::None | Kind::Bools => None,
                    };
                    number.map(<$type>::to_le_bytes).ok_or_else(bad)
                })
            };
        }
        match element {
            ElementType::Bool => self.collect(|word, kind| match (kind, word) {
                (Kind::Bools | Kind::Integers { .. }, 0) => Ok([0]),
                (Kind::Bools | Kind::Integers { .. }, 1) => Ok([1]),
                _ => Err(bad()),
            }),
            ElementType::Int8 => integers!(i8),
            ElementType::Int16 => integers!(i16),
            ElementType::Int32 => integers!(i32),
            ElementType::Int64 => integers!(i64),
            ElementType::Uint8 => integers!(u8),
            ElementType::Uint16 => integers!(u16),
            ElementType::Uint32 => integers!(u32),
            ElementType::Uint64 => integers!(u64),
            ElementType::Float16 => self.floats(bad, |value| (half::float16(value).to_le_bytes(), 0x7bff, 0x7fff)),
            ElementType::Bfloat16 => self.floats(bad, |value| (half::bfloat16(value).to_le_bytes(), 0x7f7f, 0x7fff)),
            ElementType::Float32 => self.collect(|word, kind| {
                let value = float_of(word, kind).ok_or_else(bad)?;
                let narrow = value as f32;
                if narrow.is_infinite() && value.is_finite() { Err(bad()) } else { Ok(narrow.to_le_bytes()) }
            }),
            ElementType::Float64 => {
                self.collect(|word, kind| float_of(word, kind).map(f64::to_le_bytes).ok_or_else(bad))
            }
            ElementType::Complex64 | ElementType::Complex128 => {
                Err(format!("lists cannot contain {element}: send it in base64 or as a .npy file"))
            }
        }
    }

    /// Encodes the numbers as floats of two bytes. Fails if a finite value exceeds the largest such float.
    fn floats(self, bad: impl Fn() -> String, round: fn(f64) -> ([u8; 2], u16, u16)) -> Result<Bytes, String> {
        self.collect(|word, kind| {
            let value = float_of(word, kind).ok_or_else(&bad)?;
            let (bytes, largest, magnitude) = round(value);
            if value.is_finite() && u16::from_le_bytes(bytes) & magnitude > largest {
                return Err(bad());
            }
            Ok(bytes)
        })
    }

    fn collect<const SIZE: usize>(
        self,
        bytes_of: impl Fn(u64, Kind) -> Result<[u8; SIZE], String>,
    ) -> Result<Bytes, String> {
        let mut bytes = Vec::with_capacity(self.words.len().saturating_mul(SIZE));
        for word in self.words {
            bytes.extend_from_slice(&bytes_of(word, self.kind)?);
        }
        Ok(bytes.into())
    }
}

/// Parses a JSON number as a float. Fails if it overflows to infinity.
fn finite(text: &str, position: usize) -> Result<f64, DecodeError> {
    let float: Option<f64> = text.parse().ok();
    float
        .filter(|float| float.is_finite())
        .ok_or_else(|| Reader::refuse(position, "a number of the lists is too large"))
}

fn as_float(word: u64, has_large: bool) -> f64 {
    if has_large { word as f64 } else { word.cast_signed() as f64 }
}

fn float_of(word: u64, kind: Kind) -> Option<f64> {
    match kind {
        Kind::Floats => Some(f64::from_bits(word)),
        Kind::Integers { has_large, .. } => Some(as_float(word, has_large)),
        Kind::None | Kind::Bools => None,
    }
}

/// Converts a float to the integer with the same value. Returns `None` if there is none, or if the float may have been
/// rounded from another integer.
fn exact(value: f64) -> Option<i64> {
    (value.trunc() == value && value.abs() < EXACT_END).then_some(value as i64)
}
