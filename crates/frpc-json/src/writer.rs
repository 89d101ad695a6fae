//! [`Writer`]: writes values as JSON without white space.

use std::borrow::Cow;

use crate::base64;
use crate::reader::{is_plain, plain_length};
use crate::{Codec, EncodeError, EncodeReason, NESTING_CEILING, Options};

/// Writes values as JSON. Used by generated code for messages.
///
/// If a value cannot be encoded, a part of it may have been written. [`Options::encode`] removes such output.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Number of further nesting levels that messages may have.
    levels: u32,
    /// Number of bytes that the contents of `Any` messages may still use.
    memory: usize,
    options: Options<'a>,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `out`.
    ///
    /// ```
    /// use frpc_json::{Options, Writer};
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, &Options::new());
    /// writer.value(&true)?;
    /// assert_eq!(out, b"true");
    /// # Ok::<(), frpc_json::EncodeError>(())
    /// ```
    #[must_use]
    pub fn new(out: &'a mut Vec<u8>, options: &Options<'a>) -> Self {
        Self { out, levels: NESTING_CEILING, memory: options.container_memory, options: *options }
    }

    /// Writes a value.
    ///
    /// # Errors
    ///
    /// If it has no JSON form.
    ///
    /// ```
    /// use frpc_json::{Options, Writer};
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, &Options::new());
    /// writer.value(&1.5_f64)?;
    /// assert_eq!(out, b"1.5");
    /// # Ok::<(), frpc_json::EncodeError>(())
    /// ```
    #[inline]
    pub fn value<T: Codec<Target = T>>(&mut self, value: &T) -> Result<(), EncodeError> {
        T::encode(value, self)
    }

    /// Creates an encoding error with a custom reason, for manual implementations of [`Json`](crate::Json).
    #[cold]
    #[inline(never)]
    pub fn refuse(reason: impl Into<String>) -> EncodeError {
        EncodeError::new(EncodeReason::Refused(reason.into()))
    }

    /// Appends JSON text as it is, without validation.
    ///
    /// ```
    /// use frpc_json::{Options, Writer};
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, &Options::new());
    /// writer.raw("[true]");
    /// assert_eq!(out, b"[true]");
    /// ```
    #[inline]
    pub fn raw(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Writes the object of a message within one more nesting level, using `fields` to write its fields.
    ///
    /// # Errors
    ///
    /// If messages nest too deep, or `fields` fails.
    ///
    /// ```
    /// use frpc_json::{Options, Writer};
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, &Options::new());
    /// writer.message(|writer| writer.field("\"id\":", &7_u32))?;
    /// assert_eq!(out, br#"{"id":7}"#);
    /// # Ok::<(), frpc_json::EncodeError>(())
    /// ```
    #[inline]
    pub fn message(&mut self, fields: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        self.level(|to| {
            to.out.push(b'{');
            fields(to)?;
            to.out.push(b'}');
            Ok(())
        })
    }

    /// Writes a field unless it is absent, that is, a default value without presence, `None`, or an empty list or map.
    /// `key` is the quoted name with a colon.
    ///
    /// # Errors
    ///
    /// If the value has no JSON form.
    ///
    /// ```
    /// use frpc_json::{Options, Writer};
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, &Options::new());
    /// writer.message(|writer| {
    ///     writer.field("\"id\":", &0_u32)?;
    ///     writer.field("\"priority\":", &Some(0_u32))?;
    ///     writer.field("\"parts\":", &vec![1_u32, 2])
    /// })?;
    /// assert_eq!(out, br#"{"priority":0,"parts":[1,2]}"#, "the priority is present, though it is the default");
    /// # Ok::<(), frpc_json::EncodeError>(())
    /// ```
    #[inline]
    pub fn field<T: Codec<Target = T>>(&mut self, key: &'static str, value: &T) -> Result<(), EncodeError> {
        self.field_as::<T>(key, value)
    }

    /// Like [`field`](Self::field), but encodes the value with an explicit [`Codec`].
    ///
    /// # Errors
    ///
    /// If the value has no JSON form.
    #[inline]
    pub fn field_as<C: Codec>(&mut self, key: &'static str, value: &C::Target) -> Result<(), EncodeError> {
        if C::is_default(value) { Ok(()) } else { self.member::<C>(key, value) }
    }

    /// Writes the set member of a oneof with its key.
    ///
    /// # Errors
    ///
    /// If the value has no JSON form.
    #[inline]
    pub fn member<C: Codec>(&mut self, key: &'static str, value: &C::Target) -> Result<(), EncodeError> {
        self.key(key);
        C::encode(value, self).map_err(|error| error.in_field(name_of(key)))
    }

    /// Writes a comma, unless the last byte opened an object.
    #[inline(always)]
    pub(crate) fn comma(&mut self) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
    }

    /// Writes an object key, preceded by a comma unless it is the first key.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: &'static str) {
        self.comma();
        self.out.extend_from_slice(key.as_bytes());
    }

    /// Writes an object key that is only known at run time.
    #[doc(hidden)]
    pub fn name(&mut self, name: &str) {
        self.comma();
        self.string(name);
        self.out.push(b':');
    }

    /// Writes a string that needs no escaping.
    #[inline]
    pub(crate) fn plain_string(&mut self, text: &str) {
        self.out.reserve(text.len().wrapping_add(2));
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    /// Writes a string.
    ///
    /// ```
    /// use frpc_json::{Options, Writer};
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, &Options::new());
    /// writer.string("a\nb");
    /// assert_eq!(out, br#""a\nb""#);
    /// ```
    #[inline]
    pub fn string(&mut self, text: &str) {
        let text = text.as_bytes();
        self.out.reserve(text.len().wrapping_add(2));
        self.out.push(b'"');
        if is_plain(text) {
            self.out.extend_from_slice(text);
        } else {
            self.escaped(text);
        }
        self.out.push(b'"');
    }

    /// Writes a string's text, escaping special characters.
    #[cold]
    #[inline(never)]
    fn escaped(&mut self, mut rest: &[u8]) {
        loop {
            let plain = plain_length(rest);
            let Some((plain, [special, behind @ ..])) = rest.split_at_checked(plain) else { break };
            self.out.extend_from_slice(plain);
            self.escape(*special);
            rest = behind;
        }
        self.out.extend_from_slice(rest);
    }

    #[cold]
    fn escape(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.out.extend_from_slice(&[b'\\', byte]),
            8 => self.raw("\\b"),
            12 => self.raw("\\f"),
            b'\n' => self.raw("\\n"),
            b'\r' => self.raw("\\r"),
            b'\t' => self.raw("\\t"),
            _ => self.raw(&format!("\\u{byte:04x}")),
        }
    }

    /// Writes bytes as a string of padded base64.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        base64::encode(bytes, self.out);
        self.out.push(b'"');
    }

    /// Writes an integer as a JSON number.
    #[inline]
    pub(crate) fn integer(&mut self, value: impl itoa::Integer) {
        self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Writes an integer as a string. Used for 64-bit integers, because many JSON parsers convert numbers to doubles.
    #[inline]
    pub(crate) fn quoted_integer(&mut self, value: impl itoa::Integer) {
        self.out.push(b'"');
        self.integer(value);
        self.out.push(b'"');
    }

    /// Writes a float with the fewest digits that represent it, or as a string if it is not finite.
    pub(crate) fn float(&mut self, value: impl zmij::Float + Into<f64>) {
        match value.into() {
            wide if wide.is_finite() => {
                let mut buffer = zmij::Buffer::new();
                let text = buffer.format_finite(value);
                self.raw(text.strip_suffix(".0").unwrap_or(text));
            }
            wide if wide.is_nan() => self.raw("\"NaN\""),
            wide => self.raw(if wide > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" }),
        }
    }

    /// Calls `write` within one more nesting level. Fails if the nesting limit is exceeded.
    #[inline(always)]
    #[doc(hidden)]
    pub fn level(&mut self, write: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        let levels = self.levels.checked_sub(1);
        self.levels = levels.ok_or_else(|| EncodeError::new(EncodeReason::NestingTooDeep))?;
        write(self)?;
        self.levels = self.levels.wrapping_add(1); // Returns to the previous level.
        Ok(())
    }

    /// Charges memory for the content of an `Any` against the limit.
    #[doc(hidden)]
    pub fn charge(&mut self, needed: usize) -> Result<(), EncodeError> {
        let left = self.memory;
        let refused = || EncodeError::new(EncodeReason::ContainerMemory { needed, left });
        left.checked_sub(needed).map(|left| self.memory = left).ok_or_else(refused)
    }

    /// Returns the number of bytes written so far.
    #[doc(hidden)]
    #[must_use]
    pub fn position(&self) -> usize {
        self.out.len()
    }

    /// Returns a part of the output for use in errors.
    pub(crate) fn written(&self, start: usize, end: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(self.out.get(start..end).unwrap_or_default())
    }

    /// Inserts the `@type` member of an `Any` after the opening brace at `start`, before the fields of its content.
    pub(crate) fn insert_type(&mut self, start: usize, type_url: &str) {
        let fields = self.out.split_off(start.wrapping_add(1));
        self.raw("\"@type\":");
        self.string(type_url);
        if fields != b"}" {
            self.out.push(b',');
        }
        self.out.extend_from_slice(&fields);
    }

    pub(crate) fn options(&self) -> &Options<'a> {
        &self.options
    }
}

/// Returns the field name within a quoted key with a colon.
#[cold]
fn name_of(key: &'static str) -> &'static str {
    key.strip_prefix('"').and_then(|key| key.strip_suffix("\":")).unwrap_or(key)
}
