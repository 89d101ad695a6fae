//! Map fields: the types of maps, and their keys, which are strings in JSON.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use crate::reader::integer_of;
use crate::{EncodeError, Writer};

/// A type of map: `HashMap` or `BTreeMap`.
pub trait Map {
    /// The keys.
    type Key: Key;
    /// The values.
    type Value;

    /// The memory of a map with one entry, in bytes.
    const FIRST: usize;

    /// At most the memory that each further entry adds, in bytes.
    const EACH: usize;

    /// Whether there are no entries.
    fn is_empty(&self) -> bool;

    /// Adds an entry. Returns false if there was one with this key.
    fn insert(&mut self, key: Self::Key, value: Self::Value) -> bool;

    /// Calls `entry` for each entry, as long as it succeeds.
    ///
    /// # Errors
    ///
    /// That of `entry`.
    fn each(&self, entry: impl FnMut(&Self::Key, &Self::Value) -> Result<(), EncodeError>) -> Result<(), EncodeError>;
}

impl<K: Key + Eq + Hash, V, S: BuildHasher> Map for HashMap<K, V, S> {
    type Key = K;
    type Value = V;

    // The smallest table of the standard library has four slots, each with a control byte, and a group of 16 such
    // bytes. A table that has just grown is not quite half full.
    const FIRST: usize = 4 * (size_of::<(K, V)>() + 1) + 16;
    const EACH: usize = 2 * (size_of::<(K, V)>() + 1) + size_of::<(K, V)>() / 2;

    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }

    #[inline]
    fn insert(&mut self, key: K, value: V) -> bool {
        Self::insert(self, key, value).is_none()
    }

    #[inline]
    fn each(&self, mut entry: impl FnMut(&K, &V) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        self.iter().try_for_each(|(key, value)| entry(key, value))
    }
}

impl<K: Key + Ord, V> Map for BTreeMap<K, V> {
    type Key = K;
    type Value = V;

    // A node of the standard library has eleven slots, and is at least half full if it is not the only one.
    const FIRST: usize = 11 * size_of::<(K, V)>() + 16;
    const EACH: usize = 2 * size_of::<(K, V)>() + size_of::<(K, V)>() / 2 + 16;

    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }

    #[inline]
    fn insert(&mut self, key: K, value: V) -> bool {
        Self::insert(self, key, value).is_none()
    }

    #[inline]
    fn each(&self, mut entry: impl FnMut(&K, &V) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        self.iter().try_for_each(|(key, value)| entry(key, value))
    }
}

/// A type that can be a map's key: bool, an integer or a string.
pub trait Key: Sized {
    /// The type, for errors.
    const EXPECTED: &'static str;

    /// Reads a key from its text, without quotation marks.
    fn from_text(text: &str) -> Option<Self>;

    /// Writes the key, with quotation marks.
    fn write(&self, to: &mut Writer<'_>);
}

impl Key for String {
    const EXPECTED: &'static str = "string";

    #[inline]
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    #[inline]
    fn write(&self, to: &mut Writer<'_>) {
        to.string(self);
    }
}

impl Key for bool {
    const EXPECTED: &'static str = "bool";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn write(&self, to: &mut Writer<'_>) {
        to.plain_string(if *self { "true" } else { "false" });
    }
}

macro_rules! integer_keys {
    ($($type:ty, $expected:literal;)*) => {$(
        impl Key for $type {
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Option<Self> {
                let (is_negative, magnitude) = integer_of(text)?;
                let value = i128::from(magnitude);
                Self::try_from(if is_negative { value.wrapping_neg() } else { value }).ok()
            }

            fn write(&self, to: &mut Writer<'_>) {
                to.quoted_integer(*self);
            }
        }
    )*};
}

integer_keys! {
    i32, "int32";
    i64, "int64";
    u32, "uint32";
    u64, "uint64";
}
