//! The memory layout of metadata entries: their wire form, in a row, in place as long as they are few. So they are sent
//! by one copy, and those of a peer are copied as they came.

use frisbee::tlv::{put_varint, take_varint};

/// The bytes without a separate allocation: enough for a `traceparent` and another short entry.
const INLINE_LEN: usize = 84;

/// The type of an entry among the items of a prefix.
pub(crate) const ENTRY: u8 = 2;

/// In the type of an entry in memory: `Debug` hides its value.
const SENSITIVE: u8 = 0x80;

/// The bytes in front of a short entry: its type, its length, and the length of its key. A longer one has lengths of
/// several bytes.
const SHORT_HEAD: usize = 3;

/// Entries, each with a head, a key and a value, in the order of insertion.
#[derive(Clone)]
pub(super) struct Entries {
    /// All of them while they fit: `in_place[..length]`.
    inline: [u8; INLINE_LEN],
    length: u8,
    /// One may be [`SENSITIVE`].
    has_sensitive: bool,
    /// How many there are.
    count: u16,
    /// The bytes of all keys and values.
    content_len: u16,
    /// All of them otherwise.
    apart: Vec<u8>,
}

// Lengths from 0x80 on take several bytes.
const _: () = assert!(INLINE_LEN < 0x80);

/// An entry of metadata.
pub(super) struct Entry<'a> {
    /// In lower case, which is ASCII.
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    is_sensitive: bool,
    /// Where it begins and ends.
    begin: usize,
    end: usize,
}

impl<'a> Entry<'a> {
    /// The key as a text.
    pub(super) fn name(&self) -> &'a str {
        std::str::from_utf8(self.key).unwrap_or_default()
    }

    /// Whether `Debug` hides the value.
    pub(super) fn is_hidden(&self) -> bool {
        self.is_sensitive || is_secret(self.name())
    }
}

impl Entries {
    pub(super) const fn new() -> Self {
        Self { inline: [0; INLINE_LEN], length: 0, has_sensitive: false, count: 0, content_len: 0, apart: Vec::new() }
    }

    /// The number of entries.
    pub(super) fn count(&self) -> usize {
        self.count.into()
    }

    /// The bytes of all keys and values.
    pub(super) fn content_len(&self) -> usize {
        self.content_len.into()
    }

    /// The memory apart, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.apart.capacity()
    }

    /// The entries as they are sent, but for marks; see [`put`](Self::put).
    fn bytes(&self) -> &[u8] {
        if self.apart.is_empty() { self.inline.get(..self.length.into()).unwrap_or_default() } else { &self.apart }
    }

    /// The entries as they are sent, if none has a mark.
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

    /// The length of all entries as they are sent.
    fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Writes the entries as they are sent.
    pub(super) fn put(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(self.bytes());
        if self.has_sensitive {
            self.hide_marks(buffer);
        }
    }

    /// Takes the marks off entries at the end of a buffer.
    fn hide_marks(&self, buffer: &mut [u8]) {
        let begin = buffer.len() - self.len();
        for entry in self.iter() {
            if let Some(kind) = buffer.get_mut(begin + entry.begin) {
                *kind = ENTRY;
            }
        }
    }

    /// The entries, the first that was set first.
    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { bytes: self.bytes(), at: 0 }
    }

    /// The first entry of a key.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<Entry<'_>> {
        self.iter().find(|entry| entry.key == key)
    }

    /// Adds the first entry, if it has room in place.
    pub(super) fn push_first(&mut self, key: &[u8], value: &[u8]) -> bool {
        let content_len = key.len() + value.len();
        let room = self.inline.get_mut(..SHORT_HEAD + content_len);
        let Some((head, content)) = room.and_then(<[u8]>::split_first_chunk_mut) else { return false };
        let Some((of_key, of_value)) = content.split_at_mut_checked(key.len()) else { return false };
        // All numbers are below IN_PLACE.
        *head = [ENTRY, content_len as u8 + 1, key.len() as u8];
        copy::<8>(of_key, key);
        copy::<32>(of_value, value);
        (self.count, self.content_len) = (1, content_len as u16);
        self.length = (SHORT_HEAD + content_len) as u8;
        true
    }

    /// Appends an entry. The lengths are within the limits of metadata.
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
                self.length += entry.len() as u8; // At most IN_PLACE.
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

    /// Takes all entries out, and gives back what memory they had apart.
    pub(super) fn clear(&mut self) {
        (self.length, self.count, self.content_len, self.has_sensitive) = (0, 0, 0, false);
        if self.apart.capacity() > 0 {
            self.apart = Vec::new();
        }
    }

    /// Takes the entries of a key out. Returns whether there were any.
    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let before = self.count;
        while let Some(found) = self.find(key) {
            let (range, content_len) = (found.begin..found.end, found.key.len() + found.value.len());
            self.count -= 1;
            self.content_len -= content_len as u16; // That of all.
            if self.apart.is_empty() {
                let length = range.len() as u8; // Within `length`.
                self.inline.copy_within(range.end..self.length.into(), range.start);
                self.length -= length;
            } else {
                self.apart.drain(range);
            }
        }
        self.count < before
    }

    /// Marks the values of a key as secrets. Returns whether the key is there.
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

/// Copies bytes of the same length. Of lengths from `HALF` to twice that without a call, which would take longer.
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
    /// Sensitive bytes do not matter.
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.iter().zip(other.iter());
        self.count == other.count && pairs.all(|(one, two)| (one.key, one.value) == (two.key, two.value))
    }
}

/// Iterates over entries.
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

/// Whether the name of a key marks its value as a secret.
fn is_secret(key: &str) -> bool {
    let name = key.strip_suffix("-bin").unwrap_or(key);
    matches!(name, "authorization" | "proxy-authorization" | "cookie" | "set-cookie")
        || matches!(name.rsplit(['-', '_', '.']).next(), Some("token" | "key" | "secret"))
}
