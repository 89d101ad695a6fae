//! How the entries of metadata lie in memory: one behind the other, in place as long as they are few.

/// The bytes that need no memory of their own: enough for a `traceparent` and a short entry beside it.
const IN_PLACE: usize = 86;

/// The bytes in front of an entry: the lengths of its key and its value, each in two bytes.
const HEAD: usize = 4;

/// In the length of a key, which is far below: `Debug` hides the value.
const SENSITIVE: u16 = 1 << 15;

/// Entries, each with a head, a key and a value, in the order in which they were set.
#[derive(Clone)]
pub(super) struct Entries {
    /// All of them while they fit: `in_place[..length]`.
    in_place: [u8; IN_PLACE],
    length: u8,
    /// How many there are.
    count: u16,
    /// All of them otherwise.
    apart: Vec<u8>,
}

const _: () = assert!(IN_PLACE <= u8::MAX as usize);

/// An entry of metadata.
pub(super) struct Entry<'a> {
    /// In lower case, which is ASCII.
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) is_sensitive: bool,
    /// Where it begins.
    at: usize,
}

impl<'a> Entry<'a> {
    /// The key as a text.
    pub(super) fn name(&self) -> &'a str {
        text(self.key)
    }
}

/// ASCII as a text.
fn text(ascii: &[u8]) -> &str {
    std::str::from_utf8(ascii).unwrap_or_default()
}

impl Entries {
    pub(super) const fn new() -> Self {
        Self { in_place: [0; IN_PLACE], length: 0, count: 0, apart: Vec::new() }
    }

    /// The number of entries.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count.into()
    }

    /// The bytes of all keys and values.
    #[inline]
    pub(super) fn content_len(&self) -> usize {
        self.bytes().len() - HEAD * self.count()
    }

    /// The memory apart, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.apart.capacity()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        if self.apart.is_empty() { self.in_place.get(..self.length.into()).unwrap_or_default() } else { &self.apart }
    }

    /// The entries, the first that was set first.
    #[inline]
    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { bytes: self.bytes(), at: 0 }
    }

    /// The entry of a key.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<Entry<'_>> {
        self.iter().find(|entry| entry.key == key)
    }

    /// Adds an entry behind the others. The lengths are within the limits of metadata.
    #[inline]
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        let [k0, k1] = (key.len() as u16).to_be_bytes(); // At most KEY_MAX.
        let [v0, v1] = (value.len() as u16).to_be_bytes(); // At most BYTES_MAX.
        self.count += 1;
        let (begin, behind_head) = (usize::from(self.length), usize::from(self.length) + HEAD);
        let (behind_key, end) = (behind_head + key.len(), behind_head + key.len() + value.len());
        if self.apart.is_empty()
            && let Some(place) = self.in_place.get_mut(begin..end)
        {
            let (head, rest) = place.split_at_mut(HEAD);
            head.copy_from_slice(&[k0, k1, v0, v1]);
            let (of_key, of_value) = rest.split_at_mut(behind_key - behind_head);
            of_key.copy_from_slice(key);
            of_value.copy_from_slice(value);
            self.length = end as u8; // At most IN_PLACE.
            return;
        }
        self.push_apart([k0, k1, v0, v1], key, value);
    }

    #[cold]
    fn push_apart(&mut self, head: [u8; HEAD], key: &[u8], value: &[u8]) {
        let in_place = self.in_place.get(..self.length.into()).unwrap_or_default();
        self.apart.reserve(in_place.len() + HEAD + key.len() + value.len());
        self.apart.extend_from_slice(in_place);
        self.length = 0;
        self.apart.extend_from_slice(&head);
        self.apart.extend_from_slice(key);
        self.apart.extend_from_slice(value);
    }

    /// Takes the entry of a key out. Returns whether it was there.
    #[cold]
    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let Some(found) = self.find(key) else { return false };
        let range = found.at..found.at + HEAD + found.key.len() + found.value.len();
        self.count -= 1;
        if self.apart.is_empty() {
            let length = range.len() as u8; // Within `length`.
            self.in_place.copy_within(range.end..self.length.into(), range.start);
            self.length -= length;
        } else {
            self.apart.drain(range);
        }
        true
    }

    /// Marks the value of a key as a secret. Returns whether the key is there.
    pub(super) fn mark_sensitive(&mut self, key: &[u8]) -> bool {
        let Some(at) = self.find(key).map(|found| found.at) else { return false };
        let bytes = if self.apart.is_empty() { &mut self.in_place[..] } else { &mut self.apart };
        if let Some(head) = bytes.get_mut(at) {
            *head |= (SENSITIVE >> 8) as u8; // The upper half.
        }
        true
    }
}

impl Default for Entries {
    fn default() -> Self {
        Self::new()
    }
}

impl Eq for Entries {}

impl PartialEq for Entries {
    /// What is sensitive does not matter.
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

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        let (&[k0, k1, v0, v1], content) = self.bytes.get(self.at..)?.split_first_chunk()?;
        let key_len = u16::from_be_bytes([k0, k1]);
        let (key, rest) = content.split_at_checked((key_len & !SENSITIVE).into())?;
        let value = rest.get(..u16::from_be_bytes([v0, v1]).into())?;
        let at = self.at;
        self.at += HEAD + key.len() + value.len();
        Some(Entry { key, value, is_sensitive: key_len & SENSITIVE != 0, at })
    }
}

impl Entry<'_> {
    /// Whether `Debug` hides the value.
    pub(super) fn is_hidden(&self) -> bool {
        self.is_sensitive || is_secret(self.name())
    }
}

/// Whether the name of a key marks its value as a secret.
fn is_secret(key: &str) -> bool {
    let name = key.strip_suffix("-bin").unwrap_or(key);
    matches!(name, "authorization" | "proxy-authorization" | "cookie" | "set-cookie")
        || matches!(name.rsplit(['-', '_', '.']).next(), Some("token" | "key" | "secret"))
}
