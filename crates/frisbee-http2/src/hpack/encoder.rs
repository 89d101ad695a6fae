//! Encoding of field blocks.
//!
//! # Decisions
//!
//! **The table is frozen once it is full.** Fields that are the same in all messages of a connection are inserted at
//! their first use. Insertions stop before the first eviction, so entries never move, and the block of a reply consists
//! of a few constant bytes. Other fields are literals without Huffman coding, because coding them costs more than it
//! saves.

use super::table::{STATIC, Table};
use super::{TABLE_SIZE, form, huffman};

/// Maximum size in bytes of a value that is added to the dynamic table, which has space for eight of them.
const INSERTED_MAX: usize = 480;

/// Names of fields that usually have the same value in all messages of a connection.
const REPEATED: [&[u8]; 14] = [
    b":authority",
    b":path",
    b"accept",
    b"accept-encoding",
    b"content-type",
    b"grpc-accept-encoding",
    b"grpc-encoding",
    b"grpc-status",
    b"origin",
    b"server",
    b"te",
    b"trailer",
    b"user-agent",
    b"vary",
];

/// HPACK encoder for the field blocks that a connection sends.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// Whether the size of the dynamic table has changed since the last block.
    has_resized: bool,
}

/// State of an [`Encoder`], for returning to it if a block is not sent.
#[derive(Clone, Copy, Debug)]
pub struct EncoderMark {
    len: usize,
    has_resized: bool,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// Creates an encoder with an empty dynamic table of 4 KiB.
    pub fn new() -> Self {
        Self { table: Table::new(TABLE_SIZE), has_resized: false }
    }

    /// Returns the memory of the dynamic table in bytes.
    pub fn memory(&self) -> usize {
        self.table.memory()
    }

    /// Limits the size of the dynamic table to the size that the peer accepts (SETTINGS_HEADER_TABLE_SIZE), and to 4
    /// KiB.
    pub fn set_size_max(&mut self, size_max: u32) {
        let size_max = TABLE_SIZE.min(size_max as usize);
        if size_max != self.table.size_max() {
            self.table.resize(0);
            self.table.resize(size_max);
            self.has_resized = true;
        }
    }

    /// Returns the current state of the encoder. Pass it to [`withdraw`](Self::withdraw) to return to this state.
    pub fn mark(&self) -> EncoderMark {
        EncoderMark { len: self.table.len(), has_resized: self.has_resized }
    }

    /// Reverts all blocks that were encoded since `mark`. Call this if their bytes will not be sent.
    pub fn withdraw(&mut self, mark: EncoderMark) {
        self.table.truncate(mark.len);
        self.has_resized = mark.has_resized;
    }

    /// Begins a field block. Appends a table size update if the size of the table has changed.
    pub fn begin(&mut self, block: &mut Vec<u8>) {
        if std::mem::take(&mut self.has_resized) {
            // RFC 7541, section 4.2: "the smallest maximum table size that occurs in that interval MUST be signaled in
            // a dynamic table size update". A size of 0 evicts all entries, as this end has done.
            put_integer(block, form::SIZE_UPDATE, 0);
            put_integer(block, form::SIZE_UPDATE, self.table.size_max());
        }
    }

    /// Appends a header field. A secret field is encoded as never indexed, so that no intermediary may add it to a
    /// compression table.
    pub fn put(&mut self, name: &[u8], value: &[u8], is_sensitive: bool, block: &mut Vec<u8>) {
        if !is_sensitive && let Some(index) = self.index_of(name, value) {
            return put_integer(block, form::INDEXED, index);
        }
        let is_inserted = !is_sensitive && self.is_worth_inserting(name, value);
        let form = match (is_sensitive, is_inserted) {
            (true, _) => form::NEVER_INDEXED,
            (false, true) => form::INSERTED,
            (false, false) => form::NOT_INDEXED,
        };
        let is_name = |(other, _): &(&str, &str)| other.as_bytes() == name;
        let name_index = STATIC.iter().position(is_name).map_or(0, |at| at.saturating_add(1));
        put_integer(block, form, name_index);
        if name_index == 0 {
            put_string(block, name, is_inserted);
        }
        put_string(block, value, is_inserted);
        if is_inserted {
            self.table.insert(name, value);
        }
    }

    /// Returns the index of a field in the static or dynamic table.
    fn index_of(&self, name: &[u8], value: &[u8]) -> Option<usize> {
        let dynamic = |age: &usize| STATIC.len().checked_add(*age);
        let mut inserted = (1..=self.table.len()).filter_map(|age| dynamic(&age));
        let found = inserted.find(|index| self.table.get(*index) == Some((name, value)));
        // A static entry with an empty value represents only a name.
        let is_same = |(a, b): &(&str, &str)| !b.is_empty() && a.as_bytes() == name && b.as_bytes() == value;
        found.or_else(|| STATIC.iter().position(is_same)?.checked_add(1))
    }

    fn is_worth_inserting(&self, name: &[u8], value: &[u8]) -> bool {
        let repeats = REPEATED.contains(&name) && (name != b"grpc-status" || value == b"0");
        repeats && value.len() <= INSERTED_MAX && self.table.has_room(name, value)
    }
}

/// Appends an integer after the prefix bits of a field representation: RFC 7541, section 5.1.
fn put_integer(block: &mut Vec<u8>, (first, bits): (u8, u32), value: usize) {
    let mask = u8::MAX.checked_shr(8_u32.saturating_sub(bits)).unwrap_or(0);
    match u8::try_from(value) {
        Ok(value) if value < mask => block.push(first | value),
        _ => {
            block.push(first | mask);
            frisbee_core::tlv::put_varint(block, (value as u64).saturating_sub(mask.into()));
        }
    }
}

/// Appends a string literal, Huffman-coded if `is_coded` is set: RFC 7541, section 5.2.
fn put_string(block: &mut Vec<u8>, text: &[u8], is_coded: bool) {
    let length = if is_coded { huffman::encoded_len(text) } else { text.len() };
    if is_coded && length < text.len() {
        put_integer(block, form::HUFFMAN, length);
        huffman::encode(text, block);
    } else {
        put_integer(block, (0, form::HUFFMAN.1), text.len());
        block.extend_from_slice(text);
    }
}
