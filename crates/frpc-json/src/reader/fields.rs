//! Methods for generated code: fields and members of oneofs.

use std::borrow::Cow;

use super::Reader;
use crate::error::quoted;
use crate::{Codec, DecodeError, DecodeReason};

impl Reader<'_> {
    /// Reads a JSON value into `value`, which must be the default.
    ///
    /// # Errors
    ///
    /// If the next value is missing or invalid.
    #[inline(always)]
    pub fn value<T: Codec<Target = T>>(&mut self, value: &mut T) -> Result<(), DecodeError> {
        T::decode(value, self).map(drop)
    }

    /// Reads a field into `value`, which must be the default. The field may be an option, list or map. `null` is an
    /// absent field, unless it is a value of the field's type.
    ///
    /// # Errors
    ///
    /// If the next value is missing or invalid, or a map has a duplicate key.
    #[inline(always)]
    pub fn field<T: Codec<Target = T>>(&mut self, value: &mut T) -> Result<(), DecodeError> {
        self.field_as::<T>(value)
    }

    /// Like [`field`](Self::field), but decodes the value with an explicit [`Codec`].
    ///
    /// # Errors
    ///
    /// Like [`field`](Self::field).
    #[inline(always)]
    pub fn field_as<C: Codec>(&mut self, value: &mut C::Target) -> Result<(), DecodeError> {
        if C::IS_NULLABLE || !self.null()? {
            C::decode(value, self)?;
        }
        Ok(())
    }

    /// Reads a oneof member, using `variant` to convert its value. `null` is an absent member, unless it is a value of
    /// the member's type.
    ///
    /// # Errors
    ///
    /// If the next value is missing or invalid, or another member is set.
    #[inline]
    pub fn member<C: Codec, O>(
        &mut self,
        oneof: &mut Option<O>,
        variant: impl FnOnce(C::Target) -> O,
    ) -> Result<(), DecodeError> {
        if !C::IS_NULLABLE && self.null()? {
            return Ok(());
        }
        if oneof.is_some() {
            return Err(self.error(DecodeReason::SecondMember));
        }
        let mut value = C::Target::default();
        if C::decode(&mut value, self)? {
            *oneof = Some(variant(value));
        }
        Ok(())
    }

    /// Skips the value of an unknown field, or rejects the field, depending on the options.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn unknown_field(&mut self, message: impl Into<Cow<'static, str>>, name: &str) -> Result<(), DecodeError> {
        if self.options.ignores_unknown {
            return self.skip();
        }
        Err(self.error(DecodeReason::UnknownField { message: message.into(), name: quoted(name) }))
    }

    /// Creates an error for a duplicate key in an object.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn duplicate(&self, name: &str) -> DecodeError {
        self.error(DecodeReason::DuplicateKey(quoted(name)))
    }
}
