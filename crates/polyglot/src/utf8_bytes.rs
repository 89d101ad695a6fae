//! [`Utf8Bytes`]: a string in shared memory.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::Utf8Error;

use bytes::Bytes;

/// A string in shared memory. It is to `String` what [`Bytes`] is to `Vec<u8>`.
///
/// Cloning does not copy the text. A field of this type is a string on the wire. If it has at least
/// [`BULK_MIN`](crate::BULK_MIN) bytes, it is not copied, unlike a `String`: encoding [records it by
/// reference](crate::Encoder::gathering), and decoding returns a validated [slice of the
/// input](crate::Decoder::shared), which keeps the whole input alive.
///
/// ```
/// use polyglot::Utf8Bytes;
///
/// let title = Utf8Bytes::from("Emma".to_owned());
/// assert_eq!(title, "Emma");
/// assert_eq!(title.to_uppercase(), "EMMA");
/// assert_eq!(title.clone().as_ptr(), title.as_ptr(), "clones should share their memory");
///
/// let error = Utf8Bytes::try_from(bytes::Bytes::from_static(b"Em\xff")).unwrap_err();
/// assert_eq!(error.valid_up_to(), 2);
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utf8Bytes(
    /// Valid UTF-8, never modified. Each constructor validates the bytes, or takes them from a type that guarantees
    /// their validity.
    Bytes,
);

impl Utf8Bytes {
    /// Creates an empty string.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(Bytes::new())
    }

    /// Creates a string from a static string without copying it.
    #[inline]
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(Bytes::from_static(text.as_bytes()))
    }

    /// Returns `part` as a string that shares the memory of `whole`.
    ///
    /// # Panics
    ///
    /// If `part` is not within the memory of `whole`.
    #[inline]
    pub(crate) fn slice_of(whole: &Bytes, part: &str) -> Self {
        Self(whole.slice_ref(part.as_bytes()))
    }

    /// Returns `part` as a string that shares the memory of this one.
    ///
    /// ```
    /// let line = polyglot::Utf8Bytes::from_static("author=Austen");
    /// let (_, author) = line.split_once('=').unwrap();
    /// assert_eq!(line.slice_ref(author), "Austen");
    /// ```
    ///
    /// # Panics
    ///
    /// If `part` is not within the memory of this string.
    ///
    /// ```
    /// let text = polyglot::Utf8Bytes::from("key=value".to_owned());
    /// let value = text.slice_ref(&text[4..]);
    /// assert_eq!(&*value, "value");
    /// ```
    #[inline]
    #[must_use]
    pub fn slice_ref(&self, part: &str) -> Self {
        Self::slice_of(&self.0, part)
    }

    /// Returns the text as a `str`.
    ///
    /// ```
    /// let text = polyglot::Utf8Bytes::from("naïve".to_owned());
    /// assert_eq!(text.as_str(), "naïve");
    /// ```
    #[inline]
    #[must_use]
    #[allow(unsafe_code)]
    pub fn as_str(&self) -> &str {
        // SAFETY: The bytes are UTF-8 by the invariant of the field, and they never change while a handle such as this
        // one exists.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }

    /// Returns the content of the string as bytes.
    #[inline]
    #[must_use]
    pub const fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Clears the string and releases its memory.
    #[inline]
    pub fn clear(&mut self) {
        *self = Self::new(); // `Bytes::clear` would keep the allocation alive.
    }
}

impl Deref for Utf8Bytes {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Utf8Bytes {
    #[inline]
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for Utf8Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<str> for Utf8Bytes {
    #[inline]
    fn borrow(&self) -> &str {
        self
    }
}

/// Hashes the string like a `str`, as required by the implementation of `Borrow<str>`.
impl Hash for Utf8Bytes {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

/// Converts the string without copying its content.
impl From<String> for Utf8Bytes {
    #[inline]
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

/// Copies the content of the string. [`Utf8Bytes::from_static`] avoids the copy.
impl From<&str> for Utf8Bytes {
    #[inline]
    fn from(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<Cow<'_, str>> for Utf8Bytes {
    #[inline]
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

/// Converts the string to bytes without copying its content.
impl From<Utf8Bytes> for Bytes {
    #[inline]
    fn from(text: Utf8Bytes) -> Self {
        text.0
    }
}

/// Copies the content of the string.
impl From<Utf8Bytes> for String {
    #[inline]
    fn from(text: Utf8Bytes) -> Self {
        text.as_str().to_owned()
    }
}

/// Validates that the bytes are UTF-8, without copying them.
impl TryFrom<Bytes> for Utf8Bytes {
    type Error = Utf8Error;

    fn try_from(bytes: Bytes) -> Result<Self, Utf8Error> {
        if simdutf8::basic::from_utf8(&bytes).is_err() {
            std::str::from_utf8(&bytes)?;
        }
        Ok(Self(bytes))
    }
}

macro_rules! equal {
    ($($type:ty)*) => {$(
        impl PartialEq<$type> for Utf8Bytes {
            #[inline]
            fn eq(&self, other: &$type) -> bool {
                AsRef::<[u8]>::as_ref(self) == AsRef::<[u8]>::as_ref(other)
            }
        }

        impl PartialEq<Utf8Bytes> for $type {
            #[inline]
            fn eq(&self, other: &Utf8Bytes) -> bool {
                other == self
            }
        }
    )*};
}

equal! { str &str String [u8] &[u8] }

/// Implements the traits of serde, which serializes `Utf8Bytes` as a string.
#[cfg(feature = "serde")]
mod with_serde {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Utf8Bytes;

    impl Serialize for Utf8Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self)
        }
    }

    impl<'de> Deserialize<'de> for Utf8Bytes {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            String::deserialize(deserializer).map(Self::from)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decoder, Encoder};
    use std::collections::{BTreeSet, HashSet};

    use super::*;
    use crate::BULK_MIN;

    #[test]
    fn utf8_bytes_compare_and_hash_like_strings() {
        let words = ["ß", "a", "", "名", "aa"];
        let texts = words.map(Utf8Bytes::from);
        for (word, text) in words.iter().zip(&texts) {
            assert_eq!(text, *word);
            assert_eq!(*word, text);
            assert_eq!(*text, word.to_string());
            assert_eq!(text.as_bytes(), word.as_bytes());
            assert_eq!((format!("{text}"), format!("{text:?}")), ((*word).to_owned(), format!("{word:?}")));
        }
        let hashed: HashSet<_> = texts.iter().cloned().collect();
        assert!(words.iter().all(|word| hashed.contains(*word)) && !hashed.contains("b"));
        let sorted: BTreeSet<_> = texts.into_iter().collect();
        assert!(sorted.iter().map(Utf8Bytes::as_str).eq(BTreeSet::from(words)));
    }

    #[test]
    fn utf8_bytes_clones_and_slices_share_memory() {
        let text = Utf8Bytes::from("one two".repeat(100));
        let start = text.as_ptr();
        let (clone, part) = (text.clone(), text.slice_ref(&text[4..]));
        let bytes = Bytes::from(text);
        assert_eq!([clone.as_ptr(), part.as_ptr(), bytes.as_ptr()], [start, start.wrapping_add(4), start]);
        drop((clone, bytes));
        assert!(part.starts_with("two"));
    }

    #[test]
    fn cleared_utf8_bytes_release_memory() {
        let bytes = Bytes::from("one two".repeat(100));
        let mut text = Utf8Bytes::try_from(bytes.clone()).unwrap();
        assert!(!bytes.is_unique());
        text.clear();
        assert!(bytes.is_unique() && text.is_empty());
    }

    #[test]
    fn valid_utf8_converts_uncopied_and_invalid_fails() {
        for length in [0, 1, 15, 64, BULK_MIN] {
            let mut content = "é".repeat(length).into_bytes();
            let bytes = Bytes::from(content.clone());
            let text = Utf8Bytes::try_from(bytes.clone()).unwrap();
            assert_eq!(text.as_ptr(), bytes.as_ptr());
            content.push(0xc3);
            assert_eq!(Utf8Bytes::try_from(Bytes::from(content)).unwrap_err().valid_up_to(), 2 * length);
        }
    }

    #[test]
    fn only_long_texts_slice_shared_input() {
        for (length, is_shared) in [(BULK_MIN, true), (BULK_MIN - 1, false)] {
            let mut body = Vec::new();
            Encoder::new(&mut body).string(&"a".repeat(length)).unwrap();
            let body = Bytes::from(body);
            let mut decoder = Decoder::shared(&body);
            let text = decoder.utf8_bytes().unwrap();
            assert_eq!((text.len(), decoder.has_sliced(), decoder.remaining()), (length, is_shared, 0));
            assert_eq!(body.as_ptr_range().contains(&text.as_ptr()), is_shared);
            assert!(!body.as_ptr_range().contains(&Decoder::new(&body).utf8_bytes().unwrap().as_ptr()));
        }
    }

    #[test]
    fn invalid_utf8_keeps_decoder_position() {
        let body = Bytes::from_static(&[5, 10, 2, b'a', 0xff]);
        let mut decoder = Decoder::shared(&body);
        assert_eq!(decoder.utf8_bytes().unwrap_err().to_string(), "at byte 0: string is not UTF-8");
        assert_eq!(decoder.position(), 0);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn serde_writes_and_reads_strings() {
        let text: Utf8Bytes = serde_json::from_str(r#""a\u00df""#).unwrap();
        assert_eq!((&*text, serde_json::to_string(&text).unwrap()), ("aß", r#""aß""#.to_owned()));
    }
}
