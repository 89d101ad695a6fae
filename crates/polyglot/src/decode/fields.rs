//! Messages and their fields: the limit on nesting, fields that may be missing, and names in errors.

use super::Decoder;
use crate::{Codec, DecodeError, DecodeReason, Enumeration, Index, Kind, Shape, Value, View};

impl<'a> Decoder<'a> {
    /// Reads a message, whose fields `fields` reads; `None` if it is nil.
    ///
    /// # Errors
    ///
    /// If the next value is not a message, if messages nest deeper than
    /// [allowed](Self::with_nesting_max), and the errors of `fields`.
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

    /// As [`message`](Self::message), for the root, which is never too deep.
    #[inline(always)]
    pub(crate) fn root<T>(
        &mut self,
        fields: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        let [0x08, _flags, rest @ ..] = self.rest else { return self.no_message() };
        self.rest = rest;
        self.levels = self.nesting.levels().wrapping_sub(1); // Above zero.
        let message = fields(self);
        self.levels = self.nesting.levels();
        message.map(Some)
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
    #[inline]
    pub fn field<T: Value>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        let left = self.rest.len();
        T::decode(self).or_else(|error| self.missing(error, left, name))
    }

    /// Reads a field of an enum type: a number, or an option, list or map of numbers.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed, or its index is unknown and cannot be kept; the error names the field.
    #[inline]
    pub fn enumeration<E: Enumeration, V: Shape<Index<E>>>(&mut self, name: &'static str) -> Result<V, DecodeError> {
        self.field_as::<Index<E>, V>(name)
    }

    /// Reads a field by a [`Codec`], for types that do not determine their encoding.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed; the error names the field.
    #[inline]
    pub fn field_as<C: Codec, V: Shape<C>>(&mut self, name: &'static str) -> Result<V, DecodeError> {
        let left = self.rest.len();
        V::decode(self).or_else(|error| self.missing(error, left, name))
    }

    /// Reads a field as a view into the input.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed; the error names the field.
    #[inline]
    pub fn view<V: View<'a>>(&mut self, name: &'static str) -> Result<V, DecodeError> {
        let left = self.rest.len();
        V::decode(self).or_else(|error| self.missing(error, left, name))
    }

    /// Reads a single value by way of a [`Codec`]. For [`Oneof::decode_member`](crate::Oneof::decode_member).
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed; the error names the field.
    #[inline]
    pub fn bare_as<C: Codec>(&mut self, name: &'static str) -> Result<C::Target, DecodeError> {
        let left = self.rest.len();
        C::decode(self).or_else(|error| self.missing(error, left, name))
    }

    /// Whether the fields being read belong to the root.
    fn is_at_root(&self) -> bool {
        self.levels == self.nesting.levels().wrapping_sub(1) // Above zero.
    }

    /// The default for a field at the end of the root that an older peer does not know; else the error.
    ///
    /// `left` is how many bytes were left before the field.
    #[cold]
    #[inline(never)]
    fn missing<T: Default>(&mut self, error: DecodeError, left: usize, name: &'static str) -> Result<T, DecodeError> {
        if left == 0 && self.is_at_root() && self.trailing_defaults > 0 {
            self.trailing_defaults = self.trailing_defaults.wrapping_sub(1); // Above zero.
            return Ok(T::default());
        }
        Err(error.in_field(name))
    }
}
