//! What generated code calls for fields: single ones, lists, maps and members of oneofs.

use std::borrow::Cow;

use super::Reader;
use crate::error::quoted;
use crate::{Codec, DecodeError, DecodeReason, Json, Key, Map};

/// The first capacity of a list, in elements.
const LIST_FIRST: usize = 4;

impl Reader<'_> {
    /// Reads a value into `value`, which is the default.
    ///
    /// # Errors
    ///
    /// If there is no such value.
    #[inline(always)]
    pub fn value<T: Json>(&mut self, value: &mut T) -> Result<(), DecodeError> {
        value.decode_json(self)
    }

    /// Reads a field without presence; `null` is its default.
    ///
    /// # Errors
    ///
    /// If there is no such value.
    #[inline(always)]
    pub fn field<T: Json>(&mut self, value: &mut T) -> Result<(), DecodeError> {
        self.field_as::<T>(value)
    }

    /// As [`field`](Self::field), by way of a [`Codec`].
    ///
    /// # Errors
    ///
    /// If there is no such value.
    #[inline(always)]
    pub fn field_as<C: Codec>(&mut self, value: &mut C::Target) -> Result<(), DecodeError> {
        if C::IS_NULLABLE || !self.null()? {
            C::decode(value, self)?;
        }
        Ok(())
    }

    /// Reads a field with presence; `null` is an absent one, unless it is a value of the type.
    ///
    /// # Errors
    ///
    /// If there is no such value.
    #[inline(always)]
    pub fn optional<T: Json>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        self.optional_as::<T>(value)
    }

    /// As [`optional`](Self::optional), by way of a [`Codec`].
    ///
    /// # Errors
    ///
    /// If there is no such value.
    #[inline]
    pub fn optional_as<C: Codec>(&mut self, value: &mut Option<C::Target>) -> Result<(), DecodeError> {
        if !C::IS_NULLABLE && self.null()? {
            return Ok(());
        }
        if !C::decode(value.insert(C::Target::default()), self)? {
            *value = None;
        }
        Ok(())
    }

    /// Reads a member of a oneof, which `variant` makes of the value; `null` is an absent one, unless it is a value of
    /// the type.
    ///
    /// # Errors
    ///
    /// If there is no such value, or another member is set.
    #[inline]
    pub fn member<T: Json, O>(
        &mut self,
        oneof: &mut Option<O>,
        variant: impl FnOnce(T) -> O,
    ) -> Result<(), DecodeError> {
        self.member_as::<T, O>(oneof, variant)
    }

    /// As [`member`](Self::member), by way of a [`Codec`].
    ///
    /// # Errors
    ///
    /// If there is no such value, or another member is set.
    #[inline]
    pub fn member_as<C: Codec, O>(
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

    /// Reads a repeated field; `null` is an empty one.
    ///
    /// # Errors
    ///
    /// If there is no array of such values.
    #[inline]
    pub fn list<T: Json>(&mut self, list: &mut Vec<T>) -> Result<(), DecodeError> {
        self.list_as::<T>(list)
    }

    /// As [`list`](Self::list), by way of a [`Codec`].
    ///
    /// # Errors
    ///
    /// If there is no array of such values.
    pub fn list_as<C: Codec>(&mut self, list: &mut Vec<C::Target>) -> Result<(), DecodeError> {
        if self.null()? {
            return Ok(());
        }
        let mut is_element = self.first_element("array")?;
        let mut index = 0_usize;
        while is_element {
            if list.len() == list.capacity() {
                let more = list.capacity().max(LIST_FIRST);
                self.charge::<C::Target>(more)?;
                list.reserve_exact(more);
            }
            list.push(C::Target::default());
            let Some(last) = list.last_mut() else { break };
            if !C::decode(last, self).map_err(|error| error.in_element(index))? {
                list.pop();
            }
            index = index.wrapping_add(1);
            is_element = self.next_element()?;
        }
        Ok(())
    }

    /// Reads a map field; `null` is an empty one.
    ///
    /// # Errors
    ///
    /// If there is no object of such keys and values, or a key occurs twice.
    #[inline]
    pub fn map<M: Map>(&mut self, map: &mut M) -> Result<(), DecodeError>
    where
        M::Value: Json,
    {
        self.map_as::<M::Value, M>(map)
    }

    /// As [`map`](Self::map), by way of a [`Codec`] of the values.
    ///
    /// # Errors
    ///
    /// If there is no object of such keys and values, or a key occurs twice.
    pub fn map_as<C: Codec, M: Map<Value = C::Target>>(&mut self, map: &mut M) -> Result<(), DecodeError> {
        if self.null()? {
            return Ok(());
        }
        let mut start = self.at;
        let mut next = self.first_key("object")?;
        while let Some(name) = next {
            let Some(key) = M::Key::from_text(&name) else {
                return Err(Self::invalid(M::Key::EXPECTED, &name, start));
            };
            self.charge_bytes(if map.is_empty() { M::FIRST } else { M::EACH })?;
            let mut value = C::Target::default();
            let is_known = C::decode(&mut value, self).map_err(|error| error.in_entry(quoted(&name)))?;
            if is_known && !map.insert(key, value) {
                return Err(self.duplicate(&name));
            }
            start = self.at;
            next = self.next_key()?;
        }
        Ok(())
    }

    /// Skips the value of a field that a message does not have, or refuses the field.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn unknown_field(&mut self, message: impl Into<Cow<'static, str>>, name: &str) -> Result<(), DecodeError> {
        if self.options.ignores_unknown {
            return self.skip();
        }
        Err(self.error(DecodeReason::UnknownField { message: message.into(), name: quoted(name) }))
    }

    /// A key has occurred before.
    #[cold]
    #[inline(never)]
    #[doc(hidden)]
    pub fn duplicate(&self, name: &str) -> DecodeError {
        self.error(DecodeReason::DuplicateKey(quoted(name)))
    }
}
