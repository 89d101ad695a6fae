//! Enums, which are represented by numbers in Rust and by indexes of the declaration on the wire.

use std::marker::PhantomData;

use crate::{Codec, DecodeError, DecodeReason, Decoder, EncodeError, EncodeReason, Encoder, Form, Kind};

/// An enum of the schema. Implemented by generated code.
///
/// An enum value is encoded as its zero-based index in the declaration instead of its number. An index that the schema
/// does not declare is decoded as the number `i32::MIN + index`, which is encoded as the same index again. Any other
/// undeclared number is encoded as a number in the [extended](crate::Form::Extended) form, and is an error in the flat
/// form.
///
/// ```
/// use polyglot::{Decoder, Encoder, Enumeration, Index};
///
/// /// `enum Sparse { ZERO = 0; FAR = 1000; }`
/// struct Sparse;
///
/// impl Enumeration for Sparse {
///     const NAME: &'static str = "example.Sparse";
///
///     fn index(number: i32) -> Option<u32> {
///         Some(match number {
///             0 => 0,
///             1000 => 1,
///             _ => return None,
///         })
///     }
///
///     fn number(index: u32) -> Option<i32> {
///         Some(match index {
///             0 => 0,
///             1 => 1000,
///             _ => return None,
///         })
///     }
/// }
///
/// let mut out = Vec::new();
/// Encoder::new(&mut out).field_as::<Index<Sparse>>("distance", &1000)?;
/// assert_eq!(out, [0x0a, 1]);
///
/// let unknown = Decoder::new(&[0x0a, 9]).field_as::<Index<Sparse>>("distance")?;
/// assert_eq!(unknown, i32::MIN + 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Enumeration {
    /// Full name of the enum for use in errors, such as `package.Outer.Inner`.
    const NAME: &'static str;

    /// Returns the zero-based index at which a number is declared. For an aliased number, this is the index of the
    /// first value that has it.
    fn index(number: i32) -> Option<u32>;

    /// Returns the number declared at a zero-based index. Aliases have separate indexes.
    fn number(index: u32) -> Option<i32>;
}

/// [`Codec`] of an enum that is represented by its numbers in Rust. On the wire, a value is the index at which the
/// schema declares it.
#[derive(Debug)]
pub struct Index<E>(PhantomData<E>);

impl<E: Enumeration> Codec for Index<E> {
    type Target = i32;
    const KIND: Kind = Kind::U32;

    #[inline]
    fn encode(value: &i32, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match E::index(*value) {
            Some(index) => to.u32(index),
            None => put_undeclared::<E>(*value, to)?,
        }
        Ok(())
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<i32, DecodeError> {
        let before = from.position();
        match from.u32() {
            Ok(index) => match E::number(index) {
                Some(number) => Ok(number),
                None => keep::<E>(index, before),
            },
            Err(error) => take_number(from, error),
        }
    }

    #[inline]
    fn is_default(value: &i32) -> bool {
        *value == 0
    }
}

/// Indexes below this number are preserved by the extended encoding even if the enum does not declare them. No layout
/// description has an enum with more values.
pub const KEPT_INDEXES: u32 = 1 << 16;

/// Writes a number that the enum does not declare. The flat encoding supports this only for numbers that represent an
/// index unknown to the enum.
#[cold]
fn put_undeclared<E: Enumeration>(number: i32, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let index = number.wrapping_sub(i32::MIN) as u32;
    let is_kept = number < 0 && E::number(index).is_none();
    match to.form() {
        Form::Extended if !is_kept || index >= KEPT_INDEXES => to.i32(number),
        _ if is_kept => to.u32(index),
        _ => return Err(EncodeError::new(EncodeReason::UnknownNumber { enumeration: E::NAME, number })),
    }
    Ok(())
}

/// Reads an enum value that was encoded as a number instead of an index. Peers do this if their schema does not declare
/// the value. Returns `error` if the next value is not a number.
#[cold]
fn take_number(from: &mut Decoder<'_>, error: DecodeError) -> Result<i32, DecodeError> {
    if from.peek() == Some(Kind::I32) { from.i32() } else { Err(error) }
}

/// Converts an index that the enum does not declare to the number -2^31 + `index`, which can be encoded as the same
/// index again. Fails if the index is too large, or if the enum declares a value with this number.
#[cold]
fn keep<E: Enumeration>(index: u32, offset: usize) -> Result<i32, DecodeError> {
    let number = i32::MIN.wrapping_add_unsigned(index);
    if number < 0 && E::index(number).is_none() {
        return Ok(number);
    }
    Err(DecodeError::new(DecodeReason::EnumIndex { enumeration: E::NAME, index }, offset))
}
