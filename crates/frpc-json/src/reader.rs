//! [`Reader`]: JSON to values, one token after the other, each bounded by the remaining input.
//!
//! Owns the position, the structure of objects and arrays, and the limits. Strings are in `reader/strings.rs`, numbers
//! in `reader/numbers.rs`, and what fields, lists and maps do with values in `reader/fields.rs`.

mod fields;
mod numbers;
mod strings;

use std::borrow::Cow;

use crate::error::quoted;
use crate::limits::REREAD_MAX;
use crate::{DecodeError, DecodeReason, Options};

pub(crate) use numbers::{fitting, integer_of};
pub(crate) use strings::is_plain;
pub use strings::plain_length;

/// Reads values from JSON.
///
/// Generated code reads messages with it. Used by hand it reads envelopes of messages, such as those of a protocol:
///
/// ```
/// use frpc_json::{Options, Reader};
///
/// let mut reader = Reader::new(br#"{ "id": 7, "method": "greet", "trace": [] }"#, &Options::new())?;
/// let (mut id, mut method) = (0_u32, String::new());
/// reader.object(|key, reader| match key {
///     "id" => reader.value(&mut id),
///     "method" => reader.value(&mut method),
///     _ => reader.skip(),
/// })?;
/// reader.end()?;
/// assert_eq!((id, &method[..]), (7, "greet"));
/// # Ok::<(), frpc_json::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    /// The offset of the next byte. `at <= text.len()`.
    at: usize,
    /// How many more levels may be entered.
    levels: u32,
    /// How much memory containers may still take, in bytes.
    memory: usize,
    /// How many bytes may still be read twice.
    reread: usize,
    /// Whether the next object is the content of an `Any`, so that it has `@type` in addition to its fields.
    is_any: bool,
    options: Options<'a>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl<'a> Reader<'a> {
    /// Reads from the beginning of `json`, which is checked to be UTF-8 as a whole. A byte order mark is skipped.
    ///
    /// # Errors
    ///
    /// If the input is not UTF-8.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"true", &Options::new())?;
    /// let mut flag = false;
    /// reader.value(&mut flag)?;
    /// assert!(flag);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub fn new(json: &'a [u8], options: &Options<'a>) -> Result<Self, DecodeError> {
        let Ok(text) = simdutf8::basic::from_utf8(json) else {
            let valid = std::str::from_utf8(json).map_or_else(|error| error.valid_up_to(), str::len);
            return Err(DecodeError::new(DecodeReason::Utf8, valid));
        };
        Ok(Self {
            text,
            // Some editors and programs begin a text with a byte order mark.
            at: if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 },
            levels: options.nesting_max,
            memory: options.container_memory,
            reread: text.len().saturating_mul(REREAD_MAX),
            is_any: false,
            options: *options,
        })
    }

    /// How much memory containers have taken, in bytes.
    pub(crate) fn container_memory(&self) -> usize {
        self.options.container_memory.saturating_sub(self.memory)
    }

    /// The offset of the next byte, from the beginning of the input.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"[1, 2]", &Options::new())?;
    /// reader.skip()?;
    /// assert_eq!(reader.position(), 6);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// The offset of the next value, after white space.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"  7", &Options::new())?;
    /// assert_eq!(reader.value_offset(), 2);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[inline(always)]
    pub fn value_offset(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    ///
    /// If there is more.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"null null", &Options::new())?;
    /// reader.skip()?;
    /// assert!(reader.end().is_err(), "another value follows");
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub fn end(&mut self) -> Result<(), DecodeError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the input")),
        }
    }

    /// Peeks at the next byte that is not white space; none at the end of the input. It distinguishes kinds of values.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"  [1]", &Options::new())?;
    /// assert_eq!(reader.peek(), Some(b'['));
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[inline(always)]
    pub fn peek(&mut self) -> Option<u8> {
        match self.text.as_bytes().get(self.at).copied() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.peek_behind_space(),
        }
    }

    #[inline(never)]
    fn peek_behind_space(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_space = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n' | b'\r');
        let spaces = rest.iter().take_while(is_space).count();
        self.advance(spaces);
        rest.get(spaces).copied()
    }

    /// Skips bytes that are known to exist.
    #[inline(always)]
    fn advance(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    /// Reads `byte` if it is the next one after white space.
    #[inline(always)]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        if is_it {
            self.advance(1);
        }
        is_it
    }

    /// Reads a word if it is next: `null`, `true` or `false`.
    #[inline(always)]
    fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        if is_it {
            self.advance(word.len());
        }
        is_it
    }

    /// Reads `null` if it is next.
    #[inline(always)]
    #[doc(hidden)]
    pub fn null(&mut self) -> Result<bool, DecodeError> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        if self.take_word("null") { Ok(true) } else { Err(self.unexpected("a value")) }
    }

    /// Reads a bool.
    #[inline]
    pub(crate) fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.peek() {
            Some(b't') if self.take_word("true") => Ok(true),
            Some(b'f') if self.take_word("false") => Ok(false),
            _ => Err(self.unexpected("bool")),
        }
    }

    /// Reads an object and calls `entry` for each key, unescaped, which has to read the value.
    ///
    /// # Errors
    ///
    /// If there is no object, or `entry` fails. Keys that occur twice are left to `entry`.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(br#"{"a": 1, "b": 2}"#, &Options::new())?;
    /// let mut keys = Vec::new();
    /// reader.object(|key, reader| {
    ///     keys.push(key.to_owned());
    ///     reader.skip()
    /// })?;
    /// assert_eq!(keys, ["a", "b"]);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[inline]
    pub fn object(
        &mut self,
        mut entry: impl FnMut(&str, &mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut is_key = self.first_field()?;
        while is_key {
            let name = self.key()?;
            entry(&name, self)?;
            is_key = self.next_field()?;
        }
        Ok(())
    }

    /// Reads an array and calls `element` for each element, which has to read it.
    ///
    /// # Errors
    ///
    /// If there is no array, or `element` fails.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"[1, 2]", &Options::new())?;
    /// let mut sum = 0;
    /// reader.array(|reader| {
    ///     let mut number = 0_u32;
    ///     reader.value(&mut number)?;
    ///     sum += number;
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum, 3);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[inline]
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), DecodeError>) -> Result<(), DecodeError> {
        let mut is_element = self.first_element("array")?;
        while is_element {
            element(self)?;
            is_element = self.next_element()?;
        }
        Ok(())
    }

    /// Reads the beginning of an object, and says whether a key follows.
    #[inline(always)]
    pub(crate) fn first_field(&mut self) -> Result<bool, DecodeError> {
        if !self.take(b'{') {
            return Err(self.unexpected("object"));
        }
        Ok(!self.take(b'}'))
    }

    /// Reads the end of an object or a comma, and says whether a key follows.
    #[inline(always)]
    pub(crate) fn next_field(&mut self) -> Result<bool, DecodeError> {
        if self.take(b',') {
            Ok(true)
        } else if self.take(b'}') {
            Ok(false)
        } else {
            Err(self.unexpected("`,` or `}`"))
        }
    }

    /// Reads a key if it is next and equals `name` byte for byte, followed directly by a colon.
    #[inline(always)]
    pub(crate) fn take_key(&mut self, name: &str) -> bool {
        if self.peek() != Some(b'"') {
            return false;
        }
        let key = self.text.as_bytes().get(self.at.wrapping_add(1)..).unwrap_or_default();
        let is_it = key.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"\":"));
        if is_it {
            self.advance(name.len().wrapping_add(3));
        }
        is_it
    }

    #[inline]
    pub(crate) fn key(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let key = self.string("key")?;
        if self.take(b':') { Ok(key) } else { Err(self.unexpected("`:`")) }
    }

    /// Reads the beginning of an array, and says whether an element follows, which has to be read then. `expected`
    /// names the value in an error.
    ///
    /// # Errors
    ///
    /// If there is no array.
    #[inline]
    pub fn first_element(&mut self, expected: &'static str) -> Result<bool, DecodeError> {
        if !self.take(b'[') {
            return Err(self.unexpected(expected));
        }
        Ok(!self.take(b']'))
    }

    /// Reads the end of an array or a comma, and says whether an element follows, which has to be read then.
    ///
    /// # Errors
    ///
    /// If there is neither.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, DecodeError> {
        if self.take(b',') {
            Ok(true)
        } else if self.take(b']') {
            Ok(false)
        } else {
            Err(self.unexpected("`,` or `]`"))
        }
    }

    /// Reads a value of any kind and returns its text.
    ///
    /// # Errors
    ///
    /// If it is not JSON.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(br#"{"a": [1]} "#, &Options::new())?;
    /// assert_eq!(reader.raw()?, r#"{"a": [1]}"#);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub fn raw(&mut self) -> Result<&'a str, DecodeError> {
        let start = self.value_offset();
        self.skip()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Reads a value of any kind and drops it. Objects and arrays in it may nest twice as deep as messages may at this
    /// place, since a message takes an object, and another object or array if it is in a map or list.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or nests too deep.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(br#"{"a": [1]}"#, &Options::new())?;
    /// reader.skip()?;
    /// reader.end()?;
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub fn skip(&mut self) -> Result<(), DecodeError> {
        self.skip_within(self.levels.saturating_mul(2))
    }

    /// Drops a value around which so many objects and arrays may begin. Its stack is small next to that of messages.
    fn skip_within(&mut self, levels: u32) -> Result<(), DecodeError> {
        match self.peek() {
            Some(b'"') => self.skip_string(),
            Some(b'-' | b'0'..=b'9') => self.number("value").map(drop),
            Some(b't') if self.take_word("true") => Ok(()),
            Some(b'f') if self.take_word("false") => Ok(()),
            Some(b'n') if self.take_word("null") => Ok(()),
            Some(b'{') => {
                let mut is_key = self.first_field()?;
                while is_key {
                    self.skip_key()?;
                    self.skip_below(levels)?;
                    is_key = self.next_field()?;
                }
                Ok(())
            }
            Some(b'[') => self.array(|from| from.skip_below(levels)),
            _ => Err(self.unexpected("value")),
        }
    }

    fn skip_below(&mut self, levels: u32) -> Result<(), DecodeError> {
        let levels = levels.checked_sub(1).ok_or_else(|| self.too_deep())?;
        self.skip_within(levels)
    }

    fn skip_key(&mut self) -> Result<(), DecodeError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("key"));
        }
        self.skip_string()?;
        if self.take(b':') { Ok(()) } else { Err(self.unexpected("`:`")) }
    }

    /// Reads something a level deeper.
    #[inline(always)]
    #[doc(hidden)]
    pub fn level<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        self.levels = self.levels.checked_sub(1).ok_or_else(|| self.too_deep())?;
        let value = read(self)?;
        self.levels = self.levels.wrapping_add(1); // The same level as before.
        Ok(value)
    }

    /// Charges memory for `count` values to the remaining budget.
    #[inline(always)]
    pub(crate) fn charge<T>(&mut self, count: usize) -> Result<(), DecodeError> {
        self.charge_bytes(size_of::<T>().saturating_mul(count))
    }

    /// Takes memory from what [containers may have](Options::container_memory), in bytes: for values that grow with
    /// their input to more than its length.
    ///
    /// # Errors
    ///
    /// If so much is not left.
    #[inline(always)]
    pub fn charge_bytes(&mut self, needed: usize) -> Result<(), DecodeError> {
        match self.memory.checked_sub(needed) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(self.error(DecodeReason::ContainerMemory { needed, left: self.memory })),
        }
    }

    pub(crate) fn options(&self) -> &Options<'a> {
        &self.options
    }

    /// Marks the next object as the content of an `Any`, if `is_any`, and says whether it was marked before.
    #[inline(always)]
    pub(crate) fn mark_any(&mut self, is_any: bool) -> bool {
        std::mem::replace(&mut self.is_any, is_any)
    }

    /// Goes back to a position, to read the bytes from there again.
    ///
    /// Outer levels may read the same bytes again, so the number of bytes read ahead is limited.
    pub(crate) fn rewind(&mut self, start: usize) -> Result<(), DecodeError> {
        let read = self.at.saturating_sub(start);
        self.at = start;
        self.reread = self.reread.checked_sub(read).ok_or_else(|| self.error(DecodeReason::TypeTooFar))?;
        Ok(())
    }

    /// Refuses the value that began at `offset` for a reason of its own, for types that implement
    /// [`Json`](crate::Json) themselves.
    #[cold]
    #[inline(never)]
    pub fn refuse(offset: usize, reason: impl Into<String>) -> DecodeError {
        DecodeError::new(DecodeReason::Refused(reason.into()), offset)
    }

    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn error(&self, reason: DecodeReason) -> DecodeError {
        DecodeError::new(reason, self.at)
    }

    /// The next byte is not as it should be.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn unexpected(&self, expected: &'static str) -> DecodeError {
        let found = self.text.as_bytes().get(self.at).copied();
        self.error(DecodeReason::Unexpected { expected, found })
    }

    /// Reads a string in a form that `parse` knows.
    pub(crate) fn parsed<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DecodeError> {
        let offset = self.value_offset();
        let text = self.string(expected)?;
        parse(&text).ok_or_else(|| Self::invalid(expected, &text, offset))
    }

    /// The value that began at `offset` is no such value.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn invalid(expected: &'static str, text: &str, offset: usize) -> DecodeError {
        DecodeError::new(DecodeReason::Invalid { expected, text: quoted(text) }, offset)
    }

    #[cold]
    #[inline(never)]
    fn too_deep(&self) -> DecodeError {
        self.error(DecodeReason::NestingTooDeep { max: self.options.nesting_max })
    }
}
