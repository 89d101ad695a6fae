//! Storage of metadata entries. They are stored contiguously in their wire format, so that a single copy suffices to
//! send or receive them. Small metadata is stored inline.

use frisbee::tlv::{put_varint, take_varint};

/// Size in bytes of the inline storage for metadata. Sufficient for a `traceparent` entry and another short entry.
const INLINE_LEN: usize = 84;

/// Item type that identifies a metadata entry in the prefix of a call.
pub(crate) const ENTRY: u8 = 2;

/// Flag in the stored item type of an entry. If set, `Debug` output omits the value.
const SENSITIVE: u8 = 0x80;

/// Length in bytes of the header of a short metadata entry: its type, its length and the length of its key. Longer
/// entries encode these lengths in several bytes.
const SHORT_HEAD: usize = 3;

/// Metadata entries in insertion order, each consisting of a header, a key and a value.
#[derive(Clone)]
pub(super) struct Entries {
    /// Inline buffer that saves an allocation if there are only a few short entries. The entries occupy
    /// `inline[..length]`.
    inline: [u8; INLINE_LEN],
    length: u8,
    /// Whether any entry may be flagged as [`SENSITIVE`].
    has_sensitive: bool,
    count: u16,
    /// Total length in bytes of all keys and values.
    content_len: u16,
    /// Heap buffer that holds the entries if they do not fit inline.
    apart: Vec<u8>,
}

// Inline entries must have lengths below 0x80, because larger ones take several bytes.
const _: () = assert!(INLINE_LEN < 0x80);

/// A metadata entry, borrowed from the encoded entries.
pub(super) struct Entry<'a> {
    /// Key of the entry in lowercase ASCII.
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    is_sensitive: bool,
    /// Offset of the entry's first byte within the encoded entries.
    begin: usize,
    end: usize,
}

impl<'a> Entry<'a> {
    /// Returns the key of the entry as a string.
    pub(super) fn name(&self) -> &'a str {
        std::str::from_utf8(self.key).unwrap_or_default()
    }

    /// Returns whether `Debug` output must omit the value.
    pub(super) fn is_hidden(&self) -> bool {
        self.is_sensitive || is_secret(self.name())
    }
}

impl Entries {
    pub(super) const fn new() -> Self {
        Self { inline: [0; INLINE_LEN], length: 0, has_sensitive: false, count: 0, content_len: 0, apart: Vec::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.count.into()
    }

    /// Returns the total length of all keys and values in bytes.
    pub(super) fn content_len(&self) -> usize {
        self.content_len.into()
    }

    /// Returns the allocated memory in bytes, without the inline storage.
    pub(super) fn memory(&self) -> usize {
        self.apart.capacity()
    }

    /// Returns the encoded entries, including the internal flags of sensitive ones.
    fn bytes(&self) -> &[u8] {
        if self.apart.is_empty() { self.inline.get(..self.length.into()).unwrap_or_default() } else { &self.apart }
    }

    /// Returns the entries in their wire format. Returns `None` if any entry is flagged as sensitive, because the flag
    /// must not be sent.
    pub(super) fn plain_bytes(&self) -> Option<&[u8]> {
        if self.has_sensitive { None } else { Some(self.bytes()) }
    }

    /// Returns the encoded length of all entries.
    fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Appends the entries to a buffer in their wire format, without the internal flags.
    pub(super) fn put(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(self.bytes());
        if self.has_sensitive {
            self.hide_marks(buffer);
        }
    }

    /// Clears the flag [`SENSITIVE`] of all entries. `buffer` must end with the encoding of these entries.
    fn hide_marks(&self, buffer: &mut [u8]) {
        let begin = buffer.len() - self.len();
        for entry in self.iter() {
            if let Some(kind) = buffer.get_mut(begin + entry.begin) {
                *kind = ENTRY;
            }
        }
    }

    /// Returns an iterator over the entries in insertion order.
    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { bytes: self.bytes(), at: 0 }
    }

    /// Returns the first entry with this key, if there is one.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<Entry<'_>> {
        self.iter().find(|entry| entry.key == key)
    }

    /// Adds the first entry inline. Returns `false` without adding it if it does not fit.
    pub(super) fn push_first(&mut self, key: &[u8], value: &[u8]) -> bool {
        let content_len = key.len() + value.len();
        let room = self.inline.get_mut(..SHORT_HEAD + content_len);
        let Some((head, content)) = room.and_then(<[u8]>::split_first_chunk_mut) else { return false };
        let Some((of_key, of_value)) = content.split_at_mut_checked(key.len()) else { return false };
        // All lengths are below 0x80 here, so each takes a single byte.
        *head = [ENTRY, content_len as u8 + 1, key.len() as u8];
        copy::<8>(of_key, key);
        copy::<32>(of_value, value);
        (self.count, self.content_len) = (1, content_len as u16);
        self.length = (SHORT_HEAD + content_len) as u8;
        true
    }

    /// Appends an entry. The caller must check the size limits of metadata first.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        let mut key_len = Vec::new();
        put_varint(&mut key_len, key.len() as u64);
        let mut head = vec![ENTRY];
        put_varint(&mut head, (key_len.len() + key.len() + value.len()) as u64);
        head.append(&mut key_len);
        let entry = [&head, key, value].concat();
        self.count += 1;
        self.content_len += (key.len() + value.len()) as u16; // The sum is at most BYTES_MAX.
        let begin = usize::from(self.length);
        match self.inline.get_mut(begin..begin + entry.len()) {
            Some(room) if self.apart.is_empty() => {
                room.copy_from_slice(&entry);
                self.length += entry.len() as u8; // The sum is at most INLINE_LEN.
            }
            _ => {
                let inline = self.inline.get(..begin).unwrap_or_default();
                self.apart.reserve(inline.len() + entry.len());
                self.apart.extend_from_slice(inline);
                self.length = 0;
                self.apart.extend_from_slice(&entry);
            }
        }
    }

    /// Removes all entries and frees the allocated memory.
    pub(super) fn clear(&mut self) {
        (self.length, self.count, self.content_len, self.has_sensitive) = (0, 0, 0, false);
        if self.apart.capacity() > 0 {
            self.apart = Vec::new();
        }
    }

    /// Removes all entries with this key. Returns whether there were any.
    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let before = self.count;
        while let Some(found) = self.find(key) {
            let (range, content_len) = (found.begin..found.end, found.key.len() + found.value.len());
            self.count -= 1;
            self.content_len -= content_len as u16; // Part of the total.
            if self.apart.is_empty() {
                let length = range.len() as u8; // The range is within `length`.
                self.inline.copy_within(range.end..self.length.into(), range.start);
                self.length -= length;
            } else {
                self.apart.drain(range);
            }
        }
        self.count < before
    }

    /// Flags all values of a key as sensitive. Returns whether the key exists.
    pub(super) fn mark_sensitive(&mut self, key: &[u8]) -> bool {
        let found: Vec<_> = self.iter().filter(|entry| entry.key == key).map(|entry| entry.begin).collect();
        for begin in &found {
            let bytes = if self.apart.is_empty() { &mut self.inline[..] } else { &mut self.apart };
            if let Some(kind) = bytes.get_mut(*begin) {
                *kind |= SENSITIVE;
                self.has_sensitive = true;
            }
        }
        !found.is_empty()
    }
}

/// Copies a slice. Lengths between `HALF` and twice `HALF` are copied inline, because calling `memcpy` would take
/// longer.
fn copy<const HALF: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<HALF>(), from.last_chunk::<HALF>())
        && from.len() <= 2 * HALF
        && let Some(begin) = to.first_chunk_mut()
    {
        *begin = *first;
        if let Some(end) = to.last_chunk_mut() {
            *end = *last;
        }
    } else {
        to.copy_from_slice(from);
    }
}

impl Default for Entries {
    fn default() -> Self {
        Self::new()
    }
}

impl Eq for Entries {}

impl PartialEq for Entries {
    /// Compares keys and values, ignoring the sensitivity flags.
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.iter().zip(other.iter());
        self.count == other.count && pairs.all(|(one, two)| (one.key, one.value) == (two.key, two.value))
    }
}

/// Iterator over metadata entries.
pub(super) struct Iter<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let (kind, mut rest) = self.bytes.get(self.at..)?.split_first()?;
        let length = take_varint(&mut rest)?;
        let (mut item, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let key_len = take_varint(&mut item)?;
        let (key, value) = item.split_at_checked(usize::try_from(key_len).ok()?)?;
        let begin = std::mem::replace(&mut self.at, self.bytes.len() - behind.len());
        Some(Entry { key, value, is_sensitive: kind & SENSITIVE != 0, begin, end: self.at })
    }
}

/// Returns whether the name of a metadata key suggests that its value is secret.
fn is_secret(key: &str) -> bool {
    let name = key.strip_suffix("-bin").unwrap_or(key);
    matches!(name, "authorization" | "proxy-authorization" | "cookie" | "set-cookie")
        || matches!(name.rsplit(['-', '_', '.']).next(), Some("token" | "key" | "secret"))
}
