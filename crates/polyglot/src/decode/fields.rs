//! Decoding of messages and their fields, with a nesting limit and field names in errors.

use super::Decoder;
use crate::{Codec, DecodeError, DecodeReason, Kind, View};

impl<'a> Decoder<'a> {
    /// Reads a message, using `fields` to read its fields. Returns `None` if the message is nil.
    ///
    /// # Errors
    ///
    /// If the next value is not a message, the [nesting limit](Self::with_nesting) is exceeded, or `fields` fails.
    #[inline]
    pub fn message<T>(
        &mut self,
        fields: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        // Skip the flags, which are reserved.
        let [0x08, _flags, rest @ ..] = self.rest else { return self.no_message() };
        let before = self.levels;
        let Some(levels) = before.checked_sub(1) else {
            return Err(self.error(DecodeReason::NestingTooDeep { max: self.nesting.levels() }));
        };
        self.rest = rest;
        self.levels = levels;
        let message = fields(self);
        self.levels = before;
        message.map(Some)
    }

    /// Reads the header of the root message. If the body contains nil or an error, returns `false` without reading.
    /// Otherwise, the caller must read the fields and call [`end_root`](Self::end_root).
    #[inline(always)]
    pub(crate) fn begin_root(&mut self) -> bool {
        let [0x08, _flags, rest @ ..] = self.rest else { return false };
        self.rest = rest;
        self.levels = self.nesting.levels().wrapping_sub(1); // The number of levels is above zero.
        true
    }

    #[inline(always)]
    pub(crate) fn end_root(&mut self) {
        self.levels = self.nesting.levels();
    }

    /// Reads a body that contains nil or an error instead of a root message. Returns the text of the error, or `None`
    /// for nil.
    #[inline(always)]
    pub(crate) fn no_root(&mut self) -> Result<Option<String>, DecodeError> {
        let (error, rest) = self.cursor().no_root()?;
        self.rest = rest;
        Ok(error)
    }

    /// Reads nil in place of a message and returns `None`. Fails if the next value is anything else.
    #[inline]
    fn no_message<T>(&mut self) -> Result<Option<T>, DecodeError> {
        match self.rest {
            [0x00, rest @ ..] => {
                self.rest = rest;
                Ok(None)
            }
            [0x06, ..] => Err(self.error(DecodeReason::NestedError)),
            _ => Err(self.unexpected(Kind::Any)),
        }
    }

    /// Reads a field of a message. `name` is the name of the field, which is used in error texts.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed. The error contains the name of the field.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[10, 7]);
    /// assert_eq!(decoder.field::<u32>("id")?, 7);
    /// let error = decoder.field::<u32>("age").expect_err("decoding should fail at the end of the input");
    /// assert_eq!(error.field(), "age");
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    pub fn field<T: Codec<Target = T>>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        self.field_as::<T>(name)
    }

    /// Like [`field`](Self::field), but overwrites `value` and reuses its allocations. After an error, the content of
    /// `value` is unspecified.
    ///
    /// # Errors
    ///
    /// Like [`field`](Self::field).
    #[inline]
    pub fn field_over<T: Codec<Target = T> + Default>(
        &mut self,
        name: &'static str,
        value: &mut T,
    ) -> Result<(), DecodeError> {
        match T::decode_over(value, self) {
            Ok(()) => Ok(()),
            Err(error) => Err(in_field(error, name)),
        }
    }

    /// Reads a field with an explicit [`Codec`], which is required if the Rust type does not determine the encoding.
    /// Enums use [`Index`](crate::Index).
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed. The error contains the name of the field.
    #[inline]
    pub fn field_as<C: Codec>(&mut self, name: &'static str) -> Result<C::Target, DecodeError> {
        match C::decode(self) {
            // Not a closure, because that would borrow the decoder and force it out of registers.
            Ok(value) => Ok(value),
            Err(error) => Err(in_field(error, name)),
        }
    }

    /// Reads a field as a view that borrows from the input. `name` is the name of the field, which is used in error
    /// texts.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed. The error contains the name of the field.
    #[inline]
    pub fn view<V: View<'a>>(&mut self, name: &'static str) -> Result<V, DecodeError> {
        V::decode(self).map_err(|error| in_field(error, name))
    }
}

#[cold]
#[inline(never)]
fn in_field(error: DecodeError, name: &'static str) -> DecodeError {
    error.in_field(name)
}
