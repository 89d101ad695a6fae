//! Parser of the binary Ion encoding. Each value is preceded by its kind and length.

use super::output::{Container, JsonOutput};
use super::symbols::SYMBOL_TABLE;
use super::time::{MINUTES, at};
use super::{INTEGER_MAX, Result, VERSION_MARKER, malformed};
use std::fmt::Write as _;

/// Parses all values of a binary Ion message. Returns the result, and the offset at which parsing ended or failed.
pub(super) fn read(input: &[u8], output: &mut JsonOutput) -> (usize, Result<()>) {
    let mut reader = BinaryReader { bytes: ByteRange { input, at: 0, end: input.len() }, ends: Vec::new(), output };
    let read = reader.read();
    (reader.bytes.at, read)
}

struct BinaryReader<'a> {
    bytes: ByteRange<'a>,
    /// End offsets of the lists and structs that enclose the innermost open one.
    ends: Vec<usize>,
    output: &'a mut JsonOutput,
}

/// Unread part of a value, as a range of the input.
#[derive(Clone, Copy)]
struct ByteRange<'a> {
    input: &'a [u8],
    at: usize,
    end: usize,
}

/// First byte of a value, which encodes its type, and the offset of the value's end.
struct ValueHeader {
    kind: u8,
    low: u8,
    end: usize,
}

impl ValueHeader {
    fn is_null(&self) -> bool {
        self.low == 15
    }

    fn is_padding(&self) -> bool {
        self.kind == 0 && !self.is_null()
    }
}

impl<'a> BinaryReader<'a> {
    fn read(&mut self) -> Result<()> {
        loop {
            if self.bytes.is_over() {
                let Some(end) = self.ends.pop() else { return Ok(()) };
                self.bytes.end = end;
                self.output.end()?;
                continue;
            }
            let name = match self.output.container() {
                Some(Container::Struct) => Some(self.bytes.var_uint()?),
                None if self.bytes.take(VERSION_MARKER) => {
                    self.output.symbols.reset();
                    continue;
                }
                _ => None,
            };
            let mut header = self.bytes.header()?;
            if header.is_padding() {
                self.bytes.at = header.end;
                continue;
            }
            if let Some(name) = name {
                self.output.name_id(name)?;
            }
            let mut is_table = false;
            if header.kind == 14 {
                (is_table, header) = self.annotated(&header)?;
            }
            self.value(&header, is_table)?;
        }
    }

    /// Reads the annotations of a value. Returns whether the first annotation marks a local symbol table, and the
    /// header of the annotated value.
    fn annotated(&mut self, wrapper: &ValueHeader) -> Result<(bool, ValueHeader)> {
        let mut inner = ByteRange { end: wrapper.end, ..self.bytes };
        let length = inner.length()?;
        let mut annotations = ByteRange { end: inner.end_of(length)?, ..inner };
        let mut is_table = None;
        while !annotations.is_over() {
            let id = annotations.var_uint()?;
            if !self.output.symbols.contains(id) {
                return malformed(format!("the annotation ${id} is not defined"));
            }
            // Ion treats a value as a symbol table only if its first annotation is `$ion_symbol_table`.
            is_table.get_or_insert(self.output.symbols.get(id) == Some(SYMBOL_TABLE));
        }
        inner.at = annotations.end;
        self.bytes.at = inner.at;
        let header = inner.header()?;
        self.bytes.at = inner.at;
        match is_table {
            None => malformed("a value has an empty list of annotations"),
            Some(_) if header.kind == 14 || header.is_padding() || header.end != wrapper.end => {
                malformed("annotations are followed by a single value, without padding")
            }
            Some(is_table) => Ok((is_table, header)),
        }
    }

    fn value(&mut self, header: &ValueHeader, is_table: bool) -> Result<()> {
        let body = ByteRange { end: header.end, ..self.bytes };
        if let 11..=13 = header.kind
            && !header.is_null()
        {
            let container = match header.kind {
                11 => Container::List,
                12 => Container::Sexp,
                _ => Container::Struct,
            };
            self.output.begin(container, is_table)?;
            self.ends.push(self.bytes.end);
            self.bytes.end = header.end;
            return Ok(());
        }
        let output = &mut *self.output;
        match header.kind {
            _ if header.is_null() => output.literal(b"null")?,
            1 => output.boolean(header.low == 1)?,
            2 | 3 => {
                let value = body.magnitude()?;
                let sign = if header.kind == 3 { "-" } else { "" };
                if header.kind == 3 && value == 0 {
                    return malformed("a negative integer is zero");
                }
                output.literal(format!("{sign}{value}").as_bytes())?;
            }
            4 => put_float(output, body.rest())?,
            5 => put_decimal(output, body)?,
            6 => {
                let text = timestamp(output, body)?;
                output.other_string(&text)?;
            }
            7 => match u64::try_from(body.magnitude()?) {
                Ok(id) => output.symbol_id(id)?,
                Err(_) => return malformed("the id of a symbol exceeds 64 bits"),
            },
            8 => {
                let Ok(text) = std::str::from_utf8(body.rest()) else { return malformed("a string is not UTF-8") };
                let mut escaped = String::new();
                output.escape(text, &mut escaped)?;
                output.string(&escaped)?;
            }
            9 | 10 => output.bytes(body.rest())?,
            kind => return malformed(format!("no value has the type code {kind}")),
        }
        self.bytes.at = header.end;
        Ok(())
    }
}

impl<'a> ByteRange<'a> {
    fn is_over(&self) -> bool {
        self.at >= self.end
    }

    fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..self.end).unwrap_or_default()
    }

    fn take(&mut self, token: &[u8]) -> bool {
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn byte(&mut self) -> Result<u8> {
        let Some(byte) = self.rest().first() else { return malformed("the bytes end within a value") };
        self.at += 1;
        Ok(*byte)
    }

    /// Returns the offset after `length` bytes, or fails if that exceeds the range.
    fn end_of(&self, length: usize) -> Result<usize> {
        if length > self.end - self.at {
            return malformed(format!("a value of {length} bytes exceeds the {} that are left", self.end - self.at));
        }
        Ok(self.at + length)
    }

    /// Reads the type byte of a value and its length, and checks that the type permits the length.
    fn header(&mut self) -> Result<ValueHeader> {
        let byte = self.byte()?;
        let (kind, low) = (byte >> 4, byte & 15);
        let length = match (kind, low) {
            (15, _) | (14, 0..=2 | 15) | (1, 2..=14) | (4, 1..=3 | 5..=7 | 9..=14) | (6, 0 | 1) => {
                return malformed(format!("no value begins with the byte {byte:#04x}"));
            }
            (1, _) | (_, 15) => 0,
            (13, 1) => match self.length()? {
                0 => return malformed("an ordered struct is empty"),
                length => length,
            },
            (_, 14) => self.length()?,
            (_, length) => usize::from(length),
        };
        Ok(ValueHeader { kind, low, end: self.end_of(length)? })
    }

    fn var_uint(&mut self) -> Result<u64> {
        let mut value = 0;
        loop {
            let byte = self.byte()?;
            if value >> 57 != 0 {
                return malformed("a number exceeds 64 bits");
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 != 0 {
                return Ok(value);
            }
        }
    }

    fn length(&mut self) -> Result<usize> {
        let length = self.var_uint()?;
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Reads a signed variable-length integer. Also returns whether its sign is negative, because Ion distinguishes
    /// negative zero.
    fn var_int(&mut self) -> Result<(bool, i64)> {
        let first = self.byte()?;
        let mut value = i64::from(first & 0x3f);
        let mut byte = first;
        while byte & 0x80 == 0 {
            byte = self.byte()?;
            if value >> 56 != 0 {
                return malformed("a number exceeds 64 bits");
            }
            value = value << 7 | i64::from(byte & 0x7f);
        }
        let is_negative = first & 0x40 != 0;
        Ok((is_negative, if is_negative { -value } else { value }))
    }

    /// Decodes all bytes as an unsigned integer.
    fn magnitude(&self) -> Result<u128> {
        let bytes = self.rest();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let significant = bytes.get(zeros..).unwrap_or_default();
        if significant.len() > INTEGER_MAX {
            let length = significant.len();
            return malformed(format!(
                "an integer of {length} bytes exceeds the limit of {INTEGER_MAX}: send it as text"
            ));
        }
        Ok(significant.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)))
    }

    /// Decodes the remaining bytes as a big-endian integer in sign-and-magnitude form, whose first bit is the sign.
    /// Returns whether it is negative, and its magnitude.
    fn coefficient(&self) -> Result<(bool, u128)> {
        let [first, rest @ ..] = self.rest() else { return Ok((false, 0)) };
        let rest_of = Self { at: self.end - rest.len(), ..*self };
        let low = rest_of.magnitude()?;
        let high = u128::from(first & 0x7f);
        let shift = 8 * rest.len();
        if high != 0 && shift >= 8 * INTEGER_MAX {
            return malformed(format!("a coefficient exceeds the limit of {INTEGER_MAX} bytes: send it as text"));
        }
        let high = if high == 0 { 0 } else { high << shift };
        Ok((first & 0x80 != 0, high | low))
    }
}

fn put_float(output: &mut JsonOutput, bytes: &[u8]) -> Result<()> {
    let value = match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(bytes), _) => f64::from(f32::from_be_bytes(bytes)),
        (_, Ok(bytes)) => f64::from_be_bytes(bytes),
        _ => 0.0,
    };
    if value.is_nan() {
        output.other_string("NaN")
    } else if value.is_infinite() {
        output.other_string(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        output.literal(format!("{value:?}").as_bytes())
    }
}

/// Maximum number of fraction digits of a decimal that is written with a decimal point. Others are written with an
/// exponent.
const FRACTION_MAX: i64 = 40;

fn put_decimal(output: &mut JsonOutput, mut body: ByteRange<'_>) -> Result<()> {
    let (_, exponent) = if body.is_over() { (false, 0) } else { body.var_int()? };
    let (is_negative, coefficient) = body.coefficient()?;
    let sign = if is_negative { "-" } else { "" };
    let json = match exponent {
        0 => format!("{sign}{coefficient}"),
        _ if (-FRACTION_MAX..0).contains(&exponent) => {
            let places = usize::try_from(-exponent).unwrap_or_default();
            let digits = format!("{coefficient:0width$}", width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{sign}{coefficient}e{exponent}"),
    };
    output.literal(json.as_bytes())
}

/// Formats a timestamp in ISO 8601.
fn timestamp(output: &JsonOutput, mut body: ByteRange<'_>) -> Result<String> {
    let (is_unknown, offset) = match body.var_int()? {
        (true, 0) => (true, 0),
        (_, offset) if offset.abs() < MINUTES => (false, offset),
        _ => return malformed("the offset of a timestamp is a day or more"),
    };
    let year = body.var_uint()?;
    let month = if body.is_over() { None } else { Some(body.var_uint()?) };
    let day = if body.is_over() { None } else { Some(body.var_uint()?) };
    let date = [year, month.unwrap_or(1), day.unwrap_or(1)];
    if at(date, 0).is_none() {
        return malformed("a timestamp has no valid date");
    }
    if body.is_over() {
        return Ok(match (month, day) {
            (Some(month), Some(day)) => format!("{year:04}-{month:02}-{day:02}"),
            (Some(month), None) => format!("{year:04}-{month:02}"),
            _ => format!("{year:04}"),
        });
    }
    let (hour, minute) = (body.var_uint()?, body.var_uint()?);
    if hour > 23 || minute > 59 {
        return malformed("a timestamp has no valid time");
    }
    let Some(local) = at(date, (hour * 60 + minute).cast_signed() + offset) else {
        return malformed("a timestamp has no valid date");
    };
    let mut text = local.to_string();
    text.truncate("0000-00-00T00:00".len());
    if !body.is_over() {
        let second = body.var_uint()?;
        if second > 59 {
            return malformed("a timestamp has no valid time");
        }
        // Writing to a string cannot fail, so ignore the result.
        let _ = write!(text, ":{second:02}");
    }
    if !body.is_over() {
        put_fraction(&mut text, output, &mut body)?;
    }
    match (is_unknown, offset) {
        (true, _) => text.push_str("-00:00"),
        (false, 0) => text.push('Z'),
        (false, offset) => {
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs());
            let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
    }
    Ok(text)
}

/// Appends the fraction of a second, unless it is zero without decimal places.
fn put_fraction(text: &mut String, output: &JsonOutput, body: &mut ByteRange<'_>) -> Result<()> {
    let (_, exponent) = body.var_int()?;
    let (is_negative, coefficient) = body.coefficient()?;
    let places = usize::try_from(-exponent).unwrap_or_default();
    output.check_room(places)?;
    let digits = coefficient.to_string();
    if digits.len() > places.max(1) || (is_negative || places == 0) && coefficient != 0 {
        return malformed("the fraction of a second is not below one");
    }
    if places > 0 {
        text.push('.');
        text.push_str(&"0".repeat(places - digits.len()));
        text.push_str(&digits);
    }
    Ok(())
}
