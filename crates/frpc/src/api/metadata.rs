//! Metadata: keys with text or binary values, sent with the messages of a call.

mod entries;

#[cfg(any(feature = "grpc", feature = "tonic"))]
use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
pub(crate) use entries::ENTRY;
use entries::Entries;
use std::fmt;

/// Maximum length of a metadata key in bytes.
const KEY_MAX: usize = 256;

/// Maximum number of metadata entries. Lookups are linear, which is fastest for a few entries. Without the limit, a
/// peer could send 64 KiB of tiny entries and cause 100 ms of comparisons.
pub(crate) const ENTRIES_MAX: usize = 256;

/// Maximum total size of all metadata entries in bytes, including an overhead of eight bytes per entry. Metadata is
/// part of a call's prefix, which peers accept up to 64 KiB. The remaining 4 KiB are reserved for other items of the
/// prefix.
const BYTES_MAX: usize = 60 * 1024;

/// Encoding overhead of a metadata entry in bytes.
const ENTRY_SIZE: usize = 8;

/// Memory in bytes used by metadata with a few short entries, including allocator overhead. Many or long entries need
/// more.
pub(crate) const MEMORY: usize = 208;

/// Base64 format of binary fields in gRPC. Decoding accepts padding, and encoding omits it.
#[cfg(any(feature = "grpc", feature = "tonic"))]
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_encode_padding(false)
        .with_decode_allow_trailing_bits(true),
);

/// Metadata of a request, a response or a failure: at most 256 entries and 60 KiB in total, including eight bytes of
/// overhead for each entry.
///
/// As in gRPC, keys are in lower case. Keys that end in `-bin` have binary values; the values of other keys are
/// printable ASCII. A key may have several values; each counts as an entry. Metadata is only sent between native peers.
///
/// ```
/// use frpc::Metadata;
///
/// let mut metadata = Metadata::new();
/// metadata.insert("tenant", "blue").unwrap();
/// metadata.insert_bin("trace-bin", vec![1, 2, 3]).unwrap();
/// assert_eq!(metadata.get("tenant"), Some("blue"));
/// assert_eq!(metadata.get_bin("trace-bin").unwrap()[..], [1, 2, 3]);
/// assert!(metadata.insert("Tenant", "blue").is_err());
/// for (key, value) in metadata.iter() {
///     println!("{key}: {} bytes", value.len());
/// }
/// assert!(metadata.remove("tenant"));
/// assert_eq!(metadata.len(), 1);
/// ```
///
/// `Debug` output omits sensitive values: values of `authorization`, of cookies, of keys with the last word `token`,
/// `key` or `secret`, and of keys [marked](Self::mark_sensitive) as sensitive.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Metadata(Entries);

impl Metadata {
    /// Creates empty metadata.
    pub const fn new() -> Self {
        Self(Entries::new())
    }

    /// Sets the text value of a key, replacing all its previous values.
    ///
    /// # Errors
    /// If the key or the text has invalid characters, the key ends in `-bin`, or a limit is exceeded.
    pub fn insert(&mut self, key: impl AsRef<str>, text: impl AsRef<str>) -> Result<(), MetadataError> {
        self.enter(key_of(key.as_ref(), false)?, text.as_ref().as_bytes(), true)
    }

    /// Appends a text value to the values of a key.
    ///
    /// ```
    /// use frpc::Metadata;
    ///
    /// let mut metadata = Metadata::new();
    /// metadata.append("role", "reader").unwrap();
    /// metadata.append("role", "writer").unwrap();
    /// assert_eq!(metadata.get("role"), Some("reader"));
    /// assert_eq!(metadata.get_all("role").collect::<Vec<_>>(), ["reader", "writer"]);
    /// ```
    ///
    /// # Errors
    /// Like [`insert`](Self::insert).
    pub fn append(&mut self, key: impl AsRef<str>, text: impl AsRef<str>) -> Result<(), MetadataError> {
        self.add(key_of(key.as_ref(), false)?, text.as_ref().as_bytes())
    }

    /// Appends a binary value to a key, which must end in `-bin`.
    ///
    /// # Errors
    /// Like [`insert_bin`](Self::insert_bin).
    pub fn append_bin(&mut self, key: impl AsRef<str>, value: impl AsRef<[u8]>) -> Result<(), MetadataError> {
        self.add(key_of(key.as_ref(), true)?, value.as_ref())
    }

    /// Appends the values of a binary field of gRPC: base64 texts, separated by commas.
    #[cfg(any(feature = "grpc", feature = "tonic"))]
    pub(crate) fn append_base64(&mut self, key: &str, texts: &[u8]) -> Result<(), MetadataError> {
        texts.split(|byte| *byte == b',').try_for_each(|text| match BASE64.decode(text.trim_ascii()) {
            Ok(value) => self.append_bin(key, value),
            // Appending a text to a binary key returns the error for an invalid value.
            Err(_) => self.append(key, ""),
        })
    }

    /// Sets the binary value of a key, which must end in `-bin`, replacing all its previous values.
    ///
    /// # Errors
    /// If the key has invalid characters, does not end in `-bin`, or a limit is exceeded.
    pub fn insert_bin(&mut self, key: impl AsRef<str>, value: impl AsRef<[u8]>) -> Result<(), MetadataError> {
        self.enter(key_of(key.as_ref(), true)?, value.as_ref(), true)
    }

    /// Returns the first text value of a key, or `None` if the key has none.
    pub fn get(&self, key: &str) -> Option<&str> {
        let value = self.find(key).filter(|_| !is_binary(key.as_bytes()))?;
        std::str::from_utf8(value).ok()
    }

    /// Returns the first binary value of a key, which must end in `-bin`.
    pub fn get_bin(&self, key: &str) -> Option<&[u8]> {
        self.find(key).filter(|_| is_binary(key.as_bytes()))
    }

    /// Returns the text values of a key in the order of insertion.
    pub fn get_all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.values(key, false).filter_map(|value| std::str::from_utf8(value).ok())
    }

    /// Returns the binary values of a key, which must end in `-bin`, in the order of insertion.
    pub fn get_all_bin(&self, key: &str) -> impl Iterator<Item = &[u8]> {
        self.values(key, true)
    }

    fn values(&self, key: &str, binary: bool) -> impl Iterator<Item = &[u8]> {
        let is_any = is_binary(key.as_bytes()) == binary;
        self.0.iter().filter(move |entry| is_any && entry.key == key.as_bytes()).map(|entry| entry.value)
    }

    /// Removes all values of a key. Returns whether there were any.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.remove(key.as_bytes())
    }

    /// Hides the values of a key in `Debug` output until the key is set again. Returns whether the key exists. The flag
    /// is local and is not sent to the peer.
    pub fn mark_sensitive(&mut self, key: &str) -> bool {
        self.0.mark_sensitive(key.as_bytes())
    }

    /// Returns an iterator over keys and values in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|entry| (entry.name(), entry.value))
    }

    /// Returns all entries in their wire encoding. Returns `None` if some entries are sensitive, because their flags
    /// are part of the encoding and must not be sent.
    pub(crate) fn plain_items(&self) -> Option<&[u8]> {
        self.0.plain_bytes()
    }

    /// Appends all entries to `buffer` in their wire encoding.
    pub(crate) fn put_items(&self, buffer: &mut Vec<u8>) {
        self.0.put(buffer);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the number of metadata entries.
    pub fn len(&self) -> usize {
        self.0.count()
    }

    /// Returns whether there are no metadata entries.
    pub fn is_empty(&self) -> bool {
        self.0.count() == 0
    }

    /// Returns the approximate memory used by the metadata in bytes.
    pub(crate) fn memory(&self) -> usize {
        if self.is_empty() { 0 } else { MEMORY + self.0.memory() }
    }

    fn find(&self, key: &str) -> Option<&[u8]> {
        self.0.find(key.as_bytes()).map(|entry| entry.value)
    }

    /// Appends a value to a key. The value is binary if the key ends in `-bin` and text otherwise.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<(), MetadataError> {
        self.enter(key, value, false)
    }

    #[inline(always)]
    fn enter(&mut self, key: &[u8], value: &[u8], replaces: bool) -> Result<(), MetadataError> {
        // Check the value first. If it is printable, as most values are, it is valid with or without the suffix `-bin`
        // of the key.
        if !is_key(key) || !(is_printable(value) || is_binary(key)) {
            return Err(refused(key));
        }
        // Fast path: the first entry is usually short and the only one.
        if self.is_empty() && self.0.push_first(key, value) {
            return Ok(());
        }
        self.enter_slow(key, value, replaces)
    }

    fn enter_slow(&mut self, key: &[u8], value: &[u8], replaces: bool) -> Result<(), MetadataError> {
        let (mut count, mut length) = (self.len(), self.0.content_len());
        // Scan the entries only to replace some. If each append scanned them, parsing metadata would take quadratic
        // time.
        if replaces {
            for replaced in self.0.iter().filter(|entry| entry.key == key) {
                count -= 1;
                length -= replaced.key.len() + replaced.value.len();
            }
        }
        if count >= ENTRIES_MAX {
            return Err(MetadataError::TooMany);
        }
        if length + key.len() + value.len() + ENTRY_SIZE * (count + 1) > BYTES_MAX {
            return Err(MetadataError::TooLong(shown(key)));
        }
        if count < self.len() {
            self.0.remove(key);
        }
        self.0.push(key, value);
        Ok(())
    }
}

/// Returns the error for an entry with an invalid key or, if the key is valid, an invalid text value.
fn refused(key: &[u8]) -> MetadataError {
    if is_any_key(key) { MetadataError::Text(shown(key)) } else { MetadataError::Key(shown(key)) }
}

/// Table of the bytes that are valid in metadata keys.
const IN_KEYS: [bool; 256] = {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < allowed.len() {
        allowed[byte] = matches!(byte as u8, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'); // The index is below 256.
        byte += 1;
    }
    allowed
};

/// Returns whether the bytes form a valid metadata key.
#[inline(always)]
fn is_key(key: &[u8]) -> bool {
    const HALF: usize = LANES / 2;
    // Fast path: most keys contain only lowercase letters and hyphens and fit into two blocks, which may overlap.
    if let (Some(first), Some(last), ..=LANES) = (key.first_chunk::<HALF>(), key.last_chunk::<HALF>(), key.len()) {
        let both: [u8; LANES] = std::array::from_fn(|at| if at < HALF { first[at] } else { last[at - HALF] });
        if is_zero(both.map(other)) {
            return true;
        }
    }
    is_any_key(key)
}

fn is_any_key(key: &[u8]) -> bool {
    !key.is_empty() && key.len() <= KEY_MAX && key.iter().all(|byte| IN_KEYS[usize::from(*byte)])
}

/// Returns zero if the byte is a lowercase letter or a hyphen, and another value otherwise.
fn other(byte: u8) -> u8 {
    byte.wrapping_sub(b'a').saturating_sub(b'z' - b'a').min(byte ^ b'-')
}

/// Number of bytes checked at once, chosen so that the compiler emits a few vector instructions.
const LANES: usize = 16;

/// Returns whether a text is printable ASCII. Stops at the first invalid block. Without this early exit, the compiler
/// would emit 100 times as much code, optimized for very long texts.
fn is_printable(text: &[u8]) -> bool {
    const TWO: usize = 2 * LANES;
    const FOUR: usize = 2 * TWO;
    // Fast path: most texts fit into two blocks, which may overlap, and need no loop.
    if let (Some(first), Some(last), ..=FOUR) = (text.first_chunk::<TWO>(), text.last_chunk::<TWO>(), text.len()) {
        let (first, last) = (unprintable(first), unprintable(last));
        return is_zero(std::array::from_fn(|at| first[at] | first[LANES + at] | last[at] | last[LANES + at]));
    }
    let Some(last) = text.last_chunk::<LANES>() else { return text.iter().all(|byte| matches!(byte, b' '..=b'~')) };
    let (chunks, _) = text.as_chunks();
    // The last block may overlap the previous one.
    chunks.iter().all(|chunk| is_zero(unprintable::<LANES>(chunk))) && is_zero(unprintable(last))
}

/// Maps each byte to zero if it is printable ASCII, and to another value otherwise.
fn unprintable<const COUNT: usize>(bytes: &[u8; COUNT]) -> [u8; COUNT] {
    let mut wrong = [0; COUNT];
    for (wrong, byte) in wrong.iter_mut().zip(bytes) {
        *wrong = byte.wrapping_sub(b' ').saturating_sub(b'~' - b' ');
    }
    wrong
}

fn is_zero(bytes: [u8; LANES]) -> bool {
    u128::from_ne_bytes(bytes) == 0
}

/// Returns a key as bytes. Fails if `is_of_binary` does not match whether the key ends in `-bin`.
fn key_of(key: &str, is_of_binary: bool) -> Result<&[u8], MetadataError> {
    if is_binary(key.as_bytes()) == is_of_binary {
        Ok(key.as_bytes())
    } else {
        Err(MetadataError::Kind(key.to_owned()))
    }
}

fn is_binary(key: &[u8]) -> bool {
    key.ends_with(b"-bin")
}

/// Returns the beginning of a key, for use in error messages.
fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).chars().take(KEY_MAX).collect()
}

impl fmt::Debug for Metadata {
    /// Formats the entries, omitting the values of sensitive ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for entry in self.0.iter() {
            match entry.is_hidden() {
                true => map.entry(&entry.name(), &format_args!("<sensitive>")),
                false => map.entry(&entry.name(), &Bytes::copy_from_slice(entry.value)),
            };
        }
        map.finish()
    }
}

/// Reason why a metadata entry is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MetadataError {
    /// The key is empty, longer than 256 bytes, or contains characters other than `a-z`, `0-9`, `-`, `_` and `.`.
    Key(String),
    /// The text value of this key contains characters other than printable ASCII.
    Text(String),
    /// The key ends in `-bin` but its value is text, or the value is binary but the key has no such suffix.
    Kind(String),
    /// The metadata already has 256 entries.
    TooMany,
    /// Adding this key's value would make the metadata larger than 60 KiB.
    TooLong(String),
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "{key:?} is not a valid metadata key"),
            Self::Text(key) => write!(f, "the value of {key} is not printable ASCII"),
            Self::Kind(key) => {
                write!(f, "wrong type of value for {key:?}: keys that end in -bin have binary values, others have text")
            }
            Self::TooLong(key) => write!(f, "{key} exceeds the limit of {BYTES_MAX} bytes of metadata"),
            Self::TooMany => write!(f, "the limit of {ENTRIES_MAX} entries of metadata is reached"),
        }
    }
}

impl std::error::Error for MetadataError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let mut metadata = Metadata::new();
        for key in ["authorization", "cookie", "csrf-token", "x-api-key", "client_secret", "token", "session"] {
            metadata.insert(key, "hunter2").unwrap();
        }
        metadata.insert_bin("session-key-bin", &b"hunter2"[..]).unwrap();
        metadata.insert("tokens-left", "17").unwrap();
        assert!(metadata.mark_sensitive("session") && !metadata.mark_sensitive("nothing"));
        let shown = format!("{metadata:?} {:?}", metadata.clone());
        assert!(!shown.contains("hunter2") && shown.contains("authorization\": <sensitive>"), "{shown}");
        assert!(shown.contains("\"tokens-left\": b\"17\""), "{shown}");
        assert_eq!(metadata.get("session"), Some("hunter2"));
    }

    #[test]
    fn metadata_entries_keep_order_through_changes() {
        let mut metadata = Metadata::new();
        let mut expected: Vec<(String, Vec<u8>)> = Vec::new();
        let mut random = 7_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (choice, length) = ((random >> 33) as usize, (random >> 40) as usize % 40);
            let key = format!("key-{}-bin", choice % 7);
            expected.retain(|(other, _)| *other != key);
            if choice % 3 == 0 {
                let was_there = metadata.get_bin(&key).is_some();
                assert_eq!(metadata.remove(&key), was_there);
            } else {
                metadata.insert_bin(&key, vec![choice as u8; length]).unwrap();
                if choice % 5 == 0 {
                    assert!(metadata.mark_sensitive(&key));
                }
                expected.push((key, vec![choice as u8; length]));
            }
            let entries: Vec<_> = metadata.iter().map(|(key, value)| (key.to_owned(), value.to_vec())).collect();
            assert_eq!(entries, expected);
            assert_eq!((metadata.len(), metadata.clone() == metadata), (expected.len(), true));
        }
    }

    #[test]
    fn repeated_values_keep_order_and_replace_together() {
        let mut metadata = Metadata::new();
        for value in ["a", "b", "a"] {
            metadata.append("k", value).unwrap();
            metadata.append_bin("k-bin", value).unwrap();
        }
        assert_eq!(metadata.append("k-bin", ""), Err(MetadataError::Kind("k-bin".to_owned())));
        assert_eq!(metadata.append_bin("k", ""), Err(MetadataError::Kind("k".to_owned())));
        assert_eq!(metadata.get_all("k").collect::<Vec<_>>(), ["a", "b", "a"]);
        assert_eq!(metadata.get_all_bin("k-bin").collect::<Vec<_>>(), [b"a", b"b", b"a"]);
        assert_eq!((metadata.get_all("k-bin").count(), metadata.get_all_bin("k").count()), (0, 0));
        assert_eq!((metadata.get("k"), metadata.len()), (Some("a"), 6));
        assert!(metadata.mark_sensitive("k"));
        assert_eq!(format!("{metadata:?}").matches("<sensitive>").count(), 3);
        metadata.insert("k", "c").unwrap();
        assert_eq!((metadata.get_all("k").collect::<Vec<_>>(), metadata.len()), (vec!["c"], 4));
        assert!(metadata.remove("k-bin") && metadata.len() == 1);
        for _ in 1..ENTRIES_MAX {
            metadata.append("k", "").unwrap();
        }
        assert_eq!(metadata.append("k", ""), Err(MetadataError::TooMany));
    }

    #[test]
    fn first_entry_round_trips_short_or_long() {
        let letters: String = ('a'..='z').cycle().take(100).collect();
        for (key_len, value_len) in (1..40).flat_map(|key| (0..100).map(move |value| (key, value))) {
            let (key, value) = (&letters[..key_len], &letters[letters.len() - value_len..]);
            let mut metadata = Metadata::new();
            metadata.insert(key, value).unwrap();
            assert_eq!(metadata.iter().collect::<Vec<_>>(), [(key, value.as_bytes())]);
        }
    }

    #[test]
    fn texts_must_be_printable_ascii() {
        for length in 1..100 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'~'; length];
                    text[at] = byte;
                    assert_eq!(
                        is_printable(&text),
                        (0x20..0x7F).contains(&byte),
                        "byte {byte} at {at} of {length} should be classified correctly"
                    );
                }
            }
        }
        assert!(is_printable(b""));
    }

    #[test]
    fn key_bytes_are_checked_at_every_position() {
        for length in 1..40 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut key = vec![b'a'; length];
                    key[length / 2] = b'-';
                    key[at] = byte;
                    assert_eq!(
                        is_key(&key),
                        IN_KEYS[usize::from(byte)],
                        "key with byte {byte} at {at} of {length} should be classified correctly"
                    );
                }
            }
        }
        assert!(!is_key(b"") && is_key(&[b'k'; KEY_MAX]) && !is_key(&[b'k'; KEY_MAX + 1]));
    }

    /// Regression test: each appended entry examined all earlier ones.
    #[cfg(unix)]
    #[test]
    fn appending_takes_linear_time() {
        use crate::clock::cpu_time;
        let time = |count: usize| {
            let run = || {
                let mut metadata = Metadata::new();
                let start = cpu_time();
                (0..count).for_each(|_| metadata.append("k", "v").expect("metadata entry should be valid"));
                cpu_time() - start
            };
            (0..50).map(|_| run()).min().expect("at least one round should run")
        };
        let (few, all) = (time(16), time(ENTRIES_MAX));
        // Linear time is 16 times as long, and quadratic time 256 times.
        assert!(all < few * 64, "{few:?} for 16 entries, {all:?} for {ENTRIES_MAX}");
    }

    #[test]
    fn replaced_key_stays_within_byte_limit() {
        let mut metadata = Metadata::new();
        let most = BYTES_MAX - ENTRY_SIZE - 1;
        metadata.insert("k", "v".repeat(most)).unwrap();
        metadata.insert("k", "w".repeat(most)).unwrap();
        assert_eq!(metadata.insert("k", "w".repeat(most + 1)), Err(MetadataError::TooLong("k".to_owned())));
        assert_eq!(metadata.insert("l", ""), Err(MetadataError::TooLong("l".to_owned())));
        assert!(metadata.get("k").is_some_and(|text| text.len() == most && text.starts_with('w')));
    }
}
