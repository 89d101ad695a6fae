//! Encodes replies as binary Ion.

use super::VERSION_MARKER;
use frpc::json::{DecodeError, Options, Reader};
use std::collections::HashMap;

/// First symbol id that is available to local symbols.
const FIRST_LOCAL: u64 = 10;

/// Symbol ids of `$ion_symbol_table` and `symbols`.
const SYMBOL_TABLE: u64 = 3;
const SYMBOLS: u64 = 7;

/// Encodes JSON as binary Ion. Numbers are typed as in Ion text: integers stay integers, numbers with a point become
/// decimals, and numbers with an exponent become floats. Integers and decimals of more than 128 bits become floats.
pub(crate) fn to_binary(json: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut encoder = Encoder::default();
    encoder.value(&mut Reader::new(json, &Options::new().nesting_max(u32::MAX))?)?;
    let mut table = Encoder::default();
    let mut names: Vec<_> = encoder.names.iter().collect();
    names.sort_unstable_by_key(|(_, id)| **id);
    let annotated = table.begin();
    // The annotations have a length of one byte.
    table.var_uint(1);
    table.var_uint(SYMBOL_TABLE);
    let fields = table.begin();
    table.var_uint(SYMBOLS);
    let list = table.begin();
    for (name, _) in names {
        table.bytes(8, name.as_bytes());
    }
    table.end(&list, 11);
    table.end(&fields, 13);
    table.end(&annotated, 14);
    let tables = if encoder.names.is_empty() { Vec::new() } else { table.finish() };
    Ok([VERSION_MARKER, &tables, &encoder.finish()].concat())
}

/// Encoded values without the headers of long containers. The headers are inserted once all lengths are known, so that
/// each byte is moved at most twice at any depth.
#[derive(Default)]
struct Encoder {
    out: Vec<u8>,
    headers: Vec<ContainerHeader>,
    /// Total length of the container headers that are still to be inserted.
    headers_length: usize,
    names: HashMap<String, u64>,
}

/// Header of a list or struct. Its length is known only after the contents were encoded, so [`Encoder::finish`] inserts
/// it at `offset`.
struct ContainerHeader {
    offset: usize,
    length: usize,
    kind: u8,
}

/// A list or struct that is being encoded.
struct OpenContainer {
    header: usize,
    offset: usize,
    headers_length: usize,
}

impl Encoder {
    fn begin(&mut self) -> OpenContainer {
        let (header, offset) = (self.headers.len(), self.out.len());
        self.headers.push(ContainerHeader { offset, length: 0, kind: 0 });
        OpenContainer { header, offset, headers_length: self.headers_length }
    }

    fn end(&mut self, open: &OpenContainer, kind: u8) {
        let OpenContainer { header, offset, headers_length } = *open;
        let length = self.out.len() - offset + self.headers_length - headers_length;
        let mut bytes = Vec::new();
        put_header(&mut bytes, kind, length);
        if let [byte] = bytes[..] {
            // A short container contains no long ones, so it needs no inserted headers.
            self.headers.truncate(header);
            return self.out.insert(offset, byte);
        }
        self.headers_length += bytes.len();
        if let Some(header) = self.headers.get_mut(header) {
            (header.length, header.kind) = (length, kind);
        }
    }

    /// Inserts all headers and returns the encoded values.
    fn finish(&self) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.out.len() + self.headers_length);
        let mut rest = 0;
        for header in &self.headers {
            whole.extend_from_slice(self.out.get(rest..header.offset).unwrap_or_default());
            put_header(&mut whole, header.kind, header.length);
            rest = header.offset;
        }
        whole.extend_from_slice(self.out.get(rest..).unwrap_or_default());
        whole
    }

    /// Encodes a JSON value recursively. The depth is bounded, because the server limits the nesting of its messages.
    fn value(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        match reader.peek() {
            Some(b'{') => {
                let open = self.begin();
                reader.object(|name, reader| {
                    let next = FIRST_LOCAL + self.names.len() as u64;
                    let id = match self.names.get(name) {
                        Some(id) => *id,
                        None => *self.names.entry(name.to_owned()).or_insert(next),
                    };
                    self.var_uint(id);
                    self.value(reader)
                })?;
                self.end(&open, 13);
            }
            Some(b'[') => {
                let open = self.begin();
                reader.array(|reader| self.value(reader))?;
                self.end(&open, 11);
            }
            Some(b'"') => {
                let text = reader.string("string")?;
                self.bytes(8, text.as_bytes());
            }
            _ => match reader.raw()? {
                "null" => self.out.push(0x0f),
                "false" => self.out.push(0x10),
                "true" => self.out.push(0x11),
                number => self.number(number),
            },
        }
        Ok(())
    }

    fn number(&mut self, number: &str) {
        let (is_negative, digits) = number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
        if let Ok(value) = digits.parse::<u128>() {
            return self.bytes(if is_negative && value > 0 { 3 } else { 2 }, significant(&value.to_be_bytes()));
        }
        let decimal = digits.split_once('.').filter(|(_, fraction)| fraction.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some((whole, fraction)) = decimal
            && let Ok(coefficient) = format!("{whole}{fraction}").parse::<u128>()
        {
            let mut body = Vec::new();
            put_var_int(&mut body, fraction.len());
            let bytes = coefficient.to_be_bytes();
            let bytes = significant(&bytes);
            // Add a byte for the sign if the magnitude uses the first bit, which encodes the sign.
            if bytes.first().is_none_or(|first| *first > 0x7f) && (is_negative || coefficient > 0) {
                body.push(if is_negative { 0x80 } else { 0 });
                body.extend_from_slice(bytes);
            } else if let [first, rest @ ..] = bytes {
                body.push(first | if is_negative { 0x80 } else { 0 });
                body.extend_from_slice(rest);
            }
            return self.bytes(5, &body);
        }
        self.bytes(4, &number.parse::<f64>().unwrap_or(f64::NAN).to_be_bytes());
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        put_header(&mut self.out, kind, bytes.len());
        self.out.extend_from_slice(bytes);
    }

    fn var_uint(&mut self, value: u64) {
        put_var_uint(&mut self.out, value);
    }
}

fn significant(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

fn put_header(out: &mut Vec<u8>, kind: u8, length: usize) {
    match u8::try_from(length) {
        Ok(short) if short < 14 => out.push(kind << 4 | short),
        _ => {
            out.push(kind << 4 | 14);
            put_var_uint(out, length as u64);
        }
    }
}

fn put_var_uint(out: &mut Vec<u8>, value: u64) {
    let groups = (u64::BITS - (value | 1).leading_zeros()).div_ceil(7);
    for group in (0..groups).rev() {
        let [.., byte] = (value >> (7 * group) & 0x7f).to_be_bytes();
        out.push(if group == 0 { byte | 0x80 } else { byte });
    }
}

/// Appends `-value` as a signed variable-length integer.
fn put_var_int(out: &mut Vec<u8>, value: usize) {
    match u8::try_from(value) {
        Ok(short) if short < 0x40 => out.push(0xc0 | short),
        _ => {
            let start = out.len();
            out.push(0);
            put_var_uint(out, value as u64);
            if let Some(first) = out.get_mut(start) {
                *first |= 0x40;
            }
        }
    }
}
