//! Storage of metadata. The entries are stored contiguously in their wire format, inline while they are small, so that
//! they can be sent and received by a single copy.

use frisbee::tlv::{put_varint, take_varint};

/// Size of the inline storage in bytes: enough for a `traceparent` and another short entry.
const INLINE_LEN: usize = 84;

/// Type of the prefix item that contains a metadata entry.
pub(crate) const ENTRY: u8 = 2;

/// Flag in the stored type of an entry: its value is omitted from `Debug` output.
const SENSITIVE: u8 = 0x80;

/// Length in bytes of the header of a short entry: its type, its length and the length of its key. The lengths of
/// longer entries take several bytes.
const SHORT_HEAD: usize = 3;

/// Entries in insertion order, each with a header, a key and a value.
#[derive(Clone)]
pub(super) struct Entries {
    /// Buffer for a few short entries, to save an allocation. Contains them in `inline[..length]`.
    inline: [u8; INLINE_LEN],
    length: u8,
    /// Whether any entry may have the flag [`SENSITIVE`].
    has_sensitive: bool,
    /// Number of entries.
    count: u16,
    /// Total length of all keys and values.
    content_len: u16,
    /// Buffer for the entries if they do not fit inline.
    apart: Vec<u8>,
}

// Lengths of 0x80 and above take several bytes.
const _: () = assert!(INLINE_LEN < 0x80);

/// A metadata entry, borrowed from the encoded entries.
pub(super) struct Entry<'a> {
    /// The key, which is lowercase ASCII.
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    is_sensitive: bool,
    /// Offset of the first byte of the entry.
    begin: usize,
    end: usize,
}

impl<'a> Entry<'a> {
    /// Returns the key as a string.
    pub(super) fn name(&self) -> &'a str {
        std::str::from_utf8(self.key).unwrap_or_default()
    }

    /// Returns whether `Debug` output omits the value.
    pub(super) fn is_hidden(&self) -> bool {
        self.is_sensitive || is_secret(self.name())
    }
}

impl Entries {
    pub(super) const fn new() -> Self {
        Self { inline: [0; INLINE_LEN], length: 0, has_sensitive: false, count: 0, content_len: 0, apart: Vec::new() }
    }

    /// Returns the number of entries.
    pub(super) fn count(&self) -> usize {
        self.count.into()
    }

    /// Returns the total length of all keys and values.
    pub(super) fn content_len(&self) -> usize {
        self.content_len.into()
    }

    /// Returns the allocated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.apart.capacity()
    }

    /// Returns the entries as encoded, with the internal flags of sensitive ones.
    fn bytes(&self) -> &[u8] {
        if self.apart.is_empty() { self.inline.get(..self.length.into()).unwrap_or_default() } else { &self.apart }
    }

    /// Returns the entries in their wire format. Returns `None` if any entry has the flag of sensitive values, which
    /// must not be sent.
    pub(super) fn plain_bytes(&self) -> Option<&[u8]> {
        if self.has_sensitive { None } else { Some(self.bytes()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        if self.apart.is_empty() {
            self.inline.get_mut(..self.length.into()).unwrap_or_default()
        } else {
            &mut self.apart
        }
    }

    /// Returns the encoded length of all entries.
    fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Appends the entries to a buffer in their wire format, without flags.
    pub(super) fn put(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(self.bytes());
        if self.has_sensitive {
            self.hide_marks(buffer);
        }
    }

    /// Clears the flags of the entries at the end of a buffer.
    fn hide_marks(&self, buffer: &mut [u8]) {
        let begin = buffer.len() - self.len();
        for entry in self.iter() {
            if let Some(kind) = buffer.get_mut(begin + entry.begin) {
                *kind = ENTRY;
            }
        }
    }

    /// Returns the entries in insertion order.
    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { bytes: self.bytes(), at: 0 }
    }

    /// Returns the first entry with this key.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<Entry<'_>> {
        self.iter().find(|entry| entry.key == key)
    }

    /// Adds the first entry if it fits inline. Returns whether it does.
    pub(super) fn push_first(&mut self, key: &[u8], value: &[u8]) -> bool {
        let content_len = key.len() + value.len();
        let room = self.inline.get_mut(..SHORT_HEAD + content_len);
        let Some((head, content)) = room.and_then(<[u8]>::split_first_chunk_mut) else { return false };
        let Some((of_key, of_value)) = content.split_at_mut_checked(key.len()) else { return false };
        // All lengths are below 0x80.
        *head = [ENTRY, content_len as u8 + 1, key.len() as u8];
        copy::<8>(of_key, key);
        copy::<32>(of_value, value);
        (self.count, self.content_len) = (1, content_len as u16);
        self.length = (SHORT_HEAD + content_len) as u8;
        true
    }

    /// Appends an entry. The caller must have checked the limits of metadata.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        let mut key_len = Vec::new();
        put_varint(&mut key_len, key.len() as u64);
        let mut head = vec![ENTRY];
        put_varint(&mut head, (key_len.len() + key.len() + value.len()) as u64);
        head.append(&mut key_len);
        let entry = [&head, key, value].concat();
        self.count += 1;
        self.content_len += (key.len() + value.len()) as u16; // At most BYTES_MAX.
        let begin = usize::from(self.length);
        match self.inline.get_mut(begin..begin + entry.len()) {
            Some(room) if self.apart.is_empty() => {
                room.copy_from_slice(&entry);
                self.length += entry.len() as u8; // At most INLINE_LEN.
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

    /// Removes the entries of a key. Returns whether the key existed.
    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let before = self.count;
        while let Some(found) = self.find(key) {
            let (range, content_len) = (found.begin..found.end, found.key.len() + found.value.len());
            self.count -= 1;
            self.content_len -= content_len as u16; // At most the total.
            if self.apart.is_empty() {
                let length = range.len() as u8; // At most `length`.
                self.inline.copy_within(range.end..self.length.into(), range.start);
                self.length -= length;
            } else {
                self.apart.drain(range);
            }
        }
        self.count < before
    }

    /// Flags the values of a key as sensitive. Returns whether the key exists.
    pub(super) fn mark_sensitive(&mut self, key: &[u8]) -> bool {
        let found: Vec<_> = self.iter().filter(|entry| entry.key == key).map(|entry| entry.begin).collect();
        for begin in &found {
            if let Some(kind) = self.bytes_mut().get_mut(*begin) {
                *kind |= SENSITIVE;
                self.has_sensitive = true;
            }
        }
        !found.is_empty()
    }
}

/// Copies a slice. Lengths between `HALF` and twice that are copied inline, because a call to `memcpy` would take
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
    /// Compares the entries without their flags.
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.iter().zip(other.iter());
        self.count == other.count && pairs.all(|(one, two)| (one.key, one.value) == (two.key, two.value))
    }
}

/// Iterator over entries.
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

/// Returns whether the name of a key indicates that its value is secret.
fn is_secret(key: &str) -> bool {
    let name = key.strip_suffix("-bin").unwrap_or(key);
    matches!(name, "authorization" | "proxy-authorization" | "cookie" | "set-cookie")
        || matches!(name.rsplit(['-', '_', '.']).next(), Some("token" | "key" | "secret"))
}
