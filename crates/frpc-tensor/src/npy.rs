//! NumPy's `.npy` format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. A file consists of
//! a magic number, a version, a header and the data. The header is a Python literal, a dictionary of three entries.
//! This parser accepts only such dictionaries and evaluates nothing.
//!
//! The crate `npyz` (0.9.1) is not used because it checks its limits late: a file of 12 bytes that states a header of 4
//! GiB makes it allocate that much, a header of 24 `{` keeps its parser busy for more than 20 s, and a shape with an
//! overflowing product makes it panic. It also leaves the rejection of objects to the caller.

use bytes::{Buf as _, Bytes};

use crate::dtype::Dtype;
use crate::error::TensorError;
use crate::tensor::{DIMENSIONS_MAX, Tensor, length};

/// Magic number at the start of a `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// Maximum length in bytes of a `.npy` header, equal to NumPy's limit `_MAX_HEADER_SIZE`. The header of a plain array
/// has about a hundred bytes.
const HEADER_MAX: usize = 10_000;

/// Alignment in bytes of the data in `.npy` files that NumPy writes.
const ALIGNMENT: usize = 64;

/// Parses a `.npy` file. The elements of the returned tensor are in C order.
pub(crate) fn read(mut file: Bytes) -> Result<Tensor, TensorError> {
    let (start, header) = header(&file)?;
    let Header { descriptor, is_fortran, shape } = header;
    let dtype = Dtype::parse(&descriptor).ok_or_else(|| refused_type(&descriptor))?;
    let data_length = file.len().saturating_sub(start);
    let expected = length(&shape, dtype)?;
    if expected != Some(data_length) {
        return Err(TensorError::Length { expected, found: data_length });
    }
    file.advance(start.min(file.len()));
    let data = if is_fortran { in_c_order(file, &shape, dtype.element.size()) } else { file };
    Ok(Tensor { dtype: descriptor, shape, data })
}

fn refused_type(descriptor: &str) -> TensorError {
    if descriptor.trim_start_matches(['|', '<', '>', '=']).starts_with('O') {
        return TensorError::Npy("its elements are objects of Python, which only Python's pickle reads");
    }
    TensorError::dtype(descriptor)
}

/// Encodes a tensor as a `.npy` file.
pub(crate) fn write(tensor: &Tensor) -> Result<Vec<u8>, TensorError> {
    let dtype = tensor.check()?;
    let little = dtype.element.descriptor().ok_or(TensorError::Npy("NumPy has no elements of this type"))?;
    let descriptor = if dtype.is_big_endian { little.replace('<', ">") } else { little };
    let sizes: String = tensor.shape.iter().map(|size| format!("{size}, ")).collect();
    let mut header = format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The header follows the magic number, two bytes of version and two bytes of length.
    let prefix = MAGIC.len().saturating_add(4);
    let whole = prefix.saturating_add(header.len()).saturating_add(1).next_multiple_of(ALIGNMENT);
    let spaces = whole.saturating_sub(prefix).saturating_sub(header.len()).saturating_sub(1);
    header.extend(std::iter::repeat_n(' ', spaces));
    header.push('\n');
    // The length fits into u16, because the header has at most 64 dimensions of ten digits.
    let header_length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    let mut file = Vec::with_capacity(whole.saturating_add(tensor.data.len()));
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[1, 0]);
    file.extend_from_slice(&header_length.to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&tensor.data);
    Ok(file)
}

/// Parsed header of a `.npy` file.
struct Header {
    descriptor: String,
    is_fortran: bool,
    shape: Vec<u32>,
}

/// Parses the header of a `.npy` file. Returns it with the offset of the data.
fn header(file: &[u8]) -> Result<(usize, Header), TensorError> {
    let short = || TensorError::Npy("it ends within its header");
    let rest = file.strip_prefix(MAGIC).ok_or(TensorError::Npy("it does not begin as one"))?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(short)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        [2 | 3, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
            (u32::from_le_bytes(*length), rest)
        }
        _ => return Err(TensorError::Npy("it has an unknown version")),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > HEADER_MAX {
        return Err(TensorError::Npy("its header is too long"));
    }
    let text = rest.get(..length).ok_or_else(short)?;
    let start = file.len().saturating_sub(rest.len()).saturating_add(length);
    let text = std::str::from_utf8(text).map_err(|_| TensorError::Npy("its header is not text"))?;
    Ok((start, Literal { rest: text }.header()?))
}

/// A parser of the Python literal in a `.npy` header.
struct Literal<'a> {
    rest: &'a str,
}

const NOT_UNDERSTOOD: TensorError = TensorError::Npy("its header is not understood");

impl<'a> Literal<'a> {
    /// Parses the header's dictionary. Its entries may be in any order.
    fn header(mut self) -> Result<Header, TensorError> {
        let (mut descriptor, mut is_fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let key = self.string()?;
            self.expect(':')?;
            let is_new = match key {
                "descr" => descriptor.replace(self.descriptor()?).is_none(),
                "fortran_order" => is_fortran.replace(self.bool()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => false,
            };
            if !is_new {
                return Err(NOT_UNDERSTOOD);
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        match (descriptor, is_fortran, shape, self.rest.trim()) {
            (Some(descriptor), Some(is_fortran), Some(shape), "") => {
                Ok(Header { descriptor: descriptor.to_owned(), is_fortran, shape })
            }
            _ => Err(NOT_UNDERSTOOD),
        }
    }

    fn descriptor(&mut self) -> Result<&'a str, TensorError> {
        match self.next() {
            Some('[') => Err(TensorError::Npy("its elements are structures, which tensors do not have")),
            Some('(') => Err(TensorError::Npy("its elements are arrays, which tensors do not have")),
            _ => self.string(),
        }
    }

    fn bool(&mut self) -> Result<bool, TensorError> {
        self.next();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(NOT_UNDERSTOOD)
    }

    /// Parses a tuple of integers. A tuple of one integer may end with a comma.
    fn shape(&mut self) -> Result<Vec<u32>, TensorError> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            if shape.len() == DIMENSIONS_MAX {
                return Err(TensorError::Shape);
            }
            shape.push(self.integer()?);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn integer(&mut self) -> Result<u32, TensorError> {
        self.next();
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at_checked(digits).unwrap_or_default();
        if number.is_empty() {
            return Err(NOT_UNDERSTOOD);
        }
        // Python 2 appended `L` to long integers, so skip it.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        number.parse().map_err(|_| TensorError::Shape)
    }

    /// Parses a string in single or double quotes that contains no escapes.
    fn string(&mut self) -> Result<&'a str, TensorError> {
        let Some(mark @ ('\'' | '"')) = self.next() else { return Err(NOT_UNDERSTOOD) };
        let (text, rest) = self.rest.get(1..).unwrap_or_default().split_once(mark).ok_or(NOT_UNDERSTOOD)?;
        if text.contains(['\\', '\n']) {
            return Err(NOT_UNDERSTOOD);
        }
        self.rest = rest;
        Ok(text)
    }

    /// Skips white space and returns the next character without consuming it.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, sign: char) -> bool {
        let is_it = self.next() == Some(sign);
        if is_it {
            self.rest = self.rest.strip_prefix(sign).unwrap_or_default();
        }
        is_it
    }

    fn expect(&mut self, sign: char) -> Result<(), TensorError> {
        if self.take(sign) { Ok(()) } else { Err(NOT_UNDERSTOOD) }
    }
}

/// Reorders elements from Fortran order to C order. The length of `data` must match `shape`.
fn in_c_order(data: Bytes, shape: &[u32], size: usize) -> Bytes {
    let mut dimensions = Dimension::of(shape, size);
    if dimensions.len() < 2 || data.is_empty() {
        return data; // Both orders are the same.
    }
    let mut ordered = Vec::with_capacity(data.len());
    let mut offset = 0_usize;
    while ordered.len() < data.len() {
        ordered.extend_from_slice(data.get(offset..offset.saturating_add(size)).unwrap_or_default());
        // Advance the indexes like an odometer: the last dimension first, and the others when it wraps.
        for dimension in dimensions.iter_mut().rev() {
            dimension.at = dimension.at.saturating_add(1);
            offset = offset.saturating_add(dimension.distance);
            if dimension.at < dimension.size {
                break;
            }
            offset = offset.saturating_sub(dimension.at.saturating_mul(dimension.distance));
            dimension.at = 0;
        }
    }
    ordered.into()
}

/// A tensor dimension and the current index in it.
struct Dimension {
    /// Number of elements in this dimension, at least two.
    size: usize,
    /// Distance in bytes between elements that are adjacent in this dimension.
    distance: usize,
    at: usize,
}

impl Dimension {
    /// Returns the dimensions of `shape` that have more than one element. Dimensions of one element do not affect the
    /// order, and their index would wrap at every element.
    fn of(shape: &[u32], size: usize) -> Vec<Self> {
        let mut distance = size;
        let mut dimensions = Vec::with_capacity(shape.len());
        for size in shape.iter().filter(|size| **size != 1) {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            dimensions.push(Self { size, distance, at: 0 });
            distance = distance.saturating_mul(size);
        }
        dimensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_one_element_cost_no_steps() {
        let mut shape = vec![1; 62];
        shape.extend([2, 3]);
        let dimensions: Vec<_> = Dimension::of(&shape, 4).iter().map(|found| (found.size, found.distance)).collect();
        assert_eq!(dimensions, [(2, 4), (3, 8)]);
        let data = Bytes::from_static(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(in_c_order(data, &shape, 1)[..], [0, 2, 4, 1, 3, 5]);
    }
}
