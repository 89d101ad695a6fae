//! [`Encoder`]: encodes values, with one method for each kind.

use bytes::Bytes;

use crate::limits::{BULK_MIN, LONG_MIN, NESTING_CEILING};
use crate::{Codec, EncodeError, EncodeReason, Kind, Utf8Bytes, varint};

/// Encodes values and appends them to a buffer.
///
/// ```
/// use polyglot::{Encoder, Kind};
///
/// let mut out = Vec::new();
/// let mut encoder = Encoder::new(&mut out);
/// encoder.i32(-1);
/// encoder.string("hi")?;
/// encoder.list(Kind::Bool, 2)?;
/// encoder.bool(true);
/// encoder.bool(false);
/// assert_eq!(
///     out,
///     [0x0c, 0x01, 0x05, 0x0a, 2, b'h', b'i', 0x01, 0x07, 0x0a, 2, 0x07, 1, 0x07, 0],
/// );
/// # Ok::<(), polyglot::EncodeError>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    bulk: Option<&'a mut Vec<Bulk>>,
    copy: Option<Copy>,
    form: Form,
    depth: u32,
    lost_presence: bool,
}

/// Function that copies a long value to shared memory. The encoder then stores a reference to the copy instead of
/// appending the value to the output.
type Copy = fn(&[u8]) -> Bytes;

/// Encoding of presence: whether `optional` fields and oneof members are set.
///
/// Other values have the same encoding in both forms. Decoders accept both forms.
///
/// ```
/// use polyglot::{EncodeError, Encoder, Form};
///
/// /// An absent nickname, and whether the form lost its absence.
/// fn absent(form: Form) -> Result<(Vec<u8>, bool), EncodeError> {
///     let mut body = Vec::new();
///     let mut encoder = Encoder::new(&mut body).with_form(form);
///     encoder.field("nickname", &None::<String>)?;
///     let is_lost = encoder.lost_presence();
///     Ok((body, is_lost))
/// }
///
/// assert_eq!(absent(Form::Flat)?, (vec![5, 10, 0], true), "absent string should be encoded as an empty one");
/// assert_eq!(absent(Form::Extended)?, (vec![0], false), "absent string should be encoded as nil");
/// # Ok::<(), EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// The encoding of the Go implementation. An absent field is encoded as its default value.
    #[default]
    Flat,
    /// An encoding that preserves field presence. An absent `optional` field is encoded as nil. A oneof is encoded at
    /// the position of its first member, as the index and the value of the member that is set.
    Extended,
}

/// A long value that an encoder has stored by reference instead of copying it to the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// Offset in the encoder's output at which the bytes must be inserted, between `out[..at]` and `out[at..]`.
    pub at: usize,
    /// Content of the value, without its header.
    pub bytes: Bytes,
}

impl<'a> Encoder<'a> {
    /// Creates an encoder that appends encoded values to `out`.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, bulk: None, copy: None, form: Form::Flat, depth: 0, lost_presence: false }
    }

    /// Creates an encoder that appends to `out`, except for [`Bytes`] and [`Utf8Bytes`] of at least [`BULK_MIN`] bytes.
    /// These are recorded in `bulk`, in the order of their positions.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use polyglot::{BULK_MIN, Bulk, Encoder};
    ///
    /// let (mut out, mut bulk) = (Vec::new(), Vec::new());
    /// let mut encoder = Encoder::gathering(&mut out, &mut bulk);
    /// let picture = Bytes::from(vec![7; BULK_MIN]);
    /// encoder.shared(&picture)?;
    /// encoder.bool(true);
    /// assert_eq!(out, [0x04, 0x0a, 0x80, 0x80, 0x01, 0x07, 1]);
    /// assert_eq!(bulk, [Bulk { at: 5, bytes: picture }]);
    /// # Ok::<(), polyglot::EncodeError>(())
    /// ```
    #[inline]
    pub fn gathering(out: &'a mut Vec<u8>, bulk: &'a mut Vec<Bulk>) -> Self {
        Self { out, bulk: Some(bulk), copy: None, form: Form::Flat, depth: 0, lost_presence: false }
    }

    /// Sets a function for copying strings and bytes of at least [`LONG_MIN`] bytes that are not in shared memory. The
    /// copies are recorded as bulk, so that the buffer does not grow. Only affects a [`gathering`](Self::gathering)
    /// encoder.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use polyglot::{Bulk, Encoder, LONG_MIN};
    ///
    /// let (mut out, mut bulk) = (Vec::new(), Vec::new());
    /// let text = "a".repeat(LONG_MIN);
    /// Encoder::gathering(&mut out, &mut bulk).copying(Bytes::copy_from_slice).string(&text)?;
    /// assert_eq!(out, [0x05, 0x0a, 0x80, 0x80, 0x04]);
    /// assert_eq!(bulk, [Bulk { at: 5, bytes: text.into() }]);
    /// # Ok::<(), polyglot::EncodeError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn copying(self, copy: fn(&[u8]) -> Bytes) -> Self {
        Self { copy: Some(copy), ..self }
    }

    /// Sets whether the flat or the extended encoding is used. Only the extended one preserves field presence. Defaults
    /// to [`Form::Flat`].
    #[inline]
    #[must_use]
    pub fn with_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// Returns whether the flat or the extended encoding is used.
    #[inline]
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns whether the flat encoding has lost the presence of a field: a field was `optional` and absent, or the
    /// member that is set in a oneof had its default value. Always `false` with the extended encoding.
    #[inline]
    #[must_use]
    pub fn lost_presence(&self) -> bool {
        self.lost_presence
    }

    /// Writes a nil.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// polyglot::Encoder::new(&mut out).nil();
    /// assert_eq!(out, [0]);
    /// ```
    #[inline]
    pub fn nil(&mut self) {
        self.out.push(Kind::Nil.byte());
    }

    /// Writes a string.
    ///
    /// # Errors
    ///
    /// If the string is longer than 2^32 - 1 bytes.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// polyglot::Encoder::new(&mut out).string("hi")?;
    /// assert_eq!(out, [5, 10, 2, b'h', b'i']);
    /// # Ok::<(), polyglot::EncodeError>(())
    /// ```
    #[inline]
    pub fn string(&mut self, value: &str) -> Result<(), EncodeError> {
        self.sized(Kind::String, value.as_bytes())
    }

    /// Writes a bytes value by copying it to the output.
    ///
    /// # Errors
    ///
    /// If the value is longer than 2^32 - 1 bytes.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// polyglot::Encoder::new(&mut out).bytes(&[1, 2])?;
    /// assert_eq!(out, [4, 10, 2, 1, 2]);
    /// # Ok::<(), polyglot::EncodeError>(())
    /// ```
    #[inline]
    pub fn bytes(&mut self, value: &[u8]) -> Result<(), EncodeError> {
        self.sized(Kind::Bytes, value)
    }

    /// Writes a bytes value. If the encoder is [gathering](Self::gathering) long values, a long one is stored by
    /// reference instead of being copied.
    ///
    /// # Errors
    ///
    /// If the value is longer than 2^32 - 1 bytes.
    #[inline]
    pub fn shared(&mut self, value: &Bytes) -> Result<(), EncodeError> {
        self.shared_as(Kind::Bytes, value)
    }

    /// Writes a string. If the encoder is [gathering](Self::gathering) long values, a long one is stored by reference
    /// instead of being copied.
    ///
    /// # Errors
    ///
    /// If the string is longer than 2^32 - 1 bytes.
    #[inline]
    pub fn utf8_bytes(&mut self, value: &Utf8Bytes) -> Result<(), EncodeError> {
        self.shared_as(Kind::String, value.as_bytes())
    }

    /// Writes the text of an error. A body may contain an error instead of a root message.
    ///
    /// # Errors
    ///
    /// If the text is longer than 2^32 - 1 bytes.
    ///
    /// ```
    /// use polyglot::{Decoder, Encoder};
    ///
    /// let mut body = Vec::new();
    /// Encoder::new(&mut body).error("not found")?;
    /// assert_eq!(Decoder::new(&body).error_text()?, "not found");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn error(&mut self, text: &str) -> Result<(), EncodeError> {
        length(Kind::Error, text.len())?;
        self.out.push(Kind::Error.byte());
        self.string(text)
    }

    /// Writes the header of a list. The caller must then write `len` values of kind `element`, which is [`Kind::Any`]
    /// for messages.
    ///
    /// # Errors
    ///
    /// If `len` exceeds 2^32 - 1.
    ///
    /// ```
    /// use polyglot::{Decoder, Encoder, Kind};
    ///
    /// let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out);
    /// encoder.list(Kind::U32, 2)?;
    /// encoder.u32(7);
    /// encoder.u32(8);
    /// let mut decoder = Decoder::new(&out);
    /// assert_eq!(decoder.list(Kind::U32)?, 2);
    /// assert_eq!((decoder.u32()?, decoder.u32()?), (7, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn list(&mut self, element: Kind, len: usize) -> Result<(), EncodeError> {
        let length = length(Kind::List, len)?;
        self.out.extend_from_slice(&[Kind::List.byte(), element.byte()]);
        varint::write(self.out, Kind::U32.byte(), length);
        Ok(())
    }

    /// Writes the header of a map. The caller must then write `len` pairs, each as a key followed by its value.
    ///
    /// # Errors
    ///
    /// If `len` exceeds 2^32 - 1.
    ///
    /// ```
    /// use polyglot::{Decoder, Encoder, Kind};
    ///
    /// let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out);
    /// encoder.map(Kind::String, Kind::Bool, 1)?;
    /// encoder.string("ready")?;
    /// encoder.bool(true);
    /// let mut decoder = Decoder::new(&out);
    /// assert_eq!(decoder.map(Kind::String, Kind::Bool)?, 1);
    /// assert_eq!((decoder.str()?, decoder.bool()?), ("ready", true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn map(&mut self, key: Kind, value: Kind, len: usize) -> Result<(), EncodeError> {
        let length = length(Kind::Map, len)?;
        self.out.extend_from_slice(&[Kind::Map.byte(), key.byte(), value.byte()]);
        varint::write(self.out, Kind::U32.byte(), length);
        Ok(())
    }

    /// Appends values that are already encoded in the same [form](Self::form).
    ///
    /// ```
    /// use polyglot::Encoder;
    ///
    /// let mut before = Vec::new();
    /// Encoder::new(&mut before).i32(-1);
    /// let mut out = Vec::new();
    /// Encoder::new(&mut out).encoded(&before);
    /// assert_eq!(out, [0x0c, 0x01]);
    /// ```
    #[inline]
    pub fn encoded(&mut self, values: &[u8]) {
        self.out.extend_from_slice(values);
    }

    /// Writes the header of a message. The caller must then write the fields. Unlike [`message`](Self::message), this
    /// does not count as a nesting level.
    #[inline]
    pub fn message_head(&mut self) {
        // The flags are reserved and must be 0.
        self.u8(0);
    }

    /// Writes a message, using `fields` to write its fields.
    ///
    /// # Errors
    ///
    /// If messages nest deeper than [`NESTING_CEILING`], or `fields` fails.
    #[inline]
    pub fn message(&mut self, fields: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        if self.depth >= NESTING_CEILING {
            return Err(EncodeError::new(EncodeReason::NestingTooDeep));
        }
        self.message_head();
        self.depth = self.depth.wrapping_add(1); // The depth is at most `NESTING_CEILING`.
        let result = fields(self);
        self.depth = self.depth.wrapping_sub(1); // Returns to the previous level.
        result
    }

    /// Writes the header of the root message without checking the nesting limit. Returns the position before it. The
    /// caller must then write the fields and call [`end_root`](Self::end_root).
    #[inline(always)]
    pub(crate) fn begin_root(&mut self) -> OutputMark {
        let mark = self.mark();
        self.message_head();
        self.depth = self.depth.wrapping_add(1); // Cannot overflow. The new depth is usually 1.
        mark
    }

    /// Completes the root message. If encoding its fields failed, removes all output written since the position `mark`.
    #[inline(always)]
    pub(crate) fn end_root(
        &mut self,
        mark: OutputMark,
        encoded: Result<(), EncodeError>,
        name: &'static str,
    ) -> Result<(), EncodeError> {
        self.depth = self.depth.wrapping_sub(1); // Returns to the previous level.
        match encoded {
            Ok(()) => Ok(()),
            Err(error) => {
                self.rewind(mark);
                Err(error.in_message(name))
            }
        }
    }

    /// Writes a field of a message. `name` is the name of the field, which is used in error texts.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded. The error contains the name of the field.
    ///
    /// ```
    /// use polyglot::{Decoder, Encoder};
    ///
    /// let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out);
    /// encoder.field("name", &"Ada".to_owned())?;
    /// encoder.field("scores", &vec![1_u32, 2])?;
    /// let mut decoder = Decoder::new(&out);
    /// assert_eq!(decoder.field::<String>("name")?, "Ada");
    /// assert_eq!(decoder.field::<Vec<u32>>("scores")?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn field<T: Codec<Target = T>>(&mut self, name: &'static str, value: &T) -> Result<(), EncodeError> {
        self.field_as::<T>(name, value)
    }

    /// Writes a field with an explicit [`Codec`], which is required if the Rust type does not determine the encoding.
    /// Enums use [`Index`](crate::Index).
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded. The error contains the name of the field.
    #[inline]
    pub fn field_as<C: Codec>(&mut self, name: &'static str, value: &C::Target) -> Result<(), EncodeError> {
        match C::encode(value, self) {
            Ok(()) => Ok(()),
            Err(error) => Err(error.in_field(name)),
        }
    }

    /// Records that a field's presence was [lost](Self::lost_presence) in the flat encoding. For hand-written codecs.
    #[inline]
    pub fn note_lost_presence(&mut self) {
        self.lost_presence = true;
    }

    /// Writes the header of a oneof in the extended form. `member` is the number of the member that is set, which
    /// starts at 1 in the order of declaration, or 0 if no member is set. The caller must then write the value of the
    /// member. For hand-written codecs; generated code uses [`oneof`](Self::oneof).
    #[inline]
    pub fn member_head(&mut self, member: u32) {
        varint::write(self.out, Kind::Any.byte(), u64::from(member));
    }

    /// Returns the current position in the output, so that [`rewind`](Self::rewind) can return to it after an error.
    #[inline]
    pub(crate) fn mark(&self) -> OutputMark {
        OutputMark {
            out: self.out.len(),
            bulk: self.bulk.as_deref().map_or(0, Vec::len),
            lost_presence: self.lost_presence,
        }
    }

    /// Removes all output written since the position `mark`.
    #[inline]
    pub(crate) fn rewind(&mut self, mark: OutputMark) {
        self.lost_presence = mark.lost_presence;
        truncate(self.out, self.bulk.as_deref_mut(), mark);
    }

    /// Writes the header of a bytes value and reserves memory for its content. The caller must append the content to
    /// the returned buffer.
    #[inline]
    pub(crate) fn bytes_head(&mut self, len: usize) -> Result<&mut Vec<u8>, EncodeError> {
        self.out.reserve(len.saturating_add(7)); // The header takes at most 7 bytes.
        head(self.out, Kind::Bytes, len)?;
        Ok(self.out)
    }

    #[inline]
    fn shared_as(&mut self, kind: Kind, content: &Bytes) -> Result<(), EncodeError> {
        let Some(bulk) = self.bulk.as_deref_mut().filter(|_| content.len() >= BULK_MIN) else {
            return self.sized(kind, content);
        };
        head(self.out, kind, content.len())?;
        bulk.push(Bulk { at: self.out.len(), bytes: content.clone() });
        Ok(())
    }

    #[inline]
    fn sized(&mut self, kind: Kind, content: &[u8]) -> Result<(), EncodeError> {
        if content.len() >= 0x80 {
            // Pass fields instead of `self`, so that the encoder can stay in registers.
            return long_sized(self.out, self.bulk.as_deref_mut(), self.copy, kind, content);
        }
        head(self.out, kind, content.len())?;
        self.out.extend_from_slice(content);
        Ok(())
    }
}

/// Defines the methods that write scalars. The arguments are the Rust type, the code that writes the bytes of a value,
/// and a doc example.
macro_rules! scalars {
    ($($what:literal $type:ident: |$out:ident, $value:ident| $write:expr, $example:literal $bytes:literal;)*) => {
        impl Encoder<'_> {$(
            #[doc = concat!("Writes ", $what, ".")]
            ///
            /// ```
            /// let mut out = Vec::new();
            #[doc = concat!("polyglot::Encoder::new(&mut out).", stringify!($type), "(", $example, ");")]
            #[doc = concat!("assert_eq!(out, ", $bytes, ");")]
            /// ```
            #[inline]
            pub fn $type(&mut self, $value: $type) {
                let $out = &mut *self.out;
                $write;
            }
        )*}
    };
}

scalars! {
    "a bool" bool: |out, value| out.extend_from_slice(&[Kind::Bool.byte(), u8::from(value)]), "true" "[7, 1]";
    "a u8" u8: |out, value| out.extend_from_slice(&[Kind::U8.byte(), value]), "200" "[8, 200]";
    "a u16" u16: |out, value| varint::write(out, Kind::U16.byte(), u64::from(value)), "300" "[9, 0xac, 2]";
    "a u32" u32: |out, value| varint::write(out, Kind::U32.byte(), u64::from(value)), "300" "[10, 0xac, 2]";
    "a u64" u64: |out, value| varint::write(out, Kind::U64.byte(), value), "300" "[11, 0xac, 2]";
    // Zigzag encoding maps 0, -1, 1, -2 to 0, 1, 2, 3.
    "an i32" i32: |out, value| {
        varint::write(out, Kind::I32.byte(), u64::from(((value << 1) ^ (value >> 31)) as u32));
    }, "-1" "[12, 1]";
    "an i64" i64: |out, value| varint::write(out, Kind::I64.byte(), ((value << 1) ^ (value >> 63)) as u64), "-1" "[13, 1]";
    "an f32, the payload of a NaN included" f32: |out, value| {
        let [a, b, c, d] = value.to_bits().to_be_bytes();
        out.extend_from_slice(&[Kind::F32.byte(), a, b, c, d]);
    }, "1.0" "[14, 0x3f, 0x80, 0, 0]";
    "an f64, the payload of a NaN included" f64: |out, value| {
        let [a, b, c, d, e, f, g, h] = value.to_bits().to_be_bytes();
        out.extend_from_slice(&[Kind::F64.byte(), a, b, c, d, e, f, g, h]);
    }, "1.0" "[15, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]";
}

#[inline(never)]
fn long_sized(
    out: &mut Vec<u8>,
    bulk: Option<&mut Vec<Bulk>>,
    copy: Option<Copy>,
    kind: Kind,
    content: &[u8],
) -> Result<(), EncodeError> {
    if content.len() >= LONG_MIN
        && let (Some(bulk), Some(copy)) = (bulk, copy)
    {
        return set_aside(out, bulk, copy, kind, content);
    }
    // Grow the buffer only once, for the header of at most 7 bytes and the content.
    out.reserve(content.len().saturating_add(7));
    head(out, kind, content.len())?;
    out.extend_from_slice(content);
    Ok(())
}

/// Stores a long value by reference instead of appending it to the output. `copy` copies the value to shared memory.
#[cold]
fn set_aside(
    out: &mut Vec<u8>,
    bulk: &mut Vec<Bulk>,
    copy: Copy,
    kind: Kind,
    content: &[u8],
) -> Result<(), EncodeError> {
    head(out, kind, content.len())?;
    bulk.push(Bulk { at: out.len(), bytes: copy(content) });
    Ok(())
}

#[cold]
#[inline(never)]
fn truncate(out: &mut Vec<u8>, bulk: Option<&mut Vec<Bulk>>, mark: OutputMark) {
    out.truncate(mark.out);
    if let Some(bulk) = bulk {
        bulk.truncate(mark.bulk);
    }
}

/// Position in the output of an encoder, including values that were stored by reference. After an error, the encoder
/// can return to it and discard partial output.
#[derive(Clone, Copy)]
pub(crate) struct OutputMark {
    out: usize,
    bulk: usize,
    lost_presence: bool,
}

/// Appends the header of a string or bytes value with `len` bytes.
#[inline(always)] // Evaluated at compile time if the length is known to be small.
fn head(out: &mut Vec<u8>, kind: Kind, len: usize) -> Result<(), EncodeError> {
    if len >= 0x80 {
        return long_head(out, kind, len);
    }
    out.extend_from_slice(&[kind.byte(), Kind::U32.byte(), len as u8]);
    Ok(())
}

#[inline(never)]
fn long_head(out: &mut Vec<u8>, kind: Kind, len: usize) -> Result<(), EncodeError> {
    let length = length(kind, len)?;
    out.push(kind.byte());
    varint::write(out, Kind::U32.byte(), length);
    Ok(())
}

/// Converts a length to the `u32` of the wire format. Fails if it does not fit.
#[inline]
fn length(kind: Kind, length: usize) -> Result<u64, EncodeError> {
    match u32::try_from(length) {
        Ok(length) => Ok(u64::from(length)),
        Err(_) => Err(EncodeError::new(EncodeReason::TooLong { kind, length })),
    }
}
