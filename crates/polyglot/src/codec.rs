//! [`Codec`] and [`Shape`]: how options, lists and maps are written and read, once for all element types.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use crate::{DecodeError, Decoder, Element, EncodeError, Encoder, Form, Key, Kind};

/// The wire form of a type that does not determine it by itself.
///
/// Enum fields are `i32` in the structs that prost makes, and so are int32 fields: [`Index`](crate::Index) is the
/// codec that distinguishes them. For types of other crates write a codec, and use it with
/// [`Encoder::field_as`] and [`Decoder::field_as`]. Every [`Element`] is the codec of itself.
///
/// ```
/// use std::time::Duration;
/// use polyglot::{Codec, DecodeError, Decoder, EncodeError, Encoder, Kind};
///
/// struct Milliseconds;
///
/// impl Codec for Milliseconds {
///     type Target = Duration;
///     const KIND: Kind = Kind::U32;
///
///     fn encode(value: &Duration, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
///         to.u32(value.as_millis() as u32);
///         Ok(())
///     }
///
///     fn decode(from: &mut Decoder<'_>) -> Result<Duration, DecodeError> {
///         Ok(Duration::from_millis(from.u32()?.into()))
///     }
///
///     fn is_default(value: &Duration) -> bool {
///         value.is_zero()
///     }
/// }
///
/// let pauses = vec![Duration::from_secs(1), Duration::ZERO];
/// let mut out = Vec::new();
/// Encoder::new(&mut out).field_as::<Milliseconds>("pauses", &pauses)?;
/// let read: Vec<Duration> = Decoder::new(&out).field_as::<Milliseconds, _>("pauses")?;
/// assert_eq!(read, pauses);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Codec {
    /// The type in Rust.
    type Target: Default;

    /// The kind on the wire; [`Kind::Any`] for messages.
    const KIND: Kind;

    /// Writes one value.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded.
    fn encode(value: &Self::Target, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads one value. As an element of a list or map, a message that is nil becomes its default.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed.
    fn decode(from: &mut Decoder<'_>) -> Result<Self::Target, DecodeError>;

    /// As [`decode`](Self::decode), over a value that is no longer needed and whose memory is used again. After an
    /// error its content is unspecified.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    #[inline]
    fn decode_over(value: &mut Self::Target, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        *value = Self::decode(from)?;
        Ok(())
    }

    /// Whether the flat form cannot distinguish this value from an absent one. A message is never absent when it is
    /// there.
    fn is_default(value: &Self::Target) -> bool;
}

/// The shape of a field made of values of one [`Codec`]: an option, a list, or a map with them as its values.
///
/// Implemented here and complete: single enum fields are the only bare values that need a codec.
pub trait Shape<C: Codec>: Default {
    /// Writes the field.
    ///
    /// # Errors
    ///
    /// If a value cannot be encoded.
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads the field.
    ///
    /// # Errors
    ///
    /// If the field is not there or bad.
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;

    /// As [`decode`](Self::decode), over a field that is no longer needed and whose memory is used again. After an
    /// error its content is unspecified.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    #[inline]
    fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        *self = Self::decode(from)?;
        Ok(())
    }
}

impl<T: Element> Codec for T {
    type Target = T;
    const KIND: Kind = <T as Element>::KIND;

    #[inline]
    fn encode(value: &T, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        value.encode(to)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<T, DecodeError> {
        T::decode(from)
    }

    #[inline]
    fn decode_over(value: &mut T, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        value.decode_over(from)
    }

    #[inline]
    fn is_default(value: &T) -> bool {
        Element::is_default(value)
    }
}

impl<T, C: Codec<Target = T>> Shape<C> for Option<T> {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Some(value) => C::encode(value, to),
            None => encode_absent::<C>(to),
        }
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        if from.take_nil() { Ok(None) } else { C::decode(from).map(Some) }
    }

    #[inline]
    fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        match self {
            Some(value) if !from.take_nil() => C::decode_over(value, from),
            Some(_) => {
                *self = None;
                Ok(())
            }
            None => {
                *self = <Self as Shape<C>>::decode(from)?;
                Ok(())
            }
        }
    }
}

impl<T, C: Codec<Target = T>> Shape<C> for Vec<T> {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.list(C::KIND, self.len())?;
        for (index, value) in self.iter().enumerate() {
            C::encode(value, to).map_err(|error| error.in_element(index))?;
        }
        Ok(())
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let len = from.list(C::KIND)?;
        from.charge::<T>(len)?;
        let mut list = Self::with_capacity(len);
        for index in 0..len {
            list.push(C::decode(from).map_err(|error| error.in_element(index))?);
        }
        Ok(list)
    }

    #[inline]
    fn decode_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let len = from.list(C::KIND)?;
        from.charge::<T>(len)?;
        self.truncate(len);
        for (index, value) in self.iter_mut().enumerate() {
            C::decode_over(value, from).map_err(|error| error.in_element(index))?;
        }
        self.reserve_exact(len.saturating_sub(self.len()));
        for index in self.len()..len {
            self.push(C::decode(from).map_err(|error| error.in_element(index))?);
        }
        Ok(())
    }
}

impl<K: Key + Eq + Hash, T, C: Codec<Target = T>> Shape<C> for HashMap<K, T> {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encode_pairs::<K, C>(self.iter(), to)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let len = from.map(<K as Element>::KIND, C::KIND)?;
        from.charge::<(K, T)>(len)?;
        // The hasher is seeded, so a peer cannot choose keys that collide.
        let mut map = Self::with_capacity(len);
        decode_pairs::<K, C>(len, from, |key, value| drop(map.insert(key, value)))?;
        Ok(map)
    }
}

impl<K: Key + Ord, T, C: Codec<Target = T>> Shape<C> for BTreeMap<K, T> {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encode_pairs::<K, C>(self.iter(), to)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let len = from.map(<K as Element>::KIND, C::KIND)?;
        from.charge::<(K, T)>(len)?;
        let mut map = Self::new();
        decode_pairs::<K, C>(len, from, |key, value| drop(map.insert(key, value)))?;
        Ok(map)
    }
}

/// Writes an absent value in the form of the encoder.
#[inline]
fn encode_absent<C: Codec>(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if to.form() == Form::Extended {
        to.nil();
        return Ok(());
    }
    if C::KIND != Kind::Any {
        to.note_lost_presence();
    }
    encode_default::<C>(to)
}

/// Writes an absent value in the flat form: nil for a message, the default for anything else.
#[inline]
pub(crate) fn encode_default<C: Codec>(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if C::KIND == Kind::Any {
        to.nil();
        return Ok(());
    }
    C::encode(&C::Target::default(), to)
}

#[inline]
fn encode_pairs<'a, K: Key + 'a, C: Codec<Target: 'a>>(
    pairs: impl ExactSizeIterator<Item = (&'a K, &'a C::Target)>,
    to: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    to.map(<K as Element>::KIND, C::KIND, pairs.len())?;
    for (index, (key, value)) in pairs.enumerate() {
        key.encode(to).and_then(|()| C::encode(value, to)).map_err(|error| error.in_element(index))?;
    }
    Ok(())
}

/// Reads `len` pairs in their order, so that of two equal keys the last wins.
#[inline]
fn decode_pairs<K: Key, C: Codec>(
    len: usize,
    from: &mut Decoder<'_>,
    mut insert: impl FnMut(K, C::Target),
) -> Result<(), DecodeError> {
    for index in 0..len {
        let key = K::decode(from).map_err(|error| error.in_element(index))?;
        let value = C::decode(from).map_err(|error| error.in_element(index))?;
        insert(key, value);
    }
    Ok(())
}
