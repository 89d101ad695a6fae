//! Views: messages that borrow from the input and are decoded without allocation.
//!
//! Messages have no length on the wire, so their end is found only by reading their fields. Decoding a view therefore
//! reads and validates its lists, maps and nested messages. Their elements are decoded from the validated bytes on
//! access.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use crate::{DecodeError, Decoder, Kind};

/// A type that fields of a [`MessageView`] can have.
///
/// Implemented by scalars, `&str`, `&[u8]`, [`MessageView`]s, options of these, [`List`], [`Map`] and [`Nested`]. The
/// result of `decode` must depend only on the bytes that it reads.
pub trait View<'a>: Default {
    /// Kind that marks the values on the wire, which is [`Kind::Any`] for messages.
    const KIND: Kind;

    /// Decodes one value.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed.
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError>;

    /// Returns whether the value is the default, which the flat encoding does not distinguish from an absent value.
    /// Always `false` for messages.
    #[inline]
    fn is_default(&self) -> bool {
        false
    }
}

/// The borrowed counterpart of [`Fields`](crate::Fields). Implemented by generated code.
///
/// ```
/// use polyglot::{DecodeError, Decoder, List, MessageView, Root};
///
/// #[derive(Debug, Default)]
/// struct Book<'a> {
///     title: &'a str,
///     authors: List<'a, &'a str>,
/// }
///
/// impl<'a> MessageView<'a> for Book<'a> {
///     const NAME: &'static str = "library.Book";
///
///     fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
///         Ok(Self { title: from.view("title")?, authors: from.view("authors")? })
///     }
/// }
///
/// let body = b"\x08\x00\x05\x0a\x04Emma\x01\x05\x0a\x02\x05\x0a\x04Jane\x05\x0a\x06Austen";
/// let Root::Message(book) = polyglot::view_root::<Book<'_>>(&mut Decoder::new(body))? else { panic!("an error") };
/// assert_eq!(book.title, "Emma");
/// assert_eq!(book.authors.iter().collect::<Vec<_>>(), ["Jane", "Austen"]);
/// # Ok::<(), DecodeError>(())
/// ```
pub trait MessageView<'a>: Default {
    /// Full name of the message for use in errors, such as `package.Outer.Inner`.
    const NAME: &'static str;

    /// Reads the fields of the message, after its header has been read.
    ///
    /// # Errors
    ///
    /// If a field is missing or malformed.
    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError>;
}

impl<'a, V: MessageView<'a>> View<'a> for V {
    const KIND: Kind = Kind::Any;

    /// Decodes nil as the default message. This occurs only in lists and maps, because a message field outside of them
    /// is an `Option`.
    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        from.message(V::decode_fields).map(Option::unwrap_or_default)
    }
}

macro_rules! scalar {
    ($($type:ty, $kind:ident, $method:ident, |$value:ident| $default:expr;)*) => {$(
        impl<'a> View<'a> for $type {
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
                from.$method()
            }

            #[inline]
            fn is_default(&self) -> bool {
                let $value = *self;
                $default
            }
        }
    )*};
}

scalar! {
    bool, Bool, bool, |value| !value;
    i32, I32, i32, |value| value == 0;
    i64, I64, i64, |value| value == 0;
    u32, U32, u32, |value| value == 0;
    u64, U64, u64, |value| value == 0;
    f32, F32, f32, |value| value.to_bits() == 0;
    f64, F64, f64, |value| value.to_bits() == 0;
    &'a str, String, str, |value| value.is_empty();
    &'a [u8], Bytes, slice, |value| value.is_empty();
}

impl<'a, V: View<'a>> View<'a> for Option<V> {
    const KIND: Kind = V::KIND;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        if from.take_nil() { Ok(None) } else { V::decode(from).map(Some) }
    }
}

/// A view of a list that borrows from the input. Its elements are decoded each time they are accessed.
#[derive(Clone, Copy, Default)]
pub struct List<'a, V> {
    /// Encoded and validated elements of the list, without its header.
    elements: &'a [u8],
    len: usize,
    element: PhantomData<V>,
}

impl<'a, V: View<'a>> List<'a, V> {
    /// Returns the number of elements in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads and validates `len` elements of a list.
    #[inline]
    fn of(len: usize, from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let elements = walk(from, |from| {
            (0..len).try_for_each(|index| V::decode(from).map(drop).map_err(|error| error.in_element(index)))
        })?;
        Ok(Self { elements, len, element: PhantomData })
    }

    /// Returns an iterator that decodes the elements of the list.
    pub fn iter(&self) -> Items<'a, V> {
        Items { from: Decoder::again(self.elements), left: self.len, element: PhantomData }
    }
}

impl<'a, V: View<'a>> View<'a> for List<'a, V> {
    const KIND: Kind = Kind::List;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let len = from.list(V::KIND)?;
        Self::of(len, from)
    }
}

/// A view of a map that borrows from the input. It contains all pairs in the order of their encoding, including pairs
/// with duplicate keys.
#[derive(Clone, Copy, Default)]
pub struct Map<'a, K, V> {
    pairs: List<'a, Pair<K, V>>,
}

impl<'a, K: View<'a>, V: View<'a>> Map<'a, K, V> {
    /// Returns the number of pairs in the map, including pairs with duplicate keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns an iterator over all pairs. If a key occurs several times, the last of its pairs is the valid one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, V)> + FusedIterator + use<'a, K, V> {
        self.pairs.iter().map(|Pair(key, value)| (key, value))
    }

    /// Returns the value of a key, or `None` if the map does not contain the key. Takes linear time, because it
    /// searches all pairs.
    pub fn get(&self, key: &K) -> Option<V>
    where
        K: PartialEq,
    {
        self.iter().filter(|(found, _)| found == key).last().map(|(_, value)| value)
    }
}

impl<'a, K: View<'a>, V: View<'a>> View<'a> for Map<'a, K, V> {
    const KIND: Kind = Kind::Map;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let len = from.map(K::KIND, V::KIND)?;
        List::of(len, from).map(|pairs| Self { pairs })
    }
}

/// A key and its value in an encoded map.
#[derive(Clone, Copy, Default)]
struct Pair<K, V>(K, V);

impl<'a, K: View<'a>, V: View<'a>> View<'a> for Pair<K, V> {
    const KIND: Kind = Kind::Any;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self(K::decode(from)?, V::decode(from)?))
    }
}

/// A view of a nested message that is decoded each time it is accessed. Used for recursive messages, and for messages
/// that are rarely accessed.
#[derive(Clone, Copy, Default)]
pub struct Nested<'a, V> {
    /// Encoded and validated message with its header. Empty for a default message.
    message: &'a [u8],
    view: PhantomData<V>,
}

impl<'a, V: MessageView<'a>> Nested<'a, V> {
    /// Decodes the nested message.
    pub fn get(&self) -> V {
        // Decoding cannot fail, because the same bytes were decoded before. An empty slice is the default message.
        V::decode(&mut Decoder::again(self.message)).unwrap_or_default()
    }

    /// Returns the encoded message with its header, which is a valid body. The result is empty for a default message.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.message
    }
}

impl<'a, V: MessageView<'a>> View<'a> for Nested<'a, V> {
    const KIND: Kind = Kind::Any;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let message = walk(from, |from| V::decode(from).map(drop))?;
        Ok(Self { message, view: PhantomData })
    }
}

/// Iterator over the elements of a [`List`].
pub struct Items<'a, V> {
    from: Decoder<'a>,
    left: usize,
    element: PhantomData<V>,
}

impl<'a, V: View<'a>> Iterator for Items<'a, V> {
    type Item = V;

    #[inline]
    fn next(&mut self) -> Option<V> {
        self.left = self.left.checked_sub(1)?;
        // Decoding cannot fail, because the same bytes were decoded before.
        Some(V::decode(&mut self.from).unwrap_or_default())
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, V: View<'a>> ExactSizeIterator for Items<'a, V> {}

impl<'a, V: View<'a>> FusedIterator for Items<'a, V> {}

impl<'a, V: View<'a>> IntoIterator for &List<'a, V> {
    type Item = V;
    type IntoIter = Items<'a, V>;

    fn into_iter(self) -> Items<'a, V> {
        self.iter()
    }
}

/// Calls `decode`, and returns the part of the input that it has read.
#[inline]
fn walk<'a>(
    from: &mut Decoder<'a>,
    decode: impl FnOnce(&mut Decoder<'a>) -> Result<(), DecodeError>,
) -> Result<&'a [u8], DecodeError> {
    let before = from.rest();
    decode(from)?;
    let length = before.len().wrapping_sub(from.remaining()); // The remaining input is a suffix of `before`.
    Ok(before.get(..length).unwrap_or_default())
}

impl<'a, V: View<'a> + fmt::Debug> fmt::Debug for List<'a, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'a, K: View<'a> + fmt::Debug, V: View<'a> + fmt::Debug> fmt::Debug for Map<'a, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'a, V: MessageView<'a> + fmt::Debug> fmt::Debug for Nested<'a, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<V> fmt::Debug for Items<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("left", &self.left).finish_non_exhaustive()
    }
}
