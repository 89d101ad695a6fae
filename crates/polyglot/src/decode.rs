//! [`Decoder`]: decodes values, with one method for each kind. No read exceeds the remaining input.

mod cursor;
mod fields;
mod short_copies;
mod strings;

use bytes::Bytes;

use crate::limits::{BULK_MIN, CONTAINER_MEMORY_MAX};
use crate::{DecodeError, DecodeReason, Kind, Nesting, Root, Utf8Bytes, varint};
use strings::{long_text, string, string_over};

/// Decodes values from a byte slice.
///
/// If decoding a single value or the header of a list or map fails, the position does not change. After an error within
/// a list, map or message, the position is unspecified.
///
/// ```
/// use polyglot::Decoder;
///
/// let mut decoder = Decoder::new(&[0x05, 0x0a, 2, b'h', b'i', 0x0c, 0x01]);
/// assert!(decoder.i32().is_err());
/// assert_eq!(decoder.position(), 0);
/// assert_eq!(decoder.str()?, "hi");
/// assert_eq!(decoder.i32()?, -1);
/// assert_eq!(decoder.remaining(), 0);
/// # Ok::<(), polyglot::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
    /// Length of the whole input. Offsets in errors are computed from it, because `rest` is a suffix of the input.
    end: usize,
    shared: Option<&'a Bytes>,
    /// Whether any decoded value is a slice of `shared`, which keeps the whole input alive.
    has_sliced: bool,
    /// Number of nesting levels that messages may still use.
    levels: u32,
    nesting: Nesting,
    container_memory: usize,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder of `input` that copies [`Bytes`] and [`Utf8Bytes`].
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[7, 1]);
    /// assert!(decoder.bool()?);
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn new(input: &'a [u8]) -> Self {
        Self {
            rest: input,
            end: input.len(),
            shared: None,
            has_sliced: false,
            levels: Nesting::DEFAULT.levels(),
            nesting: Nesting::DEFAULT,
            container_memory: CONTAINER_MEMORY_MAX,
        }
    }

    /// Creates a decoder of `input` that returns [`Bytes`] and [`Utf8Bytes`] of at least [`BULK_MIN`] bytes as slices
    /// of the input, which keep the input alive. Shorter values are copied, because the input may be a slice of a much
    /// larger buffer.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use polyglot::Decoder;
    ///
    /// let input = Bytes::from([&[4, 10, 0x80, 0x80, 4][..], &[7; 65_536]].concat());
    /// let mut decoder = Decoder::shared(&input);
    /// assert_eq!(decoder.bytes()?.len(), 65_536);
    /// assert!(decoder.has_sliced(), "the value shares the memory of the input");
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn shared(input: &'a Bytes) -> Self {
        Self { shared: Some(input), ..Self::new(input) }
    }

    /// Sets the maximum memory of containers in bytes. Defaults to [`CONTAINER_MEMORY_MAX`].
    ///
    /// Each list or map element and each boxed message counts with its size in memory. Memory that elements point to,
    /// such as the text of a string, is not counted, because the size of the input bounds it. The unused slots of hash
    /// tables are not counted either.
    ///
    /// ```
    /// use polyglot::{Decoder, Kind};
    ///
    /// let mut decoder = Decoder::new(&[1, 7, 10, 2, 7, 1, 7, 1]).with_container_memory(1);
    /// assert!(decoder.field::<Vec<bool>>("flags").is_err(), "two bytes exceed the limit");
    /// ```
    #[inline]
    #[must_use]
    pub fn with_container_memory(self, bytes: usize) -> Self {
        Self { container_memory: bytes, ..self }
    }

    /// Sets the maximum nesting depth of messages. Defaults to [`NESTING_MAX`](crate::NESTING_MAX).
    ///
    /// ```
    /// use polyglot::{Decoder, Nesting};
    ///
    /// let nested = [0x08, 0x00, 0x08, 0x00];
    /// let inner = |from: &mut Decoder<'_>| from.message(|_| Ok(()));
    /// assert!(Decoder::new(&nested).message(inner).is_ok());
    ///
    /// let error = Decoder::new(&nested).with_nesting(Nesting::new(1)).message(inner).unwrap_err();
    /// assert_eq!(error.to_string(), "at byte 2: messages nest deeper than 1");
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn with_nesting(self, nesting: Nesting) -> Self {
        Self { levels: nesting.levels(), nesting, ..self }
    }

    /// Creates a decoder for input that has already been decoded once. It uses the largest nesting limit, so it accepts
    /// all messages that another decoder has accepted.
    #[inline]
    pub(crate) fn again(input: &'a [u8]) -> Self {
        Self::new(input).with_nesting(Nesting::DEEPEST)
    }

    /// Returns the maximum nesting depth of messages.
    #[inline]
    pub(crate) fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// Returns whether long [`Bytes`] and [`Utf8Bytes`] values are decoded as slices of the input.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns whether any value was decoded as a slice of the [shared](Self::shared) input. Such a value keeps the
    /// whole input in memory.
    #[inline]
    #[must_use]
    pub fn has_sliced(&self) -> bool {
        self.has_sliced
    }

    /// Returns how many bytes of [container memory](Self::with_container_memory) further lists, maps and boxed messages
    /// may use.
    #[inline]
    #[must_use]
    pub fn container_memory(&self) -> usize {
        self.container_memory
    }

    /// Returns the number of input bytes that have not been read.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Returns the number of bytes read.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[7, 1, 7, 0]);
    /// decoder.bool()?;
    /// assert_eq!((decoder.position(), decoder.remaining()), (2, 2));
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.end.wrapping_sub(self.rest.len()) // `rest` is a suffix of the input.
    }

    /// Returns the unread bytes.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[7, 1, 7, 0]);
    /// decoder.bool()?;
    /// assert_eq!(decoder.rest(), [7, 0]);
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads a body without decoding its message, which can be done later. The body may contain an error in place of a
    /// message. If the decoder is [shared](Self::shared), a long body is a slice of the input. A short body is copied
    /// into a shared block of memory.
    ///
    /// ```
    /// use polyglot::{Decoder, Root};
    ///
    /// let mut decoder = Decoder::new(&[8, 0, 7, 1]);
    /// let Root::Message(body) = decoder.take_body()? else { panic!("an error") };
    /// assert_eq!((&body[..], decoder.remaining()), (&[8, 0, 7, 1][..], 0));
    /// assert!(decoder.take_body().is_err(), "an empty body has no message");
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the body is empty, or begins with neither a value nor a valid error.
    #[inline]
    pub fn take_body(&mut self) -> Result<Root<Bytes>, DecodeError> {
        match self.peek() {
            Some(Kind::Error) => self.error_text().map(|text| Root::Error(text.to_owned())),
            Some(_) => Ok(Root::Message(self.take_rest())),
            None => Err(self.cursor().unexpected(Kind::Any)),
        }
    }

    /// Reads all remaining bytes, sharing the memory of long ones if the decoder is shared.
    pub(crate) fn take_rest(&mut self) -> Bytes {
        let rest = match self.shared {
            Some(input) if self.rest.len() >= BULK_MIN => {
                self.has_sliced = true;
                input.slice(self.position()..)
            }
            _ => {
                // Charge the rest of the shared block as container memory, because each stored copy can keep the whole
                // block alive.
                self.container_memory = self.container_memory.saturating_sub(short_copies::surplus(self.rest.len()));
                short_copies::copy(self.rest)
            }
        };
        self.rest = &[];
        rest
    }

    /// Returns the kind of the next value. Returns `None` at the end of the input, or if the next byte is not a valid
    /// kind.
    ///
    /// ```
    /// use polyglot::{Decoder, Kind};
    ///
    /// assert_eq!(Decoder::new(&[7, 1]).peek(), Some(Kind::Bool));
    /// assert_eq!(Decoder::new(&[]).peek(), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<Kind> {
        self.rest.first().copied().and_then(Kind::from_byte)
    }

    /// Reads a nil if it is the next value. Returns whether a nil was read.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[0, 7, 1]);
    /// assert!(decoder.take_nil());
    /// assert!(!decoder.take_nil(), "a bool is next");
    /// ```
    #[inline]
    #[must_use]
    pub fn take_nil(&mut self) -> bool {
        match self.rest {
            [0x00, rest @ ..] => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads a nil.
    ///
    /// # Errors
    ///
    /// If the next value is missing or is not nil.
    #[inline]
    pub fn nil(&mut self) -> Result<(), DecodeError> {
        if self.take_nil() { Ok(()) } else { Err(self.unexpected(Kind::Nil)) }
    }

    /// Reads a bool.
    ///
    /// # Errors
    ///
    /// If the next value is not a bool, or its byte is neither 0 nor 1.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[7, 1]);
    /// assert_eq!(decoder.bool()?, true);
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    pub fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.rest {
            [0x07, byte @ (0 | 1), rest @ ..] => {
                self.rest = rest;
                Ok(*byte == 1)
            }
            [0x07, byte, ..] => Err(self.error(DecodeReason::Bool(*byte))),
            _ => Err(self.unexpected(Kind::Bool)),
        }
    }

    /// Reads a string as a slice of the input, without copying it.
    ///
    /// # Errors
    ///
    /// If the next value is not a string, is longer than the remaining input, or is not UTF-8.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[5, 10, 2, b'h', b'i']);
    /// assert_eq!(decoder.str()?, "hi");
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    pub fn str(&mut self) -> Result<&'a str, DecodeError> {
        let (content, rest) = self.sized(Kind::String)?;
        let text = if content.len() < BULK_MIN { std::str::from_utf8(content).ok() } else { long_text(content) };
        match text {
            Some(text) => {
                self.rest = rest;
                Ok(text)
            }
            None => Err(self.error(DecodeReason::Utf8)),
        }
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// Like [`str`](Self::str).
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[5, 10, 2, b'h', b'i']);
    /// assert_eq!(decoder.string()?, "hi".to_owned());
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline(always)] // Inlined because it only checks the header and then calls a function without `self`.
    pub fn string(&mut self) -> Result<String, DecodeError> {
        let (content, rest) = self.sized(Kind::String)?;
        match string(content) {
            Some(text) => {
                self.rest = rest;
                Ok(text)
            }
            None => Err(self.error(DecodeReason::Utf8)),
        }
    }

    /// Like [`string`](Self::string), but overwrites `text` and reuses its allocation. After an error, the content of
    /// `text` is unspecified.
    ///
    /// # Errors
    ///
    /// Like [`str`](Self::str).
    #[inline(always)] // Inlined because it only checks the header and then calls a function without `self`.
    pub(crate) fn string_over(&mut self, text: &mut String) -> Result<(), DecodeError> {
        let (content, rest) = self.sized(Kind::String)?;
        if !string_over(content, text) {
            return Err(self.error(DecodeReason::Utf8));
        }
        self.rest = rest;
        Ok(())
    }

    /// Reads a bytes value as a slice of the input, without copying it.
    ///
    /// # Errors
    ///
    /// If the next value is not bytes, or is longer than the remaining input.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[4, 10, 2, 1, 2]);
    /// assert_eq!(decoder.slice()?, [1, 2]);
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    pub fn slice(&mut self) -> Result<&'a [u8], DecodeError> {
        let (content, rest) = self.sized(Kind::Bytes)?;
        self.rest = rest;
        Ok(content)
    }

    /// Reads a bytes value into `bytes`, replacing the previous content and reusing its allocation.
    #[inline]
    pub(crate) fn bytes_over(&mut self, bytes: &mut Vec<u8>) -> Result<(), DecodeError> {
        let content = self.slice()?;
        bytes.clear();
        bytes.extend_from_slice(content);
        Ok(())
    }

    /// Reads a bytes value. If the decoder is [shared](Self::shared) and the value has at least [`BULK_MIN`] bytes, it
    /// becomes a slice of the input. Otherwise it is copied.
    ///
    /// # Errors
    ///
    /// Like [`slice`](Self::slice).
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[4, 10, 2, 1, 2]);
    /// assert_eq!(decoder.bytes()?, [1, 2][..]);
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    pub fn bytes(&mut self) -> Result<Bytes, DecodeError> {
        let content = self.slice()?;
        Ok(match self.shared {
            Some(input) if content.len() >= BULK_MIN => {
                let end = self.position();
                self.has_sliced = true;
                input.slice(end.wrapping_sub(content.len())..end) // `content` was read last.
            }
            _ => Bytes::copy_from_slice(content),
        })
    }

    /// Reads a string. If the decoder is [shared](Self::shared) and the string has at least [`BULK_MIN`] bytes, it
    /// becomes a slice of the input. Otherwise it is copied.
    ///
    /// # Errors
    ///
    /// Like [`str`](Self::str).
    #[inline]
    pub fn utf8_bytes(&mut self) -> Result<Utf8Bytes, DecodeError> {
        let text = self.str()?;
        Ok(match self.shared {
            Some(input) if text.len() >= BULK_MIN => {
                self.has_sliced = true;
                Utf8Bytes::slice_of(input, text)
            }
            _ => text.into(),
        })
    }

    /// Reads the text of an error. A body may contain an error instead of a root message.
    ///
    /// # Errors
    ///
    /// If the next value is not an error, is longer than the remaining input, or is not UTF-8.
    #[inline(always)]
    pub fn error_text(&mut self) -> Result<&'a str, DecodeError> {
        let (text, rest) = self.cursor().error_text()?;
        self.rest = rest;
        Ok(text)
    }

    /// Reads the header of a list with elements of the kind `element`. Returns the number of elements.
    ///
    /// # Errors
    ///
    /// If the next value is not such a list, or the remaining input is too short for its elements.
    #[inline]
    pub fn list(&mut self, element: Kind) -> Result<usize, DecodeError> {
        match self.rest {
            [0x01, found, length @ ..] if *found == element.byte() => {
                self.container(Kind::List, length, element.smallest())
            }
            [0x01, found, ..] => Err(self.error(DecodeReason::WrongElementKind { expected: element, found: *found })),
            _ => Err(self.unexpected(Kind::List)),
        }
    }

    /// Reads the header of a map with keys and values of these kinds. Returns the number of key-value pairs, which is 0
    /// for nil.
    ///
    /// # Errors
    ///
    /// If the next value is not such a map, or the remaining input is too short for its pairs.
    #[inline]
    pub fn map(&mut self, key: Kind, value: Kind) -> Result<usize, DecodeError> {
        match self.rest {
            [0x00, rest @ ..] => {
                self.rest = rest;
                Ok(0)
            }
            [0x02, found, ..] if *found != key.byte() => {
                Err(self.error(DecodeReason::WrongElementKind { expected: key, found: *found }))
            }
            [0x02, _, found, length @ ..] if *found == value.byte() => {
                let smallest = key.smallest().wrapping_add(value.smallest()); // The sum is at most 18.
                self.container(Kind::Map, length, smallest)
            }
            [0x02, _, found, ..] => Err(self.error(DecodeReason::WrongElementKind { expected: value, found: *found })),
            _ => Err(self.unexpected(Kind::Map)),
        }
    }

    /// Deducts the memory of `count` values of type `T` from the memory limit for lists and maps. Must be called before
    /// the memory is allocated.
    #[inline]
    pub(crate) fn charge<T>(&mut self, count: usize) -> Result<(), DecodeError> {
        let needed = count.saturating_mul(size_of::<T>());
        match self.container_memory.checked_sub(needed) {
            Some(left) => {
                self.container_memory = left;
                Ok(())
            }
            None => Err(self.error(DecodeReason::ContainerMemory { needed, left: self.container_memory })),
        }
    }

    /// Reads the header of a oneof in the extended form. Returns the number of the member that is set, which starts at
    /// 1 in the order of declaration, or 0 if no member is set. Returns `None` if the next value is not such a header.
    /// For hand-written codecs; generated code uses [`oneof`](Self::oneof).
    ///
    /// # Errors
    ///
    /// If the header is truncated.
    #[inline]
    pub fn member_head(&mut self) -> Result<Option<u32>, DecodeError> {
        match self.rest {
            [0x03, ..] => self.varint(Kind::Any).map(|member| Some(member as u32)),
            _ => Ok(None),
        }
    }

    /// Returns the error for input that does not start with a complete value of the kind `expected`.
    #[inline(always)]
    fn unexpected(&self, expected: Kind) -> DecodeError {
        self.cursor().unexpected(expected)
    }

    /// Reads the byte that states the kind of a value, which must be `kind`, and the `N` bytes after it.
    #[inline]
    fn fixed<const N: usize>(&mut self, kind: Kind) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first() {
            Some((found, rest)) if *found == kind.byte() => {
                let Some((bytes, rest)) = rest.split_first_chunk() else { return Err(self.unexpected(kind)) };
                self.rest = rest;
                Ok(*bytes)
            }
            _ => Err(self.unexpected(kind)),
        }
    }

    /// Reads the byte that states the kind of a value, which must be `kind`, and the varint after it.
    #[inline]
    fn varint(&mut self, kind: Kind) -> Result<u64, DecodeError> {
        match self.rest {
            [found, byte, rest @ ..] if *found == kind.byte() && *byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(*byte))
            }
            _ => {
                let (value, rest) = self.cursor().varint(kind, varint::length_max(kind))?;
                self.rest = rest;
                Ok(value)
            }
        }
    }

    /// Returns the content of a string or bytes value, and the input that follows it. Does not advance the decoder.
    #[inline]
    fn sized(&self, kind: Kind) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
        if let [found, 0x0a, length, rest @ ..] = self.rest
            && *found == kind.byte()
            && *length < 0x80
            && let Some(parts) = rest.split_at_checked(usize::from(*length))
        {
            return Ok(parts);
        }
        self.cursor().sized(kind)
    }

    /// Reads the number of elements in the header of a list or map. Fails if the remaining input cannot hold that many
    /// elements of at least `smallest` bytes.
    #[inline]
    fn container(&mut self, kind: Kind, length: &'a [u8], smallest: usize) -> Result<usize, DecodeError> {
        let (length, rest) = self.cursor().length(kind, length)?;
        // Each kind has a minimum size above zero, so the remaining input bounds the number of elements.
        if length as usize > rest.len().checked_div(smallest).unwrap_or(0) {
            return Err(self.error(DecodeReason::TooManyElements { kind, length, left: rest.len() }));
        }
        self.rest = rest;
        Ok(length as usize)
    }
}

/// Defines the methods that read numbers. The arguments are the Rust type, the method that reads the bytes of a number,
/// the conversion to the Rust type, and a doc example.
macro_rules! numbers {
    ($($what:literal $type:ident $kind:ident $read:ident $missing:literal |$read_value:ident| $value:expr, $bytes:literal $example:literal;)*) => {
        impl Decoder<'_> {$(
            #[doc = concat!("Reads ", $what, ".")]
            ///
            /// # Errors
            ///
            #[doc = concat!("If no ", stringify!($type), " is next", $missing, ".")]
            ///
            /// ```
            #[doc = concat!("let mut decoder = polyglot::Decoder::new(&", $bytes, ");")]
            #[doc = concat!("assert_eq!(decoder.", stringify!($type), "()?, ", $example, ");")]
            /// # Ok::<(), polyglot::DecodeError>(())
            /// ```
            #[inline]
            pub fn $type(&mut self) -> Result<$type, DecodeError> {
                let $read_value = self.$read(Kind::$kind)?;
                Ok($value)
            }
        )*}
    };
}

// Excess bits of a varint are discarded. Signed integers are zigzag-encoded.
numbers! {
    "a u8" u8 U8 fixed "" |bytes| u8::from_be_bytes(bytes), "[8, 200]" "200";
    "a u16" u16 U16 varint ", or its varint is cut off or longer than 3 bytes" |varint| varint as u16, "[9, 0xac, 2]" "300";
    "a u32" u32 U32 varint ", or its varint is cut off or longer than 5 bytes" |varint| varint as u32, "[10, 0xac, 2]" "300";
    "a u64" u64 U64 varint ", or its varint is cut off or longer than 10 bytes" |varint| varint, "[11, 0xac, 2]" "300";
    "an i32" i32 I32 varint ", or its varint is cut off or longer than 5 bytes"
        |varint| (varint as u32 >> 1) as i32 ^ ((varint & 1) as i32).wrapping_neg(), "[12, 1]" "-1";
    "an i64" i64 I64 varint ", or its varint is cut off or longer than 10 bytes"
        |varint| (varint >> 1) as i64 ^ ((varint & 1) as i64).wrapping_neg(), "[13, 1]" "-1";
    "an f32, the payload of a NaN included" f32 F32 fixed ""
        |bytes| f32::from_bits(u32::from_be_bytes(bytes)), "[14, 0x3f, 0x80, 0, 0]" "1.0";
    "an f64, the payload of a NaN included" f64 F64 fixed ""
        |bytes| f64::from_bits(u64::from_be_bytes(bytes)), "[15, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]" "1.0";
}
