//! Decoding of field blocks.
//!
//! # Decisions
//!
//! Each block is decoded completely, because every field may change the state for later blocks. The decoded size is
//! limited, because a single byte can repeat an entry of 4 KiB. The caller decides which fields to keep.

use super::table::Table;
use super::{TABLE_SIZE, form, huffman};
use std::fmt;

/// Maximum decoded size of a field block, counted as in RFC 7541, section 4.1. Equal to four times the maximum size of
/// an accepted head. A legitimate peer that sends too many fields thus receives an error response instead of being
/// disconnected.
const DECODED_MAX: usize = 64 * 1024;

/// Maximum number of table size updates per field block. RFC 7541, section 4.2, permits two: one for the smallest size,
/// and one for the final size.
const UPDATES_MAX: u32 = 2;

/// A decoded field.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field<'a> {
    /// Name of the field.
    pub name: &'a [u8],
    /// Value of the field.
    pub value: &'a [u8],
    /// Whether the sender forbids adding the field to a table, because its value is secret (RFC 7541, section 7.1.3).
    pub is_sensitive: bool,
}

/// Error returned for an invalid field block. The connection must be closed, because the compression tables of its ends
/// may now differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// The field block ends within a field.
    Truncated,
    /// An integer in the field block exceeds 2^28.
    Integer,
    /// An index refers to an entry that neither the static nor the dynamic table contains.
    Index(u32),
    /// A string is not valid Huffman code.
    Huffman,
    /// A table size update exceeds the limit, comes after a field, or follows two others.
    SizeUpdate,
    /// The decoded size of the field block exceeds 64 KiB.
    TooLarge,
}

impl DecodeError {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Truncated => "field block ends within a field",
            Self::Integer => "integer of a field block is too large",
            Self::Index(_) => "field block has an unknown index",
            Self::Huffman => "invalid Huffman coding in a field block",
            Self::SizeUpdate => "invalid update of the table size in a field block",
            Self::TooLarge => "field block exceeds 64 KiB when decoded",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        if let Self::Index(index) = self { write!(f, ": {index}") } else { Ok(()) }
    }
}

impl std::error::Error for DecodeError {}

/// HPACK decoder for the field blocks that a connection receives. Contains the dynamic table.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// Maximum size that the peer may choose for the dynamic table.
    size_max: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Creates a decoder with an empty dynamic table of 4 KiB.
    pub fn new() -> Self {
        Self::with_size(TABLE_SIZE)
    }

    pub(super) fn with_size(size_max: usize) -> Self {
        Self { table: Table::new(size_max), size_max, name: Vec::new(), value: Vec::new() }
    }

    /// Returns the memory in bytes of the dynamic table and the buffers.
    pub fn memory(&self) -> usize {
        self.table.memory().saturating_add(self.name.capacity()).saturating_add(self.value.capacity())
    }

    /// Decodes a field block and passes each field to `each`. Returns whether the block has changed the dynamic table.
    /// If it has not, the same bytes decode to the same fields until another block changes the table.
    ///
    /// # Errors
    ///
    /// If the block is invalid or its decoded size exceeds 64 KiB. The decoder must not be used afterwards.
    pub fn decode(&mut self, block: &[u8], mut each: impl FnMut(Field<'_>)) -> Result<bool, DecodeError> {
        let mut rest = block;
        let (mut updates, mut decoded) = (0_u32, 0_usize);
        let (mut has_fields, mut has_changed) = (false, false);
        while let Some((&first, tail)) = rest.split_first() {
            rest = tail;
            if first & 0xe0 == form::SIZE_UPDATE.0 {
                // RFC 7541, section 4.2: "This dynamic table size update MUST occur at the beginning of the first
                // header block following the change to the dynamic table size."
                updates = updates.saturating_add(1);
                let size = integer(&mut rest, first, form::SIZE_UPDATE.1)? as usize;
                if has_fields || updates > UPDATES_MAX || size > self.size_max {
                    return Err(DecodeError::SizeUpdate);
                }
                self.table.resize(size);
                has_changed = true;
                continue;
            }
            has_fields = true;
            let (cost, is_inserted) = self.field(first, &mut rest, &mut each)?;
            has_changed |= is_inserted;
            decoded = decoded.saturating_add(cost);
            if decoded > DECODED_MAX {
                return Err(DecodeError::TooLarge);
            }
        }
        Ok(has_changed)
    }

    /// Decodes the field that starts with the byte `first`. Returns its size and whether it was inserted into the
    /// dynamic table.
    fn field(
        &mut self,
        first: u8,
        rest: &mut &[u8],
        each: &mut impl FnMut(Field<'_>),
    ) -> Result<(usize, bool), DecodeError> {
        if first & form::INDEXED.0 != 0 {
            let index = integer(rest, first, form::INDEXED.1)?;
            let (name, value) = self.table.get(index as usize).ok_or(DecodeError::Index(index))?;
            each(Field { name, value, is_sensitive: false });
            return Ok((Table::cost(name, value), false));
        }
        let is_inserted = first & form::INSERTED.0 != 0;
        let is_sensitive = !is_inserted && first & form::NEVER_INDEXED.0 != 0;
        let index = integer(rest, first, if is_inserted { form::INSERTED.1 } else { form::NOT_INDEXED.1 })?;
        let name = if index == 0 {
            string(rest, &mut self.name)?
        } else {
            // Copy the name, because the insertion may evict the entry that contains it.
            let (name, _) = self.table.get(index as usize).ok_or(DecodeError::Index(index))?;
            self.name.clear();
            self.name.extend_from_slice(name);
            &self.name
        };
        let value = string(rest, &mut self.value)?;
        each(Field { name, value, is_sensitive });
        if is_inserted {
            self.table.insert(name, value);
        }
        Ok((Table::cost(name, value), is_inserted))
    }
}

#[cfg(test)]
impl Decoder {
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn set_size_max(&mut self, size_max: usize) {
        self.size_max = size_max;
    }
}

#[cfg(test)]
impl<'a> Field<'a> {
    pub(crate) fn for_test(name: &'a [u8], value: &'a [u8]) -> Self {
        Self { name, value, is_sensitive: false }
    }
}

/// Decodes an integer that starts with the byte `first`: RFC 7541, section 5.1.
fn integer(rest: &mut &[u8], first: u8, bits: u32) -> Result<u32, DecodeError> {
    let mask = u8::MAX.checked_shr(8_u32.saturating_sub(bits)).unwrap_or(0);
    let mut value = u32::from(first & mask);
    if first & mask < mask {
        return Ok(value);
    }
    // Four groups of seven bits suffice for every length and index in a block.
    for shift in [0, 7, 14, 21] {
        let (&byte, tail) = rest.split_first().ok_or(DecodeError::Truncated)?;
        *rest = tail;
        value = value.saturating_add(u32::from(byte & 0x7f) << shift);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(DecodeError::Integer)
}

/// Decodes a string literal: RFC 7541, section 5.2. If it is Huffman-coded, the decoded text is stored in `buffer`.
fn string<'a, 'b: 'a>(rest: &mut &'b [u8], buffer: &'a mut Vec<u8>) -> Result<&'a [u8], DecodeError> {
    let (&first, tail) = rest.split_first().ok_or(DecodeError::Truncated)?;
    *rest = tail;
    let length = integer(rest, first, form::HUFFMAN.1)? as usize;
    let (string, tail) = rest.split_at_checked(length).ok_or(DecodeError::Truncated)?;
    *rest = tail;
    if first & form::HUFFMAN.0 == 0 {
        return Ok(string);
    }
    buffer.clear();
    huffman::decode(string, buffer)?;
    Ok(buffer)
}
