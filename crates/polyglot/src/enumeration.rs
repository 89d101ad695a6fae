//! Enums: a number in Rust, the index of the declaration on the wire.

use std::marker::PhantomData;

use crate::{Codec, DecodeError, DecodeReason, Decoder, EncodeError, EncodeReason, Encoder, Kind};

/// An enum of the schema. Implemented by generated code.
///
/// The wire has the index of the value in the declaration, from 0, not its number. An index that the schema
/// does not know is kept as the number `i32::MIN + index`, and goes out as that index again.
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
    /// The full name, for errors: `package.Outer.Inner`.
    const NAME: &'static str;

    /// The index of a number in the declaration, from 0; of the first of several aliases.
    fn index(number: i32) -> Option<u32>;

    /// The number at an index of the declaration, aliases counted.
    fn number(index: u32) -> Option<i32>;
}

/// The [`Codec`] of the numbers of an enum.
#[derive(Debug)]
pub struct Index<E>(PhantomData<E>);

impl<E: Enumeration> Codec for Index<E> {
    type Target = i32;
    const KIND: Kind = Kind::U32;

    #[inline]
    fn encode(value: &i32, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let index = match E::index(*value) {
            Some(index) => index,
            None => reserved_index::<E>(*value)?,
        };
        to.u32(index);
        Ok(())
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<i32, DecodeError> {
        let before = from.position();
        let index = from.u32()?;
        match E::number(index) {
            Some(number) => Ok(number),
            None => keep::<E>(index, before),
        }
    }

    #[inline]
    fn is_default(value: &i32) -> bool {
        *value == 0
    }
}

/// The index that an undeclared number encodes: all from 2^31 below zero up to zero encode one, unless the
/// schema knows the index by now.
#[cold]
fn reserved_index<E: Enumeration>(number: i32) -> Result<u32, EncodeError> {
    let index = number.wrapping_sub(i32::MIN) as u32;
    if number < 0 && E::number(index).is_none() {
        return Ok(index);
    }
    Err(EncodeError::new(EncodeReason::UnknownNumber { enumeration: E::NAME, number }))
}

/// The number that encodes an index unknown to the schema.
#[cold]
fn keep<E: Enumeration>(index: u32, offset: usize) -> Result<i32, DecodeError> {
    let number = i32::MIN.wrapping_add_unsigned(index);
    if number < 0 && E::index(number).is_none() {
        return Ok(number);
    }
    Err(DecodeError::new(DecodeReason::EnumIndex { enumeration: E::NAME, index }, offset))
}
