//! Metadata: keys with texts or bytes beside the messages of a call.

use bytes::Bytes;
use std::fmt;

/// The longest key, in bytes.
const KEY_MAX: usize = 256;

/// The most entries. Keys are compared one by one, which is fastest for a few. With as many as fit into the 64 KiB of a
/// prefix, each compared with all others, a peer could cause a hundred milliseconds of work.
pub(crate) const ENTRIES_MAX: usize = 256;

/// The most bytes of all entries, where each entry counts eight bytes more for its encoding. With the other items of a
/// prefix they fit into the 64 KiB that a peer reads.
const BYTES_MAX: usize = 60 * 1024;

/// The memory of an entry beside key and value, in bytes: its place in the list, and the overhead of the allocator.
const ENTRY_COST: usize = 88;

/// Metadata of a request, a reply or a failure: up to 256 keys with values, of at most 60 KiB in all, where each entry
/// counts eight bytes more.
///
/// As in gRPC, keys are in lower case. A key that ends in `-bin` has bytes as its value, and any other key has
/// printable ASCII. Metadata is sent between extended peers only.
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
/// ```
///
/// `Debug` hides secrets: the values of `authorization`, of cookies, of keys whose last word is `token`, `key` or
/// `secret`, and of those [marked](Self::mark_sensitive).
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    entries: Vec<Entry>,
    /// The bytes of all entries, with their encoding.
    size: usize,
}

#[derive(Clone)]
struct Entry {
    key: Box<str>,
    value: Bytes,
    /// `Debug` hides the value. The peer does not learn this.
    is_sensitive: bool,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, &self.value) == (&other.key, &other.value)
    }
}

impl Eq for Entry {}

impl Metadata {
    /// Creates metadata without entries.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), size: 0 }
    }

    /// Sets the text of a key, and replaces its previous value.
    ///
    /// # Errors
    /// If the key or the text has invalid characters, the key ends in `-bin`, or a limit is exceeded.
    pub fn insert(&mut self, key: impl AsRef<str>, text: impl Into<String>) -> Result<(), MetadataError> {
        self.put(key.as_ref(), text.into().into(), false)
    }

    /// Sets the bytes of a key that ends in `-bin`, and replaces its previous value.
    ///
    /// # Errors
    /// If the key has invalid characters or does not end in `-bin`, or a limit is exceeded.
    pub fn insert_bin(&mut self, key: impl AsRef<str>, value: impl Into<Bytes>) -> Result<(), MetadataError> {
        self.put(key.as_ref(), value.into(), true)
    }

    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let value = self.find(key).filter(|_| !is_binary(key))?;
        std::str::from_utf8(value).ok()
    }

    /// The bytes of a key that ends in `-bin`.
    pub fn get_bin(&self, key: &str) -> Option<&Bytes> {
        self.find(key).filter(|_| is_binary(key))
    }

    /// Removes a key. Returns whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        let Some(at) = self.entries.iter().position(|entry| *entry.key == *key) else { return false };
        let removed = self.entries.remove(at);
        self.size -= size(&removed.key, &removed.value);
        true
    }

    /// Hides the value of a key in `Debug` until it is set again. Returns whether the key is there. The peer does not
    /// learn this.
    pub fn mark_sensitive(&mut self, key: &str) -> bool {
        let entry = self.entries.iter_mut().find(|entry| *entry.key == *key);
        entry.map(|entry| entry.is_sensitive = true).is_some()
    }

    /// Keys and values in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        self.entries.iter().map(|entry| (&*entry.key, &entry.value))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The approximate memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.size + self.entries.len() * ENTRY_COST
    }

    fn find(&self, key: &str) -> Option<&Bytes> {
        self.entries.iter().find(|entry| *entry.key == *key).map(|entry| &entry.value)
    }

    fn put(&mut self, key: &str, value: Bytes, binary: bool) -> Result<(), MetadataError> {
        if is_binary(key) != binary {
            return Err(MetadataError::Kind(key.to_owned()));
        }
        self.set(key, value)
    }

    /// Sets a value of the kind that the key determines.
    pub(crate) fn set(&mut self, key: &str, value: Bytes) -> Result<(), MetadataError> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        if key.is_empty() || key.len() > KEY_MAX || !key.bytes().all(is_allowed) {
            return Err(MetadataError::Key(key.chars().take(KEY_MAX).collect()));
        }
        if !is_binary(key) && !value.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(MetadataError::Text(key.to_owned()));
        }
        let replaced = self.find(key).map(|value| size(key, value));
        if replaced.is_none() && self.entries.len() >= ENTRIES_MAX {
            return Err(MetadataError::TooMany);
        }
        let size = self.size - replaced.unwrap_or(0) + size(key, &value);
        if size > BYTES_MAX {
            return Err(MetadataError::TooLong(key.to_owned()));
        }
        self.remove(key);
        self.size = size;
        self.entries.push(Entry { key: key.into(), value, is_sensitive: is_secret(key) });
        Ok(())
    }
}

/// The size that an entry counts.
fn size(key: &str, value: &Bytes) -> usize {
    key.len() + value.len() + 8
}

fn is_binary(key: &str) -> bool {
    key.ends_with("-bin")
}

/// Whether the name of a key marks its value as a secret.
fn is_secret(key: &str) -> bool {
    let name = key.strip_suffix("-bin").unwrap_or(key);
    matches!(name, "authorization" | "proxy-authorization" | "cookie" | "set-cookie")
        || matches!(name.rsplit(['-', '_', '.']).next(), Some("token" | "key" | "secret"))
}

impl fmt::Debug for Metadata {
    /// Secrets are hidden.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for Entry { key, value, is_sensitive } in &self.entries {
            match is_sensitive {
                true => map.entry(key, &format_args!("<sensitive>")),
                false => map.entry(key, value),
            };
        }
        map.finish()
    }
}

/// Why an entry is not valid metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MetadataError {
    /// The key is empty, longer than 256 bytes, or has characters other than `a-z`, `0-9`, `-`, `_` and `.`.
    Key(String),
    /// The text of this key has characters other than printable ASCII.
    Text(String),
    /// This key ends in `-bin` and has a text, or does not and has bytes.
    Kind(String),
    /// There are 256 entries already.
    TooMany,
    /// With this key, the metadata would exceed 60 KiB.
    TooLong(String),
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "{key:?} is not a valid metadata key"),
            Self::Text(key) => write!(f, "the value of {key} is not printable ASCII"),
            Self::Kind(key) => {
                write!(f, "wrong kind of value for {key:?}: keys with the suffix -bin have bytes, all others text")
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
}
