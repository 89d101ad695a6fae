//! Cache of received heads. This saves decompressing and validating identical blocks again.
//!
//! # Decisions
//!
//! After the first call of a method, a gRPC client sends the same block of 7 to 23 bytes for each call. A block decodes
//! to the same fields unless the dynamic table has changed, so every change clears the cache. Blocks with secrets are
//! not cached.

use crate::Head;
use crate::head::HeadKind;

/// Number of heads that are cached per connection. Most connections call only a few methods at a time.
const ENTRIES: usize = 4;

/// Maximum length in bytes of a field block that is cached. Longer blocks usually belong to the first call of a method,
/// and change the compression table.
const BLOCK_MAX: usize = 128;

/// Maximum size in bytes of a cached head, which limits the memory of the cache.
const HEAD_MAX: usize = 2048;

#[derive(Debug)]
struct Entry {
    kind: HeadKind,
    block: Vec<u8>,
    head: Head,
    content_length: Option<u64>,
}

/// Cache of the heads that a connection has decoded most recently, indexed by their encoded field blocks.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    entries: Vec<Entry>,
    oldest: usize,
    /// Number of the latest cache entry. Callers recognize a repeated head by its number.
    serial: u64,
}

impl Memo {
    pub(crate) fn memory(&self) -> usize {
        let entry = |entry: &Entry| entry.block.capacity().saturating_add(entry.head.memory());
        let entries = self.entries.capacity().saturating_mul(size_of::<Entry>());
        self.entries.iter().map(entry).fold(entries, usize::saturating_add)
    }

    /// Clears the cache. Required after each change of the compression table.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.oldest = 0;
    }

    /// Copies the cached fields of a field block to `head` and returns the declared length of the body. Returns `None`
    /// if the block is not cached.
    pub(crate) fn find(&self, kind: HeadKind, block: &[u8], head: &mut Head) -> Option<Option<u64>> {
        let entry = self.entries.iter().find(|entry| entry.kind == kind && entry.block == block)?;
        head.clone_from(&entry.head);
        Some(entry.content_length)
    }

    /// Adds a valid head to the cache and numbers it, unless it is too long, is truncated or contains secrets.
    pub(crate) fn keep(&mut self, kind: HeadKind, block: &[u8], head: &mut Head, content_length: Option<u64>) {
        if block.len() > BLOCK_MAX || head.size() > HEAD_MAX || head.has_secrets() || head.is_truncated() {
            return;
        }
        self.serial = self.serial.wrapping_add(1);
        head.set_memo(self.serial);
        if self.entries.len() < ENTRIES {
            self.entries.push(Entry { kind, block: block.to_vec(), head: head.clone(), content_length });
            return;
        }
        if let Some(oldest) = self.entries.get_mut(self.oldest) {
            (oldest.kind, oldest.content_length) = (kind, content_length);
            oldest.block.clear();
            oldest.block.extend_from_slice(block);
            oldest.head.clone_from(head);
        }
        self.oldest = self.oldest.wrapping_add(1) % ENTRIES;
    }
}
