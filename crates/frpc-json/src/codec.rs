//! [`Codec`]: reading and writing of fields. Options, lists and maps are in `containers.rs`.

use std::marker::PhantomData;

use crate::{DecodeError, DecodeReason, EncodeError, Json, Reader, Writer};

/// The JSON form of a field. Every [`Json`] value is its own codec.
///
/// [`Enum`] and [`Null`] are codecs of enums, which are numbers in Rust, and [`Boxed`] is the codec of boxed values. An
/// option, list or map of codecs encodes an option, list or map of their values. For example, `Vec<Enum<Color>>` is a
/// codec of `Vec<i32>`.
pub trait Codec {
    /// Rust type of the field.
    type Target: Default;

    /// Whether `null` is a value of the type rather than an absent field.
    const IS_NULLABLE: bool;

    /// Returns whether the value equals the default that an absent field has.
    fn is_default(value: &Self::Target) -> bool;

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// If it has no JSON form.
    fn encode(value: &Self::Target, to: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Reads a value into `value`, which must be the default. Returns `false` if the value is an unknown enum name that
    /// the [options](crate::Options::ignore_unknown) ignore. In this case, the caller must not store `value`.
    ///
    /// # Errors
    ///
    /// If the next value is missing or invalid.
    fn decode(value: &mut Self::Target, from: &mut Reader<'_>) -> Result<bool, DecodeError>;
}

impl<T: Json> Codec for T {
    type Target = T;
    const IS_NULLABLE: bool = T::IS_NULLABLE;

    #[inline(always)]
    fn is_default(value: &T) -> bool {
        value.is_default()
    }

    #[inline(always)]
    fn encode(value: &T, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        value.encode_json(to)
    }

    #[inline(always)]
    fn decode(value: &mut T, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
        value.decode_json(from).map(|()| true)
    }
}

/// The [`Codec`] of a boxed value. Recursive messages are always boxed, other fields only by a build option.
#[derive(Debug)]
pub struct Boxed<C>(PhantomData<C>);

impl<C: Codec> Codec for Boxed<C> {
    type Target = Box<C::Target>;
    const IS_NULLABLE: bool = C::IS_NULLABLE;

    #[inline]
    fn is_default(value: &Box<C::Target>) -> bool {
        C::is_default(value)
    }

    #[inline]
    fn encode(value: &Box<C::Target>, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        C::encode(value, to)
    }

    #[inline]
    fn decode(value: &mut Box<C::Target>, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
        from.charge::<C::Target>(1)?;
        C::decode(value, from)
    }
}

/// An enum of the schema. Implemented by generated code.
///
/// ```
/// use frpc_json::{Codec, Enum, Enumeration, Options, Reader};
///
/// /// `enum Color { RED = 0; BLUE = 5; }`
/// struct Color;
///
/// impl Enumeration for Color {
///     const NAME: &'static str = "paint.Color";
///
///     fn name(number: i32) -> Option<&'static str> {
///         Some(match number {
///             0 => "RED",
///             5 => "BLUE",
///             _ => return None,
///         })
///     }
///
///     fn number(name: &str) -> Option<i32> {
///         Some(match name {
///             "RED" => 0,
///             "BLUE" => 5,
///             _ => return None,
///         })
///     }
/// }
///
/// for (json, number) in [(r#""BLUE""#, 5), ("5", 5), ("7", 7)] {
///     let mut color = 0;
///     Enum::<Color>::decode(&mut color, &mut Reader::new(json.as_bytes(), &Options::new())?)?;
///     assert_eq!(color, number);
/// }
/// # Ok::<(), frpc_json::DecodeError>(())
/// ```
pub trait Enumeration {
    /// The full name of the enum for errors, such as `package.Outer.Inner`.
    const NAME: &'static str;

    /// Returns the name of an enum number. If several names have the number, returns the first one.
    fn name(number: i32) -> Option<&'static str>;

    /// Returns the enum number that has this name, which may be an alias.
    fn number(name: &str) -> Option<i32>;
}

/// The [`Codec`] of an enum. Writes numbers as their names, or as plain numbers if they have none.
#[derive(Debug)]
pub struct Enum<E>(PhantomData<E>);

impl<E: Enumeration> Codec for Enum<E> {
    type Target = i32;
    const IS_NULLABLE: bool = false;

    #[inline]
    fn is_default(value: &i32) -> bool {
        *value == 0
    }

    #[inline]
    fn encode(value: &i32, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        match E::name(*value) {
            Some(name) => to.plain_string(name),
            None => to.integer(*value),
        }
        Ok(())
    }

    #[inline]
    fn decode(value: &mut i32, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
        if from.peek() != Some(b'"') {
            *value = from.integer_as(E::NAME)?;
            return Ok(true);
        }
        let offset = from.value_offset();
        let name = from.string(E::NAME)?;
        match E::number(&name) {
            Some(number) => {
                *value = number;
                Ok(true)
            }
            None if from.options().ignores_unknown => Ok(false),
            None => {
                let name = crate::error::quoted(&name);
                Err(DecodeError::new(DecodeReason::UnknownName { enumeration: E::NAME.into(), name }, offset))
            }
        }
    }
}

/// The [`Codec`] of `google.protobuf.NullValue`. Writes `null`, and also accepts the enum's name and number when
/// reading.
#[derive(Debug)]
pub struct Null;

impl Enumeration for Null {
    const NAME: &'static str = "google.protobuf.NullValue";

    fn name(number: i32) -> Option<&'static str> {
        (number == 0).then_some("NULL_VALUE")
    }

    fn number(name: &str) -> Option<i32> {
        (name == "NULL_VALUE").then_some(0)
    }
}

impl Codec for Null {
    type Target = i32;
    const IS_NULLABLE: bool = true;

    #[inline]
    fn is_default(value: &i32) -> bool {
        *value == 0
    }

    #[inline]
    fn encode(_: &i32, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.raw("null");
        Ok(())
    }

    #[inline]
    fn decode(value: &mut i32, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
        if from.null()? { Ok(true) } else { Enum::<Self>::decode(value, from) }
    }
}
