//! The traits of generated code: [`Json`] for every value, [`Fields`] for messages.

use std::collections::BTreeSet;

use crate::{DecodeError, DecodeReason, EncodeError, Options, Reader, Writer};

/// A type with a JSON mapping: a scalar, a string, bytes or a message.
///
/// Types that implement [`Fields`] are JSON objects. Well-known types have special mappings: a `Timestamp` is a string,
/// and a wrapper is the value that it contains.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON form",
    note = "build its schema with `frpc_build::configure().json(true)`",
    note = "types of `extern_path` bring their own: build them so too, or implement `frpc_json::Fields`"
)]
pub trait Json: Default {
    /// The full name of the message for errors and `Any`, such as `package.Outer.Inner`. Scalars have the name of their
    /// wrapper, such as `google.protobuf.Int32Value`.
    const NAME: &'static str;

    /// Whether the type is mapped to an object with its fields, like all messages without a special mapping. In an
    /// `Any`, the fields are then members of the same object as `@type`.
    const IS_OBJECT: bool = false;

    /// Whether `null` is a value of the type rather than an absent field.
    const IS_NULLABLE: bool = false;

    /// The JSON-escaped names of the fields in the order of declaration. Empty unless the type is mapped to an object
    /// with its fields.
    const FIELD_NAMES: &'static [&'static str] = &[];

    /// Returns whether the value equals the default, so that a field without presence is omitted. Never `true` for
    /// messages.
    #[inline]
    fn is_default(&self) -> bool {
        false
    }

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// If the value has no JSON form.
    fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Reads a JSON value into `self`, which must be the default.
    ///
    /// # Errors
    ///
    /// If the next value is missing or invalid. The content of `self` is then unspecified.
    fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError>;

    /// Reads the fields of a message into `self`, which must be the default, from an array in the order of declaration.
    /// This is the form of positional parameters. Trailing fields may be missing, and `null` omits a field. A value
    /// that is not an object of fields is read directly, without an array.
    ///
    /// ```
    /// use frpc_json::{Fields, Json, Options, Reader};
    /// # use frpc_json::{DecodeError, EncodeError, Writer};
    /// # #[derive(Debug, Default, PartialEq)]
    /// # struct Point { x: i32, y: i32 }
    /// # impl Fields for Point {
    /// #     const NAME: &'static str = "geometry.Point";
    /// #     const FIELDS: &'static [&'static str] = &["x", "y"];
    /// #     fn field(name: &str) -> Option<usize> { Self::FIELDS.iter().position(|field| *field == name) }
    /// #     fn encode_fields(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    /// #         to.field("\"x\":", &self.x)?;
    /// #         to.field("\"y\":", &self.y)
    /// #     }
    /// #     fn decode_field(&mut self, field: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    /// #         match field { 0 => from.field(&mut self.x), _ => from.field(&mut self.y) }
    /// #     }
    /// # }
    ///
    /// let mut reader = Reader::new(b"[3, 4]", &Options::new())?;
    /// let mut point = Point::default();
    /// point.decode_positional(&mut reader)?;
    /// assert_eq!(point, Point { x: 3, y: 4 });
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Like [`decode_json`](Self::decode_json), or if there are more values than fields.
    fn decode_positional(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        self.decode_json(from)
    }
}

/// The fields of a message type. Implemented by generated code.
///
/// See the [crate documentation](crate) for an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message with a JSON form",
    note = "build its schema with `frpc_build::configure().json(true)`"
)]
pub trait Fields: Default {
    /// The full name of the message, such as `package.Outer.Inner`.
    const NAME: &'static str;

    /// The JSON-escaped names of the message's fields, in the order of declaration.
    const FIELDS: &'static [&'static str];

    /// Whether the fields of this message are members of the same object as `@type` in an `Any`. See
    /// [`Json::IS_OBJECT`].
    const IS_OBJECT: bool = true;

    /// Returns the index in [`FIELDS`](Self::FIELDS) of the field with this JSON name or original name.
    fn field(name: &str) -> Option<usize>;

    /// Writes all fields that are present, in the order of declaration.
    ///
    /// # Errors
    ///
    /// If a field has no JSON form.
    fn encode_fields(&self, to: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Reads the value of the field with this index in [`FIELDS`](Self::FIELDS). Called at most once for each field.
    ///
    /// # Errors
    ///
    /// If the next value is missing or invalid.
    fn decode_field(&mut self, field: usize, from: &mut Reader<'_>) -> Result<(), DecodeError>;
}

/// Reads a message with default [options](Options).
///
/// ```
/// assert_eq!(frpc_json::from_json::<i64>(br#""9007199254740993""#)?, 9_007_199_254_740_993);
/// # Ok::<(), frpc_json::DecodeError>(())
/// ```
///
/// # Errors
///
/// If the input is not JSON in UTF-8, is not such a message, or exceeds a limit.
pub fn from_json<M: Json>(json: &[u8]) -> Result<M, DecodeError> {
    Options::new().decode(json)
}

/// Appends a message to `out`, with default [options](Options).
///
/// ```
/// let mut out = Vec::new();
/// frpc_json::to_json(&9_007_199_254_740_993_i64, &mut out)?;
/// assert_eq!(out, br#""9007199254740993""#);
/// # Ok::<(), frpc_json::EncodeError>(())
/// ```
///
/// # Errors
///
/// If the message has no JSON form. `out` then keeps its previous contents.
pub fn to_json<M: Json>(message: &M, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    Options::new().encode(message, out)
}

impl<M: Fields> Json for M {
    const NAME: &'static str = <M as Fields>::NAME;
    const IS_OBJECT: bool = <M as Fields>::IS_OBJECT;
    const FIELD_NAMES: &'static [&'static str] = M::FIELDS;

    #[inline]
    fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.message(|to| self.encode_fields(to))
    }

    fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let mut has_type = !from.mark_any(false);
        from.level(|from| {
            let mut seen = SeenFields::default();
            // Expect the next declared field first, because writers usually write fields in the order of declaration.
            let mut next = 0_usize;
            let mut is_field = from.first_field()?;
            while is_field {
                let field = match M::FIELDS.get(next) {
                    Some(expected) if from.take_key(expected) => Some(next),
                    _ => {
                        let name = from.key()?;
                        let field = M::field(&name);
                        if field.is_none() {
                            unknown_field::<M>(&name, &mut has_type, from)?;
                        }
                        field
                    }
                };
                if let Some(field) = field {
                    if !seen.insert(field) {
                        return Err(from.duplicate(M::FIELDS.get(field).copied().unwrap_or_default()));
                    }
                    self.decode_field(field, from).map_err(|error| in_field::<M>(field, error))?;
                    next = field.wrapping_add(1);
                }
                is_field = from.next_field()?;
            }
            Ok(())
        })
    }

    fn decode_positional(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let mut field = 0_usize;
        let mut element = |from: &mut Reader<'_>| {
            if field >= M::FIELDS.len() {
                let reason =
                    DecodeReason::TooManyFields { message: <M as Fields>::NAME.into(), fields: M::FIELDS.len() };
                return Err(from.error(reason));
            }
            self.decode_field(field, from).map_err(|error| in_field::<M>(field, error))?;
            field = field.wrapping_add(1);
            Ok(())
        };
        from.level(|from| from.array(&mut element))
    }
}

#[cold]
#[inline(never)]
fn in_field<M: Fields>(field: usize, error: DecodeError) -> DecodeError {
    error.in_field(M::FIELDS.get(field).copied().unwrap_or_default())
}

/// Handles a key that is not a field of the message: `@type` of an `Any`, or an unknown field. Rejects `@type` if
/// `has_type` is already set.
#[cold]
#[inline(never)]
fn unknown_field<M: Fields>(name: &str, has_type: &mut bool, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    if name == "@type" && !*has_type {
        *has_type = true;
        return from.skip();
    }
    from.unknown_field(<M as Fields>::NAME, name)
}

/// The set of fields that have been read from an object.
#[derive(Default)]
struct SeenFields {
    first: u64,
    /// Indexes of the seen fields, except for the first 64 fields of the message.
    more: BTreeSet<usize>,
}

impl SeenFields {
    /// Adds a field to the set. Returns `false` if the set already contains it.
    #[inline]
    fn insert(&mut self, field: usize) -> bool {
        if field >= 64 {
            return self.more.insert(field);
        }
        let is_new = self.first & 1 << field == 0;
        self.first |= 1 << field;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::SeenFields;

    #[test]
    fn field_is_new_only_once() {
        let mut seen = SeenFields::default();
        for field in [0, 63, 64, 127, 128, 1000, 65] {
            assert!(seen.insert(field), "{field}");
        }
        for field in [0, 63, 64, 127, 128, 1000, 65] {
            assert!(!seen.insert(field), "{field}");
        }
        assert!(seen.insert(1));
    }
}
