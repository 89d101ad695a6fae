//! [`Reader`]: reads values from JSON, token by token. Every read is bounded by the remaining input.
//!
//! Contains the position, the structure of objects and arrays, and the limits. Strings are in `reader/strings.rs`,
//! numbers in `reader/numbers.rs`, and fields and members of oneofs in `reader/fields.rs`.

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
/// Used by generated code for messages. It can also be used directly, for example for the envelopes of a protocol:
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
    /// The offset of the next byte to read, which is at most `text.len()`.
    at: usize,
    /// Number of further nesting levels that messages may have.
    levels: u32,
    /// Number of bytes that lists, maps and boxed messages may still use.
    memory: usize,
    /// Number of bytes that may still be read a second time.
    reread: usize,
    /// Whether the next object is the content of an `Any`, which has an `@type` member in addition to its fields.
    is_any: bool,
    options: Options<'a>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl<'a> Reader<'a> {
    /// Creates a reader of `json`. Validates immediately that it is UTF-8, and skips a byte order mark.
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
            // Skip a byte order mark, which some editors and programs write.
            at: if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 },
            levels: options.nesting_max,
            memory: options.container_memory,
            reread: text.len().saturating_mul(REREAD_MAX),
            is_any: false,
            options: *options,
        })
    }

    /// Returns the memory in bytes used so far by lists, maps and boxed messages.
    pub(crate) fn container_memory(&self) -> usize {
        self.options.container_memory.saturating_sub(self.memory)
    }

    /// Returns the offset of the next byte in the input.
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

    /// Skips white space and returns the offset of the next value.
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

    /// Checks that only white space remains in the input.
    ///
    /// # Errors
    ///
    /// If more input follows.
    ///
    /// ```
    /// use frpc_json::{Options, Reader};
    ///
    /// let mut reader = Reader::new(b"null null", &Options::new())?;
    /// reader.skip()?;
    /// assert!(reader.end().is_err(), "second value should be rejected");
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub fn end(&mut self) -> Result<(), DecodeError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the input")),
        }
    }

    /// Returns the next byte after white space, which determines the kind of the value; `None` at the end of the input.
    /// Does not consume the byte.
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

    /// Skips this many bytes, which the caller has already seen.
    #[inline(always)]
    fn advance(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    /// Skips white space, and reads `byte` if it is next. Returns whether it was.
    #[inline(always)]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        if is_it {
            self.advance(1);
        }
        is_it
    }

    /// Reads a keyword (`null`, `true` or `false`) if it is next. Returns whether it was.
    #[inline(always)]
    fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        if is_it {
            self.advance(word.len());
        }
        is_it
    }

    /// Reads `null` if it is next. Returns whether it was.
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

    /// Reads an object, calling `entry` with each unescaped key. `entry` must read the value of the key.
    ///
    /// # Errors
    ///
    /// If the next value is not an object, or `entry` fails. Duplicate keys are not detected.
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

    /// Reads an array, calling `element` for each element. `element` must read it.
    ///
    /// # Errors
    ///
    /// If the next value is not an array, or `element` fails.
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

    /// Reads the opening brace of an object. Returns whether a key follows.
    #[inline(always)]
    pub(crate) fn first_field(&mut self) -> Result<bool, DecodeError> {
        if !self.take(b'{') {
            return Err(self.unexpected("object"));
        }
        Ok(!self.take(b'}'))
    }

    /// Reads the comma or closing brace after a field. Returns whether another key follows.
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

    /// Reads the next key and its colon if they equal `name` byte for byte, without white space between them. Returns
    /// whether they do.
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

    /// Reads the opening bracket of an array. Returns whether an element follows, which the caller must then read.
    /// `expected` names the value in errors.
    ///
    /// # Errors
    ///
    /// If the next value is not an array.
    #[inline]
    pub fn first_element(&mut self, expected: &'static str) -> Result<bool, DecodeError> {
        if !self.take(b'[') {
            return Err(self.unexpected(expected));
        }
        Ok(!self.take(b']'))
    }

    /// Reads the comma or closing bracket after an element. Returns whether another element follows, which the caller
    /// must then read.
    ///
    /// # Errors
    ///
    /// If neither is next.
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

    /// Reads a JSON value of any kind and returns its text.
    ///
    /// # Errors
    ///
    /// If the next value is not valid JSON.
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

    /// Skips a JSON value of any kind. Objects and arrays in it may nest twice as deep as the remaining nesting limit
    /// of messages, because a message in a map or list takes two levels of JSON.
    ///
    /// # Errors
    ///
    /// If the value is not valid JSON or nests too deep.
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

    /// Skips a JSON value. Its objects and arrays may be nested at most `levels` deep. Uses little stack compared with
    /// reading messages.
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

    /// Calls `read` within one more nesting level. Fails if the nesting limit is exceeded.
    #[inline(always)]
    #[doc(hidden)]
    pub fn level<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        self.levels = self.levels.checked_sub(1).ok_or_else(|| self.too_deep())?;
        let value = read(self)?;
        self.levels = self.levels.wrapping_add(1); // Returns to the previous level.
        Ok(value)
    }

    /// Charges the memory of `count` values against the container memory limit.
    #[inline(always)]
    pub(crate) fn charge<T>(&mut self, count: usize) -> Result<(), DecodeError> {
        self.charge_bytes(size_of::<T>().saturating_mul(count))
    }

    /// Charges bytes against the [container memory](Options::container_memory) limit, for values that use more memory
    /// than their input.
    ///
    /// # Errors
    ///
    /// If too little memory remains.
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

    /// Sets whether the next object is the content of an `Any`. Returns the previous setting.
    #[inline(always)]
    pub(crate) fn mark_any(&mut self, is_any: bool) -> bool {
        std::mem::replace(&mut self.is_any, is_any)
    }

    /// Returns to an earlier position in order to read the bytes after it again.
    ///
    /// The number of bytes that are read again is limited, because each enclosing level may read the same bytes again.
    pub(crate) fn rewind(&mut self, start: usize) -> Result<(), DecodeError> {
        let read = self.at.saturating_sub(start);
        self.at = start;
        self.reread = self.reread.checked_sub(read).ok_or_else(|| self.error(DecodeReason::TypeTooFar))?;
        Ok(())
    }

    /// Creates an error with a custom reason for the value at `offset`, for manual implementations of
    /// [`Json`](crate::Json).
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

    /// Creates an error that reports the next byte as unexpected.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn unexpected(&self, expected: &'static str) -> DecodeError {
        let found = self.text.as_bytes().get(self.at).copied();
        self.error(DecodeReason::Unexpected { expected, found })
    }

    /// Reads a string and converts it with `parse`. Fails if `parse` returns `None`.
    pub(crate) fn parsed<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DecodeError> {
        let offset = self.value_offset();
        let text = self.string(expected)?;
        parse(&text).ok_or_else(|| Self::invalid(expected, &text, offset))
    }

    /// Creates an error for an invalid value at `offset` of the input.
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
