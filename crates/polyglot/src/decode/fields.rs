//! Messages and their fields: the limit on nesting, fields that may be missing, and names in errors.

use super::Decoder;
use crate::{Codec, DecodeError, DecodeReason, Kind, View};

impl<'a> Decoder<'a> {
    /// Reads a message, whose fields `fields` reads; `None` if it is nil.
    ///
    /// # Errors
    ///
    /// If the next value is not a message, if messages nest deeper than
    /// [allowed](Self::with_nesting), and the errors of `fields`.
    #[inline]
    pub fn message<T>(
        &mut self,
        fields: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        // The flags are without meaning.
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

    /// Begins the root if it is a message, whose fields and [`end_root`](Self::end_root) must follow.
    #[inline(always)]
    pub(crate) fn begin_root(&mut self) -> bool {
        let [0x08, _flags, rest @ ..] = self.rest else { return false };
        self.rest = rest;
        self.levels = self.nesting.levels().wrapping_sub(1); // Above zero.
        true
    }

    #[inline(always)]
    pub(crate) fn end_root(&mut self) {
        self.levels = self.nesting.levels();
    }

    /// Reads the substitute for the root: nil, or the text of an error.
    #[inline(always)]
    pub(crate) fn no_root(&mut self) -> Result<Option<String>, DecodeError> {
        let (error, rest) = self.cursor().no_root()?;
        self.rest = rest;
        Ok(error)
    }

    /// Reads the substitute for a message: nil, or else an error.
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

    /// Reads a field. Its name appears in errors only.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed; the error names the field.
    ///
    /// ```
    /// let mut decoder = polyglot::Decoder::new(&[10, 7]);
    /// assert_eq!(decoder.field::<u32>("id")?, 7);
    /// let error = decoder.field::<u32>("age").expect_err("the input has ended");
    /// assert_eq!(error.field(), "age");
    /// # Ok::<(), polyglot::DecodeError>(())
    /// ```
    #[inline]
    pub fn field<T: Codec<Target = T>>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        self.field_as::<T>(name)
    }

    /// As [`field`](Self::field), over a value that is no longer needed and whose memory is used again. After an error
    /// its content is unspecified.
    ///
    /// # Errors
    ///
    /// As [`field`](Self::field).
    #[inline]
    pub fn field_over<T: Codec<Target = T> + Default>(
        &mut self,
        name: &'static str,
        value: &mut T,
    ) -> Result<(), DecodeError> {
        let left = self.rest.len();
        match T::decode_over(value, self) {
            Ok(()) => Ok(()),
            Err(error) => {
                *value = self.default_for_missing(error, left, name)?;
                Ok(())
            }
        }
    }

    /// Reads a field by a [`Codec`], for types that do not determine their encoding: [`Index`](crate::Index) for enums.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed; the error names the field.
    #[inline]
    pub fn field_as<C: Codec>(&mut self, name: &'static str) -> Result<C::Target, DecodeError> {
        let left = self.rest.len();
        match C::decode(self) {
            // Not by a closure, whose reference to this decoder would keep it in memory.
            Ok(value) => Ok(value),
            Err(error) => self.default_for_missing(error, left, name),
        }
    }

    /// Reads a field as a view into the input.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed; the error names the field.
    #[inline]
    pub fn view<V: View<'a>>(&mut self, name: &'static str) -> Result<V, DecodeError> {
        let left = self.rest.len();
        V::decode(self).or_else(|error| self.default_for_missing(error, left, name))
    }

    /// The default for a field at the end of the root that an older peer does not know; else the error.
    ///
    /// `left` is how many bytes were left before the field.
    #[inline(always)] // What is left of it is a call of `failed`, which has no reference to this decoder.
    fn default_for_missing<T: Default>(
        &mut self,
        error: DecodeError,
        left: usize,
        name: &'static str,
    ) -> Result<T, DecodeError> {
        let is_at_root = self.levels == self.nesting.levels().wrapping_sub(1); // Above zero.
        match failed(error, left == 0 && is_at_root, self.trailing_defaults, name) {
            None => {
                self.trailing_defaults = self.trailing_defaults.wrapping_sub(1); // Above zero.
                Ok(T::default())
            }
            Some(error) => Err(error),
        }
    }
}

/// The error of a field that cannot be read; `None` if it may be missing.
#[cold]
#[inline(never)]
fn failed(error: DecodeError, is_missing: bool, trailing_defaults: u32, name: &'static str) -> Option<DecodeError> {
    if is_missing && trailing_defaults > 0 { None } else { Some(error.in_field(name)) }
}
